//! Flexible bodies: beams, modal data, segments.

use crate::{messages, report};

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
    let _section = messages::of_this_test();
    assert_eq!(bent("", BEAM), Vec::<String>::new());
    let sections = "sections = [{ x = 0.0, mass_per_length = 2.0, EI_y = 3.0, EI_z = 3.0 }, \
                    { x = 1.0, mass_per_length = 1.0, EI_y = 2.0, EI_z = 2.0 }]";
    assert_eq!(bent("", &format!("bending = 1\n{sections}")), Vec::<String>::new());
    let E = "length = 1.0\nE = 7e10\ndensity = 2700.0\narea = 1e-3\nI_y = 1e-8\nbending = 1";
    for (beam, expected) in [
        (BEAM.replace("EI = 30.0\n", ""), &["11: body.arm.beam"] as &[&str]),
        (format!("{BEAM}\nfirst_frequency = 2.0"), &["14: body.arm.beam.EI"]),
        (BEAM.replace("EI", "EI_z"), &["11: body.arm.beam.EI_y"]),
        (
            "EI = 30.0\nbending = 2".to_owned(),
            &["11: body.arm.beam.length", "11: body.arm.beam.mass_per_length"],
        ),
        (
            format!("{E}\nmass_per_length = 2.0"),
            &["11: body.arm.beam.I_z", "18: body.arm.beam.mass_per_length"],
        ),
        (
            format!("{BEAM}\ntorsion = 1\naxial = 1"),
            &[
                "11: body.arm.beam.EA",
                "11: body.arm.beam.GJ",
                "11: body.arm.beam.polar_inertia_per_length",
            ],
        ),
        (
            format!("bending = 1\nlength = 1.0\n{sections}"),
            &["13: body.arm.beam.length"],
        ),
        (
            format!("{BEAM}\nboundary = \"clamped_loaded\""),
            &["11: body.arm.beam.tip_mass"],
        ),
        (format!("{BEAM}\ntip_mass = 1.0"), &["16: body.arm.beam.tip_mass"]),
        (BEAM.replace("bending = 2", "bending = 0"), &["11: body.arm.beam"]),
        (
            format!("{BEAM}\ndamping_ratio = [0.1, 0.1]"),
            &["16: body.arm.beam.damping_ratio"],
        ),
    ] {
        assert_eq!(bent("", &beam), expected, "{beam}");
    }
}

#[test]
fn numbers_out_of_range_are_reported_once_with_their_values() {
    let _section = messages::of_this_test();
    let sections = |numbers: [(f64, f64); 3]| {
        let section = |(x, EI_y)| format!("{{ x = {x:?}, mass_per_length = 2.0, EI_y = {EI_y:?}, EI_z = 3.0 }}");
        format!("bending = 1\nsections = [{}]", numbers.map(section).join(", "))
    };
    for (beam, expected) in [
        (BEAM.replace("30.0", "0.0"), "14: body.arm.beam.EI"),
        (BEAM.replace("30.0", "-30.0"), "14: body.arm.beam.EI"),
        (BEAM.replace("1.0", "-1.0"), "12: body.arm.beam.length"),
        (
            format!("{BEAM}\ndamping_ratio = [0.1, 0.1, -0.1, 0.1]"),
            "16: body.arm.beam.damping_ratio",
        ),
        (
            sections([(0.5, 3.0), (0.7, 3.0), (1.0, 3.0)]),
            "13: body.arm.beam.sections",
        ),
        (
            sections([(0.0, 3.0), (1.0, 3.0), (0.7, 3.0)]),
            "13: body.arm.beam.sections",
        ),
        (
            sections([(0.0, 3.0), (0.5, -3.0), (1.0, 3.0)]),
            "13: body.arm.beam.sections",
        ),
        (
            sections([(0.0, 0.0), (0.5, 3.0), (1.0, 3.0)]),
            "13: body.arm.beam.sections",
        ),
        (
            format!("{}\ntorsion = 1", sections([(0.0, 3.0), (0.5, 3.0), (1.0, 3.0)])),
            "13: body.arm.beam.sections",
        ),
    ] {
        assert_eq!(bent("", &beam), [expected], "{beam}");
    }
}

