//! Identification of parameters from a measured run.
//!
//! The estimate is that of maximum likelihood for noise that is normal, independent from row to row
//! and of one standard deviation per measured variable, which is given or estimated as well. The
//! noise acts on the measurements alone: inputs are taken as exact. Source: Y. Bard, *Nonlinear
//! Parameter Estimation*, Academic Press 1974, sections 4-9, 5-9 and 7-5.

mod data;
mod file;
mod fit;
mod least_squares;

#[cfg(feature = "inside")]
test_modules![fit::tests];

pub use data::{Data, Measured};
pub use file::{Identification, IdentificationFile, Measurement, Prior, Unknown};

use crate::control::Control;
use crate::error::Result;
use crate::fmu::Fmu;
use crate::results::Results;
use crate::run::{Experiment, Plan, check_size};
use crate::sensitivities::{Neighbourhood, Varied};
use crate::simulate::settings;
use crate::text::{aligned, count, number, typeset};
use grapple::Problem;
use nalgebra::DMatrix;
use std::fmt;

/// Result of an identification.
pub struct Identified {
    /// The identified parameters.
    pub parameters: Vec<Estimate>,
    /// Correlation matrix of their errors.
    pub correlation: DMatrix<f64>,
    /// Combinations of parameters on which the measured variables do not depend: changes by name,
    /// the largest first; their unit is that of the parameter.
    pub undetermined: Vec<Vec<(String, f64)>>,
    /// The differences of measurement and model.
    pub residuals: Vec<Residual>,
    /// Number of Gauss–Newton steps.
    pub iterations: usize,
    /// The run with the estimates, at the times of the table: the measured variables.
    pub fit: Results,
    /// Columns of the table that were not used.
    pub unused: Vec<String>,
    /// Parameters for which neighbouring runs have other events up to a row, or other steps.
    pub differing: Vec<String>,
    /// Compliant contacts, and joints with compliant stops, whose forces switch inside steps.
    pub switching: Vec<String>,
}

/// An identified parameter, start value or input.
pub struct Estimate {
    /// Name.
    pub name: String,
    /// Unit in FMI's notation; empty for a pure number.
    pub unit: String,
    /// First guess.
    pub guess: f64,
    /// Estimate.
    pub value: f64,
    /// Standard deviation of its error; infinite if the measurement does not determine it.
    pub sigma: f64,
    /// Half of the length of the interval that contains the true value with 95 % probability.
    pub half_interval: f64,
    /// True at a limit of its range: the interval does not account for it.
    pub is_at_limit: bool,
}

/// Differences of the measured values of a variable and those of the model.
pub struct Residual {
    /// Name of the variable.
    pub name: String,
    /// Unit in FMI's notation; empty for a pure number.
    pub unit: String,
    /// Number of measured values.
    pub count: usize,
    /// Standard deviation of the noise: as given, or estimated.
    pub sigma: f64,
    /// True if it is estimated.
    pub is_estimated: bool,
    /// Root mean square of the differences.
    pub rms: f64,
    /// Lag-1 correlation, of successive differences: nearly zero if they are noise.
    pub correlation: f64,
}

impl Residual {
    /// Returns true if the correlation of successive differences is not that of noise. Differences
    /// below the accuracy of the run are no noise.
    pub fn is_systematic(&self) -> bool {
        let is_visible = !self.is_estimated || self.rms > 0.9 * self.sigma;
        is_visible && self.correlation.abs() > (4.0 / (self.count as f64).sqrt()).max(0.1)
    }

    /// Returns true if the differences contradict the noise that is given.
    pub fn contradicts(&self) -> bool {
        let spread = 4.0 / (2.0 * self.count as f64).sqrt();
        !self.is_estimated && (self.rms / self.sigma - 1.0).abs() > spread
    }
}

/// Identifies the parameters of a model from a measured table.
///
/// # Errors
/// Those of the file with the model and the table; a run with the first guess that fails; no
/// convergence.
pub fn identify(file: &IdentificationFile, fmu: &Fmu, mut control: Control) -> Result<Identified> {
    let of = &file.identification;
    let mut problems = Vec::new();
    let data = Data::read(file, fmu)?;
    let stop = data.time.last().copied().unwrap_or(0.0);
    let experiment = Experiment {
        stop_time: Some(stop),
        step: Some(stop),
        tolerance: of.tolerance,
    };
    let plan = Plan::new(fmu, &experiment, &data.inputs)?;
    let mut report = |section: &str, name: &str, what: String| {
        let at = vec![section.to_owned(), name.to_owned()];
        problems.push(Problem { at, what });
    };
    let mut set = Vec::new();
    for (name, value) in &of.set {
        match settings(fmu, &plan, &[(name.clone(), *value)]) {
            Ok(of_one) => set.extend(of_one),
            Err(error) => report("set", name, error.to_string()),
        }
    }
    let (mut varied, mut priors) = (Vec::new(), Vec::new());
    for (name, unknown) in &of.parameter {
        match Varied::new(fmu, &plan, name, &set) {
            Ok(mut of_one) => {
                let mean = unknown.prior.map(|prior| prior.mean);
                of_one.value = unknown.guess.or(mean).unwrap_or(of_one.value);
                if !of_one.admits(of_one.value) {
                    let what = format!("the first guess {} is not admissible", number(of_one.value, 6));
                    report("parameter", name, what);
                }
                varied.push(of_one);
                priors.push(unknown.prior);
            }
            Err(error) => report("parameter", name, error.to_string()),
        }
    }
    if !problems.is_empty() {
        return Err(file.error(&problems));
    }
    let outputs: Vec<_> = data.measured.iter().map(|measured| measured.variable).collect();
    check_size(data.time.len(), outputs.len() * (2 * varied.len() + 1))?;
    let points = data.time.iter().copied().filter(|&t| t > 0.0).collect();
    let around = Neighbourhood::new(fmu, plan, set, &outputs, varied, points)?;
    fit::fit(&around, &data, &priors, &mut control)
}

