//! What the command line names as a model, a spec or an FMU, and the FMU that it is or becomes.

use crate::archive::{self, Content};
use crate::craft::Craft;
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
    /// A spec, of which an FMU can be made.
    Spec(Craft),
    /// The file of an FMU, of this or any other tool.
    Fmu(PathBuf),
}

impl Package {
    /// What a file is: what is called `.fmu` is an FMU, all else a spec, which is read.
    ///
    /// # Errors
    /// All that is wrong with the spec.
    pub fn of(path: &Path) -> Result<Self> {
        match path.extension().is_some_and(|e| e.eq_ignore_ascii_case("fmu")) {
            true => Ok(Self::Fmu(path.to_owned())),
            false => Craft::read(path).map(Self::Spec),
        }
    }

    /// The files that it is read from.
    pub fn reads(&self) -> Vec<PathBuf> {
        match self {
            Self::Spec(craft) => craft.reads.clone(),
            Self::Fmu(path) => vec![path.clone()],
        }
    }

    /// What the FMU's XML says, or would say.
    ///
    /// # Errors
    /// An archive that cannot be read.
    pub fn description(&self) -> Result<ModelDescription> {
        match self {
            Self::Spec(craft) => {
                description::describe(&craft.model, Naming::Structured, Interfaces::Both).into_diagnostic()
            }
            Self::Fmu(path) => archive::description(path),
        }
    }

    /// The platforms on which the FMU runs, or would run.
    ///
    /// # Errors
    /// An archive that cannot be read.
    pub fn platforms(&self) -> Result<Vec<String>> {
        match self {
            Self::Spec(_) => Ok(vec![Platform::here().to_string()]),
            Self::Fmu(path) => archive::platforms(path),
        }
    }

    /// The FMU's bytes, and what its XML says. One that is made has both interfaces and these libraries.
    ///
    /// # Errors
    /// An archive that cannot be read.
    pub fn fmu(&self, libraries: &[Library]) -> Result<(Vec<u8>, ModelDescription)> {
        match self {
            Self::Spec(craft) => fmu(&craft.model, Naming::Structured, Interfaces::Both, libraries),
            Self::Fmu(path) => {
                let bytes = std::fs::read(path)
                    .into_diagnostic()
                    .wrap_err_with(|| format!("cannot read {}", path.display()))?;
                Ok((bytes, archive::description(path)?))
            }
        }
    }
}

/// The FMU of a model, and what its XML says.
///
/// # Errors
/// None that a compiled model can cause.
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
