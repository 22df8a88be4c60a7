use super::{Axes, FreeStart, Motor, Wheel, rotation_to};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A joint: it holds one body, the child, on another, the parent.
///
/// Its frame F is fixed to the parent by `origin` and `orientation`; the child's body frame moves in F.
/// Every number written here is a parameter of the FMU; what is left out does not exist
/// (write `damping = 0.0` to have damping as a parameter).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Joint {
    /// What the child can do in F.
    #[serde(rename = "type")]
    pub kind: JointType,
    /// The body that carries, or `world`.
    pub parent: String,
    /// The body that is carried.
    pub child: String,
    /// Origin of F, m, from the parent's origin in parent axes.
    #[serde(default)]
    pub origin: [f64; 3],
    /// Attitude of F in the parent, unit quaternion (w, x, y, z). Default: the parent's axes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<[f64; 4]>,
    /// The same as roll, pitch, yaw about the parent's fixed axes x, y, z, degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rpy_deg: Option<[f64; 3]>,
    /// Direction of a revolute, prismatic or cylindrical joint, or the first axis of a universal
    /// joint, in F. Any length but zero. Default `[0, 0, 1]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<[f64; 3]>,
    /// Second axis of a universal joint, carried by the first, in F at position zero. Default `[0, 1, 0]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis2: Option<[f64; 3]>,
    /// Viscous friction, N·m·s/rad or N·s/m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping: Option<PerAxis>,
    /// Dry friction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<Friction>,
    /// A spring between parent and child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spring: Option<Spring>,
    /// Inertia of the motor seen at the joint, n²J, kg·m² (or kg): added on the joint coordinate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotor_inertia: Option<PerAxis>,
    /// Where the joint is meant to stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    /// A proportional-derivative servo on the joint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servo: Option<Servo>,
    /// What its motor can give of what the torque input and the servo ask for. Default: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motor: Option<Motor>,
    /// Who moves the joint, at the start and where `motions` has no other: the loads on it (default), nobody (a brake), or a drive that follows an acceleration
    /// whatever it takes.
    #[serde(default)]
    pub motion: JointMotion,
    /// All ways in which the joint may move. If they are several, the input `<joint>.motion` switches between them while it runs: 0 loads, 1 locked, 2 prescribed. Default:
    /// `motion` alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub motions: Vec<JointMotion>,
    /// How a prescribed motion comes back to its reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracking: Option<Tracking>,
    /// Whether the joint has the torque (force) input `<joint>.tau`; a prescribed one must have its input. Default: yes.
    #[serde(default = "super::default::yes")]
    pub input: bool,
    /// Initial position and rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<JointStart>,
}

/// The kinds of joints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JointType {
    /// Turns about `axis`. One coordinate, rad.
    Revolute,
    /// Slides along `axis`. One coordinate, m.
    Prismatic,
    /// Turns about and slides along `axis`. Two coordinates: rad, m.
    Cylindrical,
    /// Slides along the three axes of F. Three coordinates, m.
    Cartesian,
    /// Turns about a point. A quaternion (child to F); rates are the angular velocity in child axes, rad/s.
    Spherical,
    /// Turns about `axis`, then about `axis2`. Two coordinates, rad.
    Universal,
    /// Holds the child rigidly.
    Fixed,
    /// Does not hold the child at all: its motion is measured in F.
    Free,
}

