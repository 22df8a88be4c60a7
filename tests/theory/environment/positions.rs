//! Positions of Sun and Moon that are inputs.

use super::{DOP853, PROBE, point};
use crate::adjoint::{FLEXIBLE, worst};
use crate::duals::{Point, start};
use crate::every_load::every_load_in_orbit;
use crate::numbers::few;
use crate::run::Run;
use crate::state_jacobian::near_start;
use grapple::algebra::{Mat3, Vec3};
use grapple::plant::{Adjoint, Jacobians, LANES, Model, OperatingPoint, Plant, Seeds, Tangent};
use grapple::spec::Formulation;
use grapple::system::ASTRONOMICAL_UNIT;
use std::path::Path;

const INPUTS: [&str; 2] = ["orbit.r_sun", "orbit.r_moon"];
const MU_OF: [f64; 2] = [1.327_124_4e20, 4.902_800_066e12];
const HIGH: &str = "[environment.orbit]\nsemi_major_axis = 4.2e7\ninclination_deg = 20.0\ntrue_anomaly_deg = 40.0\n\
                    epoch = \"2026-03-20T12:00:00\"\nthird_bodies = [\"sun\", \"moon\"]\n";
const SOURCES: &str = "sun = \"input\"\nmoon = \"input\"\n";
const BALL: &str =
    "[exposed_surface.ball]\nframe = \"probe\"\nshape = \"sphere\"\narea = 0.1\nradiation = { coefficient = 1.3 }\n";

/// Returns the text with the positions of Sun and Moon as inputs.
fn with_inputs(text: &str) -> String {
    text.replacen("third_bodies", &(SOURCES.to_owned() + "third_bodies"), 1)
}

/// Returns the index of the first component of each position among the inputs.
fn positions(model: &Model) -> [usize; 2] {
    INPUTS.map(|name| {
        let mut names = model.inputs.iter().map(|input| &input.quantity.name);
        names
            .position(|input| *input == format!("{name}[1]"))
            .expect("an input")
    })
}

/// Returns the positions of Sun and Moon by the formulas at the time `t`, s.
fn by_formulas(plant: &Plant, t: f64) -> [Vec3<f64>; 2] {
    let sky = point(plant, t).sky.expect("an epoch");
    [sky.sun, sky.moon]
}

/// With the values of the formulas as inputs, states' derivatives and outputs are those of the
/// formulas bit for bit, under every load of the environment and in all formulations. The inputs
/// start at the epoch's values.
#[test]
fn input_positions_of_the_formulas_give_equal_bits() {
    let text = every_load_in_orbit();
    for formulation in [Formulation::Recursive, Formulation::Quaternion, Formulation::Natural] {
        let read = |text: &str| crate::plant_in(formulation, text, Path::new("."));
        let (mut formulas, mut inputs) = (read(&text), read(&with_inputs(&text)));
        let first = positions(inputs.model());
        assert_eq!(first, [0, 3], "the other inputs follow in the order of the formulas");
        for t in [0.0, 3e3, 2e6] {
            let (mut of_formulas, mut of_inputs) = (start(&mut formulas), start(&mut inputs));
            if t > 0.0 {
                for (first, position) in first.into_iter().zip(by_formulas(&formulas, t)) {
                    of_inputs.u[first..first + 3].copy_from_slice(position.as_slice());
                }
            }
            let values = |plant: &mut Plant, of: &mut Point| {
                let (nx, ny) = (of.x.len(), plant.model().outputs.len());
                let (mut dx, mut y) = (vec![0.0; nx], vec![0.0; ny]);
                let at = OperatingPoint::new(t, &of.x, &of.u, &of.discrete);
                plant.evaluate(at, &mut dx, &mut y).expect("finite");
                dx.extend(y);
                dx.into_iter().map(f64::to_bits).collect::<Vec<_>>()
            };
            let expected = values(&mut formulas, &mut of_formulas);
            assert!(
                expected == values(&mut inputs, &mut of_inputs),
                "{formulation:?} at {t} s"
            );
        }
    }
}

