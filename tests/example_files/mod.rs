//! The examples of the project, for tests that use all of them.

use std::path::PathBuf;

/// Returns the paths of their specs in alphabetical order.
pub fn example_files() -> Vec<PathBuf> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let entries = std::fs::read_dir(directory).expect("the examples are there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    paths.sort();
    assert!(paths.len() > 10);
    paths
}
