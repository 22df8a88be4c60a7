//! The result of a step.

use super::landing::Trial;
use super::method::Method;
use super::one_step::OneStep;

/// An accepted step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Time at the end of the step; bit-identical to the limit if `landed`.
    pub t: f64,
    /// Length of the step.
    pub h: f64,
    /// Length that the step size control selected, which a limit may have shortened; for a fixed step
    /// `h`.
    pub natural: f64,
    /// True if the step ends on the limit that [`Stepper::step`](super::Stepper::step) was given.
    pub landed: bool,
    /// Largest error estimate of a state relative to its tolerance, at most 1; zero for a fixed
    /// step.
    pub error_norm: f64,
    /// Number of rejected attempts in the same call of [`Stepper::step`](super::Stepper::step),
    /// including trials of another method.
    pub rejections: u32,
    /// Evaluations of all attempts of an adaptive method since the last accepted step; zero for a
    /// fixed step.
    pub evaluations: u32,
    /// Method in use after this step, if a trial of [`Method::Auto`] has succeeded with it.
    pub changed_to: Option<Method>,
}

impl Step {
    /// Returns an accepted step; copies its end state into `x`.
    pub(super) fn accepted(
        method: &impl OneStep,
        trial: Trial,
        error_norm: f64,
        rejections: u32,
        x: &mut [f64],
    ) -> Step {
        x.copy_from_slice(method.x1());
        Step {
            t: trial.t1,
            h: trial.h,
            natural: trial.h,
            landed: trial.lands,
            error_norm,
            rejections,
            evaluations: 0,
            changed_to: None,
        }
    }
}
