//! What is to be run, and one run of it.

use super::draw::{Law, RunIndex};
use super::file::Format;
use super::folder::{Folder, Record};
use super::statistic::Statistic;
use crate::fmu::Fmu;
use crate::interrupt::Interrupted;
use crate::results::Results;
use crate::run::{Plan, Request};
use crate::text::in_line;
use miette::Result;
use model_description::ScalarVariable;

/// A study that makes sense.
pub struct Campaign<'a> {
    /// The model.
    pub fmu: &'a Fmu,
    /// How each run goes.
    pub plan: Plan<'a>,
    /// How many runs there are.
    pub total: usize,
    /// What is set before a run: what is the same in all runs, then what is dispersed.
    pub settings: Vec<Setting<'a>>,
    /// What is kept of a run, the Reals first.
    pub outputs: Vec<Output<'a>>,
    /// How tables are written.
    pub format: Format,
    /// Another one, another sample.
    pub seed: u64,
    /// Of how many points the grid is.
    pub points: usize,
}

/// A variable that is set, and to what.
pub struct Setting<'a> {
    /// A parameter or an input.
    pub variable: &'a ScalarVariable,
    /// How its values come about.
    pub law: Law,
}

/// A variable of which something is kept.
pub struct Output<'a> {
    /// It.
    pub variable: &'a ScalarVariable,
    /// What is kept of it.
    pub statistics: &'a [Statistic],
}

impl Output<'_> {
    /// What stands in the table of all runs.
    pub fn summarised(&self) -> impl Iterator<Item = Statistic> {
        let statistics = self.statistics.iter().copied();
        statistics.filter(|&statistic| statistic != Statistic::Series)
    }
}

impl Campaign<'_> {
    /// What is set before a run, in the order of the settings.
    pub fn values(&self, run: usize) -> Vec<f64> {
        self.settings.iter().map(|setting| self.value(setting, run)).collect()
    }

    /// The value of one of them.
    pub fn value(&self, setting: &Setting, run: usize) -> f64 {
        let index = RunIndex {
            run,
            points: self.points,
        };
        setting.law.value(self.seed, &setting.variable.name, index)
    }

    /// Makes a run; none, if it was interrupted. One that fails is a record of that.
    ///
    /// # Errors
    /// The file of its series cannot be written.
    pub fn perform(&self, run: usize, folder: &Folder) -> Result<Option<Record>> {
        let mut values = self.values(run);
        let set: Vec<&ScalarVariable> = self.settings.iter().map(|setting| setting.variable).collect();
        let references = set.iter().map(|variable| variable.value_reference);
        let settings: Vec<(u32, f64)> = references.zip(values.iter().copied()).collect();
        let recorded: Vec<&ScalarVariable> = self.outputs.iter().map(|output| output.variable).collect();
        let request = Request {
            settings: &settings,
            once: &set,
            recorded: &recorded,
            log: &[],
        };
        let mut results = Vec::new();
        let failure = match self.plan.record(self.fmu, &request, |_| ()) {
            Ok(run_made) => {
                values = run_made.results.parameters.iter().map(|(_, value)| *value).collect();
                if run_made.failure.is_none() {
                    self.save_series(run, &run_made.results, folder)?;
                    results = self.statistics(&run_made.results);
                }
                run_made.failure
            }
            Err(report) => Some(report),
        };
        if failure.as_ref().is_some_and(|failure| failure.is::<Interrupted>()) {
            return Ok(None);
        }
        Ok(Some(Record {
            run,
            values,
            results,
            failure: failure.map(|failure| in_line(&failure)),
        }))
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

    /// The course of the outputs of which all is kept, in a file of the run's own.
    fn save_series(&self, run: usize, course: &Results, folder: &Folder) -> Result<()> {
        let mut table = course.table();
        // After the time.
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
        folder.save(&table, &format!("series/{run:06}.{}", self.format.extension()))?;
        Ok(())
    }
}
