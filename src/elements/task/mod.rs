//! Task-space control: joints move so that a frame tracks a reference.

mod impedance;
mod reference;

use super::samples::{declare_sample_time, validate_sample_time};
use super::{Compiler, Cursor, Element, Outputs, Reads, Sensed, Values, View, Watched};
use crate::algebra::fused::plus_product;
use crate::algebra::{DampedInverse, Scalar, Twist, Wrench, log};
use crate::spec::{self, Component, Spec, at, problem};
use crate::system::{Bound, FrameRef, InputKind, JointState, ParamId, Quantity, System, Unit};
use crate::{Error, Problem};
pub(crate) use impedance::ForceSensor;
use impedance::Impedance;
use reference::Reference;
pub(crate) use reference::RelativeMotion;

/// Resolved motion rate with acceleration feed-forward. With the velocity `V`, the pose error `e`
/// and the acceleration `A` at zero accelerations of the joints of all tasks, all in axes of the
/// reference, and the Jacobian `J` of the frame on the spacecraft with all loads,
///
/// ```text
///     q̇_c = q̇_0 + J# (V_ref + kp e − V + J (q̇ − q̇_0))                            (1)
///     q̈   = J# (A_ref + kp (V_ref − V) + M⁻¹ F − A) + kd (q̇_c − q̇)                (2)
/// ```
///
/// with the virtual inertia `M` and the measured wrench `F` of the environment, which is also among
/// the loads of `A`. `V − J q̇` is the part of `V` due to momentum and to other joints. The rotation
/// vector of the attitude error is `e`, with `E = exp(e)` from the frame to the reference, whose
/// rate is `Ė = E [Eᵀ ω_ref − ω]×`. The angular parts of `V_ref` and `A_ref` are therefore `Eᵀ
/// ω_ref` and its derivative,
///
/// ```text
///     ω' = Eᵀ ω_ref,      ω̇' = Eᵀ ω̇_ref − (ω' − ω) × ω'                           (3)
/// ```
///
/// so that `ė = −kp e` follows from `V = V_ref + kp e`. With an invertible `J` and all components
/// of position or attitude, that holds after `exp(−kd t)`. With a virtual inertia, and for small
/// `e`, `M ë + M (kp + kd) ė + M kp kd e = −F`; with a damping ratio ζ of its own, the gain of
/// `V_ref − V` is `2ζ √(kp kd) − kd` and the damper `2ζ M √(kp kd)`.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub name: String,
    /// Index among the tasks.
    number: usize,
    /// Frame that moves, and frame of the reference.
    pub frames: [FrameRef; 2],
    /// True if the reference is in axes of the LVLH frame.
    pub in_lvlh: bool,
    /// Axes of its joints.
    pub axes: Vec<TaskAxis>,
    components: Vec<Component>,
    kp: ParamId,
    kd: ParamId,
    length: ParamId,
    threshold: ParamId,
    damping: ParamId,
    reference: Reference,
    impedance: Impedance,
    /// Time between samples; `None` if the law is continuous.
    pub sample_time: Option<ParamId>,
    /// Index of the first input for rates in the null space.
    null_rates: Option<usize>,
    /// Inputs of joints that it sets, with their quantities.
    set: Vec<(usize, Quantity)>,
}

/// Axis of a joint that a task moves.
#[derive(Clone, Debug)]
pub(crate) struct TaskAxis {
    /// Index of the joint's child body.
    pub body: usize,
    /// Index of the rate.
    pub rate: usize,
    coordinate: usize,
    is_angular: bool,
    /// Least and largest position.
    limits: Option<[ParamId; 2]>,
    /// Indices of the inputs of references and of the prescribed acceleration: `q_ref`, `qd_ref`,
    /// `qdd_ref`, `qdd`.
    inputs: [Option<usize>; 4],
}

/// Names of the inputs in [`TaskAxis::inputs`].
const SET: [&str; 4] = ["q_ref", "qd_ref", "qdd_ref", "qdd"];

/// Result of a task's law.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskState<S> {
    /// Reference less position of each component, m or rad.
    error: [S; 6],
    singular_value: S,
    damping: S,
}

impl<S: Scalar> Default for TaskState<S> {
    fn default() -> Self {
        Self {
            error: [S::zero(); 6],
            singular_value: S::zero(),
            damping: S::zero(),
        }
    }
}

