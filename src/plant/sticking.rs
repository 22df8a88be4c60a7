//! Dry friction that sticks: which joints stick and which slide, and the release of joints and compliant
//! contacts whose friction exceeds its limit.

use super::context::{Constants, OperatingPoint};
use super::evaluation::{Evaluation, joint_coordinates};
use super::events::Changes;
use super::rest::RestsBefore;
use super::{Discrete, Plant};
use crate::Error;
use crate::algebra::Vec3;
use crate::elements::{Hold, RestState, Sliding, StickingFriction};
use crate::event::Event;

impl Plant {
    /// Updates which joints stick by dry friction and which slide, to time (s) and states. `has_jumped`
    /// is true if rates have jumped at this event.
    ///
    /// Joints that have lost their rate stick: an impulse ends the rest of it, of the order of the
    /// hysteresis, and conserves momentum. [`release`](Self::release) has to follow.
    ///
    /// # Errors
    /// Those of the dynamics; [`Error::Singular`] if a part without inertia receives an impulse,
    /// [`Error::NotFinite`] if it leads to values that are not finite.
    pub(super) fn update_sticking(
        &mut self,
        t: f64,
        x: &mut [f64],
        discrete: &mut Discrete,
        has_jumped: bool,
    ) -> Result<Changes, Error> {
        let of = self.base.constants();
        let frictions = &of.model.elements.sticking;
        let mut changes = Changes::default();
        if frictions.is_empty() {
            return Ok(changes);
        }
        let qd = self.evaluation.coordinates(of, x).qd;
        let mut stops = false;
        for friction in frictions {
            let state = discrete.sliding[friction.number];
            let (rate, is_free) = (qd[friction.rate], friction.is_free(&discrete.motions));
            let next = match state {
                _ if has_jumped => StickingFriction::at_rate(rate),
                Sliding::Stuck if is_free => state,
                Sliding::Stuck => StickingFriction::at_rate(rate),
                _ if StickingFriction::has_stopped(state, rate) => Sliding::Stuck,
                _ => state,
            };
            let begins = next != state || has_jumped;
            stops |= next == Sliding::Stuck && is_free && begins && rate != 0.0;
            changes.modes |= next != state;
            discrete.sliding[friction.number] = next;
        }
        if stops {
            self.evaluation.determine_rank(of, x, discrete);
            let holds = |body: usize| frictions.iter().any(|of| of.body == body && of.holds(discrete));
            self.evaluation.lock(of, x, discrete, holds)?;
            self.check_finite(t, x, discrete)?;
            changes = Changes {
                modes: true,
                states: true,
            };
        }
        if changes.modes {
            self.evaluation.determine_rank(self.base.constants(), x, discrete);
        }
        Ok(changes)
    }

    /// Lets all joints slide that friction holds, before an impulse: friction transmits none. Returns
    /// true if there are any; [`update_sticking`](Self::update_sticking) then has to follow.
    pub(super) fn free_for_impulse(&mut self, x: &[f64], discrete: &mut Discrete) -> bool {
        let of = self.base.constants();
        let frictions = &of.model.elements.sticking;
        let is_held = frictions.iter().any(|friction| friction.holds(discrete));
        if is_held {
            for friction in frictions {
                if friction.holds(discrete) {
                    discrete.sliding[friction.number] = Sliding::Forward;
                }
            }
            self.evaluation.determine_rank(of, x, discrete);
        }
        is_held
    }

    /// Lets joints slide, one after the other, and compliant contacts together, until friction can hold all
    /// that stick: that with the largest friction relative to its limit is the next. Points at rest whose
    /// state is then invalid are decided anew.
    ///
    /// # Errors
    /// Those of the dynamics and of [`update_rests`](Self::update_rests).
    pub(super) fn release(
        &mut self,
        t: f64,
        x: &mut [f64],
        u: &[f64],
        discrete: &mut Discrete,
        events: &mut Vec<Event>,
    ) -> Result<Changes, Error> {
        let mut changes = Changes::default();
        while self.release_overloaded(t, x, u, discrete)? {
            changes.modes = true;
            let before = RestsBefore::new(self.base.constants(), discrete);
            let rested = self.update_rests(t, x, u, discrete, before, events)?;
            changes.states |= rested.states;
            if !rested.modes {
                break;
            }
        }
        Ok(changes)
    }

