//! An instance with the C functions of FMI 3.0 as methods: they take slices and assert that the call
//! succeeds.

use super::{ERROR, OK};
use crate::driver::Fmu;
use crate::messages;
use grapple::fmu::c_abi::*;
use grapple::fmu::fmi3::*;
use grapple::fmu::lifecycle::Standard;
use grapple::fmu::registry::{Registry, ValueType};
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// The messages received by a logger: status, category, text.
#[derive(Default)]
pub struct Log(RefCell<Vec<(fmi3Status, String, String)>>);

impl Log {
    /// Returns and removes the messages received so far.
    pub fn take(&self) -> Vec<(fmi3Status, String, String)> {
        self.0.take()
    }

    /// Asserts that exactly one error was logged, which contains all of these names, and records it.
    #[track_caller]
    pub fn assert_error(&self, names: &[&str]) {
        let text = self.assert_one(ERROR, "logStatusError", names);
        messages::record(messages::without_decimals(text));
    }

    #[track_caller]
    pub fn assert_one(&self, status: fmi3Status, category: &str, names: &[&str]) -> String {
        let messages = self.take();
        let [(own, own_category, text)] = messages.as_slice() else {
            panic!("one message expected: {messages:?}");
        };
        assert_eq!((*own, own_category.as_str()), (status, category), "{text}");
        for name in names {
            assert!(text.contains(name), "{name:?} is not in {text:?}");
        }
        text.clone()
    }

    pub fn environment(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }
}

unsafe extern "C" fn listen(
    environment: fmi3InstanceEnvironment,
    status: fmi3Status,
    category: fmi3String,
    message: fmi3String,
) {
    // SAFETY: the tests pass a `Log` that outlives the instance; the strings live during the call.
    unsafe {
        let text = |s: fmi3String| CStr::from_ptr(s).to_string_lossy().into_owned();
        let log = &*environment.cast_const().cast::<Log>();
        log.0.borrow_mut().push((status, text(category), text(message)));
    }
}

/// Arguments of the functions that instantiate; null strings are `None`.
pub struct Arguments<'a> {
    pub token: Option<&'a CStr>,
    pub location: Option<String>,
    pub logging_on: bool,
    pub event_mode_used: bool,
    pub early_return_allowed: bool,
    pub required: Vec<u32>,
    pub updates: Option<fmi3IntermediateUpdateCallback>,
}

impl<'a> Arguments<'a> {
    pub fn of(fmu: &'a Fmu) -> Self {
        Self {
            token: Some(&fmu.guid),
            // The standard's form: an absolute path with a separator at its end.
            location: Some(format!("{}/", fmu.path())),
            logging_on: true,
            event_mode_used: false,
            early_return_allowed: false,
            required: Vec::new(),
            updates: None,
        }
    }

    fn strings(&self) -> (*const i8, Option<CString>) {
        let location = self
            .location
            .as_ref()
            .map(|l| CString::new(l.as_str()).expect("no zero"));
        (self.token.map_or(null(), |t| t.as_ptr().cast()), location)
    }

    pub fn model_exchange(&self, log: Option<&Log>) -> fmi3Instance {
        let (token, location) = self.strings();
        // SAFETY: strings that live during the call, or null.
        unsafe {
            fmi3InstantiateModelExchange(
                c"arm".as_ptr(),
                token.cast(),
                location.as_ref().map_or(null(), |l| l.as_ptr()),
                fmi3False,
                fmi3Boolean::from(self.logging_on),
                log.map_or(null_mut(), Log::environment),
                log.map(|_| listen as fmi3LogMessageCallback),
            )
        }
    }

    pub fn co_simulation(&self, log: Option<&Log>) -> fmi3Instance {
        let (token, location) = self.strings();
        // SAFETY: strings that live during the call, or null.
        unsafe {
            fmi3InstantiateCoSimulation(
                c"arm".as_ptr(),
                token.cast(),
                location.as_ref().map_or(null(), |l| l.as_ptr()),
                fmi3False,
                fmi3Boolean::from(self.logging_on),
                fmi3Boolean::from(self.event_mode_used),
                fmi3Boolean::from(self.early_return_allowed),
                self.required.as_ptr(),
                self.required.len(),
                log.map_or(null_mut(), Log::environment),
                log.map(|_| listen as fmi3LogMessageCallback),
                self.updates,
            )
        }
    }

