//! Bodies with modal data: compared with the beam from which the data are computed, and with closed
//! forms in the participation factors; reports.

use super::roots;
use crate::numbers::{Larger, few, orders};
use crate::run::Run;
use crate::vibration::{mass_and_stiffness, squares};
use grapple::algebra::{Quaternion, Vec3};
use grapple::beam::{Beam, Boundary, Counts, Section};
use grapple::dynamics::recursive::mass_matrix;
use grapple::plant::{Dependencies, OperatingPoint, Plant, Remarks};
use grapple::system::Kinematics;
use std::f64::consts::TAU;
use std::fmt::Write;

const LENGTH: f64 = 2.0;
const SECTION: Section = Section {
    x: 0.0,
    mass_per_length: 1.5,
    EI_y: 40.0,
    EI_z: 90.0,
    EA: 2e4,
    GJ: 15.0,
    polar_inertia_per_length: 0.02,
};
const COUNTS: Counts = Counts {
    bending_y: 2,
    bending_z: 2,
    torsion: 1,
    axial: 1,
};

/// Pose of the beam in its body: position of its root, m, and its attitude.
const ROOT: [f64; 3] = [0.2, -0.1, 0.3];
const ATTITUDE: [f64; 4] = [0.5, 0.1, -0.7, 0.5];

fn place(along: f64) -> Vec3<f64> {
    Vec3::from(ROOT) + Quaternion::from_slice(&ATTITUDE).rotation() * Vec3::x() * along
}

/// Returns the body with the beam.
fn as_beam() -> String {
    let s = SECTION;
    format!(
        "[body.boom.beam]\norigin = {ROOT:?}\norientation = {ATTITUDE:?}\nlength = {LENGTH}\nmass_per_length = {}\nEI_y = {}\n\
         EI_z = {}\nEA = {}\nGJ = {}\npolar_inertia_per_length = {}\nbending = 2\ntorsion = 1\naxial = 1\ndamping_ratio = 0.01\n",
        s.mass_per_length, s.EI_y, s.EI_z, s.EA, s.GJ, s.polar_inertia_per_length
    )
}

/// Returns the body with the beam's modal data, as from a finite-element program: sums over its
/// particles, and shapes at two nodes.
fn as_modal_data() -> String {
    let R = Quaternion::from_slice(&ATTITUDE).rotation();
    let beam = Beam::uniform(LENGTH, SECTION).expect("a beam");
    let modes = beam.modes(&Boundary::ClampedFree, COUNTS).expect("modes");
    let mut order: Vec<usize> = (0..modes.list().len()).collect();
    // The state lists the modes type by type; the frequencies of modal data ascend.
    order.sort_by(|&k, &l| modes.list()[k].omega.total_cmp(&modes.list()[l].omega));
    let frequencies: Vec<f64> = order.iter().map(|&k| modes.list()[k].omega / TAU).collect();
    let array = |v: Vec3<f64>| <[f64; 3]>::from(v);
    let participation: Vec<Vec<f64>> = order
        .iter()
        .map(|&k| {
            let (mut h, mut r) = (Vec3::zeros(), Vec3::zeros());
            for piece in modes.particles() {
                // The sections of a beam rotate about its axis only.
                let momentum = R * piece.point.Phi[k] * piece.mass;
                h += momentum;
                r += place(piece.x).cross(&momentum) + R * Vec3::x() * (piece.point.Psi[k].x * piece.polar_inertia);
            }
            [array(h), array(r)].concat()
        })
        .collect();
    let (m, across) = (
        SECTION.mass_per_length * LENGTH,
        SECTION.mass_per_length * LENGTH.powi(3) / 12.0,
    );
    let inertia = [SECTION.polar_inertia_per_length * LENGTH, across, across];
    let centre = array(place(0.5 * LENGTH));
    let mut text = format!(
        "[body.boom]\nmass = {m}\nmass_centre = {centre:?}\ninertia = {inertia:?}\ninertia_axes = {ATTITUDE:?}\n\
         [body.boom.modal]\nfrequencies = {frequencies:?}\nparticipation = {participation:?}\ndamping_ratio = 0.01\n"
    );
    for (name, x) in [("middle", 0.5 * LENGTH), ("tip", LENGTH)] {
        let point = modes.at(x).express(&R);
        let rows = |of: &nalgebra::DVector<Vec3<f64>>| order.iter().map(|&k| array(of[k])).collect::<Vec<_>>();
        write!(
            text,
            "[body.boom.modal.node.{name}]\nposition = {:?}\ndisplacement = {:?}\nrotation = {:?}\n",
            array(place(x)),
            rows(&point.Phi),
            rows(&point.Psi)
        )
        .expect("strings grow");
    }
    text
}

