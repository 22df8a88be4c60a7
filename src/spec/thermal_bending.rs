use super::element::{Report, Table};
use super::{Spec, unknown};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Curvature of a modal beam by a temperature difference across its section, uniform along the
/// beam, as inputs `<thermal_bending>.curvature[1..2]` (rad/m): of the unloaded beam along its y
/// and its z axis, `α ΔT/h` with the thermal expansion `α` and the temperature difference `ΔT`
/// over the height `h`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThermalBending {
    /// Body with a `beam` that has bending modes.
    pub body: String,
}

impl Table for ThermalBending {
    fn check(&self, spec: &Spec, report: &mut Report) {
        let name = &self.body;
        let what = match spec.body.get(name) {
            None if spec.ancf_beam.contains_key(name) => {
                format!("\"{name}\" is an ANCF beam: thermal bending acts on modal beams (`beam`) only")
            }
            None => unknown("body", name, spec.body.keys()),
            Some(body) => match &body.beam {
                None => format!("body \"{name}\" has no `beam`: thermal bending acts on modal beams only"),
                Some(beam) if beam.counts()[..2] == [0, 0] => {
                    format!("the beam of \"{name}\" has no bending modes: write `bending`")
                }
                Some(_) => return,
            },
        };
        report.add("body", what);
    }
}
