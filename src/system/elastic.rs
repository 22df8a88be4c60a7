use super::deflection::most_fields;
use super::{BodyConstants, BodyKinematics, Deflection, ParamId};
use crate::algebra::{Lift, Mat3, Scalar, Sym3, Vec3, equal_in_lanes, transposed};
use nalgebra::{DMatrix, DVector};
use std::ops::{Mul, Range};

/// Modal coordinates of a flexible body: their offsets in the state, and the body's stations.
///
/// The body's frame B is fixed to the point where the joint carries the body. A point at `x` in the
/// undeformed body is at
///
/// ```text
///     p(x) = x + Σ Φ_k(x) η_k + ½ Σ G_kl(x) η_k η_l
/// ```
///
/// in axes of B. The second-order part is the foreshortening of a bent beam; it causes the
/// geometric stiffening of a rotating beam.
#[derive(Clone, Debug)]
pub struct Modes {
    /// Index among the flexible bodies.
    pub index: usize,
    /// Offset of the amplitudes `η` among all coordinates.
    pub q: usize,
    /// Offset of their rates among all rates.
    pub v: usize,
    /// Number of modes.
    pub n: usize,
    /// True if they have damping ratios.
    pub are_damped: bool,
    /// The stations that carry a body or a frame.
    pub stations: Range<usize>,
    /// The station at the tip of a beam, even if nothing is attached to it.
    pub tip: Option<usize>,
}

impl Modes {
    /// Returns the largest number of [fields](Field) of the body.
    pub fn most_fields(&self) -> usize {
        most_fields(self.n)
    }

    /// Returns the index range of the rates.
    pub fn rates(&self) -> Range<usize> {
        self.v..self.v + self.n
    }

    /// Returns the index range of the coordinates.
    pub fn coordinates(&self) -> Range<usize> {
        self.q..self.q + self.n
    }
}

/// A point of a flexible body that carries a joint or a named frame, or the tip of a beam.
#[derive(Clone, Debug)]
pub struct Station {
    /// Index of the body.
    pub body: usize,
    /// Location on the undeformed body.
    pub location: Location,
    /// Offset of its columns among [`Kinematics::T`](super::Kinematics::T), one for each mode.
    pub first: usize,
}

/// Location of a station on the undeformed body.
#[derive(Clone, Copy, Debug)]
pub enum Location {
    /// The point of the beam, or the node of modal data, nearest to this position (m, three
    /// values).
    Near(ParamId),
    /// The tip of the beam.
    Tip,
}

/// Inertia and stiffness constants of a flexible body.
///
/// In the beam's axes, which are fixed in the body, the displacement is a sum of [fields](Field)
/// along one axis `e_i` each,
///
/// ```text
///     p(x) = x + Σ_i f_i(x) e_i z_i
///     z_i  = η_k, or for the foreshortening due to two modes η_k η_l (½ η_k² if k = l)
/// ```
///
/// so that the kinetic energy contains constant integrals only. With the velocity `v` of the body's
/// origin and its angular velocity `ω`
///
/// ```text
///     T = ½ ∫ |v + ω × p + ṗ|² dm + ω·Σ b_k η̇_k + ½ Σ I_kl η̇_k η̇_l.
/// ```
///
/// The integral is not truncated, so the energy is positive for any deflection. For a beam, `b_k`
/// and `I_kl` are due to the rotation of the sections about its axis.
#[derive(Clone, Debug)]
pub struct Elastic<C: nalgebra::Scalar = f64> {
    /// Constants of each mode.
    pub modes: Vec<ModeConstants<C>>,
    /// Displacement fields, ordered by axis.
    pub fields: Vec<Field<C>>,
    /// Index ranges of the fields along the first, second and third axis.
    pub along: [Range<usize>; 3],
    /// `A_ij = ∫ f_i f_j dm`, row-major; for two modes dimensionless, for a mode and a pair
    /// 1/(m·√kg), for two pairs 1/(m²·kg).
    pub products: Vec<C>,
    /// Dependence of the modal mass on the amplitudes, lower triangle.
    pub mass_terms: Vec<MassTerm<C>>,
    /// First moment of mass of the undeformed body, kg·m, beam axes.
    pub h: Vec3<C>,
    /// Inertia of the undeformed body about its origin, kg·m², beam axes.
    pub J: Sym3<C>,
    /// Modal mass of the undeformed body, row-major; dimensionless by the normalisation of the
    /// modes.
    pub mass: Vec<C>,
    /// The beam's root, m, body axes.
    pub root: Vec3<C>,
    /// The beam's axes in body axes.
    pub axes: Mat3<C>,
    /// The beam's length, m.
    pub length: C,
    /// `∫ x dx` along the undeformed beam, from the body's origin, m², beam axes.
    pub line: Vec3<C>,
    /// First frequency (rad/s) omitted by the truncation, for each type of motion that has modes.
    pub omitted: Vec<C>,
}

