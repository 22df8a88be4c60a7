//! Joints that are locked, change their motion, or track references, in every formulation.

use crate::numbers::Larger;
use crate::run::Run;
use grapple::algebra::Vec3;
use grapple::spec::Formulation;
use std::path::Path;

/// Returns a rotating spacecraft with an arm of five joints of five types, some with friction, a
/// spring or a rotor; `more` gives further fields of each joint.
fn arm(more: impl Fn(&str) -> String) -> String {
    let body = |name: &str, centre: [f64; 3]| {
        format!("[body.{name}]\nmass = 1.5\nmass_centre = {centre:?}\ninertia = [0.1, 0.2, 0.25, 0.01, -0.02, 0.03]\n")
    };
    let joint = |name: &str, kind: &str, parent: &str, child: &str, fields: &str| {
        let more = more(name);
        format!(
            "[joint.{name}]\ntype = \"{kind}\"\nparent = \"{parent}\"\nchild = \"{child}\"\norigin = [0.9, 0.1, -0.2]\n{fields}{more}"
        )
    };
    [
        "name = \"locked\"\n[body.base]\nmass = 6.0\nmass_centre = [0.1, -0.2, 0.05]\ninertia = [0.8, 0.9, 1.0]\nstart = { angular_velocity = [0.3, -0.2, 0.4], velocity = [0.1, 0.3, -0.2] }\n"
            .to_owned(),
        body("a", [0.5, 0.1, 0.0]),
        body("b", [0.4, 0.0, 0.2]),
        body("c", [0.4, 0.2, 0.0]),
        body("d", [0.3, -0.1, 0.1]),
        body("e", [0.2, 0.1, -0.1]),
        joint(
            "yaw",
            "revolute",
            "base",
            "a",
            "axis = [0.2, 0.1, 1.0]\nrotor_inertia = 0.3\ndamping = 0.2\nstart = { rate = 0.7 }\n",
        ),
        joint("slide", "prismatic", "a", "b", "axis = [1.0, 0.3, 0.0]\nspring = { stiffness = 2.0 }\nstart = { rate = 0.2 }\n"),
        joint("ball", "spherical", "b", "c", "start = { rate = [0.3, -0.5, 0.2] }\n"),
        joint(
            "cardan",
            "universal",
            "c",
            "d",
            "axis = [1.0, 0.0, 0.2]\naxis2 = [0.0, 1.0, 0.3]\nrotor_inertia = [0.1, 0.2]\nstart = { rate = [-0.4, 0.6] }\n",
        ),
        joint("screw", "cylindrical", "a", "e", "axis = [0.0, 0.4, 1.0]\nstart = { rate = [0.8, -0.3] }\n"),
    ]
    .concat()
}

const JOINTS: [&str; 5] = ["yaw", "slide", "ball", "cardan", "screw"];

fn axes(joint: &str) -> Vec<String> {
    match joint {
        "ball" => (1..=3).map(|i| format!("[{i}]")).collect(),
        "cardan" | "screw" => (1..=2).map(|i| format!("[{i}]")).collect(),
        _ => vec![String::new()],
    }
}

fn run_in(formulation: Formulation, text: &str) -> Run {
    let text = format!("{text}[output]\nreactions = true\n[solver]\nmethod = \"dop853\"\n");
    Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-12)
}

/// Returns the momenta about the origin, inertial axes.
fn momenta(run: &Run) -> [Vec3<f64>; 2] {
    let p = run.vector("system.momentum");
    let h = run.vector("system.angular_momentum") + run.vector("system.mass_centre").cross(&p);
    [p, h]
}

