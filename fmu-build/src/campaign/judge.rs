//! A study seen against its model: what can be seen to be wrong in it, and what is to be run if nothing is.

use super::draw::{Law, share};
use super::file::{Dispersion, Grid, Normal, Study};
use super::plan::{Campaign, Output, Setting};
use crate::fmu::{Fmu, changes, is_real, names};
use crate::run::{Experiment, Plan};
use crate::text::number;
use crate::words::unknown;
use grapple::Problem;
use grapple::spec::Signal;
use indexmap::IndexMap;
use miette::Result;
use model_description::{Kind, ScalarVariable};
use std::cmp::Ordering;
use std::sync::LazyLock;

/// More runs than this are a slip of the pen.
const MOST_RUNS: usize = 10_000_000;

/// Compares a study with its model.
///
/// # Errors
/// All that is wrong with the study.
pub fn judged<'a>(study: &'a Study, fmu: &'a Fmu) -> Result<Campaign<'a>, Vec<Problem>> {
    /// Inputs are fed by the spec's signals alone.
    static NO_TABLES: LazyLock<IndexMap<String, Signal>> = LazyLock::new(IndexMap::new);
    let mut judge = Judge {
        study,
        fmu,
        problems: Vec::new(),
    };
    judge.experiment();
    let mut settings = judge.constants();
    settings.extend(judge.dispersions());
    let outputs = judge.outputs();
    let (total, points) = judge.runs();
    let plan =
        Plan::new(fmu, &study.experiment, &NO_TABLES).and_then(|plan| plan.has_room_for(outputs.len()).map(|()| plan));
    let plan = plan.map_err(|error| judge.report(&["experiment"], error.to_string()));
    let campaign = plan.ok().map(|mut plan| {
        plan.silence(settings.iter().map(|setting| setting.variable));
        Campaign {
            fmu,
            plan,
            total,
            settings,
            outputs,
            format: study.format,
            seed: study.seed,
            points,
        }
    });
    if let Some(campaign) = &campaign
        && judge.problems.is_empty()
    {
        judge.unbounded(campaign);
    }
    match campaign {
        Some(campaign) if judge.problems.is_empty() => Ok(campaign),
        _ => Err(judge.problems),
    }
}

struct Judge<'a> {
    study: &'a Study,
    fmu: &'a Fmu,
    problems: Vec<Problem>,
}

impl<'a> Judge<'a> {
    fn report(&mut self, at: &[&str], what: String) {
        let at = at.iter().map(|&key| key.to_owned()).collect();
        self.problems.push(Problem { at, what });
    }

    fn experiment(&mut self) {
        let Experiment {
            stop_time,
            step,
            tolerance,
        } = self.study.experiment;
        for (field, value) in [("stop_time", stop_time), ("step", step), ("tolerance", tolerance)] {
            if let Some(value) = value
                && !(value > 0.0 && value.is_finite())
            {
                self.report(&["experiment", field], format!("{value} is not a positive number"));
            }
        }
    }

