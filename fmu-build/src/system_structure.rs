//! Data model of an SSP's `SystemStructure.ssd` (System Structure and Parameterization 1.0, §5),
//! and its XML.

use crate::error::{Context, Result};
use model_description::{BaseUnit, Causality, Kind, ModelDescription};
use serde::Serialize;
use std::collections::BTreeMap;

/// A system of connected FMUs.
#[derive(Serialize)]
#[serde(rename = "ssd:SystemStructureDescription")]
pub struct SystemStructure {
    #[serde(rename = "@xmlns:ssd")]
    ssd: &'static str,
    #[serde(rename = "@xmlns:ssc")]
    ssc: &'static str,
    #[serde(rename = "@version")]
    version: &'static str,
    #[serde(rename = "@name")]
    name: String,
    #[serde(rename = "@generationTool")]
    tool: &'static str,
    #[serde(rename = "ssd:System")]
    system: System,
    #[serde(rename = "ssd:Units", skip_serializing_if = "List::is_empty")]
    units: List<Unit>,
    #[serde(rename = "ssd:DefaultExperiment")]
    experiment: Experiment,
    #[serde(skip)]
    step: Option<f64>,
}

#[derive(Serialize)]
struct System {
    #[serde(rename = "@name")]
    name: String,
    #[serde(rename = "ssd:ParameterBindings", skip_serializing_if = "List::is_empty")]
    bindings: List<Binding>,
    #[serde(rename = "ssd:Elements")]
    elements: List<Element>,
    #[serde(rename = "ssd:Connections")]
    connections: List<Wire>,
}

#[derive(Serialize)]
struct List<T> {
    #[serde(rename = "$value")]
    items: Vec<T>,
}

impl<T> List<T> {
    fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// An FMU in the system.
pub struct Component {
    element: Element,
    units: BTreeMap<String, BaseUnit>,
    stop_time: Option<f64>,
    step: Option<f64>,
}

#[derive(Serialize)]
#[serde(rename = "ssd:Component")]
struct Element {
    #[serde(rename = "@name")]
    name: String,
    #[serde(rename = "@type")]
    kind: &'static str,
    #[serde(rename = "@source")]
    source: String,
    #[serde(rename = "@implementation")]
    implementation: &'static str,
    #[serde(rename = "ssd:Connectors")]
    connectors: List<Connector>,
}

#[derive(Serialize)]
#[serde(rename = "ssd:Connector")]
struct Connector {
    #[serde(rename = "@name")]
    name: String,
    #[serde(rename = "@kind")]
    kind: &'static str,
    #[serde(rename = "$value")]
    of: Type,
}

#[derive(Serialize)]
enum Type {
    #[serde(rename = "ssc:Real")]
    Real {
        #[serde(rename = "@unit", skip_serializing_if = "Option::is_none")]
        unit: Option<String>,
    },
    #[serde(rename = "ssc:Integer")]
    Integer {},
    #[serde(rename = "ssc:Boolean")]
    Boolean {},
    #[serde(rename = "ssc:String")]
    String {},
}

#[derive(Serialize)]
#[serde(rename = "ssc:Unit")]
struct Unit {
    #[serde(rename = "@name")]
    name: String,
    #[serde(rename = "ssc:BaseUnit")]
    base: BaseUnit,
}

/// Reference to a file with values of parameters.
#[derive(Serialize)]
#[serde(rename = "ssd:ParameterBinding")]
struct Binding {
    #[serde(rename = "@source")]
    source: &'static str,
}

/// Values of parameters and of inputs without a connection: an SSV file.
#[derive(Serialize)]
#[serde(rename = "ssv:ParameterSet")]
pub struct ParameterSet {
    #[serde(rename = "@xmlns:ssv")]
    ssv: &'static str,
    #[serde(rename = "@xmlns:ssc")]
    ssc: &'static str,
    #[serde(rename = "@version")]
    version: &'static str,
    #[serde(rename = "@name")]
    name: &'static str,
    #[serde(rename = "ssv:Parameters")]
    parameters: List<Parameter>,
}

#[derive(Serialize)]
#[serde(rename = "ssv:Parameter")]
struct Parameter {
    #[serde(rename = "@name")]
    name: String,
    #[serde(rename = "ssv:Real")]
    real: Real,
}

#[derive(Serialize)]
struct Real {
    #[serde(rename = "@value")]
    value: f64,
}

impl ParameterSet {
    /// Path of the file in the archive.
    pub const SOURCE: &str = "resources/parameters.ssv";

