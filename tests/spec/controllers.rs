//! Specs of a controller.

use crate::{GOOD, NODAL_BEAM, messages, report};

const CONTROLLER: &str = r#"name = "control"
kind = "controller"
[controller]
sample_time = 0.01
[controller.joint.elbow]
kp = 40.0
kd = 5.0
torque_limit = 10.0
"#;

#[test]
fn valid_controller_has_no_problem() {
    let _section = messages::of_this_test();
    assert_eq!(report(CONTROLLER), Vec::<String>::new());
    let planned = r#"[signal."elbow.q_ref"]
type = "quintic"
from = 0.0
until = 1.0
from_importer = false
with_rate = true
"#;
    assert_eq!(report(&format!("{CONTROLLER}{planned}")), Vec::<String>::new());
}

#[test]
fn sections_of_a_spacecraft_and_of_a_controller_exclude_each_other() {
    let _section = messages::of_this_test();
    let both = GOOD.replace("name = \"craft\"", "name = \"craft\"\nkind = \"controller\"");
    assert_eq!(report(&both), ["3: kind", "4: body", "10: joint"]);
    let craft = report(&format!("{GOOD}[controller.joint.elbow]\nkp = 1.0\nkd = 1.0\n"));
    assert_eq!(craft, ["13: controller"]);
}

#[test]
fn errors_in_joints_numbers_and_signals_of_a_controller_are_reported_at_their_positions() {
    let _section = messages::of_this_test();
    let with = |from: &str, to: &str| {
        assert!(CONTROLLER.contains(from));
        report(&CONTROLLER.replace(from, to))
    };
    let cases = [
        (
            ("kp = 40.0", "type = \"fixed\"\nkp = 40.0"),
            "6: controller.joint.elbow.type",
        ),
        (("kp = 40.0", "kp = [1.0, 2.0]"), "6: controller.joint.elbow.kp"),
        (("kp = 40.0", "kp = -1.0"), "6: controller.joint.elbow.kp"),
        (("sample_time = 0.01", "sample_time = 0.0"), "4: controller.sample_time"),
        (
            ("sample_time = 0.01", "sample_time = 1e-9"),
            "4: controller.sample_time",
        ),
        (
            ("torque_limit = 10.0", "torque_limit = 0.0"),
            "8: controller.joint.elbow.torque_limit",
        ),
        (("joint.elbow]", "joint.\"el bow\"]"), "5: controller.joint.el bow"),
        (
            (
                "[controller.joint.elbow]",
                "[signal.\"elbo.q\"]\ntype = \"constant\"\n[controller.joint.elbow]",
            ),
            "5: signal.elbo.q",
        ),
    ];
    for ((from, to), expected) in cases {
        assert_eq!(with(from, to), [expected]);
    }
    // Invalid names with wrong counts of numbers: both errors are reported.
    for name in ["a b", ""] {
        let places = report(&format!(
            "name = \"control\"\nkind = \"controller\"\n[controller.joint.\"{name}\"]\ntype = \"cylindrical\"\nkp = [1.0]\nkd = 1.0\n"
        ));
        let joint = format!("controller.joint.{name}");
        assert_eq!(places, [format!("3: {joint}"), format!("5: {joint}.kp")]);
    }
    // A signal of an invalid joint is not an additional error.
    let places = with(
        "kp = 40.0",
        "kp = [1.0, 2.0]\n[signal.\"elbow.q_ref\"]\ntype = \"constant\"\n[controller.joint.wrist]\nkp = 1.0",
    );
    assert_eq!(places, ["5: controller.joint.elbow.kd"]);
    let solved = report(&format!("{CONTROLLER}[solver]\nmethod = \"radau5\"\n"));
    assert_eq!(solved, ["9: solver"]);
    let nobody = report("name = \"control\"\nkind = \"controller\"\n[controller]\nsample_time = 0.01\n");
    assert_eq!(nobody, ["3: controller"]);
}

