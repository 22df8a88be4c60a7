//! Saved states: their bytes.

use crate::campaign::{Outcome, run};
use crate::examples::EXAMPLES;
use crate::{messages, mutate, works};
use grapple::fmu::component::Component;
use grapple::fmu::guid::Guid;
use grapple::fmu::lifecycle::Interface;
use grapple::fmu::registry::Naming;
use grapple::fmu::saved::SavedState;
use rand::{Rng, RngExt};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of the header before the numbers: see `fmu::saved`.
const HEADER: usize = 65;
const GUID: Range<usize> = 17..33;
const CHECKSUM: usize = 16;

/// Position of the counts: states, inputs, orders of inputs' derivatives, discrete numbers.
const COUNTS: usize = 41;

/// Values that replace numbers of a state; the small integers are meant for the discrete state.
const NUMBERS: [f64; 20] = [
    2.0,
    3.0,
    7.0,
    1000.0,
    -2.0,
    -2_147_483_648.0,
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

/// An instance and a valid serialised state of it.
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
fn damaged_state_is_refused_or_continues_and_the_instance_can_be_restored() {
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
                // The original work limit is kept: with a larger one a step may rightly take
                // longer.
                let limit = work_limit(&bytes);
                bytes[limit.clone()].copy_from_slice(&good[limit]);
                false
            }
        };
        if !honest {
            sign(&mut bytes);
        }
        made.extend(&bytes);
        let outcome = match component.read_state(&bytes) {
            Err(fault) => works::check_message(&fault.what).map(|()| Outcome::Refused),
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

/// Replaces a few numbers by [`NUMBERS`], or header bytes (mode, counts) by random ones.
fn numbers(rng: &mut impl Rng, bytes: &mut [u8]) {
    let body = bytes.len() - CHECKSUM;
    for _ in 0..rng.random_range(1..=4) {
        match rng.random_range(0..4) {
            0 => {
                let at = rng.random_range(0..HEADER);
                bytes[at] = rng.random();
            }
            _ => {
                let at = HEADER + 8 * rng.random_range(0..(body - HEADER) / 8);
                let number = NUMBERS[rng.random_range(0..NUMBERS.len())];
                bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
            }
        }
    }
}

/// Returns the range of the work limit: it is the last parameter, and the last of all numbers.
fn work_limit(bytes: &[u8]) -> Range<usize> {
    let end = bytes.len() - CHECKSUM;
    end - 8..end
}

#[test]
fn a_discrete_state_that_no_run_can_have_is_refused() {
    let _section = messages::of_this_test();
    let (mut seen, mut told) = (0, BTreeSet::new());
    for Subject { component, good } in subjects() {
        let count = |k: usize| {
            let at = COUNTS + 4 * k;
            u32::from_le_bytes(good[at..at + 4].try_into().expect("four bytes")) as usize
        };
        let [nx, nu, orders, discrete] = [0, 1, 2, 3].map(count);
        let first = HEADER + 8 * (8 + nx + nu * (1 + orders));
        for at in (0..discrete).map(|k| first + 8 * k) {
            let mut bytes = good.clone();
            bytes[at..at + 8].copy_from_slice(&f64::NAN.to_le_bytes());
            sign(&mut bytes);
            let refused = component.read_state(&bytes).map(|_| ());
            told.insert(refused.expect_err("no number").what);
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
    told.iter().for_each(messages::record);
}

fn sign(bytes: &mut [u8]) {
    let (content, sum) = bytes.split_at_mut(bytes.len() - CHECKSUM);
    sum.copy_from_slice(&Sha256::digest(content)[..CHECKSUM]);
}
