//! Implicit methods: sources and reuse of Jacobians, convergence, corrections with a partial
//! Jacobian.

use super::super::memory::Age;
use super::super::newton::{Convergence, Limits, Progress};
use super::super::{IntegrateError, Memory, Method, Ode, Settings, Stepper};
use super::problems::{distance, hires, rhs};
use crate::larger::Larger;
use nalgebra::{Matrix4, Vector4};

unit_tests![
    jacobian_is_reused_while_the_iteration_converges_fast,
    extrapolated_starting_values_save_corrections,
    finite_differences_replace_a_missing_jacobian,
    wrong_jacobian_costs_work_but_no_accuracy,
    an_iteration_that_does_not_converge_is_an_error_after_bounded_work,
    finite_difference_uses_the_other_sign_after_a_failure,
    corrections_with_the_whole_jacobian_solve_linear_equations,
    slow_corrections_stop_if_an_alternative_remains,
    slow_contraction_is_not_taken_for_round_off,
    stiffness_missing_in_the_corrections_damps_or_destabilises,
];

/// A stiff linear system with an unsymmetric Jacobian,
/// `ẋ = J (x − (cos t, sin t)) + (−sin t, cos t)`.
struct Linear {
    /// The Jacobian that the model provides: none, the exact or a wrong one.
    knows: Option<Knowledge>,
    derivatives: u32,
    jacobians: u32,
}

enum Knowledge {
    Right,
    Transposed,
}

const J: [[f64; 2]; 2] = [[-1.0, 50.0], [0.0, -1000.0]];

fn linear(knows: Option<Knowledge>) -> Linear {
    Linear {
        knows,
        derivatives: 0,
        jacobians: 0,
    }
}

impl Ode for Linear {
    type Error = &'static str;

    fn derivative(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), &'static str> {
        self.derivatives += 1;
        let away = [x[0] - t.cos(), x[1] - t.sin()];
        dx[0] = J[0][0] * away[0] + J[0][1] * away[1] - t.sin();
        dx[1] = J[1][0] * away[0] + J[1][1] * away[1] + t.cos();
        Ok(())
    }

    fn jacobian(&mut self, _: f64, _: &[f64], jacobian: &mut [f64]) -> Result<bool, &'static str> {
        self.jacobians += 1;
        match self.knows {
            None => return Ok(false),
            Some(Knowledge::Right) => jacobian.copy_from_slice(&[J[0][0], J[1][0], J[0][1], J[1][1]]),
            Some(Knowledge::Transposed) => jacobian.copy_from_slice(&[J[0][0], J[0][1], J[1][0], J[1][1]]),
        }
        Ok(true)
    }
}

/// Runs to `t = 2` with communication points 0.01 apart; returns the error at the end and the
/// number of evaluations.
fn run(method: Method, ode: &mut Linear) -> (f64, u64) {
    let mut stepper = Stepper::new(Settings::new(method, 1e-8, &[1.0; 2]).unwrap());
    let mut memory = Memory::new(stepper.settings());
    let (mut t, mut x) = (0.0, [1.0, 0.0]);
    for k in 1..=200 {
        while t < f64::from(k) * 0.01 {
            let limit = f64::from(k) * 0.01;
            t = stepper.step(ode, t, limit, &mut x, &mut memory).unwrap().t;
        }
    }
    (distance(&x, &[2.0_f64.cos(), 2.0_f64.sin()]), stepper.evaluations())
}

const IMPLICIT: [Method; 2] = [Method::Radau5, Method::ImplicitMidpoint { step: 0.01 }];

fn jacobian_is_reused_while_the_iteration_converges_fast() {
    for method in IMPLICIT {
        let mut exact = linear(Some(Knowledge::Right));
        let (error, evaluations) = run(method, &mut exact);
        println!(
            "{}: error {error:.1e}, {} Jacobians, {evaluations} evaluations",
            method.name(),
            exact.jacobians
        );
        assert_eq!(exact.jacobians, 1, "the Jacobian is constant");
        // Two unknowns: the single Jacobian counts as two evaluations.
        assert_eq!(evaluations, u64::from(exact.derivatives) + 2);
    }
}

