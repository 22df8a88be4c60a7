//! The shapes of bodies as data of the page: written ones, or stand-ins from mass, inertia and
//! section.

use super::Line;
use crate::html::Floats;
use crate::results::Results;
use crate::shapes::mesh::{Mesh, Part};
use crate::shapes::{Meshes, colour, hex};
use crate::start::{Section, Solid, Start};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use grapple::algebra::{Quaternion, Vec3, direction};
use grapple::spec::{Shape, ShapeType, Spec, Wheel};
use indexmap::IndexMap;
use serde::Serialize;

/// A shape; its pose is in the axes of its body, or of its beam.
#[derive(Serialize)]
pub struct Drawn {
    pub kind: &'static str,
    /// Lengths along x, y, z; of a round shape, diameter, diameter and length; factors of a mesh.
    pub size: [f64; 3],
    pub r: [f64; 3],
    pub q: [f64; 4],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colour: Option<String>,
    /// Points (ρ, z) of the meridian of a surface of revolution about z (`lathe`), m.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub meridian: Vec<[f64; 2]>,
    /// Triangles of a polyhedron (`hull`), counter-clockwise from outside, m.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facets: Vec<[[f64; 3]; 3]>,
    /// Index of the mesh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh: Option<usize>,
    /// Set for a shape that is computed from mass and inertia.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stand_in: bool,
}

/// A reaction wheel: a disc on a body, and its angle over time.
#[derive(Serialize)]
pub struct WheelTrack {
    name: String,
    body: usize,
    disc: Drawn,
    /// Angle about the disc's axis, rad.
    angle: Floats,
}

/// A mesh; its vertices are rounded to 2⁻¹⁶ of its extent.
#[derive(Serialize)]
pub struct MeshData {
    parts: Vec<PartData>,
}

#[derive(Serialize)]
struct PartData {
    #[serde(skip_serializing_if = "Option::is_none")]
    colour: Option<String>,
    /// Least coordinates, and the unit of the numbers in `vertices`.
    low: [f32; 3],
    unit: [f32; 3],
    /// Base64 of 16-bit integers, three for each vertex.
    vertices: String,
    /// Base64 of the vertices' indices, of 16 bits if there are at most 65536 vertices, else of 32.
    triangles: String,
}

/// Returns the written shapes; of a beam with modes, whose axis is `line`, in axes of the beam.
pub fn written(shapes: &IndexMap<String, Shape>, meshes: &Meshes, line: Option<&Line>) -> Vec<Drawn> {
    let placed = |shape: &Shape| {
        let mut drawn = drawn(shape, meshes);
        if let Some(line) = line {
            on_line(&mut drawn, shape.attitude(), line);
        }
        drawn
    };
    shapes.values().map(placed).collect()
}

/// Converts the pose of a shape, whose attitude in the body is given, to axes of a beam.
pub fn on_line(drawn: &mut Drawn, attitude: Quaternion<f64>, line: &Line) {
    drawn.r = line.axes.tr_mul(&(Vec3::from(drawn.r) - line.root)).into();
    drawn.q = (Quaternion::from_rotation(&line.axes).conjugate() * attitude).to_array();
}

fn drawn(shape: &Shape, meshes: &Meshes) -> Drawn {
    let diameter = 2.0 * shape.radius.unwrap_or_default();
    let size = match shape.kind {
        ShapeType::Box | ShapeType::Panel | ShapeType::Truss => shape.size.unwrap_or_default(),
        ShapeType::Cylinder | ShapeType::Cone => [diameter, diameter, shape.length.unwrap_or_default()],
        ShapeType::Sphere => [diameter; 3],
        ShapeType::Mesh => shape.scale.unwrap_or([1.0; 3]),
    };
    let mesh = shape.file.as_ref().and_then(|file| meshes.get(file));
    Drawn {
        kind: shape.kind.name(),
        size,
        r: shape.origin,
        q: shape.attitude().to_array(),
        colour: shape.colour.as_deref().and_then(colour).map(hex),
        meridian: Vec::new(),
        facets: Vec::new(),
        mesh: mesh.map(|(index, _)| index),
        stand_in: false,
    }
}

