//! Elastic connections to frames of other FMUs.

use super::bushing::Bushing;
use super::{Compiler, Cursor, Element, Instant, Outputs, Reads, Values, View, report};
use crate::Problem;
use crate::algebra::fused::{product_back, rotated};
use crate::algebra::{Mat3, Quaternion, Scalar, Twist, Vec3, Wrench, log};
use crate::dynamics::Applied;
use crate::spec::{BushingFields, FrameField, PerAxis, Report, Spec, Table};
use crate::system::{FrameRef, Quantity, System, Unit};
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

/// Wrench of an interface at one instant.
struct Loaded<S: Scalar> {
    /// Wrench on a about the origin of b, world axes.
    on_a: Wrench<S>,
    /// Displacement of b from a, m, world axes.
    gap: Vec3<S>,
    /// Axes of a.
    R_WA: Mat3<S>,
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
                from.declare.input(quantity, start, false);
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
        let Loaded { on_a, gap, R_WA } = self.wrench(&view.now);
        let on_a = on_a.shift(&gap).express(&R_WA.transpose());
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
        let F = Wrench::zero() - self.wrench(now).on_a;
        let arm = now.configuration().arm(self.frame).p;
        applied.push(
            now.system,
            now.kinematics,
            now.system.carrier(self.frame),
            F.shift(&arm),
        );
    }
}

impl Interface {
    /// Returns the indices of the inputs.
    pub fn inputs(&self) -> Range<usize> {
        self.input..self.input + MOTION
    }

    fn wrench<S: Scalar>(&self, now: &Instant<S>) -> Loaded<S> {
        let u = &now.inputs[self.input..];
        let [r, v, w] = [0, 7, 10].map(|i| Vec3::from_column_slice(&u[i..i + 3]));
        // An importer that has not set the attitude yet may pass zeros.
        let q = Quaternion::from_slice(&u[3..POSE]);
        let is_set = q.norm_squared().exceeds(0.0);
        let w_scalar = S::select(is_set, q.w, S::one());
        let R_WA = Quaternion::new(w_scalar, q.x, q.y, q.z).rotation();
        let B = now.configuration().pose(self.frame);
        let gap = B.p - r;
        let turn = log(Quaternion::from_rotation(&product_back(&R_WA, &B.R)));
        let a = Twist::new(rotated(&R_WA, &w), v).shift(&gap);
        let arm = now.configuration().arm(self.frame).p;
        let b = now.kinematics.carrier(now.system.carrier(self.frame)).V_WB.shift(&arm);
        let moves = b - a;
        Loaded {
            on_a: self
                .bushing
                .wrench(now.parameters, &R_WA, [gap, moves.v, moves.w], &turn),
            gap,
            R_WA,
        }
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
