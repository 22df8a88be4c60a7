//! For programs that are hosts: a logger written in Rust.

use crate::fmu::fmi2::{fmi2CallbackLogger, fmi2ComponentEnvironment, fmi2Status, fmi2String};

/// A logger without the variable arguments: what an FMU of ours says is one finished string.
pub type PlainLogger = unsafe extern "C" fn(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String);

/// The same function as the header has it, which stable Rust can declare but not define.
pub fn as_logger(logger: PlainLogger) -> fmi2CallbackLogger {
    // SAFETY: FMI's logger takes more arguments after these. On every platform of FMI 2.0 the caller cleans them
    // up, and the named ones are passed where a function without variable arguments looks for them.
    unsafe { std::mem::transmute::<PlainLogger, fmi2CallbackLogger>(logger) }
}
