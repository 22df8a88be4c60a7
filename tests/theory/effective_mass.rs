//! Effective masses of an interface's frame.

use crate::adjoint::{TOLERANCE, worst};
use crate::capture::craft;
use crate::duals::Point;
use crate::impact::command;
use crate::numbers::Larger;
use crate::run::Run;
use grapple::algebra::{Mat3, Vec3};
use grapple::plant::{Direction, Model, OperatingPoint, Tangent};
use grapple::simulation::State;
use grapple::spec::Formulation;
use std::path::Path;

/// Interface at the frame `plate`, with a port there for the comparison.
const MOUNT: &str = "[interface.mount]\nframe = \"plate\"\nstiffness = 1.0\ndamping = 0.1\neffective_mass = true\n\
                     [port.push]\nframe = \"plate\"\naxes = \"frame\"\n";

/// Returns a spec with a port in place of the interface.
fn of_port(text: &str) -> String {
    text.replace("[interface.mount]", "[port.mount]")
        .replace("stiffness = 1.0\ndamping = 0.1\n", "")
}

fn run_in(formulation: Formulation, text: &str) -> Run {
    let mut run = Run::of(crate::plant_in(formulation, text, Path::new(".")), 1e-10);
    run.look();
    run
}

/// Returns the effective masses and inertias.
fn outputs(run: &Run) -> [f64; 6] {
    let [mass, inertia] = ["mass", "inertia"].map(|of| run.vector(&format!("mount.effective_{of}")));
    std::array::from_fn(|i| if i < 3 { mass[i] } else { inertia[i - 3] })
}

/// Returns the largest relative difference.
fn off(found: [f64; 6], expected: [f64; 6]) -> f64 {
    let pairs = found.into_iter().zip(expected);
    pairs.map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::larger)
}

/// Returns the effective masses and inertias by the accelerations of the frame under a unit force
/// or moment at the port, less those without: along the difference of the states' derivatives, the
/// frame's velocity changes by the acceleration.
fn by_unit_loads(run: &Run) -> [f64; 6] {
    let (model, state, mut plant) = (run.model(), &run.simulation.state, run.simulation.plant.clone());
    let (n, ny) = (model.states.len(), model.outputs.len());
    let mut derivative = |u: &[f64]| {
        let mut dx = vec![0.0; n];
        let at = OperatingPoint::new(state.t, &state.x, u, &state.discrete);
        plant.derivative(at, &mut dx).expect("regular");
        dx
    };
    let without = derivative(&state.u);
    let first = model.inputs.iter().position(|input| input.quantity.name == "push.f[1]");
    let first = first.expect("an input");
    let output = |name: &str| model.outputs.iter().position(|output| output.quantity.name == name);
    let [v, w] = ["plate.v[1]", "plate.w[1]"].map(|name| output(name).expect("an output"));
    let R = run.attitude("plate").rotation();
    let (mut tangent, mut ddx, mut dy) = (Tangent::<1>::new(&model), vec![0.0; n], vec![0.0; ny]);
    std::array::from_fn(|i| {
        let mut u = state.u.clone();
        u[first + i] += 1.0;
        let with = derivative(&u);
        let change: Vec<f64> = with
            .iter()
            .zip(&without)
            .map(|(with, without)| with - without)
            .collect();
        let at = OperatingPoint::new(state.t, state.x.as_slice(), state.u.as_slice(), &state.discrete);
        let along = Direction {
            x: &change,
            u: &vec![0.0; state.u.len()],
        };
        let plant = &run.simulation.plant;
        tangent
            .evaluate_along(plant, at, along, &mut ddx, &mut dy)
            .expect("regular");
        let three = |k: usize| Vec3::from_column_slice(&dy[k..k + 3]);
        let acceleration = if i < 3 { R.tr_mul(&three(v))[i] } else { three(w)[i - 3] };
        acceleration.recip()
    })
}

