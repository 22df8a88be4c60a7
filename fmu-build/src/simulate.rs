use crate::health::Health;
use crate::progress::Progress;
use crate::report;
use crate::run::{Experiment, Fmu, Plan, Recorder, Run, changes, is_real};
use crate::slave::Slave;
use crate::text::{count, number, say};
use miette::{IntoDiagnostic, Result, WrapErr, bail, miette};
use model_description::Causality;
use std::path::PathBuf;

/// Run a spec or an FMU, through the FMI, and look at it.
///
///   grapple simulate my_arm.toml                        my_arm.csv and my_arm.html
///   grapple simulate my_arm.fmu --stop-time 60 --step 0.1
///   grapple simulate my_arm.toml --set forearm.mass=2 --set base.w_start[3]=0.01
///
/// The run is the spec's [experiment], with the spec's signals at the inputs. The
/// CSV file has a column for each variable, named with its unit:
/// pandas.read_csv("my_arm.csv", index_col=0). --output my_arm.parquet is read by
/// pandas.read_parquet("my_arm.parquet"), units in its attrs. The page needs no
/// network; open it in a browser. The last line is the run's health: what physics
/// conserves, and what the run cost.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// A spec, or an FMU that grapple built
    model: PathBuf,
    /// The results, as CSV, or as Parquet if called .parquet; by default the model's name with .csv, in the current folder
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The page to look at; by default the model's name with .html, in the current folder
    #[arg(long, visible_alias = "report", value_name = "FILE")]
    page: Option<PathBuf>,
    #[command(flatten)]
    experiment: Experiment,
    /// Another value for a parameter, or for an input without a signal
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    set: Vec<(String, f64)>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let fmu = Fmu::open(&arguments.model)?;
    let plan = Plan::new(&fmu, &arguments.experiment)?;
    let run = perform(&fmu, &plan, &settings(&fmu, &plan, &arguments.set)?)?;
    let spec = &fmu.model.spec;

    let default = |extension: &str| PathBuf::from(format!("{}.{extension}", spec.name));
    let table = arguments.output.clone().unwrap_or_else(|| default("csv"));
    run.results.table().save(&table)?;
    let health = Health::of(spec, &run, plan.tolerance);
    let html = arguments.page.clone().unwrap_or_else(|| default("html"));
    std::fs::write(&html, report::page(&fmu, &plan, &run, &health).to_html())
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write {}", html.display()))?;

    for event in &run.events {
        say(event)?;
    }
    say(&format!(
        "{}: {}",
        table.display(),
        count(run.results.time.len(), "row")
    ))?;
    say(&format!("{}: open it in a browser", html.display()))?;
    say(&health.line())
}

/// Runs the FMU and reads all variables that change.
fn perform(fmu: &Fmu, plan: &Plan, settings: &[(u32, f64)]) -> Result<Run> {
    let mut slave = fmu.library.instantiate()?;
    slave.listen(&[
        "logEvents",
        "logSolver",
        "logStatusError",
        "logStatusDiscard",
        "logStatusFatal",
    ])?;
    plan.initialize(&mut slave, settings)?;
    let mut recorder = Recorder::new(fmu, &fmu.variables(changes));
    recorder.results.parameters = parameters(fmu, &mut slave)?;
    let progress = Progress::new(plan.stop, |t| format!("t = {} s", number(t, 4)));
    let effort = plan.advance(&mut slave, |t, slave| {
        recorder.record(t, slave)?;
        progress.at(t);
        Ok(())
    })?;
    slave.terminate()?;
    let (solver, events): (Vec<_>, Vec<_>) = slave
        .messages()
        .into_iter()
        .partition(|(category, _)| category == "logSolver");
    Ok(Run {
        results: recorder.results,
        events: events.into_iter().map(|(_, text)| text).collect(),
        solver: solver.into_iter().next_back().map(|(_, text)| text),
        effort,
    })
}

/// The names and values of all parameters.
fn parameters(fmu: &Fmu, slave: &mut Slave) -> Result<Vec<(String, f64)>> {
    let parameters = fmu.variables(|v| v.causality == Causality::Parameter && is_real(v));
    let references: Vec<u32> = parameters.iter().map(|v| v.value_reference).collect();
    let values = slave.reals(&references)?;
    Ok(parameters.iter().map(|v| v.name.clone()).zip(values).collect())
}

/// The settings of the command line, by value references.
fn settings(fmu: &Fmu, plan: &Plan, set: &[(String, f64)]) -> Result<Vec<(u32, f64)>> {
    let setting = |(name, value): &(String, f64)| {
        let variable = fmu.settable(name).map_err(|hint| miette!("{hint}"))?;
        if plan.feeds(variable) {
            bail!("{name} is driven by a signal of the spec; change it there");
        }
        Ok((variable.value_reference, *value))
    };
    set.iter().map(setting).collect()
}

fn setting(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    match value.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((name.trim().to_owned(), number)),
        _ => Err(format!("{value:?} is not a finite number")),
    }
}
