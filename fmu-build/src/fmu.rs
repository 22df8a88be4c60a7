//! An FMU built by grapple, unpacked and loaded, with its model description.

use crate::compiled_spec::CompiledSpec;
use crate::error::{Context, Error, Result};
use crate::library::{self, Library};
use crate::package::Package;
use crate::platform::Platform;
use crate::shapes::Meshes;
use crate::slave::FmuLibrary;
use crate::summaries::unknown;
use crate::{archive, results};
use grapple::fmu::description::{self, Interfaces};
use grapple::fmu::registry::Naming;
use grapple::plant::Model;
use model_description::{Causality, FmiVersion, Kind, ModelDescription, ScalarVariable, TypeKind, Variability};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// An unpacked FMU, its library loaded.
pub struct Fmu {
    /// Model description of the FMU.
    pub description: ModelDescription,
    /// Model in the FMU's `resources/`, compiled; if the FMU was built from a spec, with its shapes.
    pub model: Model,
    /// Meshes of the shapes.
    pub meshes: Meshes,
    /// Loaded library of the FMU, which creates instances.
    pub library: FmuLibrary,
    /// Files from which the FMU was read.
    pub reads: Vec<PathBuf>,
    folder: PathBuf,
    /// The last field, so that it is dropped after the library, whose file is in this folder.
    _temporary: Option<TempDir>,
}

impl Fmu {
    /// Unpacks an FMU into a temporary folder and loads it; for a spec, its FMU is built first.
    ///
    /// # Errors
    /// All errors of a spec; an FMU that cannot be read, was not built by grapple, or does not run
    /// here.
    pub fn open(path: &Path) -> Result<Self> {
        let package = Package::of(path)?;
        let folder = TempDir::with_prefix("grapple-").context(|| "cannot make a temporary folder")?;
        let mut fmu = Self::unpack(&package, folder.path())?;
        fmu._temporary = Some(folder);
        Ok(fmu)
    }

    /// Unpacks an FMU into an empty folder and loads it; for a spec, its FMU is built first. The
    /// caller must keep the folder until the FMU is dropped.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn unpack(package: &Package, folder: &Path) -> Result<Self> {
        let file = match package {
            Package::Fmu(path) => path.clone(),
            Package::Spec(_) => {
                let file = folder.join("built.fmu");
                std::fs::write(&file, package.fmu(&[Library::embedded(Platform::here())?])?.bytes).other()?;
                file
            }
        };
        archive::unpack(&file, folder, archive::ALL_LIMIT)?;
        let description = archive::description(&file)?;
        let mut model = archive::model(&file)?;
        let mut meshes = Meshes::default();
        if let Some(compiled) = package.spec() {
            // The FMU does not contain the shapes.
            model.spec.clone_from(&compiled.model.spec);
            meshes.clone_from(&compiled.meshes);
        }
        Ok(Self {
            model,
            meshes,
            library: FmuLibrary::new(folder, &description)?,
            description,
            reads: package.reads(),
            folder: folder.to_owned(),
            _temporary: None,
        })
    }

    /// Returns the FMU of a spec as an instance in this process: without an archive and a library,
    /// with the results of the FMU.
    ///
    /// # Errors
    /// None for a compiled model.
    pub fn in_process(compiled: &CompiledSpec) -> Result<Self> {
        Ok(Self {
            description: description::describe(&compiled.model, Naming::Structured, Interfaces::Both)?,
            model: Model::clone(&compiled.model),
            meshes: compiled.meshes.clone(),
            library: FmuLibrary::in_process(&compiled.model)?,
            reads: compiled.reads.clone(),
            folder: PathBuf::new(),
            _temporary: None,
        })
    }

    /// Returns true if the FMU has a log category of this name.
    pub fn logs(&self, category: &str) -> bool {
        self.description.log_categories.iter().any(|own| own.name == category)
    }

    /// Returns the bytes of the shared library for this platform.
    ///
    /// # Errors
    /// The file can no longer be read.
    pub fn library_bytes(&self) -> Result<Vec<u8>> {
        std::fs::read(self.file()?).other()
    }

    fn file(&self) -> Result<PathBuf> {
        let description = &self.description;
        let identifier = archive::identifier(description)?;
        Ok(library::file(&self.folder, description.fmi_version, identifier))
    }

    /// Loads another library with the functions of the FMU's own.
    ///
    /// # Errors
    /// The library cannot be written or loaded.
    pub fn load(&self, library: &[u8]) -> Result<FmuLibrary> {
        // A file that is loaded is not written again.
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let file = self.folder.join(format!("lanes{number}{}", Platform::here().suffix()));
        std::fs::write(&file, library).context(|| format!("cannot write {}", file.display()))?;
        FmuLibrary::in_file(&file, &self.folder, &self.description)
    }

    /// Returns the variables for which `wanted` is true, in the FMU's order.
    pub fn variables(&self, wanted: impl Fn(&ScalarVariable) -> bool) -> Vec<&ScalarVariable> {
        self.description.model_variables.iter().filter(|v| wanted(v)).collect()
    }

    /// Returns a variable's unit in FMI's notation; empty for a pure number.
    pub fn unit<'a>(&'a self, variable: &'a ScalarVariable) -> &'a str {
        self.description.unit_of(variable).unwrap_or_default()
    }

    /// Returns the declared minimum and maximum of a Real.
    pub fn limits(&self, variable: &ScalarVariable) -> [Option<f64>; 2] {
        let Kind::Real(real) = &variable.kind else {
            return [None, None];
        };
        let declared = self.description.declared_type(variable).map(|declared| &declared.kind);
        let [min, max] = match declared {
            Some(TypeKind::Real(declared)) => [declared.min, declared.max],
            _ => [None, None],
        };
        [real.min.or(min), real.max.or(max)]
    }

    /// Returns a parameter or input by its name.
    ///
    /// # Errors
    /// No parameter or input has this name; the message gives the most similar name.
    pub fn settable(&self, name: &str) -> Result<&ScalarVariable> {
        let variables = self.variables(|v| matches!(v.causality, Causality::Parameter | Causality::Input));
        let found = variables.iter().find(|v| v.name == name);
        let known = || names(&variables);
        // A state is set at the start by the parameter with this suffix.
        let (base, index) = name.split_at(name.find('[').unwrap_or(name.len()));
        let start = format!("{base}_start{index}");
        found.copied().ok_or_else(|| {
            Error::Invalid(match known().find(|known| *known == start) {
                Some(start) => format!("{name:?} is a result; its value at the start is the parameter {start:?}"),
                None => unknown("parameter or input", name, known()),
            })
        })
    }

    /// Returns the value reference of an input by its structured name, and true if the input
    /// changes at events only.
    pub fn input(&self, name: &str) -> Option<(u32, bool)> {
        let is = results::called(name);
        let inputs = self.description.model_variables.iter();
        let found = inputs
            .filter(|v| v.causality == Causality::Input)
            .find(|v| is(&v.name))?;
        Some((found.value_reference, found.variability == Variability::Discrete))
    }
}

