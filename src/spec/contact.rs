use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two frames that may strike each other: when the input `<contact>.strike` rises above 0.5, an impulse acts between them at once. With a law that captures, it is the input
/// `<contact>.capture`, and they stay together as long as it is above 0.5.
///
/// The impulse acts on `a` halfway between the two origins (of a capture at that of `a`), and in reverse on `b`. What it was and did stays in the outputs
/// `<contact>.impulse[1..3]` and those beside it until the next one. Which law fits: `docs/contacts.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contact {
    /// The frame (or body) that gets the impulse.
    pub a: String,
    /// The frame (or body, or `world`, at its origin) that gets its reaction.
    pub b: String,
    /// The normal, from `b` towards `a`, in axes of `b`; of any length. Default `[0, 0, 1]`.
    #[serde(default = "z")]
    pub normal: [f64; 3],
    /// The law of the impact.
    #[serde(default)]
    pub law: ImpactLaw,
    /// Restitution, 0 (plastic) to 1 (elastic): along the normal, of the velocity (`restitution`) or of the root of the work (`stronge`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub e: Option<f64>,
    /// Tangential restitution of `restitution`, −1 (smooth) to 1 (the slip is reversed). Default 0: it sticks, as far as `mu` allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub e_t: Option<f64>,
    /// Coefficient of friction of `restitution` and `stronge`. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mu: Option<f64>,
    /// Of `energy_friction`: the energy lost over what a plastic impact that sticks would lose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r_E: Option<f64>,
    /// Of `energy_friction`: the tangential impulse over that of a plastic impact that sticks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r_f: Option<f64>,
    /// Of `energy_friction`: what to do if no impact has this `r_E` and `r_f`. Default `reject`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_inconsistent: Option<Inconsistent>,
    /// Of captures: gains by which a gap that integration has opened is closed, `φ̈ + 2 α φ̇ + β² φ = 0` (Baumgarte), 1/s. Default 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// See `alpha`. Default 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// How far the two may be apart at most when they strike or are captured, m. Default 0.01.
    #[serde(default = "reach")]
    pub reach: f64,
}

fn z() -> [f64; 3] {
    [0.0, 0.0, 1.0]
}

fn reach() -> f64 {
    0.01
}

/// What decides the impulse of an impact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImpactLaw {
    /// By restitution along the normal and along the surface, within the cone of friction (Chatterjee and Ruina 1998): always solvable, never gains energy.
    #[default]
    Restitution,
    /// By ratios of energy and of tangential impulse (Cyril et al. 1998).
    EnergyFriction,
    /// Coulomb's friction followed through the impact, with restitution by the work along the normal (Stronge).
    Stronge,
    /// Plastic, and from then on the two points stay together, free to turn.
    CapturePin,
    /// Plastic, and from then on the two frames stay together as they met.
    CaptureGrasp,
}

impl ImpactLaw {
    /// The name in a spec.
    pub fn name(self) -> &'static str {
        match self {
            Self::Restitution => "restitution",
            Self::EnergyFriction => "energy_friction",
            Self::Stronge => "stronge",
            Self::CapturePin => "capture_pin",
            Self::CaptureGrasp => "capture_grasp",
        }
    }
}

/// What to do with ratios that no impact has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Inconsistent {
    /// No impulse acts.
    #[default]
    Reject,
    /// The nearest `r_E` that some impact has is taken.
    Clamp,
}
