//! Contacts that rest: impacts of their points, and which points rest, slide or are free
//! (`docs/theory/resting-contact.md`).

mod friction;
mod impulses;
mod problem;
mod report;

#[cfg(feature = "inside")]
test_modules![impulses::tests];

use super::closure::Rows;
use super::context::{Constants, OperatingPoint};
use super::detection::detect;
use super::evaluation::{Engine, Evaluation, joint_coordinates};
use super::events::Changes;
use super::rims::{PointPressure, turn_rims};
use super::{Discrete, Plant};
use crate::Error;
use crate::algebra::{Mat3, Twist, Vec3};
use crate::dynamics::impact::{Friction, NoContactForce, with_friction};
use crate::elements::{Contact, ContactState, FacePair, Hold, Pair, Rest, RestState, RimState, indicators};
use crate::event::Event;
use crate::system::JointState;
use friction::frictions;
use impulses::{impact_impulses, settled};
use nalgebra::{DMatrix, DVector};
pub(super) use problem::{ForceProblem, condensed};
use problem::{inconsistency, least_norm, within_cones};
use report::Impulses;

/// Velocity of a point that counts as zero after impacts, m/s. Constraints are not exact to
/// round-off, and their velocities are stabilised.
const STILL: f64 = 1e-6;

/// Friction force relative to its limit above which a point counts as on the verge of sliding.
const VERGE: f64 = 1.0 - 1e-9;

/// Normal force relative to the largest below which a point counts as free.
const NO_FORCE: f64 = 1e-11;

/// Largest number of turns of points on rims at one event.
const MOST_TURNS: usize = 8;

/// Round-off of relative velocities and accelerations, relative to those of the bodies.
const ROUND_OFF: f64 = 1e-13;

/// Reason for which the states of points that may rest are determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RestsDue {
    /// Only the force or the sliding of a point.
    IfInvalid,
    /// Surfaces touch.
    Touched,
    /// Velocities have jumped at this event.
    Jumped,
}

/// Points that may rest, before an event.
pub(super) struct RestsBefore {
    pub due: RestsDue,
    pub rests: Vec<RestState>,
    rims: Vec<RimState>,
    manifolds: Vec<FacePair>,
    /// True for points that were kept in contact: what separates them is integration error, which
    /// their constraints reduce.
    held: Vec<bool>,
    /// Velocity along the normal of points that were kept in contact, up to which they stay so, m/s.
    drift: Vec<f64>,
}

/// Points in contact with their frictions and forces.
struct Solved<'a> {
    candidates: Vec<Candidate<'a>>,
    frictions: Vec<Friction>,
    /// N, along the axes of the candidates, three numbers for each.
    forces: DVector<f64>,
}

/// Point whose surfaces are in contact, at an event.
struct Candidate<'a> {
    /// Index among all points that may rest.
    number: usize,
    contact: &'a Contact,
    rest: Rest,
    pair: Pair<f64>,
    /// Distance of the surfaces, m.
    gap: f64,
    /// Unit vectors along normal and tangents, columns, world axes.
    axes: Mat3<f64>,
    /// Velocity of a relative to b along these, m/s.
    u: Vec3<f64>,
    /// Attitude of b in the world.
    R_WB: Mat3<f64>,
    /// True if the point was kept in contact before the event.
    was_held: bool,
    /// True if other impulses act at this event.
    has_jumped: bool,
}

impl RestsBefore {
    pub fn new(of: Constants, discrete: &Discrete) -> Self {
        let held = of.model.elements.rests();
        let held = held.map(|(contact, rest, point)| discrete.keeps_touching(contact, rest, point));
        Self {
            due: RestsDue::IfInvalid,
            rests: discrete.rests.clone(),
            rims: discrete.rims.clone(),
            manifolds: discrete.manifolds.clone(),
            held: held.collect(),
            drift: vec![0.0; discrete.rests.len()],
        }
    }

    /// Returns the points before an event at other states, in which none was kept in contact.
    pub fn elsewhere(discrete: &Discrete) -> Self {
        Self {
            due: RestsDue::Jumped,
            rests: discrete.rests.clone(),
            rims: discrete.rims.clone(),
            manifolds: discrete.manifolds.clone(),
            held: vec![false; discrete.rests.len()],
            drift: vec![0.0; discrete.rests.len()],
        }
    }
}

