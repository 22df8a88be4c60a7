//! Rules of a single variable (§2.2.7).

use super::{Report, at, name};
use crate::{Causality, FmiVersion, Kind, ModelDescription, ScalarVariable, TypeKind, Variability, legal_initials};

pub(super) fn check(description: &ModelDescription, report: &mut Report) {
    name::check(description, report);
    let states: Vec<u32> = description.continuous_states().collect();
    for (index, variable) in description.indexed_variables() {
        check_combination(variable, report);
        check_declared_type(description, variable, report);
        check_derivative(description, index, variable, report);
        check_dimensions(description, variable, report);
        check_model_exchange_only(description, states.contains(&index), variable, report);
        if variable.value_reference >= 1 << 31 {
            let message = format!("value reference {} is not below 2³¹", variable.value_reference);
            report.add(at(variable), message);
        }
    }
    let independents = description.model_variables.iter();
    let independents = independents.filter(|v| v.causality == Causality::Independent);
    for variable in independents.skip(1) {
        report.add(at(variable), "there is another independent variable");
    }
}

/// Checks the table causality × variability × initial, and the required start value.
fn check_combination(variable: &ScalarVariable, report: &mut Report) {
    let (causality, variability) = (variable.causality, variable.variability);
    let is_real = matches!(variable.kind, Kind::Real(_));
    if !is_real && causality == Causality::Independent {
        report.add(at(variable), "the independent variable must be Real");
    } else if !is_real && variability == Variability::Continuous {
        let message = format!("a variable of type {} cannot be continuous", variable.kind.base_type());
        report.add(at(variable), message);
    }

    let combination = format!("causality=\"{causality}\" with variability=\"{variability}\"");
    let Some(legal) = legal_initials(causality, variability) else {
        report.add(at(variable), format!("{combination} is not allowed"));
        return;
    };
    if let Some(initial) = variable.initial
        && !legal.contains(&initial)
    {
        let message = format!("initial=\"{initial}\" is not allowed for {combination}");
        report.add(at(variable), message);
        return;
    }
    let because = match variable.effective_initial() {
        Some(initial) => format!("initial=\"{initial}\""),
        None => format!("causality=\"{causality}\""),
    };
    match (variable.needs_start(), variable.kind.has_start()) {
        (true, false) => report.add(at(variable), format!("{because} needs a start value")),
        (false, true) => report.add(at(variable), format!("{because} forbids a start value")),
        _ => {}
    }
}

/// Checks that the declared type exists and has the same base type, and that the start value of an
/// enumeration is one of its items.
fn check_declared_type(description: &ModelDescription, variable: &ScalarVariable, report: &mut Report) {
    let Some(name) = variable.kind.declared_type() else {
        return;
    };
    let Some(declared) = description.declared_type(variable) else {
        report.add(at(variable), format!("declaredType {name:?} is not defined"));
        return;
    };
    let (own, theirs) = (variable.kind.base_type(), declared.kind.base_type());
    if own != theirs {
        let message = format!("declaredType {name:?} is of type {theirs}, not {own}");
        report.add(at(variable), message);
    }
    if let Kind::Enumeration(value) = &variable.kind
        && let TypeKind::Enumeration(enumeration) = &declared.kind
        && let Some(start) = value.start
        && !enumeration.items.iter().any(|item| item.value == start)
    {
        report.add(at(variable), format!("start {start} is not an item of {name:?}"));
    }
}

/// Checks that `derivative` refers to another Real variable.
fn check_derivative(description: &ModelDescription, index: u32, variable: &ScalarVariable, report: &mut Report) {
    let Some(of) = variable.derivative() else {
        return;
    };
    let wrong = match description.variable(of) {
        _ if of == index => "it is the derivative of itself",
        None => "there is no such variable",
        Some(v) if !matches!(v.kind, Kind::Real(_)) => "that variable is not Real",
        Some(v) if v.dimensions != variable.dimensions => "that variable has other dimensions",
        Some(_) => return,
    };
    report.add(at(variable), format!("derivative={of}: {wrong}"));
}

/// Checks the dimensions of an array, and that it has a start value for each element.
fn check_dimensions(description: &ModelDescription, variable: &ScalarVariable, report: &mut Report) {
    let is_array = !variable.dimensions.is_empty();
    if is_array && description.fmi_version == FmiVersion::V2_0 {
        report.add(at(variable), "FMI 2.0 has no arrays");
    }
    if is_array && variable.causality == Causality::Independent {
        report.add(at(variable), "the independent variable must be a scalar");
    }
    if let Kind::Real(real) = &variable.kind
        && !real.starts.is_empty()
        && (real.starts.len() as u64 != variable.elements() || !is_array)
    {
        let message = format!(
            "it has {} start values for {} elements",
            real.starts.len(),
            variable.elements()
        );
        report.add(at(variable), message);
    }
}

/// Checks two attributes of Model Exchange that only certain variables may have.
fn check_model_exchange_only(
    description: &ModelDescription,
    is_state: bool,
    variable: &ScalarVariable,
    report: &mut Report,
) {
    let reinit = matches!(&variable.kind, Kind::Real(real) if real.reinit);
    let multiple = variable.can_handle_multiple_set_per_time_instant.is_some();
    let is_input = variable.causality == Causality::Input;
    for (present, attribute, is_legal, legal_for) in [
        (reinit, "reinit", is_state, "a continuous-time state"),
        (multiple, "canHandleMultipleSetPerTimeInstant", is_input, "an input"),
    ] {
        if present && !is_legal {
            report.add(at(variable), format!("{attribute} is only for {legal_for}"));
        }
        if present && description.model_exchange.is_none() {
            report.add(at(variable), format!("{attribute} is only for ModelExchange"));
        }
    }
}
