//! Memory, time and state determine every bit of the run that follows.

use super::super::{IntegrateError, InvalidMemory, Memory, Method, Ode, Settings, Stepper};
use super::problems::{ARENSTORF_START, AUTO, arenstorf, kepler, kepler_solution, ode, rhs};
use crate::messages;
use std::cell::Cell;

unit_tests![
    non_finite_jacobian_is_not_stored,
    memory_after_very_long_steps_is_restored,
    a_restored_run_continues_with_identical_bits,
    a_restored_run_changes_its_method_at_the_same_steps,
    dense_output_and_invalidation_do_not_affect_the_run,
    work_limit_does_not_affect_the_run,
    stored_derivative_is_reused_until_invalidated,
    invalid_memory_numbers_are_rejected,
    memory_of_other_settings_is_rejected,
    a_restored_run_takes_the_same_short_steps,
];

const METHODS: [Method; 10] = [
    Method::Dopri5,
    Method::BogackiShampine,
    Method::Dop853,
    Method::Rk4 { step: 0.003 },
    Method::Radau5,
    Method::Rosenbrock,
    Method::ImplicitMidpoint { step: 0.001 },
    Method::LinearlyImplicit { step: 0.001 },
    Method::Conserving { step: 0.001, rates: 4 },
    AUTO,
];

/// The initial step is too long for every adaptive method, so that attempts are rejected.
fn settings(method: Method) -> Settings {
    let settings = Settings::new(method, 1e-7, &[1.0; 4]).unwrap();
    settings.with_initial_step(0.05).unwrap()
}

type Bits = (u64, Vec<u64>, Vec<u64>);

fn bits(t: f64, x: &[f64], memory: &Memory) -> Bits {
    let memory = memory.numbers().map(f64::to_bits).collect();
    (t.to_bits(), x.iter().map(|x| x.to_bits()).collect(), memory)
}

/// Runs over communication points 0.07 apart. After every `lost_after`-th step, all data except the
/// memory's numbers, t and x are discarded. Returns the bits after each step and the number of
/// rejections.
fn trace(method: Method, lost_after: usize) -> (Vec<Bits>, u32) {
    let mut stepper = Stepper::new(settings(method));
    let (mut t, mut x, mut memory) = (0.0, ARENSTORF_START, Memory::new(stepper.settings()));
    let (mut trace, mut rejections) = (Vec::new(), 0);
    for k in 1..=60 {
        let limit = f64::from(k) * 0.07;
        while t < limit {
            let step = stepper.step(&mut arenstorf(), t, limit, &mut x, &mut memory).unwrap();
            t = step.t;
            rejections += step.rejections;
            trace.push(bits(t, &x, &memory));
            if trace.len() % lost_after == 0 {
                stepper = Stepper::new(settings(method));
                let saved: Vec<f64> = memory.numbers().collect();
                memory = Memory::new(stepper.settings());
                memory.restore(&saved).unwrap();
            }
        }
    }
    (trace, rejections)
}

/// A derivative that is finite everywhere, with a jump so large that its difference quotients
/// overflow.
fn non_finite_jacobian_is_not_stored() {
    for method in [
        Method::Radau5,
        Method::ImplicitMidpoint { step: 0.1 },
        Method::Conserving { step: 0.1, rates: 4 },
    ] {
        let mut stepper = Stepper::new(settings(method));
        let mut cliff = ode(|_, x, dx| dx.fill(if x[0] > 1.0 { -1e303 } else { 1e303 }));
        let (mut x, mut memory) = ([1.0; 4], Memory::new(stepper.settings()));
        assert!(stepper.step(&mut cliff, 0.0, 1.0, &mut x, &mut memory).is_err());
        let numbers: Vec<f64> = memory.numbers().collect();
        assert_eq!(memory.restore(&numbers), Ok(()), "{}", method.name());
    }
}

