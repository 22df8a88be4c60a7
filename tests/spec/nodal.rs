//! ANCF beams and grasps.

use crate::{GOOD, NODAL_BEAM, messages, report};
use grapple::Error;

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
    let _section = messages::of_this_test();
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
    let _section = messages::of_this_test();
    for (wrong, right, expected) in [
        ("elements = 0", "elements = 2", "16: ancf_beam.span.elements"),
        ("elements = 2000", "elements = 2", "16: ancf_beam.span.elements"),
        ("EI = -1.0", "EI = 100.0", "19: ancf_beam.span.EI"),
        (
            "mass_per_length = 0.0",
            "mass_per_length = 0.5",
            "17: ancf_beam.span.mass_per_length",
        ),
        ("", "EA = 1e5", "14: ancf_beam.span.EA"),
    ] {
        let found = problem(&NODAL_BEAM.replace(right, wrong), "");
        assert_eq!(found, expected);
    }
    let both = format!(
        "{NODAL_BEAM}sections = [{{ length = 1.0, elements = 1, mass_per_length = 1.0, EA = 1.0, EI = 1.0 }}]\n"
    );
    assert_eq!(
        report(&format!("{GOOD}{both}")),
        [
            "15: ancf_beam.span.length",
            "16: ancf_beam.span.elements",
            "17: ancf_beam.span.mass_per_length",
            "18: ancf_beam.span.EA",
            "19: ancf_beam.span.EI",
        ]
    );
    let start = "start = { axes = \"lvlh\" }\n";
    let found = problem(&format!("{NODAL_BEAM}{start}"), "");
    assert_eq!(found, "20: ancf_beam.span.start.axes");
}

#[test]
fn frames_on_an_ancf_beam_are_on_its_centre_line_without_attitude() {
    let _section = messages::of_this_test();
    let frame = |rest: &str| problem(NODAL_BEAM, &format!("[frame.tip]\nbody = \"span\"\n{rest}\n"));
    let found = frame("origin = [10.5, 0.0, 0.0]");
    assert_eq!(found, "22: frame.tip.origin");
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
        let refused = plant.set_parameters(&values).expect_err("beyond the end");
        messages::record(&refused);
        let Error::Spec(problems) = refused else {
            panic!("{refused}");
        };
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].at, ["frame", "tip", "origin"]);
    }
    let found = frame("origin = [5.0, 0.1, 0.0]");
    assert_eq!(found, "22: frame.tip.origin");
    let found = frame("rpy_deg = [10.0, 0.0, 0.0]");
    assert_eq!(found, "20: frame.tip.orientation");
    let found = problem(NODAL_BEAM, "[measure.back]\nfrom = \"span\"\nto = \"arm\"\n");
    assert_eq!(found, "21: measure.back.from");
    let found = problem(NODAL_BEAM, "[port.push]\nframe = \"span\"\naxes = \"frame\"\n");
    assert_eq!(found, "22: port.push.axes");
    let found = problem(
        NODAL_BEAM,
        "[thruster.jet]\nframe = \"span\"\ndirection = [1.0, 0.0, 0.0]\nthrust = 1.0\n",
    );
    assert_eq!(found, "21: thruster.jet.frame");
    let joint = "[body.tip]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n[joint.pin]\ntype = \"fixed\"\nparent = \"span\"\nchild = \"tip\"\n";
    let found = problem(NODAL_BEAM, joint);
    assert_eq!(found, "25: joint.pin.parent");
    let contact = |law: &str| format!("[contact.hit]\na = \"arm\"\nb = \"span\"\nreach = 1.0\n{law}\n");
    for law in ["law = \"capture_pin\"", "e = 0.5"] {
        let found = problem(NODAL_BEAM, &contact(law));
        assert_eq!(found, "22: contact.hit.b");
    }
}

#[test]
fn invalid_grasps_are_reported() {
    let _section = messages::of_this_test();
    let grip = |right: &str, wrong: &str| problem(NODAL_BEAM, &GRIP.replace(right, wrong));
    let found = grip("stiffness = 1e4", "stiffness = 0.0");
    assert_eq!(found, "23: grasp.grip.stiffness");
    let found = problem(
        &format!("{NODAL_BEAM}start = {{ rpy_deg = [0.0, 0.0, 178.0] }}\n"),
        &format!("{GRIP}angular_stiffness = 5.0\n"),
    );
    assert_eq!(found, "23: grasp.grip.b");
    let found = grip("b = \"span\"", "b = \"arm\"");
    assert_eq!(found, "22: grasp.grip.b");
    let found = grip("a = \"arm\"\nb = \"span\"", "a = \"span\"\nb = \"arm\"");
    assert_eq!(found, "21: grasp.grip.a");
    let second = format!(
        "{}\n{GRIP}",
        NODAL_BEAM.replace("[ancf_beam.span]", "[ancf_beam.other]")
    );
    let second = second
        .replace("a = \"arm\"", "a = \"other\"")
        .replace("stiffness = 1e4", "stiffness = [1e4, 1e4, 2e4]");
    let found = problem(NODAL_BEAM, &second);
    assert_eq!(found, "31: grasp.grip.stiffness");
    // An error of the beam is reported once, not again for the tables that refer to it.
    let hangs = "[signal.\"grip.on\"]\ntype = \"step\"\nfrom = 1.0\n[frame.tip]\nbody = \"span\"\n[measure.far]\nfrom = \"arm\"\nto = \"tip\"\n[port.push]\nframe = \"tip\"\n\
                 [signal.\"push.f[1]\"]\ntype = \"constant\"\n";
    let found = problem(&NODAL_BEAM.replace("EA = 1e5", ""), &format!("{GRIP}{hangs}"));
    assert_eq!(found, "14: ancf_beam.span.EA");
    let found = grip("b = \"span\"", "b = \"spam\"");
    assert_eq!(found, "22: grasp.grip.b");
    let found = grip("stiffness = 1e4", "stiffness = [1e4, 1e4]");
    assert_eq!(found, "23: grasp.grip.stiffness");
}

#[test]
fn too_many_states_for_a_dense_method_are_rejected() {
    let _section = messages::of_this_test();
    let fine = NODAL_BEAM.replace("elements = 2", "elements = 200");
    let craft = |method: &str| format!("{GOOD}{fine}[solver]\nmethod = \"{method}\"\n");
    assert_eq!(report(&craft("dopri5")), Vec::<String>::new());
    assert_eq!(report(&craft("auto")), Vec::<String>::new());
    assert_eq!(report(&craft("radau5")), ["21: solver.method"]);
}
