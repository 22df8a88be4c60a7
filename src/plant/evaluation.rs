use super::coordinates::{Constrained, Coordinates};
use super::model::{Model, Parts};
use super::outputs::View;
use crate::algebra::{Quaternion, Scalar};
use crate::dynamics::{Applied, Dynamics, Singular, What};
use crate::loads::{Drive, Instant};
use crate::spec::{JointMotion, at};
use crate::system::{Baumgarte, Derived, Kinematics, Recovered};
use crate::{Error, Problem};

/// The way from states and inputs to derivatives and outputs, with the room for it.
///
/// Generic over the scalar: with dual numbers the same way gives exact derivatives.
#[derive(Clone, Debug)]
pub struct Evaluation<S: Scalar> {
    kinematics: Kinematics<S>,
    /// Coordinates and rates of joints, where they are not the states.
    recovered: Option<Box<Recovered<S>>>,
    applied: Applied<S>,
    dynamics: Dynamics<S>,
    slots: Vec<S>,
    q_WB: Vec<Quaternion<S>>,
    /// The derivatives of the rates of joints and modes, where they are not the states'.
    qdd: Vec<S>,
}

impl<S: Scalar> Evaluation<S> {
    /// Room for a model.
    pub fn new(model: &Model) -> Self {
        let system = &model.system;
        Self {
            kinematics: Kinematics::new(system),
            recovered: model.coordinates.room(system),
            applied: Applied::none(system),
            dynamics: Dynamics::new(system, &model.spec),
            slots: vec![S::zero(); model.sources.len()],
            q_WB: vec![Quaternion::identity(); system.bodies.len()],
            qdd: vec![S::zero(); system.nv],
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
        model.inputs_at(parameters, t, (u, modes), &mut self.slots);
        self.place(model, derived, model.coordinates.baumgarte(parameters), x);
        let here = model.split(x);
        let (q, qd) = joint_coordinates(self.recovered.as_deref(), &here);
        let now = Instant {
            system,
            derived,
            parameters,
            kinematics: &self.kinematics,
            q,
            qd,
            inputs: &self.slots,
            motions: model.motions(modes),
        };
        let power = model.loads.evaluate(&now, &mut self.applied);
        self.accelerate(model, derived, power, x, dx)
    }

    /// The states' derivatives under the loads in `applied`, of this `power` (W), where the states are [placed](Self::place).
    fn accelerate(
        &mut self,
        model: &Model,
        derived: &Derived,
        mut power: S,
        x: &[S],
        dx: &mut [S],
    ) -> Result<(), Error> {
        let (system, here) = (&model.system, model.split(x));
        let (q, qd) = joint_coordinates(self.recovered.as_deref(), &here);
        let to = model.split_mut(dx);
        let qdd = match model.coordinates {
            Coordinates::Minimal => &mut *to.rates,
            Coordinates::Maximal(_) | Coordinates::Velocities(_) => self.qdd.as_mut_slice(),
        };
        let (kinematics, applied) = (&self.kinematics, &self.applied);
        self.dynamics
            .solve(system, derived, kinematics, applied, (q, &mut *qdd))
            .map_err(|singular| named(model, singular))?;
        power += self.dynamics.drive(system, derived, kinematics, applied, (qd, qdd));
        if let Some(work) = to.work.first_mut() {
            *work = power;
        }
        match &model.coordinates {
            Coordinates::Minimal => system.q_dot(derived, (q, qd), to.positions),
            Coordinates::Velocities(_) => {
                system.q_dot(derived, (q, qd), to.positions);
                system.velocities_dot(derived, kinematics, self.dynamics.A(), to.rates);
            }
            Coordinates::Maximal(Constrained { layout, .. }) => {
                let accelerations = (self.dynamics.A(), qd, self.qdd.as_slice());
                let derivatives = (to.positions, to.rates, to.windings);
                layout.derivative(
                    system,
                    kinematics,
                    accelerations,
                    (here.positions, here.rates),
                    derivatives,
                );
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
        let recovered = self.recovered.as_deref();
        let (q, qd) = joint_coordinates(recovered, &model.split(x));
        let q_WB = match (&model.coordinates, recovered) {
            (Coordinates::Maximal(_), Some(recovered)) => recovered.q_WB.as_slice(),
            _ => {
                system.attitudes(derived, q, &mut self.q_WB);
                &self.q_WB
            }
        };
        let now = Instant {
            system,
            derived,
            parameters,
            kinematics: &self.kinematics,
            q,
            qd,
            inputs: &self.slots,
            motions: model.motions(modes),
        };
        let view = View {
            now,
            loads: &model.loads,
            dynamics: &self.dynamics,
            applied: &self.applied,
            q_WB,
            recovered,
            sides: &modes[model.signals.len()..],
        };
        model.output_groups.write(&view, y);
    }

    /// Coordinates and rates of joints and modes.
    pub(super) fn coordinates<'a>(
        &'a mut self,
        model: &Model,
        (derived, parameters): (&Derived, &[f64]),
        x: &'a [S],
    ) -> (&'a [S], &'a [S]) {
        if self.recovered.is_some() {
            self.place(model, derived, model.coordinates.baumgarte(parameters), x);
        }
        joint_coordinates(self.recovered.as_deref(), &model.split(x))
    }

    /// Fills the kinematics.
    fn place(&mut self, model: &Model, derived: &Derived, baumgarte: Baumgarte, x: &[S]) {
        let (system, here) = (&model.system, model.split(x));
        match (&model.coordinates, &mut self.recovered) {
            (Coordinates::Maximal(constrained), Some(recovered)) => {
                let of = (system, derived, &constrained.layout);
                let states = (here.positions, here.rates, here.windings);
                self.kinematics.recover(of, baumgarte, states, recovered);
            }
            (Coordinates::Velocities(_), Some(recovered)) => {
                let states = (here.positions, here.rates);
                self.kinematics.follow(system, derived, baumgarte, states, recovered);
            }
            _ => self.kinematics.update(system, derived, here.positions, here.rates),
        }
    }
}

/// Coordinates and rates of joints and modes.
fn joint_coordinates<'a, S: Scalar>(recovered: Option<&'a Recovered<S>>, x: &Parts<&'a [S]>) -> (&'a [S], &'a [S]) {
    recovered.map_or((x.positions, x.rates), |recovered| (&recovered.q, &recovered.qd))
}

impl Evaluation<f64> {
    /// The inputs of the loads at the time `t` (s), whoever drives them.
    pub(super) fn inputs(&mut self, model: &Model, parameters: &[f64], t: f64, u: (&[f64], &[i32])) -> &[f64] {
        model.inputs_at(parameters, t, u, &mut self.slots);
        &self.slots
    }

