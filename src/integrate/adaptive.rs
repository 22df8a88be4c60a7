//! Adaptive step size: a step is attempted with decreasing lengths until its error is within the
//! tolerance.

use super::control::{Control, StepHistory};
use super::equations::{Equations, Failure};
use super::error::IntegrateError;
use super::landing::{Trial, smallest_step};
use super::memory::{Age, Memory};
use super::one_step::{Adaptive, Attempt};
use super::step::Step;
use super::{Ode, Settings};

/// The reason for which an attempt is rejected.
enum Rejection<E> {
    /// The error exceeds the tolerance.
    Error(Attempt),
    /// The model has failed at a trial point, or Newton's iteration has not converged.
    Failure(Failure<E>),
}

/// Takes one accepted step from `(t, x)`, at most to `t_limit`.
///
/// Each attempt depends on `(t, x)`, `t_limit` and the memory alone: after an interruption by the
/// work limit, the next call makes the attempts that an uninterrupted call would have made.
pub(super) fn step<M: Adaptive, O: Ode + ?Sized>(
    method: &mut M,
    equations: &mut Equations<O>,
    settings: &Settings,
    (t, t_limit): (f64, f64),
    x: &mut [f64],
    memory: &mut Memory,
) -> Result<Step, IntegrateError<O::Error>> {
    let at_entry = (memory.step_history, memory.newton);
    equations.afford(t, 1)?;
    let start = method.start(equations, t, x);
    start.map_err(|failure| failure.at(t, 0.0))?;
    if memory.step_history.h_next == 0.0 {
        memory.step_history.h_next = match settings.initial_step {
            Some(h) => h,
            None => {
                // At most: a method may also need the derivative at the start.
                equations.afford(t, 2)?;
                let first = method.initial_step(equations, t, t_limit, settings);
                first.map_err(|failure| failure.at(t, 0.0))?
            }
        };
    }
    let control = method.control();
    let h_min = smallest_step(t, t_limit);
    let mut rejections = 0;
    loop {
        equations.afford(t, method.evaluations_per_step())?;
        let trial = trial(settings, memory, t, t_limit);
        let before = *equations.evaluations;
        let attempt = method.attempt(equations, t, trial, settings, memory);
        let evaluations = &mut memory.step_history.evaluations;
        *evaluations = evaluations.saturating_add((*equations.evaluations - before) as u32);
        let rejection = match attempt {
            Ok(attempt) if settings.accepts(attempt.norm) => {
                let natural = memory.step_history.natural();
                remember(&mut memory.step_history, control, trial, attempt);
                let mut step = Step::accepted(method, trial, attempt.norm, rejections, x);
                step.evaluations = std::mem::take(&mut memory.step_history.evaluations);
                step.natural = natural;
                return Ok(step);
            }
            Ok(attempt) => Rejection::Error(attempt),
            Err(failure) => Rejection::Failure(failure),
        };
        let h = trial.h
            * match &rejection {
                Rejection::Error(attempt) => control.after_rejection(attempt.norm, attempt.newton_safety),
                Rejection::Failure(Failure::NoConvergence) => Control::AFTER_DIVERGENCE,
                Rejection::Failure(_) => Control::AFTER_FAILURE,
            };
        // A failed attempt with an old Jacobian is repeated with a new one.
        if memory.newton.jacobian == Age::Old {
            memory.newton.jacobian = Age::None;
        }
        if h < h_min {
            (memory.step_history, memory.newton) = at_entry;
            memory.newton.jacobian = Age::None;
            return Err(rejection.at(t, trial.h, method.worst()));
        }
        memory.step_history.h_next = h;
        memory.step_history.rejected = true;
        rejections += 1;
    }
}

/// Returns the next attempt from `t`, with the step size that the memory selects.
pub(super) fn trial(settings: &Settings, memory: &Memory, t: f64, t_limit: f64) -> Trial {
    let h_min = smallest_step(t, t_limit);
    let h = memory.step_history.h_next.min(settings.h_max).max(h_min);
    Trial::towards(t, h, t_limit)
}

/// Returns the attempt from `t` to `t_limit`, or of the greatest length.
pub(super) fn longest(settings: &Settings, t: f64, t_limit: f64) -> Trial {
    Trial::towards(t, settings.h_max.min(t_limit - t), t_limit)
}

/// Attempts one step from `(t, x)` to `t_limit`, or of the greatest length. Returns `None` if the
/// model fails in it or its error exceeds the tolerance; `x` is then unchanged. It does not affect
/// the controller.
pub(super) fn attempt<M: Adaptive, O: Ode + ?Sized>(
    method: &mut M,
    equations: &mut Equations<O>,
    settings: &Settings,
    t: f64,
    t_limit: f64,
    x: &mut [f64],
    memory: &mut Memory,
) -> Result<Option<Step>, IntegrateError<O::Error>> {
    equations.afford(t, 1)?;
    let start = method.start(equations, t, x);
    start.map_err(|failure| failure.at(t, 0.0))?;
    equations.afford(t, method.evaluations_per_step())?;
    let trial = longest(settings, t, t_limit);
    let before = *equations.evaluations;
    let attempt = method.attempt(equations, t, trial, settings, memory);
    let evaluations = &mut memory.step_history.evaluations;
    *evaluations = evaluations.saturating_add((*equations.evaluations - before) as u32);
    let Some(Attempt { norm, .. }) = attempt.ok().filter(|attempt| settings.accepts(attempt.norm)) else {
        return Ok(None);
    };
    let mut step = Step::accepted(method, trial, norm, 0, x);
    step.evaluations = std::mem::take(evaluations);
    Ok(Some(step))
}

/// Stores the accepted step for the controller.
///
/// `h_next` is the step size without limits. A step shortened by the limit may only increase it:
/// its small error is not representative and does not enter the controller.
fn remember(step_history: &mut StepHistory, control: &Control, trial: Trial, attempt: Attempt) {
    let mut ratio = control.after_acceptance(trial.h, attempt.norm, attempt.newton_safety, step_history);
    if step_history.rejected {
        ratio = ratio.min(1.0);
    }
    let proposal = (trial.h * ratio).min(f64::MAX);
    if trial.shortened {
        step_history.h_next = step_history.h_next.max(proposal);
    } else {
        step_history.h_next = proposal;
        step_history.last_step = trial.h;
        step_history.last_error = attempt.norm.max(control.min_error).min(1.0);
    }
    (step_history.rejected, step_history.followed) = (false, 0.0);
}

impl<E> Rejection<E> {
    fn at(self, t: f64, h: f64, component: usize) -> IntegrateError<E> {
        match self {
            Rejection::Error(attempt) => IntegrateError::StepTooSmall {
                t,
                h,
                component,
                error_norm: attempt.norm,
            },
            Rejection::Failure(failure) => failure.at(t, h),
        }
    }
}
