//! `linearize`, as a user types it.

use crate::desk::Desk;
use serde_json::Value;

const FLOATING: &str = r#"
name = "floating"
[body.base]
mass = 3.0
inertia = [1.0, 2.0, 2.5]
start = { velocity = [0.1, 0.0, 0.0] }
"#;

const SPRUNG: &str = r#"
name = "sprung"
[environment]
gravity = [0.0, 0.0, 0.0]
[body.bob]
mass = 1.0
mass_centre = [2.0, 0.0, 0.0]
inertia = [0.1, 0.1, 0.1]
[joint.hinge]
type = "revolute"
parent = "world"
child = "bob"
axis = [0.0, 0.0, 1.0]
damping = 0.41
spring = { stiffness = 16.4 }
[port.push]
frame = "bob"
"#;

const PAIR: &str = r#"
name = "pair"
[body.a]
mass = 3.0
inertia = [1.0, 2.0, 2.5]
[body.b]
mass = 5.0
inertia = [1.5, 2.0, 1.0]
start = { position = [2.0, 0.3, -0.4] }
[frame.hand]
body = "a"
origin = [1.0, 0.1, -0.2]
[frame.handle]
body = "b"
origin = [-1.0, -0.2, 0.2]
[grasp.hold]
a = "hand"
b = "handle"
stiffness = 300.0
damping = 3.0
angular_stiffness = 40.0
angular_damping = 0.4
"#;

fn json(desk: &Desk, file: &str) -> Value {
    serde_json::from_str(&desk.text(file)).expect("JSON")
}

#[test]
fn a_floating_rigid_body_has_six_double_zeros() {
    let desk = Desk::new();
    desk.write("floating.toml", FLOATING);
    let out = desk.succeed(&["linearize", "floating.toml"]);
    assert!(out.contains("12 zero eigenvalues"), "{out}");
    let linear = json(&desk, "floating_linear/linear.json");
    assert_eq!(
        (linear["zero_eigenvalues"].as_u64(), &linear["modes"]),
        (Some(12), &Value::Array(vec![]))
    );
    assert_eq!(linear["coordinates"][0]["name"], "base.theta[1]");
}

/// `J q̈ = −k q − d q̇` with `J = 0.1 + 1·2²`: 2 rad/s, damping ratio `d/(2 J ω) = 0.025`.
#[test]
fn frequency_and_damping_are_those_of_a_sprung_hinge() {
    let desk = Desk::new();
    desk.write("sprung.toml", SPRUNG);
    let out = desk.succeed(&["linearize", "sprung.toml", "-o", "out"]);
    assert!(out.contains("stable") && out.contains("hinge.q 100 %"), "{out}");
    let mode = &json(&desk, "out/linear.json")["modes"][0];
    let number = |field: &str| mode[field].as_f64().expect("a number");
    assert!((number("frequency") - 2.0 / std::f64::consts::TAU).abs() < 1e-14);
    assert!((number("damping_ratio") - 0.025).abs() < 1e-14);
    assert!(
        desk.text("out/A.csv")
            .starts_with("A,hinge.q [rad],hinge.qd [rad/s]\nhinge.q [rad],0.0,1.0\n")
    );
    assert!(desk.text("out/B.csv").starts_with("B,hinge.tau [N.m],push.f[1] [N]"));
}

#[test]
fn inputs_and_outputs_are_chosen_by_name_and_unknown_ones_have_neighbours() {
    let desk = Desk::new();
    desk.write("sprung.toml", SPRUNG);
    let chosen = [
        "--inputs",
        "push.f",
        "--outputs",
        "hinge.q,system.energy",
        "-o",
        "some.json",
    ];
    desk.succeed(&[&["linearize", "sprung.toml"][..], &chosen].concat());
    let some = json(&desk, "some.json");
    let names = |what: &str| -> Vec<&str> {
        some[what]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|q| q["name"].as_str())
            .collect()
    };
    assert_eq!(names("inputs"), ["push.f[1]", "push.f[2]", "push.f[3]"]);
    assert_eq!(names("outputs"), ["hinge.q", "system.energy"]);
    assert_eq!(some["C"][0], serde_json::json!([1.0, 0.0]));
    for (option, name, hint) in [
        ("--inputs", "hinge.tao", "hinge.tau"),
        ("--outputs", "hinge.qq", "hinge.q"),
    ] {
        let outcome = desk.run(&["linearize", "sprung.toml", option, name]);
        assert_eq!(outcome.code, Some(1));
        assert!(
            outcome.errors.contains(&format!("did you mean \"{hint}\"?")),
            "{}",
            outcome.errors
        );
    }
}

