//! Control moment gyros; imbalance and friction of reaction wheels.

use crate::messages;
use crate::numbers::Larger;
use crate::run::Run;
use grapple::algebra::Vec3;
use grapple::plant::Model;
use grapple::spec::Formulation;
use std::path::Path;

const GYRO: &str = "[cmg.gyro]\nbody = \"hub\"\nposition = [0.3, 0.1, -0.2]\ngimbal_axis = [0.0, 0.0, 2.0]\nspin_axis = [0.0, 3.0, 0.0]\n\
                    gimbal = { mass = 2.0, inertia = 0.02, rate_gain = 5.0 }\n\
                    rotor = { mass = 4.0, inertia = 0.05, rate = 60.0 }\n";

fn hub(held: bool, more: &str) -> String {
    let mount = "[joint.mount]\ntype = \"fixed\"\nparent = \"world\"\nchild = \"hub\"\n";
    format!(
        "name = \"hub\"\n[body.hub]\nmass = 40.0\nmass_centre = [0.02, 0.0, 0.01]\ninertia = [6.0, 5.0, 4.0]\n{}{more}",
        if held {
            mount
        } else {
            "start = { angular_velocity = [0.02, -0.03, 0.05] }\n"
        }
    )
}

/// With the momentum `h` of the rotor and the constant gimbal rate δ̇, the moment on the body is
/// `−h δ̇ (g × s)`, with the rotor's axis `s = (−sin δ, cos δ, 0)` and the gimbal's `g = z`.
#[test]
fn gyro_exerts_its_momentum_times_the_gimbal_rate() {
    let (h, rate, gain) = (0.05 * 60.0, 0.4, 5.0);
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, &hub(true, GYRO), Path::new(".")), 1e-11);
        run.set("gyro_gimbal.qd_ref", rate);
        let mut off = 0.0f64;
        for t in [0.2, 1.0] {
            run.go(t);
            // The drive brings the rate to its reference with the time constant 1/gain.
            let lag = (-gain * t).exp();
            let (angle, turn) = (rate * (t - (1.0 - lag) / gain), rate * (1.0 - lag));
            let axis = Vec3::new(-angle.sin(), angle.cos(), 0.0);
            // Gimbal and rotor, about an axis across the rotor's, take the acceleration of the gimbal.
            let acceleration = Vec3::<f64>::z() * ((0.02 + 0.025) * gain * rate * lag);
            let moment = -Vec3::<f64>::z().cross(&axis) * (h * turn) - acceleration;
            off = off.larger((run.vector("gyro.moment") - moment).norm() / (h * rate));
            off = off.larger((run.vector("gyro.momentum") - axis * h).norm() / h);
        }
        println!("{formulation:?}: moment and momentum off by {off:.1e} (1e-9, the integrator's error)");
        assert!(off < 1e-9, "{formulation:?}: {off:e}");
    }
}

/// A gimbal turned by a torque, and a rotor with a motor.
#[test]
fn gyros_conserve_momentum_and_balance_energy_in_all_formulations() {
    let variable = "[cmg.second]\nbody = \"hub\"\nposition = [-0.3, 0.1, 0.2]\ngimbal_axis = [1.0, 0.0, 0.0]\nspin_axis = [0.0, 1.0, 1.0]\n\
                    gimbal = { mass = 1.0, inertia = 0.01, angle = 0.3, damping = 0.2 }\n\
                    rotor = { mass = 2.0, inertia = 0.03, transverse_inertia = 0.02, rate = -80.0, torque_limit = 0.5, rate_limit = 500.0 }\n";
    let mut ends: Vec<Vec3<f64>> = Vec::new();
    for formulation in Formulation::ALL {
        let text = hub(false, &(GYRO.to_owned() + variable));
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-12);
        run.set("gyro_gimbal.qd_ref", 0.2);
        run.set("second_gimbal.tau", 0.1);
        run.set("second_spin.tau", 0.4);
        let off = run.drift(0.3);
        println!(
            "{formulation:?}: invariants off by {off:.1e} J, N·s, N·m·s of 190 J, 3 N·m·s (1e-9, the integrator's error)"
        );
        assert!(off < 1e-9, "{formulation:?}: {off:e}");
        assert!((run.value("second_spin.qd") + 80.0).abs() > 3.0);
        ends.push(run.attitude("hub").rotate(Vec3::new(1.0, 2.0, 3.0)));
    }
    let apart = ends
        .iter()
        .map(|end| (end - ends[0]).norm())
        .fold(0.0f64, Larger::larger);
    println!("formulations differ by {apart:.1e} rad (1e-10)");
    assert!(apart < 1e-10, "{apart:e}");
}

