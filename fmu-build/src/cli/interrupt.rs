//! Interruption of a command: by the keyboard or by a scheduler.
//!
//! The first signal ends the run at the next communication point, and the results are saved; the
//! second ends the process at once. In both cases the temporary folder is removed.

use miette::{IntoDiagnostic, Result, WrapErr};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// Exit code of an interrupted command.
pub const EXIT_CODE: u8 = 130;

static STOPPED: AtomicBool = AtomicBool::new(false);

/// The temporary folder, to be removed if the process ends at the second signal.
static FOLDER: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Returns the flag that the first signal sets: the command should then end.
pub fn flag() -> &'static AtomicBool {
    &STOPPED
}

/// A temporary folder that is removed on drop.
pub struct TemporaryFolder(TempDir);

impl TemporaryFolder {
    /// Creates the command's only temporary folder. From now on the command must poll [`flag`].
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn new() -> Result<Self> {
        listen().into_diagnostic()?;
        let folder = TempDir::with_prefix("grapple-")
            .into_diagnostic()
            .wrap_err("cannot make a temporary folder")?;
        remember(Some(folder.path().to_owned()));
        Ok(Self(folder))
    }

    /// Returns the path of the folder.
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

/// Handles a signal: the first sets the flag, the second ends the process.
fn on_signal() {
    if STOPPED.swap(true, Ordering::Relaxed) {
        if let Some(folder) = remember(None) {
            let _ = std::fs::remove_dir_all(folder);
        }
        std::process::exit(i32::from(EXIT_CODE));
    }
}

/// Listens for Ctrl-C and SIGTERM. SIGHUP keeps its default effect, so that `nohup` works as usual.
#[cfg(unix)]
fn listen() -> std::io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    std::thread::spawn(move || signals.forever().for_each(|_| on_signal()));
    Ok(())
}

#[cfg(not(unix))]
fn listen() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(on_signal)
}
