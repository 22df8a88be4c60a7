//! Evaluation of several runs of one model at once, one in each lane of the scalar.

use super::context::Constants;
use super::linearly_implicit::predict_midpoint;
use super::rosenbrock::{Coefficient, Implicit};
use super::{Discrete, Evaluation, Model, OperatingPoint, Plant};
use crate::Error;
use crate::algebra::{Lanes, Scalar, Transposed};
use crate::integrate::LaneStage;
use crate::spec::Formulation;
use crate::system::{BodyConstants, Derived};
use num_traits::Zero;
use std::sync::Arc;

/// Derivatives of `N` runs of one model, each with its own parameters, time, states and inputs.
///
/// All results have in each lane the bits of those of a [`Plant`].
#[derive(Clone, Debug)]
pub struct LaneEvaluation<const N: usize> {
    model: Arc<Model>,
    derived: Derived<Lanes<N>>,
    parameters: Vec<Lanes<N>>,
    /// Boxed, as that of a [`Plant`].
    evaluation: Box<Evaluation<Lanes<N>>>,
    implicit: Implicit<Lanes<N>>,
    signals: Option<Signals<N>>,
}

/// Time, states, inputs and discrete state of each run.
#[derive(Clone, Copy, Debug)]
pub struct LanePoint<'a, const N: usize> {
    /// Times, s.
    pub t: [f64; N],
    /// States, in the model's order.
    pub x: &'a [Lanes<N>],
    /// The importer's inputs.
    pub u: &'a [Lanes<N>],
    /// Discrete states.
    pub discrete: LaneDiscrete<'a, N>,
}

/// Discrete states of the runs, which [load the system alike](Discrete::loads_as): loads are evaluated
/// with the first.
#[derive(Clone, Copy, Debug)]
pub struct LaneDiscrete<'a, const N: usize> {
    of: [&'a Discrete; N],
    /// True if all runs are in the same segments of their signals.
    have_equal_segments: bool,
}

impl<'a, const N: usize> LaneDiscrete<'a, N> {
    /// Combines the discrete states of the runs; `None` if they load the system differently.
    pub fn new(of: [&'a Discrete; N]) -> Option<Self> {
        of.iter().all(|one| one.loads_as(of[0])).then(|| Self::alike(of))
    }

    /// Combines the discrete states of runs that load the system alike.
    pub(crate) fn alike(of: [&'a Discrete; N]) -> Self {
        Self {
            of,
            have_equal_segments: of[1..].iter().all(|one| one.segments == of[0].segments),
        }
    }
}

impl<'a, const N: usize> LanePoint<'a, N> {
    /// Returns the point at which the loads of all lanes are evaluated: with the time and the discrete
    /// state of the first, since the others differ from them in signals only.
    fn of_first(self) -> OperatingPoint<'a, Lanes<N>> {
        OperatingPoint::new(self.t[0], self.x, self.u, self.discrete.of[0])
    }
}

/// Parameters, inputs and inputs of the loads: signals of runs that are in different segments are
/// evaluated for one run after the other.
#[derive(Clone, Debug)]
struct Signals<const N: usize> {
    parameters: [Vec<f64>; N],
    u: Vec<f64>,
    inputs: Vec<f64>,
}

/// The reason why runs cannot be evaluated in lanes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoLanes {
    /// The formulation branches on values.
    #[error("formulation \"{0}\" is not evaluated in lanes, only \"recursive\" is")]
    Formulation(&'static str),
    /// An element branches on values or reads parameters as numbers.
    #[error("{0} is not evaluated in lanes")]
    Element(String),
    /// A run has another model than the first.
    #[error("run {0} has another model than the first")]
    Model(usize),
    /// Constants differ in the lengths of lists, such as the number of modes.
    #[error("{0}: the constants differ between the runs in more than values, such as the number of modes")]
    Structure(String),
}

impl Model {
    /// Returns an error if the model cannot be evaluated in lanes.
    ///
    /// # Errors
    /// [`NoLanes::Formulation`] and [`NoLanes::Element`].
    pub fn runs_in_lanes(&self) -> Result<(), NoLanes> {
        if self.spec.formulation != Formulation::Recursive {
            return Err(NoLanes::Formulation(self.spec.formulation.name()));
        }
        match self.elements.outside_lanes(&self.spec, &self.system) {
            Some(element) => Err(NoLanes::Element(element)),
            None => Ok(()),
        }
    }
}

impl<const N: usize> LaneEvaluation<N> {
    /// Allocates the workspace for runs with the parameter values of these plants. The values are
    /// copied: later changes of the plants' parameters have no effect.
    ///
    /// # Errors
    /// [`NoLanes`] if the plants do not have one model that runs in lanes, or have constants of another
    /// structure.
    pub fn new(plants: [&Plant; N]) -> Result<Self, NoLanes> {
        const { assert!(N > 0) };
        let model = plants[0].model();
        model.runs_in_lanes()?;
        let is_same = |other: &Model| std::ptr::eq(other, &raw const **model) || other.spec == model.spec;
        if let Some(run) = plants.iter().position(|plant| !is_same(plant.model())) {
            return Err(NoLanes::Model(run + 1));
        }
        let parameters = (0..model.parameters.len()).map(|i| Lanes(plants.map(|plant| plant.parameters()[i])));
        Ok(Self {
            derived: derived_in_lanes(model, plants.map(Plant::derived))?,
            parameters: parameters.collect(),
            evaluation: Box::new(Evaluation::new(model)),
            implicit: Implicit::new(model),
            signals: (!model.elements.signals.is_empty()).then(|| Signals {
                parameters: plants.map(|plant| plant.parameters().to_vec()),
                u: vec![0.0; model.inputs.len()],
                inputs: vec![0.0; model.sources.len()],
            }),
            model: model.clone(),
        })
    }

