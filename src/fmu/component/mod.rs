//! An instance of the FMU: the effect of each call, in safe code.
//!
//! One file per group of calls. Every call is first checked against the [table](super::lifecycle)
//! by [`Component::permit`]. A call that returns a [`Fault`] leaves the instance unchanged.
//!
//! Parameters are buffered when set, and validated together before the next computation that needs
//! them: an importer sets them one by one, and a half-set quaternion is not an error. Until the
//! first step they restart the run (rule O3): states set earlier are lost, states set afterwards
//! are kept.

mod adjoint;
mod co_simulation;
mod directional;
mod equal_steps;
mod fault;
mod intermediate;
mod life;
mod model_exchange;
mod output_derivatives;
mod scalars;
mod state;
mod together;
mod values;

#[cfg(feature = "inside")]
pub(super) mod tests;

pub use co_simulation::StepEnd;
pub use fault::Fault;
pub use model_exchange::EventResult;
pub use together::step_together;

use super::arrays::{self, Arrays};
use super::description::Interfaces;
use super::guid::Guid;
use super::lifecycle::{Interface, Mode, Rule, Standard};
use super::log::{Category, Log};
use super::memory::{self, OutOfMemory};
use super::registry::{Naming, Registry};
use super::resource;
use super::saved::Experiment;
use super::status::Status;
use crate::Error;
use crate::event::Event;
use crate::plant::{Model, Plant};
use crate::simulation::{DueEvent, EventHandling, Simulation, State};
use crate::spec::Spec;
use crate::system::Derived;
use adjoint::Adjoints;
use directional::Directions;
use std::sync::Arc;

/// The results in the cache that belong to the present values: none, the state derivatives, or
/// these and all outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cached {
    Nothing,
    Derivatives,
    Everything,
}

/// Reason why an instance could not be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is not enough memory.
    OutOfMemory,
    /// Error message.
    Reason(String),
}

