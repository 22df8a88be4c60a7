//! Boxes and meshes at rest whose faces, edges and corners coincide to round-off, or nearly: faces
//! that are not plane, edges that are nearly parallel, tables that abut, double points.

use crate::numbers::Larger;
use crate::rest::derivative_errors;
use crate::run::Run;
use crate::tops::{EDGE, GRAVITY, SIZE, TOP, crate_on_table, inertia, shape};
use grapple::plant::OperatingPoint;

/// Size of the table, m.
const TABLE: [f64; 3] = [2.0 * EDGE, 0.8, 2.0 * TOP];

/// Returns the least event indicator at the present state: positive while the discrete state is
/// valid.
fn least_indicator(run: &mut Run) -> f64 {
    let mut z = vec![0.0; run.model().indicator_count()];
    let state = &run.simulation.state;
    let at = OperatingPoint::new(state.t, &state.x, &state.u, &state.discrete);
    run.simulation.plant.indicators(at, &mut z);
    z.into_iter().fold(f64::INFINITY, f64::min)
}

/// Returns a mesh with the corners of the table, of which one of the top is moved up by `by` (m).
fn uneven_table(moved: usize, by: f64) -> String {
    let half = [EDGE, 0.4, TOP];
    let corner = |k: usize| {
        let mut corner = [0, 1, 2].map(|i| if k >> i & 1 == 0 { -half[i] } else { half[i] });
        corner[2] += if k == moved { by } else { 0.0 };
        corner
    };
    let corners: Vec<[f64; 3]> = (0..8).map(corner).collect();
    format!("{{ type = \"mesh\", vertices = {corners:?} }}")
}

/// A crate tips over the edge of a table of which one corner is 5 nm off the plane of the others: all
/// event indicators are positive between events, and the crate moves as on a plane table.
#[test]
fn crate_tips_over_the_edge_of_a_table_that_is_not_plane() {
    let start = format!(
        "position = [{}, 0.03, {}], rpy_deg = [0.0, 0.0, 20.0]",
        EDGE + 1e-3,
        TOP + 0.5 * SIZE[2] + 1e-8
    );
    let plane = crate_on_table(&start, ["box", "mesh"], "e = 0.0\nmu = 0.8");
    let mut expected = Run::new(&plane, 1e-10);
    for (moved, by) in [(4, 5e-9), (6, -5e-9), (7, 5e-9)] {
        let text = plane.replace(&shape("mesh", TABLE), &uneven_table(moved, by));
        let mut run = Run::new(&text, 1e-10);
        let mut least = f64::INFINITY;
        for k in 1..=40 {
            run.go(0.01 * f64::from(k));
            least = least.min(least_indicator(&mut run));
        }
        if expected.simulation.state.t == 0.0 {
            expected.go(0.4);
        }
        let off = (run.vector("crate.r") - expected.vector("crate.r")).norm();
        println!(
            "corner {moved} by {by:e} m: indicators at least {least:.1e}, within {off:.1e} m of a plane table, angular velocity {:.2} rad/s",
            run.vector("crate.w").norm()
        );
        assert!(least > 0.0 && off < 1e-5);
    }
}

