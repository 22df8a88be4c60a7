//! The examples' own numbers, through the engine alone (the Python tests read them through the FMU).

use grapple::plant::{Model, Plant};
use grapple::simulation::Simulation;
use std::sync::Arc;

pub fn example(text: &str) -> Simulation {
    let spec = grapple::spec::read(text, std::path::Path::new("examples")).expect("a good spec");
    let model = Arc::new(Model::compile(&spec).expect("compiles"));
    Simulation::new(Plant::new(model).expect("derives")).expect("starts")
}

pub fn state(simulation: &Simulation, name: &str) -> f64 {
    let states = &simulation.plant.model().states;
    let i = states
        .iter()
        .position(|s| s.name == name)
        .expect("a state of that name");
    simulation.state.x[i]
}

/// Reference: two independent codes, converged (Kłak and Jarzębowska's craft, derived again).
#[test]
fn two_link_reaches_the_reference_attitude_and_angles() {
    let mut simulation = example(include_str!("../../examples/two_link.toml"));
    simulation.initialise(0.0, Some(1e-13), 1e9).expect("a tolerance");
    simulation.advance(5.0, &mut Vec::new()).expect("runs");
    let (w, z) = (state(&simulation, "base.q[1]"), state(&simulation, "base.q[4]"));
    let found = [
        2.0 * z.atan2(w).to_degrees(),
        state(&simulation, "shoulder.q").to_degrees(),
        state(&simulation, "elbow.q").to_degrees(),
    ];
    println!("{found:.9?} {:?}", simulation.statistics());
    for (found, expected) in found.iter().zip([-45.92802927, 48.82037995, 104.92707873]) {
        // The reference has eight decimals.
        assert!((found - expected).abs() < 1e-8, "{found} instead of {expected}");
    }
}
