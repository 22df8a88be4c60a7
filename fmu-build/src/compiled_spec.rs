//! A spec file, read and compiled, or all its errors.

use crate::error::{Result, invalid};
use crate::plausible::implausible;
use crate::problems::Problems;
use crate::shapes::{Meshes, hulls};
use crate::toml_file;
use grapple::fmu::registry::{Naming, Registry};
use grapple::plant::{Model, Planned, Remarks, plans};
use grapple::spec::{Composed, Spec, compose};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A valid spec and the model compiled from it.
pub struct CompiledSpec {
    /// The compiled model.
    pub model: Arc<Model>,
    /// Meshes of its shapes.
    pub meshes: Meshes,
    /// Files that were read: the spec, those that it includes, the tables of its signals, and the
    /// meshes of its shapes.
    pub reads: Vec<PathBuf>,
    /// Settings of mounted specs that do not apply, as sentences.
    pub unused: Vec<String>,
    /// Name of the spec's file for messages.
    pub file: String,
    /// Text of the spec with what it includes; empty if the spec has not been read from a text.
    pub composed: String,
    /// Names, texts and prefixes of the spec's file and of those that it includes.
    texts: Vec<(String, String, String)>,
}

impl CompiledSpec {
    /// Reads a spec file, compiles it, validates its numbers and checks the names of all variables
    /// for conflicts.
    ///
    /// # Errors
    /// A file that cannot be read; else [`Problems`] with all errors, each at its position in the
    /// file.
    pub fn read(path: &Path) -> Result<Self> {
        let file = path.display().to_string();
        let text = toml_file::read(path, "spec")?;
        let directory = path.parent().unwrap_or(Path::new(""));
        let mut compiled = Self::parse(&text, directory, &file)?;
        compiled.reads.insert(0, path.to_owned());
        Ok(compiled)
    }

    /// Compiles the text of a spec. Paths of included specs and of its signals' tables are relative
    /// to `directory`; `file` is the spec's name for messages.
    ///
    /// # Errors
    /// [`Problems`] with all errors, each at its position in the text, or in that of an included
    /// spec.
    pub fn parse(text: &str, directory: &Path, file: &str) -> Result<Self> {
        let failed = |error, files: &[(&str, &str, &str)]| match error {
            grapple::Error::Spec(problems) => Problems::locate_in(&problems, files).into(),
            other => invalid!("{file}: {other}"),
        };
        let mut composed = compose(text, directory).map_err(|error| failed(error, &[(file, text, "")]))?;
        let folders = folders(&composed, directory);
        let of_contacts = hulls::read(&mut composed, directory, &folders);
        let paths: Vec<PathBuf> = (composed.included.iter())
            .map(|included| directory.join(&included.path))
            .collect();
        let own = (file.to_owned(), text.to_owned(), String::new());
        let included = composed.included.iter().zip(&paths).rev();
        let others = included.map(|(file, path)| (path.display().to_string(), file.text.clone(), file.prefix.clone()));
        let texts: Vec<_> = std::iter::once(own).chain(others).collect();
        let located = |error| failed(error, &borrowed(&texts));
        let model = Model::read_composed(&composed, directory).and_then(checked);
        let (model, meshes) = with_meshes(model, &composed, directory).map_err(located)?;
        let tables = tables(&composed.text).into_iter().map(|table| directory.join(table));
        let mut reads: Vec<PathBuf> = paths
            .into_iter()
            .chain(tables)
            .chain(meshes.reads().cloned())
            .chain(of_contacts)
            .collect();
        let mut known = HashSet::new();
        reads.retain(|path| known.insert(path.clone()));
        Ok(Self {
            model,
            meshes,
            reads,
            unused: composed.unused,
            file: file.to_owned(),
            composed: composed.text,
            texts,
        })
    }

