use super::PerAxis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A spring-damper between two frames, as a gripper with some give: three displacements and three turns. `<grasp>.on` switches it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grasp {
    /// The frame (or body, or `world`) that holds; the outputs tell force and moment on it.
    pub a: String,
    /// The frame (or body, or ANCF beam, or `world`) that is held: at rest the two coincide. Of an ANCF beam the direction is held, along x of `a`.
    pub b: String,
    /// Stiffness against displacements, N/m: a number or three, along axes of `a`.
    pub stiffness: PerAxis,
    /// Damping of displacements, N·s/m: a number or three.
    pub damping: PerAxis,
    /// Stiffness against turns, N·m/rad: a number or three, about axes of `a`. Default 0, which leaves turns free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angular_stiffness: Option<PerAxis>,
    /// Damping of turns, N·m·s/rad: a number or three.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angular_damping: Option<PerAxis>,
    /// Whether it holds at the start. Default: yes.
    #[serde(default = "super::default::yes")]
    pub on: bool,
}
