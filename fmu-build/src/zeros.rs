//! Zero eigenvalues, found by numerical rank and deflated.
//!
//! A free-floating spacecraft has zero eigenvalues in chains: the dynamics do not depend on its
//! position, and a velocity changes the position only. In an eigenvalue solver, round-off turns the
//! two zeros of a chain into values of its square root: 1e-8 of the fastest mode, and perhaps
//! unstable.
//! Therefore the null space of `A` is deflated. This leaves a smaller matrix (1), the *remaining
//! matrix*, whose null space is deflated as well, and so on until it is regular (the staircase of
//! V. N. Kublanovskaya, *USSR Comput. Math. Math. Phys.* 6 (1966)): each step removes one zero
//! eigenvalue for each dimension of the null space, and changes no other eigenvalue.
//!
//! Let `P` be as many coordinates as the null space has dimensions, `R` the others; the null space
//! is `x_R = M x_P`. The coordinates `y = x_R − M x_P` are zero on it:
//!
//! ```text
//!     ẏ = (A_RR − M A_PR) y                           (1)
//!     left eigenvectors    w_R = w,  w_P = −Mᵀ w      (2)
//!     right eigenvectors   x_P = A_PR u / λ,  x_R = u + M x_P    (3)
//! ```
//!
//! # Zero or slow
//!
//! A slow mode next to a stiff one also has a small singular value, so a small singular value only
//! makes a direction a candidate. Rows and columns are scaled by powers of two. With orthonormal
//! bases `U`, `V` of the left and right candidates,
//!
//! ```text
//!     G = Uᵀ A V = P Γ Qᵀ,    U ← U P,  V ← V Q       (4)
//! ```
//!
//! by compensated sums. (4) is stationary in `U` and `V`, so the errors of the singular vectors
//! enter squared, and `γ_j` is exact up to the round-off of `A` itself. That round-off is sampled:
//! each [sample](Deflated::of) `δA` is a change of `A` of the size of its round-off, and it changes
//! `γ_j` by `δ_j = u_jᵀ δA v_j`. A candidate is zero if `γ_j` is below [`UNITS`] times the root
//! mean square of its `δ_j`, and otherwise a finite mode. (The singular values are those of the
//! scaled matrix. The scales include the round-off of every entry, since in a slender beam the
//! round-off of the axial stiffness exceeds the bending stiffness.) Samples are propagated to the
//! remaining matrix to first order:
//!
//! ```text
//!     δA' = δA_RR − M δA_PR − δM A_PR,    δX = −A⁺ δA X,  X = [M; 1]          (5)
//! ```
//!
//! # Modes that are too slow
//!
//! A mode whose `γ_j` is below the round-off cannot be distinguished from zero. The rate up to
//! which this happens is estimated from the bifurcation equation of the candidates with `g` =
//! [`UNITS`] times the root mean square:
//!
//! ```text
//!     det(diag(g) − λ Uᵀ V − λ² Uᵀ A⁺ V) = 0                                   (6)
//! ```

use crate::error::{Error, Result};
use faer::{Mat, c64};
use nalgebra::{DMatrix, DVector};

/// Multiple of `n ε`, for `n` rows, up to which a singular value of the scaled matrix makes its
/// direction a candidate. This exceeds the round-off of the singular values themselves.
const CANDIDATE: f64 = 30.0;

/// Multiple of the root mean square of its `δ_j` up to which a candidate's `γ_j` counts as zero.
/// Zeros of the examples, at rest and in motion, have multiples up to 3; the slowest modes of
/// slender rods and of ANCF beams in orbit more than 7e4.
const UNITS: f64 = 30.0;

/// Factor on the rate of (6), which neglects the changes of `U` and `V` along with `λ`: the ratio of
/// the fastest mode that counts as zero to that rate is at most 1.03 in 720 random matrices, and 1.3
/// if round-off of plain sums is added to them.
const MARGIN: f64 = 2.0;

