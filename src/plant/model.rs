use super::coordinates::{Constrained, Coordinates};
use super::guided::Guided;
use super::parts::Parts;
use super::{feed_forward, plan};
use crate::algebra::{Scalar, square};
use crate::dynamics::{Singular, SingularPart};
use crate::elements::{Controller, Discrete, Elements, Output, Tank, Tether, Values};
use crate::spec::{Method, Spec, at, problem, unknown};
use crate::system::{Bound, Declarations, Derived, Input, ParamId, Parameter, Quantity, System, Unit};
use crate::{Error, Problem};
use indexmap::IndexMap;
use std::ops::Range;
use std::sync::Arc;

/// Constant data of a system: topology, names, layout.
#[derive(Clone, Debug)]
pub struct Model {
    /// Spec as written by the user.
    pub spec: Box<Spec>,
    /// Parameters that the importer may change.
    pub parameters: Vec<Parameter>,
    /// Inputs that the importer sets.
    pub inputs: Vec<Input>,
    /// States: positions, rates, currents of motors with inductance, unwound lengths of tethers, masses
    /// of propellants, unwrapped angles in maximal coordinates, and the work if there are diagnostics.
    pub states: Vec<Quantity>,
    /// Derivatives of the states.
    pub derivatives: Vec<Quantity>,
    /// Magnitude of each state, in its unit, below which the tolerance of Co-Simulation is absolute:
    /// its nominal value, except for modal states.
    pub(crate) scales: Vec<f64>,
    /// Sum of the squares of the scales of modal rates, kg·m²/s².
    pub(crate) modal_scale: f64,
    /// Outputs.
    pub outputs: Vec<Output>,
    pub(super) system: System,
    /// Choice of the coordinates that are the states.
    pub(super) coordinates: Coordinates,
    /// Loads, constraints, signals, outputs.
    pub(crate) elements: Elements,
    /// Pairs of the index of a flag among the outputs and a coordinate on which it depends.
    pub(super) flags: Vec<(usize, usize)>,
    /// Range of the currents among the states.
    pub(super) currents: Range<usize>,
    /// Range of the unwound lengths of tethers among the states.
    pub(super) unwound: Range<usize>,
    /// For each input of the loads, the origin of its value: the importer, or a signal of the model.
    /// The currents and the unwound lengths among the states are further inputs of the loads.
    pub(super) sources: Vec<Source>,
    /// Limits beyond which a run is stopped.
    pub monitor: Monitor,
    /// Spacecraft of a controller with tasks; `None` for other specs.
    pub(super) guided: Option<Box<Guided>>,
}

/// Source of an input of the loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Input of the importer, by its index.
    Importer(usize),
    /// Signal inside the model, by its index.
    Signal(usize),
    /// First derivative of a signal inside the model, by the signal's index.
    Rate(usize),
    /// Second derivative of a signal inside the model, by the signal's index.
    Acceleration(usize),
    /// Task, which computes the value with the loads; zero outside the spacecraft of a controller.
    Task,
}

/// Parameters with the limits beyond which a run is stopped; `None` for a limit that does not apply
/// to the model.
#[derive(Clone, Copy, Debug)]
pub struct Monitor {
    constraint_violation: Option<ParamId>,
    energy_balance: Option<ParamId>,
}

impl Monitor {
    /// No limits.
    pub(super) const NONE: Self = Self {
        constraint_violation: None,
        energy_balance: None,
    };

    fn declare(spec: &Spec, elements: &Elements, declare: &mut Declarations) -> Self {
        let mut limit = |field: &str, unit: Unit, value: f64, what: &str| {
            let quantity = Quantity::new(format!("monitor.{field}"), unit, what).bounded(Bound::Positive);
            declare.parameter(quantity, value, true, &at("monitor", "", field))
        };
        let written = &spec.monitor;
        Self {
            constraint_violation: (elements.closures() > 0).then(|| {
                let what = "largest constraint violation of a loop or a capture in Co-Simulation, m and rad";
                limit("constraint_violation", Unit::One, written.constraint_violation, what)
            }),
            energy_balance: spec.has_diagnostics().then(|| {
                let what = "largest error of the energy balance in Co-Simulation, as a part of the largest kinetic energy and work";
                limit("energy_balance", Unit::One, written.energy_balance, what)
            }),
        }
    }

