//! Dry friction that sticks.

use crate::numbers::Larger;
use crate::run::Run;
use grapple::plant::Model;
use grapple::spec::Formulation;
use std::f64::consts::PI;
use std::path::Path;

const INERTIA: f64 = 2.0;

/// Returns an arm on a joint of the world with this friction.
fn arm(friction: &str) -> String {
    format!(
        "name = \"held\"\n[body.arm]\nmass = 1.0\ninertia = [{INERTIA}, {INERTIA}, {INERTIA}]\n[frame.tip]\nbody = \"arm\"\norigin = [1.0, 0.0, 0.0]\n[port.push]\nframe = \"tip\"\nimpulse = true\n\
         [joint.hinge]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"arm\"\nfriction = {{ {friction} }}\n"
    )
}

/// A load that oscillates below the breakaway torque lets models of friction with a state creep.
#[test]
fn arm_held_by_friction_for_1000_s_does_not_creep() {
    let text = arm("coulomb = 2.0, breakaway = 3.0, stribeck = 0.01")
        + "[environment]\ngravity = [0.0, 0.0, -9.81]\n\
           [signal.\"hinge.tau\"]\ntype = \"sine\"\namplitude = 1.4\noffset = 1.5\nfrequency = 0.7\nfrom_importer = false\n";
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-8);
        run.go(1000.0);
        let [angle, friction, sticks] = run.values(["hinge.q", "hinge.friction_torque", "hinge.sticks"]);
        let tau = 1.5 + 1.4 * (2.0 * PI * 700.0).sin();
        println!(
            "{formulation:?}: moved by {angle:e} rad, held by {friction} N·m, events {}",
            run.simulation.statistics()
        );
        assert!(angle.abs() < 1e-15 && sticks == 1.0, "{angle:e} {sticks}");
        assert!((friction + tau).abs() < 1e-8, "{friction}");
    }
}

/// A torque of 5 N·m against 2 N·m of friction, for a second; then the arm stops and sticks.
#[test]
fn arm_slides_and_stops_as_the_closed_form_with_its_losses() {
    for formulation in Formulation::ALL {
        let mut run = Run::of(
            crate::plant_in(formulation, &arm("coulomb = 2.0"), Path::new(".")),
            1e-10,
        );
        run.set("hinge.tau", 5.0);
        run.go(1.0);
        let (slid, rate) = (0.5 * 3.0 / INERTIA, 3.0 / INERTIA);
        let mut off = [run.value("hinge.q") - slid, run.value("hinge.qd") - rate].map(f64::abs);
        assert_eq!(run.value("hinge.sticks"), 0.0);
        run.set("hinge.tau", 0.0);
        // It decelerates at 1 rad/s² and stops after 1.5 s.
        run.go(4.0);
        let angle = slid + 0.5 * rate * rate * INERTIA / 2.0;
        off[0] = off[0].larger((run.value("hinge.q") - angle).abs());
        off[1] = off[1].larger(run.value("hinge.qd").abs());
        let balance = run.value("system.energy") - run.value("system.work");
        println!(
            "{formulation:?}: off by {:.1e} rad, {:.1e} rad/s, balance {balance:.1e} J (1e-8)",
            off[0], off[1]
        );
        assert!(
            off[0] < 1e-8 && off[1] < 1e-8 && balance.abs() < 1e-8,
            "{off:?} {balance:e}"
        );
        assert_eq!(run.value("hinge.sticks"), 1.0);
    }
}

