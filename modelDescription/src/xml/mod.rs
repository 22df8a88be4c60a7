//! The writer and the reader of `modelDescription.xml`.
//!
//! The serde attributes of the structs define their elements; this module contains the common part
//! and the functions that those attributes refer to.

pub(crate) mod annotation;
mod fmi3;
pub(crate) mod list;
pub(crate) mod number;
mod reader;
mod writer;

pub(crate) use reader::{only_known, read_as as element};
pub(crate) use writer::document;

use crate::{ModelDescription, Problem};

/// Error of writing or reading a model description.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number is not finite; the XML has no valid form for it.
    #[error("cannot write the model description: {0}")]
    NotFinite(Problem),
    /// The document contains a character that XML 1.0 does not allow, such as U+0000.
    #[error("cannot write the model description: XML has no character {character:?}: {line}")]
    Character {
        /// The character.
        character: char,
        /// The line of the document that contains it.
        line: String,
    },
    /// The serializer reports an error, for example a key of an annotation that is not an XML name.
    #[error("cannot write the model description: {0}")]
    Write(#[from] quick_xml::SeError),
    /// The document is not a model description: it has another root element, or none.
    #[error("not a model description: the root element is {found}, not fmiModelDescription")]
    Root {
        /// The root element in quotes, or `missing`.
        found: String,
    },
    /// The document is a model description of another version of FMI.
    #[error("fmiVersion is {found}, only \"2.0\" and \"3.0\" can be read")]
    Version {
        /// The version in quotes, or `missing`.
        found: String,
    },
    /// A variable of FMI 3.0 has a type or a value that is not supported, or a reference leads to no
    /// variable.
    #[error("model description: {0}")]
    Unsupported(Problem),
    /// The document is not well-formed XML, or a required part is missing.
    #[error("model description, at or before line {line}: {source}")]
    Read {
        /// Line reached by the reader, counted from 1.
        line: usize,
        /// Error of the parser.
        source: quick_xml::DeError,
    },
}

impl ModelDescription {
    /// Returns the text of `modelDescription.xml` in the version
    /// [`fmi_version`](ModelDescription::fmi_version): UTF-8, one element per line, indented by two
    /// spaces; equal descriptions give identical bytes.
    ///
    /// Numbers are written in the shortest form that reads back to the same value, with exponent
    /// below 10⁻⁴ and from 10⁹. The description is not validated; see
    /// [`check`](ModelDescription::check).
    ///
    /// # Errors
    ///
    /// A number that is not finite, with its variable; a character that XML does not allow; an
    /// annotation key that is not an XML name; in FMI 3.0, an index that is that of no variable.
    pub fn to_xml(&self) -> Result<String, Error> {
        writer::write(self)
    }

    /// Reads the text of a `modelDescription.xml` of FMI 2.0 or 3.0, written by any tool.
    ///
    /// Unsupported attributes and elements are skipped. The description is not validated; see
    /// [`check`](ModelDescription::check).
    ///
    /// # Errors
    ///
    /// Text that is not XML or not a model description of FMI 2.0 or 3.0, a missing required attribute
    /// or element, or a value of the wrong type; of FMI 3.0, arrays whose size is a structural
    /// parameter, and variables of other types than `Float64`, `Int32`, `Boolean`, `String` and
    /// `Enumeration`. Of an array of another type than `Float64` only the first start value is read.
    pub fn from_xml(text: &str) -> Result<Self, Error> {
        reader::read(text)
    }
}

/// Returns true for the schema's default of optional Booleans, which serde then does not write.
#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
pub(crate) fn is_false(value: &bool) -> bool {
    !value
}

/// Returns true for zero, the schema's default of exponents of units and of
/// `maxOutputDerivativeOrder`; serde then does not write the attribute.
pub(crate) fn is_zero<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