    pub fn scheduled_execution(&self, log: Option<&Log>) -> fmi3Instance {
        let (token, location) = self.strings();
        // SAFETY: strings that live during the call, or null.
        unsafe {
            fmi3InstantiateScheduledExecution(
                c"arm".as_ptr(),
                token.cast(),
                location.as_ref().map_or(null(), |l| l.as_ptr()),
                fmi3False,
                fmi3Boolean::from(self.logging_on),
                log.map_or(null_mut(), Log::environment),
                log.map(|_| listen as fmi3LogMessageCallback),
                None,
                None,
                None,
            )
        }
    }
}

/// Result of `fmi3DoStep`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    pub event_handling_needed: bool,
    pub terminate: bool,
    pub early_return: bool,
    pub last_successful_time: f64,
}

/// Result of `fmi3UpdateDiscreteStates`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update {
    pub states_changed: bool,
    pub next_event: Option<f64>,
}

/// An instance, freed when it is dropped.
pub struct Instance<'a> {
    pub fmu: &'a Fmu,
    pub registry: Registry,
    pub c: fmi3Instance,
}

impl Drop for Instance<'_> {
    fn drop(&mut self) {
        // SAFETY: a live handle, not used again.
        unsafe { fmi3FreeInstance(self.c) }
    }
}

#[track_caller]
fn ok(status: fmi3Status) {
    assert_eq!(status, OK);
}

// SAFETY of this block: the handle lives as long as `self`, and every pointer comes from a value,
// or from a slice of the given count.
impl<'a> Instance<'a> {
    pub fn of(fmu: &'a Fmu, c: fmi3Instance) -> Self {
        assert!(!c.is_null());
        let registry = Registry::of(Standard::Fmi3, Arc::clone(fmu.registry.model()), fmu.registry.naming());
        Self { fmu, registry, c }
    }

    pub fn model_exchange(fmu: &'a Fmu, log: &Log) -> Self {
        Self::of(fmu, Arguments::of(fmu).model_exchange(Some(log)))
    }

    pub fn co_simulation(fmu: &'a Fmu, log: &Log) -> Self {
        Self::of(fmu, Arguments::of(fmu).co_simulation(Some(log)))
    }

    pub fn vr(&self, name: &str) -> u32 {
        let found = self.registry.find(name);
        found.unwrap_or_else(|| panic!("no variable {name}")).value_reference
    }

    pub fn enter_initialization(&self, tolerance: Option<f64>, start: f64, stop: Option<f64>) -> fmi3Status {
        let defined = |value: Option<f64>| (fmi3Boolean::from(value.is_some()), value.unwrap_or(f64::NAN));
        let ((has_tolerance, tolerance), (has_stop, stop)) = (defined(tolerance), defined(stop));
        unsafe { fmi3EnterInitializationMode(self.c, has_tolerance, tolerance, start, has_stop, stop) }
    }

    #[track_caller]
    pub fn initialise(&self, tolerance: Option<f64>) {
        ok(self.enter_initialization(tolerance, 0.0, None));
        ok(unsafe { fmi3ExitInitializationMode(self.c) });
    }

    /// Initialises without a tolerance, up to Continuous-Time Mode.
    #[track_caller]
    pub fn begin(&self) {
        self.initialise(None);
        self.update();
        ok(unsafe { fmi3EnterContinuousTimeMode(self.c) });
    }

    pub fn set_many(&self, references: &[u32], values: &[f64]) -> fmi3Status {
        let n = references.len();
        unsafe { fmi3SetFloat64(self.c, references.as_ptr(), n, values.as_ptr(), values.len()) }
    }

    /// Sets a variable of any type from a number.
    pub fn set(&self, name: &str, value: f64) -> fmi3Status {
        let reference = self.vr(name);
        match self.value_type(reference) {
            ValueType::Real => self.set_many(&[reference], &[value]),
            ValueType::Integer => unsafe { fmi3SetInt32(self.c, &reference, 1, &(value as i32), 1) },
            ValueType::Boolean => unsafe { fmi3SetBoolean(self.c, &reference, 1, &u8::from(value > 0.5), 1) },
        }
    }

    fn value_type(&self, reference: u32) -> ValueType {
        let slot = self.registry.slot(reference).expect("a variable");
        self.registry.value_type(slot)
    }

