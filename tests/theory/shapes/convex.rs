//! Distances of pairs of bounded convex shapes: planes that touch both, nearest points on both, and
//! a search over all planes.

use super::{Random, found, moving};
use crate::long::long;
use crate::numbers::Larger;
use grapple::algebra::{ConvexHull, Mat3, Pose, Vec3, exp};
use grapple::elements::{Nearest, Solid, nearest};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, FRAC_PI_8};

/// Returns the convex shapes with a thickness or without, with random dimensions, and two hulls: of
/// few and of many points.
pub(super) fn convex(random: &mut Random) -> Vec<Solid<'static>> {
    let bounded = random.bounded();
    let is_convex = |solid: &Solid| !matches!(solid, Solid::Funnel { .. });
    let hulls = [6, 24].map(|count| {
        let points: Vec<Vec3<f64>> = (0..count).map(|_| random.vector(0.5)).collect();
        hull(&points)
    });
    bounded.into_iter().filter(is_convex).chain(hulls).collect()
}

/// Returns the hull of points (m), which is not freed.
pub(super) fn hull(points: &[Vec3<f64>]) -> Solid<'static> {
    let hull = ConvexHull::of(points, 1000).expect("a hull");
    Solid::Hull(Box::leak(Box::new(hull)))
}

/// Returns the largest coordinate of a point of a solid along the unit vector `u`, m, by definition.
fn extent_along(solid: &Solid, u: &Vec3<f64>) -> f64 {
    let across = libm::hypot(u.x, u.y);
    let round = |low: f64, high: f64, half: f64| (half * u.z + high * across).max(low * across - half * u.z);
    match *solid {
        Solid::Sphere { radius } => radius,
        Solid::Capsule { radius, half } => half * u.z.abs() + radius,
        Solid::Box { half } => (0..3).map(|i| half[i] * u[i].abs()).sum(),
        Solid::Disc { radius } => radius * across,
        Solid::Cylinder { radius, half } => round(radius, radius, half),
        Solid::Cone { radius, end, half } => round(radius, end, half),
        Solid::Hull(hull) => hull.vertices.iter().map(|p| p.dot(u)).fold(f64::NEG_INFINITY, f64::max),
        Solid::Plane | Solid::Funnel { .. } => panic!("not a bounded convex shape"),
    }
}

/// Returns the signed distance along `n` of two planes that touch the solids, m.
pub(super) fn between_planes([a, b]: [&Solid; 2], [A, B]: [&Pose<f64>; 2], n: &Vec3<f64>) -> f64 {
    n.dot(&(A.p - B.p)) - extent_along(a, &-A.R.tr_mul(n)) - extent_along(b, &B.R.tr_mul(n))
}

/// Returns the largest distance of touching planes over all normals, m: the best of directions on a
/// sphere and of some steps of a search without derivatives from the better ones.
fn widest(solids: [&Solid; 2], poses: [&Pose<f64>; 2]) -> f64 {
    const DIRECTIONS: usize = 600;
    let value = |n: &Vec3<f64>| between_planes(solids, poses, n);
    let mut starts: Vec<(f64, Vec3<f64>)> = (0..DIRECTIONS)
        .map(|k| {
            let z = 1.0 - (2 * k + 1) as f64 / DIRECTIONS as f64;
            let (sine, cosine) = (k as f64 * 2.399_963_229_728_653).sin_cos();
            let across = (1.0 - z * z).sqrt();
            let n = Vec3::new(across * cosine, across * sine, z);
            (value(&n), n)
        })
        .collect();
    starts.sort_by(|one, other| other.0.total_cmp(&one.0));
    let search = |&(mut here, mut n): &(f64, Vec3<f64>)| {
        let mut step = 0.06;
        while step > 1e-10 {
            let e = n.cross(&Vec3::ith(n.iamin(), 1.0)).normalize();
            let f = n.cross(&e);
            let ways = (0..16).map(|k| (f64::from(k) * FRAC_PI_8).sin_cos());
            let around = ways.map(|(s, c)| (n + (e * c + f * s) * step).normalize());
            let best = around
                .max_by(|one, other| value(one).total_cmp(&value(other)))
                .expect("directions");
            if value(&best) > here {
                (here, n) = (value(&best), best);
            } else {
                step *= 0.5;
            }
        }
        here
    };
    starts[..8].iter().map(search).fold(f64::NEG_INFINITY, f64::max)
}