/// Filters of a controller: sampled ones only, with frequencies below half the sampling rate, and the
/// fields of their type.
#[test]
fn invalid_filters_are_reported() {
    let _section = messages::of_this_test();
    let with = |filter: &str| report(&format!("{CONTROLLER}filter = [{filter}]\n"));
    let place = "9: controller.joint.elbow.filter";
    for good in [
        "{ type = \"first_order\", frequency = 49.0 }",
        "{ type = \"second_order\", frequency = 1.1e-4 }",
        "{ type = \"second_order\", frequency = 5.0, damping_ratio = 1.0 }, { type = \"notch\", frequency = 2.0, depth = 0.1 }",
    ] {
        assert_eq!(with(good), Vec::<String>::new());
    }
    for wrong in [
        "{ type = \"first_order\", frequency = 50.0 }",
        "{ type = \"first_order\", frequency = 0.0 }",
        "{ type = \"second_order\", frequency = 9e-5 }",
        "{ type = \"first_order\", frequency = 5.0, damping_ratio = 0.7 }",
        "{ type = \"second_order\", frequency = 5.0, depth = 0.7 }",
        "{ type = \"second_order\", frequency = 5.0, damping_ratio = 0.0 }",
        "{ type = \"notch\", frequency = 5.0, depth = 1.0 }",
        "{ type = \"notch\", frequency = 5.0, depth = -0.1 }",
    ] {
        assert_eq!(with(wrong), [place], "{wrong}");
    }
    let notch = "filter = [{ type = \"notch\", frequency = 5.0 }]\n";
    let continuous = CONTROLLER.replace("sample_time = 0.01\n", "");
    assert_eq!(
        report(&format!("{continuous}{notch}")),
        ["8: controller.joint.elbow.filter"]
    );
    let attitude = ATTITUDE.replacen("kd = [5.0, 6.0, 7.0]\n", &format!("kd = 5.0\n{notch}"), 1);
    assert!(report(&attitude).contains(&"6: controller.attitude.hub.filter".to_owned()));
}

const ATTITUDE: &str = r#"name = "control"
kind = "controller"
[controller.attitude.hub]
kp = 40.0
kd = [5.0, 6.0, 7.0]
[controller.attitude.hub.wheel.x]
axis = [1.0, 0.0, 0.0]
torque_limit = 2.0
[controller.attitude.hub.wheel.y]
axis = [0.0, 1.0, 0.0]
[controller.attitude.hub.wheel.z]
axis = [0.0, 0.0, 1.0]
"#;

#[test]
fn valid_attitude_has_no_problem() {
    assert_eq!(report(ATTITUDE), Vec::<String>::new());
    let port =
        "name = \"control\"\nkind = \"controller\"\n[controller.attitude.hub]\nkp = 1.0\nkd = 1.0\nport = \"pusher\"\n";
    assert_eq!(report(port), Vec::<String>::new());
}

#[test]
fn errors_in_an_attitude_are_reported_at_their_positions() {
    let _section = messages::of_this_test();
    let hub = "controller.attitude.hub";
    let cases = [
        ("kp = 40.0", "kp = -40.0", format!("4: {hub}.kp")),
        ("kd = [5.0, 6.0, 7.0]", "kd = [5.0, 6.0]", format!("5: {hub}.kd")),
        ("[0.0, 0.0, 1.0]", "[1.0, 1.0, 0.0]", format!("6: {hub}.wheel")),
        ("[0.0, 0.0, 1.0]", "[0.0, 0.0, 0.0]", format!("12: {hub}.wheel.z.axis")),
        (
            "torque_limit = 2.0",
            "torque_limit = -2.0",
            format!("8: {hub}.wheel.x.torque_limit"),
        ),
        ("kp = 40.0", "port = \"pusher\"\nkp = 40.0", format!("3: {hub}")),
        ("wheel.z]", "wheel.hub]", format!("11: {hub}.wheel.hub")),
        ("wheel.z]", "wheel.\"z z\"]", format!("11: {hub}.wheel.z z")),
    ];
    for (from, to, expected) in cases {
        assert!(ATTITUDE.contains(from));
        assert_eq!(report(&ATTITUDE.replace(from, to)), [expected], "{to}");
    }
    let nothing = "name = \"control\"\nkind = \"controller\"\n[controller.attitude.hub]\nkp = 1.0\nkd = 1.0\n";
    assert_eq!(report(nothing), [format!("3: {hub}")]);
    // A signal of an invalid attitude is not an additional error.
    let signal = "[signal.\"hub.w_ref[1]\"]\ntype = \"constant\"\n[controller.attitude.hub.wheel.x]";
    let both = ATTITUDE.replace("[controller.attitude.hub.wheel.x]", signal);
    assert_eq!(report(&both), Vec::<String>::new());
    assert_eq!(report(&both.replace("5.0, 6.0", "5.0")), [format!("5: {hub}.kd")]);
}

