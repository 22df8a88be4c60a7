//! Dense linear systems, solved in place without allocation.
//!
//! nalgebra's `LU` takes ownership of its matrix and allocates a permutation at every
//! factorisation; [`Lu`] reuses its buffers.

use nalgebra::ComplexField;

/// LU factorisation `P A = L U` of a square matrix with partial pivoting.
///
/// Column-oriented, as in G. H. Golub, C. F. Van Loan, *Matrix Computations*, 4th edition, Johns
/// Hopkins 2013, Algorithm 3.4.1; row exchanges as in LAPACK's `getrf`.
///
/// The first states of a mechanism are coordinates, whose derivatives are rates: the first rows of
/// its matrices have few entries. They are eliminated without exchanges, as in the reduction of a
/// system of second order to its rates, and need no operations on entries that stay zero: a
/// factorisation takes about an eighth of the operations, a solution half of them. Round-off of
/// these unknowns is relative to the terms of their own equations.
#[derive(Clone, Debug)]
pub(super) struct Lu<S> {
    /// `L` (unit lower triangular) below the diagonal, `U` on and above it; column-major.
    factors: Vec<S>,
    /// Pivot row of each elimination step.
    exchanges: Vec<usize>,
    /// Largest entry of each row of the matrix.
    largest: Vec<f64>,
    /// The first rows, with few entries; one for each elimination step without exchange.
    leading: Vec<LeadingRow>,
}

/// Columns of the entries of a row of `U`, right of its diagonal.
#[derive(Clone, Debug)]
struct LeadingRow {
    columns: [usize; Self::MOST],
    count: usize,
    /// True if its column of `L` has entries in other leading rows.
    is_coupled: bool,
}

impl LeadingRow {
    /// Largest number of entries: attitudes have rows with three other components and three rates.
    const MOST: usize = 6;

    /// Smallest pivot without exchange, relative to the largest entry that could be the pivot; each
    /// entry relative to the largest one in its row.
    const PIVOT: f64 = 0.1;
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
            largest: vec![0.0; n],
            leading: Vec::with_capacity(n),
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
        self.largest.fill(0.0);
        for column in self.factors.chunks_exact(n.max(1)) {
            for (largest, entry) in self.largest.iter_mut().zip(column) {
                *largest = largest.max(entry.norm1());
            }
        }
        self.leading.clear();
        while let Some(row) = self.leading_row(self.leading.len()) {
            let k = self.leading.len();
            self.exchanges[k] = k;
            let (left, right) = self.factors.split_at_mut((k + 1) * n);
            let below = divide(&mut left[k * n + k..]);
            for column in &row.columns[..row.count] {
                let (above, rest) = right[(column - k - 1) * n + k..(column - k) * n].split_at_mut(1);
                subtract(rest, above[0], below);
            }
            self.leading.push(row);
        }
        let m = self.leading.len();
        for (k, row) in self.leading.iter_mut().enumerate() {
            row.is_coupled = self.factors[k * n + k + 1..k * n + m].iter().any(|l| *l != S::zero());
        }
        for k in m..n {
            self.exchange(k)?;
            let (left, right) = self.factors.split_at_mut((k + 1) * n);
            let below = divide(&mut left[k * n + k..]);
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

    /// Returns the number of rows eliminated without exchanges.
    #[cfg(feature = "inside")]
    pub fn leading_count(&self) -> usize {
        self.leading.len()
    }

    /// Returns row `k` of `U` in elimination step `k` without exchange; `None` if it has too many
    /// entries or its pivot is too small.
    fn leading_row(&self, k: usize) -> Option<LeadingRow> {
        let n = self.exchanges.len();
        let mut row = LeadingRow {
            columns: [0; LeadingRow::MOST],
            count: 0,
            is_coupled: false,
        };
        for column in k + 1..n {
            if self.factors[column * n + k] != S::zero() {
                *row.columns.get_mut(row.count)? = column;
                row.count += 1;
            }
        }
        let relative = |i: usize| self.factors[k * n + i].norm1() / self.largest[i];
        let pivot = if k < n { relative(k) } else { 0.0 };
        let is_large = (k + 1..n).all(|i| pivot >= LeadingRow::PIVOT * relative(i) || self.largest[i] == 0.0);
        (pivot > 0.0 && pivot.is_finite() && is_large).then_some(row)
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
        for (k, &row) in self.exchanges.iter().enumerate() {
            b.swap(k, row);
        }
        let (n, m) = (self.exchanges.len(), self.leading.len());
        let column = |k: usize| &self.factors[k * n..(k + 1) * n];
        let (leading, others) = b.split_at_mut(m);
        for (k, _) in self.leading.iter().enumerate().filter(|(_, row)| row.is_coupled) {
            let (known, below) = leading.split_at_mut(k + 1);
            subtract(below, known[k], &column(k)[k + 1..m]);
        }
        // Each pass over the right-hand side subtracts four columns; remaining columns are
        // subtracted one by one.
        let (fours, rest) = leading.as_chunks::<BLOCK>();
        for (block, known) in fours.iter().enumerate() {
            subtract_block(others, known, std::array::from_fn(|k| &column(BLOCK * block + k)[m..]));
        }
        for (known, k) in rest.iter().zip(m - rest.len()..) {
            subtract(others, *known, &column(k)[m..]);
        }
        self.solve_others(others);
        for (k, row) in self.leading.iter().enumerate().rev() {
            let sum = |sum, &column: &usize| sum - self.factors[column * n + k] * b[column];
            b[k] = row.columns[..row.count].iter().fold(b[k], sum) / self.factors[k * n + k];
        }
    }

    /// Solves for the unknowns after the leading ones, by the lower right part of the factors.
    fn solve_others(&self, b: &mut [S]) {
        let (m, n) = (self.leading.len(), b.len());
        let column = |k: usize| &self.factors[(m + k) * (m + n) + m..(m + k + 1) * (m + n)];
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

/// Divides the entries below a pivot by it and returns them.
fn divide<S: ComplexField + Copy>(column: &mut [S]) -> &[S] {
    let (pivot, below) = column.split_at_mut(1);
    let inverse = pivot[0].recip();
    below.iter_mut().for_each(|l| *l *= inverse);
    below
}

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
