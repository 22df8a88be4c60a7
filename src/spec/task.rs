use super::check::NO_ORBIT;
use super::element::{FrameField, Report, Table};
use super::{Axes, Contact, ImpactLaw, JointMotion, PerAxis, Shaper, Spec, rotation, unknown};
use crate::algebra::{Quaternion, Scalar, log};
use crate::error::rounded;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Task-space control of a frame: joints move so that the frame tracks a pose trajectory (resolved
/// motion rate with acceleration feed-forward, and a damped inverse of the generalised Jacobian).
/// `docs/tasks.md` describes it.
///
/// Outputs are `<task>.error[1..]`, reference less position of each component (m or rad),
/// `<task>.singular_value` and `<task>.applied_damping`. The inputs that the task sets
/// (`<joint>.qdd`, or `<joint>.q_ref`, `.qd_ref` and `.qdd_ref`) are outputs too, and with
/// waypoints the path parameter `<task>.s`, which grows by one from each to the next, `.s_rate` and
/// `.s_acceleration`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Frame or body that tracks the reference. Not an ANCF beam.
    pub frame: String,
    /// Frame, body or `world` in whose axes the reference is written: one on the own spacecraft, or
    /// a target. Not an ANCF beam. Default `world`.
    #[serde(default = "world", skip_serializing_if = "is_world")]
    pub relative_to: String,
    /// Axes in which the reference is written if it is relative to the world: inertial axes, or, in
    /// orbit, the LVLH frame at the world's origin, which rotates. Default `world`.
    #[serde(default, skip_serializing_if = "Axes::is_default")]
    pub axes: Axes,
    /// Joints that move the frame, all on one spacecraft, none spherical. Each has `motion =
    /// "prescribed"`, or a servo with `feed_forward = "rigid"`; in a controller, torques may move
    /// it.
    pub joints: Vec<String>,
    /// Controlled components of the pose in axes of `relative_to`, at most as many as the joints
    /// have axes. Default: all six.
    #[serde(default = "all", skip_serializing_if = "is_all")]
    pub components: Vec<Component>,
    /// Gain `kp` of the pose error, 1/s, positive: an error decays as `exp(−kp t)`. It is also the
    /// gain at which a joint with a `range` approaches a limit.
    pub kp: f64,
    /// Gain `kd` of the joints' rate error, 1/s, positive: usually several times `kp`.
    pub kd: f64,
    /// Length `L` that makes singular values pure numbers, m, positive: translations count in units
    /// of `L`. Usually about the reach of the arm. Default 1.
    #[serde(default = "one")]
    pub length: f64,
    /// Smallest singular value of the generalised Jacobian below which its inverse is damped,
    /// positive. Default 0.05.
    #[serde(default = "small")]
    pub threshold: f64,
    /// Damping `λ₀` of the inverse where the Jacobian is singular, positive: with the smallest
    /// singular value `σ` it is `λ₀ (1 − σ²/threshold²)²`. Default 0.05.
    #[serde(default = "small")]
    pub damping: f64,
    /// Inputs `<task>.null_rate[1..]` (rad/s, m/s), one for each axis: rates of which the joints
    /// have the part that does not move the controlled components, with a lag of `1/kd`.
    /// Default: no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub null_rates: bool,
    /// Virtual mass `M`, kg, positive: one number, or one for each axis of `relative_to`. Under the
    /// force `f` on the frame the position obeys `M ë + M (kp + kd) ė + M kp kd e = −f`
    /// (impedance). With `mass` or `inertia`, and without `contacts` and `ports`, the measured force
    /// and torque of the environment on the frame are inputs `<task>.f[1..3]` (N) and
    /// `<task>.t[1..3]` (N·m), at its origin and in its axes; forces of ports are not part of them.
    /// Default: none, forces do not move the frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass: Option<PerAxis>,
    /// Virtual moment of inertia, kg·m², positive, by which torques rotate the frame like forces
    /// move it by `mass`: one number, or one for each axis of `relative_to`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inertia: Option<PerAxis>,
    /// Damping ratio `ζ` of the virtual damper, positive: `D = 2ζ M √(kp kd)` in place of
    /// `D = M (kp + kd)`, whose ratio is at least one. It applies to the position with `mass` and to
    /// the attitude with `inertia`, and needs one of these. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping_ratio: Option<f64>,
    /// Contacts with the law `compliant` of the frame's rigid body, whose forces are measured.
    /// Servos counteract them. Not in a controller. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contacts: Vec<String>,
    /// Ports on the frame's rigid body whose forces and torques are measured. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// Time from one sample of the law to the next, s, positive: the accelerations of the joints
    /// and the measured wrench are constant between samples. The first sample is taken at the start
    /// time. In a controller, `sample_time` is in `[controller]`. Default: none, the law is
    /// continuous.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_time: Option<f64>,
    /// Poses of the frame, reached at rest. Between two the position is on a straight line and the
    /// attitude turns about a fixed axis, both along `10s³ − 15s⁴ + 6s⁵`. Default: none, the
    /// reference is the inputs `<task>.r_ref[1..3]`, `.v_ref[1..3]`, `.a_ref[1..3]` (position,
    /// velocity, acceleration), `.q_ref[1..4]`, `.w_ref[1..3]`, `.wd_ref[1..3]` (attitude, angular
    /// velocity and acceleration), all in axes of `relative_to`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waypoint: Vec<Waypoint>,
    /// Input shapers of the path parameter, one for each mode of vibration that the motion must not
    /// excite. The path is the same, and each waypoint is reached at its time: the motion towards it
    /// is shorter by half a period of each mode, or a period. Only with waypoints. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shaper: Vec<Shaper>,
}

