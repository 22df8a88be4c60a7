//! A run of an FMU in Co-Simulation: the communication points, the loop, the table.

use crate::error::{Error, Result, invalid};
use crate::fmu::{Fmu, is_number};
use crate::instance::Instance;
use crate::results::{Column, Results};
use crate::signals::DrivenInputs;
use crate::slave::{FmuLibrary, Group, Instances, Slave};
use crate::text::number;
use grapple::Event;
use grapple::spec::Signal;
use indexmap::IndexMap;
use model_description::{Causality, ModelDescription, ScalarVariable};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Largest number of values of a run that are kept in memory (2 GB).
const MOST_NUMBERS: f64 = 2.5e8;

/// Values that replace those of the spec's experiment; `None` keeps the spec's.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// End of the run, s.
    pub stop_time: Option<f64>,
    /// Communication step and spacing of the results, s.
    pub step: Option<f64>,
    /// Relative tolerance of the integration.
    pub tolerance: Option<f64>,
}

impl Experiment {
    /// Returns the name of each value that is not a positive number, with an error message.
    pub(crate) fn problems(&self) -> impl Iterator<Item = (&'static str, String)> {
        [
            ("stop_time", self.stop_time),
            ("step", self.step),
            ("tolerance", self.tolerance),
        ]
        .into_iter()
        .filter_map(|(field, value)| {
            let value = value.filter(|value| !(*value > 0.0 && value.is_finite()))?;
            Some((field, format!("{value} is not a positive number")))
        })
    }
}

/// Times and tolerance of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// Time at the end of the run, s.
    pub stop: f64,
    /// Communication step, s.
    pub step: f64,
    /// Relative tolerance of the integration.
    pub tolerance: f64,
}

impl Times {
    /// Returns the communication points after the start: multiples of the step, and the end.
    pub fn points(&self) -> impl Iterator<Item = f64> + use<> {
        let Self { stop, step, .. } = *self;
        // The number of whole steps; a quotient that is an integer up to round-off counts as one.
        let whole = (stop / step * (1.0 + 1e-12)).floor().max(0.0);
        let rest = stop - whole * step > 1e-9 * step;
        let last = if rest { whole } else { whole - 1.0 };
        (1..=last as u64).map(move |k| k as f64 * step).chain([stop])
    }
}

/// A run to be made.
pub struct Plan<'a> {
    /// Times and tolerance.
    pub times: Times,
    driven: DrivenInputs<'a>,
}

/// Values to be set, read and logged in one run.
pub struct Request<'a> {
    /// Value references and values of parameters and inputs to be set before the run.
    pub settings: &'a [(u32, f64)],
    /// Reals that are read once, at the start.
    pub once: &'a [&'a ScalarVariable],
    /// Variables read at each communication point.
    pub recorded: &'a [&'a ScalarVariable],
    /// Log categories to enable in addition to those of failures.
    pub log: &'a [&'a str],
}

/// Result of a run.
pub struct Run {
    /// Times and tolerance as planned; the run may have ended earlier.
    pub times: Times,
    /// The table, and the values read once.
    pub results: Results,
    /// Events that the FMU logged.
    pub events: Vec<Event>,
    /// Other log messages.
    pub messages: Vec<String>,
    /// Log message about the solver, if there is one.
    pub solver: Option<String>,
    /// Computing effort.
    pub effort: Effort,
    /// Error that ended the run early, if there is one.
    pub failure: Option<Error>,
}

/// Computing effort of a run.
#[derive(Default)]
pub struct Effort {
    /// Number of communication steps.
    pub steps: usize,
    /// Time spent in the FMU's steps.
    pub wall: Duration,
    /// Set if an input was held in a step within which its signal changes.
    pub has_held_inputs: bool,
}

/// Message about signals that an FMU of FMI 3.0 cannot follow.
const HELD: &str = "inputs are held in each communication step, since FMI 3.0 has no derivatives of inputs: signals inside \
                    the FMU (from_importer = false) and an FMU of FMI 2.0 have no such error, a shorter --step has less";

