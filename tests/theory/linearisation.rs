//! Linearisation in tangent coordinates.

use crate::random_tree::random_tree;
use grapple::plant::{Linearisation, OperatingPoint, Plant};
use nalgebra::{DMatrix, Matrix3, Vector3};

/// Returns the linearisation at the spec's start.
pub fn at_start(plant: &mut Plant) -> Linearisation {
    let model = plant.model().clone();
    let (mut x, mut discrete) = (vec![0.0; model.states.len()], model.discrete());
    plant.start(0.0, &mut x, &mut discrete).expect("closed");
    let u: Vec<f64> = model.inputs.iter().map(|input| input.start).collect();
    Linearisation::new(plant, OperatingPoint::new(0.0, &x, &u, &discrete)).expect("regular")
}

const SPINNING: &str = r#"
name = "spinning"
[body.base]
mass = 3.0
inertia = [1.0, 2.0, 2.5]
start = { angular_velocity = [0.3, -0.7, 0.4], velocity = [1.0, 2.0, 3.0] }
"#;

/// The matrix `A` states `θ̇ = δw − w × θ`, `δṙ = δv`, and Euler's equations `I δẇ = (I w) × δw − w
/// × (I δw)`.
#[test]
fn linearised_spinning_body_satisfies_eulers_equations() {
    let linear = at_start(&mut crate::plant(SPINNING));
    let names: Vec<&str> = linear.coordinates.iter().map(|q| q.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "base.theta[1]",
            "base.theta[2]",
            "base.theta[3]",
            "base.r[1]",
            "base.r[2]",
            "base.r[3]",
            "base.w[1]",
            "base.w[2]",
            "base.w[3]",
            "base.v[1]",
            "base.v[2]",
            "base.v[3]",
        ]
    );
    let w = Vector3::new(0.3, -0.7, 0.4);
    let I = Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 2.5));
    let mut expected = DMatrix::zeros(12, 12);
    expected.fixed_view_mut::<3, 3>(0, 0).copy_from(&-w.cross_matrix());
    expected.fixed_view_mut::<3, 3>(0, 6).copy_from(&Matrix3::identity());
    expected.fixed_view_mut::<3, 3>(3, 9).copy_from(&Matrix3::identity());
    let euler = Matrix3::from_diagonal(&Vector3::new(1.0, 0.5, 0.4)) * ((I * w).cross_matrix() - w.cross_matrix() * I);
    expected.fixed_view_mut::<3, 3>(6, 6).copy_from(&euler);
    let off = (&linear.A - expected).norm();
    println!("{off:.1e}");
    assert!(off < 1e-14, "{off:e}");
}

/// The tangent coordinates are twice as many as the rates. They map to all states except the work,
/// and back (`S T = 1`), and they satisfy the linear equations: the columns of `A` equal
/// differences of the derivatives at neighbouring states.
#[test]
fn state_matrix_equals_finite_differences() {
    for seed in [2, 3, 4] {
        let mut tree = random_tree(seed, 6, 1.0);
        let model = tree.plant.model().clone();
        let (nv, u) = (model.system().nv, vec![0.3; model.inputs.len()]);
        let discrete = model.discrete();
        let mut x = [tree.q.clone(), tree.qd.clone()].concat();
        x.push(0.0);
        let mut at = |x: &[f64]| {
            Linearisation::new(&mut tree.plant, OperatingPoint::new(0.0, x, &u, &discrete)).expect("regular")
        };
        let linear = at(&x);
        assert_eq!(linear.coordinates.len(), 2 * nv);
        let one = (&linear.S * &linear.T - DMatrix::identity(2 * nv, 2 * nv)).norm();
        assert!(one < 1e-14, "{one:e}");

        // ξ = S δx, so ξ̇ = Ṡ T ξ + S δẋ. The first term is a difference of S along the motion, the
        // second one of derivatives at states that differ by T ξ.
        let mut slope = |direction: &[f64], of: &dyn Fn(Linearisation) -> DMatrix<f64>| {
            let mut value = |steps: f64| {
                let moved = x.iter().zip(direction).map(|(x, d)| x + steps * H * d);
                of(at(&moved.collect::<Vec<_>>()))
            };
            ((value(1.0) - value(-1.0)) * 8.0 - value(2.0) + value(-2.0)) / (12.0 * H)
        };
        let S_dot = slope(&linear.dx, &|there| there.S);
        for k in 0..2 * nv {
            let column = linear.T.column(k).into_owned();
            let delta_dx = slope(column.as_slice(), &|there| {
                DMatrix::from_vec(there.dx.len(), 1, there.dx)
            });
            let expected = &S_dot * &column + &linear.S * delta_dx;
            let off = (linear.A.column(k) - &expected).norm() / linear.A.norm();
            assert!(off < 1e-9, "seed {seed}, {}: {off:e}", linear.coordinates[k].name);
        }
    }
}

/// Step of the fourth-order differences, for which both truncation error and round-off are small.
const H: f64 = 1e-4;
