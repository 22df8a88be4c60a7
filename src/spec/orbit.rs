use super::Epoch;
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
    /// Zonal coefficient J₃ of the central body (Earth: -2.53265649e-6), as `J2`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub J3: Option<f64>,
    /// Zonal coefficient J₄ (Earth: -1.61962159e-6), as `J2`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub J4: Option<f64>,
    /// Zonal coefficient J₅ (Earth: -2.27296083e-7), as `J2`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub J5: Option<f64>,
    /// Zonal coefficient J₆ (Earth: 5.40681239e-7), as `J2`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub J6: Option<f64>,
    /// Gravity model. Default `exact`.
    #[serde(default, skip_serializing_if = "Gravity::is_default")]
    pub gravity: Gravity,
    /// Date and time (UTC) of the time 0, `"2026-03-20T12:00:00"`, from 1972 to 2099; in terrestrial
    /// time with ` TT` at its end. With it the positions of Sun and Moon are computed, and the
    /// world's axes are the Earth's mean equator and equinox of date; `mu` is that of the Earth.
    /// Default: none, no Sun and no Moon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<String>,
    /// Bodies whose attraction acts on the spacecraft, not on the reference orbit: `"sun"`,
    /// `"moon"`. With `epoch`. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub third_bodies: Vec<ThirdBody>,
    /// Source of the Sun's position; `"input"` makes it an input of the FMU, `orbit.r_sun`, m, from
    /// the central body's centre, in the world's axes. With `epoch`. Default `formula`.
    #[serde(default, skip_serializing_if = "Ephemeris::is_default")]
    pub sun: Ephemeris,
    /// Source of the Moon's position, as `sun`: `"input"` makes it the input `orbit.r_moon`. With
    /// `"moon"` among the `third_bodies`. Default `formula`.
    #[serde(default, skip_serializing_if = "Ephemeris::is_default")]
    pub moon: Ephemeris,
    /// Power of sunlight per area at a distance of one astronomical unit, W/m², not negative.
    /// Default 1361 (Kopp and Lean, 2011).
    #[serde(default = "Orbit::irradiance", skip_serializing_if = "Orbit::is_irradiance")]
    pub irradiance: f64,
    /// Atmosphere, which rotates with the central body, for exposed surfaces with `drag`. Default:
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atmosphere: Option<Atmosphere>,
    /// Magnetic field, for magnetic dipoles. With `epoch`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub magnetic_field: Option<MagneticField>,
}

impl Orbit {
    fn earth_mu() -> f64 {
        EARTH_MU
    }

    fn irradiance() -> f64 {
        1361.0
    }

    #[allow(clippy::trivially_copy_pass_by_ref)] // the signature that serde calls
    fn is_irradiance(irradiance: &f64) -> bool {
        *irradiance == Self::irradiance()
    }

    /// Returns the epoch; `None` without one, or if it cannot be read.
    pub fn epoch(&self) -> Option<Epoch> {
        Epoch::read(self.epoch.as_ref()?).ok()
    }

    fn earth_radius() -> f64 {
        6_378_137.0
    }
}

/// Gravitational parameter of the Earth, m³/s².
pub const EARTH_MU: f64 = 3.986_004_418e14;

/// Body that attracts the spacecraft in addition to the central body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThirdBody {
    /// The Sun.
    Sun,
    /// The Moon.
    Moon,
}

/// Source of the position of the Sun or the Moon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ephemeris {
    /// Formulas of low precision, which contain the date.
    #[default]
    Formula,
    /// An input of the FMU, for ephemerides of the importer. Its start value is that of the
    /// formulas at the epoch.
    Input,
}

impl Ephemeris {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Atmosphere of the central body: density over the altitude above an oblate spheroid, by
/// interpolation of its logarithm.
///
/// Above the last altitude of the table the density goes on to fall as between its last two
/// entries; below the first altitude it is constant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Atmosphere {
    /// Altitudes of a table, m, ascending, two or more, that include the perigee of the reference
    /// orbit. With `density`. Default: Vallado's exponential atmosphere of the Earth, 0 to 1000 km.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub altitude: Vec<f64>,
    /// Densities of the table, kg/m³, positive, one for each altitude.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub density: Vec<f64>,
    /// Factor on all densities, not negative: the density at an altitude of 400 km varies by a
    /// factor of ten with the activity of the Sun. Default 1.
    #[serde(default = "super::default::one", skip_serializing_if = "super::default::is_one")]
    pub factor: f64,
    /// Angular velocity of the atmosphere about the polar axis, rad/s. Default: the Earth's,
    /// 7.292115e-5.
    #[serde(default = "Atmosphere::earth_rotation")]
    pub rotation_rate: f64,
    /// Flattening of the spheroid, from 0 (sphere) to below 1. Default: the Earth's, 1/298.257.
    #[serde(default = "Atmosphere::earth_flattening")]
    pub flattening: f64,
}

impl Atmosphere {
    fn earth_rotation() -> f64 {
        7.292_115e-5
    }

    fn earth_flattening() -> f64 {
        1.0 / 298.257
    }
}

/// Magnetic field of the Earth: a dipole at its centre, tilted against the polar axis, which rotates
/// with the Earth. Its coefficients are those of first degree of the International Geomagnetic
/// Reference Field, by default IGRF-14 for 2025.0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MagneticField {
    /// Gauss coefficient g₁⁰, nT. Default -29350.0.
    #[serde(default = "MagneticField::g10")]
    pub g10: f64,
    /// Gauss coefficient g₁¹, nT. Default -1410.3.
    #[serde(default = "MagneticField::g11")]
    pub g11: f64,
    /// Gauss coefficient h₁¹, nT. Default 4545.5.
    #[serde(default = "MagneticField::h11")]
    pub h11: f64,
}

impl MagneticField {
    fn g10() -> f64 {
        -29_350.0
    }

    fn g11() -> f64 {
        -1410.3
    }

    fn h11() -> f64 {
        4545.5
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
