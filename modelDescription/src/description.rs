//! The root element and what hangs on it directly (§2.2.1, §2.2.4 – §2.2.6).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::xml::{annotation, list, number};
use crate::{CoSimulation, Kind, ModelExchange, ModelStructure, ScalarVariable, SimpleType, TypeKind, Unit};

/// `fmiModelDescription`: all that is known of an FMU before it is loaded (§2.2.1).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelDescription {
    /// The standard this file follows.
    #[serde(rename = "@fmiVersion")]
    pub fmi_version: FmiVersion,
    /// Name of the model in the tool that made it.
    #[serde(rename = "@modelName")]
    pub model_name: String,
    /// Fingerprint that the binary compares with its own at `fmi2Instantiate`.
    #[serde(rename = "@guid")]
    pub guid: String,
    /// What the model is, in a line.
    #[serde(rename = "@description", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Name and organisation of the author.
    #[serde(rename = "@author", skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Version of the model, not of the tool.
    #[serde(rename = "@version", skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Who holds the copyright.
    #[serde(rename = "@copyright", skip_serializing_if = "Option::is_none")]
    pub copyright: Option<String>,
    /// The licence of the model.
    #[serde(rename = "@license", skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// The tool that wrote this file.
    #[serde(rename = "@generationTool", skip_serializing_if = "Option::is_none")]
    pub generation_tool: Option<String>,
    /// When it was written, as `YYYY-MM-DDThh:mm:ssZ`.
    #[serde(rename = "@generationDateAndTime", skip_serializing_if = "Option::is_none")]
    pub generation_date_and_time: Option<String>,
    /// How the names of the variables are built.
    #[serde(rename = "@variableNamingConvention", default)]
    pub variable_naming_convention: NamingConvention,
    /// How many event indicators Model Exchange has; Co-Simulation ignores it.
    #[serde(rename = "@numberOfEventIndicators", skip_serializing_if = "Option::is_none")]
    pub number_of_event_indicators: Option<u32>,

    /// Present if the FMU can be used for Model Exchange.
    #[serde(rename = "ModelExchange", skip_serializing_if = "Option::is_none")]
    pub model_exchange: Option<ModelExchange>,
    /// Present if the FMU can be used for Co-Simulation.
    #[serde(rename = "CoSimulation", skip_serializing_if = "Option::is_none")]
    pub co_simulation: Option<CoSimulation>,
    /// The units that types and variables refer to.
    #[serde(
        rename = "UnitDefinitions",
        with = "list::units",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    pub unit_definitions: Vec<Unit>,
    /// The types that variables refer to.
    #[serde(
        rename = "TypeDefinitions",
        with = "list::simple_types",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    pub type_definitions: Vec<SimpleType>,
    /// The categories `fmi2SetDebugLogging` knows.
    #[serde(
        rename = "LogCategories",
        with = "list::categories",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    pub log_categories: Vec<Category>,
    /// What to simulate when the user has not said.
    #[serde(rename = "DefaultExperiment", skip_serializing_if = "Option::is_none")]
    pub default_experiment: Option<DefaultExperiment>,
    /// What only certain tools understand.
    #[serde(
        rename = "VendorAnnotations",
        with = "list::tools",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    pub vendor_annotations: Vec<Tool>,
    /// The variables; the first has index 1.
    #[serde(rename = "ModelVariables", with = "list::variables")]
    pub model_variables: Vec<ScalarVariable>,
    /// Outputs, derivatives, initial unknowns.
    #[serde(rename = "ModelStructure")]
    pub model_structure: ModelStructure,
}

impl ModelDescription {
    /// The variable with this index, counted from 1; `None` for 0 and beyond the last.
    pub fn variable(&self, index: u32) -> Option<&ScalarVariable> {
        let place = usize::try_from(index.checked_sub(1)?).ok()?;
        self.model_variables.get(place)
    }

    /// The variables with their indexes, counted from 1.
    pub fn indexed_variables(&self) -> impl Iterator<Item = (u32, &ScalarVariable)> {
        (1..).zip(&self.model_variables)
    }

