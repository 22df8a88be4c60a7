//! A flexible link compared with a chain of rigid segments and springs.

use super::{KLAK, TWO_LINK};
use crate::numbers::distance;
use crate::run::Run;
use std::fmt::Write;

const FREQUENCY: f64 = 5.0; // Hz, of the forearm clamped
const DAMPING_RATIO: f64 = 0.03; // of the first mode

/// Returns the forearm's stiffness, `ω = β₁² √(EI/(m L³))` with m = 1 kg and L = 1 m.
fn bending_stiffness() -> f64 {
    let omega = 2.0 * std::f64::consts::PI * FREQUENCY;
    (omega / super::cantilever_roots(1)[0].powi(2)).powi(2)
}

/// Returns the material's retardation time λ: with the moment `EI (κ + λ κ̇)` the damping ratio is
/// proportional to the frequency.
fn retardation() -> f64 {
    2.0 * DAMPING_RATIO / (2.0 * std::f64::consts::PI * FREQUENCY)
}

/// Returns the spacecraft with `n` bending modes in its plane, with material damping.
fn modal(n: usize) -> String {
    let roots = super::cantilever_roots(n);
    let ratios: Vec<f64> = roots.iter().map(|b| DAMPING_RATIO * (b / roots[0]).powi(2)).collect();
    let text = KLAK
        .replace(
            "bending = 1                      # modes in each plane\ndamping_ratio = 0.03\n",
            &format!("bending_y = {n}\ndamping_ratio = {ratios:?}\n"),
        )
        .replace("stiffening = false", "stiffening = true");
    assert_ne!(text, KLAK);
    text
}

/// Returns the spacecraft with a forearm of `n` rigid rods: springs `EI/h` between the midpoints of
/// two, `2 EI/h` at the root, which has the forearm's inertia beyond that of a rod.
fn chain(n: usize) -> String {
    let (before, rest) = TWO_LINK.split_once("[body.forearm]").expect("a forearm");
    let (_, joints) = rest.split_once("[joint.shoulder]").expect("joints");
    let h = 1.0 / n as f64;
    let beyond = 0.1 - 1.0 / 12.0;
    let mut text = format!(
        "{before}[body.forearm]\nmass = 1e-12\ninertia = [{beyond}, {beyond}, {beyond}]\n[joint.shoulder]{}",
        joints.replace(
            "body = \"forearm\"\norigin = [1.0,",
            &format!("body = \"rod{n}\"\norigin = [{h},")
        )
    );
    for i in 1..=n {
        let stiffness = bending_stiffness() / if i == 1 { 0.5 * h } else { h };
        let parent = if i == 1 {
            "forearm".to_owned()
        } else {
            format!("rod{}", i - 1)
        };
        let inertia = h.powi(3) / 12.0;
        writeln!(
            text,
            "[body.rod{i}]\nmass = {h}\nmass_centre = [{}, 0.0, 0.0]\ninertia = [{inertia}, {inertia}, {inertia}]\n\
             [joint.hinge{i}]\ntype = \"revolute\"\nparent = \"{parent}\"\nchild = \"rod{i}\"\ninput = false\n\
             origin = [{}, 0.0, 0.0]\nspring = {{ stiffness = {stiffness} }}\ndamping = {}",
            0.5 * h,
            if i == 1 { 0.0 } else { h },
            stiffness * retardation(),
        )
        .expect("strings grow");
    }
    text
}

/// Returns the tip's position at each millisecond of 5 s.
fn tips(text: &str, tolerance: f64) -> Vec<[f64; 3]> {
    let mut run = Run::new(text, tolerance);
    let times = (1..=5000).map(|i| 1e-3 * f64::from(i));
    times
        .map(|t| run.go(t).values(["tip.r[1]", "tip.r[2]", "tip.r[3]"]))
        .collect()
}

/// Returns the largest distance of the tip from that of the rigid spacecraft, m, and its time, s.
fn furthest(text: &str, rigid: &[[f64; 3]]) -> (f64, f64) {
    let apart = tips(text, 1e-10)
        .into_iter()
        .zip(rigid)
        .map(|(bent, rigid)| distance(bent, *rigid));
    let apart = apart.enumerate().map(|(i, apart)| (apart, 1e-3 * (i + 1) as f64));
    apart.max_by(|a, b| a.0.total_cmp(&b.0)).expect("times")
}

/// The error of the chain is a series in even powers of the rods' length: after two steps of
/// Richardson's extrapolation it is less than the second correction. This is accurate enough to
/// show the foreshortening of the bent link, which changes the result by 1/600.
#[test]
fn a_chain_of_rigid_rods_converges_to_the_modal_link_with_second_order() {
    let rigid = tips(TWO_LINK, 1e-11);
    let furthest = |text: String| furthest(&text, &rigid);
    let (limit, at) = furthest(modal(6));
    let fewer = furthest(modal(4)).0;
    let without_foreshortening = furthest(modal(6).replace("stiffening = true", "stiffening = false")).0;
    let [coarse, middle, fine] = [3, 6, 12].map(|n| furthest(chain(n)));
    let order = ((middle.0 - coarse.0) / (fine.0 - middle.0)).log2();
    let second = |coarse: f64, fine: f64| fine + (fine - coarse) / 3.0;
    let (rough, better) = (second(coarse.0, middle.0), second(middle.0, fine.0));
    let step = (better - rough) / 15.0;
    let extrapolated = better + step;
    let mm = [
        coarse.0,
        middle.0,
        fine.0,
        better,
        extrapolated,
        fewer,
        limit,
        without_foreshortening,
    ]
    .map(|m| m * 1e3);
    println!("3, 6, 12 rods, extrapolated twice; 4, 6 modes, not drawn in: {mm:.6?} mm; order {order:.3}");
    assert!((order - 2.0).abs() < 0.1, "{order}");
    assert!((fine.1 - at).abs() < 1.1e-3, "{} s and {at} s", fine.1); // the same millisecond
    assert!((extrapolated - limit).abs() < step, "{mm:?}");
    assert!((without_foreshortening - limit).abs() > 10.0 * step, "{mm:?}");
    assert!(
        (without_foreshortening - 0.605e-3).abs() < 0.0006e-3,
        "the published 0.605 mm, of one mode"
    ); // its last digit
}
