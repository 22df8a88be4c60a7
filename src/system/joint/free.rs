use super::{Motion, quaternion_rate};
use crate::algebra::{Lift, Mat3, Pose, Quaternion, Scalar, Twist, Vec3, column3, lift33, one33, zero3};

/// B moves freely in F. Coordinates are the quaternion `q_MB` of B in the joint frame M and the
/// position of B's origin (m, axes of M); rates are the angular velocity (rad/s, axes of B) and the
/// velocity of B's origin (m/s, axes of M).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Free<C = f64> {
    q_FM: Quaternion<C>,
    R_FM: Mat3<C>,
    /// True if F and M coincide for all values of the parameters.
    coincide: bool,
}

crate::algebra::transposed!(Free { q_FM, R_FM, coincide });

impl Free {
    /// Creates a joint with the joint frame M at the attitude `q_FM`.
    pub fn new(q_FM: Quaternion<f64>) -> Self {
        Self {
            q_FM: q_FM.normalised(),
            R_FM: q_FM.rotation(),
            coincide: false,
        }
    }

    /// Creates the implicit joint of a free body, which the spec does not contain: M and F
    /// coincide.
    pub fn unwritten() -> Self {
        Self {
            coincide: true,
            ..Self::new(Quaternion::identity())
        }
    }
}

impl<C: Scalar> Free<C> {
    /// Returns the rotation from M to F.
    #[inline(always)]
    fn R_FM<S: Scalar>(&self) -> Mat3<S>
    where
        C: Lift<S>,
    {
        match self.coincide {
            // Equal to the lifted matrix, but with entries that no parameter changes, which reduces
            // the dependencies.
            true => one33(),
            false => lift33(&self.R_FM),
        }
    }

    /// Returns the axes of M, as columns in F.
    pub fn axes(&self) -> &Mat3<C> {
        &self.R_FM
    }

    /// Returns the coordinates for an attitude and a position in F.
    pub fn coordinates<S: Scalar>(&self, q_FB: Quaternion<S>, p_FB: &Vec3<S>) -> [S; 7]
    where
        C: Lift<S>,
    {
        let q_MB = self.q_FM.conjugate().lift() * q_FB;
        let r = self.R_FM::<S>().tr_mul(p_FB);
        [q_MB.w, q_MB.x, q_MB.y, q_MB.z, r.x, r.y, r.z]
    }

    /// Returns the rates' derivatives (angular, linear) for a relative acceleration in world axes.
    #[inline(always)]
    pub fn rates<S: Scalar>(&self, A_FB: &Twist<S>, R_WF: &Mat3<S>, R_WB: &Mat3<S>) -> [S; 6]
    where
        C: Lift<S>,
    {
        let w = R_WB.tr_mul(&A_FB.w);
        let v = self.R_FM::<S>().tr_mul(&R_WF.tr_mul(&A_FB.v));
        [w.x, w.y, w.z, v.x, v.y, v.z]
    }
}

impl<S: Scalar> Motion<S, 7, 6> for Free<S::Constant> {
    const ROTATES: bool = true;
    const TRANSLATES: bool = true;

    #[inline(always)]
    fn pose(&self, q: &[S; 7]) -> Pose<S> {
        let R_FM = self.R_FM::<S>();
        Pose {
            R: R_FM * Quaternion::from_slice(q).rotation(),
            p: R_FM * Vec3::new(q[4], q[5], q[6]),
        }
    }

    #[inline(always)]
    fn subspace(&self, _q: &[S; 7], R_WF: &Mat3<S>, R_WB: &Mat3<S>) -> [Twist<S>; 6] {
        let R_WM = R_WF * self.R_FM::<S>();
        let turn = |k: usize| Twist::new(column3(R_WB, k), zero3());
        let shift = |k: usize| Twist::new(zero3(), column3(&R_WM, k));
        [turn(0), turn(1), turn(2), shift(0), shift(1), shift(2)]
    }

    // Ḣ q̇ = 0: the angular columns rotate with B (w × w = 0), the linear columns are fixed in F.

    #[inline(always)]
    fn q_dot(&self, q: &[S; 7], qd: &[S; 6]) -> [S; 7] {
        let [w, x, y, z] = quaternion_rate(Quaternion::from_slice(q), Vec3::new(qd[0], qd[1], qd[2])).to_array();
        [w, x, y, z, qd[3], qd[4], qd[5]]
    }

    fn rates_of(&self, q: &[S; 7], q_dot: &[S; 7]) -> [S; 6] {
        let w = Quaternion::from_slice(q).angular_velocity(Quaternion::from_slice(q_dot));
        [w.x, w.y, w.z, q_dot[4], q_dot[5], q_dot[6]]
    }

    fn attitude(&self, q: &[S; 7]) -> Quaternion<S> {
        self.q_FM.lift() * Quaternion::from_slice(q)
    }

    fn nearest(&self, X_FB: &Pose<S>, q_FB: impl FnOnce() -> Quaternion<S>, _winding: &[S]) -> [S; 7] {
        self.coordinates(q_FB(), &X_FB.p)
    }
}
