use super::{Axes, Beam, GeometricallyExactBeam, ModalData, PerAxis};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A body: rigid, or a flexible link if it has a `beam`, a `geometrically_exact_beam` or `modal` data.
///
/// Its frame B is where its inboard joint holds it: at joint position zero, B coincides with the
/// joint's frame on the parent. A free body's frame is wherever you like to measure it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Mass, kg. A beam has its own, which what is written here replaces; every other body needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// Mass centre, m, from the body's origin in body axes. Default: the origin.
    #[serde(default)]
    pub mass_centre: [f64; 3],
    /// Inertia about the mass centre, kg·m²: `[Ixx, Iyy, Izz]` or `[Ixx, Iyy, Izz, Ixy, Ixz, Iyz]`, where
    /// the products are the off-diagonal elements of the inertia matrix (Ixy = −∫ x y dm).
    ///
    /// Written where `mass` is written; of a beam: at rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inertia: Option<Inertia>,
    /// Attitude in the body, as a unit quaternion (w, x, y, z), of the axes in which `inertia` is
    /// given. Default: body axes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inertia_axes: Option<[f64; 4]>,
    /// What bends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beam: Option<Box<Beam>>,
    /// What bends, twists and shears as far as it will.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geometrically_exact_beam: Option<Box<GeometricallyExactBeam>>,
    /// What bends, by its modes from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modal: Option<Box<ModalData>>,
    /// What holds the attitude of a free body: an ideal moment from outside, or its wheels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attitude_servo: Option<Box<AttitudeServo>>,
    /// Initial motion of a free body (one that no joint carries).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<FreeStart>,
}

/// Brings a free body to a reference attitude, by an ideal moment from outside or by its wheels. The reference is the inputs `<body>.q_ref[1..4]` and `<body>.w_ref[1..3]` (body axes), the
/// switch `<body>.servo`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttitudeServo {
    /// Proportional gain about the body's axes, N·m/rad: a number or three.
    pub kp: PerAxis,
    /// Derivative gain, N·m·s/rad: a number or three.
    pub kd: PerAxis,
    /// Whether it is on at the start. Default: yes.
    #[serde(default = "AttitudeServo::is_on")]
    pub on: bool,
    /// The axes to which the reference is relative: inertial ones, or the orbital ones, so that at the inputs' start values (no turn, no rate) it holds the body upright. Default `world`.
    #[serde(default, skip_serializing_if = "Axes::is_default")]
    pub axes: Axes,
    /// The wheels of the body that give the moment, by the least torques that do, within their limits. Three or more, not all in a plane. Default: none, the moment is from outside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wheels: Vec<String>,
}

impl AttitudeServo {
    fn is_on() -> bool {
        true
    }
}

/// Three principal moments, or three moments and three products, kg·m².
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected 3 moments [Ixx, Iyy, Izz], or 6 numbers [Ixx, Iyy, Izz, Ixy, Ixz, Iyz]"
)]
pub enum Inertia {
    /// `[Ixx, Iyy, Izz]`.
    Diagonal([f64; 3]),
    /// `[Ixx, Iyy, Izz, Ixy, Ixz, Iyz]`.
    Full([f64; 6]),
}

/// Where a free body (or the child of a free joint) starts, in its parent frame: the world, if no
/// joint is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FreeStart {
    /// Position of the body's origin, m, parent axes.
    #[serde(default)]
    pub position: [f64; 3],
    /// Attitude, unit quaternion (w, x, y, z): body to parent. Default: the parent's axes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attitude: Option<[f64; 4]>,
    /// Attitude as roll, pitch, yaw about the parent's fixed axes x, y, z, degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rpy_deg: Option<[f64; 3]>,
    /// Velocity of the body's origin, m/s, parent axes.
    #[serde(default)]
    pub velocity: [f64; 3],
    /// Angular velocity, rad/s, body axes.
    #[serde(default)]
    pub angular_velocity: [f64; 3],
    /// The axes to which all of it is relative, of a free body near an `orbit`. Default `world`.
    #[serde(default, skip_serializing_if = "Axes::is_default")]
    pub axes: Axes,
}

/// A frame fixed to a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// The body it is fixed to.
    pub body: String,
    /// Its origin, m, from the body's origin in body axes.
    #[serde(default)]
    pub origin: [f64; 3],
    /// Its attitude in the body, unit quaternion (w, x, y, z). Default: body axes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<[f64; 4]>,
    /// The same as roll, pitch, yaw about the body's fixed axes x, y, z, degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rpy_deg: Option<[f64; 3]>,
}

/// Position, attitude, velocity and distance of frame `to` seen from frame `from`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// The frame (or body, or `world`) that looks. Everything is expressed in its axes.
    pub from: String,
    /// The frame (or body) that is seen.
    pub to: String,
}

/// A wrench from outside: three forces and three torques, as inputs `<port>.f[1..3]` (N) and `<port>.t[1..3]` (N·m).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Port {
    /// The frame (or body) at whose origin the force acts.
    pub frame: String,
    /// The axes in which force and torque are given, and the impulse.
    #[serde(default)]
    pub axes: PortAxes,
    /// Whether an impulse may act there too: the inputs `<port>.impulse[1..3]` (N·s) act at once, and once, when the input `<port>.impact` rises above 0.5. Default: no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub impulse: bool,
}

/// A force spread evenly along a beam, as inputs `<line_load>.f[1..3]` (N/m).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LineLoad {
    /// The body with the beam.
    pub body: String,
    /// The axes in which the force is given: inertial ones, or the body's.
    #[serde(default)]
    pub axes: PortAxes,
}

/// Axes of a port's wrench.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PortAxes {
    /// Inertial axes.
    #[default]
    World,
    /// Its own axes, turning with it: a port's those of its frame, a line load's those of its body (of a beam in segments, of each segment's root).
    Frame,
}
