//! Event Mode in Co-Simulation, with and without early return.

use super::instance::{Arguments, bits, length};
use super::{DISCARD, ERROR, Instance, Log, OK};
use crate::contract::sensors::SENSORS;
use crate::driver::{CS, Fmu, Log as Log2, SPACECRAFT, catcher, impact_in_orbit, ok};
use crate::example_files::example_files;
use crate::messages;
use grapple::fmu::c_abi::*;
use grapple::fmu::registry::Naming;
use grapple::plant::Model;

/// Returns an instance whose importer uses Event Mode, early return, or both.
fn instance<'a>(fmu: &'a Fmu, log: &Log, event_mode: bool, early_return: bool) -> Instance<'a> {
    let mut arguments = Arguments::of(fmu);
    arguments.event_mode_used = event_mode;
    arguments.early_return_allowed = early_return;
    Instance::of(fmu, arguments.co_simulation(Some(log)))
}

/// Runs ten steps with changing inputs; returns the bits of all outputs after each, and the times of
/// events and early returns.
fn run(
    fmu: &Fmu,
    (event_mode, early_return): (bool, bool),
    h: f64,
    command: Option<&str>,
) -> (Vec<Vec<u64>>, Vec<f64>) {
    let log = Log::default();
    let cs = instance(fmu, &log, event_mode, early_return);
    match event_mode {
        true => _ = cs.begin_steps(Some(1e-9)),
        false => cs.initialise(Some(1e-9)),
    }
    let (outputs, inputs) = (fmu.outputs(), fmu.inputs());
    let (mut rows, mut times) = (vec![bits(&cs.get_many(&outputs))], Vec::new());
    let start = inputs.first().map(|&input| (input, cs.get_many(&[input])[0]));
    let set = |k: u32| match (command, start) {
        (Some(command), _) => assert_eq!(cs.set(command, f64::from((3..7).contains(&k))), OK),
        (None, Some((input, value))) => assert_eq!(cs.set_many(&[input], &[value + 0.01 * f64::from(k)]), OK),
        (None, None) => {}
    };
    for k in 0..10 {
        let (t, end) = (h * f64::from(k), h * f64::from(k + 1));
        set(k);
        times.extend(cs.advance(t, end));
        rows.push(bits(&cs.get_many(&outputs)));
    }
    (rows, times)
}

fn assert_same_runs(fmu: &Fmu, what: &str, h: f64, command: Option<&str>) -> [usize; 4] {
    let [plain, early, at_ends, at_events] =
        [(false, false), (false, true), (true, false), (true, true)].map(|of| run(fmu, of, h, command));
    assert_eq!(plain.1, [0.0; 0], "{what}");
    for (name, other) in [("early return", &early), ("Event Mode", &at_ends), ("both", &at_events)] {
        let differs = (0..plain.0.len()).find(|&k| plain.0[k] != other.0[k]);
        assert_eq!(
            differs, None,
            "{what}: the run with {name} differs at this communication point"
        );
    }
    // Every jump is an event.
    assert!(
        early.1.iter().all(|t| at_events.1.contains(t)),
        "{what}: {early:?} {at_events:?}"
    );
    [&plain, &early, &at_ends, &at_events].map(|run| run.1.len())
}

#[test]
fn event_mode_and_early_return_change_no_bit() {
    let counts = [
        assert_same_runs(&Fmu::of(SPACECRAFT), "two links", 0.1, None),
        assert_same_runs(&Fmu::of(&catcher()), "catcher", 0.1, Some("grip.capture")),
        assert_same_runs(&Fmu::of(&impact_in_orbit()), "impact in orbit", 0.1, None),
    ];
    println!("events and early returns without, with early return, Event Mode, both: {counts:?}");
    // Two ends of the signal and two contacts with the stop; two commands; an impact.
    assert!(counts.iter().all(|[.., both]| *both >= 2), "{counts:?}");
    assert_eq!([counts[0][1], counts[2][1]], [0, 1], "states jump at impacts only");
}

/// Samples are events: those of 0.02, 0.03 and 0.05 s are at communication points and between them.
#[test]
fn event_mode_and_early_return_change_no_bit_of_samples() {
    let [plain, early, at_ends, at_events] = assert_same_runs(&Fmu::of(SENSORS), "sensors", 0.05, None);
    assert_eq!([plain, early], [0, 0]);
    // Each communication point is a sample of the camera; the others lie between them.
    assert_eq!(at_ends, 10);
    assert!(at_events >= 25, "{at_events}");
}

