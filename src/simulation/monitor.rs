//! Monitoring of a run: errors that end it when its results are no longer reliable.

use super::state::{self, Monitored};
use super::{Simulation, State, Workspace};
use crate::Error;
use crate::algebra::square;
use crate::integrate::root;
use crate::plant::OperatingPoint;

/// Number of accepted steps from one check of the energy balance to the next.
const STEPS: f64 = 8.0;
/// Error of the energy balance, relative to the energies and the work themselves, that counts as
/// round-off.
const ROUND_OFF: f64 = 1e-9;
/// Relative tolerance whose errors count as round-off of the energy balance: errors below twice the
/// kinetic energy of the system with all rates at their scale times the tolerance.
const AT_REST: f64 = 1e-6;
/// Scale of the integrated work, J.
const WORK: f64 = 1.0;
/// Errors of rates and of the work, as multiples of the tolerance, that count as round-off: errors
/// of many steps add, and stability limits an explicit method only where a vibration has grown.
const ERRORS: f64 = 10.0;
/// Limit of the sine of the smallest angle between the rows of captures and loops, relative to its
/// largest value since the last event: below this the position is singular, and the run ends.
const SINGULAR: f64 = 1e-4;
/// Limit of the same ratio below which a singular position is near. The run then ends if a
/// constraint violation exceeds this factor times the ratio's square: the branch of the motion is
/// no longer determined.
const NEAR: f64 = 0.1;
/// Limit of the deviation of the change of rates over a step from the trapezoidal rule with the
/// accelerations at both ends, relative to the rates at both ends (root of the sums of squares). A
/// step that jumps over a singular position exceeds it.
const JUMP: f64 = 0.3;

impl Monitored {
    /// Makes the next accepted step be followed by a check of the energy balance.
    pub(super) fn check_at_next_step(&mut self) {
        if self.steps >= 0.0 {
            self.steps = STEPS - 1.0;
        }
    }
}

impl Simulation {
    /// Begins the monitoring of captures and loops before a step. Returns the sine of the smallest
    /// angle between a constraint row and the others; `None` without captures and loops.
    ///
    /// # Errors
    /// [`Error::SingularPosition`] if the position is singular; those of the dynamics.
    pub(super) fn begin_singularity_check(&mut self, t_start: f64) -> Result<Option<f64>, Error> {
        if !self.plant.is_closed(&self.state.discrete) {
            return Ok(None);
        }
        self.workspace.x_before.copy_from_slice(&self.state.x);
        let at = self.state.extrapolated(t_start, &mut self.workspace.u);
        let begun = self.plant.begin_singularity_check(at);
        self.workspace
            .dx_before
            .copy_from_slice(self.plant.checked_derivative());
        let sine = begun.map_err(|error| self.in_position(error))?;
        let largest = &mut self.state.monitored.sine;
        *largest = largest.max(sine);
        if sine < SINGULAR * *largest {
            return Err(self.singular());
        }
        Ok(Some(sine))
    }

    /// Checks after a step that captures and loops have stayed on the same branch of the motion;
    /// `sine` is the result of [`begin_singularity_check`](Self::begin_singularity_check). If the
    /// step passes a singular position, returns its time and the error, which ends the run unless
    /// an event comes first.
    ///
    /// # Errors
    /// [`Error::Violation`]; [`Error::SingularPosition`] if the branch is no longer determined.
    pub(super) fn check_step(
        &mut self,
        (t_start, t_before): (f64, f64),
        sine: f64,
    ) -> Result<Option<(f64, Error)>, Error> {
        let State { t, x, discrete, .. } = &self.state;
        let s = self.plant.singularity_indicator(x, discrete);
        let parameters = self.plant.parameters();
        let limit = self.plant.model().monitor.constraint_violation(parameters);
        if let Some((index, [offset, angle])) = self.plant.worst_violation() {
            // Written so that NaN exceeds the limit.
            if !(offset <= limit && angle <= limit) {
                let closure = self.plant.model().closure_name(index);
                let t = *t;
                return Err(Error::Violation {
                    closure,
                    t,
                    offset,
                    angle,
                    limit,
                });
            }
            self.plant.end_drawing(&mut self.state.discrete, limit);
            let part = sine / self.state.monitored.sine;
            if part < NEAR && offset.max(angle) > NEAR * part * part {
                return Err(self.singular());
            }
        }
        if s > 0.5 * sine {
            return Ok(None);
        }
        if s <= 0.0
            && let Some(passed) = self.passes(t_start, t_before, (sine, s))
        {
            return Ok(Some(passed));
        }
        match self.jumps(t_start, t_before) {
            true => Err(self.singular()),
            false => Ok(None),
        }
    }

