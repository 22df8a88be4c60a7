//! Servos with feed-forward torque of the rigid spacecraft.

use crate::numbers::Larger;
use crate::run::Run;
use grapple::algebra::{Quaternion, Vec3};
use grapple::spec::Formulation;
use std::path::Path;

/// A floating base with an arm of three joints about general axes, with friction, springs, rotors
/// and a load, in orbit.
pub const ARM: &str = r#"
name = "arm"
[environment.orbit]
semi_major_axis = 6.8e6
inclination_deg = 51.6
[body.base]
mass = 60.0
mass_centre = [0.05, -0.02, 0.1]
inertia = [9.0, 11.0, 8.0, 0.4, -0.3, 0.2]
start = { attitude = [0.8, 0.36, -0.48, 0.0], angular_velocity = [0.02, -0.03, 0.01] }
[body.one]
mass = 6.0
mass_centre = [0.5, 0.02, 0.0]
inertia = [0.1, 0.6, 0.7]
BEAM
[body.two]
mass = 5.0
mass_centre = [0.4, 0.0, 0.1]
inertia = [0.1, 0.5, 0.5]
[body.hand]
mass = 3.0
mass_centre = [0.1, 0.05, 0.0]
inertia = [0.05, 0.04, 0.06]
[joint.shoulder]
type = "universal"
parent = "base"
child = "one"
origin = [0.5, 0.0, 0.2]
axis = [0.0, 0.3, 1.0]
start = { position = [0.3, -0.2], rate = [0.05, 0.1] }
damping = [0.5, 0.2]
rotor_inertia = 0.4
SERVO
[joint.elbow]
type = "revolute"
parent = "one"
child = "two"
origin = [1.0, 0.0, 0.0]
axis = [0.2, 1.0, 0.1]
start = { position = -0.7, rate = -0.1 }
friction = { coulomb = 0.6, slip = 0.05 }
spring = { stiffness = 2.0 }
motor = { torque_limit = 500.0, rate_limit = 3.0 }
SERVO
[joint.rail]
type = "prismatic"
parent = "two"
child = "hand"
origin = [0.8, 0.0, 0.0]
axis = [1.0, 0.0, 0.2]
start = { position = 0.1, rate = 0.05 }
SERVO
[frame.tip]
body = "hand"
origin = [0.2, 0.0, 0.0]
[port.push]
frame = "tip"
[solver]
method = "dop853"
"#;

/// Returns sine signals for all joints' references that start at the joints' initial positions and
/// rates.
pub fn plans() -> String {
    let plan = |name: &str, offset: f64, amplitude: f64, frequency: f64| {
        format!(
            "[signal.\"{name}\"]\ntype = \"sine\"\namplitude = {amplitude:?}\nfrequency = {frequency:?}\noffset = {offset:?}\nfrom_importer = false\nwith_rate = true\n"
        )
    };
    let fast = |rate: f64, amplitude: f64| rate / amplitude / std::f64::consts::TAU;
    [
        plan("shoulder.q_ref[1]", 0.3, 0.4, fast(0.05, 0.4)),
        plan("shoulder.q_ref[2]", -0.2, 0.2, fast(0.1, 0.2)),
        plan("elbow.q_ref", -0.7, -0.5, fast(0.1, 0.5)),
        plan("rail.q_ref", 0.1, 0.1, fast(0.05, 0.1)),
    ]
    .concat()
}

fn craft(formulation: Formulation, servo: &str, more: &str) -> grapple::plant::Plant {
    let text = ARM.replace("SERVO", servo).replace("BEAM", "") + &plans() + more;
    crate::plant_in(formulation, &text, Path::new("."))
}

const AXES: [(&str, &str); 4] = [("shoulder", "[1]"), ("shoulder", "[2]"), ("elbow", ""), ("rail", "")];

