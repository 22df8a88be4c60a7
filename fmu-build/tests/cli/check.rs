//! `grapple check`: errors of a spec, with position and value.

use crate::desk::Desk;
use crate::example_files::example_files;
use crate::messages;
use std::path::PathBuf;

/// Asserts that checking a spec reports these problems: line, and a name or number in the message.
fn expect_problems(spec: &str, problems: &[(usize, &str)]) {
    let desk = Desk::new();
    desk.write("wrong.toml", spec);
    desk.expect_problems(&["check", "wrong.toml"], "wrong.toml", problems);
}

#[test]
fn names_and_references_are_all_reported_at_once() {
    let _section = messages::of_this_test();
    let spec = r#"name = "wrong"
[body.base]
mass = 4.0
inertia = [0.4, 0.4, 0.4]

[body.time]
mass = 1.0
inertia = [0.1, 0.1, 0.1]

[joint.shoulder]
type = "revolute"
parent = "bas"
child = "time"

[frame.base]
body = "base"
orientation = [1.0, 1.0, 0.0, 0.0]

[signal."shoulder.tau"]
type = "sine"
amplitude = inf
"#;
    expect_problems(
        spec,
        &[
            (6, "\"time\""),
            (12, "joint \"shoulder\", parent"),
            (15, "\"base\""),
            (17, "1.4142"),
            (20, "`frequency`"),
            (21, "signal \"shoulder.tau\", amplitude"),
        ],
    );
}

#[test]
fn invalid_numbers_are_all_reported_at_once() {
    let _section = messages::of_this_test();
    let spec = r#"name = "wrong"
[body.base]
mass = -4.0
inertia = [0.4, 0.4, 0.4]

[body.link]
mass = 1.0
inertia = [0.1, 0.1, 0.9]

[joint.shoulder]
type = "revolute"
parent = "base"
child = "link"
axis = [0.0, 0.0, 0.0]

[signal."elbow.tau"]
type = "constant"
"#;
    expect_problems(
        spec,
        &[
            (3, "body \"base\", mass"),
            (8, "body \"link\", inertia"),
            (14, "joint \"shoulder\", axis"),
            (16, "\"elbow.tau\""),
        ],
    );
}

#[test]
fn names_that_an_importer_would_merge_are_found_when_the_spec_is_read() {
    let _section = messages::of_this_test();
    let spec = r#"name = "wrong"
[body.base]
mass = 4.0
inertia = [0.4, 0.4, 0.4]

[body.link]
mass = 1.0
inertia = [0.1, 0.1, 0.1]

[body.hand]
mass = 1.0
inertia = [0.1, 0.1, 0.1]

[joint.arm]
type = "revolute"
parent = "base"
child = "link"
range = { min = -1.0, max = 1.0, stop = "compliant", stiffness = 100.0, damping = 1.0 }

[joint.arm_stop]
type = "revolute"
parent = "link"
child = "hand"
damping = 0.1
"#;
    let both = "\"arm_stop.damping\"";
    let desk = Desk::new();
    desk.write("wrong.toml", spec);
    for verb in ["check", "build"] {
        let outcome = desk.run(&[verb, "wrong.toml"]);
        assert_eq!(outcome.code, Some(1), "{}", outcome.out);
        for text in [both, "\"arm.stop_damping\"", "\"arm_stop_damping\"", "[wrong.toml:"] {
            assert!(outcome.errors.contains(text), "{verb}: {text}: {}", outcome.errors);
        }
        outcome.record();
    }
}

#[test]
fn unknown_field_is_reported_with_its_position() {
    let _section = messages::of_this_test();
    expect_problems(
        "name = \"wrong\"\n[body.base]\nmass = 1.0\nmas_centre = [0, 0, 0]\ninertia = [1, 1, 1]\n",
        &[(4, "`mas_centre`")],
    );
    expect_problems("name = \"wrong\"\n[body.base\n", &[(2, "")]);
}

#[test]
fn valid_spec_is_summarised_or_silently_accepted() {
    let _section = messages::of_this_test();
    let desk = Desk::with_example("two_link");
    let out = desk.succeed(&["check", "two_link.toml"]);
    assert!(
        out.starts_with("two_link.toml: ") && out.contains(" times real time "),
        "{out}"
    );
    messages::record(messages::without_speed(&out));
    assert_eq!(desk.succeed(&["check", "--quiet", "two_link.toml"]), "");
}