    /// Returns true if the [outputs](Self::outputs) are evaluated in lanes.
    pub fn observes(&self) -> bool {
        self.model.elements.are_observed_in_lanes()
    }

    /// Computes the states' derivatives `dx`.
    ///
    /// # Errors
    /// [`Error::Singular`] if the inertia is singular in any lane; a [`Plant`] of each run determines
    /// the lanes to which it applies.
    ///
    /// # Panics
    /// If `at` or `dx` has not the model's numbers of states and inputs.
    pub fn derivative(&mut self, at: LanePoint<N>, dx: &mut [Lanes<N>]) -> Result<(), Error> {
        self.read_inputs(at, at.x);
        let Self { evaluation, .. } = self;
        let of = constants(&self.model, &self.derived, &self.parameters);
        assert_eq!(dx.len(), at.x.len());
        evaluation.derivative_with_inputs(of, at.x, at.discrete.of[0], dx)
    }

    /// Computes the outputs `y`, after [`derivative`](Self::derivative) at the same states `x`. All runs
    /// [show](Discrete::shows_as) the discrete state.
    ///
    /// # Panics
    /// If the outputs [are not evaluated](Self::observes) in lanes, or the numbers differ from the
    /// model's.
    pub fn outputs(&mut self, x: &[Lanes<N>], discrete: &Discrete, y: &mut [Lanes<N>]) {
        assert!(self.observes());
        let Self { evaluation, .. } = self;
        let of = constants(&self.model, &self.derived, &self.parameters);
        evaluation.outputs(of, x, discrete, y);
    }

    /// Returns kinetic and potential energy and the scale of the former, J, after
    /// [`derivative`](Self::derivative) at the same states `x` and discrete state.
    pub fn energies(&self, x: &[Lanes<N>], discrete: &Discrete) -> [Lanes<N>; 3] {
        let of = constants(&self.model, &self.derived, &self.parameters);
        self.evaluation.energies(of, x, discrete)
    }

    /// Computes the derivatives `k` of a stage of a Rosenbrock-W method, as [`Plant::stage`], with
    /// changes `p` of the states; the times are those of `at`.
    ///
    /// # Errors
    /// As [`derivative`](Self::derivative).
    ///
    /// # Panics
    /// As [`derivative`](Self::derivative).
    pub fn stage(
        &mut self,
        at: LanePoint<N>,
        stage: LaneStage<N>,
        p: &[Lanes<N>],
        k: &mut [Lanes<N>],
    ) -> Result<(), Error> {
        let LaneStage { theta, is_first, .. } = stage;
        self.read_inputs(at, at.x);
        let Self {
            evaluation, implicit, ..
        } = self;
        let of = constants(&self.model, &self.derived, &self.parameters);
        let result = evaluation.stage(of, at.of_first(), Coefficient { theta, is_first }, p, implicit, k);
        evaluation.applied.inertia.fill(Lanes::zero());
        result
    }

    /// Corrects `g`, the derivatives at the midpoint of a step from the states `at.x`, as
    /// [`Plant::correct`], with half a step `theta` (s) of each lane.
    ///
    /// # Errors
    /// As [`derivative`](Self::derivative).
    ///
    /// # Panics
    /// As [`derivative`](Self::derivative).
    pub fn correct(
        &mut self,
        at: LanePoint<N>,
        theta: Lanes<N>,
        g: &mut [Lanes<N>],
        midpoint: &mut [Lanes<N>],
    ) -> Result<(), Error> {
        let of = constants(&self.model, &self.derived, &self.parameters);
        predict_midpoint(of, at.x, theta, g, midpoint);
        self.read_inputs(at, midpoint);
        let Self { evaluation, .. } = self;
        let of = constants(&self.model, &self.derived, &self.parameters);
        let result = evaluation.correct(of, at.of_first(), theta, g, midpoint);
        evaluation.applied.inertia.fill(Lanes::zero());
        result
    }

