//! Geometrically exact beams.

use crate::{GOOD, report};

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
    assert_eq!(report(&format!("{GOOD}{BEAM}")), Vec::<String>::new());
}

#[test]
fn invalid_geometrically_exact_beams_are_reported_with_field_and_value() {
    for (right, wrong, expected) in [
        (
            "elements = 4",
            "elements = 0",
            "body \"boom\", geometrically_exact_beam.elements: 0 elements: a geometrically exact beam has 1 to 100",
        ),
        (
            "elements = 4",
            "elements = 2000",
            "2000 elements: a geometrically exact beam has 1 to 100",
        ),
        ("GJ = 50.0", "GJ = -1.0", "boom.GJ = -1 N.m2 is not positive"),
        ("length = 3.0", "length = 0.0", "boom.length = 0 m is not positive"),
        ("EI_z = 90.0\n", "", "missing field `EI_z`: write both, or `EI`"),
        ("GA = 400.0\n", "", "missing field `GA`: write it, or `GA_y` and `GA_z`"),
        (
            "GA = 400.0",
            "GA = 400.0\nGA_z = 3.0",
            "the stiffness is written twice: `GA` and `GA_z`",
        ),
        (
            "EA = 9e3\n",
            "EA = 9e3\ndamping_time = -1.0\n",
            "boom.damping_time = -1 s is negative",
        ),
        ("EA = 9e3\n", "", "missing field `EA`"),
        (
            "[body.boom.geometrically_exact_beam]",
            "[body.boom]\nmass = 3.0\n[body.boom.geometrically_exact_beam]",
            "body \"boom\", mass: a geometrically exact beam has its own mass",
        ),
    ] {
        let found = report(&format!("{GOOD}{}", BEAM.replace(right, wrong)));
        assert!(found.len() == 1 && found[0].contains(expected), "{found:?}");
    }
    let servo = "[joint.elbow.servo]\nkp = 1.0\nkd = 1.0\nfeed_forward = \"rigid\"\n";
    let found = report(&format!("{GOOD}{servo}{BEAM}"));
    let expected = "the feed-forward torque of joint \"elbow\" does not include geometrically exact beams";
    assert!(found.len() == 1 && found[0].contains(expected), "{found:?}");
    let modal = format!("{GOOD}{BEAM}[body.boom.beam]\nlength = 1.0\nmass_per_length = 1.0\nEI = 1.0\nbending = 1\n");
    let found = report(&modal);
    assert!(
        found
            .iter()
            .any(|problem| problem.contains("write either `beam` or `geometrically_exact_beam`, not both")),
        "{found:?}"
    );
}
