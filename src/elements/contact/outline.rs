//! Points that two faces of polyhedra have in common, and the event indicator of their validity
//! (`docs/theory/resting-contact.md#polyhedra`).

use super::detection::margin;
use super::manifold::{FacePair, Slot, SlotKind};
use super::rest::NO_EVENT;
use super::shape::Polyhedron;
use super::touching::RestingFrames;
use super::{Contact, Nearest};
use crate::algebra::{Mat3, Vec3};
use crate::elements::Discrete;

/// Sine of the angle of two faces above which they are no longer flat on each other.
const TILTED: f64 = 1e-5;

/// Sine of the angle of two faces below which they are flat on each other from the next event on.
const FLAT: f64 = 1e-6;

/// Distance outside a face, relative to the margin of the gap, up to which a point belongs to it at
/// an event.
const INSIDE: f64 = 0.5;

/// Distance of a corner from an edge, relative to the margin of the gap, up to which both cross at
/// the corner.
const NEAR: f64 = 3.0;

/// Distance of a corner inside an edge, relative to the margin of the gap, above which this is no
/// longer so.
const NEAR_NO_MORE: f64 = 4.0;

/// Distance from a face relative to the size of both solids up to which a point is on it.
const ON_FACE: f64 = 1e-7;

/// Distance by which planes perpendicular to the normal of a crossing overlap, relative to the size of
/// both solids, above which the normal is outside the normal cones of the edges. It is above the
/// constraint violation of crossings at rest.
const OUTSIDE_CONES: f64 = 1e-6;

/// Penetration, relative to that of the shapes and to their size, above which corners and crossings
/// of a pair of faces are outside the contact.
const PENETRATION: [f64; 2] = [10.0, 1e-6];

/// Pair of faces with its points, as an event determines it.
pub(crate) struct Outline {
    pub pair: FacePair,
    pub slots: Vec<Slot>,
}

/// Pair of faces in axes of b.
struct Faces<'a> {
    of: [Polyhedron<'a>; 2],
    faces: [usize; 2],
    /// Rotation from axes of a to those of b.
    R: Mat3<f64>,
    /// Position of the origin of a relative to that of b, m.
    d: Vec3<f64>,
}

