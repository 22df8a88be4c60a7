//! Flexible links: published and independently derived values, closed forms, invariants.

mod chain;
mod conservation;
mod frequencies;
mod modal_data;
mod segments;
mod statics;

use crate::messages;
use crate::numbers::distance;
use crate::run::Run;
use grapple::Error;
use grapple::dynamics::recursive::mass_matrix;
use grapple::plant::{Dependencies, Model, OperatingPoint, Plant, Remarks};
use grapple::system::Kinematics;
use std::collections::BTreeSet;
use std::sync::Arc;

const KLAK: &str = include_str!("../../examples/klak_2020.toml");
const TWO_LINK: &str = include_str!("../../examples/two_link.toml");

/// Returns the roots of `f` between 0 and `n` steps of `step`, at most one root per step.
fn roots(f: impl Fn(f64) -> f64, step: f64, n: usize) -> Vec<f64> {
    let bisect = |mut a: f64, mut b: f64| {
        while a < 0.5 * (a + b) && 0.5 * (a + b) < b {
            let middle = 0.5 * (a + b);
            if (f(middle) > 0.0) == (f(b) > 0.0) {
                b = middle;
            } else {
                a = middle;
            }
        }
        b
    };
    let ends = (1..n).map(|i| (step * i as f64, step * (i + 1) as f64));
    ends.filter(|&(a, b)| (f(a) > 0.0) != (f(b) > 0.0))
        .map(|(a, b)| bisect(a, b))
        .collect()
}

/// Returns `β_k` of the clamped–free beam, `cosh β cos β = −1`.
fn cantilever_roots(n: usize) -> Vec<f64> {
    // One root in each half turn, none at its ends.
    roots(|b| b.cos() + 1.0 / b.cosh(), std::f64::consts::PI / 8.0, 8 * n + 1)
}

/// The spacecraft of Kłak and Jarzębowska (2020) with all coupling terms. The references are from
/// two independent programs (a planar Lagrange model in minimal coordinates and a model in maximal
/// coordinates), which agree to 4e-10 mm.
#[test]
fn flexible_two_link_spacecraft_equals_two_independent_codes() {
    let (mut bent, mut rigid) = (Run::new(KLAK, 1e-12), Run::new(TWO_LINK, 1e-12));
    let tip = ["tip.r[1]", "tip.r[2]", "tip.r[3]"];
    let (mut apart, mut undeformed, mut deflection): ((f64, f64), (f64, f64), (f64, f64)) = Default::default();
    for i in 1..=5000 {
        let t = 1e-3 * f64::from(i);
        let (flexible, still) = (bent.go(t).values(tip), rigid.go(t).values(tip));
        let [x, y, w, z, dx, dy] = bent.values([
            "forearm.r[1]",
            "forearm.r[2]",
            "forearm.q[1]",
            "forearm.q[4]",
            "forearm.tip_deflection[1]",
            "forearm.tip_deflection[2]",
        ]);
        let angle = 2.0 * z.atan2(w);
        let keep = |worst: &mut (f64, f64), value: f64| {
            if value > worst.0 {
                *worst = (value, t);
            }
        };
        keep(&mut apart, distance(flexible, still));
        keep(
            &mut undeformed,
            distance([x + angle.cos(), y + angle.sin()], [still[0], still[1]]),
        );
        keep(&mut deflection, dx.hypot(dy));
    }
    let [w, z, q1, q2] = bent.values(["base.q[1]", "base.q[4]", "shoulder.q", "elbow.q"]);
    let angles = [2.0 * z.atan2(w), q1, q2].map(f64::to_degrees);
    println!("tip {apart:?} undeformed {undeformed:?} deflection {deflection:?} {angles:?}");
    // Tolerances: 1e-5 mm for lengths, as for the references, at the same millisecond; 1e-5° for
    // angles.
    for ((found, at), expected, time) in [
        (apart, 0.60562e-3, Some(4.260)),
        (undeformed, 1.69528e-3, Some(4.753)),
        (deflection, 1.7156e-3, None),
    ] {
        let tolerance = if time.is_some() { 1e-8 } else { 5e-8 }; // the last has four decimals
        assert!(
            (found - expected).abs() < tolerance,
            "{found} m instead of {expected} m"
        );
        assert!(time.is_none_or(|time| (at - time).abs() < 1.1e-3), "at {at} s");
    }
    for (found, expected) in angles.iter().zip([-45.926893, 48.817698, 104.904966]) {
        assert!((found - expected).abs() < 1e-5, "{found}° instead of {expected}°");
    }
}

