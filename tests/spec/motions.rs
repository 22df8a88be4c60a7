//! Drives, brakes and servos.

use crate::{GOOD, report};

/// Errors: brakes and drives on joints without coordinates, a prescribed joint without its input,
/// inconsistent motions.
#[test]
fn invalid_motions_are_reported_with_the_joint() {
    let joint = |kind: &str, more: &str| {
        let text = GOOD.replace("type = \"revolute\"", &format!("type = \"{kind}\""));
        report(&format!("{text}{more}\n"))
    };
    let fixed = joint("fixed", "motions = [\"loads\", \"locked\"]");
    assert_eq!(fixed.len(), 1, "{fixed:?}");
    assert!(
        fixed[0].ends_with("joint \"elbow\", motions: a fixed joint has no `motions`: nothing drives or holds it"),
        "{fixed:?}"
    );
    assert!(
        joint("free", "motion = \"locked\"")[0].contains("a free joint has no `motion`: nothing drives or holds it")
    );
    let deaf = joint("revolute", "motion = \"prescribed\"\ninput = false");
    assert_eq!(
        deaf,
        ["14: joint \"elbow\", input: a prescribed joint needs its input elbow.qdd: leave `input` out"]
    );
    let elsewhere = joint("revolute", "motions = [\"loads\", \"locked\"]\nmotion = \"prescribed\"");
    assert_eq!(
        elsewhere,
        ["13: joint \"elbow\", motions: the joint starts with \"prescribed\", which is not among them"]
    );
    let idle = joint("revolute", "motion = \"locked\"\nservo = { kp = 1.0, kd = 1.0 }");
    assert!(
        idle[0].contains("a revolute joint has no `servo` without the motion \"loads\""),
        "{idle:?}"
    );
    let follows = joint("revolute", "tracking = { kp = 1.0, kd = 1.0 }");
    assert!(
        follows[0].contains("a revolute joint has no `tracking` without the motion \"prescribed\""),
        "{follows:?}"
    );
    let fed = joint("spherical", "servo = { kp = 1.0, kd = 1.0, feed_forward = \"rigid\" }");
    assert!(
        fed.len() == 1 && fed[0].contains("servo.feed_forward: a spherical joint's servo has no feed-forward"),
        "{fed:?}"
    );
    let moving = joint("revolute", "motion = \"locked\"\nstart = { rate = 0.1 }");
    assert_eq!(
        moving,
        [
            "14: joint \"elbow\", start.rate: elbow.qd_start = 0.1 rad/s (5.729577951 deg/s), but a locked joint starts at rest"
        ]
    );
    let swept = joint(
        "revolute",
        "motions = [\"loads\", \"locked\"]\n[signal.\"elbow.motion\"]\ntype = \"sine\"\nfrequency = 1.0",
    );
    assert!(
        swept[0].contains(
            "a motion is a discrete input: write a constant, a step, or a table with interpolation = \"hold\""
        ),
        "{swept:?}"
    );
    let elsewhere = joint(
        "revolute",
        "motions = [\"loads\", \"locked\"]\n[signal.\"elbow.motion\"]\ntype = \"step\"\namplitude = 2.0\nfrom = 1.0",
    );
    assert!(
        elsewhere[0].contains("2 is none of the joint's motions: 0 loads, 1 locked"),
        "{elsewhere:?}"
    );
}

/// An attitude servo needs a free body, and one gain or three.
#[test]
fn an_attitude_servo_needs_a_free_body_and_three_axes() {
    let servo = |body: &str, kp: &str| report(&format!("{GOOD}[body.{body}.attitude_servo]\nkp = {kp}\nkd = 1.0\n"));
    assert_eq!(servo("base", "[1.0, 2.0, 3.0]"), Vec::<String>::new());
    let [problem] = servo("arm", "1.0").try_into().expect("one");
    assert!(
        problem.ends_with(
            "only a free body has an attitude servo, and joint \"elbow\" carries this one: write a `servo` of the joint"
        ),
        "{problem}"
    );
    let [problem] = servo("base", "[1.0, 2.0]").try_into().expect("one");
    assert!(
        problem.ends_with("attitude_servo.kp: 2 numbers for 3 axes"),
        "{problem}"
    );
    let [problem] = servo("base", "-1.0").try_into().expect("one");
    assert!(problem.contains("base.kp[1] = -1 N.m/rad is negative"), "{problem}");
}

