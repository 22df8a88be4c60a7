use super::{Body, Inertia, Joint, PerAxis, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What the motor of a joint can give of what its torque input and its servo ask for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Motor {
    /// Largest torque (force) either way, N·m (N).
    pub torque_limit: PerAxis,
    /// Rate above which it does not drive on, rad/s (m/s). Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<PerAxis>,
}

/// A reaction wheel: a rotor that turns about an axis fixed in a body, driven by a motor between them.
///
/// It is short for a body `<wheel>_rotor` on a revolute joint `<wheel>` with a motor: input `<wheel>.tau` (N·m, on the rotor, its reaction on the body), outputs `<wheel>.qd`, `<wheel>.momentum`,
/// `<wheel>.motor_torque`. The mass and inertia of the body do not contain it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wheel {
    /// The body that carries it.
    pub body: String,
    /// Its axis, body axes. Default `[0, 0, 1]`.
    #[serde(default = "super::default::z")]
    pub axis: [f64; 3],
    /// Its centre, m, from the body's origin in body axes.
    #[serde(default)]
    pub position: [f64; 3],
    /// Mass of the rotor, kg.
    pub mass: f64,
    /// Inertia about its axis, kg·m².
    pub inertia: f64,
    /// Inertia across, kg·m². Default: half of `inertia`, as a thin disc or ring has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transverse_inertia: Option<f64>,
    /// Largest torque either way, N·m.
    pub torque_limit: f64,
    /// Rate above which the motor does not drive on, rad/s.
    pub rate_limit: f64,
    /// Rate at the start, rad/s. Default 0.
    #[serde(default)]
    pub rate: f64,
    /// Viscous friction of its bearings, N·m·s/rad. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping: Option<f64>,
}

/// A force along a direction fixed in a frame. Its propellant is not taken from the craft's mass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Thruster {
    /// The frame (or body) at whose origin it pushes.
    pub frame: String,
    /// Direction of the force on the craft (against the jet), frame axes. Any length but zero.
    pub direction: [f64; 3],
    /// Its force, N.
    pub thrust: f64,
    /// Its input. Default `switch`.
    #[serde(default)]
    pub throttle: Throttle,
}

/// How a thruster is commanded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Throttle {
    /// By the discrete input `<thruster>.on`: on above 0.5.
    #[default]
    Switch,
    /// By the continuous input `<thruster>.level`, clipped to 0 … 1.
    Level,
}

impl Wheel {
    /// The name of the rotor as a body.
    pub fn rotor(name: &str) -> String {
        format!("{name}_rotor")
    }

    fn body(&self) -> Body {
        let across = self.transverse_inertia.unwrap_or(0.5 * self.inertia);
        Body {
            mass: Some(self.mass),
            inertia: Some(Inertia::Diagonal([across, across, self.inertia])),
            ..Body::default()
        }
    }
}

impl Spec {
    /// The same with bodies and joints in the place of wheels.
    pub(crate) fn with_rotors(&self) -> Cow<'_, Self> {
        if self.wheel.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut spec = self.clone();
        for (name, wheel) in &self.wheel {
            let rotor = Wheel::rotor(name);
            let joint = Joint::of_wheel(wheel, &rotor);
            spec.body.insert(rotor, wheel.body());
            spec.joint.insert(name.clone(), joint);
        }
        Cow::Owned(spec)
    }
}
