use super::{Component, DueEvent, EventHandling, Fault, report_start};
use crate::fmu::lifecycle::{Interface, Mode};
use crate::fmu::saved::Experiment;

/// Calls from instantiation to termination (§2.1.6).
impl Component {
    /// Sets start and stop time (s) and relative tolerance, where defined: `fmi2SetupExperiment`.
    ///
    /// # Errors
    /// `fmi2Error` for a start time that is not finite, a tolerance that is not positive and
    /// finite, or a stop time that is NaN or before the start.
    pub fn setup_experiment(&mut self, tolerance: Option<f64>, start: f64, stop: Option<f64>) -> Result<(), Fault> {
        let experiment = Experiment { start, stop, tolerance };
        experiment.validate().map_err(Fault::error)?;
        self.experiment = experiment;
        self.simulation.state.t = start;
        self.parameters_pending = true;
        self.invalidate();
        Ok(())
    }

    /// Sets `eventModeUsed` and `earlyReturnAllowed` of `fmi3InstantiateCoSimulation`: whether the
    /// importer handles events in Event Mode, and whether steps may end before the communication
    /// point.
    pub fn use_events(&mut self, event_mode: bool, early_return: bool) {
        self.simulation.set_event_handling(match (event_mode, early_return) {
            (false, false) => EventHandling::Inside,
            (false, true) => EventHandling::UpToJumps,
            (true, false) => EventHandling::AtEnd,
            (true, true) => EventHandling::AtEvents,
        });
    }

    /// Returns true if steps may end before the communication point.
    pub fn may_return_early(&self) -> bool {
        let handling = self.simulation.event_handling();
        matches!(handling, EventHandling::UpToJumps | EventHandling::AtEvents)
    }

    /// Enters Initialization Mode: `fmi2EnterInitializationMode`.
    pub fn enter_initialization_mode(&mut self) {
        self.mode = Mode::Initialization;
    }

    /// Validates all parameters together and computes the initial state:
    /// `fmi2ExitInitializationMode`. Commands are carried out at once in Co-Simulation, in Model
    /// Exchange and with Event Mode at the first update of the discrete states.
    ///
    /// # Errors
    /// `fmi2Error` with every invalid parameter; the importer may then set others and try again.
    pub fn exit_initialization_mode(&mut self) -> Result<(), Fault> {
        self.catch_up()?;
        let begins_with_event = self.interface == Interface::ModelExchange || self.has_event_mode();
        self.attempt(|simulation, events| {
            report_start(simulation, events);
            match begins_with_event {
                true => Ok(()),
                false => simulation.execute_commands(events),
            }
        })?;
        self.invalidate();
        self.mode = match begins_with_event {
            true => Mode::Event,
            false => Mode::StepComplete,
        };
        Ok(())
    }

    /// Ends the run; values can still be read: `fmi2Terminate`.
    pub fn terminate(&mut self) {
        self.log_solver();
        self.mode = Mode::Terminated;
    }

    /// Returns the instance to its state after `fmi2Instantiate`: `fmi2Reset`. Log categories are
    /// kept.
    pub fn reset(&mut self) {
        self.log_solver();
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
        (state.t, state.due) = (self.experiment.start, DueEvent::Unknown);
        self.mode = Mode::Instantiated;
        self.parameters_pending = true;
        self.started = false;
        self.restarted = false;
        self.invalidate();
    }

    /// Switches log categories on or off: `fmi2SetDebugLogging`.
    ///
    /// # Errors
    /// `fmi2Error` with the names of unknown categories; the known ones are switched.
    pub fn set_debug_logging(&mut self, on: bool, categories: &[&str]) -> Result<(), Fault> {
        match self.log.switch(on, categories).as_slice() {
            [] => Ok(()),
            unknown => Err(Fault::error(format!("unknown log categories {unknown:?}"))),
        }
    }
}
