//! An instance of FMI 3.0 under test: every call is checked against the table of modes and the log.

use crate::campaign::journal::{Function, Journal};
use crate::campaign::subject::Expect;
use crate::campaign::target::Target;
use crate::campaign::{DISCARD, ERROR, OK};
use crate::fmi3::modes::{Of, modes};
use grapple::fmu::c_abi::*;
use grapple::fmu::fmi2::fmi2Status;
use grapple::fmu::fmi3::*;
use grapple::fmu::lifecycle::fmi3::Call;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

/// Interface of an instance, and what its importer uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kind {
    pub of: Of,
    pub early_return: bool,
    pub updates: bool,
}

impl Kind {
    pub const ALL: [Self; 6] = [
        Self::new(Of::ModelExchange, false, false),
        Self::new(Of::CoSimulation, false, false),
        Self::new(Of::CoSimulation, true, false),
        Self::new(Of::CoSimulation, true, true),
        Self::new(Of::CoSimulationWithEvents, false, false),
        Self::new(Of::CoSimulationWithEvents, true, true),
    ];

    const fn new(of: Of, early_return: bool, updates: bool) -> Self {
        Self {
            of,
            early_return,
            updates,
        }
    }

    pub fn index(self) -> usize {
        Self::ALL.iter().position(|kind| *kind == self).expect("one of all")
    }

    pub fn has_events(self) -> bool {
        self.of == Of::CoSimulationWithEvents
    }
}

/// A saved state with its mode and time.
pub struct Saved {
    pub state: fmi3FMUState,
    pub mode: char,
    pub t: f64,
}

/// Environment of the callbacks.
#[derive(Default)]
struct Environment {
    messages: RefCell<Vec<(fmi3Status, String)>>,
    /// The instance, and a variable that intermediate updates read.
    instance: Cell<usize>,
    variable: Cell<u32>,
    /// Number of updates so far, and the time of the last one, s.
    updates: Cell<u64>,
    last: Cell<f64>,
    can_return_early: Cell<bool>,
}

unsafe extern "C" fn listen(
    environment: fmi3InstanceEnvironment,
    status: fmi3Status,
    _: fmi3String,
    message: fmi3String,
) {
    if environment.is_null() {
        return;
    }
    // SAFETY: the subject passes its `Environment`; the string lives during the call.
    unsafe {
        let of = &*environment.cast_const().cast::<Environment>();
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        of.messages.borrow_mut().push((status, text));
    }
}

/// Reads a variable; makes a forbidden call or requests an early return at some updates.
unsafe extern "C" fn update(
    environment: fmi3InstanceEnvironment,
    t: fmi3Float64,
    _: fmi3Boolean,
    _: fmi3Boolean,
    _: fmi3Boolean,
    can_return_early: fmi3Boolean,
    requested: *mut fmi3Boolean,
    time: *mut fmi3Float64,
) {
    // SAFETY: the subject passes its `Environment`, and two places are valid.
    unsafe {
        let of = &*environment.cast_const().cast::<Environment>();
        let (c, count) = (of.instance.get() as fmi3Instance, of.updates.get() + 1);
        of.updates.set(count);
        assert!(
            t >= of.last.get(),
            "an update at {t} s after one at {} s",
            of.last.get()
        );
        of.last.set(t);
        assert_eq!(can_return_early == fmi3True, of.can_return_early.get());
        let mut value = f64::NAN;
        let status = fmi3GetFloat64(c, &of.variable.get(), 1, &mut value, 1);
        assert!(status == fmi3Status::OK && value.is_finite() || status == fmi3Status::ERROR);
        if count % 16 == 3 {
            let mut state = null_mut();
            assert_eq!(fmi3GetFMUState(c, &mut state), fmi3Status::ERROR);
            assert_eq!(fmi3Reset(c), fmi3Status::ERROR);
            fmi3FreeInstance(c);
        }
        // Depends on the time alone, so that a repeated step gives the same bits.
        if can_return_early == fmi3True && t.to_bits().is_multiple_of(8) {
            (*requested, *time) = (fmi3True, t);
        }
        of.messages.borrow_mut().clear();
    }
}

