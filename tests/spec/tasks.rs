//! Task-space control, and Jacobians as outputs.

use crate::{GOOD, messages, report};

const TASK: &str = "motion = \"prescribed\"\n[frame.tip]\nbody = \"arm\"\n[task.reach]\nframe = \"tip\"\njoints = [\"elbow\"]\n\
                    components = [\"rz\"]\nkp = 1.0\nkd = 9.0\n";

/// Errors: joints that take no acceleration, more components than axes, incomplete waypoints, and
/// parts of a model that tasks do not include.
#[test]
fn invalid_tasks_are_reported_with_their_names() {
    let _section = messages::of_this_test();
    let good = format!("{GOOD}{TASK}");
    assert_eq!(report(&good), Vec::<String>::new());
    let changed = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        report(&good.replace(from, to))
    };
    let components = |list: &str| changed("components = [\"rz\"]", &format!("components = [{list}]"));
    assert_eq!(components("\"x\", \"y\""), ["19: task.reach.components"]);
    assert_eq!(components("\"x\", \"x\""), ["19: task.reach.components"]);
    assert_eq!(components(""), ["16: task.reach"]);
    let joints = |list: &str| changed("joints = [\"elbow\"]", &format!("joints = [{list}]"));
    assert_eq!(joints("\"elbow\", \"elbow\""), ["18: task.reach.joints"]);
    assert_eq!(joints("\"elbwo\""), ["18: task.reach.joints"]);
    assert_eq!(changed("motion = \"prescribed\"", ""), ["18: task.reach.joints"]);
    let servo = "servo = { kp = 1.0, kd = 1.0 }";
    assert_eq!(changed("motion = \"prescribed\"", servo), ["18: task.reach.joints"]);
    assert_eq!(changed("\"revolute\"", "\"spherical\""), ["18: task.reach.joints"]);
    assert_eq!(changed("frame = \"tip\"", "frame = \"tpi\""), ["17: task.reach.frame"]);
    assert_eq!(changed("kp = 1.0", "kp = 0.0"), ["20: task.reach.kp"]);
    let relative = changed("kp = 1.0", "relative_to = \"tip\"\nkp = 1.0");
    assert_eq!(relative, ["20: task.reach.relative_to"]);
    let signal = "[signal.\"elbow.qdd\"]\ntype = \"constant\"\n";
    assert_eq!(report(&format!("{good}{signal}")), ["22: signal.elbow.qdd"]);
    let waypoints = |poses: &[&str]| {
        let tables = poses.iter().map(|pose| format!("[[task.reach.waypoint]]\n{pose}\n"));
        report(&format!("{good}{}", tables.collect::<String>()))
    };
    assert_eq!(
        waypoints(&["time = 0.0\nrpy_deg = [0.0, 0.0, 9.0]"]),
        Vec::<String>::new()
    );
    assert_eq!(
        waypoints(&["time = 0.0\nposition = [0.0, 0.0, 9.0]"]),
        ["22: task.reach.waypoint"]
    );
    let turn = "time = 2.0\norientation = [1.0, 0.0, 0.0, 0.0]";
    assert_eq!(waypoints(&[turn, turn]), ["22: task.reach.waypoint"]);
    assert_eq!(
        waypoints(&["time = 2.0\norientation = [1.0, 0.1, 0.0, 0.0]"]),
        ["22: task.reach.waypoint"]
    );
    let second = good.replace(
        "[frame.tip]",
        "[body.other]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n[joint.wrist]\ntype = \"revolute\"\nparent = \"arm\"\nchild = \"other\"\n\
         motion = \"prescribed\"\n[task.turn]\nframe = \"other\"\njoints = [\"wrist\"]\ncomponents = [\"rz\"]\nkp = 1.0\nkd = 9.0\n[frame.tip]",
    );
    assert_eq!(report(&second), ["32: task.reach.joints"]);
    let apart = good.replace("[\"elbow\"]", "[\"elbow\", \"wrist\"]")
        + "[body.other]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n[joint.wrist]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"other\"\n\
           motion = \"prescribed\"\n";
    assert_eq!(report(&apart), ["18: task.reach.joints"]);
}

/// Errors of `[kinematics]`: outputs that need a free-floating base, frames that do not move.
#[test]
fn invalid_kinematics_are_reported_with_their_names() {
    let _section = messages::of_this_test();
    let of = |frame: &str, outputs: &str| {
        format!(
            "[frame.tip]\nbody = \"arm\"\n[kinematics.hand]\nframe = \"{frame}\"\njoints = [\"elbow\"]\noutputs = [{outputs}]\n"
        )
    };
    let written = |frame: &str, outputs: &str| report(&format!("{GOOD}{}", of(frame, outputs)));
    assert_eq!(written("tip", "\"jacobian\", \"base_motion\""), Vec::<String>::new());
    assert_eq!(written("tip", "\"singular_value\""), ["15: kinematics.hand.components"]);
    assert_eq!(written("tip", ""), ["15: kinematics.hand"]);
    assert_eq!(written("tpi", "\"jacobian\""), ["16: kinematics.hand.frame"]);
    let fixed = GOOD.replace("parent = \"base\"", "parent = \"world\"");
    assert_eq!(
        report(&format!("{fixed}{}", of("tip", "\"jacobian\""))),
        Vec::<String>::new()
    );
    assert_eq!(
        report(&format!("{fixed}{}", of("tip", "\"base_motion\""))),
        ["18: kinematics.hand.outputs"]
    );
    let mount = "[joint.mount]\ntype = \"fixed\"\nparent = \"world\"\nchild = \"base\"\n";
    assert_eq!(
        report(&format!("{GOOD}{mount}{}", of("base", "\"jacobian\""))),
        ["20: kinematics.hand.frame"]
    );
}
