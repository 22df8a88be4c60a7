//! The conserving method: invariants are conserved to round-off at any step size; the solution is
//! of second order.

use crate::messages;
use crate::numbers::{Larger, few, orders};
use crate::quaternion::values_at_random;
use crate::random_tree::random_craft;
use crate::run::Run;
use grapple::Error;
use grapple::algebra::Vec3;
use grapple::spec::{Formulation, Method};
use std::path::Path;

/// For runs without grasps.
const NONE: (&[&str], [f64; 2]) = (&[], [0.0; 2]);

/// Returns a run of a spacecraft in natural coordinates with steps of `h` (s).
pub fn steps_of(h: f64, text: &str, seed: Option<u64>) -> Run {
    let mut spec = crate::plant_in(Formulation::Natural, text, Path::new("."))
        .model()
        .spec
        .clone();
    (spec.solver.method, spec.solver.step) = (Method::Conserving, Some(h));
    let model = grapple::plant::Model::compile(&spec).expect("a rigid craft");
    let mut plant = grapple::plant::Plant::new(model.into()).expect("its own values");
    if let Some(seed) = seed {
        values_at_random(&mut plant, seed);
    }
    Run::of(plant, 1e-9)
}

/// Returns the energy including that of undamped grasps' springs (stiffness, N/m and N·m/rad), J.
fn energy(run: &Run, grasps: &[&str], [k, k_t]: [f64; 2]) -> f64 {
    let held = |name: &&str| {
        let [gap, angle] = ["distance", "angle"].map(|of| run.value(&format!("{name}.{of}")));
        0.5 * (k * gap * gap + k_t * angle * angle)
    };
    run.value("system.energy") + grasps.iter().map(held).sum::<f64>()
}

/// Returns the largest relative change of energy (with undamped grasps), momentum and angular
/// momentum, and the largest constraint violation and distortion (m), over `n` calls of `dt` (s).
fn drift(run: &mut Run, n: u32, dt: f64, grasps: (&[&str], [f64; 2])) -> [f64; 4] {
    run.look();
    let (p, h) = (run.vector("system.momentum"), run.vector("system.angular_momentum"));
    let [p_scale, h_scale] = ["system.momentum_scale", "system.angular_momentum_scale"].map(|name| run.value(name));
    let at_start = energy(run, grasps.0, grasps.1);
    let mut worst = [0.0f64; 4];
    for k in 1..=n {
        run.go(dt * f64::from(k));
        let gap = |name: &str| run.value(name);
        let off = [
            (energy(run, grasps.0, grasps.1) - at_start).abs() / at_start.abs(),
            (run.vector("system.momentum") - p).norm() / p_scale,
            (run.vector("system.angular_momentum") - h).norm() / h_scale,
            gap("system.violation")
                .larger(gap("system.violation_angle"))
                .larger(gap("system.distortion")),
        ];
        worst = std::array::from_fn(|k| worst[k].larger(off[k]));
    }
    worst
}

/// A free body rotates by a tenth of a radian per step, for a thousand steps.
#[test]
fn free_body_conserves_energy_and_momentum() {
    let text = "name = \"hub\"\n[body.hub]\nmass = 2.0\nmass_centre = [0.1, -0.2, 0.3]\ninertia = [0.3, 0.5, 0.7]\n\
                start = { angular_velocity = [1.5, 0.1, -0.6], velocity = [0.3, 0.1, 0.2], rpy_deg = [20.0, 50.0, -70.0] }\n";
    let mut run = steps_of(0.07, text, None);
    let worst = drift(&mut run, 1000, 0.07, NONE);
    println!("energy, momentum, angular momentum, shape: {} (1e-13)", few(&worst));
    // A thousand times round-off, for equations solved to round-off.
    assert!(worst.iter().all(|&off| off < 1e-13), "{worst:?}");
}

/// Random rigid free-floating spacecraft, with every type of joint.
#[test]
fn every_joint_type_conserves_energy_and_momentum() {
    let mut worst = [0.0f64; 4];
    for seed in [0, 2, 4, 6, 8, 10] {
        let text: String = random_craft(seed, 8, 1.0)
            .lines()
            .filter(|line| {
                !["rotor_inertia", "stiffness", "damping", "friction"]
                    .iter()
                    .any(|word| line.starts_with(word))
            })
            .map(|line| format!("{line}\n"))
            .collect();
        let mut run = steps_of(0.01, &text, Some(seed));
        let off = drift(&mut run, 100, 0.01, NONE);
        println!("seed {seed}: {}", few(&off));
        worst = std::array::from_fn(|k| worst[k].larger(off[k]));
    }
    println!("energy, momentum, angular momentum, gaps: {} (1e-12)", few(&worst));
    // A hundred steps, eight joints, 4 ε of the rates each: 7e-13.
    assert!(worst.iter().all(|&off| off < 1e-12), "{worst:?}");
}

