//! On which sides of their limits things are: ranges, linear deflections, torques and rates of motors and of controllers.

use super::evaluation::Evaluation;
use super::{Discrete, Model, Plant};
use crate::loads::Motor;
use crate::system::Derived;

impl Evaluation<f64> {
    /// Brings pieces of signals and sides of limits to where time, states `x` and inputs `u` are; says what is beyond its limit now. True if one changed.
    pub(super) fn update_sides(
        &mut self,
        model: &Model,
        (derived, parameters): (&Derived, &[f64]),
        t: f64,
        (x, u): (&[f64], &[f64]),
        modes: &mut [i32],
        messages: &mut Vec<String>,
    ) -> bool {
        let mut changed = false;
        let mut brings = |side: &mut i32, now: i32| {
            let is_new = *side != now;
            changed |= is_new;
            *side = now;
            is_new && now != 0
        };
        for (signal, piece) in model.signals.iter().zip(&mut *modes) {
            brings(piece, signal.wave(parameters).piece(t));
        }
        // What is sampled chooses when it is.
        let controlled = !model.is_sampled() && self.choose_controlled_sides(model, parameters, t, u, modes);
        if model.indicator_count() == 0 {
            return changed || controlled;
        }
        let numbers = (derived, parameters);
        if !model.loads.motors.is_empty() {
            let sensed = self.sensed(model, numbers, t, (x, u, modes));
            for (motor, sides) in model.loads.motors() {
                let sides = &mut modes[model.layout.motors..][sides];
                let [of_torque, of_rate] = motor.next_sides(&sensed, sides);
                if sides[1] == 0 && of_rate != 0 {
                    messages.extend(motor.message(parameters, t));
                }
                brings(&mut sides[0], of_torque);
                brings(&mut sides[1], of_rate);
            }
        }
        let (q, _) = self.coordinates(model, numbers, x);
        for (limit, mode) in model.limits.iter().zip(&mut modes[model.layout.limits..]) {
            if brings(mode, limit.next_mode(parameters, derived, q, *mode)) {
                messages.push(limit.message(&model.system, parameters, derived, q, t));
            }
        }
        for (range, side) in model.loads.ranges.iter().zip(&mut modes[model.layout.ranges..]) {
            if brings(side, range.next_mode(parameters, q, *side)) {
                messages.push(range.message(parameters, q, *side, t));
            }
        }
        changed || controlled
    }

    /// Chooses the sides of a controller's torques for the inputs `u`. True if one changed.
    pub(super) fn choose_controlled_sides(
        &mut self,
        model: &Model,
        parameters: &[f64],
        t: f64,
        u: &[f64],
        modes: &mut [i32],
    ) -> bool {
        let Some(controller) = &model.controller else {
            return false;
        };
        let inputs = self.inputs(model, parameters, t, (u, modes));
        controller.update_sides((parameters, inputs), &mut modes[model.layout.controlled..])
    }
}

impl Plant {
    /// Brings pieces of signals and sides of ranges, limits and motors to where time, states, inputs and parameters are: no command is obeyed, and nothing strikes. True if one
    /// changed.
    pub fn update_sides(
        &mut self,
        t: f64,
        at: (&[f64], &[f64]),
        modes: &mut [i32],
        messages: &mut Vec<String>,
    ) -> bool {
        let numbers = (&self.derived, self.parameters.as_slice());
        self.evaluation
            .update_sides(&self.model, numbers, t, at, modes, messages)
    }

    /// The event indicators at the time `t` (s), states `x` and the host's inputs `u`: positive as long as the modes are right. The one that tells of commands is left as if none waited.
    pub fn indicators(&mut self, t: f64, (x, u): (&[f64], &[f64]), discrete: &Discrete, z: &mut [f64]) {
        let (model, modes) = (&*self.model, discrete.modes.as_slice());
        let layout = &model.layout;
        let (z, rest) = z.split_at_mut(layout.watched);
        rest.fill(1.0);
        if let Some(controller) = &model.controller {
            let inputs = self.evaluation.inputs(model, &self.parameters, t, (u, modes));
            controller.indicators((&self.parameters, inputs), &modes[layout.controlled..], rest);
        }
        if z.is_empty() {
            return;
        }
        let numbers = (&self.derived, self.parameters.as_slice());
        let (q, _) = self.evaluation.coordinates(model, numbers, x);
        let (of_ranges, z) = z.split_at_mut(model.loads.ranges.len());
        let (of_limits, z) = z.split_at_mut(model.limits.len());
        let (of_touches, of_motors) = z.split_at_mut(layout.motors - layout.touches);
        for ((z, range), &side) in of_ranges
            .iter_mut()
            .zip(&model.loads.ranges)
            .zip(&modes[layout.ranges..])
        {
            *z = range.indicator(&self.parameters, q, side);
        }
        for ((z, limit), &side) in of_limits.iter_mut().zip(&model.limits).zip(&modes[layout.limits..]) {
            *z = limit.indicator(&self.parameters, &self.derived, q, side);
        }
        if !of_motors.is_empty() {
            let sensed = self.evaluation.sensed(model, numbers, t, (x, u, modes));
            for ((motor, sides), z) in model.loads.motors().zip(of_motors.chunks_exact_mut(Motor::SIDES)) {
                z.copy_from_slice(&motor.indicators(&sensed, &model.motor_sides(modes)[sides]));
            }
        }
        if !of_touches.is_empty() {
            self.evaluation.update_kinematics(model, numbers, x);
            self.touch_indicators(discrete, of_touches);
        }
    }
}
