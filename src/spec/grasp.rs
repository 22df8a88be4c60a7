use super::element::{FrameField, Report, Table};
use super::{BushingFields, PerAxis, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Switched spring-damper between two frames, a model of a compliant gripper: it acts on three
/// displacements and three rotations. The discrete input `<grasp>.on` switches it on (above 0.5)
/// and off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grasp {
    /// Frame, body or `world` in whose axes the grasp acts. The outputs `<grasp>.force[1..3]` and
    /// `.moment[1..3]` act on it. An ANCF beam only if `b` is one too: its x is then along the beam.
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

impl Grasp {
    /// Returns true if a rigid body holds an ANCF beam from the start that no other grasp holds.
    fn is_rigid_part(&self, spec: &Spec) -> bool {
        let body = spec.frame.get(&self.a).map_or(&self.a, |frame| &frame.body);
        let is_rigid = spec.body.get(body).is_some_and(|body| body.is_rigid());
        let beam = spec.on_ancf_beam(&self.b);
        let holds = |grasp: &&Self| spec.on_ancf_beam(&grasp.b) == beam;
        is_rigid && self.on && beam.is_some() && spec.grasp.values().filter(holds).count() == 1
    }

    pub(crate) fn bushing(&self) -> BushingFields<'_> {
        BushingFields {
            stiffness: &self.stiffness,
            damping: &self.damping,
            angular_stiffness: self.angular_stiffness.as_ref(),
            angular_damping: self.angular_damping.as_ref(),
        }
    }
}

impl Table for Grasp {
    fn frames(&self) -> Vec<FrameField<'_>> {
        vec![
            FrameField::new("a", &self.a).or_world(),
            FrameField::new("b", &self.b).or_world(),
        ]
    }

    fn check(&self, spec: &Spec, report: &mut Report) {
        if let (Some(beam), None) = (spec.on_ancf_beam(&self.a), spec.on_ancf_beam(&self.b)) {
            let what = format!("\"{}\" is on the ANCF beam \"{beam}\": write it as `b`", self.a);
            report.add("a", what);
        }
        if self.a == self.b {
            report.add("b", format!("`a` and `b` are the same frame, \"{}\"", self.a));
        }
        self.bushing().check(report);
        if let Some((rigid, remedy)) = spec.rigid_model().filter(|_| !self.is_rigid_part(spec)) {
            let what = format!(
                "{rigid} includes only grasps by which a rigid body holds an ANCF beam from the start, alone{remedy}"
            );
            report.add("", what);
        }
    }
}
