//! Elastic and damping forces of geometrically exact beams.

use super::Instant;
use crate::algebra::{Scalar, Twist, Vec3, Wrench};
use crate::dynamics::Applied;
use crate::nodal::Strain;
use crate::system::{DirectorConstants, GeometricallyExactBeam};

/// Returns all geometrically exact beams with their constants.
fn beams<'a, S: Scalar>(
    now: &Instant<'a, S>,
) -> impl Iterator<Item = (&'a GeometricallyExactBeam, &'a DirectorConstants)> {
    now.system.directors.iter().zip(&now.derived.directors)
}

/// Adds the wrench `F` on node b (about its origin, world axes) and its reverse on node a; `r` (m)
/// points from a to b.
fn push<S: Scalar>(applied: &mut Applied<S>, [a, b]: [usize; 2], r: &Vec3<S>, F: Wrench<S>) {
    applied.wrench[a] = applied.wrench[a] - F.shift(r);
    applied.wrench[b] = applied.wrench[b] + F;
}

/// Adds the elastic wrenches of all elements on their nodes.
pub(super) fn add_springs<S: Scalar>(now: &Instant<S>, applied: &mut Applied<S>) {
    for (beam, DirectorConstants { element, .. }) in beams(now) {
        for nodes in beam.spans() {
            let span = now.kinematics.span(nodes);
            let F = element.wrench(&span, &element.stress(&element.strain(&span)));
            push(applied, nodes, &span.r, F);
        }
    }
}

/// Adds the damping wrenches of all elements: the stress of the strain rate times the damping time.
pub(super) fn add_dampers<S: Scalar>(now: &Instant<S>, applied: &mut Applied<S>) {
    for (beam, constants) in beams(now).filter(|(_, constants)| constants.damping_time != 0.0) {
        let (element, time) = (&constants.element, S::lift(constants.damping_time));
        for nodes in beam.spans() {
            let span = now.kinematics.span(nodes);
            let v = now.system.bodies[nodes[1]].joint.v;
            // Rates of the free joint between the nodes: angular velocity in axes of b, velocity in
            // axes of a.
            let own = Twist::from_slice(&now.qd[v..v + 6]);
            let V = Twist::new(span.triads[1] * own.w, span.triads[0] * own.v);
            let rate = element.strain_rate(&span, &V);
            let delayed = Strain {
                gamma: rate.gamma * time,
                kappa: rate.kappa * time,
            };
            push(
                applied,
                nodes,
                &span.r,
                element.wrench(&span, &element.stress(&delayed)),
            );
        }
    }
}

/// Returns the strain energy of one beam, J.
pub fn strain_energy<S: Scalar>(now: &Instant<S>, index: usize) -> S {
    let (beam, DirectorConstants { element, .. }) = (&now.system.directors[index], &now.derived.directors[index]);
    let energies = beam
        .spans()
        .map(|nodes| element.energy(&element.strain(&now.kinematics.span(nodes))));
    energies.fold(S::zero(), |sum, energy| sum + energy)
}

/// Returns the strain energy of all geometrically exact beams, J.
pub(super) fn potential_energy<S: Scalar>(now: &Instant<S>) -> S {
    (0..now.system.directors.len()).fold(S::zero(), |sum, beam| sum + strain_energy(now, beam))
}
