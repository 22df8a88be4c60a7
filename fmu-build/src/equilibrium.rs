use crate::assemble::{changes, write};
use crate::craft::Craft;
use crate::text::{number, say};
use grapple::plant::Plant;
use miette::{IntoDiagnostic, Result};
use std::path::PathBuf;
use std::sync::Arc;

/// Find where a craft stays at rest under its loads: joints, bent bodies, closed loops.
///
///   grapple equilibrium arm.toml                   the static equilibrium near the start
///   grapple equilibrium arm.toml -o resting.toml   the spec that starts there
///
/// Inputs and signals are as they start. A run finds it by itself, with other values of
/// parameters too, where the spec says [assembly] equilibrium = true.
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
    let craft = Craft::read(&arguments.spec)?;
    let model = &craft.model;
    let plant = Plant::new(Arc::clone(model)).into_diagnostic()?;
    let (derived, parameters) = (plant.derived(), plant.parameters());
    let found = model.equilibrium(derived, 0.0, parameters).into_diagnostic()?;
    say(&format!(
        "{}: in equilibrium after {} steps, largest acceleration left {} rad/s² or m/s²",
        model.spec.name,
        found.rounds,
        number(found.residual, 2)
    ))?;
    let written = model.start_at(derived, 0.0, parameters);
    let rest = vec![0.0; written.1.len()];
    let start = (found.q.as_slice(), rest.as_slice());
    say(&changes(model, (&written.0, &written.1), start))?;
    write(&craft, arguments.output.as_ref(), start, true)
}
