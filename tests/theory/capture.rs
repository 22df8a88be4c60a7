//! Capture, release and closed loops, in every formulation.

use crate::impact::{Balance, command, execute_commands};
use crate::messages;
use crate::numbers::{Larger, few};
use crate::run::Run;
use grapple::Error;
use grapple::algebra::{Mat3, Vec3};
use grapple::event::{Occurrence, Pairing, Refused};
use grapple::plant::OperatingPoint;
use grapple::spec::Formulation;
use std::f64::consts::TAU;
use std::path::Path;

/// Returns a rotating spacecraft with an arm of two general joints, and a payload that the arm's
/// tip has just reached.
pub fn craft(law: &str) -> String {
    let text = format!(
        "name = \"catch\"\n[body.base]\nmass = 6.0\nmass_centre = [0.1, -0.2, 0.05]\ninertia = [0.8, 0.9, 1.0]\n\
         start = {{ angular_velocity = [0.1, -0.2, 0.15], velocity = [0.1, 0.3, -0.2] }}\n\
         [body.upper]\nmass = 1.5\nmass_centre = [0.5, 0.1, 0.0]\ninertia = [0.1, 0.2, 0.25]\n\
         [body.lower]\nmass = 1.0\nmass_centre = [0.4, 0.0, 0.1]\ninertia = [0.05, 0.1, 0.1]\n\
         [body.payload]\nmass = 3.0\nmass_centre = [0.2, -0.4, 0.3]\ninertia = [0.4, 0.5, 0.6, 0.02, -0.03, 0.01]\n\
         [joint.shoulder]\ntype = \"revolute\"\nparent = \"base\"\nchild = \"upper\"\norigin = [0.5, 0.0, 0.0]\naxis = [0.2, 0.1, 1.0]\n\
         rotor_inertia = 0.3\nstart = {{ position = 0.4, rate = 0.3 }}\n\
         [joint.elbow]\ntype = \"universal\"\nparent = \"upper\"\nchild = \"lower\"\norigin = [1.0, 0.0, 0.0]\naxis = [0.0, 1.0, 0.2]\naxis2 = [0.0, 0.1, 1.0]\n\
         start = {{ position = [0.5, -0.3], rate = [-0.2, 0.4] }}\n\
         [frame.hand]\nbody = \"lower\"\norigin = [0.9, 0.1, 0.0]\n\
         [frame.handle]\nbody = \"payload\"\norigin = [0.1, 0.2, 0.0]\n\
         [contact.grip]\na = \"hand\"\nb = \"handle\"\nlaw = \"{law}\"\nreach = 0.02\n"
    );
    let start = |position: Vec3<f64>| {
        format!(
            "{text}[body.payload.start]\nposition = [{}, {}, {}]\nrpy_deg = [20.0, -35.0, 50.0]\nvelocity = [0.3, -0.2, 0.1]\nangular_velocity = [0.2, 0.3, -0.1]\n",
            position.x, position.y, position.z
        )
    };
    // Moves the payload so that its handle is near the hand, with a small offset.
    let mut run = Run::new(&start(Vec3::zeros()), 1e-6);
    run.look();
    start(run.vector("hand.r") - run.vector("handle.r") + Vec3::new(0.003, -0.002, 0.004))
}

fn run_in(formulation: Formulation, text: &str, tolerance: f64) -> Run {
    let text = format!("{text}[solver]\nmethod = \"dop853\"\n");
    let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), tolerance);
    run.look();
    run
}

/// Returns the velocity of the hand relative to the handle, at the hand, and the relative angular
/// velocity.
fn relative(run: &Run) -> [Vec3<f64>; 2] {
    let [w_A, w_B] = ["hand", "handle"].map(|frame| run.attitude(frame).rotate(run.vector(&format!("{frame}.w"))));
    let arm = run.vector("hand.r") - run.vector("handle.r");
    let v = run.vector("hand.v") - run.vector("handle.v") - w_B.cross(&arm);
    [v, w_A - w_B]
}

