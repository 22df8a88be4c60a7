//! Several FMUs connected to one system, in SSP's format.

use crate::archive::{self, Content};
use crate::build::BuiltFmu;
use crate::compiled_spec::CompiledSpec;
use crate::coupled_run::Algorithm;
use crate::error::{Result, invalid};
use crate::library::Library;
use crate::margin::interface::{Coupling, described};
use crate::margin::{Longest, MarginOptions, SampledLoops};
use crate::package::Package;
use crate::point::Point;
use crate::ssp::named;
use crate::summaries::unknown;
pub use crate::system_structure::Connection;
use crate::system_structure::{Component, ParameterSet, SystemStructure, xml};
use crate::text::number;
use model_description::{Causality, ModelDescription, ScalarVariable};
use std::path::{Path, PathBuf};

/// Difference of a reference from its joint at the start, rad or m, above which a warning is given.
const AWAY: f64 = 1e-6;

/// A system of FMUs.
pub struct Coupled {
    /// Name of the system: the names of its FMUs, joined by `_`.
    pub name: String,
    /// The SSP file.
    pub bytes: Vec<u8>,
    /// Connections of outputs to inputs.
    pub connections: Vec<Connection>,
    /// Names of the FMUs, each with the names of its inputs that keep their start values.
    pub parts: Vec<(String, Vec<String>)>,
    /// Shortest communication step that an FMU's default experiment has, s.
    pub step: Option<f64>,
    /// Warnings about loops that are unstable with that step, and about references that start away
    /// from the joints.
    pub warnings: Vec<String>,
    /// Files it was made from.
    pub reads: Vec<PathBuf>,
}

/// One FMU of the system.
struct Part {
    name: String,
    description: ModelDescription,
    bytes: Vec<u8>,
    /// Files it was made from.
    reads: Vec<PathBuf>,
}

/// Connects FMUs, of any tool or built from specs: each output to the inputs of the same name in
/// the other FMUs. FMUs of specs contain the given libraries, and their inputs start at the values
/// to which they are connected; `set` has values of parameters and of inputs without a connection,
/// by `component.variable`, SI units.
///
/// # Errors
/// Errors of a spec or an archive; two FMUs of one name, or without Co-Simulation; an input that
/// could come from two outputs, or has another unit; no connection at all; a value of an unknown
/// variable.
pub fn couple(models: &[PathBuf], set: &[(String, f64)], libraries: &[Library]) -> Result<Coupled> {
    let packages = models.iter().map(|path| Package::of(path)).collect::<Result<_>>()?;
    let packages: Vec<Package> = started(packages)?;
    let mut parts = Vec::new();
    for (package, path) in packages.iter().zip(models) {
        parts.push(Part::open(package, path, libraries)?);
    }
    let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    if let Some(i) = (1..names.len()).find(|&i| names[..i].contains(&names[i])) {
        let name = names[i];
        return Err(invalid!(
            "two of them are called {name:?}; a system's parts have different names"
        ));
    }
    let connections = wire(&parts)?;
    let component = |part: &Part| Component::new(&part.name, &source(&part.name), &part.description);
    let name = names.join("_");
    check_values(&parts, &connections, set)?;
    let structure = SystemStructure::new(&name, parts.iter().map(component), &connections, !set.is_empty());
    let mut contents = vec![Content::new("SystemStructure.ssd", xml(&structure)?.into_bytes())];
    if !set.is_empty() {
        let parameters = xml(&ParameterSet::new(set))?;
        contents.push(Content::new(ParameterSet::SOURCE, parameters.into_bytes()));
    }
    let fmus = parts.iter();
    contents.extend(fmus.map(|part| Content::new(source(&part.name), part.bytes.as_slice())));
    Ok(Coupled {
        bytes: archive::zip(&contents)?,
        parts: parts
            .iter()
            .map(|part| (part.name.clone(), part.free(&connections)))
            .collect(),
        reads: parts.iter().flat_map(|part| part.reads.clone()).collect(),
        step: structure.step(),
        warnings: warnings(&packages, structure.step()),
        name,
        connections,
    })
}

