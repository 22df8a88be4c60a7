//! Task-space control: frames that track their references on free-floating spacecraft.

pub mod flexible;
pub mod impedance;
pub mod lvlh;
mod momentum;
mod outside;
mod planar;
mod sampled;

use crate::numbers::Larger;
use crate::run::Run;
use grapple::Error;
use grapple::algebra::{Quaternion, Vec3};
use grapple::plant::{Mechanics, OperatingPoint};
use grapple::spec::Formulation;
use nalgebra::{DMatrix, DVector};
use std::fmt::Write;
use std::path::Path;

/// Axes of the seven joints of [`arm`], and their positions at the start, rad.
const JOINTS: [([f64; 3], f64); 7] = [
    ([0.0, 0.0, 1.0], 1.3),
    ([0.0, 1.0, 0.1], -0.9),
    ([1.0, 0.1, 0.0], -0.5),
    ([0.0, 1.0, 0.0], 1.4),
    ([1.0, 0.0, 0.2], 0.1),
    ([0.0, 1.0, 0.0], 1.2),
    ([1.0, 0.0, 0.0], 0.8),
];

/// Joints that a drive moves.
pub const DRIVEN: &str = "motion = \"prescribed\"";
/// Joints that motors move.
pub const FED: &str = "servo = { kp = 5.0, kd = 2.0, feed_forward = \"rigid\" }\nfriction = { coulomb = 0.3, slip = 0.05 }\n\
                   motor = { torque_limit = 200.0 }";

/// Returns a floating base with an arm of seven joints with the given `actuator`, at rest, and the
/// frame `tip`.
pub fn arm(actuator: &str) -> String {
    let mut text = "name = \"arm\"\n[body.base]\nmass = 100.0\nmass_centre = [0.05, -0.02, 0.1]\n\
                    inertia = [20.0, 22.0, 18.0, 0.4, -0.3, 0.2]\nstart = { attitude = [0.8, 0.36, -0.48, 0.0], position = [0.3, -0.2, 0.5] }\n"
        .to_owned();
    for (i, (axis, q)) in JOINTS.into_iter().enumerate() {
        let (parent, x) = match i {
            0 => ("base".to_owned(), 0.5),
            _ => (format!("link_{i}"), 0.6),
        };
        let n = i + 1;
        write!(
            text,
            "[body.link_{n}]\nmass = 4.0\nmass_centre = [0.3, 0.02, -0.01]\ninertia = [0.05, 0.2, 0.21, 0.01, 0.0, 0.0]\n\
             [joint.joint_{n}]\ntype = \"revolute\"\nparent = \"{parent}\"\nchild = \"link_{n}\"\norigin = [{x:?}, 0.0, 0.0]\n\
             axis = {axis:?}\nstart = {{ position = {q:?} }}\n{actuator}\n"
        )
        .expect("a text");
    }
    text + "[frame.tip]\nbody = \"link_7\"\norigin = [0.5, 0.0, 0.1]\nrpy_deg = [10.0, 20.0, 30.0]\n[solver]\nmethod = \"dop853\"\n"
}

/// Returns the names of the arm's joints, as items of a list.
fn names() -> String {
    let names: Vec<String> = (1..=7).map(|n| format!("\"joint_{n}\"")).collect();
    names.join(", ")
}

fn joints() -> String {
    format!("joints = [{}]\nkp = 2.0\nkd = 10.0\nlength = 2.0\n", names())
}

fn waypoint(time: f64, position: Vec3<f64>, attitude: Quaternion<f64>) -> String {
    format!(
        "[[task.reach.waypoint]]\ntime = {time:?}\nposition = {:?}\norientation = {:?}\n",
        position.as_slice(),
        attitude.to_array()
    )
}

