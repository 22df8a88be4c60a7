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
        (
            "polar_inertia_per_length = 0.03\n",
            "",
            "14: body.boom.geometrically_exact_beam.polar_inertia_per_length",
        ),
        (
            "polar_inertia_per_length = 0.03\n",
            "inertia_y_per_length = 0.02\n",
            "14: body.boom.geometrically_exact_beam.inertia_z_per_length",
        ),
        (
            "polar_inertia_per_length = 0.03\n",
            "polar_inertia_per_length = 0.03\ninertia_y_per_length = 0.02\n",
            "19: body.boom.geometrically_exact_beam.inertia_y_per_length",
        ),
        (
            "polar_inertia_per_length = 0.03\n",
            "inertia_y_per_length = 0.02\ninertia_z_per_length = -0.01\n",
            "19: body.boom.geometrically_exact_beam.inertia_z_per_length",
        ),
        ("EA = 9e3\n", "", "14: body.boom.geometrically_exact_beam.EA"),
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

/// The beam in other shapes, which begin at line 15.
fn curved(shape: &str) -> Vec<String> {
    report(&format!("{GOOD}{}", BEAM.replace("length = 3.0", shape)))
}

#[test]
fn valid_shapes_of_a_geometrically_exact_beam_have_no_problem() {
    let _section = messages::of_this_test();
    for shape in [
        "shape = { radius = 2.0, angle = 1.5 }",
        "shape = { radius = 2.0, angle_deg = 90.0, toward = [0.0, 0.0, -3.0] }",
        "shape = { points = [[1.0, 0.2, 0.0], [1.8, 0.8, 0.3]] }",
    ] {
        assert_eq!(curved(shape), Vec::<String>::new());
    }
}

#[test]
fn invalid_shapes_of_a_geometrically_exact_beam_are_reported_with_field_and_value() {
    let _section = messages::of_this_test();
    for (shape, expected) in [
        ("", "14: body.boom.geometrically_exact_beam.length"),
        (
            "length = 3.0\nshape = { radius = 2.0, angle = 1.5 }",
            "15: body.boom.geometrically_exact_beam.length",
        ),
        ("shape = {}", "15: body.boom.geometrically_exact_beam.shape"),
        (
            "shape = { angle = 1.5 }",
            "15: body.boom.geometrically_exact_beam.shape.radius",
        ),
        (
            "shape = { radius = 2.0 }",
            "15: body.boom.geometrically_exact_beam.shape.angle",
        ),
        (
            "shape = { radius = 2.0, angle = 1.5, angle_deg = 90.0 }",
            "15: body.boom.geometrically_exact_beam.shape.angle",
        ),
        (
            "shape = { radius = -2.0, angle = 1.5 }",
            "15: body.boom.geometrically_exact_beam.shape.radius",
        ),
        (
            "shape = { radius = 2.0, angle_deg = 0.0 }",
            "15: body.boom.geometrically_exact_beam.shape.angle_deg",
        ),
        (
            "shape = { radius = 2.0, angle_deg = 400.0 }",
            "15: body.boom.geometrically_exact_beam.shape.angle_deg",
        ),
        (
            "shape = { radius = 2.0, angle = 1.5, toward = [0.1, 1.0, 0.0] }",
            "15: body.boom.geometrically_exact_beam.shape.toward",
        ),
        (
            "shape = { radius = 2.0, angle = 1.5, toward = [0.0, 0.0, 0.0] }",
            "15: body.boom.geometrically_exact_beam.shape.toward",
        ),
        // Four elements, each of more than 45°.
        (
            "shape = { radius = 2.0, angle = 3.2 }",
            "16: body.boom.geometrically_exact_beam.elements",
        ),
        (
            "shape = { points = [[1.0, 0.0, 0.0], [1.0, 2.0, 0.0], [-1.0, 2.0, 0.0]] }",
            "16: body.boom.geometrically_exact_beam.elements",
        ),
        (
            "shape = { points = [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]] }",
            "15: body.boom.geometrically_exact_beam.shape.points",
        ),
        (
            "shape = { points = [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 0.0, 0.0]] }",
            "15: body.boom.geometrically_exact_beam.shape.points",
        ),
        (
            "shape = { points = [[1.0, 0.0, 0.0]], radius = 2.0 }",
            "15: body.boom.geometrically_exact_beam.shape.radius",
        ),
        (
            "shape = { points = [] }",
            "15: body.boom.geometrically_exact_beam.shape",
        ),
    ] {
        assert_eq!(curved(shape), [expected], "{shape}");
    }
    let points = "[1.0, 0.0, 0.0], ".repeat(101);
    let found = curved(&format!("shape = {{ points = [{points}] }}"));
    assert_eq!(found, ["15: body.boom.geometrically_exact_beam.shape.points"]);
}