/// A brick on a belt at constant speed, held by a spring, with the static friction `F_s` and the
/// kinetic friction `F_k`: with `A = (F_s − F_k)/k` and `ω² = k/m` it sticks for `2 A/v` and slides
/// for `(2π − 2 atan(A ω/v))/ω`, between the deflections `F_s/k` and `(2 F_k − F_s)/k`. The
/// friction falls from one to the other at the Stribeck rate, which the closed form takes as zero.
#[test]
fn brick_on_a_belt_has_the_stick_slip_motion_of_the_closed_form() {
    let (mass, stiffness, speed) = (1.0, 100.0f64, 0.1);
    let (coulomb, breakaway) = (4.0, 6.0);
    let amplitude = (breakaway - coulomb) / stiffness;
    let frequency = (stiffness / mass).sqrt();
    let stick = 2.0 * amplitude / speed;
    let slip = (2.0 * PI - 2.0 * (amplitude * frequency / speed).atan()) / frequency;
    let mut errors = Vec::new();
    for stribeck in [1e-5, 1e-7] {
        let text = format!(
            "name = \"belt\"\n[body.belt]\nmass = 3.0\ninertia = [1.0, 1.0, 1.0]\n[body.brick]\nmass = {mass}\ninertia = [1.0, 1.0, 1.0]\n\
             [joint.drive]\ntype = \"prismatic\"\nparent = \"world\"\nchild = \"belt\"\naxis = [1.0, 0.0, 0.0]\nmotion = \"prescribed\"\nstart = {{ rate = {speed} }}\n\
             [joint.slide]\ntype = \"prismatic\"\nparent = \"belt\"\nchild = \"brick\"\naxis = [1.0, 0.0, 0.0]\n\
             friction = {{ coulomb = {coulomb}, breakaway = {breakaway}, stribeck = {stribeck} }}\n\
             [frame.anchor]\nbody = \"brick\"\norigin = [1.0, 0.0, 0.0]\n\
             [spring.spring]\na = \"world\"\nb = \"anchor\"\nstiffness = {stiffness}\nrest_length = 1.0\n"
        );
        let mut run = Run::new(&text, 1e-11);
        // First break-away at the deflection F_s/k; then a period later the same state.
        let first = breakaway / stiffness / speed;
        let mut off = 0.0f64;
        for k in 1..=3 {
            run.go(first + f64::from(k) * (stick + slip) - 0.25 * stick);
            let deflection = breakaway / stiffness - 0.25 * stick * speed;
            off = off.larger((run.value("spring.length") - 1.0 - deflection).abs() / amplitude);
            assert_eq!(run.value("slide.sticks"), 1.0);
            run.go(first + f64::from(k) * (stick + slip) + 0.5 * slip);
            assert_eq!(run.value("slide.sticks"), 0.0);
        }
        println!("Stribeck rate {stribeck:e} m/s: deflection off by {off:.1e} of the amplitude");
        errors.push(off);
    }
    assert!(errors[1] < 0.1 * errors[0] && errors[1] < 1e-3, "{errors:?}");
}

/// Returns a tumbling spacecraft with an arm of three joints with dry friction.
fn tumbling() -> String {
    let link = |name: &str, parent: &str, axis: &str, friction: &str| {
        format!(
            "[body.{name}]\nmass = 2.0\nmass_centre = [0.4, 0.0, 0.1]\ninertia = [0.2, 0.5, 0.6]\n\
             [joint.{name}_joint]\ntype = \"revolute\"\nparent = \"{parent}\"\nchild = \"{name}\"\norigin = [0.8, 0.1, 0.0]\naxis = {axis}\n\
             friction = {{ {friction} }}\nstart = {{ rate = 0.5 }}\n"
        )
    };
    format!(
        "name = \"tumbling\"\n[body.hub]\nmass = 8.0\nmass_centre = [0.1, 0.0, 0.05]\ninertia = [3.0, 4.0, 5.0]\n\
         start = {{ angular_velocity = [0.4, 0.6, -0.3] }}\n{}{}{}",
        link(
            "upper",
            "hub",
            "[0.0, 1.0, 0.2]",
            "coulomb = 0.3, breakaway = 0.4, stribeck = 0.05"
        ),
        link("lower", "upper", "[0.0, 0.3, 1.0]", "coulomb = 0.2"),
        link(
            "hand",
            "lower",
            "[1.0, 0.3, 0.0]",
            "coulomb = 0.05, breakaway = 0.06, stribeck = 0.01"
        ),
    )
}

#[test]
fn momenta_and_energy_less_work_are_constant_while_joints_stick_and_slide() {
    let mut ends: Vec<[f64; 3]> = Vec::new();
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, &tumbling(), Path::new(".")), 1e-11);
        let off = run.drift(5.0);
        println!(
            "{formulation:?}: invariants off by {off:.1e} J, N·s, N·m·s (1e-8, the integrator's error); {}",
            run.simulation.statistics()
        );
        assert!(off < 1e-8, "{formulation:?}: {off:e}");
        ends.push(run.values(["upper_joint.q", "lower_joint.q", "hand_joint.q"]));
    }
    let apart = ends.iter().flat_map(|end| (0..3).map(|i| (end[i] - ends[0][i]).abs()));
    let apart = apart.fold(0.0f64, Larger::larger);
    println!("formulations differ by {apart:.1e} rad (1e-6, events at slow rates)");
    assert!(apart < 1e-6, "{apart:e}");
}

