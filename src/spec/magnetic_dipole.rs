use super::Spec;
use super::element::{FrameField, Report, Table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Magnetic dipole, such as three magnetic torque rods: its moment is the input
/// `<magnetic_dipole>.m[1..3]` (A·m²), and the field at it the output `<magnetic_dipole>.B[1..3]`
/// (T), both in frame axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MagneticDipole {
    /// Frame or body that carries it. Not on an ANCF beam.
    pub frame: String,
}

impl Table for MagneticDipole {
    fn frames(&self) -> Vec<FrameField<'_>> {
        vec![FrameField::new("frame", &self.frame).with_axes()]
    }

    fn check(&self, spec: &Spec, report: &mut Report) {
        let orbit = spec.environment.orbit.as_ref();
        if orbit.is_none_or(|orbit| orbit.magnetic_field.is_none()) {
            let what = "a magnetic dipole needs a field: write [environment.orbit.magnetic_field]";
            report.add("", what);
        }
    }
}
