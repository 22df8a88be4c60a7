use super::dual_quaternion::NewtonEuler;
use super::quaternion::{Rows, SaddlePoint};
use super::recursive::ForwardDynamics;
use super::{Applied, Singular, condition};
use crate::algebra::{Scalar, Twist, Wrench};
use crate::spec::{Coupling, Formulation, Spec};
use crate::system::{Derived, Kinematics, System};

/// From loads to accelerations, by the formulation that the spec asks for.
#[derive(Clone, Debug)]
pub struct Dynamics<S: Scalar> {
    engine: Engine<S>,
    /// What the drives and brakes of joints give, one for each rate, N·m or N.
    pub drive: Vec<S>,
}

#[derive(Clone, Debug)]
enum Engine<S: Scalar> {
    Recursive(Box<ForwardDynamics<S>>),
    Quaternion(Box<SaddlePoint<S>>),
    DualQuaternion(Box<NewtonEuler<S>>),
}

/// What a drive gives on the rate `v` beside the loads on it, N·m or N, where its joint transmits `F`.
#[inline]
pub(crate) fn driven<S: Scalar>(
    (derived, kinematics, applied): (&Derived, &Kinematics<S>, &Applied<S>),
    F: &Wrench<S>,
    v: usize,
    qdd: S,
) -> S {
    F.power(&kinematics.H[v]) + qdd * S::lift(derived.rotor_inertia[v]) - applied.tau[v]
}

/// The accelerations of ANCF beams, which stand beside the bodies whatever moves these: nothing but loads joins them.
fn nodal<S: Scalar>(system: &System, derived: &Derived, applied: &Applied<S>, qdd: &mut [S]) {
    for (beam, constants) in system.nodal.iter().zip(&derived.nodal) {
        let qdd = &mut qdd[beam.rates()];
        qdd.copy_from_slice(&applied.tau[beam.rates()]);
        // A unit wrench elsewhere does not reach it.
        if qdd.iter().any(|tau| *tau != S::zero()) {
            constants.mass_matrix.solve(qdd);
        }
    }
}

impl<S: Scalar> Dynamics<S> {
    /// Room for a system, in the spec's formulation.
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

    /// Computes the derivatives `qdd` of the rates of joints, modes and nodes (`nv` numbers, rad/s² or m/s²) at their coordinates `q`, and the
    /// bodies' [`A`](Self::A).
    ///
    /// # Errors
    /// [`Singular`] if something moves no inertia (to round-off).
    #[inline]
    pub fn solve(
        &mut self,
        system: &System,
        derived: &Derived,
        kinematics: &Kinematics<S>,
        applied: &Applied<S>,
        (q, qdd): (&[S], &mut [S]),
    ) -> Result<(), Singular> {
        nodal(system, derived, applied, qdd);
        match &mut self.engine {
            Engine::Recursive(recursion) => recursion.solve(system, derived, kinematics, applied, qdd),
            Engine::Quaternion(saddle_point) => saddle_point.solve(system, derived, kinematics, applied, qdd),
            Engine::DualQuaternion(newton_euler) => newton_euler.solve(system, derived, kinematics, applied, (q, qdd)),
        }
    }

    /// What wrenches on bodies and forces on modes and nodes, and nothing else in `applied`, add to the last [`solve`](Self::solve), at the same instant: `qdd` and [`A`](Self::A) are theirs alone. It costs a part of a solution, for what is factored serves again; the next solution is one as ever.
    pub fn respond(
        &mut self,
        system: &System,
        derived: &Derived,
        kinematics: &Kinematics<S>,
        applied: &Applied<S>,
        qdd: &mut [S],
    ) {
        nodal(system, derived, applied, qdd);
        match &mut self.engine {
            Engine::Recursive(recursion) => recursion.respond(system, derived, kinematics, applied, qdd),
            Engine::Quaternion(saddle_point) => saddle_point.respond(system, derived, kinematics, applied, qdd),
            Engine::DualQuaternion(newton_euler) => newton_euler.respond(system, derived, kinematics, applied, qdd),
        }
    }

    /// Accelerations of the bodies' origins beyond [`A_bias`](crate::system::BodyKinematics::A_bias), world axes.
    pub fn A(&self) -> &[Twist<S>] {
        match &self.engine {
            Engine::Recursive(recursion) => &recursion.A,
            Engine::Quaternion(saddle_point) => &saddle_point.A,
            Engine::DualQuaternion(newton_euler) => &newton_euler.A,
        }
    }

    /// The wrench that its joint transmits to the body `i`, about the body's origin, world axes; after
    /// [`solve`](Self::solve). None if the body is not [kept](crate::system::Body::kept).
    pub fn transmitted(&self, system: &System, i: usize) -> Option<Wrench<S>> {
        match &self.engine {
            Engine::Recursive(recursion) => recursion.transmitted(system, i),
            Engine::Quaternion(saddle_point) => Some(saddle_point.F[i]),
            Engine::DualQuaternion(newton_euler) => Some(newton_euler.F[i]),
        }
    }

    /// The condition number of the matrix of accelerations and multipliers, of a formulation that has one. Memory is taken for it.
    pub fn condition(
        &self,
        system: &System,
        derived: &Derived,
        kinematics: &Kinematics<S>,
        applied: &Applied<S>,
        q: &[S],
    ) -> Option<S> {
        let matrix = match &self.engine {
            Engine::Recursive(_) => None,
            Engine::Quaternion(saddle_point) => Some(saddle_point.matrix(system, derived, kinematics, applied)),
            Engine::DualQuaternion(newton_euler) => newton_euler.matrix(system, derived, kinematics, applied, q).ok(),
        };
        matrix.map(|matrix| condition(&matrix))
    }

    /// What the drives and brakes of joints give beside the loads in `applied` (into [`drive`](Self::drive)), and their power, W;
    /// after [`solve`](Self::solve).
    pub fn drive(
        &mut self,
        system: &System,
        derived: &Derived,
        kinematics: &Kinematics<S>,
        applied: &Applied<S>,
        (qd, qdd): (&[S], &[S]),
    ) -> S {
        let mut power = S::zero();
        for (i, body) in system.bodies.iter().enumerate() {
            let rates = body.joint.v..body.joint.v + body.joint.nv;
            if let (true, Some(F)) = (applied.driven[i], self.transmitted(system, i)) {
                for v in rates {
                    self.drive[v] = driven((derived, kinematics, applied), &F, v, qdd[v]);
                    power += self.drive[v] * qd[v];
                }
            } else if body.joint.is_drivable() {
                self.drive[rates].fill(S::zero());
            }
        }
        power
    }
}
