//! The examples, as text and compiled.

use crate::example_files::example_files;
use grapple::plant::Model;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

/// An example.
pub struct Example {
    /// Its spec.
    pub text: String,
    /// Compiled model.
    pub model: Arc<Model>,
}

/// Directory of the examples and their tables.
pub static DIRECTORY: LazyLock<PathBuf> = LazyLock::new(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples"));

/// All examples.
pub static EXAMPLES: LazyLock<Vec<Example>> = LazyLock::new(|| {
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(path).expect("a text");
        let model = Arc::new(Model::read(&text, &DIRECTORY).expect("the examples are right"));
        Example { text, model }
    };
    example_files().into_iter().map(read).collect()
});
