//! An instance with the C functions as methods: they take slices and assert that the call succeeds.

use crate::driver::{CS, Fmu, OK, WATCHED, logged};
use grapple::fmu::c_abi::*;
use grapple::fmu::fmi2::*;
use std::ffi::CStr;
use std::ptr::null_mut;

/// An instance, freed when it is dropped.
pub struct Instance<'a> {
    pub fmu: &'a Fmu,
    pub c: fmi2Component,
}

// SAFETY: the functions of FMI may be called from any thread, one at a time; the handle is owned.
unsafe impl Send for Instance<'_> {}

impl Drop for Instance<'_> {
    fn drop(&mut self) {
        // SAFETY: a live handle, not used again.
        unsafe { fmi2FreeInstance(self.c) }
    }
}

/// Asserts that a call succeeded; importers stop at any other status (S1 of docs/hosts.md).
#[track_caller]
pub fn ok(status: fmi2Status) {
    assert_eq!(status, OK, "{:?}", logged());
}

// SAFETY of this block: the handle lives as long as `self`, and every pointer comes from a value,
// or from a slice of the given count.
impl Instance<'_> {
    #[track_caller]
    pub fn setup(&self, tolerance: Option<f64>, start: f64, stop: Option<f64>) {
        // An undefined value is still passed, as by some importers; the FMU must ignore it.
        ok(unsafe {
            fmi2SetupExperiment(
                self.c,
                fmi2Boolean::from(tolerance.is_some()),
                tolerance.unwrap_or(0.0),
                start,
                fmi2Boolean::from(stop.is_some()),
                stop.unwrap_or(0.0),
            )
        });
    }

    /// Passes a stop time that must be ignored, since it is not defined.
    #[track_caller]
    pub fn setup_with_undefined_stop(&self, tolerance: f64, stop: f64) {
        ok(unsafe { fmi2SetupExperiment(self.c, fmi2True, tolerance, 0.0, fmi2False, stop) });
    }

    pub fn enter_initialization(&self) -> fmi2Status {
        unsafe { fmi2EnterInitializationMode(self.c) }
    }

    pub fn exit_initialization(&self) -> fmi2Status {
        unsafe { fmi2ExitInitializationMode(self.c) }
    }

    #[track_caller]
    pub fn initialise(&self, tolerance: Option<f64>) {
        self.setup(tolerance, 0.0, None);
        ok(self.enter_initialization());
        ok(self.exit_initialization());
    }

    /// Initialises without a tolerance, up to Continuous-Time Mode.
    #[track_caller]
    pub fn begin(&self) {
        self.initialise(None);
        self.new_discrete_states();
        self.enter_continuous_time_mode();
    }

    pub fn terminate(&self) -> fmi2Status {
        unsafe { fmi2Terminate(self.c) }
    }

    pub fn reset(&self) -> fmi2Status {
        unsafe { fmi2Reset(self.c) }
    }

    /// Calls `fmi2SetDebugLogging`.
    pub fn switch_log(&self, on: bool, categories: &[&CStr]) -> fmi2Status {
        let names: Vec<fmi2String> = categories.iter().map(|name| name.as_ptr()).collect();
        unsafe { fmi2SetDebugLogging(self.c, fmi2Boolean::from(on), names.len(), names.as_ptr()) }
    }

    #[track_caller]
    pub fn get(&self, name: &str) -> f64 {
        self.get_many(&[self.fmu.vr(name)])[0]
    }

    #[track_caller]
    pub fn get_many(&self, references: &[u32]) -> Vec<f64> {
        let mut values = vec![f64::NAN; references.len()];
        ok(unsafe { fmi2GetReal(self.c, references.as_ptr(), references.len(), values.as_mut_ptr()) });
        values
    }

    #[track_caller]
    pub fn flag(&self, name: &str) -> bool {
        let mut value = 77;
        ok(unsafe { fmi2GetBoolean(self.c, &self.fmu.vr(name), 1, &mut value) });
        assert!(value == fmi2True || value == fmi2False);
        value == fmi2True
    }

    pub fn set(&self, name: &str, value: f64) -> fmi2Status {
        self.set_many(&[self.fmu.vr(name)], &[value])
    }

    pub fn set_many(&self, references: &[u32], values: &[f64]) -> fmi2Status {
        assert_eq!(references.len(), values.len());
        unsafe { fmi2SetReal(self.c, references.as_ptr(), references.len(), values.as_ptr()) }
    }

    pub fn set_input_derivative(&self, name: &str, order: i32, value: f64) -> fmi2Status {
        unsafe { fmi2SetRealInputDerivatives(self.c, &self.fmu.vr(name), 1, &order, &value) }
    }

    #[track_caller]
    pub fn bits(&self) -> [u64; WATCHED.len()] {
        WATCHED.map(|name| self.get(name).to_bits())
    }

    pub fn step(&self, t: f64, h: f64) -> fmi2Status {
        unsafe { fmi2DoStep(self.c, t, h, fmi2True) }
    }

    /// Returns `fmi2LastSuccessfulTime`.
    #[track_caller]
    pub fn last_time(&self) -> f64 {
        let mut t = f64::NAN;
        ok(unsafe { fmi2GetRealStatus(self.c, fmi2StatusKind::LAST_SUCCESSFUL_TIME, &mut t) });
        t
    }

    /// Returns `fmi2Terminated`: whether the FMU requests the end of the run.
    #[track_caller]
    pub fn wants_to_end(&self) -> bool {
        let mut ended = 77;
        ok(unsafe { fmi2GetBooleanStatus(self.c, fmi2StatusKind::TERMINATED, &mut ended) });
        ended != fmi2False
    }

    #[track_caller]
    pub fn enter_event_mode(&self) {
        ok(unsafe { fmi2EnterEventMode(self.c) });
    }

    #[track_caller]
    pub fn enter_continuous_time_mode(&self) {
        ok(unsafe { fmi2EnterContinuousTimeMode(self.c) });
    }

    /// Returns the event info of `fmi2NewDiscreteStates`, called with a structure of arbitrary
    /// contents, since importers do not initialise it (O6 of docs/hosts.md).
    #[track_caller]
    pub fn new_discrete_states(&self) -> fmi2EventInfo {
        let mut info = fmi2EventInfo {
            newDiscreteStatesNeeded: 77,
            terminateSimulation: 77,
            nominalsOfContinuousStatesChanged: 77,
            valuesOfContinuousStatesChanged: 77,
            nextEventTimeDefined: 77,
            nextEventTime: f64::NAN,
        };
        ok(unsafe { fmi2NewDiscreteStates(self.c, &mut info) });
        assert_eq!(info.newDiscreteStatesNeeded, fmi2False);
        assert_eq!(info.terminateSimulation, fmi2False);
        assert!(info.nextEventTime.is_finite());
        info
    }

    /// Handles an event by the calls that most importers make.
    #[track_caller]
    pub fn event(&self) -> fmi2EventInfo {
        self.enter_event_mode();
        let info = self.new_discrete_states();
        self.enter_continuous_time_mode();
        info
    }

    #[track_caller]
    pub fn completed_integrator_step(&self) -> bool {
        let (mut enter, mut terminate) = (77, 77);
        ok(unsafe { fmi2CompletedIntegratorStep(self.c, fmi2True, &mut enter, &mut terminate) });
        assert_eq!(terminate, fmi2False);
        enter != fmi2False
    }

    #[track_caller]
    pub fn set_time(&self, t: f64) {
        ok(unsafe { fmi2SetTime(self.c, t) });
    }

    #[track_caller]
    pub fn set_states(&self, x: &[f64]) {
        ok(unsafe { fmi2SetContinuousStates(self.c, x.as_ptr(), x.len()) });
    }

    #[track_caller]
    pub fn states(&self) -> Vec<f64> {
        let mut x = vec![f64::NAN; self.fmu.state_count()];
        ok(unsafe { fmi2GetContinuousStates(self.c, x.as_mut_ptr(), x.len()) });
        x
    }

    #[track_caller]
    pub fn derivatives(&self) -> Vec<f64> {
        let mut dx = vec![f64::NAN; self.fmu.state_count()];
        ok(unsafe { fmi2GetDerivatives(self.c, dx.as_mut_ptr(), dx.len()) });
        dx
    }

    #[track_caller]
    pub fn indicators(&self) -> Vec<f64> {
        let mut z = vec![f64::NAN; self.fmu.indicator_count()];
        ok(unsafe { fmi2GetEventIndicators(self.c, z.as_mut_ptr(), z.len()) });
        z
    }

    #[track_caller]
    pub fn nominals(&self) -> Vec<f64> {
        let mut nominals = vec![f64::NAN; self.fmu.state_count()];
        ok(unsafe { fmi2GetNominalsOfContinuousStates(self.c, nominals.as_mut_ptr(), nominals.len()) });
        nominals
    }

    /// Calls `fmi2GetDirectionalDerivative`; the caller checks the status.
    pub fn directional(&self, unknowns: &[u32], knowns: &[u32], seeds: &[f64]) -> (fmi2Status, Vec<f64>) {
        assert_eq!(knowns.len(), seeds.len());
        let mut values = vec![f64::NAN; unknowns.len()];
        let status = unsafe {
            fmi2GetDirectionalDerivative(
                self.c,
                unknowns.as_ptr(),
                unknowns.len(),
                knowns.as_ptr(),
                knowns.len(),
                seeds.as_ptr(),
                values.as_mut_ptr(),
            )
        };
        (status, values)
    }

    /// Calls [`directional`](Self::directional) and asserts success.
    #[track_caller]
    pub fn along(&self, unknowns: &[u32], knowns: &[u32], seeds: &[f64]) -> Vec<f64> {
        let (status, values) = self.directional(unknowns, knowns, seeds);
        ok(status);
        values
    }

    #[track_caller]
    pub fn save(&self) -> fmi2FMUstate {
        let mut state = null_mut();
        ok(unsafe { fmi2GetFMUstate(self.c, &mut state) });
        state
    }

    #[track_caller]
    pub fn restore(&self, state: fmi2FMUstate) {
        ok(unsafe { fmi2SetFMUstate(self.c, state) });
    }

    #[track_caller]
    pub fn free_state(&self, mut state: fmi2FMUstate) {
        ok(unsafe { fmi2FreeFMUstate(self.c, &mut state) });
        assert!(state.is_null());
    }

    /// Serialises a saved state; returns the bytes.
    #[track_caller]
    pub fn serialize(&self, state: fmi2FMUstate) -> Vec<u8> {
        let mut size = 0;
        ok(unsafe { fmi2SerializedFMUstateSize(self.c, state, &mut size) });
        let mut bytes = vec![0_u8; size];
        ok(unsafe { fmi2SerializeFMUstate(self.c, state, bytes.as_mut_ptr().cast(), size) });
        bytes
    }

    /// Deserialises a saved state; returns the status and the state, null if it is refused.
    pub fn deserialize(&self, bytes: &[u8]) -> (fmi2Status, fmi2FMUstate) {
        let mut state = null_mut();
        let status = unsafe { fmi2DeSerializeFMUstate(self.c, bytes.as_ptr().cast(), bytes.len(), &mut state) };
        (status, state)
    }

    /// Returns the complete state as bytes.
    #[track_caller]
    pub fn bytes(&self) -> Vec<u8> {
        let state = self.save();
        let bytes = self.serialize(state);
        self.free_state(state);
        bytes
    }
}

