//! What the FMI costs on top of the dynamics: the exported C functions, called as a host calls them.
//!
//! `cargo bench --bench overhead`, for both examples. A step's overhead is `fmi2DoStep` less the same step done by
//! [`Simulation`] itself, in the same rounds, so whatever else the machine does meets both; that both reach the same
//! bits is checked. Its median is that of the rounds' differences, its minimum the difference of both minima. With
//! `rk4` a communication step is one step of fixed work, so the difference shows; the example's own solver is what a
//! host gets unasked.
#![allow(unsafe_code)] // the C functions

#[allow(dead_code, unused_imports)] // the tests' host: an unpacked FMU, and the calls on it
#[path = "../tests/fmu/driver/mod.rs"]
mod driver;

use driver::{CS, Fmu, ok};
use grapple::fmu::c_abi::{fmi2GetFMUstate, fmi2GetReal};
use grapple::fmu::registry::Slot;
use grapple::plant::Plant;
use grapple::simulation::Simulation;
use std::sync::Arc;
use std::time::Instant;

/// How long each measurement takes, s.
const SECONDS: f64 = 2.0;
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
    let [mut through_fmi, mut alone] = rounds([&mut through_fmi, &mut alone]);
    instance.free_state(start);
    let states = instance.get_many(&fmu.references(|slot| matches!(slot, Slot::State(_))));
    assert_eq!(states, simulation.state.x, "both ways do the same");

    let mut overheads: Vec<f64> = through_fmi.iter().zip(&alone).map(|(a, b)| a - b).collect();
    let [through_fmi, alone] = [&mut through_fmi, &mut alone].map(|times| summary(times));
    let overhead = (summary(&mut overheads).0, through_fmi.1 - alone.1);
    line(&format!("fmi2DoStep, {solver}"), through_fmi, None);
    line("  of it not the solver's", overhead, Some(1.0));
}

fn values(fmu: &Fmu) {
    let instance = fmu.instance(CS);
    instance.initialise(None);
    ok(instance.step(0.0, communication_step(fmu)));
    let references: Vec<u32> = fmu.outputs().into_iter().cycle().take(50).collect();
    let get = |references: &[u32], values: &mut [f64]| {
        // SAFETY: a live handle; as many references and places as the count says.
        ok(unsafe { fmi2GetReal(instance.c, references.as_ptr(), values.len(), values.as_mut_ptr()) });
    };
    let (mut room, mut place) = ([0.0; 50], [0.0]);
    let mut at_once = || batch(1000, |_| get(&references, &mut room));
    let mut one_by_one = || batch(1000, |_| references.chunks(1).for_each(|one| get(one, &mut place)));
    let [mut at_once, mut one_by_one] = rounds([&mut at_once, &mut one_by_one]);
    line(
        "fmi2GetReal, 50 values that are known",
        summary(&mut at_once),
        Some(1.0),
    );
    line("  one call for each value", summary(&mut one_by_one), None);
}

fn states(fmu: &Fmu) {
    let instance = fmu.instance(CS);
    instance.initialise(None);
    ok(instance.step(0.0, communication_step(fmu)));
    let mut state = instance.save();
    let saved = instance.save();
    // SAFETY: a live handle, and the place of a state that it has made.
    let mut get = || batch(1000, |_| ok(unsafe { fmi2GetFMUstate(instance.c, &mut state) }));
    let mut set = || batch(1000, |_| instance.restore(saved));
    let [mut get, mut set] = rounds([&mut get, &mut set]);
    line("fmi2GetFMUstate, into one that is there", summary(&mut get), Some(2.0));
    line("fmi2SetFMUstate", summary(&mut set), Some(2.0));
    instance.free_state(state);
    instance.free_state(saved);
}

/// From `fmi2Instantiate` through set-up, initialisation and `fmi2Terminate` to `fmi2FreeInstance`.
fn life(fmu: &Fmu) {
    let [mut times] = rounds([&mut || {
        batch(1, |_| {
            let instance = fmu.instance(CS);
            instance.initialise(None);
            ok(instance.terminate());
        })
    }]);
    line("an instance's life without a step", summary(&mut times), Some(1000.0));
}

fn line(what: &str, (median, minimum): (f64, f64), target: Option<f64>) {
    let target = target.map_or(String::new(), |target| format!("{target:9.1}"));
    println!("  {what:46} {median:9.3} {minimum:9.3} {target}");
}

/// µs per call.
fn batch(calls: u32, mut call: impl FnMut(u32)) -> f64 {
    let start = Instant::now();
    (0..calls).for_each(&mut call);
    1e6 * start.elapsed().as_secs_f64() / f64::from(calls)
}

/// What batches of several ways take in the same rounds, each first in its turn.
fn rounds<const N: usize>(ways: [&mut dyn FnMut() -> f64; N]) -> [Vec<f64>; N] {
    let mut times = [const { Vec::new() }; N];
    let (start, mut seconds) = (Instant::now(), 0.0);
    for round in 0.. {
        for place in 0..N {
            let way = (place + round) % N;
            let time = ways[way]();
            // The first tenth warms up.
            if seconds > 0.1 * SECONDS {
                times[way].push(time);
            }
        }
        seconds = start.elapsed().as_secs_f64();
        if seconds > SECONDS && times[0].len() > 30 {
            break;
        }
    }
    times
}

/// Median and minimum.
fn summary(times: &mut [f64]) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], times[0])
}