    /// Returns the largest permitted constraint violation, m and rad.
    pub fn constraint_violation(&self, parameters: &[f64]) -> f64 {
        self.constraint_violation
            .map_or(f64::INFINITY, |limit| limit.of(parameters))
    }

    /// Returns the largest permitted error of the energy balance, relative to the largest kinetic
    /// energy and work.
    pub fn energy_balance(&self, parameters: &[f64]) -> f64 {
        self.energy_balance.map_or(f64::INFINITY, |limit| limit.of(parameters))
    }
}

/// Sets start values of inputs by their names; reports names of other variables, and values that are
/// not finite.
fn start_inputs(values: &IndexMap<String, f64>, inputs: &mut [Input], problems: &mut Vec<Problem>) {
    for (name, &value) in values {
        if problems.iter().any(|known| known.concerns("input", name)) {
            continue;
        }
        let place = inputs.iter().position(|input| input.quantity.name == *name);
        let what = match place {
            Some(i) if value.is_finite() => {
                inputs[i].start = value;
                continue;
            }
            Some(_) => format!("{value} is not a finite number"),
            None => unknown("input", name, inputs.iter().map(|input| &input.quantity.name)),
        };
        problems.push(problem("input", name, "", what));
    }
}

/// Largest number of states with an integration method that factors matrices of all states: larger
/// matrices take hundreds of megabytes and seconds per step.
pub(crate) const MOST_DENSE: usize = 2000;

/// Returns a copy of the spec. Not inlined, so that the copy is not in the caller's stack frame:
/// importers call from threads with small stacks.
#[inline(never)]
pub(super) fn boxed(spec: &Spec) -> Box<Spec> {
    Box::new(spec.clone())
}

/// Largest scale of modal amplitudes, m·√kg: the tip of a beam of 16 kg is displaced by 0.1 m.
const MODAL_SCALE: f64 = 0.2;

impl Model {
    /// Compiles a spec and validates its numbers.
    ///
    /// # Errors
    /// [`Error::Spec`] with every problem found.
    pub fn compile(spec: &Spec) -> Result<Self, Error> {
        Self::compile_and_derive(spec).map(|(model, _)| model)
    }

    /// Compiles a spec as [`compile`](Self::compile); also returns the constants that are derived
    /// from its values.
    pub(crate) fn compile_and_derive(spec: &Spec) -> Result<(Self, Derived), Error> {
        if let Some(expanded) = spec.with_pairs()? {
            return Self::compile_and_derive(&expanded);
        }
        if let Some(expanded) = plan::expand(spec)? {
            return Self::compile_and_derive(&expanded);
        }
        let mut declare = Declarations::default();
        let mut problems = Vec::new();
        let mut guided = Guided::compile(spec, &mut declare, &mut problems)?;
        let own = match guided.is_some() {
            true => Some(spec.without_spacecraft()),
            false => spec.with_added(),
        };
        let (written, spec) = (spec, own.as_deref().unwrap_or(spec));
        let system = System::compile(spec, &mut declare)?;
        let mut elements = Elements::compile(spec, &system, &mut declare, &mut problems);
        if let Some(guided) = &mut guided {
            guided.join(&mut elements, declare.inputs.len());
        }
        let (sources, mut inputs) = sources(&declare, &elements, guided.as_deref());
        start_inputs(&spec.input, &mut inputs, &mut problems);
        let coordinates = Coordinates::compile(spec, &system, &mut declare);
        let (states, currents, unwound) = states(spec, &coordinates, &system, &elements);
        let monitor = Monitor::declare(spec, &elements, &mut declare);
        let method = spec.solver.method;
        if method.is_dense() && states.len() > MOST_DENSE {
            problems.push(Problem {
                at: at("solver", "", "method"),
                what: format!(
                    "{} solves for all states at once: the model has {} states, the maximum is {MOST_DENSE}; did you mean \
                     \"auto\"?",
                    method.name(),
                    states.len()
                ),
            });
            return Err(Error::Spec(problems));
        }
        let derivatives = states.iter().map(derivative_of).collect();
        let mut outputs = elements.outputs(spec, &system);
        // Every instance keeps these lists.
        declare.parameters.shrink_to_fit();
        outputs.declared.shrink_to_fit();
        outputs.flags.shrink_to_fit();
        let mut model = Self {
            spec: match guided {
                Some(_) => written.for_controller(),
                None => boxed(written),
            },
            parameters: declare.parameters,
            inputs,
            states,
            derivatives,
            scales: Vec::new(),
            modal_scale: 0.0,
            outputs: outputs.declared,
            flags: outputs.flags,
            system,
            coordinates,
            elements,
            currents,
            unwound,
            sources,
            monitor,
            guided,
        };
        let values = model.parameter_starts();
        let derived = model.validate(&values, None, &mut problems);
        model.validate_start(&values, &mut problems);
        if problems.is_empty() {
            model.set_scales(&derived);
            model.set_measured_starts(&derived, &values);
            Ok((model, derived))
        } else {
            Err(Error::Spec(problems))
        }
    }

