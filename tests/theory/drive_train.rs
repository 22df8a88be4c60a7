//! Drive trains of joints: the elastic gear between the rotor of a motor and the child.

use crate::numbers::Larger;
use crate::run::Run;
use grapple::plant::Model;
use grapple::spec::Formulation;
use nalgebra::{Matrix3, SymmetricEigen, Vector3};
use std::f64::consts::PI;
use std::path::Path;

/// Stiffness of the gear, N·m/rad; inertia of the child, of the rotor and of the base, kg·m².
const K: f64 = 400.0;
const CHILD: f64 = 20.0;
const ROTOR: f64 = 1e-3;
const BASE: f64 = 5.0;
const RATIO: f64 = 100.0;

/// Returns a child on a joint with a drive train on a parent; all axes are z.
fn knee(parent: &str, joint: &str, train: &str) -> String {
    format!(
        "name = \"knee\"\n[body.hub]\nmass = 8.0\ninertia = [{BASE}, {BASE}, {BASE}]\n\
         [body.shin]\nmass = 30.0\ninertia = [{CHILD}, {CHILD}, {CHILD}]\n[port.push]\nframe = \"shin\"\n\
         [joint.knee]\ntype = \"revolute\"\nparent = \"{parent}\"\nchild = \"shin\"\n{joint}\n\
         [joint.knee.drive_train]\nratio = {RATIO}\nrotor_mass = 0.5\nrotor_inertia = {ROTOR}\nstiffness = {K}\n{train}"
    )
}

/// The rotor is locked to the free base: two inertias on a spring, under a moment on one of them.
#[test]
fn twist_with_the_brake_on_is_that_of_two_inertias_and_a_spring() {
    let base = BASE + ROTOR;
    let frequency = (K * (1.0 / base + 1.0 / CHILD)).sqrt();
    for formulation in Formulation::ALL {
        let text = knee("hub", "motion = \"locked\"", "");
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-11);
        run.set("push.t[3]", 2.0);
        let mut off = 0.0f64;
        for t in [0.05, 0.2, 0.5, 1.0] {
            run.go(t);
            let angle = 2.0 / CHILD / frequency.powi(2) * (1.0 - (frequency * t).cos());
            off = off.larger((run.value("knee.q") - angle).abs() / 0.025);
            off = off.larger((run.value("knee.gear_torque") + K * angle).abs() / (K * 0.025));
            // The brake carries the gear's torque, less what turns the rotor with the base.
            let brake = -K * angle * (1.0 - ROTOR * RATIO / base);
            off = off.larger((run.value("knee.drive") - brake).abs() / (K * 0.025));
        }
        println!("{formulation:?}: angle and torques off by {off:.1e} of the largest (1e-7, the integrator's error)");
        assert!(off < 1e-7, "{formulation:?}: {off:e}");
    }
}

/// An arm of 15 m with a payload of 16 t on a spacecraft of 95 t, by a gear of 7.6e4 N·m/rad: with
/// the hinge at `a` and `b` from the mass centres, the reduced mass `μ` and `M₁₁ = I₁ + μ a²`,
/// `M₂₂ = I₂ + μ b²`, `M₁₂ = μ a b`, the frequency is `ω² = k (M₁₁ + 2 M₁₂ + M₂₂)/(M₁₁ M₂₂ − M₁₂²)`.
#[test]
fn loaded_arm_vibrates_near_0_03_hz_with_the_brake_on_and_drifts_with_it_off() {
    let (k, a, b) = (7.6e4f64, 6.0, 15.0);
    let ([m_1, i_1], [m_2, i_2]) = ([95e3, 1e7], [16e3, 4e5]);
    let text = |motion: &str| {
        format!(
            "name = \"loaded\"\n[body.shuttle]\nmass = {m_1}\ninertia = [{i_1}, {i_1}, {i_1}]\n\
             [body.arm]\nmass = {m_2}\nmass_centre = [{b}, 0.0, 0.0]\ninertia = [{i_2}, {i_2}, {i_2}]\n\
             [joint.shoulder]\ntype = \"revolute\"\nparent = \"shuttle\"\nchild = \"arm\"\norigin = [{a}, 0.0, 0.0]\n{motion}\n\
             [joint.shoulder.drive_train]\nratio = 1845.0\nrotor_mass = 1e-3\nrotor_inertia = 1e-6\nstiffness = {k}\n"
        )
    };
    let mu = m_1 * m_2 / (m_1 + m_2);
    let [of_1, of_2, across] = [i_1 + mu * a * a, i_2 + mu * b * b, mu * a * b];
    let frequency = (k * (of_1 + 2.0 * across + of_2) / (of_1 * of_2 - across * across)).sqrt();
    let mut run = Run::new(&text("motion = \"locked\""), 1e-11);
    run.set_state("shoulder.q", 1e-4);
    let mut off = 0.0f64;
    for k in 1..=8 {
        let t = 0.5 * PI / frequency * f64::from(k);
        run.go(t);
        off = off.larger((run.value("shoulder.q") / 1e-4 - (frequency * t).cos()).abs());
    }
    let hertz = frequency / (2.0 * PI);
    println!("{hertz:.4} Hz, angle off by {off:.1e} of the amplitude (1e-6, angles of 1e-4 rad)");
    assert!((hertz - 0.03).abs() < 5e-4 && off < 1e-6, "{hertz} {off:e}");

    let mut run = Run::new(&text("start = { rate = 1e-6 }"), 1e-11);
    run.go(100.0);
    let off = run.value("shoulder.q") / 1e-4 - 1.0;
    println!("with the brake off the angle is off by {off:.1e} of the drift (1e-6)");
    assert!(off.abs() < 1e-6, "{off:e}");
}

