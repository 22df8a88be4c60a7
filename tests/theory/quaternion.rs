//! The formulation in maximal coordinates, compared with the recursive one and with the paper's
//! equations.

use crate::every_load::every_load;
use crate::long::long;
use crate::numbers::{Larger, relative_distance};
use crate::random_tree::{ByRecursion, RandomTree, random_craft, random_tree};
use crate::run::Run;
use grapple::algebra::{Quaternion, Twist, Vec3, Wrench};
use grapple::dynamics::quaternion::{Rows, SaddlePoint};
use grapple::dynamics::{Applied, condition};
use grapple::plant::{OperatingPoint, Plant};
use grapple::spec::JointType;
use grapple::system::{
    Attitude, Baumgarte, BodyKinematics, Configuration, JointState, Kinematics, Maximal, MaximalState, Mechanism,
    Recovered,
};
use nalgebra::DMatrix;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::HashMap;

const TREES: u64 = 60;

fn trees() -> impl Iterator<Item = (u64, RandomTree)> {
    (0..TREES).map(|seed| (seed, random_tree(seed, 5 + (seed as usize * 7) % 56, 1.0)))
}

/// The tolerance is 1e-11, or a hundred round-offs times the condition number of the saddle-point
/// matrix if that is larger.
#[test]
fn accelerations_and_reactions_equal_the_recursive_formulation() {
    let (mut worst_qdd, mut worst_F, mut worst_condition): (f64, f64, f64) = (0.0, 0.0, 0.0);
    for (seed, tree) in trees() {
        let (system, derived) = (tree.plant.model().system(), tree.plant.derived());
        let ByRecursion {
            kinematics,
            applied,
            qdd: by_recursion,
            F,
        } = ByRecursion::of(&tree);
        let mut qdd = vec![0.0; system.nv];
        let rows = if seed % 2 == 0 { Rows::Joints } else { Rows::Momentum };
        let mut saddle_point = SaddlePoint::new(system, rows);
        let at = Configuration {
            system,
            derived,
            kinematics: &kinematics,
        };
        saddle_point.solve(at, &applied, &mut qdd).expect("regular");
        let off = relative_distance(&qdd, &by_recursion);
        let numbers = |F: &[Wrench<f64>]| -> Vec<f64> {
            let held = F.iter().zip(&system.bodies).filter(|(_, body)| body.joint.nv < 6);
            held.flat_map(|(F, _)| F.t.iter().chain(F.f.iter()).copied().collect::<Vec<_>>())
                .collect()
        };
        let off_F = relative_distance(&numbers(&saddle_point.F), &numbers(&F));
        let condition = condition(&saddle_point.matrix(at, &applied));
        let bound = (100.0 * f64::EPSILON * condition).max(1e-11);
        assert!(
            off < bound && off_F < bound,
            "seed {seed}: accelerations {off:e}, reactions {off_F:e} of {bound:e}"
        );
        worst_qdd = worst_qdd.larger(off);
        worst_F = worst_F.larger(off_F);
        worst_condition = worst_condition.larger(condition);
    }
    println!(
        "worst ‖Δq̈‖/‖q̈‖ {worst_qdd:.1e}, worst ‖ΔF‖/‖F‖ {worst_F:.1e} of {TREES} trees (1e-11, or 100 ε·cond; conditions up to {worst_condition:.0e})"
    );
}