/// Returns the nearest points of a and b in axes of their frames.
pub(super) fn witnesses(found: &Nearest<f64>, [A, B]: [&Pose<f64>; 2]) -> [Vec3<f64>; 2] {
    let middle = A.p + found.from_a;
    let half = found.n * (0.5 * found.gap);
    [A.R.tr_mul(&(middle + half - A.p)), B.R.tr_mul(&(middle - half - B.p))]
}

/// Statistics of gaps against their definition.
#[derive(Default)]
struct Errors {
    /// Gap less the distance of touching planes along the normal, m.
    planes: f64,
    /// Distance of the nearest points from the shapes, m.
    points: f64,
    /// Excess of the widest distance of planes over the gap, m.
    search: f64,
    count: usize,
    searched: usize,
}

impl Errors {
    /// Compares one pair. The gap of separated shapes is exact if planes that touch both have this
    /// distance, and nearest points are points of both.
    fn compare(&mut self, solids: [&Solid; 2], poses: [&Pose<f64>; 2]) {
        let found = found(solids, poses);
        let planes = (found.gap - between_planes(solids, poses, &found.n)).abs();
        let points = witnesses(&found, poses);
        let off = [0, 1].map(|i| solids[i].distance_to_solid(points[i]).0);
        let off = off[0].max(off[1]);
        assert!(
            planes < 1e-9 && off < 1e-9,
            "{solids:?} {poses:?} {found:?}: {planes:e} {off:e}"
        );
        self.planes = self.planes.larger(planes);
        self.points = self.points.larger(off);
        self.count += 1;
        // The search takes far longer than the rest, longest for hulls that penetrate deeply.
        let has_hull = solids.iter().any(|solid| matches!(solid, Solid::Hull(_)));
        let part = match (long(), has_hull) {
            (true, _) => 50,
            (false, true) => 20,
            (false, false) => 1,
        };
        let is_slow = has_hull && found.gap < -0.02;
        if found.gap < 1e-6 && !is_slow && self.count.is_multiple_of(part) {
            let excess = widest(solids, poses) - found.gap;
            assert!(excess < 1e-9, "{solids:?} {poses:?} {found:?}: {excess:e}");
            self.search = self.search.larger(excess);
            self.searched += 1;
        }
    }
}

/// The gap of two separated convex shapes is the distance both of planes that touch them and of
/// points of them. No plane separates shapes that penetrate by less than the depth.
#[test]
fn gap_of_convex_shapes_is_that_of_planes_and_points() {
    let mut random = Random::new(61);
    let mut errors = Errors::default();
    for _ in 0..if long() { 20_000 } else { 6 } {
        let (ones, others) = (convex(&mut random), convex(&mut random));
        for a in &ones {
            for b in &others {
                let size = [0.3, 0.8, 2.0][random.between(0.0, 3.0) as usize];
                let [A, B] = [0; 2].map(|_| random.pose(size));
                errors.compare([a, b], [&A, &B]);
            }
        }
    }
    let Errors {
        planes,
        points,
        search,
        count,
        searched,
    } = errors;
    println!(
        "{count} pairs of convex shapes, {searched} searched: planes {planes:.1e} m, points {points:.1e} m, search {search:.1e} m"
    );
    // Axes of capsules that nearly cross lose digits of the normal.
    assert!(planes < if long() { 1e-11 } else { 1e-13 });
    assert!(points < 1e-10 && searched * if long() { 500 } else { 10 } > count);
}

