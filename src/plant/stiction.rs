//! Compliant contacts whose surfaces stick: which stick, which slide.

use super::context::Constants;
use super::evaluation::Evaluation;
use super::events::Changes;
use super::rest::pseudo_solution;
use super::{Discrete, Plant};
use crate::Error;
use crate::algebra::{Mat3, Vec3};
use crate::elements::{Contact, Hold, NO_SLIP, Pair, PointForce, RestState, Stiction, Touching};
use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// Sliding speed at which surfaces stop, m/s.
const STOPPED: f64 = 3.0 * NO_SLIP;

/// Sliding speed up to which surfaces stop if others between the same bodies stop, m/s. They differ by
/// the errors of the integration.
const STOPPED_TOGETHER: f64 = 100.0 * NO_SLIP;

/// Largest part of a row that is not a combination of others, if the row counts as one: the square root
/// of round-off.
const DEPENDENT: f64 = 1e-7;

/// Response relative to the largest below which it is round-off.
const ROUND_OFF: f64 = 1e-10;

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
        update_yielding(&touching, discrete);
        changes.modes = changes.states || discrete.rests[first..] != before[first..];
        self.evaluation.determine_rank(self.base.constants(), x, discrete);
        Ok(changes)
    }
}

impl Evaluation<f64> {
    /// Updates which compliant contacts at the limit of their friction slide, and which yield.
    pub(super) fn update_yielding(&self, of: Constants, discrete: &mut Discrete) {
        let touching = self.touching_stictions(of, discrete, &discrete.rests);
        update_yielding(&touching, discrete);
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
        let p = &tangents * ending(W, &tangents.tr_mul(&u));
        self.add_velocity_jumps(of, x, discrete, &operator, &p, &u);
        Ok(())
    }
}

/// Returns the impulse `p` of least norm with `W p = −u`, N·s, for the responses `W` (1/kg) of the velocities
/// `u` (m/s). Contacts that stick leave round-off as the response of velocities that they determine.
fn ending(W: DMatrix<f64>, u: &DVector<f64>) -> DVector<f64> {
    let eigen = SymmetricEigen::new(W);
    let largest = eigen.eigenvalues.amax();
    let mut p = DVector::zeros(u.len());
    for (response, direction) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
        if *response > ROUND_OFF * largest {
            p.axpy(-direction.dot(u) / response, &direction, 1.0);
        }
    }
    p
}

/// Sets which of these contacts at the limit of their friction slide: those that others between the same
/// bodies do not hold.
fn update_yielding(touching: &[TouchingStiction], discrete: &mut Discrete) {
    let sticks = |at: &&TouchingStiction| discrete.rests[at.stiction.number].hold == Hold::Sticking;
    let sticking: Vec<&TouchingStiction> = touching.iter().filter(sticks).collect();
    for at in touching {
        let hold = &mut discrete.rests[at.stiction.number].hold;
        if matches!(hold, Hold::Sliding | Hold::Yielding) {
            *hold = match at.is_held_by(&sticking) {
                true => Hold::Yielding,
                false => Hold::Sliding,
            };
        }
    }
}

impl TouchingStiction {
    /// Returns true if the slip is zero because it is zero at `others`: its rows are combinations of
    /// those of the others between the same bodies. It allocates.
    fn is_held_by(&self, others: &[&TouchingStiction]) -> bool {
        let own = self.touching.pair;
        let others = others.iter().map(|other| &other.touching);
        let others: Vec<_> = others.filter(|other| other.pair.carriers() == own.carriers()).collect();
        let arms = others.iter().map(|other| other.pair.arms[0] - own.arms[0]);
        let length = arms.clone().map(|arm| arm.norm()).fold(f64::MIN_POSITIVE, f64::max);
        // Rows on velocity and angular velocity (times the length) of a relative to b at the own point.
        let mut rows = DMatrix::zeros(2 * others.len(), 6);
        for (k, (other, arm)) in others.iter().zip(arms).enumerate() {
            for (i, t) in other.t.iter().enumerate() {
                let moment = arm.cross(t) / length;
                rows.row_mut(2 * k + i)
                    .copy_from_slice(&[t.x, t.y, t.z, moment.x, moment.y, moment.z]);
            }
        }
        let W = &rows * rows.transpose();
        self.touching.t.iter().all(|t| {
            let row = DVector::from_vec(vec![t.x, t.y, t.z, 0.0, 0.0, 0.0]);
            let left = &row - rows.tr_mul(&pseudo_solution(&W, &(&rows * &row)));
            left.norm() < DEPENDENT
        })
    }

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
            Hold::Sticking | Hold::Yielding => true,
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
