//! The examples of the project, for tests that use all of them.

use std::path::{Path, PathBuf};

/// Returns the paths of their specs in alphabetical order.
pub fn example_files() -> Vec<PathBuf> {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut examples = folders.map(|folder| folder.join("examples"));
    let directory = examples.find(|folder| folder.is_dir()).expect("the examples are there");
    let entries = std::fs::read_dir(directory).expect("a folder");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    paths.sort();
    assert!(paths.len() > 10);
    paths
}
