//! The C types of FMI 3.0.2 (`fmi3PlatformTypes.h`, `fmi3FunctionTypes.h`), transcribed by hand.
//!
//! Names are those of the headers. Booleans are bytes, since any number may be passed; see also
//! [`fmi2`](super::fmi2).

#![allow(non_camel_case_types)]

use super::status::Status;
use std::ffi::{c_char, c_int, c_void};

/// An instance of an FMU (§2.2.3).
pub type fmi3Instance = *mut c_void;
/// Opaque pointer that the importer receives in its callbacks (§2.2.3).
pub type fmi3InstanceEnvironment = *mut c_void;
/// A saved state of an instance (§2.2.6.4).
pub type fmi3FMUState = *mut c_void;
/// Handle of a variable (§2.2.3).
pub type fmi3ValueReference = u32;
/// A number with single precision (§2.2.3).
pub type fmi3Float32 = f32;
/// A number with double precision (§2.2.3).
pub type fmi3Float64 = f64;
/// A signed integer of 8 bits (§2.2.3).
pub type fmi3Int8 = i8;
/// An unsigned integer of 8 bits (§2.2.3).
pub type fmi3UInt8 = u8;
/// A signed integer of 16 bits (§2.2.3).
pub type fmi3Int16 = i16;
/// An unsigned integer of 16 bits (§2.2.3).
pub type fmi3UInt16 = u16;
/// A signed integer of 32 bits (§2.2.3).
pub type fmi3Int32 = i32;
/// An unsigned integer of 32 bits (§2.2.3).
pub type fmi3UInt32 = u32;
/// A signed integer of 64 bits (§2.2.3).
pub type fmi3Int64 = i64;
/// An unsigned integer of 64 bits (§2.2.3).
pub type fmi3UInt64 = u64;
/// [`fmi3True`] or [`fmi3False`]; the header's `bool` (§2.2.3).
pub type fmi3Boolean = u8;
/// A UTF-8 string that ends with a zero (§2.2.3).
pub type fmi3String = *const c_char;
/// A byte of a serialised state (§2.2.3).
pub type fmi3Byte = u8;
/// Binary data (§2.2.3).
pub type fmi3Binary = *const fmi3Byte;
/// Activation of a clock; the header's `bool` (§2.2.3).
pub type fmi3Clock = u8;
/// Kind of a dependency, an enumeration (§2.2.10). This FMU never writes it.
pub type fmi3DependencyKind = c_int;
/// Qualifier of a clock's interval, an enumeration (§2.2.9). This FMU never writes it.
pub type fmi3IntervalQualifier = c_int;

/// True.
#[allow(non_upper_case_globals)]
pub const fmi3True: fmi3Boolean = 1;
/// False.
#[allow(non_upper_case_globals)]
pub const fmi3False: fmi3Boolean = 0;

/// Status of a call, in rising order of severity (§2.2.4).
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct fmi3Status(pub c_int);

impl fmi3Status {
    /// Success.
    pub const OK: Self = Self(0);
    /// The computation can continue, with reservations. This FMU never returns it.
    pub const WARNING: Self = Self(1);
    /// The call had no effect, and a smaller step could succeed.
    pub const DISCARD: Self = Self(2);
    /// The call had no effect.
    pub const ERROR: Self = Self(3);
    /// The instance is lost.
    pub const FATAL: Self = Self(4);
}

impl From<Status> for fmi3Status {
    fn from(status: Status) -> Self {
        match status {
            Status::Ok => Self::OK,
            Status::Discard => Self::DISCARD,
            Status::Error => Self::ERROR,
            Status::Fatal => Self::FATAL,
        }
    }
}

/// Logs a message (§2.3.1).
pub type fmi3LogMessageCallback = unsafe extern "C" fn(fmi3InstanceEnvironment, fmi3Status, fmi3String, fmi3String);
/// Exchanges values inside a step (§4.2.2).
pub type fmi3IntermediateUpdateCallback = unsafe extern "C" fn(
    fmi3InstanceEnvironment,
    fmi3Float64,
    fmi3Boolean,
    fmi3Boolean,
    fmi3Boolean,
    fmi3Boolean,
    *mut fmi3Boolean,
    *mut fmi3Float64,
);
/// Reports a clock's activation (§5.2.2). This FMU never calls it.
pub type fmi3ClockUpdateCallback = unsafe extern "C" fn(fmi3InstanceEnvironment);
/// Locks or unlocks preemption (§5.2.2). This FMU never calls it.
pub type fmi3PreemptionCallback = unsafe extern "C" fn();
