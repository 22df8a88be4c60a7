//! Attributes of a file in a zip archive. The build script includes this file too: the embedded
//! library has the same attributes.

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System};

/// Returns the attributes. Times, permissions, their system (by default the one that runs this
/// program) and compression are fixed, so that equal contents give equal bytes.
pub fn attributes(executable: bool) -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(9))
        .system(System::Unix)
        .last_modified_time(DateTime::default())
        .unix_permissions(if executable { 0o755 } else { 0o644 })
}
