//! A test in a separate process, and the memory and files that it uses.

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
        .args(["--exact", test, "--test-threads=1"])
        .env(CHILD, "1")
        .output()
        .expect("this program can be started");
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && said.contains("1 passed"), "{said}");
}

/// Returns the process's private memory in bytes, and the number of open files.
pub fn in_use() -> (u64, usize) {
    // This count is exact; the usual counters lag behind by some pages for each processor.
    let rollup = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    let anonymous = rollup.lines().find_map(|line| line.strip_prefix("Anonymous:"));
    let kilobytes = anonymous.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    let files = std::fs::read_dir("/proc/self/fd").map(Iterator::count);
    (kilobytes.expect("Linux counts") << 10, files.unwrap_or(0))
}
