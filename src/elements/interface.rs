//! Elastic connections to frames of other FMUs.

use super::bushing::Bushing;
use super::frame::{FrameAdjoint, FrameBar, LoadSeeds, vector};
use super::{Compiler, Cursor, Element, Instant, Outputs, Reads, Values, View, report};
use crate::Problem;
use crate::algebra::fused::{product_back, rotated};
use crate::algebra::{Mat3, Quaternion, Scalar, Twist, Vec3, Wrench, log, turn_of_log};
use crate::dynamics::Applied;
use crate::spec::{BushingFields, FrameField, PerAxis, Report, Spec, Table};
use crate::system::{FrameRef, InputKind, Quantity, System, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Elastic connection of a frame with a frame of another FMU, the *carrier*: a spring-damper in six
/// directions like a closed grasp, whose frame `a` is the carrier. The motion of the carrier is an
/// input, the wrench on it an output, for a port of the other FMU with `axes = "frame"`: this FMU
/// gives the force, the other one the motion.
///
/// Inputs: `<interface>.r[1..3]` (position, m), `.q[1..4]` (attitude, quaternion), `.v[1..3]`
/// (velocity, m/s; these three in inertial axes) and `.w[1..3]` (angular velocity, rad/s, axes of
/// the carrier): the outputs of a frame. Outputs: `<interface>.f[1..3]` (N) and `.t[1..3]` (N·m),
/// force and moment on the carrier about its origin, in its axes. Within a communication step the
/// carrier moves on with its velocities (and their derivatives, if the importer sets them), unless
/// the importer sets derivatives of the pose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ElasticInterface {
    /// Frame or body of this model; without load it coincides with the carrier. Not an ANCF beam.
    pub frame: String,
    /// Translational stiffness, N/m: one number, or one for each axis of the carrier. Not zero for
    /// all axes.
    pub stiffness: PerAxis,
    /// Translational damping, N·s/m: one number, or one for each axis of the carrier.
    pub damping: PerAxis,
    /// Rotational stiffness, N·m/rad: one number, or one for each axis of the carrier. Default 0,
    /// free rotation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angular_stiffness: Option<PerAxis>,
    /// Rotational damping, N·m·s/rad: one number, or one for each axis of the carrier. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angular_damping: Option<PerAxis>,
    /// Start values of the inputs `<interface>.r`, m. Default 0.
    #[serde(default)]
    pub position: [f64; 3],
    /// Start values of the inputs `<interface>.q`, a unit quaternion, scalar first. Default: inertial
    /// axes.
    #[serde(default = "upright")]
    pub attitude: [f64; 4],
    /// Outputs `<interface>.effective_mass[1..3]` (kg) and `.effective_inertia[1..3]` (kg·m²): the
    /// force for a unit acceleration of the frame along each of its axes, and the moment for a unit
    /// angular acceleration about it, with all joints free but locked and prescribed ones. 1e15
    /// along an axis along which the frame cannot move. Default: no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub effective_mass: bool,
}

fn upright() -> [f64; 4] {
    [1.0, 0.0, 0.0, 0.0]
}

impl ElasticInterface {
    fn bushing(&self) -> BushingFields<'_> {
        BushingFields {
            stiffness: &self.stiffness,
            damping: &self.damping,
            angular_stiffness: self.angular_stiffness.as_ref(),
            angular_damping: self.angular_damping.as_ref(),
        }
    }
}

impl Table for ElasticInterface {
    fn frames(&self) -> Vec<FrameField<'_>> {
        vec![FrameField::new("frame", &self.frame).with_axes()]
    }

    fn check(&self, spec: &Spec, report: &mut Report) {
        self.bushing().check(report);
        let norm = self.attitude.iter().map(|q| q * q).sum::<f64>();
        if (norm - 1.0).abs() > 1e-6 || norm.is_nan() {
            report.add("attitude", "not a unit quaternion");
        }
        if let Some(what) = spec.objection_of_feed_forward("interfaces") {
            report.add("", what);
        }
    }
}

/// Spring-damper in six directions between a frame of another FMU, the carrier a, and a frame b of
/// this model.
///
/// The power of its wrench is counted as work of loads without potential: the energy of the spring
/// depends on the carrier's motion.
#[derive(Clone, Debug)]
pub(crate) struct Interface {
    name: String,
    frame: FrameRef,
    /// Index of the first of [`MOTION`] inputs: position, attitude, velocity, angular velocity.
    input: usize,
    bushing: Bushing,
}

/// Number of the inputs of the pose.
const POSE: usize = 7;

/// Number of all inputs.
const MOTION: usize = 13;

