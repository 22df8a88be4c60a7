//! Runs the program as a user does, in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder in which the program is run.
pub struct Desk(TempDir);

/// How a run of the program ended.
pub struct Outcome {
    pub code: Option<i32>,
    pub out: String,
    pub errors: String,
}

impl Desk {
    /// An empty folder.
    pub fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder"))
    }

    /// A folder with a copy of `examples/<name>.toml`.
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

    pub fn bytes(&self, file: &str) -> Vec<u8> {
        std::fs::read(self.path(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
    }

    pub fn text(&self, file: &str) -> String {
        String::from_utf8(self.bytes(file)).expect("UTF-8")
    }

    /// Runs `grapple` with these words.
    pub fn run(&self, words: &[&str]) -> Outcome {
        let program = Command::new(env!("CARGO_BIN_EXE_grapple"))
            .args(words)
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

    /// Runs `grapple` and expects that it is content; gives what it prints.
    pub fn succeed(&self, words: &[&str]) -> String {
        let outcome = self.run(words);
        assert_eq!(outcome.code, Some(0), "{words:?}: {}{}", outcome.out, outcome.errors);
        outcome.out
    }
}

/// The text of an example.
pub fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../examples/{name}.toml"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A report in one line, without the frame around its words.
fn unwrapped(report: &str) -> String {
    let words = report.split(|c: char| c.is_whitespace() || "│×·├╰╭─".contains(c));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
