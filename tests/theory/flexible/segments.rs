//! A beam in segments: for small deflections it equals the beam in one piece, for large ones an
//! elastica.

use super::cantilever_roots;
use super::frequencies::{EI, L, M, frequencies};
use crate::numbers::{Larger, distance, few};
use crate::run::Run;
use grapple::plant::OperatingPoint;
use nalgebra::{DMatrix, DVector};

/// Returns a cantilever on the world with a frame and a load at its tip.
fn cantilever(segments: usize, modes: usize) -> String {
    format!(
        r#"
name = "cantilever"
[body.beam.beam]
length = {L}
mass_per_length = {}
EI = {EI}
bending_y = {modes}
segments = {segments}
[joint.root]
type = "fixed"
parent = "world"
child = "beam"
[frame.tip]
body = "beam"
origin = [{L}, 0.0, 0.0]
[port.load]
frame = "tip"
"#,
        M / L
    )
}

/// The frequencies `β` of a cantilever in `k` segments of two modes are compared with `cosh β cos β
/// = −1`: the truncation error is due to the few modes of each segment.
#[test]
fn a_beam_in_segments_has_the_frequencies_of_the_beam() {
    let exact = cantilever_roots(3);
    let mut last = vec![f64::INFINITY; 3];
    for segments in [2, 4, 8] {
        let found = frequencies(&cantilever(segments, 2));
        let off: Vec<f64> = found
            .iter()
            .zip(&exact)
            .map(|(found, exact)| found / exact - 1.0)
            .collect();
        println!("{segments} segments: {}", few(&off));
        for (off, last) in off.iter().zip(&mut last) {
            assert!(*off > -1e-12 && *off < *last / 4.0, "{off:e} {last:e}"); // from above, of second order or better
            *last = *off;
        }
    }
    assert!(last.iter().all(|off| *off < 1e-3), "{last:?}");
}

/// Moves the run's state to static equilibrium, by Newton's method over all coordinates.
fn to_rest(run: &mut Run) {
    let model = run.model();
    let (nq, nv) = (model.system().nq, model.system().nv);
    let mut accelerations = |q: &DVector<f64>| {
        let simulation = &mut run.simulation;
        let state = &mut simulation.state;
        state.x[..nq].copy_from_slice(q.as_slice());
        let mut dx = vec![0.0; state.x.len()];
        let now = (&state.x[..], &state.u[..], &state.discrete);
        simulation
            .plant
            .derivative(OperatingPoint::new(state.t, now.0, now.1, now.2), &mut dx)
            .expect("regular");
        DVector::from_column_slice(&dx[nq..nq + nv])
    };
    let mut q = DVector::zeros(nq);
    for _ in 0..30 {
        let off = accelerations(&q);
        let columns: Vec<DVector<f64>> = (0..nq)
            .map(|k| {
                let (mut ahead, mut behind) = (q.clone(), q.clone());
                ahead[k] += 1e-5;
                behind[k] -= 1e-5;
                (accelerations(&ahead) - accelerations(&behind)) / 2e-5
            })
            .collect();
        let step = DMatrix::from_columns(&columns).lu().solve(&off).expect("regular");
        q -= &step;
        if step.norm() < 1e-12 {
            break;
        }
    }
    accelerations(&q);
    run.look();
}

/// A moment `M` at the tip bends a cantilever into an arc of the angle `θ = M L/EI`, with its end
/// at `L/θ (sin θ, 1 − cos θ)`: 180° here; linear bending would give `y = θ/2 L`.
#[test]
fn a_tip_moment_bends_a_beam_in_segments_into_an_arc() {
    let theta = std::f64::consts::PI;
    let exact = [L / theta * theta.sin(), L / theta * (1.0 - theta.cos()), 0.0];
    let mut last = f64::INFINITY;
    for segments in [4, 8, 16] {
        let mut run = Run::new(&cantilever(segments, 2), 1e-9);
        // The load is applied in increments, so that Newton's method converges.
        for part in 1..=8 {
            run.set("load.t[3]", EI * theta / L * f64::from(part) / 8.0);
            to_rest(&mut run);
        }
        let tip = run.values(["tip.r[1]", "tip.r[2]", "tip.r[3]"]);
        let moved = run.values(["tip.deflection[1]", "tip.deflection[2]", "tip.deflection[3]"]);
        let same = run.values([
            "beam.tip_deflection[1]",
            "beam.tip_deflection[2]",
            "beam.tip_deflection[3]",
        ]);
        let [turned, energy, moment] = run.values(["beam.tip_slope[3]", "beam.elastic_energy", "beam.root_moment[3]"]);
        let off = distance(tip, exact) / L;
        let of_energy = energy / (EI * theta * theta / (2.0 * L)) - 1.0;
        println!(
            "{segments} segments: tip off by {off:.2e} L, turned by {:.4} of half a turn, energy off {of_energy:.1e}, moment off {:.1e}",
            turned.abs() / theta,
            moment / (-EI * theta / L) - 1.0
        );
        assert!(distance([tip[0] - L, tip[1], tip[2]], moved) < 1e-12 && moved == same);
        assert!((moment / (-EI * theta / L) - 1.0).abs() < 1e-9);
        // The shapes are exact for a tip moment, except for the square of the small load used to
        // compute them.
        assert!(
            (turned / theta - 1.0).abs() < 1e-6 && of_energy.abs() < 1e-6,
            "{turned} {of_energy:e}"
        );
        assert!(off < last / 7.5, "{off:e} after {last:e}"); // of third order
        last = off;
    }
    assert!(last < 3e-4, "{last:e}");
}

