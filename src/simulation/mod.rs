//! Plant, integrator and events together: one call advances the time.
//!
//! Co-Simulation and the command line go through [`Simulation::advance`]; in Model Exchange the host
//! does this work itself and uses the [`Plant`] alone.

mod monitor;
mod motion;
mod solver;
mod state;

pub use state::{INPUT_ORDER, Monitored, State};

use crate::Error;
use crate::integrate::{Memory, Method, Stepper, root};
use crate::loads::reached;
use crate::plant::{ConservingStep, Discrete, Plant, StateJacobian};
use motion::Motion;
use solver::{changed_to, demands, named, stepper};

/// A plant in motion.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The model with its parameters.
    pub plant: Plant,
    /// Where it is. Whoever changes it tells so by [`invalidate`](Self::invalidate).
    pub state: State,
    stepper: Stepper,
    statistics: Statistics,
    room: Room,
    /// The plant's derivatives by its states, if the method asks for them.
    state_jacobian: Option<StateJacobian>,
    /// Its own step, if that is the method.
    own_step: Option<Box<ConservingStep>>,
}

/// How much work was done since initialisation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Accepted steps.
    pub steps: u64,
    /// Rejected steps.
    pub rejected: u64,
    /// Evaluations of the dynamics.
    pub evaluations: u64,
    /// Events: changes of modes.
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

/// Vectors that are lost between calls.
#[derive(Clone, Debug)]
struct Room {
    u: Vec<f64>,
    x: Vec<f64>,
    /// States and their derivatives at the start of a step.
    x_before: Vec<f64>,
    dx_before: Vec<f64>,
    z_before: Vec<f64>,
    z_after: Vec<f64>,
    z: Vec<f64>,
    /// The indicators at the instants that are looked at inside a step.
    looks: [Vec<f64>; LOOKS + 1],
}

/// How many parts of a step are looked at for surfaces that touch and part again inside it.
const LOOKS: usize = 8;

impl Simulation {
    /// A simulation at its start, `t = 0`.
    ///
    /// # Errors
    /// [`Error::Solver`] if the spec's solver settings are refused, [`Error::NotFinite`] if an initial state overflows.
    pub fn new(plant: Plant) -> Result<Self, Error> {
        let model = plant.model();
        let stepper = stepper(model, demands(model, None, model.work_limit()))?;
        Self::by(plant, stepper)
    }

    /// A simulation for a host that integrates by itself: it cannot [`advance`](Self::advance), and has neither room nor memory for a method.
    ///
    /// # Errors
    /// [`Error::NotFinite`] if an initial state overflows.
    pub fn of_host(plant: Plant) -> Result<Self, Error> {
        Self::by(plant, solver::none()?)
    }

    fn by(plant: Plant, stepper: Stepper) -> Result<Self, Error> {
        let model = plant.model();
        let room = Room {
            u: vec![0.0; model.inputs.len()],
            x: vec![0.0; model.states.len()],
            x_before: vec![0.0; model.states.len()],
            dx_before: vec![0.0; model.states.len()],
            z_before: vec![0.0; model.indicator_count()],
            z_after: vec![0.0; model.indicator_count()],
            z: vec![0.0; model.indicator_count()],
            looks: std::array::from_fn(|_| vec![0.0; model.indicator_count()]),
        };
        let method = stepper.settings().method();
        let state_jacobian = method.asks_for_jacobian().then(|| StateJacobian::new(model));
        let is_conserving = matches!(method, Method::Conserving { .. });
        let own_step = (is_conserving.then(|| ConservingStep::new(model)).flatten()).map(Box::new);
        let mut simulation = Self {
            state: State::new(model, stepper.settings()),
            plant,
            stepper,
            statistics: Statistics::default(),
            room,
            state_jacobian,
            own_step,
        };
        simulation.restart(0.0)?;
        Ok(simulation)
    }

    /// Begins a run at the time `t` (s): initial states from the parameters, inputs as they are, and the integrator of
    /// [`set_solver`](Self::set_solver).
    ///
    /// # Errors
    /// [`Error::Solver`] if the tolerance is refused, [`Error::NotFinite`] if an initial state overflows.
    pub fn initialise(&mut self, t: f64, tolerance: Option<f64>, work_limit: f64) -> Result<(), Error> {
        self.set_solver(tolerance, work_limit)?;
        self.restart(t)
    }

