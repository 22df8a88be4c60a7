//! A spec or an FMU, by its file name.

use crate::archive;
use crate::build::{BuildOptions, BuiltFmu, build};
use crate::compiled_spec::CompiledSpec;
use crate::error::{Context, Result};
use crate::library::{Library, embedded_platforms};
use grapple::fmu::description::{self, Interfaces};
use grapple::fmu::registry::Naming;
use grapple::plant::Model;
use model_description::ModelDescription;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A spec, or an FMU.
pub enum Package {
    /// A spec, from which an FMU can be built.
    Spec(CompiledSpec),
    /// The file of an FMU, of this or any other tool.
    Fmu(PathBuf),
}

/// Returns true if a file is an FMU by its name.
pub fn is_fmu(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("fmu"))
}

impl Package {
    /// Opens a file: a name with `.fmu` is an FMU, any other a spec, which is read.
    ///
    /// # Errors
    /// All errors of the spec.
    pub fn of(path: &Path) -> Result<Self> {
        match is_fmu(path) {
            true => Ok(Self::Fmu(path.to_owned())),
            false => CompiledSpec::read(path).map(Self::Spec),
        }
    }

    /// Returns the spec; none for an FMU.
    pub fn spec(&self) -> Option<&CompiledSpec> {
        match self {
            Self::Spec(compiled) => Some(compiled),
            Self::Fmu(_) => None,
        }
    }

    /// Returns the files from which the spec or FMU is read.
    pub fn reads(&self) -> Vec<PathBuf> {
        match self {
            Self::Spec(compiled) => compiled.reads.clone(),
            Self::Fmu(path) => vec![path.clone()],
        }
    }

    /// Returns the model description of the FMU; for a spec, without building its FMU.
    ///
    /// # Errors
    /// An archive that cannot be read.
    pub fn description(&self) -> Result<ModelDescription> {
        match self {
            Self::Spec(compiled) => Ok(description::describe(
                &compiled.model,
                Naming::Structured,
                Interfaces::Both,
            )?),
            Self::Fmu(path) => archive::description(path),
        }
    }

    /// Returns the model; that of an FMU is read and compiled.
    ///
    /// # Errors
    /// An archive that cannot be read, or that grapple did not build.
    pub fn model(&self) -> Result<Arc<Model>> {
        match self {
            Self::Spec(compiled) => Ok(Arc::clone(&compiled.model)),
            Self::Fmu(path) => archive::model(path).map(Arc::new),
        }
    }

    /// Returns the platforms on which the FMU runs; for a spec, those of the embedded libraries.
    ///
    /// # Errors
    /// An archive that cannot be read.
    pub fn platforms(&self) -> Result<Vec<String>> {
        match self {
            Self::Spec(_) => Ok(embedded_platforms()
                .filter(|platform| platform.is_default())
                .map(|platform| platform.to_string())
                .collect()),
            Self::Fmu(path) => archive::platforms(path),
        }
    }

    /// Returns the FMU. For a spec it is built, with both interfaces and the given libraries.
    ///
    /// # Errors
    /// An archive that cannot be read.
    pub fn fmu(&self, libraries: &[Library]) -> Result<BuiltFmu> {
        match self {
            Self::Spec(compiled) => build(compiled, &BuildOptions::default(), libraries),
            Self::Fmu(path) => Ok(BuiltFmu {
                bytes: std::fs::read(path).context(|| format!("cannot read {}", path.display()))?,
                description: archive::description(path)?,
            }),
        }
    }
}
