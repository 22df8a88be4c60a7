use super::rigid_body;
use crate::algebra::{Scalar, Twist, Wrench};
use crate::dynamics::Applied;
use crate::system::{Derived, Kinematics, System};

/// Loads from accelerations, in O(n): the recursive Newton–Euler algorithm (Featherstone 2008, table 5.1).
///
/// The inverse of [`ForwardDynamics`](super::ForwardDynamics), by another road: it shares no step with it
/// but the single rigid body.
#[derive(Clone, Debug)]
pub struct InverseDynamics<S: Scalar> {
    /// Accelerations of the bodies' origins beyond `A_bias`, world axes.
    pub A: Vec<Twist<S>>,
    /// The wrench that each body's joint transmits to it, about its origin, world axes.
    pub F: Vec<Wrench<S>>,
}

impl<S: Scalar> InverseDynamics<S> {
    /// Room for a system.
    pub fn new(system: &System) -> Self {
        Self {
            A: vec![Twist::zero(); system.bodies.len()],
            F: vec![Wrench::zero(); system.bodies.len()],
        }
    }

    /// Computes the torques and forces `tau` (`nv`) on the rates that give the accelerations `qdd`,
    /// beside the wrenches in `applied` (whose own `tau` is not read).
    pub fn solve(
        &mut self,
        system: &System,
        derived: &Derived,
        kinematics: &Kinematics<S>,
        applied: &Applied<S>,
        qdd: &[S],
        tau: &mut [S],
    ) {
        for (i, body) in system.bodies.iter().enumerate() {
            let at = &kinematics.bodies[i];
            let mut A = body
                .parent
                .map_or_else(Twist::zero, |parent| self.A[parent].shift(&at.r_PB_W));
            for v in body.joint.v..body.joint.v + body.joint.nv {
                A = A + kinematics.H[v] * qdd[v];
            }
            let (inertia, bias) = rigid_body(&derived.bodies[i], at);
            self.A[i] = A;
            self.F[i] = inertia.times(&A) + bias - applied.wrench[i];
        }
        for (i, body) in system.bodies.iter().enumerate().rev() {
            for v in body.joint.v..body.joint.v + body.joint.nv {
                tau[v] = self.F[i].power(&kinematics.H[v]) + qdd[v] * S::lift(derived.rotor_inertia[v]);
            }
            if let Some(parent) = body.parent {
                self.F[parent] = self.F[parent] + self.F[i].shift(&kinematics.bodies[i].r_PB_W);
            }
        }
    }
}
