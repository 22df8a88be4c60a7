use super::{BodyConstants, ParamId};
use crate::algebra::{Mat3, Scalar, Sym3, Vec3};
use nalgebra::{DMatrix, DVector};
use std::ops::Range;

/// A flexible body's modal coordinates: their place in the state, and the places of the body that bend.
///
/// The body's frame B is where its joint holds it. A point that is at `x` when the body is at rest is at
///
/// ```text
///     p(x) = x + Σ Φ_k(x) η_k + ½ Σ G_kl(x) η_k η_l
/// ```
///
/// in axes of B. The second-order part is what a beam's points draw in when it bends (foreshortening): from it come the
/// forces that stiffen a beam in rotation.
#[derive(Clone, Debug)]
pub struct Modes {
    /// Which of the flexible bodies it is.
    pub index: usize,
    /// Offset of the amplitudes `η` among all coordinates.
    pub q: usize,
    /// Offset of their rates among all rates.
    pub v: usize,
    /// How many there are.
    pub n: usize,
    /// The body's stations; the last is its tip.
    pub stations: Range<usize>,
}

impl Modes {
    /// The rates' places among all rates.
    pub fn rates(&self) -> Range<usize> {
        self.v..self.v + self.n
    }

    /// The coordinates' places among all coordinates.
    pub fn coordinates(&self) -> Range<usize> {
        self.q..self.q + self.n
    }
}

/// A place on a flexible body that carries a joint or a named frame, or its tip.
#[derive(Clone, Debug)]
pub struct Station {
    /// Index of the body.
    pub body: usize,
    /// Where it is in the body at rest.
    pub place: Place,
    /// Offset of its columns among [`Kinematics::T`](super::Kinematics::T), one for each mode.
    pub first: usize,
}

/// Where a station is in the body at rest.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// On the beam where it is nearest to a point, m: three numbers.
    Near(ParamId),
    /// At the beam's tip.
    Tip,
}

/// What the dynamics needs to know of a flexible body: integrals over its mass at rest, in body axes, and its stiffness.
///
/// With them the kinetic energy is exact to second order in the amplitudes:
///
/// ```text
///     T = ½ m v² + v·(ω × h) + ½ ω·J ω + v·ḣ + ω·Σ b_k η̇_k + ½ η̇·M η̇
///     h(η) = ∫p dm,   J(η) = ∫(p·p 1 − p pᵀ) dm,   b_k(η) = ∫p × ∂p/∂η_k dm
/// ```
#[derive(Clone, Debug, Default)]
pub struct Elastic {
    /// One for each mode.
    pub modes: Vec<ModeConstants>,
    /// One for each pair of modes `k ≤ l` that has second-order terms.
    pub pairs: Vec<PairConstants>,
    /// The beam's root, m, body axes.
    pub root: Vec3<f64>,
    /// The beam's axes in body axes.
    pub axes: Mat3<f64>,
    /// The beam's length, m.
    pub length: f64,
    /// First frequency of each kind of motion (rad/s) that has modes, but not this one.
    pub left_out: Vec<f64>,
    /// Modal mass `∫ Φ_k · Φ_l dm` (and of the sections' spin), row by row.
    pub mass: Vec<f64>,
}

/// First-order constants of a mode.
#[derive(Clone, Debug)]
pub struct ModeConstants {
    /// `∂h/∂η = ∫Φ dm`, √kg.
    pub h: Vec3<f64>,
    /// `b = ∫ x × Φ dm`, √kg·m.
    pub b: Vec3<f64>,
    /// `∂J/∂η`, √kg·m.
    pub J: Sym3<f64>,
    /// Stiffness `ω²`, 1/s².
    pub stiffness: f64,
    /// Damping `2 ζ ω`, 1/s.
    pub damping: f64,
}

