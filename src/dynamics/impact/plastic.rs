use super::NO_RESPONSE;
use nalgebra::{DMatrix, DVector};

/// Response of a row, relative to the largest, below which it counts as zero. Different units of
/// rows do not lead to ratios as small as this.
const NO_ROW: f64 = 1e-14;

/// The result of [`plastic`].
#[derive(Clone, Debug, PartialEq)]
pub struct Plastic {
    /// Impulse of each row, N·s or N·m·s; zero for redundant rows.
    pub impulse: DVector<f64>,
    /// Number of independent rows.
    pub rank: usize,
    /// Relative motion that remains after the impulses: `|u + W p| / |u|`, each row divided by
    /// `√W_ii`. It is round-off unless rows contradict each other, or a row without response has a
    /// velocity.
    pub residual: f64,
}

/// Returns the impulses `p` that end the relative motion of all rows at once: `u + W p = 0`.
///
/// `W` (symmetric, positive semidefinite) and `u` may mix rows of points (1/kg, m/s) and of
/// rotations (1/(kg·m²), rad/s): rows are first divided by `√W_ii` (by that of the largest
/// response, if the response of the row is `1e14` times smaller). A Cholesky factorisation with
/// complete pivoting selects the independent rows. A pivot is the squared sine of the angle between
/// a row and the rows selected before; below `1e-11` the row is redundant.
///
/// With redundant rows the velocities after the impact are unique, the impulses are not.
///
/// Returns `None` if the sizes differ or a value is not finite.
pub fn plastic(W: &DMatrix<f64>, u: &DVector<f64>) -> Option<Plastic> {
    let n = u.len();
    if W.shape() != (n, n) || !W.iter().chain(u).all(|x| x.is_finite()) {
        return None;
    }
    let (W, scale) = scaled(W);
    let u = u.component_mul(&scale);
    let rows = independent(&W);
    let independent_rows = W.select_rows(&rows).select_columns(&rows);
    let mut p = DVector::zeros(n);
    // The second pass is an iterative refinement.
    for _ in 0..2 {
        let left = &u + &W * &p;
        let step = independent_rows.clone().cholesky()?.solve(&left.select_rows(&rows));
        for (&row, x) in rows.iter().zip(&step) {
            p[row] -= x;
        }
    }
    let (before, after) = (u.norm(), (&u + &W * &p).norm());
    let impulse = p.component_mul(&scale);
    let residual = if before > 0.0 { after / before } else { 0.0 };
    impulse.iter().all(|p| p.is_finite()).then_some(Plastic {
        impulse,
        rank: rows.len(),
        residual,
    })
}

/// Returns `W` scaled to a unit diagonal, and the scale of each row. A row without response keeps a
/// diagonal entry near zero.
fn scaled(W: &DMatrix<f64>) -> (DMatrix<f64>, DVector<f64>) {
    let n = W.nrows();
    let largest = W.diagonal().iter().fold(0.0, |a: f64, &b| a.max(b));
    let scale = DVector::from_fn(n, |i, _| {
        let own = if W[(i, i)] > NO_ROW * largest {
            W[(i, i)]
        } else {
            largest
        };
        if own > 0.0 { own.sqrt().recip() } else { 1.0 }
    });
    let W = DMatrix::from_fn(n, n, |i, j| scale[i] * 0.5 * (W[(i, j)] + W[(j, i)]) * scale[j]);
    (W, scale)
}

/// Returns the independent rows of a symmetric matrix with unit diagonal: the pivots of its
/// Cholesky factorisation.
fn independent(W: &DMatrix<f64>) -> Vec<usize> {
    let mut left = W.clone();
    let mut rows = Vec::new();
    for _ in 0..W.nrows() {
        let diagonal = left.diagonal();
        let row = diagonal.imax();
        let pivot = diagonal[row];
        if pivot <= NO_RESPONSE {
            break;
        }
        rows.push(row);
        let column = left.column(row).into_owned();
        left.ger(-1.0 / pivot, &column, &column, 1.0);
        left[(row, row)] = 0.0; // exactly: round-off there could be selected as a pivot
    }
    rows
}
