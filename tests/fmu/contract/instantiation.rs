//! `fmi2Instantiate`, and the functions that can be called without an instance.

use super::fmu;
use crate::driver::*;
use crate::messages;
use crate::recorded::Recorded;
use grapple::fmu::c_abi::*;
use grapple::fmu::description::Interfaces;
use grapple::fmu::fmi2::*;
use grapple::fmu::registry::Naming;
use grapple::plant::Model;
use std::ffi::CStr;
use std::path::Path;

#[test]
fn instantiation_is_refused_with_one_clear_message() {
    let _section = messages::of_this_test();
    let fmu = fmu();
    let good = fmu.uri();
    let log = Log::new();
    let callbacks = log.callbacks();
    let refused = |kind, guid: Option<&CStr>, location: Option<&str>, names: &[&str]| {
        let instantiate = |callbacks| instantiate(guid, location, kind, callbacks, fmi2True, fmi2True);
        assert!(instantiate(Some(&callbacks)).is_null());
        let message = log.assert_named(ERROR, names);
        // Refused in the same way without a logger.
        assert!(instantiate(None).is_null());
        message
    };
    refused(CS, Some(c"{0}"), Some(&good), &["GUID", "{0}"]);
    messages::record(refused(CS, None, Some(&good), &["GUID"]));
    messages::record(refused(CS, Some(&fmu.guid), None, &["fmi2Instantiate"]));
    refused(
        CS,
        Some(&fmu.guid),
        Some("/nowhere at all"),
        &["/nowhere at all", "model.json"],
    );
    messages::record(refused(fmi2Type(7), Some(&fmu.guid), Some(&good), &["7"]));
    fmu.write_model(b"{\"format\": 1}");
    refused(CS, Some(&fmu.guid), Some(&good), &["GUID"]);
}

/// An interface that `grapple build --fmi-type` leaves out of the XML is refused.
#[test]
fn an_interface_that_the_fmu_does_not_offer_is_refused() {
    let _section = messages::of_this_test();
    for naming in [Naming::Structured, Naming::Flat] {
        for (interfaces, offered, other, name) in [
            (Interfaces::ModelExchange, ME, CS, "Co-Simulation"),
            (Interfaces::CoSimulation, CS, ME, "Model Exchange"),
        ] {
            let model = Model::read(SPACECRAFT, Path::new(".")).expect("the spec is right");
            let fmu = Fmu::offering(model, naming, interfaces);
            assert_eq!(fmu.xml.model_exchange.is_some(), offered == ME);
            assert_eq!(fmu.xml.co_simulation.is_some(), offered == CS);
            let log = Log::new();
            let instantiate =
                |kind| fmu.instance_at(Some(&fmu.uri()), kind, Some(&log.callbacks()), fmi2True, fmi2True);
            assert!(instantiate(offered).is_some(), "{:?}", log.take());
            assert!(instantiate(other).is_none());
            log.assert_logged(ERROR, &["fmi2Instantiate", name]);
        }
    }
}

#[test]
fn functions_of_the_header_return_platform_and_version() {
    unsafe {
        assert_eq!(CStr::from_ptr(fmi2GetVersion()), c"2.0");
        assert_eq!(CStr::from_ptr(fmi2GetTypesPlatform()), c"default");
    }
    assert_eq!(size_of::<fmi2EventInfo>(), 32);
    assert_eq!(size_of::<fmi2CallbackFunctions>(), 5 * size_of::<usize>());
}
