//! The Jacobian of the states by the tree against dual numbers through the whole evaluation, with which it shares no step but the
//! kinematics and what belongs to one body or joint alone.

use crate::duals::{Point, nominals, start};
use crate::random_tree::random_tree;
use grapple::plant::{Discrete, LANES, Model, Plant, StateJacobian, Tangent};
use nalgebra::DMatrix;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;

/// The largest `‖a − a'‖/‖a'‖` of a row, of the two ways.
fn distance(plant: &Plant, point: &Point) -> f64 {
    let (model, nx) = (plant.model(), point.x.len());
    if nx == 0 {
        return 0.0; // a controller
    }
    let at = (point.x.as_slice(), point.u.as_slice(), &point.discrete);
    let (mut tree, mut duals) = (DMatrix::from_element(nx, nx, f64::NAN), DMatrix::zeros(nx, nx));
    let mut state_jacobian = StateJacobian::new(model);
    state_jacobian
        .evaluate(plant, point.t, at, tree.as_mut_slice())
        .expect("regular");
    // Nothing is left of an evaluation for the next.
    let mut again = DMatrix::zeros(nx, nx);
    state_jacobian
        .evaluate(plant, point.t, at, again.as_mut_slice())
        .expect("regular");
    assert_eq!(tree, again);
    let mut tangent = Tangent::<LANES>::new(model);
    tangent
        .state_jacobian(plant, point.t, at, duals.as_mut_slice())
        .expect("regular");
    let all = duals.norm();
    let row = |i: usize| (tree.row(i) - duals.row(i)).norm() / duals.row(i).norm().max(SMALL * all);
    let worst = (0..nx).max_by(|&i, &j| row(i).total_cmp(&row(j))).expect("a state");
    if row(worst) > TOLERANCE {
        println!("{}: {:e}", model.derivatives[worst].name, row(worst));
    }
    row(worst)
}

/// A row whose norm is a smaller part of the whole's is zero but for what cancels in it.
const SMALL: f64 = 1e-6;

/// Round-off times the condition of bodies whose masses differ by a decade and which bend far, row by row. Where everything stands about
/// the root's origin, light bodies at the end of a long arm lose digits too: of `ssrms_type`, the square of 15 m over the wrist's
/// radius of gyration.
const TOLERANCE: f64 = 1e-10;

/// A point near the start: states and inputs moved by parts of their nominals, quaternions lengthened too.
fn near_start(plant: &mut Plant, seed: u64, size: f64) -> Point {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut point = start(plant);
    for (value, nominal) in point.x.iter_mut().chain(&mut point.u).zip(nominals(plant.model())) {
        *value += size * nominal * rng.random_range(-1.0..1.0);
    }
    let at = (point.x.as_mut_slice(), point.u.as_slice());
    plant
        .update(point.t, at, &mut point.discrete, &mut Vec::new())
        .expect("regular");
    point
}

#[test]
fn the_tree_gives_what_duals_give_on_random_craft() {
    let mut worst = [0.0_f64; 2];
    for seed in 0..60 {
        let tree = random_tree(seed, 1 + seed as usize % 14, 1.0);
        let mut x = [tree.q.clone(), tree.qd.clone()].concat();
        x.push(0.4);
        if seed % 4 < 2 {
            // Quaternions of a craft's first joint are not of unit length.
            x[..4].iter_mut().for_each(|part| *part *= 1.3);
        }
        let model = tree.plant.model();
        let point = Point {
            t: 0.3,
            x,
            u: vec![0.7; model.inputs.len()],
            discrete: Discrete::new(model),
        };
        let off = distance(&tree.plant, &point);
        worst[seed as usize % 2] = worst[seed as usize % 2].max(off);
        assert!(off < TOLERANCE, "seed {seed}: {off:e}");
    }
    println!("rigid: {:.1e}, flexible: {:.1e}", worst[0], worst[1]);
}

