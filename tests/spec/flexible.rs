//! Flexible bodies: beams, modal data, segments.

use crate::report;

/// Returns the problems of a spacecraft whose arm has `body` in its table (from line 10) and `beam`
/// in that of its beam.
fn bent(body: &str, beam: &str) -> Vec<String> {
    report(&format!(
        "name = \"craft\"\n[body.base]\nmass = 4.0\ninertia = [0.4, 0.4, 0.4]\n[joint.elbow]\ntype = \"revolute\"\n\
         parent = \"base\"\nchild = \"arm\"\n[body.arm]\n{body}\n[body.arm.beam]\n{beam}\n"
    ))
}

const BEAM: &str = "length = 1.0\nmass_per_length = 2.0\nEI = 30.0\nbending = 2";

#[test]
fn incomplete_beams_are_reported_with_the_missing_field() {
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
            &["13: body \"arm\", beam.length: the `sections` define it: leave `length` out"],
        ),
        (
            format!("{BEAM}\nboundary = \"clamped_loaded\""),
            &["11: body \"arm\", beam.tip_mass: missing field `tip_mass`: boundary = \"clamped_loaded\" needs it"],
        ),
        (
            format!("{BEAM}\ntip_mass = 1.0"),
            &["16: body \"arm\", beam.tip_mass: `tip_mass` requires boundary = \"clamped_loaded\""],
        ),
        (
            BEAM.replace("bending = 2", "bending = 0"),
            &[
                "11: body \"arm\", beam: a beam without modes is rigid: write `bending = 2`, for example, or leave `beam` out",
            ],
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
fn numbers_out_of_range_are_reported_once_with_their_values() {
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
            "13: body \"arm\", beam.sections: a beam needs at least two sections, the first at x = 0 m: it has 3, the first \
             at x = 0.5 m",
        ),
        (
            sections([(0.0, 3.0), (1.0, 3.0), (0.7, 3.0)]),
            "13: body \"arm\", beam.sections: section 3 at x = 0.7 m: positions must ascend; only between the ends of the \
             beam may two sections share a position",
        ),
        (
            sections([(0.0, 3.0), (0.5, -3.0), (1.0, 3.0)]),
            "13: body \"arm\", beam.sections: EI_y at x = 0.5 m is -3: it must be finite and not negative",
        ),
        (
            sections([(0.0, 0.0), (0.5, 3.0), (1.0, 3.0)]),
            "13: body \"arm\", beam.sections: the stiffness in bending along z, `EI_y`, is zero at x = 0 m: it must be positive",
        ),
        (
            format!("{}\ntorsion = 1", sections([(0.0, 3.0), (0.5, 3.0), (1.0, 3.0)])),
            "13: body \"arm\", beam.sections: the stiffness in torsion, `GJ`, is zero at x = 0 m: it must be positive",
        ),
    ] {
        assert_eq!(bent("", &beam), [expected], "{beam}");
    }
}

#[test]
fn mass_that_is_inconsistent_with_the_beam_is_reported_with_the_mass_of_the_beam() {
    let beams = "the modes of \"arm\" carry more momentum than its mass (2 kg), mass centre and inertia allow; the beam alone has \
                 2 kg, its mass centre at [0.5, 0, 0] m and [0, 0.1667, 0.1667] kg·m² about it: check that the inertia is \
                 about the mass centre, and the origin and attitude of the beam's root";
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

/// Returns the problems of a spacecraft whose array has `more` in its table (from line 10) and
/// `modal` in that of its modal data (from line 15).
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
fn inconsistent_modal_data_is_reported_with_the_mode() {
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
            "15: body \"array\", modal.frequencies: mode 1 has 0 Hz, as a rigid-body mode: the modes must be those of the body \
             clamped at its origin; its rigid-body motion is that of its joint",
        ),
        (
            MODAL.replace("[1.0, 2.5]", "[2.5, 1.0]"),
            "15: body \"array\", modal.frequencies: frequencies must ascend, but 1 Hz follows 2.5 Hz: check that every row belongs to its mode",
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
            "18: frame \"tip\", body: the modal data of \"array\" has no nodes, so its deflection at [1.0, 0.0, 0.0] m is unknown: write \
             a table [body.array.modal.node.<name>] with `position` and `displacement`",
        ),
        (
            format!("{MODAL}\n{load}"),
            "22: joint \"grip\", parent: the modal data of \"array\" has no nodes, so its deflection at [0.0, 0.0, 0.5] m is unknown: \
             write a table [body.array.modal.node.<name>] with `position` and `displacement`",
        ),
        (
            MODAL.replace("participation", "participations"),
            "16: unknown field `participations`",
        ),
    ] {
        let messages = by_its_modes("", &modal);
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert!(messages[0].starts_with(expected), "{messages:?}\n{expected}");
    }
    // The origin has no deflection and needs no node.
    let root = format!("{MODAL}\n{}", frame.replace("[1.0,", "[0.0,"));
    assert_eq!(by_its_modes("", &root), Vec::<String>::new());
    let both = by_its_modes(&format!("[body.array.beam]\n{BEAM}\n[body.array]"), MODAL);
    assert!(both[0].contains("duplicate key"), "{both:?}");
}

