//! Safe calls of a Co-Simulation FMU. The only `unsafe` code of this program is here.
//!
//! The modules use only functions of FMI: any FMU of FMI 2.0 or 3.0 with Co-Simulation for this
//! platform can be loaded. A compiled model also runs without a library, as an instance in this
//! process.

#![allow(unsafe_code)]

use crate::error::{Context, Error, Result, invalid};
use crate::instance::{Instance, at_time, message};
use crate::platform::Platform;
use crate::{archive, binary, library};
use grapple::fmu::component::Component;
use grapple::fmu::description::Interfaces;
use grapple::fmu::fmi2::fmi2False;
use grapple::fmu::guid::Guid;
use grapple::fmu::lifecycle::Interface;
use grapple::fmu::registry::Naming;
use grapple::fmu::status::Status;
use grapple::plant::Model;
pub use group::Group;
pub use instances::Instances;
use libloading::{Error as LoadingError, Library};
use model_description::{FmiVersion, ModelDescription};
use std::ffi::{CStr, CString, c_char};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

mod fmi2;
mod fmi3;
mod group;
mod instances;
#[cfg(not(any(unix, windows)))]
mod no_loading;
#[cfg(not(any(unix, windows)))]
use no_loading as libloading;

#[cfg(feature = "inside")]
pub(super) mod tests;

/// Library of an unpacked FMU, loaded once for any number of instances and threads.
pub struct FmuLibrary {
    functions: Functions,
    /// Functions by which instances advance together, if the library exports them.
    together: Option<group::Functions>,
    made_of: Made,
    /// The last field, so that it is dropped, and unloaded, after the pointers into it.
    _library: Option<Library>,
}

/// Functions of one version of the standard, or the model of instances in this process.
enum Functions {
    Fmi2(fmi2::Functions),
    Fmi3(fmi3::Functions),
    InProcess(Arc<Model>, Guid),
}

/// Arguments of each instantiation.
struct Made {
    /// Name of the instance.
    name: CString,
    /// GUID or instantiation token.
    token: CString,
    /// Types of the variables in FMI 3.0.
    types: fmi3::Types,
    /// Location of the folder `resources`: a URI in FMI 2.0, a path in FMI 3.0.
    resources: CString,
}

/// An instance of an FMU.
pub struct Slave<'l> {
    calls: Calls<'l>,
    /// Boxed, since the instance keeps a pointer to it.
    log: Box<Log>,
}

enum Calls<'l> {
    Fmi2(fmi2::Slave<'l>),
    Fmi3(fmi3::Slave<'l>),
    InProcess(Box<Component>),
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
        pub struct Functions {
            $($name: $type,)*
        }

        impl Functions {
            pub fn of(library: &super::Library) -> Result<Self, super::LoadingError> {
                Ok(Self {
                    // SAFETY: the types are those of the standard's header. The pointers are valid
                    // while the library is loaded, and `FmuLibrary` keeps it loaded.
                    $($name: unsafe { *library.get::<$type>(stringify!($name))? },)*
                })
            }
        }
    };
}
use functions;

impl FmuLibrary {
    /// Loads the library of an unpacked FMU.
    ///
    /// # Errors
    /// An FMU without Co-Simulation, or without a library that runs here.
    pub fn new(folder: &Path, description: &ModelDescription) -> Result<Self> {
        let file = library::file(folder, description.fmi_version, archive::identifier(description)?);
        Self::in_file(&file, folder, description)
    }