/// The rotor is free: base, rotor and child against the modes of the three coupled coordinates,
/// with the energy `½ I_b φ̇² + ½ J (φ̇ + n θ̇)² + ½ I (φ̇ + q̇)² + ½ k (θ − q)²`.
#[test]
fn free_rotor_moves_as_the_three_inertias_of_the_closed_form() {
    let turned = Vector3::new(1.0, RATIO, 0.0);
    let carried = Vector3::new(1.0, 0.0, 1.0);
    let twist = Vector3::new(0.0, 1.0, -1.0);
    let M = Matrix3::from_diagonal(&Vector3::new(BASE, 0.0, 0.0))
        + turned * turned.transpose() * ROTOR
        + carried * carried.transpose() * CHILD;
    let stiffness = twist * twist.transpose() * K;
    let L = M.cholesky().expect("positive definite").l();
    let L_inverse = L.try_inverse().expect("regular");
    let modes = SymmetricEigen::new(L_inverse * stiffness * L_inverse.transpose());
    let force = L_inverse * carried * 2.0;
    let at = |t: f64| {
        let mut x = Vector3::zeros();
        for k in 0..3 {
            let shape = modes.eigenvectors.column(k);
            let square = modes.eigenvalues[k].max(0.0);
            let response = if square < 1e-9 * K {
                0.5 * t * t
            } else {
                (1.0 - (square.sqrt() * t).cos()) / square
            };
            x += L_inverse.transpose() * shape * (shape.dot(&force) * response);
        }
        x
    };
    for formulation in Formulation::ALL {
        let text = knee("hub", "", "");
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-11);
        run.set("push.t[3]", 2.0);
        let mut off = 0.0f64;
        for t in [0.05, 0.2, 0.5, 1.0] {
            run.go(t);
            let [_, rotor, child] = at(t).into();
            off = off.larger((run.value("knee_motor.q") - rotor).abs() / 0.1);
            off = off.larger((run.value("knee.q") - child).abs() / 0.1);
        }
        println!("{formulation:?}: angles off by {off:.1e} of 0.1 rad (1e-7, the integrator's error)");
        assert!(off < 1e-7, "{formulation:?}: {off:e}");
    }
}

/// Returns a tumbling spacecraft with a drive train that has everything, and fast rotors.
fn tumbling(train: &str) -> String {
    format!(
        "name = \"tumbling\"\n[body.hub]\nmass = 8.0\nmass_centre = [0.1, 0.0, 0.05]\ninertia = [3.0, 4.0, 5.0]\n\
         start = {{ angular_velocity = [0.4, 0.6, -0.3] }}\n\
         [body.arm]\nmass = 2.0\nmass_centre = [0.4, 0.0, 0.1]\ninertia = [0.2, 0.5, 0.6]\n\
         [body.hand]\nmass = 1.0\nmass_centre = [0.3, 0.1, 0.0]\ninertia = [0.1, 0.2, 0.25]\n\
         [joint.shoulder]\ntype = \"revolute\"\nparent = \"hub\"\nchild = \"arm\"\norigin = [0.3, 0.1, 0.0]\n\
         axis = [0.0, 1.0, 0.2]\nstart = {{ rate = 0.5 }}\n\
         [joint.shoulder.drive_train]\nratio = 60.0\nrotor_mass = 0.3\nrotor_inertia = 2e-3\nstiffness = 90.0\n{train}\
         [joint.wrist]\ntype = \"revolute\"\nparent = \"arm\"\nchild = \"hand\"\norigin = [0.8, 0.0, 0.0]\n\
         axis = [1.0, 0.3, 0.0]\nstart = {{ rate = -0.7 }}\n\
         [joint.wrist.drive_train]\nratio = -80.0\nrotor_mass = 0.1\nrotor_inertia = 4e-4\nstiffness = 20.0\n"
    )
}

