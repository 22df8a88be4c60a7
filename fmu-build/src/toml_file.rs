//! Specs and studies: text files in TOML.

use crate::error::{Context, Result, invalid};
use crate::problems::SIZE_LIMIT;
use grapple::spec::read_text;
use std::path::Path;

/// Reads a file in TOML. `kind` is the kind of the expected file, "spec".
///
/// # Errors
/// A file that cannot be read, is too large, or is of another kind.
pub fn read(path: &Path, kind: &str) -> Result<String> {
    let file = path.display();
    let other = |is: &str| invalid!("{file} is {is}; expected a {kind}, a text in TOML");
    let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
    match suffix.to_ascii_lowercase().as_str() {
        "fmu" => return Err(other("an FMU (`grapple describe` and `grapple simulate` take one)")),
        "ssp" => return Err(other("a system of FMUs (`grapple simulate` takes one)")),
        "csv" | "parquet" => return Err(other("a table of results or inputs")),
        "xlsx" | "ods" => return Err(other("a spreadsheet")),
        _ => {}
    }
    let text = read_text(path, SIZE_LIMIT).context(|| format!("cannot read {file}"))?;
    match text.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
        true => Err(other("XML (`grapple import` makes a spec of a URDF file)")),
        false => Ok(text),
    }
}