/// A matrix with its zero eigenvalues deflated.
pub struct Deflated {
    /// The remaining matrix: regular, with the nonzero eigenvalues.
    pub A: DMatrix<f64>,
    /// Maps the original coordinates to the remaining ones, `y = Y x`.
    pub Y: DMatrix<f64>,
    /// Change of the remaining matrix by each sample of the original matrix's round-off.
    pub samples: Vec<DMatrix<f64>>,
    /// Number of deflated eigenvalues that are zero within round-off only. The other deflated
    /// eigenvalues are exactly zero, by empty rows or columns.
    pub numerical: usize,
    /// Rate `|λ|` (1/s) below which a mode may count as zero within round-off.
    pub resolution: f64,
    steps: Vec<Step>,
}

/// A deflated null space: its pivots `P`, the other coordinates `R`, and matrices of (3).
struct Step {
    pivots: Vec<usize>,
    rest: Vec<usize>,
    /// The matrix `M`.
    slope: DMatrix<f64>,
    /// The block `A_PR` of the matrix.
    onto: DMatrix<f64>,
}

/// A null space of the scaled matrix.
struct NullSpace {
    pivots: Vec<usize>,
    /// `X`: the identity in the rows of the pivots.
    basis: DMatrix<f64>,
    /// The change of `X` by each sample; zero in the rows of the pivots.
    changes: Vec<DMatrix<f64>>,
    /// Rate (1/s) below which a mode would count as zero; `None` for a null space of empty rows or
    /// columns, which is exact.
    resolution: Option<f64>,
}

impl Deflated {
    /// Deflates a square matrix. Each sample is a change of the matrix by about its round-off.
    ///
    /// # Errors
    /// The singular values do not converge.
    pub fn of(A: &DMatrix<f64>, samples: &[DMatrix<f64>]) -> Result<Self> {
        let n = A.nrows();
        let mut left = Self {
            A: A.clone(),
            Y: DMatrix::identity(n, n),
            samples: samples.to_vec(),
            numerical: 0,
            resolution: 0.0,
            steps: Vec::new(),
        };
        let (mut rows, mut columns) = scales(&(A.abs() + root_mean_square(samples, n) / f64::EPSILON));
        while let Some(null) = left.null_space(&rows, &columns)? {
            let pivots = &null.pivots;
            let rest: Vec<usize> = (0..columns.len()).filter(|i| !pivots.contains(i)).collect();
            // Converts rows `R` of a basis from scaled coordinates to those of the matrix.
            let unscaled = |X: &DMatrix<f64>| {
                DMatrix::from_fn(rest.len(), pivots.len(), |i, k| {
                    X[(rest[i], k)] * columns[pivots[k]] / columns[rest[i]]
                })
            };
            let slope = unscaled(&null.basis);
            let onto = left.A.select_rows(pivots).select_columns(&rest);
            let kept = left.A.select_rows(&rest).select_columns(&rest);
            let sums = slope.abs() * onto.abs();
            // Equation (1) has no round-off at entries for which `M A_PR` is zero.
            let magnitudes = kept.zip_map(&sums, |kept, sum| if sum > 0.0 { kept.abs() + sum } else { 0.0 });
            for (k, (sample, change)) in left.samples.iter_mut().zip(&null.changes).enumerate() {
                let of_pivots = sample.select_rows(pivots).select_columns(&rest);
                let of_rest = sample.select_rows(&rest).select_columns(&rest);
                *sample = of_rest - &slope * of_pivots - unscaled(change) * &onto; // (5)
                *sample += round_off(&magnitudes, k);
            }
            left.A = kept - &slope * &onto; // (1)
            left.Y = left.Y.select_rows(&rest) - &slope * left.Y.select_rows(pivots);
            let with_pivots = |(i, &row): (usize, &usize)| {
                let added = (0..pivots.len()).map(|k| slope[(i, k)].abs() * rows[pivots[k]]);
                power_of_two(added.fold(rows[row], f64::max))
            };
            rows = rest.iter().enumerate().map(with_pivots).collect();
            columns = rest.iter().map(|&i| columns[i]).collect();
            if let Some(resolution) = null.resolution {
                left.numerical += pivots.len();
                left.resolution = left.resolution.max(resolution);
            }
            left.steps.push(Step {
                pivots: null.pivots,
                rest,
                slope,
                onto,
            });
        }
        Ok(left)
    }

