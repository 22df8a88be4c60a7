//! Contact states of all pairs of surfaces: their start, and their update at events with the
//! contacts that act then.

use super::context::Constants;
use super::evaluation::Evaluation;
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
        self.evaluation.update_kinematics(of, x);
        let evaluation = &self.evaluation;
        let mut surfaces = model.elements.with_detection().zip(&discrete.surfaces);
        surfaces.any(|((_, contact), state)| {
            let seen = detect(of, evaluation, contact);
            *state == ContactState::Apart && seen.gap <= 2.0 * h * seen.fastest
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
        for (state, (_, contact)) in discrete.surfaces.iter_mut().zip(model.elements.with_detection()) {
            let seen = detect(of, &self.evaluation, contact);
            *state = match seen.next(ContactState::Apart) {
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
    /// touch or penetrate deeper.
    ///
    /// # Errors
    /// [`Error::Chatter`] after more than [`MOST_IMPACTS`] impacts of two surfaces without
    /// separation.
    pub(super) fn update_contact_states(
        &mut self,
        t: f64,
        x: &[f64],
        discrete: &mut Discrete,
    ) -> Result<(bool, Vec<usize>), Error> {
        let of = self.base.constants();
        let model = of.model;
        let mut touching = Vec::new();
        if model.elements.with_detection().next().is_none() {
            return Ok((false, touching));
        }
        self.evaluation.update_kinematics(of, x);
        let mut changed = false;
        for (number, (index, contact)) in model.elements.with_detection().enumerate() {
            if discrete.is_captured(contact) {
                continue;
            }
            let seen = detect(of, &self.evaluation, contact);
            let state = discrete.surfaces[number];
            let next = match seen.next(state) {
                Transition::Stays => continue,
                Transition::Separates => ContactState::Apart,
                Transition::Ignored => ContactState::Behind,
                Transition::Touches if contact.is_compliant() => ContactState::LASTING,
                Transition::Touches => {
                    let captures = contact.capture().is_some();
                    let acts = captures || seen.speed < 0.0;
                    if acts {
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
        Ok((changed, touching))
    }
}

/// Sets the contact state of released surfaces to touching at the present gap, from which they
/// separate or penetrate.
pub(super) fn release(of: Constants, evaluation: &Evaluation<f64>, discrete: &mut Discrete, contact: usize) {
    let contact = &of.model.elements.contacts[contact];
    if let Some(number) = contact.detection_number() {
        let seen = detect(of, evaluation, contact);
        discrete.surfaces[number] = seen.in_contact();
    }
}

/// Returns the gap of a contact with detection at the present kinematics, m.
pub(super) fn gap(of: Constants, evaluation: &Evaluation<f64>, contact: &Contact) -> f64 {
    detect(of, evaluation, contact).gap
}

/// Returns the penetration (m) of a contact with an impact law and no disc, at the present
/// kinematics; `None` if the surfaces do not overlap.
pub(super) fn penetration(of: Constants, evaluation: &Evaluation<f64>, contact: &Contact) -> Option<f64> {
    let seen = detect(of, evaluation, contact);
    let has_impacts = contact.law(of.parameters).is_some() && !contact.has_back();
    (has_impacts && seen.gap < -seen.margin).then_some(-seen.gap)
}

fn detect(of: Constants, evaluation: &Evaluation<f64>, contact: &Contact) -> Detected {
    contact.detect(of.parameters, of.at(&evaluation.kinematics))
}
