//! The shared library that every FMU carries, built by `build.rs` and embedded here.

/// The library's bytes, for the platform this program was built for.
pub const BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/library"));

/// The folder below `binaries/` in which FMI expects it.
pub const PLATFORM: &str = env!("GRAPPLE_PLATFORM");

/// The path of the library of `identifier` inside an archive.
pub fn path(identifier: &str) -> String {
    let suffix = std::env::consts::DLL_SUFFIX;
    format!("binaries/{PLATFORM}/{identifier}{suffix}")
}
