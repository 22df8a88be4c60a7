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

/// Returns the standard normal quantile Φ⁻¹(p), by rational functions in three regions (Wichura,
/// Algorithm AS 241, Applied Statistics 37, 1988, `PPND16`; relative error about 1e-16). The
/// logarithm is `libm`'s: the C library's has other last bits on each platform.
fn quantile(p: f64) -> f64 {
    const CENTRE: [[f64; 8]; 2] = [
        [
            3.387_132_872_796_366_6,
            1.331_416_678_917_843_8e2,
            1.971_590_950_306_551_3e3,
            1.373_169_376_550_946e4,
            4.592_195_393_154_987e4,
            6.726_577_092_700_87e4,
            3.343_057_558_358_813e4,
            2.509_080_928_730_122_7e3,
        ],
        [
            1.0,
            4.231_333_070_160_091e1,
            6.871_870_074_920_579e2,
            5.394_196_021_424_751e3,
            2.121_379_430_158_66e4,
            3.930_789_580_009_271e4,
            2.872_908_573_572_194_3e4,
            5.226_495_278_852_854e3,
        ],
    ];
    const TAIL: [[f64; 8]; 2] = [
        [
            1.423_437_110_749_683_5,
            4.630_337_846_156_546,
            5.769_497_221_460_691,
            3.647_848_324_763_204_5,
            1.270_458_252_452_368_4,
            2.417_807_251_774_506e-1,
            2.272_384_498_926_918_4e-2,
            7.745_450_142_783_414e-4,
        ],
        [
            1.0,
            2.053_191_626_637_759,
            1.676_384_830_183_803_8,
            6.897_673_349_851e-1,
            1.481_039_764_274_800_8e-1,
            1.519_866_656_361_645_7e-2,
            5.475_938_084_995_345e-4,
            1.050_750_071_644_416_9e-9,
        ],
    ];
    const FAR_TAIL: [[f64; 8]; 2] = [
        [
            6.657_904_643_501_103,
            5.463_784_911_164_114,
            1.784_826_539_917_291_3,
            2.965_605_718_285_048_7e-1,
            2.653_218_952_657_612_4e-2,
            1.242_660_947_388_078_4e-3,
            2.711_555_568_743_487_6e-5,
            2.010_334_399_292_288_1e-7,
        ],
        [
            1.0,
            5.998_322_065_558_88e-1,
            1.369_298_809_227_358e-1,
            1.487_536_129_085_061_5e-2,
            7.868_691_311_456_133e-4,
            1.846_318_317_510_054_8e-5,
            1.421_511_758_316_446e-7,
            2.044_263_103_389_939_8e-15,
        ],
    ];
    let ratio = |[above, below]: [[f64; 8]; 2], x: f64| {
        let polynomial = |coefficients: [f64; 8]| coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c);
        polynomial(above) / polynomial(below)
    };
    let from_centre = p - 0.5;
    if from_centre.abs() <= 0.425 {
        return from_centre * ratio(CENTRE, 0.180_625 - from_centre * from_centre);
    }
    let r = (-libm::log(p.min(1.0 - p).max(0.0))).sqrt();
    let z = match r {
        _ if r == f64::INFINITY => f64::INFINITY,
        _ if r <= 5.0 => ratio(TAIL, r - 1.6),
        _ => ratio(FAR_TAIL, r - 5.0),
    };
    z.copysign(from_centre)
}

/// Returns a uniform number, above 0 and below 1.
fn uniform(seed: u64, name: &str, run: usize) -> f64 {
    let digest = Sha256::digest(format!("{seed} {name} {run}"));
    let first: [u8; 8] = std::array::from_fn(|i| digest[i]);
    let n = u64::from_be_bytes(first) >> 12;
    (n as f64 + 0.5) / (1_u64 << 52) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(run: usize) -> RunIndex {
        RunIndex { run, points: 1 }
    }

    #[test]
    fn uniform_number_is_the_documented_one() {
        // printf '7 payload.mass 16' | sha256sum | cut -c 1-13
        let n = u64::from_str_radix("4b07386584b3a", 16).expect("13 hexadecimal digits");
        let u = Law::Uniform([0.0, 1.0]).value(7, "payload.mass", at(16));
        assert_eq!(u, (n as f64 + 0.5) / 2_f64.powi(52));
    }

    #[test]
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

    #[test]
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

    #[test]
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
