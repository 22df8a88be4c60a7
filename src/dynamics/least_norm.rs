//! The least-norm solution of `W λ = b` for a symmetric positive semidefinite `W` of known rank.

use crate::algebra::Scalar;

/// Pivot, relative to the scale of its row, below which the rank of `W` has dropped.
const NO_PIVOT: f64 = 1e-13;

/// Squared sine of the angle between a row and the others below which the row is redundant.
const REDUNDANT: f64 = 1e-11;

/// Squared norm of a row, relative to the largest, below which the row is round-off.
const NO_ROW: f64 = 1e-14;

/// Solver for `W⁺ b`, by a pivoted Cholesky factorisation and an orthonormal basis of its columns:
///
/// ```text
///     W = L Lᵀ,   L = Q R   (n × r, QᵀQ = 1, R upper triangular)         (1)
///     W⁺ = Q R⁻ᵀ R⁻¹ Qᵀ                                                  (2)
/// ```
///
/// With full rank `L` is triangular, and `W⁺ = L⁻ᵀ L⁻¹` needs no basis.
///
/// The result is the solution of least norm, for a `b` outside the range of `W` that for the
/// projection of `b`. The selection of pivots affects only its round-off. With dual numbers, the
/// derivatives are exact while the rank is constant.
#[derive(Clone, Debug)]
pub struct LeastNorm<S: Scalar> {
    /// Number of rows of `W`.
    n: usize,
    /// Number of pivots.
    rank: usize,
    /// Row of each pivot.
    pivots: Vec<usize>,
    /// Column-major: `L` with full rank, else `L`, then `Q`.
    Q: Vec<S>,
    /// `R`, row-major.
    R: Vec<S>,
    /// Diagonal entries of `W − L Lᵀ` with the columns of `L` so far: the next possible pivots.
    left: Vec<S>,
    /// Scale by which the pivot of each row is divided.
    scale: Vec<f64>,
    is_pivot: Vec<bool>,
    y: Vec<S>,
}

impl<S: Scalar> LeastNorm<S> {
    /// Allocates for up to `n` rows.
    pub fn new(n: usize) -> Self {
        Self {
            n: 0,
            rank: 0,
            pivots: vec![0; n],
            Q: vec![S::zero(); n * n],
            R: vec![S::zero(); n * n],
            left: vec![S::zero(); n],
            scale: vec![0.0; n],
            is_pivot: vec![false; n],
            y: vec![S::zero(); n],
        }
    }

    /// Factors `W` (`n × n`, row-major; only the lower triangle is read) with the given rank;
    /// returns the least pivot, each relative to the `responses` of its row: the largest response
    /// of the row's two bodies in any direction.
    ///
    /// # Errors
    /// The row with the largest remaining pivot, if that is round-off: the rank has dropped.
    pub fn factor(&mut self, W: &[S], n: usize, rank: usize, responses: &[f64]) -> Result<f64, usize> {
        self.begin(W, n, responses);
        let mut least = 1.0_f64;
        for _ in 0..rank {
            let (row, part) = self.next_pivot();
            if part.is_nan() || part <= NO_PIVOT {
                return Err(row);
            }
            least = least.min(part);
            self.eliminate(W, row);
        }
        if !self.is_regular() {
            self.orthonormalise();
        }
        Ok(least)
    }

    /// Returns the rank of the rows `J` from `J Jᵀ` (`n × n`, row-major; only the lower triangle is
    /// read). A relative pivot is the squared sine of the angle between a row and the preceding
    /// pivot rows.
    pub fn rank_of_rows(&mut self, JJ: &[S], n: usize) -> usize {
        let own = |i: usize| JJ[i * n + i].value();
        let largest = (0..n).map(own).fold(0.0, f64::max);
        (self.n, self.rank) = (n, 0);
        for i in 0..n {
            let scale = if own(i) > NO_ROW * largest { own(i) } else { largest };
            (self.left[i], self.is_pivot[i], self.scale[i]) = (JJ[i * n + i], false, scale);
        }
        while self.rank < n {
            let (row, part) = self.next_pivot();
            if part.is_nan() || part <= REDUNDANT {
                break;
            }
            self.eliminate(JJ, row);
        }
        self.rank
    }

    /// Returns, of the rows that are not pivots (redundant rows), the one with the largest relative
    /// pivot.
    pub fn next_row(&self) -> usize {
        self.next_pivot().0
    }

    /// Returns the row of the last pivot: the independent row nearest to linear dependence.
    pub fn last_pivot(&self) -> usize {
        self.rank.checked_sub(1).map_or(0, |k| self.pivots[k])
    }

    /// Returns true if the rank is full.
    fn is_regular(&self) -> bool {
        self.rank == self.n
    }

