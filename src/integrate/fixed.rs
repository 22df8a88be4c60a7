//! Fixed steps: the work per second is known beforehand.

use super::Ode;
use super::error::IntegrateError;
use super::landing::{Trial, smallest_step};
use super::stepper::{Step, Stepper};

/// One of the equal steps no longer than `h` from `t` to the limit. A failure is not tried again with a smaller
/// step: that would take more time than was promised.
pub(super) fn step<O: Ode + ?Sized>(
    stepper: &mut Stepper,
    ode: &mut O,
    t: f64,
    h: f64,
    t_limit: f64,
    x: &mut [f64],
) -> Result<Step, IntegrateError<O::Error>> {
    stepper.afford(t, 1 + stepper.work.evaluations_per_step())?;
    let h = h.min(stepper.settings.h_max).max(smallest_step(t, t_limit));
    let trial = Trial::equal_part(t, h, t_limit);
    let Stepper { work, settings, .. } = stepper;
    work.start(ode, t, x).map_err(|failure| failure.at(t, 0.0))?;
    let norm = work
        .attempt(ode, t, trial, settings)
        .map_err(|failure| failure.at(t, trial.h))?;
    Ok(stepper.accept(trial, norm, 0, x))
}
