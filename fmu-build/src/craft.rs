//! A spec file read and compiled, or everything that is wrong with it.

use crate::text::{say, warn};
use grapple::fmu::registry::{Naming, Registry};
use grapple::plant::{Model, Remarks};
use grapple::spec::{Source, read_text};
use grapple::{Error, Problem};
use miette::{Diagnostic, IntoDiagnostic, NamedSource, Report, Result, SourceSpan, WrapErr};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A larger file is not read, bytes: what is long in a spec are tables, which have files of their own.
pub const SIZE_LIMIT: u64 = 64 << 20;

/// A spec that makes sense, compiled.
pub struct Craft {
    /// The compiled model.
    pub model: Arc<Model>,
    /// The file's name.
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
        match model {
            Ok(model) => Ok(Self {
                model,
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

/// An error of the library, with its places in the file if it has any.
fn report(error: Error, path: &Path, text: &str) -> Report {
    let file = path.display().to_string();
    match error {
        Error::Spec(problems) => Problems::locate(&problems, &file, text).into(),
        other => miette::miette!("{file}: {other}"),
    }
}

/// All that is wrong with one file, in its order.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{summary}")]
pub struct Problems {
    summary: String,
    #[related]
    problems: Vec<Located>,
}

/// One problem, at its place in the file.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{what}")]
struct Located {
    what: String,
    #[source_code]
    file: NamedSource<Arc<str>>,
    #[label]
    place: Option<SourceSpan>,
}

/// No more problems of a file are shown: nobody reads them, and each place is looked for from the beginning of the text.
const MOST_SHOWN: usize = 100;

/// A longer line is not shown, bytes: nobody reads it, and `miette` cannot underline what stands beyond its column 65535.
const LONGEST_LINE: usize = 1000;

/// Whether the lines at a place, and those around it, can be shown.
fn is_shown(text: &str, place: &Range<usize>) -> bool {
    let before = text.get(..place.start).unwrap_or_default().rmatch_indices('\n').nth(1);
    let after = text.get(place.end..).unwrap_or_default().match_indices('\n').nth(1);
    let from = before.map_or(0, |(i, _)| i);
    let to = after.map_or(text.len(), |(i, _)| place.end + i);
    text[from..to].lines().all(|line| line.len() <= LONGEST_LINE)
}

/// "12:3"
fn line_and_column(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let last = before.rsplit('\n').next().unwrap_or_default();
    format!("{}:{}", before.matches('\n').count() + 1, last.chars().count() + 1)
}

impl Problems {
    /// What is wrong with a file of this name and text, each with its bytes in it.
    pub fn of(file: &str, text: &str, language: &str, mut problems: Vec<(String, Option<Range<usize>>)>) -> Self {
        let shared: Arc<str> = text.into();
        problems.sort_by_key(|(_, place)| place.as_ref().map_or(0, |place| place.start));
        let mut summary = format!("{file}: {}", crate::text::count(problems.len(), "problem"));
        if problems.len() > MOST_SHOWN {
            summary += &format!("; the first {MOST_SHOWN} are");
            problems.truncate(MOST_SHOWN);
        }
        let problems: Vec<Located> = problems
            .into_iter()
            .map(|(what, place)| {
                let (what, place) = match place {
                    Some(place) if !is_shown(text, &place) => {
                        let place = line_and_column(text, place.start);
                        (format!("{what} [{file}:{place}]"), None)
                    }
                    place => (what, place.map(SourceSpan::from)),
                };
                let file = NamedSource::new(file, shared.clone()).with_language(language);
                Located { what, file, place }
            })
            .collect();
        Self { summary, problems }
    }

    fn locate(problems: &[Problem], file: &str, text: &str) -> Self {
        let source = Source::new(text);
        let located = problems.iter().map(|p| (p.to_string(), source.locate(p)));
        Self::of(file, text, "TOML", located.collect())
    }
}
