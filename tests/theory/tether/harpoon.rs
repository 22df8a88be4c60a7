//! Capture by the end of a tether: a harpoon on a spool, the example.

use crate::impact::Balance;
use crate::messages;
use crate::numbers::Larger;
use crate::run::Run;
use grapple::algebra::{Mat3, Vec3};
use grapple::plant::Model;
use grapple::simulation::Simulation;
use grapple::spec::Formulation;
use std::path::Path;

const HARPOON: &str = include_str!("../../../examples/tethers/harpoon.toml");

/// Mass, kg, and principal inertia, kg·m², of harpoon and debris.
const BODIES: [(&str, f64, [f64; 3]); 2] = [
    ("harpoon", 3.0, [0.004, 0.09, 0.09]),
    ("debris", 2000.0, [6800.0, 6800.0, 1700.0]),
];

/// Returns the example with the formulation and tolerance.
fn run_in(formulation: Formulation, tolerance: f64) -> Run {
    Run::of(crate::plant_in(formulation, HARPOON, Path::new(".")), tolerance)
}

/// Returns the time of the hit, s.
fn time_of_hit(tolerance: f64) -> f64 {
    let mut run = run_in(Formulation::Recursive, tolerance);
    run.go(2.0);
    assert_eq!(run.values(["hit.captured", "hit.status"]), [1.0, 1.0]);
    run.value("hit.time")
}

/// Returns momentum, angular momentum about the world's origin, inertia about the common mass centre,
/// that centre, and the kinetic energy of harpoon and debris.
fn of_both(run: &Run) -> (Vec3<f64>, Vec3<f64>, Mat3<f64>, Vec3<f64>, f64) {
    let (mut p, mut h, mut first, mut mass, mut energy) = (Vec3::zeros(), Vec3::zeros(), Vec3::zeros(), 0.0, 0.0);
    let mut inertia = Mat3::zeros();
    for (name, m, diagonal) in BODIES {
        let [r, v] = ["r", "v"].map(|of| run.vector(&format!("{name}.{of}")));
        let R = run.attitude(name).rotation();
        let J = R * Mat3::from_diagonal(&Vec3::from(diagonal)) * R.transpose();
        let w = R * run.vector(&format!("{name}.w"));
        p += v * m;
        h += r.cross(&v) * m + J * w;
        first += r * m;
        mass += m;
        energy += 0.5 * (m * v.dot(&v) + w.dot(&(J * w)));
        inertia += J + (Mat3::identity() * r.dot(&r) - r * r.transpose()) * m;
    }
    let c = first / mass;
    inertia -= (Mat3::identity() * c.dot(&c) - c * c.transpose()) * mass;
    (p, h - c.cross(&p), inertia, c, energy)
}

/// The hit is a plastic impact with a moment: harpoon and debris move on as the rigid body with the
/// momenta of both, and the lost energy is that reported. The tether gets no impulse.
#[test]
fn harpoon_sticks_and_both_move_as_one_body() {
    let t = time_of_hit(1e-11);
    let mut run = run_in(Formulation::Recursive, 1e-11);
    run.go(t - 1e-9);
    let (before, (p, h, inertia, c, energy)) = (Balance::of(&run), of_both(&run));
    let masses: Vec<f64> = (1..=4).map(|i| run.value(&format!("line_point{i}.qd[1]"))).collect();
    run.go(t + 1e-9);
    let after = Balance::of(&run);
    let w = inertia.try_inverse().expect("regular") * h;
    let mut off = 0.0f64;
    for (name, ..) in BODIES {
        let exact = p / 2003.0 + w.cross(&(run.vector(&format!("{name}.r")) - c));
        off = off.larger((run.vector(&format!("{name}.v")) - exact).norm());
        off = off.larger((run.attitude(name).rotation() * run.vector(&format!("{name}.w")) - w).norm());
    }
    let loss = energy - 0.5 * (p.dot(&p) / 2003.0 + h.dot(&w));
    let reported = -run.value("hit.energy_change");
    let moved = (1..=4).fold(0.0f64, |most, i| {
        most.larger((run.value(&format!("line_point{i}.qd[1]")) - masses[i - 1]).abs())
    });
    println!(
        "hit after {t:.4} s: momenta {:.1e} (1e-12), velocities off by {off:.1e} m/s, rad/s (1e-7: 2 ns of motion), \
         loss {loss:.4} J, off by {:.1e} (1e-9), tether {moved:.1e} m/s",
        before.off(&after),
        (reported / loss - 1.0).abs()
    );
    assert!(before.off(&after) < 1e-12 && off < 1e-7 && (reported / loss - 1.0).abs() < 1e-9);
    assert!(loss > 100.0 && moved < 1e-5);
}

