use super::BeamShape;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Geometrically exact beam (Simo and Reissner): bending, torsion, shear and stretch of any size,
/// by elements between nodes that are rigid bodies.
///
/// The body itself is the node at the root; any joint may carry it, or it floats freely. The x axis
/// is along the beam, y and z are the section's principal axes. The beam is uniform; a beam with
/// different sections is modelled by several beams on fixed joints. It is straight at rest, or
/// curved as its `shape`. Frames and joints attach to the node nearest to their `origin`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeometricallyExactBeam {
    /// Length, m, positive. Required without `shape`, not with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// Stress-free shape of a curved beam, in place of `length`. Default: straight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Box<BeamShape>>,
    /// Number of straight elements, 1 to 100; 8 to 16 for large bending. At rest an element of a
    /// curved beam bends by at most 45°.
    pub elements: usize,
    /// Mass per length, kg/m, positive.
    pub mass_per_length: f64,
    /// Inertia of the section about the beam's axis per length, kg·m, positive. It is divided
    /// between y and z in proportion to `EI_y` and `EI_z`, as in a section of one material.
    /// Alternatives: `inertia_y_per_length` and `inertia_z_per_length`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polar_inertia_per_length: Option<f64>,
    /// Inertia of the section about its y axis per length (`ρI_y`, the rotary inertia of bending
    /// about y), kg·m, positive. With `inertia_z_per_length`, in place of
    /// `polar_inertia_per_length`, which is their sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inertia_y_per_length: Option<f64>,
    /// Inertia of the section about its z axis per length (`ρI_z`, the rotary inertia of bending
    /// about z), kg·m, positive. With `inertia_y_per_length`, in place of
    /// `polar_inertia_per_length`, which is their sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inertia_z_per_length: Option<f64>,
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
