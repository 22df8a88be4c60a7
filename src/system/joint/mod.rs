//! Joint types, one file each, with their common interface [`Motion`].
//!
//! A joint connects its inboard frame F with the frame B of the child. F has its origin at the
//! joint and the axes of the carrier (the world, the parent or a station on it). The joint frame of
//! the spec (there called F) is M here: it has the origin of F and the attitude of the joint's
//! `orientation`. The rotation from F to M is part of the joint's constants, which saves a matrix
//! product.

mod cartesian;
mod cylindrical;
mod fixed;
mod free;
mod planar;
mod prismatic;
mod rectangular;
mod revolute;
mod screw;
mod spherical;
mod universal;

pub use cartesian::Cartesian;
pub use cylindrical::Cylindrical;
pub use fixed::Fixed;
pub use free::Free;
pub use planar::Planar;
pub use prismatic::Prismatic;
pub use rectangular::Rectangular;
pub use revolute::Revolute;
pub use screw::Screw;
pub use spherical::Spherical;
pub use universal::Universal;

use crate::algebra::transposed::parts;
use crate::algebra::{
    Lanes, Lift, Mat3, Pose, Quaternion, Scalar, Transposed, Twist, Wrench, lift3, lift33, one33, transposed,
};
use crate::spec::JointType;
use std::f64::consts::TAU;
use std::ops::Range;

/// Interface of a joint with `NQ` coordinates and `NV` rates.
pub trait Motion<S: Scalar, const NQ: usize, const NV: usize>: Copy {
    /// True if B can rotate in F; otherwise the angular parts of the subspace are zero and are
    /// skipped.
    const ROTATES: bool;
    /// True if B's origin can move in F; otherwise the linear parts of the subspace are zero and
    /// are skipped.
    const TRANSLATES: bool;

    /// Returns the pose `X_FB` of B in F at the coordinates `q`.
    fn pose(&self, q: &[S; NQ]) -> Pose<S>;

    /// Returns the motion subspace `H_FB`, columns in world axes: `V_FB = Σ H_k q̇_k`, about B's
    /// origin.
    fn subspace(&self, q: &[S; NQ], R_WF: &Mat3<S>, R_WB: &Mat3<S>) -> [Twist<S>; NV];

    /// Returns the velocity `V_FB` of B in F, world axes.
    #[inline(always)]
    fn velocity(&self, H: &[Twist<S>; NV], qd: &[S; NV]) -> Twist<S> {
        let mut V = Twist::zero();
        for k in 0..NV {
            if Self::ROTATES {
                V.w += H[k].w * qd[k];
            }
            if Self::TRANSLATES {
                V.v += H[k].v * qd[k];
            }
        }
        V
    }

    /// Returns `Ḣ q̇`, the acceleration in F due to the rates, in world axes.
    #[inline(always)]
    fn bias(&self, _H: &[Twist<S>; NV], _qd: &[S; NV]) -> Twist<S> {
        Twist::zero()
    }

    /// Returns the derivatives of the coordinates for the rates `qd`.
    fn q_dot(&self, q: &[S; NQ], qd: &[S; NV]) -> [S; NQ];

    /// Returns the rates for which [`q_dot`](Self::q_dot) returns `q_dot`, except for its part
    /// along a quaternion.
    fn rates_of(&self, q: &[S; NQ], q_dot: &[S; NQ]) -> [S; NV];

    /// Returns the attitude of B in F as a quaternion that is continuous in `q`.
    fn attitude(&self, q: &[S; NQ]) -> Quaternion<S>;

    /// Returns the coordinates whose [`pose`](Self::pose) is nearest to `X_FB`: the joint
    /// coordinates of bodies whose positions are states.
    ///
    /// `q_FB` is the attitude of `X_FB`, with its continuous sign. The pose determines angles up to
    /// full turns; the angle nearest to `unwrapped`, the unwrapped angle (rad, one per angle), is
    /// returned.
    fn nearest(&self, X_FB: &Pose<S>, q_FB: impl FnOnce() -> Quaternion<S>, unwrapped: &[S]) -> [S; NQ];
}

/// Returns the columns of `V = H (HᵀH)⁻¹`, each a wrench that is a unit generalised force on one
/// rate: `VᵀH = 1`, so that `VᵀV_FB` are the rates of the admissible motion nearest to `V_FB`.
///
/// Columns are of unit length and orthogonal, except for those of a screw joint and of the rotor of
/// a drive train, whose lengths are constant, and for the two axes of a universal joint, which may
/// be oblique.
#[inline]
pub(crate) fn dual<S: Scalar, const NV: usize>(H: &[Twist<S>; NV]) -> [Wrench<S>; NV] {
    let columns = H.each_ref().map(|H| Wrench::new(H.w, H.v));
    if let [column] = columns.as_slice() {
        let square = column.t.dot(&column.t) + column.f.dot(&column.f);
        if (square.value() - 1.0).abs() > 1e-9 {
            return [*column * (S::one() / square); NV];
        }
    }
    let [a, b] = columns.as_slice() else {
        return columns;
    };
    let dot = |a: &Wrench<S>, b: &Wrench<S>| a.t.dot(&b.t) + a.f.dot(&b.f);
    let (aa, ab, bb) = (dot(a, a), dot(a, b), dot(b, b));
    let k = S::one() / (aa * bb - ab * ab);
    let dual = [(*a * bb - *b * ab) * k, (*b * aa - *a * ab) * k];
    std::array::from_fn(|j| dual[j])
}