#[test]
fn mass_that_is_inconsistent_with_the_beam_is_reported_with_the_mass_of_the_beam() {
    let _section = messages::of_this_test();
    for (body, expected) in [
        ("mass = 2.0", "9: body.arm.inertia"),
        ("inertia = [0.1, 0.1, 0.1]", "9: body.arm.mass"),
        ("mass_centre = [0.5, 0.0, 0.0]", "10: body.arm.mass_centre"),
        (
            "mass = 2.0\nmass_centre = [0.5, 0.0, 0.0]\ninertia = [0.01, 0.01, 0.01]",
            "12: body.arm.inertia",
        ),
        ("mass = 2.0\ninertia = [0.01, 0.17, 0.17]", "11: body.arm.inertia"),
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
    let _section = messages::of_this_test();
    assert_eq!(by_its_modes("", &format!("{MODAL}\n{NODE}")), Vec::<String>::new());
    let frame = "[frame.tip]\nbody = \"array\"\norigin = [1.0, 0.0, 0.0]";
    let load = "[body.tool]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n[joint.grip]\ntype = \"fixed\"\nparent = \"array\"\n\
                child = \"tool\"\norigin = [0.0, 0.0, 0.5]";
    for (modal, expected) in [
        (
            "frequencies = []\nparticipation = []".to_owned(),
            "15: body.array.modal.frequencies",
        ),
        (
            MODAL.replace("[1.0, 2.5]", "[0.0, 2.5]"),
            "15: body.array.modal.frequencies",
        ),
        (
            MODAL.replace("[1.0, 2.5]", "[2.5, 1.0]"),
            "15: body.array.modal.frequencies",
        ),
        (
            format!("{MODAL}\ndamping_ratio = [0.01, 0.01, 0.01]"),
            "17: body.array.modal.damping_ratio",
        ),
        (
            format!("{MODAL}\ndamping_ratio = -0.01"),
            "17: body.array.modal.damping_ratio",
        ),
        (
            MODAL.replace("[1.0, 2.5]", "[1.0, 2.5, 3.0]"),
            "16: body.array.modal.participation",
        ),
        (
            MODAL.replace("0.1, -0.6, 0.0]", "0.1, -0.6]"),
            "16: body.array.modal.participation",
        ),
        (
            format!("{MODAL}\n{}", NODE.replace("[[0.0, 1.4, 0.0], ", "[")),
            "19: body.array.modal.node.tip.displacement",
        ),
        (
            format!("{MODAL}\n{}", NODE.replace("[0.0, 0.0, 1.9]", "[0.0, 0.0]")),
            "20: body.array.modal.node.tip.rotation",
        ),
        (format!("{MODAL}\n{frame}"), "18: frame.tip.body"),
        (format!("{MODAL}\n{load}"), "22: joint.grip.parent"),
        (
            MODAL.replace("participation", "participations"),
            "16: body.array.modal.participations",
        ),
    ] {
        assert_eq!(by_its_modes("", &modal), [expected], "{modal}");
    }
    // The origin has no deflection and needs no node.
    let root = format!("{MODAL}\n{}", frame.replace("[1.0,", "[0.0,"));
    assert_eq!(by_its_modes("", &root), Vec::<String>::new());
    let both = by_its_modes(&format!("[body.array.beam]\n{BEAM}\n[body.array]"), MODAL);
    assert_eq!(both, ["15"]);
}

#[test]
fn two_models_of_flexibility_and_a_missing_mass_are_reported() {
    let _section = messages::of_this_test();
    let both = by_its_modes(
        "beam = { length = 1.0, mass_per_length = 2.0, EI = 30.0, bending = 1 }",
        MODAL,
    );
    assert_eq!(both, ["14: body.array.modal"]);
    let text = format!("name = \"craft\"\n[body.array.modal]\n{MODAL}\n");
    assert_eq!(report(&text), ["2: body.array.inertia", "2: body.array.mass"]);
}

#[test]
fn modes_with_more_momentum_than_the_body_are_reported_with_their_effective_masses() {
    let _section = messages::of_this_test();
    for participation in [
        "[[0.0, 1.2, 0.0, 0.0, 0.0, 0.1], [0.0, 0.0, 1.1, 0.1, 0.0, 0.0]]", // about the mass centre
        "[[0.0, 12.0, 0.0, 0.0, 0.0, 7.0], [0.0, 0.0, 1.1, 0.1, -0.6, 0.0]]",
    ] {
        assert_eq!(
            by_its_modes(
                "",
                &format!("frequencies = [1.0, 2.5]\nparticipation = {participation}")
            ),
            ["16: body.array.modal.participation"]
        );
    }
}

#[test]
fn joint_without_inertia_is_reported_when_the_spec_is_read() {
    let _section = messages::of_this_test();
    let slender = "name = \"m\"\n[body.base]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n[joint.twist]\ntype = \"revolute\"\naxis = [1.0, 0.0, 0.0]\n\
                   parent = \"base\"\nchild = \"arm\"\n[body.arm.beam]\nlength = 1.0\nmass_per_length = 2.0\nEI = 30.0\nbending = 2\n";
    assert_eq!(report(slender), ["5: joint.twist"]);
    let sound = slender.to_owned() + "polar_inertia_per_length = 1e-3\n";
    assert_eq!(report(&sound), Vec::<String>::new());
}

/// The axis without inertia is that of the beam, which is not parallel to an axis of the world.
#[test]
fn free_beam_without_inertia_about_its_axis_is_reported_by_name() {
    let _section = messages::of_this_test();
    for start in ["", "start = { rpy_deg = [20.0, 30.0, 40.0] }\n"] {
        let slender = format!(
            "name = \"m\"\n[body.arm]\n{start}[body.arm.beam]\nlength = 1.0\nmass_per_length = 2.0\nEI = 30.0\nbending = 2\n"
        );
        let found = report(&slender);
        println!("{found:?}");
        let line = if start.is_empty() { 3 } else { 4 };
        assert_eq!(found, [format!("{line}: body.arm.beam")]);
        assert_eq!(
            report(&(slender + "polar_inertia_per_length = 1e-3\n")),
            Vec::<String>::new()
        );
    }
}

#[test]
fn invalid_segments_and_line_loads_are_reported() {
    let _section = messages::of_this_test();
    for (more, expected) in [
        ("segments = 0", "16: body.arm.beam.segments"),
        (
            "segments = 2\nboundary = \"clamped_clamped\"",
            "17: body.arm.beam.boundary",
        ),
        (
            "segments = 2\ndamping_ratio = [0.1, 0.1, 0.1, 0.1]",
            "17: body.arm.beam.damping_ratio",
        ),
        ("bending_y = 65", "11: body.arm.beam"),
        ("[line_load.wind]\nbody = \"base\"", "17: line_load.wind.body"),
    ] {
        assert_eq!(bent("", &format!("{BEAM}\n{more}")), [expected], "{more}");
    }
    let mass = "mass = 2.0\nmass_centre = [0.5, 0.0, 0.0]\ninertia = [0.01, 0.17, 0.17]";
    assert_eq!(bent(mass, &format!("{BEAM}\nsegments = 2")), ["10: body.arm.mass"]);
}

#[test]
fn counts_of_modes_and_segments_beyond_the_limits_are_rejected() {
    let _section = messages::of_this_test();
    let largest = i64::MAX;
    let modes = format!(
        "bending_y = {largest}\nbending_z = {largest}\ntorsion = {largest}\npolar_inertia_per_length = 1.0\nGJ = 1.0"
    );
    assert_eq!(bent("", &BEAM.replace("bending = 2", &modes)), ["11: body.arm.beam"]);
    assert_eq!(
        bent("", &format!("{BEAM}\nsegments = {largest}")),
        ["16: body.arm.beam.segments"]
    );
    assert_eq!(bent("", &format!("{BEAM}\nsegments = 20")), Vec::<String>::new());
    assert_eq!(
        bent(
            "",
            &format!("{}\nsegments = 100", BEAM.replace("bending = 2", "bending = 3"))
        ),
        ["16: body.arm.beam.segments"]
    );
}

#[test]
fn length_near_the_largest_number_is_rejected() {
    let _section = messages::of_this_test();
    let messages = bent("", &BEAM.replace("length = 1.0", "length = 1e308"));
    assert!(!messages.is_empty());
}

/// Errors of any segment are reported with its number, also a section too close to the end of a
/// segment.
#[test]
fn every_segment_of_a_beam_is_validated() {
    let _section = messages::of_this_test();
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
    assert_eq!(
        bent("", &table(&[(0.0, 3.0), (0.75, 0.0), (1.0, 1.0)], [1.0, 1.0])),
        ["15: body.arm.beam.sections"]
    );
    assert_eq!(
        bent("", &table(&[(0.0, 3.0), (0.5001, 2.0), (1.0, 1.0)], [1.0, 1.0])),
        ["15: body.arm.beam.sections"]
    );
}

/// Numbers without effect, missing nodes and too many modes are errors.
#[test]
fn numbers_without_effect_and_too_many_modes_are_rejected() {
    let _section = messages::of_this_test();
    assert_eq!(
        bent("inertia_axes = [1.0, 0.0, 0.0, 0.0]", BEAM),
        ["10: body.arm.inertia_axes"]
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
    assert_eq!(rows(1), ["9: wheel.spin.body"]);
    assert_eq!(rows(513), ["6: body.array.modal.frequencies", "9: wheel.spin.body"]);
}

/// Line loads on other beams and on rigid bodies are rejected.
#[test]
fn line_loads_act_on_modal_beams_only() {
    let _section = messages::of_this_test();
    let line = |body: &str, table: &str| {
        let text = format!("{}{table}[line_load.wind]\nbody = \"{body}\"\n", crate::GOOD);
        report(&text)
    };
    assert_eq!(line("span", crate::NODAL_BEAM), ["21: line_load.wind.body"]);
    let director = "[body.boom.geometrically_exact_beam]\nlength = 2.0\nelements = 2\nmass_per_length = 0.4\npolar_inertia_per_length = 1e-3\nEA = 300.0\nGA = 150.0\nGJ = 0.2\nEI = 0.4\n";
    assert_eq!(line("boom", director), ["23: line_load.wind.body"]);
    assert_eq!(line("arm", ""), ["14: line_load.wind.body"]);
}