    /// Creates the set of values by `component.variable`, SI units.
    pub fn new(values: &[(String, f64)]) -> Self {
        let parameter = |(name, value): &(String, f64)| Parameter {
            name: name.clone(),
            real: Real { value: *value },
        };
        Self {
            ssv: "http://ssp-standard.org/SSP1/SystemStructureParameterValues",
            ssc: "http://ssp-standard.org/SSP1/SystemStructureCommon",
            version: "1.0",
            name: "parameters",
            parameters: List {
                items: values.iter().map(parameter).collect(),
            },
        }
    }
}

#[derive(Serialize)]
#[serde(rename = "ssd:Connection")]
struct Wire {
    #[serde(rename = "@startElement")]
    start_element: String,
    #[serde(rename = "@startConnector")]
    start_connector: String,
    #[serde(rename = "@endElement")]
    end_element: String,
    #[serde(rename = "@endConnector")]
    end_connector: String,
}

#[derive(Serialize)]
struct Experiment {
    #[serde(rename = "@startTime")]
    start: f64,
    #[serde(rename = "@stopTime", skip_serializing_if = "Option::is_none")]
    stop: Option<f64>,
}

/// A connection of an output to the input of the same name.
pub struct Connection {
    /// Name of output and input.
    pub name: String,
    /// Component of the output.
    pub from: String,
    /// Component of the input.
    pub to: String,
}

impl Component {
    /// Describes the FMU at `source` in the archive.
    pub fn new(name: &str, source: &str, description: &ModelDescription) -> Self {
        let definitions = description.unit_definitions.iter();
        let units: BTreeMap<String, BaseUnit> = definitions
            .filter_map(|unit| Some((unit.name.clone(), unit.base_unit.clone()?)))
            .collect();
        let connector = |variable: &model_description::ScalarVariable| {
            let kind = match variable.causality {
                Causality::Input => "input",
                Causality::Output => "output",
                _ => return None,
            };
            let of = match variable.kind {
                Kind::Real(_) => Type::Real {
                    unit: (description.unit_of(variable).map(str::to_owned)).filter(|unit| units.contains_key(unit)),
                },
                Kind::Boolean(_) => Type::Boolean {},
                Kind::String(_) => Type::String {},
                Kind::Integer(_) | Kind::Enumeration(_) => Type::Integer {},
            };
            let name = variable.name.clone();
            Some(Connector { name, kind, of })
        };
        let run = description.default_experiment.as_ref();
        Self {
            element: Element {
                name: name.to_owned(),
                kind: "application/x-fmu-sharedlibrary",
                source: source.to_owned(),
                implementation: "CoSimulation",
                connectors: List {
                    items: description.model_variables.iter().filter_map(connector).collect(),
                },
            },
            units,
            stop_time: run.and_then(|run| run.stop_time),
            step: run.and_then(|run| run.step_size),
        }
    }
}

impl SystemStructure {
    /// Builds a system; its stop time is that of the first part that has one. Inputs without a
    /// connection are not listed, so that they keep their start values: some importers would set
    /// listed ones. `has_parameters` refers to a [`ParameterSet`].
    pub fn new(
        name: &str,
        parts: impl Iterator<Item = Component>,
        connections: &[Connection],
        has_parameters: bool,
    ) -> Self {
        let (mut elements, mut units) = (Vec::new(), BTreeMap::new());
        let (mut stop, mut step) = (None, None::<f64>);
        for mut part in parts {
            let Element { name, connectors, .. } = &mut part.element;
            let is_wired = |connector: &Connector| {
                let mut wires = connections.iter();
                connector.kind != "input" || wires.any(|wire| wire.to == *name && wire.name == connector.name)
            };
            connectors.items.retain(is_wired);
            elements.push(part.element);
            units.extend(part.units);
            stop = stop.or(part.stop_time);
            step = [step, part.step].into_iter().flatten().reduce(f64::min);
        }
        let wires = connections.iter().map(|connection| Wire {
            start_element: connection.from.clone(),
            start_connector: connection.name.clone(),
            end_element: connection.to.clone(),
            end_connector: connection.name.clone(),
        });
        Self {
            ssd: "http://ssp-standard.org/SSP1/SystemStructureDescription",
            ssc: "http://ssp-standard.org/SSP1/SystemStructureCommon",
            version: "1.0",
            name: name.to_owned(),
            tool: concat!("grapple ", env!("CARGO_PKG_VERSION")),
            system: System {
                name: name.to_owned(),
                bindings: List {
                    items: has_parameters
                        .then_some(Binding {
                            source: ParameterSet::SOURCE,
                        })
                        .into_iter()
                        .collect(),
                },
                elements: List { items: elements },
                connections: List { items: wires.collect() },
            },
            units: List {
                items: units.into_iter().map(|(name, base)| Unit { name, base }).collect(),
            },
            experiment: Experiment { start: 0.0, stop },
            step,
        }
    }

    /// Returns the shortest step that a part requests, s.
    pub fn step(&self) -> Option<f64> {
        self.step
    }
}

/// Returns the text of a file.
///
/// # Errors
/// None for valid names and numbers.
pub fn xml(of: &impl Serialize) -> Result<String> {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let mut serializer = quick_xml::se::Serializer::new(&mut xml);
    serializer.indent(' ', 2);
    of.serialize(serializer).other()?;
    Ok(xml + "\n")
}
