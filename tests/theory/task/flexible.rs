//! Tasks of an arm with flexible links, whose law is that of the rigid arm.

use super::{DRIVEN, JOINTS, angle, arm, error, line, run_in, still};
use crate::numbers::Larger;
use grapple::algebra::Vec3;
use grapple::spec::Formulation;
use std::fmt::Write;

/// Bending stiffnesses of the links, N·m²: the lowest frequencies are 68 and 135 rad/s.
const STIFFNESS: [f64; 2] = [4e4, 16e4];

/// Returns [`arm`] with an implicit method, for the fast modes.
fn flexible_arm() -> String {
    arm(DRIVEN).replace("dop853", "radau5")
}

/// Returns two flexible links of [`arm`] with the bending stiffness `EI`, N·m².
fn beams(EI: f64) -> String {
    let mut text = String::new();
    for link in ["link_2", "link_3"] {
        write!(
            text,
            "[body.{link}.beam]\nlength = 0.6\nmass_per_length = 6.667\npolar_inertia_per_length = 0.05\n\
             EI = {EI:?}\nGJ = {:?}\nbending = 2\ntorsion = 1\ndamping_ratio = 0.02\n",
            0.8 * EI
        )
        .expect("a text");
    }
    text
}

/// The tool departs from its line by the deflection of the links, which is inversely proportional
/// to their stiffness. At the last waypoint only vibration is left.
#[test]
fn error_of_a_flexible_arm_is_its_deflection() {
    let text = flexible_arm();
    let start = run_in(Formulation::Recursive, &text, 1e-9);
    let (r, q) = (start.vector("tip.r"), start.attitude("tip"));
    let text = text + &line("world", r, q, Vec3::new(-0.5, 0.3, 0.1));
    let [soft, stiff] = STIFFNESS.map(|EI| {
        let mut run = run_in(Formulation::Recursive, &(text.clone() + &beams(EI)), 1e-8);
        let mut worst = 0.0f64;
        for k in 1..=65 {
            worst = worst.larger(error(run.go(0.1 * f64::from(k))));
        }
        let last = error(run.go(12.0));
        let turned = angle(start.attitude("base"), run.attitude("base"));
        println!("EI = {EI:.0e} N m2: error {worst:.2e}, at the end {last:.1e}, base {turned:.3} rad");
        assert!(last < 0.05 * worst && turned > 0.05);
        worst
    });
    assert!(soft > 1e-6 && (soft / stiff - 4.0).abs() < 0.4, "{}", soft / stiff);
}

/// Motion in the reaction null space of the rigid arm turns the base of a flexible arm by the
/// reaction to deflections, which are inversely proportional to the stiffness. If the law read the
/// rates of the vibrating base, the motion would be unstable.
#[test]
fn reaction_null_space_motion_of_a_flexible_arm_turns_the_base_by_its_deflection() {
    let text = flexible_arm() + &still();
    let [soft, stiff] = STIFFNESS.map(|EI| {
        let mut run = run_in(Formulation::Recursive, &(text.clone() + &beams(EI)), 1e-8);
        let (start, mut turned, mut moved) = (run.attitude("base"), 0.0f64, 0.0f64);
        for k in 1..=100 {
            run.go(0.1 * f64::from(k));
            turned = turned.larger(angle(start, run.attitude("base")));
            moved = moved.larger((run.value("joint_3.q") - JOINTS[2].1).abs());
        }
        println!("EI = {EI:.0e} N m2: base {turned:.2e} rad, joint 3 {moved:.2} rad");
        assert!(moved > 0.05);
        turned
    });
    assert!(soft > 1e-6 && (soft / stiff - 4.0).abs() < 0.8, "{}", soft / stiff);
}
