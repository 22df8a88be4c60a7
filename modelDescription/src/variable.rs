//! Variables (§2.2.7).

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::legal_initials;
use crate::xml::only_known;
use crate::{Boolean, Enumeration, Integer, Real, Text};

/// One variable of the FMU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ScalarVariable {
    /// Name, unique in the FMU.
    #[serde(rename = "@name")]
    pub name: String,
    /// Handle of the C functions; variables of one base type with the same handle are aliases.
    #[serde(rename = "@valueReference")]
    pub value_reference: u32,
    /// Description.
    #[serde(rename = "@description", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Causality.
    #[serde(rename = "@causality", default)]
    pub causality: Causality,
    /// Variability.
    #[serde(rename = "@variability", default)]
    pub variability: Variability,
    /// Type of initialisation; `None` means the default of [`legal_initials`].
    #[serde(rename = "@initial", skip_serializing_if = "Option::is_none")]
    pub initial: Option<Initial>,
    /// For an input, true if it may be set more than once per instant (Model Exchange only).
    #[serde(
        rename = "@canHandleMultipleSetPerTimeInstant",
        skip_serializing_if = "Option::is_none"
    )]
    pub can_handle_multiple_set_per_time_instant: Option<bool>,
    /// Number of elements along each dimension of an array; empty for a scalar. FMI 3.0 only.
    #[serde(skip)]
    pub dimensions: Vec<u32>,
    /// True if the variable can be read, or an input set, during a step in Co-Simulation; FMI 3.0 only.
    #[serde(skip)]
    pub intermediate_update: bool,
    /// The base type and its attributes.
    #[serde(rename = "$value", deserialize_with = "Kind::read")]
    pub kind: Kind,
}

impl ScalarVariable {
    /// Returns the type of initialisation: the given one, or the default for causality and
    /// variability. `None` for inputs, the independent variable, and illegal combinations.
    pub fn effective_initial(&self) -> Option<Initial> {
        let default = || legal_initials(self.causality, self.variability)?.first().copied();
        self.initial.or_else(default)
    }

    /// Returns true if the variable is computed in Initialization Mode.
    pub fn is_initial_unknown(&self) -> bool {
        matches!(self.effective_initial(), Some(Initial::Approx | Initial::Calculated))
    }

    /// Returns true if a start value is required; otherwise it is not allowed (§2.2.7).
    pub fn needs_start(&self) -> bool {
        self.causality == Causality::Input || matches!(self.effective_initial(), Some(Initial::Exact | Initial::Approx))
    }

    /// Returns the number of elements; 1 for a scalar.
    pub fn elements(&self) -> u64 {
        let sizes = self.dimensions.iter().map(|&n| u64::from(n));
        sizes.fold(1, u64::saturating_mul)
    }

    /// Returns the index of the variable whose derivative this is.
    pub fn derivative(&self) -> Option<u32> {
        match &self.kind {
            Kind::Real(real) => real.derivative,
            _ => None,
        }
    }
}

/// Causality of a variable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Causality {
    /// Set by the environment, constant during the simulation.
    Parameter,
    /// Constant during the simulation, computed from parameters.
    CalculatedParameter,
    /// Set by the environment at any time.
    Input,
    /// Computed by the FMU, available to the environment.
    Output,
    /// Computed by the FMU, for internal use.
    #[default]
    Local,
    /// The independent variable, usually time.
    Independent,
}

/// Variability of a variable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Variability {
    /// Never changes.
    Constant,
    /// Constant after initialisation.
    Fixed,
    /// Changes with a tunable parameter.
    Tunable,
    /// Changes at events.
    Discrete,
    /// Changes at any time; Real variables only. The schema's default, illegal for other types.
    #[default]
    Continuous,
}

/// Type of initialisation of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Initial {
    /// Initialised by its start value.
    Exact,
    /// Initialised by iteration from its start value.
    Approx,
    /// Computed from other variables.
    Calculated,
}

impl fmt::Display for Causality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl fmt::Display for Variability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl fmt::Display for Initial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The base type of a variable, with its attributes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs)] // the five names are FMI's own
pub enum Kind {
    Real(Real),
    Integer(Integer),
    Boolean(Boolean),
    String(Text),
    Enumeration(Enumeration),
}

impl Default for Kind {
    fn default() -> Self {
        Kind::Real(Real::default())
    }
}

impl Kind {
    /// Returns FMI's name of the base type.
    pub fn base_type(&self) -> &'static str {
        match self {
            Kind::Real(_) => "Real",
            Kind::Integer(_) => "Integer",
            Kind::Boolean(_) => "Boolean",
            Kind::String(_) => "String",
            Kind::Enumeration(_) => "Enumeration",
        }
    }

    /// Returns the name of the declared type.
    pub fn declared_type(&self) -> Option<&str> {
        match self {
            Kind::Real(v) => v.declared_type.as_deref(),
            Kind::Integer(v) => v.declared_type.as_deref(),
            Kind::Boolean(v) => v.declared_type.as_deref(),
            Kind::String(v) => v.declared_type.as_deref(),
            Kind::Enumeration(v) => Some(&v.declared_type),
        }
    }

    /// Returns true if it has a start value.
    pub fn has_start(&self) -> bool {
        match self {
            Kind::Real(v) => v.start.is_some(),
            Kind::Integer(v) => v.start.is_some(),
            Kind::Boolean(v) => v.start.is_some(),
            Kind::String(v) => v.start.is_some(),
            Kind::Enumeration(v) => v.start.is_some(),
        }
    }

    /// Reads the element of the base type; others, such as `Annotations`, are skipped.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        enum Element {
            Real(Real),
            Integer(Integer),
            Boolean(Boolean),
            String(Text),
            Enumeration(Enumeration),
            #[serde(other)]
            Unknown,
        }
        only_known(deserializer, |element| match element {
            Element::Real(v) => Some(Kind::Real(v)),
            Element::Integer(v) => Some(Kind::Integer(v)),
            Element::Boolean(v) => Some(Kind::Boolean(v)),
            Element::String(v) => Some(Kind::String(v)),
            Element::Enumeration(v) => Some(Kind::Enumeration(v)),
            Element::Unknown => None,
        })
    }
}