/// A rigid spacecraft tracks its trajectory by feed-forward, in every formulation, with a free base
/// and with one held by an attitude servo; without feed-forward the servos' errors follow from
/// their gains.
#[test]
fn rigid_spacecraft_tracks_its_trajectory_by_feed_forward() {
    let held = "[body.base.attitude_servo]\nkp = 50.0\nkd = 80.0\n";
    for (base, formulation) in [("floats", ""), ("is held", held)]
        .into_iter()
        .flat_map(|base| Formulation::ALL.map(|formulation| (base, formulation)))
    {
        let off = |servo: &str| {
            let mut run = Run::of(craft(formulation, servo, base.1), 1e-12);
            run.set("push.f[2]", 0.3);
            let mut worst = 0.0f64;
            for k in 1..=20 {
                run.go(0.4 * f64::from(k));
                for (joint, axis) in AXES {
                    worst = worst.larger(run.value(&format!("{joint}.servo_error{axis}")).abs());
                }
            }
            worst
        };
        let fed = off("servo = { kp = 60.0, kd = 30.0, feed_forward = \"rigid\" }");
        let lag = off("servo = { kp = 60.0, kd = 30.0 }");
        println!(
            "{}, the base {}: {fed:.1e} (1e-9), without {lag:.1e}",
            formulation.name(),
            base.0
        );
        assert!(fed < 1e-9 && lag > 1e-3);
    }
}

/// The feed-forward torque is the drive torque of the rigid spacecraft for the same motion,
/// independent of the servos' errors and torques and of the deflection.
#[test]
fn feed_forward_equals_the_drive_torque_of_the_rigid_spacecraft() {
    let servo = "servo = { kp = 60.0, kd = 30.0, feed_forward = \"rigid\" }";
    let beam = "[body.one.beam]\nlength = 1.0\nmass_per_length = 6.0\npolar_inertia_per_length = 0.1\nEI = 40.0\nGJ = 30.0\nbending = 2\n";
    let text = ARM.replace("SERVO", servo).replace("BEAM", beam) + &plans();
    let mut bent = Run::new(&text, 1e-9);
    let driven = ARM
        .replace("SERVO", "motion = \"prescribed\"")
        .replace("BEAM", "")
        .replace("motor = { torque_limit = 500.0, rate_limit = 3.0 }", "");
    let mut rigid = Run::new(&driven, 1e-9);
    bent.set("elbow.tau", 7.0);
    bent.set("push.f[1]", 2.0);
    for (eta, value) in [(1, 0.05), (2, -0.02), (3, 0.03)] {
        bent.set_state(&format!("one.eta[{eta}]"), value);
        bent.set_state(&format!("one.etad[{eta}]"), -value);
    }
    bent.set_state("elbow.q", 0.4);
    bent.set_state("rail.qd", 0.3);
    bent.look();
    rigid.set("push.f[1]", 2.0);
    for (joint, axis) in AXES {
        let name = |field: &str| format!("{joint}.{field}{axis}");
        // The references of `bent` start at the joint positions of `rigid`; the accelerations of
        // their sines are zero at the start.
        assert!((bent.value(&name("q_ref")) - rigid.value(&name("q"))).abs() < 1e-15);
        rigid.set(&name("qdd"), bent.value(&name("qdd_ref")));
    }
    rigid.look();
    let mut worst = 0.0f64;
    for (joint, axis) in AXES {
        let fed = bent.value(&format!("{joint}.feed_forward{axis}"));
        let drive = rigid.value(&format!("{joint}.drive{axis}"));
        worst = worst.larger((fed - drive).abs() / drive.abs());
        let commanded = bent.value(&format!("{joint}.servo_torque{axis}"));
        let error = 60.0 * bent.value(&format!("{joint}.servo_error{axis}"))
            + 30.0 * (bent.value(&format!("{joint}.qd_ref{axis}")) - bent.value(&format!("{joint}.qd{axis}")));
        assert!((commanded - error - fed).abs() < 1e-12 * commanded.abs().max(1.0));
    }
    println!("fed forward against the drive: {worst:.1e} (1e-12)");
    assert!(worst < 1e-12);
}

