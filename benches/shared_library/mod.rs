//! An instance in the FMU's shared library, which is loaded as by an importer.

use grapple::fmu::description::Interfaces;
use grapple::fmu::fmi2::*;
use grapple::fmu::guid::Guid;
use grapple::fmu::registry::{Naming, Registry};
use grapple::fmu::resource::MODEL_FILE;
use grapple::plant::Model;
use std::env;
use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};
use std::ptr::null;
use std::sync::LazyLock;
use std::time::SystemTime;

/// Declares the type of the library's functions, and loads them.
macro_rules! functions {
    ($($name:ident($($argument:ty),*) -> $result:ty;)*) => {
        #[allow(non_snake_case)]
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl Functions {
            fn load(library: &Path) -> Self {
                let path = CString::new(library.to_string_lossy().as_bytes()).expect("no zero inside");
                // SAFETY: a string; the library's constructors do nothing unusual. It stays loaded.
                let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
                assert!(!handle.is_null(), "{} cannot be loaded", library.display());
                let find = |name: &str| {
                    let symbol = CString::new(name).expect("no zero inside");
                    // SAFETY: a live handle and a string.
                    let found = unsafe { libc::dlsym(handle, symbol.as_ptr()) };
                    assert!(!found.is_null(), "{name} is not in {}", library.display());
                    found
                };
                Self {
                    // SAFETY: functions of these names have these types in FMI 2.0.
                    $($name: unsafe {
                        std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> $result>(
                            find(stringify!($name)),
                        )
                    },)*
                }
            }
        }
    };
}

functions! {
    fmi2Instantiate(
        fmi2String, fmi2Type, fmi2String, fmi2String, *const fmi2CallbackFunctions, fmi2Boolean, fmi2Boolean
    ) -> fmi2Component;
    fmi2SetupExperiment(fmi2Component, fmi2Boolean, fmi2Real, fmi2Real, fmi2Boolean, fmi2Real) -> fmi2Status;
    fmi2EnterInitializationMode(fmi2Component) -> fmi2Status;
    fmi2ExitInitializationMode(fmi2Component) -> fmi2Status;
    fmi2NewDiscreteStates(fmi2Component, *mut fmi2EventInfo) -> fmi2Status;
    fmi2EnterContinuousTimeMode(fmi2Component) -> fmi2Status;
    fmi2SetReal(fmi2Component, *const fmi2ValueReference, usize, *const fmi2Real) -> fmi2Status;
    fmi2GetContinuousStates(fmi2Component, *mut fmi2Real, usize) -> fmi2Status;
    fmi2SetContinuousStates(fmi2Component, *const fmi2Real, usize) -> fmi2Status;
    fmi2GetDerivatives(fmi2Component, *mut fmi2Real, usize) -> fmi2Status;
    fmi2GetDirectionalDerivative(
        fmi2Component, *const fmi2ValueReference, usize, *const fmi2ValueReference, usize, *const fmi2Real,
        *mut fmi2Real
    ) -> fmi2Status;
    fmi2DoStep(fmi2Component, fmi2Real, fmi2Real, fmi2Boolean) -> fmi2Status;
}

static FUNCTIONS: LazyLock<Functions> =
    LazyLock::new(|| Functions::load(&library().unwrap_or_else(|problem| panic!("{problem}"))));

