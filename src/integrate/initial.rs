//! Automatic selection of the first step.

use super::control::{euler_step, first_step};
use super::equations::{Equations, StateAndDerivative};
use super::lanes::max_norm;
use super::{Ode, Settings};

/// Workspace of three vectors.
pub(super) struct Workspace<'a> {
    pub scale: &'a mut [f64],
    pub argument: &'a mut [f64],
    pub derivative: &'a mut [f64],
}

/// Returns the length of the first step from the time `t`, for a method or error estimate of order
/// `order`.
///
/// HNW II.4, *Starting step size*; costs one evaluation, after an Euler step that ends at `t_limit`
/// at the latest. If the model fails there, the result is the Euler step.
pub(super) fn initial_step<O: Ode + ?Sized>(
    equations: &mut Equations<O>,
    t: f64,
    t_limit: f64,
    start: StateAndDerivative,
    order: u32,
    settings: &Settings,
    workspace: Workspace,
) -> f64 {
    let StateAndDerivative { x, dx } = start;
    let Workspace {
        scale,
        argument,
        derivative,
    } = workspace;
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