/// Returns the task that moves `tip` from the pose `r`, `q` by `along` (m) and a rotation within 6
/// s, relative to a frame.
pub fn line(relative_to: &str, r: Vec3<f64>, q: Quaternion<f64>, along: Vec3<f64>) -> String {
    let turn = Quaternion::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.5);
    format!(
        "[task.reach]\nframe = \"tip\"\nrelative_to = \"{relative_to}\"\n{}{}{}",
        joints(),
        waypoint(0.5, r, q),
        waypoint(6.5, r + along, q * turn)
    )
}

fn run_in(formulation: Formulation, text: &str, tolerance: f64) -> Run {
    let mut run = Run::of(crate::plant_in(formulation, text, Path::new(".")), tolerance);
    run.look();
    run
}

/// Returns the arm with a straight line of its tip in the world.
pub fn reaching(actuator: &str, more: &str) -> String {
    let text = arm(actuator) + more;
    let start = run_in(Formulation::Recursive, &text, 1e-9);
    let (r, q) = (start.vector("tip.r"), start.attitude("tip"));
    text + &line("world", r, q, Vec3::new(-0.5, 0.3, 0.1))
}

/// Returns the largest error of the six components, m and rad.
fn error(run: &Run) -> f64 {
    (1..=6)
        .map(|i| run.value(&format!("reach.error[{i}]")).abs())
        .fold(0.0, f64::larger)
}

/// Angle between two attitudes, rad.
fn angle(a: Quaternion<f64>, b: Quaternion<f64>) -> f64 {
    grapple::algebra::log(a.conjugate() * b).norm()
}

/// The tool moves 0.6 m on a straight line and turns by 0.5 rad, by drives or by torques against
/// friction; the base turns as the momentum demands. Tolerances: those of the integration, and of
/// the joints' constraint violation in other than joint coordinates.
#[test]
fn tool_of_a_free_floating_arm_tracks_a_straight_line() {
    for actuator in [DRIVEN, FED] {
        let text = reaching(actuator, "");
        for formulation in Formulation::ALL {
            let (tolerance, part, most) = match formulation {
                Formulation::Recursive => (1e-13, 1e-12, 1e-12),
                _ => (1e-11, 1e-8, 1e-10),
            };
            let mut run = run_in(formulation, &text, tolerance);
            let start = run.attitude("base");
            let (mut worst, mut momentum, mut scale) = (0.0f64, 0.0f64, 0.0f64);
            for k in 1..=14 {
                run.go(0.5 * f64::from(k));
                worst = worst.larger(error(&run));
                let drift = run
                    .vector("system.momentum")
                    .norm()
                    .max(run.vector("system.angular_momentum").norm());
                momentum = momentum.larger(drift);
                scale = scale.larger(run.value("system.momentum_scale"));
            }
            let (turned, damping) = (angle(start, run.attitude("base")), run.value("reach.applied_damping"));
            println!(
                "{}: error {worst:.1e} ({most:.0e}), momentum {momentum:.1e}, base {turned:.2} rad",
                formulation.name()
            );
            assert!(worst < most && turned > 0.05 && damping == 0.0);
            assert!(momentum < part * scale, "{momentum:e} of {scale}");
        }
    }
}

