use crate::craft::Craft;
use crate::files::Target;
use crate::problems::{Problems, SIZE_LIMIT};
use crate::text::{count, say, warn};
use crate::urdf::read::{XACRO, read};
use crate::urdf::spec::spec;
use crate::urdf::tree::{ImportOptions, Tree};
use clap::ValueEnum;
use grapple::spec::read_text;
use miette::{IntoDiagnostic, Result, WrapErr, bail};
use std::path::{Path, PathBuf};

/// Write the spec of a robot that is described in URDF.
///
///   grapple import arm.urdf                      arm.toml: the arm on the world
///   grapple import arm.urdf --base floating      its base floats freely
///   grapple import arm.urdf -o crane.toml
///   grapple import arm.urdf --keep-fixed         keeps links on fixed joints
///
/// Links and joints keep their names. What fixed joints hold together is one body,
/// with the mass, the mass centre and the inertia of all; each link on a fixed
/// joint is a frame on it. Limits of position become ranges, those of effort and
/// velocity become motors, damping and friction stay. A root link "world" without
/// mass is the world. What is likely not meant is told: inertias that no rigid
/// body has, mass centres at the joint, links that carry no mass, joints that
/// mimic others.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The URDF file; macros of xacro have to be expanded before
    urdf: PathBuf,
    /// What holds the root link
    #[arg(long, value_enum, default_value_t = Base::Fixed)]
    base: Base,
    /// The spec; by default the file's name with .toml, in the current folder
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// Leave links with mass on fixed joints as bodies of their own
    #[arg(long)]
    keep_fixed: bool,
    /// Replace the spec if there is one
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Base {
    /// The world
    Fixed,
    /// Nothing
    Floating,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let path = &arguments.urdf;
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("xacro")) {
        bail!("{}: {XACRO}", path.display());
    }
    let text = read_text(path, SIZE_LIMIT)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot read {}", path.display()))?;
    let shown = path.display().to_string();
    let wrong = |faults| Problems::of(&shown, &text, "XML", faults);
    let robot = read(&text).map_err(wrong)?;
    let options = ImportOptions {
        floating: arguments.base == Base::Floating,
        keep_fixed: arguments.keep_fixed,
    };
    let tree = Tree::of(&robot, options).map_err(wrong)?;
    let imported = spec(&robot, &tree, &file);

    let output = arguments.output.clone().unwrap_or_else(|| {
        let stem = path.file_stem().unwrap_or_default();
        Path::new(stem).with_extension("toml")
    });
    let target = Target::new(&output, std::slice::from_ref(path))?;
    target.unless_there(arguments.force)?.write(&imported.text)?;
    say(&format!(
        "{}: {} from {}, {} from {}, {}",
        output.display(),
        count(tree.bodies.len(), "body"),
        count(robot.links.len(), "link"),
        count(tree.attachments.len(), "joint"),
        robot.joints.len(),
        count(tree.fixed_links.len(), "frame"),
    ))?;
    for warning in &imported.remarks {
        warn(&format!("  warning: {warning}"));
    }
    let craft = Craft::read(&output).wrap_err("the spec is written, and has to be corrected before it can run")?;
    craft.remark(false)?;
    say(&format!("next: grapple simulate {}", output.display()))
}
