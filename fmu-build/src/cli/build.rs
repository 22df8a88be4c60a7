use super::libraries::Libraries;
use super::output::{named, print, remark};
use clap::ValueEnum;
use fmu_build::CompiledSpec;
use fmu_build::build::{BuildOptions, BuiltFmu, build};
use fmu_build::files::Target;
use fmu_build::summaries::{interfaces, sorted};
use fmu_build::text::{count, size};
use grapple::fmu::description::Interfaces;
use grapple::fmu::lifecycle::Standard;
use grapple::fmu::registry::Naming;
use miette::{Result, miette};
use std::path::PathBuf;

/// Build an FMU from a spec.
///
///   grapple build my_arm.toml                        my_arm.fmu
///   grapple build my_arm.toml -o out/arm.fmu
///   grapple build my_arm.toml --fmi 3                FMI 3.0; by default FMI 2.0
///   grapple build my_arm.toml --fmi 3 --arrays       base.q for base.q[1], …
///   grapple build my_arm.toml --reference            with results to compare
///   grapple build my_arm.toml --fmi-type cs          for tools that accept one
///   grapple build my_arm.toml --names flat           elbow_q for elbow.q
///   grapple build my_arm.toml --without-diagnostics  no system.energy, …
///   grapple build my_arm.toml --platform linux64     only for Linux on x86-64
///   grapple build my_arm.toml --binary win64=grapple.dll
///
/// An FMU runs on the platforms whose libraries it contains: by default all whose
/// libraries this program contains. A released program contains all; one built in a
/// clone its own platform's, and those that `scripts/libraries` has built before.
///
/// Each library is inspected before it is packed: its format, its machine, and the
/// 119 functions of FMI 2.0 and 3.0. The output lists the platforms of the FMU, and the oldest
/// GNU C library (GLIBC) with which it runs on Linux. Equal specs, options and
/// libraries give equal bytes.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The spec
    spec: PathBuf,
    /// The FMU; by default the spec's file name with .fmu, in the current folder
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// Replace the FMU of another model
    #[arg(long)]
    force: bool,
    /// Version of the FMI standard
    #[arg(long, value_enum, default_value_t = Fmi::Two)]
    fmi: Fmi,
    /// Interfaces that the FMU offers
    #[arg(long, value_enum, default_value_t = FmiType::Both)]
    fmi_type: FmiType,
    /// Naming of its variables
    #[arg(long, value_enum, default_value_t = Names::Structured)]
    names: Names,
    /// Vectors and quaternions as arrays (FMI 3.0), for tools that read them
    #[arg(long)]
    arrays: bool,
    /// Include the spec and the results of its experiment (FMI-LS-REF), which `grapple check` compares
    #[arg(long)]
    reference: bool,
    /// Omit system.*: momentum, mass centre, energies, work, and the state that integrates it
    #[arg(long)]
    without_diagnostics: bool,
    #[command(flatten)]
    libraries: Libraries,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Fmi {
    /// FMI 2.0
    #[value(name = "2")]
    Two,
    /// FMI 3.0
    #[value(name = "3")]
    Three,
}

#[derive(Clone, Copy, ValueEnum)]
enum FmiType {
    /// Model Exchange: the importer integrates
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
    if arguments.fmi == Fmi::Three && arguments.libraries.is_arm64_in_linux64() {
        return Err(miette!(
            "--arm64-in-linux64 is for FMI 2.0: an FMU of FMI 3.0 has a folder of its own for Linux on arm64"
        ));
    }
    if arguments.arrays && arguments.fmi == Fmi::Two {
        return Err(miette!(
            "--arrays is for FMI 3.0: add --fmi 3, since FMI 2.0 has no arrays"
        ));
    }
    let compiled = CompiledSpec::read(&arguments.spec)?;
    let options = BuildOptions {
        standard: match arguments.fmi {
            Fmi::Two => Standard::Fmi2,
            Fmi::Three => Standard::Fmi3,
        },
        interfaces: match arguments.fmi_type {
            FmiType::Me => Interfaces::ModelExchange,
            FmiType::Cs => Interfaces::CoSimulation,
            FmiType::Both => Interfaces::Both,
        },
        naming: match arguments.names {
            Names::Structured => Naming::Structured,
            Names::Flat => Naming::Flat,
        },
        arrays: arguments.arrays,
        reference: arguments.reference,
        diagnostics: !arguments.without_diagnostics,
    };
    let default = || named(&arguments.spec, "fmu");
    let mut reads = compiled.reads.clone();
    reads.extend(arguments.libraries.files().cloned());
    let output = Target::new(arguments.output.clone().unwrap_or_else(default), &reads)?;
    let output = output.unless_other_model(&compiled.model.spec.name, arguments.force)?;
    let libraries = arguments.libraries.read()?;
    let built = build(&compiled, &options, &libraries)?;
    output.write(&built.bytes)?;
    print(&format!("{}: {}", output.path().display(), summary(&built)))?;
    remark(&compiled.file, &compiled.remarks()?, true)?;
    for library in &libraries {
        print(&format!("  runs on {}", library.summary()))?;
    }
    Ok(())
}

/// Returns "412 kB, 18 states, 2 inputs, 58 outputs, 80 parameters; FMI 2.0 Model Exchange and
/// Co-Simulation".
fn summary(BuiltFmu { bytes, description }: &BuiltFmu) -> String {
    let sorted = sorted(description);
    format!(
        "{}, {}, {}, {}, {}; {} {}",
        size(bytes.len()),
        count(sorted.states.len(), "state"),
        count(sorted.inputs.len(), "input"),
        count(sorted.outputs.len(), "output"),
        count(sorted.parameters.len(), "parameter"),
        description.fmi_version.name(),
        interfaces(description),
    )
}
