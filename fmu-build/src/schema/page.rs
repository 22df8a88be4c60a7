//! The page of all fields, generated from the JSON schema, so that a field is documented in one
//! place only: in the code of the spec.

use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt::Write;

const HEAD: &str = "\
# The spec, field by field

A spec is one TOML file. Units are SI and radians; a field in another unit has it in its name (`position_deg`). A field with the
default – may be left out unless its description requires it; the feature is then absent: without `damping` a joint has no damping, and no parameter of that
name. Without a table such as `[solver]` the defaults of its fields apply. An unknown field is an error. Editors complete and check all of this with
[spec.schema.json](spec.schema.json).

`grapple schema --markdown > docs/spec.md` writes this page.
";

/// Units that occur in the fields' descriptions.
const UNITS: &str = "kg kg/m kg/m³ kg·m kg·m² m m² m⁴ m/s m/s² m³/s² s s/m 1/s 1/s² Hz rad rad/s N N/m N·m N·m² \
                     N·s N·s/m N·m/rad N·m/rad³ N·m·s N·m·s/rad N·m/A V Ohm H Pa √kg √kg·m 1/√kg rad/(m·√kg) \
                     W/m² nT g·cm g·cm²";

const BRACKETS: [char; 2] = ['(', ')'];

/// Returns the page: each table of the spec at its first use, with all its fields.
///
/// # Panics
/// If the text is not the spec's schema.
pub fn page(schema: &str) -> String {
    let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    let mut page = Page {
        definitions: schema["$defs"].as_object().expect("the schema has definitions"),
        text: HEAD.to_owned(),
        places: HashMap::new(),
    };
    page.section("The file", "", &schema);
    page.text
}

struct Page<'a> {
    definitions: &'a Map<String, Value>,
    text: String,
    /// The heading under which a definition is documented.
    places: HashMap<&'a str, String>,
}