/// Checks that values belong to parameters and to inputs without a connection.
fn check_values(parts: &[Part], connections: &[Connection], values: &[(String, f64)]) -> Result<()> {
    for (path, value) in values {
        let (component, variable) = named(path, || parts.iter().map(|part| part.name.as_str()))?;
        let Some(part) = parts.iter().find(|part| part.name == component) else {
            continue;
        };
        let inputs = of(&part.description, Causality::Input).filter(|v| !part.is_wired(&v.name, connections));
        let known: Vec<&str> = of(&part.description, Causality::Parameter)
            .chain(inputs)
            .map(|v| v.name.as_str())
            .collect();
        if !known.contains(&variable) {
            return Err(invalid!(
                "{component}: {}",
                unknown("parameter or input without a connection", variable, known.into_iter())
            ));
        }
        if !value.is_finite() {
            return Err(invalid!("{path} = {value} is not a finite number"));
        }
    }
    Ok(())
}

/// Largest number of FMUs through which a start value is passed on.
const MOST_PASSES: usize = 8;

/// Returns the packages with start values of the inputs of specs: those of the outputs and states
/// of the other specs to which they will be connected, and for references of joints that nothing
/// sets the positions of the joints. In the first step of an importer that exchanges no values
/// before it, the inputs then have their right values.
fn started(mut packages: Vec<Package>) -> Result<Vec<Package>> {
    let written = |package: &Package| {
        package
            .spec()
            .map_or_else(Vec::new, |spec| spec.model.spec.input.keys().cloned().collect())
    };
    let written: Vec<Vec<String>> = packages.iter().map(written).collect();
    for _ in 0..MOST_PASSES {
        let mut values: Vec<Vec<(String, f64)>> = Vec::new();
        for package in &packages {
            let start = package
                .spec()
                .map(|spec| Point::start(&spec.model).and_then(|mut start| start.values()));
            values.push(start.transpose()?.unwrap_or_default());
        }
        let mut has_changed = false;
        for (i, package) in packages.iter_mut().enumerate() {
            let Package::Spec(compiled) = package else { continue };
            let mut spec = compiled.model.spec.clone();
            for input in compiled.model.inputs.iter().filter(|input| !input.is_discrete()) {
                let name = &input.quantity.name;
                let of_others = |wanted: &str| {
                    let others = values.iter().enumerate().filter(|(k, _)| *k != i);
                    others.flat_map(|(_, of)| of).find(|(known, _)| known == wanted)
                };
                let joint = name.replace(".q_ref", ".q");
                let is_reference = spec.controller.is_some() && !written[i].contains(name);
                let found = of_others(name).or_else(|| of_others(&joint).filter(|_| is_reference));
                if let Some((_, value)) = found.filter(|(_, value)| *value != input.start) {
                    spec.input.insert(name.clone(), *value);
                    has_changed = true;
                }
            }
            if spec != compiled.model.spec {
                compiled.model = CompiledSpec::of(&spec)?.model;
            }
        }
        if !has_changed {
            break;
        }
    }
    Ok(packages)
}

/// Returns the warnings about two specs that may be connected, with the shorter of their steps as
/// the communication step.
///
/// # Errors
/// A start that cannot be computed.
pub fn warnings_of(specs: [CompiledSpec; 2]) -> Result<Vec<String>> {
    let step = specs
        .iter()
        .map(|spec| spec.model.spec.experiment.step)
        .fold(f64::INFINITY, f64::min);
    let packages = started(specs.into_iter().map(Package::Spec).collect())?;
    Ok(warnings(&packages, Some(step)))
}

/// Returns the warnings about each pair of specs that are connected.
fn warnings(packages: &[Package], step: Option<f64>) -> Vec<String> {
    let is_controller = |spec: &&CompiledSpec| spec.model.spec.controller.is_some();
    let specs = || packages.iter().filter_map(Package::spec);
    let mut warnings = Vec::new();
    for controller in specs().filter(is_controller) {
        for spacecraft in specs().filter(|spec| !is_controller(spec)) {
            warnings.extend(away(spacecraft, controller).unwrap_or_default());
            warnings.extend(unstable(spacecraft, controller, step));
        }
    }
    let Some(step) = step else { return warnings };
    let spacecraft: Vec<&CompiledSpec> = specs().filter(|spec| !is_controller(spec)).collect();
    for (i, first) in spacecraft.iter().enumerate() {
        for second in &spacecraft[i + 1..] {
            warnings.extend(unstable_interface([first, second], step));
        }
    }
    warnings
}

