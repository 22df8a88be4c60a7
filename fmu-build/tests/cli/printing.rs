//! Output whose reader has closed the pipe, or that cannot be written.

#![cfg(target_os = "linux")]

use crate::desk::Desk;
use std::fs::File;
use std::process::{Command, Stdio};

fn program(desk: &Desk, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_grapple"));
    command.args(arguments).current_dir(desk.path("")).env("NO_COLOR", "1");
    command
}

#[test]
fn a_full_disk_is_an_error_and_does_not_hide_another() {
    let desk = Desk::with_example("two_link");
    desk.write("bad.toml", "name = 3");
    for (arguments, message) in [
        (&["schema"][..], "cannot write to the standard output"),
        (&["check", "bad.toml", "two_link.toml"], "bad.toml: 2 problems"),
    ] {
        let full = File::options().write(true).open("/dev/full").expect("Linux has it");
        let output = program(&desk, arguments)
            .stdout(full)
            .output()
            .expect("the program runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {errors}");
        assert!(errors.contains(message), "{arguments:?}: {errors}");
    }
}

/// Runs with a reader that has closed the pipe before the first byte; returns the exit code.
fn unread(desk: &Desk, arguments: &[&str]) -> Option<i32> {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = program(desk, arguments);
    command.stdout(writer).stderr(Stdio::null());
    command.status().expect("the program runs").code()
}

#[test]
fn closed_pipe_does_not_change_the_exit_code() {
    let desk = Desk::with_example("two_link");
    desk.write("bad.toml", "name = 3");
    assert_eq!(unread(&desk, &["describe", "two_link.toml"]), Some(0));
    assert_eq!(unread(&desk, &["check", "two_link.toml", "bad.toml"]), Some(1));
    let study = "model = \"two_link.toml\"\nruns = 2\nexperiment = { stop_time = 0.1, step = 0.1 }\n\
                 [dispersion.\"base.inertia_zz\"]\nlist = [0.4, 0.9]\n[output]\n\"elbow.q\" = [\"final\"]\n";
    desk.write("study.toml", study);
    assert_eq!(unread(&desk, &["campaign", "study.toml"]), Some(3));
    assert!(desk.path("study/runs.csv").exists());
}
