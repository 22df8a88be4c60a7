//! Contexts of the loads.

use super::{Limit, MotorState, PointForce, RestState, Sliding};
use crate::algebra::{Scalar, Vec3, lift3};
use crate::spec::JointMotion;
use crate::system::{Configuration, Derived, Kinematics, OrbitPoint, System};

/// Data of one instant on which the loads depend.
#[derive(Clone, Copy)]
pub struct Instant<'a, S: Scalar> {
    /// Model (constant data) of the bodies.
    pub system: &'a System,
    /// Constants of the bodies, derived from the parameters.
    pub derived: &'a Derived<S::Constant>,
    /// Values of the parameters.
    pub parameters: &'a [S::Constant],
    /// Point of the reference orbit, `None` without an orbit.
    pub orbit: Option<&'a OrbitPoint<S>>,
    /// Positions and velocities.
    pub kinematics: &'a Kinematics<S>,
    /// Coordinates of joints, modes and ANCF nodes.
    pub q: &'a [S],
    /// Rates of joints, modes and ANCF nodes.
    pub qd: &'a [S],
    /// Values of the inputs, set by the importer or by signals; the currents of motors that are
    /// states follow.
    pub inputs: &'a [S],
    /// Current motions of the switched joints.
    pub motions: &'a [JointMotion],
    /// Limit states of the motors.
    pub motors: &'a [MotorState],
    /// Limit states of the voltages of motors.
    pub voltages: &'a [Limit],
    /// Sticking or sliding of the joints whose dry friction sticks.
    pub sliding: &'a [Sliding],
    /// True for each tank that is empty, of those from which thrusters draw.
    pub empty: &'a [bool],
    /// States of the points that may rest, then of the contacts with stiction.
    pub(crate) rests: &'a [RestState],
    /// Feed-forward torques (forces) of the servos, one for each rate, N·m or N; empty without
    /// feed-forward.
    pub feed_forward: &'a [S],
}

/// Data of one instant on which servos and motors depend.
#[derive(Clone, Copy)]
pub struct Sensed<'a, S: Scalar> {
    /// Constants of the bodies, derived from the parameters.
    pub derived: &'a Derived<S::Constant>,
    /// Values of the parameters.
    pub parameters: &'a [S::Constant],
    /// Point of the reference orbit, `None` without an orbit.
    pub orbit: Option<&'a OrbitPoint<S>>,
    /// Values of the inputs, set by the importer or by signals.
    pub inputs: &'a [S],
    /// Coordinates of joints, modes and ANCF nodes.
    pub q: &'a [S],
    /// Rates of joints, modes and ANCF nodes.
    pub qd: &'a [S],
    /// Feed-forward torques (forces) of the servos, one for each rate, N·m or N; empty without
    /// feed-forward.
    pub feed_forward: &'a [S],
}

/// Data of one instant on which event indicators and limit states depend.
#[derive(Clone, Copy)]
pub(crate) struct EventContext<'a> {
    /// Time, s.
    pub t: f64,
    /// Model (constant data) of the bodies.
    pub system: &'a System,
    /// Positions and velocities; not updated unless an element [watches](super::Element::watches)
    /// them.
    pub kinematics: &'a Kinematics<f64>,
    /// Data on which servos and motors depend. Inputs, orbit and feed-forward are empty unless an
    /// element watches them.
    pub sensed: Sensed<'a, f64>,
    /// Masses of the propellants that are states, kg.
    pub masses: &'a [f64],
    /// Torques that hold joints, one for each rate, N·m or N; empty unless an element watches them
    /// and a joint sticks.
    pub hold: &'a [f64],
    /// Forces of the points that may rest; empty unless an element watches them and a point rests.
    pub points: &'a [PointForce<f64>],
}

impl<'a> EventContext<'a> {
    /// Returns the mechanism with its kinematics.
    pub fn configuration(&self) -> Configuration<'a, f64> {
        Configuration {
            system: self.system,
            derived: self.sensed.derived,
            kinematics: self.kinematics,
        }
    }
}

impl<'a, S: Scalar> Instant<'a, S> {
    /// Returns the data on which servos and motors depend.
    #[inline]
    pub fn sensed(&self) -> Sensed<'a, S> {
        Sensed {
            derived: self.derived,
            parameters: self.parameters,
            orbit: self.orbit,
            inputs: self.inputs,
            q: self.q,
            qd: self.qd,
            feed_forward: self.feed_forward,
        }
    }

    /// Returns the mechanism with its kinematics.
    #[inline]
    pub fn configuration(&self) -> Configuration<'a, S> {
        Configuration {
            system: self.system,
            derived: self.derived,
            kinematics: self.kinematics,
        }
    }

    /// Returns the first moment of mass `∫p dm` of body `i` about its origin, kg·m, world axes.
    pub(super) fn first_moment(&self, i: usize) -> Vec3<S> {
        match &self.system.bodies[i].modes {
            Some(modes) => self.kinematics.deflections[modes.index].h,
            None => self.kinematics.bodies[i].R_WB * lift3::<S>(&self.derived.bodies[i].h),
        }
    }
}