    /// Returns the time in the last step at which the monitored value falls from `sine` at the
    /// start through zero to `s` at the end, and the error; `None` if the rows do not lose rank
    /// there.
    fn passes(&mut self, t_start: f64, t_before: f64, (sine, s): (f64, f64)) -> Option<(f64, Error)> {
        let t_end = self.state.t;
        // If the step cannot be evaluated, it has reached a position without a solution.
        let at = self.inside_step(t_start, |plant, dense, x, discrete| {
            let value = |at: f64| {
                dense(at, x);
                plant.singularity_indicator(x, discrete)
            };
            let found = root::find_change([(t_before, sine), (t_end, s)], value);
            found.map_or(t_end, |bracket| bracket.t_after)
        });
        let Ok(at) = at else {
            return Some((t_end, self.singular()));
        };
        let Workspace { x, u, .. } = &mut self.workspace;
        let State {
            u: inputs,
            u_derivatives,
            discrete,
            ..
        } = &self.state;
        state::inputs_after(at - t_start, inputs, u_derivatives, u);
        let there = self
            .plant
            .begin_singularity_check(OperatingPoint { t: at, x, u, discrete });
        let is_singular = there.map_or_else(
            |error| matches!(error, Error::SingularLoop { .. }),
            |there| there < 1e-2 * sine,
        );
        is_singular.then(|| {
            let error = Error::SingularPosition {
                closure: self.plant.least_closure(&self.state.discrete),
                t: at,
                configuration: self.plant.configuration(&self.workspace.x),
            };
            (at, error)
        })
    }

    /// Returns true if the change of rates in the last step disagrees with the accelerations at its
    /// ends by more than [`JUMP`], or if there are no accelerations at the end.
    fn jumps(&mut self, t_start: f64, t_before: f64) -> bool {
        let State { t, x, .. } = &self.state;
        let at = self.state.extrapolated(t_start, &mut self.workspace.u);
        if self.plant.begin_singularity_check(at).is_err() {
            return true;
        }
        let h = t - t_before;
        let rates = self.plant.model().rates();
        let (mut off, mut size) = (0.0_f64, 0.0_f64);
        let after = self.plant.checked_derivative();
        for i in rates {
            let change = 0.5 * h * (self.workspace.dx_before[i] + after[i]);
            off += square(x[i] - self.workspace.x_before[i] - change);
            size += square(x[i]) + square(self.workspace.x_before[i]);
        }
        off > JUMP * JUMP * size
    }

    /// Replaces an integrator's error near a singular position by [`Error::SingularPosition`];
    /// `sine` is the result of [`begin_singularity_check`](Self::begin_singularity_check) for the
    /// failed step.
    pub(super) fn explained(&mut self, error: Error, sine: Option<f64>) -> Error {
        let gives_up = matches!(error, Error::Integration { .. } | Error::WorkLimit { .. });
        match sine {
            Some(sine) if gives_up && sine < NEAR * self.state.monitored.sine => self.singular(),
            _ => error,
        }
    }

    /// Returns [`Error::SingularPosition`] for the current state.
    pub(super) fn singular(&mut self) -> Error {
        let closure = self.plant.least_closure(&self.state.discrete);
        self.in_position(Error::SingularLoop { closure })
    }

    /// Converts [`Error::SingularLoop`] to [`Error::SingularPosition`], with the current time and
    /// configuration.
    fn in_position(&mut self, error: Error) -> Error {
        match error {
            Error::SingularLoop { closure } => Error::SingularPosition {
                closure,
                t: self.state.t,
                configuration: self.plant.configuration(&self.state.x),
            },
            error => error,
        }
    }

    /// Returns true if the next accepted step is followed by a check of the energy balance.
    pub(super) fn is_balance_due(&self) -> bool {
        self.plant.monitors_energy(&self.state.x) && self.state.monitored.steps + 1.0 >= STEPS
    }

    /// Counts `steps` accepted steps; compares the energy balance with that of the start every
    /// [`STEPS`] steps.
    ///
    /// # Errors
    /// [`Error::Balance`].
    pub(super) fn check_balance(&mut self, t_start: f64, steps: f64) -> Result<(), Error> {
        let monitored = &mut self.state.monitored;
        monitored.steps += if monitored.steps < 0.0 { 0.0 } else { steps };
        if (0.0..STEPS).contains(&monitored.steps) {
            return Ok(());
        }
        let is_new = monitored.steps < 0.0;
        monitored.steps = 0.0;
        let at = self.state.extrapolated(t_start, &mut self.workspace.u);
        let Some(energies) = self.plant.energies(at) else {
            return Ok(());
        };
        let State { t, monitored, .. } = &mut self.state;
        let balance = energies.kinetic + energies.potential - energies.work;
        if is_new {
            monitored.balance = balance;
        }
        monitored.energy = monitored.energy.max(energies.kinetic + energies.work.abs());
        let off = (balance - monitored.balance).abs();
        let limit = self.plant.model().monitor.energy_balance(self.plant.parameters());
        let energy = energies.kinetic + energies.potential.abs() + energies.work.abs();
        let settings = self.stepper.settings();
        let tolerance = match settings.method().fixed_step() {
            None => ERRORS * settings.relative_tolerance(),
            Some(_) => 0.0,
        };
        let of_rates = square(tolerance.max(AT_REST)) * (energies.at_unit_rates + self.plant.model().modal_scale);
        let round_off = ROUND_OFF * energy + of_rates + tolerance * WORK;
        if off <= limit * monitored.energy || off <= round_off {
            return Ok(());
        }
        let part = off / monitored.energy;
        Err(Error::Balance {
            t: *t,
            off,
            part,
            limit,
        })
    }

    /// Makes the energy balance start anew at the next check, after a change of parameters.
    pub fn restart_balance(&mut self) {
        let sine = self.state.monitored.sine;
        self.state.monitored = Monitored {
            sine,
            steps: match self.state.monitored.steps == Monitored::BEFORE {
                true => Monitored::BEFORE,
                false => Monitored::ANEW,
            },
            ..Monitored::NOTHING
        };
    }
}
