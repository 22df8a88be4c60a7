//! References in axes of the LVLH frame.

use super::{DRIVEN, angle, arm, error, joints, run_in, waypoint};
use crate::numbers::{Larger, few};
use crate::run::Run;
use grapple::algebra::{Quaternion, Vec3};
use grapple::spec::Formulation;

/// Mean motion of the orbit, rad/s: so fast that a third of a radian passes in half a minute.
const RATE: f64 = 0.01;

/// Returns the arm in an orbit with the eccentricity `e`, whose tip keeps its pose of the start in
/// LVLH axes, with that pose. At the perigee, where it starts, these are the axes of the world.
pub fn keeping(e: f64) -> (String, Vec3<f64>, Quaternion<f64>) {
    let a = 1e7;
    let orbit = format!(
        "[environment.orbit]\nsemi_major_axis = {a:?}\neccentricity = {e:?}\nmu = {:?}\n",
        RATE * RATE * a * a * a
    );
    let text = arm(DRIVEN) + &orbit;
    let start = run_in(Formulation::Recursive, &text, 1e-9);
    let (r, q) = (start.vector("tip.r"), start.attitude("tip"));
    let task = format!(
        "[task.reach]\nframe = \"tip\"\naxes = \"lvlh\"\n{}{}",
        joints(),
        waypoint(0.0, r, q)
    );
    (text + &task, r, q)
}

/// On a circular orbit the tool turns with the orbit rate about the orbit's normal. From rest in the
/// world it is first left behind: with the velocity `ω × r` of the reference the error is `ω × r
/// (exp(−kp t) − exp(−kd t))/(kd − kp)`. Tolerance: that of the integration.
#[test]
fn tool_at_rest_in_lvlh_axes_turns_with_the_orbit() {
    let (text, r, q) = keeping(0.0);
    let mut run = Run::new(&text, 1e-12);
    let behind = Vec3::new(0.0, 0.0, RATE).cross(&r);
    let mut worst = [0.0f64; 3];
    for t in [0.2, 0.5, 1.0] {
        run.go(t);
        let expected = behind * ((-2.0 * t).exp() - (-10.0 * t).exp()) / 8.0;
        let found = Vec3::from_fn(|i, _| run.value(&format!("reach.error[{}]", i + 1)));
        worst[0] = worst[0].larger((found - expected).norm());
    }
    for t in [20.0, 25.0, 30.0] {
        run.go(t);
        let turned = Quaternion::from_axis_angle(Vec3::new(0.0, 0.0, 1.0), RATE * t);
        worst[1] = worst[1].larger((run.vector("tip.r") - turned.rotate(r)).norm());
        worst[2] = worst[2].larger(angle(run.attitude("tip"), turned * q));
        assert_eq!(run.value("reach.applied_damping"), 0.0);
    }
    println!(
        "transient of {:.1e} m: {:.1e} m; then {:.1e} m, {:.1e} rad",
        behind.norm() / 8.0,
        worst[0],
        worst[1],
        worst[2]
    );
    assert!(worst.into_iter().all(|off| off < 1e-10), "{}", few(&worst));
}

/// On an elliptic orbit the rate of the axes changes, and the tool keeps its pose in them.
#[test]
fn tool_keeps_its_pose_in_lvlh_axes_of_an_elliptic_orbit() {
    let (text, r, q) = keeping(0.3);
    let mut run = Run::new(&text, 1e-12);
    let mut worst = 0.0f64;
    for t in [18.0, 20.0] {
        run.go(t);
        let orbit = run.simulation.plant.derived().orbit.as_ref().expect("an orbit").at(t);
        let off = (run.vector("tip.r") - orbit.R_WO * r).norm();
        worst = worst.larger(off).larger(angle(run.attitude("tip"), orbit.q_WO * q));
        worst = worst.larger(error(&run));
        assert!((orbit.w_WO.norm() / RATE - 1.0).abs() > 0.5 && orbit.wd_WO().norm() > 1e-5);
    }
    println!("{worst:.1e} (m, rad)");
    assert!(worst < 1e-10, "{worst:e}");
}
