//! Contacts that rest: impacts of their points, and which points rest, slide or are free
//! (`docs/theory/resting-contact.md`).

use super::closure::Rows;
use super::context::{Constants, OperatingPoint};
use super::detection::detect;
use super::evaluation::{Engine, Evaluation, joint_coordinates};
use super::events::Changes;
use super::impact_report::pairing;
use super::{Discrete, Plant};
use crate::Error;
use crate::algebra::{Mat3, Twist, Vec3};
use crate::dynamics::LeastNorm;
use crate::dynamics::impact::{Friction, NoContactForce, PointImpact, with_friction};
use crate::elements::{
    Contact, ContactState, Hold, ImpactReport, ImpactStatus, NO_SLIP, Pair, Rest, RestState, indicators,
};
use crate::event::{Event, Occurrence};
use crate::spec::Tangential;
use crate::system::{JointState, significant};
use nalgebra::{DMatrix, DVector};

/// Velocity of a point that counts as zero after impacts, m/s. Constraints are not exact to
/// round-off, and their velocities are stabilised.
const STILL: f64 = 1e-6;

/// Friction force relative to its limit above which a point counts as on the verge of sliding.
const VERGE: f64 = 1.0 - 1e-9;

/// Normal force relative to the largest below which a point counts as free.
const NO_FORCE: f64 = 1e-11;

/// Number of bisections of the restitution of an impact that would gain energy.
const BISECTIONS: usize = 30;

/// Round-off of relative velocities and accelerations, relative to those of the bodies.
const ROUND_OFF: f64 = 1e-13;

/// Gain of energy relative to that of the relative motion that counts as round-off.
const NO_GAIN: f64 = 1e-13;

/// Point whose surfaces are in contact, at an event.
struct Candidate<'a> {
    /// Index among all points that may rest.
    number: usize,
    contact: &'a Contact,
    rest: Rest,
    pair: Pair<f64>,
    /// Unit vectors along normal and tangents, columns, world axes.
    axes: Mat3<f64>,
    /// Velocity of a relative to b along these, m/s.
    u: Vec3<f64>,
    /// Attitude of b in the world.
    R_WB: Mat3<f64>,
}

impl Plant {
    /// Lets all points that rest transmit no force, before impulses: these may separate them. Returns
    /// true if there are any; [`update_rests`](Self::update_rests) then has to follow.
    pub(super) fn free_rests(&mut self, x: &[f64], discrete: &mut Discrete) -> bool {
        let of = self.base.constants();
        if discrete.rests.iter().all(|state| state.hold == Hold::Free) {
            return false;
        }
        self.evaluation.update_kinematics(of, x);
        let points = of.model.elements.detections().enumerate();
        let rests = points.filter(|(_, (_, contact, _))| contact.rest.is_some());
        for ((number, (_, contact, point)), state) in rests.zip(&mut discrete.rests) {
            if state.hold != Hold::Free {
                discrete.surfaces[number] = detect(of, &self.evaluation, contact, point).in_contact();
                state.hold = Hold::Free;
            }
        }
        self.evaluation.determine_rank(of, x, discrete);
        true
    }