/// A crate as wide as the table falls flat from one of its edges, while its sides are flush with those
/// of the table but for a yaw of up to 1e-7 rad, and creeps sideways: no force acts in this direction.
#[test]
fn nearly_parallel_edges_of_tilted_faces_do_not_act_sideways() {
    let (size, creeps) = ([TABLE[0], 0.3, 0.2], 1e-6);
    let mut worst = 0.0_f64;
    for roll in [0.1_f64, -0.1] {
        for yaw in [0.0_f64, 5e-9, 2e-8, -2e-8, 1e-7, -1e-7] {
            for aside in [0.0, -5e-9, -2e-8] {
                let (sin, cos) = roll.abs().sin_cos();
                let start = format!(
                    "position = [{aside:e}, 0.0, {}], rpy_deg = [{}, 0.0, {:e}], velocity = [{creeps:e}, 0.0, 0.0]",
                    TOP + 0.15 * sin + 0.1 * cos,
                    roll.to_degrees(),
                    yaw.to_degrees()
                );
                let text = crate_on_table(&start, ["box", "box"], "e = 0.0")
                    .replace(&shape("box", SIZE), &shape("box", size))
                    .replace(
                        &format!("{:?}", inertia(2.0, SIZE)),
                        &format!("{:?}", inertia(2.0, size)),
                    );
                let mut run = Run::new(&text, 1e-10);
                let mut sideways = 0.0_f64;
                for k in 1..=20 {
                    run.go(0.02 * f64::from(k));
                    sideways = sideways
                        .larger((run.value("crate.v[1]") - creeps).abs())
                        .larger(run.value("crate.w[3]").abs());
                }
                println!(
                    "roll {roll}, yaw {yaw:e}, {aside:e} m aside: sideways {sideways:.1e}, {} points, height within {:.1e} m, {}",
                    run.value("feet.resting"),
                    (run.value("crate.r[3]") - TOP - 0.1).abs(),
                    run.simulation.statistics()
                );
                worst = worst.larger(sideways);
            }
        }
    }
    assert!(worst < 1e-9, "{worst}");
}

/// A crate that turns about a table's edge with which its own edge is flush moves as with a yaw of
/// zero, whatever the yaw of up to 1e-7 rad.
#[test]
fn crate_turns_about_flush_edges_that_are_nearly_parallel() {
    let size = [TABLE[0], TABLE[1], 0.2];
    let run_at = |yaw: f64| {
        let start = format!(
            "position = [0.0, 0.0, {}], rpy_deg = [0.0, 0.0, {:e}], velocity = [0.1, 0.0, 0.5], angular_velocity = [0.0, 1.0, 0.0]",
            TOP + 0.1,
            yaw.to_degrees()
        );
        let text = crate_on_table(&start, ["box", "box"], "e = 0.0\nmu = 0.8")
            .replace(&shape("box", SIZE), &shape("box", size))
            .replace(
                &format!("{:?}", inertia(2.0, SIZE)),
                &format!("{:?}", inertia(2.0, size)),
            );
        let mut run = Run::new(&text, 1e-9);
        run.go(0.1);
        run
    };
    let expected = run_at(0.0);
    for yaw in [5e-9, 2e-8, -2e-8, 1e-7] {
        let run = run_at(yaw);
        let off = (run.vector("crate.r") - expected.vector("crate.r")).norm();
        let turns = (run.vector("crate.w") - expected.vector("crate.w")).norm();
        println!(
            "yaw {yaw:e}: within {off:.1e} m and {turns:.1e} rad/s, {} points, turns at {:.3} rad/s, {}",
            run.value("feet.resting"),
            run.value("crate.w[2]"),
            run.simulation.statistics()
        );
        assert!(off < 1e-6 && turns < 1e-5 && run.simulation.statistics().evaluations < 1000);
    }
}

/// Returns a crate on two tables that abut at x = 0.5 m; the right one is higher by `step` (m).
fn crate_on_two_tables(start: &str, kind: &str, contact: &str, step: f64) -> String {
    let of_table = |name: &str, x: f64, z: f64| {
        format!(
            "[frame.{name}]\nbody = \"tables\"\norigin = [{x}, 0.0, {z:e}]\n[contact.on_{name}]\na = \"crate\"\nb = \"{name}\"\n\
             shape_a = {}\nshape_b = {}\nrest = 0.01\n{contact}\n",
            shape("box", SIZE),
            shape(kind, TABLE)
        )
    };
    format!(
        "name = \"seam\"\n[environment]\ngravity = [0.0, 0.0, -{GRAVITY}]\n[body.crate]\nmass = 2.0\ninertia = {:?}\n\
         start = {{ {start} }}\n[body.tables]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n[joint.root]\ntype = \"fixed\"\n\
         parent = \"world\"\nchild = \"tables\"\n{}{}",
        inertia(2.0, SIZE),
        of_table("left", 0.0, 0.0),
        of_table("right", 2.0 * EDGE, step),
    )
}