const ALL_LOSSES: &str = "hardening = 5e4\ndamping = 0.8\nbacklash = 2e-3\nefficiency = 0.7\n\
                          friction = { coulomb = 0.2, slip = 0.05 }\n";

#[test]
fn momenta_and_energy_less_work_of_tumbling_drive_trains_are_constant() {
    for train in ["hardening = 5e4\n", ALL_LOSSES] {
        let mut ends: Vec<[f64; 2]> = Vec::new();
        for formulation in Formulation::ALL {
            let plant = crate::plant_in(formulation, &tumbling(train), Path::new("."));
            let mut run = Run::of(plant, 1e-11);
            let off = run.drift(2.0);
            println!("{formulation:?}: invariants off by {off:.1e} J, N·s, N·m·s (1e-8, the integrator's error)");
            assert!(off < 1e-8, "{formulation:?} {train}: {off:e}");
            ends.push(run.values(["shoulder.q", "wrist_motor.q"]));
        }
        let first = ends[0];
        let apart = ends.iter().flat_map(|end| (0..2).map(|i| (end[i] - first[i]).abs()));
        let apart = apart.fold(0.0f64, Larger::larger);
        println!("formulations differ by {apart:.1e} rad (1e-7, the integrator's error)");
        assert!(apart < 1e-7, "{apart:e}");
    }
}

/// The child falls against one side of the gear under a constant moment and bounces.
#[test]
fn bounces_in_the_backlash_have_the_period_of_the_closed_form() {
    let (moment, play) = (3.0, 0.01);
    let text = knee("world", "motion = \"locked\"", "backlash = 0.02\n").replace(
        "[body.hub]\nmass = 8.0\n",
        "[body.hub]\nmass = 8.0\nstart = { position = [9.0, 0.0, 0.0] }\n",
    );
    let fall = (2.0 * play * CHILD / moment).sqrt();
    let (speed, frequency) = (moment * fall / CHILD, (K / CHILD).sqrt());
    let contact = 2.0 * (PI - (speed * K / (frequency * moment)).atan()) / frequency;
    let period = 2.0 * fall + contact;
    let mut run = Run::new(&text, 1e-11);
    run.set("push.t[3]", moment);
    let mut off = 0.0f64;
    for k in 1..=3 {
        run.go(period * f64::from(k));
        off = off.larger(run.value("knee.q").abs() / play);
        run.go(period * f64::from(k) + 0.5 * fall);
        off = off.larger((run.value("knee.q") / play - 0.25).abs());
        assert_eq!(run.value("knee.gear_torque"), 0.0, "no torque within the backlash");
    }
    println!("bounces off by {off:.1e} of the backlash (1e-6, the integrator's error at an unsmooth torque)");
    assert!(off < 1e-6, "{off:e}");
}

#[test]
fn hardening_gear_rests_where_its_cubic_law_balances_the_moment() {
    let text = knee("world", "motion = \"locked\"", "hardening = 2e6\ndamping = 150.0\n");
    let mut run = Run::new(&text, 1e-10);
    run.set("push.t[3]", 30.0);
    run.go(60.0);
    let [angle, torque] = run.values(["knee.q", "knee.gear_torque"]);
    let off = K * angle + 2e6 * angle.powi(3) - 30.0;
    println!("balance off by {off:.1e} N·m, torque {torque} N·m (1e-6 of 30 N·m, the integrator's error)");
    assert!(off.abs() < 3e-5 && (torque + 30.0).abs() < 3e-5, "{off:e} {torque}");
}

