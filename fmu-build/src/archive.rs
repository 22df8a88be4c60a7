//! The FMU as a zip file: packed with reproducible bytes, unpacked to run.

use crate::error::{Context, Result, invalid};
use crate::zip_entry::attributes;
use model_description::ModelDescription;
use std::borrow::Cow;
use std::fs::File;
use std::io::{Cursor, Read, Write};
use std::path::Path;
use zip::{ZipArchive, ZipWriter};

/// Path in the archive of the file that contains the model: its spec as JSON.
pub const MODEL: &str = "resources/model.json";

const DESCRIPTION: &str = "modelDescription.xml";

/// Upper limit of the model description and of the model file, each unpacked, bytes. Compressed
/// files can expand to a thousand times their size.
const FILE_LIMIT: u64 = 256 << 20;
/// Upper limit of all unpacked files together, bytes.
pub const ALL_LIMIT: u64 = 2 << 30;

/// A file of an archive.
pub struct Content<'a> {
    /// Path in the archive.
    pub path: String,
    /// Contents.
    pub bytes: Bytes<'a>,
    /// Set for a shared library, which is marked as executable.
    pub executable: bool,
}

/// Contents of a file.
#[derive(Clone)]
pub enum Bytes<'a> {
    /// Uncompressed.
    Plain(Cow<'a, [u8]>),
    /// A zip file whose only file has these contents. It is copied as it is, without compressing it
    /// again.
    Compressed(&'a [u8]),
}

impl Bytes<'_> {
    /// Returns the uncompressed bytes.
    ///
    /// # Errors
    /// A compressed file that is broken.
    pub fn plain(&self) -> Result<Cow<'_, [u8]>> {
        match self {
            Self::Plain(bytes) => Ok(Cow::Borrowed(bytes)),
            Self::Compressed(compressed) => {
                let mut archive = ZipArchive::new(Cursor::new(*compressed)).other()?;
                let mut bytes = Vec::new();
                archive.by_index(0).other()?.read_to_end(&mut bytes).other()?;
                Ok(Cow::Owned(bytes))
            }
        }
    }
}

impl<'a> Content<'a> {
    /// Returns a file that is not executable.
    pub fn new(path: impl Into<String>, bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self {
            path: path.into(),
            bytes: Bytes::Plain(bytes.into()),
            executable: false,
        }
    }
}

/// Returns the bytes of an FMU: its description, then `contents` in their order.
///
/// # Errors
/// All violations of the FMI standard in the description.
pub fn pack(description: &ModelDescription, contents: &[Content]) -> Result<Vec<u8>> {
    let problems = description.check();
    if !problems.is_empty() {
        let list: Vec<String> = problems.iter().map(ToString::to_string).collect();
        return Err(invalid!(
            "the model description is not legal {}:\n{}",
            description.fmi_version.name(),
            list.join("\n")
        ));
    }
    let xml = description.to_xml().other()?;
    let first = Content::new(DESCRIPTION, xml.into_bytes());
    zip(std::iter::once(&first).chain(contents))
}

/// Returns the bytes of a zip file. Equal contents in the same order give equal bytes.
///
/// # Errors
/// None for valid names.
pub fn zip<'a>(contents: impl IntoIterator<Item = &'a Content<'a>>) -> Result<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for content in contents {
        let path = content.path.as_str();
        match &content.bytes {
            Bytes::Plain(bytes) => {
                archive.start_file(path, attributes(content.executable)).other()?;
                archive.write_all(bytes).other()?;
            }
            Bytes::Compressed(single) => {
                let mut single = ZipArchive::new(Cursor::new(*single)).other()?;
                archive
                    .raw_copy_file_rename(single.by_index_raw(0).other()?, path)
                    .other()?;
            }
        }
    }
    Ok(archive.finish().other()?.into_inner())
}

