use serde::{Deserialize, Serialize};

/// Statistic of an output's time series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// Value at the start, after the initialisation.
    Initial,
    /// Value at the end.
    Final,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
    /// Largest magnitude.
    Peak,
    /// Time integral divided by the duration.
    Mean,
    /// Root mean square.
    Rms,
    /// The whole time series, in a file of the run.
    Series,
}

impl Statistic {
    /// Returns the name in the study's file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Final => "final",
            Self::Min => "min",
            Self::Max => "max",
            Self::Peak => "peak",
            Self::Mean => "mean",
            Self::Rms => "rms",
            Self::Series => "series",
        }
    }

    /// Computes the statistic of one or more values at increasing times (s), with integrals by the
    /// trapezoidal rule; none for [`Series`](Self::Series).
    pub fn of(self, time: &[f64], values: &[f64]) -> Option<f64> {
        let mean = |f: fn(f64) -> f64| {
            let span = time.last()? - time.first()?;
            let area: f64 = time
                .windows(2)
                .zip(values.windows(2))
                .map(|(t, y)| 0.5 * (t[1] - t[0]) * (f(y[0]) + f(y[1])))
                .sum();
            Some(area / span)
        };
        match self {
            Self::Initial => values.first().copied(),
            Self::Final => values.last().copied(),
            Self::Min => values.iter().copied().reduce(f64::min),
            Self::Max => values.iter().copied().reduce(f64::max),
            Self::Peak => values.iter().map(|value| value.abs()).reduce(f64::max),
            Self::Mean => mean(|y| y),
            Self::Rms => mean(|y| y * y).map(f64::sqrt),
            Self::Series => None,
        }
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![statistics_of_a_ramp];

    /// A ramp from −3 to 1 with steps of different length: the trapezoidal rule is exact for its
    /// mean.
    fn statistics_of_a_ramp() {
        let time = [0.0, 1.0, 1.5, 4.0];
        let values = time.map(|t| t - 3.0);
        let of = |statistic: Statistic| statistic.of(&time, &values);
        assert_eq!(of(Statistic::Initial), Some(-3.0));
        assert_eq!(of(Statistic::Final), Some(1.0));
        assert_eq!(of(Statistic::Min), Some(-3.0));
        assert_eq!(of(Statistic::Max), Some(1.0));
        assert_eq!(of(Statistic::Peak), Some(3.0));
        assert_eq!(of(Statistic::Mean), Some(-1.0));
        // (9 + 4)/2·1 + (4 + 2.25)/2·0.5 + (2.25 + 1)/2·2.5 = 12.125, over 4 s.
        assert_eq!(of(Statistic::Rms), Some((12.125_f64 / 4.0).sqrt()));
        assert_eq!(of(Statistic::Series), None);
    }
}
