//! The lists of unknowns (§2.2.8).

use model_description::*;

use super::{append, list_initial_unknowns, problems, provokes, real, variable};
use crate::model::thermostat;
use Causality::*;
use DependencyKind::{Constant, Dependent, Fixed};
use Variability::Continuous;

#[test]
fn indexes_exist() {
    provokes(
        |m| m.model_structure.outputs.push(Unknown::of(18)),
        &["Outputs: there is no variable with index 18"],
    );
    provokes(
        |m| m.model_structure.derivatives.push(Unknown::of(0)),
        &["Derivatives: there is no variable with index 0"],
    );
}

#[test]
fn list_entries_are_unique() {
    provokes(
        |m| m.model_structure.outputs.push(Unknown::of(14)),
        &["Outputs, variable \"controller.switches\": it is listed more than once"],
    );
    provokes(
        |m| m.model_structure.derivatives.push(Unknown::of(2)),
        &[
            "Derivatives, variable \"der(room.T)\": it is listed more than once",
            "variable \"room.T\": the state has two derivatives in Derivatives",
        ],
    );
}

#[test]
fn outputs_list_is_exactly_the_outputs() {
    provokes(
        |m| drop(m.model_structure.outputs.remove(1)),
        &["variable \"controller.mode\": the output is missing in Outputs"],
    );
    provokes(
        |m| m.model_structure.outputs.push(Unknown::of(4)),
        &["variable \"room.T_wall\": it is listed in Outputs, but its causality is not output"],
    );
}

#[test]
fn dependencies_are_ascending_knowns() {
    let outputs = |dependencies: Vec<u32>| {
        move |m: &mut ModelDescription| m.model_structure.outputs[2].dependencies = Some(dependencies)
    };
    let place = "Outputs, variable \"controller.switches\"";
    for (dependencies, wrong) in [
        (vec![9, 1], "the dependencies are not in ascending order"),
        (vec![9, 9], "the dependencies are not in ascending order"),
        (vec![18], "dependency 18: there is no such variable"),
        (vec![0], "dependency 0: there is no such variable"),
        (vec![5], "dependency 5: variable \"room.T_start\" is not a known"),
    ] {
        provokes(outputs(dependencies), &[&format!("{place}: {wrong}")]);
    }
    // A calculated state is a known during the simulation, but not initially.
    provokes(
        |m| m.model_structure.initial_unknowns[4].dependencies = Some(vec![1, 5, 9, 13, 17]),
        &["InitialUnknowns, variable \"controller.switches\": dependency 1: variable \"room.T\" is not a known"],
    );
}

#[test]
fn dependency_kinds_are_valid() {
    let kinds = |list: fn(&mut ModelStructure) -> &mut Unknown, kinds: Vec<DependencyKind>| {
        move |m: &mut ModelDescription| list(&mut m.model_structure).dependencies_kind = Some(kinds)
    };
    provokes(
        kinds(|s| &mut s.outputs[0], vec![Constant, Constant]),
        &["Outputs, variable \"room.T_measured\": dependenciesKind is not as long as dependencies"],
    );
    provokes(
        kinds(|s| &mut s.outputs[2], vec![]),
        &["Outputs, variable \"controller.switches\": dependenciesKind is not as long as dependencies"],
    );
    provokes(
        kinds(|s| &mut s.initial_unknowns[3], vec![Dependent, Fixed]),
        &["InitialUnknowns, variable \"room.tau\": only \"dependent\" and \"constant\" are allowed here"],
    );
    let change = |m: &mut ModelDescription| {
        let unknown = &mut m.model_structure.outputs[2];
        *unknown = Unknown {
            dependencies_kind: Some(vec![Fixed]),
            ..Unknown::depending_on(14, [9])
        };
    };
    provokes(
        change,
        &["Outputs, variable \"controller.switches\": only a Real unknown can have a dependency with a factor"],
    );
}

