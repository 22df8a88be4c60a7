use super::libraries::Libraries;
use super::output::{print, warn};
use super::simulate::setting;
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
///   grapple couple arm.toml arm_controller.toml --set servoed_arm.boom.EI=2e4
///
/// An output is connected to the inputs of the same name in the other FMUs: the
/// spacecraft's measurements (elbow.q) to the controller, the commanded torque
/// (elbow.tau) to the spacecraft. The connections are printed, and the inputs that
/// keep their start values. In FMUs of specs, inputs start at the values to which they
/// are connected, and references at their joints; they contain the libraries that
/// `grapple build` packs. Values given by --set are in the file's parameter set (SSV).
/// The file runs by `grapple simulate`, in libcosim, in Ecos and in FMPy
/// (fmpy.ssp.simulation.simulate_ssp), the last three without the parameter set.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Specs, or FMUs of this or any other tool
    #[arg(required = true, num_args = 2..)]
    models: Vec<PathBuf>,
    /// The SSP file; by default the file names of all, joined, in the current folder
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Value of a parameter, or of an input without a connection, by COMPONENT.VARIABLE
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    set: Vec<(String, f64)>,
    #[command(flatten)]
    libraries: Libraries,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let libraries = arguments.libraries.read()?;
    let system = couple(&arguments.models, &arguments.set, &libraries)?;
    let default = || {
        let stems = arguments.models.iter().filter_map(|model| model.file_stem());
        let stems: Vec<_> = stems.map(|stem| stem.to_string_lossy()).collect();
        PathBuf::from(format!("{}.ssp", stems.join("_")))
    };
    let mut reads = system.reads.clone();
    reads.extend(arguments.libraries.files().cloned());
    let output = Target::new(arguments.output.clone().unwrap_or_else(default), &reads)?;
    output.write(&system.bytes)?;

    let wires = system.connections.iter();
    let rows: Vec<[String; 2]> = wires
        .map(|wire| [wire.name.clone(), format!("{} → {}", wire.from, wire.to)])
        .collect();
    print(aligned(&rows).trim_end())?;
    for (part, free) in &system.parts {
        let is_set = |name: &str| arguments.set.iter().any(|(set, _)| *set == format!("{part}.{name}"));
        let free: Vec<&str> = free.iter().map(String::as_str).filter(|name| !is_set(name)).collect();
        if !free.is_empty() {
            print(&format!("{part} keeps the start values of {}", free.join(", ")))?;
        }
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
