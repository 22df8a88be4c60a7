//! Thousands of instances, sequentially and in parallel (requirements of users of Simulink, of
//! Monte Carlo and of optimisation). Tests of the loaded library itself are in
//! `tests/python/test_hosts.py`.

use crate::alone::alone;
use crate::driver::process::in_use;
use crate::driver::*;
use grapple::fmu::fmi2::*;

/// Creates an instance, initialises it, makes a step and frees it.
fn live(fmu: &Fmu, kind: fmi2Type) {
    let instance = fmu.instance(kind);
    if kind == CS {
        instance.initialise(None);
        ok(instance.step(0.0, 0.01));
    } else {
        instance.begin();
        instance.derivatives();
    }
}

#[test]
fn ten_thousand_instances_leak_no_memory_and_no_file_handle() {
    alone(
        "hosts::life::ten_thousand_instances_leak_no_memory_and_no_file_handle",
        || {
            let fmu = Fmu::new();
            for _ in 0..500 {
                live(&fmu, ME);
                live(&fmu, CS);
            }
            let (memory, files) = in_use();
            for _ in 0..5000 {
                live(&fmu, ME);
                live(&fmu, CS);
            }
            let (after, files_after) = in_use();
            assert_eq!(files_after, files);
            // 64 KiB over 10 000 instances are six bytes each, less than the smallest leak.
            assert!(after <= memory + (64 << 10), "{} bytes", after - memory);
        },
    );
}

#[test]
fn hundred_thousand_resets_leak_no_memory_and_give_identical_bits() {
    alone(
        "hosts::life::hundred_thousand_resets_leak_no_memory_and_give_identical_bits",
        || {
            let fmu = Fmu::new();
            let cs = fmu.instance(CS);
            let round = || {
                cs.initialise(None);
                ok(cs.step(0.0, 0.001));
                let bits = cs.bits();
                ok(cs.reset());
                bits
            };
            let first = round();
            for _ in 0..1000 {
                round();
            }
            let (memory, files) = in_use();
            for _ in 0..100_000 {
                assert_eq!(round(), first);
            }
            let (after, files_after) = in_use();
            assert_eq!(files_after, files);
            assert!(after <= memory + (64 << 10), "{} bytes", after - memory);
        },
    );
}

#[test]
fn thousand_simultaneous_instances_hold_no_file_handle() {
    alone(
        "hosts::life::thousand_simultaneous_instances_hold_no_file_handle",
        || {
            let fmu = Fmu::new();
            let (before, files) = in_use();
            let all: Vec<_> = (0..1000).map(|_| fmu.instance(CS)).collect();
            let (after, files_now) = in_use();
            assert_eq!(files_now, files);
            // The limit of docs/benchmarks.md: 256 KiB for an instance.
            assert!(
                after - before < 1000 * (256 << 10),
                "{} bytes each",
                (after - before) / 1000
            );
            for instance in &all {
                instance.initialise(None);
            }
        },
    );
}

#[test]
fn freed_states_leak_no_memory() {
    alone("hosts::life::freed_states_leak_no_memory", || {
        let fmu = Fmu::new();
        let cs = fmu.instance(CS);
        cs.initialise(None);
        let round = || {
            let state = cs.save();
            cs.restore(state);
            cs.free_state(state);
            cs.bytes().len()
        };
        for _ in 0..1000 {
            round();
        }
        let (memory, _) = in_use();
        for _ in 0..50_000 {
            round();
        }
        let (after, _) = in_use();
        assert!(after <= memory + (64 << 10), "{} bytes", after - memory);
    });
}

/// Makes a complete run with inputs that depend on `seed`; returns the bits of the final values.
fn run(fmu: &Fmu, seed: u32) -> [u64; WATCHED.len()] {
    let cs = fmu.instance(CS);
    cs.initialise(Some(1e-8));
    for i in 0..100_u32 {
        ok(cs.set("elbow.tau", f64::from(seed + i).sin()));
        ok(cs.step(f64::from(i) * 0.02, 0.02));
    }
    cs.bits()
}

#[test]
fn eight_instances_on_eight_threads_give_the_bits_of_single_runs() {
    let fmu = Fmu::new();
    let alone: Vec<_> = (0..8).map(|seed| run(&fmu, seed)).collect();
    assert!(alone.windows(2).all(|pair| pair[0] != pair[1]));
    let fmu = &fmu;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|seed| scope.spawn(move || run(fmu, seed))).collect();
        for (thread, alone) in threads.into_iter().zip(&alone) {
            assert_eq!(thread.join().expect("no thread fails"), *alone);
        }
    });
}

#[test]
fn instances_stepped_in_turn_are_independent() {
    let fmu = Fmu::new();
    let alone: Vec<_> = (0..3).map(|seed| run(&fmu, seed)).collect();
    let together: Vec<_> = (0..3).map(|_| fmu.instance(CS)).collect();
    for cs in &together {
        cs.initialise(Some(1e-8));
    }
    for i in 0..100_u32 {
        for (seed, cs) in (0..).zip(&together) {
            ok(cs.set("elbow.tau", f64::from(seed + i).sin()));
            ok(cs.step(f64::from(i) * 0.02, 0.02));
        }
    }
    let together: Vec<_> = together.iter().map(Instance::bits).collect();
    assert_eq!(together, alone);
}

#[test]
fn an_instance_may_change_its_thread_between_calls() {
    let fmu = Fmu::new();
    let expected = run(&fmu, 5);
    let mut cs = fmu.instance(CS);
    cs.initialise(Some(1e-8));
    for i in 0..100_u32 {
        cs = std::thread::scope(|scope| {
            let step = move || {
                ok(cs.set("elbow.tau", f64::from(5 + i).sin()));
                ok(cs.step(f64::from(i) * 0.02, 0.02));
                cs
            };
            scope.spawn(step).join().expect("no thread fails")
        });
    }
    assert_eq!(cs.bits(), expected);
}
