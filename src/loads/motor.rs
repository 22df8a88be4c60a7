//! Actuators of joints: what the input and the servo ask for, within what the motor can give.

use super::band::{Band, HYSTERESIS};
use super::joint::numbers;
use super::servo::Servo;
use super::{AttitudeServo, Instant, Resistance, Sensed};
use crate::algebra::Scalar;
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

/// Part of the largest rate over which the torque falls to nothing.
const LAST: f64 = 1e-2;

/// Declares the motors of a joint's axes, of what asks them.
pub(super) fn declare(
    (body, joint): (usize, &Joint),
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
    /// Which limits it is at: of its torque, of its rate.
    pub const SIDES: usize = 2;

    /// The largest sides that it can have, which are the same below zero: ±1 of its torque, of its rate ±2 if that is limited.
    pub fn largest_sides(&self) -> [i32; Self::SIDES] {
        [1, self.rate_limit.map_or(0, |_| 2)]
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

    /// The least and the most that it can give at a rate on this side: 0 where all of the torque is there, ±1 among the last rates, ±2 beyond.
    fn torques<S: Scalar>(&self, parameters: &[f64], qd: S, rate_side: i32) -> [S; 2] {
        let most = self.torque_limit.of(parameters);
        let limit = S::lift(most);
        let end = self.rate_limit.map_or(0.0, |id| id.of(parameters));
        let left = match rate_side.abs() {
            0 => return [-limit, limit],
            1 => (S::lift(end) - qd * S::lift(f64::from(rate_side))) * S::lift(most / (LAST * end)),
            _ => S::zero(),
        };
        if rate_side > 0 { [-limit, left] } else { [-left, limit] }
    }

    fn band(&self, now: &Sensed<f64>, rate_side: i32) -> Band {
        let [min, max] = self.torques(now.parameters, now.qd[self.rate], rate_side);
        Band::new(min, max, HYSTERESIS * self.torque_limit.of(now.parameters))
    }

    /// Positive as long as the side of the rate is right; with the part of it that counts as nothing.
    fn rate_indicator(&self, now: &Sensed<f64>, side: i32) -> (f64, f64) {
        let Some(limit) = self.rate_limit else {
            return (1.0, 1.0);
        };
        let end = limit.of(now.parameters);
        let (qd, last, margin) = (now.qd[self.rate], (1.0 - LAST) * end, HYSTERESIS * end);
        let along = qd * f64::from(side.signum());
        let inside = match side.abs() {
            0 => last - qd.abs(),
            1 => (along - last).min(end - along),
            _ => along - end,
        };
        (inside + margin, margin)
    }

    /// The side of the rate, coming from that before: a host's root is a little before or after the indicator's zero.
    fn next_rate_side(&self, now: &Sensed<f64>, side: i32) -> i32 {
        let (indicator, margin) = self.rate_indicator(now, side);
        let Some(limit) = self.rate_limit.filter(|_| indicator <= 0.5 * margin) else {
            return side;
        };
        let (end, qd) = (limit.of(now.parameters), now.qd[self.rate]);
        let passed = |bound: f64| i32::from(qd.abs() > bound + 0.25 * margin);
        (passed((1.0 - LAST) * end) + passed(end)) * if qd < 0.0 { -1 } else { 1 }
    }

    /// What it gives, on these sides of its limits, N·m or N.
    pub fn torque<S: Scalar>(&self, now: &Instant<S>, sides: &[i32]) -> S {
        let [min, max] = self.torques(now.parameters, now.qd[self.rate], sides[1]);
        match sides[0] {
            0 => self.asked(&now.sensed()),
            side if side > 0 => max,
            _ => min,
        }
    }

    pub(super) fn add<S: Scalar>(&self, now: &Instant<S>, sides: &[i32], tau: &mut [S]) {
        tau[self.rate] += self.torque(now, sides);
    }

    /// Says how what it gives [resists](super::Loads::resist), on these sides of its limits.
    pub(super) fn resist(&self, now: &Instant<f64>, sides: &[i32], on: &mut impl FnMut(usize, Resistance)) {
        let last_rates = sides[1].abs() == 1 && sides[0].signum() == sides[1];
        match (sides[0], &self.servo, self.rate_limit) {
            (0, Some(servo), _) => on(self.rate, servo.resistance(&now.sensed())),
            (_, _, Some(end)) if last_rates => {
                let [most, end] = [self.torque_limit, end].map(|id| id.of(now.parameters));
                on(self.rate, Resistance::of(0.0, most / (LAST * end)));
            }
            _ => {}
        }
    }

    /// Positive as long as the sides are right.
    pub fn indicators(&self, now: &Sensed<f64>, sides: &[i32]) -> [f64; Self::SIDES] {
        [
            self.band(now, sides[1]).indicator(self.asked(now), sides[0]),
            self.rate_indicator(now, sides[1]).0,
        ]
    }

    /// The sides, coming from those before.
    pub fn next_sides(&self, now: &Sensed<f64>, sides: &[i32]) -> [i32; Self::SIDES] {
        let of_rate = self.next_rate_side(now, sides[1]);
        [self.band(now, of_rate).next_mode(self.asked(now), sides[0]), of_rate]
    }

    /// What to tell the user when it comes to its largest rate.
    pub fn message(&self, parameters: &[f64], t: f64) -> Option<String> {
        let limit = self.unit.of(self.rate_limit?.of(parameters));
        let rate = &self.rate_name;
        Some(format!("t = {t} s: {rate} comes to its motor's limit of {limit}"))
    }
}
