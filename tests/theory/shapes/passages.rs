//! Impacts of shapes that touch and separate within one step of the integrator.

use super::{Random, found};
use crate::long::long;
use crate::numbers::Larger;
use crate::run::Run;
use grapple::algebra::{Pose, Twist, Vec3, exp};
use grapple::elements::{Solid, rate_bound};

/// Differences of the gap along motions of both frames do not exceed the bound of its rate, in
/// either order of the frames.
#[test]
fn rate_of_the_gap_is_within_its_bound() {
    let mut random = Random::new(61);
    let (mut most, mut all) = (0.0f64, 0);
    for _ in 0..if long() { 20_000 } else { 400 } {
        let bounded = random.bounded();
        let sphere = Solid::Sphere { radius: 0.1 };
        let capsule = Solid::Capsule { radius: 0.1, half: 0.4 };
        let upon = bounded.iter().map(|b| [sphere, *b]);
        let planar = bounded.iter().map(|a| [*a, Solid::Plane]);
        let others = random.bounded();
        let both = bounded.iter().zip(&others).map(|(a, b)| [*a, *b]);
        let next = bounded.iter().zip(others.iter().skip(2)).map(|(a, b)| [*a, *b]);
        let pairs = upon.chain(planar).chain([[capsule, capsule]]).chain(both).chain(next);
        for [a, b] in pairs.flat_map(|[a, b]| [[a, b], [b, a]]) {
            let here = Pose::<f64>::identity();
            if grapple::elements::nearest([&a, &b], [&here, &here]).is_none() {
                continue;
            }
            let far = [0.5, 3.0][usize::from(random.between(0.0, 1.0) < 0.5)];
            let [A, B] = [0; 2].map(|_| random.pose(far));
            let mut motions = [0; 4].map(|_| random.vector(1.0));
            if random.between(0.0, 1.0) < 0.5 {
                // The point of b at the origin of a moves with a.
                motions[0] = motions[2] + motions[3].cross(&(A.p - B.p));
            }
            let gap = |h: f64| {
                let along = |pose: &Pose<f64>, v: &Vec3<f64>, w: &Vec3<f64>| Pose {
                    R: exp(w * h).rotation() * pose.R,
                    p: pose.p + v * h,
                };
                let moved = [along(&A, &motions[0], &motions[1]), along(&B, &motions[2], &motions[3])];
                found([&a, &b], [&moved[0], &moved[1]]).gap
            };
            let h = 1e-6;
            let rate = ((gap(h) - gap(-h)) / (2.0 * h)).abs();
            let d = A.p - B.p;
            let relative = Twist::new(motions[1] - motions[3], motions[0] - motions[2] - motions[3].cross(&d));
            let bound = rate_bound([&a, &b], &relative, d);
            assert!(rate < bound + 1e-5, "{a:?} {b:?}: {rate} and {bound}");
            if bound > 0.1 {
                most = most.larger(rate / bound);
            }
            all += 1;
        }
    }
    println!("{all} motions: rate of the gap at most {most:.3} of its bound");
    assert!(most > 0.9);
}

/// A ball passes through a plate within one step of the integrator. At its end the point that
/// rotates with the ball at the plate's centre is at rest: the ball has the angular velocity ω
/// with `v = ω × r`. Its impact is found in either order of the frames.
#[test]
fn impact_within_a_step_is_found_in_either_order() {
    let (plate, ball) = (
        "{ type = \"box\", size = [0.02, 4.0, 4.0] }",
        "{ type = \"sphere\", radius = 0.1 }",
    );
    for [a, b] in [["plate", "ball"], ["ball", "plate"]] {
        let shape = |name: &str| if name == "plate" { plate } else { ball };
        let text = format!(
            "name = \"passage\"\n[body.plate]\nmass = 1e6\ninertia = [1e6, 1e6, 1e6]\n\
             [body.ball]\nmass = 1.0\ninertia = [0.004, 0.004, 0.004]\n\
             start = {{ position = [-0.5, {:?}, 0.0], velocity = [1.5, -0.5, 0.0], angular_velocity = [0.0, 0.0, -1.0] }}\n\
             [contact.hit]\na = \"{a}\"\nb = \"{b}\"\nshape_a = {}\nshape_b = {}\ne = 1.0\n\
             [solver]\nmethod = \"dopri5\"\n",
            11.0 / 6.0,
            shape(a),
            shape(b)
        );
        let mut run = Run::new(&text, 1e-3);
        run.go(2.0 / 3.0);
        assert_eq!(run.value("hit.count"), 1.0, "a = {a}");
        assert!((run.value("hit.time") - 0.39 / 1.5).abs() < 1e-12);
    }
}

