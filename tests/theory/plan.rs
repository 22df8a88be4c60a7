//! Plans of joint motions: inverse kinematics against closed forms, consistency of positions, rates
//! and accelerations, and errors.

use crate::numbers::{Larger, few};
use crate::run::Run;
use grapple::Error;
use grapple::plant::{Model, Planned, plans};
use grapple::spec;
use std::path::Path;

/// Lengths of the links of an arm with two joints, m.
const ARM: [f64; 2] = [1.2, 0.9];

/// Returns a planar arm on the world whose tip moves along a straight line.
fn arm(start: [f64; 2], goal: &str) -> String {
    format!(
        "name = \"arm\"\n[body.upper]\nmass = 2.0\nmass_centre = [0.6, 0.0, 0.0]\ninertia = [0.02, 0.3, 0.3]\n\
         [body.lower]\nmass = 1.5\nmass_centre = [0.4, 0.0, 0.0]\ninertia = [0.01, 0.15, 0.15]\n\
         [joint.shoulder]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"upper\"\nstart = {{ position = {} }}\n\
         servo = {{ kp = 400.0, kd = 40.0, feed_forward = \"rigid\" }}\n\
         [joint.elbow]\ntype = \"revolute\"\nparent = \"upper\"\nchild = \"lower\"\norigin = [{}, 0.0, 0.0]\nstart = {{ position = {} }}\n\
         servo = {{ kp = 400.0, kd = 40.0, feed_forward = \"rigid\" }}\n\
         [frame.tip]\nbody = \"lower\"\norigin = [{}, 0.0, 0.0]\n\
         [plan.reach]\njoints = [\"shoulder\", \"elbow\"]\nfrom = 1.0\nuntil = 5.0\n\
         [[plan.reach.goal]]\nframe = \"tip\"\nrelative_to = \"world\"\n{goal}\n[solver]\nmethod = \"dop853\"\n",
        start[0], ARM[0], start[1], ARM[1]
    )
}

fn planned(text: &str) -> Result<Planned, Error> {
    let spec = spec::read(text, Path::new("."))?;
    let mut found = plans(&spec)?;
    Ok(found.remove(0).1)
}

/// Returns the angles of the arm with two joints whose tip is at (x, y), elbow below the line.
fn inverse([x, y]: [f64; 2]) -> [f64; 2] {
    let [a, b] = ARM;
    let elbow = ((x * x + y * y - a * a - b * b) / (2.0 * a * b)).acos();
    [y.atan2(x) - (b * elbow.sin()).atan2(a + b * elbow.cos()), elbow]
}

/// The tip of an arm moves along a line: angles as in the closed form of inverse kinematics, rates
/// and accelerations as differences of it; servos with feed-forward follow to the integrator's
/// error.
#[test]
fn arm_moves_its_tip_along_a_line() {
    let start: [f64; 2] = [-0.4, 1.3];
    let tip = |[p, q]: [f64; 2]| {
        [
            ARM[0] * p.cos() + ARM[1] * (p + q).cos(),
            ARM[0] * p.sin() + ARM[1] * (p + q).sin(),
        ]
    };
    let [x_0, y_0] = tip(start);
    let text = arm(start, "to = { x = 0.7 }\nkeep = [\"y\"]");
    let plan = planned(&text).expect("it reaches");
    let part = |t: f64| {
        let s = ((t - 1.0) / 4.0).clamp(0.0, 1.0);
        s.powi(3) * (10.0 - s * (15.0 - 6.0 * s))
    };
    let exact = |t: f64| inverse([x_0 + (0.7 - x_0) * part(t), y_0]);
    let mut off = [0.0f64; 3];
    let h = 1e-3;
    for (k, &t) in plan.times.iter().enumerate() {
        let [before, now, after] = [t - h, t, t + h].map(exact);
        for (j, [q, rate, acceleration]) in plan.courses.iter().enumerate() {
            off[0] = off[0].larger((q[k] - now[j]).abs());
            off[1] = off[1].larger((rate[k] - (after[j] - before[j]) / (2.0 * h)).abs());
            let second = (after[j] - 2.0 * now[j] + before[j]) / (h * h);
            // The third derivative jumps at both ends.
            if k > 0 && k + 1 < plan.times.len() {
                off[2] = off[2].larger((acceleration[k] - second).abs());
            }
        }
    }
    let mut run = Run::new(&text, 1e-11);
    let mut behind = 0.0f64;
    for k in 1..=60 {
        let t = 0.1 * f64::from(k);
        run.go(t);
        let found = ["shoulder", "elbow"].map(|joint| run.value(&format!("{joint}.q")));
        let exact = exact(t);
        behind = (0..2).fold(behind, |most, j| most.larger((found[j] - exact[j]).abs()));
    }
    println!(
        "{} knots: angles {:.1e} rad (1e-12), rates and accelerations {} (1e-6, h² of the differences); followed to {behind:.1e} rad (1e-8)",
        plan.times.len(),
        off[0],
        few(&off[1..])
    );
    assert!(off[0] < 1e-12 && off[1..].iter().all(|&off| off < 1e-6) && behind < 1e-8);
}

