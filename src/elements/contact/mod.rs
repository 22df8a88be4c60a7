//! Contacts between two frames: impacts, captures and compliant contact forces.

mod capture;
mod compliant;
mod declare;
mod detection;
mod manifold;
mod outline;
mod report;
mod rest;
mod rim;
mod shape;
mod stiction;
mod surface;
mod touching;

#[cfg(feature = "inside")]
test_modules![detection::tests];

pub use capture::Capture;
pub(crate) use capture::Captured;
pub(crate) use detection::{BOTTOMLESS, ContactState, Detected, MOST_IMPACTS, Transition};
pub use manifold::Manifold;
pub(crate) use manifold::{FacePair, Slot, SlotKind};
pub(crate) use outline::Outline;
pub(crate) use report::{ImpactReport, ImpactStatus};
pub use rest::Rest;
pub(crate) use rest::{Hold, NO_SLIP, PointForce, RestState, indicators};
pub(crate) use rim::{QUARTERS, RimState};
pub use shape::{Solid, nearest, rate_bound, wall_width};
pub use stiction::Stiction;
pub use surface::Nearest;
pub(crate) use touching::{RestingFrames, Touching};

use super::{
    Compiler, Cursor, Discrete, Element, EventContext, Instant, Invariance, Outputs, Reads, Stored, Values, View,
    Watched,
};
use crate::Problem;
use crate::algebra::fused::{dot, product_back, rotated, rotated_back};
use crate::algebra::{Facet, Mask, Mat3, Pose, Scalar, Vec3, Wrench, lift3};
use crate::dynamics::Applied;
use crate::dynamics::impact::Law;
use crate::spec::{Inconsistent, Spec, Tangential};
use crate::system::{Configuration, FrameRef, ParamId, Quantity, System, Unit};
use compliant::{Compliant, Pressed};
use shape::{Polyhedron, Shapes};
use surface::Surface;

/// Value of the event indicator of captured surfaces, m: positive, as they cause no event.
const CAPTURED: f64 = 1.0;

/// Relative round-off of a distance, with a margin.
const ROUND_OFF: f64 = 1e-9;

/// Two frames and the law of their contact.
#[derive(Clone, Debug)]
pub struct Contact {
    /// Index among the contacts.
    number: usize,
    /// Name in the spec.
    pub name: String,
    /// Names of the two frames.
    pub names: [String; 2],
    /// Frame on which the impulse or force acts.
    pub a: FrameRef,
    /// Frame on which the reverse of the impulse or force acts.
    pub b: FrameRef,
    /// Normal from b towards a, axes of b; `None` for shapes, which have their own.
    normal: Option<ParamId>,
    /// Condition under which the contact acts.
    trigger: Trigger,
    law: ContactLaw,
    /// Points that may rest; `None` if the contact has impacts or forces only.
    pub rest: Option<Rest>,
    /// True if a coefficient of friction is written in the spec.
    rubs: bool,
}

/// Condition under which a contact acts.
#[derive(Clone, Debug)]
enum Trigger {
    /// Command, with the parameter of the largest distance of the frames at which it acts.
    Command(ParamId),
    /// Contact detection between surfaces, with the index among the contacts that have it.
    Touch(usize, Surface),
    /// Contact detection between shapes, with the index among the contacts that have detection.
    Shapes(usize, Shapes),
}

/// Impact law with the parameter indices of its coefficients, a capture, or a compliant force.
#[derive(Clone, Copy, Debug)]
enum ContactLaw {
    Restitution {
        e: ParamId,
        e_t: ParamId,
        mu: ParamId,
    },
    EnergyFriction {
        r_E: ParamId,
        r_f: ParamId,
        tangential: Tangential,
        on_inconsistent: Inconsistent,
    },
    Stronge {
        e: ParamId,
        mu: ParamId,
    },
    Capture(Capture),
    Compliant(Compliant),
}