/// The base's servo with feed-forward, and references by which the base turns about its x axis relative
/// to the LVLH frame, at 0.05 rad/s.
fn turning_base(wheels: &str) -> String {
    let servo = format!(
        "[body.base.attitude_servo]\nkp = 50.0\nkd = 80.0\naxes = \"lvlh\"\nfeed_forward = \"rigid\"\n{wheels}"
    );
    let half = 0.025;
    let sine = |part: usize, phase: f64| {
        format!(
            "[signal.\"base.q_ref[{part}]\"]\ntype = \"sine\"\namplitude = 1.0\nfrequency = {:?}\nphase = {phase:?}\nfrom_importer = false\n",
            half / std::f64::consts::TAU
        )
    };
    format!(
        "{servo}{}{}[input]\n\"base.w_ref[1]\" = {}\n",
        sine(1, std::f64::consts::FRAC_PI_2),
        sine(2, 0.0),
        2.0 * half
    )
}

/// Returns the base's servo with four wheels of this torque limit, N·m.
pub fn base_on_wheels(torque_limit: f64) -> String {
    let wheel = |name: &str, axis: [f64; 3]| {
        format!(
            "[wheel.{name}]\nbody = \"base\"\naxis = {axis:?}\nposition = [0.1, 0.2, -0.1]\nmass = 4.0\ninertia = 0.05\ntorque_limit = {torque_limit:?}\nrate_limit = 1e6\n"
        )
    };
    let wheels = [
        wheel("wa", [1.0, 0.0, 1.0]),
        wheel("wb", [0.0, 1.0, 1.0]),
        wheel("wc", [-1.0, 0.0, 1.0]),
        wheel("wd", [0.0, -1.0, 1.0]),
    ];
    turning_base("wheels = [\"wa\", \"wb\", \"wc\", \"wd\"]\n") + &wheels.concat()
}

/// Returns the spacecraft on an elliptical orbit, with the base parallel to the LVLH axes at the start.
fn on_an_ellipse(formulation: Formulation, base: &str) -> grapple::plant::Plant {
    let free = "start = { attitude = [0.8, 0.36, -0.48, 0.0], angular_velocity = [0.02, -0.03, 0.01] }";
    let start = "start = { axes = \"lvlh\", angular_velocity = [0.05, 0.0, 0.0] }";
    let orbit = "semi_major_axis = 6.8e6\neccentricity = 0.03\ntrue_anomaly_deg = 70.0";
    let servo = "servo = { kp = 60.0, kd = 30.0, feed_forward = \"rigid\" }";
    let text = ARM.replace("SERVO", servo).replace("BEAM", "").replace(free, start);
    let text = text.replace("semi_major_axis = 6.8e6", orbit) + &plans() + base;
    crate::plant_in(formulation, &text, Path::new("."))
}

/// A rigid spacecraft on an elliptical orbit follows its references, those of its base too, which is
/// turned by an ideal moment or by four wheels; without feed-forward of the base it lags.
#[test]
fn base_follows_its_reference_by_feed_forward() {
    let (ideal, on_wheels) = (turning_base(""), base_on_wheels(1e6));
    let bases = Formulation::ALL.map(|formulation| (formulation, &ideal));
    for (formulation, base) in bases.into_iter().chain([(Formulation::Recursive, &on_wheels)]) {
        let off = |base: &str| {
            let mut run = Run::of(on_an_ellipse(formulation, base), 1e-12);
            run.set("push.f[2]", 0.3);
            let mut worst = 0.0f64;
            for k in 1..=20 {
                run.go(2.0 * f64::from(k));
                for (joint, axis) in AXES {
                    worst = worst.larger(run.value(&format!("{joint}.servo_error{axis}")).abs());
                }
                // The attitude in LVLH axes is a turn about x.
                let angle = 0.05 * run.simulation.state.t;
                let q = Quaternion::from_slice(&[1, 2, 3, 4].map(|i| run.value(&format!("base.q_lvlh[{i}]"))));
                let plan = Quaternion::from_axis_angle(Vec3::x(), angle);
                worst = worst.larger(2.0 * (plan.conjugate() * q).vector().norm());
            }
            worst
        };
        let fed = off(base);
        let lag = off(&base.replace("feed_forward = \"rigid\"\n", ""));
        let by = if base.contains("wheel") { "wheels" } else { "a moment" };
        println!(
            "{}, base turned by {by}: {fed:.1e} rad (1e-9), without {lag:.1e}",
            formulation.name()
        );
        assert!(fed < 1e-9 && lag > 1e-3);
    }
}