/// A free hub with a boom in three segments and a load on it.
const CRAFT: &str = r#"
name = "craft"
[body.hub]
mass = 20.0
inertia = [3.0, 4.0, 5.0]
start = { angular_velocity = [0.2, -0.1, 0.4] }
[body.boom.beam]
length = 3.0
mass_per_length = 1.2
EI_y = 60.0
EI_z = 90.0
GJ = 40.0
polar_inertia_per_length = 0.01
bending = 2
torsion = 1
segments = 3
[joint.hinge]
type = "universal"
parent = "hub"
child = "boom"
origin = [0.4, 0.1, 0.0]
[body.load]
mass = 4.0
mass_centre = [0.2, 0.1, 0.0]
inertia = [0.3, 0.4, 0.5]
[joint.grip]
type = "spherical"
parent = "boom"
child = "load"
origin = [2.2, 0.0, 0.1]
[line_load.wind]
body = "boom"
[solver]
method = "dop853"
"#;

/// A boom in three segments on a free hub bends by a quarter of its length. Tolerance: 1e-12 per
/// step.
#[test]
fn beam_in_segments_conserves_momentum_and_energy() {
    let mut run = Run::new(CRAFT, 1e-12);
    let states = &run.model().states;
    let rates: Vec<usize> = (0..states.len())
        .filter(|&i| states[i].name.contains(".etad["))
        .collect();
    for (k, i) in rates.iter().enumerate() {
        run.simulation.state.x[*i] = 12.0 * (1.3 * k as f64).sin();
    }
    run.simulation.invalidate();
    let invariants =
        ["1", "2", "3"].map(|i| (format!("system.momentum[{i}]"), format!("system.angular_momentum[{i}]")));
    let (mut first, mut off, mut scale, mut bent) = ([0.0; 7], [0.0_f64; 3], [0.0_f64; 3], 0.0_f64);
    for i in 0..=60 {
        run.go(0.05 * f64::from(i));
        let [a, b, c] = invariants.each_ref();
        let now = run.values([&a.0, &b.0, &c.0, &a.1, &b.1, &c.1, "system.energy"]);
        let sizes = run.values([
            "system.momentum_scale",
            "system.angular_momentum_scale",
            "system.kinetic_energy",
        ]);
        bent = bent.larger(run.vector("boom.tip_deflection").norm() / 3.0);
        if i == 0 {
            first = now;
        }
        for (k, range) in [0..3, 3..6, 6..7].into_iter().enumerate() {
            let apart = range.map(|i| (now[i] - first[i]).powi(2)).sum::<f64>().sqrt();
            off[k] = off[k].larger(apart);
            scale[k] = scale[k].larger(sizes[k]);
        }
    }
    let off: Vec<f64> = off.iter().zip(scale).map(|(off, scale)| off / scale).collect();
    println!(
        "bent by {:.0} %: momentum, angular momentum, energy {}",
        100.0 * bent,
        few(&off)
    );
    assert!(bent > 0.2 && off.iter().all(|off| *off < 1e-12), "{bent} {off:?}");
}

