use super::drive_train::Geared;
use super::{Axes, DcMotor, DriveTrain, FreeStart, Motor};
use crate::algebra::{Quaternion, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A joint: the connection of a child body with its parent body or the world.
///
/// Its frame F is fixed to the parent by `origin` and `orientation` (on a flexible parent, to the
/// nearest point of the beam's axis or the nearest node, at a rigid offset). The frame of the child
/// moves in F, and coincides with it at position zero. Units in parentheses are those of
/// translational coordinates.
///
/// Every number that is written is a parameter of the FMU. A field that is left out has no effect
/// and no parameter; write `damping = 0.0` to have damping as a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Joint {
    /// Type: the motion of the child in F.
    #[serde(rename = "type")]
    pub kind: JointType,
    /// Parent body, or `world`.
    pub parent: String,
    /// Child body. A body is the child of at most one joint.
    pub child: String,
    /// Origin of F, m, from the parent's origin in parent axes. Default `[0, 0, 0]`.
    #[serde(default)]
    pub origin: [f64; 3],
    /// Attitude of F in the parent, unit quaternion (w, x, y, z). Default: the parent's axes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<[f64; 4]>,
    /// Attitude of F in place of `orientation`: roll, pitch, yaw about the parent's fixed axes x,
    /// y, z, degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rpy_deg: Option<[f64; 3]>,
    /// Axis of a revolute, prismatic, cylindrical or screw joint, normal of a planar joint's plane,
    /// or first axis of a universal joint, in F. Any length but zero. Default `[0, 0, 1]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<[f64; 3]>,
    /// Second axis of a universal joint, which rotates about the first, in F at position zero. Any
    /// length but zero, not parallel to `axis`. Default `[0, 1, 0]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis2: Option<[f64; 3]>,
    /// Travel along `axis` per turn of a screw joint, m, positive for a right-handed thread, not
    /// zero. Required for a screw joint, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pitch: Option<f64>,
    /// Viscous friction, N·m·s/rad (N·s/m), not negative. Not for fixed and free joints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping: Option<PerAxis>,
    /// Dry friction. Not for fixed and free joints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<Box<Friction>>,
    /// Spring between parent and child. Not for fixed and free joints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spring: Option<Spring>,
    /// Inertia of the motor reflected to the joint by the gear ratio n, `n²J`, kg·m² (kg), not
    /// negative. It acts on the joint coordinate. Not for fixed, spherical and free joints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotor_inertia: Option<PerAxis>,
    /// Drive train: gear with elasticity between the motor and the child. Only for revolute joints.
    /// Default: the actuators act on the child directly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive_train: Option<Box<DriveTrain>>,
    /// Drive train that this joint's rotor drives, if [`Spec::with_added`](super::Spec) has added
    /// the joint.
    #[serde(skip)]
    pub(crate) geared: Option<Box<Geared>>,
    /// True for the mass of a tether, whose start is computed and is no parameter.
    #[serde(skip)]
    pub(crate) is_placed: bool,
    /// Range of the position, reported when it is left. Not for fixed, spherical and free joints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Box<Range>>,
    /// Proportional-derivative servo. Not for fixed and free joints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servo: Option<Servo>,
    /// Limits of the motor that exerts the sum of the torque input and the servo's torque. Not for
    /// fixed, spherical and free joints. Default: no limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motor: Option<Motor>,
    /// Electric part of the motor, which is then driven by a voltage. Only for revolute and screw
    /// joints. Default: none; torques are commanded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dc_motor: Option<Box<DcMotor>>,
    /// Motion at the start, and for the whole run if `motions` has no other: by loads, locked by a
    /// brake, or prescribed by a drive. Default `loads`.
    #[serde(default)]
    pub motion: JointMotion,
    /// All motions of the run, `motion` among them. If there are several, the input
    /// `<joint>.motion` selects one during the run: 0 loads, 1 locked, 2 prescribed. Default:
    /// `motion` alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub motions: Vec<JointMotion>,
    /// Gains that bring a prescribed joint back to its reference. Only if its motion may be
    /// prescribed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracking: Option<Tracking>,
    /// Presence of the torque (force) input `<joint>.tau`. A joint whose motion may be prescribed
    /// needs its input `<joint>.qdd`, a joint with a `dc_motor` its input `<joint>.voltage`, and
    /// `false` is an error. Default: yes.
    #[serde(default = "super::default::yes")]
    pub input: bool,
    /// Initial position and rate. Not for fixed joints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Box<JointStart>>,
}

