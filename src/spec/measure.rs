use super::Spec;
use super::element::{FrameField, Report, Table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Motion of frame `to` relative to frame `from`, in axes of `from`, as outputs: position
/// `<measure>.r[1..3]` (m), attitude `.q[1..4]`, velocity `.v[1..3]` (m/s), angular velocity
/// `.w[1..3]` (rad/s), and the distance of the origins, `.distance` (m).
///
/// With `axis` also the errors of an approach along it: `.offset`, the distance (m) of the origin of
/// `to` from the line along the axis through the origin of `from`; `.misalignment`, the angle (rad)
/// between the axis and that of `to`; `.lateral_speed` (m/s) and `.tumbling_rate` (rad/s), the
/// magnitudes of `v` and `w` across the axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Frame, body or `world` in whose axes the motion is measured. Not an ANCF beam, which has no
    /// attitude.
    pub from: String,
    /// Frame, body or ANCF beam whose motion is measured.
    pub to: String,
    /// Axis of approach, in axes of `from`, of any length but zero. Default: none, and no outputs
    /// along it. Not if `to` is an ANCF beam.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<[f64; 3]>,
    /// Axis of `to`, in its axes, that is parallel to `axis` without misalignment. Default: that of
    /// `from`, for frames that are then parallel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis_to: Option<[f64; 3]>,
}

impl Table for Measure {
    fn frames(&self) -> Vec<FrameField<'_>> {
        vec![
            FrameField::new("from", &self.from).or_world().with_axes(),
            match self.axis {
                Some(_) => FrameField::new("to", &self.to).with_axes(),
                None => FrameField::new("to", &self.to),
            },
        ]
    }

    fn check(&self, _: &Spec, report: &mut Report) {
        if self.from == self.to {
            report.add("to", format!("\"{}\" is measured from itself", self.to));
        }
        if self.axis_to.is_some() && self.axis.is_none() {
            report.add(
                "axis_to",
                "it is the axis that `axis` is compared with: write `axis`".to_owned(),
            );
        }
    }
}
