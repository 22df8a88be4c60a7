use super::Motion;
use crate::algebra::{Mat3, Pose, Quaternion, Scalar, Twist, Vec3, column3, lift33, zero3};

/// B translates along three orthogonal axes, its own, at constant attitude. Coordinates: three
/// distances, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cartesian<C = f64> {
    q_FB: Quaternion<C>,
    R_FB: Mat3<C>,
}

crate::algebra::transposed!(Cartesian { q_FB, R_FB });

impl Cartesian {
    /// Creates a joint along the axes of B, at the constant attitude `q_FB`.
    pub fn new(q_FB: Quaternion<f64>) -> Self {
        Self {
            q_FB: q_FB.normalised(),
            R_FB: q_FB.rotation(),
        }
    }
}

impl<C: Scalar> Cartesian<C> {
    /// Returns the three axes, columns in F.
    pub fn axes(&self) -> &Mat3<C> {
        &self.R_FB
    }
}

impl<S: Scalar> Motion<S, 3, 3> for Cartesian<S::Constant> {
    const ROTATES: bool = false;
    const TRANSLATES: bool = true;

    #[inline(always)]
    fn pose(&self, q: &[S; 3]) -> Pose<S> {
        let R = lift33::<S>(&self.R_FB);
        Pose {
            R,
            p: R * Vec3::new(q[0], q[1], q[2]),
        }
    }

    #[inline(always)]
    fn subspace(&self, _q: &[S; 3], _R_WF: &Mat3<S>, R_WB: &Mat3<S>) -> [Twist<S>; 3] {
        std::array::from_fn(|k| Twist::new(zero3(), column3(R_WB, k)))
    }

    #[inline(always)]
    fn q_dot(&self, _q: &[S; 3], qd: &[S; 3]) -> [S; 3] {
        *qd
    }

    fn rates_of(&self, _q: &[S; 3], q_dot: &[S; 3]) -> [S; 3] {
        *q_dot
    }

    fn attitude(&self, _q: &[S; 3]) -> Quaternion<S> {
        self.q_FB.lift()
    }

    fn nearest(&self, X_FB: &Pose<S>, _q_FB: impl FnOnce() -> Quaternion<S>, _winding: &[S]) -> [S; 3] {
        lift33::<S>(&self.R_FB).tr_mul(&X_FB.p).into()
    }
}