/// Returns the largest change of energy minus work over `n` steps of `h` (s), relative to the
/// maximum kinetic energy.
pub fn imbalance(run: &mut Run, n: u32, h: f64) -> f64 {
    run.look();
    let of = |run: &Run| run.value("system.energy") - run.value("system.work");
    let at_start = of(run);
    let (mut worst, mut most) = (0.0f64, 0.0f64);
    for k in 1..=n {
        run.go(h * f64::from(k));
        worst = worst.larger((of(run) - at_start).abs());
        most = most.larger(run.value("system.kinetic_energy"));
    }
    worst / most
}

/// A hinge on the world with a spring, with an amplitude of one radian, in long steps. The spring
/// is the only load, so an error of the angle would appear in the energy.
#[test]
fn joint_spring_conserves_energy() {
    let text = "name = \"swing\"\n[body.arm]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n\
                [joint.hinge]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"arm\"\naxis = [0.0, 0.0, 1.0]\n\
                spring = { stiffness = 4.0 }\nstart = { position = 1.0 }\n";
    for h in [0.1, 0.05, 0.025] {
        let mut run = steps_of(h, text, None);
        let off = imbalance(&mut run, (20.0 / h) as u32, h);
        println!("h = {h} s: energy off by {off:.1e} (1e-12)");
        // Up to 800 steps, 4 ε of the rate each.
        assert!(off < 1e-12, "{off:e}");
    }
}

/// Random spacecraft with springs, dampers and friction on all joints: the energy loss equals the
/// work.
#[test]
fn energy_loss_of_joint_loads_equals_their_work() {
    let mut worst = 0.0f64;
    for seed in [0, 2, 4, 6, 8, 10] {
        let text: String = random_craft(seed, 8, 1.0)
            .lines()
            .filter(|line| !line.starts_with("rotor_inertia"))
            .map(|line| match line.strip_prefix("type = ") {
                None | Some("\"fixed\"") => format!("{line}\n"),
                Some("\"spherical\"") => format!("{line}\nspring = {{ stiffness = 30.0 }}\ndamping = 0.3\n"),
                Some(_) => format!(
                    "{line}\nspring = {{ stiffness = 50.0, rest = 0.2 }}\ndamping = 0.2\nfriction = {{ coulomb = 0.2, slip = 1.0 }}\n"
                ),
            })
            .collect();
        let mut run = steps_of(0.02, &text, Some(seed));
        let off = imbalance(&mut run, 100, 0.02);
        println!("seed {seed}: {off:.1e}");
        worst = worst.larger(off);
    }
    println!("energy less work {worst:.1e} (1e-12)");
    // A hundred steps, eight joints, 4 ε of the rates each: 7e-13.
    assert!(worst < 1e-12, "{worst:e}");
}

/// A rotor's rate is not a rate of the directors: its energy is conserved to second order.
#[test]
fn rotor_conserves_energy_to_second_order() {
    let text = "name = \"geared\"\n[body.hub]\nmass = 2.0\ninertia = [0.3, 0.5, 0.7]\nstart = { angular_velocity = [0.2, 0.3, 0.1] }\n\
                [body.arm]\nmass = 1.0\nmass_centre = [0.4, 0.0, 0.1]\ninertia = [0.1, 0.2, 0.25]\n\
                [joint.shoulder]\ntype = \"revolute\"\nparent = \"hub\"\nchild = \"arm\"\norigin = [0.3, 0.1, 0.0]\naxis = [0.0, 1.0, 0.2]\n\
                rotor_inertia = 0.3\nspring = { stiffness = 6.0 }\nstart = { position = 0.8 }\n";
    let off =
        [0.02, 0.01, 0.005, 0.0025, 0.00125].map(|h| imbalance(&mut steps_of(h, text, None), (4.0 / h) as u32, h));
    let orders = orders(&off);
    println!("energy off by {}; orders {orders:.2?}", few(&off));
    assert!(off[2] < 1e-6 && orders.iter().all(|order| *order > 1.9), "{off:?}");
}

