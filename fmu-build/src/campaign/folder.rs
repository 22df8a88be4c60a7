//! The folder of a campaign: its identity and its finished runs.
//!
//! | file | contents |
//! |---|---|
//! | `study.json` | identity of the study, compared when the campaign is continued |
//! | `runs-<k>-of-<n>.jsonl` | the finished runs of shard k of n, one line each, in order of completion |
//! | `runs-<k>-of-<n>.lock` | empty; locked while a program works on the shard |
//! | `series/<run>.csv` (`.parquet`) | time series of a run's outputs, if requested |
//! | `runs.csv` (`.parquet`) | the table of all runs, once all are finished |
//! | `runs.html` | the page of all runs |
//!
//! A line is written as soon as its run ends: a killed program leaves complete lines, and at most
//! one incomplete line at the end, which is ignored.

use super::Shard;
use crate::error::{Context, Result, invalid};
use crate::files::{self, Target};
use crate::table::Table;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The folder of a campaign, opened.
pub struct Folder {
    path: PathBuf,
    width: Width,
}

/// Lengths of the lists in the record of each run.
#[derive(Clone, Copy, Debug)]
pub struct Width {
    /// Number of values set before the run.
    pub values: usize,
    /// Number of statistics, if the run did not fail.
    pub results: usize,
}

/// A finished run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Number of the run, from zero.
    pub run: usize,
    /// Values set, as read from the FMU after its initialisation; the requested values if the run
    /// failed before.
    pub values: Vec<f64>,
    /// Statistics of the outputs; empty for a failed run.
    pub results: Vec<Option<f64>>,
    /// Reason of the failure, if it failed.
    pub failure: Option<String>,
}

const STUDY: &str = "study.json";

impl Folder {
    /// Opens the folder of a campaign, or creates it. `identity` contains everything that the
    /// results depend on.
    ///
    /// # Errors
    /// The folder belongs to another campaign; the message lists the differences.
    pub fn open(path: &Path, identity: &Value, width: Width) -> Result<Self> {
        let path = path.to_owned();
        let folder = Self { path, width };
        let path = folder.path.as_path();
        files::folder(path)?;
        let file = path.join(STUDY);
        if !file.exists() {
            // The first of several shards creates the file; the others compare with it.
            Target::new(&file, &[])?.create(format!("{identity:#}\n").as_bytes())?;
        }
        let text = std::fs::read_to_string(&file).context(|| format!("cannot read {}", file.display()))?;
        let there: Value = serde_json::from_str(&text).context(|| format!("{} is damaged", file.display()))?;
        let mut changes = Vec::new();
        differences(&there, identity, String::new(), &mut changes);
        if !changes.is_empty() {
            return Err(invalid!(
                "{} has the runs of another study; differences:\n{}\n\
                 give the changed study a folder of its own (--output FOLDER), or remove that one",
                path.display(),
                changes.join("\n")
            ));
        }
        Ok(folder)
    }

    /// Returns the path of a file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Returns all finished runs by their numbers.
    ///
    /// # Errors
    /// A line, other than an incomplete last one, that is not a run; two different records of one
    /// run.
    pub fn records(&self) -> Result<BTreeMap<usize, Record>> {
        let mut records = BTreeMap::new();
        let mut files: Vec<PathBuf> = std::fs::read_dir(&self.path)
            .other()?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
            .collect();
        files.sort();
        for file in files {
            let bytes = std::fs::read(&file).other()?;
            for (i, line) in whole_lines(&bytes).split(|&b| b == b'\n').enumerate() {
                if line.is_empty() {
                    continue;
                }
                let place = || format!("{}, line {}", file.display(), i + 1);
                let record = self
                    .record(line)
                    .context(|| format!("{} is damaged; delete the line to repeat its run", place()))?;
                if let Some(other) = records.get(&record.run)
                    && *other != record
                {
                    return Err(invalid!(
                        "{}: run {} differs from another record of it; remove one of the two",
                        place(),
                        record.run
                    ));
                }
                records.insert(record.run, record);
            }
        }
        Ok(records)
    }

    fn record(&self, line: &[u8]) -> Result<Record> {
        let record: Record = serde_json::from_slice(line).other()?;
        let Width { values, results } = self.width;
        let has = [record.values.len(), record.results.len()];
        if has != [values, results] && !(record.failure.is_some() && has == [values, 0]) {
            let [has_values, has_results] = has;
            return Err(invalid!(
                "it has {has_values} values and {has_results} results, not {values} and {results}"
            ));
        }
        Ok(record)
    }