/// Number of the outputs.
const OUTPUTS: usize = 6;

/// Position and motion of b relative to a at one instant, world axes.
struct Relative<S: Scalar> {
    /// Axes of a, and its angular velocity.
    R_WA: Mat3<S>,
    w_A: Vec3<S>,
    /// Displacement of b from a, m.
    gap: Vec3<S>,
    /// Rotation vector of b, axes of a.
    turn: Vec3<S>,
    /// Motion of b relative to a at the origin of b.
    motion: Twist<S>,
}

impl Element for Interface {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let mut interfaces = Vec::new();
        for (name, written) in &from.spec.interface {
            let Some(frame) = from.frame(["interface", name, "frame"], &written.frame) else {
                continue;
            };
            let vector = |field: &str, unit, what: &str| Quantity::vector(&format!("{name}.{field}"), unit, what);
            let input = from.declare.inputs.len();
            let position = vector("r", Unit::Metre, "position of the carrier, inertial axes");
            let attitude = Quantity::quaternion(&format!("{name}.q"), "attitude of the carrier, quaternion");
            let velocity = vector(
                "v",
                Unit::MetrePerSecond,
                "velocity of the carrier's origin, inertial axes",
            );
            let spin = vector(
                "w",
                Unit::RadianPerSecond,
                "angular velocity of the carrier, its own axes",
            );
            let quantities = position.into_iter().chain(attitude).chain(velocity).chain(spin);
            let pose = written.position.into_iter().chain(written.attitude);
            for (quantity, start) in quantities.zip(pose.chain([0.0; 6])) {
                from.declare.input(quantity, start, InputKind::Continuous);
            }
            interfaces.push(Self {
                name: name.clone(),
                frame,
                input,
                bushing: Bushing::declare(["interface", name], "the carrier", &written.bushing(), from.declare),
            });
        }
        interfaces
    }

    /// Reports an interface without stiffness.
    fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        if self.bushing.stiffness.vector(of.values) == Vec3::zeros() {
            let what = format!(
                "the stiffness of interface \"{}\" is zero: it must be positive along one axis or more",
                self.name
            );
            report(of.declared, self.bushing.stiffness, problems, what);
        }
    }

    fn outputs(&self, _: &Spec, _: &System, to: &mut Outputs) {
        let name = &self.name;
        let what = |what: &str| format!("{what} of interface {name} on the carrier about its origin, its axes");
        to.continuous(Quantity::vector(&format!("{name}.f"), Unit::Newton, &what("force")));
        to.continuous(Quantity::vector(
            &format!("{name}.t"),
            Unit::NewtonMetre,
            &what("moment"),
        ));
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        if view.omits_frames {
            return y.skip(OUTPUTS);
        }
        let of = self.relative(&view.now);
        let on_a = self.wrench(&view.now, &of);
        let on_a = on_a.shift(&of.gap).express(&of.R_WA.transpose());
        y.vector(&on_a.f);
        y.vector(&on_a.t);
    }

    fn reads(&self) -> Reads {
        Reads::MOTION
    }

    fn works_on_bodies(&self) -> bool {
        true
    }

    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let F = Wrench::zero() - self.wrench(now, &self.relative(now));
        let arm = now.configuration().arm(self.frame).p;
        applied.push(
            now.system,
            now.kinematics,
            now.system.carrier(self.frame),
            F.shift(&arm),
        );
    }
}

/// Returns the attitude of the carrier among its inputs; an importer that has not set it yet may
/// pass zeros.
fn attitude<S: Scalar>(u: &[S]) -> Quaternion<S> {
    let q = Quaternion::from_slice(&u[3..POSE]);
    let is_set = q.norm_squared().exceeds(0.0);
    Quaternion::new(S::select(is_set, q.w, S::one()), q.x, q.y, q.z)
}

impl Interface {
    /// Returns the indices of the inputs.
    pub fn inputs(&self) -> Range<usize> {
        self.input..self.input + MOTION
    }

    fn relative<S: Scalar>(&self, now: &Instant<S>) -> Relative<S> {
        let u = &now.inputs[self.input..];
        let [r, v, w] = [0, 7, 10].map(|i| Vec3::from_column_slice(&u[i..i + 3]));
        let R_WA = attitude(u).rotation();
        let B = now.configuration().pose(self.frame);
        let gap = B.p - r;
        let turn = log(Quaternion::from_rotation(&product_back(&R_WA, &B.R)));
        let w_A = rotated(&R_WA, &w);
        let a = Twist::new(w_A, v).shift(&gap);
        let arm = now.configuration().arm(self.frame).p;
        let b = now.kinematics.carrier(now.system.carrier(self.frame)).V_WB.shift(&arm);
        Relative {
            R_WA,
            w_A,
            gap,
            turn,
            motion: b - a,
        }
    }

