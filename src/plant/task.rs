//! Task-space control: the motion of frames on the spacecraft with undeformed bodies, from which
//! tasks compute the accelerations of their joints.

use super::feed_forward::{At, FeedForward};
use super::model::Model;
use crate::Error;
use crate::algebra::fused::{cross, product_back, rotated_back};
use crate::algebra::{Mat3, Quaternion, Scalar, Twist, Vec3, Wrench};
use crate::elements::{Instant, RelativeMotion, Samples, Task, TaskState};
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
    /// Left singular vector of its smallest singular value. A record takes that of the evaluation.
    direction: Option<[f64; 6]>,
    /// Motion of the frame at zero accelerations of the axes of all tasks.
    at: RelativeMotion<S>,
    /// Sum of the measured wrenches, in axes of the frame.
    wrench: Wrench<S>,
    qdd: Vec<S>,
}

/// Indices of a joint's drive among the drives and of its servo among those with feed-forward.
#[derive(Clone, Copy, Debug)]
struct Actuator {
    drive: Option<usize>,
    fed: Option<usize>,
}

impl Actuator {
    /// Returns `value` if the joint has the commanded acceleration, else zero. The switch of a
    /// servo selects, so that dependencies on it are traced.
    fn select<S: Scalar>(self, model: &Model, now: &Instant<S>, value: impl FnOnce() -> [S; 6]) -> [S; 6] {
        let (elements, zero) = (&model.elements, [S::zero(); 6]);
        let motion = self.drive.map(|drive| elements.drives[drive].motion_now(now.motions));
        match (motion, self.fed.and_then(|fed| elements.fed().nth(fed))) {
            (Some(JointMotion::Prescribed), _) => value(),
            (None | Some(JointMotion::Loads), Some(fed)) => {
                let is_on = now.inputs[fed.switch].exceeds(0.5);
                // A servo that is off has no driven axis, whose response could be computed.
                if !fed.is_on(elements, now) {
                    return zero;
                }
                value().map(|entry| S::select(is_on, entry, S::zero()))
            }
            _ => zero,
        }
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
            direction: None,
            at: RelativeMotion::rest(),
            wrench: Wrench::zero(),
            qdd: vec![S::zero(); task.axes.len()],
        };
        Some(Box::new(Self {
            of: elements.tasks.iter().map(commanded).collect(),
            states: vec![TaskState::default(); elements.tasks.len()],
        }))
    }

    /// Computes the joints' references among the `inputs` at the instant `now`, whose own inputs
    /// are not read. Overwrites the `rigid` model. A task with `samples` has the results of the
    /// last one.
    ///
    /// # Errors
    /// Those of the rigid model and of the laws.
    pub fn command(
        &mut self,
        model: &Model,
        rigid: &mut FeedForward<S>,
        now: Instant<S>,
        samples: &[Samples],
        inputs: &mut [S],
    ) -> Result<(), Error> {
        let now = begin(model, now, inputs);
        self.measure(model, &mut rigid.measured, &now, samples);
        let (rigid, mut kept) = match &mut rigid.kept {
            Some(kept) => {
                kept.rigid.measured.copy_from_slice(&rigid.measured);
                (&mut kept.rigid, Some(&mut kept.solutions))
            }
            None => (rigid, None),
        };
        if computed(samples, model).next().is_some() {
            rigid.update(model, &now, At::Present)?;
            if let Some(kept) = &mut kept {
                kept.begin(rigid, now.inputs);
            }
        }
        // Each Jacobian overwrites the accelerations that all motions read.
        self.move_frames(model, rigid, &now, samples);
        rigid.applied.clear();
        match kept {
            Some(kept) => self.jacobians(model, rigid, &now, samples, |rigid, task, rate| {
                rigid.respond_to_drive(model, &now, rate);
                kept.add(rigid);
                rigid.accelerations_of(&model.system, task)
            }),
            None => self.jacobians(model, rigid, &now, samples, |rigid, task, rate| {
                rigid.respond_to_drive(model, &now, rate);
                rigid.accelerations_of(&model.system, task)
            }),
        }
        self.compute(model, &now, samples)?;
        self.finish(model, inputs);
        Ok(())
    }

    /// Sets the `measured` wrenches of all tasks, and the results of those with `samples`.
    pub fn measure(&mut self, model: &Model, measured: &mut [Wrench<S>], now: &Instant<S>, samples: &[Samples]) {
        let mut rest = measured;
        for (k, (task, samples)) in model.elements.tasks.iter().zip(samples).enumerate() {
            let (measured, others) = rest.split_at_mut(task.sensors().len());
            rest = others;
            if samples.are_taken() {
                self.recall(k, measured, &samples.held);
                continue;
            }
            for (sensor, measured) in task.sensors().iter().zip(measured.iter_mut()) {
                *measured = sensor.wrench(now, &model.elements);
            }
            self.of[k].wrench = measured.iter().fold(Wrench::zero(), |sum, &F| sum + F);
        }
    }

    /// Computes the motions of the frames with the accelerations of the `rigid` model.
    pub fn move_frames(&mut self, model: &Model, rigid: &FeedForward<S>, now: &Instant<S>, samples: &[Samples]) {
        for k in computed(samples, model) {
            self.of[k].at = motion(&model.elements.tasks[k], rigid, now);
        }
    }

    /// Computes the columns of the Jacobians from the accelerations of the carriers of the frames
    /// for the derivative 1 of a rate, with the reaction of all bodies, which `respond` computes;
    /// attitudes with feed-forward are held.
    pub fn jacobians(
        &mut self,
        model: &Model,
        rigid: &mut FeedForward<S>,
        now: &Instant<S>,
        samples: &[Samples],
        mut respond: impl FnMut(&mut FeedForward<S>, &Task, usize) -> [Twist<S>; 2],
    ) {
        for k in computed(samples, model) {
            let (task, of) = (&model.elements.tasks[k], &mut self.of[k]);
            let arms = Arms::new(task, &rigid.kinematics, now);
            let axes = task.axes.iter().zip(&of.actuators);
            for ((axis, actuator), column) in axes.zip(&mut of.columns) {
                *column = actuator.select(model, now, || {
                    let A = respond(rigid, task, axis.rate);
                    arms.column(&A)
                });
            }
        }
    }

    /// Computes the accelerations of the axes by the laws.
    ///
    /// # Errors
    /// Those of the laws.
    pub fn compute(&mut self, model: &Model, now: &Instant<S>, samples: &[Samples]) -> Result<(), Error> {
        for k in computed(samples, model) {
            let Commanded {
                at,
                wrench,
                columns,
                direction,
                qdd,
                ..
            } = &mut self.of[k];
            let mut known = direction.take().filter(|_| S::FUSES);
            let task = &model.elements.tasks[k];
            self.states[k] = task.command(&now.sensed(), at, wrench, columns, &mut known, qdd)?;
            *direction = known.filter(|_| !S::FUSES);
        }
        Ok(())
    }

    /// Takes the singular vectors of an evaluation at the same instant, for the next
    /// [`compute`](Self::compute) of a record.
    pub fn take_directions(&mut self, values: &Tasks<f64>) {
        for (to, from) in self.of.iter_mut().zip(&values.of) {
            to.direction = from.direction;
        }
    }

    /// Sets the accelerations of the axes among the `inputs`.
    pub fn finish(&self, model: &Model, inputs: &mut [S]) {
        for (task, commanded) in model.elements.tasks.iter().zip(&self.of) {
            task.finish(&commanded.qdd, inputs);
        }
    }

    /// Sets the results of a task and its `measured` wrenches to those of its last sample.
    fn recall(&mut self, task: usize, measured: &mut [Wrench<S>], held: &[f64]) {
        let Commanded { qdd, .. } = &mut self.of[task];
        let (of_axes, rest) = held.split_at(qdd.len());
        let (of_sensors, state) = rest.split_at(6 * measured.len());
        (qdd.iter_mut().zip(of_axes)).for_each(|(qdd, &held)| *qdd = S::lift(held));
        for (F, held) in measured.iter_mut().zip(of_sensors.chunks_exact(6)) {
            let vector = |i: usize| Vec3::from_fn(|k, _| S::lift(held[i + k]));
            *F = Wrench::new(vector(0), vector(3));
        }
        self.states[task] = TaskState::from_numbers(state);
    }
}

