//! Types shared by variables (§2.2.3).

use serde::{Deserialize, Deserializer, Serialize};

use crate::xml::{is_false, number, only_known};

/// A named set of attributes: the defaults for variables that refer to it as `declaredType`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SimpleType {
    /// Name, different from those of other types and variables.
    #[serde(rename = "@name")]
    pub name: String,
    /// Description.
    #[serde(rename = "@description", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The base type and its attributes.
    #[serde(rename = "$value", deserialize_with = "TypeKind::read")]
    pub kind: TypeKind,
}

/// The base type of a [`SimpleType`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs)] // the five names are FMI's own
pub enum TypeKind {
    Real(RealType),
    Integer(IntegerType),
    Boolean,
    String,
    Enumeration(EnumerationType),
}

impl Default for TypeKind {
    fn default() -> Self {
        TypeKind::Real(RealType::default())
    }
}

impl TypeKind {
    /// Returns FMI's name of the base type.
    pub fn base_type(&self) -> &'static str {
        match self {
            TypeKind::Real(_) => "Real",
            TypeKind::Integer(_) => "Integer",
            TypeKind::Boolean => "Boolean",
            TypeKind::String => "String",
            TypeKind::Enumeration(_) => "Enumeration",
        }
    }

    /// Reads the element of the base type; other elements are skipped.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        enum Element {
            Real(RealType),
            Integer(IntegerType),
            Boolean,
            String,
            Enumeration(EnumerationType),
            #[serde(other)]
            Unknown,
        }
        only_known(deserializer, |element| match element {
            Element::Real(real) => Some(TypeKind::Real(real)),
            Element::Integer(integer) => Some(TypeKind::Integer(integer)),
            Element::Boolean => Some(TypeKind::Boolean),
            Element::String => Some(TypeKind::String),
            Element::Enumeration(enumeration) => Some(TypeKind::Enumeration(enumeration)),
            Element::Unknown => None,
        })
    }
}

/// Attributes of a real type, as in [`Real`](crate::Real).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RealType {
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
    /// Typical magnitude, above zero.
    #[serde(
        rename = "@nominal",
        serialize_with = "number::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub nominal: Option<f64>,
    /// True if the variable may grow far beyond its nominal value.
    #[serde(rename = "@unbounded", skip_serializing_if = "is_false")]
    pub unbounded: bool,
}

/// Attributes of an integer type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IntegerType {
    /// Physical quantity; the names are not standardized.
    #[serde(rename = "@quantity", skip_serializing_if = "Option::is_none")]
    pub quantity: Option<String>,
    /// Least value the FMU is designed for.
    #[serde(rename = "@min", skip_serializing_if = "Option::is_none")]
    pub min: Option<i32>,
    /// Greatest value the FMU is designed for.
    #[serde(rename = "@max", skip_serializing_if = "Option::is_none")]
    pub max: Option<i32>,
}

/// A finite set of named values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EnumerationType {
    /// Physical quantity; the names are not standardized.
    #[serde(rename = "@quantity", skip_serializing_if = "Option::is_none")]
    pub quantity: Option<String>,
    /// Items, at least one; names and values are unique.
    #[serde(rename = "Item")]
    pub items: Vec<Item>,
}

/// A value of an enumeration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Name of the value.
    #[serde(rename = "@name")]
    pub name: String,
    /// Integer that `fmi2GetInteger` returns for it.
    #[serde(rename = "@value")]
    pub value: i32,
    /// Description.
    #[serde(rename = "@description", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}