    /// Returns the null space of the remaining matrix, in scaled coordinates; none if the matrix is
    /// regular.
    fn null_space(&self, rows: &[f64], columns: &[f64]) -> Result<Option<NullSpace>> {
        let n = self.A.nrows();
        // Empty columns and rows are deflated first, e.g. that of a position in space or of the
        // rate of a locked joint. Their `M` is exactly zero.
        let is_single = |&i: &usize| (0..n).all(|k| self.A[(k, i)] == 0.0) || (0..n).all(|k| self.A[(i, k)] == 0.0);
        let single: Vec<usize> = (0..n).filter(is_single).collect();
        if !single.is_empty() {
            return Ok(Some(NullSpace::single(single, n, self.samples.len())));
        }
        let mut all: Option<NullSpace> = None;
        for part in components(&self.A) {
            let scaled = |matrix: &DMatrix<f64>| {
                let entry = |i: usize, k: usize| matrix[(part[i], part[k])] / rows[part[i]] / columns[part[k]];
                DMatrix::from_fn(part.len(), part.len(), entry)
            };
            let samples: Vec<DMatrix<f64>> = self.samples.iter().map(scaled).collect();
            let of_part = |scales: &[f64]| DVector::from_fn(part.len(), |i, _| scales[part[i]]);
            let found = NullSpace::of(&scaled(&self.A), &samples, &of_part(rows), &of_part(columns))?;
            if let Some(found) = found {
                let found = found.among(&part, n);
                all = Some(match all {
                    None => found,
                    Some(before) => before.and(found),
                });
            }
        }
        Ok(all)
    }

    /// Returns the right eigenvector (3) of the original matrix for an eigenvector `u` of the
    /// remaining matrix with the eigenvalue `lambda`.
    pub fn lift(&self, lambda: c64, u: Vec<c64>) -> Vec<c64> {
        let times = |matrix: &DMatrix<f64>, x: &[c64]| -> Vec<c64> {
            let row = |i| (0..x.len()).map(|k| x[k] * matrix[(i, k)]).sum();
            (0..matrix.nrows()).map(row).collect()
        };
        self.steps.iter().rev().fold(u, |u, step| {
            let at_pivots: Vec<c64> = times(&step.onto, &u).into_iter().map(|part| part / lambda).collect();
            let shift = times(&step.slope, &at_pivots);
            let mut x = vec![c64::new(0.0, 0.0); u.len() + at_pivots.len()];
            for (k, &i) in step.rest.iter().enumerate() {
                x[i] = u[k] + shift[k];
            }
            for (k, &i) in step.pivots.iter().enumerate() {
                x[i] = at_pivots[k];
            }
            x
        })
    }
}

impl NullSpace {
    /// Returns the null space of coordinates whose rows or columns are zero.
    fn single(pivots: Vec<usize>, n: usize, samples: usize) -> Self {
        let zeros = DMatrix::zeros(n, pivots.len());
        Self {
            pivots,
            changes: vec![zeros.clone(); samples],
            basis: zeros,
            resolution: None,
        }
    }

