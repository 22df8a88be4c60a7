//! Feed-forward of servos: torques with which the rigid spacecraft tracks its references.

use super::base_rates::BaseRates;
use super::model::Model;
use crate::Error;
use crate::algebra::{Pose, Scalar, Sym3, Twist, Vec3, Wrench};
use crate::dynamics::recursive::ForwardDynamics;
use crate::dynamics::{Applied, driven};
use crate::elements::{AttitudeServo, Elements, Fed, Grasp, Instant, MotorState, Task};
use crate::system::{Carrier, Configuration, Derived, FrameRef, Kinematics, System};
use std::sync::Arc;

/// Inverse dynamics of the spacecraft with undeformed bodies: joints and attitudes with
/// feed-forward have their reference positions, rates and accelerations, all others their present
/// state and the accelerations by their loads. For tasks all have their present state
/// ([`At::Present`]), and a free-floating base its rates without the reaction to vibrations.
///
/// A base without feed-forward moves freely under all loads, those of its servo or wheels included.
/// Torque limits of the motors that exert the feed-forward do not count. ANCF beams in grasps are
/// rigid parts of the bodies that hold them ([`Derived::with_held_beams`]). Contacts and captures
/// are left out; the wrenches that tasks measure act in place of them.
#[derive(Clone, Debug)]
pub(super) struct FeedForward<S: Scalar> {
    /// All loads except contacts and the grasps that hold ANCF beams.
    elements: Arc<Elements>,
    pub kinematics: Kinematics<S>,
    pub applied: Applied<S>,
    pub dynamics: ForwardDynamics<S>,
    pub q: Vec<S>,
    pub qd: Vec<S>,
    pub qdd: Vec<S>,
    inputs: Vec<S>,
    motors: Vec<MotorState>,
    /// Measured wrench of each [force sensor](Elements::force_sensors), about the origin of the
    /// task's frame and in its axes.
    pub measured: Vec<Wrench<S>>,
    /// For tasks of flexible spacecraft on free-floating bases.
    pub base_rates: Option<BaseRates<S>>,
    /// True if a servo has feed-forward.
    pub has_servos: bool,
    /// Torque of each rate, N·m or N; zero without feed-forward. That of an attitude is in body
    /// axes.
    pub torques: Vec<S>,
    /// For adjoint derivatives of tasks.
    pub kept: Option<Box<Kept<S>>>,
}

/// Another rigid model, by which tasks are computed in place of that of the servos, with all its
/// solutions: that at the present state, then the response to the unit acceleration of each axis.
#[derive(Clone, Debug)]
pub(super) struct Kept<S: Scalar> {
    pub rigid: FeedForward<S>,
    pub solutions: Solutions<S>,
}

/// Solutions of a rigid model.
#[derive(Clone, Debug)]
pub(super) struct Solutions<S: Scalar> {
    /// Accelerations of all bodies and rates in each one.
    A: Vec<Twist<S>>,
    qdd: Vec<S>,
    /// Inputs of the loads of the first one, its loads and torques.
    pub inputs: Vec<S>,
    applied: Applied<S>,
    torques: Vec<S>,
}

impl<S: Scalar> Kept<S> {
    /// Allocates for a model; `None` without tasks.
    pub fn new(model: &Model) -> Option<Box<Self>> {
        let (system, tasks) = (&model.system, &model.elements.tasks);
        let rigid = FeedForward::new(model).filter(|_| !tasks.is_empty())?;
        let most = 1 + tasks.iter().map(|task| task.axes.len()).sum::<usize>();
        let solutions = Solutions {
            A: Vec::with_capacity(most * system.bodies.len()),
            qdd: Vec::with_capacity(most * system.nv),
            inputs: vec![S::zero(); model.inputs_of_loads()],
            applied: Applied::none(system),
            torques: vec![S::zero(); system.nv],
        };
        let rigid = *rigid;
        Some(Box::new(Self { rigid, solutions }))
    }

    /// Sets the rigid model to its first solution.
    pub fn restore(&mut self) {
        let Self { rigid, solutions } = self;
        let (bodies, rates) = (rigid.dynamics.A.len(), rigid.qdd.len());
        rigid.dynamics.A.copy_from_slice(&solutions.A[..bodies]);
        rigid.qdd.copy_from_slice(&solutions.qdd[..rates]);
        rigid.applied.copy_from(&solutions.applied);
        rigid.torques.copy_from_slice(&solutions.torques);
    }
}

