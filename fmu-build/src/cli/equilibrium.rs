use super::assemble::report;
use super::output::print;
use fmu_build::CompiledSpec;
use fmu_build::starts::equilibrium;
use fmu_build::text::number;
use miette::Result;
use std::path::PathBuf;

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
    let resting = equilibrium(&compiled.model)?;
    let found = &resting.equilibrium;
    print(&format!(
        "{}: in equilibrium after {} steps, largest remaining acceleration {} rad/s² or m/s²",
        compiled.model.spec.name,
        found.rounds,
        number(found.residual, 2)
    ))?;
    report(&compiled, &resting.start, arguments.output.as_ref())
}
