use super::{Filter, JointType, PerAxis};
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
    /// Controller of the joints and the attitude of a spacecraft in another FMU, or of a task.
    Controller,
}

impl Kind {
    /// Returns true for the default.
    pub(super) fn is_spacecraft(&self) -> bool {
        *self == Self::Spacecraft
    }
}

/// Controller of joints, `τ = τ_ff + kp (q_ref − q) + kd (q̇_ref − q̇)`, and of the attitudes of
/// bodies.
///
/// Each joint has the inputs `<joint>.q`, `.qd` (measured), `.q_ref`, `.qd_ref` (reference) and
/// `.tau_ff` (feed-forward), and the outputs `<joint>.tau` and `<joint>.servo_error`, with the
/// names of the same variables in the spacecraft's FMU.
///
/// A controller with `[task.<name>]` has no joints and attitudes here. Its spec includes that of
/// the spacecraft, whose states are inputs (those of joints, free bodies and wheels; flexible
/// bodies are undeformed). Outputs are those of the tasks, and the inputs of their joints:
/// `<joint>.tau`, `<joint>.qdd` with `motion = "prescribed"`, or the references of a servo with
/// feed-forward.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Controller {
    /// Sample time, s, positive. The inputs are read at the start of the run and then once in every
    /// sample time; between samples the outputs are held (zero-order hold). Default: none, the
    /// outputs follow the inputs at every instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_time: Option<f64>,
    /// Inputs of the joints' references: two inputs of each joint, or two vectors. Default `joints`.
    #[serde(default, skip_serializing_if = "References::is_default")]
    pub references: References,
    /// Unit of the joints' angular references, and of their rates per second. Measured angles are in
    /// rad in any case. Default `rad`.
    #[serde(default, skip_serializing_if = "AngleUnit::is_default")]
    pub reference_unit: AngleUnit,
    /// Joints, by their names in the spacecraft.
    #[serde(default)]
    pub joint: IndexMap<String, ControlledJoint>,
    /// Attitudes, by the names of the bodies in the spacecraft.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub attitude: IndexMap<String, ControlledAttitude>,
}

/// Inputs of the references of a controller's joints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum References {
    /// `<joint>.q_ref` and `<joint>.qd_ref` for each joint.
    #[default]
    Joints,
    /// `q_ref[1..n]` and `qd_ref[1..n]`, all axes of all joints in the order of the file.
    Vector,
}

impl References {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Unit of angles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AngleUnit {
    /// Radian.
    #[default]
    Rad,
    /// Degree.
    Deg,
}

impl AngleUnit {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
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
    /// Filters in series of the torque `kp (q_ref − q) + kd (q̇_ref − q̇)` of each axis, without the
    /// feed-forward and before the limit. Only with `sample_time`. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filter: Vec<Filter>,
}

fn revolute() -> JointType {
    JointType::Revolute
}

/// Attitude of a controller: the moment `kp θ + kd (w_ref − w)` on the body, body axes, with the
/// rotation vector θ from the attitude to its reference. Reaction wheels exert it, or a port of the
/// spacecraft.
///
/// Its inputs are `<body>.q[1..4]`, `<body>.w[1..3]` (measured, with the names of the same variables
/// in the spacecraft's FMU), `<body>.q_ref[1..4]` and `<body>.w_ref[1..3]` (reference, body axes). Its
/// outputs are `<wheel>.tau` for each wheel, or `<port>.t[1..3]`, `<body>.servo_torque[1..3]` (the
/// commanded moment) and `<body>.attitude_error[1..3]` (θ, rad).
///
/// With thrusters, desaturation begins when the magnitude of the wheels' angular momentum exceeds
/// `momentum_limit`, and ends when it is below `momentum_release`. Meanwhile the thrusters exert a
/// moment against that momentum, and the wheels the opposite moment in addition, so that the body
/// does not turn. Inputs are then `<wheel>.qd`, and outputs `<thruster>.level`,
/// `<body>.wheel_momentum[1..3]` and `<body>.thruster_torque[1..3]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControlledAttitude {
    /// Proportional gain, N·m/rad, not negative: one number, or one for each body axis.
    pub kp: PerAxis,
    /// Derivative gain, N·m·s/rad, not negative: one number, or one for each body axis.
    pub kd: PerAxis,
    /// Filters in series of each component of the moment. Only with `sample_time`. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filter: Vec<Filter>,
    /// Port of the spacecraft that exerts the moment, on the body and with `axes = "frame"`. Only
    /// without wheels. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// Wheels that exert the moment, by the torques of least norm. At least three, with axes that do
    /// not all lie in one plane. Default: none.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub wheel: IndexMap<String, ControlledWheel>,
    /// Thrusters that desaturate the wheels. Together they exert a moment in any direction. Default:
    /// none.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub thruster: IndexMap<String, ControlledThruster>,
    /// Magnitude of the wheels' angular momentum at which desaturation begins, N·m·s, positive.
    /// Required with thrusters, and only with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub momentum_limit: Option<f64>,
    /// Magnitude of the wheels' angular momentum at which desaturation ends, N·m·s, positive, below
    /// `momentum_limit`. Only with thrusters. Default: a tenth of `momentum_limit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub momentum_release: Option<f64>,
    /// Time constant `T` of desaturation, s, positive: the moment of the thrusters is `−h/T`, with the
    /// wheels' angular momentum `h`. Required with thrusters, and only with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desaturation_time: Option<f64>,
}

impl ControlledAttitude {
    /// Removes the thrusters and all fields of desaturation.
    pub fn remove_desaturation(&mut self) {
        self.thruster.clear();
        (self.momentum_limit, self.momentum_release, self.desaturation_time) = (None, None, None);
        self.wheel.values_mut().for_each(|wheel| wheel.inertia = None);
    }
}

/// Reaction wheel of a controller: output `<wheel>.tau`, the torque on the rotor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControlledWheel {
    /// Axis, body axes. Any length but zero.
    pub axis: [f64; 3],
    /// Largest magnitude of the commanded torque, N·m, positive. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torque_limit: Option<f64>,
    /// Inertia of the rotor about its axis, kg·m², positive, for its angular momentum; the input
    /// `<wheel>.qd` is its measured rate. Required with thrusters, and only with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inertia: Option<f64>,
}

/// Thruster of a controller: output `<thruster>.level`, the throttle from 0 to 1 of a thruster with
/// `throttle = "level"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControlledThruster {
    /// Torque at full thrust about the mass centre of the spacecraft, N·m, body axes. Not zero.
    pub torque: [f64; 3],
}
