//! Boxes and meshes that rest on each other: tops that end, edges that cross, stacks.

use crate::numbers::Larger;
use crate::run::Run;
use grapple::algebra::Vec3;

pub const GRAVITY: f64 = 9.81;

/// Half height of the table, m: its top is at this height.
pub const TOP: f64 = 0.1;

/// Distance of the table's edge from its centre, m.
pub const EDGE: f64 = 0.5;

/// Size of the crate, m.
pub const SIZE: [f64; 3] = [0.4, 0.3, 0.2];

/// Moments of inertia of a homogeneous box of mass `m` (kg), kg·m².
pub fn inertia(m: f64, [x, y, z]: [f64; 3]) -> [f64; 3] {
    [y * y + z * z, x * x + z * z, x * x + y * y].map(|square| m * square / 12.0)
}

/// Returns a shape with the eight corners of a box: a box or a mesh.
pub fn shape(kind: &str, size: [f64; 3]) -> String {
    if kind == "box" {
        return format!("{{ type = \"box\", size = {size:?} }}");
    }
    let corner = |k: usize| [0, 1, 2].map(|i| if k >> i & 1 == 0 { -0.5 * size[i] } else { 0.5 * size[i] });
    let corners: Vec<[f64; 3]> = (0..8).map(corner).collect();
    format!("{{ type = \"mesh\", vertices = {corners:?} }}")
}

/// Returns a crate of 2 kg on a table that is fixed in the world.
pub fn crate_on_table(start: &str, kinds: [&str; 2], contact: &str) -> String {
    format!(
        "name = \"table\"\n[environment]\ngravity = [0.0, 0.0, -{GRAVITY}]\n[body.crate]\nmass = 2.0\n\
         inertia = {:?}\nstart = {{ {start} }}\n[contact.feet]\na = \"crate\"\nb = \"world\"\nshape_a = {}\n\
         shape_b = {}\nrest = 0.01\n{contact}\n",
        inertia(2.0, SIZE),
        shape(kinds[0], SIZE),
        shape(kinds[1], [2.0 * EDGE, 0.8, 2.0 * TOP]),
    )
}

fn balance(run: &Run) -> f64 {
    run.value("system.energy") - run.value("system.work")
}

/// A crate over the edge of a table rests with its mass centre 1 mm inside it, and tips with the
/// mass centre 1 mm outside it, whatever its yaw angle; the angular acceleration is that about the
/// edge.
#[test]
fn crate_tips_as_its_mass_centre_passes_the_edge() {
    let h = 0.5 * SIZE[2];
    let [J_x, J_y, _] = inertia(2.0, SIZE);
    for kinds in [["box", "box"], ["mesh", "box"], ["box", "mesh"], ["mesh", "mesh"]] {
        for yaw in [0.0_f64, 20.0, 45.0] {
            for d in [-1e-3, -1e-6, 1e-6, 1e-3] {
                let start = format!(
                    "position = [{}, 0.03, {}], rpy_deg = [0.0, 0.0, {yaw}]",
                    EDGE + d,
                    TOP + h
                );
                let mut run = Run::new(&crate_on_table(&start, kinds, "e = 0.0\nmu = 0.8"), 1e-10);
                run.look();
                let w_dot = Vec3::from_fn(|i, _| run.derivative(&format!("crate.w[{}]", i + 1))).norm();
                let [points, forces] = run.values(["feet.resting", "feet.force[3]"]);
                let at = run.vector("crate.r");
                let before = balance(&run);
                run.go(0.2);
                let moved = (run.vector("crate.r") - at).norm();
                let (sin, cos) = yaw.to_radians().sin_cos();
                let J = J_x * sin * sin + J_y * cos * cos + 2.0 * (d * d + h * h);
                let expected = if d > 0.0 { 2.0 * GRAVITY * d / J } else { 0.0 };
                let off = (w_dot - expected).abs();
                println!(
                    "{kinds:?} yaw {yaw}, {d} m: {points} points, force {forces}, acceleration {w_dot:.3e} within {off:.1e} rad/s², moved \
                     {moved:.1e} m, balance {:.1e} J",
                    balance(&run) - before
                );
                assert!(off < 1e-9, "{off}");
                assert!(if d > 0.0 { moved > 1e-7 } else { moved < 1e-11 });
            }
        }
    }
}

