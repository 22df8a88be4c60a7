use super::controller::Controller;
use super::coordinates::{Constrained, Coordinates};
use super::discrete::{Discrete, NONE_REFUSED, PER_CAPTURE, POSE};
use super::evaluation::Evaluation;
use super::linear::LinearLimit;
use super::outputs::Outputs;
use super::report::Report;
use crate::algebra::{Quaternion, Scalar};
use crate::loads::{Instant, Loads, Motor, SignalSource};
use crate::spec::{self, Spec, at};
use crate::system::{Declarations, Derived, Input, Kinematics, OrbitPoint, ParamId, Parameter, Quantity, System, Unit};
use crate::{Error, Problem};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::ops::Range;

/// Everything about a system that never changes: topology, names, layout.
#[derive(Clone, Debug)]
pub struct Model {
    /// What the user wrote.
    pub spec: Spec,
    /// The numbers that a host may change.
    pub parameters: Vec<Parameter>,
    /// The inputs that a host drives.
    pub inputs: Vec<Input>,
    /// The states: coordinates, rates, and the work if there are diagnostics.
    pub states: Vec<Quantity>,
    /// The states' derivatives.
    pub derivatives: Vec<Quantity>,
    /// The outputs.
    pub outputs: Vec<Output>,
    pub(super) system: System,
    /// What the states are.
    pub(super) coordinates: Coordinates,
    pub(super) loads: Loads,
    pub(super) controller: Option<Controller>,
    /// Where linear bending ends, of each flexible body.
    pub(super) limits: Vec<LinearLimit>,
    /// Where each input of the loads comes from.
    pub(super) sources: Vec<Source>,
    pub(super) signals: Vec<SignalSource>,
    pub(super) output_groups: Outputs,
}

/// States, or what goes with each of them.
pub(super) struct Parts<T> {
    /// Of joints and modes, or of bodies and modes.
    pub positions: T,
    /// Their rates.
    pub rates: T,
    /// Angles that count whole turns.
    pub windings: T,
    /// The work, if there are diagnostics.
    pub work: T,
}

/// An output: what the model computes for the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Name, unit, description.
    pub quantity: Quantity,
    /// How it moves.
    pub kind: OutputKind,
}

/// How an output moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// A real number that changes at any time.
    Continuous,
    /// A real number that changes at events only.
    Discrete,
    /// True (1) or false (0), and changes at events only.
    Flag,
}

/// Where an input of the loads comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Index of the host's input.
    Host(usize),
    /// Index of the signal inside the model.
    Signal(usize),
    /// Index of the signal whose rate it is.
    Rate(usize),
    /// Index of the signal whose second derivative it is.
    Acceleration(usize),
}

/// The file in `resources/`.
#[derive(Serialize, Deserialize)]
struct Compiled {
    format: u32,
    spec: Spec,
}

/// Beyond that the matrices of one step take hundreds of megabytes, and a step seconds.
const MOST_DENSE: usize = 2000;

/// Raised whenever the meaning of a compiled model changes.
const FORMAT: u32 = 1;

