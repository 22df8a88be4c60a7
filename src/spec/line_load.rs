use super::element::{Report, Table};
use super::{PortAxes, Spec, unknown};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Message for a line load on a beam of another type.
const ONLY_MODAL: &str = "line loads act on modal beams (`beam`) only; use a [port]";

/// A uniform distributed force along a modal beam, as inputs `<line_load>.f[1..3]` (N/m).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LineLoad {
    /// Body with a `beam`.
    pub body: String,
    /// Axes of the force. Default `world`.
    #[serde(default)]
    pub axes: PortAxes,
}

impl Table for LineLoad {
    fn check(&self, spec: &Spec, report: &mut Report) {
        let name = &self.body;
        let what = match spec.body.get(name) {
            None if spec.ancf_beam.contains_key(name) => format!("\"{name}\" is an ANCF beam: {ONLY_MODAL}"),
            None => unknown("body", name, spec.body.keys()),
            Some(body) if body.geometrically_exact_beam.is_some() => {
                format!("\"{name}\" is a geometrically exact beam: {ONLY_MODAL}")
            }
            Some(body) if body.beam.is_none() => {
                format!("body \"{name}\" has no beam: for a force on a rigid body write a [port]")
            }
            Some(_) => return,
        };
        report.add("body", what);
    }
}
