//! An instance, and the conversion of its C functions' arguments and results.

use crate::model;
use crate::wit::fmi::fmi3::callbacks;
use crate::wit::fmi::fmi3::types::{DiscreteStatesInfo, Status};
use grapple::fmu::c_abi::*;
use grapple::fmu::fmi3::*;
use std::ffi::{CStr, CString, c_char};
use std::ptr::null_mut;

/// An instance; it is freed when the host drops its handle.
pub struct Instance {
    /// Handle of the C functions, valid until the drop.
    pub raw: fmi3Instance,
    /// Name for messages: its characters, which do not move, are the environment of the logger.
    name: CString,
}

/// C function of directional or adjoint derivatives.
type Derivative = unsafe extern "C" fn(
    fmi3Instance,
    *const fmi3ValueReference,
    usize,
    *const fmi3ValueReference,
    usize,
    *const fmi3Float64,
    usize,
    *mut fmi3Float64,
    usize,
) -> fmi3Status;

/// Returns the status of a C function's call.
pub fn status(of: fmi3Status) -> Status {
    match of {
        fmi3Status::OK => Status::Ok,
        fmi3Status::WARNING => Status::Warning,
        fmi3Status::DISCARD => Status::Discard,
        fmi3Status::ERROR => Status::Error,
        _ => Status::Fatal,
    }
}

/// Returns the value of a successful call.
///
/// # Errors
/// The status of a call that failed.
pub fn outcome<T>(of: fmi3Status, value: T) -> Result<T, Status> {
    match status(of) {
        Status::Ok | Status::Warning => Ok(value),
        failure => Err(failure),
    }
}

/// Returns the `count` values that a successful call has written in place of `empty`.
///
/// # Errors
/// The status of a call that failed.
pub fn filled<T: Clone>(empty: T, count: usize, call: impl FnOnce(*mut T) -> fmi3Status) -> Result<Vec<T>, Status> {
    let mut values = vec![empty; count];
    let called = call(values.as_mut_ptr());
    outcome(called, values)
}

/// Passes a message to the host.
unsafe extern "C" fn log(
    environment: fmi3InstanceEnvironment,
    of: fmi3Status,
    category: fmi3String,
    message: fmi3String,
) {
    // SAFETY: the environment is an instance's name; the library passes strings that end with a zero.
    let [name, category, message] = unsafe { [text(environment.cast()), text(category), text(message)] };
    callbacks::log_message(&name, status(of), &category, &message);
}

/// # Safety
/// The pointer is that of a string that ends with a zero.
unsafe fn text(of: *const c_char) -> String {
    // SAFETY: guaranteed by the caller.
    unsafe { CStr::from_ptr(of) }.to_string_lossy().into_owned()
}

impl Instance {
    /// Makes an instance of the model in this component: `make` calls the C function with the name,
    /// the token, the location of resources, the environment and the logger.
    pub fn new(
        name: &str,
        token: &str,
        make: impl FnOnce(
            fmi3String,
            fmi3String,
            fmi3String,
            fmi3InstanceEnvironment,
            Option<fmi3LogMessageCallback>,
        ) -> fmi3Instance,
    ) -> Option<Self> {
        model::provide();
        let (name, token) = (CString::new(name).ok()?, CString::new(token).ok()?);
        let environment = name.as_ptr().cast_mut().cast();
        let raw = make(name.as_ptr(), token.as_ptr(), c"/".as_ptr(), environment, Some(log));
        (!raw.is_null()).then_some(Self { raw, name })
    }

    /// Passes an error to the host.
    pub fn log(&self, message: &str) {
        callbacks::log_message(&self.name.to_string_lossy(), Status::Error, "logStatusError", message);
    }

    pub fn set_debug_logging(&self, logging_on: bool, categories: Vec<String>) -> Status {
        let names: Option<Vec<CString>> = categories.into_iter().map(|name| CString::new(name).ok()).collect();
        let Some(names) = names else {
            return Status::Error;
        };
        let places: Vec<fmi3String> = names.iter().map(|name| name.as_ptr()).collect();
        // SAFETY: the handle is valid, and the strings live until the call returns.
        status(unsafe { fmi3SetDebugLogging(self.raw, u8::from(logging_on), places.len(), places.as_ptr()) })
    }