impl Model {
    /// Compiles a spec, and judges its numbers.
    ///
    /// # Errors
    /// [`Error::Spec`] with every problem found.
    pub fn compile(spec: &Spec) -> Result<Self, Error> {
        let (written, spec) = (spec, &*spec.with_rotors());
        let mut declare = Declarations::default();
        let system = System::compile(spec, &mut declare)?;
        let loads = Loads::compile(spec, &system, &mut declare)?;
        let controller = (spec.controller.as_ref()).map(|written| Controller::declare(written, &mut declare));
        let mut problems = Vec::new();
        let signals = signals(spec, &mut declare, &mut problems);
        let mut sources = Vec::with_capacity(declare.inputs.len());
        let mut inputs = Vec::new();
        for (slot, input) in declare.inputs.iter().enumerate() {
            if let Some(k) = signals.iter().position(|s| s.input == slot) {
                sources.push(Source::Signal(k));
            } else if let Some(k) = signals.iter().position(|s| s.rate_input == Some(slot)) {
                sources.push(Source::Rate(k));
            } else if let Some(k) = signals.iter().position(|s| s.acceleration_input == Some(slot)) {
                sources.push(Source::Acceleration(k));
            } else {
                sources.push(Source::Host(inputs.len()));
                inputs.push(input.clone());
            }
        }
        let coordinates = Coordinates::compile(spec, &system, &mut declare);
        let mut states = coordinates.states(&system);
        if spec.has_diagnostics() {
            states.push(Quantity::new(
                "system.work",
                Unit::Joule,
                "work done so far by torques, drives, ports, servos, friction and dampers (all loads without a potential)",
            ));
        }
        let method = spec.solver.method;
        if method.is_dense() && states.len() > MOST_DENSE {
            problems.push(Problem {
                at: at("solver", "", "method"),
                what: format!(
                    "{} solves for all states at once, there are {}, and {MOST_DENSE} are the most; did you mean \"dopri5\"?",
                    method.name(),
                    states.len()
                ),
            });
            return Err(Error::Spec(problems));
        }
        let derivatives = states.iter().map(derivative_of).collect();
        let limits = LinearLimit::of(&system);
        let output_groups = Outputs::compile(
            spec,
            &system,
            &loads,
            &limits,
            (&declare.inputs, &signals),
            controller.as_ref(),
        )?;
        let model = Self {
            spec: written.clone(),
            parameters: declare.parameters,
            inputs,
            states,
            derivatives,
            outputs: output_groups.declared.clone(),
            limits,
            system,
            coordinates,
            loads,
            controller,
            sources,
            signals,
            output_groups,
        };
        let values = model.parameter_starts();
        model.judge(&values, None, &mut problems);
        model.judge_start(&values, &mut problems);
        if problems.is_empty() {
            Ok(model)
        } else {
            Err(Error::Spec(problems))
        }
    }

    /// Reads and compiles a spec; tables are loaded from beside `directory`.
    ///
    /// # Errors
    /// [`Error::Spec`] with every problem found: those of the structure, and those of the numbers in all that is sound.
    pub fn read(text: &str, directory: &std::path::Path) -> Result<Self, Error> {
        let (mut spec, mut problems) = spec::parse(text, directory)?;
        if problems.is_empty() {
            let model = Self::compile(&spec)?;
            let mut evaluation = Evaluation::new(&model);
            problems.extend(evaluation.singular_at_start(&model));
            problems.extend(evaluation.inside_at_start(&model));
            problems.extend(evaluation.turned_at_start(&model));
            return if problems.is_empty() {
                Ok(model)
            } else {
                Err(Error::Spec(problems))
            };
        }
        remove_unsound(&mut spec, &problems);
        if let Err(Error::Spec(mut more)) = Self::compile(&spec) {
            more.retain(|problem| !problems.iter().any(|known| known.at == problem.at));
            problems.append(&mut more);
        }
        Err(Error::Spec(problems))
    }

