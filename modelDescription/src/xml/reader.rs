//! Deserialisation from text.

use std::fmt;

use quick_xml::XmlVersion;
use quick_xml::de::Deserializer as XmlDeserializer;
use quick_xml::events::Event;
use quick_xml::reader::Reader;
use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};

use super::fmi3::Document;
use crate::{Error, FmiVersion, ModelDescription};

/// Reads a model description of FMI 2.0 or 3.0 from the text of its XML.
pub(super) fn read(text: &str) -> Result<ModelDescription, Error> {
    match version(text)? {
        FmiVersion::V2_0 => read_as(text),
        FmiVersion::V3_0 => read_as::<Document>(text)?.into_description(),
    }
}

/// Reads the root element of a text.
pub(crate) fn read_as<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, Error> {
    let mut deserializer = XmlDeserializer::from_str(text);
    T::deserialize(&mut deserializer).map_err(|source| Error::Read {
        line: line_at(text, deserializer.get_ref().get_ref().buffer_position()),
        source,
    })
}

/// Returns the version of the document. Root element and version are checked before serde reads the
/// document: serde ignores the name of the root element, and would report another version of FMI as
/// a missing attribute.
fn version(text: &str) -> Result<FmiVersion, Error> {
    let quoted = |name: Option<&str>| name.map_or("missing".into(), |name| format!("{name:?}"));
    let mut reader = Reader::from_str(text);
    let (root, version) = root_and_version(&mut reader).map_err(|error| Error::Read {
        line: line_at(text, reader.buffer_position()),
        source: error.into(),
    })?;
    if root.as_deref() != Some("fmiModelDescription") {
        let found = quoted(root.as_deref());
        return Err(Error::Root { found });
    }
    match version.as_deref() {
        Some("2.0") => Ok(FmiVersion::V2_0),
        Some(known) if known == "3.0" || known.starts_with("3.0.") => Ok(FmiVersion::V3_0),
        other => Err(Error::Version { found: quoted(other) }),
    }
}

/// Returns the name of the root element and its `fmiVersion`, if present.
fn root_and_version(reader: &mut Reader<&[u8]>) -> quick_xml::Result<(Option<String>, Option<String>)> {
    let root = loop {
        match reader.read_event()? {
            Event::Start(root) | Event::Empty(root) => break root,
            Event::Eof => return Ok((None, None)),
            _ => {}
        }
    };
    let version = match root.try_get_attribute("fmiVersion")? {
        Some(version) => Some(version.normalized_value(XmlVersion::Implicit1_0)?),
        None => None,
    };
    let name = root.name().as_ref().to_owned();
    Ok((Some(name), version.map(|v| v.into_owned())))
}

/// Returns the line, counted from 1, that contains a byte's position.
fn line_at(text: &str, byte: u64) -> usize {
    let passed = text.bytes().zip(0..byte);
    1 + passed.filter(|&(b, _)| b == b'\n').count()
}

/// Reads a sequence of elements that must contain exactly one base type and returns that one;
/// `known` returns `None` for the elements to skip.
pub(crate) fn only_known<'de, D, Element, Known>(
    deserializer: D,
    known: fn(Element) -> Option<Known>,
) -> Result<Known, D::Error>
where
    D: Deserializer<'de>,
    Element: Deserialize<'de>,
{
    struct Elements<Element, Known>(fn(Element) -> Option<Known>);

    impl<'de, Element: Deserialize<'de>, Known> Visitor<'de> for Elements<Element, Known> {
        type Value = Option<Known>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("one of Real, Integer, Boolean, String, Enumeration")
        }

        fn visit_seq<S: SeqAccess<'de>>(self, mut sequence: S) -> Result<Self::Value, S::Error> {
            let mut found = None;
            while let Some(element) = sequence.next_element()? {
                if let Some(element) = (self.0)(element)
                    && found.replace(element).is_some()
                {
                    return Err(S::Error::custom("more than one base type"));
                }
            }
            Ok(found)
        }
    }

    deserializer
        .deserialize_seq(Elements(known))?
        .ok_or_else(|| D::Error::custom("no base type: one of Real, Integer, Boolean, String, Enumeration"))
}
