//! Verification of the theory: identities on random trees, closed forms, invariants.
#![allow(non_snake_case)] // frame letters

mod actuators;
mod adjoint;
mod arms;
mod attitude;
mod capture;
mod closed_loops;
mod conserving;
mod coupling;
mod curved;
mod dc_motor;
mod director;
mod docking;
mod drive_train;
mod driven;
mod dual_quaternion;
mod duals;
mod effective_mass;
mod elastic_line;
mod environment;
mod equilibrium;
mod every_load;
#[path = "../everything/mod.rs"]
#[allow(dead_code)]
mod everything;
#[path = "../example_files/mod.rs"]
mod example_files;
mod examples;
mod feed_forward;
mod filter;
mod flexible;
mod flush;
mod identities;
mod impact;
mod interface;
mod lanes;
mod larger;
mod linearisation;
mod linearly_implicit;
mod locked;
#[path = "../long/mod.rs"]
mod long;
mod mass_centre;
mod measure;
mod mechanics;
#[path = "../messages/mod.rs"]
mod messages;
mod momentum_devices;
mod natural;
mod nodal;
mod numbers;
mod orbit;
mod orthogonal_complement;
mod plan;
mod propellant;
mod quaternion;
mod random_tree;
mod rest;
mod rims;
mod rosenbrock;
mod run;
mod sensor;
mod shaper;
mod shapes;
mod shared_evaluation;
mod short_steps;
mod slosh;
mod spring;
mod state_jacobian;
mod sticking;
mod sticking_contact;
mod task;
mod tether;
mod together;
mod tops;
mod touch;
mod vibration;

use grapple::plant::{Model, Plant};
use grapple::spec::{Capability, Formulation, Inertia, Spec};
use std::path::Path;

/// Returns the plant of a spec, with the spec's values of parameters.
fn plant(text: &str) -> Plant {
    plant_of(text, Path::new("."))
}

/// Returns the plant of a spec whose file is in `directory`.
fn plant_of(text: &str, directory: &Path) -> Plant {
    let model = Model::read(text, directory).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Plant::new(model.into()).expect("the spec's own values")
}

/// Returns the plant of a spec in another formulation; bodies are made rigid if that formulation
/// has no flexible ones.
fn plant_in(formulation: Formulation, text: &str, directory: &Path) -> Plant {
    let read = Model::read(text, directory).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut spec = read.spec.clone();
    if formulation != spec.formulation {
        (spec.formulation, spec.constraints, spec.quaternion) = (formulation, None, None);
        spec.output.condition = false;
    }
    if !formulation.has(Capability::AncfBeams) {
        without_nodal_beams(&mut spec);
    }
    if !formulation.has(Capability::Flexible) {
        stiffen(&mut spec);
    }
    let model = Model::compile(&spec).expect("any craft in any formulation");
    Plant::new(model.into()).expect("the spec's own values")
}

/// Removes ANCF beams, and the frames, grasps and other elements on them.
fn without_nodal_beams(spec: &mut Spec) {
    let beams = std::mem::take(&mut spec.ancf_beam);
    spec.frame.retain(|_, frame| !beams.contains_key(&frame.body));
    let (frames, bodies) = (&spec.frame, &spec.body);
    let stands = |name: &String| frames.contains_key(name) || bodies.contains_key(name);
    spec.grasp.retain(|_, grasp| stands(&grasp.a) && stands(&grasp.b));
    spec.measure
        .retain(|_, measure| stands(&measure.from) && stands(&measure.to));
    let grasps = &spec.grasp;
    spec.signal
        .retain(|input, _| input.strip_suffix(".on").is_none_or(|grasp| grasps.contains_key(grasp)));
}

/// Makes all bodies rigid, and removes loads distributed along beams.
fn stiffen(spec: &mut Spec) {
    spec.line_load.clear();
    spec.signal.retain(|input, _| {
        let owner = input.split('.').next().unwrap_or(input);
        let is_body = spec.body.contains_key(owner) || spec.joint.contains_key(owner);
        let is_load = spec.contact.contains_key(owner) || spec.tether.contains_key(owner);
        is_body || spec.port.contains_key(owner) || is_load
    });
    for body in spec
        .body
        .values_mut()
        .filter(|body| body.beam.is_some() || body.modal.is_some())
    {
        (body.beam, body.modal) = (None, None);
        body.mass.get_or_insert(0.8);
        body.inertia.get_or_insert(Inertia::Diagonal([0.1, 0.3, 0.35]));
    }
}