    fn begin(&mut self, W: &[S], n: usize, responses: &[f64]) {
        (self.n, self.rank) = (n, 0);
        for (i, &response) in responses[..n].iter().enumerate() {
            (self.left[i], self.is_pivot[i], self.scale[i]) = (W[i * n + i], false, response);
        }
    }

    /// Computes the next column of `L`, with the pivot in `row`.
    fn eliminate(&mut self, W: &[S], row: usize) {
        let (n, k) = (self.n, self.rank);
        let pivot = self.left[row].sqrt();
        let (done, rest) = self.Q.split_at_mut(k * n);
        let column = &mut rest[..n];
        for (j, entry) in column.iter_mut().enumerate() {
            *entry = W[j.max(row) * n + j.min(row)];
        }
        for known in done.chunks_exact(n) {
            let of_row = known[row];
            for (entry, &known) in column.iter_mut().zip(known) {
                *entry -= known * of_row;
            }
        }
        for (j, entry) in column.iter_mut().enumerate() {
            if j == row {
                *entry = pivot;
            } else if self.is_pivot[j] {
                *entry = S::zero();
            } else {
                *entry /= pivot;
                self.left[j] -= *entry * *entry;
            }
        }
        self.is_pivot[row] = true;
        self.pivots[k] = row;
        self.rank += 1;
    }

    /// Returns the largest relative pivot of the rows that are not pivots, zero without such rows:
    /// it is round-off unless redundant rows have become independent. Requires
    /// [`factor`](Self::factor).
    pub fn beyond(&self) -> f64 {
        if self.rank < self.n { self.next_pivot().1 } else { 0.0 }
    }

    /// Returns, of the rows that are not pivots yet, the one with the largest relative pivot, and
    /// that pivot.
    fn next_pivot(&self) -> (usize, f64) {
        let mut next = (0, f64::NEG_INFINITY);
        for i in (0..self.n).filter(|&i| !self.is_pivot[i]) {
            let part = self.left[i].value() / self.scale[i];
            if part > next.1 {
                next = (i, part);
            }
        }
        next
    }

    /// Computes `Q` and `R` of (1), by the modified Gram–Schmidt process with reorthogonalisation;
    /// `Q` replaces `L`.
    fn orthonormalise(&mut self) {
        let (n, r) = (self.n, self.rank);
        self.R[..r * r].fill(S::zero());
        for k in 0..r {
            let (done, rest) = self.Q.split_at_mut(k * n);
            let column = &mut rest[..n];
            for _ in 0..2 {
                for (m, unit) in done.chunks_exact(n).enumerate() {
                    let along = dot(unit, column);
                    self.R[m * r + k] += along;
                    for (x, &unit) in column.iter_mut().zip(unit) {
                        *x -= along * unit;
                    }
                }
            }
            let length = dot(column, column).sqrt();
            self.R[k * r + k] = length;
            column.iter_mut().for_each(|x| *x /= length);
        }
    }

    /// Replaces `b` by `W⁺ b`, by (2); requires [`factor`](Self::factor).
    pub fn solve(&mut self, b: &mut [S]) {
        if self.is_regular() {
            self.solve_regular(b);
            return;
        }
        let (n, r) = (self.n, self.rank);
        let columns = self.Q.chunks_exact(n.max(1));
        for (y, column) in self.y[..r].iter_mut().zip(columns) {
            *y = dot(column, b);
        }
        self.solve_upper();
        self.solve_lower();
        b.fill(S::zero());
        for (&y, column) in self.y[..r].iter().zip(self.Q.chunks_exact(n.max(1))) {
            for (b, &x) in b.iter_mut().zip(column) {
                *b += x * y;
            }
        }
    }

    /// Replaces `b` by `L⁻ᵀ L⁻¹ b`.
    fn solve_regular(&mut self, b: &mut [S]) {
        let columns = self.Q.chunks_exact(self.n.max(1)).zip(&self.pivots);
        for (y, (column, &row)) in self.y[..self.n].iter_mut().zip(columns.clone()) {
            *y = b[row] / column[row];
            for (b, &known) in b.iter_mut().zip(column) {
                *b -= known * *y;
            }
        }
        b.fill(S::zero());
        let columns = self.y[..self.n].iter().zip(columns);
        for (&y, (column, &row)) in columns.rev() {
            b[row] = (y - dot(column, b)) / column[row];
        }
    }

    /// Solves `R y = c`; `y` holds `c` before and the solution after the call.
    fn solve_upper(&mut self) {
        let r = self.rank;
        for k in (0..r).rev() {
            let known = (k + 1..r).map(|m| self.R[k * r + m] * self.y[m]);
            let sum = known.fold(self.y[k], |sum, known| sum - known);
            self.y[k] = sum / self.R[k * r + k];
        }
    }