/// Type of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JointType {
    /// Rotation about `axis`. One coordinate, rad.
    Revolute,
    /// Translation along `axis`. One coordinate, m.
    Prismatic,
    /// Rotation about `axis` and translation along it. Two coordinates: rad, m.
    Cylindrical,
    /// Rotation about `axis` and translation along it in proportion, by `pitch` per turn. One
    /// coordinate, rad.
    Screw,
    /// Rotation about `axis` and translation in the plane normal to it. Three coordinates: the
    /// angle, rad, then the position in the plane, m, along the axes x and y of F, or for another
    /// `axis` than z along their images under the shortest rotation from z to `axis`.
    Planar,
    /// Translation along the axes x and y of F. Two coordinates, m.
    Rectangular,
    /// Translation along the three axes of F. Three coordinates, m.
    Cartesian,
    /// Rotation about a point. The coordinates are a unit quaternion (child to F), the rates the
    /// angular velocity in child axes, rad/s.
    Spherical,
    /// Rotation about `axis`, then about `axis2`. Two coordinates, rad.
    Universal,
    /// No relative motion.
    Fixed,
    /// Six degrees of freedom, with position, attitude and rates measured in F.
    Free,
}

impl JointType {
    /// Returns true if the type has an `axis`.
    pub fn has_axis(self) -> bool {
        matches!(
            self,
            Self::Revolute | Self::Prismatic | Self::Cylindrical | Self::Screw | Self::Planar | Self::Universal
        )
    }

    /// Returns the name in a spec.
    pub fn name(self) -> &'static str {
        match self {
            Self::Revolute => "revolute",
            Self::Prismatic => "prismatic",
            Self::Cylindrical => "cylindrical",
            Self::Screw => "screw",
            Self::Planar => "planar",
            Self::Rectangular => "rectangular",
            Self::Cartesian => "cartesian",
            Self::Spherical => "spherical",
            Self::Universal => "universal",
            Self::Fixed => "fixed",
            Self::Free => "free",
        }
    }

    /// Returns the number of rates (degrees of freedom).
    pub fn rates(self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Revolute | Self::Prismatic | Self::Screw => 1,
            Self::Cylindrical | Self::Universal | Self::Rectangular => 2,
            Self::Planar | Self::Cartesian | Self::Spherical => 3,
            Self::Free => 6,
        }
    }

    /// Returns the number of coordinates; an attitude has four.
    pub fn coordinates(self) -> usize {
        match self {
            Self::Spherical | Self::Free => self.rates() + 1,
            _ => self.rates(),
        }
    }

    /// Returns the number of coordinates that are unwrapped angles (whole turns count); they come
    /// first.
    pub fn angles(self) -> usize {
        match self {
            Self::Revolute | Self::Cylindrical | Self::Universal | Self::Screw | Self::Planar => {
                (0..self.rates()).filter(|&i| self.is_angular(i)).count()
            }
            Self::Fixed | Self::Prismatic | Self::Rectangular | Self::Cartesian | Self::Spherical | Self::Free => 0,
        }
    }

    /// Returns true if there are coordinates and their derivatives are the rates.
    pub fn has_plain_positions(self) -> bool {
        !matches!(self, Self::Fixed | Self::Spherical | Self::Free)
    }

    /// Returns true if rate `i` is angular.
    pub fn is_angular(self, i: usize) -> bool {
        match self {
            Self::Revolute | Self::Screw | Self::Universal | Self::Spherical => true,
            Self::Cylindrical | Self::Planar => i == 0,
            Self::Free => i < 3,
            Self::Prismatic | Self::Rectangular | Self::Cartesian | Self::Fixed => false,
        }
    }
}

/// Motion of a joint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JointMotion {
    /// Free under torques and forces.
    #[default]
    Loads,
    /// Locked by a brake. Its closing is an impulse that ends the joint's rate and conserves
    /// momentum. The output `<joint>.drive` is the torque (force) of the brake, N·m (N).
    Locked,
    /// Prescribed by a drive. The input `<joint>.qdd` is the derivative of the rate, rad/s² (m/s²),
    /// the output `<joint>.drive` the torque (force) that the drive exerts, N·m (N).
    Prescribed,
}

