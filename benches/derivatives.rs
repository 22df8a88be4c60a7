//! Cost of exact derivatives: one direction and whole Jacobians, in units of the differentiated
//! evaluation.
//!
//! `cargo bench --bench derivatives` times, in the same rounds: derivatives and outputs
//! ([`Plant::evaluate`]); their derivative along one direction ([`Tangent::evaluate_along`]); all
//! four Jacobians ([`Tangent::jacobians`]) with one, two, four and eight directions at once; and
//! `∂ẋ/∂x` alone, by dual numbers ([`Tangent::state_jacobian`]) and analytically by the tree's
//! recursion ([`StateJacobian`]). The models are the examples, then chains of revolute joints on a
//! floating base with a torque input at each joint.

#![allow(non_snake_case)] // matrices have upper-case names

mod chain;
mod side_by_side;

use chain::moving_chain;
use grapple::plant::{Direction, Jacobians, LANES, Model, OperatingPoint, Plant, StateJacobian, Tangent};
use side_by_side::{Time, batch, rounds};
use std::hint::black_box;
use std::path::Path;

const JOINTS: [usize; 4] = [6, 12, 25, 50];

fn main() {
    println!(
        "{:16} {:>8} {:>9} {:>19} {:>40} {:>19}",
        "", "", "evaluate", "one direction", "Jacobians, N at once", "∂ẋ/∂x"
    );
    println!(
        "{:16} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "µs, minima", "columns", "", "", "ratio", "N = 1", "2", "4", "8", "duals", "tree"
    );
    for (name, text) in [
        ("two_link", include_str!("../examples/two_link.toml")),
        ("ssrms_type", include_str!("../examples/ssrms_type.toml")),
        ("ssrms_flexible", include_str!("../examples/ssrms_flexible.toml")),
    ] {
        line(name, text);
    }
    for n in JOINTS {
        line(&format!("chain of {n}"), &moving_chain(n));
    }
}

fn line(name: &str, text: &str) {
    let model = Model::read(text, Path::new(".")).unwrap_or_else(|e| panic!("{e}"));
    let mut plant = Plant::new(model.into()).expect("derives");
    let model = plant.model().clone();
    let (nx, nu, ny) = (model.states.len(), model.inputs.len(), model.outputs.len());
    let (mut x, mut discrete) = (vec![0.0; nx], model.discrete());
    plant.start(0.0, &mut x, &mut discrete).expect("closed");
    let u = vec![0.3; nu];
    let at = OperatingPoint::new(0.0, x.as_slice(), u.as_slice(), &discrete);
    let seeds = (vec![1.0; nx], vec![1.0; nu]);
    let (mut dx, mut y) = (vec![0.0; nx], vec![0.0; ny]);
    let (mut delta_dx, mut delta_y) = (vec![0.0; nx], vec![0.0; ny]);
    let still = plant.clone();
    let mut single = Tangent::<1>::new(&model);
    let mut along = || {
        let seeds = Direction {
            x: &seeds.0,
            u: &seeds.1,
        };
        single
            .evaluate_along(&still, black_box(at), seeds, &mut delta_dx, &mut delta_y)
            .expect("regular");
    };
    let mut t = at.t;
    let mut evaluate = || {
        // Another instant, since an evaluation at the same point is shared.
        t += 1e-9;
        let at = OperatingPoint { t, ..at };
        plant.evaluate(black_box(at), &mut dx, &mut y).expect("regular");
    };
    let [mut j1, mut j2, mut j4, mut j8] = [(); 4].map(|()| Jacobians::new(&model));
    let (mut t1, mut t2) = (Tangent::<1>::new(&model), Tangent::<2>::new(&model));
    let (mut t4, mut t8) = (Tangent::<4>::new(&model), Tangent::<8>::new(&model));
    let mut one = || t1.jacobians(&still, black_box(at), &mut j1).expect("regular");
    let mut two = || t2.jacobians(&still, black_box(at), &mut j2).expect("regular");
    let mut four = || t4.jacobians(&still, black_box(at), &mut j4).expect("regular");
    let mut eight = || t8.jacobians(&still, black_box(at), &mut j8).expect("regular");
    let (mut several, mut A) = (Tangent::<LANES>::new(&model), vec![0.0; nx * nx]);
    let mut states = || several.state_jacobian(&still, black_box(at), &mut A).expect("regular");
    let (mut tree, mut by_tree) = (StateJacobian::new(&model), vec![0.0; nx * nx]);
    let mut tree = || tree.evaluate(&still, black_box(at), &mut by_tree).expect("regular");
    let alternatives: [(&mut dyn FnMut(), u32); 8] = [
        (&mut evaluate, 50),
        (&mut along, 20),
        (&mut one, 1),
        (&mut two, 1),
        (&mut four, 1),
        (&mut eight, 1),
        (&mut states, 1),
        (&mut tree, 10),
    ];
    // A whole Jacobian takes longer than an undisturbed time slice, so other programs would distort
    // its median; minima are used.
    let alternatives = alternatives.map(|(alternative, calls)| move || batch(calls, |_| alternative()));
    let [evaluate, along, j1, j2, j4, j8, states, tree] = rounds(alternatives).map(|times| Time::of(times).minimum);
    println!(
        "{name:16} {:8} {evaluate:9.2} {along:9.2} {:9.2} {j1:9.0} {j2:9.0} {j4:9.0} {j8:9.0} {states:9.0} {tree:9.2}",
        nx + nu,
        along / evaluate,
    );
}
