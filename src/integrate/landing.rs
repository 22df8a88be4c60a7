//! Step sizes that end exactly on a limit.

/// A trial step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trial {
    /// End time.
    pub t1: f64,
    /// Its length, `t1 − t` as computed.
    pub h: f64,
    /// True if it ends on the limit; `t1` is then bit-identical to the limit.
    pub lands: bool,
    /// True if the limit has shortened the natural step.
    pub shortened: bool,
}

/// Factor by which a step may be stretched to end on the limit, to avoid a small remainder.
pub(super) const STRETCH: f64 = 1.01;

impl Trial {
    /// Returns the trial step from `t` for the natural step `h` and a limit ahead.
    ///
    /// A step that reaches the limit, possibly after stretching by 1 %, ends on it. A step that
    /// would leave less than its own length is halved: two equal steps cost the same as a long and
    /// a short one, with a smaller error.
    ///
    /// `h` is the difference of the rounded times, so that the end of the step is at
    /// `(t1 − t)/h = 1` exactly and time accumulates no drift.
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

    /// Returns the first of the fewest equal steps that are at most `h` and end on the limit.
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

/// Returns the smallest useful step from `t`: 16 units of round-off of the larger of the time and
/// the remaining interval.
///
/// For smaller steps the stage times `t + c·h` coincide, or the interval takes 10¹⁴ steps.
pub(super) fn smallest_step(t: f64, t_limit: f64) -> f64 {
    let way = (t_limit - t).abs();
    let scale = if way.is_finite() { t.abs().max(way) } else { t.abs() };
    (16.0 * f64::EPSILON * scale).max(f64::MIN_POSITIVE)
}
