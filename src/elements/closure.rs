use super::{Cursor, Outputs};
use crate::algebra::{Scalar, Wrench, root};
use crate::system::{Quantity, Unit};

/// State of a capture, a loop or a coupling at one instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closed<S: Scalar> {
    /// True if the capture is active; loops and couplings always are.
    pub held: bool,
    /// Constraint violations: sums of squares of the angles (rad²) and of the offsets (m²).
    pub squares: [S; 2],
    /// Angle (rad) and offset (m) when a capture of two ANCF beams closed, until they have decayed.
    pub drawn: [f64; 2],
    /// True for a capture of two ANCF beams, which draws them together and thereby does work.
    pub draws: bool,
    /// Reaction on a, about its origin, world axes.
    pub wrench: Wrench<S>,
    /// Reaction of a coupling on its joint, N·m or N.
    pub torque: S,
}

impl<S: Scalar> Closed<S> {
    /// Returns the state of an inactive capture.
    pub fn none() -> Self {
        Self {
            held: false,
            squares: [S::zero(); 2],
            drawn: [0.0; 2],
            draws: false,
            wrench: Wrench::zero(),
            torque: S::zero(),
        }
    }

    /// Returns the constraint violations of the angles, rad, and of the offsets, m.
    pub fn violation(&self) -> [S; 2] {
        self.squares.map(root)
    }

    /// Writes the [`outputs`].
    pub fn observe(&self, y: &mut Cursor<S>) {
        let [angle, offset] = self.violation();
        y.number(offset);
        y.number(angle);
        y.wrench(&self.wrench);
    }
}

/// Descriptions of the outputs of a capture or a loop.
pub(super) struct Texts {
    pub violation: String,
    pub violation_angle: String,
    pub force: String,
    pub moment: String,
}

/// Declares the outputs of the capture or loop `name`: constraint violations and reaction.
pub(super) fn outputs(name: &str, texts: &Texts, to: &mut Outputs) {
    to.continuous([
        Quantity::new(format!("{name}.violation"), Unit::Metre, &texts.violation),
        Quantity::new(format!("{name}.violation_angle"), Unit::Radian, &texts.violation_angle),
    ]);
    to.continuous(Quantity::vector(&format!("{name}.force"), Unit::Newton, &texts.force));
    to.continuous(Quantity::vector(
        &format!("{name}.moment"),
        Unit::NewtonMetre,
        &texts.moment,
    ));
}
