//! ANCF beams and grasps.

use crate::{GOOD, NODAL_BEAM, report};

/// Returns the only problem of a spacecraft with `beam` and `rest` added.
fn problem(beam: &str, rest: &str) -> String {
    let problems = report(&format!("{GOOD}{beam}{rest}"));
    let [problem] = problems.as_slice() else {
        panic!("{problems:?}");
    };
    problem.clone()
}

const GRIP: &str = "[grasp.grip]\na = \"arm\"\nb = \"span\"\nstiffness = 1e4\ndamping = 10.0\n";

#[test]
fn valid_ancf_beam_in_a_valid_grasp_has_no_problem() {
    let frame =
        "[frame.tip]\nbody = \"span\"\norigin = [10.0, 0.0, 0.0]\n[measure.reach]\nfrom = \"arm\"\nto = \"tip\"\n";
    assert_eq!(
        report(&format!("{GOOD}{NODAL_BEAM}{frame}{GRIP}")),
        Vec::<String>::new()
    );
    let sections =
        "[ancf_beam.span]\nsections = [{ length = 1.0, elements = 1, mass_per_length = 1.0, EA = 1.0, EI = 1.0 }]\n";
    assert_eq!(report(&format!("{GOOD}{sections}{GRIP}")), Vec::<String>::new());
}

#[test]
fn invalid_ancf_beams_are_reported_with_field_and_value() {
    for (wrong, right, expected) in [
        (
            "elements = 0",
            "elements = 2",
            "10 m without elements: write elements = 1 or more",
        ),
        ("elements = 2000", "elements = 2", "2000 elements, the maximum is 256"),
        ("EI = -1.0", "EI = 100.0", "span.EI = -1 N.m2 is not positive"),
        (
            "mass_per_length = 0.0",
            "mass_per_length = 0.5",
            "span.mass_per_length = 0 kg/m is not positive",
        ),
        ("", "EA = 1e5", "missing field `EA`"),
    ] {
        let found = problem(&NODAL_BEAM.replace(right, wrong), "");
        assert!(found.contains(expected), "{found}");
    }
    let both = format!(
        "{NODAL_BEAM}sections = [{{ length = 1.0, elements = 1, mass_per_length = 1.0, EA = 1.0, EI = 1.0 }}]\n"
    );
    let found = report(&format!("{GOOD}{both}"));
    assert!(
        found.len() == 5
            && found
                .iter()
                .all(|problem| problem.contains("`sections` have their own")),
        "{found:?}"
    );
    let start = "start = { axes = \"lvlh\" }\n";
    let found = problem(&format!("{NODAL_BEAM}{start}"), "");
    assert!(
        found.contains("ancf_beam \"span\", start.axes: LVLH axes need an orbit"),
        "{found}"
    );
}

#[test]
fn frames_on_an_ancf_beam_are_on_its_centre_line_without_attitude() {
    let frame = |rest: &str| problem(NODAL_BEAM, &format!("[frame.tip]\nbody = \"span\"\n{rest}\n"));
    let found = frame("origin = [10.5, 0.0, 0.0]");
    assert!(
        found.contains("x = 10.5 m is not on the beam \"span\", which extends from 0 to 10 m"),
        "{found}"
    );
    // An importer that shortens the beam, or moves the frame beyond its end, gets the same error.
    let on = "[frame.tip]\nbody = \"span\"\norigin = [9.0, 0.0, 0.0]\n";
    let model =
        grapple::plant::Model::read(&format!("{GOOD}{NODAL_BEAM}{on}"), std::path::Path::new(".")).expect("sound");
    let mut plant = grapple::plant::Plant::new(model.into()).expect("sound");
    let start = plant.model().parameter_starts();
    for (name, value) in [("span.length", 8.0), ("tip.x", 10.1)] {
        let place = plant.model().parameters.iter().position(|p| p.quantity.name == name);
        let mut values = start.clone();
        values[place.expect("a parameter")] = value;
        let message = plant.set_parameters(&values).expect_err("beyond the end").to_string();
        assert!(message.contains("m is not on the beam \"span\""), "{message}");
    }
    let found = frame("origin = [5.0, 0.1, 0.0]");
    assert!(
        found.contains("frames on an ANCF beam are on its centre line: write origin = [5, 0, 0]"),
        "{found}"
    );
    let found = frame("rpy_deg = [10.0, 0.0, 0.0]");
    assert!(
        found.contains("a frame on an ANCF beam has its x axis along the beam"),
        "{found}"
    );
    let axes = "which has a direction but no attitude";
    let found = problem(NODAL_BEAM, "[measure.back]\nfrom = \"span\"\nto = \"arm\"\n");
    assert!(
        found.contains("measure \"back\", from: \"span\" is on the ANCF beam \"span\"") && found.contains(axes),
        "{found}"
    );
    let found = problem(NODAL_BEAM, "[port.push]\nframe = \"span\"\naxes = \"frame\"\n");
    assert!(found.contains(axes), "{found}");
    let found = problem(
        NODAL_BEAM,
        "[thruster.jet]\nframe = \"span\"\ndirection = [1.0, 0.0, 0.0]\nthrust = 1.0\n",
    );
    assert!(found.contains(axes), "{found}");
    let joint = "[body.tip]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n[joint.pin]\ntype = \"fixed\"\nparent = \"span\"\nchild = \"tip\"\n";
    let found = problem(NODAL_BEAM, joint);
    assert!(
        found.contains("joint \"pin\", parent: \"span\" is an ANCF beam, which has no joints: connect it by a [grasp]"),
        "{found}"
    );
    let contact = |law: &str| format!("[contact.hit]\na = \"arm\"\nb = \"span\"\nreach = 1.0\n{law}\n");
    for (law, what) in [
        ("law = \"capture_pin\"", "write it as `a`"),
        (
            "e = 0.5",
            "impacts on it are not supported; use a law that captures, or a [grasp]",
        ),
    ] {
        let found = problem(NODAL_BEAM, &contact(law));
        assert!(
            found.contains(&format!("\"span\" is on the ANCF beam \"span\": {what}")),
            "{found}"
        );
    }
}

