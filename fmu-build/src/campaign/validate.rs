//! Validation of a study against its model, and the campaign that follows from it.

use super::draw::{Law, share};
use super::file::{Dispersion, Grid, Study};
use super::plan::{Campaign, Output, Setting};
use crate::error::Result;
use crate::fmu::{Fmu, names, recorded, start};
use crate::run::Plan;
use crate::summaries::unknown;
use crate::text::number;
use grapple::Problem;
use grapple::spec::Signal;
use indexmap::IndexMap;
use model_description::ScalarVariable;
use std::cmp::Ordering;
use std::sync::LazyLock;

/// Number of runs above which a study is rejected, as probably a mistake.
const MOST_RUNS: usize = 10_000_000;

/// Validates a study against its model.
///
/// # Errors
/// All errors of the study.
pub fn validated<'a>(study: &'a Study, fmu: &'a Fmu) -> Result<Campaign<'a>, Vec<Problem>> {
    let mut validation = Validation {
        study,
        fmu,
        problems: Vec::new(),
    };
    let mut settings = validation.constants();
    settings.extend(validation.dispersions());
    let outputs = validation.outputs();
    let (total, points) = validation.runs();
    let campaign = validation.plan(outputs.len()).map(|mut plan| {
        plan.disable(settings.iter().map(|setting| setting.variable));
        Campaign {
            study,
            fmu,
            alone: false,
            plan,
            total,
            settings,
            outputs,
            points,
        }
    });
    if let Some(campaign) = &campaign
        && validation.problems.is_empty()
    {
        validation.unbounded(campaign);
    }
    match campaign {
        Some(campaign) if validation.problems.is_empty() => Ok(campaign),
        _ => Err(validation.problems),
    }
}

struct Validation<'a> {
    study: &'a Study,
    fmu: &'a Fmu,
    problems: Vec<Problem>,
}

impl<'a> Validation<'a> {
    fn report(&mut self, at: &[&str], what: String) {
        let at = at.iter().map(|&key| key.to_owned()).collect();
        self.problems.push(Problem { at, what });
    }

