use super::output::{print, remark, warn};
use clap::ValueEnum;
use fmu_build::CompiledSpec;
use fmu_build::files::{Target, folder};
use fmu_build::import::{ImportOptions, MeshOptions, MountPoint, import};
use fmu_build::text::count;
use miette::{IntoDiagnostic, Result, WrapErr};
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
/// motors, damping and friction are kept. Visuals become shapes for pictures; their
/// meshes are copied to a folder beside the spec, arm_meshes. A root link "world"
/// without mass is the world; another one without mass floats with that of
/// --base-mass 5 --base-inertia 0.1,0.1,0.1. Warnings report unlikely data: inertias
/// that no rigid body has, mass centres at the joint, links without mass, joints that
/// cannot follow the one that they mimic; and meshes that are not found. Macros of
/// xacro are expanded by the program of that name (pip install xacro).
///
/// Matrices and modes of a finite-element model become a flexible body by the Python
/// package: pip install grapple-fmu, then grapple import-modes --help.
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
    /// Folder with ROS packages, for meshes `package://…`; repeat it for several. Also searched:
    /// ROS_PACKAGE_PATH, AMENT_PREFIX_PATH, the folders above the URDF file
    #[arg(long, value_name = "FOLDER")]
    package_dir: Vec<PathBuf>,
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
    let output = arguments.output.clone().unwrap_or_else(|| {
        let stem = path.file_stem().unwrap_or_default();
        Path::new(stem).with_extension("toml")
    });
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    let meshes = MeshOptions {
        urdf_folder: path.parent().unwrap_or(Path::new("")).to_owned(),
        package_dirs: [arguments.package_dir.clone(), MeshOptions::of_environment()].concat(),
        folder: format!("{stem}_meshes"),
    };
    let imported = import(path, options, &meshes)?;
    let host = arguments
        .on
        .as_ref()
        .map(|on| on.host(&imported.name, &output))
        .transpose()?;
    let mut reads = vec![path.clone()];
    reads.extend(arguments.on.as_ref().map(|on| on.spec.clone()));
    let files = [(&output, &imported.text)]
        .into_iter()
        .chain(host.as_ref().map(|(file, text)| (file, text)));
    let targets = files.map(|(file, text)| Ok((Target::new(file, &reads)?.unless_there(arguments.force)?, text)));
    let targets = targets.collect::<fmu_build::Result<Vec<_>>>()?;
    let beside = output.parent().unwrap_or(Path::new(""));
    copy(&imported.meshes, beside, arguments.force)?;
    for (target, text) in targets {
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

/// Copies files of meshes to the folder of the spec; a file that is there already with other contents
/// is replaced by force only.
fn copy(meshes: &[(PathBuf, PathBuf)], beside: &Path, force: bool) -> Result<()> {
    for (source, target) in meshes {
        let path = beside.join(target);
        let bytes = std::fs::read(source).into_diagnostic()?;
        if std::fs::read(&path).is_ok_and(|there| there == bytes) {
            continue;
        }
        folder(path.parent().unwrap_or(Path::new("")))?;
        Target::new(&path, std::slice::from_ref(source))?
            .unless_there(force)?
            .write(bytes)?;
    }
    Ok(())
}
