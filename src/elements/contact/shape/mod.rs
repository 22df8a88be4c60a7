//! Signed distance of two solids with witness point and unit normal.
//!
//! The pair of features (faces, edges, vertices) is found on values; the distance of these features
//! is a closed form in the scalar, so that it has all derivatives, or, between rims, a step of Newton's
//! method. `docs/theory/contact-shapes.md` has the equations.

mod block;
mod capsule;
mod convex;
mod declared;
mod meridian;
mod polyhedron;
mod support;

pub(super) use declared::Shapes;
pub(super) use polyhedron::{Polyhedron, box_corner};

use super::Nearest;
use crate::algebra::fused::{dot, rotated, rotated_back};
use crate::algebra::{ConvexHull, Mask, Pose, Scalar, Twist, Vec3};
use meridian::Meridian;

pub use meridian::wall_width;

/// Solid of a contact with its dimensions (m), in axes of its frame. All but the plane and the hull
/// are centred at the frame's origin; axes of revolution are along z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Solid<'a> {
    /// Half-space z ≤ 0.
    Plane,
    /// Ball.
    Sphere {
        /// Radius; zero for a point.
        radius: f64,
    },
    /// Disc without thickness, with contact on both sides.
    Disc {
        /// Radius.
        radius: f64,
    },
    /// Cylinder with hemispheres at both ends.
    Capsule {
        /// Radius.
        radius: f64,
        /// Half of the length without the hemispheres.
        half: f64,
    },
    /// Box.
    Box {
        /// Half sides.
        half: [f64; 3],
    },
    /// Solid cylinder.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Half of the length.
        half: f64,
    },
    /// Solid cone, truncated or with a tip.
    Cone {
        /// Radius at z = −`half`.
        radius: f64,
        /// Radius at z = `half`.
        end: f64,
        /// Half of the length.
        half: f64,
    },
    /// Conical wall that is open on both sides; its faces there are perpendicular to z.
    Funnel {
        /// Inner radius at z = `half`, the mouth.
        radius: f64,
        /// Inner radius at z = −`half`.
        end: f64,
        /// Half of the length.
        half: f64,
        /// Thickness of the wall, perpendicular to it.
        thickness: f64,
    },
    /// Convex polyhedron with a position of its own.
    Hull(&'a ConvexHull),
}

/// Signed distance of a point from a solid (m) and its gradient, the unit normal out of the solid.
pub(super) type FromSolid<S> = (S, Vec3<S>);

impl Solid<'_> {
    /// Returns the signed distance of the point `c` (m, axes of the solid): outside it the distance
    /// of the nearest point of its surface, inside it that distance negated.
    pub fn distance_to_solid<S: Scalar>(&self, c: Vec3<S>) -> FromSolid<S> {
        match *self {
            Self::Plane => (c.z, Vec3::z()),
            Self::Sphere { radius } => {
                let (distance, n) = from_point(c);
                (distance - S::lift(radius), n)
            }
            Self::Capsule { radius, half } => capsule::from_capsule(c, radius, half),
            Self::Box { half } => block::from_box(c, half),
            Self::Hull(hull) => convex::from_hull(c, hull),
            Self::Disc { radius } => Meridian::disc(radius).distance_to_solid(c),
            Self::Cylinder { radius, half } => Meridian::cone([radius, radius], half).distance_to_solid(c),
            Self::Cone { radius, end, half } => Meridian::cone([radius, end], half).distance_to_solid(c),
            Self::Funnel {
                radius,
                end,
                half,
                thickness,
            } => Meridian::funnel([end, radius], half, thickness).distance_to_solid(c),
        }
    }

    /// Returns the greatest distance of a point of the solid from its frame's origin, m; `None` if
    /// it is infinite.
    pub fn extent(&self) -> Option<f64> {
        let hypotenuse = |a: f64, b: f64| (a * a + b * b).sqrt();
        match *self {
            Self::Plane => None,
            Self::Hull(hull) => Some(hull.extent),
            Self::Sphere { radius } | Self::Disc { radius } => Some(radius),
            Self::Capsule { radius, half } => Some(radius + half),
            Self::Box { half } => Some(Vec3::from(half).norm()),
            Self::Cylinder { radius, half } => Some(hypotenuse(radius, half)),
            Self::Cone { radius, end, half } => Some(hypotenuse(radius.max(end), half)),
            Self::Funnel {
                radius,
                half,
                thickness,
                end,
            } => Some(hypotenuse(radius + wall_width(thickness, radius - end, half), half)),
        }
    }
}