/// The gap is exact where shapes nearly touch, by 1e-15 to 1e-2 m on both sides.
#[test]
fn gap_of_nearly_touching_convex_shapes_is_that_of_planes_and_points() {
    let mut random = Random::new(62);
    let (mut errors, mut linear) = (Errors::default(), 0.0f64);
    for _ in 0..if long() { 5_000 } else { 6 } {
        let (ones, others) = (convex(&mut random), convex(&mut random));
        for a in &ones {
            for b in &others {
                let [mut A, B] = [0; 2].map(|_| random.pose(2.0));
                let far = found([a, b], [&A, &B]);
                if far.gap < 0.01 {
                    continue;
                }
                let gap = libm::pow(10.0, random.between(-15.0, -2.0)) * random.between(-1.0, 1.0).signum();
                A.p += far.n * (gap - far.gap);
                errors.compare([a, b], [&A, &B]);
                // The normal of separated shapes does not change as they approach along it; inside it
                // does where a vertex was nearest.
                let near = found([a, b], [&A, &B]);
                let expected = if gap > 0.0 { near.gap - gap } else { 0.0 };
                linear = linear.larger(expected.abs());
            }
        }
    }
    let Errors {
        planes,
        points,
        search,
        count,
        searched,
    } = errors;
    println!(
        "{count} nearly touching pairs, {searched} searched: planes {planes:.1e} m, points {points:.1e} m, search {search:.1e} m, \
         approach along the normal {linear:.1e} m"
    );
    assert!(planes < 1e-12 && points < 1e-10 && linear < 1e-12);
}

/// Directional derivatives of the gap are the normal velocity of the nearest points, and those of
/// normal and contact point agree with central differences.
#[test]
fn derivatives_of_convex_pairs_are_those_of_the_relative_motion() {
    let mut random = Random::new(63);
    let (mut of_gap, mut of_rest, mut count, mut rough) = (0.0f64, 0.0f64, 0, 0);
    for _ in 0..if long() { 2000 } else { 60 } {
        let (ones, others) = (convex(&mut random), convex(&mut random));
        for [a, b] in ones.iter().flat_map(|a| others.iter().map(move |b| [a, b])) {
            let [A, B] = [0; 2].map(|_| random.pose(0.9));
            let motions = [0; 4].map(|_| random.vector(1.0));
            let [A_d, B_d] = [
                moving(&A, &motions[0], &motions[1]),
                moving(&B, &motions[2], &motions[3]),
            ];
            let exact = nearest([a, b], [&A_d, &B_d]).expect("a pair");
            let here = found([a, b], [&A, &B]);
            let on_a = here.from_a + here.n * (0.5 * here.gap);
            let on_b = A.p - B.p + here.from_a - here.n * (0.5 * here.gap);
            let velocity = motions[0] + motions[1].cross(&on_a) - motions[2] - motions[3].cross(&on_b);
            let rate = (exact.gap.eps[0] - here.n.dot(&velocity)).abs();
            assert!(rate < 1e-9, "{a:?} {b:?} {A:?} {B:?} {here:?}: {rate:e}");
            of_gap = of_gap.larger(rate);
            let h = 1e-6;
            let [before, after] = [-h, h].map(|h| {
                let along = |pose: &Pose<f64>, v: &Vec3<f64>, w: &Vec3<f64>| Pose {
                    R: exp(w * h).rotation() * pose.R,
                    p: pose.p + v * h,
                };
                let (A, B) = (along(&A, &motions[0], &motions[1]), along(&B, &motions[2], &motions[3]));
                found([a, b], [&A, &B])
            });
            for (dual, here, before, after) in [
                (exact.n, here.n, before.n, after.n),
                (exact.from_a, here.from_a, before.from_a, after.from_a),
            ] {
                let difference = (after - before) / (2.0 * h);
                // The second difference shows features that change between the poses.
                let second = (after - here * 2.0 + before).norm() / (h * h);
                if second > 1e4 {
                    rough += 1;
                    continue;
                }
                let this = (dual.map(|x| x.eps[0]) - difference).norm() / (1.0 + difference.norm());
                assert!(this < 1e-5, "{a:?} {b:?} {A:?} {B:?} {here:?}: {this:e}");
                of_rest = of_rest.larger(this);
                count += 1;
            }
        }
    }
    println!(
        "rate of the gap {of_gap:.1e} m/s, of normal and contact point {of_rest:.1e} ({count}, {rough} with changes)"
    );
    assert!(of_gap < 1e-11);
    assert!(rough * 20 < count);
}

