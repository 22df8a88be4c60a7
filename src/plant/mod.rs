//! Interface between the mechanics and FMI: the layers above are independent of the equations of
//! motion, the layers below of FMI.
//!
//! A [`Model`] is the constant data; a [`Plant`] is a model with parameter values that can be
//! evaluated at any time, state and input. It stores no time and no state of its own.

mod adjoint;
mod assembly;
mod base_rates;
mod captures;
mod closure;
mod compliant_starts;
mod conserving_step;
mod context;
mod coordinates;
mod dependencies;
mod detection;
mod effective_mass;
mod equilibrium;
mod evaluation;
mod events;
mod feed_forward;
mod frame_kinematics;
mod guided;
mod impact;
mod impact_report;
mod impulse;
mod lanes;
mod limits;
mod linearisation;
mod linearly_implicit;
mod manifolds;
mod mechanics;
mod model;
mod parts;
mod plan;
mod plan_law;
mod remarks;
mod resource;
mod rest;
mod rims;
mod rosenbrock;
mod sampling;
mod shared;
mod singularity;
mod start;
mod start_checks;
mod start_derivatives;
mod state_jacobian;
mod sticking;
mod stiction;
mod tangent;
mod task;
mod work;

#[cfg(feature = "inside")]
test_modules![
    closure,
    dependencies::tests,
    lanes::tests,
    linearly_implicit::tests,
    manifolds::tests,
    rest,
    work::tests
];

use crate::elements::Measured;
pub use crate::elements::{Discrete, Output, OutputKind};
pub use adjoint::{Adjoint, Seeds};
pub use assembly::Assembly;
pub use conserving_step::{ConservingStep, MeanRates};
pub use context::OperatingPoint;
use context::{Constants, Parameterised};
pub use dependencies::{Dependencies, Knowns};
pub use equilibrium::Equilibrium;
use evaluation::Evaluation;
pub use events::Changes;
pub use lanes::{LaneDiscrete, LaneEvaluation, LanePoint, NoLanes};
pub use linearisation::Linearisation;
pub use mechanics::{FrameMotion, Mechanics};
pub(crate) use model::MOST_DENSE;
pub use model::{Model, Monitor};
pub use plan::{Planned, plans};
pub use remarks::Remarks;
use shared::SharedEvaluation;
pub use singularity::Energies;
pub use start_derivatives::StartAlong;
pub use state_jacobian::StateJacobian;
pub use tangent::{Direction, Jacobians, LANES, Tangent};

use crate::Error;
use crate::event::Event;
use crate::integrate::Results;
use crate::system::Derived;
use std::sync::Arc;

/// Model with the values of its parameters and the workspace to evaluate it.
#[derive(Clone, Debug)]
pub struct Plant {
    base: Parameterised,
    evaluation: SharedEvaluation,
    /// Workspace for the states and the discrete state after an event.
    after: events::After,
    /// Workspace to monitor captures and loops over a step; `None` if the model can have neither.
    singularity: Option<Box<singularity::SingularityMonitor>>,
    implicit: rosenbrock::Implicit<f64>,
}

impl Plant {
    /// Builds the plant at the spec's parameter values.
    ///
    /// # Errors
    /// [`Error::Spec`] with the invalid values.
    pub fn new(model: Arc<Model>) -> Result<Self, Error> {
        let parameters = model.parameter_starts();
        let mut problems = Vec::new();
        let derived = model.validate(&parameters, None, &mut problems);
        if problems.is_empty() {
            Ok(Self::with(model, derived))
        } else {
            Err(Error::Spec(problems))
        }
    }

    /// Builds the plant of a model from the constants that follow from its spec's values.
    pub(crate) fn with(model: Arc<Model>, derived: Derived) -> Self {
        let parameters = model.parameter_starts();
        let evaluation = SharedEvaluation::new(&model);
        let after = events::After::new(&model);
        let singularity = singularity::SingularityMonitor::new(&model);
        let implicit = rosenbrock::Implicit::new(&model);
        let base = Parameterised {
            model,
            derived,
            parameters,
        };
        Self {
            base,
            evaluation,
            after,
            singularity,
            implicit,
        }
    }

    /// Returns the constant data.
    pub fn model(&self) -> &Arc<Model> {
        &self.base.model
    }

    /// Returns the parameters' values.
    pub fn parameters(&self) -> &[f64] {
        &self.base.parameters
    }

