//! `linearize`, as a user types it.

use crate::desk::Desk;
use crate::long::long;
use crate::messages;
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
fn frequency_and_damping_of_a_hinge_with_a_spring_are_exact() {
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
fn inputs_and_outputs_are_selected_by_name_and_unknown_ones_get_a_hint() {
    let _section = messages::of_this_test();
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
        assert!(outcome.errors.contains(&format!("\"{hint}\"")), "{}", outcome.errors);
        outcome.record();
    }
}

#[test]
fn linearisation_uses_the_state_of_the_run_at_that_time() {
    let desk = Desk::with_example("two_link");
    let out = desk.succeed(&["linearize", "two_link.toml", "--at", "1.25"]);
    assert!(out.contains("two_link at 1.25 s"), "{out}");
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

/// Two bodies joined by a grasp are one spacecraft, with six double zero eigenvalues.
#[test]
fn grasped_bodies_have_six_double_zeros() {
    let desk = Desk::new();
    desk.write("pair.toml", PAIR);
    let out = desk.succeed(&["linearize", "pair.toml"]);
    assert!(out.contains("12 zero eigenvalues"), "{out}");
    // The zeros are motions of both bodies together, so no row or column is empty.
    let note = "of the eigenvalues are zero to round-off only: a mode slower than about";
    assert!(out.contains(note), "{out}");
    let linear = json(&desk, "pair_linear/linear.json");
    assert_eq!(linear["zero_eigenvalues"].as_u64(), Some(12));
    let modes = linear["modes"].as_array().expect("a list");
    assert_eq!(modes.len(), 6, "{out}");
    assert!(modes.iter().all(|mode| mode["stability"] == "stable"), "{out}");
}

/// While docked, two spacecraft float as one: six zero eigenvalues (a servo controls the attitude),
/// and six constraint rows that are stabilised with two gains each.
#[test]
fn captured_spacecraft_has_six_zeros_and_separate_stabilisation_modes() {
    let desk = Desk::with_example("docking");
    let out = desk.succeed(&["linearize", "docking.toml", "--at", "8"]);
    let linear = json(&desk, "docking_linear/linear.json");
    assert_eq!(linear["zero_eigenvalues"].as_u64(), Some(6), "{out}");
    assert_eq!(eigenvalues(&linear, true), 12, "{out}");
    for mode in linear["modes"].as_array().expect("a list") {
        assert_eq!(mode["stability"], "stable", "{out}");
        if mode["closes_gaps"] == true {
            // The double root of (s + 10)², changed a little by the motion of 0.02 rad/s.
            let hertz = mode["frequency"].as_f64().expect("a number");
            assert!((hertz * std::f64::consts::TAU - 10.0).abs() < 0.04, "{hertz}");
        }
    }
    assert!(out.contains("constraint stabilisation"), "{out}");
}

/// Returns the number of nonzero eigenvalues that belong to the constraint stabilisation (if
/// `closes_gaps`), or of those that do not.
fn eigenvalues(linear: &Value, closes_gaps: bool) -> usize {
    let modes = linear["modes"].as_array().expect("a list").iter();
    let of = |mode: &Value| if mode["eigenvalue"][1] == 0.0 { 1 } else { 2 };
    modes.filter(|mode| mode["closes_gaps"] == closes_gaps).map(of).sum()
}

/// The loop leaves a mobility of one to five joints: two eigenvalues are the mechanism's, and each
/// of the four independent constraints is stabilised with two gains.
#[test]
fn stabilisation_modes_of_a_loop_are_separate() {
    let desk = Desk::with_example("bricard");
    let out = desk.succeed(&["linearize", "bricard.toml"]);
    let linear = json(&desk, "bricard_linear/linear.json");
    assert_eq!(
        (eigenvalues(&linear, false), eigenvalues(&linear, true)),
        (2, 8),
        "{out}"
    );
}

/// In maximal coordinates, with thirteen states for each body, a spacecraft has the modes that it
/// has in joint coordinates, and in addition those of its constraint stabilisation.
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
        // Round-off of the larger system, with a stiffness of 1e4 1/s² next to its constraints.
        assert!((a - b).abs() < 1e-10 * a, "{a} {b}");
    }
}