    /// Returns the null space of a scaled matrix with its samples and the scales of its rows and
    /// columns; none if it is regular.
    fn of(
        S: &DMatrix<f64>,
        samples: &[DMatrix<f64>],
        rows: &DVector<f64>,
        columns: &DVector<f64>,
    ) -> Result<Option<Self>> {
        let n = S.nrows();
        let svd = Mat::from_fn(n, n, |i, k| S[(i, k)]).svd();
        let svd = svd.map_err(|error| not_found("singular values", error))?;
        let smallest = CANDIDATE * n as f64 * f64::EPSILON;
        let regular = (0..n).filter(|&i| svd.S()[i] > smallest).count();
        let mut inverse = Inverse {
            U: DMatrix::from_fn(n, n, |i, k| svd.U()[(i, k)]),
            V: DMatrix::from_fn(n, n, |i, k| svd.V()[(i, k)]),
            sigma: DVector::from_fn(n, |i, _| svd.S()[i]),
        };
        let bounds = inverse.resolve(regular, S, samples) * UNITS;
        let zeros: Vec<usize> = (regular..n)
            .filter(|&i| inverse.sigma[i] <= bounds[i - regular])
            .collect();
        if zeros.is_empty() {
            return Ok(None);
        }
        let bounds = DVector::from_fn(zeros.len(), |i, _| bounds[zeros[i] - regular]);
        let (U, V) = (inverse.U.select_columns(&zeros), inverse.V.select_columns(&zeros));
        inverse.remove(&zeros);
        let over = |X: &DMatrix<f64>, by: &DVector<f64>| DMatrix::from_fn(n, X.ncols(), |i, k| X[(i, k)] / by[i]);
        let (left, right) = (over(&U, rows), over(&V, columns));
        let solution = over(&inverse.times(&over(&right, rows)), columns);
        let resolution = slowest(&bounds, &left.tr_mul(&right), &left.tr_mul(&solution))?;
        let (pivots, mut basis) = echelon(V);
        basis += inverse.correction(&product(S, &basis), &basis, &pivots);
        let change = |sample: &DMatrix<f64>| inverse.correction(&(sample * &basis), &basis, &pivots);
        Ok(Some(Self {
            changes: samples.iter().map(change).collect(),
            pivots,
            basis,
            resolution: Some(resolution),
        }))
    }

    /// Embeds the null space of the coordinates `own` in all `n` coordinates.
    fn among(self, own: &[usize], n: usize) -> Self {
        let spread = |X: &DMatrix<f64>| {
            let mut whole = DMatrix::zeros(n, X.ncols());
            own.iter()
                .enumerate()
                .for_each(|(i, &row)| whole.set_row(row, &X.row(i)));
            whole
        };
        Self {
            pivots: self.pivots.iter().map(|&i| own[i]).collect(),
            basis: spread(&self.basis),
            changes: self.changes.iter().map(spread).collect(),
            resolution: self.resolution,
        }
    }

    /// Joins two null spaces of different coordinates.
    fn and(mut self, other: Self) -> Self {
        let beside = |a: &DMatrix<f64>, b: &DMatrix<f64>| {
            let columns: Vec<_> = a.column_iter().chain(b.column_iter()).collect();
            DMatrix::from_columns(&columns)
        };
        self.pivots.extend(other.pivots);
        self.basis = beside(&self.basis, &other.basis);
        let changes = self.changes.iter().zip(&other.changes);
        self.changes = changes.map(|(a, b)| beside(a, b)).collect();
        if other.resolution > self.resolution {
            self.resolution = other.resolution;
        }
        self
    }
}

/// Groups the coordinates that are coupled by entries that are not zero. Groups are deflated
/// separately, so that they stay exactly uncoupled.
fn components(A: &DMatrix<f64>) -> Vec<Vec<usize>> {
    let n = A.nrows();
    let mut open: Vec<usize> = (0..n).collect();
    let mut parts = Vec::new();
    while let Some(first) = open.pop() {
        let mut part = vec![first];
        let mut next = 0;
        while next < part.len() {
            let i = part[next];
            next += 1;
            part.extend(open.extract_if(.., |k| A[(i, *k)] != 0.0 || A[(*k, i)] != 0.0));
        }
        part.sort_unstable();
        parts.push(part);
    }
    parts
}

/// The pseudo-inverse `S⁺` of a scaled matrix `S`, as its singular value decomposition `U σ Vᵀ`.
struct Inverse {
    U: DMatrix<f64>,
    V: DMatrix<f64>,
    sigma: DVector<f64>,
}

