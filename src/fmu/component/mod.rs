//! An instance of the FMU: what each call does, in safe code.
//!
//! One file per group of calls. Every call first asks the [table](super::lifecycle) through
//! [`Component::permit`]; one that ends in a [`Fault`] has changed nothing.
//!
//! Parameters wait from the moment they are set until something is computed from them, and are then
//! judged together: a host sets them one by one, and a half-set quaternion is no mistake.

mod co_simulation;
mod directional;
mod fault;
mod life;
mod model_exchange;
mod output_derivatives;
mod values;

#[cfg(test)]
mod tests;

pub use fault::Fault;

use super::lifecycle::{Call, Interface, Mode, permit};
use super::log::{Category, Log};
use super::registry::{Guid, Naming, Registry};
use super::resource;
use super::saved::SavedState;
use crate::Error;
use crate::plant::{Model, Plant};
use crate::simulation::{Simulation, State};
use directional::Directions;
use output_derivatives::Slopes;
use std::sync::Arc;

/// What `fmi2SetupExperiment` has said (§2.1.6).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Experiment {
    /// Where the run starts, s.
    pub start: f64,
    /// Where it ends, s, if the host has said.
    pub stop: Option<f64>,
    /// Relative tolerance, if the host has said.
    pub tolerance: Option<f64>,
}

/// How much of what can be computed is in the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    Nothing,
    Derivatives,
    Everything,
}

/// An instance.
#[derive(Debug)]
pub struct Component {
    interface: Interface,
    mode: Mode,
    registry: Registry,
    guid: Guid,
    experiment: Experiment,
    simulation: Simulation,
    /// As the host has set them, the solver's last.
    parameters: Vec<f64>,
    /// As they were when last found good.
    settled: Vec<f64>,
    /// They have not reached the plant yet, or the start has changed.
    unsettled: bool,
    /// The first step is taken: fixed parameters are fixed now (rule O3).
    moved: bool,
    /// What the simulation has cached is older than what the host has set.
    touched: bool,
    /// Modes have not been brought to where the host has set something.
    sideless: bool,
    known: Known,
    dx: Vec<f64>,
    y: Vec<f64>,
    /// Room for output derivatives; none in Model Exchange.
    slopes: Option<Slopes>,
    /// Room for directional derivatives, taken when the first is asked for: most hosts never do.
    directions: Option<Box<Directions>>,
    events: Vec<String>,
    /// Messages that wait for the end of the call.
    pub log: Log,
}

impl Component {
    /// Makes an instance of the model in `resource_location` (§2.1.5).
    ///
    /// The GUID must be that of the model found there: then the host's XML describes this model and
    /// this library's variables.
    ///
    /// # Errors
    /// The reason, in the user's words.
    pub fn instantiate(
        interface: Interface,
        guid: &str,
        resource_location: &str,
        logging_on: bool,
    ) -> Result<Self, String> {
        let bytes = resource::read_model(resource_location)?;
        let flavours = [Naming::Structured, Naming::Flat].map(|naming| (Guid::new(&bytes, naming), naming));
        let Some(&(own, naming)) = flavours.iter().find(|(own, _)| own.to_string() == guid) else {
            return Err(format!(
                "the GUID {guid:?} is not that of the model in {resource_location:?} ({} with this library): the \
                 modelDescription.xml belongs to another build",
                flavours[0].0
            ));
        };
        let model = Model::from_bytes(&bytes).map_err(|e| e.to_string())?;
        Self::new(interface, Arc::new(model), naming, own, logging_on).map_err(|e| e.to_string())
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
        let mut component = Self {
            interface,
            mode: Mode::Instantiated,
            parameters: registry.parameter_starts(),
            settled: registry.parameter_starts(),
            simulation: Simulation::new(Plant::new(Arc::clone(&model))?)?,
            registry,
            guid,
            experiment: Experiment::default(),
            unsettled: true,
            moved: false,
            touched: true,
            sideless: true,
            known: Known::Nothing,
            dx: vec![0.0; nx],
            y: vec![0.0; ny],
            slopes: (interface == Interface::CoSimulation).then(|| Slopes::new(nx, ny)),
            directions: None,
            events: Vec::new(),
            log: Log::new(logging_on),
        };
        component.reset();
        Ok(component)
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
    fn touch(&mut self) {
        self.known = Known::Nothing;
        self.touched = true;
        self.sideless = true;
    }

    /// Takes over the parameters that wait, judged together, and before the first step starts again from them. Where the host can ask without an event or a step, brings the
    /// modes to where it has set inputs.
    fn settle(&mut self) -> Result<(), Fault> {
        if self.unsettled {
            self.take_parameters()?;
        }
        // In Co-Simulation nothing but a step brings modes to where inputs are, and a controller answers without one.
        let answers = self.interface == Interface::CoSimulation && self.model().follows_inputs();
        if self.sideless && (self.mode == Mode::Initialization || answers) {
            self.simulation.start_sides();
            self.sideless = false;
        }
        Ok(())
    }

    /// The parameters' part of it.
    fn take_parameters(&mut self) -> Result<(), Fault> {
        let work_limit = self.registry.work_limit(&self.parameters)?;
        let n = self.model().parameters.len();
        // In Event Mode the host may have set a time of its own already (rule O4).
        let start = match self.mode {
            Mode::Event => self.simulation.state.t,
            _ => self.experiment.start,
        };
        if !self.moved {
            let values = &self.parameters[..n];
            self.simulation.plant.set_parameters_of_start(start, values)?;
        } else if !same_bits(self.simulation.plant.parameters(), &self.parameters[..n]) {
            self.simulation.plant.set_parameters(&self.parameters[..n])?;
        }
        if !self.moved {
            self.simulation
                .initialise(start, self.experiment.tolerance, work_limit)?;
            if self.mode == Mode::Event {
                let State { t, u, discrete, .. } = &mut self.simulation.state;
                self.simulation.plant.sample(*t, u, discrete)?;
                self.tell_start();
            }
        }
        self.settled.copy_from_slice(&self.parameters);
        self.unsettled = false;
        self.touch();
        Ok(())
    }

    /// Computes what is not known yet: one evaluation serves all gets until something is set (rule S5).
    fn know(&mut self, what: Known) -> Result<(), Fault> {
        self.settle()?;
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
            return Err(self.no_values(&error));
        }
        self.known = what;
        Ok(())
    }