/// A crate that cannot turn slides over the edge of a table and falls freely once its trailing edge
/// has left the table.
#[test]
fn crate_that_cannot_tip_falls_as_its_trailing_edge_leaves_the_table() {
    let (v, z) = (1.0, TOP + 0.5 * SIZE[2]);
    for kinds in [["box", "box"], ["box", "mesh"]] {
        let slides = format!(
            "{}[joint.slides]\ntype = \"cartesian\"\nparent = \"world\"\nchild = \"crate\"\n\
             start = {{ position = [0.1, 0.03, {z}], rate = [{v}, 0.0, 0.0] }}\n",
            crate_on_table("", kinds, "e = 0.0").replace("start = {  }\n", "")
        );
        let mut run = Run::new(&slides, 1e-11);
        let leaves = (EDGE + 0.5 * SIZE[0] - 0.1) / v;
        run.go(leaves - 1e-6);
        let before = (run.vector("crate.r") - Vec3::new(EDGE + 0.5 * SIZE[0] - 1e-6 * v, 0.03, z)).norm();
        run.go(leaves + 0.2);
        let falls = Vec3::new(0.1 + v * (leaves + 0.2), 0.03, z - 0.5 * GRAVITY * 0.04);
        let after = (run.vector("crate.r") - falls).norm();
        println!("{kinds:?}: within {before:.1e} m before, {after:.1e} m after");
        // The support ends up to the margin of 1e-9 m outside the edge: 2e-9 m/s of the fall.
        assert!(before < 1e-9 && after < 1e-8);
    }
}

/// Accelerations of the tipping frictionless crate: the rates of its place `s` on the edge and of
/// its angle.
fn tipping([s, s_dot, angle, w]: [f64; 4]) -> [f64; 4] {
    let (m, h, J) = (2.0, 0.5 * SIZE[2], inertia(2.0, SIZE)[1]);
    let (sin, cos) = angle.sin_cos();
    // Lagrange's equations: m (s̈ + h θ̈) = f, m h s̈ + (m h² + m s² + J) θ̈ = g.
    let f = m * (s * w * w + GRAVITY * sin);
    let g = m * GRAVITY * (s * cos + h * sin) - 2.0 * m * s * s_dot * w;
    let w_dot = (g - h * f) / (m * s * s + J);
    [s_dot, f / m - h * w_dot, w, w_dot]
}

fn runge_kutta(x: [f64; 4], h: f64) -> [f64; 4] {
    let plus = |k: [f64; 4], h: f64| [0, 1, 2, 3].map(|i| x[i] + h * k[i]);
    let a = tipping(x);
    let b = tipping(plus(a, 0.5 * h));
    let c = tipping(plus(b, 0.5 * h));
    let d = tipping(plus(c, h));
    [0, 1, 2, 3].map(|i| x[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]))
}

/// A frictionless crate slides over the edge of a table. From the instant at which its mass centre
/// passes the edge it tips as Lagrange's equations of a plane that slides on an edge require.
#[test]
fn frictionless_crate_slides_over_the_edge_and_tips_as_lagrange_requires() {
    let (h, v, x_0) = (0.5 * SIZE[2], 1.0, 0.1);
    let passes = (EDGE - x_0) / v;
    for yaw in [0.0, 90.0] {
        let start = format!(
            "position = [{x_0}, 0.03, {}], velocity = [{v}, 0.0, 0.0], rpy_deg = [0.0, 0.0, {yaw}]",
            TOP + h
        );
        let mut run = Run::new(&crate_on_table(&start, ["box", "box"], "e = 0.0"), 1e-11);
        run.look();
        let before = balance(&run);
        run.go(passes - 1e-6);
        let off = (run.vector("crate.r") - Vec3::new(EDGE - 1e-6 * v, 0.03, TOP + h)).norm();
        let turns = run.vector("crate.w").norm();
        println!("yaw {yaw}: before the edge within {off:.1e} m, {turns:.1e} rad/s");
        assert!(off < 1e-9 && turns < 1e-9);
        if yaw != 0.0 {
            continue;
        }
        let (mut x, steps) = ([0.0, v, 0.0, 0.0], 2000);
        let mut worst = 0.0_f64;
        for k in 1..=15 {
            let t = 0.01 * f64::from(k);
            (0..steps).for_each(|_| x = runge_kutta(x, 0.01 / f64::from(steps)));
            run.go(passes + t);
            let [s, _, angle, w] = x;
            let (sin, cos) = angle.sin_cos();
            let expected = Vec3::new(EDGE + s * cos + h * sin, 0.03, TOP - s * sin + h * cos);
            let off = (run.vector("crate.r") - expected).norm();
            worst = worst.larger(off).larger((run.value("crate.w[2]") - w).abs());
            println!(
                "{t} s: angle {angle:.4} rad, within {off:.1e} m, rate within {:.1e} rad/s, {} points, gap {:.1e} m",
                (run.value("crate.w[2]") - w).abs(),
                run.value("feet.resting"),
                run.value("feet.gap"),
            );
        }
        let statistics = run.simulation.statistics();
        println!(
            "worst {worst:.1e}, balance {:.1e} J, {statistics}",
            balance(&run) - before
        );
        assert!(worst < 1e-7 && (balance(&run) - before).abs() < 1e-8);
    }
}