impl Inverse {
    /// Replaces the singular values and vectors of the candidates, from `first` on, by (4); returns
    /// the root mean square of each candidate's `δ_j`.
    fn resolve(&mut self, first: usize, S: &DMatrix<f64>, samples: &[DMatrix<f64>]) -> DVector<f64> {
        let k = self.sigma.len() - first;
        if k == 0 {
            return DVector::zeros(0);
        }
        let (U, V) = (
            self.U.columns(first, k).into_owned(),
            self.V.columns(first, k).into_owned(),
        );
        let svd = U.tr_mul(&product(S, &V)).svd(true, true);
        let (P, Q) = (svd.u.expect("computed"), svd.v_t.expect("computed").transpose());
        let (U, V) = (U * P, V * Q);
        let changes: Vec<DVector<f64>> = (samples.iter())
            .map(|sample| (U.tr_mul(&(sample * &V))).diagonal())
            .collect();
        let square = |j: usize| changes.iter().map(|change| change[j] * change[j]).sum::<f64>();
        self.U.columns_mut(first, k).copy_from(&U);
        self.V.columns_mut(first, k).copy_from(&V);
        self.sigma.rows_mut(first, k).copy_from(&svd.singular_values);
        DVector::from_fn(k, |j, _| (square(j) / samples.len() as f64).sqrt())
    }

    /// Removes singular values and their vectors.
    fn remove(&mut self, zeros: &[usize]) {
        self.U = self.U.clone().remove_columns_at(zeros);
        self.V = self.V.clone().remove_columns_at(zeros);
        self.sigma = self.sigma.clone().remove_rows_at(zeros);
    }

    /// Returns `S⁺ R`.
    fn times(&self, R: &DMatrix<f64>) -> DMatrix<f64> {
        let mut parts = self.U.tr_mul(R);
        for (mut row, sigma) in parts.row_iter_mut().zip(&self.sigma) {
            row /= *sigma;
        }
        &self.V * parts
    }

    /// Returns the change of a basis `X` of the null space that removes its residual `R = S X`; the
    /// change is zero in the rows of the pivots.
    fn correction(&self, R: &DMatrix<f64>, X: &DMatrix<f64>, pivots: &[usize]) -> DMatrix<f64> {
        let change = -self.times(R);
        &change - X * change.select_rows(pivots)
    }
}

/// Returns `A X` by compensated sums (T. Ogita, S. M. Rump and S. Oishi, 10.1137/030601818), as
/// accurate as with twice the precision.
fn product(A: &DMatrix<f64>, X: &DMatrix<f64>) -> DMatrix<f64> {
    DMatrix::from_fn(A.nrows(), X.ncols(), |i, k| {
        let (mut sum, mut rest) = (0.0_f64, 0.0_f64);
        for j in 0..A.ncols() {
            let (a, x) = (A[(i, j)], X[(j, k)]);
            let term = a * x;
            let next = sum + term;
            let part = next - sum;
            rest += ((sum - (next - part)) + (term - part)) + a.mul_add(x, -term);
            sum = next;
        }
        sum + rest
    })
}

/// Returns [`MARGIN`] times the largest rate `|λ|` at which (6) is satisfied, for the bounds `g`, `a =
/// Uᵀ V` and `b = Uᵀ A⁺ V`.
///
/// # Errors
/// The eigenvalues do not converge.
fn slowest(g: &DVector<f64>, a: &DMatrix<f64>, b: &DMatrix<f64>) -> Result<f64> {
    let k = g.len();
    // With μ = 1/λ: μ² x = (a μ x + b x)/g.
    let companion = Mat::from_fn(2 * k, 2 * k, |i, j| match (i < k, j < k) {
        (true, true) => a[(i, j)] / g[i].max(f64::MIN_POSITIVE.sqrt()),
        (true, false) => b[(i, j - k)] / g[i].max(f64::MIN_POSITIVE.sqrt()),
        _ => f64::from(i == j + k),
    });
    let values = companion.eigenvalues();
    let values = values.map_err(|error| not_found("eigenvalues", error))?;
    let mut sizes: Vec<f64> = values.iter().map(|mu| mu.norm()).collect();
    sizes.sort_by(|p, q| q.total_cmp(p));
    // The k slowest of the 2k roots are the candidates' rates; the others are outside the range of
    // the estimate.
    Ok(MARGIN / sizes[k - 1])
}

