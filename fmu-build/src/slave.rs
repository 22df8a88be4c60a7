//! Safe calls of a loaded Co-Simulation FMU. The only `unsafe` of this program is here.
//!
//! The module uses only functions of FMI: any FMU 2.0 with Co-Simulation for this platform can be
//! loaded.

#![allow(unsafe_code)]

use crate::error::{Context, Error, Result, invalid};
use crate::instance::{Instance, at_time};
use crate::platform::Platform;
use crate::{archive, binary, library};
use grapple::fmu::c_abi::as_logger;
use grapple::fmu::fmi2::function::{
    fmi2DoStepTYPE, fmi2FreeInstanceTYPE, fmi2GetBooleanTYPE, fmi2GetRealTYPE, fmi2InstantiateTYPE, fmi2PlainTYPE,
    fmi2SetDebugLoggingTYPE, fmi2SetRealInputDerivativesTYPE, fmi2SetRealTYPE, fmi2SetupExperimentTYPE,
};
use grapple::fmu::fmi2::{
    fmi2Boolean, fmi2CallbackFunctions, fmi2Component, fmi2ComponentEnvironment, fmi2False, fmi2Integer, fmi2Status,
    fmi2String, fmi2True, fmi2Type,
};
use libloading::Library;
use model_description::{FmiVersion, ModelDescription};
use std::ffi::{CStr, CString};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(test)]
mod tests;

/// Library of an unpacked FMU, loaded once for any number of instances and threads.
pub struct FmuLibrary {
    functions: Functions,
    instance: CString,
    guid: CString,
    resources: CString,
    /// The last field, so that it is dropped, and unloaded, after the pointers into it.
    _library: Library,
}

/// An instance of an FMU.
pub struct Slave<'l> {
    functions: &'l Functions,
    component: fmi2Component,
    /// The callbacks and the log are boxed, since the instance keeps pointers to both.
    _callbacks: Box<fmi2CallbackFunctions>,
    log: Box<Log>,
}

/// A message of the FMU's log.
pub struct Message {
    /// Set for the reason of a failed call.
    pub is_failure: bool,
    /// Log category.
    pub category: String,
    /// The text.
    pub text: String,
}

type Log = Mutex<Vec<Message>>;

/// Declares the exported functions that this program calls, and resolves them by name.
macro_rules! functions {
    ($($name:ident: $type:ty,)*) => {
        #[allow(non_snake_case)]
        struct Functions {
            $($name: $type,)*
        }

        impl Functions {
            fn of(library: &Library) -> Result<Self, libloading::Error> {
                Ok(Self {
                    // SAFETY: the types are those of the standard's header. The pointers are valid
                    // while the library is loaded, and `FmuLibrary` keeps it loaded.
                    $($name: unsafe { *library.get::<$type>(stringify!($name))? },)*
                })
            }
        }
    };
}

functions! {
    fmi2Instantiate: fmi2InstantiateTYPE,
    fmi2FreeInstance: fmi2FreeInstanceTYPE,
    fmi2SetDebugLogging: fmi2SetDebugLoggingTYPE,
    fmi2SetupExperiment: fmi2SetupExperimentTYPE,
    fmi2EnterInitializationMode: fmi2PlainTYPE,
    fmi2ExitInitializationMode: fmi2PlainTYPE,
    fmi2Terminate: fmi2PlainTYPE,
    fmi2GetReal: fmi2GetRealTYPE,
    fmi2GetBoolean: fmi2GetBooleanTYPE,
    fmi2SetReal: fmi2SetRealTYPE,
    fmi2SetRealInputDerivatives: fmi2SetRealInputDerivativesTYPE,
    fmi2DoStep: fmi2DoStepTYPE,
}

impl FmuLibrary {
    /// Loads the library of an unpacked FMU.
    ///
    /// # Errors
    /// An FMU without Co-Simulation, or without a library that runs here.
    pub fn new(folder: &Path, description: &ModelDescription) -> Result<Self> {
        if description.fmi_version != FmiVersion::V2_0 {
            return Err(invalid!(
                "it is an FMU of {}, and this program runs those of FMI 2.0 only; run the spec, or an FMU that was built \
                 without --fmi 3",
                description.fmi_version.name()
            ));
        }
        if description.co_simulation.is_none() {
            return Err(invalid!(
                "the FMU does not offer Co-Simulation, which this program needs to run it"
            ));
        }
        let file = library::file(folder, archive::identifier(description)?);
        let resources = file_uri(&folder.join("resources"))?;
        let here = Platform::here();
        let no_library = || format!("the FMU has no library that runs here ({here})");
        let bytes = std::fs::read(&file).context(no_library)?;
        binary::check_loadable(&bytes, here).context(no_library)?;
        // SAFETY: the user asked to run this FMU; its initialisers run as any library's do.
        let library = unsafe { Library::new(&file) }.context(no_library)?;
        let functions = Functions::of(&library).context(|| "the FMU's library lacks a function of FMI 2.0")?;
        Ok(Self {
            functions,
            instance: text(&description.model_name)?,
            guid: text(&description.guid)?,
            resources: text(&resources)?,
            _library: library,
        })
    }

