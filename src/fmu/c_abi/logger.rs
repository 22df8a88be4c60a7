//! The importer's logger and the messages for it.

use crate::fmu::fmi2::{fmi2CallbackFunctions, fmi2CallbackLogger, fmi2ComponentEnvironment, fmi2Status, fmi2String};
use crate::fmu::log::{Category, Message, c_text};
use std::ffi::CString;

/// Callback and environment of the importer's logger.
pub(super) struct Logger {
    function: Option<fmi2CallbackLogger>,
    environment: fmi2ComponentEnvironment,
    instance: CString,
}

impl Logger {
    pub(super) fn new(callbacks: Option<&fmi2CallbackFunctions>, instance: CString) -> Self {
        Self {
            function: callbacks.and_then(|c| c.logger),
            environment: callbacks.map_or(std::ptr::null_mut(), |c| c.componentEnvironment),
            instance,
        }
    }

    /// Passes a message to the importer's logger, if there is one, as one complete string.
    pub(super) fn send(&self, message: &Message) {
        let Some(function) = self.function else {
            return;
        };
        let category = CString::new(message.category.name()).unwrap_or_default();
        let text = c_text(&message.text);
        // SAFETY: the importer's function has the standard's type, and the strings live until it
        // returns. The text is a format without conversions, so no variadic argument is read.
        unsafe {
            function(
                self.environment,
                self.instance.as_ptr(),
                message.status,
                category.as_ptr(),
                text.as_ptr(),
            );
        }
    }
}

/// Returns the message for a failure of `fmi2Instantiate`.
pub(super) fn failure(what: String) -> Message {
    Message {
        status: fmi2Status::ERROR,
        category: Category::Error,
        text: format!("fmi2Instantiate: {what}"),
    }
}

/// Logs, without allocating memory, that there is not enough memory for an instance.
///
/// # Safety
/// `instance` is null or points to a string that ends with a zero.
pub(super) unsafe fn out_of_memory(callbacks: Option<&fmi2CallbackFunctions>, instance: fmi2String) {
    let Some((function, callbacks)) = callbacks.and_then(|c| Some((c.logger?, c))) else {
        return;
    };
    let instance = if instance.is_null() { c"".as_ptr() } else { instance };
    // SAFETY: the importer's function has the standard's type, and the strings live until it
    // returns. The text is a format without conversions, so no variadic argument is read.
    unsafe {
        function(
            callbacks.componentEnvironment,
            instance,
            fmi2Status::ERROR,
            c"logStatusError".as_ptr(),
            c"fmi2Instantiate: there is not enough memory for an instance".as_ptr(),
        );
    }
}
