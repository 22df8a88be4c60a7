//! Samples of a controller.

use super::{Discrete, Plant};
use crate::Error;
use crate::elements::{LimitStates, Measured, Modes, Samples, reached, round_off};

impl Plant {
    /// Takes the sample of a controller that is scheduled at the time `t` (s), with the importer's
    /// inputs `u`. Returns true if there was one.
    ///
    /// A sample that is scheduled at the end of an importer's step is taken when the next step
    /// begins: by then the importer has set the inputs measured there.
    ///
    /// # Errors
    /// [`Error::NotFinite`] with the output that would not be finite, [`Error::Integration`] if the
    /// time is so large that the samples coincide to round-off. Then nothing has changed.
    pub fn sample(&mut self, t: f64, u: &[f64], discrete: &mut Discrete) -> Result<bool, Error> {
        let of = self.base.constants();
        let Some(controller) = of.model.controller() else {
            return Ok(false);
        };
        let Some(period) = controller.sample_time.map(|id| id.of(of.parameters)) else {
            return Ok(false);
        };
        let Samples { first, next: taken, .. } = discrete.samples;
        let start = if taken == 0.0 { t } else { first };
        let is_due = |count: f64| reached(start + count * period, t);
        if !is_due(taken) {
            return Ok(false);
        }
        // The importer may have skipped some samples.
        let passed = taken.max(((t - start) / period).round());
        let mut next = if is_due(passed) { passed + 1.0 } else { passed };
        if is_due(next) {
            // At this time several samples coincide to round-off: the next one is the first that is
            // later for any rounding of its own time.
            next = ((t - start + 2.0 * round_off(t)) / period).floor() + 1.0;
        }
        if !(next > taken && next.is_finite()) {
            let what = format!("two samples of the controller, {period} s apart, coincide to round-off at this time");
            return Err(Error::Integration { t, what });
        }
        let now = Measured {
            parameters: of.parameters,
            inputs: self.evaluation.inputs(of, t, u, discrete),
        };
        let (mut outputs, mut invalid) = (of.model.outputs.iter(), None);
        controller.evaluate(now, Modes::of(discrete), LimitStates::Next, &mut |value: f64| {
            let output = outputs.next().filter(|_| !value.is_finite());
            invalid = invalid.or(output);
        });
        if let Some(output) = invalid {
            let variable = output.quantity.name.clone();
            return Err(Error::NotFinite { variable, t });
        }
        (discrete.samples.first, discrete.samples.next) = (start, next);
        controller.update_limits(now, discrete);
        let modes = Modes::new(&discrete.controlled, &discrete.desaturating);
        let mut held = discrete.samples.held.iter_mut();
        controller.evaluate(now, modes, LimitStates::Present, &mut |value| {
            if let Some(held) = held.next() {
                *held = value;
            }
        });
        Ok(true)
    }

    /// Returns the time (s) of the next scheduled sample.
    pub(super) fn next_sample(&self, discrete: &Discrete) -> Option<f64> {
        let controller = self.base.model.controller()?;
        let period = controller.sample_time?.of(&self.base.parameters);
        match discrete.samples {
            Samples { first, next, .. } if next > 0.0 => Some(first + next * period),
            // The first sample is scheduled immediately.
            _ => Some(f64::NEG_INFINITY),
        }
    }
}
