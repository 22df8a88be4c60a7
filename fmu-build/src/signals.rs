//! The inputs that this program sets while it runs an FMU.
//!
//! Over a step of length h from t, a signal u is passed by its derivatives at t, as the cubic with
//! the signal's values u₀, u₁ and rates r₀, r₁ at both ends (`Δ = (u₁ − u₀)/h`):
//!
//! ```text
//!     u'(t)   = r₀                            (1)
//!     u''(t)  = (6 Δ − 4 r₀ − 2 r₁) / h       (2)
//!     u'''(t) = (6 r₀ + 6 r₁ − 12 Δ) / h²     (3)
//! ```
//!
//! It is exact for constants, steps, tables and ramps; for a sine its error is `(ωh)⁴/384` of the
//! amplitude. Steps end where a segment of a signal ends, so that no step contains a jump or a
//! kink.

use grapple::elements::{Copied, Shaped, Wave, copies, update_segments};
use grapple::spec::Signal;

/// The signals that this program sets as importer, with the inputs that they drive.
pub struct DrivenInputs<'a> {
    /// Value references of the inputs, the continuous ones first.
    pub references: Vec<u32>,
    waves: Vec<Driven<'a>>,
    /// Number of continuous inputs; commands and switches, which are discrete, have no derivatives.
    continuous: usize,
}

/// Signal with its delayed copies.
struct Driven<'a> {
    wave: Wave<'a>,
    copies: Vec<Copied>,
}

impl<'a> Driven<'a> {
    fn new(signal: &'a Signal) -> Self {
        Self {
            wave: Wave::new(signal),
            copies: copies(&signal.shaper),
        }
    }

    /// Calls `f` with the signal in its segments at `t` (s).
    fn at<T>(&self, t: f64, f: impl FnOnce(Shaped) -> T) -> T {
        let mut segments = vec![0; self.copies.len()];
        update_segments(&self.wave, &self.copies, t, &mut segments);
        f(Shaped {
            wave: self.wave,
            copies: &self.copies,
            segments: &segments,
        })
    }
}

/// Largest difference of times that count as equal, relative to the larger of 1 s and the time.
const ROUND_OFF: f64 = 1e-10;

impl<'a> DrivenInputs<'a> {
    /// Selects the signals whose inputs exist. `find` returns an input's value reference by its
    /// name, and true if the input is discrete. Of two signals for one input the first is used.
    pub fn of(
        signals: impl Iterator<Item = (&'a String, &'a Signal)>,
        find: impl Fn(&str) -> Option<(u32, bool)>,
    ) -> Self {
        let mut fed: Vec<((u32, bool), Driven)> = Vec::new();
        for (input, signal) in signals {
            if let Some(input) = find(input)
                && fed.iter().all(|(other, _)| *other != input)
            {
                fed.push((input, Driven::new(signal)));
            }
        }
        fed.sort_by_key(|((_, is_discrete), _)| *is_discrete);
        Self {
            continuous: fed.iter().filter(|((_, is_discrete), _)| !is_discrete).count(),
            references: fed.iter().map(|((reference, _), _)| *reference).collect(),
            waves: fed.into_iter().map(|(_, wave)| wave).collect(),
        }
    }

    /// Removes the inputs with these value references.
    pub fn leave_out(&mut self, references: &[u32]) {
        let waves = std::mem::take(&mut self.waves);
        let fed = self.references.drain(..).zip(waves).enumerate();
        let left: Vec<_> = fed
            .filter(|(_, (reference, _))| !references.contains(reference))
            .collect();
        self.continuous = left.iter().filter(|(i, _)| *i < self.continuous).count();
        (self.references, self.waves) = left.into_iter().map(|(_, fed)| fed).unzip();
    }

    /// Returns the values of the inputs at `t` (s).
    pub fn values(&self, t: f64) -> Vec<f64> {
        self.waves
            .iter()
            .map(|wave| wave.at(t, |signal| signal.value(t)))
            .collect()
    }

