//! `grapple`: converts a text file to an FMU that runs.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(fmu_build::command_line(std::env::args_os()))
}