/// A tumbling spacecraft with a spherical joint, whose spring passes an angle of 180° and then acts
/// in the opposite direction.
#[test]
fn spherical_spring_beyond_half_a_turn_conserves_energy() {
    let text = "name = \"ball\"\n[body.hub]\nmass = 2.0\nmass_centre = [0.1, -0.2, 0.3]\ninertia = [0.3, 0.5, 0.7]\n\
                start = { angular_velocity = [0.4, 0.1, -0.6] }\n\
                [body.head]\nmass = 1.0\nmass_centre = [0.0, 0.1, 0.05]\ninertia = [0.1, 0.2, 0.25]\n\
                [joint.neck]\ntype = \"spherical\"\nparent = \"hub\"\nchild = \"head\"\norigin = [0.4, 0.0, 0.1]\nrpy_deg = [10.0, 20.0, 30.0]\n\
                spring = { stiffness = 0.4 }\nstart = { rate = [3.0, 1.0, -2.0] }\n";
    let mut run = steps_of(0.05, text, None);
    run.look();
    let scalar = |run: &Run| run.value("neck.q[1]").abs();
    let at_start = run.value("system.energy");
    let kinetic = run.value("system.kinetic_energy");
    let (mut worst, mut farthest, mut turned_over) = (0.0f64, 1.0f64, 0);
    let mut q = [1.0f64, 0.0, 0.0, 0.0];
    for k in 1..=200 {
        run.go(0.05 * f64::from(k));
        worst = worst.larger((run.value("system.energy") - at_start).abs() / kinetic);
        farthest = farthest.min(scalar(&run));
        let now: [f64; 4] = std::array::from_fn(|i| run.value(&format!("neck.q[{}]", i + 1)));
        turned_over += u32::from(now[0] * q[0] < 0.0);
        q = now;
    }
    println!("energy off by {worst:.1e} (1e-13); turned over {turned_over} times, cos φ/2 down to {farthest:.2}");
    assert!(worst < 1e-13 && turned_over > 2);
}

/// Arms that rotate and slide between compliant stops, on a rotating hub.
#[test]
fn compliant_stops_conserve_energy() {
    let text = "name = \"stops\"\n[body.hub]\nmass = 2.0\ninertia = [0.3, 0.5, 0.7]\nstart = { angular_velocity = [0.4, 1.1, 2.0] }\n\
                [body.arm]\nmass = 1.0\nmass_centre = [0.4, 0.0, 0.1]\ninertia = [0.1, 0.2, 0.25]\n\
                [body.tip]\nmass = 0.5\nmass_centre = [0.2, 0.1, 0.0]\ninertia = [0.05, 0.06, 0.07]\n\
                [joint.shoulder]\ntype = \"universal\"\nparent = \"hub\"\nchild = \"arm\"\norigin = [0.3, 0.1, 0.0]\naxis = [1.0, 0.0, 0.0]\naxis2 = [0.0, 1.0, 0.2]\n\
                range = { min = -0.2, max = 0.3, stop = \"compliant\", stiffness = 20.0, damping = 0.0 }\nstart = { rate = [1.5, -2.0] }\n\
                [joint.rail]\ntype = \"cylindrical\"\nparent = \"arm\"\nchild = \"tip\"\norigin = [0.8, 0.0, 0.0]\naxis = [1.0, 0.3, 0.0]\n\
                range = { min = -0.1, max = 0.1, stop = \"compliant\", stiffness = 30.0, damping = 0.1 }\nstart = { rate = [2.0, 0.7] }\n";
    let mut run = steps_of(0.03, text, None);
    let off = imbalance(&mut run, 200, 0.03);
    println!("energy less work off by {off:.1e} (1e-12)");
    assert!(off < 1e-12, "{off:e}");
}

