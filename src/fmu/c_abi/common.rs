//! Inquiry, instantiation, initialisation (§2.1.4 – §2.1.6).

use super::handle::Handle;
use super::logger::{Logger, failure, out_of_memory};
use super::pointers::{slice, text};
use super::{floating_point, panics};
use crate::fmu::component::{Component, Refusal};
use crate::fmu::fmi2::*;
use crate::fmu::lifecycle::{Call, Interface};
use crate::fmu::memory;
use std::ffi::CString;

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
        Handle::call(c, Call::SetDebugLogging, |component| {
            let names: Vec<_> = slice(categories, nCategories, "categories")?
                .iter()
                .filter_map(|&name| text(name))
                .collect();
            let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
            if nCategories > 0 && names.is_empty() {
                return Ok(());
            }
            component.set_debug_logging(loggingOn != fmi2False, &names)
        })
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
    let refuse = || {
        // SAFETY: the name comes from the importer: null or a string that ends with a zero.
        unsafe { out_of_memory(callbacks, instanceName) };
        std::ptr::null_mut()
    };
    // Tests the memory for the strings of this call. `refuse` logs its message without them.
    if memory::test(memory::BASE).is_err() {
        return refuse();
    }
    let instantiate = || {
        // SAFETY: the importer keeps the standard's contract: null or a string that ends with a
        // zero.
        let [name, guid, location] = unsafe { [text(instanceName), text(fmuGUID), text(fmuResourceLocation)] };
        let name = CString::new(name.unwrap_or_default().as_bytes()).unwrap_or_default();
        let logger = Logger::new(callbacks, name);
        let made = panics::catch(|| {
            let interface = match fmuType {
                fmi2Type::MODEL_EXCHANGE => Interface::ModelExchange,
                fmi2Type::CO_SIMULATION => Interface::CoSimulation,
                fmi2Type(other) => return Err(Refusal::Reason(format!("{other} is not a value of fmi2Type"))),
            };
            let guid = guid.ok_or_else(|| "the GUID is null".to_owned())?;
            let location = location.ok_or_else(|| {
                "the resource location is null; this FMU reads its model from the directory resources, so the \
                 importer must pass the location of the unpacked directory"
                    .to_owned()
            })?;
            floating_point::in_default(|| Component::instantiate(interface, &guid, &location, loggingOn != fmi2False))
        });
        match made.map_err(Refusal::Reason).and_then(|made| made) {
            Ok(component) => Handle::into_raw(component, logger),
            Err(Refusal::OutOfMemory) => refuse(),
            Err(Refusal::Reason(what)) => {
                logger.send(&failure(what));
                std::ptr::null_mut()
            }
        }
    };
    panics::catch(instantiate).unwrap_or(std::ptr::null_mut())
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