/// A common motion of both frames, also in their other order, changes neither gap nor contact point.
#[test]
fn gap_of_convex_pairs_is_independent_of_a_common_motion_and_of_the_order() {
    let mut random = Random::new(64);
    let mut off = 0.0f64;
    for _ in 0..if long() { 2000 } else { 60 } {
        let (ones, others) = (convex(&mut random), convex(&mut random));
        for [a, b] in ones.iter().flat_map(|a| others.iter().map(move |b| [a, b])) {
            let [A, B, C] = [0; 3].map(|_| random.pose(0.9));
            let moved = |pose: &Pose<f64>| Pose {
                R: C.R * pose.R,
                p: C.p + C.R * pose.p,
            };
            let here = found([a, b], [&A, &B]);
            let there = found([a, b], [&moved(&A), &moved(&B)]);
            let reversed = found([b, a], [&B, &A]);
            let from_a = B.p + reversed.from_a - A.p;
            for (gap, n, from_a) in [
                (there.gap, C.R.tr_mul(&there.n), C.R.tr_mul(&there.from_a)),
                (reversed.gap, -reversed.n, from_a),
            ] {
                let this = (gap - here.gap).abs();
                assert!(this < 1e-9, "{a:?} {b:?} {A:?} {B:?} {here:?} {gap}");
                off = off.larger(this);
                // Either of two depths that are equal to 1e-9 m may be taken.
                if here.gap > 0.0 {
                    assert!((n - here.n).norm() < 1e-9, "{a:?} {b:?} {n} {}", here.n);
                    assert!(
                        (from_a - here.from_a).norm() < 1e-7,
                        "{a:?} {b:?} {from_a} {}",
                        here.from_a
                    );
                }
            }
        }
    }
    println!("common motions and order: gap {off:.1e} m");
    assert!(off < 1e-13);
}

/// Shapes with a common centre, or one that touches an axis or a centre of the other, have a gap of
/// planes that touch both, a unit normal and finite derivatives.
#[test]
fn coincident_convex_shapes_have_finite_results() {
    let mut random = Random::new(66);
    let (ones, others) = (convex(&mut random), convex(&mut random));
    let quarter = turned([0.0, 1.0, 0.0], FRAC_PI_2);
    let mut off = 0.0f64;
    for [a, b] in ones.iter().flat_map(|a| others.iter().map(move |b| [a, b])) {
        for p in [
            [0.0; 3],
            [1e-200, 0.0, 0.0],
            [0.0, 0.0, 0.3],
            [0.0, 0.2, 0.0],
            [0.0, 0.0, 2.0],
            [2.0, 0.0, 0.0],
        ] {
            for R in [Mat3::identity(), quarter, turned([0.6, 0.8, 0.0], 0.7)] {
                let [A, B] = [at(p, R), Pose::identity()];
                let found = found([a, b], [&A, &B]);
                assert!((found.n.norm() - 1.0).abs() < 1e-14, "{a:?} {b:?} {p:?}: {found:?}");
                off = off.larger((found.gap - between_planes([a, b], [&A, &B], &found.n)).abs());
                let moved = moving(&A, &random.vector(1.0), &random.vector(1.0));
                let exact = nearest([a, b], [&moved, &moving(&B, &Vec3::zeros(), &Vec3::zeros())]).expect("a pair");
                let numbers = exact.n.iter().chain(exact.from_a.iter()).chain([&exact.gap]);
                assert!(
                    numbers.into_iter().all(|x| x.re.is_finite() && x.eps[0].is_finite()),
                    "{a:?} {b:?} {p:?} {R}: {exact:?}"
                );
            }
        }
    }
    println!("coincident shapes: gap {off:.1e} m");
    assert!(off < 1e-14);
}

