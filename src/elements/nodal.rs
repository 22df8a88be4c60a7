//! Elements of ANCF beams: elastic forces and gravity.

use super::Instant;
use crate::algebra::{Mat3, Scalar, Vec3};
use crate::nodal::{Element, interpolate};
use crate::system::{AncfBeam, NodalConstants, OrbitPoint, PER_NODE};

/// Returns the elements of all ANCF beams: the beam, the element, its nodal coordinates, and the
/// index of its first rate.
fn elements<'a, S: Scalar>(
    now: &Instant<'a, S>,
) -> impl Iterator<Item = (&'a AncfBeam, &'a Element, [Vec3<S>; 4], usize)> {
    let q = now.q;
    let beams = now.system.nodal.iter().zip(&now.derived.nodal);
    beams.flat_map(move |(beam, NodalConstants { elements, .. })| {
        let elements = elements.iter().enumerate();
        elements.map(move |(i, element)| {
            let first = i * PER_NODE;
            (beam, element, AncfBeam::of_element(q, beam.q, i), beam.v + first)
        })
    })
}

/// Adds the generalised forces `Q` on the coordinates of one element.
fn add<S: Scalar>(Q: &[Vec3<S>; 4], tau: &mut [S]) {
    let numbers = Q.iter().flat_map(Vec3::iter);
    tau.iter_mut().zip(numbers).for_each(|(tau, Q)| *tau += *Q);
}

/// Adds the elastic forces of stretch and bending.
pub(super) fn add_springs<S: Scalar>(now: &Instant<S>, tau: &mut [S]) {
    for (beam, element, e, first) in elements(now) {
        let mut Q = [Vec3::zeros(); 4];
        element.add_forces(&e, beam.curvature, &mut Q);
        add(&Q, &mut tau[first..]);
    }
}

/// Returns the strain energy of all ANCF beams, J.
pub(super) fn potential_energy<S: Scalar>(now: &Instant<S>) -> S {
    elements(now).fold(S::zero(), |energy, (beam, element, e, _)| {
        energy + element.energy(&e, beam.curvature)
    })
}

/// Adds the forces of uniform gravity `g` (m/s², world axes).
pub(super) fn add_gravity<S: Scalar>(now: &Instant<S>, g: &Vec3<S>, tau: &mut [S]) {
    for (_, element, _, first) in elements(now) {
        let Q = element.centre().map(|part| g * S::lift(part * element.mass()));
        add(&Q, &mut tau[first..]);
    }
}

/// Returns the potential energy of all ANCF beams in uniform gravity `g` (m/s²), J, zero at the
/// world's origin.
pub(super) fn gravity_energy<S: Scalar>(now: &Instant<S>, g: &Vec3<S>) -> S {
    elements(now).fold(S::zero(), |energy, (_, element, e, _)| {
        energy - g.dot(&interpolate(element.centre(), &e)) * S::lift(element.mass())
    })
}

/// Adds gravity relative to the reference orbit, of each element to second order about its mass
/// centre, as for bodies. (Yang et al. 2023, Eqs. 49–51; their B lacks a factor `−3|r₀|²`.)
pub(super) fn add_of_orbit<S: Scalar>(now: &Instant<S>, orbit: &OrbitPoint<S>, tau: &mut [S]) {
    for (_, element, mut e, first) in elements(now) {
        let (centre, matrix, m) = (element.centre(), element.mass_matrix(), element.mass());
        let c = interpolate(centre, &e);
        // Positions relative to the mass centre, without cancellation far from the world's origin.
        e[0] -= c;
        e[2] -= c;
        let moved = matrix.map(|row| interpolate(row, &e));
        let P = (e.iter().zip(&moved)).fold(Mat3::zeros(), |P, (e, moved)| P + e * moved.transpose());
        let field = orbit.gravity(&c);
        let g = field.g + field.beyond_gradient(&P) * S::lift(1.0 / m);
        let mut Q = moved.map(|moved| field.G * moved);
        for (Q, part) in Q.iter_mut().zip(centre) {
            *Q += g * S::lift(part * m);
        }
        add(&Q, &mut tau[first..]);
    }
}
