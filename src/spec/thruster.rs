use super::element::{FrameField, Report, Table};
use super::{Capability, Spec, unknown};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Thruster: a force along a direction fixed in a frame. With a `tank`, the propellant is taken from
/// it, and the mass of the spacecraft decreases; without, it is constant.
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
    /// Tank `[tank.<name>]` from which it draws propellant, on the body of `frame` or joined to it by
    /// fixed joints. When the tank is empty the force is zero. Default: none, the mass is constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tank: Option<String>,
    /// Specific impulse, s, positive: the mass flow is the force over `9.80665 m/s²` times it.
    /// Required with `tank`, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub specific_impulse: Option<f64>,
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

    fn check(&self, spec: &Spec, report: &mut Report) {
        match (&self.tank, self.specific_impulse) {
            (Some(_), None) => report.add(
                "specific_impulse",
                "a thruster with a `tank` needs its specific impulse (s)",
            ),
            (None, Some(_)) => report.add(
                "specific_impulse",
                "only a thruster with a `tank` reads it: leave it out",
            ),
            _ => {}
        }
        let Some(name) = &self.tank else { return };
        let formulation = spec.formulation;
        if !formulation.has(Capability::ChangingMass) {
            let what = format!(
                "the formulation \"{}\" has constant masses; did you mean formulation = \"recursive\"?",
                formulation.name()
            );
            report.add("tank", what);
        }
        if spec.assembly.as_ref().is_some_and(|assembly| assembly.equilibrium) {
            report.add("tank", "a start in equilibrium has constant masses: leave `tank` out");
        }
        match spec.tank.get(name) {
            None => report.add("tank", unknown("tank", name, spec.tank.keys())),
            Some(tank) if !tank.has_propellant() => report.add(
                "tank",
                format!(
                    "the tank \"{name}\" has no part that moves with its body to draw from: write [tank.{name}.rigid]"
                ),
            ),
            Some(_) => {}
        }
    }
}
