//! The XML of FMI 3.0 (§2.4): the same description in other elements, with value references in place
//! of indexes.

mod interface;
mod structure;
mod types;
mod variable;

use serde::{Deserialize, Serialize};

use super::list;
use crate::{Category, DefaultExperiment, Error, FmiVersion, ModelDescription, NamingConvention, Problem, Tool, Unit};
use interface::{CoSimulation, ModelExchange};
use structure::ModelStructure;
use types::TypeElement;
use variable::VariableElement;

/// `fmiModelDescription` of FMI 3.0.
#[derive(Serialize, Deserialize)]
pub(super) struct Document {
    #[serde(rename = "@fmiVersion")]
    fmi_version: String,
    #[serde(rename = "@modelName")]
    model_name: String,
    #[serde(rename = "@instantiationToken")]
    instantiation_token: String,
    #[serde(rename = "@description", skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(rename = "@author", skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    #[serde(rename = "@version", skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(rename = "@copyright", skip_serializing_if = "Option::is_none")]
    copyright: Option<String>,
    #[serde(rename = "@license", skip_serializing_if = "Option::is_none")]
    license: Option<String>,
    #[serde(rename = "@generationTool", skip_serializing_if = "Option::is_none")]
    generation_tool: Option<String>,
    #[serde(rename = "@generationDateAndTime", skip_serializing_if = "Option::is_none")]
    generation_date_and_time: Option<String>,
    #[serde(rename = "@variableNamingConvention", default)]
    variable_naming_convention: NamingConvention,

    #[serde(rename = "ModelExchange", skip_serializing_if = "Option::is_none")]
    model_exchange: Option<ModelExchange>,
    #[serde(rename = "CoSimulation", skip_serializing_if = "Option::is_none")]
    co_simulation: Option<CoSimulation>,
    #[serde(
        rename = "UnitDefinitions",
        with = "list::units",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    unit_definitions: Vec<Unit>,
    #[serde(rename = "TypeDefinitions", default, skip_serializing_if = "Elements::is_empty")]
    type_definitions: Elements<TypeElement>,
    #[serde(
        rename = "LogCategories",
        with = "list::categories",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    log_categories: Vec<Category>,
    #[serde(rename = "DefaultExperiment", skip_serializing_if = "Option::is_none")]
    default_experiment: Option<DefaultExperiment>,
    #[serde(rename = "ModelVariables")]
    model_variables: Elements<VariableElement>,
    #[serde(rename = "ModelStructure")]
    model_structure: ModelStructure,
    #[serde(
        rename = "Annotations",
        with = "list::annotations",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    annotations: Vec<Annotation>,
}

/// A list of elements whose names are their types.
#[derive(Serialize, Deserialize)]
struct Elements<T> {
    #[serde(rename = "$value", default = "Vec::new")]
    items: Vec<T>,
}

impl<T> Default for Elements<T> {
    fn default() -> Self {
        Self { items: Vec::new() }
    }
}

impl<T> Elements<T> {
    fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// Annotation of one tool; the contents are those of FMI 2.0's `Tool`.
#[derive(Serialize, Deserialize)]
pub(crate) struct Annotation {
    #[serde(rename = "@type")]
    kind: String,
    #[serde(
        rename = "Values",
        with = "super::annotation",
        default,
        skip_serializing_if = "std::collections::BTreeMap::is_empty"
    )]
    values: std::collections::BTreeMap<String, String>,
}

