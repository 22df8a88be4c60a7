//! Actuators of joints: what the input and the servo ask for, within what the motor can give.

use super::band::Band;
use super::joint::{Servo, numbers};
use super::{AttitudeServo, Instant, Sensed};
use crate::algebra::Scalar;
use crate::spec;
use crate::system::{Bound, Declarations, Joint, ParamId, Unit};
use std::sync::Arc;

/// The motor of one axis of a joint. It gives what it is asked for up to its largest torque; above its largest rate nothing that would raise it.
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

/// Part of a limit by which a number has to pass it.
const HYSTERESIS: f64 = 1e-9;
/// Part of the largest rate by which it has to fall before the motor pushes again.
const BACK: f64 = 1e-3;

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

    /// Whether what it is asked for depends on the state.
    pub(super) fn reads_state(&self) -> bool {
        self.servo.is_some()
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

    /// What it can give, with the rate on this side of its limits.
    fn torques(&self, parameters: &[f64], rate_side: i32) -> Band {
        let limit = self.torque_limit.of(parameters);
        let [down, up] = [-1, 1].map(|side| if rate_side == side { 0.0 } else { limit });
        Band::new(-down, up, HYSTERESIS * limit)
    }

    /// The rates between which it drives both ways, if they are limited.
    fn rates(&self, parameters: &[f64]) -> Option<Band> {
        let limit = self.rate_limit?.of(parameters);
        Some(Band {
            back: BACK * limit,
            ..Band::new(-limit, limit, HYSTERESIS * limit)
        })
    }

    /// What it gives, on these sides of its limits, N·m or N.
    pub fn torque<S: Scalar>(&self, now: &Instant<S>, sides: &[i32]) -> S {
        let asked = self.asked(&now.sensed());
        self.torques(now.parameters, sides[1]).clipped(asked, sides[0])
    }

    pub(super) fn add<S: Scalar>(&self, now: &Instant<S>, sides: &[i32], tau: &mut [S]) {
        tau[self.rate] += self.torque(now, sides);
    }

    /// Positive as long as the sides are right.
    pub fn indicators(&self, now: &Sensed<f64>, sides: &[i32]) -> [f64; Self::SIDES] {
        let rate = self.rates(now.parameters);
        [
            self.torques(now.parameters, sides[1])
                .indicator(self.asked(now), sides[0]),
            rate.map_or(1.0, |band| band.indicator(now.qd[self.rate], sides[1])),
        ]
    }

    /// The sides, coming from those before.
    pub fn next_sides(&self, now: &Sensed<f64>, sides: &[i32]) -> [i32; Self::SIDES] {
        let of_rate = self.rates(now.parameters);
        let of_rate = of_rate.map_or(0, |band| band.next_mode(now.qd[self.rate], sides[1]));
        let torques = self.torques(now.parameters, of_rate);
        [torques.next_mode(self.asked(now), sides[0]), of_rate]
    }

    /// What to tell the user when it has reached its largest rate.
    pub fn message(&self, parameters: &[f64], t: f64) -> Option<String> {
        let limit = self.unit.of(self.rate_limit?.of(parameters));
        let rate = &self.rate_name;
        Some(format!(
            "t = {t} s: {rate} has reached its motor's limit of {limit}: it does not drive on"
        ))
    }
}
