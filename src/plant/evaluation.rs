use super::Discrete;
use super::closure::Closure;
use super::context::{Constants, ConstantsOf, OperatingPoint};
use super::coordinates::{Constrained, Coordinates};
use super::feed_forward::{At, FeedForward};
use super::frame_kinematics::FrameWorkspace;
use super::guided::Guidance;
use super::impulse::LockWorkspace;
use super::model::{Model, Source};
use super::parts::Parts;
use super::task::Tasks;
use crate::Error;
use crate::algebra::{Quaternion, Scalar};
use crate::dynamics::invariants::Invariants;
use crate::dynamics::{Applied, Dynamics};
use crate::elements::{Elements, EventContext, Hold, Instant, Sensed, View};
use crate::system::{Baumgarte, JointState, Kinematics, OrbitPoint, Recovered, SystemMotion};
use num_traits::Zero;

/// Computation of derivatives and outputs from states and inputs, with its workspace.
///
/// It is generic over the scalar: dual numbers give exact derivatives.
#[derive(Clone, Debug)]
pub(super) struct Evaluation<S: Scalar> {
    pub(super) kinematics: Kinematics<S>,
    /// Coordinates and rates of joints, recovered from the states; `None` if they are the states.
    pub(super) recovered: Option<Box<Recovered<S>>>,
    pub(super) applied: Applied<S>,
    pub(super) dynamics: Dynamics<S>,
    /// State of the reference orbit at the present time.
    pub(super) orbit: Option<OrbitPoint<S>>,
    /// Spacecraft with undeformed bodies, for the servos' feed-forward and for tasks; `None` if
    /// there are neither.
    pub(super) feed_forward: Option<Box<FeedForward<S>>>,
    /// Task-space control; `None` if there is none.
    pub(super) tasks: Option<Box<Tasks<S>>>,
    /// Law of a controller's tasks; `None` if there are none.
    pub(super) guidance: Option<Box<Guidance<S>>>,
    /// Jacobians of frames; `None` if there are no such outputs.
    pub(super) frames: Option<Box<FrameWorkspace<S>>>,
    /// Constraints of captures and loops; `None` if the model can have neither.
    pub(super) closure: Option<Box<Closure<S>>>,
    pub(super) inputs: Vec<S>,
    pub(super) q_WB: Vec<Quaternion<S>>,
    /// Momenta and energy if these and [`q_WB`](Self::q_WB) are given, for adjoint derivatives;
    /// `None` if the outputs are computed from the kinematics.
    pub(super) invariants: Option<Invariants<S>>,
    /// Derivatives of the rates of joints and modes, used if they are not states or if the model has
    /// sensors.
    pub(super) qdd: Vec<S>,
    /// Derivatives of the states, for the torques that hold joints which stick, for contacts that
    /// rest and for samples of sensors; empty without these.
    dx: Vec<S>,
    /// Workspace for locking joints.
    pub(super) lock: LockWorkspace,
    /// Number of evaluations of the derivatives so far.
    pub(super) count: u64,
}

impl<S: Scalar> Evaluation<S> {
    /// Allocates the workspace for a model.
    pub fn new(model: &Model) -> Self {
        let system = &model.system;
        Self {
            kinematics: Kinematics::new(system),
            recovered: model.coordinates.workspace(system),
            applied: Applied::none(system),
            dynamics: Dynamics::new(system, &model.spec),
            orbit: None,
            feed_forward: FeedForward::new(model),
            tasks: Tasks::new(model),
            guidance: Guidance::new(model),
            frames: FrameWorkspace::new(model),
            closure: Closure::new(model),
            inputs: vec![S::zero(); model.inputs_of_loads()],
            q_WB: vec![Quaternion::identity(); system.bodies.len()],
            invariants: None,
            qdd: vec![S::zero(); system.nv],
            dx: match is_solved_alone(model) {
                false => Vec::new(),
                true => vec![S::zero(); model.states.len()],
            },
            lock: LockWorkspace::new(model),
            count: 0,
        }
    }

