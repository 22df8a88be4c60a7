//! Meshes of contacts' shapes: the vertices of their convex hulls, which become part of a model.

use super::crossings::{Triangle, crossing};
use super::inside;
use super::mesh::{Mesh, Part};
use crate::text::number;
use grapple::algebra::{ConvexHull, NoHull, Vec3};
use grapple::spec::{Composed, MOST_HULL_VERTICES};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Depth of a mesh's surface in its hull relative to the extent, above which it is reported.
const CONVEX: f64 = 1e-3;
/// Depth of an intersection of a mesh's triangles relative to the extent, above which it is reported:
/// coordinates of texts often have six digits, which moves corners that touch by up to 2 √3 · 5e-6.
const INTERSECTING: f64 = 3e-5;
/// Number of parts of a triangle's side between points at which the depth is computed.
const PARTS: usize = 4;

/// Reads the meshes of contacts' shapes of a composed spec, with the files read. Names of files are
/// relative to `directory`; each file is in one of `folders` or below.
pub fn read(composed: &mut Composed, directory: &Path, folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut reads = Vec::new();
    // A text that is not TOML is reported by the parser of the spec.
    let spec: Table = composed.text.parse().unwrap_or_default();
    for file in files(&spec) {
        if composed.meshes.contains_key(file) {
            continue;
        }
        let mesh = inside(&directory.join(file), folders).and_then(|path| Mesh::read(&path));
        let hull = mesh.and_then(|mesh| {
            reads.extend(mesh.reads.iter().cloned());
            let (hull, remark) = hull(&mesh)?;
            composed
                .unused
                .extend(remark.map(|remark| format!("the mesh {file:?} {remark}")));
            Ok(hull.vertices.iter().map(|p| (*p).into()).collect())
        });
        composed.meshes.insert(file.to_owned(), hull);
    }
    reads
}

/// Returns the files of the meshes of contacts' shapes.
fn files(spec: &Table) -> Vec<&str> {
    let mut files = Vec::new();
    for (section, field) in [
        ("contact", "shape_a"),
        ("contact", "shape_b"),
        ("frame", "contact_shape"),
        ("body", "contact_shape"),
    ] {
        let tables = spec.get(section).and_then(Value::as_table).into_iter().flatten();
        files.extend(tables.filter_map(|(_, table)| table.get(field)?.get("file")?.as_str()));
    }
    files
}

/// Returns the convex hull of a mesh, m, with the differences of the mesh from it.
///
/// # Errors
/// A message for a mesh without a volume, or with a hull of too many vertices.
fn hull(mesh: &Mesh) -> Result<(ConvexHull, Option<String>), String> {
    let points: Vec<Vec3<f64>> = mesh
        .parts
        .iter()
        .flat_map(|part| part.vertices.iter().map(point))
        .collect();
    let hull = ConvexHull::of(&points, MOST_HULL_VERTICES).map_err(|error| match error {
        NoHull::Flat => "its vertices are in a plane: a mesh for contact has a volume".to_owned(),
        NoHull::TooMany => format!("its convex hull has more than {MOST_HULL_VERTICES} vertices: simplify it"),
        NoHull::Inexact => "its vertices are too close to planes for a convex hull: simplify it".to_owned(),
    })?;
    let mut deepest = 0.0f64;
    let (mut volume, mut sides) = (0.0, HashMap::new());
    for part in &mesh.parts {
        for triangle in &part.triangles {
            let corners = triangle.map(|i| point(&part.vertices[i as usize]));
            volume += corners[0].dot(&corners[1].cross(&corners[2])) / 6.0;
            for [i, k] in [[0, 1], [1, 2], [2, 0]] {
                // −0 and 0 are equal.
                let key = |i: usize| part.vertices[triangle[i] as usize].map(|x| (x + 0.0).to_bits());
                let (from, to) = (key(i), key(k));
                *sides.entry((from.min(to), from.max(to))).or_insert(0) += if from < to { 1 } else { -1 };
            }
            for p in inner(&corners) {
                let depth = hull
                    .faces
                    .iter()
                    .map(|face| -face.height(&p))
                    .fold(f64::INFINITY, f64::min);
                deepest = deepest.max(depth);
            }
        }
    }
    let mut remarks = Vec::new();
    if sides.values().any(|count| *count != 0) {
        remarks.push("is not closed, or its triangles have different orientations".to_owned());
    } else if volume < 0.0 {
        remarks.push("is inside out".to_owned());
    }
    remarks.extend(crossings(mesh, INTERSECTING * hull.extent));
    if deepest > CONVEX * hull.extent {
        remarks.push(format!(
            "is not convex: its surface is up to {deepest:.3} m (before `scale`) below that of its hull"
        ));
    }
    let remark =
        (!remarks.is_empty()).then(|| format!("{}; contact is that of its convex hull", remarks.join(", and ")));
    Ok((hull, remark))
}

/// Returns a position of a file.
fn point(p: &[f32; 3]) -> Vec3<f64> {
    Vec3::from(p.map(f64::from))
}

