use super::PerAxis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Modal beam: a straight elastic beam, described by its natural modes, that makes a body a
/// flexible link.
///
/// The x axis of the beam is along the beam from its root to its tip; y and z are the section's
/// principal axes. The section is written in one of four ways: stiffnesses (`EI`, or `EI_y` and
/// `EI_z`), a material with a profile (`E`, `density`, `area`, `I_y`, `I_z`), the first bending
/// frequency (`first_frequency`), or `sections` for a tapered beam.
///
/// Bending is linear; it is accurate to about one percent up to a deflection of a tenth of the
/// length (`linear_limit`). Frames and joints attach to the nearest point of the beam's axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Beam {
    /// Length, m, positive. Required without `sections`; with them the last section ends the beam.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// Position of the root, m, from the body's origin in body axes. Default `[0, 0, 0]`.
    #[serde(default)]
    pub origin: [f64; 3],
    /// Attitude of the beam's axes in the body, unit quaternion (w, x, y, z). Default: body axes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<[f64; 4]>,
    /// Attitude of the beam's axes in place of `orientation`: roll, pitch, yaw about the body's
    /// fixed axes x, y, z, degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rpy_deg: Option<[f64; 3]>,
    /// Mass per length, kg/m, positive. Not with `E` or `sections`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass_per_length: Option<f64>,
    /// Bending stiffness in both planes, N·m², positive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub EI: Option<f64>,
    /// Bending stiffness against deflection along z (bending about y), N·m², positive. With `EI_z`,
    /// in place of `EI`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub EI_y: Option<f64>,
    /// Bending stiffness against deflection along y (bending about z), N·m², positive. With `EI_y`,
    /// in place of `EI`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub EI_z: Option<f64>,
    /// First bending frequency in both planes, of the beam alone with its root clamped and its tip
    /// free, Hz, positive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_frequency: Option<f64>,
    /// Axial stiffness, N, positive. Required for axial modes, unless written by `E` or `sections`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub EA: Option<f64>,
    /// Torsional stiffness, N·m², positive. Required for torsion modes, unless written by
    /// `sections`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub GJ: Option<f64>,
    /// Inertia of the section about the beam's axis per length, kg·m, positive. Required for
    /// torsion modes, unless written by `E` or `sections`, and for a beam that rotates about its
    /// axis without any other inertia.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polar_inertia_per_length: Option<f64>,
    /// Young's modulus, Pa, positive. With `density`, `area`, `I_y` and `I_z`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub E: Option<f64>,
    /// Density, kg/m³, positive. Required with `E`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Area of the section, m², positive. Required with `E`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<f64>,
    /// Second moment of area `∫z² dA`, m⁴, positive: it resists deflection along z. Required with
    /// `E`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub I_y: Option<f64>,
    /// Second moment of area `∫y² dA`, m⁴, positive: it resists deflection along y. Required with
    /// `E`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub I_z: Option<f64>,
    /// Sections of a tapered beam, two or more, from the root to the tip, with linear interpolation
    /// of every property. Two sections at the same `x` are a jump; others are at least a thousandth
    /// of the length apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<Section>,
    /// Number of bending modes in each plane. A beam, or each segment of it, has 1 to 64 modes of
    /// all types together. Default 0.
    #[serde(default)]
    pub bending: usize,
    /// Number of modes with deflection along y. Default: `bending`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bending_y: Option<usize>,
    /// Number of modes with deflection along z. Default: `bending`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bending_z: Option<usize>,
    /// Number of torsion modes. Default 0.
    #[serde(default)]
    pub torsion: usize,
    /// Number of axial modes. Default 0.
    #[serde(default)]
    pub axial: usize,
    /// Number of segments into which the beam is divided, 1 to 100, each with the written modes; at
    /// most 512 modes in all segments. Several segments allow large deflections: each bends little,
    /// and carries the next one at its tip. Two bending modes in each segment correspond to a
    /// finite element. The damping of several segments is proportional to the stiffness, with
    /// `damping_ratio` for the first modes of the whole beam. Default 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub segments: usize,
    /// Boundary conditions of the modes. They determine the mode shapes only; bodies on the link
    /// always act. With several segments only the default. Default `clamped_free`.
    #[serde(default)]
    pub boundary: Boundary,
    /// Mass at the tip for the computation of the modes, kg, not negative. Required for
    /// `clamped_loaded`, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tip_mass: Option<f64>,
    /// Moments of inertia of the tip load about the tip, beam axes, kg·m², not negative, for the
    /// computation of the modes. Only for `clamped_loaded`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tip_inertia: Option<[f64; 3]>,
    /// Damping ratio of the modes as they are computed (with the tip load, if there is one), not
    /// negative: one number, or one for each mode in the order bending along y, bending along z,
    /// torsion, axial. With several segments one number. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping_ratio: Option<PerAxis>,
    /// Limit of linear bending, as tip deflection relative to the length, positive. Each time it is
    /// exceeded, the output `<body>.beyond_linear` is set and a message is logged. In a beam in
    /// segments it applies to each segment with its own length. Default 0.1.
    #[serde(default = "tenth")]
    pub linear_limit: f64,
    /// Foreshortening of the bent beam to second order, which stiffens it in rotation. Default:
    /// yes.
    #[serde(default = "super::default::yes")]
    pub stiffening: bool,
}

/// Section of a tapered beam.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Distance from the root, m; 0 for the first section.
    pub x: f64,
    /// Mass per length, kg/m, positive.
    pub mass_per_length: f64,
    /// Bending stiffness against deflection along z, N·m².
    pub EI_y: f64,
    /// Bending stiffness against deflection along y, N·m².
    pub EI_z: f64,
    /// Axial stiffness, N, for axial modes. Default 0.
    #[serde(default)]
    pub EA: f64,
    /// Torsional stiffness, N·m², for torsion modes. Default 0.
    #[serde(default)]
    pub GJ: f64,
    /// Inertia about the beam's axis per length, kg·m. Default 0.
    #[serde(default)]
    pub polar_inertia_per_length: f64,
}

/// Boundary conditions of a beam's modes.
///
/// The root is clamped to the joint that carries the beam. A pinned root is modelled by a hinge
/// that carries a clamped beam: the angle of the hinge is the slope at the pin, so that both
/// describe the same motions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Boundary {
    /// Root clamped, tip free: suitable for most arms.
    #[default]
    ClampedFree,
    /// Root clamped, tip loaded by `tip_mass` and `tip_inertia`.
    ClampedLoaded,
    /// Both ends clamped.
    ClampedClamped,
}

impl Beam {
    /// Returns the numbers of modes: bending along y, bending along z, torsion, axial.
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
