//! Contact points with friction pyramids in place of cones: a start for the iteration on the cones.

use super::complementarity::pivoted;
use super::friction::Friction;
use nalgebra::{DMatrix, DVector};

/// Number of edges of a friction pyramid.
const EDGES: usize = 8;

/// Directions of the edges of the friction pyramid of one point: unit vectors along the tangents
/// that span the plane with positive coefficients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges([[f64; 2]; EDGES]);

impl Edges {
    /// Returns edges at equal angles.
    pub fn even() -> Self {
        Self(std::array::from_fn(|k| {
            direction(std::f64::consts::TAU * k as f64 / EDGES as f64)
        }))
    }

    /// Returns edges of which five are about the tangential force `t`, `spread` (rad) apart.
    pub fn about(t: [f64; 2], spread: f64) -> Self {
        let middle = libm::atan2(t[1], t[0]);
        Self(std::array::from_fn(|k| {
            direction(match k {
                0..5 => middle + spread * (k as f64 - 2.0),
                _ => middle + std::f64::consts::FRAC_PI_2 * (k as f64 - 4.0),
            })
        }))
    }
}

fn direction(angle: f64) -> [f64; 2] {
    [libm::cos(angle), libm::sin(angle)]
}

/// Returns forces that satisfy the conditions of [`with_friction`](super::with_friction) with a
/// pyramid in place of each friction cone (D. E. Stewart and J. C. Trinkle, *Int. J. Numer. Methods
/// Eng.* 39 (1996)), to about 1e-9 of the largest; `None` if Lemke's method finds none.
///
/// Unknowns of a point with friction: its normal force, the forces along the edges, and the speed of
/// its sliding; of a point that slides or has no friction, its normal force.
pub(super) fn with_pyramids(
    W: &DMatrix<f64>,
    b: &DVector<f64>,
    points: &[Friction],
    edges: &[Edges],
) -> Option<DVector<f64>> {
    let (n, most) = (b.len(), W.diagonal().amax());
    // Forces of unit unknowns; the rows of `slack` are those of the pyramids.
    let mut columns: Vec<(usize, [f64; 3])> = Vec::new();
    let mut cones = Vec::new();
    for (i, (friction, edges)) in points.iter().zip(edges).enumerate() {
        match *friction {
            Friction::Sliding { mu, direction: [x, y] } => columns.push((i, [1.0, -mu * x, -mu * y])),
            Friction::Coulomb { mu } => {
                columns.push((i, [1.0, 0.0, 0.0]));
                if mu > 0.0 {
                    cones.push((columns.len(), mu));
                    columns.extend(edges.0.iter().map(|&[x, y]| (i, [0.0, x, y])));
                }
            }
        }
    }
    let forces = columns.len();
    let mut B = DMatrix::zeros(n, forces);
    let mut N = DMatrix::zeros(n, forces);
    for (k, &(i, unit)) in columns.iter().enumerate() {
        for (j, unit) in unit.iter().enumerate() {
            B[(3 * i + j, k)] = *unit;
            // Along the normal only the motion there is complementary.
            N[(3 * i + j, k)] = if j > 0 && columns[k].1[0] > 0.0 { 0.0 } else { *unit };
        }
    }
    let scale = b.amax();
    let size = forces + cones.len();
    let mut M = DMatrix::zeros(size, size);
    let mut q = DVector::zeros(size);
    M.view_mut((0, 0), (forces, forces))
        .copy_from(&(N.transpose() * W * &B / most));
    q.rows_mut(0, forces).copy_from(&(N.tr_mul(b) / scale));
    for (c, &(first, mu)) in cones.iter().enumerate() {
        let row = forces + c;
        M[(row, first - 1)] = mu;
        for k in first..first + EDGES {
            M[(row, k)] = -1.0;
            M[(k, row)] = 1.0;
        }
    }
    let solved = pivoted(&M, &q)?;
    Some(&B * solved.rows(0, forces) * (scale / most))
}