    /// Returns the wrench on a about the origin of b, world axes.
    fn wrench<S: Scalar>(&self, now: &Instant<S>, of: &Relative<S>) -> Wrench<S> {
        let motion = [of.gap, of.motion.v, of.motion.w];
        self.bushing
            .wrench(S::numbers(now.parameters), &of.R_WA, motion, &of.turn)
    }

    /// Adds the derivatives of the load, of its power and of the outputs, with the weights `y`, to
    /// those with respect to bodies, and passes those with respect to the inputs, by their indices,
    /// to `of_input` (`docs/theory/adjoint.md`, *Ports and interfaces*).
    pub fn weigh(
        &self,
        now: &Instant<f64>,
        seeds: &mut LoadSeeds,
        y: &[f64],
        to: &mut FrameAdjoint,
        mut of_input: impl FnMut(usize, f64),
    ) {
        let (on, arm) = (now.system.carrier(self.frame), now.configuration().arm(self.frame).p);
        let of = self.relative(now);
        let (on_a, R) = (self.wrench(now, &of), &of.R_WA);
        let V = now.kinematics.carrier(on).V_WB;
        let along = seeds.of_load(on, &V);
        let [of_f, of_t] = [0, 3].map(|k| R * vector(y, k));
        let about_a = on_a.shift(&of.gap);
        let weight = Twist::new(of_t, of_f + of_t.cross(&of.gap)) - along.shift(&arm);
        let motion = [of.gap, of.motion.v, of.motion.w];
        let bars = self.bushing.weigh(now.parameters, R, motion, &of.turn, &weight);
        let [of_rate, of_w] = [bars.gap_rate, bars.w];
        let of_gap = bars.gap + on_a.f.cross(&of_t) - of_rate.cross(&of.w_A);
        let of_w_A = -of_w - of.gap.cross(&of_rate);
        let of_turn = R * turn_of_log(&of.turn, &bars.turn);
        let of_axes = bars.axes + of_f.cross(&on_a.f) + of_t.cross(&about_a.t) + of.w_A.cross(&of_w_A) - of_turn;
        let bar = FrameBar {
            pose: Wrench::new(of_turn, of_gap),
            velocity: Wrench::new(of_w, of_rate),
        };
        to.add_at(now, self.frame, &V.w, &bar);
        let load = (Wrench::zero() - on_a).shift(&arm);
        seeds.place(now, on, load);
        to.add_load(on, arm.cross(&load.f.cross(&along.w)), &(load * seeds.of_power));
        let q = attitude(&now.inputs[self.input..]);
        let of_q = Quaternion::new(0.0, of_axes.x, of_axes.y, of_axes.z) * q;
        let of_q = of_q.to_array().map(|part| part * (2.0 / q.norm_squared()));
        let [r, v, w] = [-of_gap, -of_rate, R.tr_mul(&of_w_A)];
        let bars = r.iter().chain(&of_q).chain(v.iter()).chain(w.iter());
        bars.enumerate().for_each(|(k, bar)| of_input(self.input + k, *bar));
    }

    /// Sets the derivatives of the pose's inputs to those by the carrier's velocities and their
    /// derivatives, if all derivatives of the pose are zero. `at` is the index of the first of its
    /// inputs among those of the importer.
    pub fn extrapolate(&self, at: usize, u: &[f64], derivatives: &mut [Vec<f64>]) {
        let pose = at..at + POSE;
        if (derivatives.iter()).any(|order| order[pose.clone()].iter().any(|&d| d != 0.0)) {
            return;
        }
        let three = |of: &[f64], i: usize| Vec3::from_column_slice(&of[at + i..at + i + 3]);
        let q = Quaternion::from_slice(&u[at + 3..at + POSE]);
        let (v, w) = (three(u, 7), three(u, 10));
        let (a, w_dot) = (three(&derivatives[0], 7), three(&derivatives[0], 10));
        let q_dot = q.rate(w);
        let [by_spin, by_change] = [q_dot.rate(w), q.rate(w_dot)].map(Quaternion::to_array);
        let q_ddot: [f64; 4] = std::array::from_fn(|i| by_spin[i] + by_change[i]);
        for (order, (r, q)) in derivatives.iter_mut().zip([(v, q_dot.to_array()), (a, q_ddot)]) {
            let to = &mut order[pose.clone()];
            to[..3].copy_from_slice(r.as_slice());
            to[3..].copy_from_slice(&q);
        }
    }
}