impl<S: Scalar> TaskState<S> {
    /// Count of its numbers.
    const COUNT: usize = 8;

    /// Returns its numbers.
    pub fn numbers(&self) -> impl Iterator<Item = S> {
        self.error.into_iter().chain([self.singular_value, self.damping])
    }

    /// Creates it from its numbers.
    pub fn from_numbers(numbers: &[f64]) -> Self {
        Self {
            error: std::array::from_fn(|i| S::lift(numbers[i])),
            singular_value: S::lift(numbers[6]),
            damping: S::lift(numbers[7]),
        }
    }
}

impl TaskAxis {
    /// Returns the inputs of the joint that the task sets.
    pub fn set(&self) -> impl Iterator<Item = usize> {
        self.inputs.into_iter().flatten()
    }

    /// Returns the acceleration within bounds that keep the position `q` within the joint's range:
    /// its rate towards a limit is at most `kp` times the distance, and a larger rate decreases to
    /// that with the gain `kd`.
    fn within_limits<S: Scalar>(&self, now: &Sensed<S>, [kp, kd]: [S; 2], qdd: S) -> S {
        let Some(limits) = self.limits else {
            return qdd;
        };
        let (q, qd) = (now.q[self.coordinate], now.qd[self.rate]);
        let [min, max] = limits.map(|limit| {
            let rate = (S::lift(limit.of(now.parameters)) - q) * kp;
            (rate - qd) * kd - qd * kp
        });
        let qdd = S::select((qdd - max).exceeds(0.0), max, qdd);
        S::select((min - qdd).exceeds(0.0), min, qdd)
    }
}

impl Task {
    /// Returns true if it sets this input.
    pub fn sets(&self, input: usize) -> bool {
        self.set.iter().any(|(set, _)| *set == input)
    }

    /// Returns the quantities of its results: error of each component, smallest singular value,
    /// damping.
    pub fn results(&self) -> Vec<Quantity> {
        let name = &self.name;
        let error = |(k, component): (usize, &Component)| {
            let unit = if component.is_angular() {
                Unit::Radian
            } else {
                Unit::Metre
            };
            let what = format!("error of task {name}: reference less {}", component.text());
            Quantity::new(format!("{name}.error[{}]", k + 1), unit, what)
        };
        let errors = self.components.iter().enumerate().map(error);
        let what = format!("smallest singular value of the Jacobian of task {name}");
        let singular_value = Quantity::new(format!("{name}.singular_value"), Unit::One, what);
        let what = format!("damping of the inverse of the Jacobian of task {name}");
        let damping = Quantity::new(format!("{name}.applied_damping"), Unit::One, what);
        errors.chain([singular_value, damping]).collect()
    }

    /// Returns the values of its [results](Self::results).
    pub fn values<S: Scalar>(&self, state: &TaskState<S>) -> impl Iterator<Item = S> + use<S> {
        let errors = state.error.into_iter().take(self.components.len());
        errors.chain([state.singular_value, state.damping])
    }

    /// Returns the inputs that its law reads.
    pub fn inputs(&self) -> impl Iterator<Item = usize> {
        let null_rates = self.null_rates.map_or(0..0, |first| first..first + self.axes.len());
        self.reference.inputs().chain(null_rates).chain(self.impedance.inputs())
    }

    /// Returns the sensors of the wrench of the environment on its frame.
    pub fn sensors(&self) -> &[ForceSensor] {
        &self.impedance.sensors
    }

    /// Returns the number of results that are constant between samples.
    pub fn held_count(&self) -> usize {
        self.axes.len() + 6 * self.sensors().len() + TaskState::<f64>::COUNT
    }

    /// Returns the name of an acceleration that it sets, for messages.
    pub fn acceleration_name(&self) -> &str {
        self.set.last().map_or(&self.name, |(_, quantity)| &quantity.name)
    }

