//! A spec with many mistakes: all are found at once, each at its line, in the user's words.

use grapple::plant::{Discrete, Linearisation, Plant};
use grapple::spec::{self, Capability, Formulation, Source};
use grapple::{Error, Problem};
use std::path::Path;

fn problems(text: &str) -> Vec<Problem> {
    match grapple::plant::Model::read(text, Path::new(".")) {
        Ok(_) => Vec::new(),
        Err(Error::Spec(problems)) => problems,
        Err(other) => panic!("{other}"),
    }
}

/// "line: message" of every problem, in the file's order.
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

#[test]
fn a_good_spec_has_no_problem() {
    assert_eq!(report(GOOD), Vec::<String>::new());
}

#[test]
fn structural_mistakes_are_reported_together_with_their_lines() {
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
            "17: joint \"base\", child: body \"model\" is already carried by joint \"elbow\"",
            "18: joint \"base\", axis: a fixed joint has no `axis`",
            "20: frame \"tip\", body: there is no body \"arm\"",
        ]
    );
}

#[test]
fn numbers_that_make_no_physics_are_reported_together_with_their_values() {
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
            "4: body \"base\", inertia: no rigid body has this inertia: its principal moments 0.4, 0.4, 0.9 kg·m² break \
             the triangle inequality (0.9 > 0.4 + 0.4)",
            "6: body \"arm\", mass: the mass 0 kg is not positive: a massless tip cannot be moved; if it only marks a \
             place, make it a [frame]",
            "7: body \"arm\", inertia: the inertia is not positive definite: its principal moments are -0.1, 0.1, 0.1 kg·m²",
            "12: joint \"elbow\", axis: the axis [0, 0, 0] has no direction",
            "13: joint \"elbow\", damping: elbow.damping = -1 N.m.s/rad is negative",
            "15: joint \"elbow\", start.position_deg: elbow.q starts at 1.7453292519943295 rad (100 deg), outside \
             its range -1.5707963267948966 rad (-90 deg) to 1.5707963267948966 rad (90 deg)",
            "16: signal \"elbow.tua\": there is no input \"elbow.tua\"; did you mean \"elbow.tau\"?",
        ]
    );
}

