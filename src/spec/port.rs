use super::Spec;
use super::element::{FrameField, Report, Table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An external wrench: a force and a torque, as inputs `<port>.f[1..3]` (N) and `<port>.t[1..3]`
/// (N·m). A port may have the name of its frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Port {
    /// Frame, body or ANCF beam at whose origin the force acts.
    pub frame: String,
    /// Axes of the force, the torque and the impulse; on an ANCF beam `world` only. Default
    /// `world`.
    #[serde(default)]
    pub axes: PortAxes,
    /// Inputs of an external impulse: `<port>.impulse[1..3]` (N·s) acts once each time the input
    /// `<port>.impact` rises above 0.5. Default: no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub impulse: bool,
    /// Outputs `<port>.effective_mass[1..3]` (kg) and `.effective_inertia[1..3]` (kg·m²) of the
    /// frame along its axes, as those of an interface; not on an ANCF beam. Default: no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub effective_mass: bool,
}

/// Axes of a port's wrench or of a line load's force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PortAxes {
    /// Inertial axes.
    #[default]
    World,
    /// Axes that rotate with the port's frame or the line load's body (for a beam in segments, with
    /// the root of each segment).
    Frame,
}

impl Table for Port {
    fn frames(&self) -> Vec<FrameField<'_>> {
        vec![FrameField::new("frame", &self.frame)]
    }

    fn check(&self, spec: &Spec, report: &mut Report) {
        if self.axes == PortAxes::Frame {
            report.needs_axes(spec, "axes", &self.frame);
        }
        if self.effective_mass {
            report.needs_axes(spec, "effective_mass", &self.frame);
        }
    }
}