/// The angular velocity of the base is `−A_b⁻¹ A_m q̇` of the momentum matrix, and the singular
/// value is that of the generalised Jacobian, both by [`Mechanics`]. The task's Jacobian, whose
/// columns are responses of the dynamics, and that of `[kinematics]`, from composite inertias, have
/// one singular value.
#[test]
fn base_turns_and_tool_moves_by_the_generalised_jacobian() {
    let hand = format!(
        "[kinematics.hand]\nframe = \"tip\"\njoints = [{}]\noutputs = [\"singular_value\"]\nlength = 2.0\n",
        names()
    );
    let mut run = Run::new(&reaching(DRIVEN, &hand), 1e-11);
    for t in [1.5, 3.0, 4.5] {
        run.go(t);
        let (model, x) = (run.model(), run.simulation.state.x.clone());
        let (nv, first) = (model.joint_rates().len(), model.rates().start);
        let mut mechanics = Mechanics::new(&model).expect("no ANCF beams");
        let tip = model.system().frame("tip").expect("a frame");
        let (mut A, mut J) = (vec![0.0; 6 * nv], vec![0.0; 6 * (nv - 6)]);
        let plant = &mut run.simulation.plant;
        mechanics.momentum_matrix(plant, &x, &mut A);
        mechanics
            .generalised_jacobian(plant, &x, tip, &mut J)
            .expect("it floats");
        let A = DMatrix::from_row_slice(6, nv, &A);
        let rates = DVector::from_column_slice(&x[first..first + nv]);
        let of_arm = A.columns(6, nv - 6) * rates.rows(6, nv - 6);
        let of_base = -A.columns(0, 6).into_owned().lu().solve(&of_arm).expect("inertia");
        let off = (of_base - rates.rows(0, 6)).norm() / rates.norm();
        // Translations count in units of 2 m.
        let scaled = DMatrix::from_fn(6, nv - 6, |i, k| J[i * (nv - 6) + k] / if i < 3 { 1.0 } else { 2.0 });
        let least = scaled.singular_values().min();
        let off_value = (run.value("reach.singular_value") / least - 1.0).abs();
        println!("t = {t}: base {off:.1e}, singular value {least:.3}, off by {off_value:.1e}");
        let off_output = (run.value("reach.singular_value") - run.value("hand.singular_value")).abs();
        assert!(off < 1e-12 && off_value < 1e-11 && off_output < 1e-12, "{off_output:e}");
    }
}

/// Outputs of Jacobians are those of [`Mechanics`], in all formulations.
#[test]
fn jacobians_are_those_of_the_mechanics() {
    let outputs =
        "outputs = [\"jacobian\", \"generalized_jacobian\", \"base_motion\", \"singular_value\", \"manipulability\"]";
    let more = format!(
        "[kinematics.hand]\nframe = \"tip\"\njoints = [{}]\n{outputs}\nlength = 2.0\n",
        names()
    );
    let mut expected: Option<Vec<f64>> = None;
    for formulation in Formulation::ALL {
        let run = run_in(formulation, &(arm(DRIVEN) + &more), 1e-9);
        let matrix =
            |field: &str| DMatrix::from_fn(6, 7, |i, k| run.value(&format!("hand.{field}[{},{}]", i + 1, k + 1)));
        let [fixed, floating, base] = ["jacobian", "generalized_jacobian", "base_motion"].map(matrix);
        if expected.is_none() {
            let (model, x) = (run.model(), run.simulation.state.x.clone());
            let mut mechanics = Mechanics::new(&model).expect("no ANCF beams");
            let tip = model.system().frame("tip").expect("a frame");
            let (mut J, mut generalised, mut A) = (vec![0.0; 6 * 13], vec![0.0; 6 * 7], vec![0.0; 6 * 13]);
            let mut plant = run.simulation.plant.clone();
            mechanics.frame_jacobian(&mut plant, &x, tip, &mut J);
            mechanics
                .generalised_jacobian(&mut plant, &x, tip, &mut generalised)
                .expect("it floats");
            mechanics.momentum_matrix(&mut plant, &x, &mut A);
            let (J, A) = (DMatrix::from_row_slice(6, 13, &J), DMatrix::from_row_slice(6, 13, &A));
            assert!((&fixed - J.columns(6, 7)).amax() < 1e-14);
            assert!((&floating - DMatrix::from_row_slice(6, 7, &generalised)).amax() < 1e-13);
            // Rates of the base are in its own axes.
            let R = run.attitude("base").rotation();
            let rates = DMatrix::from_fn(6, 7, |i, k| {
                if i < 3 {
                    R.tr_mul(&Vec3::from(base.fixed_view::<3, 1>(0, k)))[i]
                } else {
                    base[(i, k)]
                }
            });
            let momentum = A.columns(0, 6) * rates + A.columns(6, 7);
            println!("momentum {:.1e}", momentum.amax());
            assert!(momentum.amax() < 1e-12);
        }
        let scaled = DMatrix::from_fn(6, 7, |i, k| floating[(i, k)] / if i < 3 { 1.0 } else { 2.0 });
        let values = scaled.singular_values();
        assert!((run.value("hand.singular_value") - values.min()).abs() < 1e-13);
        assert!((run.value("hand.manipulability") / values.product() - 1.0).abs() < 1e-11);
        let all: Vec<f64> = [fixed, floating, base]
            .iter()
            .flat_map(|matrix| matrix.iter().copied().collect::<Vec<_>>())
            .collect();
        let first = expected.get_or_insert_with(|| all.clone());
        let off = all
            .iter()
            .zip(&*first)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::larger);
        assert!(off < 1e-13, "{}: {off:e}", formulation.name());
    }
}

