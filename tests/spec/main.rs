//! Errors of a spec: all are reported at once, each at its line.

mod contacts;
mod controllers;
mod director;
mod environment;
#[path = "../everything/mod.rs"]
mod everything;
#[path = "../example_files/mod.rs"]
mod example_files;
mod flexible;
mod formulations;
#[path = "../messages/mod.rs"]
mod messages;
mod motions;
mod mounts;
mod nodal;
mod sensors;
mod shapers;
mod tasks;

use grapple::spec::{self, Source};
use grapple::{Error, Problem};
use std::path::Path;

fn problems(text: &str) -> Vec<Problem> {
    match grapple::plant::Model::read(text, Path::new(".")) {
        Ok(_) => Vec::new(),
        Err(Error::Spec(problems)) => problems,
        Err(other) => panic!("{other}"),
    }
}

/// Returns the places of all problems in the order of the file, each as its line and its path in
/// the spec, such as `"10: joint.elbow.parent"`; an error of the syntax has a line only. The golden
/// file has their messages.
fn report(text: &str) -> Vec<String> {
    let source = Source::new(text);
    let mut found: Vec<(usize, String, String)> = problems(text)
        .iter()
        .map(|problem| {
            let line = source.locate(problem).map_or(0, |span| source.line(span.start));
            let path = problem.at.join(".");
            (
                line,
                if path.starts_with('@') { String::new() } else { path },
                problem.to_string(),
            )
        })
        .collect();
    found.sort();
    let place = |(line, path, message): (usize, String, String)| {
        messages::record(message);
        match path.as_str() {
            "" => line.to_string(),
            path => format!("{line}: {path}"),
        }
    };
    found.into_iter().map(place).collect()
}

const GOOD: &str = r#"
name = "craft"
[body.base]
mass = 4.0
inertia = [0.4, 0.4, 0.4]
[body.arm]
mass = 1.0
inertia = [0.1, 0.1, 0.1]
[joint.elbow]
type = "revolute"
parent = "base"
child = "arm"
"#;

const NODAL_BEAM: &str = r#"
[ancf_beam.span]
length = 10.0
elements = 2
mass_per_length = 0.5
EA = 1e5
EI = 100.0
"#;

#[test]
fn valid_spec_has_no_problem() {
    let _section = messages::of_this_test();
    assert_eq!(report(GOOD), Vec::<String>::new());
}

#[test]
fn structural_errors_are_reported_together_with_their_lines() {
    let _section = messages::of_this_test();
    let text = r#"name = "2craft"
[body.base]
mass = 4.0
inertia = [0.4, 0.4, 0.4]
[body.model]
mass = 1.0
inertia = [0.1, 0.1, 0.1]
[joint.elbow]
type = "revolute"
parent = "bass"
child = "model"
orientation = [1.0, 1.0, 0.0, 0.0]
damping = [1.0, 2.0]
[joint.base]
type = "fixed"
parent = "base"
child = "model"
axis = [0.0, 0.0, 1.0]
[frame.tip]
body = "arm"
"#;
    assert_eq!(
        report(text),
        [
            "1: name",
            "5: body.model",
            "10: joint.elbow.parent",
            "12: joint.elbow.orientation",
            "13: joint.elbow.damping",
            "14: joint.base",
            "17: joint.base.child",
            "18: joint.base.axis",
            "20: frame.tip.body",
        ]
    );
}

#[test]
fn control_characters_in_a_description_are_rejected() {
    let _section = messages::of_this_test();
    let with = |what: &str| {
        report(&GOOD.replace(
            "name = \"craft\"",
            &format!("name = \"craft\"\ndescription = \"{what}\""),
        ))
    };
    assert_eq!(with("zwei Arme,\\n\\teine Nutzlast: q\u{301}, 🛰"), [""; 0]);
    assert_eq!(with("no\\u0000thing"), ["3: description"]);
}

#[test]
fn physically_invalid_numbers_are_reported_together_with_their_values() {
    let _section = messages::of_this_test();
    let text = r#"name = "craft"
[body.base]
mass = -4.0
inertia = [0.4, 0.4, 0.9]
[body.arm]
mass = 0.0
inertia = [0.1, -0.1, 0.1]
[joint.elbow]
type = "revolute"
parent = "base"
child = "arm"
axis = [0.0, 0.0, 0.0]
damping = -1.0
range = { min_deg = -90.0, max_deg = 90.0 }
start = { position_deg = 100.0 }
[signal."elbow.tua"]
type = "constant"
"#;
    assert_eq!(
        report(text),
        [
            "3: body.base.mass",
            "4: body.base.inertia",
            "6: body.arm.mass",
            "7: body.arm.inertia",
            "12: joint.elbow.axis",
            "13: joint.elbow.damping",
            "15: joint.elbow.start.position_deg",
            "16: signal.elbow.tua",
        ]
    );
}

#[test]
fn structure_and_numbers_are_validated_together() {
    let _section = messages::of_this_test();
    let text = GOOD.replace("mass = 4.0", "mass = -4.0").replace(
        "parent = \"base\"",
        "parent = \"bsae\"\nstart = { position = 1.0, position_deg = 2.0 }",
    );
    assert_eq!(
        report(&text),
        [
            "4: body.base.mass",
            "11: joint.elbow.parent",
            "12: joint.elbow.start.position",
        ]
    );
}

#[test]
fn cycle_of_joints_is_reported_once() {
    let _section = messages::of_this_test();
    let text = GOOD.to_owned() + "[joint.back]\ntype = \"fixed\"\nparent = \"arm\"\nchild = \"base\"\n";
    assert_eq!(report(&text), ["11: joint.elbow.parent"]);
}