/// Returns the stand-in of a rigid body.
pub fn stand_in(solid: &Solid) -> Drawn {
    Drawn {
        kind: if solid.is_round { "cylinder" } else { "box" },
        size: solid.size,
        r: solid.centre.into(),
        q: Quaternion::from_rotation(&solid.axes).to_array(),
        colour: None,
        meridian: Vec::new(),
        facets: Vec::new(),
        mesh: None,
        stand_in: true,
    }
}

/// Returns the stand-in of a beam of this length, in axes of the beam: a bar or a tube, or a line
/// if its section is unknown.
pub fn of_section(section: Option<Section>, length: f64) -> Drawn {
    let (kind, [y, z]) = match section {
        Some(Section::Bar(sides)) => ("box", sides),
        Some(Section::Tube(radius)) => ("tube", [2.0 * radius; 2]),
        None => ("tube", [0.0; 2]),
    };
    Drawn {
        kind,
        size: [length, y, z],
        r: [0.5 * length, 0.0, 0.0],
        q: Quaternion::identity().to_array(),
        colour: None,
        meridian: Vec::new(),
        facets: Vec::new(),
        mesh: None,
        stand_in: true,
    }
}

/// Returns the wheels on drawn bodies: `place` returns the index of a body among those by its name.
pub fn wheels(
    start: &Start,
    spec: &Spec,
    results: &Results,
    rows: &[usize],
    place: impl Fn(&str) -> Option<usize>,
) -> Vec<WheelTrack> {
    let track = |name: &String, wheel: &Wheel| {
        let rotor = start.system.bodies.iter().position(|body| body.joint.name == *name)?;
        let axis = direction(&wheel.axis.into())?;
        // The rotor has its axis along z.
        Some(WheelTrack {
            name: name.clone(),
            body: place(&wheel.body)?,
            disc: Drawn {
                kind: "cylinder",
                r: wheel.position,
                q: Quaternion::between(&Vec3::z(), &axis).to_array(),
                ..stand_in(&start.solid(rotor, true))
            },
            angle: Floats::of(&[results.get(&format!("{name}.q"))?], rows),
        })
    };
    let wheels = spec.wheel.iter();
    wheels.filter_map(|(name, wheel)| track(name, wheel)).collect()
}

/// Returns the meshes as data of the page.
pub fn meshes(meshes: &Meshes) -> Vec<MeshData> {
    let data = |mesh: &Mesh| MeshData {
        parts: mesh.parts.iter().map(part).collect(),
    };
    meshes.all().map(data).collect()
}

/// Largest 16-bit integer.
const STEPS: f32 = 65535.0;

fn part(part: &Part) -> PartData {
    let bounds = |fold: fn(f32, f32) -> f32| {
        let all = part.vertices.iter().copied();
        all.reduce(|a, b| [0, 1, 2].map(|i| fold(a[i], b[i])))
            .unwrap_or_default()
    };
    let (low, high) = (bounds(f32::min), bounds(f32::max));
    let unit = [0, 1, 2].map(|i| ((high[i] - low[i]) / STEPS).max(f32::MIN_POSITIVE));
    let steps = |vertex: &[f32; 3]| [0, 1, 2].map(|i| ((vertex[i] - low[i]) / unit[i]).round() as u16);
    let vertices = part.vertices.iter().flat_map(steps).flat_map(u16::to_le_bytes);
    let indices = part.triangles.iter().flatten();
    let triangles: Vec<u8> = match part.vertices.len() > 1 << 16 {
        true => indices.flat_map(|index| index.to_le_bytes()).collect(),
        false => indices.flat_map(|index| (*index as u16).to_le_bytes()).collect(),
    };
    PartData {
        colour: part.colour.map(hex),
        low,
        unit,
        vertices: BASE64_STANDARD.encode(vertices.collect::<Vec<u8>>()),
        triangles: BASE64_STANDARD.encode(triangles),
    }
}