/// Pose of a task's frame at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    /// Time, s, later than that of the waypoint before.
    pub time: f64,
    /// Position, m. Required if the task controls a component of the position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<[f64; 3]>,
    /// Attitude, unit quaternion (w, x, y, z). This or `rpy_deg` is required if the task controls a
    /// component of the attitude.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<[f64; 4]>,
    /// Attitude in place of `orientation`: roll, pitch, yaw about fixed axes x, y, z, degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rpy_deg: Option<[f64; 3]>,
}

/// Component of a pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Component {
    /// Position along x.
    X,
    /// Position along y.
    Y,
    /// Position along z.
    Z,
    /// Rotation about x.
    Rx,
    /// Rotation about y.
    Ry,
    /// Rotation about z.
    Rz,
}

impl Component {
    /// All components.
    pub const ALL: [Self; 6] = [Self::X, Self::Y, Self::Z, Self::Rx, Self::Ry, Self::Rz];

    /// Returns the index among three angular and three linear components, in this order.
    pub fn index(self) -> usize {
        (self as usize + 3) % 6
    }

    /// Returns true for a rotation.
    pub fn is_angular(self) -> bool {
        self.index() < 3
    }

    /// Returns the `components` of a motion as pure numbers, with lengths in units of `length` (m),
    /// and zeros for the rest; `scale` multiplies all.
    pub(crate) fn select<S: Scalar>(components: &[Self], length: f64, motion: &[S; 6], scale: f64) -> [S; 6] {
        std::array::from_fn(|i| match components.get(i) {
            Some(component) => {
                let unit = if component.is_angular() { 1.0 } else { length };
                motion[component.index()] * S::lift(scale / unit)
            }
            None => S::zero(),
        })
    }

    /// Returns the adjoint of a motion from that of its [`select`](Self::select)ed components.
    pub(crate) fn spread(components: &[Self], length: f64, selected: &[f64; 6], scale: f64) -> [f64; 6] {
        let mut motion = [0.0; 6];
        for (component, entry) in components.iter().zip(selected) {
            let unit = if component.is_angular() { 1.0 } else { length };
            motion[component.index()] += entry * (scale / unit);
        }
        motion
    }

    /// Returns the description, for variables.
    pub fn text(self) -> &'static str {
        match self {
            Self::X => "position along x",
            Self::Y => "position along y",
            Self::Z => "position along z",
            Self::Rx => "rotation about x",
            Self::Ry => "rotation about y",
            Self::Rz => "rotation about z",
        }
    }
}

impl Waypoint {
    /// Returns the attitude.
    pub fn attitude(&self) -> Quaternion<f64> {
        rotation(self.orientation, self.rpy_deg)
    }

    fn has_attitude(&self) -> bool {
        self.orientation.is_some() || self.rpy_deg.is_some()
    }
}

/// Largest rotation between waypoints, rad: at π its direction is ambiguous.
const LARGEST_TURN: f64 = std::f64::consts::PI - 1e-3;

fn world() -> String {
    super::WORLD.to_owned()
}

fn is_world(frame: &str) -> bool {
    frame == super::WORLD
}

pub(super) fn all() -> Vec<Component> {
    Component::ALL.to_vec()
}

pub(super) fn is_all(components: &[Component]) -> bool {
    components == Component::ALL
}

pub(super) fn one() -> f64 {
    1.0
}

fn small() -> f64 {
    0.05
}

