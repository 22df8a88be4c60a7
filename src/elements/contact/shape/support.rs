use super::{LEAST_SQUARE, Solid};
use crate::algebra::{Scalar, Vec3, lift3};

/// Returns a point of a solid that is farthest along the unit vector `u` (m, axes of the solid);
/// `None` for planes and funnels. Among the points of a face or an edge perpendicular to
/// `u` its centre is taken, of a hull a vertex.
pub(super) fn support<S: Scalar>(of: &Solid, u: Vec3<S>) -> Option<Vec3<S>> {
    let end = |half: f64| S::lift(half * sign(u.z.value()));
    match *of {
        Solid::Sphere { radius } => Some(u * S::lift(radius)),
        Solid::Capsule { radius, half } => Some(u * S::lift(radius) + Vec3::z() * end(half)),
        Solid::Box { half } => Some(Vec3::from_fn(|i, _| S::lift(half[i] * sign(u[i].value())))),
        Solid::Disc { radius } => Some(rim(u) * S::lift(radius)),
        Solid::Cylinder { radius, half } => Some(rim(u) * S::lift(radius) + Vec3::z() * end(half)),
        Solid::Cone {
            radius,
            end: r_end,
            half,
        } => {
            let across = rim(u);
            // Difference of the extents along u of both rims.
            let more = (across.dot(&u)).value() * (radius - r_end) - 2.0 * half * u.z.value();
            let (radius, z) = match more {
                more if more > 0.0 => (radius, -half),
                more if more < 0.0 => (r_end, half),
                _ => (0.5 * (radius + r_end), 0.0),
            };
            Some(across * S::lift(radius) + Vec3::z() * S::lift(z))
        }
        Solid::Hull(hull) => Some(lift3(&hull.farthest(&u.map(Scalar::value)))),
        Solid::Plane | Solid::Funnel { .. } => None,
    }
}

/// Returns −1, 0 or 1.
fn sign(x: f64) -> f64 {
    match x {
        x if x > 0.0 => 1.0,
        x if x < 0.0 => -1.0,
        _ => 0.0,
    }
}

/// Returns the unit vector along the projection of `u` on the x-y plane; zero if there is none.
fn rim<S: Scalar>(u: Vec3<S>) -> Vec3<S> {
    let square = u.x * u.x + u.y * u.y;
    if square.value() > LEAST_SQUARE {
        let length = square.sqrt();
        Vec3::new(u.x / length, u.y / length, S::zero())
    } else {
        Vec3::zeros()
    }
}
