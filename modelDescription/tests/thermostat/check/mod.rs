//! `check` finds each thing the standard forbids, by the name of what it is about.

mod aliases;
mod combinations;
mod header;
mod names;
mod structure;
mod units_and_types;
mod values;

use model_description::*;

use crate::model::thermostat;

/// The problems of the thermostat after a change, as text.
fn problems(change: impl FnOnce(&mut ModelDescription)) -> Vec<String> {
    let mut model = thermostat();
    change(&mut model);
    model.check().iter().map(Problem::to_string).collect()
}

/// The change gives these problems and no other.
#[track_caller]
fn provokes(change: impl FnOnce(&mut ModelDescription), expected: &[&str]) {
    assert_eq!(problems(change), expected);
}

/// A variable of the thermostat, by its index.
fn variable(model: &mut ModelDescription, index: usize) -> &mut ScalarVariable {
    &mut model.model_variables[index - 1]
}

/// The attributes of a Real variable, by its index.
fn real(model: &mut ModelDescription, index: usize) -> &mut Real {
    match &mut variable(model, index).kind {
        Kind::Real(real) => real,
        other => panic!("variable {index} is {}", other.base_type()),
    }
}

/// A variable appended to the thermostat; it has index 18 and a value reference of its own.
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

/// Lists the initial unknowns that the standard asks for.
fn list_initial_unknowns(model: &mut ModelDescription) {
    let initial = model.expected_initial_unknowns();
    model.model_structure.initial_unknowns = initial.into_iter().map(Unknown::of).collect();
}
