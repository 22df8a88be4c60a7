//! A run of an FMU in Co-Simulation: the FMU unpacked, the communication points, the loop, the table.

use crate::craft::Craft;
use crate::library::Library;
use crate::results::{Column, Results};
use crate::signals::Feed;
use crate::slave::{Loaded, Slave};
use crate::{archive, build, is_fmu};
use grapple::fmu::description::Interfaces;
use grapple::fmu::registry::Naming;
use grapple::plant::Model;
use miette::{IntoDiagnostic, Result, WrapErr, bail};
use model_description::{Causality, Kind, ModelDescription, ScalarVariable, TypeKind};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// An unpacked FMU, its library loaded.
pub struct Fmu {
    /// What its XML says.
    pub description: ModelDescription,
    /// The compiled model in it.
    pub model: Model,
    /// Makes instances.
    pub library: Loaded,
    /// Last: the library lies in it.
    folder: TempDir,
}

impl Fmu {
    /// Unpacks an FMU; of a spec, one that is built for the occasion.
    pub fn open(path: &Path) -> Result<Self> {
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
        let description = archive::description(&file)?;
        Ok(Self {
            model: archive::model(&file)?,
            library: Loaded::new(folder.path(), &description)?,
            description,
            folder,
        })
    }

    /// The file of the shared library that runs here.
    ///
    /// # Errors
    /// It cannot be read any more.
    pub fn library_bytes(&self) -> Result<Vec<u8>> {
        let file = self
            .folder
            .path()
            .join(crate::library::path(archive::identifier(&self.description)?));
        std::fs::read(&file).into_diagnostic()
    }

    /// The variables that are wanted, in the FMU's order.
    pub fn variables(&self, wanted: impl Fn(&ScalarVariable) -> bool) -> Vec<&ScalarVariable> {
        self.description.model_variables.iter().filter(|v| wanted(v)).collect()
    }

    /// A variable's unit, as FMI writes it; empty for a pure number.
    pub fn unit<'a>(&'a self, variable: &'a ScalarVariable) -> &'a str {
        self.description.unit_of(variable).unwrap_or_default()
    }

    /// The least and the greatest value that a Real is meant to have.
    pub fn limits(&self, variable: &ScalarVariable) -> [Option<f64>; 2] {
        let Kind::Real(real) = &variable.kind else {
            return [None, None];
        };
        let declared = self.description.declared_type(variable).map(|declared| &declared.kind);
        let [min, max] = match declared {
            Some(TypeKind::Real(declared)) => [declared.min, declared.max],
            _ => [None, None],
        };
        [real.min.or(min), real.max.or(max)]
    }

    /// A parameter or input by its name.
    ///
    /// # Errors
    /// There is none; what is nearest.
    pub fn settable(&self, name: &str) -> Result<&ScalarVariable, String> {
        let known = self.variables(|v| matches!(v.causality, Causality::Parameter | Causality::Input) && is_real(v));
        if let Some(variable) = known.iter().find(|v| v.name == name) {
            return Ok(variable);
        }
        Err(unknown("parameter or input", name, &known))
    }
}

/// "there is no output "tip.r"; did you mean "tip.r[1]"?"
pub fn unknown(what: &str, name: &str, known: &[&ScalarVariable]) -> String {
    let nearest = known
        .iter()
        .map(|v| (strsim::levenshtein(&v.name, name), &v.name))
        .min();
    let hint = match nearest {
        Some((distance, nearest)) if distance <= name.len() / 3 => format!("did you mean {nearest:?}?"),
        _ => "`grapple describe` lists them".to_owned(),
    };
    format!("there is no {what} {name:?}; {hint}")
}

/// Whether a variable is a Real.
pub fn is_real(variable: &ScalarVariable) -> bool {
    matches!(variable.kind, Kind::Real(_))
}

/// Whether a variable is one that a run's table holds: a number or a flag that may change.
pub fn changes(variable: &ScalarVariable) -> bool {
    let changes = matches!(
        variable.causality,
        Causality::Input | Causality::Output | Causality::Local
    );
    changes && matches!(variable.kind, Kind::Real(_) | Kind::Boolean(_))
}

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

