use super::{BodyConstants, BodyKinematics, Deflection, ParamId};
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
    /// The stations that carry something.
    pub stations: Range<usize>,
    /// A beam's tip, which may carry nothing.
    pub tip: Option<usize>,
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

/// A place on a flexible body that carries a joint or a named frame, or a beam's tip.
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
    /// On the beam where it is nearest to a point, m: three numbers; on the nearest node of modal data.
    Near(ParamId),
    /// At the beam's tip.
    Tip,
}

/// What the dynamics needs to know of a flexible body: how its mass is displaced, and its stiffness.
///
/// In the beam's axes, which are fixed in the body, the displacement is a sum of [fields](Field) along one axis `e_i` each,
///
/// ```text
///     p(x) = x + Σ_i f_i(x) e_i z_i,      z_i = η_k, or η_k η_l (½ η_k² if k = l) for what two modes draw in together,
/// ```
///
/// so that its kinetic energy needs constant integrals only; with `v` and `ω` of the body's origin
///
/// ```text
///     T = ½ ∫ |v + ω × p + ṗ|² dm + ω·Σ b_k η̇_k + ½ Σ I_kl η̇_k η̇_l.
/// ```
///
/// Nothing of the first part is left out: however far the body is bent, no motion has a negative energy.
#[derive(Clone, Debug)]
pub struct Elastic {
    /// One for each mode.
    pub modes: Vec<ModeConstants>,
    /// The displacement's fields, axis after axis.
    pub fields: Vec<Field>,
    /// Which of them are along the first, the second and the third axis.
    pub along: [Range<usize>; 3],
    /// `A_ij = ∫ f_i f_j dm`, row by row; of two modes without a unit, of a mode and a pair 1/(m·√kg), of two pairs 1/(m²·kg).
    pub products: Vec<f64>,
    /// What bending adds to the modal mass, in its lower triangle.
    pub mass_terms: Vec<MassTerm>,
    /// First moment of the whole body's mass at rest, kg·m, beam axes.
    pub h: Vec3<f64>,
    /// Inertia of the whole body about its origin at rest, kg·m², beam axes.
    pub J: Sym3<f64>,
    /// Modal mass at rest, row by row; without a unit, as modes are scaled.
    pub mass: Vec<f64>,
    /// The beam's root, m, body axes.
    pub root: Vec3<f64>,
    /// The beam's axes in body axes.
    pub axes: Mat3<f64>,
    /// The beam's length, m.
    pub length: f64,
    /// `∫ x dx` along it at rest, from the body's origin, m², beam axes.
    pub line: Vec3<f64>,
    /// First frequency of each kind of motion (rad/s) that has modes, but not this one.
    pub left_out: Vec<f64>,
}

/// Constants of a mode.
#[derive(Clone, Debug)]
pub struct ModeConstants {
    /// `b_k`: angular momentum of the sections' spin, √kg·m, beam axes.
    pub b: Vec3<f64>,
    /// Stiffness `ω²`, 1/s².
    pub stiffness: f64,
    /// Damping `2 ζ ω`, 1/s.
    pub damping: f64,
}

/// A field `f(x)` of displacements along one of the beam's axes.
#[derive(Clone, Debug)]
pub struct Field {
    /// The mode, or the two modes, whose amplitudes' product it is multiplied with.
    pub amplitude: Amplitude,
    /// The axis `e`: 0, 1 or 2.
    pub axis: usize,
    /// `∫ f dm`, √kg; of a pair, 1/m.
    pub a: f64,
    /// `∫ x f dm`, from the body's origin, m·√kg; of a pair without a unit.
    pub Y: Vec3<f64>,
    /// `∫ f dx`, m/√kg; of a pair, 1/kg.
    pub l: f64,
}

/// What an amplitude, or the product of two, adds to an entry of the modal mass: `A_ij ∂z_i/∂η_k ∂z_j/∂η_l` of two fields along one axis of
/// which one is drawn in.
#[derive(Clone, Copy, Debug)]
pub struct MassTerm {
    /// The entry, row by row.
    pub entry: usize,
    /// Index of the monomial it multiplies, in the list `η₁ … η_n`, then `η_k η_l` (`l ≤ k`), row by row.
    pub power: usize,
    /// By what it is multiplied.
    pub factor: f64,
}

impl Field {
    /// Where the fields along each axis are in a list that goes axis after axis.
    pub fn ranges(fields: &[Self]) -> [Range<usize>; 3] {
        let start = |axis| fields.partition_point(|field| field.axis < axis);
        [0, 1, 2].map(|axis| start(axis)..start(axis + 1))
    }
}

/// The amplitude `z` of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amplitude {
    /// `η_k`.
    Mode(usize),
    /// `η_k η_l`; `½ η_k²` if they are one.
    Pair(usize, usize),
}

impl Amplitude {
    /// `∂z/∂η`, mode by mode: of which amplitude it is the value, or it is 1.
    pub fn slopes(self) -> impl Iterator<Item = (usize, Option<usize>)> {
        let both = match self {
            Self::Mode(k) => [Some((k, None)), None],
            Self::Pair(k, l) if k == l => [Some((k, Some(k))), None],
            Self::Pair(k, l) => [Some((k, Some(l))), Some((l, Some(k)))],
        };
        both.into_iter().flatten()
    }
}

/// What a station's bending is made of, in body axes.
#[derive(Clone, Debug, Default)]
pub struct StationConstants {
    /// Position at rest, m.
    pub p: Vec3<f64>,
    /// The same from the origin of the body as it is written, whose segment this one may be.
    pub written: Vec3<f64>,
    /// Displacement of each mode, 1/√kg.
    pub shape: Vec<Vec3<f64>>,
    /// Small rotation of each mode, rad/(m·√kg).
    pub slope: Vec<Vec3<f64>>,
    /// Second-order displacement `G_kl` of pairs `k ≤ l`, 1/(m·kg).
    pub pairs: Vec<(usize, usize, Vec3<f64>)>,
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
        let mut rest = Deflection::new(n);
        rest.update(self, &BodyKinematics::world(), &vec![0.0; n], &vec![0.0; n]);
        let mut M = DMatrix::zeros(6 + n, 6 + n);
        let h = body.h.cross_matrix();
        M.fixed_view_mut::<3, 3>(0, 0).copy_from(&body.J_Bo.full());
        M.fixed_view_mut::<3, 3>(0, 3).copy_from(&h);
        M.fixed_view_mut::<3, 3>(3, 0).copy_from(&h.transpose());
        M.fixed_view_mut::<3, 3>(3, 3).fill_diagonal(body.m);
        for (k, L) in rest.L.iter().enumerate() {
            for i in 0..3 {
                (M[(i, 6 + k)], M[(6 + k, i)]) = (L.t[i], L.t[i]);
                (M[(3 + i, 6 + k)], M[(6 + k, 3 + i)]) = (L.f[i], L.f[i]);
            }
            for l in 0..n {
                M[(6 + k, 6 + l)] = rest.M[k * n + l];
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
