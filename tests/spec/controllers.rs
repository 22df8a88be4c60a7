//! Specs of a controller.

use crate::{GOOD, report};

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
    let both = GOOD.replace("name = \"craft\"", "name = \"craft\"\nkind = \"controller\"");
    let messages = report(&both);
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert!(
        messages
            .iter()
            .any(|line| line.starts_with("4: body: a controller has no such section"))
            && messages
                .iter()
                .any(|line| line.contains("joint: a controller has no such section"))
            && messages
                .iter()
                .any(|line| line.contains("kind: a controller needs its section")),
        "{messages:?}"
    );
    let craft = report(&format!("{GOOD}[controller.joint.elbow]\nkp = 1.0\nkd = 1.0\n"));
    assert_eq!(craft.len(), 1, "{craft:?}");
    assert!(
        craft[0].contains("controller: a spacecraft has no such section"),
        "{craft:?}"
    );
}

#[test]
fn errors_in_joints_numbers_and_signals_of_a_controller_are_reported_at_their_positions() {
    let with = |from: &str, to: &str| {
        assert!(CONTROLLER.contains(from));
        report(&CONTROLLER.replace(from, to))
    };
    let cases = [
        (
            ("kp = 40.0", "type = \"fixed\"\nkp = 40.0"),
            "6: controller.joint.elbow.type: a fixed joint has no coordinates that a proportional gain could act on",
        ),
        (
            ("kp = 40.0", "kp = [1.0, 2.0]"),
            "6: controller.joint.elbow.kp: 2 numbers, but a revolute joint has 1 of them",
        ),
        (
            ("kp = 40.0", "kp = -1.0"),
            "6: controller.joint.elbow.kp: elbow.kp = -1 N.m/rad is negative",
        ),
        (
            ("sample_time = 0.01", "sample_time = 0.0"),
            "4: controller.sample_time: controller.sample_time = 0 s is not positive",
        ),
        (
            ("sample_time = 0.01", "sample_time = 1e-9"),
            "4: controller.sample_time: controller.sample_time = 0.000000001 s is shorter than 0.000001 s",
        ),
        (
            ("torque_limit = 10.0", "torque_limit = 0.0"),
            "8: controller.joint.elbow.torque_limit: elbow.torque_limit = 0 N.m is not positive",
        ),
        (
            ("joint.elbow]", "joint.\"el bow\"]"),
            "5: controller.joint.el bow: \"el bow\" is not a legal name",
        ),
        (
            (
                "[controller.joint.elbow]",
                "[signal.\"elbo.q\"]\ntype = \"constant\"\n[controller.joint.elbow]",
            ),
            "5: signal \"elbo.q\": there is no input \"elbo.q\"; did you mean \"elbow.q\"?",
        ),
    ];
    for ((from, to), expected) in cases {
        let messages = with(from, to);
        assert!(
            messages.len() == 1 && messages[0].starts_with(expected),
            "{expected}\n{messages:?}"
        );
    }
    // Invalid names with wrong counts of numbers: both errors are reported.
    for name in ["a.b", ""] {
        let messages = report(&format!(
            "name = \"control\"\nkind = \"controller\"\n[controller.joint.\"{name}\"]\ntype = \"cylindrical\"\nkp = [1.0]\nkd = 1.0\n"
        ));
        assert_eq!(messages.len(), 2, "{messages:?}");
    }
    // A signal of an invalid joint is not an additional error.
    let messages = with(
        "kp = 40.0",
        "kp = [1.0, 2.0]\n[signal.\"elbow.q_ref\"]\ntype = \"constant\"\n[controller.joint.wrist]\nkp = 1.0",
    );
    assert_eq!(messages.len(), 1, "{messages:?}");
    let solved = report(&format!("{CONTROLLER}[solver]\nmethod = \"radau5\"\n"));
    assert!(
        solved.len() == 1 && solved[0].contains("solver: a controller has no such section"),
        "{solved:?}"
    );
    let nobody = report("name = \"control\"\nkind = \"controller\"\n[controller]\nsample_time = 0.01\n");
    assert!(nobody[0].contains("there is no joint to control"), "{nobody:?}");
}