    /// Makes the integrator anew if it is of another tolerance or limit.
    ///
    /// `tolerance` is the host's relative tolerance (the spec's if it has none), `work_limit` the most
    /// evaluations of the dynamics in one [`advance`](Self::advance).
    ///
    /// # Errors
    /// [`Error::Solver`] if the tolerance is refused.
    pub fn set_solver(&mut self, tolerance: Option<f64>, work_limit: f64) -> Result<(), Error> {
        let model = self.plant.model();
        let demands = demands(model, tolerance, work_limit);
        let settings = self.stepper.settings();
        if (settings.relative_tolerance(), settings.max_evaluations()) != demands {
            self.stepper = stepper(model, demands)?;
        }
        Ok(())
    }

    /// The same with the integrator as it is.
    ///
    /// # Errors
    /// [`Error::NotFinite`] if an initial state overflows.
    pub fn restart(&mut self, t: f64) -> Result<(), Error> {
        self.state.t = t;
        self.state.memory = Memory::new(self.stepper.settings());
        self.state.monitored = Monitored::NOTHING;
        let State { x, u, discrete, .. } = &mut self.state;
        self.plant.start_with(t, (x, u), discrete)?;
        self.statistics = Statistics::default();
        self.stepper.invalidate();
        let Some(i) = self.state.x.iter().position(|x| !x.is_finite()) else {
            return Ok(());
        };
        // Nobody sees them before there is a start; a saved state has to have numbers.
        self.state.x.fill(0.0);
        let variable = self.plant.model().states[i].name.clone();
        Err(Error::NotFinite { variable, t })
    }

    /// Brings the modes to where the inputs are that have been set since the run began, and no step was taken.
    pub fn initialise_modes(&mut self) {
        let State { t, x, u, discrete, .. } = &mut self.state;
        self.plant.initialise_modes(*t, (x, u), discrete);
    }

    /// Brings the modes to where the parameters are that have been changed while it runs; what the user should know is added to `messages`.
    pub fn update_sides(&mut self, messages: &mut Vec<String>) {
        let State { t, x, u, discrete, .. } = &mut self.state;
        if self.plant.update_sides(*t, (x, u), &mut discrete.modes, messages) {
            self.statistics.events += 1;
            self.stepper.invalidate();
        }
    }

    /// Tells that time, states, inputs, modes or parameters were changed from outside.
    pub fn invalidate(&mut self) {
        self.stepper.invalidate();
    }

    /// The work since initialisation.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Integrates to exactly `t_end` (s), through all events on the way; what the user should know of them
    /// is added to `messages`.
    ///
    /// Inputs follow their derivatives from the time at which the call begins; when it ends, they stand at their
    /// last values and the derivatives are zero.
    ///
    /// # Errors
    /// [`Error::WorkLimit`] and [`Error::Integration`], [`Error::NotFinite`] if an input's derivatives lead beyond all numbers, or what the dynamics says. The state then is that of the last
    /// accepted step, and a further call goes on from there.
    pub fn advance(&mut self, t_end: f64, messages: &mut Vec<String>) -> Result<(), Error> {
        let t_start = self.state.t;
        self.check_inputs(t_end)?;
        self.stepper.begin_call();
        let result = self.advance_through_events(t_start, t_end, messages);
        self.statistics.evaluations += self.stepper.evaluations();
        let way = self.state.t - t_start;
        self.state.shift_inputs(way);
        if result.is_ok() {
            self.state.clear_input_derivatives();
        }
        result
    }

    /// Whether inputs and their derivatives are finite where their derivatives bring them by `t_end` (s).
    fn check_inputs(&mut self, t_end: f64) -> Result<(), Error> {
        let (model, state) = (self.plant.model(), &self.state);
        match state.first_overflow(t_end - state.t) {
            None => Ok(()),
            Some(i) => Err(Error::NotFinite {
                variable: model.inputs[i].quantity.name.clone(),
                t: t_end,
            }),
        }
    }

