//! Saved states: their bytes.

use crate::campaign::{Outcome, run};
use crate::examples::EXAMPLES;
use crate::{mutate, works};
use grapple::fmu::component::Component;
use grapple::fmu::guid::Guid;
use grapple::fmu::lifecycle::Interface;
use grapple::fmu::registry::Naming;
use grapple::fmu::saved::SavedState;
use rand::{Rng, RngExt};
use sha2::{Digest, Sha256};
use std::ops::Range;
use std::sync::Arc;

/// Bytes before the numbers: see `fmu::saved`.
const HEADER: usize = 69;
const GUID: Range<usize> = 17..33;
const CHECKSUM: usize = 16;

/// What stands where a number stood.
const NUMBERS: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    40.0,
    40_000.0,
    5e-324,
    1e-300,
    1e16,
    1e300,
    f64::MAX,
    f64::NAN,
    f64::INFINITY,
];

/// An instance, and a state of it.
struct Subject {
    component: Component,
    good: Vec<u8>,
}

fn subjects() -> Vec<Subject> {
    let mut subjects = Vec::new();
    for (i, example) in EXAMPLES.iter().enumerate() {
        for interface in [Interface::CoSimulation, Interface::ModelExchange] {
            let guid = Guid([u8::try_from(i).expect("few examples"); 16]);
            let made = Component::new(interface, Arc::clone(&example.model), Naming::Structured, guid, false);
            let mut component = made.expect("the examples are right");
            let begun = works::start(&mut component).and_then(|()| component.exit_initialization_mode());
            begun
                .and_then(|()| works::run(&mut component))
                .expect("the examples run");
            let good = component.save().to_bytes();
            subjects.push(Subject { component, good });
        }
    }
    subjects
}

#[test]
fn a_bad_state_is_refused_or_goes_on_and_the_instance_can_go_back() {
    let mut subjects = subjects();
    let all: Vec<Vec<u8>> = subjects.iter().map(|subject| subject.good.clone()).collect();
    run("states", 4000, |rng, made| {
        let Subject { component, good } = &mut subjects[rng.random_range(0..all.len())];
        let other = &all[rng.random_range(0..all.len())];
        let mut bytes = good.clone();
        let honest = match rng.random_range(0..4) {
            0 => {
                mutate::bytes(rng, &mut bytes, other);
                true
            }
            1 => {
                bytes.clone_from(other);
                bytes[GUID].copy_from_slice(&good[GUID]);
                false
            }
            _ => {
                numbers(rng, &mut bytes);
                // Whoever sets another work limit asks for as long a step.
                let limit = work_limit(component, &bytes);
                bytes[limit.clone()].copy_from_slice(&good[limit]);
                false
            }
        };
        if !honest {
            sign(&mut bytes);
        }
        made.extend(&bytes);
        let outcome = match component.read_state(&bytes) {
            Err(fault) => works::told(&fault.what).map(|()| Outcome::Refused),
            Ok(_) if honest && bytes != *good => Err("a damaged state is taken for a good one".to_owned()),
            Ok(saved) => goes_on(component, &saved),
        }?;
        let back = component.read_state(good).map_err(|fault| fault.what)?;
        component.restore(&back).map_err(|fault| fault.what)?;
        if component.save().to_bytes() != *good {
            return Err("the instance does not come back to where it was".to_owned());
        }
        works::refused(works::read(component))?;
        Ok(outcome)
    });
}

fn goes_on(component: &mut Component, saved: &SavedState) -> Result<Outcome, String> {
    if works::refused(component.restore(saved))? {
        return Ok(Outcome::Refused);
    }
    works::refused(works::read(component))?;
    let t = component.time();
    if component.interface() == Interface::CoSimulation {
        works::refused(component.do_step(t, 0.01))?;
    } else {
        works::refused(component.new_discrete_states().map(|_| ()))?;
        works::refused(component.enter_continuous_time_mode())?;
        let mut dx = vec![0.0; component.registry().model().states.len()];
        works::refused(component.get_derivatives(&mut dx))?;
        let mut z = vec![0.0; component.registry().model().indicator_count()];
        works::refused(component.get_event_indicators(&mut z))?;
    }
    works::refused(works::read(component))?;
    Ok(Outcome::Works)
}

/// Other numbers and modes, any number of them.
fn numbers(rng: &mut impl Rng, bytes: &mut [u8]) {
    let body = bytes.len() - CHECKSUM;
    for _ in 0..rng.random_range(1..=4) {
        match rng.random_range(0..4) {
            0 => {
                let at = rng.random_range(0..HEADER);
                bytes[at] = rng.random();
            }
            1 => {
                // Modes stand at the end.
                let back = 4 * rng.random_range(1..=((body - HEADER) / 4).min(64));
                let mode: i32 = [i32::MIN, -2, -1, 0, 1, 2, 3, 7, 1000, i32::MAX][rng.random_range(0..10)];
                bytes[body - back..body - back + 4].copy_from_slice(&mode.to_le_bytes());
            }
            _ => {
                let at = HEADER + 8 * rng.random_range(0..(body - HEADER) / 8);
                let number = NUMBERS[rng.random_range(0..NUMBERS.len())];
                bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
            }
        }
    }
}

/// Where the work limit stands: last of the parameters, which the modes follow.
fn work_limit(component: &Component, bytes: &[u8]) -> Range<usize> {
    let end = bytes.len() - CHECKSUM - 4 * component.registry().model().mode_count();
    end - 8..end
}

#[test]
fn a_mode_that_no_run_can_have_is_refused() {
    for Subject { component, good } in subjects() {
        let modes = component.registry().model().mode_count();
        for mode in 0..modes {
            let mut bytes = good.clone();
            let at = bytes.len() - CHECKSUM - 4 * (modes - mode);
            bytes[at..at + 4].copy_from_slice(&i32::MIN.to_le_bytes());
            sign(&mut bytes);
            let refused = component.read_state(&bytes);
            assert!(
                refused.is_err_and(|fault| fault.what.contains("mode that no run can have")),
                "mode {mode} of {modes}"
            );
        }
    }
}

/// Makes the checksum right, as only malice would.
fn sign(bytes: &mut [u8]) {
    let (content, sum) = bytes.split_at_mut(bytes.len() - CHECKSUM);
    sum.copy_from_slice(&Sha256::digest(content)[..CHECKSUM]);
}
