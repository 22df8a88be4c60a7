use crate::assemble::{changes, write};
use crate::compiled_spec::CompiledSpec;
use crate::text::{number, print};
use grapple::plant::Plant;
use miette::{IntoDiagnostic, Result};
use std::path::PathBuf;
use std::sync::Arc;

/// Compute a static equilibrium of a spacecraft under its loads: joints, flexible bodies,
/// closed loops.
///
///   grapple equilibrium arm.toml                   the equilibrium near the start
///   grapple equilibrium arm.toml -o resting.toml   the spec that starts there
///
/// Inputs and signals have their values at the start. With [assembly] equilibrium = true
/// in the spec a run computes it at its start, also with other values of parameters.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// A spec
    spec: PathBuf,
    /// A file for the spec that starts in equilibrium (without comments)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let compiled = CompiledSpec::read(&arguments.spec)?;
    let model = &compiled.model;
    let plant = Plant::new(Arc::clone(model)).into_diagnostic()?;
    let (derived, parameters) = (plant.derived(), plant.parameters());
    let found = model.equilibrium(derived, 0.0, parameters).into_diagnostic()?;
    print(&format!(
        "{}: in equilibrium after {} steps, largest acceleration left {} rad/s² or m/s²",
        model.spec.name,
        found.rounds,
        number(found.residual, 2)
    ))?;
    let written = model.start_at(derived, 0.0, parameters);
    let rest = vec![0.0; written.1.len()];
    let start = (found.q.as_slice(), rest.as_slice());
    print(&changes(model, (&written.0, &written.1), start))?;
    write(&compiled, arguments.output.as_ref(), start, true)
}
