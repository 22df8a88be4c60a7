//! Servos of joints: commanded torques.

use super::{Fed, References};
use crate::algebra::{Lift, Mask, Quaternion, Scalar, Vec3};
use crate::dynamics::Applied;
use crate::elements::attitude_servo::AttitudeLaw;
use crate::elements::joint::{Field, JointTable, quantities};
use crate::elements::{Cursor, Element, Instant, Invariance, Outputs, Reads, Resistance, Sensed, View};
use crate::spec::{self, JointType, Spec};
use crate::system::{Bound, Declarations, InputKind, ParamId, Quantity, System, Unit};

/// Servo of one axis, `τ = kp (q_ref − q) + kd (q̇_ref − q̇)` plus a feed-forward torque while the
/// switch is on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Servo {
    pub q_ref: usize,
    pub qd_ref: usize,
    pub switch: usize,
    pub gains: Gains,
    pub has_feed_forward: bool,
    /// True if a task sets the references to the present state: the errors are zero.
    pub in_task: bool,
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
    /// Declares the gains of a joint's servo and returns those of the first axis.
    fn declare(of: JointTable, servo: &spec::Servo, declare: &mut Declarations) -> Self {
        let kp = Field {
            name: "kp",
            place: "servo.kp",
            unit: |units| units.stiffness,
            bound: Bound::NotNegative,
            what: "servo's proportional gain",
        };
        let kd = Field {
            name: "kd",
            place: "servo.kd",
            unit: |units| units.damping,
            bound: Bound::NotNegative,
            what: "servo's derivative gain",
        };
        Self {
            kp: of.parameters(kp, &servo.kp, declare),
            kd: of.parameters(kd, &servo.kd, declare),
        }
    }

    /// Returns the torque (force) for an error (rad or m) and its rate, N·m or N.
    #[inline]
    pub fn torque<S: Scalar>(&self, parameters: &[impl Lift<S>], error: S, rate_error: S) -> S {
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
    pub fn resistance<S: Scalar<Constant = S>>(&self, now: &Sensed<S>) -> Resistance<S> {
        let Gains { kp, kd } = self.gains;
        match self.in_task {
            true => Resistance::none(),
            false => Resistance::of(kp.of(now.parameters), kd.of(now.parameters))
                .only_where(now.inputs[self.switch].exceeds(0.5)),
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
    pub(in crate::elements) fed: Option<Fed>,
}

/// Law of a joint's servo.
#[derive(Clone, Debug)]
pub(super) enum JointLaw {
    Axes(Vec<AxisServo>),
    Ball(BallServo),
}

impl JointLaw {
    /// Declares the gains and the switch of a joint's servo and returns its law.
    pub fn declare(of: JointTable, servo: &spec::Servo, references: References, declare: &mut Declarations) -> Self {
        let (joint, name) = (of.joint, &of.joint.name);
        let References { q_ref, qd_ref, qdd_ref } = references;
        let Gains { kp, kd } = Gains::declare(of, servo, declare);
        let what = format!("switches joint {name}'s servo: on while above 0.5");
        let quantity = Quantity::new(format!("{name}.servo"), Unit::One, what);
        let switch = declare.input(quantity, f64::from(servo.on), InputKind::Switch);
        if joint.kind == JointType::Spherical {
            return Self::Ball(BallServo {
                coordinate: joint.q,
                rate: joint.v,
                law: AttitudeLaw {
                    q_ref,
                    w_ref: qd_ref,
                    switch: Some(switch),
                    kp,
                    kd,
                },
            });
        }
        let axis = |i: usize| AxisServo {
            coordinate: joint.q + i,
            rate: joint.v + i,
            law: Servo {
                q_ref: q_ref + i,
                qd_ref: qd_ref + i,
                switch,
                gains: Gains {
                    kp: kp.nth(i),
                    kd: kd.nth(i),
                },
                has_feed_forward: qdd_ref.is_some(),
                in_task: of.in_task,
            },
        };
        Self::Axes((0..joint.nv).map(axis).collect())
    }

    /// Returns the servos of the axes, none for a spherical joint.
    pub fn axes(&self) -> &[AxisServo] {
        match self {
            Self::Axes(axes) => axes,
            Self::Ball(_) => &[],
        }
    }

    /// Returns the servo of a spherical joint.
    pub fn ball(&self) -> Option<BallServo> {
        match self {
            Self::Axes(_) => None,
            Self::Ball(servo) => Some(*servo),
        }
    }
}

impl JointServo {
    /// Returns the axis whose reference position is this input.
    pub(in crate::elements) fn axis_of(&self, input: usize) -> Option<usize> {
        self.law.axes().iter().position(|s| s.law.q_ref == input)
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
        let q = Quaternion::from_slice(&now.q[self.coordinate..]);
        self.law.moment(now.parameters, now.inputs, q, &w)
    }
}

impl Element for JointServo {
    fn outputs(&self, _: &Spec, system: &System, to: &mut Outputs) {
        let joint = &system.bodies[self.body].joint.as_actuated();
        let name = &joint.name;
        let what = format!("servo error of joint {name}: reference minus position");
        to.continuous(quantities(joint, "servo_error", |units| units.position, &what));
        let what = format!("commanded torque (force) of the servo of joint {name}");
        let invariance = Invariance::Galilean.when(!self.has_feed_forward());
        to.invariant(
            invariance,
            quantities(joint, "servo_torque", |units| units.force, &what),
        );
        if self.has_feed_forward() {
            let what = format!(
                "feed-forward part of the servo torque (force) of joint {name}: inverse dynamics of the \
                rigid spacecraft"
            );
            to.continuous(quantities(joint, "feed_forward", |units| units.force, &what));
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
                y.vector(&s.law.error(now.inputs, q));
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

    fn resist<S: Scalar<Constant = S>>(&self, now: &Instant<S>, on: &mut impl FnMut(usize, Resistance<S>)) {
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

    fn resist<S: Scalar<Constant = S>>(&self, now: &Instant<S>, on: &mut impl FnMut(usize, Resistance<S>)) {
        let resistances = self.law.resistances(&now.sensed());
        for (i, resistance) in resistances.into_iter().enumerate() {
            on(self.rate + i, resistance);
        }
    }
}
