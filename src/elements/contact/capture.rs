use super::Contact;
use crate::algebra::{Mat3, Scalar, Vec3};
use crate::elements::{Outputs, Pair, Stored, closure};
use crate::system::{Configuration, ParamId, Quantity, Unit};

/// Capture law of a contact.
#[derive(Clone, Copy, Debug)]
pub struct Capture {
    /// Index among the captures.
    pub number: usize,
    /// True if the relative attitude is constrained too (`capture_grasp`).
    pub turns: bool,
    pub(super) alpha: ParamId,
    pub(super) beta: ParamId,
}

impl Capture {
    /// Returns the parameter indices of the gains α and β.
    pub(in crate::elements) fn gain_ids(&self) -> [ParamId; 2] {
        [self.alpha, self.beta]
    }

    /// Returns Baumgarte's gains α and β, 1/s.
    pub fn gains(&self, parameters: &[f64]) -> [f64; 2] {
        [self.alpha.of(parameters), self.beta.of(parameters)]
    }

    /// Declares the outputs of the capture of a contact.
    pub(super) fn outputs(&self, contact: &Contact, to: &mut Outputs) {
        let (name, [a, b]) = (&contact.name, &contact.names);
        let what = format!("1 while {b} is captured by {a}, 0 otherwise");
        to.discrete([Quantity::new(format!("{name}.captured"), Unit::One, what)]);
        let texts = closure::Texts {
            violation: format!(
                "constraint violation of the capture of contact {name} in translation, {a} relative to {b}"
            ),
            violation_angle: format!(
                "constraint violation of the capture of contact {name} in rotation, {a} relative to {b} \
                (small angle; capture_grasp only)"
            ),
            force: format!("reaction force of the capture on {a}, inertial axes"),
            moment: format!("reaction moment of the capture on {a}, about its origin, inertial axes"),
        };
        closure::outputs(name, &texts, to);
    }
}

impl Contact {
    /// Returns the pair that a capture constrains, at the origin of a.
    pub fn captured_pair<S: Scalar>(&self, of: Configuration<S>, capture: Capture) -> Pair<S> {
        Pair::at_a(of, [self.a, self.b]).turning(of.kinematics, capture.turns)
    }
}

/// State of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Captured {
    /// True while the capture is active.
    pub holds: bool,
    /// Position of the origin of frame a in frame b when the capture closed, m.
    pub p: Vec3<f64>,
    /// Rotation matrix from axes of a to axes of b when the capture closed.
    pub R: Mat3<f64>,
}

impl Stored for Captured {
    fn write(&self, to: &mut impl FnMut(f64)) {
        let Self { holds, p, R } = self;
        holds.write(to);
        p.write(to);
        R.write(to);
    }

    fn read(next: &mut impl FnMut() -> f64) -> Option<Self> {
        Some(Self {
            holds: bool::read(next)?,
            p: Vec3::read(next)?,
            R: Mat3::read(next)?,
        })
    }
}