    /// Returns the constants that are derived from the parameters.
    pub fn derived(&self) -> &Derived {
        &self.base.derived
    }

    /// Returns the model with the values of its parameters.
    fn constants(&self) -> Constants<'_> {
        self.base.constants()
    }

    /// Sets and validates the values of all parameters together.
    ///
    /// # Errors
    /// [`Error::Spec`] with every problem found; the old values then stay.
    pub fn set_parameters(&mut self, values: &[f64]) -> Result<(), Error> {
        self.take(values, None)
    }

    /// Sets all parameters as [`set_parameters`](Self::set_parameters) and also validates the start
    /// at the time `t` (s).
    ///
    /// # Errors
    /// [`Error::Spec`] with every problem found; the old values then stay.
    pub fn set_parameters_of_start(&mut self, t: f64, values: &[f64]) -> Result<(), Error> {
        self.take(values, Some(t))
    }

    fn take(&mut self, values: &[f64], start: Option<f64>) -> Result<(), Error> {
        let mut problems = Vec::new();
        let Parameterised {
            model,
            derived,
            parameters,
        } = &mut self.base;
        let updated = model.validate(values, Some((parameters, derived)), &mut problems);
        if let Some(t) = start {
            model.validate_start(values, &mut problems);
            // Positions at the start need valid constants.
            if problems.is_empty() {
                let constants = Constants {
                    model,
                    derived: &updated,
                    parameters: values,
                };
                self.evaluation.validate_start(constants, t, &mut problems);
            }
        }
        if !problems.is_empty() {
            return Err(Error::Spec(problems));
        }
        *derived = updated;
        parameters.copy_from_slice(values);
        self.evaluation.clear();
        Ok(())
    }

    /// Writes the initial states `x` and discrete state at the time `t` (s), with the inputs' start
    /// values.
    ///
    /// # Errors
    /// [`Error::Assembly`] if a loop cannot be closed, [`Error::NoEquilibrium`].
    pub fn start(&mut self, t: f64, x: &mut [f64], discrete: &mut Discrete) -> Result<(), Error> {
        let u: Vec<f64> = self.base.model.inputs.iter().map(|input| input.start).collect();
        self.start_with(t, x, &u, discrete)
    }

    /// Writes the initial states `x` and discrete state at the time `t` (s); the discrete state
    /// alone depends on the inputs `u`.
    ///
    /// # Errors
    /// [`Error::Assembly`] if a loop cannot be closed, [`Error::NoEquilibrium`].
    pub fn start_with(&mut self, t: f64, x: &mut [f64], u: &[f64], discrete: &mut Discrete) -> Result<(), Error> {
        let Constants {
            model,
            derived,
            parameters,
        } = self.base.constants();
        model.start(derived, t, parameters, x)?;
        *discrete = model.discrete();
        self.initialise_modes(t, x, u, discrete);
        self.initialise_contact_states(x, discrete);
        let elements = &self.base.model.elements;
        if !elements.closed_loops.is_empty() || !elements.couplings.is_empty() {
            self.evaluation.determine_rank(self.base.constants(), x, discrete);
        }
        self.update_sticking(t, x, discrete, true)?;
        let before = discrete.rests.clone();
        self.update_stictions(t, x, discrete, &before, true)?;
        self.start_rests(t, x, u, discrete)?;
        if self.release_overloaded(t, x, u, discrete)? {
            self.start_rests(t, x, u, discrete)?;
        }
        Ok(())
    }

    /// Sets limit states and signal segments to the states `x` and the inputs `u`, before a run
    /// begins.
    pub fn initialise_modes(&mut self, t: f64, x: &[f64], u: &[f64], discrete: &mut Discrete) {
        self.update_limits(t, x, u, discrete, &mut Vec::new());
        let of = self.base.constants();
        if let Some(controller) = of.model.controller().filter(|controller| controller.is_sampled()) {
            let now = Measured {
                parameters: of.parameters,
                inputs: self.evaluation.inputs(of, t, u, discrete),
                filters: &[],
            };
            controller.update_limits(now, discrete);
        }
    }

    /// Returns the events of limits that are exceeded at the start of a run, at the time `t` (s),
    /// states `x` and the importer's inputs `u`.
    pub fn events_of_start(&mut self, t: f64, x: &[f64], u: &[f64]) -> Vec<Event> {
        let (mut discrete, mut events) = (self.base.model.discrete(), Vec::new());
        self.update_limits(t, x, u, &mut discrete, &mut events);
        events
    }

    /// Computes the states' derivatives `dx` at an operating point.
    ///
    /// # Errors
    /// [`Error::Singular`], [`Error::SingularLoop`] and [`Error::NotFinite`], with the names.
    pub fn derivative(&mut self, at: OperatingPoint, dx: &mut [f64]) -> Result<(), Error> {
        let from_elsewhere = || Some(self.evaluation.known_results(at)?.dx);
        match self.evaluation.known_derivative(at).or_else(from_elsewhere) {
            Some(known) => dx.copy_from_slice(known),
            None => self.evaluate_anew(at, dx)?,
        }
        Ok(())
    }

    /// [`derivative`](Self::derivative) by a new evaluation.
    fn evaluate_anew(&mut self, at: OperatingPoint, dx: &mut [f64]) -> Result<(), Error> {
        let of = self.base.constants();
        self.evaluation.derivative(of, at, dx)?;
        match dx.iter().position(|d| !d.is_finite()) {
            None => Ok(()),
            Some(i) => Err(Error::NotFinite {
                variable: of.model.derivatives[i].name.clone(),
                t: at.t,
            }),
        }
    }

    /// [`derivative`](Self::derivative) for an operating point at which more is computed: event
    /// indicators, outputs and the monitoring at the same point then use this evaluation.
    ///
    /// # Errors
    /// As [`derivative`](Self::derivative).
    pub fn derivative_to_share(&mut self, at: OperatingPoint, dx: &mut [f64]) -> Result<(), Error> {
        match self.evaluation.known_derivative(at) {
            Some(known) => dx.copy_from_slice(known),
            None => {
                self.evaluate_anew(at, dx)?;
                self.evaluation.set(at, dx);
            }
        }
        Ok(())
    }

    /// Returns true if event indicators depend on a solution of the dynamics in this discrete state.
    pub fn indicators_need_solution(&self, discrete: &Discrete) -> bool {
        shared::needs_solution(self.base.constants(), discrete)
    }

    /// Computes the states' derivatives `dx` and the outputs `y` at an operating point.
    ///
    /// # Errors
    /// As [`derivative`](Self::derivative).
    pub fn evaluate(&mut self, at: OperatingPoint, dx: &mut [f64], y: &mut [f64]) -> Result<(), Error> {
        if let Some(known) = self
            .evaluation
            .known_results(at)
            .filter(|known| known.y.len() == y.len())
        {
            dx.copy_from_slice(known.dx);
            y.copy_from_slice(known.y);
            return Ok(());
        }
        self.derivative_to_share(at, dx)?;
        let of = self.base.constants();
        let evaluation = match of.model.elements.effective_masses.is_empty() {
            true => self.evaluation.keep(),
            false => &mut *self.evaluation,
        };
        evaluation.outputs(of, at.x, at.discrete, y);
        Ok(())
    }

    /// Records results at an operating point, which were evaluated together with those of other runs.
    pub fn set_results(&mut self, at: OperatingPoint, results: Results) {
        self.evaluation.set_results(at, results);
    }

    /// Returns the number of evaluations of the dynamics so far, without shared ones.
    pub fn evaluations(&self) -> u64 {
        self.evaluation.count
    }

    /// Ends the sharing of evaluations, for tests that compare results with and without it.
    #[cfg(feature = "inside")]
    pub fn end_sharing(&mut self) {
        self.evaluation.is_shared = false;
    }

    /// Returns true if a signal inside the model varies at the time `t` (s).
    pub(crate) fn signals_vary(&self, t: f64, discrete: &Discrete) -> bool {
        let Constants { model, parameters, .. } = self.base.constants();
        let mut sources = model.sources.iter();
        sources.any(|source| model.rate_of(source, parameters, t, discrete) != 0.0)
    }

    /// Returns the time (s) of the next end of a signal's segment or the next sample of a control
    /// law.
    pub fn next_time_event(&self, discrete: &Discrete) -> Option<f64> {
        let Constants { model, parameters, .. } = self.base.constants();
        let signals = model.elements.signals.iter();
        let ends = signals.filter_map(|signal| signal.end(parameters, &discrete.segments));
        ends.chain(self.next_sample(discrete)).min_by(f64::total_cmp)
    }
}
