//! Failures of a step.

use std::convert::Infallible;

use super::super::{IntegrateError, Memory, Method, Ode, Settings, Step, Stepper};
use super::problems::{AUTO, ode, rhs, run};

unit_tests![
    explicit_method_reaches_the_work_limit_on_a_stiff_problem,
    integration_reaches_the_boundary_of_the_domain,
    failure_at_a_trial_point_only_shortens_the_step,
    nan_at_the_start_is_an_immediate_error,
    unresolvable_jump_reports_the_worst_state,
    fixed_step_is_not_repeated,
    zero_states_are_allowed,
    invalid_arguments_are_rejected,
    extreme_times_and_steps_terminate,
];

const METHODS: [Method; 10] = [
    Method::Dopri5,
    Method::BogackiShampine,
    Method::Dop853,
    Method::Rk4 { step: 0.01 },
    Method::Radau5,
    Method::Rosenbrock,
    Method::ImplicitMidpoint { step: 0.01 },
    Method::LinearlyImplicit { step: 0.01 },
    Method::Conserving { step: 0.01, rates: 0 },
    AUTO,
];
const ADAPTIVE: [Method; 6] = [
    Method::Dopri5,
    Method::BogackiShampine,
    Method::Dop853,
    Method::Radau5,
    Method::Rosenbrock,
    AUTO,
];

fn stepper(method: Method, n: usize) -> Stepper {
    let method = match method {
        Method::Conserving { step, .. } => Method::Conserving { step, rates: n },
        other => other,
    };
    Stepper::new(Settings::new(method, 1e-6, &vec![1.0; n]).unwrap())
}

/// Runs until a step fails; returns the time reached and the error. Fails if there is no error.
fn run_into<O: Ode>(stepper: &mut Stepper, ode: &mut O, t_end: f64, x: &mut [f64]) -> (f64, IntegrateError<O::Error>) {
    let (mut t, mut memory) = (0.0, Memory::new(stepper.settings()));
    while t < t_end {
        let before = x.to_vec();
        match stepper.step(ode, t, t_end, x, &mut memory) {
            Ok(step) => t = step.t,
            Err(error) => {
                assert_eq!(x, before, "the state is that of the last accepted step");
                return (t, error);
            }
        }
    }
    panic!("reached the end");
}

fn explicit_method_reaches_the_work_limit_on_a_stiff_problem() {
    let mut stiff = ode(|t, x, dx| dx[0] = -1e9 * (x[0] - t.cos()));
    for method in [Method::Dopri5, Method::BogackiShampine, Method::Dop853] {
        let settings = Settings::new(method, 1e-6, &[1.0]).unwrap();
        let mut stepper = Stepper::new(settings.with_max_evaluations(20_000));
        let (t, error) = run_into(&mut stepper, &mut stiff, 10.0, &mut [0.0]);
        let IntegrateError::WorkLimit { t_reached, evaluations } = error else {
            panic!("{error}");
        };
        assert_eq!((t_reached, evaluations), (t, stepper.evaluations()));
        assert!(t > 0.0 && t < 1e-3 && evaluations <= 20_000 && evaluations > 19_980);
    }
}

fn integration_reaches_the_boundary_of_the_domain() {
    for method in ADAPTIVE {
        // dx/dt = √(1 − x) + 0.1 reaches x = 1 at t = 2 − 0.2 ln 11 = 1.52; beyond it the square
        // root is NaN.
        let mut nan = ode(|_, x, dx| dx.copy_from_slice(&[0.0, (1.0 - x[1]).sqrt() + 0.1]));
        let (t, error) = run_into(&mut stepper(method, 2), &mut nan, 10.0, &mut [0.0, 0.0]);
        println!("{}: {error}", method.name());
        assert!((1.519..1.521).contains(&t), "{t}");
        assert!(
            matches!(error, IntegrateError::NotFinite { component: 1, .. }),
            "{error}"
        );
        assert_eq!(error.component(), Some(1));
        let mut fails = rhs(|t: f64, _: &[f64], dx: &mut [f64]| {
            dx[0] = 1.0;
            if t > 0.7 { Err("the arm is torn") } else { Ok(()) }
        });
        let (t, error) = run_into(&mut stepper(method, 1), &mut fails, 10.0, &mut [0.0]);
        println!("{}: {error}", method.name());
        let IntegrateError::Derivative { h, source, .. } = error else {
            panic!("{error}");
        };
        assert!((t - 0.7).abs() < 1e-10 && h > 0.0 && h < 1e-10);
        assert_eq!(source, "the arm is torn");
    }
}

fn failure_at_a_trial_point_only_shortens_the_step() {
    for method in ADAPTIVE {
        // The model is valid for x < 1 only. The solution stays below 1, but stages of the long
        // first step do not.
        let mut near = rhs(|_: f64, x: &[f64], dx: &mut [f64]| {
            dx[0] = 4.0 * (0.9 - x[0]);
            if x[0] < 1.0 { Ok(()) } else { Err(()) }
        });
        let settings = Settings::new(method, 1e-6, &[1.0]).unwrap();
        let mut stepper = Stepper::new(settings.with_initial_step(5.0).unwrap());
        let (mut x, mut memory) = ([0.0], Memory::new(stepper.settings()));
        let step = stepper.step(&mut near, 0.0, 10.0, &mut x, &mut memory).unwrap();
        assert!(step.rejections > 0 && x[0] < 0.9);
    }
}

