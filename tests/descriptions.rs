//! The model description of every example, compared with its golden file.
//!
//! `GOLDEN=write cargo test --test descriptions` accepts intended changes; read them in the diff.

#[path = "../benches/chain/mod.rs"]
mod chain;
mod example_files;

use example_files::example_files;
use grapple::fmu::description::{Interfaces, describe, describe_for};
use grapple::fmu::lifecycle::Standard;
use grapple::fmu::registry::{Naming, Registry, Slot};
use grapple::plant::Model;
use model_description::{Causality, Kind, ModelDescription, ScalarVariable, Variability};
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// Returns all examples, compiled, with their names.
fn examples() -> Fallible<Vec<(String, Arc<Model>)>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let compile = |path: PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok((
            name,
            Arc::new(Model::read(&std::fs::read_to_string(path)?, &directory)?),
        ))
    };
    example_files().into_iter().map(compile).collect()
}

#[test]
fn the_description_of_every_example_is_that_of_its_golden_file() -> Fallible<()> {
    for (name, model) in examples()? {
        let text = describe(&model, Naming::Structured, Interfaces::Both)?.to_xml()?;
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.xml"));
        if std::env::var_os("GOLDEN").is_some_and(|v| v == "write") {
            std::fs::write(&golden, &text)?;
        }
        let expected = std::fs::read_to_string(&golden)?;
        for (number, (ours, golden)) in text.lines().zip(expected.lines()).enumerate() {
            assert_eq!(ours, golden, "{name}, line {}", number + 1);
        }
        assert_eq!(text, expected, "{name}");
    }
    Ok(())
}

/// The size matters because an importer reads the whole XML: a chain of 200 bodies, with all
/// dependencies of its outputs, has 4.9 MB (`-- --nocapture`).
#[test]
fn the_description_of_a_chain_of_200_bodies_has_at_most_5_megabytes() -> Fallible<()> {
    let model = Arc::new(Model::read(&chain::chain(200), Path::new("."))?);
    let description = describe(&model, Naming::Structured, Interfaces::Both)?;
    let outputs = &description.model_structure.outputs;
    assert!(outputs.iter().all(|output| output.dependencies.is_some()));
    let size = description.to_xml()?.len();
    println!("{:.2} MB", size as f64 / 1e6);
    assert!(size <= 5_000_000, "{size} bytes");
    Ok(())
}

#[test]
fn every_example_is_one_to_one_with_the_registry_in_every_flavour() -> Fallible<()> {
    for (name, model) in examples()? {
        for (naming, diagnostics) in [
            (Naming::Structured, true),
            (Naming::Flat, true),
            (Naming::Structured, false),
            (Naming::Flat, false),
        ] {
            let mut spec = model.spec.clone();
            spec.output.diagnostics = diagnostics;
            let model = Arc::new(Model::compile(&spec)?);
            let registry = Registry::new(Arc::clone(&model), naming);
            for interfaces in [Interfaces::Both, Interfaces::ModelExchange, Interfaces::CoSimulation] {
                let xml = describe(&model, naming, interfaces)?;
                assert_eq!(xml.check(), [], "{name}");
                assert_eq!(ModelDescription::from_xml(&xml.to_xml()?)?, xml, "{name}");
                assert_eq!(xml.model_variables.len(), registry.len());
                for (written, own) in xml.model_variables.iter().zip(registry.variables()) {
                    assert_eq!(written.name, own.name);
                    assert_eq!(written.value_reference, own.value_reference);
                    let start = match &written.kind {
                        Kind::Real(real) => real.start,
                        _ => None,
                    };
                    assert_eq!(start, own.start, "{}", own.name);
                    assert_eq!(
                        xml.unit_of(written).unwrap_or(""),
                        own.quantity.unit.symbol(),
                        "{}",
                        own.name
                    );
                    let set_by_host = matches!(own.slot, Slot::Parameter(_) | Slot::Input(_));
                    assert_eq!(written.causality != Causality::Output, set_by_host);
                }
                let initial: Vec<u32> = xml.model_structure.initial_unknowns.iter().map(|u| u.index).collect();
                assert_eq!(initial, xml.expected_initial_unknowns(), "{name}");
            }
        }
    }
    Ok(())
}

