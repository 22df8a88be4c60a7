//! The states' Jacobian by recursion over the tree, compared with dual numbers through the whole
//! evaluation; the two methods share only the kinematics and the local derivatives of joints and
//! loads.

use crate::duals::{Point, nominals, start};
use crate::every_load::{FAR, every_load};
use crate::example_files::example_files;
use crate::numbers::Larger;
use crate::random_tree::random_tree;
use grapple::plant::{LANES, Model, OperatingPoint, Plant, StateJacobian, Tangent};
use grapple::spec::JointMotion;
use nalgebra::DMatrix;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Returns the largest deviation `‖a − a'‖/‖a'‖` of a row between the two methods.
fn between_both(plant: &Plant, point: &Point) -> f64 {
    let (model, nx) = (plant.model(), point.x.len());
    if nx == 0 {
        return 0.0; // a controller has no states
    }
    let at = OperatingPoint::new(point.t, point.x.as_slice(), point.u.as_slice(), &point.discrete);
    let (mut tree, mut duals) = (DMatrix::from_element(nx, nx, f64::NAN), DMatrix::zeros(nx, nx));
    let mut state_jacobian = StateJacobian::new(model);
    state_jacobian
        .evaluate(plant, at, tree.as_mut_slice())
        .expect("regular");
    // A second evaluation gives the same bits: it does not depend on the previous one.
    let mut again = DMatrix::zeros(nx, nx);
    state_jacobian
        .evaluate(plant, at, again.as_mut_slice())
        .expect("regular");
    assert_eq!(tree, again);
    let mut tangent = Tangent::<LANES>::new(model);
    tangent
        .state_jacobian(plant, at, duals.as_mut_slice())
        .expect("regular");
    let all = duals.norm();
    let row = |i: usize| (tree.row(i) - duals.row(i)).norm() / duals.row(i).norm().max(SMALL * all);
    let rows: Vec<f64> = (0..nx).map(row).collect();
    let holds = |off: f64| off < TOLERANCE;
    for (derivative, &off) in model.derivatives.iter().zip(&rows).filter(|&(_, &off)| !holds(off)) {
        println!("{}: {off:e}", derivative.name);
    }
    rows.into_iter().fold(0.0, f64::larger)
}

/// Norm of a row, relative to that of the matrix, below which the row is treated as zero by
/// cancellation.
const SMALL: f64 = 1e-6;

/// Round-off times the condition number, row by row, for bodies with masses within a decade and
/// large bending. Since all quantities are about the root's origin, light bodies at the end of a
/// long arm lose digits as well: for `ssrms_type` by the square of 15 m over the wrist's radius of
/// gyration.
const TOLERANCE: f64 = 1e-10;

/// Returns a point near the start: states and inputs displaced by fractions of their nominals,
/// quaternions not normalised.
pub fn near_start(plant: &mut Plant, seed: u64, size: f64) -> Point {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut point = start(plant);
    for (value, nominal) in point.x.iter_mut().chain(&mut point.u).zip(nominals(plant.model())) {
        *value += size * nominal * rng.random_range(-1.0..1.0);
    }
    let Point { t, x, u, discrete } = &mut point;
    plant.update(*t, x, u, discrete, &mut Vec::new()).expect("regular");
    point
}

#[test]
fn tree_jacobian_equals_duals_on_random_spacecraft() {
    let mut worst = [0.0_f64; 2];
    for seed in 0..60 {
        let tree = random_tree(seed, 1 + seed as usize % 14, 1.0);
        let mut x = [tree.q.clone(), tree.qd.clone()].concat();
        x.push(0.4);
        if seed % 4 < 2 {
            // For these seeds the quaternion of the first joint does not have unit norm.
            x[..4].iter_mut().for_each(|part| *part *= 1.3);
        }
        let model = tree.plant.model();
        let point = Point {
            t: 0.3,
            x,
            u: vec![0.7; model.inputs.len()],
            discrete: model.discrete(),
        };
        let off = between_both(&tree.plant, &point);
        worst[seed as usize % 2] = worst[seed as usize % 2].larger(off);
        assert!(off < TOLERANCE, "seed {seed}: {off:e}");
    }
    println!("rigid: {:.1e}, flexible: {:.1e}", worst[0], worst[1]);
}

#[test]
fn every_load_and_joint_has_its_derivative() {
    let mut plant = crate::plant(&every_load(FAR));
    // The joint with switched motion moves under its loads, is locked, or is prescribed.
    for (seed, size, motion) in [
        (1, 0.0, JointMotion::Loads),
        (2, 0.1, JointMotion::Locked),
        (3, 0.5, JointMotion::Prescribed),
        (4, 1.0, JointMotion::Locked),
        (5, 1.0, JointMotion::Loads),
    ] {
        let mut point = near_start(&mut plant, seed, size);
        *point.discrete.motions.last_mut().expect("a command") = motion;
        let off = between_both(&plant, &point);
        println!("moved by {size}, motion {motion:?}: {off:.1e}");
        assert!(off < TOLERANCE, "moved by {size}: {off:e}");
        point.x[plant.model().system().nq..].fill(0.0);
        let off = between_both(&plant, &point);
        println!("the same at rest: {off:.1e}");
        assert!(off < TOLERANCE, "at rest: {off:e}");
    }
}

#[test]
fn tree_jacobian_equals_duals_on_every_example() {
    for path in example_files() {
        let (text, directory) = (
            std::fs::read_to_string(&path).expect("text"),
            path.parent().expect("a folder"),
        );
        let mut plant = Plant::new(Model::read(&text, directory).expect("sound").into()).expect("derives");
        let mut worst = 0.0_f64;
        for (seed, size) in [(1, 0.0), (2, 0.01), (3, 0.3), (4, 1.0)] {
            let point = near_start(&mut plant, seed, size);
            worst = worst.larger(between_both(&plant, &point));
        }
        println!("{}: {worst:.1e}", plant.model().spec.name);
        assert!(worst < TOLERANCE, "{worst:e}");
    }
}
