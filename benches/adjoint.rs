//! Cost of adjoint derivatives, in units of the differentiated evaluation.
//!
//! `cargo bench --bench adjoint` times, in the same rounds, for the states' derivatives alone and
//! with the outputs: the evaluation ([`Plant::derivative`], [`Plant::evaluate`]), a directional
//! derivative ([`Tangent`]), and the adjoint derivative with respect to all states and inputs
//! ([`Adjoint`]). The models are examples and chains of revolute joints with a torque input at each
//! joint. `-- --examples` measures all specs in `examples` with the recursive formulation, at their
//! starts, in place of these, and `-- --examples --ends` at the ends of their experiments, where
//! contacts rest and captures hold; `-- NAME` those whose name contains NAME.

#![allow(non_snake_case)] // matrices have upper-case names

mod chain;
#[path = "../tests/example_files/mod.rs"]
mod example_files;
mod side_by_side;

use chain::moving_chain;
use example_files::all_example_files;
use grapple::plant::{Adjoint, Direction, Model, OperatingPoint, Plant, Seeds, Tangent};
use grapple::simulation::Simulation;
use grapple::spec::Formulation;
use side_by_side::{Time, batch, rounds};
use std::hint::black_box;
use std::path::Path;

fn main() {
    println!(
        "{:18} {:>6} {:>6} | {:>9} {:>11} {:>9} {:>11} | {:>9} {:>11} {:>9} {:>11}",
        "µs, minima",
        "states",
        "inputs",
        "ẋ",
        "directional",
        "adjoint",
        "evaluations",
        "ẋ, y",
        "directional",
        "adjoint",
        "evaluations"
    );
    if is_given("--examples") {
        return all_example_files().iter().for_each(|path| example(path));
    }
    let on_world = "[joint.root]\ntype = \"fixed\"\nparent = \"world\"\nchild = \"b0\"\n";
    line("arm of 4 joints", &(moving_chain(4) + on_world));
    for (name, text) in [
        ("two_link", include_str!("../examples/two_link.toml")),
        ("ssrms_type", include_str!("../examples/ssrms_type.toml")),
        ("ssrms_flexible", include_str!("../examples/ssrms_flexible.toml")),
        ("bricard", include_str!("../examples/bricard.toml")),
        ("geared_arm", include_str!("../examples/geared_arm.toml")),
        ("kick_stage", include_str!("../examples/tanks/kick_stage.toml")),
        ("beam_in_grasp", include_str!("../examples/beam_in_grasp.toml")),
        ("reach", include_str!("../examples/tasks/reach.toml")),
        ("ets_vii", include_str!("../examples/tasks/ets_vii.toml")),
    ] {
        line(name, text);
    }
    for n in [17, 93, 493] {
        line(&format!("chain of {n}"), &moving_chain(n));
    }
}

/// Prints the line of an example, or the reason why it has none.
fn example(path: &Path) {
    let (directory, name) = (path.parent().expect("a folder"), path.display().to_string());
    let name = name.rsplit_once("examples/").map_or("", |(_, name)| name);
    let text = std::fs::read_to_string(path).expect("text");
    if !is_chosen(name) {
        return;
    }
    match Model::read(&text, directory) {
        Ok(model) if model.spec.formulation == Formulation::Recursive => measure(name, model),
        Ok(model) => println!("{name}: {:?}", model.spec.formulation),
        Err(_) => println!("{name}: part of another spec"),
    }
}

fn is_given(option: &str) -> bool {
    std::env::args().any(|argument| argument == option)
}

/// Returns true if the name contains that on the command line.
fn is_chosen(name: &str) -> bool {
    let mut names = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    names.next().is_none_or(|part| name.contains(&part))
}

fn line(name: &str, text: &str) {
    if !is_chosen(name) {
        return;
    }
    measure(
        name,
        Model::read(text, Path::new(".")).unwrap_or_else(|e| panic!("{e}")),
    );
}

fn measure(name: &str, model: Model) {
    let plant = Plant::new(model.into()).expect("derives");
    let model = plant.model().clone();
    let (nx, nu, ny) = (model.states.len(), model.inputs.len(), model.outputs.len());
    let mut simulation = Simulation::new(plant).expect("starts");
    if is_given("--ends") {
        let stop = model.spec.experiment.stop_time;
        let run = simulation.initialise(0.0, Some(model.spec.experiment.tolerance), f64::INFINITY);
        if let Err(error) = run.and_then(|()| simulation.advance(stop, &mut Vec::new())) {
            return println!("{name}: {error}");
        }
    } else {
        simulation.state.u.fill(0.3);
    }
    let Simulation { mut plant, state, .. } = simulation;
    let at = state.point();
    let [ones_x, ones_u, ones_y] = [nx, nu, ny].map(|n| vec![1.0; n]);
    let still = plant.clone();
    let mut other = plant.clone();
    let calls = 1 + 400 / nx.max(1) as u32;
    let mut to = [(); 4].map(|()| (vec![0.0; nx], vec![0.0; ny]));
    let [(dx_0, _), (dx_1, y_1), (dx_2, _), (dx_3, y_3)] = &mut to;
    let mut bars = [(); 2].map(|()| (vec![0.0; nx], vec![0.0; nu]));
    let [(x_0, u_0), (x_1, u_1)] = &mut bars;
    let along = Direction { x: &ones_x, u: &ones_u };
    let (mut single, mut both) = (Tangent::<1>::new(&model), Tangent::<1>::new(&model));
    let (mut first, mut second) = (Adjoint::new(&model), Adjoint::new(&model));
    let zeros = vec![0.0; ny];
    let of_dx = Seeds { dx: &ones_x, y: &zeros };
    let of_both = Seeds {
        dx: &ones_x,
        y: &ones_y,
    };
    let mut derivative = || plant.derivative(black_box(at), dx_0).expect("regular");
    let mut t = at.t;
    let mut evaluate = || {
        // Another instant, since an evaluation at the same point is shared.
        t += 1e-9;
        let at = OperatingPoint { t, ..at };
        other.evaluate(black_box(at), dx_1, y_1).expect("regular");
    };
    let mut one = || {
        single
            .derivative_along(&still, black_box(at), along, dx_2)
            .expect("regular")
    };
    let mut one_of_both = || {
        both.evaluate_along(&still, black_box(at), along, dx_3, y_3)
            .expect("regular");
    };
    let mut adjoint = || first.evaluate(&still, black_box(at), of_dx, x_0, u_0).expect("regular");
    let mut adjoint_of_both = || {
        second
            .evaluate(&still, black_box(at), of_both, x_1, u_1)
            .expect("regular");
    };
    let alternatives: [&mut dyn FnMut(); 6] = [
        &mut derivative,
        &mut one,
        &mut adjoint,
        &mut evaluate,
        &mut one_of_both,
        &mut adjoint_of_both,
    ];
    let alternatives = alternatives.map(|alternative| move || batch(calls, |_| alternative()));
    let [dx, one, adjoint, evaluate, one_of_both, adjoint_of_both] =
        rounds(alternatives).map(|times| Time::of(times).minimum);
    println!(
        "{name:18} {nx:6} {nu:6} | {dx:9.2} {one:11.2} {adjoint:9.2} {:11.1} | {evaluate:9.2} {one_of_both:11.2} \
         {adjoint_of_both:9.2} {:11.1}",
        adjoint / dx,
        adjoint_of_both / evaluate
    );
}