    /// Computes the states' derivatives `dx` at an operating point.
    ///
    /// # Errors
    /// [`Error::Singular`] if an axis moves no inertia, [`Error::SingularLoop`] in a singular
    /// position.
    pub fn derivative(&mut self, of: ConstantsOf<S>, at: OperatingPoint<S>, dx: &mut [S]) -> Result<(), Error> {
        self.count += 1;
        self.read_inputs(of, at.t, at.u, at.x, at.discrete);
        self.derivative_with_inputs(of, at.x, at.discrete, dx)
    }

    /// [`read_inputs`](Self::read_inputs) with the values of signals and of the reference orbit of
    /// another evaluation, `values`, at the same time.
    pub(super) fn copy_inputs(&mut self, of: ConstantsOf<S>, t: f64, values: &Evaluation<f64>, u: &[S], x: &[S]) {
        let model = of.model;
        let inputs = self.inputs.iter_mut().zip(&model.sources).zip(&values.inputs);
        for ((input, source), &value) in inputs {
            *input = match *source {
                Source::Importer(i) => u[i],
                Source::Signal(_) | Source::Rate(_) | Source::Acceleration(_) => S::lift(value),
                Source::Task => S::zero(),
            };
        }
        if !model.states_in_loads().is_empty() {
            self.inputs[model.sources.len()..].copy_from_slice(&x[model.states_in_loads()]);
        }
        self.orbit = values.orbit.as_ref().map(OrbitPoint::lift);
        OrbitPoint::read_positions(self.orbit.as_mut(), &self.inputs);
        if let Some(guidance) = &mut self.guidance {
            guidance.set_orbit(of.derived, |orbit| orbit.at(t).lift());
        }
    }

    /// Computes the states' derivatives `dx` with the inputs and the orbit of the last
    /// [`read_inputs`](Self::read_inputs).
    pub(super) fn derivative_with_inputs(
        &mut self,
        of: ConstantsOf<S>,
        x: &[S],
        discrete: &Discrete,
        dx: &mut [S],
    ) -> Result<(), Error> {
        let power = self.load_at(of, x, discrete)?;
        self.accelerate(of, x, discrete, Balance::of(power), dx)
    }

    /// Fills the kinematics and the loads at the states `x`, with the inputs and the orbit of the
    /// last [`read_inputs`](Self::read_inputs); returns the loads' power, W.
    ///
    /// # Errors
    /// Those of a feed-forward, and of positions of Sun and Moon.
    #[inline]
    pub(super) fn load_at(&mut self, of: ConstantsOf<S>, x: &[S], discrete: &Discrete) -> Result<S, Error> {
        OrbitPoint::check_positions(self.orbit.as_ref())?;
        self.update_kinematics(of, x);
        let at = joint_coordinates(self.recovered.as_deref(), &of.model.split(x));
        let mut now = instant(of, self.orbit.as_ref(), &self.kinematics, at, &[], discrete);
        if let Some(rigid) = self.feed_forward.as_deref_mut() {
            control(of, (now, discrete), self.tasks.as_deref_mut(), rigid, &mut self.inputs)?;
            now.feed_forward = &rigid.torques;
        }
        now.inputs = &self.inputs;
        let power = of.model.elements.evaluate(&now, &mut self.applied);
        self.guide(of, discrete)?;
        Ok(power)
    }

    /// Computes the outputs of the tasks of a controller with the inputs and the orbit of the last
    /// [`read_inputs`](Self::read_inputs), unless those of a sample hold.
    ///
    /// # Errors
    /// Those of the law.
    #[inline]
    fn guide(&mut self, of: ConstantsOf<S>, discrete: &Discrete) -> Result<(), Error> {
        match &mut self.guidance {
            Some(guidance) if !discrete.holds_guidance() => guidance.update(of, &self.inputs),
            _ => Ok(()),
        }
    }

    /// Reads the importer's inputs `u` and the currents among the states `x`, and evaluates signals
    /// and the reference orbit at the time `t` (s).
    pub(super) fn read_inputs(&mut self, of: ConstantsOf<S>, t: f64, u: &[S], x: &[S], discrete: &Discrete) {
        of.model
            .inputs_at(of.parameters, S::Constant::number(t), u, discrete, &mut self.inputs);
        if !of.model.states_in_loads().is_empty() {
            self.inputs[of.model.sources.len()..].copy_from_slice(&x[of.model.states_in_loads()]);
        }
        self.orbit = of.derived.orbit.as_ref().map(|orbit| orbit.at(t).lift());
        OrbitPoint::read_positions(self.orbit.as_mut(), &self.inputs);
        if let Some(guidance) = &mut self.guidance {
            guidance.set_orbit(of.derived, |orbit| orbit.at(t).lift());
        }
    }