impl Faces<'_> {
    /// Returns a corner of the face of a body (0 for a, 1 for b), m.
    fn corner(&self, side: usize, corner: usize) -> Vec3<f64> {
        let p = self.of[side].corner(self.faces[side], corner);
        if side == 0 { self.d + self.R * p } else { p }
    }

    /// Returns the outward unit normal of the face of a body.
    fn normal(&self, side: usize) -> Vec3<f64> {
        let normal = self.of[side].normal(self.faces[side]);
        if side == 0 { self.R * normal } else { normal }
    }

    /// Returns the number of corners of the face of a body.
    fn count(&self, side: usize) -> usize {
        self.of[side].count(self.faces[side])
    }

    /// Returns the distance of the planes perpendicular to the unit vector `n` that touch both
    /// solids, m: the gap is the largest one over all directions.
    fn along(&self, n: &Vec3<f64>) -> f64 {
        n.dot(&self.d) - self.of[0].reach(&-self.R.tr_mul(n)) - self.of[1].reach(n)
    }

    /// Returns the sine of the angle of the faces.
    fn tilt(&self) -> f64 {
        self.normal(0).cross(&self.normal(1)).norm()
    }

    /// Returns the distance by which the faces are not plane, m.
    fn uneven(&self) -> f64 {
        self.of[0].uneven(self.faces[0]) + self.of[1].uneven(self.faces[1])
    }

    /// Returns the distance of a point from an edge of the face of a body, along the face (m):
    /// positive on the side of the face.
    fn inside(&self, side: usize, edge: usize, x: &Vec3<f64>) -> f64 {
        let [from, to] = [edge, edge + 1].map(|corner| self.corner(side, corner));
        self.normal(side).cross(&(to - from).normalize()).dot(&(x - from))
    }

    /// Returns the least distance of a point from the edges of the face of a body, m: positive
    /// inside it.
    fn least_inside(&self, side: usize, x: &Vec3<f64>) -> f64 {
        (0..self.count(side)).fold(f64::INFINITY, |least, edge| least.min(self.inside(side, edge, x)))
    }

    /// Returns the least distance of a point from the boundary of its features, m: positive inside
    /// them.
    fn of_slot(&self, slot: &Slot) -> f64 {
        let [k, l] = slot.corners;
        match slot.kind {
            SlotKind::Empty => f64::INFINITY,
            SlotKind::CornerA => self.least_inside(1, &self.corner(0, k)),
            SlotKind::CornerB => self.least_inside(0, &self.corner(1, l)),
            SlotKind::Crossing => self.least_of_crossing([k, l]),
        }
    }

    /// Returns the least distance of the crossing of an edge of a and one of b from their ends,
    /// along the edges (m); negative if they do not cross.
    fn least_of_crossing(&self, [k, l]: [usize; 2]) -> f64 {
        let [p, q] = [k, k + 1].map(|k| self.corner(0, k));
        let [c, c_next] = [l, l + 1].map(|l| self.corner(1, l));
        let [from, to] = [p, q].map(|x| self.inside(1, l, &x));
        let part = from / (from - to);
        let along = (p + (q - p) * part - c).dot(&(c_next - c).normalize());
        let ends = [part, 1.0 - part].map(|part| part * (q - p).norm());
        let least = ends[0].min(ends[1]).min(along).min((c_next - c).norm() - along);
        if least.is_finite() { least } else { -1.0 }
    }

    /// Returns the vertex of a slot that is a corner, as a point, with the side of the face on
    /// which it is.
    fn corner_of(&self, slot: &Slot) -> Option<(Vec3<f64>, usize)> {
        match slot.kind {
            SlotKind::CornerA => Some((self.corner(0, slot.corners[0]), 1)),
            SlotKind::CornerB => Some((self.corner(1, slot.corners[1]), 0)),
            SlotKind::Empty | SlotKind::Crossing => None,
        }
    }

    /// Returns the points of the polygon of intersection of both faces; `margin` is that of the
    /// gap, m.
    fn points(&self, margin: f64) -> Vec<Slot> {
        let mut points = Vec::new();
        for (kind, side) in [(SlotKind::CornerA, 0), (SlotKind::CornerB, 1)] {
            for corner in 0..self.count(side) {
                let mut slot = Slot {
                    kind,
                    ..Slot::default()
                };
                slot.corners[side] = corner;
                let x = self.corner(side, corner);
                if self.least_inside(1 - side, &x) <= -INSIDE * margin {
                    continue;
                }
                for edge in 0..self.count(1 - side) {
                    if self.inside(1 - side, edge, &x).abs() < NEAR * margin {
                        slot.near |= 1 << edge;
                    }
                }
                points.push(slot);
            }
        }
        let corners = points.len();
        for k in 0..self.count(0) {
            for l in 0..self.count(1) {
                let is_at = |slot: &Slot, side: usize, edges: [usize; 2]| {
                    let own = [edges[side], (edges[side] + 1) % self.count(side)];
                    own.contains(&slot.corners[side]) && slot.near >> edges[1 - side] & 1 == 1
                };
                let is_at_corner = points[..corners].iter().any(|slot| match slot.kind {
                    SlotKind::CornerA => is_at(slot, 0, [k, l]),
                    _ => is_at(slot, 1, [k, l]),
                });
                if !is_at_corner && self.least_of_crossing([k, l]) > -INSIDE * margin {
                    points.push(Slot {
                        kind: SlotKind::Crossing,
                        corners: [k, l],
                        near: 0,
                    });
                }
            }
        }
        points
    }
}

/// Returns the face of a polyhedron at the point `x` (m) whose normal is nearest to the unit vector
/// `n`, both in its axes; `off` (m) is the distance up to which a point is on a face.
fn face_at(of: &Polyhedron, x: &Vec3<f64>, n: &Vec3<f64>, off: f64) -> usize {
    let along = |face: usize| {
        let is_on = of.normal(face).dot(&(x - of.corner(face, 0))).abs() <= off;
        of.normal(face).dot(n) - if is_on { 0.0 } else { 2.0 }
    };
    let faces = 0..of.facets.len();
    faces
        .max_by(|one, other| along(*one).total_cmp(&along(*other)))
        .unwrap_or(0)
}

impl Contact {
    /// Returns true if the saved pair of faces and its points are possible for a contact of
    /// polyhedra.
    pub(crate) fn has_outline(&self, discrete: &Discrete) -> bool {
        let Some((rest, manifold)) = self.rest.and_then(|rest| Some((rest, rest.manifold?))) else {
            return true;
        };
        let Some(facets) = self.facets() else { return true };
        let pair = discrete.face_pair(manifold);
        let counts = [0, 1].map(|side| facets[side].get(pair.faces[side]).map(|facet| facet.corners.len()));
        match counts {
            [Some(of_a), Some(of_b)] => {
                (0..rest.count).all(|point| discrete.slot(manifold, point).is_possible([of_a, of_b]))
            }
            _ => false,
        }
    }
}

