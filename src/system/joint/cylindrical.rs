use super::{Motion, Turn};
use crate::algebra::{Mat3, Pose, Quaternion, Scalar, Twist, Vec3, lift3, zero3};

/// B rotates about and translates along one axis. Coordinates: the angle (rad), the distance (m).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cylindrical<C = f64> {
    turn: Turn<C>,
}

crate::algebra::transposed!(Cylindrical { turn });

impl Cylindrical {
    /// Creates a joint about and along the unit vector `axis` (in F); B is at `q_FB0` at the angle
    /// zero.
    pub fn new(axis: Vec3<f64>, q_FB0: Quaternion<f64>) -> Self {
        Self {
            turn: Turn::new(axis, q_FB0),
        }
    }
}

impl<C: Scalar> Cylindrical<C> {
    /// Returns the axis, a unit vector in F.
    pub fn axis(&self) -> &Vec3<C> {
        &self.turn.axis
    }
}

impl<S: Scalar> Motion<S, 2, 2> for Cylindrical<S::Constant> {
    const ROTATES: bool = true;
    const TRANSLATES: bool = true;

    #[inline(always)]
    fn pose(&self, q: &[S; 2]) -> Pose<S> {
        Pose {
            R: self.turn.rotation(q[0]),
            p: lift3::<S>(&self.turn.axis) * q[1],
        }
    }

    #[inline(always)]
    fn subspace(&self, _q: &[S; 2], R_WF: &Mat3<S>, _R_WB: &Mat3<S>) -> [Twist<S>; 2] {
        let axis_W = R_WF * lift3(&self.turn.axis);
        [Twist::new(axis_W, zero3()), Twist::new(zero3(), axis_W)]
    }

    #[inline(always)]
    fn q_dot(&self, _q: &[S; 2], qd: &[S; 2]) -> [S; 2] {
        *qd
    }

    fn rates_of(&self, _q: &[S; 2], q_dot: &[S; 2]) -> [S; 2] {
        *q_dot
    }

    fn attitude(&self, q: &[S; 2]) -> Quaternion<S> {
        self.turn.attitude(q[0])
    }

    fn nearest(&self, X_FB: &Pose<S>, _q_FB: impl FnOnce() -> Quaternion<S>, unwrapped: &[S]) -> [S; 2] {
        [
            self.turn.nearest(&X_FB.R, unwrapped[0]),
            lift3::<S>(&self.turn.axis).dot(&X_FB.p),
        ]
    }
}