/// Returns the payload's momentum, and its angular momentum about its mass centre.
fn alone(run: &Run) -> [Vec3<f64>; 2] {
    let R = run.attitude("payload").rotation();
    let J = Mat3::new(0.4, 0.02, -0.03, 0.02, 0.5, 0.01, -0.03, 0.01, 0.6);
    let w = run.vector("payload.w");
    let v = run.vector("payload.v") + R * w.cross(&Vec3::new(0.2, -0.4, 0.3));
    [v * 3.0, R * J * w]
}

/// A capture ends the relative motion (of the points; for a grasp also the rotation) by impulses
/// that conserve momentum, and dissipates the energy that it reports. During 60 s the captured
/// points stay in place, and momentum and energy are conserved; reported forces and moments are
/// those between the bodies. All formulations agree. After the release all rates continue
/// unchanged.
#[test]
fn captured_payload_stays_until_release_and_conserves_momentum() {
    for (law, turns) in [("capture_pin", false), ("capture_grasp", true)] {
        let text = craft(law);
        let mut ends: Vec<Vec3<f64>> = Vec::new();
        for formulation in Formulation::ALL {
            let mut run = run_in(formulation, &text, 1e-10);
            let before = Balance::of(&run);
            let messages = command(&mut run, "grip.capture");
            assert!(
                messages[0].is_impact() && messages[0].contact() == Some("grip"),
                "{messages:?}"
            );
            let after = Balance::of(&run);
            let [v, w] = relative(&run);
            let jump = (after.energy - before.energy - run.value("grip.energy_change")).abs();
            println!(
                "{law}, {}: {:.1e}, {jump:.1e} J, {:.1e} m/s, {:.1e} rad/s",
                formulation.name(),
                before.off(&after),
                v.norm(),
                w.norm()
            );
            assert!(before.off(&after) < 1e-12 && jump < 1e-12 && v.norm() < 1e-12);
            assert!(run.value("grip.energy_change") < -1e-3 && run.value("grip.captured") == 1.0);
            assert_eq!(w.norm() < 1e-12, turns);
            assert_eq!(run.vector("grip.moment").norm() > 1e-6, turns, "a pin has no moment");
            run.go(20.0);
            let end = Balance::of(&run);
            let energy = (end.energy - after.energy).abs() / after.energy;
            let (drift, angle) = (run.value("grip.violation"), run.value("grip.violation_angle"));
            println!(
                "  20 s: {:.1e}, energy {energy:.1e}, drift {drift:.1e} m, {angle:.1e} rad",
                after.off(&end)
            );
            // A hundred times the observed errors: violations and momentum are round-off, the
            // energy error is that at a tolerance of 1e-10.
            assert!(after.off(&end) < 3e-12 && energy < 1e-10 && drift < 1e-12 && angle < 1e-12);
            ends.push(run.vector("payload.r"));
            let x = run.simulation.state.x.clone();
            run.set("grip.capture", 0.0);
            let state = &mut run.simulation.state;
            let plant = &mut run.simulation.plant;
            let changes = plant
                .update(state.t, &mut state.x, &state.u, &mut state.discrete, &mut Vec::new())
                .expect("regular");
            assert!(changes.modes && !changes.states && x == run.simulation.state.x);
            run.look();
            assert_eq!(run.value("grip.captured"), 0.0);
            assert_eq!(run.vector("grip.force"), Vec3::zeros());
            run.simulation.invalidate();
            let before = alone(&run);
            run.go(20.5);
            let off = [0, 1].map(|i| (alone(&run)[i] - before[i]).norm());
            println!("  alone for 0.5 s: {} (1e-12)", few(&off));
            assert!(run.vector("payload.w").norm() > 1e-3 && off.iter().all(|&off| off < 1e-12));
        }
        let apart = ends.iter().map(|end| (end - ends[0]).norm()).fold(0.0, f64::larger);
        println!("{law}: formulations {apart:.1e} m apart after 20 s");
        // The error at a tolerance of 1e-10, magnified by the swinging payload; a hundred times the
        // observed value.
        assert!(apart < 2e-8, "{apart}");
    }
}

