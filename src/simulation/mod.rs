//! Time integration of a plant with its events: one call advances the time.
//!
//! Co-Simulation and the command line use [`Simulation::advance`]; in Model Exchange the importer
//! does this work itself and uses the [`Plant`] alone.

mod advance;
mod crossing;
mod event_mode;
mod monitor;
mod motion;
mod solver;
mod state;
mod step_source;
mod together;

#[cfg(feature = "inside")]
test_modules![solver::tests];

pub use event_mode::{EventHandling, Observer, Unobserved};
pub use state::{DueEvent, INPUT_ORDER, Monitored, State};
pub use step_source::Steps;
pub use together::{LaneRuns, Run};

use crate::Error;
use crate::event::Event;
use crate::integrate::{Ahead, Memory, Method, Stepper};
use crate::plant::{ConservingStep, Discrete, OperatingPoint, Plant, StateJacobian};
use crossing::PARTS;
use motion::Motion;
pub(crate) use solver::uses_radau5;
use solver::{changed_to, named, stepper, supported_limits};
use step_source::StepSource;

/// A plant with its state and integrator.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The model with its parameter values.
    pub plant: Plant,
    /// The state. A caller that changes it must call [`invalidate`](Self::invalidate).
    pub state: State,
    stepper: Stepper,
    step_source: StepSource,
    statistics: Statistics,
    event_handling: EventHandling,
    /// Time at which states last jumped inside a call of [`advance`](Self::advance), s.
    jumped_at: Option<f64>,
    workspace: Workspace,
    /// Evaluations of the next step that were made [together](LaneRuns) with those of other runs.
    ahead: Option<Box<Ahead>>,
    /// Jacobian of the plant's derivatives with respect to its states, if the method uses it.
    state_jacobian: Option<StateJacobian>,
    /// The plant's own step, if the method is [`Method::Conserving`].
    own_step: Option<Box<ConservingStep>>,
}

/// Work done since initialisation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Accepted steps.
    pub steps: u64,
    /// Rejected steps.
    pub rejected: u64,
    /// Evaluations of the dynamics.
    pub evaluations: u64,
    /// Changes of the discrete state.
    pub events: u64,
}

impl std::fmt::Display for Statistics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            steps,
            rejected,
            evaluations,
            events,
        } = self;
        write!(
            f,
            "{steps} steps ({rejected} rejected), {evaluations} evaluations, {events} events"
        )
    }
}

/// Scratch vectors; their contents are not kept between calls.
#[derive(Clone, Debug)]
struct Workspace {
    u: Vec<f64>,
    x: Vec<f64>,
    /// States and derivatives at the start of a step, for the monitoring of captures and loops.
    x_before: Vec<f64>,
    dx_before: Vec<f64>,
    /// Event indicators at the start and the end of a step, and at an instant inside it.
    z_before: Vec<f64>,
    z_after: Vec<f64>,
    z: Vec<f64>,
    /// Event indicators at the ends of the [`PARTS`] parts of a step.
    z_inside: [Vec<f64>; PARTS + 1],
    /// Upper bounds of the rates of the event indicators at both ends of a step.
    rates: Vec<f64>,
}

impl Simulation {
    /// Creates a simulation at its start, `t = 0`.
    ///
    /// # Errors
    /// [`Error::Solver`] if the spec's solver settings are invalid, [`Error::NotFinite`] if an
    /// initial state overflows, [`Error::Assembly`] if a loop cannot be closed.
    pub fn new(plant: Plant) -> Result<Self, Error> {
        let model = plant.model();
        let stepper = stepper(model, supported_limits(model, None, model.work_limit()))?;
        Self::by(plant, stepper)
    }

    /// Creates a simulation for an importer with its own integrator (Model Exchange). It cannot
    /// [`advance`](Self::advance) and allocates nothing for an integrator.
    ///
    /// # Errors
    /// [`Error::NotFinite`] if an initial state overflows, [`Error::Assembly`] if a loop cannot be
    /// closed.
    pub fn without_integrator(plant: Plant) -> Result<Self, Error> {
        Self::by(plant, solver::none()?)
    }