/// Returns the function that instantiates this kind.
pub fn instantiating(kind: Kind) -> Function {
    match kind.of {
        Of::ModelExchange => Function::InstantiateModelExchange,
        _ => Function::InstantiateCoSimulation,
    }
}

/// Creates an instance; null if it is refused.
pub fn instantiate(
    kind: Kind,
    [token, location]: [Option<&CStr>; 2],
    required: &[u32],
    environment: *mut c_void,
    logs: bool,
) -> fmi3Instance {
    let [token, location] = [token, location].map(|text| text.map_or(null(), CStr::as_ptr));
    let logger = Some(listen as fmi3LogMessageCallback);
    let [events, early, on] = [kind.has_events(), kind.early_return, logs].map(fmi3Boolean::from);
    // SAFETY: strings that live during the call, or null; callbacks with the standard's types.
    unsafe {
        match kind.of {
            Of::ModelExchange => {
                fmi3InstantiateModelExchange(c"x".as_ptr(), token, location, 0, on, environment, logger)
            }
            _ => fmi3InstantiateCoSimulation(
                c"x".as_ptr(),
                token,
                location,
                0,
                on,
                events,
                early,
                required.as_ptr(),
                required.len(),
                environment,
                logger,
                kind.updates.then_some(update as fmi3IntermediateUpdateCallback),
            ),
        }
    }
}

/// One in this many doubtful calls is checked for changes of the state if it is refused.
const LOOKED_AT: u32 = 5;

/// An instance under test.
pub struct Subject<'a> {
    pub target: &'a Target,
    pub kind: Kind,
    pub c: fmi3Instance,
    /// Letter of the mode, as in [`modes`].
    pub mode: char,
    /// Time of the simulation in the importer, s.
    pub t: f64,
    pub saved: Vec<Saved>,
    /// Set if errors and discarded calls are logged.
    pub logs_failures: bool,
    environment: Box<Environment>,
    doubtful: u32,
    pub journal: &'a Journal<'a>,
}

impl Drop for Subject<'_> {
    fn drop(&mut self) {
        for mut saved in self.saved.drain(..) {
            // SAFETY: a state of this FMU that has not been freed, and a live handle.
            unsafe { fmi3FreeFMUState(self.c, &mut saved.state) };
        }
        let free = || {
            // SAFETY: a live handle, not used again.
            unsafe { fmi3FreeInstance(self.c) };
            OK
        };
        self.journal
            .call(Function::Of3(Call::FreeInstance), String::new(), free);
    }
}

impl<'a> Subject<'a> {
    pub fn new(target: &'a Target, kind: Kind, journal: &'a Journal<'a>) -> Self {
        let environment = Box::new(Environment::default());
        let pointer = std::ptr::from_ref(&*environment).cast_mut().cast();
        let location = std::ffi::CString::new(target.fmu.uri()).expect("no zero inside");
        let mut c = null_mut();
        let call = || {
            c = instantiate(
                kind,
                [Some(target.token.as_c_str()), Some(location.as_c_str())],
                &[],
                pointer,
                true,
            );
            if c.is_null() { ERROR } else { OK }
        };
        let status = journal.call(instantiating(kind), format!(" {} as {kind:?}", target.name), call);
        assert_eq!(status, OK, "{:?}", environment.messages.take());
        environment.instance.set(c as usize);
        environment.variable.set(target.reals[target.reals.len() / 2]);
        environment.can_return_early.set(kind.early_return);
        Self {
            target,
            kind,
            c,
            mode: 'i',
            t: 0.0,
            saved: Vec::new(),
            logs_failures: true,
            environment,
            doubtful: 0,
            journal,
        }
    }