    /// Returns the derivatives of orders 1, 2 and 3 at `t` of the cubics over the next `h` (s), for
    /// the continuous inputs.
    pub fn derivatives(&self, t: f64, h: f64) -> [Vec<f64>; 3] {
        let cubic = |signal: Shaped| {
            let delta = (signal.value(t + h) - signal.value(t)) / h;
            let (r_0, r_1) = (signal.rate(t), signal.rate(t + h));
            [
                r_0,                                            // (1)
                (6.0 * delta - 4.0 * r_0 - 2.0 * r_1) / h,      // (2)
                (6.0 * r_0 + 6.0 * r_1 - 12.0 * delta) / h / h, // (3)
            ]
        };
        let cubics: Vec<[f64; 3]> = self.waves[..self.continuous]
            .iter()
            .map(|wave| wave.at(t, cubic))
            .collect();
        std::array::from_fn(|order| cubics.iter().map(|cubic| cubic[order]).collect())
    }

    /// Returns the end of a step from `t` towards `goal` (s): `goal`, or the end of a signal's
    /// segment before it.
    pub fn next_stop(&self, t: f64, goal: f64) -> f64 {
        let ends = self.waves.iter().filter_map(|wave| wave.at(t, |signal| signal.end()));
        let before_goal = ends.filter(|end| goal - end > ROUND_OFF * goal.abs().max(1.0));
        before_goal.fold(goal, f64::min)
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![
        error_of_the_cubic_for_a_sine_is_of_fourth_order,
        steps_end_at_kinks_of_signals,
        steps_end_at_kinks_of_the_copies_of_a_shaped_signal,
    ];

    fn inputs(signal: &Signal) -> DrivenInputs<'_> {
        DrivenInputs {
            references: vec![0],
            waves: vec![Driven::new(signal)],
            continuous: 1,
        }
    }

    fn signal(text: &str) -> Signal {
        serde_json::from_str(text).expect("a signal")
    }

    fn error_of_the_cubic_for_a_sine_is_of_fourth_order() {
        let sine = signal(r#"{"type": "sine", "amplitude": 0.5, "frequency": 1.0}"#);
        let (inputs, t, h) = (inputs(&sine), 0.3, 0.01);
        let [d1, d2, d3] = inputs.derivatives(t, h).map(|d| d[0]);
        let s = 0.5 * h;
        let there = inputs.values(t)[0] + s * (d1 + s / 2.0 * (d2 + s / 3.0 * d3));
        let off = (there - inputs.values(t + s)[0]).abs();
        let bound = 0.5 * (std::f64::consts::TAU * h).powi(4) / 384.0;
        assert!(off <= bound && off > 1e-3 * bound, "{off:e}, {bound:e}");
    }

    fn steps_end_at_kinks_of_signals() {
        let pulse = signal(r#"{"type": "constant", "from": 1.0, "until": 1.503}"#);
        let inputs = inputs(&pulse);
        assert_eq!(inputs.next_stop(0.5, 0.6), 0.6);
        assert_eq!(inputs.next_stop(1.5, 1.51), 1.503);
        assert_eq!(inputs.next_stop(1.503, 1.51), 1.51);
        // Round-off is not a kink.
        assert_eq!(inputs.next_stop(1.5, 1.503 + 1e-13), 1.503 + 1e-13);
        assert_eq!(
            (inputs.values(0.0)[0], inputs.values(1.2)[0], inputs.values(2.0)[0]),
            (0.0, 1.0, 0.0)
        );
    }

    /// A shaped signal is set as the same signal in the FMU is evaluated: steps end at the kinks of
    /// all copies.
    fn steps_end_at_kinks_of_the_copies_of_a_shaped_signal() {
        let step =
            signal(r#"{"type": "step", "from": 1.0, "amplitude": 4.0, "shaper": [{"type": "zvd", "frequency": 0.5}]}"#);
        let inputs = inputs(&step);
        let (mut t, mut found) = (0.0, Vec::new());
        while t < 5.0 {
            t = inputs.next_stop(t, 5.0);
            found.push((t, inputs.values(t)[0]));
        }
        assert_eq!(found, [(1.0, 1.0), (2.0, 3.0), (3.0, 4.0), (5.0, 4.0)]);
    }
}