/// Returns a free hub, the boom on a hinge, a payload on a hinge at its tip, a frame at its
/// midpoint.
fn craft(boom: &str) -> Plant {
    let (tip, middle) = (place(LENGTH), place(0.5 * LENGTH));
    crate::plant(&format!(
        "name = \"craft\"\n[body.hub]\nmass = 5.0\nmass_centre = [0.1, 0.0, 0.2]\ninertia = [0.8, 0.9, 1.1]\n{boom}\
         [body.payload]\nmass = 0.7\nmass_centre = [0.1, 0.2, 0.0]\ninertia = [0.02, 0.03, 0.04]\n\
         [joint.hinge]\ntype = \"revolute\"\nparent = \"hub\"\nchild = \"boom\"\norigin = [0.4, 0.0, -0.1]\naxis = [0.3, 0.5, 1.0]\n\
         [joint.grip]\ntype = \"revolute\"\nparent = \"boom\"\nchild = \"payload\"\norigin = [{}, {}, {}]\naxis = [1.0, 0.2, 0.1]\n\
         [frame.middle]\nbody = \"boom\"\norigin = [{}, {}, {}]\n\
         [frame.tool]\nbody = \"payload\"\norigin = [0.2, 0.1, 0.0]\n[output]\nbodies = true\n",
        tip.x, tip.y, tip.z, middle.x, middle.y, middle.z
    ))
}

/// Returns, for each state of the spacecraft with the beam, the index of the same state of that
/// with modal data: the beam lists its modes type by type, the data by frequency.
fn same_states(beam: &Plant, data: &Plant) -> Vec<usize> {
    let stiffness = |plant: &Plant| -> Vec<f64> {
        let elastic = plant.derived().bodies.iter().find_map(|body| body.elastic.as_ref());
        elastic
            .expect("a boom")
            .modes
            .iter()
            .map(|mode| mode.stiffness)
            .collect()
    };
    let (kinds, rising) = (stiffness(beam), stiffness(data));
    let names = &data.model().states;
    let find = |name: &str| {
        let mode = name.strip_suffix(']').and_then(|name| name.split_once('['));
        let renamed = match mode {
            Some((field @ ("boom.eta" | "boom.etad"), k)) => {
                let stiffness = kinds[k.parse::<usize>().expect("a number") - 1];
                let l = rising.iter().position(|other| (other / stiffness - 1.0).abs() < 1e-10);
                format!("{field}[{}]", l.expect("the same mode") + 1)
            }
            _ => name.to_owned(),
        };
        names
            .iter()
            .position(|state| state.name == renamed)
            .expect("the same state")
    };
    beam.model().states.iter().map(|state| find(&state.name)).collect()
}

/// Tolerance: round-off of sums over a hundred particles, with every rate scaled by its own
/// inertia.
#[test]
fn modal_data_of_a_beam_gives_its_mass_matrix_and_its_frequencies() {
    let (beam, data) = (craft(&as_beam()), craft(&as_modal_data()));
    let map = same_states(&beam, &data);
    let (nq, ours, theirs) = (
        beam.model().system().nq,
        mass_and_stiffness(&data),
        mass_and_stiffness(&beam),
    );
    let (N, M) = (&ours.0, &theirs.0);
    let place = |v: usize| map[nq + v] - nq;
    let mut off: f64 = 0.0;
    for v in 0..M.nrows() {
        for u in 0..M.nrows() {
            off = off.larger((M[(v, u)] - N[(place(v), place(u))]).abs() / (M[(v, v)] * M[(u, u)]).sqrt());
        }
    }
    let (ours, theirs) = (squares(&ours), squares(&theirs));
    let elastic = ours.iter().zip(&theirs).filter(|(_, square)| **square > 1.0);
    let frequencies = elastic.clone().map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::larger);
    println!(
        "mass matrix {off:.1e}, {} frequencies {frequencies:.1e}",
        elastic.count()
    );
    assert!(off < 1e-14, "{off:e}");
    assert!(frequencies < 1e-12, "{frequencies:e}");
}

