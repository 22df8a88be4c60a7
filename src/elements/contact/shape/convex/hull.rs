//! Features of a convex polyhedron.

use super::super::FromSolid;
use super::feature::{Feature, Features, Ruled};
use super::meeting::{Meeting, meet};
use crate::algebra::{ConvexHull, HullEdge, HullFace, Scalar, Vec3};

/// Largest numbers of faces and of edges near a direction, and of their vertices.
const MOST: usize = 8;

/// Returns the signed distance of the point `c` (m) from a polyhedron.
pub(in super::super) fn from_hull<S: Scalar>(c: Vec3<S>, hull: &ConvexHull) -> FromSolid<S> {
    let (feature, n) = nearest(&c.map(Scalar::value), hull);
    let point = Feature::Point { p: c, round: 0.0 };
    match meet([&point, &feature.lifted()], &n) {
        Some(Meeting { gap, n, .. }) => (gap, n),
        None => (S::lift(f64::NAN), Vec3::z()),
    }
}

/// Returns the feature of a polyhedron nearest to a point, with the normal of its face.
fn nearest(c: &Vec3<f64>, hull: &ConvexHull) -> (Feature<f64>, Vec3<f64>) {
    let mut outermost = (f64::NEG_INFINITY, None);
    let mut least = (f64::INFINITY, None);
    for face in &hull.faces {
        let height = face.height(c);
        if height > outermost.0 {
            outermost = (height, Some(face));
        }
        if height > 0.0 {
            let (square, feature) = nearest_of_face(c, hull, face);
            if square < least.0 {
                least = (square, Some((feature, face.normal)));
            }
        }
    }
    let plane = |face: &HullFace| (of_face(hull, face), face.normal);
    let inside = outermost.1.map(plane);
    let origin = Feature::Point {
        p: Vec3::zeros(),
        round: 0.0,
    };
    least.1.or(inside).unwrap_or((origin, Vec3::z()))
}

/// Returns the square of the distance of a point from a triangle (m²), with its nearest feature.
fn nearest_of_face(c: &Vec3<f64>, hull: &ConvexHull, face: &HullFace) -> (f64, Feature<f64>) {
    let corners = face.vertices.map(|i| hull.vertices[i]);
    let height = face.height(c);
    let mut least = (height * height, of_face(hull, face));
    let mut is_inside = true;
    for (p, q) in [(0, 1), (1, 2), (2, 0)].map(|(i, k)| (corners[i], corners[k])) {
        let (edge, from) = (q - p, c - p);
        if edge.cross(&from).dot(&face.normal) >= 0.0 {
            continue;
        }
        let along = edge.dot(&from) / edge.norm_squared();
        let nearest = p + edge * along.clamp(0.0, 1.0);
        let square = (c - nearest).norm_squared();
        if is_inside || square < least.0 {
            let is_edge = (0.0..=1.0).contains(&along);
            let feature = if is_edge { of_edge(p, q) } else { vertex(nearest) };
            least = (square, feature);
        }
        is_inside = false;
    }
    least
}

/// Adds the features of a polyhedron that are farthest along a direction near `m`.
pub(super) fn add_near(hull: &ConvexHull, m: &Vec3<f64>, tolerance: f64, to: &mut Features) {
    let (mut faces, mut edges) = (Closest::default(), Closest::default());
    for (i, face) in hull.faces.iter().enumerate() {
        if face.normal.dot(m) > 0.0 {
            faces.add(face.normal.cross(m).norm(), i, tolerance);
        }
    }
    for (i, edge) in hull.edges.iter().enumerate() {
        if let Some(away) = away_from_normals(hull, edge, m) {
            edges.add(away, i, tolerance);
        }
    }
    let mut corners = [Vec3::zeros(); MOST];
    let mut count = 0;
    let mut add_corner = |p: Vec3<f64>| {
        if count < MOST && !corners[..count].contains(&p) {
            corners[count] = p;
            count += 1;
        }
    };
    add_corner(hull.farthest(m));
    for i in faces.iter() {
        to.add(of_face(hull, &hull.faces[i]));
        for k in hull.faces[i].vertices {
            add_corner(hull.vertices[k]);
        }
    }
    for i in edges.iter() {
        let [p, q] = hull.edges[i].ends.map(|k| hull.vertices[k]);
        to.add(of_edge(p, q));
        add_corner(p);
        add_corner(q);
    }
    corners[..count].iter().for_each(|p| to.add(vertex(*p)));
}

/// Calls `each` with all features of a polyhedron at a distance of up to `reach` (m) from a point.
pub(super) fn each_at(hull: &ConvexHull, c: &Vec3<f64>, reach: f64, each: &mut dyn FnMut(&Feature<f64>)) {
    let is_near = |square: f64| square <= reach * reach;
    for face in &hull.faces {
        if is_near(nearest_of_face(c, hull, face).0) {
            each(&of_face(hull, face));
        }
    }
    for edge in &hull.edges {
        let [p, q] = edge.ends.map(|k| hull.vertices[k]);
        let along = (q - p).dot(&(c - p)) / (q - p).norm_squared();
        if is_near((p + (q - p) * along.clamp(0.0, 1.0) - c).norm_squared()) {
            each(&of_edge(p, q));
        }
    }
    for p in &hull.vertices {
        if is_near((p - c).norm_squared()) {
            each(&vertex(*p));
        }
    }
}

/// Returns the sine of the angle of a direction from the outward normals of an edge, which are those
/// between the normals of its faces; `None` for a direction on the other side.
fn away_from_normals(hull: &ConvexHull, edge: &HullEdge, m: &Vec3<f64>) -> Option<f64> {
    let [one, other] = edge.faces.map(|face| hull.faces[face].normal);
    if (one + other).dot(m) <= 0.0 {
        return None;
    }
    let axis = one.cross(&other);
    let axis = axis / axis.norm();
    let beyond = (-one.cross(m).dot(&axis)).max(-m.cross(&other).dot(&axis));
    Some(axis.dot(m).abs().max(beyond))
}

/// Indices with the smallest values.
struct Closest {
    all: [(f64, usize); MOST],
    count: usize,
}

impl Default for Closest {
    fn default() -> Self {
        Self {
            all: [(f64::INFINITY, 0); MOST],
            count: 0,
        }
    }
}

impl Closest {
    fn add(&mut self, value: f64, index: usize, most: f64) {
        if value >= most {
            return;
        }
        let place = self.all[..self.count].partition_point(|other| other.0 <= value);
        if place < MOST {
            self.count = (self.count + 1).min(MOST);
            self.all.copy_within(place..self.count - 1, place + 1);
            self.all[place] = (value, index);
        }
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        self.all[..self.count].iter().map(|item| item.1)
    }
}

fn of_face(hull: &ConvexHull, face: &HullFace) -> Feature<f64> {
    let [a, b, c] = face.vertices.map(|i| hull.vertices[i]);
    Feature::Face {
        p: (a + b + c) / 3.0,
        m: face.normal,
    }
}

fn of_edge(p: Vec3<f64>, q: Vec3<f64>) -> Feature<f64> {
    let along = q - p;
    let length = along.norm();
    Feature::Ruled(Ruled {
        p: (p + q) * 0.5,
        w: along / length,
        sine: 0.0,
        round: 0.0,
        half: 0.5 * length,
    })
}

fn vertex(p: Vec3<f64>) -> Feature<f64> {
    Feature::Point { p, round: 0.0 }
}