/// Returns three reaction wheels on the base of [`arm`].
pub fn wheels() -> String {
    let axes = [("x", [1.0, 0.0, 0.2]), ("y", [0.0, 1.0, 0.0]), ("z", [0.0, 0.3, 1.0])];
    let wheel = |(name, axis): (&str, [f64; 3])| {
        format!(
            "[wheel.wheel_{name}]\nbody = \"base\"\naxis = {axis:?}\nmass = 2.0\ninertia = 0.05\ntorque_limit = 50.0\nrate_limit = 1e4\n"
        )
    };
    axes.map(wheel).concat()
}

/// A base with an attitude servo on wheels is held, and a target tumbles: the tool keeps a pose
/// relative to the target, and moves relative to the base.
#[test]
fn tool_tracks_a_tumbling_target_with_a_held_base() {
    let wheels = wheels();
    let held = |feed_forward: &str| {
        format!(
            "[body.base.attitude_servo]\nkp = 60.0\nkd = 80.0\n{feed_forward}wheels = [\"wheel_x\", \"wheel_y\", \"wheel_z\"]\n\
             [input]\n\"base.q_ref[1]\" = 0.8\n\"base.q_ref[2]\" = 0.36\n\"base.q_ref[3]\" = -0.48\n{wheels}\
             [body.target]\nmass = 20.0\ninertia = [2.0, 3.0, 4.0]\n\
             start = {{ position = [1.5, 1.0, 1.0], velocity = [0.01, 0.0, -0.02], angular_velocity = [0.02, -0.05, 0.03] }}\n\
             [measure.pose]\nfrom = \"target\"\nto = \"tip\"\n"
        )
    };
    for feed_forward in ["", "feed_forward = \"rigid\"\n"] {
        for relative_to in ["target", "base"] {
            let text =
                arm(FED) + &held(feed_forward).replace("from = \"target\"", &format!("from = \"{relative_to}\""));
            let start = run_in(Formulation::Recursive, &text, 1e-9);
            let (r, q) = (start.vector("pose.r"), start.attitude("pose"));
            let text = text + &line(relative_to, r, q, Vec3::new(-0.3, 0.2, 0.1));
            let mut run = run_in(Formulation::Recursive, &text, 1e-11);
            // The tool starts at rest, and the target does not.
            run.go(6.0);
            let mut worst = error(&run);
            for k in 1..=4 {
                worst = worst.larger(error(run.go(6.0 + 0.5 * f64::from(k))));
            }
            let turned = angle(start.attitude("base"), run.attitude("base"));
            // The initial error of the velocity relative to the target decays.
            let most = if relative_to == "target" {
                0.3 * f64::exp(-2.0 * 6.0)
            } else {
                1e-12
            };
            println!(
                "relative to {relative_to}, {feed_forward:?}: error {worst:.1e} ({most:.0e}), base {turned:.1e} rad"
            );
            assert!(worst < most);
            assert!(turned < if feed_forward.is_empty() { 0.1 } else { 1e-8 });
        }
    }
}