    fn advance_through_events(&mut self, t_start: f64, t_end: f64, messages: &mut Vec<String>) -> Result<(), Error> {
        // What an event could not do at the end of the last call still waits.
        let is_start = self.state.monitored.steps == Monitored::BEFORE;
        self.check_balance(t_start, 0.0)?;
        self.look(t_start);
        if self.room.z_before.iter().any(|&z| z <= 0.0) {
            self.handle_event(t_start, messages)?;
        }
        if is_start {
            self.obey_since(t_start, messages)?;
            let State { t, u, discrete, .. } = &self.state;
            self.plant.check_captured(*t, u, discrete)?;
        }
        // Stops without a step are work too.
        let (limit, mut stops) = (self.stepper.settings().max_evaluations(), 0);
        while self.state.t < t_end {
            if stops == limit {
                return Err(Error::WorkLimit { t: self.state.t, limit });
            }
            self.obey_since(t_start, messages)?;
            let event = self.plant.next_time_event(&self.state.discrete);
            if event.is_some_and(|event| reached(event, self.state.t)) {
                self.handle_event(t_start, messages)?;
                self.sample(t_start)?;
                stops += 1;
                continue;
            }
            // What is due where the call ends is no reason to stop just before.
            let stop = event.filter(|&event| !reached(t_end, event)).unwrap_or(t_end);
            if self.state.x.is_empty() {
                // Nothing moves: the way to there has no events.
                self.state.t = stop;
                self.handle_event(t_start, messages)?;
                stops += 1;
                continue;
            }
            let t_before = self.state.t;
            self.look(t_start);
            let sine = self.begin_watch(t_start)?;
            match self.step(t_start, stop) {
                Ok(Some(method)) => messages.push(changed_to(method, self.state.t)),
                Ok(None) => {}
                Err(error) => return Err(self.explained(error, sine)),
            }
            let singular = match sine {
                Some(sine) => self.watch_step((t_start, t_before), sine)?,
                None => None,
            };
            std::mem::swap(&mut self.room.z_before, &mut self.room.z_after);
            self.look(t_start);
            std::mem::swap(&mut self.room.z_before, &mut self.room.z_after);
            let crossed = |(before, after): (&f64, &f64)| *before > 0.0 && *after <= 0.0;
            let crosses = self.room.z_before.iter().zip(&self.room.z_after).any(crossed);
            let (x, discrete, h) = (&self.state.x, &self.state.discrete, self.state.t - t_before);
            let may_cross = crosses || self.plant.may_touch(x, discrete, h);
            let crossed = may_cross && self.go_back_to_first_crossing(t_start, t_before)?;
            if let Some((_, error)) = singular.filter(|(at, _)| *at <= self.state.t) {
                return Err(error);
            }
            self.check_balance(t_start, 1.0)?;
            if crossed || event.is_some_and(|event| reached(event, self.state.t)) {
                self.handle_event(t_start, messages)?;
            }
        }
        Ok(())
    }

    /// Computes the event indicators where it is, into `z_before`; the inputs had their values at `t_start`.
    fn look(&mut self, t_start: f64) {
        let (State { t, x, discrete, .. }, Room { u, z_before, .. }) = (&self.state, &mut self.room);
        state::inputs_after(t - t_start, &self.state.u, &self.state.u_derivatives, u);
        self.plant.indicators(*t, (x, u), discrete, z_before);
    }

    /// Lets a controller look at its inputs, if it is time.
    fn sample(&mut self, t_start: f64) -> Result<(), Error> {
        let State {
            t,
            u,
            u_derivatives,
            discrete,
            ..
        } = &mut self.state;
        state::inputs_after(*t - t_start, u, u_derivatives, &mut self.room.u);
        let sampled = self.plant.sample(*t, &self.room.u, discrete)?;
        self.statistics.events += u64::from(sampled);
        Ok(())
    }

    /// Obeys what is commanded now.
    ///
    /// # Errors
    /// What [`Plant::update`] says.
    pub fn obey(&mut self, messages: &mut Vec<String>) -> Result<(), Error> {
        self.obey_since(self.state.t, messages)
    }

    fn obey_since(&mut self, t_start: f64, messages: &mut Vec<String>) -> Result<(), Error> {
        if self
            .plant
            .command_waits(self.state.t, &self.state.u, &self.state.discrete)
        {
            self.handle_event(t_start, messages)?;
        }
        Ok(())
    }

