//! Communication steps that are shorter than accuracy requires, with the default method: three
//! evaluations in a step.

use grapple::simulation::Simulation;
use std::path::Path;

/// States at the communication points of a run, and the evaluations from each to the next.
struct Run {
    path: Vec<Vec<f64>>,
    evaluations: Vec<u64>,
}

/// Runs a spec in `steps` steps of `h` (s).
fn run(text: &str, folder: &str, tolerance: f64, (h, steps): (f64, i32)) -> Run {
    let mut simulation = Simulation::new(crate::plant_of(text, Path::new(folder))).expect("starts");
    simulation.initialise(0.0, Some(tolerance), 1e9).expect("a tolerance");
    let (mut path, mut evaluations) = (Vec::new(), Vec::new());
    for k in 1..=steps {
        let before = simulation.plant.evaluations();
        simulation.advance(h * f64::from(k), &mut Vec::new()).expect("runs");
        path.push(simulation.state.x.clone());
        evaluations.push(simulation.plant.evaluations() - before);
    }
    Run { path, evaluations }
}

/// An arm with sine torques; a probe that slides down a cone, in compliant contact (the benchmark with
/// MuJoCo and Drake); a box that lands, slides and rests. Errors are those of all states, relative to
/// 1 or their magnitude, with a tolerance of 1e-4 against one of 1e-10.
#[test]
fn default_method_takes_three_evaluations_in_a_short_step() {
    let read = |path: &str| std::fs::read_to_string(path).expect("a spec");
    for (path, folder, h, steps, share) in [
        ("examples/two_link.toml", "examples", 0.01, 500, 0.75),
        ("benches/docking/docking.toml", "benches/docking", 0.002, 5000, 0.9),
        ("benches/resting/slide.toml", "benches/resting", 0.002, 500, 0.8),
    ] {
        let text = read(path);
        let fifth = text.clone() + "\n[solver]\nmethod = \"dopri5\"\n";
        let [default, fifth, exact] = [(&text, 1e-4), (&fifth, 1e-4), (&text, 1e-10)]
            .map(|(text, tolerance)| run(text, folder, tolerance, (h, steps)));
        let few = default.evaluations.iter().filter(|&&count| count <= 3).count() as f64 / f64::from(steps);
        let mean = default.evaluations.iter().sum::<u64>() as f64 / f64::from(steps);
        let [error, of_dopri5] = [&default, &fifth].map(|run| {
            let points = run.path.iter().zip(&exact.path);
            let states = points.flat_map(|(x, exact)| x.iter().zip(exact));
            states
                .map(|(x, exact)| (x - exact).abs() / exact.abs().max(1.0))
                .fold(0.0, f64::max)
        });
        println!("{path}: {mean:.2} evaluations in a step, {few:.3} of the steps with three");
        println!("    error {error:.1e}, of dopri5 {of_dopri5:.1e}");
        assert!(few > share && error < 1e-3, "{path}");
    }
}
