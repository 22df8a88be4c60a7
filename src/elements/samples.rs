//! Samples: of controllers, and of tasks and sensors of spacecraft.

use super::{Elements, Sensor, Stored, StoredAll, Values, reached, round_off};
use crate::system::{Bound, Declarations, ParamId, Parameter, Quantity, Unit};
use crate::{Error, Problem};

/// Shortest permitted time between samples, s; shorter times are assumed to be errors and would
/// cost millions of samples per step.
const SHORTEST: f64 = 1e-6;

/// Samples of a control law or a sensor; without samples it is never scheduled.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Samples {
    /// Time of the first sample, s.
    first: f64,
    /// Number of the next sample, counted from zero.
    next: f64,
    /// Results of the last sample.
    pub held: Vec<f64>,
}

impl Samples {
    /// Creates the samples of a law with this number of results, before the first.
    pub fn new(results: usize) -> Self {
        Self {
            held: vec![0.0; results],
            ..Self::default()
        }
    }

    /// Returns true after the first sample.
    pub fn are_taken(&self) -> bool {
        self.next > 0.0
    }

    /// Returns the number of the last sample, counted from zero; requires that one was taken.
    pub fn last(&self) -> f64 {
        self.next - 1.0
    }

    /// Marks the first sample as taken.
    pub fn mark_taken(&mut self) {
        self.next = 1.0;
    }

    /// Discards the samples.
    pub fn discard(&mut self) {
        self.next = 0.0;
    }

    /// Continues from the samples `before`, with its own results.
    pub fn resume(&mut self, before: &Self) {
        (self.first, self.next) = (before.first, before.next);
    }

    /// Returns true if a sample is scheduled at the time `t` (s).
    pub fn is_scheduled(&self, period: f64, t: f64) -> bool {
        reached(self.next_time(period), t)
    }

    /// Returns the time (s) of the next sample; the first one is scheduled immediately.
    pub fn next_time(&self, period: f64) -> f64 {
        match self.are_taken() {
            true => self.first + self.next * period,
            false => f64::NEG_INFINITY,
        }
    }

    /// Schedules the sample after the one that is scheduled at the time `t` (s), of the law `of`.
    /// Returns false if there is none at that time.
    ///
    /// # Errors
    /// [`Error::Integration`] if the time is so large that samples coincide to round-off.
    pub fn schedule_next(&mut self, period: f64, t: f64, of: std::fmt::Arguments) -> Result<bool, Error> {
        let taken = self.next;
        if !self.is_scheduled(period, t) {
            return Ok(false);
        }
        let start = if self.are_taken() { self.first } else { t };
        let is_due = |count: f64| reached(start + count * period, t);
        // The importer may have skipped some samples.
        let passed = taken.max(((t - start) / period).round());
        let mut next = if is_due(passed) { passed + 1.0 } else { passed };
        if is_due(next) {
            // At this time several samples coincide to round-off: the next one is the first that is
            // later for any rounding of its own time.
            next = ((t - start + 2.0 * round_off(t)) / period).floor() + 1.0;
        }
        if !(next > taken && next.is_finite()) {
            let what = format!("two samples of {of}, {period} s apart, coincide to round-off at this time");
            return Err(Error::Integration { t, what });
        }
        (self.first, self.next) = (start, next);
        Ok(true)
    }

    /// Returns the samples of all laws before the start, in the order of
    /// [`Elements::sample_times`].
    pub fn of(elements: &Elements) -> Vec<Self> {
        let of_controllers = elements
            .controllers
            .iter()
            .map(|controller| match controller.sample_time {
                Some(_) => controller.output_count(),
                None => 0,
            });
        let of_tasks = elements.tasks.iter().map(|task| match task.sample_time {
            Some(_) => task.held_count(),
            None => 0,
        });
        let of_sensors = elements.sensors.iter().map(Sensor::held_count);
        of_controllers
            .chain(of_tasks)
            .chain(of_sensors)
            .map(Self::new)
            .collect()
    }
}

/// Declares the time between samples (s) of a law with the `[name, text]` for variables and for
/// their descriptions.
pub(super) fn declare_sample_time(
    [name, text]: [&str; 2],
    time: f64,
    at: &[String],
    declare: &mut Declarations,
) -> ParamId {
    let what = format!("time from one sample of {text} to the next");
    let quantity = Quantity::new(format!("{name}.sample_time"), Unit::Second, what);
    declare.parameter(quantity.bounded(Bound::Positive), time, false, at)
}

/// Reports a time between samples that is too short.
pub(super) fn validate_sample_time(id: ParamId, of: Values, problems: &mut Vec<Problem>) {
    let period = id.of(of.values);
    if period > 0.0 && period < SHORTEST {
        let Parameter { quantity, at, .. } = &of.declared[id.0];
        let [found, shortest] = [period, SHORTEST].map(|time| quantity.unit.of(time));
        problems.push(Problem {
            at: at.clone(),
            what: format!("{} = {found} is shorter than {shortest}", quantity.name),
        });
    }
}

impl StoredAll for Vec<Samples> {
    fn write_all(&self, to: &mut impl FnMut(f64)) {
        for Samples { first, next, held } in self {
            first.write(to);
            next.write(to);
            held.iter().for_each(|number| number.write(to));
        }
    }

    fn read_all(&mut self, from: &mut impl FnMut() -> f64) -> Option<()> {
        for Samples { first, next, held } in self {
            for number in [&mut *first, &mut *next].into_iter().chain(&mut *held) {
                *number = f64::read(from)?;
            }
            // A law without results is not sampled.
            if held.is_empty() && *next != 0.0 {
                return None;
            }
        }
        Some(())
    }
}

impl Clone for Samples {
    fn clone(&self) -> Self {
        let Self { first, next, held } = self;
        Self {
            first: *first,
            next: *next,
            held: held.clone(),
        }
    }

    /// Copies without allocation between samples of one law.
    fn clone_from(&mut self, source: &Self) {
        let Self { first, next, held } = self;
        (*first, *next) = (source.first, source.next);
        held.clone_from(&source.held);
    }
}
