//! Location of sign changes, for state events.
//!
//! The interpolate-truncate-project (ITP) method: I. F. D. Oliveira, R. H. C. Takahashi, *An
//! enhancement of the bisection method average performance preserving minmax optimality*, ACM
//! Trans. Math. Softw. 47 (2021) 5:1–5:24, doi:10.1145/3423597. It converges superlinearly for
//! smooth functions and takes at most one evaluation more than bisection for any function: the time
//! to locate an event is bounded. The parameters are `n₀ = 1`, `κ₁ = 0.2 / (b₀ − a₀)`, `κ₂ = 2`.

use std::cell::Cell;
use std::error::Error;
use std::fmt;

/// Bracket of a sign change.
///
/// As for the event indicators of FMI 2.0, the sign is that of `f > 0` or `f ≤ 0`: zero counts as
/// negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// Last known point before the crossing, where `f` has the sign of the start.
    pub t_before: f64,
    /// Function value at `t_before`.
    pub f_before: f64,
    /// First known point after the crossing, where `f` has the other sign.
    pub t_after: f64,
    /// Function value at `t_after`.
    pub f_after: f64,
    /// Number of function evaluations.
    pub evaluations: u32,
}

/// Width to which a bracket is narrowed, relative to the larger of its two times.
const ROUND_OFF: f64 = 4.0 * f64::EPSILON;

/// Locates a sign change between two points `(t, f(t))` of different signs: narrows the interval to
/// a width of `4 ε` times the larger of the two times.
///
/// With several sign changes inside, one of them is found, not always the first. The number of
/// evaluations is at most ⌈log₂((t1 − t0)/width)⌉ + 1, plus one or two due to round-off.
///
/// ```
/// # use grapple::integrate;
/// use integrate::root::find_change;
///
/// let bracket = find_change([(0.0, 2.0), (2.0, -2.0)], |t| 2.0 - t * t).unwrap();
/// assert!(bracket.t_before < 2.0_f64.sqrt() && 2.0_f64.sqrt() <= bracket.t_after);
/// assert!(bracket.t_after - bracket.t_before < 2e-15);
/// ```
///
/// # Errors
///
/// If both ends have the same sign, the interval is empty or not finite, or the function returns
/// NaN (infinite values are valid).
pub fn find_change([(t0, f0), (t1, f1)]: [(f64, f64); 2], mut f: impl FnMut(f64) -> f64) -> Result<Bracket, RootError> {
    check(t0, f0, t1, f1)?;
    let width = ROUND_OFF * t0.abs().max(t1.abs());
    let kappa = 0.2 / (t1 - t0);
    // Largest admissible half-width: the width that bisection with one further evaluation would
    // have after as many evaluations.
    let mut radius = 0.5 * width * libm::exp2(libm::log2((t1 - t0) / width).ceil()) * 2.0;
    let mut bracket = Bracket {
        t_before: t0,
        f_before: f0,
        t_after: t1,
        f_after: f1,
        evaluations: 0,
    };
    while bracket.t_after - bracket.t_before > width {
        let t = bracket.next_point(kappa, radius, width);
        if !(bracket.t_before < t && t < bracket.t_after) {
            break;
        }
        radius *= 0.5;
        bracket.narrow(t, f(t))?;
    }
    Ok(bracket)
}

/// Returns the time just after the first crossing to zero or below, for a function sampled at equal
/// distances that is positive at the first sample; `None` without a crossing. If the function
/// returns NaN during the search, the result is the end of the interval known to contain the
/// crossing.
pub fn first_crossing(samples: &[(f64, f64)], mut f: impl FnMut(f64) -> f64) -> Option<f64> {
    let change = first_change(samples, &mut f)?;
    Some(find_change(change, f).map_or(change[1].0, |bracket| bracket.t_after))
}

