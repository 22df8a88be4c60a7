//! `grapple campaign`: many runs of one model.
//!
//! | module | contents |
//! |---|---|
//! | [`file`] | the file of a study |
//! | [`validate`] | validation of a study against its model |
//! | [`plan`] | the runs of a campaign, and the execution of one |
//! | [`draw`] | the values of a run |
//! | [`statistic`] | statistics of an output |
//! | [`workers`] | parallel execution on all cores |
//! | [`rows`] | the tables: a row for each run |
//! | [`folder`] | the identity of a campaign's folder, and its finished runs |

mod draw;
mod file;
mod folder;
mod plan;
mod rows;
mod statistic;
mod validate;
mod workers;

use crate::fmu::Fmu;
use crate::text::{count, print, print_unless_closed};
use file::{File, Study};
use folder::{Folder, Record, Width};
use miette::{IntoDiagnostic, Result};
use plan::Campaign;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

/// Number of rows of a plan printed before the output is checked for a closed pipe.
const RUNS_AT_A_TIME: usize = 1000;

/// Run a model many times, with dispersed parameters: Monte Carlo and grids.
///
///   grapple campaign docking.toml                docking/runs.csv: a row per run
///   grapple campaign docking.toml --jobs 4
///   grapple campaign docking.toml --shard 2/8    one of eight shards: 2, 10, 18, …
///   grapple campaign docking.toml --plan         the values of each run, as CSV
///
/// A study is a text file next to the model:
///
///   model = "docking_spacecraft.toml"  # a spec or an FMU
///   runs = 1000
///   seed = 1
///
///   [dispersion."servicer.mass"]
///   normal = { sigma = 0.05 }          # about the model's own value
///   relative = true                    # 5 %
///
///   [dispersion."target.w_start[3]"]
///   uniform = [-0.05, 0.05]            # rad/s
///
///   [output]
///   "latch.captured" = ["final"]
///   "mount.q[1]" = ["peak", "rms"]
///
/// If it is killed or interrupted, the same command continues where it stopped. The
/// table is identical to the byte, also for any number of shards: a value depends on
/// the seed, the variable's name and the run's number only. A failed run is a row
/// with its message; the exit code is then 3. See docs/campaigns.md for details.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The study
    study: PathBuf,
    /// The folder of the results; by default the study's name, in the current folder
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Number of parallel runs; by default one for each core
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Only runs with number mod N = K (K from 0)
    #[arg(long, value_name = "K/N", default_value_t = Shard { index: 0, count: 1 })]
    shard: Shard,
    /// Print the values of each run as CSV, without running
    #[arg(long)]
    plan: bool,
}

/// A part of a campaign: the runs whose number mod `count` is `index`.
#[derive(Clone, Copy, Debug)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text
            .split_once('/')
            .and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((index, count)) if index < count => Ok(Self { index, count }),
            Some((index, count)) => Err(format!("shards are counted from zero: there is no {index} of {count}")),
            None => Err("expected K/N, as in 0/8 … 7/8".to_owned()),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

/// Prints the values of each run in blocks: there may be millions of runs.
fn print_plan(campaign: &Campaign) -> Result<()> {
    for start in (0..campaign.total).step_by(RUNS_AT_A_TIME) {
        let runs = start..campaign.total.min(start + RUNS_AT_A_TIME);
        let table = rows::plan(campaign, runs);
        let mut text = Vec::new();
        match start {
            0 => table.write_csv(&mut text),
            _ => table.write_rows(&mut csv::Writer::from_writer(&mut text)),
        }
        .into_diagnostic()?;
        if !print_unless_closed(String::from_utf8_lossy(&text).trim_end())? {
            break;
        }
    }
    Ok(())
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let file = File::read(&arguments.study)?;
    let fmu = Fmu::open(&file.model())?;
    let campaign = validate::validated(&file.study, &fmu).map_err(|problems| file.report(&problems))?;
    if arguments.plan {
        return print_plan(&campaign);
    }
    let default = || PathBuf::from(arguments.study.file_stem().unwrap_or_default());
    let path = arguments.output.clone().unwrap_or_else(default);
    let width = Width {
        values: campaign.settings.len(),
        results: rows::results(&campaign).len(),
    };
    let folder = Folder::open(&path, &identity(&file.study, &campaign)?, width)?;
    let shard = arguments.shard;
    let mut journal = folder.journal(shard)?;
    let records = folder.records()?;
    let own = (shard.index..campaign.total).step_by(shard.count);
    let left: Vec<usize> = own.clone().filter(|run| !records.contains_key(run)).collect();
    let jobs = arguments.jobs.or_else(|| std::thread::available_parallelism().ok());
    workers::work(
        &campaign,
        &left,
        jobs.map_or(1, NonZeroUsize::get),
        &folder,
        &mut journal,
    )?;
    // On a network file system other machines see closed files only; the last shard must see all
    // runs.
    drop(journal);

    let records = folder.records()?;
    let failed: Vec<&Record> = own
        .filter_map(|run| records.get(&run))
        .filter(|r| r.failure.is_some())
        .collect();
    let there = records.range(..campaign.total).count();
    let place = if there == campaign.total {
        let name = format!("runs.{}", campaign.format.extension());
        let table = folder.save(&rows::table(&campaign, &records), &name)?;
        print(&format!("{}: {}", table.display(), count(campaign.total, "run")))?;
        table
    } else {
        print(&format!(
            "{}: {there} of {} are done; the table is written when all are done",
            path.display(),
            count(campaign.total, "run")
        ))?;
        path
    };
    match failed.first() {
        None => Ok(()),
        Some(first) => Err(Failed {
            runs: count(failed.len(), "run"),
            place,
            first: first.run,
            why: first.failure.clone().unwrap_or_default(),
        }
        .into()),
    }
}

/// Error for a complete campaign with failed runs.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("{runs} failed (in {}); run {first} first: {why}", place.display())]
pub struct Failed {
    runs: String,
    place: PathBuf,
    first: usize,
    why: String,
}

/// Returns everything that the results depend on, except the number of runs: more may be added.
fn identity(study: &Study, campaign: &Campaign) -> Result<Value> {
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
            "stop_time": campaign.plan.stop,
            "step": campaign.plan.step,
            "tolerance": campaign.plan.tolerance,
        },
        "set": study.set,
        "dispersion": study.dispersion,
        "output": study.output,
        "columns": columns,
    }))
}
