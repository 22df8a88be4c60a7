//! Values read from TOML or JSON, from which the types of a spec are deserialised.
//!
//! There is one deserializer for both formats, so that the code of each type is compiled once. That of
//! the crate `toml` instantiates each visitor for dates and positions too: with it and that of JSON,
//! the library has 18.6 MB of code in place of 14.3 (profile `dev`).

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::slice::Iter;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Error in the text of a spec or study.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", .0.message)]
pub struct ReadError(Box<Fault>);

#[derive(Clone, Debug)]
struct Fault {
    message: String,
    span: Option<Range<usize>>,
}

impl ReadError {
    /// Returns the message, without the position.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the byte range of the value or key that is invalid.
    pub fn span(&self) -> Option<Range<usize>> {
        self.0.span.clone()
    }

    fn new(message: String, span: Option<Range<usize>>) -> Self {
        Self(Box::new(Fault { message, span }))
    }

    /// Sets the position, if a value inside has not set its own.
    #[cold]
    fn or_at(mut self, span: &Range<usize>) -> Self {
        self.0.span.get_or_insert_with(|| span.clone());
        self
    }
}

impl serde::de::Error for ReadError {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string(), None)
    }
}

impl From<toml::de::Error> for ReadError {
    fn from(error: toml::de::Error) -> Self {
        Self::new(error.message().to_owned(), error.span())
    }
}

/// A value with its position in bytes.
pub(crate) struct Node<'a> {
    value: Value<'a>,
    span: Range<usize>,
}

// `fmu::memory::to_read` counts on it.
const _: () = assert!(size_of::<Node>() <= 48);

enum Value<'a> {
    Null,
    Boolean(bool),
    Integer(i64),
    Large(u64),
    Float(f64),
    Text(Cow<'a, str>),
    Date,
    List(Vec<Node<'a>>),
    Table(Vec<Field<'a>>),
}

struct Field<'a> {
    key: Cow<'a, str>,
    span: Range<usize>,
    node: Node<'a>,
}

/// Reads a type of the spec or of a study from TOML, without validation.
///
/// # Errors
/// The first error in the text.
pub fn from_text<T: DeserializeOwned>(text: &str) -> Result<T, ReadError> {
    let table = DeTable::parse(text)?;
    from_table(table.get_ref(), table.span())
}

/// Reads a type from a table at a position.
///
/// # Errors
/// The first error in the table.
pub(super) fn from_table<T: DeserializeOwned>(table: &DeTable<'_>, span: Range<usize>) -> Result<T, ReadError> {
    let value = Value::table(table)?;
    Node { value, span }.read()
}

impl Node<'_> {
    /// Reads a type.
    ///
    /// # Errors
    /// The first error.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, ReadError> {
        T::deserialize(self).map_err(|error| error.or_at(&self.span))
    }

    #[cold]
    fn mismatch(&self, expected: &dyn Expected) -> ReadError {
        let found = match &self.value {
            Value::Null | Value::Date => Unexpected::Unit,
            Value::Boolean(value) => Unexpected::Bool(*value),
            Value::Integer(value) => Unexpected::Signed(*value),
            Value::Large(value) => Unexpected::Unsigned(*value),
            Value::Float(value) => Unexpected::Float(*value),
            Value::Text(value) => Unexpected::Str(value),
            Value::List(_) => Unexpected::Seq,
            Value::Table(_) => Unexpected::Map,
        };
        ReadError::invalid_type(found, expected)
    }
}

impl<'a> Node<'a> {
    fn of(value: &'a Spanned<DeValue<'_>>) -> Result<Self, ReadError> {
        let span = value.span();
        let overflow = |of: &str| ReadError::new(format!("{of} number overflowed"), Some(span.clone()));
        let value = match value.get_ref() {
            DeValue::String(text) => Value::Text(Cow::Borrowed(text)),
            DeValue::Boolean(value) => Value::Boolean(*value),
            DeValue::Integer(digits) => {
                let (digits, radix) = (digits.as_str(), digits.radix());
                let small = i64::from_str_radix(digits, radix).map(Value::Integer);
                let value = small.or_else(|_| u64::from_str_radix(digits, radix).map(Value::Large));
                value.map_err(|_| overflow("integer"))?
            }
            DeValue::Float(digits) => {
                let value: f64 = digits.as_str().parse().map_err(|_| overflow("floating-point"))?;
                if value.is_infinite() && !digits.as_str().contains("inf") {
                    return Err(overflow("floating-point"));
                }
                Value::Float(value)
            }
            DeValue::Datetime(_) => Value::Date,
            DeValue::Array(items) => Value::List(items.iter().map(Self::of).collect::<Result<_, _>>()?),
            DeValue::Table(table) => Value::table(table)?,
        };
        Ok(Self { value, span })
    }
}

