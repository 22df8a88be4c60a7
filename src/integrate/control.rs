//! Step size control for adaptive one-step methods.

use super::numbers::{InvalidMemory, Numbers};

/// The constants of a controller.
///
/// With the error norm `eₙ` of the step `hₙ` just accepted, the next step is
///
/// ```text
///     hₙ₊₁ = hₙ · min(grow, max(shrink, safety · eₙ^(−exponent) · history))                 (1)
/// ```
///
/// where `history` is what the step before teaches, [`History`]. E. Hairer, G. Wanner, *Solving Ordinary Differential
/// Equations II*, 2nd edition, Springer 1996, sections IV.2 and IV.8, doi:10.1007/978-3-642-05221-7.
#[derive(Debug)]
pub(super) struct Control {
    /// Power of this step's error.
    pub exponent: f64,
    /// What the step before teaches.
    pub history: History,
    /// Makes the next step's acceptance likely.
    pub safety: f64,
    /// The least ratio of a step to the one before.
    pub shrink: f64,
    /// The greatest ratio of a step to the one before.
    pub grow: f64,
    /// A ratio from one to this leaves the step as it is: what was factored for it serves again.
    pub hold: f64,
    /// The least error remembered, so that one lucky step does not shorten the next.
    pub min_error: f64,
}

/// What the choice of steps remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pace {
    /// The step to try next if no limit were in the way; zero: not chosen yet.
    pub h_next: f64,
    /// The last accepted step that no limit had shortened; zero: none yet.
    pub last_step: f64,
    /// Error norm of that step, at least [`Control::min_error`].
    pub last_error: f64,
    /// Whether the attempt before this one was rejected: then the step does not grow.
    pub rejected: bool,
}

impl Pace {
    /// Before the first step. No controller has a lower [`Control::min_error`].
    pub const START: Pace = Pace {
        h_next: 0.0,
        last_step: 0.0,
        last_error: 1e-4,
        rejected: false,
    };

    /// How many numbers it has.
    pub const COUNT: usize = 4;

    pub fn numbers(&self) -> [f64; Self::COUNT] {
        let rejected = f64::from(u8::from(self.rejected));
        [self.h_next, self.last_step, self.last_error, rejected]
    }

    /// Reads what [`numbers`](Self::numbers) gives.
    pub fn read(numbers: &mut Numbers) -> Result<Pace, InvalidMemory> {
        Ok(Pace {
            h_next: numbers.not_negative()?,
            last_step: numbers.not_negative()?,
            last_error: numbers.within(Self::START.last_error..=1.0)?,
            rejected: numbers.flag()?,
        })
    }

    /// Another method goes on with the step, and knows nothing of the errors of the one before.
    pub fn forget_errors(&mut self) {
        (self.last_step, self.last_error) = (Self::START.last_step, Self::START.last_error);
    }
}

/// What the step before teaches.
#[derive(Debug)]
pub(super) enum History {
    /// Nothing: the elementary controller HNW II.4 (4.13).
    None,
    /// `eₙ₋₁^β`: proportional-integral control. K. Gustafsson, M. Lundh, G. Söderlind, *A PI stepsize control for the
    /// numerical solution of ordinary differential equations*, BIT 28 (1988) 270–287, doi:10.1007/BF01934091.
    Proportional(f64),
    /// `min(1, hₙ/hₙ₋₁ · (eₙ₋₁/eₙ)^exponent)`: the trend of the error's constant goes on. K. Gustafsson, *Control-theoretic
    /// techniques for stepsize selection in implicit Runge-Kutta methods*, ACM Trans. Math. Softw. 20 (1994) 496–517,
    /// doi:10.1145/198429.198437.
    Predictive,
}

impl Control {
    /// For methods that estimate no error.
    pub const NONE: Control = Control {
        exponent: 0.0,
        history: History::None,
        safety: 1.0,
        shrink: 1.0,
        grow: 1.0,
        hold: 1.0,
        min_error: Pace::START.last_error,
    };

    /// The ratio of steps after the model has failed at a trial point: there is no error to go by.
    pub const AFTER_FAILURE: f64 = 0.25;

    /// The ratio of steps after Newton's iteration has not converged.
    pub const AFTER_DIVERGENCE: f64 = 0.5;

    /// The ratio of the next step to this accepted one of length `h`. `caution` is 1, or less if the step was
    /// hard to compute.
    pub fn after_acceptance(&self, h: f64, error: f64, caution: f64, pace: &Pace) -> f64 {
        let now = self.safety * error.powf(-self.exponent);
        let ratio = match self.history {
            History::None => now * caution,
            History::Proportional(beta) => now * caution * pace.last_error.powf(beta),
            History::Predictive if pace.last_step > 0.0 => {
                let trend = (h / pace.last_step) * (pace.last_error / error).powf(self.exponent);
                (now * caution).min(now * trend)
            }
            History::Predictive => now * caution,
        };
        let ratio = ratio.clamp(self.shrink, self.grow);
        if (1.0..=self.hold).contains(&ratio) { 1.0 } else { ratio }
    }

    /// The ratio of the next attempt to this rejected one, without the memory of earlier steps.
    pub fn after_rejection(&self, error: f64, caution: f64) -> f64 {
        (self.safety * caution * error.powf(-self.exponent)).max(self.shrink)
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