/// Returns the path of the library.
///
/// # Errors
/// A message if there is none, or if it is older than its sources.
pub fn library() -> Result<PathBuf, String> {
    if let Some(path) = env::var_os("GRAPPLE_LIBRARY") {
        return Ok(path.into());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let path = target.join("libraries/linux64/grapple.so");
    let sources = ["src", "modelDescription", "Cargo.toml", "Cargo.lock"];
    let changed = sources.iter().map(|name| last_change(&root.join(name))).max();
    match last_change(&path) > changed.flatten() {
        true => Ok(path),
        false => Err(format!(
            "{} does not exist, or is older than the sources: run scripts/libraries linux64",
            path.display()
        )),
    }
}

/// Returns the time of the last change of a file, or of the files in a folder; `None` if there are none.
fn last_change(path: &Path) -> Option<SystemTime> {
    match std::fs::read_dir(path) {
        Ok(entries) => entries.filter_map(|entry| last_change(&entry.ok()?.path())).max(),
        Err(_) => path.metadata().and_then(|data| data.modified()).ok(),
    }
}

/// An instance; it lives as long as the program.
pub struct Instance {
    c: fmi2Component,
    pub registry: Registry,
}

fn ok(status: fmi2Status) {
    assert_eq!(status, fmi2Status::OK);
}

// SAFETY of this block: the handle is never freed, and every pointer comes from a value, or from a
// slice of the given count.
impl Instance {
    /// Creates an instance at the start of a run: in Continuous-Time Mode for Model Exchange.
    pub fn new(model: Model, interface: fmi2Type) -> Self {
        let bytes = model.to_bytes().expect("a model can be written");
        let registry = Registry::new(model.into(), Naming::Structured);
        let guid = Guid::new(&bytes, Naming::Structured, Interfaces::Both).to_string();
        let resources = env::temp_dir().join(format!("grapple-instructions-{}", std::process::id()));
        std::fs::create_dir_all(&resources).expect("the temporary directory can be written to");
        std::fs::write(resources.join(MODEL_FILE), bytes).expect("the temporary directory can be written to");
        let [guid, location] =
            [guid, resources.to_string_lossy().into_owned()].map(|text| CString::new(text).expect("no zero inside"));
        let functions = &*FUNCTIONS;
        let (guid, location) = (guid.as_ptr(), location.as_ptr());
        let name = c"instance".as_ptr();
        let c = unsafe { (functions.fmi2Instantiate)(name, interface, guid, location, null(), fmi2False, fmi2False) };
        std::fs::remove_dir_all(resources).expect("the folder of this function");
        assert!(!c.is_null(), "the instance is refused");
        unsafe {
            ok((functions.fmi2SetupExperiment)(c, fmi2False, 0.0, 0.0, fmi2False, 0.0));
            ok((functions.fmi2EnterInitializationMode)(c));
            ok((functions.fmi2ExitInitializationMode)(c));
            if interface == fmi2Type::MODEL_EXCHANGE {
                let mut info = std::mem::zeroed::<fmi2EventInfo>();
                ok((functions.fmi2NewDiscreteStates)(c, &mut info));
                ok((functions.fmi2EnterContinuousTimeMode)(c));
            }
        }
        Self { c, registry }
    }

    pub fn states(&self) -> Vec<f64> {
        let mut x = vec![0.0; self.registry.model().states.len()];
        ok(unsafe { (FUNCTIONS.fmi2GetContinuousStates)(self.c, x.as_mut_ptr(), x.len()) });
        x
    }

    pub fn set_states(&self, x: &[f64]) {
        ok(unsafe { (FUNCTIONS.fmi2SetContinuousStates)(self.c, x.as_ptr(), x.len()) });
    }

    pub fn set(&self, references: &[u32], values: &[f64]) {
        ok(unsafe { (FUNCTIONS.fmi2SetReal)(self.c, references.as_ptr(), values.len(), values.as_ptr()) });
    }

    pub fn derivatives(&self, dx: &mut [f64]) {
        ok(unsafe { (FUNCTIONS.fmi2GetDerivatives)(self.c, dx.as_mut_ptr(), dx.len()) });
    }

    /// Writes the directional derivatives of `unknowns` to `found`.
    pub fn along(&self, unknowns: &[u32], knowns: &[u32], seeds: &[f64], found: &mut [f64]) {
        ok(unsafe {
            (FUNCTIONS.fmi2GetDirectionalDerivative)(
                self.c,
                unknowns.as_ptr(),
                unknowns.len(),
                knowns.as_ptr(),
                knowns.len(),
                seeds.as_ptr(),
                found.as_mut_ptr(),
            )
        });
    }

    pub fn step(&self, t: f64, h: f64) {
        ok(unsafe { (FUNCTIONS.fmi2DoStep)(self.c, t, h, fmi2True) });
    }
}