impl<S: Scalar> Solutions<S> {
    /// Returns the accelerations of bodies and rates in response number `k`.
    pub fn response(&self, k: usize) -> (&[Twist<S>], &[S]) {
        let of = |n: usize| (k + 1) * n..(k + 2) * n;
        (
            &self.A[of(self.applied.wrench.len())],
            &self.qdd[of(self.torques.len())],
        )
    }

    /// Keeps the first solution of the `rigid` model, with these inputs of the loads.
    pub fn begin(&mut self, rigid: &FeedForward<S>, inputs: &[S]) {
        self.A.clear();
        self.qdd.clear();
        self.add(rigid);
        self.inputs.copy_from_slice(inputs);
        self.applied.copy_from(&rigid.applied);
        self.torques.copy_from_slice(&rigid.torques);
    }

    /// Keeps the next one.
    pub fn add(&mut self, rigid: &FeedForward<S>) {
        self.A.extend_from_slice(&rigid.dynamics.A);
        self.qdd.extend_from_slice(&rigid.qdd);
    }
}

/// Positions and rates of joints and attitudes with feed-forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// Those of their references, for the torques of servos.
    Reference,
    /// The present ones, for the motion of frames.
    Present,
}

impl<S: Scalar> FeedForward<S> {
    /// Allocates the workspace; `None` if the model has neither servos with feed-forward nor tasks.
    pub fn new(model: &Model) -> Option<Box<Self>> {
        let system = &model.system;
        if !model.elements.need_rigid_model() {
            return None;
        }
        Some(Box::new(Self {
            elements: Arc::new(model.elements.without_contacts_and_held_beams()),
            kinematics: Kinematics::new(system),
            applied: Applied::none(system),
            dynamics: ForwardDynamics::rigid(system),
            q: vec![S::zero(); system.nq],
            qd: vec![S::zero(); system.nv],
            qdd: vec![S::zero(); system.nv],
            inputs: vec![S::zero(); model.inputs_of_loads()],
            motors: vec![MotorState::default(); model.elements.motors.len()],
            measured: vec![Wrench::zero(); model.elements.force_sensors().count()],
            base_rates: BaseRates::new(system).filter(|_| !model.elements.tasks.is_empty()),
            has_servos: model.elements.fed_inputs().next().is_some(),
            torques: vec![S::zero(); system.nv],
            kept: None,
        }))
    }

    /// Leaves gravity out of the loads: its adjoint derivatives are not recorded.
    pub fn omit_gravity(&mut self) {
        self.elements = Arc::new(self.elements.without_gravity());
    }

    /// Returns true if a load depends on the deflection of a flexible body otherwise than by the
    /// motion of its stations.
    pub fn reads_deflections(&self) -> bool {
        self.elements.read_deflections()
    }

    /// Sets coordinates and rates to those of the spacecraft at the instant `now`, without
    /// deformation; those of joints and attitudes with feed-forward as `place` says. Their servos
    /// and motors do not act, since the computed torques take their place.
    fn set_state(&mut self, model: &Model, now: &Instant<S>, place: At) {
        self.q.copy_from_slice(now.q);
        self.qd.copy_from_slice(now.qd);
        self.inputs.copy_from_slice(now.inputs);
        self.motors.copy_from_slice(now.motors);
        for modes in model.system.flexible() {
            self.q[modes.coordinates()].fill(S::zero());
            self.qd[modes.rates()].fill(S::zero());
        }
        for fed in model.elements.fed().filter(|fed| fed.is_on(&model.elements, now)) {
            // The switch selects here too, so that dependencies on it are traced.
            let is_on = now.inputs[fed.switch].exceeds(0.5);
            let tracked = if place == At::Reference { fed.axes } else { 0 };
            for i in 0..tracked {
                let (q, qd) = (&mut self.q[fed.coordinate + i], &mut self.qd[fed.rate + i]);
                *q = S::select(is_on, now.inputs[fed.q_ref + i], *q);
                *qd = S::select(is_on, now.inputs[fed.qd_ref + i], *qd);
            }
            self.inputs[fed.switch] = S::zero();
            if let Some(tau) = fed.tau {
                self.inputs[tau..tau + fed.axes].fill(S::zero());
            }
            if let Some(motors) = fed.motors.clone() {
                self.motors[motors].fill(MotorState::default());
            }
        }
        for servo in model.elements.fed_attitudes().filter(|servo| servo.is_on(now.inputs)) {
            if place == At::Reference {
                let is_on = now.inputs[servo.switch].exceeds(0.5);
                let (q, w, _) = servo.reference(&now.sensed());
                let attitude = self.q[servo.coordinate..].iter_mut().zip([q.w, q.x, q.y, q.z]);
                let velocity = self.qd[servo.rate..].iter_mut().zip([w.x, w.y, w.z]);
                for (state, reference) in attitude.chain(velocity) {
                    *state = S::select(is_on, reference, *state);
                }
            }
            self.inputs[servo.switch] = S::zero();
            let motors = self.motors.iter_mut().zip(&model.elements.motors);
            let wheels = motors.filter(|(_, motor)| motor.turns(servo.body));
            wheels.for_each(|(state, _)| *state = MotorState::default());
        }
    }

