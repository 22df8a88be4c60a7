//! `check` reports every violation of the standard, with its location.

mod aliases;
mod combinations;
mod header;
mod names;
mod structure;
mod units_and_types;
mod values;

use model_description::*;

use crate::model::thermostat;

/// Returns the problems that `check` reports for the thermostat after a change, as text.
fn problems(change: impl FnOnce(&mut ModelDescription)) -> Vec<String> {
    let mut model = thermostat();
    change(&mut model);
    model.check().iter().map(Problem::to_string).collect()
}

/// Asserts that the change causes exactly these problems.
#[track_caller]
fn provokes(change: impl FnOnce(&mut ModelDescription), expected: &[&str]) {
    assert_eq!(problems(change), expected);
}

/// Returns a variable of the thermostat, by its index.
fn variable(model: &mut ModelDescription, index: usize) -> &mut ScalarVariable {
    &mut model.model_variables[index - 1]
}

/// Returns the attributes of a Real variable, by its index.
fn real(model: &mut ModelDescription, index: usize) -> &mut Real {
    match &mut variable(model, index).kind {
        Kind::Real(real) => real,
        other => panic!("variable {index} is {}", other.base_type()),
    }
}

/// Appends a variable to the thermostat, with the index 18 and its own value reference.
fn append(model: &mut ModelDescription, name: &str, causality: Causality, variability: Variability) {
    let start = match causality {
        Causality::Parameter | Causality::Input => Some(0.0),
        _ => None,
    };
    model.model_variables.push(ScalarVariable {
        name: name.into(),
        value_reference: 100,
        causality,
        variability,
        kind: Kind::Real(Real {
            start,
            ..Real::default()
        }),
        ..ScalarVariable::default()
    });
}

/// Replaces `InitialUnknowns` by the required list.
fn list_initial_unknowns(model: &mut ModelDescription) {
    let initial = model.expected_initial_unknowns();
    model.model_structure.initial_unknowns = initial.into_iter().map(Unknown::of).collect();
}
