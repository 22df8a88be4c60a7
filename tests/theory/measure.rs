//! Errors of an approach along an axis: offset, misalignment, and the motion across the axis.

use crate::adjoint::worst_displaced;
use crate::numbers::Larger;
use crate::run::Run;
use grapple::algebra::{Quaternion, Vec3};

/// Returns two free bodies in the given states, with a measure along an axis of the one.
fn approach(start: &str, axes: &str) -> String {
    format!(
        "name = \"approach\"\n[body.chaser]\nmass = 3.0\ninertia = [1.0, 2.0, 2.5]\n\
         start = {{ attitude = [0.8, 0.4, -0.4, 0.2], position = [4.0, -2.0, 1.0], velocity = [0.3, 0.1, -0.2], angular_velocity = [0.2, -0.1, 0.4] }}\n\
         [body.client]\nmass = 2.0\ninertia = [0.5, 0.6, 0.7]\nstart = {{ {start} }}\n\
         [measure.aim]\nfrom = \"chaser\"\nto = \"client\"\n{axes}\n"
    )
}

/// Offset, lateral speed and tumbling rate are the parts of the measured vectors across the axis;
/// the misalignment is the angle by which the client is turned about any axis across, whatever its
/// roll.
#[test]
fn errors_of_an_approach_equal_their_closed_forms() {
    let e = Vec3::new(0.6, 0.0, 0.8);
    let side = Vec3::new(0.8, 0.0, -0.6);
    let mut worst = 0.0f64;
    for (k, angle) in [1e-9, 1e-3, 0.4, 2.0, 3.1].into_iter().enumerate() {
        let roll = Quaternion::from_axis_angle(e, 0.7 * k as f64);
        let across = Quaternion::from_axis_angle(e, 1.3 * k as f64).rotate(side);
        let chaser = Quaternion::new(0.8, 0.4, -0.4, 0.2);
        let q = chaser * Quaternion::from_axis_angle(across, angle) * roll;
        let start = format!(
            "attitude = {:?}, position = [5.0, -1.0, {k}.5], velocity = [0.1, 0.{k}, 0.3], angular_velocity = [0.1, -0.3, 0.2]",
            q.to_array()
        );
        let mut run = Run::new(&approach(&start, "axis = [3.0, 0.0, 4.0]"), 1e-8);
        run.look();
        let lateral = |field: &str| e.cross(&run.vector(&format!("aim.{field}"))).norm();
        for (field, expected) in [
            ("offset", lateral("r")),
            ("misalignment", angle),
            ("lateral_speed", lateral("v")),
            ("tumbling_rate", lateral("w")),
        ] {
            let found = run.value(&format!("aim.{field}"));
            worst = worst.larger((found - expected).abs());
        }
    }
    println!("worst {worst:.1e} (1e-14)");
    assert!(worst < 1e-14);
}

/// The axis of the client is its own if it is written: a client that faces the chaser is aligned.
#[test]
fn axes_of_both_frames_may_differ() {
    let facing = Quaternion::new(0.8, 0.4, -0.4, 0.2) * Quaternion::new(0.0, 0.0, 1.0, 0.0);
    let start = format!("attitude = {:?}", facing.to_array());
    let misalignment = |axes: &str| {
        let mut run = Run::new(&approach(&start, axes), 1e-8);
        run.look();
        run.value("aim.misalignment")
    };
    let along = misalignment("axis = [1.0, 0.0, 0.0]");
    let against = misalignment("axis = [1.0, 0.0, 0.0]\naxis_to = [-1.0, 0.0, 0.0]");
    println!("{along} and {against:.1e} rad");
    assert!((along - std::f64::consts::PI).abs() < 1e-15 && against < 1e-15);
}

/// Adjoints of all outputs are products with the Jacobians.
#[test]
fn adjoints_equal_products_with_jacobians_along_an_axis() {
    let start = "attitude = [0.7, 0.5, -0.5, 0.1], position = [5.0, -1.0, 0.5], velocity = [0.1, 0.4, 0.3]";
    let mut plant = crate::plant(&approach(start, "axis = [1.0, 2.0, -0.5]\naxis_to = [0.3, 0.0, 1.0]"));
    let off = worst_displaced(&mut plant, [(1, 0.0), (2, 0.3), (3, 1.0)]);
    println!("{off:.1e} (1e-13)");
    assert!(off < 1e-13, "{off:e}");
}