#[test]
fn signals_set_the_elements_of_a_reference_vector() {
    let _section = messages::of_this_test();
    let vector = CONTROLLER.replace(
        "[controller]",
        "[controller]\nreferences = \"vector\"\nreference_unit = \"deg\"",
    );
    let planned = |input: &str| {
        format!(
            "{vector}[signal.\"{input}\"]\ntype = \"quintic\"\nfrom = 0.0\nuntil = 1.0\nfrom_importer = false\nwith_rate = true\n"
        )
    };
    assert_eq!(report(&planned("q_ref[1]")), Vec::<String>::new());
    assert_eq!(report(&planned("q_ref[2]")), ["11: signal.q_ref[2]"]);
    assert_eq!(report(&planned("elbow.q_ref")), ["16: signal.elbow.q_ref.with_rate"]);
    let short = planned("q_ref[1]").replace("kp = 40.0", "kp = [1.0, 2.0]");
    assert_eq!(report(&short), ["8: controller.joint.elbow.kp"]);
}

#[test]
fn errors_in_a_desaturation_are_reported_at_their_positions() {
    let _section = messages::of_this_test();
    let hub = "controller.attitude.hub";
    let good = ATTITUDE
        .replace(
            "kd = ",
            "momentum_limit = 4.0\nmomentum_release = 1.0\ndesaturation_time = 10.0\nkd = ",
        )
        .replace("axis = ", "inertia = 0.1\naxis = ");
    let torques = [
        "[1.0, 0.0, 0.0]",
        "[0.0, 1.0, 0.0]",
        "[0.0, 0.0, 1.0]",
        "[-1.0, -1.0, -1.0]",
    ];
    let tables = torques.iter().enumerate();
    let good: String = std::iter::once(good)
        .chain(tables.map(|(i, torque)| format!("[{hub}.thruster.jet{i}]\ntorque = {torque}\n")))
        .collect();
    assert_eq!(report(&good), Vec::<String>::new());
    let cases = [
        ("[-1.0, -1.0, -1.0]", "[-1.0, -1.0, 1.0]", format!("19: {hub}.thruster")),
        (
            "[-1.0, -1.0, -1.0]",
            "[0.0, 0.0, 0.0]",
            format!("26: {hub}.thruster.jet3.torque"),
        ),
        (
            "momentum_limit = 4.0",
            "momentum_limit = -4.0",
            format!("5: {hub}.momentum_limit"),
        ),
        ("momentum_limit = 4.0", "", format!("3: {hub}.momentum_limit")),
        (
            "momentum_release = 1.0",
            "momentum_release = 4.0",
            format!("6: {hub}.momentum_release"),
        ),
        (
            "desaturation_time = 10.0",
            "desaturation_time = 0.0",
            format!("7: {hub}.desaturation_time"),
        ),
        ("thruster.jet3]", "thruster.x]", format!("25: {hub}.thruster.x")),
    ];
    for (from, to, expected) in cases {
        assert!(good.contains(from));
        assert_eq!(report(&good.replace(from, to))[..1], [expected], "{to}");
    }
    let without = ATTITUDE.replace("kd = ", "momentum_limit = 4.0\nkd = ");
    assert_eq!(report(&without), [format!("5: {hub}.momentum_limit")]);
}

