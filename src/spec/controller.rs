use super::{JointType, PerAxis};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Content of a spec.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Model of one or several spacecraft.
    #[default]
    Spacecraft,
    /// Controller of the joints of a spacecraft in another FMU.
    Controller,
}

impl Kind {
    /// Returns true for the default.
    pub(super) fn is_spacecraft(&self) -> bool {
        *self == Self::Spacecraft
    }
}

/// Controller of joints: `τ = τ_ff + kp (q_ref − q) + kd (q̇_ref − q̇)`.
///
/// Each joint has the inputs `<joint>.q`, `.qd` (measured), `.q_ref`, `.qd_ref` (reference) and
/// `.tau_ff` (feed-forward), and the outputs `<joint>.tau` and `<joint>.servo_error`, with the
/// names of the same variables in the spacecraft's FMU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Controller {
    /// Sample time, s, positive. The inputs are read at the start of the run and then once in every
    /// sample time; between samples the outputs are held (zero-order hold). Default: none, the
    /// outputs follow the inputs at every instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_time: Option<f64>,
    /// Joints, by their names in the spacecraft; at least one.
    #[serde(default)]
    pub joint: IndexMap<String, ControlledJoint>,
}

/// Joint of a controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControlledJoint {
    /// Type of the joint, which determines the number and units of its coordinates. Not `fixed`,
    /// `spherical` or `free`. Default `revolute`.
    #[serde(rename = "type", default = "revolute")]
    pub kind: JointType,
    /// Proportional gain, N·m/rad (N/m), not negative.
    pub kp: PerAxis,
    /// Derivative gain, N·m·s/rad (N·s/m), not negative.
    pub kd: PerAxis,
    /// Largest magnitude of the commanded torque (force), N·m (N), positive. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torque_limit: Option<PerAxis>,
}

fn revolute() -> JointType {
    JointType::Revolute
}
