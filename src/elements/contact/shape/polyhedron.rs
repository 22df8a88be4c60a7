use super::Solid;
use crate::algebra::{Facet, Vec3};

/// Box or convex hull with its faces.
#[derive(Clone, Copy)]
pub(crate) struct Polyhedron<'a> {
    pub solid: Solid<'a>,
    pub facets: &'a [Facet],
}

impl Polyhedron<'_> {
    /// Returns the number of corners of a face.
    pub fn count(&self, face: usize) -> usize {
        self.facets[face].corners.len()
    }

    /// Returns the index of the vertex at a corner of a face; corners are counted modulo their
    /// number.
    pub fn vertex(&self, face: usize, corner: usize) -> usize {
        let corners = &self.facets[face].corners;
        corners[corner % corners.len()]
    }

    /// Returns a corner of a face, m, axes of the solid.
    pub fn corner(&self, face: usize, corner: usize) -> Vec3<f64> {
        let vertex = self.vertex(face, corner);
        match self.solid {
            Solid::Box { half } => box_corner(half, vertex),
            Solid::Hull(hull) => hull.vertices[vertex],
            _ => Vec3::zeros(),
        }
    }

    /// Returns the largest coordinate of a point of the solid along `u` (m times its length), axes
    /// of the solid.
    pub fn reach(&self, u: &Vec3<f64>) -> f64 {
        match self.solid {
            Solid::Box { half } => u.abs().dot(&Vec3::from(half)),
            Solid::Hull(hull) => hull.farthest(u).dot(u),
            _ => 0.0,
        }
    }

    /// Returns the outward unit normal of a face, axes of the solid.
    pub fn normal(&self, face: usize) -> Vec3<f64> {
        self.facets[face].normal
    }

    /// Returns the distance by which a face is not plane, m.
    pub fn uneven(&self, face: usize) -> f64 {
        self.facets[face].uneven
    }
}

/// Returns a vertex of a box with the half sides `half`, m. Bit i of its index is set on the
/// positive side of axis i.
pub(in crate::elements::contact) fn box_corner(half: [f64; 3], vertex: usize) -> Vec3<f64> {
    Vec3::from_fn(|i, _| if vertex >> i & 1 == 0 { -half[i] } else { half[i] })
}