impl JointMotion {
    /// All motions, in the order of their [numbers](Self::number).
    pub const ALL: [Self; 3] = [Self::Loads, Self::Locked, Self::Prescribed];

    /// Returns the name in a spec.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loads => "loads",
            Self::Locked => "locked",
            Self::Prescribed => "prescribed",
        }
    }

    /// Returns the value of the input `<joint>.motion` that selects it.
    pub fn number(self) -> i32 {
        self as i32
    }
}

/// Tracking of a reference by a prescribed joint: `q̈ = q̈_in + kp (q_ref − q) + kd (q̇_ref − q̇)`,
/// with the inputs `<joint>.qdd`, `<joint>.q_ref` and `<joint>.qd_ref`. A servo on the same joint
/// has the same reference inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tracking {
    /// Position gain, 1/s², not negative.
    pub kp: PerAxis,
    /// Rate gain, 1/s, not negative.
    pub kd: PerAxis,
}

/// One number for all axes, or one for each axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a number, or a list with one number for each axis of the joint"
)]
pub enum PerAxis {
    /// One number for all axes.
    All(f64),
    /// One number for each axis, in the joint's order.
    Each(Vec<f64>),
}

impl PerAxis {
    /// Returns the number of axis `i`.
    ///
    /// # Panics
    /// If the list is too short. Its length is [validated](super::read) when the spec is read.
    pub fn get(&self, i: usize) -> f64 {
        match self {
            Self::All(value) => *value,
            Self::Each(values) => values[i],
        }
    }
}

/// Coulomb friction, regularised or sticking.
///
/// With `slip` it is regularised, `τ = −coulomb · tanh(rate / slip)`: it never holds a joint, which
/// creeps under the smallest load. Without `slip` it sticks: at rate zero it holds the joint up to
/// the torque (force) `breakaway`, without creep, and a joint that slides has the friction
/// `coulomb + (breakaway − coulomb)/(1 + (rate / stribeck)²)`. Friction that sticks is for joints
/// with one axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Friction {
    /// Friction torque (force) of sliding, N·m (N), not negative; with `slip` at rates well above it.
    pub coulomb: PerAxis,
    /// Rate at which 76 % of the friction acts, rad/s (m/s), positive. A smaller value is closer to
    /// Coulomb's law, and stiffer. Default: the friction sticks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slip: Option<PerAxis>,
    /// Largest torque (force) that holds a joint which sticks, N·m (N), at least `coulomb`. Only
    /// without `slip`. Default: `coulomb`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breakaway: Option<PerAxis>,
    /// Rate at which half of the difference between `breakaway` and `coulomb` remains (Stribeck),
    /// rad/s (m/s), positive. Required with `breakaway`, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stribeck: Option<PerAxis>,
}

impl Friction {
    /// Returns true if it sticks.
    pub fn sticks(&self) -> bool {
        self.slip.is_none()
    }
}

/// A linear spring: `τ = −stiffness (q − rest)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spring {
    /// Stiffness, N·m/rad (N/m), not negative. A spherical joint has one number: `τ = −stiffness ·
    /// θ`, with θ the rotation vector of the child in F.
    pub stiffness: PerAxis,
    /// Position of zero force, rad (m). Not for spherical joints. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<PerAxis>,
}

/// Range of the joint's position. When it is left, the output `<joint>.out_of_range` is set and a
/// message is logged. A lower and an upper limit are required.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// Lower limit, rad (m).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<PerAxis>,
    /// Lower limit in place of `min`, degrees. For joints whose coordinates are all angles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_deg: Option<PerAxis>,
    /// Upper limit, rad (m).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<PerAxis>,
    /// Upper limit in place of `max`, degrees. For joints whose coordinates are all angles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_deg: Option<PerAxis>,
    /// Stop at the ends of the range. Default `none`.
    #[serde(default)]
    pub stop: Stop,
    /// Stiffness of a compliant stop, N·m/rad (N/m), not negative. Required for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stiffness: Option<PerAxis>,
    /// Damping of a compliant stop, N·m·s/rad (N·s/m), not negative. Required for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping: Option<PerAxis>,
}

/// Stop at the ends of a joint's range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// No stop: the joint moves on.
    #[default]
    None,
    /// Spring-damper that pushes back into the range and never pulls.
    Compliant,
}

