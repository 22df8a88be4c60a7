//! The modes of `ξ̇ = A ξ`: eigenvalues, and what takes part in each.
//!
//! `A` is balanced first, so that units do not matter. A coordinate on which nothing that is left depends (its column is zero: a
//! place in empty space, and then its velocity) gives an eigenvalue zero and is taken out; so the double zeros of a floating
//! craft come out as zeros, and not as the square roots of round-off that they are for a solver of eigenvalues.

use faer::Mat;
use faer::c64;
use faer::linalg::solvers::DenseSolveCore;
use grapple::plant::Linearisation;
use miette::{Result, miette};
use nalgebra::DMatrix;
use nalgebra::linalg::balancing::balance_parlett_reinsch;
use std::f64::consts::TAU;

/// A column is zero below that part of the largest entry: round-off of its computation.
const ZERO: f64 = 1e-13;

/// The modes of a linear craft.
pub struct Modes {
    /// How many eigenvalues are zero.
    pub zeros: usize,
    /// The others, by rising frequency; of a conjugate pair the one with positive imaginary part.
    pub modes: Vec<Mode>,
}

/// One mode.
pub struct Mode {
    /// Eigenvalue `λ`, 1/s.
    pub real: f64,
    /// Its imaginary part, rad/s; not negative.
    pub imaginary: f64,
    /// What part each coordinate with its rate has in it (`|uₖ wₖ|` of the right and left eigenvectors); they add up to one.
    pub participation: Vec<f64>,
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

impl Modes {
    /// Those of a linearised craft.
    ///
    /// # Errors
    /// If the eigenvalues do not converge.
    pub fn of(linear: &Linearisation) -> Result<Self> {
        let mut balanced = linear.A.clone();
        let n = balanced.nrows();
        // A = D A' D⁻¹.
        let scale = if n > 0 {
            balance_parlett_reinsch(&mut balanced)
        } else {
            nalgebra::DVector::zeros(0)
        };
        let left = depended_on(&balanced);
        let A = Mat::from_fn(left.len(), left.len(), |i, j| balanced[(left[i], left[j])]);
        let failed = |what: &str| miette!("the eigenvalues cannot be found: {what}");
        let eigen = A.eigen().map_err(|error| failed(&format!("{error:?}")))?;
        let (values, U) = (eigen.S(), eigen.U());
        let W: Mat<c64> = U.partial_piv_lu().inverse();
        let mut modes: Vec<Mode> = (0..left.len())
            .filter(|&i| values[i].im >= 0.0)
            .map(|i| {
                let mut participation = vec![0.0; n / 2];
                for (k, &state) in left.iter().enumerate() {
                    participation[state % (n / 2)] += (U[(k, i)] * W[(i, k)]).norm();
                }
                let drive = |column: usize| {
                    let terms = left.iter().enumerate();
                    let sum = terms.map(|(k, &state)| W[(i, k)] * (linear.B[(state, column)] / scale[state]));
                    sum.fold(c64::new(0.0, 0.0), |sum, term| sum + term).norm()
                };
                let mut inputs: Vec<f64> = (0..linear.B.ncols()).map(drive).collect();
                to_one(&mut participation, |parts| parts.iter().sum());
                to_one(&mut inputs, |parts| parts.iter().copied().fold(0.0, f64::max));
                Mode {
                    real: values[i].re,
                    imaginary: values[i].im,
                    participation,
                    inputs,
                }
            })
            .collect();
        modes.sort_by(|a, b| a.frequency().total_cmp(&b.frequency()));
        Ok(Self {
            zeros: n - left.len(),
            modes,
        })
    }
}

/// The states on which something depends and that change, once the others have been taken out, again and again: a column or a row of zeros is an eigenvalue zero
/// by itself (a place in space, the rate of a locked joint).
fn depended_on(A: &DMatrix<f64>) -> Vec<usize> {
    let zero = ZERO * A.iter().fold(0.0, |largest: f64, entry| largest.max(entry.abs()));
    let mut left: Vec<usize> = (0..A.nrows()).collect();
    loop {
        let counts = |&state: &usize| {
            let depended = left.iter().any(|&row| A[(row, state)].abs() > zero);
            depended && left.iter().any(|&column| A[(state, column)].abs() > zero)
        };
        let next: Vec<usize> = left.iter().copied().filter(counts).collect();
        if next.len() == left.len() {
            return next;
        }
        left = next;
    }
}

fn to_one(parts: &mut [f64], size: impl Fn(&[f64]) -> f64) {
    let size = size(parts);
    if size > 0.0 && size.is_finite() {
        parts.iter_mut().for_each(|part| *part /= size);
    } else {
        parts.fill(0.0);
    }
}
