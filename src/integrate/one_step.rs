//! Interface between stepper and one-step methods.

use super::control::Control;
use super::dense::Dense;
use super::equations::{Equations, Failure};
use super::landing::Trial;
use super::memory::Memory;
use super::{Ode, Settings};

/// A one-step method: one attempt of one step, and the data of its dense output.
///
/// All its data are workspace: their loss costs only computing time.
pub(super) trait OneStep {
    /// Returns the maximum number of evaluations of one attempt and the dense output of its step.
    fn evaluations_per_step(&self) -> u64;

    /// Prepares a step from `(t, x)`.
    fn start<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        x: &[f64],
    ) -> Result<(), Failure<O::Error>>;

    /// Attempts one step from the start; it is accepted if its error norm is at most 1.
    fn attempt<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        trial: Trial,
        settings: &Settings,
        memory: &mut Memory,
    ) -> Result<Attempt, Failure<O::Error>>;

    /// Returns the state at the end of the last attempt.
    fn x1(&self) -> &[f64];

    /// Returns start and length of the last accepted step.
    fn last_step(&self) -> Option<(f64, f64)>;

    /// Returns the dense output of the last accepted step; `None` without one.
    fn dense<O: Ode + ?Sized>(&mut self, equations: &mut Equations<O>) -> Result<Option<Dense<'_>>, Failure<O::Error>>;

    /// Discards all stored derivatives.
    fn invalidate(&mut self);
}

/// A one-step method with error estimate.
pub(super) trait Adaptive: OneStep {
    /// Returns the controller's constants.
    fn control(&self) -> &'static Control;

    /// Returns a first step, at most to `t_limit`; requires [`OneStep::start`].
    fn initial_step<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        t_limit: f64,
        settings: &Settings,
    ) -> f64;

    /// Returns the index of the state with the largest error in the last attempt.
    fn worst(&self) -> usize;
}

/// The result of an attempt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    /// Largest error relative to its tolerance; never NaN.
    pub norm: f64,
    /// Safety factor of the next step, at most 1: it decreases with the number of Newton
    /// iterations.
    pub newton_safety: f64,
}
