//! Safe calls of a loaded Co-Simulation FMU. The only `unsafe` of this program is here.
//!
//! The module uses only functions of FMI: any FMU 2.0 with Co-Simulation for this platform can be
//! loaded.

#![allow(unsafe_code)]

use crate::error::{Context, Error, Result, invalid};
use crate::platform::Platform;
use crate::{archive, library};
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
use model_description::ModelDescription;
use std::ffi::{CStr, CString};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

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
        if description.co_simulation.is_none() {
            return Err(invalid!(
                "the FMU does not offer Co-Simulation, which this program needs to run it"
            ));
        }
        let file = folder.join(library::path(archive::identifier(description)?));
        let resources = file_uri(&folder.join("resources"))?;
        // SAFETY: the user asked to run this FMU; its initialisers run as any library's do.
        let library = unsafe { Library::new(&file) }
            .context(|| format!("the FMU has no library that runs here ({})", Platform::here()))?;
        let functions = Functions::of(&library).context(|| "the FMU's library lacks a function of FMI 2.0")?;
        Ok(Self {
            functions,
            instance: text(&description.model_name)?,
            guid: text(&description.guid)?,
            resources: text(&resources)?,
            _library: library,
        })
    }

    /// Creates an instance.
    ///
    /// # Errors
    /// The FMU's message, if instantiation fails.
    pub fn instantiate(&self) -> Result<Slave<'_>> {
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
                fmi2Type::CO_SIMULATION,
                self.guid.as_ptr(),
                self.resources.as_ptr(),
                &raw const *callbacks,
                fmi2False,
                fmi2True,
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

    /// Sets start time, stop time and tolerance of the run.
    pub fn set_up(&mut self, start: f64, stop: f64, tolerance: f64) -> Result<()> {
        // SAFETY: the instance lives; no pointers.
        let status =
            unsafe { (self.functions.fmi2SetupExperiment)(self.component, fmi2True, tolerance, start, fmi2True, stop) };
        self.expect("fmi2SetupExperiment", status)
    }

    /// Enters the initialisation.
    pub fn enter_initialization(&mut self) -> Result<()> {
        // SAFETY: the instance lives.
        let status = unsafe { (self.functions.fmi2EnterInitializationMode)(self.component) };
        self.expect("fmi2EnterInitializationMode", status)
    }

    /// Leaves the initialisation; the FMU validates the parameters.
    pub fn exit_initialization(&mut self) -> Result<()> {
        // SAFETY: the instance lives.
        let status = unsafe { (self.functions.fmi2ExitInitializationMode)(self.component) };
        self.expect("fmi2ExitInitializationMode", status)
    }

    /// Sets Reals.
    pub fn set_reals(&mut self, references: &[u32], values: &[f64]) -> Result<()> {
        let n = references.len().min(values.len());
        // SAFETY: both slices have at least n elements.
        let status = unsafe { (self.functions.fmi2SetReal)(self.component, references.as_ptr(), n, values.as_ptr()) };
        self.expect("fmi2SetReal", status)
    }

    /// Sets the derivatives of one order of Real inputs.
    pub fn set_derivatives(&mut self, references: &[u32], order: fmi2Integer, values: &[f64]) -> Result<()> {
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

    /// Gets Reals.
    pub fn reals(&mut self, references: &[u32]) -> Result<Vec<f64>> {
        let mut values = vec![0.0; references.len()];
        // SAFETY: the buffer has one value for each reference.
        let status = unsafe {
            (self.functions.fmi2GetReal)(self.component, references.as_ptr(), values.len(), values.as_mut_ptr())
        };
        self.expect("fmi2GetReal", status)?;
        Ok(values)
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

    /// Steps from `t` to `t + h`.
    pub fn step(&mut self, t: f64, h: f64) -> Result<()> {
        // SAFETY: the instance lives.
        let status = unsafe { (self.functions.fmi2DoStep)(self.component, t, h, fmi2True) };
        self.expect("fmi2DoStep", status)
            .context(|| format!("the step from t = {t} s failed"))
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

#[cfg(test)]
mod tests {
    use super::Slave;
    use crate::fmu::{Fmu, is_real};
    use grapple::fmu::fmi2::fmi2Status;
    use grapple::fmu::fmi2::function::{
        fmi2DeSerializeFMUstateTYPE, fmi2FreeFMUstateTYPE, fmi2GetDirectionalDerivativeTYPE, fmi2GetFMUstateTYPE,
        fmi2SerializeFMUstateTYPE, fmi2SerializedFMUstateSizeTYPE, fmi2SetFMUstateTYPE,
    };
    use model_description::Causality;
    use std::path::Path;
    use std::process::Command;

    /// Set in the process that runs the examples on small stacks.
    const CHILD: &str = "GRAPPLE_TEST_SMALL_STACKS";

    /// Importers call from threads whose stacks have sizes of their own. Of 64 KiB, 16 are for the
    /// frames of the importer and the C library's part of a thread's stack. The library is the one
    /// that users get, with its optimisation. A process of its own: an overflow ends it.
    #[test]
    fn every_example_runs_on_a_stack_of_64_kib() {
        if std::env::var_os(CHILD).is_some() {
            return run_examples();
        }
        let program = std::env::current_exe().expect("a running program has a path");
        let child = Command::new(program)
            .args([
                "--exact",
                "slave::tests::every_example_runs_on_a_stack_of_64_kib",
                "--nocapture",
            ])
            .env(CHILD, "1")
            .output()
            .expect("this program can be started");
        let printed = String::from_utf8_lossy(&child.stdout);
        assert!(child.status.success() && printed.contains("1 passed"), "{printed}");
    }

    fn run_examples() {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
        let mut files: Vec<_> = std::fs::read_dir(examples)
            .expect("the folder of examples")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
            .collect();
        files.sort();
        assert!(files.len() >= 16, "{files:?}");
        for file in files {
            // Names the example in the output if the process ends.
            println!("{}", file.display());
            let fmu = Fmu::open(&file).expect("it is built and loaded");
            let references: Vec<u32> = (fmu.variables(is_real).iter())
                .map(|variable| variable.value_reference)
                .collect();
            std::thread::scope(|scope| {
                let thread = std::thread::Builder::new().stack_size(48 << 10);
                let run = || {
                    let mut slave = fmu.library.instantiate().expect("an instance");
                    slave.set_up(0.0, 1.0, 1e-8).expect("accepted");
                    slave.enter_initialization().expect("accepted");
                    slave.exit_initialization().expect("accepted");
                    for k in 0..3 {
                        slave.step(1e-3 * f64::from(k), 1e-3).expect("a step");
                        slave.reals(&references).expect("values");
                        differentiate(&fmu, &slave);
                        save_and_restore(&fmu, &slave);
                    }
                    slave.terminate().expect("accepted");
                };
                thread.spawn_scoped(scope, run).expect("a thread can be made");
            });
        }
    }

    /// Gets the derivatives of all outputs along all inputs.
    fn differentiate(fmu: &Fmu, slave: &Slave) {
        let references = |causality| -> Vec<u32> {
            (fmu.variables(|variable| is_real(variable) && variable.causality == causality)
                .iter())
            .map(|variable| variable.value_reference)
            .collect()
        };
        let (knowns, unknowns) = (references(Causality::Input), references(Causality::Output));
        let (seeds, mut values) = (vec![1.0; knowns.len()], vec![0.0; unknowns.len()]);
        // SAFETY: each pointer is to as many elements as the count after it or before it says.
        let status = unsafe {
            let library = &fmu.library._library;
            let function = library.get::<fmi2GetDirectionalDerivativeTYPE>("fmi2GetDirectionalDerivative");
            function.expect("exported")(
                slave.component,
                unknowns.as_ptr(),
                unknowns.len(),
                knowns.as_ptr(),
                knowns.len(),
                seeds.as_ptr(),
                values.as_mut_ptr(),
            )
        };
        assert_eq!(status, fmi2Status::OK);
    }

    /// Saves the state as bytes, and restores it from them.
    fn save_and_restore(fmu: &Fmu, slave: &Slave) {
        let library = &fmu.library._library;
        let (mut state, mut copy, mut size) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
        // SAFETY: the states are those that the instance has returned; the buffer has the size that
        // it has asked for.
        let statuses = unsafe {
            let get = library.get::<fmi2GetFMUstateTYPE>("fmi2GetFMUstate").expect("exported");
            let measure = library.get::<fmi2SerializedFMUstateSizeTYPE>("fmi2SerializedFMUstateSize");
            let write = library.get::<fmi2SerializeFMUstateTYPE>("fmi2SerializeFMUstate");
            let read = library.get::<fmi2DeSerializeFMUstateTYPE>("fmi2DeSerializeFMUstate");
            let set = library.get::<fmi2SetFMUstateTYPE>("fmi2SetFMUstate").expect("exported");
            let free = library
                .get::<fmi2FreeFMUstateTYPE>("fmi2FreeFMUstate")
                .expect("exported");
            let got = get(slave.component, &raw mut state);
            let measured = measure.expect("exported")(slave.component, state, &raw mut size);
            let mut bytes = vec![0; size];
            let written = write.expect("exported")(slave.component, state, bytes.as_mut_ptr(), size);
            let read = read.expect("exported")(slave.component, bytes.as_ptr(), size, &raw mut copy);
            let restored = set(slave.component, copy);
            for state in [&raw mut state, &raw mut copy] {
                assert_eq!(free(slave.component, state), fmi2Status::OK);
            }
            [got, measured, written, read, restored]
        };
        assert_eq!(statuses, [fmi2Status::OK; 5]);
    }
}
