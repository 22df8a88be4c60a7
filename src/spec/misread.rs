//! Specs that cannot be read as they are written: all unknown, missing and mistyped fields, and the
//! spec without them.

use super::node::from_table;
use super::{Composed, ReadError, Source, Spec, check, contact_group, contact_mesh, include, renamed, signal};
use crate::{Error, Problem};
use serde::de::DeserializeOwned;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// Largest number of problems that are looked for in one table.
const MOST_PROBLEMS: usize = 100;

/// Position of values that stand for missing ones.
const MISSING: Range<usize> = usize::MAX - 1..usize::MAX;

/// Reads a composed spec that cannot be read as it is written, as [`parse`](super::parse) does.
/// `first` is the first error of the parser; `problems` are known ones. Returns the problems of all
/// tables, without consequences of misread ones, and the spec without these.
///
/// # Errors
/// [`Error::Spec`] if nothing can be read.
pub(super) fn parse(
    composed: &Composed,
    directory: &std::path::Path,
    first: &ReadError,
    mut problems: Vec<Problem>,
) -> Result<(Spec, Vec<Problem>), Error> {
    let (found, spec) = misread::<Spec>(&composed.text, first, &[("name", "'craft'")]);
    problems.extend(found);
    let mut problems = include::by_paths(problems, composed);
    let Some(mut spec) = spec else {
        return Err(Error::Spec(problems));
    };
    let source = Source::new(&composed.text);
    let misread: Vec<Vec<String>> = problems
        .iter()
        .map(|problem| source.path_of(problem).unwrap_or_else(|| problem.at.clone()))
        .collect();
    let mut more = Vec::new();
    signal::load_tables(&mut spec, directory, &mut more);
    contact_mesh::load(&mut spec, &composed.meshes, &mut more);
    contact_group::expand(&mut spec, &mut more);
    check::check(&spec, &mut more);
    let is_consequence = |problem: &Problem| {
        misread.iter().any(|path| {
            let [section, name] = [0, 1].map(|i| path.get(i));
            let concerns = section == problem.at.first() && (path.len() < 3 || name == problem.at.get(1));
            // Its first sentence names what the problem concerns, a hint may follow.
            let what = problem.what.split(';').next().unwrap_or_default();
            concerns || name.is_some_and(|name| what.contains(&format!("\"{name}\"")))
        })
    };
    more.retain(|problem| !is_consequence(problem));
    problems.append(&mut more);
    Ok((spec, problems))
}

/// Returns the problems of a text that is not a `T`, a spec or a study, and the `T` with unknown
/// fields left out and with arbitrary values in place of missing and mistyped ones; `None` if that
/// is no `T` either. `required` has the fields at the top level that a `T` needs, each with any
/// value in TOML. For a text that is not TOML, returns only `first`.
pub fn misread<T: DeserializeOwned>(
    text: &str,
    first: &ReadError,
    required: &[(&str, &str)],
) -> (Vec<Problem>, Option<T>) {
    let Ok(table) = DeTable::parse(text) else {
        return (vec![syntax(first)], None);
    };
    let header = table.span();
    let mut problems = Vec::new();
    let mut whole = DeTable::new();
    let placeholders: Vec<Field> = required
        .iter()
        .filter_map(|(name, value)| placeholder(name, value))
        .collect();
    for (key, value) in &placeholders {
        let name = key.get_ref().as_ref();
        if !table.get_ref().contains_key(name) {
            problems.push(Problem {
                at: vec![name.to_owned()],
                what: format!("missing field `{name}`"),
            });
        }
        whole.insert(key.clone(), value.clone());
    }
    for field in table.get_ref().iter().flat_map(|(key, section)| parts(key, section)) {
        let own = field.0.get_ref().clone();
        let others = placeholders.iter().filter(|(key, _)| *key.get_ref() != own);
        let others: Vec<Field> = others.cloned().collect();
        let piece = Piece {
            table: others.iter().cloned().chain([field]).collect(),
            header: header.clone(),
            error: |table, span| from_table::<T>(table, span).err(),
        };
        for (key, value) in piece.repaired(&mut problems) {
            if !others.iter().any(|(other, _)| other.get_ref() == key.get_ref()) {
                merge(&mut whole, key, value);
            }
        }
    }
    if problems.is_empty() {
        problems.push(syntax(first));
    }
    let read = from_table(&whole, header).ok();
    (problems, read)
}

/// Returns a field with a value in TOML, at the position of missing ones.
fn placeholder<'a>(name: &str, value: &str) -> Option<Field<'a>> {
    let value = DeValue::parse(value).ok()?.into_inner();
    let value = match value {
        DeValue::String(text) => DeValue::String(text.into_owned().into()),
        DeValue::Table(_) => DeValue::Table(DeTable::new()),
        _ => return None,
    };
    Some((
        Spanned::new(MISSING, name.to_owned().into()),
        Spanned::new(MISSING, value),
    ))
}

