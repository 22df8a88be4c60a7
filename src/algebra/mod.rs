//! Scalar types with derivatives or dependencies, and geometry: quaternions, poses, spatial
//! vectors.
//!
//! Conventions of the whole project:
//!
//! - SI units and radians; angular before linear in every 6-vector.
//! - `R_AB` maps coordinates of frame B to frame A: `v_A = R_AB * v_B`; `q_AB` is the same
//!   rotation.
//! - Quaternions are Hamilton's (`i j = k`), scalar first `(w, x, y, z)`, and
//!   `q̇_AB = ½ q_AB ⊗ (0, w_AB_B)`.
//! - All types are generic over the [`Scalar`]: `f64` for simulation, dual numbers for exact
//!   derivatives, recorded numbers for adjoint derivatives, traced numbers for dependencies, lanes
//!   for several runs at once.

mod damped;
mod dual;
mod dual_quaternion;
mod facets;
pub(crate) mod fused;
mod hull;
mod integer_power;
mod lanes;
mod null_space;
mod quaternion;
mod recorded;
mod rotation;
pub(crate) mod scalar;
pub mod skyline;
mod spatial;
pub mod spd;
mod sym3;
mod traced;
pub(crate) mod transposed;

#[cfg(feature = "inside")]
test_modules![
    damped::tests,
    dual::tests,
    dual_quaternion::tests,
    fused::tests,
    hull::tests,
    integer_power::tests,
    quaternion::tests,
    rotation::tests,
    skyline::tests,
    spatial::tests,
    spd::tests,
    sym3::tests,
    tests,
    traced::tests
];

pub use damped::DampedInverse;
pub use dual::Dual;
pub use dual_quaternion::{DualInertia, DualQuaternion, Mat8, Vec8};
pub use facets::Facet;
pub use hull::{ConvexHull, HullEdge, HullFace, NoHull};
pub use integer_power::{integer_power, square};
pub use lanes::{LaneMask, Lanes};
pub use null_space::NullSpace;
pub use quaternion::Quaternion;
pub use recorded::{Recorded, Tape};
pub use rotation::{TurnedFrame, angle_per_sine, exp, log, roll_pitch_yaw, sinc, turn_of_log};
pub(crate) use scalar::outlined;
pub use scalar::{Lift, Mask, Scalar};
pub use spatial::{ArticulatedInertia, InertiaFactors, Pose, Twist, Wrench};
pub use sym3::{SmallSpd, Sym3};
pub use traced::Traced;
pub(crate) use transposed::{Transposed, equal_in_lanes, transposed};

/// A 3-vector over the scalar `S`.
pub type Vec3<S> = nalgebra::Vector3<S>;
/// A 3×3 matrix over the scalar `S`.
pub type Mat3<S> = nalgebra::Matrix3<S>;

/// Returns the norm of a vector. At zero, where it is not differentiable, the derivative is defined
/// as zero, the mean of both one-sided derivatives.
pub fn norm<S: Scalar>(v: &Vec3<S>) -> S {
    root(fused::dot(v, v))
}

/// Returns the unit vector along a vector; `None` if its largest component is not finite or below
/// 1e-12, in any unit and in any lane.
pub fn direction<S: Scalar>(v: &Vec3<S>) -> Option<Vec3<S>> {
    let size = v.iter().fold(S::zero(), |most, &x| {
        let x = S::select(x.exceeds(0.0), x, -x);
        S::select((x - most).exceeds(0.0), x, most)
    });
    let is_finite = v.iter().all(|&x| S::holds(x, x, |x, _| x.is_finite()));
    // After scaling, the squares neither overflow nor underflow.
    (is_finite && S::holds(size, size, |size, _| size >= 1e-12)).then(|| {
        let v = v / size;
        v / (v.x * v.x + v.y * v.y + v.z * v.z).sqrt()
    })
}

/// Returns the square root of a sum of squares, with the derivative of [`norm`] at zero.
pub fn root<S: Scalar>(squares: S) -> S {
    let [root] = S::branch(squares, squares, |x, _| x > 0.0, || [squares.sqrt()], || [S::zero()]);
    root
}

/// Returns `[v]×`, the matrix of the cross product: `[v]× u = v × u`.
#[inline(always)]
pub fn cross_matrix<S: Scalar>(v: &Vec3<S>) -> Mat3<S> {
    let o = S::zero();
    Mat3::new(o, -v.z, v.y, v.z, o, -v.x, -v.y, v.x, o)
}

/// Returns the zero vector. That of nalgebra copies each entry through an iterator, which takes long for
/// scalars of several numbers.
#[inline(always)]
pub fn zero3<S: Scalar>() -> Vec3<S> {
    Vec3::new(S::zero(), S::zero(), S::zero())
}

/// Returns the zero matrix, as [`zero3`].
#[inline(always)]
pub fn zero33<S: Scalar>() -> Mat3<S> {
    let o = S::zero();
    Mat3::new(o, o, o, o, o, o, o, o, o)
}

/// Returns the identity, as [`zero3`].
#[inline(always)]
pub fn one33<S: Scalar>() -> Mat3<S> {
    let (o, l) = (S::zero(), S::one());
    Mat3::new(l, o, o, o, l, o, o, o, l)
}

/// Returns the column `k` of a matrix, as [`zero3`].
#[inline(always)]
pub fn column3<S: Scalar>(m: &Mat3<S>, k: usize) -> Vec3<S> {
    Vec3::new(m[(0, k)], m[(1, k)], m[(2, k)])
}

/// Returns a constant vector of the model with components of the scalar type `S`.
#[inline(always)]
pub fn lift3<S: Scalar>(v: &Vec3<impl Lift<S>>) -> Vec3<S> {
    Vec3::new(S::lift(v[0]), S::lift(v[1]), S::lift(v[2]))
}

/// Returns a constant matrix of the model with entries of the scalar type `S`.
#[inline(always)]
pub fn lift33<S: Scalar>(m: &Mat3<impl Lift<S>>) -> Mat3<S> {
    m.map(S::lift)
}

#[cfg(feature = "inside")]
mod tests {
    use super::*;

    unit_tests![direction_of_any_vector_but_zero];

    fn direction_of_any_vector_but_zero() {
        for size in [1e-12, 1.0, 1e200, f64::MAX] {
            let along = direction(&Vec3::new(0.0, -size, 0.0)).expect("a direction");
            assert_eq!(along, Vec3::new(0.0, -1.0, 0.0));
        }
        let slant = direction(&Vec3::new(3e200, 0.0, -4e200)).expect("a direction");
        assert!((slant - Vec3::new(0.6, 0.0, -0.8)).norm() < 1e-15);
        for none in [0.0, 1e-13, f64::INFINITY, f64::NAN] {
            assert_eq!(direction(&Vec3::new(none, 0.0, 0.0)), None);
        }
    }
}
