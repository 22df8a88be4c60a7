//! Compiled models: the JSON in an FMU's `resources/`.

use crate::campaign::{Outcome, run};
use crate::examples::EXAMPLES;
use crate::{messages, mutate, reserve, works};
use grapple::Error;
use grapple::plant::Model;
use rand::RngExt;
use std::sync::Arc;

#[test]
fn damaged_model_is_refused_or_runs() {
    let models: Vec<String> = EXAMPLES
        .iter()
        .map(|example| example.model.to_bytes().expect("a model can be written"))
        .map(|bytes| String::from_utf8(bytes).expect("JSON is UTF-8"))
        .collect();
    run("models", 600, |rng, made| {
        let mut text = models[rng.random_range(0..models.len())].clone();
        let other = &models[rng.random_range(0..models.len())];
        let bytes = if rng.random_range(0..5) == 0 {
            let mut bytes = text.into_bytes();
            mutate::bytes(rng, &mut bytes, other.as_bytes());
            bytes
        } else {
            mutate::text(rng, &mut text, other);
            text.into_bytes()
        };
        made.extend(&bytes);
        // [`reserve::assert_within_bounds`] restarts the count of memory, so such a case does
        // nothing else.
        if rng.random_range(0..4) == 0 {
            return reserve::assert_within_bounds(&bytes).map(|()| Outcome::Works);
        }
        match Model::from_bytes(&bytes) {
            Ok(model) => works::check(rng, &Arc::new(model)).map(|()| Outcome::Works),
            Err(error) => works::check_message(&error.to_string()).map(|()| Outcome::Refused),
        }
    });
}

#[test]
fn a_model_that_names_a_file_is_refused() {
    let _section = messages::of_this_test();
    let model = EXAMPLES
        .iter()
        .map(|example| &example.model)
        .find(|model| !model.spec.signal.is_empty());
    let mut spec = model.expect("an example with a signal").spec.clone();
    let signal = spec.signal.values_mut().next().expect("it has one");
    signal.file = Some("/dev/zero".to_owned());
    let compiled = serde_json::json!({ "format": 1, "spec": spec });
    let refused = Model::from_bytes(compiled.to_string().as_bytes());
    let refused = refused.map(|_| ()).expect_err("it names a file");
    assert!(matches!(refused, Error::Format(_)), "{refused:?}");
    messages::record(refused);
}
