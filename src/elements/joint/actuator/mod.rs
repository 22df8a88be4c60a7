//! Actuators of joints: torque inputs, servos, motors, drives and brakes.
//!
//! The commanded torque of a joint is the sum of its torque input and of its servo's torque. It
//! acts directly, or through a motor that limits it. A joint with a DC motor has a voltage input in
//! place of both. A drive prescribes the joint's acceleration instead, and a brake locks the joint.

mod dc_motor;
mod drive;
mod feed_forward;
mod motor;
mod servo;
mod torque;

pub(crate) use dc_motor::{Circuit, DcMotor};
pub use drive::Drive;
pub(crate) use feed_forward::Fed;
pub use motor::{Motor, MotorState};
pub use servo::JointServo;
pub(crate) use servo::{AxisServo, BallServo, Gains};
pub(crate) use torque::Torque;

use super::{JointTable, quantities};
use crate::elements::Elements;
use crate::spec::JointType;
use crate::system::{Declarations, InputKind, Quantity};
use servo::JointLaw;

/// Indices of the first inputs of a joint's reference: positions, rates, and accelerations if the
/// servo has feed-forward.
#[derive(Clone, Copy)]
struct References {
    q_ref: usize,
    qd_ref: usize,
    qdd_ref: Option<usize>,
}

/// Terms of the torques that a joint's motors exert within their limits.
#[derive(Clone, Copy)]
struct Commands<'a> {
    /// Index of the first torque input.
    torque: Option<usize>,
    /// Servos of the axes; empty without a servo and for a spherical joint.
    servos: &'a [AxisServo],
}

/// Creates the actuators of a joint and declares their parameters and inputs.
pub(super) fn declare(of: JointTable, to: &mut Elements, declare: &mut Declarations) {
    let torque = torque::declare_inputs(of, declare);
    dc_motor::declare(of, to, declare);
    let references = References::declare(of, declare);
    let servo = of.written.servo.as_ref().zip(references);
    let law = servo.map(|(servo, references)| JointLaw::declare(of, servo, references, declare));
    let servos = law.as_ref().map_or(&[][..], JointLaw::axes);
    let motor = of.written.motor.as_ref();
    let motors = motor.map(|motor| motor::declare(of, motor, Commands { torque, servos }, to, declare));
    if motors.is_none() {
        let torques = torque.map(|first| Torque::on_axes(of.joint, first));
        to.torques.extend(torques.into_iter().flatten());
        to.axis_servos.extend(servos);
    }
    let drive = Drive::declare(of, to.switched(), references, declare);
    let drive_index = drive.is_some().then_some(to.drives.len());
    to.drives.extend(drive);
    let fed = references.zip(servos.first()).and_then(|(references, first)| {
        Some(Fed {
            body: of.body,
            coordinate: first.coordinate,
            rate: first.rate,
            axes: servos.len(),
            q_ref: references.q_ref,
            qd_ref: references.qd_ref,
            qdd_ref: references.qdd_ref?,
            switch: first.law.switch,
            tau: torque,
            motors,
            drive: drive_index,
        })
    });
    if let Some(law) = law {
        to.ball_servos.extend(law.ball());
        let body = of.body;
        to.joint_servos.push(JointServo { body, law, fed });
    }
}

impl References {
    /// Declares the inputs of a joint's reference and returns their indices, `None` if neither a
    /// servo nor a drive follows it.
    fn declare(of: JointTable, declare: &mut Declarations) -> Option<Self> {
        if of.written.servo.is_none() && of.written.tracking.is_none() {
            return None;
        }
        let (joint, name) = (of.joint, &of.joint.name);
        let q_ref = if joint.kind == JointType::Spherical {
            let what = format!("reference attitude of joint {name}, quaternion");
            let first = declare.inputs.len();
            let quantities = Quantity::quaternion(&format!("{name}.q_ref"), &what);
            for (quantity, start) in quantities.into_iter().zip([1.0, 0.0, 0.0, 0.0]) {
                declare.input(quantity, start, InputKind::Continuous);
            }
            first
        } else {
            let what = format!("reference position of joint {name}");
            inputs(quantities(joint, "q_ref", |units| units.position, &what), declare)
        };
        let what = format!("reference rate of joint {name}");
        let qd_ref = inputs(quantities(joint, "qd_ref", |units| units.rate, &what), declare);
        let qdd_ref = of.written.feeds_forward().then(|| {
            let what = format!("reference acceleration of joint {name}, for the feed-forward of its servo");
            inputs(quantities(joint, "qdd_ref", |units| units.acceleration, &what), declare)
        });
        Some(Self { q_ref, qd_ref, qdd_ref })
    }
}

/// Declares continuous inputs that start at zero and returns the index of the first.
fn inputs(quantities: impl IntoIterator<Item = Quantity>, declare: &mut Declarations) -> usize {
    let first = declare.inputs.len();
    for quantity in quantities {
        declare.input(quantity, 0.0, InputKind::Continuous);
    }
    first
}
