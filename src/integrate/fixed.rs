//! Fixed step size: the computing time is predictable.

use super::equations::Equations;
use super::error::IntegrateError;
use super::landing::{Trial, smallest_step};
use super::memory::{Age, Memory};
use super::one_step::OneStep;
use super::step::Step;
use super::{Ode, Settings};

/// Divides the time from `t` to the limit into the fewest equal steps of at most `h` and takes the
/// first. A failed step is not repeated with a smaller one: the computing time would then not be
/// predictable.
pub(super) fn step<M: OneStep, O: Ode + ?Sized>(
    method: &mut M,
    equations: &mut Equations<O>,
    settings: &Settings,
    h: f64,
    (t, t_limit): (f64, f64),
    x: &mut [f64],
    memory: &mut Memory,
) -> Result<Step, IntegrateError<O::Error>> {
    equations.afford(t, 1 + method.evaluations_per_step())?;
    let trial = trial(settings, h, t, t_limit);
    let start = method.start(equations, t, x);
    start.map_err(|failure| failure.at(t, 0.0))?;
    match method.attempt(equations, t, trial, settings, memory) {
        Ok(attempt) => Ok(Step::accepted(method, trial, attempt.norm, 0, x)),
        Err(failure) => {
            memory.newton.jacobian = Age::None;
            Err(failure.at(t, trial.h))
        }
    }
}

/// Returns the next step from `t`.
pub(super) fn trial(settings: &Settings, h: f64, t: f64, t_limit: f64) -> Trial {
    let h = h.min(settings.h_max).max(smallest_step(t, t_limit));
    Trial::equal_part(t, h, t_limit)
}
