//! Servos of joints: commanded torques and feed-forward.

use super::attitude_servo::AttitudeLaw;
use super::joint::{References, nth, numbers};
use super::{Cursor, Element, Elements, Instant, Invariance, Outputs, Reads, Resistance, Sensed, View};
use crate::algebra::{Mask, Quaternion, Scalar, Vec3};
use crate::dynamics::Applied;
use crate::spec::{self, JointMotion, JointType, Spec};
use crate::system::{Bound, Declarations, Joint, ParamId, Quantity, System, Unit};
use std::ops::Range;

/// Servo of one axis, `τ = kp (q_ref − q) + kd (q̇_ref − q̇)` plus a feed-forward torque while the
/// switch is on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Servo {
    pub q_ref: usize,
    pub qd_ref: usize,
    pub switch: usize,
    pub gains: Gains,
    pub has_feed_forward: bool,
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
            Some(&fed) if self.has_feed_forward => torque + fed,
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
pub(crate) struct AxisServo {
    pub coordinate: usize,
    pub rate: usize,
    pub law: Servo,
}

/// Servo of a spherical joint, in child axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BallServo {
    pub coordinate: usize,
    pub rate: usize,
    pub law: AttitudeLaw,
}

/// Servo of a joint: its outputs, and its feed-forward torque if it has one.
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
    pub fn is_on<S: Scalar>(&self, loads: &Elements, now: &Instant<S>) -> bool {
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
    fn has_feed_forward(&self) -> bool {
        self.fed.is_some()
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

/// Declares the gains of a joint's servo.
pub(super) fn declare_gains(joint: &Joint, servo: &spec::Servo, declare: &mut Declarations) -> Gains {
    let units = |i| Unit::coordinate(joint.kind.is_angular(i));
    Gains {
        kp: numbers(
            joint,
            declare,
            ["kp", "servo.kp"],
            &servo.kp,
            |i| units(i).stiffness,
            Bound::NotNegative,
            "servo's proportional gain",
        ),
        kd: numbers(
            joint,
            declare,
            ["kd", "servo.kd"],
            &servo.kd,
            |i| units(i).damping,
            Bound::NotNegative,
            "servo's derivative gain",
        ),
    }
}

/// Joint with a servo in the spec, and the variables that have been declared for it.
pub(super) struct Declared<'a> {
    pub body: usize,
    pub joint: &'a Joint,
    pub written: &'a spec::Joint,
    /// Gains of the first axis.
    pub gains: Gains,
    pub references: References,
    /// Index of the first torque input.
    pub torque: Option<usize>,
}

/// Creates the servo of a joint and returns those of its axes, which act directly or through a
/// motor; none for a spherical joint, whose servo acts directly.
pub(super) fn declare(of: Declared, to: &mut Elements, declare: &mut Declarations) -> Vec<AxisServo> {
    let Declared {
        body,
        joint,
        written,
        gains,
        references,
        torque,
    } = of;
    let (name, Gains { kp, kd }) = (&joint.name, gains);
    let References { q_ref, qd_ref, qdd_ref } = references;
    let on = written.servo.as_ref().is_some_and(|servo| servo.on);
    let what = format!("switches joint {name}'s servo: on above 0.5");
    let quantity = Quantity::new(format!("{name}.servo"), Unit::One, what);
    let switch = declare.input(quantity, f64::from(on), true);
    if joint.kind == JointType::Spherical {
        let law = AttitudeLaw {
            q_ref,
            w_ref: qd_ref,
            switch,
            kp,
            kd,
        };
        let (coordinate, rate) = (joint.q, joint.v);
        let servo = BallServo { coordinate, rate, law };
        to.ball_servos.push(servo);
        to.joint_servos.push(JointServo {
            body,
            law: JointLaw::Ball(servo),
            fed: None,
        });
        return Vec::new();
    }
    let axis = |i: usize| AxisServo {
        coordinate: joint.q + i,
        rate: joint.v + i,
        law: Servo {
            q_ref: q_ref + i,
            qd_ref: qd_ref + i,
            switch,
            gains: Gains {
                kp: nth(kp, i),
                kd: nth(kd, i),
            },
            has_feed_forward: qdd_ref.is_some(),
        },
    };
    let axes: Vec<AxisServo> = (0..joint.nv).map(axis).collect();
    let motors = to.motors.len()..to.motors.len() + joint.nv;
    to.joint_servos.push(JointServo {
        body,
        law: JointLaw::Axes(axes.clone()),
        fed: qdd_ref.map(|qdd_ref| Fed {
            body,
            coordinate: joint.q,
            rate: joint.v,
            axes: joint.nv,
            q_ref,
            qd_ref,
            qdd_ref,
            switch,
            tau: torque,
            motors: written.motor.as_ref().map(|_| motors),
            drive: joint.is_drivable().then_some(to.drives.len()),
        }),
    });
    axes
}

impl Element for JointServo {
    fn outputs(&self, _: &Spec, system: &System, to: &mut Outputs) {
        let joint = &system.bodies[self.body].joint;
        let name = &joint.name;
        let units = |i| Unit::coordinate(joint.kind.is_angular(i));
        let each = |field: &str, unit: &dyn Fn(usize) -> Unit, what: &str| {
            let quantity = |i| Quantity::new(joint.quantity_name(field, i), unit(i), what);
            (0..joint.nv).map(quantity).collect::<Vec<_>>()
        };
        let what = format!("servo error of joint {name}: reference minus position");
        to.continuous(each("servo_error", &|i| units(i).position, &what));
        let what = format!("commanded torque (force) of the servo of joint {name}");
        let invariance = Invariance::Galilean.when(!self.has_feed_forward());
        to.invariant(invariance, each("servo_torque", &|i| units(i).force, &what));
        if self.has_feed_forward() {
            let what = format!(
                "feed-forward part of the servo torque (force) of joint {name}: inverse dynamics of the \
                rigid spacecraft"
            );
            to.continuous(each("feed_forward", &|i| units(i).force, &what));
        }
    }

    /// For a spherical joint, the error is the rotation vector in child axes.
    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let now = &view.now;
        match &self.law {
            JointLaw::Axes(axes) => {
                for s in axes {
                    y.number(now.inputs[s.law.q_ref] - now.q[s.coordinate]);
                }
                axes.iter().for_each(|s| y.number(s.torque(now)));
                for s in axes.iter().filter(|_| self.has_feed_forward()) {
                    y.number(now.feed_forward[s.rate]);
                }
            }
            JointLaw::Ball(s) => {
                let q = Quaternion::from_slice(&now.q[s.coordinate..]);
                y.vector(&s.law.error(&now.sensed(), q));
                y.vector(&s.torque(now));
            }
        }
    }

    fn reads(&self) -> Reads {
        Reads::MOTION.when(self.has_feed_forward())
    }

    /// Feed-forward reads the same loads as the accelerations.
    fn reads_world(&self, _: &System) -> bool {
        false
    }
}

impl Element for AxisServo {
    fn reads(&self) -> Reads {
        Reads::JOINT
    }

    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        applied.tau[self.rate] += self.torque(now);
    }

    fn resist(&self, now: &Instant<f64>, on: &mut impl FnMut(usize, Resistance)) {
        on(self.rate, self.law.resistance(&now.sensed()));
    }
}

impl Element for BallServo {
    fn reads(&self) -> Reads {
        Reads::JOINT
    }

    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let moment = self.torque(now);
        for (tau, moment) in applied.tau[self.rate..].iter_mut().zip(&moment) {
            *tau += *moment;
        }
    }

    fn resist(&self, now: &Instant<f64>, on: &mut impl FnMut(usize, Resistance)) {
        let resistances = self.law.resistances(&now.sensed());
        for (i, resistance) in resistances.into_iter().enumerate() {
            on(self.rate + i, resistance);
        }
    }
}
