use crate::algebra::Scalar;
use crate::spec::{Interpolation, Signal, Waveform};
use std::f64::consts::TAU;

/// Signal over time, piecewise smooth, with the same evaluation for inputs that an importer sets
/// and for signals inside the FMU.
///
/// The caller stores the segment index. An integrator stops at the end of a segment
/// ([`end`](Self::end)) and continues with the next, so that no evaluation of a step lies beyond a
/// jump. Values have the type of the model's constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wave<'a, C = f64> {
    /// Shape of the signal.
    pub waveform: Waveform,
    /// Factor of the shape, as in [`Signal`].
    pub amplitude: C,
    /// Constant added to the scaled shape.
    pub offset: C,
    /// Frequency, Hz.
    pub frequency: C,
    /// Phase, rad.
    pub phase: C,
    /// Start of the window, s; `−∞` without one.
    pub from: C,
    /// End of the window, s; `+∞` without one.
    pub until: C,
    /// Times of the table, s.
    pub times: &'a [f64],
    /// Values of the table, before scaling.
    pub values: &'a [f64],
    /// First derivatives of the values, of a quintic table.
    pub rates: &'a [f64],
    /// Second derivatives of the values, of a quintic table.
    pub accelerations: &'a [f64],
    /// Interpolation between the times of the table.
    pub interpolation: Interpolation,
}

/// Tolerance of event times, relative to the greater of 1 s and the time: importers reach an event
/// slightly early or late.
const TIME_ROUND_OFF: f64 = 1e-10;

/// Returns true if the time `event` is reached at `t` (both s), to round-off.
pub fn reached(event: f64, t: f64) -> bool {
    event <= t + round_off(t)
}

/// Returns the longest time (s) by which an event may be later than `t` (s) and still count as
/// reached at `t`.
pub fn round_off(t: f64) -> f64 {
    TIME_ROUND_OFF * t.abs().max(1.0)
}

impl<'a, C: Scalar> Wave<'a, C> {
    /// Creates the signal with the values of the spec.
    pub fn new(signal: &'a Signal) -> Self {
        let optional = |value: Option<f64>, without: f64| C::number(value.unwrap_or(without));
        Self {
            waveform: signal.waveform,
            amplitude: C::number(signal.amplitude),
            offset: C::number(signal.offset),
            frequency: optional(signal.frequency, 0.0),
            phase: optional(signal.phase, 0.0),
            from: optional(signal.from, f64::NEG_INFINITY),
            until: optional(signal.until, f64::INFINITY),
            times: signal.times.as_deref().unwrap_or_default(),
            values: signal.values.as_deref().unwrap_or_default(),
            rates: signal.rates.as_deref().unwrap_or_default(),
            accelerations: signal.accelerations.as_deref().unwrap_or_default(),
            interpolation: signal.interpolation,
        }
    }

    /// Returns the value at `t` (s), by the law of the given segment.
    pub fn value(&self, piece: i32, t: C) -> C {
        self.offset + self.amplitude * self.shape(piece, t).0
    }

    /// Returns the first derivative at `t` (s), value per s, by the law of the given segment.
    pub fn rate(&self, piece: i32, t: C) -> C {
        self.amplitude * self.shape(piece, t).1
    }

    /// Returns the second derivative at `t` (s), value per s², by the law of the given segment.
    pub fn acceleration(&self, piece: i32, t: C) -> C {
        self.amplitude * self.shape(piece, t).2
    }

    /// Returns the value and its first two derivatives for amplitude one and offset zero.
    fn shape(&self, piece: i32, t: C) -> (C, C, C) {
        let constant = |value: f64| (C::number(value), C::zero(), C::zero());
        match self.waveform {
            Waveform::Table => self.table(piece, t),
            Waveform::Step => constant(f64::from(piece >= 1)),
            _ if piece <= 0 => constant(0.0),
            Waveform::Quintic if piece >= 2 => constant(1.0),
            _ if piece >= 2 => constant(0.0),
            Waveform::Constant => constant(1.0),
            Waveform::Sine => {
                let w = C::number(TAU) * self.frequency;
                let (s, c) = (w * t + self.phase).sin_cos();
                (s, w * c, -w * w * s)
            }
            Waveform::Quintic => {
                let span = self.until - self.from;
                let [part, rate, second] = quintic((t - self.from) / span);
                (part, rate / span, second / (span * span))
            }
        }
    }

