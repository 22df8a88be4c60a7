//! What the stepper needs of a method, whichever it is.

use super::control::Control;
use super::dense::Dense;
use super::equations::{Equations, Failure};
use super::landing::Trial;
use super::memory::Memory;
use super::{Ode, Settings};

/// A one-step method: one attempt of one step, and what it leaves for dense output.
///
/// Everything in it is workspace: if lost, only time is lost.
pub(super) trait OneStep {
    /// Evaluations that one attempt and the dense output of its step need at most.
    fn evaluations_per_step(&self) -> u64;

    /// Prepares a step from `(t, x)`.
    fn start<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        x: &[f64],
    ) -> Result<(), Failure<O::Error>>;

    /// Tries one step from the start; its error norm is at most 1 if it is accepted.
    fn attempt<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        trial: Trial,
        settings: &Settings,
        memory: &mut Memory,
    ) -> Result<Attempt, Failure<O::Error>>;

    /// State at the end of the last attempt.
    fn x1(&self) -> &[f64];

    /// Start and length of the last accepted step.
    fn last_step(&self) -> Option<(f64, f64)>;

    /// The solution inside the last accepted step, or `None` if there is none.
    fn dense<O: Ode + ?Sized>(&mut self, equations: &mut Equations<O>) -> Result<Option<Dense<'_>>, Failure<O::Error>>;

    /// Forgets all derivatives.
    fn invalidate(&mut self);
}

/// A one-step method that estimates its error.
pub(super) trait Adaptive: OneStep {
    /// The controller's constants.
    fn control(&self) -> &'static Control;

    /// A first step from the equations, after [`OneStep::start`]; not beyond `t_limit`.
    fn initial_step<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        t_limit: f64,
        settings: &Settings,
    ) -> f64;

    /// Index of the state with the largest error in the last attempt.
    fn worst(&self) -> usize;
}

/// What an attempt has come to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    /// Largest error in units of its tolerance; never NaN.
    pub norm: f64,
    /// At most 1: the less, the harder the step was to compute; the next one is shorter by it.
    pub caution: f64,
}