/// Returns a remark on two triangles of a mesh that intersect by more than `depth` (m), with their
/// numbers, in the order of the file from 1, and the position; `None` if there are none.
fn crossings(mesh: &Mesh, depth: f64) -> Option<String> {
    let corners = |part: &Part, triangle: &[u32; 3]| triangle.map(|i| point(&part.vertices[i as usize]));
    let of_part = |part| move |triangle| corners(part, triangle);
    let triangles: Vec<Triangle> = (mesh.parts.iter())
        .flat_map(|part| part.triangles.iter().map(of_part(part)))
        .collect();
    let found = crossing(&triangles, depth)?;
    let [first, second] = found.triangles.map(|i| i + 1);
    let [x, y, z] = [0, 1, 2].map(|i| number(found.place[i], 4));
    Some(format!(
        "intersects itself: its triangles {first} and {second} meet at ({x}, {y}, {z}) m (before `scale`)"
    ))
}

/// Returns points of a triangle.
fn inner([a, b, c]: &[Vec3<f64>; 3]) -> impl Iterator<Item = Vec3<f64>> {
    let part = |i: usize| i as f64 / PARTS as f64;
    (0..=PARTS).flat_map(move |i| (0..=PARTS - i).map(move |k| a + (b - a) * part(i) + (c - a) * part(k)))
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![
        mesh_of_a_box_has_its_hull,
        open_inverted_and_notched_meshes_are_reported,
        meshes_with_triangles_that_intersect_are_reported,
        flat_and_huge_meshes_are_errors,
    ];

    /// Sides of a prism along z over a polygon in the plane, counter-clockwise from above, of which the
    /// faces at both ends are fans about the first corner.
    fn prism(corners: &[[f32; 2]]) -> Mesh {
        let n = corners.len() as u32;
        let mut part = Part::default();
        for z in [0.0, 1.0] {
            part.vertices.extend(corners.iter().map(|[x, y]| [*x, *y, z]));
        }
        for i in 0..n {
            let next = (i + 1) % n;
            part.triangles.extend([[i, next, n + next], [i, n + next, n + i]]);
        }
        for i in 1..n - 1 {
            part.triangles.extend([[0, i + 1, i], [n, n + i, n + i + 1]]);
        }
        Mesh {
            parts: vec![part],
            reads: Vec::new(),
        }
    }

    const SQUARE: [[f32; 2]; 4] = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]];

    /// A mesh of a box is convex, closed and oriented, and has its hull without a remark.
    fn mesh_of_a_box_has_its_hull() {
        let (hull, remark) = hull(&prism(&SQUARE)).expect("a hull");
        assert_eq!((hull.vertices.len(), remark), (8, None));
        assert!((hull.volume() - 4.0).abs() < 1e-14);
    }

    /// An open mesh, one that is inside out, and one with a notch have the hull with a remark, which has
    /// the depth of the notch.
    fn open_inverted_and_notched_meshes_are_reported() {
        let remark = |mesh: &Mesh| hull(mesh).expect("a hull").1.expect("a remark");
        let mut open = prism(&SQUARE);
        open.parts[0].triangles.pop();
        assert!(remark(&open).contains("not closed"), "{}", remark(&open));
        let mut inverted = prism(&SQUARE);
        inverted.parts[0]
            .triangles
            .iter_mut()
            .for_each(|triangle| triangle.swap(0, 1));
        assert!(remark(&inverted).contains("inside out"), "{}", remark(&inverted));
        // The notch reaches 0.25 m below the upper side.
        let notched = prism(&[[1.0, 1.75], [0.0, 2.0], [0.0, 0.0], [2.0, 0.0], [2.0, 2.0]]);
        assert!(remark(&notched).contains("up to 0.250 m"), "{}", remark(&notched));
    }

    /// The prism of a bow tie and one with a fold are reported with two triangles and the position; two
    /// prisms beside each other are not, and two that overlap are.
    fn meshes_with_triangles_that_intersect_are_reported() {
        let remark = |mesh: &Mesh| hull(mesh).expect("a hull").1.unwrap_or_default();
        let tie = remark(&prism(&[[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [0.0, 2.0]]));
        assert!(tie.contains("its triangles 1 and 5 meet at (1, 1, 0.25) m"), "{tie}");
        let folded = prism(&[[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.5, -0.5], [0.0, 2.0]]);
        assert!(remark(&folded).contains("intersects itself"));
        for (shift, is_sound) in [(2.0, true), (2.5, true), (1.9, false), (0.0, true)] {
            let mut both = prism(&SQUARE);
            let mut other = prism(&[[0.0, 0.5], [2.0, 0.5], [2.0, 1.0], [0.0, 1.0]]).parts.remove(0);
            for vertex in &mut other.vertices {
                *vertex = [vertex[0] + shift, vertex[1], 0.25 + 0.5 * vertex[2]];
            }
            both.parts.push(other);
            assert_eq!(!remark(&both).contains("intersects itself"), is_sound, "{shift}");
        }
    }

    /// Meshes in a plane and meshes with a hull of too many vertices are errors.
    fn flat_and_huge_meshes_are_errors() {
        let mut flat = prism(&SQUARE);
        flat.parts[0].vertices.iter_mut().for_each(|p| p[2] = 0.0);
        assert!(hull(&flat).expect_err("flat").contains("in a plane"));
        let corner = |k: u16| {
            let (sine, cosine) = (f32::from(k) * std::f32::consts::TAU / 300.0).sin_cos();
            [cosine, sine]
        };
        let corners: Vec<[f32; 2]> = (0..300).map(corner).collect();
        assert!(hull(&prism(&corners)).expect_err("huge").contains("more than 256"));
    }
}
