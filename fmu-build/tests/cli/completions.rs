//! `grapple completions`: the script as used by a shell.

use crate::desk::Desk;

/// Returns the completions that bash offers after these arguments.
#[cfg(unix)]
fn offered(desk: &Desk, arguments: &[&str]) -> Vec<String> {
    let list: Vec<String> = arguments.iter().map(|word| format!("'{word}'")).collect();
    let script = format!(
        "source grapple.bash; COMP_WORDS=({}); COMP_CWORD={}; _grapple grapple '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        list.join(" "),
        arguments.len() - 1,
        arguments[arguments.len() - 1],
        arguments[arguments.len() - 2],
    );
    let bash = std::process::Command::new("bash")
        .args(["--norc", "-c", &script])
        .current_dir(desk.path(""))
        .output();
    let output = bash.expect("bash runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(str::to_owned)
        .collect()
}

#[cfg(unix)]
#[test]
fn bash_completes_verbs_and_their_options() {
    let desk = Desk::new();
    desk.write("grapple.bash", &desk.succeed(&["completions", "bash"]));
    assert_eq!(offered(&desk, &["grapple", "ca"]), ["campaign"]);
    assert_eq!(
        offered(&desk, &["grapple", "simulate", "--st"]),
        ["--stop-time", "--step"]
    );
    assert_eq!(
        offered(&desk, &["grapple", "build", "--fmi-type", ""]),
        ["me", "cs", "both"]
    );
}

#[test]
fn completion_script_of_every_shell_contains_the_verbs() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = desk.succeed(&["completions", shell]);
        for verb in ["simulate", "campaign", "linearize"] {
            assert!(script.contains(verb), "{shell} does not know {verb}");
        }
    }
    assert_eq!(desk.run(&["completions", "tcsh"]).code, Some(2));
}
