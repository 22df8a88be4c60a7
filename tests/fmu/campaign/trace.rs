//! Calls as they should be, always the same, and what they answer.

use crate::campaign::machine::Mode;
use crate::campaign::nonsense::Bend;
use crate::campaign::subject::{Expect, Subject};
use crate::driver::{DISCARD, ME, OK};
use grapple::fmu::fmi2::fmi2Status;
use grapple::fmu::lifecycle::Call;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What calls have answered: statuses, and the bits of values.
pub type Trace = Vec<(i32, Vec<u64>)>;

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Calls as they should be.
fn straight(random: &mut ChaCha8Rng) -> Bend<'_> {
    Bend::new(random, 0.0)
}

/// Leads a new instance to a mode.
pub fn lead(subject: &mut Subject, mode: Mode) {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let bend = &mut straight(&mut random);
    if mode == Mode::Instantiated {
        return;
    }
    if mode == Mode::StepFailed {
        // One step of most methods.
        subject.set_real(&[subject.target.work_limit], &[10.0], bend);
    }
    subject.setup([Some(1e-10), Some(0.0), None], bend);
    subject.plain(Call::EnterInitializationMode, Expect::Good);
    if mode == Mode::Initialization {
        return;
    }
    subject.plain(Call::ExitInitializationMode, Expect::Good);
    match mode {
        Mode::ContinuousTime => {
            event(subject, bend);
        }
        Mode::StepFailed => assert_eq!(subject.do_step(0.0, 100.0), DISCARD),
        Mode::Terminated => {
            subject.plain(Call::Terminate, Expect::Good);
        }
        _ => {}
    }
}

/// Makes a call with arguments as they should be.
pub fn make(subject: &mut Subject, call: Call) {
    use Call::*;
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let bend = &mut straight(&mut random);
    let target = subject.target;
    let (t, state) = (subject.t, &target.states[..1]);
    subject.save(None, bend);
    match call {
        // Of null, since one that is freed is gone.
        FreeInstance => subject.elsewhere(call, std::ptr::null_mut()),
        SetDebugLogging => subject.logging(bend),
        SetupExperiment => {
            subject.setup([Some(1e-6), Some(0.0), Some(1.0)], bend);
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
            subject.get_real(&target.reals, bend);
        }
        GetBoolean => {
            subject.get_boolean(&target.flags, bend);
        }
        SetReal => {
            subject.set_real(&target.inputs[..1], &[0.0], bend);
        }
        GetInteger | GetString | SetInteger | SetBoolean | SetString => subject.no_such(call, &[], bend),
        GetFMUstate => {
            subject.save(None, bend);
        }
        SetFMUstate => {
            subject.restore(Some(0));
        }
        FreeFMUstate => subject.free_state(None),
        SerializedFMUstateSize | SerializeFMUstate => {
            subject.serialize(0, bend);
        }
        DeSerializeFMUstate => {
            let bytes = subject.bytes();
            subject.deserialize(&bytes, (subject.mode, t), bend);
        }
        GetDirectionalDerivative => {
            subject.directional(state, &target.inputs[..1], &[1.0], bend);
        }
        NewDiscreteStates => {
            subject.new_discrete_states(bend);
        }
        CompletedIntegratorStep => {
            subject.completed_step(bend);
        }
        SetTime => {
            subject.set_time(t);
        }
        SetContinuousStates => {
            subject.set_states(&vec![0.5; target.states.len()], bend);
        }
        GetEventIndicators => {
            subject.vector(call, target.fmu.indicator_count(), bend);
        }
        GetContinuousStates | GetDerivatives | GetNominalsOfContinuousStates => {
            subject.vector(call, target.states.len(), bend);
        }
        SetRealInputDerivatives => {
            subject.set_input_derivatives(&target.inputs[..1], &[0.0], bend);
        }
        GetRealOutputDerivatives => {
            subject.output_derivatives(state, bend);
        }
        DoStep => {
            subject.do_step(t, 1e-3);
        }
        GetStatus | GetRealStatus | GetIntegerStatus | GetBooleanStatus | GetStringStatus => subject.status(call, bend),
    }
}