/// The perigee is above the ground, uniform gravity excludes an orbit, and LVLH axes require one.
#[test]
fn an_orbit_is_closed_and_above_the_ground() {
    let orbit = |numbers: &str| report(&format!("{GOOD}[environment.orbit]\n{numbers}\n"));
    assert_eq!(orbit("semi_major_axis = 7e6"), Vec::<String>::new());
    let [problem] = orbit("semi_major_axis = 400e3").try_into().expect("one");
    assert!(
        problem.ends_with(
            "orbit.semi_major_axis: the orbit's perigee, 400 km from the centre, is inside the central body (radius \
             6378.137 km): the semi-major axis is measured from the centre, not from the ground"
        ),
        "{problem}"
    );
    let [problem] = orbit("semi_major_axis = 7e6\neccentricity = 1.0")
        .try_into()
        .expect("one");
    assert!(
        problem.ends_with("orbit.eccentricity: an eccentricity of 1 is not that of a closed orbit: it must be below 1"),
        "{problem}"
    );
    let [problem] = orbit("semi_major_axis = 7e6\nmu = 0.0").try_into().expect("one");
    assert!(problem.contains("orbit.mu = 0 m3/s2 is not positive"), "{problem}");
    let with_gravity =
        format!("{GOOD}[environment]\ngravity = [0.0, 0.0, -9.81]\norbit = {{ semi_major_axis = 7e6 }}\n");
    let [problem] = report(&with_gravity).try_into().expect("one");
    assert!(problem.ends_with("leave `gravity` or `orbit` out"), "{problem}");
    let [problem] = report(&format!(
        "{GOOD}[body.base.attitude_servo]\nkp = 1.0\nkd = 1.0\naxes = \"lvlh\"\n"
    ))
    .try_into()
    .expect("one");
    assert!(
        problem.ends_with("attitude_servo.axes: LVLH axes need an orbit: write [environment.orbit]"),
        "{problem}"
    );
}

/// A wheel needs a rotor with inertia and a defined body, a thruster a direction, a motor a torque
/// input or a servo.
#[test]
fn invalid_wheels_thrusters_and_motors_are_reported() {
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
        ("body = \"base\"\nmass = 1.0", "missing field `inertia`"),
        (
            "body = \"base\"\nmass = 1.0\ninertia = 0.0",
            "wheel \"spin\", inertia: 0 is not positive",
        ),
        (
            "body = \"bse\"\nmass = 1.0\ninertia = 0.1",
            "there is no body \"bse\"; did you mean \"base\"?",
        ),
        (
            "body = \"base\"\nmass = 1.0\ninertia = 0.1\nrate = 700.0",
            "it starts at 700 rad/s, beyond its limit of 600 rad/s",
        ),
        (
            "body = \"base\"\nmass = 1.0\ninertia = 0.1\naxis = [0.0, 0.0, 0.0]",
            "the axis has zero length",
        ),
        (
            "body = \"base\"\nmass = 1.0\ninertia = 0.1\n[frame.spin_rotor]\nbody = \"base\"",
            "the name \"spin_rotor\" of its rotor is already that of a frame",
        ),
    ] {
        let [problem] = wheel(numbers).try_into().expect("one");
        assert!(problem.contains(expected), "{problem}");
    }
    let thruster = format!("{GOOD}[thruster.jet]\nframe = \"nozzle\"\ndirection = [1.0, 0.0, 0.0]\nthrust = 1.0\n");
    let [problem] = report(&thruster).try_into().expect("one");
    assert!(problem.contains("there is no frame or body \"nozzle\""), "{problem}");
    let [problem] = report(&thruster.replace("nozzle", "base").replace("[1.0, 0", "[0.0, 0"))
        .try_into()
        .expect("one");
    assert!(
        problem.contains("thruster \"jet\", direction: the direction has zero length"),
        "{problem}"
    );
    let [problem] = report(&format!("{GOOD}input = false\nmotor = {{ torque_limit = 2.0 }}\n"))
        .try_into()
        .expect("one");
    assert!(
        problem.ends_with("a revolute joint has no `motor` without a torque input or a servo"),
        "{problem}"
    );
    let [problem] = report(&format!("{GOOD}motor = {{ torque_limit = [1.0, 2.0] }}\n"))
        .try_into()
        .expect("one");
    assert!(
        problem.ends_with("motor.torque_limit: 2 numbers, but a revolute joint has 1 of them"),
        "{problem}"
    );
}