#[test]
fn two_models_of_flexibility_and_a_missing_mass_are_reported() {
    let both = by_its_modes(
        "beam = { length = 1.0, mass_per_length = 2.0, EI = 30.0, bending = 1 }",
        MODAL,
    );
    assert!(
        both.contains(
            &"14: body \"array\", modal: a body has one model of flexibility: write either `beam` or `modal`, not both"
                .to_owned()
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
fn modes_with_more_momentum_than_the_body_are_reported_with_their_effective_masses() {
    let advice = "Check that the last three numbers of each row are about the body's origin (Nastran's MEFFMASS takes them about \
                  that of the basic coordinate system, or about its GRID), that the modes are mass-normalised, that all units are \
                  kg and m, and that `inertia` is about the mass centre";
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
                 allow: their effective masses are {effective}, of [0.1, 0.7, 0.8]. {advice}"
            )]
        );
    }
}

#[test]
fn joint_without_inertia_is_reported_when_the_spec_is_read() {
    let slender = "name = \"m\"\n[body.base]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n[joint.twist]\ntype = \"revolute\"\naxis = [1.0, 0.0, 0.0]\n\
                   parent = \"base\"\nchild = \"arm\"\n[body.arm.beam]\nlength = 1.0\nmass_per_length = 2.0\nEI = 30.0\nbending = 2\n";
    assert_eq!(
        report(slender),
        [
            "5: joint \"twist\": axis 1 has no inertia: a slender beam has no inertia about its own axis; write its \
             `polar_inertia_per_length`"
        ]
    );
    let sound = slender.to_owned() + "polar_inertia_per_length = 1e-3\n";
    assert_eq!(report(&sound), Vec::<String>::new());
}

/// The axis without inertia is that of the beam, which is not parallel to an axis of the world.
#[test]
fn free_beam_without_inertia_about_its_axis_is_reported_by_name() {
    for start in ["", "start = { rpy_deg = [20.0, 30.0, 40.0] }\n"] {
        let slender = format!(
            "name = \"m\"\n[body.arm]\n{start}[body.arm.beam]\nlength = 1.0\nmass_per_length = 2.0\nEI = 30.0\nbending = 2\n"
        );
        let found = report(&slender);
        println!("{found:?}");
        assert!(
            found.len() == 1
                && found[0].contains(
                    "body \"arm\", beam: it has no inertia about one of its axes: a slender beam has no inertia about its own axis"
                )
        );
        assert_eq!(
            report(&(slender + "polar_inertia_per_length = 1e-3\n")),
            Vec::<String>::new()
        );
    }
}