impl fmt::Display for Identified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |of: &Estimate| {
            let (value, half) = match of.sigma.is_finite() {
                true => (number(of.value, 7), number(of.half_interval, 3)),
                false => (number(of.value, 7), "not determined".to_owned()),
            };
            let unit = typeset(&of.unit);
            [of.name.clone(), value, half, unit, number(of.guess, 7)]
        };
        let titles = ["parameter", "estimate", "± (95 %)", "", "first guess"].map(str::to_owned);
        let rows: Vec<_> = std::iter::once(titles).chain(self.parameters.iter().map(row)).collect();
        f.write_str(&aligned(&rows))?;
        for combination in &self.undetermined {
            let parts = combination
                .iter()
                .map(|(name, change)| format!("{name} by {}", number(*change, 3)));
            let parts: Vec<String> = parts.collect();
            writeln!(
                f,
                "not determined: a change of {} has no effect on the measured variables",
                parts.join(" and ")
            )?;
        }
        for (i, j, correlation) in self.strongly_correlated() {
            let [one, other] = [i, j].map(|i| &self.parameters[i].name);
            let correlation = number(correlation, 4);
            writeln!(f, "the errors of {one} and {other} are correlated: {correlation}")?;
        }
        let row = |of: &Residual| {
            let unit = typeset(&of.unit);
            [
                of.name.clone(),
                number(of.rms, 3),
                unit,
                number(of.sigma, 3),
                number(of.correlation, 2),
                of.count.to_string(),
            ]
        };
        let titles = ["measured − model", "rms", "", "noise", "lag-1 correlation", "values"].map(str::to_owned);
        let rows: Vec<_> = std::iter::once(titles).chain(self.residuals.iter().map(row)).collect();
        f.write_str(&aligned(&rows))?;
        writeln!(f, "{}", count(self.iterations, "Gauss–Newton step"))
    }
}

impl Identified {
    /// Returns pairs of parameters whose errors have a correlation above 0.95, and the correlation.
    pub fn strongly_correlated(&self) -> Vec<(usize, usize, f64)> {
        let n = self.parameters.len();
        let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
        // Those of undetermined parameters are NaN.
        let of = |(i, j)| (i, j, self.correlation[(i, j)]);
        pairs.map(of).filter(|(_, _, of)| of.abs() > 0.95).collect()
    }

    /// Returns warnings about the result.
    pub fn warnings(&self) -> Vec<String> {
        let systematic = self.residuals.iter().filter(|of| of.is_systematic());
        let systematic: Vec<&str> = systematic.map(|of| of.name.as_str()).collect();
        let mut warnings = Vec::new();
        if !systematic.is_empty() {
            warnings.push(format!(
                "the differences of measurement and model are not noise ({}): the model has a systematic error, and the \
                 intervals are too narrow",
                systematic.join(", ")
            ));
        }
        for of in self.residuals.iter().filter(|of| of.contradicts()) {
            let [rms, sigma] = [of.rms, of.sigma].map(|number| crate::text::number(number, 3));
            warnings.push(format!(
                "{}: the differences have an rms value of {rms}, and the noise is given as {sigma}",
                of.name
            ));
        }
        for of in self.parameters.iter().filter(|of| of.is_at_limit) {
            warnings.push(format!(
                "{} is at a limit of its range, which its interval does not account for",
                of.name
            ));
        }
        if !self.differing.is_empty() {
            warnings.push(format!(
                "runs with neighbouring values of {} have other events up to a row, or other steps: the intervals may be \
                 less accurate",
                self.differing.join(", ")
            ));
        }
        if !self.switching.is_empty() {
            warnings.push(format!(
                "forces of {} switch inside steps: the intervals may be wrong if they do",
                self.switching.join(", ")
            ));
        }
        if !self.unused.is_empty() {
            warnings.push(format!("columns that are not used: {}", self.unused.join(", ")));
        }
        warnings
    }
}
