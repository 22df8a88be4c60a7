//! The waist of the house: above it nobody knows bodies, below it nobody knows FMI.
//!
//! A [`Model`] is what never changes; a [`Plant`] is a model with parameter values, ready to be
//! evaluated at any time, state and input. It keeps no time and no state of its own.

mod assembly;
mod captures;
mod closure;
mod conserving_step;
mod controller;
mod coordinates;
mod deflection_limit;
mod discrete;
mod equilibrium;
mod evaluation;
mod events;
mod feed_forward;
mod impact;
mod impulse;
mod influence;
mod layout;
mod linearisation;
mod linearly_implicit;
mod model;
mod numbers;
mod outputs;
mod remarks;
mod report;
mod resource;
mod sampling;
mod sides;
mod start;
mod start_checks;
mod start_derivatives;
mod state_jacobian;
mod tangent;
mod touch;
mod watch;
mod work;

pub use assembly::Assembly;
pub use conserving_step::ConservingStep;
pub use discrete::Discrete;
pub use equilibrium::Equilibrium;
use evaluation::Evaluation;
pub use events::Changes;
pub use influence::{Influence, Knowns};
pub use linearisation::Linearisation;
pub use model::{Model, Monitor, Output, OutputKind};
pub use remarks::Remarks;
pub use start_derivatives::StartAlong;
pub use state_jacobian::StateJacobian;
pub use tangent::{Jacobians, LANES, Tangent};
pub use watch::Energies;

use crate::Error;
use crate::event::Event;
use crate::system::Derived;
use std::sync::Arc;

/// A model with the values of its parameters, and room to evaluate it.
#[derive(Clone, Debug)]
pub struct Plant {
    model: Arc<Model>,
    parameters: Vec<f64>,
    derived: Derived,
    evaluation: Evaluation<f64>,
    /// Room for what an event makes of the states.
    after: events::After,
    /// What is followed through a step of captures and loops, if there can be any.
    watch: Option<Box<watch::Watch>>,
}

impl Plant {
    /// The plant at the spec's parameter values.
    ///
    /// # Errors
    /// [`Error::Spec`] if they make no sense.
    pub fn new(model: Arc<Model>) -> Result<Self, Error> {
        let parameters = model.parameter_starts();
        let mut problems = Vec::new();
        let derived = model.judge(&parameters, None, &mut problems);
        if !problems.is_empty() {
            return Err(Error::Spec(problems));
        }
        let evaluation = Evaluation::new(&model);
        let after = events::After::new(&model);
        let watch = watch::Watch::new(&model);
        Ok(Self {
            model,
            parameters,
            derived,
            evaluation,
            after,
            watch,
        })
    }

    /// What never changes.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The parameters' values.
    pub fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    /// The constants that follow from them.
    pub fn derived(&self) -> &Derived {
        &self.derived
    }

    /// Takes new values of all parameters, and judges them together.
    ///
    /// # Errors
    /// [`Error::Spec`] with everything that is wrong; the old values then stay.
    pub fn set_parameters(&mut self, values: &[f64]) -> Result<(), Error> {
        self.take(values, None)
    }

    /// The same before a run that begins at the time `t` (s), and with these values has to start where it may.
    ///
    /// # Errors
    /// [`Error::Spec`] with everything that is wrong; the old values then stay.
    pub fn set_parameters_of_start(&mut self, t: f64, values: &[f64]) -> Result<(), Error> {
        self.take(values, Some(t))
    }

    fn take(&mut self, values: &[f64], start: Option<f64>) -> Result<(), Error> {
        let mut problems = Vec::new();
        let before = (self.parameters.as_slice(), &self.derived);
        let derived = self.model.judge(values, Some(before), &mut problems);
        if let Some(t) = start {
            self.model.judge_start(values, &mut problems);
            // Where they make a craft, it can be seen how that stands.
            if problems.is_empty() {
                self.evaluation
                    .judge_start(&self.model, (&derived, values), t, &mut problems);
            }
        }
        if !problems.is_empty() {
            return Err(Error::Spec(problems));
        }
        self.derived = derived;
        self.parameters.copy_from_slice(values);
        Ok(())
    }

