//! Conservation of invariants by the implicit midpoint rule.

use super::super::{Memory, Method, Settings, Stepper};
use super::problems::{ode, slope};
use crate::larger::Larger;

unit_tests![
    quadratic_invariants_are_conserved_to_round_off_over_ten_thousand_steps,
    energy_of_a_pendulum_has_no_drift,
    stiff_rotating_pendulum_is_solved_to_round_off_in_long_steps,
];

/// Principal moments of inertia.
const I: [f64; 3] = [1.0, 2.3, 3.1];

/// Returns a free rigid body; states are its angular velocity in body axes and its quaternion.
fn top() -> impl super::super::Ode<Error = std::convert::Infallible> {
    ode(|_, x, dx| {
        let [w1, w2, w3, a, b, c, d] = *x else { panic!("seven") };
        dx[0] = (I[1] - I[2]) / I[0] * w2 * w3;
        dx[1] = (I[2] - I[0]) / I[1] * w3 * w1;
        dx[2] = (I[0] - I[1]) / I[2] * w1 * w2;
        dx[3] = 0.5 * (-b * w1 - c * w2 - d * w3);
        dx[4] = 0.5 * (a * w1 + c * w3 - d * w2);
        dx[5] = 0.5 * (a * w2 + d * w1 - b * w3);
        dx[6] = 0.5 * (a * w3 + b * w2 - c * w1);
    })
}

/// Returns twice the energy, the square of the angular momentum, and the square of the quaternion's
/// norm.
fn invariants(x: &[f64]) -> [f64; 3] {
    let sum = |power: i32| (0..3).map(|i| I[i].powi(power) * x[i] * x[i]).sum();
    [sum(1), sum(2), x[3..].iter().map(|q| q * q).sum()]
}

fn quadratic_invariants_are_conserved_to_round_off_over_ten_thousand_steps() {
    // The own step of the test problem is the implicit midpoint rule as well.
    for method in [
        Method::ImplicitMidpoint { step: 0.1 },
        Method::Conserving { step: 0.1, rates: 7 },
    ] {
        keeps_quadratic_invariants(method);
    }
}

fn keeps_quadratic_invariants(method: Method) {
    // The tolerance is not used.
    let mut stepper = Stepper::new(Settings::new(method, 0.1, &[1.0; 7]).unwrap());
    let mut memory = Memory::new(stepper.settings());
    let (mut t, mut x) = (0.0, [0.3, 0.9, -0.4, 0.5, 0.5, -0.5, 0.5]);
    let start = invariants(&x);
    let (mut worst, mut steps) = ([0.0_f64; 3], 0);
    while t < 1000.0 {
        t = stepper
            .step(&mut top(), t, f64::INFINITY, &mut x, &mut memory)
            .unwrap()
            .t;
        steps += 1;
        let now = invariants(&x);
        for i in 0..3 {
            worst[i] = worst[i].max((now[i] / start[i] - 1.0).abs());
        }
    }
    let evaluations = stepper.evaluations() as f64 / f64::from(steps);
    let [energy, momentum, norm] = worst;
    println!(
        "{}: drifts {energy:.1e}, {momentum:.1e}, {norm:.1e}; {steps} steps of {evaluations:.1} evaluations",
        method.name()
    );
    assert!(steps >= 10_000);
    // Random round-off: ε √10⁴ = 2e-14. A convergence error accumulates: ε 10⁴ = 2e-12.
    assert!(worst.iter().all(|drift| *drift < 2e-13), "{worst:?}");
}

fn energy_of_a_pendulum_has_no_drift() {
    // The energy is not quadratic. A symplectic method conserves it over long times, up to an
    // oscillation of order h² (Hairer, Lubich and Wanner, section IX.8).
    let energy = |x: &[f64]| 0.5 * x[1] * x[1] - x[0].cos();
    let largest = |h: f64, t_end: f64| {
        let method = Method::ImplicitMidpoint { step: h };
        let mut stepper = Stepper::new(Settings::new(method, 1e-6, &[1.0; 2]).unwrap());
        let mut memory = Memory::new(stepper.settings());
        let mut pendulum = ode(|_, x, dx| dx.copy_from_slice(&[x[1], -x[0].sin()]));
        let (mut t, mut x, mut largest) = (0.0, [2.0, 0.0], 0.0_f64);
        let start = energy(&x);
        while t < t_end {
            t = stepper
                .step(&mut pendulum, t, f64::INFINITY, &mut x, &mut memory)
                .unwrap()
                .t;
            largest = largest.larger((energy(&x) - start).abs());
        }
        largest
    };
    let (early, late) = (largest(0.1, 50.0), largest(0.1, 5000.0));
    let points = [0.2, 0.1, 0.05].map(|h| (h, largest(h, 50.0)));
    let slope = slope(&points);
    println!("largest error {early:.3e} to t = 50, {late:.3e} to t = 5000; slope {slope:.2}");
    assert!(late < 1.01 * early && (slope - 2.0).abs() < 0.1);
}

/// Returns a mass on a spring of length 1 and frequency `omega` (rad/s) that rotates about its end
/// at 1 rad/s.
fn spring_pendulum(omega: f64) -> impl super::super::Ode<Error = std::convert::Infallible> {
    ode(move |_, x, dx| {
        let r = x[0].hypot(x[1]);
        let pull = omega * omega * (r - 1.0) / r;
        dx.copy_from_slice(&[x[2], x[3], -pull * x[0], -pull * x[1]]);
    })
}

/// Steps of `ωh` radians of the vibration lead to contraction rates of Newton's iteration near
/// 0.01, near 0.5, or alternating; in all cases (1) is solved to round-off.
fn stiff_rotating_pendulum_is_solved_to_round_off_in_long_steps() {
    let momentum = |x: &[f64]| x[0] * x[3] - x[1] * x[2];
    for (omega, steps_of) in [
        (1e1, &[1.5, 2.0][..]),
        (1e2, &[1.5, 2.0, 5.0, 7.0]),
        (1e3, &[1.5, 2.0, 5.0, 7.0, 20.0]),
    ] {
        for &omega_h in steps_of {
            let (h, steps) = (omega_h / omega, 1000);
            let method = Method::ImplicitMidpoint { step: h };
            let mut stepper = Stepper::new(Settings::new(method, 0.1, &[1.0; 4]).unwrap());
            let mut memory = Memory::new(stepper.settings());
            let (mut t, mut x) = (0.0, [1.0, 0.0, 0.0, 1.0]);
            let (mut worst, mut most) = (0.0_f64, 0);
            for _ in 0..steps {
                stepper.begin_call();
                let step = stepper.step(&mut spring_pendulum(omega), t, f64::INFINITY, &mut x, &mut memory);
                t = step.unwrap().t;
                most = most.max(stepper.evaluations());
                worst = worst.larger((momentum(&x) - 1.0).abs());
            }
            // Random round-off in each step: that of the state, and the state's response to the
            // round-off of the spring force.
            let pull = omega * omega_h / (1.0 + 0.25 * omega_h * omega_h);
            let chance = f64::EPSILON * (1.0 + pull) * f64::from(steps).sqrt();
            println!("ω = {omega}, ωh = {omega_h}: drift {worst:.1e} of {chance:.1e}, {most} evaluations at most");
            assert!(worst < 10.0 * chance && most <= 20 + 20 + 1 + 4);
        }
    }
}
