//! Captures between two large beams: ANCF beams that two arms bring together, and an ANCF beam at
//! a geometrically exact one.

use crate::impact::{Balance, command};
use crate::long::long;
use crate::numbers::{Larger, few};
use crate::run::Run;
use grapple::algebra::Vec3;
use grapple::event::{Occurrence, Refused};
use grapple::spec::{Capability, Formulation};
use std::path::Path;

/// Returns a platform with two arms in the plane z = 0 that move the roots of two ANCF beams of
/// different lengths towards each other, the left faster, with a gap of 5 cm. `tilt` (degrees)
/// turns the left beam out of the plane.
pub fn assembly(law: &str, tilt: f64) -> String {
    let (upper, rate, gap): (f64, f64, f64) = (70f64.to_radians(), 0.05, 0.05);
    let lower = (0.5 * gap - 0.5 - upper.cos()).acos();
    let y = upper.sin() + lower.sin();
    let rate = |s: f64| if s > 0.0 { rate } else { 1.3 * rate };
    let arm = |side: &str, s: f64| {
        let (turn, at_base) = (
            (lower - upper) * s,
            if s > 0.0 { upper } else { std::f64::consts::PI - upper },
        );
        let gripper = if s > 0.0 { -lower } else { lower };
        format!(
            "[body.{side}_upper]\nmass = 2.0\nmass_centre = [0.5, 0.0, 0.0]\ninertia = [0.01, 0.2, 0.2]\n\
             [body.{side}_lower]\nmass = 1.5\nmass_centre = [0.5, 0.0, 0.0]\ninertia = [0.01, 0.15, 0.15]\n\
             [joint.{side}_shoulder]\ntype = \"revolute\"\nparent = \"platform\"\nchild = \"{side}_upper\"\n\
             origin = [{}, 0.0, 0.0]\nstart = {{ position = {at_base}, rate = {} }}\n\
             [joint.{side}_elbow]\ntype = \"revolute\"\nparent = \"{side}_upper\"\nchild = \"{side}_lower\"\n\
             origin = [1.0, 0.0, 0.0]\nstart = {{ position = {turn}, rate = {} }}\n\
             [frame.{side}_gripper]\nbody = \"{side}_lower\"\norigin = [1.0, 0.0, 0.0]\nrpy_deg = [0.0, {}, {}]\n\
             [grasp.{side}]\na = \"{side}_gripper\"\nb = \"{side}_beam\"\nstiffness = 2e3\ndamping = 0.0\n\
             angular_stiffness = 50.0\n",
            0.5 * s,
            rate(s) * s,
            -rate(s) * s,
            if s > 0.0 { 0.0 } else { tilt },
            gripper.to_degrees()
        )
    };
    let beam = |side: &str, s: f64, length: f64| {
        let (tilt, turn) = if s > 0.0 { (0.0, 0.0) } else { (tilt, 180.0) };
        format!(
            "[ancf_beam.{side}_beam]\nlength = {length}\nelements = 2\nmass_per_length = 0.5\nEA = 100.0\nEI = 3.0\n\
             start = {{ position = [{}, {y}, 0.0], rpy_deg = [0.0, {tilt}, {turn}], velocity = [{}, {}, 0.0] }}\n",
            0.5 * gap * s,
            -rate(s) * upper.sin() * s,
            rate(s) * upper.cos()
        )
    };
    format!(
        "name = \"docking\"\n[body.platform]\nmass = 40.0\ninertia = [2.0, 3.0, 4.0]\n{}{}{}{}\
         [contact.P]\na = \"left_beam\"\nb = \"right_beam\"\nlaw = \"{law}\"\nreach = 0.02\n[solver]\nmethod = \"dop853\"\n",
        arm("left", -1.0),
        arm("right", 1.0),
        beam("left", -1.0, 2.0),
        beam("right", 1.0, 3.0)
    )
}