/// Before the engine pulls: momenta, and energy less the work of spool, hit and dampers, are constant, in
/// every formulation, and the formulations agree.
#[test]
fn formulations_agree_on_the_harpoon_and_conserve_its_momenta() {
    let mut first: Option<Vec<f64>> = None;
    for formulation in Formulation::ALL {
        let text = format!("{HARPOON}[solver]\nmethod = \"dop853\"\n");
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-11);
        run.look();
        let before = Balance::of(&run);
        let off = run.drift(4.0);
        let found: Vec<f64> = ["debris.r", "debris.v", "harpoon.v"]
            .iter()
            .flat_map(|name| run.vector(name).iter().copied().collect::<Vec<f64>>())
            .chain([
                run.value("line.unwound"),
                run.value("debris.w[2]"),
                run.value("hit.energy_change"),
            ])
            .collect();
        let exact = first.get_or_insert_with(|| found.clone());
        let apart = found
            .iter()
            .zip(&*exact)
            .fold(0.0f64, |off, (a, b)| off.larger((a - b).abs()));
        let momenta = before.off(&Balance::of(&run));
        println!(
            "{}: invariants off by {off:.1e} J, N·s, N·m·s; momenta by {momenta:.1e} of their scale; {apart:.1e} apart; \
             violation {:.1e} m",
            formulation.name(),
            run.value("hit.violation")
        );
        assert!(
            off < 1e-7 && momenta < 1e-13 && apart < 2e-7,
            "{off:e}, {momenta:e}, {apart:e}"
        );
        assert!(run.value("hit.violation") < 1e-12);
    }
}

/// In flight, while the spool stops after the hit, and under tow.
#[test]
fn harpoon_restored_in_mid_run_continues_bit_by_bit() {
    let mut run = run_in(Formulation::Recursive, 1e-6);
    for (at, until) in [(1.0, 2.5), (1.7, 4.0), (30.0, 34.0)] {
        run.go(at);
        let mut other = Simulation::new(crate::plant(HARPOON)).expect("starts");
        other.initialise(0.0, Some(1e-6), 1e12).expect("a tolerance");
        other.state.clone_from(&run.simulation.state);
        other.advance(until, &mut Vec::new()).expect("runs");
        run.go(until);
        assert_eq!(other.state.x, run.simulation.state.x, "from {at} s");
        assert_eq!(run.value("hit.captured"), 1.0);
    }
}

/// The example: the peak of the first jerk is at most that of two point masses that become taut at the
/// speed `v` under the thrust, `T₀ + √(T₀² + v² k m)` with the share `T₀` of the debris (the debris turns
/// and the tether damps); the energy is balanced for 60 s, and the debris follows with the harpoon's
/// side in front.
#[test]
fn harpooned_debris_is_jerked_and_towed() {
    let mut run = run_in(Formulation::Recursive, 1e-6);
    run.look();
    let balance = |run: &Run| run.value("system.energy") - run.value("system.work");
    let (before, mut most, mut speed, mut facing) = (balance(&run), 0.0f64, 0.0, 1.0f64);
    for k in 1..=240 {
        run.go(0.25 * f64::from(k));
        let tension = run.value("line.tension_b");
        if (32..160).contains(&k) && most == 0.0 && tension < 1.0 {
            speed = run.value("servicer.v[1]") - run.value("debris.v[1]");
        }
        if (32..160).contains(&k) {
            most = most.larger(if tension < 1.0 { 0.0 } else { tension });
        }
        let arm = (run.vector("tip.r") - run.vector("debris.r")).normalize();
        let towards = (run.vector("launcher.r") - run.vector("tip.r")).normalize();
        facing = facing.min(arm.dot(&towards));
    }
    let (k, m) = (3e3 / run.value("line.unwound"), 1500.0 * 2003.8 / 3503.8);
    let share = 20.0 * m / 1500.0;
    let bound = share + (share * share + speed * speed * k * m).sqrt();
    let off = balance(&run) - before;
    println!(
        "taut at {speed:.4} m/s: {most:.1} N, at most {bound:.1} N; energy off by {off:.1e} J of {:.0} J (1e-3); \
         cosine of the arm and the tether at least {facing:.2}; debris at {:.3} m/s",
        run.value("system.work"),
        run.value("debris.v[1]")
    );
    assert!(most < bound && most > 0.9 * bound, "{most} N, {bound} N");
    assert!(off.abs() < 1e-3 * run.value("system.work").abs() && facing > 0.0 && run.value("debris.v[1]") > 0.2);
}

/// Ends of a tether that cannot be captured, and others.
#[test]
fn errors_of_the_harpoon_name_the_field() {
    let _recording = messages::of_this_test();
    for (from, to, place) in [
        ("a = \"tip\"", "a = \"line\"", "contact.hit.a"),
        ("a = \"tip\"", "a = \"line_mass1\"", "contact.hit.a"),
        ("b = \"debris\"", "b = \"line_mass4\"", "contact.hit.b"),
        ("a = \"spool\"", "a = \"spol\"", "tether.line.a"),
        ("law = \"capture_grasp\"", "law = \"capture_net\"", "contact.hit.law"),
        (
            "law = \"capture_grasp\"",
            "law = \"capture_grasp\"\ne = 0.5",
            "contact.hit.e",
        ),
    ] {
        assert!(HARPOON.contains(from), "{from}");
        match Model::read(&HARPOON.replace(from, to), Path::new(".")) {
            Err(grapple::Error::Spec(problems)) => {
                assert_eq!(problems[0].at.join("."), place, "{to}");
                messages::record(&problems[0]);
            }
            other => panic!("{to}: {:?}", other.map(|model| model.spec.name)),
        }
    }
}
