//! A study as its author writes it: one TOML file, as plain data.

use super::statistic::Statistic;
use crate::problems::{Problems, SIZE_LIMIT};
use crate::run::Experiment;
use grapple::Problem;
use grapple::spec::{Source, read_text};
use indexmap::IndexMap;
use miette::{IntoDiagnostic, Report, Result, WrapErr};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The file of a study.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// One sentence on what it is to find out.
    #[serde(default)]
    pub description: String,
    /// A spec or an FMU; relative to the study's folder.
    pub model: PathBuf,
    /// How many runs; with a grid, how many at each of its points, one by default.
    pub runs: Option<usize>,
    /// Another seed, another sample. Default 0.
    #[serde(default)]
    pub seed: u64,
    /// How tables are written.
    #[serde(default)]
    pub format: Format,
    /// Run otherwise than the model's own experiment.
    #[serde(default)]
    pub experiment: Experiment,
    /// Parameters and inputs with another value than the model's, the same in all runs.
    #[serde(default)]
    pub set: IndexMap<String, f64>,
    /// Parameters and inputs that differ from run to run.
    #[serde(default)]
    pub dispersion: IndexMap<String, Dispersion>,
    /// What is kept of each run, by the variable's name.
    pub output: IndexMap<String, Vec<Statistic>>,
}

/// How tables are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// As CSV.
    #[default]
    Csv,
    /// As Parquet.
    Parquet,
}

impl Format {
    /// How the names of its files end.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }
}

/// How one variable differs from run to run: one of `uniform`, `normal`, `list` and `grid`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dispersion {
    /// Drawn between two values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uniform: Option<[f64; 2]>,
    /// Drawn from a normal distribution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normal: Option<Normal>,
    /// One after the other, and again from the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<Vec<f64>>,
    /// Of the list, one is drawn for each run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub draw: bool,
    /// All of them, with all of every other grid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid: Option<Grid>,
    /// The numbers are parts of the nominal value: it becomes nominal · (1 + number).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub relative: bool,
}

/// A normal distribution, cut off where its bounds are.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normal {
    /// Mean; by default the nominal value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Standard deviation, before it is cut off.
    pub sigma: f64,
    /// No value is less than the first or more than the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<[f64; 2]>,
}

/// The values along one side of a grid.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a list of numbers, or { from, to, count }")]
pub enum Grid {
    /// One by one.
    Values(Vec<f64>),
    /// Evenly spaced, both ends included.
    Even(Even),
}

/// Evenly spaced values.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Even {
    from: f64,
    to: f64,
    count: usize,
}

impl Grid {
    /// How many values there are.
    pub fn count(&self) -> usize {
        match self {
            Self::Values(values) => values.len(),
            Self::Even(Even { count, .. }) => *count,
        }
    }

    /// The values, in their order.
    pub fn values(&self) -> Vec<f64> {
        match self {
            Self::Values(values) => values.clone(),
            Self::Even(Even { from, to, count }) => {
                let last = count.saturating_sub(1);
                let value = |i: usize| match i {
                    0 => *from,
                    i if i == last => *to,
                    i => from + (to - from) * (i as f64 / last as f64),
                };
                (0..*count).map(value).collect()
            }
        }
    }
}

/// A study's file, with its text, to show what is wrong with it.
pub struct File {
    path: PathBuf,
    text: String,
    /// What it says.
    pub study: Study,
}

impl File {
    /// Reads the file of a study.
    ///
    /// # Errors
    /// A file that cannot be read; what is no TOML or no field of a study, at its place.
    pub fn read(path: &Path) -> Result<Self> {
        let text = read_text(path, SIZE_LIMIT)
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot read {}", path.display()))?;
        match toml::from_str(&text) {
            Ok(study) => Ok(Self {
                path: path.to_owned(),
                text,
                study,
            }),
            Err(error) => Err(report(path, &text, vec![(error.message().to_owned(), error.span())])),
        }
    }

    /// The model, seen from where this program runs.
    pub fn model(&self) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(&self.study.model)
    }

    /// All that is wrong with it, each at its place.
    pub fn report(&self, problems: &[Problem]) -> Report {
        let source = Source::new(&self.text);
        let located = problems.iter().map(|problem| {
            let words = match problem.at.as_slice() {
                [section, name, field @ ..] => {
                    let field: String = field.iter().map(|field| format!(", {field}")).collect();
                    format!("{section} {name:?}{field}: {}", problem.what)
                }
                [field] => format!("{field}: {}", problem.what),
                [] => problem.what.clone(),
            };
            (words, source.locate(problem))
        });
        report(&self.path, &self.text, located.collect())
    }
}

fn report(path: &Path, text: &str, problems: Vec<(String, Option<Range<usize>>)>) -> Report {
    Problems::of(&path.display().to_string(), text, "TOML", problems).into()
}
