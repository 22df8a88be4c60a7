//! Joints that close kinematic loops.

use super::{Pair, report};
use crate::Problem;
use crate::algebra::{Mat3, Scalar, Twist, Vec3, Wrench, lift3, norm};
use crate::spec::{LoopType, Spec, at, problem};
use crate::system::{
    BodyKinematics, Bound, Configuration, Declarations, FrameRef, ParamId, Parameter, Quantity, System, Unit,
};

/// A joint between the frames a and b that closes a loop: a list of scalar constraints `φ = 0`, of
/// three kinds.
///
/// With the origins' distance `Δ = p_A − p_B`, the relative velocity `u` of the points of both
/// bodies at the origin of a, `w = w_A − w_B`, and all unit vectors in world axes:
///
/// ```text
///     offset     φ = e·Δ                e fixed in b     φ̇ = e·u           φ̈ = e·a − 2 e·(w_B × u)                  (1)
///     angle      φ = n_a·n_b            fixed in each    φ̇ = w·d           φ̈ = α·d + w·ḋ,      d = n_a × n_b       (2)
///     distance   φ = |Δ| − l,  e = Δ/|Δ|                 φ̇ = e·(v_A − v_B)  φ̈ = e·a + e·(w_B × (w_B × Δ)) + |v⊥|²/|Δ|  (3)
/// ```
///
/// `a` is the relative acceleration of those two points, `α` that of the bodies' rotation, and `v⊥`
/// the part of `v_A − v_B` across `e`. A constraint's reaction is a force along `e` at the origin
/// of a, or a moment along `d`, on a; its reverse acts on b at the same point.
#[derive(Clone, Debug)]
pub struct ClosedLoop {
    /// The user's name.
    pub name: String,
    /// The names of the two frames.
    pub names: [String; 2],
    /// The frame that gets the reaction.
    pub a: FrameRef,
    /// The frame that carries the joint.
    pub b: FrameRef,
    kind: LoopType,
    axis: Option<ParamId>,
    axis2: Option<ParamId>,
    length: Option<ParamId>,
    alpha: ParamId,
    beta: ParamId,
}

/// One scalar constraint `φ = 0` of a pair at one instant.
#[derive(Clone, Copy, Debug)]
pub struct Constraint<S: Scalar> {
    /// The wrench on the first of the pair of a unit reaction, about the pair's point, world axes:
    /// `φ̇` is its power on the relative motion.
    pub unit: Wrench<S>,
    /// `φ`, m or (the cosine of an angle that is right) rad.
    pub violation: S,
    /// `φ̇`, m/s or rad/s.
    pub rate: S,
    /// Whether `φ` is a distance, and not an angle.
    pub is_offset: bool,
    /// `φ̈` less what accelerations add: `φ̈ = unit·A + bias` for the relative acceleration `A`
    /// beyond the bodies' bias.
    pub bias: S,
}

/// The two frames of a loop at one instant.
struct Ends<S: Scalar> {
    R: [Mat3<S>; 2],
    /// `Δ`, m.
    apart: Vec3<S>,
    /// Relative motion at the origin of a.
    u: Twist<S>,
    w: [Vec3<S>; 2],
    /// Relative acceleration at the origin of a that the rates alone cause.
    bias: Twist<S>,
}

