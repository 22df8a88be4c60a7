use super::{Motion, quaternion_rate};
use crate::algebra::{Lift, Mat3, Pose, Quaternion, Scalar, Twist, Vec3, column3, lift33, zero3};

/// B rotates about a point. Coordinates: the quaternion `q_MB` of B in the joint frame M; rates:
/// the angular velocity `w_FB` in axes of B, rad/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spherical<C = f64> {
    q_FM: Quaternion<C>,
    R_FM: Mat3<C>,
}

crate::algebra::transposed!(Spherical { q_FM, R_FM });

impl Spherical {
    /// Creates a joint with the joint frame M at the attitude `q_FM`.
    pub fn new(q_FM: Quaternion<f64>) -> Self {
        Self {
            q_FM: q_FM.normalised(),
            R_FM: q_FM.rotation(),
        }
    }
}

impl<C: Scalar> Spherical<C> {
    /// Returns the coordinates for the attitude `q_FB` of B in F.
    pub fn coordinates<S: Scalar>(&self, q_FB: Quaternion<S>) -> [S; 4]
    where
        C: Lift<S>,
    {
        (self.q_FM.conjugate().lift() * q_FB).to_array()
    }
}

impl<S: Scalar> Motion<S, 4, 3> for Spherical<S::Constant> {
    const ROTATES: bool = true;
    const TRANSLATES: bool = false;

    #[inline(always)]
    fn pose(&self, q: &[S; 4]) -> Pose<S> {
        Pose {
            R: lift33::<S>(&self.R_FM) * Quaternion::from_slice(q).rotation(),
            p: zero3(),
        }
    }

    #[inline(always)]
    fn subspace(&self, _q: &[S; 4], _R_WF: &Mat3<S>, R_WB: &Mat3<S>) -> [Twist<S>; 3] {
        std::array::from_fn(|k| Twist::new(column3(R_WB, k), zero3()))
    }

    // Ḣ q̇ = w_FB × w_FB = 0: the columns rotate with B.

    #[inline(always)]
    fn q_dot(&self, q: &[S; 4], qd: &[S; 3]) -> [S; 4] {
        quaternion_rate(Quaternion::from_slice(q), Vec3::new(qd[0], qd[1], qd[2])).to_array()
    }

    fn rates_of(&self, q: &[S; 4], q_dot: &[S; 4]) -> [S; 3] {
        Quaternion::from_slice(q)
            .angular_velocity(Quaternion::from_slice(q_dot))
            .into()
    }

    fn attitude(&self, q: &[S; 4]) -> Quaternion<S> {
        self.q_FM.lift() * Quaternion::from_slice(q)
    }

    fn nearest(&self, _X_FB: &Pose<S>, q_FB: impl FnOnce() -> Quaternion<S>, _winding: &[S]) -> [S; 4] {
        self.coordinates(q_FB())
    }
}