/// A continuous controller has no states. The torque of its elbow passes the limit within the step
/// from 1.75 to 2 s; its references begin to move at 1 s.
#[test]
fn limit_of_a_controller_that_is_passed_within_a_step_is_an_event_at_its_end() {
    let spec = include_str!("../../../examples/arm_controller.toml");
    let limited = spec.replace("kd = 250.0", "kd = 250.0\ntorque_limit = 20.0");
    let fmu = Fmu::of(&limited);
    let counts = assert_same_runs(&fmu, "limited controller", 0.25, None);
    assert_eq!(counts, [0, 0, 2, 2]);
    for early_return in [false, true] {
        let log = Log::default();
        let cs = instance(&fmu, &log, true, early_return);
        cs.begin_steps(None);
        assert_eq!(cs.advance(0.0, 1.75), [1.0][..usize::from(early_return)]);
        let (_, step) = cs.try_step(1.75, 0.25);
        let step = step.expect("it succeeds");
        assert!(step.event_handling_needed && !step.early_return);
        assert!(cs.get("elbow.tau") < -20.0, "values before the event");
        cs.event_of_step();
        assert_eq!(cs.get("elbow.tau"), -20.0);
    }
}

/// Ten steps of every example.
#[test]
fn event_mode_and_early_return_change_no_bit_of_any_example() {
    for path in example_files() {
        let name = path.file_stem().expect("a name").to_string_lossy();
        let text = std::fs::read_to_string(&path).expect("an example");
        let model = Model::read(&text, path.parent().expect("a folder")).expect("a valid spec");
        let h = model.spec.experiment.step;
        let counts = assert_same_runs(&Fmu::of_model(model, Naming::Structured), &name, h, None);
        println!("{name}: {counts:?}");
    }
}

#[test]
fn step_ends_before_the_impact_and_event_mode_applies_it() {
    let (fmu, log) = (Fmu::of(&impact_in_orbit()), Log::default());
    let early = instance(&fmu, &log, false, true);
    early.initialise(Some(1e-9));
    let (_, step) = early.try_step(0.0, 1.0);
    let impact = step.expect("it succeeds").last_successful_time;
    let cs = instance(&fmu, &log, true, true);
    let first = cs.begin_steps(Some(1e-9));
    assert_eq!(first.next_event, Some(0.23));
    let (mut t, mut before) = (0.0, Vec::new());
    while t < impact {
        let (_, step) = cs.try_step(t, length(t, 1.0));
        let step = step.expect("it succeeds");
        assert!(step.event_handling_needed && step.early_return && !step.terminate);
        t = step.last_successful_time;
        if t < impact {
            before.push(t);
            cs.event_of_step();
        }
    }
    println!("other events at {before:?}, impact at {t} s");
    assert_eq!(t.to_bits(), impact.to_bits());
    assert!(before.contains(&0.23), "the signal's segment ends: {before:?}");
    let falls = |cs: &Instance| (cs.get("hit.count"), cs.get("ball.v[2]") < -1.4);
    assert_eq!(falls(&cs), (0.0, true));
    // SAFETY: a live handle.
    assert_eq!(unsafe { fmi3EnterEventMode(cs.c) }, OK);
    assert_eq!(falls(&cs), (0.0, true), "values before the jump");
    assert!(cs.update().states_changed);
    assert_eq!(falls(&cs), (1.0, false));
    assert!(!cs.update().states_changed, "the fixed point is reached in one call");
    assert_eq!(unsafe { fmi3EnterStepMode(cs.c) }, OK);
    cs.advance(t, 1.0);
    early.advance(impact, 1.0);
    let outputs = fmu.outputs();
    assert_eq!(bits(&cs.get_many(&outputs)), bits(&early.get_many(&outputs)));
}

#[test]
fn changed_command_is_reported_by_the_next_step_or_handled_at_once() {
    let (fmu, log) = (Fmu::of(&catcher()), Log::default());
    let cs = instance(&fmu, &log, true, true);
    cs.begin_steps(None);
    let early = |t, h| cs.try_step(t, h).1.expect("it succeeds");
    cs.advance(0.0, 0.1);
    assert_eq!(cs.set("grip.capture", 1.0), OK);
    // The event is reported until it is handled.
    for _ in 0..2 {
        let step = early(0.1, 0.05);
        assert!(step.event_handling_needed && step.early_return);
        assert_eq!((step.last_successful_time, cs.get("grip.captured")), (0.1, 0.0));
    }
    assert!(cs.event_of_step().states_changed);
    assert_eq!(cs.get("grip.captured"), 1.0);
    cs.advance(0.1, 0.2);
    // An importer that plans the change enters Event Mode on its own.
    // SAFETY: a live handle.
    assert_eq!(unsafe { fmi3EnterEventMode(cs.c) }, OK);
    assert_eq!(cs.set("grip.capture", 0.0), OK);
    assert_eq!(cs.get("grip.captured"), 1.0);
    cs.update();
    assert_eq!(cs.get("grip.captured"), 0.0);
    assert_eq!(unsafe { fmi3EnterStepMode(cs.c) }, OK);
    let step = early(0.2, 0.01);
    assert!(!step.event_handling_needed && !step.early_return);
}