    /// Creates an instance for Co-Simulation.
    ///
    /// # Errors
    /// The FMU's message, if instantiation fails.
    pub fn instantiate(&self) -> Result<Slave<'_>> {
        self.instantiate_as(fmi2Type::CO_SIMULATION)
    }

    fn instantiate_as(&self, interface: fmi2Type) -> Result<Slave<'_>> {
        let log = Box::new(Log::default());
        let callbacks = Box::new(fmi2CallbackFunctions {
            logger: Some(as_logger(write_log)),
            allocateMemory: None,
            freeMemory: None,
            stepFinished: None,
            componentEnvironment: std::ptr::from_ref::<Log>(&log).cast_mut().cast(),
        });
        // SAFETY: all pointers are to live, terminated strings; the callbacks are kept with the
        // instance.
        let component = unsafe {
            (self.functions.fmi2Instantiate)(
                self.instance.as_ptr(),
                interface,
                self.guid.as_ptr(),
                self.resources.as_ptr(),
                &raw const *callbacks,
                fmi2False,
                // Failures are logged in any case; other messages as `listen` selects.
                fmi2False,
            )
        };
        let slave = Slave {
            functions: &self.functions,
            component,
            _callbacks: callbacks,
            log,
        };
        if slave.component.is_null() {
            let reason = slave.reason();
            return Err(Error::Fmu(reason.unwrap_or_else(|| {
                "the FMU cannot be instantiated; it logged no reason".to_owned()
            })));
        }
        Ok(slave)
    }
}

impl Slave<'_> {
    /// Enables these categories of the log.
    pub fn listen(&mut self, categories: &[&str]) -> Result<()> {
        let categories: Vec<CString> = categories.iter().map(|c| text(c)).collect::<Result<_>>()?;
        let pointers: Vec<_> = categories.iter().map(|c| c.as_ptr()).collect();
        // SAFETY: `pointers` has the passed number of pointers to strings that `categories` owns.
        let status = unsafe {
            (self.functions.fmi2SetDebugLogging)(self.component, fmi2True, pointers.len(), pointers.as_ptr())
        };
        self.expect("fmi2SetDebugLogging", status)
    }

    /// Gets Booleans, as 0 and 1.
    pub fn booleans(&mut self, references: &[u32]) -> Result<Vec<f64>> {
        let mut values: Vec<fmi2Boolean> = vec![0; references.len()];
        // SAFETY: the buffer has one value for each reference.
        let status = unsafe {
            (self.functions.fmi2GetBoolean)(self.component, references.as_ptr(), values.len(), values.as_mut_ptr())
        };
        self.expect("fmi2GetBoolean", status)?;
        Ok(values
            .into_iter()
            .map(|value| f64::from(u8::from(value != 0)))
            .collect())
    }

    /// Ends the run.
    pub fn terminate(&mut self) -> Result<()> {
        // SAFETY: the instance lives.
        let status = unsafe { (self.functions.fmi2Terminate)(self.component) };
        self.expect("fmi2Terminate", status)
    }

    /// Takes the log messages since the last call of this function, except those about failed
    /// calls, which are in the errors.
    pub fn messages(&self) -> Vec<Message> {
        std::mem::take(&mut *self.log())
    }

    fn log(&self) -> MutexGuard<'_, Vec<Message>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn expect(&self, function: &str, status: fmi2Status) -> Result<()> {
        // Warnings are in the log.
        if matches!(status, fmi2Status::OK | fmi2Status::WARNING) {
            return Ok(());
        }
        let reason = self.reason();
        Err(Error::Fmu(
            reason.unwrap_or_else(|| format!("{function}: {}", name(status))),
        ))
    }

    /// Returns the FMU's message about the last failed call.
    fn reason(&self) -> Option<String> {
        let mut log = self.log();
        let (reasons, others): (Vec<_>, Vec<_>) = log.drain(..).partition(|message| message.is_failure);
        *log = others;
        let lines: Vec<String> = reasons.into_iter().map(|message| message.text).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

impl Instance for Slave<'_> {
    fn set_up(&mut self, start: f64, stop: f64, tolerance: f64) -> Result<()> {
        // SAFETY: the instance lives; no pointers.
        let status =
            unsafe { (self.functions.fmi2SetupExperiment)(self.component, fmi2True, tolerance, start, fmi2True, stop) };
        self.expect("fmi2SetupExperiment", status)
    }

    fn enter_initialization(&mut self) -> Result<()> {
        // SAFETY: the instance lives.
        let status = unsafe { (self.functions.fmi2EnterInitializationMode)(self.component) };
        self.expect("fmi2EnterInitializationMode", status)
    }

    fn exit_initialization(&mut self) -> Result<()> {
        // SAFETY: the instance lives.
        let status = unsafe { (self.functions.fmi2ExitInitializationMode)(self.component) };
        self.expect("fmi2ExitInitializationMode", status)
    }

    fn set_reals(&mut self, references: &[u32], values: &[f64]) -> Result<()> {
        let n = references.len().min(values.len());
        // SAFETY: both slices have at least n elements.
        let status = unsafe { (self.functions.fmi2SetReal)(self.component, references.as_ptr(), n, values.as_ptr()) };
        self.expect("fmi2SetReal", status)
    }

    fn set_derivatives(&mut self, references: &[u32], order: fmi2Integer, values: &[f64]) -> Result<()> {
        let n = references.len().min(values.len());
        let orders = vec![order; n];
        // SAFETY: all three slices have at least n elements.
        let status = unsafe {
            (self.functions.fmi2SetRealInputDerivatives)(
                self.component,
                references.as_ptr(),
                n,
                orders.as_ptr(),
                values.as_ptr(),
            )
        };
        self.expect("fmi2SetRealInputDerivatives", status)
    }

    fn step(&mut self, t: f64, h: f64) -> Result<()> {
        // SAFETY: the instance lives.
        let status = unsafe { (self.functions.fmi2DoStep)(self.component, t, h, fmi2True) };
        at_time(self.expect("fmi2DoStep", status), t)
    }

    fn reals(&mut self, references: &[u32]) -> Result<Vec<f64>> {
        let mut values = vec![0.0; references.len()];
        // SAFETY: the buffer has one value for each reference.
        let status = unsafe {
            (self.functions.fmi2GetReal)(self.component, references.as_ptr(), values.len(), values.as_mut_ptr())
        };
        self.expect("fmi2GetReal", status)?;
        Ok(values)
    }
}

