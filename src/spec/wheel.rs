use super::joint::from_z;
use super::{Body, Friction, Inertia, Joint, JointStart, JointType, Motor, PerAxis, Spec};
use crate::algebra::Sym3;
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
    /// as of a thin disc or ring; with imbalance the smallest that such a rotor can have, rounded up.
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
    /// Dry friction of the bearings, as of a joint. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<Box<Friction>>,
    /// Static imbalance of the rotor, kg·m, not negative: its mass times the distance of its mass
    /// centre from its axis. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub static_imbalance: Option<f64>,
    /// Static imbalance in place of `static_imbalance`, g·cm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub static_imbalance_g_cm: Option<f64>,
    /// Dynamic imbalance of the rotor, kg·m², not negative: the magnitude of its products of inertia
    /// with its axis. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamic_imbalance: Option<f64>,
    /// Dynamic imbalance in place of `dynamic_imbalance`, g·cm².
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamic_imbalance_g_cm2: Option<f64>,
    /// Angle about the axis from the direction of the static to that of the dynamic imbalance, degrees.
    /// Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imbalance_phase_deg: Option<f64>,
}

/// Number of kg·m in a g·cm.
const GRAM_CENTIMETRE: f64 = 1e-5;

/// Number of kg·m² in a g·cm².
const GRAM_CENTIMETRE_2: f64 = 1e-7;

impl Wheel {
    /// Returns the name of the rotor's body.
    pub fn rotor(name: &str) -> String {
        format!("{name}_rotor")
    }

    /// Returns the static (kg·m) and the dynamic (kg·m²) imbalance.
    fn imbalance(&self) -> [f64; 2] {
        let of_grams = |value: Option<f64>, unit| value.map(|value| value * unit);
        let fixed = of_grams(self.static_imbalance_g_cm, GRAM_CENTIMETRE);
        let moving = of_grams(self.dynamic_imbalance_g_cm2, GRAM_CENTIMETRE_2);
        [self.static_imbalance.or(fixed), self.dynamic_imbalance.or(moving)].map(|value| value.unwrap_or(0.0))
    }

    /// Returns the distance (m) of the rotor's mass centre from its axis, along x, and its inertia
    /// about the mass centre, kg·m². `inertia` is that about the axis.
    pub(super) fn rotor_inertia(&self) -> (f64, Sym3<f64>) {
        let [fixed, moving] = self.imbalance();
        let offset = fixed / self.mass;
        let of_offset = fixed * offset;
        let across = self
            .transverse_inertia
            .unwrap_or(0.5 * self.inertia + moving + of_offset);
        let phase = self.imbalance_phase_deg.unwrap_or(0.0).to_radians();
        let inertia = Sym3 {
            d: [across, across - of_offset, self.inertia - of_offset],
            o: [0.0, moving * libm::cos(phase), moving * libm::sin(phase)],
        };
        (offset, inertia)
    }

    /// Returns the rotor as a body, with its axis along z.
    fn body(&self) -> Body {
        let (offset, Sym3 { d, o }) = self.rotor_inertia();
        let inertia = match o {
            [0.0, 0.0, 0.0] => Inertia::Diagonal(d),
            [xy, xz, yz] => Inertia::Full([d[0], d[1], d[2], xy, xz, yz]),
        };
        Body {
            mass: Some(self.mass),
            mass_centre: [offset, 0.0, 0.0],
            inertia: Some(inertia),
            ..Body::default()
        }
    }

    /// Returns the revolute joint between the wheel's body and its `rotor`, with the wheel's motor.
    fn joint(&self, rotor: &str) -> Joint {
        Joint {
            origin: self.position,
            orientation: Some(from_z(self.axis)),
            damping: self.damping.map(PerAxis::All),
            friction: self.friction.clone(),
            motor: Some(Motor {
                torque_limit: PerAxis::All(self.torque_limit),
                rate_limit: Some(PerAxis::All(self.rate_limit)),
            }),
            input: true,
            start: Some(Box::new(JointStart {
                rate: Some(PerAxis::All(self.rate)),
                ..JointStart::default()
            })),
            ..Joint::between(JointType::Revolute, &self.body, rotor)
        }
    }
}

impl Spec {
    /// Adds the rotor of every wheel, a body on a joint.
    pub(super) fn add_wheels(&mut self) {
        for (name, wheel) in &self.wheel {
            let rotor = Wheel::rotor(name);
            self.joint.insert(name.clone(), wheel.joint(&rotor));
            self.body.insert(rotor, wheel.body());
        }
    }
}
