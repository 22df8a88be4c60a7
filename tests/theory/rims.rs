//! Cylinders, cones, discs and meshes that rest, lie, roll and tip on a plane.

use crate::numbers::Larger;
use crate::run::Run;
use grapple::algebra::Vec3;

const GRAVITY: f64 = 9.81;

/// Returns a body of 2 kg with the shape `shape`, with gravity at `angle` (rad) from the normal, towards
/// the angle `azimuth` (rad) in the plane; `inertia` is about the axes of the shape, along z.
fn solid(shape: &str, inertia: [f64; 3], start: &str, [angle, azimuth]: [f64; 2], contact: &str) -> String {
    let (sin, cos) = angle.sin_cos();
    let g = [azimuth.cos() * sin, azimuth.sin() * sin, -cos].map(|part| part * GRAVITY);
    format!(
        "name = \"solid\"\n[environment]\ngravity = {g:?}\n[body.solid]\nmass = 2.0\ninertia = {inertia:?}\n\
         start = {{ {start} }}\n[port.push]\nframe = \"solid\"\n[contact.feet]\na = \"solid\"\nb = \"world\"\nshape_a = {{ {shape} }}\n\
         shape_b = {{ type = \"plane\" }}\nrest = 0.01\n{contact}\n"
    )
}

const CYLINDER: &str = "type = \"cylinder\", radius = 0.1, length = 0.3";
/// Of a homogeneous cylinder of 2 kg, kg·m².
const OF_CYLINDER: [f64; 3] = [0.02, 0.02, 0.01];

fn balance(run: &Run) -> f64 {
    run.value("system.energy") - run.value("system.work")
}

/// Runs for steps of `h` (s) and returns the largest increase of the energy in one, J.
fn growth_of_energy(run: &mut Run, steps: i32, h: f64) -> f64 {
    let t = run.simulation.state.t;
    let (mut energy, mut grown) = (run.value("system.energy"), 0.0_f64);
    for k in 1..=steps {
        run.go(t + h * f64::from(k));
        let now = run.value("system.energy");
        grown = grown.larger(now - energy);
        energy = now;
    }
    grown
}

/// Solids that fall flat or tilted on the floor come to rest on a face, an edge or a side and stay there
/// for 100 s; the floor carries the weight, and the energy never grows.
#[test]
fn solids_of_revolution_come_to_rest_for_100_s_without_drift() {
    let cone = "type = \"cone\", radius = 0.1, length = 0.3";
    let frustum = "type = \"cone\", radius = 0.1, end_radius = 0.06, length = 0.1";
    let disc = "type = \"disc\", radius = 0.1";
    let hexagon = "type = \"mesh\", vertices = [[0.1, 0.0, -0.1], [0.05, 0.0866, -0.1], [-0.05, 0.0866, -0.1], [-0.1, 0.0, -0.1], \
                   [-0.05, -0.0866, -0.1], [0.05, -0.0866, -0.1], [0.0, 0.0, 0.1]]";
    let flat = "position = [0.0, 0.0, 0.2]";
    let tilted = "position = [0.0, 0.0, 0.3], rpy_deg = [20.0, 15.0, 40.0], velocity = [0.3, 0.1, 0.0]";
    // Cylinders that are tilted in a plane fall on their face or on their side; others may roll on
    // their rim for ever, as no friction resists it.
    let [leans, tips] = ["15.0", "40.0"]
        .map(|angle| format!("position = [0.0, 0.0, 0.22], rpy_deg = [0.0, {angle}, 0.0], velocity = [0.2, 0.0, 0.0]"));
    let side = "position = [0.0, 0.0, 0.3], rpy_deg = [88.0, 0.0, 0.0]";
    for (shape, start, least) in [
        (CYLINDER, flat, 3.0),
        (CYLINDER, "position = [0.0, 0.0, 0.15]", 4.0),
        (CYLINDER, &leans, 3.0),
        (CYLINDER, &tips, 2.0),
        (CYLINDER, side, 2.0),
        (cone, flat, 3.0),
        (frustum, &leans, 3.0),
        (disc, &leans, 3.0),
        (hexagon, flat, 3.0),
        (hexagon, tilted, 3.0),
    ] {
        let text = solid(shape, OF_CYLINDER, start, [0.0; 2], "e = 0.3\nmu = 0.4");
        let mut run = Run::new(&text, 1e-9);
        run.look();
        let before = balance(&run);
        let grown = growth_of_energy(&mut run, 600, 0.01);
        let rest = run.vector("solid.r");
        let speed = run.vector("solid.v").norm();
        run.go(106.0);
        let drift = (run.vector("solid.r") - rest).norm();
        let weight = (run.vector("feet.force") - Vec3::z() * 2.0 * GRAVITY).norm();
        let [resting, count, height] = run.values(["feet.resting", "feet.count", "solid.r[3]"]);
        println!(
            "{} {start}: {count} impacts, {resting} points, height {height}, speed {speed:.1e} m/s, energy grows by {grown:.1e} J, \
             balance {:.1e} J, drift {drift:.1e} m, weight within {weight:.1e} N, {}",
            &shape[7..20],
            balance(&run) - before,
            run.simulation.statistics()
        );
        let rolls = resting == 2.0;
        assert!(grown < 1e-8 && (balance(&run) - before).abs() < 1e-6 && resting >= least);
        assert!(rolls || drift < 1e-8 && weight < 1e-6);
    }
}