/// Every joint and every load, on the world and on a floating base: branches, driven joints, beams, segments, modal data.
pub const EVERYTHING: &str = r#"
name = "everything"
[environment]
gravity = [0.3, -0.2, -1.1]
[body.base]
mass = 4.0
mass_centre = [0.1, -0.2, 0.05]
inertia = [0.4, 0.5, 0.6, 0.02, -0.03, 0.05]
start = { attitude = [0.5, -0.5, 0.5, 0.5], angular_velocity = [0.3, -0.7, 0.4], velocity = [1.0, 2.0, 7500.0], position = [1e3, 0.0, 7e6] }
[body.a]
mass = 1.0
mass_centre = [0.5, 0.1, 0.0]
inertia = [0.1, 0.2, 0.2]
[body.boom.beam]
length = 1.2
origin = [0.1, 0.0, 0.0]
orientation = [0.1, 0.7, -0.1, 0.7]
mass_per_length = 0.8
EI = 40.0
GJ = 20.0
EA = 1000.0
bending = 2
torsion = 1
axial = 1
damping_ratio = 0.02
polar_inertia_per_length = 0.1
[body.long.beam]
length = 2.0
mass_per_length = 0.5
EI = 4.0
GJ = 3.0
bending = 2
torsion = 1
segments = 3
polar_inertia_per_length = 0.05
[body.array]
mass = 2.0
mass_centre = [0.3, 0.1, -0.2]
inertia = [0.4, 0.5, 0.6]
[body.array.modal]
frequencies = [0.7, 1.1]
damping_ratio = 0.01
participation = [[0.3, 0.2, 0.1, 0.05, 0.1, -0.2], [-0.1, 0.2, 0.3, -0.15, 0.1, 0.1]]
[body.array.modal.node.edge]
position = [0.9, 0.1, 0.0]
displacement = [[0.1, 0.4, 0.3], [0.2, -0.3, 0.5]]
rotation = [[0.3, 0.1, -0.2], [0.1, 0.2, 0.4]]
[body.b]
mass = 1.0
mass_centre = [0.2, 0.1, 0.0]
inertia = [0.1, 0.2, 0.2]
[body.c]
mass = 0.7
mass_centre = [0.2, 0.1, 0.3]
inertia = [0.1, 0.12, 0.2]
[body.d]
mass = 0.5
mass_centre = [0.2, -0.1, 0.0]
inertia = [0.1, 0.2, 0.15]
[body.e]
mass = 0.9
mass_centre = [0.2, -0.1, 0.4]
inertia = [0.1, 0.2, 0.15]
[body.f]
mass = 0.8
mass_centre = [-0.2, -0.1, 0.4]
inertia = [0.1, 0.2, 0.15]
[body.post]
mass = 0.8
mass_centre = [-0.2, -0.1, 0.4]
inertia = [0.1, 0.2, 0.15]
[body.sat]
mass = 0.6
mass_centre = [0.1, -0.1, 0.2]
inertia = [0.1, 0.2, 0.15]
[joint.wrist]
type = "spherical"
parent = "base"
child = "a"
origin = [0.5, 0.0, 0.1]
spring = { stiffness = 3.0 }
servo = { kp = [2.0, 3.0, 4.0], kd = 0.5 }
damping = [0.2, 0.3, 0.4]
friction = { coulomb = 0.2, slip = 0.1 }
start = { rate = [0.4, -0.2, 0.3] }
[joint.boom_root]
type = "universal"
parent = "a"
child = "boom"
origin = [1.0, 0.0, 0.0]
friction = { coulomb = 0.2, slip = 0.1 }
damping = 0.3
spring = { stiffness = 2.0, rest = 0.1 }
range = { min = -0.1, max = 0.1, stop = "compliant", stiffness = 30.0, damping = 2.0 }
rotor_inertia = [0.3, 0.2]
start = { rate = [0.4, -0.2] }
[joint.tip]
type = "revolute"
motion = "prescribed"
parent = "boom"
child = "b"
origin = [0.9, 0.3, 0.5]
axis = [0.3, 0.5, 0.2]
damping = 0.3
start = { rate = 0.7 }
[joint.middle]
type = "cylindrical"
parent = "boom"
child = "c"
origin = [0.3, 0.1, 0.2]
axis = [0.3, 0.5, 0.2]
servo = { kp = [2.0, 3.0], kd = 0.5 }
motions = ["loads", "locked", "prescribed"]
start = { rate = [0.7, 0.2] }
[joint.long_root]
type = "revolute"
parent = "base"
child = "long"
origin = [-0.4, 0.2, 0.1]
axis = [0.3, 0.5, 0.9]
[joint.long_tip]
type = "cartesian"
parent = "long"
child = "array"
origin = [2.0, 0.0, 0.0]
damping = 0.4
spring = { stiffness = 5.0 }
start = { rate = [0.2, -0.3, 0.1] }
[joint.edge]
type = "spherical"
motion = "prescribed"
parent = "array"
child = "d"
origin = [0.9, 0.1, 0.0]
start = { rate = [0.2, -0.3, 0.6] }
[joint.slide]
type = "prismatic"
parent = "d"
child = "e"
origin = [0.1, 0.1, 0.2]
axis = [0.3, 0.5, 0.2]
range = { min = -0.1, max = 0.1, stop = "compliant", stiffness = 30.0, damping = 2.0 }
[joint.weld]
type = "fixed"
parent = "d"
child = "f"
origin = [-0.3, 0.1, 0.2]
orientation = [0.1, 0.7, -0.1, 0.7]
[joint.ground]
type = "cylindrical"
parent = "world"
child = "post"
origin = [2.0, 1.0, 0.0]
axis = [0.1, 0.5, 0.4]
start = { rate = [0.2, -0.3] }
[joint.leaves]
type = "free"
parent = "post"
child = "sat"
origin = [0.2, 0.1, 0.4]
start = { attitude = [0.5, 0.5, 0.5, -0.5], angular_velocity = [0.2, -0.3, 0.6], velocity = [0.1, -0.4, 0.2], position = [1.0, 2.0, 0.4] }
[frame.grip]
body = "boom"
origin = [0.8, 0.2, 0.4]
orientation = [0.5, 0.5, 0.5, -0.5]
[frame.hold]
body = "e"
origin = [0.3, 0.1, 0.0]
[port.push]
frame = "grip"
axes = "frame"
[port.pull]
frame = "hold"
axes = "world"
[port.panel]
frame = "array"
axes = "frame"
[port.away]
frame = "sat"
axes = "frame"
[line_load.wind]
body = "long"
axes = "world"
[line_load.pressure]
body = "boom"
axes = "frame"
"#;

