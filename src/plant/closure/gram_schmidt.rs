//! Orthonormal basis of the columns of a matrix with six columns
//! (`docs/theory/resting-contact.md`, equation (5)).

use crate::algebra::Scalar;
use nalgebra::Vector6;

/// Number of independent wrenches between two bodies.
pub(super) const WRENCHES: usize = 6;

/// Squared norm of a column after the projection on the complement of the others, relative to that of
/// all components of force or of moment before, below which it is round-off. If a nearly dependent
/// column is kept, `W` of the combinations is singular, and is solved with the rank of the last event.
const NO_COLUMN: f64 = 1e-20;

/// Factor `R` of (5), row by row.
pub(super) struct Factor<S: Scalar> {
    pub R: [Vector6<S>; WRENCHES],
    pub rank: usize,
}

/// Replaces the columns of a matrix, given by its rows, by an orthonormal basis of them, followed by
/// zeros. It uses the Gram–Schmidt process with pivots and reorthogonalisation. `columns` is workspace.
///
/// The largest column is next, so that zero columns and round-off are projected on the whole basis:
/// with dual numbers `R` then has their derivatives.
pub(super) fn orthonormalise<S: Scalar>(rows: &mut [Vector6<S>], columns: &mut Vec<S>) -> Factor<S> {
    let n = rows.len();
    columns.clear();
    for i in 0..WRENCHES {
        columns.extend(rows.iter().map(|row| row[i]));
    }
    let at = |i: usize| i * n..(i + 1) * n;
    let mut left: [S; WRENCHES] = std::array::from_fn(|i| dot(&columns[at(i)], &columns[at(i)]));
    let squares = left.map(|square| square.value());
    // Round-off of a component is relative to all components of force, or of moment.
    let [of_force, of_moment] = [0, 3].map(|first| squares[first..first + 3].iter().sum::<f64>());
    let scale = |column: usize| if column < 3 { of_force } else { of_moment }.max(f64::MIN_POSITIVE);
    let (mut R, mut rank) = ([Vector6::zeros(); WRENCHES], 0);
    // Columns in the order of the basis, followed by the others.
    let mut order: [usize; WRENCHES] = std::array::from_fn(|i| i);
    while rank < WRENCHES {
        let parts = (rank..WRENCHES).map(|place| (left[order[place]].value() / scale(order[place]), place));
        // One that is not a number stays, so that it is found.
        let parts = parts.filter(|(part, _)| *part > NO_COLUMN || part.is_nan());
        let Some((_, pivot)) = parts.reduce(|a, b| if b.0 > a.0 { b } else { a }) else {
            break;
        };
        order.swap(rank, pivot);
        let next = order[rank];
        for (known, &basis) in order[..rank].iter().enumerate() {
            let (basis, column) = two(columns, n, basis, next);
            let along = dot(basis, column);
            R[known][next] += along;
            subtract(column, basis, along);
        }
        let length = dot(&columns[at(next)], &columns[at(next)]).sqrt();
        R[rank][next] = length;
        let to_unit = S::one() / length;
        columns[at(next)].iter_mut().for_each(|entry| *entry *= to_unit);
        for &other in &order[rank + 1..] {
            let (basis, column) = two(columns, n, next, other);
            let along = dot(basis, column);
            R[rank][other] = along;
            subtract(column, basis, along);
            left[other] = dot(column, column);
        }
        rank += 1;
    }
    for (k, row) in rows.iter_mut().enumerate() {
        *row = Vector6::from_fn(|i, _| if i < rank { columns[order[i] * n + k] } else { S::zero() });
    }
    Factor { R, rank }
}

/// Returns two different columns of `n` entries.
fn two<S>(columns: &mut [S], n: usize, read: usize, written: usize) -> (&[S], &mut [S]) {
    let (before, after) = columns.split_at_mut(read.max(written) * n);
    let (low, high) = (&mut before[read.min(written) * n..][..n], &mut after[..n]);
    if read < written { (low, high) } else { (high, low) }
}

/// Returns the scalar product, summed in four parts.
#[inline]
fn dot<S: Scalar>(a: &[S], b: &[S]) -> S {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [S::zero(); 4];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest = a_rest.iter().zip(b_rest).fold(S::zero(), |sum, (&a, &b)| sum + a * b);
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

/// Subtracts `part` times `basis` from a column.
#[inline]
fn subtract<S: Scalar>(column: &mut [S], basis: &[S], part: S) {
    for (entry, &basis) in column.iter_mut().zip(basis) {
        *entry -= basis * part;
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;
    use crate::algebra::{Dual, Vec3, Wrench};

    unit_tests![product_of_the_factors_has_the_derivatives_of_the_components];

    /// `Q R` has the derivatives of `C`, also of columns that are zero or round-off here: points
    /// without friction on a plane that turns, whose normal is an axis at present.
    fn product_of_the_factors_has_the_derivatives_of_the_components() {
        for noise in [0.0, 1e-17] {
            let angle = Dual::<1>::new(noise, [1.0]);
            let (sine, cosine) = angle.sin_cos();
            let normal = Vec3::new(sine * Dual::lift(0.6), sine * Dual::lift(-0.8), cosine);
            let rows: Vec<Vector6<Dual<1>>> = (0..9)
                .map(|k| {
                    let at = Vec3::new(0.3 * f64::from(k % 3), 0.2 * f64::from(k / 3), 0.0);
                    let moment = at.map(Dual::lift).cross(&normal);
                    Wrench::new(moment, normal).to_array().into()
                })
                .collect();
            let mut Q = rows.clone();
            let Factor { R, rank } = orthonormalise(&mut Q, &mut Vec::new());
            assert_eq!(rank, 3);
            for (row, Q) in rows.iter().zip(&Q) {
                for column in 0..WRENCHES {
                    let product = (0..rank).fold(Dual::lift(0.0), |sum, i| sum + Q[i] * R[i][column]);
                    let off = product - row[column];
                    assert!(off.re.abs() < 1e-15 && off.eps[0].abs() < 1e-14, "{column}: {off:?}");
                }
            }
        }
    }
}
