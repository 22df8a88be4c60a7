//! Joints that a brake locks or a drive moves by a prescribed acceleration.

use super::{References, inputs};
use crate::Problem;
use crate::algebra::{Quaternion, Scalar, log};
use crate::dynamics::Applied;
use crate::elements::joint::{Field, JointTable, quantities};
use crate::elements::{Cursor, Element, Instant, Invariance, Outputs, Resistance, Values, View, report};
use crate::event::{Amount, Event, Occurrence};
use crate::spec::{self, JointMotion, JointType, Spec};
use crate::system::{Bound, Declarations, InputKind, Joint, ParamId, Quantity, System, Unit};

/// Joint whose motion is locked or prescribed, always or when commanded.
#[derive(Clone, Debug)]
pub struct Drive {
    /// Index of the joint's child body.
    pub body: usize,
    joint: Joint,
    command: Option<Command>,
    /// Index of the first input for prescribed accelerations, rad/s² or m/s².
    qdd: Option<usize>,
    tracking: Option<Tracking>,
}

/// Command that switches a joint's motion.
#[derive(Clone, Copy, Debug)]
struct Command {
    input: usize,
    /// Index among the motion commands of all joints.
    mode: usize,
}

/// Tracking law of a drive, `q̈ = q̈_in + kp (q_ref − q) + kd (q̇_ref − q̇)`: indices of the first
/// inputs and the first parameters.
#[derive(Clone, Copy, Debug)]
struct Tracking {
    q_ref: usize,
    qd_ref: usize,
    kp: ParamId,
    kd: ParamId,
    /// True if a task sets the references to the present state: the errors are zero.
    in_task: bool,
}

impl Command {
    /// Declares the command of a joint, `None` if the joint has one motion only. `mode` is the
    /// number of motion commands declared so far.
    fn declare(joint: &Joint, mode: usize, declare: &mut Declarations) -> Option<Self> {
        if joint.motions.len() < 2 {
            return None;
        }
        let (name, motions) = (&joint.name, joint.motions.iter());
        let ways: Vec<String> = motions.map(|way| format!("{} {}", way.number(), way.name())).collect();
        let what = format!("switches the motion of joint {name}: {}", ways.join(", "));
        let quantity = Quantity::new(format!("{name}.motion"), Unit::One, what);
        let input = declare.input(quantity, f64::from(joint.motion.number()), InputKind::Mode);
        Some(Self { input, mode })
    }
}

impl Tracking {
    fn declare(of: JointTable, written: &spec::Tracking, by: References, declare: &mut Declarations) -> Self {
        let kp = Field {
            name: "tracking_kp",
            place: "tracking.kp",
            unit: |_| Unit::PerSecond2,
            bound: Bound::NotNegative,
            what: "position gain of the drive",
        };
        let kd = Field {
            name: "tracking_kd",
            place: "tracking.kd",
            unit: |_| Unit::PerSecond,
            bound: Bound::NotNegative,
            what: "rate gain of the drive",
        };
        Self {
            q_ref: by.q_ref,
            qd_ref: by.qd_ref,
            kp: of.parameters(kp, &written.kp, declare),
            kd: of.parameters(kd, &written.kd, declare),
            in_task: of.in_task,
        }
    }
}

impl Drive {
    /// Declares the drive of a joint, `None` if the joint has none. `mode` is the number of motion
    /// commands declared so far.
    pub(super) fn declare(
        of: JointTable,
        mode: usize,
        references: Option<References>,
        declare: &mut Declarations,
    ) -> Option<Self> {
        let joint = of.joint;
        if !joint.is_drivable() {
            return None;
        }
        let qdd = joint.motions.contains(&JointMotion::Prescribed).then(|| {
            let what = format!("prescribed acceleration of joint {}", joint.name);
            inputs(quantities(joint, "qdd", |units| units.acceleration, &what), declare)
        });
        let command = Command::declare(joint, mode, declare);
        let tracking = of.written.tracking.as_ref().zip(references);
        let tracking = tracking.map(|(written, references)| Tracking::declare(of, written, references, declare));
        Some(Self {
            body: of.body,
            joint: joint.clone(),
            command,
            qdd,
            tracking,
        })
    }

    /// Returns the axis whose reference position is this input.
    pub(in crate::elements) fn axis_of(&self, input: usize) -> Option<usize> {
        let first = self.tracking.filter(|_| self.joint.kind.has_plain_positions())?.q_ref;
        (first..first + self.joint.nv).position(|slot| slot == input)
    }

    /// Returns true if the motion can be switched by a command.
    pub(in crate::elements) fn is_switched(&self) -> bool {
        self.command.is_some()
    }

    /// Returns the index among the motions of all switched joints, `None` without a command.
    pub fn mode(&self) -> Option<usize> {
        self.command.map(|command| command.mode)
    }

    /// Returns the motion at the start.
    pub fn motion(&self) -> JointMotion {
        self.joint.motion
    }

    /// Returns all motions of the joint, which a command can select.
    pub fn motions(&self) -> &[JointMotion] {
        &self.joint.motions
    }

    /// Returns the indices of the joint's rates.
    pub fn rates(&self) -> std::ops::Range<usize> {
        self.joint.v..self.joint.v + self.joint.nv
    }

    /// Returns true if the prescribed acceleration depends on the state.
    pub(in crate::elements) fn reads_state(&self) -> bool {
        self.tracking.is_some()
    }

