use super::dual_quaternion::NewtonEuler;
use super::quaternion::{Rows, SaddlePoint};
use super::recursive::ForwardDynamics;
use super::{Applied, Singular, condition};
use crate::algebra::{Scalar, Twist, Wrench};
use crate::spec::{Coupling, Formulation, Spec};
use crate::system::{Configuration, Derived, System};

/// Forward dynamics by the formulation that the spec selects.
#[derive(Clone, Debug)]
pub struct Dynamics<S: Scalar> {
    engine: Engine<S>,
    /// Force of the drive or brake on each rate, N·m or N.
    pub drive: Vec<S>,
}

#[derive(Clone, Debug)]
enum Engine<S: Scalar> {
    Recursive(Box<ForwardDynamics<S>>),
    Quaternion(Box<SaddlePoint<S>>),
    DualQuaternion(Box<NewtonEuler<S>>),
}

/// Returns the drive force on the rate `v` in addition to the applied loads, N·m or N, for a joint
/// with the reaction wrench `F` (about the body's origin, world axes) and the derivative `qdd` of
/// the rate.
#[inline]
pub(crate) fn driven<S: Scalar>(at: Configuration<S>, applied: &Applied<S>, F: &Wrench<S>, v: usize, qdd: S) -> S {
    F.power(&at.kinematics.H[v]) + qdd * S::lift(at.derived.rotor_inertia[v]) - applied.tau[v]
}

/// Computes the accelerations of the nodes of ANCF beams, which only loads couple to the bodies.
fn nodal<S: Scalar>(system: &System, derived: &Derived<S::Constant>, applied: &Applied<S>, qdd: &mut [S]) {
    for (beam, constants) in system.nodal.iter().zip(&derived.nodal) {
        let qdd = &mut qdd[beam.rates()];
        qdd.copy_from_slice(&applied.tau[beam.rates()]);
        // Beams without load are skipped, such as in the response to a unit wrench on a body.
        if qdd.iter().any(|tau| *tau != S::zero()) {
            constants.mass_matrix.solve(qdd);
        }
    }
}

impl<S: Scalar> Dynamics<S> {
    /// Allocates for `system`, in the spec's formulation.
    pub fn new(system: &System, spec: &Spec) -> Self {
        let options = spec.quaternion.clone().unwrap_or_default();
        let rows = match options.coupling {
            Coupling::PaperLiteral => Rows::MomentumWithoutModes,
            _ if options.has_momentum_rows() => Rows::Momentum,
            _ => Rows::Joints,
        };
        Self {
            engine: match spec.formulation {
                Formulation::Recursive => Engine::Recursive(Box::new(ForwardDynamics::new(system))),
                Formulation::Quaternion | Formulation::Natural => {
                    Engine::Quaternion(Box::new(SaddlePoint::new(system, rows)))
                }
                Formulation::DualQuaternion => Engine::DualQuaternion(Box::new(NewtonEuler::new(system))),
            },
            drive: vec![S::zero(); system.nv],
        }
    }

    /// Computes the derivatives `qdd` (`nv`, rad/s² or m/s²) of the rates of joints, modes and
    /// nodes at the coordinates `q`, and the accelerations [`A`](Self::A) of the bodies.
    ///
    /// # Errors
    /// [`Singular`] if a degree of freedom has zero inertia (to round-off).
    #[inline]
    pub fn solve(
        &mut self,
        at: Configuration<S>,
        applied: &Applied<S>,
        q: &[S],
        qdd: &mut [S],
    ) -> Result<(), Singular> {
        nodal(at.system, at.derived, applied, qdd);
        match &mut self.engine {
            Engine::Recursive(recursion) => recursion.solve(at, applied, qdd),
            Engine::Quaternion(saddle_point) => saddle_point.solve(at, applied, qdd),
            Engine::DualQuaternion(newton_euler) => newton_euler.solve(at, applied, q, qdd),
        }
    }

