//! Adjoint derivatives compared with Jacobians by dual numbers, on random spacecraft and on all
//! examples, in all formulations.

mod control;
mod jacobians;
mod rests;

use crate::duals::{Point, ZERO, nominals, scales, stacked};
use crate::every_load::{FAR, every_load};
use crate::everything::{self, COUPLED, EVERYTHING, WITH_LIQUIDS, WITH_TETHER};
use crate::example_files::{all_example_files, example_files};
use crate::numbers::Larger;
use crate::random_tree::random_tree;
use crate::run::Run;
use crate::state_jacobian::near_start;
use grapple::plant::{Adjoint, Jacobians, LANES, Model, OperatingPoint, Plant, Seeds, Tangent};
use grapple::simulation::{Simulation, State};
use grapple::spec::Formulation;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Returns the larger of the [`deviations`].
pub fn worst(plant: &Plant, point: &Point) -> f64 {
    let [closed, recorded] = deviations(plant, point);
    closed.larger(recorded)
}

/// Returns the largest difference between adjoints and the products of the same row vectors with
/// the Jacobians, relative to the largest such product without cancellation (the sum of the
/// absolute values of its terms). Each row vector has random components, of all unknowns, of the
/// derivatives or of the outputs alone, divided by the [scale](scales) of the unknown's row; a
/// known's column is multiplied by its nominal. The scale of a distance is that of its vector: its
/// derivative `r·∂r/|r|` is a sum of terms as large as `∂r`, which cancel if the distance changes by
/// vibrations only, as that from a satellite to its array does (`modal_array`).
///
/// The first number is that of the adjoint in use, the second that of one recorded as a whole.
fn deviations(plant: &Plant, point: &Point) -> [f64; 2] {
    let model = plant.model();
    let (nx, nu, ny) = (model.states.len(), model.inputs.len(), model.outputs.len());
    let at = OperatingPoint::new(point.t, point.x.as_slice(), point.u.as_slice(), &point.discrete);
    let mut jacobians = Jacobians::new(model);
    let mut tangent = Tangent::<LANES>::new(model);
    tangent.jacobians(plant, at, &mut jacobians).expect("regular");
    let nominals = nominals(model);
    let rows = stacked(&jacobians, &nominals);
    let names = model.derivatives.iter().map(|derivative| &derivative.name);
    let names = names.chain(model.outputs.iter().map(|y| &y.quantity.name));
    let names: Vec<String> = names.map(|name| name.replace(".distance", ".r")).collect();
    let scales = scales(&names.iter().collect::<Vec<_>>(), &rows);
    let mut adjoints = [Adjoint::new(model), Adjoint::recorded(model)];
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut worst = [0.0_f64; 2];
    for part in [0..nx + ny, 0..nx, nx..nx + ny] {
        let mut seeds = vec![0.0; nx + ny];
        for i in part {
            // A row that is zero by symmetry up to round-off has no scale of its own.
            let scale = if scales[i] > ZERO { scales[i] } else { 1.0 };
            seeds[i] = rng.random_range(-1.0..1.0) / scale;
        }
        let (dx, y) = seeds.split_at(nx);
        let terms = |k: usize| (0..nx + ny).map(|i| seeds[i] * rows[(i, k)]).collect::<Vec<f64>>();
        let sizes = (0..nx + nu).map(|k| terms(k).iter().map(|term| term.abs()).sum::<f64>());
        let scale = sizes.fold(0.0, f64::larger);
        for (adjoint, worst) in adjoints.iter_mut().zip(&mut worst) {
            let (mut x_bar, mut u_bar) = (vec![f64::NAN; nx], vec![f64::NAN; nu]);
            // The second evaluation does not depend on the first.
            for _ in 0..2 {
                adjoint
                    .evaluate(plant, at, Seeds { dx, y }, &mut x_bar, &mut u_bar)
                    .expect("regular");
            }
            for (k, (found, nominal)) in x_bar.iter().chain(&u_bar).zip(&nominals).enumerate() {
                let off = (found * nominal - terms(k).iter().sum::<f64>()).abs();
                *worst = worst.larger(if off == 0.0 { 0.0 } else { off / scale });
            }
        }
    }
    worst
}