/// A crate that slides with friction decelerates at μ g until the centre of pressure, μ h ahead of
/// its mass centre, reaches the edge; it then tips, and its energy never grows.
#[test]
fn sliding_crate_decelerates_until_its_centre_of_pressure_reaches_the_edge() {
    let (mu, h, x_0) = (0.3, 0.5 * SIZE[2], 0.1);
    for (yaw, kinds) in [(0.0, ["box", "box"]), (30.0, ["box", "box"]), (45.0, ["mesh", "box"])] {
        for v in [1.0, 2.0] {
            let start = format!(
                "position = [{x_0}, 0.03, {}], velocity = [{v}, 0.0, 0.0], rpy_deg = [0.0, 0.0, {yaw}]",
                TOP + h
            );
            let text = crate_on_table(&start, kinds, &format!("e = 0.0\nmu = {mu}"));
            let mut run = Run::new(&text, 1e-10);
            let (a, way) = (mu * GRAVITY, EDGE - mu * h - x_0);
            run.look();
            let mut energy = run.value("system.energy");
            let mut grown = 0.0_f64;
            let stops = v * v / (2.0 * a) < way;
            let time = match stops {
                true => v / a,
                false => (v - (v * v - 2.0 * a * way).sqrt()) / a,
            };
            run.go(time - 1e-6);
            let expected = x_0 + v * time - 0.5 * a * time * time;
            let off = (run.value("crate.r[1]") - expected).abs();
            let turns = run.vector("crate.w").norm();
            for k in 1..=100 {
                run.go(time + 0.01 * f64::from(k));
                let now = run.value("system.energy");
                grown = grown.larger(now - energy);
                energy = now;
            }
            println!(
                "{kinds:?} yaw {yaw}, {v} m/s, stops {stops}: within {off:.1e} m until then, turns {turns:.1e} rad/s, energy grows by {grown:.1e} \
                 J, ends at {:?}, {}",
                run.vector("crate.r").as_slice(),
                run.simulation.statistics()
            );
            let falls = run.value("crate.r[3]") < TOP;
            assert!(turns < 1e-8 && grown < 1e-8 && falls != stops);
            // The centre has moved by v·1 µs less.
            assert!(off < 1e-6 * v + 1e-8);
        }
    }
}

/// Three boxes of different sizes and yaw angles.
const STACK: [([f64; 3], f64); 3] = [
    ([0.5, 0.4, 0.2], 10.0),
    ([0.4, 0.4, 0.1], 55.0),
    ([0.35, 0.3, 0.15], -20.0),
];

/// Returns a stack of three boxes on a floor, with these gaps (m) between them at the start.
fn stack(gap: f64) -> String {
    let mut text = format!("name = \"stack\"\n[environment]\ngravity = [0.0, 0.0, -{GRAVITY}]\n");
    let mut z = 0.0;
    for (k, (size, yaw)) in STACK.into_iter().enumerate() {
        let m = 2.0 - 0.5 * k as f64;
        z += gap + 0.5 * size[2];
        let below = match k {
            0 => "shape_b = { type = \"plane\" }\nb = \"world\"".to_owned(),
            _ => format!("shape_b = {}\nb = \"box_{}\"", shape("box", STACK[k - 1].0), k - 1),
        };
        text += &format!(
            "[body.box_{k}]\nmass = {m}\ninertia = {:?}\nstart = {{ position = [{}, 0.01, {z}], rpy_deg = [0.0, 0.0, {yaw}] }}\n\
             [contact.on_{k}]\na = \"box_{k}\"\n{below}\nshape_a = {}\nrest = 0.01\ne = 0.2\nmu = 0.5\n",
            inertia(m, size),
            0.02 * k as f64,
            shape("box", size),
        );
        z += 0.5 * size[2];
    }
    text
}

