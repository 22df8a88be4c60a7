//! Lists of the unit tests. They are compiled with the library that all tests share (feature
//! `inside`), and `tests/inside` runs them: a second library, for unit tests alone, would take
//! minutes to compile. The compiler reports a function that is in no list as dead code.

use std::process::{ExitCode, Termination};

/// The unit tests of a module and of the modules inside it.
#[derive(Clone, Copy, Debug)]
pub struct Tests {
    /// Path of the module.
    pub module: &'static str,
    /// Names and functions of its own tests.
    pub own: &'static [(&'static str, fn())],
    /// Those that run only if they are requested.
    pub ignored: &'static [(&'static str, fn())],
    /// Tests of the modules inside it.
    pub inner: &'static [Tests],
}

/// Fails if a test has returned an error.
pub fn assert(outcome: impl Termination) {
    assert!(outcome.report() == ExitCode::SUCCESS);
}

/// Lists the test functions of a module: they return nothing, or a result.
#[macro_export]
macro_rules! unit_tests {
    ($($test:ident),+ $(,)? $(; ignored: $($ignored:ident),+)?) => {
        pub(crate) const TESTS: $crate::inside::Tests = $crate::inside::Tests {
            module: module_path!(),
            own: &[$((stringify!($test), || $crate::inside::assert($test()))),+],
            ignored: &[$($((stringify!($ignored), || $crate::inside::assert($ignored()))),+)?],
            inner: &[],
        };
    };
}

/// Lists the modules inside a module that have tests.
#[macro_export]
macro_rules! test_modules {
    ($($($module:ident)::+),+ $(,)?) => {
        pub(crate) const TESTS: $crate::inside::Tests = $crate::inside::Tests {
            module: module_path!(),
            own: &[],
            ignored: &[],
            inner: &[$($($module)::+::TESTS),+],
        };
    };
}