    /// Returns the plan that all runs have in common.
    fn plan(&mut self, outputs: usize) -> Option<Plan<'a>> {
        /// A campaign has no tables of inputs: only the spec's signals set them.
        static NO_TABLES: LazyLock<IndexMap<String, Signal>> = LazyLock::new(IndexMap::new);
        let experiment = &self.study.experiment;
        let before = self.problems.len();
        for (field, what) in experiment.problems() {
            self.report(&["experiment", field], what);
        }
        if self.problems.len() > before {
            return None;
        }
        let plan = Plan::new(self.fmu, experiment, &NO_TABLES);
        let plan = plan.and_then(|plan| plan.check_size(outputs).map(|()| plan));
        plan.map_err(|error| self.report(&["experiment"], error.to_string()))
            .ok()
    }

    fn constants(&mut self) -> Vec<Setting<'a>> {
        let mut settings = Vec::new();
        for (name, &value) in &self.study.set {
            let at = ["set", name];
            if self.study.dispersion.contains_key(name) {
                self.report(&at, "it is both set and dispersed; remove one of the two".to_owned());
            }
            let Some(variable) = self.settable(&at, name) else {
                continue;
            };
            if let Some(what) = self.outside(variable, value) {
                self.report(&at, what);
            }
            settings.push(Setting {
                variable,
                law: Law::Cycle(vec![value]),
            });
        }
        settings
    }

    fn dispersions(&mut self) -> Vec<Setting<'a>> {
        let mut settings = Vec::new();
        for (name, dispersion) in &self.study.dispersion {
            if let Some(variable) = self.settable(&["dispersion", name], name)
                && let Some(law) = self.law(variable, dispersion)
            {
                settings.push(Setting { variable, law });
            }
        }
        // The last dimension of the grid varies fastest.
        let mut next = 1;
        for setting in settings.iter_mut().rev() {
            if let Law::Grid { values, stride } = &mut setting.law {
                *stride = next;
                next = next.saturating_mul(values.len());
            }
        }
        settings
    }

    fn settable(&mut self, at: &[&str], name: &str) -> Option<&'a ScalarVariable> {
        let spec = &self.fmu.model.spec;
        let fed = name.strip_prefix("signal.").and_then(|rest| {
            let mut fed = spec.signal.iter().filter(|(_, signal)| signal.from_importer);
            let is_of = |input: &str| rest.strip_prefix(input).is_some_and(|field| field.starts_with('.'));
            fed.find(|(input, _)| is_of(input)).map(|(input, _)| input)
        });
        match self.fmu.settable(name) {
            Ok(variable) => Some(variable),
            Err(what) => {
                let what = match fed {
                    Some(input) => format!(
                        "the signal of {input:?} runs outside the FMU, which has no parameters for it; from_importer = false \
                         in the spec moves it into the FMU, or set the input {input:?} itself here"
                    ),
                    None => what.to_string(),
                };
                self.report(at, what);
                None
            }
        }
    }

    /// Returns the distribution of a variable in absolute numbers.
    fn law(&mut self, variable: &ScalarVariable, dispersion: &Dispersion) -> Option<Law> {
        let name = variable.name.as_str();
        let Dispersion {
            uniform,
            normal,
            list,
            draw,
            grid,
            relative,
        } = dispersion;
        let given = [
            ("uniform", uniform.is_some()),
            ("normal", normal.is_some()),
            ("list", list.is_some()),
            ("grid", grid.is_some()),
        ];
        let given: Vec<&str> = given.iter().filter(|(_, given)| *given).map(|(key, _)| *key).collect();
        let [key] = given.as_slice() else {
            let what = match given.as_slice() {
                [] => "the distribution is missing: `uniform`, `normal`, `list` or `grid`".to_owned(),
                several => format!("it has {}; only one of them is allowed", several.join(" and ")),
            };
            self.report(&["dispersion", name], what);
            return None;
        };
        let at = ["dispersion", name, key];
        if *draw && list.is_none() {
            self.report(&["dispersion", name, "draw"], "`draw` requires a `list`".to_owned());
        }
        let nominal = self.nominal(&at, variable)?;
        if *relative && nominal == 0.0 {
            let what = "the nominal value is 0, so relative values have no effect".to_owned();
            self.report(&["dispersion", name, "relative"], what);
            return None;
        }
        let before = self.problems.len();
        let law = self.absolute(&at, dispersion, nominal)?;
        let extremes = law.extremes();
        if extremes.is_empty() {
            self.report(&at, "it has no values".to_owned());
        }
        if let Some(what) = extremes.iter().find_map(|&value| self.outside(variable, value)) {
            self.report(&at, what);
        }
        (self.problems.len() == before).then_some(law)
    }

    /// Returns the distribution of a dispersion in absolute numbers, for a nominal value.
    fn absolute(&mut self, at: &[&str], dispersion: &Dispersion, nominal: f64) -> Option<Law> {
        let before = self.problems.len();
        if let Some(grid) = dispersion.grid.as_ref().filter(|grid| grid.count() > MOST_RUNS) {
            self.report(at, format!("{} points are more than 10 million runs", grid.count()));
            return None;
        }
        let law = Law::of(dispersion, nominal)?;
        if let Some(ends) = dispersion.uniform {
            self.rising(at, ends);
        }
        if let Law::Normal { mean, sigma, bounds } = law {
            if !mean.is_finite() {
                self.report(at, format!("the mean {mean} is not a finite number"));
            }
            if !(sigma > 0.0 && sigma.is_finite()) {
                self.report(at, format!("the standard deviation {sigma} is not positive"));
            }
            if let (Some(written), Some(bounds)) = (dispersion.normal.and_then(|normal| normal.bounds), bounds) {
                self.rising(at, written);
                let part = share(mean, sigma, bounds);
                if part < 1e-6 && self.problems.len() == before {
                    let what = format!("the bounds contain only {} of the distribution", number(part, 2));
                    self.report(at, what);
                }
            }
        }
        Some(law)
    }

    /// Validates the value of every run for normal distributions without bounds. All other
    /// distributions have been validated by their extreme values.
    fn unbounded(&mut self, campaign: &Campaign) {
        for setting in &campaign.settings {
            if let Law::Normal { bounds: None, .. } = setting.law {
                let outside = |run| Some((run, self.outside(setting.variable, campaign.value(setting, run))?));
                if let Some((run, what)) = (0..campaign.total).find_map(outside) {
                    let what = format!("run {run} would have {what}; `bounds` truncate the distribution");
                    self.report(&["dispersion", &setting.variable.name, "normal"], what);
                }
            }
        }
    }

    /// Returns the start value of a variable in the model.
    fn nominal(&mut self, at: &[&str], variable: &ScalarVariable) -> Option<f64> {
        let start = start(variable);
        if start.is_none() {
            self.report(at, "the model has no nominal value of it".to_owned());
        }
        start
    }

    fn rising(&mut self, at: &[&str], [low, high]: [f64; 2]) {
        if low.partial_cmp(&high) != Some(Ordering::Less) {
            self.report(at, format!("{low} is not less than {high}"));
        }
    }

    /// Returns "-3 kg, which is below the minimum, 0 kg", if a value is outside of its declared
    /// limits.
    fn outside(&self, variable: &ScalarVariable, value: f64) -> Option<String> {
        let unit = match self.fmu.unit(variable) {
            "" => String::new(),
            unit => format!(" {unit}"),
        };
        let [min, max] = self.fmu.limits(variable);
        match (min, max) {
            _ if !value.is_finite() => Some(format!("{value}, which is not a finite number")),
            (Some(min), _) if value < min => Some(format!("{value}{unit}, which is below the minimum, {min}{unit}")),
            (_, Some(max)) if value > max => Some(format!("{value}{unit}, which is above the maximum, {max}{unit}")),
            _ => None,
        }
    }

    fn outputs(&mut self) -> Vec<Output<'a>> {
        let recordable = self.fmu.variables(recorded(&self.fmu.description));
        let mut outputs = Vec::new();
        for (name, statistics) in &self.study.output {
            let at = ["output", name];
            if statistics.is_empty() {
                let what = "no statistic is given: final, min, max, peak, mean, rms or series".to_owned();
                self.report(&at, what);
            }
            if let Some(twice) = (1..statistics.len()).find(|&i| statistics[..i].contains(&statistics[i])) {
                self.report(&at, format!("\"{}\" is listed twice", statistics[twice].name()));
            }
            match recordable.iter().find(|v| v.name == *name) {
                Some(variable) => outputs.push(Output { variable, statistics }),
                None => self.report(&at, unknown("output", name, names(&recordable))),
            }
        }
        if self.study.output.is_empty() {
            self.report(&["output"], "no output is given".to_owned());
        }
        outputs
    }

    /// Returns the number of runs and of grid points.
    fn runs(&mut self) -> (usize, usize) {
        let grids = self.study.dispersion.values().filter_map(|d| d.grid.as_ref());
        let has_grid = self.study.dispersion.values().any(|d| d.grid.is_some());
        let points = grids.map(Grid::count).fold(1, usize::saturating_mul).max(1);
        let runs = match self.study.runs {
            Some(0) => {
                self.report(&["runs"], "there is nothing to run".to_owned());
                1
            }
            Some(runs) => runs,
            None if has_grid => 1,
            None => {
                let what = "`runs`, the number of runs, is missing; only a grid determines it";
                self.report(&[], what.to_owned());
                1
            }
        };
        let total = points.saturating_mul(runs);
        if total > MOST_RUNS {
            self.report(
                &["runs"],
                format!("{points} points with {runs} runs each are more than 10 million runs"),
            );
        }
        (total.min(MOST_RUNS), points)
    }
}
