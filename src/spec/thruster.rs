use super::element::{FrameField, Table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Thruster: a force along a direction fixed in a frame. The propellant is not taken from the
/// spacecraft's mass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Thruster {
    /// Frame or body at whose origin the force acts. Not on an ANCF beam.
    pub frame: String,
    /// Direction of the force on the spacecraft (opposite to the jet), frame axes. Any length but
    /// zero.
    pub direction: [f64; 3],
    /// Force at full thrust, N, not negative.
    pub thrust: f64,
    /// Type of the input. Default `switch`.
    #[serde(default)]
    pub throttle: Throttle,
}

/// Type of a thruster's input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Throttle {
    /// Discrete input `<thruster>.on`: on above 0.5.
    #[default]
    Switch,
    /// Continuous input `<thruster>.level`: fraction of the force, clipped to 0 … 1.
    Level,
}

impl Table for Thruster {
    fn frames(&self) -> Vec<FrameField<'_>> {
        vec![FrameField::new("frame", &self.frame).with_axes()]
    }
}
