//! Specs that are parts of others: `[mount.left] spec = "arm.toml"`.

mod attach;
mod names;
mod place;

#[cfg(feature = "inside")]
test_modules![names::tests];

pub use place::places;

use super::include::{Composer, merge};
use super::{FORMAT, FreeStart, from_text, misread, problem, source, unknown};
use crate::Problem;
use attach::Carrier;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::path::Path;
use toml::{Table, Value};

/// Mount: another spec as a part of this one, with the prefix `<mount>.` before all its names: the
/// joint `shoulder` of the mount `left` is `left.shoulder`. `docs/include.md` describes it.
///
/// With `on` a joint with the name of the mount attaches it. If all bodies of the mounted spec stand
/// on its world, `on` takes the place of that world instead. The settings of the mounted spec
/// (environment, formulation, outputs, experiment, solver, monitor) do not apply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mount {
    /// File of the mounted spec, relative to this file.
    pub spec: String,
    /// Frame, body or `world` that carries it; of this spec, or of another mount (`left.tip`).
    /// Default: none, it floats, or stands on the world, as in its own file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// Body of the mounted spec that the joint carries, or that has the `start`. Default: the only
    /// one that no joint of the mounted spec carries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Origin of the joint's frame F, m, from the origin of `on` in its axes. Only with `on`. Default
    /// `[0, 0, 0]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<[f64; 3]>,
    /// Attitude of F in `on`, unit quaternion (w, x, y, z). Only with `on`. Default: the axes of `on`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<[f64; 4]>,
    /// Attitude of F in place of `orientation`: roll, pitch, yaw about the fixed axes x, y, z of
    /// `on`, degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rpy_deg: Option<[f64; 3]>,
    /// The joint that attaches it, with the fields of `[joint.<name>]` except `parent`, `child`,
    /// `origin`, `orientation` and `rpy_deg`. Only with `on`. Default: fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "fields")]
    pub joint: Option<Table>,
    /// Initial motion of the root, merged over that of its file. Only without `on`. Default: as in
    /// its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<FreeStart>")]
    pub start: Option<Table>,
    /// Changed fields of the mounted spec, by the names of its file, merged over it:
    /// `set.joint.shoulder.damping = 0.2`. Default: none.
    #[serde(default, skip_serializing_if = "Table::is_empty")]
    #[schemars(schema_with = "fields")]
    pub set: Table,
}