/// The plan of Yang et al. (2023), Eqs. 70 to 74 with all seven links, is a plan with three goals:
/// the arms stay symmetric, the distance of the ends is the quintic, and the mass centre keeps its
/// height.
#[test]
fn two_arms_bring_their_ends_together_as_in_the_paper() {
    let plan = planned(include_str!("../../examples/assembly/approach.toml")).expect("it reaches");
    let mut off = [0.0f64; 3];
    for (k, t) in plan.times.iter().enumerate() {
        let [B, C, D, E, F, G] = std::array::from_fn(|j| plan.courses[j][0][k]);
        let (b, a) = (D, C + D);
        let symmetry = (D + E).abs().larger((C + F).abs()).larger((B + G).abs());
        let s = t / 300.0;
        let x = 18.0 * (1.0 - s.powi(3) * (10.0 - s * (15.0 - 6.0 * s)));
        let height = (32.0 + 80.5 * a.sin() + 31.5 * b.sin()) / 17.0;
        off[0] = off[0].larger(symmetry);
        off[1] = off[1].larger((14.0 * (a.cos() + b.cos()) - (x - 2.0)).abs());
        off[2] = off[2].larger((height - 6.0).abs());
    }
    println!(
        "{} knots: symmetry {:.1e} rad, distance {:.1e} m, height {:.1e} m (1e-8, the digits of the start)",
        plan.times.len(),
        off[0],
        off[1],
        off[2]
    );
    assert!(off.iter().all(|&off| off < 1e-8));
}

/// Plans that are not determined, out of reach, or through a singular position are errors when the
/// spec is read, with the time and the goal.
#[test]
fn impossible_plans_are_reported_with_time_and_goal() {
    let bent = [-0.4, 1.3];
    for (text, expected) in [
        (arm(bent, "to = { x = 0.7 }"), "do not determine"),
        (
            arm(bent, "to = { x = 3.0 }\nkeep = [\"y\"]"),
            "they cannot have x of \"tip\" relative to \"world\" = ",
        ),
        (
            arm(bent, "to = { x = 0.7 }\nkeep = [\"y\"]").replace(
                "[joint.elbow]",
                "[joint.shoulder.range]\nmin = -0.5\nmax = -0.3\n[joint.elbow]",
            ),
            "shoulder.q is ",
        ),
        (arm([0.0, 0.0], "to = { x = 1.0 }\nkeep = [\"y\"]"), "singular position"),
    ] {
        let Err(Error::Spec(problems)) = Model::read(&text, Path::new(".")) else {
            panic!("{expected}: accepted");
        };
        println!("{}", problems[0].what);
        assert_eq!(problems[0].at, ["plan", "reach"]);
        assert!(problems[0].what.contains(expected), "{problems:?}");
    }
}

/// With a shaper of the motion law the tip stays on its line and arrives at the same time. The path
/// parameter is the mean of the delayed copies, so that the joints are those of the closed form.
/// Tolerance: as for the plan without, and 1e-9 rad between the knots.
#[test]
fn shaped_plan_moves_the_tip_along_the_same_line() {
    let start: [f64; 2] = [-0.4, 1.3];
    let shaped = "shaper = [{ type = \"zvd\", frequency = 0.8 }, { type = \"zv\", frequency = 2.5 }]\n";
    let text =
        arm(start, "to = { x = 0.7 }\nkeep = [\"y\"]").replace("until = 5.0\n", &format!("until = 5.0\n{shaped}"));
    let plan = planned(&text).expect("it reaches");
    // Half a period of each mode, in s; the weights of undamped modes are binomial coefficients.
    let (h, k) = (0.5 / 0.8, 0.5 / 2.5);
    let duration = 4.0 - 2.0 * h - k;
    let quintic = |s: f64| s.clamp(0.0, 1.0).powi(3) * (10.0 - s.clamp(0.0, 1.0) * (15.0 - 6.0 * s.clamp(0.0, 1.0)));
    let part = |t: f64| {
        let copies = [(0.25, 0.0), (0.5, h), (0.25, 2.0 * h)];
        let each = copies
            .into_iter()
            .flat_map(|(weight, delay)| [(weight, delay), (weight, delay + k)]);
        each.map(|(weight, delay)| 0.5 * weight * quintic((t - 1.0 - delay) / duration))
            .sum::<f64>()
    };
    let [x, y] = [
        ARM[0] * start[0].cos() + ARM[1] * (start[0] + start[1]).cos(),
        ARM[0] * start[0].sin() + ARM[1] * (start[0] + start[1]).sin(),
    ];
    let exact = |t: f64| inverse([x + (0.7 - x) * part(t), y]);
    let mut at_knots = 0.0f64;
    for (k, &t) in plan.times.iter().enumerate() {
        let exact = exact(t);
        at_knots = (0..2).fold(at_knots, |most, j| {
            most.larger((plan.courses[j][0][k] - exact[j]).abs())
        });
    }
    let mut between = 0.0f64;
    for n in 0..=1000 {
        let t = 1.0 + 0.004 * f64::from(n);
        let exact = exact(t);
        between = (0..2).fold(between, |most, j| most.larger((plan.at(j, t)[0] - exact[j]).abs()));
    }
    let ends = [plan.times[0], *plan.times.last().expect("knots")];
    println!(
        "{} knots: {at_knots:.1e} rad, between them {between:.1e} rad",
        plan.times.len()
    );
    assert!(ends[0] == 1.0 && (ends[1] - 5.0).abs() < 1e-14);
    assert!(at_knots < 1e-12 && between < 2e-9);
    let mut run = Run::new(&text, 1e-11);
    let followed = [2.0, 3.3, 5.5].map(|t| {
        run.go(t);
        let found = ["shoulder", "elbow"].map(|joint| run.value(&format!("{joint}.q")));
        let exact = exact(t);
        (0..2).fold(0.0f64, |most, j| most.larger((found[j] - exact[j]).abs()))
    });
    assert!(followed.into_iter().all(|off| off < 1e-8), "{}", few(&followed));
}