    /// The model has no values here: an integrator may have overreached; at an event there is no smaller step.
    fn no_values(&self, error: &Error) -> Fault {
        match self.mode {
            Mode::ContinuousTime => Fault::discard(error.to_string()),
            _ => Fault::error(error.to_string()),
        }
    }

    /// Hands what is to be known of the start to the log.
    fn tell_start(&mut self) {
        let State { t, x, u, .. } = &self.simulation.state;
        self.events = self.simulation.plant.messages_of_start(*t, (x, u));
        self.log_events();
    }

    /// Hands the model's messages to the log.
    fn log_events(&mut self) {
        for text in self.events.drain(..) {
            self.log.add(super::fmi2::fmi2Status::OK, Category::Events, text);
        }
    }

    /// A copy of all that makes the answers (§2.1.8).
    pub fn save(&self) -> SavedState {
        SavedState {
            guid: self.guid,
            interface: self.interface,
            mode: self.mode,
            moved: self.moved,
            unsettled: self.unsettled,
            experiment: self.experiment,
            parameters: self.parameters.clone(),
            state: self.simulation.state.clone(),
        }
    }

    /// The same into a copy that exists; no memory is taken if it is of this FMU.
    pub fn save_into(&self, saved: &mut SavedState) {
        if saved.guid != self.guid {
            *saved = self.save();
            return;
        }
        saved.interface = self.interface;
        saved.mode = self.mode;
        saved.moved = self.moved;
        saved.unsettled = self.unsettled;
        saved.experiment = self.experiment;
        saved.parameters.clone_from(&self.parameters);
        copy_state(&self.simulation.state, &mut saved.state);
    }

    /// Goes back to a copy, which may be that of another instance of the same FMU (§2.1.8).
    ///
    /// # Errors
    /// `fmi2Error` for the state of another FMU, or of the other interface.
    pub fn restore(&mut self, saved: &SavedState) -> Result<(), Fault> {
        if saved.guid != self.guid {
            return Err(Fault::error(format!(
                "the state belongs to another FMU, {}; this one is {}",
                saved.guid, self.guid
            )));
        }
        if saved.interface != self.interface {
            return Err(Fault::error(
                "a state of Model Exchange does not fit Co-Simulation, nor the other way round",
            ));
        }
        // Parameters that wait are judged when they are needed.
        if !saved.unsettled {
            let n = self.model().parameters.len();
            let work_limit = self.registry.work_limit(&saved.parameters)?;
            if !same_bits(self.simulation.plant.parameters(), &saved.parameters[..n]) {
                self.simulation.plant.set_parameters(&saved.parameters[..n])?;
            }
            self.simulation.set_solver(saved.experiment.tolerance, work_limit)?;
            self.settled.copy_from_slice(&saved.parameters);
        }
        copy_state(&saved.state, &mut self.simulation.state);
        self.parameters.copy_from_slice(&saved.parameters);
        self.mode = saved.mode;
        self.moved = saved.moved;
        self.unsettled = saved.unsettled;
        self.experiment = saved.experiment;
        self.touch();
        Ok(())
    }
}

/// Whether they are the same to the bit: 0 and −0 are not, and answers tell them apart.
fn same_bits(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// Copies without taking memory.
fn copy_state(from: &State, to: &mut State) {
    to.t = from.t;
    to.x.clone_from(&from.x);
    to.u.clone_from(&from.u);
    for (to, from) in to.u_derivatives.iter_mut().zip(&from.u_derivatives) {
        to.clone_from(from);
    }
    to.discrete.modes.clone_from(&from.discrete.modes);
    to.discrete.numbers.clone_from(&from.discrete.numbers);
    to.memory.clone_from(&from.memory);
}
