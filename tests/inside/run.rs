//! Runs unit tests that a library lists.

use grapple::inside::Tests;
use libtest_mimic::{Arguments, Failed, Trial};
use std::process::ExitCode;
use std::thread::Builder;

/// Runs the tests that the command line selects.
pub fn run(tests: &Tests) -> ExitCode {
    let mut trials = Vec::new();
    add(tests, &mut trials);
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn add(tests: &Tests, trials: &mut Vec<Trial>) {
    // Without the name of the crate.
    let module = tests.module.split_once("::").map_or("", |(_, module)| module);
    for (list, is_ignored) in [(tests.own, false), (tests.ignored, true)] {
        let list = list
            .iter()
            .map(|&(test, function)| (format!("{module}::{test}"), function));
        trials.extend(list.map(|(name, function)| trial(name, function).with_ignored_flag(is_ignored)));
    }
    tests.inner.iter().for_each(|inner| add(inner, trials));
}

/// Returns a test that runs in a thread of its name, which panics and golden files use.
fn trial(name: String, function: fn()) -> Trial {
    Trial::test(name.clone(), move || {
        let thread = Builder::new().name(name).spawn(function)?;
        thread.join().map_err(|_| Failed::without_message())
    })
}
