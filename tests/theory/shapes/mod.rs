//! Distances of the shapes of contacts: against definitions, closed forms and differences.

mod convex;
mod groups;
mod near;
mod passages;
mod references;
mod runs;
mod singular;

use crate::long::long;
use crate::numbers::Larger;
use grapple::algebra::{Dual, Mat3, Pose, Quaternion, Scalar, Vec3, exp, lift3};
use grapple::elements::{Nearest, Solid, nearest};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use references::{contains, folded, least, surface};

/// Random numbers of a test.
struct Random(ChaCha8Rng);

impl Random {
    fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0.random_range(low..high)
    }

    fn vector(&mut self, size: f64) -> Vec3<f64> {
        Vec3::from_fn(|_, _| self.between(-size, size))
    }

    fn pose(&mut self, size: f64) -> Pose<f64> {
        let q = Quaternion::from_slice(&[0; 4].map(|_| self.between(-1.0, 1.0))).normalised();
        Pose {
            R: q.rotation(),
            p: self.vector(size),
        }
    }

    /// Returns a shape of each type but the plane.
    fn bounded(&mut self) -> Vec<Solid<'static>> {
        let [radius, half, thickness] = [(0.1, 0.6), (0.1, 0.8), (0.02, 0.1)].map(|(a, b)| self.between(a, b));
        let end = radius * self.between(0.05, 0.95);
        vec![
            Solid::Sphere { radius },
            Solid::Disc { radius },
            Solid::Capsule { radius, half },
            Solid::Box {
                half: [0; 3].map(|_| self.between(0.1, 0.6)),
            },
            Solid::Cylinder { radius, half },
            Solid::Cone { radius, end, half },
            Solid::Cone { radius, end: 0.0, half },
            Solid::Funnel {
                radius,
                end,
                half,
                thickness,
            },
            Solid::Funnel {
                radius,
                end: 0.0,
                half,
                thickness,
            },
        ]
    }
}

fn found(solids: [&Solid; 2], poses: [&Pose<f64>; 2]) -> Nearest<f64> {
    nearest(solids, poses).expect("a pair with a distance")
}

/// Returns the point halfway between the surfaces.
fn midpoint(found: &Nearest<f64>, A: &Pose<f64>) -> Vec3<f64> {
    A.p + found.from_a
}

/// The distance of a sphere from every shape, outside and inside, equals that of a search over the
/// shape's surface without derivatives, with the sign of the shape's definition by inequalities. The
/// normal points from the nearest point of that search, where this is unique.
#[test]
fn distance_of_a_sphere_equals_that_of_a_search() {
    let shapes = if long() { 20_000 } else { 250 };
    let mut random = Random::new(41);
    let (mut off, mut turned, mut witness_off) = (0.0f64, 0.0f64, 0.0f64);
    let (mut tied, mut inside, mut all) = (0, 0, 0);
    for _ in 0..shapes {
        for solid in random.bounded() {
            let (pieces, B) = (surface(&solid), random.pose(3.0));
            let spread = [0.9, 0.3][usize::from(random.between(0.0, 1.0) < 0.5)];
            let c = random.vector(spread);
            let (r, A) = (
                random.between(0.0, 0.3),
                Pose {
                    p: B.p + B.R * c,
                    ..random.pose(1.0)
                },
            );
            let found = found([&Solid::Sphere { radius: r }, &solid], [&A, &B]);
            let (distance, nearest) = least(&pieces, |x| (x - c).norm());
            let is_inside = contains(&solid, &c);
            let distance = if is_inside { -distance } else { distance };
            let this = (found.gap - (distance - r)).abs();
            assert!(this < 1e-12, "{solid:?} {c}: {} and {}", found.gap, distance - r);
            off = off.larger(this);
            // The witness point of the shape is a point of its surface at this distance.
            let witness = B.R.tr_mul(&(midpoint(&found, &A) - found.n * (0.5 * found.gap) - B.p));
            let on_surface = least(&pieces, |x| (x - witness).norm()).0;
            witness_off = witness_off.larger(on_surface);
            let n = B.R * (c - nearest) / distance;
            let angle = (n - found.n).norm();
            let is_unique = (witness - nearest).norm() < 1e-3 || distance.abs() < 1e-3;
            if is_unique && distance.abs() > 0.02 {
                turned = turned.larger(angle);
            }
            tied += i32::from(!is_unique);
            inside += i32::from(is_inside);
            all += 1;
        }
    }
    println!(
        "{all} spheres, {inside} centres inside, {tied} tied: gap {off:.1e} m, witness {witness_off:.1e} m off the surface, \
         normal {turned:.1e}"
    );
    assert!(off < 1e-13 && inside * 10 > all && tied * 100 < all);
    // A point of the surface at the least distance is a nearest point: this verifies the normal.
    assert!(witness_off < 1e-10);
    // The search finds a distance to round-off, so the place and the normal to its square root.
    assert!(turned < 1e-5);
}