/// Everything that can be read.
pub fn read(subject: &mut Subject) -> Trace {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let bend = &mut straight(&mut random);
    let target = subject.target;
    let mut trace = Vec::new();
    let mut add = |status: fmi2Status, values: Vec<u64>| {
        trace.push((status.0, if status == OK { values } else { Vec::new() }));
    };
    let (status, values) = subject.get_real(&target.reals, bend);
    add(status, bits(&values));
    let (status, values) = subject.get_boolean(&target.flags, bend);
    add(status, values.iter().map(|b| *b as u64).collect());
    if subject.kind == ME {
        for call in [Call::GetContinuousStates, Call::GetDerivatives] {
            let (status, values) = subject.vector(call, target.states.len(), bend);
            add(status, bits(&values));
        }
        let indicators = target.fmu.indicator_count();
        let (status, values) = subject.vector(Call::GetEventIndicators, indicators, bend);
        add(status, bits(&values));
    } else {
        let (status, values) = subject.get_real(&target.states, bend);
        add(status, bits(&values));
        add(OK, vec![subject.last_time().to_bits()]);
    }
    trace
}

/// Goes on by one step of length `h` (s), as far as the mode lets it, and reads everything.
pub fn go_on(subject: &mut Subject, h: f64) -> Trace {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let bend = &mut straight(&mut random);
    let mut trace = Vec::new();
    match subject.mode {
        Mode::StepComplete | Mode::StepFailed => trace.push((subject.do_step(subject.t, h).0, Vec::new())),
        Mode::Event => trace.extend(event(subject, bend)),
        Mode::ContinuousTime => {
            trace.push((euler(subject, h, bend).0, Vec::new()));
            trace.push((subject.plain(Call::EnterEventMode, Expect::Good).0, Vec::new()));
            trace.extend(event(subject, bend));
        }
        Mode::Instantiated | Mode::Initialization | Mode::Terminated => {}
    }
    trace.extend(read(subject));
    trace
}

/// An event, and back to Continuous-Time Mode.
pub fn event(subject: &mut Subject, bend: &mut Bend) -> Trace {
    let info = subject.new_discrete_states(bend);
    let told = info.map(|info| {
        vec![
            info.valuesOfContinuousStatesChanged as u64,
            info.nextEventTimeDefined as u64,
            info.nextEventTime.to_bits(),
        ]
    });
    let enter = subject.plain(Call::EnterContinuousTimeMode, Expect::Open);
    vec![
        (i32::from(told.is_some()), told.unwrap_or_default()),
        (enter.0, Vec::new()),
    ]
}

/// A step of Euler's method by the host.
pub fn euler(subject: &mut Subject, h: f64, bend: &mut Bend) -> fmi2Status {
    let n = subject.target.states.len();
    let (got, mut x) = subject.vector(Call::GetContinuousStates, n, bend);
    let (status, dx) = subject.vector(Call::GetDerivatives, n, bend);
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
    let status = subject.set_states(&x, bend);
    if status == OK {
        subject.vector(Call::GetEventIndicators, subject.target.fmu.indicator_count(), bend);
        return subject.completed_step(bend);
    }
    status
}

/// A short life, always the same, of an instance that is new or reset.
pub fn standard(subject: &mut Subject) -> Trace {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let bend = &mut straight(&mut random);
    let target = subject.target;
    let mut trace = read(subject);
    // A small limit of work makes no difference but time.
    subject.set_real(&[target.work_limit], &[500.0], bend);
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
            "{what} does not answer as before: answer {i}, {:?} and {:?} (status, values); first value that differs: {differing:?}",
            values(expected),
            values(found)
        );
    }
}
