//! The writer and the reader of `modelDescription.xml`.
//!
//! The structs say by their serde attributes what an element looks like; here is only what holds
//! for all of them. The two submodules and the small functions below are what those attributes name.

pub(crate) mod annotation;
pub(crate) mod list;
pub(crate) mod number;
mod reader;
mod writer;

pub(crate) use reader::only_known;

use crate::{ModelDescription, Problem};

/// Why a model description could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number that is not finite: XML for FMI has no sensible form of it.
    #[error("cannot write the model description: {0}")]
    NotFinite(Problem),
    /// A character that XML 1.0 cannot hold, such as U+0000, and the line it would have stood in.
    #[error("cannot write the model description: XML has no character {character:?}: {line}")]
    Character {
        /// The character.
        character: char,
        /// The element that holds it, as it would have been written.
        line: String,
    },
    /// The serializer refused, for example the key of an annotation that is no XML name.
    #[error("cannot write the model description: {0}")]
    Write(#[from] quick_xml::SeError),
    /// The document is no model description, but has this root element, or none.
    #[error("not a model description: the root element is {found}, not fmiModelDescription")]
    Root {
        /// The root element in quotes, or `missing`.
        found: String,
    },
    /// The document is a model description of another version of FMI.
    #[error("fmiVersion is {found}, only \"2.0\" can be read")]
    Version {
        /// The version in quotes, or `missing`.
        found: String,
    },
    /// The document is no well-formed XML, or lacks what the standard requires.
    #[error("model description, at or before line {line}: {source}")]
    Read {
        /// Line, counted from 1, that the reader had reached.
        line: usize,
        /// What it met there.
        source: quick_xml::DeError,
    },
}

impl ModelDescription {
    /// The text of `modelDescription.xml`: UTF-8, one element per line, indented by two spaces; the
    /// same description gives the same bytes.
    ///
    /// Numbers are written in the shortest form that reads back to the same value, with exponent
    /// below 10⁻⁴ and from 10⁹ on. What is written need not be legal FMI: that is asked of
    /// [`check`](ModelDescription::check).
    ///
    /// # Errors
    ///
    /// A number that is not finite, with the variable it belongs to; a character XML cannot hold; an
    /// annotation whose key is no XML name.
    pub fn to_xml(&self) -> Result<String, Error> {
        writer::write(self)
    }

    /// Reads the text of a `modelDescription.xml` of FMI 2.0, written by any tool.
    ///
    /// Attributes and elements this crate does not hold are skipped. What it reads need not be legal
    /// FMI: that is asked of [`check`](ModelDescription::check).
    ///
    /// # Errors
    ///
    /// Text that is not XML, that is no model description of FMI 2.0, that lacks a required attribute
    /// or element, or has a value of the wrong type.
    pub fn from_xml(text: &str) -> Result<Self, Error> {
        reader::read(text)
    }
}

/// The schema's default of every optional Boolean that is not held as an `Option`.
#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
pub(crate) fn is_false(value: &bool) -> bool {
    !value
}

/// The schema's default of exponents and orders.
pub(crate) fn is_zero<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
