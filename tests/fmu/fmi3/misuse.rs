//! Invalid calls, one after the other: each is refused with a message, and the instance stays usable.

use super::{DISCARD, ERROR, Instance, Log, OK};
use crate::driver::{CS, Fmu};
use crate::messages;
use grapple::fmu::c_abi::*;
use grapple::fmu::fmi2::fmi2Status;
use std::ptr::{null, null_mut};

#[test]
fn misuse_is_refused_and_the_instance_stays_usable() {
    let _section = messages::of_this_test();
    let (fmu, log) = (Fmu::new(), Log::default());
    let cs = Instance::co_simulation(&fmu, &log);
    let mut value = [0.0; 2];
    // SAFETY: a live handle, arrays of the given counts, and null where null is tested.
    unsafe {
        // Calls out of order, and of Model Exchange.
        assert_eq!(cs.try_step(0.0, 0.1).0, ERROR);
        log.assert_error(&["fmi3DoStep"]);
        assert_eq!(fmi3ExitInitializationMode(cs.c), ERROR);
        log.assert_error(&["fmi3ExitInitializationMode"]);
        assert_eq!(fmi3SetTime(cs.c, 0.0), ERROR);
        log.assert_error(&["Model Exchange"]);
        assert_eq!(cs.enter_initialization(Some(-1.0), 0.0, None), ERROR);
        log.assert_error(&["fmi3EnterInitializationMode", "tolerance"]);
        assert_eq!(cs.enter_initialization(None, f64::NAN, None), ERROR);
        log.assert_error(&["start time"]);
        assert_eq!(cs.enter_initialization(None, 0.0, Some(-1.0)), ERROR);
        log.assert_error(&["stop time"]);
        assert_eq!(cs.enter_initialization(None, 0.0, Some(1.0)), OK);
        assert_eq!(cs.enter_initialization(None, 0.0, None), ERROR);
        log.assert_error(&["fmi3EnterInitializationMode"]);
        assert_eq!(fmi3ExitInitializationMode(cs.c), OK);
        assert_eq!(fmi3EnterEventMode(cs.c), ERROR);
        log.assert_error(&["fmi3EnterEventMode"]);

        // Null pointers, and counts that differ; a count of zero makes null legal.
        assert_eq!(fmi3GetFloat64(cs.c, null(), 0, null_mut(), 0), OK);
        assert_eq!(fmi3GetFloat64(cs.c, null(), 2, value.as_mut_ptr(), 2), ERROR);
        log.assert_error(&["valueReferences", "null"]);
        assert_eq!(fmi3GetFloat64(cs.c, &0, 1, null_mut(), 1), ERROR);
        log.assert_error(&["values", "null"]);
        assert_eq!(fmi3GetFloat64(cs.c, &0, 1, value.as_mut_ptr(), 2), ERROR);
        log.assert_error(&["nValues is 2 for 1 variables"]);
        assert_eq!(fmi3SetFloat64(cs.c, &0, 1, value.as_ptr(), 0), ERROR);
        log.assert_error(&["nValues is 0 for 1 variables"]);
        assert_eq!(fmi3GetFloat64(null_mut(), &0, 1, value.as_mut_ptr(), 1), ERROR);
        let (mut event, mut terminate, mut early) = (0, 0, 0);
        let null_time = fmi3DoStep(cs.c, 0.0, 0.1, 1, &mut event, &mut terminate, &mut early, null_mut());
        assert_eq!(null_time, ERROR);
        log.assert_error(&["lastSuccessfulTime", "null"]);

        // Unknown references, wrong types.
        let beyond = u32::try_from(cs.registry.len()).expect("few");
        assert_eq!(fmi3GetFloat64(cs.c, &beyond, 1, value.as_mut_ptr(), 1), ERROR);
        log.assert_one(ERROR, "logStatusError", &["unknown value reference"]);
        let flag = cs.vr("elbow.out_of_range");
        assert_eq!(fmi3GetFloat64(cs.c, &flag, 1, value.as_mut_ptr(), 1), ERROR);
        log.assert_error(&["elbow.out_of_range", "Boolean", "Float64"]);
        assert_eq!(fmi3SetBoolean(cs.c, &flag, 1, &1, 1), ERROR);
        log.assert_error(&["elbow.out_of_range"]);
        assert_eq!(fmi3SetInt32(cs.c, &cs.vr("elbow.tau"), 1, &3, 1), ERROR);
        log.assert_error(&["elbow.tau", "Float64", "Int32"]);
        let mut text = null();
        assert_eq!(fmi3GetString(cs.c, &cs.vr("elbow.tau"), 1, &mut text, 1), ERROR);
        log.assert_error(&["elbow.tau", "String"]);
        let mut clock = 0;
        assert_eq!(fmi3GetClock(cs.c, &cs.vr("elbow.tau"), 1, &mut clock), ERROR);
        log.assert_error(&["Clock"]);

        // Values that are not finite; no value of the call is set. Computed and fixed variables.
        let references = [cs.vr("elbow.tau"), cs.vr("push.f[1]")];
        assert_eq!(cs.set_many(&references, &[1.0, f64::NAN]), ERROR);
        log.assert_error(&["push.f[1]", "NaN"]);
        assert_eq!(cs.get("elbow.tau"), 0.0);
        assert_eq!(cs.set("system.energy", 1.0), ERROR);
        log.assert_error(&["system.energy"]);
        assert_eq!(cs.set("elbow.q", 1.0), ERROR);
        log.assert_error(&["elbow.q", "_start"]);
        assert_eq!(cs.set("time", 1.0), ERROR);
        log.assert_error(&["time"]);
        assert_eq!(cs.set("event_indicator[1]", 1.0), ERROR);
        log.assert_error(&["event_indicator[1]"]);
        cs.step(0.0, 0.1);
        log.take();
        assert_eq!(cs.set("lower.mass", 3.0), ERROR);
        log.assert_error(&["lower.mass"]);

        // Invalid steps; the stop time is 1 s.
        for (t, h) in [
            (0.0, 0.1),
            (0.1, -0.1),
            (0.1, f64::NAN),
            (f64::INFINITY, 0.1),
            (0.1, 2.0),
        ] {
            assert_eq!(cs.try_step(t, h).0, ERROR, "{t} {h}");
            log.assert_error(&["fmi3DoStep"]);
        }
    }
    cs.step(0.1, 0.1);
}