    /// Solves `Rᵀ y = c`; `y` holds `c` before and the solution after the call.
    fn solve_lower(&mut self) {
        let r = self.rank;
        for k in 0..r {
            let known = (0..k).map(|m| self.R[m * r + k] * self.y[m]);
            let sum = known.fold(self.y[k], |sum, known| sum - known);
            self.y[k] = sum / self.R[k * r + k];
        }
    }
}

impl LeastNorm<f64> {
    /// Computes the unit eigenvector `u` of the least nonzero eigenvalue of `W` by inverse
    /// iteration and returns the square root of that eigenvalue; `None` without rows. Requires
    /// [`factor`](Self::factor).
    pub fn least_eigenvector(&mut self, u: &mut [f64]) -> Option<f64> {
        const ROUNDS: usize = 12;
        let (n, r) = (self.n, self.rank);
        if r == 0 {
            return None;
        }
        if self.is_regular() {
            return Some(self.least_of_regular(u, ROUNDS));
        }
        // An irregular start vector is very unlikely to be orthogonal to the eigenvector.
        self.y[..r].iter_mut().enumerate().for_each(|(k, y)| *y = irregular(k));
        let mut size = 0.0;
        for _ in 0..ROUNDS {
            let length = dot(&self.y[..r], &self.y[..r]).sqrt();
            self.y[..r].iter_mut().for_each(|y| *y /= length);
            self.solve_upper();
            self.solve_lower();
            size = dot(&self.y[..r], &self.y[..r]).sqrt();
        }
        u.fill(0.0);
        for (&y, column) in self.y[..r].iter().zip(self.Q.chunks_exact(n)) {
            for (u, &x) in u.iter_mut().zip(column) {
                *u += x * y / size;
            }
        }
        Some(size.recip().sqrt())
    }

    /// [`least_eigenvector`](Self::least_eigenvector) for full rank.
    fn least_of_regular(&mut self, u: &mut [f64], rounds: usize) -> f64 {
        u.iter_mut().enumerate().for_each(|(k, u)| *u = irregular(k));
        let mut size = dot(u, u).sqrt();
        for _ in 0..rounds {
            u.iter_mut().for_each(|u| *u /= size);
            self.solve_regular(u);
            size = dot(u, u).sqrt();
        }
        u.iter_mut().for_each(|u| *u /= size);
        size.recip().sqrt()
    }
}

/// Returns the component `k` of the start vector of inverse iteration.
fn irregular(k: usize) -> f64 {
    1.0 + 0.37 * libm::sin(k as f64 * 1.7)
}