/// Returns the time of the next scheduled event, s.
pub fn next_event(info: &fmi2EventInfo) -> f64 {
    if info.nextEventTimeDefined == fmi2False {
        f64::INFINITY
    } else {
        info.nextEventTime
    }
}

/// Asserts that [`WATCHED`] agrees in two runs.
#[track_caller]
pub fn assert_agree(a: &Instance, b: &Instance, tolerance: f64) {
    for name in WATCHED {
        let (a, b) = (a.get(name), b.get(name));
        assert!((a - b).abs() < tolerance, "{name}: {a} {b}, {:.1e}", (a - b).abs());
    }
}

/// Asserts that two runs of a [`impact_in_orbit`](super::impact_in_orbit) have reached the same
/// state with one impact, the same impulse and the same pose of the boom.
#[track_caller]
pub fn assert_same_impact(a: &Instance, b: &Instance, tolerance: f64) {
    assert_agree(a, b, tolerance);
    for of in [a, b] {
        assert_eq!(of.get("hit.count"), 1.0);
        // The ball came from above, and has separated again.
        assert!(of.get("ball.v[2]") > -1.4, "{}", of.get("ball.v[2]"));
    }
    for name in [
        "ball.v[1]",
        "ball.v[2]",
        "hit.impulse[2]",
        "grip.force[1]",
        "boom.tip_deflection[2]",
    ] {
        let (a, b) = (a.get(name), b.get(name));
        assert!((a - b).abs() < tolerance, "{name}: {a} {b}, {:.1e}", (a - b).abs());
    }
}

/// Makes a Co-Simulation run to `end`, for comparison. The elbow's stop amplifies integration
/// errors a hundredfold, hence the tolerance of 1e-13.
pub fn reference(fmu: &Fmu, end: f64, prepare: impl Fn(&Instance)) -> Instance<'_> {
    let cs = fmu.instance(CS);
    cs.initialise(Some(1e-13));
    prepare(&cs);
    ok(cs.step(0.0, end));
    logged();
    cs
}

/// Makes a Co-Simulation run of a [`catcher`](super::catcher) to 1 s with a capture at 0.3 s and a
/// release at 0.7 s, for comparison.
pub fn capturing_reference(fmu: &Fmu) -> Instance<'_> {
    let cs = fmu.instance(CS);
    cs.initialise(Some(1e-13));
    ok(cs.set("elbow.tau", 0.4));
    for (t, end, capture) in [(0.0, 0.3, 0.0), (0.3, 0.7, 1.0), (0.7, 1.0, 0.0)] {
        ok(cs.set("grip.capture", capture));
        ok(cs.step(t, end - t));
    }
    logged();
    cs
}