    pub fn update_discrete_states(&self) -> Result<DiscreteStatesInfo, Status> {
        let [mut again, mut end, mut nominals, mut states, mut defined] = [fmi3False; 5];
        let mut next = 0.0;
        // SAFETY: the handle is valid, and the places live until the call returns.
        let called = unsafe {
            fmi3UpdateDiscreteStates(
                self.raw,
                &mut again,
                &mut end,
                &mut nominals,
                &mut states,
                &mut defined,
                &mut next,
            )
        };
        let info = DiscreteStatesInfo {
            new_discrete_states_needed: again != fmi3False,
            terminate_simulation: end != fmi3False,
            nominals_of_continuous_states_changed: nominals != fmi3False,
            values_of_continuous_states_changed: states != fmi3False,
            next_event_time_defined: defined != fmi3False,
            next_event_time: next,
        };
        outcome(called, info)
    }

    /// Returns the number of continuous states.
    ///
    /// # Errors
    /// The status of the call.
    pub fn state_count(&self) -> Result<usize, Status> {
        let mut count = 0;
        // SAFETY: the handle is valid.
        let called = unsafe { fmi3GetNumberOfContinuousStates(self.raw, &mut count) };
        outcome(called, count)
    }

    /// Returns the number of event indicators.
    ///
    /// # Errors
    /// The status of the call.
    pub fn indicator_count(&self) -> Result<usize, Status> {
        let mut count = 0;
        // SAFETY: the handle is valid.
        let called = unsafe { fmi3GetNumberOfEventIndicators(self.raw, &mut count) };
        outcome(called, count)
    }

    /// Returns the `count` results of `function`, a kind of partial derivatives, for unknowns and
    /// knowns, with a seed.
    ///
    /// # Errors
    /// The status of the call.
    pub fn sensitivity(
        &self,
        function: Derivative,
        [unknowns, knowns]: [&[u32]; 2],
        seed: &[f64],
        count: usize,
    ) -> Result<Vec<f64>, Status> {
        let ([of, along], [m, n]) = ([unknowns, knowns].map(<[u32]>::as_ptr), [unknowns.len(), knowns.len()]);
        // SAFETY: the handle is valid, and the arrays live until the call returns.
        filled(0.0, count, |values| unsafe {
            function(self.raw, of, m, along, n, seed.as_ptr(), seed.len(), values, count)
        })
    }

    /// Returns the serialised state.
    ///
    /// # Errors
    /// The status of the first call that fails.
    pub fn saved(&self) -> Result<Vec<u8>, Status> {
        let (mut state, mut size) = (null_mut(), 0);
        // SAFETY: the handle is valid, and so is the state once it is made.
        unsafe {
            outcome(fmi3GetFMUState(self.raw, &mut state), ())?;
            let bytes = outcome(fmi3SerializedFMUStateSize(self.raw, state, &mut size), ())
                .and_then(|()| filled(0, size, |bytes| fmi3SerializeFMUState(self.raw, state, bytes, size)));
            fmi3FreeFMUState(self.raw, &mut state);
            bytes
        }
    }

    /// Restores a serialised state.
    pub fn restore(&self, bytes: &[u8]) -> Status {
        let mut state = null_mut();
        // SAFETY: the handle is valid, and so is the state once it is made.
        unsafe {
            let read = fmi3DeserializeFMUState(self.raw, bytes.as_ptr(), bytes.len(), &mut state);
            if read != fmi3Status::OK {
                return status(read);
            }
            let restored = fmi3SetFMUState(self.raw, state);
            fmi3FreeFMUState(self.raw, &mut state);
            status(restored)
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: the handle is valid, and not used again.
        unsafe { fmi3FreeInstance(self.raw) }
    }
}
