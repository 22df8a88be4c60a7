//! Identities that hold for every tree at every state.

use crate::numbers::{Larger, relative_distance};
use crate::random_tree::{RandomTree, applied, random_tree};
use grapple::algebra::{Twist, Vec3};
use grapple::dynamics::invariants::Invariants;
use grapple::dynamics::recursive::{ForwardDynamics, InverseDynamics, jacobian, mass_matrix};
use grapple::dynamics::{Applied, Dynamics};
use grapple::plant::OperatingPoint;
use grapple::spec::{Capability, Formulation, JointType, QuaternionOptions};
use grapple::system::{Configuration, JointState, Kinematics};
use nalgebra::{DMatrix, DVector};

const TREES: u64 = 60;

fn trees() -> impl Iterator<Item = (u64, RandomTree)> {
    (0..TREES).map(|seed| (seed, random_tree(seed, 5 + (seed as usize * 7) % 56, 1.0)))
}

fn kinematics(tree: &RandomTree) -> Kinematics<f64> {
    let system = tree.plant.model().system();
    let mut kinematics = Kinematics::new(system);
    kinematics.update(system, tree.plant.derived(), &tree.q, &tree.qd);
    kinematics
}

/// τ → q̈ → τ is the identity. Tolerance 1e-11: round-off times the condition number of a rigid
/// tree with 60 joints. A joint that carries a beam by its modes only has hardly any inertia;
/// flexible spacecraft have round-off times their own condition number, at most 1e-9.
#[test]
fn inverse_dynamics_undoes_forward_dynamics() {
    let (mut worst, mut largest) = ([0.0_f64; 2], 0.0_f64);
    for (seed, tree) in trees() {
        let (system, derived) = (tree.plant.model().system(), tree.plant.derived());
        let kinematics = kinematics(&tree);
        let mut applied = applied(system);
        let mut tau = vec![0.0; system.nv];
        let at = Configuration {
            system,
            derived,
            kinematics: &kinematics,
        };
        InverseDynamics::new(system).solve(at, &applied, &tree.qdd, &mut tau);
        applied.tau.copy_from_slice(&tau);
        let mut qdd = vec![0.0; system.nv];
        ForwardDynamics::new(system)
            .solve(at, &applied, &mut qdd)
            .expect("regular");
        let off = relative_distance(&qdd, &tree.qdd);
        let flexible = system.bodies.iter().any(|body| body.modes.is_some());
        let bound = match flexible {
            true => (f64::EPSILON * condition(&mass_matrix(system, derived, &kinematics))).clamp(1e-11, 1e-9),
            false => 1e-11,
        };
        assert!(off < bound, "seed {seed}: {off:e} of {bound:e}");
        worst[usize::from(flexible)] = worst[usize::from(flexible)].larger(off);
        largest = largest.larger(bound);
    }
    println!(
        "worst ‖Δq̈‖/‖q̈‖ of {TREES} trees: rigid {:.1e} (1e-11), flexible {:.1e} (ε·cond, up to {largest:.1e})",
        worst[0], worst[1]
    );
}

/// Returns the ratio of the largest to the smallest eigenvalue, with every rate scaled by its own
/// inertia.
fn condition(M: &DMatrix<f64>) -> f64 {
    let scaled = DMatrix::from_fn(M.nrows(), M.ncols(), |i, j| M[(i, j)] / (M[(i, i)] * M[(j, j)]).sqrt());
    let eigenvalues = scaled.symmetric_eigenvalues();
    eigenvalues.max() / eigenvalues.min()
}

/// `M q̈ + b = τ`, M symmetric and positive definite, and `½ q̇ᵀMq̇ = T`.
#[test]
fn mass_matrix_is_symmetric_positive_and_agrees_with_inverse_dynamics_and_energy() {
    let (mut worst_tau, mut worst_T): (f64, f64) = (0.0, 0.0);
    for (seed, tree) in trees() {
        let (system, derived) = (tree.plant.model().system(), tree.plant.derived());
        let kinematics = kinematics(&tree);
        let applied = applied(system);
        let M = mass_matrix(system, derived, &kinematics);
        assert!(
            (&M - M.transpose()).norm() < 1e-14 * M.norm(),
            "seed {seed}: not symmetric"
        );
        assert!(M.clone().cholesky().is_some(), "seed {seed}: not positive definite");

        let mut inverse = InverseDynamics::new(system);
        let (mut tau, mut bias) = (vec![0.0; system.nv], vec![0.0; system.nv]);
        let at = Configuration {
            system,
            derived,
            kinematics: &kinematics,
        };
        inverse.solve(at, &applied, &tree.qdd, &mut tau);
        inverse.solve(at, &applied, &vec![0.0; system.nv], &mut bias);
        let from_matrix = &M * DVector::from_column_slice(&tree.qdd) + DVector::from_vec(bias);
        worst_tau = worst_tau.larger(relative_distance(from_matrix.as_slice(), &tau));

        let qd = DVector::from_column_slice(&tree.qd);
        let T = 0.5 * (qd.transpose() * &M * &qd)[0];
        let sum = Invariants::new(
            at,
            JointState {
                q: &tree.q,
                qd: &tree.qd,
            },
            None,
        );
        worst_T = worst_T.larger((T - sum.kinetic_energy).abs() / T);
    }
    println!("worst torque {worst_tau:.1e}, worst energy {worst_T:.1e}");
    assert!(worst_tau < 1e-12, "{worst_tau:e}"); // 60 joints, round-off
    assert!(worst_T < 1e-13, "{worst_T:e}");
}

