//! Boxes and hulls of their corners near contact, with nearly parallel edges and faces.

use super::convex::{between_planes, hull, witnesses};
use super::{Random, found};
use crate::long::long;
use crate::numbers::Larger;
use grapple::algebra::{Pose, Vec3, exp};
use grapple::elements::Solid;
use std::f64::consts::FRAC_PI_4;

/// Returns the largest distance of planes that touch both boxes (m) over the normals of faces and over the
/// common normals of edges: the depth of boxes that penetrate, by the separating-axis theorem.
fn separating(solids: [&Solid; 2], poses: [&Pose<f64>; 2]) -> f64 {
    let axes = poses.map(|pose| [0, 1, 2].map(|i| pose.R.column(i).into_owned()));
    let mut normals: Vec<Vec3<f64>> = axes.concat();
    for (u, v) in axes[0].iter().flat_map(|u| axes[1].iter().map(move |v| (u, v))) {
        let Some(mut n) = u.cross(v).try_normalize(1e-15) else {
            continue;
        };
        // Round-off of the product of nearly parallel edges has components along them.
        for _ in 0..2 {
            n -= u * n.dot(u);
            n = (n - v * n.dot(v)).normalize();
        }
        normals.push(n);
    }
    let both = normals.iter().flat_map(|n| [*n, -*n]);
    both.map(|n| between_planes(solids, poses, &n))
        .fold(f64::NEG_INFINITY, f64::max)
}

/// Returns a relative attitude: any, or nearly parallel to the other box, or turned by a multiple of 45°.
fn attitude(random: &mut Random, kind: usize) -> grapple::algebra::Mat3<f64> {
    let angle = libm::exp10(random.between(-13.0, -2.0));
    let nearly = exp(random.vector(1.0).normalize() * angle).rotation();
    let eighths = FRAC_PI_4 * random.between(1.0, 5.0).floor();
    let turned = exp(Vec3::ith(kind % 3, eighths)).rotation();
    let about_an_edge = exp(Vec3::ith(random.between(0.0, 3.0) as usize, random.between(-1.0, 1.0))).rotation();
    match kind % 4 {
        0 => random.pose(1.0).R,
        1 => nearly,
        2 => nearly * turned,
        _ => nearly * turned * about_an_edge,
    }
}

/// Boxes and hulls of their corners, in all combinations, that are 1e-12 to 1e-5 m apart or penetrate by as
/// much: planes that touch both have the distance of the gap, the nearest points are points of both, no plane
/// separates boxes that penetrate by less, and the normals of apart ones are those of the boxes.
#[test]
fn hulls_and_boxes_near_contact_have_the_gap_of_the_separating_axis() {
    let mut random = Random::new(71);
    let (mut planes, mut off, mut depth, mut turned) = (0.0f64, 0.0f64, 0.0f64, 0.0f64);
    let count = if long() { 250_000 } else { 1000 };
    for case in 0..count {
        let halves = [0; 2].map(|_| [0; 3].map(|_| random.between(0.1, 0.6)));
        let boxes = halves.map(|half| Solid::Box { half });
        let corner =
            |half: [f64; 3], k: usize| Vec3::from_fn(|i, _| if (k >> i) & 1 == 1 { half[i] } else { -half[i] });
        let hulls = halves.map(|half| hull(&(0..8).map(|k| corner(half, k)).collect::<Vec<_>>()));
        let B = random.pose(1.0);
        let mut A = Pose {
            R: B.R * attitude(&mut random, case),
            p: B.p + random.vector(1.0).normalize() * 2.5,
        };
        let far = found([&boxes[0], &boxes[1]], [&A, &B]);
        let gap = libm::exp10(random.between(-12.0, -5.0)) * random.between(-1.0, 1.0).signum();
        A.p += far.n * (gap - far.gap);
        let poses = [&A, &B];
        let deepest = separating([&boxes[0], &boxes[1]], poses);
        let first = found([&boxes[0], &boxes[1]], poses);
        for [a, b] in [[0, 0], [0, 1], [1, 0], [1, 1]] {
            let solids = [[&boxes[0], &hulls[0]][a], [&boxes[1], &hulls[1]][b]];
            let found = found(solids, poses);
            let points = witnesses(&found, poses);
            let outside = [0, 1].map(|i| solids[i].distance_to_solid(points[i]).0);
            let error = (found.gap - between_planes(solids, poses, &found.n)).abs();
            let outside = outside[0].max(outside[1]);
            assert!(
                error < 1e-11 && outside < 3e-9,
                "{case}: {solids:?} {poses:?} {found:?}: {error:e} {outside:e}"
            );
            (planes, off) = (planes.larger(error), off.larger(outside));
            if deepest < 0.0 {
                let error = (found.gap - deepest).abs();
                assert!(
                    error < 1e-9,
                    "{case}: {solids:?} {poses:?} {found:?} {deepest:e}: {error:e}"
                );
                depth = depth.larger(error);
            }
            // Planes with a normal turned by θ are closer by gap·θ²/2, which is round-off of positions
            // of metres here: edges parallel to 1e-11 rad have no unique normal.
            if first.gap > 0.0 {
                let closer = 0.5 * first.gap * (found.n - first.n).norm_squared();
                assert!(
                    closer < 1e-14,
                    "{case}: {solids:?} {poses:?} {found:?} {first:?}: {closer:e}"
                );
                turned = turned.larger(closer);
            }
        }
    }
    println!(
        "{count} boxes near contact: planes {planes:.1e} m, points {off:.1e} m, depth {depth:.1e} m, turned normals {turned:.1e} m"
    );
}
