use crate::craft::Craft;
use crate::health::Health;
use crate::library::Library;
use crate::progress::Progress;
use crate::results::{Column, Results};
use crate::signals::Feed;
use crate::slave::Slave;
use crate::text::{count, say};
use crate::{archive, build, is_fmu, report};
use grapple::fmu::description::Interfaces;
use grapple::fmu::registry::Naming;
use grapple::plant::Model;
use miette::{IntoDiagnostic, Result, WrapErr, bail, miette};
use model_description::{Causality, Kind, ModelDescription, ScalarVariable};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Run a spec or an FMU, through the FMI, and look at it.
///
///   grapple simulate my_arm.toml                        my_arm.csv and my_arm.html
///   grapple simulate my_arm.fmu --stop-time 60 --step 0.1
///   grapple simulate my_arm.toml --set forearm.mass=2 --set base.w_start[3]=0.01
///
/// The run is the spec's [experiment], with the spec's signals at the inputs. The
/// CSV file has a column for each variable, named with its unit:
/// pandas.read_csv("my_arm.csv", index_col=0). The page needs no network; open it
/// in a browser. The last line is the run's health: what physics conserves, and
/// what the run cost.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// A spec, or an FMU that grapple built
    model: PathBuf,
    /// The results, as CSV; by default the model's name with .csv, in the current folder
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The page to look at; by default the model's name with .html, in the current folder
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// When the run ends, s
    #[arg(long, value_name = "T", value_parser = positive)]
    stop_time: Option<f64>,
    /// Communication step and spacing of the results, s
    #[arg(long, value_name = "H", value_parser = positive)]
    step: Option<f64>,
    /// Relative tolerance of the integration
    #[arg(long, value_name = "TOL", value_parser = positive)]
    tolerance: Option<f64>,
    /// Another value for a parameter, or for an input without a signal
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    set: Vec<(String, f64)>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let fmu = Fmu::open(&arguments.model)?;
    let plan = Plan::new(&fmu, arguments)?;
    let run = perform(&fmu, &plan)?;
    let spec = &fmu.model.spec;

    let default = |extension: &str| PathBuf::from(format!("{}.{extension}", spec.name));
    let csv = arguments.output.clone().unwrap_or_else(|| default("csv"));
    let file = File::create(&csv).into_diagnostic();
    file.and_then(|file| run.results.write_csv(BufWriter::new(file)).into_diagnostic())
        .wrap_err_with(|| format!("cannot write {}", csv.display()))?;
    let health = Health::of(spec, &run, plan.tolerance);
    let html = arguments.page.clone().unwrap_or_else(|| default("html"));
    std::fs::write(&html, report::page(&fmu, &plan, &run, &health).to_html())
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write {}", html.display()))?;

    for event in &run.events {
        say(event);
    }
    say(&format!("{}: {}", csv.display(), count(run.results.time.len(), "row")));
    say(&format!("{}: open it in a browser", html.display()));
    say(&health.line());
    Ok(())
}

/// An unpacked FMU.
pub struct Fmu {
    folder: TempDir,
    /// What its XML says.
    pub description: ModelDescription,
    /// The compiled model in it.
    pub model: Model,
}

impl Fmu {
    /// Unpacks an FMU; of a spec, one that is built for the occasion.
    fn open(path: &Path) -> Result<Self> {
        let folder = TempDir::with_prefix("grapple-")
            .into_diagnostic()
            .wrap_err("cannot make a temporary folder")?;
        let file = if is_fmu(path) {
            path.to_owned()
        } else {
            let model = Craft::read(path)?.model;
            let (bytes, _) = build::fmu(&model, Naming::Structured, Interfaces::Both, &[Library::embedded()?])?;
            let file = folder.path().join("built.fmu");
            std::fs::write(&file, bytes).into_diagnostic()?;
            file
        };
        archive::unpack(&file, folder.path())?;
        Ok(Self {
            description: archive::description(&file)?,
            model: archive::model(&file)?,
            folder,
        })
    }

