use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The orbit near which the craft are. A point that follows it in two-body motion is the world's origin, whose axes do not turn: places and velocities are relative to it.
///
/// The world's z is the central body's axis; where the three angles are zero, the orbit lies in the plane of x and y and its perigee on x. The LVLH frame have x
/// upwards (radial), z along the orbit's angular momentum, and y along track.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Orbit {
    /// Semi-major axis, m: the radius of a circular orbit.
    pub semi_major_axis: f64,
    /// Eccentricity, at least 0 and below 1. Default 0.
    #[serde(default)]
    pub eccentricity: f64,
    /// Inclination, degrees. Default 0.
    #[serde(default)]
    pub inclination_deg: f64,
    /// Right ascension of the ascending node, degrees. Default 0.
    #[serde(default)]
    pub ascending_node_deg: f64,
    /// Argument of the perigee, degrees. Default 0.
    #[serde(default)]
    pub argument_of_perigee_deg: f64,
    /// True anomaly at the time 0, degrees. Default 0.
    #[serde(default)]
    pub true_anomaly_deg: f64,
    /// Gravitational parameter of the central body, m³/s². Default: the Earth's, 3.986004418e14.
    #[serde(default = "Orbit::earth_mu")]
    pub mu: f64,
    /// Equatorial radius of the central body, m. Default: the Earth's, 6378137.
    #[serde(default = "Orbit::earth_radius")]
    pub radius: f64,
    /// Oblateness of the central body (1.08262668e-3 of the Earth), which pulls the craft away from the reference orbit. Default: left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub J2: Option<f64>,
    /// How gravity is taken. Default `exact`.
    #[serde(default, skip_serializing_if = "Gravity::is_default")]
    pub gravity: Gravity,
}

impl Orbit {
    fn earth_mu() -> f64 {
        3.986_004_418e14
    }

    fn earth_radius() -> f64 {
        6_378_137.0
    }
}

/// How gravity in orbit is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gravity {
    /// Its potential at each body's mass centre, less that of the reference orbit without cancellation, with the body's second moments of mass.
    #[default]
    Exact,
    /// Its potential to the second order about the reference orbit, for all bodies alike: Hill's equations.
    SecondOrder,
}

impl Gravity {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The axes to which a free body's start, or the reference of its servo, is relative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Axes {
    /// Those of its parent, the world.
    #[default]
    World,
    /// The LVLH frame, which rotates: velocities are relative to it.
    Lvlh,
}

impl Axes {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
