//! Calls of FMI 2.0.

use super::{Log, Made, Outcome, functions};
use grapple::fmu::c_abi::as_logger;
use grapple::fmu::fmi2::function::{
    fmi2DoStepTYPE, fmi2FreeInstanceTYPE, fmi2GetBooleanTYPE, fmi2GetRealTYPE, fmi2InstantiateTYPE, fmi2PlainTYPE,
    fmi2SetDebugLoggingTYPE, fmi2SetRealInputDerivativesTYPE, fmi2SetRealTYPE, fmi2SetupExperimentTYPE,
};
use grapple::fmu::fmi2::{
    fmi2Boolean, fmi2CallbackFunctions, fmi2Component, fmi2ComponentEnvironment, fmi2False, fmi2Status, fmi2String,
    fmi2True, fmi2Type,
};

functions! {
    fmi2Instantiate: fmi2InstantiateTYPE,
    fmi2FreeInstance: fmi2FreeInstanceTYPE,
    fmi2SetDebugLogging: fmi2SetDebugLoggingTYPE,
    fmi2SetupExperiment: fmi2SetupExperimentTYPE,
    fmi2EnterInitializationMode: fmi2PlainTYPE,
    fmi2ExitInitializationMode: fmi2PlainTYPE,
    fmi2Terminate: fmi2PlainTYPE,
    fmi2Reset: fmi2PlainTYPE,
    fmi2GetReal: fmi2GetRealTYPE,
    fmi2GetBoolean: fmi2GetBooleanTYPE,
    fmi2SetReal: fmi2SetRealTYPE,
    fmi2SetRealInputDerivatives: fmi2SetRealInputDerivativesTYPE,
    fmi2DoStep: fmi2DoStepTYPE,
}

/// An instance. Its slices of references and values have equal lengths.
pub struct Slave<'l> {
    functions: &'l Functions,
    pub(super) component: fmi2Component,
    /// Boxed, since the instance keeps a pointer to them.
    _callbacks: Box<fmi2CallbackFunctions>,
}

impl Functions {
    /// Creates an instance that writes to `log`, which must outlive it; none if the FMU refuses.
    pub fn instantiate(&self, made: &Made, log: &Log) -> Option<Slave<'_>> {
        self.instantiate_as(fmi2Type::CO_SIMULATION, made, log)
    }

    pub(super) fn instantiate_as(&self, interface: fmi2Type, made: &Made, log: &Log) -> Option<Slave<'_>> {
        let callbacks = Box::new(fmi2CallbackFunctions {
            logger: Some(as_logger(write_log)),
            allocateMemory: None,
            freeMemory: None,
            stepFinished: None,
            componentEnvironment: std::ptr::from_ref::<Log>(log).cast_mut().cast(),
        });
        // SAFETY: all pointers are to live, terminated strings; the callbacks are kept with the
        // instance.
        let component = unsafe {
            (self.fmi2Instantiate)(
                made.name.as_ptr(),
                interface,
                made.token.as_ptr(),
                made.resources.as_ptr(),
                &raw const *callbacks,
                fmi2False,
                // Failures are logged in any case; other messages as `listen` selects.
                fmi2False,
            )
        };
        (!component.is_null()).then_some(Slave {
            functions: self,
            component,
            _callbacks: callbacks,
        })
    }
}

