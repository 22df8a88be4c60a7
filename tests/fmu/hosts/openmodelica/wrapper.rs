//! The calls of OpenModelica's wrapper around an FMU, in its order.
//!
//! Read from OpenModelica/OpenModelica: `OMCompiler/Compiler/Template/CodegenFMU.tpl` (template
//! `importFMU2ModelExchange`), `OMCompiler/SimulationRuntime/c/fmi/FMI2ModelExchange.c` and
//! `FMI2Common.c`; below them modelon-community/fmi-library,
//! `src/Import/src/FMI2/fmi2_import_capi.c`.
//!
//! Facts used: `fmi2SetupExperiment(false, 0.0, time, false, 0.0)`. Since August 2026 parameters
//! are set between `fmi2EnterInitializationMode` and `fmi2ExitInitializationMode`, in older
//! releases after both. Every evaluation is `fmi2SetTime`, inputs, `fmi2SetContinuousStates`,
//! `fmi2GetDerivatives`, `fmi2GetEventIndicators`, all outputs, `fmi2CompletedIntegratorStep`,
//! whose result is ignored. There is an event when `nextEventTime < time`, when an indicator
//! changes its sign, and at the end: `fmi2EnterEventMode`, inputs, one `fmi2NewDiscreteStates`,
//! `fmi2EnterContinuousTimeMode`. The destructor always calls `fmi2Terminate`.

use crate::driver::integration::Calls;
use crate::driver::*;
use grapple::fmu::fmi2::fmi2False;

/// Delay of time events, s.
pub const LATE: f64 = 1e-10;

/// The wrapper's state.
pub struct Wrapper<'a> {
    pub fmu: Instance<'a>,
    /// References and values of the connected inputs.
    inputs: (Vec<u32>, Vec<f64>),
    /// Reference of another input, and the times (s) between which it is 1.
    pulse: Option<(u32, f64, f64)>,
    /// Set after the first event; until then the FMU is in Event Mode.
    continuous: bool,
    pub next_event_time: f64,
    /// Set for releases before August 2026, which set parameters after the initialisation.
    late_parameters: bool,
}

impl<'a> Wrapper<'a> {
    pub fn new(fmu: &'a Fmu, late_parameters: bool) -> Self {
        Self {
            fmu: fmu.instance(ME),
            inputs: (Vec::new(), Vec::new()),
            pulse: None,
            continuous: false,
            // `nextEventTime(fixed = true)` starts at zero: the first event comes as soon as the
            // time is greater.
            next_event_time: 0.0,
            late_parameters,
        }
    }

    pub fn connect(mut self, name: &str, value: f64) -> Self {
        self.inputs.0.push(self.fmu.fmu.vr(name));
        self.inputs.1.push(value);
        self
    }

    /// Adds an input that an equation sets to 1 between two times (s), and to 0 otherwise.
    pub fn during(mut self, name: &str, from: f64, until: f64) -> Self {
        self.pulse = Some((self.fmu.fmu.vr(name), from, until));
        self
    }

    fn feed(&self, t: f64) {
        ok(self.fmu.set_many(&self.inputs.0, &self.inputs.1));
        if let Some((reference, from, until)) = self.pulse {
            let value = f64::from(u8::from(from <= t && t < until));
            ok(self.fmu.set_many(&[reference], &[value]));
        }
    }

    /// Runs the wrapper's initial algorithm, which sets all parameters, changed or not. Returns the
    /// initial states.
    pub fn initialise(&mut self, changed: &[(&str, f64)]) -> Vec<f64> {
        let parameters = self.fmu.fmu.parameters();
        let mut values = self.fmu.get_many(&parameters);
        for (name, value) in changed {
            let reference = self.fmu.fmu.vr(name);
            let place = parameters.iter().position(|&r| r == reference);
            values[place.expect("it is a parameter")] = *value;
        }
        self.fmu.setup(None, 0.0, None);
        ok(self.fmu.enter_initialization());
        if !self.late_parameters {
            ok(self.fmu.set_many(&parameters, &values));
        }
        ok(self.fmu.exit_initialization());
        if self.late_parameters {
            ok(self.fmu.set_many(&parameters, &values));
        }
        let x = self.fmu.states();
        self.evaluate(0.0, &x);
        x
    }

    /// Evaluates all equations of the wrapper; the calls are the same at trial points and accepted
    /// ones.
    pub fn evaluate(&mut self, t: f64, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
        self.fmu.set_time(t);
        self.feed(t);
        self.fmu.set_states(x);
        let derivatives = self.fmu.derivatives();
        let indicators = self.fmu.indicators();
        let outputs = self.fmu.get_many(&self.fmu.fmu.outputs());
        assert!(outputs.iter().chain(&derivatives).all(|v| v.is_finite()));
        self.fmu.flag("elbow.out_of_range");
        if self.continuous {
            let asks = self.fmu.completed_integrator_step();
            assert!(!asks || self.fmu.fmu.registry.model().has_commands());
        }
        (derivatives, indicators)
    }
}

impl Calls for Wrapper<'_> {
    fn derivatives(&mut self, t: f64, x: &[f64]) -> Vec<f64> {
        self.evaluate(t, x).0
    }

    fn indicators(&mut self, t: f64, x: &[f64]) -> Vec<f64> {
        // A perturbed point is evaluated before, as for a Jacobian.
        let beside: Vec<f64> = x.iter().map(|x| x * (1.0 + 1e-7) + 1e-9).collect();
        self.evaluate(t + 1e-6, &beside);
        self.evaluate(t, x).1
    }

    fn accepted(&mut self, t: f64, x: &[f64]) {
        self.evaluate(t, x);
    }

    fn event(&mut self, t: f64, x: &[f64]) -> Vec<f64> {
        self.evaluate(t, x);
        self.fmu.enter_event_mode();
        self.feed(t);
        let info = self.fmu.new_discrete_states();
        self.fmu.enter_continuous_time_mode();
        self.continuous = true;
        self.next_event_time = info.nextEventTime;
        if info.valuesOfContinuousStatesChanged == fmi2False {
            x.to_vec()
        } else {
            self.fmu.states()
        }
    }

    fn next_event(&self) -> f64 {
        self.next_event_time + LATE
    }
}