/// What a run gives.
pub struct Run {
    /// The table.
    pub results: Results,
    /// What happened, in the FMU's words.
    pub events: Vec<String>,
    /// What the FMU says of its solver, if it does.
    pub solver: Option<String>,
    /// What it cost.
    pub effort: Effort,
}

/// What a run cost.
pub struct Effort {
    /// Communication steps.
    pub steps: usize,
    /// Time spent in the FMU's steps.
    pub wall: Duration,
}

impl<'a> Plan<'a> {
    /// The spec's experiment, with what is wished otherwise, and the spec's signals at the inputs.
    ///
    /// # Errors
    /// More steps than anybody waits for.
    pub fn new(fmu: &'a Fmu, wishes: &Experiment) -> Result<Self> {
        let experiment = &fmu.model.spec.experiment;
        let plan = Self {
            stop: wishes.stop_time.unwrap_or(experiment.stop_time),
            step: wishes.step.unwrap_or(experiment.step),
            tolerance: wishes.tolerance.unwrap_or(experiment.tolerance),
            feed: Feed::of(&fmu.model.spec, &fmu.description),
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

    /// The communication points after the start: multiples of the step, and the end.
    fn points(&self) -> impl Iterator<Item = f64> {
        // A step count that is whole up to round-off is whole.
        let whole = (self.stop / self.step * (1.0 + 1e-12)).floor().max(0.0);
        let rest = self.stop - whole * self.step > 1e-9 * self.step;
        let last = if rest { whole } else { whole - 1.0 };
        (1..=last as u64).map(|k| k as f64 * self.step).chain([self.stop])
    }

    /// Brings an instance to the start, with other values for some parameters and inputs.
    ///
    /// # Errors
    /// Values of which there is no craft, in the FMU's words.
    pub fn initialize(&self, slave: &mut Slave, settings: &[(u32, f64)]) -> Result<()> {
        slave.set_up(0.0, self.stop, self.tolerance)?;
        let (references, values): (Vec<u32>, Vec<f64>) = settings.iter().copied().unzip();
        slave.set_reals(&references, &values)?;
        slave.enter_initialization()?;
        slave.set_reals(&self.feed.references, &self.feed.values(0.0))?;
        slave.exit_initialization()
    }

    /// Runs an instance to the end. `watch` sees it at the start and at each communication point.
    ///
    /// # Errors
    /// A step that fails, with its time; what `watch` says.
    pub fn advance(&self, slave: &mut Slave, mut watch: impl FnMut(f64, &mut Slave) -> Result<()>) -> Result<Effort> {
        watch(0.0, slave)?;
        let (mut t, mut steps, mut wall) = (0.0, 0, Duration::ZERO);
        for point in self.points() {
            while t < point {
                let stop = self.feed.next_stop(t, point);
                feed(&self.feed, t, stop - t, slave)?;
                let clock = Instant::now();
                slave.step(t, stop - t)?;
                wall += clock.elapsed();
                steps += 1;
                t = stop;
            }
            slave.set_reals(&self.feed.references, &self.feed.values(t))?;
            watch(t, slave)?;
        }
        Ok(Effort { steps, wall })
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
pub struct Recorder {
    reals: Vec<u32>,
    booleans: Vec<u32>,
    /// What has been read.
    pub results: Results,
}

impl Recorder {
    /// Nothing has been read yet.
    pub fn new(fmu: &Fmu, variables: &[&ScalarVariable]) -> Self {
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
    pub fn record(&mut self, t: f64, slave: &mut Slave) -> Result<()> {
        let values = slave.reals(&self.reals)?;
        let flags = slave.booleans(&self.booleans)?;
        self.results.time.push(t);
        for (column, value) in self.results.columns.iter_mut().zip(values.into_iter().chain(flags)) {
            column.values.push(value);
        }
        Ok(())
    }
}
