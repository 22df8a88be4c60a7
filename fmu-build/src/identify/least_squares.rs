//! Linear least squares with many equations and few unknowns.

use crate::error::{Error, Result};
use nalgebra::{DMatrix, DVector};

/// Equations `A x = b`, reduced to a triangular system as they are added.
pub struct LeastSquares {
    /// `[R z]` with `‖A x − b‖² = ‖R x − z‖² + const`.
    triangle: DMatrix<f64>,
}

/// Singular values of columns of unit norm below this part of the largest are those of round-off and
/// of the accuracy of the sensitivities.
const ROUND_OFF: f64 = 1e-7;

impl LeastSquares {
    /// Begins without equations for `n` unknowns.
    pub fn new(n: usize) -> Self {
        Self {
            triangle: DMatrix::zeros(n + 1, n + 1),
        }
    }

    /// Adds equations: the rows of `[A b]`.
    pub fn add(&mut self, rows: DMatrix<f64>) {
        let n = self.triangle.nrows();
        let mut stacked = DMatrix::zeros(n + rows.nrows(), n);
        stacked.rows_mut(0, n).copy_from(&self.triangle);
        stacked.rows_mut(n, rows.nrows()).copy_from(&rows);
        self.triangle = stacked.qr().r();
    }

    /// Fixes unknown `i` at zero.
    pub fn fix(&mut self, i: usize) {
        self.triangle.column_mut(i).fill(0.0);
    }

    /// Solves the equations.
    ///
    /// # Errors
    /// The singular values do not converge.
    pub fn solve(&self) -> Result<Solution> {
        let n = self.triangle.nrows() - 1;
        let mut R = self.triangle.view((0, 0), (n, n)).into_owned();
        let z = self.triangle.view((0, n), (n, 1)).into_owned();
        // Collinearity decides, not the different scales of the columns.
        let scales: Vec<f64> = R.column_iter().map(|column| column.norm()).collect();
        for (mut column, &scale) in R.column_iter_mut().zip(&scales) {
            if scale > 0.0 {
                column /= scale;
            }
        }
        let unscaled = DVector::from_iterator(
            n,
            scales.iter().map(|&scale| if scale > 0.0 { 1.0 / scale } else { 1.0 }),
        );
        let svd = R.try_svd(true, true, f64::EPSILON, 10_000);
        let none = || Error::Numerics("the singular values of the sensitivities do not converge".to_owned());
        let svd = svd.ok_or_else(none)?;
        let (U, V) = (svd.u.ok_or_else(none)?, svd.v_t.ok_or_else(none)?.transpose());
        let limit = ROUND_OFF * svd.singular_values.max();
        let c = U.transpose() * z;
        let mut solution = Solution {
            x: DVector::zeros(n),
            covariance: DMatrix::zeros(n, n),
            undetermined: Vec::new(),
            decrease: 0.0,
        };
        for (k, &singular) in svd.singular_values.iter().enumerate() {
            let v = V.column(k).component_mul(&unscaled);
            if singular > limit {
                solution.x += &v * (c[k] / singular);
                solution.covariance += &v * v.transpose() / (singular * singular);
                solution.decrease += c[k] * c[k];
            } else {
                let length = v.norm();
                solution.undetermined.push(v / length);
            }
        }
        Ok(solution)
    }

    /// Returns `Aᵀ A`.
    pub fn information(&self) -> DMatrix<f64> {
        let n = self.triangle.nrows() - 1;
        let R = self.triangle.view((0, 0), (n, n));
        R.transpose() * R
    }
}

/// Solution of least squares.
pub struct Solution {
    /// The solution; of undetermined directions, with the least norm of the scaled unknowns.
    pub x: DVector<f64>,
    /// `(Aᵀ A)⁻¹` in the directions that the equations determine.
    pub covariance: DMatrix<f64>,
    /// Unit vectors of directions without effect.
    pub undetermined: Vec<DVector<f64>>,
    /// `‖b‖² − ‖A x − b‖²`.
    pub decrease: f64,
}