    /// Loads a library from a file, for an unpacked FMU.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn in_file(file: &Path, folder: &Path, description: &ModelDescription) -> Result<Self> {
        if description.co_simulation.is_none() {
            return Err(invalid!(
                "the FMU does not offer Co-Simulation, which this program needs to run it"
            ));
        }
        if let Some(array) = description.model_variables.iter().find(|v| !v.dimensions.is_empty()) {
            return Err(invalid!(
                "the FMU has arrays ({:?}), and this program runs FMUs with scalars only; run the spec, or an FMU that was \
                 built without --arrays",
                array.name
            ));
        }
        let version = description.fmi_version;
        let resources = folder.join("resources");
        let resources = match version {
            FmiVersion::V2_0 => file_uri(&resources)?,
            // The standard requires a separator at the end.
            FmiVersion::V3_0 => format!("{}{}", utf8(&resources)?, std::path::MAIN_SEPARATOR),
        };
        let here = Platform::here();
        let no_library = || format!("the FMU has no library that runs here ({here})");
        let bytes = std::fs::read(file).context(no_library)?;
        binary::check_loadable(&bytes, here).context(no_library)?;
        // SAFETY: the user asked to run this FMU; its initialisers run as any library's do.
        let library = unsafe { Library::new(file) }.context(no_library)?;
        let functions = match version {
            FmiVersion::V2_0 => fmi2::Functions::of(&library).map(Functions::Fmi2),
            FmiVersion::V3_0 => fmi3::Functions::of(&library).map(Functions::Fmi3),
        };
        Ok(Self {
            together: group::Functions::of(&library),
            functions: functions.context(|| format!("the FMU's library lacks a function of {}", version.name()))?,
            made_of: Made {
                name: text(&description.model_name)?,
                token: text(&description.guid)?,
                types: match version {
                    FmiVersion::V2_0 => fmi3::Types::default(),
                    FmiVersion::V3_0 => fmi3::Types::of(&description.model_variables),
                },
                resources: text(&resources)?,
            },
            _library: Some(library),
        })
    }

    /// Returns the Co-Simulation of a model in this process, that of its FMU of FMI 2.0 with
    /// structured names.
    ///
    /// # Errors
    /// The model cannot be serialised.
    pub fn in_process(model: &Arc<Model>) -> Result<Self> {
        let guid = Guid::new(&model.to_bytes()?, Naming::Structured, Interfaces::Both);
        Ok(Self {
            made_of: Made {
                name: text(&model.spec.name)?,
                token: text(&guid.to_string())?,
                types: fmi3::Types::default(),
                resources: CString::default(),
            },
            functions: Functions::InProcess(Arc::clone(model), guid),
            together: None,
            _library: None,
        })
    }

    /// Returns the largest number of instances that advance together; one without the functions for it.
    pub fn most_together(&self) -> usize {
        self.together.as_ref().map_or(1, group::Functions::most)
    }

    /// Returns a group of instances of this library; `None` if they cannot advance together.
    pub fn group<'l>(&'l self, slaves: &[&Slave<'l>]) -> Option<Group<'l>> {
        self.together.as_ref()?.group(slaves)
    }

    /// Creates an instance for Co-Simulation.
    ///
    /// # Errors
    /// The FMU's message, if instantiation fails.
    pub fn instantiate(&self) -> Result<Slave<'_>> {
        let log = Box::new(Log::default());
        let calls = match &self.functions {
            Functions::Fmi2(functions) => functions.instantiate(&self.made_of, &log).map(Calls::Fmi2),
            Functions::Fmi3(functions) => functions.instantiate(&self.made_of, &log).map(Calls::Fmi3),
            Functions::InProcess(model, guid) => {
                let (of, naming) = (Interface::CoSimulation, Naming::Structured);
                let component = Component::new(of, Arc::clone(model), naming, *guid, false)?;
                Some(Calls::InProcess(Box::new(component)))
            }
        };
        match calls {
            Some(calls) => Ok(Slave { calls, log }),
            None => Err(Error::Fmu(reason(&log).unwrap_or_else(|| {
                "the FMU cannot be instantiated; it logged no reason".to_owned()
            }))),
        }
    }
}

/// Outcome of a call: the name of the function, and of its status if it failed. Warnings are in the
/// log.
struct Outcome(&'static str, Option<&'static str>);

