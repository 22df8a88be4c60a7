//! Input shaping: references as weighted means of delayed copies of themselves.

use super::{Wave, replace, round_off};
use crate::algebra::Scalar;
use crate::spec::Shaper;

/// Delayed copy of a reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Copied {
    /// Factor of the copy; those of all copies have the sum one.
    pub weight: f64,
    /// Delay, s.
    pub delay: f64,
}

/// Returns the copies of a reference with these shapers, those of several modes convolved; without
/// shapers, the reference itself.
///
/// With `K = exp(−πζ/√(1 − ζ²))`, weights are `1, K` (ZV) and `1, 2K, K²` (ZVD) over their sum, and
/// delays multiples of half the period of the damped vibration (Singer and Seering 1990).
pub fn copies(shapers: &[Shaper]) -> Vec<Copied> {
    let mut all = vec![Copied {
        weight: 1.0,
        delay: 0.0,
    }];
    for shaper in shapers {
        let (K, half) = (shaper.decay(), shaper.half_period());
        let (sum, binomial): (f64, &[f64]) = match shaper.delays() {
            1 => (1.0 + K, &[1.0, K]),
            _ => ((1.0 + K) * (1.0 + K), &[1.0, 2.0 * K, K * K]),
        };
        let own = |of: &Copied| {
            let of = *of;
            let each = binomial.iter().enumerate();
            let copies = each.map(move |(k, weight)| Copied {
                weight: of.weight * weight / sum,
                delay: of.delay + k as f64 * half,
            });
            copies.collect::<Vec<_>>()
        };
        all = all.iter().flat_map(own).collect();
    }
    all
}

/// Wave with its delayed copies, `Σ wᵢ u(t − dᵢ)`. Its derivatives are those of the copies, and its
/// segments end where the segment of a copy ends.
#[derive(Clone, Copy, Debug)]
pub struct Shaped<'a, C = f64> {
    /// The wave of each copy.
    pub wave: Wave<'a, C>,
    /// Weights and delays.
    pub copies: &'a [Copied],
    /// Segment index of each copy.
    pub segments: &'a [i32],
}

impl<'a, C: Scalar> Shaped<'a, C> {
    fn sum(&self, t: C, of: impl Fn(&Wave<'a, C>, i32, C) -> C) -> C {
        let copies = self.copies.iter().zip(self.segments);
        copies.fold(C::zero(), |sum, (copy, &segment)| {
            sum + C::number(copy.weight) * of(&self.wave, segment, t - C::number(copy.delay))
        })
    }

    /// Returns the value at `t` (s), by the laws of the given segments.
    pub fn value(&self, t: C) -> C {
        self.sum(t, Wave::value)
    }

    /// Returns the first derivative at `t` (s), value per s.
    pub fn rate(&self, t: C) -> C {
        self.sum(t, Wave::rate)
    }

    /// Returns the second derivative at `t` (s), value per s².
    pub fn acceleration(&self, t: C) -> C {
        self.sum(t, Wave::acceleration)
    }
}

impl Shaped<'_> {
    /// Returns the third derivative at `t` (s), value per s³.
    pub fn jerk(&self, t: f64) -> f64 {
        self.sum(t, Wave::jerk)
    }

    /// Returns the first end of a copy's segment, s, `None` if no segment has one.
    pub fn end(&self) -> Option<f64> {
        let copies = self.copies.iter().zip(self.segments);
        let ends = copies.filter_map(|(copy, &segment)| Some(self.wave.end(segment)? + copy.delay));
        ends.min_by(f64::total_cmp)
    }
}

/// Updates the segment index of each copy to the time `t` (s). Returns true if one changed.
///
/// A segment of a delayed copy ends with the tolerance of `t`, as its time event does: with that of
/// the copy's own time an event would be due before the segment has ended.
pub fn update_segments(wave: &Wave, copies: &[Copied], t: f64, segments: &mut [i32]) -> bool {
    let mut changed = false;
    for (copy, segment) in copies.iter().zip(segments) {
        changed |= replace(segment, wave.piece_within(t - copy.delay, round_off(t)));
    }
    changed
}

#[cfg(feature = "inside")]
#[allow(clippy::disallowed_methods)] // expected values
pub(super) mod tests {
    use super::*;
    use crate::elements::reached;
    use crate::spec::Signal;
    use std::f64::consts::TAU;

    unit_tests![
        vibration_is_zero_at_the_frequency_and_for_zvd_its_derivative_too,
        shaped_wave_is_the_mean_of_its_copies_and_ends_with_each,
        segment_of_a_delayed_copy_ends_when_its_event_is_due,
    ];

    fn shaper(kind: &str, frequency: f64, ratio: f64) -> Shaper {
        let text = format!("type = \"{kind}\"\nfrequency = {frequency:?}\ndamping_ratio = {ratio:?}");
        crate::spec::from_text(&text).expect("a shaper")
    }