impl Run {
    /// Returns the results of an instance whose run has ended, with the messages that it logged.
    pub(crate) fn of(
        times: Times,
        recorder: Recorder,
        effort: Effort,
        slave: &mut Slave,
        failure: Option<Error>,
    ) -> Self {
        let mut run = Run {
            times,
            results: recorder.results,
            events: Vec::new(),
            messages: Vec::new(),
            solver: None,
            effort,
            failure,
        };
        if run.effort.has_held_inputs {
            run.messages.push(HELD.to_owned());
        }
        for message in slave.messages() {
            match message.category.as_str() {
                "logSolver" => run.solver = Some(message.text),
                "logEventValues" => match serde_json::from_str(&message.text) {
                    Ok(event) => run.events.push(event),
                    Err(_) => run.messages.push(message.text),
                },
                _ => run.messages.push(message.text),
            }
        }
        run
    }
}

impl<'a> Plan<'a> {
    /// Plans a run: the spec's experiment with the values in `overrides`. Inputs are set by
    /// `tables`, and by the spec's signals for the other inputs.
    ///
    /// # Errors
    /// A value that is not positive; more than 100 million steps.
    pub fn new(fmu: &'a Fmu, overrides: &Experiment, tables: &'a IndexMap<String, Signal>) -> Result<Self> {
        if let Some((field, what)) = overrides.problems().next() {
            return Err(invalid!("{field}: {what}"));
        }
        let spec = &fmu.model.spec;
        let of_spec = spec.signal.iter().filter(|(_, signal)| signal.from_importer);
        let times = Times {
            stop: overrides.stop_time.unwrap_or(spec.experiment.stop_time),
            step: overrides.step.unwrap_or(spec.experiment.step),
            tolerance: overrides.tolerance.unwrap_or(spec.experiment.tolerance),
        };
        let Times { stop, step, .. } = times;
        if stop / step > 1e8 {
            return Err(invalid!(
                "{stop} s in steps of {step} s are more than 100 million steps"
            ));
        }
        Ok(Self {
            times,
            driven: DrivenInputs::of(tables.iter().chain(of_spec), |input| fmu.input(input)),
        })
    }

    /// Checks that this number of variables can be kept in memory for all rows.
    ///
    /// # Errors
    /// Too many values.
    pub fn check_size(&self, variables: usize) -> Result<()> {
        check_size((self.times.stop / self.times.step).ceil() as usize + 1, variables)
    }