impl Tasks<f64> {
    /// Writes the results of a task and the wrenches that the `rigid` model has into `held`.
    pub fn hold(&self, model: &Model, rigid: &FeedForward<f64>, task: usize, held: &mut [f64]) {
        let sensors = |tasks: &[Task]| tasks.iter().map(|task| task.sensors().len()).sum::<usize>();
        let tasks = &model.elements.tasks;
        let measured = &rigid.measured[sensors(&tasks[..task])..sensors(&tasks[..=task])];
        let measured = measured.iter().flat_map(|F| F.to_array());
        let results = self.of[task].qdd.iter().copied().chain(measured);
        let results = results.chain(self.states[task].numbers());
        held.iter_mut().zip(results).for_each(|(held, result)| *held = result);
    }
}

/// Sets the joints' positions and rates among the `inputs` to those of the instant `now`, and
/// returns it with these inputs.
pub(super) fn begin<'a, S: Scalar>(model: &Model, now: Instant<'a, S>, inputs: &'a mut [S]) -> Instant<'a, S> {
    let joints = JointState { q: now.q, qd: now.qd };
    (model.elements.tasks.iter()).for_each(|task| task.begin(joints, inputs));
    Instant { inputs, ..now }
}

/// Returns the indices of the tasks that are not sampled, or not yet.
pub(super) fn computed<'a>(samples: &'a [Samples], model: &'a Model) -> impl Iterator<Item = usize> + 'a {
    (0..model.elements.tasks.len()).filter(move |&k| !samples[k].are_taken())
}

