//! Directions of the points of a convex surface nearest to the origin inside it, by a polytope that
//! grows in the set (G. van den Bergen, *Game Developers Conference* (2001)).

use super::difference::Difference;
use crate::algebra::Vec3;

/// Largest number of vertices of the polytope.
const VERTICES: usize = 96;
/// Largest number of faces, by Euler's formula, and those that one more vertex replaces.
const FACES: usize = 2 * VERTICES;
/// Difference of the bounds of the least distance at which the expansion ends, relative to the size.
const TOLERANCE: f64 = 1e-10;
/// Distance from a face below which a point counts as in its plane, relative to the size.
const FLAT: f64 = 1e-13;
/// Largest number of directions.
pub(super) const DIRECTIONS: usize = 4;
/// Excess over the least distance, relative to the size, up to which other directions are kept.
const EXCESS: f64 = 1e-3;
/// Cosine of the angle below which two directions are separate ones.
const SEPARATE: f64 = 0.995;

/// Triangle of the polytope, with vertices counter-clockwise from outside.
#[derive(Clone, Copy)]
struct Face {
    vertices: [u8; 3],
    /// Outward unit normal.
    normal: Vec3<f64>,
    /// Signed distance of the plane from the origin, m; infinite for a triangle without an area.
    distance: f64,
}

/// Polytope with vertices on the surface of the set.
struct Polytope {
    vertices: [Vec3<f64>; VERTICES],
    vertex_count: usize,
    faces: [Face; FACES],
    face_count: usize,
    flat: f64,
}

/// Directions with their distances (m), the least first.
#[derive(Clone, Copy)]
pub(super) struct Directions {
    all: [(f64, Vec3<f64>); DIRECTIONS],
    count: usize,
    /// Excess over the least distance up to which directions are kept, m.
    excess: f64,
}

/// Returns unit vectors n near those along which the difference, grown by the distance `by` (m) in all
/// directions, has its least extent. The grown difference must contain the origin.
pub(super) fn directions(of: &Difference, by: f64) -> Directions {
    let mut found = Directions {
        all: [(f64::INFINITY, Vec3::x()); DIRECTIONS],
        count: 0,
        excess: EXCESS * of.size,
    };
    let farthest = |u: &Vec3<f64>| of.least(&-u) + u * by;
    let Some(mut polytope) = Polytope::start(&farthest, of.size) else {
        return found;
    };
    let mut least = f64::INFINITY;
    while let Some(face) = polytope.nearest() {
        let point = farthest(&face.normal);
        let distance = face.normal.dot(&point);
        found.add(-face.normal, distance);
        least = least.min(distance);
        let is_near = face.distance >= least - TOLERANCE * of.size;
        if is_near || !polytope.expand(point) {
            break;
        }
    }
    found
}

impl Directions {
    /// Adds a direction, in place of those near it with a larger distance.
    fn add(&mut self, n: Vec3<f64>, distance: f64) {
        let is_near = |of: &(f64, Vec3<f64>)| of.1.dot(&n) > SEPARATE;
        if self.iter().any(|other| is_near(other) && other.0 <= distance) {
            return;
        }
        let mut kept = 0;
        for i in 0..self.count {
            if !is_near(&self.all[i]) {
                self.all[kept] = self.all[i];
                kept += 1;
            }
        }
        let place = self.all[..kept].partition_point(|other| other.0 <= distance);
        self.count = (kept + 1).min(DIRECTIONS);
        if place < DIRECTIONS {
            self.all.copy_within(place..self.count - 1, place + 1);
            self.all[place] = (distance, n);
        }
    }

    /// Returns the directions whose distance is nearly the least one.
    pub fn iter(&self) -> impl Iterator<Item = &(f64, Vec3<f64>)> {
        let most = self.all[0].0 + self.excess;
        self.all[..self.count].iter().filter(move |other| other.0 <= most)
    }
}

