//! The root element and its direct children (§2.2.1, §2.2.4 – §2.2.6).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::xml::{annotation, list, number};
use crate::{CoSimulation, Kind, ModelExchange, ModelStructure, ScalarVariable, SimpleType, TypeKind, Unit};

/// `fmiModelDescription`: the static information of an FMU (§2.2.1).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelDescription {
    /// Version of the standard.
    #[serde(rename = "@fmiVersion")]
    pub fmi_version: FmiVersion,
    /// Name of the model in the exporting tool.
    #[serde(rename = "@modelName")]
    pub model_name: String,
    /// Fingerprint that the binary compares with its own when it is instantiated; in FMI 3.0 the
    /// attribute is called `instantiationToken`.
    #[serde(rename = "@guid")]
    pub guid: String,
    /// One-line description of the model.
    #[serde(rename = "@description", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Name and organisation of the author.
    #[serde(rename = "@author", skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Version of the model, not of the tool.
    #[serde(rename = "@version", skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Copyright holder.
    #[serde(rename = "@copyright", skip_serializing_if = "Option::is_none")]
    pub copyright: Option<String>,
    /// The licence of the model.
    #[serde(rename = "@license", skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// The exporting tool.
    #[serde(rename = "@generationTool", skip_serializing_if = "Option::is_none")]
    pub generation_tool: Option<String>,
    /// Date and time of generation, `YYYY-MM-DDThh:mm:ssZ`.
    #[serde(rename = "@generationDateAndTime", skip_serializing_if = "Option::is_none")]
    pub generation_date_and_time: Option<String>,
    /// Naming convention of the variables.
    #[serde(rename = "@variableNamingConvention", default)]
    pub variable_naming_convention: NamingConvention,
    /// Number of event indicators for Model Exchange; ignored by Co-Simulation. FMI 3.0 has no such
    /// attribute: the number is that of [`ModelStructure::event_indicators`].
    #[serde(rename = "@numberOfEventIndicators", skip_serializing_if = "Option::is_none")]
    pub number_of_event_indicators: Option<u32>,

    /// Present if the FMU supports Model Exchange.
    #[serde(rename = "ModelExchange", skip_serializing_if = "Option::is_none")]
    pub model_exchange: Option<ModelExchange>,
    /// Present if the FMU supports Co-Simulation.
    #[serde(rename = "CoSimulation", skip_serializing_if = "Option::is_none")]
    pub co_simulation: Option<CoSimulation>,
    /// Units referred to by types and variables.
    #[serde(
        rename = "UnitDefinitions",
        with = "list::units",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    pub unit_definitions: Vec<Unit>,
    /// Types referred to by variables.
    #[serde(
        rename = "TypeDefinitions",
        with = "list::simple_types",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    pub type_definitions: Vec<SimpleType>,
    /// Log categories for `fmi2SetDebugLogging`.
    #[serde(
        rename = "LogCategories",
        with = "list::categories",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    pub log_categories: Vec<Category>,
    /// Default settings of a simulation.
    #[serde(rename = "DefaultExperiment", skip_serializing_if = "Option::is_none")]
    pub default_experiment: Option<DefaultExperiment>,
    /// Annotations of tools.
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
    /// Returns the variable with this index, counted from 1; `None` for 0 and beyond the last.
    pub fn variable(&self, index: u32) -> Option<&ScalarVariable> {
        let place = usize::try_from(index.checked_sub(1)?).ok()?;
        self.model_variables.get(place)
    }

    /// Returns the variables with their indexes, counted from 1.
    pub fn indexed_variables(&self) -> impl Iterator<Item = (u32, &ScalarVariable)> {
        (1..).zip(&self.model_variables)
    }

    /// Returns the indexes of the continuous-time states, in the order of
    /// `fmi2GetContinuousStates`, which is that of `Derivatives` (§2.2.8). A derivative without
    /// reference to its state is skipped.
    pub fn continuous_states(&self) -> impl Iterator<Item = u32> {
        let derivatives = self.model_structure.derivatives.iter();
        derivatives.filter_map(|unknown| self.variable(unknown.index)?.derivative())
    }

    /// Returns the required indexes of `InitialUnknowns`, ascending: every output that is not
    /// exact, every calculated parameter, every continuous-time state and derivative that is not
    /// exact (§2.2.8).
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

    /// Returns the unit of a variable: its own, or that of its declared type; `None` for a variable
    /// without unit or with another base type than Real (§2.2.7).
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

    /// Returns the type that a variable refers to as `declaredType`, if it exists.
    pub fn declared_type(&self, variable: &ScalarVariable) -> Option<&SimpleType> {
        let name = variable.kind.declared_type()?;
        self.type_definitions.iter().find(|t| t.name == name)
    }
}

/// The version of the standard, which is that of the XML. FMI 2.0.1 to 2.0.5 all write `2.0`
/// (§2.2.1), maintenance releases of FMI 3.0 write `3.0`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FmiVersion {
    /// FMI 2.0 and its maintenance releases.
    #[default]
    #[serde(rename = "2.0")]
    V2_0,
    /// FMI 3.0 and its maintenance releases.
    #[serde(rename = "3.0", alias = "3.0.1", alias = "3.0.2")]
    V3_0,
}

impl FmiVersion {
    /// Returns the name of the standard: `FMI 2.0`, `FMI 3.0`.
    pub fn name(self) -> &'static str {
        match self {
            FmiVersion::V2_0 => "FMI 2.0",
            FmiVersion::V3_0 => "FMI 3.0",
        }
    }
}

/// Naming convention of variables (§2.2.9).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NamingConvention {
    /// Any string without tab and line break.
    #[default]
    Flat,
    /// Hierarchical names with `.`, array elements `[i,j]` and `der(…)`.
    Structured,
}

/// A log category (§2.2.4).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Category {
    /// Name of the category in `fmi2SetDebugLogging`.
    #[serde(rename = "@name")]
    pub name: String,
    /// Description of its messages.
    #[serde(rename = "@description", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Default settings of a simulation (§2.2.5). Times are in the unit of the independent variable, by
/// default seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DefaultExperiment {
    /// Start time.
    #[serde(
        rename = "@startTime",
        serialize_with = "number::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub start_time: Option<f64>,
    /// Stop time.
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

/// Annotation of one tool, ignored by others (§2.2.6).
///
/// The standard allows any single element inside; this crate writes `<Values key="value" …/>`
/// and reads only that. Elements of other tools are skipped. The checker VDMCheck rejects an element
/// that is called `Annotation`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Name of the tool.
    #[serde(rename = "@name")]
    pub name: String,
    /// Keys, which must be XML names, and values.
    #[serde(
        rename = "Values",
        with = "annotation",
        default,
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub annotation: BTreeMap<String, String>,
}
