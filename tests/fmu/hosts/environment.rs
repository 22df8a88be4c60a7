//! The environment of an instance in its importer: floating-point traps, a small stack, little
//! memory, extreme parameters.

use crate::alone::alone;
use crate::driver::*;
use grapple::fmu::fmi2::*;
use grapple::fmu::registry::{Naming, Slot};
use grapple::plant::Model;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;

/// Returns the examples as unpacked FMUs, with their names.
fn examples() -> impl Iterator<Item = (String, Fmu)> {
    crate::example_files::example_files().into_iter().map(|path| {
        let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("an example can be read");
        let model = Model::read(&text, path.parent().unwrap_or(Path::new("."))).expect("an example is right");
        (name, Fmu::of_model(model, Naming::Structured))
    })
}

/// Makes a short run with an event, all values, derivatives, saved states and a reset. Returns the
/// bits of all values that were read.
fn live(fmu: &Fmu, kind: fmi2Type) -> Vec<u64> {
    let instance = fmu.instance(kind);
    instance.initialise(Some(1e-8));
    let (outputs, parameters) = (fmu.outputs(), fmu.parameters());
    let mut values = instance.get_many(&parameters);
    if kind == ME {
        instance.new_discrete_states();
        instance.enter_continuous_time_mode();
    }
    let state = instance.save();
    let h = 1e-3;
    let run = || {
        for k in 0..3 {
            let t = h * f64::from(k);
            if kind == CS {
                ok(instance.step(t, h));
                continue;
            }
            let ahead: Vec<f64> = instance
                .states()
                .iter()
                .zip(instance.derivatives())
                .map(|(x, dx)| x + h * dx)
                .collect();
            instance.set_time(t + h);
            instance.set_states(&ahead);
            instance.indicators();
            if instance.completed_integrator_step() {
                instance.event();
            }
        }
        instance.get_many(&outputs)
    };
    values.extend(run());
    if kind == ME {
        instance.event();
    }
    let states = fmu.references(|slot| matches!(slot, Slot::State(_)));
    let derivatives = fmu.references(|slot| matches!(slot, Slot::Derivative(_)));
    values.extend(instance.along(&derivatives, &states, &vec![1.0; states.len()]));
    instance.restore(state);
    values.extend(run());
    let (status, read) = instance.deserialize(&instance.serialize(state));
    ok(status);
    instance.restore(read);
    for state in [state, read] {
        instance.free_state(state);
    }
    ok(instance.terminate());
    ok(instance.reset());
    values.iter().map(|value| value.to_bits()).collect()
}

/// The limit of the address space is raised step by step: each `fmi2Instantiate` returns either an
/// instance, or null with one message, and the process continues.
#[cfg(target_os = "linux")]
#[test]
fn failed_allocation_returns_no_instance_and_does_not_crash() {
    use grapple::fmu::c_abi::{as_logger, fmi2FreeInstance, fmi2Instantiate};
    use std::ffi::CString;
    use std::sync::atomic::{AtomicU32, Ordering};

    static MESSAGES: AtomicU32 = AtomicU32::new(0);

    /// Counts the messages without allocating.
    unsafe extern "C" fn count(
        _: fmi2ComponentEnvironment,
        _: fmi2String,
        _: fmi2Status,
        _: fmi2String,
        _: fmi2String,
    ) {
        MESSAGES.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the address space in use, bytes.
    fn in_use() -> u64 {
        let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux counts");
        let pages: u64 = statm.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
        // SAFETY: a query of this system.
        pages * unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64
    }

    /// Limits the address space, bytes; the limit can be raised again.
    fn limit(bytes: u64) {
        let limits = libc::rlimit {
            rlim_cur: bytes,
            rlim_max: libc::RLIM_INFINITY,
        };
        // SAFETY: a structure that lives during the call.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limits) }, 0);
    }

    /// Allocates all memory within the limit, in pieces of decreasing size.
    fn take_all(pieces: &mut Vec<Vec<u8>>) {
        for size in [PIECE, 4096, 256, 32, 8] {
            loop {
                let mut piece = Vec::new();
                if pieces.len() == pieces.capacity() || piece.try_reserve_exact(size).is_err() {
                    break;
                }
                pieces.push(piece);
            }
        }
    }

    const PIECE: usize = 64 << 10;
    let test = "hosts::environment::failed_allocation_returns_no_instance_and_does_not_crash";
    alone(test, || {
        let callbacks = fmi2CallbackFunctions {
            logger: Some(as_logger(count)),
            allocateMemory: None,
            freeMemory: None,
            stepFinished: None,
            componentEnvironment: std::ptr::null_mut(),
        };
        let mut pieces: Vec<Vec<u8>> = Vec::with_capacity(1 << 20);
        for (name, fmu) in examples() {
            let uri = CString::new(fmu.uri()).expect("no zero inside");
            for kind in [ME, CS] {
                limit(in_use());
                take_all(&mut pieces);
                let large = pieces.iter().take_while(|piece| piece.capacity() == PIECE).count();
                let (mut refused, mut logged) = (0, 0);
                // Each time one piece more is freed, until there is an instance.
                let c = loop {
                    // SAFETY: strings and a structure that live during the call.
                    let c = unsafe {
                        fmi2Instantiate(c"arm".as_ptr(), kind, fmu.guid.as_ptr(), uri.as_ptr(), &callbacks, 0, 0)
                    };
                    logged += MESSAGES.swap(0, Ordering::Relaxed);
                    if !c.is_null() || refused == large {
                        break c;
                    }
                    refused += 1;
                    pieces[large - refused] = Vec::new();
                };
                limit(libc::RLIM_INFINITY);
                pieces.clear();
                println!("{name}, {kind:?}: an instance with {} KiB", (refused * PIECE) >> 10);
                assert!(!c.is_null() && refused > 3);
                assert_eq!(logged as usize, refused);
                // SAFETY: a live handle, not used again.
                unsafe { fmi2FreeInstance(c) };
            }
        }
    });
}

/// Extreme parameters make a spacecraft arbitrarily stiff. The work limit then ends the step, after
/// about two seconds on an ordinary core; a shared machine gets three times as long.
#[test]
fn step_with_extreme_parameters_ends_within_bounded_time() {
    const LONGEST: f64 = 6.0;
    let clock = || {
        let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let nanoseconds = schedstat.split_whitespace().next().and_then(|n| n.parse::<f64>().ok());
        nanoseconds.map(|time| time * 1e-9)
    };
    let mut limited = 0;
    for (name, fmu) in examples() {
        let limit = fmu.vr("solver.work_limit");
        let numbers: Vec<u32> = fmu
            .parameters()
            .into_iter()
            .chain(fmu.inputs())
            .filter(|&vr| vr != limit)
            .collect();
        let mut slowest = (0.0, 0);
        for seed in 0..8 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let cs = fmu.instance(CS);
            for &vr in &numbers {
                // Few parameters, or many.
                if rng.random_range(0..if seed % 2 == 0 { 30 } else { 6 }) == 0 {
                    let factor = 10.0_f64.powf(rng.random_range(-9.0..9.0));
                    let value = cs.get_many(&[vr])[0];
                    let _ = cs.set_many(&[vr], &[if value == 0.0 { factor } else { value * factor }]);
                }
            }
            cs.setup(None, 0.0, None);
            ok(cs.enter_initialization());
            if cs.exit_initialization() == OK {
                let before = clock();
                cs.step(0.0, 0.1);
                let time = clock().zip(before).map_or(0.0, |(after, before)| after - before);
                if time > slowest.0 {
                    slowest = (time, seed);
                }
                limited += u32::from(
                    logged()
                        .iter()
                        .any(|logged| logged.message.contains("solver.work_limit")),
                );
            }
            logged();
        }
        println!("{name}: {:.2} s (seed {})", slowest.0, slowest.1);
        assert!(
            slowest.0 < LONGEST,
            "{name}: a step of {:.1} s, seed {}",
            slowest.0,
            slowest.1
        );
    }
    assert!(limited > 1, "no step was ended by the work limit");
}