/// Returns the formulations that have ANCF beams.
fn formulations() -> impl Iterator<Item = Formulation> {
    Formulation::ALL
        .into_iter()
        .filter(|formulation| formulation.has(Capability::AncfBeams))
}

/// Returns the tangents of the two beams at their roots, and the position of the left root relative
/// to the right one.
fn meeting(run: &Run) -> [Vec3<f64>; 3] {
    let [a, b] = ["left_beam", "right_beam"].map(|beam| run.vector(&format!("{beam}.node[1].slope")).normalize());
    let at = |beam: &str| run.vector(&format!("{beam}.node[1].r"));
    [a, b, at("left_beam") - at("right_beam")]
}

/// Two arms dock two ANCF beams at their roots, in a plane: the capture conserves momentum, draws the
/// beams together, and keeps them so, in the long form for 60 s; energy less work is constant from the
/// impact on. The formulations agree.
#[test]
fn two_arms_dock_two_ancf_beams() {
    for law in ["capture_pin", "capture_grasp"] {
        let mut ends: Vec<Vec3<f64>> = Vec::new();
        for formulation in formulations() {
            let mut run = Run::of(crate::plant_in(formulation, &assembly(law, 0.0), Path::new(".")), 1e-11);
            run.go(0.4);
            let before = Balance::of(&run);
            let events = command(&mut run, "P.capture");
            assert!(events[0].is_impact(), "{events:?}");
            let after = Balance::of(&run);
            let [a, b, apart] = meeting(&run);
            let across = (apart - b * b.dot(&apart)).norm();
            let jump = (after.energy - before.energy - run.value("P.energy_change")).abs();
            let balance = |run: &Run| run.value("system.energy") - run.value("system.work");
            let docked = balance(&run);
            run.go(3.0);
            ends.push(run.vector("platform.r"));
            if long() && formulation == Formulation::Recursive {
                run.go(65.0);
            }
            let end = Balance::of(&run);
            let off = [
                before.off(&after),
                jump,
                after.off(&end),
                run.value("P.violation"),
                run.value("P.violation_angle"),
                (balance(&run) / docked - 1.0).abs(),
            ];
            println!(
                "{law}, {}: docked {:.1e} m apart along and {across:.1e} m across, {:.1e} rad; momentum, energy at the impact; \
                 at {} s momentum, violations, energy: {} (1e-12, 1e-12, 1e-12, 1e-10, 1e-10, 1e-9)",
                formulation.name(),
                b.dot(&apart).abs(),
                a.cross(&b).norm(),
                run.simulation.state.t,
                few(&off)
            );
            let bounds = [1e-12, 1e-12, 1e-12, 1e-10, 1e-10, 1e-9];
            assert!(across > 1e-3, "the roots meet with an offset: {across:e}");
            assert!(off.iter().zip(bounds).all(|(off, bound)| *off < bound), "{off:?}");
        }
        let apart = ends.iter().map(|end| (end - ends[0]).norm()).fold(0.0, f64::larger);
        println!(
            "{law}: {} formulations {apart:.1e} m apart after 3 s (1e-10)",
            ends.len()
        );
        assert!(ends.len() > 2 && apart < 1e-10);
    }
}

/// Beams without torsion take no moment about their directions. At an offset across the beams, or
/// an angle between them, a capture out of plane therefore changes the angular momentum by that
/// moment, and by nothing else.
#[test]
fn an_offset_across_two_ancf_beams_costs_the_moment_about_their_direction() {
    let mut run = Run::new(&assembly("capture_grasp", 3.0), 1e-11);
    run.go(0.4);
    let before = Balance::of(&run);
    command(&mut run, "P.capture");
    assert_eq!(run.value("P.captured"), 1.0);
    let after = Balance::of(&run);
    let [_, b, apart] = meeting(&run);
    let moment = run.vector("P.moment_impulse") + apart.cross(&run.vector("P.impulse"));
    let missing = b * b.dot(&moment);
    let off = (after.h - before.h - missing).norm();
    println!(
        "angular momentum changes by {:.1e} N·m·s, less the moment about the beam {off:.1e} (1e-12)",
        missing.norm()
    );
    assert!(missing.norm() > 1e-8 && off < 1e-12 && before.off(&after) < 1e-4);
}