/// Systems with their name and the command that closes a capture.
fn systems() -> Vec<(&'static str, String, Option<&'static str>)> {
    let plate = "[frame.plate]\nbody = \"lower\"\norigin = [0.7, -0.1, 0.2]\nrpy_deg = [25.0, -40.0, 70.0]\n";
    let arm = |law| format!("{}{plate}{MOUNT}", craft(law));
    let start = "start = { position = 0.4, rate = 0.3 }";
    assert!(arm("capture_grasp").contains(start));
    let locked = arm("capture_grasp").replace(start, "motion = \"locked\"\nstart = { position = 0.4 }");
    let rod = |name: &str| {
        format!("[body.{name}]\nmass = 1.0\nmass_centre = [0.5, 0.0, 0.0]\ninertia = [0.02, 0.08, 0.09]\n")
    };
    let hinge = |name: &str, parent: &str, child: &str, x: f64, q: f64| {
        format!(
            "[joint.{name}]\ntype = \"revolute\"\nparent = \"{parent}\"\nchild = \"{child}\"\norigin = [{x:?}, 0.0, 0.0]\n\
             start = {{ position = {q:?} }}\n"
        )
    };
    let linkage = format!(
        "name = \"linkage\"\n[body.base]\nmass = 5.0\ninertia = [0.5, 0.6, 0.7]\n{}{}{}{}{}{}\
         [frame.tip]\nbody = \"rocker\"\norigin = [1.0, 0.0, 0.0]\n[loop.last]\ntype = \"revolute\"\na = \"tip\"\nb = \"base\"\n\
         [frame.plate]\nbody = \"coupler\"\norigin = [0.4, 0.3, 0.1]\nrpy_deg = [25.0, -40.0, 70.0]\n{MOUNT}",
        rod("crank"),
        rod("coupler"),
        rod("rocker"),
        hinge("first", "base", "crank", -1.2, 1.6),
        hinge("second", "crank", "coupler", 1.0, -1.4),
        hinge("third", "coupler", "rocker", 1.0, -1.4),
    );
    let boom = format!(
        "name = \"boom\"\n[body.base]\nmass = 5.0\ninertia = [0.5, 0.6, 0.7]\nstart = {{ angular_velocity = [0.1, 0.2, 0.3] }}\n\
         [body.boom.beam]\nlength = 1.5\nmass_per_length = 0.8\nEI = 40.0\nGJ = 20.0\nbending = 2\ntorsion = 1\n\
         polar_inertia_per_length = 0.1\n[joint.root]\ntype = \"revolute\"\nparent = \"base\"\nchild = \"boom\"\naxis = [0.0, 1.0, 0.3]\n\
         [frame.plate]\nbody = \"boom\"\norigin = [1.5, 0.0, 0.0]\nrpy_deg = [25.0, -40.0, 70.0]\n{MOUNT}"
    );
    vec![
        ("open grasp", arm("capture_grasp"), None),
        ("closed grasp", arm("capture_grasp"), Some("grip.capture")),
        ("closed pin", arm("capture_pin"), Some("grip.capture")),
        ("closed grasp, locked shoulder", locked, Some("grip.capture")),
        ("loop with redundant constraints", linkage, None),
        ("boom with modes", boom, None),
    ]
}

/// The outputs are the reciprocals of the accelerations by unit forces and moments, which the
/// formulations compute as in any run: open and closed arms, locked joints, redundant constraints,
/// modes.
#[test]
fn effective_mass_is_the_reciprocal_of_the_acceleration_by_a_unit_force() {
    for (name, text, closes) in systems() {
        let mut of_formulations = Vec::new();
        for formulation in Formulation::ALL {
            let mut run = run_in(formulation, &text);
            if let Some(input) = closes {
                assert!(!command(&mut run, input).is_empty());
                run.look();
                assert_eq!(run.value("grip.captured"), 1.0);
            }
            let found = outputs(&run);
            let off = off(found, by_unit_loads(&run));
            println!(
                "{name}, {}: {found:.4?}, relative difference {off:.1e}",
                formulation.name()
            );
            // A hundred times the observed errors, which are round-off.
            assert!(off < 1e-12, "{name}, {formulation:?}: {off:e}");
            of_formulations.push(found);
        }
        // Modes are rigid in some formulations.
        if name != "boom with modes" {
            let most = of_formulations.iter().map(|found| off(*found, of_formulations[0]));
            let most = most.fold(0.0, f64::larger);
            println!("{name}: formulations differ by {most:.1e}");
            assert!(most < 1e-12, "{name}: {most:e}");
        }
    }
}

