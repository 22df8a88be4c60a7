//! Motors of joints: the commanded torque within the motor's limits.

use super::Commands;
use super::servo::Servo;
use crate::algebra::Scalar;
use crate::dynamics::Applied;
use crate::elements::band::{Band, HYSTERESIS, Limit};
use crate::elements::joint::{Field, JointTable, quantity};
use crate::elements::{
    AttitudeServo, Cursor, Discrete, Element, Elements, EventContext, Instant, Outputs, Reads, Resistance, Sensed,
    Stored, View, Watched, replace,
};
use crate::event::{Amount, Event, Occurrence};
use crate::spec::{self, Spec};
use crate::system::{Bound, Declarations, ParamId, System, Unit};
use std::ops::Range;

/// Motor of one axis of a joint. Its torque is the commanded one, limited to its largest torque.
/// Over the last hundredth of the rate range, the largest torque in the direction of the rate falls
/// linearly to zero at the rate limit.
#[derive(Clone, Debug)]
pub struct Motor {
    /// Index among all motors.
    number: usize,
    /// Axis of the joint.
    axis: usize,
    /// Name of the axis's rate, for messages.
    rate_name: String,
    /// Index of the joint's child body.
    pub body: usize,
    coordinate: usize,
    rate: usize,
    torque: Option<usize>,
    servo: Option<Servo>,
    /// Attitude servo that commands this motor, if it drives a reaction wheel.
    pub(in crate::elements) attitude: Option<Box<AttitudeServo>>,
    torque_limit: ParamId,
    rate_limit: Option<ParamId>,
    unit: Unit,
}

/// Limit state of a motor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MotorState {
    /// Limit state of the torque.
    pub torque: Limit,
    /// Limit state of the rate: reached in the last hundredth of the rate range and beyond it.
    pub rate: Limit,
    /// True if the rate is beyond its limit, where no torque acts in the direction of the rate.
    pub is_beyond: bool,
}

impl Stored for MotorState {
    fn write(&self, to: &mut impl FnMut(f64)) {
        self.torque.write(to);
        self.rate.write(to);
        self.is_beyond.write(to);
    }

    fn read(next: &mut impl FnMut() -> f64) -> Option<Self> {
        let state = Self {
            torque: Limit::read(next)?,
            rate: Limit::read(next)?,
            is_beyond: bool::read(next)?,
        };
        (state.rate.is_reached() || !state.is_beyond).then_some(state)
    }
}

/// Fraction of the rate limit over which the torque falls to zero.
const LAST: f64 = 1e-2;

/// Creates the motors of a joint's axes and returns their indices.
pub(super) fn declare(
    of: JointTable,
    written: &spec::Motor,
    commands: Commands,
    to: &mut Elements,
    declare: &mut Declarations,
) -> Range<usize> {
    let joint = of.joint;
    let torque_limit = Field {
        name: "torque_limit",
        place: "motor.torque_limit",
        unit: |units| units.force,
        bound: Bound::Positive,
        what: "largest torque (force) of the motor",
    };
    let rate_limit = Field {
        name: "rate_limit",
        place: "motor.rate_limit",
        unit: |units| units.rate,
        bound: Bound::Positive,
        what: "rate above which the motor exerts no accelerating torque (force),",
    };
    let torque_limit = of.parameters(torque_limit, &written.torque_limit, declare);
    let limits = written.rate_limit.as_ref();
    let rate_limit = limits.map(|limits| of.parameters(rate_limit, limits, declare));
    let first = to.motors.len();
    to.motors.extend((0..joint.nv).map(|i| Motor {
        number: first + i,
        axis: i,
        rate_name: joint.quantity_name("qd", i),
        body: of.body,
        coordinate: joint.q + i,
        rate: joint.v + i,
        torque: commands.torque.map(|first| first + i),
        servo: commands.servos.get(i).map(|servo| servo.law),
        attitude: None,
        torque_limit: torque_limit.nth(i),
        rate_limit: rate_limit.map(|first| first.nth(i)),
        unit: Unit::coordinate(joint.kind.is_angular(i)).rate,
    }));
    first..to.motors.len()
}

impl Motor {
    /// Returns true if the limit state is possible for this motor.
    pub fn can_have(&self, state: &MotorState) -> bool {
        self.rate_limit.is_some() || !state.rate.is_reached()
    }

    /// Returns true if the attitude servo of this body commands it.
    pub fn turns(&self, body: usize) -> bool {
        self.attitude.as_ref().is_some_and(|servo| servo.body == body)
    }

    /// Returns the torque (force) commanded by input and servos, N·m or N.
    fn commanded<S: Scalar>(&self, now: &Sensed<S>) -> S {
        let mut commanded = self.torque.map_or_else(S::zero, |input| now.inputs[input]);
        if let Some(servo) = &self.servo {
            commanded += servo.torque(now, (self.coordinate, self.rate));
        }
        if let Some(attitude) = &self.attitude {
            commanded += attitude.of_wheel(now, self.body);
        }
        commanded
    }

    /// Returns the least and the largest torque (force) at the rate `qd` in a limit state, N·m or
    /// N.
    fn torques<S: Scalar>(&self, parameters: &[S::Constant], qd: S, state: &MotorState) -> [S; 2] {
        let most = self.torque_limit.of(parameters);
        let limit = S::lift(most);
        let end = self.rate_limit.map_or(S::Constant::number(0.0), |id| id.of(parameters));
        let left = match (state.rate, state.is_beyond) {
            (Limit::Within, _) => return [-limit, limit],
            (side, false) => (S::lift(end) - qd * S::lift(side.sign())) * S::lift(most / (end * LAST)),
            (_, true) => S::zero(),
        };
        match state.rate {
            Limit::Above => [-limit, left],
            _ => [-left, limit],
        }
    }

