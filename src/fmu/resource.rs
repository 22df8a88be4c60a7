//! Location of the file with the model: `fmuResourceLocation` in all the spellings that importers
//! use (§2.1.5, RFC 3986).

use crate::spec::read_text;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Name of the file in `resources/` that contains the model: its spec as JSON, with all tables.
pub const MODEL_FILE: &str = "model.json";

/// Upper limit of the file's size, bytes.
const SIZE_LIMIT: u64 = 256 << 20;

/// The model of a library that has no files.
static PROVIDED: OnceLock<&'static [u8]> = OnceLock::new();

/// Provides the bytes of [`MODEL_FILE`] for all locations: for a WebAssembly component, which has no
/// files.
/// Only the first call has an effect.
pub fn provide(model: &'static [u8]) {
    PROVIDED.get_or_init(|| model);
}

/// Returns the bytes of [`MODEL_FILE`] at a resource location, or those that are
/// [provided](provide). No file stays open, since importers create thousands of instances.
///
/// # Errors
/// The fault of the location or the file, as a message.
pub fn read_model(location: &str) -> Result<Vec<u8>, String> {
    if let Some(model) = PROVIDED.get() {
        return Ok(model.to_vec());
    }
    let file = directory(location)?.join(MODEL_FILE);
    let text = read_text(&file, SIZE_LIMIT);
    text.map(String::into_bytes)
        .map_err(|what| format!("cannot read the model {}: {what}", file.display()))
}

/// Returns the directory of a resource location: `file:/x`, `file:///x`, `file://localhost/x`, with
/// percent escapes, or a plain path, taken unchanged.
///
/// Some importers do not escape the `%` of a path. If the decoded path contains no model, or an
/// escape is broken, the undecoded path is used if it contains one.
///
/// # Errors
/// The fault of the location, as a message.
pub fn directory(location: &str) -> Result<PathBuf, String> {
    let [decoded, raw] = [Escapes::Decoded, Escapes::Kept].map(|escapes| {
        let bytes = path_bytes(location, cfg!(windows), escapes)?;
        to_path(bytes).ok_or_else(|| format!("the resource location {location:?} is not a valid path"))
    });
    let holds_model = |path: &Result<PathBuf, String>| path.as_ref().is_ok_and(|path| path.join(MODEL_FILE).exists());
    if !holds_model(&decoded) && holds_model(&raw) {
        return raw;
    }
    decoded
}

/// Interpretation of the percent escapes of a URI.
#[derive(Clone, Copy)]
enum Escapes {
    /// Escapes are replaced by the bytes that they encode (RFC 3986).
    Decoded,
    /// Escapes are kept as characters of the path.
    Kept,
}

