//! Orders of convergence, from the slope of the error against the step.

use super::super::{Memory, Method, Ode, Settings, Stepper};
use super::problems::{distance, run, slope, smooth, smooth_solution};
use super::rosenbrock::WithMatrix;
use crate::larger::Larger;

unit_tests![
    error_at_the_end_has_the_order_of_the_method,
    error_inside_one_step_has_the_order_of_the_dense_output,
    dense_output_interpolates_states_and_derivatives,
];

/// Returns settings under which every step has the length `h`.
fn steps_of(method: Method, h: f64) -> Settings {
    let method = match method {
        Method::Rk4 { .. } => Method::Rk4 { step: h },
        Method::ImplicitMidpoint { .. } => Method::ImplicitMidpoint { step: h },
        Method::LinearlyImplicit { .. } => Method::LinearlyImplicit { step: h },
        Method::Conserving { rates, .. } => Method::Conserving { step: h, rates },
        adaptive => adaptive,
    };
    let settings = match method {
        // Newton's iteration depends on the tolerance; this one is tight, but accepts the step.
        Method::Radau5 => Settings::new(method, h.powi(6), &[1.0; 2]),
        Method::ImplicitMidpoint { .. } => Settings::new(method, 0.1, &[1.0; 2]),
        _ => Settings::new(method, 0.1, &[1e6; 2]),
    };
    let settings = settings.unwrap();
    let settings = settings.with_h_max(h).unwrap();
    settings.with_initial_step(h).unwrap()
}

const CASES: [(Method, [i32; 4]); 8] = [
    (Method::Rosenbrock, [16, 32, 64, 128]),
    (Method::ImplicitMidpoint { step: 1.0 }, [16, 32, 64, 128]),
    (Method::LinearlyImplicit { step: 1.0 }, [16, 32, 64, 128]),
    (Method::Conserving { step: 1.0, rates: 2 }, [16, 32, 64, 128]),
    (Method::Rk4 { step: 1.0 }, [16, 32, 64, 128]),
    (Method::Dopri5, [16, 32, 64, 128]),
    (Method::BogackiShampine, [16, 32, 64, 128]),
    (Method::Dop853, [10, 13, 17, 22]),
];

fn error_at_the_end_has_the_order_of_the_method() {
    for (method, counts) in CASES {
        let points = counts.map(|count| {
            let h = 2.0 / f64::from(count);
            let mut x = smooth_solution(-0.7);
            let steps = run(steps_of(method, h), &mut smooth(), -0.7, 1.3, &mut x);
            assert_eq!(steps.len(), count as usize);
            (h, distance(&x, &smooth_solution(1.3)))
        });
        let (slope, order) = (slope(&points), f64::from(method.order()));
        println!("{}: slope {slope:.3}, errors {points:?}", method.name());
        assert!((slope - order).abs() < 0.35, "{}: {slope} {points:?}", method.name());
    }
}

/// Returns the largest error inside one step of length `h` from an exact initial state.
fn error_inside(method: Method, h: f64, ode: &mut impl Ode<Error: std::fmt::Debug>) -> f64 {
    let t0 = 0.4;
    let mut x = smooth_solution(t0);
    let mut stepper = Stepper::new(steps_of(method, h));
    let mut memory = Memory::new(stepper.settings());
    let step = stepper.step(ode, t0, f64::INFINITY, &mut x, &mut memory);
    let t1 = step.unwrap().t;
    let dense = stepper.dense(ode).unwrap();
    let error = |i: u32| {
        let t = t0 + (t1 - t0) * f64::from(i) / 20.0;
        let mut inside = [0.0; 2];
        dense.interpolate(t, &mut inside);
        distance(&inside, &smooth_solution(t))
    };
    (1..20).map(error).fold(0.0, f64::larger)
}

fn error_inside_one_step_has_the_order_of_the_dense_output() {
    for (method, lengths) in [
        (Method::Rk4 { step: 1.0 }, [0.1, 0.05, 0.025, 0.0125]),
        (Method::Dopri5, [0.1, 0.05, 0.025, 0.0125]),
        (Method::BogackiShampine, [0.1, 0.05, 0.025, 0.0125]),
        (Method::Dop853, [0.2, 0.15, 0.1, 0.075]),
        (Method::Radau5, [0.1, 0.05, 0.025, 0.0125]),
        (Method::Rosenbrock, [0.1, 0.05, 0.025, 0.0125]),
        (Method::ImplicitMidpoint { step: 1.0 }, [0.1, 0.05, 0.025, 0.0125]),
        (Method::LinearlyImplicit { step: 1.0 }, [0.1, 0.05, 0.025, 0.0125]),
        (Method::Conserving { step: 1.0, rates: 2 }, [0.1, 0.05, 0.025, 0.0125]),
    ] {
        // With W = 0 the Rosenbrock method's error of order 3 is only 3e-4 h³: less than that of order 4.
        let points = lengths.map(|h| match method {
            Method::Rosenbrock => (h, error_inside(method, h, &mut WithMatrix)),
            _ => (h, error_inside(method, h, &mut smooth())),
        });
        let (slope, order) = (slope(&points), f64::from(method.dense_order()));
        println!("{}: local slope {slope:.3}, errors {points:?}", method.name());
        assert!(
            (slope - order - 1.0).abs() < 0.45,
            "{}: {slope} {points:?}",
            method.name()
        );
    }
}

fn dense_output_interpolates_states_and_derivatives() {
    for method in [
        Method::Rk4 { step: 0.3 },
        Method::Dopri5,
        Method::BogackiShampine,
        Method::Dop853,
        Method::ImplicitMidpoint { step: 0.3 },
        Method::LinearlyImplicit { step: 0.3 },
        Method::Conserving { step: 0.3, rates: 2 },
    ] {
        let mut stepper = Stepper::new(steps_of(method, 0.3));
        let (mut x, mut memory) = (smooth_solution(0.1), Memory::new(stepper.settings()));
        let start = x;
        let step = stepper.step(&mut smooth(), 0.1, 5.0, &mut x, &mut memory).unwrap();
        let dense = stepper.dense(&mut smooth()).unwrap();
        let at = |t: f64| {
            let mut out = [f64::NAN; 2];
            dense.interpolate(t, &mut out);
            out
        };
        assert_eq!((at(0.1), at(step.t)), (start, x), "bit by bit");
        assert_eq!((at(-7.0), at(9.0)), (start, x), "outside is the nearer end");
        for (t, sign) in [(0.1, 1.0), (step.t, -1.0)] {
            let (d, mut dx) = (1e-6, [0.0; 2]);
            super::super::Ode::derivative(&mut smooth(), t, &at(t), &mut dx).unwrap();
            let quotient = [0, 1].map(|i| (at(t + sign * d)[i] - at(t)[i]) / (sign * d));
            // Difference quotient: d times the second derivative, and round-off over d.
            assert!(distance(&quotient, &dx) < 1e-5, "{quotient:?} {dx:?}");
        }
    }
}
