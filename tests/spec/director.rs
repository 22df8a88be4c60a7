//! Geometrically exact beams.

use crate::{GOOD, messages, report};

const BEAM: &str = r#"
[body.boom.geometrically_exact_beam]
length = 3.0
elements = 4
mass_per_length = 0.7
polar_inertia_per_length = 0.03
EA = 9e3
GA = 400.0
GJ = 50.0
EI_y = 60.0
EI_z = 90.0
[joint.root]
type = "revolute"
parent = "arm"
child = "boom"
[frame.tip]
body = "boom"
origin = [3.0, 0.0, 0.0]
"#;

#[test]
fn valid_geometrically_exact_beam_has_no_problem() {
    let _section = messages::of_this_test();
    assert_eq!(report(&format!("{GOOD}{BEAM}")), Vec::<String>::new());
}

#[test]
fn invalid_geometrically_exact_beams_are_reported_with_field_and_value() {
    let _section = messages::of_this_test();
    for (right, wrong, expected) in [
        (
            "elements = 4",
            "elements = 0",
            "16: body.boom.geometrically_exact_beam.elements",
        ),
        (
            "elements = 4",
            "elements = 2000",
            "16: body.boom.geometrically_exact_beam.elements",
        ),
        ("GJ = 50.0", "GJ = -1.0", "21: body.boom.geometrically_exact_beam.GJ"),
        (
            "length = 3.0",
            "length = 0.0",
            "15: body.boom.geometrically_exact_beam.length",
        ),
        ("EI_z = 90.0\n", "", "14: body.boom.geometrically_exact_beam.EI_z"),
        ("GA = 400.0\n", "", "14: body.boom.geometrically_exact_beam.GA"),
        (
            "GA = 400.0",
            "GA = 400.0\nGA_z = 3.0",
            "21: body.boom.geometrically_exact_beam.GA_z",
        ),
        (
            "EA = 9e3\n",
            "EA = 9e3\ndamping_time = -1.0\n",
            "20: body.boom.geometrically_exact_beam.damping_time",
        ),
        ("EA = 9e3\n", "", "14"),
        (
            "[body.boom.geometrically_exact_beam]",
            "[body.boom]\nmass = 3.0\n[body.boom.geometrically_exact_beam]",
            "15: body.boom.mass",
        ),
    ] {
        let found = report(&format!("{GOOD}{}", BEAM.replace(right, wrong)));
        assert_eq!(found, [expected]);
    }
    let servo = "[joint.elbow.servo]\nkp = 1.0\nkd = 1.0\nfeed_forward = \"rigid\"\n";
    let found = report(&format!("{GOOD}{servo}{BEAM}"));
    assert_eq!(found, ["18: body.boom.geometrically_exact_beam"]);
    let modal = format!("{GOOD}{BEAM}[body.boom.beam]\nlength = 1.0\nmass_per_length = 1.0\nEI = 1.0\nbending = 1\n");
    assert_eq!(report(&modal), ["14: body.boom.geometrically_exact_beam"]);
}