/// Rotating jointed bodies press with rounded edges on a floor and on a third body, with both
/// spring laws: contacts begin and end inside steps.
#[test]
fn compliant_contacts_conserve_energy() {
    let text = |exponent: f64| {
        let law = format!("law = \"compliant\"\nforce = 40.0\ndepth = 0.05\nexponent = {exponent}\n");
        format!(
            "name = \"press\"\n[environment]\ngravity = [0.0, 0.3, -2.0]\n\
             [body.hub]\nmass = 2.0\nmass_centre = [0.1, -0.05, 0.0]\ninertia = [0.08, 0.09, 0.1]\nstart = {{ position = [0.0, 0.0, 0.5], angular_velocity = [1.0, 2.0, -0.5] }}\n\
             [body.arm]\nmass = 1.0\nmass_centre = [0.1, 0.0, 0.05]\ninertia = [0.1, 0.2, 0.25]\n\
             [joint.hinge]\nparent = \"hub\"\nchild = \"arm\"\norigin = [0.4, 0.0, 0.0]\naxis = [0.0, 1.0, 0.3]\ntype = \"revolute\"\n\
             [body.raft]\nmass = 3.0\nmass_centre = [0.0, 0.0, -0.1]\ninertia = [0.4, 0.4, 0.6]\nstart = {{ position = [0.0, 0.0, -0.1], angular_velocity = [0.2, -0.1, 0.6] }}\n\
             [body.bob]\nmass = 0.7\ninertia = [0.02, 0.02, 0.02]\nstart = {{ position = [0.1, 0.45, 0.6], velocity = [0.0, -1.0, 0.0] }}\n\
             [frame.edge]\nbody = \"arm\"\norigin = [0.3, 0.0, 0.0]\n\
             [frame.deck]\nbody = \"raft\"\norigin = [0.0, 0.1, 0.05]\nrpy_deg = [5.0, -8.0, 0.0]\n\
             [contact.hub_deck]\na = \"hub\"\nb = \"deck\"\nsurface = \"plane\"\nradius_a = 0.2\n{law}\
             [contact.edge_deck]\na = \"edge\"\nb = \"deck\"\nsurface = \"plane\"\nradius_a = 0.1\nmu = 0.2\ndissipation = 0.1\n{law}\
             [contact.bob_hub]\na = \"bob\"\nb = \"hub\"\nsurface = \"sphere\"\nradius_a = 0.1\nradius_b = 0.2\n{law}\
             [contact.floor]\na = \"raft\"\nb = \"world\"\nsurface = \"plane\"\nradius_a = 0.3\n{law}"
        )
    };
    for exponent in [1.0, 1.5] {
        let mut run = steps_of(0.01, &text(exponent), None);
        let off = imbalance(&mut run, 300, 0.01);
        println!("exponent {exponent}: energy less work off by {off:.1e} (1e-12)");
        assert!(off < 1e-12, "{off:e}");
    }
}

/// Returns two beams of 100 m in the grippers of a robot with seven links and free joints, undamped
/// (Yang et al. 2023, 10.1007/s11071-023-08395-w): it rotates about all axes, both arms swing, and
/// the beams bend.
fn assembly() -> String {
    let turn = Vec3::new(0.001, 0.002, 0.02);
    let (swing_left, swing_right) = (0.012, -0.008);
    let mut text = String::from("name = \"assembly\"\n");
    let mut add = |more: String| text += &more;
    let body = |name: &str, length: f64, centre: f64| {
        let mass = 10.5 * length;
        let [axial, across] = [mass * 0.02, mass * (length * length / 12.0 + 0.01)];
        format!(
            "[body.{name}]\nmass = {mass}\nmass_centre = [{centre}, 0.0, 0.0]\ninertia = [{axial}, {across}, {across}]\n"
        )
    };
    add(body("DE", 7.0, 0.0));
    add(format!("start = {{ angular_velocity = {:?} }}\n", turn.as_slice()));
    for (side, swing, names) in [
        (-1.0, swing_left, ["CD", "BC", "AB"]),
        (1.0, swing_right, ["EF", "FG", "GH"]),
    ] {
        let (mut parent, mut from) = ("DE", 3.5);
        for (link, length) in names.into_iter().zip([7.0, 7.0, 2.0]) {
            add(body(link, length, side * 0.5 * length));
            let rate = if parent == "DE" { swing } else { 0.0 };
            add(format!(
                "[joint.{link}_in]\ntype = \"revolute\"\nparent = \"{parent}\"\nchild = \"{link}\"\norigin = [{}, 0.0, 0.0]\nstart = {{ rate = {rate} }}\n",
                side * from
            ));
            (parent, from) = (link, length);
        }
        let beam = if side < 0.0 { "MN" } else { "KI" };
        // On the left the beam's axes are rotated by 180° about z.
        let hinge = Vec3::x() * (3.5 * side);
        let root = Vec3::x() * (19.5 * side);
        let all = turn + Vec3::z() * swing;
        let velocity = turn.cross(&hinge) + all.cross(&(root - hinge));
        let angular = Vec3::new(side * all.x, side * all.y, all.z);
        let heading = 90.0 * (1.0 - side);
        add(format!(
            "[ancf_beam.{beam}]\nlength = 100.0\nelements = 2\nmass_per_length = 30.0\nEA = 6.9e9\nEI = 9.545e7\n\
             start = {{ position = {:?}, rpy_deg = [0.0, 0.0, {heading}], velocity = {:?}, angular_velocity = {:?} }}\n\
             [frame.{beam}_grip]\nbody = \"{parent}\"\norigin = [{}, 0.0, 0.0]\nrpy_deg = [0.0, 0.0, {heading}]\n\
             [grasp.{beam}_held]\na = \"{beam}_grip\"\nb = \"{beam}\"\nstiffness = 1e6\ndamping = 0.0\nangular_stiffness = 2e7\nangular_damping = 0.0\n",
            root.as_slice(),
            velocity.as_slice(),
            angular.as_slice(),
            2.0 * side,
        ));
    }
    text
}

