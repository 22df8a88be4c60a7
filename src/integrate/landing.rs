//! Trial steps that end exactly on a limit, the time that a step must not pass.

/// A trial step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trial {
    /// End time.
    pub t1: f64,
    /// Length, the rounded difference `t1 − t`.
    pub h: f64,
    /// True if the step ends on the limit; `t1` is then bit-identical to the limit.
    pub lands: bool,
    /// True if the step is shorter than the controller or the fixed step size would make it, to end
    /// on the limit or to leave no small remainder. Always false for one of several equal parts.
    pub shortened: bool,
}

/// Largest factor by which a step is stretched to end on the limit instead of just before it.
pub(super) const STRETCH: f64 = 1.01;

impl Trial {
    /// Returns the trial step from `t` for the step size `h` of the controller and a limit ahead.
    ///
    /// A step that reaches the limit, possibly after stretching by 1 %, ends on it. If less than
    /// `h` would remain after the step, it takes half of the interval: two equal steps cost as much
    /// as a long and a short one, and their error is smaller.
    ///
    /// The length `h` of the result is the difference of the rounded times: `(t1 − t)/h = 1` holds
    /// exactly, and rounding errors of the time do not accumulate.
    pub fn towards(t: f64, h: f64, t_limit: f64) -> Trial {
        let remaining = t_limit - t;
        if h * STRETCH >= remaining {
            return Trial {
                t1: t_limit,
                h: remaining,
                lands: true,
                shortened: remaining < h,
            };
        }
        let shortened = 2.0 * h > remaining;
        let t1 = t + if shortened { 0.5 * remaining } else { h };
        Trial {
            t1,
            h: t1 - t,
            lands: false,
            shortened,
        }
    }

    /// Divides the interval to the limit into the fewest equal steps of at most `h`; returns the
    /// first of them.
    ///
    /// A step may exceed `h` by a relative 1e-9, so that a limit at `k·h` is reached in `k` steps
    /// in spite of round-off. For an infinite limit the step is `h`.
    pub fn equal_part(t: f64, h: f64, t_limit: f64) -> Trial {
        let remaining = t_limit - t;
        let parts = ((remaining / h) * (1.0 - 1e-9)).ceil();
        if parts <= 1.0 {
            return Trial {
                t1: t_limit,
                h: remaining,
                lands: true,
                shortened: remaining < h,
            };
        }
        let t1 = t + if parts.is_finite() { remaining / parts } else { h };
        Trial {
            t1,
            h: t1 - t,
            lands: false,
            shortened: false,
        }
    }
}

/// Returns the smallest useful step from `t`: `16 ε` times the larger of `|t|` and the remaining
/// interval.
///
/// With smaller steps the stage times `t + c·h` coincide, or the interval takes over 10¹⁴ steps.
pub(super) fn smallest_step(t: f64, t_limit: f64) -> f64 {
    let way = (t_limit - t).abs();
    let scale = if way.is_finite() { t.abs().max(way) } else { t.abs() };
    (16.0 * f64::EPSILON * scale).max(f64::MIN_POSITIVE)
}