/// A grasp lines up beams whose directions differ by up to 10°, and is refused beyond.
#[test]
fn a_grasp_of_inclined_ancf_beams_is_refused() {
    for (tilt, is_refused) in [(8.0, false), (15.0, true)] {
        let mut run = Run::new(&assembly("capture_grasp", tilt), 1e-9);
        run.go(0.4);
        let events = command(&mut run, "P.capture");
        let refused = |reason: &Refused| matches!(reason, Refused::Inclined { angle, .. } if (angle.to_degrees() - tilt).abs() < 1.0);
        let found = matches!(&events[0].what, Occurrence::ImpactRefused { reason, .. } if refused(reason));
        println!("{tilt}°: {}", events[0]);
        assert_eq!(found, is_refused, "{events:?}");
        assert_eq!(run.value("P.status"), if is_refused { 4.0 } else { 1.0 });
    }
}

/// Two free, equal ANCF beams of 2 m and 1 kg, the right one from the point `at` on with attitude
/// `rpy_deg`, and a connection of their roots.
fn two_beams(at: [f64; 3], rpy_deg: [f64; 3], stiff: f64, motion: [&str; 2], connection: &str) -> String {
    let beam = |name: &str, start: String| {
        format!(
            "[ancf_beam.{name}]\nlength = 2.0\nelements = 2\nmass_per_length = 0.5\nEA = {}\nEI = {}\nstart = {{ {start} }}\n",
            400.0 * stiff,
            3.0 * stiff
        )
    };
    format!(
        "name = \"pair\"\n{}{}{connection}[solver]\nmethod = \"dop853\"\n",
        beam("left", format!("rpy_deg = [0.0, 0.0, 180.0]{}", motion[0])),
        beam(
            "right",
            format!("position = {at:?}, rpy_deg = {rpy_deg:?}{}", motion[1])
        )
    )
}

/// Two equal stiff beams end to end, in a grasp. Along the beams they are two masses on a spring
/// and damper. Inclined by equal angles they hinge at their roots, which transmit no transverse
/// force: each turns about its mass centre, with half the angle, by the moment alone.
#[test]
fn two_ancf_beams_in_a_grasp_vibrate_as_rods() {
    let (k, c, k_t, c_t) = (2.0f64, 0.3, 0.05, 0.004);
    let grasp = format!(
        "[grasp.P]\na = \"left\"\nb = \"right\"\nstiffness = {k}\ndamping = {c}\nangular_stiffness = {k_t}\nangular_damping = {c_t}\n"
    );
    let along = two_beams([0.01, 0.0, 0.0], [0.0; 3], 1e4, ["", ""], &grasp);
    // Inclined by 1e-4 each, about their mass centres.
    let alpha = 1e-4f64;
    let mut hinged = two_beams(
        [0.0, -alpha, 0.0],
        [0.0, 0.0, alpha.to_degrees()],
        1e4,
        ["", ""],
        &grasp,
    );
    hinged = hinged.replace(
        "rpy_deg = [0.0, 0.0, 180.0]",
        &format!(
            "position = [0.0, {}, 0.0], rpy_deg = [0.0, 0.0, {}]",
            -alpha,
            180.0 - alpha.to_degrees()
        ),
    );
    let inertia = 1.0 * 2.0f64.powi(2) / 12.0;
    for (text, output, from, [w_2, rate]) in [
        (along, "P.distance", 0.01, [2.0 * k, 2.0 * c]),
        (
            hinged,
            "P.angle",
            2.0 * alpha,
            [2.0 * k_t / inertia, 2.0 * c_t / inertia],
        ),
    ] {
        let mut run = Run::new(&text, 1e-11);
        let w = (w_2 - 0.25 * rate * rate).sqrt();
        let mut worst = 0.0f64;
        for i in 1..=if long() { 13 } else { 6 } {
            let t = 0.25 * f64::from(i);
            run.go(t);
            let x = (-0.5 * rate * t).exp() * ((w * t).cos() + 0.5 * rate / w * (w * t).sin());
            worst = worst.larger((run.value(output) / from - x.abs()).abs());
        }
        println!("{output}: {worst:.1e} of the amplitude (1e-5: stretch and bending of the beams)");
        assert!(worst < 1e-5);
    }
}

