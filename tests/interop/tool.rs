//! The tool that builds the FMUs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Builds an example, a path below `examples` without its ending, and returns the FMU.
pub fn build(example: &str, options: &[&str]) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let grapple = std::env::var_os("GRAPPLE").expect("the environment variable GRAPPLE is the path of the tool");
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{example}.toml"));
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let fmu = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}_{count}.fmu", env!("CARGO_CRATE_NAME")));
    let built = Command::new(grapple)
        .args(["build", "--force"])
        .arg(spec)
        .arg("--output")
        .arg(&fmu)
        .args(options)
        .output()
        .expect("the tool runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    fmu
}
