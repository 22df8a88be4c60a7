//! Runs side by side.

use super::folder::{Folder, Journal, Record};
use super::judge::Campaign;
use super::statistic::Statistic;
use crate::progress::Progress;
use crate::results::Results;
use crate::run::Recorder;
use crate::text::count;
use miette::{IntoDiagnostic, Result, bail};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// Makes these runs, `jobs` at a time, and writes each into the journal as it ends.
///
/// # Errors
/// A file that cannot be written; an interruption from the keyboard. A run that fails is no error.
pub fn work(campaign: &Campaign, runs: &[usize], jobs: usize, folder: &Folder, journal: &mut Journal) -> Result<()> {
    if runs.is_empty() {
        return Ok(());
    }
    let stop = stopped_by_keyboard()?;
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let (total, mut done) = (count(runs.len(), "run"), 0);
    thread::scope(|scope| {
        for _ in 0..jobs.min(runs.len()) {
            let (sender, stop, next) = (sender.clone(), &stop, &next);
            scope.spawn(move || {
                while let Some(&run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = campaign.perform(run, stop, folder);
                    if stop.load(Ordering::Relaxed) || sender.send(outcome).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let progress = Progress::new(runs.len() as f64, move |done| format!("{done:.0} of {total}"));
        for outcome in receiver {
            let written = outcome.and_then(|record| journal.append(&record));
            if written.is_err() {
                stop.store(true, Ordering::Relaxed);
                return written;
            }
            done += 1;
            progress.at(done as f64);
        }
        Ok(())
    })?;
    if done < runs.len() {
        bail!(
            "interrupted: {done} of {} done; the same command goes on",
            count(runs.len(), "run")
        );
    }
    Ok(())
}

/// Rises when the user interrupts; who does it twice does not want to wait for the communication step.
fn stopped_by_keyboard() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if stopped.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .into_diagnostic()?;
    Ok(stop)
}

impl Campaign<'_> {
    /// Makes a run. One that is stopped gives what nobody should keep.
    ///
    /// # Errors
    /// The file of its series cannot be written.
    fn perform(&self, run: usize, stop: &AtomicBool, folder: &Folder) -> Result<Record> {
        let mut values = self.values(run);
        let (results, failure) = match self.course(&mut values, stop) {
            Ok(course) => {
                self.save_series(run, &course, folder)?;
                (self.statistics(&course), None)
            }
            Err(report) => {
                let words: Vec<String> = report
                    .chain()
                    .map(|error| error.to_string().replace('\n', "; "))
                    .collect();
                (Vec::new(), Some(words.join(": ")))
            }
        };
        Ok(Record {
            run,
            values,
            results,
            failure,
        })
    }

    /// The outputs of a run over time; `values` become those that the FMU uses.
    fn course(&self, values: &mut Vec<f64>, stop: &AtomicBool) -> Result<Results> {
        let mut slave = self.fmu.library.instantiate()?;
        slave.listen(&["logStatusError", "logStatusDiscard", "logStatusFatal"])?;
        let references: Vec<u32> = self
            .settings
            .iter()
            .map(|setting| setting.variable.value_reference)
            .collect();
        let settings: Vec<(u32, f64)> = references.iter().copied().zip(values.iter().copied()).collect();
        self.plan.initialize(&mut slave, &settings)?;
        *values = slave.reals(&references)?;
        let variables: Vec<_> = self.outputs.iter().map(|output| output.variable).collect();
        let mut recorder = Recorder::new(self.fmu, &variables);
        self.plan.advance(&mut slave, |t, slave| {
            if stop.load(Ordering::Relaxed) {
                bail!("interrupted at t = {t} s");
            }
            recorder.record(t, slave)
        })?;
        slave.terminate()?;
        Ok(recorder.results)
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
