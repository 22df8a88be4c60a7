//! The extension module `grapple_fmu._native`: the library's functions and models for Python.
//!
//! | module | contents |
//! |---|---|
//! | `errors` | errors of the library as exceptions |
//! | `watched` | long work: Ctrl-C, progress, the released interpreter lock |
//! | `arrays` | NumPy arrays as batches of vectors |
//! | `names` | vectors with names and units |
//! | `points` | times, states and inputs of a batch |
//! | `linear` | matrices and linear models as arrays |
//! | `package` | a spec or an FMU: check, build, simulate, linearise, campaigns |
//! | `sensitivities` | derivatives of a run; identification |
//! | `run` | the results of a run |
//! | `model` | derivatives, outputs and mechanics of a model |
//! | `simulation` | a run, step by step |
//! | `conversion` | a dictionary as TOML; URDF, templates, pages of recorded results |

use pyo3::prelude::*;

mod arrays;
mod conversion;
mod errors;
mod linear;
mod model;
mod names;
mod package;
mod points;
mod run;
mod sensitivities;
mod simulation;
mod together;
mod watched;

/// The library of grapple. The package `grapple_fmu` documents its use.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::conversion::{dispersed, import_urdf, mount_urdf, page, template, templates, to_toml};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::package::Package;
    #[pymodule_export]
    use crate::run::Run;
    #[pymodule_export]
    use crate::sensitivities::{identify, sensitivities};
    #[pymodule_export]
    use crate::simulation::{Saved, Simulation};
    #[pymodule_export]
    use crate::together::Together;

    use pyo3::prelude::*;
    use std::ffi::OsString;
    use std::io::Write;

    /// Runs the tool's command line; `words` are the name of the program and the arguments. Returns
    /// the exit code.
    #[pyfunction]
    fn command_line(py: Python<'_>, words: Vec<OsString>) -> u8 {
        py.detach(|| {
            let code = fmu_build::command_line(words);
            let _ = std::io::stdout().flush();
            code
        })
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
