//! The C types of FMI 2.0.4 (`fmi2TypesPlatform.h`, `fmi2FunctionTypes.h`), transcribed by hand.
//!
//! Names are those of the headers. The types serve the functions that this crate exports and
//! programs that load an FMU and resolve its functions. Enumerations are wrapped integers, since
//! any number may be passed.

#![allow(non_camel_case_types)]

use super::status::Status;
use std::ffi::{c_char, c_int, c_uint, c_void};

/// An instance of an FMU (§2.1.2).
pub type fmi2Component = *mut c_void;
/// Opaque pointer that the importer receives in its callbacks (§2.1.5).
pub type fmi2ComponentEnvironment = *mut c_void;
/// A saved state of an instance (§2.1.8).
pub type fmi2FMUstate = *mut c_void;
/// Handle of a variable (§2.1.2).
pub type fmi2ValueReference = c_uint;
/// A real number (§2.1.2).
pub type fmi2Real = f64;
/// An integer (§2.1.2).
pub type fmi2Integer = c_int;
/// [`fmi2True`] or [`fmi2False`] (§2.1.2).
pub type fmi2Boolean = c_int;
/// A UTF-8 string that ends with a zero (§2.1.2).
pub type fmi2String = *const c_char;
/// A byte of a serialised state (§2.1.2).
pub type fmi2Byte = c_char;

/// True.
#[allow(non_upper_case_globals)]
pub const fmi2True: fmi2Boolean = 1;
/// False.
#[allow(non_upper_case_globals)]
pub const fmi2False: fmi2Boolean = 0;

/// Status of a call, in rising order of severity except for [`PENDING`](Self::PENDING) (§2.1.3).
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct fmi2Status(pub c_int);

impl fmi2Status {
    /// Success.
    pub const OK: Self = Self(0);
    /// The computation can continue, with reservations. This FMU never returns it.
    pub const WARNING: Self = Self(1);
    /// A smaller step could succeed, or the requested information does not exist.
    pub const DISCARD: Self = Self(2);
    /// The call had no effect.
    pub const ERROR: Self = Self(3);
    /// The instance is lost.
    pub const FATAL: Self = Self(4);
    /// The step continues in the background. This FMU never returns it.
    pub const PENDING: Self = Self(5);
}

impl From<Status> for fmi2Status {
    fn from(status: Status) -> Self {
        match status {
            Status::Ok => Self::OK,
            Status::Discard => Self::DISCARD,
            Status::Error => Self::ERROR,
            Status::Fatal => Self::FATAL,
        }
    }
}

/// Interface of an instance (§2.1.5).
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct fmi2Type(pub c_int);

impl fmi2Type {
    /// The importer integrates.
    pub const MODEL_EXCHANGE: Self = Self(0);
    /// The FMU integrates.
    pub const CO_SIMULATION: Self = Self(1);
}

/// Status of a step that a Co-Simulation master may request (§4.2.3).
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct fmi2StatusKind(pub c_int);

impl fmi2StatusKind {
    /// Result of an asynchronous step: a status.
    pub const DO_STEP_STATUS: Self = Self(0);
    /// State of an asynchronous step: a string.
    pub const PENDING_STATUS: Self = Self(1);
    /// The time reached, s: a real.
    pub const LAST_SUCCESSFUL_TIME: Self = Self(2);
    /// Request of the FMU to end the simulation: a Boolean.
    pub const TERMINATED: Self = Self(3);
}

