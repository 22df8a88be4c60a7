//! Drives, brakes and servos.

use crate::{GOOD, messages, report};

/// Errors: brakes and drives on joints without coordinates, a prescribed joint without its input,
/// inconsistent motions.
#[test]
fn invalid_motions_are_reported_with_the_joint() {
    let _section = messages::of_this_test();
    let joint = |kind: &str, more: &str| {
        let text = GOOD.replace("type = \"revolute\"", &format!("type = \"{kind}\""));
        report(&format!("{text}{more}\n"))
    };
    let fixed = joint("fixed", "motions = [\"loads\", \"locked\"]");
    assert_eq!(fixed, ["13: joint.elbow.motions"]);
    assert_eq!(joint("free", "motion = \"locked\""), ["13: joint.elbow.motion"]);
    let deaf = joint("revolute", "motion = \"prescribed\"\ninput = false");
    assert_eq!(deaf, ["14: joint.elbow.input"]);
    let elsewhere = joint("revolute", "motions = [\"loads\", \"locked\"]\nmotion = \"prescribed\"");
    assert_eq!(elsewhere, ["13: joint.elbow.motions"]);
    let idle = joint("revolute", "motion = \"locked\"\nservo = { kp = 1.0, kd = 1.0 }");
    assert_eq!(idle, ["14: joint.elbow.servo"]);
    let follows = joint("revolute", "tracking = { kp = 1.0, kd = 1.0 }");
    assert_eq!(follows, ["13: joint.elbow.tracking"]);
    let fed = joint("spherical", "servo = { kp = 1.0, kd = 1.0, feed_forward = \"rigid\" }");
    assert_eq!(fed, ["13: joint.elbow.servo.feed_forward"]);
    let moving = joint("revolute", "motion = \"locked\"\nstart = { rate = 0.1 }");
    assert_eq!(moving, ["14: joint.elbow.start.rate"]);
    let swept = joint(
        "revolute",
        "motions = [\"loads\", \"locked\"]\n[signal.\"elbow.motion\"]\ntype = \"sine\"\nfrequency = 1.0",
    );
    assert_eq!(swept, ["15: signal.elbow.motion.type"]);
    let elsewhere = joint(
        "revolute",
        "motions = [\"loads\", \"locked\"]\n[signal.\"elbow.motion\"]\ntype = \"step\"\namplitude = 2.0\nfrom = 1.0",
    );
    assert_eq!(elsewhere, ["16: signal.elbow.motion.amplitude"]);
}

/// An attitude servo needs a free body, and one gain or three.
#[test]
fn an_attitude_servo_needs_a_free_body_and_three_axes() {
    let _section = messages::of_this_test();
    let servo = |body: &str, kp: &str| report(&format!("{GOOD}[body.{body}.attitude_servo]\nkp = {kp}\nkd = 1.0\n"));
    assert_eq!(servo("base", "[1.0, 2.0, 3.0]"), Vec::<String>::new());
    assert_eq!(servo("arm", "1.0"), ["13: body.arm.attitude_servo"]);
    assert_eq!(servo("base", "[1.0, 2.0]"), ["14: body.base.attitude_servo.kp"]);
    assert_eq!(servo("base", "-1.0"), ["14: body.base.attitude_servo.kp"]);
}

/// The perigee is above the ground, uniform gravity excludes an orbit, and LVLH axes require one.
#[test]
fn an_orbit_is_closed_and_above_the_ground() {
    let _section = messages::of_this_test();
    let orbit = |numbers: &str| report(&format!("{GOOD}[environment.orbit]\n{numbers}\n"));
    assert_eq!(orbit("semi_major_axis = 7e6"), Vec::<String>::new());
    assert_eq!(
        orbit("semi_major_axis = 400e3"),
        ["14: environment.orbit.semi_major_axis"]
    );
    assert_eq!(
        orbit("semi_major_axis = 7e6\neccentricity = 1.0"),
        ["15: environment.orbit.eccentricity"]
    );
    assert_eq!(orbit("semi_major_axis = 7e6\nmu = 0.0"), ["15: environment.orbit.mu"]);
    let with_gravity =
        format!("{GOOD}[environment]\ngravity = [0.0, 0.0, -9.81]\norbit = {{ semi_major_axis = 7e6 }}\n");
    assert_eq!(report(&with_gravity), ["14: environment.gravity"]);
    assert_eq!(
        report(&format!(
            "{GOOD}[body.base.attitude_servo]\nkp = 1.0\nkd = 1.0\naxes = \"lvlh\"\n"
        )),
        ["16: body.base.attitude_servo.axes"]
    );
}

