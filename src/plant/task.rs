//! Task-space control: the motion of frames on the spacecraft with undeformed bodies, from which
//! tasks compute the accelerations of their joints.

use super::feed_forward::FeedForward;
use super::model::Model;
use crate::Error;
use crate::algebra::{Quaternion, Scalar, Twist, Vec3};
use crate::elements::{Instant, Pursuit, Task, TaskState};
use crate::spec::JointMotion;
use crate::system::{Configuration, FrameRef, JointState, Kinematics};

/// Workspace of all tasks, with the results of their laws.
#[derive(Clone, Debug)]
pub(super) struct Tasks<S: Scalar> {
    of: Vec<Commanded<S>>,
    /// Results, in the order of the tasks.
    pub states: Vec<TaskState<S>>,
}

/// Workspace of one task, one entry for each axis.
#[derive(Clone, Debug)]
struct Commanded<S: Scalar> {
    actuators: Vec<Actuator>,
    /// Columns of the Jacobian, angular first, axes of the reference.
    columns: Vec<[S; 6]>,
    qdd: Vec<S>,
}

/// Indices of a joint's drive among the drives and of its servo among those with feed-forward.
#[derive(Clone, Copy, Debug)]
struct Actuator {
    drive: Option<usize>,
    fed: Option<usize>,
}

impl Actuator {
    /// Returns true if the joint has the commanded acceleration.
    fn acts<S: Scalar>(self, model: &Model, now: &Instant<S>) -> bool {
        let elements = &model.elements;
        let drives = |drive: usize| elements.drives[drive].motion_now(now.motions) == JointMotion::Prescribed;
        let fed = |fed: usize| elements.fed().nth(fed).is_some_and(|fed| fed.is_on(elements, now));
        self.drive.is_some_and(drives) || self.fed.is_some_and(fed)
    }
}

/// Velocity and acceleration of the origin of a frame, with angular velocity and acceleration.
struct Moving<S: Scalar> {
    p: Vec3<S>,
    V: Twist<S>,
    A: Twist<S>,
}

impl<S: Scalar> Tasks<S> {
    /// Allocates the workspace; `None` if the model has no tasks.
    pub fn new(model: &Model) -> Option<Box<Self>> {
        let elements = &model.elements;
        if elements.tasks.is_empty() {
            return None;
        }
        let commanded = |task: &Task| Commanded {
            actuators: (task.axes.iter())
                .map(|axis| Actuator {
                    drive: elements.drives.iter().position(|drive| drive.body == axis.body),
                    fed: elements.fed().position(|fed| fed.body == axis.body),
                })
                .collect(),
            columns: vec![[S::zero(); 6]; task.axes.len()],
            qdd: vec![S::zero(); task.axes.len()],
        };
        Some(Box::new(Self {
            of: elements.tasks.iter().map(commanded).collect(),
            states: vec![TaskState::default(); elements.tasks.len()],
        }))
    }

    /// Computes the joints' references among the `inputs` at the instant `now`, whose own inputs are
    /// not read.
    ///
    /// # Errors
    /// Those of a feed-forward.
    pub fn command(
        &mut self,
        model: &Model,
        twin: &mut FeedForward<S>,
        now: Instant<S>,
        inputs: &mut [S],
    ) -> Result<(), Error> {
        let tasks = &model.elements.tasks;
        let joints = JointState { q: now.q, qd: now.qd };
        tasks.iter().for_each(|task| task.begin(joints, inputs));
        let now = Instant {
            inputs: &*inputs,
            ..now
        };
        twin.update(model, &now)?;
        for ((task, commanded), state) in tasks.iter().zip(&mut self.of).zip(&mut self.states) {
            *state = commanded.update(model, task, twin, &now);
        }
        for (task, commanded) in tasks.iter().zip(&self.of) {
            task.finish(&commanded.qdd, inputs);
        }
        Ok(())
    }
}

impl<S: Scalar> Commanded<S> {
    /// Computes the accelerations of a task's axes. The `twin` has zero accelerations of the axes
    /// of all tasks; its accelerations are overwritten.
    fn update(&mut self, model: &Model, task: &Task, twin: &mut FeedForward<S>, now: &Instant<S>) -> TaskState<S> {
        let at = Self::motion(task, twin, now);
        self.jacobian(model, task, twin, now);
        task.command(&now.sensed(), &at, &mut self.columns, &mut self.qdd)
    }