    /// Sets the scale of each state. The scale of a modal amplitude is a large deflection: at the
    /// amplitude η the tip of a beam of mass m is displaced by 2 η/√m. Equal relative errors of an
    /// amplitude and of its rate are equal errors of the energy. The scale of a rate is at most 1
    /// m·√kg/s, as that of other velocities, and the scale of the amplitude of a fast mode less.
    fn set_scales(&mut self, derived: &Derived) {
        let mut scales: Vec<f64> = self.states.iter().map(|state| state.nominal).collect();
        let mut modal_scale = 0.0;
        let (positions, rates) = scales.split_at_mut(self.rates().start);
        for (i, (body, of)) in self.system.bodies.iter().zip(&derived.bodies).enumerate() {
            let (Some(modes), Some(elastic)) = (&body.modes, &of.elastic) else {
                continue;
            };
            let [q, v] = self.coordinates.of_modes(i, modes);
            for (k, mode) in elastic.modes.iter().enumerate() {
                let frequency = mode.stiffness.sqrt().max(1.0);
                positions[q + k] = MODAL_SCALE.min(1.0 / frequency);
                rates[v + k] = positions[q + k] * frequency;
                modal_scale += square(rates[v + k]);
            }
        }
        (self.scales, self.modal_scale) = (scales, modal_scale);
    }

    /// Returns the index, among the importer's inputs, of the first of several inputs; `None` if a
    /// signal sets one of them.
    pub(crate) fn importer_index(&self, inputs: Range<usize>) -> Option<usize> {
        let mut places = self.sources[inputs].iter().map(|source| match source {
            Source::Importer(place) => Some(*place),
            _ => None,
        });
        let first = places.next()?;
        first.filter(|_| places.all(|place| place.is_some()))
    }

    /// Returns the spec's values of all parameters.
    pub fn parameter_starts(&self) -> Vec<f64> {
        self.parameters.iter().map(|p| p.start).collect()
    }

    /// Returns the bodies, the joints and their layout in the states.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// Returns the number of event indicators: of ranges, linear limits, contacts, motors and a
    /// controller's limits, and one of commands if there are any.
    pub fn indicator_count(&self) -> usize {
        self.elements.indicator_count() + usize::from(self.elements.are_commanded())
    }

    /// Returns true for a controller without samples: its outputs depend on its inputs at every
    /// instant.
    pub fn follows_inputs(&self) -> bool {
        self.controller().is_some() && !self.is_sampled()
    }

    /// Returns the controller, if the spec is that of one.
    pub(super) fn controller(&self) -> Option<&Controller> {
        self.elements.controllers.first()
    }

    /// Returns the discrete state before the start: joints have their initial motions.
    pub fn discrete(&self) -> Discrete {
        Discrete::new(&self.elements)
    }

    /// Returns true if derivatives or outputs depend on the time explicitly: by signals, or by the
    /// orbit.
    pub fn depends_on_time(&self) -> bool {
        let is_inside = |source: &Source| !matches!(source, Source::Importer(_));
        self.starts_depend_on_time() || self.sources.iter().any(is_inside)
    }

