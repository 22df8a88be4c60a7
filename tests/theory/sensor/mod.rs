//! Sensors: closed forms of the measured quantities, errors, samples and their statistics.

mod blocked;
mod measured;
mod sampled;
mod statistics;

use crate::run::Run;

/// Returns a run of a spec without integration errors to speak of.
fn run(text: &str) -> Run {
    let mut run = Run::new(text, 1e-12);
    run.look();
    run
}

/// A body that is fixed to the world, in uniform gravity along −z. It has no states.
const STAND: &str = "name = \"stand\"\n[output]\ndiagnostics = false\n[environment]\ngravity = [0.0, 0.0, -9.8]\n\
    [body.cube]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n\
    [joint.bolt]\ntype = \"fixed\"\nparent = \"world\"\nchild = \"cube\"\n";

/// Returns the outputs with these names after each of `count` samples of a sensor, `period` (s)
/// apart.
fn samples<const N: usize>(text: &str, period: f64, count: usize, names: [&str; N]) -> Vec<[f64; N]> {
    let mut run = run(text);
    let mut all = Vec::with_capacity(count);
    all.push(run.values(names));
    for k in 1..count {
        run.go(period * k as f64);
        all.push(run.values(names));
    }
    all
}