/// The distance of two capsules is that of a search over both axes.
#[test]
fn distance_of_two_capsules_equals_that_of_a_search() {
    let mut random = Random::new(42);
    let mut off = 0.0f64;
    for _ in 0..if long() { 100_000 } else { 2000 } {
        let [A, B] = [0; 2].map(|_| random.pose(0.6));
        let [r_a, r_b] = [0; 2].map(|_| random.between(0.05, 0.3));
        let [h_a, h_b] = [0; 2].map(|_| random.between(0.1, 0.8));
        let [a, b] = [(r_a, h_a), (r_b, h_b)].map(|(radius, half)| Solid::Capsule { radius, half });
        let found = found([&a, &b], [&A, &B]);
        let ends = |pose: &Pose<f64>, half: f64| [-half, half].map(|z| pose.p + pose.R * Vec3::new(0.0, 0.0, z));
        let ([p, q], [s, t]) = (ends(&A, h_a), ends(&B, h_b));
        // Differences of points of both axes are a parallelogram; its distance from the origin.
        let pieces: [references::Piece; 1] = [Box::new(move |u, v| p + (q - p) * u - s - (t - s) * folded(v))];
        let (distance, w) = least(&pieces, |x| x.norm_squared());
        let this = (found.gap - (distance.sqrt() - r_a - r_b)).abs();
        off = off.larger(this);
        assert!((w.normalize() - found.n).norm() < 1e-4, "{w} {}", found.n);
    }
    println!("gap of two capsules {off:.1e} m");
    // A compass search ends 1e-11 of the lengths from the minimum across, and more along the valley
    // of nearly parallel axes.
    assert!(off < 1e-9);
}

/// The gap of a shape above a plane is the least height of its surface.
#[test]
fn gap_above_a_plane_is_the_least_height() {
    let mut random = Random::new(43);
    let mut off = 0.0f64;
    for _ in 0..if long() { 10_000 } else { 150 } {
        for solid in random.bounded() {
            if matches!(solid, Solid::Disc { .. } | Solid::Funnel { .. }) && found_none(&solid) {
                continue;
            }
            let [A, B] = [0; 2].map(|_| random.pose(2.0));
            let n = B.R * Vec3::z();
            let height = |x: &Vec3<f64>| n.dot(&(A.p + A.R * x - B.p));
            let (lowest, _) = least(&surface(&solid), height);
            let found = found([&solid, &Solid::Plane], [&A, &B]);
            off = off.larger((found.gap - lowest).abs());
            assert!((found.n - n).norm() < 1e-15);
            let touching = midpoint(&found, &A) + n * (0.5 * found.gap);
            assert!((n.dot(&(touching - B.p)) - found.gap).abs() < 1e-14);
        }
    }
    println!("gap above a plane {off:.1e} m");
    assert!(off < 1e-12, "{off}");
}