/// At a constant rate the motor exerts `T/η` to drive the child, and `(2 − 1/η) T` while the child
/// drives it.
#[test]
fn gear_has_its_efficiency_in_both_directions() {
    let efficiency: f64 = 0.8;
    let train = "damping = 60.0\nefficiency = 0.8\nfriction = { coulomb = 0.0, slip = 1e-3 }\n";
    let joint = "motion = \"prescribed\"\nstart = { rate = 1.0 }";
    for (moment, factor) in [(-5.0, 1.0 / efficiency), (5.0, 2.0 - 1.0 / efficiency)] {
        let mut run = Run::new(&knee("world", joint, train), 1e-10);
        run.set("push.t[3]", moment);
        run.go(60.0);
        let [torque, drive] = run.values(["knee.gear_torque", "knee.drive"]);
        println!("child driven with {torque} N·m, motor {drive} N·m, factor {factor} (1e-6, decay and integrator)");
        assert!((torque + moment).abs() < 1e-5, "{torque}");
        assert!((drive - factor * torque).abs() < 1e-5, "{drive} {torque}");
    }
}

/// The torques of the actuators are those at the child: a servo that holds the rotor at its
/// reference sees the rotor's inertia times the square of the ratio.
#[test]
fn servo_acts_on_the_reflected_inertia_of_the_rotor() {
    // Without stiffness worth mentioning the child stays, and the rotor is a mass on a spring.
    let text = knee("world", "servo = { kp = 160.0, kd = 0.0 }", "").replace("stiffness = 400", "stiffness = 1e-9");
    let mut run = Run::new(&text, 1e-11);
    run.set("knee.q_ref", 0.1);
    let frequency = (160.0 / (ROTOR * RATIO * RATIO)).sqrt();
    run.go(1.3);
    let off = run.value("knee_motor.q") - 0.1 * (1.0 - (frequency * 1.3).cos());
    println!("rotor off by {off:.1e} rad (1e-9, the integrator's error)");
    assert!(off.abs() < 1e-9, "{off:e}");
}

/// A gear without twist at a constant rate: implicit methods must not treat the common motion of
/// both sides as a vibration.
#[test]
fn stiff_gear_turns_at_a_constant_rate_with_every_method() {
    for method in ["auto", "rosenbrock", "radau5", "dopri5"] {
        let text = knee("hub", "start = { rate = 0.01 }", "").replace("stiffness = 400", "stiffness = 1e6");
        let mut run = Run::new(&format!("{text}[solver]\nmethod = \"{method}\"\n"), 1e-6);
        run.go(2.0);
        let off = run.value("knee.q") - 0.02;
        println!(
            "{method}: angle off by {off:.1e} rad (1e-6), {}",
            run.simulation.statistics()
        );
        assert!(off.abs() < 1e-6, "{method}: {off:e}");
    }
}

#[test]
fn fields_that_do_not_fit_a_drive_train_are_reported() {
    let refused = |text: &str| Model::read(text, Path::new(".")).expect_err("not valid").to_string();
    for (joint, train, place) in [
        ("rotor_inertia = 2.0", "", "\"knee\", rotor_inertia"),
        (
            "servo = { kp = 1.0, kd = 1.0, feed_forward = \"rigid\" }",
            "",
            "\"knee\", servo.feed_forward",
        ),
        ("", "efficiency = 0.5\n", "\"knee\", drive_train.efficiency"),
        (
            "",
            "efficiency = 1.5\nfriction = { coulomb = 1.0, slip = 0.1 }\n",
            "\"knee\", drive_train.efficiency",
        ),
        (
            "",
            "friction = { coulomb = [1.0, 2.0], slip = 0.1 }\n",
            "\"knee\", drive_train.friction.coulomb",
        ),
        ("", "damping = -1.0\n", "\"knee\", drive_train.damping"),
    ] {
        let message = refused(&knee("hub", joint, train));
        assert!(message.contains(place), "{place} is not in: {message}");
    }
    let message = refused(&knee("hub", "", "").replace("ratio = 100", "ratio = 0"));
    assert!(message.contains("\"knee\", drive_train.ratio"), "{message}");
    let message = refused(&knee("hub", "", "").replace("\"revolute\"", "\"prismatic\""));
    assert!(message.contains("\"knee\", drive_train"), "{message}");
    let conserving = knee("hub", "", "") + "[solver]\nmethod = \"conserving\"\nstep = 0.01\n";
    for text in [
        conserving.replace("name = \"knee\"", "name = \"knee\"\nformulation = \"natural\""),
        knee("hub", "", "") + "[assembly]\nequilibrium = true\n",
    ] {
        let message = refused(&text);
        assert!(message.contains("\"knee\", drive_train"), "{message}");
    }
    let taken = knee("hub", "", "") + "[frame.knee_motor]\nbody = \"hub\"\n";
    assert!(refused(&taken).contains("knee_motor"));
}
