//! The reference values of the examples, computed with the library directly (the Python tests
//! compute them with the FMU).

use crate::numbers::Larger;
use crate::run::Run;

const TWO_LINK: &str = include_str!("../../examples/two_link.toml");

/// Runs a spacecraft for 5 s.
fn run(text: &str, tolerance: f64) -> Run {
    let mut run = Run::new(text, tolerance);
    run.go(5.0);
    run
}

/// The reference is from two independent, converged programs for Kłak and Jarzębowska's spacecraft.
#[test]
fn two_link_reaches_the_reference_attitude_and_angles() {
    let run = run(TWO_LINK, 1e-13);
    let (w, z) = (run.value("base.q[1]"), run.value("base.q[4]"));
    let found = [
        2.0 * z.atan2(w).to_degrees(),
        run.value("shoulder.q").to_degrees(),
        run.value("elbow.q").to_degrees(),
    ];
    println!("{found:.9?} {:?}", run.simulation.statistics());
    for (found, expected) in found.iter().zip([-45.92802927, 48.82037995, 104.92707873]) {
        // The reference has eight decimals.
        assert!((found - expected).abs() < 1e-8, "{found} instead of {expected}");
    }
}

/// Returns the final coordinates of the two-link spacecraft with another solver.
fn final_angles(solver: &str, tolerance: f64) -> [f64; 3] {
    let run = run(&format!("{TWO_LINK}\n[solver]\n{solver}"), tolerance);
    ["base.q[4]", "shoulder.q", "elbow.q"].map(|name| run.value(name))
}

fn error(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::larger)
}

/// The fixed-step solver is of order 4: half the step gives a sixteenth of the error.
#[test]
fn fixed_steps_converge_with_the_fourth_order() {
    let reference = final_angles("method = \"dop853\"", 1e-13);
    let errors = [0.02, 0.01, 0.005].map(|step| {
        let solver = format!("method = \"rk4\"\nstep = {step}");
        error(final_angles(&solver, 1e-6), reference)
    });
    let slopes = [errors[0] / errors[1], errors[1] / errors[2]].map(f64::log2);
    println!("errors {errors:?}, slopes {slopes:.2?}");
    assert!(slopes.iter().all(|slope| (slope - 4.0).abs() < 0.3), "{slopes:?}");
}

/// Both adaptive solvers respect the tolerance: the error decreases at least tenfold with a
/// hundredth of the tolerance.
#[test]
fn error_of_adaptive_steps_is_within_the_tolerance() {
    let reference = final_angles("method = \"dop853\"", 1e-14);
    for method in ["dopri5", "dop853"] {
        let errors = [1e-6, 1e-8, 1e-10]
            .map(|tolerance| error(final_angles(&format!("method = \"{method}\""), tolerance), reference));
        println!("{method}: {errors:?}");
        assert!(
            errors[0] < 1e-4 && errors[1] < 0.1 * errors[0] && errors[2] < 0.1 * errors[1],
            "{method}: {errors:?}"
        );
    }
}

/// Sloshing, gyros, the environment, sampled sensors with noise, propellant: a run continues from a
/// copy of its state with the same bits of all states and outputs.
#[test]
fn restored_runs_of_tanks_sensors_and_the_environment_continue_bit_by_bit() {
    for text in [
        include_str!("../../examples/tanks/slosh_and_gyros.toml"),
        include_str!("../../examples/tanks/kick_stage.toml"),
        include_str!("../../examples/environment/low_orbit.toml"),
        include_str!("../../examples/sensors/satellite.toml"),
    ] {
        let mut run = Run::new(text, 1e-6);
        for (at, until) in [(1.37, 2.0), (5.03, 7.5)] {
            run.go(at);
            let mut other = Run::new(text, 1e-6);
            other.simulation.state.clone_from(&run.simulation.state);
            other.go(until);
            run.go(until);
            let bits = |run: &Run| {
                let outputs = run
                    .model()
                    .outputs
                    .iter()
                    .map(|output| run.value(&output.quantity.name))
                    .collect::<Vec<_>>();
                let all = run.simulation.state.x.iter().copied().chain(outputs);
                all.map(f64::to_bits).collect::<Vec<_>>()
            };
            assert!(bits(&other) == bits(&run), "{} from {at} s", run.model().spec.name);
        }
    }
}