/// Returns the nearest points of the solids a and b at the poses `A` and `B`; `None` for two planes, for
/// a funnel with another shape than a sphere, and for poses that are not finite.
pub fn nearest<S: Scalar>([a, b]: [&Solid; 2], [A, B]: [&Pose<S>; 2]) -> Option<Nearest<S>> {
    let found = match ordered(a, b, [A, B]) {
        Some((gap, n, on_a)) => (gap, n, on_a),
        None => {
            let (gap, n, on_b) = ordered(b, a, [B, A])?;
            (gap, -n, (B.p - A.p) + on_b - n * gap)
        }
    };
    let (gap, n, on_a) = with_all_dependencies(found, [(a, A), (b, B)]);
    Some(Nearest {
        gap,
        n,
        from_a: on_a - n * (gap * S::lift(0.5)),
        is_beside: false,
    })
}

/// Returns an upper bound of the rate of the gap, m/s, for the velocity of a relative to b at the
/// origin of a and the vector `d` from the origin of b to that of a (m), world axes.
///
/// The rate is the normal component of the relative velocity at any point of the line through both
/// nearest points. This line passes through the centre of a sphere, and through a point of each
/// solid.
pub fn rate_bound([a, b]: [&Solid; 2], relative: &Twist<f64>, d: Vec3<f64>) -> f64 {
    let speed = |of: &Solid, origin: &Twist<f64>| match (of, of.extent()) {
        (Solid::Sphere { .. }, _) => origin.v.norm(),
        (_, Some(extent)) => origin.v.norm() + origin.w.norm() * extent,
        (_, None) => f64::INFINITY,
    };
    speed(a, relative).min(speed(b, &relative.shift(&-d)))
}

/// Signed distance (m), unit normal from b towards a and the witness point of a relative to the
/// origin of a (m), world axes.
type Witnessed<S> = (S, Vec3<S>, Vec3<S>);

/// Returns the signed distance of a pair in one order; `None` for the other order, and for pairs
/// without a distance.
fn ordered<S: Scalar>(a: &Solid, b: &Solid, [A, B]: [&Pose<S>; 2]) -> Option<Witnessed<S>> {
    let d = A.p - B.p;
    match (a, b) {
        (&Solid::Sphere { radius }, &Solid::Sphere { radius: r_b }) => {
            let (distance, n) = from_point(d);
            Some((distance - S::lift(radius + r_b), n, -n * S::lift(radius)))
        }
        (&Solid::Sphere { radius }, _) => {
            let (distance, n) = b.distance_to_solid(rotated_back(&B.R, &d));
            let (n, radius) = (rotated(&B.R, &n), S::lift(radius));
            Some((distance - radius, n, -n * radius))
        }
        (&Solid::Capsule { radius, half }, &Solid::Capsule { radius: r_b, half: h_b }) => {
            let axes = [A, B].map(|pose| pose.R.column(2).into_owned());
            let (distance, n, on_a) = capsule::between_axes(d, axes, [half, h_b]);
            let on_a = on_a - n * S::lift(radius);
            Some((distance - S::lift(radius + r_b), n, on_a))
        }
        (_, Solid::Plane) => {
            let n = B.R.column(2).into_owned();
            let on_a = rotated(&A.R, &support::support(a, -rotated_back(&A.R, &n))?);
            Some((dot(&n, &(d + on_a)), n, on_a))
        }
        (Solid::Plane | Solid::Funnel { .. }, _) | (_, Solid::Funnel { .. }) => None,
        _ => convex::between([a, b], [A, B]),
    }
}

/// Returns the numbers with the dependencies of the relative position and of the attitudes of all
/// but spheres: another pair of features may depend on other variables. Values do not change.
fn with_all_dependencies<S: Scalar>(
    (gap, n, on_a): Witnessed<S>,
    [(a, A), (b, B)]: [(&Solid, &Pose<S>); 2],
) -> Witnessed<S> {
    let attitude = |solid: &Solid, pose: &Pose<S>| match solid {
        Solid::Sphere { .. } => S::zero(),
        _ => pose.R.sum(),
    };
    let none = (attitude(a, A) + attitude(b, B) + (A.p - B.p).sum()).exceeds(f64::INFINITY);
    if !none.is_needed() {
        return (gap, n, on_a);
    }
    let all = |number: S| S::select(none, number, number);
    (all(gap), n.map(all), on_a.map(all))
}

/// Square of a length (m²) up to which it counts as zero: smaller ones lose digits to underflow.
const LEAST_SQUARE: f64 = 1e-200;

/// Returns length and direction of a vector; at zero a direction along x, with its derivative.
fn from_point<S: Scalar>(d: Vec3<S>) -> FromSolid<S> {
    let square = dot(&d, &d);
    if square.value() > LEAST_SQUARE {
        let length = square.sqrt();
        (length, d / length)
    } else {
        (d.x, Vec3::x())
    }
}
