//! Nets of knots and threads: the frequencies of a lattice, and the flight of the example. Its capture is in
//! `tests/python/test_more_examples.py`.

use crate::impact::Balance;
use crate::linearisation::at_start;
use crate::numbers::Larger;
use crate::run::Run;
use grapple::algebra::Vec3;
use grapple::simulation::Simulation;
use grapple::spec::Formulation;
use std::f64::consts::PI;
use std::fmt::Write;
use std::path::Path;

const NET: &str = include_str!("../../../examples/tethers/net.toml");

/// Mass of client, bullets, knots and cords, kg.
const MASS: f64 = 80.0 + 4.0 * 0.5 + 21.0 * 0.03 + 4.0 * 4.4 * 0.0005;

/// Returns the name of the knot or bullet in the row and the column, 1 to 5.
fn knot(row: usize, column: usize) -> String {
    match [row, column] {
        [1, 1] => "bullet_1".to_owned(),
        [1, 5] => "bullet_2".to_owned(),
        [5, 5] => "bullet_3".to_owned(),
        [5, 1] => "bullet_4".to_owned(),
        _ => format!("knot_{row}{column}"),
    }
}

/// Returns the names of all knots, row by row.
fn knots() -> impl Iterator<Item = String> {
    (1..=5).flat_map(|row| (1..=5).map(move |column| knot(row, column)))
}

/// Returns the threads of the example, without damping, between knots of 0.03 kg, `mesh` (m) apart,
/// of which those at the edge are fixed.
fn lattice(mesh: f64) -> String {
    let mut text = String::from("name = \"lattice\"\n");
    for row in 1..=5 {
        for column in 1..=5 {
            let name = knot(row, column);
            let position = [0.0, mesh * row as f64, mesh * column as f64];
            let is_inside = (2..5).contains(&row) && (2..5).contains(&column);
            let _ = match is_inside {
                true => write!(
                    text,
                    "[body.{name}]\nmass = 0.03\ninertia = [3e-5, 3e-5, 3e-5]\nstart = {{ position = {position:?} }}\n"
                ),
                false => write!(
                    text,
                    "[body.{name}]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n[joint.{name}_mount]\ntype = \"fixed\"\n\
                     parent = \"world\"\nchild = \"{name}\"\norigin = {position:?}\n"
                ),
            };
        }
    }
    let from = NET.find("[spring]").expect("the threads");
    let until = NET[from..].find("\n[").expect("the next table");
    let edge: Vec<String> = (1..=5)
        .flat_map(|i| [knot(1, i), knot(5, i), knot(i, 1), knot(i, 5)])
        .map(|name| format!("\"{name}\""))
        .collect();
    let threads = NET[from..from + until].replace("damping = 0.5", "damping = 0.0");
    let threads = threads
        .lines()
        .filter(|line| edge.iter().filter(|name| line.contains(*name)).count() < 2);
    threads.fold(text, |text, line| text + line + "\n")
}

/// A net of `N × N` knots of the mass `m` on threads of the stiffness `k`, stretched to the length `l`
/// with the tension `T` in a fixed frame, has for `s_j = sin(jπ/2(N + 1))` the transverse frequencies
/// `ω² = (4T/ml)(s_j² + s_k²)` and twice those in its plane, `ω² = (4k/m) s_j² + (4T/ml) s_k²`.
#[test]
fn stretched_net_has_the_frequencies_of_a_lattice() {
    let (mass, stiffness, length) = (0.03, 200.0, 1.05);
    let across = stiffness * (length - 1.0) / length;
    let squares = [1.0, 2.0, 3.0].map(|j: f64| (j * PI / 8.0).sin().powi(2));
    let mut exact = Vec::new();
    for a in squares {
        for b in squares {
            exact.extend([across * (a + b), stiffness * a + across * b, stiffness * b + across * a]);
        }
    }
    exact
        .iter_mut()
        .for_each(|square| *square = (4.0 / mass * *square).sqrt());
    exact.sort_by(f64::total_cmp);
    let linear = at_start(&mut crate::plant(&lattice(length)));
    let values = linear.A.complex_eigenvalues();
    let mut found: Vec<f64> = values.iter().map(|value| value.im).filter(|w| *w > 1.0).collect();
    found.sort_by(f64::total_cmp);
    assert_eq!(found.len(), 27);
    let off = found
        .iter()
        .zip(&exact)
        .fold(0.0f64, |off, (a, b)| off.larger((a / b - 1.0).abs()));
    println!(
        "27 frequencies, {:.3} to {:.3} rad/s, off by {off:.1e} (1e-9, round-off)",
        found[0], found[26]
    );
    assert!(off < 1e-9, "{off:e}");
}

