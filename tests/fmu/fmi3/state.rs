//! Saved states, which are those of FMI 2.0.

use super::instance::bits;
use super::{ERROR, Instance, Log, OK};
use crate::driver::{CS, Fmu, Log as Log2, ME, ok};
use crate::messages;
use grapple::fmu::c_abi::*;
use std::ptr::{null, null_mut};

#[test]
fn serialised_state_has_the_bytes_of_fmi_2_and_continues_in_either() {
    let (fmu, log, log2) = (Fmu::new(), Log::default(), Log2::new());
    let three = Instance::co_simulation(&fmu, &log);
    let two = fmu.instance_with_log(&log2, CS);
    three.initialise(Some(1e-7));
    two.initialise(Some(1e-7));
    three.step(0.0, 0.3);
    ok(two.step(0.0, 0.3));
    let bytes = three.bytes();
    assert!(!bytes.is_empty() && bytes == two.bytes());
    // Each continues the other's run.
    three.step(0.3, 0.4);
    ok(two.step(0.3, 0.4));
    let expected = bits(&three.get_many(&fmu.outputs()));
    let other_two = fmu.instance_with_log(&log2, CS);
    let (status, state) = other_two.deserialize(&bytes);
    ok(status);
    other_two.restore(state);
    other_two.free_state(state);
    ok(other_two.step(0.3, 0.4));
    assert_eq!(bits(&other_two.get_many(&fmu.outputs())), expected);
    let other_three = Instance::co_simulation(&fmu, &log);
    assert_eq!(other_three.restore(&bytes), OK);
    other_three.step(0.3, 0.4);
    assert_eq!(bits(&other_three.get_many(&fmu.outputs())), expected);
}

#[test]
fn state_of_model_exchange_has_the_bytes_of_fmi_2() {
    let (fmu, log, log2) = (Fmu::new(), Log::default(), Log2::new());
    let three = Instance::model_exchange(&fmu, &log);
    let two = fmu.instance_with_log(&log2, ME);
    three.begin();
    two.begin();
    assert_eq!(three.bytes(), two.bytes());
}

/// In the first Event Mode states and tunable parameters can be set; fixed parameters cannot.
#[test]
fn states_set_in_the_first_event_mode_are_kept() {
    let (fmu, log) = (Fmu::new(), Log::default());
    let me = Instance::model_exchange(&fmu, &log);
    me.initialise(None);
    assert_eq!(me.set("elbow.q", 0.123), OK);
    assert_eq!(me.set("shoulder.damping", 0.05), OK);
    assert_eq!([me.get("elbow.q"), me.get("shoulder.damping")], [0.123, 0.05]);
    assert_eq!(me.set("base.mass", 7.0), ERROR);
    log.take();
    assert_eq!(me.get("elbow.q"), 0.123);
}

/// Start values that FMI 2.0 has buffered before its first step restart the run when FMI 3.0
/// restores it; an invalid value is refused and leaves the instance unchanged.
#[test]
fn start_values_that_fmi_2_has_buffered_are_those_of_the_restored_run() {
    let (fmu, log, log2) = (Fmu::new(), Log::default(), Log2::new());
    let two = fmu.instance_with_log(&log2, CS);
    two.initialise(None);
    ok(two.set("elbow.q_start", -0.3));
    let three = Instance::co_simulation(&fmu, &log);
    assert_eq!(three.restore(&two.bytes()), OK);
    assert_eq!(three.get("elbow.q"), -0.3);
    three.step(0.0, 0.2);
    ok(two.step(0.0, 0.2));
    let outputs = fmu.outputs();
    assert_eq!(bits(&three.get_many(&outputs)), bits(&two.get_many(&outputs)));

    let two = fmu.instance_with_log(&log2, ME);
    two.initialise(None);
    ok(two.set("elbow.q_start", -0.3));
    let me = Instance::model_exchange(&fmu, &log);
    assert_eq!(me.restore(&two.bytes()), OK);
    assert_eq!(me.get("elbow.q"), -0.3);
    assert!(me.update().states_changed);

    let two = fmu.instance_with_log(&log2, CS);
    two.initialise(None);
    ok(two.set("base.mass", -1.0));
    let before = three.bytes();
    log.take();
    assert_eq!(three.restore(&two.bytes()), ERROR);
    log.assert_one(ERROR, "logStatusError", &["body \"base\", mass"]);
    assert_eq!(three.bytes(), before);
}

