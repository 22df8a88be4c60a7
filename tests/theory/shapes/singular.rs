//! Distances of shapes at and next to singular placements: nearly parallel capsules, the plane of a
//! disc, rims of walls, a cone on its side.

use super::{Random, found, midpoint, moving};
use crate::long::long;
use crate::numbers::Larger;
use grapple::algebra::{Dual, Mat3, Pose, Scalar, Vec3, exp};
use grapple::elements::{Solid, nearest};

/// Returns the cross product with products as sums of two numbers, which round-off of nearly equal
/// products does not affect.
fn cross(u: &Vec3<f64>, v: &Vec3<f64>) -> Vec3<f64> {
    Vec3::from_fn(|i, _| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let [plus, minus] = [u[j] * v[k], u[k] * v[j]];
        let [rest_plus, rest_minus] = [u[j].mul_add(v[k], -plus), u[k].mul_add(v[j], -minus)];
        (plus - minus) + (rest_plus - rest_minus)
    })
}

/// Returns the distance of two segments with the centres `d` apart: the least of those of each end
/// from the other segment and, if both feet are inside, of the lines.
fn between_segments(d: &Vec3<f64>, [u, v]: [&Vec3<f64>; 2], [h_u, h_v]: [f64; 2]) -> f64 {
    // The distance of the point p from the segment −h..h along the unit vector e.
    let from = |p: Vec3<f64>, e: &Vec3<f64>, h: f64| (p - e * e.dot(&p).clamp(-h, h)).norm();
    let ends = [-1.0, 1.0].map(|side| {
        let of_first = from(d + u * (side * h_u), v, h_v);
        of_first.min(from(v * (side * h_v) - d, u, h_u))
    });
    let k = cross(u, v);
    let square = k.norm_squared();
    let s = -v.cross(&k).dot(d) / square;
    let t = -u.cross(&k).dot(d) / square;
    let lines = if s.abs() < h_u && t.abs() < h_v {
        (k.dot(d) / square.sqrt()).abs()
    } else {
        f64::INFINITY
    };
    ends[0].min(ends[1]).min(lines)
}

/// Returns poses of two capsules whose axes have the angle `tilt` (rad), the first end towards the
/// same or the other side.
fn nearly_parallel(random: &mut Random, tilt: f64) -> [Pose<f64>; 2] {
    let A = random.pose(0.5);
    let axis = A.R * random.vector(1.0).cross(&Vec3::z()).normalize();
    let turned = exp(axis * tilt).rotation() * A.R;
    let R = match random.between(0.0, 1.0) < 0.5 {
        true => turned,
        false => Mat3::from_columns(&[turned.column(0).into(), -turned.column(1), -turned.column(2)]),
    };
    let p = A.p + random.vector(0.8);
    [A, Pose { R, p }]
}

/// The gap of capsules whose axes have angles of 1e-16 to 1e-4 rad is that of ends and lines with
/// products in twice the precision; its rate is the normal velocity of the nearest points.
#[test]
fn nearly_parallel_capsules_have_the_distance_of_their_axes() {
    let mut random = Random::new(51);
    let (mut off, mut of_rate) = (0.0f64, 0.0f64);
    for trial in 0..if long() { 1_000_000 } else { 20_000 } {
        let tilt = libm::pow(10.0, random.between(-16.0, -4.0)) * f64::from(trial % 10 > 0);
        let [A, B] = nearly_parallel(&mut random, tilt);
        let halves = [0; 2].map(|_| random.between(0.1, 0.8));
        let [a, b] = halves.map(|half| Solid::Capsule { radius: 0.05, half });
        let (d, axes) = (A.p - B.p, [A, B].map(|pose| pose.R.column(2).into_owned()));
        let distance = between_segments(&d, [&axes[0], &axes[1]], halves);
        if distance < 0.02 {
            continue;
        }
        let here = found([&a, &b], [&A, &B]);
        off = off.larger((here.gap - (distance - 0.1)).abs());

        let motions = [0; 4].map(|_| random.vector(1.0));
        let moving = [
            moving(&A, &motions[0], &motions[1]),
            moving(&B, &motions[2], &motions[3]),
        ];
        let exact = nearest([&a, &b], [&moving[0], &moving[1]]).expect("a pair");
        let on_a = here.from_a + here.n * (0.5 * here.gap);
        let on_b = d + here.from_a - here.n * (0.5 * here.gap);
        let velocity = motions[0] + motions[1].cross(&on_a) - motions[2] - motions[3].cross(&on_b);
        of_rate = of_rate.larger((exact.gap.eps[0] - here.n.dot(&velocity)).abs());
        let rest = exact.n.iter().chain(exact.from_a.iter());
        assert!(rest.into_iter().all(|x| x.re.is_finite() && x.eps[0].is_finite()));
    }
    println!("nearly parallel capsules: gap {off:.1e} m, its rate {of_rate:.1e} m/s");
    // Below 1e-14 rad the middle of the common stretch is taken.
    assert!(off < 4e-14, "{off:e}");
    assert!(of_rate < 1e-12, "{of_rate:e}");
}

