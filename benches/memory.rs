//! Memory of an instance: bytes of each example, and of the three-finger gripper, in both interfaces
//! after 100 steps, with the numbers of states and event indicators; a freed instance must leave
//! nothing behind. Then `fmi2Instantiate` in Co-Simulation: memory, and least time with
//! `fmi2FreeInstance`.
//!
//! `cargo bench --bench memory`. Memory shared by all instances of a process is not counted, since
//! an instance that ran before has allocated it.
#![allow(unsafe_code)] // the C functions, and an allocator that counts

#[allow(dead_code)] // its count of calls is not used here
mod counting;
#[allow(dead_code, unused_imports)] // the tests' importer: an unpacked FMU and calls on it
#[path = "../tests/fmu/driver/mod.rs"]
mod driver;
#[path = "../tests/example_files/mod.rs"]
mod example_files;

use counting::live;
use driver::{CS, Fmu, ME, ok};
use example_files::example_files;
use grapple::fmu::fmi2::fmi2Type;
use grapple::fmu::registry::Naming;
use grapple::plant::Model;
use std::time::Instant;

const STEPS: u32 = 100;

fn main() {
    println!(
        "{:24} {:>8} {:>10} {:>22} {:>16} {:>14} {:>28}",
        "KiB", "states", "indicators", "Model Exchange", "Co-Simulation", "instantiated", "instantiated and freed, ms"
    );
    let mut paths = example_files();
    let folder = paths[0].parent().expect("a folder").join("contacts");
    paths.push(folder.join("gripper.toml"));
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a spec");
        let model = Model::read(&text, path.parent().expect("a folder")).unwrap_or_else(|e| panic!("{e}"));
        let fmu = Fmu::of_model(model, Naming::Structured);
        let [me, cs] = [ME, CS].map(|kind| held(&fmu, kind) as f64 / 1024.0);
        let name = path.file_stem().expect("a name").to_string_lossy();
        let (bytes, seconds) = instantiated(&fmu);
        println!(
            "{name:24} {:8} {:10} {me:22.1} {cs:16.1} {:14.1} {:28.2}",
            fmu.state_count(),
            fmu.indicator_count(),
            bytes as f64 / 1024.0,
            1e3 * seconds
        );
    }
}

/// Returns the bytes of an instance; an equal instance that ran before has allocated the shared
/// memory.
fn held(fmu: &Fmu, kind: fmi2Type) -> usize {
    run(fmu, kind);
    let before = live();
    let bytes = run(fmu, kind);
    assert_eq!(live(), before, "an instance that is freed leaves nothing behind");
    bytes
}

/// Returns the bytes of an instance before its initialisation, and the least time of its creation
/// and release, s.
fn instantiated(fmu: &Fmu) -> (usize, f64) {
    let mut least = f64::INFINITY;
    let mut bytes = 0;
    for _ in 0..20 {
        let (before, start) = (live(), Instant::now());
        let instance = fmu.instance_with(CS, None, 0, 0);
        let created = start.elapsed();
        bytes = live() - before;
        let start = Instant::now();
        drop(instance);
        least = least.min((created + start.elapsed()).as_secs_f64());
    }
    (bytes, least)
}

/// Runs an instance for [`STEPS`] steps and returns its memory at the end, bytes.
fn run(fmu: &Fmu, kind: fmi2Type) -> usize {
    let outputs = fmu.outputs();
    let before = live();
    // No logger: it would store the received messages in the memory counted here.
    let instance = fmu.instance_with(kind, None, 0, 0);
    let h = fmu.registry.model().spec.experiment.step;
    if kind == CS {
        instance.initialise(None);
        (0..STEPS).for_each(|k| ok(instance.step(f64::from(k) * h, h)));
    } else {
        instance.begin();
        // Euler's method with small steps: the memory does not depend on the trajectory.
        for k in 1..=STEPS {
            let (mut x, dx) = (instance.states(), instance.derivatives());
            x.iter_mut().zip(&dx).for_each(|(x, dx)| *x += 1e-6 * dx);
            instance.set_time(1e-6 * f64::from(k));
            instance.set_states(&x);
            instance.indicators();
            instance.completed_integrator_step();
        }
    }
    instance.get_many(&outputs);
    live() - before
}