impl Contact {
    /// Returns the capture law, `None` if the contact does not capture.
    pub fn capture(&self) -> Option<Capture> {
        match self.law {
            ContactLaw::Capture(capture) => Some(capture),
            _ => None,
        }
    }

    /// Returns the impact law with its coefficients; `None` for a capture or a compliant contact.
    pub fn law(&self, parameters: &[f64]) -> Option<Law> {
        match self.law {
            ContactLaw::Restitution { e, e_t, mu } => Some(Law::Restitution {
                e: e.of(parameters),
                e_t: e_t.of(parameters),
                mu: mu.of(parameters),
            }),
            ContactLaw::EnergyFriction {
                r_E,
                r_f,
                tangential,
                on_inconsistent,
            } => Some(Law::EnergyFriction {
                r_E: r_E.of(parameters),
                r_f: r_f.of(parameters),
                tangential,
                on_inconsistent,
            }),
            ContactLaw::Stronge { e, mu } => Some(Law::Stronge {
                e: e.of(parameters),
                mu: mu.of(parameters),
            }),
            ContactLaw::Capture(_) | ContactLaw::Compliant(_) => None,
        }
    }

    /// Returns true if the contact is a force, without impulses.
    pub fn is_compliant(&self) -> bool {
        matches!(self.law, ContactLaw::Compliant(_))
    }

    /// Returns the index among the contacts with contact detection, `None` for a commanded contact.
    pub fn detection_number(&self) -> Option<usize> {
        match self.trigger {
            Trigger::Touch(number, _) | Trigger::Shapes(number, _) => Some(number),
            Trigger::Command(_) => None,
        }
    }

    /// Returns the number of points with contact detection.
    pub fn point_count(&self) -> usize {
        match (self.detection_number(), &self.rest) {
            (None, _) => 0,
            (Some(_), None) => 1,
            (Some(_), Some(rest)) => rest.count,
        }
    }

    /// Returns true if the surface of b is one-sided (a disc): a point that comes from behind makes
    /// no contact.
    pub fn has_back(&self) -> bool {
        matches!(self.trigger, Trigger::Touch(_, surface) if surface.is_disc())
    }

    /// Returns the shapes of both frames, `None` without.
    fn shapes(&self) -> Option<&Shapes> {
        match &self.trigger {
            Trigger::Shapes(_, shapes) => Some(shapes),
            Trigger::Touch(..) | Trigger::Command(_) => None,
        }
    }

    /// Returns the faces of both shapes, if both are polyhedra.
    fn facets(&self) -> Option<[&[Facet]; 2]> {
        self.shapes().and_then(Shapes::facets)
    }

    /// Returns both shapes, if both are polyhedra.
    pub(crate) fn polyhedra(&self, parameters: &[f64]) -> Option<[Polyhedron<'_>; 2]> {
        self.shapes().and_then(|shapes| shapes.polyhedra(parameters))
    }

    /// Returns the words of the spec for the shapes of both frames, `None` without.
    pub fn shape_names(&self) -> Option<[&'static str; 2]> {
        self.shapes().map(Shapes::names)
    }

    /// Returns the poses of a and b in the world.
    pub(crate) fn poses<S: Scalar>(&self, of: Configuration<S>) -> [Pose<S>; 2] {
        [self.a, self.b].map(|frame| of.pose(frame))
    }

    /// Returns the pose of a relative to b from the poses of both: the position of its origin (m,
    /// axes of b) and its rotation matrix.
    #[inline]
    pub fn relative_pose<S: Scalar>([A, B]: &[Pose<S>; 2]) -> (Vec3<S>, Mat3<S>) {
        (rotated_back(&B.R, &(A.p - B.p)), product_back(&B.R, &A.R))
    }

    /// Returns the largest distance at which a command acts, m; `None` for contact detection.
    pub fn reach(&self, parameters: &[f64]) -> Option<f64> {
        match self.trigger {
            Trigger::Command(reach) => Some(reach.of(parameters)),
            Trigger::Touch(..) | Trigger::Shapes(..) => None,
        }
    }