/// The twist of a point from its Jacobian equals the shifted twist of the body.
#[test]
fn jacobian_times_rates_is_the_twist_of_the_point() {
    for (seed, tree) in trees() {
        let system = tree.plant.model().system();
        let kinematics = kinematics(&tree);
        let r = Vec3::new(0.3, -0.8, 0.5);
        let mut columns = vec![Twist::zero(); system.nv];
        for body in 0..system.bodies.len() {
            jacobian(system, &kinematics, body, &r, &mut columns);
            let sum = columns
                .iter()
                .zip(&tree.qd)
                .fold(Twist::zero(), |sum: Twist<f64>, (column, &rate)| sum + *column * rate);
            let expected = kinematics.bodies[body].V_WB.shift(&r);
            let off = (sum - expected).w.norm() + (sum - expected).v.norm();
            let scale = expected.w.norm() + expected.v.norm();
            assert!(off < 1e-13 * scale, "seed {seed}, body {body}: {off:e} of {scale:e}");
        }
    }
}

/// Kinematic equations of every joint: along `q̇ = N(q) q̇d`, the derivative of `X_WB` is `V_WB`,
/// and that of `V_WB` the acceleration of the recursion. Central differences of step h: error h²/6
/// of the third derivative, here 1e-5² times moderate numbers.
#[test]
fn poses_twists_and_accelerations_are_derivatives_of_each_other() {
    let h = 1e-5;
    for (seed, tree) in trees().take(30) {
        let (system, derived) = (tree.plant.model().system(), tree.plant.derived());
        let middle = kinematics(&tree);
        let mut inverse = InverseDynamics::new(system);
        let mut tau = vec![0.0; system.nv];
        let configuration = Configuration {
            system,
            derived,
            kinematics: &middle,
        };
        inverse.solve(configuration, &Applied::none(system), &tree.qdd, &mut tau);
        let at = |s: f64| {
            let (q, qd) = along(&tree, s);
            let mut k = Kinematics::new(system);
            k.update(system, derived, &q, &qd);
            k
        };
        let (before, after) = (at(-h), at(h));
        for i in 0..system.bodies.len() {
            let (B, A, M) = (&before.bodies[i], &after.bodies[i], &middle.bodies[i]);
            let v = (A.p_WB - B.p_WB) / (2.0 * h);
            let R_dot = (A.R_WB - B.R_WB) / (2.0 * h);
            let V_dot = (A.V_WB - B.V_WB) * (0.5 / h);
            let w_cross = R_dot * M.R_WB.transpose();
            let acceleration = inverse.A[i] + M.A_bias;
            let scale = 1.0 + acceleration.v.norm() + acceleration.w.norm() + M.V_WB.v.norm();
            let off = (v - M.V_WB.v).norm()
                + (w_cross - M.V_WB.w.cross_matrix()).norm()
                + (V_dot.v - acceleration.v).norm()
                + (V_dot.w - acceleration.w).norm();
            assert!(off < 1e-6 * scale, "seed {seed}, body {i}: {off:e} of {scale:e}");
        }
    }
}