    /// Returns true if the call is allowed in the present mode.
    pub fn allows(&self, call: Call) -> bool {
        let [of_me, of_cs] = modes(call);
        let allowed = if self.kind.of == Of::ModelExchange {
            of_me
        } else {
            of_cs
        };
        let can_enter = call != Call::EnterEventMode || self.kind.of != Of::CoSimulation;
        can_enter && allowed.contains([self.mode, self.mode.to_ascii_uppercase()])
    }

    /// Makes a call, and checks its status and log.
    pub fn call(
        &mut self,
        call: Call,
        expect: Expect,
        text: String,
        function: impl FnOnce(fmi3Instance) -> fmi3Status,
    ) -> fmi2Status {
        let c = self.c;
        let allowed = self.allows(call);
        let expect = if allowed { expect } else { Expect::Wrong };
        let doubtful = expect != Expect::Good;
        self.doubtful += u32::from(doubtful);
        let before = (doubtful && self.doubtful.is_multiple_of(LOOKED_AT)).then(|| self.bytes_up_to_date());
        self.environment.last.set(f64::NEG_INFINITY);
        // Both standards have the same numbers for the statuses.
        let status = self
            .journal
            .call(Function::Of3(call), text, || fmi2Status(function(c).0));
        let logged = self.environment.messages.take();
        let fits = match expect {
            Expect::Good => status == OK,
            Expect::Open => true,
            Expect::Wrong => status != OK,
        };
        assert!(
            [OK, DISCARD, ERROR].contains(&status) && fits && (allowed || status == ERROR),
            "{} in {:?}, allowed: {allowed}, {expect:?}: {status:?} {logged:?}",
            call.name(),
            self.mode
        );
        let refusals = logged.iter().filter(|(of, _)| *of != fmi3Status::OK).count();
        let right = logged.iter().all(|(of, _)| *of == fmi3Status::OK || of.0 == status.0);
        assert!(
            right && refusals == usize::from(status != OK && self.logs_failures),
            "{} returned {status:?} and logged {logged:?}",
            call.name()
        );
        if let Some((_, text)) = logged.last().filter(|_| status != OK) {
            self.journal.note(format!("      \"{text}\""));
        }
        if let Some(before) = before.filter(|_| status != OK) {
            assert!(
                before == self.bytes_up_to_date(),
                "a refused {} has changed the instance",
                call.name()
            );
        }
        if status == OK {
            self.mode = self.after(call);
        }
        status
    }

    /// Returns the mode after a successful call.
    fn after(&self, call: Call) -> char {
        match call {
            Call::EnterInitializationMode => 'n',
            Call::ExitInitializationMode if self.kind.of == Of::CoSimulation => 's',
            Call::ExitInitializationMode | Call::EnterEventMode => 'e',
            Call::EnterContinuousTimeMode => 'c',
            Call::EnterStepMode => 's',
            Call::Terminate => 't',
            Call::Reset => 'i',
            _ => self.mode,
        }
    }

    /// Returns the state as bytes, after buffered parameters have been applied. Not in the journal.
    fn bytes_up_to_date(&self) -> Vec<u8> {
        let reference = *self.target.reals.last().expect("something to read");
        let mut value = 0.0;
        // SAFETY: a live handle, one number. The value itself is not used.
        unsafe { fmi3GetFloat64(self.c, &reference, 1, &mut value, 1) };
        self.environment.messages.take();
        let (mut state, mut size) = (null_mut(), 0);
        // SAFETY: a live handle, a state of its own, and as many bytes as its size.
        unsafe {
            assert_eq!(fmi3GetFMUState(self.c, &mut state), fmi3Status::OK);
            assert_eq!(fmi3SerializedFMUStateSize(self.c, state, &mut size), fmi3Status::OK);
            let mut bytes = vec![0_u8; size];
            let written = fmi3SerializeFMUState(self.c, state, bytes.as_mut_ptr(), size);
            assert_eq!(written, fmi3Status::OK);
            assert_eq!(fmi3FreeFMUState(self.c, &mut state), fmi3Status::OK);
            bytes
        }
    }
}
