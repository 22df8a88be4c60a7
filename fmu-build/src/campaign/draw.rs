//! Dispersed values of a run, computed from the study's seed, the variable's name and the run's
//! number only.
//!
//! The uniform number behind a value comes from the first 52 bits, as an integer n, of the SHA-256
//! of the text
//!
//! ```text
//!     <seed> <name> <run>          say "7 payload.mass 16"
//!     u = (n + ½) / 2⁵²            above 0 and below 1
//! ```
//!
//! and the value is the quantile of the distribution at u. A run's value of a variable is therefore
//! independent of the machine, of the order of the runs, and of other dispersed variables.

use super::file::{Dispersion, Normal};
use grapple::random::quantile;
use sha2::{Digest, Sha256};
use std::f64::consts::SQRT_2;

/// Distribution of a variable's value, in absolute numbers.
#[derive(Debug)]
pub enum Law {
    /// Uniform between two values.
    Uniform([f64; 2]),
    /// Normal, truncated at the bounds.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation, above zero.
        sigma: f64,
        /// Smallest and largest value.
        bounds: Option<[f64; 2]>,
    },
    /// The list's values in turn, repeated; with a grid, one value for each pass of the grid.
    Cycle(Vec<f64>),
    /// One of the list's values, with equal probability.
    Choice(Vec<f64>),
    /// One dimension of the grid of all combinations: its values, and its stride.
    Grid {
        /// The values.
        values: Vec<f64>,
        /// Number of successive grid points with the same value.
        stride: usize,
    },
}

/// A run's number, and the size of the grid.
#[derive(Clone, Copy)]
pub struct RunIndex {
    /// Number of the run, from zero.
    pub run: usize,
    /// Number of grid points; one without a grid.
    pub points: usize,
}

impl Law {
    /// Returns the distribution of a dispersion in absolute numbers, for a nominal value; `None` if
    /// the dispersion has no distribution.
    pub fn of(dispersion: &Dispersion, nominal: f64) -> Option<Self> {
        let relative = dispersion.relative;
        let absolute = |number: f64| if relative { nominal * (1.0 + number) } else { number };
        let limits = |ends: [f64; 2]| sorted(ends.map(absolute));
        if let Some(ends) = dispersion.uniform {
            return Some(Self::Uniform(limits(ends)));
        }
        if let Some(Normal { mean, sigma, bounds }) = dispersion.normal {
            return Some(Self::Normal {
                mean: mean.map_or(nominal, absolute),
                sigma: if relative { sigma * nominal.abs() } else { sigma },
                bounds: bounds.map(limits),
            });
        }
        if let Some(values) = &dispersion.list {
            let values = values.iter().copied().map(absolute).collect();
            return Some(if dispersion.draw {
                Self::Choice(values)
            } else {
                Self::Cycle(values)
            });
        }
        let values = dispersion.grid.as_ref()?.values().into_iter().map(absolute).collect();
        Some(Self::Grid { values, stride: 1 })
    }

    /// Returns the value of the variable `name` in a run.
    pub fn value(&self, seed: u64, name: &str, RunIndex { run, points }: RunIndex) -> f64 {
        let u = || uniform(seed, name, run);
        match self {
            Self::Uniform([low, high]) => (low + (high - low) * u()).clamp(*low, *high),
            Self::Normal { mean, sigma, bounds } => normal(*mean, *sigma, *bounds, u()),
            Self::Cycle(values) => values[run / points % values.len()],
            Self::Choice(values) => values[((u() * values.len() as f64) as usize).min(values.len() - 1)],
            Self::Grid { values, stride } => values[run % points / stride % values.len()],
        }
    }

    /// Returns values that represent the range of the distribution: its ends, or all values of a
    /// list or grid; for a normal distribution without bounds, its mean.
    pub fn extremes(&self) -> Vec<f64> {
        match self {
            Self::Uniform(ends) => ends.to_vec(),
            Self::Normal { mean, bounds, .. } => bounds.map_or(vec![*mean], |bounds| bounds.to_vec()),
            Self::Cycle(values) | Self::Choice(values) | Self::Grid { values, .. } => values.clone(),
        }
    }
}

/// Sorts the limits: relative limits of a negative nominal value are in reverse order.
fn sorted([a, b]: [f64; 2]) -> [f64; 2] {
    [a.min(b), a.max(b)]
}

/// Returns the probability of a normal distribution between two bounds.
pub fn share(mean: f64, sigma: f64, [low, high]: [f64; 2]) -> f64 {
    let [a, b] = [low, high].map(|bound| (bound - mean) / sigma);
    // Computed in the left tail, where differences of probabilities do not lose digits.
    let (a, b) = if a > 0.0 { (-b, -a) } else { (a, b) };
    probability(b) - probability(a)
}