/// The rotating and bending assembly, 60 s in steps of 0.1 s.
#[test]
fn two_grasped_beams_conserve_energy_and_momentum() {
    let mut run = steps_of(0.1, &assembly(), None);
    run.look();
    let kinetic = run.value("system.kinetic_energy");
    let grasps = (&["MN_held", "KI_held"] as &[&str], [1e6, 2e7]);
    let worst = drift(&mut run, 600, 0.1, grasps);
    let balance = (run.value("system.energy") - run.value("system.work") - kinetic).abs() / kinetic;
    let bent = ["MN", "KI"].map(|beam| run.vector(&format!("{beam}.tip_deflection")).norm());
    println!(
        "energy {:.1e} (1e-9) of {kinetic:.0} J, with the grasps' work {balance:.1e} (1e-12), momentum {:.1e}, angular momentum {:.1e} (1e-12), gaps {:.1e} m (1e-12); tips bent by {} m",
        worst[0],
        worst[1],
        worst[2],
        worst[3],
        few(&bent)
    );
    // The rotation of a grasp's spring is not quadratic in the coordinates: its energy is conserved
    // to second order in the rotation per step. Everything else is round-off.
    assert!(
        worst[0] < 1e-9 && balance < 1e-12 && worst[1..].iter().all(|&off| off < 1e-12),
        "{worst:?}"
    );
    assert!(bent.iter().all(|&bent| bent > 1e-3), "{bent:?}");
}

/// A soft geometrically exact beam on a free hinge of a rotating hub, with large bending, with a
/// straight and a curved stress-free shape: all strain energy is accounted for.
#[test]
fn geometrically_exact_beam_conserves_energy_and_momentum() {
    conserves_energy_and_momentum("length = 2.0");
    conserves_energy_and_momentum("shape = { points = [[0.7, 0.1, 0.2], [1.2, 0.6, 0.4], [1.3, 1.2, 0.3]] }");
}

fn conserves_energy_and_momentum(shape: &str) {
    let text = "name = \"whip\"\n[body.hub]\nmass = 2.0\ninertia = [0.3, 0.5, 0.7]\nstart = { angular_velocity = [0.4, 1.1, 2.0] }\n\
                [body.boom.geometrically_exact_beam]\nSHAPE\nelements = 6\nmass_per_length = 0.4\npolar_inertia_per_length = 1e-3\nEA = 300.0\nGA = 150.0\nGJ = 0.2\nEI = 0.4\n\
                [joint.hinge]\ntype = \"universal\"\nparent = \"hub\"\nchild = \"boom\"\norigin = [0.3, 0.1, 0.0]\naxis = [1.0, 0.0, 0.0]\naxis2 = [0.0, 1.0, 0.2]\n"
        .replace("SHAPE", shape);
    let mut run = steps_of(0.02, &text, None);
    let worst = drift(&mut run, 100, 0.02, NONE);
    let (bent, strain) = (
        run.vector("boom.tip_deflection").norm(),
        run.value("boom.elastic_energy"),
    );
    println!(
        "energy, momentum, angular momentum, gaps: {} (1e-13); bent by {bent:.2} m, with {strain:.2} J",
        few(&worst)
    );
    // A hundred steps, 4 ε of the rates each.
    assert!(worst.iter().all(|&off| off < 1e-13) && bent > 0.1, "{worst:?}");
}