/// Reports components that are listed twice, and more of them than the joints have axes.
pub(super) fn check_components(components: &[Component], axes: usize, report: &mut Report) {
    if (1..components.len()).any(|k| components[..k].contains(&components[k])) {
        report.add("components", "a component is listed twice");
    }
    if report.found.is_empty() && components.len() > axes {
        let count = components.len();
        let what = format!("the joints have fewer axes ({axes}) than there are components ({count})");
        report.add("components", what);
    }
}

/// Reports names that are not among `all` tables of a kind, and those that are listed twice.
fn check_names<'a>(
    field: &'static str,
    (kind, all): (&str, impl Iterator<Item = &'a String> + Clone),
    names: &[String],
    report: &mut Report,
) {
    for (index, name) in names.iter().enumerate() {
        if !all.clone().any(|known| known == name) {
            report.add(field, unknown(kind, name, all.clone()));
        } else if names[..index].contains(name) {
            report.add(field, format!("{kind} \"{name}\" is listed twice"));
        }
    }
}

impl Task {
    /// Returns true if a component of the attitude is controlled.
    pub fn turns(&self) -> bool {
        self.components.iter().any(|component| component.is_angular())
    }

    /// Returns true if a component of the position is controlled.
    pub fn moves(&self) -> bool {
        self.components.iter().any(|component| !component.is_angular())
    }

    /// Returns true if the measured wrench is that of contacts and ports.
    pub fn measures(&self) -> bool {
        !(self.contacts.is_empty() && self.ports.is_empty())
    }

    /// Returns the name of the frame in whose axes the reference is written, for descriptions.
    pub(crate) fn reference_axes(&self) -> &str {
        match self.axes {
            Axes::World => &self.relative_to,
            Axes::Lvlh => "the LVLH frame",
        }
    }

    fn check_axes(&self, spec: &Spec, report: &mut Report) {
        if self.axes == Axes::World {
            return;
        }
        if !is_world(&self.relative_to) {
            let to = &self.relative_to;
            let what =
                format!("the reference is in axes of \"{to}\": leave out `axes`, or `relative_to` for LVLH axes");
            report.add("axes", what);
        } else if spec.environment.orbit.is_none() {
            report.add("axes", NO_ORBIT);
        }
    }

    fn check_joints(&self, spec: &Spec, report: &mut Report) {
        let mut axes = 0;
        for (index, name) in self.joints.iter().enumerate() {
            let Some(joint) = spec.joint.get(name) else {
                report.add("joints", unknown("joint", name, spec.joint.keys()));
                continue;
            };
            let can = |motion| joint.motion == motion || joint.motions.contains(&motion);
            let others = spec.task.values().filter(|task| task.joints.contains(name)).count();
            let what = if self.joints[..index].contains(name) {
                "is listed twice"
            } else if others > 1 {
                "is in several tasks"
            } else if spec.plan.values().any(|plan| plan.joints.contains(name)) {
                "is in a plan too, which sets the references that the task sets"
            } else if !joint.kind.has_plain_positions() {
                "has no coordinates whose derivatives are its rates: tasks move joints of all types but spherical, \
                 fixed and free"
            } else if joint.drive_train.is_some() {
                "has a drive train, whose rotor the actuators move"
            } else if !joint.feeds_forward() && !can(JointMotion::Prescribed) {
                "takes no acceleration: write motion = \"prescribed\", or a servo with feed_forward = \"rigid\""
            } else {
                axes += joint.kind.rates();
                continue;
            };
            report.add("joints", format!("joint \"{name}\" {what}"));
        }
        check_components(&self.components, axes, report);
    }

    fn check_shaper(&self, report: &mut Report) {
        let problems = Shaper::problems(&self.shaper);
        let is_valid = problems.is_empty() && !self.shaper.is_empty();
        problems.into_iter().for_each(|what| report.add("shaper", what));
        if !self.shaper.is_empty() && self.waypoint.is_empty() {
            report.add(
                "shaper",
                "only a path through waypoints can be shaped: add [[task.<name>.waypoint]]",
            );
        }
        let duration = Shaper::duration(&self.shaper);
        for (k, pair) in self.waypoint.windows(2).enumerate().filter(|_| is_valid) {
            let apart = pair[1].time - pair[0].time;
            if apart > 0.0 && apart <= duration {
                let [number, apart, duration] = [(k + 1) as f64, apart, duration].map(|x| rounded(x, 7));
                let next = k + 2;
                let what = format!(
                    "waypoints {number} and {next} are {apart} s apart, and the shaper takes {duration} s of that: leave \
                     more time between them"
                );
                report.add("shaper", what);
            }
        }
    }