/// A torque that is limited transmits no impulse: the arm moves as if it were free, then stops.
#[test]
fn impulse_moves_an_arm_that_sticks() {
    let mut run = Run::new(&arm("coulomb = 2.0, breakaway = 3.0, stribeck = 1e-3"), 1e-10);
    run.go(0.5);
    run.set("push.impulse[2]", 1.0);
    run.set("push.impact", 1.0);
    run.go(0.5 + 1e-9);
    let off = run.value("hinge.qd") - 1.0 / INERTIA;
    println!("rate off by {off:.1e} rad/s (1e-8, the friction during 1e-9 s)");
    assert!(off.abs() < 1e-8, "{off:e}");
    assert_eq!(run.value("hinge.sticks"), 0.0);
    run.go(3.0);
    assert_eq!(run.value("hinge.sticks"), 1.0);
}

/// Returns two coupled fingers with friction on a free palm.
fn fingers(ratio: f64, more: &str) -> String {
    let finger = |name: &str, more: &str| {
        format!(
            "[body.{name}]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n[joint.{name}_joint]\ntype = \"prismatic\"\nparent = \"palm\"\n\
             child = \"{name}\"\naxis = [1.0, 0.0, 0.0]\nfriction = {{ coulomb = 1.0 }}\n{more}"
        )
    };
    format!(
        "name = \"fingers\"\n[body.palm]\nmass = 4.0\ninertia = [1.0, 1.0, 1.0]\n{}{}\
         [coupling.hand]\njoint = \"right_joint\"\nfollows = \"left_joint\"\nratio = {ratio}\n{more}",
        finger("left", "start = { rate = 0.5 }\n"),
        finger("right", "")
    )
}

/// Coupled joints stop together: each has a friction of 1 N and a mass of 1 kg, so both decelerate
/// at 1 m/s² relative to a palm that the coupling leaves at rest for the ratio −1.
#[test]
fn coupled_joints_stop_together() {
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, &fingers(-1.0, ""), Path::new(".")), 1e-10);
        run.go(2.0);
        let off = run.value("left_joint.q") - 0.125;
        println!("{formulation:?}: travel off by {off:.1e} m (1e-8, the integrator's error)");
        assert!(off.abs() < 1e-8 && run.value("left_joint.qd").abs() < 1e-9, "{off:e}");
        run.set("left_joint.tau", 5.0);
        run.go(3.0);
        // (5 − 2)/2 m/s² for a second.
        let off = run.value("left_joint.q") - 0.125 - 0.75;
        assert!(off.abs() < 1e-8, "{off:e}");
    }
    let mut run = Run::new(&fingers(1.0, ""), 1e-10);
    run.go(4.0);
    assert!(run.value("left_joint.qd").abs() < 1e-9 && run.value("hand.violation").abs() < 1e-9);
}

/// A parallelogram with friction in all its joints stops; an impulse moves it again, and the loop
/// stays closed.
#[test]
fn loop_with_friction_stops_and_transmits_an_impulse() {
    let link = |name: &str, parent: &str, origin: &str, start: &str| {
        format!(
            "[body.{name}]\nmass = 1.0\nmass_centre = [0.5, 0.0, 0.0]\ninertia = [0.01, 0.1, 0.1]\n[joint.{name}_joint]\ntype = \"revolute\"\n\
             parent = \"{parent}\"\nchild = \"{name}\"\norigin = {origin}\nfriction = {{ coulomb = 0.1 }}\nstart = {{ {start} }}\n"
        )
    };
    let text = format!(
        "name = \"parallelogram\"\n{}{}{}[frame.corner]\nbody = \"coupler\"\norigin = [2.0, 0.0, 0.0]\n\
         [frame.rocker_end]\nbody = \"rocker\"\norigin = [1.0, 0.0, 0.0]\n[loop.pin]\ntype = \"revolute\"\na = \"corner\"\nb = \"rocker_end\"\n\
         [port.push]\nframe = \"corner\"\nimpulse = true\n",
        link("crank", "world", "[0.0, 0.0, 0.0]", "position_deg = 60.0"),
        link("coupler", "crank", "[1.0, 0.0, 0.0]", "position_deg = -60.0"),
        link("rocker", "world", "[2.0, 0.0, 0.0]", "position_deg = 60.0"),
    );
    let mut run = Run::new(&text, 1e-9);
    run.go(0.5);
    assert_eq!(run.value("crank_joint.sticks"), 1.0);
    run.set("push.impulse[1]", -0.4);
    run.set("push.impact", 1.0);
    run.go(0.51);
    let moving = run.value("crank_joint.qd");
    run.go(6.0);
    let violation = run.value("pin.violation");
    println!("rate after the impulse {moving:.3} rad/s, violation {violation:.1e} m (1e-7)");
    assert!(moving.abs() > 0.1 && violation < 1e-7, "{moving} {violation:e}");
    assert_eq!(run.value("crank_joint.sticks"), 1.0);
}