/// Returns a task that keeps the base's attitude, with the null-space rates of [`arm`] as signals.
pub fn still() -> String {
    let task = format!(
        "[task.still]\nframe = \"base\"\ncomponents = [\"rx\", \"ry\", \"rz\"]\nnull_rates = true\n{}\
         [[task.still.waypoint]]\ntime = 0.0\norientation = [0.8, 0.36, -0.48, 0.0]\n",
        joints()
    );
    let sine = |k: usize| {
        format!(
            "[signal.\"still.null_rate[{k}]\"]\ntype = \"sine\"\namplitude = 0.3\nfrequency = {:?}\nfrom_importer = false\n",
            0.05 * k as f64
        )
    };
    task + &(1..=7).map(sine).collect::<String>()
}

/// Null-space rates of the task that keeps the base's attitude move the arm and not the base.
#[test]
fn reaction_null_space_motion_leaves_the_base_at_rest() {
    for actuator in [DRIVEN, FED] {
        let mut run = run_in(Formulation::Recursive, &(arm(actuator) + &still()), 1e-11);
        let (start, mut turned, mut moved) = (run.attitude("base"), 0.0f64, 0.0f64);
        for k in 1..=10 {
            run.go(f64::from(k));
            turned = turned.larger(angle(start, run.attitude("base")));
            moved = moved.larger((run.value("joint_3.q") - JOINTS[2].1).abs());
        }
        println!("base {turned:.1e} rad (1e-12), joint 3 {moved:.2} rad");
        assert!(turned < 1e-12 && moved > 0.05);
    }
}

/// A state in mid-course continues with the same bits in a new plant: the workspace of tasks has no
/// memory.
#[test]
fn run_continues_from_its_state_in_a_new_plant() {
    let text = reaching(FED, "");
    let mut run = Run::new(&text, 1e-8);
    run.go(2.0);
    let mut other = Run::new(&text, 1e-8);
    other.simulation.state = run.simulation.state.clone();
    let bits = |run: &mut Run| {
        let x = &run.go(3.0).simulation.state.x;
        x.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(bits(&mut run), bits(&mut other));
}

/// Returns the part of an initial error, or of a step, that is left after the time `t` (s) with the
/// gains of [`joints`]: `ë + (kp + kd) ė + kp kd e = 0` from rest.
fn left(t: f64) -> f64 {
    let (kp, kd) = (2.0, 10.0);
    (kd * f64::exp(-kp * t) - kp * f64::exp(-kd * t)) / (kd - kp)
}

/// An attitude error of 0.2 rad and a position error of 0.05 m decay as the closed form in fixed
/// directions, while the reference turns about another axis and moves. Tolerance: that of the
/// integration.
#[test]
fn errors_decay_by_the_gains_while_the_reference_moves() {
    let text = arm(DRIVEN);
    let start = run_in(Formulation::Recursive, &text, 1e-9);
    let (r, q) = (start.vector("tip.r"), start.attitude("tip"));
    let off = [Vec3::new(0.0, 0.2, 0.0), Vec3::new(0.03, 0.0, -0.04)];
    let turn = Quaternion::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.5);
    let text = format!(
        "{text}[task.reach]\nframe = \"tip\"\n{}{}{}",
        joints(),
        waypoint(0.0, r + off[1], grapple::algebra::exp(off[0]) * q),
        waypoint(6.0, r + Vec3::new(-0.5, 0.3, 0.1), q * turn)
    );
    let mut run = run_in(Formulation::Recursive, &text, 1e-12);
    for t in [0.1, 0.5, 1.0, 1.5, 2.0, 3.0] {
        run.go(t);
        let expected = [off[1], off[0]].map(|off| off * left(t));
        let found = [1, 4].map(|first| Vec3::from_fn(|i, _| run.value(&format!("reach.error[{}]", first + i))));
        let off = (0..2).map(|k| (found[k] - expected[k]).norm()).fold(0.0, f64::larger);
        let damping = run.value("reach.applied_damping");
        println!("t = {t} s: off by {off:.1e}, damping {damping}");
        assert!(off < 1e-10 && damping == 0.0, "t = {t} s: {off:e}, damping {damping}");
    }
}

