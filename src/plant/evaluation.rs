use super::Discrete;
use super::closure::Closure;
use super::coordinates::{Constrained, Coordinates};
use super::feed_forward::FeedForward;
use super::model::{Model, Parts};
use super::numbers::Numbers;
use super::outputs::View;
use crate::Error;
use crate::algebra::{Quaternion, Scalar};
use crate::dynamics::{Applied, Dynamics};
use crate::loads::{Instant, Sensed};
use crate::system::{Baumgarte, Derived, Kinematics, OrbitPoint, Recovered};

/// The way from states and inputs to derivatives and outputs, with the room for it.
///
/// Generic over the scalar: with dual numbers the same way gives exact derivatives.
#[derive(Clone, Debug)]
pub(super) struct Evaluation<S: Scalar> {
    pub(super) kinematics: Kinematics<S>,
    /// Coordinates and rates of joints, where they are not the states.
    pub(super) recovered: Option<Box<Recovered<S>>>,
    pub(super) applied: Applied<S>,
    pub(super) dynamics: Dynamics<S>,
    /// Where the reference orbit has led the world.
    pub(super) orbit: Option<OrbitPoint<S>>,
    /// What servos feed forward, if one does.
    feed_forward: Option<Box<FeedForward<S>>>,
    /// What keeps captures and loops, if there can be any.
    pub(super) closure: Option<Box<Closure<S>>>,
    pub(super) inputs: Vec<S>,
    q_WB: Vec<Quaternion<S>>,
    /// The derivatives of the rates of joints and modes, where they are not the states'.
    pub(super) qdd: Vec<S>,
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
            orbit: None,
            feed_forward: FeedForward::new(model),
            closure: Closure::new(model),
            inputs: vec![S::zero(); model.sources.len()],
            q_WB: vec![Quaternion::identity(); system.bodies.len()],
            qdd: vec![S::zero(); system.nv],
        }
    }

    /// The states' derivatives `dx` at the time `t` (s), the states `x` and the host's inputs `u`.
    ///
    /// # Errors
    /// [`Error::Singular`] if something moves no inertia, [`Error::SingularLoop`].
    pub fn derivative(
        &mut self,
        model: &Model,
        (derived, parameters): (&Derived, &[f64]),
        t: f64,
        (x, u, discrete): (&[S], &[S], &Discrete),
        dx: &mut [S],
    ) -> Result<(), Error> {
        self.read_inputs(model, (derived, parameters), t, (u, discrete));
        self.follow(model, (derived, parameters), (x, discrete), dx)
    }

    /// The same with inputs, signals and the orbit as they are.
    pub(super) fn follow(
        &mut self,
        model: &Model,
        (derived, parameters): (&Derived, &[f64]),
        (x, discrete): (&[S], &Discrete),
        dx: &mut [S],
    ) -> Result<(), Error> {
        self.update_kinematics(model, (derived, parameters), x);
        let here = model.split(x);
        let at = joint_coordinates(self.recovered.as_deref(), &here);
        let around = (self.orbit.as_ref(), &self.kinematics, self.inputs.as_slice());
        let to = (self.feed_forward.as_deref_mut(), &mut self.applied);
        let power = load(model, (derived, parameters), around, (at, discrete), to)?;
        self.accelerate(model, Numbers { derived, parameters }, true, (power, discrete), x, dx)
    }

    /// Takes the inputs, and what signals and the orbit are at the time `t` (s).
    pub(super) fn read_inputs(
        &mut self,
        model: &Model,
        (derived, parameters): (&Derived, &[f64]),
        t: f64,
        (u, discrete): (&[S], &Discrete),
    ) {
        model.inputs_at(parameters, t, (u, discrete), &mut self.inputs);
        self.orbit = derived.orbit.as_ref().map(|orbit| orbit.at(t).lift());
    }

    /// Fills the loads where the kinematics are, for these coordinates and rates of joints; gives their power, W.
    pub(super) fn load(
        &mut self,
        model: &Model,
        numbers: (&Derived, &[f64]),
        at: ((&[S], &[S]), &Discrete),
    ) -> Result<S, Error> {
        let around = (self.orbit.as_ref(), &self.kinematics, self.inputs.as_slice());
        load(
            model,
            numbers,
            around,
            at,
            (self.feed_forward.as_deref_mut(), &mut self.applied),
        )
    }

    /// The states' derivatives under the loads in `applied`, of this `power` (W), where the states have their [kinematics](Self::update_kinematics_with). Unless
    /// it `stabilises`, constraint violations stay as they are, as for the velocity jumps of an impulse.
    pub(super) fn accelerate(
        &mut self,
        model: &Model,
        numbers: Numbers,
        stabilises: bool,
        (mut power, discrete): (S, &Discrete),
        x: &[S],
        dx: &mut [S],
    ) -> Result<(), Error> {
        let Numbers { derived, parameters } = numbers;
        let (system, here) = (&model.system, model.split(x));
        let (q, qd) = joint_coordinates(self.recovered.as_deref(), &here);
        let to = model.split_mut(dx);
        let qdd = match model.coordinates {
            Coordinates::Minimal => &mut *to.rates,
            Coordinates::Maximal(_) | Coordinates::Velocities(_) => self.qdd.as_mut_slice(),
        };
        let (kinematics, applied) = (&self.kinematics, &mut self.applied);
        self.dynamics
            .solve(system, derived, kinematics, applied, (q, &mut *qdd))
            .map_err(|singular| model.named(singular))?;
        if let Some(closure) = &mut self.closure {
            let of = (kinematics, &mut *applied, &mut self.dynamics);
            closure.hold(model, numbers, stabilises, discrete, of, (q, &mut *qdd))?;
        }
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
                let baumgarte = match stabilises {
                    true => model.coordinates.baumgarte(parameters),
                    false => Baumgarte::NONE,
                };
                layout.derivative(
                    system,
                    kinematics,
                    accelerations,
                    baumgarte,
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
        (x, discrete): (&[S], &Discrete),
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
        let numbers = (derived, parameters);
        let around = (self.orbit.as_ref(), &self.kinematics);
        let now = Instant {
            feed_forward: self.feed_forward.as_ref().map_or(&[], |of| &of.torques),
            ..model.instant(numbers, around, (q, qd, &self.inputs), discrete)
        };
        let view = View {
            now,
            dynamics: &self.dynamics,
            applied: &self.applied,
            q_WB,
            recovered,
            model,
            discrete,
            closed: self.closure.as_ref().map_or(&[], |closure| &closure.state),
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
            self.update_kinematics(model, (derived, parameters), x);
        }
        joint_coordinates(self.recovered.as_deref(), &model.split(x))
    }

    /// Fills the kinematics, for the states as they are.
    pub(super) fn update_kinematics(&mut self, model: &Model, (derived, parameters): (&Derived, &[f64]), x: &[S]) {
        self.update_kinematics_with(model, derived, model.coordinates.baumgarte(parameters), x);
    }

    /// Fills the kinematics, with gaps stabilised in this way.
    pub(super) fn update_kinematics_with(&mut self, model: &Model, derived: &Derived, baumgarte: Baumgarte, x: &[S]) {
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

/// Fills the loads; gives their power, W.
fn load<S: Scalar>(
    model: &Model,
    numbers: (&Derived, &[f64]),
    (orbit, kinematics, inputs): (Option<&OrbitPoint<S>>, &Kinematics<S>, &[S]),
    ((q, qd), discrete): ((&[S], &[S]), &Discrete),
    (feed_forward, applied): (Option<&mut FeedForward<S>>, &mut Applied<S>),
) -> Result<S, Error> {
    let mut now = model.instant(numbers, (orbit, kinematics), (q, qd, inputs), discrete);
    if let Some(feed_forward) = feed_forward {
        feed_forward.update(model, &now)?;
        now.feed_forward = &feed_forward.torques;
    }
    Ok(model.loads.evaluate(&now, applied))
}

/// Coordinates and rates of joints and modes.
pub(super) fn joint_coordinates<'a, S: Scalar>(
    recovered: Option<&'a Recovered<S>>,
    x: &Parts<&'a [S]>,
) -> (&'a [S], &'a [S]) {
    recovered.map_or((x.positions, x.rates), |recovered| (&recovered.q, &recovered.qd))
}

impl Evaluation<f64> {
    /// The inputs of the loads at the time `t` (s), whoever drives them.
    pub(super) fn inputs(&mut self, model: &Model, parameters: &[f64], t: f64, u: (&[f64], &Discrete)) -> &[f64] {
        model.inputs_at(parameters, t, u, &mut self.inputs);
        &self.inputs
    }

    /// What servos see at the time `t` (s).
    pub(super) fn sensed<'a>(
        &'a mut self,
        model: &Model,
        (derived, parameters): (&'a Derived, &'a [f64]),
        t: f64,
        (x, u, discrete): (&'a [f64], &[f64], &Discrete),
    ) -> Sensed<'a, f64> {
        model.inputs_at(parameters, t, (u, discrete), &mut self.inputs);
        self.orbit = derived.orbit.as_ref().map(|orbit| orbit.at(t));
        if self.recovered.is_some() {
            self.update_kinematics(model, (derived, parameters), x);
        }
        let (q, qd) = joint_coordinates(self.recovered.as_deref(), &model.split(x));
        if let Some(feed_forward) = &mut self.feed_forward {
            let numbers = (derived, parameters);
            let around = (self.orbit.as_ref(), &self.kinematics);
            let now = model.instant(numbers, around, (q, qd, &self.inputs), discrete);
            // Where it has no solution, neither have the derivatives: they say so.
            let _ = feed_forward.update(model, &now);
        }
        Sensed {
            derived,
            parameters,
            orbit: self.orbit.as_ref(),
            inputs: &self.inputs,
            q,
            qd,
            feed_forward: self.feed_forward.as_ref().map_or(&[], |of| &of.torques),
        }
    }
}
