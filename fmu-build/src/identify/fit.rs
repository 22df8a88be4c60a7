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

use super::data::Data;
use super::file::Prior;
use super::least_squares::{LeastSquares, Solution};
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

/// Decrease of `L` per measured value by the next step at which the search ends if no step makes `L`
/// smaller.
const FLAT: f64 = 0.01;

/// Step at which the search ends, relative to the size of each value: the accuracy of the
/// derivatives.
const SMALL_STEP: f64 = 1e-9;

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
    search.check_count()?;
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
        let solution = search.step(&here, &residuals, &values)?;
        if solution.decrease < SMALL_DECREASE || solution.x.amax() < SMALL_STEP {
            return search.identified(here, &residuals, &values, step);
        }
        let sizes = search.sizes(&values);
        let (mut part, mut refused) = (1.0, None);
        values = loop {
            let changes = solution.x.iter().zip(&sizes);
            let changed = values.iter().zip(&around.varied).zip(changes);
            let changed = changed.map(|((value, of), (x, size))| of.within(value + part * x * size));
            let trial: Vec<f64> = changed.collect();
            match search.is_better(&trial, likelihood, &mut inner) {
                Ok(true) => break trial,
                Ok(false) => {}
                Err(interrupted @ Error::Interrupted(_)) => return Err(interrupted),
                Err(error) => refused = Some(error),
            }
            part *= 0.5;
            if part < libm::exp2(f64::from(-MOST_HALVINGS)) {
                // The rest is the accuracy of the runs, whose steps change from one to the next.
                let count: f64 = residuals.iter().map(|of| squares(of).0).sum();
                if solution.decrease < FLAT * count {
                    return search.identified(here, &residuals, &values, step);
                }
                return Err(invalid!(
                    "the search ends after {step} steps without a minimum: no step makes the differences smaller{}; \
                     another `guess` or a smaller `tolerance` may help",
                    refused.map_or_else(String::new, |error| format!(" ({})", error.in_line()))
                ));
            }
        };
    }
    Err(invalid!(
        "there is no convergence in {MOST_STEPS} steps: a `guess` nearer to the truth, or a `prior`, may help"
    ))
}

