//! Adjoint of composite inertias and of the momenta of unit rates (`docs/theory/adjoint.md`, whose
//! numbers the comments cite).

use super::CompositeBodies;
use crate::algebra::{ArticulatedInertia, Mat3, Twist, Vec3, Wrench, cross_matrix};
use crate::dynamics::body::{inertia_and_bias, rigid_body};
use crate::dynamics::recursive::Gradient;
use crate::system::{Configuration, Modes, System};

/// Weights of the inertia of a body: the function `Σ a·(I b)` of it for pairs of twists `a`, `b`
/// about one origin, world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct InertiaWeights {
    /// `P = Σ a_ω b_ωᵀ + b_ω a_ωᵀ`.
    of_J: Mat3<f64>,
    /// `Q = Σ a_v b_ωᵀ + b_v a_ωᵀ`.
    of_h: Mat3<f64>,
    /// `Σ a_v·b_v`.
    of_m: f64,
}

impl InertiaWeights {
    fn zero() -> Self {
        Self {
            of_J: Mat3::zeros(),
            of_h: Mat3::zeros(),
            of_m: 0.0,
        }
    }

    /// Adds those of the pair `a`, `b`.
    fn add_pair(&mut self, a: &Twist<f64>, b: &Twist<f64>) {
        self.of_J += a.w * b.w.transpose() + b.w * a.w.transpose();
        self.of_h += a.v * b.w.transpose() + b.v * a.w.transpose();
        self.of_m += a.v.dot(&b.v);
    }

    fn add(&mut self, other: &Self) {
        self.of_J += other.of_J;
        self.of_h += other.of_h;
        self.of_m += other.of_m;
    }

    /// Returns those of the same twists about another origin, at `d` (m).
    fn shift(&self, d: &Vec3<f64>) -> Self {
        let turned = self.of_J * d;
        Self {
            of_J: self.of_J,
            of_h: self.of_h - cross_matrix(d) * self.of_J,
            of_m: self.of_m + d.dot(&axial(&self.of_h)) + 0.5 * d.dot(&(d * self.of_J.trace() - turned)),
        }
    }

    /// Returns the function's value for the inertia of a rigid body.
    fn value(&self, I: &ArticulatedInertia<f64>) -> f64 {
        0.5 * self.of_J.dot(&I.J.full()) + first_moment(I).dot(&axial(&self.of_h)) + I.M.d[0] * self.of_m
    }
}

/// Returns `Σ x × y` of a sum `Σ x yᵀ`.
fn axial(sum: &Mat3<f64>) -> Vec3<f64> {
    Vec3::new(
        sum[(1, 2)] - sum[(2, 1)],
        sum[(2, 0)] - sum[(0, 2)],
        sum[(0, 1)] - sum[(1, 0)],
    )
}

/// Returns the first moment of mass of a body.
fn first_moment(I: &ArticulatedInertia<f64>) -> Vec3<f64> {
    Vec3::new(I.B[(2, 1)], I.B[(0, 2)], I.B[(1, 0)])
}

/// Adjoint of [`CompositeBodies`]: derivatives of a weighted sum of the momenta of unit rates and of
/// the composite inertias of root bodies.
#[derive(Clone, Debug)]
pub struct CompositeAdjoint {
    /// Weights of each body's inertia by its own joint, then by all inboard ones, about the origin of
    /// its root body.
    weights: Vec<InertiaWeights>,
    /// Body of each rate of a joint.
    bodies: Vec<usize>,
    /// Derivatives with respect to the masses of propellants, relative to those at the start.
    fills: Vec<f64>,
    /// Workspace for the fields of a flexible body.
    fields: Vec<[f64; 4]>,
}

impl CompositeAdjoint {
    /// Allocates for `system`.
    pub fn new(system: &System) -> Self {
        let mut bodies = vec![usize::MAX; system.nv];
        for (i, body) in system.bodies.iter().enumerate() {
            bodies[body.joint.v..body.joint.v + body.joint.nv].fill(i);
        }
        Self {
            weights: vec![InertiaWeights::zero(); system.bodies.len()],
            bodies,
            fills: vec![0.0; system.propellant.len()],
            fields: Vec::with_capacity(system.flexible().map(Modes::most_fields).max().unwrap_or(0)),
        }
    }