    fn variables(&self, wanted: impl Fn(&ScalarVariable) -> bool) -> Vec<&ScalarVariable> {
        self.description.model_variables.iter().filter(|v| wanted(v)).collect()
    }
}

/// What is to be run.
pub struct Plan<'a> {
    /// End, s.
    pub stop: f64,
    /// Communication step, s.
    pub step: f64,
    /// Relative tolerance of the integration.
    pub tolerance: f64,
    /// Value references and values to set before the start.
    settings: Vec<(u32, f64)>,
    feed: Feed<'a>,
}

impl<'a> Plan<'a> {
    /// The spec's experiment, with what the command line says otherwise.
    fn new(fmu: &'a Fmu, arguments: &Arguments) -> Result<Self> {
        let experiment = &fmu.model.spec.experiment;
        let feed = Feed::of(&fmu.model.spec, &fmu.description);
        let mut settings = Vec::new();
        for (name, value) in &arguments.set {
            let reference = settable(fmu, name)?;
            if feed.references.contains(&reference) {
                bail!("{name} is driven by a signal of the spec; change it there");
            }
            settings.push((reference, *value));
        }
        let plan = Self {
            stop: arguments.stop_time.unwrap_or(experiment.stop_time),
            step: arguments.step.unwrap_or(experiment.step),
            tolerance: arguments.tolerance.unwrap_or(experiment.tolerance),
            settings,
            feed,
        };
        if plan.stop / plan.step > 1e8 {
            bail!(
                "{} s in steps of {} s are more than 100 million steps",
                plan.stop,
                plan.step
            );
        }
        Ok(plan)
    }

    /// The communication points after the start: multiples of the step, and the end.
    fn points(&self) -> impl Iterator<Item = f64> {
        // A step count that is whole up to round-off is whole.
        let whole = (self.stop / self.step * (1.0 + 1e-12)).floor().max(0.0);
        let rest = self.stop - whole * self.step > 1e-9 * self.step;
        let last = if rest { whole } else { whole - 1.0 };
        (1..=last as u64).map(|k| k as f64 * self.step).chain([self.stop])
    }
}

/// The value reference of a parameter or input.
fn settable(fmu: &Fmu, name: &str) -> Result<u32> {
    let known = fmu.variables(|v| {
        matches!(v.causality, Causality::Parameter | Causality::Input) && matches!(v.kind, Kind::Real(_))
    });
    if let Some(variable) = known.iter().find(|v| v.name == name) {
        return Ok(variable.value_reference);
    }
    let nearest = known
        .iter()
        .map(|v| (strsim::levenshtein(&v.name, name), &v.name))
        .min();
    let hint = match nearest {
        Some((distance, nearest)) if distance <= name.len() / 3 => format!("did you mean {nearest:?}?"),
        _ => "`grapple describe` lists them".to_owned(),
    };
    Err(miette!("there is no parameter or input {name:?}; {hint}"))
}

/// What a run gives.
pub struct Run {
    /// The table.
    pub results: Results,
    /// What happened, in the FMU's words.
    pub events: Vec<String>,
    /// What the FMU says of its solver, if it does.
    pub solver: Option<String>,
    /// Communication steps.
    pub steps: usize,
    /// Time spent in the FMU's steps.
    pub wall: Duration,
}

