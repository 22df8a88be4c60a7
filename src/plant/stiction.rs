//! Compliant contacts whose surfaces stick: which stick, which slide.

use super::context::{Constants, OperatingPoint};
use super::evaluation::Evaluation;
use super::events::Changes;
use super::rest::{ForceProblem, condensed};
use super::{Discrete, Plant};
use crate::Error;
use crate::algebra::{Mat3, Vec3};
use crate::dynamics::impact::{Reserve, truncated_solution, with_largest_reserve, with_limits};
use crate::elements::{Contact, Hold, NO_SLIP, Pair, PointForce, RestState, Stiction, Touching};
use nalgebra::{DMatrix, DVector};

/// Sliding speed at which surfaces stop, m/s.
const STOPPED: f64 = 3.0 * NO_SLIP;

/// Sliding speed up to which surfaces stop if others between the same bodies stop, m/s. They differ by
/// the errors of the integration.
const STOPPED_TOGETHER: f64 = 100.0 * NO_SLIP;

/// Friction relative to its limit below which no contact is to be released.
const BELOW_LIMIT: f64 = 1.0 - 1e-12;

/// Load relative to the largest that contacts can hold, up to which it counts as that one.
const AT_LIMIT: f64 = 1.0 + 1e-6;

/// Friction relative to its limit above which surfaces are on the verge of sliding.
const VERGE: f64 = 1.0 - 1e-7;

/// Acceleration relative to the largest below which surfaces do not begin to slide.
const STILL: f64 = 1e-9;

/// Response to another contact, relative to those to the own friction, below which it is round-off.
const UNCOUPLED: f64 = 1e-12;

/// Compliant contact whose surfaces touch, at an event.
struct TouchingStiction {
    stiction: Stiction,
    touching: Touching<f64>,
    /// Velocity of a relative to b along the surface, m/s, world axes.
    slip: Vec3<f64>,
    /// Attitude of b in the world.
    R_WB: Mat3<f64>,
    before: RestState,
}

impl Plant {
    /// Updates which compliant contacts stick and which slide, to the states at the time `t` (s);
    /// `before` are the states of all points before this event. `has_jumped` is true if rates have
    /// jumped at this event.
    ///
    /// Surfaces that have lost their slip stick: an impulse ends the rest of it, of the order of the
    /// hysteresis, and conserves momentum. Friction beyond its limit is left to the release of joints
    /// and contacts that stick.
    ///
    /// # Errors
    /// Those of the dynamics; [`Error::NotFinite`] if an impulse leads to values that are not finite.
    pub(super) fn update_stictions(
        &mut self,
        t: f64,
        x: &mut [f64],
        discrete: &mut Discrete,
        before: &[RestState],
        has_jumped: bool,
    ) -> Result<Changes, Error> {
        let of = self.base.constants();
        let first = of.model.elements.resting_points();
        if first == of.model.elements.rest_points() {
            return Ok(Changes::default());
        }
        let evaluation = &mut self.evaluation;
        evaluation.update_kinematics(of, x);
        let touching = evaluation.touching_stictions(of, discrete, before);
        discrete.rests[first..].fill(RestState::default());
        let mut stopping = Vec::new();
        for (index, at) in touching.iter().enumerate() {
            let next = at.next(of, &touching, has_jumped);
            if next.hold == Hold::Sticking && at.before.hold != Hold::Sticking && at.speed() > 0.0 {
                stopping.push(index);
            } else {
                discrete.rests[at.stiction.number] = next;
            }
        }
        let mut changes = Changes::default();
        if !stopping.is_empty() {
            let stopping: Vec<&TouchingStiction> = stopping.into_iter().map(|index| &touching[index]).collect();
            evaluation.determine_rank(of, x, discrete);
            evaluation.end_slip(of, x, discrete, &stopping)?;
            for at in stopping {
                discrete.rests[at.stiction.number].hold = Hold::Sticking;
            }
            changes.states = true;
            self.check_finite(t, x, discrete)?;
        }
        changes.modes = changes.states || discrete.rests[first..] != before[first..];
        self.evaluation.determine_rank(self.base.constants(), x, discrete);
        Ok(changes)
    }
}

