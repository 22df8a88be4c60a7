//! A run of an FMU in Co-Simulation: the communication points, the loop, the table.

use crate::fmu::{Fmu, is_real};
use crate::interrupt::{self, Interrupted};
use crate::results::{Column, Results};
use crate::signals::Feed;
use crate::slave::Slave;
use grapple::spec::Signal;
use indexmap::IndexMap;
use miette::{Report, Result, bail};
use model_description::{Causality, ScalarVariable};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// More numbers than this are not kept of a run: 2 GB.
const MOST_NUMBERS: f64 = 2.5e8;

/// What is run otherwise than the spec's experiment says.
#[derive(Clone, Copy, Debug, Default, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// When the run ends, s
    #[arg(long, value_name = "T", value_parser = positive)]
    pub stop_time: Option<f64>,
    /// Communication step and spacing of the results, s
    #[arg(long, value_name = "H", value_parser = positive)]
    pub step: Option<f64>,
    /// Relative tolerance of the integration
    #[arg(long, value_name = "TOL", value_parser = positive)]
    pub tolerance: Option<f64>,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("expected a positive number".to_owned()),
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
    feed: Feed<'a>,
}

/// What is wanted of one run.
pub struct Request<'a> {
    /// Other values for some parameters and inputs.
    pub settings: &'a [(u32, f64)],
    /// Reals that are read once, when it has begun.
    pub once: &'a [&'a ScalarVariable],
    /// What is read at each communication point.
    pub recorded: &'a [&'a ScalarVariable],
    /// Categories of the log, beside those of failures.
    pub log: &'a [&'a str],
}

/// What a run gives.
pub struct Run {
    /// The table, and what was read once.
    pub results: Results,
    /// What happened, in the FMU's words.
    pub events: Vec<String>,
    /// What the FMU says of its solver, if it does.
    pub solver: Option<String>,
    /// What it cost.
    pub effort: Effort,
    /// Why it ended before its end, if it did.
    pub failure: Option<Report>,
}

/// What a run cost.
#[derive(Default)]
pub struct Effort {
    /// Communication steps.
    pub steps: usize,
    /// Time spent in the FMU's steps.
    pub wall: Duration,
}