    fn handle_event(&mut self, t_start: f64, messages: &mut Vec<String>) -> Result<(), Error> {
        let State {
            t,
            x,
            u,
            u_derivatives,
            discrete,
            ..
        } = &mut self.state;
        state::inputs_after(*t - t_start, u, u_derivatives, &mut self.room.u);
        let u = self.room.u.as_slice();
        let changes = self.plant.update(*t, (x, u), discrete, messages);
        if changes.as_ref().is_ok_and(|changes| changes.modes) {
            self.statistics.events += 1;
            self.stepper.invalidate();
            self.state.monitored.sine = 0.0;
        }
        changes.map(|_| ())
    }

    /// One accepted step, not beyond `limit`; the method of the next one if it has changed.
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
            u: &mut self.room.u,
            state_jacobian: self.state_jacobian.as_mut(),
            own_step: self.own_step.as_deref_mut(),
        };
        match self.stepper.step(&mut motion, *t, limit, x, memory) {
            Ok(step) => {
                *t = step.t;
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

    /// Gives the last step's dense output to `look`, with the plant, workspace for a state, and what changes at events only.
    fn inside_step<T>(
        &mut self,
        t_start: f64,
        look: impl FnOnce(&mut Plant, &dyn Fn(f64, &mut [f64]), &mut [f64], &Discrete) -> T,
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
            u: &mut self.room.u,
            state_jacobian: self.state_jacobian.as_mut(),
            own_step: self.own_step.as_deref_mut(),
        };
        let limit = self.stepper.settings().max_evaluations();
        let dense = self.stepper.dense(&mut motion);
        let dense = dense.map_err(|error| named(error, motion.plant.model(), limit))?;
        let interpolate = |at: f64, x: &mut [f64]| dense.interpolate(at, x);
        Ok(look(motion.plant, &interpolate, &mut self.room.x, discrete))
    }

    /// Puts time and state of the last step back to where the first indicator changed its side; whether one did.
    fn go_back_to_first_crossing(&mut self, t_start: f64, t_before: f64) -> Result<bool, Error> {
        let State {
            t,
            x,
            u,
            u_derivatives,
            discrete,
            memory,
            ..
        } = &mut self.state;
        let Room {
            u: u_inside,
            x: x_inside,
            z_before,
            z_after,
            z,
            looks,
            ..
        } = &mut self.room;
        let mut motion = Motion {
            plant: &mut self.plant,
            t_start,
            inputs: (u, u_derivatives),
            discrete,
            u: u_inside,
            state_jacobian: self.state_jacobian.as_mut(),
            own_step: self.own_step.as_deref_mut(),
        };
        let steps_to_events = self.stepper.settings().method().steps_to_events();
        let limit = self.stepper.settings().max_evaluations();
        let dense = self.stepper.dense(&mut motion);
        let dense = dense.map_err(|error| named(error, motion.plant.model(), limit))?;
        let Motion { plant, u: u_inside, .. } = &mut motion;
        let t_end = *t;
        let times: [f64; LOOKS + 1] =
            std::array::from_fn(|k| t_before + (t_end - t_before) * (k as f64 / LOOKS as f64));
        looks[0].copy_from_slice(z_before);
        looks[LOOKS].copy_from_slice(z_after);
        for (z, &at) in looks[1..LOOKS].iter_mut().zip(&times[1..LOOKS]) {
            dense.interpolate(at, x_inside);
            state::inputs_after(at - t_start, u, u_derivatives, u_inside);
            plant.indicators(at, (x_inside, u_inside), discrete, z);
        }
        let mut first = None;
        for i in 0..z_before.len() {
            let mut indicator = |at: f64| {
                dense.interpolate(at, x_inside);
                state::inputs_after(at - t_start, u, u_derivatives, u_inside);
                plant.indicators(at, (x_inside, u_inside), discrete, z);
                z[i]
            };
            let samples: [(f64, f64); LOOKS + 1] = std::array::from_fn(|k| (times[k], looks[k][i]));
            if let Some(crossing) = root::first_crossing(&samples, &mut indicator) {
                first = Some(first.unwrap_or(t_end).min(crossing));
            }
        }
        if let Some(first) = first.filter(|first| *first < t_end) {
            if steps_to_events {
                dense.interpolate(t_before, x);
                *t = t_before;
                let step = self.stepper.step(&mut motion, t_before, first, x, memory);
                step.map_err(|error| named(error, self.plant.model(), limit))?;
            } else {
                dense.interpolate(first, x);
            }
            *t = first;
        }
        Ok(first.is_some())
    }
}
