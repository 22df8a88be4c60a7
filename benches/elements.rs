//! Cost of elements in evaluations: the state derivatives, and these with all outputs, of a servicer
//! with and without each element.
//!
//! `cargo bench --bench elements`. The servicer is a bus with two flexible arrays and an arm of three
//! joints, in free fall for the first lines, in orbit for the others. A line has the states that the
//! element adds, and the time of an evaluation over that of the same spacecraft without it. Two lines
//! add a third array, of the modal data in `examples/modal_array.toml`, or of a beam with as many
//! modes. The last line compares an array of modes with one of 32 rigid panels on spring hinges.

mod side_by_side;

use grapple::plant::{Discrete, Model, OperatingPoint, Plant};
use side_by_side::measure;
use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;

/// A model at its start.
struct Evaluated {
    plant: Plant,
    t: f64,
    x: Vec<f64>,
    u: Vec<f64>,
    discrete: Discrete,
    dx: Vec<f64>,
    y: Vec<f64>,
}

impl Evaluated {
    fn new(text: &str) -> Self {
        let model = Model::read(text, Path::new(".")).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let (mut x, mut discrete) = (vec![0.0; model.states.len()], model.discrete());
        let (dx, y) = (x.clone(), vec![0.0; model.outputs.len()]);
        let mut plant = Plant::new(model.into()).unwrap_or_else(|e| panic!("{e}"));
        plant.start(0.0, &mut x, &mut discrete).expect("closed");
        let u: Vec<f64> = plant.model().inputs.iter().map(|input| input.start).collect();
        plant
            .update(0.0, &mut x, &u, &mut discrete, &mut Vec::new())
            .unwrap_or_else(|e| panic!("{e}"));
        Self {
            plant,
            t: 0.0,
            x,
            u,
            discrete,
            dx,
            y,
        }
    }

    fn derivative(&mut self) {
        let at = OperatingPoint::new(0.0, black_box(&self.x), &self.u, &self.discrete);
        self.plant.derivative(at, &mut self.dx).expect("regular");
        black_box(&self.dx);
    }

    fn evaluate(&mut self) {
        // Another instant, since an evaluation at the same point is shared.
        self.t += 1e-9;
        let at = OperatingPoint::new(self.t, black_box(&self.x), &self.u, &self.discrete);
        self.plant.evaluate(at, &mut self.dx, &mut self.y).expect("regular");
        black_box(&self.y);
    }
}

/// Prints the cost of `with` relative to `without`.
fn line(name: &str, without: &str, with: &str) {
    let mut both = [without, with].map(Evaluated::new);
    let added = both[1].x.len() as i64 - both[0].x.len() as i64;
    let derivatives = measure(&mut both, Evaluated::derivative, 1).map(|time| time.minimum);
    let with_outputs = measure(&mut both, Evaluated::evaluate, 1).map(|time| time.minimum);
    println!(
        "{name:44} {added:6} {:9.2} {:9.2} {:9.2} {:9.2}",
        derivatives[1],
        derivatives[1] / derivatives[0],
        with_outputs[1],
        with_outputs[1] / with_outputs[0]
    );
}

/// Returns the servicer.
fn servicer() -> String {
    let mut text = String::from(
        "name = \"servicer\"\n[body.bus]\nmass = 800.0\ninertia = [300.0, 350.0, 400.0]\n\
         start = { angular_velocity = [0.01, -0.02, 0.03] }\n\
         [frame.nozzle]\nbody = \"bus\"\norigin = [-1.0, 0.0, 0.0]\n",
    );
    for (name, side) in [("left", 1.0), ("right", -1.0)] {
        let _ = write!(
            text,
            "[body.{name}.beam]\nlength = 6.0\nmass_per_length = 4.0\nfirst_frequency = 0.25\n\
             polar_inertia_per_length = 1.0\nGJ = 300.0\nbending = 2\ntorsion = 1\ndamping_ratio = 0.005\n\
             [joint.{name}_root]\ntype = \"fixed\"\nparent = \"bus\"\nchild = \"{name}\"\n\
             origin = [0.0, {:?}, 0.0]\nrpy_deg = [0.0, 0.0, {:?}]\n\
             [frame.{name}_middle]\nbody = \"{name}\"\norigin = [3.0, 0.0, 0.0]\n",
            0.8 * side,
            90.0 * side
        );
    }
    let mut parent = "bus".to_owned();
    for i in 1..=3 {
        let _ = write!(
            text,
            "[body.link_{i}]\nmass = 12.0\nmass_centre = [0.5, 0.0, 0.0]\ninertia = [0.1, 1.0, 1.0]\n\
             [joint.joint_{i}]\ntype = \"revolute\"\nparent = \"{parent}\"\nchild = \"link_{i}\"\n\
             origin = [1.0, 0.0, 0.0]\naxis = [0.0, {:?}, {:?}]\nstart = {{ position = 0.5, rate = 0.1 }}\n",
            f64::from(i % 2),
            f64::from((i + 1) % 2)
        );
        parent = format!("link_{i}");
    }
    text
}