#[test]
fn exit_codes_distinguish_spec_and_command_line_errors() {
    let desk = Desk::with_example("two_link");
    assert_eq!(desk.run(&["check", "no_such_file.toml"]).code, Some(1));
    // One bad file among good ones suffices for exit code 1.
    desk.write("bad.toml", "name = 3");
    assert_eq!(desk.run(&["check", "bad.toml", "two_link.toml"]).code, Some(1));
    assert_eq!(desk.run(&["chekc", "two_link.toml"]).code, Some(2));
    assert_eq!(desk.run(&["simulate", "two_link.toml", "--step", "-1"]).code, Some(2));
}

#[test]
fn error_in_a_long_line_is_reported_with_its_position_only() {
    let times: Vec<String> = (0..20_000).map(|i| format!("{i}.0")).collect();
    let spec = format!(
        "name = \"long\"\n[signal.\"a.tau\"]\ntype = \"table\"\ntimes = [{}, nonsense]\n",
        times.join(", ")
    );
    let desk = Desk::new();
    desk.write("long.toml", &spec);
    let outcome = desk.run(&["check", "long.toml"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.errors);
    let column = spec
        .lines()
        .nth(3)
        .and_then(|line| line.find("nonsense"))
        .expect("it is there")
        + 1;
    assert!(
        outcome.errors.contains(&format!("[long.toml:4:{column}]")) && outcome.errors.len() < 1000,
        "{}",
        outcome.errors
    );
}

/// A beam without the modes that its bandwidth requires: legal, but unlikely.
const DOUBTFUL: &str = r#"name = "doubtful"
[body.base]
mass = 400.0
inertia = [90.0, 90.0, 80.0]
[body.boom.beam]
length = 10.0
mass_per_length = 1.0
polar_inertia_per_length = 0.001
EI = 100.0
bending = 1
[joint.root]
type = "fixed"
parent = "base"
child = "boom"
[experiment]
bandwidth = 50.0
"#;

#[test]
fn warning_names_its_file_also_with_quiet() {
    let _section = messages::of_this_test();
    let desk = Desk::with_example("two_link");
    desk.write("doubtful.toml", DOUBTFUL);
    let outcome = desk.run(&["check", "--quiet", "two_link.toml", "doubtful.toml"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), ""));
    assert!(outcome.errors.starts_with("doubtful.toml: "), "{}", outcome.errors);
    outcome.record();
}

/// A hinge of 500 Hz with little damping. A BDF method resolves it in communication steps of 0.01 s
/// but not of 0.5 s; with a damping ratio of 0.7, or at 0.3 Hz, it is stable anyway.
#[test]
fn lightly_damped_vibrations_beyond_the_communication_step_are_reported_for_bdf_methods() {
    let _section = messages::of_this_test();
    let spec = |hertz: f64, ratio: f64, step: f64| {
        let omega = std::f64::consts::TAU * hertz;
        format!(
            "name = \"ringing\"\n[body.bob]\nmass = 1.0\ninertia = [2.0, 2.0, 2.0]\n[joint.hinge]\ntype = \"revolute\"\nparent = \"world\"\n\
             child = \"bob\"\ndamping = {:?}\nspring = {{ stiffness = {:?} }}\n[experiment]\nstop_time = 1.0\nstep = {step:?}\n",
            4.0 * ratio * omega,
            2.0 * omega * omega
        )
    };
    let desk = Desk::new();
    let check = |spec: String| {
        desk.write("ringing.toml", &spec);
        desk.succeed(&["check", "ringing.toml"])
    };
    let out = check(spec(500.0, 0.005, 0.5));
    let stiff = |out: &str| {
        assert!(
            out.contains("BDF") && out.contains("hinge") && out.contains("500 Hz"),
            "{out}"
        );
        messages::record(messages::without_speed(out));
    };
    stiff(&out);
    stiff(&check(spec(500.0, 0.1, 0.5)));
    for (hertz, ratio, step) in [(500.0, 0.7, 0.5), (500.0, 0.005, 0.01), (0.3, 0.005, 0.5)] {
        let out = check(spec(hertz, ratio, step));
        assert!(!out.contains("BDF"), "{hertz} Hz, {ratio}, {step} s: {out}");
    }
    desk.write("ringing.toml", &spec(500.0, 0.005, 0.5));
    assert_eq!(desk.succeed(&["check", "--quiet", "ringing.toml"]), "");
    for name in ["ssrms_flexible", "solar_arrays", "beam_in_grasp", "servicer_orbit"] {
        let desk = Desk::with_example(name);
        let out = desk.succeed(&["check", &format!("{name}.toml")]);
        assert!(!out.contains("BDF"), "{out}");
    }
    desk.succeed(&["new", "ring", "--template", "assembly"]);
    assert!(!desk.succeed(&["check", "ring.toml"]).contains("BDF"));
}

