//! Servos of joints: what they ask for.

use super::attitude::AttitudeLaw;
use super::{Instant, Loads, Resistance, Sensed};
use crate::algebra::{Quaternion, Scalar, Vec3};
use crate::spec::JointMotion;
use crate::system::ParamId;
use std::ops::Range;

/// `τ = kp (q_ref − q) + kd (q̇_ref − q̇)` while the switch is on, and what is fed forward.
#[derive(Clone, Copy, Debug)]
pub(super) struct Servo {
    pub q_ref: usize,
    pub qd_ref: usize,
    pub switch: usize,
    pub gains: Gains,
    pub is_fed: bool,
}

/// `τ = kp e + kd ė`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gains {
    /// N·m/rad or N/m.
    pub kp: ParamId,
    /// N·m·s/rad or N·s/m.
    pub kd: ParamId,
}

impl Gains {
    /// For this error (rad or m) and its rate, N·m or N.
    #[inline]
    pub fn torque<S: Scalar>(&self, parameters: &[f64], error: S, rate_error: S) -> S {
        error * S::lift(self.kp.of(parameters)) + rate_error * S::lift(self.kd.of(parameters))
    }
}

impl Servo {
    /// What it asks for on the axis with this coordinate and rate.
    pub fn torque<S: Scalar>(&self, now: &Sensed<S>, (coordinate, rate): (usize, usize)) -> S {
        let inputs = now.inputs;
        if inputs[self.switch].value() <= 0.5 {
            return S::zero();
        }
        let error = inputs[self.q_ref] - now.q[coordinate];
        let torque = self
            .gains
            .torque(now.parameters, error, inputs[self.qd_ref] - now.qd[rate]);
        match now.feed_forward.get(rate) {
            Some(&fed) if self.is_fed => torque + fed,
            _ => torque,
        }
    }

    /// How it resists, as long as its motor gives what it asks for.
    pub fn resistance(&self, now: &Sensed<f64>) -> Resistance {
        let Gains { kp, kd } = self.gains;
        match now.inputs[self.switch] > 0.5 {
            true => Resistance::of(kp.of(now.parameters), kd.of(now.parameters)),
            false => Resistance::default(),
        }
    }
}

/// A servo of one axis, whose motor gives all that it asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct AxisServo {
    pub coordinate: usize,
    pub rate: usize,
    pub law: Servo,
}

/// A servo of a spherical joint, in child axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct BallServo {
    pub coordinate: usize,
    pub rate: usize,
    pub law: AttitudeLaw,
}

/// The servo of a joint, as its user sees it.
#[derive(Clone, Debug)]
pub struct JointServo {
    /// Index of the body that the joint carries.
    pub body: usize,
    pub(super) law: JointLaw,
    pub(super) fed: Option<Fed>,
}

/// A joint whose servo asks beforehand for what the rigid craft would take to follow its reference.
#[derive(Clone, Debug)]
pub(crate) struct Fed {
    /// Index of the body that the joint carries.
    pub body: usize,
    /// First of its coordinates.
    pub coordinate: usize,
    /// First of its rates.
    pub rate: usize,
    /// How many it has.
    pub axes: usize,
    /// First inputs of its reference.
    pub q_ref: usize,
    pub qd_ref: usize,
    pub qdd_ref: usize,
    /// The input that switches the servo.
    pub switch: usize,
    /// First input of its torques, if there are some.
    pub tau: Option<usize>,
    /// Range of its motors among all, if it has some.
    pub motors: Option<Range<usize>>,
    /// The place of what drives or holds it at times.
    pub drive: Option<usize>,
}

impl Fed {
    /// Whether the servo acts: it is on, and neither a brake nor a drive moves the joint.
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
    /// The axis whose reference is this input.
    pub(super) fn axis_of(&self, input: usize) -> Option<usize> {
        match &self.law {
            JointLaw::Axes(axes) => axes.iter().position(|s| s.law.q_ref == input),
            JointLaw::Ball(_) => None,
        }
    }

    /// Whether it feeds forward.
    pub fn is_fed(&self) -> bool {
        self.fed.is_some()
    }

    /// By how much each axis is off its reference, rad or m; of a spherical joint a rotation vector in child axes. Then what the servo asks for, N·m or N, and what of it is fed forward.
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
