//! Runs the unit tests of the library.

mod run;

fn main() -> std::process::ExitCode {
    run::run(&grapple::UNIT_TESTS)
}