/// Controllers with tasks: a spacecraft is part of them, and motions and discrete states that are
/// not measured are errors.
#[test]
fn invalid_controllers_with_tasks_are_reported() {
    let _section = messages::of_this_test();
    let good = format!(
        "{}friction = {{ coulomb = 1.0, slip = 0.1 }}\n[task.reach]\nframe = \"arm\"\njoints = [\"elbow\"]\n\
         components = [\"rz\"]\nkp = 1.0\nkd = 9.0\n[controller]\n",
        GOOD.replace("name = \"craft\"", "name = \"craft\"\nkind = \"controller\"")
    );
    assert_eq!(report(&good), Vec::<String>::new());
    let changed = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        report(&good.replace(from, to))
    };
    // Parts of the spacecraft that are no loads of the law are left out, with their signals.
    let more = "[contact.touch]\na = \"arm\"\nb = \"base\"\ne = 0.5\n[signal.\"touch.impact\"]\ntype = \"constant\"\n\
                [measure.gap]\nfrom = \"arm\"\nto = \"base\"\n\
                [solver]\nmethod = \"radau5\"\n";
    assert_eq!(report(&(good.clone() + more)), Vec::<String>::new());
    for motion in [
        "motion = \"prescribed\"",
        "servo = { kp = 0.0, kd = 0.0, feed_forward = \"rigid\" }",
    ] {
        assert_eq!(
            changed("friction = {", &format!("{motion}\nfriction = {{")),
            Vec::<String>::new()
        );
    }
    assert_eq!(report(&(good.clone() + "sample_time = 0.01\n")), Vec::<String>::new());
    let servo = changed("friction = {", "servo = { kp = 1.0, kd = 1.0 }\nfriction = {");
    assert_eq!(servo, ["18: task.reach.joints"]);
    assert_eq!(changed("[controller]\n", ""), ["3: kind"]);
    assert_eq!(changed("[\"elbow\"]", "[\"elbwo\"]"), ["17: task.reach.joints"]);
    assert_eq!(
        changed("kp = 1.0", "sample_time = 0.1\nkp = 1.0"),
        ["19: task.reach.sample_time"]
    );
    assert_eq!(changed("kp = 1.0", "mass = 0.0\nkp = 1.0"), ["19: task.reach.mass"]);
    assert_eq!(
        changed("kp = 1.0", "contacts = [\"touch\"]\nkp = 1.0"),
        ["19: task.reach.contacts"]
    );
    assert_eq!(changed(", slip = 0.1", ""), ["14: joint.elbow.friction"]);
    let motions = changed("friction = {", "motions = [\"loads\", \"locked\"]\nfriction = {");
    assert_eq!(motions, ["14: joint.elbow.motions", "18: task.reach.joints"]);
    let both = good.clone() + "[controller.joint.elbow]\nkp = 1.0\nkd = 1.0\n";
    assert_eq!(report(&both), ["21: controller"]);
    assert_eq!(
        report(&(good.clone() + "references = \"vector\"\n")),
        ["22: controller.references"]
    );
    let signal = |input: &str| report(&format!("{good}[signal.\"{input}\"]\ntype = \"constant\"\n"));
    assert_eq!(signal("elbow.q"), Vec::<String>::new());
    assert_eq!(signal("elbow.qq"), ["22: signal.elbow.qq"]);
    assert_eq!(signal("elbow.qdd_ref"), ["22: signal.elbow.qdd_ref"]);
    let mass = changed("mass = 4.0", "mass = -4.0");
    assert_eq!(mass, ["5: body.base.mass"]);
    let beam = report(&(good + NODAL_BEAM));
    assert_eq!(beam[0], "23: ancf_beam.span");
}
