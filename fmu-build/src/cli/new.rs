use super::output::print;
use clap::builder::{PossibleValue, PossibleValuesParser};
use fmu_build::files::Target;
use fmu_build::templates::{TEMPLATES, Template, TemplateKind};
use miette::{Result, miette};
use std::path::{Path, PathBuf};

/// Write a commented spec or study to start from.
///
///   grapple new my_arm                            my_arm.toml: an arm with torque inputs
///   grapple new my_control --template controller  a controller of this arm
///   grapple new my_study --template study         a Monte Carlo study of this arm
///   grapple new craft --template pair             craft.toml and craft_control.toml
///   grapple new station --template ssrms_type     a seven-joint arm on a servicer
///   grapple new crane --template blank            every section explained, one body
///
/// The templates are examples that run, with comments that explain the format.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Name of the model or study; the file is NAME.toml
    name: PathBuf,
    /// Template to start from
    #[arg(long, short, default_value = TEMPLATES[0].name, value_parser = names())]
    template: String,
    /// Model of a study, relative to the study's folder
    #[arg(long, value_name = "MODEL", default_value = "my_arm.toml")]
    model: String,
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
    let mut files = Vec::new();
    for (name, text) in template.files(name, &arguments.model)? {
        let target = Target::new(path.with_file_name(format!("{name}.toml")), &[])?;
        files.push((target.unless_there(arguments.force)?, text));
    }
    for (target, text) in &files {
        target.write(text)?;
        print(&target.path().display().to_string())?;
    }
    print(&format!("next: {}", next(template, &path, &arguments.model)))
}

/// Returns the command that uses the files of a template.
fn next(template: Template, path: &Path, model: &str) -> String {
    let file = path.display();
    match template.kind {
        TemplateKind::Study if !path.with_file_name(model).exists() => {
            format!(
                "grapple new {}, then grapple campaign {file}",
                model.trim_end_matches(".toml")
            )
        }
        TemplateKind::Study => format!("grapple campaign {file}"),
        TemplateKind::Controller => format!("grapple couple my_arm.toml {file}"),
        TemplateKind::Pair => format!("grapple couple {file} {}", control(path).display()),
        TemplateKind::Moving | TemplateKind::AtRest => format!("grapple simulate {file}"),
    }
}

/// Returns the file of the controller of a pair.
fn control(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}_control.toml"))
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
