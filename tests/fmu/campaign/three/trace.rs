//! Valid calls of FMI 3.0 in a fixed order, and their results.

use super::subject::Subject;
use crate::campaign::OK;
use crate::campaign::fuzzing::Fuzz;
use crate::campaign::trace::{Trace, bits};
use crate::fmi3::modes::Of;
use grapple::fmu::fmi2::fmi2Status;
use grapple::fmu::lifecycle::fmi3::Call;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Calls `act` with a generator of valid arguments.
pub fn straight<T>(act: impl FnOnce(&mut Fuzz) -> T) -> T {
    let mut random = ChaCha8Rng::seed_from_u64(0);
    act(&mut Fuzz::new(&mut random, 0.0))
}

/// Reads every variable; returns statuses and bits.
pub fn read(subject: &mut Subject) -> Trace {
    let target = subject.target;
    let mut trace = Vec::new();
    let mut add = |status: fmi2Status, values: Vec<u64>| {
        trace.push((status.0, if status == OK { values } else { Vec::new() }));
    };
    let (status, values) = straight(|fuzz| subject.get_floats(&target.three.floats, fuzz));
    add(status, bits(&values));
    let (status, values) = straight(|fuzz| subject.get_booleans(&target.three.booleans, fuzz));
    add(status, values.into_iter().map(u64::from).collect());
    let (status, values) = straight(|fuzz| subject.get_integers(&target.three.integers, fuzz));
    add(status, values.into_iter().map(|value| value as u64).collect());
    if subject.kind.of == Of::ModelExchange && subject.mode != 'i' {
        for call in [Call::GetContinuousStates, Call::GetContinuousStateDerivatives] {
            let (status, values) = straight(|fuzz| subject.vector(call, target.state_count, fuzz));
            add(status, bits(&values));
        }
    }
    trace
}

/// Updates the discrete states of an instance in Event Mode, and leaves this mode.
pub fn event(subject: &mut Subject, fuzz: &mut Fuzz) -> Trace {
    let update = subject.update_discrete_states(fuzz);
    let leave = match subject.kind.of {
        Of::ModelExchange => Call::EnterContinuousTimeMode,
        _ => Call::EnterStepMode,
    };
    let left = subject.plain(leave);
    vec![
        (i32::from(update.is_some()), update.map(Vec::from).unwrap_or_default()),
        (left.0, Vec::new()),
    ]
}

/// Advances by a step of length `h` (s), as far as the mode allows, and reads everything.
pub fn go_on(subject: &mut Subject, h: f64) -> Trace {
    let mut trace = Vec::new();
    match subject.mode {
        's' => {
            let (status, end) = subject.do_step(subject.t, h);
            trace.push((status.0, end.map(|end| end.bits()).unwrap_or_default()));
            if end.is_some_and(|end| end.event) {
                trace.extend(read(subject));
                trace.push((subject.plain(Call::EnterEventMode).0, Vec::new()));
                trace.extend(straight(|fuzz| event(subject, fuzz)));
            }
        }
        'e' => trace.extend(straight(|fuzz| event(subject, fuzz))),
        'c' => {
            trace.push((straight(|fuzz| euler(subject, h, fuzz)).0, Vec::new()));
            trace.push((subject.plain(Call::EnterEventMode).0, Vec::new()));
            trace.extend(straight(|fuzz| event(subject, fuzz)));
        }
        _ => {}
    }
    trace.extend(read(subject));
    trace
}

/// Makes a step of Euler's method, integrated by the importer.
pub fn euler(subject: &mut Subject, h: f64, fuzz: &mut Fuzz) -> fmi2Status {
    let n = subject.target.state_count;
    let (got, mut x) = subject.vector(Call::GetContinuousStates, n, fuzz);
    let (status, dx) = subject.vector(Call::GetContinuousStateDerivatives, n, fuzz);
    if got != OK || status != OK {
        return status.max(got);
    }
    for (x, dx) in x.iter_mut().zip(&dx) {
        *x += h * dx;
    }
    let status = subject.set_time(subject.t + h);
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
    let target = subject.target;
    let mut trace = read(subject);
    // A small work limit only saves time: no step below reaches it.
    straight(|fuzz| subject.set_floats(&[target.work_limit], &[500.0], fuzz));
    straight(|fuzz| subject.initialise([None, Some(0.0), None], fuzz));
    trace.push((subject.plain(Call::ExitInitializationMode).0, Vec::new()));
    trace.extend(read(subject));
    for h in [1e-3, 2e-3, 1e-3] {
        trace.extend(go_on(subject, h));
    }
    trace.push((subject.plain(Call::Terminate).0, Vec::new()));
    trace.extend(read(subject));
    trace
}
