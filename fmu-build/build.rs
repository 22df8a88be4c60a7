//! Collects the shared libraries that FMUs contain, for `src/library.rs` to embed: those that
//! `scripts/libraries` has left, and one for the platform of the tool, which is built here if it is
//! not among them.
//!
//! The root package is an rlib here: cargo disables link-time optimisation for a package that is
//! both cdylib and rlib. The same sources are therefore built once more as a cdylib with the
//! profile `dist`, in a separate target folder: the outer cargo holds the lock of the usual one.

use std::collections::BTreeMap;
use std::env;
use std::fs::File;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

#[path = "src/zip_entry.rs"]
mod zip_entry;

/// Sources of the library, relative to the folder of the workspace.
const SOURCES: [&str; 7] = [
    "src",
    "lanes/src",
    "lanes/Cargo.toml",
    "modelDescription/src",
    "modelDescription/Cargo.toml",
    "Cargo.toml",
    "Cargo.lock",
];

/// Platforms and files of the libraries that `scripts/libraries` leaves.
const LEFT: [(&str, &str); 5] = [
    ("aarch64-linux", "grapple.so"),
    ("darwin64", "grapple.dylib"),
    ("linux64", "grapple.so"),
    ("wasm", "grapple.wasm"),
    ("win64", "grapple.dll"),
];

/// Processors for which `scripts/libraries` compiles libraries for runs that advance together, the
/// fastest first.
const LANES: [&str; 2] = ["avx512", "avx2"];

/// Stands for the platform of a tool that loads no libraries and embeds none.
const NONE: &str = "none";

/// Level of compression for which the crate `zip` uses Zopfli, with three iterations; five gain
/// 0.04 %.
const ZOPFLI_LEVEL: i64 = 12;

fn main() {
    for source in SOURCES {
        println!("cargo::rerun-if-changed=../{source}");
    }
    println!("cargo::rerun-if-env-changed=GRAPPLE_LIBRARY");
    println!("cargo::rerun-if-env-changed=GRAPPLE_LIBRARIES");
    let out = PathBuf::from(variable("OUT_DIR"));
    let target_folder = target_folder(&out);
    let own = platform();
    let mut libraries = left_by_script(&target_folder);
    // A library built elsewhere.
    if let Some(library) = env::var_os("GRAPPLE_LIBRARY") {
        println!("cargo::rerun-if-changed={}", PathBuf::from(&library).display());
        libraries.insert(own.to_owned(), library.into());
    }
    if own != NONE {
        libraries
            .entry(own.to_owned())
            .or_insert_with(|| build(&target_folder.join("fmu-cdylib")));
    }
    let mut embedded = String::from("[\n");
    std::thread::scope(|threads| {
        for (platform, library) in &libraries {
            let file = out.join(format!("{platform}.zip"));
            embedded += &format!("    ({platform:?}, include_bytes!({file:?}).as_slice()),\n");
            threads.spawn(move || {
                let bytes = std::fs::read(library).unwrap_or_else(|e| panic!("cannot read {}: {e}", library.display()));
                std::fs::write(file, compressed(&bytes)).expect("the folder of this script can be written to");
            });
        }
    });
    std::fs::write(out.join("embedded.rs"), embedded + "]\n").expect("the folder of this script can be written to");
    embed_for_lanes(&out, &target_folder, own);
    println!("cargo::rustc-env=GRAPPLE_PLATFORM={own}");
}

/// Embeds the libraries for runs that advance together: those for processors with wide vectors that
/// `scripts/libraries` has left, or the one that a variable names.
fn embed_for_lanes(out: &Path, target_folder: &Path, own: &str) {
    println!("cargo::rerun-if-env-changed=GRAPPLE_LANES");
    let left = libraries_folder(target_folder).join(own);
    let left = LANES.map(|processor| (processor, left.join(format!("lanes-{processor}"))));
    let given = env::var_os("GRAPPLE_LANES").map(|file| ("any", PathBuf::from(file)));
    let newest = newest_source();
    // With another library those left by the script would not have its code.
    let is_other = env::var_os("GRAPPLE_LIBRARY").is_some();
    let left = left.into_iter().filter(|_| !is_other);
    let mut embedded = String::from("[\n");
    for (processor, library) in given.into_iter().chain(left) {
        let is_given = processor == "any";
        if is_given {
            println!("cargo::rerun-if-changed={}", library.display());
        }
        if is_given || library.exists() && Some(last_change(&library)) > newest {
            let bytes = std::fs::read(&library).unwrap_or_else(|e| panic!("cannot read {}: {e}", library.display()));
            let file = out.join(format!("lanes-{processor}.zip"));
            std::fs::write(&file, compressed(&bytes)).expect("the folder of this script can be written to");
            embedded += &format!("    ({processor:?}, include_bytes!({file:?}).as_slice()),\n");
        }
    }
    std::fs::write(out.join("for_lanes.rs"), embedded + "]\n").expect("the folder of this script can be written to");
}