    /// Begins with a sum of no terms.
    pub fn begin(&mut self) {
        self.weights.fill(InertiaWeights::zero());
        self.fills.fill(0.0);
    }

    /// Adds the composite inertia of the body `root` about its origin, weighted by a pair of twists:
    /// `a·(I b)`.
    pub fn add_inertia(&mut self, root: usize, a: &Twist<f64>, b: &Twist<f64>) {
        self.weights[root].add_pair(a, b);
    }

    /// Adds the momentum due to the unit rate `v` of a joint, about the origin of the root body, with
    /// the `weight`, and its derivatives with respect to the joint's position, (35). Returns those
    /// with respect to the joint's column.
    pub fn add_momentum(
        &mut self,
        at: Configuration<f64>,
        composite: &CompositeBodies<f64>,
        v: usize,
        weight: &Twist<f64>,
        gradients: &mut [Gradient],
    ) -> Wrench<f64> {
        let (i, root) = (self.bodies[v], composite.roots[v]);
        let bodies = &at.kinematics.bodies;
        let (H, d) = (&at.kinematics.H[v], bodies[i].p_WB - bodies[root].p_WB);
        self.weights[i].add_pair(weight, &H.shift(&-d));
        let of_column = composite.inertia(i).times(&weight.shift(&d));
        let of_position = H.w.cross(&of_column.f);
        gradients[i].pose.f += of_position;
        gradients[root].pose.f -= of_position;
        of_column
    }

    /// Adds the derivatives of the sum with respect to positions of the bodies to `gradients`,
    /// and those with respect to the amplitudes of modes, whose coordinates are `q`, to `q_bar`, (37).
    pub fn finish(&mut self, at: Configuration<f64>, q: &[f64], gradients: &mut [Gradient], q_bar: &mut [f64]) {
        let Configuration {
            system,
            derived,
            kinematics,
        } = at;
        for (i, body) in system.bodies.iter().enumerate() {
            if let Some(parent) = body.parent {
                let inboard = self.weights[parent];
                self.weights[i].add(&inboard);
            }
            if self.weights[i] == InertiaWeights::zero() {
                continue;
            }
            let (here, root) = (&kinematics.bodies[i], system.root(i));
            let weights = self.weights[i].shift(&(here.p_WB - kinematics.bodies[root].p_WB));
            let I = inertia_and_bias(system, derived, kinematics, i).0;
            let (h, of_h) = (first_moment(&I), axial(&weights.of_h));
            let of_position = axial(&(weights.of_h * I.M.d[0] - cross_matrix(&h) * weights.of_J));
            gradients[i].pose.t += h.cross(&of_h) + axial(&(I.J.full() * weights.of_J));
            gradients[i].pose.f += of_position;
            gradients[root].pose.f -= of_position;
            if let Some(number) = system.propellant.iter().position(|&body| body == i) {
                self.fills[number] = weights.value(&rigid_body(&derived.bodies[i], here).0);
            }
            if let (Some(modes), Some(elastic)) = (&body.modes, &derived.bodies[i].elastic) {
                let bent = &kinematics.deflections[modes.index];
                let coordinates = modes.coordinates();
                let R = here.R_WB * elastic.axes;
                bent.weighted_inertia(
                    elastic,
                    &(R.tr_mul(&weights.of_J) * R),
                    &R.tr_mul(&of_h),
                    &q[coordinates.clone()],
                    &mut self.fields,
                    &mut q_bar[coordinates],
                );
            }
        }
    }

    /// Returns the derivative with respect to the mass of propellant `k`, relative to that at the
    /// start, after [`finish`](Self::finish).
    pub fn of_fill(&self, k: usize) -> f64 {
        self.fills[k]
    }
}
