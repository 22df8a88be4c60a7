//! Projector onto the null space of a matrix.

use super::damped::{MOST_SWEEPS, jacobi_rotation};
use super::{Scalar, spd};

/// Orthogonal projector `P = I − Aᵀ (A Aᵀ)⁻¹ A` onto the null space of a matrix `A` with `m ≤ 6`
/// rows, of any rank.
///
/// Jacobi rotations of the rows make them orthogonal (M. R. Hestenes, *J. SIAM* 6 (1958) 51–90);
/// their lengths then are the singular values. Rows shorter than a given length are omitted. The
/// rotations are constants in derivatives, which are exact where the rank is constant: the rows
/// that count span the row space of `A` in a neighbourhood.
#[derive(Debug)]
pub struct NullSpace<'a, S: Scalar> {
    /// Columns of `A` with rotated rows of unit length; zeros in rows that are omitted.
    columns: &'a [[S; 6]],
    rows: usize,
    /// Factors of `A Aᵀ`, with ones for rows that are omitted; `None` if it is not finite.
    factors: Option<[S; 36]>,
}

impl<'a, S: Scalar> NullSpace<'a, S> {
    /// Computes the projector for the matrix with these `columns`, of which the first `rows`
    /// entries count, and overwrites them. Singular values below `least` count as zero.
    pub fn new(columns: &'a mut [[S; 6]], rows: usize, least: f64) -> Self {
        orthogonalise(columns, rows);
        let mut gram = [S::zero(); 36];
        for i in 0..rows {
            let squares = columns.iter().map(|column| column[i] * column[i]);
            let square = squares.fold(S::zero(), |sum, square| sum + square);
            let length = square.value().sqrt();
            let scale = S::lift(if length > least { 1.0 / length } else { 1.0 });
            let is_omitted = (S::lift(least * least) - square).exceeds(0.0);
            for column in &mut *columns {
                column[i] = S::select(is_omitted, S::zero(), column[i] * scale);
            }
            gram[i * rows + i] = S::select(is_omitted, S::one(), S::zero());
        }
        for i in 0..rows {
            for j in 0..=i {
                let products = columns.iter().map(|column| column[i] * column[j]);
                gram[i * rows + j] = products.fold(gram[i * rows + j], |sum, product| sum + product);
            }
        }
        let factored = spd::factor(&mut gram[..rows * rows], rows);
        Self {
            columns,
            rows,
            factors: factored.is_ok().then_some(gram),
        }
    }

    /// Returns row `i` of `P`; NaN for a matrix that is not finite.
    pub fn row(&self, i: usize) -> impl Iterator<Item = S> {
        let mut y = self.columns[i];
        match &self.factors {
            Some(factors) => spd::solve(&factors[..self.rows * self.rows], &mut y[..self.rows]),
            None => y.fill(S::lift(f64::NAN)),
        }
        self.columns.iter().enumerate().map(move |(j, column)| {
            let own = if i == j { S::one() } else { S::zero() };
            (0..self.rows).fold(own, |sum, k| sum - y[k] * column[k])
        })
    }
}

impl NullSpace<'_, f64> {
    /// Replaces the columns of `A`, those of the constructor, by the derivatives of the sum
    /// `Σ P_ij bar_ij` with respect to them,
    ///
    /// ```text
    ///     Ā = −(A⁺)ᵀ (bar + barᵀ) P
    /// ```
    ///
    /// `bar(i, j)` returns the weight of an entry; `columns` is workspace of the same size.
    pub fn differentiate(&self, bar: impl Fn(usize, usize) -> f64, A: &mut [[f64; 6]], columns: &mut [[f64; 6]]) {
        let (n, rows) = (A.len(), self.rows);
        let dot = |i: usize, column: &dyn Fn(usize) -> f64| (0..n).map(|k| self.columns[k][i] * column(k)).sum::<f64>();
        // Unit rows of the row space, times the symmetric weights.
        for (j, column) in columns.iter_mut().enumerate() {
            *column = std::array::from_fn(|i| match i < rows {
                true => dot(i, &|k| bar(k, j) + bar(j, k)),
                false => 0.0,
            });
        }
        // Times P.
        let mut parts = [[0.0; 6]; 6];
        for (i, parts) in parts.iter_mut().enumerate().take(rows) {
            *parts = std::array::from_fn(|m| if m < rows { dot(m, &|k| columns[k][i]) } else { 0.0 });
        }
        for (column, unit) in columns.iter_mut().zip(self.columns) {
            for i in 0..rows {
                column[i] -= (0..rows).map(|m| parts[i][m] * unit[m]).sum::<f64>();
            }
        }
        // The left singular vector of a unit row `q` is `A q/σ`, of the length 1.
        let mut images = [[0.0; 6]; 6];
        for (i, image) in images.iter_mut().enumerate().take(rows) {
            let product: [f64; 6] = std::array::from_fn(|r| dot(i, &|k| A[k][r]));
            let square = product.iter().map(|entry| entry * entry).sum::<f64>();
            *image = product.map(|entry| if square > 0.0 { entry / square } else { 0.0 });
        }
        for (to, column) in A.iter_mut().zip(columns) {
            *to = std::array::from_fn(|r| -(0..rows).map(|i| images[i][r] * column[i]).sum::<f64>());
        }
    }
}

/// Product of two rows relative to that of their lengths below which they are orthogonal.
const ORTHOGONAL: f64 = 1e-15;

/// Rotates the rows of the matrix with these columns by pairs until they are orthogonal.
fn orthogonalise<S: Scalar>(columns: &mut [[S; 6]], rows: usize) {
    for _ in 0..MOST_SWEEPS {
        let mut rotated = false;
        for p in 0..rows {
            for q in p + 1..rows {
                let product = |i: usize, j: usize| {
                    let each = columns.iter().map(|column| column[i].value() * column[j].value());
                    each.sum::<f64>()
                };
                let (first, second, off) = (product(p, p), product(q, q), product(p, q));
                let is_off = off.abs() > ORTHOGONAL * (first * second).sqrt();
                if !is_off {
                    continue;
                }
                rotated = true;
                let [c, s] = jacobi_rotation(first, second, off).map(S::lift);
                for column in &mut *columns {
                    let (x, y) = (column[p], column[q]);
                    (column[p], column[q]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
        if !rotated {
            break;
        }
    }
}
