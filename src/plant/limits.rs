//! Limit states and event indicators: of joint ranges, linear bending, motors and controllers.

use super::context::{Constants, OperatingPoint};
use super::evaluation::Evaluation;
use super::{Discrete, Plant};
use crate::elements::Motor;
use crate::event::Event;

impl Evaluation<f64> {
    /// Updates signal segments and limit states to time `t` (s), states `x` and inputs `u`; appends
    /// an event for each limit that has just been exceeded. Returns true if a segment or a limit
    /// state changed.
    pub(super) fn update_limits(
        &mut self,
        of: Constants,
        t: f64,
        x: &[f64],
        u: &[f64],
        discrete: &mut Discrete,
        events: &mut Vec<Event>,
    ) -> bool {
        let Constants {
            model,
            derived,
            parameters,
        } = of;
        let mut changed = false;
        for (signal, segment) in model.elements.signals.iter().zip(&mut discrete.segments) {
            changed |= replace(segment, signal.wave(parameters).piece(t));
        }
        // A sampled controller updates its limit states at its samples.
        let controlled = !model.is_sampled() && self.update_controlled_limits(of, t, u, discrete);
        if model.indicator_count() == 0 {
            return changed || controlled;
        }
        if !model.elements.motors.is_empty() {
            let sensed = self.sensed(of, t, x, u, discrete);
            for (motor, state) in model.elements.motors.iter().zip(&mut discrete.motors) {
                let next = motor.next(&sensed, state);
                if !state.rate.is_reached() && next.rate.is_reached() {
                    events.extend(motor.rate_reached(parameters, t));
                }
                changed |= replace(state, next);
            }
        }
        let q = self.coordinates(of, x).q;
        for (limit, exceeded) in model.elements.deflection_limits.iter().zip(&mut discrete.deflections) {
            let next = limit.next(parameters, derived, q, *exceeded);
            if replace(exceeded, next) {
                changed = true;
                if next {
                    events.push(limit.exceeded(&model.system, parameters, derived, q, t));
                }
            }
        }
        for (range, state) in model.elements.ranges.iter().zip(&mut discrete.ranges) {
            let next = range.next(parameters, q, *state);
            if replace(state, next) {
                changed = true;
                if next.is_reached() {
                    events.push(range.left(parameters, q, next, t));
                }
            }
        }
        changed || controlled
    }

    /// Updates the limit states of a controller's torques for the inputs `u`. Returns true if one
    /// changed.
    pub(super) fn update_controlled_limits(
        &mut self,
        of: Constants,
        t: f64,
        u: &[f64],
        discrete: &mut Discrete,
    ) -> bool {
        let Some(controller) = of.model.controller() else {
            return false;
        };
        let inputs = self.inputs(of, t, u, discrete);
        controller.update_limits(of.parameters, inputs, &mut discrete.controlled)
    }
}

impl Plant {
    /// Updates signal segments and the limit states of ranges, deflections and motors to time (s),
    /// states, inputs and parameters, without commands or impacts. Returns true if one changed.
    pub fn update_limits(
        &mut self,
        t: f64,
        x: &[f64],
        u: &[f64],
        discrete: &mut Discrete,
        events: &mut Vec<Event>,
    ) -> bool {
        self.evaluation
            .update_limits(self.base.constants(), t, x, u, discrete, events)
    }

    /// Writes the event indicators at an operating point; they are positive as long as the discrete
    /// state is valid. The indicator of commands is set to 1, its value while no command waits for
    /// an event.
    pub fn indicators(&mut self, at: OperatingPoint, z: &mut [f64]) {
        let OperatingPoint { t, x, u, discrete } = at;
        let of = self.base.constants();
        let model = of.model;
        let layout = &model.layout;
        let (z, rest) = z.split_at_mut(layout.with_limits);
        rest.fill(1.0);
        if let Some(controller) = model.controller() {
            let inputs = self.evaluation.inputs(of, t, u, discrete);
            controller.indicators(of.parameters, inputs, &discrete.controlled, rest);
        }
        if z.is_empty() {
            return;
        }
        let q = self.evaluation.coordinates(of, x).q;
        let (of_ranges, z) = z.split_at_mut(model.elements.ranges.len());
        let (of_limits, z) = z.split_at_mut(model.elements.deflection_limits.len());
        let (of_surfaces, of_motors) = z.split_at_mut(layout.surfaces);
        let ranges = model.elements.ranges.iter().zip(&discrete.ranges);
        for (z, (range, &state)) in of_ranges.iter_mut().zip(ranges) {
            *z = range.indicator(of.parameters, q, state);
        }
        let limits = model.elements.deflection_limits.iter().zip(&discrete.deflections);
        for (z, (limit, &exceeded)) in of_limits.iter_mut().zip(limits) {
            *z = limit.indicator(of.parameters, of.derived, q, exceeded);
        }
        if !of_motors.is_empty() {
            let sensed = self.evaluation.sensed(of, t, x, u, discrete);
            let motors = model.elements.motors.iter().zip(&discrete.motors);
            for ((motor, state), z) in motors.zip(of_motors.chunks_exact_mut(Motor::INDICATORS)) {
                z.copy_from_slice(&motor.indicators(&sensed, state));
            }
        }
        if !of_surfaces.is_empty() {
            self.evaluation.update_kinematics(of, x);
            self.contact_indicators(discrete, of_surfaces);
        }
    }
}

/// Replaces a value; returns true if the new one differs.
fn replace<T: PartialEq>(value: &mut T, new: T) -> bool {
    let is_new = *value != new;
    *value = new;
    is_new
}