/// A wheel needs a rotor with inertia and a defined body, a thruster a direction, a motor a torque
/// input or a servo.
#[test]
fn invalid_wheels_thrusters_and_motors_are_reported() {
    let _section = messages::of_this_test();
    let wheel = |numbers: &str| {
        report(&format!(
            "{GOOD}[wheel.spin]\ntorque_limit = 0.1\nrate_limit = 600.0\n{numbers}\n"
        ))
    };
    assert_eq!(
        wheel("body = \"base\"\nmass = 1.0\ninertia = 0.01"),
        Vec::<String>::new()
    );
    for (numbers, expected) in [
        ("body = \"base\"\nmass = 1.0", "13: wheel.spin.inertia"),
        ("body = \"base\"\nmass = 1.0\ninertia = 0.0", "18: wheel.spin.inertia"),
        ("body = \"bse\"\nmass = 1.0\ninertia = 0.1", "16: wheel.spin.body"),
        (
            "body = \"base\"\nmass = 1.0\ninertia = 0.1\nrate = 700.0",
            "19: wheel.spin.rate",
        ),
        (
            "body = \"base\"\nmass = 1.0\ninertia = 0.1\naxis = [0.0, 0.0, 0.0]",
            "19: wheel.spin.axis",
        ),
        (
            "body = \"base\"\nmass = 1.0\ninertia = 0.1\n[frame.spin_rotor]\nbody = \"base\"",
            "13: wheel.spin",
        ),
    ] {
        assert_eq!(wheel(numbers), [expected]);
    }
    let thruster = format!("{GOOD}[thruster.jet]\nframe = \"nozzle\"\ndirection = [1.0, 0.0, 0.0]\nthrust = 1.0\n");
    assert_eq!(report(&thruster), ["14: thruster.jet.frame"]);
    assert_eq!(
        report(&thruster.replace("nozzle", "base").replace("[1.0, 0", "[0.0, 0")),
        ["15: thruster.jet.direction"]
    );
    assert_eq!(
        report(&format!("{GOOD}input = false\nmotor = {{ torque_limit = 2.0 }}\n")),
        ["14: joint.elbow.motor"]
    );
    assert_eq!(
        report(&format!("{GOOD}motor = {{ torque_limit = [1.0, 2.0] }}\n")),
        ["13: joint.elbow.motor.torque_limit"]
    );
}

/// A fixed joint has no coordinate for an actuator.
#[test]
fn a_fixed_joint_has_neither_servo_nor_motor() {
    let _section = messages::of_this_test();
    let fixed = GOOD.replace("\"revolute\"", "\"fixed\"");
    for (field, written) in [("servo", "{ kp = 1.0, kd = 1.0 }"), ("motor", "{ torque_limit = 1.0 }")] {
        assert_eq!(
            report(&format!("{fixed}{field} = {written}\n")),
            [format!("13: joint.elbow.{field}")]
        );
    }
}