    /// Takes the rates of the joints of some drives away, by impulses at those joints: momentum stays as it is, and so do the rates of other joints that are
    /// driven. Memory is taken for it.
    ///
    /// An impulse `j` on the driven rates changes all rates by `M⁻¹ j`, and `j` is such that the driven ones change as they should: the dynamics at rest, without
    /// loads, with those changes as prescribed accelerations.
    ///
    /// # Errors
    /// [`Error::Singular`] if something moves no inertia.
    pub(super) fn lock(
        &mut self,
        model: &Model,
        (derived, parameters): (&Derived, &[f64]),
        x: &mut [f64],
        modes: &[i32],
        locks: impl Fn(&Drive) -> bool,
    ) -> Result<(), Error> {
        let qd = self.coordinates(model, (derived, parameters), x).1.to_vec();
        let mut still = x.to_vec();
        model.split_mut(&mut still).rates.fill(0.0);
        self.place(model, derived, Baumgarte::NONE, &still);
        self.applied.clear();
        for drive in &model.loads.drives {
            self.applied.driven[drive.body] = drive.motion_now(model.motions(modes)) != JointMotion::Loads;
            for v in drive.rates() {
                self.applied.qdd[v] = if locks(drive) { -qd[v] } else { 0.0 };
            }
        }
        let mut jump = vec![0.0; x.len()];
        self.accelerate(model, derived, 0.0, &still, &mut jump)?;
        let (to, jump) = (model.split_mut(x), model.split(&jump));
        to.rates
            .iter_mut()
            .zip(jump.rates)
            .for_each(|(rate, jump)| *rate += jump);
        for drive in &model.loads.drives {
            for v in drive.rates() {
                // Half of what it was and what it is.
                let rate = qd[v] + 0.5 * self.applied.qdd[v];
                to.work
                    .iter_mut()
                    .for_each(|work| *work += self.dynamics.drive[v] * rate);
                if let (true, Coordinates::Minimal) = (locks(drive), &model.coordinates) {
                    to.rates[v] = 0.0;
                }
            }
        }
        Ok(())
    }

    /// The joint or the mode that moves no inertia where the spec starts, if there is one.
    pub(super) fn singular_at_start(&mut self, model: &Model) -> Option<Problem> {
        let system = &model.system;
        let values = model.parameter_starts();
        let derived = model.judge(&values, None, &mut Vec::new());
        let (mut q, mut qd) = (vec![0.0; system.nq], vec![0.0; system.nv]);
        model.start_coordinates(&values, &mut q, &mut qd);
        self.kinematics.update(system, &derived, &q, &qd);
        // As the joints start, and with all of them let go that may be.
        let singular = [false, true].into_iter().find_map(|released| {
            for drive in model.loads.drives.iter().filter(|_| released) {
                self.applied.driven[drive.body] &= !drive.motions().contains(&JointMotion::Loads);
            }
            let (kinematics, applied) = (&self.kinematics, &self.applied);
            self.dynamics
                .solve(system, &derived, kinematics, applied, (&q, &mut qd))
                .err()
        })?;
        let body = &system.bodies[singular.body];
        let written = &system.bodies[system.whole(singular.body)].name;
        let (at, what) = match singular.what {
            What::Axis(axis) if body.joint.written => (
                at("joint", &body.joint.name, ""),
                format!("axis {} moves no inertia", axis + 1),
            ),
            What::Axis(axis) => (at("body", written, ""), format!("axis {} moves no inertia", axis + 1)),
            What::Mode(mode) => (at("body", written, ""), format!("mode {} moves no inertia", mode + 1)),
            What::Body => (
                at("body", written, "inertia"),
                "it has no inertia about some axis".to_owned(),
            ),
        };
        let hint = match body.beam {
            Some(_) => {
                ": a slender beam turns about its own axis without inertia; give it a `polar_inertia_per_length`"
            }
            None => "",
        };
        Some(Problem { at, what: what + hint })
    }
}

/// As an error, with the names.
pub(super) fn named(model: &Model, singular: Singular) -> Error {
    let body = &model.system.bodies[singular.body];
    let what = match singular.what {
        What::Axis(axis) if axis < body.joint.nv => format!("joint \"{}\", axis {}", body.joint.name, axis + 1),
        What::Mode(mode) => format!("body \"{}\", mode {}", body.name, mode + 1),
        What::Axis(_) | What::Body => format!("body \"{}\"", body.name),
    };
    Error::Singular { what }
}