#[test]
fn a_motion_is_linearised_where_the_run_is_at_that_time() {
    let desk = Desk::with_example("two_link");
    let out = desk.succeed(&["linearize", "two_link.toml", "--at", "1.25"]);
    assert!(
        out.contains("two_link at 1.25 s") && out.contains("not an equilibrium"),
        "{out}"
    );
    desk.succeed(&["simulate", "two_link.toml", "--stop-time", "1.25"]);
    let linear = json(&desk, "two_link_linear/linear.json");
    let (csv, states) = (desk.text("two_link.csv"), linear["states"].as_array().expect("a list"));
    let titles: Vec<&str> = csv.lines().next().unwrap_or_default().split(',').collect();
    let last: Vec<&str> = csv.lines().last().unwrap_or_default().split(',').collect();
    for (i, state) in states.iter().enumerate() {
        let name = state["name"].as_str().expect("a name");
        let column = titles
            .iter()
            .position(|title| title.split(' ').next() == Some(name))
            .expect("a column");
        let (there, here) = (
            last[column].parse::<f64>().expect("a number"),
            linear["x"][i].as_f64().expect("a number"),
        );
        assert!((there - here).abs() < 1e-7, "{name}: {there} {here}");
    }
}

/// Two bodies that a grasp holds together: one craft, six double zeros.
#[test]
fn what_a_grasp_holds_together_floats_as_one() {
    let desk = Desk::new();
    desk.write("pair.toml", PAIR);
    let out = desk.succeed(&["linearize", "pair.toml"]);
    assert!(out.contains("12 zero eigenvalues"), "{out}");
    let linear = json(&desk, "pair_linear/linear.json");
    assert_eq!(linear["zero_eigenvalues"].as_u64(), Some(12));
    let modes = linear["modes"].as_array().expect("a list");
    assert_eq!(modes.len(), 6, "{out}");
    assert!(modes.iter().all(|mode| mode["stability"] == "stable"), "{out}");
}

/// While docked, two craft float as one: six zeros, and six rows that are held with two gains each. (The attitude is held by the servo.)
#[test]
fn a_captured_craft_has_its_zeros_and_its_gains_are_told_apart() {
    let desk = Desk::with_example("docking");
    let out = desk.succeed(&["linearize", "docking.toml", "--at", "8"]);
    let linear = json(&desk, "docking_linear/linear.json");
    assert_eq!(linear["zero_eigenvalues"].as_u64(), Some(6), "{out}");
    let mut of_gains = 0;
    for mode in linear["modes"].as_array().expect("a list") {
        assert_eq!(mode["stability"], "stable", "{out}");
        if mode["closes_gaps"] == true {
            of_gains += if mode["eigenvalue"][1] == 0.0 { 1 } else { 2 };
            // The double root of (s + 10)², in a motion of 0.02 rad/s.
            let hertz = mode["frequency"].as_f64().expect("a number");
            assert!((hertz * std::f64::consts::TAU - 10.0).abs() < 0.04, "{hertz}");
        }
    }
    assert_eq!(of_gains, 12, "{out}");
    assert!(out.contains("closes gaps"), "{out}");
}

/// A chain of bodies with thirteen states each has the modes of the same craft in joint coordinates, and those of its constraints.
#[test]
fn both_formulations_have_the_same_zeros_and_modes() {
    let modes = |name: &str| {
        let desk = Desk::with_example(name);
        desk.succeed(&["linearize", &format!("{name}.toml"), "-o", "linear.json"]);
        let linear = json(&desk, "linear.json");
        let modes = linear["modes"].as_array().expect("a list").iter();
        let own = modes.filter(|mode| mode["closes_gaps"] == false);
        let own: Vec<f64> = own.map(|mode| mode["frequency"].as_f64().expect("a number")).collect();
        (linear["zero_eigenvalues"].as_u64(), own)
    };
    let ((zeros, joints), (of_bodies, bodies)) = (modes("klak_2020"), modes("klak_2020_quaternion"));
    assert_eq!((zeros, of_bodies), (Some(16), Some(16)));
    assert_eq!(joints.len(), bodies.len(), "{joints:?} {bodies:?}");
    for (a, b) in joints.iter().zip(&bodies) {
        println!("{a} Hz, off by {:e}", a - b);
        // Round-off of the larger system, for stiffness of 1e4 1/s² beside its constraints.
        assert!((a - b).abs() < 1e-10 * a, "{a} {b}");
    }
}
