//! Attributes of the base types (§2.2.7).

use serde::{Deserialize, Serialize};

use crate::xml::{is_false, number};

/// Attributes of a real variable.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Real {
    /// Name of a [`SimpleType`](crate::SimpleType) with the defaults of absent attributes.
    #[serde(rename = "@declaredType", skip_serializing_if = "Option::is_none")]
    pub declared_type: Option<String>,
    /// Physical quantity, such as `Angle`; the names are not standardized.
    #[serde(rename = "@quantity", skip_serializing_if = "Option::is_none")]
    pub quantity: Option<String>,
    /// Name of a [`Unit`](crate::Unit).
    #[serde(rename = "@unit", skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Name of a [`DisplayUnit`](crate::DisplayUnit) of that unit.
    #[serde(rename = "@displayUnit", skip_serializing_if = "Option::is_none")]
    pub display_unit: Option<String>,
    /// True for a difference, to which offsets of units do not apply.
    #[serde(rename = "@relativeQuantity", skip_serializing_if = "is_false")]
    pub relative_quantity: bool,
    /// Least value the FMU is designed for.
    #[serde(
        rename = "@min",
        serialize_with = "number::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub min: Option<f64>,
    /// Greatest value the FMU is designed for.
    #[serde(
        rename = "@max",
        serialize_with = "number::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub max: Option<f64>,
    /// Typical magnitude, above zero; 1 if absent.
    #[serde(
        rename = "@nominal",
        serialize_with = "number::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub nominal: Option<f64>,
    /// True if the variable may grow far beyond its nominal value.
    #[serde(rename = "@unbounded", skip_serializing_if = "is_false")]
    pub unbounded: bool,
    /// Initial value or guess.
    #[serde(
        rename = "@start",
        serialize_with = "number::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub start: Option<f64>,
    /// Start values of all elements of an array, the first of which is `start`; empty for a scalar. FMI
    /// 3.0 only.
    #[serde(skip)]
    pub starts: Vec<f64>,
    /// Index, counted from 1, of the variable whose time derivative this is.
    #[serde(rename = "@derivative", skip_serializing_if = "Option::is_none")]
    pub derivative: Option<u32>,
    /// True for a continuous-time state that may jump at events (Model Exchange only).
    #[serde(rename = "@reinit", skip_serializing_if = "is_false")]
    pub reinit: bool,
}

/// Attributes of an integer variable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Integer {
    /// Name of a [`SimpleType`](crate::SimpleType) with the defaults of absent attributes.
    #[serde(rename = "@declaredType", skip_serializing_if = "Option::is_none")]
    pub declared_type: Option<String>,
    /// Physical quantity; the names are not standardized.
    #[serde(rename = "@quantity", skip_serializing_if = "Option::is_none")]
    pub quantity: Option<String>,
    /// Least value the FMU is designed for.
    #[serde(rename = "@min", skip_serializing_if = "Option::is_none")]
    pub min: Option<i32>,
    /// Greatest value the FMU is designed for.
    #[serde(rename = "@max", skip_serializing_if = "Option::is_none")]
    pub max: Option<i32>,
    /// Initial value or guess.
    #[serde(rename = "@start", skip_serializing_if = "Option::is_none")]
    pub start: Option<i32>,
}

/// Attributes of a Boolean variable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Boolean {
    /// Name of a [`SimpleType`](crate::SimpleType).
    #[serde(rename = "@declaredType", skip_serializing_if = "Option::is_none")]
    pub declared_type: Option<String>,
    /// Initial value or guess.
    #[serde(rename = "@start", skip_serializing_if = "Option::is_none")]
    pub start: Option<bool>,
}

/// Attributes of a string variable, FMI's element `String`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Text {
    /// Name of a [`SimpleType`](crate::SimpleType).
    #[serde(rename = "@declaredType", skip_serializing_if = "Option::is_none")]
    pub declared_type: Option<String>,
    /// Initial value.
    #[serde(rename = "@start", skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
}

/// Attributes of an enumeration variable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enumeration {
    /// Name of the [`SimpleType`](crate::SimpleType) with the items.
    #[serde(rename = "@declaredType")]
    pub declared_type: String,
    /// Physical quantity; the names are not standardized.
    #[serde(rename = "@quantity", skip_serializing_if = "Option::is_none")]
    pub quantity: Option<String>,
    /// Least value the FMU is designed for.
    #[serde(rename = "@min", skip_serializing_if = "Option::is_none")]
    pub min: Option<i32>,
    /// Greatest value the FMU is designed for.
    #[serde(rename = "@max", skip_serializing_if = "Option::is_none")]
    pub max: Option<i32>,
    /// Initial value or guess, the value of an item.
    #[serde(rename = "@start", skip_serializing_if = "Option::is_none")]
    pub start: Option<i32>,
}