impl Evaluation<f64> {
    /// Returns new states of compliant contacts that stick, with the indices of their points, where the
    /// friction of one exceeds its limit in the last solution: those that are coupled by bodies stick on,
    /// with the forces whose largest ratio to the limits is least, if this is at most one; otherwise some
    /// slide, in the directions in which the bodies begin to move. It allocates.
    ///
    /// # Errors
    /// Those of the dynamics.
    pub(super) fn hold_together(
        &mut self,
        of: Constants,
        at: OperatingPoint<f64>,
    ) -> Result<Vec<(usize, RestState)>, Error> {
        let now = of.at(&self.kinematics);
        let points = self.closure.as_ref().map_or(&[][..], |closure| closure.points());
        let stictions = of.model.elements.stictions();
        let sticking = stictions.filter(|(_, stiction)| at.discrete.rests[stiction.number].hold == Hold::Sticking);
        let sticking: Vec<Stuck> = sticking
            .map(|(contact, stiction)| Stuck {
                number: stiction.number,
                limit: stiction.limit(of.parameters, &points[stiction.number]),
                t: contact.stiction_point(of.parameters, now).t,
                R_WB: now.pose(contact.b).R,
            })
            .collect();
        let forces = sticking
            .iter()
            .flat_map(|stuck| stuck.t.map(|t| t.dot(&points[stuck.number].force)));
        let present = DVector::from_vec(forces.collect());
        // The friction of points at rest that slide is in the present forces. Their rows without it have
        // reactions along them.
        let mut frictionless = at.discrete.clone();
        let first = of.model.elements.resting_points();
        frictionless.rests[..first]
            .iter_mut()
            .for_each(|state| state.direction = Vec3::zeros());
        let at = OperatingPoint::new(at.t, at.x, at.u, &frictionless);
        let (rows, noise) = self.constraint_rows(of, at)?;
        let ForceProblem { W, noise, .. } = condensed(&rows, rows.of_stictions.clone(), noise);
        let mut states = Vec::new();
        for own in coupled(&W) {
            let rows: Vec<usize> = own.iter().flat_map(|k| [2 * k, 2 * k + 1]).collect();
            let limits: Vec<f64> = own.iter().map(|&k| sticking[k].limit).collect();
            let (W, present) = (W.select_rows(&rows).select_columns(&rows), present.select_rows(&rows));
            if ratios(&present, &limits).iter().all(|ratio| *ratio < BELOW_LIMIT) {
                continue;
            }
            if let Some(Shared { forces, slides }) = shared(&W, &present, &limits, noise) {
                let of_own = own.iter().zip(forces.as_slice().chunks_exact(2)).zip(slides);
                states.extend(of_own.map(|((&k, force), slides)| sticking[k].next([force[0], force[1]], slides)));
            }
        }
        Ok(states)
    }

    /// Returns the compliant contacts whose surfaces touch and have friction, at the present kinematics.
    fn touching_stictions(&self, of: Constants, discrete: &Discrete, before: &[RestState]) -> Vec<TouchingStiction> {
        let at = of.at(&self.kinematics);
        let acts =
            |(contact, stiction): &(&Contact, Stiction)| contact.is_touching(discrete) && stiction.acts(of.parameters);
        let contacts = of.model.elements.stictions().filter(acts);
        contacts
            .map(|(contact, stiction)| {
                let touching = contact.stiction_point(of.parameters, at);
                TouchingStiction {
                    stiction,
                    slip: touching.slip(),
                    touching,
                    R_WB: at.pose(contact.b).R,
                    before: before[stiction.number],
                }
            })
            .collect()
    }

    /// Ends the slip of contacts by an impulse along the surfaces. It allocates.
    fn end_slip(
        &mut self,
        of: Constants,
        x: &mut [f64],
        discrete: &Discrete,
        stopping: &[&TouchingStiction],
    ) -> Result<(), Error> {
        let pairs: Vec<Pair<f64>> = stopping.iter().map(|at| at.touching.pair).collect();
        let operator = self.operator(of, x, discrete, &pairs)?;
        let mut tangents = DMatrix::zeros(3 * pairs.len(), 2 * pairs.len());
        for (k, at) in stopping.iter().enumerate() {
            for (i, t) in at.touching.t.iter().enumerate() {
                tangents.fixed_view_mut::<3, 1>(3 * k, 2 * k + i).copy_from(t);
            }
        }
        let u = stopping
            .iter()
            .flat_map(|at| [at.touching.u.x, at.touching.u.y, at.touching.u.z]);
        let u = DVector::from_vec(u.collect());
        let W = tangents.tr_mul(&operator.W) * &tangents;
        // Contacts that stick leave round-off as the response of velocities that they determine. What is
        // not finite is reported with the states.
        if let Some((p, _)) = truncated_solution(&W, &tangents.tr_mul(&u)) {
            self.add_velocity_jumps(of, x, discrete, &operator, &(&tangents * p), &u);
        }
        Ok(())
    }
}

/// Compliant contact that sticks.
struct Stuck {
    /// Index of its point.
    number: usize,
    /// Largest friction, N.
    limit: f64,
    /// Unit vectors along the surface, world axes.
    t: [Vec3<f64>; 2],
    /// Attitude of b in the world.
    R_WB: Mat3<f64>,
}