/// Returns a hub with an arm whose hand has just reached an ANCF beam.
pub fn beam_catch() -> String {
    let text = "name = \"catch\"\n[body.hub]\nmass = 4.0\nmass_centre = [0.1, -0.05, 0.02]\ninertia = [0.5, 0.6, 0.7]\n\
        start = { angular_velocity = [0.3, -0.2, 0.1], velocity = [0.1, 0.0, -0.1] }\n\
        [body.arm]\nmass = 1.0\nmass_centre = [0.2, 0.0, 0.05]\ninertia = [0.05, 0.1, 0.1]\n\
        [joint.shoulder]\ntype = \"revolute\"\nparent = \"hub\"\nchild = \"arm\"\norigin = [0.4, 0.0, 0.0]\naxis = [0.1, 0.2, 1.0]\nstart = { position = 0.3, rate = 0.4 }\n\
        [frame.hand]\nbody = \"arm\"\norigin = [0.5, 0.1, 0.0]\n\
        [ancf_beam.boom]\nlength = 3.0\nelements = 2\nmass_per_length = 0.5\nEA = 500.0\nEI = 3.0\n\
        [frame.grip]\nbody = \"boom\"\norigin = [0.6, 0.0, 0.0]\n\
        [contact.hold]\na = \"grip\"\nb = \"hand\"\nlaw = \"capture_grasp\"\nreach = 0.02\n";
    let start = |position: Vec3<f64>| {
        format!(
            "{text}[ancf_beam.boom.start]\nposition = {:?}\nrpy_deg = [0.0, 20.0, 40.0]\nvelocity = [0.2, -0.1, 0.05]\nangular_velocity = [0.0, 0.2, -0.3]\n",
            position.as_slice()
        )
    };
    let mut run = Run::new(&start(Vec3::zeros()), 1e-6);
    run.look();
    start(run.vector("hand.r") - run.vector("grip.r") + Vec3::new(0.004, -0.002, 0.003))
}

/// Capture of an ANCF beam at a point inside an element: momentum is conserved, the reported energy
/// is dissipated, position and tangent are constrained, and the gripper's rotation about the
/// tangent continues. All formulations agree.
#[test]
fn captured_beam_keeps_position_and_tangent_in_the_gripper() {
    let text = beam_catch();
    let attitude = |run: &Run| run.attitude("hand").rotation();
    let place = |run: &Run| attitude(run).tr_mul(&(run.vector("grip.r") - run.vector("hand.r")));
    let direction = |run: &Run| attitude(run).tr_mul(&run.vector("grip.direction"));
    let mut ends: Vec<[Vec3<f64>; 2]> = Vec::new();
    let has_beams = |formulation: &Formulation| formulation.has(grapple::spec::Capability::AncfBeams);
    for formulation in Formulation::ALL.into_iter().filter(has_beams) {
        let mut run = run_in(formulation, &text, 1e-11);
        let before = Balance::of(&run);
        command(&mut run, "hold.capture");
        assert_eq!(run.value("hold.captured"), 1.0);
        let after = Balance::of(&run);
        let jump = (after.energy - before.energy - run.value("hold.energy_change")).abs();
        let w = attitude(&run) * run.vector("hand.w");
        let v = run.vector("grip.v") - run.vector("hand.v") - w.cross(&(run.vector("grip.r") - run.vector("hand.r")));
        let along = run.vector("grip.direction");
        let about = w.dot(&along);
        let across = (w - run.vector("grip.w") - along * about).norm();
        let [momentum, moment] = ["hold.moment_impulse", "hold.moment"].map(|name| run.vector(name).dot(&along).abs());
        println!(
            "{}: {:.1e}, {jump:.1e} J, {:.1e} m/s, {across:.1e} rad/s, moments about the beam {momentum:.1e}, {moment:.1e} (all 1e-12); turning about it at {about:.2} rad/s",
            formulation.name(),
            before.off(&after),
            v.norm()
        );
        let round_off = [before.off(&after), jump, v.norm(), across, momentum, moment];
        assert!(
            round_off.iter().all(|&off| off < 1e-12) && about.abs() > 0.05,
            "{round_off:?}"
        );
        assert!(run.value("hold.energy_change") < -1e-3);
        let (at, towards) = (place(&run), direction(&run));
        run.go(4.0);
        let end = Balance::of(&run);
        let energy = (end.energy - after.energy).abs() / after.energy;
        let off = [
            after.off(&end),
            energy,
            (place(&run) - at).norm(),
            (direction(&run) - towards).norm(),
            run.value("hold.violation"),
            run.value("hold.violation_angle"),
        ];
        println!(
            "  4 s: momentum, energy, place, direction, as told: {} (1e-11)",
            few(&off)
        );
        // A hundred times the energy error at a tolerance of 1e-11.
        assert!(off.iter().all(|&off| off < 1e-11), "{off:?}");
        ends.push([run.vector("hub.r"), run.vector("boom.tip_deflection")]);
    }
    let apart = ends
        .iter()
        .flat_map(|end| [0, 1].map(|k| (end[k] - ends[0][k]).norm()))
        .fold(0.0, f64::larger);
    println!("{} formulations {apart:.1e} m apart after 4 s (2e-11)", ends.len());
    // A hundred times the error at a tolerance of 1e-11.
    assert!(ends.len() > 2 && apart < 2e-11);
}

