use super::{Axes, Beam, ContactShape, FeedForward, GeometricallyExactBeam, ModalData, PerAxis, Shape};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A body: rigid, or flexible if it has a `beam`, a `geometrically_exact_beam` or `modal` data.
///
/// At joint position zero its frame B coincides with the frame of its joint on the parent. The
/// frame of a free body may have any origin and any axes fixed in the body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Mass of the whole body, kg, positive. Required for rigid bodies and with `modal`. With a
    /// `beam` it is optional: `mass` and `inertia` together replace the mass of the beam. Not with
    /// a `geometrically_exact_beam` or a beam in several segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// Mass centre, m, from the body's origin in body axes. Written with `mass` only. Default: the
    /// origin.
    #[serde(default)]
    pub mass_centre: [f64; 3],
    /// Inertia about the mass centre, kg·m²: `[Ixx, Iyy, Izz]` or `[Ixx, Iyy, Izz, Ixy, Ixz, Iyz]`,
    /// where the products are the off-diagonal elements of the inertia matrix (Ixy = −∫ x y dm). It
    /// is positive definite, and no principal moment exceeds the sum of the other two.
    ///
    /// Required with `mass`. For a flexible body it is that of the undeformed body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inertia: Option<Inertia>,
    /// Attitude in the body of the axes in which `inertia` is given, unit quaternion (w, x, y, z).
    /// Default: body axes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inertia_axes: Option<[f64; 4]>,
    /// Modal beam: small deflections by natural modes; large deflections if it is divided into
    /// segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beam: Option<Box<Beam>>,
    /// Geometrically exact beam: bending, torsion, shear and stretch of any size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geometrically_exact_beam: Option<Box<GeometricallyExactBeam>>,
    /// Modal data of a flexible body, from a finite-element program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modal: Option<Box<ModalData>>,
    /// Attitude servo of a free body, by an ideal external moment or by its wheels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attitude_servo: Option<Box<AttitudeServo>>,
    /// Initial motion of a free body (one that is no joint's child). Default: at rest at the
    /// world's origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<FreeStart>,
    /// Shape for the contacts of groups, at the origin of the body. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact_shape: Option<ContactShape>,
    /// Shapes in pictures, by any name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub shape: IndexMap<String, Shape>,
}

impl Body {
    /// Returns true if it has no modes and is no beam.
    pub fn is_rigid(&self) -> bool {
        self.beam.is_none() && self.geometrically_exact_beam.is_none() && self.modal.is_none()
    }
}

/// Attitude servo of a free body: the moment `kp θ + kd (w_ref − w)`, body axes, with the rotation
/// vector θ from the attitude to its reference. An ideal external moment or the body's wheels exert
/// it.
///
/// The reference is the inputs `<body>.q_ref[1..4]` (unit quaternion) and `<body>.w_ref[1..3]`
/// (rad/s, body axes); the input `<body>.servo` switches the servo on (above 0.5) and off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttitudeServo {
    /// Proportional gain, N·m/rad, not negative: one number, or one for each body axis.
    pub kp: PerAxis,
    /// Derivative gain, N·m·s/rad, not negative: one number, or one for each body axis.
    pub kd: PerAxis,
    /// State at the start: on (`true`) or off. Default: yes.
    #[serde(default = "AttitudeServo::is_on")]
    pub on: bool,
    /// Axes to which the reference is relative: inertial axes, or, in orbit, the LVLH frame. With
    /// `lvlh` and the start values of the inputs (identity, zero rate) the body axes are held
    /// parallel to the LVLH axes. Default `world`.
    #[serde(default, skip_serializing_if = "Axes::is_default")]
    pub axes: Axes,
    /// Wheels of this body that exert the moment, by the torques of least norm, each within the
    /// limits of its motor. At least three, with axes that do not all lie in one plane. Default:
    /// none, the moment is external.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wheels: Vec<String>,
    /// Feed-forward moment by which the body of a rigid spacecraft follows its reference, with the
    /// reaction of arms that move; not in the models that are refused beside a joint's
    /// `servo.feed_forward`. The body then has the inputs `<body>.wd_ref[1..3]`, the derivative of
    /// `<body>.w_ref` (rad/s², body axes), and the outputs `<body>.feed_forward[1..3]`. Default
    /// `none`.
    #[serde(default, skip_serializing_if = "FeedForward::is_none")]
    pub feed_forward: FeedForward,
}

impl AttitudeServo {
    fn is_on() -> bool {
        true
    }
}

impl Body {
    /// Returns true if its attitude servo has a feed-forward moment.
    pub fn feeds_forward(&self) -> bool {
        let servo = self.attitude_servo.as_ref();
        servo.is_some_and(|servo| servo.feed_forward == FeedForward::Rigid)
    }
}

/// Inertia: three moments, or three moments and three products, kg·m².
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

/// Initial motion of a free body or of the root of an ANCF beam, relative to the reference axes
/// `axes`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FreeStart {
    /// Position of the origin, m, reference axes. Default `[0, 0, 0]`.
    #[serde(default)]
    pub position: [f64; 3],
    /// Attitude, unit quaternion (w, x, y, z): body axes to reference axes. Default: the reference
    /// axes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attitude: Option<[f64; 4]>,
    /// Attitude in place of `attitude`: roll, pitch, yaw about the fixed reference axes x, y, z,
    /// degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rpy_deg: Option<[f64; 3]>,
    /// Velocity of the origin, m/s, reference axes; with `lvlh` relative to the rotating frame.
    /// Default `[0, 0, 0]`.
    #[serde(default)]
    pub velocity: [f64; 3],
    /// Angular velocity, rad/s, body axes; with `lvlh` relative to the rotating frame. Default `[0,
    /// 0, 0]`.
    #[serde(default)]
    pub angular_velocity: [f64; 3],
    /// Reference axes: those of the world, or, in orbit, the LVLH frame. Default `world`.
    #[serde(default, skip_serializing_if = "Axes::is_default")]
    pub axes: Axes,
}

/// A frame fixed to a body or an ANCF beam. On a flexible body it moves with the nearest point of
/// the beam's axis or the nearest node, at a rigid offset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// Body or ANCF beam to which the frame is fixed.
    pub body: String,
    /// Origin, m, from the body's origin in body axes; on an ANCF beam `[x, 0, 0]` with x from 0 to
    /// its length. Default `[0, 0, 0]`.
    #[serde(default)]
    pub origin: [f64; 3],
    /// Attitude in the body, unit quaternion (w, x, y, z). Not on an ANCF beam. Default: body axes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<[f64; 4]>,
    /// Attitude in place of `orientation`: roll, pitch, yaw about the body's fixed axes x, y, z,
    /// degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rpy_deg: Option<[f64; 3]>,
    /// Shape for the contacts of groups, at the origin of the frame. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact_shape: Option<ContactShape>,
}