/// Runs the case of Kane, Ryan and Banerjee, a slender beam that is spun up, with or without
/// stiffening.
fn spin_up(stiffening: bool) -> Run {
    let text = include_str!("../../benches/spin_up.toml")
        .replace("axial = 8", &format!("axial = 8\nstiffening = {stiffening}"))
        .replace("from_importer", "until = 15.0\nfrom_importer")
        .replace("auto", "dopri5");
    Run::new(&text, 1e-9)
}

/// L = 10 m, EA = 2.8e7 N, EI = 1.4e4 N·m², ρA = 1.2 kg/m, to 6 rad/s in 15 s: the tip lags by
/// 0.574 m at 6.8 s. The final extension is `ρA ω² L³/(3 EA)`, of which N axial modes represent the
/// fraction (96/π⁴) Σ (2k−1)⁻⁴.
#[test]
fn spin_up_beam_has_the_published_deflection_and_extension() {
    let mut run = spin_up(true);
    let (mut lag, mut when) = (0.0, 0.0);
    for i in 1..=300 {
        let t = 0.05 * f64::from(i);
        let [y] = run.go(t).values(["beam.tip_deflection[2]"]);
        if y.abs() > lag {
            (lag, when) = (y.abs(), t);
        }
    }
    let mut values = run.simulation.plant.parameters().to_vec();
    let offset = run
        .model()
        .parameters
        .iter()
        .position(|p| p.quantity.name == "signal.axle.qdd.offset");
    values[offset.expect("the signal's")] = 0.0;
    run.simulation.plant.set_parameters(&values).expect("sound");
    run.simulation.invalidate();
    let samples: Vec<[f64; 2]> = (1..=200)
        .map(|i| {
            run.go(15.0 + 0.02 * f64::from(i))
                .values(["beam.tip_deflection[1]", "axle.qd"])
        })
        .collect();
    let extension = samples.iter().map(|[x, _]| x).sum::<f64>() / 200.0;
    let share = 96.0 / std::f64::consts::PI.powi(4) * (1..=8).map(|k| f64::from(2 * k - 1).powi(-4)).sum::<f64>();
    println!(
        "lag {lag:.4} m at {when:.2} s, extension {extension:.4e} m, {:?} rad/s",
        samples[199][1]
    );
    assert!(
        (lag - 0.574).abs() < 0.01 * 0.574 && (when - 6.8).abs() < 0.15,
        "{lag} m at {when} s"
    );
    assert!((extension / (share * 5.143e-4) - 1.0).abs() < 2e-3, "{extension}");
}

/// Without the second-order displacement the centrifugal force softens the beam, and its deflection
/// diverges.
#[test]
fn spin_up_beam_diverges_without_stiffening() {
    let mut run = spin_up(false);
    assert_eq!(run.go(3.0).values(["beam.beyond_linear"]), [0.0]);
    let mut messages = Vec::new();
    run.simulation.advance(10.0, &mut messages).expect("runs");
    run.look();
    let [y, beyond] = run.values(["beam.tip_deflection[2]", "beam.beyond_linear"]);
    println!("{y:.1e} m at 10 s; {messages:?}");
    assert!(y.abs() > 10.0, "{y}");
    // Reported once, by name, when a tenth of the length is exceeded.
    assert_eq!((beyond, messages.len()), (1.0, 1), "{messages:?}");
    assert!(
        matches!(&messages[0].what, grapple::event::Occurrence::LinearLimitExceeded { body, .. } if body == "beam")
    );
}

/// Returns the remarks on the arm with a step of the method and a communication step, s.
fn with_steps(method: &str, own: f64, step: f64) -> Remarks {
    let solver = format!("[solver]\nmethod = \"{method}\"\nstep = {own:?}\n[experiment]");
    let text = KLAK.replace("[experiment]", &solver);
    let text = text.replace("step = 0.01\ntol", &format!("step = {step:?}\ntol"));
    Remarks::on(crate::plant(&text).model()).expect("sound")
}