/// Below an efficiency of one half no torque on the child turns the motor.
#[test]
fn gear_below_half_efficiency_is_self_locking() {
    let text = |efficiency: f64| {
        format!(
            "name = \"worm\"\n[body.arm]\nmass = 1.0\ninertia = [2.0, 2.0, 2.0]\n[port.push]\nframe = \"arm\"\n\
             [joint.hinge]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"arm\"\n\
             [joint.hinge.drive_train]\nratio = 50.0\nrotor_mass = 0.2\nrotor_inertia = 1e-4\nstiffness = 1e4\ndamping = 30.0\n\
             efficiency = {efficiency}\nfriction = {{ coulomb = 0.01 }}\n"
        )
    };
    for (efficiency, holds) in [(0.45, true), (0.55, false)] {
        let mut run = Run::new(&text(efficiency), 1e-9);
        run.set("push.t[3]", 300.0);
        run.go(2.0);
        let [motor, sticks] = run.values(["hinge_motor.q", "hinge.gear_sticks"]);
        println!("efficiency {efficiency}: motor turned by {motor:.3} rad, sticks {sticks}");
        assert_eq!(sticks == 1.0, holds);
        assert_eq!(motor.abs() < 1e-12, holds, "{motor:e}");
    }
}

/// A brake, a prescribed motion and friction on one joint: friction opposes the prescribed motion.
#[test]
fn friction_loads_a_drive_in_both_directions() {
    let text = arm("coulomb = 2.0").replace("friction", "motion = \"prescribed\"\nfriction");
    let mut run = Run::new(&text, 1e-10);
    run.set("hinge.qdd", 0.3);
    run.go(1.0);
    let forward = run.value("hinge.drive") - (INERTIA * 0.3 + 2.0);
    run.set("hinge.qdd", -0.3);
    run.go(3.0);
    let backward = run.value("hinge.drive") - (-INERTIA * 0.3 - 2.0);
    println!("drive off by {forward:.1e}, {backward:.1e} N·m (1e-9, round-off)");
    assert!(
        forward.abs() < 1e-9 && backward.abs() < 1e-9,
        "{forward:e} {backward:e}"
    );
}

#[test]
fn friction_that_cannot_stick_is_reported() {
    for (friction, place) in [
        ("coulomb = 2.0, slip = 0.1, breakaway = 3.0", "friction.breakaway"),
        ("coulomb = 2.0, slip = 0.1, stribeck = 3.0", "friction.stribeck"),
        ("coulomb = 2.0, breakaway = 3.0", "friction"),
        ("coulomb = 2.0, breakaway = 1.0, stribeck = 0.1", "friction.breakaway"),
        ("coulomb = -2.0", "friction.coulomb"),
    ] {
        let message = Model::read(&arm(friction), Path::new("."))
            .expect_err("not valid")
            .to_string();
        assert!(
            message.contains(&format!("\"hinge\", {place}")),
            "{place} is not in: {message}"
        );
    }
    let spherical = arm("coulomb = 2.0").replace("\"revolute\"", "\"spherical\"");
    let message = Model::read(&spherical, Path::new("."))
        .expect_err("not valid")
        .to_string();
    assert!(message.contains("\"hinge\", friction"), "{message}");
}
