//! An instance of the FMU: what each call does, in safe code.
//!
//! One file per group of calls. Every call first asks the [table](super::lifecycle) through
//! [`Component::permit`]; one that ends in a [`Fault`] has changed nothing.
//!
//! Parameters wait from the moment they are set until something is computed from them, and are then
//! judged together: a host sets them one by one, and a half-set quaternion is no mistake. Until the first step they
//! start the run again (rule O3): states that were set before are lost, those that are set afterwards hold.

mod co_simulation;
mod directional;
mod fault;
mod life;
mod model_exchange;
mod output_derivatives;
mod state;
mod values;

#[cfg(test)]
mod tests;

pub use fault::Fault;

use super::description::Interfaces;
use super::guid::Guid;
use super::lifecycle::{Call, Interface, Mode, permit};
use super::log::{Category, Log};
use super::memory::{self, OutOfMemory};
use super::registry::{Naming, Registry};
use super::resource;
use super::saved::Experiment;
use crate::Error;
use crate::plant::{Model, Plant};
use crate::simulation::{Simulation, State};
use crate::spec::Spec;
use directional::Directions;
use std::sync::Arc;

/// How much of what can be computed is in the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    Nothing,
    Derivatives,
    Everything,
}

/// Why there is no instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is not enough memory.
    OutOfMemory,
    /// What is wrong, in the user's words.
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

/// An instance.
#[derive(Debug)]
pub struct Component {
    interface: Interface,
    mode: Mode,
    registry: Registry,
    guid: Guid,
    experiment: Experiment,
    /// On the heap: it would make the frames of all that builds or moves an instance several kilobytes larger.
    simulation: Box<Simulation>,
    /// As the host has set them, the solver's last.
    parameters: Vec<f64>,
    /// As they were when last found good: those of the plant.
    accepted: Vec<f64>,
    /// They have not reached the plant yet, or the start has changed.
    parameters_pending: bool,
    /// The first step is taken: fixed parameters are fixed now (rule O3).
    started: bool,
    /// The run was started again in Event Mode, and the host has not been told (rule O3).
    restarted: bool,
    /// What the integrator has cached is older than what the host has set.
    stepper_stale: bool,
    /// Modes have not been brought to where the host has set something.
    sides_stale: bool,
    known: Known,
    dx: Vec<f64>,
    y: Vec<f64>,
    /// The state before what may fail.
    before: State,
    /// Room for derivatives of outputs, taken when the first is asked for: most hosts never do.
    directions: Option<Box<Directions>>,
    events: Vec<String>,
    /// Messages that wait for the end of the call.
    pub log: Log,
}