    fn by(plant: Plant, stepper: Stepper) -> Result<Self, Error> {
        let model = plant.model();
        let workspace = Workspace {
            u: vec![0.0; model.inputs.len()],
            x: vec![0.0; model.states.len()],
            x_before: vec![0.0; model.states.len()],
            dx_before: vec![0.0; model.states.len()],
            z_before: vec![0.0; model.indicator_count()],
            z_after: vec![0.0; model.indicator_count()],
            z: vec![0.0; model.indicator_count()],
            z_inside: std::array::from_fn(|_| vec![0.0; model.indicator_count()]),
            rates: vec![0.0; model.indicator_count()],
        };
        let method = stepper.settings().method();
        let state_jacobian = method.needs_jacobian().then(|| StateJacobian::new(model));
        let is_conserving = matches!(method, Method::Conserving { .. });
        let own_step = (is_conserving.then(|| ConservingStep::new(model)).flatten()).map(Box::new);
        let mut simulation = Self {
            state: State::new(model, stepper.settings()),
            plant,
            stepper,
            step_source: StepSource::Own,
            statistics: Statistics::default(),
            event_handling: EventHandling::default(),
            jumped_at: None,
            workspace,
            ahead: None,
            state_jacobian,
            own_step,
        };
        simulation.restart(0.0)?;
        Ok(simulation)
    }

    /// Begins a run at the time `t` (s) with the integrator of [`set_solver`](Self::set_solver):
    /// computes the initial states from the parameters and keeps the inputs.
    ///
    /// # Errors
    /// Those of [`set_solver`](Self::set_solver) and [`restart`](Self::restart).
    pub fn initialise(&mut self, t: f64, tolerance: Option<f64>, work_limit: f64) -> Result<(), Error> {
        self.set_solver(tolerance, work_limit)?;
        self.restart(t)
    }

    /// Rebuilds the integrator if the tolerance or the limit has changed.
    ///
    /// `tolerance` is the importer's relative tolerance; without one the spec's is used.
    /// `work_limit` is the largest number of evaluations of the dynamics in one
    /// [`advance`](Self::advance).
    ///
    /// # Errors
    /// [`Error::Solver`] if the settings are invalid, such as a tolerance that is not a number.
    pub fn set_solver(&mut self, tolerance: Option<f64>, work_limit: f64) -> Result<(), Error> {
        let model = self.plant.model();
        let supported_limits = supported_limits(model, tolerance, work_limit);
        let settings = self.stepper.settings();
        if (settings.relative_tolerance(), settings.max_evaluations()) != supported_limits {
            self.stepper = stepper(model, supported_limits)?;
        }
        Ok(())
    }

    /// Begins a run like [`initialise`](Self::initialise), with the integrator unchanged.
    ///
    /// # Errors
    /// [`Error::NotFinite`] if an initial state overflows, [`Error::Assembly`] if a loop cannot be
    /// closed.
    pub fn restart(&mut self, t: f64) -> Result<(), Error> {
        self.state.t = t;
        self.state.memory = Memory::new(self.stepper.settings());
        self.state.monitored = Monitored::NOTHING;
        self.state.due = DueEvent::Unknown;
        let State { x, u, discrete, .. } = &mut self.state;
        self.plant.start_with(t, x, u, discrete)?;
        self.statistics = Statistics::default();
        self.forget_derivatives();
        let Some(i) = self.state.x.iter().position(|x| !x.is_finite()) else {
            return Ok(());
        };
        // The states are not used before a successful start, but a saved state must be finite.
        self.state.x.fill(0.0);
        let variable = self.plant.model().states[i].name.clone();
        Err(Error::NotFinite { variable, t })
    }

    /// Updates limit states and signal segments, before the first step, to the inputs that were set
    /// since the run began.
    pub fn initialise_modes(&mut self) {
        let State { t, x, u, discrete, .. } = &mut self.state;
        self.plant.initialise_modes(*t, x, u, discrete);
    }

    /// Updates limit states and signal segments after a change of parameters during the run;
    /// appends the events of limits that are now exceeded to `events`.
    pub fn update_limits(&mut self, events: &mut Vec<Event>) {
        let State { t, x, u, discrete, .. } = &mut self.state;
        if self.plant.update_limits(*t, x, u, discrete, events) {
            self.statistics.events += 1;
            self.forget_derivatives();
            self.state.memory.invalidate_jacobian();
        }
    }

