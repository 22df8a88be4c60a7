//! Contact of two polyhedra that may rest on each other: points of a pair of faces
//! (`docs/theory/resting-contact.md#polyhedra`).

use super::shape::Polyhedron;
use super::touching::{Located, RestingFrames, tangents};
use crate::algebra::{Scalar, Vec3, lift3, root};
use crate::elements::{Discrete, Stored};

/// Place of the points of a contact of polyhedra in the discrete state.
#[derive(Clone, Copy, Debug)]
pub struct Manifold {
    /// Index among the contacts of polyhedra.
    pub number: usize,
    /// Index of the first slot among those of all contacts of polyhedra.
    pub first: usize,
}

/// Pair of faces whose corners and crossing edges are the points of a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FacePair {
    /// True while the polyhedra touch or have touched without separation; else the first point has
    /// the gap of the shapes.
    pub is_active: bool,
    /// True while points that are not on a line keep the faces parallel: all points then have the
    /// normal of the face of b.
    pub is_flat: bool,
    /// Indices of the faces of a and b.
    pub faces: [usize; 2],
}

/// Kind of a point of a contact of polyhedra.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SlotKind {
    /// There is no point.
    #[default]
    Empty = 0,
    /// Corner of the face of a, on the face of b.
    CornerA = 1,
    /// Corner of the face of b, on the face of a.
    CornerB = 2,
    /// Edges of both faces that cross.
    Crossing = 3,
}

/// Point of a contact of polyhedra.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slot {
    pub kind: SlotKind,
    /// Corners of the faces of a and b; an edge has the number of the corner from which it leads to
    /// the next one.
    pub corners: [usize; 2],
    /// Bit for each edge of the other face that is near a corner: crossings with this edge at the
    /// corner are no points of their own.
    pub near: usize,
}

impl Stored for FacePair {
    fn write(&self, to: &mut impl FnMut(f64)) {
        let Self {
            is_active,
            is_flat,
            faces,
        } = self;
        is_active.write(to);
        is_flat.write(to);
        faces.iter().for_each(|face| face.write(to));
    }

    fn read(next: &mut impl FnMut() -> f64) -> Option<Self> {
        Some(Self {
            is_active: bool::read(next)?,
            is_flat: bool::read(next)?,
            faces: [usize::read(next)?, usize::read(next)?],
        })
    }
}

impl Stored for Slot {
    fn write(&self, to: &mut impl FnMut(f64)) {
        let Self { kind, corners, near } = self;
        (*kind as i32).write(to);
        corners.iter().for_each(|corner| corner.write(to));
        near.write(to);
    }

    fn read(next: &mut impl FnMut() -> f64) -> Option<Self> {
        let kind = match i32::read(next)? {
            0 => SlotKind::Empty,
            1 => SlotKind::CornerA,
            2 => SlotKind::CornerB,
            3 => SlotKind::Crossing,
            _ => return None,
        };
        Some(Self {
            kind,
            corners: [usize::read(next)?, usize::read(next)?],
            near: usize::read(next)?,
        })
    }
}

impl Slot {
    /// Returns true if a contact of two polyhedra with these faces can have the point.
    pub fn is_possible(&self, counts: [usize; 2]) -> bool {
        self.corners[0] < counts[0] && self.corners[1] < counts[1]
    }

    /// Returns the numbers of the features of a and b that determine the point: the vertices of an
    /// edge in ascending order, that of a corner twice, the index of a face twice.
    pub fn features(&self, pair: &FacePair, of: &[Polyhedron; 2]) -> [[usize; 2]; 2] {
        [0, 1].map(|side| {
            let [from, to] = [0, 1].map(|next| of[side].vertex(pair.faces[side], self.corners[side] + next));
            match (self.kind, side) {
                (SlotKind::Crossing, _) => [from.min(to), from.max(to)],
                (SlotKind::CornerA, 0) | (SlotKind::CornerB, 1) => [from, from],
                _ => [pair.faces[side]; 2],
            }
        })
    }
}

impl Discrete {
    /// Returns the pair of faces of a contact of polyhedra.
    pub(crate) fn face_pair(&self, manifold: Manifold) -> FacePair {
        self.manifolds[manifold.number]
    }

    /// Returns a point of a contact of polyhedra.
    pub(crate) fn slot(&self, manifold: Manifold, point: usize) -> Slot {
        self.slots[manifold.first + point]
    }
}