/// Frames on a beam in segments are at their position in the spec, on any segment: undeformed, and
/// after a change of the length.
#[test]
fn objects_on_a_segment_are_at_their_position_in_the_spec() {
    let frames: String = (0..=12)
        .map(|i| {
            format!(
                "[frame.at{i}]\nbody = \"beam\"\norigin = [{}, 0.1, 0.0]\n",
                L * f64::from(i) / 12.0
            )
        })
        .collect();
    let mut run = Run::new(&(cantilever(4, 2) + &frames), 1e-9);
    run.look();
    for i in 0..=12 {
        let [x, y] = ["r[1]", "r[2]"].map(|part| run.value(&format!("at{i}.{part}")));
        assert!((x - L * f64::from(i) / 12.0).abs() < 1e-15 && y == 0.1, "{i}: {x} {y}");
    }
    let model = run.model();
    let names: Vec<&str> = model.system().bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["beam", "beam[2]", "beam[3]", "beam[4]"]);
    let on = |name: &str| {
        model
            .system()
            .frames
            .iter()
            .find(|frame| frame.name == name)
            .map(|frame| frame.body)
    };
    assert_eq!(["at0", "at3", "at4", "at9", "at12"].map(on), [0, 0, 1, 2, 3].map(Some));
}

/// A distributed load on the boom, in inertial axes: momentum changes by force times time, energy
/// by the load's work.
#[test]
fn distributed_load_on_segments_gives_its_impulse_and_work() {
    let mut run = Run::new(CRAFT, 1e-12);
    let f = [0.4, -1.0, 2.0];
    for (i, f) in f.iter().enumerate() {
        run.set(&format!("wind.f[{}]", i + 1), *f);
    }
    let p = ["system.momentum[1]", "system.momentum[2]", "system.momentum[3]"];
    run.look();
    let before = (run.values(p), run.value("system.energy"));
    run.go(2.0);
    let after = (run.values(p), run.values(["system.energy", "system.work"]));
    let impulse = distance([0, 1, 2].map(|i| after.0[i] - before.0[i]), f.map(|f| f * 3.0 * 2.0)) / 12.0;
    let [energy, work] = after.1;
    let balance = (energy - before.1 - work) / work;
    println!("impulse {impulse:.1e}, work {work:.3} J, balance {balance:.1e}");
    // Limited by the tolerance of the integrator.
    assert!(impulse < 1e-12 && balance.abs() < 1e-11, "{impulse:e} {balance:e}");
}

/// Returns a tapered beam with sections `(x, mass_per_length, EI)`, and `bending` modes in one
/// plane of each segment.
fn tapered(stations: &[(f64, f64, f64)], segments: usize, bending: usize) -> String {
    let section =
        |(x, m, k): &(f64, f64, f64)| format!("{{ x = {x:?}, mass_per_length = {m:?}, EI_y = {k:?}, EI_z = {k:?} }}");
    let sections: Vec<String> = stations.iter().map(section).collect();
    format!(
        "name = \"tapered\"\n[body.beam.beam]\nbending_y = {bending}\nsegments = {segments}\nsections = [{}]\n\
         [joint.root]\ntype = \"fixed\"\nparent = \"world\"\nchild = \"beam\"\n",
        sections.join(", ")
    )
}

/// A tapered beam in segments has the frequencies of the whole beam, whether it is divided at its
/// sections (within round-off) or between them, or has a step inside a segment.
#[test]
fn a_tapered_beam_in_segments_has_the_frequencies_of_the_whole_one() {
    let taper = |n: u32, spacing: f64| -> Vec<(f64, f64, f64)> {
        let station = |i: u32| {
            let s = f64::from(i) / f64::from(n);
            (f64::from(i) * spacing, 2.0 - s, 40.0 - 25.0 * s)
        };
        (0..=n).map(station).collect()
    };
    let stepped = vec![(0.0, 2.0, 40.0), (1.1, 2.0, 40.0), (1.1, 1.0, 15.0), (3.2, 1.0, 12.0)];
    let mut worst = 0.0f64;
    for (name, stations, segments) in [
        ("3.2 m every 0.8 m", taper(4, 0.8), 4),
        ("3.2 m every 0.8 m", taper(4, 0.8), 8),
        ("2.4 m every 0.2 m", taper(12, 0.2), 12),
        ("2.4 m every 0.2 m", taper(12, 0.2), 8),
        ("stepped", stepped, 6),
    ] {
        let whole = frequencies(&tapered(&stations, 1, 3));
        let cut = frequencies(&tapered(&stations, segments, 2));
        let off = [0, 1].map(|k| cut[k] / whole[k] - 1.0);
        println!(
            "{name}, {segments} segments: {} rad/s, off by {}",
            few(&whole[..2]),
            few(&off)
        );
        worst = off.iter().fold(worst, |worst, off| worst.larger(off.abs()));
    }
    // The error is the truncation error of the second frequency with four segments of two modes.
    println!("worst {worst:.1e} (2e-3)");
    assert!(worst < 2e-3);
}