    /// Returns true if the initial states depend on the start time: those of bodies in orbit.
    pub fn starts_depend_on_time(&self) -> bool {
        self.system.orbit.is_some()
    }

    /// Returns true for a sampled controller.
    pub(super) fn is_sampled(&self) -> bool {
        self.controller().is_some_and(Controller::is_sampled)
    }

    /// Returns true if the model has commands; a Model Exchange importer then has to call
    /// `fmi2CompletedIntegratorStep`.
    pub fn has_commands(&self) -> bool {
        self.elements.are_commanded()
    }

    /// Returns the error that names the axis, mode or body without inertia.
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

    /// Returns the kind and name of a capture or a loop by its number; captures come first.
    pub fn closure_name(&self, number: usize) -> String {
        self.elements.closure_name(number)
    }

    /// Returns the range of the states that are inputs of the loads: currents and unwound lengths.
    pub(super) fn states_in_loads(&self) -> Range<usize> {
        self.currents.start..self.unwound.end
    }

    /// Returns the number of inputs of the loads, with the currents among the states.
    pub(super) fn inputs_of_loads(&self) -> usize {
        self.sources.len() + self.states_in_loads().len()
    }

    /// Returns the range of the rates among the states.
    pub fn rates(&self) -> Range<usize> {
        let first = self.coordinates.positions(&self.system);
        first..first + self.coordinates.rates(&self.system)
    }

    /// Validates the values of all parameters together and returns the constants that are derived
    /// from them.
    ///
    /// Constants of `before` (other values and the constants derived from them) are reused where
    /// they have not changed.
    pub(super) fn validate(
        &self,
        values: &[f64],
        before: Option<(&[f64], &Derived)>,
        problems: &mut Vec<Problem>,
    ) -> Derived {
        let mut derived = self.derive(&self.parameters, values, before, problems);
        if let Some(Guided { spacecraft, .. }) = self.guided.as_deref() {
            let before = before.and_then(|(values, derived)| Some((values, derived.spacecraft.as_deref()?)));
            let of_law = spacecraft.derive(&self.parameters, values, before, problems);
            derived.spacecraft = Some(Arc::new(of_law));
        }
        for (parameter, &value) in self.parameters.iter().zip(values) {
            let Quantity { name, unit, bound, .. } = &parameter.quantity;
            let wrong = if value.is_finite() {
                bound.broken_by(value)
            } else {
                Some("not finite".to_owned())
            };
            // The derivation of constants may already have reported it in more detail.
            if let Some(wrong) = wrong.filter(|_| !problems.iter().any(|p| p.at == parameter.at)) {
                problems.push(Problem {
                    at: parameter.at.clone(),
                    what: format!("{name} = {} is {wrong}", unit.of(value)),
                });
            }
        }
        let of = Values {
            declared: &self.parameters,
            values,
            derived: &derived,
        };
        self.elements.validate(of, problems);
        if let (Some(guided), Some(of_law)) = (self.guided.as_deref(), derived.spacecraft.as_deref()) {
            let of = Values { derived: of_law, ..of };
            guided.spacecraft.elements.validate(of, problems);
        }
        let solver = &self.spec.solver;
        if let (Method::LinearlyImplicit, Some(step)) = (solver.method, solver.step) {
            self.elements.validate_gains(step, &self.parameters, values, problems);
        }
        derived
    }

    /// Returns the constants that are derived from the values of the `declared` parameters, as
    /// [`validate`](Self::validate) does.
    fn derive(
        &self,
        declared: &[Parameter],
        values: &[f64],
        before: Option<(&[f64], &Derived)>,
        problems: &mut Vec<Problem>,
    ) -> Derived {
        let mut derived = self.system.derive(declared, values, before, problems);
        derived.with_held_beams = feed_forward::with_held_beams(&self.elements, &self.system, &derived);
        derived
    }