impl Slave<'_> {
    /// Enables these categories of the log, and only these.
    pub fn listen(&mut self, categories: &[&str]) -> Result<()> {
        let names = categories;
        let categories: Vec<CString> = categories.iter().map(|c| text(c)).collect::<Result<_>>()?;
        let pointers: Vec<_> = categories.iter().map(|c| c.as_ptr()).collect();
        let outcome = match &mut self.calls {
            Calls::Fmi2(slave) => slave.listen(&pointers),
            Calls::Fmi3(slave) => slave.listen(&pointers),
            Calls::InProcess(component) => return component.set_debug_logging(true, names).map_err(message),
        };
        self.expect(outcome)
    }

    /// Gets Booleans, as 0 and 1.
    pub fn booleans(&mut self, references: &[u32]) -> Result<Vec<f64>> {
        let mut values = vec![false; references.len()];
        let outcome = match &mut self.calls {
            Calls::Fmi2(slave) => slave.booleans(references, &mut values),
            Calls::Fmi3(_) => return self.reals(references),
            Calls::InProcess(component) => {
                let mut flags = vec![fmi2False; references.len()];
                component.get_boolean(references, &mut flags).map_err(message)?;
                return Ok(flags.into_iter().map(f64::from).collect());
            }
        };
        self.expect(outcome)?;
        Ok(values.into_iter().map(|value| f64::from(u8::from(value))).collect())
    }

    /// Ends the run.
    pub fn terminate(&mut self) -> Result<()> {
        let outcome = match &mut self.calls {
            Calls::Fmi2(slave) => slave.terminate(),
            Calls::Fmi3(slave) => slave.terminate(),
            Calls::InProcess(component) => {
                component.terminate();
                return Ok(());
            }
        };
        self.expect(outcome)
    }

    /// Makes the instance equal to a new one.
    fn reset(&mut self) -> Result<()> {
        let outcome = match &mut self.calls {
            Calls::Fmi2(slave) => slave.reset(),
            Calls::Fmi3(slave) => slave.reset(),
            Calls::InProcess(component) => {
                component.reset();
                return Ok(());
            }
        };
        self.expect(outcome)
    }

    /// Takes the log messages since the last call of this function, except those about failed
    /// calls, which are in the errors.
    pub fn messages(&mut self) -> Vec<Message> {
        let mut messages = std::mem::take(&mut *lock(&self.log));
        if let Calls::InProcess(component) = &mut self.calls {
            messages.extend(component.log.take().into_iter().map(|message| Message {
                is_failure: message.status != Status::Ok,
                category: message.category.name().to_owned(),
                text: message.text,
            }));
        }
        messages
    }

    fn expect(&self, Outcome(function, failure): Outcome) -> Result<()> {
        match failure {
            None => Ok(()),
            Some(status) => {
                let reason = reason(&self.log);
                Err(Error::Fmu(reason.unwrap_or_else(|| format!("{function}: {status}"))))
            }
        }
    }
}

