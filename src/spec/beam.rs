use super::PerAxis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What makes a body a flexible link: a straight elastic beam, described by its natural modes.
///
/// The beam's x axis goes from its root to its tip; y and z are the section's principal axes. Its section is written in one of
/// four ways: stiffnesses (`EI` or `EI_y` and `EI_z`), a material with a profile (`E`, `I_y`, `I_z`), the first bending
/// frequency, or `sections` for a tapered beam.
///
/// Bending is linear: a good description up to a deflection of about a tenth of the length (`linear_limit`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Beam {
    /// Length, m. Not with `sections`, whose last one ends the beam.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// The root, m, from the body's origin in body axes.
    #[serde(default)]
    pub origin: [f64; 3],
    /// Attitude of the beam's axes in the body, unit quaternion (w, x, y, z). Default: body axes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<[f64; 4]>,
    /// The same as roll, pitch, yaw about the body's fixed axes x, y, z, degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rpy_deg: Option<[f64; 3]>,
    /// Mass per length, kg/m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass_per_length: Option<f64>,
    /// Stiffness against bending in both planes, N·m².
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub EI: Option<f64>,
    /// Stiffness against deflection along z (bending about y), N·m².
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub EI_y: Option<f64>,
    /// Stiffness against deflection along y (bending about z), N·m².
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub EI_z: Option<f64>,
    /// First bending frequency of the beam alone, clamped at its root, in both planes, Hz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_frequency: Option<f64>,
    /// Stiffness against stretch, N. For axial modes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub EA: Option<f64>,
    /// Stiffness against twist, N·m². For torsion modes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub GJ: Option<f64>,
    /// Inertia about the beam's axis per length, kg·m. For torsion modes, and for a beam whose own mass is all that turns about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polar_inertia_per_length: Option<f64>,
    /// Young's modulus, Pa. With `density`, `area`, `I_y` and `I_z`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub E: Option<f64>,
    /// Density, kg/m³.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Area of the section, m².
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<f64>,
    /// `∫z² dA`, m⁴: resists deflection along z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub I_y: Option<f64>,
    /// `∫y² dA`, m⁴: resists deflection along y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub I_z: Option<f64>,
    /// Sections of a tapered beam, from the root to the tip; between two, every property goes linearly. Two at one x are a jump; others are a thousandth of the length apart, or more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<Section>,
    /// Number of bending modes in each plane. A beam has at most 64 modes of all kinds together.
    #[serde(default)]
    pub bending: usize,
    /// Number of modes that deflect along y, if other than `bending`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bending_y: Option<usize>,
    /// Number of modes that deflect along z, if other than `bending`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bending_z: Option<usize>,
    /// Number of torsion modes.
    #[serde(default)]
    pub torsion: usize,
    /// Number of axial modes.
    #[serde(default)]
    pub axial: usize,
    /// In how many segments the beam is cut, each with as many modes as are written. Several make large deflections good: a segment
    /// bends little in itself, and carries the next one on its bent tip. Two bending modes each are what a finite element has.
    /// Their damping is proportional to the stiffness, `damping_ratio` that of the whole beam's first mode. At most 100, and 512 modes in all of them together. Default 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub segments: usize,
    /// How the beam is held while its modes are found. It chooses the shapes only: what hangs on the link always acts.
    #[serde(default)]
    pub boundary: Boundary,
    /// Mass at the tip while the modes are found, kg. For `clamped_loaded`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tip_mass: Option<f64>,
    /// Moments of inertia of the tip load about the tip, beam axes, kg·m²; for finding the modes only. For `clamped_loaded`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tip_inertia: Option<[f64; 3]>,
    /// Damping ratio of every mode, or of each, as it is when the modes are found (with the tip's load, if there is one): bending along y, along z, torsion, axial. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping_ratio: Option<PerAxis>,
    /// Deflection of the tip, as a part of the length, beyond which linear bending is not to be trusted: the output
    /// `<body>.beyond_linear` is set, and a message logged each time it goes beyond. Of a beam in segments each is watched, against its own length. Default 0.1.
    #[serde(default = "tenth")]
    pub linear_limit: f64,
    /// Whether bending draws the beam's points in, to second order: what stiffens it in rotation.
    #[serde(default = "super::default::yes")]
    pub stiffening: bool,
}

/// A section of a tapered beam.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Distance from the root, m.
    pub x: f64,
    /// Mass per length, kg/m.
    pub mass_per_length: f64,
    /// Stiffness against deflection along z, N·m².
    pub EI_y: f64,
    /// Stiffness against deflection along y, N·m².
    pub EI_z: f64,
    /// Stiffness against stretch, N.
    #[serde(default)]
    pub EA: f64,
    /// Stiffness against twist, N·m².
    #[serde(default)]
    pub GJ: f64,
    /// Inertia about the beam's axis per length, kg·m.
    #[serde(default)]
    pub polar_inertia_per_length: f64,
}

/// How a beam is held while its modes are found.
///
/// Its root is clamped to the joint that carries it. A pinned root is a hinge there with a clamped beam on it: the hinge's angle is the
/// slope at the pin, and the two together describe the same motions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Boundary {
    /// Root clamped, tip free: right for most arms.
    #[default]
    ClampedFree,
    /// Root clamped, `tip_mass` and `tip_inertia` at the tip.
    ClampedLoaded,
    /// Both ends clamped.
    ClampedClamped,
}

impl Beam {
    /// Numbers of modes: bending along y, bending along z, torsion, axial.
    pub fn counts(&self) -> [usize; 4] {
        [
            self.bending_y.unwrap_or(self.bending),
            self.bending_z.unwrap_or(self.bending),
            self.torsion,
            self.axial,
        ]
    }
}

fn one() -> usize {
    1
}

fn is_one(n: &usize) -> bool {
    *n == 1
}

fn tenth() -> f64 {
    0.1
}
