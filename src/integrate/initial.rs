//! The first step, where none is given.

use super::control::{euler_step, first_step};
use super::equations::Equations;
use super::lanes::max_norm;
use super::{Ode, Settings};

/// Room for three vectors.
pub(super) struct Room<'a> {
    pub scale: &'a mut [f64],
    pub argument: &'a mut [f64],
    pub derivative: &'a mut [f64],
}

/// A first step from `(t, x)`, where the derivative is `dx`, for an error estimate of order `order`.
///
/// HNW II.4, *Starting step size*; costs one evaluation. Where the model fails, the attempts will find a smaller
/// step by themselves.
pub(super) fn initial_step<O: Ode + ?Sized>(
    equations: &mut Equations<O>,
    (t, t_limit): (f64, f64),
    (x, dx): (&[f64], &[f64]),
    order: u32,
    settings: &Settings,
    room: Room,
) -> f64 {
    let Room {
        scale,
        argument,
        derivative,
    } = room;
    settings.scale(x, x, scale);
    let norm_dx = max_norm(dx, scale);
    let h_euler = euler_step(max_norm(x, scale), norm_dx);
    let h_euler = h_euler.min(settings.h_max).min(t_limit - t);
    for ((argument, x), dx) in argument.iter_mut().zip(x).zip(dx) {
        *argument = x + h_euler * dx;
    }
    let h = match equations.derivative((t + h_euler).min(t_limit), argument, derivative) {
        Ok(()) => {
            for (change, dx) in derivative.iter_mut().zip(dx) {
                *change -= dx;
            }
            first_step(h_euler, norm_dx, max_norm(derivative, scale) / h_euler, order)
        }
        Err(_) => h_euler,
    };
    h.max(f64::MIN_POSITIVE)
}
