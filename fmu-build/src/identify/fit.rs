//! Maximum likelihood by Gauss–Newton steps.
//!
//! With `r` the differences of the `n` values of a variable and the model, and the noise of the
//! standard deviation `σ`, twice the negative logarithm of the likelihood is
//!
//! ```text
//!     L = Σ r²/σ²                 σ given                                     (1)
//!     L = n ln(Σ r²)              σ² = Σ r²/n estimated, the minimum over σ        (2)
//! ```
//!
//! summed over the variables, with `(p − mean)²/σ²` for each prior. The steps minimise the sum of
//! squares with the weights of the present `σ`.

use super::data::{Data, Measured};
use super::file::Prior;
use super::least_squares::LeastSquares;
use super::{Estimate, Identified, Residual};
use crate::control::Control;
use crate::error::{Error, Result, invalid};
use crate::results::Column;
use crate::sensitivities::{Neighbourhood, Order, Sensitivities};
use nalgebra::DMatrix;

/// Largest number of Gauss–Newton steps.
const MOST_STEPS: usize = 50;

/// Largest number of times that a step is halved.
const MOST_HALVINGS: i32 = 12;

/// Decrease of `L` by the next step at which the search ends: the step is then 1e-3 of a standard
/// deviation.
const SMALL_DECREASE: f64 = 1e-6;

/// Step at which the search ends, relative to the size of each value: the accuracy of the
/// derivatives.
const SMALL_STEP: f64 = 1e-9;

/// Least standard deviation of the noise, relative to the largest measured value: round-off.
const LEAST_NOISE: f64 = 1e-12;

/// The search for the most likely values.
struct Search<'a> {
    around: &'a Neighbourhood<'a>,
    data: &'a Data<'a>,
    priors: &'a [Option<Prior>],
}

/// Identifies the varied values of a neighbourhood.
///
/// # Errors
/// A run that fails; no convergence; a cancellation.
pub fn fit(around: &Neighbourhood, data: &Data, priors: &[Option<Prior>], control: &mut Control) -> Result<Identified> {
    let search = Search { around, data, priors };
    let mut values: Vec<f64> = around.varied.iter().map(|of| of.value).collect();
    for step in 0..=MOST_STEPS {
        let mut inner = Control {
            progress: None,
            cancel: control.cancel,
        };
        let here = around.sensitivities(&values, Order::Second, &mut inner)?;
        control.report(step as f64, MOST_STEPS as f64);
        let columns = here.results.columns.iter().map(|column| column.values.as_slice());
        let residuals = search.residuals(columns);
        let likelihood = search.likelihood(&residuals, &values);
        let solution = search.equations(&here, &residuals, &values, 0.0).solve()?;
        if solution.decrease < SMALL_DECREASE || solution.x.amax() < SMALL_STEP {
            return search.identified(here, &residuals, &values, step);
        }
        let sizes = search.sizes(&values);
        let mut part = 1.0;
        values = loop {
            let changes = solution.x.iter().zip(&sizes);
            let trial = values
                .iter()
                .zip(changes)
                .map(|(value, (x, size))| value + part * x * size);
            let trial: Vec<f64> = trial.collect();
            if search.is_better(&trial, likelihood, &mut inner)? {
                break trial;
            }
            part *= 0.5;
            if part < libm::exp2(f64::from(-MOST_HALVINGS)) {
                // The likelihood is flat to round-off.
                if solution.decrease < 1e-3 {
                    return search.identified(here, &residuals, &values, step);
                }
                return Err(invalid!(
                    "the search ends after {step} steps without a minimum: no step makes the differences smaller; \
                     another `guess` or a smaller `tolerance` may help"
                ));
            }
        };
    }
    Err(invalid!(
        "there is no convergence in {MOST_STEPS} steps: a `guess` nearer to the truth, or a `prior`, may help"
    ))
}