    /// Opens the journal of a shard to continue it; an incomplete last line is cut off.
    ///
    /// # Errors
    /// Another program works on this shard.
    pub fn journal(&self, shard: Shard) -> Result<Journal> {
        let name = format!("runs-{}-of-{}", shard.index, shard.count);
        let path = self.file(&format!("{name}.jsonl"));
        let open = || -> Result<Journal> {
            let mut options = File::options();
            options.create(true).truncate(false).read(true).write(true);
            // A separate lock file: on some systems a locked file cannot be read.
            let lock = options.open(self.file(&format!("{name}.lock"))).other()?;
            let warning = match lock.try_lock() {
                Err(TryLockError::WouldBlock) => return Err(invalid!("another grapple is running this shard")),
                Err(TryLockError::Error(error)) => Some(format!(
                    "{}: warning: this file system has no locks ({error}): do not run the same shard twice at the same time",
                    self.path.display()
                )),
                Ok(()) => None,
            };
            let mut file = options.open(&path).other()?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).other()?;
            file.set_len(whole_lines(&bytes).len() as u64).other()?;
            // On a file system without locks, lines of another program must not be overwritten, so
            // the file is opened to append. (Windows cannot truncate a file opened this way.)
            let file = File::options().append(true).open(&path).other()?;
            Ok(Journal {
                path: path.clone(),
                file,
                warning,
                _lock: lock,
            })
        };
        open().context(|| format!("cannot continue the journal {}", path.display()))
    }

    /// Copies a file of another folder.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn copy(&self, from: &Self, name: &str) -> Result<()> {
        let (from, to) = (from.file(name), self.file(name));
        files::folder(to.parent().unwrap_or(&self.path))?;
        std::fs::copy(&from, &to).context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
        Ok(())
    }

    /// Writes a text.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, text: &str, name: &str) -> Result<PathBuf> {
        let path = self.file(name);
        Target::new(&path, &[])?.write(text)?;
        Ok(path)
    }

    /// Writes a table.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, table: &Table, name: &str) -> Result<PathBuf> {
        let path = self.file(name);
        files::folder(path.parent().unwrap_or(&self.path))?;
        table.save(&Target::new(&path, &[])?)?;
        Ok(path)
    }
}

/// The journal of a shard: the file of its finished runs, in order of completion.
pub struct Journal {
    path: PathBuf,
    file: File,
    /// Warning about a file system without locks.
    pub warning: Option<String>,
    /// The lock file, locked while the journal is open.
    _lock: File,
}

impl Journal {
    /// Adds a run.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append(&mut self, record: &Record) -> Result<()> {
        let mut line = serde_json::to_string(record).other()?;
        line.push('\n');
        self.file
            .write_all(line.as_bytes())
            .map_err(|error| invalid!("cannot write {}: {error}", self.path.display()))
    }
}

/// Returns the text up to the last line end.
fn whole_lines(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |last| last + 1);
    &bytes[..end]
}

/// Adds a line like "seed: 1, now 2" for each difference.
fn differences(there: &Value, now: &Value, place: String, changes: &mut Vec<String>) {
    match (there, now) {
        (Value::Object(a), Value::Object(b)) => {
            let mut keys: Vec<&String> = a.keys().chain(b.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                let place = match place.as_str() {
                    "" => key.clone(),
                    place => format!("{place}.{key}"),
                };
                let nothing = Value::Null;
                differences(
                    a.get(key).unwrap_or(&nothing),
                    b.get(key).unwrap_or(&nothing),
                    place,
                    changes,
                );
            }
        }
        (a, b) if a == b => {}
        (Value::Null, b) => changes.push(format!("  {place}: not there before, now {b}")),
        (a, Value::Null) => changes.push(format!("  {place}: {a}, not there now")),
        (a, b) => changes.push(format!("  {place}: {a}, now {b}")),
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    unit_tests![differences_are_reported_by_their_path, incomplete_last_line_is_ignored,];

    fn differences_are_reported_by_their_path() {
        let there = json!({"seed": 1, "set": {"a": 1.0}, "model": "x"});
        let now = json!({"seed": 2, "set": {"b": 2.0}, "model": "x"});
        let mut changes = Vec::new();
        differences(&there, &now, String::new(), &mut changes);
        let expected = [
            "  seed: 1, now 2",
            "  set.a: 1.0, not there now",
            "  set.b: not there before, now 2.0",
        ];
        assert_eq!(changes, expected);
    }

    fn incomplete_last_line_is_ignored() {
        assert_eq!(whole_lines(b"one\ntwo\nthr"), b"one\ntwo\n");
        assert_eq!(whole_lines(b"on"), b"");
        assert_eq!(whole_lines(b"one\n"), b"one\n");
    }
}
