//! Intermediate updates: the importer's callback during a step.

use super::instance::{Arguments, bits};
use super::{ERROR, Instance, Log, OK};
use crate::driver::{Fmu, SPACECRAFT, impact_in_orbit};
use crate::messages;
use grapple::fmu::c_abi::*;
use grapple::fmu::fmi3::*;
use std::cell::{Cell, RefCell};
use std::ptr::{null, null_mut};

/// An importer that reads values in its callback. The log comes first: both callbacks receive the
/// same pointer.
#[repr(C)]
#[derive(Default)]
struct Watcher {
    log: Log,
    /// The instance, once it exists.
    instance: Cell<usize>,
    /// References to read.
    references: RefCell<Vec<u32>>,
    /// Times and values of the updates.
    seen: RefCell<Vec<(f64, Vec<u64>)>>,
    can_return_early: Cell<bool>,
    /// Time of the first request of an early return, and the requested time, s.
    request: Cell<Option<(f64, f64)>>,
    /// Makes all sorts of calls at the next update.
    misuses: Cell<bool>,
}

unsafe extern "C" fn update(
    environment: fmi3InstanceEnvironment,
    t: fmi3Float64,
    set_requested: fmi3Boolean,
    get_allowed: fmi3Boolean,
    step_finished: fmi3Boolean,
    can_return_early: fmi3Boolean,
    requested: *mut fmi3Boolean,
    time: *mut fmi3Float64,
) {
    // SAFETY: the tests pass a `Watcher` that outlives the instance; the places are valid.
    unsafe {
        let watcher = &*environment.cast_const().cast::<Watcher>();
        assert_eq!(
            (set_requested, get_allowed, step_finished),
            (fmi3False, fmi3True, fmi3True)
        );
        assert_eq!((*requested, *time), (fmi3False, t));
        watcher.can_return_early.set(can_return_early == fmi3True);
        let c = watcher.instance.get() as fmi3Instance;
        let references = watcher.references.borrow();
        let (n, mut values) = (references.len(), vec![f64::NAN; references.len()]);
        assert_eq!(fmi3GetFloat64(c, references.as_ptr(), n, values.as_mut_ptr(), n), OK);
        watcher.seen.borrow_mut().push((t, bits(&values)));
        if watcher.misuses.take() {
            misuse(c, &watcher.log);
        }
        if let Some((_, at)) = watcher.request.get().filter(|(from, _)| t >= *from) {
            (*requested, *time) = (fmi3True, at);
        }
    }
}

/// Makes calls that are not allowed during a step: each is refused with its reason.
unsafe fn misuse(c: fmi3Instance, log: &Log) {
    // SAFETY: a live handle and valid places.
    unsafe {
        let (mut event, mut terminate, mut early, mut time, mut state) = (0, 0, 0, 0.0, null_mut());
        let refused = [
            ("fmi3SetFloat64", fmi3SetFloat64(c, &0, 1, &1.0, 1)),
            (
                "fmi3DoStep",
                fmi3DoStep(c, 0.0, 0.1, 1, &mut event, &mut terminate, &mut early, &mut time),
            ),
            ("fmi3GetFMUState", fmi3GetFMUState(c, &mut state)),
            ("fmi3EnterEventMode", fmi3EnterEventMode(c)),
            ("fmi3Terminate", fmi3Terminate(c)),
            ("fmi3Reset", fmi3Reset(c)),
            ("fmi3SetDebugLogging", fmi3SetDebugLogging(c, 0, 0, null())),
        ];
        // Ignored: the instance is in use.
        fmi3FreeInstance(c);
        let messages = log.take();
        assert_eq!(messages.len(), refused.len());
        for ((name, status), (_, _, text)) in refused.iter().zip(&messages) {
            assert_eq!(*status, ERROR, "{name}");
            assert!(
                text.contains(name) && text.contains("Intermediate Update Mode"),
                "{text}"
            );
            messages::record(text);
        }
        let mut values = [f64::NAN];
        assert_eq!(fmi3GetFloat64(c, null(), 1, values.as_mut_ptr(), 1), ERROR);
        assert_eq!(fmi3GetFloat64(c, &99_999, 1, values.as_mut_ptr(), 1), ERROR);
        assert_eq!(log.take().len(), 2);
    }
}

/// Returns an instance that calls the watcher back.
fn watched<'a>(fmu: &'a Fmu, watcher: &Watcher, event_mode: bool, early_return: bool) -> Instance<'a> {
    let mut arguments = Arguments::of(fmu);
    arguments.event_mode_used = event_mode;
    arguments.early_return_allowed = early_return;
    arguments.updates = Some(update);
    arguments.required = vec![fmu.vr("elbow.q"), fmu.vr("der(elbow.q)"), fmu.vr("system.energy")];
    // The watcher's first field is its log, so that this pointer is the watcher's.
    let cs = Instance::of(fmu, arguments.co_simulation(Some(&watcher.log)));
    watcher.instance.set(cs.c as usize);
    watcher.references.replace(fmu.outputs());
    cs
}