pub(super) fn declare(
    spec: &Spec,
    system: &System,
    declare: &mut Declarations,
    problems: &mut Vec<Problem>,
) -> Vec<ClosedLoop> {
    let mut loops = Vec::new();
    for (name, written) in &spec.closed_loop {
        let mut find = |field: &str, frame: &str| system.written_frame(["loop", name, field], frame, problems);
        let (Some(a), Some(b)) = (find("a", &written.a), find("b", &written.b)) else {
            continue;
        };
        if system.rigid_carrier(a) == system.rigid_carrier(b) {
            let what = format!(
                "\"{}\" and \"{}\" belong to one rigid body, or to several on fixed joints",
                written.a, written.b
            );
            problems.push(problem("loop", name, "b", what));
        }
        let kind = written.kind;
        let mut direction = |field: &str, value: [f64; 3], of: &str, what: &str| {
            let quantities = Quantity::vector(
                &format!("{name}.{field}"),
                Unit::One,
                &format!("{what} of loop {name}, axes of {of}"),
            );
            declare.parameters(quantities, &value, false, &at("loop", name, field))
        };
        let axis = kind.has_axis().then(|| {
            let value = written.axis.unwrap_or([0.0, 0.0, 1.0]);
            direction("axis", value, &written.b, "axis")
        });
        let axis2 = (kind == LoopType::Universal).then(|| {
            let value = written.axis2.unwrap_or([0.0, 1.0, 0.0]);
            direction("axis2", value, &written.a, "second axis")
        });
        let length = (kind == LoopType::Distance).then(|| {
            let what = format!(
                "distance that loop {name} keeps between {} and {}",
                written.a, written.b
            );
            let quantity = Quantity::new(format!("{name}.length"), Unit::Metre, what).bounded(Bound::Positive);
            let value = written.length.unwrap_or(0.0);
            declare.parameter(quantity, value, false, &at("loop", name, "length"))
        });
        let mut gain = |field: &str, value: Option<f64>, what: &str| {
            let what = format!("{what} of loop {name}");
            let quantity = Quantity::new(format!("{name}.{field}"), Unit::PerSecond, what).bounded(Bound::NotNegative);
            declare.parameter(quantity, value.unwrap_or(10.0), true, &at("loop", name, field))
        };
        loops.push(ClosedLoop {
            name: name.clone(),
            names: [written.a.clone(), written.b.clone()],
            a,
            b,
            kind,
            axis,
            axis2,
            length,
            alpha: gain(
                "alpha",
                written.alpha,
                "Baumgarte's alpha: damping of the constraint violation",
            ),
            beta: gain(
                "beta",
                written.beta,
                "Baumgarte's beta: how the constraint violation is reduced",
            ),
        });
    }
    loops
}

impl ClosedLoop {
    /// The most constraints that a joint can have.
    pub const MOST: usize = 6;

    /// Reports axes without a direction.
    pub(super) fn judge(&self, declared: &[Parameter], values: &[f64], problems: &mut Vec<Problem>) {
        for axis in self.axis.iter().chain(&self.axis2) {
            if axis.direction(values).is_none() {
                let what = format!("the axis of loop \"{}\" has no direction", self.name);
                report(declared, *axis, problems, what);
            }
        }
    }

    /// The gains α and β, 1/s.
    pub fn gains(&self, parameters: &[f64]) -> [f64; 2] {
        [self.alpha.of(parameters), self.beta.of(parameters)]
    }

    /// Where the gains stand among the parameters.
    pub(super) fn gain_ids(&self) -> [ParamId; 2] {
        [self.alpha, self.beta]
    }

    /// The two bodies at the origin of a.
    pub fn pair<S: Scalar>(&self, of: Configuration<S>) -> Pair<S> {
        Pair::at_a(of, [self.a, self.b])
    }

    /// How many constraints it has.
    pub fn count(&self) -> usize {
        let [offsets, angles, distances] = self.counts();
        offsets + angles + distances
    }

    /// How many of (1), (2) and (3).
    fn counts(&self) -> [usize; 3] {
        match self.kind {
            LoopType::Revolute => [3, 2, 0],
            LoopType::Prismatic => [2, 3, 0],
            LoopType::Cylindrical => [2, 2, 0],
            LoopType::Universal => [3, 1, 0],
            LoopType::Spherical => [3, 0, 0],
            LoopType::Planar => [1, 2, 0],
            LoopType::Fixed => [3, 3, 0],
            LoopType::PointOnLine => [2, 0, 0],
            LoopType::Distance => [0, 0, 1],
        }
    }

    /// Its axis and two directions across it, in the axes of either frame; of a joint without an
    /// axis those of the frame.
    fn axes(&self, parameters: &[f64]) -> Mat3<f64> {
        let axis = self.axis.and_then(|axis| axis.direction(parameters));
        let Some(z) = axis else { return Mat3::identity() };
        let x = z.cross(&Vec3::ith(z.abs().imin(), 1.0)).normalize();
        Mat3::from_columns(&[x, z.cross(&x), z])
    }

