//! Sampled laws of tasks.

use super::impedance::{arm_at_origin, held, normal, touch};
use super::{DRIVEN, FED, error, reaching, run_in};
use crate::numbers::Larger;
use crate::run::Run;
use grapple::spec::Formulation;

/// Gains (1/s), virtual mass (kg), stiffness of the wall (N/m), and depth behind it (m) of
/// [`press`].
const GAINS: [f64; 2] = [2.0, 10.0];
const MASS: f64 = 5.0;
const WALL: f64 = 800.0;
const DEPTH: f64 = 0.05;

/// Returns a slide, at rest at the surface of a wall, that is drawn behind it by the law with the
/// time `period` (s) between samples.
fn press(period: f64) -> Run {
    let [kp, kd] = GAINS;
    let text = format!(
        "name = \"press\"\n[body.slide]\nmass = 2.0\ninertia = [0.1, 0.1, 0.1]\n[joint.rail]\ntype = \"prismatic\"\n\
         parent = \"world\"\nchild = \"slide\"\naxis = [1.0, 0.0, 0.0]\nmotion = \"prescribed\"\n\
         [contact.touch]\na = \"slide\"\nb = \"world\"\nsurface = \"plane\"\nnormal = [-1.0, 0.0, 0.0]\n\
         law = \"compliant\"\nforce = {WALL:?}\ndepth = 1.0\nexponent = 1\n\
         [task.press]\nframe = \"slide\"\njoints = [\"rail\"]\ncomponents = [\"x\"]\nkp = {kp:?}\nkd = {kd:?}\n\
         mass = {MASS:?}\ncontacts = [\"touch\"]\nsample_time = {period:?}\n\
         [[task.press.waypoint]]\ntime = 0.0\nposition = [{DEPTH:?}, 0.0, 0.0]\n[solver]\nmethod = \"dop853\"\n"
    );
    Run::new(&text, 1e-10)
}

/// A slide that presses on a wall with the sampled law: the position obeys the recurrence
/// `x⁺ = x + v T + ½ a T²`, `v⁺ = v + a T` with `a = kp kd (d − x) − (kp + kd) v − k x/M`, which
/// holds exactly between the samples too. Tolerance: round-off.
#[test]
fn sampled_impedance_is_a_recurrence() {
    let ([kp, kd], period) = (GAINS, 0.02);
    let mut run = press(period);
    let ([mut x, mut v], mut worst) = ([0.0f64; 2], 0.0f64);
    for sample in 0..60 {
        let a = kp * kd * (DEPTH - x) - (kp + kd) * v - WALL * x.max(0.0) / MASS;
        for part in [0.3, 1.0] {
            let t = part * period;
            run.go(period * f64::from(sample) + t);
            let expected = [x + v * t + 0.5 * a * t * t, v + a * t];
            let found = run.values(["rail.q", "rail.qd"]);
            worst = (0..2).fold(worst, |worst, i| worst.larger((found[i] - expected[i]).abs()));
            // At the end the error is still that of the last sample.
            assert!((run.value("press.error[1]") - (DEPTH - x)).abs() < 1e-12, "t = {t} s");
        }
        [x, v] = [x + v * period + 0.5 * a * period * period, v + a * period];
    }
    println!("off by {worst:.1e}, at the end {x:.4} m");
    assert!(worst < 1e-13, "{worst:e}");
}

/// The torque of feed-forward jumps at a sample. The motor's limit of 1 N holds directly after it:
/// after the reference has jumped, the law demands 40 N, and little once the slide is close to it.
#[test]
fn motor_stays_within_its_limit_after_a_sample() {
    let text = "name = \"slide\"\n[body.slide]\nmass = 2.0\ninertia = [0.1, 0.1, 0.1]\n[joint.rail]\n\
                type = \"prismatic\"\nparent = \"world\"\nchild = \"slide\"\naxis = [1.0, 0.0, 0.0]\n\
                servo = { kp = 0.0, kd = 0.0, feed_forward = \"rigid\" }\nmotor = { torque_limit = 1.0 }\n\
                [task.move]\nframe = \"slide\"\njoints = [\"rail\"]\ncomponents = [\"x\"]\nkp = 2.0\nkd = 10.0\n\
                sample_time = 0.5\n";
    let mut run = Run::new(text, 1e-8);
    run.go(0.7);
    run.set("move.r_ref[1]", 1.0);
    let mut largest = 0.0f64;
    for k in 8..=60 {
        let t = 0.1 * f64::from(k);
        largest = largest.larger(run.go(t - 1e-3).value("rail.motor_torque").abs());
        largest = largest.larger(run.go(t).value("rail.motor_torque").abs());
    }
    println!("at most {largest} N");
    assert!((largest - 1.0).abs() < 1e-12, "{largest}");
}

