use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Geometrically exact beam (Simo and Reissner): bending, torsion, shear and stretch of any size,
/// by elements between nodes that are rigid bodies.
///
/// The body itself is the node at the root; any joint may carry it, or it floats freely. The x axis
/// is along the beam, y and z are the section's principal axes. The beam is uniform, and straight
/// at rest; a beam with different sections is modelled by several beams on fixed joints. Frames and
/// joints attach to the node nearest to their `origin`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeometricallyExactBeam {
    /// Length, m, positive.
    pub length: f64,
    /// Number of straight elements, 1 to 100; 8 to 16 for large bending.
    pub elements: usize,
    /// Mass per length, kg/m, positive.
    pub mass_per_length: f64,
    /// Inertia of the section about the beam's axis per length, kg·m, positive. It is divided
    /// between y and z in proportion to `EI_y` and `EI_z`.
    pub polar_inertia_per_length: f64,
    /// Axial stiffness, N, positive.
    pub EA: f64,
    /// Shear stiffness along y and z, including the shear correction factor (`kGA`), N, positive.
    /// Alternatives: `GA_y` and `GA_z`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub GA: Option<f64>,
    /// Shear stiffness along y, N, positive. With `GA_z`, in place of `GA`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub GA_y: Option<f64>,
    /// Shear stiffness along z, N, positive. With `GA_y`, in place of `GA`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub GA_z: Option<f64>,
    /// Torsional stiffness, N·m², positive.
    pub GJ: f64,
    /// Bending stiffness in both planes, N·m², positive. Alternatives: `EI_y` and `EI_z`.
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
    /// Stiffness-proportional damping (Kelvin and Voigt) as a time τ, s, not negative: stresses are
    /// `C (ε + τ ε̇)`, and a vibration of angular frequency ω has the damping ratio `ωτ/2`.
    /// Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping_time: Option<f64>,
}
