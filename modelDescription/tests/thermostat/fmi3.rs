//! A description in FMI 3.0, compared with its golden file, and the rules that differ.
//!
//! `GOLDEN=write cargo test -p model-description` accepts intended changes of the file.

use model_description::*;

use crate::model::thermostat;

const GOLDEN: &str = include_str!("../../golden/thermostat_fmi3.xml");

/// Returns the thermostat for FMI 3.0: with unique value references, and a variable as its event
/// indicator.
fn thermostat_fmi3() -> ModelDescription {
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

#[test]
fn unsupported_variables_are_named() {
    let array = GOLDEN.replacen(
        "description=\"Temperature of the air\"",
        "description=\"Temperature of the air\"><Dimension start=\"2\"/></Float64><Float64 name=\"x\" valueReference=\"77\"",
        1,
    );
    let error = ModelDescription::from_xml(&array).unwrap_err().to_string();
    assert!(error.contains("variable \"room.T\": it is an array"), "{error}");
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
