//! A test in a separate process.

use std::process::Command;

/// Runs the body of a test in a separate process, so that no other test allocates memory or opens
/// files at the same time. `test` is the test's full name.
pub fn alone(test: &str, body: impl FnOnce()) {
    const CHILD: &str = "GRAPPLE_TEST_ALONE";
    if std::env::var_os(CHILD).is_some() {
        return body();
    }
    let program = std::env::current_exe().expect("a running program has a path");
    let child = Command::new(program)
        .args(["--exact", test, "--include-ignored", "--test-threads=1", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .expect("this program can be started");
    let [printed, errors] = [&child.stdout, &child.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(
        child.status.success() && printed.contains("1 passed"),
        "{printed}\n{errors}"
    );
}
