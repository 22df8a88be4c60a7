//! `fmi2Instantiate`, and what can be asked before it.

use super::fmu;
use crate::driver::*;
use grapple::fmu::c_abi::*;
use grapple::fmu::fmi2::*;
use std::ffi::CStr;

#[test]
fn instantiation_is_refused_with_one_clear_message() {
    let fmu = fmu();
    let good = fmu.uri();
    let log = Log::new();
    let callbacks = log.callbacks();
    let refused = |kind, guid: Option<&CStr>, location: Option<&str>, words: &[&str]| {
        let instantiate = |callbacks| instantiate(guid, location, kind, callbacks, fmi2True, fmi2True);
        assert!(instantiate(Some(&callbacks)).is_null());
        log.told(ERROR, words);
        // Without a logger as well.
        assert!(instantiate(None).is_null());
    };
    refused(CS, Some(c"{0}"), Some(&good), &["GUID", "{0}"]);
    refused(CS, None, Some(&good), &["GUID", "null"]);
    refused(CS, Some(&fmu.guid), None, &["resource location", "null"]);
    refused(
        CS,
        Some(&fmu.guid),
        Some("/nowhere at all"),
        &["/nowhere at all", "model.json"],
    );
    refused(fmi2Type(7), Some(&fmu.guid), Some(&good), &["7"]);
    fmu.write_model(b"{\"format\": 1}");
    refused(CS, Some(&fmu.guid), Some(&good), &["GUID"]);
}

#[test]
fn the_header_s_inquiries() {
    unsafe {
        assert_eq!(CStr::from_ptr(fmi2GetVersion()), c"2.0");
        assert_eq!(CStr::from_ptr(fmi2GetTypesPlatform()), c"default");
    }
    assert_eq!(size_of::<fmi2EventInfo>(), 32);
    assert_eq!(size_of::<fmi2CallbackFunctions>(), 5 * size_of::<usize>());
}
