//! Joints that close kinematic loops.

use super::{Compiler, Cursor, Element, Outputs, Pair, Values, View, closure, report};
use crate::Problem;
use crate::algebra::{Mat3, Scalar, Twist, Vec3, Wrench, lift3, norm};
use crate::spec::{LoopType, Spec, at};
use crate::system::{BodyKinematics, Bound, Configuration, FrameRef, ParamId, Quantity, System, Unit};

/// A joint between the frames a and b that closes a loop: a list of scalar constraints `φ = 0`, of
/// three kinds.
///
/// With the offset of the origins `Δ = p_A − p_B`, the relative velocity `u` of the points of both
/// bodies at the origin of a, `w = w_A − w_B`, and all unit vectors in world axes:
///
/// ```text
///     offset     φ = e·Δ,               e fixed in b
///                φ̇ = e·u,               φ̈ = e·a − 2 e·(w_B × u)                         (1)
///     angle      φ = n_a·n_b,           n_a fixed in a, n_b in b,   d = n_a × n_b
///                φ̇ = w·d,               φ̈ = α·d + w·ḋ                                   (2)
///     distance   φ = |Δ| − l,           e = Δ/|Δ|
///                φ̇ = e·(v_A − v_B),     φ̈ = e·a + e·(w_B × (w_B × Δ)) + |v⊥|²/|Δ|       (3)
/// ```
///
/// `a` is the relative acceleration of those two points, `α` that of the bodies' rotation, and `v⊥`
/// the part of `v_A − v_B` across `e`. A constraint's reaction is a force along `e` at the origin
/// of a, or a moment along `d`, on a; its reverse acts on b at the same point.
#[derive(Clone, Debug)]
pub struct ClosedLoop {
    /// Index among the loops.
    number: usize,
    /// Name in the spec.
    pub name: String,
    /// Names of the two frames.
    pub names: [String; 2],
    /// Frame on which the reaction acts.
    pub a: FrameRef,
    /// Frame that carries the joint; the reverse of the reaction acts on it.
    pub b: FrameRef,
    kind: LoopType,
    axis: Option<ParamId>,
    axis2: Option<ParamId>,
    length: Option<ParamId>,
    alpha: ParamId,
    beta: ParamId,
}

/// Scalar constraint `φ = 0` of a pair at one instant.
#[derive(Clone, Copy, Debug)]
pub struct Constraint<S: Scalar> {
    /// Wrench of a unit reaction on the first frame of the pair, about the pair's point, world
    /// axes; `φ̇` is its power on the relative motion.
    pub unit: Wrench<S>,
    /// Constraint violation `φ`: a length in m, or the cosine of a nominally right angle (rad to
    /// first order).
    pub violation: S,
    /// Constraint violation on velocity level `φ̇`, m/s or rad/s.
    pub rate: S,
    /// True if `φ` is a length, (1) or (3); false if it is an angle, (2).
    pub is_offset: bool,
    /// Velocity-dependent part of `φ̈`: `φ̈ = unit·A + bias`, with the part `A` of the relative
    /// acceleration that is linear in the derivatives of the rates.
    pub bias: S,
}

/// Kinematics of the two frames of a loop at one instant, world axes.
struct Ends<S: Scalar> {
    R: [Mat3<S>; 2],
    /// `Δ`, m.
    apart: Vec3<S>,
    /// Relative velocity of the two bodies at the origin of a.
    u: Twist<S>,
    w: [Vec3<S>; 2],
    /// Velocity-dependent part of the relative acceleration at the origin of a.
    bias: Twist<S>,
}