impl<'a> Page<'a> {
    /// Writes a table of the spec, and the tables in it. `path` is the prefix of its header.
    fn section(&mut self, heading: &str, path: &str, table: &'a Value) {
        write!(self.text, "\n## {heading}\n\n{}\n", paragraphs(table)).expect("a text grows");
        let Some(fields) = table["properties"].as_object().filter(|fields| !fields.is_empty()) else {
            return;
        };
        let required: Vec<&str> = table["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let (mut first, mut others): (Vec<_>, Vec<_>) =
            fields.iter().partition(|(name, _)| required.contains(&name.as_str()));
        first.append(&mut others);
        let mut inner = Vec::new();
        for (name, field) in &first {
            if let Some((definition, header)) = self.table(path, name, field)
                && !self.places.contains_key(definition)
            {
                self.places.insert(definition, header.clone());
                inner.push((definition, header));
            }
        }
        self.text
            .push_str("\n| field | type | unit | default | meaning |\n|---|---|---|---|---|\n");
        for (name, field) in first {
            self.row(name, field, required.contains(&name.as_str()));
        }
        for (definition, header) in inner {
            let path = header.trim_matches(['[', ']']).to_owned() + ".";
            self.section(&format!("`{header}`"), &path, &self.definitions[definition]);
        }
    }

    fn row(&mut self, name: &str, field: &'a Value, is_required: bool) {
        let (meaning, default_text) = default_apart(&cell(text_of(field)));
        let default = match default_text {
            _ if is_required => "required".to_owned(),
            Some(default_text) => default_text,
            None => written(&field["default"]),
        };
        let kind = self.kind(field);
        let unit = Some(text_of(field)).filter(|_| kind.contains("number")).and_then(unit);
        let unit = unit.unwrap_or_else(|| "–".to_owned());
        let values = self.values(field);
        writeln!(
            self.text,
            "| `{name}` | {kind} | {unit} | {default} | {meaning}{values} |"
        )
        .expect("a text grows");
    }

    /// Returns the definition of a field that is a table, and its header in a file.
    fn table(&self, path: &str, name: &str, field: &'a Value) -> Option<(&'a str, String)> {
        let (definition, header) = if let Some(of) = reference(&field["additionalProperties"]) {
            (of, format!("[{path}{name}.<name>]"))
        } else if let Some(of) = reference(&field["items"]) {
            (of, format!("[[{path}{name}]]"))
        } else {
            (reference(field)?, format!("[{path}{name}]"))
        };
        self.definitions[definition]
            .get("properties")
            .map(|_| (definition, header))
    }

    /// Returns the type of a field's values, as text.
    fn kind(&self, field: &'a Value) -> String {
        if let Some((definition, _)) = self.table("", "", field) {
            let header = &self.places[definition];
            let many = if field.get("items").or(field.get("additionalProperties")).is_some() {
                "tables"
            } else {
                "table"
            };
            return format!("{many} [`{header}`](#{})", anchor(header));
        }
        if let Some(definition) = reference(field) {
            return self.kind(&self.definitions[definition]);
        }
        if let Some(choices) = field["oneOf"].as_array() {
            return choices
                .iter()
                .map(|choice| format!("`{}`", choice["const"]))
                .collect::<Vec<_>>()
                .join(", ");
        }
        if let Some(kinds) = field["anyOf"].as_array() {
            return kinds
                .iter()
                .map(|kind| self.kind(kind))
                .collect::<Vec<_>>()
                .join(" or ");
        }
        match type_of(field) {
            "number" => "number".to_owned(),
            "integer" => "whole number".to_owned(),
            "boolean" => "true or false".to_owned(),
            "string" => "text".to_owned(),
            "array" => {
                let one = self.kind(&field["items"]);
                match (field["minItems"].as_u64(), type_of(&field["items"])) {
                    (Some(n), _) => format!("{n} {one}s"),
                    (None, "array") => format!("rows of {one}"),
                    (None, "number" | "string") => format!("{one}s"),
                    (None, _) => format!("list of {one}"),
                }
            }
            "object" if field.get("additionalProperties").is_none() => "table".to_owned(),
            "object" => format!("table of {}s", self.kind(&field["additionalProperties"])),
            other => unreachable!("a field of type {other:?}: {field}"),
        }
    }

    /// Returns the meanings of the values of a field with a choice.
    fn values(&self, field: &'a Value) -> String {
        let of = reference(field)
            .or_else(|| reference(&field["items"]))
            .map_or(&Value::Null, |of| &self.definitions[of]["oneOf"]);
        let choices = of.as_array().into_iter().flatten();
        choices
            .map(|choice| format!("<br>`{}`: {}", choice["const"], cell(text_of(choice))))
            .collect()
    }
}

/// Returns the name of the definition that a field, optional or not, refers to.
fn reference(field: &Value) -> Option<&str> {
    let of = match field["anyOf"].as_array() {
        Some(kinds) if type_of(&kinds[1]) == "null" => &kinds[0],
        _ => field,
    };
    of["$ref"].as_str()?.strip_prefix("#/$defs/")
}

/// Returns the type of a field, without the `null` of an optional one.
fn type_of(field: &Value) -> &str {
    let of = &field["type"];
    of.as_str().or_else(|| of[0].as_str()).unwrap_or_default()
}

fn text_of(value: &Value) -> &str {
    value["description"].as_str().unwrap_or_default()
}

/// Returns a description without the source's line breaks; paragraphs are kept.
fn paragraphs(table: &Value) -> String {
    let paragraphs = text_of(table)
        .split("\n\n")
        .map(|paragraph| paragraph.replace('\n', " "));
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// Returns a description for a cell of a table.
fn cell(text: &str) -> String {
    text.replace("\n\n", "<br>").replace('\n', " ").replace('|', "\\|")
}

/// Splits a description into its text and the sentence with the default.
fn default_apart(text: &str) -> (String, Option<String>) {
    let Some(start) = text.find("Default") else {
        return (text.to_owned(), None);
    };
    let rest = &text[start..];
    let end = rest.find(". ").map_or(rest.len(), |dot| dot + 1);
    let default_text = rest[..end]
        .trim_start_matches("Default")
        .trim_start_matches(':')
        .trim()
        .trim_end_matches('.');
    let meaning = format!("{}{}", &text[..start], rest[end..].trim_start());
    (meaning.trim_end().to_owned(), Some(default_text.to_owned()))
}

/// Returns a default value in TOML; defaults of tables are documented at the tables' fields.
fn written(default: &Value) -> String {
    match default {
        Value::Null | Value::Object(_) => "–".to_owned(),
        Value::Array(values) => format!("[{}]", values.iter().map(number).collect::<Vec<_>>().join(", ")),
        value => format!("`{}`", number(value)),
    }
}

fn number(value: &Value) -> String {
    value
        .as_f64()
        .map_or_else(|| value.to_string(), |number| number.to_string())
}

/// Returns the unit in a description. If the description has one unit for rotational and one for
/// sliding joints, the latter follows in parentheses.
fn unit(description: &str) -> Option<String> {
    // Descriptions have line breaks.
    let words = description.split_whitespace();
    if words.clone().collect::<Vec<_>>().join(" ").contains("the input's unit") {
        return Some("the input's".to_owned());
    }
    if let Some((_, after)) = description.split_once("unit of the quantity") {
        let root = ["s", "Hz"].map(|unit| format!("per √{unit}"));
        let per = root.iter().find(|per| after.trim_start().starts_with(*per));
        return Some(per.map_or_else(|| "the quantity's".to_owned(), |per| format!("the quantity's {per}")));
    }
    let mut words = words.map(|word| word.trim_end_matches(['.', ',', ';', ':'])).peekable();
    let is_unit = |word: &str| UNITS.split(' ').any(|unit| unit == word);
    while let Some(word) = words.next() {
        if word == "degrees" {
            return Some(if words.peek() == Some(&"per") { "deg/s" } else { "deg" }.to_owned());
        }
        // Some units end in a parenthesis themselves.
        let word = if is_unit(word) {
            word
        } else {
            word.trim_matches(BRACKETS)
        };
        if is_unit(word) {
            let next = words.find(|word| !matches!(*word, "or" | "(or"));
            let other = next
                .map(|next| next.trim_matches(BRACKETS))
                .filter(|other| is_unit(other));
            return Some(other.map_or_else(|| word.to_owned(), |other| format!("{word} ({other})")));
        }
    }
    None
}

/// Returns the anchor that GitHub generates for a heading.
fn anchor(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == '_')
        .collect()
}
