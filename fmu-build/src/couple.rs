use crate::archive::{self, Content};
use crate::files::Target;
use crate::library::{Choice, Library};
use crate::package::Package;
use crate::system_structure::{Component, Connection, SystemStructure};
use crate::text::{aligned, count, number, print};
use miette::{Result, bail};
use model_description::{Causality, ModelDescription, ScalarVariable};
use std::path::{Path, PathBuf};

/// Connect FMUs to one system: an SSP file, for masters that read SSP 1.0.
///
///   grapple couple arm.toml arm_controller.toml           arm_arm_controller.ssp
///   grapple couple arm.fmu controller.fmu -o loop.ssp
///   grapple couple arm.toml controller.fmu --library old_glibc/libgrapple.so
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
    libraries: Choice,
}

/// One FMU of the system.
struct Part {
    name: String,
    description: ModelDescription,
    bytes: Vec<u8>,
    /// Files it was made from.
    reads: Vec<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let libraries = arguments.libraries.read()?;
    let open = |path: &PathBuf| Part::open(path, &libraries);
    let parts: Vec<Part> = arguments.models.iter().map(open).collect::<Result<_>>()?;
    for (i, part) in parts.iter().enumerate() {
        if parts[..i].iter().any(|other| other.name == part.name) {
            bail!(
                "two of them are called {:?}; a system's parts have different names",
                part.name
            );
        }
    }
    let connections = wire(&parts)?;
    let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    let system = names.join("_");
    let structure = SystemStructure::new(
        &system,
        parts
            .iter()
            .map(|part| Component::new(&part.name, &source(&part.name), &part.description)),
        &connections,
    );
    let xml = structure.to_xml()?;
    let mut contents = vec![Content::new("SystemStructure.ssd", xml.into_bytes())];
    contents.extend(
        parts
            .iter()
            .map(|part| Content::new(source(&part.name), part.bytes.as_slice())),
    );
    let default = || PathBuf::from(format!("{system}.ssp"));
    let mut reads: Vec<PathBuf> = parts.iter().flat_map(|part| part.reads.clone()).collect();
    reads.extend(arguments.libraries.files().cloned());
    let output = Target::new(arguments.output.clone().unwrap_or_else(default), &reads)?;
    output.write(archive::zip(&contents)?)?;

    let rows: Vec<[String; 2]> = connections
        .iter()
        .map(|wire| [wire.name.clone(), format!("{} → {}", wire.from, wire.to)])
        .collect();
    print(aligned(&rows).trim_end())?;
    for part in &parts {
        let is_wired = |name: &str| connections.iter().any(|wire| wire.to == part.name && wire.name == name);
        let names = of(&part.description, Causality::Input).map(|input| input.name.as_str());
        let free: Vec<&str> = names.filter(|name| !is_wired(name)).collect();
        if !free.is_empty() {
            print(&format!("{} keeps the start values of {}", part.name, free.join(", ")))?;
        }
    }
    let step = structure.step().map_or_else(String::new, |step| {
        format!("; its parts request steps of {} s", number(step, 6))
    });
    print(&format!(
        "{}: {}, {}{step}",
        output.path().display(),
        count(parts.len(), "FMU"),
        count(connections.len(), "connection")
    ))
}

/// Returns the path of an FMU in the archive.
fn source(name: &str) -> String {
    format!("resources/{name}.fmu")
}

impl Part {
    fn open(path: &Path, libraries: &[Library]) -> Result<Self> {
        let package = Package::of(path)?;
        let (bytes, description) = package.fmu(libraries)?;
        if description.co_simulation.is_none() {
            bail!("{} does not offer Co-Simulation, which coupling needs", path.display());
        }
        Ok(Self {
            name: archive::identifier(&description)?.to_owned(),
            description,
            bytes,
            reads: package.reads(),
        })
    }
}

fn of(description: &ModelDescription, causality: Causality) -> impl Iterator<Item = &ScalarVariable> {
    let variables = description.model_variables.iter();
    variables.filter(move |v| v.causality == causality)
}

/// Returns a connection for every input that has the name of another part's output.
fn wire(parts: &[Part]) -> Result<Vec<Connection>> {
    let mut connections: Vec<Connection> = Vec::new();
    for to in parts {
        for input in of(&to.description, Causality::Input) {
            let name = &input.name;
            let others = parts.iter().filter(|part| part.name != to.name);
            let mut sources = Vec::new();
            for part in others {
                let outputs = of(&part.description, Causality::Output);
                sources.extend(outputs.filter(|v| v.name == *name).map(|output| (part, output)));
            }
            match sources[..] {
                [] => {}
                [(from, output)] => {
                    let kinds = [(from, output), (to, input)].map(|(part, variable)| {
                        let unit = part.description.unit_of(variable).unwrap_or_default();
                        format!("{} {unit}", variable.kind.base_type())
                    });
                    if kinds[0] != kinds[1] {
                        bail!(
                            "{name} is {} in {} and {} in {}: does a controller's joint lack its `type`?",
                            kinds[0].trim_end(),
                            from.name,
                            kinds[1].trim_end(),
                            to.name
                        );
                    }
                    connections.push(Connection {
                        name: name.clone(),
                        from: from.name.clone(),
                        to: to.name.clone(),
                    });
                }
                [(first, _), (second, _), ..] => bail!(
                    "the input {name} of {} could come from {} and from {}: rename one of them",
                    to.name,
                    first.name,
                    second.name
                ),
            }
        }
    }
    if connections.is_empty() {
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        bail!(
            "there is nothing to connect: no input of {} has the name of another's output",
            names.join(", ")
        );
    }
    Ok(connections)
}