    /// Fills the loads at the present kinematics, for these coordinates and rates of joints and
    /// modes; returns their power, W.
    pub(super) fn load(&mut self, of: ConstantsOf<S>, at: JointState<S>, discrete: &Discrete) -> Result<S, Error> {
        let now = instant(of, self.orbit.as_ref(), &self.kinematics, at, &[], discrete);
        if let Some(rigid) = self.feed_forward.as_deref_mut() {
            control(of, (now, discrete), self.tasks.as_deref_mut(), rigid, &mut self.inputs)?;
        }
        self.load_controlled(&of.model.elements, of, at, discrete)
    }

    /// [`load`](Self::load) by other elements than the model's, in which some are left out, with the
    /// present references of tasks and torques of feed-forward.
    pub(super) fn load_controlled(
        &mut self,
        elements: &Elements,
        of: ConstantsOf<S>,
        at: JointState<S>,
        discrete: &Discrete,
    ) -> Result<S, Error> {
        OrbitPoint::check_positions(self.orbit.as_ref())?;
        let mut now = instant(of, self.orbit.as_ref(), &self.kinematics, at, &self.inputs, discrete);
        if let Some(rigid) = &self.feed_forward {
            now.feed_forward = &rigid.torques;
        }
        let power = elements.evaluate(&now, &mut self.applied);
        self.guide(of, discrete)?;
        Ok(power)
    }

    /// Computes the states' derivatives under the loads in `applied`, at the
    /// [kinematics](Self::update_kinematics_with) of the states `x`.
    pub(super) fn accelerate(
        &mut self,
        of: ConstantsOf<S>,
        x: &[S],
        discrete: &Discrete,
        balance: Balance<S>,
        dx: &mut [S],
    ) -> Result<(), Error> {
        let Constants {
            model,
            derived,
            parameters,
        } = of;
        let Balance { mut power, stabilises } = balance;
        let (system, here) = (&model.system, model.split(x));
        let JointState { q, qd } = joint_coordinates(self.recovered.as_deref(), &here);
        let to = model.split_mut(dx);
        let qdd = match model.coordinates {
            Coordinates::Minimal => &mut *to.rates,
            Coordinates::Maximal(_) | Coordinates::Velocities(_) => self.qdd.as_mut_slice(),
        };
        let (kinematics, applied) = (&self.kinematics, &mut self.applied);
        let at = of.at(kinematics);
        self.dynamics
            .solve(at, applied, q, &mut *qdd)
            .map_err(|singular| model.named(singular))?;
        if let Some(closure) = &mut self.closure {
            let engine = Engine {
                kinematics,
                applied: &mut *applied,
                dynamics: &mut self.dynamics,
            };
            closure.hold(of, stabilises, discrete, engine, JointState { q, qd }, &mut *qdd)?;
            power += closure.drawing;
        }
        power += self.dynamics.drive(at, applied, qd, qdd);
        if let Some(work) = to.work.first_mut() {
            *work = power;
        }
        if !to.currents.is_empty() {
            let circuits = model.elements.circuits(parameters, &self.inputs, discrete);
            for (circuit, (to, &i)) in circuits.zip(to.currents.iter_mut().zip(here.currents)) {
                *to = circuit.current_rate(i, qd[circuit.rate], S::Constant::zero());
            }
        }
        model.elements.unwind(parameters, &self.inputs, to.unwound);
        if !to.masses.is_empty() {
            let joints = JointState { q, qd };
            let now = instant(of, self.orbit.as_ref(), kinematics, joints, &self.inputs, discrete);
            model.elements.draw(&now, to.masses);
        }
        match &model.coordinates {
            Coordinates::Minimal => {
                system.q_dot(derived, q, qd, to.positions);
                if !model.elements.sensors.is_empty() {
                    self.qdd.copy_from_slice(to.rates);
                }
            }
            Coordinates::Velocities(_) => {
                system.q_dot(derived, q, qd, to.positions);
                system.velocities_dot(derived, kinematics, self.dynamics.A(), to.rates);
            }
            Coordinates::Maximal(Constrained { layout, .. }) => {
                let motion = SystemMotion {
                    A: self.dynamics.A(),
                    qd,
                    qdd: self.qdd.as_slice(),
                };
                let baumgarte = match stabilises {
                    true => model.coordinates.baumgarte::<S>(parameters),
                    false => Baumgarte::NONE,
                };
                layout.derivative(
                    of.mechanism(),
                    kinematics,
                    motion,
                    baumgarte,
                    here.maximal(),
                    to.maximal(),
                );
            }
        }
        Ok(())
    }

