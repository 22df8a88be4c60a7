//! Servos of joints: commanded torques and feed-forward.

use super::attitude::AttitudeLaw;
use super::{Instant, Loads, Resistance, Sensed};
use crate::algebra::{Mask, Quaternion, Scalar, Vec3};
use crate::spec::JointMotion;
use crate::system::ParamId;
use std::ops::Range;

/// Servo of one axis, `τ = kp (q_ref − q) + kd (q̇_ref − q̇)` plus a feed-forward torque while the
/// switch is on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Servo {
    pub q_ref: usize,
    pub qd_ref: usize,
    pub switch: usize,
    pub gains: Gains,
    pub is_fed: bool,
}

/// Gains of a proportional-derivative law, `τ = kp e + kd ė`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gains {
    /// Proportional gain, N·m/rad or N/m.
    pub kp: ParamId,
    /// Derivative gain, N·m·s/rad or N·s/m.
    pub kd: ParamId,
}

impl Gains {
    /// Returns the torque (force) for an error (rad or m) and its rate, N·m or N.
    #[inline]
    pub fn torque<S: Scalar>(&self, parameters: &[f64], error: S, rate_error: S) -> S {
        error * S::lift(self.kp.of(parameters)) + rate_error * S::lift(self.kd.of(parameters))
    }
}

impl Servo {
    /// Returns the commanded torque (force) on the axis with this coordinate and rate, N·m or N.
    pub fn torque<S: Scalar>(&self, now: &Sensed<S>, (coordinate, rate): (usize, usize)) -> S {
        let inputs = now.inputs;
        let is_on = inputs[self.switch].exceeds(0.5);
        if !is_on.is_needed() {
            return S::zero();
        }
        let error = inputs[self.q_ref] - now.q[coordinate];
        let torque = self
            .gains
            .torque(now.parameters, error, inputs[self.qd_ref] - now.qd[rate]);
        let torque = match now.feed_forward.get(rate) {
            Some(&fed) if self.is_fed => torque + fed,
            _ => torque,
        };
        S::select(is_on, torque, S::zero())
    }

    /// Returns the tangent stiffness and damping while no motor limit is reached.
    pub fn resistance(&self, now: &Sensed<f64>) -> Resistance {
        let Gains { kp, kd } = self.gains;
        match now.inputs[self.switch] > 0.5 {
            true => Resistance::of(kp.of(now.parameters), kd.of(now.parameters)),
            false => Resistance::default(),
        }
    }
}

/// Servo of one axis without a motor, whose commanded torque acts directly.
#[derive(Clone, Copy, Debug)]
pub(super) struct AxisServo {
    pub coordinate: usize,
    pub rate: usize,
    pub law: Servo,
}

/// Servo of a spherical joint, in child axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct BallServo {
    pub coordinate: usize,
    pub rate: usize,
    pub law: AttitudeLaw,
}

/// Servo of a joint, for outputs and messages.
#[derive(Clone, Debug)]
pub struct JointServo {
    /// Index of the joint's child body.
    pub body: usize,
    pub(super) law: JointLaw,
    pub(super) fed: Option<Fed>,
}

/// Joint whose servo has a feed-forward torque: the inverse dynamics of the rigid spacecraft along
/// the reference.
#[derive(Clone, Debug)]
pub(crate) struct Fed {
    /// Index of the joint's child body.
    pub body: usize,
    /// Index of the first coordinate.
    pub coordinate: usize,
    /// Index of the first rate.
    pub rate: usize,
    /// Number of axes.
    pub axes: usize,
    /// Index of the first input of the reference positions; rates and accelerations below.
    pub q_ref: usize,
    pub qd_ref: usize,
    pub qdd_ref: usize,
    /// Index of the input that switches the servo.
    pub switch: usize,
    /// Index of the first torque input, if the joint has torque inputs.
    pub tau: Option<usize>,
    /// Indices of the joint's motors, if it has motors.
    pub motors: Option<Range<usize>>,
    /// Index of the joint's drive, if its motion can be prescribed or locked.
    pub drive: Option<usize>,
}

impl Fed {
    /// Returns true if the servo acts: it is on, and the joint is neither locked nor prescribed.
    pub fn is_on<S: Scalar>(&self, loads: &Loads, now: &Instant<S>) -> bool {
        let motion = self.drive.map(|drive| loads.drives[drive].motion_now(now.motions));
        now.inputs[self.switch].value() > 0.5 && motion.is_none_or(|motion| motion == JointMotion::Loads)
    }
}

#[derive(Clone, Debug)]
pub(super) enum JointLaw {
    Axes(Vec<AxisServo>),
    Ball(BallServo),
}

impl JointServo {
    /// Returns the axis whose reference position is this input.
    pub(super) fn axis_of(&self, input: usize) -> Option<usize> {
        match &self.law {
            JointLaw::Axes(axes) => axes.iter().position(|s| s.law.q_ref == input),
            JointLaw::Ball(_) => None,
        }
    }

    /// Returns true if the servo has a feed-forward torque.
    pub fn is_fed(&self) -> bool {
        self.fed.is_some()
    }

    /// Passes to `write` the error of each axis (rad or m; for a spherical joint the rotation
    /// vector in child axes), then the commanded torques (forces), N·m or N, then their
    /// feed-forward part.
    pub fn report<S: Scalar>(&self, now: &Instant<S>, mut write: impl FnMut(S)) {
        match &self.law {
            JointLaw::Axes(axes) => {
                axes.iter()
                    .for_each(|s| write(now.inputs[s.law.q_ref] - now.q[s.coordinate]));
                axes.iter().for_each(|s| write(s.torque(now)));
                if self.fed.is_some() {
                    axes.iter().for_each(|s| write(now.feed_forward[s.rate]));
                }
            }
            JointLaw::Ball(s) => {
                s.law
                    .error(&now.sensed(), Quaternion::from_slice(&now.q[s.coordinate..]))
                    .iter()
                    .for_each(|&e| write(e));
                s.torque(now).iter().for_each(|&torque| write(torque));
            }
        }
    }
}

impl AxisServo {
    pub fn torque<S: Scalar>(&self, now: &Instant<S>) -> S {
        self.law.torque(&now.sensed(), (self.coordinate, self.rate))
    }
}

impl BallServo {
    pub fn torque<S: Scalar>(&self, now: &Instant<S>) -> Vec3<S> {
        let w = Vec3::from_column_slice(&now.qd[self.rate..self.rate + 3]);
        self.law
            .moment(&now.sensed(), Quaternion::from_slice(&now.q[self.coordinate..]), &w)
    }
}
