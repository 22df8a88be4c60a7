//! The program, as its users run it, with no more memory and time than bad data may take.

use crate::campaign::Outcome;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Its address space has 4 GiB, and it may have a processor for 20 s.
const LIMITS: &str = "ulimit -v 4194304 && ulimit -t 20 && exec \"$@\"";

/// A folder in which the program is run.
pub struct Desk(TempDir);

impl Desk {
    /// An empty folder.
    pub fn new() -> Self {
        Self(TempDir::new().expect("a folder"))
    }

    /// The path of a file there.
    pub fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    /// Writes a file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, file: &str, bytes: impl AsRef<[u8]>) -> Result<(), String> {
        std::fs::write(self.path(file), bytes).map_err(|e| format!("{file}: {e}"))
    }

    /// Runs `grapple` with these words, and says whether it was content.
    ///
    /// # Errors
    /// It panicked, was ended by the system, or refused and said no reason.
    pub fn run(&self, words: &[&str]) -> Result<Outcome, String> {
        let program = env!("CARGO_BIN_EXE_grapple");
        let mut command = match cfg!(target_os = "linux") {
            true => Command::new("sh"),
            false => Command::new(program),
        };
        if cfg!(target_os = "linux") {
            command.args(["-c", LIMITS, "sh", program]);
        }
        command.args(words).current_dir(&self.0).env("NO_COLOR", "1");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut program = command.spawn().map_err(|e| e.to_string())?;
        // Its reader has enough of it after some thousands of lines: a good study may have ten million.
        let page = program.stdout.take().map(|text| text.take(1 << 20));
        let reader = std::thread::spawn(move || page.map(|mut page| std::io::copy(&mut page, &mut std::io::sink())));
        let Output { status, stderr, .. } = program.wait_with_output().map_err(|e| e.to_string())?;
        let _ = reader.join();
        let told = String::from_utf8_lossy(&stderr);
        match status.code() {
            Some(0) => Ok(Outcome::Works),
            // A campaign that is complete although runs failed ends with 3.
            Some(1 | 3) if !told.trim().is_empty() => Ok(Outcome::Refused),
            _ => Err(format!("`grapple {}` ends with {status}: {told}", words.join(" "))),
        }
    }
}

/// A file of the repository.
pub fn file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}