    /// Passes the data from which outputs are computed to `to`, after
    /// [`derivative`](Self::derivative) at the same states and discrete state.
    pub(super) fn with_view<T>(
        &mut self,
        of: ConstantsOf<S>,
        x: &[S],
        discrete: &Discrete,
        to: impl FnOnce(&View<S>) -> T,
    ) -> T {
        let Constants { model, derived, .. } = of;
        let system = &model.system;
        let recovered = self.recovered.as_deref();
        let at = joint_coordinates(recovered, &model.split(x));
        let q_WB = match (&model.coordinates, recovered) {
            (Coordinates::Maximal(_), Some(recovered)) => recovered.q_WB.as_slice(),
            _ => {
                if self.invariants.is_none() {
                    system.attitudes(derived, at.q, &mut self.q_WB);
                }
                &self.q_WB
            }
        };
        let now = Instant {
            feed_forward: self.feed_forward.as_ref().map_or(&[], |of| &of.torques),
            ..self.instant(of, at, discrete)
        };
        to(&View {
            now,
            dynamics: &self.dynamics,
            qdd: &self.qdd,
            applied: &self.applied,
            q_WB,
            recovered,
            elements: &model.elements,
            discrete,
            velocities: matches!(model.coordinates, Coordinates::Velocities(_)).then_some(model.split(x).rates),
            closed: self.closure.as_ref().map_or(&[], |closure| &closure.state),
            points: self.closure.as_ref().map_or(&[], |closure| closure.points()),
            tasks: self.tasks.as_ref().map_or(&[], |tasks| &tasks.states),
            guidance: self.guidance.as_ref().map_or(&[], |guidance| &guidance.outputs),
            invariants: self.invariants.as_ref(),
            energies: None,
            omits_frames: false,
        })
    }

    /// Computes the outputs `y`, after [`derivative`](Self::derivative) at the same states and
    /// discrete state.
    pub fn outputs(&mut self, of: ConstantsOf<S>, x: &[S], discrete: &Discrete, y: &mut [S]) {
        let (y, effective) = y.split_at_mut(of.model.first_effective_mass());
        self.observe(of, x, discrete, y);
        self.effective_masses(of, discrete, effective);
    }

    /// [`outputs`](Self::outputs) without the effective masses.
    pub(super) fn observe(&mut self, of: ConstantsOf<S>, x: &[S], discrete: &Discrete, y: &mut [S]) {
        let model = of.model;
        let (y, frames) = y.split_at_mut(model.first_of_frames());
        self.with_view(of, x, discrete, |view| model.elements.observe(view, y));
        self.frame_kinematics(of, frames);
    }

    /// Returns coordinates and rates of joints and modes at the states `x`. If they have to be
    /// recovered, the kinematics are updated.
    pub(super) fn coordinates<'a>(&'a mut self, of: ConstantsOf<S>, x: &'a [S]) -> JointState<'a, S> {
        if self.recovered.is_some() {
            self.update_kinematics(of, x);
        }
        joint_coordinates(self.recovered.as_deref(), &of.model.split(x))
    }

    /// Fills the kinematics at the states `x`.
    pub(super) fn update_kinematics(&mut self, of: ConstantsOf<S>, x: &[S]) {
        self.update_kinematics_with(of, of.model.coordinates.baumgarte::<S>(of.parameters), x);
    }

