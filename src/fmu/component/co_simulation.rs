use super::{Cached, Component, Fault};
use crate::Error;
use crate::fmu::lifecycle::{Interface, Mode, Standard};
use crate::fmu::log::Category;
use crate::fmu::status::Status;
use crate::simulation::{DueEvent, Observer, Unobserved};
use std::ops::ControlFlow;

/// End of a step that succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepEnd {
    /// True if an event at this time waits for Event Mode.
    pub event: bool,
    /// True if the step ended before the communication point.
    pub is_early: bool,
}

/// A step under way: times at its start and its end, s.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    start: f64,
    pub end: f64,
}

/// Calls of Co-Simulation: the FMU integrates (§4.2).
impl Component {
    /// Integrates from the communication point `t` to exactly `t + h`, in s: `fmi2DoStep`.
    ///
    /// The importer's `t` may differ from the instance's time by round-off, since importers add up
    /// steps; the step then begins at the instance's time and ends at the importer's `t + h`. A
    /// step of length zero does nothing. Input derivatives apply to one step; afterwards the
    /// inputs keep the values reached at its end.
    ///
    /// # Errors
    /// `fmi2Discard` if part of the step succeeded: the instance is then at the time that
    /// `fmi2GetRealStatus` returns; in FMI 3.0 it is as before the step. `fmi2Error` if no part
    /// succeeded (after `fmi2Discard` an importer could halve its step without end), if the run's
    /// monitoring reports that the results are wrong, and for a step that goes backwards, starts at
    /// another time or passes the stop time.
    pub fn do_step(&mut self, t: f64, h: f64) -> Result<(), Fault> {
        self.do_step_while(t, h, &mut || ControlFlow::Continue(()))
    }

    /// Integrates as [`do_step`](Self::do_step); `flow` is called before each step of the integrator.
    /// If it ends the call, the instance is as before it.
    ///
    /// # Errors
    /// Those of [`do_step`](Self::do_step); `fmi2Error` if `flow` has ended the call.
    pub fn do_step_while(&mut self, t: f64, h: f64, flow: &mut dyn FnMut() -> ControlFlow<()>) -> Result<(), Fault> {
        self.do_step_with(t, h, &mut Unobserved(flow)).map(|_| ())
    }

    /// Integrates as [`do_step`](Self::do_step); the observer is called at each step of the
    /// integrator, and may end the step. A step also ends early as [`use_events`](Self::use_events)
    /// allows: `fmi3DoStep`.
    ///
    /// # Errors
    /// Those of [`do_step_while`](Self::do_step_while).
    pub fn do_step_with(&mut self, t: f64, h: f64, observer: &mut dyn Observer) -> Result<StepEnd, Fault> {
        let Some(step) = self.begin_step(t, h)? else {
            // A step of length zero may begin after its end by round-off.
            return Ok(self.step_end(f64::NEG_INFINITY));
        };
        let outcome = self.simulation.advance_with(step.end, &mut self.events, observer);
        self.end_step(step, outcome)
    }

    /// Validates the step from `t` to `t + h` (s) and prepares the instance for it. Returns `None` for a
    /// step of length zero, which is then done.
    ///
    /// # Errors
    /// `fmi2Error` for an invalid step; those of buffered parameters.
    pub(super) fn begin_step(&mut self, t: f64, h: f64) -> Result<Option<Step>, Fault> {
        let start = self.simulation.state.t;
        let end = self.check_step(t, h)?;
        self.catch_up()?;
        if end <= start {
            self.mode = Mode::StepComplete;
            return Ok(None);
        }
        if self.stepper_stale {
            self.simulation.invalidate();
            self.stepper_stale = false;
        }
        self.before.clone_from(&self.simulation.state);
        Ok(Some(Step { start, end }))
    }