    /// Replaces the states during a run. Captures, motions of joints and contact states stay; limit
    /// states and friction that sticks are those of the new states, and integrator and monitoring
    /// start anew. Appends the events of limits that are now exceeded to `events`.
    ///
    /// # Errors
    /// Those of [`Plant::replace_states`]; the state is then undefined.
    pub fn set_states(&mut self, states: &[f64], events: &mut Vec<Event>) -> Result<(), Error> {
        let State { t, x, u, discrete, .. } = &mut self.state;
        x.copy_from_slice(states);
        self.plant.replace_states(*t, x, u, discrete, events)?;
        self.state.memory = Memory::new(self.stepper.settings());
        self.state.monitored = Monitored {
            steps: Monitored::ANEW,
            ..Monitored::NOTHING
        };
        self.forget_derivatives();
        Ok(())
    }

    /// Discards the integrator's stored derivatives. Required after a caller has changed time,
    /// states, inputs, discrete state or parameters.
    pub fn invalidate(&mut self) {
        self.forget_derivatives();
    }

    /// Discards stored derivatives and evaluations that were made ahead.
    fn forget_derivatives(&mut self) {
        self.stepper.invalidate();
        if let Some(ahead) = &mut self.ahead {
            ahead.clear();
        }
    }

    /// Returns the work done since initialisation.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Takes one step, at most to the time `stop` (s), and monitors it. Returns true if it ends at
    /// a state event.
    fn step_to_event(&mut self, (t_start, stop): (f64, f64), events: &mut Vec<Event>) -> Result<bool, Error> {
        let t_before = self.state.t;
        self.update_indicators(t_start);
        let sine = self.begin_singularity_check(t_start)?;
        match self.step(t_start, stop) {
            Ok(Some(method)) => events.push(changed_to(method, self.state.t)),
            Ok(None) => {}
            Err(error) => return Err(self.explained(error, sine)),
        }
        let singular = match sine {
            Some(sine) => self.check_step((t_start, t_before), sine)?,
            None => None,
        };
        std::mem::swap(&mut self.workspace.z_before, &mut self.workspace.z_after);
        self.update_indicators(t_start);
        std::mem::swap(&mut self.workspace.z_before, &mut self.workspace.z_after);
        let crossed = |(before, after): (&f64, &f64)| *before > 0.0 && *after <= 0.0;
        let crosses = self.workspace.z_before.iter().zip(&self.workspace.z_after).any(crossed);
        let (x, discrete, h) = (&self.state.x, &self.state.discrete, self.state.t - t_before);
        let may_cross = crosses || self.plant.may_touch(x, discrete, h);
        let crossed = may_cross && self.go_back_to_first_crossing(t_start, t_before)?;
        if let Some((_, error)) = singular.filter(|(at, _)| *at <= self.state.t) {
            return Err(error);
        }
        self.check_balance(t_start, 1.0)?;
        Ok(crossed)
    }

    /// Computes the event indicators at the current state into `z_before`; inputs are extrapolated
    /// from `t_start`.
    fn update_indicators(&mut self, t_start: f64) {
        let (state, Workspace { u, z_before, .. }) = (&self.state, &mut self.workspace);
        self.plant.indicators(state.extrapolated(t_start, u), z_before);
    }

    /// Takes the samples of sensors that are scheduled at the current time, also at the end of a
    /// call: its outputs are then those of this sample. The dynamics do not depend on them.
    fn sample_sensors(&mut self, t_start: f64) -> Result<(), Error> {
        let State {
            t,
            x,
            u,
            u_derivatives,
            discrete,
            ..
        } = &mut self.state;
        state::inputs_after(*t - t_start, u, u_derivatives, &mut self.workspace.u);
        if self.plant.sample_sensors(*t, x, &self.workspace.u, discrete)? {
            self.statistics.events += 1;
        }
        Ok(())
    }

    /// Takes the samples of control laws and sensors that are scheduled at the current time.
    fn sample(&mut self, t_start: f64) -> Result<(), Error> {
        let State {
            t,
            x,
            u,
            u_derivatives,
            discrete,
            ..
        } = &mut self.state;
        state::inputs_after(*t - t_start, u, u_derivatives, &mut self.workspace.u);
        if self.plant.sample(*t, x, &self.workspace.u, discrete)? {
            self.statistics.events += 1;
            self.forget_derivatives();
        }
        Ok(())
    }

    /// Carries out commands (impulses, captures, joint motions) that have changed since the last
    /// event.
    ///
    /// # Errors
    /// Those of [`Plant::update`].
    pub fn execute_commands(&mut self, events: &mut Vec<Event>) -> Result<(), Error> {
        self.execute_commands_since(self.state.t, events)
    }