    /// Computes the response to the loads in `applied`, wrenches on bodies and forces on modes and
    /// nodes only: the changes of `qdd` and [`A`](Self::A) due to these loads. Reuses the
    /// factorisation of the last [`solve`](Self::solve) at the same instant; the next `solve` is
    /// unaffected.
    pub fn respond(&mut self, at: Configuration<S>, applied: &Applied<S>, qdd: &mut [S]) {
        nodal(at.system, at.derived, applied, qdd);
        match &mut self.engine {
            Engine::Recursive(recursion) => recursion.respond(at, applied, qdd),
            Engine::Quaternion(saddle_point) => saddle_point.respond(at, applied, qdd),
            Engine::DualQuaternion(newton_euler) => newton_euler.respond(at, applied, qdd),
        }
    }

    /// Returns the acceleration of a body that is [alone](crate::system::Body::is_alone) due to a wrench
    /// about its origin, world axes: its part of a [response](Self::respond). `None` in other
    /// formulations than the recursive one.
    pub fn response_alone(&self, body: usize, F: &Wrench<S>) -> Option<Twist<S>> {
        match &self.engine {
            Engine::Recursive(recursion) => Some(recursion.response_alone(body, F)),
            Engine::Quaternion(_) | Engine::DualQuaternion(_) => None,
        }
    }

    /// Returns the accelerations of the bodies' origins beyond
    /// [`A_bias`](crate::system::BodyKinematics::A_bias), world axes.
    pub fn A(&self) -> &[Twist<S>] {
        match &self.engine {
            Engine::Recursive(recursion) => &recursion.A,
            Engine::Quaternion(saddle_point) => &saddle_point.A,
            Engine::DualQuaternion(newton_euler) => &newton_euler.A,
        }
    }

    /// Returns the reaction wrench of its joint on body `i`, about the body's origin, world axes;
    /// requires [`solve`](Self::solve). `None` if the body's reaction is not
    /// [computed](crate::system::Body::reaction_index).
    pub fn transmitted(&self, system: &System, i: usize) -> Option<Wrench<S>> {
        match &self.engine {
            Engine::Recursive(recursion) => recursion.transmitted(system, i),
            Engine::Quaternion(saddle_point) => Some(saddle_point.F[i]),
            Engine::DualQuaternion(newton_euler) => Some(newton_euler.F[i]),
        }
    }

    /// Sets the reaction wrenches of a solution by the recursive formulation, see
    /// [`ForwardDynamics::set_reactions`]; has no effect in other formulations.
    pub(crate) fn set_reactions(&mut self, reactions: impl Iterator<Item = Wrench<S>>) {
        if let Engine::Recursive(recursion) = &mut self.engine {
            recursion.set_reactions(reactions);
        }
    }

    /// Returns the condition number of the matrix of accelerations and multipliers; `None` if the
    /// formulation has no such matrix. Allocates.
    pub fn condition(&self, at: Configuration<S>, applied: &Applied<S>, q: &[S]) -> Option<S> {
        let matrix = match &self.engine {
            Engine::Recursive(_) => None,
            Engine::Quaternion(saddle_point) => Some(saddle_point.matrix(at, applied)),
            Engine::DualQuaternion(newton_euler) => newton_euler.matrix(at, applied, q).ok(),
        };
        matrix.map(|matrix| condition(&matrix))
    }

    /// Computes the forces of drives and brakes, in addition to the loads in `applied`, into
    /// [`drive`](Self::drive); returns their power, W. Requires [`solve`](Self::solve).
    pub fn drive(&mut self, at: Configuration<S>, applied: &Applied<S>, qd: &[S], qdd: &[S]) -> S {
        let system = at.system;
        let mut power = S::zero();
        for (i, body) in system.bodies.iter().enumerate() {
            let rates = body.joint.v..body.joint.v + body.joint.nv;
            if let (true, Some(F)) = (applied.driven[i], self.transmitted(system, i)) {
                for v in rates {
                    self.drive[v] = driven(at, applied, &F, v, qdd[v]);
                    power += self.drive[v] * qd[v];
                }
            } else if body.joint.is_drivable() {
                self.drive[rates].fill(S::zero());
            }
        }
        power
    }
}
