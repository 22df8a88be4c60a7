//! A spec file read and compiled, or everything that is wrong with it.

use crate::problems::{Problems, SIZE_LIMIT};
use crate::text::{say, warn};
use grapple::Error;
use grapple::fmu::registry::{Naming, Registry};
use grapple::plant::{Model, Remarks};
use grapple::spec::read_text;
use miette::{IntoDiagnostic, Report, Result, WrapErr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A spec that makes sense, compiled.
pub struct Craft {
    /// The compiled model.
    pub model: Arc<Model>,
    /// The files that it was read from: the spec, and the tables of its signals.
    pub reads: Vec<PathBuf>,
    /// The spec's name for people.
    file: String,
}

impl Craft {
    /// Reads a spec file, compiles it, tries its numbers and compares the names of all variables.
    ///
    /// # Errors
    /// A file that cannot be read; else [`Problems`] with all that is wrong, each at its place in the
    /// file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = read_text(path, SIZE_LIMIT)
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot read {}", path.display()))?;
        let directory = path.parent().unwrap_or(Path::new(""));
        let model = Model::read(&text, directory).and_then(|model| {
            let model = Arc::new(model);
            // What an importer makes of the names does not depend on how they are written.
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

    /// Tells the frequencies of what bends, unless quiet, and what is likely not meant.
    ///
    /// # Errors
    /// It cannot be printed.
    pub fn remark(&self, quiet: bool) -> Result<()> {
        let remarks = Remarks::on(&self.model).into_diagnostic()?;
        if !quiet {
            remarks.flexible.iter().try_for_each(|line| say(&format!("  {line}")))?;
        }
        for warning in &remarks.warnings {
            warn(&format!("{}: warning: {warning}", self.file));
        }
        Ok(())
    }
}

/// The files of the signals' tables, as a spec names them. (In a spec that has been read their numbers are in their place.)
fn tables(text: &str) -> Vec<String> {
    let spec: toml::Table = text.parse().unwrap_or_default();
    let signals = spec.get("signal").and_then(toml::Value::as_table);
    let files = signals.into_iter().flat_map(toml::Table::values);
    files
        .filter_map(|signal| Some(signal.get("file")?.as_str()?.to_owned()))
        .collect()
}

/// An error of the library, with its places in the file if it has any.
fn report(error: Error, path: &Path, text: &str) -> Report {
    let file = path.display().to_string();
    match error {
        Error::Spec(problems) => Problems::locate(&problems, &file, text).into(),
        other => miette::miette!("{file}: {other}"),
    }
}
