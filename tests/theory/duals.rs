//! The whole way from states and inputs to derivatives, in dual numbers against differences: at general
//! states and at the rest state, where careless formulas give NaN.

use crate::random_tree::random_tree;
use grapple::algebra::{Dual, Scalar};
use grapple::plant::{Evaluation, Plant};
use nalgebra::Const;
use std::sync::Arc;

/// Largest distance between exact directional derivatives and fourth-order differences, norm-wise over
/// derivatives and outputs, over all directions.
fn worst_direction(plant: &mut Plant, x: &[f64], u: &[f64]) -> f64 {
    let model = Arc::clone(plant.model());
    let modes = vec![0; model.mode_count()];
    let (nx, ny) = (x.len(), model.outputs.len());
    let mut evaluation = Evaluation::<Dual<1>>::new(&model);
    let derived = plant.derived().clone();
    let parameters = plant.parameters().to_vec();
    let mut worst: f64 = 0.0;
    for k in 0..nx + u.len() {
        let seed = |i: usize, value: f64| {
            let constant = Dual::<1>::lift(value);
            if i == k { constant.derivative(0) } else { constant }
        };
        let xs: Vec<_> = x.iter().enumerate().map(|(i, &v)| seed(i, v)).collect();
        let us: Vec<_> = u.iter().enumerate().map(|(i, &v)| seed(nx + i, v)).collect();
        let mut dx = vec![Dual::<1>::lift(0.0); nx];
        let mut y = vec![Dual::<1>::lift(0.0); ny];
        let numbers = (&derived, parameters.as_slice());
        evaluation
            .derivative(&model, numbers, 0.3, (&xs, &us, &modes), &mut dx)
            .expect("regular");
        evaluation.outputs(&model, numbers, (&xs, &modes), &mut y);
        let exact: Vec<f64> = dx
            .iter()
            .chain(&y)
            .map(|d| d.eps.unwrap_generic(Const::<1>, Const::<1>)[0])
            .collect();

        let mut at = |s: f64| {
            let (mut x, mut u) = (x.to_vec(), u.to_vec());
            if k < nx {
                x[k] += s
            } else {
                u[k - nx] += s
            }
            let (mut dx, mut y) = (vec![0.0; nx], vec![0.0; ny]);
            plant.evaluate(0.3, (&x, &u, &modes), &mut dx, &mut y).expect("regular");
            dx.extend(y);
            dx
        };
        let h = 1e-3;
        let (a, b, c, d) = (at(-2.0 * h), at(-h), at(h), at(2.0 * h));
        let (mut off, mut norm) = (0.0, 0.0);
        for i in 0..exact.len() {
            // The scale outputs are plain numbers, told to be constants.
            if i >= nx && model.outputs[i - nx].quantity.name.ends_with("_scale") {
                continue;
            }
            let difference = (a[i] - d[i] + 8.0 * (c[i] - b[i])) / (12.0 * h);
            off += (difference - exact[i]).powi(2);
            norm += exact[i].powi(2);
        }
        worst = worst.max((off / norm.max(1.0)).sqrt());
    }
    worst
}

/// Differences of step 1e-3: h⁴/30 of the fifth derivative, and 1e-16/1e-3 of round-off: 1e-9 to 1e-8 of the norm.
const TOLERANCE: f64 = 1e-7;

#[test]
fn duals_agree_with_differences_at_general_states() {
    for seed in [1, 3, 6] {
        let mut tree = random_tree(seed, 12, 1.0);
        let mut x = [tree.q.clone(), tree.qd.clone()].concat();
        x.push(0.4);
        let u = vec![0.7; tree.plant.model().inputs.len()];
        let off = worst_direction(&mut tree.plant, &x, &u);
        println!("seed {seed}: {off:.1e}");
        assert!(off < TOLERANCE, "seed {seed}: {off:e}");
    }
}

const REST: &str = r#"
name = "rest"
[environment]
gravity = [0.0, 0.0, -1.0]
[body.base]
mass = 4.0
inertia = [0.4, 0.5, 0.6]
[body.ball]
mass = 1.0
mass_centre = [0.5, 0.0, 0.0]
inertia = [0.1, 0.2, 0.2]
[body.tip]
mass = 1.0
mass_centre = [0.5, 0.0, 0.0]
inertia = [0.1, 0.2, 0.2]
[joint.wrist]
type = "spherical"
parent = "base"
child = "ball"
origin = [0.5, 0.0, 0.0]
spring = { stiffness = 3.0 }
servo = { kp = [2.0, 3.0, 4.0], kd = 0.5 }
[joint.elbow]
type = "universal"
parent = "ball"
child = "tip"
origin = [1.0, 0.0, 0.0]
friction = { coulomb = 0.2, slip = 0.1 }
damping = 0.3
spring = { stiffness = 2.0, rest = 0.1 }
[port.push]
frame = "tip"
axes = "frame"
"#;

#[test]
fn duals_are_exact_at_the_rest_state() {
    let mut plant = crate::plant(REST);
    let model = Arc::clone(plant.model());
    let mut x = vec![0.0; model.states.len()];
    plant.start(0.0, &mut x, &mut []);
    let u: Vec<f64> = model.inputs.iter().map(|input| input.start).collect();
    let off = worst_direction(&mut plant, &x, &u);
    println!("at rest: {off:.1e}");
    assert!(off < TOLERANCE, "{off:e}");
}