/// Joint coordinates give the poses of all bodies, which give the joint coordinates again; the
/// bodies' accelerations for `q̈ = 0` have no constraint violation. Tolerance: 1e-11, round-off
/// over chains of up to 60 bodies.
#[test]
fn joint_coordinates_and_rates_are_recovered() {
    let mut worst: f64 = 0.0;
    for (_, tree) in trees() {
        let (system, derived) = (tree.plant.model().system(), tree.plant.derived());
        let layout = Maximal::new(system, Attitude::Quaternion);
        let mut kinematics = Kinematics::new(system);
        kinematics.update(system, derived, &tree.q, &tree.qd);
        let mut q_WB = vec![Quaternion::identity(); system.bodies.len()];
        system.attitudes(derived, &tree.q, &mut q_WB);
        let (mut positions, mut rates) = (vec![0.0; layout.nq], vec![0.0; layout.nv]);
        let mut unwrapped = vec![0.0; layout.unwrapped];
        let states = MaximalState {
            positions: positions.as_mut_slice(),
            rates: rates.as_mut_slice(),
            unwrapped: unwrapped.as_mut_slice(),
        };
        let joints = JointState {
            q: &tree.q,
            qd: &tree.qd,
        };
        layout.write(Mechanism { system, derived }, &kinematics, joints, &q_WB, states);
        let mut recovered = Recovered::new(system, Some(Attitude::Quaternion));
        let baumgarte = Baumgarte {
            alpha: 10.0,
            beta: 10.0,
        };
        let before = kinematics.clone();
        let states = MaximalState {
            positions: positions.as_slice(),
            rates: rates.as_slice(),
            unwrapped: unwrapped.as_slice(),
        };
        let mechanism = Mechanism { system, derived };
        kinematics.recover(mechanism, &layout, baumgarte, states, &mut recovered);
        worst = worst.larger(relative_distance(&recovered.qd, &tree.qd));
        worst = worst.larger(relative_distance(&recovered.q, &tree.q));
        for (a, b) in before.bodies.iter().zip(&kinematics.bodies) {
            worst = worst.larger((a.A_bias - b.A_bias).w.norm() / (1.0 + b.A_bias.w.norm()));
            worst = worst.larger((a.A_bias - b.A_bias).v.norm() / (1.0 + b.A_bias.v.norm()));
        }
    }
    println!("worst rate, angle or bias recovered: {worst:.1e} (1e-11)");
    assert!(worst < 1e-11, "{worst:e}");
}

/// All joints and loads, driven joints, several spacecraft, one connected to the world: at random
/// states all results of the formulations with flexible bodies agree, including accelerations,
/// drive forces and reactions. Tolerance for each value: 1e-9 of its magnitude, or 1e-9 if the
/// magnitude is below one; a joint that carries a boom by its modes only has a condition number of
/// 1e5.
#[test]
fn every_load_agrees_with_the_recursive_formulation() {
    let text = every_load([1.0, 0.0, 2.0]);
    let text = format!("{text}\n[output]\nreactions = true\n");
    let [quaternion, natural] = ["quaternion", "natural"].map(|formulation| {
        let said = format!("\nformulation = \"{formulation}\"\n[environment]");
        text.replacen("\n[environment]", &said, 1)
    });
    let rows = format!("{quaternion}\n[quaternion]\nmomentum_rows = true\n");
    let mut plants = [text, quaternion, rows, natural].map(|text| crate::plant(&text));
    let mut worst: f64 = 0.0;
    for seed in 0..20 {
        let [expected, mut found @ ..] = plants.each_mut().map(|plant| values_at_random(plant, seed));
        align(&mut found[2], &expected);
        for found in found {
            for (name, expected) in &expected {
                // Derivatives belong to states, which depend on the formulation.
                let Some(found) = found.get(name) else {
                    assert!(name.starts_with("der("), "{name} is missing");
                    continue;
                };
                let off = (found - expected).abs() / expected.abs().max(1.0);
                assert!(off < 1e-9, "seed {seed}: {name} is {found}, not {expected}");
                worst = worst.larger(off);
            }
        }
    }
    println!("worst of all outputs: {worst:.1e} (1e-9)");
}

/// Returns states and outputs by name, at a random start with random inputs.
pub fn values_at_random(plant: &mut Plant, seed: u64) -> HashMap<String, f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let model = plant.model().clone();
    let mut values = model.parameter_starts();
    for (parameter, value) in model.parameters.iter().zip(&mut values) {
        let name = &parameter.quantity.name;
        if name.contains("_start") {
            let size = match name {
                _ if name.contains(".eta") => 0.03,
                // Axial changes are small, since a beam is axially stiff.
                _ if name.contains(".node[") => 3e-5,
                _ => 0.3,
            };
            let change = size * rng.random_range(-1.0..1.0);
            // Joints with a range stay within it.
            *value += if name.starts_with("boom_root.q") || name.starts_with("slide.q") {
                0.1 * change
            } else {
                change
            };
        }
    }
    plant.set_parameters(&values).expect("sound");
    let (mut x, mut discrete) = (vec![0.0; model.states.len()], model.discrete());
    plant.start(0.0, &mut x, &mut discrete).expect("closed");
    let u: Vec<f64> = model.inputs.iter().map(|_| rng.random_range(-1.0..1.0)).collect();
    let (mut dx, mut y) = (vec![0.0; x.len()], vec![0.0; model.outputs.len()]);
    plant
        .evaluate(OperatingPoint::new(0.0, &x, &u, &discrete), &mut dx, &mut y)
        .expect("regular");
    let states = model.states.iter().chain(&model.derivatives).zip(x.iter().chain(&dx));
    let outputs = model.outputs.iter().map(|output| &output.quantity).zip(&y);
    states
        .chain(outputs)
        .map(|(quantity, &value)| (quantity.name.clone(), value))
        .collect()
}

