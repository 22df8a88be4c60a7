//! How a command is ended from outside: by the keyboard, by a scheduler.
//!
//! Who asks once waits for the next communication point, and what is there is saved; who asks twice does not want to wait.
//! Either way no temporary folder is left behind.

use miette::{IntoDiagnostic, Result, WrapErr};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// The exit code of a command that was ended.
pub const EXIT_CODE: u8 = 130;

static STOPPED: AtomicBool = AtomicBool::new(false);

/// What is removed when nobody waits.
static FOLDER: Mutex<Option<PathBuf>> = Mutex::new(None);

/// A command was ended before its end.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("interrupted {0}")]
pub struct Interrupted(pub String);

/// Whether the command is to end.
pub fn is_stopped() -> bool {
    STOPPED.load(Ordering::Relaxed)
}

/// Asks all that runs to end.
pub fn stop() {
    STOPPED.store(true, Ordering::Relaxed);
}

/// A folder for as long as the command needs it.
pub struct TemporaryFolder(TempDir);

impl TemporaryFolder {
    /// Makes the command's only one. From now on an interruption has to be looked for ([`is_stopped`]).
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new() -> Result<Self> {
        listen().into_diagnostic()?;
        let folder = TempDir::with_prefix("grapple-")
            .into_diagnostic()
            .wrap_err("cannot make a temporary folder")?;
        remember(Some(folder.path().to_owned()));
        Ok(Self(folder))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        remember(None);
    }
}

fn remember(folder: Option<PathBuf>) -> Option<PathBuf> {
    let mut there = FOLDER.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    std::mem::replace(&mut *there, folder)
}

/// Somebody asks.
fn asked() {
    if STOPPED.swap(true, Ordering::Relaxed) {
        if let Some(folder) = remember(None) {
            let _ = std::fs::remove_dir_all(folder);
        }
        std::process::exit(i32::from(EXIT_CODE));
    }
}

/// Ctrl-C, and what ends a program politely. A terminal that is closed (SIGHUP) ends it as ever, for `nohup` is there to say otherwise.
#[cfg(unix)]
fn listen() -> std::io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    std::thread::spawn(move || signals.forever().for_each(|_| asked()));
    Ok(())
}

#[cfg(not(unix))]
fn listen() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(asked)
}