    fn constants(&mut self) -> Vec<Setting<'a>> {
        let mut settings = Vec::new();
        for (name, &value) in &self.study.set {
            let at = ["set", name];
            if self.study.dispersion.contains_key(name) {
                self.report(&at, "it is dispersed, too; take it out of one of the two".to_owned());
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
        // The grid's last side is the fastest.
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
                        "the signal on {input:?} comes from outside the FMU, which has none of its numbers; from_importer = false \
                         in the spec makes them parameters, or the input {input:?} itself may have a value here"
                    ),
                    None => what,
                };
                self.report(at, what);
                None
            }
        }
    }

    /// The law of a dispersion, its numbers absolute.
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
                [] => "it says not how: `uniform`, `normal`, `list` or `grid`".to_owned(),
                several => format!("it has {}; one of them is enough", several.join(" and ")),
            };
            self.report(&["dispersion", name], what);
            return None;
        };
        let at = ["dispersion", name, key];
        if *draw && list.is_none() {
            self.report(
                &["dispersion", name, "draw"],
                "only from a `list` is drawn so".to_owned(),
            );
        }
        let nominal = self.nominal(&at, variable)?;
        if *relative && nominal == 0.0 {
            let what = "the nominal value is 0, and so is every part of it".to_owned();
            self.report(&["dispersion", name, "relative"], what);
            return None;
        }
        let absolute = |number: f64| if *relative { nominal * (1.0 + number) } else { number };
        let before = self.problems.len();
        let law = match (uniform, normal, list, grid) {
            (Some(ends), ..) => {
                self.rising(&at, *ends);
                Law::Uniform(sorted(ends.map(absolute)))
            }
            (_, Some(Normal { mean, sigma, bounds }), ..) => {
                let mean = mean.map_or(nominal, absolute);
                let sigma = if *relative { sigma * nominal.abs() } else { *sigma };
                if !mean.is_finite() {
                    self.report(&at, format!("the mean {mean} is not a finite number"));
                }
                if !(sigma > 0.0 && sigma.is_finite()) {
                    self.report(&at, format!("the standard deviation {sigma} is not positive"));
                }
                if let Some(bounds) = bounds {
                    self.rising(&at, *bounds);
                    let part = share(mean, sigma, sorted(bounds.map(absolute)));
                    if part < 1e-6 && self.problems.len() == before {
                        let what = format!("within the bounds is only {} of the distribution", number(part, 2));
                        self.report(&at, what);
                    }
                }
                let bounds = bounds.map(|bounds| sorted(bounds.map(absolute)));
                Law::Normal { mean, sigma, bounds }
            }
            (_, _, Some(values), _) => {
                let values = values.iter().copied().map(absolute).collect();
                if *draw { Law::Choice(values) } else { Law::Cycle(values) }
            }
            (.., Some(grid)) if grid.count() > MOST_RUNS => {
                self.report(&at, format!("{} points are more than 10 million runs", grid.count()));
                return None;
            }
            (.., Some(grid)) => Law::Grid {
                values: grid.values().into_iter().map(absolute).collect(),
                stride: 1,
            },
            _ => unreachable!("one of the four is given"),
        };
        let extremes: Vec<f64> = match &law {
            Law::Uniform(ends) => ends.to_vec(),
            Law::Normal { mean, bounds, .. } => bounds.map_or(vec![*mean], |bounds| bounds.to_vec()),
            Law::Cycle(values) | Law::Choice(values) | Law::Grid { values, .. } => values.clone(),
        };
        if extremes.is_empty() {
            self.report(&at, "it has no values".to_owned());
        }
        if let Some(what) = extremes.iter().find_map(|&value| self.outside(variable, value)) {
            self.report(&at, what);
        }
        (self.problems.len() == before).then_some(law)
    }

    /// Looks at every value of what is normal and has no bounds of its own: at those of all others it has looked already.
    fn unbounded(&mut self, campaign: &Campaign) {
        for setting in &campaign.settings {
            if let Law::Normal { bounds: None, .. } = setting.law {
                let outside = |run| Some((run, self.outside(setting.variable, campaign.value(setting, run))?));
                if let Some((run, what)) = (0..campaign.total).find_map(outside) {
                    let what = format!("run {run} would have {what}; `bounds` cut the distribution off");
                    self.report(&["dispersion", &setting.variable.name, "normal"], what);
                }
            }
        }
    }

    /// The model's own value.
    fn nominal(&mut self, at: &[&str], variable: &ScalarVariable) -> Option<f64> {
        let Kind::Real(real) = &variable.kind else {
            return None;
        };
        if real.start.is_none() {
            self.report(at, "the model says no nominal value of it".to_owned());
        }
        real.start
    }

    fn rising(&mut self, at: &[&str], [low, high]: [f64; 2]) {
        if low.partial_cmp(&high) != Some(Ordering::Less) {
            self.report(at, format!("{low} is not less than {high}"));
        }
    }

    /// "-3 kg, which is less than the least that it may be, 0 kg"
    fn outside(&self, variable: &ScalarVariable, value: f64) -> Option<String> {
        let unit = match self.fmu.unit(variable) {
            "" => String::new(),
            unit => format!(" {unit}"),
        };
        let [min, max] = self.fmu.limits(variable);
        match (min, max) {
            _ if !value.is_finite() => Some(format!("{value}, which is not a finite number")),
            (Some(min), _) if value < min => Some(format!(
                "{value}{unit}, which is less than the least that it may be, {min}{unit}"
            )),
            (_, Some(max)) if value > max => Some(format!(
                "{value}{unit}, which is more than the most that it may be, {max}{unit}"
            )),
            _ => None,
        }
    }

    fn outputs(&mut self) -> Vec<Output<'a>> {
        let known = self.fmu.variables(changes);
        let mut outputs = Vec::new();
        for (name, statistics) in &self.study.output {
            let at = ["output", name];
            if statistics.is_empty() {
                let what = "nothing is kept of it: final, min, max, peak, mean, rms or series".to_owned();
                self.report(&at, what);
            }
            if let Some(twice) = (1..statistics.len()).find(|&i| statistics[..i].contains(&statistics[i])) {
                self.report(&at, format!("\"{}\" stands there twice", statistics[twice].name()));
            }
            match known.iter().find(|v| v.name == *name) {
                Some(variable) => outputs.push(Output { variable, statistics }),
                None => self.report(&at, unknown("output", name, names(&known))),
            }
        }
        if self.study.output.is_empty() {
            self.report(&["output"], "of a run nothing is kept".to_owned());
        }
        outputs.sort_by_key(|output| !is_real(output.variable));
        outputs
    }

    /// The number of runs and of the grid's points.
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
                let what = "`runs`, the number of runs, is missing; only a grid says by itself how many there are";
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

/// Of a negative nominal value, a part rises where the value falls.
fn sorted([a, b]: [f64; 2]) -> [f64; 2] {
    [a.min(b), a.max(b)]
}