    /// Returns the waypoints' signal, a table on the input `<task>.s`; `None` without waypoints.
    ///
    /// With a shaper it rests before each waypoint for the shaper's duration, so that the last copy
    /// arrives at the waypoint's time.
    pub fn timing(written: &spec::Task) -> Option<spec::Signal> {
        let duration = spec::Shaper::duration(&written.shaper);
        let (mut times, mut values) = (Vec::new(), Vec::new());
        for (k, waypoint) in written.waypoint.iter().enumerate() {
            let rests = (k > 0 && duration > 0.0).then_some(waypoint.time - duration);
            let leaves = (rests.is_none() || k + 1 < written.waypoint.len()).then_some(waypoint.time);
            for time in rests.into_iter().chain(leaves) {
                times.push(time);
                values.push(k as f64);
            }
        }
        let n = times.len();
        (n > 0).then(|| spec::Signal {
            from_importer: false,
            times: Some(times),
            values: Some(values),
            rates: Some(vec![0.0; n]),
            accelerations: Some(vec![0.0; n]),
            shaper: written.shaper.clone(),
            ..spec::Signal::table(spec::Interpolation::Quintic)
        })
    }

    /// Sets the joints' references to their present motion at zero acceleration.
    pub fn begin<S: Scalar>(&self, joints: JointState<S>, inputs: &mut [S]) {
        for axis in &self.axes {
            let values = [joints.q[axis.coordinate], joints.qd[axis.rate], S::zero(), S::zero()];
            for (input, value) in axis.inputs.iter().zip(values) {
                if let Some(input) = input {
                    inputs[*input] = value;
                }
            }
        }
    }

    /// Sets the joints' accelerations.
    pub fn finish<S: Scalar>(&self, qdd: &[S], inputs: &mut [S]) {
        for (axis, &qdd) in self.axes.iter().zip(qdd) {
            axis.inputs[2..].iter().flatten().for_each(|input| inputs[*input] = qdd);
        }
    }

    /// Computes the accelerations `qdd` of its axes by (1), (2) and (3), from the motion at zero
    /// accelerations, the measured `wrench` (axes of the frame) and the `columns` of `J` (angular
    /// first), which are overwritten. The left singular vector `known` of the smallest singular value
    /// is set if there is none.
    ///
    /// # Errors
    /// [`Error::SingularTask`] if the damping is too small for a singular position.
    pub fn command<S: Scalar>(
        &self,
        now: &Sensed<S>,
        at: &RelativeMotion<S>,
        wrench: &Wrench<S>,
        columns: &mut [[S; 6]],
        known: &mut Option<[f64; 6]>,
        qdd: &mut [S],
    ) -> Result<TaskState<S>, Error> {
        let parameters = S::numbers(now.parameters);
        let number = |id: ParamId| id.of(parameters);
        let (gains, length) = ([self.kp, self.kd].map(number), number(self.length));
        let [kp, kd] = gains.map(S::lift);
        // Scaled quantities are pure numbers: lengths in units of `length`.
        let selected = |twist: &[S; 6], scale: f64| Component::select(&self.components, length, twist, scale);
        let scale = |axis: &TaskAxis| if axis.is_angular { 1.0 } else { length };
        for (column, axis) in columns.iter_mut().zip(&self.axes) {
            *column = selected(column, scale(axis));
        }
        let rows = self.components.len();
        let [threshold, damping] = [self.threshold, self.damping].map(number);
        let inverse = DampedInverse::along(columns, rows, threshold, damping, known);
        if !inverse.is_regular() {
            return Err(Error::SingularTask {
                task: self.name.clone(),
            });
        }
        let mut reference = self.reference.at(now);
        let turn = reference.q * at.q.conjugate();
        let off = Twist::new(log(turn), reference.r - at.r);
        let back = turn.conjugate();
        reference.V.w = back.rotate(reference.V.w);
        let off_rate = reference.V - at.V;
        reference.A.w = back.rotate(reference.A.w) - off_rate.w.cross(&reference.V.w);
        let null_rate = |k: usize| self.null_rates.map_or_else(S::zero, |first| now.inputs[first + k]);
        let mut velocity = selected(&(off_rate + off * kp).to_array(), 1.0);
        for (k, (column, axis)) in columns.iter().zip(&self.axes).enumerate() {
            let rate = (now.qd[axis.rate] - null_rate(k)) * S::lift(scale(axis).recip());
            (0..rows).for_each(|i| velocity[i] = plus_product(velocity[i], column[i], rate, 1.0));
        }
        let velocity = inverse.solve(columns, velocity);
        let yields = self.impedance.acceleration(parameters, at.q, wrench);
        let damped = self.impedance.damped(parameters, gains, off_rate);
        let acceleration = selected(&(reference.A + damped + yields - at.A).to_array(), 1.0);
        let acceleration = inverse.solve(columns, acceleration);
        for (k, (column, axis)) in columns.iter().zip(&self.axes).enumerate() {
            let along = |y: &[S; 6]| {
                let sum = (0..rows).fold(S::zero(), |sum, i| plus_product(sum, column[i], y[i], 1.0));
                sum * S::lift(scale(axis))
            };
            let rate = null_rate(k) + along(&velocity);
            let free = along(&acceleration) + (rate - now.qd[axis.rate]) * kd;
            qdd[k] = axis.within_limits(now, [kp, kd], free);
        }
        let off = off.to_array();
        Ok(TaskState {
            error: std::array::from_fn(|i| self.components.get(i).map_or_else(S::zero, |c| off[c.index()])),
            singular_value: inverse.singular_value,
            damping: inverse.damping,
        })
    }