    /// Writes the inputs of the loads at the time `t` (s): the importer's `u`, and the signals
    /// inside the model.
    pub(super) fn inputs_at<S: Scalar>(
        &self,
        parameters: &[S::Constant],
        t: S::Constant,
        u: &[S],
        discrete: &Discrete,
        inputs: &mut [S],
    ) {
        let signal = |k: usize| self.elements.signals[k].shaped(parameters, &discrete.segments);
        for (input, source) in inputs.iter_mut().zip(&self.sources) {
            *input = match *source {
                Source::Importer(i) => u[i],
                Source::Signal(k) => S::lift(signal(k).value(t)),
                Source::Rate(k) => S::lift(signal(k).rate(t)),
                Source::Acceleration(k) => S::lift(signal(k).acceleration(t)),
                Source::Task => S::zero(),
            };
        }
    }

    /// Returns the rate of change of an input of the loads at the time `t` (s): a signal's rate;
    /// zero for the importer's inputs, which are constant over a step.
    pub(super) fn rate_of(&self, source: &Source, parameters: &[f64], t: f64, discrete: &Discrete) -> f64 {
        let signal = |k: usize| self.elements.signals[k].shaped(parameters, &discrete.segments);
        match *source {
            Source::Importer(_) | Source::Task => 0.0,
            Source::Signal(k) => signal(k).rate(t),
            Source::Rate(k) => signal(k).acceleration(t),
            Source::Acceleration(k) => signal(k).jerk(t),
        }
    }

    /// Marks each state that may jump at an event: the rates and the work, if the model has
    /// impulses.
    pub fn jumps(&self) -> Vec<bool> {
        let mut jumps = vec![false; self.states.len()];
        let Parts { rates, work, .. } = self.split_mut(&mut jumps);
        let has_impulses = self.elements.have_impulses() || !self.elements.sticking.is_empty();
        rates.fill(has_impulses);
        work.fill(has_impulses);
        jumps
    }

    /// Returns the states on which a coordinate of a joint or a mode depends.
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

/// Returns the source of each input of the loads, and the inputs of the importer.
fn sources(declare: &Declarations, elements: &Elements, guided: Option<&Guided>) -> (Vec<Source>, Vec<Input>) {
    let signals = &elements.signals;
    let mut sources = Vec::with_capacity(declare.inputs.len());
    let mut inputs = Vec::new();
    for (slot, input) in declare.inputs.iter().enumerate() {
        if let Some(k) = signals.iter().position(|s| s.input == slot) {
            sources.push(Source::Signal(k));
        } else if let Some(k) = signals.iter().position(|s| s.rate_input == Some(slot)) {
            sources.push(Source::Rate(k));
        } else if let Some(k) = signals.iter().position(|s| s.acceleration_input == Some(slot)) {
            sources.push(Source::Acceleration(k));
        } else if elements.tasks.iter().any(|task| task.sets(slot)) || guided.is_some_and(|of| of.hides(slot)) {
            sources.push(Source::Task);
        } else {
            sources.push(Source::Importer(inputs.len()));
            inputs.push(input.clone());
        }
    }
    (sources, inputs)
}

/// Returns the states, and the ranges of the currents of motors and the unwound lengths of tethers
/// among them.
fn states(
    spec: &Spec,
    coordinates: &Coordinates,
    system: &System,
    elements: &Elements,
) -> (Vec<Quantity>, Range<usize>, Range<usize>) {
    let mut states = coordinates.states(system);
    let first = coordinates.positions(system) + coordinates.rates(system);
    let motors = elements.dc_motors.iter().filter(|motor| motor.has_state());
    let propellants = elements.tanks.iter().filter(|tank| tank.is_drawn());
    let currents = first..first + motors.clone().count();
    let reels = elements.tethers.iter().filter(|tether| tether.has_reel());
    let unwound = currents.end..currents.end + reels.clone().count();
    let lengths = reels.map(Tether::unwound_quantity);
    let masses = propellants.map(Tank::propellant_quantity);
    states.splice(
        first..first,
        (motors.map(|motor| motor.current_quantity(system)).chain(lengths)).chain(masses),
    );
    if spec.has_diagnostics() {
        states.push(Quantity::new(
            "system.work",
            Unit::Joule,
            "work done so far by torques, drives, ports, thrusters, motors, servos, grasps, impulses, friction, dampers and gravity in orbit (all loads without a potential)",
        ));
    }
    (states, currents, unwound)
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
