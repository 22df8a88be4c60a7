//! Input shapers of signals and tasks.

use crate::{GOOD, messages, report};

/// Errors of a shaper: frequency and damping ratio, too many modes, signals without a begin,
/// discrete inputs, components of a quaternion, unknown types.
#[test]
fn invalid_shapers_of_signals_are_reported() {
    let _section = messages::of_this_test();
    let signal = |input: &str, fields: &str, shaper: &str| {
        report(&format!(
            "{GOOD}servo = {{ kp = 1.0, kd = 1.0 }}\n[signal.\"{input}\"]\n{fields}\nshaper = [{shaper}]\n"
        ))
    };
    let step = "type = \"step\"\nfrom = 1.0";
    let good = "{ type = \"zv\", frequency = 0.5, damping_ratio = 0.01 }";
    for from_importer in ["true", "false"] {
        let fields = format!("{step}\nfrom_importer = {from_importer}");
        assert_eq!(signal("elbow.tau", &fields, good), Vec::<String>::new());
        assert_eq!(signal("elbow.servo", &fields, good), ["18: signal.elbow.servo.shaper"]);
    }
    let place = "17: signal.elbow.tau.shaper";
    for wrong in [
        "frequency = 0.0",
        "frequency = -1.0",
        "frequency = 1.0, damping_ratio = 1.0",
        "frequency = 1.0, damping_ratio = -0.1",
    ] {
        assert_eq!(
            signal("elbow.tau", step, &format!("{{ type = \"zvd\", {wrong} }}")),
            [place]
        );
    }
    assert_eq!(signal("elbow.tau", step, &[good; 5].join(", ")), [place]);
    let endless = "type = \"sine\"\nfrequency = 1.0";
    assert_eq!(signal("elbow.tau", endless, good), [place]);
    assert_eq!(signal("elbow.tau", "type = \"constant\"\nuntil = 3.0", good), [place]);
    assert_eq!(
        signal("elbow.tau", step, "{ type = \"zvdd\", frequency = 1.0 }"),
        ["17"]
    );
    assert_eq!(signal("elbow.tau", step, "{ type = \"zv\" }"), ["17"]);
    let attitude = format!(
        "{GOOD}[body.base.attitude_servo]\nkp = 1.0\nkd = 1.0\n[signal.\"base.q_ref[2]\"]\n{step}\nshaper = [{good}]\n"
    );
    assert_eq!(report(&attitude), ["19: signal.base.q_ref[2].shaper"]);
}

/// Errors of a task's shaper: no waypoints, waypoints too close for it, its numbers.
#[test]
fn invalid_shapers_of_tasks_are_reported() {
    let _section = messages::of_this_test();
    let task = |shaper: &str, times: &[f64]| {
        let pose = |time: &f64| format!("[[task.reach.waypoint]]\ntime = {time:?}\nrpy_deg = [0.0, 0.0, 9.0]\n");
        let waypoints: String = times.iter().map(pose).collect();
        report(&format!(
            "{GOOD}motion = \"prescribed\"\n[frame.tip]\nbody = \"arm\"\n[task.reach]\nframe = \"tip\"\njoints = [\"elbow\"]\n\
             components = [\"rz\"]\nkp = 1.0\nkd = 9.0\nshaper = [{shaper}]\n{waypoints}"
        ))
    };
    let zvd = "{ type = \"zvd\", frequency = 0.5 }";
    assert_eq!(task(zvd, &[0.0, 2.5, 5.0]), Vec::<String>::new());
    let place = "22: task.reach.shaper";
    assert_eq!(task(zvd, &[0.0, 2.5, 4.5]), [place]);
    assert_eq!(task(zvd, &[]), [place]);
    assert_eq!(task("{ type = \"zv\", frequency = -0.5 }", &[0.0, 2.5]), [place]);
    assert_eq!(task(zvd, &[0.0, 2.5, 2.0]), ["23: task.reach.waypoint"]);
}

/// Errors of a plan's shaper: longer than the plan, its numbers.
#[test]
fn invalid_shapers_of_plans_are_reported() {
    let _section = messages::of_this_test();
    let plan = |shaper: &str| {
        report(&format!(
            "{GOOD}servo = {{ kp = 1.0, kd = 1.0 }}\n[frame.tip]\nbody = \"arm\"\n[plan.reach]\njoints = [\"elbow\"]\n\
             until = 4.0\nshaper = [{shaper}]\n[[plan.reach.goal]]\nframe = \"tip\"\nrelative_to = \"base\"\nto = {{ x = 0.5 }}\n"
        ))
    };
    for shaper in ["type = \"zvd\", frequency = 0.25", "type = \"zv\", frequency = 0.0"] {
        assert_eq!(plan(&format!("{{ {shaper} }}")), ["19: plan.reach.shaper"]);
    }
}
