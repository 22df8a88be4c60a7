//! An unpacked FMU, and `fmi2Instantiate` on it.

use crate::driver::importer::{callbacks, logged};
use crate::driver::{Instance, Log};
use grapple::fmu::c_abi::fmi2Instantiate;
use grapple::fmu::description::{Interfaces, describe};
use grapple::fmu::fmi2::*;
use grapple::fmu::guid::Guid;
use grapple::fmu::lifecycle::Standard;
use grapple::fmu::registry::{Naming, Registry, Slot, ValueType};
use grapple::plant::Model;
use model_description::ModelDescription;
use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};
use std::ptr::null;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};

/// A free base with two links. The signal of the shoulder's torque gives time events; the elbow
/// soon reaches a stop without damping and leaves it again, which gives state events.
pub const SPACECRAFT: &str = r#"
name = "two_link"
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
from_importer = false
"#;

/// Returns the same spacecraft with a payload that it can capture.
pub fn catcher() -> String {
    format!(
        "{SPACECRAFT}[body.payload]\nmass = 2.0\ninertia = [0.2, 0.3, 0.25]\n\
         start = {{ position = [1.5, 1.0, 0.0], velocity = [0.0, -0.3, 0.1] }}\n\
         [contact.grip]\na = \"lower\"\nb = \"payload\"\nlaw = \"capture_pin\"\nreach = 5.0\n"
    )
}

/// Returns the same spacecraft in orbit with a soft boom in a grasp; a ball hits its lower link and
/// separates again.
pub fn impact_in_orbit() -> String {
    format!(
        "{SPACECRAFT}[environment.orbit]\nsemi_major_axis = 6878137.0\n\
         [frame.hand]\nbody = \"base\"\norigin = [-0.5, 0.0, 0.0]\nrpy_deg = [0.0, 0.0, 180.0]\n\
         [ancf_beam.boom]\nstart = {{ position = [-0.5, 0.0, 0.0], rpy_deg = [0.0, 0.0, 180.0] }}\n\
         length = 2.0\nelements = 2\nmass_per_length = 0.2\nEA = 500.0\nEI = 2.0\n\
         [grasp.grip]\na = \"hand\"\nb = \"boom\"\nstiffness = 200.0\ndamping = 1.0\nangular_stiffness = 20.0\nangular_damping = 0.1\n\
         [frame.target]\nbody = \"lower\"\norigin = [0.4, 0.0, 0.0]\n\
         [body.ball]\nmass = 0.5\ninertia = [0.01, 0.01, 0.01]\nstart = {{ position = [1.85, 0.9, 0.0], velocity = [0.0, -1.5, 0.0] }}\n\
         [contact.hit]\na = \"ball\"\nb = \"target\"\nsurface = \"sphere\"\nradius_a = 0.1\nradius_b = 0.2\nlaw = \"restitution\"\ne = 0.7\nmu = 0.2\n"
    )
}

/// An unpacked FMU: its `resources/`, its GUID, its variables, its XML.
pub struct Fmu {
    resources: PathBuf,
    pub guid: CString,
    pub registry: Registry,
    /// Created at first use: most tests do not need it.
    pub xml: LazyLock<ModelDescription, Box<dyn FnOnce() -> ModelDescription + Send>>,
}

impl Fmu {
    pub fn new() -> Self {
        Self::of(SPACECRAFT)
    }

    pub fn of(text: &str) -> Self {
        Self::with_names(text, Naming::Structured)
    }

    pub fn with_names(text: &str, naming: Naming) -> Self {
        Self::of_model(Model::read(text, Path::new(".")).expect("the spec is right"), naming)
    }

    pub fn of_model(model: Model, naming: Naming) -> Self {
        Self::offering(model, naming, Interfaces::Both)
    }