/// Returns true for a shape without a distance from a plane.
fn found_none(solid: &Solid) -> bool {
    let here = Pose::<f64>::identity();
    nearest([solid, &Solid::Plane], [&here, &here]).is_none()
}

/// Interchanged frames have the same gap and contact point, and the reverse normal.
#[test]
fn order_of_the_frames_reverses_the_normal_only() {
    let mut random = Random::new(44);
    for _ in 0..200 {
        for b in random.bounded().into_iter().chain([Solid::Plane]) {
            let a = match b {
                Solid::Plane => Solid::Capsule { radius: 0.2, half: 0.3 },
                _ => Solid::Sphere { radius: 0.2 },
            };
            let [A, B] = [0; 2].map(|_| random.pose(1.0));
            let [one, other] = [found([&a, &b], [&A, &B]), found([&b, &a], [&B, &A])];
            assert!((one.gap - other.gap).abs() < 1e-14);
            assert!((one.n + other.n).norm() < 1e-14);
            assert!((midpoint(&one, &A) - midpoint(&other, &B)).norm() < 1e-14);
        }
    }
}

/// Directional derivatives of the gap are the normal velocity of the contact point, in closed form;
/// those of normal and contact point agree with central differences.
#[test]
fn derivatives_are_those_of_the_relative_motion() {
    let mut random = Random::new(45);
    let (mut of_gap, mut of_rest) = (0.0f64, 0.0f64);
    for _ in 0..300 {
        let bounded = random.bounded();
        let capsule = Solid::Capsule { radius: 0.1, half: 0.4 };
        let sphere = Solid::Sphere { radius: 0.1 };
        let upon = bounded.iter().map(|b| [sphere, *b]);
        let planar = bounded.iter().filter(|a| !found_none(a)).map(|a| [*a, Solid::Plane]);
        for [a, b] in upon.chain(planar).chain([[capsule, capsule]]) {
            let [A, B] = [0; 2].map(|_| random.pose(0.7));
            let motions = [0; 4].map(|_| random.vector(1.0));
            let moved = |h: f64| {
                let along = |pose: &Pose<f64>, v: &Vec3<f64>, w: &Vec3<f64>| Pose {
                    R: exp(w * h).rotation() * pose.R,
                    p: pose.p + v * h,
                };
                [along(&A, &motions[0], &motions[1]), along(&B, &motions[2], &motions[3])]
            };
            let [A_d, B_d] = [
                moving(&A, &motions[0], &motions[1]),
                moving(&B, &motions[2], &motions[3]),
            ];
            let exact = nearest([&a, &b], [&A_d, &B_d]).expect("a pair");
            let here = found([&a, &b], [&A, &B]);
            let on_a = here.from_a + here.n * (0.5 * here.gap);
            let on_b = A.p - B.p + here.from_a - here.n * (0.5 * here.gap);
            let velocity = motions[0] + motions[1].cross(&on_a) - motions[2] - motions[3].cross(&on_b);
            of_gap = of_gap.larger((exact.gap.eps[0] - here.n.dot(&velocity)).abs());
            let h = 1e-6;
            let [before, after] = [-h, h].map(|h| {
                let [A, B] = moved(h);
                found([&a, &b], [&A, &B])
            });
            for (dual, before, after) in [
                (exact.n, before.n, after.n),
                (exact.from_a, before.from_a, after.from_a),
            ] {
                let difference = (after - before) / (2.0 * h);
                let this = (dual.map(|x| x.eps[0]) - difference).norm();
                let size = 1.0 + difference.norm();
                // Features that change within the difference, and curvatures next to an edge.
                if size < 1e3 {
                    of_rest = of_rest.larger(this / size);
                }
            }
        }
    }
    println!("rate of the gap {of_gap:.1e} m/s, of normal and contact point {of_rest:.1e}");
    assert!(of_gap < 1e-12);
    assert!(of_rest < 1e-5);
}