impl Plant {
    /// Lets all points that rest, and compliant contacts that stick, transmit no force, before impulses.
    /// Returns true if there are any; [`update_stictions`](Self::update_stictions) and
    /// [`update_rests`](Self::update_rests) then have to follow.
    pub(super) fn free_rests(&mut self, x: &[f64], discrete: &mut Discrete) -> bool {
        let of = self.base.constants();
        if discrete.rests.iter().all(|state| state.hold == Hold::Free) {
            return false;
        }
        self.evaluation.update_kinematics(of, x);
        let points = of.model.elements.detections().enumerate();
        let rests = points.filter(|(_, (_, contact, _))| contact.rest.is_some());
        let RestsBefore { held, .. } = RestsBefore::new(of, discrete);
        for (state, (number, (_, contact, point))) in rests.enumerate() {
            if held[state] {
                discrete.surfaces[number] = detect(of, &self.evaluation, discrete, contact, point).in_contact();
            }
            discrete.rests[state].hold = Hold::Free;
        }
        discrete.free_stictions(&of.model.elements);
        self.evaluation.determine_rank(of, x, discrete);
        true
    }

    /// Updates which points of contacts rest, slide and are free, to time (s), states and the
    /// importer's inputs `u`; `before` has their states before this event. If only the force or the
    /// sliding of a point may be the reason, nothing changes unless these require it.
    ///
    /// Points that approach have an impact, all of them and those that rest together. Then the points
    /// without normal velocity rest as the accelerations of all of them require.
    ///
    /// # Errors
    /// [`Error::Jammed`], [`Error::NoContactForce`]; those of the dynamics.
    pub(super) fn update_rests(
        &mut self,
        t: f64,
        x: &mut [f64],
        u: &[f64],
        discrete: &mut Discrete,
        mut before: RestsBefore,
        events: &mut Vec<Event>,
    ) -> Result<Changes, Error> {
        let of = self.base.constants();
        let mut changes = Changes::default();
        let is_due = before.due != RestsDue::IfInvalid;
        let first = of.model.elements.resting_points();
        if first == 0 || !(is_due || self.is_rest_invalid(t, x, u, discrete)) {
            return Ok(changes);
        }
        let held = discrete.rests.clone();
        self.free_rests(x, discrete);
        let of = self.base.constants();
        let evaluation = &mut self.evaluation;
        evaluation.update_kinematics(of, x);
        evaluation.flatten(of, discrete);
        let candidates = evaluation.candidates(of, x, discrete, &before);
        for candidate in candidates.iter().filter(|candidate| !candidate.has_jumped) {
            before.drift[candidate.number] = candidate.u.x.max(0.0);
        }
        if candidates.iter().any(|candidate| candidate.has_impact(of)) {
            changes.states = evaluation.rest_impact(of, t, x, discrete, &candidates, events)?;
            if changes.states {
                before.due = RestsDue::Jumped;
            }
            self.check_finite(t, x, discrete)?;
        }
        discrete.rests[first..].copy_from_slice(&held[first..]);
        if changes.states {
            self.update_stictions(t, x, discrete, &held, true)?;
        }
        let of = self.base.constants();
        self.evaluation.decide(of, t, x, u, discrete, &before)?;
        self.slide_overloaded(t, x, u, discrete);
        changes.modes = changes.states
            || discrete.rests != before.rests
            || discrete.rims != before.rims
            || discrete.manifolds != before.manifolds;
        Ok(changes)
    }

    /// Determines which points rest at the start of a run. Points that approach have an impact later,
    /// once they penetrate.
    ///
    /// # Errors
    /// As [`update_rests`](Self::update_rests).
    pub(super) fn start_rests(&mut self, t: f64, x: &[f64], u: &[f64], discrete: &mut Discrete) -> Result<(), Error> {
        let of = self.base.constants();
        if of.model.elements.resting_points() > 0 {
            let before = RestsBefore::new(of, discrete);
            self.evaluation.decide(of, t, x, u, discrete, &before)?;
        }
        Ok(())
    }