    /// Fills the kinematics at the states `x`, with the given stabilisation of joints' constraint
    /// violations.
    pub(super) fn update_kinematics_with(&mut self, of: ConstantsOf<S>, baumgarte: Baumgarte, x: &[S]) {
        let Constants { model, derived, .. } = of;
        let (system, here) = (&model.system, model.split(x));
        self.fill_tanks(of, here.masses);
        match (&model.coordinates, &mut self.recovered) {
            (Coordinates::Maximal(constrained), Some(recovered)) => {
                self.kinematics.recover(
                    of.mechanism(),
                    &constrained.layout,
                    baumgarte,
                    here.maximal(),
                    recovered,
                );
            }
            (Coordinates::Velocities(_), Some(recovered)) => {
                self.kinematics
                    .follow(of.mechanism(), baumgarte, here.positions, here.rates, recovered);
            }
            _ => self.kinematics.update(system, derived, here.positions, here.rates),
        }
    }

    /// Fills the masses of propellants, relative to their starts.
    #[inline(always)]
    pub(super) fn fill_tanks(&mut self, of: ConstantsOf<S>, masses: &[S]) {
        let propellants = of.model.system.propellant.iter().zip(masses);
        for (fill, (&body, &mass)) in self.kinematics.fills.iter_mut().zip(propellants) {
            *fill = mass / S::lift(of.derived.bodies[body].m);
        }
    }

    /// Returns the data on which the loads depend, at the present kinematics, without feed-forward.
    pub(super) fn instant<'a>(
        &'a self,
        of: ConstantsOf<'a, S>,
        at: JointState<'a, S>,
        discrete: &'a Discrete,
    ) -> Instant<'a, S> {
        instant(of, self.orbit.as_ref(), &self.kinematics, at, &self.inputs, discrete)
    }
}

/// Returns true if the dynamics are solved outside an evaluation of the derivatives: for the torques
/// that hold joints which stick, for contacts that rest and for samples of sensors.
fn is_solved_alone(model: &Model) -> bool {
    let elements = &model.elements;
    !elements.sticking.is_empty() || !elements.sensors.is_empty() || elements.rest_points() > 0
}

/// Power of the loads, and the treatment of constraint violations.
#[derive(Clone, Copy)]
pub(super) struct Balance<S> {
    /// Power of the loads, W.
    pub power: S,
    /// True if constraint violations are stabilised; false for the velocity jumps of an impulse.
    pub stabilises: bool,
}

impl<S> Balance<S> {
    /// Creates the balance of loads with this `power` (W), with constraint violations stabilised.
    pub fn of(power: S) -> Self {
        Self {
            power,
            stabilises: true,
        }
    }
}

impl Balance<f64> {
    /// Velocity jumps of an impulse: no power, no stabilisation.
    pub const IMPULSE: Self = Self {
        power: 0.0,
        stabilises: false,
    };
}

/// Kinematics, loads and dynamics of one evaluation, borrowed together.
pub(super) struct Engine<'a, S: Scalar> {
    pub kinematics: &'a Kinematics<S>,
    pub applied: &'a mut Applied<S>,
    pub dynamics: &'a mut Dynamics<S>,
}

/// Returns the data on which the loads depend, without feed-forward.
pub(super) fn instant<'a, S: Scalar>(
    of: ConstantsOf<'a, S>,
    orbit: Option<&'a OrbitPoint<S>>,
    kinematics: &'a Kinematics<S>,
    at: JointState<'a, S>,
    inputs: &'a [S],
    discrete: &'a Discrete,
) -> Instant<'a, S> {
    Instant {
        system: &of.model.system,
        derived: of.derived,
        parameters: of.parameters,
        orbit,
        kinematics,
        q: at.q,
        qd: at.qd,
        inputs,
        motions: &discrete.motions,
        motors: &discrete.motors,
        voltages: &discrete.voltages,
        sliding: &discrete.sliding,
        empty: &discrete.empty,
        rests: &discrete.rests,
        feed_forward: &[],
    }
}

/// Computes the references of tasks, among the `inputs`, and the torques of feed-forward at the
/// instant `now`, whose own inputs are not read.
pub(super) fn control<S: Scalar>(
    of: ConstantsOf<S>,
    (now, discrete): (Instant<S>, &Discrete),
    tasks: Option<&mut Tasks<S>>,
    rigid: &mut FeedForward<S>,
    inputs: &mut [S],
) -> Result<(), Error> {
    if let Some(tasks) = tasks {
        tasks.command(of.model, rigid, now, &discrete.samples, inputs)?;
    }
    if rigid.has_servos {
        rigid.update(of.model, &Instant { inputs, ..now }, At::Reference)?;
    }
    Ok(())
}