impl Slave<'_> {
    pub fn listen(&self, categories: &[fmi2String]) -> Outcome {
        // SAFETY: the strings are live and end with a zero.
        let status = unsafe {
            (self.functions.fmi2SetDebugLogging)(self.component, fmi2True, categories.len(), categories.as_ptr())
        };
        outcome("fmi2SetDebugLogging", status)
    }

    pub fn set_up(&self, start: f64, stop: f64, tolerance: f64) -> Outcome {
        // SAFETY: the instance lives; no pointers.
        let status =
            unsafe { (self.functions.fmi2SetupExperiment)(self.component, fmi2True, tolerance, start, fmi2True, stop) };
        outcome("fmi2SetupExperiment", status)
    }

    pub fn enter_initialization(&self) -> Outcome {
        // SAFETY: the instance lives.
        let status = unsafe { (self.functions.fmi2EnterInitializationMode)(self.component) };
        outcome("fmi2EnterInitializationMode", status)
    }

    pub fn exit_initialization(&self) -> Outcome {
        // SAFETY: the instance lives.
        let status = unsafe { (self.functions.fmi2ExitInitializationMode)(self.component) };
        outcome("fmi2ExitInitializationMode", status)
    }

    pub fn terminate(&self) -> Outcome {
        // SAFETY: the instance lives.
        let status = unsafe { (self.functions.fmi2Terminate)(self.component) };
        outcome("fmi2Terminate", status)
    }

    pub fn reset(&self) -> Outcome {
        // SAFETY: the instance lives.
        let status = unsafe { (self.functions.fmi2Reset)(self.component) };
        outcome("fmi2Reset", status)
    }

    pub fn set_reals(&self, references: &[u32], values: &[f64]) -> Outcome {
        let n = references.len();
        // SAFETY: both slices have n elements.
        let status = unsafe { (self.functions.fmi2SetReal)(self.component, references.as_ptr(), n, values.as_ptr()) };
        outcome("fmi2SetReal", status)
    }

    pub fn set_derivatives(&self, references: &[u32], order: i32, values: &[f64]) -> Outcome {
        let orders = vec![order; references.len()];
        // SAFETY: all three slices have the passed length.
        let status = unsafe {
            (self.functions.fmi2SetRealInputDerivatives)(
                self.component,
                references.as_ptr(),
                references.len(),
                orders.as_ptr(),
                values.as_ptr(),
            )
        };
        outcome("fmi2SetRealInputDerivatives", status)
    }

    pub fn step(&self, t: f64, h: f64) -> Outcome {
        // SAFETY: the instance lives.
        let status = unsafe { (self.functions.fmi2DoStep)(self.component, t, h, fmi2True) };
        outcome("fmi2DoStep", status)
    }

    pub fn reals(&self, references: &[u32], values: &mut [f64]) -> Outcome {
        // SAFETY: the buffer has one value for each reference.
        let status = unsafe {
            (self.functions.fmi2GetReal)(self.component, references.as_ptr(), values.len(), values.as_mut_ptr())
        };
        outcome("fmi2GetReal", status)
    }

    pub fn booleans(&self, references: &[u32], values: &mut [bool]) -> Outcome {
        let mut read: Vec<fmi2Boolean> = vec![0; references.len()];
        // SAFETY: the buffer has one value for each reference.
        let status = unsafe {
            (self.functions.fmi2GetBoolean)(self.component, references.as_ptr(), read.len(), read.as_mut_ptr())
        };
        for (value, read) in values.iter_mut().zip(read) {
            *value = read != fmi2False;
        }
        outcome("fmi2GetBoolean", status)
    }
}

impl Drop for Slave<'_> {
    fn drop(&mut self) {
        // SAFETY: the instance lives and is not used after this.
        unsafe { (self.functions.fmi2FreeInstance)(self.component) };
    }
}

pub(super) fn outcome(function: &'static str, status: fmi2Status) -> Outcome {
    Outcome(
        function,
        match status {
            fmi2Status::OK | fmi2Status::WARNING => None,
            fmi2Status::DISCARD => Some("fmi2Discard"),
            fmi2Status::ERROR => Some("fmi2Error"),
            fmi2Status::FATAL => Some("fmi2Fatal"),
            fmi2Status::PENDING => Some("fmi2Pending, which this program does not wait for"),
            _ => Some("an unknown status"),
        },
    )
}

unsafe extern "C" fn write_log(
    environment: fmi2ComponentEnvironment,
    _instance: fmi2String,
    status: fmi2Status,
    category: fmi2String,
    message: fmi2String,
) {
    // SAFETY: the environment is the log of the calling instance.
    if let Some(log) = unsafe { environment.cast::<Log>().as_ref() } {
        let is_failure = !matches!(status, fmi2Status::OK | fmi2Status::WARNING);
        // A format of printf, where "%%" stands for "%"; in FMI "##" stands for "#".
        let plain = |text: String| text.replace("%%", "%").replace("##", "#");
        super::record(log, is_failure, category, plain, message);
    }
}
