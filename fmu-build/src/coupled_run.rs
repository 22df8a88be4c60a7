//! A run of several FMUs that are connected: the co-simulation algorithm.

use crate::control::Control;
use crate::coupled_system::CoupledSystem;
use crate::error::{Context, Error, Result};
use crate::fmu::{is_real, recorded};
use crate::instance::Instance;
use crate::run::{Effort, Experiment, Recorder, Run, Times};
use crate::slave::Slave;
use crate::table::{Cells, Column, Table};
use crate::text::number;
use model_description::Causality;
use std::fmt;
use std::time::Instant;

/// Categories of the log with failures.
const FAILURES: [&str; 3] = ["logStatusError", "logStatusDiscard", "logStatusFatal"];

/// Co-simulation algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// All FMUs at once; each has the others' outputs at the begin of the step.
    Jacobi,
    /// One after the other; an FMU has the outputs at the end of the step of those before it.
    #[default]
    GaussSeidel,
}

/// Options of a run.
#[derive(Default)]
pub struct CoupledOptions {
    /// Times and tolerance in place of those that the FMUs request.
    pub experiment: Experiment,
    /// Co-simulation algorithm.
    pub algorithm: Algorithm,
    /// True if inputs follow lines within a step: between both ends of the step if the other FMU has
    /// been stepped before, else the line through its last two values. False: they are held.
    pub is_linear: bool,
    /// Values of parameters and of inputs without a connection, by `component.variable`; SI units.
    pub set: Vec<(String, f64)>,
}

/// Result of a run.
pub struct CoupledRun {
    /// Run of each FMU, with its name, in the order in which they were stepped.
    pub parts: Vec<(String, Run)>,
    /// Error that ended the run early, if there is one.
    pub failure: Option<Error>,
}

impl CoupledSystem {
    /// Runs the system to its end, until an FMU fails or until it is cancelled.
    ///
    /// # Errors
    /// An unknown name or an invalid value; too many steps; an FMU that cannot be initialised. A run
    /// that ends early is returned with the reason in [`failure`](CoupledRun::failure), not as an error.
    pub fn run(&self, options: &CoupledOptions, mut control: Control) -> Result<CoupledRun> {
        let times = self.times(&options.experiment)?;
        let mut coupled = Running::new(self, options, &times)?;
        let mut failure = None;
        let mut t = 0.0;
        coupled.record(t)?;
        for point in times.points() {
            control.report(t, times.stop);
            if control.flow().is_break() {
                failure = Some(Error::Interrupted(format!("at t = {} s", number(t, 9))));
                break;
            }
            if let Err(error) = coupled.step(t, point - t).and_then(|()| coupled.record(point)) {
                failure = Some(error);
                break;
            }
            t = point;
        }
        Ok(coupled.finish(times, failure))
    }
}

/// A run of a system.
struct Running<'s> {
    system: &'s CoupledSystem,
    options: &'s CoupledOptions,
    slaves: Vec<Slave<'s>>,
    recorders: Vec<Recorder>,
    efforts: Vec<Effort>,
    /// FMU whose call has failed: it must not be called again.
    failed: Option<usize>,
    /// Value of each wire at the last communication point.
    values: Vec<f64>,
    /// Derivative of each wire there, 1/s.
    derivatives: Vec<f64>,
}

impl<'s> Running<'s> {
    fn new(system: &'s CoupledSystem, options: &'s CoupledOptions, times: &Times) -> Result<Self> {
        let settings = system.settings(&options.set)?;
        let mut slaves = Vec::new();
        let mut recorders = Vec::new();
        for (part, settings) in system.parts.iter().zip(&settings) {
            let named = || part.name.clone();
            let mut slave = part.library().instantiate().context(named)?;
            let categories = &part.description().log_categories;
            let wanted = ["logEventValues", "logSolver"].into_iter().chain(FAILURES);
            let known: Vec<&str> = wanted
                .filter(|name| categories.iter().any(|own| own.name == *name))
                .collect();
            if !known.is_empty() {
                slave.listen(&known).context(named)?;
            }
            slave.set_up(0.0, times.stop, times.tolerance).context(named)?;
            let (references, values): (Vec<u32>, Vec<f64>) = settings.iter().copied().unzip();
            slave.set_reals(&references, &values).context(named)?;
            slave.enter_initialization().context(named)?;
            slaves.push(slave);
            recorders.push(Recorder::new(
                part.description(),
                &part.variables(recorded(part.description())),
            ));
        }
        let wires = system.wires.len();
        let mut running = Self {
            system,
            options,
            slaves,
            recorders,
            efforts: system.parts.iter().map(|_| Effort::default()).collect(),
            failed: None,
            values: vec![0.0; wires],
            derivatives: vec![0.0; wires],
        };
        // A value passes through one more FMU each time.
        for _ in 0..=system.parts.len() {
            for i in 0..system.parts.len() {
                running.read(i, None)?;
            }
            for i in 0..system.parts.len() {
                running.set(i, 0.0, &[])?;
            }
        }
        for (part, slave) in system.parts.iter().zip(&mut running.slaves) {
            slave.exit_initialization().context(|| part.name.clone())?;
        }
        for i in 0..system.parts.len() {
            running.read(i, None)?;
        }
        running.note_parameters()?;
        Ok(running)
    }

