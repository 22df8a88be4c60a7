//! Step size control for adaptive one-step methods.

use super::numbers::{InvalidMemory, Numbers};

/// Constants of a step size controller.
///
/// With the error norm `eₙ` of the accepted step of length `hₙ`, the length of the next step is
///
/// ```text
///     hₙ₊₁ = hₙ · min(grow, max(shrink, safety · eₙ^(−exponent) · history))                 (1)
/// ```
///
/// with the factor `history` of [`History`], which depends on the previous step. E. Hairer, G.
/// Wanner, *Solving Ordinary Differential Equations II*, 2nd edition, Springer 1996, sections IV.2
/// and IV.8, doi:10.1007/978-3-642-05221-7.
#[derive(Debug)]
pub(super) struct Control {
    /// `exponent` in (1), of this step's error.
    pub exponent: f64,
    /// `history` in (1), from the previous step.
    pub history: History,
    /// Safety factor.
    pub safety: f64,
    /// Minimum ratio of consecutive steps.
    pub shrink: f64,
    /// Maximum ratio of consecutive steps.
    pub grow: f64,
    /// Largest ratio of steps at which the step stays unchanged, so that factored matrices are
    /// reused.
    pub hold: f64,
    /// Lower bound of the stored error norm `eₙ₋₁`: a very small one would shorten the next step.
    pub min_error: f64,
}

/// State of the step size controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StepHistory {
    /// Next step size by the controller, not shortened by limits (the natural step size); zero
    /// before the first selection.
    pub h_next: f64,
    /// Length of the last accepted step that no limit has shortened; zero before the first.
    pub last_step: f64,
    /// Error norm of that step, at least [`Control::min_error`].
    pub last_error: f64,
    /// True if the previous attempt was rejected: the step after the accepted one then does not
    /// grow.
    pub rejected: bool,
    /// Evaluations of all attempts since the last accepted step.
    pub evaluations: u32,
    /// Natural step size of the run whose step is [taken](super::Memory::follow) next; zero if none
    /// is. Not among the stored values.
    pub followed: f64,
}

impl StepHistory {
    /// Initial state; its `last_error` is the least [`Control::min_error`] of all methods.
    pub const START: StepHistory = StepHistory {
        h_next: 0.0,
        last_step: 0.0,
        last_error: 1e-4,
        rejected: false,
        evaluations: 0,
        followed: 0.0,
    };

    /// Number of stored values.
    pub const COUNT: usize = 5;

    pub fn numbers(&self) -> [f64; Self::COUNT] {
        [
            self.h_next,
            self.last_step,
            self.last_error,
            f64::from(u8::from(self.rejected)),
            f64::from(self.evaluations),
        ]
    }

    /// Reads the values of [`numbers`](Self::numbers).
    pub fn read(numbers: &mut Numbers) -> Result<StepHistory, InvalidMemory> {
        Ok(StepHistory {
            h_next: numbers.not_negative()?,
            last_step: numbers.not_negative()?,
            last_error: numbers.within(Self::START.last_error..=1.0)?,
            rejected: numbers.flag()?,
            evaluations: numbers.count(0..=u32::MAX)?,
            followed: 0.0,
        })
    }

    /// Returns the natural size of the next step.
    pub fn natural(&self) -> f64 {
        self.h_next.max(self.followed)
    }

    /// Resets the history of errors and attempts after a change of method; the step size is kept.
    pub fn forget_attempts(&mut self) {
        *self = StepHistory {
            h_next: self.h_next,
            ..StepHistory::START
        };
    }
}

/// Factor `history` in (1) of [`Control`].
#[derive(Debug)]
pub(super) enum History {
    /// One: the elementary controller HNW II.4 (4.13).
    None,
    /// `eₙ₋₁^β`: proportional-integral control. K. Gustafsson, M. Lundh, G. Söderlind, *A PI
    /// stepsize control for the numerical solution of ordinary differential equations*, BIT 28
    /// (1988) 270–287, doi:10.1007/BF01934091.
    Proportional(f64),
    /// `min(1, hₙ/hₙ₋₁ · (eₙ₋₁/eₙ)^exponent)`: predictive control, extrapolates the trend of the
    /// error constant. K. Gustafsson, *Control-theoretic techniques for stepsize selection in
    /// implicit Runge-Kutta methods*, ACM Trans. Math. Softw. 20 (1994) 496–517,
    /// doi:10.1145/198429.198437.
    Predictive,
}

impl Control {
    /// Constants for methods without error estimate.
    pub const NONE: Control = Control {
        exponent: 0.0,
        history: History::None,
        safety: 1.0,
        shrink: 1.0,
        grow: 1.0,
        hold: 1.0,
        min_error: StepHistory::START.last_error,
    };

    /// Ratio of the next attempt to one in which the model has failed: there is no error estimate.
    pub const AFTER_FAILURE: f64 = 0.25;

    /// Ratio of the next attempt to one in which Newton's iteration has not converged.
    pub const AFTER_DIVERGENCE: f64 = 0.5;

    /// Returns the ratio of the next step to an accepted step of length `h` with this error norm.
    /// `newton_safety` is at most 1, and less after many Newton iterations.
    pub fn after_acceptance(&self, h: f64, error: f64, newton_safety: f64, step_history: &StepHistory) -> f64 {
        let now = self.safety * libm::pow(error, -self.exponent);
        let ratio = match self.history {
            History::None => now * newton_safety,
            History::Proportional(beta) => now * newton_safety * libm::pow(step_history.last_error, beta),
            History::Predictive if step_history.last_step > 0.0 => {
                let trend = (h / step_history.last_step) * libm::pow(step_history.last_error / error, self.exponent);
                (now * newton_safety).min(now * trend)
            }
            History::Predictive => now * newton_safety,
        };
        let ratio = ratio.clamp(self.shrink, self.grow);
        if (1.0..=self.hold).contains(&ratio) { 1.0 } else { ratio }
    }

    /// Returns the ratio of the next attempt to one rejected with this error norm; the history is
    /// not used.
    pub fn after_rejection(&self, error: f64, newton_safety: f64) -> f64 {
        (self.safety * newton_safety * libm::pow(error, -self.exponent)).max(self.shrink)
    }
}

/// Returns a first guess of the step length, from the norms of state and derivative.
///
/// HNW II.4, *Starting step size*, (a) and (b): an explicit Euler step of this length changes the
/// state by 1 %, in the norm of the tolerances.
pub(super) fn euler_step(norm_x: f64, norm_dx: f64) -> f64 {
    if norm_x < 1e-5 || norm_dx < 1e-5 {
        1e-6
    } else {
        0.01 * norm_x / norm_dx
    }
}

/// Returns the length of the first step for a method (or error estimate) of order `order`, from the
/// Euler step `h_euler` and the norms of the first and second derivative.
///
/// HNW II.4, *Starting step size*, (e) and (f).
pub(super) fn first_step(h_euler: f64, norm_dx: f64, norm_ddx: f64, order: u32) -> f64 {
    let largest = norm_dx.max(norm_ddx);
    let h = if largest <= 1e-15 {
        (h_euler * 1e-3).max(1e-6)
    } else {
        libm::pow(0.01 / largest, 1.0 / f64::from(order + 1))
    };
    h.min(100.0 * h_euler)
}
