//! Reader of glTF 2.0: the triangles of the default scene, each node at its position.

use super::mesh::{Folder, MOST_TRIANGLES, Part};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use gltf::buffer::Source;
use gltf::{Document, Gltf, Node, mesh::Mode};
use nalgebra::{Matrix4, Point3};
use std::path::Path;

/// Largest number of nodes that are visited, and their largest depth.
const MOST_NODES: usize = 100_000;
const DEEPEST: usize = 100;

/// Reads the parts of a glTF or GLB file.
///
/// # Errors
/// A message for a file that is not valid.
pub fn parts(bytes: &[u8], folder: &mut Folder) -> Result<Vec<Part>, String> {
    let Gltf { document, blob } = Gltf::from_slice(bytes).map_err(|error| error.to_string())?;
    let mut reading = Reading {
        buffers: buffers(&document, blob, folder)?,
        parts: Vec::new(),
        nodes: 0,
        triangles: 0,
        vertices: 0,
    };
    let scene = document.default_scene().or_else(|| document.scenes().next());
    for node in scene.iter().flat_map(gltf::Scene::nodes) {
        reading.node(&node, &Matrix4::identity(), 0)?;
    }
    Ok(reading.parts)
}

/// Reads the buffers: from the file itself, from text in it, or from files in its folder.
fn buffers(document: &Document, mut blob: Option<Vec<u8>>, folder: &mut Folder) -> Result<Vec<Vec<u8>>, String> {
    let buffer = |buffer: gltf::Buffer| match buffer.source() {
        Source::Bin => blob.take().ok_or_else(|| "its binary part is missing".to_owned()),
        Source::Uri(uri) => match uri.strip_prefix("data:") {
            Some(data) => {
                let text = data.split_once(";base64,").map_or("", |(_, text)| text);
                BASE64_STANDARD
                    .decode(text)
                    .map_err(|_| "a buffer is not base64".to_owned())
            }
            None => {
                let unreadable = |error| format!("its buffer {uri:?} cannot be read: {error}");
                folder.read(Path::new(uri)).map_err(unreadable)
            }
        },
    };
    document.buffers().map(buffer).collect()
}

struct Reading {
    buffers: Vec<Vec<u8>>,
    parts: Vec<Part>,
    nodes: usize,
    triangles: usize,
    vertices: usize,
}

impl Reading {
    /// Reads a node whose parent has the pose `X`, and its descendants.
    fn node(&mut self, node: &Node, X: &Matrix4<f32>, depth: usize) -> Result<(), String> {
        self.nodes += 1;
        if self.nodes > MOST_NODES || depth > DEEPEST {
            return Err(format!(
                "it has more than {MOST_NODES} nodes, or more than {DEEPEST} levels of them"
            ));
        }
        let X = X * Matrix4::from(node.transform().matrix());
        for primitive in node.mesh().iter().flat_map(gltf::Mesh::primitives) {
            if primitive.mode() == Mode::Triangles {
                self.primitive(&primitive, &X)?;
            }
        }
        node.children().try_for_each(|child| self.node(&child, &X, depth + 1))
    }

    fn primitive(&mut self, primitive: &gltf::Primitive, X: &Matrix4<f32>) -> Result<(), String> {
        let reader = primitive.reader(|buffer| self.buffers.get(buffer.index()).map(Vec::as_slice));
        let positions = reader.read_positions().ok_or("a part of it has no positions")?;
        let vertices: Vec<[f32; 3]> = (positions.take(3 * MOST_TRIANGLES))
            .map(|p| X.transform_point(&Point3::from(p)).coords.into())
            .collect();
        let indices: Vec<u32> = match reader.read_indices() {
            Some(indices) => indices.into_u32().take(3 * MOST_TRIANGLES + 3).collect(),
            None => (0..vertices.len() as u32).collect(),
        };
        let triangles: Vec<[u32; 3]> = indices.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect();
        let numbers = |accessor: Option<gltf::Accessor>| accessor.map_or(0, |accessor| accessor.count());
        let declared = [
            numbers(primitive.get(&gltf::Semantic::Positions)),
            numbers(primitive.indices()),
        ];
        if declared[0] > vertices.len() || declared[1] > indices.len() {
            return Err("a part of it ends before its last number, or is too large".to_owned());
        }
        self.triangles += triangles.len();
        self.vertices += vertices.len();
        if self.triangles > MOST_TRIANGLES || self.vertices > 3 * MOST_TRIANGLES {
            return Err(format!(
                "a mesh has at most {MOST_TRIANGLES} triangles, and three times as many vertices"
            ));
        }
        let material = primitive.material();
        let colour = material.pbr_metallic_roughness().base_color_factor();
        self.parts.push(Part {
            colour: material.index().map(|_| srgb(colour)),
            vertices,
            triangles,
        });
        Ok(())
    }
}

/// Returns a linear colour in sRGB, in which the other formats have theirs.
fn srgb([r, g, b, a]: [f32; 4]) -> [f32; 4] {
    let encoded = |x: f32| match x <= 0.003_130_8 {
        true => 12.92 * x,
        false => 1.055 * x.powf(1.0 / 2.4) - 0.055,
    };
    [encoded(r), encoded(g), encoded(b), a]
}
