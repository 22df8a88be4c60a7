use super::{Motion, Turn};
use crate::algebra::{Mat3, Pose, Quaternion, Scalar, Twist, Vec3, lift3, zero3};

/// B rotates about an axis through the joint's origin, by `ratio` times the coordinate (rad). The
/// ratio is 1 except for the rotors of drive trains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Revolute<C = f64> {
    turn: Turn<C>,
    ratio: C,
    /// Angular velocity in F for a unit rate: `ratio` times the axis.
    column: Vec3<C>,
}

crate::algebra::transposed!(Revolute { turn, ratio, column });

impl Revolute {
    /// Creates a joint about the unit vector `axis` (in F) with the ratio `ratio`; B is at `q_FB0`
    /// at angle zero.
    pub fn new(axis: Vec3<f64>, ratio: f64, q_FB0: Quaternion<f64>) -> Self {
        Self {
            turn: Turn::new(axis, q_FB0),
            ratio,
            column: axis * ratio,
        }
    }
}

impl<C: Scalar> Revolute<C> {
    /// Returns the axis, a unit vector in F.
    pub fn axis(&self) -> &Vec3<C> {
        &self.turn.axis
    }
}

impl<S: Scalar> Motion<S, 1, 1> for Revolute<S::Constant> {
    const ROTATES: bool = true;
    const TRANSLATES: bool = false;

    #[inline(always)]
    fn pose(&self, q: &[S; 1]) -> Pose<S> {
        Pose {
            R: self.turn.rotation(q[0] * S::lift(self.ratio)),
            p: zero3(),
        }
    }

    #[inline(always)]
    fn subspace(&self, _q: &[S; 1], R_WF: &Mat3<S>, _R_WB: &Mat3<S>) -> [Twist<S>; 1] {
        [Twist::new(R_WF * lift3(&self.column), zero3())]
    }

    #[inline(always)]
    fn q_dot(&self, _q: &[S; 1], qd: &[S; 1]) -> [S; 1] {
        *qd
    }

    fn rates_of(&self, _q: &[S; 1], q_dot: &[S; 1]) -> [S; 1] {
        *q_dot
    }

    fn attitude(&self, q: &[S; 1]) -> Quaternion<S> {
        self.turn.attitude(q[0] * S::lift(self.ratio))
    }

    fn nearest(&self, X_FB: &Pose<S>, _q_FB: impl FnOnce() -> Quaternion<S>, unwrapped: &[S]) -> [S; 1] {
        let ratio = S::lift(self.ratio);
        [self.turn.nearest(&X_FB.R, unwrapped[0] * ratio) / ratio]
    }
}