/// `1/m + (r × n)·J⁻¹ (r × n)` along the axis `n` of a frame at `r` from the mass centre of a free
/// rigid body, and `n·J⁻¹ n` about it.
#[test]
fn effective_mass_of_a_free_rigid_body_has_its_closed_form() {
    let text = format!(
        "name = \"rock\"\n[body.rock]\nmass = 4.0\nmass_centre = [0.2, 0.1, -0.1]\ninertia = [1.0, 1.2, 1.4, 0.05, -0.1, 0.02]\n\
         start = {{ rpy_deg = [10.0, 50.0, -70.0], position = [30.0, -20.0, 10.0], angular_velocity = [0.3, 0.2, -0.5] }}\n\
         [frame.plate]\nbody = \"rock\"\norigin = [-0.3, 0.6, 0.4]\nrpy_deg = [-20.0, 15.0, 65.0]\n{MOUNT}"
    );
    let J = Mat3::new(1.0, 0.05, -0.1, 0.05, 1.2, 0.02, -0.1, 0.02, 1.4);
    let inverse = J.try_inverse().expect("regular");
    let r = Vec3::new(-0.5, 0.5, 0.5);
    for formulation in Formulation::ALL {
        let run = run_in(formulation, &text);
        let [R_WB, R_WF] = ["rock", "plate"].map(|of| run.attitude(of).rotation());
        let R_BF = R_WB.tr_mul(&R_WF);
        let expected = std::array::from_fn(|i| {
            let n = R_BF.column(i % 3).into_owned();
            let turn = if i < 3 { r.cross(&n) } else { n };
            let response = turn.dot(&(inverse * turn)) + if i < 3 { 0.25 } else { 0.0 };
            response.recip()
        });
        let off = off(outputs(&run), expected);
        println!("{}: relative difference {off:.1e}", formulation.name());
        assert_eq!(outputs(&run_in(formulation, &of_port(&text))), outputs(&run));
        // Some units in the last place.
        assert!(off < 1e-14, "{formulation:?}: {off:e}");
    }
}

/// A frame at 0.8 m on a pendulum moves along one axis and turns about one; it is immovable along
/// the others.
#[test]
fn immovable_frame_has_the_largest_effective_mass() {
    let text = format!(
        "name = \"door\"\n[body.door]\nmass = 2.0\nmass_centre = [0.5, 0.0, 0.0]\ninertia = [0.1, 0.3, 0.4]\n\
         [joint.hinge]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"door\"\naxis = [0.0, 0.0, 1.0]\nstart = {{ position = 0.7 }}\n\
         [frame.plate]\nbody = \"door\"\norigin = [0.8, 0.0, 0.0]\n{MOUNT}"
    );
    let inertia = 0.4 + 2.0 * 0.25;
    for formulation in Formulation::ALL {
        let off = off(
            outputs(&run_in(formulation, &text)),
            [1e15, inertia / 0.64, 1e15, 1e15, 1e15, inertia],
        );
        println!("{}: relative difference {off:.1e}", formulation.name());
        assert!(off < 1e-14, "{formulation:?}: {off:e}");
    }
    let fixed = text
        .replace("revolute", "fixed")
        .replace("axis = [0.0, 0.0, 1.0]\nstart = { position = 0.7 }\n", "");
    for section in ["interface", "port"] {
        let fixed = match section {
            "port" => of_port(&fixed),
            _ => fixed.clone(),
        };
        match Model::read(&fixed, Path::new(".")) {
            Err(grapple::Error::Spec(problems)) => {
                assert_eq!(problems[0].at.join("."), format!("{section}.mount.effective_mass"));
            }
            other => panic!("{:?}", other.map(|model| model.spec.name)),
        }
    }
}

