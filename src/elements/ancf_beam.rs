//! ANCF beams: elastic forces, gravity, outputs.

use super::{Compiler, Cursor, Instant, Outputs, View};
use crate::algebra::{Dual, Mat3, Scalar, Vec3};
use crate::dynamics::Applied;
use crate::nodal::{Element, interpolate};
use crate::spec::Spec;
use crate::system::{AncfBeam, OrbitPoint, PER_NODE, Quantity, System, Unit};

/// Returns the elements of one ANCF beam: the beam, the element, its nodal coordinates, and the
/// index of its first rate.
fn elements_of<'a, S: Scalar>(
    now: &Instant<'a, S>,
    beam: usize,
) -> impl Iterator<Item = (&'a AncfBeam, &'a Element, [Vec3<S>; 4], usize)> + use<'a, S> {
    let q = now.q;
    let (beam, constants) = (&now.system.nodal[beam], &now.derived.nodal[beam]);
    constants.elements.iter().enumerate().map(move |(i, element)| {
        let first = i * PER_NODE;
        (beam, element, AncfBeam::of_element(q, beam.q, i), beam.v + first)
    })
}

/// Returns the elements of all ANCF beams, as [`elements_of`] one.
fn elements<'a, S: Scalar>(
    now: &'a Instant<'a, S>,
) -> impl Iterator<Item = (&'a AncfBeam, &'a Element, [Vec3<S>; 4], usize)> {
    (0..now.system.nodal.len()).flat_map(|beam| elements_of(now, beam))
}

/// Adds the generalised forces `Q` on the coordinates of one element.
fn add<S: Scalar>(Q: &[Vec3<S>; 4], tau: &mut [S]) {
    let numbers = Q.iter().flat_map(Vec3::iter);
    tau.iter_mut().zip(numbers).for_each(|(tau, Q)| *tau += *Q);
}

/// ANCF beam, by its index among those of the system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beam(usize);

impl Beam {
    /// Returns the strain energy, J.
    fn strain_energy<S: Scalar>(&self, now: &Instant<S>) -> S {
        elements_of(now, self.0).fold(S::zero(), |energy, (beam, element, e, _)| {
            energy + element.energy(&e, beam.curvature)
        })
    }
}

impl super::Element for Beam {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        (0..from.system.nodal.len()).map(Self).collect()
    }

    fn outputs(&self, _: &Spec, system: &System, to: &mut Outputs) {
        let name = &system.nodal[self.0].name;
        let what = format!(
            "displacement of the tip of {name} from that of the straight beam along the tangent at the root, axes of the root"
        );
        to.continuous(Quantity::vector(&format!("{name}.tip_deflection"), Unit::Metre, &what));
        let what = format!("strain energy of {name}");
        to.continuous([Quantity::new(format!("{name}.elastic_energy"), Unit::Joule, what)]);
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let now = &view.now;
        let beam = &now.system.nodal[self.0];
        let [root, tip] = [beam.root, beam.root + 1].map(|point| &now.kinematics.points[point].at);
        let mut bent = root.R_WB.tr_mul(&(tip.p_WB - root.p_WB));
        let elements = now.derived.nodal[beam.index].elements.iter();
        bent.x -= S::lift(elements.map(|element| element.l).sum::<f64>());
        y.vector(&bent);
        y.number(match view.energies {
            Some(given) => given[self.0],
            None => self.strain_energy(now),
        });
    }

    /// Adds the elastic forces of stretch and bending.
    fn add_conservative<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        for (beam, element, e, first) in elements_of(now, self.0) {
            let mut Q = [Vec3::zeros(); 4];
            element.add_forces(&e, beam.curvature, &mut Q);
            add(&Q, &mut applied.tau[first..]);
        }
    }

    fn potential_energy<S: Scalar>(&self, now: &Instant<S>) -> Option<S> {
        Some(self.strain_energy(now))
    }
}

/// Adds the derivatives of the sum of elastic forces and orbital gravity with the weights `lambda`,
/// of the power of gravity with the weight `of_power`, and of the strain energy of each beam with the
/// weight that `of_energy` returns, to those with respect to coordinates and rates. Both forces are
/// gradients with respect to the coordinates, and the matrix of their derivatives is symmetric: the
/// derivatives of the sum are those of the forces along the weights.
pub(crate) fn add_beam_adjoint(
    now: &Instant<f64>,
    lambda: &[f64],
    of_power: f64,
    of_energy: impl Fn(usize) -> f64,
    q_bar: &mut [f64],
    qd_bar: &mut [f64],
) {
    let orbit = now.orbit.map(|orbit| orbit.lift::<Dual<1>>());
    for (beam, element, e, first) in elements(now) {
        let along = AncfBeam::of_element(lambda, first, 0);
        let rates = AncfBeam::of_element(now.qd, first, 0);
        let dual = |e: Vec3<f64>, along: Vec3<f64>| e.zip_map(&along, |e, along| Dual::<1>::new(e, [along]));
        let mut Q = [Vec3::zeros(); 4];
        element.add_forces(&std::array::from_fn(|k| dual(e[k], along[k])), beam.curvature, &mut Q);
        let weight = of_energy(beam.index);
        if weight != 0.0 {
            let gradient = element.energy_gradient(&e, beam.curvature);
            let entries = Q.iter_mut().flatten().zip(gradient.iter().flatten());
            entries.for_each(|(Q, gradient)| Q.eps[0] += weight * gradient);
        }
        if let Some(orbit) = &orbit {
            let e = std::array::from_fn(|k| dual(e[k], along[k] + rates[k] * of_power));
            let gravity = of_orbit(element, e, orbit);
            let bars = qd_bar[first..].iter_mut();
            let values = gravity.iter().flat_map(Vec3::iter);
            (bars.zip(values)).for_each(|(bar, Q)| *bar += of_power * Q.re);
            (Q.iter_mut().zip(gravity)).for_each(|(Q, gravity)| *Q += gravity);
        }
        let coordinates = first - beam.v + beam.q;
        let changes = Q.iter().flat_map(Vec3::iter);
        (q_bar[coordinates..].iter_mut().zip(changes)).for_each(|(bar, Q)| *bar += Q.eps[0]);
    }
}

/// Adds the forces of uniform gravity `g` (m/s², world axes).
pub(super) fn add_gravity<S: Scalar>(now: &Instant<S>, g: &Vec3<S>, tau: &mut [S]) {
    for (_, element, _, first) in elements(now) {
        let Q = element.centre().map(|part| g * S::lift(part * element.mass()));
        add(&Q, &mut tau[first..]);
    }
}

/// Adds the forces of uniform gravity `g` (m/s², world axes), in the order of the coordinates.
pub(super) fn add_to_coordinates(now: &Instant<f64>, g: &Vec3<f64>, q: &mut [f64]) {
    for (beam, element, _, first) in elements(now) {
        let Q = element.centre().map(|part| g * (part * element.mass()));
        add(&Q, &mut q[first - beam.v + beam.q..]);
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
    for (_, element, e, first) in elements(now) {
        add(&of_orbit(element, e, orbit), &mut tau[first..]);
    }
}

/// Returns the generalised forces of [`add_of_orbit`] on the nodal coordinates `e` of an element.
fn of_orbit<S: Scalar>(element: &Element, mut e: [Vec3<S>; 4], orbit: &OrbitPoint<S>) -> [Vec3<S>; 4] {
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
    Q
}
