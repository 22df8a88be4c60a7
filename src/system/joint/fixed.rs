use super::Motion;
use crate::algebra::{Mat3, Pose, Quaternion, Scalar, Twist, lift33, zero3};

/// B is fixed in F. No coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fixed<C = f64> {
    q_FB: Quaternion<C>,
    R_FB: Mat3<C>,
}

crate::algebra::transposed!(Fixed { q_FB, R_FB });

impl Fixed {
    /// Creates a joint with the attitude `q_FB`.
    pub fn new(q_FB: Quaternion<f64>) -> Self {
        Self {
            q_FB: q_FB.normalised(),
            R_FB: q_FB.rotation(),
        }
    }
}

impl<S: Scalar> Motion<S, 0, 0> for Fixed<S::Constant> {
    const ROTATES: bool = false;
    const TRANSLATES: bool = false;

    #[inline(always)]
    fn pose(&self, _q: &[S; 0]) -> Pose<S> {
        Pose {
            R: lift33(&self.R_FB),
            p: zero3(),
        }
    }

    #[inline(always)]
    fn subspace(&self, _q: &[S; 0], _R_WF: &Mat3<S>, _R_WB: &Mat3<S>) -> [Twist<S>; 0] {
        []
    }

    fn q_dot(&self, _q: &[S; 0], _qd: &[S; 0]) -> [S; 0] {
        []
    }

    fn rates_of(&self, _q: &[S; 0], q_dot: &[S; 0]) -> [S; 0] {
        *q_dot
    }

    fn attitude(&self, _q: &[S; 0]) -> Quaternion<S> {
        self.q_FB.lift()
    }

    fn nearest(&self, _X_FB: &Pose<S>, _q_FB: impl FnOnce() -> Quaternion<S>, _winding: &[S]) -> [S; 0] {
        []
    }
}