/// Power and impulse balance: `dT/dt = τ·q̇`, and the momentum of a spacecraft changes by the
/// wrench on its free roots only. Central differences of step 1e-5: errors about 1e-10 of third
/// derivatives.
#[test]
fn energy_and_momentum_change_by_power_and_wrench_of_the_loads() {
    let (mut worst_T, mut worst_p): (f64, f64) = (0.0, 0.0);
    let h = 1e-5;
    for (seed, tree) in trees().take(40) {
        let (system, derived) = (tree.plant.model().system(), tree.plant.derived());
        let mut inverse = InverseDynamics::new(system);
        let mut tau = vec![0.0; system.nv];
        let configuration = Configuration {
            system,
            derived,
            kinematics: &kinematics(&tree),
        };
        inverse.solve(configuration, &Applied::none(system), &tree.qdd, &mut tau);
        let power: f64 = tau.iter().zip(&tree.qd).map(|(tau, qd)| tau * qd).sum();
        let roots = (0..system.bodies.len()).filter(|&i| system.bodies[i].parent.is_none());
        let force = roots.fold(Vec3::zeros(), |f, i| f + inverse.F[i].f);
        let at = |s: f64| {
            let (q, qd) = along(&tree, s);
            let mut k = Kinematics::new(system);
            k.update(system, derived, &q, &qd);
            let configuration = Configuration {
                system,
                derived,
                kinematics: &k,
            };
            Invariants::new(configuration, JointState { q: &q, qd: &qd }, None)
        };
        let (before, after) = (at(-h), at(h));
        let gained = (after.kinetic_energy - before.kinetic_energy) / (2.0 * h);
        let scale = tau.iter().zip(&tree.qd).map(|(tau, qd)| (tau * qd).abs()).sum::<f64>();
        worst_T = worst_T.larger((gained - power).abs() / scale);
        let pushed = (after.p - before.p) / (2.0 * h);
        worst_p = worst_p.larger((pushed - force).norm() / (after.p_scale + force.norm()));
        let moved = (after.mass_centre - before.mass_centre) / (2.0 * h) * after.mass;
        let off = (moved - (after.p + before.p) * 0.5).norm() / after.p_scale;
        assert!(
            off < 1e-7,
            "seed {seed}: the momentum is not that of the mass centre, {off:e}"
        );
    }
    println!("worst energy {worst_T:.1e}, worst momentum {worst_p:.1e} (1e-7)");
    assert!(worst_T < 1e-7 && worst_p < 1e-7, "{worst_T:e} {worst_p:e}");
}

/// Returns the state of the tree after the time `s`, to second order, for constant accelerations.
fn along(tree: &RandomTree, s: f64) -> (Vec<f64>, Vec<f64>) {
    let system = tree.plant.model().system();
    // q + s q̇ + ½ s² q̈ by a midpoint evaluation.
    let half_qd: Vec<f64> = (0..system.nv).map(|i| tree.qd[i] + 0.5 * s * tree.qdd[i]).collect();
    let d0 = coordinates_rate(tree, &tree.q, &tree.qd);
    let half_q: Vec<f64> = (0..system.nq).map(|i| tree.q[i] + 0.5 * s * d0[i]).collect();
    let d = coordinates_rate(tree, &half_q, &half_qd);
    let q = (0..system.nq).map(|i| tree.q[i] + s * d[i]).collect();
    let qd = (0..system.nv).map(|i| tree.qd[i] + s * tree.qdd[i]).collect();
    (q, qd)
}

/// Returns the coordinates' derivatives, through the plant.
fn coordinates_rate(tree: &RandomTree, q: &[f64], qd: &[f64]) -> Vec<f64> {
    let model = tree.plant.model();
    let system = model.system();
    let mut x = [q, qd].concat();
    x.resize(model.states.len(), 0.0);
    let mut dx = vec![0.0; x.len()];
    let u: Vec<f64> = model.inputs.iter().map(|input| input.start).collect();
    tree.plant
        .clone()
        .derivative(OperatingPoint::new(0.0, &x, &u, &model.discrete()), &mut dx)
        .expect("regular");
    dx[..system.nq].to_vec()
}

/// The accelerations of a rigid spacecraft do not depend on its distance from the world's origin.
#[test]
fn accelerations_do_not_depend_on_the_position() {
    let tree = random_tree(7, 20, 1.0);
    let model = tree.plant.model();
    let system = model.system();
    let root = &system.bodies[0].joint;
    let solve = |offset: f64| {
        let mut q = tree.q.clone();
        q[root.q + 4] += offset;
        let mut k = Kinematics::new(system);
        k.update(system, tree.plant.derived(), &q, &tree.qd);
        let mut qdd = vec![0.0; system.nv];
        let at = Configuration {
            system,
            derived: tree.plant.derived(),
            kinematics: &k,
        };
        ForwardDynamics::new(system)
            .solve(at, &applied(system), &mut qdd)
            .expect("regular");
        qdd
    };
    assert_eq!(solve(0.0), solve(7e6), "the engine never uses absolute positions");
}