    /// The bytes that go into an FMU's `resources/`: the spec as JSON, tables included.
    ///
    /// # Errors
    /// [`Error::Format`] if it cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let compiled = Compiled {
            format: FORMAT,
            spec: self.spec.clone(),
        };
        serde_json::to_vec_pretty(&compiled).map_err(|e| Error::Format(format!("the model cannot be written: {e}")))
    }

    /// Reads a compiled model.
    ///
    /// # Errors
    /// [`Error::Format`] if the bytes are none; [`Error::Spec`] if what they say makes no model.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let compiled: Compiled = serde_json::from_slice(bytes)
            .map_err(|e| Error::Format(format!("the compiled model cannot be read: {e}")))?;
        if compiled.format != FORMAT {
            return Err(Error::Format(format!(
                "the compiled model has format {}, this library reads format {FORMAT}",
                compiled.format
            )));
        }
        if let Some((input, _)) = compiled.spec.signal.iter().find(|(_, signal)| signal.file.is_some()) {
            return Err(Error::Format(format!(
                "signal \"{input}\": a compiled model has its tables in itself, and this one names a file"
            )));
        }
        spec::check(&compiled.spec)?;
        Self::compile(&compiled.spec)
    }

    /// The spec's values of all parameters.
    pub fn parameter_starts(&self) -> Vec<f64> {
        self.parameters.iter().map(|p| p.start).collect()
    }

    /// Bodies, joints and their place in the state.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// Number of event indicators: of ranges, linear limits, touches, motors and a controller's limits, and one that tells of commands if there are any.
    pub fn indicator_count(&self) -> usize {
        let controlled = self.controller.as_ref().map_or(0, Controller::indicator_count);
        self.watched_count() + controlled + usize::from(self.is_commanded())
    }

    /// Number of what a mode and an event indicator watch in the craft: ranges, linear limits, touches, limits of motors.
    pub(super) fn watched_count(&self) -> usize {
        self.first_motor() - self.signals.len() + self.loads.motors.len() * Motor::SIDES
    }

    /// Number of modes: pieces of signals, sides of ranges, sides of linear limits, touches, limits of motors, motions of joints, commands, captures, limits of a controller.
    pub fn mode_count(&self) -> usize {
        self.first_controlled() + self.controller.as_ref().map_or(0, |controller| controller.axes.len())
    }

    /// Number of discrete numbers.
    pub fn number_count(&self) -> usize {
        self.first_refused() + self.loads.drives.len()
    }

    /// Where the commands that were refused stand among the numbers.
    pub(super) fn first_refused(&self) -> usize {
        self.first_sample() + self.controller.as_ref().map_or(0, Controller::number_count)
    }

    /// Whether it is a controller whose outputs follow its inputs at every instant.
    pub fn follows_inputs(&self) -> bool {
        self.controller.is_some() && !self.is_sampled()
    }

    /// Whether it is a controller that samples.
    pub(super) fn is_sampled(&self) -> bool {
        self.controller.as_ref().is_some_and(Controller::is_sampled)
    }

    /// Whether there are commands, of which a host that knows no events has to be told.
    pub fn is_commanded(&self) -> bool {
        self.loads.switched() > 0 || !self.loads.strikes.is_empty()
    }

    /// Where the touches stand among the modes.
    pub(super) fn first_touch(&self) -> usize {
        self.signals.len() + self.loads.ranges.len() + self.limits.len()
    }

    /// Where the sides of motors stand among the modes.
    pub(super) fn first_motor(&self) -> usize {
        self.first_touch() + self.loads.touching().count()
    }

    /// Where the sides of a controller's torques stand among the modes.
    pub(super) fn first_controlled(&self) -> usize {
        self.first_capture() + self.loads.captures().count() * PER_CAPTURE
    }

    /// Of the modes, which limits motors are at.
    pub(super) fn motor_sides<'a>(&self, modes: &'a [i32]) -> &'a [i32] {
        &modes[self.first_motor()..]
    }

    /// Where the poses of captures stand among the numbers.
    pub(super) fn first_pose(&self) -> usize {
        self.loads.contacts.len() * Report::COUNT
    }

    /// Where the floors of touches stand among the numbers.
    pub(super) fn first_floor(&self) -> usize {
        self.first_pose() + self.loads.captures().count() * POSE
    }

    /// Where the motions of joints stand among the modes.
    pub(super) fn first_motion(&self) -> usize {
        self.signals.len() + self.watched_count()
    }

    /// Where the captures stand.
    pub(super) fn first_capture(&self) -> usize {
        self.first_command() + self.loads.strikes.len()
    }

    /// Where the commands stand that have risen.
    pub(super) fn first_command(&self) -> usize {
        self.first_motion() + self.loads.switched()
    }

    /// Of the modes, those of joints whose motion is switched.
    pub(super) fn motions<'a>(&self, modes: &'a [i32]) -> &'a [i32] {
        &modes[self.first_motion()..]
    }

    /// How the joints move at the start; nothing else has happened.
    pub(super) fn start_discrete(&self, discrete: &mut Discrete) {
        let Discrete { modes, numbers } = discrete;
        modes.fill(0);
        numbers.fill(0.0);
        numbers[self.first_refused()..].fill(NONE_REFUSED);
        let first = self.first_motion();
        for drive in &self.loads.drives {
            if let Some(mode) = drive.mode() {
                modes[first + mode] = drive.motion().number();
            }
        }
    }

    /// The parts of the states.
    pub(super) fn split<'a, S>(&self, x: &'a [S]) -> Parts<&'a [S]> {
        let (positions, rest) = x.split_at(self.coordinates.positions(&self.system));
        let (rates, rest) = rest.split_at(self.coordinates.rates(&self.system));
        let (windings, work) = rest.split_at(self.coordinates.windings());
        Parts {
            positions,
            rates,
            windings,
            work,
        }
    }

    /// Where the windings are among the states.
    pub(super) fn windings(&self) -> Range<usize> {
        let first = self.coordinates.positions(&self.system) + self.coordinates.rates(&self.system);
        first..first + self.coordinates.windings()
    }

    /// The same parts, to write.
    pub(super) fn split_mut<'a, S>(&self, x: &'a mut [S]) -> Parts<&'a mut [S]> {
        let (positions, rest) = x.split_at_mut(self.coordinates.positions(&self.system));
        let (rates, rest) = rest.split_at_mut(self.coordinates.rates(&self.system));
        let (windings, work) = rest.split_at_mut(self.coordinates.windings());
        Parts {
            positions,
            rates,
            windings,
            work,
        }
    }

    /// Judges the parameters' values, all at once, and gives the constants that follow from them.
    ///
    /// Of constants that were derived `before` of other values, what has not changed is kept.
    pub(super) fn judge(
        &self,
        values: &[f64],
        before: Option<(&[f64], &Derived)>,
        problems: &mut Vec<Problem>,
    ) -> Derived {
        let derived = self.system.derive(&self.parameters, values, before, problems);
        for (parameter, &value) in self.parameters.iter().zip(values) {
            let Quantity { name, unit, bound, .. } = &parameter.quantity;
            let wrong = if value.is_finite() {
                bound.broken_by(value)
            } else {
                Some("not finite".to_owned())
            };
            // Whoever derives constants from it may have said more about it.
            if let Some(wrong) = wrong.filter(|_| !problems.iter().any(|p| p.at == parameter.at)) {
                problems.push(Problem {
                    at: parameter.at.clone(),
                    what: format!("{name} = {} is {wrong}", unit.of(value)),
                });
            }
        }
        self.loads.judge((&self.parameters, &derived), values, problems);
        if let Some(controller) = &self.controller {
            controller.judge(&self.parameters, values, problems);
        }
        for signal in &self.signals {
            signal.judge(&self.parameters, values, problems);
        }
        derived
    }

    /// Complains of what does not start where it may.
    pub(super) fn judge_start(&self, values: &[f64], problems: &mut Vec<Problem>) {
        for signal in &self.signals {
            if let Some(start) = self.start_of(signal) {
                signal.judge_start(start, &self.parameters, values, problems);
            }
        }
        let mut q = vec![0.0; self.system.nq];
        let mut qd = vec![0.0; self.system.nv];
        self.start_coordinates(values, &mut q, &mut qd);
        for range in &self.loads.ranges {
            range.judge_start(&self.parameters, values, &q, problems);
        }
    }

    /// Where the axis starts that has the signal for its trajectory.
    fn start_of(&self, signal: &SignalSource) -> Option<ParamId> {
        signal.rate_input?;
        let (body, axis) = self.loads.axis_of(signal.input)?;
        let start = self.system.bodies[body].joint.q_start?;
        Some(ParamId(start.0 + axis))
    }

    /// The initial states, at the time `t` (s).
    pub(super) fn start<S: Scalar>(&self, derived: &Derived, t: f64, values: &[S], x: &mut [S]) {
        let (mut q, mut qd) = (vec![S::zero(); self.system.nq], vec![S::zero(); self.system.nv]);
        self.start_coordinates(values, &mut q, &mut qd);
        if let Some(orbit) = &derived.orbit {
            self.system.start_in_orbit(&orbit.at(t), &mut q, &mut qd);
        }
        let parts = self.split_mut(x);
        let states = (parts.positions, parts.rates, parts.windings);
        self.coordinates.write((&self.system, derived), (&q, &qd), states);
        parts.work.fill(S::zero());
    }

    /// The initial coordinates and rates of joints and modes, those of free bodies in the axes in which they are written.
    pub fn start_coordinates<S: Scalar>(&self, values: &[S], q: &mut [S], qd: &mut [S]) {
        for beam in &self.system.nodal {
            beam.start(values, q, qd);
        }
        for body in &self.system.bodies {
            if let (Some(modes), Some((eta, eta_dot))) = (&body.modes, body.modal_start()) {
                q[modes.coordinates()].copy_from_slice(&values[eta.0..eta.0 + modes.n]);
                qd[modes.rates()].copy_from_slice(&values[eta_dot.0..eta_dot.0 + modes.n]);
            }
            let joint = &body.joint;
            if body.joint.kind == spec::JointType::Free {
                // A node of a beam starts where it is at rest, and has no parameters that say so.
                q[joint.q] = S::one();
            }
            if let (Some(q_start), Some(v_start)) = (joint.q_start, joint.v_start) {
                q[joint.q..joint.q + joint.nq].copy_from_slice(&values[q_start.0..q_start.0 + joint.nq]);
                qd[joint.v..joint.v + joint.nv].copy_from_slice(&values[v_start.0..v_start.0 + joint.nv]);
                if matches!(joint.kind, spec::JointType::Free | spec::JointType::Spherical) {
                    let unit = Quaternion::from_slice(&q[joint.q..]).normalised();
                    q[joint.q..joint.q + 4].copy_from_slice(&unit.to_array());
                }
            }
        }
    }

    /// The inputs of the loads at the time `t` (s): the host's `u`, and the signals inside the model.
    pub(super) fn inputs_at<S: Scalar>(
        &self,
        parameters: &[f64],
        t: f64,
        (u, modes): (&[S], &[i32]),
        inputs: &mut [S],
    ) {
        for (input, source) in inputs.iter_mut().zip(&self.sources) {
            *input = match *source {
                Source::Host(i) => u[i],
                Source::Signal(k) => S::lift(self.signals[k].wave(parameters).value(modes[k], t)),
                Source::Rate(k) => S::lift(self.signals[k].wave(parameters).rate(modes[k], t)),
                Source::Acceleration(k) => S::lift(self.signals[k].wave(parameters).acceleration(modes[k], t)),
            };
        }
    }

    /// What the loads see of one instant: numbers, where the orbit and the bodies are, coordinates, rates and inputs; nothing is fed forward.
    pub(super) fn instant<'a, S: Scalar>(
        &'a self,
        (derived, parameters): (&'a Derived, &'a [f64]),
        (orbit, kinematics): (Option<&'a OrbitPoint>, &'a Kinematics<S>),
        (q, qd, inputs): (&'a [S], &'a [S], &'a [S]),
        modes: &'a [i32],
    ) -> Instant<'a, S> {
        Instant {
            system: &self.system,
            derived,
            parameters,
            orbit,
            kinematics,
            q,
            qd,
            inputs,
            motions: self.motions(modes),
            motor_sides: self.motor_sides(modes),
            feed_forward: &[],
        }
    }

    /// Whether each state is a mode's amplitude or its rate.
    pub(super) fn amplitudes(&self) -> Vec<bool> {
        let mut amplitudes = vec![false; self.states.len()];
        let Parts { positions, rates, .. } = self.split_mut(&mut amplitudes);
        for (i, body) in self.system.bodies.iter().enumerate() {
            if let Some(modes) = &body.modes {
                let [q, v] = self.coordinates.of_modes(i, modes);
                positions[q..q + modes.n].fill(true);
                rates[v..v + modes.n].fill(true);
            }
        }
        amplitudes
    }

    /// The states from which a coordinate of a joint or a mode follows.
    pub(super) fn states_of(&self, coordinate: usize) -> Vec<usize> {
        let Coordinates::Maximal(Constrained { layout, .. }) = &self.coordinates else {
            return vec![coordinate];
        };
        let has = |start: usize, n: usize| (start..start + n).contains(&coordinate);
        let bodies = self.system.bodies.iter().enumerate();
        let mut states = Vec::new();
        for (i, body) in bodies {
            if let Some(modes) = body.modes.as_ref().filter(|modes| has(modes.q, modes.n)) {
                states.push(self.coordinates.of_modes(i, modes)[0] + coordinate - modes.q);
            }
            if has(body.joint.q, body.joint.nq) {
                let both = body.parent.into_iter().chain([i]);
                states.extend(both.flat_map(|i| layout.position(i)..layout.position(i + 1)));
            }
        }
        states
    }

    /// Whether each parameter is an initial state, and nothing else.
    pub(super) fn is_start(&self) -> Vec<bool> {
        let mut is_start = vec![false; self.parameters.len()];
        let mut mark = |id: ParamId, n: usize| is_start[id.0..id.0 + n].fill(true);
        for beam in &self.system.nodal {
            // Its attitude is where the axes of its points are counted from, too.
            mark(ParamId(beam.q_start.0 + 4), 3);
            mark(beam.v_start, 6);
            mark(beam.off_straight, beam.n);
        }
        for body in &self.system.bodies {
            if let (Some(modes), Some((eta, eta_dot))) = (&body.modes, body.modal_start()) {
                mark(eta, modes.n);
                mark(eta_dot, modes.n);
            }
            let joint = &body.joint;
            if let (Some(q_start), Some(v_start)) = (joint.q_start, joint.v_start) {
                mark(q_start, joint.nq);
                mark(v_start, joint.nv);
            }
        }
        is_start
    }
}

