use super::{Component, Experiment, Fault};
use crate::fmu::lifecycle::{Interface, Mode};

/// From instantiation to the end (§2.1.6).
impl Component {
    /// Start and stop time (s) and relative tolerance, where defined: `fmi2SetupExperiment`.
    ///
    /// # Errors
    /// `fmi2Error` for what is not a number, a tolerance that is not positive, or a stop before the start.
    pub fn setup_experiment(&mut self, tolerance: Option<f64>, start: f64, stop: Option<f64>) -> Result<(), Fault> {
        if !start.is_finite() {
            return Err(Fault::error(format!("the start time {start} is not finite")));
        }
        if let Some(tolerance) = tolerance.filter(|t| !(t.is_finite() && *t > 0.0)) {
            return Err(Fault::error(format!("the tolerance {tolerance} is not positive")));
        }
        if let Some(stop) = stop.filter(|stop| stop.is_nan() || *stop < start) {
            return Err(Fault::error(format!(
                "the stop time {stop} s is before the start time {start} s"
            )));
        }
        self.experiment = Experiment { start, stop, tolerance };
        self.unsettled = true;
        self.touch();
        Ok(())
    }

    /// `fmi2EnterInitializationMode`.
    pub fn enter_initialization_mode(&mut self) {
        self.mode = Mode::Initialization;
    }

    /// Judges all parameters together and computes the initial state: `fmi2ExitInitializationMode`.
    ///
    /// # Errors
    /// `fmi2Error` with every parameter that makes no sense; the host may then set others and try again.
    pub fn exit_initialization_mode(&mut self) -> Result<(), Fault> {
        self.settle()?;
        self.tell_start();
        self.mode = match self.interface {
            Interface::ModelExchange => Mode::Event,
            Interface::CoSimulation => {
                // The event that in Model Exchange the host makes.
                let obeyed = self.simulation.obey(&mut self.events);
                self.log_events();
                self.touch();
                obeyed?;
                Mode::StepComplete
            }
        };
        Ok(())
    }

    /// `fmi2Terminate`: values can still be read.
    pub fn terminate(&mut self) {
        if self.interface == Interface::CoSimulation {
            self.log_solver();
        }
        self.mode = Mode::Terminated;
    }

    /// Back to where `fmi2Instantiate` left it: `fmi2Reset`. What is logged stays chosen.
    pub fn reset(&mut self) {
        for (i, value) in self.parameters.iter_mut().enumerate() {
            *value = self.registry.parameter(i).start;
        }
        let state = &mut self.simulation.state;
        for (u, input) in state.u.iter_mut().zip(&self.registry.model().inputs) {
            *u = input.start;
        }
        for order in &mut state.u_derivatives {
            order.fill(0.0);
        }
        self.experiment = Experiment::default();
        self.mode = Mode::Instantiated;
        self.unsettled = true;
        self.moved = false;
        self.touch();
    }

    /// Which categories are logged: `fmi2SetDebugLogging`.
    ///
    /// # Errors
    /// `fmi2Error` with the names of categories that do not exist; the others are switched.
    pub fn set_debug_logging(&mut self, on: bool, categories: &[&str]) -> Result<(), Fault> {
        match self.log.switch(on, categories).as_slice() {
            [] => Ok(()),
            unknown => Err(Fault::error(format!("unknown log categories {unknown:?}"))),
        }
    }
}