    /// Creates an unpacked FMU whose XML offers these interfaces.
    pub fn offering(model: Model, naming: Naming, interfaces: Interfaces) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let model = Arc::new(model);
        let bytes = model.to_bytes().expect("a model can be written");
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let resources = std::env::temp_dir().join(format!("grapple fmu {process} {count}"));
        std::fs::create_dir_all(&resources).expect("the temporary directory can be written");
        let guid = Guid::new(&bytes, naming, interfaces).to_string();
        let (described, expected) = (Arc::clone(&model), guid.clone());
        let describe = move || {
            let xml = describe(&described, naming, interfaces).expect("the model can be described");
            assert_eq!(xml.guid, expected);
            xml
        };
        let fmu = Self {
            resources,
            guid: CString::new(guid).expect("no zero inside"),
            xml: LazyLock::new(Box::new(describe)),
            registry: Registry::new(model, naming),
        };
        fmu.write_model(&bytes);
        fmu
    }

    /// Returns the path of the compiled model.
    pub fn model_file(&self) -> PathBuf {
        self.resources.join("model.json")
    }

    pub fn write_model(&self, bytes: &[u8]) {
        std::fs::write(self.model_file(), bytes).expect("the file can be written");
    }

    pub fn path(&self) -> &str {
        self.resources.to_str().expect("the test chose the name")
    }

    /// Returns the location as FMI Library, FMPy and Ecos write it: `file://` and an escaped
    /// absolute path.
    pub fn uri(&self) -> String {
        format!("file://{}", self.path().replace(' ', "%20"))
    }

    /// Returns the location in every spelling that importers use.
    pub fn locations(&self) -> [String; 8] {
        let path = self.path();
        let escaped = path.replace(' ', "%20");
        let everything = path
            .bytes()
            .map(|b| if b == b'/' { "/".to_owned() } else { format!("%{b:02x}") });
        [
            path.to_owned(),
            format!("{path}/"),
            format!("file:{escaped}"),
            format!("file://{escaped}"),
            format!("file://{escaped}/"),
            format!("file://localhost{escaped}"),
            // Without escapes, as by some importers.
            format!("file://{path}"),
            format!("FILE://{}", everything.collect::<String>()),
        ]
    }

    pub fn vr(&self, name: &str) -> u32 {
        self.registry
            .find(name)
            .unwrap_or_else(|| panic!("no variable {name}"))
            .value_reference
    }

    pub fn nominal(&self, reference: u32) -> f64 {
        let slot = self.registry.slot(reference).expect("a variable");
        self.registry.quantity(slot).nominal
    }

    /// Returns the references of all variables whose slot satisfies `pass`.
    pub fn references(&self, pass: impl Fn(Slot) -> bool) -> Vec<u32> {
        let all = self.registry.variables().filter(|v| pass(v.slot));
        all.map(|v| v.value_reference).collect()
    }

    /// Returns the references of all real variables.
    pub fn reals(&self) -> Vec<u32> {
        self.references(|slot| self.registry.value_type(slot) == ValueType::Real)
    }

    /// Returns the references of all computed variables that are real in FMI 2.0 and 3.0: states,
    /// derivatives, outputs.
    pub fn outputs(&self) -> Vec<u32> {
        self.floats(|slot| matches!(slot, Slot::State(_) | Slot::Derivative(_) | Slot::Output(_)))
    }

    /// Returns the references of all variables that are real in FMI 2.0 and 3.0 and whose slot
    /// satisfies `pass`.
    pub fn floats(&self, pass: impl Fn(Slot) -> bool) -> Vec<u32> {
        let model = Arc::clone(self.registry.model());
        let three = Registry::of(Standard::Fmi3, model, self.registry.naming());
        self.references(|slot| pass(slot) && three.value_type(slot) == ValueType::Real)
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

    /// Creates an instance with a logger and allocators and logging on, as most importers do.
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
        self.instance_at(Some(&self.uri()), kind, callbacks, visible, logging_on)
            .unwrap_or_else(|| panic!("{:?}", logged()))
    }

    /// Creates an instance with its own log.
    pub fn instance_with_log<'a>(&'a self, log: &'a Log, kind: fmi2Type) -> Instance<'a> {
        self.instance_at(Some(&self.uri()), kind, Some(&log.callbacks()), fmi2True, fmi2True)
            .unwrap_or_else(|| panic!("{:?}", log.take()))
    }

    /// Creates an instance with the resources at any location; `None` if it is refused.
    pub fn instance_at(
        &self,
        location: Option<&str>,
        kind: fmi2Type,
        callbacks: Option<&fmi2CallbackFunctions>,
        visible: fmi2Boolean,
        logging_on: fmi2Boolean,
    ) -> Option<Instance<'_>> {
        let c = instantiate(Some(&self.guid), location, kind, callbacks, visible, logging_on);
        (!c.is_null()).then_some(Instance { fmu: self, c })
    }
}

impl Drop for Fmu {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.resources);
    }
}

/// Calls `fmi2Instantiate`; a `None` is passed as null.
pub fn instantiate(
    guid: Option<&CStr>,
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
            guid.map_or(null(), CStr::as_ptr),
            location.as_ref().map_or(null(), |l| l.as_ptr()),
            callbacks.map_or(null(), std::ptr::from_ref),
            visible,
            logging_on,
        )
    }
}
