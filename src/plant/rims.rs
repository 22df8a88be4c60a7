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

/// Acceleration along the normal, relative to its round-off, from which a face tips.
const TIPS: f64 = 100.0;

/// Force of a point of a contact in the solution of an event.
pub(super) struct PointSolution {
    /// Index of the point in its contact.
    pub point: usize,
    /// Normal force, N.
    pub normal: f64,
    /// Acceleration along the normal, m/s².
    pub acceleration: f64,
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

/// Turns the points of a flat contact so that one of them lies in the direction in which the face tips,
/// or, if it rests, in that of the centre of pressure if a point is without force: with a point there,
/// the disc that the points span is as large as the face. `noise` is the round-off of accelerations.
/// Returns true if the points have been turned.
pub(super) fn turn_rims(
    of: Constants,
    evaluation: &Evaluation<f64>,
    discrete: &mut Discrete,
    contact: &Contact,
    points: &[PointSolution],
    noise: f64,
) -> bool {
    let Some(rims) = contact.rest.and_then(|rest| rest.rims) else {
        return false;
    };
    let state = discrete.rims[rims];
    if !state.is_flat || points.len() < QUARTERS {
        return false;
    }
    let at = of.at(&evaluation.kinematics);
    let R = contact.poses(at)[0].R;
    let arm = |of_point: &PointSolution| {
        let touching = contact.touching(of_point.point, of.parameters, discrete, at);
        let arm = R.tr_mul(&touching.from_a);
        Vec3::new(arm.x, arm.y, 0.0)
    };
    let sums = points
        .iter()
        .fold((Vec3::zeros(), Vec3::zeros(), 0.0, 0.0_f64), |sums, point| {
            let arm = arm(point);
            (
                sums.0 + arm * point.normal,
                sums.1 - arm * point.acceleration,
                sums.2 + point.normal,
                sums.3.max(arm.norm()),
            )
        });
    let (pressure, tipping, force, radius) = sums;
    let most = points.iter().fold(0.0_f64, |most, point| most.max(point.normal));
    let is_unloaded = points.iter().any(|point| point.normal <= 1e-9 * most);
    let direction = match tipping {
        tipping if tipping.norm() > TIPS * noise * radius => tipping,
        _ if is_unloaded && pressure.norm() > CENTRED * radius * force => pressure,
        _ => return false,
    };
    match state.turned(direction) {
        Some(turned) => {
            discrete.rims[rims] = turned;
            true
        }
        None => false,
    }
}
