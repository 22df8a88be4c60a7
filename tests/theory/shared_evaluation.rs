//! One evaluation of the dynamics serves the end of a step, its event indicators, the outputs at the
//! communication point and the monitoring of the next step.

use grapple::plant::Plant;
use grapple::simulation::Simulation;
use std::path::Path;

const SLIDE: &str = include_str!("../../benches/resting/slide.toml");
const STACK: &str = include_str!("../../benches/resting/stack.toml");
const TWO_LINK: &str = include_str!("../../examples/two_link.toml");

/// Values of a run at its communication points, with the number of evaluations up to each.
struct Record {
    bits: Vec<u64>,
    evaluations: Vec<u64>,
}

/// Runs a spec in `steps` steps of `h` (s); reads the derivatives and outputs after each. If `restores`,
/// a step in the middle is repeated from the saved state before it.
fn record(plant: Plant, h: f64, steps: i32, restores: bool) -> Record {
    let mut simulation = Simulation::new(plant).expect("starts");
    let model = simulation.plant.model().clone();
    let (mut dx, mut y) = (vec![0.0; model.states.len()], vec![0.0; model.outputs.len()]);
    let (mut bits, mut evaluations) = (Vec::new(), Vec::new());
    let mut saved = None;
    for k in 1..=steps {
        if restores && k == steps / 2 + 1 {
            saved = Some(simulation.state.clone());
        }
        simulation.advance(h * f64::from(k), &mut Vec::new()).expect("runs");
        if let Some(saved) = saved.take() {
            simulation.state.clone_from(&saved);
            simulation.advance(h * f64::from(k), &mut Vec::new()).expect("runs");
        }
        let Simulation { plant, state, .. } = &mut simulation;
        plant.evaluate(state.point(), &mut dx, &mut y).expect("regular");
        let numbers = [&state.x, &dx, &y].into_iter().flatten();
        bits.extend(numbers.map(|number| number.to_bits()));
        evaluations.push(plant.evaluations());
    }
    Record { bits, evaluations }
}

fn with_method(text: &str, method: &str) -> String {
    format!("{text}\n[solver]\nmethod = \"{method}\"\n")
}

/// States, derivatives and outputs have the bits of those without shared evaluations, also after a saved
/// state was restored: for impacts and contacts that slide and rest, a capture, loops, servos, sampled
/// sensors, tasks and controllers, methods with and without an evaluation at the end of a step.
#[test]
fn sharing_changes_no_bit() {
    let examples = [
        // Up to the capture, and on.
        ("examples/docking.toml", 0.1, 60),
        ("examples/bricard.toml", 0.01, 30),
        ("examples/servoed_arm.toml", 0.01, 50),
        ("examples/arm_controller.toml", 0.01, 50),
        ("examples/dual_arm.toml", 0.01, 30),
        ("examples/sensors/satellite.toml", 0.05, 20),
        ("examples/tasks/reach.toml", 0.01, 20),
        ("examples/tasks/touch.toml", 0.01, 20),
        ("examples/beam_in_grasp.toml", 0.01, 20),
        ("examples/valverde_2018.toml", 0.01, 20),
    ];
    let read = |path: &str| std::fs::read_to_string(path).expect("an example");
    let mut runs: Vec<_> = examples
        .map(|(path, h, steps)| (path.to_owned(), read(path), h, steps))
        .into();
    for method in ["dopri5", "auto", "radau5", "rosenbrock"] {
        runs.push((format!("slide, {method}"), with_method(SLIDE, method), 2e-3, 120));
    }
    runs.push(("stack".to_owned(), STACK.to_owned(), 2e-3, 30));
    runs.push(("two_link, radau5".to_owned(), with_method(TWO_LINK, "radau5"), 0.01, 30));
    for (name, text, h, steps) in runs {
        let folder = Path::new(&name).parent().unwrap_or(Path::new("."));
        let shared = record(crate::plant_of(&text, folder), h, steps, true);
        let mut alone = crate::plant_of(&text, folder);
        alone.end_sharing();
        let alone = record(alone, h, steps, true);
        let [with, without] = [&shared, &alone].map(|run| run.evaluations[run.evaluations.len() - 1]);
        println!("{name}: {with} evaluations, {without} without sharing");
        assert!(shared.bits == alone.bits && with <= without, "{name}");
    }
}

/// A step of DOPRI5 between two communication points costs the six evaluations of the method, with the
/// outputs, and at rest with the forces for the event indicators and the monitoring.
#[test]
fn step_and_outputs_take_the_evaluations_of_the_method() {
    for (text, before) in [(SLIDE, 120), (STACK, 2), (TWO_LINK, 2)] {
        let plant = crate::plant_of(&with_method(text, "dopri5"), Path::new("examples"));
        let Record { evaluations, .. } = record(plant, 2e-3, before + 20, false);
        let steps = evaluations[before as usize..].windows(2).map(|pair| pair[1] - pair[0]);
        assert!(steps.clone().all(|count| count == 6), "{:?}", steps.collect::<Vec<_>>());
    }
}

/// Returns the sine that the monitoring of singular positions has found in a run of 0.01 s.
fn sine(text: &str) -> f64 {
    let plant = crate::plant_of(text, Path::new("."));
    let mut simulation = Simulation::new(plant).expect("starts");
    simulation.advance(0.01, &mut Vec::new()).expect("runs");
    simulation.state.monitored.sine
}

/// Pairs of bodies in contact that form no closed chain are not monitored: the sine is one. With a beam
/// across two boxes they form one, and a box that a joint guides has less freedom than its rows.
#[test]
fn only_chains_of_bodies_in_contact_can_be_singular() {
    assert_eq!([sine(SLIDE), sine(STACK)], [0.0, 1.0]);
    let across = "[body.beam]\nmass = 1.0\ninertia = [0.01, 0.05, 0.05]\nstart = { position = [0.3, 0.0, 0.25] }\n";
    let mut text = format!("name = \"bridge\"\n[environment]\ngravity = [0.0, 0.0, -9.81]\n{across}");
    for (name, x) in [("left", 0.0), ("right", 0.6)] {
        text += &format!(
            "[body.{name}]\nmass = 2.0\ninertia = [0.02, 0.03, 0.04]\nstart = {{ position = [{x}, 0.0, 0.1] }}\n\
             [frame.{name}_top]\nbody = \"{name}\"\norigin = [0.0, 0.0, 0.1]\n\
             [contact.under_{name}]\na = \"{name}\"\nb = \"world\"\nshape_a = {{ type = \"box\", size = [0.4, 0.3, 0.2] }}\n\
             shape_b = {{ type = \"plane\" }}\ne = 0.0\nmu = 0.5\nrest = 0.01\n\
             [contact.on_{name}]\na = \"beam\"\nb = \"{name}_top\"\nshape_a = {{ type = \"box\", size = [1.0, 0.2, 0.1] }}\n\
             shape_b = {{ type = \"plane\" }}\ne = 0.0\nmu = 0.5\nrest = 0.01\n"
        );
    }
    let guided = SLIDE.replace(
        "start = { position = [0.0, 0.0, 0.12], velocity = [1.0, 0.0, 0.0] }",
        "",
    ) + "[joint.guide]\ntype = \"cartesian\"\nparent = \"world\"\nchild = \"box\"\norigin = [0.0, 0.0, 0.1]\n";
    let [bridge, guided] = [&text, &guided].map(|text| sine(text));
    println!("bridge {bridge}, guided box {guided}");
    assert!(bridge > 0.0 && bridge < 1.0);
    assert!(guided > 0.0 && guided != 1.0);
}