/// Gives quaternions the sign of `expected`: q and −q are the same attitude, and an attitude
/// computed from directors has either sign.
pub fn align(found: &mut HashMap<String, f64>, expected: &HashMap<String, f64>) {
    let attitudes = expected.keys().filter_map(|name| name.strip_suffix(".q[4]"));
    for of in attitudes.filter(|of| !of.starts_with("der(")) {
        let parts = [1, 2, 3, 4].map(|k| format!("{of}.q[{k}]"));
        if parts.iter().map(|part| found[part] * expected[part]).sum::<f64>() < 0.0 {
            for part in parts {
                *found.get_mut(&part).expect("a part") *= -1.0;
            }
        }
    }
}

const TWO_LINK: &str = include_str!("../../examples/two_link.toml");
const KLAK_2020: &str = include_str!("../../examples/klak_2020.toml");

/// Returns a spec with `formulation = "quaternion"` and further tables.
fn quaternion(text: &str, tables: &str) -> String {
    let text = text.replacen("\ndescription", "\nformulation = \"quaternion\"\ndescription", 1);
    format!("{text}\n{tables}\n")
}

/// The matrix of Eq. 17 of the paper: 18 accelerations, 2 modes, 5 rows for each joint, 6 of
/// momentum. Reference condition number: 81.6, from two independent programs.
#[test]
fn matrix_of_the_paper_has_36_independent_rows_and_the_reference_condition() {
    let text = quaternion(
        KLAK_2020,
        "[quaternion]\ncoupling = \"paper_literal\"\n[output]\ncondition = true",
    );
    let mut run = Run::new(&text, 1e-10);
    run.go(0.0);
    let found = run.value("system.condition");
    let plant = &run.simulation.plant;
    let (system, derived) = (plant.model().system(), plant.derived());
    let (mut q, mut qd) = (vec![0.0; system.nq], vec![0.0; system.nv]);
    plant.model().start_coordinates(plant.parameters(), &mut q, &mut qd);
    let mut kinematics = Kinematics::new(system);
    kinematics.update(system, derived, &q, &qd);
    let none = Applied::none(system);
    let at = Configuration {
        system,
        derived,
        kinematics: &kinematics,
    };
    let matrix = |rows| SaddlePoint::new(system, rows).matrix(at, &none);
    let literal = matrix(Rows::MomentumWithoutModes);
    let sizes = literal.clone().singular_values();
    println!(
        "condition {found:.4} of a matrix of {} rows; with the modes' momentum {:.4}, without momentum {:.4}",
        literal.nrows(),
        condition(&matrix(Rows::Momentum)),
        condition(&matrix(Rows::Joints))
    );
    assert_eq!((literal.nrows(), literal.rank(1e-9)), (36, 36));
    assert!((found - sizes.max() / sizes.min()).abs() < 1e-10 * found);
    assert!((found - 81.6).abs() < 0.05, "{found}");
}

/// Tolerances: 1e-5 mm, as in the comparison of the two reference programs; for amplitudes one unit
/// of the last digit.
#[test]
fn each_coupling_gives_its_reference_path() {
    for (tables, expected) in [
        ("", [0.60562, 1.69528, 8.57793e-4]),
        ("[quaternion]\nmomentum_rows = true", [0.60562, 1.69528, 8.57793e-4]),
        ("[quaternion]\ncoupling = \"linear\"", [3.66843, 3.65572, 8.57546e-4]),
        (
            "[quaternion]\ncoupling = \"linear\"\nmomentum_rows = true",
            [3.66843, 3.65572, 8.57546e-4],
        ),
        (
            "[quaternion]\ncoupling = \"paper_literal\"",
            [1.21110, 1.71137, 9.57455e-4],
        ),
    ] {
        let found = klak(tables, 1e-11);
        println!("{found:.7?} {tables:?}");
        for (i, (found, expected)) in found.into_iter().zip(expected).enumerate() {
            let tolerance = [1e-5, 1e-5, 1e-9][i];
            assert!(
                (found - expected).abs() <= tolerance,
                "{tables}: {found} instead of {expected}"
            );
        }
    }
}

