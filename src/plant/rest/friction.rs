//! Friction of points in contact at an event, by their states before it.

use super::super::context::Constants;
use super::{Candidate, RestsBefore, RestsDue, STILL};
use crate::dynamics::impact::Friction;
use crate::elements::{Hold, NO_SLIP};

/// Sliding speed at which a point stops, m/s.
const STOPPED: f64 = 3.0 * NO_SLIP;

/// Sliding speed up to which a point stops if another point between the same bodies stops, m/s. Points of
/// one body that stop differ by the errors of the integration; if one of them kept sliding while the others
/// stick, it would never stop, because their constraints hold it.
const STOPPED_TOGETHER: f64 = 100.0 * NO_SLIP;

/// Returns the frictions of the points in accelerations. One that sticks slides once its velocity has
/// jumped, or the force exceeds its limit.
pub(super) fn frictions(of: Constants, candidates: &[Candidate], before: &RestsBefore) -> Vec<Friction> {
    let slides = |point: &Candidate| before.rests[point.number].hold == Hold::Sliding;
    let stops = |point: &Candidate| slides(point) && point.speed() <= STOPPED;
    let stops_with = |point: &Candidate| {
        let mut own = candidates
            .iter()
            .filter(|other| other.pair.carriers() == point.pair.carriers());
        own.any(stops)
    };
    let least = |point: &Candidate| match before.rests[point.number].hold {
        Hold::Sliding if stops_with(point) => STOPPED_TOGETHER,
        Hold::Sliding => STOPPED,
        Hold::Sticking if before.due != RestsDue::Jumped => f64::INFINITY,
        Hold::Free | Hold::Sticking => STILL,
    };
    let friction = |point: &Candidate| {
        let [_, mu] = point.contact.rest_coefficients(of.parameters);
        match point.speed() > least(point) && mu > 0.0 {
            true => Friction::Sliding {
                mu,
                direction: [point.u.y, point.u.z].map(|u| u / point.speed()),
            },
            false => Friction::Coulomb { mu },
        }
    };
    candidates.iter().map(friction).collect()
}

impl Candidate<'_> {
    /// Returns the sliding speed, m/s.
    fn speed(&self) -> f64 {
        (self.u.y * self.u.y + self.u.z * self.u.z).sqrt()
    }
}