/// The wheels' torque limits, which the first command exceeds, do not enter the feed-forward.
#[test]
fn limits_of_wheels_do_not_enter_the_feed_forward() {
    let [wide, narrow] = [1e6, 1e-3].map(|limit| {
        let mut run = Run::of(on_an_ellipse(Formulation::Recursive, &base_on_wheels(limit)), 1e-9);
        run.set("push.f[2]", 0.3);
        run.simulation.advance(0.0, &mut Vec::new()).expect("starts");
        run.look();
        (run.vector("base.feed_forward"), run.value("wa.motor_torque").abs())
    });
    println!(
        "feed-forward {:?} N·m with wheels that exert {:.3} and {:.3} N·m",
        narrow.0, wide.1, narrow.1
    );
    assert!(wide.1 > 2e-3 && narrow.1 <= 1e-3);
    assert!((wide.0 - narrow.0).norm() < 1e-12 * wide.0.norm());
}

/// Base and joints in states on their references have the references' accelerations.
#[test]
fn states_on_their_references_have_the_references_accelerations() {
    let servo = "servo = { kp = 60.0, kd = 30.0, feed_forward = \"rigid\" }";
    let base = "[body.base.attitude_servo]\nkp = 50.0\nkd = 80.0\nfeed_forward = \"rigid\"\n";
    let mut run = Run::of(craft(Formulation::Recursive, servo, base), 1e-9);
    run.look();
    let attitude = run.attitude("base");
    for (i, q) in [attitude.w, attitude.x, attitude.y, attitude.z].into_iter().enumerate() {
        run.set(&format!("base.q_ref[{}]", i + 1), q);
    }
    let wd = [0.3, -0.2, 0.5];
    for i in 0..3 {
        let w = run.value(&format!("base.w[{}]", i + 1));
        run.set(&format!("base.w_ref[{}]", i + 1), w);
        run.set(&format!("base.wd_ref[{}]", i + 1), wd[i]);
    }
    run.look();
    let mut worst = 0.0f64;
    for i in 0..3 {
        worst = worst.larger((run.derivative(&format!("base.w[{}]", i + 1)) - wd[i]).abs());
        let [torque, fed] = ["servo_torque", "feed_forward"].map(|of| run.vector(&format!("base.{of}")));
        worst = worst.larger((torque - fed).amax());
    }
    for (joint, axis) in AXES {
        let off = run.derivative(&format!("{joint}.qd{axis}")) - run.value(&format!("{joint}.qdd_ref{axis}"));
        worst = worst.larger(off.abs());
    }
    println!("accelerations off their references: {worst:.1e} (1e-12)");
    assert!(worst < 1e-12);
}

/// The feed-forward torque is zero for a joint whose servo is off or whose brake is closed.
#[test]
fn feed_forward_of_a_locked_joint_is_zero() {
    let servo = "motions = [\"loads\", \"locked\"]\nservo = { kp = 60.0, kd = 30.0, feed_forward = \"rigid\" }";
    let mut run = Run::of(craft(Formulation::Recursive, servo, ""), 1e-9);
    run.go(1.0);
    let all = |run: &Run| AXES.map(|(joint, axis)| run.value(&format!("{joint}.feed_forward{axis}")));
    assert!(all(&run).iter().all(|fed| *fed != 0.0));
    run.set("elbow.motion", 1.0);
    run.set("rail.servo", 0.0);
    run.go(1.1);
    let [one, two, elbow, rail] = all(&run);
    assert!(one != 0.0 && two != 0.0);
    assert_eq!((elbow, rail), (0.0, 0.0));
    run.set("elbow.motion", 0.0);
    run.set("rail.servo", 1.0);
    run.go(1.2);
    assert!(all(&run).iter().all(|fed| *fed != 0.0));
}