/// Remarks on a model report the frequencies of its modes, including the first omitted one, and
/// unsuitable settings.
#[test]
fn omitted_and_too_fast_modes_are_reported_with_their_frequencies() {
    let _section = messages::of_this_test();
    let remarks = |more: &str| {
        let text = KLAK.replace("[experiment]", &format!("{more}\n[experiment]"));
        Remarks::on(crate::plant(&text).model()).expect("sound")
    };
    assert_eq!(remarks("").warnings, [""; 0]);
    // The first omitted frequency is the first one times (4.694091/1.875104)².
    for remark in remarks("").flexible {
        messages::record(remark);
    }
    let slow = with_steps("rk4", 0.1, 0.1);
    assert_eq!(slow.warnings.len(), 1);
    assert!(
        slow.warnings[0].contains("5.000 Hz") && slow.warnings[0].contains("9.002e-2 s"),
        "{slow:?}"
    );
    messages::record(&slow.warnings[0]);
    let far = remarks("[frame.aside]\nbody = \"forearm\"\norigin = [0.2, 0.3, 0.0]");
    assert_eq!(far.warnings.len(), 1);
    messages::record(&far.warnings[0]);
    let text = KLAK.replace("stop_time = 5.0", "stop_time = 5.0\nbandwidth = 40.0");
    let narrow = Remarks::on(crate::plant(&text).model()).expect("sound");
    assert!(
        narrow.warnings[0].contains("31.334 Hz") && narrow.warnings[0].contains("40 Hz"),
        "{narrow:?}"
    );
    messages::record(&narrow.warnings[0]);
}

/// Steps and a stop time that do not fit together are reported.
#[test]
fn steps_that_do_not_fit_together_are_reported() {
    let _section = messages::of_this_test();
    for (method, own, step) in [
        ("linearly_implicit", 0.05, 0.01),
        ("linearly_implicit", 1e-9, 0.01),
        ("auto", 0.01, 6.0),
    ] {
        let found = with_steps(method, own, step).warnings;
        assert_eq!(found.len(), 1, "{found:?}");
        messages::record(&found[0]);
    }
    assert_eq!(with_steps("dopri5", 0.01, 0.01).warnings, [""; 0]);
    assert_eq!(with_steps("linearly_implicit", 0.1, 0.1).warnings, [""; 0]);
}

/// Modes that are reused after a change of parameters have the same bits as modes computed anew.
#[test]
fn a_changed_parameter_gives_the_constants_of_a_fresh_start() {
    let mut changed = crate::plant(KLAK);
    let model = Arc::clone(changed.model());
    let mut values = changed.parameters().to_vec();
    let x: Vec<f64> = (0..model.states.len()).map(|i| 0.1 * (1.7 * i as f64).sin()).collect();
    let evaluate = |plant: &mut Plant| {
        let (mut dx, mut y) = (vec![0.0; x.len()], vec![0.0; model.outputs.len()]);
        let discrete = model.discrete();
        plant
            .evaluate(OperatingPoint::new(0.3, &x, &[], &discrete), &mut dx, &mut y)
            .expect("regular");
        [dx, y].concat()
    };
    let mut last = evaluate(&mut changed);
    let place = |name: &str| {
        let place = model.parameters.iter().position(|p| p.quantity.name == name);
        place.expect("a parameter")
    };
    for (name, change) in [
        ("forearm.mass", 1.0),
        ("forearm.damping_ratio[1]", 0.05),
        ("forearm.first_frequency", 0.5),
        ("tip.origin[1]", -0.05),
        ("forearm.beam.origin[1]", 0.05),
        ("forearm.length", -0.1),
    ] {
        values[place(name)] += change;
        changed.set_parameters(&values).expect("sound");
        // The detour over another beam forces a new computation of the modes.
        let mut fresh = Plant::new(Arc::clone(&model)).expect("sound");
        let mut detour = values.clone();
        detour[place("forearm.length")] *= 0.9;
        fresh.set_parameters(&detour).expect("sound");
        fresh.set_parameters(&values).expect("sound");
        let now = evaluate(&mut changed);
        assert_eq!(now, evaluate(&mut fresh), "{name}");
        assert_ne!(now, last, "{name}");
        last = now;
    }
}

/// Returns a beam on a free hinge of a hub; `beam` are further fields.
fn hinged(beam: &str) -> String {
    format!(
        r#"
name = "hinged"
[body.hub]
mass = 50.0
inertia = [8.0, 9.0, 10.0]
[body.boom]
[body.boom.beam]
length = 2.0
mass_per_length = 1.0
EI = 100.0
polar_inertia_per_length = 0.01
{beam}
[joint.hinge]
type = "revolute"
parent = "hub"
child = "boom"
origin = [0.5, 0.0, 0.0]
"#
    )
}