    /// Ends a step with the outcome of the simulation.
    ///
    /// # Errors
    /// As [`do_step`](Self::do_step).
    pub(super) fn end_step(&mut self, step: Step, outcome: Result<(), Error>) -> Result<StepEnd, Fault> {
        let Step { start, end } = step;
        let (keeps_part, t) = (self.standard == Standard::Fmi2, self.simulation.state.t);
        // Time up to which the step could be computed, if it failed after that.
        let mut reached = None;
        let stopped = match outcome {
            Err(error @ Error::Interrupted { .. }) => Err(error),
            Err(error) if t > start && !error.invalidates_results() => {
                reached = Some(t);
                match keeps_part {
                    true => Ok(Some(error)),
                    false => Err(error),
                }
            }
            outcome => outcome.map(|()| None),
        };
        let stopped = self.end_attempt(stopped).map_err(|error| match reached {
            Some(reached) => Fault::discard(format!(
                "the step from {start} s to {end} s could be computed up to {reached} s only: {error}; the instance is as \
                 before the step"
            )),
            None => Fault::error(format!("no step from {start} s to {end} s: {error}")),
        })?;
        self.started = true;
        self.cached = Cached::Nothing;
        let Some(error) = stopped else {
            self.mode = Mode::StepComplete;
            return Ok(self.step_end(end));
        };
        self.mode = Mode::StepFailed;
        let reached = self.simulation.state.t;
        Err(Fault::discard(format!(
            "the step from {start} s to {end} s ended at {reached} s: {error}"
        )))
    }

    /// Returns the result of a step that was to end at `end` (s).
    fn step_end(&self, end: f64) -> StepEnd {
        StepEnd {
            event: self.has_event_mode() && self.simulation.state.due == DueEvent::Pending,
            is_early: self.time() < end,
        }
    }

    /// Returns to Step Mode from Event Mode: `fmi3EnterStepMode`.
    pub fn enter_step_mode(&mut self) {
        self.mode = Mode::StepComplete;
    }

    /// Replaces all states at a communication point, each in its unit; see [`Simulation::set_states`].
    /// Fixed parameters can no longer change. No function of FMI 2.0 does this.
    ///
    /// # Errors
    /// `fmi2Error` for a quaternion of zero norm and a rate of a locked joint; those of validating
    /// buffered parameters and of the dynamics.
    ///
    /// [`Simulation::set_states`]: crate::simulation::Simulation::set_states
    pub fn set_states(&mut self, x: &[f64]) -> Result<(), Fault> {
        // Buffered parameters are applied first, since a start would overwrite the states.
        self.catch_up()?;
        self.attempt(|simulation, events| simulation.set_states(x, events))?;
        self.started = true;
        self.look_for_events();
        self.invalidate();
        Ok(())
    }

    /// Returns the end of the step, s, after validating its start, length and end.
    fn check_step(&self, t: f64, h: f64) -> Result<f64, Fault> {
        let own = self.simulation.state.t;
        if !(t.is_finite() && h.is_finite()) {
            return Err(Fault::error(format!("a step of {h} s from {t} s: not finite")));
        }
        if h < 0.0 {
            return Err(Fault::error(format!(
                "the step of {h} s goes backwards; restore a saved state instead"
            )));
        }
        // Tolerance, s: a small part of the step, and the round-off of summed steps.
        let slack = 1e-4 * h + 1e-9 * t.abs().max(own.abs()).max(1.0);
        if (t - own).abs() > slack {
            return Err(Fault::error(format!(
                "the communication point {t} s differs from the time of this instance, {own} s"
            )));
        }
        let end = t + h;
        match self.experiment.stop {
            Some(stop) if end > stop + slack => Err(Fault::error(format!(
                "the step to {end} s passes the stop time {stop} s of {}",
                self.standard.setup()
            ))),
            _ => Ok(end),
        }
    }

    /// Logs the solver's statistics if a run ends here and the category `Solver` is enabled.
    pub(super) fn log_solver(&mut self) {
        let runs = matches!(self.mode, Mode::StepComplete | Mode::StepFailed | Mode::Event);
        if runs && self.interface == Interface::CoSimulation && self.log.is_enabled(Category::Solver) {
            let text = self.simulation.statistics().to_string();
            self.log.add(Status::Ok, Category::Solver, text);
        }
    }
}