impl<'a> Plan<'a> {
    /// The spec's experiment, with what is wished otherwise. The inputs are fed by these tables, and by the spec's signals.
    ///
    /// # Errors
    /// More steps than anybody waits for.
    pub fn new(fmu: &'a Fmu, wishes: &Experiment, tables: &'a IndexMap<String, Signal>) -> Result<Self> {
        let spec = &fmu.model.spec;
        let fed = spec.signal.iter().filter(|(_, signal)| signal.from_importer);
        let plan = Self {
            stop: wishes.stop_time.unwrap_or(spec.experiment.stop_time),
            step: wishes.step.unwrap_or(spec.experiment.step),
            tolerance: wishes.tolerance.unwrap_or(spec.experiment.tolerance),
            feed: Feed::of(tables.iter().chain(fed), |input| fmu.input(input)),
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

    /// Looks whether so many variables can be kept of each row.
    ///
    /// # Errors
    /// There are too many.
    pub fn has_room_for(&self, variables: usize) -> Result<()> {
        let rows = (self.stop / self.step).ceil() + 1.0;
        if rows * (variables + 1) as f64 > MOST_NUMBERS {
            bail!(
                "{rows} rows of {variables} variables are more than the 250 million numbers that are kept of a run: \
                 a longer step makes fewer rows, [output] in the spec fewer variables"
            );
        }
        Ok(())
    }

    /// Leaves these variables to others, whatever signals there are.
    pub fn silence<'v>(&mut self, variables: impl Iterator<Item = &'v ScalarVariable>) {
        let references: Vec<u32> = variables
            .filter(|variable| variable.causality == Causality::Input)
            .map(|variable| variable.value_reference)
            .collect();
        self.feed.leave_out(&references);
    }

    /// Whether a signal drives this input.
    pub fn feeds(&self, variable: &ScalarVariable) -> bool {
        variable.causality == Causality::Input && self.feed.references.contains(&variable.value_reference)
    }

    /// Makes a run, with an instance of its own. `watch` is told each time that is reached.
    ///
    /// # Errors
    /// Values of which there is no craft, in the FMU's words; more numbers than are kept. A run that ends early is none.
    pub fn record(&self, fmu: &Fmu, request: &Request, mut watch: impl FnMut(f64)) -> Result<Run> {
        self.has_room_for(request.recorded.len())?;
        let mut slave = fmu.library.instantiate()?;
        let failures = ["logStatusError", "logStatusDiscard", "logStatusFatal"];
        slave.listen(&[request.log, &failures].concat())?;
        self.initialize(&mut slave, request.settings)?;
        let references: Vec<u32> = request.once.iter().map(|v| v.value_reference).collect();
        let once = slave.reals(&references)?;
        let mut recorder = Recorder::new(fmu, request.recorded);
        recorder.results.parameters = request.once.iter().map(|v| v.name.clone()).zip(once).collect();
        let mut effort = Effort::default();
        let outcome = self.advance(&mut slave, &mut effort, |t, slave| {
            recorder.record(t, slave)?;
            watch(t);
            Ok(match interrupt::is_stopped() {
                true => ControlFlow::Break(Interrupted(format!("at t = {t} s"))),
                false => ControlFlow::Continue(()),
            })
        });
        let failure = match outcome {
            Ok(ControlFlow::Continue(())) => slave.terminate().err(),
            Ok(ControlFlow::Break(interrupted)) => slave.terminate().err().or(Some(interrupted.into())),
            Err(failure) => Some(failure),
        };
        let mut run = Run {
            results: recorder.results,
            events: Vec::new(),
            solver: None,
            effort,
            failure,
        };
        for message in slave.messages() {
            match message.category.as_str() {
                "logSolver" => run.solver = Some(message.text),
                _ => run.events.push(message.text),
            }
        }
        Ok(run)
    }

    /// The communication points after the start: multiples of the step, and the end.
    fn points(&self) -> impl Iterator<Item = f64> {
        // A step count that is whole up to round-off is whole.
        let whole = (self.stop / self.step * (1.0 + 1e-12)).floor().max(0.0);
        let rest = self.stop - whole * self.step > 1e-9 * self.step;
        let last = if rest { whole } else { whole - 1.0 };
        (1..=last as u64).map(|k| k as f64 * self.step).chain([self.stop])
    }

    /// Brings an instance to the start, with other values for some parameters and inputs.
    fn initialize(&self, slave: &mut Slave, settings: &[(u32, f64)]) -> Result<()> {
        slave.set_up(0.0, self.stop, self.tolerance)?;
        let (references, values): (Vec<u32>, Vec<f64>) = settings.iter().copied().unzip();
        slave.set_reals(&references, &values)?;
        slave.enter_initialization()?;
        slave.set_reals(&self.feed.references, &self.feed.values(0.0))?;
        slave.exit_initialization()
    }

    /// Runs an instance to the end, or until `watch`, which sees it at the start and at each communication point, breaks it off.
    fn advance<B>(
        &self,
        slave: &mut Slave,
        effort: &mut Effort,
        mut watch: impl FnMut(f64, &mut Slave) -> Result<ControlFlow<B>>,
    ) -> Result<ControlFlow<B>> {
        let mut t = 0.0;
        let mut flow = watch(t, slave)?;
        for point in self.points() {
            while t < point && flow.is_continue() {
                let stop = self.feed.next_stop(t, point);
                feed(&self.feed, t, stop - t, slave)?;
                let clock = Instant::now();
                slave.step(t, stop - t)?;
                effort.wall += clock.elapsed();
                effort.steps += 1;
                t = stop;
            }
            if flow.is_break() {
                break;
            }
            slave.set_reals(&self.feed.references, &self.feed.values(t))?;
            flow = watch(t, slave)?;
        }
        Ok(flow)
    }
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

/// Reads variables, row by row: the Reals first, then the Booleans.
struct Recorder {
    reals: Vec<u32>,
    booleans: Vec<u32>,
    /// What has been read.
    results: Results,
}

impl Recorder {
    /// Nothing has been read yet.
    fn new(fmu: &Fmu, variables: &[&ScalarVariable]) -> Self {
        let (reals, booleans): (Vec<&ScalarVariable>, Vec<_>) = variables.iter().partition(|v| is_real(v));
        let column = |v: &&ScalarVariable| Column {
            name: v.name.clone(),
            unit: fmu.unit(v).to_owned(),
            values: Vec::new(),
        };
        let columns = reals.iter().chain(&booleans).map(column).collect();
        let references =
            |variables: Vec<&ScalarVariable>| -> Vec<u32> { variables.iter().map(|v| v.value_reference).collect() };
        Self {
            reals: references(reals),
            booleans: references(booleans),
            results: Results {
                columns,
                ..Results::default()
            },
        }
    }

    /// Reads a row at the time `t`, s.
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