/// Returns the problem of an error of the TOML syntax, with its position in bytes (`@start-end`).
pub(super) fn syntax(error: &ReadError) -> Problem {
    Problem {
        at: error.span().map(|at| vec![position(&at)]).unwrap_or_default(),
        what: words(error.message()),
    }
}

fn position(at: &Range<usize>) -> String {
    format!("@{}-{}", at.start, at.end)
}

type Field<'a> = (Spanned<DeString<'a>>, Spanned<DeValue<'a>>);

/// Splits a section of named tables into sections with one table each; returns any other section
/// and an empty one unchanged.
fn parts<'a>(key: &Spanned<DeString<'a>>, section: &Spanned<DeValue<'a>>) -> Vec<Field<'a>> {
    match section.get_ref() {
        DeValue::Table(list) if !list.is_empty() && list.values().all(|part| part.get_ref().is_table()) => {
            let alone = |table| (key.clone(), Spanned::new(section.span(), DeValue::Table(table)));
            let each = list.iter().map(|(name, part)| [(name.clone(), part.clone())]);
            each.map(|part| alone(part.into_iter().collect())).collect()
        }
        _ => vec![(key.clone(), section.clone())],
    }
}

/// Adds a field to a table; tables of the same key are merged.
fn merge<'a>(into: &mut DeTable<'a>, key: Spanned<DeString<'a>>, value: Spanned<DeValue<'a>>) {
    match (
        into.get_mut(key.get_ref().as_ref()).map(Spanned::get_mut),
        value.get_ref(),
    ) {
        (Some(DeValue::Table(known)), DeValue::Table(more)) => {
            known.extend(more.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        _ => {
            into.insert(key, value);
        }
    }
}

/// Part of a spec or study that is read on its own.
struct Piece<'a> {
    table: DeTable<'a>,
    header: Range<usize>,
    /// Returns the error of reading a table.
    error: fn(&DeTable<'_>, Range<usize>) -> Option<ReadError>,
}

impl<'a> Piece<'a> {
    /// Returns the error of reading the piece, with its position.
    fn error(&self) -> Option<(ReadError, Range<usize>)> {
        let error = (self.error)(&self.table, self.header.clone())?;
        let at = error.span().unwrap_or(self.header.clone());
        Some((error, at))
    }

    /// Reports unreadable fields and returns the table without them, or an empty table if it remains
    /// unreadable.
    fn repaired(mut self, problems: &mut Vec<Problem>) -> DeTable<'a> {
        let mut removed = Vec::new();
        for _ in 0..MOST_PROBLEMS {
            let Some((error, at)) = self.error() else {
                return self.table;
            };
            let missing = missing_field(&error);
            let mut path = Vec::new();
            let is_at_top = missing.is_some() && at == self.header;
            if !is_at_top && !find(&self.table, &at, missing.is_some(), &mut path) {
                problems.push(syntax(&error));
                return DeTable::new();
            }
            let is_repaired = match missing {
                Some(field) => {
                    let table = path.clone();
                    path.push(Step::Key(field.to_owned()));
                    // A placeholder table has no fields; these are not reported.
                    if at != MISSING && !removed.contains(&path) {
                        problems.push(problem(&path, &at, format!("missing field `{field}`")));
                    }
                    self.stand_in(&table, field)
                }
                None => {
                    let place = match path.as_slice() {
                        // An unknown section: at its only table, which others may name.
                        [Step::Key(section)] => self.in_section(section),
                        _ => path.clone(),
                    };
                    problems.push(problem(&place, &at, words(error.message())));
                    let is_removed = remove(&mut self.table, &path);
                    // A misspelt field is not missing too.
                    if error.message().starts_with("unknown field")
                        && let (Some(Step::Key(key)), Some(meant)) = (path.last_mut(), meant(error.message()))
                    {
                        *key = meant;
                    }
                    removed.push(path);
                    is_removed
                }
            };
            if !is_repaired {
                break;
            }
        }
        DeTable::new()
    }

    /// Returns the path of a section, or that of the only table in it.
    fn in_section(&self, section: &str) -> Vec<Step> {
        let mut path = vec![Step::Key(section.to_owned())];
        if let Some(DeValue::Table(tables)) = self.table.get(section).map(Spanned::get_ref)
            && let [(name, DeValue::Table(_))] =
                tables.iter().map(|(name, of)| (name, of.get_ref())).collect::<Vec<_>>()[..]
        {
            path.push(Step::Key(name.get_ref().to_string()));
        }
        path
    }

    /// Gives a missing field of a table a value of its type. Returns false if no value fits.
    fn stand_in(&mut self, table: &[Step], field: &str) -> bool {
        let values = ["1.0", "''", "[1.0, 0.0, 0.0]", "[]", "{}", "true", "1"];
        let mut values: Vec<DeValue<'static>> = (values.iter())
            .filter_map(|text| DeValue::parse(text).ok())
            .map(|value| without_position(value.into_inner()))
            .rev()
            .collect();
        while let Some(value) = values.pop() {
            let is_text = value.is_str();
            let Some(table) = follow(&mut self.table, table) else {
                return false;
            };
            table.remove(field);
            table.insert(
                Spanned::new(MISSING, field.to_owned().into()),
                Spanned::new(MISSING, value),
            );
            let Some((error, at)) = self.error() else { return true };
            if at != MISSING || missing_field(&error).is_some() {
                return true;
            }
            // One of the words that are possible.
            if let (true, Some(word)) = (is_text, quoted(error.message()).nth(1)) {
                values.push(DeValue::String(word.to_owned().into()));
            }
        }
        false
    }
}

/// Returns a value with its parts at the position of missing ones.
fn without_position(value: DeValue<'static>) -> DeValue<'static> {
    match value {
        DeValue::Array(items) => {
            let items = items.into_iter().map(|item| Spanned::new(MISSING, item.into_inner()));
            DeValue::Array(items.collect())
        }
        other => other,
    }
}

/// Returns the name of the field of an error "missing field".
fn missing_field(error: &ReadError) -> Option<&str> {
    error.message().strip_prefix("missing field `")?.strip_suffix('`')
}

/// Step of a path from a table to a field.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Key(String),
    /// Table of a list.
    Item(usize),
}

/// Finds the path to the field at a position, or if `is_missing` to the table there, which lacks a
/// field. A value in a list of values belongs to the field of the list.
fn find(table: &DeTable, at: &Range<usize>, is_missing: bool, path: &mut Vec<Step>) -> bool {
    for (key, value) in table {
        path.push(Step::Key(key.get_ref().to_string()));
        let is_here = value.span() == *at && (value.get_ref().is_table() || !is_missing);
        if is_here || (key.span() == *at && !is_missing) || find_in(value.get_ref(), at, is_missing, path) {
            return true;
        }
        path.pop();
    }
    false
}

/// Finds the path as [`find`] does, in the value of a field.
fn find_in(value: &DeValue, at: &Range<usize>, is_missing: bool, path: &mut Vec<Step>) -> bool {
    let items = match value {
        DeValue::Table(table) => return find(table, at, is_missing, path),
        DeValue::Array(items) => items,
        _ => return false,
    };
    for (index, item) in items.iter().enumerate() {
        let DeValue::Table(table) = item.get_ref() else {
            if item.span().start <= at.start && at.end <= item.span().end {
                return true;
            }
            continue;
        };
        path.push(Step::Item(index));
        if (is_missing && item.span() == *at) || find(table, at, is_missing, path) {
            return true;
        }
        path.pop();
        if item.span() == *at {
            return true;
        }
    }
    false
}

/// Returns the table at the end of a path.
fn follow<'t, 'a>(table: &'t mut DeTable<'a>, path: &[Step]) -> Option<&'t mut DeTable<'a>> {
    let Some((Step::Key(key), rest)) = path.split_first() else {
        return path.is_empty().then_some(table);
    };
    match (table.get_mut(key.as_str())?.get_mut(), rest.split_first()) {
        (DeValue::Array(items), Some((Step::Item(index), rest))) => match items.get_mut(*index)?.get_mut() {
            DeValue::Table(table) => follow(table, rest),
            _ => None,
        },
        (DeValue::Table(table), _) => follow(table, rest),
        _ => None,
    }
}

/// Removes the field at the end of a path. Returns false if it is not there.
fn remove(table: &mut DeTable, path: &[Step]) -> bool {
    let Some((Step::Key(key), parents)) = path.split_last() else {
        return false;
    };
    follow(table, parents).is_some_and(|table| table.remove(key.as_str()).is_some())
}

/// Returns a problem at a path, or in a list at its position in the text.
fn problem(path: &[Step], at: &Range<usize>, what: String) -> Problem {
    let key = |step: &Step| match step {
        Step::Key(key) => Some(key.clone()),
        Step::Item(_) => None,
    };
    Problem {
        at: path
            .iter()
            .map(key)
            .collect::<Option<_>>()
            .unwrap_or_else(|| vec![position(at)]),
        what,
    }
}

/// Returns the parts of a message in back quotes.
fn quoted(message: &str) -> impl Iterator<Item = &str> {
    message.split('`').skip(1).step_by(2)
}

/// Returns the field or word that is probably meant by an unknown one.
fn meant(message: &str) -> Option<String> {
    let mut names = quoted(message).map(str::to_owned);
    let name = names.next().filter(|_| message.starts_with("unknown "))?;
    if let Some(new) = renamed::field(&name) {
        return Some(new.to_owned());
    }
    let known: Vec<String> = names.collect();
    let similar = || check::nearest(&name, known.iter());
    renamed::synonym(&name, &known).or_else(similar).cloned()
}

/// Returns the message of the TOML parser in the terms of the spec.
pub fn words(message: &str) -> String {
    if let Some(rest) = message.strip_prefix("unknown ") {
        let what = if rest.starts_with("field") { "field" } else { "word" };
        let mut names = quoted(message);
        let name = names.next().unwrap_or_default();
        let known: Vec<&str> = names.collect();
        return match meant(message) {
            Some(new) if renamed::field(name).is_some() => format!("`{name}` is called `{new}` since version 0.2"),
            Some(meant) => format!("unknown {what} `{name}`; did you mean `{meant}`?"),
            None if known.is_empty() => format!("unknown {what} `{name}`"),
            None => format!("unknown {what} `{name}`; known are `{}`", known.join("`, `")),
        };
    }
    let halves = message
        .strip_prefix("invalid ")
        .and_then(|rest| rest.split_once(", expected "));
    let Some((found, expected)) = halves else {
        return in_plain_words(message).to_owned();
    };
    let is_measure = expected == "f64" && found.contains("string \"") && found.contains(|c: char| c.is_ascii_digit());
    let hint = match is_measure {
        true => "; write the number alone, in SI units",
        false => "",
    };
    format!(
        "expected {}, found {}{hint}",
        type_expected(expected),
        value_found(found)
    )
}

/// Returns a message about the syntax of TOML in plain words.
fn in_plain_words(message: &str) -> &str {
    match message {
        "string values must be quoted, expected literal string" => "a text is written in quotes: \"base\"",
        "unexpected key or value, expected newline, `#`" => {
            "the line should end here: a field has one value, decimals have a point, lists have brackets"
        }
        "duplicate key" => "duplicate: this field or table is already written above",
        other => other,
    }
}

/// Returns the name of a type that `serde` expects.
fn type_expected(expected: &str) -> String {
    let number = |end: &str| {
        expected
            .strip_prefix("an array of length ")
            .map(|n| format!("a list of {n}{end}"))
    };
    match expected {
        "f64" => "a number".to_owned(),
        "a string" => "a text in quotes".to_owned(),
        "a boolean" => "`true` or `false`".to_owned(),
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, zero or more".to_owned(),
        "i64" => "a whole number".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "a table".to_owned(),
        _ if expected.starts_with("struct ") => "a table".to_owned(),
        _ => number(" values").unwrap_or_else(|| expected.to_owned()),
    }
}

/// Returns the description of a value that `serde` found: `type: string "3"`, `length 2`.
fn value_found(found: &str) -> String {
    let found = found
        .strip_prefix("type: ")
        .or(found.strip_prefix("value: "))
        .unwrap_or(found);
    let plain = ["integer `", "floating point `", "boolean `"];
    if let Some(value) = plain.iter().find_map(|prefix| found.strip_prefix(prefix)) {
        return value.trim_end_matches('`').to_owned();
    }
    match (found, found.strip_prefix("string "), found.strip_prefix("length ")) {
        ("map", ..) => "a table".to_owned(),
        ("sequence", ..) => "a list".to_owned(),
        // Of TOML, only a date is read as one.
        ("unit value", ..) => "a date".to_owned(),
        (_, Some(text), _) => format!("the text {text}"),
        (_, _, Some(length)) => format!("{length} of them"),
        _ => found.to_owned(),
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![parser_messages_use_terms_of_the_spec];

    fn parser_messages_use_terms_of_the_spec() {
        for (message, said) in [
            (
                "invalid type: string \"3\", expected f64",
                "expected a number, found the text \"3\"; write the number alone, in SI units",
            ),
            (
                "invalid type: integer `3`, expected a string",
                "expected a text in quotes, found 3",
            ),
            (
                "invalid length 2, expected an array of length 3",
                "expected a list of 3 values, found 2 of them",
            ),
            (
                "invalid type: map, expected a boolean",
                "expected `true` or `false`, found a table",
            ),
            (
                "unknown variant `revolut`, expected one of `revolute`, `free`",
                "unknown word `revolut`; did you mean `revolute`?",
            ),
            (
                "unknown field `foo`, expected `mass` or `inertia`",
                "unknown field `foo`; known are `mass`, `inertia`",
            ),
        ] {
            assert_eq!(words(message), said);
        }
    }
}
