//! A spec or an FMU, as named on the command line, and its FMU.

use crate::archive::{self, Content};
use crate::compiled_spec::CompiledSpec;
use crate::documentation::documentation;
use crate::library::Library;
use crate::platform::Platform;
use grapple::fmu::description::{self, Interfaces};
use grapple::fmu::registry::Naming;
use grapple::plant::Model;
use miette::{IntoDiagnostic, Result, WrapErr};
use model_description::ModelDescription;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A spec, or an FMU.
pub enum Package {
    /// A spec, from which an FMU can be built.
    Spec(CompiledSpec),
    /// The file of an FMU, of this or any other tool.
    Fmu(PathBuf),
}

impl Package {
    /// Opens a file: a name with `.fmu` is an FMU, any other a spec, which is read.
    ///
    /// # Errors
    /// All errors of the spec.
    pub fn of(path: &Path) -> Result<Self> {
        match path.extension().is_some_and(|e| e.eq_ignore_ascii_case("fmu")) {
            true => Ok(Self::Fmu(path.to_owned())),
            false => CompiledSpec::read(path).map(Self::Spec),
        }
    }

    /// Returns the files that it is read from.
    pub fn reads(&self) -> Vec<PathBuf> {
        match self {
            Self::Spec(compiled) => compiled.reads.clone(),
            Self::Fmu(path) => vec![path.clone()],
        }
    }

    /// Returns the model description of the FMU, which is not built for it.
    ///
    /// # Errors
    /// An archive that cannot be read.
    pub fn description(&self) -> Result<ModelDescription> {
        match self {
            Self::Spec(compiled) => {
                description::describe(&compiled.model, Naming::Structured, Interfaces::Both).into_diagnostic()
            }
            Self::Fmu(path) => archive::description(path),
        }
    }

    /// Returns the platforms of the FMU, which is not built for it.
    ///
    /// # Errors
    /// An archive that cannot be read.
    pub fn platforms(&self) -> Result<Vec<String>> {
        match self {
            Self::Spec(_) => Ok(vec![Platform::here().to_string()]),
            Self::Fmu(path) => archive::platforms(path),
        }
    }

    /// Returns the FMU's bytes and its model description. An FMU built from a spec has both
    /// interfaces and these libraries.
    ///
    /// # Errors
    /// An archive that cannot be read.
    pub fn fmu(&self, libraries: &[Library]) -> Result<(Vec<u8>, ModelDescription)> {
        match self {
            Self::Spec(compiled) => fmu(&compiled.model, Naming::Structured, Interfaces::Both, libraries),
            Self::Fmu(path) => {
                let bytes = std::fs::read(path)
                    .into_diagnostic()
                    .wrap_err_with(|| format!("cannot read {}", path.display()))?;
                Ok((bytes, archive::description(path)?))
            }
        }
    }
}

/// Returns the FMU of a model and its model description.
///
/// # Errors
/// None for a compiled model.
pub fn fmu(
    model: &Arc<Model>,
    naming: Naming,
    interfaces: Interfaces,
    libraries: &[Library],
) -> Result<(Vec<u8>, ModelDescription)> {
    let description = description::describe(model, naming, interfaces).into_diagnostic()?;
    let identifier = archive::identifier(&description)?;
    let platforms: Vec<Platform> = libraries.iter().map(|library| library.platform).collect();
    let mut contents = documentation(model, &description, &platforms)?;
    contents.extend(libraries.iter().map(|library| Content {
        path: library.path(identifier),
        bytes: Cow::Borrowed(&library.bytes),
        executable: true,
    }));
    let compiled = model.to_bytes().into_diagnostic()?;
    contents.push(Content::new(archive::MODEL, compiled));
    Ok((archive::pack(&description, &contents)?, description))
}