impl JointType {
    /// The word in the spec.
    pub fn name(self) -> &'static str {
        match self {
            Self::Revolute => "revolute",
            Self::Prismatic => "prismatic",
            Self::Cylindrical => "cylindrical",
            Self::Cartesian => "cartesian",
            Self::Spherical => "spherical",
            Self::Universal => "universal",
            Self::Fixed => "fixed",
            Self::Free => "free",
        }
    }

    /// Number of rates (degrees of freedom).
    pub fn rates(self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Revolute | Self::Prismatic => 1,
            Self::Cylindrical | Self::Universal => 2,
            Self::Cartesian | Self::Spherical => 3,
            Self::Free => 6,
        }
    }

    /// How many coordinates it has; an attitude has four.
    pub fn coordinates(self) -> usize {
        match self {
            Self::Spherical | Self::Free => self.rates() + 1,
            _ => self.rates(),
        }
    }

    /// How many of its coordinates are angles, of which whole turns count; they come first.
    pub fn angles(self) -> usize {
        match self {
            Self::Revolute | Self::Cylindrical | Self::Universal => {
                (0..self.rates()).filter(|&i| self.is_angular(i)).count()
            }
            Self::Fixed | Self::Prismatic | Self::Cartesian | Self::Spherical | Self::Free => 0,
        }
    }

    /// Whether positions are plain numbers whose derivatives are the rates.
    pub fn has_plain_positions(self) -> bool {
        !matches!(self, Self::Fixed | Self::Spherical | Self::Free)
    }

    /// Whether rate `i` is an angular one.
    pub fn is_angular(self, i: usize) -> bool {
        match self {
            Self::Revolute | Self::Universal | Self::Spherical => true,
            Self::Cylindrical => i == 0,
            Self::Free => i < 3,
            Self::Prismatic | Self::Cartesian | Self::Fixed => false,
        }
    }
}

/// Who moves a joint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JointMotion {
    /// Torques and forces.
    #[default]
    Loads,
    /// Nobody: a brake holds it. On locking, an impulse at the joint takes its rate away, which keeps momentum. The output `<joint>.drive` is the torque (force)
    /// of the brake, N·m (N).
    Locked,
    /// A drive: the input `<joint>.qdd` is the rate's derivative, rad/s² (m/s²), and the output `<joint>.drive` the torque
    /// (force) that it takes, N·m (N).
    Prescribed,
}

impl JointMotion {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Loads, Self::Locked, Self::Prescribed];

    /// The word in the spec.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loads => "loads",
            Self::Locked => "locked",
            Self::Prescribed => "prescribed",
        }
    }

    /// The number that commands it.
    pub fn number(self) -> i32 {
        self as i32
    }
}

/// A prescribed motion with references: `q̈ = q̈_in + kp (q_ref − q) + kd (q̇_ref − q̇)`, with the inputs `<joint>.qdd`, `<joint>.q_ref` and
/// `<joint>.qd_ref`; a servo on the same joint has the same references.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tracking {
    /// Position gain, 1/s².
    pub kp: PerAxis,
    /// Rate gain, 1/s.
    pub kd: PerAxis,
}

/// One number for every degree of freedom of the joint, or one for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a number, or a list with one number for each axis of the joint"
)]
pub enum PerAxis {
    /// The same for all.
    All(f64),
    /// One for each, in the joint's order.
    Each(Vec<f64>),
}

impl PerAxis {
    /// The number of axis `i`.
    ///
    /// # Panics
    /// If the list is too short: its length is [checked](super::read) when the spec is read.
    pub fn get(&self, i: usize) -> f64 {
        match self {
            Self::All(value) => *value,
            Self::Each(values) => values[i],
        }
    }
}

/// Coulomb friction, regularised: `τ = −coulomb · tanh(rate / slip)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Friction {
    /// Friction torque (force) in full slip, N·m (N).
    pub coulomb: PerAxis,
    /// Rate at which 76 % of it acts, rad/s (m/s). Smaller is closer to Coulomb's law, and stiffer.
    pub slip: PerAxis,
}

/// A linear spring: `τ = −stiffness (q − rest)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spring {
    /// Stiffness, N·m/rad (N/m). A spherical joint has one number: `τ = −stiffness · θ`, with θ the
    /// rotation vector of the child in F.
    pub stiffness: PerAxis,
    /// Position at which it is relaxed, rad (m). Default 0. Not for spherical joints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<PerAxis>,
}

/// The range of the joint's positions. Leaving it sets the output `<joint>.out_of_range` and logs one message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// Lowest position, rad (m).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<PerAxis>,
    /// Lowest position, degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_deg: Option<PerAxis>,
    /// Highest position, rad (m).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<PerAxis>,
    /// Highest position, degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_deg: Option<PerAxis>,
    /// What happens at the ends.
    #[serde(default)]
    pub stop: Stop,
    /// Stiffness of a compliant stop, N·m/rad (N/m).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stiffness: Option<PerAxis>,
    /// Damping of a compliant stop, N·m·s/rad (N·s/m). The stop never pulls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping: Option<PerAxis>,
}

