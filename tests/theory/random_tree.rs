//! Random spacecraft at random states: general axes, placements and inertias, every type of joint;
//! for odd seeds about half of the bodies are flexible, by beams or modal data.

use grapple::algebra::{Vec3, Wrench};
use grapple::dynamics::Applied;
use grapple::dynamics::recursive::{ForwardDynamics, InverseDynamics};
use grapple::plant::Plant;
use grapple::spec::JointType;
use grapple::system::{Configuration, Kinematics, System};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fmt::Write;

/// A spacecraft with a general state and accelerations.
pub struct RandomTree {
    pub plant: Plant,
    pub q: Vec<f64>,
    pub qd: Vec<f64>,
    pub qdd: Vec<f64>,
}

/// Results of the recursive formulation for a tree with a wrench on every body and a torque on
/// every joint.
pub struct ByRecursion {
    pub kinematics: Kinematics<f64>,
    pub applied: Applied<f64>,
    pub qdd: Vec<f64>,
    /// Reaction wrench of each joint.
    pub F: Vec<Wrench<f64>>,
}

impl ByRecursion {
    pub fn of(tree: &RandomTree) -> Self {
        let (system, derived) = (tree.plant.model().system(), tree.plant.derived());
        let mut kinematics = Kinematics::new(system);
        kinematics.update(system, derived, &tree.q, &tree.qd);
        let mut applied = applied(system);
        for body in &system.bodies {
            // A free joint between bodies transmits no wrench, so it gets no torque.
            if body.joint.kind == JointType::Free && body.parent.is_some() {
                continue;
            }
            for v in body.joint.v..body.joint.v + body.joint.nv {
                applied.tau[v] = (7.0 * v as f64).sin();
            }
        }
        let mut qdd = vec![0.0; system.nv];
        let at = Configuration {
            system,
            derived,
            kinematics: &kinematics,
        };
        ForwardDynamics::new(system)
            .solve(at, &applied, &mut qdd)
            .expect("regular");
        let mut inverse = InverseDynamics::new(system);
        let mut tau = vec![0.0; system.nv];
        inverse.solve(at, &applied, &qdd, &mut tau);
        Self {
            kinematics,
            applied,
            qdd,
            F: inverse.F,
        }
    }
}

pub const KINDS: [&str; 9] = [
    "revolute",
    "prismatic",
    "cylindrical",
    "screw",
    "planar",
    "cartesian",
    "spherical",
    "universal",
    "fixed",
];

/// Returns a tree of `joints` joints on a free base (and, for every third seed, a second free
/// spacecraft), with masses within `decades` decades.
pub fn random_tree(seed: u64, joints: usize, decades: f64) -> RandomTree {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let plant = crate::plant(&random_spec(&mut rng, seed, joints, (decades, 1.0)));
    let system = plant.model().system();
    let mut numbers = |n: usize| -> Vec<f64> { (0..n).map(|_| rng.random_range(-1.5..1.5)).collect() };
    let mut q = numbers(system.nq);
    normalise(system, &mut q);
    // Amplitudes give deflections of about a tenth of the length.
    let modes = system.bodies.iter().filter_map(|body| body.modes.as_ref());
    modes.for_each(|modes| q[modes.coordinates()].iter_mut().for_each(|eta| *eta *= 0.1));
    RandomTree {
        q,
        qd: numbers(system.nv),
        qdd: numbers(system.nv),
        plant,
    }
}

/// Returns a similar spec for runs: masses of 1–10 kg, beams stiffer by the factor `stiffness`.
pub fn random_craft(seed: u64, joints: usize, stiffness: f64) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    random_spec(&mut rng, seed, joints, (1.0, stiffness)) + "[solver]\nmethod = \"dop853\"\n"
}

fn normalise(system: &System, q: &mut [f64]) {
    for body in &system.bodies {
        let joint = &body.joint;
        if joint.nq > joint.nv {
            let part = &mut q[joint.q..joint.q + 4];
            let norm = part.iter().map(|x| x * x).sum::<f64>().sqrt();
            part.iter_mut().for_each(|x| *x /= norm);
        }
    }
}

