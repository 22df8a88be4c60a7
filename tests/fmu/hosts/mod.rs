//! Call sequences of real importers, replayed on the exported C functions.
//!
//! One module per importer. The sequences were read from the importers' public sources, named at
//! the head of each module (facts only). A test is named after its rule in `docs/hosts.md`.

mod environment;
mod everyone;
mod fmi_library;
mod fmpy;
mod life;
mod mistakes;
mod omsimulator;
mod openmodelica;

use std::path::{Path, PathBuf};

#[test]
fn every_test_that_the_page_on_hosts_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<PathBuf> = [
        "src/fmu/component/tests.rs",
        "tests/interop/fmi.rs",
        "tests/python/test_hosts.py",
        "tests/python/test_portable.py",
        "tests/python/test_state.py",
        "tests/python/test_stiff.py",
        "tests/python/test_systems.py",
        "tests/python/test_validate.py",
        "fmu-build/src/slave/tests.rs",
    ]
    .map(|path| root.join(path))
    .into();
    for folder in ["tests/fmu/campaign", "tests/fmu/contract", "tests/fmu/hosts"] {
        let entries = std::fs::read_dir(root.join(folder)).expect("a folder of tests");
        let entries = entries.map(|entry| entry.expect("an entry").path());
        paths.extend(entries.filter(|path| path.is_file()));
    }
    let read = |path: PathBuf| std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let sources: Vec<String> = paths.into_iter().map(read).collect();
    let page = read(root.join("docs/hosts.md"));
    let mut named = 0;
    // Finds every name in backquotes that looks like the name of a test, alone or after a path.
    for name in page.split('`').skip(1).step_by(2) {
        let name = name.rsplit("::").next().unwrap_or(name);
        let is_test = name.matches('_').count() > 2 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_test {
            named += 1;
            let exists = |source: &String| {
                ["fn", "def"]
                    .iter()
                    .any(|word| source.contains(&format!("{word} {name}(")))
            };
            assert!(sources.iter().any(exists), "{name} is no test");
        }
    }
    assert!(named > 70, "{named}");
}