/// Without early return a step reaches its end, and only an event there is left to the importer.
#[test]
fn events_inside_a_step_are_handled_inside_without_early_return() {
    let (fmu, log) = (Fmu::of(&impact_in_orbit()), Log::default());
    let cs = instance(&fmu, &log, true, false);
    cs.begin_steps(Some(1e-9));
    let (_, step) = cs.try_step(0.0, 0.23);
    let step = step.expect("it succeeds");
    assert!(step.event_handling_needed && !step.early_return);
    assert_eq!(step.last_successful_time, 0.23);
    let next = cs.event_of_step().next_event;
    assert_eq!(next, Some(0.61));
    let (_, step) = cs.try_step(0.23, length(0.23, 1.0));
    let step = step.expect("it succeeds");
    assert!(!step.event_handling_needed && !step.early_return);
    assert_eq!(cs.get("hit.count"), 1.0);
}

/// Samples are taken in Event Mode, at inputs that the importer sets there; their times are known.
#[test]
fn samples_of_a_controller_are_events() {
    let spec = include_str!("../../../examples/arm_controller.toml");
    let (fmu, log) = (
        Fmu::of(&spec.replace("# sample_time = 0.01", "sample_time = 0.01")),
        Log::default(),
    );
    let (cs, plain) = (instance(&fmu, &log, true, true), instance(&fmu, &log, false, false));
    let (inputs, outputs) = (fmu.inputs(), fmu.outputs());
    let measured = |k: u32| -> Vec<f64> {
        (0..inputs.len())
            .map(|i| 0.01 * f64::from(k) + 0.1 * i as f64)
            .collect()
    };
    for of in [&cs, &plain] {
        assert_eq!(of.enter_initialization(None, 0.0, None), OK);
        assert_eq!(of.set_many(&inputs, &measured(0)), OK);
        // SAFETY: a live handle.
        assert_eq!(unsafe { fmi3ExitInitializationMode(of.c) }, OK);
    }
    assert_eq!(cs.update().next_event, Some(0.01));
    // SAFETY: a live handle.
    assert_eq!(unsafe { fmi3EnterStepMode(cs.c) }, OK);
    let mut t = 0.0;
    for k in 1..6 {
        let (_, step) = cs.try_step(t, 0.1);
        let step = step.expect("it succeeds");
        assert!(step.event_handling_needed && step.early_return);
        let end = step.last_successful_time;
        assert!((end - 0.01 * f64::from(k)).abs() < 1e-15, "{end}");
        plain.step(t, end - t);
        assert_eq!(bits(&cs.get_many(&outputs)), bits(&plain.get_many(&outputs)));
        // SAFETY: a live handle.
        assert_eq!(unsafe { fmi3EnterEventMode(cs.c) }, OK);
        assert_eq!(cs.set_many(&inputs, &measured(k)), OK);
        let next = cs.update().next_event.expect("samples have no end");
        assert!((next - 0.01 * f64::from(k + 1)).abs() < 1e-15, "{next}");
        assert_eq!(unsafe { fmi3EnterStepMode(cs.c) }, OK);
        assert_eq!(plain.set_many(&inputs, &measured(k)), OK);
        t = end;
    }
}

