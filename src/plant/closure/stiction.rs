//! Rows of compliant contacts whose surfaces stick (`docs/theory/resting-contact.md`, *Compliant
//! contacts*).

use super::super::context::ConstantsOf;
use super::rest::RestRow;
use super::{Closure, Held, Reaction, Row};
use crate::algebra::{Scalar, Vec3, Wrench};
use crate::elements::{Closed, Discrete, Hold, PointForce, RestState};
use crate::system::Kinematics;

impl<S: Scalar> Closure<S> {
    /// Adds the rows of all compliant contacts whose surfaces stick, along two tangents; `before` is the
    /// index of the first point that may rest in [`state`](Self::state).
    pub(super) fn add_stictions(
        &mut self,
        of: ConstantsOf<S>,
        stabilises: bool,
        discrete: &Discrete,
        kinematics: &Kinematics<S>,
        before: usize,
    ) {
        let parameters = S::numbers(of.parameters);
        for (contact, stiction) in of.model.elements.stictions() {
            let number = stiction.number;
            let RestState { hold, reference, .. } = discrete.rests[number];
            if hold == Hold::Free {
                continue;
            }
            let touching = contact.stiction_point(parameters, of.at(kinematics));
            self.points[number] = PointForce {
                from_a: touching.from_a,
                n: touching.n,
                slip: touching.slip(),
                normal: contact.normal_force(of.parameters, touching.gap, touching.rate),
                ..PointForce::none()
            };
            if hold != Hold::Sticking {
                continue;
            }
            let alpha = if stabilises { stiction.gain(parameters) } else { 0.0 };
            let R_WB = of.at(kinematics).pose(contact.b).R;
            let reference = R_WB.map(S::value) * reference;
            let held = self.held.len();
            for t in touching.t {
                let rate = t.dot(&touching.u);
                let bias = t.dot(&touching.bias) + touching.w_B.cross(&t).dot(&touching.u);
                self.rows.push(Row {
                    held,
                    unit: Reaction::Wrench(Wrench::new(Vec3::zeros(), t)),
                    rate,
                    target: -bias - rate * S::lift(2.0 * alpha),
                    rest: Some(RestRow::of_stiction(number, t, rate, reference.dot(&t.map(S::value)))),
                });
            }
            self.state[before + number] = Closed {
                held: true,
                ..Closed::none()
            };
            self.held.push(Held {
                index: before + number,
                pair: Some(touching.pair),
            });
        }
    }
}