    /// Returns the vibration of a mode (Hz) after impulses, relative to that after one impulse at
    /// the time of the last: `exp(−ζω t_n) |Σ wᵢ exp((ζω + i ω_d) tᵢ)|` (Singer and Seering 1990).
    fn left(copies: &[Copied], frequency: f64, ratio: f64) -> f64 {
        let (decay, w_d) = (TAU * frequency * ratio, TAU * frequency * (1.0 - ratio * ratio).sqrt());
        let last = copies.iter().map(|copy| copy.delay).fold(0.0, f64::max);
        let sum = |part: fn(f64) -> f64| {
            let each = copies
                .iter()
                .map(|copy| copy.weight * (decay * (copy.delay - last)).exp() * part(w_d * copy.delay));
            each.sum::<f64>()
        };
        libm::hypot(sum(libm::cos), sum(libm::sin))
    }

    /// Each shaper leaves no vibration at its frequency, and by an error of the frequency an amount
    /// that is proportional to it (ZV) or to its square (ZVD). Tolerance: the next order.
    fn vibration_is_zero_at_the_frequency_and_for_zvd_its_derivative_too() {
        for ratio in [0.0, 0.05, 0.3] {
            for (kind, order) in [("zv", 1), ("zvd", 2)] {
                let copies = copies(&[shaper(kind, 0.8, ratio)]);
                let weights: f64 = copies.iter().map(|copy| copy.weight).sum();
                let at = |error: f64| left(&copies, 0.8 * (1.0 + error), ratio);
                let growth = at(2e-4) / at(1e-4);
                println!("{kind}, {ratio}: {:.1e}, {growth:.5}", at(0.0));
                assert!((weights - 1.0).abs() < 1e-15 && at(0.0) < 1e-15);
                assert!(
                    (growth - f64::from(1 << order)).abs() < 2e-3,
                    "{kind}, {ratio}: {growth}"
                );
            }
        }
    }

    /// A shaped wave is the weighted mean of its delayed copies with three successive derivatives,
    /// and its segments end where those of a copy end.
    fn shaped_wave_is_the_mean_of_its_copies_and_ends_with_each() {
        let signal: Signal = crate::spec::from_text(
            "type = \"quintic\"\nfrom = 1.0\nuntil = 2.0\namplitude = 3.0\noffset = 0.5\n\
             shaper = [{ type = \"zvd\", frequency = 0.5 }, { type = \"zv\", frequency = 2.0, damping_ratio = 0.1 }]",
        )
        .expect("a signal");
        let (wave, copies) = (Wave::new(&signal), copies(&signal.shaper));
        assert_eq!(copies.len(), 6);
        let mut segments = vec![0; copies.len()];
        let (mut ends, mut t) = (Vec::new(), 0.0);
        loop {
            update_segments(&wave, &copies, t, &mut segments);
            let shaped = Shaped {
                wave,
                copies: &copies,
                segments: &segments,
            };
            let end = shaped.end();
            let (s, h) = (end.map_or(t + 1.0, |end| 0.5 * (t + end)), 1e-5);
            let expected: f64 = copies
                .iter()
                .map(|copy| copy.weight * wave.value(wave.piece(s - copy.delay), s - copy.delay))
                .sum();
            assert!((shaped.value(s) - expected).abs() < 1e-15);
            let values: [&dyn Fn(f64) -> f64; 4] = [
                &|t| shaped.value(t),
                &|t| shaped.rate(t),
                &|t| shaped.acceleration(t),
                &|t| shaped.jerk(t),
            ];
            for pair in values.windows(2) {
                let off = (pair[0](s + h) - pair[0](s - h)) / (2.0 * h) - pair[1](s);
                // h²/6 times the next but one derivative, up to 3·360/s⁴ and 3·720/s⁵.
                assert!(off.abs() < 1e-7, "{s}: {off:e}");
            }
            let Some(end) = end else { break };
            ends.push(end);
            t = end;
        }
        let mut knots: Vec<f64> = copies
            .iter()
            .flat_map(|copy| [1.0, 2.0].map(|knot| knot + copy.delay))
            .collect();
        knots.sort_by(f64::total_cmp);
        knots.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
        assert_eq!(ends.len(), knots.len());
        assert!(ends.iter().zip(&knots).all(|(end, knot)| (end - knot).abs() < 1e-12));
        let after = Shaped {
            wave,
            copies: &copies,
            segments: &segments,
        };
        assert!((after.value(t + 1.0) - 3.5).abs() < 1e-15 && after.rate(t + 1.0) == 0.0);
    }

    /// An event that counts as reached at a time has passed after the update at that time: else the
    /// same event would be due again.
    fn segment_of_a_delayed_copy_ends_when_its_event_is_due() {
        let signal: Signal = crate::spec::from_text("type = \"step\"\nfrom = 1.0\namplitude = 2.0").expect("a signal");
        let (wave, copies) = (Wave::new(&signal), copies(&[shaper("zv", 0.025, 0.0)]));
        let (mut segments, event, early) = (vec![0; copies.len()], 21.0, 21.0 - 5e-10);
        assert!(reached(event, early) && !reached(1.0, early - 20.0));
        update_segments(&wave, &copies, early, &mut segments);
        let shaped = Shaped {
            wave,
            copies: &copies,
            segments: &segments,
        };
        assert_eq!(shaped.end(), None);
    }
}