    /// Returns true if the force or the sliding of a point requires another state.
    fn is_rest_invalid(&mut self, t: f64, x: &[f64], u: &[f64], discrete: &Discrete) -> bool {
        let of = self.base.constants();
        if discrete.rests.iter().all(|state| state.hold == Hold::Free) {
            return false;
        }
        let now = self.evaluation.event_context(of, t, x, u, discrete);
        let at = now.configuration();
        let states = discrete.rests.iter().zip(now.points);
        let mut points = of.model.elements.rests().zip(states);
        points.any(|((contact, ..), (state, point))| {
            let [_, mu] = contact.rest_coefficients(of.parameters);
            indicators(mu, state, point, &at.pose(contact.b))
                .iter()
                .any(|z| *z <= 0.0)
        })
    }
}

impl Evaluation<f64> {
    /// Returns the points whose surfaces are in contact at the states `x`.
    fn candidates<'a>(
        &mut self,
        of: Constants<'a>,
        x: &[f64],
        discrete: &Discrete,
        before: &RestsBefore,
    ) -> Vec<Candidate<'a>> {
        self.update_kinematics(of, x);
        let at = of.at(&self.kinematics);
        let surfaces = of.model.elements.detections().zip(&discrete.surfaces);
        let surfaces = surfaces.filter(|((_, contact, _), _)| contact.rest.is_some());
        let points = of.model.elements.rests().zip(surfaces).enumerate();
        let in_contact = points.filter(|(number, ((contact, _, point), (_, state)))| {
            let seen = detect(of, self, discrete, contact, *point);
            matches!(state, ContactState::Touching { .. }) && (before.held[*number] || seen.gap <= seen.margin)
        });
        in_contact
            .map(|(number, ((contact, rest, point), _))| {
                let touching = contact.touching(point, of.parameters, discrete, at);
                let axes = Mat3::from_columns(&[touching.n, touching.t[0], touching.t[1]]);
                Candidate {
                    number,
                    contact,
                    rest,
                    pair: touching.pair,
                    gap: touching.gap,
                    axes,
                    u: axes.tr_mul(&touching.u),
                    R_WB: at.pose(contact.b).R,
                    was_held: before.held[number],
                    has_jumped: before.due == RestsDue::Jumped,
                }
            })
            .collect()
    }

    /// Applies the impulses of an impact of all candidates together; returns true if there are any.
    fn rest_impact(
        &mut self,
        of: Constants,
        t: f64,
        x: &mut [f64],
        discrete: &mut Discrete,
        candidates: &[Candidate],
        events: &mut Vec<Event>,
    ) -> Result<bool, Error> {
        let pairs: Vec<Pair<f64>> = candidates.iter().map(|candidate| candidate.pair).collect();
        let speed = largest(self.kinematics.bodies.iter().map(|body| body.V_WB));
        let operator = self.operator(of, x, discrete, &pairs)?;
        let W = in_axes(&operator.W, candidates);
        let u = DVector::from_iterator(
            3 * candidates.len(),
            candidates.iter().flat_map(|of| [of.u.x, of.u.y, of.u.z]),
        );
        let noise = ROUND_OFF * speed + inconsistency(candidates, &u);
        let p = impact_impulses(of, candidates, &W, &u, noise).map_err(|reason| named(reason, candidates, t))?;
        let p = settled(of, candidates, &W, &u, p);
        let after = &u + &W * &p;
        let world: Vec<Vec3<f64>> = candidates
            .iter()
            .zip(p.as_slice().chunks_exact(3))
            .map(|(candidate, p)| candidate.axes * Vec3::from_column_slice(p))
            .collect();
        let impulses = DVector::from_vec(world.iter().flat_map(|p| [p.x, p.y, p.z]).collect());
        let u_world = candidates.iter().map(|candidate| candidate.axes * candidate.u);
        let u_world = DVector::from_vec(u_world.flat_map(|u| [u.x, u.y, u.z]).collect());
        self.add_velocity_jumps(of, x, discrete, &operator, &impulses, &u_world);
        let solved = Impulses {
            W: &W,
            u: &u,
            p: &p,
            after: &after,
        };
        for (index, contact) in of.model.elements.contacts.iter().enumerate() {
            let own: Vec<usize> = (0..candidates.len())
                .filter(|&i| std::ptr::eq(candidates[i].contact, contact))
                .collect();
            if let Some((report, what)) = solved.report(of, t, candidates, &own, &discrete.reports[index]) {
                discrete.reports[index] = report;
                events.push(Event { t, what });
            }
        }
        Ok(p.iter().any(|p| *p != 0.0))
    }

    /// Determines which points rest and slide, at the velocities of `x`, from the accelerations;
    /// `before` are the states before the event.
    fn decide(
        &mut self,
        of: Constants,
        t: f64,
        x: &[f64],
        u: &[f64],
        discrete: &mut Discrete,
        before: &RestsBefore,
    ) -> Result<(), Error> {
        loop {
            if let Some(solved) = self.solve_rests(of, t, x, u, discrete, before)? {
                self.hold(of, discrete, solved);
            }
            if !self.unflatten(of, discrete) {
                break;
            }
        }
        self.determine_rank(of, x, discrete);
        Ok(())
    }

    /// Sets the states of points in contact with their forces.
    fn hold(&self, of: Constants, discrete: &mut Discrete, solved: Solved) {
        let most = solved.forces.amax();
        let points = solved.candidates.iter().zip(solved.frictions);
        for ((candidate, friction), f) in points.zip(solved.forces.as_slice().chunks_exact(3)) {
            let f = Vec3::from_column_slice(f);
            let state = &mut discrete.rests[candidate.number];
            *state = candidate.state(&f, friction, most);
            if state.hold != Hold::Free
                && let Some(first) = candidate.contact.detection_number()
            {
                let point = candidate.number - candidate.rest.first;
                discrete.surfaces[first + point] = detect(of, self, discrete, candidate.contact, point).in_contact();
            }
        }
    }

    /// Determines the forces of the points in contact that have no velocity along the normal, N along
    /// normal and tangents; `None` if there are none. Points on rims are turned to where they are
    /// needed. All these points are then sticking.
    fn solve_rests<'a>(
        &mut self,
        of: Constants<'a>,
        t: f64,
        x: &[f64],
        u: &[f64],
        discrete: &mut Discrete,
        before: &RestsBefore,
    ) -> Result<Option<Solved<'a>>, Error> {
        for turns in 0.. {
            let mut candidates = self.candidates(of, x, discrete, before);
            candidates.retain(|candidate| match candidate.was_held {
                true => candidate.u.x <= before.drift[candidate.number] + STILL,
                false => candidate.u.x.abs() <= STILL,
            });
            if candidates.is_empty() {
                break;
            }
            for candidate in &candidates {
                discrete.rests[candidate.number].hold = Hold::Sticking;
            }
            let (rows, noise) = self.constraint_rows(of, OperatingPoint::new(t, x, u, discrete))?;
            let ForceProblem { W, b, noise } = condensed(&rows, rows.of_points.clone(), noise);
            let frictions = frictions(of, &candidates, before);
            let start = least_norm(&W, &b, &frictions);
            let noise = noise + inconsistency(&candidates, &b);
            let forces = with_friction(&W, &b, &frictions, &start, noise);
            let forces = forces.map_err(|reason| named(reason, &candidates, t))?;
            let forces = within_cones(&W, &forces, &frictions).unwrap_or(forces);
            // The centre of pressure of a face that sticks is that of forces which may pull: it is
            // outside the face if the solid tips.
            let slides = |friction: &Friction| matches!(friction, Friction::Sliding { .. });
            let held = match frictions.iter().any(slides) {
                true => &forces,
                false => &start,
            };
            if turns == MOST_TURNS || !self.turn(of, discrete, &candidates, &forces, held) {
                return Ok(Some(Solved {
                    candidates,
                    frictions,
                    forces,
                }));
            }
        }
        Ok(None)
    }

    /// Turns the points of all contacts on rims to where the solution needs them; returns true if one
    /// has been turned.
    fn turn(
        &self,
        of: Constants,
        discrete: &mut Discrete,
        candidates: &[Candidate],
        forces: &DVector<f64>,
        held: &DVector<f64>,
    ) -> bool {
        let mut turned = false;
        let contacts = of.model.elements.contacts.iter();
        for contact in contacts.filter(|contact| contact.rest.is_some_and(|rest| rest.rims.is_some())) {
            let own = candidates.iter().enumerate();
            let points: Vec<PointPressure> = own
                .filter(|(_, candidate)| std::ptr::eq(candidate.contact, contact))
                .map(|(i, candidate)| PointPressure {
                    point: candidate.number - candidate.rest.first,
                    normal: forces[3 * i],
                    held: held[3 * i],
                })
                .collect();
            turned |= turn_rims(of, self, discrete, contact, &points);
        }
        turned
    }

    /// Returns the rows of all constraints, and the round-off of their accelerations, m/s². No point at rest
    /// slides with friction in `at`.
    pub(super) fn constraint_rows(&mut self, of: Constants, at: OperatingPoint<f64>) -> Result<(Rows, f64), Error> {
        self.read_inputs(of, at.t, at.u, at.x, at.discrete);
        self.load_at(of, at.x, at.discrete)?;
        let mut qdd = std::mem::take(&mut self.qdd);
        let JointState { q, qd } = joint_coordinates(self.recovered.as_deref(), &of.model.split(at.x));
        let solved = self
            .dynamics
            .solve(of.at(&self.kinematics), &self.applied, q, &mut qdd)
            .map_err(|singular| of.model.named(singular));
        let biases = self.kinematics.bodies.iter().map(|body| body.A_bias);
        let noise = ROUND_OFF * (largest(self.dynamics.A().iter().copied()) + largest(biases));
        let found = solved.map(|()| {
            self.closure.as_mut().map(|closure| {
                let engine = Engine {
                    kinematics: &self.kinematics,
                    applied: &mut self.applied,
                    dynamics: &mut self.dynamics,
                };
                closure.problem(of, at.discrete, engine, JointState { q, qd }, &mut qdd)
            })
        });
        self.qdd = qdd;
        Ok((found?.unwrap_or_else(Rows::none), noise))
    }
}