    /// Returns the nearest points of the surfaces for frames at the poses `A` and `B`. Frames
    /// without surfaces are points, with the normal of the spec.
    pub fn nearest<S: Scalar>(&self, parameters: &[f64], [A, B]: [&Pose<S>; 2]) -> Nearest<S> {
        let normal = || {
            let written = self.normal.and_then(|normal| normal.direction(parameters));
            rotated(&B.R, &lift3::<S>(&written.unwrap_or_else(Vec3::zeros)))
        };
        match &self.trigger {
            Trigger::Touch(_, surface) => surface.nearest(parameters, [A, B], normal()),
            Trigger::Shapes(_, shapes) => shapes.nearest(parameters, [A, B]),
            Trigger::Command(_) => {
                let n = normal();
                Nearest {
                    gap: dot(&n, &(A.p - B.p)),
                    n,
                    from_a: (B.p - A.p) * S::lift(0.5),
                    is_beside: false,
                }
            }
        }
    }

    /// Returns [`nearest`](Self::nearest) for the poses at an instant.
    pub fn nearest_now<S: Scalar>(&self, now: &Instant<S>) -> Nearest<S> {
        let [A, B] = [self.a, self.b].map(|frame| now.kinematics.pose(now.system, now.derived, frame));
        self.nearest(S::numbers(now.parameters), [&A, &B])
    }

    /// Returns the compliant contact at an instant, `None` if the surfaces do not penetrate.
    fn pressed<S: Scalar>(&self, now: &Instant<S>) -> Option<Pressed<S>> {
        let ContactLaw::Compliant(law) = self.law else {
            return None;
        };
        if S::FUSES && self.is_apart(now) {
            return None;
        }
        let [A, B] = [self.a, self.b].map(|frame| now.kinematics.pose(now.system, now.derived, frame));
        // Without the search for the nearest points if spheres about the shapes are apart.
        if let Some(reach) = self
            .shapes()
            .and_then(|shapes| shapes.reach(S::numbers(now.parameters)))
        {
            let (d, reach) = (A.p - B.p, reach * (1.0 + ROUND_OFF));
            let may_touch = (S::lift(reach * reach) - dot(&d, &d)).exceeds(0.0);
            if !may_touch.is_needed() {
                return None;
            }
        }
        law.press(
            now,
            [self.a, self.b],
            &self.nearest(S::numbers(now.parameters), [&A, &B]),
        )
    }

    /// Returns true if the values of the poses show without a search that the surfaces are apart,
    /// so that a record has no operations of the contact.
    fn is_apart<S: Scalar>(&self, now: &Instant<S>) -> bool {
        let [A, B] = [self.a, self.b].map(|frame| now.kinematics.pose_values(now.system, now.derived, frame));
        match self.shapes() {
            Some(shapes) => (shapes.reach(S::numbers(now.parameters)))
                .is_some_and(|reach| (A.p - B.p).norm() > reach * (1.0 + ROUND_OFF)),
            None => self.nearest(S::numbers(now.parameters), [&A, &B]).gap >= 0.0,
        }
    }

    /// Returns true if the gap may have several minima within a step, so that they are found by the
    /// bound of its rate.
    pub fn needs_rate_bound(&self) -> bool {
        self.shapes().is_some_and(Shapes::need_rate_bound)
    }

    /// Returns the reason for which a compliant force may jump with the position; `None` without.
    pub fn jumps(&self, parameters: &[f64], of: Configuration<f64>) -> Option<String> {
        let shapes = self.shapes().filter(|_| self.is_compliant())?;
        shapes.touching_along_a_line(parameters, &self.poses(of), &self.names)
    }

    /// Returns the compliant contact force on a, N, world axes, with the friction of surfaces that
    /// stick.
    fn compliant_force<S: Scalar>(&self, view: &View<S>) -> Vec3<S> {
        let pressed = self.pressed(&view.now);
        pressed.map_or_else(Vec3::zeros, |pressed| {
            pressed.spring() + pressed.dissipation(&view.now) + self.stiction_force(view, &pressed)
        })
    }