fn random_spec(rng: &mut impl Rng, seed: u64, joints: usize, (decades, stiffness): (f64, f64)) -> String {
    let mut text = format!("name = \"tree_{seed}\"\n");
    let vector = |rng: &mut dyn FnMut() -> f64| [rng(), rng(), rng()];
    let mut unit = || rng.random_range(-1.0..1.0);
    for i in 0..=joints {
        let mass = 10f64.powf(decades * (0.5 + 0.5 * unit()));
        // Principal moments of a box, rotated: always a valid rigid body.
        let [a, b, c] = vector(&mut unit).map(|x| 0.05 + x * x);
        let [xx, yy, zz] = [b + c, a + c, a + b].map(|x| x * mass);
        let centre = vector(&mut unit);
        let axes = quaternion(&mut unit);
        let rigid = format!(
            "[body.b{i}]\nmass = {mass}\nmass_centre = {centre:?}\ninertia = [{xx}, {yy}, {zz}]\ninertia_axes = {axes:?}\n"
        );
        let kind = if seed % 2 == 1 { unit() } else { 0.0 };
        if kind > 0.5 {
            text += &rigid;
            text += &modal_data(i, (mass, centre, xx.min(yy).min(zz)), stiffness, &mut unit);
        } else if kind > 0.0 {
            let (bending, torsion, axial) = (1 + i % 2, i % 3 / 2, usize::from(i % 5 == 0));
            let [EI_y, EI_z, GJ, EA] = [a, b, c, 100.0].map(|x| x * stiffness);
            writeln!(
                text,
                "[body.b{i}.beam]\nlength = 1.3\norigin = {centre:?}\norientation = {axes:?}\nmass_per_length = {mass}\n\
                 EI_y = {EI_y}\nEI_z = {EI_z}\nEA = {EA}\nGJ = {GJ}\npolar_inertia_per_length = {}\n\
                 bending = {bending}\ntorsion = {torsion}\naxial = {axial}",
                0.3 * mass
            )
            .expect("strings grow");
        } else {
            text += &rigid;
        }
        let second_root = seed.is_multiple_of(3) && i == joints / 2 + 1;
        if i == 0 || second_root {
            continue;
        }
        let kind = KINDS[(unit().abs() * 9.0) as usize % 9];
        // Mostly a chain, with some branches.
        let reach = if unit() > 0.4 {
            (unit().abs() * i as f64) as usize
        } else {
            0
        };
        let parent = i - 1 - reach.min(i - 1);
        let (origin, orientation) = (vector(&mut unit), quaternion(&mut unit));
        writeln!(
            text,
            "[joint.j{i}]\ntype = {kind:?}\nparent = \"b{parent}\"\nchild = \"b{i}\"\norigin = {origin:?}\norientation = {orientation:?}"
        )
        .expect("strings grow");
        if matches!(
            kind,
            "revolute" | "prismatic" | "cylindrical" | "screw" | "planar" | "universal"
        ) {
            writeln!(text, "axis = {:?}", vector(&mut unit)).expect("strings grow");
            if unit() > 0.3 {
                writeln!(text, "rotor_inertia = {}", 0.1 * mass * unit().abs()).expect("strings grow");
            }
        }
        if kind == "screw" {
            writeln!(text, "pitch = {}", 3.0 * unit()).expect("strings grow");
        }
        if kind == "universal" {
            writeln!(text, "axis2 = {:?}", vector(&mut unit)).expect("strings grow");
        }
    }
    text
}

/// Returns the modal data of body `i`: the participation factors are consistent with its mass (kg),
/// its mass centre (m) and its least inertia (kg·m²).
fn modal_data(
    i: usize,
    (mass, centre, inertia): (f64, [f64; 3], f64),
    stiffness: f64,
    unit: &mut dyn FnMut() -> f64,
) -> String {
    let n = 1 + i % 3;
    let mut vector = |size: f64| Vec3::new(unit(), unit(), unit()) * size;
    let array = |v: Vec3<f64>| <[f64; 3]>::from(v);
    let rows = |rows: Vec<Vec3<f64>>| format!("{:?}", rows.into_iter().map(array).collect::<Vec<_>>());
    // The effective mass of all modes is below (3 + 3) 0.4² of the mass, and likewise for the
    // inertia.
    let part = 0.4 / (n as f64).sqrt();
    let participation = (0..n).map(|_| {
        let (h, b) = (vector(part * mass.sqrt()), vector(part * inertia.sqrt()));
        [array(h), array(Vec3::from(centre).cross(&h) + b)].concat()
    });
    let participation: Vec<Vec<f64>> = participation.collect();
    let frequencies: Vec<f64> = (1..=n).map(|k| 0.05 * k as f64 * stiffness.sqrt()).collect();
    let position = array(vector(1.0));
    let mut shapes = || rows((0..n).map(|_| vector(1.0 / mass.sqrt())).collect());
    let (displacement, rotation) = (shapes(), shapes());
    format!(
        "[body.b{i}.modal]\nfrequencies = {frequencies:?}\nparticipation = {participation:?}\n\
         [body.b{i}.modal.node.place]\nposition = {position:?}\ndisplacement = {displacement}\nrotation = {rotation}\n"
    )
}

fn quaternion(unit: &mut dyn FnMut() -> f64) -> [f64; 4] {
    let q = [unit(), unit(), unit(), unit()];
    let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    q.map(|x| x / norm)
}

/// Returns general wrenches on all bodies.
pub fn applied(system: &System) -> Applied<f64> {
    let mut applied = Applied::none(system);
    for (i, F) in applied.wrench.iter_mut().enumerate() {
        let x = i as f64;
        F.t = Vec3::new(x.sin(), (2.0 * x).cos(), 0.3 - x.cos());
        F.f = Vec3::new((3.0 * x).cos(), 0.7 * x.sin(), (5.0 * x).sin());
    }
    applied
}