impl<S: Scalar> RestingFrames<'_, S> {
    /// Returns a point of two polyhedra with its motion; an empty slot has the point of the nearest
    /// surfaces.
    pub(super) fn locate(&self, pair: &FacePair, slot: &Slot, parameters: &[f64]) -> Located<S> {
        let of = self.contact.polyhedra(parameters);
        match (slot.kind, of) {
            (SlotKind::CornerA, Some(of)) => self.locate_corner_of_a(pair, slot, &of),
            (SlotKind::CornerB, Some(of)) => self.locate_corner_of_b(pair, slot, &of),
            (SlotKind::Crossing, Some(of)) if pair.is_flat => self.locate_crossing_in_plane(pair, slot, &of),
            (SlotKind::Crossing, Some(of)) => self.locate_crossing(pair, slot, &of),
            _ => {
                let [A, B] = &self.poses;
                let nearest = self.contact.nearest(parameters, [A, B]);
                self.at(
                    nearest.gap,
                    nearest.n,
                    Vec3::zeros(),
                    nearest.from_a,
                    self.velocity_of_a(&nearest.from_a),
                )
            }
        }
    }

    /// Returns a point with the distance `gap` (m), the normal and its derivative, its position
    /// relative to the origin of a (m) and its velocity (m/s).
    fn at(&self, gap: S, n: Vec3<S>, n_dot: Vec3<S>, from_a: Vec3<S>, v: Vec3<S>) -> Located<S> {
        Located {
            gap,
            rate: n.dot(&(self.velocity_of_a(&from_a) - self.velocity_of_b(&from_a))),
            n,
            n_dot,
            t: tangents(n, &self.poses[1]),
            from_a,
            v,
        }
    }

    /// Returns a corner of the face of a body (0 for a, 1 for b) relative to the origin of the
    /// body, m, world axes.
    fn corner(&self, of: &[Polyhedron; 2], pair: &FacePair, side: usize, corner: usize) -> Vec3<S> {
        self.poses[side].R * lift3::<S>(&of[side].corner(pair.faces[side], corner))
    }

    /// Returns the outward normal of the face of a body, world axes.
    fn normal(&self, of: &[Polyhedron; 2], pair: &FacePair, side: usize) -> Vec3<S> {
        self.poses[side].R * lift3::<S>(&of[side].normal(pair.faces[side]))
    }

    /// Equation (7): a corner of a on the face of b.
    fn locate_corner_of_a(&self, pair: &FacePair, slot: &Slot, of: &[Polyhedron; 2]) -> Located<S> {
        let n = self.normal(of, pair, 1);
        let from_a = self.corner(of, pair, 0, slot.corners[0]);
        self.at(
            n.dot(&(self.seen_from_b(&from_a) - self.corner(of, pair, 1, 0))),
            n,
            self.V[1].w.cross(&n),
            from_a,
            self.velocity_of_a(&from_a),
        )
    }

    /// Equation (8): a corner of b on the face of a.
    fn locate_corner_of_b(&self, pair: &FacePair, slot: &Slot, of: &[Polyhedron; 2]) -> Located<S> {
        let from_b = self.corner(of, pair, 1, slot.corners[1]);
        let from_a = from_b - self.seen_from_b(&Vec3::zeros());
        let m = self.normal(of, pair, 0);
        let (n, w) = match pair.is_flat {
            true => (self.normal(of, pair, 1), self.V[1].w),
            false => (-m, self.V[0].w),
        };
        self.at(
            m.dot(&(from_a - self.corner(of, pair, 0, 0))),
            n,
            w.cross(&n),
            from_a,
            self.velocity_of_b(&from_a),
        )
    }

    /// Equation (12): the point of an edge of a above an edge of b, of faces that are parallel.
    fn locate_crossing_in_plane(&self, pair: &FacePair, slot: &Slot, of: &[Polyhedron; 2]) -> Located<S> {
        let [k, l] = slot.corners;
        let n = self.normal(of, pair, 1);
        let [p, q] = [k, k + 1].map(|k| self.corner(of, pair, 0, k));
        let [c, c_next] = [l, l + 1].map(|l| self.corner(of, pair, 1, l));
        let (u, v) = (q - p, c_next - c);
        let into = n.cross(&v);
        let from_a = p - u * (into.dot(&(self.seen_from_b(&p) - c)) / into.dot(&u));
        let v_a = self.velocity_of_a(&from_a);
        let along = -into.dot(&(v_a - self.velocity_of_b(&from_a))) / into.dot(&u);
        // The edge of b is not perpendicular to n if the face is not plane.
        let from_edge = self.seen_from_b(&from_a) - c;
        let (rises, in_plane) = (n.dot(&v), v - n * n.dot(&v));
        let part = from_edge.dot(&in_plane) / in_plane.dot(&in_plane);
        self.at(
            n.dot(&from_edge) - rises * part,
            n,
            self.V[1].w.cross(&n),
            from_a,
            v_a + u * along,
        )
    }

    /// Equations (9) to (11): an edge of a across an edge of b.
    fn locate_crossing(&self, pair: &FacePair, slot: &Slot, of: &[Polyhedron; 2]) -> Located<S> {
        let [k, l] = slot.corners;
        let [p, q] = [k, k + 1].map(|k| self.corner(of, pair, 0, k));
        let [c, c_next] = [l, l + 1].map(|l| self.corner(of, pair, 1, l));
        let (u, v) = (q - p, c_next - c);
        let [w_a, w_b] = [0, 1].map(|side| self.V[side].w);
        let sign = match u.cross(&v).dot(&self.normal(of, pair, 1)).value() < 0.0 {
            true => -S::one(),
            false => S::one(),
        };
        let across = u.cross(&v) * sign;
        let across_dot = (w_a.cross(&u).cross(&v) + u.cross(&w_b.cross(&v))) * sign;
        let length = root(across.dot(&across));
        let n = across / length;
        let n_dot = (across_dot - n * n.dot(&across_dot)) / length;
        // The point is in the plane of the edge of b and the common normal, whose normal is `side`.
        let (side, side_dot) = (v.cross(&n), w_b.cross(&v).cross(&n) + v.cross(&n_dot));
        let from_a = p - u * (side.dot(&(self.seen_from_b(&p) - c)) / side.dot(&u));
        let v_a = self.velocity_of_a(&from_a);
        let from_edge = self.seen_from_b(&from_a) - c;
        let v_edge = self.velocity_of_b(&(from_a - from_edge));
        let along = -(side_dot.dot(&from_edge) + side.dot(&(v_a - v_edge))) / side.dot(&u);
        self.at(n.dot(&(self.seen_from_b(&p) - c)), n, n_dot, from_a, v_a + u * along)
    }
}
