//! Names in a mounted spec: all that it defines, and all fields that refer to them.

use crate::spec::WORLD;
use toml::{Table, Value};

/// Sections that are a single table or value. All others have tables that the user names.
pub(super) const SINGLE: [&str; 15] = [
    "name",
    "format",
    "include",
    "description",
    "kind",
    "controller",
    "formulation",
    "constraints",
    "quaternion",
    "environment",
    "assembly",
    "output",
    "experiment",
    "solver",
    "monitor",
];

/// Fields that refer to a part of the model by its name; `*` is any key, and any item of a list.
pub(super) const REFERENCES: [&str; 49] = [
    "assembly.fixed.*",
    "body.*.attitude_servo.wheels.*",
    "cmg.*.body",
    "contact.*.a",
    "contact.*.b",
    "contact_group.*.a.*",
    "contact_group.*.among.*",
    "contact_group.*.b.*",
    "contact_group.*.except.*.*",
    "coupling.*.follows",
    "coupling.*.joint",
    "exposed_surface.*.frame",
    "frame.*.body",
    "grasp.*.a",
    "grasp.*.b",
    "interface.*.frame",
    "joint.*.child",
    "joint.*.parent",
    "kinematics.*.frame",
    "kinematics.*.joints.*",
    "line_load.*.body",
    "loop.*.a",
    "loop.*.b",
    "magnetic_dipole.*.frame",
    "measure.*.from",
    "measure.*.to",
    "plan.*.goal.*.frame",
    "plan.*.goal.*.mass_centre.*",
    "plan.*.goal.*.relative_to",
    "plan.*.joints.*",
    "port.*.frame",
    "sensor.*.blocked_by.*.frame",
    "sensor.*.frame",
    "sensor.*.joint",
    "sensor.*.target",
    "spring.*.a",
    "spring.*.b",
    "tank.*.body",
    "task.*.contacts.*",
    "task.*.frame",
    "task.*.joints.*",
    "task.*.ports.*",
    "task.*.relative_to",
    "tether.*.a",
    "tether.*.b",
    "thermal_bending.*.body",
    "thruster.*.frame",
    "thruster.*.tank",
    "wheel.*.body",
];

/// Returns true if the tables of this section have names.
pub(super) fn is_named(section: &str) -> bool {
    !SINGLE.contains(&section)
}

/// Gives all names in a spec, and all references to them but `world`, a prefix.
pub(super) fn add_prefix(spec: &mut Table, prefix: &str) {
    for (section, value) in spec.iter_mut() {
        if let Some(tables) = value.as_table_mut().filter(|_| is_named(section)) {
            prefix_keys(tables, prefix);
        }
    }
    if let Some(weights) = spec
        .get_mut("assembly")
        .and_then(|assembly| assembly.get_mut("weights"))
    {
        weights
            .as_table_mut()
            .into_iter()
            .for_each(|weights| prefix_keys(weights, prefix));
    }
    each_reference(spec, |name| {
        if name != WORLD {
            name.insert_str(0, prefix);
        }
    });
}

fn prefix_keys(table: &mut Table, prefix: &str) {
    let renamed = std::mem::take(table).into_iter();
    table.extend(renamed.map(|(name, value)| (format!("{prefix}{name}"), value)));
}

/// Passes the names in all fields that refer to a part of the model to `to`.
pub(super) fn each_reference(spec: &mut Table, mut to: impl FnMut(&mut String)) {
    for path in REFERENCES {
        let mut path = path.split('.');
        if let Some(section) = path.next().and_then(|section| spec.get_mut(section)) {
            visit(section, path, &mut to);
        }
    }
}

