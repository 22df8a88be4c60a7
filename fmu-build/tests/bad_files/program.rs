//! The program as run by users, with limits of memory and time that bad data must not exceed.

use crate::campaign::Outcome;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Limits of 4 GiB of address space and 20 s of processor time.
const LIMITS: &str = "ulimit -v 4194304 && ulimit -t 20 && exec \"$@\"";

/// A folder in which the program runs.
pub struct Desk(TempDir);

impl Desk {
    /// Creates an empty folder.
    pub fn new() -> Self {
        Self(TempDir::new().expect("a folder"))
    }

    /// Returns the path of a file in the folder.
    pub fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    /// Writes a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, file: &str, bytes: impl AsRef<[u8]>) -> Result<(), String> {
        std::fs::write(self.path(file), bytes).map_err(|e| format!("{file}: {e}"))
    }

    /// Runs `grapple` with these arguments and returns its outcome.
    ///
    /// # Errors
    /// The program panicked, was terminated by a signal, or failed without a message.
    pub fn run(&self, arguments: &[&str]) -> Result<Outcome, String> {
        let program = env!("CARGO_BIN_EXE_grapple");
        let mut command = match cfg!(target_os = "linux") {
            true => Command::new("sh"),
            false => Command::new(program),
        };
        if cfg!(target_os = "linux") {
            command.args(["-c", LIMITS, "sh", program]);
        }
        command.args(arguments).current_dir(&self.0).env("NO_COLOR", "1");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut program = command.spawn().map_err(|e| e.to_string())?;
        // Reading stops after 1 MiB: a valid study may print ten million lines.
        let page = program.stdout.take().map(|text| text.take(1 << 20));
        let reader = std::thread::spawn(move || page.map(|mut page| std::io::copy(&mut page, &mut std::io::sink())));
        let Output { status, stderr, .. } = program.wait_with_output().map_err(|e| e.to_string())?;
        let _ = reader.join();
        let errors = String::from_utf8_lossy(&stderr);
        match status.code() {
            Some(0) => Ok(Outcome::Works),
            // A complete campaign with failed runs ends with 3.
            Some(1 | 3) if !errors.trim().is_empty() => Ok(Outcome::Refused),
            _ => Err(format!(
                "`grapple {}` ends with {status}: {errors}",
                arguments.join(" ")
            )),
        }
    }
}

/// Reads a file of the repository.
pub fn file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}
