use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reference orbit. The origin of the world follows it in two-body motion, with axes that do not
/// rotate: positions and velocities are relative to this origin.
///
/// The z axis of the world is the polar axis of the central body; if inclination, ascending node
/// and argument of the perigee are zero, the orbit lies in the x-y plane with its perigee on the
/// positive x axis. The LVLH frame has x radial, away from the central body, z along the orbit's
/// angular momentum, and y = z × x along track.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Orbit {
    /// Semi-major axis, m: the radius of a circular orbit, not its height above ground. The perigee
    /// lies above `radius`.
    pub semi_major_axis: f64,
    /// Eccentricity, from 0 to 0.999999. Default 0.
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
    /// Gravitational parameter of the central body, m³/s², positive. Default: the Earth's,
    /// 3.986004418e14.
    #[serde(default = "Orbit::earth_mu")]
    pub mu: f64,
    /// Equatorial radius of the central body, m, positive. Default: the Earth's, 6378137.
    #[serde(default = "Orbit::earth_radius")]
    pub radius: f64,
    /// Oblateness coefficient J₂ of the central body (Earth: 1.08262668e-3). It acts on the bodies,
    /// not on the reference orbit, from which the spacecraft therefore departs. Default: none, a
    /// spherical central body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub J2: Option<f64>,
    /// Gravity model. Default `exact`.
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

/// Gravity model in orbit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gravity {
    /// Gradient of the potential at each body's mass centre, with the body's second moments of
    /// mass, relative to the free fall of the reference orbit; computed without cancellation at any
    /// distance.
    #[default]
    Exact,
    /// Potential to the second order about the reference orbit, the same for all bodies: Hill's
    /// equations. For distances small compared with the radius.
    SecondOrder,
}

impl Gravity {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Reference axes of the start of a free body or an ANCF beam, or of an attitude servo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Axes {
    /// Axes of the world, which do not rotate.
    #[default]
    World,
    /// LVLH frame of the reference orbit. It rotates, and velocities are relative to it.
    Lvlh,
}

impl Axes {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
