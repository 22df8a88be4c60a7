//! The file of an identification (TOML) as plain data.

use crate::error::Result;
use crate::problems::Problems;
use crate::toml_file;
use grapple::Problem;
use grapple::spec::{Interpolation, from_text, misread};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The file of an identification.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identification {
    /// One sentence about the purpose.
    #[serde(default)]
    pub description: String,
    /// A spec or an FMU; relative to the file's folder.
    pub model: PathBuf,
    /// The measured table, CSV or Parquet; relative to the file's folder.
    pub data: PathBuf,
    /// Relative tolerance of the integration; by default the model's.
    pub tolerance: Option<f64>,
    /// Values of measured inputs between the rows of the table. Default linear.
    #[serde(default)]
    pub interpolation: Interpolation,
    /// Parameters, start values and inputs that differ from the model's values.
    #[serde(default)]
    pub set: IndexMap<String, f64>,
    /// Parameters, start values and constant inputs to be identified.
    pub parameter: IndexMap<String, Unknown>,
    /// Columns of the table that are compared with the model, by the variable's name; by default
    /// all that are states or outputs.
    #[serde(default)]
    pub measurement: IndexMap<String, Measurement>,
}

/// A value to be identified.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unknown {
    /// First guess; by default the mean of the prior, else the model's value.
    pub guess: Option<f64>,
    /// Prior distribution.
    pub prior: Option<Prior>,
}

/// A normal distribution of a value, known before the measurement.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prior {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sigma: f64,
}

/// A measured variable.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// Standard deviation of the noise, in the variable's unit; by default it is estimated.
    pub sigma: Option<f64>,
    /// Title of the column, if it is not the variable's name.
    pub column: Option<String>,
}

/// The file of an identification, with its text for error messages.
pub struct IdentificationFile {
    path: PathBuf,
    text: String,
    /// The identification.
    pub identification: Identification,
}

impl IdentificationFile {
    /// Reads the file of an identification.
    ///
    /// # Errors
    /// A file that cannot be read; [`Problems`] with all unknown, missing and mistyped fields, a
    /// model or a table that does not exist, numbers that are not positive.
    pub fn read(path: &Path) -> Result<Self> {
        let text = toml_file::read(path, "identification")?;
        let required = [("model", "''"), ("data", "''"), ("parameter", "{}")];
        let (mut problems, read) = match from_text(&text) {
            Ok(read) => (Vec::new(), Some(read)),
            Err(error) => misread(&text, &error, &required),
        };
        let path = path.to_owned();
        let Some(identification) = read else {
            return Err(Problems::of_study(&path, &text, &problems));
        };
        let file = Self {
            path,
            text,
            identification,
        };
        let is_known = |more: &Problem| {
            problems
                .iter()
                .any(|known| known.at.starts_with(&more.at) || more.at.starts_with(&known.at))
        };
        let more: Vec<Problem> = file.problems().into_iter().filter(|more| !is_known(more)).collect();
        problems.extend(more);
        match problems.is_empty() {
            true => Ok(file),
            false => Err(Problems::of_study(&file.path, &file.text, &problems)),
        }
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut report = |at: &[&str], what: String| {
            let at = at.iter().map(|&key| key.to_owned()).collect();
            problems.push(Problem { at, what });
        };
        let of = &self.identification;
        for (field, file, path) in [("model", &of.model, self.model()), ("data", &of.data, self.data())] {
            if !path.is_file() {
                let name = file.display().to_string();
                report(&[field], format!("there is no file {name:?} in this folder"));
            }
        }
        let is_positive = |number: f64| number > 0.0 && number.is_finite();
        if let Some(tolerance) = of.tolerance.filter(|tolerance| !is_positive(*tolerance)) {
            report(&["tolerance"], format!("{tolerance} is not a positive number"));
        }
        if of.parameter.is_empty() {
            report(&["parameter"], "there is nothing to identify".to_owned());
        }
        for (name, parameter) in &of.parameter {
            if of.set.contains_key(name) {
                let what = "it is both set and identified: `guess` is where the search begins";
                report(&["set", name], what.to_owned());
            }
            if parameter.guess.is_some_and(|guess| !guess.is_finite()) {
                report(&["parameter", name, "guess"], "it is not a finite number".to_owned());
            }
            if let Some(Prior { mean, sigma }) = parameter.prior {
                if !mean.is_finite() {
                    report(
                        &["parameter", name, "prior"],
                        format!("the mean {mean} is not a finite number"),
                    );
                }
                if !is_positive(sigma) {
                    let what = format!("the standard deviation {sigma} is not a positive number");
                    report(&["parameter", name, "prior"], what);
                }
            }
        }
        for (name, measurement) in &of.measurement {
            if let Some(sigma) = measurement.sigma.filter(|sigma| !is_positive(*sigma)) {
                let what = format!("the standard deviation {sigma} is not a positive number");
                report(&["measurement", name, "sigma"], what);
            }
        }
        problems
    }

    /// Returns the model's path relative to the current folder.
    pub fn model(&self) -> PathBuf {
        self.relative_to_file(&self.identification.model)
    }

    /// Returns the table's path relative to the current folder.
    pub fn data(&self) -> PathBuf {
        self.relative_to_file(&self.identification.data)
    }

    fn relative_to_file(&self, path: &Path) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(path)
    }

    /// Returns problems of the content with the model or the table, each at its line and column.
    pub(super) fn error(&self, problems: &[Problem]) -> crate::Error {
        Problems::of_study(&self.path, &self.text, problems)
    }
}
