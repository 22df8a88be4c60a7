//! Damped inverse of a Jacobian.

use super::fused::plus_product;
use super::{Scalar, root, spd};

/// Damped least-squares inverse `J# = Jᵀ (J Jᵀ + λ² I)⁻¹` of a matrix with `m ≤ 6` rows, with
///
/// ```text
///     λ = λ₀ (1 − σ²/ε²)² for σ < ε, else 0
/// ```
///
/// for the smallest singular value σ: λ is a polynomial in σ², which has no kink at σ = 0, and λ²
/// has three continuous derivatives at σ = ε. Y. Nakamura and H. Hanafusa (*J. Dynamic Systems,
/// Measurement, and Control* 108 (1986) 163–171) add `k₀ (1 − w/w₀)²` to `J Jᵀ`, below a threshold
/// w₀ of the manipulability w.
///
/// A record has its results with their partial derivatives, without those of the factors
/// (`docs/theory/adjoint.md`, *Feed-forward and tasks*).
#[derive(Clone, Copy, Debug)]
pub struct DampedInverse<S> {
    /// Number of rows `m`.
    rows: usize,
    /// Factors of `J Jᵀ + λ² I`, constants in a record; `None` if it is singular to round-off, or not
    /// finite.
    factors: Option<[S; 36]>,
    /// Smallest singular value σ. Its derivative `uᵀ dJ v` is exact, unless σ is zero or another
    /// singular value is equal.
    pub singular_value: S,
    /// Damping λ.
    pub damping: S,
}

impl<S: Scalar> DampedInverse<S> {
    /// Computes the inverse of the matrix with these `columns`, of which the first `rows` entries
    /// count, for the threshold ε (positive) and the damping λ₀.
    pub fn new(columns: &[[S; 6]], rows: usize, threshold: f64, damping: f64) -> Self {
        Self::along(columns, rows, threshold, damping, &mut None)
    }

    /// As [`new`](Self::new), with the left singular vector of σ if it is `known`; else sets it.
    pub fn along(columns: &[[S; 6]], rows: usize, threshold: f64, damping: f64, known: &mut Option<[f64; 6]>) -> Self {
        Self::with(columns, rows, known, |square| {
            let part = square / S::lift(threshold * threshold);
            let below = S::one() - part;
            S::select(part.exceeds(1.0), S::zero(), below * below * S::lift(damping))
        })
    }

    /// Computes the inverse with the damping λ as a function of σ².
    fn with(columns: &[[S; 6]], rows: usize, known: &mut Option<[f64; 6]>, damping: impl FnOnce(S) -> S) -> Self {
        match S::FUSES {
            true => Self::by(columns, rows, known, damping, S::value, S::lift),
            false => Self::by(columns, rows, known, damping, |x| x, |x| x),
        }
    }

    /// Computes the inverse, with factors of the numbers that `number` returns.
    fn by<T: Scalar>(
        columns: &[[S; 6]],
        rows: usize,
        known: &mut Option<[f64; 6]>,
        damping: impl FnOnce(S) -> S,
        number: impl Fn(S) -> T,
        back: impl Fn(T) -> S,
    ) -> Self {
        let mut gram = gram(columns, rows, &number);
        *known = known.or_else(|| least_direction(columns, &gram, rows));
        let square = known.map_or_else(S::zero, |u| smallest_square(columns, &u, rows));
        let damping = damping(square);
        let added = number(damping);
        for i in 0..rows {
            gram[i * rows + i] += added * added;
        }
        let factored = spd::factor(&mut gram[..rows * rows], rows);
        Self {
            rows,
            factors: factored.is_ok().then(|| gram.map(back)),
            singular_value: root(square),
            damping,
        }
    }

    /// Computes the inverse without damping.
    pub fn undamped(columns: &[[S; 6]], rows: usize) -> Self {
        Self::with(columns, rows, &mut None, |_| S::zero())
    }

