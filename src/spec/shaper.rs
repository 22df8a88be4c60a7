use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Input shaper for one mode of vibration: the reference is replaced by a weighted mean of delayed
/// copies of itself, after which the mode is at rest.
///
/// After N. C. Singer and W. P. Seering, *J. Dynamic Systems, Measurement, and Control* 112 (1990)
/// 76–82. `docs/shaping.md` describes it. Its numbers are no parameters of the FMU.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shaper {
    /// Number of copies, and with it the robustness.
    #[serde(rename = "type")]
    pub kind: ShaperType,
    /// Natural frequency `|λ|/2π` of the mode, Hz, positive, as `grapple linearize` prints it.
    pub frequency: f64,
    /// Damping ratio of the mode, `−Re λ/|λ|`, not negative and below 1. Default 0.
    #[serde(default)]
    pub damping_ratio: f64,
}

/// Type of an input shaper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShaperType {
    /// Zero vibration: two copies. The reference is later by half a period of the vibration.
    Zv,
    /// Zero vibration and derivative: three copies. The reference is later by a period; the
    /// vibration that is left grows with the square of the frequency's error.
    Zvd,
}

/// Largest number of shapers of one reference, which then has up to 81 copies.
const MOST: usize = 4;

/// Longest delay of a copy, s: half the period of a vibration.
const LONGEST: f64 = 1e5;

impl Shaper {
    /// Returns half the period of the damped vibration, s.
    pub fn half_period(&self) -> f64 {
        0.5 / (self.frequency * (1.0 - self.damping_ratio * self.damping_ratio).sqrt())
    }

    /// Returns the ratio of successive extremes of the vibration, `exp(−πζ/√(1 − ζ²))`.
    pub fn decay(&self) -> f64 {
        let ratio = self.damping_ratio;
        libm::exp(-PI * ratio / (1.0 - ratio * ratio).sqrt())
    }

    /// Returns the number of delays of half a period.
    pub fn delays(&self) -> usize {
        match self.kind {
            ShaperType::Zv => 1,
            ShaperType::Zvd => 2,
        }
    }

    /// Returns the time, s, by which the last copy of a reference with these shapers is later.
    pub fn duration(shapers: &[Self]) -> f64 {
        let each = shapers
            .iter()
            .map(|shaper| shaper.delays() as f64 * shaper.half_period());
        each.sum()
    }

    /// Returns the error messages for the shapers of one reference.
    pub(crate) fn problems(shapers: &[Self]) -> Vec<String> {
        let mut found = Vec::new();
        if shapers.len() > MOST {
            let count = shapers.len();
            found.push(format!("{count} shapers, the maximum is {MOST}: one for each mode"));
        }
        for (k, shaper) in shapers.iter().enumerate() {
            let &Self {
                frequency,
                damping_ratio,
                ..
            } = shaper;
            let which = match shapers.len() {
                1 => String::new(),
                _ => format!("shaper {}: ", k + 1),
            };
            let vibrates = (0.0..1.0).contains(&damping_ratio);
            if frequency <= 0.0 {
                found.push(format!("{which}`frequency` is {frequency} Hz: it must be positive"));
            } else if vibrates && shaper.half_period() > LONGEST {
                let what = format!("half the period of the vibration is longer than {LONGEST} s");
                found.push(format!("{which}`frequency` is {frequency} Hz: {what}"));
            }
            if !vibrates {
                let what = "it must be from 0 to below 1, where a mode vibrates";
                found.push(format!("{which}`damping_ratio` is {damping_ratio}: {what}"));
            }
        }
        found
    }
}
