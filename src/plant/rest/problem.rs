//! Linear problems of contact points that rest: their accelerations, and solutions of least norm.

use super::{Candidate, NO_FORCE, VERGE};
use crate::dynamics::LeastNorm;
use crate::dynamics::impact::Friction;
use crate::plant::closure::Rows;
use nalgebra::{DMatrix, DVector};
use std::ops::Range;

/// Largest angle between surfaces in contact that counts as round-off, rad.
const MOST_TILT: f64 = 1e-6;

/// Distance of two points, relative to the largest one of a pair of bodies, below which their gaps say
/// nothing of the angle.
const DOUBLE: f64 = 1e-3;

/// Accelerations `W f + b` of contacts along normals and tangents, or tangents alone (m/s²), due to
/// forces on them.
pub(in crate::plant) struct ForceProblem {
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

/// Returns forces with the accelerations of `f` for which all points in contact are within their
/// friction cones, if one is at its rim in `f`: those of least norm relative to the normal forces, which
/// share the friction of a face in the ratio of these. `None` if they are not, and if a point slides.
pub(super) fn within_cones(W: &DMatrix<f64>, f: &DVector<f64>, points: &[Friction]) -> Option<DVector<f64>> {
    let most = f.amax();
    let mut at_rim = false;
    let mut rows = Vec::new();
    for (k, point) in points.iter().enumerate() {
        let Friction::Coulomb { mu } = *point else { return None };
        if f[3 * k] > NO_FORCE * most {
            rows.extend(3 * k..3 * k + if mu > 0.0 { 3 } else { 1 });
            at_rim |= mu > 0.0 && libm::hypot(f[3 * k + 1], f[3 * k + 2]) >= VERGE * mu * f[3 * k];
        }
    }
    if !at_rim {
        return None;
    }
    let root = DVector::from_iterator(rows.len(), rows.iter().map(|&row| (f[row - row % 3] / most).sqrt()));
    let of_rows = W.select_rows(&rows).select_columns(&rows);
    let scaled = DMatrix::from_fn(rows.len(), rows.len(), |i, j| root[i] * of_rows[(i, j)] * root[j]);
    let same = (W * f).select_rows(&rows).component_mul(&root);
    let shared = pseudo_solution(&scaled, &same).component_mul(&root);
    let mut within = DVector::zeros(f.len());
    for (&row, x) in rows.iter().zip(&shared) {
        within[row] = *x;
    }
    let is_within = points.iter().enumerate().all(|(k, point)| match *point {
        Friction::Coulomb { mu } if within[3 * k] > 0.0 && mu > 0.0 => {
            libm::hypot(within[3 * k + 1], within[3 * k + 2]) < VERGE * mu * within[3 * k]
        }
        _ => within[3 * k] >= 0.0,
    });
    let off = (W * &within - W * f).amax();
    (is_within && off <= 1e-9 * (W * f).amax()).then_some(within)
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

/// Returns the accelerations in some of the rows, with the reactions of the other rows eliminated.
pub(in crate::plant) fn condensed(rows: &Rows, of: Range<usize>, noise: f64) -> ForceProblem {
    let Rows { W, along, .. } = rows;
    let others: Vec<usize> = (0..along.len()).filter(|row| !of.contains(row)).collect();
    let of: Vec<usize> = of.collect();
    let mut b = along.select_rows(&of);
    let mut W_pp = W.select_rows(&of).select_columns(&of);
    if !others.is_empty() {
        let W_oo = W.select_rows(&others).select_columns(&others);
        let W_po = W.select_rows(&of).select_columns(&others);
        b -= &W_po * pseudo_solution(&W_oo, &along.select_rows(&others));
        for (column, &row) in of.iter().enumerate() {
            let of_others = W.column(row).select_rows(&others);
            let reduced = &W_po * pseudo_solution(&W_oo, &of_others);
            W_pp.column_mut(column).axpy(-1.0, &reduced, 1.0);
        }
        W_pp = (&W_pp + W_pp.transpose()) * 0.5;
    }
    ForceProblem { W: W_pp, b, noise }
}

/// Returns the part of velocities or accelerations `b` that no motion of rigid bodies has, since
/// surfaces in contact are parallel only to the margin of their gaps: the rows of several points are
/// redundant but for this angle, and no force of a reasonable size corrects such a part.
pub(super) fn inconsistency(candidates: &[Candidate], b: &DVector<f64>) -> f64 {
    let mut tilt = 0.0_f64;
    for first in candidates {
        let same = || {
            let of_pair = |second: &&Candidate| first.pair.carriers() == second.pair.carriers();
            let away = |second: &Candidate| (first.pair.arms[0] - second.pair.arms[0]).norm();
            let others = candidates.iter().filter(of_pair);
            others.map(move |second| (away(second), (first.gap - second.gap).abs()))
        };
        let farthest = same().fold(0.0, |most: f64, (distance, _)| most.max(distance));
        let apart = same().filter(|(distance, _)| *distance > DOUBLE * farthest);
        tilt = apart.fold(tilt, |tilt, (distance, difference)| tilt.max(difference / distance));
    }
    2.0 * tilt.min(MOST_TILT) * b.amax()
}
