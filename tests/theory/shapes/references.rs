//! Solids by their definitions: membership by inequalities, surfaces as parametrised pieces, and
//! the nearest point by a search without derivatives.

use grapple::algebra::Vec3;
use grapple::elements::Solid;
use std::f64::consts::TAU;

/// Returns true if a point (m, axes of the solid) is inside.
pub fn contains(solid: &Solid, c: &Vec3<f64>) -> bool {
    let rho = libm::hypot(c.x, c.y);
    let radius_at = |low: f64, high: f64, half: f64| low + (high - low) * (c.z + half) / (2.0 * half);
    match *solid {
        Solid::Plane => c.z < 0.0,
        Solid::Sphere { radius } => c.norm() < radius,
        Solid::Disc { .. } => false,
        Solid::Hull(hull) => hull.faces.iter().all(|face| face.height(c) < 0.0),
        Solid::Capsule { radius, half } => (c - Vec3::z() * c.z.clamp(-half, half)).norm() < radius,
        Solid::Box { half } => (0..3).all(|i| c[i].abs() < half[i]),
        Solid::Cylinder { radius, half } => c.z.abs() < half && rho < radius,
        Solid::Cone { radius, end, half } => c.z.abs() < half && rho < radius_at(radius, end, half),
        Solid::Funnel {
            radius,
            end,
            half,
            thickness,
        } => {
            let inner = radius_at(end, radius, half);
            // The angle of the wall from the axis has the cosine 2h/√(4h² + (R − r)²).
            let cosine = (((radius - end) / (2.0 * half)).atan()).cos();
            c.z.abs() < half && rho > inner && rho < inner + thickness / cosine
        }
    }
}

/// Piece of a surface, parametrised over the unit square.
pub type Piece = Box<dyn Fn(f64, f64) -> Vec3<f64>>;

/// Returns a coordinate outside the unit interval reflected into it, so that a search does not stall
/// at its ends.
pub fn folded(v: f64) -> f64 {
    let v = v.rem_euclid(2.0);
    v.min(2.0 - v)
}

/// Returns the surface of revolution of the segment between two points (ρ, z).
fn band(from: [f64; 2], to: [f64; 2]) -> Piece {
    Box::new(move |u, v| {
        let [rho, z] = [0, 1].map(|i| from[i] + u * (to[i] - from[i]));
        let (sine, cosine) = (TAU * v).sin_cos();
        Vec3::new(rho * cosine, rho * sine, z)
    })
}

/// Returns the hemisphere about (0, 0, z) towards `up` (±1).
fn dome(radius: f64, z: f64, up: f64) -> Piece {
    Box::new(move |u, v| {
        let ((s, c), (sine, cosine)) = ((0.25 * TAU * u).sin_cos(), (TAU * v).sin_cos());
        Vec3::new(radius * s * cosine, radius * s * sine, z + up * radius * c)
    })
}

/// Returns the surface of a bounded solid.
pub fn surface(solid: &Solid) -> Vec<Piece> {
    let cone = |low: f64, high: f64, half: f64| {
        vec![
            band([0.0, -half], [low, -half]),
            band([low, -half], [high, half]),
            band([high, half], [0.0, half]),
        ]
    };
    match *solid {
        Solid::Plane | Solid::Hull(_) => panic!("not a bounded shape with a parametrised surface"),
        Solid::Sphere { radius } => vec![dome(radius, 0.0, 1.0), dome(radius, 0.0, -1.0)],
        Solid::Disc { radius } => vec![band([0.0, 0.0], [radius, 0.0])],
        Solid::Capsule { radius, half } => vec![
            band([radius, -half], [radius, half]),
            dome(radius, half, 1.0),
            dome(radius, -half, -1.0),
        ],
        Solid::Box { half } => {
            let faces = (0..3).flat_map(|i| [-1.0, 1.0].map(|side| (i, side)));
            let face = |(i, side): (usize, f64)| -> Piece {
                Box::new(move |u, v| {
                    let mut p = Vec3::zeros();
                    let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                    p[i] = side * half[i];
                    p[j] = (2.0 * u - 1.0) * half[j];
                    p[k] = (2.0 * folded(v) - 1.0) * half[k];
                    p
                })
            };
            faces.map(face).collect()
        }
        Solid::Cylinder { radius, half } => cone(radius, radius, half),
        Solid::Cone { radius, end, half } => cone(radius, end, half),
        Solid::Funnel {
            radius,
            end,
            half,
            thickness,
        } => {
            let w = thickness / (((radius - end) / (2.0 * half)).atan()).cos();
            vec![
                band([end, -half], [radius, half]),
                band([end + w, -half], [radius + w, half]),
                band([end, -half], [end + w, -half]),
                band([radius, half], [radius + w, half]),
            ]
        }
    }
}

/// Returns the least value of `f` over the pieces, and its point: the best of a grid, refined by a
/// compass search.
pub fn least(pieces: &[Piece], f: impl Fn(&Vec3<f64>) -> f64) -> (f64, Vec3<f64>) {
    const GRID: usize = 24;
    let mut best = (f64::INFINITY, Vec3::zeros());
    for piece in pieces {
        let value = |[u, v]: [f64; 2]| f(&piece(u.clamp(0.0, 1.0), v));
        let nodes = (0..=GRID).flat_map(|i| (0..=GRID).map(move |k| [i, k].map(|i| i as f64 / GRID as f64)));
        let start = nodes.min_by(|a, b| value(*a).total_cmp(&value(*b))).expect("a grid");
        let (mut at, mut here, mut step) = (start, value(start), 1.0 / GRID as f64);
        while step > 1e-11 {
            // At an apex or a pole, which are ends, every direction v is the same point: all are tried.
            let directions = if at[0] > 0.0 && at[0] < 1.0 { 8 } else { 128 };
            let of = |k| f64::from(k) / f64::from(directions);
            let round = (0..directions).flat_map(|k| [-1.0, 1.0].map(|way| [way * step, of(k)]));
            let ways = round.chain([[0.0, step], [0.0, -step]]);
            // The ends of a face are limits; those of a circle are one point.
            let mut next = ways.map(|[u, v]| [(at[0] + u).clamp(0.0, 1.0), at[1] + v]);
            match next.find(|next| value(*next) < here) {
                Some(next) => (at, here) = (next, value(next)),
                None => step *= 0.5,
            }
        }
        if here < best.0 {
            best = (here, piece(at[0], at[1]));
        }
    }
    best
}
