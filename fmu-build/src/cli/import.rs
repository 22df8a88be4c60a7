use super::output::{print, remark, warn};
use clap::ValueEnum;
use fmu_build::CompiledSpec;
use fmu_build::files::Target;
use fmu_build::import::{ImportOptions, import};
use fmu_build::text::count;
use miette::{Result, WrapErr};
use std::path::{Path, PathBuf};

/// Convert a URDF robot description to a spec.
///
///   grapple import arm.urdf                      arm.toml: the arm on the world
///   grapple import arm.urdf --base floating      its base floats freely
///   grapple import arm.urdf -o crane.toml
///   grapple import arm.urdf --keep-fixed         keeps links on fixed joints
///
/// Links and joints keep their names. Links connected by fixed joints are merged to
/// one body with the total mass, mass centre and inertia; each merged link is a frame
/// on it. Limits of position become ranges, limits of effort and velocity become
/// motors, damping and friction are kept. A root link "world" without mass is the
/// world. Warnings report unlikely data: inertias that no rigid body has, mass
/// centres at the joint, links without mass, joints that cannot follow the one
/// that they mimic.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The URDF file; expand xacro macros first
    urdf: PathBuf,
    /// Attachment of the root link
    #[arg(long, value_enum, default_value_t = Base::Fixed)]
    base: Base,
    /// The spec; by default the file's name with .toml, in the current folder
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// Keep links with mass on fixed joints as separate bodies
    #[arg(long)]
    keep_fixed: bool,
    /// Replace the spec if there is one
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Base {
    /// Fixed to the world
    Fixed,
    /// Free-floating
    Floating,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let path = &arguments.urdf;
    let options = ImportOptions {
        floating: arguments.base == Base::Floating,
        keep_fixed: arguments.keep_fixed,
    };
    let imported = import(path, options)?;
    let output = arguments.output.clone().unwrap_or_else(|| {
        let stem = path.file_stem().unwrap_or_default();
        Path::new(stem).with_extension("toml")
    });
    let target = Target::new(&output, std::slice::from_ref(path))?;
    target.unless_there(arguments.force)?.write(&imported.text)?;
    print(&format!(
        "{}: {} from {}, {} from {}, {}",
        output.display(),
        count(imported.bodies, "body"),
        count(imported.links, "link"),
        count(imported.kept_joints, "joint"),
        imported.joints,
        count(imported.frames, "frame"),
    ))?;
    for warning in &imported.warnings {
        warn(&format!("  warning: {warning}"));
    }
    let compiled =
        CompiledSpec::read(&output).wrap_err("the spec is written, but must be corrected before it can run")?;
    remark(&compiled.file, &compiled.remarks()?, false)?;
    print(&format!("next: grapple simulate {}", output.display()))
}
