//! Friction of points in contact at an event, by their states before it.

use super::super::context::Constants;
use super::super::{Discrete, Plant};
use super::{Candidate, RestsBefore, RestsDue, STILL};
use crate::algebra::Vec3;
use crate::dynamics::impact::Friction;
use crate::elements::{Hold, NO_SLIP, indicators};

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

impl Plant {
    /// Lets points slide whose reaction is at the rim of the friction cone or outside it, opposite to
    /// their friction, until no more do. The forces of an event are solved up to round-off and the
    /// angle of the surfaces; the event indicators, which are evaluated with the reactions, are to be
    /// positive after it: an importer does not see one that is not.
    pub(super) fn slide_overloaded(&mut self, t: f64, x: &[f64], u: &[f64], discrete: &mut Discrete) {
        for _ in 0..discrete.rests.len() {
            let of = self.base.constants();
            if discrete.rests.iter().all(|state| state.hold != Hold::Sticking) {
                return;
            }
            let now = self.evaluation.event_context(of, t, x, u, discrete);
            let at = now.configuration();
            let states = discrete.rests.iter().zip(now.points);
            let points = of.model.elements.rests().zip(states).enumerate();
            let overloaded: Vec<(usize, Vec3<f64>)> = points
                .filter_map(|(number, ((contact, ..), (state, point)))| {
                    let [_, mu] = contact.rest_coefficients(of.parameters);
                    let B = at.pose(contact.b);
                    let can_slide = state.hold == Hold::Sticking && mu > 0.0 && point.normal > 0.0;
                    let friction = point.force - point.n * point.normal;
                    (can_slide && indicators(mu, state, point, &B)[0] <= 0.0)
                        .then(|| (number, B.R.tr_mul(&-friction.normalize())))
                })
                .collect();
            if overloaded.is_empty() {
                return;
            }
            for (number, direction) in overloaded {
                discrete.rests[number].hold = Hold::Sliding;
                discrete.rests[number].direction = direction;
            }
            self.evaluation.determine_rank(of, x, discrete);
        }
    }
}

impl Candidate<'_> {
    /// Returns the sliding speed, m/s.
    fn speed(&self) -> f64 {
        (self.u.y * self.u.y + self.u.z * self.u.z).sqrt()
    }
}
