//! Specs: their TOML.

use crate::campaign::{Outcome, run};
use crate::examples::{DIRECTORY, EXAMPLES};
use crate::{mutate, works};
use grapple::Error;
use grapple::plant::Model;
use grapple::spec::Source;
use rand::{Rng, RngExt};
use std::sync::Arc;

#[test]
fn damaged_spec_is_refused_with_its_position_or_runs() {
    std::sync::LazyLock::force(&EXAMPLES);
    run("specs", 400, |rng, made| {
        let mut text = EXAMPLES[rng.random_range(0..EXAMPLES.len())].text.clone();
        let other = &EXAMPLES[rng.random_range(0..EXAMPLES.len())].text;
        if rng.random_range(0..5) == 0 {
            let mut bytes = text.into_bytes();
            mutate::bytes(rng, &mut bytes, other.as_bytes());
            text = String::from_utf8_lossy(&bytes).into_owned();
        } else {
            mutate::text(rng, &mut text, other);
        }
        made.extend(text.as_bytes());
        check(rng, &text)
    });
}

fn check(rng: &mut impl Rng, text: &str) -> Result<Outcome, String> {
    match Model::read(text, &DIRECTORY) {
        Ok(model) => works::check(rng, &Arc::new(model)).map(|()| Outcome::Works),
        Err(Error::Spec(problems)) => {
            if problems.is_empty() {
                return Err("it is refused without a problem".to_owned());
            }
            let source = Source::new(text);
            for problem in problems {
                works::check_message(&problem.what)?;
                if let Some(place) = source.locate(&problem)
                    && text.get(place.clone()).is_none()
                {
                    return Err(format!("bytes {place:?} are outside the text: {problem}"));
                }
            }
            Ok(Outcome::Refused)
        }
        Err(other) => works::check_message(&other.to_string()).map(|()| Outcome::Refused),
    }
}