/// Positions of the frames of a task on the rigid model.
struct Arms<S: Scalar> {
    /// Axes of the reference.
    R_WR: Mat3<S>,
    /// Positions of the frames from the origins of their carriers, world axes.
    on_carriers: [Vec3<S>; 2],
    /// Position of the task's frame from that of the reference, world axes.
    r: Vec3<S>,
}

impl<S: Scalar> Arms<S> {
    fn new(task: &Task, kinematics: &Kinematics<S>, now: &Instant<S>) -> Self {
        let at = Configuration {
            kinematics,
            ..now.configuration()
        };
        let on_carriers = task.frames.map(|frame| at.arm(frame).p);
        let [T, R] = task.frames.map(|frame| at.system.carrier(frame));
        let [T, R] = [T, R].map(|on| kinematics.carrier(on).p_WB);
        Self {
            R_WR: reference_axes(task, at, now),
            on_carriers,
            r: T + on_carriers[0] - (R + on_carriers[1]),
        }
    }

    /// Returns a column of the Jacobian from the accelerations `A` of the carriers at rest.
    fn column(&self, A: &[Twist<S>; 2]) -> [S; 6] {
        let [T, R] = [0, 1].map(|k| A[k].shift(&self.on_carriers[k]));
        let (w, v) = (T.w - R.w, T.v - R.v - cross(&R.w, &self.r));
        Twist::new(rotated_back(&self.R_WR, &w), rotated_back(&self.R_WR, &v)).to_array()
    }
}

/// Returns the attitude in the world of the frame in whose axes the reference of a task is.
fn reference_axes<S: Scalar>(task: &Task, at: Configuration<S>, now: &Instant<S>) -> Mat3<S> {
    match now.orbit.filter(|_| task.in_lvlh) {
        Some(orbit) => orbit.R_WO,
        None => at.arm(task.frames[1]).R,
    }
}

/// Returns the pose of the task's frame on the spacecraft itself, and its motion on the `rigid`
/// model.
fn motion<S: Scalar>(task: &Task, rigid: &FeedForward<S>, now: &Instant<S>) -> RelativeMotion<S> {
    let at = Configuration {
        kinematics: &rigid.kinematics,
        ..now.configuration()
    };
    let [T, mut R] = task
        .frames
        .map(|frame| moving(at, frame, &rigid.dynamics.A, &rigid.qdd));
    let (orbit, R_WR) = (now.orbit.filter(|_| task.in_lvlh), reference_axes(task, at, now));
    if let Some(orbit) = orbit {
        (R.V.w, R.A.w) = (orbit.w_WO, orbit.wd_WO());
    }
    let [r, v] = [T.p - R.p, T.V.v - R.V.v];
    let w = R.V.w;
    let v = v - cross(&w, &r);
    let a = T.A.v - R.A.v - cross(&R.A.w, &r) - cross(&w, &cross(&w, &r)) - cross(&w, &v) * S::lift(2.0);
    let w_rel = T.V.w - w;
    let alpha = T.A.w - R.A.w - cross(&w, &w_rel);
    let [T, R] = task.frames.map(|frame| now.configuration().pose(frame));
    let axes = orbit.map_or(R.R, |orbit| orbit.R_WO);
    RelativeMotion {
        r: rotated_back(&axes, &(T.p - R.p)),
        q: Quaternion::from_rotation(&product_back(&axes, &T.R)),
        V: Twist::new(rotated_back(&R_WR, &w_rel), rotated_back(&R_WR, &v)),
        A: Twist::new(rotated_back(&R_WR, &alpha), rotated_back(&R_WR, &a)),
    }
}

/// Returns position and motion of the origin of a frame, with the accelerations `A` and `qdd` of
/// bodies and rates beyond those of the velocities.
fn moving<S: Scalar>(at: Configuration<S>, frame: FrameRef, A: &[Twist<S>], qdd: &[S]) -> Moving<S> {
    let arm = at.arm(frame).p;
    let carrier = at.kinematics.carrier(at.system.carrier(frame));
    Moving {
        p: carrier.p_WB + arm,
        V: carrier.V_WB.shift(&arm),
        A: at.acceleration(frame, A, qdd),
    }
}
