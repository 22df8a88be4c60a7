//! Adjoints of feed-forward and tasks.

use super::{TOLERANCE, worst, worst_displaced};
use crate::duals::Point;
use crate::feed_forward::{ARM, WITH_BEAM, base_on_wheels, plans};
use crate::run::Run;
use crate::task::flexible::beams;
use crate::task::impedance::{arm_at_origin, held, touch};
use crate::task::lvlh::keeping;
use crate::task::{DRIVEN, FED, arm, line, reaching, still, wheels};
use grapple::algebra::{Quaternion, Vec3};
use grapple::simulation::State;

const SERVO: &str = "servo = { kp = 60.0, kd = 30.0, feed_forward = \"rigid\" }";
const BEAM: &str = "[body.one.beam]\nlength = 1.0\nmass_per_length = 6.0\npolar_inertia_per_length = 0.1\nEI = 40.0\n\
                    GJ = 30.0\nbending = 2\n";
/// Propellant of a thruster on the body HAND.
const TANK: &str = "[tank.main]\nbody = \"HAND\"\nrigid = { mass = 20.0, inertia = [1.0, 2.0] }\n\
                    [thruster.jet]\nframe = \"tip\"\ndirection = [0.0, 0.6, 0.8]\nthrust = 2.0\nthrottle = \"level\"\n\
                    tank = \"main\"\nspecific_impulse = 300.0\n";

/// Asserts the equality at the start and in displaced states.
fn assert_all(specs: &[(&str, String)]) {
    let mut failed = Vec::new();
    for (name, text) in specs {
        let off = worst_displaced(&mut crate::plant(text), [(1, 0.0), (2, 0.1), (3, 1.0)]);
        println!("{name}: {off:.1e}");
        if off >= TOLERANCE {
            failed.push((*name, off));
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

/// Feed-forward of joints and attitudes, with rigid and flexible bodies, loads, a changing mass, a
/// joint that may be locked, and an ANCF beam in the gripper.
#[test]
fn adjoints_equal_products_with_jacobians_with_feed_forward() {
    let text = |beam: &str, more: &str| ARM.replace("SERVO", SERVO).replace("BEAM", beam) + &plans() + more;
    let locked = format!("motions = [\"loads\", \"locked\"]\n{SERVO}");
    let locked = ARM.replace("SERVO", &locked).replace("BEAM", "") + &plans();
    let base = "[body.base.attitude_servo]\nkp = 50.0\nkd = 80.0\nfeed_forward = \"rigid\"\n";
    let beam = "[ancf_beam.boom]\nlength = 12.0\nelements = 2\nmass_per_length = 0.7\nEA = 1e5\nEI = 2e4\n\
                start = { position = [0.0, 0.0, 0.0] }\n[frame.held]\nbody = \"boom\"\norigin = [5.0, 0.0, 0.0]\n\
                [grasp.hold]\na = \"gripper\"\nb = \"held\"\nstiffness = 1e5\ndamping = 1e3\nangular_stiffness = 1e4\n";
    assert_all(&[
        ("rigid", text("", "")),
        ("flexible", text(BEAM, "")),
        ("attitude", text("", base)),
        ("attitude on wheels in an orbit", text(BEAM, &base_on_wheels(500.0))),
        ("tank", text("", &TANK.replace("HAND", "hand"))),
        ("switched joints", locked),
        ("ANCF beam", format!("{WITH_BEAM}{beam}")),
    ]);
}

/// Tasks of rigid and flexible arms whose joints are driven or have feed-forward, on a floating, a
/// held and a fixed base, with two tasks, references on other bodies and in the LVLH frame, and
/// forces of a contact and a port.
#[test]
fn adjoints_equal_products_with_jacobians_with_tasks() {
    let spinning = |text: String| {
        text.replace(
            "position = [0.3, -0.2, 0.5]",
            "position = [0.3, -0.2, 0.5], angular_velocity = [0.1, 0.2, -0.3]",
        )
    };
    let (r, q) = (
        Vec3::new(0.5, 0.8, 0.4),
        Quaternion::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.7),
    );
    let base = format!(
        "[body.base.attitude_servo]\nkp = 60.0\nkd = 80.0\nfeed_forward = \"rigid\"\nwheels = [\"wheel_x\", \"wheel_y\", \"wheel_z\"]\n{}\
         [body.target]\nmass = 20.0\ninertia = [2.0, 3.0, 4.0]\n\
         start = {{ position = [1.5, 1.0, 1.0], velocity = [0.01, 0.0, -0.02], angular_velocity = [0.02, -0.05, 0.03] }}\n",
        wheels()
    );
    let follows = |actuator: &str| arm(actuator) + &base + &line("target", r, q, Vec3::new(-0.3, 0.2, 0.1));
    let (on_wall, attitude) = arm_at_origin(FED, true);
    let pushed = "[port.push]\nframe = \"tip\"\naxes = \"frame\"\n";
    let yields = reaching(FED, pushed).replace("kp = 2.0", "ports = [\"push\"]\nmass = [30.0, 50.0, 80.0]\nkp = 2.0");
    assert_all(&[
        ("driven", reaching(DRIVEN, "")),
        ("fed", reaching(FED, "")),
        ("flexible, driven", spinning(reaching(DRIVEN, &beams(4e4)))),
        (
            "flexible, fed, tank",
            spinning(reaching(FED, &(beams(4e4) + &TANK.replace("HAND", "link_7")))),
        ),
        (
            "relative to the base",
            arm(FED) + &line("base", r, q, Vec3::new(-0.3, 0.2, 0.1)),
        ),
        ("held base, driven", follows(DRIVEN)),
        ("held base, fed", follows(FED)),
        ("null space", spinning(arm(FED) + &still())),
        ("LVLH", keeping(0.1).0),
        (
            "contact",
            on_wall + &touch("world") + &held("world", Vec3::new(0.01, 0.02, -0.03), attitude),
        ),
        ("port", yields),
    ]);
}

/// A sampled task holds its results between samples.
#[test]
fn adjoints_equal_products_with_jacobians_with_sampled_tasks() {
    let text = reaching(FED, "").replace("kp = 2.0\nkd = 10.0", "kp = 2.0\nkd = 10.0\nsample_time = 0.1");
    let mut run = Run::new(&text, 1e-9);
    run.look();
    run.go(0.73);
    let State { t, x, u, discrete, .. } = run.simulation.state.clone();
    let off = worst(&run.simulation.plant, &Point { t, x, u, discrete });
    println!("{off:.1e}");
    assert!(off < TOLERANCE, "{off:e}");
}