/// The hull of a box's corners has the gap, the normal and the contact point of the box, next to every
/// other shape and above a plane.
#[test]
fn hull_of_a_box_is_the_box() {
    let mut random = Random::new(65);
    let (mut off, mut turned) = (0.0f64, 0.0f64);
    for _ in 0..if long() { 5000 } else { 100 } {
        let half = [0; 3].map(|_| random.between(0.1, 0.6));
        let sides = |k: usize| Vec3::from_fn(|i, _| if (k >> i) & 1 == 1 { half[i] } else { -half[i] });
        let corners: Vec<Vec3<f64>> = (0..8).map(sides).collect();
        let (block, same) = (Solid::Box { half }, hull(&corners));
        for b in convex(&mut random).into_iter().chain([Solid::Plane]) {
            let [A, B] = [0; 2].map(|_| random.pose(0.8));
            let [one, other] = [&block, &same].map(|a| found([a, &b], [&A, &B]));
            off = off.larger((one.gap - other.gap).abs());
            turned = turned.larger((one.n - other.n).norm());
            turned = turned.larger((one.from_a - other.from_a).norm());
        }
    }
    println!("hull of a box: gap {off:.1e} m, normal and contact point {turned:.1e}");
    assert!(off < 1e-14 && turned < 1e-12);
}

/// A regular tetrahedron of edge 1 m has its closed forms: √6/12 m from centre to face, √2/4 to edge,
/// √6/4 to vertex; two of them meet face to face, edge to edge and vertex to vertex.
#[test]
fn tetrahedra_have_their_closed_forms() {
    let corner = |x: f64, y: f64, z: f64| Vec3::new(x, y, z) * 0.125f64.sqrt();
    let corners = [
        corner(1.0, 1.0, 1.0),
        corner(1.0, -1.0, -1.0),
        corner(-1.0, 1.0, -1.0),
        corner(-1.0, -1.0, 1.0),
    ];
    let tetrahedron = hull(&corners);
    let diagonal = Vec3::new(1.0, 1.0, 1.0).normalize();
    let [to_face, to_edge, to_vertex] = [6f64.sqrt() / 12.0, 2f64.sqrt() / 4.0, 6f64.sqrt() / 4.0];
    let mirrored = hull(&corners.map(|p| -p));
    let mut off = 0.0f64;
    for gap in [1.0, 1e-3, 1e-8, 1e-12, 0.0, -1e-12, -1e-8, -1e-3, -0.05] {
        let ball = Solid::Sphere { radius: 0.2 };
        // Below zero the depth at an edge of one solid or at a vertex is that of a face.
        let cases = [
            ("ball on face", &ball, -diagonal * (to_face + 0.2 + gap), true),
            ("ball on edge", &ball, Vec3::z() * (to_edge + 0.2 + gap), true),
            ("ball on vertex", &ball, diagonal * (to_vertex + 0.2 + gap), true),
            ("face on face", &mirrored, -diagonal * (2.0 * to_face + gap), true),
            (
                "edge across edge",
                &tetrahedron,
                Vec3::z() * (2.0 * to_edge + gap),
                true,
            ),
            ("vertex on vertex", &mirrored, diagonal * (2.0 * to_vertex + gap), false),
        ];
        for (name, a, p, has_depth) in cases {
            if gap < 0.0 && !has_depth {
                continue;
            }
            let found = found([a, &tetrahedron], [&at(p.into(), Mat3::identity()), &Pose::identity()]);
            assert!((found.gap - gap).abs() < 1e-15, "{name}, {gap}: {found:?}");
            off = off.larger((found.gap - gap).abs());
        }
    }
    println!("tetrahedra: gap {off:.1e} m");
}

/// Name, shapes a and b, position (m) and attitude of a relative to b.
type Case<'a> = (&'static str, [&'a Solid<'a>; 2], [f64; 3], Mat3<f64>);

fn at(p: [f64; 3], R: Mat3<f64>) -> Pose<f64> {
    Pose { R, p: Vec3::from(p) }
}

fn turned(axis: [f64; 3], angle: f64) -> Mat3<f64> {
    exp(Vec3::from(axis) * angle).rotation()
}

