//! Actuators of joints: what the input and the servo ask for, within what the motor can give.

use super::band::{Band, HYSTERESIS, Limit};
use super::joint::numbers;
use super::servo::Servo;
use super::{AttitudeServo, Instant, Resistance, Sensed, Stored};
use crate::algebra::Scalar;
use crate::event::{Amount, Event, Occurrence};
use crate::spec;
use crate::system::{Bound, Declarations, Joint, ParamId, Unit};
use std::sync::Arc;

/// The motor of one axis of a joint. It gives what it is asked for up to its largest torque. Over the last part of its rates the largest torque that would raise the rate falls to nothing.
#[derive(Clone, Debug)]
pub struct Motor {
    /// Name of the axis's rate, for messages.
    rate_name: String,
    /// Index of the body that the joint carries.
    pub body: usize,
    coordinate: usize,
    rate: usize,
    torque: Option<usize>,
    servo: Option<Servo>,
    /// What holds the attitude of the body that it stands on by its wheel.
    pub(super) attitude: Option<Arc<AttitudeServo>>,
    torque_limit: ParamId,
    rate_limit: Option<ParamId>,
    unit: Unit,
}

/// Limit state of a motor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MotorState {
    /// Of its torque.
    pub torque: Limit,
    /// Of its rate: in the last part of its rates, or beyond them.
    pub rate: Limit,
    /// True if the rate is beyond its limit, where the motor does not drive.
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

/// Part of the largest rate over which the torque falls to nothing.
const LAST: f64 = 1e-2;

/// Declares the motors of a joint's axes, of what asks them.
pub(super) fn declare(
    body: usize,
    joint: &Joint,
    written: &spec::Motor,
    asked: impl Fn(usize) -> (Option<usize>, Option<Servo>),
    declare: &mut Declarations,
) -> Vec<Motor> {
    let units = |i| Unit::coordinate(joint.kind.is_angular(i));
    let torque_limit = numbers(
        joint,
        declare,
        ["torque_limit", "motor.torque_limit"],
        &written.torque_limit,
        |i| units(i).force,
        Bound::Positive,
        "largest torque (force) of the motor",
    );
    let rate_limit = written.rate_limit.as_ref().map(|limit| {
        let what = "rate above which the motor does not drive,";
        numbers(
            joint,
            declare,
            ["rate_limit", "motor.rate_limit"],
            limit,
            |i| units(i).rate,
            Bound::Positive,
            what,
        )
    });
    let nth = |id: ParamId, i: usize| ParamId(id.0 + i);
    let motor = |i: usize| {
        let (torque, servo) = asked(i);
        Motor {
            rate_name: joint.quantity_name("qd", i),
            body,
            coordinate: joint.q + i,
            rate: joint.v + i,
            torque,
            servo,
            attitude: None,
            torque_limit: nth(torque_limit, i),
            rate_limit: rate_limit.map(|id| nth(id, i)),
            unit: units(i).rate,
        }
    };
    (0..joint.nv).map(motor).collect()
}

impl Motor {
    /// Number of event indicators.
    pub const INDICATORS: usize = 2;

    /// True if a run can have this state.
    pub fn can_have(&self, state: &MotorState) -> bool {
        self.rate_limit.is_some() || !state.rate.is_reached()
    }

    /// Whether what it is asked for depends on the state.
    pub(super) fn reads_state(&self) -> bool {
        self.servo.is_some() || self.rate_limit.is_some()
    }

    /// What input and servos ask for, N·m or N.
    fn asked<S: Scalar>(&self, now: &Sensed<S>) -> S {
        let mut asked = self.torque.map_or_else(S::zero, |input| now.inputs[input]);
        if let Some(servo) = &self.servo {
            asked += servo.torque(now, (self.coordinate, self.rate));
        }
        if let Some(attitude) = &self.attitude {
            asked += attitude.of_wheel(now, self.body);
        }
        asked
    }

    /// Least and largest torque (force) at a rate in this state.
    fn torques<S: Scalar>(&self, parameters: &[f64], qd: S, state: &MotorState) -> [S; 2] {
        let most = self.torque_limit.of(parameters);
        let limit = S::lift(most);
        let end = self.rate_limit.map_or(0.0, |id| id.of(parameters));
        let left = match (state.rate, state.is_beyond) {
            (Limit::Within, _) => return [-limit, limit],
            (side, false) => (S::lift(end) - qd * S::lift(side.sign())) * S::lift(most / (LAST * end)),
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

    /// Positive as long as the state of the rate is right; with its hysteresis.
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

    /// The state with the rate's part after that of `state`: an importer's root is a little before or
    /// after the indicator's zero.
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

    /// Its torque (force) in this limit state, N·m or N.
    pub fn torque<S: Scalar>(&self, now: &Instant<S>, state: &MotorState) -> S {
        let [min, max] = self.torques(now.parameters, now.qd[self.rate], state);
        match state.torque {
            Limit::Within => self.asked(&now.sensed()),
            Limit::Above => max,
            Limit::Below => min,
        }
    }

    pub(super) fn add<S: Scalar>(&self, now: &Instant<S>, state: &MotorState, tau: &mut [S]) {
        tau[self.rate] += self.torque(now, state);
    }

    /// Adds its [tangent stiffness and damping](super::Loads::resist) in this limit state.
    pub(super) fn resist(&self, now: &Instant<f64>, state: &MotorState, on: &mut impl FnMut(usize, Resistance)) {
        let in_last_rates = state.rate.is_reached() && !state.is_beyond && state.torque == state.rate;
        match (state.torque, &self.servo, self.rate_limit) {
            (Limit::Within, Some(servo), _) => on(self.rate, servo.resistance(&now.sensed())),
            (_, _, Some(end)) if in_last_rates => {
                let [most, end] = [self.torque_limit, end].map(|id| id.of(now.parameters));
                on(self.rate, Resistance::of(0.0, most / (LAST * end)));
            }
            _ => {}
        }
    }

    /// Event indicators, positive as long as the limit state is right.
    pub fn indicators(&self, now: &Sensed<f64>, state: &MotorState) -> [f64; Self::INDICATORS] {
        [
            self.band(now, state).indicator(self.asked(now), state.torque),
            self.rate_indicator(now, state).0,
        ]
    }

    /// The limit state after `state`.
    pub fn next(&self, now: &Sensed<f64>, state: &MotorState) -> MotorState {
        let next = self.with_next_rate(now, state);
        MotorState {
            torque: self.band(now, &next).next(self.asked(now), state.torque),
            ..next
        }
    }

    /// The event of reaching the rate's limit at `t` (s); none without one.
    pub fn rate_reached(&self, parameters: &[f64], t: f64) -> Option<Event> {
        let limit = Amount {
            value: self.rate_limit?.of(parameters),
            unit: self.unit,
        };
        let rate = self.rate_name.clone();
        let what = Occurrence::RateLimitReached { rate, limit };
        Some(Event { t, what })
    }
}