/// Returns the number of zero eigenvalues and the frequencies (Hz) of a spec's modes. Asserts that
/// zero and nonzero eigenvalues add up to the number of coordinates.
fn zeros_and_frequencies(spec: &str) -> (u64, Vec<f64>) {
    let desk = Desk::new();
    desk.write("spec.toml", spec);
    let out = desk.succeed(&["linearize", "spec.toml", "-o", "linear.json"]);
    let linear = json(&desk, "linear.json");
    let zeros = linear["zero_eigenvalues"].as_u64().expect("a count");
    let modes = linear["modes"].as_array().expect("a list");
    let finite = eigenvalues(&linear, true) + eigenvalues(&linear, false);
    let coordinates = linear["coordinates"].as_array().expect("a list").len();
    assert_eq!(zeros as usize + finite, coordinates, "{out}");
    let hertz = modes.iter().map(|mode| mode["frequency"].as_f64().expect("a number"));
    (zeros, hertz.collect())
}

/// Slender rods of steel, 5 m long, have slow bending modes next to axial and shear modes up to 2e6
/// times as fast. Their first frequencies are those of the Euler–Bernoulli beam, up to the
/// element's discretisation error, shear and rotary inertia.
#[test]
fn slender_rods_keep_their_bending_modes_and_their_rigid_body_zeros() {
    let (length, E, G, density) = (5.0_f64, 2e11, 7.7e10, 7850.0);
    let mut worst = 0.0_f64;
    for clamped in [true, false] {
        let cases = [1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05_f64]
            .into_iter()
            .flat_map(|d| [8, 16, 32].map(|n| (d, n)));
        for (d, n) in cases {
            if !(long() || n == 8 || n == 16 && (d == 1e-3 || d == 0.05)) {
                continue;
            }
            let (area, I) = (
                d * d * std::f64::consts::FRAC_PI_4,
                std::f64::consts::PI * d.powi(4) / 64.0,
            );
            let mut spec = format!(
                "name = \"rod\"\n[body.boom.geometrically_exact_beam]\nlength = {length:?}\nelements = {n}\nmass_per_length = {:?}\n\
                 polar_inertia_per_length = {:?}\nEA = {:?}\nGA = {:?}\nGJ = {:?}\nEI = {:?}\n",
                density * area,
                2.0 * density * I,
                E * area,
                0.9 * G * area,
                2.0 * G * I,
                E * I
            );
            if clamped {
                spec += "[joint.root]\ntype = \"fixed\"\nparent = \"world\"\nchild = \"boom\"\n";
            }
            let (zeros, hertz) = zeros_and_frequencies(&spec);
            let case = format!("{} mm, {n} elements, clamped: {clamped}", 1e3 * d);
            assert_eq!(zeros, if clamped { 0 } else { 12 }, "{case}");
            let beta = if clamped { 1.875_104_068_7_f64 } else { 4.730_040_744_9 };
            let exact = (beta / length).powi(2) * (E * I / (density * area)).sqrt() / std::f64::consts::TAU;
            // Discretisation error: for the free beam that of docs/geometrically-exact-beams.md,
            // for the clamped one of second order in 1/n.
            let elements = f64::from(n);
            let own = if clamped {
                0.23 / elements.powi(2)
            } else {
                -(beta / elements).powi(4) / 1440.0
            };
            let thick = (beta * d / (4.0 * length)).powi(2) * (1.0 + E / (0.9 * G));
            // Both planes have the same frequency, and there is no slower mode.
            for hertz in &hertz[..2] {
                let off = hertz / exact - 1.0 - own;
                assert!(
                    off.abs() < 0.1 * own.abs() + thick + 4e-5,
                    "{case}: {hertz} Hz, off by {off:e}"
                );
                worst = worst.max(off.abs() - 0.1 * own.abs() - thick);
            }
            assert!(hertz[2] > 2.5 * hertz[1], "{case}: {hertz:?}");
        }
    }
    println!("but for the element, shear and rotary inertia, off by {worst:.1e} at most");
}

