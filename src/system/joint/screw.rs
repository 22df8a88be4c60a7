use super::{Motion, Turn};
use crate::algebra::{Mat3, Pose, Quaternion, Scalar, Twist, Vec3, lift3};
use std::f64::consts::TAU;

/// B rotates about an axis and translates along it in proportion. Coordinate: the angle, rad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Screw<C = f64> {
    turn: Turn<C>,
    /// Travel per radian, m.
    lead: C,
}

crate::algebra::transposed!(Screw { turn, lead });

impl Screw {
    /// Creates a joint about and along the unit vector `axis` (in F) with the travel `pitch` (m)
    /// per turn; B is at `q_FB0` at angle zero.
    pub fn new(axis: Vec3<f64>, pitch: f64, q_FB0: Quaternion<f64>) -> Self {
        Self {
            turn: Turn::new(axis, q_FB0),
            lead: pitch / TAU,
        }
    }
}

impl<C: Scalar> Screw<C> {
    /// Returns the axis, a unit vector in F.
    pub fn axis(&self) -> &Vec3<C> {
        &self.turn.axis
    }

    /// Returns the travel per radian, m.
    pub fn lead(&self) -> C {
        self.lead
    }
}

impl<S: Scalar> Motion<S, 1, 1> for Screw<S::Constant> {
    const ROTATES: bool = true;
    const TRANSLATES: bool = true;

    #[inline(always)]
    fn pose(&self, q: &[S; 1]) -> Pose<S> {
        Pose {
            R: self.turn.rotation(q[0]),
            p: lift3::<S>(&self.turn.axis) * (q[0] * S::lift(self.lead)),
        }
    }

    #[inline(always)]
    fn subspace(&self, _q: &[S; 1], R_WF: &Mat3<S>, _R_WB: &Mat3<S>) -> [Twist<S>; 1] {
        let axis_W = R_WF * lift3(&self.turn.axis);
        [Twist::new(axis_W, axis_W * S::lift(self.lead))]
    }

    #[inline(always)]
    fn q_dot(&self, _q: &[S; 1], qd: &[S; 1]) -> [S; 1] {
        *qd
    }

    fn rates_of(&self, _q: &[S; 1], q_dot: &[S; 1]) -> [S; 1] {
        *q_dot
    }

    fn attitude(&self, q: &[S; 1]) -> Quaternion<S> {
        self.turn.attitude(q[0])
    }

    /// Returns the angle `θ` with the least `(θ − θ_R)² + (l θ − s)²`, with the angle `θ_R` of the
    /// attitude, the travel `s` and the travel `l` per radian; its rate is that of the nearest
    /// admissible motion.
    fn nearest(&self, X_FB: &Pose<S>, _q_FB: impl FnOnce() -> Quaternion<S>, unwrapped: &[S]) -> [S; 1] {
        let lead = S::lift(self.lead);
        let travel = lift3::<S>(&self.turn.axis).dot(&X_FB.p);
        let turned = self.turn.nearest(&X_FB.R, unwrapped[0]);
        [(turned + lead * travel) / (S::one() + lead * lead)]
    }
}