/// A spacecraft with all continuous loads.
const LOADED: &str = r#"
name = "loaded"
[environment]
gravity = [0.1, -0.3, 0.2]
[body.base]
mass = 6.0
inertia = [0.8, 0.9, 1.0]
start = { angular_velocity = [0.1, -0.2, 0.15] }
[body.a]
mass = 2.0
mass_centre = [0.5, 0.1, 0.0]
inertia = [0.1, 0.4, 0.4]
[body.b]
mass = 1.5
mass_centre = [0.4, 0.0, 0.1]
inertia = [0.1, 0.3, 0.3]
[body.c]
mass = 1.0
mass_centre = [0.5, 0.0, 0.0]
inertia = [0.1, 0.2, 0.2]
[body.turned]
mass = 1.0
mass_centre = [0.2, 0.1, 0.0]
inertia = [0.1, 0.2, 0.2]
[body.stiff]
mass = 0.7
mass_centre = [0.2, 0.1, 0.0]
inertia = [0.1, 0.2, 0.2]
[joint.wrist]
type = "spherical"
parent = "base"
child = "a"
origin = [0.3, 0.0, 0.0]
spring = { stiffness = 3.0 }
damping = 0.2
[joint.elbow]
type = "revolute"
parent = "a"
child = "b"
origin = [1.0, 0.0, 0.0]
rotor_inertia = 0.2
spring = { stiffness = 5.0, rest = 0.2 }
servo = { kp = 20.0, kd = 3.0 }
start = { rate = 0.8 }
[joint.slide]
type = "cylindrical"
parent = "b"
child = "c"
origin = [1.0, 0.0, 0.0]
damping = 0.4
spring = { stiffness = 20.0 }
[joint.shaft]
type = "universal"
parent = "base"
child = "turned"
origin = [0.0, 0.5, 0.0]
spring = { stiffness = 2.0 }
start = { rate = [0.4, -0.3] }
[joint.drive]
type = "revolute"
parent = "turned"
child = "stiff"
origin = [0.5, 0.0, 0.0]
motion = "prescribed"
start = { rate = 0.3 }
[body.bulb]
mass = 0.4
mass_centre = [0.1, 0.2, -0.1]
inertia = [0.02, 0.03, 0.04]
[joint.swivel]
type = "spherical"
parent = "base"
child = "bulb"
origin = [-0.2, 0.1, 0.4]
motion = "prescribed"
start = { rate = [0.4, -0.3, 0.5] }
[signal."swivel.qdd[2]"]
type = "sine"
frequency = 0.6
from_importer = false
[signal."drive.qdd"]
type = "sine"
frequency = 0.5
from_importer = false
[signal."elbow.tau"]
type = "sine"
frequency = 0.7
amplitude = 2.0
from_importer = false
[ancf_beam.span]
length = 3.0
elements = 2
mass_per_length = 0.5
EA = 10.0
EI = 0.3
start = { position = [2.4, 0.1, 0.0] }
[frame.on_span]
body = "span"
origin = [1.0, 0.0, 0.0]
[grasp.grip]
a = "c"
b = "on_span"
stiffness = [5.0, 8.0, 3.0]
damping = 0.6
angular_stiffness = 0.3
angular_damping = 0.1
[port.push]
frame = "b"
[output]
reactions = true
"#;

/// Under loads of all types, with gravity and a driven joint, the solution converges to that of
/// DOP853, with an error proportional to the square of the step.
#[test]
fn solution_converges_with_second_order() {
    let plant = crate::plant_in(Formulation::Natural, LOADED, Path::new("."));
    let mut spec = plant.model().spec.clone();
    spec.solver.method = Method::Dop853;
    let model = grapple::plant::Model::compile(&spec).expect("a craft");
    let mut exact = Run::of(grapple::plant::Plant::new(model.into()).expect("its own values"), 1e-11);
    exact.go(1.0);
    let names: Vec<String> = exact
        .simulation
        .plant
        .model()
        .outputs
        .iter()
        .map(|output| output.quantity.name.clone())
        .collect();
    let off: Vec<f64> = [0.01, 0.005, 0.0025]
        .map(|h| {
            let mut run = steps_of(h, LOADED, None);
            run.go(1.0);
            let kept = |name: &&String| {
                !["system.violation", "system.distortion"]
                    .iter()
                    .any(|of| name.starts_with(of))
            };
            let off = |name: &String| (run.value(name) - exact.value(name)).abs() / exact.value(name).abs().max(1.0);
            let mut all: Vec<(f64, &String)> = names.iter().filter(kept).map(|name| (off(name), name)).collect();
            all.sort_by(|a, b| b.0.total_cmp(&a.0));
            println!("h = {h} s: {:?}", &all[..4]);
            all.iter().map(|(off, _)| *off).fold(0.0, f64::larger)
        })
        .to_vec();
    let orders = [(off[0] / off[1]).log2(), (off[1] / off[2]).log2()];
    println!("outputs off by {}; order {:.2}, {:.2}", few(&off), orders[0], orders[1]);
    // The error terms beyond the second order also decrease with the square of the step: at each
    // halving the deviation from order 2 is a quarter of the one before.
    assert!((orders[1] - 2.0).abs() < 0.1, "{off:?}");
}