/// Returns two points `(t, f(t))` between which the function first crosses to zero or below. The
/// function is sampled at equal distances and positive at the first sample.
///
/// Minima between positive samples, also next to either end, are searched for a crossing. The
/// function is assumed to be convex near a minimum: the search stops as soon as its chords show
/// that it stays positive.
pub(super) fn first_change(samples: &[(f64, f64)], f: &mut impl FnMut(f64) -> f64) -> Option<[(f64, f64); 2]> {
    let sample = |k: Option<usize>| k.and_then(|k| samples.get(k)).copied();
    for (k, &here) in samples.iter().enumerate() {
        let [far_before, before] = [2, 1].map(|back| sample(k.checked_sub(back)));
        let [after, far_after] = [1, 2].map(|on| sample(k.checked_add(on)));
        if here.1 <= 0.0 {
            return before.map(|before| [before, here]);
        }
        let is_higher = |(_, value): (f64, f64)| value >= here.1;
        if !before.is_none_or(is_higher) || !after.is_none_or(is_higher) {
            continue;
        }
        let bottom = match (before, after) {
            (Some(before), Some(after)) => below_zero([before, here, after], f),
            (None, Some(next)) => far_after.and_then(|far| below_zero_beside(here, [next, far], f)),
            (Some(next), None) => far_before.and_then(|far| below_zero_beside(here, [next, far], f)),
            (None, None) => None,
        };
        if let Some(bottom) = bottom {
            return Some([before.unwrap_or(here), bottom]);
        }
    }
    None
}

/// Returns a point near a minimum at which the function is zero or below; `None` if it stays
/// positive. Of the three points around the minimum, the middle one is the lowest.
fn below_zero(mut dip: [(f64, f64); 3], f: &mut impl FnMut(f64) -> f64) -> Option<(f64, f64)> {
    for _ in 0..HALVINGS {
        let [left, middle, right] = dip;
        // A convex function lies above the extrapolated chords.
        if left.1.max(right.1) - middle.1 < middle.1 {
            return None;
        }
        let [low, high] = [left, right].map(|end| {
            let t = f64::midpoint(end.0, middle.0);
            (t, f(t))
        });
        if let Some(below) = [low, high].into_iter().find(|point| point.1 <= 0.0) {
            return Some(below);
        }
        dip = if low.1 < middle.1 {
            [left, low, middle]
        } else if high.1 < middle.1 {
            [middle, high, right]
        } else {
            [low, middle, high]
        };
    }
    None
}

/// Like [`below_zero`], for a minimum between an end of the samples and its neighbour `next`, which
/// is not lower than the end; `far` is the sample behind `next`, at equal distance.
fn below_zero_beside(
    end: (f64, f64),
    [mut next, mut far]: [(f64, f64); 2],
    f: &mut impl FnMut(f64) -> f64,
) -> Option<(f64, f64)> {
    for _ in 0..HALVINGS {
        if far.1 - next.1 < next.1 {
            return None;
        }
        let t = f64::midpoint(end.0, next.0);
        (next, far) = ((t, f(t)), next);
        if next.1 <= 0.0 {
            return Some(next);
        }
        if next.1 < end.1 {
            let [first, last] = if end.0 < far.0 { [end, far] } else { [far, end] };
            return below_zero([first, next, last], f);
        }
    }
    None
}

/// Returns the time just after the first crossing to zero or below, for a function sampled at equal
/// distances that is positive at the first sample and changes at most by `rate` per unit of time;
/// `None` without a crossing. A crossing and its reverse less than 1/16,000 of the samples' range
/// apart may be missed, and others if the function stays so close to zero that 1000 evaluations do
/// not exclude them.
///
/// Between the values f₀ and f₁ of two points at the distance h the function is not below
/// `(f₀ + f₁ − rate h)/2` (S. A. Piyavskii, *USSR Comput. Math. Math. Phys.* 12 (1972) 57–67).
pub fn first_crossing_by_rate(samples: &[(f64, f64)], rate: f64, mut f: impl FnMut(f64) -> f64) -> Option<f64> {
    let change = first_change_by_rate(samples, rate, &mut f)?;
    Some(find_change(change, f).map_or(change[1].0, |bracket| bracket.t_after))
}

/// Returns two points `(t, f(t))` between which the function first crosses to zero or below; see
/// [`first_crossing_by_rate`].
pub(super) fn first_change_by_rate(
    samples: &[(f64, f64)],
    rate: f64,
    f: &mut impl FnMut(f64) -> f64,
) -> Option<[(f64, f64); 2]> {
    let evaluations = Cell::new(0);
    let mut at = |t: f64| {
        evaluations.set(evaluations.get() + 1);
        (t, f(t))
    };
    for pair in samples.windows(2) {
        let mut left = pair[0];
        if left.1 <= 0.0 {
            return None;
        }
        let narrow = 1.5 * (pair[1].0 - left.0) / f64::from(1 << SPLITS);
        // Right ends of the intervals that remain, the first one last.
        let mut ends = [pair[1]; SPLITS + 1];
        let mut remaining = 1;
        while remaining > 0 {
            let right = ends[remaining - 1];
            let width = right.0 - left.0;
            if right.1 > 0.0 && left.1 + right.1 > rate * width {
                left = right;
                remaining -= 1;
                continue;
            }
            let middle = at(f64::midpoint(left.0, right.0));
            let is_last = width <= narrow || remaining == ends.len() || evaluations.get() >= EVALUATIONS;
            if !is_last {
                ends[remaining] = middle;
                remaining += 1;
                continue;
            }
            let is_dip = middle.1 < left.1.min(right.1) && middle.1 > 0.0;
            let bottom = if is_dip {
                below_zero([left, middle, right], &mut |t| at(t).1)
            } else {
                [middle, right].into_iter().find(|point| point.1 <= 0.0)
            };
            if let Some(bottom) = bottom.or(Some(right).filter(|right| right.1 <= 0.0)) {
                return Some([left, bottom]);
            }
            left = right;
            remaining -= 1;
        }
    }
    None
}

