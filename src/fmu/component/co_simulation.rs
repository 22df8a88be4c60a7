use super::{Component, Fault, Known};
use crate::fmu::fmi2::{fmi2Status, fmi2StatusKind};
use crate::fmu::lifecycle::Mode;
use crate::fmu::log::Category;

/// The FMU integrates (§4.2).
impl Component {
    /// Integrates from the communication point `t` to exactly `t + h`, in s: `fmi2DoStep`.
    ///
    /// The host's time may differ from ours by round-off, since hosts add up steps; the step then begins at
    /// ours and ends at theirs. A step of length zero does nothing. Input derivatives hold for one step; afterwards the
    /// inputs stand where the step has left them.
    ///
    /// # Errors
    /// `fmi2Discard` when part of the step succeeded: the instance then stands at the time reached, which
    /// `fmi2GetRealStatus` tells. `fmi2Error` when none of it did (a master that halves its step would never end), for a step
    /// backwards, from another time or past the stop time.
    pub fn do_step(&mut self, t: f64, h: f64) -> Result<(), Fault> {
        let start = self.simulation.state.t;
        let end = self.check_step(t, h)?;
        self.catch_up()?;
        if end <= start {
            self.mode = Mode::StepComplete;
            return Ok(());
        }
        if self.stepper_stale {
            self.simulation.invalidate();
            self.stepper_stale = false;
        }
        let stopped = self.attempt(|simulation, events| match simulation.advance(end, events) {
            Err(error) if simulation.state.t > start && !error.is_untrue() => Ok(Some(error)),
            outcome => outcome.map(|()| None),
        });
        let stopped = stopped.map_err(|error| Fault::error(format!("no step from {start} s to {end} s: {error}")))?;
        self.started = true;
        self.known = Known::Nothing;
        let Some(error) = stopped else {
            self.mode = Mode::StepComplete;
            return Ok(());
        };
        self.mode = Mode::StepFailed;
        let reached = self.simulation.state.t;
        Err(Fault::discard(format!(
            "the step from {start} s to {end} s ended at {reached} s: {error}"
        )))
    }

    /// Where the step ends, if it is one that can be taken.
    fn check_step(&self, t: f64, h: f64) -> Result<f64, Fault> {
        let own = self.simulation.state.t;
        if !(t.is_finite() && h.is_finite()) {
            return Err(Fault::error(format!("a step of {h} s from {t} s: not finite")));
        }
        if h < 0.0 {
            return Err(Fault::error(format!(
                "the step {h} s goes backwards; restore a saved state instead"
            )));
        }
        // A small part of the step, and what sums of steps lose to round-off.
        let slack = 1e-4 * h + 1e-9 * t.abs().max(own.abs()).max(1.0);
        if (t - own).abs() > slack {
            return Err(Fault::error(format!(
                "the communication point {t} s is not the time of this instance, {own} s"
            )));
        }
        let end = t + h;
        match self.experiment.stop {
            Some(stop) if end > stop + slack => Err(Fault::error(format!(
                "the step to {end} s passes the stop time {stop} s of fmi2SetupExperiment"
            ))),
            _ => Ok(end),
        }
    }

    /// Result of the last step: `fmi2GetStatus`. Steps are never pending, so it is known anyway.
    ///
    /// # Errors
    /// `fmi2Discard` for any kind but `fmi2DoStepStatus`: there is no such status (§4.2.3).
    pub fn do_step_status(&self, kind: fmi2StatusKind) -> Result<fmi2Status, Fault> {
        match (kind, self.mode) {
            (fmi2StatusKind::DO_STEP_STATUS, Mode::StepFailed) => Ok(fmi2Status::DISCARD),
            (fmi2StatusKind::DO_STEP_STATUS, _) => Ok(fmi2Status::OK),
            _ => Err(self.no_status(kind)),
        }
    }

    /// The time reached, s: `fmi2GetRealStatus`.
    ///
    /// # Errors
    /// `fmi2Discard` for any kind but `fmi2LastSuccessfulTime`.
    pub fn last_successful_time(&self, kind: fmi2StatusKind) -> Result<f64, Fault> {
        match kind {
            fmi2StatusKind::LAST_SUCCESSFUL_TIME => Ok(self.simulation.state.t),
            _ => Err(self.no_status(kind)),
        }
    }

    /// Whether the FMU wants to end the simulation, which it never does: `fmi2GetBooleanStatus`.
    ///
    /// # Errors
    /// `fmi2Discard` for any kind but `fmi2Terminated`.
    pub fn terminated(&self, kind: fmi2StatusKind) -> Result<bool, Fault> {
        match kind {
            fmi2StatusKind::TERMINATED => Ok(false),
            _ => Err(self.no_status(kind)),
        }
    }

    /// A status that does not exist (§4.2.3).
    pub fn no_status(&self, kind: fmi2StatusKind) -> Fault {
        let name = match kind {
            fmi2StatusKind::PENDING_STATUS => return Fault::discard("fmi2PendingStatus: no step is pending"),
            fmi2StatusKind::DO_STEP_STATUS => "fmi2DoStepStatus",
            fmi2StatusKind::LAST_SUCCESSFUL_TIME => "fmi2LastSuccessfulTime",
            fmi2StatusKind::TERMINATED => "fmi2Terminated",
            _ => "an unknown fmi2StatusKind",
        };
        Fault::discard(format!("{name} is no status of this type"))
    }

    /// Logs what the solver has done in a run that ends, if that is wanted.
    pub(super) fn log_solver(&mut self) {
        let runs = matches!(self.mode, Mode::StepComplete | Mode::StepFailed);
        if runs && self.log.wants(Category::Solver) {
            let text = self.simulation.statistics().to_string();
            self.log.add(fmi2Status::OK, Category::Solver, text);
        }
    }
}
