use super::bushing::Bushing;
use super::{Compiler, Cursor, Element, Instant, Invariance, Outputs, Pair, Reads, Values, View, report};
use crate::Problem;
use crate::algebra::fused::product_back;
use crate::algebra::{Mask, Mat3, Quaternion, Scalar, Vec3, Wrench, log, norm};
use crate::dynamics::Applied;
use crate::spec::Spec;
use crate::system::{Carrier, Configuration, FrameRef, InputKind, Quantity, System, Unit};

/// Switched spring-damper in six directions (`Bushing`) between two frames. The reverse of its
/// wrench on a acts on b at the origin of b, so momentum is conserved.
///
/// If b is a point of an ANCF beam, `θ` is the shortest rotation from the x axis of a to the beam's
/// tangent, and neither `w` nor `T` has a component along the tangent. If both are such points, x
/// of a is the tangent there, and `θ` turns it until the tangents are parallel or opposite,
/// whichever is nearer. A beam without torsion takes no moment about its tangent: the damper's
/// force across a then acts along the offset across a (for no offset, along its rate), and the
/// moment about the normal of both tangents, so that both beams take the whole wrench.
///
/// The power of the whole wrench is counted as work of loads without potential, because switching
/// changes the spring energy.
#[derive(Clone, Debug)]
pub struct Grasp {
    /// Name in the spec.
    pub name: String,
    /// Names of the two frames.
    pub names: [String; 2],
    frames: [FrameRef; 2],
    holds: Holds,
    switch: usize,
    /// True if the grasp is on at the start.
    pub on: bool,
    bushing: Bushing,
}

/// Relative rotation on which a grasp acts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Holds {
    /// That of two frames with attitudes.
    Attitude,
    /// From the x axis of a to the tangent of an ANCF beam at b.
    Direction,
    /// Between the centre lines of two ANCF beams, which have no sense.
    Line,
}

impl Holds {
    fn of(system: &System, frames: [FrameRef; 2]) -> Self {
        match frames.map(|frame| matches!(system.carrier(frame), Carrier::Point(_))) {
            [true, true] => Self::Line,
            [_, true] => Self::Direction,
            [_, false] => Self::Attitude,
        }
    }

    /// Returns the rotation vector (rad, axes of a) from the attitude of b relative to a.
    fn turn<S: Scalar>(self, R_AB: &Mat3<S>) -> Vec3<S> {
        let along = R_AB.column(0).into_owned();
        match self {
            Self::Attitude => log(Quaternion::from_rotation(R_AB)),
            Self::Direction => shortest(&along),
            Self::Line => {
                let is_back = (-along.x).exceeds(0.0);
                shortest(&along.map(|x| S::select(is_back, -x, x)))
            }
        }
    }
}

/// Wrench and deformation of a grasp at one instant.
#[derive(Clone, Copy, Debug)]
pub struct Grasped<S: Scalar> {
    /// Distance between the origins, m.
    pub gap: S,
    /// Angle between the attitudes (with an ANCF beam: between x axis and tangent), rad.
    pub angle: S,
    /// Wrench on a, about its origin, world axes.
    pub on_a: Wrench<S>,
}

