use super::model::Model;
use super::outputs::{self, View};
use crate::algebra::{Quaternion, Scalar};
use crate::dynamics::Applied;
use crate::dynamics::recursive::{ForwardDynamics, SingularHinge};
use crate::loads::Instant;
use crate::spec::at;
use crate::system::joint::{Motion, part, part_mut, with_joint};
use crate::system::{Derived, Kinematics};
use crate::{Error, Problem};

/// The way from states and inputs to derivatives and outputs, with the room for it.
///
/// Generic over the scalar: with dual numbers the same way gives exact derivatives.
#[derive(Clone, Debug)]
pub struct Evaluation<S: Scalar> {
    kinematics: Kinematics<S>,
    applied: Applied<S>,
    dynamics: ForwardDynamics<S>,
    slots: Vec<S>,
    q_WB: Vec<Quaternion<S>>,
}

impl<S: Scalar> Evaluation<S> {
    /// Room for a model.
    pub fn new(model: &Model) -> Self {
        Self {
            kinematics: Kinematics::new(&model.system),
            applied: Applied::none(&model.system),
            dynamics: ForwardDynamics::new(&model.system),
            slots: vec![S::zero(); model.sources.len()],
            q_WB: vec![Quaternion::identity(); model.system.bodies.len()],
        }
    }

    /// The states' derivatives `dx` at the time `t` (s), the states `x` and the host's inputs `u`.
    ///
    /// # Errors
    /// [`Error::Singular`] if a joint moves no inertia.
    pub fn derivative(
        &mut self,
        model: &Model,
        (derived, parameters): (&Derived, &[f64]),
        t: f64,
        (x, u, modes): (&[S], &[S], &[i32]),
        dx: &mut [S],
    ) -> Result<(), Error> {
        let system = &model.system;
        let (q, rest) = x.split_at(system.nq);
        let qd = &rest[..system.nv];
        model.inputs_at(parameters, t, (u, modes), &mut self.slots);
        self.kinematics.update(system, derived, q, qd);
        let now = Instant {
            system,
            derived,
            parameters,
            kinematics: &self.kinematics,
            q,
            qd,
            inputs: &self.slots,
        };
        let mut power = model.loads.evaluate(&now, &mut self.applied);
        let (dq, rest) = dx.split_at_mut(system.nq);
        let (qdd, work) = rest.split_at_mut(system.nv);
        self.dynamics
            .solve(system, derived, &self.kinematics, &self.applied, qdd)
            .map_err(|hinge| singular(model, hinge))?;
        power += self
            .dynamics
            .drive(system, derived, &self.kinematics, &self.applied, (qd, qdd));
        if let Some(work) = work.first_mut() {
            *work = power;
        }
        for (body, constants) in system.bodies.iter().zip(&derived.bodies) {
            let joint = &body.joint;
            with_joint!(&constants.joint, j => {
                *part_mut(dq, joint.q) = j.q_dot(part(q, joint.q), part(qd, joint.v));
            });
            if let Some(modes) = &body.modes {
                dq[modes.coordinates()].copy_from_slice(&qd[modes.rates()]);
            }
        }
        Ok(())
    }

    /// The outputs `y`, after [`derivative`](Self::derivative) at the same instant.
    pub fn outputs(
        &mut self,
        model: &Model,
        (derived, parameters): (&Derived, &[f64]),
        (x, modes): (&[S], &[i32]),
        y: &mut [S],
    ) {
        let system = &model.system;
        let (q, rest) = x.split_at(system.nq);
        let now = Instant {
            system,
            derived,
            parameters,
            kinematics: &self.kinematics,
            q,
            qd: &rest[..system.nv],
            inputs: &self.slots,
        };
        outputs::attitudes(&now, &mut self.q_WB);
        let view = View {
            now,
            loads: &model.loads,
            dynamics: &self.dynamics,
            q_WB: &self.q_WB,
            sides: &modes[model.signals.len()..],
        };
        model.output_groups.write(&view, y);
    }
}

impl Evaluation<f64> {
    /// The joint or the mode that moves no inertia where the spec starts, if there is one.
    pub(super) fn singular_at_start(&mut self, model: &Model) -> Option<Problem> {
        let system = &model.system;
        let values = model.parameter_starts();
        let derived = model.judge(&values, None, &mut Vec::new());
        let (mut q, mut qd) = (vec![0.0; system.nq], vec![0.0; system.nv]);
        model.start(&values, &mut q, &mut qd);
        self.kinematics.update(system, &derived, &q, &qd);
        let (kinematics, applied) = (&self.kinematics, &self.applied);
        let hinge = self
            .dynamics
            .solve(system, &derived, kinematics, applied, &mut qd)
            .err()?;
        let body = &system.bodies[hinge.body];
        let at = match body.joint.written {
            true => at("joint", &body.joint.name, ""),
            false => at("body", &system.bodies[system.whole(hinge.body)].name, ""),
        };
        let hint = match body.beam {
            Some(_) => {
                ": a slender beam turns about its own axis without inertia; give it a `polar_inertia_per_length`"
            }
            None => "",
        };
        let what = match hinge.axis.checked_sub(body.joint.nv) {
            Some(mode) => format!("mode {} moves no inertia", mode + 1),
            None => format!("axis {} moves no inertia", hinge.axis + 1),
        };
        Some(Problem { at, what: what + hint })
    }
}

pub(super) fn singular(model: &Model, hinge: SingularHinge) -> Error {
    let body = &model.system.bodies[hinge.body];
    let what = match hinge.axis.checked_sub(body.joint.nv) {
        Some(mode) => format!("body \"{}\", mode {}", body.name, mode + 1),
        None => format!("joint \"{}\", axis {}", body.joint.name, hinge.axis + 1),
    };
    Error::Singular { what }
}