/// Momentum rows are redundant also for captured bodies: the constraint wrenches are internal and
/// do not change the momentum.
#[test]
fn momentum_rows_are_redundant_for_captured_bodies() {
    for law in ["capture_pin", "capture_grasp"] {
        let derivatives = |rows: bool| {
            let text = format!(
                "formulation = \"quaternion\"\n{}[quaternion]\nmomentum_rows = {rows}\n",
                craft(law)
            );
            let mut run = Run::new(&text, 1e-10);
            run.look();
            command(&mut run, "grip.capture");
            let states = run.simulation.plant.model().states.clone();
            let derivatives = states.iter().map(|state| run.derivative(&state.name));
            nalgebra::DVector::from_vec(derivatives.collect::<Vec<f64>>())
        };
        let (without, with) = (derivatives(false), derivatives(true));
        let off = (&with - &without).norm() / without.norm();
        println!("{law}: {off:.1e}");
        // Round-off of the wrenches, magnified by the condition number of the rows.
        assert!(off < 1e-12);
    }
}

/// A grasped payload is equivalent to one on a fixed joint: the spacecraft with such a joint has
/// the same motion, and the joint transmits the grasp's reaction wrench.
#[test]
fn grasped_payload_equals_one_on_a_fixed_joint() {
    let text = craft("capture_grasp");
    let mut run = run_in(Formulation::Recursive, &text, 1e-11);
    command(&mut run, "grip.capture");
    // Pose of the payload in the hand.
    let lower = run.attitude("lower");
    let place = lower.rotation().transpose() * (run.vector("payload.r") - run.vector("lower.r"));
    let attitude = (lower.conjugate() * run.attitude("payload")).to_array();
    let (head, _) = text.split_once("[contact.grip]").expect("a contact");
    let fixed = format!(
        "{head}[joint.grip]\ntype = \"fixed\"\nparent = \"lower\"\nchild = \"payload\"\norigin = [{}, {}, {}]\norientation = {attitude:?}\n[output]\nreactions = true\n",
        place.x, place.y, place.z
    );
    let mut welded = run_in(Formulation::Recursive, &fixed, 1e-11);
    let names: Vec<String> = welded
        .simulation
        .plant
        .model()
        .states
        .iter()
        .map(|state| state.name.clone())
        .collect();
    for (i, name) in names.iter().enumerate().filter(|(_, name)| *name != "system.work") {
        welded.simulation.state.x[i] = run.value(name);
    }
    welded.simulation.invalidate();
    welded.look();
    let apart = |run: &Run, welded: &Run| {
        let places = names.iter().filter(|name| *name != "system.work");
        let off = places
            .map(|name| (run.value(name) - welded.value(name)).abs())
            .fold(0.0, f64::larger);
        let force = welded.attitude("payload").rotation() * welded.vector("grip.reaction_force");
        (off, (run.vector("grip.force") + force).norm() / force.norm())
    };
    let (_, force) = apart(&run, &welded);
    assert!(force < 1e-11, "{force}");
    run.go(10.0);
    welded.go(10.0);
    let (off, force) = apart(&run, &welded);
    println!("after 10 s: {off:.1e} apart, forces {force:.1e} (1e-9)");
    // A hundred times the error at a tolerance of 1e-11.
    assert!(off < 1e-9 && force < 1e-9);
}

