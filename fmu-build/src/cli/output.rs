//! Output to the terminal.

use fmu_build::text::visible;
use grapple::plant::Remarks;
use miette::{IntoDiagnostic, Result, WrapErr};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Prints one or more lines. If the reader has closed the pipe (`grapple describe … | head`), they
/// are dropped silently and the verb continues.
///
/// # Errors
/// Any other failure of the standard output, such as a full disk.
pub fn print(lines: &str) -> Result<()> {
    print_unless_closed(lines).map(|_| ())
}

/// Prints like [`print`]; returns false if the reader has closed the pipe, so that long output can
/// stop.
///
/// # Errors
/// Those of [`print`].
pub fn print_unless_closed(lines: &str) -> Result<bool> {
    match writeln!(std::io::stdout(), "{}", visible(lines)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error)
            .into_diagnostic()
            .wrap_err("cannot write to the standard output"),
    }
}

/// Prints a line to the standard error; failures are ignored.
pub fn warn(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Returns the path of an output in the current folder that is named as a model's file.
pub fn named(model: &Path, extension: &str) -> PathBuf {
    let stem = model.file_stem().unwrap_or_default();
    PathBuf::from(format!("{}.{extension}", stem.to_string_lossy()))
}

/// Prints the frequencies of a spec's flexible bodies, unless `quiet`, and warnings about unlikely
/// values.
///
/// # Errors
/// Those of [`print`].
pub fn remark(file: &str, remarks: &Remarks, quiet: bool) -> Result<()> {
    if !quiet {
        let mut lines = remarks.flexible.iter();
        lines.try_for_each(|line| print(&format!("  {line}")))?;
    }
    for warning in &remarks.warnings {
        warn(&format!("{file}: warning: {warning}"));
    }
    Ok(())
}
