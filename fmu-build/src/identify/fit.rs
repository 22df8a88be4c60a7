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

/// Identifies the varied values of a neighbourhood.
///
/// # Errors
/// A run that fails; no convergence; a cancellation.
pub fn fit(around: &Neighbourhood, data: &Data, priors: &[Option<Prior>], control: &mut Control) -> Result<Identified> {
    let guess: Vec<f64> = around.varied.iter().map(|of| of.value).collect();
    let size = |values: &[f64]| -> Vec<f64> {
        let of = around.varied.iter().zip(values);
        of.map(|(varied, value)| varied.size(*value)).collect()
    };
    let mut values = guess.clone();
    for step in 0..=MOST_STEPS {
        let mut inner = Control {
            progress: None,
            cancel: control.cancel,
        };
        let here = around.sensitivities(&values, Order::Second, &mut inner)?;
        control.report(step as f64, MOST_STEPS as f64);
        let sizes = size(&values);
        let residuals = residuals(
            &here.results.columns.iter().map(|c| &*c.values).collect::<Vec<_>>(),
            data,
        );
        let likelihood = likelihood(&residuals, data, &values, priors);
        let of_step = (&*values, &*sizes);
        let solution = equations(&here, &residuals, data, (of_step, priors), 0.0).solve()?;
        let largest = solution.x.amax();
        if solution.decrease < SMALL_DECREASE || largest < SMALL_STEP {
            return identified(here, &residuals, data, (&guess, of_step, priors), step);
        }
        let mut part = 1.0;
        values = loop {
            let trial: Vec<f64> = (0..values.len())
                .map(|i| values[i] + part * solution.x[i] * sizes[i])
                .collect();
            let is_better = better(around, data, priors, (&trial, likelihood), &mut inner)?;
            if is_better {
                break trial;
            }
            part *= 0.5;
            if part < libm::exp2(f64::from(-MOST_HALVINGS)) {
                // The likelihood is flat to round-off.
                if solution.decrease < 1e-3 {
                    return identified(here, &residuals, data, (&guess, of_step, priors), step);
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

/// Returns true if the values are admissible, their run succeeds and is more likely.
fn better(
    around: &Neighbourhood,
    data: &Data,
    priors: &[Option<Prior>],
    (values, than): (&[f64], f64),
    control: &mut Control,
) -> Result<bool> {
    if !around.varied.iter().zip(values).all(|(of, value)| of.admits(*value)) {
        return Ok(false);
    }
    let rows = match around.run(values, control) {
        Err(interrupted @ Error::Interrupted(_)) => return Err(interrupted),
        Err(_) => return Ok(false),
        Ok(rows) => rows,
    };
    let columns: Vec<Vec<f64>> = (0..data.measured.len())
        .map(|j| rows.iter().map(|row| row[j]).collect())
        .collect();
    let residuals = residuals(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>(), data);
    Ok(likelihood(&residuals, data, values, priors) < than)
}

/// Returns measurement less model of each variable; NaN where nothing was measured. The model has
/// a row for the start, the table may have none.
fn residuals(columns: &[&[f64]], data: &Data) -> Vec<Vec<f64>> {
    let first = usize::from(data.time[0] > 0.0);
    let of = columns.iter().zip(&data.measured);
    of.map(|(model, measured)| {
        let pairs = measured.values.iter().zip(&model[first..]);
        pairs.map(|(measured, model)| measured - model).collect()
    })
    .collect()
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

/// Returns `L` of equations (1) and (2).
fn likelihood(residuals: &[Vec<f64>], data: &Data, values: &[f64], priors: &[Option<Prior>]) -> f64 {
    let of_data = residuals.iter().zip(&data.measured).map(|(residuals, of)| {
        let (n, sum) = squares(residuals);
        match of.sigma {
            Some(sigma) => sum / (sigma * sigma),
            None => 2.0 * n * libm::log(noise(residuals, of, 0.0)),
        }
    });
    let of_priors = values.iter().zip(priors).filter_map(|(value, prior)| {
        let Prior { mean, sigma } = (*prior)?;
        Some(((value - mean) / sigma).powi(2))
    });
    let sum: f64 = of_data.chain(of_priors).sum();
    if sum.is_nan() { f64::INFINITY } else { sum }
}

/// Returns the linearised equations for the changes of the values in units of their sizes. The
/// estimated noise lacks `unknowns` of the degrees of freedom per measured value.
fn equations(
    here: &Sensitivities,
    residuals: &[Vec<f64>],
    data: &Data,
    ((values, sizes), priors): ((&[f64], &[f64]), &[Option<Prior>]),
    unknowns: f64,
) -> LeastSquares {
    let n = values.len();
    let first = usize::from(data.time[0] > 0.0);
    let mut equations = LeastSquares::new(n);
    for (j, (residuals, of)) in residuals.iter().zip(&data.measured).enumerate() {
        let sigma = noise(residuals, of, unknowns * squares(residuals).0);
        let rows: Vec<usize> = (0..residuals.len()).filter(|&k| residuals[k].is_finite()).collect();
        equations.add(DMatrix::from_fn(rows.len(), n + 1, |row, i| {
            let k = rows[row];
            match i < n {
                true => here.derivatives[i][j][first + k] * sizes[i] / sigma,
                false => residuals[k] / sigma,
            }
        }));
    }
    for (i, prior) in priors.iter().enumerate() {
        if let Some(Prior { mean, sigma }) = prior {
            let mut row = DMatrix::zeros(1, n + 1);
            (row[(0, i)], row[(0, n)]) = (sizes[i] / sigma, (mean - values[i]) / sigma);
            equations.add(row);
        }
    }
    equations
}

fn identified(
    here: Sensitivities,
    residuals: &[Vec<f64>],
    data: &Data,
    (guess, (values, sizes), priors): (&[f64], (&[f64], &[f64]), &[Option<Prior>]),
    iterations: usize,
) -> Result<Identified> {
    let n = values.len();
    let total: f64 = residuals.iter().map(|of| squares(of).0).sum();
    let unknowns = n as f64 / total;
    let solution = equations(&here, residuals, data, ((values, sizes), priors), unknowns).solve()?;
    let is_undetermined = |i: usize| solution.undetermined.iter().any(|v| v[i].abs() > 1e-3);
    let sigma = |i: usize| match is_undetermined(i) {
        true => f64::INFINITY,
        false => sizes[i] * solution.covariance[(i, i)].sqrt(),
    };
    let estimate = |(i, (name, unit, value)): (usize, (String, String, f64))| Estimate {
        name,
        unit,
        guess: guess[i],
        value,
        sigma: sigma(i),
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
    let residual = |(column, (residuals, of)): (usize, (&Vec<f64>, &Measured))| {
        let (count, sum) = squares(residuals);
        let pairs = residuals.windows(2).filter(|pair| pair.iter().all(|r| r.is_finite()));
        let product: f64 = pairs.map(|pair| pair[0] * pair[1]).sum();
        Residual {
            name: of.variable.name.clone(),
            unit: here.results.columns[column].unit.clone(),
            count: count as usize,
            sigma: noise(residuals, of, unknowns * count),
            rms: (sum / count).sqrt(),
            correlation: if sum > 0.0 { product / sum } else { 0.0 },
        }
    };
    Ok(Identified {
        residuals: residuals.iter().zip(&data.measured).enumerate().map(residual).collect(),
        correlation,
        undetermined,
        iterations,
        unused: data.unused.clone(),
        differing: here.differing,
        parameters: here.parameters.into_iter().enumerate().map(estimate).collect(),
        fit: here.results,
    })
}
