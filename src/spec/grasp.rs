use super::PerAxis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Switched spring-damper between two frames, a model of a compliant gripper: it acts on three
/// displacements and three rotations. The discrete input `<grasp>.on` switches it on (above 0.5)
/// and off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grasp {
    /// Frame, body or `world` in whose axes the grasp acts. The outputs `<grasp>.force[1..3]` and
    /// `.moment[1..3]` act on it. Not an ANCF beam.
    pub a: String,
    /// Frame, body, ANCF beam or `world` that is grasped; without load it coincides with `a`. For
    /// an ANCF beam only its direction is held, along x of `a`.
    pub b: String,
    /// Translational stiffness, N/m: one number, or one for each axis of `a`. Not zero for all
    /// axes.
    pub stiffness: PerAxis,
    /// Translational damping, N·s/m: one number, or one for each axis of `a`.
    pub damping: PerAxis,
    /// Rotational stiffness, N·m/rad: one number, or one for each axis of `a`. Default 0, free
    /// rotation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angular_stiffness: Option<PerAxis>,
    /// Rotational damping, N·m·s/rad: one number, or one for each axis of `a`. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angular_damping: Option<PerAxis>,
    /// State at the start: closed (`true`) or open. Default: yes.
    #[serde(default = "super::default::yes")]
    pub on: bool,
}
