//! Groups of references that functions of the dynamics take as one argument.

use super::{Derived, FrameRef, Kinematics, System};
use crate::algebra::{Pose, Scalar, Twist};

/// Topology of a system with the constants that are derived from its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Mechanism<'a, C: Scalar = f64> {
    /// Bodies and joints, with names and layout.
    pub system: &'a System,
    /// Constants of the dynamics for the current parameters.
    pub derived: &'a Derived<C>,
}

/// A mechanism with the kinematics of one instant.
#[derive(Clone, Copy, Debug)]
pub struct Configuration<'a, S: Scalar> {
    /// Bodies and joints, with names and layout.
    pub system: &'a System,
    /// Constants of the dynamics for the current parameters.
    pub derived: &'a Derived<S::Constant>,
    /// Positions and velocities.
    pub kinematics: &'a Kinematics<S>,
}

/// Coordinates and rates of joints, modes and nodes.
#[derive(Clone, Copy, Debug)]
pub struct JointState<'a, S> {
    /// Coordinates.
    pub q: &'a [S],
    /// Rates.
    pub qd: &'a [S],
}

impl<'a, S: Scalar> Configuration<'a, S> {
    /// Returns the pose of a frame in the world.
    #[inline]
    pub fn pose(&self, frame: FrameRef) -> Pose<S> {
        self.kinematics.pose(self.system, self.derived, frame)
    }

    /// Returns the attitude of a frame, and its position from the origin of its carrier, world
    /// axes.
    #[inline]
    pub fn arm(&self, frame: FrameRef) -> Pose<S> {
        self.kinematics.arm(self.system, self.derived, frame)
    }

    /// Returns the acceleration of a frame's origin and its angular acceleration, world axes, with the
    /// accelerations `A` of the bodies' origins beyond `A_bias` and the derivatives `qdd` of the
    /// rates.
    pub fn acceleration(&self, frame: FrameRef, A: &[Twist<S>], qdd: &[S]) -> Twist<S> {
        let (on, arm) = (self.system.carrier(frame), self.arm(frame).p);
        let carrier = self.kinematics.carrier(on);
        let beyond_bias = self.kinematics.beyond_bias_of(self.system, on, A, qdd);
        let mut A = beyond_bias.shift(&arm) + carrier.A_bias.shift(&arm);
        A.v += carrier.V_WB.w.cross(&carrier.V_WB.w.cross(&arm));
        A
    }

    /// Returns the mechanism without its kinematics.
    #[inline]
    pub fn mechanism(&self) -> Mechanism<'a, S::Constant> {
        Mechanism {
            system: self.system,
            derived: self.derived,
        }
    }
}
