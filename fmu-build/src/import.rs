//! Robot descriptions in URDF, converted to specs.

use crate::compiled_spec::CompiledSpec;
use crate::error::{Context, Result, invalid};
use crate::file_kind::FileKind;
use crate::files::place;
use crate::problems::{Problems, SIZE_LIMIT};
use crate::urdf::read::{XACRO, read};
use crate::urdf::spec::{Converted, spec};
use crate::urdf::tree::Tree;
use crate::urdf::{Fault, Robot};
use grapple::spec::{WORLD, read_text, unknown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Options of an import; by default the root link is fixed to the world and links on fixed joints
/// are merged.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImportOptions {
    /// Set if the base floats freely instead of being fixed to the world.
    pub floating: bool,
    /// Set if links with mass on fixed joints remain separate bodies.
    pub keep_fixed: bool,
    /// Mass of a floating base whose root link has none, kg, and its inertia about the link's origin,
    /// link axes, kg·m²: xx, yy, zz, xy, xz, yz.
    pub base: Option<(f64, [f64; 6])>,
}

/// Files of the meshes of a robot's visuals.
#[derive(Clone, Debug, Default)]
pub struct MeshOptions {
    /// Folder of the URDF file, to which names of meshes are relative.
    pub urdf_folder: PathBuf,
    /// Folders with ROS packages, for names that begin with `package://`.
    pub package_dirs: Vec<PathBuf>,
    /// Name of the folder beside the spec to which the meshes are copied.
    pub folder: String,
}

impl MeshOptions {
    /// Returns the folders with packages in ROS's environment variables `ROS_PACKAGE_PATH` and
    /// `AMENT_PREFIX_PATH`.
    pub fn of_environment() -> Vec<PathBuf> {
        let paths = |name: &str| -> Vec<PathBuf> {
            std::env::var_os(name).map_or_else(Vec::new, |paths| std::env::split_paths(&paths).collect())
        };
        let shared = paths("AMENT_PREFIX_PATH").into_iter().map(|path| path.join("share"));
        paths("ROS_PACKAGE_PATH").into_iter().chain(shared).collect()
    }
}

/// An imported robot.
pub struct Imported {
    /// The text of the spec.
    pub text: String,
    /// Name of the robot in the spec.
    pub name: String,
    /// Files of its meshes to be copied: each with its path from the spec's folder.
    pub meshes: Vec<(PathBuf, PathBuf)>,
    /// Warnings about unlikely data.
    pub warnings: Vec<String>,
    /// Number of links in the file.
    pub links: usize,
    /// Number of joints in the file.
    pub joints: usize,
    /// Number of bodies in the spec.
    pub bodies: usize,
    /// Number of joints in the spec.
    pub kept_joints: usize,
    /// Number of frames in the spec.
    pub frames: usize,
}

/// Converts a URDF file to a spec, its visuals to shapes. The spec may still have errors, e.g. a
/// body without mass.
///
/// # Errors
/// A file that cannot be read; [`Problems`] with all of its errors, each with its position.
pub fn import(path: &Path, options: ImportOptions, meshes: &MeshOptions) -> Result<Imported> {
    let shown = path.display().to_string();
    if options.base.is_some() && !options.floating {
        return Err(invalid!(
            "--base-mass is that of a base that floats: add --base floating"
        ));
    }
    if let Some(other) = FileKind::of(path, &[]) {
        return Err(invalid!(
            "{shown} is no robot description in URDF, but {}",
            other.description()
        ));
    }
    let (robot, text) = robot(path, &shown)?;
    let wrong = |faults| Problems::of(&shown, &text, "XML", faults);
    let tree = Tree::of(&robot, options).map_err(wrong)?;
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let Converted {
        text,
        name,
        remarks,
        meshes,
    } = spec(&robot, &tree, &file, meshes);
    Ok(Imported {
        text,
        name,
        meshes,
        warnings: remarks,
        links: robot.links.len(),
        joints: robot.joints.len(),
        bodies: tree.bodies.len(),
        kept_joints: tree.attachments.len(),
        frames: tree.fixed_links.len(),
    })
}