/// A run with positions held over steps, each at its value in the middle of the step, approaches
/// the run with formulas with the square of the step.
#[test]
fn run_with_held_positions_converges_to_that_with_formulas() {
    let text = |third: &str| PROBE.to_owned() + &HIGH.replace("[\"sun\", \"moon\"]", third) + BALL + DOP853;
    let day = 86_400.0;
    let end = |text: &str| {
        let mut run = Run::new(text, 1e-13);
        run.go(day).vector("probe.r")
    };
    let both = text("[\"sun\", \"moon\"]");
    let expected = end(&both);
    let effect = (end(&text("[]")) - expected).norm();
    let formulas = crate::plant(&both);
    let off = [7200.0, 3600.0, 1800.0].map(|step| {
        let mut run = Run::new(&with_inputs(&both), 1e-13);
        let steps = (day / step) as usize;
        for k in 0..steps {
            let middle = (k as f64 + 0.5) * step;
            for (name, position) in INPUTS.into_iter().zip(by_formulas(&formulas, middle)) {
                (0..3).for_each(|i| run.set(&format!("{name}[{}]", i + 1), position[i]));
            }
            run.go((k + 1) as f64 * step);
        }
        (run.vector("probe.r") - expected).norm()
    });
    println!(
        "third bodies move it by {effect:.1} m; held positions are off by {} m",
        few(&off)
    );
    assert!(effect > 1e3 && off[2] < 1e-3 * effect);
    assert!((off[0] / off[1] / 4.0 - 1.0).abs() < 0.1 && (off[1] / off[2] / 4.0 - 1.0).abs() < 0.1);
}

/// Derivatives of a free body's acceleration with respect to the positions are those of the closed
/// form, forwards and by adjoints: with `d = s − r`
///
/// ```text
///     ∂a/∂s = μ (1 − 3 d̂d̂ᵀ)/d³ − μ (1 − 3 ŝŝᵀ)/s³ − (P A C_R/m) (1 − 3 d̂d̂ᵀ)/d³
/// ```
///
/// the last term for the light of the Sun, with the pressure `P` times the square of the distance.
#[test]
fn derivatives_with_respect_to_input_positions_equal_the_closed_form() {
    let mut plant = crate::plant(&(PROBE.to_owned() + &with_inputs(HIGH) + BALL));
    let of = start(&mut plant);
    let model = plant.model();
    let at = OperatingPoint::new(0.0, &of.x, &of.u, &of.discrete);
    let mut jacobians = Jacobians::new(model);
    let mut tangent = Tangent::<LANES>::new(model);
    tangent.jacobians(&plant, at, &mut jacobians).expect("regular");
    let states = model.states.iter().map(|state| state.name.as_str());
    let first_v = states
        .clone()
        .position(|name| name == "probe.v[1]")
        .expect("a velocity");
    let r = point(&plant, 0.0).R;
    let light = 1361.0 / 299_792_458.0 * ASTRONOMICAL_UNIT * ASTRONOMICAL_UNIT * 0.1 * 1.3 / 4.0;
    let mut adjoint = Adjoint::new(model);
    for (k, first) in positions(model).into_iter().enumerate() {
        let s = Vec3::from_column_slice(&of.u[first..first + 3]);
        let of_pole = |d: Vec3<f64>| {
            let u = d / d.norm();
            (Mat3::identity() - u * u.transpose() * 3.0) / d.norm().powi(3)
        };
        let pressed = if k == 0 { light } else { 0.0 };
        let expected = of_pole(s - r) * (MU_OF[k] - pressed) - of_pole(s) * MU_OF[k];
        let found = Mat3::from_fn(|i, j| jacobians.B[(first_v + i, first + j)]);
        let backwards = Mat3::from_rows(&[0, 1, 2].map(|i| {
            let (mut dx, y) = (vec![0.0; of.x.len()], vec![0.0; model.outputs.len()]);
            dx[first_v + i] = 1.0;
            let (mut x_bar, mut u_bar) = (vec![0.0; of.x.len()], vec![0.0; of.u.len()]);
            let seeds = Seeds { dx: &dx, y: &y };
            adjoint
                .evaluate(&plant, at, seeds, &mut x_bar, &mut u_bar)
                .expect("regular");
            Vec3::from_column_slice(&u_bar[first..first + 3]).transpose()
        }));
        let off = [found, backwards].map(|found| (found - expected).norm() / expected.norm());
        println!(
            "{}: ∂a/∂s {:.1e} 1/s², off by {} (1e-11)",
            INPUTS[k],
            expected.norm(),
            few(&off)
        );
        assert!(off[0] < 1e-11 && off[1] < 1e-11);
    }
}