/// What a joint meets at the ends of its range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// Nothing: the joint moves on.
    #[default]
    None,
    /// A spring-damper that pushes back.
    Compliant,
}

/// A PD servo: `τ = kp (q_ref − q) + kd (qd_ref − qd)`, added to the torque input (the feed-forward).
///
/// Its reference is the inputs `<joint>.q_ref` and `<joint>.qd_ref`; the input `<joint>.servo` switches it
/// on (above 0.5) and off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Servo {
    /// Proportional gain, N·m/rad (N/m).
    pub kp: PerAxis,
    /// Derivative gain, N·m·s/rad (N·s/m).
    pub kd: PerAxis,
    /// Whether it is on when the run starts. Default: yes.
    #[serde(default = "super::default::yes")]
    pub on: bool,
    /// What it asks for by itself, beside the input `<joint>.tau`. Default `none`. Not for spherical joints.
    #[serde(default, skip_serializing_if = "FeedForward::is_none")]
    pub feed_forward: FeedForward,
}

/// What a servo asks for beforehand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FeedForward {
    /// Nothing.
    #[default]
    None,
    /// What the craft would take to follow the reference if nothing bent, by inverse dynamics at every instant: of a base that floats or is held, with gravity, friction and springs; contacts and captures are not known to it. The
    /// joint then has the input `<joint>.qdd_ref`, which a signal `with_rate` drives too, and the output `<joint>.feed_forward`.
    Rigid,
}

impl FeedForward {
    fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// Where a joint starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JointStart {
    /// Position, rad (m). For a free joint: of the child's origin, three numbers, m. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<PerAxis>,
    /// Position, degrees. Angles only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position_deg: Option<PerAxis>,
    /// Rate, rad/s (m/s). For a spherical joint: the angular velocity in child axes. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<PerAxis>,
    /// Rate, degrees per second. Angles only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_deg: Option<PerAxis>,
    /// Attitude of a spherical or free joint's child in F, unit quaternion (w, x, y, z). Default: the axes of F.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attitude: Option<[f64; 4]>,
    /// The same as roll, pitch, yaw about the fixed axes of F, degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rpy_deg: Option<[f64; 3]>,
    /// Velocity of a free joint's child, m/s, axes of F. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub velocity: Option<[f64; 3]>,
    /// Angular velocity of a free joint's child, rad/s, child axes. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angular_velocity: Option<[f64; 3]>,
}

impl Joint {
    /// Whether its servo feeds forward.
    pub(crate) fn feeds_forward(&self) -> bool {
        let servo = self.servo.as_ref();
        servo.is_some_and(|servo| servo.feed_forward == FeedForward::Rigid)
    }

    /// The joint that carries the rotor of a wheel.
    pub(super) fn of_wheel(wheel: &Wheel, rotor: &str) -> Self {
        Self {
            kind: JointType::Revolute,
            parent: wheel.body.clone(),
            child: rotor.to_owned(),
            origin: wheel.position,
            orientation: Some(rotation_to(wheel.axis).to_array()),
            rpy_deg: None,
            axis: None,
            axis2: None,
            damping: wheel.damping.map(PerAxis::All),
            friction: None,
            spring: None,
            rotor_inertia: None,
            range: None,
            servo: None,
            motor: Some(Motor {
                torque_limit: PerAxis::All(wheel.torque_limit),
                rate_limit: Some(PerAxis::All(wheel.rate_limit)),
            }),
            motion: JointMotion::Loads,
            motions: Vec::new(),
            tracking: None,
            input: true,
            start: Some(JointStart {
                rate: Some(PerAxis::All(wheel.rate)),
                ..JointStart::default()
            }),
        }
    }
}

impl JointStart {
    /// The same as a free body's start, for a free joint.
    pub(crate) fn as_free(&self) -> FreeStart {
        let position = |i| self.position.as_ref().map_or(0.0, |p| p.get(i));
        FreeStart {
            position: [position(0), position(1), position(2)],
            attitude: self.attitude,
            rpy_deg: self.rpy_deg,
            velocity: self.velocity.unwrap_or_default(),
            angular_velocity: self.angular_velocity.unwrap_or_default(),
            axes: Axes::World,
        }
    }
}