/// Returns the root mean square of samples of an `n × n` matrix.
fn root_mean_square(samples: &[DMatrix<f64>], n: usize) -> DMatrix<f64> {
    let add = |sum: DMatrix<f64>, sample: &DMatrix<f64>| sum.zip_map(sample, |sum, entry| sum + entry * entry);
    let sum = samples.iter().fold(DMatrix::zeros(n, n), add);
    sum.map(|sum| (sum / samples.len() as f64).sqrt())
}

/// Returns the error of an iteration for `what` that does not converge.
pub fn not_found(what: &str, error: impl std::fmt::Debug) -> Error {
    Error::Numerics(format!("the {what} cannot be found: {error:?}"))
}

/// Returns a sample of the round-off of sums with these magnitudes: up to one unit `ε` of each,
/// uniformly distributed, identical in every run.
pub fn round_off(magnitudes: &DMatrix<f64>, seed: usize) -> DMatrix<f64> {
    let mut state = seed as u64;
    // SplitMix64 (G. L. Steele et al., 10.1145/2660193.2660195).
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as i64 as f64 / (1_u64 << 63) as f64
    };
    magnitudes.map(|magnitude| next() * f64::EPSILON * magnitude)
}

/// Returns the power of two that is nearest on a logarithmic scale. Scaling by it is exact.
fn power_of_two(x: f64) -> f64 {
    libm::exp2(libm::log2(x).round())
}

/// Returns scales of rows and columns with which no entry exceeds one and each row and column has
/// an entry near one (D. Ruiz, RAL-TR-2001-034), rounded to powers of two; one for empty rows and
/// columns.
fn scales(magnitudes: &DMatrix<f64>) -> (Vec<f64>, Vec<f64>) {
    let n = magnitudes.nrows();
    let (mut rows, mut columns) = (vec![1.0; n], vec![1.0; n]);
    let largest = |entries: &mut dyn Iterator<Item = f64>| match entries.fold(0.0, f64::max) {
        0.0 => 1.0,
        largest => largest,
    };
    for _ in 0..10 {
        let entry = |i: usize, k: usize| magnitudes[(i, k)] / rows[i] / columns[k];
        let of_rows: Vec<f64> = (0..n).map(|i| largest(&mut (0..n).map(|k| entry(i, k)))).collect();
        let of_columns: Vec<f64> = (0..n).map(|k| largest(&mut (0..n).map(|i| entry(i, k)))).collect();
        rows.iter_mut().zip(of_rows).for_each(|(scale, by)| *scale *= by.sqrt());
        columns
            .iter_mut()
            .zip(of_columns)
            .for_each(|(scale, by)| *scale *= by.sqrt());
    }
    let rounded = |scales: Vec<f64>| scales.into_iter().map(power_of_two).collect();
    (rounded(rows), rounded(columns))
}

