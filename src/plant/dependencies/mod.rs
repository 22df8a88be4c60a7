//! Dependencies of FMI's ModelStructure, by tracing the evaluation itself.

mod initial;
mod regime;
mod tracer;

#[cfg(feature = "inside")]
pub(super) mod tests;

use super::OutputKind;
use super::model::{Model, Source};
use initial::{Owners, Starts};
use regime::Regime;
use std::collections::{BTreeMap, BTreeSet};
use tracer::{Found, Read, Tracer, holds, invariances, views};

/// Known variables on which each computed variable depends.
///
/// States and inputs are [traced](crate::algebra::Traced) through the evaluation at one random
/// state in every regime, independent of the values of parameters. Constants are not traced: an
/// unknown depends on the parameters of all bodies and joints between the world and those whose
/// states or inputs it depends on, or whose positions, motions or loads it reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Dependencies {
    /// Derivatives of the states, on states and inputs.
    pub derivatives: Vec<Knowns>,
    /// Outputs, on states and inputs.
    pub outputs: Vec<Knowns>,
    /// Initial states, on parameters and inputs.
    pub initial_states: Vec<Knowns>,
    /// Derivatives of the initial states, on parameters and inputs.
    pub initial_derivatives: Vec<Knowns>,
    /// Outputs at the start, on parameters and inputs.
    pub initial_outputs: Vec<Knowns>,
}

/// Known variables on which one computed variable depends, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Knowns {
    /// Indices of parameters.
    pub parameters: Vec<usize>,
    /// Indices of states.
    pub states: Vec<usize>,
    /// Indices of the importer's inputs.
    pub inputs: Vec<usize>,
    /// Indices of those states whose factors (partial derivatives) are constant.
    pub constant_states: Vec<usize>,
    /// Indices of those inputs whose factors (partial derivatives) are constant.
    pub constant_inputs: Vec<usize>,
}

impl Dependencies {
    /// Determines the dependencies; `None` if the equations of some regime are singular at all
    /// random states that are tried, so that its dependencies are unknown.
    pub fn of(model: &Model) -> Option<Self> {
        let starts = Starts::of(model);
        let mut tracer = Tracer::new(model);
        let (n, rows) = (model.states.len(), model.states.len() + model.outputs.len());
        let elements = tracer.elements_with_frames();
        let regimes = Regime::all(model, elements, false);
        let mut running = tracer.read(&regimes, Read::Variables)?;
        let invariances = invariances(model);
        for (root, motions) in views(model) {
            let seen = tracer.read(&regimes, Read::From(root, motions))?;
            for ((found, seen), &invariance) in running.iter_mut().zip(&seen).zip(&invariances) {
                if holds(model, seen, invariance, motions) {
                    found.meet(seen);
                }
            }
        }
        let at_start = Regime::all(model, elements, true);
        let mut initial = tracer.read(&at_start, Read::Variables)?;
        let positions = tracer.read(&at_start, Read::Positions)?;
        let bodies = tracer.read(&at_start, Read::Bodies)?;
        let discrete = discrete_outputs(model);
        for (row, discrete) in discrete.iter().enumerate() {
            running[row].add(discrete);
            let states = discrete.iter().filter(|&&known| known < n);
            initial[row].variables.extend(states.chain(&bodies[row].variables));
        }
        add_bodies_of_elements(model, &positions[n..], &mut initial[n..]);
        let knowns = |row: usize| {
            let states = |known: &[usize]| known.iter().copied().filter(|&known| known < n).collect();
            let inputs = |known: &[usize]| {
                let slots = known.iter().filter_map(|known| known.checked_sub(n));
                slots.filter_map(|slot| host_input(&model.sources[slot])).collect()
            };
            let Found { variables, constant } = &running[row];
            Knowns {
                parameters: Vec::new(),
                states: states(variables),
                inputs: inputs(variables),
                constant_states: states(constant),
                constant_inputs: inputs(constant),
            }
        };
        let owners = Owners::new(model);
        let initial = |row: usize| owners.initial(model, &starts, row, &initial[row].variables);
        Some(Self {
            derivatives: (0..n).map(knowns).collect(),
            outputs: (n..rows).map(knowns).collect(),
            initial_states: (0..n)
                .map(|state| owners.initial_state(model, &starts, state))
                .collect(),
            initial_derivatives: (0..n).map(initial).collect(),
            initial_outputs: (n..rows).map(initial).collect(),
        })
    }
}

/// Adds to each output the bodies whose positions its element's outputs read: an attitude is
/// computed from joints, and depends on the same bodies as the element's position.
fn add_bodies_of_elements(model: &Model, positions: &[Found], initial: &mut [Found]) {
    let elements = model.outputs.iter().map(|output| owner(&output.quantity.name));
    let mut read: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (element, positions) in elements.clone().zip(positions) {
        read.entry(element).or_default().extend(&positions.variables);
    }
    for (element, initial) in elements.zip(initial) {
        initial.variables.extend(&read[element]);
    }
}

/// Returns the name of the element to which a variable belongs: the part before the last point.
fn owner(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(owner, _)| owner)
}

fn host_input(source: &Source) -> Option<usize> {
    match *source {
        Source::Importer(input) => Some(input),
        _ => None,
    }
}

/// Returns the dependencies of derivatives and outputs that change at events only: flags depend on
/// the states that are compared with a limit, results of impacts on all states and on commands.
/// Samples of sensors depend on nothing that is known between samples.
fn discrete_outputs(model: &Model) -> Vec<Vec<usize>> {
    let n = model.states.len();
    let mut known = vec![Vec::new(); n + model.outputs.len()];
    for (output, coordinate) in model.flags.iter().copied() {
        known[n + output].extend(model.states_of(coordinate));
    }
    for (output, declared) in model.outputs.iter().enumerate() {
        let is_sample = model.spec.sensor.contains_key(owner(&declared.quantity.name));
        let is_flag = declared.kind == OutputKind::Flag;
        if !declared.kind.is_continuous() && !is_flag && !is_sample {
            known[n + output].extend((0..n).chain(model.elements.command_inputs().map(|input| n + input)));
        }
    }
    known
}
