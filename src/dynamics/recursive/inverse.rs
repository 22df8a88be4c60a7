use super::inertia_and_bias;
use crate::algebra::{Scalar, Twist, Wrench};
use crate::dynamics::Applied;
use crate::system::{Configuration, System};

/// Inverse dynamics (forces from accelerations) in O(n), by the recursive Newton–Euler algorithm
/// (Featherstone 2008, table 5.1).
///
/// It checks [`ForwardDynamics`](super::ForwardDynamics) in tests; only the code of the single body
/// is shared.
#[derive(Clone, Debug)]
pub struct InverseDynamics<S: Scalar> {
    /// Accelerations of the bodies' origins beyond `A_bias`, world axes.
    pub A: Vec<Twist<S>>,
    /// Accelerations of the stations beyond `A_bias`, world axes.
    A_station: Vec<Twist<S>>,
    /// Reaction wrench of each body's joint on the body, about its origin, world axes.
    pub F: Vec<Wrench<S>>,
}

impl<S: Scalar> InverseDynamics<S> {
    /// Allocates for `system`.
    pub fn new(system: &System) -> Self {
        Self {
            A: vec![Twist::zero(); system.bodies.len()],
            A_station: vec![Twist::zero(); system.stations.len()],
            F: vec![Wrench::zero(); system.bodies.len()],
        }
    }

    /// Computes the generalised forces `tau` (`nv`, N·m or N) that, together with the wrenches in
    /// `applied`, lead to the accelerations `qdd`. The forces `tau` in `applied` are not used.
    pub fn solve(&mut self, at: Configuration<S>, applied: &Applied<S>, qdd: &[S], tau: &mut [S]) {
        let Configuration {
            system,
            derived,
            kinematics,
        } = at;
        for (i, body) in system.bodies.iter().enumerate() {
            let at = &kinematics.bodies[i];
            let mut A = body
                .carrier()
                .of(&self.A, &self.A_station)
                .map_or_else(Twist::zero, |A| A.shift(&at.r_PB_W));
            for v in body.joint.v..body.joint.v + body.joint.nv {
                A = A + kinematics.H[v] * qdd[v];
            }
            let (inertia, bias) = inertia_and_bias(system, derived, kinematics, i);
            self.A[i] = A;
            self.F[i] = inertia.times(&A) + bias - applied.wrench[i];
            if let Some(modes) = &body.modes {
                let bent = &kinematics.deflections[modes.index];
                let eta_ddot = &qdd[modes.rates()];
                for (k, v) in modes.rates().enumerate() {
                    let L = &bent.L[k];
                    self.F[i] = self.F[i] + *L * qdd[v];
                    tau[v] = L.power(&(A + at.A_bias)) + bent.modal_bias[k];
                    for (&M, &eta_ddot) in bent.M[k * modes.n..].iter().zip(eta_ddot) {
                        tau[v] += eta_ddot * M;
                    }
                }
                for s in modes.stations.clone() {
                    self.A_station[s] = kinematics.beyond_bias(system, modes, s, &A, eta_ddot);
                }
            }
        }
        for (i, body) in system.bodies.iter().enumerate().rev() {
            for v in body.joint.v..body.joint.v + body.joint.nv {
                tau[v] = self.F[i].power(&kinematics.H[v]) + qdd[v] * S::lift(derived.rotor_inertia[v]);
            }
            if let Some(parent) = body.parent {
                let mut F = self.F[i].shift(&kinematics.bodies[i].r_PB_W);
                if let (Some(s), Some(modes)) = (body.station, &system.bodies[parent].modes) {
                    for (v, T) in modes.rates().zip(&kinematics.T[system.stations[s].first..]) {
                        tau[v] += F.power(T);
                    }
                    F = F.shift(&kinematics.stations[s].r_PB_W);
                }
                self.F[parent] = self.F[parent] + F;
            }
        }
    }
}
