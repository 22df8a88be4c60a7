//! Samples of controllers, tasks and sensors.

use super::{Discrete, Evaluation, OperatingPoint, Plant};
use crate::Error;
use crate::elements::{LimitStates, Measured, Modes, Task};

impl Plant {
    /// Takes the samples of control laws and sensors that are scheduled at the time `t` (s), at the
    /// states `x` and the importer's inputs `u`. Returns true if there was one.
    ///
    /// A sample of a control law that is scheduled at the end of an importer's step is taken when
    /// the next step begins: by then the importer has set the inputs measured there.
    ///
    /// # Errors
    /// [`Error::NotFinite`] with the output that would not be finite, [`Error::Integration`] if the
    /// time is so large that the samples coincide to round-off, and those of a task's law. Then
    /// nothing has changed.
    pub fn sample(&mut self, t: f64, x: &[f64], u: &[f64], discrete: &mut Discrete) -> Result<bool, Error> {
        if self.next_sample(discrete).is_none() {
            return Ok(false);
        }
        self.sample_by(discrete, |plant, before, after| {
            if plant.base.model.controller().is_some() {
                return plant.sample_controller(t, u, after);
            }
            // Sensors measure the accelerations before the laws change them.
            let sensors = plant.measure((t, x, u), before, after)?;
            Ok(plant.sample_tasks((t, x, u), before, after)? || sensors)
        })
    }

    /// Takes the samples of sensors that are scheduled at the time `t` (s), at the states `x` and
    /// the importer's inputs `u`. Returns true if there was one.
    ///
    /// # Errors
    /// As [`sample`](Self::sample).
    pub fn sample_sensors(&mut self, t: f64, x: &[f64], u: &[f64], discrete: &mut Discrete) -> Result<bool, Error> {
        if self.base.model.elements.sensors.is_empty() {
            return Ok(false);
        }
        self.sample_by(discrete, |plant, before, after| plant.measure((t, x, u), before, after))
    }

    /// Changes the discrete state by `sample`, which is called with the present one and a copy, if
    /// it succeeds.
    fn sample_by(
        &mut self,
        discrete: &mut Discrete,
        sample: impl FnOnce(&mut Self, &Discrete, &mut Discrete) -> Result<bool, Error>,
    ) -> Result<bool, Error> {
        let mut after = std::mem::take(&mut self.after);
        after.discrete.clone_from(discrete);
        let sampled = sample(self, discrete, &mut after.discrete);
        if let Ok(true) = sampled {
            discrete.clone_from(&after.discrete);
            self.evaluation.clear();
        }
        self.after = after;
        sampled
    }

    /// Takes the samples of sensors that are scheduled at the time `t` (s), the states `x` and the
    /// inputs `u`. The discrete state `after` is equal to that of `before` at first.
    fn measure(
        &mut self,
        (t, x, u): (f64, &[f64], &[f64]),
        before: &Discrete,
        after: &mut Discrete,
    ) -> Result<bool, Error> {
        let of = self.base.constants();
        let elements = &of.model.elements;
        let first = elements.first_sensor();
        let sampled = elements.sensors.iter().zip(first..);
        let mut due = sampled.filter_map(|(sensor, k)| {
            let period = sensor.sample_time?.of(of.parameters);
            before.samples[k].is_scheduled(period, t).then_some((sensor, k, period))
        });
        let Some(first) = due.next() else {
            return Ok(false);
        };
        let at = OperatingPoint::new(t, x, u, before);
        if !self.evaluation.is_at(at) {
            self.evaluation.solve(of, at)?;
        }
        self.evaluation.keep().with_view(of, x, before, |view| {
            for (sensor, k, period) in std::iter::once(first).chain(due) {
                let samples = &mut after.samples[k];
                samples.schedule_next(period, t, format_args!("sensor \"{}\"", sensor.name))?;
                sensor.sample(view, t, &before.samples[k], samples)?;
            }
            Ok(true)
        })
    }