    /// Computes accelerations and torques at the instant `now` of the spacecraft.
    ///
    /// # Errors
    /// [`Error::Singular`] if an axis, mode or body has no inertia.
    pub fn update(&mut self, model: &Model, now: &Instant<S>, place: At) -> Result<(), Error> {
        self.begin(model, now, place);
        let (system, derived) = (&model.system, constants(now));
        self.kinematics.update(system, derived, &self.q, &self.qd);
        if let (At::Present, Some(base_rates)) = (place, &mut self.base_rates) {
            let of = |kinematics| Configuration {
                system,
                derived,
                kinematics,
            };
            base_rates.correct((of(now.kinematics), now.qd), of(&self.kinematics), &mut self.qd);
            self.kinematics.update(system, derived, &self.q, &self.qd);
        }
        self.load(model, now);
        let applied = &self.applied;
        let at = Configuration {
            system,
            derived,
            kinematics: &self.kinematics,
        };
        self.dynamics
            .solve(at, applied, &mut self.qdd)
            .map_err(|singular| model.named(singular))?;
        self.torques.fill(S::zero());
        for servo in attitudes(model, now) {
            let (.., wd) = servo.reference(&now.sensed());
            let R_WB = &self.kinematics.bodies[servo.body].R_WB;
            let moment = self.dynamics.turn(servo.body, &(R_WB * wd));
            let moment = R_WB.tr_mul(&moment.map_err(|singular| model.named(singular))?);
            self.torques[servo.rate..servo.rate + 3].copy_from_slice(moment.as_slice());
        }
        if attitudes(model, now).next().is_some() {
            self.dynamics.carry_on(at, &mut self.qdd);
        }
        for fed in fed(model, now) {
            if let Some(F) = self.dynamics.transmitted(system, fed.body) {
                for v in fed.rate..fed.rate + fed.axes {
                    self.torques[v] = driven(at, applied, &F, v, self.qdd[v]);
                }
            }
        }
        Ok(())
    }

    /// Computes the accelerations of the spacecraft at rest, without loads, for the derivative 1 of
    /// a driven `rate`, and the moments that hold attitudes with feed-forward. Requires
    /// [`update`](Self::update), and loads that are [cleared](Applied::clear).
    pub fn respond_to_drive(&mut self, model: &Model, now: &Instant<S>, rate: usize) {
        let at = Configuration {
            system: &model.system,
            derived: constants(now),
            kinematics: &self.kinematics,
        };
        self.dynamics.respond_to_drive(at, &self.applied, rate, &mut self.qdd);
        let mut is_held = false;
        for servo in attitudes(model, now) {
            if let Ok(moment) = self.dynamics.turn(servo.body, &Vec3::zeros()) {
                let moment = self.kinematics.bodies[servo.body].R_WB.tr_mul(&moment);
                self.torques[servo.rate..servo.rate + 3].copy_from_slice(moment.as_slice());
                is_held = true;
            }
        }
        if is_held {
            self.dynamics.carry_on(at, &mut self.qdd);
        }
    }

    /// Returns the accelerations of the carriers of the frames of a task beyond `A_bias`.
    pub fn accelerations_of(&self, system: &System, task: &Task) -> [Twist<S>; 2] {
        task.frames.map(|frame| {
            let on = system.carrier(frame);
            self.kinematics.beyond_bias_of(system, on, &self.dynamics.A, &self.qdd)
        })
    }