impl Instance for Slave<'_> {
    fn set_up(&mut self, start: f64, stop: f64, tolerance: f64) -> Result<()> {
        let outcome = match &mut self.calls {
            Calls::Fmi2(slave) => slave.set_up(start, stop, tolerance),
            Calls::Fmi3(slave) => {
                slave.set_up(start, stop, tolerance);
                return Ok(());
            }
            Calls::InProcess(component) => return component.set_up(start, stop, tolerance),
        };
        self.expect(outcome)
    }

    fn enter_initialization(&mut self) -> Result<()> {
        let outcome = match &mut self.calls {
            Calls::Fmi2(slave) => slave.enter_initialization(),
            Calls::Fmi3(slave) => slave.enter_initialization(),
            Calls::InProcess(component) => return component.enter_initialization(),
        };
        self.expect(outcome)
    }

    fn exit_initialization(&mut self) -> Result<()> {
        let outcome = match &mut self.calls {
            Calls::Fmi2(slave) => slave.exit_initialization(),
            Calls::Fmi3(slave) => slave.exit_initialization(),
            Calls::InProcess(component) => return component.exit_initialization(),
        };
        self.expect(outcome)
    }

    fn set_reals(&mut self, references: &[u32], values: &[f64]) -> Result<()> {
        let n = references.len().min(values.len());
        let (references, values) = (&references[..n], &values[..n]);
        let outcome = match &mut self.calls {
            Calls::Fmi2(slave) => slave.set_reals(references, values),
            Calls::Fmi3(slave) => slave.set_numbers(references, values),
            Calls::InProcess(component) => return component.set_reals(references, values),
        };
        self.expect(outcome)
    }

    fn has_input_derivatives(&self) -> bool {
        !matches!(self.calls, Calls::Fmi3(_))
    }

    fn set_derivatives(&mut self, references: &[u32], order: i32, values: &[f64]) -> Result<()> {
        let n = references.len().min(values.len());
        let outcome = match &mut self.calls {
            Calls::Fmi2(slave) => slave.set_derivatives(&references[..n], order, &values[..n]),
            Calls::InProcess(component) => return component.set_derivatives(&references[..n], order, &values[..n]),
            Calls::Fmi3(_) => {
                return Err(invalid!("FMI 3.0 has no function for derivatives of inputs"));
            }
        };
        self.expect(outcome)
    }

    fn step(&mut self, t: f64, h: f64) -> Result<()> {
        let outcome = match &mut self.calls {
            Calls::Fmi2(slave) => slave.step(t, h),
            Calls::Fmi3(slave) => slave.step(t, h),
            Calls::InProcess(component) => return component.step(t, h),
        };
        at_time(self.expect(outcome), t)
    }

    fn reals(&mut self, references: &[u32]) -> Result<Vec<f64>> {
        let mut values = vec![0.0; references.len()];
        let outcome = match &mut self.calls {
            Calls::Fmi2(slave) => slave.reals(references, &mut values),
            Calls::Fmi3(slave) => slave.numbers(references, &mut values),
            Calls::InProcess(component) => return component.reals(references),
        };
        self.expect(outcome)?;
        Ok(values)
    }
}

fn lock(log: &Log) -> MutexGuard<'_, Vec<Message>> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the FMU's message about the last failed call.
fn reason(log: &Log) -> Option<String> {
    let mut log = lock(log);
    let (reasons, others): (Vec<_>, Vec<_>) = log.drain(..).partition(|message| message.is_failure);
    *log = others;
    let lines: Vec<String> = reasons.into_iter().map(|message| message.text).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Adds a message to a log.
fn record(log: &Log, is_failure: bool, category: *const c_char, edit: impl Fn(String) -> String, text: *const c_char) {
    let text_of = |string: *const c_char| match string.is_null() {
        true => String::new(),
        // SAFETY: strings of the FMU end with a zero.
        false => unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned(),
    };
    if let Ok(mut log) = log.lock() {
        log.push(Message {
            is_failure,
            category: text_of(category),
            text: edit(text_of(text)),
        });
    }
}

/// Returns a path as `file:///…` (RFC 8089), the form in which FMI 2.0 passes the resources'
/// location.
fn file_uri(path: &Path) -> Result<String> {
    let escaped = utf8(path)?.bytes().map(|byte| match byte {
        b'\\' if cfg!(windows) => "/".to_owned(),
        b'/' | b':' | b'-' | b'.' | b'_' | b'~' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    });
    let escaped: String = escaped.collect();
    Ok(format!("file:///{}", escaped.trim_start_matches('/')))
}

fn utf8(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| invalid!("{} is not UTF-8", path.display()))
}

fn text(string: &str) -> Result<CString> {
    CString::new(string).context(|| format!("{string:?} contains a zero byte"))
}