/// Constant thrust and torque on the base, in addition to the joint torques: momentum changes
/// accordingly, also with the momentum balance among the constraints. Reference: two independent
/// codes.
#[test]
fn external_load_changes_momentum_with_and_without_momentum_rows() {
    let push = "[port.push]\nframe = \"base\"\naxes = \"world\"\n";
    let constant = |input: &str, value: f64| {
        format!("[signal.\"push.{input}\"]\ntype = \"constant\"\namplitude = {value}\nfrom_importer = false\n")
    };
    let loads = [("f[1]", 1.0), ("f[2]", 0.5), ("t[3]", 0.2)].map(|(input, value)| constant(input, value));
    let mut angles = Vec::new();
    for rows in [false, true] {
        let tables = format!(
            "{push}{}[quaternion]\nmomentum_rows = {rows}\n[solver]\nmethod = \"dop853\"",
            loads.concat()
        );
        let mut run = Run::new(&quaternion(TWO_LINK, &tables), 1e-12);
        // The base rotates by more than 180°: the angle is twice that of the quaternion, whose sign
        // is continuous.
        run.go(5.0);
        let p = run.vector("system.momentum");
        let h = run.vector("system.angular_momentum") + run.vector("system.mass_centre").cross(&p);
        let angle = 2.0 * run.value("base.q[4]").atan2(run.value("base.q[1]")).to_degrees();
        println!(
            "p {:.10?}, h {:.9}, base {:.9}°, at {:?}",
            p.as_slice(),
            h.z,
            angle,
            run.vector("base.r").as_slice()
        );
        assert!((p - Vec3::new(5.0, 2.5, 0.0)).norm() < 1e-9);
        // The references have six and three decimals, the position five.
        assert!((h.z - 1.698196).abs() < 1e-6, "{}", h.z);
        assert!((angle - 184.677).abs() < 1e-3, "{angle}");
        assert!((run.vector("base.r") - Vec3::new(2.98265, 1.00486, 0.0)).norm() < 1e-5);
        angles.push(angle);
    }
    assert!((angles[0] - angles[1]).abs() < 1e-9, "{angles:?}");
}

/// 100 s in fixed steps of 1 ms, in the long form 500 s: constraint violations stay at round-off;
/// without Baumgarte stabilisation they do not, even for 50 s (curves: docs/klak-2020.md).
/// Tolerances: twice and five times the values of two independent programs.
#[test]
fn constraints_hold_over_many_steps() {
    let drift = |gain: f64, seconds: u32| {
        let tables = format!("[constraints]\nalpha = {gain}\nbeta = {gain}\n[solver]\nmethod = \"rk4\"\nstep = 1e-3");
        let mut run = Run::new(&quaternion(TWO_LINK, &tables), 1e-10);
        run.go(0.0);
        let before = run.value("system.energy");
        let (mut violation, mut energy): (f64, f64) = (0.0, 0.0);
        for k in 1..=2 * seconds {
            run.go(0.5 * f64::from(k));
            violation = violation
                .larger(run.value("system.violation"))
                .larger(run.value("system.violation_angle"));
            energy = energy.larger((run.value("system.energy") - run.value("system.work") - before).abs());
        }
        (violation, energy)
    };
    let (held, left) = (drift(10.0, if long() { 500 } else { 100 }), drift(0.0, 50));
    println!(
        "constraints {:.1e} m or rad (2e-12), energy {:.1e} J (1e-10); without Baumgarte, at 50 s, {:.1e}, {:.1e}",
        held.0, held.1, left.0, left.1
    );
    assert!(held.0 <= 2e-12 && held.1 <= 1e-10, "{held:?}");
    assert!(left.0 > 10.0 * held.0, "{left:?}");
}

