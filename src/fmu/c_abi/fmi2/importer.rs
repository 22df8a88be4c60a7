//! Loggers written in Rust, for importers that are Rust programs.

use crate::fmu::fmi2::{fmi2CallbackLogger, fmi2ComponentEnvironment, fmi2Status, fmi2String};

/// A logger without variadic arguments: an FMU of this library passes one finished string.
pub type PlainLogger = unsafe extern "C" fn(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String);

/// Casts a logger to the header's variadic type, which stable Rust can declare but not define.
pub fn as_logger(logger: PlainLogger) -> fmi2CallbackLogger {
    // SAFETY: FMI's logger takes variadic arguments after the five named ones. On every platform
    // of FMI 2.0 the caller removes them from the stack, and the named ones are passed as to a
    // function without variadic arguments.
    unsafe { std::mem::transmute::<PlainLogger, fmi2CallbackLogger>(logger) }
}