/// Transforms a basis to one that is the identity in the rows of the pivots, and small in the other
/// rows; the pivots are chosen for this.
fn echelon(mut basis: DMatrix<f64>) -> (Vec<usize>, DMatrix<f64>) {
    let mut pivots = Vec::new();
    for k in 0..basis.ncols() {
        let open = (0..basis.nrows()).filter(|i| !pivots.contains(i));
        let entries = open.flat_map(|i| (k..basis.ncols()).map(move |j| (i, j)));
        let largest = entries.max_by(|&a, &b| basis[a].abs().total_cmp(&basis[b].abs()));
        let (row, column) = largest.expect("there are more rows than columns");
        basis.swap_columns(k, column);
        let pivot = basis.column(k) / basis[(row, k)];
        for j in 0..basis.ncols() {
            let part = basis[(row, j)];
            if j != k {
                basis.column_mut(j).axpy(-part, &pivot, 1.0);
            }
        }
        basis.set_column(k, &pivot);
        pivots.push(row);
    }
    (pivots, basis)
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;
    use grapple::random::Sequence;

    unit_tests![
        chains_of_zeros_are_deflated_and_the_eigenvectors_of_the_rest_are_kept,
        a_slow_mode_is_kept_or_reported_as_below_the_resolution,
    ];

    /// A matrix with a chain of three zero eigenvalues, a chain of two, a single one and four other
    /// eigenvalues, in coordinates of different scales.
    fn chains_of_zeros_are_deflated_and_the_eigenvectors_of_the_rest_are_kept() {
        let mut jordan = DMatrix::<f64>::zeros(10, 10);
        for i in [0, 1, 3] {
            jordan[(i, i + 1)] = 1.0;
        }
        let regular = [
            [-0.3, 5.0, 0.2, 0.0],
            [-5.0, -0.3, 0.0, 0.1],
            [0.0, 0.0, 1e-3, 0.4],
            [0.0, 0.0, 0.0, -2.0],
        ];
        jordan
            .view_mut((6, 6), (4, 4))
            .copy_from(&DMatrix::from_fn(4, 4, |i, k| regular[i][k]));
        let mix = DMatrix::from_fn(10, 10, |i, k| {
            ((3 * i + 7 * k + i * k) as f64).sin() + if i == k { 4.0 } else { 0.0 }
        });
        let units = DMatrix::from_fn(10, 10, |i, k| if i == k { 10f64.powi(i as i32 % 5 - 2) } else { 0.0 });
        let T = units * mix;
        let inverse = T.clone().try_inverse().expect("it is regular");
        let A = &T * &jordan * &inverse;
        // The product has the round-off of its sums.
        let magnitudes = T.abs() * jordan.abs() * inverse.abs();
        let samples: Vec<DMatrix<f64>> = (0..4).map(|k| round_off(&magnitudes, k)).collect();
        let left = Deflated::of(&A, &samples).expect("it converges");
        assert_eq!(left.A.nrows(), 4);
        // y = Y x satisfies Y A = A' Y.
        let off = (&left.Y * &A - &left.A * &left.Y).abs().max() / A.abs().max();
        assert!(off < 1e-12, "{off:e}");
        let trace = left.A.trace();
        assert!((trace - (-2.6 + 1e-3)).abs() < 1e-10, "{trace}");
        // A lifted right eigenvector of the remaining matrix is one of the original matrix.
        let small = Mat::from_fn(4, 4, |i, k| left.A[(i, k)]);
        let eigen = small.eigen().expect("it converges");
        for k in 0..4 {
            let lambda = eigen.S()[k];
            let x = left.lift(lambda, (0..4).map(|i| eigen.U()[(i, k)]).collect());
            let size = x.iter().map(|part| part.norm()).fold(0.0, f64::max) * A.abs().max();
            for i in 0..10 {
                let image: c64 = (0..10).map(|j| x[j] * A[(i, j)]).sum();
                let off = (image - x[i] * lambda).norm() / size;
                assert!(off < 1e-11, "{lambda}: {off:e}");
            }
        }
    }

    /// Matrices with known zero eigenvalues, a slow mode and fast ones, under a random similarity
    /// transformation of condition 9. The slow mode's `|λ|` is varied from far above round-off to
    /// far below: the mode is either kept with its eigenvalue, or counted as zero with a resolution
    /// above its rate.
    fn a_slow_mode_is_kept_or_reported_as_below_the_resolution() {
        let (mut kept, mut lost, mut nearest) = (Vec::new(), Vec::new(), 0.0_f64);
        for seed in 0..20 {
            for exponent in -16..=1 {
                for second_order in [false, true] {
                    let omega = 10f64.powf(f64::from(exponent) + 0.05 * f64::from(seed));
                    let (A, samples) = family(seed as u64, omega, second_order);
                    let left = Deflated::of(&A, &samples).expect("it converges");
                    let case = format!("seed {seed}, {omega:e} rad/s, second order {second_order}");
                    // If the stiffness is an entry, λ² competes with the fast entries, else λ.
                    let size = if second_order { omega * omega } else { omega };
                    if left.A.nrows() == 6 {
                        assert_eq!(left.numerical, 5, "{case}");
                        let square = slowest_pair(&left.A);
                        let off = (square / (omega * omega) - 1.0).abs();
                        // Round-off of entries of 1e5 at this condition, relative to λ or λ².
                        assert!(off < 1e-9 * (1.0 + 1.0 / size), "{case}: {off:e}");
                        kept.push(size);
                    } else {
                        // Near the limit one or both eigenvalues of the pair may count as zero.
                        assert!(left.A.nrows() >= 4 && left.A.nrows() + left.numerical == 11, "{case}");
                        lost.push(size);
                        nearest = nearest.max(omega / left.resolution * MARGIN);
                        assert!(omega < left.resolution, "{case}: above {:e} 1/s", left.resolution);
                        assert!(left.resolution < 1e-2, "{case}: {:e} 1/s", left.resolution);
                    }
                }
            }
        }
        let least = kept.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = lost.iter().copied().fold(0.0, f64::max);
        // No mode below round-off is kept, and no mode is lost that exceeds round-off by the factor
        // `UNITS`, the condition number and the spread of the samples.
        assert!(least > 2e-10 && greatest < 3e-7);
        println!(
            "{} kept, the least {least:.1e}; {} counted as zero, the greatest {greatest:.1e}, at most {nearest:.2} of the \
             rate of (6)",
            kept.len(),
            lost.len()
        );
    }

    /// Returns `λ²` of the slowest pair, as the product of the two smallest eigenvalues.
    fn slowest_pair(A: &DMatrix<f64>) -> f64 {
        let eigen = Mat::from_fn(A.nrows(), A.ncols(), |i, k| A[(i, k)]).eigenvalues();
        let mut values = eigen.expect("it converges");
        values.sort_by(|p, q| p.norm().total_cmp(&q.norm()));
        (values[0] * values[1]).re
    }

    /// Returns `T J T⁻¹` with samples of its round-off. It has two chains of two zero eigenvalues,
    /// a single one, the slow mode `omega` and two modes of 300 and 1e5 rad/s.
    fn family(seed: u64, omega: f64, second_order: bool) -> (DMatrix<f64>, Vec<DMatrix<f64>>) {
        let n = 11;
        let mut J = DMatrix::<f64>::zeros(n, n);
        J[(0, 1)] = 1.0;
        J[(2, 3)] = 1.0;
        let pair = |damping: f64, omega: f64| [[-damping * omega, omega], [-omega, -damping * omega]];
        let slow = if second_order {
            [[0.0, 1.0], [-omega * omega, 0.0]]
        } else {
            pair(0.0, omega)
        };
        for (at, block) in [(5, slow), (7, pair(0.01, 300.0)), (9, pair(0.0, 1e5))] {
            J.view_mut((at, at), (2, 2))
                .copy_from(&DMatrix::from_fn(2, 2, |i, k| block[i][k]));
        }
        let mut random = Sequence::new(seed);
        let mut orthogonal = || DMatrix::from_fn(n, n, |_, _| random.next_in(-1.0..1.0)).qr().q();
        let sizes = DMatrix::from_diagonal(&DVector::from_fn(n, |i, _| 9f64.powf(i as f64 / (n - 1) as f64)));
        let (left, right) = (orthogonal(), orthogonal());
        let T = &left * sizes * right.transpose();
        let inverse = T.clone().try_inverse().expect("it is regular");
        let magnitudes = T.abs() * J.abs() * inverse.abs();
        let samples = (0..4)
            .map(|k| round_off(&magnitudes, 100 * seed as usize + k))
            .collect();
        // Compensated sums, so that the matrix does not depend on the order of summation.
        (product(&product(&T, &J), &inverse), samples)
    }
}
