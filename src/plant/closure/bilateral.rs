//! Rows of captures, loops and couplings.

use super::super::context::ConstantsOf;
use super::{Closure, Held, Reaction, Row};
use crate::algebra::{Scalar, Twist, Vec3, lift3, lift33};
use crate::elements::{Capture, Captured, Closed, ClosedLoop, Contact, Coupling};
use crate::system::{JointState, Kinematics};

impl<S: Scalar> Closure<S> {
    pub(super) fn add_coupling(
        &mut self,
        of: ConstantsOf<S>,
        stabilises: bool,
        at: JointState<S>,
        index: usize,
        coupling: &Coupling,
    ) {
        let (phi, phi_dot) = (
            coupling.violation(S::numbers(of.parameters), at.q),
            coupling.rate(S::numbers(of.parameters), at.qd),
        );
        let [alpha, beta] = coupling.gains(S::numbers(of.parameters));
        let held = self.held.len();
        self.rows.push(Row {
            held,
            unit: Reaction::Torques {
                rates: coupling.rates,
                ratio: S::lift(coupling.ratio(S::numbers(of.parameters))),
            },
            rate: phi_dot,
            target: match stabilises {
                true => -phi_dot * S::lift(2.0 * alpha) - phi * S::lift(beta * beta),
                false => S::zero(),
            },
            rest: None,
        });
        let mut squares = [S::zero(); 2];
        squares[usize::from(!coupling.is_angular)] = phi * phi;
        self.state[index] = Closed {
            held: true,
            squares,
            ..Closed::none()
        };
        self.held.push(Held { index, pair: None });
    }

    /// Adds a capture: it keeps the position of a in b (m) and the attitude that were stored when
    /// it closed.
    pub(super) fn add_capture(
        &mut self,
        of: ConstantsOf<S>,
        stabilises: bool,
        kinematics: &Kinematics<S>,
        contact: &Contact,
        capture: Capture,
        captured: &Captured,
    ) {
        let parameters = of.parameters;
        let of = of.at(kinematics);
        let pair = contact.captured_pair(of, capture);
        let frames = contact.poses(of);
        let ((p_now, R_now), R_then) = (Contact::relative_pose(&frames), lift33::<S>(&captured.R));
        // Rotation of a in b since the capture, as a vector along its axis with the length sin(angle):
        // close to the angle while that is small.
        let turned = |k: usize| R_then.column(k).cross(&R_now.column(k));
        let gap = Twist::new(
            match pair.rows().start {
                0 => (turned(0) + turned(1) + turned(2)) * S::lift(0.5),
                1 => turned(0),
                _ => Vec3::zeros(),
            },
            p_now - lift3::<S>(&captured.p),
        );
        let u = pair.relative(|on| kinematics.carrier(on).V_WB);
        let w_B = kinematics.carrier(pair.carriers()[1]).V_WB.w;
        // With the accelerations a_A, a_B of the two coincident points, φ̈ in axes of b is a_A −
        // a_B − 2 w_B × u; for rotations it is α_A − α_B − w_B × u.
        let mut target = Twist::new(w_B.cross(&u.w), w_B.cross(&u.v) * S::lift(2.0)) - pair.bias(kinematics);
        if stabilises {
            let [alpha, beta] = capture.gains(S::numbers(parameters));
            target = target - u * S::lift(2.0 * alpha) - gap.express(&frames[1].R) * S::lift(beta * beta);
        }
        let held = self.held.len();
        for row in pair.rows() {
            let unit = pair.unit(row);
            self.rows.push(Row {
                held,
                unit: Reaction::Wrench(unit),
                rate: unit.power(&u),
                target: unit.power(&target),
                rest: None,
            });
        }
        self.state[capture.number] = Closed {
            held: true,
            squares: [gap.w.dot(&gap.w), gap.v.dot(&gap.v)],
            drawn: captured.drawn,
            draws: contact.joins_beams(),
            ..Closed::none()
        };
        let (index, pair) = (capture.number, Some(pair));
        self.held.push(Held { index, pair });
    }

    pub(super) fn add_loop(
        &mut self,
        of: ConstantsOf<S>,
        stabilises: bool,
        kinematics: &Kinematics<S>,
        index: usize,
        closed_loop: &ClosedLoop,
    ) {
        let parameters = of.parameters;
        let of = of.at(kinematics);
        let pair = closed_loop.pair(of);
        let held = self.held.len();
        let [alpha, beta] = closed_loop.gains(S::numbers(parameters));
        let mut squares = [S::zero(); 2];
        closed_loop.constraints(of, &pair, S::numbers(parameters), |constraint| {
            let (phi, phi_dot) = (constraint.violation, constraint.rate);
            squares[usize::from(constraint.is_offset)] += phi * phi;
            let mut target = -constraint.bias;
            if stabilises {
                target = target - phi_dot * S::lift(2.0 * alpha) - phi * S::lift(beta * beta);
            }
            self.rows.push(Row {
                held,
                unit: Reaction::Wrench(constraint.unit),
                rate: phi_dot,
                target,
                rest: None,
            });
        });
        self.state[index] = Closed {
            held: true,
            squares,
            ..Closed::none()
        };
        let pair = Some(pair);
        self.held.push(Held { index, pair });
    }
}
