//! The theory, proven: identities on random trees, closed forms, invariants.
#![allow(non_snake_case)] // frame letters

mod arms;
mod driven;
mod duals;
mod examples;
mod flexible;
mod identities;
mod linearisation;
mod random_tree;
mod state_jacobian;

use grapple::plant::{Model, Plant};
use std::path::Path;

/// The plant of a spec, at the spec's own values.
fn plant(text: &str) -> Plant {
    let model = Model::read(text, Path::new(".")).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Plant::new(model.into()).expect("the spec's own values")
}