/// Two steps whose lengths have a sum that overflows.
fn memory_after_very_long_steps_is_restored() {
    for method in [Method::Dopri5, Method::BogackiShampine, Method::Rosenbrock, AUTO] {
        let long = 1.7e308;
        let settings = settings(method).with_initial_step(long).unwrap();
        let mut stepper = Stepper::new(settings);
        let mut rest = ode(|_, _, dx| dx.fill(0.0));
        let (mut t, mut x, mut memory) = (-long, [1.0; 4], Memory::new(stepper.settings()));
        while t < long {
            let limit = if t < 0.0 { 0.0 } else { long };
            t = stepper.step(&mut rest, t, limit, &mut x, &mut memory).unwrap().t;
        }
        let numbers: Vec<f64> = memory.numbers().collect();
        assert_eq!(memory.restore(&numbers), Ok(()), "{}", method.name());
    }
}

fn a_restored_run_continues_with_identical_bits() {
    for method in METHODS {
        let (whole, rejections) = trace(method, usize::MAX);
        println!("{}: {} steps, {rejections} rejections", method.name(), whole.len());
        assert!(whole.len() > 60 && (rejections > 0 || method.fixed_step().is_some()));
        for lost_after in [1, 2, 7] {
            assert!(trace(method, lost_after).0 == whole, "{}", method.name());
        }
    }
}

/// Runs a Kepler orbit together with a relaxation whose rate varies between 1 and 1e3, with `auto`,
/// over communication points 0.1 apart. After every `lost_after`-th step, all data except the
/// memory's numbers, t and x are discarded; a call may make `limit` evaluations. Returns the bits
/// after each step and the number of method changes.
fn changing_trace(lost_after: usize, limit: u64) -> (Vec<Bits>, u32) {
    let settings = || {
        let settings = Settings::new(AUTO, 1e-6, &[1.0; 5]).unwrap();
        settings.with_max_evaluations(limit)
    };
    let mut stepper = Stepper::new(settings());
    let [x0, x1, x2, x3] = kepler_solution(0.6, 0.0);
    let (mut t, mut x, mut memory) = (0.0, [x0, x1, x2, x3, 1.0], Memory::new(stepper.settings()));
    let rate = |t: f64| 10.0_f64.powf(1.5 * (1.0 - (0.25 * t).cos()));
    let mut both = rhs(move |t: f64, x: &[f64], dx: &mut [f64]| {
        kepler().derivative(t, &x[..4], &mut dx[..4])?;
        dx[4] = -rate(t) * (x[4] - t.cos()) - t.sin();
        Ok::<(), std::convert::Infallible>(())
    });
    let (mut trace, mut changes, mut k) = (Vec::new(), 0, 1);
    while t < 100.0 {
        let point = f64::from(k) * 0.1;
        match stepper.step(&mut both, t, point, &mut x, &mut memory) {
            Ok(step) => {
                t = step.t;
                k += i32::from(step.landed);
                changes += u32::from(step.changed_to.is_some());
                trace.push(bits(t, &x, &memory));
            }
            Err(IntegrateError::WorkLimit { .. }) => stepper.begin_call(),
            Err(error) => panic!("{error}"),
        }
        if trace.len() % lost_after == 0 {
            let saved: Vec<f64> = memory.numbers().collect();
            (stepper, memory) = (Stepper::new(settings()), Memory::new(&settings()));
            memory.restore(&saved).unwrap();
        }
    }
    (trace, changes)
}

fn a_restored_run_changes_its_method_at_the_same_steps() {
    let (whole, changes) = changing_trace(usize::MAX, u64::MAX);
    println!("{} steps, {changes} changes of the method", whole.len());
    assert!(changes >= 5);
    for (lost_after, limit) in [(1, u64::MAX), (7, u64::MAX), (usize::MAX, 60), (3, 60)] {
        assert!(changing_trace(lost_after, limit).0 == whole, "{lost_after} {limit}");
    }
}

