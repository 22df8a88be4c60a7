//! The modes of `ξ̇ = A ξ`: eigenvalues and participation factors.
//!
//! Zero eigenvalues are deflated first (module `zeros`). The smaller matrix that remains is
//! balanced, so that the units of the coordinates do not matter.

use crate::error::Result;
use crate::zeros::{Deflated, not_found};
use faer::linalg::solvers::DenseSolveCore;
use faer::{Mat, c64};
use grapple::plant::Linearisation;
use nalgebra::linalg::balancing::balance_parlett_reinsch;
use nalgebra::{DMatrix, DVector};
use std::f64::consts::TAU;

/// Share of a stabilisation gain in an eigenvalue above which the mode belongs to the constraint
/// stabilisation. In a mode of the stabilisation, `λ² + 2αλ + β² = 0`, the share of α or of β is at
/// least a third. In other modes the shares are zero at rest, and small in motion.
const OF_GAINS: f64 = 0.25;

/// The modes of a linearised model.
pub struct Modes {
    /// Number of zero eigenvalues.
    pub zeros: usize,
    /// Number of zero eigenvalues that are zero within round-off only, not exactly.
    pub numerical_zeros: usize,
    /// Approximate frequency, Hz, below which a mode would be counted as zero within round-off.
    pub resolution: f64,
    /// Modes of the other eigenvalues, by rising frequency: one for each real eigenvalue and one
    /// for each conjugate pair, that with positive imaginary part.
    pub modes: Vec<Mode>,
}

/// One mode.
pub struct Mode {
    /// Real part of the eigenvalue `λ`, 1/s.
    pub real: f64,
    /// Imaginary part of `λ`, rad/s; not negative.
    pub imaginary: f64,
    /// Set for a mode of the constraint stabilisation (of captures, loops or joints), which is not
    /// a vibration of the spacecraft.
    pub closes_gaps: bool,
    /// Participation factor of each coordinate together with its rate (`|uₖ wₖ|` of the right and
    /// left eigenvectors `u` and `w`), then of each current; the sum is one.
    pub participation: Vec<f64>,
    /// Relative change of `λ` by round-off of `A`: the larger of the changes by two samples.
    pub round_off: f64,
    /// Strength `|wᵀ b|` with which each input excites the mode (`b` its column of `B`), scaled to
    /// a maximum of one.
    pub inputs: Vec<f64>,
}

impl Mode {
    /// Returns `|λ|/2π`, Hz.
    pub fn frequency(&self) -> f64 {
        libm::hypot(self.real, self.imaginary) / TAU
    }

    /// Returns `−Re λ/|λ|`: zero without damping (up to round-off), one and more for an aperiodic
    /// mode, negative for a growing one.
    pub fn damping(&self) -> f64 {
        let part = -self.real / libm::hypot(self.real, self.imaginary);
        if part.abs() < 1e-9 { 0.0 } else { part }
    }

    /// Returns the stability as text.
    pub fn stability(&self) -> &'static str {
        match self.damping() {
            0.0 => "undamped",
            part if part > 0.0 => "stable",
            _ => "unstable",
        }
    }
}

/// Changes and parts of `A` by which its eigenvalues are assessed.
pub struct Perturbations {
    /// Samples of the round-off of `A`.
    pub round_off: Vec<DMatrix<f64>>,
    /// Parts of `A` that come from the stabilisation gains α and β of captures and joints.
    pub gains: Vec<DMatrix<f64>>,
}

impl Modes {
    /// Computes the modes of a linearised model.
    ///
    /// # Errors
    /// If the eigenvalues do not converge.
    pub fn of(linear: &Linearisation, perturbations: &Perturbations) -> Result<Self> {
        let n = linear.A.nrows();
        let left = Deflated::of(&linear.A, &perturbations.round_off)?;
        let size = left.A.nrows();
        let (balanced, scale) = balanced(left.A.clone());
        let eigen = Mat::from_fn(size, size, |i, k| balanced[(i, k)])
            .eigen()
            .map_err(|error| not_found("eigenvalues", error))?;
        let (values, U) = (eigen.S(), eigen.U());
        let W: Mat<c64> = U.partial_piv_lu().inverse();
        let round_off = size as f64 * f64::EPSILON * balanced.norm();
        // Multiple eigenvalues change by a root of the round-off, so first-order formulas do not
        // apply: the eigenvalues of the changed matrices are computed.
        let eigenvalues = |sample: &DMatrix<f64>| {
            let (balanced, _) = self::balanced(&left.A + sample);
            let moved = Mat::from_fn(size, size, |i, k| balanced[(i, k)]);
            moved.eigenvalues().map_err(|error| not_found("eigenvalues", error))
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
            let mut participation = vec![0.0; n - linear.pairs];
            for (k, (u, w)) in u.iter().zip(&w).enumerate() {
                participation[linear.participant(k)] += (u * w).norm();
            }
            let mut inputs: Vec<f64> = linear.B.column_iter().map(|b| times(&w, b.as_slice()).norm()).collect();
            to_one(&mut participation, |parts| parts.iter().sum());
            to_one(&mut inputs, |parts| parts.iter().copied().fold(0.0, f64::max));
            // Share in the eigenvalue of a gain, by its part of `A`: `|wᵀ A_gain u / λ|`, with
            // `wᵀ u = 1`.
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
                closes_gaps: perturbations.gains.iter().any(|gain| made(gain) > OF_GAINS),
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

/// Returns `A'` and the diagonal of `D` with `A = D A' D⁻¹`.
fn balanced(mut A: DMatrix<f64>) -> (DMatrix<f64>, DVector<f64>) {
    let scale = match A.nrows() {
        0 => DVector::zeros(0),
        _ => balance_parlett_reinsch(&mut A),
    };
    (A, scale)
}

/// Returns the distance of a value to the nearest of the others.
fn nearest(value: c64, others: &[c64]) -> f64 {
    others
        .iter()
        .map(|other| (other - value).norm())
        .fold(f64::INFINITY, f64::min)
}

/// Returns `wᵀ b`.
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
