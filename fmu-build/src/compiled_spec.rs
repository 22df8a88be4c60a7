//! A spec file, read and compiled, or all its errors.

use crate::problems::{Problems, SIZE_LIMIT};
use crate::text::{print, warn};
use grapple::Error;
use grapple::fmu::registry::{Naming, Registry};
use grapple::plant::{Model, Remarks};
use grapple::spec::read_text;
use miette::{IntoDiagnostic, Report, Result, WrapErr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A valid spec, compiled.
pub struct CompiledSpec {
    /// The compiled model.
    pub model: Arc<Model>,
    /// Files it was read from: the spec, and the tables of its signals.
    pub reads: Vec<PathBuf>,
    /// The spec's file name for messages.
    file: String,
}

impl CompiledSpec {
    /// Reads a spec file, compiles it, validates its numbers and checks the names of all variables
    /// for conflicts.
    ///
    /// # Errors
    /// A file that cannot be read; else [`Problems`] with all errors, each at its position in the
    /// file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = read_text(path, SIZE_LIMIT)
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot read {}", path.display()))?;
        let directory = path.parent().unwrap_or(Path::new(""));
        let model = Model::read(&text, directory).and_then(|model| {
            let model = Arc::new(model);
            // Importers derive the same identifiers from structured and flat names.
            Registry::new(Arc::clone(&model), Naming::Structured).check_names()?;
            Ok(model)
        });
        let mut reads = vec![path.to_owned()];
        reads.extend(tables(&text).iter().map(|file| directory.join(file)));
        match model {
            Ok(model) => Ok(Self {
                model,
                reads,
                file: path.display().to_string(),
            }),
            Err(error) => Err(report(error, path, &text)),
        }
    }

    /// Prints the frequencies of flexible bodies, unless `quiet`, and warnings about unlikely
    /// values.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn remark(&self, quiet: bool) -> Result<()> {
        let remarks = Remarks::on(&self.model).into_diagnostic()?;
        if !quiet {
            remarks
                .flexible
                .iter()
                .try_for_each(|line| print(&format!("  {line}")))?;
        }
        for warning in &remarks.warnings {
            warn(&format!("{}: warning: {warning}", self.file));
        }
        Ok(())
    }
}

/// Returns the files of the signals' tables, as a spec names them. (A spec that has been read
/// contains their numbers instead.)
fn tables(text: &str) -> Vec<String> {
    let spec: toml::Table = text.parse().unwrap_or_default();
    let signals = spec.get("signal").and_then(toml::Value::as_table);
    let files = signals.into_iter().flat_map(toml::Table::values);
    files
        .filter_map(|signal| Some(signal.get("file")?.as_str()?.to_owned()))
        .collect()
}

/// Returns an error of the library, with its positions in the file if it has any.
fn report(error: Error, path: &Path, text: &str) -> Report {
    let file = path.display().to_string();
    match error {
        Error::Spec(problems) => Problems::locate(&problems, &file, text).into(),
        other => miette::miette!("{file}: {other}"),
    }
}
