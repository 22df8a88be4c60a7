use super::output::print;
use clap::builder::{PossibleValue, PossibleValuesParser};
use fmu_build::files::Target;
use fmu_build::templates::{TEMPLATES, Template};
use miette::{Result, miette};
use std::path::{Path, PathBuf};

/// Write a commented spec to start from.
///
///   grapple new my_arm                           my_arm.toml: two links
///   grapple new station --template ssrms_type    a seven-joint arm on a servicer
///   grapple new crane --template blank           every section explained, one body
///
/// The templates are examples that run, with comments that explain the format.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Name of the model; the file is NAME.toml
    name: PathBuf,
    /// Template to start from
    #[arg(long, short, default_value = TEMPLATES[0].name, value_parser = names())]
    template: String,
    /// Replace the file if there is one
    #[arg(long)]
    force: bool,
}

/// Returns the names of the templates with their descriptions.
fn names() -> PossibleValuesParser {
    let value = |template: Template| PossibleValue::new(template.name).help(template.description);
    TEMPLATES.map(value).into()
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let path = with_extension(&arguments.name);
    let name = path.file_stem().and_then(|stem| stem.to_str());
    let name = name.ok_or_else(|| miette!("{} is not a name", arguments.name.display()))?;
    let template = Template::of(&arguments.template).unwrap_or(TEMPLATES[0]);
    let text = template.spec(name)?;
    Target::new(&path, &[])?.unless_there(arguments.force)?.write(text)?;
    print(&path.display().to_string())?;
    print(&format!("next: grapple simulate {}", path.display()))
}

/// Returns the file name: `arm` and `arm.toml` both give `arm.toml`.
fn with_extension(name: &Path) -> PathBuf {
    if name.extension().is_some_and(|e| e == "toml") {
        name.to_owned()
    } else {
        let mut name = name.as_os_str().to_owned();
        name.push(".toml");
        name.into()
    }
}