    /// Reads the importer's inputs and the currents among the states `x`, and evaluates signals.
    fn read_inputs(&mut self, at: LanePoint<N>, x: &[Lanes<N>]) {
        let Self {
            model,
            evaluation,
            signals,
            ..
        } = self;
        assert_eq!([x.len(), at.u.len()], [model.states.len(), model.inputs.len()]);
        match signals {
            None => {
                let of = constants(model, &self.derived, &self.parameters);
                evaluation.read_inputs(of, at.t[0], at.u, x, at.discrete.of[0]);
            }
            Some(signals) => {
                let inputs = &mut evaluation.inputs;
                match at.discrete.have_equal_segments {
                    true => model.inputs_at(&self.parameters, Lanes(at.t), at.u, at.discrete.of[0], inputs),
                    false => signals.evaluate(model, at, inputs),
                }
                inputs[model.sources.len()..].copy_from_slice(&x[model.states_in_loads()]);
            }
        }
    }

    /// Returns true if the runs have these values of the parameters.
    pub fn has_parameters(&self, of: [&[f64]; N]) -> bool {
        let same = |(i, own): (usize, &Lanes<N>)| (0..N).all(|k| own.0[k].to_bits() == of[k][i].to_bits());
        self.parameters.iter().enumerate().all(same)
    }
}

fn constants<'a, S: Scalar>(model: &'a Model, derived: &'a Derived<S>, parameters: &'a [S]) -> Constants<'a, S> {
    Constants {
        model,
        derived,
        parameters,
    }
}

/// Combines the constants of runs of one model.
///
/// # Errors
/// [`NoLanes::Structure`] with the name of the first body that differs.
fn derived_in_lanes<const N: usize>(model: &Model, runs: [&Derived; N]) -> Result<Derived<Lanes<N>>, NoLanes> {
    Derived::transposed(runs).ok_or_else(|| {
        let of_body = |i: usize| BodyConstants::transposed(runs.map(|run| &run.bodies[i]));
        let body = (0..runs[0].bodies.len()).find(|&i| of_body(i).is_none());
        let name = body.map(|i| &model.system.bodies[i].name);
        NoLanes::Structure(name.map_or_else(|| "a station".to_owned(), |name| format!("body \"{name}\"")))
    })
}

impl<const N: usize> Signals<N> {
    /// Writes the inputs of the loads that are not states.
    fn evaluate(&mut self, model: &Model, at: LanePoint<N>, inputs: &mut [Lanes<N>]) {
        for (lane, parameters) in self.parameters.iter().enumerate() {
            self.u.iter_mut().zip(at.u).for_each(|(to, u)| *to = u.0[lane]);
            model.inputs_at(parameters, at.t[lane], &self.u, at.discrete.of[lane], &mut self.inputs);
            inputs
                .iter_mut()
                .zip(&self.inputs)
                .for_each(|(to, &input)| to.0[lane] = input);
        }
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![constants_with_other_modes_or_joints_are_refused_by_the_name_of_the_body];

    fn constants_with_other_modes_or_joints_are_refused_by_the_name_of_the_body() {
        let plant = |joint: &str, bending: usize| {
            let text = format!(
                "name = \"arm\"\n[body.base]\nmass = 3.0\ninertia = [1.0, 1.0, 1.0]\n[body.boom.beam]\nlength = 1.0\n\
                 mass_per_length = 2.0\nEI = 300.0\nbending = {bending}\n[joint.root]\ntype = \"{joint}\"\n\
                 parent = \"base\"\nchild = \"boom\"\n"
            );
            let spec = crate::spec::from_toml(&text).unwrap_or_else(|e| panic!("{e}"));
            Plant::new(Model::compile(&spec).unwrap_or_else(|e| panic!("{e}")).into()).unwrap_or_else(|e| panic!("{e}"))
        };
        let usual = plant("spherical", 1);
        let with = |other: &Plant| derived_in_lanes(usual.model(), [usual.derived(), other.derived()]);
        assert!(with(&usual).is_ok());
        for other in [plant("spherical", 2), plant("fixed", 1)] {
            let refused = with(&other).expect_err("another structure");
            assert_eq!(refused, NoLanes::Structure("body \"boom\"".to_owned()));
        }
    }
}