/// Elements in free fall.
const ELEMENTS: [(&str, &str); 9] = [
    (
        "wheel",
        "[wheel.spin]\nbody = \"bus\"\naxis = [0.0, 1.0, 1.0]\nmass = 8.0\ninertia = 0.08\ntorque_limit = 2.0\nrate_limit = 600.0\nrate = 100.0\n",
    ),
    (
        "wheel with imbalance and friction",
        "[wheel.spin]\nbody = \"bus\"\naxis = [0.0, 1.0, 1.0]\nmass = 8.0\ninertia = 0.08\ntorque_limit = 2.0\nrate_limit = 600.0\nrate = 100.0\nstatic_imbalance_g_cm = 5.0\ndynamic_imbalance_g_cm2 = 60.0\nfriction = { coulomb = 0.01, slip = 0.5 }\n",
    ),
    (
        "gyro of variable speed",
        "[cmg.gyro]\nbody = \"bus\"\ngimbal_axis = [0.0, 0.0, 1.0]\nspin_axis = [0.0, 1.0, 0.0]\ngimbal = { mass = 3.0, inertia = 0.04, rate_gain = 10.0 }\nrotor = { mass = 8.0, inertia = 0.08, rate = 600.0, torque_limit = 0.5 }\n",
    ),
    (
        "tank, one pendulum",
        "[tank.main]\nbody = \"bus\"\nposition = [0.0, 0.0, -0.9]\nmodel = \"pendulum\"\nacceleration = 0.05\ncylinder = { radius = 0.45, height = 1.2, fill = 0.6, mass = 400.0, damping_ratio = 0.01 }\n",
    ),
    (
        "tank, two masses on springs",
        "[tank.main]\nbody = \"bus\"\nmodel = \"spring_mass\"\nrigid = { mass = 30.0, inertia = [0.4, 0.4] }\n[tank.main.mode.side]\nmass = 12.0\nfrequency = 0.08\n[tank.main.mode.bob]\nmass = 6.0\nfrequency = 0.2\n",
    ),
    (
        "propellant of a burning thruster",
        "[tank.main]\nbody = \"bus\"\nrigid = { mass = 300.0, inertia = [40.0, 40.0] }\n[thruster.engine]\nframe = \"nozzle\"\ndirection = [1.0, 0.0, 0.0]\nthrust = 400.0\ntank = \"main\"\nspecific_impulse = 290.0\n[signal.\"engine.on\"]\ntype = \"constant\"\nfrom_importer = false\n",
    ),
    (
        "tether of eight masses to a client",
        "[body.client]\nmass = 300.0\ninertia = [40.0, 50.0, 60.0]\nstart = { position = [-30.0, 0.0, 0.0] }\n[tether.line]\na = \"nozzle\"\nb = \"client\"\nlength = 28.0\nlinear_density = 0.02\naxial_stiffness = 5e3\ndamping = 10.0\nmasses = 8\n",
    ),
    (
        "the same on a reel",
        "[body.client]\nmass = 300.0\ninertia = [40.0, 50.0, 60.0]\nstart = { position = [-30.0, 0.0, 0.0] }\n[tether.line]\na = \"nozzle\"\nb = \"client\"\nlength = 56.0\nlinear_density = 0.02\naxial_stiffness = 5e3\ndamping = 10.0\nmasses = 8\nreel = { unwound = 28.0 }\n",
    ),
    (
        "thermal bending of an array",
        "[thermal_bending.heat]\nbody = \"left\"\n",
    ),
];

/// Sensors, whose outputs an evaluation of the derivatives does not contain.
const SENSORS: [(&str, &str); 3] = [
    (
        "IMU on an array",
        "[sensor.imu]\ntype = \"imu\"\nframe = \"left_middle\"\n",
    ),
    (
        "sampled IMU with noise",
        "[sensor.imu]\ntype = \"imu\"\nframe = \"left_middle\"\nsample_time = 0.01\naccelerometer = { noise_density = 1e-4 }\ngyro = { noise_density = 3e-6 }\n",
    ),
    (
        "sampled camera, sight past a box and a sphere",
        "[sensor.eye]\ntype = \"camera\"\nframe = \"nozzle\"\ntarget = \"link_3\"\nfield_of_view_deg = 120.0\nsample_time = 0.1\nblocked_by = [{ frame = \"left_middle\", type = \"box\", size = [6.0, 2.0, 0.03] }, { frame = \"link_2\", radius = 0.3 }]\n",
    ),
];

/// The servicer's orbit.
const ORBIT: &str = "[environment.orbit]\nsemi_major_axis = 6778137.0\ninclination_deg = 51.6\n";
const EPOCH: &str = "epoch = \"2026-03-20T12:00:00\"\n";