impl Element for Grasp {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let mut grasps = Vec::new();
        for (name, written) in &from.spec.grasp {
            let Some(frames) = from.pair("grasp", name, [&written.a, &written.b]) else {
                continue;
            };
            let bushing = Bushing::declare(["grasp", name], &written.a, &written.bushing(), from.declare);
            let what = format!("switches grasp {name}: closed while above 0.5");
            let switch = Quantity::new(format!("{name}.on"), Unit::One, what);
            grasps.push(Grasp {
                name: name.clone(),
                names: [written.a.clone(), written.b.clone()],
                frames,
                holds: Holds::of(from.system, frames),
                on: written.on,
                switch: from
                    .declare
                    .input(switch, f64::from(u8::from(written.on)), InputKind::Switch),
                bushing,
            });
        }
        grasps
    }

    /// Reports a grasp without stiffness.
    fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        if self.bushing.stiffness.vector(of.values) == Vec3::zeros() {
            let [a, b] = &self.names;
            let what = format!(
                "the stiffness of grasp \"{}\" between \"{a}\" and \"{b}\" is zero: it must be positive along \
                one axis or more",
                self.name
            );
            report(of.declared, self.bushing.stiffness, problems, what);
        }
        if self.holds == Holds::Line {
            for id in self.bushing.uneven_across(of.values) {
                let what = format!(
                    "the values along y and z of grasp \"{}\" differ: an ANCF beam has no axes across, so they \
                     must be equal",
                    self.name
                );
                report(of.declared, id, problems, what);
            }
        }
    }

    fn outputs(&self, _: &Spec, system: &System, to: &mut Outputs) {
        let (name, [a, b]) = (&self.name, &self.names);
        let quantities = [
            Quantity::new(
                format!("{name}.distance"),
                Unit::Metre,
                format!("distance from {a} to {b}"),
            ),
            Quantity::new(
                format!("{name}.angle"),
                Unit::Radian,
                format!("angle between the attitudes of {a} and {b}; of an ANCF beam, between the directions"),
            ),
        ];
        to.invariant(
            Invariance::Objective.when(system.move_together(self.frames)),
            quantities,
        );
        let force = format!("force of grasp {name} on {a}, inertial axes");
        let moment = format!("moment of grasp {name} on {a}, about its origin, inertial axes");
        to.continuous(Quantity::vector(&format!("{name}.force"), Unit::Newton, &force));
        to.continuous(Quantity::vector(&format!("{name}.moment"), Unit::NewtonMetre, &moment));
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let grasped = self.grasped(&view.now);
        y.number(grasped.gap);
        y.number(grasped.angle);
        y.wrench(&grasped.on_a);
    }

    fn reads(&self) -> Reads {
        Reads::MOTION
    }

    fn reads_world(&self, system: &System) -> bool {
        !system.move_together(self.frames)
    }

    fn works_on_bodies(&self) -> bool {
        true
    }

    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let (pair, F, ..) = self.wrench(now);
        pair.push(now.system, now.kinematics, applied, F);
    }
}

impl Grasp {
    /// Returns the angle between the two frames, rad.
    pub fn angle<S: Scalar>(&self, of: Configuration<S>) -> S {
        let [R_WA, R_WB] = self.frames.map(|frame| of.pose(frame).R);
        norm(&self.holds.turn(&product_back(&R_WA, &R_WB)))
    }

    /// Returns the angle at which the sense of the restoring moment is undefined, degrees.
    pub fn undefined_angle_deg(&self) -> f64 {
        if self.holds == Holds::Line { 90.0 } else { 180.0 }
    }

    /// Returns the gripper a, and the point of an ANCF beam that it holds from the start; `None` if
    /// b is no such point, or the grasp is open at the start.
    pub fn held_beam(&self) -> Option<(FrameRef, usize)> {
        match self.frames[1] {
            FrameRef::Point(point) if self.on => Some((self.frames[0], point)),
            _ => None,
        }
    }

    /// Returns true if the angular stiffness is not zero.
    pub fn is_stiff_against_turns(&self, parameters: &[f64]) -> bool {
        (self.bushing.angular_stiffness).is_some_and(|id| id.vector(parameters) != Vec3::zeros())
    }