    /// Declares the axes of the joints of a task, and returns the inputs that it sets with them.
    fn axes(written: &spec::Task, from: &mut Compiler) -> (Vec<TaskAxis>, Vec<(usize, Quantity)>) {
        let (mut axes, mut set) = (Vec::new(), Vec::new());
        let bodies = &from.system.bodies;
        for joint_name in &written.joints {
            let Some(body) = bodies.iter().position(|body| body.joint.name == *joint_name) else {
                continue;
            };
            let joint = &bodies[body].joint;
            for i in 0..joint.nv {
                let inputs = SET.map(|field| {
                    let name = joint.quantity_name(field, i);
                    from.declare.inputs.iter().position(|input| input.quantity.name == name)
                });
                set.extend(
                    inputs
                        .iter()
                        .flatten()
                        .map(|&k| (k, from.declare.inputs[k].quantity.clone())),
                );
                let limit = |field: &str| {
                    let name = joint.quantity_name(field, i);
                    let found = from
                        .declare
                        .parameters
                        .iter()
                        .position(|known| known.quantity.name == name);
                    found.map(ParamId)
                };
                axes.push(TaskAxis {
                    body,
                    rate: joint.v + i,
                    coordinate: joint.q + i,
                    is_angular: joint.kind.is_angular(i),
                    limits: limit("q_min").zip(limit("q_max")).map(<[ParamId; 2]>::from),
                    inputs,
                });
            }
        }
        (axes, set)
    }

    /// Reports joints on several spacecraft and of another task's, frames that the joints do not
    /// move, and values that the spec gives to inputs that the task sets.
    fn check(&self, written: &spec::Task, others: &[Self], from: &mut Compiler) {
        let (system, spec, name) = (from.system, from.spec, &self.name);
        let mut report = |section: &str, name: &str, field: &str, what: String| {
            from.problems.push(problem(section, name, field, what));
        };
        let of = |axis: &TaskAxis| spacecraft(system, axis.body);
        let joint = |axis: &TaskAxis| &system.bodies[axis.body].joint.name;
        if let Some(first) = self.axes.first() {
            if let Some(other) = self.axes.iter().find(|axis| of(axis) != of(first)) {
                let [first, other] = [first, other].map(joint);
                let what = format!("joints \"{first}\" and \"{other}\" belong to different spacecraft");
                report("task", name, "joints", what);
            }
            let is_own = |&frame: &FrameRef| {
                let on = system.carrying_body(frame);
                on.is_some_and(|body| spacecraft(system, body) == of(first))
            };
            if !self.frames.iter().any(is_own) {
                let (frame, to, joint) = (&written.frame, &written.relative_to, joint(first));
                let what = format!(
                    "neither \"{frame}\" nor \"{to}\" is on the spacecraft of joint \"{joint}\": it moves neither"
                );
                report("task", name, "frame", what);
            }
        }
        let same = |other: &&Self| other.axes.first().map(of) == self.axes.first().map(of);
        if let Some(Self { name: other, .. }) = others.iter().find(same) {
            let what = format!("task \"{other}\" moves joints of the same spacecraft: one task moves each");
            report("task", name, "joints", what);
        }
        let [frame, to] = self.frames.map(|frame| system.rigid_carrier(frame));
        if frame == to {
            let (frame, to) = (&written.frame, &written.relative_to);
            let what = format!("\"{frame}\" and \"{to}\" belong to one rigid body, or to several on fixed joints");
            report("task", name, "relative_to", what);
        }
        let course = ["s", "s_rate", "s_acceleration"].map(|field| format!("{name}.{field}"));
        let course = course.iter().filter(|_| !written.waypoint.is_empty());
        for input in self.set.iter().map(|(_, quantity)| &quantity.name).chain(course) {
            if spec.signal.contains_key(input) {
                let what = format!("task \"{name}\" sets {input}: leave the signal out");
                report("signal", input, "", what);
            }
            if spec.input.contains_key(input) {
                let what = format!("task \"{name}\" sets {input}: leave the value out");
                report("input", input, "", what);
            }
        }
    }
}