/// Second-order constants of the modes `k ≤ l`.
#[derive(Clone, Debug)]
pub struct PairConstants {
    /// First mode.
    pub k: usize,
    /// Second mode, not below the first.
    pub l: usize,
    /// `∂²h/∂η_k∂η_l = ∫G_kl dm`.
    pub h: Vec3<f64>,
    /// The symmetric part of `∂b_k/∂η_l`: `∫ x × G_kl dm`, m.
    pub b: Vec3<f64>,
    /// The antisymmetric part of `∂b_k/∂η_l`: `∫ Φ_l × Φ_k dm`; Coriolis forces between the two.
    pub coriolis: Vec3<f64>,
    /// `∂²J/∂η_k∂η_l`.
    pub J: Sym3<f64>,
}

/// What a station's bending is made of, in body axes.
#[derive(Clone, Debug, Default)]
pub struct StationConstants {
    /// Position at rest, m.
    pub p: Vec3<f64>,
    /// Displacement of each mode.
    pub shape: Vec<Vec3<f64>>,
    /// Small rotation of each mode.
    pub slope: Vec<Vec3<f64>>,
    /// Second-order displacement `G_kl` of pairs `k ≤ l`.
    pub pairs: Vec<(usize, usize, Vec3<f64>)>,
}

/// The integral of the inertia `p·p 1 − p pᵀ` that goes with the moment `W = ∫ a ⊗ b dm` of both orders.
pub(super) fn inertia_of(W: &Mat3<f64>) -> Sym3<f64> {
    Sym3::from_upper(&(Mat3::identity() * (2.0 * W.trace()) - W - W.transpose()))
}

/// `∫ a × b dm` of `∫ a ⊗ b dm`.
pub(super) fn cross_of(W: &Mat3<f64>) -> Vec3<f64> {
    Vec3::new(W[(1, 2)] - W[(2, 1)], W[(2, 0)] - W[(0, 2)], W[(0, 1)] - W[(1, 0)])
}

impl Elastic {
    /// Strain energy at the amplitudes `eta`, J.
    pub fn strain_energy<S: Scalar>(&self, eta: &[S]) -> S {
        self.modes.iter().zip(eta).fold(S::zero(), |energy, (mode, &eta)| {
            energy + eta * eta * S::lift(0.5 * mode.stiffness)
        })
    }

    /// Whether no motion has a negative kinetic energy at rest: the modes' momentum is that of the body's mass. It may be zero,
    /// as a slender beam's is when it turns about itself.
    pub(super) fn fits(&self, body: &BodyConstants) -> bool {
        let n = self.modes.len();
        let mut M = DMatrix::zeros(6 + n, 6 + n);
        let h = body.h.cross_matrix();
        M.fixed_view_mut::<3, 3>(0, 0).copy_from(&body.J_Bo.full());
        M.fixed_view_mut::<3, 3>(0, 3).copy_from(&h);
        M.fixed_view_mut::<3, 3>(3, 0).copy_from(&h.transpose());
        M.fixed_view_mut::<3, 3>(3, 3).fill_diagonal(body.m);
        for (k, mode) in self.modes.iter().enumerate() {
            for i in 0..3 {
                (M[(i, 6 + k)], M[(6 + k, i)]) = (mode.b[i], mode.b[i]);
                (M[(3 + i, 6 + k)], M[(6 + k, 3 + i)]) = (mode.h[i], mode.h[i]);
            }
            for l in 0..n {
                M[(6 + k, 6 + l)] = self.mass[k * n + l];
            }
        }
        // Round-off is relative to what a number is computed of: all moments of inertia together, the mass, each mode's own.
        let inertia = body.J_Bo.d.into_iter().fold(f64::MIN_POSITIVE, f64::max);
        let scale = DVector::from_fn(6 + n, |i, _| match i {
            0..3 => 1.0 / inertia.sqrt(),
            3..6 => 1.0 / body.m.sqrt(),
            _ => 1.0 / M[(i, i)].sqrt(),
        });
        let scaled = DMatrix::from_fn(6 + n, 6 + n, |i, j| M[(i, j)] * scale[i] * scale[j]);
        scaled.symmetric_eigenvalues().min() > -1e-12
    }
}