/// The kinetic energy is that of a complete velocity field: on a free hinge, where many modes leave
/// hardly any inertia for the joint, it is positive for any deflection.
#[test]
fn kinetic_energy_of_a_bent_beam_is_positive() {
    for modes in [2, 5, 8] {
        let plant = crate::plant(&hinged(&format!("bending = {modes}\naxial = 1\nEA = 1e6")));
        let system = plant.model().system();
        let boom = system
            .bodies
            .iter()
            .find_map(|body| body.modes.as_ref())
            .expect("a beam");
        let mut kinematics = Kinematics::new(system);
        let mut worst = f64::INFINITY;
        for tip in [0.0, 0.05, 0.2, 0.5, 1.0] {
            for seed in 0..20 {
                let mut q = vec![0.0; system.nq];
                q[0] = 1.0;
                // The mass-normalised shape at the tip is 2/√m: m = 2 kg, 2 m long, for all modes
                // together.
                for (k, eta) in q[boom.coordinates()].iter_mut().enumerate() {
                    let share = (1.7 * (k * k) as f64 + f64::from(seed)).sin() / (modes as f64).sqrt();
                    *eta = tip * 2.0 / 2.0_f64.sqrt() * share;
                }
                kinematics.update(system, plant.derived(), &q, &vec![0.0; system.nv]);
                let M = mass_matrix(system, plant.derived(), &kinematics);
                let scaled = M.map_with_location(|i, j, x| x / (M[(i, i)] * M[(j, j)]).sqrt());
                worst = worst.min(scaled.symmetric_eigenvalues().min());
            }
        }
        println!("{modes} modes in a plane: least eigenvalue {worst:.1e}");
        assert!(worst > 1e-13, "{modes} modes: {worst:e}"); // round-off is a few 1e-16
    }
}

/// The derivative of the hinge angle depends on its rate only, the derivative of the rate on the
/// modes.
#[test]
fn dependencies_of_stiffened_beams_are_found() {
    let plant = crate::plant(&hinged("bending = 4"));
    let model = plant.model();
    let dependencies = Dependencies::of(model).expect("regular equations");
    let place = |name: &str| model.states.iter().position(|s| s.name == name).expect("a state");
    let depends = |on: &str| dependencies.derivatives[place(on)].states.clone();
    assert_eq!(depends("hinge.q"), [place("hinge.qd")]);
    assert_eq!(depends("boom.eta[3]"), [place("boom.etad[3]")]);
    let bends = depends("boom.etad[1]");
    for (name, acts) in [
        ("boom.eta[1]", true),
        ("boom.eta[5]", true),
        ("boom.etad[1]", true),
        ("hinge.qd", true),
        ("base.r[1]", false),
        ("hub.r[1]", false),
        ("hub.v[1]", false),
    ] {
        let known = model.states.iter().position(|s| s.name == name);
        assert_eq!(known.is_some_and(|k| bends.contains(&k)), acts, "{name}");
    }
    let beyond = model
        .outputs
        .iter()
        .position(|o| o.quantity.name == "boom.beyond_linear");
    assert_eq!(
        dependencies.outputs[beyond.expect("an output")].states[0],
        place("boom.eta[1]")
    );
}

/// A slender beam has no inertia about its axis: it is valid in every attitude in which the hinge
/// does not rotate it about that axis.
#[test]
fn slender_beam_is_valid_in_every_attitude() {
    let _section = messages::of_this_test();
    let mut told = BTreeSet::new();
    for i in 0..12 * 12 * 12 {
        let [x, y, z] = [i % 12, i / 12 % 12, i / 144].map(|k| 30.0 * f64::from(k));
        let text = hinged(&format!("bending = 2\nrpy_deg = [{x:?}, {y:?}, {z:?}]"));
        let text = text.replace("polar_inertia_per_length = 0.01", "");
        let along_the_hinge = y == 90.0 || y == 270.0;
        match Model::read(&text, std::path::Path::new(".")) {
            Ok(_) => assert!(!along_the_hinge, "{x} {y} {z}"),
            Err(Error::Spec(problems)) => {
                assert!(along_the_hinge, "{x} {y} {z}: {problems:?}");
                assert_eq!(problems.len(), 1, "{x} {y} {z}: {problems:?}");
                assert_eq!(problems[0].at, ["joint", "hinge"]);
                told.insert(problems[0].to_string());
            }
            Err(error) => panic!("{x} {y} {z}: {error}"),
        }
    }
    told.iter().for_each(messages::record);
}

/// A list of wrong length is reported together with the other errors.
#[test]
fn beam_errors_are_reported_with_all_others() {
    let _section = messages::of_this_test();
    let text = hinged("bending = 2\ndamping_ratio = [0.01, 0.02]").replace("mass = 50.0", "mass = -50.0");
    let Err(Error::Spec(problems)) = Model::read(&text, std::path::Path::new(".")) else {
        panic!("two mistakes");
    };
    let places: Vec<String> = problems.iter().map(|problem| problem.at.join(".")).collect();
    assert_eq!(places, ["body.boom.beam.damping_ratio", "body.hub.mass"]);
    for problem in &problems {
        messages::record(problem);
    }
}
