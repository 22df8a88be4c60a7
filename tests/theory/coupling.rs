//! Couplings of joints, and the screw joint: gears, mimic joints, threads.

use crate::numbers::Larger;
use crate::run::Run;
use grapple::plant::Model;
use grapple::spec::Formulation;
use std::f64::consts::TAU;
use std::path::Path;

/// Inertias of three wheels of a gear train, kg·m², and the ratios of the two meshes.
const WHEELS: [f64; 3] = [0.2, 0.7, 3.0];
const RATIOS: [f64; 2] = [-0.5, -0.25];

/// Returns three wheels on parallel axes of a base, coupled in two stages.
fn train(parent: &str) -> String {
    let wheel = |k: usize| {
        let inertia = WHEELS[k];
        format!(
            "[body.wheel_{k}]\nmass = 1.0\ninertia = [{inertia}, {inertia}, {inertia}]\n\
             [joint.axle_{k}]\ntype = \"revolute\"\nparent = \"{parent}\"\nchild = \"wheel_{k}\"\norigin = [0.3, 0.2, {k}.0]\n"
        )
    };
    let mesh = |k: usize| {
        let (next, ratio) = (k + 1, RATIOS[k]);
        format!("[coupling.mesh_{k}]\njoint = \"axle_{next}\"\nfollows = \"axle_{k}\"\nratio = {ratio}\noffset = 0.4\n")
    };
    format!(
        "name = \"train\"\n{}{}{}{}{}",
        wheel(0) + "start = { position = 0.2, rate = 1.5 }\n",
        wheel(1),
        wheel(2),
        // The second stage is written first: the start is computed from the first stage on.
        mesh(1),
        mesh(0)
    )
}

#[test]
fn two_stage_gear_train_has_the_acceleration_and_the_torques_of_the_closed_form() {
    let [r_1, r_2] = RATIOS;
    let [i_0, i_1, i_2] = WHEELS;
    let (torque, load) = (0.8, -2.0);
    let acceleration = (torque + r_1 * r_2 * load) / (i_0 + r_1 * r_1 * (i_1 + r_2 * r_2 * i_2));
    let second = i_2 * r_1 * r_2 * acceleration - load;
    let first = i_1 * r_1 * acceleration + r_2 * second;
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, &train("world"), Path::new(".")), 1e-11);
        run.set("axle_0.tau", torque);
        run.set("axle_2.tau", load);
        let mut off = 0.0f64;
        for t in [0.0f64, 0.7, 3.0] {
            run.go(t);
            let angle = 0.2 + 1.5 * t + 0.5 * acceleration * t * t;
            off = off.larger((run.value("axle_0.q") - angle).abs());
            off = off.larger((run.value("axle_1.q") - (r_1 * angle + 0.4)).abs());
            off = off.larger((run.value("axle_2.q") - (r_2 * (r_1 * angle + 0.4) + 0.4)).abs());
            off = off.larger((run.value("mesh_0.torque") - first).abs());
            off = off.larger((run.value("mesh_1.torque") - second).abs());
            off = off.larger(run.value("mesh_1.violation").abs());
        }
        println!("{formulation:?}: angles and torques off by {off:.1e} rad, N·m (1e-8, the integrator's error)");
        assert!(off < 1e-8, "{formulation:?}: {off:e}");
    }
}

/// Returns a gripper on a tumbling base: fingers that slide and turn in opposite senses, and a
/// screw that a motor turns.
fn gripper() -> String {
    let body = |name: &str, mass: f64| {
        format!("[body.{name}]\nmass = {mass}\nmass_centre = [0.1, 0.05, 0.02]\ninertia = [0.1, 0.12, 0.15]\n")
    };
    let joint = |name: &str, kind: &str, parent: &str, more: &str| {
        format!(
            "[joint.{name}_joint]\ntype = \"{kind}\"\nparent = \"{parent}\"\nchild = \"{name}\"\naxis = [0.2, 1.0, 0.3]\norigin = [0.2, 0.1, 0.0]\n{more}"
        )
    };
    format!(
        "name = \"gripper\"\n{}start = {{ angular_velocity = [0.5, -0.3, 0.8] }}\n{}{}{}{}{}{}{}{}\
         [coupling.fingers]\njoint = \"right_joint\"\nfollows = \"left_joint\"\nratio = -1.0\n\
         [coupling.rack]\njoint = \"left_joint\"\nfollows = \"nut_joint\"\nratio = 0.04\noffset = 0.1\n\
         [coupling.tips]\njoint = \"tip_joint\"\nfollows = \"right_joint\"\nratio = 12.0\n",
        body("palm", 5.0),
        body("left", 0.5),
        body("right", 0.4),
        body("nut", 0.7),
        body("tip", 0.2),
        joint("nut", "screw", "palm", "pitch = -0.3\nstart = { rate = 2.0 }\n"),
        joint("left", "prismatic", "palm", ""),
        joint("right", "prismatic", "palm", ""),
        joint("tip", "revolute", "right", ""),
    )
}

