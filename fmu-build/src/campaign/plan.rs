//! The runs of a campaign, and the execution of one.

use super::draw::{Law, RunIndex};
use super::file::Study;
use super::folder::{Folder, Record};
use super::statistic::Statistic;
use crate::error::{Error, Result};
use crate::fmu::Fmu;
use crate::lanes::Lanes;
use crate::results::Results;
use crate::run::{Plan, Request};
use crate::slave::Instances;
use model_description::ScalarVariable;
use std::ops::ControlFlow;

/// A validated study.
pub struct Campaign<'a> {
    /// The study.
    pub study: &'a Study,
    /// The model.
    pub fmu: &'a Fmu,
    /// True if each run is made alone, not several together in lanes.
    pub alone: bool,
    /// The plan of each run.
    pub(super) plan: Plan<'a>,
    /// Number of runs.
    pub total: usize,
    /// Values set before a run: first those equal in all runs, then the dispersed ones.
    pub(super) settings: Vec<Setting<'a>>,
    /// Outputs with statistics, the Reals first.
    pub(super) outputs: Vec<Output<'a>>,
    /// Number of grid points.
    pub(super) points: usize,
}

/// A variable that is set, with its distribution.
pub struct Setting<'a> {
    /// A parameter or an input.
    pub variable: &'a ScalarVariable,
    /// Distribution of its values.
    pub law: Law,
}

/// An output with its statistics.
pub struct Output<'a> {
    /// The variable.
    pub variable: &'a ScalarVariable,
    /// Statistics of the output.
    pub statistics: &'a [Statistic],
}

impl Output<'_> {
    /// Returns the statistics that are columns in the table of all runs: all but time series.
    pub fn summarised(&self) -> impl Iterator<Item = Statistic> {
        let statistics = self.statistics.iter().copied();
        statistics.filter(|&statistic| statistic != Statistic::Series)
    }
}

impl Campaign<'_> {
    /// Returns the values set before a run, in the order of the settings.
    pub fn values(&self, run: usize) -> Vec<f64> {
        self.settings.iter().map(|setting| self.value(setting, run)).collect()
    }

    /// Returns the value of one setting.
    pub fn value(&self, setting: &Setting, run: usize) -> f64 {
        let index = RunIndex {
            run,
            points: self.points,
        };
        setting.law.value(self.study.seed, &setting.variable.name, index)
    }

    /// Makes runs, which advance together if they can, and returns the record of each, also if it failed;
    /// `None` if they were cancelled.
    ///
    /// # Errors
    /// A file of time series cannot be written.
    pub(super) fn perform(
        &self,
        runs: &[usize],
        instances: &mut Instances,
        folder: &Folder,
        flow: impl Fn() -> ControlFlow<()>,
    ) -> Result<Option<Vec<Record>>> {
        let set: Vec<&ScalarVariable> = self.settings.iter().map(|setting| setting.variable).collect();
        let values: Vec<Vec<f64>> = runs.iter().map(|&run| self.values(run)).collect();
        let settings: Vec<Vec<(u32, f64)>> = values
            .iter()
            .map(|values| {
                set.iter()
                    .map(|of| of.value_reference)
                    .zip(values.iter().copied())
                    .collect()
            })
            .collect();
        let recorded: Vec<&ScalarVariable> = self.outputs.iter().map(|output| output.variable).collect();
        let request = |settings| Request {
            settings,
            once: &set,
            recorded: &recorded,
            log: &[],
        };
        let requests: Vec<Request> = settings.iter().map(|settings| request(settings)).collect();
        let made = self.plan.record_together(self.fmu, instances, &requests, |_| flow());
        let mut records = Vec::new();
        for ((&run, mut values), made) in runs.iter().zip(values).zip(made) {
            let mut results = Vec::new();
            let failure = match made {
                Ok(made) => {
                    values = made.results.parameters.iter().map(|(_, value)| *value).collect();
                    if made.failure.is_none() {
                        self.save_series(run, &made.results, folder)?;
                        results = self.statistics(&made.results);
                    }
                    made.failure
                }
                Err(error) => Some(error),
            };
            if matches!(failure, Some(Error::Interrupted(_))) {
                return Ok(None);
            }
            records.push(Record {
                run,
                values,
                results,
                failure: failure.map(|failure| failure.in_line()),
            });
        }
        Ok(Some(records))
    }

    /// Returns what in the model keeps its runs from being made together in lanes; `None` if nothing does,
    /// or if each run shall be made [alone](Self::alone).
    pub fn prevents_lanes(&self) -> Option<String> {
        let reason = self.fmu.model.runs_in_lanes().err();
        reason.filter(|_| !self.alone).map(|reason| reason.to_string())
    }

    /// Loads the library by which runs advance together.
    pub(super) fn lanes(&self) -> Lanes {
        match self.alone {
            true => Lanes::Alone("alone".to_owned()),
            false => Lanes::of(self.fmu),
        }
    }

    /// Returns the number of runs that one job makes together, of `left` runs for `jobs`.
    pub(super) fn runs_at_a_time(&self, lanes: &Lanes, left: usize, jobs: usize) -> usize {
        let most = match lanes {
            Lanes::Alone(_) => 1,
            _ => lanes.library(self.fmu).most_together(),
        };
        let most = most.min(left.div_ceil(jobs.max(1))).max(1);
        // The results of all of them are kept in memory.
        let fits = |runs: &usize| self.plan.check_size(runs * (self.outputs.len() + 1)).is_ok();
        (1..=most).rev().find(fits).unwrap_or(1)
    }

    fn statistics(&self, course: &Results) -> Vec<Option<f64>> {
        let outputs = self.outputs.iter().zip(&course.columns);
        let mut results = Vec::new();
        for (output, column) in outputs {
            results.extend(
                output
                    .summarised()
                    .map(|statistic| statistic.of(&course.time, &column.values)),
            );
        }
        results
    }

    /// Writes the time series of the outputs that request one to a file of the run.
    fn save_series(&self, run: usize, course: &Results, folder: &Folder) -> Result<()> {
        let mut table = course.table();
        // One flag for each column after that of the time.
        let mut kept = self
            .outputs
            .iter()
            .map(|output| output.statistics.contains(&Statistic::Series));
        if !kept.clone().any(|kept| kept) {
            return Ok(());
        }
        let mut is_time = true;
        table
            .columns
            .retain(|_| std::mem::take(&mut is_time) || kept.next() == Some(true));
        folder.save(&table, &self.series(run))?;
        Ok(())
    }

    /// Returns the name of the file with the time series of a run.
    pub(super) fn series(&self, run: usize) -> String {
        format!("series/{run:06}.{}", self.study.format.extension())
    }
}
