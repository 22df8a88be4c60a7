//! Units (§2.2.2).

use serde::{Deserialize, Serialize};

use crate::xml::{is_zero, number};

/// A unit, referred to by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Unit {
    /// Name of the unit, such as `N.m`.
    #[serde(rename = "@name")]
    pub name: String,
    /// The unit in SI base units; required for conversions.
    #[serde(rename = "BaseUnit", skip_serializing_if = "Option::is_none")]
    pub base_unit: Option<BaseUnit>,
    /// Display units.
    #[serde(rename = "DisplayUnit", default, skip_serializing_if = "Vec::is_empty")]
    pub display_units: Vec<DisplayUnit>,
}

/// A unit as a product of powers of the seven SI base units and the radian:
///
/// ```text
///     value in kgᵃ mᵇ sᶜ …  =  factor · value in the unit + offset
/// ```
///
/// The offset does not apply to a `relativeQuantity`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BaseUnit {
    /// Power of the kilogram.
    #[serde(rename = "@kg", skip_serializing_if = "is_zero")]
    pub kg: i32,
    /// Power of the metre.
    #[serde(rename = "@m", skip_serializing_if = "is_zero")]
    pub m: i32,
    /// Power of the second.
    #[serde(rename = "@s", skip_serializing_if = "is_zero")]
    pub s: i32,
    /// Power of the ampere.
    #[serde(rename = "@A", skip_serializing_if = "is_zero")]
    pub a: i32,
    /// Power of the kelvin.
    #[serde(rename = "@K", skip_serializing_if = "is_zero")]
    pub k: i32,
    /// Power of the mole.
    #[serde(rename = "@mol", skip_serializing_if = "is_zero")]
    pub mol: i32,
    /// Power of the candela.
    #[serde(rename = "@cd", skip_serializing_if = "is_zero")]
    pub cd: i32,
    /// Power of the radian.
    #[serde(rename = "@rad", skip_serializing_if = "is_zero")]
    pub rad: i32,
    /// Factor to the base unit.
    #[serde(
        rename = "@factor",
        serialize_with = "number::plain",
        skip_serializing_if = "number::is_one"
    )]
    pub factor: f64,
    /// Offset to the base unit.
    #[serde(
        rename = "@offset",
        serialize_with = "number::plain",
        skip_serializing_if = "number::is_zero"
    )]
    pub offset: f64,
}

impl Default for BaseUnit {
    /// Returns the dimensionless unit with factor 1.
    fn default() -> Self {
        BaseUnit {
            kg: 0,
            m: 0,
            s: 0,
            a: 0,
            k: 0,
            mol: 0,
            cd: 0,
            rad: 0,
            factor: 1.0,
            offset: 0.0,
        }
    }
}

/// A display unit:
///
/// ```text
///     displayed value  =  factor · value in the unit + offset
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DisplayUnit {
    /// Name of the display unit, such as `deg`.
    #[serde(rename = "@name")]
    pub name: String,
    /// Factor from the unit.
    #[serde(
        rename = "@factor",
        default = "number::one",
        serialize_with = "number::plain",
        skip_serializing_if = "number::is_one"
    )]
    pub factor: f64,
    /// Offset from the unit.
    #[serde(
        rename = "@offset",
        default,
        serialize_with = "number::plain",
        skip_serializing_if = "number::is_zero"
    )]
    pub offset: f64,
}

impl Default for DisplayUnit {
    /// Returns a display unit with factor 1 and without a name.
    fn default() -> Self {
        DisplayUnit {
            name: String::new(),
            factor: 1.0,
            offset: 0.0,
        }
    }
}
