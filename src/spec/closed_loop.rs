use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A joint that closes a kinematic loop between two frames, from the start of the run.
///
/// `b` carries the joint, `a` moves in it: with the joint at zero the two frames coincide. Where loops exist, the written start is a guess:
/// before the run begins it is moved to the nearest positions and rates that close all loops (`[assembly]`). The joint has no friction, its
/// reaction is an output. What is caught during a run is a `[contact]` with a law that captures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Loop {
    /// What `a` can do in `b`.
    #[serde(rename = "type")]
    pub kind: LoopType,
    /// The frame (or body) that moves in the joint, and gets its reaction.
    pub a: String,
    /// The frame (or body, or `world`, at its origin) that carries the joint.
    pub b: String,
    /// Direction in axes of `b`: of a revolute, prismatic or cylindrical joint the axis, which has the same components in `a`; of a planar one
    /// the normal, likewise; of a universal one the axis that `b` carries; of `point_on_line` the line. Any length but zero. Default `[0, 0, 1]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<[f64; 3]>,
    /// Second axis of a universal joint, in axes of `a`, which stays at a right angle to the first. Default `[0, 1, 0]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis2: Option<[f64; 3]>,
    /// Of `distance`: how far the two origins are apart, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// Gains by which a constraint violation that integration has left is reduced, `φ̈ + 2 α φ̇ + β² φ = 0` (Baumgarte), 1/s. Default 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// See `alpha`, 1/s. Default 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
}

/// The kinds of joints that close a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoopType {
    /// Turns about `axis`.
    Revolute,
    /// Slides along `axis`.
    Prismatic,
    /// Turns about and slides along `axis`.
    Cylindrical,
    /// Turns about `axis`, which `b` carries, and about `axis2`, which `a` carries.
    Universal,
    /// Turns about the common origin.
    Spherical,
    /// Slides in the plane across `axis`, and turns about `axis`.
    Planar,
    /// Holds the two frames together.
    Fixed,
    /// Holds the origin of `a` on the line through the origin of `b` along `axis`; turns freely.
    PointOnLine,
    /// Holds the two origins at the distance `length`.
    Distance,
}

impl LoopType {
    /// All of them.
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

    /// The word in the spec.
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

    /// Whether it has an `axis`.
    pub fn has_axis(self) -> bool {
        !matches!(self, Self::Spherical | Self::Fixed | Self::Distance)
    }

    /// Whether it needs the attitude of `a`.
    pub fn turns_a(self) -> bool {
        !matches!(self, Self::Spherical | Self::PointOnLine | Self::Distance)
    }

    /// Whether it needs the attitude of `b`.
    pub fn turns_b(self) -> bool {
        !matches!(self, Self::Spherical | Self::Distance)
    }
}