/// Returns `modelIdentifier`, the name of the shared library; both interfaces have the same.
///
/// # Errors
/// The FMU has no interface, or the name is not a C identifier, as FMI requires (§3.3.1, §4.3.1).
/// Files are named after it, so a path must be rejected.
pub fn identifier(description: &ModelDescription) -> Result<&str> {
    let exchange = description.model_exchange.as_ref().map(|i| &i.model_identifier);
    let simulation = description.co_simulation.as_ref().map(|i| &i.model_identifier);
    let identifier = simulation.or(exchange);
    let identifier = identifier.ok_or_else(|| invalid!("the FMU offers neither Model Exchange nor Co-Simulation"))?;
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    if !identifier.starts_with(is_letter) || !identifier.chars().all(|c| is_letter(c) || c.is_ascii_digit()) {
        return Err(invalid!(
            "the FMU's modelIdentifier {identifier:?} is not a C identifier"
        ));
    }
    Ok(identifier)
}

/// Returns the model description of an FMU of any tool.
pub fn description(fmu: &Path) -> Result<ModelDescription> {
    let xml = read(&mut open(fmu)?, DESCRIPTION).context(|| fmu.display().to_string())?;
    let xml = String::from_utf8(xml).other()?;
    ModelDescription::from_xml(&xml).context(|| format!("{}: {DESCRIPTION}", fmu.display()))
}

/// Returns true if an FMU was built by grapple.
pub fn is_own(fmu: &Path) -> Result<bool> {
    Ok(open(fmu)?.index_for_name(MODEL).is_some())
}

/// Reads and compiles the model in an FMU built by grapple.
pub fn model(fmu: &Path) -> Result<grapple::plant::Model> {
    let bytes = read(&mut open(fmu)?, MODEL).context(|| format!("{} was not built by grapple", fmu.display()))?;
    grapple::plant::Model::from_bytes(&bytes).map_err(|error| invalid!("{}: {MODEL}: {error}", fmu.display()))
}

/// Returns the platforms whose libraries an FMU contains.
pub fn platforms(fmu: &Path) -> Result<Vec<String>> {
    let archive = open(fmu)?;
    let mut platforms: Vec<String> = archive
        .file_names()
        .filter_map(|path| Some(path.ok()?.strip_prefix("binaries/")?.split_once('/')?.0.to_owned()))
        .collect();
    platforms.sort();
    platforms.dedup();
    Ok(platforms)
}

/// Unpacks an FMU into a folder, up to `limit` bytes.
///
/// # Errors
/// A damaged archive, one that exceeds the limit, or files outside the folder.
pub fn unpack(fmu: &Path, folder: &Path, limit: u64) -> Result<()> {
    let mut archive = open(fmu)?;
    let mut unpack = || -> Result<()> {
        let mut left = limit;
        for i in 0..archive.len() {
            let mut entry = archive.by_index(i).other()?;
            let name = entry.name().other()?.into_owned();
            let path = entry.enclosed_name();
            let path = folder.join(path.ok_or_else(|| invalid!("{name:?} lies outside the folder"))?);
            if entry.is_dir() {
                std::fs::create_dir_all(&path).other()?;
                continue;
            }
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).other()?;
            }
            let mut file = File::create(&path).context(|| format!("cannot write {name:?}"))?;
            // The declared size of an entry may be wrong.
            let taken = std::io::copy(&mut entry.by_ref().take(left + 1), &mut file).other()?;
            left = (left.checked_sub(taken)).ok_or_else(|| invalid!("its unpacked files exceed {limit} bytes"))?;
        }
        Ok(())
    };
    unpack().context(|| format!("cannot unpack {}", fmu.display()))
}

fn open(fmu: &Path) -> Result<ZipArchive<File>> {
    let open = || -> Result<_> {
        let file = File::open(fmu).other()?;
        ZipArchive::new(file).other()
    };
    open().context(|| format!("cannot open {}", fmu.display()))
}

fn read(archive: &mut ZipArchive<File>, path: &str) -> Result<Vec<u8>> {
    let entry = archive.by_name(path).context(|| format!("the archive has no {path}"))?;
    let mut bytes = Vec::new();
    let read = entry.take(FILE_LIMIT + 1).read_to_end(&mut bytes);
    read.context(|| path.to_owned())?;
    if bytes.len() as u64 > FILE_LIMIT {
        return Err(invalid!("{path} is larger than {FILE_LIMIT} bytes"));
    }
    Ok(bytes)
}