/// Lengths of ground, crank, coupler and rocker, m.
const BARS: [f64; 4] = [1.0, 0.3, 0.9, 0.7];

/// Returns a four-bar linkage on the world with a driven crank, to be closed by a pin.
pub fn four_bar() -> String {
    let [ground, crank, coupler, rocker] = BARS;
    let bar = |name: &str, length: f64| {
        format!(
            "[body.{name}]\nmass = {length}\nmass_centre = [{}, 0.0, 0.0]\ninertia = [0.01, 0.1, 0.1]\n",
            0.5 * length
        )
    };
    let joint = |name: &str, parent: &str, child: &str, x: f64, fields: &str| {
        format!(
            "[joint.{name}]\ntype = \"revolute\"\nparent = \"{parent}\"\nchild = \"{child}\"\norigin = [{x}, 0.0, 0.0]\n{fields}"
        )
    };
    // At crank angle zero, the end of the coupler coincides with that of the rocker.
    let d = ground - crank;
    let cos = (d * d + coupler * coupler - rocker * rocker) / (2.0 * d * coupler);
    let phi = cos.acos();
    let psi = (coupler * phi.sin()).atan2(crank + coupler * phi.cos() - ground);
    [
        "name = \"four_bar\"\n[environment]\ngravity = [0.0, -9.81, 0.0]\n".to_owned(),
        bar("crank", crank),
        bar("coupler", coupler),
        bar("rocker", rocker),
        joint("motor", "world", "crank", 0.0, "motion = \"prescribed\"\n"),
        joint("knee", "crank", "coupler", crank, &format!("start = {{ position = {phi} }}\n")),
        joint("pivot", "world", "rocker", ground, &format!("start = {{ position = {psi} }}\n")),
        format!("[frame.rod]\nbody = \"coupler\"\norigin = [{coupler}, 0.0, 0.0]\n[frame.top]\nbody = \"rocker\"\norigin = [{rocker}, 0.0, 0.0]\n"),
        "[contact.closing]\na = \"rod\"\nb = \"top\"\nlaw = \"capture_pin\"\nreach = 1e-9\n".to_owned(),
    ]
    .concat()
}

/// A four-bar linkage on the world, closed by a pin, with a constant crank rate: the rocker's angle
/// satisfies Freudenstein's equation. One row of the pin is redundant in the plane.
#[test]
fn driven_four_bar_linkage_satisfies_freudenstein() {
    let [ground, crank, coupler, rocker] = BARS;
    let text = four_bar();
    for formulation in Formulation::ALL {
        let mut run = run_in(formulation, &text, 1e-11);
        command(&mut run, "closing.capture");
        assert_eq!(run.value("closing.captured"), 1.0);
        run.set("motor.qdd", 1.5);
        run.go(2.0);
        run.set("motor.qdd", 0.0);
        let balance = |run: &Run| run.value("system.energy") - run.value("system.work");
        let first = balance(&run);
        let (mut worst, mut energy): (f64, f64) = (0.0, 0.0);
        for i in 1..=40 {
            run.go(2.0 + 0.1 * f64::from(i));
            let theta = run.value("motor.q");
            // Ground and crank determine the diagonal, the diagonal the triangle of coupler and
            // rocker; same branch.
            let (x, y) = (crank * theta.cos() - ground, crank * theta.sin());
            let s = x.hypot(y);
            let at_pivot = ((s * s + rocker * rocker - coupler * coupler) / (2.0 * s * rocker)).acos();
            let expected = y.atan2(x) - at_pivot;
            let off = (run.value("pivot.q") - expected).rem_euclid(TAU);
            worst = worst.larger(off.min(TAU - off)).larger(run.value("closing.violation"));
            energy = energy.larger((balance(&run) - first).abs());
        }
        println!(
            "{}: {worst:.1e} rad, m (5e-12), energy {energy:.1e} J (2e-11)",
            formulation.name()
        );
        // A hundred times the error at a tolerance of 1e-11; the motor does work all the time.
        assert!(worst < 5e-12 && energy < 2e-11);
    }
}