fn wheel(more: &str) -> String {
    format!(
        "[output]\nreactions = true\n[wheel.spin]\nbody = \"hub\"\nposition = [0.2, 0.0, 0.1]\naxis = [0.0, 1.0, 1.0]\nmass = 5.0\n\
         inertia = 0.04\ntorque_limit = 1.0\nrate_limit = 700.0\nrate = 250.0\n{more}"
    )
}

/// At the constant rate Ω of a held wheel, the rotor's bearing exerts on it the force `−U_s Ω²` along
/// the imbalance, and the moment `ω × I ω` with the products of inertia `U_d (cos φ, sin φ)`.
#[test]
fn imbalance_exerts_its_force_and_moment_at_the_square_of_the_rate() {
    let square = 250.0f64 * 250.0;
    let (fixed, moving, phase) = (2e-5, 3e-6, 40.0f64);
    let text = hub(
        true,
        &wheel(&format!(
            "static_imbalance = {fixed:e}\ndynamic_imbalance = {moving:e}\nimbalance_phase_deg = {phase:?}\n"
        )),
    );
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-10);
        run.go(0.01);
        let force = run.vector("spin.reaction_force") - Vec3::<f64>::x() * (-fixed * square);
        let (sin, cos) = phase.to_radians().sin_cos();
        // ω × I ω = Ω² (−I_yz, I_xz, 0), about the wheel's centre.
        let moment = run.vector("spin.reaction_moment") - Vec3::new(-sin, cos, 0.0) * (moving * square);
        let off = (force.norm() / (fixed * square)).larger(moment.norm() / (moving * square));
        println!("{formulation:?}: force and moment off by {off:.1e} (1e-10, round-off of large reactions)");
        assert!(off < 1e-10, "{formulation:?}: {off:e}");
        assert!((run.value("spin.momentum") - 250.0 * 0.04).abs() < 1e-9);
    }
}

#[test]
fn imbalance_in_grams_and_centimetres_is_that_in_si_units() {
    let model = |more: &str| crate::plant(&hub(false, &wheel(more))).model().clone();
    let si = model("static_imbalance = 2e-5\ndynamic_imbalance = 3e-6\n");
    let sheet = model("static_imbalance_g_cm = 2.0\ndynamic_imbalance_g_cm2 = 30.0\n");
    for name in ["mass_centre[1]", "inertia_xx", "inertia_yy", "inertia_zz", "inertia_xz"] {
        let [a, b] = [&si, &sheet].map(|model| {
            let mut all = model.parameters.iter();
            all.find(|p| p.quantity.name == format!("spin_rotor.{name}"))
                .expect("a parameter")
                .start
        });
        assert!((a - b).abs() <= 1e-15 * a.abs() && a != 0.0, "{name}: {a} {b}");
    }
}

#[test]
fn imbalanced_wheel_conserves_momentum_and_energy() {
    let text = hub(
        false,
        &wheel("static_imbalance_g_cm = 5.0\ndynamic_imbalance_g_cm2 = 60.0\n"),
    );
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-12);
        let off = run.drift(0.2);
        println!("{formulation:?}: invariants off by {off:.1e} J, N·s, N·m·s of 1.3 kJ (1e-7, the integrator's error)");
        assert!(off < 1e-7, "{formulation:?}: {off:e}");
    }
}

