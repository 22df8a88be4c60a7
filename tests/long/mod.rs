//! Long forms of tests, which `scripts/long` runs. CI runs short forms: the same checks on fewer
//! samples.

/// Returns true if the long forms are to run: the environment variable `GRAPPLE_LONG` is set.
pub fn long() -> bool {
    std::env::var_os("GRAPPLE_LONG").is_some()
}
