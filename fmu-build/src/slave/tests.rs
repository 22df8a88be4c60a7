//! The library that users get, with its optimisation, on a small stack.

use super::fmi2::Slave;
use super::{Functions, Log, Outcome};
use crate::alone::alone;
use crate::compiled_spec::CompiledSpec;
use crate::control::Control;
use crate::example_files::example_files;
use crate::fmu::{Fmu, is_real};
use crate::run::Run;
use crate::simulate::{SimulateOptions, simulate};
use grapple::fmu::fmi2::function::*;
use grapple::fmu::fmi2::{fmi2EventInfo, fmi2False, fmi2Status, fmi2True, fmi2Type};
use model_description::ScalarVariable;
use std::ptr::null_mut;

unit_tests![run_in_this_process_has_the_bits_of_the_library; ignored: every_example_runs_on_a_stack_of_64_kib];

const H: f64 = 1e-3;
const OK: fmi2Status = fmi2Status::OK;

/// Importers call from threads whose stacks have sizes of their own. Of 64 KiB, 16 are for the
/// frames of the importer, of this test, and the C library's part of a thread's stack.
/// `scripts/long` runs it, with the shipped library: that of other tests needs more stack.
fn every_example_runs_on_a_stack_of_64_kib() {
    alone("slave::tests::every_example_runs_on_a_stack_of_64_kib", || {
        for file in example_files() {
            let fmu = Fmu::open(&file).expect("it is built and loaded");
            for interface in [fmi2Type::MODEL_EXCHANGE, fmi2Type::CO_SIMULATION] {
                // Names the example in the output if the process ends.
                println!("{}, {interface:?}", file.display());
                std::thread::scope(|scope| {
                    let thread = std::thread::Builder::new().stack_size(48 << 10);
                    thread
                        .spawn_scoped(scope, || run(&fmu, interface))
                        .expect("a thread can be made");
                });
            }
        }
    });
}

/// Makes a short run with all values, derivatives and saved states.
fn run(fmu: &Fmu, interface: fmi2Type) {
    let reals = references(fmu, is_real);
    let log = Log::default();
    let Functions::Fmi2(functions) = &fmu.library.functions else {
        panic!("by default an FMU is one of FMI 2.0");
    };
    let slave = functions.instantiate_as(interface, &fmu.library.made_of, &log);
    let slave = slave.expect("an instance");
    accept(slave.set_up(0.0, 1.0, 1e-8));
    accept(slave.enter_initialization());
    accept(slave.exit_initialization());
    let mut values = vec![0.0; reals.len()];
    accept(slave.reals(&reals, &mut values));
    let in_model_exchange = interface == fmi2Type::MODEL_EXCHANGE;
    if in_model_exchange {
        iterate_events(fmu, &slave);
    }
    for k in 0..3 {
        let t = H * f64::from(k);
        match in_model_exchange {
            true => integrate(fmu, &slave, t),
            false => accept(slave.step(t, H)),
        }
        accept(slave.reals(&reals, &mut values));
        differentiate(fmu, &slave);
        save_and_restore(fmu, &slave);
    }
    if in_model_exchange {
        plain(fmu, &slave, "fmi2EnterEventMode");
        iterate_events(fmu, &slave);
    }
    accept(slave.terminate());
    plain(fmu, &slave, "fmi2Reset");
}

fn accept(Outcome(function, failure): Outcome) {
    assert_eq!(failure, None, "{function}");
}

/// Iterates in Event Mode until no discrete state changes, and enters Continuous-Time Mode.
fn iterate_events(fmu: &Fmu, slave: &Slave) {
    let update: fmi2NewDiscreteStatesTYPE = function(fmu, "fmi2NewDiscreteStates");
    let mut info = fmi2EventInfo::default();
    loop {
        // SAFETY: the instance lives; `info` is writable.
        assert_eq!(unsafe { update(slave.component, &raw mut info) }, OK);
        if info.newDiscreteStatesNeeded == fmi2False {
            return plain(fmu, slave, "fmi2EnterContinuousTimeMode");
        }
    }
}

/// Makes one step of Euler's method from `t` (s).
fn integrate(fmu: &Fmu, slave: &Slave, t: f64) {
    let read = |name: &str, n: usize| {
        let mut values = vec![0.0; n];
        let function: fmi2GetVectorTYPE = function(fmu, name);
        // SAFETY: the instance lives; the buffer has `n` elements.
        assert_eq!(unsafe { function(slave.component, values.as_mut_ptr(), n) }, OK);
        values
    };
    let n = fmu.description.model_structure.derivatives.len();
    let (x, dx) = (read("fmi2GetContinuousStates", n), read("fmi2GetDerivatives", n));
    let x: Vec<f64> = x.iter().zip(dx).map(|(x, dx)| x + H * dx).collect();
    let set_time: fmi2SetTimeTYPE = function(fmu, "fmi2SetTime");
    let set_states: fmi2SetContinuousStatesTYPE = function(fmu, "fmi2SetContinuousStates");
    let completed: fmi2CompletedIntegratorStepTYPE = function(fmu, "fmi2CompletedIntegratorStep");
    // SAFETY: the instance lives; `x` has `n` elements.
    unsafe {
        assert_eq!(set_time(slave.component, t + H), OK);
        assert_eq!(set_states(slave.component, x.as_ptr(), n), OK);
    }
    let indicators = fmu.description.number_of_event_indicators.unwrap_or(0);
    read("fmi2GetEventIndicators", indicators as usize);
    let (mut needs_event, mut terminates) = (fmi2False, fmi2False);
    // SAFETY: the instance lives; both flags are writable.
    let status = unsafe { completed(slave.component, fmi2True, &raw mut needs_event, &raw mut terminates) };
    assert_eq!(status, OK);
    if needs_event == fmi2True {
        plain(fmu, slave, "fmi2EnterEventMode");
        iterate_events(fmu, slave);
    }
}

