use super::{FromSolid, LEAST_SQUARE, Witnessed, from_point};
use crate::algebra::{Scalar, Vec3};

/// Square of the sine of the angle between two axes below which they count as parallel: then every
/// point of the common stretch is nearest to round-off.
const PARALLEL: f64 = 1e-28;

/// Returns the signed distance of the point `c` (m) from a capsule along z.
pub(super) fn from_capsule<S: Scalar>(c: Vec3<S>, radius: f64, half: f64) -> FromSolid<S> {
    let z = c.z.value();
    let along = if z.abs() <= half {
        S::zero()
    } else {
        c.z - S::lift(if z > 0.0 { half } else { -half })
    };
    let (distance, n) = from_point(Vec3::new(c.x, c.y, along));
    (distance - S::lift(radius), n)
}

/// Coordinate of the nearest point along the axis of a capsule.
#[derive(Clone, Copy)]
enum Place {
    /// Between the ends: it follows from the other axis.
    Between,
    /// Constant, m: an end, or the middle of the stretch of two parallel axes.
    At(f64),
}

/// Returns the distance of two axes of capsules (line segments) with its unit normal and the
/// nearest point of the first, relative to its centre.
///
/// `d` is the centre of the first relative to the second (m); the axes are unit vectors, in the
/// axes of `d`. The half lengths are in m.
pub(super) fn between_axes<S: Scalar>(d: Vec3<S>, [u, v]: [Vec3<S>; 2], halves: [f64; 2]) -> Witnessed<S> {
    let across = u.cross(&v);
    let products = Products {
        b: u.dot(&v),
        c: u.dot(&d),
        f: v.dot(&d),
        square: across.dot(&across),
        // (u·v)(v·d) − u·d without the cancellation for nearly parallel axes.
        lead: -v.cross(&across).dot(&d),
    };
    let Products { b, c, f, square, lead } = products;
    let (s, t) = match places(products.values(), halves) {
        (Place::At(s), Place::At(t)) => (S::lift(s), S::lift(t)),
        (Place::At(s), Place::Between) => (S::lift(s), b * S::lift(s) + f),
        (Place::Between, Place::At(t)) => (b * S::lift(t) - c, S::lift(t)),
        (Place::Between, Place::Between) => {
            let s = lead / square;
            (s, b * s + f)
        }
    };
    let on_first = u * s;
    let w = d + on_first - v * t;
    if w.dot(&w).value() > LEAST_SQUARE {
        // The distance is stationary in both places: their derivatives, which are large for nearly
        // parallel axes, would contribute round-off only.
        let [s, t] = [s, t].map(|place| S::lift(place.value()));
        let (distance, _) = from_point(d + u * s - v * t);
        let (_, n) = from_point(w);
        return (distance, n, on_first);
    }
    // The axes cross: the normal is perpendicular to both.
    let (_, n) = if square.value() > PARALLEL {
        from_point(across)
    } else {
        let least = u.map(|u| u.value().abs()).imin();
        from_point(u.cross(&Vec3::ith(least, S::one())))
    };
    (n.dot(&w), n, on_first)
}

/// Products of the axes `u`, `v` and the vector `d` between their centres.
#[derive(Clone, Copy)]
struct Products<S> {
    /// `u·v`.
    b: S,
    /// `u·d`, m.
    c: S,
    /// `v·d`, m.
    f: S,
    /// `|u × v|²`.
    square: S,
    /// `(u·v)(v·d) − u·d`, m: `square` times the place on the first line nearest to the second.
    lead: S,
}

impl<S: Scalar> Products<S> {
    fn values(&self) -> Products<f64> {
        Products {
            b: self.b.value(),
            c: self.c.value(),
            f: self.f.value(),
            square: self.square.value(),
            lead: self.lead.value(),
        }
    }
}

/// Returns the places of the nearest points on both axes. The point on one axis nearest to a point
/// of the other is clamped to its ends in turn (C. Ericson, *Real-Time Collision Detection*, 2005,
/// 5.1.9).
fn places(of: Products<f64>, [h_u, h_v]: [f64; 2]) -> (Place, Place) {
    let Products { b, c, f, square, lead } = of;
    let place = |x: f64, half: f64| match x {
        x if x <= -half => Place::At(-half),
        x if x >= half => Place::At(half),
        _ => Place::Between,
    };
    if square < PARALLEL {
        // In coordinates along the first axis the second spans −c ± h_v.
        let [low, high] = [(-h_u).max(-c - h_v), h_u.min(-c + h_v)];
        let middle = (0.5 * (low + high)).clamp(-h_u, h_u);
        return (Place::At(middle), place(b * middle + f, h_v));
    }
    let s = place(lead / square, h_u);
    let t = match s {
        Place::At(s) => b * s + f,
        Place::Between => b * (lead / square) + f,
    };
    match place(t, h_v) {
        Place::Between => (s, Place::Between),
        Place::At(t) => (place(b * t - c, h_u), Place::At(t)),
    }
}