/// Returns the polar angle of the point `(cosine, sine)`, rad, plus as many full turns as bring it
/// nearest to `unwrapped`.
#[inline]
fn angle_near<S: Scalar>(sine: S, cosine: S, unwrapped: S) -> S {
    let angle = sine.atan2(cosine);
    let turn = S::lift(TAU);
    angle + ((unwrapped - angle) / turn).round() * turn
}

/// Rate at which the norm of a quaternion state returns to one, 1/s: `q̇ += rate (1 − |q|²) q`.
///
/// The norm does not affect the motion, because every use normalises; this term prevents its drift.
const NORM_RATE: f64 = 1.0;

/// Returns the rate of a quaternion state for the angular velocity `w` (rad/s, body axes).
#[inline(always)]
pub(crate) fn quaternion_rate<S: Scalar>(q: Quaternion<S>, w: nalgebra::Vector3<S>) -> Quaternion<S> {
    let rate = q.rate(w);
    let k = (S::one() - q.norm_squared()) * S::lift(NORM_RATE);
    Quaternion::new(rate.w + q.w * k, rate.x + q.x * k, rate.y + q.y * k, rate.z + q.z * k)
}

/// Returns the indices of a joint's rates in groups, ordered from F to B. Each group acts like a
/// joint of its own, in series with the others.
///
/// The columns of a group move with the preceding groups. The columns of one group either commute
/// with each other (and do not depend on the group's coordinates), or all rotate with the outboard
/// side of the group.
#[expect(clippy::single_range_in_vec_init, reason = "a list of one group")]
pub(crate) fn groups(kind: JointType) -> &'static [Range<usize>] {
    match kind {
        JointType::Fixed => &[],
        JointType::Revolute | JointType::Prismatic | JointType::Screw => &[0..1],
        JointType::Cylindrical | JointType::Rectangular => &[0..2],
        JointType::Cartesian | JointType::Spherical => &[0..3],
        JointType::Universal => &[0..1, 1..2],
        JointType::Planar => &[1..3, 0..1],
        // The velocity of B's origin is measured in F, the angular velocity in B.
        JointType::Free => &[3..6, 0..3],
    }
}

/// Returns the partial derivatives of the [quaternion rate](quaternion_rate) with respect to the
/// four components of `q` and the three of `w`, column by column.
pub(crate) fn quaternion_rate_derivatives(
    q: Quaternion<f64>,
    w: nalgebra::Vector3<f64>,
) -> ([[f64; 4]; 4], [[f64; 4]; 3]) {
    let parts = q.to_array();
    let by_q = std::array::from_fn(|i| {
        let unit = |n: usize| f64::from(n == i);
        // ½ q ⊗ (0, w) is linear in q; the normalising term is (1 − |q|²) q.
        let mut column = Quaternion::new(unit(0), unit(1), unit(2), unit(3)).rate(w).to_array();
        for (n, entry) in column.iter_mut().enumerate() {
            *entry += NORM_RATE * ((1.0 - q.norm_squared()) * unit(n) - 2.0 * parts[i] * parts[n]);
        }
        column
    });
    let unit = |i: usize| nalgebra::Vector3::from_fn(|n, _| f64::from(n == i));
    (by_q, std::array::from_fn(|i| q.rate(unit(i)).to_array()))
}

/// Rotation by `θ` about a fixed axis `a`, times a constant rotation `R₀`:
///
/// ```text
///     R(θ) R₀ = a aᵀ R₀ + sin θ [a] R₀ + cos θ (1 − a aᵀ) R₀
/// ```
///
/// with the three matrices precomputed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Turn<C = f64> {
    axis: nalgebra::Vector3<C>,
    along: Mat3<C>,
    sine: Mat3<C>,
    cosine: Mat3<C>,
    q_0: Quaternion<C>,
}

transposed!(Turn {
    axis,
    along,
    sine,
    cosine,
    q_0
});

impl Turn {
    /// Creates the rotation about the unit vector `axis`, then `q_0`.
    fn new(axis: nalgebra::Vector3<f64>, q_0: Quaternion<f64>) -> Self {
        let R_0 = q_0.rotation();
        let along = axis * axis.transpose();
        Self {
            axis,
            along: along * R_0,
            sine: axis.cross_matrix() * R_0,
            cosine: (one33() - along) * R_0,
            q_0: q_0.normalised(),
        }
    }
}