    /// Returns the compliant contact force on a without [`Stiction`], N, world axes.
    pub fn force<S: Scalar>(&self, now: &Instant<S>) -> Vec3<S> {
        let force = |pressed: Pressed<S>| pressed.spring() + pressed.dissipation(now);
        self.pressed(now).map_or_else(Vec3::zeros, force)
    }

    /// Returns the wrench of the compliant contact on a about the point `p` (m), world axes.
    pub fn wrench_about<S: Scalar>(&self, now: &Instant<S>, p: &Vec3<S>) -> Wrench<S> {
        let r = now.configuration().pose(self.a).p + self.nearest_now(now).from_a - p;
        Wrench::new(Vec3::zeros(), self.force(now)).shift(&r)
    }
}

impl Element for Contact {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        declare::contacts(from)
    }

    /// Reports a normal without a direction, and gains that do not draw two ANCF beams together.
    fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        let gains = self
            .capture()
            .filter(|_| self.joins_beams())
            .map(|capture| capture.gain_ids());
        for gain in gains.into_iter().flatten().filter(|gain| gain.of(of.values) == 0.0) {
            let what = "zero: the capture of two ANCF beams draws them together, which needs positive gains".to_owned();
            super::report(of.declared, gain, problems, what);
        }
        if let Some(normal) = self.normal.filter(|normal| normal.direction(of.values).is_none()) {
            let what = format!("the normal of contact \"{}\" has zero length", self.name);
            super::report(of.declared, normal, problems, what);
        }
        if let Some(shapes) = self.shapes() {
            shapes.validate(&of, problems);
        }
    }

    fn outputs(&self, _: &Spec, system: &System, to: &mut Outputs) {
        let (name, [a, b]) = (&self.name, &self.names);
        if self.detection_number().is_some() {
            let what = format!("gap between {a} and the surface of {b}; negative is penetration");
            let invariance = Invariance::Objective.when(system.move_together([self.a, self.b]));
            to.invariant(invariance, [Quantity::new(format!("{name}.gap"), Unit::Metre, what)]);
        }
        if self.is_compliant() {
            let what = format!("force of contact {name} on {a}, inertial axes");
            to.continuous(Quantity::vector(&format!("{name}.force"), Unit::Newton, &what));
        } else {
            ImpactReport::outputs(self, to);
        }
        if self.rest.is_some() {
            self.rest_outputs(to);
        }
        if self.stiction().is_some() {
            self.stiction_outputs(to);
        }
        if let Some(capture) = self.capture() {
            capture.outputs(self, to);
        }
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        if self.detection_number().is_some() {
            y.number(self.nearest_now(&view.now).gap);
        }
        if self.is_compliant() {
            y.vector(&self.compliant_force(view));
        } else {
            view.discrete.reports[self.number].write(&mut |number| y.number(S::lift(number)));
        }
        if self.rest.is_some() {
            self.rest_wrench(view.points).iter().for_each(|part| y.vector(part));
            let counts = self.resting(view.discrete);
            counts.iter().for_each(|&count| y.number(S::lift(count as f64)));
        }
        if let Some(stiction) = self.stiction() {
            y.flag(view.discrete.rests[stiction.number].hold == Hold::Sticking);
        }
        if let Some(capture) = self.capture() {
            let closed = &view.closed[capture.number];
            y.flag(closed.held);
            closed.observe(y);
        }
    }

    fn reads(&self) -> Reads {
        Reads::MOTION.when(self.is_compliant())
    }

    fn reads_world(&self, system: &System) -> bool {
        (self.is_compliant() || self.capture().is_some() || self.rest.is_some())
            && !system.move_together([self.a, self.b])
    }

    fn works_on_bodies(&self) -> bool {
        self.is_compliant()
    }

    /// Adds the damper force and the friction of a compliant contact.
    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        if let Some(pressed) = self.pressed(now) {
            pressed.push(now, pressed.dissipation(now), applied);
            self.add_friction(now, &pressed, applied);
        }
    }

    /// Adds the spring force of a compliant contact.
    fn add_conservative<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        if let Some(pressed) = self.pressed(now) {
            pressed.push(now, pressed.spring(), applied);
        }
    }

    fn add_of_step<S: Scalar>(&self, now: &Instant<S>, h: f64, _q_0: &[f64], applied: &mut Applied<S>) {
        if let (ContactLaw::Compliant(law), Trigger::Touch(_, surface)) = (self.law, &self.trigger) {
            let frames = [self.a, self.b];
            let nearest = self.nearest_now(now);
            let half = S::lift(0.5 * h);
            let at = |frame: FrameRef| {
                let (on, arm) = (
                    now.system.carrier(frame),
                    now.kinematics.arm(now.system, now.derived, frame).p,
                );
                let V = now.kinematics.carrier(on).V_WB;
                (
                    now.kinematics.pose(now.system, now.derived, frame).p,
                    V.shift(&arm).v,
                    V.w,
                )
            };
            let ((p_a, v_a, _), (p_b, v_b, w_b)) = (at(self.a), at(self.b));
            let motion = [p_a - p_b, (v_a - v_b) * half, w_b * half];
            let (gaps, pace) = surface.ends_of_step(S::numbers(now.parameters), nearest.n, motion);
            law.add_of_step(now, frames, &nearest, (gaps, pace), applied);
        }
    }

    fn potential_energy<S: Scalar>(&self, now: &Instant<S>) -> Option<S> {
        self.pressed(now).map(|pressed| pressed.energy())
    }
    fn indicator_count(&self) -> usize {
        let of_rest = self.rest.map_or(0, |rest| {
            rest.count * self.rest_indicators() + usize::from(rest.rims.is_some() || rest.manifold.is_some())
        });
        self.point_count() + of_rest + usize::from(self.stiction().is_some())
    }

    fn watches(&self) -> Watched {
        Watched {
            kinematics: self.detection_number().is_some(),
            points: self.rest.is_some() || self.stiction().is_some(),
            ..Watched::default()
        }
    }

    /// Writes the indicator of surfaces. Their states are updated by the plant, since a contact may
    /// cause an impact or a capture.
    fn indicate(&self, now: &EventContext, discrete: &Discrete, z: &mut Cursor<f64>) {
        let Some(first) = self.detection_number() else {
            return;
        };
        let parameters = now.sensed.parameters;
        let skips = |point| discrete.is_held_together(self, point);
        self.detect_points(parameters, discrete, now.configuration(), skips, |point, seen| {
            z.number(seen.map_or(CAPTURED, |seen| seen.indicator(discrete.surfaces[first + point])));
        });
        if let Some(rest) = &self.rest {
            let B = now.configuration().pose(self.b);
            for number in rest.points() {
                let (state, at) = (&discrete.rests[number], now.points.get(number));
                self.indicate_rest(parameters, &B, state, at, z);
            }
            self.indicate_rims(now.configuration(), discrete, z);
            self.indicate_manifold(parameters, now.configuration(), discrete, z);
        }
        self.indicate_stiction(now, discrete, z);
    }

    /// Bounds the rate of the gap of separated shapes with several minima within a step.
    fn bound_rates(&self, now: &EventContext, discrete: &Discrete, rates: &mut Cursor<f64>) {
        if let Some(number) = self.detection_number() {
            let is_apart = discrete.surfaces[number] == ContactState::Apart && !discrete.is_captured(self);
            rates.number(match is_apart && self.needs_rate_bound() {
                true => {
                    self.detect(0, now.sensed.parameters, discrete, now.configuration())
                        .fastest
                }
                false => 0.0,
            });
            (1..self.indicator_count()).for_each(|_| rates.number(0.0));
        }
    }
}
