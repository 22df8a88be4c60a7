//! Signed distance of two bounded convex solids.
//!
//! The gap is the largest signed distance of planes that touch both solids, over all normals, outside
//! and inside. A normal near the best one is found on values, by iterations; pairs of features that
//! are farthest along normals near it have closed forms of their common normal, or steps of Newton's
//! method. The pair with the largest distance is then evaluated in the scalar.

mod difference;
mod expansion;
mod feature;
mod gjk;
mod hull;
mod meeting;

use super::{Solid, Witnessed};
use crate::algebra::{Pose, Scalar, Vec3};
use difference::Difference;
use feature::{Feature, Features};
pub(super) use hull::from_hull;
use meeting::{Meeting, is_iterative, meet};

/// Distance relative to the size of a pair below which the normal is searched from inside, and half by
/// which the solids are then grown.
const NEAR: f64 = 1e-6;
/// Sines of the angle from a normal up to which features are tried, one after the other.
const TOLERANCES: [f64; 3] = [0.01, 0.3, ALL];
/// Sine that includes all features that may have a normal in the same half-space.
const ALL: f64 = 1.1;
/// Distance relative to the size of a pair below which all features are tried: where a vertex touches
/// an edge, depths along all normals between those of the faces are equal to round-off.
const TOUCHING: f64 = 1e-5;
/// Distance relative to the size of a pair up to which features are at its nearest points.
const REACH: f64 = 4.0 * TOUCHING;
/// Error of nearest points relative to the size of a pair, up to which they count as points of both
/// solids.
const OFF: f64 = 1e-9;
/// Difference of the distances of features and of planes that touch the solids, relative to the size of
/// the pair, up to which the features count as the farthest ones.
const EXACT: f64 = 1e-13;
/// Difference of two gaps relative to the size of a pair that is round-off: the first pair of features
/// is then taken.
const EQUAL: f64 = 1e-15;
/// Sine of an angle below which a line or a face counts as parallel to a face.
const PARALLEL: f64 = 1e-12;
/// Largest number of projections in the search for a common point of two faces.
const PROJECTIONS: usize = 50;
/// Largest number of steps of Newton's method.
const STEPS: usize = 16;
/// Change of a normal at which Newton's method ends.
const CONVERGED: f64 = 4e-16;
/// Largest number of normals about which features are tried, each from the best one before.
const ROUNDS: usize = 3;

/// Returns the signed distance of two bounded convex solids at the poses `A` and `B`.
pub(super) fn between<S: Scalar>([a, b]: [&Solid; 2], [A, B]: [&Pose<S>; 2]) -> Option<Witnessed<S>> {
    let (R, d) = (B.R.tr_mul(&A.R), B.R.tr_mul(&(A.p - B.p)));
    let pair = Difference::new([a, b], R.map(Scalar::value), d.map(Scalar::value));
    let best = best(&pair)?;
    let found = meet([&best.features[0].placed(&R, &d), &best.features[1].lifted()], &best.n)?;
    Some((found.gap, B.R * found.n, B.R * (found.on_first - d)))
}

/// Pair of features, each in axes of its solid, with their common normal.
#[derive(Clone, Copy)]
struct Pair {
    features: [Feature<f64>; 2],
    /// From b towards a, axes of b.
    n: Vec3<f64>,
    /// Signed distance along the normal, m.
    gap: f64,
}

impl Pair {
    /// Returns the pair of planes along the unit vector `n` that touch the solids: a normal that
    /// belongs to no pair of features; `None` if their distance is not finite.
    fn of_planes(of: &Difference, n: &Vec3<f64>) -> Option<Self> {
        let [on_a, on_b] = of.farthest(n);
        let gap = of.along(n);
        gap.is_finite().then_some(Self {
            features: [Feature::Point { p: on_a, round: 0.0 }, Feature::Face { p: on_b, m: *n }],
            n: *n,
            gap,
        })
    }
}

/// Returns the pair of features whose distance is that of the solids; `None` for poses that are not
/// finite.
fn best(of: &Difference) -> Option<Pair> {
    let near = NEAR * of.size;
    let mut normals = [Vec3::zeros(); expansion::DIRECTIONS];
    let mut count = 0;
    if let Some(n) = gjk::direction(of, near) {
        (normals[0], count) = (n, 1);
    } else {
        for (place, (_, n)) in normals.iter_mut().zip(expansion::directions(of, 2.0 * near).iter()) {
            *place = *n;
            count += 1;
        }
    }
    let mut best = None;
    for tolerance in TOLERANCES {
        for n in &normals[..count] {
            improve(of, *n, tolerance, &mut best);
        }
        match best {
            Some(best) if best.gap.abs() > TOUCHING * of.size => return Some(best),
            Some(best) => {
                let mut last = Some(best);
                improve(of, best.n, ALL, &mut last);
                improve_at_points(of, &mut last);
                return last;
            }
            None => {}
        }
    }
    Pair::of_planes(of, &normals[0])
}

