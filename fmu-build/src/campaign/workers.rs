//! Parallel runs.

use super::folder::{Folder, Journal};
use super::plan::Campaign;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::slave::Instances;
use crate::text::count;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// Makes the given runs, `jobs` at a time, and appends each to the journal when it ends.
///
/// # Errors
/// A file that cannot be written; a cancellation. A failed run is not an error.
pub fn work(
    campaign: &Campaign,
    runs: &[usize],
    jobs: usize,
    folder: &Folder,
    journal: &mut Journal,
    mut control: Control,
) -> Result<()> {
    let (next, has_failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let lanes = campaign.lanes();
    let at_a_time = campaign.runs_at_a_time(&lanes, runs.len(), jobs);
    let (sender, receiver) = mpsc::channel();
    let mut done = 0;
    let Control { cancel, .. } = control;
    let flow = || match has_failed.load(Ordering::Relaxed) {
        true => ControlFlow::Break(()),
        false => Control { cancel, progress: None }.flow(),
    };
    control.report(0.0, runs.len() as f64);
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, runs.len().max(1)) {
            let (sender, next, lanes) = (sender.clone(), &next, &lanes);
            scope.spawn(move || {
                let mut instances = Instances::of(lanes.library(campaign.fmu));
                loop {
                    let first = next.fetch_add(at_a_time, Ordering::Relaxed).min(runs.len());
                    let taken = &runs[first..(first + at_a_time).min(runs.len())];
                    if taken.is_empty() {
                        break;
                    }
                    let Some(outcome) = campaign.perform(taken, &mut instances, folder, flow).transpose() else {
                        break;
                    };
                    if sender.send(outcome).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for outcome in receiver {
            let written = outcome.and_then(|records| {
                records.iter().try_for_each(|record| journal.append(record))?;
                Ok(records.len())
            });
            match written {
                Ok(runs) => done += runs,
                Err(error) => {
                    has_failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
            control.report(done as f64, runs.len() as f64);
        }
        Ok(())
    })?;
    if done < runs.len() {
        let total = count(runs.len(), "run");
        return Err(Error::Interrupted(format!(
            "with {done} of {total} done; run the same command to continue"
        )));
    }
    Ok(())
}
