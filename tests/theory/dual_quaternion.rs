//! The dual-quaternion formulation, compared with the recursive one and with the paper's equations.

use crate::every_load::every_load;
use crate::numbers::{Larger, relative_distance};
use crate::quaternion::values_at_random;
use crate::random_tree::{ByRecursion, RandomTree, random_tree};
use crate::run::Run;
use grapple::algebra::{Twist, Vec3, Wrench};
use grapple::dynamics::dual_quaternion::{Incidence, NewtonEuler};
use grapple::dynamics::{JointRows, condition};
use grapple::spec::Formulation;
use grapple::system::Configuration;
use nalgebra::DMatrix;
use std::path::Path;

const TREES: u64 = 60;

/// Returns random trees with even seeds, which are rigid.
fn trees() -> impl Iterator<Item = (u64, RandomTree)> {
    (0..TREES).map(|seed| (2 * seed, random_tree(2 * seed, 5 + (seed as usize * 7) % 56, 1.0)))
}

/// Tolerance: 1e-11, round-off for up to 61 bodies.
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
        let mut newton_euler = NewtonEuler::new(system);
        let at = Configuration {
            system,
            derived,
            kinematics: &kinematics,
        };
        newton_euler.solve(at, &applied, &tree.q, &mut qdd).expect("regular");
        let off = relative_distance(&qdd, &by_recursion);
        let numbers = |F: &[Wrench<f64>]| -> Vec<f64> { F.iter().flat_map(|F| F.to_array()).collect() };
        let off_F = relative_distance(&numbers(&newton_euler.F), &numbers(&F));
        assert!(
            off < 1e-11 && off_F < 1e-11,
            "seed {seed}: accelerations {off:e}, reactions {off_F:e}"
        );
        // The condition number of the full matrix is computed for small trees only: it is
        // expensive.
        if system.bodies.len() <= 20 {
            let matrix = newton_euler.matrix(at, &applied, &tree.q);
            worst_condition = worst_condition.larger(condition(&matrix.expect("regular")));
        }
        worst_qdd = worst_qdd.larger(off);
        worst_F = worst_F.larger(off_F);
    }
    println!(
        "worst ‖Δq̈‖/‖q̈‖ {worst_qdd:.1e}, worst ‖ΔF‖/‖F‖ {worst_F:.1e} of {TREES} trees (1e-11; conditions of the smaller ones up to {worst_condition:.0e})"
    );
}

/// All joints and loads, driven joints and rotors, several spacecraft, one connected to the world:
/// at random states all results of both formulations agree, including accelerations, drive forces
/// and reactions. Tolerance for each value: 1e-10 of its magnitude, or 1e-10 if
/// the magnitude is below one.
#[test]
fn every_load_agrees_with_the_recursive_formulation() {
    let text = every_load([1.0, 0.0, 2.0]);
    let text = format!("{text}\n[output]\nreactions = true\n");
    // Both plants without flexible bodies.
    let mut plants = [Formulation::Recursive, Formulation::DualQuaternion].map(|formulation| {
        let mut spec = crate::plant(&text).model().spec.clone();
        crate::stiffen(&mut spec);
        spec.formulation = formulation;
        let model = grapple::plant::Model::compile(&spec).expect("rigid");
        grapple::plant::Plant::new(model.into()).expect("the spec's own values")
    });
    let mut worst: f64 = 0.0;
    let mut compared = 0;
    for seed in 0..20 {
        let [expected, found] = plants.each_mut().map(|plant| values_at_random(plant, seed));
        for (name, expected) in &expected {
            // Derivatives belong to states, which depend on the formulation.
            let Some(found) = found.get(name) else {
                assert!(name.starts_with("der("), "{name} is missing");
                continue;
            };
            let off = (found - expected).abs() / expected.abs().max(1.0);
            assert!(off < 1e-10, "seed {seed}: {name} is {found}, not {expected}");
            worst = worst.larger(off);
            compared += 1;
        }
    }
    println!("worst of {compared} outputs: {worst:.1e} (1e-10)");
}

const VALVERDE_2018: &str = include_str!("../../examples/valverde_2018.toml");