impl Document {
    /// Returns the elements of a description.
    ///
    /// # Errors
    /// An index that is that of no variable.
    pub fn of(of: &ModelDescription) -> Result<Self, Error> {
        let annotation = |tool: &Tool| Annotation {
            kind: tool.name.clone(),
            values: tool.annotation.clone(),
        };
        let variables = of.model_variables.iter();
        Ok(Self {
            fmi_version: "3.0".to_owned(),
            model_name: of.model_name.clone(),
            instantiation_token: of.guid.clone(),
            description: of.description.clone(),
            author: of.author.clone(),
            version: of.version.clone(),
            copyright: of.copyright.clone(),
            license: of.license.clone(),
            generation_tool: of.generation_tool.clone(),
            generation_date_and_time: of.generation_date_and_time.clone(),
            variable_naming_convention: of.variable_naming_convention,
            model_exchange: of.model_exchange.as_ref().map(ModelExchange::of),
            co_simulation: of.co_simulation.as_ref().map(CoSimulation::of),
            unit_definitions: of.unit_definitions.clone(),
            type_definitions: Elements {
                items: of.type_definitions.iter().map(TypeElement::of).collect(),
            },
            log_categories: of.log_categories.clone(),
            default_experiment: of.default_experiment.clone(),
            model_variables: Elements {
                items: variables
                    .map(|v| VariableElement::of(v, of))
                    .collect::<Result<_, _>>()?,
            },
            model_structure: ModelStructure::of(of)?,
            annotations: of.vendor_annotations.iter().map(annotation).collect(),
        })
    }

    /// Returns the description of the elements.
    ///
    /// # Errors
    /// Variables of unsupported types, numbers that cannot be read, references to no variable.
    pub fn into_description(self) -> Result<ModelDescription, Error> {
        let tool = |annotation: Annotation| Tool {
            name: annotation.kind,
            annotation: annotation.values,
        };
        let references = self.model_variables.items.iter();
        let references: Vec<u32> = references.filter_map(VariableElement::value_reference).collect();
        let index = |reference: u32| index(&references, reference);
        let variables = self.model_variables.items.into_iter();
        let variables = variables.map(|element| element.into_variable(index));
        let model_variables = variables.collect::<Result<_, _>>()?;
        let types = self.type_definitions.items.into_iter();
        let model_structure = self.model_structure.into_structure(index)?;
        Ok(ModelDescription {
            fmi_version: FmiVersion::V3_0,
            model_name: self.model_name,
            guid: self.instantiation_token,
            description: self.description,
            author: self.author,
            version: self.version,
            copyright: self.copyright,
            license: self.license,
            generation_tool: self.generation_tool,
            generation_date_and_time: self.generation_date_and_time,
            variable_naming_convention: self.variable_naming_convention,
            number_of_event_indicators: u32::try_from(model_structure.event_indicators.len()).ok(),
            model_exchange: self.model_exchange.map(ModelExchange::into_interface),
            co_simulation: self.co_simulation.map(CoSimulation::into_interface),
            unit_definitions: self.unit_definitions,
            type_definitions: types.filter_map(TypeElement::into_type).collect::<Result<_, _>>()?,
            log_categories: self.log_categories,
            default_experiment: self.default_experiment,
            vendor_annotations: self.annotations.into_iter().map(tool).collect(),
            model_variables,
            model_structure,
        })
    }
}

/// Returns the index, counted from 1, of the variable with a value reference.
fn index(references: &[u32], reference: u32) -> Result<u32, Error> {
    // No search is needed if value references are counted in the order of the variables, and a short
    // one if they are ascending.
    let first = references.first().copied().unwrap_or(0);
    let counted = reference.wrapping_sub(first) as usize;
    let ascending = references.partition_point(|&known| known < reference);
    let guesses = [counted, ascending];
    let guess = guesses
        .into_iter()
        .find(|&guess| references.get(guess) == Some(&reference));
    let place = guess.or_else(|| references.iter().position(|&known| known == reference));
    let index = place.and_then(|place| u32::try_from(place + 1).ok());
    index.ok_or_else(|| unsupported("value reference", &reference.to_string(), "there is no such variable"))
}

/// Returns the value reference of the variable with an index, counted from 1.
fn reference(of: &ModelDescription, index: u32) -> Result<u32, Error> {
    let variable = of.variable(index);
    let none = || unsupported("index", &index.to_string(), "there is no such variable");
    variable.map(|v| v.value_reference).ok_or_else(none)
}

fn unsupported(what: &str, name: &str, message: &str) -> Error {
    Error::Unsupported(Problem {
        place: format!("{what} {name:?}"),
        message: message.to_owned(),
    })
}
