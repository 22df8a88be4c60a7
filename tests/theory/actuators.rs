//! Motors with limits, reaction wheels, thrusters.

use crate::messages;
use crate::numbers::Larger;
use crate::run::Run;
use grapple::algebra::Vec3;
use grapple::event::{Amount, Occurrence};
use grapple::plant::OperatingPoint;
use grapple::simulation::Simulation;
use grapple::spec::Formulation;
use grapple::system::Unit;
use std::path::Path;

/// Step response: full torque until the servo commands less (the root of a quadratic), then a
/// damped oscillation. Agreement to the integration error, in every formulation.
#[test]
fn saturated_motor_step_response_equals_closed_form() {
    let (J, kp, kd, limit, r) = (2.0f64, 8.0, 4.0, 5.0, 1.0);
    let text = format!(
        "name = \"arm\"\n[body.arm]\nmass = 1.0\nmass_centre = [0.0, 0.0, 0.0]\ninertia = [1.0, 1.0, {J}]\n\
         [joint.hinge]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"arm\"\nservo = {{ kp = {kp}, kd = {kd} }}\nmotor = {{ torque_limit = {limit} }}\n\
         [solver]\nmethod = \"dop853\"\n"
    );
    let a = limit / J;
    // kp (r − a t²/2) − kd a t = limit
    let (p, q) = (kd / kp, (limit / kp - r) / (0.5 * a));
    let t_1 = -p + (p * p - q).sqrt();
    let (e_1, v_1) = (0.5 * a * t_1 * t_1 - r, a * t_1);
    let (decay, omega) = (0.5 * kd / J, (kp / J - (0.5 * kd / J).powi(2)).sqrt());
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-12);
        run.set("hinge.q_ref", r);
        let mut worst = 0.0f64;
        for k in 1..=60 {
            let t = 0.1 * f64::from(k);
            run.go(t);
            let s = t - t_1;
            let (expected, torque) = if s < 0.0 {
                (0.5 * a * t * t, limit)
            } else {
                let (sin, cos) = (omega * s).sin_cos();
                let b = (v_1 + decay * e_1) / omega;
                let e = (-decay * s).exp() * (e_1 * cos + b * sin);
                let v = (-decay * s).exp() * ((b * omega - decay * e_1) * cos - (e_1 * omega + decay * b) * sin);
                (r + e, -kp * e - kd * v)
            };
            worst = worst.larger((run.value("hinge.q") - expected).abs());
            worst = worst.larger((run.value("hinge.motor_torque") - torque).abs());
            assert!((run.value("hinge.servo_error") - (r - run.value("hinge.q"))).abs() < 1e-15);
            assert!(run.value("hinge.motor_torque") <= limit);
            let commanded = run.value("hinge.servo_torque");
            assert!(s >= 0.0 || commanded > limit, "{commanded}");
        }
        println!("{}: {worst:.1e} (1e-10)", formulation.name());
        assert!(worst < 1e-10);
    }
}

/// Before its first time a table has its first value, after its last time its last one: the rate of a
/// body about a fixed axis is the integral of the torque.
#[test]
fn torque_of_a_table_that_ends_keeps_its_last_value() {
    let rate = |interpolation: &str, t: f64| match t {
        1.0.. if interpolation == "linear" => 0.3 + 0.6 * (t - 1.0),
        0.5.. if interpolation == "linear" => 0.1 + 0.2 * (t - 0.5) + 0.4 * (t - 0.5) * (t - 0.5),
        1.0.. => 0.2 + 0.6 * (t - 1.0),
        _ => 0.2 * t,
    };
    for interpolation in ["linear", "hold"] {
        let mut run = Run::new(
            &format!(
                "name = \"arm\"\n[body.arm]\nmass = 1.0\ninertia = [1.0, 1.0, 2.0]\n\
                 [joint.hinge]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"arm\"\n\
                 [signal.\"hinge.tau\"]\ntype = \"table\"\ntimes = [0.5, 1.0]\nvalues = [0.2, 0.6]\n\
                 interpolation = \"{interpolation}\"\nfrom_importer = false\n"
            ),
            1e-10,
        );
        let mut off = 0.0f64;
        for t in [0.4, 0.5, 0.75, 1.0, 1.5, 40.0] {
            run.go(t);
            off = off.larger((run.value("hinge.qd") - rate(interpolation, t) / 2.0).abs());
        }
        assert_eq!(run.value("hinge.tau"), 0.6);
        println!("{interpolation}: rate off by {off:.1e} rad/s of 11.9 (1e-12, round-off)");
        assert!(off < 1e-12, "{interpolation}: {off:e}");
    }
}

