//! Calls of FMI 3.0.

use super::{Log, Made, Outcome, functions};
use grapple::fmu::fmi3::{
    fmi3Boolean, fmi3False, fmi3Float64, fmi3Instance, fmi3InstanceEnvironment, fmi3IntermediateUpdateCallback,
    fmi3LogMessageCallback, fmi3Status, fmi3String, fmi3True, fmi3ValueReference,
};
use std::ptr::null;

/// Type of `fmi3InstantiateCoSimulation`.
type Instantiate = unsafe extern "C" fn(
    fmi3String,
    fmi3String,
    fmi3String,
    fmi3Boolean,
    fmi3Boolean,
    fmi3Boolean,
    fmi3Boolean,
    *const fmi3ValueReference,
    usize,
    fmi3InstanceEnvironment,
    Option<fmi3LogMessageCallback>,
    Option<fmi3IntermediateUpdateCallback>,
) -> fmi3Instance;
type Free = unsafe extern "C" fn(fmi3Instance);
type SetDebugLogging = unsafe extern "C" fn(fmi3Instance, fmi3Boolean, usize, *const fmi3String) -> fmi3Status;
type EnterInitialization =
    unsafe extern "C" fn(fmi3Instance, fmi3Boolean, fmi3Float64, fmi3Float64, fmi3Boolean, fmi3Float64) -> fmi3Status;
/// Type of functions that take the instance alone.
type Plain = unsafe extern "C" fn(fmi3Instance) -> fmi3Status;
/// Getters of a type `T`.
type Get<T> = unsafe extern "C" fn(fmi3Instance, *const fmi3ValueReference, usize, *mut T, usize) -> fmi3Status;
/// Setters of a type `T`.
type Set<T> = unsafe extern "C" fn(fmi3Instance, *const fmi3ValueReference, usize, *const T, usize) -> fmi3Status;
type DoStep = unsafe extern "C" fn(
    fmi3Instance,
    fmi3Float64,
    fmi3Float64,
    fmi3Boolean,
    *mut fmi3Boolean,
    *mut fmi3Boolean,
    *mut fmi3Boolean,
    *mut fmi3Float64,
) -> fmi3Status;

functions! {
    fmi3InstantiateCoSimulation: Instantiate,
    fmi3FreeInstance: Free,
    fmi3SetDebugLogging: SetDebugLogging,
    fmi3EnterInitializationMode: EnterInitialization,
    fmi3ExitInitializationMode: Plain,
    fmi3Terminate: Plain,
    fmi3GetFloat64: Get<fmi3Float64>,
    fmi3GetBoolean: Get<fmi3Boolean>,
    fmi3SetFloat64: Set<fmi3Float64>,
    fmi3DoStep: DoStep,
}

/// An instance, without Event Mode and early return. Its slices of references and values have equal
/// lengths.
pub struct Slave<'l> {
    functions: &'l Functions,
    instance: fmi3Instance,
    /// Start time and stop time, s, and relative tolerance, for the initialisation.
    experiment: [f64; 3],
}

impl Functions {
    /// Creates an instance that writes to `log`, which must outlive it; none if the FMU refuses.
    /// Logging is on, since nothing is logged otherwise, failures included.
    pub fn instantiate(&self, made: &Made, log: &Log) -> Option<Slave<'_>> {
        // SAFETY: all pointers are to live, terminated strings; there are no intermediate variables.
        let instance = unsafe {
            (self.fmi3InstantiateCoSimulation)(
                made.name.as_ptr(),
                made.token.as_ptr(),
                made.resources.as_ptr(),
                fmi3False,
                fmi3True,
                fmi3False,
                fmi3False,
                null(),
                0,
                std::ptr::from_ref::<Log>(log).cast_mut().cast(),
                Some(write_log),
                None,
            )
        };
        (!instance.is_null()).then_some(Slave {
            functions: self,
            instance,
            experiment: [0.0, 0.0, 0.0],
        })
    }
}