/// Maximum number of halvings of the distance of two samples by [`first_crossing_by_rate`].
const SPLITS: usize = 10;
/// Number of evaluations after which [`first_crossing_by_rate`] makes no further halvings.
const EVALUATIONS: u32 = 1000;

/// Maximum number of halvings in the search for a minimum: to 1e-9 of the initial width.
const HALVINGS: u32 = 30;

impl Bracket {
    /// Returns the ITP point (interpolate, truncate, project), or the midpoint if the ITP point is
    /// not inside the bracket.
    ///
    /// Near convergence the truncation (a shift towards the midpoint) would vanish in round-off,
    /// and only one end of the bracket would move. It is therefore at least 0.4 of the final width
    /// `goal`: a point on either side of the crossing then reaches that width.
    fn next_point(&self, kappa: f64, radius: f64, goal: f64) -> f64 {
        let (a, b) = (self.t_before, self.t_after);
        let (middle, width) = (f64::midpoint(a, b), b - a);
        let chord = a + width * (self.f_before / (self.f_before - self.f_after));
        let away = middle - chord;
        let truncation = (kappa * width * width).max(0.4 * goal);
        let truncated = if truncation <= away.abs() {
            chord + truncation.copysign(away)
        } else {
            middle
        };
        let slack = radius - 0.5 * width;
        let projected = if (truncated - middle).abs() <= slack {
            truncated
        } else {
            middle - slack.copysign(away)
        };
        // The point may be outside if a value is infinite (the chord is NaN) or if round-off has
        // consumed the slack.
        let inside = a < projected && projected < b && slack >= 0.0;
        if inside { projected } else { middle }
    }

    /// Replaces the end whose sign is that of `value`.
    fn narrow(&mut self, t: f64, value: f64) -> Result<(), RootError> {
        self.evaluations += 1;
        if value.is_nan() {
            return Err(RootError::NotANumber { t });
        }
        if (value > 0.0) == (self.f_before > 0.0) {
            (self.t_before, self.f_before) = (t, value);
        } else {
            (self.t_after, self.f_after) = (t, value);
        }
        Ok(())
    }
}

fn check(t0: f64, f0: f64, t1: f64, f1: f64) -> Result<(), RootError> {
    if !(t0 < t1 && (t1 - t0).is_finite()) {
        return Err(RootError::Interval { t0, t1 });
    }
    if f0.is_nan() {
        return Err(RootError::NotANumber { t: t0 });
    }
    if f1.is_nan() {
        return Err(RootError::NotANumber { t: t1 });
    }
    if (f0 > 0.0) == (f1 > 0.0) {
        return Err(RootError::SameSide { f0, f1 });
    }
    Ok(())
}

/// The reason for which no sign change is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RootError {
    /// The interval is empty or not finite.
    Interval {
        /// Start.
        t0: f64,
        /// End.
        t1: f64,
    },
    /// Both ends have the same sign.
    SameSide {
        /// The function at the start.
        f0: f64,
        /// The function at the end.
        f1: f64,
    },
    /// The function value is NaN.
    NotANumber {
        /// Time of the evaluation.
        t: f64,
    },
}

impl fmt::Display for RootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RootError::Interval { t0, t1 } => write!(
                f,
                "cannot search for a change of sign from t = {t0} to {t1}: the interval is empty or not finite"
            ),
            RootError::SameSide { f0, f1 } => {
                write!(f, "no change of sign between the values {f0:e} and {f1:e}")
            }
            RootError::NotANumber { t } => write!(f, "the indicator is not a number at t = {t}"),
        }
    }
}

impl Error for RootError {}