/// Two spacecraft with one task each. The second moves, turns and is accelerated by a thruster, and
/// prismatic joints keep its probe at rest in the world: the initial velocity `V` of the probe
/// gives an error of `−V (exp(−kp t) − exp(−kd t))/(kd − kp)`. Tolerance: that of the integration.
#[test]
fn tasks_of_two_spacecraft_are_independent() {
    let (at, v, w) = (
        Vec3::new(9.0, 0.0, 1.0),
        Vec3::new(0.02, -0.01, 0.03),
        Vec3::new(0.01, 0.02, -0.03),
    );
    let on_bus = Vec3::new(1.0, 0.3, -0.2);
    let mut bus = format!(
        "[body.bus]\nmass = 60.0\nmass_centre = [0.1, 0.0, 0.05]\ninertia = [9.0, 11.0, 8.0]\n\
         start = {{ position = {:?}, velocity = {:?}, angular_velocity = {:?} }}\n\
         [thruster.jet]\nframe = \"bus\"\ndirection = [0.5, 1.0, 0.2]\nthrust = 2.0\nthrottle = \"level\"\n\
         [input]\n\"jet.level\" = 1.0\n",
        at.as_slice(),
        v.as_slice(),
        w.as_slice()
    );
    let slides = [
        ("slide_x", "bus", "part_x", [1.0, 0.0, 0.0], on_bus),
        ("slide_y", "part_x", "part_y", [0.1, 1.0, 0.0], Vec3::zeros()),
        ("slide_z", "part_y", "probe", [0.0, 0.2, 1.0], Vec3::zeros()),
    ];
    for (name, parent, child, axis, origin) in slides {
        write!(
            bus,
            "[body.{child}]\nmass = 3.0\ninertia = [0.1, 0.1, 0.1]\n[joint.{name}]\ntype = \"prismatic\"\nparent = \"{parent}\"\n\
             child = \"{child}\"\norigin = {:?}\naxis = {axis:?}\n{DRIVEN}\n",
            origin.as_slice()
        )
        .expect("a text");
    }
    let hold = format!(
        "[task.hold]\nframe = \"probe\"\njoints = [\"slide_x\", \"slide_y\", \"slide_z\"]\ncomponents = [\"x\", \"y\", \"z\"]\n\
         kp = 2.0\nkd = 10.0\n[[task.hold.waypoint]]\ntime = 0.0\nposition = {:?}\n",
        (at + on_bus).as_slice()
    );
    let mut run = run_in(Formulation::Recursive, &(reaching(DRIVEN, &bus) + &hold), 1e-12);
    let velocity = v + w.cross(&on_bus);
    for t in [0.2, 0.5, 1.0, 2.0, 4.0] {
        run.go(t);
        let expected = velocity * ((-10.0 * t).exp() - (-2.0 * t).exp()) / 8.0;
        let off = (run.vector("hold.error") - expected).norm();
        let damping = run.value("hold.applied_damping");
        println!("t = {t} s: off by {off:.1e}, and {:.1e}", error(&run));
        assert!(
            off < 1e-10 && error(&run) < 1e-10 && damping == 0.0,
            "t = {t} s: {off:e}"
        );
    }
}

/// The attitude servo of the base, with feed-forward and nearly without gains, keeps it 3° off its
/// reference. The task computes with the base's own attitude. Tolerance: that of the integration.
#[test]
fn tool_tracks_a_line_with_a_base_off_its_reference() {
    let attitude = Quaternion::new(0.8, 0.36, -0.48, 0.0);
    let reference = attitude * Quaternion::from_axis_angle(Vec3::new(0.0, 0.6, 0.8), 3.0_f64.to_radians());
    let mut more = "[body.base.attitude_servo]\nkp = 1e-9\nkd = 1e-9\nfeed_forward = \"rigid\"\n\
                    wheels = [\"wheel_x\", \"wheel_y\", \"wheel_z\"]\n[input]\n"
        .to_owned();
    for (i, part) in reference.to_array().into_iter().enumerate() {
        writeln!(more, "\"base.q_ref[{}]\" = {part:?}", i + 1).expect("a text");
    }
    more += &wheels();
    let mut run = run_in(Formulation::Recursive, &reaching(FED, &more), 1e-11);
    let mut worst = error(&run);
    for k in 1..=14 {
        worst = worst.larger(error(run.go(0.5 * f64::from(k))));
    }
    let off = angle(reference, run.attitude("base")).to_degrees();
    println!("error {worst:.1e}, base {off:.4}° off");
    assert!(worst < 1e-9 && (off - 3.0).abs() < 1e-6, "{worst:e}, {off}°");
}

