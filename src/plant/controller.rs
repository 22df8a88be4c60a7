//! The law of a controller of joints that move elsewhere: what its outputs are.

use crate::Problem;
use crate::algebra::Scalar;
use crate::loads::{Band, Gains};
use crate::spec::{self, ControlledJoint, PerAxis, at};
use crate::system::{Bound, Declarations, ParamId, Parameter, Quantity, Unit, axis_name};

/// A controller: `τ = τ_ff + kp (q_ref − q) + kd (q̇_ref − q̇)` for each axis of its joints, up to their largest torques.
#[derive(Clone, Debug)]
pub(super) struct Controller {
    pub axes: Vec<Axis>,
    pub sample_time: Option<ParamId>,
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
    pub const COUNTS: usize = 2;
    /// The same, of each axis: its outputs.
    pub const HELD: usize = 2;

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
    pub fn write<S: Scalar>(
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
    pub fn side(&self, parameters: &[f64], inputs: &[f64], side: i32) -> i32 {
        let band = self.band(parameters);
        band.map_or(side, |band| band.next_mode(self.asked(parameters, inputs), side))
    }

    fn band(&self, parameters: &[f64]) -> Option<Band> {
        Some(Band::within(self.limit?.of(parameters)))
    }

    /// The outputs on this side of the limit.
    pub fn values<S: Scalar>(&self, parameters: &[f64], inputs: &[S], side: i32) -> [S; 2] {
        let torque = match self.limit {
            Some(limit) if side != 0 => S::lift(limit.of(parameters) * f64::from(side)),
            _ => self.asked(parameters, inputs),
        };
        [torque, self.error(inputs)]
    }
}