/// Three boxes of different sizes, yawed so that eight points carry a load, rest on each other for
/// 20 s, from contact and after a fall; the energy never grows.
#[test]
fn stack_of_yawed_boxes_rests_for_20_s_without_drift() {
    for gap in [0.0, 0.002] {
        let mut run = Run::new(&stack(gap), 1e-9);
        run.look();
        let before = balance(&run);
        let (mut energy, mut grown) = (run.value("system.energy"), 0.0_f64);
        for k in 1..=40 {
            run.go(0.05 * f64::from(k));
            let now = run.value("system.energy");
            grown = grown.larger(now - energy);
            energy = now;
        }
        let places = |run: &Run| [0, 1, 2].map(|k| run.vector(&format!("box_{k}.r")));
        let rest = places(&run);
        run.go(22.0);
        let drift = places(&run)
            .iter()
            .zip(&rest)
            .fold(0.0, |most: f64, (a, b)| most.larger((a - b).norm()));
        let heights = [0.1, 0.25, 0.375];
        let (mut height, mut weight) = (0.0_f64, 0.0_f64);
        for (k, (expected, mass)) in heights.into_iter().zip([4.5, 2.5, 1.0]).enumerate() {
            height = height.larger((run.value(&format!("box_{k}.r[3]")) - expected).abs());
            weight = weight.larger((run.value(&format!("on_{k}.force[3]")) - mass * GRAVITY).abs());
        }
        let points = [0, 1, 2].map(|k| run.value(&format!("on_{k}.resting")));
        println!(
            "gap {gap}: {points:?} points, drift {drift:.1e} m, heights within {height:.1e} m, weights within {weight:.1e} N, energy grows by \
             {grown:.1e} J, by {:.1e} J in 20 s, balance {:.1e} J, {}",
            run.value("system.energy") - energy,
            balance(&run) - before,
            run.simulation.statistics()
        );
        assert!(drift < 1e-9 && height < 1e-8 && weight < 1e-6 && grown < 1e-8);
        assert!((balance(&run) - before).abs() < 1e-7 && points[1] >= 3.0 && points[2] >= 3.0);
        assert!(gap > 0.0 || points[1..] == [8.0, 6.0], "{points:?}");
    }
}

/// Returns two free boxes; the first moves.
fn free_boxes(start: &str, kind: &str, contact: &str) -> String {
    let (size, other) = ([0.4, 0.3, 0.2], [0.3, 0.5, 0.25]);
    format!(
        "name = \"free\"\n[body.one]\nmass = 2.0\ninertia = {:?}\nstart = {{ {start} }}\n[body.other]\nmass = 3.0\ninertia = {:?}\n\
         [contact.c]\na = \"one\"\nb = \"other\"\nshape_a = {}\nshape_b = {}\nrest = 0.01\n{contact}\n",
        inertia(2.0, size),
        inertia(3.0, other),
        shape(kind, size),
        shape("box", other),
    )
}

/// Two free boxes that collide, with parallel faces and tilted, conserve momentum; their energy
/// never grows. A plastic impact leaves a common rotation, which separates them as nothing pulls.
#[test]
fn free_boxes_that_collide_conserve_momentum() {
    for kind in ["box", "mesh"] {
        for (attitude, e) in [
            ("0.0, 0.0, 25.0", 0.0),
            ("4.0, -3.0, 25.0", 0.2),
            ("30.0, 20.0, 10.0", 0.2),
        ] {
            let start = format!(
                "position = [0.02, 0.01, 0.4], rpy_deg = [{attitude}], velocity = [0.01, -0.02, -0.2], angular_velocity = [0.0, 0.0, 0.2]"
            );
            let mut run = Run::new(&free_boxes(&start, kind, &format!("e = {e:?}\nmu = 0.5")), 1e-10);
            run.look();
            let momenta = ["system.momentum", "system.angular_momentum"];
            let before = momenta.map(|name| run.vector(name));
            let balance_before = balance(&run);
            let mut grown = 0.0_f64;
            let mut energy = run.value("system.energy");
            for k in 1..=30 {
                run.go(0.1 * f64::from(k));
                let now = run.value("system.energy");
                grown = grown.larger(now - energy);
                energy = now;
            }
            let drift = [0, 1].map(|i| (run.vector(momenta[i]) - before[i]).norm());
            println!(
                "{kind} {attitude}: {} impacts, {} points, momentum within {:.1e} N·s and {:.1e} N·m·s, energy grows by {grown:.1e} J, \
                 balance {:.1e} J, gap {:.1e} m, {}",
                run.value("c.count"),
                run.value("c.resting"),
                drift[0],
                drift[1],
                balance(&run) - balance_before,
                run.value("c.gap"),
                run.simulation.statistics()
            );
            assert!(drift[0] < 1e-12 && drift[1] < 1e-9 && grown < 1e-9 && run.value("c.count") > 0.0);
            assert!((balance(&run) - balance_before).abs() < 1e-9 && run.value("c.gap") > -1e-6);
        }
    }
}

