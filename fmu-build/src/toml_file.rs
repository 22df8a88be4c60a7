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
    let bytes = read_bytes(path, SIZE_LIMIT).map_err(|error| match similar(path) {
        Some(other) if error.kind() == io::ErrorKind::NotFound => {
            io::Error::other(format!("there is no such file; did you mean {other:?}?"))
        }
        _ => error,
    });
    let bytes = bytes.context(unreadable)?;
    match FileKind::of(path, &bytes) {
        None | Some(FileKind::Spec) => {
            let text = String::from_utf8(bytes).map_err(|_| io::Error::other("it is not text in UTF-8"));
            let text = text.context(unreadable)?;
            match (what, is_study(&text)) {
                ("spec", true) => Err(invalid!(
                    "{file} is a study (`grapple campaign` runs it); expected a spec"
                )),
                ("study", false) if is_spec(&text) => Err(invalid!(
                    "{file} is {}; expected a study, which names it: model = {:?}",
                    FileKind::Spec.description(),
                    path.file_name().unwrap_or_default().to_string_lossy()
                )),
                _ => Ok(text),
            }
        }
        Some(other) => Err(invalid!(
            "{file} is {}; expected a {what}, a text in TOML",
            other.description()
        )),
    }
}

/// Returns the TOML file in the same folder with the most similar name, if one is similar.
fn similar(path: &Path) -> Option<String> {
    let wanted = path.file_stem()?.to_string_lossy().into_owned();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let names = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?.take(1000);
    let names = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let stems = names.filter_map(|name| Some((name.strip_suffix(".toml")?.to_owned(), name)));
    let distances = stems.map(|(stem, name)| (strsim::osa_distance(&stem, &wanted), stem.len(), name));
    let (distance, length, name) = distances.min()?;
    (distance <= length.max(3) / 3).then_some(name)
}

/// Returns true if a text has the fields of a study.
fn is_study(text: &str) -> bool {
    let starts = |what: &str| text.lines().any(|line| line.starts_with(what));
    starts("model = ") && (starts("[dispersion") || starts("runs = ") || starts("[output]")) && !is_spec(text)
}

/// Returns true if a text has tables of a spec.
fn is_spec(text: &str) -> bool {
    let sections = [
        "[body.",
        "[joint.",
        "[mount.",
        "[controller",
        "[ancf_beam.",
        "include = ",
    ];
    text.lines()
        .any(|line| sections.iter().any(|section| line.starts_with(section)))
}