/// Runs a Kepler orbit with a force that jumps every 0.25, over communication points 0.01 apart, with
/// `auto`; other data are lost and calls end as in [`changing_trace`]. Returns the bits after each
/// step, and the numbers of steps by the pair of order 3(2), of DOPRI5, and of rejected attempts.
fn short_trace(lost_after: usize, limit: u64) -> (Vec<Bits>, [u32; 3]) {
    let settings = || {
        let settings = Settings::new(AUTO, 1e-6, &[1.0; 4]).unwrap();
        settings.with_max_evaluations(limit)
    };
    let mut stepper = Stepper::new(settings());
    let (mut t, mut x, mut memory) = (0.0, kepler_solution(0.6, 0.0), Memory::new(stepper.settings()));
    let mut pushed = rhs(|t: f64, x: &[f64], dx: &mut [f64]| {
        kepler().derivative(t, x, dx)?;
        dx[3] += 0.1 * (4.0 * t).floor().sin();
        Ok::<(), std::convert::Infallible>(())
    });
    let (mut trace, mut counts, mut k) = (Vec::new(), [0; 3], 1);
    while t < 8.0 {
        match stepper.step(&mut pushed, t, f64::from(k) * 0.01, &mut x, &mut memory) {
            Ok(step) => {
                t = step.t;
                k += i32::from(step.landed);
                counts[usize::from(step.evaluations > 3)] += 1;
                counts[2] += step.rejections;
                trace.push(bits(t, &x, &memory));
            }
            Err(IntegrateError::WorkLimit { .. }) => stepper.begin_call(),
            Err(error) => panic!("{error}"),
        }
        if trace.len() % lost_after == 0 {
            let saved: Vec<f64> = memory.numbers().collect();
            (stepper, memory) = (Stepper::new(settings()), Memory::new(&settings()));
            memory.restore(&saved).unwrap();
        }
    }
    (trace, counts)
}

fn a_restored_run_takes_the_same_short_steps() {
    let (whole, counts) = short_trace(usize::MAX, u64::MAX);
    println!("{counts:?}");
    assert!(counts[0] > 200 && counts[1] > 200 && counts[2] > 20);
    for (lost_after, limit) in [(1, u64::MAX), (7, u64::MAX), (usize::MAX, 8), (3, 8)] {
        assert!(short_trace(lost_after, limit).0 == whole, "{lost_after} {limit}");
    }
}

fn dense_output_and_invalidation_do_not_affect_the_run() {
    for method in METHODS {
        let mut stepper = Stepper::new(settings(method));
        let (mut t, mut x, mut memory) = (0.0, ARENSTORF_START, Memory::new(stepper.settings()));
        for (i, expected) in trace(method, usize::MAX).0.iter().take(80).enumerate() {
            let limit = (1..).map(|k| f64::from(k) * 0.07).find(|limit| *limit > t).unwrap();
            t = stepper.step(&mut arenstorf(), t, limit, &mut x, &mut memory).unwrap().t;
            assert_eq!(bits(t, &x, &memory), *expected);
            match i % 3 {
                0 => drop(stepper.dense(&mut arenstorf()).unwrap()),
                1 => stepper.invalidate(),
                _ => {}
            }
        }
    }
}

fn work_limit_does_not_affect_the_run() {
    for method in METHODS {
        // Slightly more evaluations than one attempt needs.
        let limit = match method {
            Method::Conserving { .. } => 90,
            Method::Radau5 | Method::ImplicitMidpoint { .. } => 60,
            _ => 20,
        };
        let mut stepper = Stepper::new(settings(method).with_max_evaluations(limit));
        let (mut t, mut x, mut memory) = (0.0, ARENSTORF_START, Memory::new(stepper.settings()));
        let mut interruptions = 0;
        for expected in trace(method, usize::MAX).0 {
            let limit = (1..).map(|k| f64::from(k) * 0.07).find(|limit| *limit > t).unwrap();
            t = loop {
                match stepper.step(&mut arenstorf(), t, limit, &mut x, &mut memory) {
                    Ok(step) => break step.t,
                    Err(_) => {
                        interruptions += 1;
                        stepper.begin_call();
                    }
                }
            };
            assert_eq!(bits(t, &x, &memory), expected);
        }
        assert!(interruptions > 30);
    }
}

