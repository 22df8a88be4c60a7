//! Automatic selection of the method.

use super::super::method_selection::Candidate;
use super::super::{Alternatives, Memory, Method, Ode, Settings, Stage, Stepper};
use super::problems::{
    ARENSTORF_PERIOD, ARENSTORF_START, AUTO, arenstorf, distance, kepler, kepler_solution, ode, van_der_pol,
};

unit_tests![
    stiffness_of_van_der_pols_oscillator_is_detected,
    nonstiff_problems_are_integrated_as_by_dopri5,
    stiffness_that_begins_and_ends_costs_neither_steps_nor_accuracy,
    unexcited_undamped_vibration_does_not_limit_the_step,
    excited_vibration_is_resolved_and_trials_cost_little,
    a_vibration_does_not_grow_at_loose_tolerances,
    linearly_implicit_steps_are_selected_under_sampled_loads,
    unsuccessful_trial_returns_to_the_method_and_its_step_size,
    short_steps_take_half_of_the_evaluations_while_accuracy_allows,
    dopri5_returns_when_the_limit_goes,
    instability_of_the_pair_brings_dopri5_back,
    short_steps_damp_a_vibration_less_than_the_tolerance_admits,
];

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

fn stiffness_of_van_der_pols_oscillator_is_detected() {
    let reference = [0.170_616_773_217_048_3e1, -0.892_809_701_024_797_5];
    for tolerance in [1e-4, 1e-6, 1e-8] {
        let mut x = [2.0, 0.0];
        let (list, evaluations) = changes(AUTO, tolerance, &mut van_der_pol(), 2.0, &mut x);
        let (_, radau5) = changes(Method::Radau5, tolerance, &mut van_der_pol(), 2.0, &mut [2.0, 0.0]);
        let error = distance(&x, &reference);
        println!("{tolerance:.0e}: error {error:.1e}, {evaluations} evaluations (radau5 {radau5}), {list:?}");
        assert!(matches!(list[..], [(_, Method::Radau5)]));
        assert!(error < 10.0 * tolerance && 5 * evaluations < 6 * radau5);
    }
}

fn nonstiff_problems_are_integrated_as_by_dopri5() {
    for tolerance in [1e-3, 1e-5, 1e-7, 1e-9, 1e-11] {
        let (start, t_end) = (kepler_solution(0.6, 0.0), 30.0);
        let (mut x, mut explicit) = (start, start);
        let (list, evaluations) = changes(AUTO, tolerance, &mut kepler(), t_end, &mut x);
        let (_, dopri5) = changes(Method::Dopri5, tolerance, &mut kepler(), t_end, &mut explicit);
        let errors = [&x, &explicit].map(|x| distance(x, &kepler_solution(0.6, t_end)));
        println!("{tolerance:.0e}: {evaluations} evaluations, dopri5 {dopri5}; errors {errors:?}; {list:?}");
        assert!(
            list.is_empty() && (evaluations as f64) < 1.2 * dopri5 as f64,
            "{list:?}"
        );
        assert!(errors[0] < 1.5 * errors[1]);
        // Long steps, at loose tolerances, count towards a trial.
        assert!(tolerance > 1e-6 || x == explicit);
        let mut x = ARENSTORF_START;
        let (list, _) = changes(AUTO, tolerance, &mut arenstorf(), ARENSTORF_PERIOD, &mut x);
        assert!(list.is_empty(), "{list:?}");
    }
}

