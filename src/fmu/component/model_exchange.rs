use super::{Cached, Component, Fault};
use crate::Error;
use crate::fmu::lifecycle::{Interface, Mode};
use crate::fmu::registry::Slot;
use crate::simulation::{Simulation, State};

/// Result of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventResult {
    /// True if states have jumped.
    pub states_changed: bool,
    /// Time of the next time event, s.
    pub next_event: Option<f64>,
}

impl EventResult {
    /// Value of `nextEventTime` when it is not defined, s. Some importers read it all the same (rule
    /// O6), so it is finite and does not overflow in their arithmetic.
    pub const NO_EVENT: f64 = 1e30;
}

/// Calls of Model Exchange: the importer integrates (§3.2). Those of Event Mode are also calls of
/// Co-Simulation in FMI 3.0.
impl Component {
    /// Enters Event Mode, also from Event Mode itself (rule O4): `fmi2EnterEventMode`.
    ///
    /// # Errors
    /// `fmi3Error` in Co-Simulation if the instance was made for an importer without Event Mode.
    pub fn enter_event_mode(&mut self) -> Result<(), Fault> {
        if self.interface == Interface::CoSimulation && !self.has_event_mode() {
            return Err(Fault::error(
                "Event Mode was excluded at the instantiation (eventModeUsed is false); events are handled inside \
                 the steps",
            ));
        }
        self.mode = Mode::Event;
        Ok(())
    }

    /// Iterates the discrete states to their fixed point in this one call (rule O5):
    /// `fmi2NewDiscreteStates`. An event without changes leaves the instance unchanged.
    /// States have changed after impulses, and after a restart of the run by changed parameters (rule
    /// O3).
    ///
    /// # Errors
    /// Those of validating buffered parameters and of the event itself.
    pub fn new_discrete_states(&mut self) -> Result<EventResult, Fault> {
        self.catch_up()?;
        if self.interface == Interface::CoSimulation {
            let states_changed = self.attempt(Simulation::handle_due_events)?;
            self.cached = Cached::Nothing;
            let next_event = self.next_event();
            return Ok(EventResult {
                states_changed,
                next_event,
            });
        }
        let (changes, sampled) = self.attempt(|simulation, events| {
            let State { t, x, u, discrete, .. } = &mut simulation.state;
            let changes = simulation.plant.update(*t, x, u, discrete, events)?;
            Ok((changes, simulation.plant.sample(*t, x, u, discrete)?))
        })?;
        if changes.modes || sampled {
            self.invalidate();
        }
        let jumped = changes.states || self.restarted;
        self.restarted = false;
        Ok(EventResult {
            states_changed: jumped,
            next_event: self.next_event(),
        })
    }

    /// Returns the time of the next time event, s.
    fn next_event(&self) -> Option<f64> {
        let Simulation { plant, state, .. } = &*self.simulation;
        plant.next_time_event(&state.discrete).filter(|t| t.is_finite())
    }

    /// Returns true if a changed command waits for an event: `fmi2CompletedIntegratorStep`.
    pub fn is_commanded(&mut self) -> bool {
        let State { t, u, discrete, .. } = &self.simulation.state;
        self.simulation.plant.needs_command_event(*t, u, discrete)
    }

    /// Enters Continuous-Time Mode; fixed parameters can no longer change:
    /// `fmi2EnterContinuousTimeMode`.
    ///
    /// # Errors
    /// Those of validating buffered parameters.
    pub fn enter_continuous_time_mode(&mut self) -> Result<(), Fault> {
        self.catch_up()?;
        self.started = true;
        self.mode = Mode::ContinuousTime;
        Ok(())
    }

    /// Sets the time, s: `fmi2SetTime`. Every finite time is accepted, since integrators evaluate
    /// trial points forwards and backwards, also beyond the stop time.
    ///
    /// # Errors
    /// For a time that is not finite, `fmi2Discard` in Continuous-Time Mode, else `fmi2Error`.
    pub fn set_time(&mut self, t: f64) -> Result<(), Fault> {
        if !t.is_finite() {
            return Err(self.overreached(format!("time = {t} is not finite")));
        }
        // Applied before the time is set, so that a pending start does not overwrite it.
        self.catch_up()?;
        let own = &mut self.simulation.state.t;
        if own.to_bits() != t.to_bits() {
            *own = t;
            self.invalidate();
        }
        Ok(())
    }

