//! Limits of COLLADA files: those that the reader would draw wrong or not survive are refused.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::HashSet;

/// Largest depth of elements.
const DEEPEST: usize = 100;

/// Transforms of a node.
const TRANSFORMS: [&str; 6] = ["matrix", "translate", "rotate", "scale", "skew", "lookat"];

/// Checks that a file is drawn as it is meant.
///
/// # Errors
/// A file that is not XML; elements that are nested too deeply or have more numbers than the file;
/// transforms of nodes in nodes, several instances of a geometry, and displacements in another unit
/// than metres.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let mut reader = Reader::from_reader(bytes);
    // For each open element its name, and for a node whether it has a transform.
    let mut open: Vec<(String, bool)> = Vec::new();
    let mut instances = HashSet::new();
    let (mut is_metre, mut is_displaced) = (true, false);
    loop {
        let event = reader.read_event().map_err(|error| format!("it is no XML: {error}"))?;
        let (element, is_empty) = match &event {
            Event::Eof => break,
            Event::End(_) => {
                open.pop();
                continue;
            }
            Event::Start(element) => (element, false),
            Event::Empty(element) => (element, true),
            _ => continue,
        };
        let name = element.local_name().as_ref().to_owned();
        if matches!(&name[..], "Name_array" | "IDREF_array") {
            return Err(supported("skins and animations"));
        }
        if let Some(count) = attribute(element, "count")
            && count.trim().parse().is_ok_and(|count: usize| count > bytes.len())
        {
            return Err(format!("an element has {count} values, more than the file has bytes"));
        }
        if name == "unit" {
            let metre = attribute(element, "meter").and_then(|metre| metre.trim().parse().ok());
            is_metre = metre.is_none_or(|metre: f64| metre == 1.0);
        }
        if let ("instance_geometry", Some(url)) = (&name[..], attribute(element, "url"))
            && !instances.insert(url)
        {
            return Err(supported("several instances of a geometry"));
        }
        if TRANSFORMS.contains(&&name[..])
            && let Some((parent, has_transform)) = open.last_mut()
            && parent == "node"
        {
            *has_transform = true;
            is_displaced |= matches!(&name[..], "matrix" | "translate");
            if open.iter().filter(|(_, has_transform)| *has_transform).count() > 1 {
                return Err(supported("transforms of nodes in nodes"));
            }
        }
        if !is_empty {
            open.push((name, false));
            if open.len() > DEEPEST {
                return Err(format!("its elements are nested more than {DEEPEST} deep"));
            }
        }
    }
    match is_metre || !is_displaced {
        true => Ok(()),
        false => Err(supported("displaced nodes in another unit than metres")),
    }
}

fn supported(what: &str) -> String {
    format!("{what} are not read from COLLADA: save the mesh as glTF or STL")
}

fn attribute(element: &BytesStart, name: &str) -> Option<String> {
    let attribute = element.try_get_attribute(name).ok()??;
    Some(attribute.value.into_owned())
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![files_that_would_be_drawn_wrong_are_refused];

    fn files_that_would_be_drawn_wrong_are_refused() {
        let scene = |unit: &str, nodes: &str| format!("<COLLADA><asset>{unit}</asset>{nodes}</COLLADA>");
        let moved = "<translate>1 0 0</translate>";
        let cube = "<instance_geometry url=\"#cube\"/>";
        let inches = "<unit meter=\"0.0254\"/>";
        for (text, is_read) in [
            (scene("", &format!("<node>{moved}{cube}</node>")), true),
            (scene(inches, &format!("<node>{cube}</node>")), true),
            (scene(inches, &format!("<node>{moved}{cube}</node>")), false),
            (scene("", &format!("<node>{moved}<node>{cube}</node></node>")), true),
            (
                scene("", &format!("<node>{moved}<node>{moved}{cube}</node></node>")),
                false,
            ),
            (scene("", &format!("<node>{cube}</node><node>{cube}</node>")), false),
            (scene("", "<Name_array count=\"1\">abc</Name_array>"), false),
            (scene("", "<float_array count=\"4294967295\">0</float_array>"), false),
            ("<node>".repeat(20_000), false),
        ] {
            assert_eq!(
                check(text.as_bytes()).is_ok(),
                is_read,
                "{}",
                &text[..text.len().min(200)]
            );
        }
    }
}