/// Returns `a·b`, by four sums, since each addition would wait for the one before.
fn dot<S: Scalar>(a: &[S], b: &[S]) -> S {
    let (a, b) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest = a.remainder().iter().zip(b.remainder());
    let rest = rest.fold(S::zero(), |sum, (&a, &b)| sum + a * b);
    let mut sums = [S::zero(); 4];
    for (a, b) in a.zip(b) {
        for (sum, (&a, &b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(feature = "inside")]
#[allow(clippy::disallowed_methods)] // expected values
pub(super) mod tests {
    use super::*;
    use crate::algebra::Dual;
    use crate::larger::Larger;
    use crate::random::Sequence;
    use nalgebra::{DMatrix, DVector};

    unit_tests![
        solution_equals_the_pseudo_inverse_by_singular_values,
        derivatives_at_constant_rank_equal_differences,
        least_eigenvector_is_that_of_the_range,
    ];

    fn matrix(rng: &mut Sequence, n: usize, m: usize) -> DMatrix<f64> {
        DMatrix::from_fn(n, m, |_, _| rng.next_in(-1.0..1.0))
    }

    fn responses(W: &DMatrix<f64>) -> Vec<f64> {
        W.diagonal().iter().copied().collect()
    }

    fn lower(W: &DMatrix<f64>) -> Vec<f64> {
        // The upper triangle is not read.
        let n = W.nrows();
        let of = |k: usize| if k % n > k / n { f64::NAN } else { W[(k / n, k % n)] };
        (0..n * n).map(of).collect()
    }

    /// The reference is an independent computation: the pseudo-inverse by singular values. Random
    /// right-hand sides are outside the range of `W` if its rank is not full.
    fn solution_equals_the_pseudo_inverse_by_singular_values() {
        let mut rng = Sequence::new(30);
        let mut worst = 0.0;
        for case in 0..200 {
            let (n, r) = (2 + case % 9, 1 + case % 2 + case % 9 / 2);
            let (n, r) = (n.max(r), r.min(n));
            // Rows of a mechanism have different units and masses: scales from 0.1 to 10.
            let J = DMatrix::from_diagonal(&DVector::from_fn(n, |_, _| 10f64.powf(rng.next_in(-1.0..1.0))))
                * matrix(&mut rng, n, r)
                * matrix(&mut rng, r, r + 3);
            let W = &J * J.transpose();
            let b = matrix(&mut rng, n, 1).column(0).into_owned();
            let mut solver = LeastNorm::new(12);
            let least = solver.factor(&lower(&W), n, r, &responses(&W)).expect("of this rank");
            let mut x = b.clone();
            solver.solve(x.as_mut_slice());
            let svd = J.clone().svd(true, true);
            let cut = svd.singular_values.max() * 1e-12;
            let kept = svd.singular_values.iter().filter(|size| **size > cut);
            // The error of both methods is proportional to the condition number of W.
            let condition = svd.singular_values.max() / kept.fold(f64::INFINITY, |a, b| a.min(*b));
            let inverse = svd.pseudo_inverse(cut).expect("vectors");
            let expected = inverse.transpose() * (inverse * &b);
            let off = (&x - &expected).norm() / expected.norm() / condition.powi(2);
            worst = f64::larger(worst, off);
            assert!(least > 0.0 && solver.beyond() < 1e-11);
        }
        println!("off by {worst:.1e} of the solution over the condition (1e-13)");
        assert!(worst < 1e-13);
    }

    /// At constant rank, the derivatives by dual numbers equal finite differences of the solution.
    fn derivatives_at_constant_rank_equal_differences() {
        let mut rng = Sequence::new(31);
        let (n, r) = (7, 4);
        let (J, dJ) = (matrix(&mut rng, n, r), matrix(&mut rng, n, r));
        let (b, db) = (matrix(&mut rng, n, 1), matrix(&mut rng, n, 1));
        let W = |h: f64| {
            let J = &J + &dJ * h;
            &J * J.transpose()
        };
        let dW = &dJ * J.transpose() + &J * dJ.transpose();
        let at = |h: f64| {
            let mut solver = LeastNorm::new(n);
            solver.factor(&lower(&W(h)), n, r, &responses(&W(h))).expect("regular");
            let mut x = &b + &db * h;
            solver.solve(x.as_mut_slice());
            x
        };
        let W0 = W(0.0);
        let lifted: Vec<Dual<1>> = (0..n * n)
            .map(|k| Dual::new(W0[(k / n, k % n)], [dW[(k / n, k % n)]]))
            .collect();
        let mut x: Vec<Dual<1>> = b.iter().zip(&db).map(|(&b, &db)| Dual::new(b, [db])).collect();
        let mut solver = LeastNorm::new(n);
        solver.factor(&lifted, n, r, &responses(&W0)).expect("regular");
        solver.solve(&mut x);
        let h = 1e-5;
        let slope = (at(h) - at(-h)) / (2.0 * h);
        let off = x.iter().zip(&slope).map(|(x, slope)| (x.eps[0] - slope).abs());
        let off = off.fold(0.0, f64::larger) / slope.norm();
        println!("derivative off by {off:.1e} (1e-7, of differences)");
        assert!(off < 1e-7);
    }

    /// The least nonzero eigenvalue and its eigenvector equal those of a known decomposition.
    fn least_eigenvector_is_that_of_the_range() {
        let mut rng = Sequence::new(32);
        let n = 6;
        let basis = matrix(&mut rng, n, n).qr().q();
        let values = DVector::from_vec(vec![4.0, 2.0, 1.0, 0.04, 0.0, 0.0]);
        let W = &basis * DMatrix::from_diagonal(&values) * basis.transpose();
        let mut solver = LeastNorm::new(n);
        solver.factor(&lower(&W), n, 4, &responses(&W)).expect("of rank 4");
        let mut u = vec![0.0; n];
        let size = solver.least_eigenvector(&mut u).expect("rows");
        let along = DVector::from_vec(u.clone()).dot(&basis.column(3)).abs();
        assert!(
            (size - 0.2).abs() < 1e-12 && (along - 1.0).abs() < 1e-12,
            "{size} {along}"
        );
        assert!(solver.factor(&lower(&W), n, 5, &responses(&W)).is_err());
        let values = DVector::from_vec(vec![4.0, 2.0, 1.0, 0.04, 0.7, 0.5]);
        let W = &basis * DMatrix::from_diagonal(&values) * basis.transpose();
        solver.factor(&lower(&W), n, n, &responses(&W)).expect("of full rank");
        let size = solver.least_eigenvector(&mut u).expect("rows");
        let along = DVector::from_vec(u).dot(&basis.column(3)).abs();
        assert!((size - 0.2).abs() < 1e-12 && (along - 1.0).abs() < 1e-12);
    }
}