impl Candidate<'_> {
    /// Returns true if the point approaches, other than by the integration errors of one that was kept
    /// in contact.
    fn has_impact(&self, of: Constants) -> bool {
        let most = match self.was_held && !self.has_jumped {
            true => self.rest.speed(of.parameters),
            false => STILL,
        };
        self.u.x < -most
    }

    /// Returns the state of a point with the force `f` along normal and tangents (N); `most` is the
    /// largest force of all points.
    fn state(&self, f: &Vec3<f64>, friction: Friction, most: f64) -> RestState {
        if f.x <= NO_FORCE * most {
            return RestState::default();
        }
        let along = |t: [f64; 2]| self.R_WB.tr_mul(&(self.axes * Vec3::new(0.0, t[0], t[1])));
        let size = (f.y * f.y + f.z * f.z).sqrt();
        let (hold, direction) = match friction {
            Friction::Sliding { direction, .. } => (Hold::Sliding, along(direction)),
            Friction::Coulomb { mu: 0.0 } => (Hold::Sliding, Vec3::zeros()),
            Friction::Coulomb { mu } if size < VERGE * mu * f.x => (Hold::Sticking, Vec3::zeros()),
            Friction::Coulomb { .. } => (Hold::Sliding, along([-f.y / size, -f.z / size])),
        };
        RestState {
            hold,
            direction,
            reference: self.R_WB.tr_mul(&(self.axes * f)),
        }
    }
}