    fn band(&self, now: &Sensed<f64>, state: &MotorState) -> Band {
        let [min, max] = self.torques(now.parameters, now.qd[self.rate], state);
        Band::new(min, max, HYSTERESIS * self.torque_limit.of(now.parameters))
    }

    /// Returns the event indicator of the rate, positive while its limit state is valid, and its
    /// hysteresis, rad/s or m/s.
    fn rate_indicator(&self, now: &Sensed<f64>, state: &MotorState) -> (f64, f64) {
        let Some(limit) = self.rate_limit else {
            return (1.0, 1.0);
        };
        let end = limit.of(now.parameters);
        let (qd, last, margin) = (now.qd[self.rate], (1.0 - LAST) * end, HYSTERESIS * end);
        let along = qd * state.rate.sign();
        let inside = match (state.rate, state.is_beyond) {
            (Limit::Within, _) => last - qd.abs(),
            (_, false) => (along - last).min(end - along),
            (_, true) => along - end,
        };
        (inside + margin, margin)
    }

    /// Returns `state` with the next limit state of the rate. An importer locates the indicator's
    /// zero to its tolerance only, so the state changes at half the hysteresis already.
    fn with_next_rate(&self, now: &Sensed<f64>, state: &MotorState) -> MotorState {
        let (indicator, margin) = self.rate_indicator(now, state);
        let Some(limit) = self.rate_limit.filter(|_| indicator <= 0.5 * margin) else {
            return *state;
        };
        let (end, qd) = (limit.of(now.parameters), now.qd[self.rate]);
        let passed = |bound: f64| qd.abs() > bound + 0.25 * margin;
        let is_last = passed((1.0 - LAST) * end) || passed(end);
        MotorState {
            rate: Limit::passed(is_last && qd >= 0.0, is_last),
            is_beyond: passed((1.0 - LAST) * end) && passed(end),
            ..*state
        }
    }

    /// Returns the torque (force) in a limit state, N·m or N.
    pub fn torque<S: Scalar>(&self, now: &Instant<S>, state: &MotorState) -> S {
        let [min, max] = self.torques(now.parameters, now.qd[self.rate], state);
        match state.torque {
            Limit::Within => self.commanded(&now.sensed()),
            Limit::Above => max,
            Limit::Below => min,
        }
    }

    /// Returns the limit state of the motor if it was `state` before.
    fn next(&self, now: &Sensed<f64>, state: &MotorState) -> MotorState {
        let next = self.with_next_rate(now, state);
        MotorState {
            torque: self.band(now, &next).next(self.commanded(now), state.torque),
            ..next
        }
    }

    /// Returns the event of reaching the rate limit; `None` without a limit.
    fn rate_reached(&self, now: &EventContext) -> Option<Event> {
        let limit = Amount {
            value: self.rate_limit?.of(now.sensed.parameters),
            unit: self.unit,
        };
        let rate = self.rate_name.clone();
        let what = Occurrence::RateLimitReached { rate, limit };
        Some(Event { t: now.t, what })
    }
}

impl Element for Motor {
    fn outputs(&self, _: &Spec, system: &System, to: &mut Outputs) {
        let joint = &system.bodies[self.body].joint.as_actuated();
        let what = format!(
            "torque (force) exerted by the motor of joint {}, within its limits",
            joint.name
        );
        to.continuous([quantity(joint, self.axis, "motor_torque", |units| units.force, what)]);
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        y.number(self.torque(&view.now, &view.now.motors[self.number]));
    }

    fn reads(&self) -> Reads {
        Reads::JOINT.when(self.servo.is_some() || self.rate_limit.is_some())
    }

    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        applied.tau[self.rate] += self.torque(now, &now.motors[self.number]);
    }

    fn resist<S: Scalar<Constant = S>>(&self, now: &Instant<S>, on: &mut impl FnMut(usize, Resistance<S>)) {
        let state = &now.motors[self.number];
        let in_last_rates = state.rate.is_reached() && !state.is_beyond && state.torque == state.rate;
        match (state.torque, &self.servo, self.rate_limit) {
            (Limit::Within, Some(servo), _) => on(self.rate, servo.resistance(&now.sensed())),
            (_, _, Some(end)) if in_last_rates => {
                let [most, end] = [self.torque_limit, end].map(|id| id.of(now.parameters));
                on(self.rate, Resistance::of(S::zero(), most / (end * S::lift(LAST))));
            }
            _ => {}
        }
    }
    fn indicator_count(&self) -> usize {
        2
    }

    fn watches(&self) -> Watched {
        Watched {
            inputs: true,
            ..Watched::default()
        }
    }

    /// Writes the indicators of torque and rate.
    fn indicate(&self, now: &EventContext, discrete: &Discrete, z: &mut Cursor<f64>) {
        let EventContext { sensed, .. } = now;
        let state = &discrete.motors[self.number];
        z.number(self.band(sensed, state).indicator(self.commanded(sensed), state.torque));
        z.number(self.rate_indicator(sensed, state).0);
    }

    fn update(&self, now: &EventContext, discrete: &mut Discrete, events: &mut Vec<Event>) -> bool {
        let state = &mut discrete.motors[self.number];
        let next = self.next(&now.sensed, state);
        if !state.rate.is_reached() && next.rate.is_reached() {
            events.extend(self.rate_reached(now));
        }
        replace(state, next)
    }
}
