//! Capabilities of the formulations.

use crate::{GOOD, NODAL_BEAM, messages, problems, report};
use grapple::Error;
use grapple::plant::{Linearisation, OperatingPoint, Plant};
use grapple::spec::{Capability, Formulation};
use std::path::Path;

const BURNING: &str = "[tank.fuel]\nbody = \"base\"\nrigid = { mass = 1.0, inertia = [0.1, 0.1] }\n\
                       [thruster.jet]\nframe = \"base\"\ndirection = [1.0, 0.0, 0.0]\nthrust = 1.0\n\
                       tank = \"fuel\"\nspecific_impulse = 200.0\n";

#[test]
fn options_of_another_formulation_are_rejected_at_their_position() {
    let _section = messages::of_this_test();
    let text =
        format!("{GOOD}[constraints]\nalpha = 5.0\n[quaternion]\nmomentum_rows = true\n[output]\ncondition = true\n");
    assert_eq!(
        report(&text),
        ["13: constraints", "15: quaternion", "18: output.condition",]
    );
    let maximal = text.replacen("\n[body.base]", "\nformulation = \"quaternion\"\n[body.base]", 1);
    assert_eq!(report(&maximal), Vec::<String>::new());
    let negative = maximal.replace("alpha = 5.0", "alpha = -5.0");
    assert_eq!(report(&negative), ["15: constraints.alpha"]);
    let on_the_world = format!(
        "{}[joint.ground]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"base\"\n",
        maximal
    );
    assert_eq!(report(&on_the_world), ["17: quaternion.momentum_rows"]);
    let beam = "[body.arm.beam]\nlength = 1.0\nmass_per_length = 0.5\nEI = 1.0\nbending = 1\n";
    let linear = maximal.replace("momentum_rows = true", "coupling = \"linear\"") + beam;
    assert_eq!(report(&linear), ["20: body.arm.beam.stiffening"]);
}

/// Capabilities that a formulation lacks are rejected by name when the spec is read, the others are
/// accepted: one spacecraft for each cell of the table in docs/formulations.md. Linearisation,
/// which is not part of a spec, is rejected when it is requested.
#[test]
fn every_cell_of_the_capability_table_is_correct() {
    let _section = messages::of_this_test();
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
                Capability::AncfBeams => format!("{GOOD}{NODAL_BEAM}"),
                Capability::ConservingStep => format!("{GOOD}[solver]\nmethod = \"conserving\"\nstep = 0.01\n"),
                Capability::LinearlyImplicit => {
                    format!("{GOOD}[solver]\nmethod = \"linearly_implicit\"\nstep = 0.01\n")
                }
                Capability::ChangingMass => format!("{GOOD}{BURNING}"),
            };
            let name = formulation.name();
            let text = text.replacen("\n[body.base]", &format!("\nformulation = \"{name}\"\n[body.base]"), 1);
            let found = match capability {
                Capability::Linearisation => {
                    let model = grapple::plant::Model::read(&text, Path::new(".")).expect("a craft");
                    let mut plant = Plant::new(model.into()).expect("its own values");
                    let (mut x, mut discrete) = (vec![0.0; plant.model().states.len()], plant.model().discrete());
                    plant.start(0.0, &mut x, &mut discrete).expect("closed");
                    match Linearisation::new(&mut plant, OperatingPoint::new(0.0, &x, &[0.0], &discrete)) {
                        Ok(_) => Vec::new(),
                        Err(error) => {
                            messages::record(&error);
                            assert_eq!(error, Error::NotLinearised(name));
                            vec![error.to_string()]
                        }
                    }
                }
                _ => {
                    report(&text);
                    problems(&text).iter().map(|problem| problem.what.clone()).collect()
                }
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
    assert_eq!(cells, 36);
}

#[test]
fn dual_quaternions_reject_flexible_bodies_by_name() {
    let _section = messages::of_this_test();
    let dual = GOOD.replacen("\n[body.base]", "\nformulation = \"dual_quaternion\"\n[body.base]", 1);
    assert_eq!(report(&dual), Vec::<String>::new());
    let bent = format!("{dual}[body.arm.beam]\nlength = 1.0\nmass_per_length = 0.5\nEI = 1.0\nbending = 1\n");
    assert_eq!(report(&bent), ["14: body.arm.beam"]);
}