/// Returns the difference of derivatives and outputs at a state whose distance from rest is
/// proportional to `size`.
fn apart(beam: &mut Plant, data: &mut Plant, size: f64) -> f64 {
    let map = same_states(beam, data);
    let evaluate = |plant: &mut Plant, place: &dyn Fn(usize) -> usize| {
        let model = plant.model().clone();
        let mut x = vec![0.0; model.states.len()];
        let discrete = model.discrete();
        plant.start(0.0, &mut x, &mut discrete.clone()).expect("closed");
        // Rotations are small, so that both models are near rest.
        for i in 0..x.len() {
            x[place(i)] += size * (1.7 * i as f64).sin();
        }
        let (mut dx, mut y) = (vec![0.0; x.len()], vec![0.0; model.outputs.len()]);
        plant
            .evaluate(
                OperatingPoint::new(0.0, &x, &vec![0.0; model.inputs.len()], &discrete),
                &mut dx,
                &mut y,
            )
            .expect("regular");
        let derivatives: Vec<f64> = (0..x.len()).map(|i| dx[place(i)]).collect();
        let frames = [
            "middle.",
            "tool.",
            "payload.",
            "boom.r",
            "boom.elastic_energy",
            "system.momentum[",
        ];
        let outputs = model.outputs.iter().zip(y);
        let outputs = outputs.filter(|(o, _)| {
            let name = &o.quantity.name;
            // A beam outputs its root load in its own axes, so these outputs differ.
            frames.iter().any(|frame| name.starts_with(frame)) && !name.contains("root_")
        });
        (derivatives, outputs.map(|(_, y)| y).collect::<Vec<f64>>())
    };
    let (dx, y) = evaluate(beam, &|i| i);
    let (dx_data, y_data) = evaluate(data, &|i| map[i]);
    assert_eq!(y.len(), y_data.len());
    // All states contribute; the work, the last one, is itself of second order.
    let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    (sum(&dx, &dx_data) + sum(&y, &y_data)).sqrt()
}

/// The data are complete to first order; the omitted terms and the beam's foreshortening are of
/// second order.
#[test]
fn modal_data_of_a_beam_agree_with_it_to_first_order() {
    let (mut beam, mut data) = (craft(&as_beam()), craft(&as_modal_data()));
    let differences = [1e-3, 5e-4, 2.5e-4].map(|size| apart(&mut beam, &mut data, size));
    let orders = orders(&differences);
    println!("differences {}, orders {orders:.3?}", few(&differences));
    assert!(orders.iter().all(|order| (order - 2.0).abs() < 0.01), "{orders:?}");
}

/// Returns an appendage on a hub that rotates about z in the world; `participation` are its modes'
/// factors.
fn on_a_hub(frequencies: &[f64], participation: &[[f64; 6]]) -> Plant {
    crate::plant(&format!(
        "name = \"hub\"\n[body.hub]\nmass = 20.0\ninertia = [3.0, 4.0, 5.0]\n\
         [body.array]\nmass = 12.0\nmass_centre = [0.1, 1.5, 0.2]\ninertia = [9.0, 2.0, 10.0, 0.3, 0.1, -0.2]\n\
         [body.array.modal]\nfrequencies = {frequencies:?}\nparticipation = {participation:?}\n\
         [joint.axle]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"hub\"\n\
         [joint.root]\ntype = \"fixed\"\nparent = \"hub\"\nchild = \"array\"\norigin = [0.3, 0.8, 0.0]\n"
    ))
}

const ROWS: [[f64; 6]; 3] = [
    [-2.4, 0.3, 0.2, 0.5, -0.1, 3.9],
    [0.3, 0.1, 1.9, 3.1, -0.2, 0.4],
    [1.0, 0.2, 0.4, 0.1, 0.6, -0.8],
];

/// Returns the angular momentum about the axle for a unit modal rate, and the total inertia about
/// the axle.
fn about_the_axle(row: &[f64; 6]) -> (f64, f64) {
    let r = row[5] + 0.3 * row[1] - 0.8 * row[0];
    let J = 5.0 + 10.0 + 12.0 * ((0.1_f64 + 0.3).powi(2) + (1.5_f64 + 0.8).powi(2));
    (r, J)
}

