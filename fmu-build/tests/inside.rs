//! Runs the unit tests of the library behind the tool.

#[path = "../../tests/inside/run.rs"]
mod run;

fn main() -> std::process::ExitCode {
    run::run(&fmu_build::UNIT_TESTS)
}
