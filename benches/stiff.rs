//! Gain of an implicit method on a stiff spacecraft, at equal accuracy.
//!
//! `cargo bench --bench stiff` runs `spin_up.toml`, a beam whose axial vibrations are up to three
//! thousand times as fast as its bending, with each method in the same rounds, and prints the time
//! of a run and the error of the tip's path against `radau5` at a tolerance of 1e-11.

use grapple::plant::{Model, OperatingPoint, Plant};
use grapple::simulation::Simulation;
use std::path::Path;
use std::time::Instant;

const ROUNDS: usize = 3;
/// Methods with their tolerances. The explicit method's steps are limited by stability, not
/// accuracy: its error is below the tolerance.
const CASES: [(&str, f64); 6] = [
    ("dopri5", 1e-8),
    ("radau5", 1e-6),
    ("auto", 1e-4),
    ("auto", 1e-6),
    ("auto", 1e-8),
    ("auto", 1e-9),
];
const OUTPUT: &str = "beam.tip_deflection[2]";

fn main() {
    let reference = run("radau5", 1e-11).path;
    let mut best = CASES.map(|_| f64::INFINITY);
    let mut last = Vec::new();
    for _ in 0..ROUNDS {
        last = CASES.map(|(method, tolerance)| run(method, tolerance)).into();
        for (best, run) in best.iter_mut().zip(&last) {
            *best = best.min(run.seconds);
        }
    }
    println!(
        "{:8} {:>10} {:>10} {:>8} {:>12} {:>10}",
        "", "tolerance", "ms", "dopri5 ÷", "evaluations", "error, m"
    );
    for (((method, tolerance), seconds), run) in CASES.iter().zip(best).zip(&last) {
        let apart = run.path.iter().zip(&reference).map(|(a, b)| (a - b).abs());
        let error = apart.fold(0.0, f64::max);
        println!(
            "{method:8} {tolerance:10.0e} {:10.2} {:8.1} {:12} {error:10.1e}",
            1e3 * seconds,
            best[0] / seconds,
            run.evaluations
        );
    }
}

struct Run {
    seconds: f64,
    evaluations: u64,
    /// The output at every communication point.
    path: Vec<f64>,
}

fn run(method: &str, tolerance: f64) -> Run {
    let text = include_str!("spin_up.toml").replace("\"auto\"", &format!("{method:?}"));
    let model = Model::read(&text, Path::new(".")).expect("a sound example");
    let output = model.outputs.iter().position(|o| o.quantity.name == OUTPUT);
    let (output, experiment) = (output.expect("an output"), model.spec.experiment.clone());
    let work_limit = model.work_limit();
    let room = (vec![0.0; model.states.len()], vec![0.0; model.outputs.len()]);
    let mut simulation = Simulation::new(Plant::new(model.into()).expect("derives")).expect("starts");
    simulation.initialise(0.0, Some(tolerance), work_limit).expect("starts");
    let ((mut dx, mut y), mut path) = (room, Vec::new());
    let (mut seconds, mut messages) = (0.0, Vec::new());
    let steps = (experiment.stop_time / experiment.step).round() as u32;
    for i in 1..=steps {
        let t = experiment.step * f64::from(i);
        let start = Instant::now();
        simulation.advance(t, &mut messages).expect("advances");
        seconds += start.elapsed().as_secs_f64();
        let state = simulation.state.clone();
        let at = OperatingPoint::new(t, state.x.as_slice(), &[][..], &state.discrete);
        simulation.plant.evaluate(at, &mut dx, &mut y).expect("finite");
        path.push(y[output]);
    }
    Run {
        seconds,
        evaluations: simulation.statistics().evaluations,
        path,
    }
}
