//! The shared libraries in an FMU: the one embedded in this program by `build.rs`, and others from
//! files.

use crate::binary::{self, Findings, Glibc};
use crate::platform::Platform;
use miette::{IntoDiagnostic, Result, WrapErr, bail};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Bytes of the embedded library, for the platform of this program.
const BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/library"));

/// C library of the oldest systems that simulation tools still support (Red Hat Enterprise Linux 8,
/// 2019).
const OLDEST_IN_USE: Glibc = Glibc(2, 28);

/// Command-line options that select the libraries of an FMU.
#[derive(Default, clap::Args)]
pub struct Choice {
    /// Use this shared library for the platform of this program, instead of the embedded one
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// Pack this shared library for a platform (linux64, linux32, win64, win32, darwin64); may be
    /// repeated
    #[arg(long, value_name = "PLATFORM=FILE", value_parser = platform_and_file)]
    binary: Vec<(Platform, PathBuf)>,
}

fn platform_and_file(text: &str) -> Result<(Platform, PathBuf), String> {
    let (platform, file) = text
        .split_once('=')
        .filter(|(_, file)| !file.is_empty())
        .ok_or("it must be PLATFORM=FILE, as in win64=grapple.dll")?;
    Ok((platform.parse()?, file.into()))
}

impl Choice {
    /// Returns the files.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.library.iter().chain(self.binary.iter().map(|(_, file)| file))
    }

    /// Reads the libraries in the order of their platforms.
    ///
    /// # Errors
    /// As [`Library::read`]; two libraries for one platform.
    pub fn read(&self) -> Result<Vec<Library>> {
        let here = Platform::here();
        let own = self.library.iter().map(|file| (here, file));
        let others = self.binary.iter().map(|(platform, file)| (*platform, file));
        let mut libraries: Vec<Library> = Vec::new();
        for (platform, file) in own.chain(others) {
            if let Some(first) = libraries.iter().find(|library| library.platform == platform) {
                bail!("two libraries for {platform}: {} and {}", first.origin, file.display());
            }
            libraries.push(Library::read(platform, file)?);
        }
        if !libraries.iter().any(|library| library.platform == here) {
            libraries.push(Library::embedded()?);
        }
        libraries.sort_by_key(|library| library.platform);
        Ok(libraries)
    }
}

/// An inspected library for one platform.
pub struct Library {
    /// Its platform.
    pub platform: Platform,
    /// Contents.
    pub bytes: Cow<'static, [u8]>,
    /// Its origin for messages.
    pub origin: String,
    /// Result of the inspection.
    pub findings: Findings,
}

impl Library {
    /// Returns the embedded library.
    ///
    /// # Errors
    /// As [`read`](Self::read): it is inspected like any other.
    pub fn embedded() -> Result<Self> {
        Self::new(
            Platform::here(),
            Cow::Borrowed(BYTES),
            "the library inside this program".to_owned(),
        )
    }

    /// Reads and inspects a library from a file.
    ///
    /// # Errors
    /// A file that cannot be read, has another format, architecture or word length than the
    /// platform's, or lacks a function of FMI.
    pub fn read(platform: Platform, file: &Path) -> Result<Self> {
        let origin = file.display().to_string();
        let bytes = std::fs::read(file)
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot read {origin}"))?;
        Self::new(platform, Cow::Owned(bytes), origin)
    }

    fn new(platform: Platform, bytes: Cow<'static, [u8]>, origin: String) -> Result<Self> {
        let findings =
            binary::inspect(&bytes, platform).wrap_err_with(|| format!("{origin} cannot serve {platform}"))?;
        Ok(Self {
            platform,
            bytes,
            origin,
            findings,
        })
    }

    /// Returns the path in an archive, under the name `identifier`.
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

/// Returns the path of the library for this platform in an FMU named `identifier`.
pub fn path(identifier: &str) -> String {
    place(Platform::here(), identifier)
}

fn place(platform: Platform, identifier: &str) -> String {
    format!("binaries/{platform}/{identifier}{}", platform.suffix())
}
