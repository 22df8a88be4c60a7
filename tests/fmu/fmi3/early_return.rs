//! Steps that end at an impact or a capture, for importers that allow it.

use super::instance::{Arguments, bits};
use super::{Instance, Log, OK};
use crate::driver::{Fmu, catcher, impact_in_orbit};
use grapple::fmu::c_abi::fmi3SetDebugLogging;

/// Returns an instance that may return early, with the log of event values.
fn returning<'a>(fmu: &'a Fmu, log: &Log) -> Instance<'a> {
    let mut arguments = Arguments::of(fmu);
    arguments.early_return_allowed = true;
    let cs = Instance::of(fmu, arguments.co_simulation(Some(log)));
    listen(&cs);
    cs
}

fn listen(cs: &Instance) {
    // SAFETY: a live handle; a string that ends with a zero.
    let switched = unsafe { fmi3SetDebugLogging(cs.c, 1, 1, &c"logEventValues".as_ptr()) };
    assert_eq!(switched, OK);
}

/// Returns the times of the logged events of a kind, s.
fn times(log: &Log, kind: &str) -> Vec<f64> {
    let values = log
        .take()
        .into_iter()
        .filter(|(_, category, _)| category == "logEventValues");
    let events: Vec<grapple::Event> = values
        .filter(|(_, _, text)| text.contains(kind))
        .map(|(_, _, text)| serde_json::from_str(&text).expect("an event"))
        .collect();
    events.iter().map(|event| event.t).collect()
}

#[test]
fn step_ends_at_the_impact_and_the_run_continues() {
    let (fmu, log) = (Fmu::of(&impact_in_orbit()), Log::default());
    let plain = Instance::co_simulation(&fmu, &log);
    listen(&plain);
    plain.initialise(Some(1e-9));
    plain.step(0.0, 1.0);
    let impacts = times(&log, "impact");
    assert_eq!(impacts.len(), 1, "{impacts:?}");
    let cs = returning(&fmu, &log);
    cs.initialise(Some(1e-9));
    let (status, step) = cs.try_step(0.0, 1.0);
    let step = step.expect("the step succeeds");
    assert_eq!((status, step.event_handling_needed, step.terminate), (OK, false, false));
    assert!(step.early_return, "{step:?}");
    let t = step.last_successful_time;
    println!(
        "impact at {} s, early return {:e} s from it",
        impacts[0],
        t - impacts[0]
    );
    assert!((t - impacts[0]).abs() < 1e-12, "{t} {impacts:?}");
    // The impact has been handled: the ball moves upwards, and is counted.
    assert_eq!((cs.get("time"), cs.get("hit.count")), (t, 1.0));
    assert!(cs.get("ball.v[2]") > -1.4, "{}", cs.get("ball.v[2]"));
    cs.step(t, 1.0 - t);
    // Interrupting the step changes no bit: the integrator stops at events in any case.
    let outputs = fmu.outputs();
    assert_eq!(bits(&cs.get_many(&outputs)), bits(&plain.get_many(&outputs)));
    assert_eq!(cs.bytes().len(), plain.bytes().len());
}

#[test]
fn commanded_captures_happen_at_communication_points_and_need_no_early_return() {
    let (fmu, log) = (Fmu::of(&catcher()), Log::default());
    let cs = returning(&fmu, &log);
    cs.initialise(None);
    let (_, step) = cs.try_step(0.0, 0.3);
    assert!(step.is_some_and(|step| !step.early_return));
    assert_eq!(cs.set("grip.capture", 1.0), OK);
    let (_, step) = cs.try_step(0.3, 0.4);
    assert!(step.is_some_and(|step| !step.early_return && step.last_successful_time == 0.7));
    assert_eq!(cs.get("grip.captured"), 1.0);
}
