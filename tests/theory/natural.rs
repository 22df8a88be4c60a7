//! The formulation in natural coordinates, whose states are directors and positions of the bodies:
//! constraints are satisfied, and violations decay.

use crate::numbers::Larger;
use crate::quaternion::values_at_random;
use crate::random_tree::random_craft;
use crate::run::Run;
use grapple::algebra::{Mat3, Vec3};
use grapple::spec::Formulation;
use std::path::Path;

const SPINNING: &str = "name = \"hub\"\n[body.hub]\nmass = 2.0\nmass_centre = [0.1, -0.2, 0.3]\ninertia = [0.3, 0.5, 0.7]\n\
                        start = { angular_velocity = [1.5, 0.1, -0.6], velocity = [0.3, 0.1, 0.2], rpy_deg = [20.0, 50.0, -70.0] }\n\
                        [solver]\nmethod = \"dop853\"\n";

fn run_in(formulation: Formulation, text: &str) -> Run {
    Run::of(crate::plant_in(formulation, text, Path::new(".")), 1e-12)
}

fn axes(run: &Run, name: &str, rate: &str) -> Mat3<f64> {
    Mat3::from_columns(&[1, 2, 3].map(|k| run.vector(&format!("{name}.d{k}{rate}"))))
}

/// The distortion `s` of directors that are not orthonormal (a triangular matrix in body axes, with
/// rates) decays in each element as `(s₀ + (ṡ₀ + 10 s₀) t) e^(−10 t)`, without effect on the
/// motion.
#[test]
fn distortion_decays_without_effect_on_the_motion() {
    // Distorted directors have an additional energy, which decays: the monitor is disabled.
    let text = format!("{SPINNING}[monitor]\nenergy_balance = 1e9\n");
    let (mut right, mut put_off) = (
        run_in(Formulation::Natural, SPINNING),
        run_in(Formulation::Natural, &text),
    );
    let s_0 = Mat3::new(0.1, 0.05, -0.08, 0.0, -0.06, 0.04, 0.0, 0.0, 0.03);
    let s_rate_0 = Mat3::new(0.3, -0.2, 0.1, 0.0, 0.2, 0.3, 0.0, 0.0, -0.1);
    right.look();
    let (R, W) = (axes(&right, "hub", ""), axes(&right, "hub", "_rate"));
    // d = R (1 + s); its rate consists of the rotation of R and of R ṡ.
    let (d, d_rate) = (R + R * s_0, W + W * s_0 + R * s_rate_0);
    for k in 0..3 {
        for i in 0..3 {
            put_off.set_state(&format!("hub.d{}[{}]", k + 1, i + 1), d[(i, k)]);
            put_off.set_state(&format!("hub.d{}_rate[{}]", k + 1, i + 1), d_rate[(i, k)]);
        }
    }
    let mut worst = [0.0f64; 3];
    for j in 1..=30 {
        let t = 0.1 * f64::from(j);
        right.go(t);
        put_off.go(t);
        let s = axes(&right, "hub", "").transpose() * axes(&put_off, "hub", "") - Mat3::identity();
        let expected = (s_0 + (s_rate_0 + s_0 * 10.0) * t) * (-10.0 * t).exp();
        worst[0] = worst[0].larger((s - expected).norm());
        worst[1] = worst[1].larger((put_off.value("system.distortion") - expected.norm()).abs());
        let moved = |run: &Run| (run.attitude("hub"), run.vector("hub.w"), run.vector("hub.r"));
        let (there, here) = (moved(&right), moved(&put_off));
        let turned = (there.0.conjugate() * here.0).rotation() - Mat3::identity();
        worst[2] = worst[2].larger(turned.norm() + (there.1 - here.1).norm() + (there.2 - here.2).norm());
    }
    println!(
        "distortion {:.1e}, as told {:.1e} (1e-10), motion {:.1e} (1e-10)",
        worst[0], worst[1], worst[2]
    );
    // The tolerance of 1e-12, accumulated over the steps.
    assert!(worst.iter().all(|&off| off < 1e-10), "{worst:?}");
}

