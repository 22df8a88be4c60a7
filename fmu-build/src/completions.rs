use crate::text::say;
use clap::Command;
use clap_complete::Shell;
use miette::Result;

/// Print the script by which a shell completes verbs and options.
///
///   grapple completions bash > ~/.local/share/bash-completion/completions/grapple
///   grapple completions zsh > ~/.zfunc/_grapple     with fpath+=~/.zfunc before compinit in ~/.zshrc
///   grapple completions fish > ~/.config/fish/completions/grapple.fish
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The shell
    shell: Shell,
}

/// `command` is this program's command line.
pub fn run(arguments: &Arguments, mut command: Command) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "grapple", &mut script);
    say(String::from_utf8_lossy(&script).trim_end())
}
