use super::{Motion, Turn};
use crate::algebra::{Mat3, Pose, Quaternion, Scalar, Twist, Vec3, column3, lift3, zero3};

/// B translates in a plane and rotates about its normal. Coordinates: the angle (rad), the position
/// of B's origin along two axes in the plane (m).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planar<C = f64> {
    turn: Turn<C>,
    /// Axes in the plane, unit vectors in F.
    across: [Vec3<C>; 2],
}

crate::algebra::transposed!(Planar { turn, across });

impl Planar {
    /// Creates a joint in the plane normal to the unit vector `normal` (in F); B is at `q_FB0` at
    /// angle zero. The axes in the plane are x and y of B, rotated by the smallest rotation from z
    /// of B to the normal.
    pub fn new(normal: &Vec3<f64>, q_FB0: Quaternion<f64>) -> Self {
        let R_FB0 = q_FB0.rotation();
        let [x, y, z] = [0, 1, 2].map(|k| column3(&R_FB0, k));
        let onto = Quaternion::between(&z, normal);
        Self {
            turn: Turn::new(*normal, q_FB0),
            across: [x, y].map(|axis| onto.rotate(axis)),
        }
    }
}

impl<C: Scalar> Planar<C> {
    /// Returns the normal of the plane, a unit vector in F.
    pub fn normal(&self) -> &Vec3<C> {
        &self.turn.axis
    }

    /// Returns the two axes in the plane, unit vectors in F.
    pub fn across(&self) -> &[Vec3<C>; 2] {
        &self.across
    }
}

impl<S: Scalar> Motion<S, 3, 3> for Planar<S::Constant> {
    const ROTATES: bool = true;
    const TRANSLATES: bool = true;

    #[inline(always)]
    fn pose(&self, q: &[S; 3]) -> Pose<S> {
        Pose {
            R: self.turn.rotation(q[0]),
            p: lift3::<S>(&self.across[0]) * q[1] + lift3::<S>(&self.across[1]) * q[2],
        }
    }

    #[inline(always)]
    fn subspace(&self, _q: &[S; 3], R_WF: &Mat3<S>, _R_WB: &Mat3<S>) -> [Twist<S>; 3] {
        let [x, y] = self.across.map(|axis| Twist::new(zero3(), R_WF * lift3(&axis)));
        [Twist::new(R_WF * lift3(&self.turn.axis), zero3()), x, y]
    }

    #[inline(always)]
    fn q_dot(&self, _q: &[S; 3], qd: &[S; 3]) -> [S; 3] {
        *qd
    }

    fn rates_of(&self, _q: &[S; 3], q_dot: &[S; 3]) -> [S; 3] {
        *q_dot
    }

    fn attitude(&self, q: &[S; 3]) -> Quaternion<S> {
        self.turn.attitude(q[0])
    }

    fn nearest(&self, X_FB: &Pose<S>, _q_FB: impl FnOnce() -> Quaternion<S>, unwrapped: &[S]) -> [S; 3] {
        let [x, y] = self.across.map(|axis| lift3::<S>(&axis).dot(&X_FB.p));
        [self.turn.nearest(&X_FB.R, unwrapped[0]), x, y]
    }
}
