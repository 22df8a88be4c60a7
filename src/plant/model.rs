use super::Discrete;
use super::controller::Controller;
use super::coordinates::{Constrained, Coordinates};
use super::deflection_limit::DeflectionLimit;
use super::layout::Layout;
use super::outputs::{Compiled, Outputs};
use crate::algebra::Scalar;
use crate::dynamics::{Singular, SingularPart};
use crate::loads::{Loads, SignalSource};
use crate::spec::{self, Method, Spec, at};
use crate::system::{Bound, Declarations, Derived, Input, MaximalState, ParamId, Parameter, Quantity, System, Unit};
use crate::{Error, Problem};
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
    /// Where linear bending ends, of each beam or segment of one.
    pub(super) limits: Vec<DeflectionLimit>,
    /// Where each input of the loads comes from.
    pub(super) sources: Vec<Source>,
    pub(super) signals: Vec<SignalSource>,
    pub(super) output_groups: Outputs,
    /// When a run is no longer true.
    pub monitor: Monitor,
    /// Of modes, discrete numbers and event indicators.
    pub(super) layout: Layout,
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

impl<T> Parts<T> {
    /// Returns the states in maximal coordinates.
    pub fn maximal(self) -> MaximalState<T> {
        MaximalState {
            positions: self.positions,
            rates: self.rates,
            windings: self.windings,
        }
    }
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

/// Places among the parameters of the limits beyond which a run is stopped.
#[derive(Clone, Copy, Debug)]
pub struct Monitor {
    constraint_violation: Option<ParamId>,
    energy_balance: Option<ParamId>,
}

impl Monitor {
    fn declare(spec: &Spec, loads: &Loads, declare: &mut Declarations) -> Self {
        let mut limit = |field: &str, unit: Unit, value: f64, what: &str| {
            let quantity = Quantity::new(format!("monitor.{field}"), unit, what).bounded(Bound::Positive);
            declare.parameter(quantity, value, true, &at("monitor", "", field))
        };
        let written = &spec.monitor;
        Self {
            constraint_violation: (loads.closures() > 0).then(|| {
                let what = "largest constraint violation of a loop or a capture in Co-Simulation, m and rad";
                limit("constraint_violation", Unit::One, written.constraint_violation, what)
            }),
            energy_balance: spec.has_diagnostics().then(|| {
                let what = "largest error of the energy balance in Co-Simulation, as a part of the largest kinetic energy and work";
                limit("energy_balance", Unit::One, written.energy_balance, what)
            }),
        }
    }

    /// The largest constraint violation, m and rad.
    pub fn constraint_violation(&self, parameters: &[f64]) -> f64 {
        self.constraint_violation
            .map_or(f64::INFINITY, |limit| limit.of(parameters))
    }

    /// The largest error of the energy balance, as a part of the largest kinetic energy and work.
    pub fn energy_balance(&self, parameters: &[f64]) -> f64 {
        self.energy_balance.map_or(f64::INFINITY, |limit| limit.of(parameters))
    }
}

/// Beyond that the matrices of one step take hundreds of megabytes, and a step seconds.
const MOST_DENSE: usize = 2000;

impl Model {
    /// Compiles a spec, and judges its numbers.
    ///
    /// # Errors
    /// [`Error::Spec`] with every problem found.
    pub fn compile(spec: &Spec) -> Result<Self, Error> {
        Self::compile_and_derive(spec).map(|(model, _)| model)
    }