/// Locking moving joints, one by one and all at once, conserves momentum (1e-13 of the bodies' own
/// momenta), sets their rates to zero permanently, keeps the rates of joints locked before, and its
/// work is in the energy balance. All formulations agree.
#[test]
fn locking_conserves_momentum_and_stops_the_joint() {
    let text = arm(|_| "motions = [\"loads\", \"locked\"]\n".to_owned());
    let mut ends: Vec<Vec<f64>> = Vec::new();
    for formulation in Formulation::ALL {
        let mut run = run_in(formulation, &text);
        let mut worst: f64 = 0.0;
        let mut balance = None;
        run.go(0.1);
        for (k, joints) in [["ball"].as_slice(), &["cardan"], &["yaw", "screw"], &["slide"]]
            .into_iter()
            .enumerate()
        {
            let before = momenta(&run);
            let t = run.simulation.state.t;
            let first = run.value("system.energy") - run.value("system.work");
            let balance = *balance.get_or_insert(first);
            joints.iter().for_each(|joint| run.set(&format!("{joint}.motion"), 1.0));
            // The run advances only to the event.
            let mut messages = Vec::new();
            let simulation = &mut run.simulation;
            simulation.advance(t + 1e-12, &mut messages).expect("runs");
            assert_eq!(messages.len(), joints.len(), "{messages:?}");
            run.go(t + 2e-12);
            let after = momenta(&run);
            let scales = [
                run.value("system.momentum_scale"),
                run.value("system.angular_momentum_scale"),
            ];
            for ((before, after), scale) in before.into_iter().zip(after).zip(scales) {
                worst = worst.larger((after - before).norm() / scale);
            }
            let off = run.value("system.energy") - run.value("system.work") - balance;
            assert!(off.abs() < 1e-11, "{}: {off:e} J", formulation.name());
            run.go(0.1 + 0.3 * (k + 1) as f64);
            let held = JOINTS
                .iter()
                .filter(|joint| run.simulation.state.u[place(&run, joint)] == 1.0);
            for joint in held {
                for axis in axes(joint) {
                    let rate = run.value(&format!("{joint}.qd{axis}"));
                    let most = if formulation == Formulation::Recursive {
                        0.0
                    } else {
                        1e-12
                    };
                    assert!(rate.abs() <= most, "{}, {joint}: {rate:e}", formulation.name());
                }
            }
        }
        println!(
            "{}: momentum changed by {worst:.1e} of the bodies' own (1e-13)",
            formulation.name()
        );
        assert!(worst < 1e-13, "{worst:e}");
        ends.push(
            ["base.r[1]", "base.q[2]", "base.w[3]", "e.r[2]"]
                .map(|name| run.value(name))
                .to_vec(),
        );
    }
    for end in &ends[1..] {
        let off = end
            .iter()
            .zip(&ends[0])
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::larger);
        assert!(off < 1e-9, "{ends:?}");
    }
}

fn place(run: &Run, joint: &str) -> usize {
    let inputs = &run.simulation.plant.model().inputs;
    let name = format!("{joint}.motion");
    inputs
        .iter()
        .position(|known| known.quantity.name == name)
        .expect("a command")
}

/// The brake torque equals the reaction of a fixed joint in its place, with the child at the locked
/// position. At rest at position zero both specs are the same system; each joint is locked in turn,
/// under torques on the others. Tolerance: 1e-10.
#[test]
fn brake_torque_equals_the_reaction_of_a_weld() {
    for formulation in Formulation::ALL {
        for locked in JOINTS {
            let still = |text: String| {
                let lines = text.lines().map(|line| match line.starts_with("start = { rate") {
                    true => "",
                    false => line,
                });
                lines.collect::<Vec<_>>().join("\n") + "\n"
            };
            let mut braked = run_in(
                formulation,
                &still(arm(|joint| match joint == locked {
                    true => "motion = \"locked\"\nmotions = [\"loads\", \"locked\"]\n".to_owned(),
                    false => String::new(),
                })),
            );
            let welded = still(arm(|_| String::new()));
            let (before, joint) = welded.split_once(&format!("[joint.{locked}]\n")).expect("the joint");
            let (joint, after) = joint.split_once("[joint.").unwrap_or((joint, ""));
            let placed: Vec<&str> = joint
                .lines()
                .filter(|line| {
                    ["parent", "child", "origin"]
                        .iter()
                        .any(|field| line.starts_with(field))
                })
                .collect();
            let after = if after.is_empty() {
                String::new()
            } else {
                format!("[joint.{after}")
            };
            let welded = format!(
                "{before}[joint.{locked}]\ntype = \"fixed\"\n{}\n{after}",
                placed.join("\n")
            );
            let mut welded = run_in(formulation, &welded);
            for run in [&mut braked, &mut welded] {
                for joint in JOINTS.into_iter().filter(|&joint| joint != locked) {
                    for (i, axis) in axes(joint).into_iter().enumerate() {
                        run.set(&format!("{joint}.tau{axis}"), 0.7 - 0.5 * i as f64);
                    }
                }
                run.go(0.8);
            }
            let (force, moment) = (
                welded.vector(&format!("{locked}.reaction_force")),
                welded.vector(&format!("{locked}.reaction_moment")),
            );
            let expected = match locked {
                "yaw" => vec![moment.dot(&Vec3::new(0.2, 0.1, 1.0).normalize())],
                "slide" => vec![force.dot(&Vec3::new(1.0, 0.3, 0.0).normalize())],
                "ball" => moment.iter().copied().collect(),
                "cardan" => vec![
                    moment.dot(&Vec3::new(1.0, 0.0, 0.2).normalize()),
                    moment.dot(&Vec3::new(0.0, 1.0, 0.3).normalize()),
                ],
                _ => {
                    let axis = Vec3::new(0.0, 0.4, 1.0).normalize();
                    vec![moment.dot(&axis), force.dot(&axis)]
                }
            };
            for (axis, expected) in axes(locked).into_iter().zip(expected) {
                let found = braked.value(&format!("{locked}.drive{axis}"));
                assert!(
                    (found - expected).abs() < 1e-10,
                    "{}, {locked}{axis}: {found}, not {expected}",
                    formulation.name()
                );
            }
        }
    }
}

