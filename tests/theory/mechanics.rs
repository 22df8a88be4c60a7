//! Mass matrix, momentum, Jacobians and inverse dynamics in the rates, compared with the invariants
//! and the derivatives of the evaluation.

use crate::numbers::relative_distance;
use crate::random_tree::{RandomTree, random_tree};
use grapple::plant::{Mechanics, OperatingPoint};
use nalgebra::{DMatrix, Matrix6, Vector6};

fn trees() -> impl Iterator<Item = (u64, RandomTree)> {
    (0..30).map(|seed| (seed, random_tree(seed, 3 + (seed as usize * 7) % 20, 1.0)))
}

/// Returns the states of a tree with these rates.
fn states(tree: &RandomTree, rates: &[f64]) -> Vec<f64> {
    let mut x = [&tree.q[..], rates].concat();
    x.resize(tree.plant.model().states.len(), 0.0);
    x
}

/// Returns the angular momentum about the mass centre and the linear momentum by the invariants.
fn momentum(tree: &mut RandomTree, rates: &[f64]) -> Vector6<f64> {
    let x = states(tree, rates);
    let sum = tree.plant.invariants(&x);
    Vector6::from_iterator(sum.h.iter().chain(sum.p.iter()).copied())
}

/// Tolerance: round-off of sums over 23 bodies with masses within a decade.
#[test]
fn momentum_matrix_gives_the_momenta_of_the_invariants() {
    for (seed, mut tree) in trees() {
        let mut mechanics = Mechanics::new(tree.plant.model()).expect("no ANCF beams");
        let nv = tree.qd.len();
        let (rates, mut A) = (tree.qd.clone(), vec![0.0; 6 * nv]);
        let x = states(&tree, &rates);
        mechanics.momentum_matrix(&mut tree.plant, &x, &mut A);
        let product = DMatrix::from_row_slice(6, nv, &A) * nalgebra::DVector::from_column_slice(&rates);
        let off = relative_distance(product.as_slice(), momentum(&mut tree, &rates).as_slice());
        assert!(off < 1e-13, "seed {seed}: {off:e}");
    }
}

/// The base has the rates that cancel the momentum of the joints and modes, found from the
/// invariants. Tolerance: round-off times the condition of the base's inertia.
#[test]
fn generalised_jacobian_gives_the_motion_of_every_body_without_momentum() {
    // Every third tree has a second spacecraft.
    for (seed, mut tree) in trees().filter(|(seed, _)| seed % 3 != 0) {
        let nv = tree.qd.len();
        let unit = |k: usize| (0..nv).map(|v| f64::from(v == k)).collect::<Vec<_>>();
        let columns: Vec<_> = (0..6).map(|k| momentum(&mut tree, &unit(k))).collect();
        let mut rates = tree.qd.clone();
        rates[..6].fill(0.0);
        let base = Matrix6::from_columns(&columns)
            .lu()
            .solve(&-momentum(&mut tree, &rates));
        rates[..6].copy_from_slice(base.expect("the base has inertia").as_slice());
        let x = states(&tree, &rates);
        let mut mechanics = Mechanics::new(tree.plant.model()).expect("no ANCF beams");
        let bodies = tree.plant.model().system().bodies.iter().map(|body| body.name.clone());
        for name in bodies.collect::<Vec<_>>() {
            let frame = tree.plant.model().system().frame(&name).expect("a body");
            let (mut J, mut free) = (vec![0.0; 6 * nv], vec![0.0; 6 * (nv - 6)]);
            let V = mechanics.frame(&mut tree.plant, &x, frame).V_WF.to_array();
            mechanics.frame_jacobian(&mut tree.plant, &x, frame, &mut J);
            let of_base = mechanics.generalised_jacobian(&mut tree.plant, &x, frame, &mut free);
            assert_eq!(of_base, Some(0));
            let by = |J: &[f64], rates: &[f64]| {
                (DMatrix::from_row_slice(6, rates.len(), J) * nalgebra::DVector::from_column_slice(rates))
                    .data
                    .into()
            };
            let [full, free]: [Vec<f64>; 2] = [by(&J, &rates), by(&free, &rates[6..])];
            let off = [relative_distance(&full, &V), relative_distance(&free, &V)];
            assert!(off[0] < 1e-13 && off[1] < 1e-11, "seed {seed}, {name}: {off:?}");
        }
    }
}

/// The derivatives of the evaluation need no forces beyond the loads; the inverse dynamics is
/// linear in them, with the mass matrix. Tolerances: 1e-11 and 1e-10 as for the forward dynamics in
/// `identities.rs`.
#[test]
fn inverse_dynamics_is_the_mass_matrix_times_accelerations_less_the_loads() {
    for (seed, mut tree) in trees() {
        let model = tree.plant.model().clone();
        let mut mechanics = Mechanics::new(&model).expect("no ANCF beams");
        let (nq, nv) = (tree.q.len(), tree.qd.len());
        let x = states(&tree, &tree.qd);
        let (u, discrete) = (vec![0.0; model.inputs.len()], model.discrete());
        let at = OperatingPoint::new(0.0, &x, &u, &discrete);
        let mut dx = vec![0.0; x.len()];
        tree.plant.derivative(at, &mut dx).expect("regular");
        let (mut needed, mut at_rest, mut c) = (vec![0.0; nv], vec![0.0; nv], vec![0.0; nv]);
        let mut inverse = |v_dot: &[f64], tau: &mut [f64]| {
            mechanics
                .inverse_dynamics(&mut tree.plant, at, v_dot, tau)
                .expect("no feed-forward");
        };
        inverse(&dx[nq..nq + nv], &mut needed);
        inverse(&vec![0.0; nv], &mut at_rest);
        let mut M = vec![0.0; nv * nv];
        mechanics.mass_matrix(&mut tree.plant, &x, &mut M);
        let M = DMatrix::from_row_slice(nv, nv, &M);
        let inertial = &M * nalgebra::DVector::from_column_slice(&dx[nq..nq + nv]);
        let sum: Vec<f64> = inertial.iter().zip(&at_rest).map(|(a, b)| a + b).collect();
        let scale = inertial.norm();
        let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt() / scale;
        assert!(
            norm(&needed) < 1e-10 && norm(&sum) < 1e-10,
            "seed {seed}: {:e}",
            norm(&needed)
        );
        // Without loads, the rates' own forces remain.
        mechanics.gyroscopic_forces(&mut tree.plant, &x, &mut c);
        if !model.system().bodies.iter().any(|body| body.modes.is_some()) {
            assert!(relative_distance(&c, &at_rest) < 1e-14, "rigid trees have no loads");
        }
        assert!((&M - M.transpose()).norm() == 0.0);
    }
}