    /// Returns the product of the singular values of an undamped inverse's matrix with these
    /// `columns`, `√det(J Jᵀ)`; zero if that is singular to round-off.
    pub fn volume(&self, columns: &[[S; 6]]) -> S {
        let Some(factors) = &self.factors else {
            return S::zero();
        };
        let pivots = (0..self.rows).map(|i| factors[i * (self.rows + 1)]);
        let volume = root(S::one() / pivots.fold(S::one(), |product, pivot| product * pivot));
        if !S::FUSES {
            return volume;
        }
        let (factors, volume) = (factors.map(S::value), volume.value());
        let partials = columns.iter().flat_map(|column| {
            let mut partials = column.map(|entry| volume * entry.value());
            self.solve_with(&factors, &mut partials);
            (0..self.rows).map(move |i| (column[i], partials[i]))
        });
        S::with_partials(volume, partials)
    }

    /// Returns true if [`solve`](Self::solve) is finite.
    pub fn is_regular(&self) -> bool {
        self.factors.is_some()
    }

    /// Returns `y = (J Jᵀ + λ² I)⁻¹ b`, with which `J# b = Jᵀ y`, for the `columns` of `J`; NaN where
    /// this is singular.
    pub fn solve(&self, columns: &[[S; 6]], mut b: [S; 6]) -> [S; 6] {
        match &self.factors {
            Some(factors) if S::FUSES => return self.solve_recorded(&factors.map(S::value), columns, &b),
            Some(factors) => self.solve_with(factors, &mut b),
            None => b.fill(S::lift(f64::NAN)),
        }
        b
    }

    fn solve_with<T: Scalar>(&self, factors: &[T; 36], b: &mut [T; 6]) {
        spd::solve(&factors[..self.rows * self.rows], &mut b[..self.rows]);
    }

    /// Returns the solution as a function `W r` of the residuals `r = b − (J Jᵀ + λ² I) y` at constant
    /// `y`, where `W = (J Jᵀ + λ² I)⁻¹` is constant.
    fn solve_recorded(&self, factors: &[f64; 36], columns: &[[S; 6]], b: &[S; 6]) -> [S; 6] {
        let (rows, damping) = (self.rows, self.damping.value());
        let mut y = b.map(S::value);
        self.solve_with(factors, &mut y);
        let of = |value: f64, terms: &[(S, f64)]| S::with_partials(value, terms.iter().copied());
        let mut r: [S; 6] = std::array::from_fn(|i| of(0.0, &[(b[i], 1.0), (self.damping, -2.0 * damping * y[i])]));
        for column in columns {
            let rate = (0..rows).fold(0.0, |sum, i| sum + column[i].value() * y[i]);
            let along_y: [_; 6] = std::array::from_fn(|i| (column[i], y[i]));
            let change = of(0.0, &along_y[..rows]);
            for i in 0..rows {
                r[i] = of(0.0, &[(r[i], 1.0), (column[i], -rate), (change, -column[i].value())]);
            }
        }
        let mut solution = *b;
        for i in 0..rows {
            let mut W = [0.0; 6];
            W[i] = 1.0;
            self.solve_with(factors, &mut W);
            let terms: [_; 6] = std::array::from_fn(|j| (r[j], W[j]));
            solution[i] = of(y[i], &terms[..rows]);
        }
        solution
    }
}

/// Returns the Gram matrix `J Jᵀ` (`rows × rows`) of the matrix with these columns, whose entries
/// `number` converts.
fn gram<S: Scalar, T: Scalar>(columns: &[[S; 6]], rows: usize, number: impl Fn(S) -> T) -> [T; 36] {
    let mut gram = [T::zero(); 36];
    for i in 0..rows {
        for j in 0..=i {
            let products = columns.iter().map(|column| (number(column[i]), number(column[j])));
            let sum = products.fold(T::zero(), |sum, (a, b)| plus_product(sum, a, b, 1.0));
            (gram[i * rows + j], gram[j * rows + i]) = (sum, sum);
        }
    }
    gram
}