/// An instance that was terminated in Initialization Mode keeps the parameters that were set there,
/// valid or not. Its saved state is restored as it was: no run starts.
#[test]
fn state_of_an_instance_terminated_in_initialization_mode_is_restored() {
    let (fmu, log) = (Fmu::new(), Log::default());
    for (name, value) in [("elbow.q_start", -0.3), ("base.mass", -1.0)] {
        let cs = Instance::co_simulation(&fmu, &log);
        assert_eq!(cs.enter_initialization(None, 0.0, None), OK);
        assert_eq!(cs.set(name, value), OK);
        // SAFETY: the instance exists.
        assert_eq!(unsafe { fmi3Terminate(cs.c) }, OK);
        let bytes = cs.bytes();
        assert_eq!(cs.restore(&bytes), OK);
        assert!(cs.bytes() == bytes, "{name}");
    }
}

/// A step that FMI 2.0 has discarded leaves the part that succeeded; FMI 3.0 continues from there.
#[test]
fn state_after_a_step_that_fmi_2_has_discarded_is_continued() {
    let (fmu, log, log2) = (Fmu::new(), Log::default(), Log2::new());
    let two = fmu.instance_with_log(&log2, CS);
    ok(two.set("solver.work_limit", 60.0));
    two.initialise(Some(1e-9));
    assert_eq!(two.step(0.0, 5.0), crate::driver::DISCARD);
    let t = two.last_time();
    assert!(t > 0.0);
    let three = Instance::co_simulation(&fmu, &log);
    assert_eq!(three.restore(&two.bytes()), OK);
    assert_eq!(three.get("time"), t);
    three.step(t, 1e-3);
    ok(two.step(t, 1e-3));
    let outputs = fmu.outputs();
    assert_eq!(bits(&three.get_many(&outputs)), bits(&two.get_many(&outputs)));
}

#[test]
fn damaged_and_foreign_states_are_refused() {
    let _section = messages::of_this_test();
    let (fmu, log) = (Fmu::new(), Log::default());
    let cs = Instance::co_simulation(&fmu, &log);
    cs.initialise(None);
    cs.step(0.0, 0.1);
    let good = cs.bytes();
    for length in [0, 7, good.len() / 2, good.len() - 1] {
        assert_eq!(cs.restore(&good[..length]), ERROR);
        log.assert_one(ERROR, "logStatusError", &["fmi3DeserializeFMUState"]);
    }
    for place in (0..good.len()).step_by(37) {
        let mut bytes = good.clone();
        bytes[place] ^= 4;
        assert_eq!(cs.restore(&bytes), ERROR, "byte {place}");
        log.take();
    }
    let me = Instance::model_exchange(&fmu, &log);
    assert_eq!(me.restore(&good), ERROR);
    log.assert_error(&["Model Exchange"]);
    // SAFETY: null where null is tested, a live handle, a buffer that is too short.
    unsafe {
        assert_eq!(fmi3GetFMUState(cs.c, null_mut()), ERROR);
        log.assert_error(&["FMUState", "null"]);
        assert_eq!(fmi3SetFMUState(cs.c, null_mut()), ERROR);
        log.assert_error(&["null"]);
        assert_eq!(fmi3FreeFMUState(cs.c, null_mut()), OK);
        let mut state = null_mut();
        assert_eq!(fmi3DeserializeFMUState(cs.c, null(), 10, &mut state), ERROR);
        log.assert_error(&["serializedState", "null"]);
        assert_eq!(fmi3GetFMUState(cs.c, &mut state), OK);
        let mut short = [0_u8; 10];
        assert_eq!(fmi3SerializeFMUState(cs.c, state, short.as_mut_ptr(), 10), ERROR);
        log.assert_one(ERROR, "logStatusError", &["10 bytes"]);
        assert_eq!(fmi3FreeFMUState(cs.c, &mut state), OK);
    }
    assert_eq!(cs.bytes(), good);
}
