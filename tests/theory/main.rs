//! The theory, proven: identities on random trees, closed forms, invariants.
#![allow(non_snake_case)] // frame letters

mod arms;
mod driven;
mod duals;
mod examples;
mod flexible;
mod identities;
mod linearisation;
mod quaternion;
mod random_tree;
mod state_jacobian;

use grapple::plant::{Model, Plant};
use grapple::spec::Formulation;
use std::path::Path;

/// The plant of a spec, at the spec's own values.
fn plant(text: &str) -> Plant {
    let model = Model::read(text, Path::new(".")).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Plant::new(model.into()).expect("the spec's own values")
}

/// The plant of a spec in another formulation.
fn plant_in(formulation: Formulation, text: &str, directory: &Path) -> Plant {
    let read = Model::read(text, directory).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut spec = read.spec.clone();
    if formulation != spec.formulation {
        (spec.formulation, spec.constraints, spec.quaternion) = (formulation, None, None);
    }
    let model = Model::compile(&spec).expect("any craft in any formulation");
    Plant::new(model.into()).expect("the spec's own values")
}