/// Returns coordinates and rates of joints and modes: the recovered ones, or those in the states
/// `x`.
pub(super) fn joint_coordinates<'a, S: Scalar>(
    recovered: Option<&'a Recovered<S>>,
    x: &Parts<&'a [S]>,
) -> JointState<'a, S> {
    let (q, qd) = recovered.map_or((x.positions, x.rates), |recovered| (&recovered.q, &recovered.qd));
    JointState { q, qd }
}

impl Evaluation<f64> {
    /// Returns the inputs of the loads at the time `t` (s), without currents.
    pub(super) fn inputs(&mut self, of: Constants, t: f64, u: &[f64], discrete: &Discrete) -> &[f64] {
        of.model.inputs_at(of.parameters, t, u, discrete, &mut self.inputs);
        &self.inputs[..of.model.sources.len()]
    }

    /// Solves the dynamics at an operating point: for the torques that hold joints which stick, as
    /// torques of drives, and for samples of sensors.
    ///
    /// # Errors
    /// Those of [`derivative`](Self::derivative).
    pub(super) fn solve(&mut self, of: Constants, at: OperatingPoint) -> Result<(), Error> {
        let mut dx = std::mem::take(&mut self.dx);
        let found = self.derivative(of, at, &mut dx);
        self.dx = dx;
        found
    }

    /// Returns the data on which event indicators and limit states depend, as far as an element
    /// watches them, at the time `t` (s), states `x` and the importer's inputs `u`. `is_solved` is true
    /// after [`derivative`](Self::derivative) at this point. If it is false, joints do not stick and
    /// points do not rest, or the derivative has failed.
    pub(super) fn event_context<'a>(
        &'a mut self,
        of: Constants<'a>,
        t: f64,
        x: &'a [f64],
        u: &[f64],
        discrete: &Discrete,
        is_solved: bool,
    ) -> EventContext<'a> {
        let Constants {
            model,
            derived,
            parameters,
        } = of;
        let watched = model.elements.watches();
        let mut frictions = model.elements.sticking.iter();
        let holds = is_solved && watched.holds && frictions.any(|friction| friction.holds(discrete));
        let rests = is_solved && watched.points && discrete.rests.iter().any(|state| state.hold != Hold::Free);
        if !is_solved && (watched.kinematics || self.recovered.is_some()) {
            self.update_kinematics(of, x);
        }
        if !is_solved && watched.inputs {
            self.read_inputs(of, t, u, x, discrete);
        }
        let orbit = self.orbit.as_ref().filter(|_| watched.inputs);
        let parts = model.split(x);
        let joints = joint_coordinates(self.recovered.as_deref(), &parts);
        let rigid = self.feed_forward.as_deref_mut();
        if let Some(feed_forward) = rigid.filter(|_| watched.inputs && !is_solved) {
            let now = instant(of, orbit, &self.kinematics, joints, &[], discrete);
            // The evaluation of the derivatives reports a failure. No torques of an earlier evaluation
            // remain.
            let tasks = self.tasks.as_deref_mut();
            if control(of, (now, discrete), tasks, feed_forward, &mut self.inputs).is_err() {
                feed_forward.torques.fill(0.0);
            }
        }
        let inputs: &[f64] = if watched.inputs { &self.inputs } else { &[] };
        let feed_forward = self.feed_forward.as_ref().filter(|_| watched.inputs);
        EventContext {
            t,
            system: &model.system,
            kinematics: &self.kinematics,
            sensed: Sensed {
                derived,
                parameters,
                orbit,
                inputs,
                q: joints.q,
                qd: joints.qd,
                feed_forward: feed_forward.map_or(&[], |of| &of.torques),
            },
            masses: parts.masses,
            hold: if holds { &self.dynamics.drive } else { &[] },
            points: match &self.closure {
                Some(closure) if rests => closure.points(),
                _ => &[],
            },
        }
    }
}