    /// Reports virtual inertia of components that are not controlled, and contacts without a force
    /// that depends on the state.
    fn check_impedance(&self, spec: &Spec, report: &mut Report) {
        if self.mass.is_some() && !self.moves() {
            report.add(
                "mass",
                "no component of the position is controlled: add \"x\", \"y\" or \"z\"",
            );
        }
        if self.inertia.is_some() && !self.turns() {
            report.add("inertia", "no rotation is controlled: add \"rx\", \"ry\" or \"rz\"");
        }
        if self.damping_ratio.is_some() && self.mass.is_none() && self.inertia.is_none() {
            let what = "only a virtual inertia has this damper: add `mass` or `inertia`";
            report.add("damping_ratio", what);
        }
        for (field, inertia) in [("mass", &self.mass), ("inertia", &self.inertia)] {
            if let Some(PerAxis::Each(values)) = inertia
                && values.len() != 3
            {
                report.add(field, format!("{} numbers for 3 axes", values.len()));
            }
        }
        check_names("contacts", ("contact", spec.contact.keys()), &self.contacts, report);
        check_names("ports", ("port", spec.port.keys()), &self.ports, report);
        let earlier = spec.task.iter().take_while(|(_, other)| !std::ptr::eq(*other, self));
        for (other, task) in earlier {
            if let Some(name) = self.contacts.iter().find(|name| task.contacts.contains(name)) {
                let what = format!("contact \"{name}\" is measured by task \"{other}\" already");
                report.add("contacts", what);
            }
        }
        for name in &self.contacts {
            let contact = spec.contact.get(name);
            if contact.is_some_and(Contact::sticks) {
                let what = format!(
                    "contact \"{name}\" has friction with slip = 0, which depends on the accelerations that the task \
                     commands: write a positive slip"
                );
                report.add("contacts", what);
            }
            let law = contact.map(|contact| contact.law);
            if let Some(law) = law.filter(|&law| law != ImpactLaw::Compliant) {
                let law = law.name();
                let what =
                    format!("contact \"{name}\" has the law \"{law}\", which is no force: write law = \"compliant\"");
                report.add("contacts", what);
            }
        }
    }

    fn check_waypoints(&self, report: &mut Report) {
        for (k, waypoint) in self.waypoint.iter().enumerate() {
            let number = k + 1;
            if k > 0 && waypoint.time <= self.waypoint[k - 1].time {
                let (time, before) = (waypoint.time, self.waypoint[k - 1].time);
                let what = format!("waypoint {number} is at {time} s, and the one before at {before} s: times ascend");
                report.add("waypoint", what);
            }
            if self.moves() && waypoint.position.is_none() {
                report.add(
                    "waypoint",
                    format!("waypoint {number} has no `position`, which the task controls"),
                );
            }
            if self.turns() && !waypoint.has_attitude() {
                let what = format!(
                    "waypoint {number} has no attitude, which the task controls: write `rpy_deg` or `orientation`"
                );
                report.add("waypoint", what);
            }
            let length = waypoint.attitude().norm_squared().sqrt();
            if (length - 1.0).abs() > 1e-6 {
                let what = format!(
                    "waypoint {number}: the quaternion is not of unit length: |q| = {}",
                    rounded(length, 7)
                );
                report.add("waypoint", what);
            }
            if self.turns() && k > 0 {
                let turn = waypoint.attitude() * self.waypoint[k - 1].attitude().conjugate();
                if log(turn).norm() > LARGEST_TURN {
                    let what = format!(
                        "waypoint {number} is half a turn from the one before, about an axis in either direction: add a \
                         waypoint between"
                    );
                    report.add("waypoint", what);
                }
            }
            if waypoint.orientation.is_some() && waypoint.rpy_deg.is_some() {
                report.add(
                    "waypoint",
                    format!("waypoint {number}: write either `orientation` or `rpy_deg`"),
                );
            }
        }
    }
}

impl Table for Task {
    fn frames(&self) -> Vec<FrameField<'_>> {
        vec![
            FrameField::new("frame", &self.frame).with_axes(),
            FrameField::new("relative_to", &self.relative_to).or_world().with_axes(),
        ]
    }

    fn check(&self, spec: &Spec, report: &mut Report) {
        if self.frame == self.relative_to {
            report.add(
                "relative_to",
                format!("\"{}\" does not move relative to itself", self.frame),
            );
        }
        if self.joints.is_empty() || self.components.is_empty() {
            report.add("", "a task has at least one joint and one component");
        }
        self.check_axes(spec, report);
        self.check_joints(spec, report);
        self.check_impedance(spec, report);
        self.check_waypoints(report);
        self.check_shaper(report);
    }
}
