//! Inquiry, instantiation, initialisation (§2.1.4 – §2.1.6).

use super::super::common::set_debug_logging;
use super::super::handle::Handle;
use super::super::instantiate::{Request, instantiate};
use super::super::logger::Importer;
use crate::fmu::component::Component;
use crate::fmu::fmi2::*;
use crate::fmu::lifecycle::{Call, Interface, Standard};

/// Returns `"default"` (§2.1.4). The string is valid while the library is loaded.
#[unsafe(no_mangle)]
pub extern "C" fn fmi2GetTypesPlatform() -> fmi2String {
    c"default".as_ptr()
}

/// Returns `"2.0"` (§2.1.4). The string is valid while the library is loaded.
#[unsafe(no_mangle)]
pub extern "C" fn fmi2GetVersion() -> fmi2String {
    c"2.0".as_ptr()
}

/// Switches log categories on or off (§2.1.5).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetDebugLogging(
    c: fmi2Component,
    loggingOn: fmi2Boolean,
    nCategories: usize,
    categories: *const fmi2String,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle, the array and its strings.
    unsafe {
        set_debug_logging(
            c,
            Call::SetDebugLogging,
            loggingOn != fmi2False,
            (categories, nCategories),
        )
    }
}

/// Creates an instance (§2.1.5); returns null on failure and logs the reason. `visible` is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Instantiate(
    instanceName: fmi2String,
    fmuType: fmi2Type,
    fmuGUID: fmi2String,
    fmuResourceLocation: fmi2String,
    functions: *const fmi2CallbackFunctions,
    _visible: fmi2Boolean,
    loggingOn: fmi2Boolean,
) -> fmi2Component {
    let callbacks = if functions.is_null() || !functions.is_aligned() {
        None
    } else {
        // SAFETY: not null; by the standard the importer keeps the structure alive beyond this
        // call.
        Some(unsafe { &*functions })
    };
    let request = Request {
        standard: Standard::Fmi2,
        function: "fmi2Instantiate",
        out_of_memory: c"fmi2Instantiate: there is not enough memory for an instance",
        importer: Importer::of_fmi2(callbacks),
        name: instanceName,
        token: fmuGUID,
        location: fmuResourceLocation,
        logging_on: loggingOn != fmi2False,
    };
    let interface = || match fmuType {
        fmi2Type::MODEL_EXCHANGE => Ok(Interface::ModelExchange),
        fmi2Type::CO_SIMULATION => Ok(Interface::CoSimulation),
        fmi2Type(other) => Err(format!("{other} is not a value of fmi2Type")),
    };
    // SAFETY: the importer keeps the standard's contract for the strings and the callbacks.
    unsafe { instantiate(&request, interface, |_| Ok(None)) }
}

/// Frees an instance; null is ignored (§2.1.5).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2FreeInstance(c: fmi2Component) {
    // SAFETY: the importer keeps the standard's contract, and does not use the handle again.
    unsafe { Handle::free(c) }
}

/// Sets start time, stop time (s) and relative tolerance (§2.1.6).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetupExperiment(
    c: fmi2Component,
    toleranceDefined: fmi2Boolean,
    tolerance: fmi2Real,
    startTime: fmi2Real,
    stopTimeDefined: fmi2Boolean,
    stopTime: fmi2Real,
) -> fmi2Status {
    let tolerance = (toleranceDefined != fmi2False).then_some(tolerance);
    let stop = (stopTimeDefined != fmi2False).then_some(stopTime);
    // SAFETY: the importer keeps the standard's contract for the handle.
    unsafe {
        Handle::call(c, Call::SetupExperiment, |component| {
            component.setup_experiment(tolerance, startTime, stop)
        })
    }
}

/// Begins initialisation (§2.1.6).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2EnterInitializationMode(c: fmi2Component) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle.
    unsafe {
        Handle::call(c, Call::EnterInitializationMode, |component| {
            component.enter_initialization_mode();
            Ok(())
        })
    }
}

/// Ends initialisation: validates all parameters together (§2.1.6).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2ExitInitializationMode(c: fmi2Component) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle.
    unsafe { Handle::call(c, Call::ExitInitializationMode, Component::exit_initialization_mode) }
}

/// Ends a run; values can still be read (§2.1.6).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Terminate(c: fmi2Component) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle.
    unsafe {
        Handle::call(c, Call::Terminate, |component| {
            component.terminate();
            Ok(())
        })
    }
}

/// Returns the instance to its state after `fmi2Instantiate` (§2.1.6).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Reset(c: fmi2Component) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle.
    unsafe {
        Handle::call(c, Call::Reset, |component| {
            component.reset();
            Ok(())
        })
    }
}