/// In the plane of a disc, beside its rim and next to this plane on both sides, the gap of a sphere
/// is the distance from the rim.
#[test]
fn gap_beside_a_disc_is_the_distance_from_its_rim() {
    let (radius, r) = (0.3, 0.05);
    let disc = Solid::Disc { radius };
    for z in [0.0, -0.0, 1e-300, -1e-300, 1e-18, -1e-18, 1e-9, -1e-9, 0.2, -0.2] {
        for rho in [0.300_000_1, 0.31, 0.35, 0.5, 4.0] {
            for (x, y) in [(rho, 0.0), (0.6 * rho, 0.8 * rho), (0.0, -rho)] {
                let A = Pose {
                    p: Vec3::new(x, y, z),
                    ..Pose::identity()
                };
                let found = found([&Solid::Sphere { radius: r }, &disc], [&A, &Pose::identity()]);
                let away = x.hypot(y) - radius;
                let distance = away.hypot(z);
                assert!((found.gap - (distance - r)).abs() < 1e-15, "{z} {rho}: {}", found.gap);
                let n = Vec3::new(x / rho * away, y / rho * away, z) / distance;
                assert!((found.n - n).norm() < 1e-9, "{z} {rho}: {}", found.n);
            }
        }
    }
}

/// Exactly at the rims of cones and funnels the distance is zero, and normal and derivatives are
/// finite.
#[test]
fn centres_on_rims_have_finite_results() {
    let mut random = Random::new(52);
    let mut all = 0;
    for _ in 0..if long() { 10_000 } else { 1000 } {
        for solid in random.bounded() {
            let rims = match solid {
                Solid::Disc { radius } => vec![[radius, 0.0]],
                Solid::Cylinder { radius, half } => vec![[radius, half], [radius, -half]],
                Solid::Cone { radius, end, half } => vec![[radius, -half], [end, half]],
                Solid::Funnel {
                    radius,
                    end,
                    half,
                    thickness,
                } => {
                    let slope = (radius - end) / (2.0 * half);
                    let w = thickness * (1.0 + slope * slope).sqrt();
                    vec![[end, -half], [radius, half], [end + w, -half], [radius + w, half]]
                }
                _ => continue,
            };
            for [rho, z] in rims {
                let A = Pose {
                    p: Vec3::new(
                        Dual::<3>::variable(rho, 0),
                        Dual::variable(0.0, 1),
                        Dual::variable(z, 2),
                    ),
                    R: Mat3::identity(),
                };
                let found = nearest([&Solid::Sphere { radius: 0.1 }, &solid], [&A, &Pose::identity()]);
                let found = found.expect("a pair");
                assert!(
                    (found.gap.re + 0.1).abs() < 1e-15,
                    "{solid:?} {rho} {z}: {}",
                    found.gap.re
                );
                let n = found.n.map(Scalar::value);
                assert!((n.norm() - 1.0).abs() < 1e-14, "{solid:?} {rho} {z}: {n}");
                let numbers = found.n.iter().chain(found.from_a.iter()).chain([&found.gap]);
                for number in numbers {
                    assert!(number.eps.iter().all(|eps| eps.is_finite()), "{solid:?} {rho} {z}");
                }
                all += 1;
            }
        }
    }
    println!("{all} rims");
}

/// A cone whose side is parallel to a plane touches it in the middle of the side's lowest line, as
/// a cylinder does.
#[test]
fn cone_on_its_side_touches_in_the_middle() {
    // The side rises by 0.6 over 0.8: the axis has the angle atan(3/4) from the plane.
    let (radius, end, half) = (0.7, 0.1, 0.4);
    let down = Vec3::new(0.8, 0.0, 0.6);
    let across = Vec3::new(0.6, 0.0, -0.8);
    let A = Pose {
        R: Mat3::from_columns(&[across, Vec3::y(), -down]).transpose(),
        p: Vec3::new(0.2, -0.3, 1.0),
    };
    let found = found(
        [&Solid::Cone { radius, end, half }, &Solid::Plane],
        [&A, &Pose::identity()],
    );
    let lowest = A.p + A.R * Vec3::new(0.5 * (radius + end), 0.0, 0.0);
    assert!((found.gap - lowest.z).abs() < 1e-15);
    let touching = midpoint(&found, &A) + found.n * (0.5 * found.gap);
    assert!((touching - lowest).norm() < 1e-15, "{touching} {lowest}");
}

/// Attitudes of spheres change no bit of their gap.
#[test]
fn gap_of_two_spheres_is_independent_of_attitudes() {
    let mut random = Random::new(53);
    let [a, b] = [0.1, 0.3].map(|radius| Solid::Sphere { radius });
    for _ in 0..200 {
        let [A, B] = [0; 2].map(|_| random.pose(1.0));
        let here = found([&a, &b], [&A, &B]);
        let turned = [A, B].map(|pose| Pose {
            R: random.pose(1.0).R,
            ..pose
        });
        let there = found([&a, &b], [&turned[0], &turned[1]]);
        assert!(here.gap == there.gap && here.n == there.n && here.from_a == there.from_a);
        assert!((here.gap - ((A.p - B.p).norm() - 0.4)).abs() < 1e-15);
    }
}