    /// Disables the signals of the given variables, whose values are set before the run instead.
    pub fn disable<'v>(&mut self, variables: impl Iterator<Item = &'v ScalarVariable>) {
        let references: Vec<u32> = variables
            .filter(|variable| variable.causality == Causality::Input)
            .map(|variable| variable.value_reference)
            .collect();
        self.driven.leave_out(&references);
    }

    /// Returns true if the variable is an input that a signal drives.
    pub fn drives(&self, variable: &ScalarVariable) -> bool {
        variable.causality == Causality::Input && self.driven.references.contains(&variable.value_reference)
    }

    /// Makes a run with a new instance. `watch` is called at each communication point with its time
    /// (s), and can end the run by [`ControlFlow::Break`].
    ///
    /// # Errors
    /// Invalid values, with the FMU's message; too many values. A run that ends early is not an
    /// error.
    pub fn record(&self, fmu: &Fmu, request: &Request, watch: impl FnMut(f64) -> ControlFlow<()>) -> Result<Run> {
        let instances = &mut Instances::of(&fmu.library);
        let mut runs = self.record_together(fmu, instances, std::slice::from_ref(request), watch);
        runs.pop().expect("one run for each request")
    }

    /// Makes several runs, as [`record`](Self::record), with instances of a library of the FMU, which
    /// advance together if the library can do so.
    pub fn record_together(
        &self,
        fmu: &Fmu,
        instances: &mut Instances,
        requests: &[Request],
        mut watch: impl FnMut(f64) -> ControlFlow<()>,
    ) -> Vec<Result<Run>> {
        let mut begun: Vec<Result<Recording>> = requests.iter().map(|of| self.begin(fmu, instances, of)).collect();
        let mut recordings: Vec<&mut Recording> = begun.iter_mut().flatten().collect();
        let interrupted = self.advance(&mut recordings, instances.library, &mut watch);
        let mut runs = Vec::with_capacity(begun.len());
        for recording in begun {
            let interrupted = interrupted.map(|t| Error::Interrupted(format!("at t = {} s", number(t, 9))));
            runs.push(recording.map(|recording| recording.end(self.times, interrupted, instances)));
        }
        runs
    }

    /// Initialises an instance for a run.
    fn begin<'l>(&self, fmu: &Fmu, instances: &mut Instances<'l>, request: &Request) -> Result<Recording<'l>> {
        self.check_size(request.recorded.len())?;
        let mut slave = instances.take()?;
        let failures = ["logStatusError", "logStatusDiscard", "logStatusFatal"];
        slave.listen(&[request.log, &failures].concat())?;
        self.initialize(&mut slave, request.settings)?;
        let references: Vec<u32> = request.once.iter().map(|v| v.value_reference).collect();
        let once = slave.reals(&references)?;
        let mut recorder = Recorder::new(&fmu.description, request.recorded);
        recorder.results.parameters = request.once.iter().map(|v| v.name.clone()).zip(once).collect();
        Ok(Recording {
            slave,
            recorder,
            effort: Effort::default(),
            failure: None,
        })
    }

    /// Initialises an instance with the given values of parameters and inputs.
    pub(crate) fn initialize(&self, instance: &mut impl Instance, settings: &[(u32, f64)]) -> Result<()> {
        instance.set_up(0.0, self.times.stop, self.times.tolerance)?;
        let (references, values): (Vec<u32>, Vec<f64>) = settings.iter().copied().unzip();
        instance.set_reals(&references, &values)?;
        instance.enter_initialization()?;
        instance.set_reals(&self.driven.references, &self.driven.values(0.0))?;
        instance.exit_initialization()
    }

    /// Runs instances to the end, or until `watch`, called at the start and at each communication point,
    /// stops them; returns the time (s) in that case.
    fn advance<'l>(
        &self,
        recordings: &mut [&mut Recording<'l>],
        library: &'l FmuLibrary,
        watch: &mut impl FnMut(f64) -> ControlFlow<()>,
    ) -> Option<f64> {
        let mut together = Together::of(library, recordings);
        let mut t = 0.0;
        for point in std::iter::once(0.0).chain(self.times.points()) {
            while t < point {
                let stop = self.driven.next_stop(t, point);
                for recording in running(recordings) {
                    let held = set_inputs(&self.driven, t, stop - t, &mut recording.slave);
                    recording.effort.has_held_inputs |= *held.as_ref().unwrap_or(&false);
                    recording.failure = held.err();
                }
                together.step(recordings, t, stop - t);
                t = stop;
            }
            let values = self.driven.values(t);
            for recording in running(recordings) {
                recording.failure = recording.read(t, |slave| match t > 0.0 {
                    true => slave.set_reals(&self.driven.references, &values),
                    false => Ok(()),
                });
            }
            // Nothing is left to do once all have failed.
            running(recordings).next()?;
            if watch(t).is_break() {
                return Some(t);
            }
        }
        None
    }

    /// Advances an instance from one communication point to the next, times in s, and sets the
    /// inputs there.
    pub(crate) fn advance_to(&self, instance: &mut impl Instance, (mut t, point): (f64, f64)) -> Result<()> {
        while t < point {
            let stop = self.driven.next_stop(t, point);
            set_inputs(&self.driven, t, stop - t, instance)?;
            instance.step(t, stop - t)?;
            t = stop;
        }
        instance.set_reals(&self.driven.references, &self.driven.values(t))
    }
}

/// A run under way.
struct Recording<'l> {
    slave: Slave<'l>,
    recorder: Recorder,
    effort: Effort,
    /// Error that ended the run.
    failure: Option<Error>,
}

impl<'l> Recording<'l> {
    /// Reads a row at the time `t` (s) after `prepare`; returns the error of either.
    fn read(&mut self, t: f64, prepare: impl FnOnce(&mut Slave) -> Result<()>) -> Option<Error> {
        let row = prepare(&mut self.slave).and_then(|()| self.recorder.record(t, &mut self.slave));
        row.err()
    }

    /// Ends the run, which may have been interrupted, and gives the instance back if it has not failed.
    fn end(mut self, times: Times, interrupted: Option<Error>, instances: &mut Instances<'l>) -> Run {
        let failure = self.failure.or_else(|| self.slave.terminate().err()).or(interrupted);
        let run = Run::of(times, self.recorder, self.effort, &mut self.slave, failure);
        if run.failure.is_none() {
            instances.take_back(self.slave);
        }
        run
    }
}

/// Returns the runs that have not failed.
fn running<'a, 'l: 'a>(recordings: &'a mut [&mut Recording<'l>]) -> impl Iterator<Item = &'a mut Recording<'l>> {
    let recordings = recordings.iter_mut().map(|recording| &mut **recording);
    recordings.filter(|recording| recording.failure.is_none())
}