/// An arm of two joints on a floating base in orbit, whose gripper holds a beam of 12 m.
pub const WITH_BEAM: &str = r#"
name = "holder"
[environment.orbit]
semi_major_axis = 6.8e6
[body.base]
mass = 60.0
mass_centre = [0.05, -0.02, 0.1]
inertia = [9.0, 11.0, 8.0]
start = { angular_velocity = [0.02, -0.03, 0.01] }
[body.one]
mass = 6.0
mass_centre = [0.5, 0.02, 0.0]
inertia = [0.1, 0.6, 0.7]
[body.two]
mass = 5.0
mass_centre = [0.4, 0.0, 0.1]
inertia = [0.1, 0.5, 0.5]
[joint.shoulder]
type = "revolute"
parent = "base"
child = "one"
origin = [0.5, 0.0, 0.2]
axis = [0.0, 0.3, 1.0]
start = { position = 0.3 }
servo = { kp = 60.0, kd = 30.0, feed_forward = "rigid" }
[joint.elbow]
type = "revolute"
parent = "one"
child = "two"
origin = [1.0, 0.0, 0.0]
axis = [0.2, 1.0, 0.1]
start = { position = -0.7 }
servo = { kp = 60.0, kd = 30.0, feed_forward = "rigid" }
[frame.gripper]
body = "two"
origin = [0.8, 0.1, -0.05]
rpy_deg = [20.0, -30.0, 40.0]
[signal."shoulder.q_ref"]
type = "quintic"
amplitude = 0.8
offset = 0.3
from = 0.0
until = 4.0
from_importer = false
with_rate = true
[signal."elbow.q_ref"]
type = "sine"
amplitude = 0.3
frequency = 0.2
offset = -0.7
from_importer = false
with_rate = true
[solver]
method = "dop853"
"#;

/// The feed-forward torque with an ANCF beam in the gripper, grasped at its root, at its tip or
/// between, is that with a rigid rod on a fixed joint.
#[test]
fn feed_forward_includes_an_ancf_beam_in_the_gripper() {
    // The elbow's rate of the start, 0.3 · 2π · 0.2 rad/s.
    let rate = 0.12 * std::f64::consts::PI;
    let text = WITH_BEAM.replace(
        "start = { position = -0.7 }",
        &format!("start = {{ position = -0.7, rate = {rate} }}"),
    );
    for (what, grasped) in [("root", 0.0), ("middle", 5.0), ("tip", 12.0)] {
        let beam = format!(
            "[ancf_beam.boom]\nlength = 12.0\nelements = 3\nmass_per_length = 0.7\nEA = 1e5\nEI = 2e4\n\
             start = {{ position = [0.0, 0.0, 0.0] }}\n[frame.held]\nbody = \"boom\"\norigin = [{grasped}, 0.0, 0.0]\n\
             [grasp.hold]\na = \"gripper\"\nb = \"held\"\nstiffness = 1e5\ndamping = 1e3\nangular_stiffness = 1e4\n"
        );
        let (m, across) = (12.0 * 0.7, 12.0 * 0.7 * 144.0 / 12.0);
        let rod = format!(
            "[body.rod]\nmass = {m}\nmass_centre = [{}, 0.0, 0.0]\ninertia = [1e-12, {across}, {across}]\n\
             [joint.weld]\ntype = \"fixed\"\nparent = \"two\"\nchild = \"rod\"\norigin = [0.8, 0.1, -0.05]\n\
             rpy_deg = [20.0, -30.0, 40.0]\n",
            6.0 - grasped
        );
        for formulation in [Formulation::Recursive, Formulation::Quaternion, Formulation::Natural] {
            let torques = |more: &str| {
                let mut run = Run::of(
                    crate::plant_in(formulation, &format!("{text}{more}"), Path::new(".")),
                    1e-9,
                );
                run.look();
                ["shoulder", "elbow"].map(|joint| run.value(&format!("{joint}.feed_forward")))
            };
            let (found, expected) = (torques(&beam), torques(&rod));
            let off = (0..2).map(|k| (found[k] - expected[k]).abs() / expected[k].abs());
            let off = off.fold(0.0, f64::larger);
            println!(
                "{what}, {}: {expected:?} N·m, {off:.1e} off (1e-10)",
                formulation.name()
            );
            // Gravity to second order about one mass centre instead of two: the third order is 1e-6
            // of the gravity gradient, which is 1e-4 of the torques.
            assert!(off < 1e-10 && expected.iter().all(|torque| torque.abs() > 1e-2));
        }
    }
}