/// A crate slides across the seam of two tables without an impact, also up a step of 20 nm:
/// frictionless it keeps its velocity, with friction it decelerates at μ g.
#[test]
fn crate_slides_across_the_seam_of_two_tables_without_an_impact() {
    for kind in ["box", "mesh"] {
        let motions: &[(f64, f64)] = match kind {
            "box" => &[(0.0, 0.0), (20.0, 0.0), (45.0, 0.0), (0.0, 0.05), (20.0, 0.05)],
            _ => &[(0.0, 0.0)],
        };
        for &(yaw, mu) in motions {
            let steps: &[f64] = if kind == "box" {
                &[0.0, 1e-10, -1e-10, 2e-9, 2e-8]
            } else {
                &[0.0, 2e-8]
            };
            for &step in steps {
                let start = format!(
                    "position = [0.1, 0.03, {}], velocity = [1.0, 0.0, 0.0], rpy_deg = [0.0, 0.0, {yaw:?}]",
                    TOP + 0.5 * SIZE[2]
                );
                let text = crate_on_two_tables(&start, kind, &format!("e = 0.0\nmu = {mu:?}"), step);
                let mut run = Run::new(&text, 1e-10);
                run.go(0.8);
                let speed = (run.value("crate.v[1]") - 1.0 + mu * GRAVITY * 0.8).abs();
                let turns = run.vector("crate.w").norm();
                let impacts = run.value("on_left.count") + run.value("on_right.count");
                println!(
                    "{kind} yaw {yaw}, mu {mu}, step {step:e} m: speed within {speed:.1e} m/s, turns at {turns:.1e} rad/s, {impacts} impacts, height \
                     {:.1e} m, {} and {} points, {}",
                    run.value("crate.r[3]") - TOP - 0.5 * SIZE[2],
                    run.value("on_left.resting"),
                    run.value("on_right.resting"),
                    run.simulation.statistics()
                );
                assert!(speed < 1e-6 && turns < 1e-6 && impacts == 0.0);
            }
        }
    }
}

/// A crate with the footprint of the table, flush but for a yaw of 1e-10 rad, has pairs of points at
/// each corner. It tips as soon as its mass centre is outside the table.
#[test]
fn double_points_of_flush_faces_leave_the_limit_of_tipping_exact() {
    let size = [TABLE[0], TABLE[1], 0.2];
    for kind in ["box", "mesh"] {
        for d in [-1e-6, 1e-6, -1e-8, 1e-8] {
            let start = format!(
                "position = [0.0, 0.0, {}], rpy_deg = [0.0, 0.0, {:e}]",
                TOP + 0.1,
                1e-10_f64.to_degrees()
            );
            let text = crate_on_table(&start, [kind, "box"], "e = 0.0\nmu = 0.8")
                .replace(&shape(kind, SIZE), &shape(kind, size))
                .replace(
                    "mass = 2.0\n",
                    &format!("mass = 2.0\nmass_centre = [{}, 0.0, 0.0]\n", EDGE + d),
                );
            let mut run = Run::new(&text, 1e-10);
            run.look();
            let w_dot = run.derivative("crate.w[2]");
            let J = inertia(2.0, SIZE)[1] + 2.0 * (d * d + 0.01);
            let expected = if d > 0.0 { 2.0 * GRAVITY * d / J } else { 0.0 };
            println!(
                "{kind} {d:e} m: acceleration {w_dot:.6e}, expected {expected:.6e} rad/s², {} points",
                run.value("feet.resting")
            );
            // The points are outside the edge by up to 1e-9 m.
            assert!((w_dot - expected).abs() < 2.0 * GRAVITY * 1e-9 / J);
        }
    }
}

