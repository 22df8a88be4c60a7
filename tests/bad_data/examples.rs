//! The examples, as text and compiled.

use grapple::plant::Model;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

/// An example.
pub struct Example {
    /// Its spec.
    pub text: String,
    /// What becomes of it.
    pub model: Arc<Model>,
}

/// Where they stand, and their tables.
pub static DIRECTORY: LazyLock<PathBuf> = LazyLock::new(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples"));

/// All of them.
pub static EXAMPLES: LazyLock<Vec<Example>> = LazyLock::new(|| {
    let entries = std::fs::read_dir(&*DIRECTORY).expect("the examples are there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    paths.sort();
    assert!(paths.len() > 10);
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(path).expect("a text");
        let model = Arc::new(Model::read(&text, &DIRECTORY).expect("the examples are right"));
        Example { text, model }
    };
    paths.into_iter().map(read).collect()
});