/// Returns the square of the smallest singular value of the matrix with these columns, `|Jᵀ u|²`
/// with its left singular vector `u` as a constant.
fn smallest_square<S: Scalar>(columns: &[[S; 6]], u: &[f64; 6], rows: usize) -> S {
    if S::FUSES {
        let along = |column: &[S; 6]| (0..rows).fold(0.0, |sum, i| sum + column[i].value() * u[i]);
        let square = columns.iter().map(along).fold(0.0, |sum, along| sum + along * along);
        let partials = columns.iter().flat_map(|column| {
            let twice = 2.0 * along(column);
            (0..rows).map(move |i| (column[i], twice * u[i]))
        });
        return S::with_partials(square, partials);
    }
    let squares = columns.iter().map(|column| {
        let along = (0..rows).fold(S::zero(), |sum, i| sum + column[i] * S::lift(u[i]));
        along * along
    });
    squares.fold(S::zero(), |sum, square| sum + square)
}

/// Returns the left singular vector of the smallest singular value of the matrix with these columns,
/// from its Gram matrix `J Jᵀ` (`rows × rows`). With fewer columns other than zero there is none: the
/// singular value is zero without round-off.
fn least_direction<S: Scalar, T: Scalar>(columns: &[[S; 6]], gram: &[T; 36], rows: usize) -> Option<[f64; 6]> {
    let is_moved = |column: &&[S; 6]| column.iter().any(|entry| entry.value() != 0.0);
    if columns.iter().filter(is_moved).count() < rows {
        return None;
    }
    Some(last_eigenvector(std::array::from_fn(|k| gram[k].value()), rows))
}

impl DampedInverse<f64> {
    /// Replaces the columns of a matrix with `rows` rows by the derivatives of its smallest singular
    /// value σ with respect to them, `u (u·column)/σ` with the left singular vector `u`; by zeros
    /// where σ is zero.
    pub fn differentiate_singular_value(columns: &mut [[f64; 6]], rows: usize) {
        let gram = gram(columns, rows, |x| x);
        let u = least_direction(columns, &gram, rows).unwrap_or([0.0; 6]);
        let along = |column: &[f64; 6]| (0..rows).map(|i| column[i] * u[i]).sum::<f64>();
        let sigma = root(columns.iter().map(|column| along(column) * along(column)).sum::<f64>());
        let scale = if sigma > 0.0 { 1.0 / sigma } else { 0.0 };
        for column in columns {
            let part = along(column) * scale;
            *column = std::array::from_fn(|i| if i < rows { u[i] * part } else { 0.0 });
        }
    }

    /// Replaces the columns of a matrix with `rows` rows by the derivatives of the product of its
    /// singular values with respect to them, `√det(J Jᵀ) (J Jᵀ)⁻¹ J`; by zeros where it is zero.
    pub fn differentiate_volume(columns: &mut [[f64; 6]], rows: usize) {
        let inverse = Self::undamped(columns, rows);
        let volume = inverse.volume(columns);
        for column in columns {
            *column = match inverse.is_regular() {
                true => inverse.solve(&[], *column).map(|entry| entry * volume),
                false => [0.0; 6],
            };
        }
    }
}

/// Largest number of sweeps of Jacobi's method; it converges quadratically, within about six.
pub(super) const MOST_SWEEPS: usize = 20;

/// Returns cosine and sine of the rotation `x' = c x − s y`, `y' = s x + c y` by which two vectors
/// with the squares `first` and `second` and the product `off` become orthogonal.
pub(super) fn jacobi_rotation(first: f64, second: f64, off: f64) -> [f64; 2] {
    let theta = (second - first) / (2.0 * off);
    let t = 1.0_f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    [c, t * c]
}

