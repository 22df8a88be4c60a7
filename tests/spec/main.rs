//! Errors of a spec: all are reported at once, each at its line.

mod contacts;
mod controllers;
mod director;
mod flexible;
mod formulations;
mod motions;
mod nodal;

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

/// Returns "line: message" for every problem, in the order of the file.
fn report(text: &str) -> Vec<String> {
    let source = Source::new(text);
    let mut lines: Vec<(usize, String)> = problems(text)
        .iter()
        .map(|problem| {
            let line = source.locate(problem).map_or(0, |span| source.line(span.start));
            (line, format!("{line}: {problem}"))
        })
        .collect();
    lines.sort();
    lines.into_iter().map(|(_, text)| text).collect()
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
    assert_eq!(report(GOOD), Vec::<String>::new());
}

#[test]
fn structural_errors_are_reported_together_with_their_lines() {
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
            "1: name: \"2craft\" is not a legal name: a letter, then letters, digits and underscores",
            "5: body \"model\": \"model\" is a keyword of Modelica, so OpenModelica could not import it",
            "10: joint \"elbow\", parent: there is no body \"bass\"; did you mean \"base\"?",
            "12: joint \"elbow\", orientation: the quaternion [1.0, 1.0, 0.0, 0.0] is not of unit length: |q| = \
             1.4142135623730951",
            "13: joint \"elbow\", damping: 2 numbers, but a revolute joint has 1 of them",
            "14: joint \"base\": the name \"base\" is already that of a body",
            "17: joint \"base\", child: body \"model\" is already carried by joint \"elbow\": a [loop] closes a loop",
            "18: joint \"base\", axis: a fixed joint has no `axis`",
            "20: frame \"tip\", body: there is no body \"arm\"",
        ]
    );
}

#[test]
fn control_characters_in_a_description_are_rejected() {
    let with = |what: &str| {
        report(&GOOD.replace(
            "name = \"craft\"",
            &format!("name = \"craft\"\ndescription = \"{what}\""),
        ))
    };
    assert_eq!(with("zwei Arme,\\n\\teine Nutzlast: q\u{301}, 🛰"), [""; 0]);
    assert_eq!(
        with("no\\u0000thing"),
        ["3: description: the character \\u{0} is not allowed in a text"]
    );
}

#[test]
fn physically_invalid_numbers_are_reported_together_with_their_values() {
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
            "3: body \"base\", mass: the mass -4 kg is not positive",
            "4: body \"base\", inertia: no rigid body has this inertia: its principal moments 0.4, 0.4, 0.9 kg·m² violate \
             the triangle inequality (0.9 > 0.4 + 0.4)",
            "6: body \"arm\", mass: the mass 0 kg is not positive: a body at the end of a chain needs a mass; if it only \
             marks a position, make it a [frame]",
            "7: body \"arm\", inertia: the inertia is not positive definite: its principal moments are -0.1, 0.1, 0.1 kg·m²",
            "12: joint \"elbow\", axis: the axis [0, 0, 0] has zero length",
            "13: joint \"elbow\", damping: elbow.damping = -1 N.m.s/rad is negative",
            "15: joint \"elbow\", start.position_deg: elbow.q starts at 1.7453292519943295 rad (100 deg), outside \
             its range -1.5707963267948966 rad (-90 deg) to 1.5707963267948966 rad (90 deg)",
            "16: signal \"elbow.tua\": there is no input \"elbow.tua\"; did you mean \"elbow.tau\"?",
        ]
    );
}

#[test]
fn structure_and_numbers_are_validated_together() {
    let text = GOOD.replace("mass = 4.0", "mass = -4.0").replace(
        "parent = \"base\"",
        "parent = \"bsae\"\nstart = { position = 1.0, position_deg = 2.0 }",
    );
    assert_eq!(
        report(&text),
        [
            "4: body \"base\", mass: the mass -4 kg is not positive",
            "11: joint \"elbow\", parent: there is no body \"bsae\"; did you mean \"base\"?",
            "12: joint \"elbow\", start.position: write either `start.position` or `start.position_deg`, not both",
        ]
    );
}

