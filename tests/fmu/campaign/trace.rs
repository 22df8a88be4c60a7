//! Valid calls in a fixed order, and their results.

use crate::campaign::fuzzing::Fuzz;
use crate::campaign::machine::Mode;
use crate::campaign::subject::{Expect, Subject};
use crate::driver::{DISCARD, ME, OK};
use grapple::fmu::fmi2::fmi2Status;
use grapple::fmu::lifecycle::Call;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Results of calls: statuses, and the bits of values.
pub type Trace = Vec<(i32, Vec<u64>)>;

pub fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Returns a generator of valid arguments.
fn straight(random: &mut ChaCha8Rng) -> Fuzz<'_> {
    Fuzz::new(random, 0.0)
}

/// Brings a new instance to a mode by valid calls.
pub fn lead(subject: &mut Subject, mode: Mode) {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let fuzz = &mut straight(&mut random);
    if mode == Mode::Instantiated {
        return;
    }
    if mode == Mode::StepFailed {
        // The limit allows one step of most methods, so that a long step is discarded.
        subject.set_real(&[subject.target.work_limit], &[10.0], fuzz);
    }
    subject.setup([Some(1e-10), Some(0.0), None], fuzz);
    subject.plain(Call::EnterInitializationMode, Expect::Good);
    if mode == Mode::Initialization {
        return;
    }
    subject.plain(Call::ExitInitializationMode, Expect::Good);
    match mode {
        Mode::ContinuousTime => {
            event(subject, fuzz);
        }
        Mode::StepFailed => assert_eq!(subject.do_step(0.0, 100.0), DISCARD),
        Mode::Terminated => {
            subject.plain(Call::Terminate, Expect::Good);
        }
        _ => {}
    }
}

/// Makes a call with valid arguments.
pub fn make(subject: &mut Subject, call: Call) {
    use Call::*;
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let fuzz = &mut straight(&mut random);
    let target = subject.target;
    let (t, state) = (subject.t, &target.states[..1]);
    subject.save(None, fuzz);
    match call {
        // Null, since an instance could not be used after it is freed.
        FreeInstance => subject.elsewhere(call, std::ptr::null_mut()),
        SetDebugLogging => subject.logging(fuzz),
        SetupExperiment => {
            subject.setup([Some(1e-6), Some(0.0), Some(1.0)], fuzz);
        }
        EnterInitializationMode
        | ExitInitializationMode
        | Terminate
        | Reset
        | EnterEventMode
        | EnterContinuousTimeMode
        | CancelStep => {
            subject.plain(call, Expect::Open);
        }
        GetReal => {
            subject.get_real(&target.reals, fuzz);
        }
        GetBoolean => {
            subject.get_boolean(&target.flags, fuzz);
        }
        SetReal => {
            subject.set_real(&target.inputs[..1], &[0.0], fuzz);
        }
        GetInteger | GetString | SetInteger | SetBoolean | SetString => subject.no_such(call, &[], fuzz),
        GetFMUstate => {
            subject.save(None, fuzz);
        }
        SetFMUstate => {
            subject.restore(Some(0));
        }
        FreeFMUstate => subject.free_state(None),
        SerializedFMUstateSize | SerializeFMUstate => {
            subject.serialize(0, fuzz);
        }
        DeSerializeFMUstate => {
            let bytes = subject.bytes();
            subject.deserialize(&bytes, (subject.mode, t), fuzz);
        }
        GetDirectionalDerivative => {
            subject.directional(state, &target.inputs[..1], &[1.0], fuzz);
        }
        NewDiscreteStates => {
            subject.new_discrete_states(fuzz);
        }
        CompletedIntegratorStep => {
            subject.completed_step(fuzz);
        }
        SetTime => {
            subject.set_time(t);
        }
        SetContinuousStates => {
            subject.set_states(&vec![0.5; target.states.len()], fuzz);
        }
        GetEventIndicators => {
            subject.vector(call, target.fmu.indicator_count(), fuzz);
        }
        GetContinuousStates | GetDerivatives | GetNominalsOfContinuousStates => {
            subject.vector(call, target.states.len(), fuzz);
        }
        SetRealInputDerivatives => {
            subject.set_input_derivatives(&target.inputs[..1], &[0.0], fuzz);
        }
        GetRealOutputDerivatives => {
            subject.output_derivatives(state, fuzz);
        }
        DoStep => {
            subject.do_step(t, 1e-3);
        }
        GetStatus | GetRealStatus | GetIntegerStatus | GetBooleanStatus | GetStringStatus => subject.status(call, fuzz),
    }
}