#[test]
fn values_of_each_internal_step_are_read_and_no_bit_changes() {
    let _section = messages::of_this_test();
    let fmu = Fmu::of(&impact_in_orbit());
    let (log, watcher) = (Log::default(), Watcher::default());
    let plain = Instance::co_simulation(&fmu, &log);
    let cs = watched(&fmu, &watcher, false, false);
    watcher.misuses.set(true);
    let outputs = fmu.outputs();
    for of in [&plain, &cs] {
        of.initialise(Some(1e-9));
    }
    for (t, h) in [(0.0, 0.3), (0.3, 0.4), (0.7, 0.25)] {
        let damping = 0.1 + t;
        for of in [&plain, &cs] {
            assert_eq!(of.set("shoulder.damping", damping), OK);
            of.step(t, h);
        }
        let expected = bits(&plain.get_many(&outputs));
        assert_eq!(bits(&cs.get_many(&outputs)), expected);
        let seen = watcher.seen.take();
        println!("{} updates from {t} s to {} s", seen.len(), t + h);
        assert!(seen.len() > 3 && seen.is_sorted_by(|a, b| a.0 < b.0));
        let (last, values) = seen.last().expect("some");
        assert_eq!(
            (*last, values),
            (t + h, &expected),
            "the end of the step is an internal step, too"
        );
    }
    assert!(!watcher.can_return_early.get());
    assert_eq!(cs.bytes(), plain.bytes());
    // Outside a step the instance itself is read.
    assert_eq!(cs.get("hit.count"), 1.0);
}

#[test]
fn update_at_an_event_shows_the_values_before_the_jump() {
    let (fmu, watcher) = (Fmu::of(&impact_in_orbit()), Watcher::default());
    let cs = watched(&fmu, &watcher, false, true);
    watcher
        .references
        .replace(vec![fmu.vr("hit.impulse[2]"), fmu.vr("ball.v[2]")]);
    cs.initialise(Some(1e-9));
    let step = cs.try_step(0.0, 1.0).1.expect("it succeeds");
    assert!(step.early_return);
    let seen = watcher.seen.take();
    let (t, values) = seen.last().expect("some");
    assert_eq!(*t, step.last_successful_time);
    let [impulse, speed] = [0, 1].map(|i| f64::from_bits(values[i]));
    assert!(impulse == 0.0 && speed < -1.4, "{impulse} {speed}");
    assert!(cs.get("hit.count") == 1.0 && cs.get("ball.v[2]") > -1.4);
}

#[test]
fn step_ends_at_the_time_that_the_importer_requests() {
    let watcher = Watcher::default();
    // With several steps between the requested times.
    let fmu = Fmu::of(&format!("{SPACECRAFT}[solver]\nmethod = \"rk4\"\nstep = 0.004\n"));
    for event_mode in [false, true] {
        let cs = watched(&fmu, &watcher, event_mode, true);
        match event_mode {
            true => _ = cs.begin_steps(None),
            false => cs.initialise(None),
        }
        // A later time, now, the past, and no number.
        let mut t = 0.0;
        for (from, at, expected) in [
            (0.05, 0.123, Some(0.123)),
            (0.13, 0.0, None),
            (0.15, f64::NAN, None),
            (0.16, 77.0, Some(0.2)),
        ] {
            watcher.request.set(Some((from, at)));
            watcher.seen.take();
            let step = cs.try_step(t, 0.2 - t).1.expect("it succeeds");
            assert!(watcher.can_return_early.get() && !step.event_handling_needed);
            let seen = watcher.seen.take();
            let (last, values) = seen.last().expect("some");
            t = step.last_successful_time;
            assert_eq!(*last, t);
            match expected {
                Some(expected) => assert!((t - expected).abs() < 1e-15, "{t} {expected}"),
                None => assert_eq!(seen.iter().filter(|(time, _)| *time >= from).count(), 1),
            }
            assert_eq!(step.early_return, t < 0.2 - 1e-15);
            assert_eq!(values, &bits(&cs.get_many(&fmu.outputs())));
        }
    }
    // Without early return requests have no effect.
    let cs = watched(&fmu, &watcher, false, false);
    cs.initialise(Some(1e-9));
    watcher.request.set(Some((0.0, 0.05)));
    cs.step(0.0, 0.2);
    assert!(!watcher.can_return_early.get());
}

#[test]
fn output_derivatives_and_flags_are_read_during_a_step() {
    unsafe extern "C" fn read(
        environment: fmi3InstanceEnvironment,
        _: fmi3Float64,
        _: fmi3Boolean,
        _: fmi3Boolean,
        _: fmi3Boolean,
        _: fmi3Boolean,
        _: *mut fmi3Boolean,
        _: *mut fmi3Float64,
    ) {
        // SAFETY: the test passes a `Watcher` that outlives the instance.
        unsafe {
            let watcher = &*environment.cast_const().cast::<Watcher>();
            let c = watcher.instance.get() as fmi3Instance;
            let [q, flag] = [0, 1].map(|i| watcher.references.borrow()[i]);
            let (mut slope, mut is_out) = (f64::NAN, 77);
            assert_eq!(fmi3GetOutputDerivatives(c, &q, 1, &1, &mut slope, 1), OK);
            assert_eq!(fmi3GetBoolean(c, &flag, 1, &mut is_out, 1), OK);
            assert!(slope.is_finite() && is_out <= 1);
            watcher.seen.borrow_mut().push((slope, vec![u64::from(is_out)]));
        }
    }
    let (fmu, watcher) = (Fmu::new(), Watcher::default());
    let mut arguments = Arguments::of(&fmu);
    arguments.updates = Some(read);
    let cs = Instance::of(&fmu, arguments.co_simulation(Some(&watcher.log)));
    watcher.instance.set(cs.c as usize);
    watcher
        .references
        .replace(vec![fmu.vr("elbow.q"), fmu.vr("elbow.out_of_range")]);
    cs.initialise(Some(1e-9));
    cs.step(0.0, 0.5);
    let seen = watcher.seen.take();
    assert!(seen.len() > 3);
    assert_eq!(seen.last().expect("some").0.to_bits(), cs.get("elbow.qd").to_bits());
}
