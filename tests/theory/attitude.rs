//! Attitude servos: an ideal external moment on a free body.

use crate::numbers::Larger;
use crate::run::Run;
use grapple::algebra::Vec3;
use grapple::spec::Formulation;
use std::path::Path;

/// About a principal axis the angle satisfies `J θ̈ = −kp θ − kd θ̇`, also beyond 180°, in every
/// formulation; when the servo is switched off, its moment is zero.
#[test]
fn attitude_servo_on_a_body_is_a_damped_oscillator() {
    let (J, kp, kd, angle): (f64, f64, f64, f64) = (3.0, 2.0, 1.2, 1.5);
    let text = format!(
        "name = \"hub\"\n[body.hub]\nmass = 5.0\ninertia = [1.0, 2.0, {J}]\n\
         start = {{ position = [3.0, 2.0, 1.0], attitude = [{}, 0.0, 0.0, {}], velocity = [0.1, 0.0, 0.0] }}\n\
         [body.hub.attitude_servo]\nkp = [9.0, 9.0, {kp}]\nkd = [9.0, 9.0, {kd}]\n",
        (0.5 * angle).cos(),
        (0.5 * angle).sin()
    );
    let (decay, omega) = (0.5 * kd / J, (kp / J - (0.5 * kd / J).powi(2)).sqrt());
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-11);
        let mut worst = 0.0f64;
        for k in 0..20 {
            let t = 0.5 * f64::from(k);
            run.go(t);
            let expected = angle * (-decay * t).exp() * ((omega * t).cos() + decay / omega * (omega * t).sin());
            let now = 2.0 * run.value("hub.q[4]").atan2(run.value("hub.q[1]"));
            worst = worst.larger((now - expected).abs());
            let torque = run.vector("hub.servo_torque") + Vec3::z() * (kp * now + kd * run.value("hub.w[3]"));
            assert!(torque.norm() < 1e-12, "{torque}");
        }
        println!("{}: {worst:.1e} rad", formulation.name());
        assert!(
            worst < 1e-9,
            "ten times what the tolerance of 1e-11 makes of it in 10 s"
        );
        assert!(
            (run.vector("hub.v") - Vec3::new(0.1, 0.0, 0.0)).norm() < 1e-12,
            "no force acts"
        );
        run.set("hub.servo", 0.0);
        run.look();
        assert_eq!(run.vector("hub.servo_torque"), Vec3::zeros());
    }
}

/// On a base with an arm, the system's angular momentum changes by the moment, the linear momentum
/// not at all, the energy by the work; all formulations agree.
#[test]
fn servo_moment_changes_the_total_angular_momentum() {
    let text = "name = \"craft\"\n\
        [body.base]\nmass = 6.0\ninertia = [0.8, 0.9, 1.0]\nstart = { angular_velocity = [0.1, -0.2, 0.15], velocity = [0.1, 0.3, -0.2] }\n\
        [body.base.attitude_servo]\nkp = [1.0, 2.0, 3.0]\nkd = 0.5\n\
        [body.arm]\nmass = 1.5\nmass_centre = [0.5, 0.1, 0.0]\ninertia = [0.1, 0.2, 0.25]\n\
        [joint.shoulder]\ntype = \"universal\"\nparent = \"base\"\nchild = \"arm\"\norigin = [0.5, 0.0, 0.0]\naxis = [0.0, 1.0, 0.2]\naxis2 = [0.0, 0.1, 1.0]\n\
        start = { position = [0.4, -0.3], rate = [0.3, 0.4] }\n";
    let mut ends = Vec::new();
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, text, Path::new(".")), 1e-11);
        for (i, value) in [0.9, 0.1, -0.3, 0.2].into_iter().enumerate() {
            run.set(&format!("base.q_ref[{}]", i + 1), value);
        }
        run.set("base.w_ref[2]", 0.05);
        run.look();
        let (p, energy) = (run.vector("system.momentum"), run.value("system.energy"));
        // Simpson's rule over the moment in inertial axes.
        let moment = |run: &Run| run.attitude("base").normalised().rotation() * run.vector("base.servo_torque");
        let (h0, mut sum, n) = (run.vector("system.angular_momentum"), moment(&run), 200);
        for k in 1..=n {
            run.go(5.0 * f64::from(k) / f64::from(n));
            let weight = if k == n { 1.0 } else { f64::from(2 + 2 * (k % 2)) };
            sum += moment(&run) * weight;
        }
        let gained = (run.vector("system.angular_momentum") - h0 - sum * (5.0 / f64::from(n) / 3.0)).norm();
        let balance = (run.value("system.energy") - run.value("system.work") - energy).abs();
        let drift = (run.vector("system.momentum") - p).norm();
        println!(
            "{}: {gained:.1e} N·m·s, {balance:.1e} J, {drift:.1e} N·s",
            formulation.name()
        );
        // Simpson's error: h⁴/180 times a fourth derivative of about ten N·m/s⁴, over 5 s.
        assert!(gained < 2e-7 && balance < 1e-10 && drift < 2e-10);
        ends.push(run.vector("arm.r"));
    }
    let apart = ends.iter().map(|end| (end - ends[0]).norm()).fold(0.0, f64::larger);
    println!("formulations: {apart:.1e} m after 5 s (3e-11)");
    // A hundred times the error at a tolerance of 1e-11.
    assert!(apart < 3e-11);
}
