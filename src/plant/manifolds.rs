//! Contacts of polyhedra that may rest: the pair of faces that touch and its points
//! (`docs/theory/resting-contact.md#polyhedra`).

#[cfg(feature = "inside")]
pub(super) mod tests;

use super::context::Constants;
use super::detection::detect;
use super::evaluation::Evaluation;
use super::rims::start_rims;
use super::{Discrete, Plant};
use crate::algebra::Vec3;
use crate::elements::{
    Contact, ContactState, FacePair, Hold, Manifold, Outline, Rest, RestState, Slot, SlotKind, Transition,
};

/// Velocity along the normal of a point that takes over the state of one that has left its face, up
/// to which it rests, m/s.
const STILL: f64 = 1e-6;

/// Area of a triangle of points relative to the square of their distances below which they are on a
/// line.
const LINE: f64 = 1e-6;

/// Least number of points that keep two faces parallel.
const FACE: usize = 3;

/// Returns the contacts of polyhedra that may rest.
fn with_manifolds(of: Constants<'_>) -> impl Iterator<Item = (&Contact, Rest, Manifold)> {
    let contacts = of.model.elements.contacts.iter();
    contacts.filter_map(|contact| {
        let rest = contact.rest?;
        Some((contact, rest, rest.manifold?))
    })
}

/// Initialises the points of all contacts that may rest at the present kinematics.
pub(super) fn start_points(of: Constants, evaluation: &Evaluation<f64>, discrete: &mut Discrete) {
    start_rims(of, evaluation, discrete);
    for (contact, rest, manifold) in with_manifolds(of) {
        clear(discrete, contact, rest, manifold);
        let frames = contact.frames_at(of.parameters, of.at(&evaluation.kinematics));
        let slots = manifold.first..manifold.first + rest.count;
        let pair = discrete.face_pair(manifold);
        let Some(outline) = frames.next_outline(&pair, &discrete.slots[slots.clone()], false, of.parameters) else {
            continue;
        };
        discrete.manifolds[manifold.number] = outline.pair;
        discrete.slots[slots].copy_from_slice(&outline.slots);
        for point in 0..rest.count {
            let seen = detect(of, evaluation, discrete, contact, point);
            if let (Some(first), Transition::Touches) = (contact.detection_number(), seen.next(ContactState::Apart)) {
                discrete.surfaces[first + point] = seen.in_contact();
            }
        }
    }
}

/// Sets a contact of polyhedra to separated.
fn clear(discrete: &mut Discrete, contact: &Contact, rest: Rest, manifold: Manifold) {
    discrete.manifolds[manifold.number] = Default::default();
    discrete.slots[manifold.first..manifold.first + rest.count].fill(Default::default());
    discrete.rests[rest.points()].fill(RestState::default());
    if let Some(first) = contact.detection_number() {
        discrete.surfaces[first..first + rest.count].fill(ContactState::Apart);
    }
}

/// Returns the indices of the points of a contact that transmit a force.
fn holding(discrete: &Discrete, rest: Rest) -> impl Iterator<Item = usize> {
    (0..rest.count).filter(move |point| discrete.rests[rest.first + point].hold != Hold::Free)
}

impl Plant {
    /// Updates the points of all contacts that may rest to the states `x`; returns true if one has
    /// changed.
    pub(super) fn update_points(&mut self, x: &[f64], discrete: &mut Discrete) -> bool {
        let mut changed = self.update_rims(x, discrete);
        let of = self.base.constants();
        if discrete.manifolds.is_empty() {
            return changed;
        }
        self.evaluation.update_kinematics(of, x);
        for (contact, rest, manifold) in with_manifolds(of) {
            let frames = contact.frames_at(of.parameters, of.at(&self.evaluation.kinematics));
            let slots = &discrete.slots[manifold.first..manifold.first + rest.count];
            let pair = discrete.face_pair(manifold);
            let is_kept = holding(discrete, rest).count() >= FACE;
            if let Some(outline) = frames.next_outline(&pair, slots, is_kept, of.parameters) {
                self.evaluation
                    .replace_points(of, discrete, contact, manifold, &outline);
                changed = true;
            }
        }
        if changed {
            self.evaluation.determine_rank(of, x, discrete);
        }
        changed
    }

    /// Ends the pairs of faces of polyhedra that have separated.
    pub(super) fn separate(&mut self, discrete: &mut Discrete) {
        let of = self.base.constants();
        for (contact, rest, manifold) in with_manifolds(of) {
            let Some(first) = contact.detection_number() else {
                continue;
            };
            let mut surfaces = discrete.surfaces[first..first + rest.count].iter();
            if !discrete.face_pair(manifold).is_active || surfaces.any(|state| *state != ContactState::Apart) {
                continue;
            }
            let frames = contact.frames_at(of.parameters, of.at(&self.evaluation.kinematics));
            if frames.are_apart(of.parameters) {
                clear(discrete, contact, rest, manifold);
            }
        }
    }
}

