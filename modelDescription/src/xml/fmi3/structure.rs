//! `ModelStructure` (§2.4.8).

use serde::{Deserialize, Serialize};

use super::reference;
use crate::{DependencyKind, Error, ModelDescription};

#[derive(Serialize, Deserialize)]
pub(super) struct ModelStructure {
    #[serde(rename = "Output", default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    outputs: Vec<Unknown>,
    #[serde(
        rename = "ContinuousStateDerivative",
        default = "Vec::new",
        skip_serializing_if = "Vec::is_empty"
    )]
    derivatives: Vec<Unknown>,
    #[serde(
        rename = "InitialUnknown",
        default = "Vec::new",
        skip_serializing_if = "Vec::is_empty"
    )]
    initial_unknowns: Vec<Unknown>,
    #[serde(
        rename = "EventIndicator",
        default = "Vec::new",
        skip_serializing_if = "Vec::is_empty"
    )]
    event_indicators: Vec<Unknown>,
}

#[derive(Serialize, Deserialize)]
struct Unknown {
    #[serde(rename = "@valueReference")]
    value_reference: u32,
    #[serde(rename = "@dependencies", skip_serializing_if = "Option::is_none")]
    dependencies: Option<Vec<u32>>,
    #[serde(rename = "@dependenciesKind", skip_serializing_if = "Option::is_none")]
    dependencies_kind: Option<Vec<DependencyKind>>,
}

impl ModelStructure {
    pub fn of(of: &ModelDescription) -> Result<Self, Error> {
        let dependencies = |indexes: &Vec<u32>| indexes.iter().map(|&index| reference(of, index)).collect();
        let unknown = |unknown: &crate::Unknown| {
            Ok(Unknown {
                value_reference: reference(of, unknown.index)?,
                dependencies: unknown.dependencies.as_ref().map(dependencies).transpose()?,
                dependencies_kind: unknown.dependencies_kind.clone(),
            })
        };
        let list = |unknowns: &[crate::Unknown]| unknowns.iter().map(unknown).collect::<Result<Vec<_>, Error>>();
        let structure = &of.model_structure;
        Ok(Self {
            outputs: list(&structure.outputs)?,
            derivatives: list(&structure.derivatives)?,
            initial_unknowns: list(&structure.initial_unknowns)?,
            event_indicators: list(&structure.event_indicators)?,
        })
    }

    /// Returns the structure; `index` returns the index of a value reference.
    pub fn into_structure(self, index: impl Fn(u32) -> Result<u32, Error>) -> Result<crate::ModelStructure, Error> {
        let unknown = |unknown: Unknown| {
            let dependencies = |references: Vec<u32>| references.into_iter().map(&index).collect();
            Ok(crate::Unknown {
                index: index(unknown.value_reference)?,
                dependencies: unknown.dependencies.map(dependencies).transpose()?,
                dependencies_kind: unknown.dependencies_kind,
            })
        };
        let list = |unknowns: Vec<Unknown>| unknowns.into_iter().map(unknown).collect::<Result<Vec<_>, Error>>();
        Ok(crate::ModelStructure {
            outputs: list(self.outputs)?,
            derivatives: list(self.derivatives)?,
            initial_unknowns: list(self.initial_unknowns)?,
            event_indicators: list(self.event_indicators)?,
        })
    }
}