impl Search<'_> {
    /// Checks that there are more values than unknowns if the noise is estimated.
    fn check_count(&self) -> Result<()> {
        let measured = &self.data.measured;
        let counts: Vec<usize> = measured
            .iter()
            .map(|of| of.values.iter().filter(|value| value.is_finite()).count())
            .collect();
        let unknown = self.priors.iter().filter(|prior| prior.is_none()).count();
        let total: usize = counts.iter().sum();
        if measured.iter().any(|of| of.sigma.is_none()) && total <= unknown {
            return Err(invalid!(
                "{total} measured values do not determine {unknown} parameters and the noise: more values are needed, or \
                 `sigma` in [measurement] and priors"
            ));
        }
        match measured
            .iter()
            .zip(&counts)
            .find(|(of, count)| of.sigma.is_none() && **count < 2)
        {
            Some((of, _)) => Err(invalid!(
                "{:?} has a single value, whose noise cannot be estimated: give its `sigma` in [measurement]",
                of.variable.name
            )),
            None => Ok(()),
        }
    }

    /// Returns the sizes of the values, in which their changes are counted.
    fn sizes(&self, values: &[f64]) -> Vec<f64> {
        let of = self.around.varied.iter().zip(values);
        of.map(|(varied, value)| varied.size(*value)).collect()
    }

    /// Returns the first row of the model that the table has: it may have none for the start.
    fn first(&self) -> usize {
        usize::from(self.data.time[0] > 0.0)
    }

    /// Returns measurement less model of each variable: NaN where nothing was measured, infinite
    /// where the model has no finite value.
    fn residuals<'c>(&self, columns: impl Iterator<Item = &'c [f64]>) -> Vec<Vec<f64>> {
        let of = columns.zip(&self.data.measured);
        of.map(|(model, measured)| {
            let pairs = measured.values.iter().zip(&model[self.first()..]);
            pairs
                .map(|(&measured, &model)| match measured.is_finite() && !model.is_finite() {
                    true => f64::INFINITY,
                    false => measured - model,
                })
                .collect()
        })
        .collect()
    }

    /// Returns `L` of equations (1) and (2).
    fn likelihood(&self, residuals: &[Vec<f64>], values: &[f64]) -> f64 {
        let of_data = residuals.iter().enumerate().map(|(j, residuals)| {
            let (n, sum) = squares(residuals);
            match self.data.measured[j].sigma {
                Some(sigma) => sum / (sigma * sigma),
                None => 2.0 * n * libm::log(self.noise(j, residuals, 0.0)),
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

    /// Returns the next step; values at a limit that the others would push beyond it stay.
    fn step(&self, here: &Sensitivities, residuals: &[Vec<f64>], values: &[f64]) -> Result<Solution> {
        let mut equations = self.equations(here, residuals, values, 0.0, true);
        let mut is_fixed = vec![false; values.len()];
        loop {
            let mut solution = equations.solve()?;
            for (x, _) in solution.x.iter_mut().zip(&is_fixed).filter(|(_, is_fixed)| **is_fixed) {
                *x = 0.0;
            }
            let leaves = |i: &usize| {
                let (varied, value, x) = (&self.around.varied[*i], values[*i], solution.x[*i]);
                x != 0.0 && varied.within(value + x.signum() * varied.size(value)) == value
            };
            let Some(i) = (0..values.len()).find(leaves) else {
                return Ok(solution);
            };
            equations.fix(i);
            is_fixed[i] = true;
        }
    }

    /// Returns true if the run with these values is as likely or more.
    ///
    /// # Errors
    /// The run fails, or is cancelled.
    fn is_better(&self, values: &[f64], than: f64, control: &mut Control) -> Result<bool> {
        let rows = self.around.run(values, control)?;
        let of_run = self.around.results(&rows);
        let residuals = self.residuals(of_run.columns.iter().map(|column| column.values.as_slice()));
        // Below the accuracy of the run the likelihood is constant.
        Ok(self.likelihood(&residuals, values) <= than)
    }

    /// Returns the standard deviation of the noise of variable `j`. The estimate is at least the
    /// accuracy of the run; its degrees of freedom are the number of values less `unknowns`.
    fn noise(&self, j: usize, residuals: &[f64], unknowns: f64) -> f64 {
        let of = &self.data.measured[j];
        let (n, sum) = squares(residuals);
        let finite = of.values.iter().filter(|value| value.is_finite());
        let least = self
            .around
            .accuracy(j, finite.fold(0.0, |largest: f64, value| largest.max(value.abs())));
        of.sigma
            .unwrap_or_else(|| (sum / (n - unknowns).max(1.0)).sqrt().max(least))
    }

    /// Returns the linearised equations for the changes of the values in units of their sizes, with
    /// the priors on request. The degrees of freedom of estimated noise are reduced by `unknowns` per
    /// measured value. Rows up to which neighbouring runs have other events are left out.
    fn equations(
        &self,
        here: &Sensitivities,
        residuals: &[Vec<f64>],
        values: &[f64],
        unknowns: f64,
        with_priors: bool,
    ) -> LeastSquares {
        let (n, sizes) = (values.len(), self.sizes(values));
        let mut equations = LeastSquares::new(n);
        for (j, residuals) in residuals.iter().enumerate() {
            let sigma = self.noise(j, residuals, unknowns * squares(residuals).0);
            let is_used = |k: &usize| residuals[*k].is_finite() && !here.is_at_event[self.first() + k];
            let rows: Vec<usize> = (0..residuals.len()).filter(is_used).collect();
            equations.add(DMatrix::from_fn(rows.len(), n + 1, |row, i| {
                let k = rows[row];
                match i < n {
                    true => here.derivatives[i][j][self.first() + k] * sizes[i] / sigma,
                    false => residuals[k] / sigma,
                }
            }));
        }
        let priors = if with_priors { self.priors } else { &[] };
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
        &self,
        here: Sensitivities,
        residuals: &[Vec<f64>],
        values: &[f64],
        iterations: usize,
    ) -> Result<Identified> {
        let (n, sizes) = (values.len(), self.sizes(values));
        let total: f64 = residuals.iter().map(|of| squares(of).0).sum();
        // The unknowns that the measurement determines, rather than the priors.
        let first = self.equations(&here, residuals, values, 0.0, true).solve()?;
        let information = self.equations(&here, residuals, values, 0.0, false).information();
        let unknowns = (first.covariance * information).trace() / total;
        let solution = self.equations(&here, residuals, values, unknowns, true).solve()?;
        let is_undetermined = |i: usize| solution.undetermined.iter().any(|v| v[i].abs() > 1e-3);
        let sigma = |i: usize| match is_undetermined(i) {
            true => f64::INFINITY,
            false => sizes[i] * solution.covariance[(i, i)].sqrt(),
        };
        let is_estimated = self.data.measured.iter().any(|of| of.sigma.is_none());
        let factor = match is_estimated {
            true => student(total * (1.0 - unknowns)),
            false => NORMAL,
        };
        let variance = &solution.covariance;
        let correlation = DMatrix::from_fn(n, n, |i, j| match is_undetermined(i) || is_undetermined(j) {
            true => f64::NAN,
            false => variance[(i, j)] / (variance[(i, i)] * variance[(j, j)]).sqrt(),
        });
        let names: Vec<&str> = here.parameters.iter().map(|(name, ..)| name.as_str()).collect();
        let undetermined = solution.undetermined.iter().map(|v| {
            let mut parts: Vec<usize> = (0..n).filter(|&i| v[i].abs() > 1e-3).collect();
            parts.sort_by(|&i, &j| v[j].abs().total_cmp(&v[i].abs()));
            let part = |i: usize| (names[i].to_owned(), v[i] * sizes[i]);
            parts.into_iter().map(part).collect()
        });
        let undetermined = undetermined.collect();
        let of_columns = residuals.iter().zip(&here.results.columns).enumerate();
        let residual = |(j, (residuals, column)): (usize, (&Vec<f64>, &Column))| {
            let (count, sum) = squares(residuals);
            let measured: Vec<f64> = residuals.iter().copied().filter(|r| r.is_finite()).collect();
            let product: f64 = measured.windows(2).map(|pair| pair[0] * pair[1]).sum();
            Residual {
                name: column.name.clone(),
                unit: column.unit.clone(),
                count: count as usize,
                sigma: self.noise(j, residuals, unknowns * count),
                is_estimated: self.data.measured[j].sigma.is_none(),
                rms: (sum / count).sqrt(),
                correlation: if sum > 0.0 { product / sum } else { 0.0 },
            }
        };
        let residuals = of_columns.map(residual).collect();
        let mut fit = here.results;
        if self.first() == 1 {
            fit.time.remove(0);
            for column in &mut fit.columns {
                column.values.remove(0);
            }
        }
        let estimate = |(i, (name, unit, value)): (usize, (String, String, f64))| Estimate {
            name,
            unit,
            guess: self.around.varied[i].value,
            value,
            sigma: sigma(i),
            half_interval: factor * sigma(i),
            is_at_limit: self.around.varied[i].is_at_limit(value),
        };
        Ok(Identified {
            residuals,
            correlation,
            undetermined,
            iterations,
            unused: self.data.unused.clone(),
            differing: here.differing,
            switching: here.switching,
            parameters: here.parameters.into_iter().enumerate().map(estimate).collect(),
            fit,
        })
    }
}

/// Returns the number of measured values and the sum of the squares of their differences.
fn squares(residuals: &[f64]) -> (f64, f64) {
    let measured = residuals.iter().filter(|r| r.is_finite());
    measured.fold((0.0, 0.0), |(n, sum), r| (n + 1.0, sum + r * r))
}

/// Half of the interval that contains 95 % of a normal distribution, in standard deviations.
const NORMAL: f64 = 1.959_963_984_540_054;

/// Returns the same for Student's distribution with these degrees of freedom: expansion about the
/// normal distribution (M. Abramowitz and I. A. Stegun, *Handbook of Mathematical Functions*, 1964,
/// 26.7.5), and the exact values for one and two.
fn student(freedom: f64) -> f64 {
    if freedom < 1.5 {
        return 12.706_205;
    }
    if freedom < 2.5 {
        return 4.302_653;
    }
    let (z, v) = (NORMAL, 1.0 / freedom);
    let power = |n: i32| (0..n).fold(1.0, |product, _| product * z);
    let terms = [
        z,
        (power(3) + z) / 4.0,
        (5.0 * power(5) + 16.0 * power(3) + 3.0 * z) / 96.0,
        (3.0 * power(7) + 19.0 * power(5) + 17.0 * power(3) - 15.0 * z) / 384.0,
        (79.0 * power(9) + 776.0 * power(7) + 1482.0 * power(5) - 1920.0 * power(3) - 945.0 * z) / 92_160.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| sum * v + term)
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    unit_tests![intervals_are_those_of_students_distribution];

    /// Tables of Student's distribution; the expansion has its largest error for three degrees of
    /// freedom.
    fn intervals_are_those_of_students_distribution() {
        for (freedom, half) in [
            (1.0, 12.706),
            (2.0, 4.303),
            (3.0, 3.182),
            (4.0, 2.776),
            (10.0, 2.228),
            (100.0, 1.984),
        ] {
            let off = (super::student(freedom) / half - 1.0).abs();
            assert!(off < 5e-3, "{freedom}: {off:e}");
        }
    }
}
