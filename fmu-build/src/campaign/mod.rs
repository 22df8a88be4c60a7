//! Many runs of one model, with dispersed parameters.
//!
//! | module | contents |
//! |---|---|
//! | `file` | the file of a study |
//! | `validate` | validation of a study against its model |
//! | `plan` | the runs of a campaign, and the execution of one |
//! | `draw` | the dispersed values of a run |
//! | `statistic` | statistics of an output |
//! | `workers` | parallel execution on all cores |
//! | `rows` | the tables: a row for each run |
//! | `page` | the page: maps, charts and failed runs |
//! | `folder` | the identity of a campaign's folder, and its finished runs |

mod draw;
mod file;
mod folder;
mod page;
mod plan;
mod rows;
mod statistic;
mod validate;
mod workers;

#[cfg(feature = "inside")]
test_modules![draw::tests, folder::tests, statistic::tests];

use crate::control::Control;
use crate::error::Result;
use crate::table::Table;
pub use draw::{Law, RunIndex};
pub use file::{Dispersion, Even, Format, Grid, Normal, Study, StudyFile};
pub use folder::Record;
use folder::{Folder, Journal, Width};
pub use plan::Campaign;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
pub use statistic::Statistic;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;
pub use validate::validated;

/// A part of a campaign: the runs whose number mod `count` is `index`.
#[derive(Clone, Copy, Debug)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl Default for Shard {
    /// Returns the shard of all runs.
    fn default() -> Self {
        Self { index: 0, count: 1 }
    }
}

impl Shard {
    /// Returns shard `index` of `count`.
    ///
    /// # Errors
    /// The index is not below the count.
    pub fn new(index: usize, count: usize) -> Result<Self, String> {
        match index < count {
            true => Ok(Self { index, count }),
            false => Err(format!("shards are counted from zero: there is no {index} of {count}")),
        }
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text
            .split_once('/')
            .and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
        let (index, count) = numbers.ok_or("expected K/N, as in 0/8 … 7/8")?;
        Self::new(index, count)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

/// A campaign with its opened folder, and the shard whose runs are to be made.
pub struct Work<'a> {
    campaign: &'a Campaign<'a>,
    shard: Shard,
    folder: Folder,
    journal: Journal,
    /// Runs of the shard that are not finished yet.
    pub left: Vec<usize>,
}

/// State of a campaign after the work on a shard.
pub struct Outcome {
    /// Number of finished runs of all shards.
    pub done: usize,
    /// File of the table; none until all runs are finished.
    pub table: Option<PathBuf>,
    /// File of the page; none until all runs are finished.
    pub page: Option<PathBuf>,
    /// The failed runs of this shard, by their numbers.
    pub failed: Vec<Record>,
}

impl<'a> Campaign<'a> {
    /// Returns a table of the values that are set before these runs.
    pub fn values_table(&self, runs: Range<usize>) -> Table<'a> {
        rows::plan(self, runs)
    }

    /// Opens the folder of the campaign, or creates it, to make the runs of a shard.
    ///
    /// # Errors
    /// The folder belongs to another campaign or is damaged; another program works on this shard.
    pub fn open(&'a self, folder: &Path, shard: Shard) -> Result<Work<'a>> {
        let folder = self.folder(folder)?;
        let journal = folder.journal(shard)?;
        let records = folder.records()?;
        Ok(Work {
            campaign: self,
            shard,
            folder,
            journal,
            left: self.runs(shard).filter(|run| !records.contains_key(run)).collect(),
        })
    }

    /// Opens or creates a folder with runs of the campaign.
    fn folder(&self, path: &Path) -> Result<Folder> {
        let width = Width {
            values: self.settings.len(),
            results: rows::results(self).len(),
        };
        Folder::open(path, &identity(self)?, width)
    }

    /// Returns the runs of a shard.
    fn runs(&self, shard: Shard) -> impl Iterator<Item = usize> + use<> {
        (shard.index..self.total).step_by(shard.count)
    }
}

impl Work<'_> {
    /// Returns a warning if the folder's file system has no locks, so that a second program could
    /// run the same shard.
    pub fn warning(&self) -> Option<&str> {
        self.journal.warning.as_deref()
    }

    /// Makes the unfinished runs of the shard, `jobs` at a time, and writes the table and the page if all
    /// runs of the campaign are then finished. Progress is the number of runs made now. A failed run is
    /// not an error.
    ///
    /// # Errors
    /// A file that cannot be written; a cancellation.
    pub fn run(mut self, jobs: usize, control: Control) -> Result<Outcome> {
        workers::work(
            self.campaign,
            &self.left,
            jobs,
            &self.folder,
            &mut self.journal,
            control,
        )?;
        self.finish()
    }

    /// Adds the finished runs of the folder `from`, in which another program has made some runs of
    /// the same campaign.
    ///
    /// # Errors
    /// The folder belongs to another campaign or is damaged; a file that cannot be written.
    pub fn add(&mut self, from: &Path) -> Result<()> {
        let part = self.campaign.folder(from)?;
        let records = part.records()?;
        for record in records.values() {
            if self.left.binary_search(&record.run).is_err() {
                continue;
            }
            let series = self.campaign.series(record.run);
            if part.file(&series).exists() {
                self.folder.copy(&part, &series)?;
            }
            self.journal.append(record)?;
        }
        self.left.retain(|run| !records.contains_key(run));
        Ok(())
    }

    /// Writes the table and the page if all runs of the campaign are finished.
    ///
    /// # Errors
    /// A file that cannot be read or written.
    pub fn finish(self) -> Result<Outcome> {
        let Self {
            campaign,
            shard,
            folder,
            journal,
            ..
        } = self;
        // On a network file system other machines see closed files only, and the program that
        // finishes last must read the runs of all shards.
        drop(journal);
        let records = folder.records()?;
        let done = records.range(..campaign.total).count();
        let write = || {
            let name = format!("runs.{}", campaign.study.format.extension());
            folder.save(&rows::table(campaign, &records), &name)
        };
        let write_page = || folder.write(&page::html(campaign, &records), "runs.html");
        let is_done = done == campaign.total;
        let own = campaign.runs(shard).filter_map(|run| records.get(&run));
        Ok(Outcome {
            done,
            table: is_done.then(write).transpose()?,
            page: is_done.then(write_page).transpose()?,
            failed: own.filter(|record| record.failure.is_some()).cloned().collect(),
        })
    }
}

/// Returns everything that the results depend on, except the number of runs: runs may be added.
fn identity(campaign: &Campaign) -> Result<Value> {
    let (study, times) = (campaign.study, campaign.plan.times);
    let library: String = Sha256::digest(campaign.fmu.library_bytes()?)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let set = campaign.settings.iter().map(|setting| setting.variable.name.clone());
    let columns: Vec<String> = set
        .chain(rows::results(campaign).into_iter().map(|(name, _)| name))
        .collect();
    Ok(json!({
        "grapple": env!("CARGO_PKG_VERSION"),
        "model (GUID)": campaign.fmu.description.guid,
        "library (SHA-256)": library,
        "seed": study.seed,
        "format": study.format,
        "experiment": {
            "stop_time": times.stop,
            "step": times.step,
            "tolerance": times.tolerance,
        },
        "set": study.set,
        "dispersion": study.dispersion,
        "output": study.output,
        "columns": columns,
    }))
}