/// Returns the names of variables.
pub fn names<'a>(variables: &'a [&ScalarVariable]) -> impl Iterator<Item = &'a str> {
    variables.iter().map(|v| v.name.as_str())
}

/// Returns true if a variable is a Real.
pub fn is_real(variable: &ScalarVariable) -> bool {
    matches!(variable.kind, Kind::Real(_))
}

/// Returns the start value of a variable as a number, if it has one.
pub fn start(variable: &ScalarVariable) -> Option<f64> {
    match &variable.kind {
        Kind::Real(real) => real.start,
        Kind::Integer(integer) => integer.start.map(f64::from),
        Kind::Boolean(boolean) => boolean.start.map(|start| f64::from(u8::from(start))),
        Kind::String(_) | Kind::Enumeration(_) => None,
    }
}

/// Returns true if a variable can be set and read as a number.
pub fn is_number(variable: &ScalarVariable, version: FmiVersion) -> bool {
    match version {
        FmiVersion::V2_0 => is_real(variable),
        FmiVersion::V3_0 => matches!(variable.kind, Kind::Real(_) | Kind::Integer(_) | Kind::Boolean(_)),
    }
}

/// Returns a function that is true for variables of a run's table: those that may change and can be
/// read as numbers, without the event indicators that FMI 3.0 lists.
pub fn recorded(description: &ModelDescription) -> impl Fn(&ScalarVariable) -> bool + use<> {
    let indicators = description.model_structure.event_indicators.iter();
    let indicators = indicators.filter_map(|unknown| Some(description.variable(unknown.index)?.value_reference));
    let indicators: BTreeSet<u32> = indicators.collect();
    let version = description.fmi_version;
    move |variable| {
        let changes = matches!(
            variable.causality,
            Causality::Input | Causality::Output | Causality::Local
        );
        let can_be_read = is_number(variable, version) || matches!(variable.kind, Kind::Boolean(_));
        changes && can_be_read && !indicators.contains(&variable.value_reference)
    }
}