/// Frame of a spec on which a robot is mounted.
#[derive(Clone, Debug)]
pub struct MountPoint {
    /// File of the spec, which is not changed.
    pub spec: PathBuf,
    /// Frame or body of it, or `world`.
    pub frame: String,
}

impl MountPoint {
    /// Returns the path and the text of a spec that includes [`spec`](Self::spec) and mounts a robot,
    /// whose own spec is `file`. It is beside the included one.
    ///
    /// # Errors
    /// A spec that has errors, or has no such frame.
    pub fn host(&self, robot: &str, file: &Path) -> Result<(PathBuf, String)> {
        let compiled = CompiledSpec::read(&self.spec)?;
        let spec = &compiled.model.spec;
        if self.frame != WORLD && !spec.frames().any(|frame| *frame == self.frame) {
            let what = unknown("frame or body", &self.frame, spec.frames());
            return Err(invalid!("{}: {what}", compiled.file));
        }
        let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let host = self
            .spec
            .with_file_name(format!("{}_{}.toml", stem(&self.spec), stem(file)));
        let folder = place(&host).parent().map(Path::to_owned).unwrap_or_default();
        let written = |path: &Path| {
            let path = place(path);
            let near = path.strip_prefix(&folder).unwrap_or(&path);
            toml::Value::from(near.to_string_lossy().into_owned()).to_string()
        };
        let text = format!(
            "# {} with the robot of {}, written by `grapple import`.\ninclude = [{}]\nname = \"{}_{}\"\n\n[mount.{}]\n\
             spec = {}\non = {:?}\n",
            spec.name,
            stem(file),
            written(&self.spec),
            spec.name,
            robot,
            robot,
            written(file),
            self.frame
        );
        Ok((host, text))
    }
}

/// Reads a robot, and returns it with the text of its URDF. Macros are expanded by the program xacro.
fn robot(path: &Path, shown: &str) -> Result<(Robot, String)> {
    let is_xacro = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("xacro"));
    let written = read_text(path, SIZE_LIMIT).context(|| format!("cannot read {shown}"))?;
    let wrong = |text: &str, faults: Vec<Fault>| Problems::of(shown, text, "XML", faults);
    let faults = match read(&written) {
        Ok(robot) if !is_xacro => return Ok((robot, written)),
        Ok(_) => Vec::new(),
        Err(faults) => faults,
    };
    let has_macros = is_xacro || faults.iter().any(|(what, _)| what.contains(XACRO));
    let expanded = if has_macros { expanded(path, shown)? } else { None };
    match expanded {
        Some(text) => match read(&text) {
            Ok(robot) => Ok((robot, text)),
            Err(faults) => Err(wrong(&text, faults).into()),
        },
        None if faults.is_empty() => Err(invalid!("{shown}: {XACRO}")),
        None => Err(wrong(&written, faults).into()),
    }
}

/// Returns the output of the program xacro for a file; `None` without this program.
fn expanded(path: &Path, shown: &str) -> Result<Option<String>> {
    // A relative path with a folder is not read as an option.
    let file = if path.is_relative() {
        Path::new(".").join(path)
    } else {
        path.to_owned()
    };
    let run = Command::new("xacro").arg(file).stdin(Stdio::null()).output();
    let output = match run {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).context(|| "cannot run xacro".to_owned()),
    };
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(invalid!("{shown}: xacro fails: {}", errors.trim()));
    }
    if output.stdout.len() as u64 > SIZE_LIMIT {
        return Err(invalid!(
            "{shown}: the output of xacro is larger than {SIZE_LIMIT} bytes"
        ));
    }
    let text = String::from_utf8(output.stdout);
    text.map(Some)
        .map_err(|_| invalid!("{shown}: the output of xacro is not text in UTF-8"))
}
