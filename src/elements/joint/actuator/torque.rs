//! Torque inputs of joints.

use super::inputs;
use crate::algebra::Scalar;
use crate::dynamics::Applied;
use crate::elements::joint::{JointTable, quantity};
use crate::elements::{Element, Instant};
use crate::spec::{JointMotion, JointType};
use crate::system::{Declarations, Joint};

/// Torque (force) on one axis of a joint, set by an input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Torque {
    rate: usize,
    input: usize,
}

impl Torque {
    /// Returns the torques on all axes of a joint; `first` is the index of the first torque input.
    pub(super) fn on_axes(joint: &Joint, first: usize) -> impl Iterator<Item = Self> {
        (0..joint.nv).map(move |i| Self {
            rate: joint.v + i,
            input: first + i,
        })
    }
}

/// Declares the torque inputs of a joint and returns the index of the first, `None` if the joint
/// has none.
pub(super) fn declare_inputs(of: JointTable, declare: &mut Declarations) -> Option<usize> {
    let joint = of.joint;
    let is_moved_by_torques = joint.motions.contains(&JointMotion::Loads);
    let has_voltage = of.written.dc_motor.is_some();
    if !of.written.input
        || has_voltage
        || !is_moved_by_torques
        || matches!(joint.kind, JointType::Fixed | JointType::Free)
    {
        return None;
    }
    let torque = |i| {
        let kind = if joint.kind.is_angular(i) { "torque" } else { "force" };
        let what = match joint.drives {
            None => format!(
                "{kind} on the child of joint {}, its reaction on the parent",
                joint.name
            ),
            Some(_) => format!(
                "{kind} of the motor of joint {}, at the child with a rigid gear",
                joint.name
            ),
        };
        quantity(joint, i, "tau", |units| units.force, what)
    };
    Some(inputs((0..joint.nv).map(torque), declare))
}

impl Element for Torque {
    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        applied.tau[self.rate] += now.inputs[self.input];
    }
}
