//! Hitting a limit exactly.

/// One step to try.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trial {
    /// Where it ends.
    pub t1: f64,
    /// Its length, `t1 − t` as computed.
    pub h: f64,
    /// It ends on the limit, and `t1` has the limit's bits.
    pub lands: bool,
    /// The limit has made it shorter than the natural step.
    pub shortened: bool,
}

/// How much a step may be stretched to land, rather than leave a remainder.
pub(super) const STRETCH: f64 = 1.01;

impl Trial {
    /// The step to try from `t`, for the natural step `h` and a limit ahead.
    ///
    /// A step that reaches the limit, or would if stretched by 1 %, lands on it. One that would leave less than
    /// its own length is halved: two equal steps cost what a long and a short one cost, and err less.
    ///
    /// `h` is the difference of the rounded times, so that the last point of the step is at `(t1 − t)/h = 1`
    /// exactly, and no drift is left between what the method thinks and what the clock says.
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

    /// The first of the fewest equal steps that are no longer than `h` and end on the limit.
    ///
    /// A step may be longer than `h` by 1e-9 of it, so that a limit at `k·h` is reached in `k` steps in spite of
    /// round-off. Without a limit (infinite), steps of `h`.
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

/// The smallest step worth trying from `t`: 16 units of round-off of the larger of the time and the way to go.
///
/// Below it `t + c·h` no longer tells the stages apart, or the way would take 10¹⁴ steps.
pub(super) fn smallest_step(t: f64, t_limit: f64) -> f64 {
    let way = (t_limit - t).abs();
    let scale = if way.is_finite() { t.abs().max(way) } else { t.abs() };
    (16.0 * f64::EPSILON * scale).max(f64::MIN_POSITIVE)
}
