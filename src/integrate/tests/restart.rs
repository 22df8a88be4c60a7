//! Memory, time and state determine every bit of the run that follows.

use super::super::{InvalidMemory, Memory, Method, Settings, Stepper};
use super::problems::{ARENSTORF_START, Rhs, arenstorf};

const METHODS: [Method; 3] = [Method::Dopri5, Method::Dop853, Method::Rk4 { step: 0.003 }];

fn settings(method: Method) -> Settings {
    Settings::new(method, 1e-7, &[1.0; 4]).unwrap()
}

type Bits = (u64, Vec<u64>, [u64; 3]);

fn bits(t: f64, x: &[f64], memory: &Memory) -> Bits {
    let memory = memory.to_array().map(f64::to_bits);
    (t.to_bits(), x.iter().map(|x| x.to_bits()).collect(), memory)
}

/// The run over communication points 0.07 apart, with everything but memory, t and x lost after every
/// `lost_after`-th step.
fn trace(method: Method, lost_after: usize) -> (Vec<Bits>, u32) {
    let mut stepper = Stepper::new(settings(method));
    let (mut t, mut x, mut memory) = (0.0, ARENSTORF_START, Memory::default());
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
                memory = Memory::from_slice(&memory.to_array()).unwrap();
            }
        }
    }
    (trace, rejections)
}

#[test]
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

#[test]
fn dense_output_and_invalidation_leave_no_trace() {
    for method in METHODS {
        let mut stepper = Stepper::new(settings(method));
        let (mut t, mut x, mut memory) = (0.0, ARENSTORF_START, Memory::default());
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

#[test]
fn a_work_limit_leaves_no_trace() {
    for method in METHODS {
        let mut stepper = Stepper::new(settings(method).with_max_evaluations(20));
        let (mut t, mut x, mut memory) = (0.0, ARENSTORF_START, Memory::default());
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

#[test]
fn a_derivative_known_is_not_evaluated_again_unless_told() {
    for (method, per_step, first) in [
        (Method::Dopri5, 6, 2),
        (Method::Dop853, 12, 2),
        (Method::Rk4 { step: 0.01 }, 4, 1),
    ] {
        let mut stepper = Stepper::new(Settings::new(method, 1e-3, &[1.0]).unwrap());
        let mut ode = Rhs(|_: f64, x: &[f64], dx: &mut [f64]| {
            dx[0] = -x[0];
            Ok::<(), ()>(())
        });
        let (mut x, mut memory) = ([1.0], Memory::default());
        let mut count = |stepper: &mut Stepper, t: f64, t1: f64, x: &mut [f64; 1]| {
            stepper.begin_call();
            stepper.step(&mut ode, t, t1, x, &mut memory).unwrap();
            stepper.evaluations()
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

#[test]
fn numbers_that_are_no_memory_are_refused() {
    assert_eq!(Memory::from_slice(&[0.0; 2]), Err(InvalidMemory::Length(2)));
    for (index, value) in [(0, -1.0), (0, f64::NAN), (1, 0.0), (1, 1.5), (2, 0.5)] {
        let mut values = Memory::default().to_array();
        values[index] = value;
        let refused = Memory::from_slice(&values).unwrap_err();
        assert!(refused.to_string().contains(&format!("value {index}")), "{refused}");
    }
}
