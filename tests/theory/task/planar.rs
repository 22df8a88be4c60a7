//! A planar arm of two links on a floating base, whose generalised Jacobian has a closed form.

use crate::numbers::Larger;
use crate::run::Run;
use grapple::plant::{Jacobians, LANES, OperatingPoint, Tangent};
use nalgebra::{Matrix2, Vector2};
use std::fmt::Write;

/// Masses, inertias (about the mass centres) and lengths of the planar arm: the base, whose joint
/// is at the distance `r₀` of its mass centre, and two links with the mass centre at `l` from the
/// inboard and `r` from the outboard joint.
const MASS: [f64; 3] = [40.0, 4.0, 3.0];
const INERTIA: [f64; 3] = [6.667, 0.333, 0.25];
const INBOARD: [f64; 3] = [0.0, 0.5, 0.5];
const OUTBOARD: [f64; 3] = [0.5, 0.5, 0.5];

/// Returns the planar two-link arm on a floating base, after the example of E. Papadopoulos and
/// S. Dubowsky (*J. Dynamic Systems, Measurement, and Control* 115 (1993) 44–52).
fn planar(start: [f64; 2], waypoints: [[f64; 2]; 2], more: &str) -> String {
    let mut text = "name = \"planar\"\n".to_owned();
    for (i, name) in ["base", "upper", "lower"].into_iter().enumerate() {
        let centre = INBOARD[i];
        write!(
            text,
            "[body.{name}]\nmass = {:?}\nmass_centre = [{centre:?}, 0.0, 0.0]\ninertia = [4.0, 4.0, {:?}]\n",
            MASS[i], INERTIA[i]
        )
        .expect("a text");
    }
    let joints = [
        ("shoulder", "base", "upper", OUTBOARD[0]),
        ("elbow", "upper", "lower", INBOARD[1] + OUTBOARD[1]),
    ];
    for ((name, parent, child, x), q) in joints.into_iter().zip(start) {
        write!(
            text,
            "[joint.{name}]\ntype = \"revolute\"\nmotion = \"prescribed\"\nparent = \"{parent}\"\nchild = \"{child}\"\n\
             origin = [{x:?}, 0.0, 0.0]\nstart = {{ position = {q:?} }}\n{more}\n"
        )
        .expect("a text");
    }
    let pose =
        |t: f64, [x, y]: [f64; 2]| format!("[[task.draw.waypoint]]\ntime = {t:?}\nposition = [{x:?}, {y:?}, 0.0]\n");
    format!(
        "{text}[frame.tip]\nbody = \"lower\"\norigin = [{:?}, 0.0, 0.0]\n[solver]\nmethod = \"dop853\"\n\
         [task.draw]\nframe = \"tip\"\njoints = [\"shoulder\", \"elbow\"]\ncomponents = [\"x\", \"y\"]\nkp = 2.0\nkd = 20.0\n{}{}",
        INBOARD[2] + OUTBOARD[2],
        pose(0.0, waypoints[0]),
        pose(10.0, waypoints[1])
    )
}

/// Returns the factors `κ_ij` of the mass centres, and the `c_j` of the tip as the fourth row.
fn distances() -> [[f64; 3]; 4] {
    let whole: f64 = MASS.iter().sum();
    // Positions of the mass centres and of the tip, from the mass centre of the base.
    let [l, r] = [INBOARD, OUTBOARD];
    let places = [
        [0.0, 0.0, 0.0],
        [r[0], l[1], 0.0],
        [r[0], l[1] + r[1], l[2]],
        [r[0], l[1] + r[1], l[2] + r[2]],
    ];
    let centre = [0, 1, 2].map(|j| (0..3).map(|i| MASS[i] * places[i][j]).sum::<f64>() / whole);
    places.map(|place| [0, 1, 2].map(|j| place[j] - centre[j]))
}

/// Returns the rate of the base per unit rate of each joint, `−(D₁ + D₂)/ΣD` and `−D₂/ΣD`.
fn base_rates(angles: [f64; 3]) -> [f64; 2] {
    let from_centre = distances();
    let D = [0, 1, 2].map(|k| {
        let pairs = (0..3).flat_map(|i| (0..3).map(move |j| (i, j)));
        let coupled =
            pairs.map(|(i, j)| MASS[i] * from_centre[i][j] * from_centre[i][k] * (angles[j] - angles[k]).cos());
        INERTIA[k] + coupled.sum::<f64>()
    });
    let sum: f64 = D.iter().sum();
    [-(D[1] + D[2]) / sum, -D[2] / sum]
}

