//! A description in FMI 3.0, compared with its golden file, and the rules that differ.
//!
//! `GOLDEN=write cargo test -p model-description` accepts intended changes of the file.

use model_description::*;

use crate::model::thermostat;

const GOLDEN: &str = include_str!("../../golden/thermostat_fmi3.xml");

/// Returns the thermostat for FMI 3.0: with unique value references, and a variable as its event
/// indicator.
pub fn thermostat_fmi3() -> ModelDescription {
    let mut model = thermostat();
    model.fmi_version = FmiVersion::V3_0;
    for (reference, variable) in (20..).zip(&mut model.model_variables) {
        variable.value_reference = reference;
    }
    let exchange = model.model_exchange.as_mut().unwrap();
    exchange.completed_integrator_step_not_needed = false;
    exchange.provides_adjoint_derivatives = true;
    let simulation = model.co_simulation.as_mut().unwrap();
    simulation.provides_adjoint_derivatives = true;
    simulation.might_return_early_from_do_step = true;
    simulation.has_event_mode = true;
    simulation.provides_intermediate_update = true;
    simulation.can_return_early_after_intermediate_update = true;
    for variable in &mut model.model_variables {
        variable.intermediate_update =
            variable.causality == Causality::Output && variable.variability == Variability::Continuous;
    }
    // FMI 3.0 has none of these.
    simulation.can_interpolate_inputs = false;
    simulation.can_run_asynchronuously = false;
    model.model_structure.event_indicators = vec![Unknown::depending_on(3, [1]), Unknown::of(1)];
    model
}

#[test]
fn text_is_byte_identical_to_the_golden_file() {
    let text = thermostat_fmi3().to_xml().unwrap();
    if std::env::var_os("GOLDEN").is_some_and(|v| v == "write") {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/thermostat_fmi3.xml");
        std::fs::write(path, &text).unwrap();
        return;
    }
    for (number, (ours, golden)) in text.lines().zip(GOLDEN.lines()).enumerate() {
        assert_eq!(ours, golden, "line {}", number + 1);
    }
    assert_eq!(text, GOLDEN);
}

#[test]
fn golden_file_reads_as_the_model() {
    assert_eq!(ModelDescription::from_xml(GOLDEN).unwrap(), thermostat_fmi3());
}

#[test]
fn golden_model_is_valid() {
    assert_eq!(thermostat_fmi3().check(), []);
}

#[test]
fn rules_of_fmi_3_are_checked() {
    let problems = |change: fn(&mut ModelDescription)| {
        let mut model = thermostat_fmi3();
        change(&mut model);
        let problems = model.check();
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let shared = problems(|m| m.model_variables[5].value_reference = 20);
    assert!(shared.contains("in FMI 3.0 it must be unique"), "{shared}");
    let twice = problems(|m| {
        let time = m
            .model_variables
            .iter()
            .position(|v| v.causality == Causality::Independent);
        let mut second = m.model_variables[time.unwrap()].clone();
        second.name = "second_time".into();
        second.value_reference = 99;
        m.model_variables.push(second);
    });
    assert!(
        twice.contains("exactly one independent variable, there are 2"),
        "{twice}"
    );
    let indicator = problems(|m| m.model_structure.event_indicators = vec![Unknown::of(6)]);
    assert!(indicator.contains("must be a continuous Real"), "{indicator}");
    // In FMI 2.0 a parameter is no known of an output, and event indicators are not variables.
    let mut model = thermostat();
    model.model_structure.event_indicators = vec![Unknown::of(1)];
    let problems: Vec<String> = model.check().iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        ["ModelStructure: FMI 2.0 has no event indicators that are variables"]
    );
}

/// Rules of FMI 2.0 that FMI 3.0 does not have: the order of dependencies and of initial unknowns, and
/// knowns that are inputs or continuous states only.
#[test]
fn files_of_other_tools_may_use_any_order_and_depend_on_discrete_states() {
    let change = |model: &mut ModelDescription| {
        let structure = &mut model.model_structure;
        structure.initial_unknowns.reverse();
        let longest = structure.outputs.iter_mut().chain(&mut structure.initial_unknowns);
        let longest = longest.max_by_key(|unknown| unknown.dependencies.as_ref().map_or(0, Vec::len));
        let dependencies = longest.unwrap().dependencies.as_mut().unwrap();
        assert!(dependencies.len() > 1);
        dependencies.reverse();
    };
    let mut model = thermostat_fmi3();
    change(&mut model);
    assert_eq!(model.check(), []);
    let discrete = model
        .indexed_variables()
        .find(|(_, v)| v.variability == Variability::Discrete && v.causality == Causality::Output);
    if let Some((index, _)) = discrete {
        model.model_structure.outputs[0] = Unknown::depending_on(model.model_structure.outputs[0].index, [index]);
        assert_eq!(model.check(), []);
    }
    let mut model = thermostat();
    change(&mut model);
    let problems: Vec<String> = model.check().iter().map(ToString::to_string).collect();
    assert!(
        problems
            .iter()
            .any(|p| p.contains("the indexes are not in ascending order")),
        "{problems:?}"
    );
    assert!(
        problems
            .iter()
            .any(|p| p.contains("the dependencies are not in ascending order")),
        "{problems:?}"
    );
}