/// A cylinder on an incline stands as long as its weight acts within its face, whatever the direction
/// of the slope: it tips above the angle atan(r/h), with its mass centre at the height h.
#[test]
fn cylinder_on_an_incline_tips_at_the_closed_form_angle() {
    let limit = (0.1_f64 / 0.15).atan();
    for azimuth in [0.0, 0.3, 0.7, 1.2, 2.5, -2.0] {
        for (angle, tips) in [(0.5 * limit, false), (limit - 1e-6, false), (limit + 1e-6, true)] {
            let start = "position = [0.0, 0.0, 0.15]";
            let text = solid(CYLINDER, OF_CYLINDER, start, [angle, azimuth], "e = 0.0\nmu = 1.0");
            let mut run = Run::new(&text, 1e-10);
            run.look();
            let [points] = run.values(["feet.resting"]);
            run.go(1.0);
            let (moved, w) = ((run.vector("solid.r") - Vec3::z() * 0.15).norm(), run.vector("solid.w"));
            // The axis of the rotation is along the surface and perpendicular to the slope.
            let across = w.dot(&Vec3::new(azimuth.cos(), azimuth.sin(), 0.0)).abs() / (w.norm() + 1e-300);
            println!(
                "azimuth {azimuth}, {:.1e} rad above: {points} points, moved {moved:.1e} m, turns {:.1e} rad/s, across {across:.1e}",
                angle - limit,
                w.norm()
            );
            if tips {
                assert!(points == 1.0 && moved > 1e-7 && w.norm() > 1e-7 && across < 1e-6);
            } else {
                assert!(points >= 3.0 && moved < 1e-10);
            }
        }
    }
}

/// A push at the mass centre tips a standing cylinder once it exceeds m g r/h.
#[test]
fn pushed_cylinder_tips_above_the_closed_form_force() {
    let limit = 2.0 * GRAVITY * 0.1 / 0.15;
    for azimuth in [0.1_f64, 0.6, 2.0] {
        for (part, tips) in [(0.5, false), (0.9, false), (1.0 - 1e-6, false), (1.0 + 1e-6, true)] {
            let text = solid(
                CYLINDER,
                OF_CYLINDER,
                "position = [0.0, 0.0, 0.15]",
                [0.0; 2],
                "e = 0.0\nmu = 1.0",
            );
            let mut run = Run::new(&text, 1e-10);
            run.go(0.1);
            // The force rises in steps.
            for step in 1..=10 {
                let force = limit * part * f64::from(step) / 10.0;
                run.set("push.f[1]", force * azimuth.cos());
                run.set("push.f[2]", force * azimuth.sin());
                run.go(0.1 + 0.1 * f64::from(step));
            }
            run.go(2.1);
            let moved = (run.vector("solid.r") - Vec3::z() * 0.15).norm();
            println!(
                "azimuth {azimuth}, {part}: moved {moved:.1e} m, {} points",
                run.value("feet.resting")
            );
            assert_eq!(moved > 1e-7, tips);
        }
    }
}