/// Contact of the sampled law is stable up to `T = 2 (kp + kd)/(kp kd + k/M)`, where the roots of
/// `z² − (2 − cT − ω²T²/2) z + 1 − cT + ω²T²/2` with `c = kp + kd` and `ω² = kp kd + k/M` are on
/// the unit circle.
#[test]
fn sampled_contact_is_stable_up_to_the_closed_form() {
    let [kp, kd] = GAINS;
    let stiffness = kp * kd + WALL / MASS;
    let longest = 2.0 * (kp + kd) / stiffness;
    assert!(longest * (kp + kd) < 2.0);
    let end = kp * kd * DEPTH / stiffness;
    for (part, is_stable) in [(0.95, true), (1.05, false)] {
        let period = part * longest;
        let mut run = press(period);
        let mut worst = 0.0f64;
        for sample in 300..400 {
            let x = run.go(period * f64::from(sample)).value("rail.q");
            worst = worst.larger((x / end - 1.0).abs());
        }
        println!("T = {period:.4} s: off the end by {worst:.1e} of it");
        assert!(if is_stable { worst < 1e-3 } else { worst > 0.5 }, "{worst:e}");
    }
}

/// The largest error of a free-floating arm's tool on its line is proportional to the time between
/// samples, with drives and with motors.
#[test]
fn tool_tracks_a_line_with_sampled_accelerations() {
    for actuator in [DRIVEN, FED] {
        let errors = [0.02, 0.01].map(|period: f64| {
            let task = format!("[task.reach]\nsample_time = {period:?}");
            let text = reaching(actuator, "").replace("[task.reach]", &task);
            let mut run = run_in(Formulation::Recursive, &text, 1e-11);
            let mut worst = 0.0f64;
            for k in 1..=28 {
                worst = worst.larger(error(run.go(0.25 * f64::from(k))));
            }
            assert_eq!(run.value("reach.applied_damping"), 0.0);
            worst
        });
        let [long, short] = errors;
        println!("largest errors {long:.2e} and {short:.2e}");
        let ratio = errors[0] / errors[1];
        assert!(errors[0] < 2e-3 && (ratio - 2.0).abs() < 0.1, "{errors:?}");
    }
}

/// A state between two samples continues with the same bits in a new plant, from its saved numbers.
#[test]
fn run_continues_between_samples_in_a_new_plant() {
    let text = reaching(FED, "").replace("[task.reach]", "[task.reach]\nsample_time = 0.03");
    let mut run = Run::new(&text, 1e-8);
    run.go(1.0);
    let mut other = Run::new(&text, 1e-8);
    other.simulation.state = run.simulation.state.clone();
    let bits = |run: &mut Run| {
        let x = &run.go(1.5).simulation.state.x;
        x.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(bits(&mut run), bits(&mut other));
}

/// A force that the importer measures and sets at each sample has the effect of a measured contact:
/// the tool of a free-floating arm with motors presses on a wall. Tolerance: round-off, amplified by
/// the stiffness of the contact.
#[test]
fn measured_force_as_input_is_that_of_the_contact() {
    let (text, q) = arm_at_origin(FED, false);
    let (period, contacts) = (0.004, "contacts = [\"touch\"]");
    let run = |source: &str| {
        let task = held("world", normal() * -0.02, q);
        let task = task.replace(contacts, &format!("{source}\nsample_time = {period:?}"));
        run_in(Formulation::Recursive, &(text.clone() + &touch("world") + &task), 1e-12)
    };
    let (mut sensed, mut set) = (run(contacts), run(""));
    let mut off = 0.0f64;
    for sample in 1..=100 {
        let in_tip = set.attitude("tip").conjugate().rotate(set.vector("touch.force"));
        (0..3).for_each(|i| set.set(&format!("reach.f[{}]", i + 1), in_tip[i]));
        let [a, b] = [&mut sensed, &mut set].map(|run| run.go(period * f64::from(sample)).vector("tip.r"));
        off = off.larger((a - b).norm());
    }
    let force = set.vector("touch.force").norm();
    println!("off by {off:.1e} m at {force:.2} N");
    assert!(off < 1e-10 && force > 1.0, "{off:e}, {force}");
}
