//! The root element and its children (§2.2.1, §2.2.4 – §2.2.6, §3.3.1, §4.3.1).

use model_description::*;

use super::{problems, provokes};
use crate::model::text;

#[test]
fn model_name_and_guid_are_not_empty() {
    let change = |m: &mut ModelDescription| {
        m.model_name.clear();
        m.guid.clear();
    };
    provokes(
        change,
        &[
            "fmiModelDescription: modelName is empty",
            "fmiModelDescription: guid is empty",
        ],
    );
}

#[test]
fn date_has_the_format_of_the_standard() {
    for date in [
        "2026-01-31 23:59:59Z",
        "2026-13-31T23:59:59Z",
        "2026-01-31T23:59:59",
        "é026-01-31T23:59:5Z",
    ] {
        let expected =
            format!("fmiModelDescription: generationDateAndTime {date:?} is not of the form YYYY-MM-DDThh:mm:ssZ");
        provokes(|m| m.generation_date_and_time = text(date), &[&expected]);
    }
}

#[test]
fn model_has_an_interface() {
    let found = problems(|m| {
        m.model_exchange = None;
        m.co_simulation = None;
    });
    assert_eq!(
        found[0],
        "fmiModelDescription: neither ModelExchange nor CoSimulation is present"
    );
}

#[test]
fn model_has_variables() {
    let found = problems(|m| m.model_variables.clear());
    assert!(found.contains(&"ModelVariables: there is no variable".to_owned()));
}

#[test]
fn model_identifier_is_a_c_identifier() {
    for name in ["", "2link", "two link", "zwei_Körper"] {
        let expected = format!("CoSimulation, modelIdentifier {name:?}: is not an identifier of C");
        provokes(
            |m| m.co_simulation.as_mut().unwrap().model_identifier = name.into(),
            &[&expected],
        );
    }
}

#[test]
fn serialising_a_state_requires_getting_it() {
    provokes(
        |m| m.model_exchange.as_mut().unwrap().can_get_and_set_fmu_state = false,
        &["ModelExchange: canSerializeFMUstate needs canGetAndSetFMUstate as well"],
    );
}

#[test]
fn default_experiment_is_valid() {
    let change = |m: &mut ModelDescription| {
        let experiment = m.default_experiment.as_mut().unwrap();
        experiment.stop_time = Some(-1.0);
        experiment.tolerance = Some(0.0);
        experiment.step_size = Some(-0.5);
    };
    provokes(
        change,
        &[
            "DefaultExperiment: stopTime -1 is before startTime 0",
            "DefaultExperiment \"tolerance\": 0 is not above zero",
            "DefaultExperiment \"stepSize\": -0.5 is not above zero",
        ],
    );
}

#[test]
fn log_categories_and_annotations_are_unique() {
    let change = |m: &mut ModelDescription| {
        m.log_categories.push(m.log_categories[0].clone());
        m.vendor_annotations.push(m.vendor_annotations[1].clone());
    };
    provokes(
        change,
        &[
            "log category \"logEvents\": the name is not unique",
            "vendor annotation \"silent\": the name is not unique",
        ],
    );
}