/// Runs the paper's spacecraft. Returns the largest distances of the tip with and without
/// deflection from that of the rigid spacecraft, and the largest amplitude, mm.
fn klak(tables: &str, tolerance: f64) -> [f64; 3] {
    let mut rigid = Run::new(&quaternion(TWO_LINK, "[solver]\nmethod = \"dop853\""), tolerance);
    let mut flexible = Run::new(
        &quaternion(KLAK_2020, &format!("[solver]\nmethod = \"dop853\"\n{tables}")),
        tolerance,
    );
    let mut found = [0.0f64; 3];
    for k in 1..=5000 {
        let t = f64::from(k) * 1e-3;
        rigid.go(t);
        flexible.go(t);
        let undeformed = |run: &Run| run.vector("forearm.r") + run.attitude("forearm").rotate(Vec3::x());
        let here = [
            (flexible.vector("tip.r") - undeformed(&rigid)).norm() * 1e3,
            (undeformed(&flexible) - undeformed(&rigid)).norm() * 1e3,
            flexible.value("forearm.eta[1]").abs(),
        ];
        found
            .iter_mut()
            .zip(here)
            .for_each(|(found, here)| *found = found.larger(here));
    }
    found
}

/// Angles include full turns, on every joint type: after 40 s at up to 3 rad/s they equal those of
/// the recursive formulation, also if a step exceeds a turn. Tolerances: the errors of both runs
/// (amplified by the tumbling of the spacecraft), far below a turn.
#[test]
fn joint_angles_include_full_turns() {
    let text = r#"
name = "spinning"
description = "joints that turn on and on"
[body.base]
mass = 40.0
inertia = [40.0, 50.0, 60.0]
[body.a]
mass = 1.0
inertia = [0.1, 0.1, 0.15]
[body.b]
mass = 1.0
inertia = [0.1, 0.12, 0.15]
[body.c]
mass = 1.0
inertia = [0.1, 0.12, 0.15]
[joint.wheel]
type = "revolute"
parent = "base"
child = "a"
origin = [0.5, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
start = { position_deg = 500.0, rate = 3.0 }
[joint.screw]
type = "cylindrical"
parent = "base"
child = "b"
origin = [0.0, 0.5, 0.0]
axis = [0.1, 1.0, 0.0]
spring = { stiffness = [0.0, 1.0] }
start = { position = [-7.0, 0.0], rate = [-2.0, 0.0] }
[joint.cardan]
type = "universal"
parent = "base"
child = "c"
origin = [0.0, 0.0, 0.5]
axis = [1.0, 0.0, 0.0]
axis2 = [0.2, 1.0, 0.3]
start = { position = [0.0, 2.0], rate = [2.5, -1.0] }
"#;
    for (solver, tolerance, bound) in [
        ("method = \"dop853\"", 1e-12, 1e-7),
        ("method = \"dop853\"", 1e-6, 0.05),
        ("method = \"dop853\"", 1e-5, 0.5),
        ("method = \"dop853\"", 1e-4, 1.0),
    ] {
        let text = format!("{text}[solver]\n{solver}\n");
        let mut runs = [text.clone(), quaternion(&text, "")].map(|text| Run::new(&text, tolerance));
        for run in &mut runs {
            run.go(40.0);
        }
        let [recursive, maximal] = &runs;
        let mut most: f64 = 0.0;
        for name in ["wheel.q", "screw.q[1]", "cardan.q[1]", "cardan.q[2]"] {
            let (expected, found) = (recursive.value(name), maximal.value(name));
            println!(
                "{solver:?}, {tolerance:e}, {name}: {found:.9} rad, {:.1e} off",
                found - expected
            );
            assert!((found - expected).abs() < bound, "{name}: {found}, not {expected}");
            most = most.larger(found.abs());
        }
        assert!(most > 100.0);
    }
}

/// Constraint violations of random spacecraft rotating at a few rad/s: rotations, in joint axes,
/// and distances, in world axes without sliding joints, decay as
/// `(φ₀ + (φ̇₀ + 10 φ₀) t) e^(−10 t)`. Tolerance: 1e-5 of the violation; omitted terms are of
/// second order in violations of 1e-6, times the joint's lever arm.
#[test]
fn violations_decay_by_baumgarte_on_rotating_spacecraft() {
    let (mut worst, mut seen) = (0.0_f64, 0);
    for seed in [2, 4, 8, 10, 14, 16] {
        let text = random_craft(seed, 6, 1.0);
        let mut run = Run::new(&text.replacen('\n', "\nformulation = \"quaternion\"\n", 1), 1e-13);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let names: Vec<String> = run
            .simulation
            .plant
            .model()
            .states
            .iter()
            .map(|state| state.name.clone())
            .collect();
        for (x, name) in run.simulation.state.x.iter_mut().zip(&names) {
            if name.starts_with("b0.w") {
                *x = 3.0;
            }
        }
        // All bodies rotate with the base; then their positions are displaced.
        let all = run.simulation.state.x.clone();
        turn_with_the_base(&mut run, &all, &names);
        for (x, name) in run.simulation.state.x.iter_mut().zip(&names) {
            if !name.contains("unwrapped_angle") && !name.starts_with("system") {
                *x += 1e-6 * rng.random_range(-1.0..1.0);
            }
        }
        run.simulation.invalidate();
        let before = violations(&run);
        let t = 0.2;
        run.go(t);
        for (i, ((violation, rate), (now, _))) in before.iter().zip(violations(&run)).enumerate() {
            let joint = &run.simulation.plant.model().system().bodies[i].joint;
            if joint.nv == 6 {
                continue;
            }
            let closing =
                |violation: Vec3<f64>, rate: Vec3<f64>| (violation + (rate + violation * 10.0) * t) * (-10.0 * t).exp();
            let slides = matches!(
                joint.kind,
                JointType::Prismatic
                    | JointType::Cylindrical
                    | JointType::Screw
                    | JointType::Planar
                    | JointType::Rectangular
                    | JointType::Cartesian
            );
            let (mut off, mut size) = (0.0, 0.0);
            // Excluded are the universal joint, whose row normal to both axes rotates in both
            // bodies, and the screw joint, which has a row of rotation and translation.
            if !matches!(joint.kind, JointType::Universal | JointType::Screw) {
                off += (now.w - closing(violation.w, rate.w)).norm();
                size += violation.w.norm() + 0.1 * rate.w.norm();
            }
            if !slides {
                off += (now.v - closing(violation.v, rate.v)).norm();
                size += violation.v.norm() + 0.1 * rate.v.norm();
            }
            if size > 0.0 {
                worst = worst.larger(off / size);
                seen += 1;
            }
        }
    }
    println!("worst of {seen} gaps: {worst:.1e} of itself (1e-5)");
    assert!(seen > 30 && worst < 1e-5, "{worst:e}");
}

/// A wheel at 600 rad/s, a universal and a cylindrical joint at 20 and 50 rad/s, and a prismatic
/// joint on a tumbling base: violations decay as well. Tolerance: 1e-3 of the initial values after
/// 2 s, where `e^(−20)` is 2e-9.
#[test]
fn violations_decay_on_fast_rotors() {
    let mut run = Run::new(&quaternion(ROTORS, "[solver]\nmethod = \"dop853\""), 1e-12);
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let names: Vec<String> = run
        .simulation
        .plant
        .model()
        .states
        .iter()
        .map(|state| state.name.clone())
        .collect();
    for (x, name) in run.simulation.state.x.iter_mut().zip(&names) {
        if !name.contains("unwrapped_angle") && !name.starts_with("system") && !name.starts_with("base") {
            *x += 1e-6 * rng.random_range(-1.0..1.0);
        }
    }
    run.simulation.invalidate();
    let size = |run: &Run| -> Vec<f64> {
        let violations = violations(run).into_iter().skip(1);
        violations
            .map(|(violation, rate)| violation.w.norm() + violation.v.norm() + 0.1 * (rate.w.norm() + rate.v.norm()))
            .collect()
    };
    let before = size(&run);
    run.go(2.0);
    for (i, (before, now)) in before.iter().zip(size(&run)).enumerate() {
        let joint = &run.simulation.plant.model().system().bodies[i + 1].joint.name;
        println!("{joint}: {:.1e} of its gap is left", now / before);
        assert!(now < 1e-3 * before, "{joint}");
    }
}

const ROTORS: &str = r#"
name = "rotors"
description = "fast joints on a tumbling base"
[body.base]
mass = 40.0
inertia = [40.0, 50.0, 60.0]
start = { angular_velocity = [1.0, -2.0, 3.0] }
[body.wheel]
mass = 1.0
inertia = [0.001, 0.001, 0.0015]
[body.nut]
mass = 1.0
inertia = [0.1, 0.1, 0.12]
[body.cross]
mass = 1.0
inertia = [0.1, 0.1, 0.1]
[body.cart]
mass = 1.0
inertia = [0.1, 0.12, 0.15]
[joint.spin]
type = "revolute"
parent = "base"
child = "wheel"
origin = [0.5, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
start = { rate = 600.0 }
[joint.screw]
type = "cylindrical"
parent = "base"
child = "nut"
origin = [0.0, 0.5, 0.0]
axis = [0.0, 0.0, 1.0]
spring = { stiffness = [0.0, 10.0] }
start = { rate = [50.0, 0.0] }
[joint.cardan]
type = "universal"
parent = "base"
child = "cross"
origin = [0.0, 0.0, 0.5]
axis = [1.0, 0.0, 0.0]
axis2 = [0.2, 1.0, 0.3]
start = { rate = [20.0, -20.0] }
[joint.slide]
type = "prismatic"
parent = "base"
child = "cart"
origin = [0.0, -0.5, 0.0]
axis = [1.0, 0.0, 0.0]
spring = { stiffness = 100.0 }
"#;

/// Gives all bodies the rigid motion of the first body, which rotates.
fn turn_with_the_base(run: &mut Run, x: &[f64], names: &[String]) {
    let system = run.simulation.plant.model().system().clone();
    let layout = Maximal::new(&system, Attitude::Quaternion);
    let base = &x[layout.position(0)..];
    let q_WB = Quaternion::from_slice(base);
    let w = q_WB.rotate(Vec3::new(3.0, 3.0, 3.0));
    for i in 0..system.bodies.len() {
        let place = &x[layout.position(i)..];
        let attitude = Quaternion::from_slice(place);
        let r = Vec3::new(place[4] - base[4], place[5] - base[5], place[6] - base[6]);
        let (own, v) = (attitude.conjugate().rotate(w), w.cross(&r));
        let motion = layout.nq + layout.motion(i);
        assert_eq!(names[motion], format!("{}.w[1]", system.bodies[i].name));
        let x = &mut run.simulation.state.x[motion..motion + 6];
        x[..3].copy_from_slice(own.as_slice());
        x[3..].copy_from_slice(v.as_slice());
    }
}

/// Returns every body's constraint violation and its rate: rotations in body axes, distances in
/// world axes.
fn violations(run: &Run) -> Vec<(Twist<f64>, Twist<f64>)> {
    let (plant, x) = (&run.simulation.plant, &run.simulation.state.x);
    let (system, derived) = (plant.model().system(), plant.derived());
    let layout = Maximal::new(system, Attitude::Quaternion);
    let (mut kinematics, mut recovered) = (
        Kinematics::new(system),
        Recovered::new(system, Some(Attitude::Quaternion)),
    );
    let (positions, rest) = x.split_at(layout.nq);
    let (rates, rest) = rest.split_at(layout.nv);
    let none = Baumgarte { alpha: 0.0, beta: 0.0 };
    let states = MaximalState {
        positions,
        rates,
        unwrapped: &rest[..layout.unwrapped],
    };
    kinematics.recover(Mechanism { system, derived }, &layout, none, states, &mut recovered);
    let violations = recovered
        .violation
        .iter()
        .zip(&recovered.violation_rate)
        .zip(&kinematics.bodies);
    let turned = |V: &Twist<f64>, at: &BodyKinematics<f64>| Twist::new(at.R_WB.tr_mul(&V.w), V.v);
    violations
        .map(|((violation, rate), at)| (turned(violation, at), turned(rate, at)))
        .collect()
}

/// The eigenvalues of a linearised spacecraft are those of joint coordinates and, for each
/// constraint row, those of the violation, `(s + 10)²` with α = β = 10. The characteristic
/// polynomials are compared at points around all roots.
#[test]
fn linearised_constraints_add_their_own_roots_and_no_others() {
    let text = KLAK_2020;
    let [recursive, maximal] = [text.to_owned(), quaternion(text, "")].map(|text| {
        let linear = crate::linearisation::at_start(&mut crate::plant(&text));
        linear.A
    });
    let violations = (maximal.nrows() - recursive.nrows()) / 2;
    assert_eq!(violations, 10, "five rows of each of two joints");
    let mut worst: f64 = 0.0;
    for s in [-3.0, 5.0, 17.0, -40.0, 110.0] {
        let value = |A: &DMatrix<f64>| (DMatrix::identity(A.nrows(), A.nrows()) * s - A).determinant();
        let expected = value(&recursive) * (s + 10.0).powi(2 * violations as i32);
        worst = worst.larger((value(&maximal) / expected - 1.0).abs());
    }
    println!("characteristic polynomials: {worst:.1e} apart (1e-9)");
    assert!(worst < 1e-9, "{worst:e}");
}
