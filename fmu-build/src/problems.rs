//! All errors of one file, each at its position in it.

use crate::error::Error;
use crate::text::count;
use grapple::Problem;
use grapple::spec::{Source, places};
use miette::{Diagnostic, NamedSource, SourceSpan};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Upper limit of a file's size, bytes. Large data of a spec are tables in separate files, to which
/// this limit does not apply.
pub const SIZE_LIMIT: u64 = 64 << 20;

/// All errors of one file in order of position.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{summary}")]
pub struct Problems {
    summary: String,
    #[related]
    problems: Vec<Located>,
}

/// One problem with its position in the file.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{what}")]
struct Located {
    what: String,
    position: Option<(usize, usize)>,
    #[source_code]
    file: NamedSource<Arc<str>>,
    #[label]
    place: Option<SourceSpan>,
}

/// Largest number of problems printed per file. The line of each position is counted from the
/// beginning of the text, which takes time.
const MOST_SHOWN: usize = 100;

/// Length of a source line, bytes, above which it is not printed with its error: `miette` cannot
/// underline beyond column 65535.
const LONGEST_LINE: usize = 1000;

/// Returns true if the lines around a position are short enough to be printed.
fn is_shown(text: &str, place: &Range<usize>) -> bool {
    let before = text.get(..place.start).unwrap_or_default().rmatch_indices('\n').nth(1);
    let after = text.get(place.end..).unwrap_or_default().match_indices('\n').nth(1);
    let from = before.map_or(0, |(i, _)| i);
    let to = after.map_or(text.len(), |(i, _)| place.end + i);
    text[from..to].lines().all(|line| line.len() <= LONGEST_LINE)
}

/// Returns line and column of a byte's position, both from one.
fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or_default();
    let last = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, last.chars().count() + 1)
}

impl Problems {
    /// Returns the problems of a file with this name and text, each with its byte range.
    pub fn of(file: &str, text: &str, language: &str, problems: Vec<(String, Option<Range<usize>>)>) -> Self {
        let problems = problems.into_iter().map(|(what, place)| (what, 0, place));
        Self::of_files(&[(file, text)], language, problems.collect())
    }

    /// Returns the problems of files with these names and texts, each with the index of its file and
    /// its byte range. The summary names the first file.
    fn of_files(
        files: &[(&str, &str)],
        language: &str,
        mut problems: Vec<(String, usize, Option<Range<usize>>)>,
    ) -> Self {
        let shared: Vec<Arc<str>> = files.iter().map(|&(_, text)| text.into()).collect();
        let file = files[0].0;
        problems.sort_by_key(|(_, index, place)| (*index, place.as_ref().map_or(0, |place| place.start)));
        let mut summary = format!("{file}: {}", count(problems.len(), "problem"));
        if problems.len() > MOST_SHOWN {
            summary += &format!("; the first {MOST_SHOWN} are");
            problems.truncate(MOST_SHOWN);
        }
        let problems: Vec<Located> = problems
            .into_iter()
            .map(|(what, index, place)| {
                let (file, text) = files[index];
                let position = place.as_ref().map(|place| line_and_column(text, place.start));
                let (what, place) = match (place, position) {
                    (Some(place), Some((line, column))) if !is_shown(text, &place) => {
                        (format!("{what} [{file}:{line}:{column}]"), None)
                    }
                    (place, _) => (what, place.map(SourceSpan::from)),
                };
                Located {
                    what,
                    position,
                    file: NamedSource::new(file, shared[index].clone()).with_language(language),
                    place,
                }
            })
            .collect();
        Self { summary, problems }
    }

    /// Returns the problems of the file of a study with this text, as an error.
    pub(crate) fn of_study(path: &Path, text: &str, problems: &[Problem]) -> Error {
        let source = Source::new(text);
        let located = problems.iter().map(|problem| {
            let message = match problem.at.as_slice() {
                [place] if place.starts_with('@') => problem.what.clone(),
                [section, name, field @ ..] => {
                    let field: String = field.iter().map(|field| format!(", {field}")).collect();
                    format!("{section} {name:?}{field}: {}", problem.what)
                }
                [field] => format!("{field}: {}", problem.what),
                [] => problem.what.clone(),
            };
            (message, source.locate(problem))
        });
        Self::of(&path.display().to_string(), text, "TOML", located.collect()).into()
    }

    /// Returns the messages, each with line and column of its position, both from one.
    pub fn each(&self) -> impl Iterator<Item = (&str, Option<(usize, usize)>)> {
        self.problems.iter().map(|problem| (&*problem.what, problem.position))
    }

    /// Returns the messages, each with the name of its file and line and column of its position there.
    pub fn located(&self) -> impl Iterator<Item = (&str, &str, Option<(usize, usize)>)> {
        let problems = self.problems.iter();
        problems.map(|problem| (&*problem.what, problem.file.name(), problem.position))
    }

    /// Returns the problems of a TOML file, each located by the field that it names.
    pub fn locate(problems: &[Problem], file: &str, text: &str) -> Self {
        Self::locate_in(problems, &[(file, text, "")])
    }

    /// Returns the problems of a spec and of those that it includes and mounts, by file, text and
    /// prefix of their names. Each is located in the first file that contains its field, or most of
    /// the field's path: a file comes before those whose values it replaces.
    pub fn locate_in(problems: &[Problem], files: &[(&str, &str, &str)]) -> Self {
        let named: Vec<(&str, &str)> = files.iter().map(|&(file, text, _)| (file, text)).collect();
        Self::of_files(&named, "TOML", located(problems, files))
    }

    /// Returns the problems as [`locate_in`](Self::locate_in) does, each as a line of text that ends
    /// with its place: `… [my_arm.toml:9:1]`.
    pub fn with_places(problems: &[Problem], files: &[(&str, &str, &str)]) -> Vec<String> {
        let lines = located(problems, files).into_iter().map(|(what, index, place)| {
            let (file, text, _) = files[index];
            place.map_or(what.clone(), |place| {
                let (line, column) = line_and_column(text, place.start);
                format!("{what} [{file}:{line}:{column}]")
            })
        });
        lines.collect()
    }
}

/// Returns the texts of problems, each with the index of its file and its byte range there.
fn located(problems: &[Problem], files: &[(&str, &str, &str)]) -> Vec<(String, usize, Option<Range<usize>>)> {
    let sources: Vec<Source> = files.iter().map(|(_, text, _)| Source::new(text)).collect();
    let locate = |problem: &Problem| {
        let found = (sources.iter().zip(files).enumerate()).flat_map(|(index, (source, (.., prefix)))| {
            places(problem, prefix).into_iter().filter_map(move |at| {
                let (keys, what) = (at.len(), String::new());
                let (depth, place) = source.locate_with_depth(&Problem { at, what })?;
                Some((keys - depth, index, place))
            })
        });
        // `min_by_key` returns the first of several.
        let best = found.min_by_key(|(missing, ..)| *missing);
        let (index, place) = best.map_or((0, None), |(_, index, place)| (index, Some(place)));
        (problem.to_string(), index, place)
    };
    problems.iter().map(locate).collect()
}