    fn table(&self, piece: i32, t: C) -> (C, C, C) {
        let constant = |value: f64| (C::number(value), C::zero(), C::zero());
        let (Some(&first), Some(&last)) = (self.values.first(), self.values.last()) else {
            return constant(0.0);
        };
        let next = usize::try_from(piece).unwrap_or(0);
        if next == 0 {
            return constant(first);
        }
        if next >= self.times.len() {
            return constant(last);
        }
        let (t_0, v_0) = (self.times[next - 1], self.values[next - 1]);
        match self.interpolation {
            Interpolation::Hold => constant(v_0),
            Interpolation::Linear => {
                let slope = C::number((self.values[next] - v_0) / (self.times[next] - t_0));
                (C::number(v_0) + slope * (t - C::number(t_0)), slope, C::zero())
            }
            Interpolation::Quintic => match self.interval(piece, t) {
                Some([value, rate, second, _]) => (value, rate, second),
                None => constant(v_0),
            },
        }
    }

    /// Returns the value of a quintic table and its three derivatives in a segment between two
    /// times; `None` outside the times and for other tables.
    fn interval(&self, piece: i32, t: C) -> Option<[C; 4]> {
        let next = usize::try_from(piece)
            .ok()
            .filter(|_| self.interpolation == Interpolation::Quintic)?;
        let before = next.checked_sub(1)?;
        let knot = |k: usize| Some([*self.values.get(k)?, *self.rates.get(k)?, *self.accelerations.get(k)?]);
        let h = *self.times.get(next)? - self.times[before];
        let s = (t - C::number(self.times[before])) / C::number(h);
        Some(hermite([knot(before)?, knot(next)?], h, s))
    }
}

impl Wave<'_> {
    /// Returns the index of the segment that contains `t` (s); at a boundary, that of the later
    /// segment.
    #[cfg(feature = "inside")]
    pub fn piece(&self, t: f64) -> i32 {
        self.piece_within(t, round_off(t))
    }

    /// Returns the index of the segment that contains `t` (s); a boundary counts as reached if it is
    /// later by at most `tolerance` (s).
    pub fn piece_within(&self, t: f64, tolerance: f64) -> i32 {
        let is_reached = |end: f64| end <= t + tolerance;
        let passed = if self.waveform == Waveform::Table {
            self.times.partition_point(|&end| is_reached(end))
        } else {
            usize::from(is_reached(self.from)) + usize::from(is_reached(self.from.max(self.until)))
        };
        i32::try_from(passed).unwrap_or(i32::MAX)
    }

    /// Returns the end of a segment, s, `None` if it has none.
    pub fn end(&self, piece: i32) -> Option<f64> {
        let piece = usize::try_from(piece).ok()?;
        let end = if self.waveform == Waveform::Table {
            self.times.get(piece).copied()
        } else {
            [self.from, self.from.max(self.until)].get(piece).copied()
        };
        end.filter(|t| t.is_finite())
    }

    /// Returns the third derivative at `t` (s), value per s³, by the law of the given segment.
    pub fn jerk(&self, piece: i32, t: f64) -> f64 {
        self.amplitude
            * match self.waveform {
                Waveform::Sine if piece == 1 => {
                    let w = TAU * self.frequency;
                    -w * w * w * libm::cos(w * t + self.phase)
                }
                Waveform::Quintic if piece == 1 => {
                    let span = self.until - self.from;
                    let s = (t - self.from) / span;
                    60.0 * (1.0 - 6.0 * s * (1.0 - s)) / (span * span * span)
                }
                Waveform::Table => self.interval(piece, t).map_or(0.0, |[.., jerk]| jerk),
                _ => 0.0,
            }
    }
}