#[cfg(unix)]
fn to_path(bytes: Vec<u8>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

#[cfg(not(unix))]
fn to_path(bytes: Vec<u8>) -> Option<PathBuf> {
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

fn path_bytes(location: &str, windows: bool, escapes: Escapes) -> Result<Vec<u8>, String> {
    if location.trim().is_empty() {
        return Err("the resource location is empty".to_owned());
    }
    let Some(rest) = strip_file_scheme(location) else {
        if let Some((scheme, _)) = location.split_once("://") {
            return Err(format!(
                "the resource location {location:?} has scheme {scheme:?}; only file: is supported"
            ));
        }
        return Ok(location.as_bytes().to_vec());
    };
    let path = match rest.strip_prefix("//") {
        // `file:///x` has an empty host, `file://localhost/x` the local one; `file://C:/x` is a
        // common mistake for `file:///C:/x`.
        Some(after) if is_drive(after) => after.to_owned(),
        Some(after) => {
            let (host, path) = after.split_at(after.find('/').unwrap_or(after.len()));
            match host {
                _ if host.is_empty() || host.eq_ignore_ascii_case("localhost") => path.to_owned(),
                _ if windows => format!("//{host}{path}"),
                _ => {
                    return Err(format!(
                        "the resource location {location:?} lies on another host, {host:?}"
                    ));
                }
            }
        }
        None => rest.to_owned(),
    };
    let decoded = match escapes {
        Escapes::Kept => path.into_bytes(),
        Escapes::Decoded => percent_decoded(&path)
            .ok_or_else(|| format!("the resource location {location:?} has a broken percent escape"))?,
    };
    if decoded.is_empty() {
        return Err(format!("the resource location {location:?} has no path"));
    }
    if decoded.contains(&0) {
        return Err(format!("the resource location {location:?} contains a zero byte"));
    }
    // `file:///C:/x` means `C:/x`.
    match decoded.strip_prefix(b"/") {
        Some(drive) if windows && drive.get(1) == Some(&b':') => Ok(drive.to_vec()),
        _ => Ok(decoded),
    }
}

fn strip_file_scheme(location: &str) -> Option<&str> {
    let (scheme, rest) = location.split_at_checked("file:".len())?;
    scheme.eq_ignore_ascii_case("file:").then_some(rest)
}

fn is_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

fn percent_decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let high = char::from(bytes.next()?).to_digit(16)?;
            let low = char::from(bytes.next()?).to_digit(16)?;
            decoded.push(u8::try_from(16 * high + low).ok()?);
        } else {
            decoded.push(byte);
        }
    }
    Some(decoded)
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![
        every_spelling_of_a_location_gives_the_same_path,
        windows_drives_and_shares,
        invalid_locations_are_refused_with_the_reason,
        a_file_above_the_limit_is_refused,
    ];

    fn path(location: &str, windows: bool) -> Result<String, String> {
        path_bytes(location, windows, Escapes::Decoded).map(|b| String::from_utf8_lossy(&b).into_owned())
    }

    fn every_spelling_of_a_location_gives_the_same_path() {
        for spelling in [
            "/tmp/my fmu/100%/resources",
            "file:/tmp/my%20fmu/100%25/resources",
            "file:///tmp/my%20fmu/100%25/resources",
            "file://localhost/tmp/my%20fmu/100%25/resources",
            "FILE:///tmp/my fmu/100%25/resources",
        ] {
            assert_eq!(
                path(spelling, false).as_deref(),
                Ok("/tmp/my fmu/100%/resources"),
                "{spelling}"
            );
        }
        assert_eq!(path("file:///tmp/%C3%A4", false).as_deref(), Ok("/tmp/ä"));
    }

    fn windows_drives_and_shares() {
        for spelling in [
            "C:/a b/r",
            "file:///C:/a%20b/r",
            "file:/C:/a%20b/r",
            "file://C:/a%20b/r",
            "file:C:/a%20b/r",
        ] {
            assert_eq!(path(spelling, true).as_deref(), Ok("C:/a b/r"), "{spelling}");
        }
        assert_eq!(path("file://server/share/r", true).as_deref(), Ok("//server/share/r"));
    }

    fn invalid_locations_are_refused_with_the_reason() {
        for (location, reason) in [
            ("", "empty"),
            ("http://x/y", "only file:"),
            ("file://elsewhere/x", "another host"),
            ("file:///x%2", "percent escape"),
            ("file:///x%zz", "percent escape"),
            ("file:///x%00", "zero byte"),
            ("file://", "no path"),
        ] {
            let refused = path(location, false);
            assert!(
                refused.as_ref().is_err_and(|what| what.contains(reason)),
                "{location}: {refused:?}"
            );
        }
    }

    fn a_file_above_the_limit_is_refused() -> std::io::Result<()> {
        let file = std::env::temp_dir().join(format!("grapple-resource-{}", std::process::id()));
        std::fs::write(&file, [0; 11])?;
        assert_eq!(read_text(&file, 11)?.len(), 11);
        assert!(read_text(&file, 10).is_err_and(|e| e.to_string().contains("larger")));
        std::fs::remove_file(&file)?;
        assert!(read_text(&file, 11).is_err());
        Ok(())
    }
}