/// Returns the generalised Jacobian of the tip's position in the plane, in closed form, from the
/// absolute angles.
///
/// With the directions `e_j` of base and links, mass centres are at `Σ κ_ij e_j` from the mass
/// centre of all, and the tip at `Σ c_j e_j`. The momentum is `Σ D_k ω_k = 0` with `D_k = I_k +
/// Σ_ij m_i κ_ij κ_ik cos(θ_j − θ_k)`, and `ω_1 = ω_0 + q̇_1`, `ω_2 = ω_1 + q̇_2`.
fn closed_form(angles: [f64; 3]) -> Matrix2<f64> {
    let (base, from_centre) = (base_rates(angles), distances()[3]);
    // Velocity of the tip per unit absolute rate of each body.
    let v = [0, 1, 2].map(|j| Vector2::new(-angles[j].sin(), angles[j].cos()) * from_centre[j]);
    let all = v[0] + v[1] + v[2];
    Matrix2::from_columns(&[all * base[0] + v[1] + v[2], all * base[1] + v[2]])
}

/// Returns the closed form at the state of a run.
fn closed_form_of(run: &Run) -> Matrix2<f64> {
    let base = 2.0 * run.value("base.q[4]").atan2(run.value("base.q[1]"));
    let [q_1, q_2] = run.values(["shoulder.q", "elbow.q"]);
    closed_form([base, base + q_1, base + q_1 + q_2])
}

/// Position of the elbow at which the closed form is singular for the shoulder at 1 rad, by
/// bisection.
fn singular_elbow() -> f64 {
    let det = |q: f64| closed_form([0.0, 1.0, 1.0 + q]).determinant();
    let [mut a, mut b] = [-0.6, 0.6];
    assert!(det(a) * det(b) < 0.0);
    for _ in 0..60 {
        let middle = 0.5 * (a + b);
        if det(a) * det(middle) <= 0.0 {
            b = middle
        } else {
            a = middle
        }
    }
    0.5 * (a + b)
}

/// The projector onto the reaction null space of two joints that turn the base about one axis by
/// `c₁` and `c₂` is `I − c cᵀ/|c|²`, and its derivative exact. Tolerances: round-off, and the error
/// of central differences.
#[test]
fn reaction_null_space_has_the_closed_form_with_its_derivative() {
    let table =
        "[kinematics.hand]\nframe = \"tip\"\njoints = [\"shoulder\", \"elbow\"]\noutputs = [\"reaction_null_space\"]\n";
    let text = planar([1.0, 0.9], [[0.0; 2]; 2], "") + table;
    let mut run = Run::new(&text, 1e-9);
    run.look();
    let projector = |elbow: f64| {
        let [a, b] = base_rates([0.0, 1.0, 1.0 + elbow]);
        Matrix2::new(b * b, -a * b, -a * b, a * a) / (a * a + b * b)
    };
    let entry = |i: usize, k: usize| format!("hand.reaction_null_space[{},{}]", i + 1, k + 1);
    let off = (Matrix2::from_fn(|i, k| run.value(&entry(i, k))) - projector(0.9)).amax();
    let (model, state) = (run.model(), &run.simulation.state);
    let mut jacobians = Jacobians::new(&model);
    let at = OperatingPoint::new(state.t, &state.x, &state.u, &state.discrete);
    Tangent::<LANES>::new(&model)
        .jacobians(&run.simulation.plant, at, &mut jacobians)
        .expect("regular");
    let elbow = model
        .states
        .iter()
        .position(|state| state.name == "elbow.q")
        .expect("a state");
    let row = |name: String| model.outputs.iter().position(|output| output.quantity.name == name);
    let slope = Matrix2::from_fn(|i, k| jacobians.C[(row(entry(i, k)).expect("an output"), elbow)]);
    let h = 1e-4;
    let expected = (projector(0.9 + h) - projector(0.9 - h)) / (2.0 * h);
    let off_slope = (slope - expected).amax();
    println!("{off:.1e}, derivative {off_slope:.1e} of {:.2}", expected.amax());
    assert!(off < 1e-14 && expected.amax() > 1e-2 && off_slope < 1e-8);
}

/// At a dynamic singularity the arm is not stretched, so that the same arm on a fixed base is
/// regular there. Tolerance: round-off.
#[test]
fn singular_value_is_zero_at_a_dynamic_singularity() {
    let elbow = singular_elbow();
    assert!(elbow.abs() > 0.02, "{elbow}");
    for q in [[1.0, elbow], [1.0, 0.9], [-0.4, 2.0]] {
        let mut run = Run::new(&planar(q, [[0.0; 2]; 2], ""), 1e-9);
        run.look();
        let least = closed_form_of(&run).singular_values().min();
        let found = run.value("draw.singular_value");
        println!("at {q:?}: {found:.3e}, closed form {least:.3e}");
        assert!((found - least).abs() < 1e-13 && (q[1] != elbow || found < 1e-13));
    }
}

