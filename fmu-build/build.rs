//! Builds the shared library that every FMU carries, for `src/library.rs` to embed.
//!
//! The root package is an rlib here: a package that is cdylib *and* rlib silently gets no link-time
//! optimisation. So the same sources are built once more, as a cdylib alone and always with the
//! profile `dist`, in a target folder of its own: the outer cargo holds the lock of the usual one.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

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
    // A library from elsewhere, say of `scripts/portable-library`, for a tool that is given away.
    let library = match env::var_os("GRAPPLE_LIBRARY") {
        Some(library) => {
            let library = PathBuf::from(library);
            println!("cargo::rerun-if-changed={}", library.display());
            library
        }
        None => build(&target_folder(&out)),
    };
    std::fs::copy(&library, out.join("library")).unwrap_or_else(|e| panic!("cannot copy {}: {e}", library.display()));
    println!("cargo::rustc-env=GRAPPLE_PLATFORM={}", platform());
}

/// The shared library, freshly built below `folder`.
fn build(folder: &Path) -> PathBuf {
    let (target, host) = (variable("TARGET"), variable("HOST"));
    let mut cargo = Command::new(variable("CARGO"));
    cargo
        // Whatever the outer cargo needed is fetched, and its lock file is settled.
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
    // What the outer cargo (or clippy, or a coverage tool) set for itself.
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

/// A folder beside the outer cargo's own, so that debug, release and test builds share the library.
fn target_folder(out: &Path) -> PathBuf {
    let root = out.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
    root.unwrap_or(out).join("fmu-cdylib")
}

/// The folder of the library in an archive (FMI 2.0.4, §2.3).
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
