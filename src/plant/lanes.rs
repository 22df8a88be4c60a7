//! Evaluation of several runs of one model at once, one in each lane of the scalar.

use super::context::Constants;
use super::{Evaluation, Model, OperatingPoint, Plant};
use crate::Error;
use crate::algebra::{Lanes, Transposed};
use crate::spec::Formulation;
use crate::system::{BodyConstants, Derived};
use std::sync::Arc;

/// Derivatives of `N` runs of one model, each with its own parameters, states and inputs. Time and
/// discrete state are common.
///
/// The derivatives have in each lane the bits of [`Plant::derivative`].
#[derive(Clone, Debug)]
pub struct LaneEvaluation<const N: usize> {
    model: Arc<Model>,
    derived: Derived<Lanes<N>>,
    parameters: Vec<Lanes<N>>,
    /// Boxed, as that of a [`Plant`].
    evaluation: Box<Evaluation<Lanes<N>>>,
    signals: Option<Signals<N>>,
}

/// Parameters, inputs and inputs of the loads: signals are evaluated for one run after the other.
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
    /// [`NoLanes`] if the plants do not share one model (the same [`Arc`]) that runs in lanes, or have
    /// constants of another structure.
    pub fn new(plants: [&Plant; N]) -> Result<Self, NoLanes> {
        const { assert!(N > 0) };
        let model = plants[0].model();
        model.runs_in_lanes()?;
        if let Some(run) = plants.iter().position(|plant| !Arc::ptr_eq(plant.model(), model)) {
            return Err(NoLanes::Model(run + 1));
        }
        let parameters = (0..model.parameters.len()).map(|i| Lanes(plants.map(|plant| plant.parameters()[i])));
        Ok(Self {
            derived: derived_in_lanes(model, plants.map(Plant::derived))?,
            parameters: parameters.collect(),
            evaluation: Box::new(Evaluation::new(model)),
            signals: (!model.elements.signals.is_empty()).then(|| Signals {
                parameters: plants.map(|plant| plant.parameters().to_vec()),
                u: vec![0.0; model.inputs.len()],
                inputs: vec![0.0; model.sources.len()],
            }),
            model: model.clone(),
        })
    }

    /// Computes the states' derivatives `dx` at an operating point.
    ///
    /// # Errors
    /// [`Error::Singular`] if the inertia is singular in any lane, [`Error::NotFinite`]; a
    /// [`Plant`] of each run determines the lanes to which they apply.
    ///
    /// # Panics
    /// If `at` or `dx` has not the model's numbers of states and inputs.
    pub fn derivative(&mut self, at: OperatingPoint<Lanes<N>>, dx: &mut [Lanes<N>]) -> Result<(), Error> {
        let of = Constants {
            model: &self.model,
            derived: &self.derived,
            parameters: &self.parameters,
        };
        let model = &self.model;
        assert_eq!(
            [at.x.len(), dx.len(), at.u.len()],
            [model.states.len(), model.states.len(), model.inputs.len()]
        );
        match &mut self.signals {
            None => self.evaluation.read_inputs(of, at.t, at.u, at.x, at.discrete),
            Some(signals) => {
                let inputs = &mut self.evaluation.inputs;
                signals.evaluate(of.model, at, inputs);
                inputs[of.model.sources.len()..].copy_from_slice(&at.x[of.model.states_in_loads()]);
            }
        }
        self.evaluation.derivative_with_inputs(of, at.x, at.discrete, dx)?;
        let is_finite = |dx: &Lanes<N>| dx.0.iter().all(|d| d.is_finite());
        match dx.iter().position(|dx| !is_finite(dx)) {
            None => Ok(()),
            Some(i) => Err(Error::NotFinite {
                variable: of.model.derivatives[i].name.clone(),
                t: at.t,
            }),
        }
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
    fn evaluate(&mut self, model: &Model, at: OperatingPoint<Lanes<N>>, inputs: &mut [Lanes<N>]) {
        for (lane, parameters) in self.parameters.iter().enumerate() {
            self.u.iter_mut().zip(at.u).for_each(|(to, u)| *to = u.0[lane]);
            model.inputs_at(parameters, at.t, &self.u, at.discrete, &mut self.inputs);
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
