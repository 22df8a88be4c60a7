use super::misread::syntax;
use crate::{Error, Problem};
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// Reads a text file of at most `limit` bytes.
///
/// # Errors
/// If the file cannot be read, is larger than `limit` (an endless device, for instance), or is not
/// UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(read_bytes(path, limit)?).map_err(|_| io::Error::other("it is not text in UTF-8"))
}

/// Reads a file of at most `limit` bytes.
///
/// # Errors
/// If the file cannot be read or is larger than `limit` (an endless device, for instance).
pub fn read_bytes(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than the limit distinguishes a file at the limit from a larger one.
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::other(format!("it is larger than {limit} bytes")));
    }
    Ok(bytes)
}

/// Text of a spec with the position of every field.
pub struct Source<'a> {
    text: &'a str,
    table: Option<Spanned<DeTable<'a>>>,
}

impl<'a> Source<'a> {
    /// Parses the positions of the fields. A text that is not TOML has none.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            table: DeTable::parse(text).ok(),
        }
    }

    /// Returns the byte range of the field that a problem concerns or, if the text does not contain
    /// it, of the innermost enclosing table; `None` if there is none.
    pub fn locate(&self, problem: &Problem) -> Option<Range<usize>> {
        self.locate_with_depth(problem).map(|(_, place)| place)
    }

    /// Returns the byte range of [`locate`](Self::locate) with the number of keys of the problem's
    /// path that lead to it.
    pub fn locate_with_depth(&self, problem: &Problem) -> Option<(usize, Range<usize>)> {
        if let Some(range) = byte_range(problem) {
            return Some((0, range));
        }
        let mut table = self.table.as_ref()?.get_ref();
        let mut found = None;
        for (depth, key) in problem.at.iter().enumerate() {
            let Some((key, value)) = table.get_key_value(key.as_str()) else {
                break;
            };
            match value.get_ref() {
                DeValue::Table(inner) => {
                    found = Some((depth + 1, key.span()));
                    table = inner;
                }
                _ => {
                    found = Some((depth + 1, key.span().start..value.span().end));
                    break;
                }
            }
        }
        found
    }

    /// Returns the path of the field at the byte range of a problem; `None` if it has a path itself.
    pub(super) fn path_of(&self, problem: &Problem) -> Option<Vec<String>> {
        let place = byte_range(problem)?;
        let mut table = self.table.as_ref()?.get_ref();
        let mut path = Vec::new();
        let holds = |key: &Spanned<DeString>, value: &Spanned<DeValue>| {
            // The span of a table with a header is the header, which begins before its last key.
            let (key, span) = (key.span(), value.span());
            key.start.min(span.start) <= place.start && place.end <= key.end.max(span.end)
                || contains(value.get_ref(), &place)
        };
        while let Some((key, value)) = table.iter().find(|(key, value)| holds(key, value)) {
            path.push(key.get_ref().to_string());
            match value.get_ref() {
                DeValue::Table(inner) => table = inner,
                _ => break,
            }
        }
        Some(path)
    }

    /// Returns the line of a byte of the text, counted from one.
    pub fn line(&self, byte: usize) -> usize {
        1 + self.text.as_bytes()[..byte.min(self.text.len())]
            .iter()
            .filter(|&&b| b == b'\n')
            .count()
    }
}

/// Returns true if a key or a value in a table or list, or in those in it, is at this byte range.
fn contains(value: &DeValue, place: &Range<usize>) -> bool {
    let within = |span: Range<usize>| span.start <= place.start && place.end <= span.end;
    match value {
        DeValue::Table(table) => {
            let mut fields = table.iter();
            fields.any(|(key, value)| within(key.span()) || within(value.span()) || contains(value.get_ref(), place))
        }
        DeValue::Array(items) => (items.iter()).any(|item| within(item.span()) || contains(item.get_ref(), place)),
        _ => false,
    }
}

/// Returns the byte range of a problem that has one in place of a path.
fn byte_range(problem: &Problem) -> Option<Range<usize>> {
    let [only] = problem.at.as_slice() else { return None };
    let (start, end) = only.strip_prefix('@')?.split_once('-')?;
    Some(start.parse().ok()?..end.parse().ok()?)
}

/// Returns a problem for each number that is not finite: TOML has `inf` and `nan`, a spec has not.
///
/// # Errors
/// [`Error::Spec`] with the first syntax error if the text is not TOML.
pub(super) fn non_finite_numbers(text: &str) -> Result<Vec<Problem>, Error> {
    let table = DeTable::parse(text).map_err(|e| Error::Spec(vec![syntax(&e.into())]))?;
    let mut problems = Vec::new();
    for (key, value) in table.get_ref() {
        walk(value.get_ref(), &mut vec![key.get_ref().to_string()], &mut problems);
    }
    Ok(problems)
}

/// Adds a problem for each number in `value` that is not finite; `path` is the path of `value`.
fn walk(value: &DeValue, path: &mut Vec<String>, problems: &mut Vec<Problem>) {
    match value {
        DeValue::Float(number) => {
            let finite = number
                .as_str()
                .replace('_', "")
                .parse::<f64>()
                .is_ok_and(f64::is_finite);
            if !finite {
                problems.push(Problem {
                    at: path.clone(),
                    what: format!("{} is not a finite number", number.as_str()),
                });
            }
        }
        DeValue::Array(items) => items.iter().for_each(|item| walk(item.get_ref(), path, problems)),
        DeValue::Table(table) => {
            for (key, value) in table {
                path.push(key.get_ref().to_string());
                walk(value.get_ref(), path, problems);
                path.pop();
            }
        }
        _ => {}
    }
}
