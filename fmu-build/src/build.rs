use crate::archive::{self, Content};
use crate::craft::Craft;
use crate::documentation::documentation;
use crate::library::Library;
use crate::platform::Platform;
use crate::text::{count, say, size};
use crate::words::interfaces;
use clap::ValueEnum;
use grapple::fmu::description::{self, Interfaces};
use grapple::fmu::registry::Naming;
use grapple::plant::Model;
use miette::{IntoDiagnostic, Result, WrapErr, bail};
use model_description::{Causality, ModelDescription};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

/// Make an FMU of a spec.
///
///   grapple build my_arm.toml                        my_arm.fmu
///   grapple build my_arm.toml -o out/arm.fmu
///   grapple build my_arm.toml --fmi-type cs          for tools that expect one
///   grapple build my_arm.toml --names flat           elbow_q for elbow.q
///   grapple build my_arm.toml --without-diagnostics  no system.energy, …
///   grapple build my_arm.toml --binary win64=grapple.dll
///   grapple build my_arm.toml --library old_glibc/libgrapple.so
///
/// An FMU runs on the platforms whose libraries it holds. This program brings the
/// library of its own platform; those of others are made there, or by a cross
/// compiler, of the same version's sources:
///
///   cargo rustc -p grapple --lib --crate-type cdylib --profile dist \
///       --target TARGET
///
/// with the TARGET x86_64-pc-windows-gnu for Windows.
///
/// Each is looked into before it is packed: its format, its machine, and the 44
/// functions of FMI. What is printed says which platforms the FMU serves, and
/// which GNU C library (GLIBC) Linux must have at least. The same spec, options
/// and libraries give the same bytes.
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
    /// Leave out system.*: momentum, mass centre, energies, work, and the state that integrates it
    #[arg(long)]
    without_diagnostics: bool,
    /// Use this shared library for the platform of this program, not the one inside it
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// Pack this shared library for a platform (linux64, linux32, win64, win32, darwin64); may be repeated
    #[arg(long, value_name = "PLATFORM=FILE", value_parser = platform_and_file)]
    binary: Vec<(Platform, PathBuf)>,
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

fn platform_and_file(text: &str) -> Result<(Platform, PathBuf), String> {
    let (platform, file) = text
        .split_once('=')
        .filter(|(_, file)| !file.is_empty())
        .ok_or("it must be PLATFORM=FILE, as in win64=grapple.dll")?;
    Ok((platform.parse()?, file.into()))
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let craft = Craft::read(&arguments.spec)?;
    let mut model = Arc::clone(&craft.model);
    if arguments.without_diagnostics {
        let mut spec = model.spec.clone();
        spec.output.diagnostics = false;
        model = Arc::new(Model::compile(&spec).into_diagnostic()?);
    }
    let interfaces = match arguments.fmi_type {
        FmiType::Me => Interfaces::ModelExchange,
        FmiType::Cs => Interfaces::CoSimulation,
        FmiType::Both => Interfaces::Both,
    };
    let naming = match arguments.names {
        Names::Structured => Naming::Structured,
        Names::Flat => Naming::Flat,
    };
    let libraries = libraries(arguments)?;
    let (bytes, description) = fmu(&model, naming, interfaces, &libraries)?;
    let default = || PathBuf::from(format!("{}.fmu", model.spec.name));
    let output = arguments.output.clone().unwrap_or_else(default);
    std::fs::write(&output, &bytes)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write {}", output.display()))?;
    say(&format!("{}: {}", output.display(), summary(&description, bytes.len())))?;
    craft.remark(true)?;
    for library in &libraries {
        say(&format!("  runs on {}", library.told()))?;
    }
    Ok(())
}

/// The libraries to pack, in the order of their platforms.
fn libraries(arguments: &Arguments) -> Result<Vec<Library>> {
    let here = Platform::here();
    let own = arguments.library.iter().map(|file| (here, file));
    let others = arguments.binary.iter().map(|(platform, file)| (*platform, file));
    let mut libraries: Vec<Library> = Vec::new();
    for (platform, file) in own.chain(others) {
        if let Some(first) = libraries.iter().find(|library| library.platform == platform) {
            bail!("two libraries for {platform}: {} and {}", first.origin, file.display());
        }
        libraries.push(Library::read(platform, file)?);
    }
    if !libraries.iter().any(|library| library.platform == here) {
        libraries.push(Library::embedded()?);
    }
    libraries.sort_by_key(|library| library.platform);
    Ok(libraries)
}

/// The FMU of a model, and what its XML says.
pub fn fmu(
    model: &Arc<Model>,
    naming: Naming,
    interfaces: Interfaces,
    libraries: &[Library],
) -> Result<(Vec<u8>, ModelDescription)> {
    let description = description::describe(model, naming, interfaces).into_diagnostic()?;
    let identifier = archive::identifier(&description)?;
    let platforms: Vec<Platform> = libraries.iter().map(|library| library.platform).collect();
    let mut contents = documentation(model, &description, &platforms)?;
    contents.extend(libraries.iter().map(|library| Content {
        path: library.path(identifier),
        bytes: Cow::Borrowed(&library.bytes),
        executable: true,
    }));
    let compiled = model.to_bytes().into_diagnostic()?;
    contents.push(Content::new(archive::MODEL, compiled));
    Ok((archive::pack(&description, &contents)?, description))
}

/// "412 kB, 18 states, 2 inputs, 60 outputs, 80 parameters; FMI 2.0 Model Exchange and Co-Simulation"
fn summary(description: &ModelDescription, bytes: usize) -> String {
    let number = |causality| {
        description
            .model_variables
            .iter()
            .filter(|v| v.causality == causality)
            .count()
    };
    format!(
        "{}, {}, {}, {}, {}; FMI 2.0 {}",
        size(bytes),
        count(description.model_structure.derivatives.len(), "state"),
        count(number(Causality::Input), "input"),
        count(number(Causality::Output), "output"),
        count(number(Causality::Parameter), "parameter"),
        interfaces(description),
    )
}
