//! Serialisation to text.

use quick_xml::se::Serializer;
use serde::Serialize;

use super::fmi3::Document;
use crate::{Error, FmiVersion, ModelDescription, check};

/// Returns the document of a model description.
pub(super) fn write(description: &ModelDescription) -> Result<String, Error> {
    if let Some(problem) = check::not_finite(description).into_iter().next() {
        return Err(Error::NotFinite(problem));
    }
    const ROOT: &str = "fmiModelDescription";
    match description.fmi_version {
        FmiVersion::V2_0 => document(description, ROOT),
        FmiVersion::V3_0 => document(&Document::of(description)?, ROOT),
    }
}

/// Returns a document with this root element, terminated by a line break.
pub(crate) fn document(content: &impl Serialize, root: &str) -> Result<String, Error> {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let mut serializer = Serializer::with_root(&mut text, Some(root))?;
    serializer.indent(' ', 2);
    content.serialize(serializer)?;
    text.push('\n');
    refuse_illegal_characters(&text)?;
    Ok(text)
}

/// Rejects characters that XML does not allow in any form; the serializer escapes `<`, `&`, quotes
/// and line breaks only.
fn refuse_illegal_characters(text: &str) -> Result<(), Error> {
    for line in text.lines() {
        if let Some(character) = line.chars().find(|&c| !is_xml_character(c)) {
            let line = line.trim().escape_debug().to_string();
            return Err(Error::Character { character, line });
        }
    }
    Ok(())
}

/// Returns true for a character that XML 1.0 allows: production `Char` in its section 2.2.
fn is_xml_character(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{FFFD}' | '\u{1_0000}'..)
}
