use super::Spec;
use super::element::{FrameField, Report, Table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Motion of frame `to` relative to frame `from`, in axes of `from`, as outputs: position
/// `<measure>.r[1..3]` (m), attitude `.q[1..4]`, velocity `.v[1..3]` (m/s), angular velocity
/// `.w[1..3]` (rad/s), and the distance of the origins, `.distance` (m).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Frame, body or `world` in whose axes the motion is measured. Not an ANCF beam, which has no
    /// attitude.
    pub from: String,
    /// Frame, body or ANCF beam whose motion is measured.
    pub to: String,
}

impl Table for Measure {
    fn frames(&self) -> Vec<FrameField<'_>> {
        vec![
            FrameField::new("from", &self.from).or_world().with_axes(),
            FrameField::new("to", &self.to),
        ]
    }

    fn check(&self, _: &Spec, report: &mut Report) {
        if self.from == self.to {
            report.add("to", format!("\"{}\" is measured from itself", self.to));
        }
    }
}
