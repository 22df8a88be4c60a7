//! Specs that are composed of others: `include = ["robot.toml"]` and `[mount.<name>]`.

use super::{mount, problem, source};
use crate::{Error, Problem};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Upper limit of the size of all included files together, bytes.
const SIZE_LIMIT: usize = 64 << 20;

/// Largest number of included files, each counted as often as it is included.
const MOST_FILES: usize = 256;

/// Text of a spec with all that it includes and mounts.
#[derive(Clone, Debug, Default)]
pub struct Composed {
    /// The spec as one text. Without `include` and mounts it is the text of the file.
    pub text: String,
    /// The included and mounted files: each after those that it includes itself.
    pub included: Vec<Included>,
    /// Errors in the composition. With one, the text is incomplete.
    pub problems: Vec<Problem>,
    /// Settings of mounted specs that differ from this spec's and do not apply, as sentences.
    pub unused: Vec<String>,
    /// Hulls of the meshes of contacts' shapes: empty, the tool reads them.
    pub meshes: super::HullsOfFiles,
}

/// A file that a spec includes or mounts.
#[derive(Clone, Debug)]
pub struct Included {
    /// Path, relative to the directory of the spec.
    pub path: PathBuf,
    /// Content.
    pub text: String,
    /// Prefix of its names in the spec: `left.` of the mount `left`, empty without a mount.
    pub prefix: String,
}

/// Replaces `include` and `mount` by the content of the files that they name, whose paths are
/// relative to `directory`.
///
/// Included files are read in their order, then the spec itself: tables are merged, every other
/// value replaces the one before it. Then mounted specs are added, as [`Mount`](super::Mount)
/// describes. Names of tables' files (`signal.<input>.file`) remain relative to the spec that
/// contains them.
///
/// # Errors
/// [`Error::Spec`] at `include` for a file that cannot be read, is not TOML or includes itself.
/// Errors of mounts are in [`Composed::problems`].
pub fn compose(text: &str, directory: &Path) -> Result<Composed, Error> {
    // A text that is not TOML is reported with its position by the parser of the spec.
    let table = text.parse::<Table>().ok();
    let is_composed = |table: &Table| {
        let is_written = |key| match table.get(key) {
            Some(Value::Array(files)) => !files.is_empty(),
            other => other.is_some(),
        };
        is_written("include") || is_written("mount")
    };
    let mut composer = Composer::new(directory);
    let Some(table) = table.filter(is_composed) else {
        text.clone_into(&mut composer.composed.text);
        return Ok(composer.composed);
    };
    let mut whole = composer
        .merged(table, Path::new(""), "")
        .map_err(|what| Error::Spec(vec![problem("include", "", "", what)]))?;
    mount::expand(&mut composer, &mut whole, "");
    composer.composed.text = whole.to_string();
    Ok(composer.composed)
}

/// Reader of the files of a spec.
pub(super) struct Composer<'a> {
    directory: &'a Path,
    pub composed: Composed,
    /// Absolute paths of the files that are being read, each part of the one before it, with their
    /// sizes in bytes.
    open: Vec<(PathBuf, usize)>,
}

impl<'a> Composer<'a> {
    fn new(directory: &'a Path) -> Self {
        Self {
            directory,
            composed: Composed::default(),
            open: Vec::new(),
        }
    }

    /// Merges a spec into those that it includes. `folder` is the folder of the spec relative to the
    /// directory.
    ///
    /// # Errors
    /// A message with the file's name.
    fn merged(&mut self, mut table: Table, folder: &Path, prefix: &str) -> Result<Table, String> {
        relocate(&mut table, folder);
        let files = match table.remove("include") {
            None => return Ok(table),
            Some(Value::Array(files)) => files,
            Some(_) => return Err("expected a list of files, `include = [\"robot.toml\"]`".to_owned()),
        };
        let mut whole = Table::new();
        for file in files {
            let name = file.as_str().ok_or("expected names of files, as strings")?;
            let included = self.read(&folder.join(name), prefix, |_, included| included)?;
            merge(&mut whole, included);
        }
        merge(&mut whole, table);
        Ok(whole)
    }

