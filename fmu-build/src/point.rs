//! An operating point of a model, at which the model is linearised.

use crate::control::Control;
use crate::signals::DrivenInputs;
use grapple::fmu::component::Component;
use grapple::plant::{Discrete, Linearisation, Model, OperatingPoint, Plant};
use grapple::simulation::{Simulation, State};
use grapple::{Error, Event};
use std::sync::Arc;

/// Time, states, inputs and discrete state, with the plant.
pub struct Point {
    plant: Plant,
    /// Time, s.
    pub t: f64,
    /// States.
    pub x: Vec<f64>,
    /// Inputs.
    pub u: Vec<f64>,
    discrete: Discrete,
}

impl Point {
    /// Returns the start of a run, with the inputs' start values.
    pub fn start(model: &Arc<Model>) -> Result<Self, Error> {
        Self::with(Plant::new(Arc::clone(model))?)
    }

    /// Returns the start of a run with the plant's parameters and the inputs' start values.
    pub fn with(mut plant: Plant) -> Result<Self, Error> {
        let model = Arc::clone(plant.model());
        let (mut x, mut discrete) = (vec![0.0; model.states.len()], model.discrete());
        plant.start(0.0, &mut x, &mut discrete)?;
        Ok(Self {
            plant,
            t: 0.0,
            x,
            u: model.inputs.iter().map(|input| input.start).collect(),
            discrete,
        })
    }

    /// Runs a model, with the spec's signals at the inputs, up to the time `t` (s). Returns the
    /// operating point there, and the events of commands that are applied at that time.
    ///
    /// # Errors
    /// Those of the run; [`Error::Interrupted`] if it is cancelled.
    pub fn of_run(model: &Arc<Model>, t: f64, control: &Control) -> Result<(Self, Vec<Event>), Error> {
        let spec = &model.spec;
        let feed = DrivenInputs::of(spec.signal.iter(), |name| {
            let place = model.inputs.iter().position(|input| input.quantity.name == name)?;
            Some((place as u32, model.inputs[place].is_discrete()))
        });
        let inputs: Vec<usize> = feed.references.iter().map(|&input| input as usize).collect();
        let mut simulation = Simulation::new(Plant::new(Arc::clone(model))?)?;
        simulation.initialise(0.0, None, 1e18)?;
        let set = |values: Vec<f64>, to: &mut [f64]| inputs.iter().zip(values).for_each(|(&i, value)| to[i] = value);
        let (mut now, mut steps) = (0.0, 1.0);
        while now < t {
            let stop = feed.next_stop(now, (steps * spec.experiment.step).min(t));
            set(feed.values(now), &mut simulation.state.u);
            let orders = simulation.state.u_derivatives.iter_mut();
            for (order, values) in orders.zip(feed.derivatives(now, stop - now)) {
                set(values, order);
            }
            simulation.invalidate();
            simulation.advance_while(stop, &mut Vec::new(), &mut || control.flow())?;
            if stop >= steps * spec.experiment.step {
                steps += 1.0;
            }
            now = stop;
        }
        set(feed.values(now), &mut simulation.state.u);
        Self::of(simulation)
    }

    /// Returns the operating point of a saved state of the model's FMU: the bytes of
    /// `fmi2SerializeFMUstate`.
    pub fn saved(model: &Arc<Model>, bytes: &[u8]) -> Result<Self, String> {
        let simulation = Component::of_saved(model, bytes)?.into_simulation();
        Self::of(simulation)
            .map(|(point, _)| point)
            .map_err(|error| error.to_string())
    }

    /// Returns the present state of a simulation, and the events of commands that are pending, which
    /// are applied.
    fn of(simulation: Simulation) -> Result<(Self, Vec<Event>), Error> {
        let Simulation { mut plant, state, .. } = simulation;
        let State {
            t,
            mut x,
            u,
            mut discrete,
            ..
        } = state;
        let mut events = Vec::new();
        plant.update(t, &mut x, &u, &mut discrete, &mut events)?;
        Ok((
            Self {
                plant,
                t,
                x,
                u,
                discrete,
            },
            events,
        ))
    }

    /// Returns the outputs here.
    pub fn outputs(&mut self) -> Result<Vec<f64>, Error> {
        let model = Arc::clone(self.plant.model());
        let (mut dx, mut y) = (vec![0.0; model.states.len()], vec![0.0; model.outputs.len()]);
        let at = OperatingPoint::new(self.t, &self.x, &self.u, &self.discrete);
        self.plant.evaluate(at, &mut dx, &mut y)?;
        Ok(y)
    }

    /// Returns the states and outputs here by name.
    pub fn values(&mut self) -> Result<Vec<(String, f64)>, Error> {
        let outputs = self.outputs()?;
        let model = self.plant.model();
        let states = model.states.iter().zip(self.x.iter().copied());
        let outputs = model.outputs.iter().map(|output| &output.quantity).zip(outputs);
        Ok(states
            .chain(outputs)
            .map(|(of, value)| (of.name.clone(), value))
            .collect())
    }

    /// Linearises the model here.
    pub fn linearised(&mut self) -> Result<Linearisation, Error> {
        let Self {
            plant,
            t,
            x,
            u,
            discrete,
        } = self;
        Linearisation::new(plant, OperatingPoint::new(*t, x, u, discrete))
    }

    /// Linearises the model at other states.
    pub fn linearised_at(&mut self, x: &[f64]) -> Result<Linearisation, Error> {
        let at = OperatingPoint::new(self.t, x, &self.u, &self.discrete);
        Linearisation::new(&mut self.plant, at)
    }

    /// Linearises the model here with these parameters set to zero; none if all are zero already.
    pub fn linearised_without(&mut self, parameters: &[String]) -> Result<Option<Linearisation>, Error> {
        let written = self.plant.parameters().to_vec();
        let declared = &self.plant.model().parameters;
        let mut without = written.clone();
        for (value, parameter) in without.iter_mut().zip(declared) {
            if parameters.contains(&parameter.quantity.name) {
                *value = 0.0;
            }
        }
        if without == written {
            return Ok(None);
        }
        self.plant.set_parameters(&without)?;
        let linear = self.linearised();
        self.plant.set_parameters(&written)?;
        linear.map(Some)
    }
}
