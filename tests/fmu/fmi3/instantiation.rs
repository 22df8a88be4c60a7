//! Functions that instantiate, and the log.

use super::instance::{Arguments, Instance, Log};
use super::{ERROR, OK};
use crate::driver::Fmu;
use crate::messages;
use grapple::fmu::c_abi::*;
use grapple::fmu::lifecycle::Standard;
use grapple::fmu::registry::Registry;
use std::ffi::CStr;
use std::ptr::null_mut;
use std::sync::Arc;

#[test]
fn instantiation_is_refused_with_one_clear_message() {
    let _section = messages::of_this_test();
    let (fmu, log) = (Fmu::new(), Log::default());
    let refused = |arguments: Arguments, names: &[&str]| {
        assert!(arguments.co_simulation(Some(&log)).is_null());
        let text = log.assert_one(ERROR, "logStatusError", names);
        // Refused in the same way without a logger.
        assert!(arguments.co_simulation(None).is_null());
        text
    };
    let good = || Arguments::of(&fmu);
    let mut wrong = good();
    wrong.token = Some(c"{0}");
    refused(wrong, &["fmi3InstantiateCoSimulation", "instantiation token", "{0}"]);
    let mut wrong = good();
    wrong.token = None;
    messages::record(refused(wrong, &["instantiation token", "null"]));
    let mut wrong = good();
    wrong.location = None;
    messages::record(refused(wrong, &["null"]));
    let mut wrong = good();
    wrong.location = Some("/nowhere at all/".to_owned());
    refused(wrong, &["/nowhere at all", "model.json"]);
    let registry = Registry::of(Standard::Fmi3, Arc::clone(fmu.registry.model()), fmu.registry.naming());
    let vr = |name: &str| registry.find(name).expect("a variable").value_reference;
    for name in ["elbow.tau", "shoulder.damping", "elbow.out_of_range", "time"] {
        let mut wrong = good();
        wrong.required = vec![vr("elbow.q"), vr(name)];
        messages::record(refused(wrong, &["intermediate updates", name]));
    }
    let mut wrong = good();
    wrong.required = vec![99_999];
    refused(wrong, &["99999"]);
    assert!(good().scheduled_execution(Some(&log)).is_null());
    log.assert_error(&["Scheduled Execution"]);
    // An instantiation that fails is logged also with `loggingOn` false.
    let mut wrong = good();
    (wrong.logging_on, wrong.token) = (false, None);
    refused(wrong, &["null"]);
}

#[test]
fn every_spelling_of_the_resource_path_is_accepted() {
    let (fmu, log) = (Fmu::new(), Log::default());
    for location in fmu.locations() {
        let mut arguments = Arguments::of(&fmu);
        arguments.location = Some(location.clone());
        let c = arguments.model_exchange(Some(&log));
        assert!(!c.is_null(), "{location}: {:?}", log.take());
        // SAFETY: a live handle.
        unsafe { fmi3FreeInstance(c) };
    }
}

/// In FMI 3.0 `loggingOn` false forbids every message, those of failures included.
#[test]
fn nothing_is_logged_unless_logging_is_on() {
    let (fmu, log) = (Fmu::new(), Log::default());
    let mut arguments = Arguments::of(&fmu);
    arguments.logging_on = false;
    let cs = Instance::of(&fmu, arguments.co_simulation(Some(&log)));
    assert_eq!(cs.try_step(0.0, 0.1).0, ERROR);
    assert_eq!(cs.set("elbow.tau", f64::NAN), ERROR);
    cs.initialise(None);
    cs.step(0.0, 1.0);
    assert_eq!(log.take(), []);
    // SAFETY: a live handle; a string that ends with a zero.
    let switched = unsafe { fmi3SetDebugLogging(cs.c, 1, 1, &c"logStatusError".as_ptr()) };
    assert_eq!(switched, OK);
    assert_eq!(cs.set("elbow.tau", f64::NAN), ERROR);
    log.assert_one(ERROR, "logStatusError", &["fmi3SetFloat64", "elbow.tau"]);
    let unknown = unsafe { fmi3SetDebugLogging(cs.c, 1, 1, &c"100%".as_ptr()) };
    assert_eq!(unknown, ERROR);
    // The message is no format of printf: a percent sign is not doubled.
    log.assert_one(ERROR, "logStatusError", &["\"100%\""]);
}

#[test]
fn version_is_returned_and_foreign_handles_are_refused() {
    let mut junk = [0_u64; 64];
    // SAFETY: the version is a static string; the memory is as large as a handle's head.
    unsafe {
        assert_eq!(CStr::from_ptr(fmi3GetVersion()), c"3.0");
        assert_eq!(fmi3Reset(null_mut()), ERROR);
        assert_eq!(fmi3Reset(junk.as_mut_ptr().cast()), ERROR);
        fmi3FreeInstance(null_mut());
        fmi3FreeInstance(junk.as_mut_ptr().cast());
    }
}

#[test]
fn null_callbacks_are_tolerated() {
    let fmu = Fmu::new();
    let cs = Instance::of(&fmu, Arguments::of(&fmu).co_simulation(None));
    assert_eq!(cs.try_step(0.0, 0.1).0, ERROR);
    cs.initialise(None);
    cs.step(0.0, 0.1);
}
