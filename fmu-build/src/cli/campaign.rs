use super::interrupt::{self, TemporaryFolder};
use super::output::{print, print_unless_closed, warn};
use super::progress::Progress;
use fmu_build::Control;
use fmu_build::campaign::{Campaign, Shard, StudyFile};
use fmu_build::fmu::Fmu;
use fmu_build::package::Package;
use fmu_build::text::count;
use miette::{IntoDiagnostic, Result};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Number of rows of a plan printed before the output is checked for a closed pipe.
const RUNS_AT_A_TIME: usize = 1000;

/// Run a model many times, with dispersed parameters: Monte Carlo and grids.
///
///   grapple campaign docking.toml                docking/runs.csv: a row per run,
///                                                and the page docking/runs.html
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
    #[arg(long, value_name = "K/N", default_value_t)]
    shard: Shard,
    /// Make each run alone, not several in the lanes of vectors; the results are the same
    #[arg(long)]
    alone: bool,
    /// Print the values of each run as CSV, without running
    #[arg(long)]
    plan: bool,
}

/// Prints the values of each run in blocks: there may be millions of runs.
fn print_plan(campaign: &Campaign) -> Result<()> {
    for start in (0..campaign.total).step_by(RUNS_AT_A_TIME) {
        let runs = start..campaign.total.min(start + RUNS_AT_A_TIME);
        let table = campaign.values_table(runs);
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
    let file = StudyFile::read(&arguments.study)?;
    let package = Package::of(&file.model())?;
    let temporary = TemporaryFolder::new()?;
    let fmu = Fmu::unpack(&package, temporary.path())?;
    let mut campaign = file.campaign(&fmu)?;
    campaign.alone = arguments.alone;
    if arguments.plan {
        return print_plan(&campaign);
    }
    let default = || PathBuf::from(arguments.study.file_stem().unwrap_or_default());
    let path = arguments.output.clone().unwrap_or_else(default);
    let work = campaign.open(&path, arguments.shard)?;
    work.warning().into_iter().for_each(warn);
    if let Some(reason) = campaign.prevents_lanes() {
        warn(&format!("Each run is made alone, not several in lanes: {reason}"));
    }
    let jobs = arguments.jobs.or_else(|| std::thread::available_parallelism().ok());
    let of = count(work.left.len(), "run");
    let mut progress = Progress::new(move |done| format!("{done:.0} of {of}"));
    let control = Control {
        progress: Some(&mut |done, whole| progress.at(done, whole)),
        cancel: Some(interrupt::flag()),
    };
    let outcome = work.run(jobs.map_or(1, NonZeroUsize::get), control)?;
    drop(progress);

    let all = count(campaign.total, "run");
    match &outcome.table {
        Some(table) => {
            let page = outcome.page.iter().map(|page| format!(" (page: {})", page.display()));
            print(&format!("{}: {all}{}", table.display(), page.collect::<String>()))?;
        }
        None => print(&format!(
            "{}: {} of {all} are done; the table is written when all are done",
            path.display(),
            outcome.done
        ))?,
    }
    match outcome.failed.first() {
        None => Ok(()),
        Some(first) => Err(Failed {
            runs: count(outcome.failed.len(), "run"),
            place: outcome.table.unwrap_or(path),
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