#[test]
fn invalid_segments_and_line_loads_are_reported() {
    for (more, expected) in [
        (
            "segments = 0",
            "16: body \"arm\", beam.segments: 0 segments: a beam has 1 to 100",
        ),
        (
            "segments = 2\nboundary = \"clamped_clamped\"",
            "17: body \"arm\", beam.boundary: a beam in several segments has modes with a free tip: leave `boundary` out",
        ),
        (
            "segments = 2\ndamping_ratio = [0.1, 0.1, 0.1, 0.1]",
            "17: body \"arm\", beam.damping_ratio: a beam in several segments has one damping ratio, that of the whole beam's first modes: write one number",
        ),
        (
            "bending_y = 65",
            "11: body \"arm\", beam: 67 modes: a beam (or a segment of it) may have 64",
        ),
        (
            "[line_load.wind]\nbody = \"base\"",
            "17: line_load \"wind\", body: body \"base\" has no beam: for a force on a rigid body write a [port]",
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
fn counts_of_modes_and_segments_beyond_the_limits_are_rejected() {
    let largest = i64::MAX;
    let modes = format!(
        "bending_y = {largest}\nbending_z = {largest}\ntorsion = {largest}\npolar_inertia_per_length = 1.0\nGJ = 1.0"
    );
    assert_eq!(
        bent("", &BEAM.replace("bending = 2", &modes)),
        ["11: body \"arm\", beam: 18446744073709551615 modes: a beam (or a segment of it) may have 64"]
    );
    assert_eq!(
        bent("", &format!("{BEAM}\nsegments = {largest}")),
        [format!(
            "16: body \"arm\", beam.segments: {largest} segments: a beam has 1 to 100"
        )]
    );
    assert_eq!(bent("", &format!("{BEAM}\nsegments = 20")), Vec::<String>::new());
    assert_eq!(
        bent(
            "",
            &format!("{}\nsegments = 100", BEAM.replace("bending = 2", "bending = 3"))
        ),
        [
            "16: body \"arm\", beam.segments: 100 segments with 6 modes each: all segments of a beam may have 512 modes together"
        ]
    );
}

#[test]
fn length_near_the_largest_number_is_rejected() {
    let messages = bent("", &BEAM.replace("length = 1.0", "length = 1e308"));
    assert!(!messages.is_empty());
}

/// Errors of any segment are reported with its number, also a section too close to the end of a
/// segment.
#[test]
fn every_segment_of_a_beam_is_validated() {
    let table = |sections: &[(f64, f64)], GJ: [f64; 2]| {
        let last = sections.len() - 1;
        let section = |(i, (x, EI)): (usize, &(f64, f64))| {
            let GJ = GJ[usize::from(i == last)];
            format!(
                "{{ x = {x:?}, mass_per_length = 2.0, polar_inertia_per_length = 0.1, EI_y = {EI:?}, EI_z = {EI:?}, GJ = {GJ:?} }}"
            )
        };
        let all: Vec<String> = sections.iter().enumerate().map(section).collect();
        format!(
            "segments = 2\nbending = 1\ntorsion = 1\nsections = [{}]",
            all.join(", ")
        )
    };
    let good = [(0.0, 3.0), (0.5, 2.0), (1.0, 1.0)];
    assert_eq!(bent("", &table(&good, [1.0, 1.0])), [""; 0]);
    let [limp] = bent("", &table(&[(0.0, 3.0), (0.75, 0.0), (1.0, 1.0)], [1.0, 1.0]))
        .try_into()
        .expect("one");
    assert!(
        limp.contains(
            "beam.sections: segment 2: the stiffness in bending along y, `EI_z`, is zero at x = 0.75 m: it must \
            be positive"
        ),
        "{limp}"
    );
    let [beside] = bent("", &table(&[(0.0, 3.0), (0.5001, 2.0), (1.0, 1.0)], [1.0, 1.0]))
        .try_into()
        .expect("one");
    assert!(
        beside.contains("segment 2: the section at x = 0.5001 m is too close to the end of a segment at x = 0.5 m"),
        "{beside}"
    );
}

/// Numbers without effect, missing nodes and too many modes are errors.
#[test]
fn numbers_without_effect_and_too_many_modes_are_rejected() {
    let [axes] = bent("inertia_axes = [1.0, 0.0, 0.0, 0.0]", BEAM)
        .try_into()
        .expect("one");
    assert!(
        axes.contains("body \"arm\", inertia_axes: the beam has its own inertia"),
        "{axes}"
    );
    let rows = |n: usize| {
        let f: Vec<String> = (1..=n).map(|k| format!("{k}.0")).collect();
        let p = vec!["[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]"; n].join(", ");
        report(&format!(
            "name = \"craft\"\n[body.array]\nmass = 4.0\ninertia = [0.4, 0.4, 0.4]\n[body.array.modal]\nfrequencies = [{}]\nparticipation = [{p}]\n\
             [wheel.spin]\nbody = \"array\"\nposition = [0.1, 0.0, 0.0]\naxis = [0.0, 0.0, 1.0]\nmass = 0.1\ninertia = 0.01\ntorque_limit = 1.0\nrate_limit = 10.0\n",
            f.join(", ")
        ))
    };
    let away = rows(1);
    assert!(
        away.len() == 1 && away[0].contains("wheel \"spin\", body: the modal data of \"array\" has no nodes"),
        "{away:?}"
    );
    let many = rows(513);
    assert!(
        many.iter()
            .any(|message| message.contains("modal.frequencies: 513 modes: a body may have 512")),
        "{many:?}"
    );
}

/// Line loads on other beams and on rigid bodies are rejected.
#[test]
fn line_loads_act_on_modal_beams_only() {
    let line = |body: &str, table: &str| {
        let text = format!("{}{table}[line_load.wind]\nbody = \"{body}\"\n", crate::GOOD);
        let problems = report(&text);
        assert_eq!(problems.len(), 1, "{problems:?}");
        problems[0].clone()
    };
    let message = line("span", crate::NODAL_BEAM);
    assert!(
        message.contains("\"span\" is an ANCF beam: line loads act on modal beams (`beam`) only"),
        "{message}"
    );
    let director = "[body.boom.geometrically_exact_beam]\nlength = 2.0\nelements = 2\nmass_per_length = 0.4\npolar_inertia_per_length = 1e-3\nEA = 300.0\nGA = 150.0\nGJ = 0.2\nEI = 0.4\n";
    let message = line("boom", director);
    assert!(
        message.contains("\"boom\" is a geometrically exact beam: line loads"),
        "{message}"
    );
    assert!(line("arm", "").contains("body \"arm\" has no beam: for a force on a rigid body write a [port]"));
}
