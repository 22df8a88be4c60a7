//! What HTML pages are made of: templates, text, and numbers for their scripts.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;

/// The template with every `{{name}}` replaced; what is put in is not searched again.
pub fn filled(template: &str, parts: &[(&str, &str)]) -> String {
    let mut pieces = template.split("{{");
    let mut html = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once("}}").expect("the template closes its braces");
        let part = parts
            .iter()
            .find(|(n, _)| *n == name)
            .expect("the template names what there is");
        html.push_str(part.1);
        html.push_str(rest);
    }
    html
}

/// Text as HTML, for the inside of an element.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Numbers in single precision (seven digits): base64 of their bytes, little-endian.
pub struct Floats(pub Vec<f64>);

impl Floats {
    /// Some rows of the components of a vector, instant by instant.
    pub fn of(parts: &[&[f64]], rows: &[usize]) -> Self {
        Self(
            rows.iter()
                .flat_map(|&row| parts.iter().map(move |part| part[row]))
                .collect(),
        )
    }
}

impl Serialize for Floats {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect();
        serializer.serialize_str(&BASE64_STANDARD.encode(bytes))
    }
}

/// A number as precise as an eye needs it: eight digits, so that the page stays small.
#[derive(Clone, Copy)]
pub struct Digits(pub f64);

impl Serialize for Digits {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rounded: f64 = format!("{:.7e}", self.0).parse().expect("a printed number is a number");
        match rounded {
            whole if whole.fract() == 0.0 && whole.abs() < 1e9 => serializer.serialize_i64(whole as i64),
            other => serializer.serialize_f64(other),
        }
    }
}