/// A locked joint stays in place on a body that rotates by a tenth of a radian per step.
#[test]
fn locked_joint_has_no_drift() {
    let text = "name = \"craft\"\n[body.hub]\nmass = 2.0\nmass_centre = [0.1, -0.2, 0.3]\ninertia = [0.3, 0.5, 0.7]\n\
                start = { angular_velocity = [1.5, 0.1, -0.6] }\n\
                [body.arm]\nmass = 1.0\nmass_centre = [0.4, 0.0, 0.1]\ninertia = [0.1, 0.2, 0.25]\n\
                [joint.shoulder]\ntype = \"universal\"\nparent = \"hub\"\nchild = \"arm\"\norigin = [0.5, 0.0, 0.0]\naxis2 = [0.0, 1.0, 1.0]\n\
                motion = \"locked\"\nstart = { position = [0.7, -0.4] }\n";
    let mut run = steps_of(0.06, text, None);
    run.go(60.0);
    let off = [run.value("shoulder.q[1]") - 0.7, run.value("shoulder.q[2]") + 0.4];
    println!("after 1000 steps off by {} rad (1e-13)", few(&off));
    assert!(off.iter().all(|off| off.abs() < 1e-13), "{off:?}");
}

/// A joint locked while moving stays in place, and the locking impulse conserves momentum.
#[test]
fn joint_locked_in_motion_stays_in_place() {
    let text = "name = \"craft\"\n[body.hub]\nmass = 2.0\nmass_centre = [0.1, -0.2, 0.3]\ninertia = [0.3, 0.5, 0.7]\n\
                start = { angular_velocity = [1.5, 0.1, -0.6] }\n\
                [body.arm]\nmass = 1.0\nmass_centre = [0.4, 0.0, 0.1]\ninertia = [0.1, 0.2, 0.25]\n\
                [body.ball]\nmass = 0.6\nmass_centre = [0.2, 0.1, 0.1]\ninertia = [0.1, 0.1, 0.12]\n\
                [joint.shoulder]\ntype = \"universal\"\nparent = \"hub\"\nchild = \"arm\"\norigin = [0.5, 0.0, 0.0]\naxis2 = [0.0, 1.0, 1.0]\n\
                motions = [\"loads\", \"locked\"]\nstart = { rate = [0.7, -0.4] }\n\
                [joint.wrist]\ntype = \"spherical\"\nparent = \"arm\"\nchild = \"ball\"\norigin = [0.8, 0.0, 0.0]\n\
                motions = [\"loads\", \"locked\"]\nstart = { rate = [0.5, 0.9, -0.4] }\n";
    let mut run = steps_of(0.06, text, None);
    let places = |run: &Run| {
        let names = (1..=2).map(|k| format!("shoulder.q[{k}]"));
        let names = names.chain((1..=4).map(|k| format!("wrist.q[{k}]")));
        names.map(|name| run.value(&name)).collect::<Vec<f64>>()
    };
    run.go(0.6);
    let (at, kinetic) = (places(&run), run.value("system.kinetic_energy"));
    for joint in ["shoulder", "wrist"] {
        run.set(&format!("{joint}.motion"), 1.0);
    }
    let momentum = run.vector("system.angular_momentum");
    run.go(60.0);
    let off = places(&run)
        .iter()
        .zip(&at)
        .fold(0.0f64, |worst, (now, then)| worst.larger((now - then).abs()));
    let momentum = (run.vector("system.angular_momentum") - momentum).norm() / momentum.norm();
    let lost = kinetic - run.value("system.kinetic_energy");
    println!(
        "after 990 steps off by {off:.1e} (1e-13), angular momentum by {momentum:.1e} (1e-12), {lost:.3} J of {kinetic:.3} J lost"
    );
    assert!(off < 1e-13 && momentum < 1e-12 && lost > 0.01);
}