    /// Reads a file with those that it includes, and converts its content by `then`, which may read
    /// files that are part of it.
    ///
    /// # Errors
    /// A message with the file's name.
    pub fn read<T>(
        &mut self,
        path: &Path,
        prefix: &str,
        then: impl FnOnce(&mut Self, Table) -> T,
    ) -> Result<T, String> {
        let shown = path.display();
        let unreadable = |error| format!("cannot read {shown}: {error}");
        let file = std::fs::canonicalize(self.directory.join(path)).map_err(unreadable)?;
        if self.open.iter().any(|(path, _)| *path == file) {
            return Err(format!("{shown} includes itself"));
        }
        let read = &self.composed.included;
        if read.len() + self.open.len() == MOST_FILES {
            return Err(format!("{shown}: more than {MOST_FILES} files are included"));
        }
        let sizes = (read.iter().map(|file| file.text.len())).chain(self.open.iter().map(|&(_, size)| size));
        let left = SIZE_LIMIT.saturating_sub(sizes.sum());
        let text = source::read_text(&file, left as u64).map_err(unreadable)?;
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let line = error.span().map(|span| 1 + text[..span.start].matches('\n').count());
            let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
            format!("{shown}{line}: {}", error.message())
        })?;
        self.open.push((file, text.len()));
        let folder = path.parent().unwrap_or(Path::new(""));
        let whole = self.merged(table, folder, prefix).map(|table| then(self, table));
        self.open.pop();
        let (path, prefix) = (path.to_owned(), prefix.to_owned());
        self.composed.included.push(Included { path, text, prefix });
        whole
    }
}

/// Merges `over` into `table`.
pub(super) fn merge(table: &mut Table, over: Table) {
    for (key, value) in over {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => merge(below, above),
            (_, value) => {
                table.insert(key, value);
            }
        }
    }
}

/// Makes the files of signals' tables, of mounts and of shapes' meshes relative to the folder of the
/// spec that includes theirs.
fn relocate(table: &mut Table, folder: &Path) {
    for (section, field) in [("signal", "file"), ("mount", "spec")] {
        let tables = table.get_mut(section).and_then(Value::as_table_mut);
        for (_, table) in tables.into_iter().flatten() {
            if let Some(Value::String(file)) = table.get_mut(field) {
                *file = folder.join(&*file).display().to_string();
            }
        }
    }
    let mounts = table.get_mut("mount").and_then(Value::as_table_mut);
    for (_, mount) in mounts.into_iter().flatten() {
        if let Some(Value::Table(set)) = mount.get_mut("set") {
            relocate(set, folder);
        }
    }
    for (section, field) in [
        ("contact", "shape_a"),
        ("contact", "shape_b"),
        ("frame", "contact_shape"),
        ("body", "contact_shape"),
    ] {
        let tables = table.get_mut(section).and_then(Value::as_table_mut);
        for (_, table) in tables.into_iter().flatten() {
            if let Some(Value::String(file)) = table.get_mut(field).and_then(|shape| shape.get_mut("file")) {
                *file = folder.join(&*file).display().to_string();
            }
        }
    }
    for section in ["body", "ancf_beam"] {
        let bodies = table.get_mut(section).and_then(Value::as_table_mut);
        let shapes = bodies
            .into_iter()
            .flatten()
            .filter_map(|(_, body)| body.get_mut("shape"));
        let shapes = shapes.filter_map(Value::as_table_mut).flatten();
        for (_, shape) in shapes {
            if let Some(Value::String(file)) = shape.get_mut("file") {
                *file = folder.join(&*file).display().to_string();
            }
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

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![tables_are_merged_and_values_replaced, numbers_keep_their_bits,];

    fn table(text: &str) -> Table {
        text.parse().expect("TOML")
    }

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

    fn numbers_keep_their_bits() {
        let text = "x = [0.1, 1e-300, 12345678.12345678, -0.0, 3.0e8, 7]\n";
        assert_eq!(table(&table(text).to_string()), table(text));
    }
}
