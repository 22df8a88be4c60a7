//! All that is wrong with one file, each at its place in it.

use crate::text::count;
use grapple::Problem;
use grapple::spec::Source;
use miette::{Diagnostic, NamedSource, SourceSpan};
use std::ops::Range;
use std::sync::Arc;

/// A larger file is not read, bytes: what is long in a spec are tables, which have files of their own.
pub const SIZE_LIMIT: u64 = 64 << 20;

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
        let mut summary = format!("{file}: {}", count(problems.len(), "problem"));
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

    /// The same of a TOML file, whose problems tell their fields.
    pub fn locate(problems: &[Problem], file: &str, text: &str) -> Self {
        let source = Source::new(text);
        let located = problems.iter().map(|p| (p.to_string(), source.locate(p)));
        Self::of(file, text, "TOML", located.collect())
    }
}
