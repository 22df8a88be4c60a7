//! Static equilibria against closed forms.

use crate::messages;
use crate::run::Run;
use grapple::Error;
use grapple::plant::Model;
use std::path::Path;

const AT_REST: &str = "[assembly]\nequilibrium = true\n";

/// A pendulum of mass m and length l on a spring k that is unloaded in the horizontal position:
/// `k θ = m g l cos θ`.
#[test]
fn pendulum_on_a_spring_is_in_moment_equilibrium() {
    let (m, l, k) = (2.0, 0.8, 9.0);
    let text = format!(
        "name = \"pendulum\"\n[environment]\ngravity = [0.0, -9.81, 0.0]\n[body.rod]\nmass = {m}\nmass_centre = [{l}, 0.0, 0.0]\ninertia = [0.1, 0.2, 0.3]\n\
         [joint.hinge]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"rod\"\nspring = {{ stiffness = {k:?} }}\n{AT_REST}"
    );
    let mut run = Run::new(&text, 1e-10);
    run.look();
    let q = run.value("hinge.q");
    let moment = k * q + m * 9.81 * l * q.cos();
    println!(
        "{q} rad, moment left {moment:.1e} N·m (1e-9), acceleration {:.1e}",
        run.derivative("hinge.qd")
    );
    assert!(q < -0.5 && moment.abs() < 1e-9 && run.value("hinge.qd") == 0.0);
    run.go(5.0);
    assert!((run.value("hinge.q") - q).abs() < 1e-8);
}

/// A constant torque of 1.8 N·m by a signal inside the FMU turns a spring of 9 N·m/rad by 0.2 rad.
#[test]
fn equilibrium_includes_signals_at_the_start() {
    let text = format!(
        "name = \"wound\"\n[body.rod]\nmass = 1.0\ninertia = [0.1, 0.2, 0.3]\n\
         [joint.hinge]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"rod\"\nspring = {{ stiffness = 9.0 }}\n{AT_REST}\
         [signal.\"hinge.tau\"]\ntype = \"constant\"\namplitude = 1.8\nfrom_importer = false\n"
    );
    let mut run = Run::new(&text, 1e-10);
    run.look();
    let off = run.value("hinge.q") - 0.2;
    println!("angle off by {off:.1e} rad (1e-12, round-off)");
    assert!(off.abs() < 1e-12, "{off:e}");
}

/// From a start near the upright position, which is an unstable equilibrium, the hanging one is
/// found.
#[test]
fn unstable_equilibrium_is_not_kept() {
    let text = format!(
        "name = \"pendulum\"\n[environment]\ngravity = [0.0, -9.81, 0.0]\n[body.rod]\nmass = 1.0\nmass_centre = [0.0, 0.5, 0.0]\ninertia = [0.1, 0.1, 0.1]\n\
         [joint.hinge]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"rod\"\nstart = {{ position_deg = 10.0 }}\n{AT_REST}"
    );
    let mut run = Run::new(&text, 1e-10);
    run.look();
    println!("{} rad", run.value("hinge.q"));
    assert!((run.value("hinge.q") - std::f64::consts::PI).abs() < 1e-9);
}

/// The tip of a cantilever deflects by `w L⁴ / 8 E I` under its own weight `w` per length: three
/// modes in the plane give it to 0.1 %.
#[test]
fn cantilever_deflects_under_its_own_weight() {
    let (w, L, EI) = (1.5 * 9.81, 4.0_f64, 3e3);
    let text = format!(
        "name = \"sag\"\n[environment]\ngravity = [0.0, 0.0, -9.81]\n[body.boom.beam]\nlength = {L:?}\nmass_per_length = 1.5\nEI = {EI:?}\n\
         bending_y = 3\nbending_z = 3\nstiffening = false\npolar_inertia_per_length = 0.01\n\
         [joint.root]\ntype = \"fixed\"\nparent = \"world\"\nchild = \"boom\"\n[frame.tip]\nbody = \"boom\"\norigin = [{L:?}, 0.0, 0.0]\n{AT_REST}"
    );
    let mut run = Run::new(&text, 1e-10);
    run.look();
    let (sag, expected) = (-run.value("tip.r[3]"), w * L.powi(4) / (8.0 * EI));
    println!("tip sags by {sag} m, closed form {expected} m");
    assert!((sag / expected - 1.0).abs() < 1e-3);
}