    /// Compiles a spec.
    ///
    /// # Errors
    /// [`Error::Model`](crate::Error::Model) with all errors, each with the name of its field.
    pub fn of(spec: &Spec) -> Result<Self> {
        Ok(Self {
            model: Model::compile(spec).and_then(checked)?,
            meshes: Meshes::default(),
            reads: Vec::new(),
            unused: Vec::new(),
            file: spec.name.clone(),
            composed: String::new(),
            texts: Vec::new(),
        })
    }

    /// Returns the plans of a spec file by name, which its model has as signals.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn plans(path: &Path) -> Result<Vec<(String, Planned)>> {
        let text = toml_file::read(path, "spec")?;
        let spec = grapple::spec::read(&text, path.parent().unwrap_or(Path::new("")))?;
        Ok(plans(&spec)?)
    }

    /// Returns the frequencies of flexible bodies, and warnings about unlikely values, with their
    /// positions in the spec's files.
    ///
    /// # Errors
    /// None for a valid spec.
    pub fn remarks(&self) -> Result<Remarks> {
        let mut remarks = Remarks::on(&self.model)?;
        remarks.warnings.extend(self.located(&implausible(&self.model)?));
        Ok(remarks)
    }

    /// Returns problems as lines of text, with their positions in the spec's files.
    pub(crate) fn located(&self, found: &[grapple::Problem]) -> Vec<String> {
        match self.texts.is_empty() {
            true => found.iter().map(ToString::to_string).collect(),
            false => Problems::with_places(found, &borrowed(&self.texts)),
        }
    }
}

/// Returns files as they are located.
fn borrowed(texts: &[(String, String, String)]) -> Vec<(&str, &str, &str)> {
    let files = texts.iter().map(|(file, text, prefix)| (&**file, &**text, &**prefix));
    files.collect()
}

/// Returns the folders of a spec and of those that it includes, whose meshes are read.
fn folders(composed: &Composed, directory: &Path) -> Vec<PathBuf> {
    let included = composed.included.iter().filter_map(|included| included.path.parent());
    let included = included.map(|folder| directory.join(folder));
    std::iter::once(directory.to_owned()).chain(included).collect()
}

/// Returns a model with the meshes of its shapes.
///
/// # Errors
/// The problems of the shapes, and those of the model.
fn with_meshes(
    model: Result<Arc<Model>, grapple::Error>,
    composed: &Composed,
    directory: &Path,
) -> Result<(Arc<Model>, Meshes), grapple::Error> {
    let folders = folders(composed, directory);
    let read = |spec: &Spec| Meshes::read(spec, directory, &folders);
    match model {
        Ok(model) => match read(&model.spec) {
            Ok(meshes) => Ok((model, meshes)),
            Err(problems) => Err(grapple::Error::Spec(problems)),
        },
        Err(grapple::Error::Spec(mut problems)) => {
            let spec = grapple::spec::from_toml(&composed.text).ok();
            problems.extend(spec.and_then(|spec| read(&spec).err()).into_iter().flatten());
            Err(grapple::Error::Spec(problems))
        }
        Err(other) => Err(other),
    }
}

/// Checks the names of all variables for conflicts. Structured names suffice, since importers
/// derive the same identifiers from structured and flat names.
fn checked(model: Model) -> Result<Arc<Model>, grapple::Error> {
    let model = Arc::new(model);
    Registry::new(Arc::clone(&model), Naming::Structured).check_names()?;
    Ok(model)
}

/// Returns the files of the signals' tables, as the text of a spec names them. (In a spec that has
/// been read, the tables' numbers replace the file names.)
fn tables(text: &str) -> Vec<String> {
    let spec: toml::Table = text.parse().unwrap_or_default();
    let signals = spec.get("signal").and_then(toml::Value::as_table);
    let files = signals.into_iter().flat_map(toml::Table::values);
    files
        .filter_map(|signal| Some(signal.get("file")?.as_str()?.to_owned()))
        .collect()
}
