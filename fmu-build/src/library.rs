//! The shared libraries in an FMU: the one embedded in this program by `build.rs`, and others from
//! files.

use crate::archive::Bytes;
use crate::binary::{self, Findings, Glibc};
use crate::error::{Context, Result, invalid};
use crate::platform::Platform;
use std::io::{Cursor, Read};
use std::path::Path;
use zip::ZipArchive;

/// Zip file with the embedded library, for the platform of this program.
const EMBEDDED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/library.zip"));

/// C library of the oldest systems that simulation tools still support (Red Hat Enterprise Linux 8,
/// 2019).
const OLDEST_IN_USE: Glibc = Glibc(2, 28);

/// Reads libraries, each for its platform, and sorts them by platform. The embedded library is
/// added if no file is for the platform of this program.
///
/// # Errors
/// Those of [`Library::read`]; two libraries for one platform.
pub fn libraries<'a>(files: impl IntoIterator<Item = (Platform, &'a Path)>) -> Result<Vec<Library>> {
    let mut libraries: Vec<Library> = Vec::new();
    for (platform, file) in files {
        if let Some(first) = libraries.iter().find(|library| library.platform == platform) {
            let (first, second) = (&first.origin, file.display());
            return Err(invalid!("two libraries for {platform}: {first} and {second}"));
        }
        libraries.push(Library::read(platform, file)?);
    }
    if !libraries.iter().any(|library| library.platform == Platform::here()) {
        libraries.push(Library::embedded()?);
    }
    libraries.sort_by_key(|library| library.platform);
    Ok(libraries)
}

/// An inspected library for one platform.
pub struct Library {
    /// Platform on which the library runs.
    pub platform: Platform,
    /// Bytes of the library's file.
    pub bytes: Bytes<'static>,
    /// Origin for messages: the file's name, or that the library is the embedded one.
    pub origin: String,
    /// Result of the inspection.
    pub findings: Findings,
}

impl Library {
    /// Returns the embedded library.
    ///
    /// # Errors
    /// As [`read`](Self::read): the embedded library is inspected like any other.
    pub fn embedded() -> Result<Self> {
        let mut archive = ZipArchive::new(Cursor::new(EMBEDDED)).other()?;
        let mut bytes = Vec::new();
        archive.by_index(0).other()?.read_to_end(&mut bytes).other()?;
        let origin = "the library inside this program".to_owned();
        let findings = inspect(&bytes, Platform::here(), &origin)?;
        Ok(Self {
            platform: Platform::here(),
            bytes: Bytes::Compressed(EMBEDDED),
            origin,
            findings,
        })
    }

    /// Reads and inspects a library from a file.
    ///
    /// # Errors
    /// A file that cannot be read, has another format, architecture or word length than the
    /// platform's, or lacks a function of FMI.
    pub fn read(platform: Platform, file: &Path) -> Result<Self> {
        let origin = file.display().to_string();
        let bytes = std::fs::read(file).context(|| format!("cannot read {origin}"))?;
        let findings = inspect(&bytes, platform, &origin)?;
        Ok(Self {
            platform,
            bytes: Bytes::Plain(bytes.into()),
            origin,
            findings,
        })
    }

    /// Returns the library's path in an FMU with the model identifier `identifier`.
    pub fn path(&self, identifier: &str) -> String {
        place(self.platform, identifier)
    }

    /// Returns "linux64: the library inside this program, needs GLIBC 2.17".
    pub fn summary(&self) -> String {
        let mut text = format!("{}: {}", self.platform, self.origin);
        if let Some(version) = self.findings.glibc {
            text += &format!(", needs GLIBC {version}");
            if version > OLDEST_IN_USE {
                text += &format!(" (older systems need a library built for {OLDEST_IN_USE} or less: README)");
            }
        }
        if let (Platform::Darwin64, [machine]) = (self.platform, self.findings.machines.as_slice()) {
            text += &format!(", for {machine} only (a universal library, made by lipo, runs on all Macs)");
        }
        if !self.findings.others.is_empty() {
            text += &format!(
                "; exports symbols that are not FMI's: {}",
                self.findings.others.join(", ")
            );
        }
        text
    }
}

fn inspect(bytes: &[u8], platform: Platform, origin: &str) -> Result<Findings> {
    binary::inspect(bytes, platform).context(|| format!("{origin} cannot be used on {platform}"))
}

/// Returns the path of the library for this platform in an FMU with the model identifier
/// `identifier`.
pub fn path(identifier: &str) -> String {
    place(Platform::here(), identifier)
}

fn place(platform: Platform, identifier: &str) -> String {
    format!("binaries/{platform}/{identifier}{}", platform.suffix())
}
