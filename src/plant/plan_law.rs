//! Motion law of a plan.

use crate::elements::{Copied, copies, quintic};
use crate::spec::{Plan, Shaper};

/// Motion law of a plan: the quintic from 0 to 1, or the weighted mean of its delayed copies, so
/// that frames move on the same way with a shaper as without.
pub(super) struct Law {
    /// Duration of one copy, s: the unit of the other times.
    pub duration: f64,
    copies: Vec<Copied>,
    /// Times at which a copy begins or ends, from zero: between them the law is a polynomial.
    ends: Vec<f64>,
}

impl Law {
    /// Creates the law whose last copy ends with the plan.
    pub fn new(plan: &Plan) -> Self {
        let duration = plan.until - plan.from - Shaper::duration(&plan.shaper);
        let mut copies = copies(&plan.shaper);
        copies.iter_mut().for_each(|copy| copy.delay /= duration);
        let mut ends: Vec<f64> = copies.iter().flat_map(|copy| [copy.delay, 1.0 + copy.delay]).collect();
        ends.sort_by(f64::total_cmp);
        ends.dedup_by(|later, earlier| *later - *earlier < 1e-9);
        Self { duration, copies, ends }
    }

    /// Returns the path parameter, from 0 to 1, and its two derivatives at the time `s`.
    pub fn at(&self, s: f64) -> [f64; 3] {
        self.copies.iter().fold([0.0; 3], |sum, copy| {
            let own = quintic((s - copy.delay).clamp(0.0, 1.0));
            [0, 1, 2].map(|k| sum[k] + copy.weight * own[k])
        })
    }

    /// Returns the number of its segments.
    pub fn segments(&self) -> usize {
        self.ends.len() - 1
    }

    /// Returns begin and length of the segment with `n` intervals in which interval `k` of all is.
    pub fn segment(&self, k: usize, n: usize) -> (usize, [f64; 2]) {
        let segment = (k / n).min(self.segments() - 1);
        let begin = self.ends[segment];
        (segment, [begin, self.ends[segment + 1] - begin])
    }
}