#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
mod floating_point {
    use super::*;
    use std::ffi::c_int;

    // The C library's functions, with the constants of its header for this processor.
    unsafe extern "C" {
        fn feenableexcept(exceptions: c_int) -> c_int;
        fn fedisableexcept(exceptions: c_int) -> c_int;
        fn fegetexcept() -> c_int;
        fn fesetround(direction: c_int) -> c_int;
    }
    const INVALID: c_int = 0x01;
    const DIVISION_BY_ZERO: c_int = 0x04;
    const OVERFLOW: c_int = 0x08;
    const TO_NEAREST: c_int = 0;
    const UPWARDS: c_int = 0x800;

    /// An importer linked with `-ffpe-trap=zero,invalid,overflow`, or one that calls
    /// `feenableexcept`, receives no SIGFPE from the FMU.
    #[test]
    fn every_example_runs_where_division_by_zero_raises_a_signal() {
        alone(
            "hosts::environment::floating_point::every_example_runs_where_division_by_zero_raises_a_signal",
            || {
                let traps = DIVISION_BY_ZERO | INVALID | OVERFLOW;
                for (name, fmu) in examples() {
                    for kind in [ME, CS] {
                        println!("{name}, {kind:?}");
                        let expected = live(&fmu, kind);
                        // SAFETY: changes this thread's floating-point environment; the importer's
                        // own code does not overflow here.
                        assert_ne!(unsafe { feenableexcept(traps) }, -1);
                        let found = live(&fmu, kind);
                        // SAFETY: as above. The importer's traps must still be set after the calls.
                        assert_eq!(unsafe { (fegetexcept(), fedisableexcept(traps)) }, (traps, traps));
                        assert_eq!(found, expected);
                    }
                }
            },
        );
    }

    #[test]
    fn rounding_mode_of_the_importer_changes_no_bit() {
        let fmu = Fmu::new();
        for kind in [ME, CS] {
            let expected = fmu.instance(kind);
            let found = fmu.instance(kind);
            for instance in [&expected, &found] {
                instance.initialise(None);
                // SAFETY: changes this thread's rounding; the test computes nothing with it.
                unsafe { fesetround(if instance.c == found.c { UPWARDS } else { TO_NEAREST }) };
                if kind == CS {
                    ok(instance.step(0.0, 0.5));
                }
                instance.get_many(&fmu.outputs());
                // SAFETY: as above.
                unsafe { fesetround(TO_NEAREST) };
            }
            let outputs = fmu.outputs();
            let bits = |instance: &Instance| {
                instance
                    .get_many(&outputs)
                    .iter()
                    .map(|y| y.to_bits())
                    .collect::<Vec<_>>()
            };
            assert_eq!(bits(&found), bits(&expected));
        }
    }
}