/// One mode with the angular momentum `r` per rate about the axle: `ω_free² = ω²/(1 − r²/J)`.
#[test]
fn a_hub_raises_a_modes_frequency_by_its_participation() {
    for row in ROWS {
        let (r, J) = about_the_axle(&row);
        let found = squares(&mass_and_stiffness(&on_a_hub(&[0.7], &[row])));
        let expected = (TAU * 0.7).powi(2) / (1.0 - r * r / J);
        let off = found[1] / expected - 1.0;
        println!("r²/J {:.4}: {off:.1e}", r * r / J);
        assert!(off.abs() < 1e-14, "{off:e}"); // round-off
    }
}

/// Several modes: `J + Σ r_k² s/(ω_k² − s) = 0`, multiplied by all `ω_k² − s`.
#[test]
fn a_hub_with_several_modes_has_the_frequencies_of_the_participation_factors() {
    let frequencies = [0.7, 0.9, 1.6];
    let omega2 = frequencies.map(|f| (TAU * f).powi(2));
    let (_, J) = about_the_axle(&ROWS[0]);
    let equation = |s: f64| {
        let without = |k: usize| (0..3).filter(|&j| j != k).map(|j| omega2[j] - s).product::<f64>();
        let shares = (0..3).map(|k| about_the_axle(&ROWS[k]).0.powi(2) * s * without(k));
        J * without(3) + shares.sum::<f64>()
    };
    let expected = roots(equation, 0.05, 4000);
    let found = &squares(&mass_and_stiffness(&on_a_hub(&frequencies, &ROWS)))[1..];
    let off: Vec<f64> = found.iter().zip(&expected).map(|(a, b)| a / b - 1.0).collect();
    println!("{found:.4?}: {}", few(&off));
    assert_eq!(expected.len(), 3);
    assert!(off.iter().all(|off| off.abs() < 1e-13), "{off:?}");
}

/// Modes that contain nearly all of the mass, and amplitudes of many times the body's size: the
/// kinetic energy is positive for any amplitudes, as it is at rest.
#[test]
fn kinetic_energy_of_a_body_with_modal_data_is_positive() {
    let text = "name = \"body\"\n[body.b]\nmass = 2.0\nmass_centre = [0.3, 0.2, 0.1]\ninertia = [1.0, 1.1, 1.2]\n[body.b.modal]\n\
                frequencies = [1.0, 1.0, 2.0]\n\
                participation = [[1.4, 0.0, 0.0, 0.0, 0.24, -0.23], [0.0, 1.4, 0.0, -0.09, 0.0, 0.5], [0.0, 0.0, 1.2, 0.44, -0.26, 0.0]]\n";
    let plant = crate::plant(text);
    let system = plant.model().system();
    let modes = system.bodies[0].modes.as_ref().expect("modes");
    let mut kinematics = Kinematics::new(system);
    let mut least = |size: f64, seed: usize| {
        let mut q = vec![0.0; system.nq];
        q[0] = 1.0;
        for (k, eta) in q[modes.coordinates()].iter_mut().enumerate() {
            *eta = size * (1.7 * (k * k) as f64 + seed as f64).sin();
        }
        kinematics.update(system, plant.derived(), &q, &vec![0.0; system.nv]);
        let M = mass_matrix(system, plant.derived(), &kinematics);
        let scaled = M.map_with_location(|i, j, x| x / (M[(i, i)] * M[(j, j)]).sqrt());
        scaled.symmetric_eigenvalues().min()
    };
    for size in [0.0, 0.1, 1.0, 10.0, 100.0] {
        let worst = (0..20).map(|seed| least(size, seed)).fold(f64::INFINITY, f64::min);
        println!("amplitudes {size}: least eigenvalue {worst:.1e}");
        assert!(worst > 1e-9, "{size}: {worst:e}");
    }
}