/// Adjoints with respect to all states and inputs are products with the Jacobians, with every load
/// of the environment.
#[test]
fn adjoints_equal_products_with_jacobians_with_input_positions() {
    let sun_alone = every_load_in_orbit().replace("third_bodies = [\"sun\", \"moon\"]", "sun = \"input\"");
    for text in [with_inputs(&every_load_in_orbit()), sun_alone] {
        let mut plant = crate::plant(&text);
        let of = start(&mut plant);
        let off = worst(&plant, &of);
        println!("{off:.1e} (1e-11)");
        assert!(off < 1e-11);
    }
}

/// Adjoints with respect to the positions alone, to round-off of their own size: of flexible bodies
/// in both laws of gravity, and of a stage with propellant.
#[test]
fn adjoints_of_positions_equal_products_with_jacobians() {
    let high = with_inputs(HIGH);
    let stage = include_str!("../../../examples/tanks/kick_stage.toml");
    let fed = "name = \"fed\"\n[body.base]\nmass = 50.0\ninertia = [5.0, 6.0, 7.0]\n\
               [body.link]\nmass = 4.0\nmass_centre = [0.5, 0.0, 0.1]\ninertia = [0.1, 0.4, 0.5]\n\
               [joint.elbow]\ntype = \"revolute\"\nparent = \"base\"\nchild = \"link\"\norigin = [0.5, 0.0, 0.0]\n\
               servo = { kp = 10.0, kd = 5.0, feed_forward = \"rigid\" }\n";
    for text in [
        fed.to_owned() + &high,
        FLEXIBLE.to_owned() + &high,
        FLEXIBLE.to_owned() + &high + "gravity = \"second_order\"\n",
        stage.to_owned() + &high,
    ] {
        let mut plant = crate::plant(&text);
        let of = near_start(&mut plant, 2, 0.3);
        let model = plant.model();
        let at = OperatingPoint::new(0.0, &of.x, &of.u, &of.discrete);
        let mut jacobians = Jacobians::new(model);
        let mut tangent = Tangent::<LANES>::new(model);
        tangent.jacobians(&plant, at, &mut jacobians).expect("regular");
        let (nx, ny) = (of.x.len(), model.outputs.len());
        let seeds: Vec<f64> = (0..nx).map(|k| (1.0 + k as f64).sin()).collect();
        let (mut x_bar, mut u_bar) = (vec![0.0; nx], vec![0.0; of.u.len()]);
        let of_seeds = Seeds {
            dx: &seeds,
            y: &vec![0.0; ny],
        };
        Adjoint::new(model)
            .evaluate(&plant, at, of_seeds, &mut x_bar, &mut u_bar)
            .expect("regular");
        for first in positions(model) {
            let mut off = 0.0_f64;
            for k in first..first + 3 {
                let terms = || (0..nx).map(|i| seeds[i] * jacobians.B[(i, k)]);
                let size: f64 = terms().map(f64::abs).sum();
                assert!(size > 0.0);
                off = off.max((u_bar[k] - terms().sum::<f64>()).abs() / size);
            }
            println!("{}: {off:.1e} (1e-11)", model.spec.name);
            assert!(off < 1e-11);
        }
    }
}

/// A position inside the central body, as one that is zero or in kilometres, is an error with the
/// input's name.
#[test]
fn positions_inside_the_central_body_are_refused() {
    let mut plant = crate::plant(&(PROBE.to_owned() + &with_inputs(HIGH) + BALL));
    let good = start(&mut plant);
    for (name, first) in INPUTS.into_iter().zip(positions(plant.model())) {
        for scale in [0.0, if first == 0 { 1e-6 } else { 1e-3 }] {
            let mut u = good.u.clone();
            u[first..first + 3].iter_mut().for_each(|part| *part *= scale);
            let mut dx = vec![0.0; good.x.len()];
            let at = OperatingPoint::new(0.0, &good.x, &u, &good.discrete);
            let refused = plant.derivative(at, &mut dx).expect_err("inside").to_string();
            assert!(
                refused.contains(name) && refused.contains("set the position in m"),
                "{refused}"
            );
        }
    }
    for axis in 0..3 {
        let mut u = good.u.clone();
        u[axis] = f64::NAN;
        let at = OperatingPoint::new(0.0, &good.x, &u, &good.discrete);
        let refused = plant.derivative(at, &mut vec![0.0; good.x.len()]);
        assert!(refused.is_err(), "a component that is not a number");
    }
}
