//! `ModelVariables` (§2.4.7): one element for each variable, called after its type.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{reference, unsupported};
use crate::xml::{is_false, number};
use crate::{
    Boolean, Causality, Enumeration, Error, Initial, Integer, Kind, ModelDescription, Real, ScalarVariable, Text,
    Variability,
};

#[derive(Serialize, Deserialize)]
pub(super) enum VariableElement {
    Float64(Variable),
    Int32(Variable),
    Boolean(Variable),
    String(Variable),
    Enumeration(Variable),
    #[serde(other, skip_serializing)]
    Other,
}

/// Attributes of all types together. Numbers are kept as text, since their type is the element's.
#[derive(Serialize, Deserialize)]
pub(super) struct Variable {
    #[serde(rename = "@name")]
    name: String,
    #[serde(rename = "@valueReference")]
    value_reference: u32,
    #[serde(rename = "@description", skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(rename = "@causality", default)]
    causality: Causality,
    #[serde(rename = "@variability", skip_serializing_if = "Option::is_none")]
    variability: Option<Variability>,
    #[serde(
        rename = "@canHandleMultipleSetPerTimeInstant",
        skip_serializing_if = "Option::is_none"
    )]
    can_handle_multiple_set_per_time_instant: Option<bool>,
    #[serde(rename = "@intermediateUpdate", default, skip_serializing_if = "is_false")]
    intermediate_update: bool,
    #[serde(rename = "@declaredType", skip_serializing_if = "Option::is_none")]
    declared_type: Option<String>,
    #[serde(rename = "@initial", skip_serializing_if = "Option::is_none")]
    initial: Option<Initial>,
    #[serde(rename = "@quantity", skip_serializing_if = "Option::is_none")]
    quantity: Option<String>,
    #[serde(rename = "@unit", skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    #[serde(rename = "@displayUnit", skip_serializing_if = "Option::is_none")]
    display_unit: Option<String>,
    #[serde(rename = "@relativeQuantity", default, skip_serializing_if = "is_false")]
    relative_quantity: bool,
    #[serde(rename = "@unbounded", default, skip_serializing_if = "is_false")]
    unbounded: bool,
    #[serde(rename = "@min", skip_serializing_if = "Option::is_none")]
    min: Option<String>,
    #[serde(rename = "@max", skip_serializing_if = "Option::is_none")]
    max: Option<String>,
    #[serde(rename = "@nominal", skip_serializing_if = "Option::is_none")]
    nominal: Option<String>,
    #[serde(rename = "@start", skip_serializing_if = "Option::is_none")]
    start: Option<String>,
    #[serde(rename = "@derivative", skip_serializing_if = "Option::is_none")]
    derivative: Option<u32>,
    #[serde(rename = "@reinit", default, skip_serializing_if = "is_false")]
    reinit: bool,
    #[serde(rename = "Dimension", default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    dimensions: Vec<Dimension>,
    #[serde(rename = "Start", default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    starts: Vec<Start>,
}

/// Dimension of an array. One that a structural parameter defines has no `start`; it is not supported.
#[derive(Serialize, Deserialize)]
struct Dimension {
    #[serde(rename = "@start", skip_serializing_if = "Option::is_none")]
    start: Option<u32>,
}

/// Largest number of elements of an array that is read.
const MOST_ELEMENTS: u32 = 10_000_000;

/// Start value of a string.
#[derive(Serialize, Deserialize)]
struct Start {
    #[serde(rename = "@value", default)]
    value: String,
}

/// Returns a number as the text of its attribute.
pub(super) fn real(value: Option<f64>) -> Option<String> {
    value.map(number::text)
}

/// Returns an integer as the text of its attribute.
pub(super) fn integer(value: Option<i32>) -> Option<String> {
    value.map(|value| value.to_string())
}

/// Returns the number in an attribute.
///
/// # Errors
/// Text that is no number of the type, with the attribute and its owner.
pub(super) fn parsed<T: FromStr>(
    what: &str,
    name: &str,
    attribute: &str,
    text: &Option<String>,
) -> Result<Option<T>, Error> {
    let Some(text) = text else { return Ok(None) };
    let wrong = || unsupported(what, name, &format!("{attribute}={text:?} cannot be read"));
    text.trim().parse().map(Some).map_err(|_| wrong())
}