/// A joint that is prescribed the acceleration which a torque causes requires that torque, in every
/// formulation, to 1e-11. The accelerations are those of the recursive formulation at the start.
#[test]
fn prescribed_joint_requires_the_torque_of_the_free_motion() {
    let text = arm(|_| "motions = [\"loads\", \"prescribed\"]\n".to_owned());
    let torques: Vec<(String, f64)> = JOINTS
        .into_iter()
        .flat_map(|joint| axes(joint).into_iter().map(move |axis| format!("{joint}.%{axis}")))
        .enumerate()
        .map(|(k, name)| (name, 0.3 - 0.2 * k as f64))
        .collect();
    let mut free = run_in(Formulation::Recursive, &text);
    for (name, torque) in &torques {
        free.set(&name.replace('%', "tau"), *torque);
    }
    free.go(0.0);
    for formulation in Formulation::ALL {
        let mut run = run_in(formulation, &text);
        for (name, _) in &torques {
            run.set(&name.replace('%', "qdd"), free.derivative(&name.replace('%', "qd")));
        }
        JOINTS.iter().for_each(|joint| run.set(&format!("{joint}.motion"), 2.0));
        // The run advances to the event and by a negligible step.
        run.go(1e-14);
        let off = torques
            .iter()
            .map(|(name, torque)| (run.value(&name.replace('%', "drive")) - torque).abs());
        let worst = off.fold(0.0, f64::larger);
        println!("{}: torques off by {worst:.1e} N·m or N (1e-11)", formulation.name());
        assert!(worst < 1e-11, "{}: {worst:e}", formulation.name());
    }
}

/// A prescribed joint with an initial deviation converges to its reference according to its gains:
/// with kp = 4/s² and kd = 5/s as e^(−t) and e^(−4t). Tolerance: 1e-9, the integration error.
#[test]
fn prescribed_joint_tracks_its_reference() {
    for formulation in Formulation::ALL {
        let text = arm(|_| "motion = \"prescribed\"\ntracking = { kp = 4.0, kd = 5.0 }\n".to_owned());
        let mut run = run_in(formulation, &text);
        run.set("yaw.q_ref", 0.5);
        run.set("slide.q_ref", -0.2);
        run.set("screw.q_ref[1]", 0.3);
        for k in 1..=4 {
            let t = 0.5 * f64::from(k);
            run.go(t);
            for (name, q_ref, rate) in [("yaw.q", 0.5, 0.7), ("slide.q", -0.2, 0.2), ("screw.q[1]", 0.3, 0.8)] {
                // e'' + 5 e' + 4 e = 0 with e = q − q_ref.
                let (e_0, v_0): (f64, f64) = (-q_ref, rate);
                let slow = (4.0 * e_0 + v_0) / 3.0;
                let expected = q_ref + slow * (-t).exp() + (e_0 - slow) * (-4.0 * t).exp();
                let found = run.value(name);
                assert!(
                    (found - expected).abs() < 1e-9,
                    "{}, {name}: {found}, {expected}",
                    formulation.name()
                );
            }
        }
        // A spherical joint reaches its reference attitude, the identity.
        run.go(12.0);
        let turned = run.value("ball.q[1]").abs();
        assert!((turned - 1.0).abs() < 1e-8, "{}: {turned}", formulation.name());
    }
}

/// A brake that is closed at the start is released at 0.5 s by a signal inside the model: the joint
/// is at rest before, and accelerated by the torque after.
#[test]
fn signal_releases_a_brake() {
    let text = r#"
name = "brake"
[body.base]
mass = 4.0
inertia = [0.4, 0.5, 0.6]
[body.link]
mass = 1.0
mass_centre = [0.5, 0.0, 0.0]
inertia = [0.1, 0.2, 0.25]
[joint.hinge]
type = "revolute"
parent = "base"
child = "link"
motion = "locked"
motions = ["loads", "locked"]
[signal."hinge.motion"]
type = "step"
offset = 1.0
amplitude = -1.0
from = 0.5
from_importer = false
[signal."hinge.tau"]
type = "constant"
amplitude = 0.3
from_importer = false
"#;
    let mut run = Run::new(text, 1e-10);
    run.go(0.4);
    assert_eq!(run.value("hinge.qd"), 0.0);
    assert!((run.value("hinge.drive") + 0.3).abs() < 1e-15);
    run.go(1.5);
    assert_eq!(run.value("hinge.drive"), 0.0);
    // The hinge is at the base's mass centre; the link's effective mass half a metre from it is the
    // reduced mass m₁m₂/(m₁ + m₂).
    let expected = 0.3 * (1.0 / 0.6 + 1.0 / (0.25 + 4.0 * 1.0 / (4.0 + 1.0) * 0.5 * 0.5));
    let off = (run.value("hinge.qd") - expected).abs();
    println!("after 1 s {expected:.4} rad/s, {off:.1e} off (1e-12)");
    // A constant acceleration is integrated exactly; the time of the signal's step is exact to
    // round-off.
    assert!(off < 1e-12);
    assert!(run.simulation.statistics().events == 1);
}