/// A grasp between two ANCF beams in general motion conserves momentum, and energy less the work of
/// its damping, in every formulation. Without dampers and rotational springs it is a spring without
/// length.
#[test]
fn a_grasp_between_two_ancf_beams_conserves() {
    let general = |connection: &str| {
        let motion = [
            ", velocity = [0.05, 0.2, 0.0], angular_velocity = [0.0, 0.3, -0.2]",
            ", velocity = [-0.1, 0.0, 0.1], angular_velocity = [0.0, -0.1, 0.4]",
        ];
        two_beams([0.05, 0.03, -0.04], [0.0, 12.0, -20.0], 1.0, motion, connection)
    };
    let between = "a = \"left\"\nb = \"right\"\n";
    let damped = format!(
        "[grasp.P]\n{between}stiffness = [30.0, 20.0, 20.0]\ndamping = [0.5, 0.2, 0.2]\nangular_stiffness = 2.0\nangular_damping = 0.05\n"
    );
    let mut ends: Vec<Vec3<f64>> = Vec::new();
    for formulation in formulations() {
        let mut run = Run::of(crate::plant_in(formulation, &general(&damped), Path::new(".")), 1e-12);
        let off = run.drift(3.0);
        let work = run.value("system.work");
        println!(
            "{}: invariants off by {off:.1e} J, N·s, N·m·s (1e-10, the integrator's error); work {work:.1e} J",
            formulation.name()
        );
        assert!(off < 1e-10 && work.abs() > 1e-3);
        ends.push(run.vector("left.node[3].r"));
    }
    let apart = ends.iter().map(|end| (end - ends[0]).norm()).fold(0.0, f64::larger);
    let positions = [
        format!("[grasp.P]\n{between}stiffness = 30.0\ndamping = 0.0\n"),
        format!("[spring.P]\n{between}stiffness = 30.0\n"),
    ]
    .map(|connection| {
        let mut run = Run::new(&general(&connection), 1e-12);
        run.go(3.0);
        run.vector("left.node[3].r")
    });
    let from_spring = (positions[0] - positions[1]).norm();
    println!("formulations {apart:.1e} m, grasp and spring {from_spring:.1e} m apart (1e-10)");
    assert!(ends.len() > 2 && apart < 1e-10 && from_spring < 1e-10);
}

/// A grasp that closes between the beams of two arms conserves momentum; energy changes by the work
/// that includes what is stored in the grasp.
#[test]
fn two_arms_close_a_grasp_between_two_ancf_beams() {
    let spec = assembly("capture_grasp", 3.0).replace(
        "law = \"capture_grasp\"\nreach = 0.02",
        "stiffness = 200.0\ndamping = 5.0\nangular_stiffness = 20.0\nangular_damping = 0.5\non = false",
    );
    let mut run = Run::new(&spec.replace("[contact.P]", "[grasp.P]"), 1e-11);
    run.go(0.4);
    let before = Balance::of(&run);
    let balance = |run: &Run| run.value("system.energy") - run.value("system.work");
    let open = balance(&run);
    run.set("P.on", 1.0);
    run.go(7.0);
    let momentum = before.off(&Balance::of(&run));
    let energy = (balance(&run) / open - 1.0).abs();
    let force = run.vector("P.force").norm();
    println!("momentum {momentum:.1e} (1e-12), energy {energy:.1e} (1e-9) after 6.6 s, force {force:.1e} N");
    assert!(momentum < 1e-12 && energy < 1e-9 && force > 1e-3);
}

