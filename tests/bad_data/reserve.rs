//! The memory bounds that `fmi2Instantiate` computes, compared with the actual allocations.

use crate::examples::EXAMPLES;
use crate::memory as counted;
use grapple::fmu::component::Component;
use grapple::fmu::guid::Guid;
use grapple::fmu::lifecycle::Interface;
use grapple::fmu::memory::{to_build, to_compile, to_read};
use grapple::fmu::registry::Naming;
use grapple::plant::Model;
use grapple::spec::Method;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// Asserts that every stage of a compiled model allocates no more than its bound.
pub fn assert_within_bounds(bytes: &[u8]) -> Result<(), String> {
    let within = |stage: &str, bound: usize| {
        let taken = counted::taken().peak;
        if taken > bound {
            return Err(format!("{stage} takes {taken} bytes, more than {bound}"));
        }
        Ok(())
    };
    counted::start();
    let spec = Model::spec_from_bytes(bytes);
    within("to read it", to_read(bytes.len()))?;
    let Ok(spec) = spec else { return Ok(()) };
    counted::start();
    let model = Model::compile(&spec);
    within("to compile it", to_compile(&spec, bytes.len()))?;
    let Ok(model) = model.map(Arc::new) else { return Ok(()) };
    for interface in [Interface::ModelExchange, Interface::CoSimulation] {
        counted::start();
        let made = Component::new(interface, Arc::clone(&model), Naming::Structured, Guid([0; 16]), true);
        within("to build it", to_build(&model, interface))?;
        drop(made);
    }
    Ok(())
}

fn assert_bounds_of(name: &str, text: &str) {
    let model = Model::read(text, Path::new(".")).unwrap_or_else(|error| panic!("{name}: {error}"));
    let bytes = model.to_bytes().expect("a model can be written");
    assert_within_bounds(&bytes).unwrap_or_else(|what| panic!("{name}: {what}"));
}

#[test]
fn every_example_stays_within_the_memory_bounds_with_every_method() {
    for example in EXAMPLES.iter() {
        let mut spec = example.model.spec.clone();
        let methods = [
            spec.solver.method,
            Method::Radau5,
            Method::Auto,
            Method::ImplicitMidpoint,
            Method::Conserving,
        ];
        for method in methods {
            spec.solver.method = method;
            let Ok(model) = Model::compile(&spec) else { continue };
            let bytes = model.to_bytes().expect("a model can be written");
            assert_within_bounds(&bytes).unwrap_or_else(|what| panic!("{}, {}: {what}", spec.name, method.name()));
        }
    }
}

/// A short spec can describe a large model: a few numbers set the counts of modes and elements.
#[test]
fn large_models_of_short_specs_stay_within_the_memory_bounds() {
    let solvers = [
        "",
        "solver.method = \"radau5\"",
        "formulation = \"quaternion\"\noutput.condition = true",
    ];
    for solver in solvers {
        let beam = |kind: &str, fields: &str| {
            format!(
                "name = \"large\"\n{solver}\n[body.hub]\nmass = 4.0\ninertia = [1.0, 1.0, 1.0]\n\
                 [body.boom.{kind}]\nlength = 10.0\nmass_per_length = 1.0\nEI = 1e4\nEA = 1e6\nGJ = 1e4\n\
                 polar_inertia_per_length = 0.1\n{fields}\n\
                 [joint.root]\ntype = \"revolute\"\nparent = \"hub\"\nchild = \"boom\"\n"
            )
        };
        for fields in [
            "bending = 1",
            "bending = 8",
            "bending = 14\ntorsion = 2\naxial = 2",
            "bending = 24",
            "bending = 2\nsegments = 40",
            "bending = 4\nsegments = 20",
        ] {
            assert_bounds_of(fields, &beam("beam", fields));
        }
        for elements in [1, 40] {
            assert_bounds_of(
                "geometrically exact beam",
                &beam("geometrically_exact_beam", &format!("GA = 1e6\nelements = {elements}")),
            );
            let nodal = format!(
                "name = \"large\"\n{solver}\n[ancf_beam.boom]\nlength = 10.0\nelements = {elements}\n\
                 mass_per_length = 1.0\nEA = 1e5\nEI = 100.0\n"
            );
            assert_bounds_of("ANCF beam", &nodal);
        }
        let mut chain = format!("name = \"chain\"\n{solver}\n[output]\nreactions = true\n")
            .replace("output.condition = true\n[output]", "[output]");
        for i in 0..60 {
            write!(chain, "[body.b{i}]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n").expect("memory takes it");
            if let Some(before) = i32::checked_sub(i, 1).filter(|&before| before >= 0) {
                write!(
                    chain,
                    "[joint.j{i}]\ntype = \"spherical\"\nparent = \"b{before}\"\nchild = \"b{i}\"\n"
                )
                .expect("memory takes it");
            }
        }
        assert_bounds_of("chain", &chain);
    }
}