    /// Returns the current motion; `motions` are those of all switched joints.
    pub fn motion_now(&self, motions: &[JointMotion]) -> JointMotion {
        self.command.map_or(self.joint.motion, |command| motions[command.mode])
    }

    /// Returns true if loads move the joint with the drive `of`; `motions` are those of all switched
    /// joints.
    pub(in crate::elements) fn leaves_to_loads(of: Option<&Self>, motions: &[JointMotion]) -> bool {
        of.is_none_or(|drive| drive.motion_now(motions) == JointMotion::Loads)
    }

    /// Returns the commanded motion, `None` without a command.
    ///
    /// # Errors
    /// Returns the command's value if it is not the number of one of the joint's motions.
    pub fn command(&self, inputs: &[f64]) -> Option<Result<JointMotion, f64>> {
        let command = inputs[self.command?.input];
        let is_commanded = |motion: &&JointMotion| f64::from(motion.number()) == command.round();
        Some(self.joint.motions.iter().find(is_commanded).copied().ok_or(command))
    }

    /// Returns the event of a command at `t` (s) that is rejected because the joint does not have
    /// that motion.
    pub fn refused(&self, command: f64, t: f64) -> Event {
        let what = Occurrence::CommandRefused {
            joint: self.joint.name.clone(),
            command,
            motions: self.joint.motions.clone(),
        };
        Event { t, what }
    }

    /// Returns the event of a change of motion at `t` (s); `qd` are the rates of the system before
    /// it.
    pub fn switched(&self, motion: JointMotion, qd: &[f64], t: f64) -> Event {
        let rate = |(i, v): (usize, usize)| Amount {
            value: qd[v],
            unit: Unit::coordinate(self.joint.kind.is_angular(i)).rate,
        };
        let what = Occurrence::MotionSwitched {
            joint: self.joint.name.clone(),
            motion,
            rates: self.rates().enumerate().map(rate).collect(),
        };
        Event { t, what }
    }

    /// Passes the tracking gains to `on`; see
    /// [`resist_as_drives`](crate::elements::Elements::resist_as_drives).
    pub(in crate::elements) fn resist_as_drive<S: Scalar<Constant = S>>(
        &self,
        now: &Instant<S>,
        on: &mut impl FnMut(usize, Resistance<S>),
    ) {
        let tracking = self.tracking.filter(|tracking| !tracking.in_task);
        if let (JointMotion::Prescribed, Some(tracking)) = (self.motion_now(now.motions), tracking) {
            for i in 0..self.joint.nv {
                let [kp, kd] = [tracking.kp, tracking.kd].map(|first| first.nth(i).of(now.parameters));
                on(self.joint.v + i, Resistance::of(kp, kd));
            }
        }
    }
}

impl Element for Drive {
    /// Reports a locked joint whose initial rate is not zero.
    fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        let Some(start) = self.joint.v_start.filter(|_| self.motion() == JointMotion::Locked) else {
            return;
        };
        for i in 0..self.joint.nv {
            let id = start.nth(i);
            if id.of(of.values) != 0.0 {
                let Quantity { name, unit, .. } = &of.declared[id.0].quantity;
                let what = format!(
                    "{name} = {}, but a locked joint starts at rest",
                    unit.of(id.of(of.values))
                );
                report(of.declared, id, problems, what);
            }
        }
    }

    fn outputs(&self, _: &Spec, _: &System, to: &mut Outputs) {
        let joint = &self.joint;
        let what = format!(
            "torque (force) exerted by the drive or the brake of joint {}",
            joint.name
        );
        to.invariant(
            Invariance::Galilean,
            quantities(joint, "drive", |units| units.force, &what),
        );
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        self.rates().for_each(|v| y.number(view.dynamics.drive[v]));
    }

    /// Sets whether the joint's motion is prescribed, and the derivatives of its rates.
    ///
    /// In maximal coordinates a rate of a locked joint violates a constraint; it is damped like all
    /// velocities that violate joints.
    #[inline]
    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let motion = self.motion_now(now.motions);
        applied.driven[self.body] = motion != JointMotion::Loads;
        for i in 0..self.joint.nv {
            applied.qdd[self.joint.v + i] = match (motion, self.qdd) {
                (JointMotion::Prescribed, Some(qdd)) => now.inputs[qdd + i],
                (JointMotion::Locked, _) => -now.qd[self.joint.v + i] * S::lift(now.kinematics.damping),
                _ => S::zero(),
            };
        }
        if let (JointMotion::Prescribed, Some(tracking)) = (motion, &self.tracking) {
            let q = &now.q[self.joint.q..];
            let turn = (self.joint.kind == JointType::Spherical).then(|| {
                let q_ref = Quaternion::from_slice(&now.inputs[tracking.q_ref..]);
                log(Quaternion::from_slice(q).conjugate() * q_ref)
            });
            for i in 0..self.joint.nv {
                let gain = |first: ParamId| S::lift(first.nth(i).of(now.parameters));
                let off = turn.map_or_else(|| now.inputs[tracking.q_ref + i] - q[i], |turn| turn[i]);
                let off_rate = now.inputs[tracking.qd_ref + i] - now.qd[self.joint.v + i];
                applied.qdd[self.joint.v + i] += gain(tracking.kp) * off + gain(tracking.kd) * off_rate;
            }
        }
    }
}
