//! Control law of a controller for joints in other FMUs, and its outputs.

use super::band::Band;
use super::{
    Compiler, Cursor, Discrete, Element, EventContext, Gains, Limit, Outputs, Sensed, Stored, StoredAll, Values, View,
    Watched, replace,
};
use crate::Problem;
use crate::algebra::Scalar;
use crate::event::Event;
use crate::spec::{self, ControlledJoint, PerAxis, Spec, at};
use crate::system::{Bound, Declarations, ParamId, Parameter, Quantity, System, Unit, axis_name};

/// Controller with `τ = τ_ff + kp (q_ref − q) + kd (q̇_ref − q̇)` for each axis of its joints,
/// limited to the torque limits.
#[derive(Clone, Debug)]
pub(crate) struct Controller {
    pub axes: Vec<Axis>,
    pub sample_time: Option<ParamId>,
}

/// Axis of a joint.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// Outputs: torque, and reference less measured position.
    pub outputs: [Quantity; 2],
    q: usize,
    qd: usize,
    q_ref: usize,
    qd_ref: usize,
    tau_ff: usize,
    gains: Gains,
    limit: Option<ParamId>,
}

/// Shortest permitted time between samples, s; shorter times are assumed to be errors and would
/// cost millions of samples per step.
const SHORTEST: f64 = 1e-6;

impl Controller {
    fn declare(written: &spec::Controller, declare: &mut Declarations) -> Self {
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

    /// Updates the limit states for the inputs. Returns true if one changed.
    pub fn update_limits(&self, parameters: &[f64], inputs: &[f64], states: &mut [Limit]) -> bool {
        let mut changed = false;
        for (axis, state) in self.axes.iter().zip(states) {
            changed |= replace(state, axis.limit_state(parameters, inputs, *state));
        }
        changed
    }
}

impl Element for Controller {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let written = from.spec.controller.iter();
        written.map(|written| Self::declare(written, from.declare)).collect()
    }

    fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        let Some(id) = self.sample_time else { return };
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

    fn outputs(&self, _: &Spec, _: &System, to: &mut Outputs) {
        let quantities = self.axes.iter().flat_map(|axis| axis.outputs.clone());
        match self.is_sampled() {
            true => to.discrete(quantities),
            false => to.continuous(quantities),
        }
    }

    /// Writes the outputs of the last sample; without samples, or before the first, those for the
    /// present inputs.
    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let Discrete {
            samples, controlled, ..
        } = view.discrete;
        if self.is_sampled() && samples.next > 0.0 {
            let held = samples.held.as_flattened();
            held.iter().for_each(|&held| y.number(S::lift(held)));
            return;
        }
        for (axis, &state) in self.axes.iter().zip(controlled) {
            let values = axis.values(view.now.parameters, view.now.inputs, state);
            values.into_iter().for_each(|value| y.number(value));
        }
    }
    /// Returns the number of axes with a torque limit; zero if the controller is sampled, since
    /// limit states then change at samples only.
    fn indicator_count(&self) -> usize {
        let limited = self.axes.iter().filter(|axis| axis.limit.is_some());
        if self.is_sampled() { 0 } else { limited.count() }
    }

    fn watches(&self) -> Watched {
        Watched {
            inputs: !self.is_sampled(),
            ..Watched::default()
        }
    }

    fn indicate(&self, now: &EventContext, discrete: &Discrete, z: &mut Cursor<f64>) {
        if self.is_sampled() {
            return;
        }
        let Sensed { parameters, inputs, .. } = now.sensed;
        for (axis, &state) in self.axes.iter().zip(&discrete.controlled) {
            if let Some(band) = axis.band(parameters) {
                z.number(band.indicator(axis.commanded(parameters, inputs), state));
            }
        }
    }

    /// Limit states of a sampled controller are updated by its samples.
    fn update(&self, now: &EventContext, discrete: &mut Discrete, _: &mut Vec<Event>) -> bool {
        let Sensed { parameters, inputs, .. } = now.sensed;
        !self.is_sampled() && self.update_limits(parameters, inputs, &mut discrete.controlled)
    }
}

/// Samples of a controller.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Samples {
    /// Time of the first sample, s.
    pub first: f64,
    /// Number of the next sample, counted from zero.
    pub next: f64,
    /// Outputs of each axis at the last sample.
    pub held: Vec<[f64; 2]>,
}

impl Samples {
    pub fn new(controller: &Controller) -> Self {
        let axes = if controller.is_sampled() {
            controller.axes.len()
        } else {
            0
        };
        Self {
            held: vec![[0.0; 2]; axes],
            ..Self::default()
        }
    }
}

impl StoredAll for Samples {
    fn write_all(&self, to: &mut impl FnMut(f64)) {
        let Self { first, next, held } = self;
        first.write(to);
        next.write(to);
        held.as_flattened().iter().for_each(|number| number.write(to));
    }

    fn read_all(&mut self, from: &mut impl FnMut() -> f64) -> Option<()> {
        let Self { first, next, held } = self;
        for number in [first, next].into_iter().chain(held.as_flattened_mut()) {
            *number = f64::read(from)?;
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

    /// Copies without allocation between samples of one controller.
    fn clone_from(&mut self, source: &Self) {
        let Self { first, next, held } = self;
        (*first, *next) = (source.first, source.next);
        held.clone_from(&source.held);
    }
}

impl Axis {
    fn declare(name: &str, joint: &ControlledJoint, declare: &mut Declarations) -> Vec<Self> {
        let n = joint.kind.rates();
        let units = |i| Unit::coordinate(joint.kind.is_angular(i));
        let quantity = |field: &str, i: usize, unit, what: &str| {
            Quantity::new(axis_name(name, n, field, i), unit, format!("{what} of joint {name}"))
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
                quantity("tau", i, force(i), "commanded torque (force)"),
                quantity("servo_error", i, position(i), "reference minus measured position"),
            ],
            q: q + i,
            qd: qd + i,
            q_ref: q_ref + i,
            qd_ref: qd_ref + i,
            tau_ff: tau_ff + i,
            gains: Gains {
                kp: kp.nth(i),
                kd: kd.nth(i),
            },
            limit: limit.map(|first| first.nth(i)),
        };
        (0..n).map(axis).collect()
    }

    fn error<S: Scalar>(&self, inputs: &[S]) -> S {
        inputs[self.q_ref] - inputs[self.q]
    }

    /// Returns the commanded torque before its limit, N·m or N.
    fn commanded<S: Scalar>(&self, parameters: &[f64], inputs: &[S]) -> S {
        let rate_error = inputs[self.qd_ref] - inputs[self.qd];
        inputs[self.tau_ff] + self.gains.torque(parameters, self.error(inputs), rate_error)
    }

    /// Returns the limit state of the commanded torque at these inputs, if it was `state` before.
    pub fn limit_state(&self, parameters: &[f64], inputs: &[f64], state: Limit) -> Limit {
        let band = self.band(parameters);
        band.map_or(state, |band| band.next(self.commanded(parameters, inputs), state))
    }

    fn band(&self, parameters: &[f64]) -> Option<Band> {
        Some(Band::within(self.limit?.of(parameters)))
    }

    /// Returns the outputs in a limit state: torque (N·m or N) and position error (rad or m).
    pub fn values<S: Scalar>(&self, parameters: &[f64], inputs: &[S], state: Limit) -> [S; 2] {
        let torque = match self.limit {
            Some(limit) if state.is_reached() => S::lift(limit.of(parameters) * state.sign()),
            _ => self.commanded(parameters, inputs),
        };
        [torque, self.error(inputs)]
    }
}