#[test]
fn unknown_fields_and_wrong_types_are_rejected_at_their_position() {
    let _section = messages::of_this_test();
    let unknown = report(&GOOD.replace("mass = 1.0", "mass = 1.0\nmas_centre = [0, 0, 0]"));
    assert_eq!(unknown, ["8: body.arm.mas_centre"]);
    let wrong = report(&GOOD.replace("[0.1, 0.1, 0.1]", "[0.1, 0.1]"));
    assert_eq!(wrong, ["8: body.arm.inertia"]);
    let twice = report(&(GOOD.to_owned() + "[body.arm]\nmass = 1.0\n"));
    assert_eq!(twice, ["13"]);
}

#[test]
fn lists_of_another_length_dates_and_lists_for_tables_are_rejected() {
    let _section = messages::of_this_test();
    let with = |line: &str| report(&(GOOD.to_owned() + line));
    assert_eq!(with("axis = [0, 0, 1, 0]"), ["13: joint.elbow.axis"]);
    assert_eq!(with("damping = 2030-01-01"), ["13: joint.elbow.damping"]);
    let date = report(&GOOD.replace("mass = 1.0", "mass = 2030-01-01"));
    assert_eq!(date, ["7: body.arm.mass"]);
    assert_eq!(with("servo = [3.0, 1.0]"), ["13: joint.elbow.servo"]);
}

/// Every unknown, missing and mistyped field is reported, with the problems of the other tables but
/// without consequences: nothing is said of the body whose table has a problem, or of its joint.
#[test]
fn all_problems_are_reported_at_once() {
    let _section = messages::of_this_test();
    let text = r#"name = 3
[body.base]
mass = "heavy"
inertia = [0.4, 0.4, "0.4"]
colour = 3
[body.arm]
mass = -1.0
inertia = [0.1, 0.1, 0.1]
[joint.elbow]
type = "revolut"
parent = "base"
child = "arm"
axis = 1.0
[joint.wrist]
parent = "arm"
child = "hand"
[contact.hit]
a = "base"
[port.push]
frame = "aarm"
[solver]
methd = "auto"
[signal."push.f[1]"]
type = 3
[bdy.hand]
mass = 1.0
[port.grip]
frame = "hand"
"#;
    assert_eq!(
        report(text),
        [
            "1: name",
            "3: body.base.mass",
            "4: body.base.inertia",
            "5: body.base.colour",
            "7: body.arm.mass",
            "10: joint.elbow.type",
            "13: joint.elbow.axis",
            "14: joint.wrist.type",
            "17: contact.hit.b",
            "20: port.push.frame",
            "22: solver.methd",
            "24: signal.push.f[1].type",
            "25: bdy.hand",
        ]
    );
}

#[test]
fn names_of_format_1_are_rejected_with_their_successors() {
    let _section = messages::of_this_test();
    let field = report(&(GOOD.to_owned() + "tracking = { kp = 1.0, kd = 1.0 }\n").replace("tracking", "follow"));
    assert_eq!(field, ["13: joint.elbow.follow"]);
    let kind = report(&GOOD.replacen("name =", "kind = \"craft\"\nname =", 1));
    assert_eq!(kind, ["2: kind"]);
    let contact = "[contact.hit]\na = \"arm\"\nb = \"base\"\ne = 0.5\n";
    let signal = "[signal.\"hit.strike\"]\ntype = \"constant\"\n";
    let input = report(&(GOOD.to_owned() + contact + signal));
    assert_eq!(input, ["17: signal.hit.strike"]);
    let format = report(&GOOD.replacen("name =", "format = 1\nname =", 1));
    assert_eq!(format, ["2: format"]);
}

/// The limit keeps the names of the FMU's files within the limits of file systems; the error names
/// the line.
#[test]
fn names_that_are_too_long_are_rejected_at_their_position() {
    let _section = messages::of_this_test();
    let long = "x".repeat(300);
    let text =
        GOOD.replacen("name = \"", &format!("name = \"{long}"), 1) + &format!("[port.{long}]\nframe = \"arm\"\n");
    assert_eq!(report(&text), ["2: name".to_owned(), format!("13: port.{long}")]);
}

#[test]
fn numbers_that_are_not_finite_are_rejected() {
    let _section = messages::of_this_test();
    let text = GOOD
        .replace("mass = 1.0", "mass = inf")
        .replace("[0.4, 0.4, 0.4]", "[0.4, nan, 0.4]");
    assert_eq!(report(&text)[..2], ["5: body.base.inertia", "7: body.arm.mass"]);
}

/// From ten units of round-off up: below, no integrator can meet a tolerance.
#[test]
fn tolerances_that_no_integrator_meets_are_rejected() {
    let _section = messages::of_this_test();
    let with = |tolerance: &str| format!("{GOOD}[experiment]\ntolerance = {tolerance}\n");
    for tolerance in ["0.0", "-1e-6", "2e-15", "1e-300", "0.6"] {
        assert_eq!(report(&with(tolerance)), ["14: experiment.tolerance"], "{tolerance}");
    }
    for tolerance in ["2.3e-15", "0.5"] {
        assert_eq!(problems(&with(tolerance)), []);
    }
}

#[test]
fn schema_for_editors_is_up_to_date() {
    let shipped = include_str!("../../docs/spec.schema.json");
    assert!(
        shipped == spec::schema(),
        "write it anew: grapple schema > docs/spec.schema.json"
    );
}
