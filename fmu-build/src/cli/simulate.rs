use super::interrupt::{self, TemporaryFolder};
use super::output::{named, print, remark};
use super::progress::Progress;
use fmu_build::coupled_run::{Algorithm, CoupledOptions};
use fmu_build::coupled_system::CoupledSystem;
use fmu_build::diagnostics::Diagnostics;
use fmu_build::files::Target;
use fmu_build::fmu::Fmu;
use fmu_build::package::Package;
use fmu_build::run::Experiment;
use fmu_build::simulate::{SimulateOptions, simulate};
use fmu_build::table::Table;
use fmu_build::text::{count, number};
use fmu_build::{Control, input_table, report};
use miette::{Result, miette};
use std::path::PathBuf;

/// Run a spec or an FMU through FMI, and write its results and a page.
///
///   grapple simulate my_arm.toml                        my_arm.csv and my_arm.html
///   grapple simulate my_arm.fmu --stop-time 60 --step 0.1
///   grapple simulate my_arm.toml --set forearm.mass=2 --set base.w_start[3]=0.01
///   grapple simulate my_arm.toml --no-page
///   grapple simulate loop.ssp --set servoed_arm.boom.EI=2e4  FMUs, connected
///
/// The run is the spec's [experiment], with the spec's signals at the inputs. The
/// CSV file has a column for each variable, named with its unit:
/// pandas.read_csv("my_arm.csv", index_col=0). --output my_arm.parquet is read by
/// pandas.read_parquet("my_arm.parquet"), units in its attrs. The page needs no
/// network; open it in a browser. The last line gives the run diagnostics: the drift
/// of conserved quantities, and the effort.
///
/// With --inputs a table sets inputs instead of signals: a CSV file as written by
/// `grapple describe --inputs-template`, with a column for time (s) and one for each
/// input; linear interpolation between its rows, steps for switches and commands.
///
/// An SSP file runs with all its FMUs: loop.csv has columns COMPONENT.VARIABLE, and
/// each spacecraft has a page, loop_COMPONENT.html. FMUs whose outputs depend on their
/// inputs without delay, and controllers, are stepped first; --algorithm jacobi steps all
/// at once. Inputs without a connection keep their start values, or those of --set.
///
/// A run that fails, or is interrupted (Ctrl-C, SIGTERM), leaves the table and the page
/// up to there; the exit code is 1, or 130.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// A spec, an FMU that grapple built, or an SSP file
    model: PathBuf,
    /// The results, as CSV, or as Parquet if named .parquet; by default the model's file name with
    /// .csv, in the current folder
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The page; by default the model's file name with .html, in the current folder
    #[arg(long, visible_alias = "report", value_name = "FILE")]
    page: Option<PathBuf>,
    /// Write no page
    #[arg(long, conflicts_with = "page")]
    no_page: bool,
    /// End of the run, s
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = positive)]
    stop_time: Option<f64>,
    /// Communication step and spacing of the results, s
    #[arg(long, value_name = "H", allow_negative_numbers = true, value_parser = positive)]
    step: Option<f64>,
    /// Relative tolerance of the integration
    #[arg(long, value_name = "TOL", allow_negative_numbers = true, value_parser = positive)]
    tolerance: Option<f64>,
    /// A table of input values
    #[arg(long, value_name = "FILE")]
    inputs: Option<PathBuf>,
    /// Another value for a parameter, or for an input without a signal
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    set: Vec<(String, f64)>,
    /// Co-simulation algorithm for an SSP file; by default gauss-seidel
    #[arg(long, value_name = "NAME", value_parser = ["jacobi", "gauss-seidel"])]
    algorithm: Option<String>,
    /// Inputs of the FMUs of an SSP file follow lines within a step; by default they are held
    #[arg(long)]
    linear: bool,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let is_system = arguments
        .model
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("ssp"));
    match is_system {
        true => run_system(arguments),
        false if arguments.algorithm.is_some() || arguments.linear => {
            Err(miette!("--algorithm and --linear are for SSP files, of several FMUs"))
        }
        false => run_one(arguments),
    }
}