fn extrapolated_starting_values_save_corrections() {
    let evaluations = |forgets: bool| {
        let mut stepper = Stepper::new(Settings::new(Method::Radau5, 1e-8, &[1e-4; 8]).unwrap());
        let mut memory = Memory::new(stepper.settings());
        let (mut t, mut x) = (0.0, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057]);
        while t < 300.0 {
            if forgets {
                memory.newton.h = 0.0;
            }
            t = stepper.step(&mut hires(), t, 300.0, &mut x, &mut memory).unwrap().t;
        }
        stepper.evaluations()
    };
    let (kept, forgotten) = (evaluations(false), evaluations(true));
    println!("{kept} evaluations, {forgotten} without");
    assert!(10 * kept < 9 * forgotten);
}

fn finite_differences_replace_a_missing_jacobian() {
    for method in IMPLICIT {
        let (mut exact, mut unknown) = (linear(Some(Knowledge::Right)), linear(None));
        let (with, without) = (run(method, &mut exact), run(method, &mut unknown));
        println!("{}: errors {:.1e}, {:.1e}", method.name(), with.0, without.0);
        // The relative error of finite differences is 1e-8: the number of corrections is nearly
        // equal.
        assert!((with.0 - without.0).abs() < 1e-8 && without.1.abs_diff(with.1) < with.1 / 20);
        assert_eq!(
            u64::from(unknown.derivatives),
            without.1,
            "each column of differences is an evaluation"
        );
    }
}

fn wrong_jacobian_costs_work_but_no_accuracy() {
    let (mut exact, mut wrong) = (linear(Some(Knowledge::Right)), linear(Some(Knowledge::Transposed)));
    let (with, without) = (run(Method::Radau5, &mut exact), run(Method::Radau5, &mut wrong));
    println!(
        "errors {:.1e} and {:.1e}, evaluations {} and {}",
        with.0, without.0, with.1, without.1
    );
    assert!(without.0 < 1e-7 && without.1 > with.1 && wrong.jacobians > exact.jacobians);
}

fn an_iteration_that_does_not_converge_is_an_error_after_bounded_work() {
    let method = Method::ImplicitMidpoint { step: 1.0 };
    let mut stepper = Stepper::new(Settings::new(method, 1e-6, &[1.0]).unwrap());
    let mut memory = Memory::new(stepper.settings());
    // A relay has no solution at its switching point.
    let mut relay = rhs(|_: f64, x: &[f64], dx: &mut [f64]| {
        dx[0] = if x[0] > 0.25 { -1.0 } else { 1.0 };
        Ok::<(), ()>(())
    });
    let mut x = [0.0];
    let error = stepper.step(&mut relay, 0.0, 10.0, &mut x, &mut memory).unwrap_err();
    println!("{error:?} after {} evaluations", stepper.evaluations());
    assert!(matches!(error, IntegrateError::NoConvergence { .. }) && x == [0.0]);
    assert!(stepper.evaluations() <= 44);
}

fn finite_difference_uses_the_other_sign_after_a_failure() {
    // The state is on the boundary of the model's domain, x[1] = 1, and moves along it.
    let mut border = rhs(|_: f64, x: &[f64], dx: &mut [f64]| {
        dx.copy_from_slice(&[1.0, 0.0]);
        if x[1] > 1.0 { Err("outside") } else { Ok(()) }
    });
    let mut stepper = Stepper::new(Settings::new(Method::Radau5, 1e-6, &[1.0; 2]).unwrap());
    let mut memory = Memory::new(stepper.settings());
    let mut x = [0.0, 1.0];
    let step = stepper.step(&mut border, 0.0, 1.0, &mut x, &mut memory).unwrap();
    assert_eq!((step.rejections, x[1]), (0, 1.0));
}

/// [`Linear`] whose corrections use the Jacobian with its off-diagonal entry multiplied by
/// `off_diagonal`: 1 for all of it, 0 for the diagonal only.
struct Corrected {
    linear: Linear,
    off_diagonal: f64,
}

impl Ode for Corrected {
    type Error = &'static str;

    fn derivative(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), &'static str> {
        self.linear.derivative(t, x, dx)
    }

    fn correct(
        &mut self,
        (t, theta): (f64, f64),
        x0: &[f64],
        g: &mut [f64],
        midpoint: &mut [f64],
    ) -> Result<(), &'static str> {
        let mut f = [0.0; 2];
        for i in 0..2 {
            midpoint[i] = x0[i] + theta * g[i];
        }
        self.derivative(t, midpoint, &mut f)?;
        let second = (f[1] - g[1]) / (1.0 - theta * J[1][1]);
        g[0] += (f[0] - g[0] + theta * self.off_diagonal * J[0][1] * second) / (1.0 - theta * J[0][0]);
        g[1] += second;
        Ok(())
    }
}

