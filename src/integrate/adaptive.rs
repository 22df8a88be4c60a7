//! Adaptive steps: attempts until the error is within the tolerance.

use super::Ode;
use super::control::{Control, euler_step, first_step};
use super::error::IntegrateError;
use super::explicit::Failure;
use super::landing::{Trial, smallest_step};
use super::memory::Memory;
use super::stepper::{Step, Stepper};

/// What an attempt has come to, if not to an accepted step.
enum Rejection<E> {
    /// The error is this many times too large.
    Error(f64),
    /// The model has failed at a trial point.
    Failure(Failure<E>),
}

/// One accepted step from `(t, x)`, not beyond the limit.
///
/// Each attempt depends on `(t, x)`, the limit and the memory alone: when the work limit interrupts, the next call
/// goes on as if there had been none.
pub(super) fn step<O: Ode + ?Sized>(
    stepper: &mut Stepper,
    ode: &mut O,
    t: f64,
    t_limit: f64,
    x: &mut [f64],
    memory: &mut Memory,
) -> Result<Step, IntegrateError<O::Error>> {
    let at_entry = *memory;
    stepper.afford(t, 1)?;
    let start = stepper.work.start(ode, t, x);
    start.map_err(|failure| failure.at(t, 0.0))?;
    if memory.h_next == 0.0 {
        memory.h_next = initial_step(stepper, ode, t, t_limit)?;
    }
    let control = &stepper.settings.method.tableau().control;
    let h_min = smallest_step(t, t_limit);
    let mut rejections = 0;
    loop {
        stepper.afford(t, stepper.work.evaluations_per_step())?;
        let h = memory.h_next.min(stepper.settings.h_max).max(h_min);
        let trial = Trial::towards(t, h, t_limit);
        let rejection = match stepper.work.attempt(ode, t, trial, &stepper.settings) {
            Ok(norm) if norm <= 1.0 => {
                remember(memory, control, trial, norm);
                return Ok(stepper.accept(trial, norm, rejections, x));
            }
            Ok(norm) => Rejection::Error(norm),
            Err(failure) => Rejection::Failure(failure),
        };
        let h = trial.h
            * match rejection {
                Rejection::Error(norm) => control.after_rejection(norm),
                Rejection::Failure(_) => Control::AFTER_FAILURE,
            };
        if h < h_min {
            *memory = at_entry;
            return Err(rejection.at(t, trial.h, stepper.work.worst()));
        }
        memory.h_next = h;
        memory.rejected = true;
        rejections += 1;
    }
}

/// What the next step will know of this accepted one.
///
/// A step that the limit has shortened says little: its small error neither lowers the natural step nor enters
/// the controller; it may only show that more is possible.
fn remember(memory: &mut Memory, control: &Control, trial: Trial, norm: f64) {
    let mut ratio = control.after_acceptance(norm, memory.last_error);
    if memory.rejected {
        ratio = ratio.min(1.0);
    }
    let proposal = trial.h * ratio;
    if trial.shortened {
        memory.h_next = memory.h_next.max(proposal);
    } else {
        memory.h_next = proposal;
        memory.last_error = norm.max(Control::MIN_ERROR);
    }
    memory.rejected = false;
}

/// The first natural step, from the settings or from the equations.
fn initial_step<O: Ode + ?Sized>(
    stepper: &mut Stepper,
    ode: &mut O,
    t: f64,
    t_limit: f64,
) -> Result<f64, IntegrateError<O::Error>> {
    if let Some(h) = stepper.settings.initial_step {
        return Ok(h);
    }
    stepper.afford(t, 1)?;
    let Stepper { work, settings, .. } = stepper;
    let (norm_x, norm_dx) = work.start_norms(settings);
    let h_euler = euler_step(norm_x, norm_dx).min(settings.h_max).min(t_limit - t);
    // Where the model fails, the attempts will find a smaller step by themselves.
    let t1 = (t + h_euler).min(t_limit);
    let h = match work.second_derivative_norm(ode, t1, h_euler) {
        Ok(norm_ddx) => first_step(h_euler, norm_dx, norm_ddx, settings.method.order()),
        Err(_) => h_euler,
    };
    Ok(h.max(f64::MIN_POSITIVE))
}

impl<E> Rejection<E> {
    fn at(self, t: f64, h: f64, component: usize) -> IntegrateError<E> {
        match self {
            Rejection::Error(error_norm) => IntegrateError::StepTooSmall {
                t,
                h,
                component,
                error_norm,
            },
            Rejection::Failure(failure) => failure.at(t, h),
        }
    }
}
