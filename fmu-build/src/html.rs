//! Building blocks of HTML pages: templates, text, and numbers for their scripts.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;

/// Returns the template with every `{{name}}` replaced; names in inserted text are not replaced.
pub fn filled(template: &str, parts: &[(&str, &str)]) -> String {
    let mut pieces = template.split("{{");
    let mut html = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once("}}").expect("the template closes its braces");
        let part = parts
            .iter()
            .find(|(n, _)| *n == name)
            .expect("every name in the template has a value");
        html.push_str(part.1);
        html.push_str(rest);
    }
    html
}

/// Escapes text for the inside of an HTML element.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Numbers in single precision (seven digits): base64 of their little-endian bytes.
pub struct Floats(pub Vec<f64>);

impl Floats {
    /// Returns the selected rows of a vector: all components at one instant, then at the next.
    pub fn of(parts: &[&[f64]], rows: &[usize]) -> Self {
        let row = |&row: &usize| parts.iter().map(move |part| part[row]);
        Self(rows.iter().flat_map(row).collect())
    }

    /// Returns the selected rows of a position relative to an origin, since single precision leaves
    /// few digits for small distances far from zero.
    pub fn seen_from(origin: &[f64; 3], place: &[&[f64]; 3], rows: &[usize]) -> Self {
        let row = |&row: &usize| [0, 1, 2].map(|i| place[i][row] - origin[i]);
        Self(rows.iter().flat_map(row).collect())
    }
}

impl Serialize for Floats {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect();
        serializer.serialize_str(&BASE64_STANDARD.encode(bytes))
    }
}

/// A number with eight digits, enough for display, so that the page stays small.
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

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![a_position_relative_to_a_near_origin_keeps_its_digits];

    /// At 6.9e6 m single-precision numbers are spaced by 0.5 m: an absolute position would lose the
    /// displacement of 0.37 m.
    fn a_position_relative_to_a_near_origin_keeps_its_digits() {
        let (far, off) = (6.9e6, 0.37);
        let place = [far + off, -far, 0.25].map(|part| [part]);
        let [x, y, z] = &place;
        let floats = Floats::seen_from(&[far, -far, 0.0], &[x, y, z], &[0]);
        let text = serde_json::to_value(&floats).expect("it is a text");
        let bytes = BASE64_STANDARD
            .decode(text.as_str().expect("it is a text"))
            .expect("it is base64");
        let numbers = bytes
            .chunks(4)
            .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]));
        let numbers: Vec<f64> = numbers.map(f64::from).collect();
        // Half a unit in the last place is 5e-10 m at 6.9e6 m in double precision, and 1.5e-8 m at
        // 0.37 m in single precision.
        assert!((numbers[0] - off).abs() < 2e-8, "{numbers:?}");
        assert_eq!(numbers[1..], [0.0, 0.25]);
    }
}