/// The wheel slows down by dry friction, which is constant far above its slip rate, and by viscous
/// friction: `(Ω₀ + c/d) exp(−d t/J) − c/d`.
#[test]
fn wheel_slows_down_by_the_friction_of_its_bearings() {
    let text = hub(
        true,
        &wheel("damping = 2e-3\nfriction = { coulomb = 0.01, slip = 0.5 }\n"),
    );
    let mut run = Run::new(&text, 1e-11);
    for t in [5.0, 20.0] {
        run.go(t);
        let expected = (250.0 + 5.0) * (-2e-3 * t / 0.04f64).exp() - 5.0;
        let off = run.value("spin.qd") / expected - 1.0;
        println!("{t} s: {expected:.2} rad/s, off by {off:.1e} (1e-10, the integrator's error)");
        assert!(off.abs() < 1e-10, "{off:e}");
    }
    // Dry friction that sticks stops it, and holds it.
    let text = hub(true, &wheel("friction = { coulomb = 0.5 }\n")).replace("rate = 250.0", "rate = 25.0");
    let mut run = Run::new(&text, 1e-9);
    run.go(1.0);
    assert!((run.value("spin.qd") - (25.0 - 0.5 / 0.04)).abs() < 1e-7);
    run.go(3.0);
    assert_eq!(run.value("spin.qd"), 0.0);
}

#[test]
fn errors_of_gyros_and_wheels_name_the_field() {
    let _recording = messages::of_this_test();
    let wheel = wheel("static_imbalance = 1e-5\n");
    for (text, from, to, place) in [
        (
            GYRO,
            "spin_axis = [0.0, 3.0, 0.0]",
            "spin_axis = [0.0, 3.0, 0.5]",
            "cmg.gyro.spin_axis",
        ),
        (
            GYRO,
            "gimbal_axis = [0.0, 0.0, 2.0]",
            "gimbal_axis = [0.0, 0.0, 0.0]",
            "cmg.gyro.gimbal_axis",
        ),
        (GYRO, "mass = 4.0", "mass = -4.0", "cmg.gyro.rotor.mass"),
        (GYRO, "rate_gain = 5.0", "rate_gain = 0.0", "cmg.gyro.gimbal.rate_gain"),
        (
            GYRO,
            "rate = 60.0",
            "rate = 60.0, rate_limit = 600.0",
            "cmg.gyro.rotor.rate_limit",
        ),
        (
            GYRO,
            "rate = 60.0",
            "rate = 60.0, torque_limit = 1.0, rate_limit = 40.0",
            "cmg.gyro.rotor.rate",
        ),
        (
            GYRO,
            "inertia = 0.05",
            "inertia = 0.05, transverse_inertia = 0.02",
            "cmg.gyro.rotor.transverse_inertia",
        ),
        (GYRO, "body = \"hub\"", "body = \"hup\"", "cmg.gyro.body"),
        (
            &*wheel,
            "static_imbalance = 1e-5",
            "static_imbalance = -1e-5",
            "wheel.spin.static_imbalance",
        ),
        (
            &*wheel,
            "static_imbalance = 1e-5",
            "static_imbalance = 1e-5\nstatic_imbalance_g_cm = 1.0",
            "wheel.spin.static_imbalance",
        ),
        (
            &*wheel,
            "static_imbalance = 1e-5",
            "dynamic_imbalance = 20.0",
            "wheel.spin.dynamic_imbalance",
        ),
        (
            &*wheel,
            "static_imbalance = 1e-5",
            "dynamic_imbalance = 1e-3\ntransverse_inertia = 0.02",
            "wheel.spin.dynamic_imbalance",
        ),
        (
            &*wheel,
            "static_imbalance = 1e-5",
            "static_imbalance = 2.0",
            "wheel.spin.static_imbalance",
        ),
        (
            &*wheel,
            "static_imbalance = 1e-5",
            "friction = { coulomb = 0.1, slip = 0.1, breakaway = 0.2 }",
            "wheel.spin.friction.breakaway",
        ),
        (
            &*wheel,
            "static_imbalance = 1e-5",
            "friction = { coulomb = [0.1, 0.2], slip = 0.1 }",
            "wheel.spin.friction.coulomb",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        let text = hub(false, &text.replacen(from, to, 1));
        match Model::read(&text, Path::new(".")) {
            Err(grapple::Error::Spec(problems)) => {
                assert_eq!(problems[0].at.join("."), place);
                messages::record(&problems[0]);
            }
            other => panic!("{to}: {:?}", other.map(|model| model.spec.name)),
        }
    }
}