/// A joint whose servo is switched off in mid-course moves freely, and the other six keep the
/// position of the tool on its line. Tolerance: that of the integration.
#[test]
fn joint_that_is_switched_off_is_replaced_by_the_others() {
    let text = reaching(FED, "").replace(&joints(), &format!("{}components = [\"x\", \"y\", \"z\"]\n", joints()));
    let mut run = run_in(Formulation::Recursive, &text, 1e-11);
    run.go(2.0);
    run.set("joint_4.servo", 0.0);
    for k in 1..=5 {
        run.go(2.0 + 0.2 * f64::from(k));
        let error = (1..=3)
            .map(|i| run.value(&format!("reach.error[{i}]")).abs())
            .fold(0.0, f64::larger);
        let damping = run.value("reach.applied_damping");
        println!(
            "error {error:.1e}, damping {damping}, joint 4 {:.2} rad/s",
            run.value("joint_4.qd")
        );
        assert!(error < 1e-9 && damping == 0.0, "{error:e}, damping {damping}");
    }
}

/// A task sets references to the present state, so that the gains of its servos do not change a
/// bit, also with methods that take gains for stiffness and damping.
#[test]
fn gains_of_the_servos_of_a_task_have_no_effect() {
    let text = reaching(FED, "");
    for method in ["method = \"linearly_implicit\"\nstep = 0.01", "method = \"rosenbrock\""] {
        let text = text.replace("method = \"dop853\"", method);
        let bits = ["kp = 5.0, kd = 2.0", "kp = 0.0, kd = 0.0"].map(|gains| {
            let mut run = Run::new(&text.replace("kp = 5.0, kd = 2.0", gains), 1e-6);
            let x = &run.go(1.0).simulation.state.x;
            x.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
        });
        assert_eq!(bits[0], bits[1], "{method}");
    }
}

/// A task whose Jacobian is exactly zero, with a damping whose square is zero, stops with its name:
/// the tip is on the axis of the joint. With a larger damping the joint stays at rest.
#[test]
fn singular_position_without_damping_is_an_error_with_the_name_of_the_task() {
    let text = |damping: f64| {
        format!(
            "name = \"axis\"\n[body.arm]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n[joint.elbow]\ntype = \"revolute\"\n\
             parent = \"world\"\nchild = \"arm\"\n{DRIVEN}\n[frame.tip]\nbody = \"arm\"\norigin = [0.0, 0.0, 0.3]\n\
             [task.reach]\nframe = \"tip\"\njoints = [\"elbow\"]\ncomponents = [\"x\"]\nkp = 1.0\nkd = 5.0\n\
             damping = {damping:e}\n"
        )
    };
    let mut plant = crate::plant(&text(1e-200));
    let point = crate::duals::start(&mut plant);
    let at = OperatingPoint::new(0.0, &point.x, &point.u, &point.discrete);
    let found = plant.derivative(at, &mut vec![0.0; point.x.len()]);
    assert!(
        matches!(&found, Err(Error::SingularTask { task }) if task == "reach"),
        "{found:?}"
    );
    let mut run = Run::new(&text(1e-3), 1e-9);
    run.set("reach.r_ref[1]", 0.1);
    run.go(1.0);
    assert_eq!(
        run.values(["elbow.q", "reach.error[1]", "reach.singular_value"]),
        [0.0, 0.1, 0.0]
    );
}
