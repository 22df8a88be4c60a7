use crate::craft::Craft;
use crate::text::{count, say, size};
use crate::{archive, library};
use clap::ValueEnum;
use grapple::fmu::description::{self, Interfaces};
use grapple::fmu::registry::Naming;
use grapple::plant::Model;
use miette::{IntoDiagnostic, Result, WrapErr};
use model_description::{Causality, ModelDescription};
use std::path::PathBuf;
use std::sync::Arc;

/// Make an FMU of a spec.
///
///   grapple build my_arm.toml                  my_arm.fmu
///   grapple build my_arm.toml -o out/arm.fmu
///   grapple build my_arm.toml --fmi-type cs    for a tool that expects one interface
///   grapple build my_arm.toml --names flat     elbow_q for elbow.q
///
/// The same spec gives the same bytes.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The spec
    spec: PathBuf,
    /// The FMU; by default the spec's name with .fmu, in the current folder
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// Which interfaces the FMU offers
    #[arg(long, value_enum, default_value_t = FmiType::Both)]
    fmi_type: FmiType,
    /// How its variables are called
    #[arg(long, value_enum, default_value_t = Names::Structured)]
    names: Names,
}

#[derive(Clone, Copy, ValueEnum)]
enum FmiType {
    /// Model Exchange: the host integrates
    Me,
    /// Co-Simulation: the FMU integrates
    Cs,
    /// Both in one archive
    Both,
}

#[derive(Clone, Copy, ValueEnum)]
enum Names {
    /// elbow.q, base.r[1], der(elbow.qd)
    Structured,
    /// elbow_q, base_r_1_, der_elbow_qd_
    Flat,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let model = Craft::read(&arguments.spec)?.model;
    let interfaces = match arguments.fmi_type {
        FmiType::Me => Interfaces::ModelExchange,
        FmiType::Cs => Interfaces::CoSimulation,
        FmiType::Both => Interfaces::Both,
    };
    let naming = match arguments.names {
        Names::Structured => Naming::Structured,
        Names::Flat => Naming::Flat,
    };
    let (bytes, description) = fmu(&model, naming, interfaces)?;
    let default = || PathBuf::from(format!("{}.fmu", model.spec.name));
    let output = arguments.output.clone().unwrap_or_else(default);
    std::fs::write(&output, &bytes)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write {}", output.display()))?;
    say(&format!("{}: {}", output.display(), summary(&description, bytes.len())));
    Ok(())
}

/// The FMU of a model, and what its XML says.
pub fn fmu(model: &Arc<Model>, naming: Naming, interfaces: Interfaces) -> Result<(Vec<u8>, ModelDescription)> {
    let description = description::describe(model, naming, interfaces).into_diagnostic()?;
    let compiled = model.to_bytes().into_diagnostic()?;
    Ok((archive::pack(&description, &compiled)?, description))
}

/// "412 kB, 18 states, 2 inputs, 60 outputs, 80 parameters; FMI 2.0 ME and CS, linux64"
fn summary(description: &ModelDescription, bytes: usize) -> String {
    let number = |causality| {
        description
            .model_variables
            .iter()
            .filter(|v| v.causality == causality)
            .count()
    };
    format!(
        "{}, {}, {}, {}, {}; FMI 2.0 {}, {}",
        size(bytes),
        count(description.model_structure.derivatives.len(), "state"),
        count(number(Causality::Input), "input"),
        count(number(Causality::Output), "output"),
        count(number(Causality::Parameter), "parameter"),
        interfaces(description),
        library::PLATFORM
    )
}

/// "Model Exchange and Co-Simulation"
pub fn interfaces(description: &ModelDescription) -> &'static str {
    match (&description.model_exchange, &description.co_simulation) {
        (Some(_), Some(_)) => "Model Exchange and Co-Simulation",
        (Some(_), None) => "Model Exchange",
        (None, Some(_)) => "Co-Simulation",
        (None, None) => "without interface",
    }
}