impl<'a> Value<'a> {
    fn table(table: &'a DeTable<'_>) -> Result<Self, ReadError> {
        let mut fields = Vec::with_capacity(table.len());
        for (key, value) in table.iter() {
            fields.push(Field {
                key: Cow::Borrowed(key.get_ref()),
                span: key.span(),
                node: Node::of(value)?,
            });
        }
        Ok(Self::Table(fields))
    }
}

impl<'de> Deserializer<'de> for &Node<'_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.value {
            Value::Null | Value::Date => visitor.visit_unit(),
            Value::Boolean(value) => visitor.visit_bool(*value),
            Value::Integer(value) => visitor.visit_i64(*value),
            Value::Large(value) => visitor.visit_u64(*value),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Text(value) => visitor.visit_str(value),
            Value::List(items) => visitor.visit_seq(Items(items.iter())),
            Value::Table(fields) => visitor.visit_map(Fields::new(fields)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.value {
            Value::List(items) => visitor.visit_seq(Items(items.iter())),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, ReadError> {
        match &self.value {
            Value::List(items) if items.len() > length => Err(ReadError::invalid_length(items.len(), &visitor)),
            Value::List(items) => visitor.visit_seq(Items(items.iter())),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.value {
            Value::Table(fields) => visitor.visit_map(Fields::new(fields)),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match &self.value {
            Value::Text(word) => visitor.visit_enum(text(word)),
            Value::Table(fields) if fields.len() == 1 => visitor.visit_enum(&fields[0]),
            Value::Table(_) => Err(ReadError::custom("wanted exactly 1 element")),
            _ => Err(ReadError::custom("wanted string or table")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_unit()
    }

    // One visitor of each of these types serves all fields.
    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct identifier
    }
}

fn text(text: &str) -> StrDeserializer<'_, ReadError> {
    text.into_deserializer()
}

struct Items<'a, 'n>(Iter<'a, Node<'n>>);

impl<'de> SeqAccess<'de> for Items<'_, '_> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, ReadError> {
        let Some(node) = self.0.next() else { return Ok(None) };
        let value = seed.deserialize(node).map_err(|error| error.or_at(&node.span))?;
        Ok(Some(value))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Fields<'a, 'n> {
    rest: Iter<'a, Field<'n>>,
    now: Option<&'a Field<'n>>,
}

impl<'a, 'n> Fields<'a, 'n> {
    fn new(fields: &'a [Field<'n>]) -> Self {
        let rest = fields.iter();
        Self { rest, now: None }
    }
}

impl<'de> MapAccess<'de> for Fields<'_, '_> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ReadError> {
        self.now = self.rest.next();
        let Some(field) = self.now else { return Ok(None) };
        let key = seed.deserialize(text(&field.key));
        Ok(Some(key.map_err(|error| error.or_at(&field.span))?))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, ReadError> {
        let field = self.now.ok_or_else(|| ReadError::custom("a value without a key"))?;
        let node = &field.node;
        seed.deserialize(node).map_err(|error| error.or_at(&node.span))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

impl<'a, 'n, 'de> EnumAccess<'de> for &'a Field<'n> {
    type Error = ReadError;
    type Variant = &'a Node<'n>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self::Variant), ReadError> {
        let variant = seed.deserialize(text(&self.key));
        Ok((variant.map_err(|error| error.or_at(&self.span))?, &self.node))
    }
}

impl<'de> VariantAccess<'de> for &Node<'_> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        Err(ReadError::custom("wanted a string").or_at(&self.span))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, ReadError> {
        seed.deserialize(self).map_err(|error| error.or_at(&self.span))
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_tuple(length, visitor)
            .map_err(|error| error.or_at(&self.span))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_map(visitor).map_err(|error| error.or_at(&self.span))
    }
}

/// From JSON, which has no positions.
impl<'de> Deserialize<'de> for Node<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = deserializer.deserialize_any(Any)?;
        Ok(Self { value, span: 0..0 })
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Value<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value<'de>, E> {
        Ok(Value::Boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value<'de>, E> {
        Ok(Value::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value<'de>, E> {
        Ok(i64::try_from(value).map_or(Value::Large(value), Value::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value<'de>, E> {
        Ok(Value::Float(value))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value<'de>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value<'de>, A::Error> {
        let mut table = Vec::new();
        while let Some(key) = fields.next_key::<Cow<str>>()? {
            let (span, node) = (0..0, fields.next_value()?);
            table.push(Field { key, span, node });
        }
        Ok(Value::Table(table))
    }
}
