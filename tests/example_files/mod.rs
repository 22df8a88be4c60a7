//! The examples of the project, for tests that use all of them.

#![allow(dead_code)] // Not every test uses all functions.

use std::path::{Path, PathBuf};

/// Returns the folder of the examples.
fn directory() -> PathBuf {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut examples = folders.map(|folder| folder.join("examples"));
    examples.find(|folder| folder.is_dir()).expect("the examples are there")
}

/// Returns the paths of their specs and of those in subfolders, some of which are parts of others,
/// in alphabetical order.
pub fn all_example_files() -> Vec<PathBuf> {
    let (mut folders, mut paths) = (vec![directory()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("a file").path();
            match path.is_dir() {
                true => folders.push(path),
                false => paths.push(path),
            }
        }
    }
    paths.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    paths.sort();
    assert!(paths.len() > 30);
    paths
}

/// Returns the paths of their specs in alphabetical order.
pub fn example_files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory()).expect("a folder");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    paths.sort();
    assert!(paths.len() > 10);
    paths
}