impl Slave<'_> {
    pub fn listen(&self, categories: &[fmi3String]) -> Outcome {
        let set = |on: fmi3Boolean, categories: &[fmi3String]| {
            // SAFETY: the strings are live and end with a zero.
            let status = unsafe {
                (self.functions.fmi3SetDebugLogging)(self.instance, on, categories.len(), categories.as_ptr())
            };
            outcome("fmi3SetDebugLogging", status)
        };
        match set(fmi3False, &[]) {
            Outcome(_, None) => set(fmi3True, categories),
            failed => failed,
        }
    }

    /// Keeps the experiment for the initialisation.
    pub fn set_up(&mut self, start: f64, stop: f64, tolerance: f64) {
        self.experiment = [start, stop, tolerance];
    }

    pub fn enter_initialization(&self) -> Outcome {
        let [start, stop, tolerance] = self.experiment;
        let enter = self.functions.fmi3EnterInitializationMode;
        // SAFETY: the instance lives.
        let status = unsafe { enter(self.instance, fmi3True, tolerance, start, fmi3True, stop) };
        outcome("fmi3EnterInitializationMode", status)
    }

    pub fn exit_initialization(&self) -> Outcome {
        // SAFETY: the instance lives.
        let status = unsafe { (self.functions.fmi3ExitInitializationMode)(self.instance) };
        outcome("fmi3ExitInitializationMode", status)
    }

    pub fn terminate(&self) -> Outcome {
        // SAFETY: the instance lives.
        let status = unsafe { (self.functions.fmi3Terminate)(self.instance) };
        outcome("fmi3Terminate", status)
    }

    pub fn set_reals(&self, references: &[u32], values: &[f64]) -> Outcome {
        let n = references.len();
        let set = self.functions.fmi3SetFloat64;
        // SAFETY: both slices have n elements.
        let status = unsafe { set(self.instance, references.as_ptr(), n, values.as_ptr(), values.len()) };
        outcome("fmi3SetFloat64", status)
    }

    pub fn step(&self, t: f64, h: f64) -> Outcome {
        let [mut needs_event, mut terminates, mut is_early] = [fmi3False; 3];
        let mut reached = t;
        // SAFETY: the instance lives; the four places are writable.
        let status = unsafe {
            (self.functions.fmi3DoStep)(
                self.instance,
                t,
                h,
                fmi3True,
                &raw mut needs_event,
                &raw mut terminates,
                &raw mut is_early,
                &raw mut reached,
            )
        };
        match outcome("fmi3DoStep", status) {
            Outcome(function, None) if terminates != fmi3False => {
                Outcome(function, Some("terminateSimulation is true: the FMU ends the run"))
            }
            Outcome(function, None) if is_early != fmi3False => {
                Outcome(function, Some("earlyReturn is true, which was not allowed"))
            }
            outcome => outcome,
        }
    }

    pub fn reals(&self, references: &[u32], values: &mut [f64]) -> Outcome {
        let n = references.len();
        let get = self.functions.fmi3GetFloat64;
        // SAFETY: the buffer has one value for each reference.
        let status = unsafe { get(self.instance, references.as_ptr(), n, values.as_mut_ptr(), values.len()) };
        outcome("fmi3GetFloat64", status)
    }

    pub fn booleans(&self, references: &[u32], values: &mut [bool]) -> Outcome {
        let mut read: Vec<fmi3Boolean> = vec![fmi3False; references.len()];
        let get = self.functions.fmi3GetBoolean;
        // SAFETY: the buffer has one value for each reference.
        let status = unsafe {
            get(
                self.instance,
                references.as_ptr(),
                read.len(),
                read.as_mut_ptr(),
                read.len(),
            )
        };
        for (value, read) in values.iter_mut().zip(read) {
            *value = read != fmi3False;
        }
        outcome("fmi3GetBoolean", status)
    }
}

impl Drop for Slave<'_> {
    fn drop(&mut self) {
        // SAFETY: the instance lives and is not used after this.
        unsafe { (self.functions.fmi3FreeInstance)(self.instance) };
    }
}

fn outcome(function: &'static str, status: fmi3Status) -> Outcome {
    Outcome(
        function,
        match status {
            fmi3Status::OK | fmi3Status::WARNING => None,
            fmi3Status::DISCARD => Some("fmi3Discard"),
            fmi3Status::ERROR => Some("fmi3Error"),
            fmi3Status::FATAL => Some("fmi3Fatal"),
            _ => Some("an unknown status"),
        },
    )
}

unsafe extern "C" fn write_log(
    environment: fmi3InstanceEnvironment,
    status: fmi3Status,
    category: fmi3String,
    message: fmi3String,
) {
    // SAFETY: the environment is the log of the calling instance.
    if let Some(log) = unsafe { environment.cast::<Log>().as_ref() } {
        let is_failure = !matches!(status, fmi3Status::OK | fmi3Status::WARNING);
        // In FMI "##" stands for "#".
        super::record(log, is_failure, category, |text| text.replace("##", "#"), message);
    }
}
