//! The FMU of a model.

use crate::archive::{self, Content};
use crate::compiled_spec::CompiledSpec;
use crate::component;
use crate::documentation::documentation;
use crate::error::{Result, invalid};
use crate::library::Library;
use crate::platform::Platform;
use crate::reference;
use grapple::fmu::description::{self, Interfaces};
use grapple::fmu::lifecycle::Standard;
use grapple::fmu::registry::Naming;
use grapple::plant::Model;
use model_description::ModelDescription;
use std::borrow::Cow;
use std::sync::Arc;

/// Options of an FMU; by default it is one of FMI 2.0 with both interfaces, structured names and
/// diagnostics.
#[derive(Clone, Copy, Debug)]
pub struct BuildOptions {
    /// Version of the standard.
    pub standard: Standard,
    /// Interfaces that the FMU offers.
    pub interfaces: Interfaces,
    /// Naming of the variables.
    pub naming: Naming,
    /// Set to make vectors and quaternions one variable each; FMI 3.0 only.
    pub arrays: bool,
    /// Set to include the spec and the results of its experiment, which `check` compares.
    pub reference: bool,
    /// Set to include the variables `system.*`: momentum, mass centre, energies, work, and the
    /// state that integrates the work. A spec can disable them as well.
    pub diagnostics: bool,
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            standard: Standard::Fmi2,
            interfaces: Interfaces::Both,
            naming: Naming::Structured,
            arrays: false,
            reference: false,
            diagnostics: true,
        }
    }
}

/// An FMU in memory.
pub struct BuiltFmu {
    /// Bytes of the archive.
    pub bytes: Vec<u8>,
    /// Model description in the archive.
    pub description: ModelDescription,
}

/// Builds the FMU of a spec with the given shared libraries. Equal specs, options and libraries give
/// equal bytes.
///
/// # Errors
/// Arrays in FMI 2.0, for WebAssembly, or with reference results; WebAssembly in FMI 2.0; reference
/// results of an FMU that cannot be run here, or whose run fails. None else for a compiled model.
pub fn build(compiled: &CompiledSpec, options: &BuildOptions, libraries: &[Library]) -> Result<BuiltFmu> {
    let mut model = Cow::Borrowed(&compiled.model);
    if !options.diagnostics {
        let mut spec = model.spec.clone();
        spec.output.diagnostics = false;
        model = Cow::Owned(Arc::new(Model::compile(&spec)?));
    }
    let description = match (options.arrays, options.standard) {
        (false, standard) => description::describe_for(standard, &model, options.naming, options.interfaces)?,
        (true, Standard::Fmi3) => description::describe_with_arrays(&model, options.naming, options.interfaces)?,
        (true, Standard::Fmi2) => return Err(invalid!("FMI 2.0 has no arrays: arrays need an FMU of FMI 3.0")),
    };
    let identifier = archive::identifier(&description)?;
    let platforms: Vec<Platform> = libraries.iter().map(|library| library.platform).collect();
    let mut contents = documentation(&model, &compiled.meshes, &description, &platforms)?;
    let model_file = model.to_bytes()?;
    for library in libraries {
        if library.platform == Platform::Wasm {
            contents.extend(component::files(library, &model_file, identifier, options)?);
            continue;
        }
        contents.extend(library.paths(options.standard, identifier).map(|path| Content {
            path,
            bytes: library.bytes.clone(),
            executable: true,
        }));
    }
    contents.push(Content::new(archive::MODEL, model_file));
    let mut bytes = archive::pack(&description, &contents)?;
    if options.reference {
        if options.arrays {
            return Err(invalid!(
                "reference results need an FMU with scalars: leave out either of the two"
            ));
        }
        contents.extend(reference::files(compiled, &bytes)?);
        bytes = archive::pack(&description, &contents)?;
    }
    Ok(BuiltFmu { bytes, description })
}
