//! Dependencies at the start.

use super::{Knowns, owner};
use crate::algebra::{Scalar, Traced};
use crate::plant::model::{Model, Source};

/// Parameters on which the initial value of each state depends.
pub(super) struct Starts {
    of_states: Vec<Vec<usize>>,
    /// True for a parameter that sets an initial state and nothing else.
    is_start: Vec<bool>,
    /// True if `of_states` is complete; if not, parameters of the bodies between a state's body and
    /// the world are added.
    is_exact: bool,
}

impl Starts {
    pub fn of(model: &Model) -> Self {
        let values = model.parameter_starts();
        let derived = model.validate(&values, None, &mut Vec::new());
        Traced::reset(values.len());
        let traced: Vec<Traced> = (values.iter().enumerate())
            .map(|(k, &value)| Traced::variable(value, k))
            .collect();
        let mut x = vec![Traced::lift(0.0); model.states.len()];
        // The positions of closed loops, or of an equilibrium, depend on all parameters together.
        let of_states = match model.is_assembled() {
            false if model.start(&derived, 0.0, &traced, &mut x).is_ok() => {
                x.into_iter().map(Traced::variables).collect()
            }
            _ => vec![(0..values.len()).collect(); x.len()],
        };
        Self {
            of_states,
            is_start: model.is_start(),
            is_exact: model.coordinates.are_of_joints()
                && model.system.orbit.is_none()
                && model.system.nodal.is_empty(),
        }
    }
}

/// Bodies to which states, inputs and parameters belong, by their names.
pub(super) struct Owners {
    states: Vec<Vec<usize>>,
    slots: Vec<Vec<usize>>,
    /// `None` for a parameter that belongs to no single body or joint.
    parameters: Vec<Option<Vec<usize>>>,
}

impl Owners {
    pub fn new(model: &Model) -> Self {
        let system = &model.system;
        let named = |name: &str| -> Vec<usize> {
            let is_named = |&i: &usize| {
                let body = &system.bodies[i];
                let names = [&body.name, &body.joint.name, &system.bodies[system.whole(i)].name];
                // The rotor of a drive train has the actuators and the place of its joint.
                names.into_iter().chain(&body.joint.drives).any(|known| known == name)
            };
            (0..system.bodies.len()).filter(is_named).collect()
        };
        let of_variable = |name: &str| named(owner(name));
        let of_state = |name: &str| match of_variable(name) {
            // A state of anything else counts as one of every body.
            none if none.is_empty() => (0..system.bodies.len()).collect(),
            bodies => bodies,
        };
        let of_slot = |source: &Source| match *source {
            Source::Importer(input) => of_variable(&model.inputs[input].quantity.name),
            Source::Signal(k) | Source::Rate(k) | Source::Acceleration(k) => {
                let first = model.elements.signals[k].parameters().next();
                first.map_or_else(Vec::new, |first| of_variable(&model.parameters[first].at[1]))
            }
            // Its value depends on other variables, which are traced.
            Source::Task => Vec::new(),
        };
        // An attitude servo distributes its torque among all wheels, so that a wheel's parameters
        // have effects beyond its own body.
        let of_parameter = |at: &[String]| match at {
            [section, name, ..] if ["body", "joint"].contains(&section.as_str()) => {
                let bodies = named(name);
                Some(bodies).filter(|bodies| !bodies.is_empty() && !model.spec.wheel.contains_key(name))
            }
            _ => None,
        };
        Self {
            states: model.states.iter().map(|state| of_state(&state.name)).collect(),
            slots: model.sources.iter().map(of_slot).collect(),
            parameters: model
                .parameters
                .iter()
                .map(|parameter| of_parameter(&parameter.at))
                .collect(),
        }
    }

    /// Marks the bodies between the world and the marked ones.
    fn close(model: &Model, marked: &mut [bool]) {
        for (i, body) in model.system.bodies.iter().enumerate().rev() {
            if let (true, Some(parent)) = (marked[i], body.parent) {
                marked[parent] = true;
            }
        }
    }

    /// Returns the parameters of marked bodies and their joints, and those that belong to no single
    /// body. Parameters that only set initial states and those of signals, solver and monitor are
    /// left out.
    fn parameters_of(&self, model: &Model, starts: &Starts, marked: &[bool]) -> impl Iterator<Item = usize> {
        (0..model.parameters.len()).filter(move |&p| {
            !starts.is_start[p]
                && match &self.parameters[p] {
                    Some(bodies) => bodies.iter().any(|&body| marked[body]),
                    None => !["signal", "solver", "monitor"].contains(&model.parameters[p].at[0].as_str()),
                }
        })
    }

    /// Returns the known variables on which an initial state depends.
    pub fn initial_state(&self, model: &Model, starts: &Starts, state: usize) -> Knowns {
        let mut parameters = starts.of_states[state].clone();
        if !starts.is_exact {
            let mut marked = vec![false; model.system.bodies.len()];
            self.states[state].iter().for_each(|&body| marked[body] = true);
            Self::close(model, &mut marked);
            parameters.extend(self.parameters_of(model, starts, &marked));
        }
        Knowns::at_start(parameters, Vec::new())
    }

    /// Returns the known variables on which the derivative or output `row` depends at the start;
    /// `known` are the states, inputs and bodies that tracing has found for it.
    pub fn initial(&self, model: &Model, starts: &Starts, row: usize, known: &[usize]) -> Knowns {
        let n = model.states.len();
        let mut marked = vec![false; model.system.bodies.len()];
        let (mut parameters, mut inputs) = (Vec::new(), Vec::new());
        for &k in known {
            match (k.checked_sub(n), k.checked_sub(n + model.sources.len())) {
                (None, _) => {
                    parameters.extend(&starts.of_states[k]);
                    self.states[k].iter().for_each(|&body| marked[body] = true);
                }
                (Some(slot), None) => {
                    self.slots[slot].iter().for_each(|&body| marked[body] = true);
                    match model.sources[slot] {
                        Source::Importer(input) => inputs.push(input),
                        Source::Signal(k) | Source::Rate(k) | Source::Acceleration(k) => {
                            parameters.extend(model.elements.signals[k].parameters());
                        }
                        Source::Task => {}
                    }
                }
                (_, Some(body)) => marked[body] = true,
            }
        }
        // The derivative of a joint's coordinate depends on that joint alone.
        if !(starts.is_exact && row < model.rates().start) {
            Self::close(model, &mut marked);
        }
        parameters.extend(self.parameters_of(model, starts, &marked));
        Knowns::at_start(parameters, inputs)
    }
}

impl Knowns {
    fn at_start(mut parameters: Vec<usize>, mut inputs: Vec<usize>) -> Self {
        for of in [&mut parameters, &mut inputs] {
            of.sort_unstable();
            of.dedup();
        }
        Self {
            parameters,
            inputs,
            ..Self::default()
        }
    }
}
