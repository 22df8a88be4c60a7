//! Interface between stepper and one-step methods.

use super::control::Control;
use super::dense::Dense;
use super::equations::{Equations, Failure};
use super::landing::Trial;
use super::memory::Memory;
use super::{Ode, Settings};

/// A one-step method: it attempts single steps and provides dense output.
///
/// All its data are workspace: their loss costs computing time, but does not change results.
pub(super) trait OneStep {
    /// Returns the maximum number of evaluations for one attempt together with its dense output.
    fn evaluations_per_step(&self) -> u64;

    /// Prepares a step from `(t, x)`: stores the state and, if the method needs it, its derivative.
    fn start<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        x: &[f64],
    ) -> Result<(), Failure<O::Error>>;

    /// Attempts one step from the prepared start. It counts as accepted if the settings accept
    /// the error norm of the result; otherwise the caller repeats it with a smaller step.
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

/// A one-step method with an error estimate, for adaptive step sizes.
pub(super) trait Adaptive: OneStep {
    /// Returns the constants of the step size controller.
    fn control(&self) -> &'static Control;

    /// Returns the length of the first step; requires [`OneStep::start`]. Evaluates the derivative
    /// once or twice, at `t_limit` at the latest.
    fn initial_step<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        t_limit: f64,
        settings: &Settings,
    ) -> Result<f64, Failure<O::Error>>;

    /// Returns the index of the state with the largest error relative to its tolerance in the last
    /// attempt.
    fn worst(&self) -> usize;
}

/// The result of an attempt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    /// Largest error estimate of a state relative to its tolerance; never NaN.
    pub norm: f64,
    /// Further safety factor for the length of the next step, at most 1: it decreases with the
    /// number of Newton iterations of this attempt.
    pub newton_safety: f64,
}