/// Takes out what has structural problems, and what depends on it, so that the numbers of the rest can be judged.
fn remove_unsound(spec: &mut Spec, problems: &[Problem]) {
    // A joint whose only problem is its parent stands on the world meanwhile.
    let about_parent = |problem: &Problem| problem.at.get(2).is_some_and(|field| field == "parent");
    for (name, joint) in &mut spec.joint {
        if problems.iter().any(|p| p.concerns("joint", name) && about_parent(p)) {
            joint.parent = spec::WORLD.to_owned();
        }
    }
    let sound = |section: &str, name: &str| {
        !problems
            .iter()
            .any(|p| p.concerns(section, name) && !(section == "joint" && about_parent(p)))
    };
    let written = owners(spec);
    spec.nodal_beam.retain(|name, _| sound("nodal_beam", name));
    let (bodies, beams) = (&spec.body, &spec.nodal_beam);
    spec.frame.retain(|name, frame| {
        sound("frame", name) && (bodies.contains_key(&frame.body) || beams.contains_key(&frame.body))
    });
    let frames: HashSet<String> = spec.frames().cloned().chain([spec::WORLD.to_owned()]).collect();
    let stand = |names: &[&String]| names.iter().all(|name| frames.contains(*name));
    spec.measure
        .retain(|name, measure| sound("measure", name) && stand(&[&measure.from, &measure.to]));
    spec.grasp
        .retain(|name, grasp| sound("grasp", name) && stand(&[&grasp.a, &grasp.b]));
    if let Some(controller) = &mut spec.controller {
        controller
            .joint
            .retain(|name, _| !problems.iter().any(|problem| of_controlled(problem, name)));
    }
    spec.port
        .retain(|name, port| sound("port", name) && stand(&[&port.frame]));
    spec.thruster
        .retain(|name, thruster| sound("thruster", name) && stand(&[&thruster.frame]));
    spec.wheel
        .retain(|name, wheel| sound("wheel", name) && sound("body", &wheel.body));
    spec.contact
        .retain(|name, contact| sound("contact", name) && stand(&[&contact.a, &contact.b]));
    spec.line_load.retain(|name, _| sound("line_load", name));
    spec.joint.retain(|name, _| sound("joint", name));
    let left = owners(spec);
    spec.signal.retain(|input, _| {
        let owner = input.split('.').next().unwrap_or(input);
        (left.contains(owner) || !written.contains(owner))
            && sound("body", owner)
            && sound("signal", input)
            && !problems.iter().any(|problem| of_controlled(problem, owner))
    });
    for (name, body) in &mut spec.body {
        let of = |part: &str| {
            let mut own = problems.iter().filter(|p| p.concerns("body", name));
            own.any(|p| p.at.get(2).is_some_and(|field| field == part))
        };
        if of("beam") {
            body.beam = None;
            let bare = |load: &spec::LineLoad| load.body == *name;
            spec.line_load.retain(|_, load| !bare(load));
        }
        if of("modal") {
            body.modal = None;
        }
        if of("director_beam") {
            body.director_beam = None;
        }
        let lost = |servo: &spec::AttitudeServo| servo.wheels.iter().any(|wheel| !spec.wheel.contains_key(wheel));
        if of("attitude_servo") || body.attitude_servo.as_deref().is_some_and(lost) {
            body.attitude_servo = None;
        }
    }
}