/// Two edges that are pressed on each other and turn slide across each other: without stabilisation
/// the gap stays zero, so that the second derivative of the gap is exact for random motions.
#[test]
fn edges_that_cross_stay_in_contact_without_stabilisation() {
    let mut worst = 0.0_f64;
    for seed in 0..4 {
        let random = |k: i32| (f64::from(k + 17 * seed) * 12.9898).sin();
        // The lower edge of one is along x, the upper edge of the other along y, each with its body
        // turned by 45° about it.
        let half = |y: f64, z: f64| 0.5 * (y + z) / 2.0_f64.sqrt();
        let z = half(0.3, 0.2) + half(0.3, 0.25);
        let aside = half(0.2, -0.3);
        let text = format!(
            "name = \"edges\"\n[body.one]\nmass = 2.0\ninertia = {:?}\n\
             start = {{ position = [{}, {}, {z}], rpy_deg = [45.0, 0.0, 0.0], velocity = [{}, {}, 0.0] }}\n\
             [body.other]\nmass = 3.0\ninertia = {:?}\nstart = {{ rpy_deg = [0.0, 45.0, 0.0] }}\n\
             [port.on_one]\nframe = \"one\"\n[port.on_other]\nframe = \"other\"\n\
             [contact.c]\na = \"one\"\nb = \"other\"\nshape_a = {}\nshape_b = {}\nrest = 0.01\nalpha = 0.0\nbeta = 0.0\ne = 0.0\n",
            inertia(2.0, [0.4, 0.3, 0.2]),
            0.02 * random(1),
            0.02 * random(2) - aside,
            0.1 * random(3),
            0.1 * random(4),
            inertia(3.0, [0.3, 0.5, 0.25]),
            shape("box", [0.4, 0.3, 0.2]),
            shape("box", [0.3, 0.5, 0.25]),
        );
        let mut run = Run::new(&text, 1e-11);
        // Forces of a press, and moments that turn the boxes about all axes.
        let press = 2.0 / 2.0_f64.sqrt();
        for (name, value) in [
            ("on_one.f[2]", -press),
            ("on_one.f[3]", -press),
            ("on_other.f[3]", press),
            ("on_other.f[1]", -press),
            ("on_one.t[3]", 0.01 * random(5)),
            ("on_one.t[1]", 0.01 * random(6)),
            ("on_other.t[2]", 0.02 * random(7)),
            ("on_other.t[3]", 0.02 * random(8)),
        ] {
            run.set(name, value);
        }
        run.look();
        let before = balance(&run);
        // The contact begins to rest once the edges penetrate by the margin of the gap.
        run.go(0.01);
        let [points, start] = run.values(["c.resting", "c.gap"]);
        let mut gap = 0.0_f64;
        for k in 2..=20 {
            run.go(0.01 * f64::from(k));
            gap = gap.larger((run.value("c.gap") - start).abs());
        }
        let turned = run.vector("one.w").norm() + run.vector("other.w").norm();
        println!(
            "{points} points at the gap {start:.1e} m, the gap changes by {gap:.1e} m, turns at {turned:.2} rad/s, {} points, balance {:.1e} J, {}",
            run.value("c.resting"),
            balance(&run) - before,
            run.simulation.statistics()
        );
        assert!(points == 1.0 && run.value("c.resting") == 1.0 && turned > 0.05);
        worst = worst.larger(gap);
    }
    assert!(worst < 1e-11, "{worst}");
}

