//! Linear problems of contact points that rest: their accelerations, and solutions of least norm.

use crate::dynamics::LeastNorm;
use crate::dynamics::impact::Friction;
use crate::plant::closure::Rows;
use nalgebra::{DMatrix, DVector};

/// Accelerations `W f + b` of the points in contact along normals and tangents (m/s²), due to forces on
/// them.
pub(super) struct ForceProblem {
    pub W: DMatrix<f64>,
    pub b: DVector<f64>,
    /// Round-off of `b`.
    pub noise: f64,
}

/// Returns the solution of least norm of `W f + b = 0`, without the tangential rows of points that
/// slide or have no friction; their `f` is zero.
pub(super) fn least_norm(W: &DMatrix<f64>, b: &DVector<f64>, points: &[Friction]) -> DVector<f64> {
    let is_row = |k: usize| k.is_multiple_of(3) || matches!(points[k / 3], Friction::Coulomb { mu } if mu > 0.0);
    let rows: Vec<usize> = (0..b.len()).filter(|&k| is_row(k)).collect();
    let solved = pseudo_solution(&W.select_rows(&rows).select_columns(&rows), &-b.select_rows(&rows));
    let mut f = DVector::zeros(b.len());
    for (&row, x) in rows.iter().zip(&solved) {
        f[row] = *x;
    }
    f
}

/// Returns the solution of least norm of `W x = b` for a symmetric positive semidefinite `W`; zero if
/// its rank cannot be determined.
pub(super) fn pseudo_solution(W: &DMatrix<f64>, b: &DVector<f64>) -> DVector<f64> {
    let n = b.len();
    let largest = (0..n).fold(0.0, |most: f64, k| most.max(W[(k, k)]));
    if largest <= 0.0 {
        return DVector::zeros(n);
    }
    let flat: Vec<f64> = (0..n * n).map(|k| W[(k / n, k % n)]).collect();
    let least = f64::EPSILON * largest;
    let responses: Vec<f64> = W
        .diagonal()
        .iter()
        .map(|&own| if own > least { own } else { largest })
        .collect();
    let mut solver = LeastNorm::new(n);
    let rank = solver.rank_of_rows(&flat, n);
    let mut x = b.clone();
    match solver.factor(&flat, n, rank, &responses) {
        Ok(_) => solver.solve(x.as_mut_slice()),
        Err(_) => x.fill(0.0),
    }
    x
}

/// Returns the accelerations of contact points, with the reactions of the other rows eliminated.
pub(super) fn condensed(rows: &Rows, noise: f64) -> ForceProblem {
    let Rows { of_points, W, along } = rows;
    let (of_points, n) = (*of_points, along.len());
    let others = n - of_points;
    let mut b = along.rows(others, of_points).into_owned();
    let mut W_pp = W.view((others, others), (of_points, of_points)).into_owned();
    if others > 0 {
        let W_oo = W.view((0, 0), (others, others)).into_owned();
        let W_po = W.view((others, 0), (of_points, others)).into_owned();
        b -= &W_po * pseudo_solution(&W_oo, &along.rows(0, others).into_owned());
        for column in 0..of_points {
            let of_others = W.view((0, others + column), (others, 1)).column(0).into_owned();
            let reduced = &W_po * pseudo_solution(&W_oo, &of_others);
            W_pp.column_mut(column).axpy(-1.0, &reduced, 1.0);
        }
        W_pp = (&W_pp + W_pp.transpose()) * 0.5;
    }
    ForceProblem { W: W_pp, b, noise }
}