fn normal(mean: f64, sigma: f64, bounds: Option<[f64; 2]>, u: f64) -> f64 {
    let Some(bounds) = bounds else {
        return mean + sigma * quantile(u);
    };
    let [a, b] = bounds.map(|bound| (bound - mean) / sigma);
    let z = match a > 0.0 {
        false => quantile(probability(a) + u * share(mean, sigma, bounds)),
        // Mirrored to the left tail, as in `share`.
        true => -quantile(probability(-a) - u * share(mean, sigma, bounds)),
    };
    (mean + sigma * z.clamp(a, b)).clamp(bounds[0], bounds[1])
}

/// Returns the standard normal distribution function Φ(z).
fn probability(z: f64) -> f64 {
    0.5 * libm::erfc(-z / SQRT_2)
}

/// Returns a uniform number, above 0 and below 1.
fn uniform(seed: u64, name: &str, run: usize) -> f64 {
    let digest = Sha256::digest(format!("{seed} {name} {run}"));
    let first: [u8; 8] = std::array::from_fn(|i| digest[i]);
    let n = u64::from_be_bytes(first) >> 12;
    (n as f64 + 0.5) / (1_u64 << 52) as f64
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![
        uniform_number_is_the_documented_one,
        quantile_inverts_the_distribution_function,
        truncated_normal_distribution_has_the_right_quantiles,
        grid_is_complete_and_list_advances_after_each_pass,
    ];

    fn at(run: usize) -> RunIndex {
        RunIndex { run, points: 1 }
    }

    fn uniform_number_is_the_documented_one() {
        // printf '7 payload.mass 16' | sha256sum | cut -c 1-13
        let n = u64::from_str_radix("4b07386584b3a", 16).expect("13 hexadecimal digits");
        let u = Law::Uniform([0.0, 1.0]).value(7, "payload.mass", at(16));
        assert_eq!(u, (n as f64 + 0.5) / 2_f64.powi(52));
    }

    fn quantile_inverts_the_distribution_function() {
        for exponent in 1..300 {
            let p = libm::pow(10.0, -f64::from(exponent));
            let z = quantile(p);
            // Φ(z) changes by the factor 1 + |z| dz; z has a round-off of 1e-16 z.
            assert!((probability(z) / p - 1.0).abs() < 1e-15 * (2.0 + z * z), "{p}: {z}");
        }
        for p in [0.3, 0.01, 1e-9] {
            assert_eq!(quantile(1.0 - p), -quantile(1.0 - (1.0 - p)));
        }
        for percent in 1..100 {
            let p = 0.01 * f64::from(percent);
            assert!((probability(quantile(p)) - p).abs() < 3e-16, "{p}");
        }
        assert_eq!(quantile(0.5), 0.0);
        assert_eq!([quantile(0.0), quantile(1.0)], [f64::NEG_INFINITY, f64::INFINITY]);
    }

    fn truncated_normal_distribution_has_the_right_quantiles() {
        // With symmetric bounds the quantiles are symmetric. Far in the tail, values stay within
        // the bounds.
        let (low, high) = (
            normal(5.0, 2.0, Some([4.0, 6.0]), 0.25),
            normal(5.0, 2.0, Some([4.0, 6.0]), 0.75),
        );
        assert!((low + high - 10.0).abs() < 1e-12, "{low}, {high}");
        assert!((normal(5.0, 2.0, Some([4.0, 6.0]), 0.5) - 5.0).abs() < 1e-12);
        for u in [1e-16, 0.3, 1.0 - 1e-16] {
            let tail = normal(0.0, 1.0, Some([6.0, 7.0]), u);
            assert!((6.0..=7.0).contains(&tail), "{tail}");
        }
        // Half of the tail beyond 6 σ is below 6.1124 σ: Φ(−6.1124) = Φ(−6)/2.
        let median = normal(0.0, 1.0, Some([6.0, 40.0]), 0.5);
        assert!(
            (share(0.0, 1.0, [median, 40.0]) / share(0.0, 1.0, [6.0, 40.0]) - 0.5).abs() < 1e-9,
            "{median}"
        );
    }

    fn grid_is_complete_and_list_advances_after_each_pass() {
        let slow = Law::Grid {
            values: vec![1.0, 2.0],
            stride: 3,
        };
        let fast = Law::Grid {
            values: vec![10.0, 20.0, 30.0],
            stride: 1,
        };
        let list = Law::Cycle(vec![0.1, 0.2]);
        let row = |run| [&slow, &fast, &list].map(|law| law.value(0, "x", RunIndex { run, points: 6 }));
        let rows: Vec<_> = (0..12).map(row).collect();
        let mut points: Vec<_> = rows[..6].iter().map(|row| (row[0], row[1])).collect();
        points.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
        points.dedup();
        assert_eq!(points.len(), 6);
        assert_eq!(rows[0][..2], rows[6][..2]);
        assert_eq!([rows[0][2], rows[5][2], rows[6][2]], [0.1, 0.1, 0.2]);
    }
}