/// Asserts that checking a spec gives these warnings and no error: line, and the name, field and
/// number of each.
fn expect_warnings(spec: &str, warnings: &[(usize, &str)]) {
    let desk = Desk::new();
    desk.write("odd.toml", spec);
    let outcome = desk.run(&["check", "--quiet", "odd.toml"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.errors);
    let texts: Vec<&str> = outcome.errors.split("odd.toml: warning: ").skip(1).collect();
    assert_eq!(texts.len(), warnings.len(), "{}", outcome.errors);
    for (text, (line, name)) in texts.iter().zip(warnings) {
        assert!(text.starts_with(name), "{name:?}: {text}");
        assert!(text.contains(&format!(" [odd.toml:{line}:")), "line {line}: {text}");
        messages::record(text);
    }
}

/// Base and arm of the tests of unlikely values, which has none itself.
const LIKELY: &str = r#"name = "odd"
[body.base]
mass = 400.0
inertia = [90.0, 90.0, 80.0]
[body.arm]
mass = 25.0
mass_centre = [1.8, 0.0, 0.0]
inertia = [0.2, 24.0, 24.0]
[joint.shoulder]
type = "revolute"
parent = "base"
child = "arm"
origin = [0.6, 0.0, 0.0]
[frame.tip]
body = "arm"
origin = [3.6, 0.0, 0.0]
[experiment]
step = 0.05
"#;

#[test]
fn unlikely_values_are_warnings_at_their_line() {
    let _section = messages::of_this_test();
    expect_warnings(LIKELY, &[]);
    let with = |old: &str, new: &str| LIKELY.replace(old, new);
    let inertia = with("[0.2, 24.0, 24.0]", "[2000.0, 240000.0, 240000.0]");
    expect_warnings(&inertia, &[(8, "body \"arm\", inertia: 240000 kg")]);
    // Without a length, the mass is the only scale.
    let alone = "name = \"odd\"\n[body.base]\nmass = 25.0\ninertia = [240000.0, 240000.0, 240000.0]\n";
    expect_warnings(alone, &[(4, "body \"base\", inertia: 240000 kg")]);
    for (old, line, name) in [
        ("[0.6, 0.0, 0.0]", 13, "joint \"shoulder\", origin: this point is 600 m"),
        ("[1.8, 0.0, 0.0]", 7, "body \"arm\", mass_centre: this point is 600 m"),
        ("[3.6, 0.0, 0.0]", 16, "frame \"tip\", origin: this point is 600 m"),
    ] {
        expect_warnings(&with(old, "[600.0, 0.0, 0.0]"), &[(line, name)]);
    }
    let joint = LIKELY.find("[joint.").unwrap_or_default()..LIKELY.find("[frame.").unwrap_or_default();
    let forgotten = LIKELY.replace(&LIKELY[joint], "");
    expect_warnings(&forgotten, &[(5, "body \"arm\": no joint carries it")]);
    for meant in ["start = { position = [3.0, 0.0, 0.0] }\n", ""] {
        let port = if meant.is_empty() {
            "[port.push]\nframe = \"tip\"\n"
        } else {
            ""
        };
        let floats = forgotten.replace("[frame.tip]", &format!("{meant}[frame.tip]")) + port;
        expect_warnings(&floats, &[]);
    }
}

#[test]
fn angles_in_degrees_and_aliased_modes_are_warnings_at_their_line() {
    let _section = messages::of_this_test();
    let angles = format!(
        r#"{LIKELY}[joint.elbow]
type = "revolute"
parent = "arm"
child = "hand"
spring = {{ stiffness = 1.0, rest = 45.0 }}
start = {{ position = 90.0 }}
range = {{ min = -120.0, max = 120.0 }}
servo = {{ kp = 1.0, kd = 1.0 }}
[body.hand]
mass = 1.0
inertia = [0.1, 0.1, 0.1]
[signal."elbow.q_ref"]
type = "sine"
amplitude = 30.0
offset = 90.0
frequency = 0.1
phase = 90.0
"#
    );
    expect_warnings(
        &angles,
        &[
            (24, "joint \"elbow\", start.position: 90 rad"),
            (23, "joint \"elbow\", spring.rest: 45 rad"),
            (25, "joint \"elbow\", range.min: -120 rad"),
            (25, "joint \"elbow\", range.max: 120 rad"),
            (32, "signal \"elbow.q_ref\", amplitude: 30 rad"),
            (33, "signal \"elbow.q_ref\", offset: 90 rad"),
            (35, "signal \"elbow.q_ref\", phase: 90 rad"),
        ],
    );
    // 10 Hz is half the rate of the communication points.
    for (EI, count) in [(4.0e4, 0), (4.0e6, 1)] {
        let rigid = "mass = 25.0\nmass_centre = [1.8, 0.0, 0.0]\ninertia = [0.2, 24.0, 24.0]";
        let beam = format!("beam = {{ length = 3.6, mass_per_length = 7.0, EI = {EI:?}, bending = 1 }}");
        let warnings = [(5, "body \"arm\": 2 modes above 10 Hz")];
        expect_warnings(&LIKELY.replace(rigid, &beam), &warnings[..count]);
    }
}

/// A task on a free-floating arm whose second link bends, with a mode of 1.9 Hz and little damping.
const SOFT: &str = r#"name = "soft"
[body.base]
mass = 100.0
inertia = [20.0, 20.0, 20.0]
[body.upper]
mass = 5.0
mass_centre = [0.5, 0.0, 0.0]
inertia = [0.1, 0.5, 0.5]
[body.boom.beam]
length = 2.0
mass_per_length = 2.0
polar_inertia_per_length = 0.01
EI = 400.0
bending = 1
damping_ratio = 0.002
[frame.tip]
body = "boom"
origin = [2.0, 0.0, 0.0]
[joint.shoulder]
type = "revolute"
parent = "base"
child = "upper"
origin = [0.5, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
start = { position = 0.4 }
motion = "prescribed"
[joint.elbow]
type = "revolute"
parent = "upper"
child = "boom"
origin = [1.0, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
start = { position = 0.9 }
motion = "prescribed"
[task.reach]
frame = "tip"
relative_to = "base"
joints = ["shoulder", "elbow"]
components = ["x", "y"]
kp = 20.0
kd = 100.0
[[task.reach.waypoint]]
time = 0.0
position = [1.9, 2.3, 0.0]
[experiment]
stop_time = 10.0
"#;

/// The law of a task makes vibrations grow if its gains are large for the arm's lowest frequency.
#[test]
fn growing_vibration_of_a_flexible_arm_with_a_task_is_a_warning_at_its_gains() {
    let _section = messages::of_this_test();
    expect_warnings(SOFT, &[(40, "task \"reach\", kp: at the start a vibration of ")]);
    let desk = Desk::new();
    desk.write("soft.toml", SOFT);
    let errors = desk.run(&["check", "soft.toml"]).errors;
    assert!(errors.contains("warning: task \"reach\", kp: "), "{errors}");
    expect_warnings(&SOFT.replace("kp = 20.0\nkd = 100.0", "kp = 0.1\nkd = 0.9"), &[]);
    expect_warnings(&SOFT.replace("stop_time = 10.0", "stop_time = 0.01"), &[]);
}

/// Examples and templates have no unlikely values, except for one mode of a beam that the
/// communication step of its example does not resolve.
#[test]
fn examples_have_no_unlikely_values() {
    let templates = ["arm", "assembly", "blank", "controller"];
    let templates = templates.map(|name| format!("{}/templates/{name}.toml", env!("CARGO_MANIFEST_DIR")));
    for path in example_files().into_iter().chain(templates.map(PathBuf::from)) {
        let name = path.display().to_string();
        let outcome = Desk::new().run(&["check", "--quiet", &name]);
        let place = format!(" [{name}:");
        let found: Vec<&str> = outcome.errors.lines().filter(|line| line.contains(&place)).collect();
        let known = usize::from(name.ends_with("ssrms_flexible.toml"));
        assert_eq!((outcome.code, found.len()), (Some(0), known), "{}", outcome.errors);
    }
}
