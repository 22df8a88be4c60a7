use super::output::print;
use clap::Command;
use clap_complete::Shell;
use miette::Result;

/// Print the script with which a shell completes verbs and options.
///
///   grapple completions bash > ~/.local/share/bash-completion/completions/grapple
///   grapple completions zsh > ~/.zfunc/_grapple
///   grapple completions fish > ~/.config/fish/completions/grapple.fish
///
/// zsh needs fpath+=~/.zfunc before compinit in ~/.zshrc.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The shell
    shell: Shell,
}

/// Prints the script; `command` is the definition of this program's command line.
pub fn run(arguments: &Arguments, mut command: Command) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "grapple", &mut script);
    print(String::from_utf8_lossy(&script).trim_end())
}