/// A fixed joint has no coordinate for an actuator.
#[test]
fn a_fixed_joint_has_neither_servo_nor_motor() {
    let fixed = GOOD.replace("\"revolute\"", "\"fixed\"");
    for (field, written) in [("servo", "{ kp = 1.0, kd = 1.0 }"), ("motor", "{ torque_limit = 1.0 }")] {
        let [problem] = report(&format!("{fixed}{field} = {written}\n"))
            .try_into()
            .expect("one");
        assert!(
            problem.ends_with(&format!("joint \"elbow\", {field}: a fixed joint has no `{field}`")),
            "{problem}"
        );
    }
}

/// A trajectory starts at the joint's start and sets the derivatives of a reference; the wheels of
/// an attitude servo are on its body, with axes that span all directions.
#[test]
fn invalid_trajectories_and_wheels_of_servos_are_reported() {
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
    let [problem] = signal("from_importer = false\n").try_into().expect("one");
    assert!(
        problem.ends_with("the trajectory starts at 0 rad (0 deg), and elbow.q_start is 0.5235987755982988 rad (30 deg): set its `offset` to that value"),
        "{problem}"
    );
    // The reference of a drive is validated in the same way.
    let drive = servo.replace(
        "servo = { kp = 1.0, kd = 1.0 }",
        "motion = \"prescribed\"\ntracking = { kp = 1.0, kd = 1.0 }",
    );
    let [problem] = report(&format!(
        "{drive}[signal.\"elbow.q_ref\"]\ntype = \"quintic\"\nfrom = 0.0\nuntil = 9.0\nwith_rate = true\nfrom_importer = false\n"
    ))
    .try_into()
    .expect("one");
    assert!(problem.contains("the trajectory starts at 0 rad"), "{problem}");
    let [problem] = signal("offset = 0.523599\n").try_into().expect("one");
    assert!(problem.contains("write from_importer = false"), "{problem}");
    // An input that a trajectory sets has no other signal; this includes the acceleration.
    let fed = servo.replace("kd = 1.0 }", "kd = 1.0, feed_forward = \"rigid\" }");
    let twice = report(&format!(
        "{fed}[signal.\"elbow.q_ref\"]\ntype = \"quintic\"\nfrom = 0.0\nuntil = 9.0\nwith_rate = true\nfrom_importer = false\noffset = 0.523599\n\
         [signal.\"elbow.qdd_ref\"]\ntype = \"constant\"\nfrom_importer = false\n"
    ));
    assert!(
        twice.len() == 1 && twice[0].contains("\"elbow.qdd_ref\" has a signal of its own"),
        "{twice:?}"
    );
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
    for (text, expected) in [
        ("[\"x\", \"y\"]", "the wheels' axes lie in a plane"),
        ("[\"x\", \"y\", \"z\", \"far\"]", "wheel \"far\" is on body \"arm\""),
        ("[\"x\", \"y\", \"zed\"]", "there is no wheel \"zed\""),
    ] {
        assert!(
            wheels(text).iter().any(|problem| problem.contains(expected)),
            "{:?}",
            wheels(text)
        );
    }
}

/// An empty window and a negative frequency are rejected in signals of the importer and of the FMU.
#[test]
fn windows_and_frequencies_are_validated_in_signals_of_every_source() {
    for from_importer in [true, false] {
        let of = |rest: &str| {
            report(&format!(
                "{GOOD}[signal.\"elbow.tau\"]\nfrom_importer = {from_importer}\n{rest}\n"
            ))
        };
        for [from, until] in [["5.0", "1.0"], ["2.0", "2.0"]] {
            let [message] = of(&format!("type = \"quintic\"\nfrom = {from}\nuntil = {until}"))
                .try_into()
                .expect("one");
            let [from, until] = [from, until].map(|t| t.trim_end_matches(".0"));
            assert!(
                message.ends_with(&format!(
                    "until: it ends at {until} s and begins at {from} s: `until` must be later than `from`"
                )),
                "{message}"
            );
        }
        let [message] = of("type = \"sine\"\nfrequency = -1.0").try_into().expect("one");
        assert!(message.contains("-1 Hz is negative"), "{message}");
    }
}
