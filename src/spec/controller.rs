use super::{JointType, PerAxis};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the file describes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Bodies that move.
    #[default]
    Spacecraft,
    /// The controller of joints whose craft is another FMU.
    Controller,
}

impl Kind {
    pub(super) fn is_spacecraft(&self) -> bool {
        *self == Self::Spacecraft
    }
}

/// A controller of joints: `τ = τ_ff + kp (q_ref − q) + kd (q̇_ref − q̇)`.
///
/// For each joint it has the inputs `<joint>.q`, `.qd` (measured), `.q_ref`, `.qd_ref` (wanted) and `.tau_ff` (feed-forward), and the outputs `<joint>.tau` and
/// `<joint>.servo_error`, under the names that a craft's FMU has for them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Controller {
    /// Time from one sample to the next, s: it looks at its inputs when the run begins and then again and again after this time, and holds its outputs in between. Default: none,
    /// its outputs follow its inputs at every instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_time: Option<f64>,
    /// The joints, by the names that they have in the craft.
    #[serde(default)]
    pub joint: IndexMap<String, ControlledJoint>,
}

/// A joint under control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControlledJoint {
    /// What kind of joint it is: how many coordinates it has, in which units. Default `revolute`.
    #[serde(rename = "type", default = "revolute")]
    pub kind: JointType,
    /// Proportional gain, N·m/rad (N/m).
    pub kp: PerAxis,
    /// Derivative gain, N·m·s/rad (N·s/m).
    pub kd: PerAxis,
    /// Largest torque (force) either way that it asks for, N·m (N). Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torque_limit: Option<PerAxis>,
}

fn revolute() -> JointType {
    JointType::Revolute
}