/// Returns the largest of [`worst`] in states displaced by sizes with seeds.
pub fn worst_displaced(plant: &mut Plant, by: [(u64, f64); 3]) -> f64 {
    let points = by.map(|(seed, size)| near_start(plant, seed, size));
    points.iter().fold(0.0, |off, point| off.larger(worst(plant, point)))
}

/// Returns the states of a run at some times.
fn of_run(simulation: &mut Simulation, times: [f64; 3]) -> [Point; 3] {
    times.map(|t| {
        simulation.advance(t, &mut Vec::new()).expect("runs");
        let State { t, x, u, discrete, .. } = simulation.state.clone();
        Point { t, x, u, discrete }
    })
}

/// Returns the largest of [`worst`] at times of a run.
fn worst_of_run(simulation: &mut Simulation, times: [f64; 3]) -> f64 {
    let points = of_run(simulation, times);
    let plant = &simulation.plant;
    points.iter().fold(0.0, |off, point| off.larger(worst(plant, point)))
}

/// Round-off: the two methods differentiate the same operations, or solve the same equations.
pub const TOLERANCE: f64 = 1e-12;

/// Round-off of recorded adjoints of equations of motion that lose digits.
const ILL_CONDITIONED: f64 = 1e-10;

#[test]
fn adjoints_equal_products_with_jacobians_on_random_spacecraft() {
    for seed in 0..20 {
        let tree = random_tree(seed, 1 + seed as usize % 14, 1.0);
        let mut x = [tree.q.clone(), tree.qd.clone()].concat();
        x.push(0.4);
        // For these seeds the quaternion of the first joint does not have unit norm.
        if seed % 4 < 2 {
            x[..4].iter_mut().for_each(|part| *part *= 1.3);
        }
        let model = tree.plant.model();
        let point = Point {
            t: 0.3,
            x,
            u: vec![0.7; model.inputs.len()],
            discrete: model.discrete(),
        };
        let off = worst(&tree.plant, &point);
        println!("seed {seed}: {off:.1e}");
        assert!(off < TOLERANCE, "seed {seed}: {off:e}");
    }
}