/// Constants of a mode.
#[derive(Clone, Debug)]
pub struct ModeConstants<C: nalgebra::Scalar = f64> {
    /// `b_k`: angular momentum of the sections' spin, √kg·m, beam axes.
    pub b: Vec3<C>,
    /// Stiffness `ω²`, 1/s².
    pub stiffness: C,
    /// Damping `2 ζ ω`, 1/s.
    pub damping: C,
    /// Force per curvature that is prescribed along the beam, in y and in z, N·m²/(m·√kg).
    pub of_curvature: [C; 2],
}

/// A displacement field `f(x)` along one of the beam's axes.
#[derive(Clone, Debug)]
pub struct Field<C: nalgebra::Scalar = f64> {
    /// Amplitude: a mode, or a product of two.
    pub amplitude: Amplitude,
    /// The axis `e`: 0, 1 or 2.
    pub axis: usize,
    /// `∫ f dm`, √kg; for a pair, 1/m.
    pub a: C,
    /// `∫ x f dm` from the body's origin, m·√kg; for a pair dimensionless.
    pub Y: Vec3<C>,
    /// `∫ f dx`, m/√kg; for a pair, 1/kg.
    pub l: C,
}

/// Contribution of a monomial of the amplitudes to an entry of the modal mass:
/// `A_ij ∂z_i/∂η_k ∂z_j/∂η_l` of two fields along one axis, at least one of them a foreshortening.
#[derive(Clone, Copy, Debug)]
pub struct MassTerm<C = f64> {
    /// Index of the entry, row-major.
    pub entry: usize,
    /// Index of the monomial in the list `η₁ … η_n`, then `η_k η_l` (`l ≤ k`), row by row.
    pub power: usize,
    /// Factor of the monomial.
    pub factor: C,
}

impl Field {
    /// Returns the index range of the fields along each axis, in a list ordered by axis.
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
    /// `η_k η_l`; `½ η_k²` if `k = l`.
    Pair(usize, usize),
}

impl Amplitude {
    /// Returns, for each mode on which `z` depends, its index and `∂z/∂η` of this mode: as the
    /// index of the amplitude that it equals, or `None` if it is 1.
    pub fn slopes(self) -> impl Iterator<Item = (usize, Option<usize>)> {
        let both = match self {
            Self::Mode(k) => [Some((k, None)), None],
            Self::Pair(k, l) if k == l => [Some((k, Some(k))), None],
            Self::Pair(k, l) => [Some((k, Some(l))), Some((l, Some(k)))],
        };
        both.into_iter().flatten()
    }
}

/// Constants of a station's displacement, body axes.
#[derive(Clone, Debug, Default)]
pub struct StationConstants<C: nalgebra::Scalar = f64> {
    /// Undeformed position from the body's origin, m.
    pub p: Vec3<C>,
    /// Undeformed position from the origin of the spec's body, m: differs from `p` if the body is
    /// one of several segments.
    pub written: Vec3<C>,
    /// Displacement of each mode, 1/√kg.
    pub shape: Vec<Vec3<C>>,
    /// Small rotation of each mode, rad/(m·√kg).
    pub slope: Vec<Vec3<C>>,
    /// Second-order displacement `G_kl` of pairs `k ≤ l`, 1/(m·kg).
    pub pairs: Vec<(usize, usize, Vec3<C>)>,
    /// True if components of `shape`, `slope` and `pairs` that are zero are so for all values of
    /// the parameters, because the mode moves the station along or about one axis of the body.
    pub is_aligned: bool,
}

equal_in_lanes!(Amplitude);

transposed! {
    Elastic { modes, fields, along, products, mass_terms, h, J, mass, root, axes, length, line, omitted }
    ModeConstants { b, stiffness, damping, of_curvature }
    Field { amplitude, axis, a, Y, l }
    MassTerm { entry, power, factor }
    StationConstants { p, written, shape, slope, pairs, is_aligned }
}

impl<C: Scalar> Elastic<C> {
    /// Returns the strain energy at the amplitudes `eta`, J.
    pub fn strain_energy<S: Scalar>(&self, eta: &[S]) -> S
    where
        C: Lift<S> + Mul<f64, Output = C>,
    {
        self.modes.iter().zip(eta).fold(S::zero(), |energy, (mode, &eta)| {
            energy + eta * eta * S::lift(mode.stiffness * 0.5)
        })
    }
}

impl Elastic {
    /// Returns true if the kinetic energy of the undeformed body is positive semidefinite: the
    /// momentum of the modes is consistent with the body's mass. The energy of a motion may be
    /// zero, such as the rotation of a slender beam about its axis.
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
        // Round-off is relative to the magnitude of the terms: the largest moment of inertia, the
        // mass, and each modal mass.
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
