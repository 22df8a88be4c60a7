//! Points on the rims of solids of revolution that may rest: where they are
//! (`docs/theory/resting-contact.md#rims`).

use super::context::Constants;
use super::detection::detect;
use super::evaluation::Evaluation;
use super::{Discrete, Plant};
use crate::algebra::Vec3;
use crate::elements::{Contact, Hold, QUARTERS, Rest, RestState, RimState};

/// Distance of the centre of pressure from the axis, relative to the radius, up to which it has no
/// direction.
const CENTRED: f64 = 1e-3;

/// Normal force relative to the largest below which a point counts as unloaded.
const UNLOADED: f64 = 1e-9;

/// Normal forces of a point of a contact, at an event.
pub(super) struct PointPressure {
    /// Index of the point in its contact.
    pub point: usize,
    /// Normal force, N.
    pub normal: f64,
    /// Normal force by which the centre of pressure is computed, N. It may be negative: the centre is
    /// outside the face if the solid tips.
    pub held: f64,
}

/// Returns the contacts with rims, with their number among these.
fn with_rims(of: Constants<'_>) -> impl Iterator<Item = (usize, &Contact, Rest)> {
    let contacts = of.model.elements.contacts.iter();
    contacts.filter_map(|contact| {
        let rest = contact.rest?;
        Some((rest.rims?, contact, rest))
    })
}

/// Initialises the states of all rims at the present kinematics.
pub(super) fn start_rims(of: Constants, evaluation: &Evaluation<f64>, discrete: &mut Discrete) {
    for (rims, contact, _) in with_rims(of) {
        discrete.rims[rims] = RimState::start(contact.down(of.at(&evaluation.kinematics)));
    }
}

impl Plant {
    /// Updates the states of all rims to the states `x`; returns true if one has changed. Points that
    /// rest are replaced by the lowest points of their rims where the solid is no longer flat.
    pub(super) fn update_rims(&mut self, x: &[f64], discrete: &mut Discrete) -> bool {
        let of = self.base.constants();
        if discrete.rims.is_empty() {
            return false;
        }
        self.evaluation.update_kinematics(of, x);
        let mut changed = false;
        for (rims, contact, rest) in with_rims(of) {
            let down = contact.down(of.at(&self.evaluation.kinematics));
            let Some(next) = discrete.rims[rims].next(down) else {
                continue;
            };
            changed = true;
            let leaves = discrete.rims[rims].is_flat && !next.is_flat;
            discrete.rims[rims] = next;
            for first in (0..rest.count).step_by(QUARTERS).filter(|_| leaves) {
                let own = first..(first + QUARTERS).min(rest.count);
                let force = |&point: &usize| discrete.rests[rest.first + point].reference.norm();
                let holding = own
                    .clone()
                    .filter(|&point| discrete.rests[rest.first + point].hold != Hold::Free);
                let Some(most) = holding.max_by(|a, b| force(a).total_cmp(&force(b))) else {
                    continue;
                };
                let state = discrete.rests[rest.first + most];
                own.for_each(|point| discrete.rests[rest.first + point] = RestState::default());
                discrete.rests[rest.first + first] = state;
                if let Some(detected) = contact.detection_number() {
                    let seen = detect(of, &self.evaluation, discrete, contact, first);
                    discrete.surfaces[detected + first] = seen.in_contact();
                }
            }
        }
        changed
    }
}

/// Turns the points of a flat contact so that one of them lies in the direction of the centre of
/// pressure, if a point is without force: the polygon that the points span then reaches as far in that
/// direction as the face. Returns true if the points have been turned.
pub(super) fn turn_rims(
    of: Constants,
    evaluation: &Evaluation<f64>,
    discrete: &mut Discrete,
    contact: &Contact,
    points: &[PointPressure],
) -> bool {
    let Some(rims) = contact.rest.and_then(|rest| rest.rims) else {
        return false;
    };
    let state = discrete.rims[rims];
    let most = points.iter().fold(0.0_f64, |most, point| most.max(point.normal));
    let is_loaded = points.iter().all(|point| point.normal > UNLOADED * most);
    if !state.is_flat || points.len() < QUARTERS || is_loaded {
        return false;
    }
    let at = of.at(&evaluation.kinematics);
    let R = contact.poses(at)[0].R;
    let (mut moment, mut force, mut radius) = (Vec3::zeros(), 0.0, 0.0_f64);
    for point in points {
        let touching = contact.touching(point.point, of.parameters, discrete, at);
        let mut arm = R.tr_mul(&touching.from_a);
        arm.z = 0.0;
        moment += arm * point.held;
        force += point.held;
        radius = radius.max(arm.norm());
    }
    let turned = (moment.norm() > CENTRED * radius * force).then(|| state.turned(moment));
    match turned.flatten() {
        Some(turned) => {
            discrete.rims[rims] = turned;
            true
        }
        None => false,
    }
}