#[test]
fn conserving_step_rejects_unsupported_features_by_name() {
    let _section = messages::of_this_test();
    let natural = GOOD.replacen("\n[body.base]", "\nformulation = \"natural\"\n[body.base]", 1);
    let stepped = |more: &str| {
        report(&format!(
            "{natural}{more}[solver]\nmethod = \"conserving\"\nstep = 0.01\n"
        ))
    };
    assert_eq!(stepped(NODAL_BEAM), Vec::<String>::new());
    assert_eq!(
        stepped("[body.arm.beam]\nlength = 1.0\nmass_per_length = 0.5\nEI = 1.0\nbending = 1\n"),
        ["14: body.arm.beam"]
    );
    assert_eq!(
        stepped("[contact.hold]\na = \"arm\"\nb = \"world\"\nlaw = \"capture_pin\"\n"),
        ["17: contact.hold.law"]
    );
    assert_eq!(
        report(&format!("{natural}[solver]\nmethod = \"conserving\"\n")),
        ["15: solver.method"]
    );
}

#[test]
fn linearly_implicit_step_rejects_unsupported_features_by_name() {
    let _section = messages::of_this_test();
    let solver = "[solver]\nmethod = \"linearly_implicit\"\nstep = 0.01\n";
    assert_eq!(report(&format!("{GOOD}{solver}")), Vec::<String>::new());
    assert_eq!(report(&format!("{GOOD}{NODAL_BEAM}{solver}")), ["14: ancf_beam.span"]);
    let quaternion = GOOD.replacen("\n[body.base]", "\nformulation = \"quaternion\"\n[body.base]", 1);
    assert_eq!(report(&format!("{quaternion}{solver}")), ["15: solver.method"]);
    assert_eq!(
        report(&format!("{GOOD}[solver]\nmethod = \"linearly_implicit\"\n")),
        ["14: solver.method"]
    );
}

#[test]
fn rosenbrock_method_is_rejected_by_the_other_formulations() {
    let _section = messages::of_this_test();
    let solver = "[solver]\nmethod = \"rosenbrock\"\n";
    assert_eq!(report(&format!("{GOOD}{NODAL_BEAM}{solver}")), Vec::<String>::new());
    let natural = GOOD.replacen("\n[body.base]", "\nformulation = \"natural\"\n[body.base]", 1);
    assert_eq!(report(&format!("{natural}{solver}")), ["15: solver.method"]);
}

#[test]
fn linearly_implicit_step_rejects_gains_that_are_unstable_at_its_step() {
    let _section = messages::of_this_test();
    let problems = |step: f64| {
        let capture = "[contact.hold]\na = \"arm\"\nb = \"world\"\nlaw = \"capture_pin\"\n";
        report(&format!(
            "{GOOD}{capture}[solver]\nmethod = \"linearly_implicit\"\nstep = {step}\n"
        ))
    };
    assert_eq!(problems(0.07), Vec::<String>::new());
    assert_eq!(problems(0.08), ["13: contact.hold.alpha"]);
}

/// A saddle-point matrix with neither bodies nor constraint rows has the condition number 1.
#[test]
fn ancf_beam_without_bodies_has_the_condition_number_one() {
    let _section = messages::of_this_test();
    for formulation in ["quaternion", "natural"] {
        let text =
            format!("name = \"beam\"\nformulation = \"{formulation}\"\n{NODAL_BEAM}[output]\ncondition = true\n");
        let model = grapple::plant::Model::read(&text, Path::new(".")).expect("sound");
        let mut plant = Plant::new(model.into()).expect("sound");
        let model = plant.model().clone();
        let (mut x, mut discrete) = (vec![0.0; model.states.len()], model.discrete());
        plant.start(0.0, &mut x, &mut discrete).expect("closed");
        let (mut dx, mut y) = (x.clone(), vec![0.0; model.outputs.len()]);
        plant
            .evaluate(OperatingPoint::new(0.0, &x, &[], &discrete), &mut dx, &mut y)
            .expect("finite");
        let place = model
            .outputs
            .iter()
            .position(|output| output.quantity.name == "system.condition");
        assert_eq!(place.map(|i| y[i]), Some(1.0));
    }
}
