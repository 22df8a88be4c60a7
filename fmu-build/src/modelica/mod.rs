//! A Modelica package of FMUs: the models that OpenModelica imports, with connectors of the
//! Modelica Standard Library.

mod wrapper;

use crate::build::{BuildOptions, build};
use crate::compiled_spec::CompiledSpec;
use crate::error::{Result, invalid};
use crate::library::Library;
use grapple::fmu::description::Interfaces;
use grapple::fmu::lifecycle::Standard;
use grapple::spec::objection;
use std::path::{Path, PathBuf};
pub use wrapper::Wrapper;

/// Models that several wrappers use.
const SHARED: &str = include_str!("shared.mo");

/// Names that a wrapper could not have: the package would declare them twice, or hide the library.
const RESERVED: [&str; 9] = [
    "Modelica", "Wrapper", "Port", "Commands", "Sensors", "commands", "sensors", "fmu", "lag",
];

/// A Modelica package and the FMUs that it wraps.
pub struct ModelicaPackage {
    /// Name of the package.
    pub name: String,
    /// Files by their paths in the package's folder.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// One model for each FMU.
    pub wrappers: Vec<Wrapper>,
    /// Files it was made from.
    pub reads: Vec<PathBuf>,
}

/// Builds the Model Exchange FMUs of specs, with the given libraries, and the package `name` with a
/// wrapper for each.
///
/// # Errors
/// Errors of a spec; an FMU in place of a spec; two specs of one name; an invalid name.
pub fn modelica(specs: &[PathBuf], name: &str, libraries: &[Library]) -> Result<ModelicaPackage> {
    if let Some(what) = objection(name) {
        return Err(invalid!("the package's name: {what}; choose another --package"));
    }
    let specs: Vec<CompiledSpec> = specs.iter().map(|path| read(path)).collect::<Result<_>>()?;
    let names: Vec<&str> = specs.iter().map(|spec| spec.model.spec.name.as_str()).collect();
    for (i, &model) in names.iter().enumerate() {
        // Names that differ in case only would be one folder on some file systems.
        if names[..i].iter().any(|other| other.eq_ignore_ascii_case(model)) {
            return Err(invalid!(
                "two of the specs are called {model:?}; the models of a package have different names: change `name` in one"
            ));
        }
        if RESERVED.contains(&model) || model == name {
            return Err(invalid!(
                "no model of the package can be called {model:?}, which the package itself uses: change `name` in {}",
                specs[i].file
            ));
        }
    }
    if name == "Modelica" {
        return Err(invalid!(
            "the package's name: \"Modelica\" is the Modelica Standard Library; choose another --package"
        ));
    }
    let options = BuildOptions {
        standard: Standard::Fmi2,
        interfaces: Interfaces::ModelExchange,
        ..BuildOptions::default()
    };
    let mut files = Vec::new();
    let mut wrappers = Vec::new();
    for (spec, model) in specs.iter().zip(&names) {
        let fmu = build(spec, &options, libraries)?;
        wrappers.push(Wrapper::new(&spec.model.spec, &fmu.description));
        files.push((Path::new(model).join(format!("{model}.fmu")), fmu.bytes));
    }
    let texts = [
        (format!("{name}.mo"), package(name, &wrappers)),
        ("load.mos".to_owned(), load(name, &names)),
        ("run.mos".to_owned(), run(name, &wrappers)),
    ];
    files.extend(texts.map(|(file, text)| (file.into(), text.into_bytes())));
    Ok(ModelicaPackage {
        name: name.to_owned(),
        files,
        wrappers,
        reads: specs.iter().flat_map(|spec| spec.reads.clone()).collect(),
    })
}

fn read(path: &Path) -> Result<CompiledSpec> {
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("fmu")) {
        return Err(invalid!(
            "{} is an FMU; the package contains FMUs that are built from specs: give its spec",
            path.display()
        ));
    }
    CompiledSpec::read(path)
}

/// Returns the text of the package.
fn package(name: &str, wrappers: &[Wrapper]) -> String {
    let models: Vec<&str> = wrappers.iter().map(|wrapper| wrapper.text.as_str()).collect();
    format!(
        "// Written by grapple {}. The models of the imported FMUs (load.mos) have to be loaded as well.\n\
         package {name} \"FMUs with connectors of the Modelica Standard Library\"\n\n{}\n{SHARED}end {name};\n",
        env!("CARGO_PKG_VERSION"),
        models.join("\n"),
    )
}

/// Returns the script that imports the FMUs and loads the package.
fn load(name: &str, models: &[&str]) -> String {
    let imports: String = models
        .iter()
        .map(|model| {
            format!(
                "importFMU(\"{model}/{model}.fmu\", cd() + \"/{model}\"); getErrorString();\n\
                 loadFile(\"{model}/{model}_me_FMU.mo\"); getErrorString();\n"
            )
        })
        .collect();
    format!(
        "// Imports the FMUs of this folder into OpenModelica and loads the package {name}.\n\
         loadModel(Modelica); getErrorString();\n\n\
         // The models that importFMU writes call reinit in an algorithm, which standard Modelica does not\n\
         // allow.\n\
         setCommandLineOptions(\"--allowNonStandardModelica=reinitInAlgorithms\"); getErrorString();\n\n\
         // The working folder of an import has to be an absolute path, and one of its own.\n\
         {imports}\n\
         loadFile(\"{name}.mo\"); getErrorString();\n"
    )
}

/// Returns the script that simulates every model that runs without connections.
fn run(name: &str, wrappers: &[Wrapper]) -> String {
    let alone = wrappers.iter().filter(|wrapper| wrapper.runs_alone);
    let runs: String = alone
        .map(|wrapper| format!("simulate({name}.{}); getErrorString();\n", wrapper.name))
        .collect();
    format!(
        "// Runs each spacecraft of the package {name} by itself, in this folder: omc run.mos\n\
         runScript(\"load.mos\"); getErrorString();\n{runs}"
    )
}
