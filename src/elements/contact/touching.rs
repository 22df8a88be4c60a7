//! Points of contact that may rest, with their motion.

use super::Contact;
use super::rest::{Ball, Base};
use super::rim::RimState;
use crate::algebra::{Pose, Scalar, Twist, Vec3, lift3, root};
use crate::elements::{Discrete, Pair};
use crate::system::{BodyKinematics, Configuration};

/// Speed below which the direction of sliding tends to that in which the sliding began, m/s. In straight
/// motion it has no effect.
const SLOW: f64 = 1e-6;

/// Point of contact with its motion, at one instant. Vectors have world axes.
pub(crate) struct Touching<S: Scalar> {
    pub pair: Pair<S>,
    /// Distance, m; negative is penetration.
    pub gap: S,
    /// Derivative of the gap, m/s.
    pub rate: S,
    /// Unit normal from b towards a.
    pub n: Vec3<S>,
    /// Two unit vectors along the surface.
    pub t: [Vec3<S>; 2],
    /// Vector from the origin of a to the point, m.
    pub from_a: Vec3<S>,
    /// Velocity of a relative to b at the point, m/s.
    pub u: Vec3<S>,
    /// Derivative of `u` without the accelerations of the bodies beyond their bias, m/s².
    pub bias: Vec3<S>,
    /// Derivative of the normal, 1/s.
    pub n_dot: Vec3<S>,
    /// Angular velocity of b, rad/s.
    pub w_B: Vec3<S>,
}

/// Poses and velocities of the frames of a contact that may rest; all its points share them.
pub(crate) struct RestingFrames<'a, S: Scalar> {
    pub(super) contact: &'a Contact,
    /// Poses of a and b in the world.
    pub poses: [Pose<S>; 2],
    /// Angular velocities and velocities of the origins of a and b, world axes.
    pub(super) V: [Twist<S>; 2],
    /// Motions of the carriers of a and b.
    carriers: [BodyKinematics<S>; 2],
    /// Plane of b; `None` if b is a sphere or a polyhedron.
    plane: Option<PlaneMotion<S>>,
    /// Pair at the origin of a.
    pair: Pair<S>,
}

/// Position of a point at one instant with the motion of the position, world axes.
pub(super) struct Located<S: Scalar> {
    /// Distance, m.
    pub gap: S,
    /// Derivative of the distance, m/s.
    pub rate: S,
    /// Unit normal from b towards a.
    pub n: Vec3<S>,
    /// Derivative of the normal, 1/s.
    pub n_dot: Vec3<S>,
    /// Two unit vectors along the surface.
    pub t: [Vec3<S>; 2],
    /// Vector from the origin of a to the point, m.
    pub from_a: Vec3<S>,
    /// Velocity of the point, which moves over both bodies, m/s.
    pub v: Vec3<S>,
}

/// Axes of a plane at one instant, world axes.
struct PlaneMotion<S: Scalar> {
    /// Unit normal towards a.
    n: Vec3<S>,
    /// Derivative of the normal, 1/s.
    n_dot: Vec3<S>,
    /// Two unit vectors along the plane.
    t: [Vec3<S>; 2],
}

impl<S: Scalar> Touching<S> {
    /// Returns the velocity of a relative to b along the surface, m/s.
    pub fn slip(&self) -> Vec3<S> {
        self.u - self.n * self.n.dot(&self.u)
    }

    /// Returns the direction of sliding (unit vector), which at low speeds tends to that in which it
    /// began, `began` (unit vector): it is undefined at zero speed. A velocity against `began` counts as
    /// zero along it: the sliding has then stopped within a step, and the derivatives are smooth until
    /// the event is located.
    pub fn direction(&self, began: Vec3<S>) -> Vec3<S> {
        let (slip, along_surface) = (self.slip(), began - self.n * self.n.dot(&began));
        let along = slip.dot(&along_surface);
        let reversed = S::select(along.exceeds(0.0), S::zero(), along);
        let d = slip + along_surface * (S::lift(SLOW) - reversed);
        let square = d.dot(&d);
        if square.value() > 0.0 { d / square.sqrt() } else { began }
    }
}

impl Contact {
    /// Returns a point of a contact that may rest, with its motion.
    pub(crate) fn touching<S: Scalar>(
        &self,
        point: usize,
        parameters: &[f64],
        discrete: &Discrete,
        at: Configuration<S>,
    ) -> Touching<S> {
        self.frames_at(parameters, at).touching(point, parameters, discrete)
    }

    /// Returns the motion of the frames of a contact that may rest.
    pub(crate) fn frames_at<S: Scalar>(&self, parameters: &[f64], at: Configuration<S>) -> RestingFrames<'_, S> {
        let on = [self.a, self.b].map(|frame| at.system.carrier(frame));
        let carriers = on.map(|on| at.kinematics.carrier(on));
        let arms = [self.a, self.b].map(|frame| at.arm(frame));
        let V = [0, 1].map(|side| carriers[side].V_WB.shift(&arms[side].p));
        let poses = [0, 1].map(|side| Pose {
            p: carriers[side].p_WB + arms[side].p,
            ..arms[side]
        });
        let is_polyhedron = self.rest.is_some_and(|rest| rest.manifold.is_some());
        let plane = match self.ball(0, parameters).base {
            Base::Plane(normal) if !is_polyhedron => {
                let n = poses[1].R * lift3::<S>(&normal);
                Some(PlaneMotion {
                    n,
                    n_dot: V[1].w.cross(&n),
                    t: tangents(n, &poses[1]),
                })
            }
            Base::Plane(_) | Base::Sphere(_) => None,
        };
        RestingFrames {
            contact: self,
            poses,
            V,
            carriers,
            plane,
            pair: Pair::at_origin(on, arms.map(|arm| arm.p), poses[0].p - poses[1].p),
        }
    }
}

