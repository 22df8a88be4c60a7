//! Reading of SSP files (System Structure and Parameterization 1.0): FMUs and their connections.

use crate::archive;
use crate::error::{Context, Result, invalid};
use quick_xml::de::from_str;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Upper limit of an XML file, bytes.
const XML_LIMIT: u64 = 64 << 20;

/// A system of FMUs, its archive unpacked.
#[derive(Debug)]
pub struct Ssp {
    /// Name of the system.
    pub name: String,
    /// FMUs by name, each with its file.
    pub components: Vec<(String, PathBuf)>,
    /// Connections: output and input, each as component and variable.
    pub connections: Vec<[(String, String); 2]>,
    /// Values of parameters and inputs.
    pub values: Vec<Value>,
    /// End of the default experiment, s.
    pub stop_time: Option<f64>,
}

/// Value of a parameter or input.
#[derive(Clone, Debug)]
pub struct Value {
    /// Name of the FMU.
    pub component: String,
    /// Name of the variable.
    pub variable: String,
    /// The value.
    pub value: f64,
    /// Unit of the value; by default that of the variable.
    pub unit: Option<String>,
}

#[derive(Deserialize)]
struct Description {
    #[serde(rename = "@name")]
    name: String,
    #[serde(rename = "System")]
    system: System,
    #[serde(rename = "DefaultExperiment")]
    experiment: Option<Experiment>,
}

#[derive(Deserialize)]
struct Experiment {
    #[serde(rename = "@startTime")]
    start: Option<f64>,
    #[serde(rename = "@stopTime")]
    stop: Option<f64>,
}

#[derive(Deserialize)]
struct System {
    #[serde(rename = "ParameterBindings", default)]
    bindings: Bindings,
    #[serde(rename = "Elements", default)]
    elements: Elements,
    #[serde(rename = "Connections", default)]
    connections: Connections,
}

#[derive(Default, Deserialize)]
struct Elements {
    #[serde(rename = "Component", default)]
    components: Vec<Component>,
    #[serde(rename = "System", default)]
    systems: Vec<Named>,
    #[serde(rename = "SignalDictionaryReference", default)]
    dictionaries: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    #[serde(rename = "@name")]
    name: String,
}

#[derive(Deserialize)]
struct Component {
    #[serde(rename = "@name")]
    name: String,
    #[serde(rename = "@source")]
    source: String,
    #[serde(rename = "ParameterBindings", default)]
    bindings: Bindings,
}

#[derive(Default, Deserialize)]
struct Connections {
    #[serde(rename = "Connection", default)]
    all: Vec<Connection>,
}

#[derive(Deserialize)]
struct Connection {
    #[serde(rename = "@startElement")]
    from: Option<String>,
    #[serde(rename = "@startConnector")]
    output: String,
    #[serde(rename = "@endElement")]
    to: Option<String>,
    #[serde(rename = "@endConnector")]
    input: String,
    #[serde(rename = "LinearTransformation")]
    linear: Option<Unsupported>,
}

/// Element that is recognised and refused.
#[derive(Deserialize)]
struct Unsupported {}

#[derive(Default, Deserialize)]
struct Bindings {
    #[serde(rename = "ParameterBinding", default)]
    all: Vec<Binding>,
}

#[derive(Deserialize)]
struct Binding {
    #[serde(rename = "@source")]
    source: Option<String>,
    #[serde(rename = "@prefix", default)]
    prefix: String,
    #[serde(rename = "@sourceBase")]
    base: Option<String>,
    #[serde(rename = "ParameterMapping")]
    mapping: Option<Unsupported>,
    #[serde(rename = "ParameterValues")]
    values: Option<Values>,
}

#[derive(Deserialize)]
struct Values {
    #[serde(rename = "ParameterSet")]
    set: Option<ParameterSet>,
}

/// Content of an SSV file.
#[derive(Deserialize)]
struct ParameterSet {
    #[serde(rename = "Parameters")]
    parameters: Parameters,
}

#[derive(Deserialize)]
struct Parameters {
    #[serde(rename = "Parameter", default)]
    all: Vec<Parameter>,
}

#[derive(Deserialize)]
struct Parameter {
    #[serde(rename = "@name")]
    name: String,
    #[serde(rename = "Real")]
    real: Option<Real>,
}

#[derive(Deserialize)]
struct Real {
    #[serde(rename = "@value")]
    value: f64,
    #[serde(rename = "@unit")]
    unit: Option<String>,
}

impl Ssp {
    /// Unpacks an SSP file into an empty folder and reads its system.
    ///
    /// # Errors
    /// A damaged archive; a file that is missing; nested systems, and connections that transform
    /// values.
    pub fn unpack(file: &Path, folder: &Path) -> Result<Self> {
        archive::unpack(file, folder, archive::ALL_LIMIT)?;
        Self::read(folder).context(|| file.display().to_string())
    }

