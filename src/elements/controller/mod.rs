//! Control laws of a controller for joints and attitudes in other FMUs, and its outputs.

mod attitude;
mod axis;
mod desaturation;
mod filter;
mod limited;
mod references;

use super::samples::{declare_sample_time, validate_sample_time};
use super::{
    Compiler, Cursor, Discrete, Element, EventContext, Limit, Outputs, Sensed, Values, View, Watched, replace,
};
use crate::Problem;
use crate::algebra::Scalar;
use crate::event::Event;
use crate::spec::{self, Spec, at};
use crate::system::{Declarations, ParamId, Quantity, System};
use attitude::Attitude;
use axis::Axis;
pub(crate) use filter::Memory;

/// Controller with `τ = τ_ff + kp (q_ref − q) + kd (q̇_ref − q̇)` for each axis of its joints and
/// `M = kp θ + kd (w_ref − w)` for its attitudes, both limited to the torque limits, or with tasks.
#[derive(Clone, Debug)]
pub(crate) struct Controller {
    axes: Vec<Axis>,
    attitudes: Vec<Attitude>,
    /// Quantities of the outputs of tasks, which the plant computes.
    pub of_tasks: Vec<Quantity>,
    pub sample_time: Option<ParamId>,
}

/// Data of one instant on which the control laws depend.
#[derive(Clone, Copy)]
pub(crate) struct Measured<'a, S: Scalar> {
    /// Values of the parameters.
    pub parameters: &'a [f64],
    /// Values of the inputs, set by the importer or by signals.
    pub inputs: &'a [S],
    /// Memories of the filters; empty between samples, where no output depends on them.
    pub filters: &'a [Memory],
}

/// Discrete state of a controller between its samples.
#[derive(Clone, Copy)]
pub(crate) struct Modes<'a> {
    /// Limit state of each axis, then of each wheel.
    limits: &'a [Limit],
    /// True for each attitude whose wheels are being desaturated.
    desaturating: &'a [bool],
}

/// Modes with which outputs are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitStates {
    /// Those of the discrete state.
    Present,
    /// Those that an update of the discrete state would set, including the desaturation.
    Next,
}

impl Controller {
    fn declare(written: &spec::Controller, declare: &mut Declarations) -> Self {
        let place = at("controller", "sample_time", "");
        let sample_time = written
            .sample_time
            .map(|time| declare_sample_time(["controller", "the controller"], time, &place, declare));
        let axes = Axis::declare_all(written, sample_time, declare);
        let (mut attitudes, mut first_limit) = (Vec::new(), axes.len());
        let mut first_filter: usize = axes.iter().map(Axis::filter_count).sum();
        for (body, attitude) in &written.attitude {
            let numbers = [attitudes.len(), first_limit, first_filter];
            let attitude = Attitude::declare(body, attitude, numbers, sample_time, declare);
            first_limit += attitude.limit_count();
            first_filter += attitude.filter_count();
            attitudes.push(attitude);
        }
        Self {
            axes,
            attitudes,
            of_tasks: Vec::new(),
            sample_time,
        }
    }

    pub fn is_sampled(&self) -> bool {
        self.sample_time.is_some()
    }

    /// Returns the number of its limit states.
    pub fn limit_count(&self) -> usize {
        self.axes.len() + self.attitudes.iter().map(Attitude::limit_count).sum::<usize>()
    }

    /// Returns the number of the filters of all its commands.
    pub fn filter_count(&self) -> usize {
        let of_axes = self.axes.iter().map(Axis::filter_count);
        of_axes.chain(self.attitudes.iter().map(Attitude::filter_count)).sum()
    }

    /// Updates the memories of the filters after a sample of the inputs.
    pub fn advance_filters(&self, now: Measured<f64>, memories: &mut [Memory]) {
        self.axes.iter().for_each(|axis| axis.advance_filter(now, memories));
        self.attitudes
            .iter()
            .for_each(|attitude| attitude.advance_filters(now, memories));
    }

    /// Returns the number of its attitudes.
    pub fn attitude_count(&self) -> usize {
        self.attitudes.len()
    }