#[test]
fn state_saved_at_an_event_is_continued_with_and_without_event_mode() {
    let (fmu, log, log2) = (Fmu::of(&impact_in_orbit()), Log::default(), Log2::new());
    let cs = instance(&fmu, &log, true, true);
    cs.begin_steps(Some(1e-9));
    cs.advance(0.0, 0.25);
    let mut t = 0.25;
    while cs.get("hit.count") == 0.0 && cs.get("ball.r[2]") > 0.5 {
        let step = cs.try_step(t, length(t, 1.0)).1.expect("it succeeds");
        t = step.last_successful_time;
        if cs.get("ball.r[2]") < 0.7 {
            break;
        }
        cs.event_of_step();
    }
    let pending = cs.bytes();
    // SAFETY: a live handle.
    assert_eq!(unsafe { fmi3EnterEventMode(cs.c) }, OK);
    let at_event = cs.bytes();
    cs.update();
    let handled = cs.bytes();
    assert_eq!(unsafe { fmi3EnterStepMode(cs.c) }, OK);
    let settled = cs.bytes();
    cs.advance(t, 1.0);
    let outputs = fmu.outputs();
    let expected = bits(&cs.get_many(&outputs));
    for (name, bytes, in_event_mode) in [
        ("pending", &pending, false),
        ("in Event Mode", &at_event, true),
        ("handled", &handled, true),
        ("in Step Mode", &settled, false),
    ] {
        let other = instance(&fmu, &log, true, true);
        assert_eq!(other.restore(bytes), OK);
        assert_eq!(&other.bytes(), bytes, "{name}");
        if in_event_mode {
            assert_eq!(other.try_step(t, 0.1).0, ERROR);
            other.update();
            assert_eq!(unsafe { fmi3EnterStepMode(other.c) }, OK);
        }
        other.advance(t, 1.0);
        assert_eq!(bits(&other.get_many(&outputs)), expected, "{name}");
        for plain in [instance(&fmu, &log, false, false), instance(&fmu, &log, true, false)] {
            assert_eq!(plain.restore(bytes), OK);
            if plain.try_step(t, 0.0).0 != OK {
                plain.update();
                assert_eq!(unsafe { fmi3EnterStepMode(plain.c) }, OK);
            }
            plain.advance(t, 1.0);
            assert_eq!(
                bits(&plain.get_many(&outputs)),
                expected,
                "{name}, without early return"
            );
        }
        let two = fmu.instance_with_log(&log2, CS);
        let (status, state) = two.deserialize(bytes);
        ok(status);
        two.restore(state);
        two.free_state(state);
        ok(two.step(t, length(t, 1.0)));
        assert_eq!(bits(&two.get_many(&outputs)), expected, "{name}, FMI 2.0");
    }
}

#[test]
fn run_that_ends_in_event_mode_can_be_read_and_repeated() {
    let (fmu, log) = (Fmu::new(), Log::default());
    let cs = instance(&fmu, &log, true, true);
    let outputs = fmu.outputs();
    let begin = || {
        cs.begin_steps(None);
        let step = cs.try_step(0.0, 1.0).1.expect("it succeeds");
        assert!(step.event_handling_needed);
        // SAFETY: a live handle.
        assert_eq!(unsafe { fmi3EnterEventMode(cs.c) }, OK);
        bits(&cs.get_many(&outputs))
    };
    let first = begin();
    // SAFETY: a live handle.
    unsafe {
        assert_eq!(fmi3Reset(cs.c), OK);
        assert_eq!(begin(), first);
        assert_eq!(fmi3Terminate(cs.c), OK);
        assert_eq!(bits(&cs.get_many(&outputs)), first);
        assert_eq!(fmi3EnterStepMode(cs.c), ERROR);
        assert_eq!(fmi3Reset(cs.c), OK);
    }
    assert_eq!(begin(), first);
}

#[test]
fn discarded_step_leaves_the_pending_event() {
    let (fmu, log) = (Fmu::new(), Log::default());
    let cs = instance(&fmu, &log, true, true);
    assert_eq!(cs.set("solver.work_limit", 10.0), OK);
    cs.begin_steps(Some(1e-10));
    assert_eq!(cs.set("elbow.tau", 20.0), OK);
    let before = cs.bytes();
    let (status, _) = cs.try_step(0.0, 0.2);
    assert!([DISCARD, ERROR].contains(&status), "{status:?}");
    assert_eq!(cs.bytes(), before);
}

#[test]
fn event_mode_is_refused_by_name_if_it_was_excluded() {
    let _section = messages::of_this_test();
    let (fmu, log) = (Fmu::new(), Log::default());
    let cs = Instance::co_simulation(&fmu, &log);
    cs.initialise(None);
    // SAFETY: a live handle.
    assert_eq!(unsafe { fmi3EnterEventMode(cs.c) }, ERROR);
    log.assert_error(&["fmi3EnterEventMode", "eventModeUsed"]);
    assert_eq!(unsafe { fmi3EnterStepMode(cs.c) }, ERROR);
    log.assert_error(&["fmi3EnterStepMode", "Step Mode"]);
}
