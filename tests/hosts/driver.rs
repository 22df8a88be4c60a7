//! An unpacked FMU, and the callbacks a host's loader hands over. The calls themselves are in `instance`.

pub use crate::instance::{Instance, assert_agree, ok, reference};
use grapple::fmu::c_abi::fmi2Instantiate;
use grapple::fmu::description::{Interfaces, describe};
use grapple::fmu::fmi2::*;
use grapple::fmu::registry::{Guid, Naming, Registry, Slot};
use grapple::plant::Model;
use grapple::spec;
use model_description::ModelDescription;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_void};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A free base with two links. A pulse on the shoulder runs inside the FMU, so there are time events; the
/// elbow soon meets a stop without damping and leaves it again, so there are state events.
pub const CRAFT: &str = r#"
name = "hosts"
[body.base]
mass = 4.0
inertia = [0.4, 0.5, 0.45]
[body.upper]
mass = 1.0
mass_centre = [0.5, 0.1, 0.0]
inertia = [0.1, 0.12, 0.15]
[body.lower]
mass = 1.2
mass_centre = [0.4, 0.0, 0.1]
inertia = [0.1, 0.11, 0.13]
[joint.shoulder]
type = "revolute"
parent = "base"
child = "upper"
origin = [0.5, 0.0, 0.0]
damping = 0.1
[joint.elbow]
type = "revolute"
parent = "upper"
child = "lower"
origin = [1.0, 0.0, 0.0]
range = { min_deg = -150.0, max_deg = 20.0, stop = "compliant", stiffness = 50.0, damping = 0.0 }
servo = { kp = 3.0, kd = 1.0, on = false }
start = { position = 0.3, rate = 0.1 }
[port.push]
frame = "lower"
[signal."shoulder.tau"]
type = "constant"
amplitude = 0.7
from = 0.23
until = 0.61
from_host = false
"#;

pub const OK: fmi2Status = fmi2Status::OK;
pub const DISCARD: fmi2Status = fmi2Status::DISCARD;
pub const ERROR: fmi2Status = fmi2Status::ERROR;
pub const ME: fmi2Type = fmi2Type::MODEL_EXCHANGE;
pub const CS: fmi2Type = fmi2Type::CO_SIMULATION;

/// Variables that tell two runs apart.
pub const WATCHED: [&str; 6] = [
    "shoulder.q",
    "elbow.q",
    "elbow.qd",
    "base.r[2]",
    "base.w[3]",
    "lower.r[1]",
];

/// An unpacked FMU: its `resources/`, its GUID, its variables, its XML.
pub struct Fmu {
    pub resources: PathBuf,
    pub guid: CString,
    pub registry: Registry,
    pub xml: ModelDescription,
}

impl Fmu {
    pub fn new() -> Self {
        Self::of(CRAFT)
    }

    pub fn of(text: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let spec = spec::read(text, Path::new(".")).expect("the spec is right");
        let model = Arc::new(Model::compile(&spec).expect("the model is right"));
        let bytes = model.to_bytes().expect("a model can be written");
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let resources = std::env::temp_dir().join(format!("grapple hosts {process} {count}"));
        std::fs::create_dir_all(&resources).expect("the temporary directory can be written");
        std::fs::write(resources.join("model.json"), &bytes).expect("the temporary directory can be written");
        let guid = Guid::new(&bytes, Naming::Structured).to_string();
        Self {
            resources,
            guid: CString::new(guid).expect("no zero inside"),
            xml: describe(&model, Naming::Structured, Interfaces::Both).expect("the model can be described"),
            registry: Registry::new(model, Naming::Structured),
        }
    }

    pub fn path(&self) -> &str {
        self.resources.to_str().expect("the test chose the name")
    }

    /// The location as FMI Library, FMPy and Ecos write it: `file://` and an escaped absolute path.
    pub fn uri(&self) -> String {
        format!("file://{}", self.path().replace(' ', "%20"))
    }

    pub fn vr(&self, name: &str) -> u32 {
        self.registry
            .find(name)
            .unwrap_or_else(|| panic!("no variable {name}"))
            .value_reference
    }

    /// The references of all variables that pass.
    pub fn references(&self, pass: impl Fn(Slot) -> bool) -> Vec<u32> {
        let all = self.registry.variables().filter(|v| pass(v.slot));
        all.map(|v| v.value_reference).collect()
    }