/// Returns a warning for each algorithm with which the coupling of two spacecraft is unstable, as
/// far as they can be linearised.
fn unstable_interface(specs: [&CompiledSpec; 2], step: f64) -> Vec<String> {
    let limits = Coupling::of(specs).and_then(|coupling| coupling.map(|of| of.limits(step)).transpose());
    let Ok(Some(limits)) = limits else { return Vec::new() };
    let is_unstable =
        |(algorithm, _): &&(Algorithm, Longest)| !limits.stable(*algorithm).is_some_and(|limit| step < limit);
    let unstable = limits.longest.iter().filter(is_unstable);
    let warning = |(algorithm, longest): &(Algorithm, Longest)| {
        format!(
            "interface {} is unstable with steps of {} s by the {}; it is stable {longest}: see grapple margin",
            limits.interface,
            number(step, 6),
            described(*algorithm)
        )
    };
    unstable.map(warning).collect()
}

/// Returns a warning for each reference of a controller that starts away from its joint's start.
fn away(spacecraft: &CompiledSpec, controller: &CompiledSpec) -> Result<Vec<String>> {
    let start = Point::start(&spacecraft.model)?;
    let joint = |name: &str| {
        let place = spacecraft.model.states.iter().position(|state| state.name == name)?;
        Some(start.x[place])
    };
    let mut law = Point::start(&controller.model)?;
    for (value, input) in law.u.iter_mut().zip(&controller.model.inputs) {
        *value = joint(&input.quantity.name).unwrap_or(*value);
    }
    let mut warnings = Vec::new();
    for (output, error) in controller.model.outputs.iter().zip(law.outputs()?) {
        let name = &output.quantity.name;
        let position = name.replace(".servo_error", ".q");
        let Some(q) = joint(&position).filter(|_| position != *name && error.abs() > AWAY) else {
            continue;
        };
        let unit = output.quantity.unit.symbol();
        let [from, to] = [q, q + error].map(|value| number(value, 4));
        warnings.push(format!(
            "{position} starts at {from} {unit}, its reference in {} at {to} {unit}: the run begins with this \
             servo error",
            controller.model.spec.name
        ));
    }
    Ok(warnings)
}

/// Returns a warning if a controller's loops through a spacecraft are unstable with the
/// communication step of the system, as far as they can be linearised.
fn unstable(spacecraft: &CompiledSpec, controller: &CompiledSpec, step: Option<f64>) -> Option<String> {
    let options = MarginOptions {
        step,
        ..MarginOptions::default()
    };
    let loops = SampledLoops::of(spacecraft, controller, &options).ok()?;
    let (delay, longest) = loops.unstable().ok()??;
    let name = |of: &CompiledSpec| of.model.spec.name.clone();
    Some(format!(
        "{}, sampled every {} s, makes {} unstable{}; it is stable {}: see grapple margin",
        name(controller),
        number(loops.sample, 6),
        name(spacecraft),
        match delay > 0.0 {
            true => " if its outputs arrive one communication step later (Jacobi algorithm)",
            false => "",
        },
        longest
    ))
}

/// Returns the path of an FMU in the archive.
fn source(name: &str) -> String {
    format!("resources/{name}.fmu")
}

impl Part {
    fn open(package: &Package, path: &Path, libraries: &[Library]) -> Result<Self> {
        let BuiltFmu { bytes, description } = package.fmu(libraries)?;
        if description.co_simulation.is_none() {
            return Err(invalid!(
                "{} does not offer Co-Simulation, which coupling needs",
                path.display()
            ));
        }
        Ok(Self {
            name: archive::identifier(&description)?.to_owned(),
            description,
            bytes,
            reads: package.reads(),
        })
    }

    /// Returns the names of the part's inputs without a connection.
    fn free(&self, connections: &[Connection]) -> Vec<String> {
        let names = of(&self.description, Causality::Input).map(|input| &input.name);
        names
            .filter(|name| !self.is_wired(name, connections))
            .cloned()
            .collect()
    }

    fn is_wired(&self, name: &str, connections: &[Connection]) -> bool {
        connections.iter().any(|wire| wire.to == self.name && wire.name == name)
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
                        return Err(invalid!(
                            "{name} is {} in {} and {} in {}: the two must agree; write the `type` of the controller's joint",
                            kinds[0].trim_end(),
                            from.name,
                            kinds[1].trim_end(),
                            to.name
                        ));
                    }
                    connections.push(Connection {
                        name: name.clone(),
                        from: from.name.clone(),
                        to: to.name.clone(),
                    });
                }
                [(first, _), (second, _), ..] => {
                    return Err(invalid!(
                        "the input {name} of {} could come from {} and from {}: rename one of them",
                        to.name,
                        first.name,
                        second.name
                    ));
                }
            }
        }
    }
    if connections.is_empty() {
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        return Err(invalid!(
            "there is nothing to connect: no input of {} has the name of another's output",
            names.join(", ")
        ));
    }
    Ok(connections)
}
