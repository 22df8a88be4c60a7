use super::{Instant, Pair, report};
use crate::Problem;
use crate::algebra::{Mat3, Quaternion, Scalar, Vec3, Wrench, lift3, log, norm};
use crate::dynamics::Applied;
use crate::spec::{PerAxis, Spec, at};
use crate::system::{Carrier, Configuration, Declarations, FrameRef, ParamId, Parameter, Quantity, System, Unit};

/// A spring-damper between two frames that coincide when it is at rest, while its switch is on.
///
/// With the displacement `g` and the turn `θ` of b seen from a, in axes of a,
///
/// ```text
///     F = k g + c ġ,      T = k_t θ + c_t w,
/// ```
///
/// a force on a at the origin of b, and a moment, with their reverse on b: no momentum is made. Where b is a point of an ANCF beam, `θ` is the shortest turn from the x of a
/// to the beam's direction, and neither `w` nor `T` has a part about it.
///
/// All of it counts as work, since the switch makes and takes energy. (Yang et al. 2023, Eqs. 66–68, in the plane; the sign of their angle is that of `θ` here.)
#[derive(Clone, Debug)]
pub struct Grasp {
    /// The user's name.
    pub name: String,
    /// The names of the two frames.
    pub names: [String; 2],
    frames: [FrameRef; 2],
    switch: usize,
    /// True if it holds from the start.
    pub on: bool,
    /// First of three numbers each.
    stiffness: ParamId,
    damping: ParamId,
    angular_stiffness: Option<ParamId>,
    angular_damping: Option<ParamId>,
}

/// Wrench and deformation of a grasp at one instant.
#[derive(Clone, Copy, Debug)]
pub struct Grasped<S: Scalar> {
    /// Distance of the origins, m.
    pub gap: S,
    /// Angle between the attitudes (of an ANCF beam: the directions), rad.
    pub angle: S,
    /// On a, about its origin, world axes.
    pub on_a: Wrench<S>,
}

pub(super) fn declare(
    spec: &Spec,
    system: &System,
    declare: &mut Declarations,
    problems: &mut Vec<Problem>,
) -> Vec<Grasp> {
    let mut grasps = Vec::new();
    for (name, written) in &spec.grasp {
        let mut find = |field: &str, frame: &str| system.written_frame(["grasp", name, field], frame, problems);
        let (Some(a), Some(b)) = (find("a", &written.a), find("b", &written.b)) else {
            continue;
        };
        let mut gain = |field: &str, value: &PerAxis, unit, what: &str| {
            let what = format!("{what} of grasp {name}, axes of {}", written.a);
            declare.gains(
                &format!("{name}.{field}"),
                value,
                unit,
                &what,
                &at("grasp", name, field),
            )
        };
        let stiffness = gain("stiffness", &written.stiffness, Unit::NewtonPerMetre, "stiffness");
        let damping = gain("damping", &written.damping, Unit::NewtonSecondPerMetre, "damping");
        let mut turning = |field: &str, value: &Option<PerAxis>, unit, what: &str| {
            value.as_ref().map(|value| gain(field, value, unit, what))
        };
        let angular_stiffness = turning(
            "angular_stiffness",
            &written.angular_stiffness,
            Unit::NewtonMetrePerRadian,
            "stiffness against turns",
        );
        let angular_damping = turning(
            "angular_damping",
            &written.angular_damping,
            Unit::NewtonMetreSecondPerRadian,
            "damping of turns",
        );
        let what = format!("switches grasp {name}: it holds above 0.5");
        let switch = Quantity::new(format!("{name}.on"), Unit::One, what);
        grasps.push(Grasp {
            name: name.clone(),
            names: [written.a.clone(), written.b.clone()],
            frames: [a, b],
            on: written.on,
            switch: declare.input(switch, f64::from(u8::from(written.on)), true),
            stiffness,
            damping,
            angular_stiffness,
            angular_damping,
        });
    }
    grasps
}