/// Gets the derivatives of all state derivatives along all states.
fn differentiate(fmu: &Fmu, slave: &Slave) {
    let description = &fmu.description;
    let of = |index: u32| description.variable(index).expect("declared").value_reference;
    let states: Vec<u32> = description.continuous_states().map(of).collect();
    let derivatives = references(fmu, |variable| variable.derivative().is_some());
    let (seeds, mut values) = (vec![1.0; states.len()], vec![0.0; derivatives.len()]);
    let along: fmi2GetDirectionalDerivativeTYPE = function(fmu, "fmi2GetDirectionalDerivative");
    // SAFETY: the instance lives; each list has the passed length, and `seeds` and `values` those of
    // the knowns and of the unknowns.
    let status = unsafe {
        along(
            slave.component,
            derivatives.as_ptr(),
            derivatives.len(),
            states.as_ptr(),
            states.len(),
            seeds.as_ptr(),
            values.as_mut_ptr(),
        )
    };
    assert_eq!(status, OK);
}

/// Saves the state as bytes, and restores it from them.
fn save_and_restore(fmu: &Fmu, slave: &Slave) {
    let get: fmi2GetFMUstateTYPE = function(fmu, "fmi2GetFMUstate");
    let measure: fmi2SerializedFMUstateSizeTYPE = function(fmu, "fmi2SerializedFMUstateSize");
    let write: fmi2SerializeFMUstateTYPE = function(fmu, "fmi2SerializeFMUstate");
    let read: fmi2DeSerializeFMUstateTYPE = function(fmu, "fmi2DeSerializeFMUstate");
    let set: fmi2SetFMUstateTYPE = function(fmu, "fmi2SetFMUstate");
    let free: fmi2FreeFMUstateTYPE = function(fmu, "fmi2FreeFMUstate");
    let (mut state, mut copy, mut size) = (null_mut(), null_mut(), 0);
    // SAFETY: the instance lives; the states are those that it has returned, and the buffer has the
    // size that it has returned.
    unsafe {
        assert_eq!(get(slave.component, &raw mut state), OK);
        assert_eq!(measure(slave.component, state, &raw mut size), OK);
        let mut bytes = vec![0; size];
        assert_eq!(write(slave.component, state, bytes.as_mut_ptr(), size), OK);
        assert_eq!(read(slave.component, bytes.as_ptr(), size, &raw mut copy), OK);
        assert_eq!(set(slave.component, copy), OK);
        for state in [&raw mut state, &raw mut copy] {
            assert_eq!(free(slave.component, state), OK);
        }
    }
}

/// Calls a function that takes the instance alone.
fn plain(fmu: &Fmu, slave: &Slave, name: &str) {
    let function: fmi2PlainTYPE = function(fmu, name);
    // SAFETY: the instance lives.
    assert_eq!(unsafe { function(slave.component) }, OK, "{name}");
}

/// Returns an exported function; `T` must be its type in the standard's header.
fn function<T: Copy>(fmu: &Fmu, name: &str) -> T {
    let library = fmu.library._library.as_ref().expect("a loaded library");
    // SAFETY: the type is that of the standard's header, and the library outlives the call.
    unsafe { *library.get::<T>(name).expect("exported") }
}

fn references(fmu: &Fmu, wanted: impl Fn(&ScalarVariable) -> bool) -> Vec<u32> {
    let variables = fmu.variables(wanted).into_iter();
    variables.map(|variable| variable.value_reference).collect()
}

/// Results, events and statistics of a run in this process are those of the FMU's library, to the
/// last bit; so are the messages of one that fails.
fn run_in_this_process_has_the_bits_of_the_library() {
    for (name, stop_time) in [("two_link", 0.5), ("docking", 40.0), ("servicer_orbit", 5.0)] {
        let file = example_files()
            .into_iter()
            .find(|file| file.file_stem().is_some_and(|stem| stem == name));
        let file = file.expect("there is such an example");
        let compiled = CompiledSpec::read(&file).expect("a valid spec");
        let run = |fmu: &Fmu, stop_time| {
            let mut options = SimulateOptions::default();
            options.experiment.stop_time = Some(stop_time);
            simulate(fmu, &options, Control::default())
        };
        let [own, fmu] = [Fmu::in_process(&compiled), Fmu::open(&file)].map(|fmu| fmu.expect("an FMU"));
        let [a, b] = [&own, &fmu].map(|fmu| run(fmu, stop_time).expect("a run"));
        assert!(a.failure.is_none() && a.results.time.len() > 10, "{name}");
        let numbers = |run: &Run| -> Vec<(String, Vec<u64>)> {
            let columns = run.results.columns.iter();
            let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect();
            columns
                .map(|column| (column.name.clone(), bits(&column.values)))
                .collect()
        };
        assert_eq!(numbers(&a), numbers(&b), "{name}");
        assert_eq!(a.results.parameters, b.results.parameters, "{name}");
        let texts = |run: &Run| -> Vec<String> { run.events.iter().map(ToString::to_string).collect() };
        assert_eq!(
            (texts(&a), &a.messages, &a.solver),
            (texts(&b), &b.messages, &b.solver),
            "{name}"
        );
        assert_eq!(name == "two_link", texts(&a).is_empty(), "{name}");
        let [a, b] = [&own, &fmu].map(|fmu| run(fmu, f64::NAN).err().map(|error| error.in_line()));
        assert!(a.is_some() && a == b, "{a:?}, {b:?}");
    }
}