impl From<OutOfMemory> for Refusal {
    fn from(_: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

impl From<String> for Refusal {
    fn from(what: String) -> Self {
        Self::Reason(what)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Reason(error.to_string())
    }
}

/// An instance of the FMU. A copy shares nothing with it but constant data.
#[derive(Clone, Debug)]
pub struct Component {
    standard: Standard,
    interface: Interface,
    mode: Mode,
    registry: Registry,
    guid: Guid,
    experiment: Experiment,
    /// On the heap: the stack frames of the functions that build or move an instance would
    /// otherwise grow by several kilobytes.
    simulation: Box<Simulation>,
    /// Values of all parameters as set by the importer, the solver's last.
    parameters: Vec<f64>,
    /// Values of all parameters as last validated and applied.
    accepted: Vec<f64>,
    /// Set while parameters, or a changed start time, have not been applied to the plant.
    parameters_pending: bool,
    /// Set after the first step: fixed parameters can no longer change (rule O3).
    started: bool,
    /// Set if the run was restarted in Event Mode and the importer has not been notified yet (rule
    /// O3).
    restarted: bool,
    /// Set if the importer has changed values since the integrator last computed its cache.
    stepper_stale: bool,
    /// Set if limit states have not been updated since the importer's last change.
    limit_states_stale: bool,
    cached: Cached,
    dx: Vec<f64>,
    y: Vec<f64>,
    /// Event indicators as variables of FMI 3.0.
    z: Vec<f64>,
    /// Copy of the state before an operation that may fail.
    before: State,
    /// Workspace of directional and time derivatives, allocated at the first request for one: most
    /// importers make none.
    directions: Option<Box<Directions>>,
    /// Workspace of adjoint derivatives, allocated at the first request for one.
    adjoints: Option<Box<Adjoints>>,
    /// Array variables, if the FMU was built with them; FMI 3.0 only.
    arrays: Option<Box<Arrays>>,
    events: Vec<Event>,
    /// Messages to send at the end of the call.
    pub log: Log,
}

impl Component {
    /// Creates an instance of the model in `resource_location` (§2.1.5).
    ///
    /// The GUID must be that of the model in that location. It then matches the importer's XML with
    /// this model and this library's variables, and identifies the naming and the interfaces that
    /// the XML offers.
    ///
    /// # Errors
    /// The reason as a message, or [`Refusal::OutOfMemory`].
    pub fn instantiate(
        (standard, interface): (Standard, Interface),
        guid: &str,
        resource_location: &str,
        logging_on: bool,
    ) -> Result<Self, Refusal> {
        let bytes = resource::read_model(resource_location)?;
        let of = |naming, interfaces| Guid::new(&bytes, naming, interfaces);
        let kinds = [Naming::Structured, Naming::Flat]
            .into_iter()
            .flat_map(|naming| Interfaces::ALL.map(|interfaces| (naming, interfaces)));
        let mut builds = kinds.map(|(naming, interfaces)| (of(naming, interfaces), naming, interfaces));
        let (scalar, has_arrays) = match (standard, guid.strip_suffix(arrays::TOKEN)) {
            (Standard::Fmi3, Some(scalar)) => (scalar, true),
            _ => (guid, false),
        };
        let Some((own, naming, interfaces)) = builds.find(|(own, ..)| own.to_string() == scalar) else {
            return Err(Refusal::Reason(format!(
                "the {} {guid:?} is not that of the model in {resource_location:?} (with this library {}, with flat \
                 names {}): the modelDescription.xml belongs to another build",
                standard.token(),
                of(Naming::Structured, Interfaces::Both),
                of(Naming::Flat, Interfaces::Both)
            )));
        };
        if !interfaces.offer(interface) {
            return Err(Refusal::Reason(format!(
                "the FMU does not offer {}: its modelDescription.xml was built without that interface",
                interface.name()
            )));
        }
        let (model, derived) = model(&bytes)?;
        memory::test(memory::to_build(&model, interface))?;
        let of = (standard, interface);
        let mut component = Self::with(of, model, Some(derived), naming, own, logging_on)?;
        if has_arrays {
            component.make_arrays();
        }
        Ok(component)
    }

    /// Creates an instance of a compiled model, with the variables of FMI 2.0.
    ///
    /// # Errors
    /// [`Error::Spec`] if the model's numbers are invalid.
    pub fn new(
        interface: Interface,
        model: Arc<Model>,
        naming: Naming,
        guid: Guid,
        logging_on: bool,
    ) -> Result<Self, Error> {
        Self::with((Standard::Fmi2, interface), model, None, naming, guid, logging_on)
    }

    /// Creates an instance; `derived` are the constants that follow from the spec's values, if they
    /// are known.
    fn with(
        (standard, interface): (Standard, Interface),
        model: Arc<Model>,
        derived: Option<Derived>,
        naming: Naming,
        guid: Guid,
        logging_on: bool,
    ) -> Result<Self, Error> {
        let registry = Registry::of(standard, Arc::clone(&model), naming);
        let nz = match standard {
            Standard::Fmi2 => 0,
            Standard::Fmi3 => model.indicator_count(),
        };
        let (nx, ny) = (model.states.len(), model.outputs.len());
        let simulation = simulation(interface, model, derived)?;
        Ok(Self {
            standard,
            interface,
            mode: Mode::Instantiated,
            parameters: registry.parameter_starts(),
            accepted: registry.parameter_starts(),
            before: simulation.state.clone(),
            simulation,
            registry,
            guid,
            experiment: Experiment::default(),
            parameters_pending: true,
            started: false,
            restarted: false,
            stepper_stale: true,
            limit_states_stale: true,
            cached: Cached::Nothing,
            dx: vec![0.0; nx],
            y: vec![0.0; ny],
            z: vec![0.0; nz],
            directions: None,
            adjoints: None,
            arrays: None,
            events: Vec::new(),
            log: Log::new(logging_on),
        })
    }

    /// Returns the mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the interface.
    pub fn interface(&self) -> Interface {
        self.interface
    }

    /// Returns the registry of variables.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns the GUID.
    pub fn guid(&self) -> Guid {
        self.guid
    }

    /// Returns true once fixed parameters can no longer change and the states are no longer computed
    /// from the start values: in FMI 2.0 after the first step (rule O3), in FMI 3.0 after the
    /// initialisation.
    fn is_started(&self) -> bool {
        let is_initialised = !matches!(self.mode, Mode::Instantiated | Mode::Initialization);
        self.started || self.standard == Standard::Fmi3 && is_initialised
    }

    /// Returns the time, s.
    pub fn time(&self) -> f64 {
        self.simulation.state.t
    }

    /// Checks that a call is legal in the present mode.
    ///
    /// # Errors
    /// `fmi2Error` with the name of the mode.
    pub fn permit(&self, rule: &Rule) -> Result<(), Fault> {
        let permitted = rule.permit(self.standard, self.interface, self.mode);
        permitted.map_err(Fault::error)
    }

    /// Marks the instance as lost after an internal error.
    pub fn lose(&mut self) {
        self.mode = Mode::Lost;
    }

    fn model(&self) -> &Arc<Model> {
        self.registry.model()
    }

    /// Returns true in Co-Simulation if the importer handles events in Event Mode.
    fn has_event_mode(&self) -> bool {
        let handling = self.simulation.event_handling();
        self.interface == Interface::CoSimulation && matches!(handling, EventHandling::AtEnd | EventHandling::AtEvents)
    }

    /// Invalidates the knowledge that all events at this time have been handled, after a change by the
    /// importer.
    fn look_for_events(&mut self) {
        let due = &mut self.simulation.state.due;
        if *due == DueEvent::Handled {
            *due = DueEvent::Unknown;
        }
    }

    /// Invalidates all cached results after a change.
    fn invalidate(&mut self) {
        self.cached = Cached::Nothing;
        self.stepper_stale = true;
        self.limit_states_stale = true;
    }

    /// Runs an operation that may fail and logs its messages. On failure the state is restored and
    /// the messages are discarded.
    fn attempt<T>(
        &mut self,
        act: impl FnOnce(&mut Simulation, &mut Vec<Event>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.before.clone_from(&self.simulation.state);
        let outcome = act(&mut self.simulation, &mut self.events);
        self.end_attempt(outcome)
    }

    /// Ends an operation that began with a copy of the state in [`before`](Self::before).
    fn end_attempt<T>(&mut self, outcome: Result<T, Error>) -> Result<T, Error> {
        if outcome.is_err() {
            self.simulation.state.clone_from(&self.before);
            self.stepper_stale = true;
            self.events.clear();
        }
        self.log_events();
        outcome
    }

    /// Applies buffered parameters. Updates limit states to new inputs in the modes in which values
    /// can be read without an event or a step.
    fn catch_up(&mut self) -> Result<(), Fault> {
        if self.parameters_pending {
            self.apply_parameters()?;
        }
        // In Co-Simulation limit states are updated during steps only. The outputs of a controller
        // without samples depend on its inputs at every instant, so its limit states are updated
        // here as well.
        let reads_without_step = self.interface == Interface::CoSimulation && self.model().follows_inputs();
        if self.limit_states_stale && (self.mode == Mode::Initialization || reads_without_step) {
            self.simulation.initialise_modes();
            self.limit_states_stale = false;
        }
        Ok(())
    }

    /// Validates and applies all parameters; before the first step this restarts the run.
    fn apply_parameters(&mut self) -> Result<(), Error> {
        let work_limit = self.registry.work_limit(&self.parameters)?;
        if self.is_started() {
            pass_parameters(&self.parameters, &mut self.simulation.plant)?;
            if self.interface == Interface::CoSimulation {
                // In Model Exchange `fmi2NewDiscreteStates` does this, at the event at which the
                // parameters are set.
                self.simulation.update_limits(&mut self.events);
                self.simulation.restart_balance();
                self.log_events();
            }
        } else {
            self.start(work_limit)?;
        }
        self.accepted.copy_from_slice(&self.parameters);
        self.parameters_pending = false;
        self.invalidate();
        Ok(())
    }

    /// Starts the run. A restart after Initialization Mode also repeats the sample (Event Mode) or
    /// the commands (Co-Simulation) of the start.
    fn start(&mut self, work_limit: f64) -> Result<(), Error> {
        let (interface, mode) = (self.interface, self.mode);
        let Experiment { start, tolerance, .. } = self.experiment;
        // In Event Mode the importer may already have set another time (rule O4).
        let t = if mode == Mode::Event { self.time() } else { start };
        let values = &self.parameters[..self.model().parameters.len()];
        self.simulation.plant.set_parameters_of_start(t, values)?;
        self.attempt(|simulation, events| {
            match interface {
                Interface::ModelExchange => simulation.restart(t)?,
                Interface::CoSimulation => simulation.initialise(t, tolerance, work_limit)?,
            }
            if matches!(mode, Mode::Event | Mode::StepComplete) {
                report_start(simulation, events);
            }
            match mode {
                Mode::Event => {
                    let State { x, u, discrete, .. } = &mut simulation.state;
                    simulation.plant.sample(t, x, u, discrete).map(|_| ())
                }
                Mode::StepComplete => simulation.execute_commands(events),
                _ => Ok(()),
            }
        })?;
        self.restarted = mode == Mode::Event;
        Ok(())
    }

    /// Computes the results up to `what` that are not cached: one evaluation serves all getters
    /// until a value is set (rule S5).
    fn evaluate_up_to(&mut self, what: Cached) -> Result<(), Fault> {
        self.catch_up()?;
        if self.cached >= what {
            return Ok(());
        }
        let state = &self.simulation.state;
        let plant = &mut self.simulation.plant;
        let outcome = if what == Cached::Everything {
            plant.evaluate(state.point(), &mut self.dx, &mut self.y)
        } else if plant.indicators_need_solution(&state.discrete) {
            plant.derivative_to_share(state.point(), &mut self.dx)
        } else {
            plant.derivative(state.point(), &mut self.dx)
        };
        let outcome = outcome.and_then(|()| match self.y.iter().position(|y| !y.is_finite()) {
            Some(i) if what == Cached::Everything => Err(Error::NotFinite {
                variable: self.registry.model().outputs[i].quantity.name.clone(),
                t: state.t,
            }),
            _ => Ok(()),
        });
        if let Err(error) = outcome {
            self.cached = Cached::Nothing;
            return Err(self.overreached(error.to_string()));
        }
        self.cached = what;
        Ok(())
    }

    /// Returns the fault for an undefined value: `fmi2Discard` in Continuous-Time Mode, where a
    /// smaller step of the importer may avoid it, `fmi2Error` in other modes.
    fn overreached(&self, what: String) -> Fault {
        match self.mode {
            Mode::ContinuousTime => Fault::discard(what),
            _ => Fault::error(what),
        }
    }

    /// Moves the model's events to the log, as messages of the enabled categories.
    fn log_events(&mut self) {
        for event in self.events.drain(..) {
            if self.log.is_enabled(Category::Events) {
                self.log.add(Status::Ok, Category::Events, event.to_string());
            }
            if self.log.is_enabled(Category::EventValues) {
                let values = serde_json::to_string(&event).unwrap_or_default();
                self.log.add(Status::Ok, Category::EventValues, values);
            }
        }
    }
}

/// Compiles the spec in the bytes of an FMU's `model.json`; also returns the constants that follow
/// from its values. The memory for reading and for compiling is tested first.
fn model(bytes: &[u8]) -> Result<(Arc<Model>, Derived), Refusal> {
    memory::test(memory::to_read(bytes.len()))?;
    let spec = read(bytes)?;
    memory::test(memory::to_compile(&spec, bytes.len()))?;
    Ok(compile(&spec)?)
}

/// Reads the spec. Not inlined, like the next two functions: each stage's stack frame is released
/// before the next stage begins, since importers call from threads with small stacks.
#[inline(never)]
fn read(bytes: &[u8]) -> Result<Box<Spec>, Error> {
    Model::spec_from_bytes(bytes)
}

/// Compiles the spec.
#[inline(never)]
fn compile(spec: &Spec) -> Result<(Arc<Model>, Derived), Error> {
    Model::compile_and_derive(spec).map(|(model, derived)| (Arc::new(model), derived))
}

/// Builds the simulation of a new instance.
#[inline(never)]
fn simulation(interface: Interface, model: Arc<Model>, derived: Option<Derived>) -> Result<Box<Simulation>, Error> {
    let plant = match derived {
        Some(derived) => Plant::with(model, derived),
        None => Plant::new(model)?,
    };
    let simulation = match interface {
        Interface::ModelExchange => Simulation::without_integrator(plant)?,
        Interface::CoSimulation => Simulation::new(plant)?,
    };
    Ok(Box::new(simulation))
}

/// Appends the events of limits that are exceeded at the start.
fn report_start(simulation: &mut Simulation, events: &mut Vec<Event>) {
    let State { t, x, u, .. } = &simulation.state;
    events.append(&mut simulation.plant.events_of_start(*t, x, u));
}

/// Passes parameters to the plant if they differ in any bit (results distinguish 0 from −0).
fn pass_parameters(parameters: &[f64], plant: &mut Plant) -> Result<(), Error> {
    let own = plant.parameters();
    let parameters = &parameters[..own.len()];
    if own
        .iter()
        .zip(parameters)
        .all(|(own, new)| own.to_bits() == new.to_bits())
    {
        return Ok(());
    }
    plant.set_parameters(parameters)
}
