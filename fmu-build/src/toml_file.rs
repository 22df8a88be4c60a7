//! Specs and studies: text files in TOML.

use crate::error::{Context, Result, invalid};
use crate::file_kind::FileKind;
use crate::problems::SIZE_LIMIT;
use grapple::spec::read_bytes;
use std::io;
use std::path::Path;

/// Reads a file in TOML. `what` names the expected file, "spec".
///
/// # Errors
/// A file that cannot be read, is too large, or is of another kind.
pub fn read(path: &Path, what: &str) -> Result<String> {
    let file = path.display();
    let unreadable = || format!("cannot read {file}");
    let bytes = read_bytes(path, SIZE_LIMIT).context(unreadable)?;
    match FileKind::of(path, &bytes) {
        None | Some(FileKind::Spec) => String::from_utf8(bytes)
            .map_err(|_| io::Error::other("it is not text in UTF-8"))
            .context(unreadable),
        Some(other) => Err(invalid!(
            "{file} is {}; expected a {what}, a text in TOML",
            other.description()
        )),
    }
}
