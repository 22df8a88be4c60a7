//! One step at a time.

use super::dense::Dense;
use super::error::IntegrateError;
use super::explicit::{Explicit, Failure};
use super::landing::Trial;
use super::lanes::first_not_finite;
use super::memory::Memory;
use super::settings::Settings;
use super::{Ode, adaptive, fixed};

/// Takes one step at a time with one method: the settings and the workspace.
///
/// Nothing is allocated after [`new`](Stepper::new).
#[derive(Clone, Debug)]
pub struct Stepper {
    pub(super) settings: Settings,
    pub(super) work: Explicit,
    call_start: u64,
}

/// An accepted step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The time reached; the limit's own bits if `landed`.
    pub t: f64,
    /// Length of the step.
    pub h: f64,
    /// Whether the step ends on the limit.
    pub landed: bool,
    /// Largest error in units of its tolerance, at most 1; zero for a fixed step.
    pub error_norm: f64,
    /// Attempts that were rejected before this one in the same call of [`Stepper::step`].
    pub rejections: u32,
}

impl Stepper {
    /// A stepper for these settings.
    pub fn new(settings: Settings) -> Stepper {
        let work = Explicit::new(settings.method.tableau(), settings.n_states());
        Stepper {
            settings,
            work,
            call_start: 0,
        }
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Takes one step from `(t, x)`, not beyond `t_limit`; writes the state at its end into `x`.
    ///
    /// A step that reaches the limit, or nearly does, lands on it: the time then has the bits of `t_limit`.
    /// `memory` keeps the natural step that the limit has cut short. An infinite limit is none.
    ///
    /// # Errors
    ///
    /// See [`IntegrateError`]; `x` is then unchanged. `memory` is unchanged too, except after a work limit:
    /// there it holds what the rejected attempts have taught.
    pub fn step<O: Ode + ?Sized>(
        &mut self,
        ode: &mut O,
        t: f64,
        t_limit: f64,
        x: &mut [f64],
        memory: &mut Memory,
    ) -> Result<Step, IntegrateError<O::Error>> {
        self.check(t, t_limit, x)?;
        match self.settings.method.fixed_step() {
            Some(h) => fixed::step(self, ode, t, h, t_limit, x),
            None => adaptive::step(self, ode, t, t_limit, x, memory),
        }
    }

    /// The solution inside the last accepted step, from its start to its end.
    ///
    /// Costs 3 evaluations per step with [`Method::Dop853`](super::Method::Dop853), none with the others: ask
    /// before inputs, parameters or modes change. The work limit leaves room for them.
    ///
    /// # Errors
    ///
    /// [`IntegrateError::NoStep`] when the last attempt to [`step`](Stepper::step) has failed, or after
    /// [`invalidate`](Stepper::invalidate); a failure of the model in one of the evaluations.
    pub fn dense<O: Ode + ?Sized>(&mut self, ode: &mut O) -> Result<Dense<'_>, IntegrateError<O::Error>> {
        let (t, h) = self.work.last_step().ok_or(IntegrateError::NoStep)?;
        match self.work.dense(ode) {
            Ok(dense) => dense.ok_or(IntegrateError::NoStep),
            Err(failure) => Err(failure.at(t, h)),
        }
    }

    /// Tells that inputs, parameters or modes have changed: no derivative known is used again.
    ///
    /// Not needed after a change of `t` or `x` alone: those are compared bit by bit.
    pub fn invalidate(&mut self) {
        self.work.invalidate();
    }

    /// Starts a new count of evaluations for the work limit, at the start of each `doStep`.
    pub fn begin_call(&mut self) {
        self.call_start = self.work.evaluations;
    }

    /// Derivative evaluations in this call.
    pub fn evaluations(&self) -> u64 {
        self.work.evaluations - self.call_start
    }

    /// Refuses what would be more evaluations than the call may have.
    pub(super) fn afford<E>(&self, t: f64, more: u64) -> Result<(), IntegrateError<E>> {
        let evaluations = self.evaluations();
        if evaluations.saturating_add(more) <= self.settings.max_evaluations {
            Ok(())
        } else {
            Err(IntegrateError::WorkLimit {
                t_reached: t,
                evaluations,
            })
        }
    }

    /// Hands the accepted step over.
    pub(super) fn accept(&self, trial: Trial, error_norm: f64, rejections: u32, x: &mut [f64]) -> Step {
        x.copy_from_slice(self.work.x1());
        Step {
            t: trial.t1,
            h: trial.h,
            landed: trial.lands,
            error_norm,
            rejections,
        }
    }

    fn check<E>(&self, t: f64, t_limit: f64, x: &[f64]) -> Result<(), IntegrateError<E>> {
        if !(t.is_finite() && t_limit > t) {
            return Err(IntegrateError::LimitNotAhead { t, t_limit });
        }
        let expected = self.settings.n_states();
        if x.len() != expected {
            return Err(IntegrateError::WrongLength {
                expected,
                found: x.len(),
            });
        }
        match first_not_finite(x) {
            Some(component) => Err(IntegrateError::StateNotFinite { t, component }),
            None => Ok(()),
        }
    }
}

impl<E> Failure<E> {
    /// The error for a failure in a step of length `h` from `t`.
    pub(super) fn at(self, t: f64, h: f64) -> IntegrateError<E> {
        match self {
            Failure::Derivative(source) => IntegrateError::Derivative { t, h, source },
            Failure::NotFinite(component) => IntegrateError::NotFinite { t, h, component },
        }
    }
}
