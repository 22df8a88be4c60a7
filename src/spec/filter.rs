use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Filter of the torque (force, moment) that a sampled control law commands, with gain one at zero
/// frequency.
///
/// The filter is that of the transfer function in `s`, discretised by Tustin's method with the
/// frequency prewarped: at `frequency`, gain and phase are those of the continuous filter. It starts
/// as if the first command had lasted for ever. `docs/shaping.md` describes it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// Transfer function.
    #[serde(rename = "type")]
    pub kind: FilterType,
    /// Frequency `ω/2π`, Hz, from 1e-6 of the sampling rate to below half of it.
    pub frequency: f64,
    /// Damping ratio `ζ` of the poles, positive. Only with `second_order` (default 1/√2, a
    /// Butterworth filter) and `notch` (default 0.5; the notch is `2ζω` wide).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping_ratio: Option<f64>,
    /// Gain `d` of a notch at its frequency, not negative and below 1. Only with `notch`. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<f64>,
}

/// Least frequency of a filter, as part of the sampling rate. The coefficients of second order sum
/// to its square times 40: at 1e-6 round-off of 2e-16 is 5e-6 of that, at 1e-7 it is 5e-4.
const LEAST_FREQUENCY: f64 = 1e-6;

/// Transfer function of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FilterType {
    /// Low-pass `ω/(s + ω)`.
    FirstOrder,
    /// Low-pass `ω²/(s² + 2ζω s + ω²)`.
    SecondOrder,
    /// Notch `(s² + 2dζω s + ω²)/(s² + 2ζω s + ω²)`.
    Notch,
}

impl Filter {
    /// Returns the damping ratio with its default; `None` for a filter of first order.
    pub fn ratio(&self) -> Option<f64> {
        let default = match self.kind {
            FilterType::FirstOrder => return None,
            FilterType::SecondOrder => std::f64::consts::FRAC_1_SQRT_2,
            FilterType::Notch => 0.5,
        };
        Some(self.damping_ratio.unwrap_or(default))
    }

    /// Returns the depth with its default; `None` for other filters than notches.
    pub fn depth(&self) -> Option<f64> {
        (self.kind == FilterType::Notch).then_some(self.depth.unwrap_or(0.0))
    }

    /// Returns the error messages for the filters of one law, of a controller that may be sampled.
    pub(crate) fn problems(filters: &[Self], sample_time: Option<f64>) -> Vec<String> {
        let mut found = Vec::new();
        if !filters.is_empty() && sample_time.is_none() {
            found.push("filters are sampled: write `sample_time` in [controller]".to_owned());
        }
        for (k, filter) in filters.iter().enumerate() {
            let number = k + 1;
            let name = filter.kind.name();
            // Other checks refuse numbers that are not positive.
            if let Some(samples) = sample_time.map(|time| filter.frequency * time)
                && filter.frequency > 0.0
                && samples > 0.0
                && samples < LEAST_FREQUENCY
            {
                found.push(format!(
                    "filter {number} (\"{name}\") has a frequency of {samples:.1e} of the sampling rate, at which its \
                     coefficients cancel in round-off: write a frequency of {LEAST_FREQUENCY:e} of it at least"
                ));
            }
            if filter.damping_ratio.is_some() && filter.ratio().is_none() {
                found.push(format!(
                    "filter {number} (\"{name}\") has no `damping_ratio`: leave it out"
                ));
            }
            if filter.depth.is_some() && filter.depth().is_none() {
                found.push(format!(
                    "filter {number} (\"{name}\") has no `depth`: leave it out, or write type = \"notch\""
                ));
            }
        }
        found
    }
}

impl FilterType {
    /// Returns its name in a spec.
    pub fn name(self) -> &'static str {
        match self {
            Self::FirstOrder => "first_order",
            Self::SecondOrder => "second_order",
            Self::Notch => "notch",
        }
    }
}