/// Returns a spacecraft with two arms whose hands are at the handles of one payload.
pub fn hug() -> String {
    let arm = |side: f64, name: &str| {
        format!(
            "[body.{name}1]\nmass = 1.0\nmass_centre = [0.0, 0.5, 0.0]\ninertia = [0.1, 0.02, 0.1]\n[body.{name}2]\nmass = 0.8\nmass_centre = [0.0, 0.5, 0.0]\ninertia = [0.1, 0.02, 0.1]\n\
             [joint.{name}_shoulder]\ntype = \"revolute\"\nparent = \"base\"\nchild = \"{name}1\"\norigin = [{side}, 0.2, 0.0]\nstart = {{ position_deg = {} }}\n\
             [joint.{name}_elbow]\ntype = \"revolute\"\nparent = \"{name}1\"\nchild = \"{name}2\"\norigin = [0.0, 1.0, 0.0]\nstart = {{ position_deg = {} }}\n\
             [frame.{name}_hand]\nbody = \"{name}2\"\norigin = [0.0, 1.0, 0.0]\n\
             [frame.{name}_handle]\nbody = \"payload\"\norigin = [{side}, 0.0, 0.0]\n\
             [contact.{name}_grip]\na = \"{name}_hand\"\nb = \"{name}_handle\"\nlaw = \"capture_grasp\"\nreach = 1e-6\n",
            -side * 120.0,
            side * 240.0,
        )
    };
    let reach = 0.2 + 2.0 * 60f64.to_radians().cos();
    format!(
        "name = \"hug\"\n[body.base]\nmass = 10.0\ninertia = [1.0, 1.5, 2.0]\n\
         [body.payload]\nmass = 3.0\ninertia = [0.4, 0.5, 0.6]\nstart = {{ position = [0.0, {reach}, 0.0], velocity = [0.1, -0.2, 0.0], angular_velocity = [0.0, 0.0, 0.3] }}\n{}{}",
        arm(0.5, "right"),
        arm(-0.5, "left")
    )
}

/// Two arms of one spacecraft hold one payload by two grasps with partly redundant rows: the
/// independent rows are found, and the closed loop conserves momentum and energy and stays closed.
#[test]
fn two_grasps_of_one_payload_have_redundant_rows_and_conserve() {
    let text = hug();
    for formulation in Formulation::ALL {
        let mut run = run_in(formulation, &text, 1e-10);
        let apart = ["right", "left"]
            .map(|side| (run.vector(&format!("{side}_hand.r")) - run.vector(&format!("{side}_handle.r"))).norm());
        assert!(apart.iter().all(|&apart| apart < 1e-12), "{apart:?}");
        let before = Balance::of(&run);
        run.set("right_grip.capture", 1.0);
        let messages = command(&mut run, "left_grip.capture");
        assert_eq!(
            (run.value("right_grip.captured"), run.value("left_grip.captured")),
            (1.0, 1.0),
            "{messages:?}"
        );
        let after = Balance::of(&run);
        assert!(before.off(&after) < 1e-12);
        run.set("right_shoulder.tau", 0.05);
        run.go(5.0);
        let end = Balance::of(&run);
        let work = run.value("system.work");
        let energy = end.energy - before.energy - work;
        let drift = ["right", "left"].map(|side| run.value(&format!("{side}_grip.violation")));
        println!(
            "{}: {:.1e}, {energy:.1e} J, {drift:?} m",
            formulation.name(),
            after.off(&end)
        );
        // A hundred times round-off of the momenta, inertia and mass.
        assert!(after.off(&end) < 1e-12 && energy.abs() < 1e-13 && drift.iter().all(|&drift| drift < 1e-13));
        // Released and captured again at once, at rest to round-off, with redundant rows.
        run.set("left_grip.capture", 0.0);
        execute_commands(&mut run);
        let messages = command(&mut run, "left_grip.capture");
        assert_eq!(run.value("left_grip.captured"), 1.0, "{messages:?}");
        // One grasp is released, the other holds.
        run.set("left_grip.capture", 0.0);
        run.go(6.0);
        assert_eq!(
            (run.value("right_grip.captured"), run.value("left_grip.captured")),
            (1.0, 0.0)
        );
        let (drift, off) = (run.value("right_grip.violation"), end.off(&Balance::of(&run)));
        println!("  held by one: {drift:.1e} m, {off:.1e}");
        assert!(drift < 1e-13 && off < 1e-12);
    }
}