/// Returns the largest velocity or acceleration of bodies, m/s or m/s²; angular ones count per metre.
fn largest(motions: impl Iterator<Item = Twist<f64>>) -> f64 {
    motions.fold(0.0, |most, motion| most.max(motion.v.norm() + motion.w.norm()))
}

/// Returns the response `W` between pairs in the axes of the candidates.
fn in_axes(W: &DMatrix<f64>, candidates: &[Candidate]) -> DMatrix<f64> {
    let mut turned = DMatrix::zeros(W.nrows(), W.ncols());
    for (i, a) in candidates.iter().enumerate() {
        for (j, b) in candidates.iter().enumerate() {
            let block = a.axes.tr_mul(&(W.fixed_view::<3, 3>(3 * i, 3 * j) * b.axes));
            turned.fixed_view_mut::<3, 3>(3 * i, 3 * j).copy_from(&block);
        }
    }
    (&turned + turned.transpose()) * 0.5
}

/// Returns the error with the contact of the point.
fn named(reason: NoContactForce, candidates: &[Candidate], t: f64) -> Error {
    let of = |i: usize| {
        let contact = candidates[i].contact;
        (contact.name.clone(), contact.names.clone())
    };
    match reason {
        NoContactForce::Jammed(i) => {
            let (contact, frames) = of(i);
            Error::Jammed { contact, frames, t }
        }
        NoContactForce::Unsolved(i) => {
            let (contact, frames) = of(i);
            Error::NoContactForce { contact, frames, t }
        }
    }
}
