use super::output::{print, remark, warn};
use clap::ValueEnum;
use fmu_build::CompiledSpec;
use fmu_build::files::Target;
use fmu_build::import::{ImportOptions, MountPoint, import};
use fmu_build::text::count;
use miette::{Result, WrapErr};
use std::path::{Path, PathBuf};

/// Convert a URDF robot description to a spec.
///
///   grapple import arm.urdf                      arm.toml: the arm on the world
///   grapple import arm.urdf --base floating      its base floats freely
///   grapple import arm.urdf --on bus.toml:port   also bus_arm.toml: bus.toml with the
///                                                arm on its frame `port`
///   grapple import arm.urdf -o crane.toml
///   grapple import arm.urdf --keep-fixed         keeps links on fixed joints
///
/// Links and joints keep their names. Links connected by fixed joints are merged to
/// one body with the total mass, mass centre and inertia; each merged link is a frame
/// on it. Limits of position become ranges, limits of effort and velocity become
/// motors, damping and friction are kept. A root link "world" without mass is the
/// world. Warnings report unlikely data: inertias that no rigid body has, mass
/// centres at the joint, links without mass, joints that cannot follow the one
/// that they mimic. A root link without mass floats with that of --base-mass 5
/// --base-inertia 0.1,0.1,0.1. Macros of xacro are expanded by the program of that
/// name (pip install xacro).
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The URDF file, also with xacro macros
    urdf: PathBuf,
    /// Attachment of the root link
    #[arg(long, value_enum, default_value_t = Base::Fixed)]
    base: Base,
    /// Mass of a floating base whose root link has none, kg
    #[arg(long, value_name = "KG", requires = "base_inertia")]
    base_mass: Option<f64>,
    /// Inertia of that base about the link's origin, kg·m²: Ixx,Iyy,Izz or six numbers
    /// Ixx,Iyy,Izz,Ixy,Ixz,Iyz
    #[arg(long, value_name = "NUMBERS", requires = "base_mass", value_parser = inertia, allow_hyphen_values = true)]
    base_inertia: Option<[f64; 6]>,
    /// Frame of a spec that carries the robot: also writes a spec with both, beside that spec
    #[arg(long, value_name = "SPEC:FRAME", value_parser = mount_point)]
    on: Option<MountPoint>,
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
        base: arguments.base_mass.zip(arguments.base_inertia),
    };
    let imported = import(path, options)?;
    let output = arguments.output.clone().unwrap_or_else(|| {
        let stem = path.file_stem().unwrap_or_default();
        Path::new(stem).with_extension("toml")
    });
    let host = arguments.on.as_ref().map(|on| imported.host(&output, on)).transpose()?;
    let mut reads = vec![path.clone()];
    reads.extend(arguments.on.as_ref().map(|on| on.spec.clone()));
    let files = [(&output, &imported.text)]
        .into_iter()
        .chain(host.as_ref().map(|(file, text)| (file, text)));
    let targets = files.map(|(file, text)| Ok((Target::new(file, &reads)?.unless_there(arguments.force)?, text)));
    for (target, text) in targets.collect::<fmu_build::Result<Vec<_>>>()? {
        target.write(text)?;
    }
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
    let run = host.as_ref().map_or(&output, |(file, _)| file);
    let compiled = CompiledSpec::read(run).wrap_err("the spec is written, but must be corrected before it can run")?;
    remark(&compiled.file, &compiled.remarks()?, false)?;
    print(&format!("next: grapple simulate {}", run.display()))
}

/// Reads three moments, or three moments and three products of inertia.
fn inertia(text: &str) -> std::result::Result<[f64; 6], String> {
    let numbers: std::result::Result<Vec<f64>, _> =
        text.split(',').map(|number| number.trim().parse::<f64>()).collect();
    match numbers.unwrap_or_default()[..] {
        [xx, yy, zz] => Ok([xx, yy, zz, 0.0, 0.0, 0.0]),
        [xx, yy, zz, xy, xz, yz] => Ok([xx, yy, zz, xy, xz, yz]),
        _ => Err("expected Ixx,Iyy,Izz or Ixx,Iyy,Izz,Ixy,Ixz,Iyz".to_owned()),
    }
}

/// Reads a spec's file and the name of its frame.
fn mount_point(text: &str) -> std::result::Result<MountPoint, String> {
    match text.rsplit_once(':') {
        Some((spec, frame)) if !spec.is_empty() && !frame.is_empty() => Ok(MountPoint {
            spec: spec.into(),
            frame: frame.to_owned(),
        }),
        _ => Err("expected SPEC:FRAME, such as bus.toml:port".to_owned()),
    }
}
