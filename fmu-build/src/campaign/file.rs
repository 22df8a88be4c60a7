//! The file of a study (TOML) as plain data.

use super::plan::Campaign;
use super::statistic::Statistic;
use super::validate::validated;
use crate::error::Result;
use crate::fmu::Fmu;
use crate::problems::Problems;
use crate::run::Experiment;
use crate::toml_file;
use grapple::Problem;
use grapple::spec::{from_text, misread};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The file of a study.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// One sentence about the study's purpose.
    #[serde(default)]
    pub description: String,
    /// A spec or an FMU; relative to the study's folder.
    pub model: PathBuf,
    /// Number of runs; with a grid, number of runs at each of its points, one by default.
    pub runs: Option<usize>,
    /// Seed of the random values. Default 0.
    #[serde(default)]
    pub seed: u64,
    /// Format of the tables.
    #[serde(default)]
    pub format: Format,
    /// Times and tolerance that replace those of the model's experiment.
    #[serde(default)]
    pub experiment: Experiment,
    /// Parameters and inputs that differ from the model's values, equal in all runs.
    #[serde(default)]
    pub set: IndexMap<String, f64>,
    /// Parameters and inputs that differ from run to run.
    #[serde(default)]
    pub dispersion: IndexMap<String, Dispersion>,
    /// Statistics of each run, by the variable's name.
    pub output: IndexMap<String, Vec<Statistic>>,
}

/// Format of the tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// CSV.
    #[default]
    Csv,
    /// Parquet.
    Parquet,
}

impl Format {
    /// Returns the file extension.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }
}

/// Dispersion of one variable: one of `uniform`, `normal`, `list` and `grid`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dispersion {
    /// Uniform between two values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uniform: Option<[f64; 2]>,
    /// Normal distribution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normal: Option<Normal>,
    /// Values in turn, repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<Vec<f64>>,
    /// Set to draw a value of the list at random for each run, instead of the next in order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub draw: bool,
    /// Values of one dimension of a grid: runs cover all combinations of all grids' values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid: Option<Grid>,
    /// Set for numbers relative to the nominal value: the value is nominal · (1 + number).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub relative: bool,
}

/// A normal distribution, truncated at its bounds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normal {
    /// Mean; by default the nominal value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Standard deviation before truncation.
    pub sigma: f64,
    /// Smallest and largest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<[f64; 2]>,
}

/// The values in one dimension of a grid.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a list of numbers, or { from, to, count }")]
pub enum Grid {
    /// A list of values.
    Values(Vec<f64>),
    /// Evenly spaced, both ends included.
    Even(Even),
}

/// Evenly spaced values.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Even {
    /// First value.
    pub from: f64,
    /// Last value.
    pub to: f64,
    /// Number of values.
    pub count: usize,
}

impl Grid {
    /// Returns the number of values.
    pub fn count(&self) -> usize {
        match self {
            Self::Values(values) => values.len(),
            Self::Even(Even { count, .. }) => *count,
        }
    }

    /// Returns the values in order.
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

/// The file of a study, with its text for error messages.
pub struct StudyFile {
    path: PathBuf,
    text: String,
    /// The study.
    pub study: Study,
}

impl StudyFile {
    /// Reads the file of a study.
    ///
    /// # Errors
    /// A file that cannot be read; [`Problems`] with all unknown, missing and mistyped fields, the
    /// other errors with them, or a model that does not exist.
    pub fn read(path: &Path) -> Result<Self> {
        let text = toml_file::read(path, "study")?;
        let (mut problems, study) = match from_text(&text) {
            Ok(study) => (Vec::new(), Some(study)),
            Err(error) => misread(&text, &error, &[("model", "''"), ("output", "{}")]),
        };
        let path = path.to_owned();
        let Some(study) = study else {
            return Err(Problems::of_study(&path, &text, &problems));
        };
        let file = Self { path, text, study };
        let is_known = |at: &[String]| {
            problems
                .iter()
                .any(|known| known.at.starts_with(at) || at.starts_with(&known.at))
        };
        if !is_known(&["model".to_owned()]) && !file.model().is_file() {
            let what = format!(
                "there is no file {:?} in the study's folder",
                file.study.model.display().to_string()
            );
            let at = vec!["model".to_owned()];
            problems.push(Problem { at, what });
        } else if !problems.is_empty() {
            // A part that is misread has no further problems.
            let more = file.problems_with_model().unwrap_or_default();
            let more: Vec<Problem> = more
                .into_iter()
                .filter(|more| !more.at.is_empty() && !is_known(&more.at))
                .collect();
            problems.extend(more);
        }
        match problems.is_empty() {
            true => Ok(file),
            false => Err(Problems::of_study(&file.path, &file.text, &problems)),
        }
    }

    /// Returns the problems of the study with its model; none if the model cannot be read.
    fn problems_with_model(&self) -> Option<Vec<Problem>> {
        let fmu = Fmu::open(&self.model()).ok()?;
        validated(&self.study, &fmu).err()
    }

    /// Returns the model's path relative to the current folder.
    pub fn model(&self) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(&self.study.model)
    }

    /// Validates the study against its model.
    ///
    /// # Errors
    /// [`Problems`] with all errors of the study, each with its position.
    pub fn campaign<'a>(&'a self, fmu: &'a Fmu) -> Result<Campaign<'a>> {
        validated(&self.study, fmu).map_err(|problems| Problems::of_study(&self.path, &self.text, &problems))
    }
}