#[test]
fn invalid_grasps_are_reported() {
    let grip = |right: &str, wrong: &str| problem(NODAL_BEAM, &GRIP.replace(right, wrong));
    let found = grip("stiffness = 1e4", "stiffness = 0.0");
    assert!(
        found.contains(
            "the stiffness of grasp \"grip\" between \"arm\" and \"span\" is zero: it must be positive along one \
            axis or more"
        ),
        "{found}"
    );
    let found = problem(
        &format!("{NODAL_BEAM}start = {{ rpy_deg = [0.0, 0.0, 178.0] }}\n"),
        &format!("{GRIP}angular_stiffness = 5.0\n"),
    );
    assert!(
        found.contains(
            "grasp \"grip\", b: \"span\" starts rotated by 178.0 deg relative to \"arm\", and the restoring moment of a \
             closed grasp is undefined"
        ),
        "{found}"
    );
    let found = grip("b = \"span\"", "b = \"arm\"");
    assert!(found.contains("`a` and `b` are the same frame, \"arm\""), "{found}");
    let found = grip("a = \"arm\"\nb = \"span\"", "a = \"span\"\nb = \"arm\"");
    assert!(
        found.contains("\"span\" is on the ANCF beam \"span\": write it as `b`"),
        "{found}"
    );
    // An error of the beam is reported once, not again for the tables that refer to it.
    let hangs = "[signal.\"grip.on\"]\ntype = \"step\"\nfrom = 1.0\n[frame.tip]\nbody = \"span\"\n[measure.far]\nfrom = \"arm\"\nto = \"tip\"\n[port.push]\nframe = \"tip\"\n\
                 [signal.\"push.f[1]\"]\ntype = \"constant\"\n";
    let found = problem(&NODAL_BEAM.replace("EA = 1e5", ""), &format!("{GRIP}{hangs}"));
    assert!(found.contains("missing field `EA`"), "{found}");
    let found = grip("b = \"span\"", "b = \"spam\"");
    assert!(
        found.contains("there is no frame or body \"spam\"; did you mean \"span\"?"),
        "{found}"
    );
    let found = grip("stiffness = 1e4", "stiffness = [1e4, 1e4]");
    assert!(found.contains("2 numbers for 3 axes"), "{found}");
}

#[test]
fn too_many_states_for_a_dense_method_are_rejected() {
    let fine = NODAL_BEAM.replace("elements = 2", "elements = 200");
    let craft = |method: &str| format!("{GOOD}{fine}[solver]\nmethod = \"{method}\"\n");
    assert_eq!(report(&craft("dopri5")), Vec::<String>::new());
    assert_eq!(
        report(&craft("auto")),
        [
            "21: solver.method: auto solves for all states at once: the model has 2428 states, the maximum is 2000; did you \
             mean \"dopri5\"?"
        ]
    );
}
