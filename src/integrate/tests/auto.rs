//! Automatic selection of the method.

use super::super::{Memory, Method, Ode, Settings, Stepper};
use super::problems::{
    ARENSTORF_PERIOD, ARENSTORF_START, arenstorf, distance, kepler, kepler_solution, ode, van_der_pol,
};

/// Runs to `t_end`; returns time and new method of each change, and the number of evaluations.
fn changes<O: Ode<Error: std::fmt::Debug>>(
    method: Method,
    tolerance: f64,
    ode: &mut O,
    t_end: f64,
    x: &mut [f64],
) -> (Vec<(f64, Method)>, u64) {
    let settings = Settings::new(method, tolerance, &vec![1.0; x.len()]).unwrap();
    let mut stepper = Stepper::new(settings.with_max_evaluations(20_000_000));
    let (mut t, mut memory, mut changes) = (0.0, Memory::new(stepper.settings()), Vec::new());
    while t < t_end {
        let step = stepper.step(ode, t, t_end, x, &mut memory).unwrap();
        t = step.t;
        changes.extend(step.changed_to.map(|method| (t, method)));
    }
    (changes, stepper.evaluations())
}

#[test]
fn stiffness_of_van_der_pols_oscillator_is_detected() {
    let reference = [0.170_616_773_217_048_3e1, -0.892_809_701_024_797_5];
    for tolerance in [1e-4, 1e-6, 1e-8] {
        let mut x = [2.0, 0.0];
        let (list, evaluations) = changes(Method::Auto, tolerance, &mut van_der_pol(), 2.0, &mut x);
        let (_, radau5) = changes(Method::Radau5, tolerance, &mut van_der_pol(), 2.0, &mut [2.0, 0.0]);
        let error = distance(&x, &reference);
        println!("{tolerance:.0e}: error {error:.1e}, {evaluations} evaluations (radau5 {radau5}), {list:?}");
        assert!(error < 10.0 * tolerance);
        // Stiff from the start; nonstiff at the jumps near 0.807 and 1.614; stiff again.
        assert!(list[0].0 < 1e-3 && list[0].1 == Method::Radau5);
        for jump in [0.807, 1.614] {
            let near = |(t, _): &&(f64, Method)| (t - jump).abs() < 2e-3;
            let methods: Vec<Method> = list.iter().filter(near).map(|(_, method)| *method).collect();
            assert_eq!(methods, [Method::Dopri5, Method::Radau5], "at {jump}");
        }
        assert!(evaluations < 3 * radau5);
    }
}

#[test]
fn nonstiff_problems_are_bit_identical_to_dopri5() {
    for tolerance in [1e-3, 1e-5, 1e-7, 1e-9, 1e-11] {
        let (start, t_end) = (kepler_solution(0.6, 0.0), 30.0);
        let (mut x, mut explicit) = (start, start);
        let (list, _) = changes(Method::Auto, tolerance, &mut kepler(), t_end, &mut x);
        changes(Method::Dopri5, tolerance, &mut kepler(), t_end, &mut explicit);
        assert!(list.is_empty() && x == explicit, "{list:?}");
        let mut x = ARENSTORF_START;
        let (list, _) = changes(Method::Auto, tolerance, &mut arenstorf(), ARENSTORF_PERIOD, &mut x);
        assert!(list.is_empty(), "{list:?}");
    }
}

#[test]
fn begin_and_end_of_stiffness_are_detected() {
    // Relaxation to cos t with the rate 1e5 from t = 2 to t = 6, and the rate 1 elsewhere.
    let rate = |t: f64| if (2.0..6.0).contains(&t) { 1e5 } else { 1.0 };
    let mut relaxation = ode(move |t, x, dx| dx[0] = -rate(t) * (x[0] - t.cos()) - t.sin());
    let mut x = [1.0];
    let (list, evaluations) = changes(Method::Auto, 1e-8, &mut relaxation, 20.0, &mut x);
    println!(
        "{evaluations} evaluations, {list:?}, error {:.1e}",
        x[0] - 20.0_f64.cos()
    );
    let [(stiff, Method::Radau5), (easy, Method::Dopri5)] = list[..] else {
        panic!("{list:?}");
    };
    assert!((2.0..2.1).contains(&stiff) && (6.0..18.0).contains(&easy));
    assert!((x[0] - 20.0_f64.cos()).abs() < 1e-7 && evaluations < 20_000);
}