    /// All that an importer reads as a real number and that is computed: states, derivatives, outputs.
    pub fn outputs(&self) -> Vec<u32> {
        self.references(|slot| matches!(slot, Slot::State(_) | Slot::Derivative(_) | Slot::Output(_)))
    }

    pub fn parameters(&self) -> Vec<u32> {
        self.references(|slot| matches!(slot, Slot::Parameter(_)))
    }

    pub fn inputs(&self) -> Vec<u32> {
        self.references(|slot| matches!(slot, Slot::Input(_)))
    }

    pub fn state_count(&self) -> usize {
        self.registry.model().states.len()
    }

    pub fn indicator_count(&self) -> usize {
        self.registry.model().indicator_count()
    }

    /// An instance with a logger and allocators, logging on, as most loaders make it.
    pub fn instance(&self, kind: fmi2Type) -> Instance<'_> {
        self.instance_with(kind, Some(&callbacks()), fmi2False, fmi2True)
    }

    pub fn instance_with(
        &self,
        kind: fmi2Type,
        callbacks: Option<&fmi2CallbackFunctions>,
        visible: fmi2Boolean,
        logging_on: fmi2Boolean,
    ) -> Instance<'_> {
        let c = self.instantiate_at(Some(&self.uri()), kind, callbacks, visible, logging_on);
        assert!(!c.is_null(), "{:?}", heard());
        Instance { fmu: self, c }
    }

    /// `fmi2Instantiate` at any location; null where it is refused.
    pub fn instantiate_at(
        &self,
        location: Option<&str>,
        kind: fmi2Type,
        callbacks: Option<&fmi2CallbackFunctions>,
        visible: fmi2Boolean,
        logging_on: fmi2Boolean,
    ) -> fmi2Component {
        let location = location.map(|l| CString::new(l).expect("no zero inside"));
        // SAFETY: strings and a structure that live during the call, or null.
        unsafe {
            fmi2Instantiate(
                c"arm".as_ptr(),
                kind,
                self.guid.as_ptr(),
                location.as_ref().map_or(null(), |l| l.as_ptr()),
                callbacks.map_or(null(), std::ptr::from_ref),
                visible,
                logging_on,
            )
        }
    }
}

impl Drop for Fmu {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.resources);
    }
}

/// One message as the host's logger got it.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    pub status: fmi2Status,
    pub category: String,
    pub message: String,
}

thread_local! {
    static HEARD: RefCell<Vec<Heard>> = const { RefCell::new(Vec::new()) };
    static ALLOCATIONS: Cell<u32> = const { Cell::new(0) };
}

/// What the loggers of this thread's instances have heard since the last time.
pub fn heard() -> Vec<Heard> {
    HEARD.take()
}

/// How often this thread's allocators were called.
pub fn allocations() -> u32 {
    ALLOCATIONS.get()
}

/// Callbacks with everything but `stepFinished`; the environment is null, as in libcosim and OMSimulator.
pub fn callbacks() -> fmi2CallbackFunctions {
    type Fixed = unsafe extern "C" fn(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String);
    // SAFETY: stable Rust cannot define a variadic function; on the platforms tested the fixed arguments of one
    // are passed like those of any other.
    let logger = unsafe { std::mem::transmute::<Fixed, fmi2CallbackLogger>(listen) };
    fmi2CallbackFunctions {
        logger: Some(logger),
        allocateMemory: Some(allocate),
        freeMemory: Some(free),
        stepFinished: None,
        componentEnvironment: null_mut(),
    }
}

unsafe extern "C" fn listen(
    environment: fmi2ComponentEnvironment,
    instance: fmi2String,
    status: fmi2Status,
    category: fmi2String,
    message: fmi2String,
) {
    assert!(environment.is_null());
    // SAFETY: the strings live during the call.
    let [instance, category, message] =
        unsafe { [instance, category, message].map(|s| CStr::from_ptr(s).to_string_lossy().into_owned()) };
    assert_eq!(instance, "arm");
    HEARD.with_borrow_mut(|heard| {
        heard.push(Heard {
            status,
            category,
            message,
        });
    });
}

unsafe extern "C" fn allocate(_: usize, _: usize) -> *mut c_void {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    null_mut()
}

unsafe extern "C" fn free(_: *mut c_void) {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}