/// Shapes whose faces, edges, axes or rims are parallel or coaxial have the gap of their closed form,
/// with a unit normal and a contact point on both.
#[test]
fn parallel_and_coaxial_convex_shapes_have_their_closed_forms() {
    let brick = Solid::Box { half: [0.5, 0.4, 0.3] };
    let tube = Solid::Cylinder { radius: 0.2, half: 0.6 };
    let coin = Solid::Disc { radius: 0.25 };
    let spike = Solid::Cone {
        radius: 0.3,
        end: 0.0,
        half: 0.4,
    };
    let bud = Solid::Cone {
        radius: 0.3,
        end: 0.1,
        half: 0.4,
    };
    let pill = Solid::Capsule { radius: 0.1, half: 0.5 };
    let (one, over, across) = (
        Mat3::identity(),
        turned([1.0, 0.0, 0.0], 2.0 * FRAC_PI_2),
        turned([1.0, 0.0, 0.0], FRAC_PI_2),
    );
    let diagonal = turned([1.0, 0.0, 0.0], FRAC_PI_4);
    let mut off = 0.0f64;
    for gap in [0.7, 1e-3, 1e-9, 1e-13, 0.0, -1e-13, -1e-9, -1e-3, -0.01] {
        let z = |height: f64| [0.0, 0.0, height + gap];
        let cases: [Case; 20] = [
            ("box on box", [&brick, &brick], z(0.6), one),
            ("overhanging box", [&brick, &brick], [0.9, 0.3, 0.6 + gap], one),
            ("box beside box", [&brick, &brick], [1.0 + gap, 0.1, 0.1], one),
            (
                "turned box on box",
                [&brick, &brick],
                z(0.6),
                turned([0.0, 0.0, 1.0], 0.3),
            ),
            ("edge on a face", [&brick, &brick], z(0.3 + 0.7 / 2f64.sqrt()), diagonal),
            ("tube on box", [&tube, &brick], z(0.9), one),
            ("tube lying on box", [&tube, &brick], z(0.5), across),
            (
                "box on tube lying",
                [&brick, &tube],
                [0.0, 0.5 + 0.1 + gap, 0.1],
                turned([0.0, 0.0, 1.0], 0.0),
            ),
            ("tube on tube", [&tube, &tube], z(1.2), one),
            ("tubes side by side", [&tube, &tube], [0.4 + gap, 0.0, 0.3], one),
            (
                "tubes crossed",
                [&tube, &tube],
                [0.4 + gap, 0.1, 0.1],
                turned([1.0, 0.0, 0.0], 1.0),
            ),
            (
                "tube end against tube side",
                [&tube, &tube],
                [0.0, 0.8 + gap, 0.1],
                across,
            ),
            ("coin on tube", [&coin, &tube], z(0.6), one),
            ("coins face to face", [&coin, &coin], z(0.0), one),
            ("spike on box, tip down", [&spike, &brick], z(0.7), over),
            ("spike tips", [&spike, &spike], z(0.8), over),
            ("bud base on bud base", [&bud, &bud], [0.0, 0.0, -0.8 - gap], over),
            ("pill on box", [&pill, &brick], z(0.4), across),
            ("pill beside tube", [&pill, &tube], [0.3 + gap, 0.0, 0.2], one),
            ("pill end on tube", [&pill, &tube], z(1.2), one),
        ];
        for (name, solids, p, R) in cases {
            // Tips and coins that penetrate are nearer to each other's sides.
            if gap <= 0.0 && ["coins face to face", "spike tips"].contains(&name) {
                continue;
            }
            for turn in [one, turned([0.6, 0.0, 0.8], 1.234)] {
                let [A, B] = [at((turn * Vec3::from(p)).into(), turn * R), at([0.0; 3], turn)];
                let found = found(solids, [&A, &B]);
                let this = (found.gap - gap).abs();
                assert!(this < 1e-12, "{name}, gap {gap}: {found:?}");
                off = off.larger(this);
                let points = witnesses(&found, [&A, &B]);
                for (solid, point) in solids.iter().zip(points) {
                    assert!(solid.distance_to_solid(point).0 < 1e-9, "{name}, gap {gap}: {found:?}");
                }
            }
        }
    }
    println!("parallel and coaxial shapes: gap {off:.1e} m");
}