    /// Reads the parameters, for the pages of the parts.
    fn note_parameters(&mut self) -> Result<()> {
        for ((part, slave), recorder) in self.system.parts.iter().zip(&mut self.slaves).zip(&mut self.recorders) {
            let parameters = part.variables(|v| v.causality == Causality::Parameter && is_real(v));
            let references: Vec<u32> = parameters.iter().map(|v| v.value_reference).collect();
            let values = slave.reals(&references).context(|| part.name.clone())?;
            recorder.results.parameters = parameters.iter().map(|v| v.name.clone()).zip(values).collect();
        }
        Ok(())
    }

    /// Reads the outputs of a part that are connected. After a step of `h` s the derivatives are
    /// difference quotients.
    fn read(&mut self, i: usize, h: Option<f64>) -> Result<()> {
        let wires: Vec<usize> = (0..self.values.len())
            .filter(|&k| self.system.wires[k].from == i)
            .collect();
        let references: Vec<u32> = wires.iter().map(|&k| self.system.wires[k].output).collect();
        let part = &self.system.parts[i];
        let values = self.slaves[i].reals(&references).context(|| part.name.clone())?;
        for (&k, value) in wires.iter().zip(values) {
            if let Some(h) = h {
                self.derivatives[k] = (value - self.values[k]) / h;
            }
            self.values[k] = value;
        }
        Ok(())
    }

    /// Sets the connected inputs of a part for a step of `h` s; `before` has the values at its begin
    /// of the wires from parts that have been stepped.
    fn set(&mut self, i: usize, h: f64, before: &[Option<f64>]) -> Result<()> {
        let part = &self.system.parts[i];
        let interface = part.description().co_simulation.as_ref();
        let can = self.options.is_linear && h > 0.0 && interface.is_some_and(|of| of.can_interpolate_inputs);
        let (mut references, mut values) = (Vec::new(), Vec::new());
        let (mut moving, mut rates) = (Vec::new(), Vec::new());
        for (k, wire) in self.system.wires.iter().enumerate().filter(|(_, wire)| wire.to == i) {
            let begin = before.get(k).copied().flatten().filter(|_| can && !wire.is_discrete);
            references.push(wire.input);
            values.push(begin.unwrap_or(self.values[k]));
            if can && !wire.is_discrete {
                moving.push(wire.input);
                rates.push(begin.map_or(self.derivatives[k], |begin| (self.values[k] - begin) / h));
            }
        }
        let slave = &mut self.slaves[i];
        slave.set_reals(&references, &values).context(|| part.name.clone())?;
        if !moving.is_empty() {
            slave
                .set_derivatives(&moving, 1, &rates)
                .context(|| part.name.clone())?;
        }
        Ok(())
    }

    fn step(&mut self, t: f64, h: f64) -> Result<()> {
        let system = self.system;
        let mut before: Vec<Option<f64>> = vec![None; self.values.len()];
        let is_jacobi = self.options.algorithm == Algorithm::Jacobi;
        if is_jacobi {
            for &i in &system.order {
                self.set(i, h, &before)?;
            }
        }
        for &i in &system.order {
            if !is_jacobi {
                self.set(i, h, &before)?;
            }
            let clock = Instant::now();
            let stepped = self.slaves[i].step(t, h);
            self.efforts[i].wall += clock.elapsed();
            self.efforts[i].steps += 1;
            if stepped.is_err() {
                self.failed = Some(i);
            }
            stepped.context(|| system.parts[i].name.clone())?;
            for (k, wire) in system.wires.iter().enumerate() {
                if wire.from == i {
                    before[k] = Some(self.values[k]);
                }
            }
            self.read(i, Some(h))?;
        }
        Ok(())
    }

    fn record(&mut self, t: f64) -> Result<()> {
        for ((part, slave), recorder) in self.system.parts.iter().zip(&mut self.slaves).zip(&mut self.recorders) {
            recorder.record(t, slave).context(|| part.name.clone())?;
        }
        Ok(())
    }

    fn finish(self, times: Times, failure: Option<Error>) -> CoupledRun {
        let mut runs: Vec<Option<Run>> = Vec::new();
        let mut failure = failure;
        let parts = self
            .slaves
            .into_iter()
            .zip(self.recorders)
            .zip(self.efforts)
            .enumerate();
        for (i, ((mut slave, recorder), effort)) in parts {
            let ended = if self.failed == Some(i) {
                None
            } else {
                slave.terminate().err()
            };
            failure = failure.or(ended);
            runs.push(Some(Run::of(times, recorder, effort, &mut slave, None)));
        }
        let order = self.system.order.iter();
        let parts = order.filter_map(|&i| Some((self.system.parts[i].name.clone(), runs[i].take()?)));
        CoupledRun {
            parts: parts.collect(),
            failure,
        }
    }
}

impl CoupledRun {
    /// Returns one table of all FMUs: columns are called `component.variable`.
    pub fn table(&self) -> Table<'_> {
        let mut table = Table::default();
        // A part that failed may have a row less than those before it.
        let shortest = self
            .parts
            .iter()
            .map(|(_, run)| &run.results.time)
            .min_by_key(|time| time.len());
        let Some(time) = shortest else {
            return table;
        };
        table.push("time", "s", Cells::Real(time.as_slice().into()));
        for (name, run) in &self.parts {
            table.columns.extend(run.results.columns.iter().map(|column| Column {
                name: format!("{name}.{}", column.name).into(),
                unit: column.unit.as_str().into(),
                cells: Cells::Real((&column.values[..time.len()]).into()),
            }));
        }
        table
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Jacobi => "Jacobi",
            Self::GaussSeidel => "Gauss-Seidel",
        })
    }
}