/// The paper's example 1, a base with an arm of four bodies: (34) to (40), and rows and columns for
/// any branching: one +1 in each row, and one −1 unless the joint is on the world.
#[test]
fn incidence_matrix_equals_the_paper() {
    let mut spec = crate::plant(VALVERDE_2018).model().spec.clone();
    let (hand, mut wrist) = (spec.body["third"].clone(), spec.joint["elbow"].clone());
    (wrist.parent, wrist.child) = ("third".to_owned(), "hand".to_owned());
    spec.body.insert("hand".to_owned(), hand);
    spec.joint.insert("wrist".to_owned(), wrist);
    let model = grapple::plant::Model::compile(&spec).expect("a longer arm");
    let incidence = Incidence::new(model.system());
    let expected = [[-1, 1, 0, 0, 0], [0, -1, 1, 0, 0], [0, 0, -1, 1, 0], [0, 0, 0, -1, 1]];
    assert_eq!(incidence.matrix(), DMatrix::from_fn(4, 5, |i, j| expected[i][j]));
    assert_eq!(incidence.branch_ends(), [false, false, false, false, true]);

    for (_, tree) in trees() {
        let system = tree.plant.model().system();
        let incidence = Incidence::new(system);
        let C = incidence.matrix();
        for row in C.row_iter() {
            let count = |entry| row.iter().filter(|&&c| c == entry).count();
            assert!(count(1) == 1 && count(-1) <= 1);
        }
        for (body, ends) in incidence.branch_ends().into_iter().enumerate() {
            assert_eq!(ends, !C.column(body).iter().any(|&c| c == -1));
        }
    }
}

/// Tables 4 and 5 of the paper, for joints about and along Z: the constraint wrenches span all
/// directions except the free ones, the motion wrenches the free ones. Component order of the
/// tables: force, then moment.
#[test]
fn joints_about_z_have_the_wrenches_of_the_papers_tables() {
    let unit = |k: usize| Twist::from_slice(&std::array::from_fn::<f64, 6, _>(|i| f64::from(u8::from(i == k))));
    // Free velocities: wx wy wz vx vy vz. Constraint and motion wrenches: indices of fx fy fz tx ty
    // tz.
    let tables: [(&str, [&[usize]; 3]); 5] = [
        ("revolute", [&[2], &[0, 1, 2, 3, 4], &[5]]),
        ("prismatic", [&[5], &[0, 1, 3, 4, 5], &[2]]),
        ("spherical", [&[0, 1, 2], &[0, 1, 2], &[3, 4, 5]]),
        ("cylindrical", [&[2, 5], &[0, 1, 3, 4], &[5, 2]]),
        ("cartesian", [&[3, 4, 5], &[3, 4, 5], &[0, 1, 2]]),
    ];
    for (kind, [free, held, moved]) in tables {
        let H: Vec<Twist<f64>> = free.iter().map(|&k| unit(k)).collect();
        let rows = JointRows::of(&H);
        let numbers = |W: &Wrench<f64>| [W.f.as_slice(), W.t.as_slice()].concat();
        assert_eq!((rows.held.len(), rows.moved.len()), (held.len(), moved.len()), "{kind}");
        for W in &rows.held {
            for (k, number) in numbers(W).into_iter().enumerate() {
                assert!(held.contains(&k) || number == 0.0, "{kind}: {k}");
            }
            assert!((W.f.norm_squared() + W.t.norm_squared() - 1.0).abs() < 1e-15);
        }
        for (V, &k) in rows.moved.iter().zip(moved) {
            let expected: Vec<f64> = (0..6).map(|i| f64::from(u8::from(i == k))).collect();
            assert_eq!(numbers(V), expected, "{kind}");
        }
    }
}

/// Section 4 of the paper, 70 s: energies and condition numbers of two independent codes, to the
/// given digits; errors of mass centre, momenta and constraint-violating velocities are below those
/// of the paper. For comparison: the decoupled equations of the paper's figure 6, and the recursive
/// formulation.
#[test]
fn satellite_of_the_paper_conserves_mass_centre_and_momenta() {
    let text = VALVERDE_2018.replace("reactions = true", "reactions = true\ncondition = true");
    let satellite = Satellite::run(&text);
    for (found, expected) in satellite
        .energies
        .iter()
        .zip([0.0497552035, 0.1002397147, 0.1980823304])
    {
        assert!((found - expected).abs() < 1e-10, "{found}, not {expected}");
    }
    for (found, expected) in satellite.conditions.iter().zip([527.9, 1340.9]) {
        assert!((found - expected).abs() < 0.1, "{found}, not {expected}");
    }
    for (found, beaten) in satellite.drifts.iter().zip([3.7e-13, 4e-13, 8e-13, 6.4e-14]) {
        assert!(found < &beaten, "{found:e}, not below {beaten:e}");
    }

    let decoupled = text
        .replace("\"dual_quaternion\"", "\"quaternion\"")
        .replace("alpha = 0.0 ", "beta = 0.0\nalpha = 0.0 ");
    let recursive = decoupled
        .replace("\"quaternion\"", "\"recursive\"")
        .replace("condition = true", "")
        .replace("[constraints]", "")
        .replace("beta = 0.0\nalpha = 0.0 ", "");
    for text in [decoupled, recursive] {
        let other = Satellite::run(&text);
        for (a, b) in satellite.energies.iter().zip(&other.energies) {
            assert!((a - b).abs() < 1e-12, "{a}, {b}");
        }
    }
}