/// Relaxation to cos t with the rate 1e5 from t = 2 to t = 6, and the rate 1 elsewhere. In 25 s the
/// steps of DOPRI5 at its limit of stability would take 3 million evaluations. An old, stiff
/// Jacobian would suppress both corrections and error estimate of RADAU5 after t = 6.
fn stiffness_that_begins_and_ends_costs_neither_steps_nor_accuracy() {
    let rate = |t: f64| if (2.0..6.0).contains(&t) { 1e5 } else { 1.0 };
    let smooth = |t: f64| 10.0_f64.powf(5.0 * (4.0 * (2.0 - (t - 4.0).abs())).clamp(0.0, 1.0));
    for rate in [&rate as &dyn Fn(f64) -> f64, &smooth] {
        let mut relaxation = ode(move |t, x, dx| dx[0] = -rate(t) * (x[0] - t.cos()) - t.sin());
        let mut x = [1.0];
        let (list, evaluations) = changes(AUTO, 1e-8, &mut relaxation, 25.0, &mut x);
        let error = (x[0] - 25.0_f64.cos()).abs();
        println!("{evaluations} evaluations, error {error:.1e}; {list:?}");
        assert!(matches!(list[..], [(_, Method::Radau5), ..]));
        assert!(error < 1e-7 && evaluations < 5000);
    }
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

fn unexcited_undamped_vibration_does_not_limit_the_step() {
    for tolerance in [1e-5, 1e-7] {
        let (mut law, solution) = on_a_stiff_spring(0.0);
        let (mut x, mut explicit) = (solution(0.0), solution(0.0));
        let (list, evaluations) = changes(AUTO, tolerance, &mut law, 10.0, &mut x);
        let (_, followed) = changes(Method::Dopri5, tolerance, &mut law, 10.0, &mut explicit);
        let errors = [&x, &explicit].map(|x| (x[1] - solution(10.0)[1]).abs());
        println!("{tolerance:.0e}: {evaluations} evaluations, dopri5 {followed}; errors {errors:?}; {list:?}");
        assert!(matches!(list[..], [(t, Method::Radau5)] if t < 1.0));
        assert!(20 * evaluations < followed && errors[0] < 10.0 * tolerance);
    }
}

fn excited_vibration_is_resolved_and_trials_cost_little() {
    let (mut law, solution) = on_a_stiff_spring(1e-2);
    let (mut x, mut explicit) = (solution(0.0), solution(0.0));
    let (list, evaluations) = changes(AUTO, 1e-5, &mut law, 3.0, &mut x);
    let (_, followed) = changes(Method::Dopri5, 1e-5, &mut law, 3.0, &mut explicit);
    let errors = [&x, &explicit].map(|x| distance(x, &solution(3.0)));
    println!("{evaluations} evaluations, dopri5 {followed}; errors {errors:?}");
    assert!(list.is_empty() && errors[0] < 1.5 * errors[1], "{list:?}");
    assert!((evaluations as f64) < 1.1 * followed as f64);
}

/// A vibration of 60 rad/s with an amplitude of the rate of 1e-3 follows a slow one for 100 s of DOPRI5.
/// With limited steps it may grow to some hundredths of the tolerance: less does not count.
fn a_vibration_does_not_grow_at_loose_tolerances() {
    let frequency: f64 = 60.0;
    let limited = Method::Auto(Alternatives {
        rosenbrock: false,
        vibrates: true,
        radau5: false,
    });
    for tolerance in [0.1, 0.01, 1e-3] {
        let [limited, free] = [limited, Method::Dopri5].map(|method| {
            let nominal = [1.0, 1.0 / frequency, 1.0, 1.0];
            let settings = Settings::new(method, tolerance, &nominal).unwrap();
            let stiffness = frequency.powi(2);
            let mut law = ode(move |_, x, dx| dx.copy_from_slice(&[x[2], x[3], -x[0], -stiffness * (x[1] - x[0])]));
            let (mut t, mut x, mut memory) = (0.0, [0.0, 0.0, 1.0, 1.001], Memory::new(&settings));
            let (mut stepper, mut largest) = (Stepper::new(settings), 0.0_f64);
            while t < 100.0 {
                t = stepper.step(&mut law, t, 100.0, &mut x, &mut memory).unwrap().t;
                largest = largest.max((x[3] - x[2]).abs());
            }
            largest
        });
        println!("{tolerance:.0e}: rate {limited:.1e}, with dopri5 {free:.1e}");
        assert!(limited < 0.2 * tolerance + 2e-3 && free > 0.5, "{limited:e}, {free:e}");
    }
}

/// Vibrations with the given frequencies (rad/s) and a damping ratio of 1 % under one load, which is
/// held for 10 ms.
struct Sampled {
    frequencies: Vec<f64>,
    load: f64,
}

impl Ode for Sampled {
    type Error = std::convert::Infallible;

    fn derivative(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Result<(), Self::Error> {
        let n = self.frequencies.len();
        for (i, frequency) in self.frequencies.iter().enumerate() {
            dx[i] = x[n + i];
            dx[n + i] = self.load - frequency * (frequency * x[i] + 0.02 * x[n + i]);
        }
        Ok(())
    }

    fn stage(&mut self, stage: Stage, x: &[f64], p: &[f64], k: &mut [f64]) -> Result<(), Self::Error> {
        let (n, theta) = (self.frequencies.len(), stage.theta);
        for (i, frequency) in self.frequencies.iter().enumerate() {
            let (stiffness, damping) = (frequency * frequency, 0.02 * frequency);
            let rate = x[n + i] + p[n + i];
            let force = self.load - damping * rate - stiffness * (x[i] + p[i] + theta * rate);
            k[n + i] = force / (1.0 + theta * damping + theta * theta * stiffness);
            k[i] = rate + theta * k[n + i];
        }
        Ok(())
    }
}

/// The load changes in every interval, which restarts all methods: the linearly implicit one takes
/// the longest steps.
fn linearly_implicit_steps_are_selected_under_sampled_loads() {
    let auto = Method::Auto(Alternatives {
        rosenbrock: true,
        vibrates: false,
        radau5: false,
    });
    let run = |method: Method| {
        let frequencies: Vec<f64> = (0..20).map(|i| 2.0 * 1.4_f64.powi(i)).collect();
        let nominal: Vec<f64> = (frequencies.iter().map(|_| 0.2))
            .chain(frequencies.iter().map(|frequency| 0.2 * frequency))
            .collect();
        let mut ode = Sampled { frequencies, load: 0.0 };
        let (mut x, mut changed) = (vec![0.0; 40], Vec::new());
        let settings = Settings::new(method, 1e-4, &nominal).unwrap();
        let mut stepper = Stepper::new(settings.with_max_evaluations(u64::MAX));
        let (mut t, mut memory) = (0.0, Memory::new(stepper.settings()));
        for interval in 1..=400 {
            let end = f64::from(interval) * 0.01;
            ode.load = 0.5 * (0.7 * end).sin();
            stepper.invalidate();
            while t < end {
                let step = stepper.step(&mut ode, t, end, &mut x, &mut memory).unwrap();
                t = step.t;
                changed.extend(step.changed_to.map(|method| (t, method)));
            }
        }
        (changed, stepper.evaluations())
    };
    let (changed, evaluations) = run(auto);
    let [dopri5, rosenbrock] = [Method::Dopri5, Method::Rosenbrock].map(|method| run(method).1);
    println!("{evaluations}, dopri5 {dopri5}, rosenbrock {rosenbrock}; {changed:?}");
    assert!(matches!(changed[..], [(t, Method::Rosenbrock)] if t < 0.2));
    assert!(10 * evaluations < 11 * rosenbrock && 5 * rosenbrock < dopri5);
}

fn unsuccessful_trial_returns_to_the_method_and_its_step_size() {
    let (mut law, solution) = on_a_stiff_spring(1e-2);
    let mut stepper = Stepper::new(Settings::new(AUTO, 1e-5, &[1.0; 4]).unwrap());
    let (mut t, mut x, mut memory) = (0.0, solution(0.0), Memory::new(stepper.settings()));
    let mut next_steps = [0.0; 2];
    while next_steps[1] == 0.0 {
        let was_on_trial = memory.method_selection.before.is_some();
        t = stepper.step(&mut law, t, 3.0, &mut x, &mut memory).unwrap().t;
        match (was_on_trial, memory.method_selection.before) {
            (false, Some(method)) => {
                assert_eq!(
                    (method, memory.method_selection.method),
                    (Candidate::Dopri5, Candidate::Radau5)
                );
                next_steps[0] = memory.step_history.h_next;
            }
            (true, None) => next_steps[1] = memory.step_history.h_next,
            _ => {}
        }
    }
    assert_eq!(memory.method_selection.method, Candidate::Dopri5);
    assert_eq!(next_steps[0], next_steps[1]);
}

/// Runs a Kepler orbit, of eccentricity 0.6, over intervals of the length `h`; returns the numbers
/// of evaluations in each and the error at the end.
fn over_intervals(method: Method, tolerance: f64, h: f64, count: i32) -> (Vec<u64>, f64) {
    let mut stepper = Stepper::new(Settings::new(method, tolerance, &[1.0; 4]).unwrap());
    let (mut t, mut x, mut memory) = (0.0, kepler_solution(0.6, 0.0), Memory::new(stepper.settings()));
    let (mut evaluations, mut before) = (Vec::new(), 0);
    for k in 1..=count {
        while t < f64::from(k) * h {
            let end = f64::from(k) * h;
            t = stepper.step(&mut kepler(), t, end, &mut x, &mut memory).unwrap().t;
        }
        evaluations.push(stepper.evaluations() - before);
        before = stepper.evaluations();
    }
    (evaluations, distance(&x, &kepler_solution(0.6, t)))
}

/// In two orbits. At 1e-4 the error allows the pair of order 3(2) all intervals but those near the
/// pericentre, at 1e-6 those near the apocentre, at 1e-9 none.
fn short_steps_take_half_of_the_evaluations_while_accuracy_allows() {
    for (tolerance, least, most) in [(1e-4, 0.9, 0.99), (1e-6, 0.2, 0.8), (1e-9, 0.0, 0.05)] {
        let (evaluations, error) = over_intervals(AUTO, tolerance, 0.01, 1256);
        let (_, natural) = over_intervals(Method::Dopri5, tolerance, 12.56, 1);
        let by_pair = evaluations.iter().filter(|&&count| count <= 4).count();
        let share = by_pair as f64 / evaluations.len() as f64;
        let mean = evaluations.iter().sum::<u64>() as f64 / evaluations.len() as f64;
        println!("{tolerance:.0e}: {share:.3} by the pair, {mean:.2} evaluations; errors {error:.1e}, {natural:.1e}");
        assert!((least..=most).contains(&share), "{share}");
        // At most as large as that of DOPRI5 in steps that only the tolerance limits.
        assert!(error < natural);
    }
}

/// A single long interval after short ones is integrated by DOPRI5, from the step size that it had
/// before.
fn dopri5_returns_when_the_limit_goes() {
    let settings = Settings::new(AUTO, 1e-6, &[1.0; 4]).unwrap();
    let mut stepper = Stepper::new(settings);
    let (mut t, mut x, mut memory) = (2.0, kepler_solution(0.6, 2.0), Memory::new(stepper.settings()));
    for k in 1..=50 {
        let end = 2.0 + f64::from(k) * 0.01;
        t = stepper.step(&mut kepler(), t, end, &mut x, &mut memory).unwrap().t;
        stepper.begin_call();
    }
    let natural = memory.step_history.h_next;
    let step = stepper.step(&mut kepler(), t, 10.0, &mut x, &mut memory).unwrap();
    println!(
        "natural step {natural}, then {} with {} evaluations",
        step.h, step.evaluations
    );
    assert!(step.evaluations == 6 && step.rejections == 0 && step.h == natural);
}

/// The rate of a decay rises during short steps from `hλ = 0` to −2.9. There DOPRI5 is stable, but
/// not the pair of order 3(2), whose limit is −2.51.
fn instability_of_the_pair_brings_dopri5_back() {
    let mut decay = ode(|t, x, dx| dx[0] = -(200.0 * t).min(290.0) * (x[0] - t.cos()) - t.sin());
    let mut stepper = Stepper::new(Settings::new(AUTO, 1e-3, &[1.0]).unwrap());
    let (mut t, mut x, mut memory) = (0.0, [1.0], Memory::new(stepper.settings()));
    let (mut worst, mut evaluations) = (0.0_f64, Vec::new());
    for k in 1..=600 {
        let (end, before) = (f64::from(k) * 0.01, stepper.evaluations());
        while t < end {
            t = stepper.step(&mut decay, t, end, &mut x, &mut memory).unwrap().t;
        }
        worst = worst.max((x[0] - t.cos()).abs());
        evaluations.push(stepper.evaluations() - before);
    }
    let by_pair = |counts: &[u64]| counts.iter().filter(|&&count| count <= 4).count();
    let (stable, unstable) = evaluations[1..].split_at(124);
    let shares = [stable, unstable].map(|counts| (by_pair(counts), counts.len()));
    println!("steps by the pair: {shares:?}; error {worst:.1e}");
    assert!(worst < 1e-3 && shares[0].0 == shares[0].1 && 2 * shares[1].0 < shares[1].1);
}

/// A vibration of 100 rad/s whose amplitude is the largest that the pair of order 3(2) may integrate
/// in steps of 2 ms, over 1000 rad: its error is a fifth of that of DOPRI5 in steps that only the
/// tolerance limits, or less.
fn short_steps_damp_a_vibration_less_than_the_tolerance_admits() {
    let vibration = || ode(|_, x, dx| dx.copy_from_slice(&[100.0 * x[1], -100.0 * x[0]]));
    let run = |method: Method, h: f64| {
        let mut stepper = Stepper::new(Settings::new(method, 1e-4, &[1.0; 2]).unwrap());
        let (mut t, mut x, mut memory) = (0.0, [0.006, 0.0], Memory::new(stepper.settings()));
        for k in 1..=(10.0 / h) as i32 {
            while t < f64::from(k) * h {
                let end = f64::from(k) * h;
                t = stepper.step(&mut vibration(), t, end, &mut x, &mut memory).unwrap().t;
            }
        }
        let solution = [0.006 * 1000.0_f64.cos(), -0.006 * 1000.0_f64.sin()];
        (distance(&x, &solution), stepper.evaluations())
    };
    let [short, five, natural] =
        [(AUTO, 0.002), (Method::Dopri5, 0.002), (Method::Dopri5, 10.0)].map(|(m, h)| run(m, h));
    println!("pair {short:?}, DOPRI5 {five:?}, its own steps {natural:?}");
    assert!(short.1 < 15_300 && 5.0 * short.0 < natural.0);
}