/// The names of what has inputs, but for bodies.
fn owners(spec: &Spec) -> HashSet<String> {
    let acting = spec
        .port
        .keys()
        .chain(spec.thruster.keys())
        .chain(spec.line_load.keys());
    let holding = spec.contact.keys().chain(spec.grasp.keys());
    let moving = spec.joint.keys().chain(spec.wheel.keys());
    acting.chain(holding).chain(moving).cloned().collect()
}

/// Whether a problem is one of a joint under control.
fn of_controlled(problem: &Problem, joint: &str) -> bool {
    problem.concerns("controller", "joint") && problem.at.get(2).is_some_and(|at| at == joint)
}

/// The signals that run inside the model; complains of those that drive nothing.
fn signals(spec: &Spec, declare: &mut Declarations, problems: &mut Vec<Problem>) -> Vec<SignalSource> {
    let mut signals = Vec::new();
    for (input, signal) in &spec.signal {
        let names = declare.inputs.iter().map(|i| &i.quantity.name);
        match names.clone().position(|name| name == input) {
            None => problems.push(Problem {
                at: at("signal", input, ""),
                what: spec::unknown("input", input, names),
            }),
            Some(slot) if !signal.from_host => signals.push(SignalSource::declare(signal, slot, declare)),
            Some(_) => {}
        }
    }
    signals
}

fn derivative_of(state: &Quantity) -> Quantity {
    let unit = match state.unit {
        Unit::Metre => Unit::MetrePerSecond,
        Unit::Radian => Unit::RadianPerSecond,
        Unit::MetrePerSecond => Unit::MetrePerSecond2,
        Unit::RadianPerSecond => Unit::RadianPerSecond2,
        Unit::Joule => Unit::Watt,
        Unit::PerSecond => Unit::PerSecond2,
        _ if [".slope[", ".d1[", ".d2[", ".d3["]
            .iter()
            .any(|part| state.name.contains(part)) =>
        {
            Unit::PerSecond
        }
        _ if state.name.contains(".q[") => Unit::Hertz, // of a quaternion's part: 1/s
        _ => Unit::One,                                 // of a mode's amplitude or rate, whose units have half powers
    };
    Quantity {
        nominal: state.nominal,
        ..Quantity::new(
            format!("der({})", state.name),
            unit,
            format!("derivative of {}", state.description),
        )
    }
}
