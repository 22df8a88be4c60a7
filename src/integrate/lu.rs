//! Dense linear systems, solved in place without allocation.
//!
//! nalgebra's `LU` takes ownership of its matrix and allocates a permutation at every
//! factorisation; [`Lu`] reuses its buffers.

use nalgebra::ComplexField;

/// LU factorisation `P A = L U` of a square matrix with partial pivoting.
///
/// Column-oriented, as in G. H. Golub, C. F. Van Loan, *Matrix Computations*, 4th edition, Johns
/// Hopkins 2013, Algorithm 3.4.1; row exchanges as in LAPACK's `getrf`.
#[derive(Clone, Debug)]
pub(super) struct Lu<S> {
    /// `L` (unit lower triangular) below the diagonal, `U` on and above it; column-major.
    factors: Vec<S>,
    /// Pivot row of each elimination step.
    exchanges: Vec<usize>,
}

/// Error: the matrix is singular or not finite.
#[derive(Debug)]
pub(super) struct SingularMatrix;

impl<S: ComplexField<RealField = f64> + Copy> Lu<S> {
    /// Allocates for `n` unknowns.
    pub fn new(n: usize) -> Lu<S> {
        Lu {
            factors: vec![S::zero(); n * n],
            exchanges: vec![0; n],
        }
    }

    /// Factors `shift·I + scale·J`, with column-major `J`.
    ///
    /// # Errors
    /// [`SingularMatrix`]; the factors are then invalid.
    pub fn factor(&mut self, shift: S, scale: f64, jacobian: &[f64]) -> Result<(), SingularMatrix> {
        let n = self.exchanges.len();
        for (entry, j) in self.factors.iter_mut().zip(jacobian) {
            *entry = S::from_real(scale * j);
        }
        for diagonal in self.factors.iter_mut().step_by(n + 1) {
            *diagonal += shift;
        }
        for k in 0..n {
            self.exchange(k)?;
            let (left, right) = self.factors.split_at_mut((k + 1) * n);
            let (pivot, below) = left[k * n + k..].split_at_mut(1);
            let inverse = pivot[0].recip();
            below.iter_mut().for_each(|l| *l *= inverse);
            for column in right.chunks_exact_mut(n) {
                // Zeros are skipped: the Jacobian of a mechanism has many.
                if column[k] != S::zero() {
                    let (above, rest) = column[k..].split_at_mut(1);
                    subtract(rest, above[0], below);
                }
            }
        }
        Ok(())
    }

    /// Exchanges rows so that the largest entry of column `k` on or below the diagonal is on the
    /// diagonal.
    fn exchange(&mut self, k: usize) -> Result<(), SingularMatrix> {
        let n = self.exchanges.len();
        let mut largest = (k, 0.0);
        for (row, entry) in self.factors[k * n..(k + 1) * n].iter().enumerate().skip(k) {
            if entry.norm1() > largest.1 {
                largest = (row, entry.norm1());
            }
        }
        if !(largest.1 > 0.0 && largest.1.is_finite()) {
            return Err(SingularMatrix);
        }
        self.exchanges[k] = largest.0;
        if largest.0 != k {
            for column in self.factors.chunks_exact_mut(n) {
                column.swap(k, largest.0);
            }
        }
        Ok(())
    }

    /// Replaces the right-hand side `b` by the solution; requires [`factor`](Self::factor).
    pub fn solve(&self, b: &mut [S]) {
        let n = self.exchanges.len();
        for (k, &row) in self.exchanges.iter().enumerate() {
            b.swap(k, row);
        }
        let column = |k: usize| &self.factors[k * n..(k + 1) * n];
        // Each pass over the right-hand side subtracts four columns; remaining columns are
        // subtracted one by one.
        let (fours, rest) = ((0..n / BLOCK).map(|block| BLOCK * block), n / BLOCK * BLOCK..n);
        for first in fours.clone() {
            let columns: [&[S]; BLOCK] = std::array::from_fn(|k| &column(first + k)[first..]);
            let (known, below) = b[first..].split_at_mut(BLOCK);
            for k in 0..BLOCK {
                let x = known[k];
                for i in k + 1..BLOCK {
                    known[i] -= x * columns[k][i];
                }
            }
            subtract_block(below, known, columns.map(|column| &column[BLOCK..]));
        }
        for k in rest.clone() {
            let (known, below) = b.split_at_mut(k + 1);
            subtract(below, known[k], &column(k)[k + 1..]);
        }
        for k in rest.rev() {
            let (above, known) = b.split_at_mut(k);
            known[0] /= column(k)[k];
            subtract(above, known[0], &column(k)[..k]);
        }
        for first in fours.rev() {
            let columns: [&[S]; BLOCK] = std::array::from_fn(|k| &column(first + k)[..first + BLOCK]);
            let (above, known) = b[..first + BLOCK].split_at_mut(first);
            for k in (0..BLOCK).rev() {
                known[k] /= columns[k][first + k];
                let x = known[k];
                for i in 0..k {
                    known[i] -= x * columns[k][first + i];
                }
            }
            subtract_block(above, known, columns.map(|column| &column[..first]));
        }
    }
}

/// Number of columns subtracted in one pass.
const BLOCK: usize = 4;

/// Computes `y −= a x`.
fn subtract<S: ComplexField + Copy>(y: &mut [S], a: S, x: &[S]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y -= a * *x;
    }
}

/// Computes `y −= Σ aₖ xₖ`.
fn subtract_block<S: ComplexField + Copy>(y: &mut [S], a: &[S], [x0, x1, x2, x3]: [&[S]; BLOCK]) {
    let columns = x0.iter().zip(x1).zip(x2).zip(x3);
    for (y, (((x0, x1), x2), x3)) in y.iter_mut().zip(columns) {
        *y = *y - a[0] * *x0 - a[1] * *x1 - a[2] * *x2 - a[3] * *x3;
    }
}