/// A crate that lands tilted on a large box moves as on a plane.
#[test]
fn crate_on_a_large_box_moves_as_on_a_plane() {
    let start = "position = [0.0, 0.0, 0.4], rpy_deg = [12.0, 7.0, 10.0], velocity = [0.3, 0.1, 0.0]";
    let on_box = crate_on_table(start, ["box", "box"], "e = 0.3\nmu = 0.4");
    let plane = format!(
        "b = \"top\"\n[frame.top]\nbody = \"table\"\norigin = [0.0, 0.0, {TOP}]\n[body.table]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n\
         [joint.table_root]\ntype = \"fixed\"\nparent = \"world\"\nchild = \"table\"\n"
    );
    let table = shape("box", [2.0 * EDGE, 0.8, 2.0 * TOP]);
    let contact = on_box.find("[contact.feet]").expect("a contact");
    let (head, tail) = on_box.split_at(contact);
    let [fixed, frames] = [plane.split_once('\n').expect("lines").1, "b = \"top\""];
    let on_plane = format!("{head}{fixed}{tail}")
        .replace("b = \"world\"", frames)
        .replace(&format!("shape_b = {table}"), "shape_b = { type = \"plane\" }");
    let mut runs = [on_box, on_plane].map(|text| Run::new(&text, 1e-11));
    let mut worst = 0.0_f64;
    for k in 1..=20 {
        let [on_box, on_plane] = &mut runs;
        on_box.go(0.1 * f64::from(k));
        on_plane.go(0.1 * f64::from(k));
        let off = (on_box.vector("crate.r") - on_plane.vector("crate.r")).norm();
        worst = worst.larger(off);
        println!(
            "{:.1} s: within {off:.1e} m, {} and {} impacts, {} and {} points",
            0.1 * f64::from(k),
            on_box.value("feet.count"),
            on_plane.value("feet.count"),
            on_box.value("feet.resting"),
            on_plane.value("feet.resting"),
        );
    }
    assert!(worst < 1e-6);
}

/// A state saved while a crate slides over an edge, and while it tips, continues with the same bits.
#[test]
fn restored_states_of_tops_continue_with_the_same_bits() {
    let start = format!(
        "position = [0.3, 0.03, {}], velocity = [1.0, 0.0, 0.0], rpy_deg = [0.0, 0.0, 30.0]",
        TOP + 0.1
    );
    let mut run = Run::new(&crate_on_table(&start, ["mesh", "box"], "e = 0.0\nmu = 0.2"), 1e-8);
    for t in [0.1, 0.25] {
        run.go(t);
        let resting = run.value("feet.resting");
        let state = run.simulation.state.clone();
        let mut end = run.go(t + 0.1).simulation.state.clone();
        run.simulation.state = state;
        run.simulation.invalidate();
        run.go(t + 0.1);
        assert_eq!(run.simulation.state.x, end.x, "the same bits");
        println!("{resting} points at {t} s");
        assert!(resting > 0.0);
        std::mem::swap(&mut run.simulation.state, &mut end);
        run.simulation.invalidate();
    }
}

/// Faces with many corners are refused by name, as are other pairs.
#[test]
fn polyhedra_that_cannot_rest_are_refused_by_name() {
    let read = |a: &str, b: &str| {
        let text = format!(
            "name = \"x\"\n[body.a]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\nstart = {{ position = [0.0, 0.0, 5.0] }}\n[contact.c]\na = \"a\"\n\
             b = \"world\"\nrest = 0.01\ne = 0.0\nshape_a = {a}\nshape_b = {b}\n"
        );
        match grapple::plant::Model::read(&text, std::path::Path::new(".")) {
            Err(grapple::Error::Spec(problems)) => problems.into_iter().map(|problem| problem.at.join(".")).collect(),
            Err(error) => panic!("{error}"),
            Ok(_) => Vec::new(),
        }
    };
    let block = shape("box", SIZE);
    let round: Vec<[f64; 3]> = (0..80)
        .map(|k| {
            let angle = std::f64::consts::TAU * f64::from(k / 2) / 40.0;
            [angle.cos(), angle.sin(), f64::from(k % 2)]
        })
        .collect();
    let round = format!("{{ type = \"mesh\", vertices = {round:?} }}");
    assert_eq!(read(&block, &block), Vec::<String>::new());
    assert_eq!(read(&round, &block), ["contact.c.shape_a"]);
    assert_eq!(read(&block, &round), ["contact.c.shape_b"]);
    assert_eq!(
        read("{ type = \"capsule\", radius = 0.1, length = 0.1 }", &block),
        ["contact.c.rest"]
    );
    assert_eq!(read(&block, "{ type = \"sphere\", radius = 0.1 }"), ["contact.c.rest"]);
}
