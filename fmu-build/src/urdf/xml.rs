//! XML as a tree of elements with their positions. Prefixes of names need no declaration, since
//! some URDF files use undeclared ones.

use super::Fault;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use std::ops::Range;

/// Largest nesting depth: limits the stack of recursive functions.
const DEEPEST: usize = 100;

/// An element, without its text.
#[derive(Default)]
pub struct Element {
    pub name: String,
    pub attributes: Vec<(String, String)>,
    pub children: Vec<Element>,
    /// Byte range of its tag.
    pub place: Range<usize>,
}

impl Element {
    /// Parses a document and returns its root element.
    ///
    /// # Errors
    /// The first syntax error.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let mut reader = Reader::from_str(text);
        let mut open = vec![Self::default()];
        loop {
            let start = reader.buffer_position() as usize;
            let event = reader.read_event();
            let place = start..reader.buffer_position() as usize;
            match event {
                Ok(Event::Start(_)) if open.len() > DEEPEST => {
                    return Err((format!("elements are nested more than {DEEPEST} deep"), Some(place)));
                }
                Ok(Event::Start(tag)) => open.push(Self::of(&tag, place)?),
                Ok(Event::Empty(tag)) => innermost(&mut open).children.push(Self::of(&tag, place)?),
                Ok(Event::End(_)) => close(&mut open),
                Ok(Event::Eof) => break,
                Ok(_) => {}
                Err(error) => {
                    let at = reader.error_position() as usize;
                    return Err((format!("this is not XML: {error}"), Some(at..at)));
                }
            }
        }
        if open.len() > 1 {
            let unclosed = innermost(&mut open);
            return Err((
                format!("this <{}> is not closed", unclosed.name),
                Some(unclosed.place.clone()),
            ));
        }
        let mut roots = open.remove(0).children.into_iter();
        roots.next().ok_or_else(|| ("there is no element".to_owned(), None))
    }

    fn of(tag: &BytesStart, place: Range<usize>) -> Result<Self, Fault> {
        let fault = |what: String| (format!("this is not XML: {what}"), Some(place.clone()));
        let attributes = tag.attributes().map(|attribute| {
            let attribute = attribute.map_err(|e| fault(e.to_string()))?;
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            let value = value.map_err(|e| fault(e.to_string()))?;
            Ok((attribute.key.into_inner().to_owned(), value.into_owned()))
        });
        Ok(Self {
            name: tag.name().into_inner().to_owned(),
            attributes: attributes.collect::<Result<_, Fault>>()?,
            children: Vec::new(),
            place,
        })
    }

    /// Returns the value of an attribute, if the element has it.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        attributes.find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the child elements of this name.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// Returns the first of this element and its descendants for which `is_so` is true.
    pub fn find(&self, is_so: &impl Fn(&Self) -> bool) -> Option<&Self> {
        match is_so(self) {
            true => Some(self),
            false => self.children.iter().find_map(|child| child.find(is_so)),
        }
    }
}

fn innermost(open: &mut [Element]) -> &mut Element {
    open.last_mut().expect("the document is open to its end")
}

/// Ends the innermost open element. There is one, since the parser reports an end tag without a
/// start tag as an error.
fn close(open: &mut Vec<Element>) {
    let element = open.pop().expect("the reader has seen its start");
    innermost(open).children.push(element);
}
