//! `TypeDefinitions` (§2.4.4): one element for each type.

use serde::{Deserialize, Serialize};

use super::variable::{integer, parsed, real};
use crate::xml::is_false;
use crate::{EnumerationType, Error, IntegerType, Item, RealType, SimpleType, TypeKind};

#[derive(Serialize, Deserialize)]
#[allow(clippy::enum_variant_names)] // the names are those of the elements
pub(super) enum TypeElement {
    Float64Type(Type),
    Int32Type(Type),
    BooleanType(Type),
    StringType(Type),
    EnumerationType(Type),
    #[serde(other, skip_serializing)]
    Other,
}

/// Attributes of all types together.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Type {
    #[serde(rename = "@name")]
    name: String,
    #[serde(rename = "@description", skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(rename = "@quantity", skip_serializing_if = "Option::is_none")]
    quantity: Option<String>,
    #[serde(rename = "@unit", skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    #[serde(rename = "@displayUnit", skip_serializing_if = "Option::is_none")]
    display_unit: Option<String>,
    #[serde(rename = "@relativeQuantity", skip_serializing_if = "is_false")]
    relative_quantity: bool,
    #[serde(rename = "@unbounded", skip_serializing_if = "is_false")]
    unbounded: bool,
    #[serde(rename = "@min", skip_serializing_if = "Option::is_none")]
    min: Option<String>,
    #[serde(rename = "@max", skip_serializing_if = "Option::is_none")]
    max: Option<String>,
    #[serde(rename = "@nominal", skip_serializing_if = "Option::is_none")]
    nominal: Option<String>,
    #[serde(rename = "Item", skip_serializing_if = "Vec::is_empty")]
    items: Vec<Item>,
}

impl TypeElement {
    pub fn of(of: &SimpleType) -> Self {
        let named = Type {
            name: of.name.clone(),
            description: of.description.clone(),
            ..Type::default()
        };
        match &of.kind {
            TypeKind::Real(kind) => Self::Float64Type(Type {
                quantity: kind.quantity.clone(),
                unit: kind.unit.clone(),
                display_unit: kind.display_unit.clone(),
                relative_quantity: kind.relative_quantity,
                unbounded: kind.unbounded,
                min: real(kind.min),
                max: real(kind.max),
                nominal: real(kind.nominal),
                ..named
            }),
            TypeKind::Integer(kind) => Self::Int32Type(Type {
                quantity: kind.quantity.clone(),
                min: integer(kind.min),
                max: integer(kind.max),
                ..named
            }),
            TypeKind::Boolean => Self::BooleanType(named),
            TypeKind::String => Self::StringType(named),
            TypeKind::Enumeration(kind) => Self::EnumerationType(Type {
                quantity: kind.quantity.clone(),
                items: kind.items.clone(),
                ..named
            }),
        }
    }

    /// Returns the type; `None` for one that no supported variable can have.
    pub fn into_type(self) -> Option<Result<SimpleType, Error>> {
        let (kind, of) = match self {
            Self::Float64Type(of) => (of.real(), of),
            Self::Int32Type(of) => (of.integer(), of),
            Self::BooleanType(of) => (Ok(TypeKind::Boolean), of),
            Self::StringType(of) => (Ok(TypeKind::String), of),
            Self::EnumerationType(of) => (Ok(of.enumeration()), of),
            Self::Other => return None,
        };
        Some(kind.map(|kind| SimpleType {
            name: of.name,
            description: of.description,
            kind,
        }))
    }
}

impl Type {
    fn real(&self) -> Result<TypeKind, Error> {
        let number = |attribute, text| parsed("type", &self.name, attribute, text);
        Ok(TypeKind::Real(RealType {
            quantity: self.quantity.clone(),
            unit: self.unit.clone(),
            display_unit: self.display_unit.clone(),
            relative_quantity: self.relative_quantity,
            unbounded: self.unbounded,
            min: number("min", &self.min)?,
            max: number("max", &self.max)?,
            nominal: number("nominal", &self.nominal)?,
        }))
    }

    fn integer(&self) -> Result<TypeKind, Error> {
        let number = |attribute, text| parsed("type", &self.name, attribute, text);
        Ok(TypeKind::Integer(IntegerType {
            quantity: self.quantity.clone(),
            min: number("min", &self.min)?,
            max: number("max", &self.max)?,
        }))
    }

    fn enumeration(&self) -> TypeKind {
        TypeKind::Enumeration(EnumerationType {
            quantity: self.quantity.clone(),
            items: self.items.clone(),
        })
    }
}