/// Returns the folder in which `scripts/libraries` leaves libraries.
fn libraries_folder(target_folder: &Path) -> PathBuf {
    env::var_os("GRAPPLE_LIBRARIES").map_or_else(|| target_folder.join("libraries"), PathBuf::from)
}

/// Returns the time of the last change of the library's sources.
fn newest_source() -> Option<SystemTime> {
    let changes = SOURCES.iter().map(|source| last_change(&Path::new("..").join(source)));
    changes.max()
}

/// Returns the libraries that `scripts/libraries` has left, with their platforms. Libraries older
/// than the sources are left out with a warning.
fn left_by_script(target_folder: &Path) -> BTreeMap<String, PathBuf> {
    let folder = libraries_folder(target_folder);
    if env::var_os("GRAPPLE_LIBRARIES").is_none() {
        // Cargo runs this script at every build if a folder that it watches does not exist, and
        // at the next one if the folder is younger than the script's start. Where its time
        // cannot be set, as on Windows, the next build compiles the tool once more.
        if !folder.is_dir() {
            std::fs::create_dir_all(&folder).unwrap_or_else(|e| panic!("cannot make {}: {e}", folder.display()));
            let made = File::open(&folder);
            let _ = made.and_then(|made| made.set_modified(SystemTime::UNIX_EPOCH));
        }
    }
    assert!(
        folder.is_dir(),
        "GRAPPLE_LIBRARIES: there is no folder {}",
        folder.display()
    );
    println!("cargo::rerun-if-changed={}", folder.display());
    let newest = newest_source();
    let mut libraries = BTreeMap::new();
    for (platform, file) in LEFT {
        let library = folder.join(platform).join(file);
        if !library.exists() {
            continue;
        }
        if Some(last_change(&library)) > newest {
            libraries.insert(platform.to_owned(), library);
        } else {
            println!(
                "cargo::warning={} is older than the sources: the tool does not contain it; run scripts/libraries",
                library.display()
            );
        }
    }
    libraries
}

/// Returns the time of the last change of a file, or of the files in a folder and its subfolders.
fn last_change(path: &Path) -> SystemTime {
    let of_files = std::fs::read_dir(path).ok().and_then(|entries| {
        let entries = entries.map(|entry| entry.expect("an entry of a folder of sources").path());
        entries.map(|entry| last_change(&entry)).max()
    });
    of_files.unwrap_or_else(|| {
        let changed = std::fs::metadata(path).and_then(|data| data.modified());
        changed.unwrap_or_else(|e| panic!("cannot read the time of {}: {e}", path.display()))
    })
}

/// Returns a zip file that contains only the library. The tool copies the compressed bytes into
/// each FMU: compressing them there would take most of the time of `grapple build`. In a released
/// tool they are compressed by Zopfli: 3 % smaller, in seconds instead of a fraction of one.
fn compressed(library: &[u8]) -> Vec<u8> {
    let mut attributes = zip_entry::attributes(true);
    if variable("PROFILE") == "release" {
        attributes = attributes.compression_level(Some(ZOPFLI_LEVEL));
    }
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let started = archive.start_file("library", attributes);
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

/// Returns the outer cargo's target folder; debug, release and test builds share what is there. Cargo
/// marks a target folder that it has made itself; `scripts/libraries` may have made it before.
fn target_folder(out: &Path) -> PathBuf {
    let is_target = |folder: &&Path| folder.join("CACHEDIR.TAG").is_file() || folder.join("libraries").is_dir();
    let root = out.ancestors().skip(1).find(is_target);
    root.unwrap_or(out).to_owned()
}

/// Returns the library's folder in an archive (FMI 2.0.4, §2.3).
fn platform() -> &'static str {
    let [os, arch] = ["CARGO_CFG_TARGET_OS", "CARGO_CFG_TARGET_ARCH"].map(variable);
    match (os.as_str(), arch.as_str()) {
        ("linux", "x86_64") => "linux64",
        ("linux", "x86") => "linux32",
        ("linux", "aarch64") => "aarch64-linux",
        ("macos", _) => "darwin64",
        ("windows", "x86_64") => "win64",
        ("windows", "x86") => "win32",
        (_, "wasm32") => NONE,
        _ => panic!("the tool does not know the folder of FMI 2.0 for the binaries of {os} on {arch}"),
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set; build scripts are run by cargo"))
}
