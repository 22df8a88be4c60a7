use super::output::print;
use clap::builder::{PossibleValue, PossibleValuesParser};
use fmu_build::templates::{TEMPLATES, Template, TemplateKind};
use miette::{IntoDiagnostic, Result, WrapErr};
use std::path::PathBuf;

/// Show what grapple does: write a spec, build its FMU, run it through FMI.
///
///   grapple demo                      in the folder grapple-demo
///   grapple demo --template dual_arm
///
/// The commands that do it are printed. The page of the run opens in any browser.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Template of the spec
    #[arg(long, short, default_value = "ssrms_type", value_parser = names())]
    template: String,
    /// Folder for the files; files of an earlier demo are replaced
    #[arg(long, default_value = "grapple-demo")]
    folder: PathBuf,
}

/// Returns the names of the templates that move by themselves, with their descriptions.
fn names() -> PossibleValuesParser {
    let moving = TEMPLATES
        .iter()
        .filter(|template| template.kind == TemplateKind::Moving);
    let value = |template: &Template| PossibleValue::new(template.name).help(template.description);
    moving.map(value).collect::<Vec<_>>().into()
}

/// Runs the commands of the demonstration with `run`, which gets their words.
pub fn run(arguments: &Arguments, mut run: impl FnMut(&[&str]) -> Result<()>) -> Result<()> {
    let Arguments { template, folder } = arguments;
    std::fs::create_dir_all(folder)
        .and_then(|()| std::env::set_current_dir(folder))
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot use the folder {}", folder.display()))?;
    print(&format!("cd {}", folder.display()))?;
    let [spec, fmu] = ["toml", "fmu"].map(|extension| format!("{template}.{extension}"));
    let commands: [&[&str]; 3] = [
        &["new", template, "--template", template, "--force"],
        &["build", &spec],
        &["simulate", &fmu],
    ];
    for words in commands {
        print(&format!("\ngrapple {}", words.join(" ")))?;
        run(words)?;
    }
    Ok(())
}
