//! Runs the program as a user does, in a folder of its own.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder in which the program runs.
pub struct Desk(TempDir);

/// Result of a run of the program.
pub struct Outcome {
    pub code: Option<i32>,
    pub out: String,
    pub errors: String,
}

impl Desk {
    /// Creates an empty folder.
    pub fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder"))
    }

    /// Creates a folder with a copy of `examples/<name>.toml`.
    pub fn with_example(name: &str) -> Self {
        let desk = Self::new();
        desk.write(&format!("{name}.toml"), &example(name));
        desk
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    pub fn write(&self, file: &str, text: &str) {
        std::fs::write(self.path(file), text).expect("a file in a temporary folder");
    }

    pub fn write_bytes(&self, file: &str, bytes: &[u8]) {
        std::fs::write(self.path(file), bytes).expect("a file in a temporary folder");
    }

    pub fn bytes(&self, file: &str) -> Vec<u8> {
        std::fs::read(self.path(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
    }

    /// Returns the files in an FMU.
    pub fn contents(&self, fmu: &str) -> BTreeMap<String, Vec<u8>> {
        let mut archive = zip::ZipArchive::new(Cursor::new(self.bytes(fmu))).expect("a zip file");
        (0..archive.len())
            .map(|i| {
                let mut entry = archive.by_index(i).expect("an entry");
                let mut bytes = Vec::new();
                entry.read_to_end(&mut bytes).expect("its bytes");
                (entry.name().expect("UTF-8").into_owned(), bytes)
            })
            .collect()
    }

    /// Returns one file of an FMU as text.
    pub fn content(&self, fmu: &str, path: &str) -> String {
        let bytes = self.contents(fmu).remove(path);
        String::from_utf8(bytes.unwrap_or_else(|| panic!("{fmu} has no {path}"))).expect("UTF-8")
    }

    /// Replaces the model description of an FMU.
    pub fn rewrite(&self, fmu: &str, xml: impl Fn(&str) -> String) {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (path, mut bytes) in self.contents(fmu) {
            if path == "modelDescription.xml" {
                bytes = xml(std::str::from_utf8(&bytes).expect("UTF-8")).into_bytes();
            }
            let options = zip::write::SimpleFileOptions::default();
            archive.start_file(path, options).expect("a new entry");
            archive.write_all(&bytes).expect("memory takes every byte");
        }
        let bytes = archive.finish().expect("a zip file").into_inner();
        self.write_bytes(fmu, &bytes);
    }

    pub fn text(&self, file: &str) -> String {
        String::from_utf8(self.bytes(file)).expect("UTF-8")
    }

    /// Runs `grapple` with these arguments.
    pub fn run(&self, arguments: &[&str]) -> Outcome {
        let program = Command::new(env!("CARGO_BIN_EXE_grapple"))
            .args(arguments)
            .current_dir(self.0.path())
            .env("NO_COLOR", "1")
            .output();
        let Output { status, stdout, stderr } = program.expect("the program runs");
        Outcome {
            code: status.code(),
            out: String::from_utf8_lossy(&stdout).into_owned(),
            errors: unwrapped(&String::from_utf8_lossy(&stderr)),
        }
    }

    /// Runs `grapple`, asserts success, and returns its output.
    pub fn succeed(&self, arguments: &[&str]) -> String {
        let outcome = self.run(arguments);
        assert_eq!(
            outcome.code,
            Some(0),
            "{arguments:?}: {}{}",
            outcome.out,
            outcome.errors
        );
        outcome.out
    }

    /// Runs `grapple` with these arguments and asserts that it reports exactly these problems in
    /// `file`: line and text.
    pub fn expect_problems(&self, arguments: &[&str], file: &str, problems: &[(usize, &str)]) {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, Some(1), "{}", outcome.out);
        let mut rest = outcome.errors.as_str();
        for (line, text) in problems {
            let found = rest.find(text);
            let after = found.unwrap_or_else(|| panic!("{text:?} is missing, or too late, in\n{}", outcome.errors));
            rest = &rest[after..];
            let place = rest.find(&format!("[{file}:")).map(|start| &rest[start + 1..]);
            let place = place.unwrap_or_else(|| panic!("{text:?} has no place:\n{rest}"));
            assert!(
                place.starts_with(&format!("{file}:{line}:")),
                "{text:?} is not at line {line}: {place}"
            );
        }
        let count = format!("{file}: {} problem", problems.len());
        assert!(outcome.errors.contains(&count), "{count}:\n{}", outcome.errors);
    }
}

/// Returns the text of an example.
pub fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../examples/{name}.toml"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Asserts that a page loads no other files.
pub fn assert_self_contained(page: &str) {
    for fetched in ["<link", "src=", "@import", "url("] {
        assert!(!page.contains(fetched), "the page needs more than itself: {fetched}");
    }
}

/// Returns an error report in one line, without its frame of box-drawing characters.
fn unwrapped(report: &str) -> String {
    let parts = report.split(|c: char| c.is_whitespace() || "│×·├╰╭─".contains(c));
    parts.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