/// An evaluation depends on its state only, not on the contents of the workspace, also if a free
/// joint propagates nothing to a parent with other children.
#[test]
fn evaluation_depends_on_its_state_only() {
    let text = r#"
name = "pod"
[body.base]
mass = 4.0
inertia = [0.4, 0.5, 0.6]
[body.arm]
mass = 1.0
mass_centre = [0.5, 0.1, 0.0]
inertia = [0.1, 0.2, 0.2]
[body.pod]
mass = 1.0
mass_centre = [0.0, 0.1, 0.3]
inertia = [0.1, 0.2, 0.2]
[joint.shoulder]
type = "revolute"
parent = "base"
child = "arm"
origin = [0.5, 0.0, 0.2]
[joint.separation]
type = "free"
parent = "base"
child = "pod"
origin = [0.0, 1.0, 0.0]
"#;
    let mut plant = crate::plant(text);
    let model = plant.model().clone();
    let x: Vec<f64> = (0..model.states.len()).map(|i| 0.3 + (i as f64).sin()).collect();
    let u = vec![0.7; model.inputs.len()];
    let mut evaluate = || {
        let mut dx = vec![0.0; x.len()];
        plant
            .derivative(OperatingPoint::new(0.0, &x, &u, &plant.model().discrete()), &mut dx)
            .expect("regular");
        dx
    };
    let first = evaluate();
    assert_eq!(first, evaluate());
    assert_eq!(first, evaluate());
}

/// Superposition: the response to additional wrenches and modal forces, computed from the stored
/// factorisation, plus the solution equals the solution under all loads; in every formulation, with
/// momentum rows, rotors, and on rigid trees with driven joints. The torques for the accelerations
/// are compared, as in `inverse_dynamics_undoes_forward_dynamics`; with driven joints the
/// accelerations themselves. Tolerance 1e-11, as there.
#[test]
fn response_plus_solution_is_the_solution_under_both_loads() {
    let mut worst: f64 = 0.0;
    for (seed, tree) in trees() {
        let is_rigid = seed % 2 == 0;
        let (system, derived, kinematics) = (tree.plant.model().system(), tree.plant.derived(), kinematics(&tree));
        let mut loads = applied(system);
        for (i, body) in system.bodies.iter().enumerate() {
            for v in body.joint.v..body.joint.v + body.joint.nv {
                (loads.tau[v], loads.qdd[v]) = ((7.0 * v as f64).sin(), (3.0 * v as f64).cos());
            }
            loads.driven[i] = is_rigid && i % 5 == 3 && body.joint.kind != JointType::Free;
            if body.joint.kind == JointType::Free && body.parent.is_some() {
                loads.tau[body.joint.v..body.joint.v + 6].fill(0.0);
            }
        }
        let mut more = Applied::none(system);
        for (i, F) in more.wrench.iter_mut().enumerate() {
            let x = i as f64;
            (F.t, F.f) = (
                Vec3::new((3.0 * x).cos(), 0.4, x.sin()),
                Vec3::new(x.cos(), -0.7, (5.0 * x).sin()),
            );
        }
        for v in system.flexible().flat_map(|modes| modes.rates()) {
            more.tau[v] = (2.0 * v as f64).cos();
        }
        let mut both = loads.clone();
        both.wrench
            .iter_mut()
            .zip(&more.wrench)
            .for_each(|(F, more)| *F = *F + *more);
        both.tau.iter_mut().zip(&more.tau).for_each(|(tau, more)| *tau += more);
        let M = mass_matrix(system, derived, &kinematics);
        let at = Configuration {
            system,
            derived,
            kinematics: &kinematics,
        };
        let has = |formulation: &Formulation| is_rigid || formulation.has(Capability::Flexible);
        for formulation in Formulation::ALL.into_iter().filter(has) {
            let mut spec = tree.plant.model().spec.clone();
            spec.formulation = formulation;
            spec.quaternion = (formulation == Formulation::Quaternion && seed % 4 < 2).then(|| QuaternionOptions {
                momentum_rows: true,
                ..QuaternionOptions::default()
            });
            let mut dynamics = Dynamics::new(system, &spec);
            let mut rates = |loads: &Applied<f64>, more: Option<&Applied<f64>>| {
                let mut qdd = vec![0.0; system.nv];
                dynamics.solve(at, loads, &tree.q, &mut qdd).expect("regular");
                let mut sum = DVector::from_column_slice(&qdd);
                if let Some(more) = more {
                    dynamics.respond(at, more, &mut qdd);
                    sum += DVector::from_column_slice(&qdd);
                }
                sum
            };
            let (direct, sum) = (rates(&both, None), rates(&loads, Some(&more)));
            let off = match is_rigid {
                true => (&sum - &direct).norm() / direct.norm(),
                false => (&M * (&sum - &direct)).norm() / (&M * &direct).norm(),
            };
            assert!(off < 1e-11, "seed {seed}, {}: {off:e}", formulation.name());
            worst = worst.larger(off);
        }
    }
    println!("worst {worst:.1e} of {TREES} trees (1e-11)");
}
