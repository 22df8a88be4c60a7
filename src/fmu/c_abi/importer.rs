//! A logger written in Rust, for programs that are importers.

use crate::fmu::fmi2::{fmi2CallbackLogger, fmi2ComponentEnvironment, fmi2Status, fmi2String};

/// A logger without variadic arguments: an FMU of this library passes one finished string.
pub type PlainLogger = unsafe extern "C" fn(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String);

/// Casts it to the variadic type of the header, which stable Rust can declare but not define.
pub fn as_logger(logger: PlainLogger) -> fmi2CallbackLogger {
    // SAFETY: FMI's logger takes more arguments after these. On every platform of FMI 2.0 the
    // caller cleans them up, and the named ones are passed as to a function without variadic
    // arguments.
    unsafe { std::mem::transmute::<PlainLogger, fmi2CallbackLogger>(logger) }
}
