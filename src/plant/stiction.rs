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

/// Load relative to the largest that contacts can hold, up to which it counts as that one.
const AT_LIMIT: f64 = 1.0 + 1e-6;

/// Friction relative to its limit above which surfaces are on the verge of sliding.
const VERGE: f64 = 1.0 - 1e-7;

/// Acceleration relative to the largest below which surfaces do not begin to slide.
const STILL: f64 = 1e-9;

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
    /// Returns the states of the compliant contacts that stick, with the indices of their points, as
    /// their friction can hold the bodies: all stick, with the forces of the largest reserve, if they can
    /// together; otherwise some slide, in the directions in which the bodies begin to move. It allocates.
    ///
    /// # Errors
    /// Those of the dynamics.
    pub(super) fn hold_together(
        &mut self,
        of: Constants,
        at: OperatingPoint<f64>,
    ) -> Result<Vec<(usize, RestState)>, Error> {
        let (rows, noise) = self.constraint_rows(of, at)?;
        let ForceProblem { W, b, noise } = condensed(&rows, rows.of_stictions.clone(), noise);
        let points = self.closure.as_ref().map_or(&[][..], |closure| closure.points());
        let now = of.at(&self.kinematics);
        let sticks = |stiction: &Stiction| at.discrete.rests[stiction.number].hold == Hold::Sticking;
        let sticking: Vec<_> = of
            .model
            .elements
            .stictions()
            .filter(|(_, stiction)| sticks(stiction))
            .collect();
        let limits: Vec<f64> = sticking
            .iter()
            .map(|(_, stiction)| stiction.limit(of.parameters, &points[stiction.number]))
            .collect();
        let Some(Shared { forces, slides }) = shared(&W, &b, &limits, noise) else {
            return Ok(Vec::new());
        };
        let states = sticking.iter().enumerate().map(|(k, (contact, stiction))| {
            let t = contact.stiction_point(of.parameters, now).t;
            let force = t[0] * forces[2 * k] + t[1] * forces[2 * k + 1];
            let force = now.pose(contact.b).R.tr_mul(&force);
            let state = match slides[k] {
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
            (stiction.number, state)
        });
        Ok(states.collect())
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

/// Friction forces of contacts that have stuck, N, two for each.
struct Shared {
    forces: DVector<f64>,
    /// True for contacts that begin to slide.
    slides: Vec<bool>,
}

/// Returns the forces of contacts with these limits (N) that stick, for the accelerations `W f + b`
/// (m/s²) along them; `None` if none are found.
fn shared(W: &DMatrix<f64>, b: &DVector<f64>, limits: &[f64], noise: f64) -> Option<Shared> {
    let Reserve { forces, ratio } = with_largest_reserve(W, b, limits)?;
    let of_limits = |forces: &DVector<f64>| {
        let of_contacts = forces.as_slice().chunks_exact(2).zip(limits);
        let ratios = of_contacts.map(|(f, limit)| libm::hypot(f[0], f[1]) / limit);
        ratios.collect::<Vec<f64>>()
    };
    if ratio <= 1.0 {
        let slides = vec![false; limits.len()];
        return Some(Shared { forces, slides });
    }
    if ratio < AT_LIMIT {
        // The contacts that limit the load are those which slide.
        let slides = of_limits(&forces).iter().map(|own| *own > VERGE * ratio).collect();
        return Some(Shared { forces, slides });
    }
    let forces = with_limits(W, b, limits, &(forces / ratio), noise)?;
    let a = W * &forces + b;
    let most = a.amax();
    let moves = |k: usize| libm::hypot(a[2 * k], a[2 * k + 1]) > STILL * most;
    let slides = of_limits(&forces).into_iter().enumerate();
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