/// Returns the fraction of a quintic's rise at the fraction `s` of its duration, and its first two
/// derivatives with respect to `s`.
pub(crate) fn quintic<C: Scalar>(s: C) -> [C; 3] {
    let [one, two, six, ten] = [1.0, 2.0, 6.0, 10.0].map(C::number);
    let [fifteen, thirty, sixty] = [15.0, 30.0, 60.0].map(C::number);
    [
        s * s * s * (ten - s * (fifteen - six * s)),
        thirty * s * s * (one - s) * (one - s),
        sixty * s * (one - s) * (one - two * s),
    ]
}

/// Returns the quintic with given values, first and second derivatives at its two ends, `h` (s)
/// apart, at the fraction `s` of the way: value and first three derivatives.
pub(crate) fn hermite<C: Scalar>([from, to]: [[f64; 3]; 2], h: f64, s: C) -> [C; 4] {
    let [c0, c1, c2] = [from[0], h * from[1], 0.5 * h * h * from[2]];
    // Remainders of value, slope and curvature at the end, for the powers 3 to 5.
    let value = to[0] - c0 - c1 - c2;
    let slope = h * to[1] - c1 - 2.0 * c2;
    let curvature = h * h * to[2] - 2.0 * c2;
    let c3 = 10.0 * value - 4.0 * slope + 0.5 * curvature;
    let c4 = -15.0 * value + 7.0 * slope - curvature;
    let c5 = 6.0 * value - 3.0 * slope + 0.5 * curvature;
    let horner = |coefficients: &[f64]| {
        let mut highest_first = coefficients.iter().rev().map(|&c| C::number(c));
        let highest = highest_first.next().unwrap_or_else(C::zero);
        highest_first.fold(highest, |sum, c| c + s * sum)
    };
    [
        horner(&[c0, c1, c2, c3, c4, c5]),
        horner(&[c1, 2.0 * c2, 3.0 * c3, 4.0 * c4, 5.0 * c5]) / C::number(h),
        horner(&[2.0 * c2, 6.0 * c3, 12.0 * c4, 20.0 * c5]) / C::number(h * h),
        horner(&[6.0 * c3, 24.0 * c4, 60.0 * c5]) / C::number(h * h * h),
    ]
}

#[cfg(feature = "inside")]
#[allow(clippy::disallowed_methods)] // expected values
pub(super) mod tests {
    use super::*;

    unit_tests![
        signal_window_has_its_waveform_up_to_its_end,
        rate_acceleration_and_jerk_are_successive_derivatives,
        a_quintic_table_passes_through_its_knots,
        a_quintic_is_at_rest_at_both_ends_and_stays,
        event_is_reached_within_the_importers_round_off,
    ];

    fn wave(text: &str) -> Signal {
        crate::spec::from_text(text).expect("a signal")
    }

    fn at(signal: &Signal, t: f64) -> f64 {
        let wave = Wave::new(signal);
        wave.value(wave.piece(t), t)
    }

    fn signal_window_has_its_waveform_up_to_its_end() {
        let signal = wave("type = \"sine\"\namplitude = 2\nfrequency = 0.25\nfrom = 1\nuntil = 3\noffset = 0.5");
        let wave = Wave::new(&signal);
        assert_eq!(at(&signal, 0.5), 0.5);
        assert!((at(&signal, 1.0) - 2.5).abs() < 1e-15);
        assert_eq!(at(&signal, 3.0), 0.5);
        assert!(
            (wave.value(1, 3.0) + 1.5).abs() < 1e-15,
            "the segment's law applies up to its end"
        );
        assert_eq!((wave.end(0), wave.end(1), wave.end(2)), (Some(1.0), Some(3.0), None));
    }