/// Passes the texts at a path in `value` to `to`.
fn visit<'p>(value: &mut Value, mut path: impl Iterator<Item = &'p str> + Clone, to: &mut impl FnMut(&mut String)) {
    match (path.next(), value) {
        (None, Value::String(name)) => to(name),
        (Some("*"), Value::Table(table)) => {
            for (_, value) in table.iter_mut() {
                visit(value, path.clone(), to);
            }
        }
        (Some("*"), Value::Array(items)) => {
            for item in items {
                visit(item, path.clone(), to);
            }
        }
        (Some(key), Value::Table(table)) => {
            if let Some(value) = table.get_mut(key) {
                visit(value, path, to);
            }
        }
        _ => {}
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;
    use serde_json::Value as Json;

    unit_tests![each_text_of_the_schema_is_a_reference_or_names_no_part];

    /// Every field of the spec that has a text is a reference or one of the texts that name no part
    /// of the model, and every table with keys that the user chooses has names that are prefixed, or
    /// names of its own: a new field cannot be forgotten.
    fn each_text_of_the_schema_is_a_reference_or_names_no_part() {
        const NO_PARTS: [&str; 9] = [
            "ancf_beam.*.shape.*.colour",
            "ancf_beam.*.shape.*.file",
            "body.*.contact_shape.file",
            "body.*.shape.*.colour",
            "body.*.shape.*.file",
            "contact.*.shape_a.file",
            "contact.*.shape_b.file",
            "frame.*.contact_shape.file",
            "signal.*.file",
        ];
        const KEYED: [&str; 6] = [
            "ancf_beam.*.shape",
            "assembly.weights",
            "body.*.modal.node",
            "body.*.shape",
            "tank.*.mode",
            "tank.*.start",
        ];
        let schema: Json = serde_json::from_str(&crate::spec::schema()).expect("JSON");
        let (mut texts, mut keyed) = (Vec::new(), Vec::new());
        let sections = schema["properties"].as_object().expect("sections");
        for (section, field) in sections {
            if section == "assembly" || is_named(section) && section != "mount" {
                walk(&schema, field, section, &mut texts, &mut keyed);
            }
        }
        let mut listed: Vec<&str> = REFERENCES.into_iter().chain(NO_PARTS).collect();
        listed.sort_unstable();
        texts.sort();
        texts.dedup();
        assert_eq!(texts, listed);
        keyed.retain(|path| !is_named(path) || path.contains('.'));
        assert_eq!(keyed, KEYED);
        // Single sections are all that have no named tables.
        let single = sections
            .iter()
            .filter(|(_, field)| field.get("additionalProperties").is_none());
        let mut single: Vec<&str> = single.map(|(section, _)| section.as_str()).collect();
        single.sort_unstable();
        let mut written = SINGLE;
        written.sort_unstable();
        assert_eq!(single, written);
    }

    /// Collects the paths of texts that are no choices, and of tables with the user's keys.
    fn walk(schema: &Json, field: &Json, path: &str, texts: &mut Vec<String>, keyed: &mut Vec<String>) {
        if let Some(of) = field["$ref"].as_str() {
            let of = of.rsplit('/').next().expect("a name");
            walk(schema, &schema["$defs"][of], path, texts, keyed);
        }
        for choice in field["anyOf"].as_array().into_iter().flatten() {
            walk(schema, choice, path, texts, keyed);
        }
        let kinds = &field["type"];
        let is_text = kinds == "string" || kinds.as_array().is_some_and(|kinds| kinds.contains(&"string".into()));
        if is_text && field.get("const").or(field.get("enum")).is_none() {
            texts.push(path.to_owned());
        }
        if let Some(of) = field.get("additionalProperties").filter(|of| of.is_object()) {
            keyed.push(path.to_owned());
            walk(schema, of, &format!("{path}.*"), texts, keyed);
        }
        if let Some(of) = field.get("items") {
            walk(schema, of, &format!("{path}.*"), texts, keyed);
        }
        for (name, of) in field["properties"].as_object().into_iter().flatten() {
            walk(schema, of, &format!("{path}.{name}"), texts, keyed);
        }
    }
}