    /// Returns the quantities of its outputs, in the order of [`evaluate`](Self::evaluate); those
    /// of tasks follow.
    fn quantities(&self) -> impl Iterator<Item = Quantity> {
        let of_axes = self.axes.iter().flat_map(Axis::quantities);
        let of_laws = of_axes.chain(self.attitudes.iter().flat_map(Attitude::quantities));
        of_laws.chain(self.of_tasks.iter().cloned())
    }

    /// Returns the number of its outputs.
    pub fn output_count(&self) -> usize {
        self.quantities().count()
    }

    /// Passes the values of its outputs to `to`, apart from those of tasks.
    pub fn evaluate<S: Scalar>(&self, now: Measured<S>, modes: Modes, states: LimitStates, to: &mut impl FnMut(S)) {
        for (axis, &limit) in self.axes.iter().zip(modes.limits) {
            axis.evaluate(now, limit, states, to);
        }
        for attitude in &self.attitudes {
            attitude.evaluate(now, modes, states, to);
        }
    }

    /// Updates the limit states and the desaturation to the inputs. Returns true if one changed.
    pub fn update_limits(&self, now: Measured<f64>, discrete: &mut Discrete) -> bool {
        let mut changed = false;
        for (axis, state) in self.axes.iter().zip(&mut discrete.controlled) {
            changed |= replace(state, axis.next(now, *state));
        }
        for attitude in &self.attitudes {
            changed |= attitude.update(now, &mut discrete.controlled, &mut discrete.desaturating);
        }
        changed
    }
}

impl<'a> Modes<'a> {
    pub fn of(discrete: &'a Discrete) -> Self {
        Self::new(&discrete.controlled, &discrete.desaturating)
    }

    pub fn new(limits: &'a [Limit], desaturating: &'a [bool]) -> Self {
        Self { limits, desaturating }
    }
}

impl Element for Controller {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let written = from.spec.controller.iter();
        written.map(|written| Self::declare(written, from.declare)).collect()
    }

    fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        self.axes.iter().for_each(|axis| axis.validate(of, problems));
        for attitude in &self.attitudes {
            attitude.validate(of, problems);
        }
        if let Some(id) = self.sample_time {
            validate_sample_time(id, of, problems);
        }
    }

    fn outputs(&self, _: &Spec, _: &System, to: &mut Outputs) {
        match self.is_sampled() {
            true => to.discrete(self.quantities()),
            false => to.continuous(self.quantities()),
        }
    }

    /// Writes the outputs of the last sample; without samples, or before the first, those for the
    /// present inputs.
    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let samples = view.discrete.samples.first().filter(|samples| samples.are_taken());
        if let Some(samples) = samples {
            samples.held.iter().for_each(|&held| y.number(S::lift(held)));
            return;
        }
        let now = Measured::of(&view.now.sensed());
        let modes = Modes::of(view.discrete);
        self.evaluate(now, modes, LimitStates::Present, &mut |value| y.number(value));
        view.guidance.iter().for_each(|&value| y.number(value));
    }

    /// Returns the number of torques with a limit and of desaturations; zero if the controller is
    /// sampled, since its modes then change at samples only.
    fn indicator_count(&self) -> usize {
        if self.is_sampled() {
            return 0;
        }
        let axes = self.axes.iter().filter(|axis| axis.is_limited()).count();
        axes + self.attitudes.iter().map(Attitude::indicator_count).sum::<usize>()
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
        let now = Measured::of(&now.sensed);
        for (axis, &limit) in self.axes.iter().zip(&discrete.controlled) {
            axis.indicate(now, limit, z);
        }
        for attitude in &self.attitudes {
            attitude.indicate(now, Modes::of(discrete), z);
        }
    }

    /// Limit states of a sampled controller are updated by its samples.
    fn update(&self, now: &EventContext, discrete: &mut Discrete, _: &mut Vec<Event>) -> bool {
        !self.is_sampled() && self.update_limits(Measured::of(&now.sensed), discrete)
    }
}

impl<'a, S: Scalar> Measured<'a, S> {
    fn of(sensed: &Sensed<'a, S>) -> Self {
        Self {
            parameters: S::numbers(sensed.parameters),
            inputs: sensed.inputs,
            filters: &[],
        }
    }
}