    fn sample_controller(&mut self, t: f64, u: &[f64], discrete: &mut Discrete) -> Result<bool, Error> {
        let of = self.base.constants();
        let Some(controller) = of.model.controller() else {
            return Ok(false);
        };
        let (Some(period), Some(samples)) = (controller.sample_time, discrete.samples.first_mut()) else {
            return Ok(false);
        };
        if !samples.schedule_next(period.of(of.parameters), t, format_args!("the controller"))? {
            return Ok(false);
        }
        if of.model.guided.is_some() {
            return self.sample_guidance(t, u, discrete);
        }
        let inputs = self.evaluation.inputs(of, t, u, discrete);
        let mut filters = std::mem::take(&mut discrete.filters);
        let now = Measured {
            parameters: of.parameters,
            inputs,
            filters: &filters,
        };
        let (mut outputs, mut invalid) = (of.model.outputs.iter(), None);
        controller.evaluate(now, Modes::of(discrete), LimitStates::Next, &mut |value: f64| {
            let output = outputs.next().filter(|_| !value.is_finite());
            invalid = invalid.or(output);
        });
        if let Some(output) = invalid {
            let variable = output.quantity.name.clone();
            discrete.filters = filters;
            return Err(Error::NotFinite { variable, t });
        }
        controller.update_limits(now, discrete);
        let modes = Modes::new(&discrete.controlled, &discrete.desaturating);
        let mut held = discrete.samples.iter_mut().flat_map(|samples| &mut samples.held);
        controller.evaluate(now, modes, LimitStates::Present, &mut |value| {
            if let Some(held) = held.next() {
                *held = value;
            }
        });
        let unfiltered = Measured {
            parameters: of.parameters,
            inputs,
            filters: &[],
        };
        controller.advance_filters(unfiltered, &mut filters);
        discrete.filters = filters;
        Ok(true)
    }

    /// Takes a sample of a controller with tasks at the time `t` (s) and the inputs `u`.
    fn sample_guidance(&mut self, t: f64, u: &[f64], discrete: &mut Discrete) -> Result<bool, Error> {
        let of = self.base.constants();
        self.evaluation.read_inputs(of, t, u, &[], discrete);
        let Evaluation { guidance, inputs, .. } = &mut *self.evaluation;
        let (Some(guidance), Some(samples)) = (guidance, discrete.samples.first_mut()) else {
            return Ok(false);
        };
        guidance.update(of, inputs)?;
        if let Some(k) = guidance.outputs.iter().position(|value| !value.is_finite()) {
            let variable = of.model.outputs[k].quantity.name.clone();
            return Err(Error::NotFinite { variable, t });
        }
        samples.held.copy_from_slice(&guidance.outputs);
        Ok(true)
    }

    /// Takes the samples of tasks that are scheduled at the time `t` (s), the states `x` and the
    /// inputs `u`. The discrete state `after` is equal to that of `before` at first.
    fn sample_tasks(
        &mut self,
        (t, x, u): (f64, &[f64], &[f64]),
        before: &Discrete,
        after: &mut Discrete,
    ) -> Result<bool, Error> {
        let of = self.base.constants();
        let sampled = || {
            let tasks = of.model.elements.tasks.iter().enumerate();
            tasks.filter_map(|(k, task)| Some((k, task, task.sample_time?.of(of.parameters))))
        };
        let is_due = |&(k, _, period): &(usize, &Task, f64)| before.samples[k].is_scheduled(period, t);
        if !sampled().any(|task| is_due(&task)) {
            return Ok(false);
        }
        // A law is evaluated if it has no samples.
        (sampled().filter(is_due)).for_each(|(k, ..)| after.samples[k].discard());
        self.evaluation.read_inputs(of, t, u, x, after);
        self.evaluation.load_at(of, x, after)?;
        for (k, task, period) in sampled().filter(is_due) {
            let samples = &mut after.samples[k];
            samples.resume(&before.samples[k]);
            samples.schedule_next(period, t, format_args!("task \"{}\"", task.name))?;
            if let (Some(tasks), Some(rigid)) = (&self.evaluation.tasks, &self.evaluation.feed_forward) {
                tasks.hold(of.model, rigid, k, &mut samples.held);
            }
            if samples.held.iter().any(|held| !held.is_finite()) {
                let variable = task.acceleration_name().to_owned();
                return Err(Error::NotFinite { variable, t });
            }
        }
        // Torques of feed-forward jump at a sample, and with them the limit states of motors.
        self.update_limits(t, x, u, after, &mut Vec::new());
        Ok(true)
    }

    /// Returns the time (s) of the next scheduled sample.
    pub(super) fn next_sample(&self, discrete: &Discrete) -> Option<f64> {
        let periods = self.base.model.elements.sample_times().zip(&discrete.samples);
        let times = periods.filter_map(|(period, samples)| Some(samples.next_time(period?.of(&self.base.parameters))));
        times.min_by(f64::total_cmp)
    }
}