#[test]
fn references_to_no_variable_are_errors() {
    let mut model = thermostat_fmi3();
    model.model_structure.outputs[0].index = 1000;
    let error = model.to_xml().unwrap_err().to_string();
    assert!(error.contains("index \"1000\": there is no such variable"), "{error}");
    let text = GOLDEN.replacen("<Output valueReference=\"", "<Output valueReference=\"9", 1);
    let error = ModelDescription::from_xml(&text).unwrap_err().to_string();
    assert!(error.contains("there is no such variable"), "{error}");
}

/// One start value is that of all elements; a matrix has its elements in rows.
#[test]
fn arrays_are_written_and_read() {
    let mut model = thermostat_fmi3();
    let array = &mut model.model_variables[6];
    array.dimensions = vec![2, 3];
    let Kind::Real(real) = &mut array.kind else {
        panic!("it is Real")
    };
    real.starts = vec![85.5, 1.0, -2.0, 0.1, 1e-9, 0.0];
    assert_eq!(model.check(), []);
    let text = model.to_xml().unwrap();
    assert!(text.contains("start=\"85.5 1 -2 0.1 1e-9 0\">"), "{text}");
    assert!(
        text.contains("<Dimension start=\"2\"/>\n      <Dimension start=\"3\"/>"),
        "{text}"
    );
    assert_eq!(ModelDescription::from_xml(&text).unwrap(), model);
    let one = text.replace("start=\"85.5 1 -2 0.1 1e-9 0\"", "start=\"85.5\"");
    let read = ModelDescription::from_xml(&one).unwrap();
    let Kind::Real(real) = &read.model_variables[6].kind else {
        panic!("it is Real")
    };
    assert_eq!(real.starts, [85.5; 6]);
    let few = ModelDescription::from_xml(&text.replace(" 1e-9 0\"", "\"")).unwrap();
    let problems: Vec<String> = few.check().iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        ["variable \"room.G[1]\": it has 4 start values for 6 elements"]
    );
    model.fmi_version = FmiVersion::V2_0;
    assert!(
        model
            .check()
            .iter()
            .any(|problem| problem.message.contains("no arrays"))
    );
}

/// Of arrays of integers, Booleans and enumerations the first start value is read.
#[test]
fn arrays_of_other_types_are_read() {
    let text = |element: &str, start: &str| {
        let variable = format!(
            "<{element} name=\"list\" valueReference=\"4077\" causality=\"parameter\" variability=\"fixed\" \
             start=\"{start}\"><Dimension start=\"3\"/></{element}><Float64 name=\"room.T\""
        );
        let text = GOLDEN.replacen("<Float64 name=\"room.T\"", &variable, 1);
        assert_ne!(text, GOLDEN);
        text
    };
    for (element, start) in [
        ("Int32", "7 8 9"),
        ("Boolean", "true false true"),
        ("Boolean", "1 0 0"),
        ("Enumeration", "7 1 2"),
    ] {
        let read = ModelDescription::from_xml(&text(element, start)).unwrap();
        let list = read.model_variables.iter().find(|v| v.name == "list").unwrap();
        assert_eq!(list.dimensions, [3]);
        match &list.kind {
            Kind::Integer(of) => assert_eq!(of.start, Some(7)),
            Kind::Boolean(of) => assert_eq!(of.start, Some(true)),
            Kind::Enumeration(of) => assert_eq!(of.start, Some(7)),
            _ => panic!("{element}"),
        }
    }
    let error = ModelDescription::from_xml(&text("Int32", "much 8 9")).unwrap_err();
    assert!(error.to_string().contains("start=\"much\""), "{error}");
}

#[test]
fn unsupported_variables_are_named() {
    let array = GOLDEN.replacen(
        "description=\"Temperature of the air\"",
        "description=\"Temperature of the air\"><Dimension valueReference=\"33\"/></Float64><Float64 name=\"x\" valueReference=\"77\"",
        1,
    );
    let error = ModelDescription::from_xml(&array).unwrap_err().to_string();
    assert!(
        error.contains("variable \"room.T\": it is an array whose size"),
        "{error}"
    );
    let large = array.replacen(
        "<Dimension valueReference=\"33\"/>",
        "<Dimension start=\"4000000000\"/>",
        1,
    );
    let error = ModelDescription::from_xml(&large).unwrap_err().to_string();
    assert!(error.contains("more than 10000000 elements"), "{error}");
    let other = GOLDEN.replacen("<Int32 ", "<Int64 ", 1);
    let error = ModelDescription::from_xml(&other).unwrap_err().to_string();
    assert!(error.contains("its type is not Float64"), "{error}");
    let number = GOLDEN.replacen("start=\"0.30000000000000004\"", "start=\"much\"", 1);
    let error = ModelDescription::from_xml(&number).unwrap_err().to_string();
    assert!(
        error.contains("\"room.C\"") && error.contains("start=\"much\""),
        "{error}"
    );
}