/// Two free boxes that a spring pulls together tumble in contact: they stay in contact without
/// sliding, momentum and energy are conserved.
#[test]
fn free_boxes_that_a_spring_holds_together_tumble_in_contact() {
    for kind in ["box", "mesh"] {
        let (w, r) = ([0.3, 0.2, 0.5], [0.02, 0.01, 0.225]);
        let v = [
            w[1] * r[2] - w[2] * r[1],
            w[2] * r[0] - w[0] * r[2],
            w[0] * r[1] - w[1] * r[0],
        ];
        let (size, other) = ([0.4, 0.3, 0.2], [0.3, 0.5, 0.25]);
        let text = format!(
            "name = \"free\"\n[body.one]\nmass = 2.0\ninertia = {:?}\nstart = {{ position = {r:?}, rpy_deg = [0.0, 0.0, 25.0], \
             velocity = {v:?}, angular_velocity = {:?} }}\n[body.other]\nmass = 3.0\ninertia = {:?}\nstart = {{ angular_velocity = {w:?} }}\n\
             [spring.clamp]\na = \"one\"\nb = \"other\"\nrest_length = 0.1\nstiffness = 50.0\ndamping = 0.0\n\
             [contact.c]\na = \"one\"\nb = \"other\"\nshape_a = {}\nshape_b = {}\nrest = 0.01\ne = 0.0\nmu = 0.5\n",
            inertia(2.0, size),
            turned_back(w, 25.0),
            inertia(3.0, other),
            shape(kind, size),
            shape("box", other),
        );
        let mut run = Run::new(&text, 1e-10);
        run.look();
        let drift = run.drift(20.0);
        let [points, sliding, gap] = run.values(["c.resting", "c.sliding", "c.gap"]);
        let length = run.value("clamp.length") - r.iter().map(|r| r * r).sum::<f64>().sqrt();
        println!(
            "{kind}: {points} points, {sliding} slide, gap {gap:.1e} m, momenta and balance within {drift:.1e}, distance within {:.1e} m, {}",
            length.abs(),
            run.simulation.statistics()
        );
        assert!(points >= 3.0 && sliding == 0.0 && drift < 1e-9 && length.abs() < 1e-7 && gap.abs() < 1e-8);
    }
}

/// Returns a vector of the world in axes that are turned by a yaw angle (°).
fn turned_back([x, y, z]: [f64; 3], yaw: f64) -> [f64; 3] {
    let (sin, cos) = yaw.to_radians().sin_cos();
    [cos * x + sin * y, cos * y - sin * x, z]
}

/// Dual numbers, differences and adjoints agree while a crate rests over an edge, slides over it and
/// spins, tips, and stands on crossing edges of a crate that is pressed on another one.
#[test]
fn derivatives_at_the_points_of_polyhedra_are_exact() {
    let over = |x: f64, more: &str| format!("position = [{x}, 0.03, {}], {more}", TOP + 0.5 * SIZE[2]);
    let yawed = "rpy_deg = [0.0, 0.0, 30.0]";
    let spins = "velocity = [0.5, 0.2, 0.0], angular_velocity = [0.0, 0.0, 1.0]";
    for kinds in [["box", "box"], ["mesh", "box"]] {
        for (start, mu, slide) in [
            (over(0.4, yawed), 0.5, false),
            (over(0.4, &format!("{yawed}, {spins}")), 0.1, true),
            (over(0.51, yawed), 0.8, false),
            (over(0.51, yawed), 0.0, true),
        ] {
            let mut run = Run::new(&crate_on_table(&start, kinds, &format!("e = 0.0\nmu = {mu:?}")), 1e-9);
            run.go(0.03);
            let [worst, off] = derivative_errors(&run);
            let [points, sliding] = run.values(["feet.resting", "feet.sliding"]);
            println!(
                "{kinds:?}, {sliding} of {points} points slide: duals within {worst:.1e} of differences, adjoints within {off:.1e} of duals"
            );
            assert!(points >= 2.0 && (sliding > 0.0) == slide && worst < 1e-6 && off < 1e-9);
        }
    }
}