    fn read(folder: &Path) -> Result<Self> {
        let description: Description = parsed(folder, "SystemStructure.ssd")?;
        let Description {
            name,
            system,
            experiment,
        } = description;
        let Elements {
            components,
            systems,
            dictionaries,
        } = system.elements;
        if let Some(Named { name }) = systems.iter().chain(&dictionaries).next() {
            return Err(invalid!(
                "the element {name:?} is not an FMU: nested systems and dictionaries are not supported"
            ));
        }
        if experiment
            .as_ref()
            .and_then(|of| of.start)
            .is_some_and(|start| start != 0.0)
        {
            return Err(invalid!(
                "the default experiment does not start at 0 s, which is not supported"
            ));
        }
        if components.is_empty() {
            return Err(invalid!("the system {name:?} has no FMU"));
        }
        let mut ssp = Self {
            name,
            components: Vec::new(),
            connections: Vec::new(),
            values: Vec::new(),
            stop_time: experiment.and_then(|experiment| experiment.stop),
        };
        for Component { name, source, bindings } in components {
            if name.is_empty() || name.contains(['/', '\\']) {
                return Err(invalid!("{name:?} is not a name for an FMU"));
            }
            if ssp.components.iter().any(|(known, _)| *known == name) {
                return Err(invalid!("two FMUs are called {name:?}"));
            }
            let fmu = inside(folder, &source)?;
            if !fmu.is_file() {
                return Err(invalid!(
                    "the FMU of {name:?} is missing: there is no file {source:?} in the archive"
                ));
            }
            for (variable, Real { value, unit }) in bindings.values(folder)? {
                let component = name.clone();
                ssp.values.push(Value {
                    component,
                    variable,
                    value,
                    unit,
                });
            }
            ssp.components.push((name, fmu));
        }
        for (path, Real { value, unit }) in system.bindings.values(folder)? {
            let (component, variable) = named(&path, || ssp.components.iter().map(|(name, _)| name.as_str()))?;
            let (component, variable) = (component.to_owned(), variable.to_owned());
            ssp.values.push(Value {
                component,
                variable,
                value,
                unit,
            });
        }
        for Connection {
            from,
            output,
            to,
            input,
            linear,
        } in system.connections.all
        {
            let (Some(from), Some(to)) = (from, to) else {
                return Err(invalid!(
                    "the connection of {output:?} and {input:?} leaves the system: connectors of the system itself are \
                     not supported"
                ));
            };
            if linear.is_some() {
                return Err(invalid!(
                    "the connection of {from}.{output} transforms its values, which is not supported"
                ));
            }
            ssp.connections.push([(from, output), (to, input)]);
        }
        Ok(ssp)
    }
}

impl Bindings {
    /// Returns names and values of all parameter sets.
    fn values(self, folder: &Path) -> Result<Vec<(String, Real)>> {
        let mut values = Vec::new();
        for Binding {
            source,
            prefix,
            base,
            mapping,
            values: inline,
        } in self.all
        {
            if mapping.is_some() || base.is_some_and(|base| base != "SSD") {
                return Err(invalid!(
                    "parameter mappings, and sources beside the SSD, are not supported"
                ));
            }
            let set = match (source, inline.and_then(|inline| inline.set)) {
                (Some(source), _) => parsed(folder, &source)?,
                (None, Some(set)) => set,
                (None, None) => continue,
            };
            for Parameter { name, real } in set.parameters.all {
                let Some(real) = real else {
                    return Err(invalid!("the parameter {name:?} is not a Real"));
                };
                values.push((format!("{prefix}{name}"), real));
            }
        }
        Ok(values)
    }
}

/// Divides `component.variable` after the longest name of a component.
///
/// # Errors
/// The path begins with the name of no component.
pub fn named<'a, I: Iterator<Item = &'a str>>(path: &'a str, components: impl Fn() -> I) -> Result<(&'a str, &'a str)> {
    let divided = components().filter_map(|name| Some((name, path.strip_prefix(name)?.strip_prefix('.')?)));
    divided.max_by_key(|(name, _)| name.len()).ok_or_else(|| {
        invalid!(
            "{path} names no FMU: write COMPONENT.VARIABLE, with one of {}",
            components().collect::<Vec<_>>().join(", ")
        )
    })
}

/// Returns the path of a file in the folder.
fn inside(folder: &Path, source: &str) -> Result<PathBuf> {
    // A URI reference.
    let source = source.replace("%20", " ");
    let path = Path::new(&source);
    let is_plain = path
        .components()
        .all(|part| matches!(part, std::path::Component::Normal(_)));
    match is_plain && !source.contains(':') {
        true => Ok(folder.join(path)),
        false => Err(invalid!("{source:?} is not a file in the archive")),
    }
}

fn parsed<T: for<'de> Deserialize<'de>>(folder: &Path, source: &str) -> Result<T> {
    let path = inside(folder, source)?;
    let size = std::fs::metadata(&path)
        .context(|| format!("there is no file {source:?} in the archive"))?
        .len();
    if size > XML_LIMIT {
        return Err(invalid!("{source} is larger than {XML_LIMIT} bytes"));
    }
    let text = std::fs::read_to_string(&path).context(|| source.to_owned())?;
    from_str(&text).context(|| source.to_owned())
}