#[test]
fn parts_of_the_standard_that_are_absent_are_refused_by_name() {
    let _section = messages::of_this_test();
    let (fmu, log) = (Fmu::new(), Log::default());
    let cs = Instance::co_simulation(&fmu, &log);
    // SAFETY: a live handle; the functions read no other argument.
    unsafe {
        assert_eq!(fmi3EnterConfigurationMode(cs.c), ERROR);
        log.assert_error(&["no structural parameters"]);
        cs.initialise(None);
        assert_eq!(fmi3ActivateModelPartition(cs.c, 0, 0.0), ERROR);
        log.assert_error(&["Scheduled Execution"]);
        let none = null_mut();
        assert_eq!(fmi3GetNumberOfVariableDependencies(cs.c, 0, none), ERROR);
        log.assert_error(&["providesPerElementDependencies"]);
        assert_eq!(fmi3GetIntervalDecimal(cs.c, null(), 0, null_mut(), null_mut()), ERROR);
        log.assert_error(&["no clocks"]);
        assert_eq!(fmi3EvaluateDiscreteStates(cs.c), ERROR);
        log.assert_error(&["providesEvaluateDiscreteStates"]);
    }
}

#[test]
fn functions_of_one_standard_are_refused_on_instances_of_the_other() {
    let _section = messages::of_this_test();
    let (fmu, log) = (Fmu::new(), Log::default());
    let three = Instance::co_simulation(&fmu, &log);
    let two = fmu.instance(CS);
    // SAFETY: live handles.
    unsafe {
        assert_eq!(fmi2EnterInitializationMode(three.c), fmi2Status::ERROR);
        log.assert_error(&["FMI 2.0", "FMI 3.0"]);
        assert_eq!(fmi3ExitInitializationMode(two.c), ERROR);
    }
    crate::recorded::assert_logged(fmi2Status::ERROR, &["FMI 3.0"]);
}

/// In FMI 3.0 a discarded step leaves the instance as it was before the step.
#[test]
fn step_at_the_work_limit_is_discarded_and_changes_nothing() {
    let (fmu, log) = (Fmu::new(), Log::default());
    let cs = Instance::co_simulation(&fmu, &log);
    assert_eq!(cs.set("solver.work_limit", 60.0), OK);
    cs.initialise(Some(1e-9));
    assert_eq!(cs.set("elbow.tau", 2.0), OK);
    let before = cs.bytes();
    assert_eq!(cs.try_step(0.0, 5.0).0, DISCARD);
    log.assert_one(DISCARD, "logStatusDiscard", &["fmi3DoStep", "as before the step"]);
    assert_eq!(cs.bytes(), before);
    assert_eq!(cs.get("time"), 0.0);
    cs.step(0.0, 1e-3);
    // A limit within which no part of a step can be computed is an error, so that an importer does
    // not halve its steps without end.
    let stuck = Instance::co_simulation(&fmu, &log);
    assert_eq!(stuck.set("solver.work_limit", 1.0), OK);
    stuck.initialise(Some(1e-9));
    assert_eq!(stuck.try_step(0.0, 5.0).0, ERROR);
}