    /// Lets joints slide, one after the other, and compliant contacts, all together, until friction can
    /// hold all that stick. Returns true if one slides now, or if contacts share their load in another way.
    pub(super) fn release_overloaded(
        &mut self,
        t: f64,
        x: &[f64],
        u: &[f64],
        discrete: &mut Discrete,
    ) -> Result<bool, Error> {
        let of = self.base.constants();
        let elements = &of.model.elements;
        let first = elements.resting_points();
        let (mut released, mut are_shared) = (false, false);
        while elements.sticking.iter().any(|friction| friction.holds(discrete))
            || discrete.rests[first..].iter().any(|state| state.hold == Hold::Sticking)
        {
            self.evaluation.determine_rank(of, x, discrete);
            let at = OperatingPoint::new(t, x, u, discrete);
            match self.evaluation.most_overloaded(of, at)? {
                None => break,
                Some(Overloaded::Joint(number, state)) => {
                    discrete.sliding[number] = state;
                    are_shared = false;
                }
                Some(Overloaded::Contact(number, direction)) => {
                    let together = match are_shared {
                        true => Vec::new(),
                        false => self.evaluation.hold_together(of, at)?,
                    };
                    if together.is_empty() {
                        // No forces of all contacts were found, or the solution does not have them: its
                        // reactions of other constraints may differ.
                        discrete.rests[number] = RestState {
                            hold: Hold::Sliding,
                            direction,
                            ..RestState::default()
                        };
                    }
                    are_shared = !together.is_empty() && together.iter().all(|(_, state)| state.hold == Hold::Sticking);
                    for (number, state) in together {
                        discrete.rests[number] = state;
                    }
                }
            }
            released = true;
        }
        if released {
            self.evaluation.determine_rank(of, x, discrete);
        }
        Ok(released)
    }
}

/// Joint or compliant contact that sticks, with a friction beyond its limit: its number, and the state
/// in which it begins to slide, opposite to the friction, which keeps its sign.
enum Overloaded {
    Joint(usize, Sliding),
    /// The direction is a unit vector in axes of b.
    Contact(usize, Vec3<f64>),
}

impl Evaluation<f64> {
    /// Returns the joint or contact with the largest excess of its friction over the limit, relative to
    /// it; `None` if friction can hold all that stick.
    fn most_overloaded(&mut self, of: Constants, at: OperatingPoint) -> Result<Option<Overloaded>, Error> {
        self.solve(of, at)?;
        let joints = joint_coordinates(self.recovered.as_deref(), &of.model.split(at.x));
        let hold = &self.dynamics.drive;
        let (elements, parameters) = (&of.model.elements, of.parameters);
        let stuck = elements.sticking.iter().filter(|friction| friction.holds(at.discrete));
        let of_joints = stuck.map(|friction| {
            let excess = friction.excess(parameters, joints.q, joints.qd, hold[friction.rate]);
            let state = Sliding::along(-hold[friction.rate]);
            (excess, Overloaded::Joint(friction.number, state))
        });
        let points = self.closure.as_ref().map_or(&[][..], |closure| closure.points());
        let stuck = elements
            .stictions()
            .filter(|(_, stiction)| at.discrete.rests[stiction.number].hold == Hold::Sticking);
        let of_contacts = stuck.map(|(contact, stiction)| {
            let point = &points[stiction.number];
            let R_WB = of.at(&self.kinematics).pose(contact.b).R;
            let direction = R_WB.tr_mul(&-point.force).normalize();
            let excess = point.force.norm() / stiction.limit(parameters, point) - 1.0;
            (excess, Overloaded::Contact(stiction.number, direction))
        });
        let most = of_joints.chain(of_contacts).max_by(|(a, _), (b, _)| a.total_cmp(b));
        Ok(most
            .filter(|(excess, _)| *excess > 0.0)
            .map(|(_, overloaded)| overloaded))
    }
}