#[test]
fn structure_and_numbers_are_judged_in_one_go() {
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
fn a_circle_of_bodies_is_named_once() {
    let text = GOOD.to_owned() + "[joint.back]\ntype = \"fixed\"\nparent = \"arm\"\nchild = \"base\"\n";
    assert_eq!(
        report(&text),
        ["11: joint \"elbow\", parent: the bodies stand in a circle: \"arm\" on \"base\" on \"arm\""]
    );
}

#[test]
fn unknown_fields_and_types_are_refused_where_they_stand() {
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
fn infinities_are_refused() {
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

/// What is said of a craft whose arm has `body` in its table (from line 10) and `beam` in its beam's.
fn bent(body: &str, beam: &str) -> Vec<String> {
    report(&format!(
        "name = \"craft\"\n[body.base]\nmass = 4.0\ninertia = [0.4, 0.4, 0.4]\n[joint.elbow]\ntype = \"revolute\"\n\
         parent = \"base\"\nchild = \"arm\"\n[body.arm]\n{body}\n[body.arm.beam]\n{beam}\n"
    ))
}

const BEAM: &str = "length = 1.0\nmass_per_length = 2.0\nEI = 30.0\nbending = 2";

#[test]
fn a_beam_that_is_not_written_whole_is_reported_with_what_it_needs() {
    assert_eq!(bent("", BEAM), Vec::<String>::new());
    let sections = "sections = [{ x = 0.0, mass_per_length = 2.0, EI_y = 3.0, EI_z = 3.0 }, \
                    { x = 1.0, mass_per_length = 1.0, EI_y = 2.0, EI_z = 2.0 }]";
    assert_eq!(bent("", &format!("bending = 1\n{sections}")), Vec::<String>::new());
    let E = "length = 1.0\nE = 7e10\ndensity = 2700.0\narea = 1e-3\nI_y = 1e-8\nbending = 1";
    for (beam, expected) in [
        (
            BEAM.replace("EI = 30.0\n", ""),
            &[
                "11: body \"arm\", beam: the beam has no stiffness: write `EI`, `EI_y` and `EI_z`, `E`, `first_frequency` or \
               `sections`",
            ] as &[&str],
        ),
        (
            format!("{BEAM}\nfirst_frequency = 2.0"),
            &["14: body \"arm\", beam.EI: the stiffness is written twice: `EI` and `first_frequency`"],
        ),
        (
            BEAM.replace("EI", "EI_z"),
            &["11: body \"arm\", beam.EI_y: missing field `EI_y`: `EI_z` needs it"],
        ),
        (
            "EI = 30.0\nbending = 2".to_owned(),
            &[
                "11: body \"arm\", beam.length: missing field `length`: `EI` needs it",
                "11: body \"arm\", beam.mass_per_length: missing field `mass_per_length`: `EI` needs it",
            ],
        ),
        (
            format!("{E}\nmass_per_length = 2.0"),
            &[
                "11: body \"arm\", beam.I_z: missing field `I_z`: `E` needs it",
                "18: body \"arm\", beam.mass_per_length: `mass_per_length` does not go with `E`: a section is written in \
                 one way",
            ],
        ),
        (
            format!("{BEAM}\ntorsion = 1\naxial = 1"),
            &[
                "11: body \"arm\", beam.EA: missing field `EA`: an axial mode needs it",
                "11: body \"arm\", beam.GJ: missing field `GJ`: a torsion mode needs it",
                "11: body \"arm\", beam.polar_inertia_per_length: missing field `polar_inertia_per_length`: a torsion mode \
                 needs it",
            ],
        ),
        (
            format!("bending = 1\nlength = 1.0\n{sections}"),
            &["13: body \"arm\", beam.length: the `sections` say it: leave `length` out"],
        ),
        (
            format!("{BEAM}\nboundary = \"clamped_loaded\""),
            &["11: body \"arm\", beam.tip_mass: missing field `tip_mass`: boundary = \"clamped_loaded\" needs it"],
        ),
        (
            format!("{BEAM}\ntip_mass = 1.0"),
            &["16: body \"arm\", beam.tip_mass: only boundary = \"clamped_loaded\" has it"],
        ),
        (
            BEAM.replace("bending = 2", "bending = 0"),
            &["11: body \"arm\", beam: a beam without modes is rigid: write `bending = 2`, say, or leave `beam` out"],
        ),
        (
            format!("{BEAM}\ndamping_ratio = [0.1, 0.1]"),
            &["16: body \"arm\", beam.damping_ratio: 2 numbers, but the beam has 4 modes"],
        ),
    ] {
        assert_eq!(bent("", &beam), expected, "{beam}");
    }
}

#[test]
fn numbers_that_make_no_beam_are_reported_once_with_their_values() {
    let sections = |numbers: [(f64, f64); 3]| {
        let section = |(x, EI_y)| format!("{{ x = {x:?}, mass_per_length = 2.0, EI_y = {EI_y:?}, EI_z = 3.0 }}");
        format!("bending = 1\nsections = [{}]", numbers.map(section).join(", "))
    };
    for (beam, expected) in [
        (
            BEAM.replace("30.0", "0.0"),
            "14: body \"arm\", beam.EI: arm.EI = 0 N.m2 is not positive",
        ),
        (
            BEAM.replace("30.0", "-30.0"),
            "14: body \"arm\", beam.EI: arm.EI = -30 N.m2 is not positive",
        ),
        (
            BEAM.replace("1.0", "-1.0"),
            "12: body \"arm\", beam.length: arm.length = -1 m is not positive",
        ),
        (
            format!("{BEAM}\ndamping_ratio = [0.1, 0.1, -0.1, 0.1]"),
            "16: body \"arm\", beam.damping_ratio: arm.damping_ratio[3] = -0.1 is negative",
        ),
        (
            sections([(0.5, 3.0), (0.7, 3.0), (1.0, 3.0)]),
            "13: body \"arm\", beam.sections: a beam needs two sections or more, the first at x = 0 m: 3 given, the first at \
             x = 0.5 m",
        ),
        (
            sections([(0.0, 3.0), (1.0, 3.0), (0.7, 3.0)]),
            "13: body \"arm\", beam.sections: section 3 at x = 0.7 m: sections go outwards; two may share a place between the \
             ends",
        ),
        (
            sections([(0.0, 3.0), (0.5, -3.0), (1.0, 3.0)]),
            "13: body \"arm\", beam.sections: EI_y is -3 at x = 0.5 m: not a number from zero upwards",
        ),
        (
            sections([(0.0, 0.0), (0.5, 3.0), (1.0, 3.0)]),
            "13: body \"arm\", beam.sections: the beam has no stiffness in bending along z, `EI_y`, at x = 0 m",
        ),
        (
            format!("{}\ntorsion = 1", sections([(0.0, 3.0), (0.5, 3.0), (1.0, 3.0)])),
            "13: body \"arm\", beam.sections: the beam has no stiffness in torsion, `GJ`, at x = 0 m",
        ),
    ] {
        assert_eq!(bent("", &beam), [expected], "{beam}");
    }
}

#[test]
fn a_mass_that_is_not_its_beams_is_reported_with_that_of_the_beam() {
    let beams = "the modes of \"arm\" carry more momentum than its mass (2 kg), mass centre and inertia allow; the beam alone has \
                 2 kg, centred at [0.5, 0, 0] m, and [0, 0.1667, 0.1667] kg·m² about that: is the inertia about the mass centre, \
                 and the beam's root where it should be?";
    for (body, expected) in [
        ("mass = 2.0", "9: body \"arm\", inertia: missing field `inertia`".to_owned()),
        ("inertia = [0.1, 0.1, 0.1]", "9: body \"arm\", mass: missing field `mass`".to_owned()),
        (
            "mass_centre = [0.5, 0.0, 0.0]",
            "10: body \"arm\", mass_centre: the beam has its own mass centre; write `mass` and `inertia` too to replace its mass"
                .to_owned(),
        ),
        (
            "mass = 2.0\nmass_centre = [0.5, 0.0, 0.0]\ninertia = [0.01, 0.01, 0.01]",
            format!("12: body \"arm\", inertia: {beams}"),
        ),
        (
            "mass = 2.0\ninertia = [0.01, 0.17, 0.17]",
            format!("11: body \"arm\", inertia: {beams}"),
        ),
    ] {
        assert_eq!(bent(body, BEAM), [expected], "{body}");
    }
    let sound = "mass = 2.0\nmass_centre = [0.5, 0.0, 0.0]\ninertia = [0.01, 0.17, 0.17]";
    assert_eq!(bent(sound, BEAM), Vec::<String>::new());
}

/// What is said of a craft whose array has `more` in its table (from line 10) and `modal` in that of its modal data (from line 15).
fn by_its_modes(more: &str, modal: &str) -> Vec<String> {
    report(&format!(
        "name = \"craft\"\n[body.base]\nmass = 4.0\ninertia = [0.4, 0.4, 0.4]\n[joint.drive]\ntype = \"revolute\"\n\
         parent = \"base\"\nchild = \"array\"\n[body.array]\n{more}\nmass = 2.0\nmass_centre = [0.5, 0.0, 0.0]\n\
         inertia = [0.1, 0.2, 0.3]\n[body.array.modal]\n{modal}\n"
    ))
}

const MODAL: &str = "frequencies = [1.0, 2.5]\n\
                     participation = [[0.0, 1.2, 0.0, 0.0, 0.0, 0.7], [0.0, 0.0, 1.1, 0.1, -0.6, 0.0]]";
const NODE: &str = "[body.array.modal.node.tip]\nposition = [1.0, 0.0, 0.0]\n\
                    displacement = [[0.0, 1.4, 0.0], [0.0, 0.0, 1.4]]\nrotation = [[0.0, 0.0, 1.9], [0.0, -1.9, 0.0]]";

#[test]
fn modal_data_that_does_not_go_together_is_reported_with_its_mode() {
    assert_eq!(by_its_modes("", &format!("{MODAL}\n{NODE}")), Vec::<String>::new());
    let frame = "[frame.tip]\nbody = \"array\"\norigin = [1.0, 0.0, 0.0]";
    let load = "[body.tool]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n[joint.grip]\ntype = \"fixed\"\nparent = \"array\"\n\
                child = \"tool\"\norigin = [0.0, 0.0, 0.5]";
    for (modal, expected) in [
        (
            "frequencies = []\nparticipation = []".to_owned(),
            "15: body \"array\", modal.frequencies: a body without modes is rigid: leave `modal` out",
        ),
        (
            MODAL.replace("[1.0, 2.5]", "[0.0, 2.5]"),
            "15: body \"array\", modal.frequencies: mode 1 has 0 Hz: a motion as a rigid body? The modes are those of the body clamped \
             at its origin; its joint gives it the rigid motions",
        ),
        (
            MODAL.replace("[1.0, 2.5]", "[2.5, 1.0]"),
            "15: body \"array\", modal.frequencies: frequencies rise from mode to mode, but 1 Hz follows 2.5 Hz: does every row belong \
             to its mode?",
        ),
        (
            format!("{MODAL}\ndamping_ratio = [0.01, 0.01, 0.01]"),
            "17: body \"array\", modal.damping_ratio: 3 numbers, but there are 2 frequencies",
        ),
        (
            format!("{MODAL}\ndamping_ratio = -0.01"),
            "17: body \"array\", modal.damping_ratio: array.damping_ratio[1] = -0.01 is negative",
        ),
        (
            MODAL.replace("[1.0, 2.5]", "[1.0, 2.5, 3.0]"),
            "16: body \"array\", modal.participation: 2 rows, but there are 3 frequencies",
        ),
        (
            MODAL.replace("0.1, -0.6, 0.0]", "0.1, -0.6]"),
            "16: body \"array\", modal.participation: the row of mode 2 has 5 numbers, not 6: three of the linear momentum, three of \
             the angular about the body's origin",
        ),
        (
            format!("{MODAL}\n{}", NODE.replace("[[0.0, 1.4, 0.0], ", "[")),
            "19: body \"array\", modal.node.tip.displacement: 1 rows, but there are 2 frequencies",
        ),
        (
            format!("{MODAL}\n{}", NODE.replace("[0.0, 0.0, 1.9]", "[0.0, 0.0]")),
            "20: body \"array\", modal.node.tip.rotation: the row of mode 1 has 2 numbers, not 3: about x, y, z",
        ),
        (
            format!("{MODAL}\n{frame}"),
            "18: frame \"tip\", body: the modal data of \"array\" has no nodes, so nobody knows how it moves at [1.0, 0.0, 0.0] m: write \
             a table [body.array.modal.node.<name>] with `position` and `displacement`",
        ),
        (
            format!("{MODAL}\n{load}"),
            "22: joint \"grip\", parent: the modal data of \"array\" has no nodes, so nobody knows how it moves at [0.0, 0.0, 0.5] m: \
             write a table [body.array.modal.node.<name>] with `position` and `displacement`",
        ),
        (
            MODAL.replace("participation", "participations"),
            "16: unknown field `participations`",
        ),
    ] {
        let told = by_its_modes("", &modal);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with(expected), "{told:?}\n{expected}");
    }
    // The origin does not move: it needs no node.
    let root = format!("{MODAL}\n{}", frame.replace("[1.0,", "[0.0,"));
    assert_eq!(by_its_modes("", &root), Vec::<String>::new());
    let both = by_its_modes(&format!("[body.array.beam]\n{BEAM}\n[body.array]"), MODAL);
    assert!(both[0].contains("duplicate key"), "{both:?}");
}

#[test]
fn a_body_that_bends_in_two_ways_or_has_no_mass_of_its_own_is_reported() {
    let both = by_its_modes(
        "beam = { length = 1.0, mass_per_length = 2.0, EI = 30.0, bending = 1 }",
        MODAL,
    );
    assert!(
        both.contains(
            &"14: body \"array\", modal: a body bends in one way: write either `beam` or `modal`, not both".to_owned()
        ),
        "{both:?}"
    );
    let text = format!("name = \"craft\"\n[body.array.modal]\n{MODAL}\n");
    assert_eq!(
        report(&text),
        [
            "2: body \"array\", inertia: missing field `inertia`",
            "2: body \"array\", mass: missing field `mass`",
        ]
    );
}

#[test]
fn modes_that_carry_more_than_the_body_has_are_reported_with_their_effective_masses() {
    let ask = "Are the last three numbers of each row about the body's origin (Nastran's MEFFMASS takes them about that of the basic \
               coordinate system, or about its GRID), the modes mass-normalised, all in kg and m, and `inertia` about the mass centre?";
    for (participation, effective) in [
        (
            "[[0.0, 1.2, 0.0, 0.0, 0.0, 0.1], [0.0, 0.0, 1.1, 0.1, 0.0, 0.0]]", // about the mass centre
            "[0, 1.44, 1.21] kg, of 2 kg, and their effective moments of inertia about the body's origin [0.01, 0, 0.01] kg·m²",
        ),
        (
            "[[0.0, 12.0, 0.0, 0.0, 0.0, 7.0], [0.0, 0.0, 1.1, 0.1, -0.6, 0.0]]",
            "[0, 144, 1.21] kg, of 2 kg, and their effective moments of inertia about the body's origin [0.01, 0.36, 49] kg·m²",
        ),
    ] {
        assert_eq!(
            by_its_modes(
                "",
                &format!("frequencies = [1.0, 2.5]\nparticipation = {participation}")
            ),
            [format!(
                "16: body \"array\", modal.participation: the modes carry more momentum than the body's mass, mass centre and inertia \
                 allow: their effective masses are {effective}, of [0.1, 0.7, 0.8]. {ask}"
            )]
        );
    }
}

#[test]
fn a_hinge_that_moves_no_inertia_is_reported_when_the_spec_is_read() {
    let slender = "name = \"m\"\n[body.base]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n[joint.twist]\ntype = \"revolute\"\naxis = [1.0, 0.0, 0.0]\n\
                   parent = \"base\"\nchild = \"arm\"\n[body.arm.beam]\nlength = 1.0\nmass_per_length = 2.0\nEI = 30.0\nbending = 2\n";
    assert_eq!(
        report(slender),
        [
            "5: joint \"twist\": axis 1 moves no inertia: a slender beam turns about its own axis without inertia; give it a \
          `polar_inertia_per_length`"
        ]
    );
    let sound = slender.to_owned() + "polar_inertia_per_length = 1e-3\n";
    assert_eq!(report(&sound), Vec::<String>::new());
}

#[test]
fn segments_and_line_loads_that_make_no_sense_are_reported() {
    for (more, expected) in [
        (
            "segments = 0",
            "16: body \"arm\", beam.segments: 0 segments: a beam has 1 to 100",
        ),
        (
            "segments = 2\nboundary = \"clamped_clamped\"",
            "17: body \"arm\", beam.boundary: goes with one segment only: the shapes of several suit any load",
        ),
        (
            "segments = 2\ndamping_ratio = [0.1, 0.1, 0.1, 0.1]",
            "17: body \"arm\", beam.damping_ratio: of several segments one number, the ratio of the whole beam's first modes",
        ),
        (
            "bending_y = 65",
            "11: body \"arm\", beam: 67 modes: a beam (or a segment of it) may have 64",
        ),
        (
            "[line_load.wind]\nbody = \"base\"",
            "17: line_load \"wind\", body: body \"base\" has no beam: to push a rigid body, write a [port]",
        ),
    ] {
        assert_eq!(bent("", &format!("{BEAM}\n{more}")), [expected], "{more}");
    }
    let mass = "mass = 2.0\nmass_centre = [0.5, 0.0, 0.0]\ninertia = [0.01, 0.17, 0.17]";
    assert_eq!(
        bent(mass, &format!("{BEAM}\nsegments = 2")),
        ["10: body \"arm\", mass: a beam in segments has its own mass: leave `mass` out, or write one segment"]
    );
}

#[test]
fn the_editors_schema_is_up_to_date() {
    let shipped = include_str!("../docs/spec.schema.json");
    assert!(
        shipped == spec::schema(),
        "write it anew: grapple schema > docs/spec.schema.json"
    );
}

#[test]
fn options_of_another_formulation_are_refused_where_they_stand() {
    let text =
        format!("{GOOD}[constraints]\nalpha = 5.0\n[quaternion]\nmomentum_rows = true\n[output]\ncondition = true\n");
    assert_eq!(
        report(&text),
        [
            "13: constraints: the formulation \"recursive\" has no constraints to stabilise; did you mean formulation = \"quaternion\"?",
            "15: quaternion: the formulation \"recursive\" has no such options; did you mean formulation = \"quaternion\"?",
            "18: output.condition: the formulation \"recursive\" has no saddle-point matrix; did you mean formulation = \"quaternion\"?",
        ]
    );
    let maximal = text.replacen("\n[body.base]", "\nformulation = \"quaternion\"\n[body.base]", 1);
    assert_eq!(report(&maximal), Vec::<String>::new());
    let negative = maximal.replace("alpha = 5.0", "alpha = -5.0");
    assert_eq!(
        report(&negative),
        ["15: constraints.alpha: constraints.alpha = -5 1/s is negative"]
    );
    let on_the_world = format!(
        "{}[joint.ground]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"base\"\n",
        maximal
    );
    let [problem] = report(&on_the_world).try_into().expect("one problem");
    assert!(
        problem.starts_with("17: quaternion.momentum_rows: every body is joined to the world"),
        "{problem}"
    );
    let beam = "[body.arm.beam]\nlength = 1.0\nmass_per_length = 0.5\nEI = 1.0\nbending = 1\n";
    let linear = maximal.replace("momentum_rows = true", "coupling = \"linear\"") + beam;
    let [problem] = report(&linear).try_into().expect("one problem");
    assert!(
        problem.contains("body \"arm\", beam.stiffening: a linear coupling cannot stiffen a beam"),
        "{problem}"
    );
}

/// What a formulation does not have is refused by name when the spec is read; what it has is not. One craft for each cell of the table in
/// docs/formulations.md; linearisation, which no spec asks for, is refused when it is asked for.
#[test]
fn every_cell_of_the_capability_matrix_is_kept() {
    let beam =
        "mass_centre = [0.5, 0.0, 0.0]\n[body.arm.beam]\nlength = 1.0\nmass_per_length = 0.5\nEI = 1.0\nbending = 1\n";
    let flexible = GOOD.replace("[joint.elbow]", &format!("{beam}[joint.elbow]"));
    let mut cells = 0;
    for formulation in Formulation::ALL {
        for capability in Capability::ALL {
            let text = match capability {
                Capability::Flexible => flexible.clone(),
                Capability::Constraints => format!("{GOOD}[constraints]\nalpha = 5.0\n[output]\ncondition = true\n"),
                Capability::Gaps => format!("{GOOD}[constraints]\nbeta = 5.0\n"),
                Capability::QuaternionOptions => format!("{GOOD}[quaternion]\nmomentum_rows = true\n"),
                Capability::Linearisation => GOOD.to_owned(),
            };
            let name = formulation.name();
            let text = text.replacen("\n[body.base]", &format!("\nformulation = \"{name}\"\n[body.base]"), 1);
            let found = match capability {
                Capability::Linearisation => {
                    let model = grapple::plant::Model::read(&text, Path::new(".")).expect("a craft");
                    let mut plant = Plant::new(model.into()).expect("its own values");
                    let (mut x, mut discrete) = (vec![0.0; plant.model().states.len()], Discrete::new(plant.model()));
                    plant.start(0.0, &mut x, &mut discrete);
                    match Linearisation::new(&mut plant, 0.0, (&x, &[0.0], &discrete)) {
                        Ok(_) => Vec::new(),
                        Err(error) => vec![error.to_string()],
                    }
                }
                _ => report(&text),
            };
            let told = found.iter().all(|problem| problem.contains(&format!("\"{name}\"")));
            assert!(told, "{found:?}");
            assert_eq!(
                found.is_empty(),
                formulation.has(capability),
                "{name}, {capability:?}: {found:?}"
            );
            cells += 1;
        }
    }
    assert_eq!(cells, 15);
}

#[test]
fn dual_quaternions_refuse_by_name_what_they_do_not_have() {
    let dual = GOOD.replacen("\n[body.base]", "\nformulation = \"dual_quaternion\"\n[body.base]", 1);
    assert_eq!(report(&dual), Vec::<String>::new());
    let bent = format!("{dual}[body.arm.beam]\nlength = 1.0\nmass_per_length = 0.5\nEI = 1.0\nbending = 1\n");
    assert_eq!(
        report(&bent),
        [
            "14: body \"arm\", beam: the formulation \"dual_quaternion\" has rigid bodies only; formulation = \"recursive\" bends this one"
        ]
    );
}

/// A brake or a drive that could not act, or has no input, is refused when the spec is read.
#[test]
fn motions_that_make_no_sense_are_reported_with_the_joint() {
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
        idle[0].contains("a revolute joint has no `servo` if it never moves by its loads"),
        "{idle:?}"
    );
    let follows = joint("revolute", "follow = { kp = 1.0, kd = 1.0 }");
    assert!(
        follows[0].contains("a revolute joint has no `follow` if its motion is never prescribed"),
        "{follows:?}"
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
        swept[0].contains("a motion is switched: write a constant, a step, or a table that holds"),
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

/// A contact's mistakes are told with its name: frames that are not there or belong together, coefficients of another law, missing, or out of range.
#[test]
fn contacts_that_make_no_sense_are_reported_with_their_names() {
    let frames = "[frame.tip]\nbody = \"arm\"\norigin = [1.0, 0.0, 0.0]\n[frame.grip]\nbody = \"arm\"\n";
    let contact = |fields: &str| {
        let all = report(&format!("{GOOD}{frames}[contact.berth]\n{fields}"));
        let problems = all
            .into_iter()
            .map(|text| text.split_once(": ").map_or(text.clone(), |(_, rest)| rest.to_owned()));
        let mut problems: Vec<String> = problems.collect();
        problems.sort();
        problems
    };
    assert_eq!(contact("a = \"tip\"\nb = \"base\"\ne = 0.5\n"), Vec::<String>::new());
    let cases: &[(&str, &[&str])] = &[
        (
            "a = \"world\"\nb = \"bse\"\ne = 0.5\n",
            &[
                "contact \"berth\", a: there is no frame or body \"world\"",
                "contact \"berth\", b: there is no frame or body \"bse\"; did you mean \"base\"?",
            ],
        ),
        (
            "a = \"tip\"\nb = \"grip\"\ne = 0.5\n",
            &["contact \"berth\", b: \"tip\" and \"grip\" belong to one rigid body, or to several on fixed joints"],
        ),
        (
            "a = \"tip\"\nb = \"base\"\n",
            &["contact \"berth\", e: missing field `e`: the law \"restitution\" needs it"],
        ),
        (
            "a = \"tip\"\nb = \"base\"\nlaw = \"energy_friction\"\ne = 0.5\nr_E = 0.5\n",
            &[
                "contact \"berth\", e: the law \"energy_friction\" has no `e`",
                "contact \"berth\", r_f: missing field `r_f`: the law \"energy_friction\" needs it",
            ],
        ),
        (
            "a = \"tip\"\nb = \"base\"\nlaw = \"stronge\"\ne = 1.5\nmu = -0.1\nnormal = [0.0, 0.0, 0.0]\nreach = -1.0\n",
            &[
                "contact \"berth\", e: berth.e = 1.5 is not between 0 and 1",
                "contact \"berth\", mu: berth.mu = -0.1 is negative",
                "contact \"berth\", normal: the normal of contact \"berth\" has no direction",
                "contact \"berth\", reach: berth.reach = -1 m is negative",
            ],
        ),
        (
            "a = \"tip\"\nb = \"base\"\nlaw = \"capture_pin\"\ne = 0.5\nbeta = -1.0\n",
            &["contact \"berth\", e: the law \"capture_pin\" has no `e`"],
        ),
        (
            "a = \"tip\"\nb = \"base\"\nlaw = \"capture_grasp\"\nbeta = -1.0\n",
            &["contact \"berth\", beta: berth.beta = -1 1/s is negative"],
        ),
        (
            "a = \"tip\"\nb = \"base\"\ne = 0.5\ne_t = -1.5\n",
            &["contact \"berth\", e_t: berth.e_t = -1.5 is not between -1 and 1"],
        ),
        (
            "a = \"tip\"\nb = \"base\"\ne = 0.5\nsurface = \"sphere\"\nreach = 0.1\n",
            &[
                "contact \"berth\", radius_b: missing field `radius_b`: the surface needs it",
                "contact \"berth\", reach: `reach` goes without a surface: they strike where the surfaces touch",
            ],
        ),
        (
            "a = \"tip\"\nb = \"base\"\ne = 0.5\nsurface = \"disc\"\nradius_a = 0.1\nradius_b = 0.1\n",
            &[
                "contact \"berth\", radius_a: `radius_a` goes with a plane or a sphere for a surface: of a disc, `a` is a point",
            ],
        ),
        (
            "a = \"tip\"\nb = \"base\"\ne = 0.5\nsurface = \"sphere\"\nradius_b = -0.1\n",
            &["contact \"berth\", radius_b: berth.radius_b = -0.1 m is not positive"],
        ),
        (
            "a = \"tip\"\nb = \"base\"\nlaw = \"compliant\"\nforce = 10.0\nexponent = 2.0\nslip = 0.1\ne = 0.5\n",
            &[
                "contact \"berth\", depth: missing field `depth`: the law \"compliant\" needs it",
                "contact \"berth\", e: the law \"compliant\" has no `e`",
                "contact \"berth\", exponent: 2 is neither 1 nor 1.5",
                "contact \"berth\", slip: there is no friction: write `mu` too",
                "contact \"berth\", surface: the law \"compliant\" needs a surface that has a depth: \"plane\" or \"sphere\"",
            ],
        ),
        (
            "a = \"tip\"\nb = \"base\"\nlaw = \"compliant\"\nsurface = \"sphere\"\nradius_b = 0.2\nforce = 10.0\ndepth = 0.0\n",
            &["contact \"berth\", depth: berth.depth = 0 m is not positive"],
        ),
        (
            "a = \"tip\"\nb = \"base\"\nsurface = \"sphere\"\nradius_a = 0.5\nradius_b = 2.0\ne = 0.5\n",
            &["contact \"berth\", surface: \"tip\" starts 1.5 m inside the surface of \"base\""],
        ),
    ];
    for (fields, expected) in cases {
        assert_eq!(&contact(fields), expected);
    }
    let sine = "a = \"tip\"\nb = \"base\"\ne = 0.5\n[signal.\"berth.strike\"]\ntype = \"sine\"\nfrequency = 1.0\n";
    assert_eq!(
        contact(sine),
        ["signal \"berth.strike\", type: a command is a constant, a step, or a table that holds its values"]
    );
    let fixed = format!("{GOOD}{frames}").replace("type = \"revolute\"", "type = \"fixed\"");
    let [problem] = report(&format!("{fixed}[contact.berth]\na = \"tip\"\nb = \"base\"\ne = 0.5\n"))
        .try_into()
        .expect("one");
    assert!(
        problem.ends_with("belong to one rigid body, or to several on fixed joints"),
        "{problem}"
    );
}

/// An attitude servo belongs to a free body, and has one gain or three.
#[test]
fn an_attitude_servo_needs_a_free_body_and_three_axes() {
    let servo = |body: &str, kp: &str| report(&format!("{GOOD}[body.{body}.attitude_servo]\nkp = {kp}\nkd = 1.0\n"));
    assert_eq!(servo("base", "[1.0, 2.0, 3.0]"), Vec::<String>::new());
    let [problem] = servo("arm", "1.0").try_into().expect("one");
    assert!(
        problem.ends_with("only a free body has one, and joint \"elbow\" carries this one: give the joint a servo"),
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