    /// Returns the pose of the frame on the spacecraft itself, and its motion on the twin.
    fn motion(task: &Task, twin: &FeedForward<S>, now: &Instant<S>) -> Pursuit<S> {
        let at = Configuration {
            kinematics: &twin.kinematics,
            ..now.configuration()
        };
        let [T, R] = task
            .frames
            .map(|frame| moving(at, frame, &twin.dynamics.A, &twin.qdd, true));
        let [r, v] = [T.p - R.p, T.V.v - R.V.v];
        let (w, R_WR) = (R.V.w, at.arm(task.frames[1]).R);
        let v = v - w.cross(&r);
        let a = T.A.v - R.A.v - R.A.w.cross(&r) - w.cross(&w.cross(&r)) - w.cross(&v) * S::lift(2.0);
        let w_rel = T.V.w - w;
        let alpha = T.A.w - R.A.w - w.cross(&w_rel);
        let [T, R] = task.frames.map(|frame| now.configuration().pose(frame));
        Pursuit {
            r: R.R.tr_mul(&(T.p - R.p)),
            q: Quaternion::from_rotation(&R.R.tr_mul(&T.R)),
            V: Twist::new(R_WR.tr_mul(&w_rel), R_WR.tr_mul(&v)),
            A: Twist::new(R_WR.tr_mul(&alpha), R_WR.tr_mul(&a)),
        }
    }

    /// Fills the columns of the Jacobian: the accelerations of the frame relative to the reference
    /// for unit accelerations of the axes, with the reaction of all bodies; attitudes with
    /// feed-forward are held.
    fn jacobian(&mut self, model: &Model, task: &Task, twin: &mut FeedForward<S>, now: &Instant<S>) {
        let FeedForward {
            kinematics,
            applied,
            dynamics,
            qdd,
            ..
        } = twin;
        let at = Configuration {
            kinematics: &*kinematics,
            ..now.configuration()
        };
        let R_WR = at.arm(task.frames[1]).R;
        applied.clear();
        for ((axis, actuator), column) in task.axes.iter().zip(&self.actuators).zip(&mut self.columns) {
            column.fill(S::zero());
            if !actuator.acts(model, now) {
                continue;
            }
            dynamics.respond_to_drive(at, applied, axis.rate, qdd);
            let attitudes = model.elements.fed_attitudes().filter(|servo| servo.is_on(now.inputs));
            let mut is_held = false;
            for servo in attitudes {
                is_held |= dynamics.turn(servo.body, &Vec3::zeros()).is_ok();
            }
            if is_held {
                dynamics.carry_on(at, qdd);
            }
            let [T, R] = task.frames.map(|frame| moving(at, frame, &dynamics.A, qdd, false));
            let r = T.p - R.p;
            let (w, v) = (T.A.w - R.A.w, T.A.v - R.A.v - R.A.w.cross(&r));
            *column = Twist::new(R_WR.tr_mul(&w), R_WR.tr_mul(&v)).to_array();
        }
    }
}

/// Returns position and motion of the origin of a frame, with the accelerations `A` and `qdd` of
/// bodies and rates, and those of the velocities if `with_bias` is true.
fn moving<S: Scalar>(at: Configuration<S>, frame: FrameRef, A: &[Twist<S>], qdd: &[S], with_bias: bool) -> Moving<S> {
    let (system, kinematics): (_, &Kinematics<S>) = (at.system, at.kinematics);
    let (on, arm) = (system.carrier(frame), at.arm(frame).p);
    let carrier = kinematics.carrier(on);
    let mut A = kinematics.beyond_bias_of(system, on, A, qdd).shift(&arm);
    if with_bias {
        A = A + carrier.A_bias.shift(&arm);
        A.v += carrier.V_WB.w.cross(&carrier.V_WB.w.cross(&arm));
    }
    Moving {
        p: carrier.p_WB + arm,
        V: carrier.V_WB.shift(&arm),
        A,
    }
}