/// Runs the FMUs of an SSP file.
fn run_system(arguments: &Arguments) -> Result<()> {
    if arguments.inputs.is_some() {
        return Err(miette!(
            "--inputs is for one FMU: of an SSP file, connect an FMU that computes the inputs"
        ));
    }
    let folder = TemporaryFolder::new()?;
    let system = CoupledSystem::unpack(&arguments.model, folder.path())?;
    let mut reads = vec![arguments.model.clone()];
    let named =
        |path: &Option<PathBuf>, extension: &str| path.clone().unwrap_or_else(|| named(&arguments.model, extension));
    let table = Target::new(named(&arguments.output, "csv"), &reads)?;
    Table::check_name(table.path())?;
    reads.push(table.path().to_owned());
    let mut pages = Vec::new();
    for (name, fmu) in system
        .own()
        .filter(|(_, fmu)| !arguments.no_page && fmu.model.spec.controller.is_none())
    {
        let base = named(&arguments.page, "html");
        let stem = base.file_stem().unwrap_or_default().to_string_lossy();
        let page = Target::new(base.with_file_name(format!("{stem}_{name}.html")), &reads)?;
        reads.push(page.path().to_owned());
        pages.push((name, fmu, page));
    }
    let options = CoupledOptions {
        experiment: experiment(arguments),
        algorithm: match arguments.algorithm.as_deref() {
            Some("jacobi") => Algorithm::Jacobi,
            _ => Algorithm::GaussSeidel,
        },
        is_linear: arguments.linear,
        set: arguments.set.clone(),
    };
    let mut progress = Progress::new(|t| format!("t = {} s", number(t, 4)));
    let control = Control {
        progress: Some(&mut |t, stop| progress.at(t, stop)),
        cancel: Some(interrupt::flag()),
    };
    let coupled = system.run(&options, control)?;
    drop(progress);
    let order = system.order().collect::<Vec<_>>().join(", ");
    print(&match options.algorithm {
        Algorithm::Jacobi => format!("Jacobi algorithm: {order} at once"),
        Algorithm::GaussSeidel => format!("Gauss-Seidel algorithm: {order}"),
    })?;
    for input in system.without_signals() {
        print(&format!(
            "{input} keeps its start value: in a system, signals act inside their FMU only (from_importer = false)"
        ))?;
    }
    coupled.table().save(&table)?;
    for (name, run) in &coupled.parts {
        let events = run.events.iter().map(ToString::to_string);
        for line in events.chain(run.messages.iter().cloned()) {
            print(&format!("{name}: {line}"))?;
        }
    }
    let rows = coupled.parts.first().map_or(0, |(_, run)| run.results.time.len());
    print(&format!("{}: {}", table.path().display(), count(rows, "row")))?;
    for (name, fmu, page) in pages {
        let Some((_, run)) = coupled.parts.iter().find(|(known, _)| known == name) else {
            continue;
        };
        page.write(report::page(fmu, run))?;
        print(&format!("{}: open it in a browser", page.path().display()))?;
        let line = Diagnostics::of(&fmu.model.spec, run).line();
        print(&format!("{name}: {line}"))?;
    }
    coupled.failure.map_or(Ok(()), |failure| Err(failure.into()))
}

fn experiment(arguments: &Arguments) -> Experiment {
    Experiment {
        stop_time: arguments.stop_time,
        step: arguments.step,
        tolerance: arguments.tolerance,
    }
}

fn run_one(arguments: &Arguments) -> Result<()> {
    let package = Package::of(&arguments.model)?;
    let folder = TemporaryFolder::new()?;
    let fmu = Fmu::unpack(&package, folder.path())?;
    let spec = &fmu.model.spec;
    let named =
        |path: &Option<PathBuf>, extension: &str| path.clone().unwrap_or_else(|| named(&arguments.model, extension));
    let mut reads = fmu.reads.clone();
    reads.extend(arguments.inputs.clone());
    let table = Target::new(named(&arguments.output, "csv"), &reads)?;
    Table::check_name(table.path())?;
    reads.push(table.path().to_owned());
    let page = (!arguments.no_page).then(|| Target::new(named(&arguments.page, "html"), &reads));
    let page = page.transpose()?;

    let inputs = arguments.inputs.as_ref().map(|file| input_table::read(file, &fmu));
    let options = SimulateOptions {
        experiment: experiment(arguments),
        inputs: inputs.transpose()?.unwrap_or_default(),
        set: arguments.set.clone(),
    };
    let mut progress = Progress::new(|t| format!("t = {} s", number(t, 4)));
    let control = Control {
        progress: Some(&mut |t, stop| progress.at(t, stop)),
        cancel: Some(interrupt::flag()),
    };
    let run = simulate(&fmu, &options, control)?;
    drop(progress);

    if let Some(compiled) = package.spec() {
        remark(&compiled.file, &compiled.remarks()?, true)?;
    }
    run.results.table().save(&table)?;
    let diagnostics = Diagnostics::of(spec, &run);
    if let Some(page) = &page {
        page.write(report::page(&fmu, &run))?;
    }
    let events = run.events.iter().map(ToString::to_string);
    for line in events.chain(run.messages.iter().cloned()) {
        print(&line)?;
    }
    let rows = count(run.results.time.len(), "row");
    print(&format!("{}: {rows}", table.path().display()))?;
    if let Some(page) = &page {
        print(&format!("{}: open it in a browser", page.path().display()))?;
    }
    print(&diagnostics.line())?;
    run.failure.map_or(Ok(()), |failure| Err(failure.into()))
}

pub fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("expected a positive number, without its unit".to_owned()),
    }
}

pub fn setting(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    match value.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((name.trim().to_owned(), number)),
        _ => Err(format!(
            "{value:?} is not a finite number; values are in SI units, without the unit"
        )),
    }
}
