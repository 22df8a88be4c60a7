//! Elastic interfaces: a system in two parts, each with the other's variables at its inputs.

use crate::numbers::Larger;
use crate::run::Run;
use grapple::plant::Model;
use grapple::spec::Formulation;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;

const GAINS: &str = "stiffness = [40.0, 60.0, 50.0]\ndamping = [2.0, 3.0, 4.0]\n\
                     angular_stiffness = [5.0, 7.0, 6.0]\nangular_damping = 0.8\n";

/// Bodies of the part with the carrier: a hub with an arm, and a frame at its tip.
const ARM: &str = "[body.hub]\nmass = 2.0\nmass_centre = [0.1, 0.0, 0.05]\ninertia = [0.3, 0.5, 0.7]\n\
     [body.arm]\nmass = 1.0\nmass_centre = [0.4, 0.0, 0.1]\ninertia = [0.1, 0.2, 0.25]\n\
     [joint.hinge]\ntype = \"revolute\"\nparent = \"hub\"\nchild = \"arm\"\norigin = [0.3, 0.1, 0.0]\naxis = [0.0, 1.0, 0.2]\n\
     [frame.tip]\nbody = \"arm\"\norigin = [0.6, 0.1, 0.0]\nrpy_deg = [10.0, -30.0, 50.0]\n";

/// Bodies of the other part.
const ROCK: &str = "[body.rock]\nmass = 4.0\nmass_centre = [0.0, 0.1, 0.0]\ninertia = [1.0, 1.2, 1.4]\n\
     [frame.hook]\nbody = \"rock\"\norigin = [-0.3, 0.2, 0.1]\nrpy_deg = [-20.0, 15.0, 5.0]\n";

fn whole() -> String {
    format!("name = \"whole\"\n{ARM}{ROCK}[grasp.mount]\na = \"tip\"\nb = \"hook\"\n{GAINS}")
}

fn carrier() -> String {
    format!("name = \"carrier\"\n{ARM}[port.mount]\nframe = \"tip\"\naxes = \"frame\"\n")
}

fn carried(more: &str) -> String {
    format!("name = \"carried\"\n{ROCK}[interface.mount]\nframe = \"hook\"\n{GAINS}{more}")
}

/// Derivatives of load, power and outputs with respect to states and inputs, in displaced states:
/// of a frame on a rigid body and of one on a flexible body.
#[test]
fn adjoints_equal_products_with_jacobians_for_ports_and_interfaces() {
    let boom = "[body.boom.beam]\nlength = 3.0\nmass_per_length = 1.5\npolar_inertia_per_length = 0.02\n\
                EI_y = 900.0\nEI_z = 700.0\nGJ = 300.0\nbending_y = 2\nbending_z = 1\ntorsion = 1\n\
                [joint.root]\ntype = \"fixed\"\nparent = \"rock\"\nchild = \"boom\"\n\
                [frame.tip]\nbody = \"boom\"\norigin = [3.0, 0.0, 0.0]\nrpy_deg = [30.0, 10.0, -20.0]\n\
                [port.push]\nframe = \"tip\"\naxes = \"frame\"\n[port.pull]\nframe = \"hook\"\n\
                [interface.fixture]\nframe = \"tip\"\nstiffness = 20.0\ndamping = 3.0\nposition = [2.9, 0.2, -0.1]\n";
    let turned = "attitude = [0.36, -0.48, 0.64, 0.48]\nposition = [0.2, -0.1, 0.3]\n";
    for text in [carried(""), carried(turned), format!("{}{boom}", carried(turned))] {
        let off = crate::adjoint::worst_displaced(&mut crate::plant(&text), [(1, 0.0), (2, 0.1), (3, 1.0)]);
        println!("{off:.1e}");
        assert!(off < 1e-12, "{off:e}");
    }
}

/// Copies states or outputs of one run to the inputs of another.
fn pass(from: &Run, names: [&str; 2], to: &mut Run, fields: &[(&str, usize)]) {
    for (field, n) in fields {
        for i in 1..=*n {
            let [source, input] = names.map(|name| format!("{name}.{field}[{i}]"));
            to.set(&input, from.value(&source));
        }
    }
}

const MOTION: [(&str, usize); 4] = [("r", 3), ("q", 4), ("v", 3), ("w", 3)];
const WRENCH: [(&str, usize); 2] = [("f", 3), ("t", 3)];

/// At random states the accelerations of two parts that exchange motion and wrench are those of the
/// whole with a grasp.
#[test]
fn two_parts_have_the_accelerations_of_the_whole_in_every_formulation() {
    let mut random = ChaCha8Rng::seed_from_u64(31);
    for formulation in Formulation::ALL {
        let run = |text: &str| Run::of(crate::plant_in(formulation, text, Path::new(".")), 1e-9);
        let mut whole = run(&whole());
        let mut parts = [run(&carrier()), run(&carried(""))];
        let (mut off, mut largest) = (0.0f64, 0.0f64);
        for _ in 0..20 {
            let names: Vec<String> = whole.model().states.iter().map(|state| state.name.clone()).collect();
            // Constraints of maximal coordinates may be violated, by equal values in the parts.
            let mut values: Vec<f64> = names.iter().map(|_| random.random_range(-1.0..1.0)).collect();
            for (name, value) in names.iter().zip(&mut values) {
                *value += if name.ends_with(".q[1]") { 3.0 } else { 0.0 };
            }
            let mut places = Vec::new();
            for (name, &value) in names.iter().zip(&values).filter(|(name, _)| *name != "system.work") {
                let side = usize::from(name.starts_with("rock"));
                places.push((side, name));
                whole.set_state(name, value);
                parts[side].set_state(name, value);
            }
            let [carrier, carried] = &mut parts;
            carrier.look();
            pass(carrier, ["tip", "mount"], carried, &MOTION);
            carried.look();
            pass(carried, ["mount", "mount"], carrier, &WRENCH);
            carrier.look();
            whole.look();
            for (side, name) in places {
                let expected = whole.derivative(name);
                largest = largest.larger(expected.abs());
                off = off.larger((parts[side].derivative(name) - expected).abs());
            }
            let work = |run: &Run| run.derivative("system.work");
            off = off.larger((work(&parts[0]) + work(&parts[1]) - work(&whole)).abs());
        }
        let relative = off / largest;
        println!("{formulation:?}: derivatives off by {relative:.1e} of the largest (1e-13: round-off)");
        assert!(relative < 1e-13, "{formulation:?}: {relative:e}");
    }
}