/// The example of a lander's deck: the upper crate sticks until the friction cone is left, then moves as
/// the equation of a block on a turning plane requires, and stops.
#[test]
fn upper_crate_on_a_lander_s_deck_slides_as_the_equation_of_a_turning_plane_requires() {
    let (gravity, mu, height, step) = (1.62, 0.3, 0.55, 1e-4);
    let deck = |t: f64| match t {
        t if t < 4.0 => [0.01 * t * t, 0.02 * t, 0.02],
        t if t < 12.0 => [
            0.16 + 0.08 * (t - 4.0) - 0.01 * (t - 4.0).powi(2),
            0.08 - 0.02 * (t - 4.0),
            -0.02,
        ],
        t => [0.01 * (16.0 - t).powi(2), -0.02 * (16.0 - t), 0.02],
    };
    // Acceleration along the plane and pressure on it without friction, of a block at the distance s
    // from the hinge that slides at the rate v.
    let loads = |t: f64, s: f64, v: f64| {
        let [angle, rate, acceleration] = deck(t);
        let along = gravity * angle.sin() - height * acceleration + s * rate * rate;
        let pressure = gravity * angle.cos() - 2.0 * v * rate - height * rate * rate - s * acceleration;
        [along, pressure]
    };
    let rates = |t: f64, [s, v]: [f64; 2]| {
        let [along, pressure] = loads(t, s, v);
        [v, along - mu * pressure]
    };
    let mut run = Run::new(include_str!("../../examples/contacts/stack_on_deck.toml"), 1e-10);
    let (mut x, mut moves, mut worst, mut slid) = ([0.85, 0.0], false, 0.0_f64, 0.0_f64);
    for k in 0..160_000_u32 {
        let t = step * f64::from(k);
        let [along, pressure] = loads(t, x[0], 0.0);
        moves = if moves { x[1] > 0.0 } else { along > mu * pressure };
        if moves {
            let plus = |d: [f64; 2], h: f64| [x[0] + h * d[0], x[1] + h * d[1]];
            let a = rates(t, x);
            let b = rates(t + 0.5 * step, plus(a, 0.5 * step));
            let c = rates(t + 0.5 * step, plus(b, 0.5 * step));
            let d = rates(t + step, plus(c, step));
            x = [0, 1].map(|i| x[i] + step / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
        } else {
            x[1] = 0.0;
        }
        if (k + 1) % 5000 == 0 {
            run.go(step * f64::from(k + 1));
            let (sin, cos) = run.value("hinge.q").sin_cos();
            let s = run.value("upper.r[1]") * cos - run.value("upper.r[3]") * sin;
            worst = worst.larger((s - x[0]).abs());
            slid = slid.larger(run.value("top.sliding"));
        }
    }
    let [below, above] = run.values(["feet.resting", "top.resting"]);
    println!(
        "slid to {:.4} m, within {worst:.1e} m; {below} and {above} points rest, {} slide, {} impacts",
        x[0],
        run.value("top.sliding"),
        run.value("top.count") + run.value("feet.count"),
    );
    assert!(worst < 1e-5 && slid >= 4.0 && x[0] > 1.2);
    assert!(below == 4.0 && above >= 4.0 && run.value("top.sliding") == 0.0 && run.value("top.count") == 0.0);
}

/// The same example with its own settings: the sliding begins slowly, and explicit methods follow it
/// without short steps. At 1e-8 its error is below 1e-7 m; before the direction of sliding was smoothed at
/// speeds below 1e-6 m/s, a step needed more than 50,000 evaluations.
#[test]
fn stack_on_a_deck_runs_with_its_own_settings() {
    let mut run = Run::new(include_str!("../../examples/contacts/stack_on_deck.toml"), 1e-8);
    for k in 1..=320 {
        run.go(0.05 * f64::from(k));
    }
    let (x, statistics) = (run.value("upper.r[1]"), run.simulation.statistics());
    println!("{x:.9} m, {statistics}");
    assert!((x - 1.235_799_968).abs() < 1e-6 && statistics.evaluations < 10_000);
}
