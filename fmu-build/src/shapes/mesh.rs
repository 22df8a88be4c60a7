//! Triangle meshes from files: STL, OBJ and COLLADA by `mesh-loader`, glTF by `gltf`.
//!
//! A mesh is read from its folder only: a file that it names (materials of OBJ, buffers of glTF)
//! and that lies elsewhere is not read. Coordinates are those of the file, without change of axes.

use super::{collada, gltf};
use grapple::spec::read_bytes;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::{Component, Path, PathBuf};
use std::sync::Once;

/// Largest size of a mesh with the files that it names, bytes.
pub const SIZE_LIMIT: u64 = 64 << 20;

/// Largest number of triangles of a mesh: they take about 5 MB of a page.
pub const MOST_TRIANGLES: usize = 500_000;

/// A mesh of triangles.
#[derive(Clone, Debug)]
pub struct Mesh {
    /// Its parts, one for each material.
    pub parts: Vec<Part>,
    /// Files from which it was read.
    pub reads: Vec<PathBuf>,
}

/// A part of a mesh with one material.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Red, green, blue and opacity, 0 to 1, if the file has a material for it.
    pub colour: Option<[f32; 4]>,
    /// Positions of the vertices, all different.
    pub vertices: Vec<[f32; 3]>,
    /// Triangles, as indices of vertices.
    pub triangles: Vec<[u32; 3]>,
}

impl Mesh {
    /// Reads a mesh; the extension of the name is its format.
    ///
    /// # Errors
    /// A message for a file that cannot be read, is too large or is not of its format.
    pub fn read(path: &Path) -> Result<Self, String> {
        let bytes = read_bytes(path, SIZE_LIMIT).map_err(|error| error.to_string())?;
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let mut folder = Folder::of(path, SIZE_LIMIT - bytes.len() as u64);
        let read = || match extension.as_str() {
            "stl" | "obj" | "dae" => loaded(&extension, &bytes, path, &mut folder),
            "gltf" | "glb" => gltf::parts(&bytes, &mut folder),
            _ => Err("its name does not end in .stl, .obj, .dae, .gltf or .glb".to_owned()),
        };
        let parts = caught(read).unwrap_or_else(|| Err(format!("it is not a valid {extension} file")))?;
        let triangles: usize = parts.iter().map(|part| part.triangles.len()).sum();
        match triangles {
            0 => return Err("it has no triangles".to_owned()),
            1..=MOST_TRIANGLES => {}
            _ => return Err(format!("{triangles} triangles: a mesh has at most {MOST_TRIANGLES}")),
        }
        let parts = parts.into_iter().filter(|part| !part.triangles.is_empty());
        Ok(Self {
            parts: parts.map(Part::welded).collect::<Result<_, _>>()?,
            reads: folder.reads,
        })
    }
}

thread_local! {
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Runs a reader of a library; returns none if it panics, which it does for some broken files. The
/// panic prints nothing.
fn caught<T>(read: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if !IS_CAUGHT.get() {
                before(info);
            }
        }));
    });
    IS_CAUGHT.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(read));
    IS_CAUGHT.set(false);
    outcome.ok()
}

/// The folder of a mesh, from which files that the mesh names are read.
pub struct Folder {
    path: PathBuf,
    /// Files that have been read.
    reads: Vec<PathBuf>,
    /// Number of bytes that may still be read.
    left: u64,
}

impl Folder {
    fn of(mesh: &Path, left: u64) -> Self {
        let folder = mesh.parent().filter(|folder| !folder.as_os_str().is_empty());
        Self {
            path: folder.unwrap_or(Path::new(".")).to_owned(),
            reads: vec![mesh.to_owned()],
            left,
        }
    }

    /// Reads a file in the folder or below it.
    pub fn read(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        let inner = path.strip_prefix(&self.path).unwrap_or(path);
        let is_plain = (inner.components()).all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let path = self.path.join(inner);
        if !is_plain || !is_within(&path, &self.path)? {
            return Err(io::Error::other("it lies outside the mesh's folder"));
        }
        let bytes = read_bytes(&path, self.left)?;
        self.left -= bytes.len() as u64;
        self.reads.push(path);
        Ok(bytes)
    }
}

/// Returns true if a file is in a folder or below it; symbolic links are followed.
pub fn is_within(file: &Path, folder: &Path) -> io::Result<bool> {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    Ok(file.canonicalize()?.starts_with(folder.canonicalize()?))
}

/// Reads STL, OBJ or COLLADA.
fn loaded(extension: &str, bytes: &[u8], path: &Path, folder: &mut Folder) -> Result<Vec<Part>, String> {
    let scene = match extension {
        "stl" => mesh_loader::stl::from_slice(&whole_stl(bytes)?),
        "obj" => mesh_loader::obj::from_slice(bytes, Some(path), |path| folder.read(path)),
        _ => {
            collada::check(bytes)?;
            mesh_loader::collada::from_slice(bytes)
        }
    };
    let scene = scene.map_err(|error| error.to_string())?;
    // The other formats have a material for each part.
    let colours = scene.materials.iter().map(|material| {
        let [r, g, b, a] = material.color.diffuse?;
        Some([r, g, b, material.opacity.unwrap_or(a)])
    });
    let colours = colours.chain(std::iter::repeat(None));
    let parts = scene.meshes.into_iter().zip(colours).map(|(mesh, colour)| Part {
        colour: colour.filter(|_| extension != "stl"),
        vertices: mesh.vertices,
        triangles: mesh.faces,
    });
    Ok(parts.collect())
}

/// Returns the bytes of an STL file unless it ends before the last of the triangles that it counts.
/// A binary file is recognised by its size; a header that begins with "solid" is removed, since the
/// reader takes it for that of a text.
fn whole_stl(bytes: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    let count = bytes.get(80..84).and_then(|count| count.try_into().ok());
    let Some(count) = count.map(u32::from_le_bytes) else {
        return Ok(bytes.into());
    };
    let size = 84 + 50 * u64::from(count);
    let says_solid = bytes.trim_ascii_start().starts_with(b"solid");
    match bytes.len() as u64 {
        there if there == size && says_solid => Ok([&[0; 80], &bytes[80..]].concat().into()),
        there if there < size && !says_solid => Err(format!("it ends before the last of its {count} triangles")),
        _ => Ok(bytes.into()),
    }
}

impl Part {
    /// Merges vertices with equal coordinates.
    ///
    /// # Errors
    /// A coordinate that is not finite, or a triangle with a vertex that does not exist.
    fn welded(self) -> Result<Self, String> {
        if self.vertices.iter().flatten().any(|x| !x.is_finite()) {
            return Err("a coordinate is not a finite number".to_owned());
        }
        let (mut places, mut vertices) = (HashMap::new(), Vec::new());
        let mut weld = |&index: &u32| {
            let vertex = *self.vertices.get(index as usize)?;
            // −0 and 0 are equal.
            let key = vertex.map(|x| (x + 0.0).to_bits());
            Some(*places.entry(key).or_insert_with(|| {
                vertices.push(vertex);
                vertices.len() as u32 - 1
            }))
        };
        let triangle = |[a, b, c]: &[u32; 3]| Some([weld(a)?, weld(b)?, weld(c)?]);
        let triangles: Option<Vec<_>> = self.triangles.iter().map(triangle).collect();
        Ok(Self {
            colour: self.colour,
            triangles: triangles.ok_or("a triangle has a vertex that does not exist")?,
            vertices,
        })
    }
}
