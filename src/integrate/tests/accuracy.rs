//! The global error is proportional to the tolerance.

use super::super::{Method, Settings};
use super::problems::{ARENSTORF_PERIOD, ARENSTORF_START, AUTO, arenstorf, distance, kepler, kepler_solution, run};

unit_tests![
    error_is_proportional_to_the_tolerance_on_a_kepler_orbit,
    error_is_proportional_to_the_tolerance_on_the_arenstorf_orbit,
    states_at_rest_do_not_loosen_the_tolerance_of_the_others,
    first_step_is_neither_rejected_nor_too_small,
];

/// Checks that the error decreases at least tenfold from one tolerance to the next; these decrease
/// by factors of 100. `error` returns the error and the number of steps.
fn check_proportionality(name: &str, tolerances: &[f64], error: impl Fn(f64) -> (f64, usize)) {
    let mut last = f64::INFINITY;
    for &tolerance in tolerances {
        let (error, steps) = error(tolerance);
        println!("{name}: tolerance {tolerance:.0e}, error {error:.2e}, {steps} steps");
        assert!(error < 0.1 * last, "{name}: {error:e} after {last:e}");
        last = error;
    }
}

fn error_is_proportional_to_the_tolerance_on_a_kepler_orbit() {
    let t_end = 20.0;
    for method in [
        Method::Dopri5,
        Method::BogackiShampine,
        Method::Dop853,
        Method::Radau5,
        Method::Rosenbrock,
        AUTO,
    ] {
        let name = format!("kepler {}", method.name());
        check_proportionality(&name, &[1e-4, 1e-6, 1e-8, 1e-10], |tolerance| {
            let mut x = kepler_solution(0.6, 0.0);
            let settings = Settings::new(method, tolerance, &[1.0; 4]).unwrap();
            let steps = run(settings, &mut kepler(), 0.0, t_end, &mut x);
            (distance(&x, &kepler_solution(0.6, t_end)), steps.len())
        });
    }
}

fn error_is_proportional_to_the_tolerance_on_the_arenstorf_orbit() {
    for method in [Method::Dopri5, Method::Dop853, Method::Radau5, AUTO] {
        let name = format!("arenstorf {}", method.name());
        check_proportionality(&name, &[1e-5, 1e-7, 1e-9, 1e-11], |tolerance| {
            let mut x = ARENSTORF_START;
            let settings = Settings::new(method, tolerance, &[1.0; 4]).unwrap();
            let steps = run(settings, &mut arenstorf(), 0.0, ARENSTORF_PERIOD, &mut x);
            (distance(&x, &ARENSTORF_START), steps.len())
        });
    }
}

fn states_at_rest_do_not_loosen_the_tolerance_of_the_others() {
    let padded = super::problems::ode(|_, x, dx| {
        let r3 = x[0].hypot(x[1]).powi(3);
        dx.fill(0.0);
        dx[..4].copy_from_slice(&[x[2], x[3], -x[0] / r3, -x[1] / r3]);
    });
    let mut padded = padded;
    let final_state = |n: usize, ode: &mut dyn FnMut(&mut [f64], Settings)| {
        let mut x = vec![0.0; n];
        x[..4].copy_from_slice(&kepler_solution(0.6, 0.0));
        ode(&mut x, Settings::new(Method::Dopri5, 1e-6, &vec![1.0; n]).unwrap());
        x[..4].to_vec()
    };
    let mut few = |x: &mut [f64], s: Settings| drop(run(s, &mut padded, 0.0, 6.0, x));
    assert_eq!(final_state(4, &mut few), final_state(104, &mut few));
}

fn first_step_is_neither_rejected_nor_too_small() {
    for method in [
        Method::Dopri5,
        Method::BogackiShampine,
        Method::Dop853,
        Method::Radau5,
        Method::Rosenbrock,
        AUTO,
    ] {
        for tolerance in [1e-3, 1e-6, 1e-9, 1e-12] {
            // The start is at the pericentre, where the steps are shortest.
            let mut x = kepler_solution(0.6, 0.0);
            let settings = Settings::new(method, tolerance, &[1.0; 4]).unwrap();
            let steps = run(settings, &mut kepler(), 0.0, 6.0, &mut x);
            let shortest = steps[1..].iter().map(|s| s.h).fold(6.0, f64::min);
            println!(
                "{} {tolerance:.0e}: {:.1e}, then {shortest:.1e}",
                method.name(),
                steps[0].h
            );
            assert!(steps[0].rejections == 0 && steps[0].h > 0.02 * shortest);
        }
    }
}