/// Returns a run of the example.
fn run_in(formulation: Formulation, tolerance: f64) -> Run {
    Run::of(crate::plant_in(formulation, NET, Path::new(".")), tolerance)
}

/// Returns the area between the four bullets, m²: half of the product of the diagonals.
fn mouth(run: &Run) -> f64 {
    let [a, b, c, d] = [1, 2, 3, 4].map(|k| run.vector(&format!("bullet_{k}.r")));
    0.5 * (c - a).cross(&(d - b)).norm()
}

/// The bullets fly straight while all threads are slack. Until the first contact the net opens with two
/// planes of symmetry, to round-off that grows as threads become taut, momenta are constant and the mass
/// centre moves straight; the dampers take energy.
#[test]
fn net_opens_symmetrically_with_constant_momenta() {
    let mut run = run_in(Formulation::Recursive, 1e-6);
    run.look();
    let (before, centre) = (Balance::of(&run), run.vector("system.mass_centre"));
    run.go(0.4);
    let mut straight = 0.0f64;
    for (k, out) in [(1, [-1.0, -1.0]), (2, [-1.0, 1.0]), (3, [1.0, 1.0]), (4, [1.0, -1.0])] {
        let exact = Vec3::new(0.8, out[0] * 0.56, out[1] * 0.56);
        straight = straight.larger((run.vector(&format!("bullet_{k}.r")) - exact).norm());
    }
    run.go(2.0);
    let mut apart = 0.0f64;
    for row in 1..=5 {
        for column in 1..=5 {
            let r = run.vector(&format!("{}.r", knot(row, column)));
            let other = run.vector(&format!("{}.r", knot(6 - row, column)));
            apart = apart.larger((r - Vec3::new(other.x, -other.y, other.z)).norm());
            let other = run.vector(&format!("{}.r", knot(column, row)));
            apart = apart.larger((r - Vec3::new(other.x, other.z, other.y)).norm());
        }
    }
    run.go(2.6);
    let after = Balance::of(&run);
    let moved = run.vector("system.mass_centre") - centre - before.p * (2.6 / MASS);
    println!(
        "bullets straight to {straight:.1e} m, symmetric to {apart:.1e} m (1e-9), momenta {:.1e} (1e-12), mass centre {:.1e} m; \
         mouth {:.2} m² of 16; energy {:.3} to {:.3} J",
        before.off(&after),
        moved.norm(),
        mouth(&run),
        before.energy,
        after.energy
    );
    assert!(straight < 1e-12 && apart < 1e-9, "{straight:e}, {apart:e}");
    assert!(before.off(&after) < 1e-12 && moved.norm() < 1e-12);
    assert!(mouth(&run) > 11.0 && after.energy < 0.9 * before.energy);
    assert!(knots().all(|name| run.value(&format!("wrap.{name}.client.gap")) > 0.0));
}

/// While threads become taut, before the chaos of folds.
#[test]
fn formulations_agree_on_a_net_in_flight() {
    let mut first: Option<Vec<f64>> = None;
    for formulation in Formulation::ALL {
        let mut run = run_in(formulation, 1e-9);
        run.go(0.6);
        let found: Vec<f64> = knots()
            .flat_map(|name| <[f64; 3]>::from(run.vector(&format!("{name}.v"))))
            .collect();
        let exact = first.get_or_insert_with(|| found.clone());
        let off = found
            .iter()
            .zip(&*exact)
            .fold(0.0f64, |off, (a, b)| off.larger((a - b).abs()));
        println!("{}: velocities {off:.1e} m/s apart (1e-6)", formulation.name());
        assert!(off < 1e-6, "{off:e}");
    }
}

/// In contact, with taut and slack threads.
#[test]
fn net_restored_in_contact_continues_bit_by_bit() {
    let mut run = run_in(Formulation::Recursive, 1e-4);
    run.go(3.2);
    let mut other = Simulation::new(crate::plant(NET)).expect("starts");
    other.initialise(0.0, Some(1e-4), 1e12).expect("a tolerance");
    other.state.clone_from(&run.simulation.state);
    other.advance(3.5, &mut Vec::new()).expect("runs");
    run.go(3.5);
    assert_eq!(other.state.x, run.simulation.state.x);
    assert!(knots().any(|name| run.value(&format!("wrap.{name}.client.gap")) < 0.0));
}
