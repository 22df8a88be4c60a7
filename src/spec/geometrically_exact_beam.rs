use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What makes a body a beam that bends, twists, shears and stretches as far as it will: geometrically exact (Simo and Reissner's), by elements between nodes that are rigid bodies.
///
/// The body itself is the node at its root, held by whatever joint carries it or free; x goes along the beam, y and z are the section's principal axes. Straight at rest, and uniform: what is
/// not is several of them on fixed joints. What stands on the body, a frame or a joint, stands on the node nearest to its `origin`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeometricallyExactBeam {
    /// Length, m.
    pub length: f64,
    /// Number of elements, which are straight: 8 to 16 for one that bends far; at most 100.
    pub elements: usize,
    /// Mass per length, kg/m.
    pub mass_per_length: f64,
    /// Inertia of the section about the beam's axis per length, kg·m. Its parts about y and z go as `EI_y` and `EI_z`.
    pub polar_inertia_per_length: f64,
    /// Stiffness against stretch, N.
    pub EA: f64,
    /// Stiffness against shear along y and z, with the shear factor (`kGA`), N.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub GA: Option<f64>,
    /// Stiffness against shear along y, N. With `GA_z`, for `GA`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub GA_y: Option<f64>,
    /// Stiffness against shear along z, N. With `GA_y`, for `GA`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub GA_z: Option<f64>,
    /// Stiffness against twist, N·m².
    pub GJ: f64,
    /// Stiffness against bending in both planes, N·m².
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub EI: Option<f64>,
    /// Stiffness against deflection along z (bending about y), N·m². With `EI_z`, for `EI`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub EI_y: Option<f64>,
    /// Stiffness against deflection along y (bending about z), N·m². With `EI_y`, for `EI`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub EI_z: Option<f64>,
    /// Damping that goes with the stiffness, as the time `τ` (s) by which stresses see strain rates, `C (ε + τ ε̇)` (Kelvin and Voigt): a vibration of ω has the damping ratio `ωτ/2`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping_time: Option<f64>,
}
