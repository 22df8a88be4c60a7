use super::{Motion, Turn, angle_near};
use crate::algebra::{Lift, Mat3, Pose, Quaternion, Scalar, Twist, Vec3, lift3, lift33, zero3};

/// B rotates about a second axis that rotates about a first. Coordinates: the two angles, rad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Universal<C = f64> {
    first: Turn<C>,
    second: Turn<C>,
    R_FB0: Mat3<C>,
}

crate::algebra::transposed!(Universal { first, second, R_FB0 });

impl Universal {
    /// Creates a joint about the unit vectors `axis_1`, then `axis_2` (both in F, at zero angles);
    /// B is at `q_FB0` at zero angles.
    pub fn new(axis_1: Vec3<f64>, axis_2: Vec3<f64>, q_FB0: Quaternion<f64>) -> Self {
        Self {
            first: Turn::new(axis_1, Quaternion::identity()),
            second: Turn::new(axis_2, q_FB0),
            R_FB0: q_FB0.rotation(),
        }
    }
}

impl<C: Scalar> Universal<C> {
    /// Returns both axes, unit vectors in F, at the first angle `angle` (rad).
    pub fn axes_at<S: Scalar>(&self, angle: S) -> [Vec3<S>; 2]
    where
        C: Lift<S>,
    {
        [
            lift3(&self.first.axis),
            self.first.rotation(angle) * lift3::<S>(&self.second.axis),
        ]
    }
}

impl<S: Scalar> Motion<S, 2, 2> for Universal<S::Constant> {
    const ROTATES: bool = true;
    const TRANSLATES: bool = false;

    #[inline(always)]
    fn pose(&self, q: &[S; 2]) -> Pose<S> {
        Pose {
            R: self.first.rotation(q[0]) * self.second.rotation(q[1]),
            p: zero3(),
        }
    }

    #[inline(always)]
    fn subspace(&self, q: &[S; 2], R_WF: &Mat3<S>, _R_WB: &Mat3<S>) -> [Twist<S>; 2] {
        let carried = self.first.rotation(q[0]) * lift3::<S>(&self.second.axis);
        [
            Twist::new(R_WF * lift3(&self.first.axis), zero3()),
            Twist::new(R_WF * carried, zero3()),
        ]
    }

    /// Returns `h₁ × h₂ q̇₁ q̇₂`: the second axis rotates with the first.
    #[inline(always)]
    fn bias(&self, H: &[Twist<S>; 2], qd: &[S; 2]) -> Twist<S> {
        Twist::new(H[0].w.cross(&H[1].w) * (qd[0] * qd[1]), zero3())
    }

    #[inline(always)]
    fn q_dot(&self, _q: &[S; 2], qd: &[S; 2]) -> [S; 2] {
        *qd
    }

    fn rates_of(&self, _q: &[S; 2], q_dot: &[S; 2]) -> [S; 2] {
        *q_dot
    }

    fn attitude(&self, q: &[S; 2]) -> Quaternion<S> {
        self.first.attitude(q[0]) * self.second.attitude(q[1])
    }

    /// Computes each angle from one axis: with `R = R₁ R₂`, the second axis in F depends on the
    /// first angle only, `R a₂ = R₁ a₂`, and the first axis seen from B on the second angle only,
    /// `Rᵀ a₁ = R₂ᵀ a₁`.
    fn nearest(&self, X_FB: &Pose<S>, _q_FB: impl FnOnce() -> Quaternion<S>, unwrapped: &[S]) -> [S; 2] {
        let R = X_FB.R * lift33::<S>(&self.R_FB0).transpose();
        let (a_1, a_2) = (lift3::<S>(&self.first.axis), lift3::<S>(&self.second.axis));
        let (moved, back) = (R * a_2, R.tr_mul(&a_1));
        let slant = a_1.dot(&a_2);
        [
            angle_near(
                a_1.cross(&a_2).dot(&moved),
                a_2.dot(&moved) - slant * a_1.dot(&moved),
                unwrapped[0],
            ),
            angle_near(
                a_1.cross(&a_2).dot(&back),
                a_1.dot(&back) - slant * a_2.dot(&back),
                unwrapped[1],
            ),
        ]
    }
}