/// Two links with mass centres at their hinges, one on the other or both on the world: one hinge is
/// 1e8 times as fast as the other.
#[test]
fn soft_pendulum_keeps_its_mode_next_to_a_stiff_one() {
    let link = |name: &str, parent: &str, stiffness: f64| {
        format!(
            "[body.{name}]\nmass = 1.0\ninertia = [2.0, 2.0, 2.0]\n[joint.{name}_hinge]\ntype = \"revolute\"\nparent = \"{parent}\"\n\
             child = \"{name}\"\nspring = {{ stiffness = {stiffness:?} }}\n"
        )
    };
    let (soft, stiff) = (2e-6, 2e10_f64);
    // [[J₁ + J₂, J₂], [J₂, J₂]] with J = 2 kg·m²: in slow motions the fast hinge acts as rigid, in
    // fast ones the slow hinge as free.
    let cases = [
        ("beside each other", "world", [soft, stiff], [1e-3, 1e5]),
        (
            "the stiff hinge on the soft one",
            "first",
            [soft, stiff],
            [1e-3 / 2f64.sqrt(), 1e5 * 2f64.sqrt()],
        ),
        ("the soft hinge on the stiff one", "first", [stiff, soft], [1e-3, 1e5]),
    ];
    for (case, parent, [first, second], exact) in cases {
        let spec = "name = \"pair\"\n".to_owned() + &link("first", "world", first) + &link("second", parent, second);
        let (zeros, hertz) = zeros_and_frequencies(&spec);
        assert_eq!((zeros, hertz.len()), (0, 2), "{case}");
        for (hertz, exact) in hertz.iter().zip(exact) {
            let off = hertz * std::f64::consts::TAU / exact - 1.0;
            // Round-off of the eigenvalue solver next to 1e5 rad/s.
            assert!(off.abs() < 1e-9, "{case}: {hertz} Hz, off by {off:e}");
        }
    }
}

/// A truss of 100 m along the radius, attached to a hub, both at rest and unstressed in a circular
/// orbit of rate n. By the gravity gradient of 2n² along and −n² across the radius, position and
/// attitude have the eigenvalues ±√2 n and, four times, ±i n. Only the rotation of the hub about
/// the truss has zero eigenvalues, since an ANCF beam has no stiffness in torsion.
#[test]
fn slow_modes_of_an_orbit_are_kept_next_to_a_stiff_beam() {
    let spec = r#"
name = "radial_truss"
[environment.orbit]
semi_major_axis = 7136636.0
[body.hub]
mass = 60.0
inertia = [20.0, 20.0, 20.0]
[frame.gripper]
body = "hub"
[ancf_beam.truss]
length = 100.0
elements = 2
mass_per_length = 30.0
EA = 6.9e9
EI = 9.545e7
[grasp.hold]
a = "gripper"
b = "truss"
stiffness = 1e6
damping = 1e4
angular_stiffness = 2e7
angular_damping = 2e4
"#;
    let desk = Desk::new();
    desk.write("radial_truss.toml", spec);
    desk.succeed(&["linearize", "radial_truss.toml", "-o", "linear.json"]);
    let linear = json(&desk, "linear.json");
    assert_eq!(linear["zero_eigenvalues"].as_u64(), Some(2));
    let rate = (3.986_004_418e14_f64 / 7_136_636f64.powi(3)).sqrt();
    let slowest = &linear["modes"].as_array().expect("a list")[..6];
    let factors = [1.0, 1.0, 1.0, 1.0, 2f64.sqrt(), 2f64.sqrt()];
    for (mode, factor) in slowest.iter().zip(factors) {
        let hertz = mode["frequency"].as_f64().expect("a number");
        let off = hertz * std::f64::consts::TAU / (factor * rate) - 1.0;
        let round_off = mode["round_off"].as_f64().expect("a number");
        println!("{hertz} Hz, off by {off:e}, reported {round_off:e}");
        // The gradient changes by 3·100/7.1e6 along the truss. The factor 3 allows for the
        // difference between samples of round-off.
        assert!(round_off < 3e-4 && off.abs() < 4.2e-5 + 3.0 * round_off);
    }
}