impl VariableElement {
    pub fn of(of: &ScalarVariable, description: &ModelDescription) -> Result<Self, Error> {
        let common = Variable {
            name: of.name.clone(),
            value_reference: of.value_reference,
            description: of.description.clone(),
            causality: of.causality,
            variability: Some(of.variability),
            can_handle_multiple_set_per_time_instant: of.can_handle_multiple_set_per_time_instant,
            intermediate_update: of.intermediate_update,
            declared_type: of.kind.declared_type().map(str::to_owned),
            initial: of.initial,
            quantity: None,
            unit: None,
            display_unit: None,
            relative_quantity: false,
            unbounded: false,
            min: None,
            max: None,
            nominal: None,
            start: None,
            derivative: None,
            reinit: false,
            dimensions: of.dimensions.iter().map(|&n| Dimension { start: Some(n) }).collect(),
            starts: Vec::new(),
        };
        Ok(match &of.kind {
            Kind::Real(v) => Self::Float64(Variable {
                quantity: v.quantity.clone(),
                unit: v.unit.clone(),
                display_unit: v.display_unit.clone(),
                relative_quantity: v.relative_quantity,
                unbounded: v.unbounded,
                min: real(v.min),
                max: real(v.max),
                nominal: real(v.nominal),
                start: match v.starts.is_empty() {
                    true => real(v.start),
                    false => Some(
                        v.starts
                            .iter()
                            .map(|&value| number::text(value))
                            .collect::<Vec<_>>()
                            .join(" "),
                    ),
                },
                derivative: v.derivative.map(|index| reference(description, index)).transpose()?,
                reinit: v.reinit,
                ..common
            }),
            Kind::Integer(v) => Self::Int32(Variable {
                quantity: v.quantity.clone(),
                min: integer(v.min),
                max: integer(v.max),
                start: integer(v.start),
                ..common
            }),
            Kind::Boolean(v) => Self::Boolean(Variable {
                start: v.start.map(|value| value.to_string()),
                ..common
            }),
            Kind::String(v) => Self::String(Variable {
                starts: v.start.iter().map(|value| Start { value: value.clone() }).collect(),
                ..common
            }),
            Kind::Enumeration(v) => Self::Enumeration(Variable {
                quantity: v.quantity.clone(),
                min: integer(v.min),
                max: integer(v.max),
                start: integer(v.start),
                ..common
            }),
        })
    }

    /// Returns the attributes; `None` for a variable of an unsupported type.
    fn variable(&self) -> Option<&Variable> {
        match self {
            Self::Float64(v) | Self::Int32(v) | Self::Boolean(v) | Self::String(v) | Self::Enumeration(v) => Some(v),
            Self::Other => None,
        }
    }

    /// Returns the value reference; `None` for a variable of an unsupported type.
    pub fn value_reference(&self) -> Option<u32> {
        Some(self.variable()?.value_reference)
    }

    /// Returns the variable; `index` returns the index of a value reference.
    pub fn into_variable(self, index: impl Fn(u32) -> Result<u32, Error>) -> Result<ScalarVariable, Error> {
        let dimensions = self.variable().map_or(Ok(Vec::new()), Variable::dimensions)?;
        let (mut kind, of) = match self {
            Self::Float64(mut of) => (of.real()?, of),
            Self::Int32(mut of) => (of.integer()?, of),
            Self::Boolean(mut of) => (of.boolean()?, of),
            Self::String(mut of) => (of.string(), of),
            Self::Enumeration(mut of) => (of.enumeration()?, of),
            Self::Other => {
                let message = "its type is not Float64, Int32, Boolean, String or Enumeration";
                return Err(unsupported("ModelVariables, a variable", "", message));
            }
        };
        if let Kind::Real(real) = &mut kind {
            real.derivative = of.derivative.map(index).transpose()?;
        }
        let default = match kind {
            Kind::Real(_) => Variability::Continuous,
            _ => Variability::Discrete,
        };
        Ok(ScalarVariable {
            name: of.name,
            value_reference: of.value_reference,
            description: of.description,
            causality: of.causality,
            variability: of.variability.unwrap_or(match of.causality {
                Causality::Parameter | Causality::CalculatedParameter => Variability::Fixed,
                _ => default,
            }),
            initial: of.initial,
            can_handle_multiple_set_per_time_instant: of.can_handle_multiple_set_per_time_instant,
            dimensions,
            intermediate_update: of.intermediate_update,
            kind,
        })
    }
}