impl<S: Scalar> RestingFrames<'_, S> {
    /// Returns the motion of a relative to b at the origin of a, world axes.
    pub fn relative(&self) -> Twist<S> {
        let [a, b] = &self.carriers;
        a.V_WB.shift(&self.pair.arms[0]) - b.V_WB.shift(&self.pair.arms[1])
    }

    /// Returns a point of the contact, with its motion.
    pub fn touching(&self, point: usize, parameters: &[f64], discrete: &Discrete) -> Touching<S> {
        let located = match self.contact.rest.and_then(|rest| rest.manifold) {
            Some(manifold) => {
                let (pair, slot) = (discrete.face_pair(manifold), discrete.slot(manifold, point));
                self.locate(&pair, &slot, parameters)
            }
            None => self.locate_ball(point, parameters, self.contact.rim_state(discrete)),
        };
        self.moving(located)
    }

    /// Returns the motion of the contact point that is at a position now.
    pub(super) fn moving(&self, located: Located<S>) -> Touching<S> {
        let Located {
            gap,
            rate,
            n,
            n_dot,
            t,
            from_a,
            v,
        } = located;
        let [V_A, V_B] = &self.V;
        let pair = self.pair.moved(from_a);
        let (v_A, v_B) = (self.velocity_of_a(&from_a), self.velocity_of_b(&from_a));
        let moves = V_A.w.cross(&(v - v_A)) - V_B.w.cross(&(v - v_B));
        Touching {
            pair,
            gap,
            rate,
            n,
            t,
            from_a,
            u: v_A - v_B,
            bias: pair.bias_between(&self.carriers[0], &self.carriers[1]).v + moves,
            n_dot,
            w_B: V_B.w,
        }
    }

    /// Returns the velocity of a at a point relative to its origin (m), m/s.
    pub(super) fn velocity_of_a(&self, from_a: &Vec3<S>) -> Vec3<S> {
        self.V[0].shift(from_a).v
    }

    /// Returns the velocity of b at a point relative to the origin of a (m), m/s.
    pub(super) fn velocity_of_b(&self, from_a: &Vec3<S>) -> Vec3<S> {
        self.V[1].shift(&self.seen_from_b(from_a)).v
    }

    /// Returns the vector from the origin of b to a point relative to that of a, m.
    pub(super) fn seen_from_b(&self, from_a: &Vec3<S>) -> Vec3<S> {
        self.poses[0].p - self.poses[1].p + from_a
    }

    /// Returns the point of a ball on a plane or a sphere: halfway between the surfaces, of a compliant
    /// contact with a plane on the plane. There the points of a body with several feet, pressed to
    /// different depths, do not hinder each other while they stick and the body rocks.
    pub(super) fn locate_ball(&self, point: usize, parameters: &[f64], rims: RimState) -> Located<S> {
        let Ball {
            centre,
            rim,
            radius,
            base,
        } = self.contact.ball(point, parameters);
        let ([A, B], [V_A, V_B]) = (&self.poses, &self.V);
        let (mut arm, mut moves) = (A.R * lift3::<S>(&centre), Vec3::zeros());
        if let (Some((r, quarter)), Some(PlaneMotion { n, .. })) = (rim, &self.plane) {
            let n = *n;
            let turns = (V_B.w - V_A.w).cross(&n);
            let into_plane = [n, turns].map(|v| -A.R.tr_mul(&v));
            let [e, e_dot] = rims.towards(quarter, into_plane[0], into_plane[1]);
            arm += A.R * e * S::lift(r);
            moves = A.R * e_dot * S::lift(r);
        }
        // Velocity of the ball's centre.
        let v_centre = V_A.v + V_A.w.cross(&arm) + moves;
        let (d, d_dot) = (A.p - B.p + arm, v_centre - V_B.v);
        let (n, n_dot, gap, rate) = match &self.plane {
            Some(PlaneMotion { n, n_dot, .. }) => (*n, *n_dot, n.dot(&d), n.dot(&d_dot) + n_dot.dot(&d)),
            None => {
                let length = root(d.dot(&d));
                let n = d / length;
                let rate = n.dot(&d_dot);
                let r_b = match base {
                    Base::Sphere(radius) => radius,
                    Base::Plane(_) => 0.0,
                };
                (n, (d_dot - n * rate) / length, length - S::lift(r_b), rate)
            }
        };
        let t = self.plane.as_ref().map_or_else(|| tangents(n, B), |plane| plane.t);
        let gap = gap - S::lift(radius);
        let share = S::lift(match self.plane {
            Some(_) if self.contact.is_compliant() => 1.0,
            _ => 0.5,
        });
        let depth = gap * share + S::lift(radius);
        let from_a = arm - n * depth;
        Located {
            gap,
            rate,
            n,
            n_dot,
            t,
            from_a,
            v: v_centre - n_dot * depth - n * (rate * share),
        }
    }
}

/// Returns two unit vectors perpendicular to the unit vector `n` and to each other. They are fixed
/// in b while `n` is.
pub(super) fn tangents<S: Scalar>(n: Vec3<S>, B: &Pose<S>) -> [Vec3<S>; 2] {
    let in_b = B.R.tr_mul(&n).map(|x| x.value().abs());
    let mut least = 0;
    for i in 1..3 {
        if in_b[i] < in_b[least] {
            least = i;
        }
    }
    let across = n.cross(&B.R.column(least));
    let first = across / root(across.dot(&across));
    [first, n.cross(&first)]
}