/// The example's remarks, also with displaced nodes and changed values.
#[test]
fn modal_data_are_reported_with_frequencies_effective_masses_and_distant_nodes() {
    let example = include_str!("../../../examples/modal_array.toml");
    let remarks = |text: &str| Remarks::on(crate::plant(text).model()).expect("sound");
    let plain = remarks(example);
    assert_eq!(plain.warnings, [""; 0]);
    assert_eq!(
        plain.flexible,
        [
            "array: modes of the body clamped at its origin at 0.141, 0.294, 0.497, 0.984, 2.197 Hz; their effective masses along \
          x, y, z are 74.0, 0.0, 88.8 % of its mass, their effective inertias about its origin 99.8, 100.0, 99.8 % of its own"
        ]
    );
    let report = |from: &str, to: &str| {
        let text = example.replacen(from, to, 1);
        assert_ne!(text, example);
        remarks(&text).warnings
    };
    let frame = "[frame.magnetometer]\nbody = \"array\"\n";
    assert_eq!(
        report(&format!("{frame}origin = [1.2,"), &format!("{frame}origin = [0.9,")),
        [
            "frame magnetometer is 0.3000 m away from the nearest point of array with modal data, its node \"corner\": it \
             moves as if rigidly attached there"
        ]
    );
    assert_eq!(
        report(
            "[frame.antenna]\nbody = \"satellite\"",
            "[frame.root]\nbody = \"array\"\n[frame.antenna]\nbody = \"satellite\""
        ),
        [""; 0]
    );
    assert_eq!(
        report(
            "[frame.antenna]\nbody = \"satellite\"",
            "[frame.yoke]\nbody = \"array\"\norigin = [0.0, 0.5, 0.0]\n[frame.antenna]\nbody = \"satellite\""
        ),
        [
            "frame yoke is 0.5000 m away from the nearest point of array with modal data, its origin: it moves as if \
             rigidly attached there"
        ]
    );
    assert_eq!(
        report("bandwidth = 2.0 ", "bandwidth = 3.0 "),
        ["array: its highest mode has 2.197 Hz, below the experiment's bandwidth of 3 Hz: add more modes"]
    );
    assert_eq!(
        report("[0.1413,", "[1e-5,"),
        [
            "array: mode 1 has 1.0e-5 Hz, which is probably a rigid-body motion: the modes must be those of the body \
             clamped at its origin"
        ]
    );
}

/// There are no outputs of a tip, since a body with modal data has none.
#[test]
fn body_with_modal_data_outputs_its_root_load_and_energy() {
    let mut run = Run::new(include_str!("../../../examples/modal_array.toml"), 1e-10);
    let names: Vec<String> = run.model().outputs.iter().map(|o| o.quantity.name.clone()).collect();
    assert!(
        names
            .iter()
            .all(|name| !name.contains("tip_") && !name.contains("beyond_linear"))
    );
    let [energy, moment, bent] = run.go(82.5).values([
        "array.elastic_energy",
        "array.root_moment[1]",
        "magnetometer.deflection[3]",
    ]);
    println!("{energy:e} J, {moment} N·m, {bent} m");
    assert!(energy > 1e-3 && moment.abs() > 0.1 && bent.abs() > 1e-2);
}

/// Participation factors are constant, while the body's mass is a parameter: dependencies are found
/// although most masses would be inconsistent with the modes.
#[test]
fn dependencies_of_modal_data_are_found() {
    let plant = crate::plant(include_str!("../../../examples/modal_array.toml"));
    let model = plant.model();
    let dependencies = Dependencies::of(model).expect("regular equations");
    let state = |name: &str| model.states.iter().position(|s| s.name == name).expect("a state");
    let parameter = |name: &str| {
        let place = model.parameters.iter().position(|p| p.quantity.name == name);
        place.expect("a parameter")
    };
    let bends = &dependencies.derivatives[state("array.etad[1]")].states;
    for (name, acts) in [
        ("array.eta[1]", true),
        ("array.eta[2]", true),
        ("array.etad[5]", true),
        ("drive.qd", true),
        ("satellite.w[1]", true),
        ("satellite.r[1]", false),
        ("satellite.v[1]", false),
    ] {
        assert_eq!(bends.contains(&state(name)), acts, "{name}");
    }
    let starts = &dependencies.initial_derivatives[state("satellite.w[1]")].parameters;
    for name in [
        "array.mass",
        "array.mass_centre[1]",
        "array.mass_centre[3]",
        "array.inertia_xx",
        "array.inertia_yz",
        "array.frequency[1]",
        "array.eta_start[3]",
        "satellite.mass_centre[2]",
        "drive.origin[2]",
    ] {
        assert!(starts.contains(&parameter(name)), "{name}");
    }
}