/// After an impulse the servo command exceeds the motor's limit: the motor torque saturates within
/// the same event, until the rate has decreased.
#[test]
fn motor_saturates_within_the_event_of_an_impulse() {
    let (J, kd, limit, impulse) = (2.0f64, 4.0, 5.0, 12.0);
    let text = format!(
        "name = \"arm\"\n[body.arm]\nmass = 1.0\ninertia = [1.0, 1.0, {J}]\n\
         [joint.hinge]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"arm\"\nservo = {{ kp = 0.0, kd = {kd} }}\nmotor = {{ torque_limit = {limit} }}\n\
         [frame.tip]\nbody = \"arm\"\norigin = [1.0, 0.0, 0.0]\n[port.push]\nframe = \"tip\"\nimpulse = true\n[solver]\nmethod = \"dop853\"\n"
    );
    let after_impulse = impulse / J;
    let t_1 = (after_impulse - limit / kd) * J / limit;
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-12);
        run.go(0.0);
        run.set("push.impulse[2]", impulse);
        run.set("push.impact", 1.0);
        let Simulation { plant, state, .. } = &mut run.simulation;
        let changes = plant.update(0.0, &mut state.x, &state.u, &mut state.discrete, &mut Vec::new());
        assert!(changes.is_ok_and(|changes| changes.states && changes.modes));
        let mut z = vec![0.0; plant.model().indicator_count()];
        plant.indicators(OperatingPoint::new(0.0, &state.x, &state.u, &state.discrete), &mut z);
        assert!(z.iter().all(|&z| z > 0.0), "{z:?}");
        run.look();
        assert_eq!(run.value("hinge.motor_torque"), -limit);
        let mut worst = (run.value("hinge.qd") - after_impulse).abs();
        for k in 1..=50 {
            let t = 0.1 * f64::from(k);
            run.go(t);
            let expected = match t < t_1 {
                true => after_impulse - limit / J * t,
                false => limit / kd * (-kd / J * (t - t_1)).exp(),
            };
            worst = worst.larger((run.value("hinge.qd") - expected).abs());
            worst = worst.larger((run.value("hinge.motor_torque") + (kd * expected).min(limit)).abs());
        }
        println!("{}: {worst:.1e} (1e-10)", formulation.name());
        assert!(worst < 1e-10);
    }
}

/// Momentum is exchanged between wheel and base, to round-off; the motor accelerates the wheel to
/// its maximum rate with `τ (1/J + 1/J_base)`, reports saturation, and decelerates it again.
#[test]
fn wheel_absorbs_momentum_up_to_its_rate_limit() {
    let _section = messages::of_this_test();
    let (J, base, tau, rate) = (0.02, 5.0, 0.3, 60.0);
    let text = format!(
        "name = \"hub\"\n[body.hub]\nmass = 50.0\ninertia = [4.0, 4.5, {base}]\n\
         [wheel.spin]\nbody = \"hub\"\nmass = 2.0\ninertia = {J}\ntorque_limit = 0.5\nrate_limit = {rate}\n[solver]\nmethod = \"dop853\"\n"
    );
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-10);
        run.set("spin.tau", tau);
        // Over the last hundredth of the rate the available torque decreases to zero.
        let full = rate / (tau * (1.0 / J + 1.0 / base));
        let mut messages = Vec::new();
        run.simulation.advance(0.989 * full, &mut messages).expect("runs");
        run.look();
        assert!(messages.is_empty() && (run.value("spin.motor_torque") - tau).abs() < 1e-15);
        assert!((run.value("spin.qd") - 0.989 * rate).abs() < 1e-9 * rate);
        run.simulation.advance(full + 5.0, &mut messages).expect("runs");
        run.look();
        let [message] = messages.as_slice() else {
            panic!("{messages:?}")
        };
        messages::record(messages::without_decimals(message));
        let limit = Amount {
            value: rate,
            unit: Unit::RadianPerSecond,
        };
        assert!(
            matches!(&message.what, Occurrence::RateLimitReached { rate, limit: at } if rate == "spin.qd" && *at == limit),
            "{message}"
        );
        let left = 1.0 - run.value("spin.qd") / rate;
        assert!(
            left.abs() < 1e-9 && run.value("spin.motor_torque").abs() < 1e-6,
            "{left:e}"
        );
        let momentum = run.value("spin.momentum");
        assert!((momentum - J * run.value("spin.qd")).abs() < 1e-15);
        let held = base * run.value("hub.w[3]") + J * (run.value("hub.w[3]") + run.value("spin.qd"));
        let whole = run.vector("system.angular_momentum").norm();
        println!(
            "{}: {held:.1e} N·m·s of {momentum:.1} N·m·s, all {whole:.1e}",
            formulation.name()
        );
        // Momentum is a quadratic form in directors and their rates, conserved to the integration
        // tolerance of 1e-10.
        let kept = match formulation {
            Formulation::Natural => 1e-10,
            _ => 1e-12,
        };
        assert!(held.abs() < kept * momentum && whole < kept * momentum);
        // A command of opposite sign beyond the limit: maximum torque, and the rate decreases.
        run.set("spin.tau", -2.0);
        run.go(full + 6.0);
        assert_eq!(run.value("spin.motor_torque"), -0.5);
        assert!((run.value("spin.qd") - rate + 0.5 * (1.0 / J + 1.0 / base)).abs() < 1e-6 * rate);
    }
}