/// Reads every variable; returns statuses and bits.
pub fn read(subject: &mut Subject) -> Trace {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let fuzz = &mut straight(&mut random);
    let target = subject.target;
    let mut trace = Vec::new();
    let mut add = |status: fmi2Status, values: Vec<u64>| {
        trace.push((status.0, if status == OK { values } else { Vec::new() }));
    };
    let (status, values) = subject.get_real(&target.reals, fuzz);
    add(status, bits(&values));
    let (status, values) = subject.get_boolean(&target.flags, fuzz);
    add(status, values.iter().map(|b| *b as u64).collect());
    if subject.kind == ME {
        for call in [Call::GetContinuousStates, Call::GetDerivatives] {
            let (status, values) = subject.vector(call, target.states.len(), fuzz);
            add(status, bits(&values));
        }
        let indicators = target.fmu.indicator_count();
        let (status, values) = subject.vector(Call::GetEventIndicators, indicators, fuzz);
        add(status, bits(&values));
    } else {
        let (status, values) = subject.get_real(&target.states, fuzz);
        add(status, bits(&values));
        add(OK, vec![subject.last_time().to_bits()]);
    }
    trace
}

/// Advances by one step of length `h` (s), as far as the mode allows, and reads everything.
pub fn go_on(subject: &mut Subject, h: f64) -> Trace {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let fuzz = &mut straight(&mut random);
    let mut trace = Vec::new();
    match subject.mode {
        Mode::StepComplete | Mode::StepFailed => trace.push((subject.do_step(subject.t, h).0, Vec::new())),
        Mode::Event => trace.extend(event(subject, fuzz)),
        Mode::ContinuousTime => {
            trace.push((euler(subject, h, fuzz).0, Vec::new()));
            trace.push((subject.plain(Call::EnterEventMode, Expect::Good).0, Vec::new()));
            trace.extend(event(subject, fuzz));
        }
        Mode::Instantiated | Mode::Initialization | Mode::Terminated => {}
    }
    trace.extend(read(subject));
    trace
}

/// Updates the discrete states of an instance in Event Mode, and returns to Continuous-Time Mode.
pub fn event(subject: &mut Subject, fuzz: &mut Fuzz) -> Trace {
    let info = subject.new_discrete_states(fuzz);
    let event_info = info.map(|info| {
        vec![
            info.valuesOfContinuousStatesChanged as u64,
            info.nextEventTimeDefined as u64,
            info.nextEventTime.to_bits(),
        ]
    });
    let enter = subject.plain(Call::EnterContinuousTimeMode, Expect::Open);
    vec![
        (i32::from(event_info.is_some()), event_info.unwrap_or_default()),
        (enter.0, Vec::new()),
    ]
}

/// Makes a step of Euler's method, integrated by the importer.
pub fn euler(subject: &mut Subject, h: f64, fuzz: &mut Fuzz) -> fmi2Status {
    let n = subject.target.states.len();
    let (got, mut x) = subject.vector(Call::GetContinuousStates, n, fuzz);
    let (status, dx) = subject.vector(Call::GetDerivatives, n, fuzz);
    if got != OK || status != OK {
        return status.max(got);
    }
    for (x, dx) in x.iter_mut().zip(&dx) {
        *x += h * dx;
    }
    let t = subject.t + h;
    let status = subject.set_time(t);
    if status != OK {
        return status;
    }
    let status = subject.set_states(&x, fuzz);
    if status == OK {
        subject.vector(Call::GetEventIndicators, subject.target.fmu.indicator_count(), fuzz);
        return subject.completed_step(fuzz);
    }
    status
}

/// Makes a short, fixed sequence of calls on an instance that is new or reset; returns the results.
pub fn standard(subject: &mut Subject) -> Trace {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let fuzz = &mut straight(&mut random);
    let target = subject.target;
    let mut trace = read(subject);
    // A small work limit only saves time: no step below reaches it.
    subject.set_real(&[target.work_limit], &[500.0], fuzz);
    for call in [Call::EnterInitializationMode, Call::ExitInitializationMode] {
        trace.push((subject.plain(call, Expect::Good).0, Vec::new()));
    }
    trace.extend(read(subject));
    for h in [1e-3, 2e-3, 1e-3] {
        trace.extend(go_on(subject, h));
    }
    trace.push((subject.plain(Call::Terminate, Expect::Good).0, Vec::new()));
    trace.extend(read(subject));
    trace
}

/// Asserts that two traces have the same statuses and bits.
pub fn same(what: &str, expected: &Trace, found: &Trace) {
    if let Some(i) = (0..expected.len().max(found.len())).find(|&i| expected.get(i) != found.get(i)) {
        let values = |trace: &Trace| trace.get(i).map(|(status, bits)| (*status, bits.len()));
        let differing = expected.get(i).zip(found.get(i)).and_then(|((_, a), (_, b))| {
            let k = a.iter().zip(b).position(|(a, b)| a != b)?;
            Some((k, f64::from_bits(a[k]), f64::from_bits(b[k])))
        });
        panic!(
            "{what} differs: result {i}, {:?} and {:?} (status, values); first value that differs: {differing:?}",
            values(expected),
            values(found)
        );
    }
}
