//! The importer's logger and the messages for it.

use crate::fmu::fmi2::{fmi2CallbackFunctions, fmi2CallbackLogger, fmi2Status};
use crate::fmu::fmi3::{fmi3LogMessageCallback, fmi3Status};
use crate::fmu::log::{Category, Message, c_text};
use crate::fmu::status::Status;
use std::ffi::{CStr, CString, c_char, c_void};

/// The importer's function that receives messages.
#[derive(Clone, Copy)]
pub(super) enum Callback {
    /// A variadic function: the message is a format of `printf`.
    Fmi2(fmi2CallbackLogger),
    /// A function that receives the text itself.
    Fmi3(fmi3LogMessageCallback),
}

/// Callback and environment of the importer's logger.
#[derive(Clone, Copy)]
pub(super) struct Importer {
    /// None if the importer has no logger.
    pub callback: Option<Callback>,
    pub environment: *mut c_void,
}

impl Importer {
    /// Returns the logger in the callbacks of FMI 2.0.
    pub(super) fn of_fmi2(callbacks: Option<&fmi2CallbackFunctions>) -> Self {
        Self {
            callback: callbacks.and_then(|c| c.logger).map(Callback::Fmi2),
            environment: callbacks.map_or(std::ptr::null_mut(), |c| c.componentEnvironment),
        }
    }

    /// Passes a message to the importer's logger, if there is one, without allocating memory. `text`
    /// has the form that [`c_text`] makes.
    ///
    /// # Safety
    /// `instance` points to a string that ends with a zero.
    unsafe fn send(&self, instance: *const c_char, status: Status, category: &CStr, text: &CStr) {
        let (category, text) = (category.as_ptr(), text.as_ptr());
        // SAFETY: the importer's function has the standard's type, and the strings live until it
        // returns. In FMI 2.0 the text is a format without conversions, so no variadic argument is
        // read.
        unsafe {
            match self.callback {
                None => {}
                Some(Callback::Fmi2(function)) => {
                    function(self.environment, instance, fmi2Status::from(status), category, text);
                }
                Some(Callback::Fmi3(function)) => function(self.environment, fmi3Status::from(status), category, text),
            }
        }
    }

    /// Logs, without allocating memory, that there is not enough memory for an instance.
    ///
    /// # Safety
    /// `instance` is null or points to a string that ends with a zero.
    pub(super) unsafe fn out_of_memory(&self, instance: *const c_char, text: &CStr) {
        let instance = if instance.is_null() { c"".as_ptr() } else { instance };
        // SAFETY: guaranteed by the caller.
        unsafe { self.send(instance, Status::Error, c"logStatusError", text) };
    }
}

/// The logger of an instance.
pub(super) struct Logger {
    importer: Importer,
    instance: CString,
}

impl Logger {
    pub(super) fn new(importer: Importer, instance: CString) -> Self {
        Self { importer, instance }
    }

    /// Passes a message to the importer's logger, if there is one, as one complete string.
    pub(super) fn send(&self, message: &Message) {
        let Some(callback) = self.importer.callback else {
            return;
        };
        let category = CString::new(message.category.name()).unwrap_or_default();
        let text = c_text(&message.text, matches!(callback, Callback::Fmi2(_)));
        // SAFETY: the instance's name lives until the call returns.
        unsafe {
            self.importer
                .send(self.instance.as_ptr(), message.status, &category, &text);
        }
    }
}

/// Returns the message for a failure of the function `name` that instantiates.
pub(super) fn failure(name: &str, what: &str) -> Message {
    Message {
        status: Status::Error,
        category: Category::Error,
        text: format!("{name}: {what}"),
    }
}