/// Three wheels about general axes, on a rotating base: angular momentum is conserved, and energy
/// minus the motors' work.
#[test]
fn wheels_about_general_axes_conserve_momentum_and_energy() {
    let mut text = "name = \"hub\"\n[body.hub]\nmass = 50.0\nmass_centre = [0.1, 0.0, -0.2]\ninertia = [4.0, 4.5, 5.0]\nstart = { angular_velocity = [0.1, -0.2, 0.15] }\n\
         [solver]\nmethod = \"dop853\"\n"
        .to_owned();
    for (name, axis, rate) in [
        ("x", [1.0, 0.2, 0.0], 200.0),
        ("y", [0.0, -1.0, 0.3], -150.0),
        ("down", [0.0, 0.0, -1.0], 90.0),
    ] {
        text += &format!(
            "[wheel.{name}]\nbody = \"hub\"\naxis = {axis:?}\nposition = [0.3, 0.1, 0.2]\nmass = 2.0\ninertia = 0.02\ntorque_limit = 0.5\nrate_limit = 600.0\nrate = {rate}\n"
        );
    }
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-11);
        run.look();
        // The wheels' angular momenta are along their axes.
        let spin = Vec3::new(1.0, 0.2, 0.0).normalize() * (0.02 * 200.0)
            + Vec3::new(0.0, -1.0, 0.3).normalize() * (0.02 * -150.0)
            + Vec3::new(0.0, 0.0, -1.0) * (0.02 * 90.0);
        let found: f64 = ["x", "y", "down"]
            .map(|wheel| run.value(&format!("{wheel}.momentum")))
            .iter()
            .sum();
        assert!((found - 0.02 * 140.0).abs() < 1e-13);
        let (h, energy) = (run.vector("system.angular_momentum"), run.value("system.energy"));
        let turned = run.vector("hub.w");
        // Apart from the wheels, the only rates are at most 0.3 rad/s.
        assert!((h - spin).norm() < 8.0 * turned.norm());
        for (wheel, tau) in [("x", 0.2), ("y", -0.4), ("down", 0.3)] {
            run.set(&format!("{wheel}.tau"), tau);
        }
        run.go(4.0);
        let drift = (run.vector("system.angular_momentum") - h).norm() / run.value("system.angular_momentum_scale");
        let balance = (run.value("system.energy") - run.value("system.work") - energy).abs() / energy;
        println!(
            "{}: momentum {drift:.1e}, energy {balance:.1e} (1e-9)",
            formulation.name()
        );
        assert!(drift < 1e-9 && balance < 1e-9);
    }
}

/// A thruster's force acts along its frame's direction at the frame's origin; a switch gives full
/// thrust or none, a throttle a fraction between 0 and 1.
#[test]
fn thruster_force_acts_at_its_frame() {
    let text = |throttle: &str| {
        format!(
            "name = \"hub\"\n[body.hub]\nmass = 50.0\ninertia = [4.0, 4.5, 5.0]\n\
             [frame.nozzle]\nbody = \"hub\"\norigin = [-0.5, 0.2, 0.0]\nrpy_deg = [0.0, 0.0, 90.0]\n\
             [thruster.jet]\nframe = \"nozzle\"\ndirection = [0.0, -2.0, 0.0]\nthrust = 10.0\nthrottle = \"{throttle}\"\n"
        )
    };
    for formulation in Formulation::ALL {
        for (throttle, input, force) in [
            ("switch", 0.4, 0.0),
            ("switch", 0.6, 10.0),
            ("level", 0.4, 4.0),
            ("level", -1.0, 0.0),
            ("level", 7.0, 10.0),
        ] {
            let mut run = Run::of(crate::plant_in(formulation, &text(throttle), Path::new(".")), 1e-10);
            run.set(if throttle == "switch" { "jet.on" } else { "jet.level" }, input);
            run.look();
            assert_eq!(run.value("jet.force"), force);
            // −y of a frame rotated by 90° is the hub's x.
            let a = run.vector("hub.a_body");
            assert!((a - Vec3::x() * (force / 50.0)).norm() < 1e-15);
            run.go(0.001);
            assert!((run.value("hub.w[3]") + 0.2 * force / 5.0 * 0.001).abs() < 1e-9);
        }
    }
}