/// Fields of the orbit, and tables, of the environment.
const ENVIRONMENT: [(&str, &str, &str); 8] = [
    ("J2", "J2 = 1.08262668e-3\n", ""),
    (
        "J2 to J6",
        "J2 = 1.08262668e-3\nJ3 = -2.5e-6\nJ4 = -1.6e-6\nJ5 = -2.3e-7\nJ6 = 5.4e-7\n",
        "",
    ),
    ("Sun and Moon", "third_bodies = [\"sun\", \"moon\"]\n", ""),
    (
        "the same at positions that are inputs",
        "third_bodies = [\"sun\", \"moon\"]\nsun = \"input\"\nmoon = \"input\"\n",
        "",
    ),
    (
        "drag on one plate",
        "atmosphere = {}\n",
        "[exposed_surface.cells]\nframe = \"left_middle\"\narea = 12.0\nnormal = [0.0, 0.0, 1.0]\ntwo_sided = true\ndrag = { coefficient = 2.2 }\n",
    ),
    (
        "radiation pressure with shadow on one plate",
        "",
        "[exposed_surface.cells]\nframe = \"left_middle\"\narea = 12.0\nnormal = [0.0, 0.0, 1.0]\ntwo_sided = true\nradiation = { specular = 0.1, diffuse = 0.1 }\n",
    ),
    (
        "the same on four plates",
        "",
        "[exposed_surface.cells]\nframe = \"left_middle\"\narea = 3.0\nnormal = [0.0, 0.0, 1.0]\nradiation = { specular = 0.1 }\n[exposed_surface.more]\nframe = \"right_middle\"\narea = 3.0\nnormal = [0.0, 0.0, 1.0]\nradiation = { specular = 0.1 }\n[exposed_surface.front]\nframe = \"nozzle\"\narea = 3.0\nnormal = [-1.0, 0.0, 0.0]\nradiation = { specular = 0.1 }\n[exposed_surface.top]\nframe = \"bus\"\narea = 3.0\nnormal = [0.0, 0.0, 1.0]\nradiation = { specular = 0.1 }\n",
    ),
    (
        "magnetic dipole",
        "magnetic_field = {}\n",
        "[magnetic_dipole.rods]\nframe = \"bus\"\n",
    ),
];

/// Returns a satellite with one array of `n` rigid panels on spring hinges, or of two bending modes
/// and one of torsion for none.
fn satellite(n: u32) -> String {
    let mut text = String::from("name = \"satellite\"\n[body.bus]\nmass = 800.0\ninertia = [300.0, 350.0, 400.0]\n");
    let mut parent = "bus".to_owned();
    for i in 1..=n {
        let part = 6.0 / f64::from(n);
        let mass = 4.0 * part;
        let _ = write!(
            text,
            "[body.panel_{i}]\nmass = {mass:?}\nmass_centre = [{:?}, 0.0, 0.0]\ninertia = [{:?}, {:?}, {:?}]\n\
             [joint.hinge_{i}]\ntype = \"revolute\"\nparent = \"{parent}\"\nchild = \"panel_{i}\"\n\
             origin = [{:?}, 0.0, 0.0]\naxis = [0.0, 1.0, 0.0]\nspring = {{ stiffness = 1e4 }}\ndamping = 1.0\n",
            0.5 * part,
            mass / 3.0,
            mass * part * part / 12.0,
            mass / 3.0,
            if i == 1 { 0.8 } else { part }
        );
        parent = format!("panel_{i}");
    }
    if n == 0 {
        text = text + BEAM + ROOT;
    }
    text
}

/// An array as a beam of five modes.
const BEAM: &str = "[body.array.beam]\nlength = 6.0\nmass_per_length = 4.0\nfirst_frequency = 0.25\npolar_inertia_per_length = 1.0\n\
                    GJ = 300.0\nbending_y = 1\nbending_z = 3\ntorsion = 1\ndamping_ratio = 0.005\n";
const ROOT: &str = "[joint.root]\ntype = \"fixed\"\nparent = \"bus\"\nchild = \"array\"\norigin = [0.8, 0.0, 0.0]\n";

/// Returns the array of the example with modal data, of five modes.
fn modal_data() -> &'static str {
    let example = include_str!("../examples/modal_array.toml");
    let (from, until) = (example.find("[body.array]"), example.find("[frame.magnetometer]"));
    &example[from.expect("an array")..until.expect("a frame")]
}

fn main() {
    println!(
        "{:44} {:>6} {:>9} {:>9} {:>9} {:>9}",
        "", "states", "µs", "ratio", "outputs", "ratio"
    );
    let base = servicer();
    for (name, table) in ELEMENTS.into_iter().chain(SENSORS) {
        line(name, &base, &(base.clone() + table));
    }
    for (name, array) in [
        ("third array, five modes of modal data", modal_data()),
        ("third array, five modes of a beam", BEAM),
    ] {
        line(name, &base, &format!("{base}{array}{ROOT}"));
    }
    let in_orbit = format!("{base}{ORBIT}");
    line("orbit", &base, &in_orbit);
    let with_epoch = in_orbit.clone() + EPOCH;
    for (name, fields, tables) in ENVIRONMENT {
        line(name, &in_orbit, &(with_epoch.clone() + fields + tables));
    }
    line("array of 32 hinges for three modes", &satellite(0), &satellite(32));
}
