use super::Contact;
use crate::algebra::{Mat3, Scalar, Vec3};
use crate::elements::{Outputs, Pair, Stored, closure};
use crate::event::Refused;
use crate::system::{Configuration, FrameRef, ParamId, Quantity, Unit};

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

    /// Largest angle between two ANCF beams that a grasp lines up, rad.
    pub const MOST_INCLINED: f64 = std::f64::consts::PI / 18.0;

    /// Declares the outputs of the capture of a contact.
    pub(super) fn outputs(&self, contact: &Contact, to: &mut Outputs) {
        let (name, [a, b]) = (&contact.name, &contact.names);
        let what = format!("1 while {b} is captured by {a}, 0 otherwise");
        to.switch(Quantity::new(format!("{name}.captured"), Unit::One, what));
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

    /// Returns the state of a capture that closes now. It holds the present pose of a in b, except
    /// for points of two ANCF beams. Without torsion these hold neither an offset across the
    /// direction of b nor an angle between their directions: both go to zero, as constraint
    /// violations do.
    pub(crate) fn close(&self, of: Configuration<f64>) -> Captured {
        let (p_BA, R_BA) = Self::relative_pose(&self.poses(of));
        let (holds, drawn) = (true, [0.0; 2]);
        if !self.joins_beams() {
            let (p, R) = (p_BA, R_BA);
            return Captured { holds, p, R, drawn };
        }
        let half_turn = Mat3::from_diagonal(&Vec3::new(-1.0, -1.0, 1.0));
        let is_reversed = R_BA[(0, 0)] < 0.0;
        let angle = if self.turns() { inclination(&R_BA) } else { 0.0 };
        Captured {
            holds,
            p: Vec3::x() * p_BA.x,
            R: if is_reversed { half_turn } else { Mat3::identity() },
            drawn: [angle, p_BA.yz().norm()],
        }
    }

    /// Returns the reason for which a grasp cannot line up the directions of two ANCF beams, `None`
    /// if it can.
    pub fn inclined(&self, of: Configuration<f64>) -> Option<Refused> {
        let (_, R_BA) = Self::relative_pose(&self.poses(of));
        let (angle, most) = (inclination(&R_BA), Capture::MOST_INCLINED);
        (self.turns() && self.joins_beams() && angle > most).then_some(Refused::Inclined { angle, most })
    }

    /// Returns true for a capture that constrains the relative attitude too.
    fn turns(&self) -> bool {
        self.capture().is_some_and(|capture| capture.turns)
    }

    /// Returns true if both frames are points of ANCF beams.
    pub(crate) fn joins_beams(&self) -> bool {
        [self.a, self.b].iter().all(|frame| matches!(frame, FrameRef::Point(_)))
    }
}

/// Returns the angle (rad, at most a right angle) between the x axes of two frames with the
/// relative rotation matrix `R`.
fn inclination(R: &Mat3<f64>) -> f64 {
    libm::atan2(R.fixed_view::<2, 1>(1, 0).norm(), R[(0, 0)].abs())
}

/// State of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Captured {
    /// True while the capture is active.
    pub holds: bool,
    /// Position of the origin of frame a in frame b that the capture holds, m.
    pub p: Vec3<f64>,
    /// Rotation matrix from axes of a to axes of b that the capture holds.
    pub R: Mat3<f64>,
    /// Angle (rad) and offset (m) from this pose when the capture closed, which decay from then on;
    /// zero except between two ANCF beams.
    pub drawn: [f64; 2],
}

impl Stored for Captured {
    fn write(&self, to: &mut impl FnMut(f64)) {
        let Self { holds, p, R, drawn } = self;
        holds.write(to);
        p.write(to);
        R.write(to);
        drawn.iter().for_each(|number| number.write(to));
    }

    fn read(next: &mut impl FnMut() -> f64) -> Option<Self> {
        Some(Self {
            holds: bool::read(next)?,
            p: Vec3::read(next)?,
            R: Mat3::read(next)?,
            drawn: [f64::read(next)?, f64::read(next)?],
        })
    }
}
