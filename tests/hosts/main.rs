//! Hosts as they really call an FMU: their call sequences replayed on the exported C functions.
//!
//! One module per host. The sequences were read from the hosts' public sources, named at the head of each
//! module (facts only). A test is named after its rule in `docs/hosts.md`.

mod driver;
mod everyone;
mod fmi_library;
mod fmpy;
mod instance;
mod integration;
mod life;
mod mistakes;
mod omsimulator;
mod openmodelica;

#[test]
fn every_test_that_the_page_on_hosts_names_exists() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    let modules = [
        "everyone",
        "fmi_library",
        "fmpy",
        "life",
        "mistakes",
        "omsimulator",
        "openmodelica",
    ];
    let mut sources: Vec<String> = modules.iter().map(|m| read(&format!("tests/hosts/{m}.rs"))).collect();
    let others = [
        "tests/contract.rs",
        "tests/interop/fmi.rs",
        "tests/python/test_hosts.py",
        "tests/python/test_state.py",
        "tests/python/test_validate.py",
        "src/fmu/component/tests.rs",
    ];
    sources.extend(others.map(read));
    let page = read("docs/hosts.md");
    let mut named = 0;
    // What stands between backquotes and looks like the name of a test, alone or after a file.
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
