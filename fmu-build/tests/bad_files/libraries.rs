//! Damaged shared libraries for an FMU: `grapple build` inspects them, and never loads them.

use crate::campaign::{Outcome, run};
use crate::mutate;
use crate::program::Desk;
use rand::RngExt;
use std::io::{Cursor, Read};

const SPEC: &str = r#"
name = "stone"
[body.stone]
mass = 1.0
inertia = [1.0, 1.0, 1.0]
"#;

/// Length of the part at each end of a library that is often damaged, bytes: headers and tables are
/// there.
const END: usize = 8192;

#[test]
fn damaged_library_is_refused_or_packed() {
    let desk = Desk::new();
    desk.write("stone.toml", SPEC).expect("a spec");
    assert_eq!(desk.run(&["build", "stone.toml"]), Ok(Outcome::Works));
    let good = library(&std::fs::read(desk.path("stone.fmu")).expect("it was built"));
    run("libraries", 30, |rng, made| {
        let mut bytes = good.clone();
        let mut part = match rng.random_range(0..3) {
            0 => 0..END.min(bytes.len()),
            1 => bytes.len().saturating_sub(END)..bytes.len(),
            _ => 0..bytes.len(),
        };
        let mut piece = bytes[part.clone()].to_vec();
        mutate::bytes(rng, &mut piece, &good[..END]);
        if rng.random_range(0..8) == 0 {
            // The library also ends after the damaged part.
            part.end = bytes.len();
        }
        bytes.splice(part, piece);
        made.extend_from_slice(&bytes[..END.min(bytes.len())]);
        desk.write("bad", &bytes)?;
        desk.run(&["build", "stone.toml", "--library", "bad"])
    });
}

/// Returns the shared library in an FMU.
fn library(fmu: &[u8]) -> Vec<u8> {
    let mut archive = zip::ZipArchive::new(Cursor::new(fmu)).expect("a zip file");
    let mut names = archive.file_names().map(|name| name.expect("a name").into_owned());
    let name = names.find(|name| name.starts_with("binaries/")).expect("a library");
    drop(names);
    let mut bytes = Vec::new();
    let mut entry = archive.by_name(&name).expect("an entry");
    entry.read_to_end(&mut bytes).expect("its bytes");
    bytes
}
