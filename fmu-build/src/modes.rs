//! The modes of `ξ̇ = A ξ`: eigenvalues, and what takes part in each.
//!
//! Zeros are taken out first ([`zeros`](crate::zeros)); what is left is balanced, so that units do not matter.

use crate::zeros::Deflated;
use faer::linalg::solvers::DenseSolveCore;
use faer::{Mat, c64};
use grapple::plant::Linearisation;
use miette::{Report, Result, miette};
use nalgebra::linalg::balancing::balance_parlett_reinsch;
use nalgebra::{DMatrix, DVector};
use std::f64::consts::TAU;

/// A gain by which gaps are closed makes no more than that part of the eigenvalue of another mode: none at rest, and in a motion a little, since it is linearised as if it stood still. Of a mode of its own,
/// `λ² + 2αλ + β² = 0`, α or β makes a third at least.
const OF_GAINS: f64 = 0.25;

/// The modes of a linear craft.
pub struct Modes {
    /// How many eigenvalues are zero.
    pub zeros: usize,
    /// How many of these are zero to round-off only.
    pub numerical_zeros: usize,
    /// About the frequency, Hz, below which a mode would be counted as one of these.
    pub resolution: f64,
    /// The others, by rising frequency; of a conjugate pair the one with positive imaginary part.
    pub modes: Vec<Mode>,
}

/// One mode.
pub struct Mode {
    /// Real part of the eigenvalue `λ`, 1/s.
    pub real: f64,
    /// Its imaginary part, rad/s; not negative.
    pub imaginary: f64,
    /// Whether it is none of the craft, but of the gains by which gaps of captures or joints are closed.
    pub closes_gaps: bool,
    /// What part each coordinate with its rate has in it (`|uₖ wₖ|` of the right and left eigenvectors); they add up to one.
    pub participation: Vec<f64>,
    /// By what part of `|λ|` samples of the round-off of `A` change `λ`, the larger of two.
    pub round_off: f64,
    /// How strongly each input drives it (`|wᵀ b|`), the strongest as one.
    pub inputs: Vec<f64>,
}

impl Mode {
    /// `|λ|/2π`, Hz.
    pub fn frequency(&self) -> f64 {
        self.real.hypot(self.imaginary) / TAU
    }

    /// `−Re λ/|λ|`: zero without damping (to round-off), one and more where nothing swings, negative where it grows.
    pub fn damping(&self) -> f64 {
        let part = -self.real / self.real.hypot(self.imaginary);
        if part.abs() < 1e-9 { 0.0 } else { part }
    }

    /// What becomes of it.
    pub fn stability(&self) -> &'static str {
        match self.damping() {
            0.0 => "undamped",
            part if part > 0.0 => "stable",
            _ => "unstable",
        }
    }
}

/// What else is known of a linearised craft.
pub struct Known {
    /// Samples of the round-off of `A`.
    pub round_off: Vec<DMatrix<f64>>,
    /// Of the gains α and β, by which gaps of captures and joints are closed, the parts of `A` that they make.
    pub gains: Vec<DMatrix<f64>>,
}

impl Modes {
    /// Those of a linearised craft.
    ///
    /// # Errors
    /// If the eigenvalues do not converge.
    pub fn of(linear: &Linearisation, known: &Known) -> Result<Self> {
        let n = linear.A.nrows();
        let left = Deflated::of(&linear.A, &known.round_off)?;
        let size = left.A.nrows();
        let (balanced, scale) = balanced(left.A.clone());
        let eigen = Mat::from_fn(size, size, |i, k| balanced[(i, k)])
            .eigen()
            .map_err(not_found)?;
        let (values, U) = (eigen.S(), eigen.U());
        let W: Mat<c64> = U.partial_piv_lu().inverse();
        let round_off = size as f64 * f64::EPSILON * balanced.norm();
        // Multiple eigenvalues change by a root of the round-off, so first-order formulas do not
        // apply.
        let eigenvalues = |sample: &DMatrix<f64>| {
            let (balanced, _) = self::balanced(&left.A + sample);
            let moved = Mat::from_fn(size, size, |i, k| balanced[(i, k)]);
            moved.eigenvalues().map_err(not_found)
        };
        let moved: Vec<Vec<c64>> = left.samples.iter().take(2).map(eigenvalues).collect::<Result<_>>()?;
        let mode = |i: usize| {
            let of_left: Vec<c64> = (0..size).map(|k| W[(i, k)] / scale[k]).collect();
            let w: Vec<c64> = left
                .Y
                .column_iter()
                .map(|column| times(&of_left, column.as_slice()))
                .collect();
            let u = left.lift(values[i], (0..size).map(|k| U[(k, i)] * scale[k]).collect());
            let mut participation = vec![0.0; n / 2];
            for (k, (u, w)) in u.iter().zip(&w).enumerate() {
                participation[k % (n / 2)] += (u * w).norm();
            }
            let mut inputs: Vec<f64> = linear.B.column_iter().map(|b| times(&w, b.as_slice()).norm()).collect();
            to_one(&mut participation, |parts| parts.iter().sum());
            to_one(&mut inputs, |parts| parts.iter().copied().fold(0.0, f64::max));
            // With wᵀu = 1: what a gain makes of the eigenvalue.
            let made = |gain: &DMatrix<f64>| {
                let columns = gain.column_iter().zip(&u);
                let sum: c64 = columns.map(|(column, u)| u * times(&w, column.as_slice())).sum();
                sum.norm() / values[i].norm()
            };
            let c64 { re, im } = values[i];
            Mode {
                round_off: moved.iter().map(|moved| nearest(values[i], moved)).fold(0.0, f64::max) / values[i].norm(),
                real: if im > 0.0 && re.abs() < round_off { 0.0 } else { re },
                imaginary: im,
                closes_gaps: known.gains.iter().any(|gain| made(gain) > OF_GAINS),
                participation,
                inputs,
            }
        };
        let mut modes: Vec<Mode> = (0..size).filter(|&i| values[i].im >= 0.0).map(mode).collect();
        modes.sort_by(|a, b| a.frequency().total_cmp(&b.frequency()));
        Ok(Self {
            zeros: n - size,
            numerical_zeros: left.numerical,
            resolution: left.resolution / TAU,
            modes,
        })
    }
}

/// `A'` and the diagonal of `D`, `A = D A' D⁻¹`.
fn balanced(mut A: DMatrix<f64>) -> (DMatrix<f64>, DVector<f64>) {
    let scale = match A.nrows() {
        0 => DVector::zeros(0),
        _ => balance_parlett_reinsch(&mut A),
    };
    (A, scale)
}

fn not_found(error: impl std::fmt::Debug) -> Report {
    miette!("the eigenvalues cannot be found: {error:?}")
}

/// How far the nearest of these is.
fn nearest(value: c64, others: &[c64]) -> f64 {
    others
        .iter()
        .map(|other| (other - value).norm())
        .fold(f64::INFINITY, f64::min)
}

/// `wᵀ b`
fn times(w: &[c64], column: &[f64]) -> c64 {
    w.iter().zip(column).map(|(w, entry)| w * entry).sum()
}

fn to_one(parts: &mut [f64], size: impl Fn(&[f64]) -> f64) {
    let size = size(parts);
    if size > 0.0 && size.is_finite() {
        parts.iter_mut().for_each(|part| *part /= size);
    } else {
        parts.fill(0.0);
    }
}
