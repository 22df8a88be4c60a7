//! Step size control for adaptive one-step methods.

/// The constants of a proportional-integral controller.
///
/// With the error norm `eₙ` of this step and `eₙ₋₁` of the one before, the next step is
///
/// ```text
///     hₙ₊₁ = hₙ · min(grow, max(shrink, safety · eₙ^(−exponent) · eₙ₋₁^beta))
/// ```
///
/// E. Hairer, G. Wanner, *Solving Ordinary Differential Equations II*, 2nd edition, Springer 1996,
/// section IV.2, doi:10.1007/978-3-642-05221-7; there from K. Gustafsson, M. Lundh, G. Söderlind, *A PI
/// stepsize control for the numerical solution of ordinary differential equations*, BIT 28 (1988)
/// 270–287, doi:10.1007/BF01934091. `beta = 0` is the elementary controller HNW II.4 (4.13).
#[derive(Debug)]
pub(super) struct Control {
    /// Power of this step's error.
    pub exponent: f64,
    /// Power of the last step's error.
    pub beta: f64,
    /// Makes the next step's acceptance likely.
    pub safety: f64,
    /// The least ratio of a step to the one before.
    pub shrink: f64,
    /// The greatest ratio of a step to the one before.
    pub grow: f64,
}

impl Control {
    /// For methods that estimate no error.
    pub const NONE: Control = Control {
        exponent: 0.0,
        beta: 0.0,
        safety: 1.0,
        shrink: 1.0,
        grow: 1.0,
    };

    /// The least error remembered, so that one lucky step does not shorten the next.
    pub const MIN_ERROR: f64 = 1e-4;

    /// The ratio of steps after the model has failed at a trial point: there is no error to go by.
    pub const AFTER_FAILURE: f64 = 0.25;

    /// The ratio of the next step to this accepted one.
    pub fn after_acceptance(&self, error: f64, last_error: f64) -> f64 {
        let ratio = self.safety * error.powf(-self.exponent) * last_error.powf(self.beta);
        ratio.clamp(self.shrink, self.grow)
    }

    /// The ratio of the next attempt to this rejected one, without the memory of earlier steps.
    pub fn after_rejection(&self, error: f64) -> f64 {
        (self.safety * error.powf(-self.exponent)).max(self.shrink)
    }
}

/// First guess of a step, from the size of the state and of its derivative alone.
///
/// HNW II.4, *Starting step size*, (a) and (b): an explicit Euler step of this length changes the state by 1 %
/// of its size, in the norm of the tolerances.
pub(super) fn euler_step(norm_x: f64, norm_dx: f64) -> f64 {
    if norm_x < 1e-5 || norm_dx < 1e-5 {
        1e-6
    } else {
        0.01 * norm_x / norm_dx
    }
}

/// The first step of a method of order `p`, from an Euler step `h_euler` and the norms of the first and
/// second derivative.
///
/// HNW II.4, *Starting step size*, (e) and (f).
pub(super) fn first_step(h_euler: f64, norm_dx: f64, norm_ddx: f64, order: u32) -> f64 {
    let largest = norm_dx.max(norm_ddx);
    let h = if largest <= 1e-15 {
        (h_euler * 1e-3).max(1e-6)
    } else {
        (0.01 / largest).powf(1.0 / f64::from(order + 1))
    };
    h.min(100.0 * h_euler)
}