#[test]
fn derivatives_point_to_another_real_variable() {
    for (index, wrong) in [
        (18, "there is no such variable"),
        (8, "it is the derivative of itself"),
        (14, "that variable is not Real"),
    ] {
        let found = problems(|m| real(m, 8).derivative = Some(index));
        assert_eq!(found[0], format!("variable \"room.tau\": derivative={index}: {wrong}"));
    }
}

#[test]
fn model_exchange_lists_every_derivative() {
    let change = |m: &mut ModelDescription| {
        append(m, "der(room.T_wall)", Local, Continuous);
        real(m, 18).derivative = Some(4);
    };
    provokes(
        change,
        &["variable \"der(room.T_wall)\": the derivative of variable \"room.T_wall\" is missing in Derivatives"],
    );
    // `Derivatives` need not list the derivative of an input, nor any derivative if the FMU offers
    // Co-Simulation only.
    provokes(
        |m| {
            change(m);
            real(m, 18).derivative = Some(9);
        },
        &[],
    );
    let alone = |m: &mut ModelDescription| {
        change(m);
        m.model_exchange = None;
        real(m, 1).reinit = false;
        variable(m, 9).can_handle_multiple_set_per_time_instant = None;
        variable(m, 10).can_handle_multiple_set_per_time_instant = None;
    };
    provokes(alone, &[]);
}

#[test]
fn derivatives_name_continuous_states() {
    let listed = |index: u32| {
        move |m: &mut ModelDescription| {
            append(m, "x", Local, Continuous);
            real(m, 18).derivative = Some(index);
            m.model_structure.derivatives.push(Unknown::of(18));
            list_initial_unknowns(m);
        }
    };
    provokes(listed(4), &[]);
    for (index, name) in [(9, "sun.power"), (6, "room.C")] {
        provokes(
            listed(index),
            &[&format!(
                "variable \"{name}\": a continuous-time state must be a continuous output or local variable"
            )],
        );
    }
    provokes(
        |m| {
            m.model_structure.derivatives.push(Unknown::of(3));
        },
        &["variable \"room.T_measured\": a state derivative must have the attribute derivative"],
    );
    provokes(
        |m| {
            listed(4)(m);
            variable(m, 18).variability = Variability::Discrete;
        },
        &["variable \"x\": a state derivative must be continuous"],
    );
}

#[test]
fn initial_unknowns_are_exactly_the_required_set() {
    assert_eq!(thermostat().expected_initial_unknowns(), [1, 2, 3, 8, 14]);
    for (place, name) in [
        "room.T",
        "der(room.T)",
        "room.T_measured",
        "room.tau",
        "controller.switches",
    ]
    .into_iter()
    .enumerate()
    {
        provokes(
            |m| drop(m.model_structure.initial_unknowns.remove(place)),
            &[&format!("variable {name:?}: it is missing in InitialUnknowns")],
        );
    }
    provokes(
        |m| m.model_structure.initial_unknowns.insert(3, Unknown::of(4)),
        &["variable \"room.T_wall\": it is listed in InitialUnknowns, but is not initially unknown"],
    );
    provokes(
        |m| m.model_structure.initial_unknowns.swap(0, 1),
        &["InitialUnknowns: the indexes are not in ascending order"],
    );
}

#[test]
fn attributes_of_model_exchange_are_for_states_and_inputs() {
    provokes(
        |m| real(m, 2).reinit = true,
        &["variable \"der(room.T)\": reinit is only for a continuous-time state"],
    );
    provokes(
        |m| variable(m, 6).can_handle_multiple_set_per_time_instant = Some(true),
        &["variable \"room.C\": canHandleMultipleSetPerTimeInstant is only for an input"],
    );
    provokes(
        |m| m.model_exchange = None,
        &[
            "variable \"room.T\": reinit is only for ModelExchange",
            "variable \"sun.power\": canHandleMultipleSetPerTimeInstant is only for ModelExchange",
            "variable \"controller.request\": canHandleMultipleSetPerTimeInstant is only for ModelExchange",
        ],
    );
}