    fn rate_acceleration_and_jerk_are_successive_derivatives() {
        let texts = [
            "type = \"sine\"\nfrequency = 0.7\nphase = 0.3",
            "type = \"quintic\"\nfrom = -1\nuntil = 2\namplitude = 3",
            "type = \"table\"\ntimes = [0, 0.5, 2]\nvalues = [1, -2, 4]",
            "type = \"table\"\ninterpolation = \"quintic\"\ntimes = [0, 0.5, 2]\nvalues = [1, -2, 4]\nrates = [0, 1, -1]\n\
             accelerations = [0, -2, 3]",
            "type = \"constant\"",
        ];
        for text in texts {
            let signal = wave(text);
            let wave = Wave::new(&signal);
            let (t, h) = (0.8, 1e-5);
            let piece = wave.piece(t);
            let difference = (wave.value(piece, t + h) - wave.value(piece, t - h)) / (2.0 * h);
            let off = (difference - wave.rate(piece, t)).abs();
            assert!(off < 1e-8, "{text}: {off:e}"); // h²/6 times the third derivative
            let difference = (wave.rate(piece, t + h) - wave.rate(piece, t - h)) / (2.0 * h);
            let off = (difference - wave.acceleration(piece, t)).abs();
            assert!(off < 1e-8, "{text}, second: {off:e}");
            let difference = (wave.acceleration(piece, t + h) - wave.acceleration(piece, t - h)) / (2.0 * h);
            let off = (difference - wave.jerk(piece, t)).abs();
            assert!(off < 1e-7, "{text}, third: {off:e}"); // h²/6 (2π 0.7/s)⁵ = 3e-8
        }
    }

    /// A quintic table has the written values, rates and accelerations at its times; between them
    /// it is the polynomial of degree five.
    fn a_quintic_table_passes_through_its_knots() {
        let polynomial = |t: f64| {
            [
                t.powi(5) - 2.0 * t.powi(3) + t,
                5.0 * t.powi(4) - 6.0 * t * t + 1.0,
                20.0 * t.powi(3) - 12.0 * t,
            ]
        };
        let times = [-1.0, 0.25, 2.0];
        let column = |k: usize| format!("{:?}", times.map(|t| polynomial(t)[k]));
        let signal = wave(&format!(
            "type = \"table\"\ninterpolation = \"quintic\"\ntimes = {times:?}\nvalues = {}\nrates = {}\naccelerations = {}",
            column(0),
            column(1),
            column(2)
        ));
        let wave = Wave::new(&signal);
        for t in [-1.0, -0.3, 0.25, 0.7, 1.99] {
            let piece = wave.piece(t);
            let found = [wave.value(piece, t), wave.rate(piece, t), wave.acceleration(piece, t)];
            let off = (0..3).map(|k| (found[k] - polynomial(t)[k]).abs()).fold(0.0, f64::max);
            assert!(off < 1e-13, "{t}: {off:e}"); // round-off of values up to 136
        }
        assert_eq!(
            [at(&signal, -2.0), at(&signal, 3.0)],
            [polynomial(-1.0)[0], polynomial(2.0)[0]]
        );
    }

    fn a_quintic_is_at_rest_at_both_ends_and_stays() {
        let signal = wave("type = \"quintic\"\nfrom = 1\nuntil = 2\namplitude = 3");
        let wave = Wave::new(&signal);
        assert_eq!((at(&signal, 0.0), at(&signal, 5.0)), (0.0, 3.0));
        assert_eq!((wave.rate(1, 1.0), wave.rate(1, 2.0)), (0.0, 0.0));
        assert!((wave.value(1, 2.0) - 3.0).abs() < 1e-15);
    }

    fn event_is_reached_within_the_importers_round_off() {
        let signal = wave("type = \"step\"\nfrom = 2.95");
        assert_eq!(at(&signal, 2.949_999_999_999), 1.0);
        assert_eq!(at(&signal, 2.949), 0.0);
    }
}
