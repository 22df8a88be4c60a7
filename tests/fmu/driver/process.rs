//! A process of one's own, and what it holds.

use std::process::Command;

/// Runs the body of a test in a process of its own, where no other test takes memory or opens files meanwhile.
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

/// Bytes resident, and files open; nothing where there is no `/proc`.
pub fn in_use() -> (u64, usize) {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let resident = pages.and_then(|p| p.split_whitespace().nth(1)?.parse::<u64>().ok());
    let files = std::fs::read_dir("/proc/self/fd").map(Iterator::count);
    (resident.unwrap_or(0) * 4096, files.unwrap_or(0))
}