/// Logs a message (§2.1.5). Variadic as in the header: the message is a format of `printf`.
#[cfg(not(miri))]
pub type fmi2CallbackLogger =
    unsafe extern "C" fn(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
/// Non-variadic type for Miri, which rejects a call through another type; stable Rust cannot define
/// a variadic function.
#[cfg(miri)]
pub type fmi2CallbackLogger =
    unsafe extern "C" fn(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String);
/// Allocates zeroed memory (§2.1.5). This FMU never calls it.
pub type fmi2CallbackAllocateMemory = unsafe extern "C" fn(usize, usize) -> *mut c_void;
/// Frees such memory (§2.1.5). This FMU never calls it.
pub type fmi2CallbackFreeMemory = unsafe extern "C" fn(*mut c_void);
/// Reports that an asynchronous step is done (§2.1.5). This FMU never calls it.
pub type fmi2StepFinished = unsafe extern "C" fn(fmi2ComponentEnvironment, fmi2Status);

/// Callbacks of the importer (§2.1.5). A null function is `None`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, non_snake_case)] // the header's fields
pub struct fmi2CallbackFunctions {
    pub logger: Option<fmi2CallbackLogger>,
    pub allocateMemory: Option<fmi2CallbackAllocateMemory>,
    pub freeMemory: Option<fmi2CallbackFreeMemory>,
    pub stepFinished: Option<fmi2StepFinished>,
    pub componentEnvironment: fmi2ComponentEnvironment,
}

/// Result of an event (§3.2.2).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs, non_snake_case)] // the header's fields
pub struct fmi2EventInfo {
    pub newDiscreteStatesNeeded: fmi2Boolean,
    pub terminateSimulation: fmi2Boolean,
    pub nominalsOfContinuousStatesChanged: fmi2Boolean,
    pub valuesOfContinuousStatesChanged: fmi2Boolean,
    pub nextEventTimeDefined: fmi2Boolean,
    pub nextEventTime: fmi2Real,
}

/// Types of the 44 functions, for a program that resolves them in a library.
pub mod function {
    #![allow(missing_docs)] // each is the type of the function of that name

    use super::*;

    pub type fmi2GetTypesPlatformTYPE = unsafe extern "C" fn() -> fmi2String;
    pub type fmi2GetVersionTYPE = unsafe extern "C" fn() -> fmi2String;
    pub type fmi2SetDebugLoggingTYPE =
        unsafe extern "C" fn(fmi2Component, fmi2Boolean, usize, *const fmi2String) -> fmi2Status;
    pub type fmi2InstantiateTYPE = unsafe extern "C" fn(
        fmi2String,
        fmi2Type,
        fmi2String,
        fmi2String,
        *const fmi2CallbackFunctions,
        fmi2Boolean,
        fmi2Boolean,
    ) -> fmi2Component;
    pub type fmi2FreeInstanceTYPE = unsafe extern "C" fn(fmi2Component);
    pub type fmi2SetupExperimentTYPE =
        unsafe extern "C" fn(fmi2Component, fmi2Boolean, fmi2Real, fmi2Real, fmi2Boolean, fmi2Real) -> fmi2Status;
    /// Functions that take the instance alone: enter and exit modes, terminate, reset, cancel.
    pub type fmi2PlainTYPE = unsafe extern "C" fn(fmi2Component) -> fmi2Status;

    /// Getters of a type `T`.
    pub type Get<T> = unsafe extern "C" fn(fmi2Component, *const fmi2ValueReference, usize, *mut T) -> fmi2Status;
    /// Setters of a type `T`.
    pub type Set<T> = unsafe extern "C" fn(fmi2Component, *const fmi2ValueReference, usize, *const T) -> fmi2Status;
    pub type fmi2GetRealTYPE = Get<fmi2Real>;
    pub type fmi2GetIntegerTYPE = Get<fmi2Integer>;
    pub type fmi2GetBooleanTYPE = Get<fmi2Boolean>;
    pub type fmi2GetStringTYPE = Get<fmi2String>;
    pub type fmi2SetRealTYPE = Set<fmi2Real>;
    pub type fmi2SetIntegerTYPE = Set<fmi2Integer>;
    pub type fmi2SetBooleanTYPE = Set<fmi2Boolean>;
    pub type fmi2SetStringTYPE = Set<fmi2String>;

    pub type fmi2GetFMUstateTYPE = unsafe extern "C" fn(fmi2Component, *mut fmi2FMUstate) -> fmi2Status;
    pub type fmi2SetFMUstateTYPE = unsafe extern "C" fn(fmi2Component, fmi2FMUstate) -> fmi2Status;
    pub type fmi2FreeFMUstateTYPE = fmi2GetFMUstateTYPE;
    pub type fmi2SerializedFMUstateSizeTYPE =
        unsafe extern "C" fn(fmi2Component, fmi2FMUstate, *mut usize) -> fmi2Status;
    pub type fmi2SerializeFMUstateTYPE =
        unsafe extern "C" fn(fmi2Component, fmi2FMUstate, *mut fmi2Byte, usize) -> fmi2Status;
    pub type fmi2DeSerializeFMUstateTYPE =
        unsafe extern "C" fn(fmi2Component, *const fmi2Byte, usize, *mut fmi2FMUstate) -> fmi2Status;
    pub type fmi2GetDirectionalDerivativeTYPE = unsafe extern "C" fn(
        fmi2Component,
        *const fmi2ValueReference,
        usize,
        *const fmi2ValueReference,
        usize,
        *const fmi2Real,
        *mut fmi2Real,
    ) -> fmi2Status;

    pub type fmi2NewDiscreteStatesTYPE = unsafe extern "C" fn(fmi2Component, *mut fmi2EventInfo) -> fmi2Status;
    pub type fmi2CompletedIntegratorStepTYPE =
        unsafe extern "C" fn(fmi2Component, fmi2Boolean, *mut fmi2Boolean, *mut fmi2Boolean) -> fmi2Status;
    pub type fmi2SetTimeTYPE = unsafe extern "C" fn(fmi2Component, fmi2Real) -> fmi2Status;
    pub type fmi2SetContinuousStatesTYPE = unsafe extern "C" fn(fmi2Component, *const fmi2Real, usize) -> fmi2Status;
    /// Derivatives, event indicators, continuous states and their nominals.
    pub type fmi2GetVectorTYPE = unsafe extern "C" fn(fmi2Component, *mut fmi2Real, usize) -> fmi2Status;

    pub type fmi2SetRealInputDerivativesTYPE = unsafe extern "C" fn(
        fmi2Component,
        *const fmi2ValueReference,
        usize,
        *const fmi2Integer,
        *const fmi2Real,
    ) -> fmi2Status;
    pub type fmi2GetRealOutputDerivativesTYPE = unsafe extern "C" fn(
        fmi2Component,
        *const fmi2ValueReference,
        usize,
        *const fmi2Integer,
        *mut fmi2Real,
    ) -> fmi2Status;
    pub type fmi2DoStepTYPE = unsafe extern "C" fn(fmi2Component, fmi2Real, fmi2Real, fmi2Boolean) -> fmi2Status;
    /// `fmi2GetStatus`, `fmi2GetRealStatus` and so on, for a type `T`.
    pub type GetStatus<T> = unsafe extern "C" fn(fmi2Component, fmi2StatusKind, *mut T) -> fmi2Status;
}
