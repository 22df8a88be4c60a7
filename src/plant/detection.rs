//! Contact states of all pairs of surfaces: their start, and their update at events with the
//! contacts that act then.

use super::context::Constants;
use super::evaluation::Evaluation;
use super::manifolds::start_points;
use super::{Discrete, Plant};
use crate::Error;
use crate::elements::{Contact, ContactState, Detected, MOST_IMPACTS, Transition};

impl Plant {
    /// Returns true if separated surfaces may touch and separate again within `h` (s), at the
    /// velocities of the states `x`.
    pub fn may_touch(&mut self, x: &[f64], discrete: &Discrete, h: f64) -> bool {
        let of = self.base.constants();
        let model = of.model;
        if model.elements.with_detection().next().is_none() {
            return false;
        }
        if !self.evaluation.is_at_states(x) {
            self.evaluation.update_kinematics(of, x);
        }
        let evaluation = &self.evaluation;
        let mut contacts = model.elements.with_detection();
        contacts.any(|(_, contact)| {
            let first = contact.detection_number().unwrap_or_default();
            let (at, mut may_touch) = (of.at(&evaluation.kinematics), false);
            let skips = |point| discrete.surfaces[first + point] != ContactState::Apart;
            contact.detect_points(of.parameters, discrete, at, skips, |_, seen| {
                may_touch |= seen.is_some_and(|seen| seen.gap <= 2.0 * h * seen.fastest);
            });
            may_touch
        })
    }

    /// Initialises the contact states at the states `x`. Rigid surfaces that overlap at the start
    /// have an impact once they penetrate deeper.
    pub(super) fn initialise_contact_states(&mut self, x: &[f64], discrete: &mut Discrete) {
        let of = self.base.constants();
        let model = of.model;
        if model.elements.with_detection().next().is_none() {
            return;
        }
        self.evaluation.update_kinematics(of, x);
        start_points(of, &self.evaluation, discrete);
        for (number, (_, contact, point)) in model.elements.detections().enumerate() {
            let seen = detect(of, &self.evaluation, discrete, contact, point);
            discrete.surfaces[number] = match seen.next(ContactState::Apart) {
                Transition::Ignored | Transition::Touches if contact.has_back() && seen.gap < -seen.margin => {
                    ContactState::Behind
                }
                Transition::Touches if contact.is_compliant() => ContactState::LASTING,
                Transition::Touches if contact.capture().is_some() && seen.gap < -seen.margin => ContactState::Behind,
                Transition::Touches => seen.in_contact(),
                Transition::Stays | Transition::Separates | Transition::Ignored => ContactState::Apart,
            };
        }
    }

    /// Updates the contact states to the states `x` at the time `t` (s). Returns true if one
    /// changed, and the contacts at which an impact or a capture is due now, because their surfaces
    /// touch or penetrate deeper; those that may rest are left to
    /// [`update_rests`](Self::update_rests), and if there are any is the third part of the result.
    ///
    /// # Errors
    /// [`Error::Chatter`] after more than [`MOST_IMPACTS`] impacts of two surfaces without
    /// separation.
    pub(super) fn update_contact_states(
        &mut self,
        t: f64,
        x: &[f64],
        discrete: &mut Discrete,
    ) -> Result<(bool, Vec<usize>, bool), Error> {
        let of = self.base.constants();
        let model = of.model;
        let mut touching = Vec::new();
        if model.elements.with_detection().next().is_none() {
            return Ok((false, touching, false));
        }
        self.evaluation.update_kinematics(of, x);
        let (mut changed, mut rests_touch) = (false, false);
        for (number, (index, contact, point)) in model.elements.detections().enumerate() {
            if discrete.is_held_together(contact, point) {
                continue;
            }
            let seen = detect(of, &self.evaluation, discrete, contact, point);
            let state = discrete.surfaces[number];
            let next = match seen.next(state) {
                Transition::Stays => continue,
                Transition::Separates => ContactState::Apart,
                Transition::Ignored => ContactState::Behind,
                Transition::Touches if contact.is_compliant() => ContactState::LASTING,
                Transition::Touches => {
                    let captures = contact.capture().is_some();
                    let acts = captures || seen.speed < 0.0;
                    rests_touch |= contact.rest.is_some();
                    if acts && contact.rest.is_none() {
                        touching.push(index);
                    }
                    match (state, captures) {
                        // The contact did not capture when the surfaces touched, and they penetrate
                        // deeper.
                        (ContactState::Touching { .. }, true) => ContactState::Behind,
                        (ContactState::Touching { touches, .. }, false) => ContactState::Touching {
                            touches: touches + i32::from(acts),
                            floor: seen.floor(),
                        },
                        _ => seen.in_contact(),
                    }
                }
            };
            if matches!(next, ContactState::Touching { touches, .. } if touches > MOST_IMPACTS) {
                return Err(Error::Chatter {
                    contact: contact.name.clone(),
                    frames: contact.names.clone(),
                    impacts: MOST_IMPACTS,
                    t,
                });
            }
            changed |= next != state;
            discrete.surfaces[number] = next;
        }
        Ok((changed, touching, rests_touch))
    }
}

/// Sets the contact state of released surfaces to touching at the present gap, from which they
/// separate or penetrate.
pub(super) fn release(of: Constants, evaluation: &Evaluation<f64>, discrete: &mut Discrete, contact: usize) {
    let contact = &of.model.elements.contacts[contact];
    if let Some(number) = contact.detection_number() {
        let seen = detect(of, evaluation, discrete, contact, 0);
        discrete.surfaces[number] = seen.in_contact();
    }
}

/// Returns the least gap of the points of a contact with detection at the present kinematics, m; not a
/// number if one of them is not finite.
pub(super) fn gap(of: Constants, evaluation: &Evaluation<f64>, discrete: &Discrete, contact: &Contact) -> f64 {
    let gaps = || (0..contact.point_count()).map(|point| detect(of, evaluation, discrete, contact, point).gap);
    let undefined = gaps().find(|gap| !gap.is_finite());
    undefined.or_else(|| gaps().min_by(f64::total_cmp)).unwrap_or(f64::NAN)
}

/// Returns the penetration (m) of a contact with an impact law and no disc, at the present
/// kinematics; `None` if the surfaces do not overlap.
pub(super) fn penetration(
    of: Constants,
    evaluation: &Evaluation<f64>,
    discrete: &Discrete,
    contact: &Contact,
) -> Option<f64> {
    let detected = (0..contact.point_count()).map(|point| detect(of, evaluation, discrete, contact, point));
    let seen = detected.min_by(|a, b| a.gap.total_cmp(&b.gap))?;
    let has_impacts = contact.law(of.parameters).is_some() && !contact.has_back();
    (has_impacts && seen.gap < -seen.margin).then_some(-seen.gap)
}

pub(super) fn detect(
    of: Constants,
    evaluation: &Evaluation<f64>,
    discrete: &Discrete,
    contact: &Contact,
    point: usize,
) -> Detected {
    contact.detect(point, of.parameters, discrete, of.at(&evaluation.kinematics))
}
