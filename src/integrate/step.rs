//! What one step has come to.

use super::landing::Trial;
use super::method::Method;
use super::one_step::OneStep;

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
    /// Attempts that were rejected before this one in the same call of [`Stepper::step`](super::Stepper::step), trials of another method among them.
    pub rejections: u32,
    /// The method of the next step, where [`Method::Auto`] has changed it.
    pub changed_to: Option<Method>,
}

impl Step {
    /// Hands an accepted step over: its end goes into `x`.
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
            landed: trial.lands,
            error_norm,
            rejections,
            changed_to: None,
        }
    }
}