impl RestingFrames<'_, f64> {
    /// Returns the pair of faces in axes of b; `None` without polyhedra.
    fn faces(&self, faces: [usize; 2], parameters: &[f64]) -> Option<Faces<'_>> {
        let [A, B] = &self.poses;
        Some(Faces {
            of: self.contact.polyhedra(parameters)?,
            faces,
            R: B.R.tr_mul(&A.R),
            d: B.R.tr_mul(&(A.p - B.p)),
        })
    }

    /// Returns the gap of the shapes, m.
    pub(super) fn gap_of_shapes(&self, parameters: &[f64]) -> f64 {
        let [A, B] = &self.poses;
        self.contact.nearest(parameters, [A, B]).gap
    }

    /// Returns the gap of the shapes above the least one of the points of an active pair of faces,
    /// or above zero if that is positive (m): negative if other features penetrate deeper than
    /// these points. It may be smaller while it is positive: planes along the normals of the points
    /// bound the gap from below.
    fn deepest_of(&self, faces: &Faces, pair: &FacePair, slots: &[Slot], parameters: &[f64]) -> f64 {
        let (mut least, mut bound) = (0.0_f64, f64::NEG_INFINITY);
        for slot in slots.iter().filter(|slot| slot.kind != SlotKind::Empty) {
            let located = self.locate(pair, slot, parameters);
            least = least.min(located.gap);
            bound = bound.max(faces.along(&self.poses[1].R.tr_mul(&located.n)));
        }
        match bound - least {
            above if above > -0.5 * margin(&self.poses) => above,
            _ => self.gap_of_shapes(parameters) - least,
        }
    }

    /// Returns the event indicator of a pair of faces and its points. It is positive as long as
    /// they are valid: each point is within its features, and no others penetrate deeper.
    pub(super) fn indicate_outline(&self, pair: &FacePair, slots: &[Slot], parameters: &[f64]) -> f64 {
        let Some(faces) = self.faces(pair.faces, parameters).filter(|_| pair.is_active) else {
            return NO_EVENT;
        };
        let margin = margin(&self.poses);
        let mut least = match pair.is_flat {
            true => TILTED - faces.tilt(),
            false => self.deepest_of(&faces, pair, slots, parameters) + margin + faces.uneven(),
        };
        for slot in slots {
            least = least.min(faces.of_slot(slot) + margin);
            let Some((x, side)) = faces.corner_of(slot) else {
                continue;
            };
            for edge in (0..faces.count(side)).filter(|edge| slot.near >> edge & 1 == 1) {
                least = least.min(NEAR_NO_MORE * margin - faces.inside(side, edge, &x));
            }
        }
        least
    }

    /// Returns the pair of faces and its points that follow at an event; `None` if these stay
    /// valid. A pair without points ends: they have slid off each other. An importer stops slightly
    /// before or after an indicator's zero. `is_kept` is true if at least three points rest.
    pub(crate) fn next_outline(
        &self,
        pair: &FacePair,
        slots: &[Slot],
        is_kept: bool,
        parameters: &[f64],
    ) -> Option<Outline> {
        let there = 0.25 * margin(&self.poses);
        let most = slots.len();
        let is_valid = match pair.is_active {
            true => {
                let is_tilted = |faces: Faces| pair.is_flat && faces.tilt() > 0.9 * TILTED;
                let is_tilted = self.faces(pair.faces, parameters).is_some_and(is_tilted);
                !is_tilted && self.indicate_outline(pair, slots, parameters) > there
            }
            false => self.gap_of_shapes(parameters) > there,
        };
        if is_valid && (pair.is_flat || !self.is_parallel(pair, parameters)) {
            return None;
        }
        if is_valid {
            // The faces may become flat at this event: crossings that were left out are points then.
            let count = |slots: &[Slot]| slots.iter().filter(|slot| slot.kind != SlotKind::Empty).count();
            let all = self.outline(Some(pair.faces), most, parameters);
            return all.filter(|all| count(&all.slots) > count(slots));
        }
        let kept = pair.is_active && pair.is_flat && is_kept;
        let of_kept = kept.then(|| self.outline(Some(pair.faces), most, parameters)).flatten();
        let ends = || {
            pair.is_active.then(|| Outline {
                pair: FacePair::default(),
                slots: vec![Slot::default(); most],
            })
        };
        of_kept.or_else(|| self.outline(None, most, parameters)).or_else(ends)
    }

    /// Returns the points of the faces at the nearest points of both solids, or of the `kept` ones;
    /// at most `most`. `None` if there are no points.
    fn outline(&self, kept: Option<[usize; 2]>, most: usize, parameters: &[f64]) -> Option<Outline> {
        let [A, B] = &self.poses;
        let of = self.contact.polyhedra(parameters)?;
        let nearest = self.contact.nearest(parameters, [A, B]);
        let size = of[0].solid.extent()? + of[1].solid.extent()?;
        let off = nearest.gap.abs() + ON_FACE * size;
        let found = || {
            let n = self.normal_of_touch(&of, &nearest, off, ON_FACE * size, parameters);
            let x_b = B.R.tr_mul(&self.seen_from_b(&nearest.from_a));
            [
                face_at(&of[0], &A.R.tr_mul(&nearest.from_a), &-A.R.tr_mul(&n), off),
                face_at(&of[1], &x_b, &B.R.tr_mul(&n), off),
            ]
        };
        let faces = self.faces(kept.unwrap_or_else(found), parameters)?;
        let pair = FacePair {
            is_active: true,
            is_flat: faces.tilt() < FLAT,
            faces: faces.faces,
        };
        let mut slots = faces.points(margin(&self.poses));
        let deepest = PENETRATION[0] * nearest.gap.min(0.0) - PENETRATION[1] * size;
        slots.retain(|slot| self.locate(&pair, slot, parameters).gap > deepest);
        slots.retain(|slot| self.is_within_cones(&pair, slot, parameters));
        let is_empty = slots.is_empty();
        slots.resize(most, Slot::default());
        (!is_empty).then_some(Outline { pair, slots })
    }

    /// Returns the normal along which the shapes touch, world axes. It is that of the nearest points,
    /// or, if the shapes approach along it, that of a face at these points along which they touch too
    /// and do not approach: a solid that slides over a seam does not strike the side of what it slides
    /// onto. `off` (m) is the distance up to which a point is on a face, `flush` (m) that up to which
    /// two faces are flush.
    fn normal_of_touch(
        &self,
        of: &[Polyhedron; 2],
        nearest: &Nearest<f64>,
        off: f64,
        flush: f64,
        parameters: &[f64],
    ) -> Vec3<f64> {
        let x = nearest.from_a;
        let u = self.velocity_of_a(&x) - self.velocity_of_b(&x);
        let slow = self.contact.rest.map_or(0.0, |rest| rest.speed(parameters));
        let approaches = |n: &Vec3<f64>| n.dot(&u) < -slow;
        let Some(shapes) = self.faces([0, 0], parameters).filter(|_| approaches(&nearest.n)) else {
            return nearest.n;
        };
        let [A, B] = &self.poses;
        let at = [A.R.tr_mul(&x), B.R.tr_mul(&self.seen_from_b(&x))];
        let mut most = (nearest.gap - flush, nearest.n);
        for side in 0..2 {
            for face in 0..of[side].facets.len() {
                let m = of[side].normal(face);
                let n = if side == 0 { -(A.R * m) } else { B.R * m };
                let is_on = m.dot(&(at[side] - of[side].corner(face, 0))).abs() <= off;
                let along = shapes.along(&B.R.tr_mul(&n));
                if is_on && along > most.0 && !approaches(&n) {
                    most = (along, n);
                }
            }
        }
        most.1
    }

    /// Returns true if a slot of a pair of faces is no crossing whose normal is outside the normal
    /// cones of both edges: such edges are nearly parallel, or above each other without contact.
    pub(crate) fn is_within_cones(&self, pair: &FacePair, slot: &Slot, parameters: &[f64]) -> bool {
        let Some(faces) = self.faces(pair.faces, parameters) else {
            return true;
        };
        if slot.kind != SlotKind::Crossing || pair.is_flat {
            return true;
        }
        let located = self.locate(pair, slot, parameters);
        let size = faces.of.iter().filter_map(|of| of.solid.extent()).sum::<f64>();
        located.gap - faces.along(&self.poses[1].R.tr_mul(&located.n)) <= OUTSIDE_CONES * size
    }

    /// Returns true if an active pair of faces is parallel.
    pub(crate) fn is_parallel(&self, pair: &FacePair, parameters: &[f64]) -> bool {
        let is_parallel = |faces: Faces| faces.tilt() < FLAT;
        pair.is_active && self.faces(pair.faces, parameters).is_some_and(is_parallel)
    }

    /// Returns true if the shapes are separated beyond the distance at which they count as touching.
    pub(crate) fn are_apart(&self, parameters: &[f64]) -> bool {
        self.gap_of_shapes(parameters) > 0.25 * margin(&self.poses)
    }
}