/// The XML of FMI 3.0 of an example that has signals, inputs and limits.
#[test]
fn the_description_for_fmi_3_is_that_of_its_golden_file() -> Fallible<()> {
    let (_, model) = (examples()?.into_iter().find(|(name, _)| name == "two_link")).ok_or("no example")?;
    let text = describe_for(Standard::Fmi3, &model, Naming::Structured, Interfaces::Both)?.to_xml()?;
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/two_link_fmi3.xml");
    if std::env::var_os("GOLDEN").is_some_and(|v| v == "write") {
        std::fs::write(&golden, &text)?;
    }
    let expected = std::fs::read_to_string(&golden)?;
    for (number, (ours, golden)) in text.lines().zip(expected.lines()).enumerate() {
        assert_eq!(ours, golden, "line {}", number + 1);
    }
    assert_eq!(text, expected);
    Ok(())
}

/// Returns the start value of a Boolean or integer variable as a number.
fn start(variable: &ScalarVariable) -> Option<f64> {
    match &variable.kind {
        Kind::Boolean(boolean) => boolean.start.map(|start| f64::from(u8::from(start))),
        Kind::Integer(integer) => integer.start.map(f64::from),
        _ => None,
    }
}

/// In FMI 3.0 the variables of FMI 2.0 keep their value references; the time and, for Model Exchange,
/// the event indicators follow. Every true dependency of FMI 2.0 is kept.
#[test]
fn the_description_for_fmi_3_extends_that_for_fmi_2() -> Fallible<()> {
    for (name, model) in examples()? {
        for interfaces in Interfaces::ALL {
            let two = describe(&model, Naming::Structured, interfaces)?;
            let three = describe_for(Standard::Fmi3, &model, Naming::Structured, interfaces)?;
            assert_eq!(three.check(), [], "{name}");
            assert_eq!(three.guid, two.guid, "{name}");
            let n = two.model_variables.len();
            for (two, three) in two.model_variables.iter().zip(&three.model_variables) {
                let mut shared = ScalarVariable {
                    intermediate_update: false,
                    ..three.clone()
                };
                // Commands, modes and counts are real numbers in FMI 2.0.
                if let (Kind::Real(real), Kind::Boolean(_) | Kind::Integer(_)) = (&two.kind, &three.kind) {
                    assert_eq!(two.variability, Variability::Discrete, "{name}: {}", two.name);
                    assert_eq!(real.start, start(three), "{name}: {}", two.name);
                    (shared.kind, shared.description) = (two.kind.clone(), two.description.clone());
                }
                assert_eq!(&shared, two, "{name}");
            }
            assert_eq!(three.model_variables[n].causality, Causality::Independent);
            let indicators = match interfaces {
                Interfaces::CoSimulation => 0,
                Interfaces::Both | Interfaces::ModelExchange => model.indicator_count(),
            };
            assert_eq!(three.model_structure.event_indicators.len(), indicators, "{name}");
            assert_eq!(three.model_variables.len(), n + 1 + indicators, "{name}");
            let (of_two, of_three) = (&two.model_structure, &three.model_structure);
            for (two, three) in [
                (&of_two.outputs, &of_three.outputs),
                (&of_two.derivatives, &of_three.derivatives),
                (&of_two.initial_unknowns, &of_three.initial_unknowns),
            ] {
                assert_eq!(two.len(), three.len(), "{name}");
                for (two, three) in two.iter().zip(three) {
                    assert_eq!(two.index, three.index, "{name}");
                    let (Some(two), Some(three)) = (&two.dependencies, &three.dependencies) else {
                        assert_eq!(two.dependencies, three.dependencies, "{name}");
                        continue;
                    };
                    assert!(two.iter().all(|known| three.contains(known)), "{name}");
                }
            }
        }
    }
    Ok(())
}