/// A part that drifts with its carrier stays relaxed within a long step, since the carrier moves on
/// with the velocity that was set at its start; a spinning one up to the centripetal acceleration.
#[test]
fn carrier_moves_on_with_its_velocity_within_a_step() {
    let drifting = "name = \"carried\"\n[body.rock]\nmass = 4.0\ninertia = [1.0, 1.2, 1.4]\n\
                    start = { velocity = [0.3, -0.2, 0.1], angular_velocity = [0.0, 0.0, SPIN] }\n\
                    [interface.mount]\nframe = \"rock\"\n";
    let run = |spin: &str, h: f64| {
        let mut run = Run::new(&(drifting.replace("SPIN", spin) + GAINS), 1e-12);
        let spin: f64 = spin.parse().expect("a number");
        for (name, value) in [("v[1]", 0.3), ("v[2]", -0.2), ("v[3]", 0.1), ("w[3]", spin)] {
            run.set(&format!("mount.{name}"), value);
        }
        run.go(h);
        [run.vector("mount.f").norm(), run.vector("mount.t").norm()]
    };
    let [f, t] = run("0.0", 2.0);
    println!("drift of 2 s: {f:.1e} N, {t:.1e} N.m (1e-11: round-off of a displacement of 0.7 m)");
    assert!(f < 1e-11 && t < 1e-11, "{f:e} {t:e}");
    // The quaternion moves along a parabola in place of a circle: with φ = ω h/2, the carrier turns by
    // 2 atan(φ/(1 − φ²/2)) in place of 2 φ. The body follows by a small part of it.
    let [_, t] = run("1.0", 0.2);
    let ahead = 2.0 * (libm::atan(0.1 / (1.0 - 0.5 * 0.1 * 0.1)) - 0.1);
    println!(
        "spin of 0.2 rad: {t:.2e} N.m, {:.2e} if the body did not follow",
        6.0 * ahead
    );
    assert!((t / (6.0 * ahead) - 1.0).abs() < 0.1, "{t:e}");
}

/// Derivatives that the importer sets replace those by the velocities.
#[test]
fn derivatives_of_the_importer_take_precedence() {
    let mut run = Run::new(&carried(""), 1e-10);
    run.set("mount.v[1]", 5.0);
    let input = run
        .model()
        .inputs
        .iter()
        .position(|input| input.quantity.name == "mount.r[2]");
    let input = input.expect("an input");
    run.simulation.state.u_derivatives[0][input] = 0.25;
    run.go(0.4);
    assert!((run.simulation.state.u[input] - 0.1).abs() < 1e-15);
    assert_eq!(run.simulation.state.u[input - 1], 0.0);
}

#[test]
fn errors_name_the_field() {
    let at = |text: &str| match Model::read(text, Path::new(".")) {
        Err(grapple::Error::Spec(problems)) => problems[0].at.join("."),
        other => panic!("{text}: {:?}", other.map(|model| model.spec.name)),
    };
    for (from, to, place) in [
        ("frame = \"hook\"", "frame = \"hok\"", "interface.mount.frame"),
        ("[40.0, 60.0, 50.0]", "[40.0, 60.0]", "interface.mount.stiffness"),
        ("[40.0, 60.0, 50.0]", "0.0", "interface.mount.stiffness"),
        ("[2.0, 3.0, 4.0]", "-2.0", "interface.mount.damping"),
    ] {
        let text = carried("");
        assert!(text.contains(from));
        assert_eq!(at(&text.replace(from, to)), place);
    }
    assert_eq!(
        at(&carried("attitude = [1.0, 1.0, 0.0, 0.0]\n")),
        "interface.mount.attitude"
    );
    assert_eq!(at(&carried("position = [0.0, inf, 0.0]\n")), "interface.mount.position");
}

/// A signal on another input does not shift those of the interface.
#[test]
fn carrier_moves_on_beside_signals_inside() {
    let port = "[port.push]\nframe = \"rock\"\n[signal.\"push.f[2]\"]\ntype = \"constant\"\namplitude = 0.0\nfrom_importer = false\n";
    let mut run = Run::new(&carried(port), 1e-10);
    run.set("mount.v[1]", 5.0);
    run.go(0.4);
    let place = (run.model().inputs.iter()).position(|input| input.quantity.name == "mount.r[1]");
    assert!((run.simulation.state.u[place.expect("an input")] - 2.0).abs() < 1e-14);
}