impl Drop for Slave<'_> {
    fn drop(&mut self) {
        if !self.component.is_null() {
            // SAFETY: the instance lives and is not used after this.
            unsafe { (self.functions.fmi2FreeInstance)(self.component) };
        }
    }
}

unsafe extern "C" fn write_log(
    environment: fmi2ComponentEnvironment,
    _instance: fmi2String,
    status: fmi2Status,
    category: fmi2String,
    message: fmi2String,
) {
    // SAFETY: the environment is the log of the calling instance.
    let Some(log) = (unsafe { environment.cast::<Log>().as_ref() }) else {
        return;
    };
    let text_of = |text: fmi2String| match text.is_null() {
        true => String::new(),
        // SAFETY: FMI's strings are terminated.
        false => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
    };
    // The message is a format of printf, where "%%" stands for "%"; in FMI "##" stands for "#".
    let message = text_of(message).replace("%%", "%").replace("##", "#");
    if let Ok(mut log) = log.lock() {
        log.push(Message {
            is_failure: !matches!(status, fmi2Status::OK | fmi2Status::WARNING),
            category: text_of(category),
            text: message,
        });
    }
}

/// Returns a path as `file:///…` (RFC 8089), the form in which FMI passes the resources' location.
fn file_uri(path: &Path) -> Result<String> {
    let path = path
        .to_str()
        .ok_or_else(|| invalid!("{} is not UTF-8", path.display()))?;
    let escaped = path.bytes().map(|byte| match byte {
        b'\\' if cfg!(windows) => "/".to_owned(),
        b'/' | b':' | b'-' | b'.' | b'_' | b'~' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    });
    let escaped: String = escaped.collect();
    Ok(format!("file:///{}", escaped.trim_start_matches('/')))
}

fn name(status: fmi2Status) -> &'static str {
    match status {
        fmi2Status::DISCARD => "fmi2Discard",
        fmi2Status::ERROR => "fmi2Error",
        fmi2Status::FATAL => "fmi2Fatal",
        fmi2Status::PENDING => "fmi2Pending, which this program does not wait for",
        _ => "an unknown status",
    }
}

fn text(string: &str) -> Result<CString> {
    CString::new(string).context(|| format!("{string:?} contains a zero byte"))
}
