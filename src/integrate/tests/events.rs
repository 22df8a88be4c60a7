//! Dense output and root finding locate events to the accuracy of the integration.

use super::super::root::find_change;
use super::super::{Memory, Method, Settings, Stepper};
use super::problems::{AUTO, kepler, kepler_solution, ode};

unit_tests![
    an_axis_crossing_of_a_kepler_orbit_is_located_to_the_tolerance,
    bouncing_ball_has_its_closed_form_times,
];

/// Steps until `indicator` changes sign; returns the time just after the change and writes the
/// state there into `x`.
fn first_event<O: super::super::Ode<Error: std::fmt::Debug>>(
    stepper: &mut Stepper,
    ode: &mut O,
    t0: f64,
    x: &mut [f64],
    memory: &mut Memory,
    indicator: impl Fn(&[f64]) -> f64,
) -> f64 {
    let mut t = t0;
    loop {
        let before = indicator(x);
        let step = stepper.step(ode, t, f64::INFINITY, x, memory).unwrap();
        let after = indicator(x);
        if (before > 0.0) == (after > 0.0) {
            t = step.t;
            continue;
        }
        let dense = stepper.dense(ode).unwrap();
        let mut inside = x.to_vec();
        let bracket = find_change([(t, before), (step.t, after)], |t| {
            dense.interpolate(t, &mut inside);
            indicator(&inside)
        });
        let t_event = bracket.unwrap().t_after;
        dense.interpolate(t_event, x);
        assert!((indicator(x) > 0.0) == (after > 0.0), "the side after the crossing");
        return t_event;
    }
}

fn an_axis_crossing_of_a_kepler_orbit_is_located_to_the_tolerance() {
    // y crosses zero from above at half the period, at the apocentre.
    for (method, tolerance) in [
        (Method::Dopri5, 1e-6),
        (Method::Dopri5, 1e-9),
        (Method::BogackiShampine, 1e-6),
        (Method::BogackiShampine, 1e-9),
        (Method::Dop853, 1e-9),
        (Method::Dop853, 1e-12),
        (Method::Rk4 { step: 1e-3 }, 1e-9),
        (Method::Radau5, 1e-6),
        (Method::Radau5, 1e-9),
        (Method::Rosenbrock, 1e-6),
        (Method::Rosenbrock, 1e-9),
        (Method::ImplicitMidpoint { step: 1e-5 }, 1e-9),
        (Method::LinearlyImplicit { step: 1e-5 }, 1e-9),
        (AUTO, 1e-9),
    ] {
        let mut stepper = Stepper::new(Settings::new(method, tolerance, &[1.0; 4]).unwrap());
        let (t0, mut memory) = (0.1, Memory::new(stepper.settings()));
        let mut x = kepler_solution(0.6, t0);
        let t = first_event(&mut stepper, &mut kepler(), t0, &mut x, &mut memory, |x| x[1]);
        let error = (t - std::f64::consts::PI).abs();
        println!("{}, {tolerance:.0e}: error of the event {error:.1e}", method.name());
        assert!(error < 100.0 * tolerance, "{error:e}");
    }
}

fn bouncing_ball_has_its_closed_form_times() {
    // Fall from 1 m at 9.81 m/s², restitution 0.8: from bounce k to the next it takes 2·0.8ᵏ·v₀/g.
    let g = 9.81;
    for method in [
        Method::Dopri5,
        Method::BogackiShampine,
        Method::Dop853,
        Method::Rk4 { step: 0.01 },
        Method::Radau5,
        Method::Rosenbrock,
        Method::ImplicitMidpoint { step: 0.01 },
        Method::LinearlyImplicit { step: 0.01 },
        AUTO,
    ] {
        let mut ball = ode(move |_, x, dx| dx.copy_from_slice(&[x[1], -g]));
        let settings = Settings::new(method, 1e-9, &[1.0; 2]).unwrap();
        // The integration error of a parabola is zero: without `h_max` the steps would grow without
        // bound.
        let mut stepper = Stepper::new(settings.with_h_max(1.0).unwrap());
        let (mut t, mut x, mut memory) = (0.0, [1.0, 0.0], Memory::new(stepper.settings()));
        let v0 = (2.0 * g).sqrt();
        let mut expected = v0 / g;
        for bounce in 1..=10 {
            t = first_event(&mut stepper, &mut ball, t, &mut x, &mut memory, |x| x[0]);
            assert!((t - expected).abs() < 1e-8, "{}: bounce {bounce}: {t}", method.name());
            x = [0.0_f64.next_up(), -0.8 * x[1]];
            expected += 2.0 * 0.8_f64.powi(bounce) * v0 / g;
        }
    }
}