/// Steps of several runs, in a group if they can be one.
struct Together<'l> {
    library: &'l FmuLibrary,
    group: Option<Group<'l>>,
    /// Number of runs.
    count: usize,
}

impl<'l> Together<'l> {
    fn of(library: &'l FmuLibrary, recordings: &mut [&mut Recording<'l>]) -> Self {
        let slaves: Vec<&Slave> = running(recordings).map(|of| &of.slave).collect();
        let group = (slaves.len() > 1).then(|| library.group(&slaves)).flatten();
        let count = slaves.len();
        Self { library, group, count }
    }

    /// Steps all runs that have not failed from `t` to `t + h` (s).
    fn step(&mut self, recordings: &mut [&mut Recording<'l>], t: f64, h: f64) {
        // A run can also fail between steps.
        if running(recordings).count() != self.count {
            *self = Self::of(self.library, recordings);
        }
        let clock = Instant::now();
        let mut running: Vec<&mut Recording> = running(recordings).collect();
        let outcomes: Vec<Result<()>> = match &mut self.group {
            Some(group) => {
                let slaves: Vec<&Slave> = running.iter().map(|recording| &recording.slave).collect();
                group.step(&slaves, t, h)
            }
            None => running.iter_mut().map(|recording| recording.slave.step(t, h)).collect(),
        };
        let wall = clock.elapsed() / running.len().max(1) as u32;
        for (recording, outcome) in running.into_iter().zip(outcomes) {
            if outcome.is_ok() {
                recording.effort.wall += wall;
                recording.effort.steps += 1;
            }
            recording.failure = outcome.err();
        }
    }
}

/// Checks that these rows of variables can be kept in memory.
///
/// # Errors
/// Too many values.
pub(crate) fn check_size(rows: usize, variables: usize) -> Result<()> {
    if rows as f64 * (variables + 1) as f64 > MOST_NUMBERS {
        return Err(invalid!(
            "{rows} rows of {variables} variables are more than the 250 million numbers that are kept of a run: \
             a longer step makes fewer rows, [output] in the spec fewer variables"
        ));
    }
    Ok(())
}

/// Sets the signals for the step from `t` to `t + h`. Returns true if a signal changes within the step
/// and the instance holds it.
fn set_inputs(inputs: &DrivenInputs, t: f64, h: f64, instance: &mut impl Instance) -> Result<bool> {
    if inputs.references.is_empty() {
        return Ok(false);
    }
    instance.set_reals(&inputs.references, &inputs.values(t))?;
    let derivatives = inputs.derivatives(t, h);
    if !instance.has_input_derivatives() {
        return Ok(derivatives.iter().flatten().any(|&derivative| derivative != 0.0));
    }
    for (order, values) in (1..).zip(derivatives) {
        instance.set_derivatives(&inputs.references, order, &values)?;
    }
    Ok(false)
}

/// Reads variables row by row into columns, in the order of the variables.
pub(crate) struct Recorder {
    numbers: Vec<u32>,
    /// Booleans of FMI 2.0.
    booleans: Vec<u32>,
    /// Columns of the numbers, then those of the Booleans.
    places: Vec<usize>,
    /// Values read so far.
    pub results: Results,
}

impl Recorder {
    /// Creates a recorder without rows.
    pub fn new(of: &ModelDescription, variables: &[&ScalarVariable]) -> Self {
        let column = |v: &&ScalarVariable| Column {
            name: v.name.clone(),
            unit: of.unit_of(v).unwrap_or_default().to_owned(),
            values: Vec::new(),
        };
        let columns = variables.iter().map(column).collect();
        let places = 0..variables.len();
        let (numbers, booleans): (Vec<usize>, Vec<usize>) =
            places.partition(|&place| is_number(variables[place], of.fmi_version));
        let references =
            |places: &[usize]| -> Vec<u32> { places.iter().map(|&place| variables[place].value_reference).collect() };
        Self {
            numbers: references(&numbers),
            booleans: references(&booleans),
            places: [numbers, booleans].concat(),
            results: Results {
                columns,
                ..Results::default()
            },
        }
    }

    /// Reads a row at the time `t` (s).
    pub fn record(&mut self, t: f64, slave: &mut Slave) -> Result<()> {
        let values = slave.reals(&self.numbers)?;
        let flags = slave.booleans(&self.booleans)?;
        self.results.time.push(t);
        for (&place, value) in self.places.iter().zip(values.into_iter().chain(flags)) {
            self.results.columns[place].values.push(value);
        }
        Ok(())
    }
}