/// Replaces the best pair of features by better ones that are farthest along normals near `n`.
fn improve(of: &Difference, mut n: Vec3<f64>, tolerance: f64, best: &mut Option<Pair>) {
    for _ in 0..ROUNDS {
        let of_a = Features::near(of.a, &-of.R.tr_mul(&n), tolerance);
        let of_b = Features::near(of.b, &n, tolerance);
        let before = best.map_or(f64::NEG_INFINITY, |best| best.gap);
        for first in of_a.iter() {
            for second in of_b.iter() {
                // Normals of one vertex of the difference may be more than a right angle apart.
                for near in [n, -n].into_iter().take(if tolerance == ALL { 2 } else { 1 }) {
                    let least = best.map_or(f64::NEG_INFINITY, |best| best.gap + EQUAL * of.size);
                    if let Some(found) = tried(of, [first, second], near, least) {
                        *best = Some(found);
                    }
                }
            }
        }
        match best {
            Some(best) if best.gap > before + EQUAL * of.size => n = best.n,
            _ => break,
        }
    }
}

/// Replaces the best pair of features by better ones at its nearest points, if one of the solids is a
/// polyhedron: where edges or vertices touch, the deepest normal may be far from the present one, with any
/// number of features between them.
fn improve_at_points(of: &Difference, best: &mut Option<Pair>) {
    if ![of.a, of.b].iter().any(|solid| matches!(solid, Solid::Hull(_))) {
        return;
    }
    for _ in 0..ROUNDS {
        let Some(Pair {
            features,
            n,
            gap: before,
        }) = *best
        else {
            return;
        };
        let Some(found) = meet([&features[0].placed(&of.R, &of.d), &features[1]], &n) else {
            return;
        };
        let on_a = of.R.tr_mul(&(found.on_first - of.d));
        let on_b = found.on_first - found.n * found.gap;
        let reach = REACH * of.size;
        Features::each_at(of.a, &-of.R.tr_mul(&n), &on_a, reach, &mut |first| {
            Features::each_at(of.b, &n, &on_b, reach, &mut |second| {
                for near in [n, -n] {
                    let least = best.map_or(f64::NEG_INFINITY, |best| best.gap + EQUAL * of.size);
                    if let Some(found) = tried(of, [first, second], near, least) {
                        *best = Some(found);
                    }
                }
            });
        });
        if best.is_none_or(|best| best.gap <= before + EQUAL * of.size) {
            return;
        }
    }
}

/// Returns a pair of features with their normal near `n`; `None` if their distance is not larger than
/// `least` (m), or if their nearest points are not those of the solids.
fn tried(of: &Difference, features: [&Feature<f64>; 2], mut n: Vec3<f64>, least: f64) -> Option<Pair> {
    let features = along_a_face(of, features).unwrap_or(features.map(|feature| *feature));
    let [first, second] = [features[0].placed(&of.R, &of.d), features[1]];
    let mut found: Meeting<f64> = meet([&first, &second], &n)?;
    if is_iterative([&first, &second]) {
        for _ in 1..STEPS {
            let change = (found.n - n).norm();
            n = found.n;
            if change < CONVERGED {
                break;
            }
            found = meet([&first, &second], &n)?;
        }
    }
    let n = found.n;
    let gap = of.along(&n);
    let off = OFF * of.size;
    if !(gap > least && (gap - found.gap).abs() < EXACT * of.size) {
        return None;
    }
    let on_a = of.R.tr_mul(&(found.on_first - of.d));
    let on_b = found.on_first - n * found.gap;
    let is_met = of.a.distance_to_solid(on_a).0 < off && of.b.distance_to_solid(on_b).0 < off;
    is_met.then_some(Pair { features, n, gap })
}

/// Returns a face and a point of the other feature, if this is a face or a line parallel to the face:
/// a point of the area or the stretch that they have in common, near the centre of the smaller solid.
fn along_a_face(of: &Difference, [first, second]: [&Feature<f64>; 2]) -> Option<[Feature<f64>; 2]> {
    let placed = first.placed(&of.R, &of.d);
    let (n, is_parallel) = match (&placed, second) {
        (Feature::Face { m: m_a, .. }, Feature::Face { m, .. }) => (*m, (m + m_a).norm() < PARALLEL),
        (Feature::Ruled(side), Feature::Face { m, .. }) => (*m, (side.w.dot(m) + side.sine).abs() < PARALLEL),
        (Feature::Face { m, .. }, Feature::Ruled(side)) => (-m, (side.w.dot(m) + side.sine).abs() < PARALLEL),
        _ => return None,
    };
    if !is_parallel {
        return None;
    }
    let gap = n * of.along(&n);
    let onto = |solid: &Solid, x: Vec3<f64>| {
        let (distance, n) = solid.distance_to_solid(x);
        x - n * distance.max(0.0)
    };
    let mut x = match of.is_a_smaller() {
        true => placed.middle(&-n) - gap,
        false => second.middle(&n),
    };
    for _ in 0..PROJECTIONS {
        let on_a = of.d + of.R * onto(of.a, of.R.tr_mul(&(x + gap - of.d))) - gap;
        x = onto(of.b, on_a);
        if (x - on_a).norm() < PARALLEL * of.size {
            break;
        }
    }
    Some(match second {
        Feature::Face { .. } => {
            let p = of.R.tr_mul(&(x + gap - of.d));
            [Feature::Point { p, round: 0.0 }, *second]
        }
        _ => [*first, Feature::Point { p: x, round: 0.0 }],
    })
}