impl Variable {
    fn number<T: FromStr>(&self, attribute: &str, text: &Option<String>) -> Result<Option<T>, Error> {
        parsed("variable", &self.name, attribute, text)
    }

    /// Returns the number of elements along each dimension.
    fn dimensions(&self) -> Result<Vec<u32>, Error> {
        let sizes = self.dimensions.iter().map(|dimension| dimension.start);
        let what = "it is an array whose size is a structural parameter";
        let sizes: Vec<u32> = sizes
            .collect::<Option<_>>()
            .ok_or_else(|| unsupported("variable", &self.name, what))?;
        let elements = sizes.iter().try_fold(1_u32, |n, &size| n.checked_mul(size));
        match elements.is_some_and(|n| n <= MOST_ELEMENTS) {
            true => Ok(sizes),
            false => {
                let what = format!("it is an array of more than {MOST_ELEMENTS} elements");
                Err(unsupported("variable", &self.name, &what))
            }
        }
    }

    /// Returns the start values of an array of numbers; empty for a scalar. One value is that of all
    /// elements.
    fn starts(&self) -> Result<Vec<f64>, Error> {
        let (Some(text), false) = (&self.start, self.dimensions.is_empty()) else {
            return Ok(Vec::new());
        };
        let number = |text: &str| -> Result<f64, Error> {
            let value: Option<f64> = self.number("start", &Some(text.to_owned()))?;
            Ok(value.unwrap_or(0.0))
        };
        let values: Vec<f64> = text.split_whitespace().map(number).collect::<Result<_, _>>()?;
        let n: usize = self.dimensions()?.iter().map(|&n| n as usize).product();
        Ok(match values.as_slice() {
            [one] => vec![*one; n],
            _ => values,
        })
    }

    /// Returns the kind without `derivative`.
    fn real(&mut self) -> Result<Kind, Error> {
        let starts = self.starts()?;
        if let Some(first) = starts.first() {
            self.start = Some(number::text(*first));
        }
        Ok(Kind::Real(Real {
            starts,
            min: self.number("min", &self.min)?,
            max: self.number("max", &self.max)?,
            nominal: self.number("nominal", &self.nominal)?,
            start: self.number("start", &self.start)?,
            declared_type: self.declared_type.take(),
            quantity: self.quantity.take(),
            unit: self.unit.take(),
            display_unit: self.display_unit.take(),
            relative_quantity: self.relative_quantity,
            unbounded: self.unbounded,
            derivative: None,
            reinit: self.reinit,
        }))
    }

    /// Keeps the first of the start values of an array: other types than `Float64` have no list.
    fn keep_first_start(&mut self) {
        if let (Some(text), false) = (&mut self.start, self.dimensions.is_empty()) {
            *text = text.split_whitespace().next().unwrap_or_default().to_owned();
        }
    }

    fn integer(&mut self) -> Result<Kind, Error> {
        self.keep_first_start();
        Ok(Kind::Integer(Integer {
            min: self.number("min", &self.min)?,
            max: self.number("max", &self.max)?,
            start: self.number("start", &self.start)?,
            declared_type: self.declared_type.take(),
            quantity: self.quantity.take(),
        }))
    }

    fn boolean(&mut self) -> Result<Kind, Error> {
        self.keep_first_start();
        let start = match self.start.as_deref().map(str::trim) {
            Some("1") => Some(true),
            Some("0") => Some(false),
            _ => self.number("start", &self.start)?,
        };
        Ok(Kind::Boolean(Boolean {
            declared_type: self.declared_type.take(),
            start,
        }))
    }

    fn string(&mut self) -> Kind {
        Kind::String(Text {
            declared_type: self.declared_type.take(),
            start: self.starts.drain(..).next().map(|start| start.value),
        })
    }

    fn enumeration(&mut self) -> Result<Kind, Error> {
        self.keep_first_start();
        Ok(Kind::Enumeration(Enumeration {
            min: self.number("min", &self.min)?,
            max: self.number("max", &self.max)?,
            start: self.number("start", &self.start)?,
            declared_type: self.declared_type.take().unwrap_or_default(),
            quantity: self.quantity.take(),
        }))
    }
}
