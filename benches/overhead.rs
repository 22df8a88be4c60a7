//! Cost of FMI in addition to the dynamics: the exported C functions, called as by an importer.
//!
//! `cargo bench --bench overhead`, for two examples. A step's overhead is the time of `fmi2DoStep`
//! minus that of the same step of [`Simulation`], both in the same rounds, so that other load
//! affects both; both must reach identical bits. The median printed is that of the rounds'
//! differences, the minimum the difference of both minima. With `rk4` a communication step is one
//! step of fixed work, so the overhead is visible in the difference; the example's own solver is
//! what an importer uses by default.
#![allow(unsafe_code)] // the C functions

#[allow(dead_code, unused_imports)] // the tests' importer: an unpacked FMU and calls on it
#[path = "../tests/fmu/driver/mod.rs"]
mod driver;
mod side_by_side;

use driver::{CS, Fmu, ok};
use grapple::fmu::c_abi::{fmi2GetFMUstate, fmi2GetReal};
use grapple::fmu::registry::Slot;
use grapple::plant::Plant;
use grapple::simulation::Simulation;
use side_by_side::{Time, batch, rounds};
use std::sync::Arc;

/// Communication steps in a batch; each batch begins at the same state.
const STEPS: u32 = 100;

fn main() {
    println!("{:48} {:>9} {:>9} {:>9}", "µs per call", "median", "minimum", "target");
    for (name, text) in [
        ("two_link", include_str!("../examples/two_link.toml")),
        ("ssrms_type", include_str!("../examples/ssrms_type.toml")),
    ] {
        println!("{name}");
        let fmu = Fmu::of(text);
        let rk4 = format!(
            "{text}\n[solver]\nmethod = \"rk4\"\nstep = {}\n",
            communication_step(&fmu)
        );
        step("rk4", &Fmu::of(&rk4));
        step("solver of the example", &fmu);
        values(&fmu);
        states(&fmu);
        life(&fmu);
    }
}

fn communication_step(fmu: &Fmu) -> f64 {
    fmu.registry.model().spec.experiment.step
}

fn step(solver: &str, fmu: &Fmu) {
    let h = communication_step(fmu);
    let instance = fmu.instance(CS);
    instance.initialise(None);
    let start = instance.save();
    let mut through_fmi = || {
        instance.restore(start);
        batch(STEPS, |k| ok(instance.step(f64::from(k) * h, h)))
    };
    let plant = Plant::new(Arc::clone(fmu.registry.model())).expect("derives");
    let mut simulation = Simulation::new(plant).expect("starts");
    let (own_start, mut messages) = (simulation.state.clone(), Vec::new());
    let mut alone = || {
        simulation.state.clone_from(&own_start);
        simulation.invalidate();
        batch(STEPS, |k| {
            simulation.advance(f64::from(k) * h + h, &mut messages).expect("runs");
        })
    };
    let alternatives: [&mut dyn FnMut() -> f64; 2] = [&mut through_fmi, &mut alone];
    let [through_fmi, alone] = rounds(alternatives);
    instance.free_state(start);
    let states = instance.get_many(&fmu.references(|slot| matches!(slot, Slot::State(_))));
    assert_eq!(states, simulation.state.x, "both alternatives do the same");

    let overheads: Vec<f64> = through_fmi.iter().zip(&alone).map(|(a, b)| a - b).collect();
    let [through_fmi, alone] = [through_fmi, alone].map(Time::of);
    let overhead = Time {
        median: Time::of(overheads).median,
        minimum: through_fmi.minimum - alone.minimum,
    };
    line(&format!("fmi2DoStep, {solver}"), through_fmi, None);
    line("  of it not the solver's", overhead, Some(1.0));
}

fn values(fmu: &Fmu) {
    let instance = fmu.instance(CS);
    instance.initialise(None);
    ok(instance.step(0.0, communication_step(fmu)));
    let references: Vec<u32> = fmu.outputs().into_iter().cycle().take(50).collect();
    let get = |references: &[u32], values: &mut [f64]| {
        // SAFETY: a live handle; arrays of the given count.
        ok(unsafe { fmi2GetReal(instance.c, references.as_ptr(), values.len(), values.as_mut_ptr()) });
    };
    let (mut room, mut place) = ([0.0; 50], [0.0]);
    let mut at_once = || batch(1000, |_| get(&references, &mut room));
    let mut one_by_one = || batch(1000, |_| references.chunks(1).for_each(|one| get(one, &mut place)));
    let alternatives: [&mut dyn FnMut() -> f64; 2] = [&mut at_once, &mut one_by_one];
    let [at_once, one_by_one] = rounds(alternatives).map(Time::of);
    line("fmi2GetReal, 50 cached values", at_once, Some(1.0));
    line("  one call for each value", one_by_one, None);
}

fn states(fmu: &Fmu) {
    let instance = fmu.instance(CS);
    instance.initialise(None);
    ok(instance.step(0.0, communication_step(fmu)));
    let mut state = instance.save();
    let saved = instance.save();
    // SAFETY: a live handle, and a pointer to a state that it has created.
    let mut get = || batch(1000, |_| ok(unsafe { fmi2GetFMUstate(instance.c, &mut state) }));
    let mut set = || batch(1000, |_| instance.restore(saved));
    let alternatives: [&mut dyn FnMut() -> f64; 2] = [&mut get, &mut set];
    let [get, set] = rounds(alternatives).map(Time::of);
    line("fmi2GetFMUstate, into an existing one", get, Some(2.0));
    line("fmi2SetFMUstate", set, Some(2.0));
    instance.free_state(state);
    instance.free_state(saved);
}

/// Times the calls from `fmi2Instantiate` through set-up, initialisation and `fmi2Terminate` to
/// `fmi2FreeInstance`.
fn life(fmu: &Fmu) {
    let life = || {
        batch(1, |_| {
            let instance = fmu.instance(CS);
            instance.initialise(None);
            ok(instance.terminate());
        })
    };
    let [life] = rounds([life]).map(Time::of);
    line("an instance's life without a step", life, Some(1000.0));
}

fn line(what: &str, Time { median, minimum }: Time, target: Option<f64>) {
    let target = target.map_or(String::new(), |target| format!("{target:9.1}"));
    println!("  {what:46} {median:9.3} {minimum:9.3} {target}");
}
