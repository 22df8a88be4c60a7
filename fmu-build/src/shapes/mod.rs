//! Shapes of bodies: validation of the spec's tables, and the meshes that they name.
//!
//! Shapes concern pictures only, so the library in the FMU does not read them.

mod check;
mod collada;
mod crossings;
mod gltf;
pub mod hulls;
pub mod mesh;
#[cfg(feature = "inside")]
mod tests;

#[cfg(feature = "inside")]
test_modules![collada::tests, crossings::tests, hulls::tests, tests];

use grapple::Problem;
use grapple::spec::{Shape, ShapeType, Spec};
use indexmap::IndexMap;
use mesh::{Mesh, is_within};
use std::path::{Path, PathBuf};

/// The meshes of a spec, by the files' names in it.
#[derive(Clone, Debug, Default)]
pub struct Meshes {
    by_file: IndexMap<String, Mesh>,
}

impl Meshes {
    /// Validates the shapes of a spec and reads their meshes. Names of files are relative to
    /// `directory`; each file is in one of `folders` or below.
    ///
    /// # Errors
    /// All problems, each at its field.
    pub fn read(spec: &Spec, directory: &Path, folders: &[PathBuf]) -> Result<Self, Vec<Problem>> {
        let (mut meshes, mut problems) = (Self::default(), Vec::new());
        for (section, owner, name, shape) in shapes(spec) {
            let mut report = |field: &str, what: String| {
                let at = [section, owner, "shape", name, field];
                problems.push(Problem {
                    at: at
                        .into_iter()
                        .filter(|part| !part.is_empty())
                        .map(str::to_owned)
                        .collect(),
                    what,
                });
            };
            check::check(shape, &mut report);
            let file = shape.file.as_ref().filter(|_| shape.kind == ShapeType::Mesh);
            if let Some(file) = file.filter(|file| !meshes.by_file.contains_key(*file)) {
                match inside(&directory.join(file), folders).and_then(|path| Mesh::read(&path)) {
                    Ok(mesh) => {
                        meshes.by_file.insert(file.clone(), mesh);
                    }
                    Err(what) => report("file", format!("the mesh {file:?} cannot be read: {what}")),
                }
            }
        }
        if problems.is_empty() { Ok(meshes) } else { Err(problems) }
    }

    /// Returns the mesh of a file, with its index.
    pub fn get(&self, file: &str) -> Option<(usize, &Mesh)> {
        self.by_file.get_full(file).map(|(index, _, mesh)| (index, mesh))
    }

    /// Returns all meshes.
    pub fn all(&self) -> impl Iterator<Item = &Mesh> {
        self.by_file.values()
    }

    /// Returns the files that were read.
    pub fn reads(&self) -> impl Iterator<Item = &PathBuf> {
        self.all().flat_map(|mesh| &mesh.reads)
    }
}

/// Returns all shapes of a spec: section and name of the owner, the shape's name, the shape.
fn shapes(spec: &Spec) -> impl Iterator<Item = (&'static str, &str, &str, &Shape)> {
    let bodies = spec.body.iter().map(|(name, body)| ("body", name, &body.shape));
    let beams = spec
        .ancf_beam
        .iter()
        .map(|(name, beam)| ("ancf_beam", name, &beam.shape));
    let each = bodies.chain(beams);
    each.flat_map(|(section, owner, shapes)| {
        shapes
            .iter()
            .map(move |(name, shape)| (section, owner.as_str(), name.as_str(), shape))
    })
}

/// Returns a path if its file is in one of the folders or below.
fn inside(path: &Path, folders: &[PathBuf]) -> Result<PathBuf, String> {
    for folder in folders {
        if is_within(path, folder).map_err(|error| error.to_string())? {
            return Ok(path.to_owned());
        }
    }
    Err("it lies outside the folder of the spec: copy it into that folder".to_owned())
}

/// Returns a colour of CSS as red, green, blue and opacity, 0 to 1.
pub fn colour(text: &str) -> Option<[f32; 4]> {
    csscolorparser::parse(text).ok().map(|colour| colour.to_array())
}

/// Returns a colour of red, green, blue and opacity as `#rrggbb` or `#rrggbbaa`.
pub fn hex(colour: [f32; 4]) -> String {
    csscolorparser::Color::from(colour).to_css_hex().to_string()
}
