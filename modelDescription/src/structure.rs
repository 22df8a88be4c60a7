//! Unknowns and their dependencies (§2.2.8).

use serde::{Deserialize, Serialize};

use crate::xml::list;

/// `ModelStructure`: ordered lists of unknowns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelStructure {
    /// All variables with causality output, in the order of `y` in a linearisation.
    #[serde(rename = "Outputs", with = "list::unknowns", skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Unknown>,
    /// All state derivatives, in the order of `fmi2GetDerivatives`; they also define the states.
    #[serde(
        rename = "Derivatives",
        with = "list::unknowns",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub derivatives: Vec<Unknown>,
    /// Variables computed in Initialization Mode, ascending; see
    /// [`expected_initial_unknowns`](crate::ModelDescription::expected_initial_unknowns).
    #[serde(
        rename = "InitialUnknowns",
        with = "list::unknowns",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub initial_unknowns: Vec<Unknown>,
    /// Variables that are event indicators, in the order of `fmi3GetEventIndicators`; FMI 3.0 only.
    #[serde(skip)]
    pub event_indicators: Vec<Unknown>,
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
    /// variable, in FMI 3.0 also parameters; knowns of initial unknowns are inputs, exact variables,
    /// and the independent variable.
    #[serde(rename = "@dependencies", skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Vec<u32>>,
    /// Kind of each dependency; of the same length as `dependencies`.
    #[serde(rename = "@dependenciesKind", skip_serializing_if = "Option::is_none")]
    pub dependencies_kind: Option<Vec<DependencyKind>>,
}

impl Unknown {
    /// Creates an unknown without a list of dependencies, so that it may depend on every known.
    pub fn of(index: u32) -> Self {
        Unknown {
            index,
            ..Unknown::default()
        }
    }

    /// Creates an unknown that depends on these knowns only; the indexes are sorted and duplicates
    /// removed.
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

/// Kind of the dependency of an unknown on a known. All kinds but `Dependent` require a Real
/// unknown; initial unknowns may have `Dependent` and `Constant` only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DependencyKind {
    /// Any dependency, possibly nonlinear.
    Dependent,
    /// The known times a constant factor.
    Constant,
    /// The known times a factor that is fixed after initialisation.
    Fixed,
    /// The known times a factor that changes only with tunable parameters.
    Tunable,
    /// The known times a factor that changes only at events.
    Discrete,
}