impl Element for ClosedLoop {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let mut loops = Vec::new();
        for (name, written) in &from.spec.closed_loop {
            let Some([a, b]) = from.moving_pair("loop", name, [&written.a, &written.b]) else {
                continue;
            };
            let kind = written.kind;
            let mut direction = |field: &str, value: [f64; 3], of: &str, what: &str| {
                let quantities = Quantity::vector(
                    &format!("{name}.{field}"),
                    Unit::One,
                    &format!("{what} of loop {name}, axes of {of}"),
                );
                from.declare
                    .parameters(quantities, &value, false, &at("loop", name, field))
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
                from.declare
                    .parameter(quantity, value, false, &at("loop", name, "length"))
            });
            let mut gain = |field: &str, value: Option<f64>, what: &str| {
                let what = format!("{what} of loop {name}");
                let quantity =
                    Quantity::new(format!("{name}.{field}"), Unit::PerSecond, what).bounded(Bound::NotNegative);
                from.declare
                    .parameter(quantity, value.unwrap_or(10.0), true, &at("loop", name, field))
            };
            loops.push(ClosedLoop {
                number: loops.len(),
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
                    "Baumgarte gain alpha (velocity-level constraint violation)",
                ),
                beta: gain(
                    "beta",
                    written.beta,
                    "Baumgarte gain beta (position-level constraint violation)",
                ),
            });
        }
        loops
    }

    /// Reports axes without a direction.
    fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        for axis in self.axis.iter().chain(&self.axis2) {
            if axis.direction(of.values).is_none() {
                let what = format!("the axis of loop \"{}\" has zero length", self.name);
                report(of.declared, *axis, problems, what);
            }
        }
    }

    fn outputs(&self, _: &Spec, _: &System, to: &mut Outputs) {
        let (name, [a, b]) = (&self.name, &self.names);
        let texts = closure::Texts {
            violation: format!("constraint violation of loop {name} in translation, {a} relative to {b}"),
            violation_angle: format!(
                "constraint violation of loop {name} in rotation, {a} relative to {b} (small angle)"
            ),
            force: format!("reaction force of loop {name} on {a}, inertial axes"),
            moment: format!("reaction moment of loop {name} on {a}, about its origin, inertial axes"),
        };
        closure::outputs(name, &texts, to);
    }

    fn reads_world(&self, system: &System) -> bool {
        !system.move_together([self.a, self.b])
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let elements = view.elements;
        let captures = view.closed.len() - elements.closed_loops.len() - elements.couplings.len();
        view.closed[captures + self.number].observe(y);
    }
}

impl ClosedLoop {
    /// Largest number of constraints of a joint.
    pub const MOST: usize = 6;

    /// Returns Baumgarte's gains α and β, 1/s.
    pub fn gains(&self, parameters: &[f64]) -> [f64; 2] {
        [self.alpha.of(parameters), self.beta.of(parameters)]
    }

    /// Returns the parameter indices of the gains α and β.
    pub(super) fn gain_ids(&self) -> [ParamId; 2] {
        [self.alpha, self.beta]
    }

    /// Returns the pair of the two frames at the origin of a, without moments.
    pub fn pair<S: Scalar>(&self, of: Configuration<S>) -> Pair<S> {
        Pair::at_a(of, [self.a, self.b])
    }

    /// Returns the number of constraints.
    pub fn count(&self) -> usize {
        let [offsets, angles, distances] = self.counts();
        offsets + angles + distances
    }

    /// Returns the numbers of constraints of the kinds (1), (2) and (3).
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

    /// Returns a rotation matrix whose third column is the joint's axis, with the same components
    /// in the axes of both frames; the identity for a joint without an axis.
    fn axes(&self, parameters: &[f64]) -> Mat3<f64> {
        let axis = self.axis.and_then(|axis| axis.direction(parameters));
        let Some(z) = axis else { return Mat3::identity() };
        let x = z.cross(&Vec3::ith(z.abs().imin(), 1.0)).normalize();
        Mat3::from_columns(&[x, z.cross(&x), z])
    }

    /// Passes each constraint to `to`, in a fixed order; `pair` is [`pair`](Self::pair) of the same
    /// configuration.
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
                // The axis z in a is perpendicular to x and y in b; for a joint without rotation
                // about the axis, x in a is perpendicular to y in b too.
                for (of_a, of_b) in [(z, x), (z, y), (x, y)].into_iter().take(self.counts()[1]) {
                    to(ends.angle(in_a(of_a), in_b(of_b)));
                }
            }
        }
        if let Some(length) = self.length {
            to(ends.distance(S::lift(length.of(parameters))));
        }
    }

    /// Returns true if the frames are nearer to the intended solution of the constraints than to
    /// the one rotated by half a turn, which satisfies the same constraints.
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
    /// Returns the constraint (1) along the unit vector `e` (world axes, fixed in b).
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

    /// Returns the constraint (2) of two unit vectors in world axes.
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

    /// Returns the constraint (3) for the distance `length` (m). Coincident origins define no
    /// direction; the unit reaction and the rate are then zero.
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
