//! Coulomb friction of compliant contacts, with surfaces that stick.

use super::compliant::{Compliant, Pressed};
use super::rest::{Hold, NO_EVENT, NO_SLIP, PointForce, RestState};
use super::rim::RimState;
use super::{Contact, ContactLaw, ContactState, Touching};
use crate::Problem;
use crate::algebra::{Mat3, Scalar, Vec3, Wrench, lift3};
use crate::dynamics::Applied;
use crate::elements::{Cursor, Discrete, Elements, EventContext, Instant, Outputs, Pair, View, report};
use crate::system::{Configuration, ParamId, Parameter, Quantity, Unit};

/// Coulomb friction of a compliant contact, without regularisation.
///
/// The normal force `N` is that of the law, known from positions and velocities. While the surfaces
/// slide in the direction `d`, the friction on a is the load `−μ N d`. While they stick, two
/// constraints along the surface hold the velocity of the contact point at zero, with a reaction of at
/// most `μ N`. Where several contacts share a load in many ways, the reactions are those nearest to the
/// ones that were determined when one reached its limit.
#[derive(Clone, Copy, Debug)]
pub struct Stiction {
    /// Index of its state, after those of all points that may rest.
    pub number: usize,
    pub(super) mu: ParamId,
    /// Force of the law at its reference penetration, N.
    pub(super) force: ParamId,
    /// Baumgarte's gain of the velocity along the surface, 1/s.
    pub(super) alpha: ParamId,
}

/// Friction beyond `μ N` that surfaces which stick transmit, relative to the reference force of the
/// law. At the first touch the normal force is zero, and the friction round-off.
const HYSTERESIS: f64 = 1e-9;

impl Stiction {
    /// Returns the coefficient of friction.
    pub fn mu(&self, parameters: &[f64]) -> f64 {
        self.mu.of(parameters)
    }

    /// Returns Baumgarte's gain of the velocity along the surface, 1/s.
    pub fn gain(&self, parameters: &[f64]) -> f64 {
        self.alpha.of(parameters)
    }

    /// Returns true if surfaces in contact have friction, at these values of the parameters.
    pub(crate) fn acts(&self, parameters: &[f64]) -> bool {
        self.mu(parameters) > 0.0 && self.force.of(parameters) > 0.0
    }

    /// Returns the largest friction that surfaces can transmit while they stick, N, with half of the
    /// hysteresis.
    pub(crate) fn limit(&self, parameters: &[f64], at: &PointForce<f64>) -> f64 {
        let hysteresis = HYSTERESIS * self.force.of(parameters);
        (self.mu(parameters) * at.normal + 0.5 * hysteresis).max(f64::MIN_POSITIVE)
    }

    /// Returns the event indicator of surfaces that touch, N or m/s, with friction of the contact point
    /// as in `at`; `R_WB` is the attitude of b.
    pub(crate) fn indicator(
        &self,
        parameters: &[f64],
        state: &RestState,
        at: &PointForce<f64>,
        R_WB: &Mat3<f64>,
    ) -> f64 {
        match state.hold {
            Hold::Free => -f64::from(self.acts(parameters)),
            Hold::Sticking => {
                let hysteresis = HYSTERESIS * self.force.of(parameters);
                self.mu(parameters) * at.normal + hysteresis - at.force.norm()
            }
            // The angle between the direction of sliding and that in which it began stays below 60°.
            Hold::Sliding => (R_WB * state.direction).dot(&at.slip) - 0.5 * at.slip.norm() + NO_SLIP,
        }
    }
}

impl Elements {
    /// Returns the compliant contacts with stiction and their laws, in the order of their numbers.
    pub fn stictions(&self) -> impl Iterator<Item = (&Contact, Stiction)> {
        (self.contacts.iter()).filter_map(|contact| Some((contact, contact.stiction()?)))
    }

    /// Reports gains of contacts with stiction that are unstable with `linearly_implicit` at this step
    /// (s).
    pub(in crate::elements) fn validate_stiction_gains(
        &self,
        step: f64,
        declared: &[Parameter],
        values: &[f64],
        problems: &mut Vec<Problem>,
    ) {
        for (contact, stiction) in self.stictions() {
            let alpha = stiction.alpha.of(values);
            if step > alpha.recip() {
                let what = format!(
                    "the gain of contact \"{}\", alpha = {alpha} 1/s, is too large for linearly_implicit with a step of {step} s: reduce it, or use a step of at most {:.3e} s",
                    contact.name,
                    alpha.recip()
                );
                report(declared, stiction.alpha, problems, what);
            }
        }
    }
}