    fn execute_commands_since(&mut self, t_start: f64, events: &mut Vec<Event>) -> Result<(), Error> {
        if self.needs_command_event() {
            self.handle_event(t_start, events)?;
        }
        Ok(())
    }

    /// Returns true if a command has changed since the last event.
    fn needs_command_event(&mut self) -> bool {
        let State { t, u, discrete, .. } = &self.state;
        self.plant.needs_command_event(*t, u, discrete)
    }

    fn handle_event(&mut self, t_start: f64, events: &mut Vec<Event>) -> Result<(), Error> {
        let State {
            t,
            x,
            u,
            u_derivatives,
            discrete,
            ..
        } = &mut self.state;
        state::inputs_after(*t - t_start, u, u_derivatives, &mut self.workspace.u);
        let u = self.workspace.u.as_slice();
        let changes = self.plant.update(*t, x, u, discrete, events);
        if let Some(ahead) = &mut self.ahead {
            ahead.clear();
        }
        if changes.as_ref().is_ok_and(|changes| changes.states) {
            self.jumped_at = Some(*t);
            // The energy of an impulse is seen even if it is lost again within a few steps.
            self.state.monitored.check_at_next_step();
        }
        if changes.as_ref().is_ok_and(|changes| changes.modes) {
            self.statistics.events += 1;
            self.forget_derivatives();
            self.state.memory.invalidate_jacobian();
            self.state.monitored.sine = 0.0;
        }
        changes.map(|_| ())
    }

    /// Takes one accepted step, at most to the time `limit` (s). Returns the method of the next
    /// step if [`Method::Auto`] has changed it.
    fn step(&mut self, t_start: f64, limit: f64) -> Result<Option<Method>, Error> {
        let State {
            t,
            x,
            u,
            u_derivatives,
            discrete,
            memory,
            ..
        } = &mut self.state;
        let mut motion = Motion {
            plant: &mut self.plant,
            t_start,
            inputs: (u, u_derivatives),
            discrete,
            u: &mut self.workspace.u,
            state_jacobian: self.state_jacobian.as_mut(),
            own_step: self.own_step.as_deref_mut(),
            ahead: self.ahead.as_deref(),
        };
        self.step_source.before_step(memory);
        let taken = self.stepper.step(&mut motion, *t, limit, x, memory);
        self.step_source.after_step(taken.as_ref().ok());
        match taken {
            Ok(step) => {
                *t = step.t;
                if let Some(results) = self.ahead.as_deref().and_then(|ahead| ahead.end(*t, x)) {
                    state::inputs_after(*t - t_start, u, u_derivatives, &mut self.workspace.u);
                    let at = OperatingPoint::new(*t, x, &self.workspace.u, discrete);
                    self.plant.set_results(at, results);
                }
                self.statistics.steps += 1;
                self.statistics.rejected += u64::from(step.rejections);
                Ok(step.changed_to)
            }
            Err(error) => {
                let limit = self.stepper.settings().max_evaluations();
                Err(named(error, self.plant.model(), limit))
            }
        }
    }

    /// Calls `evaluate` with the plant, the last step's dense output, workspace for a state, and
    /// the discrete state.
    fn inside_step<T>(
        &mut self,
        t_start: f64,
        evaluate: impl FnOnce(&mut Plant, &dyn Fn(f64, &mut [f64]), &mut [f64], &Discrete) -> T,
    ) -> Result<T, Error> {
        let State {
            u,
            u_derivatives,
            discrete,
            ..
        } = &self.state;
        let mut motion = Motion {
            plant: &mut self.plant,
            t_start,
            inputs: (u, u_derivatives),
            discrete,
            u: &mut self.workspace.u,
            state_jacobian: self.state_jacobian.as_mut(),
            own_step: self.own_step.as_deref_mut(),
            ahead: None,
        };
        let limit = self.stepper.settings().max_evaluations();
        let dense = self.stepper.dense(&mut motion);
        let dense = dense.map_err(|error| named(error, motion.plant.model(), limit))?;
        let interpolate = |at: f64, x: &mut [f64]| dense.interpolate(at, x);
        Ok(evaluate(motion.plant, &interpolate, &mut self.workspace.x, discrete))
    }
}