#[test]
fn cycle_of_joints_is_reported_once() {
    let text = GOOD.to_owned() + "[joint.back]\ntype = \"fixed\"\nparent = \"arm\"\nchild = \"base\"\n";
    assert_eq!(
        report(&text),
        ["11: joint \"elbow\", parent: the joints form a cycle: \"arm\" on \"base\" on \"arm\""]
    );
}

#[test]
fn unknown_fields_and_wrong_types_are_rejected_at_their_position() {
    let unknown = report(&GOOD.replace("mass = 1.0", "mass = 1.0\nmas_centre = [0, 0, 0]"));
    assert_eq!(unknown.len(), 1);
    assert!(
        unknown[0].starts_with("8: unknown field `mas_centre`"),
        "{}",
        unknown[0]
    );
    let wrong = report(&GOOD.replace("[0.1, 0.1, 0.1]", "[0.1, 0.1]"));
    assert!(
        wrong[0].starts_with("8: expected 3 moments [Ixx, Iyy, Izz], or 6 numbers"),
        "{}",
        wrong[0]
    );
    let twice = report(&(GOOD.to_owned() + "[body.arm]\nmass = 1.0\n"));
    assert!(twice[0].starts_with("13: duplicate key"), "{}", twice[0]);
}

#[test]
fn names_of_format_1_are_rejected_with_their_successors() {
    let field = report(&(GOOD.to_owned() + "tracking = { kp = 1.0, kd = 1.0 }\n").replace("tracking", "follow"));
    assert_eq!(field, ["13: `follow` is called `tracking` since version 0.2"]);
    let kind = report(&GOOD.replacen("name =", "kind = \"craft\"\nname =", 1));
    assert!(kind[0].contains("`craft` is called `spacecraft`"), "{kind:?}");
    let contact = "[contact.hit]\na = \"arm\"\nb = \"base\"\ne = 0.5\n";
    let signal = "[signal.\"hit.strike\"]\ntype = \"constant\"\n";
    let input = report(&(GOOD.to_owned() + contact + signal));
    assert!(
        input[0].contains("it is called \"hit.impact\" since version 0.2"),
        "{input:?}"
    );
    let format = report(&GOOD.replacen("name =", "format = 1\nname =", 1));
    assert!(format[0].contains("format: this version reads format 2"), "{format:?}");
}

/// The limit keeps the names of the FMU's files within the limits of file systems; the error names
/// the line.
#[test]
fn names_that_are_too_long_are_rejected_at_their_position() {
    let long = "x".repeat(300);
    let text =
        GOOD.replacen("name = \"", &format!("name = \"{long}"), 1) + &format!("[port.{long}]\nframe = \"arm\"\n");
    let wrong = report(&text);
    assert_eq!(wrong.len(), 2, "{wrong:?}");
    assert!(
        wrong[0].contains(": name: a name of 3") && wrong[0].contains("the maximum is 128"),
        "{}",
        wrong[0]
    );
    assert!(
        wrong[1].contains("port") && wrong[1].contains("a name of 300 characters"),
        "{}",
        wrong[1]
    );
}

#[test]
fn numbers_that_are_not_finite_are_rejected() {
    let text = GOOD
        .replace("mass = 1.0", "mass = inf")
        .replace("[0.4, 0.4, 0.4]", "[0.4, nan, 0.4]");
    assert_eq!(
        report(&text)[..2],
        [
            "5: body \"base\", inertia: nan is not a finite number",
            "7: body \"arm\", mass: inf is not a finite number"
        ]
    );
}

#[test]
fn schema_for_editors_is_up_to_date() {
    let shipped = include_str!("../../docs/spec.schema.json");
    assert!(
        shipped == spec::schema(),
        "write it anew: grapple schema > docs/spec.schema.json"
    );
}