/// A bar that spins past a rod within one step has the impacts of a run in short steps.
#[test]
fn spinning_bar_hits_a_rod_within_a_step() {
    let mut random = Random::new(63);
    let (runs, parts) = (if long() { 1000 } else { 40 }, 400);
    let (mut hits, mut worst) = (0, 0.0f64);
    for _ in 0..runs {
        let [x, w] = [random.between(0.32, 0.45), random.between(2.0, 9.0)];
        let attitude = random.pose(1.0).R;
        let axis: [f64; 3] = (attitude * Vec3::new(0.0, 0.6, 0.8) * w).into();
        let text = format!(
            "name = \"bar\"\n[body.bar]\nmass = 2.0\ninertia = [0.02, 0.2, 0.2]\n\
             start = {{ position = [{x:?}, 0.1, 0.0], velocity = [-0.1, 0.0, 0.0], angular_velocity = {axis:?} }}\n\
             [body.rod]\nmass = 3.0\ninertia = [0.3, 0.3, 0.01]\nstart = {{ position = [-0.4, 0.0, 0.1] }}\n\
             [contact.hit]\na = \"bar\"\nb = \"rod\"\n\
             shape_a = {{ type = \"box\", size = [1.2, 0.1, 0.15] }}\n\
             shape_b = {{ type = \"cylinder\", radius = 0.1, length = 1.0 }}\n\
             e = 0.8\n[solver]\nmethod = \"dopri5\"\n"
        );
        let [mut one, mut other] = [0; 2].map(|_| Run::new(&text, 1e-9));
        // The first impact, of which round-off has not grown.
        let mut time = 1.0;
        for part in 1..=parts {
            other.go(f64::from(part) / f64::from(parts));
            if other.value("hit.count") > 0.0 {
                time = f64::from(part) / f64::from(parts);
                break;
            }
        }
        one.go(time);
        let counts = [&mut one, &mut other].map(|run| run.value("hit.count"));
        assert_eq!(
            counts[0].min(1.0),
            counts[1].min(1.0),
            "x = {x}, ω = {axis:?}: {counts:?}"
        );
        if counts[1] == 1.0 {
            hits += 1;
            worst = worst.larger((one.value("hit.time") - other.value("hit.time")).abs());
        }
    }
    println!("{runs} bars, {hits} hit; times of the impacts {worst:.1e} s");
    // The tolerance of the runs is 1e-9.
    assert!(hits * 10 > runs && worst < 1e-8);
}

/// Balls are shot through a funnel, and out of it, within a step of several metres. Each has the
/// impacts of a run in short steps.
#[test]
fn balls_through_a_funnel_have_the_impacts_of_short_steps() {
    let mut random = Random::new(62);
    let (shots, parts) = (if long() { 5000 } else { 150 }, 500);
    let (mut hits, mut wrong) = (0, 0);
    for _ in 0..shots {
        let from = random.vector(1.0).normalize() * random.between(2.0, 4.0);
        let to = Vec3::new(
            random.between(-0.2, 0.2),
            random.between(-0.2, 0.2),
            random.between(-0.4, 0.4),
        );
        let v = (to - from) * 1.7;
        let (p, v): ([f64; 3], [f64; 3]) = (from.into(), v.into());
        let text = format!(
            "name = \"shot\"\n[body.ball]\nmass = 2.0\ninertia = [0.002, 0.002, 0.002]\n\
             start = {{ position = {p:?}, velocity = {v:?} }}\n\
             [contact.wall]\na = \"ball\"\nb = \"world\"\n\
             shape_a = {{ type = \"sphere\", radius = 0.03 }}\n\
             shape_b = {{ type = \"funnel\", radius = 0.3, end_radius = 0.1, length = 0.8, thickness = 0.01 }}\n\
             e = 1.0\n[solver]\nmethod = \"dopri5\"\n"
        );
        let [mut one, mut other] = [0; 2].map(|_| Run::new(&text, 1e-6));
        one.go(1.0);
        for part in 1..=parts {
            other.go(f64::from(part) / f64::from(parts));
        }
        let count = other.value("wall.count");
        hits += i32::from(count > 0.0);
        let off = (one.vector("ball.r") - other.vector("ball.r")).norm();
        let found = one.value("wall.count");
        // Each reflection multiplies round-off by the wall's curvature.
        let is_equal = match count > 6.0 {
            true => found >= 6.0,
            false => found == count && off < 1e-8,
        };
        if !is_equal {
            wrong += 1;
            println!("{p:?} {v:?}: {found} impacts, {count} in short steps, {off:.1e} m");
        }
    }
    println!("{shots} shots, {hits} with impacts, {wrong} unlike those in short steps");
    assert!(wrong == 0 && hits * 2 > shots);
}