#[test]
fn adjoints_equal_products_with_jacobians_on_every_example() {
    let mut failed = Vec::new();
    for path in example_files() {
        let text = std::fs::read_to_string(&path).expect("text");
        let directory = path.parent().expect("a folder");
        let mut plant = crate::plant_of(&text, directory);
        let off = if plant.model().spec.closed_loop.is_empty() {
            worst_displaced(&mut plant, [(1, 0.0), (2, 0.01), (3, 0.3)])
        } else {
            // A displacement opens loops, where redundant rows are nearly dependent and digits are
            // lost by both methods: states of a run are compared.
            worst_of_run(&mut Simulation::new(plant.clone()).expect("starts"), [0.0, 0.5, 2.0])
        };
        println!("{}: {off:.1e}", plant.model().spec.name);
        if off >= TOLERANCE {
            failed.push((path, off));
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

/// Specs in subfolders, those that are no parts of others. Contacts that rest and closed loops are
/// compared at states of a run. Displaced ANCF beams have strains of up to a few percent. In the
/// assembly of beams of tonnes by light arms the equations of motion lose digits, in all methods:
/// adjoints in closed form may lose as many as recorded ones.
#[test]
fn adjoints_equal_products_with_jacobians_on_examples_in_subfolders() {
    let (mut failed, mut count) = (Vec::new(), 0);
    let in_subfolders = all_example_files()
        .into_iter()
        .filter(|path| !example_files().contains(path));
    for path in in_subfolders {
        let text = std::fs::read_to_string(&path).expect("text");
        let Ok(model) = Model::read(&text, path.parent().expect("a folder")) else {
            continue;
        };
        count += 1;
        let spec = &model.spec;
        let rests = spec.contact.values().any(|contact| contact.rest.is_some());
        let is_run = rests || !spec.closed_loop.is_empty() || spec.body.is_empty();
        let name = spec.name.clone();
        let mut plant = Plant::new(model.into()).expect("derives");
        let points = match is_run {
            true => of_run(&mut Simulation::new(plant.clone()).expect("starts"), [0.0, 0.5, 2.0]),
            false => [(1, 0.0), (2, 0.01), (3, 0.3)].map(|(seed, size)| near_start(&mut plant, seed, size)),
        };
        let off = points.iter().fold([0.0; 2], |off, point| {
            let here = deviations(&plant, point);
            [off[0].larger(here[0]), off[1].larger(here[1])]
        });
        let [closed, recorded] = off;
        println!("{}: {name}: {closed:.1e}, recorded {recorded:.1e}", path.display());
        if !(closed < TOLERANCE.max(4.0 * recorded) && recorded < ILL_CONDITIONED) {
            failed.push((path, off));
        }
    }
    assert!(failed.is_empty() && count > 30, "{count}: {failed:?}");
}

#[test]
fn adjoints_equal_products_with_jacobians_for_every_load_in_every_formulation() {
    for formulation in [
        Formulation::Recursive,
        Formulation::Quaternion,
        Formulation::Natural,
        Formulation::DualQuaternion,
    ] {
        let mut plant = crate::plant_in(formulation, &every_load(FAR), ".".as_ref());
        let off = worst_displaced(&mut plant, [(1, 0.0), (2, 0.1), (3, 1.0)]);
        println!("{formulation:?}: {off:.1e}");
        assert!(off < TOLERANCE, "{formulation:?}: {off:e}");
    }
}

/// Every type of loop between the tip of a beam and a free body: its rows are independent, so that
/// states with constraint violations are compared too.
#[test]
fn adjoints_equal_products_with_jacobians_for_every_loop() {
    for kind in [
        "revolute",
        "prismatic",
        "cylindrical",
        "universal",
        "spherical",
        "planar",
        "fixed",
        "point_on_line",
        "distance",
    ] {
        let length = if kind == "distance" { "length = 0.7\n" } else { "" };
        let text = format!("{FLEXIBLE}{BERTHED}type = \"{kind}\"\n{length}");
        let mut plant = crate::plant(&text);
        let off = worst_displaced(&mut plant, [(1, 0.0), (2, 0.1), (3, 1.0)]);
        println!("{kind}: {off:.1e}");
        assert!(off < TOLERANCE, "{kind}: {off:e}");
    }
}

/// A free body at the tip of the beam of [`FLEXIBLE`].
const BERTHED: &str = r#"
[frame.edge]
body = "rod"
origin = [1.0, 0.1, 0.0]
rpy_deg = [20.0, 10.0, -30.0]
[body.berthed]
mass = 2.0
mass_centre = [0.3, 0.1, -0.2]
inertia = [0.2, 0.3, 0.4, 0.02, -0.03, 0.01]
start = { position = [4.2, 0.3, 0.2], angular_velocity = [0.2, -0.1, 0.3] }
[frame.socket]
body = "berthed"
origin = [-0.2, 0.1, 0.1]
[loop.berth]
a = "edge"
b = "socket"
"#;

/// Captures of a body and of an ANCF beam with independent rows, two with redundant rows, a pin
/// with a redundant row and a driven crank, and linkages in a row, at times of a run; the first two
/// also with constraint violations.
#[test]
fn adjoints_equal_products_with_jacobians_in_captures_and_redundant_loops() {
    let mut failed = Vec::new();
    for (text, inputs) in [
        (crate::capture::craft("capture_grasp"), &["grip.capture"][..]),
        (crate::capture::beam_catch(), &["hold.capture"][..]),
        (crate::capture::hug(), &["right_grip.capture", "left_grip.capture"][..]),
        (crate::capture::four_bar(), &["closing.capture"][..]),
        (crate::closed_loops::four_bars::spec(3, (0.4, -0.7), ""), &[][..]),
    ] {
        let mut run = Run::new(&text, 1e-10);
        inputs.iter().for_each(|input| run.set(input, 1.0));
        crate::impact::execute_commands(&mut run);
        run.look();
        for input in inputs {
            assert_eq!(run.value(&input.replace(".capture", ".captured")), 1.0, "{input}");
        }
        let mut off = worst_of_run(&mut run.simulation, [0.0, 0.3, 0.6]);
        if inputs.len() == 1 && text.contains("grasp") {
            let State { t, x, u, discrete, .. } = run.simulation.state.clone();
            let mut rng = ChaCha8Rng::seed_from_u64(5);
            let x = x.iter().map(|x| x + rng.random_range(-0.2..0.2)).collect();
            let point = Point { t, x, u, discrete };
            off = off.larger(worst(&run.simulation.plant, &point));
        }
        let name = &run.simulation.plant.model().spec.name;
        println!("{name}: {off:.1e}");
        if off >= TOLERANCE {
            failed.push((name.clone(), off));
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

/// Captures of two ANCF beams, which draw them together, in a plane and at an angle.
#[test]
fn adjoints_equal_products_with_jacobians_in_captures_of_two_beams() {
    for (law, tilt) in [("capture_pin", 0.0), ("capture_grasp", 0.0), ("capture_grasp", 3.0)] {
        let mut run = Run::new(&crate::docking::assembly(law, tilt), 1e-11);
        run.go(0.4);
        crate::impact::command(&mut run, "P.capture");
        assert_eq!(run.value("P.captured"), 1.0);
        let off = worst_of_run(&mut run.simulation, [0.4, 0.5, 1.0]);
        println!("{law}, {tilt}°: {off:.1e}");
        assert!(off < TOLERANCE, "{law}, {tilt}°: {off:e}");
    }
}

/// The recursion over the tree, with the loads and sensors of rigid and flexible bodies.
#[test]
fn adjoints_equal_products_with_jacobians_for_loads_and_sensors_on_trees() {
    let (motor, _) = COUPLED.split_once("[coupling").expect("the last table");
    let more = "[body.sat]\nmass = 0.6\nmass_centre = [0.1, -0.1, 0.2]\ninertia = [0.1, 0.2, 0.15]\n\
         [joint.leaves]\ntype = \"free\"\nparent = \"c\"\nchild = \"sat\"\norigin = [0.2, 0.1, 0.4]\n\
         start = { angular_velocity = [0.2, -0.3, 0.6], velocity = [0.1, -0.4, 0.2] }\n\
         [port.away]\nframe = \"sat\"\naxes = \"frame\"\n\
         [sensor.imu]\ntype = \"imu\"\nframe = \"c\"\n\
         [sensor.wrist_load]\ntype = \"force_torque\"\njoint = \"elbow\"\n";
    let on_boom = "[sensor.on_boom]\ntype = \"imu\"\nframe = \"middle\"\n";
    for text in [
        everything::rigid() + motor + more,
        EVERYTHING.to_owned() + motor + more + on_boom,
    ] {
        assert_adjoints(&text.replace("bodies = true", "bodies = true\nreactions = true"));
    }
}

/// Tanks, one of them with a thruster, momentum devices, a tether with a reel, and a coupling of a joint that may be
/// locked, at the start and in general states.
#[test]
fn adjoints_equal_products_with_jacobians_with_changing_masses() {
    let mut plant = crate::plant(&(EVERYTHING.to_owned() + WITH_LIQUIDS + WITH_TETHER + COUPLED));
    let off = worst_displaced(&mut plant, [(1, 0.0), (2, 0.3), (3, 1.0)]);
    println!("{off:.1e}");
    assert!(off < TOLERANCE, "{off:e}");
}

/// Gravity in orbit alone, on rigid bodies, a flexible one, and an ANCF beam.
#[test]
fn adjoints_equal_products_with_jacobians_for_orbital_gravity() {
    let orbit = "[environment.orbit]\nsemi_major_axis = 6.9e6\neccentricity = 0.01\ninclination_deg = 60.0\n\
         J2 = 1.1e-3\nJ3 = -2.5e-4\nJ6 = 5.4e-4\nepoch = \"2026-06-20T12:00:00\"\nthird_bodies = [\"sun\", \"moon\"]\n";
    let beam = "[ancf_beam.tether]\nstart = { position = [3.0, 4.0, 5.0] }\n\
         sections = [{ length = 4.0, elements = 2, mass_per_length = 0.8, EA = 2.0e3, EI = 60.0 }]\n";
    assert_adjoints(&(FLEXIBLE.to_owned() + orbit));
    assert_adjoints(&(FLEXIBLE.to_owned() + orbit + beam));
}

/// Flexible bodies whose deflections no load reads: they are not recorded.
#[test]
fn adjoints_equal_products_with_jacobians_for_flexible_bodies() {
    assert_adjoints(FLEXIBLE);
}

/// A beam of segments in large motion, with an arm at its tip, a free body on a beam, and modal data
/// with a node that carries a body.
pub const FLEXIBLE: &str = r#"
name = "flexible"
[output]
bodies = true
reactions = true
[body.hull]
mass = 20.0
mass_centre = [0.1, -0.2, 0.1]
inertia = [2.0, 3.0, 4.0, 0.1, -0.2, 0.3]
start = { angular_velocity = [0.4, -0.3, 0.5], velocity = [0.2, 0.1, -0.3] }
[body.boom]
[body.boom.beam]
length = 2.0
mass_per_length = 1.0
polar_inertia_per_length = 0.01
EI = 50.0
GJ = 10.0
bending = 2
torsion = 1
segments = 2
damping_ratio = 0.01
[joint.root]
type = "spherical"
parent = "hull"
child = "boom"
origin = [0.5, 0.1, 0.2]
start = { rate = [0.3, 0.2, -0.4] }
[body.link]
mass = 0.5
mass_centre = [0.3, 0.1, 0.0]
inertia = [0.01, 0.02, 0.02]
[joint.tip]
type = "universal"
parent = "boom"
child = "link"
origin = [2.0, 0.0, 0.0]
start = { position = [0.3, -0.2], rate = [0.5, 0.7] }
[body.rod]
[body.rod.beam]
length = 1.0
mass_per_length = 2.0
polar_inertia_per_length = 0.02
EI = 80.0
GJ = 20.0
bending = 1
torsion = 1
[joint.slider]
type = "planar"
parent = "link"
child = "rod"
origin = [0.6, 0.0, 0.0]
start = { rate = [0.4, 0.2, -0.3] }
[body.leaving]
mass = 0.4
mass_centre = [0.05, 0.0, 0.1]
inertia = [0.02, 0.03, 0.03]
[joint.leaves]
type = "free"
parent = "rod"
child = "leaving"
origin = [1.0, 0.0, 0.0]
start = { angular_velocity = [0.2, -0.3, 0.6], velocity = [0.1, -0.4, 0.2] }
[body.array]
mass = 3.0
mass_centre = [0.0, 1.0, 0.1]
inertia = [2.0, 0.4, 2.1]
[body.array.modal]
frequencies = [0.4, 0.9]
damping_ratio = 0.005
participation = [
    [0.1, 0.0, 0.9, 0.8, -0.1, 0.0],
    [-0.8, 0.1, 0.0, 0.0, 0.0, 0.7],
]
[body.array.modal.node.corner]
position = [0.5, 2.0, 0.0]
displacement = [[0.0, 0.1, 0.4], [-0.3, 0.1, 0.0]]
rotation = [[0.1, -0.2, 0.0], [0.0, 0.1, 0.3]]
[joint.drive]
type = "revolute"
axis = [0.0, 1.0, 0.0]
parent = "hull"
child = "array"
origin = [0.0, 0.6, 0.0]
start = { rate = 0.4 }
[body.sensor]
mass = 0.2
mass_centre = [0.0, 0.1, 0.1]
inertia = [0.01, 0.01, 0.01]
[joint.gimbal]
type = "cylindrical"
parent = "array"
child = "sensor"
origin = [0.5, 2.0, 0.0]
start = { rate = [0.4, 0.1] }
"#;

/// Asserts the equality at the start and in displaced states.
fn assert_adjoints(text: &str) {
    let mut plant = crate::plant(text);
    for (seed, size) in [(1, 0.0), (2, 0.1), (3, 1.0)] {
        let point = near_start(&mut plant, seed, size);
        let off = worst(&plant, &point);
        println!("moved by {size}: {off:.1e}");
        assert!(off < TOLERANCE, "moved by {size}: {off:e}");
    }
}
