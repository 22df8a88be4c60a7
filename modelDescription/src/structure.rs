//! Which variables are unknowns, and what each depends on (§2.2.8).

use serde::{Deserialize, Serialize};

use crate::xml::list;

/// `ModelStructure`: three ordered lists of unknowns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelStructure {
    /// Every variable with causality output, in the order of a linearised `y`.
    #[serde(rename = "Outputs", with = "list::unknowns", skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Unknown>,
    /// Every state derivative, in the order of `fmi2GetDerivatives`; it names the states too.
    #[serde(
        rename = "Derivatives",
        with = "list::unknowns",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub derivatives: Vec<Unknown>,
    /// What is computed in Initialization Mode, ascending; see
    /// [`expected_initial_unknowns`](crate::ModelDescription::expected_initial_unknowns).
    #[serde(
        rename = "InitialUnknowns",
        with = "list::unknowns",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub initial_unknowns: Vec<Unknown>,
}

/// A variable that the FMU computes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unknown {
    /// Index of the variable, counted from 1.
    #[serde(rename = "@index")]
    pub index: u32,
    /// Indexes of the knowns it depends on, ascending. `None`: it may depend on all of them;
    /// `Some([])`: it depends on none.
    ///
    /// Knowns of outputs and derivatives are inputs, continuous-time states and the independent
    /// variable; knowns of initial unknowns are inputs, what is exact, and the independent variable.
    #[serde(rename = "@dependencies", skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Vec<u32>>,
    /// How each of the dependencies enters; as long as `dependencies`.
    #[serde(rename = "@dependenciesKind", skip_serializing_if = "Option::is_none")]
    pub dependencies_kind: Option<Vec<DependencyKind>>,
}

impl Unknown {
    /// An unknown of which only the index is said: it may depend on every known.
    pub fn of(index: u32) -> Self {
        Unknown {
            index,
            ..Unknown::default()
        }
    }

    /// An unknown and all it depends on; the indexes are sorted and doubles left out.
    pub fn depending_on(index: u32, dependencies: impl IntoIterator<Item = u32>) -> Self {
        let mut dependencies: Vec<u32> = dependencies.into_iter().collect();
        dependencies.sort_unstable();
        dependencies.dedup();
        Unknown {
            index,
            dependencies: Some(dependencies),
            dependencies_kind: None,
        }
    }
}

/// How a known enters the equation of an unknown. All but the first need a Real unknown; the last
/// three are not for initial unknowns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DependencyKind {
    /// In no particular way.
    Dependent,
    /// With a constant factor.
    Constant,
    /// With a factor fixed when initialisation ends.
    Fixed,
    /// With a factor that changes only with tunable parameters.
    Tunable,
    /// With a factor that changes only at events.
    Discrete,
}