fn nan_at_the_start_is_an_immediate_error() {
    for method in METHODS {
        let mut calls = 0;
        let mut nan = rhs(|_: f64, _: &[f64], dx: &mut [f64]| {
            calls += 1;
            dx.copy_from_slice(&[1.0, 1.0, f64::NAN]);
            Ok::<(), Infallible>(())
        });
        let (_, error) = run_into(&mut stepper(method, 3), &mut nan, 1.0, &mut [0.0; 3]);
        drop(nan);
        // Fixed-step implicit rules evaluate no derivative before the attempt: `h` is then not
        // zero.
        let h = if matches!(
            method,
            Method::ImplicitMidpoint { .. } | Method::LinearlyImplicit { .. } | Method::Conserving { .. }
        ) {
            0.01
        } else {
            0.0
        };
        assert_eq!(
            error,
            IntegrateError::NotFinite {
                t: 0.0,
                h,
                component: 2
            }
        );
        // The own step of the test problem evaluates starting rates (1) and a Jacobian (4) before
        // the derivative at the start (1), whose error names the state.
        let own = matches!(method, Method::Conserving { .. });
        assert_eq!(calls, if own { 1 + 4 + 1 } else { 1 });
    }
}

fn unresolvable_jump_reports_the_worst_state() {
    for method in ADAPTIVE {
        // x[1] ~ 1/(1 − t) diverges at t = 1.
        let mut blow_up = ode(|_, x, dx| dx.copy_from_slice(&[1.0, x[1] * x[1]]));
        let (t, error) = run_into(&mut stepper(method, 2), &mut blow_up, 10.0, &mut [0.0, 1.0]);
        println!("{}: {error}", method.name());
        assert!((t - 1.0).abs() < 1e-4 && error.component() == Some(1), "{t} {error}");
    }
}

fn fixed_step_is_not_repeated() {
    let mut calls = 0;
    let mut fails = rhs(|t: f64, _: &[f64], dx: &mut [f64]| {
        calls += 1;
        dx[0] = 1.0;
        if t > 0.012 { Err("too late") } else { Ok(()) }
    });
    let method = Method::Rk4 { step: 0.01 };
    let (t, error) = run_into(&mut stepper(method, 1), &mut fails, 1.0, &mut [0.0]);
    drop(fails);
    assert!((t - 0.01).abs() < 1e-15 && calls == 6);
    assert!(matches!(error, IntegrateError::Derivative { .. }));
}

fn zero_states_are_allowed() {
    for method in METHODS {
        let settings = Settings::new(method, 1e-6, &[]).unwrap();
        let steps = run(settings.clone(), &mut ode(|_, _, _| ()), 0.0, 1.0, &mut []);
        assert_eq!(steps.last().map(|step| step.t), Some(1.0));
        let mut stepper = Stepper::new(settings);
        let mut memory = Memory::new(stepper.settings());
        let taken = stepper.step(&mut ode(|_, _, _| ()), 0.0, 1.0, &mut [], &mut memory);
        assert!(taken.is_ok());
        let dense = stepper.dense(&mut ode(|_, _, _| ())).unwrap();
        dense.interpolate(0.5 * dense.t_end(), &mut []);
    }
}

fn invalid_arguments_are_rejected() {
    let mut still = ode(|_, _, dx| dx.fill(0.0));
    let nan = f64::NAN;
    for method in METHODS {
        let mut stepper = stepper(method, 2);
        let mut memory = Memory::new(stepper.settings());
        let mut step = |t, limit, x: &mut [f64]| stepper.step(&mut still, t, limit, x, &mut memory);
        for (t, limit) in [(1.0, 0.5), (1.0, 1.0), (nan, 1.0), (0.0, nan), (f64::NEG_INFINITY, 0.0)] {
            let refused = step(t, limit, &mut [0.0; 2]).unwrap_err();
            assert!(matches!(refused, IntegrateError::LimitNotAhead { .. }), "{refused}");
        }
        assert_eq!(
            step(0.0, 1.0, &mut [0.0; 3]),
            Err(IntegrateError::WrongLength { expected: 2, found: 3 })
        );
        assert_eq!(
            step(0.0, 1.0, &mut [0.0, nan]),
            Err(IntegrateError::StateNotFinite { t: 0.0, component: 1 })
        );
        let inside = stepper.dense(&mut still).unwrap_err();
        assert_eq!(inside, IntegrateError::NoStep);
    }
}

fn extreme_times_and_steps_terminate() {
    let mut still = ode(|_, x, dx| dx[0] = -x[0]);
    for method in METHODS {
        let mut stepper = stepper(method, 1);
        let mut memory = Memory::new(stepper.settings());
        for (t, limit) in [
            (1e300, f64::INFINITY),
            (-f64::MAX, f64::MAX),
            (0.0, f64::from_bits(1)),
            (1.0, 1.0_f64.next_up()),
            (0.0, f64::INFINITY),
        ] {
            // The step fails, or time advances within the limit.
            let taken = stepper.step(&mut still, t, limit, &mut [1.0], &mut memory);
            assert!(taken.is_err() || taken.is_ok_and(|Step { t: t1, .. }| t1 > t && t1 <= limit));
        }
    }
}
