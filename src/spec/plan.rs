use super::element::{FrameField, Report, Table};
use super::{Shaper, Spec, signal};
use crate::error::rounded;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Motion of joints that is planned when the spec is read: inverse kinematics of frames that move
/// relative to each other. It becomes a signal inside the FMU on the reference of each joint
/// (`[signal."<joint>.q_ref"]`, a table of positions, rates and accelerations), for the values of
/// the spec. `docs/plans.md` describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Joints that move. Each has one coordinate and a servo. They start where the spec says.
    pub joints: Vec<String>,
    /// Begin, s. Default 0.
    #[serde(default)]
    pub from: f64,
    /// End, s, later than `from`.
    pub until: f64,
    /// Coordinates that move or are kept. Together they determine the joints' positions.
    pub goal: Vec<Goal>,
    /// Input shapers of the motion law, one for each mode of vibration that the motion must not
    /// excite. Frames move on the same way and reach the goals at `until`: the motion of one copy is
    /// shorter by half a period of each mode, or a period. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shaper: Vec<Shaper>,
}

/// Position and attitude of a frame, or of a mass centre, relative to another frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// Frame or body that moves. Required, unless `mass_centre` is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// Bodies whose common mass centre moves, with the rotors that they carry, in place of `frame`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mass_centre: Vec<String>,
    /// Frame, body or `world` in whose axes the coordinates are measured. Not an ANCF beam.
    pub relative_to: String,
    /// Coordinates at the end of the motion. Each moves there from its value at the start, without
    /// rate and acceleration at both ends (`10s³ − 15s⁴ + 6s⁵`). Default: none.
    #[serde(default, skip_serializing_if = "Coordinates::are_none")]
    pub to: Coordinates,
    /// Coordinates that keep their values of the start. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<Kept>,
}

/// Coordinates of a position, m.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Coordinates {
    /// Along x, m. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<f64>,
    /// Along y, m. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y: Option<f64>,
    /// Along z, m. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub z: Option<f64>,
}

impl Coordinates {
    fn are_none(&self) -> bool {
        self.to_array().iter().all(Option::is_none)
    }

    /// Returns the coordinates along x, y and z.
    pub fn to_array(self) -> [Option<f64>; 3] {
        [self.x, self.y, self.z]
    }
}

/// A coordinate that a plan keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// Position along x.
    X,
    /// Position along y.
    Y,
    /// Position along z.
    Z,
    /// Attitude.
    Attitude,
}

impl Goal {
    /// Returns the name of what moves, for messages.
    pub fn moves(&self) -> String {
        match &self.frame {
            Some(frame) => format!("\"{frame}\""),
            None => format!("the mass centre of {}", self.mass_centre.join(", ")),
        }
    }

    fn check(&self, spec: &Spec, report: &mut Report) {
        match (&self.frame, self.mass_centre.is_empty()) {
            (Some(_), false) => report.add("goal", "write either `frame` or `mass_centre`"),
            (None, true) => report.add("goal", "write the `frame` that moves, or the bodies of a `mass_centre`"),
            _ => {}
        }
        for body in self.mass_centre.iter().filter(|body| !spec.body.contains_key(*body)) {
            report.add("goal", super::unknown("body", body, spec.body.keys()));
        }
        if !self.mass_centre.is_empty() && self.keep.contains(&Kept::Attitude) {
            report.add("goal", "a mass centre has no attitude");
        }
        if self.to.are_none() && self.keep.is_empty() {
            let what = format!("{} has no coordinate: write `to` or `keep`", self.moves());
            report.add("goal", what);
        }
        let axes = [("x", Kept::X), ("y", Kept::Y), ("z", Kept::Z)].into_iter();
        for ((axis, kept), to) in axes.zip(self.to.to_array()) {
            if to.is_some() && self.keep.contains(&kept) {
                report.add("goal", format!("{axis} of {} is in `to` and in `keep`", self.moves()));
            }
        }
        let reference = FrameField::new("goal", &self.relative_to).or_world().with_axes();
        reference.check(spec, report);
        if let Some(frame) = &self.frame {
            let field = FrameField::new("goal", frame);
            match self.keep.contains(&Kept::Attitude) {
                true => field.with_axes().check(spec, report),
                false => field.check(spec, report),
            }
        }
    }
}

impl Plan {
    fn check_shaper(&self, report: &mut Report) {
        let problems = Shaper::problems(&self.shaper);
        if problems.is_empty() {
            let (duration, shaped) = (self.until - self.from, Shaper::duration(&self.shaper));
            if duration > 0.0 && duration <= shaped {
                let [duration, shaped] = [duration, shaped].map(|x| rounded(x, 7));
                let what = format!("the plan takes {duration} s, of which the shaper takes {shaped} s: end it later");
                report.add("shaper", what);
            }
        }
        problems.into_iter().for_each(|what| report.add("shaper", what));
    }
}

impl Table for Plan {
    fn check(&self, spec: &Spec, report: &mut Report) {
        if let Some(what) = signal::empty_window(self.from, self.until) {
            report.add("until", what);
        }
        if self.from < 0.0 {
            report.add("from", format!("{} s is before the start of the run", self.from));
        }
        if !spec.closed_loop.is_empty() {
            report.add("", "plans do not include loops: write the references as signals");
        }
        if spec.assembly.as_ref().is_some_and(|assembly| assembly.equilibrium) {
            report.add("", "a plan begins at the start in the spec, not at an equilibrium");
        }
        if self.goal.is_empty() || self.joints.is_empty() {
            report.add("", "a plan has `joints` and at least one [[plan.<name>.goal]]");
        }
        for (index, name) in self.joints.iter().enumerate() {
            if self.joints[..index].contains(name) {
                report.add("joints", format!("joint \"{name}\" is listed twice"));
                continue;
            }
            let Some(joint) = spec.joint.get(name) else {
                report.add("joints", super::unknown("joint", name, spec.joint.keys()));
                continue;
            };
            let others = spec.plan.values().filter(|plan| plan.joints.contains(name)).count();
            let inputs = ["q_ref", "qd_ref", "qdd_ref"].map(|field| format!("{name}.{field}"));
            let is_set = |input: &String| spec.signal.contains_key(input) || spec.input.contains_key(input);
            let mut couplings = spec.coupling.values();
            let rate = joint.start.as_ref().and_then(|start| start.rate.as_ref());
            let what = if !joint.kind.has_plain_positions() || joint.kind.rates() != 1 {
                "does not have exactly one coordinate: plans move revolute, prismatic and screw joints"
            } else if joint.servo.is_none() {
                "has no servo to follow the plan: write `servo`"
            } else if inputs.iter().any(is_set) {
                "has a signal or a start value on a reference, which the plan sets"
            } else if rate.is_some_and(|rate| rate.get(0) != 0.0) {
                "starts with a rate, and the plan begins at rest"
            } else if couplings.any(|coupling| [&coupling.joint, &coupling.follows].contains(&name)) {
                "is coupled with another, which plans do not include"
            } else if others > 1 {
                "is in several plans"
            } else {
                continue;
            };
            report.add("joints", format!("joint \"{name}\" {what}"));
        }
        self.goal.iter().for_each(|goal| goal.check(spec, report));
        self.check_shaper(report);
    }
}
