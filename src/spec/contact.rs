use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two frames that may strike each other: when the input `<contact>.impact` rises above 0.5, an impulse acts between them at once. With a law that captures, it is the input
/// `<contact>.capture`, and they stay together as long as it is above 0.5. With a `surface` they strike whenever they touch, without a command.
///
/// The impulse acts on `a` halfway between the two origins or surfaces (of a capture at the origin of `a`), and in reverse on `b`. What it was and did stays in the outputs
/// `<contact>.impulse[1..3]` and those beside it until the next one. Which law fits: `docs/contacts.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contact {
    /// The frame (or body) that gets the impulse.
    pub a: String,
    /// The frame (or body, or `world`, at its origin) that gets its reaction.
    pub b: String,
    /// The normal, from `b` towards `a`, in axes of `b`; of any length. Default `[0, 0, 1]`. Of spheres it is along the line of their centres, and not written.
    #[serde(default = "super::default::z")]
    pub normal: [f64; 3],
    /// The surface of `b` that `a` touches by itself. Left out: they strike on command only, wherever their origins are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface: Option<Surface>,
    /// With a `surface`: radius of a sphere about the origin of `a`, m. Left out: `a` is a point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius_a: Option<f64>,
    /// Radius of the `surface`, of a sphere or a disc, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius_b: Option<f64>,
    /// The law of the impact.
    #[serde(default)]
    pub law: ImpactLaw,
    /// Restitution, 0 (plastic) to 1 (elastic): along the normal, of the velocity (`restitution`) or of the root of the work (`stronge`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub e: Option<f64>,
    /// Tangential restitution of `restitution`, −1 (smooth) to 1 (the slip is reversed). Default 0: it sticks, as far as `mu` allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub e_t: Option<f64>,
    /// Coefficient of friction of `restitution`, `stronge` and `compliant`. Default 0.
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
    /// See `alpha`, 1/s. Default 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// Of `compliant`: the force that presses the surfaces by `depth` into each other, N.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<f64>,
    /// Of `compliant`: see `force`, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<f64>,
    /// Of `compliant`: the power of the depth with which the force grows, 1.5 (round bodies) or 1. Default 1.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exponent: Option<f64>,
    /// Of `compliant`: what the speed of approach adds to the force, as a part of it, s/m. At a small speed v the restitution is `1 − ⅔ · dissipation · v`. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dissipation: Option<f64>,
    /// Of `compliant`: the speed of slip at which 71 % of the friction acts, m/s. Smaller is closer to Coulomb's law, and stiffer. Default 0.001.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slip: Option<f64>,
    /// How far the two may be apart at most when they strike or are captured on command, m. Default 0.01. Not with a `surface`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<f64>,
}

/// A surface that is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Surface {
    /// The plane through the origin of `b`, across the normal. What is behind it is inside.
    Plane,
    /// The sphere of `radius_b` about the origin of `b`.
    Sphere,
    /// The disc of `radius_b` about the origin of `b`, across the normal: a point that comes from the normal's side meets it, one that passes beside or
    /// comes from behind does not.
    Disc,
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
    /// No impact: a force that grows with the depth (Hunt and Crossley), and smooth friction, for contacts that last.
    Compliant,
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
            Self::Compliant => "compliant",
        }
    }

    /// Whether what it strikes stays together.
    pub fn captures(self) -> bool {
        matches!(self, Self::CapturePin | Self::CaptureGrasp)
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