impl<C: Scalar> Turn<C> {
    #[inline(always)]
    fn rotation<S: Scalar>(&self, angle: S) -> Mat3<S>
    where
        C: Lift<S>,
    {
        let (s, c) = angle.sin_cos();
        lift33::<S>(&self.along) + lift33::<S>(&self.sine) * s + lift33::<S>(&self.cosine) * c
    }

    /// Returns the angle whose rotation is nearest to `R` in the Frobenius norm `‖R − R(θ)‖`.
    fn nearest<S: Scalar>(&self, R: &Mat3<S>, unwrapped: S) -> S
    where
        C: Lift<S>,
    {
        let (sine, cosine) = (lift33::<S>(&self.sine).dot(R), lift33::<S>(&self.cosine).dot(R));
        angle_near(sine, cosine, unwrapped)
    }

    fn attitude<S: Scalar>(&self, angle: S) -> Quaternion<S>
    where
        C: Lift<S>,
    {
        let (s, c) = (angle * S::lift(0.5)).sin_cos();
        let v = lift3::<S>(&self.axis) * s;
        Quaternion::new(c, v.x, v.y, v.z) * self.q_0.lift()
    }
}

/// A joint of any type, with its constants.
#[derive(Clone, Debug, PartialEq)]
pub enum JointModel<C = f64> {
    /// No motion.
    Fixed(Fixed<C>),
    /// One rotation.
    Revolute(Revolute<C>),
    /// One translation.
    Prismatic(Prismatic<C>),
    /// A rotation about and a translation along one axis.
    Cylindrical(Cylindrical<C>),
    /// A rotation about and a proportional translation along one axis.
    Screw(Screw<C>),
    /// A rotation about and two translations across one axis. Boxed as a universal joint.
    Planar(Box<Planar<C>>),
    /// Two translations.
    Rectangular(Rectangular<C>),
    /// Three translations.
    Cartesian(Cartesian<C>),
    /// Any rotation.
    Spherical(Spherical<C>),
    /// Two rotations. Boxed, because it is twice as large as the others.
    Universal(Box<Universal<C>>),
    /// Any motion.
    Free(Free<C>),
}

/// Combines joints of one type; those of other types have another structure.
macro_rules! transposed_joints {
    ($($Type:ident)+) => {
        impl Transposed for JointModel<f64> {
            type InLanes<const N: usize> = JointModel<Lanes<N>>;

            fn transposed<const N: usize>(runs: [&Self; N]) -> Option<Self::InLanes<N>> {
                match runs[0] {
                    $(Self::$Type(_) => {
                        let joints = parts(runs, |run| match run {
                            Self::$Type(joint) => Some(joint),
                            _ => None,
                        });
                        Transposed::transposed(joints?).map(JointModel::$Type)
                    })+
                }
            }
        }
    };
}
transposed_joints! {
    Fixed Revolute Prismatic Cylindrical Screw Planar Rectangular Cartesian Spherical Universal Free
}

/// Evaluates `$body` with `$j` bound to the joint's own type, which implements `Motion`.
macro_rules! with_joint {
    ($joint:expr, $j:ident => $body:expr) => {
        match $joint {
            $crate::system::JointModel::Revolute($j) => $body,
            $crate::system::JointModel::Free($j) => $body,
            $crate::system::JointModel::Fixed($j) => $body,
            $crate::system::JointModel::Prismatic($j) => $body,
            $crate::system::JointModel::Cylindrical($j) => $body,
            $crate::system::JointModel::Screw($j) => $body,
            $crate::system::JointModel::Planar(boxed) => {
                let $j = boxed.as_ref();
                $body
            }
            $crate::system::JointModel::Rectangular($j) => $body,
            $crate::system::JointModel::Cartesian($j) => $body,
            $crate::system::JointModel::Spherical($j) => $body,
            $crate::system::JointModel::Universal(boxed) => {
                let $j = boxed.as_ref();
                $body
            }
        }
    };
}
pub(crate) use with_joint;

/// Returns `N` consecutive elements from `offset`.
#[inline(always)]
pub(crate) fn part<T, const N: usize>(all: &[T], offset: usize) -> &[T; N] {
    all[offset..]
        .first_chunk()
        .expect("offsets come from the layout that sized the vector")
}

/// Returns `N` consecutive elements from `offset`, mutable.
#[inline(always)]
pub(crate) fn part_mut<T, const N: usize>(all: &mut [T], offset: usize) -> &mut [T; N] {
    all[offset..]
        .first_chunk_mut()
        .expect("offsets come from the layout that sized the vector")
}

/// Returns the columns of a joint's motion subspace; `v` is the offset of its rates.
#[inline(always)]
pub(crate) fn columns<'a, J: Motion<S, NQ, NV>, const NQ: usize, const NV: usize, S: Scalar>(
    _joint: &J,
    H: &'a [Twist<S>],
    v: usize,
) -> &'a [Twist<S>; NV] {
    part(H, v)
}
