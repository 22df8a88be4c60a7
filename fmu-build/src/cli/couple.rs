use super::libraries::Libraries;
use super::output::{print, warn};
use fmu_build::couple::couple;
use fmu_build::files::Target;
use fmu_build::text::{aligned, count, number};
use miette::Result;
use std::path::PathBuf;

/// Connect FMUs to one system: an SSP file, for masters that read SSP 1.0.
///
///   grapple couple arm.toml arm_controller.toml           arm_arm_controller.ssp
///   grapple couple arm.fmu controller.fmu -o loop.ssp
///   grapple couple arm.toml controller.fmu --platform linux64
///
/// An output is connected to the inputs of the same name in the other FMUs: the
/// spacecraft's measurements (elbow.q) to the controller, the commanded torque
/// (elbow.tau) to the spacecraft. The connections are printed, and the inputs that
/// keep their start values. The file runs in FMPy
/// (fmpy.ssp.simulation.simulate_ssp) and in libcosim. FMUs of specs contain the
/// libraries that `grapple build` packs.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Specs, or FMUs of this or any other tool
    #[arg(required = true, num_args = 2..)]
    models: Vec<PathBuf>,
    /// The SSP file; by default the names of all, joined, in the current folder
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    libraries: Libraries,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let libraries = arguments.libraries.read()?;
    let system = couple(&arguments.models, &libraries)?;
    let default = || PathBuf::from(format!("{}.ssp", system.name));
    let mut reads = system.reads.clone();
    reads.extend(arguments.libraries.files().cloned());
    let output = Target::new(arguments.output.clone().unwrap_or_else(default), &reads)?;
    output.write(&system.bytes)?;

    let wires = system.connections.iter();
    let rows: Vec<[String; 2]> = wires
        .map(|wire| [wire.name.clone(), format!("{} → {}", wire.from, wire.to)])
        .collect();
    print(aligned(&rows).trim_end())?;
    for (part, free) in system.parts.iter().filter(|(_, free)| !free.is_empty()) {
        print(&format!("{part} keeps the start values of {}", free.join(", ")))?;
    }
    system
        .warnings
        .iter()
        .for_each(|warning| warn(&format!("warning: {warning}")));
    let step = system.step.map_or_else(String::new, |step| {
        format!("; its parts request steps of {} s", number(step, 6))
    });
    print(&format!(
        "{}: {}, {}{step}",
        output.path().display(),
        count(system.parts.len(), "FMU"),
        count(system.connections.len(), "connection")
    ))
}