/// An ANCF beam and a geometrically exact one, both free and in motion, meet with their tips.
fn two_kinds(connection: &str) -> String {
    let text = format!(
        "name = \"docking\"\n[body.exact]\nstart = {{ angular_velocity = [0.1, 0.2, -0.15], velocity = [0.05, 0.0, 0.02] }}\n\
         [body.exact.geometrically_exact_beam]\nlength = 2.0\nelements = 4\nmass_per_length = 0.5\npolar_inertia_per_length = 1e-3\n\
         EA = 2e3\nGA_y = 300.0\nGA_z = 500.0\nGJ = 0.4\nEI_y = 0.9\nEI_z = 1.5\n\
         [frame.tip]\nbody = \"exact\"\norigin = [2.0, 0.0, 0.0]\nrpy_deg = [5.0, -4.0, 3.0]\n\
         [ancf_beam.nodal]\nlength = 1.5\nelements = 2\nmass_per_length = 0.6\nEA = 500.0\nEI = 3.0\n\
         start = {{ position = [2.004, 0.002, -0.003], rpy_deg = [0.0, 10.0, 5.0], velocity = [-0.1, 0.05, 0.04], \
         angular_velocity = [0.0, 0.3, 0.2] }}\n{connection}[solver]\nmethod = \"dop853\"\n"
    );
    text
}

/// The capture of an ANCF beam by a geometrically exact one conserves momentum at the impact to
/// round-off, and momentum and energy afterwards to the integrator's error, in every formulation.
#[test]
fn an_ancf_beam_docks_at_a_geometrically_exact_beam() {
    let contact = "[contact.P]\na = \"nodal\"\nb = \"tip\"\nlaw = \"capture_grasp\"\nreach = 0.01\n";
    let mut ends: Vec<Vec3<f64>> = Vec::new();
    for formulation in formulations() {
        let mut run = Run::of(crate::plant_in(formulation, &two_kinds(contact), Path::new(".")), 1e-12);
        run.look();
        let before = Balance::of(&run);
        let events = command(&mut run, "P.capture");
        assert!(events[0].is_impact(), "{events:?}");
        let after = Balance::of(&run);
        run.go(1.0);
        let end = Balance::of(&run);
        let off = [
            before.off(&after),
            after.off(&end),
            run.value("P.violation"),
            run.value("P.violation_angle"),
            (end.energy - after.energy).abs() / after.energy,
        ];
        println!(
            "{}: momentum at the impact; 1 s later momentum, violations, energy: {} (1e-12, then 1e-10)",
            formulation.name(),
            few(&off)
        );
        assert!(off[0] < 1e-12 && off[1..].iter().all(|off| *off < 1e-10), "{off:?}");
        ends.push(run.vector("exact.r"));
    }
    let apart = ends.iter().map(|end| (end - ends[0]).norm()).fold(0.0, f64::larger);
    println!("{} formulations {apart:.1e} m apart (1e-10)", ends.len());
    assert!(ends.len() > 2 && apart < 1e-10);
}

/// A grasp between a geometrically exact beam and an ANCF one conserves momentum; energy less the
/// work of its damping is constant.
#[test]
fn a_geometrically_exact_beam_grasps_an_ancf_beam() {
    let grasp = "[grasp.P]\na = \"tip\"\nb = \"nodal\"\nstiffness = [300.0, 200.0, 100.0]\ndamping = 0.5\n\
        angular_stiffness = [1.0, 2.0, 2.0]\nangular_damping = 0.02\n";
    for formulation in formulations() {
        let mut run = Run::of(crate::plant_in(formulation, &two_kinds(grasp), Path::new(".")), 1e-12);
        let off = run.drift(2.0);
        let work = run.value("system.work");
        println!(
            "{}: invariants off by {off:.1e} J, N·s, N·m·s (1e-10, the integrator's error); work {work:.1e} J",
            formulation.name()
        );
        assert!(off < 1e-10 && work.abs() > 1e-4);
    }
}