/// If the work limit is reached in the step to an event, the run stops with time and states before
/// that step.
#[test]
fn work_limit_stops_before_an_impact() {
    let _section = messages::of_this_test();
    let text = "name = \"drop\"\n[environment]\ngravity = [0.0, 0.0, -9.81]\n[body.ball]\nmass = 2.0\ninertia = [0.008, 0.008, 0.008]\n\
                start = { position = [0.0, 0.0, 1.1] }\n[contact.floor]\na = \"ball\"\nb = \"world\"\nsurface = \"plane\"\nradius_a = 0.1\ne = 0.8\n";
    let mut run = steps_of(0.01, text, None);
    // The work limit is sufficient for the step that detects the crossing, but not for the repeated
    // step that ends at it.
    run.simulation.initialise(0.0, None, 101.0).expect("starts");
    let stopped = (1..100).find_map(|k| {
        let refused = run.simulation.advance(0.01 * f64::from(k), &mut Vec::new());
        refused.err().map(|error| (k, error))
    });
    let (k, error) = stopped.expect("too little work");
    let t = run.simulation.state.t;
    let off = run.value("ball.r[3]") - (1.1 - 0.5 * 9.81 * t * t);
    println!("{error}; at {t} s {off:.1e} m off (1e-13)");
    messages::record(messages::without_decimals(&error));
    assert!(
        matches!(error, Error::WorkLimit { limit: 101, t: reached } if reached == t),
        "{error:?}"
    );
    assert!((t - 0.01 * f64::from(k - 1)).abs() < 1e-12 && off.abs() < 1e-13);
}

/// Impacts inside steps: a falling ball bounces at the times of the closed form (a parabola is
/// exact at any step size); a rotating body that hits the floor with its edge stays rigid, keeps
/// its joint, and follows the solution of DOP853.
#[test]
fn impacts_inside_steps_are_located() {
    let floor = |body: &str, start: &str| {
        format!(
            "name = \"drop\"\n[environment]\ngravity = [0.0, 0.0, -9.81]\n{body}start = {{ position = [0.0, 0.0, 1.1], {start} }}\n\
             [contact.floor]\na = \"edge\"\nb = \"world\"\nsurface = \"plane\"\nradius_a = 0.1\ne = 0.8\n"
        )
    };
    let ball = "[frame.edge]\nbody = \"ball\"\n[body.ball]\nmass = 2.0\ninertia = [0.008, 0.008, 0.008]\n";
    let mut run = steps_of(0.01, &floor(ball, "velocity = [0.0, 0.0, 0.0]"), None);
    let fall = (2.0f64 / 9.81).sqrt();
    run.go(fall + fall * 0.8);
    let off = [run.value("floor.time") - fall, run.value("ball.r[3]") - 0.1 - 0.64];
    println!("bounces {} s, m off (1e-12)", few(&off));
    assert!(off.iter().all(|off| off.abs() < 1e-12), "{off:?}");

    let tumbler = "[frame.edge]\nbody = \"arm\"\norigin = [0.3, 0.0, 0.0]\n[body.arm]\nmass = 1.0\nmass_centre = [0.1, 0.0, 0.05]\ninertia = [0.1, 0.2, 0.25]\n\
                   [joint.hinge]\nparent = \"hub\"\nchild = \"arm\"\norigin = [0.4, 0.0, 0.0]\naxis = [0.0, 1.0, 0.3]\ntype = \"revolute\"\n\
                   [body.hub]\nmass = 2.0\ninertia = [0.08, 0.09, 0.1]\n";
    let text = floor(tumbler, "angular_velocity = [1.0, 2.0, -0.5]");
    let mut exact = Run::of(
        crate::plant_in(
            Formulation::Natural,
            &(text.clone() + "[solver]\nmethod = \"dop853\"\n"),
            Path::new("."),
        ),
        1e-11,
    );
    exact.go(1.0);
    let off: Vec<[f64; 2]> = [4e-3, 2e-3]
        .map(|h| {
            let mut run = steps_of(h, &text, None);
            run.go(1.0);
            assert_eq!(run.value("floor.count"), exact.value("floor.count"));
            let way = (run.vector("hub.r") - exact.vector("hub.r")).norm()
                + (run.value("hinge.q") - exact.value("hinge.q")).abs();
            let open = ["system.violation", "system.violation_angle", "system.distortion"].map(|name| run.value(name));
            [way, open.into_iter().fold(0.0, f64::larger)]
        })
        .to_vec();
    let order = (off[0][0] / off[1][0]).log2();
    println!(
        "{} impacts: off by {}, order {order:.2}; gaps {} (1e-12)",
        exact.value("floor.count"),
        few(&[off[0][0], off[1][0]]),
        few(&[off[0][1], off[1][1]])
    );
    assert!((order - 2.0).abs() < 0.2 && off.iter().all(|off| off[1] < 1e-12));
    assert!(exact.value("floor.count") > 0.0);
}
