use super::{Body, Inertia, Joint, Spec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reaction wheel: a rotor on an axis fixed in a body, driven by a motor between them.
///
/// It is shorthand for a body `<wheel>_rotor` on a revolute joint `<wheel>` with a motor: input
/// `<wheel>.tau` (N·m, on the rotor, its reaction on the body), outputs `<wheel>.qd`,
/// `<wheel>.momentum`, `<wheel>.motor_torque`. The mass and inertia of the body do not include the
/// rotor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wheel {
    /// Body that carries the wheel.
    pub body: String,
    /// Axis, body axes. Any length but zero. Default `[0, 0, 1]`.
    #[serde(default = "super::default::z")]
    pub axis: [f64; 3],
    /// Centre, m, from the body's origin in body axes. Default `[0, 0, 0]`.
    #[serde(default)]
    pub position: [f64; 3],
    /// Mass of the rotor, kg, positive.
    pub mass: f64,
    /// Inertia of the rotor about its axis, kg·m², positive.
    pub inertia: f64,
    /// Inertia of the rotor perpendicular to its axis, kg·m², positive. Default: half of `inertia`,
    /// as of a thin disc or ring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transverse_inertia: Option<f64>,
    /// Largest magnitude of the motor's torque, N·m, positive.
    pub torque_limit: f64,
    /// Largest rate, rad/s, positive. Over the last 1 % below it the torque that raises the rate
    /// decreases linearly to zero.
    pub rate_limit: f64,
    /// Initial rate, rad/s, not beyond `rate_limit`. Default 0.
    #[serde(default)]
    pub rate: f64,
    /// Viscous friction of the bearings, N·m·s/rad, not negative. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping: Option<f64>,
}

impl Wheel {
    /// Returns the name of the rotor's body.
    pub fn rotor(name: &str) -> String {
        format!("{name}_rotor")
    }

    /// Returns the rotor as a body, with its axis along z.
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
    /// Returns the spec with the rotor of every wheel and of every drive train added, each a body
    /// on a joint; none if there are no rotors.
    #[inline(never)] // importers call from threads with small stacks
    pub(crate) fn with_rotors(&self) -> Option<Box<Self>> {
        if self.wheel.is_empty() && self.joint.values().all(|joint| joint.drive_train.is_none()) {
            return None;
        }
        let mut spec = Box::new(self.clone());
        spec.add_drive_trains();
        for (name, wheel) in &self.wheel {
            let rotor = Wheel::rotor(name);
            let joint = Joint::of_wheel(wheel, &rotor);
            spec.body.insert(rotor, wheel.body());
            spec.joint.insert(name.clone(), joint);
        }
        Some(spec)
    }
}