/// A line through a dynamic singularity of the folded arm, 0.13 rad from that of the same arm on a
/// fixed base: the determinant of the closed form changes its sign in mid-course. Rates stay small,
/// the tip departs from the line by less than 1 mm, and returns to it. At the singularity with a
/// positive elbow angle no straight line passes: there, the second derivative of the tip along the
/// direction that is lost has one sign for all rates that begin on a line.
#[test]
fn line_passes_a_dynamic_singularity() {
    let start = [1.383, -2.845];
    let mut still = Run::new(&planar(start, [[0.0; 2]; 2], ""), 1e-9);
    still.look();
    let (tip, before) = (still.vector("tip.r"), closed_form_of(&still).determinant());
    let mut run = Run::new(&planar(start, [[tip.x, tip.y], [tip.x - 0.3, tip.y - 0.014]], ""), 1e-9);
    let error = |run: &Run| run.value("draw.error[1]").hypot(run.value("draw.error[2]"));
    let (mut rate, mut left, mut folded) = (0.0f64, 0.0f64, 0.0f64);
    let mut after = before;
    for k in 1..=120 {
        run.go(0.1 * f64::from(k));
        rate = rate.larger(run.value("elbow.qd").abs());
        left = left.larger(error(&run));
        let now = closed_form_of(&run).determinant();
        if now * after < 0.0 {
            folded = run.value("elbow.q");
        }
        after = now;
    }
    let last = error(&run);
    println!("singular at {folded:.2} rad, rate {rate:.2} rad/s, off the line {left:.1e} m, at the end {last:.1e} m");
    assert!(before < -0.09 && after > 0.09 && (folded + 3.01).abs() < 0.02);
    assert!(rate < 0.15 && left > 1e-4 && left < 1e-3 && last < 1e-7);
}

/// A line beyond the reach of the arm: close to the singular position at the boundary rates are
/// bounded by the damping, and the tip departs from the line; on the way back it returns to it.
#[test]
fn line_beyond_the_reach_is_left_and_met_again() {
    let start = [1.0, 0.7];
    let mut still = Run::new(&planar(start, [[0.0; 2]; 2], ""), 1e-9);
    still.look();
    let tip = still.vector("tip.r");
    let from = [tip.x, tip.y];
    let beyond = from.map(|part| 1.1 * part);
    let text = planar(start, [from, beyond], "")
        + &format!(
            "[[task.draw.waypoint]]\ntime = 20.0\nposition = [{:?}, {:?}, 0.0]\n",
            from[0], from[1]
        );
    let mut run = Run::new(&text, 1e-9);
    let error = |run: &Run| run.value("draw.error[1]").hypot(run.value("draw.error[2]"));
    let (mut least, mut rate, mut left) = (f64::INFINITY, 0.0f64, 0.0f64);
    for k in 1..=240 {
        run.go(0.1 * f64::from(k));
        least = least.min(run.value("draw.singular_value"));
        rate = rate.larger(run.value("elbow.qd").abs());
        left = left.larger(error(&run));
        let off = (run.value("draw.singular_value") - closed_form_of(&run).singular_values().min()).abs();
        assert!(off < 1e-12, "t = {} s: {off:e}", 0.1 * f64::from(k));
    }
    let last = error(&run);
    println!(
        "least singular value {least:.1e}, rate {rate:.2} rad/s, off the line {left:.1e} m, at the end {last:.1e} m"
    );
    assert!(least < 0.01 && rate < 0.8 && left > 0.05 && last < 1e-7);
}

/// A step of the reference, which is an input, decays by `kp` and `kd`: `ë + (kp + kd) ė + kp kd e
/// = 0`. Tolerance: that of the integration.
#[test]
fn error_of_a_step_decays_by_the_gains() {
    let text = planar([1.0, 0.9], [[0.0; 2]; 2], "");
    let (text, _) = text.split_once("[[task.draw.waypoint]]").expect("waypoints");
    let mut run = Run::new(text, 1e-11);
    run.look();
    let step = [0.05, -0.03];
    let tip = run.vector("tip.r");
    (0..2).for_each(|i| run.set(&format!("draw.r_ref[{}]", i + 1), tip[i] + step[i]));
    let (kp, kd) = (2.0, 20.0);
    for t in [0.1, 0.5, 1.0, 3.0] {
        run.go(t);
        let left = (kd * (-kp * t).exp() - kp * (-kd * t).exp()) / (kd - kp);
        let off = (0..2).map(|i| (run.value(&format!("draw.error[{}]", i + 1)) - left * step[i]).abs());
        let off = off.fold(0.0, f64::larger);
        assert!(
            off < 1e-10 && run.value("draw.applied_damping") == 0.0,
            "t = {t}: {off:e}"
        );
    }
}

/// A joint approaches the limit of its range and stays within it, at most at `kp` times the
/// distance.
#[test]
fn joint_stays_within_its_range() {
    let text = planar(
        [1.0, 0.9],
        [[1.0, 1.0], [0.3, 0.7]],
        "range = { min = -2.0, max = 1.1 }",
    );
    let free = planar([1.0, 0.9], [[1.0, 1.0], [0.3, 0.7]], "");
    let [within, without] = [text, free].map(|text| {
        let mut run = Run::new(&text, 1e-9);
        let mut most = f64::NEG_INFINITY;
        for k in 1..=120 {
            run.go(0.1 * f64::from(k));
            most = most.larger(run.value("elbow.q")).larger(run.value("shoulder.q"));
        }
        most
    });
    println!("largest position {within}, without range {without}");
    assert!(within < 1.1 && within > 1.09 && without > 1.2);
}
