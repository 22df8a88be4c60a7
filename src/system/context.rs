//! Contexts of the dynamics, passed by value.

use super::{Derived, FrameRef, Kinematics, System};
use crate::algebra::{Pose, Scalar};

/// Topology of a system with the constants that are derived from its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Mechanism<'a> {
    /// Bodies and joints.
    pub system: &'a System,
    /// Their constants.
    pub derived: &'a Derived,
}

/// A mechanism with the kinematics of one instant.
#[derive(Clone, Copy, Debug)]
pub struct Configuration<'a, S: Scalar> {
    /// Bodies and joints.
    pub system: &'a System,
    /// Their constants.
    pub derived: &'a Derived,
    /// Positions and velocities.
    pub kinematics: &'a Kinematics<S>,
}

/// Coordinates and rates of joints and modes.
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

    /// Returns the pose of a frame relative to the origin of its carrier, world axes.
    #[inline]
    pub fn arm(&self, frame: FrameRef) -> Pose<S> {
        self.kinematics.arm(self.system, self.derived, frame)
    }

    /// Returns the mechanism without its kinematics.
    #[inline]
    pub fn mechanism(&self) -> Mechanism<'a> {
        Mechanism {
            system: self.system,
            derived: self.derived,
        }
    }
}