/// Runs the FMU in Co-Simulation.
fn perform(fmu: &Fmu, plan: &Plan) -> Result<Run> {
    let mut slave = Slave::instantiate(fmu.folder.path(), &fmu.description)?;
    slave.listen(&[
        "logEvents",
        "logSolver",
        "logStatusError",
        "logStatusDiscard",
        "logStatusFatal",
    ])?;
    slave.set_up(0.0, plan.stop, plan.tolerance)?;
    let (references, values): (Vec<u32>, Vec<f64>) = plan.settings.iter().copied().unzip();
    slave.set_reals(&references, &values)?;
    slave.enter_initialization()?;
    slave.set_reals(&plan.feed.references, &plan.feed.values(0.0))?;
    slave.exit_initialization()?;

    let mut recorder = Recorder::new(fmu, &mut slave)?;
    recorder.record(0.0, &mut slave)?;
    let progress = Progress::new(plan.stop);
    let (mut t, mut steps, mut wall) = (0.0, 0, Duration::ZERO);
    for point in plan.points() {
        while t < point {
            let stop = plan.feed.next_stop(t, point);
            feed(&plan.feed, t, stop - t, &mut slave)?;
            let clock = Instant::now();
            slave.step(t, stop - t)?;
            wall += clock.elapsed();
            steps += 1;
            t = stop;
        }
        slave.set_reals(&plan.feed.references, &plan.feed.values(t))?;
        recorder.record(t, &mut slave)?;
        progress.at(t);
    }
    slave.terminate()?;
    let (solver, events): (Vec<_>, Vec<_>) = slave
        .messages()
        .into_iter()
        .partition(|(category, _)| category == "logSolver");
    Ok(Run {
        results: recorder.results,
        events: events.into_iter().map(|(_, text)| text).collect(),
        solver: solver.into_iter().next_back().map(|(_, text)| text),
        steps,
        wall,
    })
}

/// Hands the signals over for the step from `t` to `t + h`.
fn feed(feed: &Feed, t: f64, h: f64, slave: &mut Slave) -> Result<()> {
    if feed.references.is_empty() {
        return Ok(());
    }
    slave.set_reals(&feed.references, &feed.values(t))?;
    for (order, values) in (1..).zip(feed.derivatives(t, h)) {
        slave.set_derivatives(&feed.references, order, &values)?;
    }
    Ok(())
}

/// Reads all variables that change, row by row.
struct Recorder {
    reals: Vec<u32>,
    booleans: Vec<u32>,
    results: Results,
}

impl Recorder {
    fn new(fmu: &Fmu, slave: &mut Slave) -> Result<Self> {
        let changes =
            |v: &ScalarVariable| matches!(v.causality, Causality::Input | Causality::Output | Causality::Local);
        let is_real = |v: &ScalarVariable| matches!(v.kind, Kind::Real(_));
        let reals = fmu.variables(|v| changes(v) && is_real(v));
        let booleans = fmu.variables(|v| changes(v) && matches!(v.kind, Kind::Boolean(_)));
        let column = |v: &&ScalarVariable| Column {
            name: v.name.clone(),
            unit: fmu.description.unit_of(v).unwrap_or_default().to_owned(),
            values: Vec::new(),
        };
        let references =
            |variables: &[&ScalarVariable]| -> Vec<u32> { variables.iter().map(|v| v.value_reference).collect() };
        let parameters = fmu.variables(|v| v.causality == Causality::Parameter && is_real(v));
        let values = slave.reals(&references(&parameters))?;
        Ok(Self {
            reals: references(&reals),
            booleans: references(&booleans),
            results: Results {
                time: Vec::new(),
                columns: reals.iter().chain(&booleans).map(column).collect(),
                parameters: parameters.iter().map(|v| v.name.clone()).zip(values).collect(),
            },
        })
    }

    fn record(&mut self, t: f64, slave: &mut Slave) -> Result<()> {
        let values = slave.reals(&self.reals)?;
        let flags = slave.booleans(&self.booleans)?;
        self.results.time.push(t);
        for (column, value) in self.results.columns.iter_mut().zip(values.into_iter().chain(flags)) {
            column.values.push(value);
        }
        Ok(())
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("expected a positive number".to_owned()),
    }
}

fn setting(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    match value.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((name.trim().to_owned(), number)),
        _ => Err(format!("{value:?} is not a finite number")),
    }
}
