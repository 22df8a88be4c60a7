use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Joint that closes a kinematic loop between two frames, for the whole run.
///
/// `b` carries the joint, and `a` moves in it; at joint position zero the two frames coincide. In a
/// model with loops the written start is a guess: before the run it is moved to the nearest
/// positions and rates that close all loops (`[assembly]`). The joint has no friction, and its
/// reaction is an output. A connection that is made during the run is a `[contact]` with a law that
/// captures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Loop {
    /// Type: the motion of `a` in `b`.
    #[serde(rename = "type")]
    pub kind: LoopType,
    /// Frame, body or ANCF beam that moves in the joint, and on which its reaction acts.
    pub a: String,
    /// Frame, body, ANCF beam or `world` (at its origin) that carries the joint.
    pub b: String,
    /// Direction in axes of `b`: axis of a revolute, prismatic or cylindrical joint and normal of a
    /// planar one, each with the same components in `a`; axis of a universal joint that `b`
    /// carries; direction of the line of `point_on_line`. Any length but zero. Not for the other
    /// types. Default `[0, 0, 1]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<[f64; 3]>,
    /// Second axis of a universal joint, in axes of `a`, at a right angle to the first. Any length
    /// but zero. Default `[0, 1, 0]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis2: Option<[f64; 3]>,
    /// Distance of the two origins, m, positive. Required for the type `distance`, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// Gain α, 1/s, not negative, of the stabilisation by which a constraint violation φ decays:
    /// `φ̈ + 2 α φ̇ + β² φ = 0` (Baumgarte). Default 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Gain β of the stabilisation, 1/s, not negative (see `alpha`). Default 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
}

/// Type of a joint that closes a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoopType {
    /// Rotation about `axis`.
    Revolute,
    /// Translation along `axis`.
    Prismatic,
    /// Rotation about `axis` and translation along it.
    Cylindrical,
    /// Rotation about `axis`, which `b` carries, and about `axis2`, which `a` carries.
    Universal,
    /// Rotation about the common origin.
    Spherical,
    /// Translation in the plane normal to `axis`, and rotation about `axis`.
    Planar,
    /// No relative motion.
    Fixed,
    /// Translation of the origin of `a` on the line through the origin of `b` along `axis`, and
    /// free rotation.
    PointOnLine,
    /// Free motion at the distance `length` of the two origins.
    Distance,
}

impl LoopType {
    /// All types.
    pub const ALL: [Self; 9] = [
        Self::Revolute,
        Self::Prismatic,
        Self::Cylindrical,
        Self::Universal,
        Self::Spherical,
        Self::Planar,
        Self::Fixed,
        Self::PointOnLine,
        Self::Distance,
    ];

    /// Returns the name in a spec.
    pub fn name(self) -> &'static str {
        match self {
            Self::Revolute => "revolute",
            Self::Prismatic => "prismatic",
            Self::Cylindrical => "cylindrical",
            Self::Universal => "universal",
            Self::Spherical => "spherical",
            Self::Planar => "planar",
            Self::Fixed => "fixed",
            Self::PointOnLine => "point_on_line",
            Self::Distance => "distance",
        }
    }

    /// Returns true if the type has an `axis`.
    pub fn has_axis(self) -> bool {
        !matches!(self, Self::Spherical | Self::Fixed | Self::Distance)
    }

    /// Returns true if the constraints depend on the attitude of `a`.
    pub fn turns_a(self) -> bool {
        !matches!(self, Self::Spherical | Self::PointOnLine | Self::Distance)
    }

    /// Returns true if the constraints depend on the attitude of `b`.
    pub fn turns_b(self) -> bool {
        !matches!(self, Self::Spherical | Self::Distance)
    }
}
