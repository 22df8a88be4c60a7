//! Specs that are based on others: `include = ["robot.toml"]`.

use super::{problem, source};
use crate::{Error, Problem};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Upper limit of the size of all included files together, bytes.
const SIZE_LIMIT: usize = 64 << 20;

/// Largest number of included files, each counted as often as it is included.
const MOST_FILES: usize = 256;

/// Text of a spec with all that it includes.
#[derive(Clone, Debug, Default)]
pub struct Composed {
    /// The spec as one text. Without `include` it is the text of the file.
    pub text: String,
    /// The included files, path and text: each after those that it includes itself.
    pub included: Vec<(PathBuf, String)>,
}

/// Replaces `include` by the content of the files that it names, whose paths are relative to
/// `directory`.
///
/// The files are read in their order, then the spec itself: tables are merged, every other value
/// replaces the one before it. Names of tables' files (`signal.<input>.file`) remain relative to
/// the spec that contains them.
///
/// # Errors
/// [`Error::Spec`] at `include` for a file that cannot be read, is not TOML or includes itself.
pub fn compose(text: &str, directory: &Path) -> Result<Composed, Error> {
    let mut composed = Composed::default();
    // A text that is not TOML is reported with its position by the parser of the spec.
    let table = text.parse::<Table>().ok();
    let includes = |table: &Table| match table.get("include") {
        Some(Value::Array(files)) => !files.is_empty(),
        other => other.is_some(),
    };
    let Some(table) = table.filter(includes) else {
        text.clone_into(&mut composed.text);
        return Ok(composed);
    };
    let whole = merged(table, directory, Path::new(""), &mut Vec::new(), &mut composed.included)
        .map_err(|what| Error::Spec(vec![problem("include", "", "", what)]))?;
    composed.text = whole.to_string();
    Ok(composed)
}

/// Merges a spec into those that it includes. `folder` is the folder of the spec relative to
/// `directory`, `open` are the absolute paths of the included files that it is part of, with their
/// sizes in bytes.
///
/// # Errors
/// A message with the file's name.
fn merged(
    mut table: Table,
    directory: &Path,
    folder: &Path,
    open: &mut Vec<(PathBuf, usize)>,
    read: &mut Vec<(PathBuf, String)>,
) -> Result<Table, String> {
    relocate_tables(&mut table, folder);
    let files = match table.remove("include") {
        None => return Ok(table),
        Some(Value::Array(files)) => files,
        Some(_) => return Err("expected a list of files, `include = [\"robot.toml\"]`".to_owned()),
    };
    let mut whole = Table::new();
    for file in files {
        let name = file.as_str().ok_or("expected names of files, as strings")?;
        let path = folder.join(name);
        let shown = path.display();
        let unreadable = |error| format!("cannot read {shown}: {error}");
        let file = std::fs::canonicalize(directory.join(&path)).map_err(unreadable)?;
        if open.iter().any(|(path, _)| *path == file) {
            return Err(format!("{shown} includes itself"));
        }
        if read.len() + open.len() == MOST_FILES {
            return Err(format!("{shown}: more than {MOST_FILES} files are included"));
        }
        let sizes = read
            .iter()
            .map(|(_, text)| text.len())
            .chain(open.iter().map(|&(_, size)| size));
        let left = SIZE_LIMIT.saturating_sub(sizes.sum());
        let text = source::read_text(&file, left as u64).map_err(unreadable)?;
        let included: Table = text.parse().map_err(|error: toml::de::Error| {
            let line = error.span().map(|span| 1 + text[..span.start].matches('\n').count());
            let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
            format!("{shown}{line}: {}", error.message())
        })?;
        open.push((file, text.len()));
        let inner = path.parent().unwrap_or(Path::new(""));
        merge(&mut whole, merged(included, directory, inner, open, read)?);
        open.pop();
        read.push((path, text));
    }
    merge(&mut whole, table);
    Ok(whole)
}

/// Merges `over` into `table`.
fn merge(table: &mut Table, over: Table) {
    for (key, value) in over {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => merge(below, above),
            (_, value) => {
                table.insert(key, value);
            }
        }
    }
}

/// Makes the files of signals' tables relative to the folder of the spec that includes theirs.
fn relocate_tables(table: &mut Table, folder: &Path) {
    let signals = table.get_mut("signal").and_then(Value::as_table_mut);
    for (_, signal) in signals.into_iter().flatten() {
        if let Some(Value::String(file)) = signal.get_mut("file") {
            *file = folder.join(&*file).display().to_string();
        }
    }
}

/// Returns problems at places of a composed text with the paths of their fields in place of byte
/// ranges, which belong to none of the files.
pub(super) fn by_paths(problems: Vec<Problem>, composed: &Composed) -> Vec<Problem> {
    if composed.included.is_empty() {
        return problems;
    }
    let source = source::Source::new(&composed.text);
    let by_path = |problem: Problem| match source.path_of(&problem) {
        Some(at) => Problem { at, ..problem },
        None => problem,
    };
    problems.into_iter().map(by_path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        text.parse().expect("TOML")
    }

    #[test]
    fn tables_are_merged_and_values_replaced() {
        let mut below = table("a = 1\n[t]\nx = [1, 2]\ny = { p = 1, q = 2 }\n[u]\nz = 1\n");
        merge(&mut below, table("b = 2\n[t]\nx = [3]\ny = { q = 4 }\n"));
        assert_eq!(
            below,
            table("a = 1\nb = 2\n[t]\nx = [3]\ny = { p = 1, q = 4 }\n[u]\nz = 1\n")
        );
        // Bodies and joints keep the order of the file that names them first.
        assert_eq!(below.keys().collect::<Vec<_>>(), ["a", "t", "u", "b"]);
    }

    #[test]
    fn numbers_keep_their_bits() {
        let text = "x = [0.1, 1e-300, 12345678.12345678, -0.0, 3.0e8, 7]\n";
        assert_eq!(table(&table(text).to_string()), table(text));
    }
}