impl Contact {
    /// Returns the law of a compliant contact.
    fn compliant(&self) -> Option<Compliant> {
        match self.law {
            ContactLaw::Compliant(law) => Some(law),
            _ => None,
        }
    }

    /// Returns the Coulomb friction of a compliant contact whose surfaces stick; `None` of others.
    pub fn stiction(&self) -> Option<Stiction> {
        self.compliant().and_then(|law| law.stiction())
    }

    /// Returns the contact point of a compliant contact with stiction, with its motion.
    pub(crate) fn stiction_point<S: Scalar>(&self, parameters: &[f64], at: Configuration<S>) -> Touching<S> {
        let frames = self.frames_at(parameters, at);
        frames.moving(frames.locate_ball(0, parameters, RimState::default()))
    }

    /// Returns the normal force of a compliant contact, N, at a gap (m) and its rate (m/s).
    pub(crate) fn normal_force<S: Scalar>(&self, parameters: &[S::Constant], gap: S, rate: S) -> S {
        self.compliant()
            .map_or(S::zero(), |law| law.normal_force(parameters, gap, rate))
    }

    /// Returns the friction on a of a pressed contact whose surfaces slide, N, world axes, with the pair
    /// at the contact point; `None` of others.
    pub(super) fn friction<S: Scalar>(&self, now: &Instant<S>, pressed: &Pressed<S>) -> Option<(Pair<S>, Vec3<S>)> {
        let stiction = self.stiction()?;
        let state = &now.rests[stiction.number];
        if state.hold != Hold::Sliding {
            return None;
        }
        let at = now.configuration();
        let touching = self.stiction_point(S::numbers(now.parameters), at);
        let began = at.pose(self.b).R * lift3::<S>(&state.direction);
        let d = touching.direction(began);
        let mu = S::lift(stiction.mu.of(now.parameters));
        Some((touching.pair, d * (-mu * pressed.normal(now))))
    }

    /// Returns the friction on a of a pressed contact with stiction, N, world axes.
    pub(super) fn stiction_force<S: Scalar>(&self, view: &View<S>, pressed: &Pressed<S>) -> Vec3<S> {
        let Some(stiction) = self.stiction() else {
            return Vec3::zeros();
        };
        match self.friction(&view.now, pressed) {
            Some((_, friction)) => friction,
            None => view.points.get(stiction.number).map_or_else(Vec3::zeros, |at| at.force),
        }
    }

    /// Adds the friction of surfaces that slide.
    pub(super) fn add_friction<S: Scalar>(&self, now: &Instant<S>, pressed: &Pressed<S>, applied: &mut Applied<S>) {
        if let Some((pair, friction)) = self.friction(now, pressed) {
            let F = Wrench::new(Vec3::zeros(), friction);
            pair.push(now.system, now.kinematics, applied, F);
        }
    }

    /// Writes the event indicator of the stiction of a contact that has it.
    pub(super) fn indicate_stiction(&self, now: &EventContext, discrete: &Discrete, z: &mut Cursor<f64>) {
        let Some(stiction) = self.stiction() else {
            return;
        };
        let (parameters, state) = (now.sensed.parameters, &discrete.rests[stiction.number]);
        z.number(match now.points.get(stiction.number) {
            _ if !self.is_touching(discrete) => NO_EVENT,
            Some(at) => stiction.indicator(parameters, state, at, &now.configuration().pose(self.b).R),
            None => stiction.indicator(parameters, state, &PointForce::none(), &Mat3::identity()),
        });
    }

    /// Returns true if the surfaces of a contact with contact detection touch.
    pub(crate) fn is_touching(&self, discrete: &Discrete) -> bool {
        let state = self.detection_number().map(|number| discrete.surfaces[number]);
        matches!(state, Some(ContactState::Touching { .. }))
    }

    /// Declares the output of the state of a contact with stiction.
    pub(super) fn stiction_outputs(&self, to: &mut Outputs) {
        let what = format!(
            "1 while the surfaces of contact {} stick by friction, otherwise 0",
            self.name
        );
        to.switch(Quantity::new(format!("{}.sticks", self.name), Unit::One, what));
    }
}
