//! Parallel runs.

use super::folder::{Folder, Journal};
use super::plan::Campaign;
use crate::interrupt::{self, Interrupted};
use crate::progress::Progress;
use crate::text::count;
use miette::Result;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// Makes these runs, `jobs` at a time, and appends each to the journal when it ends.
///
/// # Errors
/// A file that cannot be written; an interruption. A failed run is not an error.
pub fn work(campaign: &Campaign, runs: &[usize], jobs: usize, folder: &Folder, journal: &mut Journal) -> Result<()> {
    if runs.is_empty() {
        return Ok(());
    }
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let (total, mut done) = (count(runs.len(), "run"), 0);
    let of = total.clone();
    thread::scope(|scope| {
        for _ in 0..jobs.min(runs.len()) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some(&run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Some(outcome) = campaign.perform(run, folder).transpose() else {
                        break;
                    };
                    if sender.send(outcome).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let progress = Progress::new(runs.len() as f64, move |done| format!("{done:.0} of {of}"));
        for outcome in receiver {
            let written = outcome.and_then(|record| journal.append(&record));
            if written.is_err() {
                interrupt::stop();
                return written;
            }
            done += 1;
            progress.at(done as f64);
        }
        Ok(())
    })?;
    if done < runs.len() {
        return Err(Interrupted(format!("with {done} of {total} done; run the same command to continue")).into());
    }
    Ok(())
}
