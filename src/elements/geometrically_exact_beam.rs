//! Geometrically exact beams: elastic and damping forces, outputs.

use super::{Compiler, Cursor, Element, Instant, Invariance, Outputs, Reads, View};
use crate::algebra::{Quaternion, Scalar, Twist, Vec3, Wrench, lift3, lift33, log};
use crate::dynamics::Applied;
use crate::nodal::Strain;
use crate::spec::Spec;
use crate::system::{DirectorConstants, GeometricallyExactBeam, Quantity, System, Unit};

/// Geometrically exact beam, by its index among those of the system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beam(usize);

impl Beam {
    fn of<'a, S: Scalar>(&self, now: &Instant<'a, S>) -> (&'a GeometricallyExactBeam, &'a DirectorConstants) {
        (&now.system.directors[self.0], &now.derived.directors[self.0])
    }

    /// Returns the strain energy, J.
    fn strain_energy<S: Scalar>(&self, now: &Instant<S>) -> S {
        let (beam, constants) = self.of(now);
        let energies = beam.spans().enumerate().map(|(i, nodes)| {
            let (element, span) = constants.element(i, now.kinematics.span(nodes));
            element.energy(&element.strain(&span))
        });
        energies.fold(S::zero(), |sum, energy| sum + energy)
    }
}

impl Element for Beam {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        (0..from.system.directors.len()).map(Self).collect()
    }

    fn outputs(&self, _: &Spec, system: &System, to: &mut Outputs) {
        let name = &system.bodies[system.directors[self.0].root].name;
        let at_tip = |what: &str| format!("{what} of {name}'s tip from its undeformed pose, body axes");
        let vector = |field: &str, unit, what: &str| Quantity::vector(&format!("{name}.{field}"), unit, &at_tip(what));
        to.invariant(
            Invariance::Objective,
            vector("tip_deflection", Unit::Metre, "displacement"),
        );
        to.invariant(
            Invariance::Objective,
            vector("tip_turn", Unit::Radian, "rotation vector"),
        );
        let what = format!("strain energy of {name}");
        to.continuous([Quantity::new(format!("{name}.elastic_energy"), Unit::Joule, what)]);
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let now = &view.now;
        let (beam, DirectorConstants { element, curved, .. }) = self.of(now);
        let (root, tip) = (&now.kinematics.bodies[beam.root], &now.kinematics.bodies[beam.tip()]);
        // The sum over elements has no cancellation far from the world's origin.
        let reach = beam.spans().map(|[_, b]| now.kinematics.bodies[b].r_PB_W);
        let mut off = root.R_WB.tr_mul(&reach.fold(Vec3::zeros(), |sum, r| sum + r));
        let mut turn = root.R_WB.tr_mul(&tip.R_WB);
        match curved.as_ref().and_then(|curved| curved.nodes.last()) {
            None => off.x -= S::lift(element.l * beam.elements as f64),
            Some(at_rest) => {
                off -= lift3(&at_rest.p);
                turn *= lift33(&at_rest.R.transpose());
            }
        }
        y.vector(&off);
        y.vector(&log(Quaternion::from_rotation(&turn)));
        y.number(self.strain_energy(now));
    }

    fn reads(&self) -> Reads {
        Reads::MOTION
    }

    fn reads_world(&self, _: &System) -> bool {
        false
    }

    fn works_on_bodies(&self) -> bool {
        true
    }

    /// Adds the damping wrenches of all elements: the stress of the strain rate times the damping
    /// time.
    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let (beam, constants) = self.of(now);
        if constants.damping_time == 0.0 {
            return;
        }
        let time = S::lift(constants.damping_time);
        for (i, nodes) in beam.spans().enumerate() {
            let (element, span) = constants.element(i, now.kinematics.span(nodes));
            let v = now.system.bodies[nodes[1]].joint.v;
            // Rates of the free joint between the nodes: angular velocity in axes of b, velocity in
            // axes of a.
            let own = constants.director_rates(i, Twist::from_slice(&now.qd[v..v + 6]));
            let V = Twist::new(span.triads[1] * own.w, span.triads[0] * own.v);
            let rate = element.strain_rate(&span, &V);
            let delayed = Strain {
                gamma: rate.gamma * time,
                kappa: rate.kappa * time,
            };
            let F = element.wrench(&span, &element.stress(&delayed));
            push(applied, nodes, &span.r, F);
        }
    }

    /// Adds the elastic wrenches of all elements on their nodes.
    fn add_conservative<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let (beam, constants) = self.of(now);
        for (i, nodes) in beam.spans().enumerate() {
            let (element, span) = constants.element(i, now.kinematics.span(nodes));
            let F = element.wrench(&span, &element.stress(&element.strain(&span)));
            push(applied, nodes, &span.r, F);
        }
    }

    fn potential_energy<S: Scalar>(&self, now: &Instant<S>) -> Option<S> {
        Some(self.strain_energy(now))
    }
}

/// Adds the wrench `F` on node b (about its origin, world axes) and its reverse on node a; `r` (m)
/// points from a to b.
fn push<S: Scalar>(applied: &mut Applied<S>, [a, b]: [usize; 2], r: &Vec3<S>, F: Wrench<S>) {
    applied.wrench[a] = applied.wrench[a] - F.shift(r);
    applied.wrench[b] = applied.wrench[b] + F;
}