/// A four-bar linkage on a spring stays closed and at rest.
#[test]
fn closed_loop_on_a_spring_is_at_rest() {
    let rod = |name: &str| {
        format!("[body.{name}]\nmass = 1.0\nmass_centre = [0.5, 0.0, 0.0]\ninertia = [0.01, 0.08, 0.08]\n")
    };
    let hinge = |name: &str, parent: &str, child: &str, origin: &str, more: &str| {
        format!(
            "[joint.{name}]\ntype = \"revolute\"\nparent = \"{parent}\"\nchild = \"{child}\"\norigin = {origin}\n{more}\n"
        )
    };
    let text = format!(
        "name = \"linkage\"\n[environment]\ngravity = [0.0, -9.81, 0.0]\n{}{}{}{}{}{}\
         [frame.tip]\nbody = \"rocker\"\norigin = [1.0, 0.0, 0.0]\n[loop.last]\ntype = \"revolute\"\na = \"tip\"\nb = \"world\"\n{AT_REST}",
        rod("crank"),
        rod("coupler"),
        rod("rocker"),
        hinge(
            "first",
            "world",
            "crank",
            "[-1.2, 0.0, 0.0]",
            "start = { position = 1.8 }\nspring = { stiffness = 40.0, rest = 1.7 }"
        ),
        hinge(
            "second",
            "crank",
            "coupler",
            "[1.0, 0.0, 0.0]",
            "start = { position = -1.5 }"
        ),
        hinge(
            "third",
            "coupler",
            "rocker",
            "[1.0, 0.0, 0.0]",
            "start = { position = -1.5 }"
        ),
    );
    let mut run = Run::new(&text, 1e-10);
    run.look();
    let accelerations = ["first", "second", "third"].map(|name| run.derivative(&format!("{name}.qd")).abs());
    println!(
        "accelerations left {accelerations:?}, violation {:.1e} m",
        run.value("last.violation")
    );
    assert!(accelerations.iter().all(|qdd| *qdd < 1e-8) && run.value("last.violation") < 1e-9);
    let start = run.value("first.q");
    run.go(2.0);
    assert!((run.value("first.q") - start).abs() < 1e-7);
}

/// A freely falling body has no equilibrium, which is reported when the spec is read.
#[test]
fn free_fall_has_no_equilibrium() {
    let _section = messages::of_this_test();
    let text = format!(
        "name = \"stone\"\n[environment]\ngravity = [0.0, 0.0, -9.81]\n[body.stone]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n{AT_REST}"
    );
    let Err(Error::Spec(problems)) = Model::read(&text, Path::new(".")) else {
        panic!("it stays");
    };
    assert_eq!(problems[0].at, ["assembly", "equilibrium"]);
    messages::record(&problems[0]);
}

/// A voltage beyond its limit counts with the limit: the torque of the motor is that of the spring.
#[test]
fn equilibrium_limits_the_voltage_of_a_motor() {
    let text = "name = \"held\"\n[body.arm]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n[joint.hinge]\ntype = \"revolute\"\nparent = \"world\"\n\
        child = \"arm\"\nspring = { stiffness = 4.0 }\ndc_motor = { resistance = 1.0, torque_constant = 1.0, voltage_limit = 2.0 }\n\
        [signal.\"hinge.voltage\"]\ntype = \"constant\"\namplitude = 4.0\nfrom_importer = false\n";
    let mut run = Run::new(&format!("{text}{AT_REST}"), 1e-10);
    run.look();
    let q = run.value("hinge.q");
    println!("{q} rad (0.5)");
    assert!((q - 0.5).abs() < 1e-12);
}