/// Proportional-derivative servo of a joint: `τ = kp (q_ref − q) + kd (qd_ref − qd)`, added to the
/// torque input (the feed-forward).
///
/// The reference is the inputs `<joint>.q_ref` and `<joint>.qd_ref`; the input `<joint>.servo`
/// switches the servo on (above 0.5) and off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Servo {
    /// Proportional gain, N·m/rad (N/m), not negative.
    pub kp: PerAxis,
    /// Derivative gain, N·m·s/rad (N·s/m), not negative.
    pub kd: PerAxis,
    /// State at the start: on (`true`) or off. Default: yes.
    #[serde(default = "super::default::yes")]
    pub on: bool,
    /// Feed-forward torque, in addition to the input `<joint>.tau`. Not for spherical joints, nor
    /// in a model with loops, couplings, geometrically exact beams or springs on ANCF beams; of
    /// grasps only with those by which a rigid body holds an ANCF beam from the start, alone. The
    /// joint then has the input `<joint>.qdd_ref`, which a signal `with_rate` also sets, and the
    /// output `<joint>.feed_forward`. Default `none`.
    #[serde(default, skip_serializing_if = "FeedForward::is_none")]
    pub feed_forward: FeedForward,
}

/// Feed-forward torque of a servo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FeedForward {
    /// No feed-forward.
    #[default]
    None,
    /// Torque that tracks the reference for a rigid spacecraft, by inverse dynamics at every
    /// instant: with a base that floats or is held, with gravity, friction and springs, and with
    /// ANCF beams in grippers as rigid parts of them; without contacts and captures.
    Rigid,
}

impl FeedForward {
    pub(super) fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// Initial position and rate of a joint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JointStart {
    /// Position, rad (m). For a free joint: position of the child's origin in F, three numbers, m.
    /// Not for spherical joints. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<PerAxis>,
    /// Position in place of `position`, degrees. For joints whose coordinates are all angles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position_deg: Option<PerAxis>,
    /// Rate, rad/s (m/s). For a spherical joint: the angular velocity in child axes. Not for free
    /// joints. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<PerAxis>,
    /// Rate in place of `rate`, degrees per second. For joints whose rates are all angular.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_deg: Option<PerAxis>,
    /// Attitude of a spherical or free joint's child in F, unit quaternion (w, x, y, z). Default:
    /// the axes of F.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attitude: Option<[f64; 4]>,
    /// Attitude in place of `attitude`: roll, pitch, yaw about the fixed axes of F, degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rpy_deg: Option<[f64; 3]>,
    /// Velocity of the origin of a free joint's child, m/s, axes of F. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub velocity: Option<[f64; 3]>,
    /// Angular velocity of a free joint's child, rad/s, child axes. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angular_velocity: Option<[f64; 3]>,
}

impl Joint {
    /// Returns true if dry friction can hold it: its own, or on the rotor of a drive train.
    pub fn sticks(&self) -> bool {
        let own = self.friction.as_deref().is_some_and(Friction::sticks);
        own || self.geared.as_ref().is_some_and(|geared| geared.sticks)
    }

    /// Returns true if its servo has a feed-forward torque.
    pub fn feeds_forward(&self) -> bool {
        let servo = self.servo.as_ref();
        servo.is_some_and(|servo| servo.feed_forward == FeedForward::Rigid)
    }

    /// Returns a joint without actuators, loads and inputs, at the origin of its parent.
    pub(super) fn between(kind: JointType, parent: &str, child: &str) -> Self {
        Self {
            kind,
            parent: parent.to_owned(),
            child: child.to_owned(),
            origin: [0.0; 3],
            orientation: None,
            rpy_deg: None,
            axis: None,
            axis2: None,
            pitch: None,
            damping: None,
            friction: None,
            spring: None,
            rotor_inertia: None,
            drive_train: None,
            geared: None,
            is_placed: false,
            range: None,
            servo: None,
            motor: None,
            motion: JointMotion::Loads,
            motions: Vec::new(),
            tracking: None,
            dc_motor: None,
            input: false,
            start: None,
        }
    }
}

/// Returns the unit quaternion of the shortest rotation from z to `axis`, which is not zero.
pub(super) fn from_z(axis: [f64; 3]) -> [f64; 4] {
    Quaternion::between(&Vec3::z(), &Vec3::from(axis).normalize()).to_array()
}

impl JointStart {
    /// Returns the start of a free joint as that of a free body; [`Axes::World`] then stands for
    /// the axes of F.
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