impl Evaluation<f64> {
    /// Replaces the points of a contact of polyhedra. Points that stay keep their states; one that
    /// rested and has left passes its state to the nearest new one that rests too.
    fn replace_points(
        &self,
        of: Constants,
        discrete: &mut Discrete,
        contact: &Contact,
        manifold: Manifold,
        outline: &Outline,
    ) {
        let (Some(rest), Some(first)) = (contact.rest, contact.detection_number()) else {
            return;
        };
        let Some(polyhedra) = contact.polyhedra(of.parameters) else {
            return;
        };
        let frames = contact.frames_at(of.parameters, of.at(&self.kinematics));
        let place = |discrete: &Discrete, point| frames.touching(point, of.parameters, discrete).from_a;
        let old_pair = discrete.face_pair(manifold);
        let old_slots = discrete.slots[manifold.first..manifold.first + rest.count].to_vec();
        let old_rests = discrete.rests[rest.points()].to_vec();
        let old_surfaces = discrete.surfaces[first..first + rest.count].to_vec();
        let old_places: Vec<Vec3<f64>> = (0..rest.count).map(|point| place(discrete, point)).collect();
        let keeps_flat = old_pair.is_flat && outline.pair.is_flat && holding(discrete, rest).count() >= FACE;
        clear(discrete, contact, rest, manifold);
        discrete.manifolds[manifold.number] = outline.pair;
        discrete.slots[manifold.first..manifold.first + rest.count].copy_from_slice(&outline.slots);
        // Index among the old points of each new one that stays.
        let identity = |pair: &FacePair, slot: &Slot| (slot.kind, slot.features(pair, &polyhedra));
        let stays: Vec<Option<usize>> = outline
            .slots
            .iter()
            .map(|slot| {
                let own = identity(&outline.pair, slot);
                let mut old = old_slots.iter();
                let is_filled = slot.kind != SlotKind::Empty && old_pair.is_active;
                is_filled
                    .then(|| old.position(|old| identity(&old_pair, old) == own))
                    .flatten()
            })
            .collect();
        let left =
            (0..rest.count).filter(|point| old_rests[*point].hold != Hold::Free && !stays.contains(&Some(*point)));
        let mut new = Vec::new();
        for (point, slot) in outline.slots.iter().enumerate() {
            if slot.kind == SlotKind::Empty {
                continue;
            }
            let seen = detect(of, self, discrete, contact, point);
            if let Some(old) = stays[point] {
                let holds = old_rests[old].hold != Hold::Free;
                discrete.rests[rest.first + point] = old_rests[old];
                if holds || keeps_flat || seen.gap < seen.margin {
                    discrete.surfaces[first + point] = old_surfaces[old];
                }
                continue;
            }
            if keeps_flat || (seen.speed.abs() <= STILL && seen.gap < seen.margin) {
                new.push((point, place(discrete, point)));
            }
            if keeps_flat {
                discrete.surfaces[first + point] = seen.in_contact();
            }
        }
        for old in left {
            let away = |(_, x): &(usize, Vec3<f64>)| (old_places[old] - x).norm();
            let nearest = (0..new.len()).min_by(|i, k| away(&new[*i]).total_cmp(&away(&new[*k])));
            let Some((point, _)) = nearest.map(|nearest| new.swap_remove(nearest)) else {
                break;
            };
            discrete.rests[rest.first + point] = old_rests[old];
            discrete.surfaces[first + point] = detect(of, self, discrete, contact, point).in_contact();
        }
    }

    /// Lets pairs of faces that are parallel count as flat, before the points that rest are
    /// determined.
    pub(super) fn flatten(&self, of: Constants, discrete: &mut Discrete) {
        for (contact, _, manifold) in with_manifolds(of) {
            let frames = contact.frames_at(of.parameters, of.at(&self.kinematics));
            let pair = &mut discrete.manifolds[manifold.number];
            pair.is_flat = frames.is_parallel(pair, of.parameters);
        }
    }

    /// Lets pairs of faces count as flat only if points that are not on a line keep them parallel.
    /// Crossings of other pairs whose normal is undefined by then are no points; returns true if one
    /// of them transmits a force.
    pub(super) fn unflatten(&self, of: Constants, discrete: &mut Discrete) -> bool {
        let mut held = false;
        for (contact, rest, manifold) in with_manifolds(of) {
            let frames = contact.frames_at(of.parameters, of.at(&self.kinematics));
            let points: Vec<Vec3<f64>> = holding(discrete, rest)
                .map(|point| frames.touching(point, of.parameters, discrete).from_a)
                .collect();
            discrete.manifolds[manifold.number].is_flat &= spans_area(&points);
            let pair = discrete.face_pair(manifold);
            for point in 0..rest.count {
                if frames.is_within_cones(&pair, &discrete.slot(manifold, point), of.parameters) {
                    continue;
                }
                held |= discrete.rests[rest.first + point].hold != Hold::Free;
                discrete.slots[manifold.first + point] = Slot::default();
                discrete.rests[rest.first + point] = RestState::default();
                if let Some(first) = contact.detection_number() {
                    discrete.surfaces[first + point] = ContactState::Apart;
                }
            }
        }
        held
    }
}

/// Returns true if the points are not on a line.
fn spans_area(points: &[Vec3<f64>]) -> bool {
    let Some(first) = points.first() else { return false };
    let away = |p: &Vec3<f64>| (p - first).norm();
    let Some(far) = points.iter().max_by(|p, q| away(p).total_cmp(&away(q))) else {
        return false;
    };
    let along = far - first;
    let area = |p: &Vec3<f64>| (p - first).cross(&along).norm();
    points.iter().any(|p| area(p) > LINE * along.norm_squared())
}
