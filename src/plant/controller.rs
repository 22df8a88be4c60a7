//! The controller of joints that move elsewhere: what its outputs are, and when it looks at its inputs.

use super::{Discrete, Model, Plant};
use crate::algebra::Scalar;
use crate::loads::{Band, Gains, reached, round_off};
use crate::spec::{self, ControlledJoint, PerAxis, at};
use crate::system::{Bound, Declarations, ParamId, Parameter, Quantity, Unit, axis_name};
use crate::{Error, Problem};

/// A controller: `τ = τ_ff + kp (q_ref − q) + kd (q̇_ref − q̇)` for each axis of its joints, up to their largest torques.
#[derive(Clone, Debug)]
pub(super) struct Controller {
    pub axes: Vec<Axis>,
    sample_time: Option<ParamId>,
}

/// One axis of a joint.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// Its torque, and by how much it is off its reference.
    pub outputs: [Quantity; 2],
    q: usize,
    qd: usize,
    q_ref: usize,
    qd_ref: usize,
    tau_ff: usize,
    gains: Gains,
    limit: Option<ParamId>,
}

/// Shortest time between samples, s: what is shorter is a slip of the pen, and would be millions of samples in a step.
const SHORTEST: f64 = 1e-6;

impl Controller {
    /// Numbers that stand from sample to sample, of all axes: when the first was, how many there have been.
    const COUNTS: usize = 2;
    /// The same, of each axis: its outputs.
    const HELD: usize = 2;

    pub fn declare(written: &spec::Controller, declare: &mut Declarations) -> Self {
        let sample_time = written.sample_time.map(|time| {
            let what = "time from one sample of the controller to the next";
            let quantity = Quantity::new("controller.sample_time", Unit::Second, what).bounded(Bound::Positive);
            declare.parameter(quantity, time, false, &at("controller", "sample_time", ""))
        });
        let joints = written.joint.iter();
        Self {
            axes: joints
                .flat_map(|(name, joint)| Axis::declare(name, joint, declare))
                .collect(),
            sample_time,
        }
    }

    pub fn is_sampled(&self) -> bool {
        self.sample_time.is_some()
    }

    /// How many numbers stand from sample to sample.
    pub fn number_count(&self) -> usize {
        match self.sample_time {
            Some(_) => Self::COUNTS + Self::HELD * self.axes.len(),
            None => 0,
        }
    }

    /// How many event indicators it has: of each axis that has a largest torque, whether it has come to it. Between samples nothing can happen.
    pub fn indicator_count(&self) -> usize {
        let limited = self.axes.iter().filter(|axis| axis.limit.is_some());
        if self.is_sampled() { 0 } else { limited.count() }
    }

    /// Judges the parameters' values.
    pub fn judge(&self, declared: &[Parameter], values: &[f64], problems: &mut Vec<Problem>) {
        let Some(id) = self.sample_time else { return };
        let period = id.of(values);
        if period > 0.0 && period < SHORTEST {
            let Parameter { quantity, at, .. } = &declared[id.0];
            let [found, shortest] = [period, SHORTEST].map(|time| quantity.unit.of(time));
            problems.push(Problem {
                at: at.clone(),
                what: format!("{} = {found} is shorter than {shortest}", quantity.name),
            });
        }
    }

    /// Whether it has taken its first sample.
    fn has_sampled(&self, numbers: &[f64]) -> bool {
        self.is_sampled() && numbers.get(1).is_some_and(|&taken| taken > 0.0)
    }

    /// Positive as long as the sides are right.
    pub fn indicators(&self, (parameters, inputs): (&[f64], &[f64]), sides: &[i32], z: &mut [f64]) {
        let axes = self.axes.iter().zip(sides);
        let limited = axes.filter_map(|(axis, &side)| Some((axis, axis.band(parameters)?, side)));
        for ((axis, band, side), z) in limited.zip(z) {
            *z = band.indicator(axis.asked(parameters, inputs), side);
        }
    }

    /// Brings the sides to where the inputs are. True if one changed.
    pub fn update_sides(&self, (parameters, inputs): (&[f64], &[f64]), sides: &mut [i32]) -> bool {
        let mut changed = false;
        for (axis, side) in self.axes.iter().zip(sides) {
            let now = axis.side(parameters, inputs, *side);
            changed |= now != *side;
            *side = now;
        }
        changed
    }

    /// The outputs, of all axes: as last sampled, or as the inputs are.
    fn write<S: Scalar>(
        &self,
        (parameters, inputs): (&[f64], &[S]),
        (sides, numbers): (&[i32], &[f64]),
        mut write: impl FnMut(S),
    ) {
        if self.has_sampled(numbers) {
            numbers[Self::COUNTS..].iter().for_each(|&held| write(S::lift(held)));
            return;
        }
        for (axis, &side) in self.axes.iter().zip(sides) {
            axis.values(parameters, inputs, side).into_iter().for_each(&mut write);
        }
    }
}

