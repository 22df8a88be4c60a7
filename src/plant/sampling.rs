//! The controller in a plant: what it puts out, and when it looks at its inputs.

use super::controller::Controller;
use super::{Discrete, Model, Plant};
use crate::Error;
use crate::algebra::Scalar;
use crate::loads::{reached, round_off};

impl Model {
    /// What its controller puts out, of the values of its inputs.
    pub(super) fn control<S: Scalar>(
        &self,
        parameters: &[f64],
        inputs: &[S],
        discrete: &Discrete,
        write: impl FnMut(S),
    ) {
        if let Some(controller) = &self.controller {
            let sides = &discrete.modes[self.layout.controlled..];
            let numbers = &discrete.numbers[self.layout.samples..];
            controller.write((parameters, inputs), (sides, numbers), write);
        }
    }
}

impl Plant {
    /// Takes the sample of a controller that is due at the time `t` (s), of the host's inputs `u`; whether there is one.
    ///
    /// One that is due where a step of a host ends is taken when the next one begins: the host has then set what it has measured there.
    ///
    /// # Errors
    /// [`Error::NotFinite`] with the output that would not be, [`Error::Integration`] so late that samples cannot be told apart. Then nothing has changed.
    pub fn sample(&mut self, t: f64, u: &[f64], discrete: &mut Discrete) -> Result<bool, Error> {
        let model = &self.model;
        let Some(controller) = &model.controller else {
            return Ok(false);
        };
        let Some(period) = controller.sample_time.map(|id| id.of(&self.parameters)) else {
            return Ok(false);
        };
        let (counts, held) = discrete.numbers[model.layout.samples..].split_at_mut(Controller::COUNTS);
        let [first, taken] = counts else { return Ok(false) };
        let start = if *taken == 0.0 { t } else { *first };
        let is_due = |count: f64| reached(start + count * period, t);
        if !is_due(*taken) {
            return Ok(false);
        }
        // A host may have passed over some.
        let passed = taken.max(((t - start) / period).round());
        let mut next = if is_due(passed) { passed + 1.0 } else { passed };
        if is_due(next) {
            // So late that several are one instant to round-off: the first that is not, whichever way its own time is rounded.
            next = ((t - start + 2.0 * round_off(t)) / period).floor() + 1.0;
        }
        if !(next > *taken && next.is_finite()) {
            let what = format!("two samples of the controller, {period} s apart, cannot be told apart so late");
            return Err(Error::Integration { t, what });
        }
        let inputs = self.evaluation.inputs(model, &self.parameters, t, (u, &discrete.modes));
        let sides = &mut discrete.modes[model.layout.controlled..];
        for (axis, &side) in controller.axes.iter().zip(&*sides) {
            let values = axis.values(&self.parameters, inputs, axis.side(&self.parameters, inputs, side));
            if let Some(i) = values.iter().position(|value| !value.is_finite()) {
                let variable = axis.outputs[i].name.clone();
                return Err(Error::NotFinite { variable, t });
            }
        }
        (*first, *taken) = (start, next);
        controller.update_sides((&self.parameters, inputs), sides);
        let axes = controller.axes.iter().zip(sides);
        for ((axis, side), held) in axes.zip(held.chunks_exact_mut(Controller::HELD)) {
            held.copy_from_slice(&axis.values(&self.parameters, inputs, *side));
        }
        Ok(true)
    }

    /// When the next sample is due, s.
    pub(super) fn next_sample(&self, discrete: &Discrete) -> Option<f64> {
        let controller = self.model.controller.as_ref()?;
        let period = controller.sample_time?.of(&self.parameters);
        match discrete.numbers[self.model.layout.samples..] {
            [first, taken, ..] if taken > 0.0 => Some(first + taken * period),
            // The first is due already.
            _ => Some(f64::NEG_INFINITY),
        }
    }
}