/// Returns the eigenvector of the smallest eigenvalue of a symmetric matrix (`n × n`, row-major),
/// by Jacobi's method.
fn last_eigenvector(mut a: [f64; 36], n: usize) -> [f64; 6] {
    let mut vectors = [[0.0; 6]; 6];
    (0..6).for_each(|i| vectors[i][i] = 1.0);
    for _ in 0..MOST_SWEEPS {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                let off = a[p * n + q];
                let (first, second) = (a[p * n + p], a[q * n + q]);
                // Entries below the round-off of both diagonal entries change no vector.
                if first + 0.01 * off.abs() == first && second + 0.01 * off.abs() == second || !off.is_finite() {
                    continue;
                }
                rotated = true;
                let [c, s] = jacobi_rotation(first, second, off);
                for k in 0..n {
                    let (x, y) = (a[k * n + p], a[k * n + q]);
                    (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (a[p * n + k], a[q * n + k]);
                    (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
                }
                for row in &mut vectors {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
            }
        }
        if !rotated {
            break;
        }
    }
    let least = (0..n)
        .min_by(|&i, &j| a[i * n + i].total_cmp(&a[j * n + j]))
        .unwrap_or(0);
    std::array::from_fn(|i| vectors[i][least])
}

#[cfg(feature = "inside")]
#[allow(clippy::disallowed_methods)] // expected values
pub(super) mod tests {
    use super::*;
    use crate::algebra::{Dual, Recorded, Tape};
    use crate::larger::Larger;
    use nalgebra::{DMatrix, Matrix6xX};

    unit_tests![
        singular_value_and_its_derivative_are_those_of_the_decomposition,
        undamped_inverse_is_the_pseudoinverse,
        record_has_the_derivatives_of_dual_numbers,
        damping_bounds_the_rates,
        damping_is_smooth,
    ];

    /// Returns a matrix with smoothly varying entries.
    fn columns<S: Scalar>(x: S, rows: usize, n: usize) -> Vec<[S; 6]> {
        let entry = |i: usize, k: usize| {
            let phase = 0.37 * (7 * i + 3 * k * k + 5 * i * k) as f64;
            let (sin, _) = (x * S::lift(0.3 + 0.1 * i as f64) + S::lift(phase)).sin_cos();
            if i < rows { sin } else { S::zero() }
        };
        (0..n).map(|k| std::array::from_fn(|i| entry(i, k))).collect()
    }

    fn reference(x: f64, rows: usize, n: usize) -> DMatrix<f64> {
        let columns = columns(x, rows, n);
        Matrix6xX::from_fn(n, |i, k| columns[k][i]).rows(0, rows).into_owned()
    }

    /// Tolerances: round-off, and the error of central differences.
    fn singular_value_and_its_derivative_are_those_of_the_decomposition() {
        for (rows, n) in [(1, 1), (2, 2), (3, 7), (6, 6), (6, 7)] {
            for x in [0.2, 0.9, 1.7] {
                let at = DampedInverse::new(&columns(Dual::<1>::variable(x, 0), rows, n), rows, 1e-3, 1e-3);
                let least = |x: f64| reference(x, rows, n).singular_values().min();
                let off = (at.singular_value.re - least(x)).abs();
                assert!(off < 1e-13, "{rows} x {n}: {off:e}");
                let h = 1e-5;
                let slope = (least(x + h) - least(x - h)) / (2.0 * h);
                let off = (at.singular_value.eps[0] - slope).abs();
                assert!(off < 1e-8, "{rows} x {n}: {off:e}");
            }
        }
    }

    fn undamped_inverse_is_the_pseudoinverse() {
        let (rows, n, x) = (3, 5, 0.4);
        let (columns, J) = (columns(x, rows, n), reference(x, rows, n));
        let inverse = DampedInverse::new(&columns, rows, 1e-3, 1e-3);
        let b = [0.3, -0.7, 1.1, 0.0, 0.0, 0.0];
        let y = inverse.solve(&columns, b);
        let expected = J.pseudo_inverse(1e-9).expect("finite") * nalgebra::Vector3::from_column_slice(&b[..3]);
        let rates = columns
            .iter()
            .map(|column| (0..rows).map(|i| column[i] * y[i]).sum::<f64>());
        let off = rates.zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::larger);
        assert!(inverse.damping == 0.0 && off < 1e-13, "{off:e}");
    }

    /// Returns a sum of all results for a matrix and a right side that depend on `x`.
    fn results<S: Scalar>(x: S, (rows, n): (usize, usize), threshold: f64) -> S {
        let columns = columns(x, rows, n);
        let inverse = DampedInverse::new(&columns, rows, threshold, 0.4);
        let b = std::array::from_fn(|i| {
            if i < rows {
                x * S::lift(0.7 + i as f64)
            } else {
                S::zero()
            }
        });
        let y = inverse.solve(&columns, b);
        let sum = (0..rows).fold(inverse.singular_value + inverse.damping * x, |sum, i| {
            sum + y[i] * S::lift(1.3 - 0.4 * i as f64)
        });
        sum + DampedInverse::undamped(&columns, rows).volume(&columns)
    }

    /// Tolerance: round-off at the condition of the matrices, up to 1e3.
    fn record_has_the_derivatives_of_dual_numbers() {
        let mut tape = Tape::default();
        for (shape, threshold) in [
            ((1, 1), 1e-3),
            ((2, 2), 3.0),
            ((3, 7), 1e-3),
            ((3, 7), 5.0),
            ((6, 7), 2.0),
        ] {
            for x in [0.2, 0.9, 1.7] {
                let sum = tape.record(1, || results(Recorded::variable(x, 0), shape, threshold));
                tape.seed(sum, 1.0);
                tape.sweep(0);
                let expected = results(Dual::<1>::variable(x, 0), shape, threshold);
                let values = (sum.value() - expected.re).abs() / expected.re.abs().max(1.0);
                let derivatives = (tape.adjoint(0) - expected.eps[0]).abs() / expected.eps[0].abs().max(1.0);
                assert!(
                    values == 0.0 && derivatives < 1e-11,
                    "{shape:?}: {values:e}, {derivatives:e}"
                );
            }
        }
    }

    /// Returns a matrix with the singular values 3 and `sigma`, the latter for the direction (1,
    /// 2).
    fn nearly_singular<S: Scalar>(sigma: S) -> [[S; 6]; 2] {
        let (u, v) = ([1.0, 2.0], [-2.0, 1.0]);
        let entry = |i: usize, k: usize| sigma * S::lift(u[i] * u[k] / 5.0) + S::lift(3.0 * v[i] * v[k] / 5.0);
        [0, 1].map(|k| std::array::from_fn(|i| if i < 2 { entry(i, k) } else { S::zero() }))
    }

    /// A motion in the direction of the smallest singular value has rates of `σ/(σ² + λ²)`, at most
    /// `1/(2 λ)`, which they reach at `σ = λ`. Without damping they are twice that there.
    fn damping_bounds_the_rates() {
        for (sigma, at_bound) in [
            (0.0, false),
            (0.01, false),
            (0.049752, true),
            (0.2, false),
            (0.7, false),
        ] {
            let columns = nearly_singular(sigma);
            let inverse = DampedInverse::new(&columns, 2, 1.0, 0.05);
            let damping = 0.05 * (1.0 - sigma * sigma) * (1.0 - sigma * sigma);
            assert!((inverse.singular_value - sigma).abs() < 1e-14 && (inverse.damping - damping).abs() < 1e-14);
            let length = 5.0_f64.sqrt();
            let y = inverse.solve(&columns, [1.0 / length, 2.0 / length, 0.0, 0.0, 0.0, 0.0]);
            let rates = columns.map(|column| column[0] * y[0] + column[1] * y[1]);
            let (rate, bound) = (rates[0].hypot(rates[1]), 1.0 / (2.0 * damping));
            let off = (rate - sigma / (sigma * sigma + damping * damping)).abs();
            assert!(
                off < 1e-11 && rate < (1.0 + 1e-11) * bound,
                "{sigma}: {rate}, off by {off:e}"
            );
            assert_eq!(rate > 0.9999 * bound, at_bound, "{sigma}: {rate} of {bound}");
        }
    }

    /// The damping has no kink where a singular value passes zero, and none at the threshold.
    fn damping_is_smooth() {
        let slope = |sigma: f64| {
            let columns = nearly_singular(Dual::<1>::variable(sigma, 0));
            DampedInverse::new(&columns, 2, 0.1, 0.05).damping.eps[0]
        };
        for (at, expected) in [(0.0, 0.0), (0.1, 0.0), (0.04, -0.05 * 4.0 * 0.4 * 0.84 / 0.1)] {
            let off = [-1e-7, 1e-7].map(|by| (slope(at + by) - expected).abs());
            assert!(off.into_iter().all(|off| off < 1e-4), "{at}: {off:?}");
        }
    }
}