struct Satellite {
    /// Errors of the mass centre, m; of momentum and angular momentum; of the constraint-violating
    /// velocities.
    drifts: [f64; 4],
    conditions: [f64; 2],
    energies: Vec<f64>,
}

impl Satellite {
    fn run(text: &str) -> Self {
        let mut run = Run::new(text, 2.3e-14);
        run.go(0.0);
        let has = |run: &Run, name: &str| {
            let outputs = &run.simulation.plant.model().outputs;
            outputs.iter().any(|output| output.quantity.name == name)
        };
        let (constrained, conditioned) = (has(&run, "system.violation_rate"), has(&run, "system.condition"));
        let centre = run.vector("system.mass_centre");
        let mut found = Self {
            drifts: [0.0; 4],
            conditions: [f64::INFINITY, 0.0],
            energies: Vec::new(),
        };
        for k in 1..=700 {
            run.go(0.1 * f64::from(k));
            let drifts = [
                (run.vector("system.mass_centre") - centre).norm(),
                run.vector("system.momentum").norm(),
                run.vector("system.angular_momentum").norm(),
                match constrained {
                    true => run
                        .value("system.violation_velocity")
                        .larger(run.value("system.violation_rate")),
                    false => 0.0,
                },
            ];
            found
                .drifts
                .iter_mut()
                .zip(drifts)
                .for_each(|(worst, now)| *worst = worst.larger(now));
            if conditioned {
                let condition = run.value("system.condition");
                found.conditions = [
                    found.conditions[0].min(condition),
                    found.conditions[1].larger(condition),
                ];
            }
            if [80, 150, 700].contains(&k) {
                found.energies.push(run.value("system.kinetic_energy"));
            }
        }
        println!(
            "{}: mass centre {:.1e} m, momentum {:.1e} N·s, angular {:.1e} N·m·s, velocities {:.1e}; energies {:.10?} J; conditions {:.1?}",
            run.simulation.plant.model().spec.formulation.name(),
            found.drifts[0],
            found.drifts[1],
            found.drifts[2],
            found.drifts[3],
            found.energies,
            found.conditions
        );
        found
    }
}

/// The satellite's motion follows from the wrench of its arm; the constraint wrench has no power on
/// the joint's motion, and the remainder is the drive torque. Tolerance: 1e-13 of the wrenches,
/// round-off.
#[test]
fn base_motion_follows_from_reactions_and_constraint_wrenches_have_no_power() {
    for formulation in Formulation::ALL {
        let text = VALVERDE_2018.replace("[body.satellite]", "[body.satellite]\nmass_centre = [0.1, -0.2, 0.3]");
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-10);
        run.go(3.0);
        let (f, t) = (run.vector("turret.base_force"), run.vector("turret.base_moment"));
        let (c, mount) = (Vec3::new(0.1, -0.2, 0.3), Vec3::new(0.0, 0.0, 1.0));
        // About the mass centre the inertia is isotropic, 50 kg·m².
        let alpha = (t + (mount - c).cross(&f)) / 50.0;
        let w = run.vector("satellite.w");
        let a = f / 10.0 - alpha.cross(&c) - w.cross(&w.cross(&c));
        let off = (a - run.vector("satellite.a_body")).norm() / a.norm();
        assert!(off < 1e-13, "{}: {off:e}", formulation.name());
        for joint in ["turret", "shoulder", "elbow"] {
            let part = |part: &str| run.vector(&format!("{joint}.{part}"));
            let driving = part("reaction_moment") - part("constraint_moment");
            let torque = run.value(&format!("{joint}.tau"));
            let off = (driving - Vec3::new(0.0, 0.0, torque)).norm()
                + (part("reaction_force") - part("constraint_force")).norm()
                + part("constraint_moment").z.abs();
            assert!(off < 1e-13, "{}, {joint}: {off:e}", formulation.name());
        }
    }
}