impl Axis {
    fn declare(name: &str, joint: &ControlledJoint, declare: &mut Declarations) -> Vec<Self> {
        let n = joint.kind.rates();
        let units = |i| Unit::coordinate(joint.kind.is_angular(i));
        let quantity = |field: &str, i: usize, unit, what: &str| {
            Quantity::new(axis_name((name, n), field, i), unit, format!("{what} of joint {name}"))
        };
        let mut numbers = |field: &str, value: &PerAxis, unit: &dyn Fn(usize) -> Unit, bound, what: &str| {
            let quantities = (0..n).map(|i| quantity(field, i, unit(i), what).bounded(bound));
            let values: Vec<f64> = (0..n).map(|i| value.get(i)).collect();
            let place = ["controller", "joint", name, field].map(str::to_owned);
            declare.parameters(quantities, &values, true, &place)
        };
        let stiffness = |i| units(i).stiffness;
        let kp = numbers("kp", &joint.kp, &stiffness, Bound::NotNegative, "proportional gain");
        let damping = |i| units(i).damping;
        let kd = numbers("kd", &joint.kd, &damping, Bound::NotNegative, "derivative gain");
        let force = |i| units(i).force;
        let limit = joint.torque_limit.as_ref().map(|limit| {
            let what = "largest torque (force) for the motor";
            numbers("torque_limit", limit, &force, Bound::Positive, what)
        });
        let nth = |id: ParamId, i: usize| ParamId(id.0 + i);
        let mut inputs = |field: &str, unit: &dyn Fn(usize) -> Unit, what: &str| {
            let first = declare.inputs.len();
            for i in 0..n {
                declare.input(quantity(field, i, unit(i), what), 0.0, false);
            }
            first
        };
        let (position, rate) = (|i| units(i).position, |i| units(i).rate);
        let q = inputs("q", &position, "measured position");
        let qd = inputs("qd", &rate, "measured rate");
        let q_ref = inputs("q_ref", &position, "reference position");
        let qd_ref = inputs("qd_ref", &rate, "reference rate");
        let tau_ff = inputs("tau_ff", &force, "feed-forward torque (force)");
        let axis = |i: usize| Self {
            outputs: [
                quantity("tau", i, force(i), "torque (force) for the motor"),
                quantity("servo_error", i, position(i), "reference less measured position"),
            ],
            q: q + i,
            qd: qd + i,
            q_ref: q_ref + i,
            qd_ref: qd_ref + i,
            tau_ff: tau_ff + i,
            gains: Gains {
                kp: nth(kp, i),
                kd: nth(kd, i),
            },
            limit: limit.map(|id| nth(id, i)),
        };
        (0..n).map(axis).collect()
    }

    fn error<S: Scalar>(&self, inputs: &[S]) -> S {
        inputs[self.q_ref] - inputs[self.q]
    }

    /// What the law asks for, N·m or N.
    fn asked<S: Scalar>(&self, parameters: &[f64], inputs: &[S]) -> S {
        let rate_error = inputs[self.qd_ref] - inputs[self.qd];
        inputs[self.tau_ff] + self.gains.torque(parameters, self.error(inputs), rate_error)
    }

    /// On which side of its limit it is next, after `side`.
    fn side(&self, parameters: &[f64], inputs: &[f64], side: i32) -> i32 {
        let band = self.band(parameters);
        band.map_or(side, |band| band.next_mode(self.asked(parameters, inputs), side))
    }

    fn band(&self, parameters: &[f64]) -> Option<Band> {
        Some(Band::within(self.limit?.of(parameters)))
    }

    /// The outputs on this side of the limit.
    fn values<S: Scalar>(&self, parameters: &[f64], inputs: &[S], side: i32) -> [S; 2] {
        let torque = match self.limit {
            Some(limit) if side != 0 => S::lift(limit.of(parameters) * f64::from(side)),
            _ => self.asked(parameters, inputs),
        };
        [torque, self.error(inputs)]
    }
}

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
    /// Chooses the sides of a controller's torques for the host's inputs `u`.
    pub(super) fn choose_controlled_sides(&mut self, t: f64, u: &[f64], modes: &mut [i32]) -> bool {
        let model = &self.model;
        let Some(controller) = &model.controller else {
            return false;
        };
        let inputs = self.evaluation.inputs(model, &self.parameters, t, (u, modes));
        controller.update_sides((&self.parameters, inputs), &mut modes[model.layout.controlled..])
    }

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