    /// The indexes of the continuous-time states, in the order of `fmi2GetContinuousStates`: that
    /// of `Derivatives` (§2.2.8). A derivative that does not say whose it is contributes nothing.
    pub fn continuous_states(&self) -> impl Iterator<Item = u32> {
        let derivatives = self.model_structure.derivatives.iter();
        derivatives.filter_map(|unknown| self.variable(unknown.index)?.derivative())
    }

    /// The indexes `InitialUnknowns` must hold, ascending: every output that is not exact, every
    /// calculated parameter, every continuous-time state and derivative that is not exact (§2.2.8).
    pub fn expected_initial_unknowns(&self) -> Vec<u32> {
        use crate::Causality::{CalculatedParameter, Output};
        let mut indexes: Vec<u32> = self
            .indexed_variables()
            .filter(|(_, v)| match v.causality {
                Output => v.is_initial_unknown(),
                CalculatedParameter => true,
                _ => false,
            })
            .map(|(index, _)| index)
            .collect();
        let derivatives = self.model_structure.derivatives.iter().map(|d| d.index);
        let dynamic = self.continuous_states().chain(derivatives);
        indexes.extend(dynamic.filter(|&index| self.variable(index).is_some_and(ScalarVariable::is_initial_unknown)));
        indexes.sort_unstable();
        indexes.dedup();
        indexes
    }

    /// The unit of a variable: its own, else that of its declared type; `None` for a variable
    /// without unit or that is no Real (§2.2.7).
    pub fn unit_of<'a>(&'a self, variable: &'a ScalarVariable) -> Option<&'a str> {
        let Kind::Real(real) = &variable.kind else {
            return None;
        };
        let declared = || match &self.declared_type(variable)?.kind {
            TypeKind::Real(real) => real.unit.as_deref(),
            _ => None,
        };
        real.unit.as_deref().or_else(declared)
    }

    /// The type a variable names as `declaredType`, if it does and the type exists.
    pub fn declared_type(&self, variable: &ScalarVariable) -> Option<&SimpleType> {
        let name = variable.kind.declared_type()?;
        self.type_definitions.iter().find(|t| t.name == name)
    }
}

/// The version of the standard. FMI 2.0.1 to 2.0.5 all write `2.0` (§2.2.1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FmiVersion {
    /// FMI 2.0 and its maintenance releases.
    #[default]
    #[serde(rename = "2.0")]
    V2_0,
}

/// How names of variables are built (§2.2.9).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NamingConvention {
    /// Any string without tab and line break.
    #[default]
    Flat,
    /// A hierarchy with `.`, array elements `[i,j]` and `der(…)`.
    Structured,
}

/// A log category (§2.2.4).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Category {
    /// What `fmi2SetDebugLogging` is called with.
    #[serde(rename = "@name")]
    pub name: String,
    /// What is logged under it.
    #[serde(rename = "@description", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// What to simulate when the user has not said (§2.2.5). Times are in the unit of the independent
/// variable, seconds unless the model says otherwise.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DefaultExperiment {
    /// Where to start.
    #[serde(
        rename = "@startTime",
        serialize_with = "number::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub start_time: Option<f64>,
    /// Where to stop.
    #[serde(
        rename = "@stopTime",
        serialize_with = "number::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub stop_time: Option<f64>,
    /// Relative tolerance of the integration.
    #[serde(
        rename = "@tolerance",
        serialize_with = "number::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub tolerance: Option<f64>,
    /// Step of fixed-step integrators, or the preferred communication step.
    #[serde(
        rename = "@stepSize",
        serialize_with = "number::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub step_size: Option<f64>,
}

/// What one tool may know about the FMU and others ignore (§2.2.6).
///
/// The standard allows any one element inside; this crate writes `<Annotation key="value" …/>` and
/// reads back only that. What other tools write is skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Name of the tool that understands it.
    #[serde(rename = "@name")]
    pub name: String,
    /// Keys, which must be XML names, and values.
    #[serde(
        rename = "Annotation",
        with = "annotation",
        default,
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub annotation: BTreeMap<String, String>,
}