/// Returns the root of the spacecraft of a body: its nearest free body inboard or itself, else the
/// root of its tree. A free joint has no reaction, so that its child is another spacecraft.
fn spacecraft(system: &System, mut body: usize) -> usize {
    while let Some(parent) = system.bodies[body].parent
        && system.bodies[body].joint.kind != spec::JointType::Free
    {
        body = parent;
    }
    body
}

impl Element for Task {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let mut tasks: Vec<Self> = Vec::new();
        for (name, written) in &from.spec.task {
            let frame = from.frame(["task", name, "frame"], &written.frame);
            let reference = from.frame(["task", name, "relative_to"], &written.relative_to);
            let (Some(frame), Some(relative_to)) = (frame, reference) else {
                continue;
            };
            let (axes, set) = Self::axes(written, from);
            let mut number = |field: &str, value: f64, unit: Unit, what: &str| {
                let quantity = Quantity::new(format!("{name}.{field}"), unit, format!("{what} of task {name}"));
                from.declare
                    .parameter(quantity.bounded(Bound::Positive), value, true, &at("task", name, field))
            };
            let kp = number("kp", written.kp, Unit::PerSecond, "gain of the pose error");
            let kd = number("kd", written.kd, Unit::PerSecond, "gain of the joints' rate error");
            let length = number(
                "length",
                written.length,
                Unit::Metre,
                "length that scales singular values",
            );
            let what = "singular value below which the inverse of the Jacobian is damped,";
            let threshold = number("threshold", written.threshold, Unit::One, what);
            let damping = number("damping", written.damping, Unit::One, "damping at singular positions");
            let place = at("task", name, "sample_time");
            let sample_time = written
                .sample_time
                .map(|time| declare_sample_time([name, &format!("task {name}")], time, &place, from.declare));
            let reference = Reference::declare(name, written, from.declare);
            let impedance = Impedance::declare(name, written, frame, from);
            let null_rates = written.null_rates.then(|| {
                let first = from.declare.inputs.len();
                for (k, axis) in axes.iter().enumerate() {
                    let unit = Unit::coordinate(axis.is_angular).rate;
                    let what = format!("rate in the null space of task {name}, axis {}", k + 1);
                    let quantity = Quantity::new(format!("{name}.null_rate[{}]", k + 1), unit, what);
                    from.declare.input(quantity, 0.0, InputKind::Continuous);
                }
                first
            });
            let task = Self {
                name: name.clone(),
                number: tasks.len(),
                frames: [frame, relative_to],
                in_lvlh: written.axes == spec::Axes::Lvlh,
                axes,
                components: written.components.clone(),
                kp,
                kd,
                length,
                threshold,
                damping,
                reference,
                impedance,
                sample_time,
                null_rates,
                set,
            };
            task.check(written, &tasks, from);
            tasks.push(task);
        }
        tasks
    }

    fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        if let Some(id) = self.sample_time {
            validate_sample_time(id, of, problems);
        }
    }

    fn reads(&self) -> Reads {
        Reads::MOTION
    }

    fn reads_world(&self, _: &System) -> bool {
        true
    }

    /// The limit states of motors depend on the torques for its accelerations.
    fn watches(&self) -> Watched {
        Watched {
            kinematics: true,
            ..Watched::default()
        }
    }

    fn outputs(&self, _: &Spec, _: &System, to: &mut Outputs) {
        to.continuous(self.results());
        to.continuous(self.set.iter().map(|(_, quantity)| quantity.clone()));
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        self.values(&view.tasks[self.number]).for_each(|value| y.number(value));
        self.set.iter().for_each(|(input, _)| y.number(view.now.inputs[*input]));
    }
}
