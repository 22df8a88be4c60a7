//! Meshes of contacts' shapes: their vertices, from a file that the tool has read.

use super::element::Report;
use super::{ContactShape, ContactShapeType, Spec, at};
use crate::Problem;
use crate::algebra::{ConvexHull, Facet, NoHull, Vec3};
use indexmap::IndexMap;

/// Largest number of vertices of a hull: every evaluation of a contact runs over all of them.
pub const MOST_HULL_VERTICES: usize = 256;

/// Vertices of the hulls of mesh files (m, before their `scale`) by the names that a composed spec
/// has for the files, or the reasons for which they cannot be read.
pub type HullsOfFiles = IndexMap<String, Result<Vec<[f64; 3]>, String>>;

/// Replaces the files of meshes by the vertices of their hulls.
pub(super) fn load(spec: &mut Spec, hulls: &HullsOfFiles, problems: &mut Vec<Problem>) {
    let mut load = |section: &str, name: &str, field: &str, shape: &mut Option<ContactShape>| {
        let Some(shape) = shape.as_mut().filter(|shape| shape.kind == ContactShapeType::Mesh) else {
            return;
        };
        let Some(file) = shape.file.take() else { return };
        let scale = shape.scale.take().unwrap_or([1.0; 3]);
        let mut report = |part: &str, what: String| {
            problems.push(Problem {
                at: at(section, name, &format!("{field}.{part}")),
                what,
            });
        };
        if shape.vertices.is_some() {
            return report("file", "write either `file` or `vertices`".to_owned());
        }
        if scale.contains(&0.0) {
            report("scale", "a factor is zero".to_owned());
        }
        let placed = |p: &[f64; 3]| [0, 1, 2].map(|i| p[i] * scale[i]);
        match hulls.get(&file) {
            Some(Ok(vertices)) => shape.vertices = Some(vertices.iter().map(placed).collect()),
            // The problem of a tetrahedron in place of a mesh would be a consequence.
            other => {
                let what = match other {
                    Some(Err(what)) => format!("the mesh {file:?} cannot be read: {what}"),
                    _ => format!("the mesh {file:?} is read by the tool `grapple` only"),
                };
                report("file", what);
                shape.vertices = Some([[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].to_vec());
            }
        }
    };
    for (name, contact) in &mut spec.contact {
        load("contact", name, "shape_a", &mut contact.shape_a);
        load("contact", name, "shape_b", &mut contact.shape_b);
    }
    for (name, frame) in &mut spec.frame {
        load("frame", name, "contact_shape", &mut frame.contact_shape);
    }
    for (name, body) in &mut spec.body {
        load("body", name, "contact_shape", &mut body.contact_shape);
    }
}

impl ContactShape {
    /// Returns the convex hull of a mesh.
    ///
    /// # Errors
    /// The reason for which its vertices have none.
    pub(crate) fn hull(&self) -> Result<ConvexHull, NoHull> {
        let vertices = self.vertices.as_deref().unwrap_or_default();
        let vertices: Vec<Vec3<f64>> = vertices.iter().map(|p| Vec3::from(*p)).collect();
        ConvexHull::of(&vertices, MOST_HULL_VERTICES)
    }

    /// Returns the faces of a box or a mesh; `None` for other shapes, and for a mesh without a hull.
    pub(crate) fn facets(&self) -> Option<Vec<Facet>> {
        match self.kind {
            ContactShapeType::Box => Some(Facet::of_box()),
            ContactShapeType::Mesh => self.hull().ok().map(|hull| Facet::of_hull(&hull)),
            _ => None,
        }
    }

    /// Returns the largest number of corners of a face of a box or a mesh; zero for other shapes.
    pub(crate) fn most_corners(&self) -> usize {
        let facets = self.facets().unwrap_or_default();
        facets.iter().map(|facet| facet.corners.len()).max().unwrap_or(0)
    }

    /// Reports vertices of the shape `side` without a convex hull.
    pub(super) fn check_hull(&self, side: &str, report: &mut Report) {
        if self.kind != ContactShapeType::Mesh || self.vertices.is_none() {
            return;
        }
        let what = match self.hull() {
            Ok(_) => return,
            Err(NoHull::Flat) => "the vertices are in a plane: a mesh has a volume".to_owned(),
            Err(NoHull::TooMany) => {
                format!("the convex hull has more than {MOST_HULL_VERTICES} vertices: simplify the mesh")
            }
            Err(NoHull::Inexact) => {
                "round-off decides about the faces of the convex hull: remove vertices that nearly coincide".to_owned()
            }
        };
        report.add(format!("{side}.vertices"), what);
    }
}