/// Returns the equations and the solution of a mass `f` on a stiff spring whose other end is a slow
/// oscillator `s`: `f̈ = −ω²(f − s)`, `s̈ = −s`. The mass vibrates with the amplitude `excited`
/// about the quasi-static motion `f = s ω²/(ω² − 1)`.
fn on_a_stiff_spring(excited: f64) -> (impl Ode<Error = std::convert::Infallible>, impl Fn(f64) -> [f64; 4]) {
    let stiffness = 1e8;
    let follows = stiffness / (stiffness - 1.0);
    let law = ode(move |_, x, dx| dx.copy_from_slice(&[x[2], x[3], -x[0], -stiffness * (x[1] - x[0])]));
    let solution = move |t: f64| {
        let fast = stiffness.sqrt() * t;
        [
            t.cos(),
            follows * t.cos() + excited * fast.cos(),
            -t.sin(),
            -follows * t.sin() - excited * stiffness.sqrt() * fast.sin(),
        ]
    };
    (law, solution)
}

#[test]
fn unexcited_undamped_vibration_does_not_limit_the_step() {
    for tolerance in [1e-5, 1e-7] {
        let (mut law, solution) = on_a_stiff_spring(0.0);
        let (mut x, mut explicit) = (solution(0.0), solution(0.0));
        let (list, evaluations) = changes(Method::Auto, tolerance, &mut law, 10.0, &mut x);
        let (_, followed) = changes(Method::Dopri5, tolerance, &mut law, 10.0, &mut explicit);
        let errors = [&x, &explicit].map(|x| (x[1] - solution(10.0)[1]).abs());
        println!("{tolerance:.0e}: {evaluations} evaluations, dopri5 {followed}; errors {errors:?}; {list:?}");
        assert!(matches!(list[..], [(t, Method::Radau5)] if t < 1.0));
        assert!(20 * evaluations < followed && errors[0] < 10.0 * tolerance);
    }
}

#[test]
fn excited_vibration_is_resolved_and_trials_cost_little() {
    let (mut law, solution) = on_a_stiff_spring(1e-2);
    let (mut x, mut explicit) = (solution(0.0), solution(0.0));
    let (list, evaluations) = changes(Method::Auto, 1e-5, &mut law, 3.0, &mut x);
    let (_, followed) = changes(Method::Dopri5, 1e-5, &mut law, 3.0, &mut explicit);
    println!("{evaluations} evaluations, dopri5 {followed}");
    assert!(list.is_empty() && x == explicit, "{list:?}");
    assert!((evaluations as f64) < 1.1 * followed as f64);
}

#[test]
fn failed_trial_counts_as_a_rejection_only() {
    let (mut law, solution) = on_a_stiff_spring(1e-2);
    let mut after = |waits: bool| {
        let mut stepper = Stepper::new(Settings::new(Method::Auto, 1e-5, &[1.0; 4]).unwrap());
        let (mut x, mut memory) = (solution(0.0), Memory::new(stepper.settings()));
        let t = stepper.step(&mut law, 0.0, 3.0, &mut x, &mut memory).unwrap().t;
        if waits {
            while !memory.method_selection.is_trial_scheduled() {
                memory.method_selection.count_near(true);
            }
        }
        let step = stepper.step(&mut law, t, 3.0, &mut x, &mut memory).unwrap();
        (step.t, x, step.rejections, stepper.evaluations())
    };
    let (without, with) = (after(false), after(true));
    println!("{} evaluations, {} with a trial", without.3, with.3);
    assert_eq!((with.0, with.1, with.2), (without.0, without.1, without.2 + 1));
    assert!(with.3 > without.3);
}
