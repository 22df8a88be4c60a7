//! What surrounds an instance in its importer: floating-point traps, a small stack, little memory, senseless parameters.

use crate::driver::process::alone;
use crate::driver::*;
use grapple::fmu::fmi2::*;
use grapple::fmu::registry::{Naming, Slot};
use grapple::plant::Model;
use std::path::Path;

/// The examples as unpacked FMUs, with their names.
fn examples() -> impl Iterator<Item = (String, Fmu)> {
    crate::example_files::example_files().into_iter().map(|path| {
        let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("an example can be read");
        let model = Model::read(&text, path.parent().unwrap_or(Path::new("."))).expect("an example is right");
        (name, Fmu::of_model(model, Naming::Structured))
    })
}

/// From instantiation to the end: a short run with an event, all values, derivatives, saved states and a reset. Returns the bits
/// of all values that were read.
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

/// Importers call from threads with stacks of their own size. A quarter of 64 KiB is left to their frames, to those of this
/// test, and to what the C library takes of a thread's stack.
#[test]
fn every_example_runs_on_a_stack_of_64_kib() {
    alone("hosts::environment::every_example_runs_on_a_stack_of_64_kib", || {
        for (name, fmu) in examples() {
            for kind in [ME, CS] {
                // Shown if the process ends.
                println!("{name}, {kind:?}");
                std::thread::scope(|scope| {
                    let thread = std::thread::Builder::new().stack_size(48 << 10);
                    thread
                        .spawn_scoped(scope, || live(&fmu, kind))
                        .expect("a thread can be made");
                });
            }
        }
    });
}

#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
mod floating_point {
    use super::*;
    use std::ffi::c_int;

    // The C library's, with the numbers of its header for this processor.
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

    /// An importer that is linked with `-ffpe-trap=zero,invalid,overflow` or calls `feenableexcept` gets no SIGFPE.
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
                        // SAFETY: changes this thread's floating-point environment, in which nothing overflows here.
                        assert_ne!(unsafe { feenableexcept(traps) }, -1);
                        let found = live(&fmu, kind);
                        // SAFETY: as above. The importer's traps are still set after the calls.
                        assert_eq!(unsafe { (fegetexcept(), fedisableexcept(traps)) }, (traps, traps));
                        assert_eq!(found, expected);
                    }
                }
            },
        );
    }

    #[test]
    fn the_importer_s_rounding_changes_no_bit() {
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
