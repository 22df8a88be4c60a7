//! Tasks of an arm with flexible links, whose law is that of the rigid arm.

use super::{DRIVEN, JOINTS, angle, arm, error, line, run_in, still};
use crate::linearisation::at_start;
use crate::numbers::Larger;
use grapple::algebra::Vec3;
use grapple::spec::Formulation;
use nalgebra::ComplexField;
use std::f64::consts::TAU;
use std::fmt::Write;

/// Bending stiffnesses of the links, N·m²: the lowest frequencies are 68 and 135 rad/s.
const STIFFNESS: [f64; 2] = [4e4, 16e4];

/// Returns [`arm`] with an implicit method, for the fast modes.
fn flexible_arm() -> String {
    arm(DRIVEN).replace("dop853", "radau5")
}

/// Returns two flexible links of [`arm`] with the bending stiffness `EI`, N·m².
pub fn beams(EI: f64) -> String {
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

/// Returns a floating base with a rigid and a flexible link in a plane, whose tip moves along
/// two sides of a triangle, 0.07 m each within 2.5 s.
fn soft_arm(shaper: &str) -> String {
    let mut text =
        "name = \"soft\"\n[body.base]\nmass = 1000.0\ninertia = [500.0, 500.0, 500.0]\n[body.upper]\nmass = 5.0\n\
                    mass_centre = [0.5, 0.0, 0.0]\ninertia = [0.1, 0.5, 0.5]\n[body.boom.beam]\nlength = 2.0\n\
                    mass_per_length = 2.0\nEI = 400.0\npolar_inertia_per_length = 0.01\nbending_y = 1\n\
                    damping_ratio = 0.01\n[frame.tip]\nbody = \"boom\"\norigin = [2.0, 0.0, 0.0]\n"
            .to_owned();
    for (joint, parent, child, x, q) in [
        ("shoulder", "base", "upper", 0.5, 0.4),
        ("elbow", "upper", "boom", 1.0, 0.9),
    ] {
        write!(
            text,
            "[joint.{joint}]\ntype = \"revolute\"\nparent = \"{parent}\"\nchild = \"{child}\"\norigin = [{x:?}, 0.0, 0.0]\n\
             axis = [0.0, 0.0, 1.0]\nstart = {{ position = {q:?} }}\n{DRIVEN}\n"
        )
        .expect("a text");
    }
    text += "[solver]\nmethod = \"dop853\"\n";
    let start = run_in(Formulation::Recursive, &text, 1e-9).vector("tip.r");
    write!(
        text,
        "[task.reach]\nframe = \"tip\"\njoints = [\"shoulder\", \"elbow\"]\ncomponents = [\"x\", \"y\"]\nkp = 0.2\nkd = 1.0\n\
         length = 3.0\n{shaper}"
    )
    .expect("a text");
    for (time, x, y) in [(0.0, 0.0, 0.0), (2.5, -0.06, 0.03), (5.0, -0.03, 0.09)] {
        let position = [start.x + x, start.y + y, 0.0];
        write!(
            text,
            "[[task.reach.waypoint]]\ntime = {time:?}\nposition = {position:?}\n"
        )
        .expect("a text");
    }
    text
}

/// A path that is shaped for the vibration of the flexible arm passes its waypoints at rest and at
/// their times, and leaves less vibration; with ZVD also with errors of the frequency of 10 %.
/// Without an error, what is left is due to the change of the frequency along the path.
#[test]
fn shaped_path_of_a_flexible_arm_leaves_less_vibration() {
    let linear = at_start(&mut crate::plant(&soft_arm("")));
    let eigenvalues = linear.A.complex_eigenvalues();
    let vibrates = eigenvalues.iter().filter(|value| value.im > 1.0);
    let mode = vibrates.min_by(|a, b| a.im.total_cmp(&b.im)).expect("a vibration");
    let (frequency, ratio) = (mode.modulus() / TAU, -mode.re / mode.modulus());
    println!("mode: {frequency:.4} Hz, damping ratio {ratio:.4}");
    let none = vibration_after_path("");
    let left = |kind: &str, factor: f64| {
        let frequency = factor * frequency;
        let shaper =
            format!("shaper = [{{ type = \"{kind}\", frequency = {frequency:?}, damping_ratio = {ratio:?} }}]\n");
        let part = vibration_after_path(&shaper) / none;
        println!("{kind} for {frequency:.3} Hz: {part:.4} of {none:.1e} m√kg/s");
        part
    };
    assert!(none > 5e-4, "{none:e}");
    assert!(left("zv", 1.0) < 0.02 && left("zvd", 1.0) < 0.02);
    assert!(left("zvd", 0.9) < 0.1 && left("zvd", 1.1) < 0.1);
}

/// Returns the largest rate of the amplitude of [`soft_arm`]'s mode after the last waypoint,
/// m·√kg/s, and checks that the path rests at its waypoints, to round-off.
fn vibration_after_path(shaper: &str) -> f64 {
    let mut run = run_in(Formulation::Recursive, &soft_arm(shaper), 1e-10);
    let mut vibration = 0.0f64;
    for k in 1..=150 {
        let [s, rate] = run.go(0.05 * f64::from(k)).values(["reach.s", "reach.s_rate"]);
        assert!(s < 2.0 + 1e-14, "{s}");
        if k % 50 == 0 {
            let end = f64::from(k / 50).min(2.0);
            assert!((s - end).abs() < 1e-14 && rate.abs() < 1e-14, "{k}: {s}, {rate}");
        }
        if k > 100 {
            vibration = vibration.larger(run.value("boom.etad[1]").abs());
        }
    }
    vibration
}

/// With gains that are large for the frequency of the arm, its vibration grows from a deviation of
/// 1e-8 rad by the real part of the eigenvalue. Tolerance: the slower motions of the arm, 4e-5.
#[test]
fn vibration_grows_by_the_eigenvalue_if_the_gains_are_large() {
    let text = soft_arm("").replace("kp = 0.2\nkd = 1.0", "kp = 20.0\nkd = 100.0");
    let moves = text.match_indices("[[task").nth(1).expect("waypoints").0;
    let text = text[..moves].replace("position = 0.9 ", "position = 0.90000001 ");
    let eigenvalues = at_start(&mut crate::plant(&text)).A.complex_eigenvalues();
    let vibrates = eigenvalues.iter().filter(|value| value.im > 1.0);
    let mode = vibrates.max_by(|a, b| a.re.total_cmp(&b.re)).expect("a vibration");
    let (mut run, period) = (run_in(Formulation::Recursive, &text, 1e-12), TAU / mode.im);
    let begin = run.go(0.5).value("boom.eta[1]");
    let end = run.go(0.5 + 2.0 * period).value("boom.eta[1]");
    let growth = (end / begin).ln() / (2.0 * period);
    println!("eigenvalue {mode:.4} 1/s, growth {growth:.4} 1/s, to {end:.1e} m√kg");
    assert!(mode.re > 1.0 && end.abs() < 1e-3 && end / begin > 10.0);
    assert!((growth / mode.re - 1.0).abs() < 1e-4);
}