    /// The initial states, and what changes at events only, at the time `t` (s), with inputs that nobody has set.
    ///
    /// # Errors
    /// [`Error::Assembly`] if a loop cannot be closed.
    pub fn start(&mut self, t: f64, x: &mut [f64], discrete: &mut Discrete) -> Result<(), Error> {
        let u: Vec<f64> = self.model.inputs.iter().map(|input| input.start).collect();
        self.start_with(t, (x, &u), discrete)
    }

    /// The same with the inputs `u`, on which modes depend and states do not.
    ///
    /// # Errors
    /// [`Error::Assembly`] if a loop cannot be closed.
    pub fn start_with(&mut self, t: f64, (x, u): (&mut [f64], &[f64]), discrete: &mut Discrete) -> Result<(), Error> {
        self.model.start(&self.derived, t, &self.parameters, x)?;
        *discrete = Discrete::new(&self.model);
        self.initialise_modes(t, (x, u), discrete);
        self.start_touches(x, discrete);
        if self.model.loads.closed_loops.is_empty() {
            return Ok(());
        }
        let (derived, parameters) = (&self.derived, self.parameters.as_slice());
        let numbers = numbers::Numbers { derived, parameters };
        self.evaluation.determine_rank(&self.model, numbers, x, discrete);
        Ok(())
    }

    /// Brings the modes to where the inputs are, before the run begins.
    pub fn initialise_modes(&mut self, t: f64, (x, u): (&[f64], &[f64]), discrete: &mut Discrete) {
        self.update_sides(t, (x, u), discrete, &mut Vec::new());
        self.evaluation
            .choose_controlled_sides(&self.model, &self.parameters, t, u, discrete);
    }

    /// Limits that are passed at the start of a run, at the time `t` (s), states `x` and the importer's
    /// inputs `u`.
    pub fn events_of_start(&mut self, t: f64, (x, u): (&[f64], &[f64])) -> Vec<Event> {
        let (mut discrete, mut events) = (Discrete::new(&self.model), Vec::new());
        self.update_sides(t, (x, u), &mut discrete, &mut events);
        events
    }

    /// The states' derivatives.
    ///
    /// # Errors
    /// [`Error::Singular`], [`Error::SingularLoop`] and [`Error::NotFinite`], with the names.
    pub fn derivative(
        &mut self,
        t: f64,
        x: &[f64],
        u: &[f64],
        discrete: &Discrete,
        dx: &mut [f64],
    ) -> Result<(), Error> {
        let numbers = (&self.derived, self.parameters.as_slice());
        self.evaluation
            .derivative(&self.model, numbers, t, (x, u, discrete), dx)?;
        match dx.iter().position(|d| !d.is_finite()) {
            None => Ok(()),
            Some(i) => Err(Error::NotFinite {
                variable: self.model.derivatives[i].name.clone(),
                t,
            }),
        }
    }

    /// The states' derivatives and the outputs.
    ///
    /// # Errors
    /// As [`derivative`](Self::derivative).
    pub fn evaluate(
        &mut self,
        t: f64,
        (x, u, discrete): (&[f64], &[f64], &Discrete),
        dx: &mut [f64],
        y: &mut [f64],
    ) -> Result<(), Error> {
        self.derivative(t, x, u, discrete, dx)?;
        let numbers = (&self.derived, self.parameters.as_slice());
        self.evaluation.outputs(&self.model, numbers, (x, discrete), y);
        Ok(())
    }

    /// When the next piece of a signal ends, or a controller looks at its inputs, s.
    pub fn next_time_event(&self, discrete: &Discrete) -> Option<f64> {
        let ends = self.model.signals.iter().zip(&discrete.segments);
        ends.filter_map(|(signal, &piece)| signal.wave(&self.parameters).end(piece))
            .chain(self.next_sample(discrete))
            .min_by(f64::total_cmp)
    }
}