#[test]
fn every_load_and_joint_has_its_derivative() {
    let mut plant = crate::plant(EVERYTHING);
    // By its loads, locked, prescribed: the joint whose motion is switched.
    for (seed, size, motion) in [(1, 0.0, 0), (2, 0.1, 1), (3, 0.5, 2), (4, 1.0, 1), (5, 1.0, 0)] {
        let mut point = near_start(&mut plant, seed, size);
        *point.discrete.modes.last_mut().expect("a command") = motion;
        let off = distance(&plant, &point);
        println!("moved by {size}, motion {motion}: {off:.1e}");
        assert!(off < TOLERANCE, "moved by {size}: {off:e}");
        point.x[plant.model().system().nq..].fill(0.0);
        let off = distance(&plant, &point);
        println!("the same at rest: {off:.1e}");
        assert!(off < TOLERANCE, "at rest: {off:e}");
    }
}

#[test]
fn the_tree_gives_what_duals_give_on_every_example() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for entry in std::fs::read_dir(&directory).expect("examples") {
        let path = entry.expect("a file").path();
        if path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("text");
        let mut plant = Plant::new(Model::read(&text, &directory).expect("sound").into()).expect("derives");
        let mut worst = 0.0_f64;
        for (seed, size) in [(1, 0.0), (2, 0.01), (3, 0.3), (4, 1.0)] {
            let point = near_start(&mut plant, seed, size);
            worst = worst.max(distance(&plant, &point));
        }
        println!("{}: {worst:.1e}", plant.model().spec.name);
        assert!(worst < TOLERANCE, "{worst:e}");
    }
}
