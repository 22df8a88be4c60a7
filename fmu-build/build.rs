//! Builds the shared library that every FMU contains, for `src/library.rs` to embed.
//!
//! The root package is an rlib here: cargo disables link-time optimisation for a package that is
//! both cdylib and rlib. The same sources are therefore built once more as a cdylib with the
//! profile `dist`, in a separate target folder: the outer cargo holds the lock of the usual one.

use std::env;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "src/zip_entry.rs"]
mod zip_entry;

fn main() {
    for source in [
        "src",
        "modelDescription/src",
        "modelDescription/Cargo.toml",
        "Cargo.toml",
        "Cargo.lock",
    ] {
        println!("cargo::rerun-if-changed=../{source}");
    }
    println!("cargo::rerun-if-env-changed=GRAPPLE_LIBRARY");
    let out = PathBuf::from(variable("OUT_DIR"));
    // Uses a library built elsewhere, e.g. by `scripts/portable-library`, for a tool that is
    // distributed.
    let library = match env::var_os("GRAPPLE_LIBRARY") {
        Some(library) => {
            let library = PathBuf::from(library);
            println!("cargo::rerun-if-changed={}", library.display());
            library
        }
        None => build(&target_folder(&out)),
    };
    let library = std::fs::read(&library).unwrap_or_else(|e| panic!("cannot read {}: {e}", library.display()));
    std::fs::write(out.join("library.zip"), compressed(&library)).expect("the folder of this script can be written to");
    println!("cargo::rustc-env=GRAPPLE_PLATFORM={}", platform());
}

/// Returns a zip file that contains only the library. The tool copies the compressed bytes into each
/// FMU: compressing them there would take most of the time of `grapple build`.
fn compressed(library: &[u8]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let started = archive.start_file("library", zip_entry::attributes(true));
    started.expect("the name is valid");
    archive.write_all(library).expect("memory can be written to");
    archive.finish().expect("memory can be written to").into_inner()
}

/// Builds the shared library below `folder` and returns its path.
fn build(folder: &Path) -> PathBuf {
    let (target, host) = (variable("TARGET"), variable("HOST"));
    let mut cargo = Command::new(variable("CARGO"));
    cargo
        // The outer cargo has fetched the dependencies and settled the lock file.
        .args(["rustc", "--frozen", "--quiet", "--manifest-path", "../Cargo.toml"])
        .args([
            "--package",
            "grapple",
            "--lib",
            "--crate-type",
            "cdylib",
            "--profile",
            "dist",
        ])
        .arg("--target-dir")
        .arg(folder);
    if target != host {
        cargo.args(["--target", &target]);
    }
    // Variables that the outer cargo (or clippy, or a coverage tool) has set for itself.
    for set in [
        "RUSTC_WORKSPACE_WRAPPER",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_BUILD_TARGET",
        "CARGO_BUILD_BUILD_DIR",
    ] {
        cargo.env_remove(set);
    }
    let status = cargo.status().unwrap_or_else(|e| panic!("cannot run cargo: {e}"));
    assert!(
        status.success(),
        "the FMU's shared library does not build ({status}); run: {cargo:?}"
    );

    let (prefix, suffix) = match variable("CARGO_CFG_TARGET_OS").as_str() {
        "windows" => ("", ".dll"),
        "macos" => ("lib", ".dylib"),
        _ => ("lib", ".so"),
    };
    let folder = if target == host {
        folder.to_owned()
    } else {
        folder.join(&target)
    };
    folder.join("dist").join(format!("{prefix}grapple{suffix}"))
}

/// Returns a folder beside the outer cargo's, so that debug, release and test builds share the
/// library.
fn target_folder(out: &Path) -> PathBuf {
    let root = out.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
    root.unwrap_or(out).join("fmu-cdylib")
}

/// Returns the library's folder in an archive (FMI 2.0.4, §2.3).
fn platform() -> &'static str {
    let (os, pointer) = (
        variable("CARGO_CFG_TARGET_OS"),
        variable("CARGO_CFG_TARGET_POINTER_WIDTH"),
    );
    match (os.as_str(), pointer.as_str()) {
        ("linux", "64") => "linux64",
        ("linux", "32") => "linux32",
        ("macos", "64") => "darwin64",
        ("windows", "64") => "win64",
        ("windows", "32") => "win32",
        _ => panic!("FMI 2.0 has no folder for the binaries of {os}, {pointer} bits"),
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set; build scripts are run by cargo"))
}