    #[track_caller]
    pub fn get_many(&self, references: &[u32]) -> Vec<f64> {
        let (n, mut values) = (references.len(), vec![f64::NAN; references.len()]);
        ok(unsafe { fmi3GetFloat64(self.c, references.as_ptr(), n, values.as_mut_ptr(), n) });
        values
    }

    /// Gets a variable of any type as a number.
    #[track_caller]
    pub fn get(&self, name: &str) -> f64 {
        let reference = self.vr(name);
        match self.value_type(reference) {
            ValueType::Real => self.get_many(&[reference])[0],
            ValueType::Integer => {
                let mut value = i32::MIN;
                ok(unsafe { fmi3GetInt32(self.c, &reference, 1, &mut value, 1) });
                f64::from(value)
            }
            ValueType::Boolean => f64::from(u8::from(self.flag(name))),
        }
    }

    #[track_caller]
    pub fn flag(&self, name: &str) -> bool {
        let mut value = 77;
        ok(unsafe { fmi3GetBoolean(self.c, &self.vr(name), 1, &mut value, 1) });
        assert!(value == fmi3True || value == fmi3False);
        value == fmi3True
    }

    /// Calls `fmi3DoStep`; the result is `None` unless the status is OK.
    pub fn try_step(&self, t: f64, h: f64) -> (fmi3Status, Option<Step>) {
        let (mut event, mut terminate, mut early, mut time) = (77, 77, 77, f64::NAN);
        let status = unsafe {
            fmi3DoStep(
                self.c,
                t,
                h,
                fmi3True,
                &mut event,
                &mut terminate,
                &mut early,
                &mut time,
            )
        };
        let step = (status == OK).then(|| {
            assert!([event, terminate, early].iter().all(|&flag| flag <= 1));
            Step {
                event_handling_needed: event == fmi3True,
                terminate: terminate == fmi3True,
                early_return: early == fmi3True,
                last_successful_time: time,
            }
        });
        (status, step)
    }

    /// Makes a step that reaches its end.
    #[track_caller]
    pub fn step(&self, t: f64, h: f64) {
        let (status, step) = self.try_step(t, h);
        ok(status);
        let complete = Step {
            event_handling_needed: false,
            terminate: false,
            early_return: false,
            last_successful_time: t + h,
        };
        assert_eq!(step, Some(complete));
    }

    #[track_caller]
    pub fn update(&self) -> Update {
        let (mut needed, mut terminate, mut nominals, mut values, mut defined, mut time) =
            (77, 77, 77, 77, 77, f64::NAN);
        ok(unsafe {
            fmi3UpdateDiscreteStates(
                self.c,
                &mut needed,
                &mut terminate,
                &mut nominals,
                &mut values,
                &mut defined,
                &mut time,
            )
        });
        assert_eq!((needed, terminate, nominals), (fmi3False, fmi3False, fmi3False));
        assert!(values <= 1 && defined <= 1 && time.is_finite());
        Update {
            states_changed: values == fmi3True,
            next_event: (defined == fmi3True).then_some(time),
        }
    }

    /// Handles an event in Event Mode of Co-Simulation.
    #[track_caller]
    pub fn event_of_step(&self) -> Update {
        ok(unsafe { fmi3EnterEventMode(self.c) });
        let update = self.update();
        ok(unsafe { fmi3EnterStepMode(self.c) });
        update
    }

    /// Ends the initialisation of an instance with Event Mode, up to Step Mode.
    #[track_caller]
    pub fn begin_steps(&self, tolerance: Option<f64>) -> Update {
        self.initialise(tolerance);
        let update = self.update();
        ok(unsafe { fmi3EnterStepMode(self.c) });
        update
    }

    /// Advances from `t` to `end` (s) by as many steps as early returns require, and handles events
    /// in Event Mode. Returns the times of events and of early returns.
    #[track_caller]
    pub fn advance(&self, mut t: f64, end: f64) -> Vec<f64> {
        let mut times = Vec::new();
        for _ in 0..1000 {
            let (status, step) = self.try_step(t, length(t, end));
            ok(status);
            let step = step.expect("the status is OK");
            t = step.last_successful_time;
            assert_eq!(step.early_return, t < end);
            if step.event_handling_needed {
                self.event_of_step();
            }
            if step.event_handling_needed || step.early_return {
                times.push(t);
            }
            if !step.early_return {
                return times;
            }
        }
        panic!("no end at {t} s: {times:?}");
    }