/// A flat parallelogram has two possible motions: the error names the closed loop, and does not
/// report missing inertia.
#[test]
fn loop_in_a_singular_position_is_reported() {
    let _section = messages::of_this_test();
    let link = |name: &str, parent: &str, origin: f64, length: f64, degrees: f64| {
        format!(
            "[body.{name}]\nmass = 1.0\nmass_centre = [{}, 0.0, 0.0]\ninertia = [0.01, 0.1, 0.1]\n\
             [joint.{name}_root]\ntype = \"revolute\"\nparent = \"{parent}\"\nchild = \"{name}\"\norigin = [{origin}, 0.0, 0.0]\nstart = {{ position_deg = {degrees} }}\n\
             [frame.{name}_end]\nbody = \"{name}\"\norigin = [{length}, 0.0, 0.0]\n",
            0.5 * length
        )
    };
    let text = format!(
        "name = \"parallelogram\"\n{}{}{}[contact.pin]\na = \"coupler_end\"\nb = \"rocker_end\"\nlaw = \"capture_pin\"\nreach = 1e-6\n",
        link("crank", "world", 0.0, 1.0, 90.0),
        link("coupler", "crank", 1.0, 2.0, -90.0),
        link("rocker", "world", 2.0, 1.0, 90.0)
    );
    let mut run = Run::new(&text, 1e-9);
    command(&mut run, "pin.capture");
    assert_eq!(run.value("pin.captured"), 1.0);
    for link in ["crank", "coupler", "rocker"] {
        run.set_state(&format!("{link}_root.q"), 0.0);
    }
    let Run { simulation, .. } = &mut run;
    let (state, mut dx) = (&simulation.state, vec![0.0; simulation.state.x.len()]);
    let flat = OperatingPoint::new(0.0, &state.x, &state.u, &state.discrete);
    let derivative = simulation.plant.derivative(flat, &mut dx);
    let refused = derivative.expect_err("it is flat");
    messages::record(&refused);
    assert!(
        matches!(&refused, Error::SingularLoop { closure } if closure == "contact \"pin\""),
        "{refused:?}"
    );
}

/// Beyond its reach a capture is rejected with a message.
#[test]
fn capture_out_of_reach_is_reported() {
    let _section = messages::of_this_test();
    let text = craft("capture_pin").replace("reach = 0.02", "reach = 0.001");
    let mut run = Run::new(&text, 1e-9);
    let x = run.simulation.state.x.clone();
    let events = command(&mut run, "grip.capture");
    messages::record(messages::without_decimals(&events[0]));
    let Occurrence::ImpactRefused {
        pairing,
        reason: Refused::OutOfReach { distance, reach },
    } = &events[0].what
    else {
        panic!("{events:?}");
    };
    let grip = Pairing {
        contact: "grip".to_owned(),
        frames: ["hand", "handle"].map(str::to_owned),
        captures: true,
    };
    assert_eq!((pairing, *reach), (&grip, 0.001));
    // The offset of the handle from the hand, by round-off of its position.
    let offset: f64 = Vec3::new(0.003, -0.002, 0.004).norm();
    assert!((distance - offset).abs() < 1e-12, "{distance}");
    assert_eq!((run.value("grip.status"), run.value("grip.captured")), (4.0, 0.0));
    assert_eq!(x, run.simulation.state.x);
}