impl Search<'_> {
    /// Returns the sizes of the values, in which their changes are counted.
    fn sizes(&self, values: &[f64]) -> Vec<f64> {
        let of = self.around.varied.iter().zip(values);
        of.map(|(varied, value)| varied.size(*value)).collect()
    }

    /// Returns the first row of the model that the table has: it may have none for the start.
    fn first(&self) -> usize {
        usize::from(self.data.time[0] > 0.0)
    }

    /// Returns measurement less model of each variable; NaN where nothing was measured.
    fn residuals<'c>(&self, columns: impl Iterator<Item = &'c [f64]>) -> Vec<Vec<f64>> {
        let of = columns.zip(&self.data.measured);
        of.map(|(model, measured)| {
            let pairs = measured.values.iter().zip(&model[self.first()..]);
            pairs.map(|(measured, model)| measured - model).collect()
        })
        .collect()
    }

    /// Returns `L` of equations (1) and (2).
    fn likelihood(&self, residuals: &[Vec<f64>], values: &[f64]) -> f64 {
        let of_data = residuals.iter().zip(&self.data.measured).map(|(residuals, of)| {
            let (n, sum) = squares(residuals);
            match of.sigma {
                Some(sigma) => sum / (sigma * sigma),
                None => 2.0 * n * libm::log(noise(residuals, of, 0.0)),
            }
        });
        let of_priors = values.iter().zip(self.priors).filter_map(|(value, prior)| {
            let Prior { mean, sigma } = (*prior)?;
            let error = (value - mean) / sigma;
            Some(error * error)
        });
        let sum: f64 = of_data.chain(of_priors).sum();
        if sum.is_nan() { f64::INFINITY } else { sum }
    }

    /// Returns true if the values are admissible, and their run succeeds and is more likely.
    fn is_better(&self, values: &[f64], than: f64, control: &mut Control) -> Result<bool> {
        let mut of = self.around.varied.iter().zip(values);
        if !of.all(|(of, value)| of.admits(*value)) {
            return Ok(false);
        }
        let rows = match self.around.run(values, control) {
            Err(interrupted @ Error::Interrupted(_)) => return Err(interrupted),
            Err(_) => return Ok(false),
            Ok(rows) => rows,
        };
        let of_run = self.around.results(&rows);
        let residuals = self.residuals(of_run.columns.iter().map(|column| column.values.as_slice()));
        Ok(self.likelihood(&residuals, values) < than)
    }

    /// Returns the linearised equations for the changes of the values in units of their sizes. The
    /// estimated noise lacks `unknowns` of the degrees of freedom per measured value.
    fn equations(&self, here: &Sensitivities, residuals: &[Vec<f64>], values: &[f64], unknowns: f64) -> LeastSquares {
        let (n, sizes) = (values.len(), self.sizes(values));
        let mut equations = LeastSquares::new(n);
        for (j, (residuals, of)) in residuals.iter().zip(&self.data.measured).enumerate() {
            let sigma = noise(residuals, of, unknowns * squares(residuals).0);
            let rows: Vec<usize> = (0..residuals.len()).filter(|&k| residuals[k].is_finite()).collect();
            equations.add(DMatrix::from_fn(rows.len(), n + 1, |row, i| {
                let k = rows[row];
                match i < n {
                    true => here.derivatives[i][j][self.first() + k] * sizes[i] / sigma,
                    false => residuals[k] / sigma,
                }
            }));
        }
        for (i, prior) in self.priors.iter().enumerate() {
            if let Some(Prior { mean, sigma }) = prior {
                let mut row = DMatrix::zeros(1, n + 1);
                (row[(0, i)], row[(0, n)]) = (sizes[i] / sigma, (mean - values[i]) / sigma);
                equations.add(row);
            }
        }
        equations
    }

    fn identified(
        &self,
        here: Sensitivities,
        residuals: &[Vec<f64>],
        values: &[f64],
        iterations: usize,
    ) -> Result<Identified> {
        let (n, sizes) = (values.len(), self.sizes(values));
        let total: f64 = residuals.iter().map(|of| squares(of).0).sum();
        let unknowns = n as f64 / total;
        let solution = self.equations(&here, residuals, values, unknowns).solve()?;
        let is_undetermined = |i: usize| solution.undetermined.iter().any(|v| v[i].abs() > 1e-3);
        let sigma = |i: usize| match is_undetermined(i) {
            true => f64::INFINITY,
            false => sizes[i] * solution.covariance[(i, i)].sqrt(),
        };
        let variance = &solution.covariance;
        let correlation = DMatrix::from_fn(n, n, |i, j| {
            let product = (variance[(i, i)] * variance[(j, j)]).sqrt();
            if product > 0.0 { variance[(i, j)] / product } else { 0.0 }
        });
        let names: Vec<&str> = here.parameters.iter().map(|(name, ..)| name.as_str()).collect();
        let undetermined = solution.undetermined.iter().map(|v| {
            let mut parts: Vec<usize> = (0..n).filter(|&i| v[i].abs() > 1e-3).collect();
            parts.sort_by(|&i, &j| v[j].abs().total_cmp(&v[i].abs()));
            let part = |i: usize| (names[i].to_owned(), v[i] * sizes[i]);
            parts.into_iter().map(part).collect()
        });
        let undetermined = undetermined.collect();
        let of_columns = residuals.iter().zip(&self.data.measured).zip(&here.results.columns);
        let residual = |((residuals, of), column): ((&Vec<f64>, &Measured), &Column)| {
            let (count, sum) = squares(residuals);
            let pairs = residuals.windows(2).filter(|pair| pair.iter().all(|r| r.is_finite()));
            let product: f64 = pairs.map(|pair| pair[0] * pair[1]).sum();
            Residual {
                name: column.name.clone(),
                unit: column.unit.clone(),
                count: count as usize,
                sigma: noise(residuals, of, unknowns * count),
                rms: (sum / count).sqrt(),
                correlation: if sum > 0.0 { product / sum } else { 0.0 },
            }
        };
        let residuals = of_columns.map(residual).collect();
        let estimate = |(i, (name, unit, value)): (usize, (String, String, f64))| Estimate {
            name,
            unit,
            guess: self.around.varied[i].value,
            value,
            sigma: sigma(i),
        };
        Ok(Identified {
            residuals,
            correlation,
            undetermined,
            iterations,
            unused: self.data.unused.clone(),
            differing: here.differing,
            parameters: here.parameters.into_iter().enumerate().map(estimate).collect(),
            fit: here.results,
        })
    }
}

/// Returns the number of measured values and the sum of the squares of their differences.
fn squares(residuals: &[f64]) -> (f64, f64) {
    let measured = residuals.iter().filter(|r| r.is_finite());
    measured.fold((0.0, 0.0), |(n, sum), r| (n + 1.0, sum + r * r))
}

/// Returns the standard deviation of a variable's noise. The estimate lacks `unknowns` of the
/// degrees of freedom.
fn noise(residuals: &[f64], of: &Measured, unknowns: f64) -> f64 {
    let (n, sum) = squares(residuals);
    let largest = of.values.iter().filter(|value| value.is_finite());
    let largest = largest.fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let least = (LEAST_NOISE * largest).max(f64::MIN_POSITIVE.sqrt());
    of.sigma
        .unwrap_or_else(|| (sum / (n - unknowns).max(1.0)).sqrt().max(least))
}