    /// Handles an event.
    #[track_caller]
    pub fn event(&self) -> Update {
        ok(unsafe { fmi3EnterEventMode(self.c) });
        let update = self.update();
        ok(unsafe { fmi3EnterContinuousTimeMode(self.c) });
        update
    }

    #[track_caller]
    pub fn at(&self, t: f64, x: &[f64]) {
        ok(unsafe { fmi3SetTime(self.c, t) });
        ok(unsafe { fmi3SetContinuousStates(self.c, x.as_ptr(), x.len()) });
    }

    #[track_caller]
    pub fn states(&self) -> Vec<f64> {
        let mut n = 0;
        ok(unsafe { fmi3GetNumberOfContinuousStates(self.c, &mut n) });
        let mut x = vec![f64::NAN; n];
        ok(unsafe { fmi3GetContinuousStates(self.c, x.as_mut_ptr(), n) });
        x
    }

    #[track_caller]
    pub fn derivatives(&self) -> Vec<f64> {
        let mut dx = vec![f64::NAN; self.fmu.state_count()];
        ok(unsafe { fmi3GetContinuousStateDerivatives(self.c, dx.as_mut_ptr(), dx.len()) });
        dx
    }

    #[track_caller]
    pub fn indicators(&self) -> Vec<f64> {
        let mut n = 0;
        ok(unsafe { fmi3GetNumberOfEventIndicators(self.c, &mut n) });
        let mut z = vec![f64::NAN; n];
        ok(unsafe { fmi3GetEventIndicators(self.c, z.as_mut_ptr(), n) });
        z
    }

    /// Calls `fmi3GetDirectionalDerivative`; the caller checks the status.
    pub fn directional(&self, unknowns: &[u32], knowns: &[u32], seeds: &[f64]) -> (fmi3Status, Vec<f64>) {
        let mut values = vec![f64::NAN; unknowns.len()];
        let status = unsafe {
            fmi3GetDirectionalDerivative(
                self.c,
                unknowns.as_ptr(),
                unknowns.len(),
                knowns.as_ptr(),
                knowns.len(),
                seeds.as_ptr(),
                seeds.len(),
                values.as_mut_ptr(),
                values.len(),
            )
        };
        (status, values)
    }

    /// Calls `fmi3GetAdjointDerivative`; the caller checks the status.
    pub fn adjoint(&self, unknowns: &[u32], knowns: &[u32], seeds: &[f64]) -> (fmi3Status, Vec<f64>) {
        let mut values = vec![f64::NAN; knowns.len()];
        let status = unsafe {
            fmi3GetAdjointDerivative(
                self.c,
                unknowns.as_ptr(),
                unknowns.len(),
                knowns.as_ptr(),
                knowns.len(),
                seeds.as_ptr(),
                seeds.len(),
                values.as_mut_ptr(),
                values.len(),
            )
        };
        (status, values)
    }

    /// Returns the complete state as bytes.
    #[track_caller]
    pub fn bytes(&self) -> Vec<u8> {
        let (mut state, mut size) = (null_mut(), 0);
        ok(unsafe { fmi3GetFMUState(self.c, &mut state) });
        ok(unsafe { fmi3SerializedFMUStateSize(self.c, state, &mut size) });
        let mut bytes = vec![0_u8; size];
        ok(unsafe { fmi3SerializeFMUState(self.c, state, bytes.as_mut_ptr(), size) });
        ok(unsafe { fmi3FreeFMUState(self.c, &mut state) });
        assert!(state.is_null());
        bytes
    }

    /// Restores a state from its bytes; returns the status of the first call that fails.
    pub fn restore(&self, bytes: &[u8]) -> fmi3Status {
        let mut state = null_mut();
        unsafe {
            let read = fmi3DeserializeFMUState(self.c, bytes.as_ptr(), bytes.len(), &mut state);
            if read != OK {
                return read;
            }
            let set = fmi3SetFMUState(self.c, state);
            ok(fmi3FreeFMUState(self.c, &mut state));
            set
        }
    }
}

/// Returns a step size (s) with which a step from `t` ends at `end` without round-off.
pub fn length(t: f64, end: f64) -> f64 {
    let mut h = end - t;
    while t + h < end {
        h = h.next_up();
    }
    while t + h > end {
        h = h.next_down();
    }
    assert_eq!(t + h, end);
    h
}

/// Returns the bits of numbers, for an exact comparison.
pub fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}