/// A tipping cylinder turns about its rim as a compound pendulum: its energy is conserved, and its
/// rate is that of the closed form.
#[test]
fn cylinder_tips_over_its_rim_as_a_compound_pendulum() {
    let (r, h, m) = (0.1_f64, 0.15, 2.0);
    let J = OF_CYLINDER[0] + m * (r * r + h * h);
    let rate = 6.0_f64;
    for azimuth in [0.0_f64, 0.4, 1.0] {
        // The axis is perpendicular to the direction of tipping; the rim's point stays.
        let d = Vec3::new(azimuth.cos(), azimuth.sin(), 0.0);
        let w = Vec3::z().cross(&d) * rate;
        let v = w.cross(&(Vec3::z() * h - d * r));
        let start = format!(
            "position = [0.0, 0.0, {h}], velocity = [{}, {}, {}], angular_velocity = [{}, {}, 0.0]",
            v.x, v.y, v.z, w.x, w.y
        );
        let mut run = Run::new(
            &solid(CYLINDER, OF_CYLINDER, &start, [0.0; 2], "e = 0.0\nmu = 3.0"),
            1e-11,
        );
        run.look();
        let before = balance(&run);
        run.go(0.05);
        let height = run.value("solid.r[3]");
        let expected = (rate * rate - 2.0 * m * GRAVITY * (height - h) / J).sqrt();
        let off = (run.vector("solid.w").norm() - expected).abs();
        let pivot = run.vector("solid.r") - d * r;
        let length = ((pivot.dot(&d)).hypot(pivot.z) - r.hypot(h)).abs();
        println!(
            "azimuth {azimuth}: rate within {off:.1e} rad/s, pivot within {length:.1e} m, balance {:.1e} J, {} points",
            balance(&run) - before,
            run.value("feet.resting")
        );
        assert!(off < 1e-7 && length < 1e-8 && (balance(&run) - before).abs() < 1e-8);
    }
}

/// A cylinder on its side rolls as a capsule, at 2/3 of the speed at which it starts to slide, and
/// down an incline with 2/3 of the acceleration without friction.
#[test]
fn cylinder_on_its_side_rolls_at_the_closed_form_speed() {
    let start = "position = [0.0, 0.0, 0.1], rpy_deg = [90.0, 0.0, 0.0], velocity = [1.0, 0.0, 0.0]";
    let mut run = Run::new(
        &solid(CYLINDER, OF_CYLINDER, start, [0.0; 2], "e = 0.0\nmu = 0.3"),
        1e-10,
    );
    run.look();
    let before = balance(&run);
    run.go(10.0);
    let (a, t_roll) = (0.3 * GRAVITY, 1.0 / (3.0 * 0.3 * GRAVITY));
    let expected = t_roll - 0.5 * a * t_roll * t_roll + 2.0 / 3.0 * (10.0 - t_roll);
    let off = (run.value("solid.r[1]") - expected).abs();
    let speed = (run.value("solid.v[1]") - 2.0 / 3.0).abs();
    println!(
        "rolls within {speed:.1e} m/s, {off:.1e} m, balance {:.1e} J, {}",
        balance(&run) - before,
        run.simulation.statistics()
    );
    assert!(speed < 1e-8 && off < 1e-7 && (balance(&run) - before).abs() < 1e-8);
    let start = "position = [0.0, 0.0, 0.1], rpy_deg = [90.0, 0.0, 0.0]";
    let mut run = Run::new(
        &solid(CYLINDER, OF_CYLINDER, start, [0.2, 0.0], "e = 0.0\nmu = 0.3"),
        1e-10,
    );
    run.go(3.0);
    let a = 2.0 / 3.0 * GRAVITY * 0.2_f64.sin();
    let off = (run.value("solid.r[1]") - 4.5 * a).abs();
    println!("rolls down within {off:.1e} m");
    assert!(off < 1e-7 && run.value("feet.resting") == 2.0);
}

/// Euler's disc: a disc whose axis is tilted by θ rolls with its mass centre at rest, while its lowest
/// point turns about the vertical at Ω² = m g r/(A sin θ), with its moment of inertia A about a diameter.
#[test]
fn disc_rolls_about_its_resting_centre_at_the_closed_form_rate() {
    let (m, r) = (2.0_f64, 0.1_f64);
    let (A, C) = (0.25 * m * r * r, 0.5 * m * r * r);
    let theta = 1.0_f64;
    // The angular velocity is along the diameter through the point of contact, as both of its ends are at
    // rest; the moment of the normal force turns the angular momentum about the vertical.
    let sin = theta.sin();
    let spin = (m * GRAVITY * r / (A * sin)).sqrt() * sin;
    let start = format!(
        "position = [0.0, 0.0, {}], rpy_deg = [0.0, {}, 0.0], angular_velocity = [{spin}, 0.0, 0.0]",
        r * sin,
        theta.to_degrees()
    );
    let text = solid(
        "type = \"disc\", radius = 0.1",
        [A, A, C],
        &start,
        [0.0; 2],
        "e = 0.0\nmu = 3.0",
    );
    let mut run = Run::new(&text, 1e-10);
    run.look();
    let before = balance(&run);
    run.go(1.0);
    let moved = (run.vector("solid.r") - Vec3::z() * r * sin).norm();
    println!(
        "the centre moves by {moved:.1e} m, balance {:.1e} J, {}",
        balance(&run) - before,
        run.simulation.statistics()
    );
    assert!(moved < 1e-6 && (balance(&run) - before).abs() < 1e-8);
}
