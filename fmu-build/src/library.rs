//! The shared libraries in an FMU: the one embedded in this program by `build.rs`, and others from
//! files.

use crate::archive::Bytes;
use crate::binary::{self, Findings, Glibc};
use crate::error::{Context, Error, Result, invalid};
use crate::platform::Platform;
use grapple::fmu::lifecycle::Standard;
use model_description::FmiVersion;
use std::path::{Path, PathBuf};

/// Embedded libraries: the name of the platform, and a zip file with the library. A constant would be
/// in the program once for each unit of compilation that uses it.
static EMBEDDED: &[(&str, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// Libraries for runs that advance together, in the order of preference: the processors for which they
/// are compiled, and a zip file with the library.
static FOR_LANES: &[(&str, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/for_lanes.rs"));

/// Largest number of symbols that a message names.
const MOST_SYMBOLS: usize = 8;

/// C library of the oldest systems that simulation tools still support (Red Hat Enterprise Linux 8,
/// 2019).
const OLDEST_IN_USE: Glibc = Glibc(2, 28);

/// Returns the platforms of the embedded libraries, that of this program included.
pub fn embedded_platforms() -> impl Iterator<Item = Platform> {
    EMBEDDED
        .iter()
        .map(|(platform, _)| platform.parse().expect("build.rs writes its name"))
}

/// Returns the libraries for the given platforms, or else for all that have one but WebAssembly, sorted
/// by platform: those in files, and embedded libraries for the others.
///
/// # Errors
/// Those of [`Library::read`]; two files for one platform; a platform without a library.
pub fn libraries<'a>(
    files: impl IntoIterator<Item = (Platform, &'a Path)>,
    platforms: Option<&[Platform]>,
) -> Result<Vec<Library>> {
    let mut libraries: Vec<Library> = Vec::new();
    let is_wanted = |platform| platforms.is_none_or(|platforms| platforms.contains(&platform));
    for (platform, file) in files {
        if let Some(first) = libraries.iter().find(|library| library.platform == platform) {
            let (first, second) = (&first.origin, file.display());
            return Err(invalid!("two libraries for {platform}: {first} and {second}"));
        }
        libraries.push(Library::read(platform, file)?);
    }
    let has = |libraries: &[Library], platform| libraries.iter().any(|library| library.platform == platform);
    let is_default = |platform: Platform| platforms.is_some() || platform.is_default();
    for platform in embedded_platforms().filter(|&platform| is_wanted(platform) && is_default(platform)) {
        if !has(&libraries, platform) {
            libraries.push(Library::embedded(platform)?);
        }
    }
    if let Some(&missing) =
        platforms.and_then(|platforms| platforms.iter().find(|&&platform| !has(&libraries, platform)))
    {
        return Err(no_library(missing));
    }
    libraries.sort_by_key(|library| library.platform);
    Ok(libraries)
}

/// Returns the library for runs that advance together on this processor.
///
/// # Errors
/// This program contains none that this processor runs.
pub fn for_lanes() -> Result<Vec<u8>> {
    let suitable = FOR_LANES.iter().find(|(processor, _)| runs_here(processor));
    let &(_, compressed) = suitable.ok_or_else(|| {
        invalid!("this program contains no library for runs in lanes on this processor; scripts/libraries builds them")
    })?;
    Ok(Bytes::Compressed(compressed).plain()?.into_owned())
}

/// Returns true if this processor runs a library that is compiled for the named kind.
fn runs_here(processor: &str) -> bool {
    match processor {
        "any" => true,
        #[cfg(target_arch = "x86_64")]
        "avx2" => is_x86_feature_detected!("avx2"),
        #[cfg(target_arch = "x86_64")]
        "avx512" => {
            is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bw")
        }
        _ => false,
    }
}

/// Returns the error of a platform for which this program has no library.
fn no_library(platform: Platform) -> Error {
    let contained: Vec<&str> = embedded_platforms().map(Platform::name).collect();
    invalid!(
        "this program contains no library for {platform}, only for {}: give one with --binary {platform}=FILE; in a clone, \
         scripts/libraries {platform} builds it, and a tool that is built after it contains it",
        contained.join(", ")
    )
}

/// An inspected library for one platform.
pub struct Library {
    /// Platform on which the library runs.
    pub platform: Platform,
    /// Platform whose folder in an FMU contains the library.
    pub folder: Platform,
    /// Bytes of the library's file.
    pub bytes: Bytes<'static>,
    /// Origin for messages: the file's name, or that the library is the embedded one.
    pub origin: String,
    /// Result of the inspection.
    pub findings: Findings,
}

impl Library {
    /// Returns the embedded library for a platform.
    ///
    /// # Errors
    /// A platform without an embedded library; those of [`read`](Self::read), since the library is
    /// inspected like any other.
    pub fn embedded(platform: Platform) -> Result<Self> {
        let mut embedded = EMBEDDED.iter().filter(|(name, _)| *name == platform.name());
        let &(_, compressed) = embedded.next().ok_or_else(|| no_library(platform))?;
        let bytes = Bytes::Compressed(compressed);
        let origin = "the library inside this program".to_owned();
        let findings = inspect(&bytes.plain()?, platform, &origin)?;
        Ok(Self {
            platform,
            folder: platform,
            bytes,
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
            folder: platform,
            bytes: Bytes::Plain(bytes.into()),
            origin,
            findings,
        })
    }

    /// Returns the library's paths in an FMU with the model identifier `identifier`. FMI 3.0 has a folder
    /// for each machine, so that a universal library of macOS has two paths.
    pub fn paths(&self, standard: Standard, identifier: &str) -> impl Iterator<Item = String> {
        let folders = match standard {
            Standard::Fmi2 => vec![self.folder.name().to_owned()],
            Standard::Fmi3 => self.folder.folders_of_fmi3(&self.findings.machines),
        };
        let file = format!("{identifier}{}", self.folder.suffix());
        folders
            .into_iter()
            .map(move |folder| format!("binaries/{folder}/{file}"))
    }

    /// Returns "linux64: the library inside this program, needs GLIBC 2.17".
    pub fn summary(&self) -> String {
        let mut text = format!("{}: {}", self.platform, self.origin);
        if self.folder != self.platform {
            text += &format!(", in the folder {}", self.folder);
        }
        if let Some(version) = self.findings.glibc {
            text += &format!(", needs GLIBC {version}");
            if version > OLDEST_IN_USE {
                text += &format!(" (older systems need a library built for {OLDEST_IN_USE} or less: README)");
            }
        }
        if let (Platform::Darwin64, [machine]) = (self.platform, self.findings.machines.as_slice()) {
            text += &format!(", for {machine} only (a universal library, made by lipo, runs on all Macs)");
        }
        let others = &self.findings.others;
        if !others.is_empty() {
            let shown = others.len().min(MOST_SYMBOLS);
            text += &format!("; exports symbols that are not FMI's: {}", others[..shown].join(", "));
            if shown < others.len() {
                text += &format!(" and {} more", others.len() - shown);
            }
        }
        text
    }
}

fn inspect(bytes: &[u8], platform: Platform, origin: &str) -> Result<Findings> {
    binary::inspect(bytes, platform).context(|| format!("{origin} cannot be used on {platform}"))
}

/// Returns the file of the library for this platform in an unpacked FMU with the model identifier
/// `identifier`. For Linux on arm64 the folder `linux64` is used as well: FMI 2.0 had no name for
/// this platform at first.
pub fn file(folder: &Path, version: FmiVersion, identifier: &str) -> PathBuf {
    let here = Platform::here();
    let file = |name: &str| folder.join(format!("binaries/{name}/{identifier}{}", here.suffix()));
    match (version, here) {
        (FmiVersion::V3_0, _) => {
            let machine = if cfg!(target_arch = "aarch64") {
                "arm64"
            } else {
                "x86-64"
            };
            file(&here.folders_of_fmi3(&[machine.to_owned()]).concat())
        }
        (FmiVersion::V2_0, Platform::Aarch64Linux) if !file(here.name()).exists() => file(Platform::Linux64.name()),
        (FmiVersion::V2_0, _) => file(here.name()),
    }
}

/// Moves the library for Linux on arm64 to the folder `linux64`, in place of that for x86-64.
///
/// # Errors
/// There is no library for Linux on arm64.
pub fn put_arm64_in_linux64(libraries: &mut Vec<Library>) -> Result<()> {
    libraries.retain(|library| library.platform != Platform::Linux64);
    let arm64 = libraries
        .iter_mut()
        .find(|library| library.platform == Platform::Aarch64Linux);
    arm64.ok_or_else(|| no_library(Platform::Aarch64Linux))?.folder = Platform::Linux64;
    Ok(())
}
