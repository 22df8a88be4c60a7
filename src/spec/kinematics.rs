use super::element::{FrameField, Report, Table};
use super::task::{all, is_all};
use super::{Component, Spec, task, unknown};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Jacobians of a frame and its distance to singular positions, as outputs for controllers.
/// `docs/tasks.md` describes it.
///
/// Matrices have a column for each axis of `joints`, and six rows: angular, then linear, in world
/// axes; for the origin of the frame or of the base. The rates of all other joints are constant.
/// `base_inertia` has six columns, and `reaction_null_space` a row for each axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Kinematics {
    /// Frame or body that moves. Not an ANCF beam.
    pub frame: String,
    /// Joints whose rates move it, none spherical and none in a coupling.
    pub joints: Vec<String>,
    /// Outputs.
    pub outputs: Vec<KinematicOutput>,
    /// Components, in world axes, that `singular_value` and `manipulability` include; at most as
    /// many as the joints have axes. Default: all six.
    #[serde(default = "all", skip_serializing_if = "is_all")]
    pub components: Vec<Component>,
    /// Components of the base's motion, in world axes, that `reaction_null_space` leaves at rest.
    /// Default: `rx`, `ry` and `rz`, its attitude.
    #[serde(default = "rotations", skip_serializing_if = "are_rotations")]
    pub base_components: Vec<Component>,
    /// Length that makes singular values pure numbers, m, positive: translations count in units of
    /// it. Default 1.
    #[serde(default = "task::one")]
    pub length: f64,
}

fn rotations() -> Vec<Component> {
    vec![Component::Rx, Component::Ry, Component::Rz]
}

fn are_rotations(components: &[Component]) -> bool {
    components == rotations()
}

/// Output of `[kinematics.<name>]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KinematicOutput {
    /// `<name>.jacobian[1..6,1..]`: motion of the frame per unit rate, with the base at rest.
    Jacobian,
    /// `<name>.generalized_jacobian[1..6,1..]`: motion of the frame per unit rate on a
    /// free-floating base, for zero momentum of the spacecraft (Umetani and Yoshida 1989). Bodies
    /// that contacts capture are not included.
    GeneralizedJacobian,
    /// `<name>.base_motion[1..6,1..]`: motion of the free-floating base per unit rate, for zero
    /// momentum of the spacecraft. Rates in the kernel of its angular rows do not turn the base.
    BaseMotion,
    /// `<name>.base_inertia[1..6,1..6]`: momentum of the spacecraft per unit motion of the
    /// free-floating base, with all joints at rest, about the origin of the base: `H_b` in the
    /// momentum `H_b V + H_m q̇`.
    BaseInertia,
    /// `<name>.coupling_inertia[1..6,1..]`: momentum of the spacecraft per unit rate, with the base
    /// at rest, about the origin of the free-floating base: `H_m`, without rotor inertias.
    CouplingInertia,
    /// `<name>.reaction_null_space[1..,1..]`: projector of rates onto those that leave the
    /// `base_components` of the free-floating base at rest, for zero momentum of the spacecraft
    /// (reaction null space, Nenchev, Umetani and Yoshida 1992). With joints that translate it is
    /// orthogonal if their rates count in units of `length`.
    ReactionNullSpace,
    /// `<name>.singular_value`: smallest singular value of the Jacobian that includes the motion of
    /// a free-floating base, the distance to (dynamic) singularities.
    SingularValue,
    /// `<name>.manipulability`: product of the singular values of that Jacobian.
    Manipulability,
}

impl KinematicOutput {
    /// Returns true for a matrix.
    pub fn is_matrix(self) -> bool {
        !matches!(self, Self::SingularValue | Self::Manipulability)
    }

    /// Returns true if the frame has to be on a free-floating base.
    pub fn needs_base(self) -> bool {
        !matches!(self, Self::Jacobian | Self::SingularValue | Self::Manipulability)
    }

    /// Returns true if the output depends on `length`.
    pub fn is_scaled(self) -> bool {
        !self.is_matrix() || self == Self::ReactionNullSpace
    }

    /// Returns the field of its variables, and their description.
    pub fn texts(self) -> [&'static str; 2] {
        match self {
            Self::Jacobian => ["jacobian", "motion with the base at rest"],
            Self::GeneralizedJacobian => ["generalized_jacobian", "motion on a free-floating base"],
            Self::BaseMotion => ["base_motion", "motion of the free-floating base"],
            Self::BaseInertia => ["base_inertia", "momentum about the origin of the base"],
            Self::CouplingInertia => ["coupling_inertia", "momentum about the origin of the base"],
            Self::ReactionNullSpace => ["reaction_null_space", "projector onto the reaction null space"],
            Self::SingularValue => ["singular_value", "smallest singular value of the Jacobian"],
            Self::Manipulability => ["manipulability", "product of the singular values of the Jacobian"],
        }
    }
}

impl Kinematics {
    fn check_base_components(&self, report: &mut Report) {
        let components = &self.base_components;
        let is_read = self.outputs.contains(&KinematicOutput::ReactionNullSpace);
        let what = if !is_read && !are_rotations(components) {
            "only the output `reaction_null_space` reads these components: add it to `outputs`"
        } else if is_read && components.is_empty() {
            "no component: write those of the base that are to stay at rest"
        } else if (1..components.len()).any(|k| components[..k].contains(&components[k])) {
            "a component is listed twice"
        } else {
            return;
        };
        report.add("base_components", what);
    }
}

impl Table for Kinematics {
    fn frames(&self) -> Vec<FrameField<'_>> {
        vec![FrameField::new("frame", &self.frame).with_axes()]
    }

    fn check(&self, spec: &Spec, report: &mut Report) {
        if self.joints.is_empty() || self.outputs.is_empty() || self.components.is_empty() {
            report.add(
                "",
                "a table of kinematics has at least one joint, one output and one component",
            );
        }
        let mut axes = 0;
        let couplings = || spec.coupling.values();
        let is_coupled = |name| couplings().any(|of| [&of.joint, &of.follows].contains(&name));
        for (index, name) in self.joints.iter().enumerate() {
            match spec.joint.get(name) {
                None => report.add("joints", unknown("joint", name, spec.joint.keys())),
                Some(_) if self.joints[..index].contains(name) => {
                    report.add("joints", format!("joint \"{name}\" is listed twice"));
                }
                Some(joint) if !joint.kind.has_plain_positions() => {
                    let what = format!("joint \"{name}\" has no coordinates whose derivatives are its rates");
                    report.add("joints", what);
                }
                Some(_) if is_coupled(name) => {
                    let what = format!("joint \"{name}\" is coupled with another: its rate alone does not vary");
                    report.add("joints", what);
                }
                Some(joint) => axes += joint.kind.rates(),
            }
        }
        if (1..self.outputs.len()).any(|k| self.outputs[..k].contains(&self.outputs[k])) {
            report.add("outputs", "an output is listed twice");
        }
        if self.outputs.iter().any(|output| !output.is_matrix()) {
            task::check_components(&self.components, axes, report);
        }
        self.check_base_components(report);
    }
}