    /// Returns the pair at the origin of b, the wrench on a about that point (world axes; zero
    /// while off), the displacement (m, world axes) and the rotation vector (rad, axes of a).
    fn wrench<S: Scalar>(&self, now: &Instant<S>) -> (Pair<S>, Wrench<S>, Vec3<S>, Vec3<S>) {
        let (system, kinematics) = (now.system, now.kinematics);
        let of = now.configuration();
        let [A, B] = self.frames.map(|frame| kinematics.pose(system, now.derived, frame));
        let gap = B.p - A.p;
        let pair = Pair::at(of, self.frames, gap);
        let holds_direction = self.holds != Holds::Attitude;
        let along = B.R.column(0).into_owned();
        let turn = self.holds.turn(&product_back(&A.R, &B.R));
        let is_on = now.inputs[self.switch].exceeds(0.5);
        if !is_on.is_needed() {
            return (pair, Wrench::zero(), gap, turn);
        }
        // Motion of a relative to b, at the origin of b.
        let u = pair.relative(|on| kinematics.carrier(on).V_WB);
        let [mut w, mut v] = [-u.w, -u.v];
        if holds_direction {
            w -= along * along.dot(&w);
        }
        if self.holds == Holds::Line {
            let x = A.R.column(0).into_owned();
            let across = |r: Vec3<S>| r - x * x.dot(&r);
            v += onto(across(v), across(gap)) - across(v);
            w = onto(across(w), x.cross(&along));
        }
        let mut F = self
            .bushing
            .wrench(S::numbers(now.parameters), &A.R, [gap, v, w], &turn);
        if holds_direction {
            // An ANCF beam has no torsion: no moment acts along its tangent.
            F.t -= along * along.dot(&F.t);
        }
        let [t, f] = [F.t, F.f].map(|v| v.map(|x| S::select(is_on, x, S::zero())));
        (pair, Wrench::new(t, f), gap, turn)
    }

    /// Returns the wrench and the deformation at an instant.
    pub fn grasped<S: Scalar>(&self, now: &Instant<S>) -> Grasped<S> {
        let (_, F, gap, turn) = self.wrench(now);
        Grasped {
            gap: norm(&gap),
            angle: norm(&turn),
            on_a: F.shift(&gap),
        }
    }
}

/// Returns the projection of `v` onto the line along `d`; `v` itself if `d` is zero.
fn onto<S: Scalar>(v: Vec3<S>, d: Vec3<S>) -> Vec3<S> {
    let square = d.dot(&d);
    let is_line = square.exceeds(f64::MIN_POSITIVE);
    let part = S::select(is_line, d.dot(&v) / square, S::zero());
    (d * part).zip_map(&v, |along, v| S::select(is_line, along, v))
}

/// Returns the rotation vector (rad) of the shortest rotation from the x axis to a unit vector; if
/// they are opposite, the rotation is about y.
fn shortest<S: Scalar>(to: &Vec3<S>) -> Vec3<S> {
    // The quaternion (1 + cos, sin) represents this rotation; beyond 90° the sum 1 + cos would
    // suffer cancellation.
    let v = Vec3::new(S::zero(), -to.z, to.y);
    let square = v.dot(&v);
    let is_back = to.x.value() < 0.0;
    if is_back && square.value() < 1e-30 {
        return Vec3::y() * S::lift(std::f64::consts::PI);
    }
    let w = match is_back {
        true => square / (S::one() - to.x),
        false => S::one() + to.x,
    };
    log(Quaternion::new(w, v.x, v.y, v.z))
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;
    use crate::algebra::exp;

    unit_tests![shortest_rotation_aligns_x_without_rotation_about_it];

    fn shortest_rotation_aligns_x_without_rotation_about_it() {
        for to in [
            [1.0, 0.0, 0.0],
            [0.6, -0.48, 0.64],
            [0.0, 1.0, 0.0],
            [-0.8, 0.36, 0.48],
            [-1.0, 0.0, 0.0],
            [-1.0 + f64::EPSILON / 2.0, 0.0, 0.0],
            [-1.0, 1e-9, 0.0],
        ] {
            let to = Vec3::from(to);
            let turn = shortest(&to);
            assert!((exp(turn).rotate(Vec3::x()) - to).norm() < 1e-15 && turn.x.abs() < 1e-15);
        }
    }
}