fn stored_derivative_is_reused_until_invalidated() {
    for (method, per_step, first) in [
        (Method::Dopri5, 6, 2),
        (Method::BogackiShampine, 3, 2),
        (Method::Dop853, 12, 2),
        (Method::Rk4 { step: 0.01 }, 4, 1),
    ] {
        let mut stepper = Stepper::new(Settings::new(method, 1e-3, &[1.0]).unwrap());
        let calls = Cell::new(0);
        let mut ode = rhs(|_: f64, x: &[f64], dx: &mut [f64]| {
            calls.set(calls.get() + 1);
            dx[0] = -x[0];
            Ok::<(), ()>(())
        });
        let (mut x, mut memory) = ([1.0], Memory::new(stepper.settings()));
        let mut count = |stepper: &mut Stepper, t: f64, t1: f64, x: &mut [f64; 1]| {
            stepper.begin_call();
            let before = calls.get();
            stepper.step(&mut ode, t, t1, x, &mut memory).unwrap();
            calls.get() - before
        };
        assert_eq!(count(&mut stepper, 0.0, 0.001, &mut x), per_step + first);
        assert_eq!(count(&mut stepper, 0.001, 0.002, &mut x), per_step);
        stepper.invalidate();
        assert_eq!(count(&mut stepper, 0.002, 0.003, &mut x), per_step + 1);
        x[0] = 2.0;
        assert_eq!(count(&mut stepper, 0.003, 0.004, &mut x), per_step + 1);
        assert_eq!(count(&mut stepper, 0.005, 0.006, &mut x), per_step + 1);
    }
}

fn invalid_memory_numbers_are_rejected() {
    let _section = messages::of_this_test();
    let settings = Settings::new(Method::Radau5, 1e-6, &[1.0; 2]).unwrap();
    let mut memory = Memory::new(&settings);
    let right: Vec<f64> = memory.numbers().collect();
    assert_eq!(right.len(), memory.size());
    let length = InvalidMemory::Length {
        expected: right.len(),
        found: 2,
    };
    assert_eq!(memory.restore(&[0.0; 2]), Err(length));
    for (index, value) in [
        (0, -1.0),
        (0, f64::NAN),
        (2, 0.0),
        (2, 1.5),
        (3, 0.5),
        (4, 0.5),
        (5, 3.0),
        (7, 1e3),
        (10, -1.0),
        (10, 1.0),
        (11, 3.0),
        (12, 4.0),
        (12, 0.5),
        (13, f64::INFINITY),
        (14, 12.0),
        (15, -1.0),
        (16, f64::NAN),
        (23, 7.0),
        (29, -1.0),
        (30, -1.0),
        (right.len() - 1, f64::INFINITY),
    ] {
        let mut values = right.clone();
        values[index] = value;
        let refused = memory.restore(&values).unwrap_err();
        assert!(
            matches!(refused, InvalidMemory::Value { index: at, .. } if at == index),
            "{refused:?}"
        );
        messages::record(refused);
        assert_eq!(memory, Memory::new(&settings));
    }
}

fn memory_of_other_settings_is_rejected() {
    let settings = |method| Settings::new(method, 1e-6, &[1.0; 4]).unwrap();
    let mut memory = Memory::new(&settings(Method::Dopri5));
    let mut stepper = Stepper::new(settings(Method::Radau5));
    let refused = stepper.step(&mut arenstorf(), 0.0, 1.0, &mut ARENSTORF_START.clone(), &mut memory);
    assert!(
        matches!(refused, Err(IntegrateError::WrongMemory { .. })),
        "{refused:?}"
    );
}