    /// Gives each constraint to `to`, in a fixed order; `pair` is that of the same instant.
    pub fn constraints<S: Scalar>(
        &self,
        of: Configuration<S>,
        pair: &Pair<S>,
        parameters: &[f64],
        mut to: impl FnMut(Constraint<S>),
    ) {
        let kinematics = of.kinematics;
        let frames = [self.a, self.b].map(|frame| of.pose(frame));
        let carried: [BodyKinematics<S>; 2] = pair.carriers().map(|on| kinematics.carrier(on));
        let ends = Ends {
            R: [frames[0].R, frames[1].R],
            apart: frames[0].p - frames[1].p,
            u: pair.relative(|on| kinematics.carrier(on).V_WB),
            w: [carried[0].V_WB.w, carried[1].V_WB.w],
            bias: pair.bias(kinematics),
        };
        let axes = self.axes(parameters);
        let [x, y, z] = [0, 1, 2].map(|k| axes.column(k).into_owned());
        let in_a = |n: Vec3<f64>| ends.R[0] * lift3::<S>(&n);
        let in_b = |n: Vec3<f64>| ends.R[1] * lift3::<S>(&n);
        let offsets: &[Vec3<f64>] = match self.kind {
            LoopType::Planar => &[z],
            _ => &[x, y, z][..self.counts()[0]],
        };
        for &e in offsets {
            to(ends.offset(in_b(e)));
        }
        match self.kind {
            LoopType::Universal => {
                let second = self.axis2.and_then(|axis| axis.direction(parameters));
                to(ends.angle(in_a(second.unwrap_or_else(Vec3::y)), in_b(z)));
            }
            _ => {
                // The axis of a at right angles to both directions across that of b, and without a
                // turn about it.
                for (of_a, of_b) in [(z, x), (z, y), (x, y)].into_iter().take(self.counts()[1]) {
                    to(ends.angle(in_a(of_a), in_b(of_b)));
                }
            }
        }
        if let Some(length) = self.length {
            to(ends.distance(S::lift(length.of(parameters))));
        }
    }

    /// Whether the frames are nearer to the joint's position than to the one that is turned by half
    /// a turn, which the same constraints allow.
    pub fn is_upright<S: Scalar>(&self, of: Configuration<S>, parameters: &[f64]) -> bool {
        let [R_a, R_b] = [self.a, self.b].map(|frame| of.pose(frame).R.map(S::value));
        let axes = self.axes(parameters);
        let along = |k: usize| (R_a * axes.column(k)).dot(&(R_b * axes.column(k)));
        match (self.kind, self.counts()[1]) {
            (LoopType::Universal, _) | (_, 0) => true,
            (_, 2) => along(2) > 0.0,
            _ => along(2) > 0.0 && along(0) > 0.0,
        }
    }
}

impl<S: Scalar> Ends<S> {
    /// (1)
    fn offset(&self, e: Vec3<S>) -> Constraint<S> {
        let u = &self.u.v;
        Constraint {
            unit: Wrench::new(Vec3::zeros(), e),
            violation: e.dot(&self.apart),
            rate: e.dot(u),
            is_offset: true,
            bias: e.dot(&self.bias.v) - e.dot(&self.w[1].cross(u)) * S::lift(2.0),
        }
    }

    /// (2)
    fn angle(&self, n_a: Vec3<S>, n_b: Vec3<S>) -> Constraint<S> {
        let d = n_a.cross(&n_b);
        let [w_a, w_b] = &self.w;
        let d_dot = w_a.cross(&n_a).cross(&n_b) + n_a.cross(&w_b.cross(&n_b));
        Constraint {
            unit: Wrench::new(d, Vec3::zeros()),
            violation: n_a.dot(&n_b),
            rate: d.dot(&self.u.w),
            is_offset: false,
            bias: d.dot(&self.bias.w) + self.u.w.dot(&d_dot),
        }
    }

    /// (3); where the origins coincide there is no direction, and the constraint does nothing.
    fn distance(&self, length: S) -> Constraint<S> {
        let apart = norm(&self.apart);
        let e = match apart.value() > 0.0 {
            true => self.apart / apart,
            false => Vec3::zeros(),
        };
        let w_b = &self.w[1];
        let swept = w_b.cross(&self.apart);
        let v = self.u.v + swept;
        let across = v - e * e.dot(&v);
        let turning = match apart.value() > 0.0 {
            true => across.dot(&across) / apart,
            false => S::zero(),
        };
        Constraint {
            unit: Wrench::new(Vec3::zeros(), e),
            violation: apart - length,
            rate: e.dot(&self.u.v),
            is_offset: true,
            bias: e.dot(&self.bias.v) + e.dot(&w_b.cross(&swept)) + turning,
        }
    }
}