/// Unit wrenches leave no trace: all other outputs, and the states after a run, have the same bits
/// as without effective masses.
#[test]
fn effective_masses_change_no_other_value() {
    for (name, text, closes) in systems() {
        for formulation in Formulation::ALL {
            let text = format!("{text}[output]\nreactions = true\nbodies = true\n");
            let runs = [text.clone(), text.replace("effective_mass = true\n", "")].map(|text| {
                let mut run = run_in(formulation, &text);
                if let Some(input) = closes {
                    command(&mut run, input);
                }
                run.look();
                run.go(0.2);
                run
            });
            let [with, without] = &runs;
            assert_eq!(with.simulation.state.x, without.simulation.state.x, "{name}");
            let (outputs, more) = (&without.model().outputs, &with.model().outputs);
            assert_eq!(more.len(), outputs.len() + 6);
            for name in outputs.iter().map(|output| &output.quantity.name) {
                assert_eq!(with.value(name), without.value(name), "{name}");
            }
        }
    }
}

/// Derivatives by dual numbers are those by differences of the outputs.
#[test]
fn derivatives_of_effective_masses_are_exact() {
    for (name, text, closes) in systems() {
        for formulation in Formulation::ALL {
            let mut run = run_in(formulation, &text);
            if let Some(input) = closes {
                command(&mut run, input);
                run.look();
            }
            let (model, state) = (run.model(), run.simulation.state.clone());
            let u = vec![0.0; state.u.len()];
            let x: Vec<f64> = (0..state.x.len()).map(|k| libm::sin(1.0 + 7.0 * k as f64)).collect();
            let (mut dx, mut dy) = (vec![0.0; state.x.len()], vec![0.0; model.outputs.len()]);
            let at = OperatingPoint::new(state.t, state.x.as_slice(), state.u.as_slice(), &state.discrete);
            Tangent::<1>::new(&model)
                .evaluate_along(&run.simulation.plant, at, Direction { x: &x, u: &u }, &mut dx, &mut dy)
                .expect("regular");
            let h = 1e-6;
            let [after, before] = [h, -h].map(|h| {
                let moved = &mut run.simulation.state.x;
                for ((moved, start), x) in moved.iter_mut().zip(&state.x).zip(&x) {
                    *moved = start + h * x;
                }
                run.look();
                outputs(&run)
            });
            for i in 0..6 {
                let field = format!("mount.effective_{}[{}]", ["mass", "inertia"][i / 3], i % 3 + 1);
                let output = model.outputs.iter().position(|output| output.quantity.name == field);
                let (exact, difference) = (dy[output.expect("an output")], (after[i] - before[i]) / (2.0 * h));
                let off = (exact - difference).abs() / (before[i] + exact.abs());
                // Truncation h² (of the boom with a factor of 500) and round-off 1e-16/h.
                assert!(off < 1e-8, "{name}, {formulation:?}, {field}: {exact} {difference}");
            }
        }
    }
}

/// Adjoints of effective masses, and of all else, are products with the Jacobians: by recursion in
/// displaced states, and by a record for spacecraft with captures and loops.
#[test]
fn adjoints_of_effective_masses_are_products_with_jacobians() {
    for (name, text, closes) in systems() {
        for text in [text.clone(), of_port(&text)] {
            let mut run = run_in(Formulation::Recursive, &text);
            if let Some(input) = closes {
                command(&mut run, input);
                run.look();
            }
            let State {
                t, mut x, u, discrete, ..
            } = run.simulation.state.clone();
            if closes.is_none() && !text.contains("[loop.") {
                let change = (0..x.len()).map(|k| 0.2 * libm::sin(1.0 + 7.0 * k as f64));
                x.iter_mut().zip(change).for_each(|(x, change)| *x += change);
            }
            let off = worst(&run.simulation.plant, &Point { t, x, u, discrete });
            println!("{name}: {off:.1e}");
            assert!(off < TOLERANCE, "{name}: {off:e}");
        }
    }
}