    /// The same, with the constants that follow from the spec's values.
    pub(super) fn compile_and_derive(spec: &Spec) -> Result<(Self, Derived), Error> {
        let (written, spec) = (spec, &*spec.with_rotors());
        let mut declare = Declarations::default();
        let system = System::compile(spec, &mut declare)?;
        let mut problems = Vec::new();
        let loads = Loads::compile(spec, &system, &mut declare, &mut problems);
        let controller = (spec.controller.as_ref()).map(|written| Controller::declare(written, &mut declare));
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
                "work done so far by torques, drives, ports, thrusters, motors, servos, grasps, impulses, friction, dampers and gravity in orbit (all loads without a potential)",
            ));
        }
        let monitor = Monitor::declare(spec, &loads, &mut declare);
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
        let limits = DeflectionLimit::of(&system);
        let compiled = Compiled {
            system: &system,
            loads: &loads,
            limits: &limits,
            inputs: &declare.inputs,
            signals: &signals,
            controller: controller.as_ref(),
        };
        let output_groups = Outputs::compile(spec, compiled, &mut problems);
        let layout = Layout::new(&loads, limits.len(), controller.as_ref());
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
            monitor,
            layout,
        };
        let values = model.parameter_starts();
        let derived = model.judge(&values, None, &mut problems);
        model.judge_start(&values, &mut problems);
        if problems.is_empty() {
            Ok((model, derived))
        } else {
            Err(Error::Spec(problems))
        }
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
        self.layout.indicators
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
    pub fn has_commands(&self) -> bool {
        self.loads.are_commanded()
    }

    /// What moves no inertia, as an error with the names.
    pub(super) fn named(&self, singular: Singular) -> Error {
        let body = &self.system.bodies[singular.body];
        let what = match singular.what {
            SingularPart::Axis(axis) if axis < body.joint.nv => {
                format!("joint \"{}\", axis {}", body.joint.name, axis + 1)
            }
            SingularPart::Mode(mode) => format!("body \"{}\", mode {}", body.name, mode + 1),
            SingularPart::Axis(_) | SingularPart::Body => format!("body \"{}\"", body.name),
        };
        Error::Singular { what }
    }

    /// Kind and name of a capture or a loop, by its number: captures first.
    pub fn closure_name(&self, number: usize) -> String {
        self.loads.closure_name(number)
    }

    /// Where the rates are among the states.
    pub fn rates(&self) -> Range<usize> {
        let first = self.coordinates.positions(&self.system);
        first..first + self.coordinates.rates(&self.system)
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
        self.loads.judge(&self.parameters, &derived, values, problems);
        let solver = &self.spec.solver;
        if let (Method::LinearlyImplicit, Some(step)) = (solver.method, solver.step) {
            self.loads.judge_gains(step, &self.parameters, values, problems);
        }
        if let Some(controller) = &self.controller {
            controller.judge(&self.parameters, values, problems);
        }
        for signal in &self.signals {
            signal.judge(&self.parameters, values, problems);
        }
        derived
    }

    /// Writes the inputs of the loads at the time `t` (s): the importer's `u`, and the signals inside
    /// the model.
    pub(super) fn inputs_at<S: Scalar>(
        &self,
        parameters: &[f64],
        t: f64,
        u: &[S],
        discrete: &Discrete,
        inputs: &mut [S],
    ) {
        let wave = |k: usize| self.signals[k].wave(parameters);
        for (input, source) in inputs.iter_mut().zip(&self.sources) {
            *input = match *source {
                Source::Host(i) => u[i],
                Source::Signal(k) => S::lift(wave(k).value(discrete.segments[k], t)),
                Source::Rate(k) => S::lift(wave(k).rate(discrete.segments[k], t)),
                Source::Acceleration(k) => S::lift(wave(k).acceleration(discrete.segments[k], t)),
            };
        }
    }

    /// How fast an input of the loads changes by itself at the time `t` (s): a signal's rate, while the host's stay.
    pub(super) fn rate_of(&self, source: &Source, parameters: &[f64], t: f64, discrete: &Discrete) -> f64 {
        let wave = |k: usize| self.signals[k].wave(parameters);
        match *source {
            Source::Host(_) => 0.0,
            Source::Signal(k) => wave(k).rate(discrete.segments[k], t),
            Source::Rate(k) => wave(k).acceleration(discrete.segments[k], t),
            Source::Acceleration(k) => wave(k).jerk(discrete.segments[k], t),
        }
    }

    /// Whether each state may jump at an event: rates and the work, where something locks or strikes.
    pub fn jumps(&self) -> Vec<bool> {
        let mut jumps = vec![false; self.states.len()];
        let Parts { rates, work, .. } = self.split_mut(&mut jumps);
        let has_impulses = self.loads.have_impulses();
        rates.fill(has_impulses);
        work.fill(has_impulses);
        jumps
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
            Some(slot) if !signal.from_importer => signals.push(SignalSource::declare(signal, slot, declare)),
            Some(_) => {}
        }
    }
    signals
}

fn derivative_of(state: &Quantity) -> Quantity {
    Quantity {
        nominal: state.nominal,
        ..Quantity::new(
            format!("der({})", state.name),
            state.unit.rate(),
            format!("derivative of {}", state.description),
        )
    }
}