/// A trajectory starts at the joint's start and sets the derivatives of a reference; the wheels of
/// an attitude servo are on its body, with axes that span all directions.
#[test]
fn invalid_trajectories_and_wheels_of_servos_are_reported() {
    let _section = messages::of_this_test();
    let servo = format!("{GOOD}servo = {{ kp = 1.0, kd = 1.0 }}\nstart = {{ position_deg = 30.0 }}\n");
    let signal = |rest: &str| {
        report(&format!(
            "{servo}[signal.\"elbow.q_ref\"]\ntype = \"quintic\"\nfrom = 0.0\nuntil = 9.0\nwith_rate = true\n{rest}"
        ))
    };
    assert_eq!(
        signal("from_importer = false\noffset = 0.523599\n"),
        Vec::<String>::new()
    );
    assert_eq!(signal("from_importer = false\n"), ["15: signal.elbow.q_ref.offset"]);
    // The reference of a drive is validated in the same way.
    let drive = servo.replace(
        "servo = { kp = 1.0, kd = 1.0 }",
        "motion = \"prescribed\"\ntracking = { kp = 1.0, kd = 1.0 }",
    );
    assert_eq!(
        report(&format!(
            "{drive}[signal.\"elbow.q_ref\"]\ntype = \"quintic\"\nfrom = 0.0\nuntil = 9.0\nwith_rate = true\nfrom_importer = false\n"
        )),
        ["16: signal.elbow.q_ref.offset"]
    );
    assert_eq!(signal("offset = 0.523599\n"), ["19: signal.elbow.q_ref.with_rate"]);
    // An input that a trajectory sets has no other signal; this includes the acceleration.
    let fed = servo.replace("kd = 1.0 }", "kd = 1.0, feed_forward = \"rigid\" }");
    let twice = report(&format!(
        "{fed}[signal.\"elbow.q_ref\"]\ntype = \"quintic\"\nfrom = 0.0\nuntil = 9.0\nwith_rate = true\nfrom_importer = false\noffset = 0.523599\n\
         [signal.\"elbow.qdd_ref\"]\ntype = \"constant\"\nfrom_importer = false\n"
    ));
    assert_eq!(twice, ["19: signal.elbow.q_ref.with_rate"]);
    // The inverse dynamics are those of the tree of bodies.
    let attitude = format!("{GOOD}[body.base.attitude_servo]\nkp = 1.0\nkd = 1.0\nfeed_forward = \"rigid\"\n");
    let closed = "[loop.closing]\ntype = \"spherical\"\na = \"arm\"\nb = \"base\"\n";
    for fed in [&fed, &attitude] {
        let found = report(&format!("{fed}{closed}"));
        assert!(found.iter().any(|place| place.ends_with("loop.closing")), "{found:?}");
    }
    let wheels = |text: &str| {
        let mut spec = format!("{GOOD}[body.base.attitude_servo]\nkp = 1.0\nkd = 1.0\nwheels = {text}\n");
        for (name, body, axis) in [
            ("x", "base", [1.0, 0.0, 0.0]),
            ("y", "base", [0.0, 1.0, 0.0]),
            ("z", "base", [0.0, 0.0, 1.0]),
            ("far", "arm", [0.0, 0.0, 1.0]),
        ] {
            spec += &format!(
                "[wheel.{name}]\nbody = \"{body}\"\naxis = {axis:?}\nmass = 1.0\ninertia = 0.01\ntorque_limit = 0.1\nrate_limit = 600.0\n"
            );
        }
        report(&spec)
    };
    assert_eq!(wheels("[\"x\", \"y\", \"z\"]"), Vec::<String>::new());
    for text in [
        "[\"x\", \"y\"]",
        "[\"x\", \"y\", \"z\", \"far\"]",
        "[\"x\", \"y\", \"zed\"]",
    ] {
        assert_eq!(wheels(text), ["16: body.base.attitude_servo.wheels"]);
    }
}

/// An empty window and a negative frequency are rejected in signals of the importer and of the FMU.
#[test]
fn windows_and_frequencies_are_validated_in_signals_of_every_source() {
    let _section = messages::of_this_test();
    for from_importer in [true, false] {
        let of = |rest: &str| {
            report(&format!(
                "{GOOD}[signal.\"elbow.tau\"]\nfrom_importer = {from_importer}\n{rest}\n"
            ))
        };
        for [from, until] in [["5.0", "1.0"], ["2.0", "2.0"]] {
            assert_eq!(
                of(&format!("type = \"quintic\"\nfrom = {from}\nuntil = {until}")),
                ["17: signal.elbow.tau.until"]
            );
        }
        assert_eq!(
            of("type = \"sine\"\nfrequency = -1.0"),
            ["16: signal.elbow.tau.frequency"]
        );
    }
}