    /// Sets all states, each in its unit: `fmi2SetContinuousStates`.
    ///
    /// # Errors
    /// For a state that is not finite, `fmi2Discard` in Continuous-Time Mode, else `fmi2Error`.
    pub fn set_continuous_states(&mut self, x: &[f64]) -> Result<(), Fault> {
        self.check_count("states", x.len(), self.model().states.len())?;
        if let Some(i) = x.iter().position(|x| !x.is_finite()) {
            let name = self.registry.name(Slot::State(i)).into_owned();
            return Err(self.overreached(format!("state {name} = {} is not finite", x[i])));
        }
        self.catch_up()?;
        // The importer has replaced the states, so the restart need not be reported.
        self.restarted = false;
        let own = &mut self.simulation.state.x;
        if own.iter().zip(x).any(|(own, x)| own.to_bits() != x.to_bits()) {
            own.copy_from_slice(x);
            self.invalidate();
        }
        Ok(())
    }

    /// Returns all states, each in its unit: `fmi2GetContinuousStates`.
    ///
    /// # Errors
    /// `fmi2Error` for a wrong count; those of validating buffered parameters.
    pub fn get_continuous_states(&mut self, x: &mut [f64]) -> Result<(), Fault> {
        self.check_count("states", x.len(), self.model().states.len())?;
        self.catch_up()?;
        x.copy_from_slice(&self.simulation.state.x);
        Ok(())
    }

    /// Returns the nominal values of the states, each in its unit, all positive:
    /// `fmi2GetNominalsOfContinuousStates`.
    ///
    /// # Errors
    /// `fmi2Error` for a wrong count.
    pub fn get_nominals(&self, nominals: &mut [f64]) -> Result<(), Fault> {
        self.check_count("states", nominals.len(), self.model().states.len())?;
        for (nominal, state) in nominals.iter_mut().zip(&self.model().states) {
            *nominal = state.nominal;
        }
        Ok(())
    }

    /// Returns the derivatives of all states, each in its unit: `fmi2GetDerivatives`.
    ///
    /// # Errors
    /// For a derivative that does not exist, `fmi2Discard` in Continuous-Time Mode, else
    /// `fmi2Error`.
    pub fn get_derivatives(&mut self, dx: &mut [f64]) -> Result<(), Fault> {
        self.check_count("derivatives", dx.len(), self.model().states.len())?;
        self.evaluate_up_to(Cached::Derivatives)?;
        dx.copy_from_slice(&self.dx);
        Ok(())
    }

    /// Returns the event indicators, positive while the limit states are consistent:
    /// `fmi2GetEventIndicators`.
    ///
    /// # Errors
    /// `fmi2Error` for a wrong count; those of validating buffered parameters. For an indicator
    /// that is not finite: `fmi2Discard` in Continuous-Time Mode, else `fmi2Error`.
    pub fn get_event_indicators(&mut self, z: &mut [f64]) -> Result<(), Fault> {
        self.check_count("event indicators", z.len(), self.model().indicator_count())?;
        self.catch_up()?;
        let state = &self.simulation.state;
        self.simulation.plant.indicators(state.point(), z);
        if let Some(i) = z.iter().position(|z| !z.is_finite()) {
            let (variable, t) = (format!("event indicator {}", i + 1), state.t);
            return Err(self.overreached(Error::NotFinite { variable, t }.to_string()));
        }
        // A pending command also makes the last indicator negative, for importers that ignore the
        // result of `fmi2CompletedIntegratorStep` (rule O8).
        if self.is_commanded()
            && let Some(of_commands) = z.last_mut()
        {
            *of_commands = -1.0;
        }
        Ok(())
    }

    fn check_count(&self, what: &str, given: usize, have: usize) -> Result<(), Fault> {
        if given == have {
            Ok(())
        } else {
            Err(Fault::error(format!("{given} {what} requested, the model has {have}")))
        }
    }
}