/// Distortion of a link that has joints with torques: only the directors of the forearm are
/// distorted.
#[test]
fn distortion_of_a_link_has_no_effect_on_the_joints() {
    // Distorted directors have an additional energy, which decays: the monitor is disabled.
    let text = include_str!("../../examples/two_link.toml").to_owned() + "[monitor]\nenergy_balance = 1e9\n";
    let mut runs = [(); 2].map(|()| run_in(Formulation::Natural, &text));
    let name = runs[0]
        .simulation
        .plant
        .model()
        .system()
        .bodies
        .last()
        .expect("links")
        .name
        .clone();
    for (k, i, off) in [(1, 1, 0.05), (2, 1, -0.04), (3, 2, 0.06)] {
        let state = format!("{name}.d{k}[{i}]");
        runs[1].look();
        let R = axes(&runs[1], &name, "");
        // The change is along the body's own axis `i`, expressed in world axes.
        for axis in 0..3 {
            let state = format!("{name}.d{k}[{}]", axis + 1);
            let value = runs[1].value(&state) + off * R[(axis, i - 1)];
            runs[1].set_state(&state, value);
        }
        assert!(i <= k, "{state} would turn the body");
    }
    for run in &mut runs {
        run.go(0.4);
    }
    let left = runs[1].value("system.distortion");
    let mut worst = 0.0f64;
    // Energy and momentum are computed from the directors' rates, which include the distortion, so
    // they are not compared.
    let outputs = runs[0].simulation.plant.model().outputs.iter();
    for name in outputs
        .map(|output| &output.quantity.name)
        .filter(|name| !name.starts_with("system."))
    {
        worst = worst.larger((runs[0].value(name) - runs[1].value(name)).abs());
    }
    println!("distortion still {left:.1e}, outputs {worst:.1e} apart (1e-9)");
    // The runs have the tolerance 1e-12 and different steps.
    assert!(left > 1e-3 && worst < 1e-9);
}

/// Runs of random spacecraft with every type of joint in natural and in minimal coordinates: common
/// quantities agree at the end, and directors stay orthonormal.
#[test]
fn random_spacecraft_agree_with_the_recursive_formulation() {
    let mut worst = [0.0f64; 2];
    for seed in 0..8 {
        let text = random_craft(seed, 6, 1.0);
        let [mut recursive, mut natural] = [Formulation::Recursive, Formulation::Natural].map(|f| {
            let mut plant = crate::plant_in(f, &text, Path::new("."));
            // Sets random starts, the same in both.
            values_at_random(&mut plant, seed);
            Run::of(plant, 1e-12)
        });
        for run in [&mut recursive, &mut natural] {
            run.go(1.0);
        }
        let bodies = &natural.simulation.plant.model().system().bodies;
        for body in bodies.iter().filter(|body| body.joint.written) {
            let name = &body.name;
            let off = |field: &str| {
                let name = format!("{name}.{field}");
                (recursive.vector(&name) - natural.vector(&name)).norm() / recursive.vector(&name).norm().max(1.0)
            };
            worst[0] = worst[0].larger(off("r").larger(off("v")).larger(off("w")));
            worst[0] = worst[0].larger((recursive.attitude(name).rotation() - axes(&natural, name, "")).norm());
            let w: Vec3<f64> = recursive.attitude(name).rotate(recursive.vector(&format!("{name}.w")));
            let rates = w.cross_matrix() * axes(&natural, name, "");
            worst[0] = worst[0].larger((rates - axes(&natural, name, "_rate")).norm() / w.norm().max(1.0));
        }
        worst[1] = worst[1].larger(natural.value("system.distortion"));
    }
    println!(
        "states {:.1e} off (1e-11), distortion {:.1e} (1e-13)",
        worst[0], worst[1]
    );
    // The tolerance of 1e-12, and its effect on orthonormality.
    assert!(worst[0] < 1e-11 && worst[1] < 1e-13);
}