/// Takes 40 steps of 0.1 s, a hundred times the fastest time constant; returns the state at the end
/// and the number of evaluations.
fn long_steps(method: Method, ode: &mut impl Ode<Error = &'static str>) -> ([f64; 2], u64) {
    let mut stepper = Stepper::new(Settings::new(method, 1e-8, &[1.0; 2]).unwrap());
    let mut memory = Memory::new(stepper.settings());
    let (mut t, mut x) = (0.0, [1.3, -0.2]);
    for k in 1..=40 {
        t = stepper.step(ode, t, f64::from(k) * 0.1, &mut x, &mut memory).unwrap().t;
    }
    (x, stepper.evaluations())
}

fn corrections_with_the_whole_jacobian_solve_linear_equations() {
    let linear = || linear(Some(Knowledge::Right));
    let (midpoint, _) = long_steps(Method::ImplicitMidpoint { step: 0.1 }, &mut linear());
    let method = Method::LinearlyImplicit { step: 0.1 };
    for off_diagonal in [1.0, 0.0] {
        let mut ode = Corrected {
            linear: linear(),
            off_diagonal,
        };
        let (x, evaluations) = long_steps(method, &mut ode);
        let apart = distance(&x, &midpoint);
        println!("{off_diagonal} of what is off the diagonal: {x:?}, {apart:.1e} from the implicit midpoint rule");
        assert_eq!(evaluations, 2 * 40 + 1, "two a step, and one more in the first");
        // With the diagonal only, the first correction determines the second unknown, and the
        // second correction the first.
        assert!(apart < 1e-12);
    }
    // With corrections without a Jacobian, stiff components grow without bound.
    let (x, _) = long_steps(method, &mut linear());
    assert!(x[1].abs() > 1e20, "{x:?}");
}

/// Monitors a sequence of correction norms; returns the number of corrections up to the decision,
/// the decision and the round-off floor.
fn iterate(jacobian: Age, corrections: &[f64]) -> (usize, Progress, Option<f64>) {
    let limits = Limits {
        target: 1e-17,
        round_off: 1e-10,
        iterations: 20,
    };
    let mut convergence = Convergence::of_fixed_step(limits, jacobian);
    for (k, &correction) in corrections.iter().enumerate() {
        match convergence.observe(correction) {
            Progress::GoOn => {}
            progress => return (k + 1, progress, convergence.floor),
        }
    }
    (corrections.len(), Progress::GoOn, convergence.floor)
}

fn slow_corrections_stop_if_an_alternative_remains() {
    let falls = |rate: f64| -> Vec<f64> { (0..20).map(|k| 1e-2 * rate.powi(k)).collect() };
    // Fast contraction is accepted with either Jacobian.
    for age in [Age::Old, Age::Fresh] {
        assert_eq!(iterate(age, &falls(0.01)), (8, Progress::Converged, None));
        assert_eq!(
            iterate(age, &[1e-2, 1e-6, 3e-11, 2e-11]),
            (4, Progress::Converged, Some(2e-11))
        );
        assert_eq!(iterate(age, &[1e-2, f64::INFINITY]).1, Progress::WillNotConverge);
    }
    // The last of 20 corrections would be 1e-2 · 0.5¹⁹ = 2e-8, above `target` and `round_off`.
    assert_eq!(iterate(Age::Old, &falls(0.5)), (2, Progress::WillNotConverge, None));
    assert_eq!(iterate(Age::Fresh, &falls(0.5)), (20, Progress::WillNotConverge, None));
    // Slow contraction at first, then fast.
    let slow = [2.5e-2, 1.1e-2, 1.7e-3, 3.6e-5, 5.7e-6, 1.2e-7];
    assert_eq!(iterate(Age::Old, &slow), (2, Progress::WillNotConverge, None));
    assert_eq!(iterate(Age::Fresh, &slow), (6, Progress::GoOn, None));
    assert_eq!(
        iterate(Age::Fresh, &[1.0, 3.0, 5.0, 30.0]),
        (3, Progress::WillNotConverge, None)
    );
}