impl Polytope {
    /// Returns a tetrahedron of four points on the surface of the set; `None` if they are in a plane.
    fn start(farthest: &impl Fn(&Vec3<f64>) -> Vec3<f64>, size: f64) -> Option<Self> {
        let axis = Vec3::new(0.6, 0.48, 0.64);
        let [a, b] = [axis, -axis].map(|u| farthest(&u));
        let along = (b - a).try_normalize(0.0)?;
        let across = along.cross(&Vec3::ith(along.iamin(), 1.0)).normalize();
        let [c, d] = [across, -across].map(|u| farthest(&u));
        let away = |p: &Vec3<f64>| (p - a).cross(&along).norm_squared();
        let c = if away(&c) >= away(&d) { c } else { d };
        let normal = (b - a).cross(&(c - a)).try_normalize(0.0)?;
        let [d, e] = [normal, -normal].map(|u| farthest(&u));
        let height = |p: &Vec3<f64>| normal.dot(&(p - a));
        let d = if height(&d).abs() >= height(&e).abs() { d } else { e };
        // From outside the vertices a, b, c are counter-clockwise if d is behind their plane.
        let [b, c] = if height(&d) < 0.0 { [b, c] } else { [c, b] };
        let none = Face {
            vertices: [0; 3],
            normal: Vec3::zeros(),
            distance: f64::INFINITY,
        };
        let mut polytope = Self {
            vertices: [a; VERTICES],
            vertex_count: 4,
            faces: [none; FACES],
            face_count: 0,
            flat: FLAT * size,
        };
        polytope.vertices[..4].copy_from_slice(&[a, b, c, d]);
        for face in [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]] {
            polytope.add_face(face);
        }
        Some(polytope)
    }

    /// Returns the face whose plane is nearest to the origin, by the signed distance.
    fn nearest(&self) -> Option<Face> {
        let faces = self.faces[..self.face_count].iter();
        let nearest = faces.min_by(|one, other| one.distance.total_cmp(&other.distance))?;
        nearest.distance.is_finite().then_some(*nearest)
    }

    fn add_face(&mut self, vertices: [u8; 3]) {
        let [a, b, c] = vertices.map(|i| self.vertices[usize::from(i)]);
        let normal = (b - a).cross(&(c - a)).try_normalize(self.flat * self.flat);
        let face = Face {
            vertices,
            normal: normal.unwrap_or_else(Vec3::zeros),
            distance: normal.map_or(f64::INFINITY, |normal| normal.dot(&a)),
        };
        if let Some(place) = self.faces.get_mut(self.face_count) {
            *place = face;
            self.face_count += 1;
        }
    }

    /// Replaces the faces that are visible from a point by triangles from their outline to the point.
    /// Returns false if there is no space, or if the point is not outside.
    fn expand(&mut self, point: Vec3<f64>) -> bool {
        if self.vertex_count == VERTICES {
            return false;
        }
        let mut outline = [[0_u8; 2]; FACES];
        let (mut edges, mut kept) = (0, 0);
        for i in 0..self.face_count {
            let face = self.faces[i];
            let is_visible = face.normal.dot(&point) - face.distance > self.flat;
            if !is_visible {
                self.faces[kept] = face;
                kept += 1;
                continue;
            }
            let [a, b, c] = face.vertices;
            for [from, to] in [[a, b], [b, c], [c, a]] {
                // An edge of two visible faces is inside the outline.
                let opposite = outline[..edges].iter().position(|edge| *edge == [to, from]);
                match opposite {
                    Some(place) => {
                        edges -= 1;
                        outline[place] = outline[edges];
                    }
                    None if edges < FACES => {
                        outline[edges] = [from, to];
                        edges += 1;
                    }
                    None => return false,
                }
            }
        }
        if edges == 0 || kept + edges > FACES {
            return false;
        }
        self.face_count = kept;
        let new = self.vertex_count as u8;
        self.vertices[self.vertex_count] = point;
        self.vertex_count += 1;
        for [from, to] in &outline[..edges] {
            self.add_face([*from, *to, new]);
        }
        true
    }
}
