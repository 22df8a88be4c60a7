use crate::files::Target;
use crate::text::print;
use clap::ValueEnum;
use grapple::spec;
use miette::{Result, bail, miette};
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
    #[arg(long, short, value_enum, default_value_t = Template::TwoLink)]
    template: Template,
    /// Replace the file if there is one
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Template {
    /// Two links on a free-floating base, driven by sine torques
    #[value(name = "two_link")]
    TwoLink,
    /// A seven-joint arm like the space station's on a free base
    #[value(name = "ssrms_type")]
    SsrmsType,
    /// Two arms of five joints each, of all kinds: servos, springs, a brake, a drive
    #[value(name = "dual_arm")]
    DualArm,
    /// A flexible arm whose end effector hits a spinning payload
    #[value(name = "berthing")]
    Berthing,
    /// Two beams of 100 m in orbit, joined by a two-armed robot that grasps them
    #[value(name = "assembly")]
    Assembly,
    /// A flexible servicer in low Earth orbit: reaction wheels, solar arrays, an arm on a
    /// trajectory
    #[value(name = "servicer_orbit")]
    ServicerOrbit,
    /// One body, and every section of the format explained
    #[value(name = "blank")]
    Blank,
}

impl Template {
    fn text(self) -> &'static str {
        match self {
            Self::TwoLink => include_str!("../../examples/two_link.toml"),
            Self::SsrmsType => include_str!("../../examples/ssrms_type.toml"),
            Self::DualArm => include_str!("../../examples/dual_arm.toml"),
            Self::Berthing => include_str!("../../examples/berthing.toml"),
            Self::Assembly => include_str!("../templates/assembly.toml"),
            Self::ServicerOrbit => include_str!("../../examples/servicer_orbit.toml"),
            Self::Blank => include_str!("../templates/blank.toml"),
        }
    }
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let path = with_extension(&arguments.name);
    let name = path.file_stem().and_then(|stem| stem.to_str());
    let name = name.ok_or_else(|| miette!("{} is not a name", arguments.name.display()))?;
    let text = renamed(arguments.template.text(), name);
    if let Err(error) = spec::read(&text, Path::new("")) {
        bail!("{error}");
    }
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

/// Returns the template with its `name = "…"` replaced.
fn renamed(template: &str, name: &str) -> String {
    let rename = |line: &str| match line.starts_with("name = ") {
        true => format!("name = {name:?}\n"),
        false => format!("{line}\n"),
    };
    template.lines().map(rename).collect()
}