#[test]
fn coupled_joints_conserve_momenta_and_energy_and_agree_in_every_formulation() {
    let mut ends: Vec<[f64; 3]> = Vec::new();
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, &gripper(), Path::new(".")), 1e-11);
        run.set("nut_joint.tau", 0.1);
        let off = run.drift(2.0);
        let open = ["fingers", "rack", "tips"].map(|name| run.value(&format!("{name}.violation")).abs());
        let open = open.into_iter().fold(0.0f64, Larger::larger);
        println!(
            "{formulation:?}: invariants off by {off:.1e} J, N·s, N·m·s, violations {open:.1e} (1e-8, the integrator's error)"
        );
        assert!(off < 1e-8 && open < 1e-8, "{formulation:?}: {off:e} {open:e}");
        ends.push(run.values(["nut_joint.q", "tip_joint.q", "right_joint.q"]));
    }
    let apart = ends.iter().flat_map(|end| (0..3).map(|i| (end[i] - ends[0][i]).abs()));
    let apart = apart.fold(0.0f64, Larger::larger);
    println!("formulations differ by {apart:.1e} rad, m (1e-8, the integrator's error)");
    assert!(apart < 1e-8, "{apart:e}");
}

/// A nut on a thread of the pitch `p` under its weight: `q̈ = m g l/(I + m l²)` with `l = p/2π`.
#[test]
fn screw_joint_accelerates_as_the_closed_form_of_a_nut_on_a_thread() {
    let (mass, inertia, pitch) = (2.0, 0.05, 0.4);
    let lead = pitch / TAU;
    let text = format!(
        "name = \"nut\"\n[environment]\ngravity = [0.0, 0.0, -9.0]\n[body.nut]\nmass = {mass}\ninertia = [{inertia}, {inertia}, {inertia}]\n\
         [joint.thread]\ntype = \"screw\"\nparent = \"world\"\nchild = \"nut\"\npitch = {pitch}\n"
    );
    let acceleration = -mass * 9.0 * lead / (inertia + mass * lead * lead);
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-11);
        run.go(2.0);
        let off = [
            run.value("thread.q") - 2.0 * acceleration,
            run.value("nut.r[3]") - 2.0 * acceleration * lead,
        ];
        let off = off.into_iter().fold(0.0f64, |off, x| off.larger(x.abs()));
        println!("{formulation:?}: angle and height off by {off:.1e} rad, m (1e-8, the integrator's error)");
        assert!(off < 1e-8, "{formulation:?}: {off:e}");
    }
}

#[test]
fn couplings_that_cannot_be_are_reported() {
    let text = train("world");
    for (old, new, place) in [
        ("joint = \"axle_1\"", "joint = \"axle_9\"", "\"mesh_0\", joint"),
        ("ratio = -0.5", "ratio = 0.0", "\"mesh_0\", ratio"),
        ("follows = \"axle_0\"", "follows = \"axle_2\"", "\"mesh_0\", follows"),
        ("joint = \"axle_2\"", "joint = \"axle_1\"", "\"mesh_1\", joint"),
        ("joint = \"axle_2\"", "joint = \"axle_0\"", "\"mesh_1\", joint"),
        (
            "child = \"wheel_1\"",
            "child = \"wheel_1\"\nmotion = \"locked\"",
            "\"mesh_0\", joint",
        ),
        ("\"revolute\"", "\"planar\"", "\"mesh_0\", follows"),
        (
            "name = \"train\"",
            "name = \"train\"\nassembly = { equilibrium = true }",
            "coupling \"mesh_0\"",
        ),
    ] {
        let changed = text.replacen(old, new, 1);
        assert_ne!(changed, text, "{old}");
        let message = Model::read(&changed, Path::new("."))
            .expect_err("not valid")
            .to_string();
        assert!(message.contains(place), "{place} is not in: {message}");
    }
    for (pitch, place) in [("", "\"thread\", pitch"), ("pitch = 0.0\n", "\"thread\", pitch")] {
        let text = format!(
            "name = \"nut\"\n[body.nut]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n[joint.thread]\ntype = \"screw\"\nparent = \"world\"\nchild = \"nut\"\n{pitch}"
        );
        let message = Model::read(&text, Path::new(".")).expect_err("not valid").to_string();
        assert!(message.contains(place), "{message}");
    }
}
