//! Robot descriptions in URDF, converted to specs.

use crate::error::{Context, Result, invalid};
use crate::problems::{Problems, SIZE_LIMIT};
use crate::urdf::read::{XACRO, read};
use crate::urdf::spec::{Converted, spec};
use crate::urdf::tree::Tree;
use grapple::spec::read_text;
use std::path::Path;

/// Options of an import; by default the root link is fixed to the world and links on fixed joints
/// are merged.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImportOptions {
    /// Set if the base floats freely instead of being fixed to the world.
    pub floating: bool,
    /// Set if links with mass on fixed joints remain separate bodies.
    pub keep_fixed: bool,
}

/// An imported robot.
pub struct Imported {
    /// The text of the spec.
    pub text: String,
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

/// Converts a URDF file to a spec. The spec may still have errors, e.g. a body without mass.
///
/// # Errors
/// A file that cannot be read; [`Problems`] with all of its errors, each with its position.
pub fn import(path: &Path, options: ImportOptions) -> Result<Imported> {
    let shown = path.display().to_string();
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("xacro")) {
        return Err(invalid!("{shown}: {XACRO}"));
    }
    let text = read_text(path, SIZE_LIMIT).context(|| format!("cannot read {shown}"))?;
    let wrong = |faults| Problems::of(&shown, &text, "XML", faults);
    let robot = read(&text).map_err(wrong)?;
    let tree = Tree::of(&robot, options).map_err(wrong)?;
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let Converted { text, remarks } = spec(&robot, &tree, &file);
    Ok(Imported {
        text,
        warnings: remarks,
        links: robot.links.len(),
        joints: robot.joints.len(),
        bodies: tree.bodies.len(),
        kept_joints: tree.attachments.len(),
        frames: tree.fixed_links.len(),
    })
}