/// Returns the schema of a table whose fields are those of other tables.
fn fields(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

/// Settings that a mounted spec has for runs of its own.
const SETTINGS: [&str; 7] = [
    "formulation",
    "constraints",
    "quaternion",
    "environment",
    "output",
    "solver",
    "monitor",
];

/// A mounted spec.
struct Part {
    mount: Mount,
    /// Name of the mount.
    name: String,
    /// Content with prefixed names, without settings.
    table: Table,
}

/// Replaces the mounts in `host` by the content of their files. `prefix` is that of the names of
/// `host` in the whole spec.
pub(super) fn expand(composer: &mut Composer, host: &mut Table, prefix: &str) {
    let mounts = match host.remove("mount") {
        None => return,
        Some(Value::Table(mounts)) => mounts,
        Some(_) => {
            let what = "expected tables, `[mount.left]`".to_owned();
            return composer.composed.problems.push(problem("mount", "", "", what));
        }
    };
    let before = composer.composed.problems.len();
    let mut parts = Vec::new();
    for (name, value) in mounts {
        parts.extend(Part::read(composer, host, prefix, name, value));
    }
    let problems = &mut composer.composed.problems;
    // Fields of the other mounts may name parts of one that is not read.
    if problems.len() > before {
        return;
    }
    let carriers: Vec<_> = (parts.iter().map(|part| Carrier::of(&part.mount, host, &parts))).collect();
    for (part, carrier) in parts.iter_mut().zip(carriers) {
        if let Err((field, what)) = carrier.and_then(|carrier| part.attach(carrier)) {
            problems.push(problem("mount", &format!("{prefix}{}", part.name), field, what));
        }
    }
    for part in parts {
        part.add_to(host, prefix, problems);
    }
}

impl Part {
    /// Reads a mounted spec with its changes. Reports errors, and returns `None` if it cannot be read.
    fn read(composer: &mut Composer, host: &Table, prefix: &str, name: String, value: Value) -> Option<Self> {
        let whole = format!("{prefix}{name}");
        let report = |composer: &mut Composer, field: &str, what: String| {
            composer.composed.problems.push(problem("mount", &whole, field, what));
        };
        if let Some(what) = super::objection(&name) {
            report(composer, "", what);
        }
        let mount = match parse(&name, value) {
            Ok(mount) => mount,
            Err(mut problem) => {
                if let Some(name) = problem.at.get_mut(1) {
                    name.insert_str(0, prefix);
                }
                composer.composed.problems.push(problem);
                return None;
            }
        };
        let inner = format!("{whole}.");
        let read = composer.read(Path::new(&mount.spec), &inner, |composer, mut table| {
            for (at, what) in change(&mut table, &mount.set) {
                let at = [super::at("mount", &whole, "set"), at].concat();
                composer.composed.problems.push(Problem { at, what });
            }
            expand(composer, &mut table, &inner);
            table
        });
        let mut table = match read {
            Ok(table) => table,
            Err(what) => {
                report(composer, "spec", what);
                return None;
            }
        };
        if table
            .get("kind")
            .is_some_and(|kind| kind.as_str() == Some("controller"))
        {
            let what = "it is the spec of a controller, which has no bodies: `grapple couple` connects it".to_owned();
            report(composer, "spec", what);
        }
        if let Some(format) = table.get("format").filter(|of| of.as_integer() != Some(FORMAT.into())) {
            report(
                composer,
                "spec",
                format!("it has format {format}, this version reads format {FORMAT}"),
            );
        }
        for (section, value) in &table {
            if names::is_named(section) && !value.is_table() {
                let what = format!("expected a table, in {}", mount.spec);
                composer.composed.problems.push(problem(section, "", "", what));
            }
        }
        let differs = |setting: &&str| table.get(*setting).is_some_and(|of| host.get(*setting) != Some(of));
        let equilibrium = |spec: &Table| spec.get("assembly").and_then(|of| of.get("equilibrium")?.as_bool());
        let mut unused: Vec<&str> = SETTINGS.into_iter().filter(differs).collect();
        if equilibrium(&table) == Some(true) && equilibrium(host) != Some(true) {
            unused.push("assembly.equilibrium");
        }
        if !unused.is_empty() {
            let what = format!(
                "mount \"{whole}\": {} of {} does not apply",
                unused.join(", "),
                mount.spec
            );
            composer.composed.unused.push(what);
        }
        table.retain(|section, _| names::is_named(section) || section == "assembly");
        if let Some(assembly) = table.get_mut("assembly").and_then(Value::as_table_mut) {
            assembly.remove("equilibrium");
        }
        names::add_prefix(&mut table, &format!("{name}."));
        Some(Self { mount, name, table })
    }

    /// Adds the content to the host. Signals and start values of inputs that the host has itself
    /// replace those of the mounted spec.
    fn add_to(self, host: &mut Table, prefix: &str, problems: &mut Vec<Problem>) {
        let Self { name, table, mount } = self;
        let bodies = host.get("body").and_then(Value::as_table).into_iter().flatten();
        for (body, _) in bodies.filter(|(body, _)| body.starts_with(&format!("{name}."))) {
            let known: Vec<String> = named(&table, "body").map(|(name, _)| name.clone()).collect();
            if !known.contains(body) {
                let what = unknown("body", body, known.iter());
                problems.push(problem("body", &format!("{prefix}{body}"), "", what));
            }
        }
        for (section, value) in table {
            // Others have been reported.
            let Value::Table(tables) = value else { continue };
            let below = host
                .entry(section.clone())
                .or_insert_with(|| Value::Table(Table::new()));
            // The host's own error is reported where the spec is parsed.
            let Some(below) = below.as_table_mut() else { continue };
            for (key, value) in tables {
                match (section.as_str(), below.get_mut(&key)) {
                    (_, None) => {
                        below.insert(key, value);
                    }
                    ("signal" | "input", Some(_)) => {}
                    ("assembly", Some(written)) => add(written, value),
                    (_, Some(_)) => {
                        let what = match key.strip_prefix(&format!("{name}.")) {
                            Some(own) => format!(
                                "{} has it already: change its fields in [mount.{name}.set.{section}.{own}]",
                                mount.spec
                            ),
                            None => format!("the {section} of the mount has this name: choose another"),
                        };
                        problems.push(problem(&section, &format!("{prefix}{key}"), "", what));
                    }
                }
            }
        }
    }
}

/// Adds the items of a list or the fields of a table to another.
fn add(to: &mut Value, value: Value) {
    match (to, value) {
        (Value::Array(to), Value::Array(items)) => to.extend(items),
        (Value::Table(to), Value::Table(fields)) => merge(to, fields),
        _ => {}
    }
}

/// Returns the tables of a section with their names.
fn named<'a>(spec: &'a Table, section: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    spec.get(section).and_then(Value::as_table).into_iter().flatten()
}

/// Reads the table of a mount.
///
/// # Errors
/// The first error, at its field.
fn parse(name: &str, value: Value) -> Result<Mount, Problem> {
    let table = Table::from_iter([(name.to_owned(), value)]);
    let text = Table::from_iter([("mount".to_owned(), Value::Table(table))]).to_string();
    #[derive(Deserialize)]
    struct Only {
        mount: indexmap::IndexMap<String, Mount>,
    }
    match from_text::<Only>(&text) {
        Ok(Only { mut mount }) => Ok(mount.swap_remove(name).expect("the only mount")),
        Err(error) => {
            let at = source::Source::new(&text).path_of(&misread::syntax(&error));
            Err(Problem {
                at: at.unwrap_or_else(|| super::at("mount", name, "")),
                what: misread::words(error.message()),
            })
        }
    }
}

/// Merges changes over a mounted spec. Returns errors with their paths in `set`: settings, which
/// would not apply, and names that the spec does not have.
fn change(table: &mut Table, set: &Table) -> Vec<(Vec<String>, String)> {
    let mut problems = Vec::new();
    for (section, changes) in set {
        let is_assembly = section == "assembly" && changes.get("equilibrium").is_none();
        if !names::is_named(section) && !is_assembly {
            let what = format!("`{section}` of a mounted spec does not apply: write it in this file, not in `set`");
            problems.push((vec![section.clone()], what));
            continue;
        }
        let Some(changes) = changes.as_table() else {
            problems.push((vec![section.clone()], "expected a table".to_owned()));
            continue;
        };
        let known: Vec<&String> = named(table, section).map(|(name, _)| name).collect();
        for (name, _) in changes {
            if !matches!(section.as_str(), "signal" | "input" | "assembly") && !known.contains(&name) {
                let what = unknown(section, name, known.iter().copied());
                problems.push((vec![section.clone(), name.clone()], what));
            }
        }
    }
    merge(table, set.clone());
    problems
}
