//! Runs the program as a user does, in a folder of its own.

use crate::messages;
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

impl Outcome {
    /// Asserts that exactly these problems in `file` are reported, in this order: the line of each,
    /// and a name or number in its message. Returns the messages.
    pub fn expect_places(&self, file: &str, problems: &[(usize, &str)]) -> Vec<String> {
        let count = format!("{file}: {} problem", problems.len());
        assert!(self.errors.contains(&count), "{count}:\n{}", self.errors);
        // Every message is followed by its place, and that by lines of the file.
        let place = format!(" [{file}:");
        let parts: Vec<&str> = self.errors.split(&place).collect();
        let message = |part: &&str| part.rsplit("Error: ").next().unwrap_or_default().to_owned();
        let messages: Vec<String> = parts[..parts.len() - 1].iter().map(message).collect();
        let lines = parts[1..].iter().map(|part| part.split(':').next());
        let expected = problems.iter().map(|(line, _)| line.to_string());
        assert_eq!(
            lines.map(Option::unwrap_or_default).collect::<Vec<_>>(),
            expected.collect::<Vec<_>>(),
            "{}",
            self.errors
        );
        for (message, (line, name)) in messages.iter().zip(problems) {
            assert!(message.contains(name), "line {line}: {name:?} is not in {message}");
        }
        messages
    }

    /// Records the text on the standard error stream.
    pub fn record(&self) {
        messages::record(&self.errors);
    }
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
        self.run_with(arguments, &[])
    }

    /// Runs `grapple` with these arguments and additional variables of the environment.
    pub fn run_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Outcome {
        let program = Command::new(env!("CARGO_BIN_EXE_grapple"))
            .args(arguments)
            .current_dir(self.0.path())
            .env("NO_COLOR", "1")
            .envs(environment.iter().copied())
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
    /// `file`: the line of each, and a name or number in its message. Records all messages.
    pub fn expect_problems(&self, arguments: &[&str], file: &str, problems: &[(usize, &str)]) {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, Some(1), "{}", outcome.out);
        outcome.expect_places(file, problems).iter().for_each(messages::record);
    }
}

/// Returns the text of an example.
pub fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../examples/{name}.toml"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Asserts that a page loads no other files; it may refer to parts of itself.
pub fn assert_self_contained(page: &str) {
    let page = page.replace("url(#", "");
    for fetched in ["<link", "src=", "@import", "url("] {
        assert!(!page.contains(fetched), "the page needs more than itself: {fetched}");
    }
}

/// Returns an error report in one line, without its frame of box-drawing characters.
fn unwrapped(report: &str) -> String {
    let parts = report.split(|c: char| c.is_whitespace() || "│×·├╰╭─".contains(c));
    parts.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