impl Stuck {
    /// Returns the state of the surfaces with this friction along the tangents, N, and the index of the
    /// point.
    fn next(&self, force: [f64; 2], slides: bool) -> (usize, RestState) {
        let force = self.R_WB.tr_mul(&(self.t[0] * force[0] + self.t[1] * force[1]));
        let state = match slides {
            true => RestState {
                hold: Hold::Sliding,
                direction: -force.normalize(),
                ..RestState::default()
            },
            false => RestState {
                hold: Hold::Sticking,
                reference: force,
                ..RestState::default()
            },
        };
        (self.number, state)
    }
}

/// Friction forces of contacts that have stuck, N, two for each.
struct Shared {
    forces: DVector<f64>,
    /// True for contacts that begin to slide.
    slides: Vec<bool>,
}

/// Returns the contacts that respond to each other's friction, by the responses `W` with two rows for
/// each contact: lists of their indices.
fn coupled(W: &DMatrix<f64>) -> Vec<Vec<usize>> {
    let responds = |i: usize, j: usize| {
        let block = |i: usize, j: usize| W.fixed_view::<2, 2>(2 * i, 2 * j).amax();
        block(i, j) > UNCOUPLED * (block(i, i) * block(j, j)).sqrt()
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for k in 0..W.nrows() / 2 {
        let (own, mut others): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .partition(|group| group.iter().any(|&other| responds(k, other)));
        others.push(own.into_iter().flatten().chain([k]).collect());
        groups = others;
    }
    groups
}

/// Returns the ratios of the sizes of forces to limits.
fn ratios(forces: &DVector<f64>, limits: &[f64]) -> Vec<f64> {
    let of_contacts = forces.as_slice().chunks_exact(2).zip(limits);
    of_contacts.map(|(f, limit)| libm::hypot(f[0], f[1]) / limit).collect()
}

/// Returns the forces of contacts with these limits (N) and responses `W` (1/kg) that stick with the
/// `present` forces; `None` if none are found.
fn shared(W: &DMatrix<f64>, present: &DVector<f64>, limits: &[f64], noise: f64) -> Option<Shared> {
    let b = -(W * present);
    let Reserve { forces, ratio } = with_largest_reserve(W, &b, limits)?;
    if ratio <= 1.0 {
        let slides = vec![false; limits.len()];
        return Some(Shared { forces, slides });
    }
    if ratio < AT_LIMIT {
        // The contacts that limit the load are those which slide.
        let slides = ratios(&forces, limits).iter().map(|own| *own > VERGE * ratio).collect();
        return Some(Shared { forces, slides });
    }
    let forces = with_limits(W, &b, limits, &(forces / ratio), noise)?;
    let a = W * &forces + &b;
    let most = a.amax();
    let moves = |k: usize| libm::hypot(a[2 * k], a[2 * k + 1]) > f64::max(STILL * most, 10.0 * noise);
    let slides = ratios(&forces, limits).into_iter().enumerate();
    let slides = slides.map(|(k, own)| own > VERGE && moves(k)).collect();
    Some(Shared { forces, slides })
}

impl TouchingStiction {
    /// Returns the sliding speed, m/s.
    fn speed(&self) -> f64 {
        self.slip.norm()
    }

    /// Returns true if sliding surfaces have reversed, or turned away from the direction in which the
    /// sliding began.
    fn has_turned(&self, of: Constants) -> bool {
        let at = PointForce {
            slip: self.slip,
            ..PointForce::none()
        };
        self.before.hold == Hold::Sliding
            && self.stiction.indicator(of.parameters, &self.before, &at, &self.R_WB) <= 0.0
    }

    /// Returns the state of the surfaces; `all` are all contacts.
    fn next(&self, of: Constants, all: &[TouchingStiction], has_jumped: bool) -> RestState {
        let stops = |other: &&TouchingStiction| other.has_turned(of) && other.speed() <= STOPPED;
        let with_others = || {
            let mut own = all
                .iter()
                .filter(|other| other.touching.pair.carriers() == self.touching.pair.carriers());
            self.speed() <= STOPPED_TOGETHER && own.any(|other| stops(&other))
        };
        let stays = match self.before.hold {
            _ if has_jumped => false,
            Hold::Free => false,
            Hold::Sticking => true,
            Hold::Sliding => !self.has_turned(of) && !with_others(),
        };
        let sticks = self.speed() <= STOPPED || self.before.hold == Hold::Sliding && with_others();
        match (stays, sticks) {
            (true, _) => self.before,
            (false, true) => RestState {
                hold: Hold::Sticking,
                ..RestState::default()
            },
            (false, false) => RestState {
                hold: Hold::Sliding,
                direction: self.R_WB.tr_mul(&(self.slip / self.speed())),
                ..RestState::default()
            },
        }
    }
}