    /// Updates which points of contacts rest, slide and are free, to time (s), states and the
    /// importer's inputs `u`. `is_due` tells that surfaces touch or velocities have jumped at this
    /// event; without it nothing changes unless the force or the sliding of a point requires it.
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
        is_due: bool,
        events: &mut Vec<Event>,
    ) -> Result<Changes, Error> {
        let of = self.base.constants();
        let mut changes = Changes::default();
        if of.model.elements.rest_points() == 0 || !(is_due || self.is_rest_invalid(t, x, u, discrete)) {
            return Ok(changes);
        }
        let before = discrete.rests.clone();
        self.free_rests(x, discrete);
        let of = self.base.constants();
        let evaluation = &mut self.evaluation;
        let candidates = evaluation.candidates(of, x, discrete);
        if candidates.iter().any(|candidate| candidate.u.x < -STILL) {
            changes.states = evaluation.rest_impact(of, t, x, discrete, &candidates, events)?;
            self.check_finite(t, x, discrete)?;
        }
        let of = self.base.constants();
        self.evaluation.decide(of, t, x, u, discrete, &before)?;
        changes.modes = changes.states || discrete.rests != before;
        Ok(changes)
    }

    /// Determines which points rest at the start of a run. Points that approach have an impact later,
    /// once they penetrate.
    ///
    /// # Errors
    /// As [`update_rests`](Self::update_rests).
    pub(super) fn start_rests(&mut self, t: f64, x: &[f64], u: &[f64], discrete: &mut Discrete) -> Result<(), Error> {
        let of = self.base.constants();
        if of.model.elements.rest_points() > 0 {
            let before = discrete.rests.clone();
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
    fn candidates<'a>(&mut self, of: Constants<'a>, x: &[f64], discrete: &Discrete) -> Vec<Candidate<'a>> {
        self.update_kinematics(of, x);
        let at = of.at(&self.kinematics);
        let surfaces = of.model.elements.detections().zip(&discrete.surfaces);
        let surfaces = surfaces.filter(|((_, contact, _), _)| contact.rest.is_some());
        let points = of.model.elements.rests().zip(surfaces).enumerate();
        let in_contact = points.filter(|(_, ((contact, _, point), (_, state)))| {
            let seen = detect(of, self, contact, *point);
            matches!(state, ContactState::Touching { .. }) && seen.gap <= seen.margin
        });
        in_contact
            .map(|(number, ((contact, rest, point), _))| {
                let touching = contact.touching(point, of.parameters, at);
                let axes = Mat3::from_columns(&[touching.n, touching.t[0], touching.t[1]]);
                Candidate {
                    number,
                    contact,
                    rest,
                    pair: touching.pair,
                    axes,
                    u: axes.tr_mul(&touching.u),
                    R_WB: at.pose(contact.b).R,
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
        let p = impact_impulses(of, candidates, &W, &u, ROUND_OFF * speed)
            .map_err(|reason| named(reason, candidates, t))?;
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
        before: &[RestState],
    ) -> Result<(), Error> {
        let mut candidates = self.candidates(of, x, discrete);
        candidates.retain(|candidate| candidate.u.x.abs() <= STILL);
        if candidates.is_empty() {
            return Ok(());
        }
        for candidate in &candidates {
            discrete.rests[candidate.number].hold = Hold::Sticking;
        }
        let ForceProblem { W, b, noise } = self.rest_problem(of, OperatingPoint::new(t, x, u, discrete))?;
        let frictions: Vec<Friction> = candidates
            .iter()
            .map(|candidate| candidate.friction(of, &before[candidate.number]))
            .collect();
        let start = least_norm(&W, &b, &frictions);
        let forces = with_friction(&W, &b, &frictions, &start, noise);
        let forces = forces.map_err(|reason| named(reason, &candidates, t))?;
        let most = forces.amax();
        for ((candidate, friction), f) in candidates.iter().zip(frictions).zip(forces.as_slice().chunks_exact(3)) {
            let f = Vec3::from_column_slice(f);
            let state = &mut discrete.rests[candidate.number];
            *state = candidate.state(&f, friction, most);
            if state.hold != Hold::Free
                && let Some(first) = candidate.contact.detection_number()
            {
                let point = candidate.number - candidate.rest.first;
                discrete.surfaces[first + point] = detect(of, self, candidate.contact, point).in_contact();
            }
        }
        self.determine_rank(of, x, discrete);
        Ok(())
    }

    /// Returns the accelerations of all points in contact; all of them are sticking in `at`.
    fn rest_problem(&mut self, of: Constants, at: OperatingPoint<f64>) -> Result<ForceProblem, Error> {
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
        Ok(condensed(&found?.unwrap_or_else(Rows::none), noise))
    }
}

/// Accelerations `W f + b` of the points in contact along normals and tangents (m/s²), due to forces on
/// them.
struct ForceProblem {
    W: DMatrix<f64>,
    b: DVector<f64>,
    /// Round-off of `b`.
    noise: f64,
}

impl Candidate<'_> {
    /// Returns the friction of a point in accelerations, for its state before the event.
    fn friction(&self, of: Constants, before: &RestState) -> Friction {
        let [_, mu] = self.contact.rest_coefficients(of.parameters);
        let slip = [self.u.y, self.u.z];
        let speed = (slip[0] * slip[0] + slip[1] * slip[1]).sqrt();
        let least = match before.hold {
            Hold::Sliding => 3.0 * NO_SLIP,
            Hold::Free | Hold::Sticking => STILL,
        };
        match speed > least && mu > 0.0 {
            true => Friction::Sliding {
                mu,
                direction: slip.map(|u| u / speed),
            },
            false => Friction::Coulomb { mu },
        }
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

/// Impulses of an impact along normals and tangents.
struct Impulses<'a> {
    W: &'a DMatrix<f64>,
    u: &'a DVector<f64>,
    p: &'a DVector<f64>,
    after: &'a DVector<f64>,
}

impl Impulses<'_> {
    /// Returns report and event of the points `own` of one contact, after `last`; `None` if they have
    /// no impulse, or approach no faster than the speed up to which an impact is part of resting.
    fn report(
        &self,
        of: Constants,
        t: f64,
        candidates: &[Candidate],
        own: &[usize],
        last: &ImpactReport,
    ) -> Option<(ImpactReport, Occurrence)> {
        let at = |all: &DVector<f64>, i: usize| all.fixed_rows::<3>(3 * i).into_owned();
        let first = own.first().map(|&i| &candidates[i])?;
        let fastest = own.iter().fold(0.0, |most: f64, &i| most.max(-self.u[3 * i]));
        // The report has the velocities of the point with the largest impulse.
        let &largest = own.iter().max_by(|&&i, &&j| self.p[3 * i].total_cmp(&self.p[3 * j]))?;
        if fastest <= first.rest.speed(of.parameters) || self.p[3 * largest] <= 0.0 {
            return None;
        }
        let impulse = own
            .iter()
            .fold(Vec3::zeros(), |sum, &i| sum + candidates[i].axes * at(self.p, i));
        let work = own
            .iter()
            .map(|&i| 0.5 * at(self.p, i).dot(&(at(self.u, i) + at(self.after, i))));
        let axes = candidates[largest].axes;
        let [before, after] = [self.u, self.after].map(|all| axes * at(all, largest));
        let mut report = ImpactReport {
            impulse,
            velocities: [before, after],
            energy_change: work.sum(),
            restitution: match self.u[3 * largest] {
                0.0 => 0.0,
                u_n => -self.after[3 * largest] / u_n,
            },
            ..ImpactReport::blank(ImpactStatus::Impact, last.count + 1.0, t)
        };
        let W = self.W.fixed_view::<3, 3>(3 * largest, 3 * largest).into_owned();
        let W = axes * W * axes.transpose();
        if let Some(point) = PointImpact::new(W, before, axes.column(0).into_owned()) {
            report.set_response(&point, 1.0, Tangential::Plastic);
        }
        let what = Occurrence::Impact {
            pairing: pairing(first.contact),
            impulse: impulse.norm(),
            work: significant(report.energy_change, impulse.norm() * before.norm()),
            clamped: None,
            gain: None,
        };
        Some((report, what))
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

/// Returns the impulses (N·s) of an impact of several points: Newton's restitution and Coulomb
/// friction at the velocities after the impact. Where it would gain energy, the restitution is
/// reduced until it does not: without restitution it never does.
fn impact_impulses(
    of: Constants,
    candidates: &[Candidate],
    W: &DMatrix<f64>,
    u: &DVector<f64>,
    noise: f64,
) -> Result<DVector<f64>, NoContactForce> {
    let coefficients = candidates
        .iter()
        .map(|of_point| of_point.contact.rest_coefficients(of.parameters));
    let coefficients: Vec<[f64; 2]> = coefficients.collect();
    let points: Vec<Friction> = coefficients.iter().map(|&[_, mu]| Friction::Coulomb { mu }).collect();
    let with = |part: f64| {
        let mut b = u.clone();
        for (i, (candidate, [e, _])) in candidates.iter().zip(&coefficients).enumerate() {
            if -u[3 * i] > candidate.rest.speed(of.parameters) {
                b[3 * i] *= 1.0 + part * e;
            }
        }
        let p = with_friction(W, &b, &points, &least_norm(W, &b, &points), noise)?;
        let work = 0.5 * p.dot(&(u * 2.0 + W * &p));
        Ok((work <= NO_GAIN * p.amax() * u.amax()).then_some(p))
    };
    if let Some(p) = with(1.0)? {
        return Ok(p);
    }
    let (mut fits, mut gains) = (0.0, 1.0);
    for _ in 0..BISECTIONS {
        let part = 0.5 * (fits + gains);
        match with(part)? {
            Some(_) => fits = part,
            None => gains = part,
        }
    }
    with(fits)?.map_or_else(|| Ok(DVector::zeros(u.len())), Ok)
}

/// Returns the solution of least norm of `W f + b = 0`, without tangential rows of points that slide.
fn least_norm(W: &DMatrix<f64>, b: &DVector<f64>, points: &[Friction]) -> DVector<f64> {
    let is_row = |k: usize| k.is_multiple_of(3) || matches!(points[k / 3], Friction::Coulomb { mu } if mu > 0.0);
    let rows: Vec<usize> = (0..b.len()).filter(|&k| is_row(k)).collect();
    let solved = pseudo_solution(&W.select_rows(&rows).select_columns(&rows), &-b.select_rows(&rows));
    let mut f = DVector::zeros(b.len());
    for (&row, x) in rows.iter().zip(&solved) {
        f[row] = *x;
    }
    f
}

/// Returns the solution of least norm of `W x = b` for a symmetric positive semidefinite `W`; zero if
/// its rank cannot be determined.
fn pseudo_solution(W: &DMatrix<f64>, b: &DVector<f64>) -> DVector<f64> {
    let n = b.len();
    let largest = (0..n).fold(0.0, |most: f64, k| most.max(W[(k, k)]));
    if largest <= 0.0 {
        return DVector::zeros(n);
    }
    let flat: Vec<f64> = (0..n * n).map(|k| W[(k / n, k % n)]).collect();
    let least = f64::EPSILON * largest;
    let responses: Vec<f64> = W
        .diagonal()
        .iter()
        .map(|&own| if own > least { own } else { largest })
        .collect();
    let mut solver = LeastNorm::new(n);
    let rank = solver.rank_of_rows(&flat, n);
    let mut x = b.clone();
    match solver.factor(&flat, n, rank, &responses) {
        Ok(_) => solver.solve(x.as_mut_slice()),
        Err(_) => x.fill(0.0),
    }
    x
}

/// Returns the accelerations of contact points, with the reactions of the other rows eliminated.
fn condensed(rows: &Rows, noise: f64) -> ForceProblem {
    let Rows { of_points, W, along } = rows;
    let (of_points, n) = (*of_points, along.len());
    let others = n - of_points;
    let mut b = along.rows(others, of_points).into_owned();
    let mut W_pp = W.view((others, others), (of_points, of_points)).into_owned();
    if others > 0 {
        let W_oo = W.view((0, 0), (others, others)).into_owned();
        let W_po = W.view((others, 0), (of_points, others)).into_owned();
        b -= &W_po * pseudo_solution(&W_oo, &along.rows(0, others).into_owned());
        for column in 0..of_points {
            let of_others = W.view((0, others + column), (others, 1)).column(0).into_owned();
            let reduced = &W_po * pseudo_solution(&W_oo, &of_others);
            W_pp.column_mut(column).axpy(-1.0, &reduced, 1.0);
        }
        W_pp = (&W_pp + W_pp.transpose()) * 0.5;
    }
    ForceProblem { W: W_pp, b, noise }
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