fn slow_contraction_is_not_taken_for_round_off() {
    let mut steadily: Vec<f64> = (0..12).map(|k| 9e-11 * 0.6_f64.powi(k)).collect();
    steadily.splice(0..0, [4e-10, 2.5e-10, 1.5e-10]);
    assert_eq!(iterate(Age::Fresh, &steadily), (15, Progress::GoOn, None));
    // Slow and fast contraction alternate.
    let turns = [2.8e-10, 2.7e-10, 2.7e-12, 2.6e-12, 2.6e-14, 2.5e-14];
    assert_eq!(iterate(Age::Fresh, &turns), (6, Progress::GoOn, None));
    // A stagnating correction is round-off, after either sequence.
    let stands = [&turns[..], &[2.6e-14]].concat();
    assert_eq!(iterate(Age::Fresh, &stands), (7, Progress::Converged, Some(2.6e-14)));
    let stands = [&steadily[..], &[3e-13]].concat();
    assert_eq!(iterate(Age::Fresh, &stands), (16, Progress::Converged, Some(3e-13)));
    // After the last admissible correction an error below `round_off` is accepted.
    let slow: Vec<f64> = (0..20).map(|k| 1e-8 * 0.7_f64.powi(k)).collect();
    assert_eq!(iterate(Age::Fresh, &slow), (20, Progress::Converged, None));
}

/// A mass on a spring of unit stiffness, of which the corrections omit the part `unknown`. If
/// `consistent`, the coordinate's `g` is set to its midpoint rate before each correction.
struct Spring {
    unknown: f64,
    consistent: bool,
}

impl Ode for Spring {
    type Error = std::convert::Infallible;

    fn derivative(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Result<(), Self::Error> {
        dx.copy_from_slice(&[x[1], -x[0]]);
        Ok(())
    }

    fn correct(
        &mut self,
        (t, theta): (f64, f64),
        x0: &[f64],
        g: &mut [f64],
        midpoint: &mut [f64],
    ) -> Result<(), Self::Error> {
        if self.consistent {
            g[0] = x0[1] + theta * g[1];
        }
        for i in 0..2 {
            midpoint[i] = x0[i] + theta * g[i];
        }
        let mut f = [0.0; 2];
        self.derivative(t, midpoint, &mut f)?;
        let (off, known) = ([f[0] - g[0], f[1] - g[1]], 1.0 - self.unknown);
        let second = (off[1] - theta * known * off[0]) / (1.0 + theta * theta * known);
        g[0] += off[0] + theta * second;
        g[1] += second;
        Ok(())
    }
}

/// With the stiffness `K`, of which the corrections omit `k`, the linear map of state and midpoint
/// derivative over one step has a largest eigenvalue of magnitude `1 ∓ 2 (k/K)²`, for a step of 100
/// radians of the vibration: minus for the plain formula, plus for a consistent `g`.
fn stiffness_missing_in_the_corrections_damps_or_destabilises() {
    let h = 100.0;
    let mut stepper = Stepper::new(Settings::new(Method::LinearlyImplicit { step: h }, 1e-8, &[1.0; 2]).unwrap());
    for unknown in [0.01, -0.01, 0.02] {
        for (consistent, sign) in [(false, -1.0), (true, 1.0)] {
            let mut spring = Spring { unknown, consistent };
            let columns = [0, 1, 2, 3].map(|k| {
                let unit: [f64; 4] = std::array::from_fn(|i| f64::from(i == k));
                let mut memory = Memory::new(stepper.settings());
                memory.newton.h = h;
                memory.rows.copy_from_slice(&unit[2..]);
                let mut x = [unit[0], unit[1]];
                stepper.step(&mut spring, 0.0, h, &mut x, &mut memory).unwrap();
                Vector4::new(x[0], x[1], memory.rows[0], memory.rows[1])
            });
            let eigenvalues = Matrix4::from_columns(&columns).complex_eigenvalues();
            let growth = eigenvalues
                .iter()
                .map(|value| value.norm_sqr().sqrt())
                .fold(0.0, f64::larger)
                - 1.0;
            let expected = sign * 2.0 * unknown * unknown;
            println!("{unknown}, {consistent}: grows by {growth:.3e} in a step, {expected:.3e} to leading order");
            // The next term of the series is smaller by the factor 2 k/K.
            assert!(
                (growth / expected - 1.0).abs() < 2.5 * unknown.abs(),
                "{growth} {expected}"
            );
        }
    }
}