/// A ball of radius r on the axis side of a funnel with the half angle α, at the distance x from the
/// tip and ρ from the axis, has the gap `x sin α − ρ cos α − r`.
#[test]
fn ball_in_a_funnel_has_its_closed_form() {
    let (radius, half, r): (f64, f64, f64) = (0.3, 0.4, 0.05);
    let funnel = Solid::Funnel {
        radius,
        end: 0.0,
        half,
        thickness: 0.01,
    };
    let (sine, cosine) = (radius / (2.0 * half)).atan().sin_cos();
    for (x, rho) in [(0.3, 0.0), (0.3, 0.05), (0.5, 0.1), (0.7, 0.15)] {
        let A = Pose {
            p: Vec3::new(0.6 * rho, 0.8 * rho, x - half),
            ..Pose::identity()
        };
        let found = found([&Solid::Sphere { radius: r }, &funnel], [&A, &Pose::identity()]);
        assert!((found.gap - (x * sine - rho * cosine - r)).abs() < 1e-15);
        if rho > 0.0 {
            let n = Vec3::new(-0.6 * cosine, -0.8 * cosine, sine);
            assert!((found.n - n).norm() < 1e-15);
        }
    }
}

/// Points on axes and centres, on edges and in planes of faces have finite distances, unit normals
/// and finite derivatives.
#[test]
fn singular_points_have_finite_results() {
    let mut random = Random::new(46);
    let line = [-1.0, -0.3, 0.0, 0.3, 1.0];
    for solid in random.bounded() {
        let mut places: Vec<Vec3<f64>> = Vec::new();
        for x in line {
            places.extend(line.iter().flat_map(|y| line.map(|z| Vec3::new(x, *y, z))));
            places.push(Vec3::new(x * 1e-200, 0.0, x));
            places.push(Vec3::new(x * 1e-160, 0.0, 0.0));
        }
        if let Solid::Box { half } = solid {
            places.push(Vec3::from(half));
            places.push(Vec3::new(half[0], half[1], 0.0));
        }
        if let Solid::Cylinder { radius, half } | Solid::Cone { radius, half, .. } = solid {
            places.extend([-half, half].map(|z| Vec3::new(radius, 0.0, z)));
            places.extend([-half, half].map(|z| Vec3::new(0.0, 0.0, z)));
        }
        for p in places {
            let here = Pose::<Dual<3>>::identity();
            let A = Pose {
                p: Vec3::from_fn(|i, _| Dual::variable(p[i], i)),
                R: Mat3::identity(),
            };
            let found = nearest([&Solid::Sphere { radius: 0.1 }, &solid], [&A, &here]).expect("a pair");
            let n = found.n.map(Scalar::value);
            assert!((n.norm() - 1.0).abs() < 1e-15, "{solid:?} {p}: {n}");
            let numbers = [found.gap, found.n.x, found.n.y, found.n.z, found.from_a.x];
            let finite = numbers
                .iter()
                .all(|x| x.re.is_finite() && x.eps.iter().all(|eps| !eps.is_nan()));
            assert!(finite, "{solid:?} {p}: {numbers:?}");
            let gradient = lift3::<f64>(&Vec3::from(found.gap.eps));
            assert!((gradient - n).norm() < 1e-14, "{solid:?} {p}: {gradient} {n}");
        }
    }
}

/// Returns a pose with its derivative along the velocity `v` of its origin and the angular velocity
/// `w`.
fn moving(pose: &Pose<f64>, v: &Vec3<f64>, w: &Vec3<f64>) -> Pose<Dual<1>> {
    let rate = w.cross_matrix() * pose.R;
    let number = |re: f64, eps: f64| Dual::<1>::new(re, [eps]);
    Pose {
        R: Mat3::from_fn(|i, k| number(pose.R[(i, k)], rate[(i, k)])),
        p: Vec3::from_fn(|i, _| number(pose.p[i], v[i])),
    }
}