impl Grasp {
    /// Complains of one that holds nothing.
    pub(super) fn judge(&self, declared: &[Parameter], values: &[f64], problems: &mut Vec<Problem>) {
        if self.stiffness.vector(values) == Vec3::zeros() {
            let [a, b] = &self.names;
            let what = format!("without stiffness \"{}\" does not hold \"{a}\" at \"{b}\"", self.name);
            report(declared, self.stiffness, problems, what);
        }
    }

    /// Angle between the two, rad.
    pub fn angle<S: Scalar>(&self, of: Configuration<S>) -> S {
        let [R_WA, R_WB] = self.frames.map(|frame| of.pose(frame).R);
        norm(&turn(self.holds_direction(of.system), &R_WA.tr_mul(&R_WB)))
    }

    /// True if b is a point of an ANCF beam, which has a direction only.
    fn holds_direction(&self, system: &System) -> bool {
        matches!(system.carrier(self.frames[1]), Carrier::Point(_))
    }

    /// True if relative rotation is held too.
    pub fn is_stiff_against_turns(&self, parameters: &[f64]) -> bool {
        (self.angular_stiffness).is_some_and(|id| id.vector(parameters) != Vec3::zeros())
    }

    /// The pair at the origin of b, and on a the wrench about it, world axes; with the displacement, and the turn. Nothing while it is off.
    fn wrench<S: Scalar>(&self, now: &Instant<S>) -> (Pair<S>, Wrench<S>, Vec3<S>, Vec3<S>) {
        let (system, kinematics) = (now.system, now.kinematics);
        let of = now.configuration();
        let [A, B] = self.frames.map(|frame| kinematics.pose(system, now.derived, frame));
        let gap = B.p - A.p;
        let pair = Pair::at(of, self.frames, gap);
        let holds_direction = self.holds_direction(system);
        let along = B.R.column(0).into_owned();
        let turn = turn(holds_direction, &A.R.tr_mul(&B.R));
        if now.inputs[self.switch].value() <= 0.5 {
            return (pair, Wrench::zero(), gap, turn);
        }
        // Of a seen from b, at the origin of b.
        let u = pair.relative(|on| kinematics.carrier(on).V_WB);
        let mut w = u.w;
        if holds_direction {
            w -= along * along.dot(&w);
        }
        let gain = |id: ParamId| lift3::<S>(&id.vector(now.parameters));
        let [g, g_dot, w] = [gap, -u.v, -w].map(|v| A.R.tr_mul(&v));
        let f = gain(self.stiffness).component_mul(&g) + gain(self.damping).component_mul(&g_dot);
        let of_turn = |id: Option<ParamId>, v: &Vec3<S>| id.map_or_else(Vec3::zeros, |id| gain(id).component_mul(v));
        let t = of_turn(self.angular_stiffness, &turn) + of_turn(self.angular_damping, &w);
        let mut t = A.R * t;
        if holds_direction {
            // About its direction an ANCF beam takes no moment.
            t -= along * along.dot(&t);
        }
        (pair, Wrench::new(t, A.R * f), gap, turn)
    }

    pub(super) fn add<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let (pair, F, ..) = self.wrench(now);
        pair.push(now.system, now.kinematics, applied, F);
    }

    /// What it does.
    pub fn grasped<S: Scalar>(&self, now: &Instant<S>) -> Grasped<S> {
        let (_, F, gap, turn) = self.wrench(now);
        Grasped {
            gap: norm(&gap),
            angle: norm(&turn),
            on_a: F.shift(&gap),
        }
    }
}

/// What turns a frame by `R`, or its x only: a rotation vector, rad.
fn turn<S: Scalar>(of_direction: bool, R: &Mat3<S>) -> Vec3<S> {
    match of_direction {
        true => shortest(&R.column(0).into_owned()),
        false => log(Quaternion::from_rotation(R)),
    }
}

/// The shortest turn from x to a unit vector: a rotation vector, rad. Where they are opposite, about y.
fn shortest<S: Scalar>(to: &Vec3<S>) -> Vec3<S> {
    // The quaternion (1 + cos, sin) turns as far; beyond a right angle 1 + cos would lose digits.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::exp;

    #[test]
    fn the_shortest_turn_turns_x_there_and_not_about_it() {
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
