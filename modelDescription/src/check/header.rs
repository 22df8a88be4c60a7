//! Root element, capabilities, log categories, default experiment, annotations (§2.2.1, §2.2.4 –
//! §2.2.6, §3.3.1, §4.3.1).

use super::{Report, name, place};
use crate::{Causality, DefaultExperiment, FmiVersion, ModelDescription};

pub(super) fn check(description: &ModelDescription, report: &mut Report) {
    const ROOT: &str = "fmiModelDescription";
    if description.model_name.is_empty() {
        report.add(ROOT, "modelName is empty");
    }
    if description.guid.is_empty() {
        report.add(ROOT, "guid is empty");
    }
    if let Some(date) = &description.generation_date_and_time
        && !is_date_and_time(date)
    {
        let message = format!("generationDateAndTime {date:?} is not of the form YYYY-MM-DDThh:mm:ssZ");
        report.add(ROOT, message);
    }
    if description.model_exchange.is_none() && description.co_simulation.is_none() {
        report.add(ROOT, "neither ModelExchange nor CoSimulation is present");
    }
    if description.model_variables.is_empty() {
        report.add("ModelVariables", "there is no variable");
    }
    let variables = description.model_variables.iter();
    let independent = variables.filter(|v| v.causality == Causality::Independent).count();
    if description.fmi_version == FmiVersion::V3_0 && independent != 1 {
        let message = format!("FMI 3.0 requires exactly one independent variable, there are {independent}");
        report.add("ModelVariables", message);
    }

    check_capabilities(description, report);
    if let Some(experiment) = &description.default_experiment {
        check_experiment(experiment, report);
    }
    let categories = description.log_categories.iter();
    report.unique("log category", categories.map(|c| c.name.as_str()));
    let tools = description.vendor_annotations.iter();
    report.unique("vendor annotation", tools.map(|t| t.name.as_str()));
}

fn check_capabilities(description: &ModelDescription, report: &mut Report) {
    let exchange = description.model_exchange.as_ref().map(|me| {
        let state = (me.can_get_and_set_fmu_state, me.can_serialize_fmu_state);
        ("ModelExchange", &me.model_identifier, state)
    });
    let simulation = description.co_simulation.as_ref().map(|cs| {
        let state = (cs.can_get_and_set_fmu_state, cs.can_serialize_fmu_state);
        ("CoSimulation", &cs.model_identifier, state)
    });
    for (interface, identifier, (can_get_and_set, can_serialize)) in exchange.into_iter().chain(simulation) {
        if !name::is_c_identifier(identifier) {
            let place = format!("{interface}, modelIdentifier {identifier:?}");
            report.add(place, "is not an identifier of C");
        }
        if can_serialize && !can_get_and_set {
            report.add(interface, "canSerializeFMUstate needs canGetAndSetFMUstate as well");
        }
    }
}

fn check_experiment(experiment: &DefaultExperiment, report: &mut Report) {
    const PLACE: &str = "DefaultExperiment";
    let start = experiment.start_time.unwrap_or(0.0);
    if let Some(stop) = experiment.stop_time
        && stop < start
    {
        let message = format!("stopTime {stop} is before startTime {start}");
        report.add(PLACE, message);
    }
    for (attribute, value) in [("tolerance", experiment.tolerance), ("stepSize", experiment.step_size)] {
        if let Some(value) = value
            && value <= 0.0
        {
            report.add(place(PLACE, attribute), format!("{value} is not above zero"));
        }
    }
}

/// Returns true for `YYYY-MM-DDThh:mm:ssZ` with every field in its range; months may have 31 days.
fn is_date_and_time(text: &str) -> bool {
    const PATTERN: &[u8] = b"0000-00-00T00:00:00Z";
    let shape = text.len() == PATTERN.len()
        && text.bytes().zip(PATTERN).all(|(byte, pattern)| match pattern {
            b'0' => byte.is_ascii_digit(),
            _ => byte == *pattern,
        });
    let field = |from: usize| text[from..from + 2].parse::<u8>().unwrap_or(u8::MAX);
    shape
        && (1..=12).contains(&field(5))
        && (1..=31).contains(&field(8))
        && field(11) < 24
        && field(14) < 60
        && field(17) < 60
}