/// Attitude servo with four wheels (one redundant): the base rotates as under the ideal moment with
/// idle wheels; the total angular momentum is zero; the torques are the least-norm solution.
#[test]
fn wheel_allocation_equals_the_ideal_moment() {
    let text = |wheels: &str| {
        let mut text = format!(
            "name = \"hub\"\n[body.hub]\nmass = 50.0\ninertia = [4.0, 4.5, 5.0]\nstart = {{ rpy_deg = [0.0, 0.0, 40.0] }}\n\
             [body.hub.attitude_servo]\nkp = 2.0\nkd = 5.0\nwheels = [{wheels}]\n[solver]\nmethod = \"dop853\"\n"
        );
        for (name, axis) in [
            ("a", [1.0, 0.0, 1.0]),
            ("b", [-1.0, 0.0, 1.0]),
            ("c", [0.0, 1.0, 1.0]),
            ("d", [0.0, -1.0, 1.0]),
        ] {
            text += &format!(
                "[wheel.{name}]\nbody = \"hub\"\naxis = {axis:?}\nmass = 1e-3\ninertia = 0.1\ntransverse_inertia = 0.2\ntorque_limit = 5.0\nrate_limit = 6000.0\n"
            );
        }
        text
    };
    for formulation in Formulation::ALL {
        let [mut by_wheels, mut ideal] = [text("\"a\", \"b\", \"c\", \"d\""), text("")]
            .map(|text| Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-11));
        let angle = |run: &Run| 2.0 * run.value("hub.q[4]").atan2(run.value("hub.q[1]"));
        let mut worst = 0.0f64;
        for k in 1..=20 {
            let t = 0.5 * f64::from(k);
            by_wheels.go(t);
            ideal.go(t);
            worst = worst.larger((angle(&by_wheels) - angle(&ideal)).abs());
            let momentum = by_wheels.vector("system.angular_momentum").norm();
            worst = worst.larger(momentum);
            // −Aᵀ (A Aᵀ)⁻¹ M: equal for all four, whose axes have a z component of 1/√2.
            let torques = ["a", "b", "c", "d"].map(|wheel| by_wheels.value(&format!("{wheel}.motor_torque")));
            let share = -by_wheels.value("hub.servo_torque[3]") / (4.0 / 2f64.sqrt());
            assert!(
                torques.iter().all(|torque| (torque - share).abs() < 1e-12),
                "{torques:?}, {share}"
            );
        }
        println!("{}: {worst:.1e} (1e-9)", formulation.name());
        assert!(worst < 1e-9);
    }
}

/// A trajectory gives consistent position and rate of a reference: the lag of a weak servo on a
/// heavy joint is that due to the quintic's acceleration.
#[test]
fn trajectory_reference_has_a_consistent_rate() {
    let text = "name = \"arm\"\n[body.arm]\nmass = 1.0\ninertia = [1.0, 1.0, 2.0]\n\
        [joint.hinge]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"arm\"\nservo = { kp = 800.0, kd = 80.0 }\nstart = { position = 0.25 }\n\
        [signal.\"hinge.q_ref\"]\ntype = \"quintic\"\nfrom = 1.0\nuntil = 11.0\namplitude = 0.8\noffset = 0.25\nfrom_importer = false\nwith_rate = true\n";
    let mut run = Run::new(text, 1e-11);
    let mut worst = 0.0f64;
    for k in 0..=120 {
        let t = 0.1 * f64::from(k);
        run.go(t);
        let s = ((t - 1.0) / 10.0).clamp(0.0, 1.0);
        let rate = 0.8 / 10.0 * 30.0 * s * s * (1.0 - s) * (1.0 - s);
        assert!((run.value("hinge.qd_ref") - rate).abs() < 1e-14);
        worst = worst.larger(run.value("hinge.servo_error").abs());
    }
    // J q̈/kp, at most 0.8 · 5.77/100 rad/s².
    println!("{worst:.3e} rad");
    assert!((worst / (2.0 * 0.8 * 5.7735 / 100.0 / 800.0) - 1.0).abs() < 0.1);
}
