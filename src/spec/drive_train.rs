use super::{Body, Friction, Inertia, Joint, JointMotion, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Drive train of a revolute joint: the rotor of a motor on the parent turns the child through an
/// elastic gear.
///
/// The motor's angle is a further degree of freedom, `<joint>_motor.q`: the angle that the child
/// would have with a rigid gear, the rotor's own angle divided by `ratio`. Torque input, servo,
/// motor limits, DC motor, brake and drive of the joint act on the rotor; their torques and
/// references are those at the child, `ratio` times (angles: divided by `ratio`) those at the rotor.
/// Damping, friction, spring and range of the joint act on the child. With the twist
/// `δ = <joint>_motor.q − <joint>.q`, and `e` the twist less the backlash, the gear exerts the
/// torque `stiffness e + hardening e³ + damping δ̇` on the child.
///
/// The rotor is a body `<joint>_rotor` at the joint, whose mass and inertia those of the parent do
/// not include. It spins `ratio` times as fast as the joint, so momentum and gyroscopic moments
/// are complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveTrain {
    /// Turns of the rotor per turn of the joint, not zero; negative if the gear reverses the sense.
    pub ratio: f64,
    /// Mass of the rotor, kg, positive.
    pub rotor_mass: f64,
    /// Inertia of the rotor, kg·m², positive, about every axis through its centre.
    pub rotor_inertia: f64,
    /// Stiffness of the gear, N·m/rad, positive, seen at the child with the rotor held.
    pub stiffness: f64,
    /// Cubic part of the stiffness, N·m/rad³, not negative. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hardening: Option<f64>,
    /// Damping of the gear, N·m·s/rad, not negative. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping: Option<f64>,
    /// Angle by which the child can turn without torque while the rotor is held, rad, not negative.
    /// Spring and damper together then push only. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backlash: Option<f64>,
    /// Friction of motor and gear, which acts on the rotor, N·m and rad/s at the child. Default:
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<Friction>,
    /// Efficiency η of the gear while the motor drives the child, above 0, at most 1: the friction
    /// increases by `(1/η − 1)` times the transmitted torque. While the child drives the motor the
    /// efficiency is `2 − 1/η`; below one half the gear is self-locking. Requires `friction`, with
    /// whose law it acts. Default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub efficiency: Option<f64>,
}

impl DriveTrain {
    /// Returns the name of the rotor's body.
    pub fn rotor(joint: &str) -> String {
        format!("{joint}_rotor")
    }

    /// Returns the name of the rotor's joint.
    pub fn motor(joint: &str) -> String {
        format!("{joint}_motor")
    }

    /// Returns the rotor as a body.
    fn body(&self) -> Body {
        Body {
            mass: Some(self.rotor_mass),
            inertia: Some(Inertia::Diagonal([self.rotor_inertia; 3])),
            ..Body::default()
        }
    }
}

/// Rotor's side of a joint with a drive train.
#[derive(Clone, Debug, PartialEq)]
pub struct Geared {
    /// Name of the joint that the rotor drives.
    pub joint: String,
    /// Turns of the rotor per turn of that joint.
    pub ratio: f64,
    /// True if dry friction on the rotor sticks.
    pub sticks: bool,
}

impl Spec {
    /// Adds the rotors of all drive trains: bodies on joints that have the actuators of the joints
    /// that they drive.
    pub(super) fn add_drive_trains(&mut self) {
        let joints: Vec<String> = self.joint.keys().cloned().collect();
        for name in joints {
            let joint = &mut self.joint[&name];
            let Some(train) = joint.drive_train.clone() else {
                continue;
            };
            let rotor = DriveTrain::rotor(&name);
            let motor = Joint {
                child: rotor.clone(),
                damping: None,
                friction: None,
                spring: None,
                rotor_inertia: None,
                range: None,
                drive_train: None,
                geared: Some(Box::new(Geared {
                    joint: name.clone(),
                    ratio: train.ratio,
                    sticks: train.friction.as_ref().is_some_and(Friction::sticks),
                })),
                ..joint.clone()
            };
            (joint.motion, joint.input) = (JointMotion::Loads, false);
            joint.motions.clear();
            (joint.tracking, joint.servo, joint.motor, joint.dc_motor) = (None, None, None, None);
            self.body.insert(rotor, train.body());
            self.joint.insert(DriveTrain::motor(&name), motor);
        }
    }
}