impl Component {
    /// Makes an instance of the model in `resource_location` (§2.1.5).
    ///
    /// The GUID must be that of the model found there: then the host's XML describes this model and
    /// this library's variables. It also identifies the naming and the interfaces that the XML offers.
    ///
    /// # Errors
    /// The reason, in the user's words, or too little memory.
    pub fn instantiate(
        interface: Interface,
        guid: &str,
        resource_location: &str,
        logging_on: bool,
    ) -> Result<Self, Refusal> {
        let bytes = resource::read_model(resource_location)?;
        let of = |naming, interfaces| Guid::new(&bytes, naming, interfaces);
        let builds = [Naming::Structured, Naming::Flat]
            .into_iter()
            .flat_map(|naming| Interfaces::ALL.map(|interfaces| (of(naming, interfaces), naming, interfaces)));
        let Some((own, naming, interfaces)) = builds.into_iter().find(|(own, ..)| own.to_string() == guid) else {
            return Err(Refusal::Reason(format!(
                "the GUID {guid:?} is not that of the model in {resource_location:?} (with this library {}, with flat \
                 names {}): the modelDescription.xml belongs to another build",
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
        let model = model(&bytes)?;
        memory::test(memory::to_build(&model, interface))?;
        Ok(Self::new(interface, model, naming, own, logging_on)?)
    }

    /// Makes an instance of a model at hand.
    ///
    /// # Errors
    /// [`Error::Spec`] if its numbers make no sense.
    pub fn new(
        interface: Interface,
        model: Arc<Model>,
        naming: Naming,
        guid: Guid,
        logging_on: bool,
    ) -> Result<Self, Error> {
        let registry = Registry::new(Arc::clone(&model), naming);
        let (nx, ny) = (model.states.len(), model.outputs.len());
        let simulation = simulation(interface, model)?;
        Ok(Self {
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
            sides_stale: true,
            known: Known::Nothing,
            dx: vec![0.0; nx],
            y: vec![0.0; ny],
            directions: None,
            events: Vec::new(),
            log: Log::new(logging_on),
        })
    }

    /// Where it is in its life.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// What it is used for.
    pub fn interface(&self) -> Interface {
        self.interface
    }

    /// Its variables.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Its GUID.
    pub fn guid(&self) -> Guid {
        self.guid
    }

    /// Its time, s.
    pub fn time(&self) -> f64 {
        self.simulation.state.t
    }

    /// Whether a call is legal now.
    ///
    /// # Errors
    /// `fmi2Error`, with the mode the instance is in.
    pub fn permit(&self, call: Call) -> Result<(), Fault> {
        permit(call, self.interface, self.mode).map_err(Fault::error)
    }

    /// Gives the instance up, after an error inside this library that should not exist.
    pub fn lose(&mut self) {
        self.mode = Mode::Lost;
    }

    fn model(&self) -> &Arc<Model> {
        self.registry.model()
    }

    /// Forgets what was computed from what has now changed.
    fn invalidate(&mut self) {
        self.known = Known::Nothing;
        self.stepper_stale = true;
        self.sides_stale = true;
    }

    /// Lets the simulation do what may fail, and logs what it says. What has failed has changed nothing, and nothing is said of it.
    fn attempt<T>(
        &mut self,
        act: impl FnOnce(&mut Simulation, &mut Vec<String>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.before.clone_from(&self.simulation.state);
        let outcome = act(&mut self.simulation, &mut self.events);
        if outcome.is_err() {
            self.simulation.state.clone_from(&self.before);
            self.stepper_stale = true;
            self.events.clear();
        }
        self.log_events();
        outcome
    }

    /// Takes over parameters that wait. Where the host can ask without an event or a step, brings the modes to where it has set inputs.
    fn catch_up(&mut self) -> Result<(), Fault> {
        if self.parameters_pending {
            self.apply_parameters()?;
        }
        // In Co-Simulation nothing but a step brings modes to where inputs are, and a controller answers without one.
        let answers = self.interface == Interface::CoSimulation && self.model().follows_inputs();
        if self.sides_stale && (self.mode == Mode::Initialization || answers) {
            self.simulation.initialise_modes();
            self.sides_stale = false;
        }
        Ok(())
    }

    /// Takes over the parameters, judged together: before the first step by starting again from them.
    fn apply_parameters(&mut self) -> Result<(), Error> {
        let work_limit = self.registry.work_limit(&self.parameters)?;
        if self.started {
            hand_over(&self.parameters, &mut self.simulation.plant)?;
            if self.interface == Interface::CoSimulation {
                // What a host in Model Exchange does at the event in which it sets them.
                self.simulation.update_sides(&mut self.events);
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

    /// Starts the run, and makes the event that has been made already if it was started before.
    fn start(&mut self, work_limit: f64) -> Result<(), Error> {
        let (interface, mode) = (self.interface, self.mode);
        let Experiment { start, tolerance, .. } = self.experiment;
        // In Event Mode the host may have set a time of its own already (rule O4).
        let t = if mode == Mode::Event { self.time() } else { start };
        let values = &self.parameters[..self.model().parameters.len()];
        self.simulation.plant.set_parameters_of_start(t, values)?;
        self.attempt(|simulation, events| {
            match interface {
                Interface::ModelExchange => simulation.restart(t)?,
                Interface::CoSimulation => simulation.initialise(t, tolerance, work_limit)?,
            }
            if matches!(mode, Mode::Event | Mode::StepComplete) {
                tell_start(simulation, events);
            }
            match mode {
                Mode::Event => {
                    let State { u, discrete, .. } = &mut simulation.state;
                    simulation.plant.sample(t, u, discrete).map(|_| ())
                }
                Mode::StepComplete => simulation.obey(events),
                _ => Ok(()),
            }
        })?;
        self.restarted = mode == Mode::Event;
        Ok(())
    }

    /// Computes what is not known yet: one evaluation serves all gets until something is set (rule S5).
    fn evaluate_up_to(&mut self, what: Known) -> Result<(), Fault> {
        self.catch_up()?;
        if self.known >= what {
            return Ok(());
        }
        let state = &self.simulation.state;
        let plant = &mut self.simulation.plant;
        let at = (state.x.as_slice(), state.u.as_slice(), &state.discrete);
        let outcome = if what == Known::Everything {
            plant.evaluate(state.t, at, &mut self.dx, &mut self.y)
        } else {
            plant.derivative(state.t, at.0, at.1, at.2, &mut self.dx)
        };
        let outcome = outcome.and_then(|()| match self.y.iter().position(|y| !y.is_finite()) {
            Some(i) if what == Known::Everything => Err(Error::NotFinite {
                variable: self.registry.model().outputs[i].quantity.name.clone(),
                t: state.t,
            }),
            _ => Ok(()),
        });
        if let Err(error) = outcome {
            self.known = Known::Nothing;
            return Err(self.overreached(error.to_string()));
        }
        self.known = what;
        Ok(())
    }

    /// Where the model has no values an integrator may have overreached; at an event there is no smaller step.
    fn overreached(&self, what: String) -> Fault {
        match self.mode {
            Mode::ContinuousTime => Fault::discard(what),
            _ => Fault::error(what),
        }
    }

    /// Hands the model's messages to the log.
    fn log_events(&mut self) {
        for text in self.events.drain(..) {
            self.log.add(super::fmi2::fmi2Status::OK, Category::Events, text);
        }
    }
}

/// Makes the model of the bytes of a compiled one.
fn model(bytes: &[u8]) -> Result<Arc<Model>, Refusal> {
    memory::test(memory::to_read(bytes.len()))?;
    let spec = read(bytes)?;
    memory::test(memory::to_compile(&spec, bytes.len()))?;
    Ok(compile(&spec)?)
}

/// Reads the spec. Not inlined, as the next two: an instance is built in steps one after the other, and the frames of one step are
/// gone before the next. Importers call from threads with small stacks.
#[inline(never)]
fn read(bytes: &[u8]) -> Result<Box<Spec>, Error> {
    Model::spec_from_bytes(bytes).map(Box::new)
}

/// Compiles the spec.
#[inline(never)]
fn compile(spec: &Spec) -> Result<Arc<Model>, Error> {
    Model::compile(spec).map(Arc::new)
}

/// Makes the simulation of a new instance.
#[inline(never)]
fn simulation(interface: Interface, model: Arc<Model>) -> Result<Box<Simulation>, Error> {
    let plant = Plant::new(model)?;
    let simulation = match interface {
        Interface::ModelExchange => Simulation::of_host(plant)?,
        Interface::CoSimulation => Simulation::new(plant)?,
    };
    Ok(Box::new(simulation))
}

/// Adds what is to be known of the start.
fn tell_start(simulation: &mut Simulation, messages: &mut Vec<String>) {
    let State { t, x, u, .. } = &simulation.state;
    messages.append(&mut simulation.plant.messages_of_start(*t, (x, u)));
}

/// Gives the plant other parameters, if they are others: to the bit, since answers tell 0 from −0.
fn hand_over(parameters: &[f64], plant: &mut Plant) -> Result<(), Error> {
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
