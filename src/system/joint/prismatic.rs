use super::Motion;
use crate::algebra::{Mat3, Pose, Quaternion, Scalar, Twist, Vec3, lift3, lift33, zero3};

/// B translates along an axis. Coordinate: the distance, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prismatic<C = f64> {
    axis: Vec3<C>,
    q_FB: Quaternion<C>,
    R_FB: Mat3<C>,
}

crate::algebra::transposed!(Prismatic { axis, q_FB, R_FB });

impl Prismatic {
    /// Creates a joint along the unit vector `axis` (in F); B has the constant attitude `q_FB`.
    pub fn new(axis: Vec3<f64>, q_FB: Quaternion<f64>) -> Self {
        Self {
            axis,
            q_FB: q_FB.normalised(),
            R_FB: q_FB.rotation(),
        }
    }
}

impl<C: Scalar> Prismatic<C> {
    /// Returns the axis, a unit vector in F.
    pub fn axis(&self) -> &Vec3<C> {
        &self.axis
    }
}

impl<S: Scalar> Motion<S, 1, 1> for Prismatic<S::Constant> {
    const ROTATES: bool = false;
    const TRANSLATES: bool = true;

    #[inline(always)]
    fn pose(&self, q: &[S; 1]) -> Pose<S> {
        Pose {
            R: lift33(&self.R_FB),
            p: lift3::<S>(&self.axis) * q[0],
        }
    }

    #[inline(always)]
    fn subspace(&self, _q: &[S; 1], R_WF: &Mat3<S>, _R_WB: &Mat3<S>) -> [Twist<S>; 1] {
        [Twist::new(zero3(), R_WF * lift3(&self.axis))]
    }

    #[inline(always)]
    fn q_dot(&self, _q: &[S; 1], qd: &[S; 1]) -> [S; 1] {
        *qd
    }

    fn rates_of(&self, _q: &[S; 1], q_dot: &[S; 1]) -> [S; 1] {
        *q_dot
    }

    fn attitude(&self, _q: &[S; 1]) -> Quaternion<S> {
        self.q_FB.lift()
    }

    fn nearest(&self, X_FB: &Pose<S>, _q_FB: impl FnOnce() -> Quaternion<S>, _winding: &[S]) -> [S; 1] {
        [lift3::<S>(&self.axis).dot(&X_FB.p)]
    }
}