    /// Sets coordinates, rates, inputs and masses for [`update`](Self::update).
    pub fn begin(&mut self, model: &Model, now: &Instant<S>, place: At) {
        self.set_state(model, now, place);
        // The loads set `driven` of joints with a drive only; for the others it is reset here, in
        // case their servo was switched off.
        for fed in model.elements.fed().filter(|fed| fed.drive.is_none()) {
            self.applied.driven[fed.body] = false;
        }
        self.kinematics.fills.copy_from_slice(&now.kinematics.fills);
    }

    /// Evaluates the loads and the prescribed motions at the present kinematics.
    pub fn load(&mut self, model: &Model, now: &Instant<S>) {
        let rigid = Instant {
            kinematics: &self.kinematics,
            q: &self.q,
            qd: &self.qd,
            inputs: &self.inputs,
            motors: &self.motors,
            feed_forward: &[],
            derived: constants(now),
            ..*now
        };
        self.elements.evaluate(&rigid, &mut self.applied);
        for (sensor, F) in model.elements.force_sensors().zip(&self.measured) {
            sensor.push(rigid.configuration(), F, &mut self.applied);
        }
        for fed in fed(model, now) {
            self.applied.driven[fed.body] = true;
            let rates = fed.rate..fed.rate + fed.axes;
            let qdd = &now.inputs[fed.qdd_ref..fed.qdd_ref + fed.axes];
            self.applied.qdd[rates].copy_from_slice(qdd);
        }
    }
}

/// Returns the constants of the bodies of the rigid model.
pub(super) fn constants<'a, S: Scalar>(now: &Instant<'a, S>) -> &'a Derived<S::Constant> {
    now.derived.with_held_beams.as_deref().unwrap_or(now.derived)
}

/// Returns the servos of joints whose feed-forward is on.
pub(super) fn fed<'a, S: Scalar>(model: &'a Model, now: &Instant<'a, S>) -> impl Iterator<Item = &'a Fed> {
    let now = *now;
    (model.elements.fed()).filter(move |fed| fed.is_on(&model.elements, &now))
}

/// Returns the servos of attitudes whose feed-forward is on.
pub(super) fn attitudes<'a, S: Scalar>(
    model: &'a Model,
    now: &Instant<'a, S>,
) -> impl Iterator<Item = &'a AttitudeServo> {
    let inputs = now.inputs;
    (model.elements.fed_attitudes()).filter(move |servo| servo.is_on(inputs))
}

/// Returns the constants with the ANCF beams of grasps added to the bodies that hold them; `None`
/// if there are neither servos with feed-forward nor tasks, or no grasp holds a beam.
///
/// A beam is straight, along x of the gripper, with the grasped point at the gripper's origin,
/// where the grasp has no load.
pub(super) fn with_held_beams(elements: &Elements, system: &System, derived: &Derived) -> Option<Arc<Derived>> {
    if !elements.need_rigid_model() {
        return None;
    }
    let mut grasps = elements.grasps.iter().filter_map(Grasp::held_beam).peekable();
    grasps.peek()?;
    let mut rigid = derived.clone();
    for (gripper, point) in grasps {
        let Carrier::Body(body) = system.carrier(gripper) else {
            continue;
        };
        let X = match gripper {
            FrameRef::Frame(frame) => derived.frames[frame].X_BF,
            _ => Pose::identity(),
        };
        let (along, elements) = (
            X.R.column(0).into_owned(),
            &derived.nodal[system.points[point].beam].elements,
        );
        let mut x = -derived.sites[point].place(elements);
        let held = &mut rigid.bodies[body];
        for element in elements {
            let m = element.l * element.mass_per_length;
            let c = X.p + along * (x + 0.5 * element.l);
            held.m += m;
            held.h += c * m;
            held.J_Bo = held.J_Bo + Sym3::point_mass(m, &c) + Sym3::point_mass(m / 12.0, &(along * element.l));
            x += element.l;
        }
        held.p_BoBcm = held.h / held.m;
        held.I_Bcm = held.J_Bo - Sym3::point_mass(held.m, &held.p_BoBcm);
    }
    Some(Arc::new(rigid))
}
