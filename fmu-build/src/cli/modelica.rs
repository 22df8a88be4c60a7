use super::libraries::Libraries;
use super::output::{print, warn};
use fmu_build::files::{Target, folder};
use fmu_build::modelica::modelica;
use fmu_build::text::count;
use miette::Result;
use std::path::PathBuf;

/// Write a Modelica package around FMUs, for OpenModelica.
///
///   grapple modelica my_arm.toml                    modelica/Spacecraft.mo
///   grapple modelica arm.toml arm_controller.toml   an arm and its controller
///   grapple modelica my_arm.toml --package Arm -o out/arm
///
/// The folder contains an FMU for Model Exchange of each spec, and a package with
/// a model around each imported FMU. Its connectors are those of the Modelica
/// Standard Library:
///
///   shoulder_flange   a joint's torque is an input; angle and rate are outputs
///   dock_frame        the force and torque of the port "dock"; pose of its frame
///   commands          other inputs; start values, which importFMU drops, as defaults
///   sensors           a bus of all outputs
///
/// The flanges of a controller's joints are connected to those of a spacecraft.
/// `omc run.mos` in the folder imports the FMUs and simulates each spacecraft.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The specs
    #[arg(required = true)]
    specs: Vec<PathBuf>,
    /// Folder of the package; created if it does not exist
    #[arg(long, short, default_value = "modelica", value_name = "FOLDER")]
    output: PathBuf,
    /// Name of the package
    #[arg(long, default_value = "Spacecraft", value_name = "NAME")]
    package: String,
    #[command(flatten)]
    libraries: Libraries,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let libraries = arguments.libraries.read()?;
    let package = modelica(&arguments.specs, &arguments.package, &libraries)?;
    let mut reads = package.reads.clone();
    reads.extend(arguments.libraries.files().cloned());
    let mut targets = Vec::new();
    for (path, bytes) in &package.files {
        targets.push((Target::new(arguments.output.join(path), &reads)?, bytes));
    }
    for (target, bytes) in targets {
        folder(target.path().parent().unwrap_or(&arguments.output))?;
        target.write(bytes)?;
    }
    for wrapper in &package.wrappers {
        print(&format!("  {}: {}", wrapper.name, wrapper.summary))?;
        let remarks = wrapper.remarks.iter();
        remarks.for_each(|remark| warn(&format!("{}: {remark}", wrapper.name)));
    }
    let file = arguments.output.join(format!("{}.mo", package.name));
    print(&format!(
        "{}: {}",
        file.display(),
        count(package.wrappers.len(), "model")
    ))
}
