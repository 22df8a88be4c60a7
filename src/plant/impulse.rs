//! Impulses: velocity jumps in every formulation.

use super::context::Constants;
use super::coordinates::Coordinates;
use super::evaluation::{Balance, Evaluation};
use super::{Discrete, Model};
use crate::Error;
use crate::algebra::Twist;
use crate::elements::Pair;
use crate::spec::JointMotion;
use crate::system::{Baumgarte, Carrier};
use nalgebra::{DMatrix, DVector};

/// Response of the relative velocities at some points, and of all rates, to impulses there:
/// `u⁺ = u + W p` with `W = J M⁻¹ Jᵀ`.
///
/// `W` is computed column by column by unit impulses. At zero velocity, impulses in place of forces
/// yield velocity jumps in place of accelerations, so one call of the dynamics gives a column.
/// Positions, and with them `M` and `J`, do not change. Locked and prescribed joints keep their
/// rates.
#[derive(Clone, Debug)]
pub(super) struct Operator {
    /// Symmetric response matrix, rows of one pair after the other; 1/(kg·m²) between moments, 1/kg
    /// between forces.
    pub W: DMatrix<f64>,
    /// Velocity jumps of each unit impulse.
    jumps: Vec<Jump>,
}

/// Velocity jumps of an impulse.
#[derive(Clone, Debug)]
struct Jump {
    /// Jumps of the states' rates.
    rates: Vec<f64>,
    /// Impulses of the joints' drives and brakes, one for each rate.
    drive: Vec<f64>,
}

/// Returns the components of the pairs' relative motions, rows of one pair after the other; `of`
/// returns the motion of a carrier.
fn relative(pairs: &[Pair<f64>], of: impl Fn(Carrier) -> Twist<f64>) -> DVector<f64> {
    let rows = pairs
        .iter()
        .flat_map(|pair| pair.components(&pair.relative(&of))[pair.rows()].to_vec());
    DVector::from_vec(rows.collect())
}

impl Operator {
    /// Returns the relative velocities (rad/s and m/s) after the impulses `p` (N·m·s and N·s), from
    /// those before.
    pub fn after(&self, u: &DVector<f64>, p: &DVector<f64>) -> DVector<f64> {
        u + &self.W * p
    }
}

impl Evaluation<f64> {
    /// Returns the relative velocity of each pair at its point, rad/s (of pairs with moments) and
    /// m/s, world axes, rows of one pair after the other. It uses the kinematics of
    /// [`update_kinematics`](Self::update_kinematics).
    pub(super) fn velocities(&self, pairs: &[Pair<f64>]) -> DVector<f64> {
        relative(pairs, |on| self.kinematics.carrier(on).V_WB)
    }

    /// Prepares the evaluation of velocity jumps: kinematics at the positions of `x` and zero
    /// rates, no loads, locked and prescribed joints driven. Dry friction, whose torque is limited,
    /// has no impulse. Returns the states with zero rates. It allocates.
    pub(super) fn at_rest(&mut self, of: Constants, x: &[f64], discrete: &Discrete) -> Vec<f64> {
        let mut still = x.to_vec();
        self.come_to_rest(of, &mut still, discrete);
        still
    }

    /// Sets the rates of `still` to zero and prepares as [`at_rest`](Self::at_rest).
    fn come_to_rest(&mut self, of: Constants, still: &mut [f64], discrete: &Discrete) {
        let model = of.model;
        model.split_mut(still).rates.fill(0.0);
        self.update_kinematics_with(of, Baumgarte::NONE, still);
        self.applied.clear();
        for drive in &model.elements.drives {
            self.applied.driven[drive.body] = drive.motion_now(&discrete.motions) != JointMotion::Loads;
            self.applied.qdd[drive.rates()].fill(0.0);
        }
        for friction in &model.elements.sticking {
            if friction.is_free(&discrete.motions) {
                self.applied.driven[friction.body] = false;
            }
        }
    }

    /// Computes the response of some pairs to impulses. It allocates.
    ///
    /// # Errors
    /// [`Error::Singular`] if a part without inertia receives an impulse.
    pub(super) fn operator(
        &mut self,
        of: Constants,
        x: &[f64],
        discrete: &Discrete,
        pairs: &[Pair<f64>],
    ) -> Result<Operator, Error> {
        let model = of.model;
        let system = &model.system;
        let still = self.at_rest(of, x, discrete);
        let rows: Vec<_> = pairs
            .iter()
            .flat_map(|pair| pair.rows().map(move |row| (pair, row)))
            .collect();
        let mut W = DMatrix::zeros(rows.len(), rows.len());
        let mut jumps = Vec::with_capacity(rows.len());
        let mut jump = vec![0.0; x.len()];
        for (column, (pair, row)) in rows.into_iter().enumerate() {
            self.applied.clear();
            pair.push(system, &self.kinematics, &mut self.applied, pair.unit(row));
            self.accelerate(of, &still, discrete, Balance::IMPULSE, &mut jump)?;
            let rates = model.split(&jump).rates;
            let of_joints = match model.coordinates {
                Coordinates::Minimal => rates,
                Coordinates::Maximal(_) | Coordinates::Velocities(_) => &self.qdd,
            };
            let change = |on: Carrier| self.kinematics.beyond_bias_of(system, on, self.dynamics.A(), of_joints);
            W.set_column(column, &relative(pairs, change));
            jumps.push(Jump {
                rates: rates.to_vec(),
                drive: self.dynamics.drive.clone(),
            });
        }
        // `W` is symmetric but for round-off.
        let W = (&W + W.transpose()) * 0.5;
        Ok(Operator { W, jumps })
    }

    /// Applies the impulses `p` of the operator's rows (N·m·s and N·s) at the relative velocities
    /// `u` before: adds the velocity jumps to the rates, and the work of impulses and drives to the
    /// work state.
    pub(super) fn add_velocity_jumps(
        &mut self,
        of: Constants,
        x: &mut [f64],
        discrete: &Discrete,
        operator: &Operator,
        p: &DVector<f64>,
        u: &DVector<f64>,
    ) {
        let model = of.model;
        // Without impulse the states stay bitwise equal, even the sign of a zero.
        if p.iter().all(|&p| p == 0.0) {
            return;
        }
        let mut work = 0.5 * p.dot(&(u + operator.after(u, p)));
        let qd = self.coordinates(of, x).qd.to_vec();
        let to = model.split_mut(x);
        for (jump, &p) in operator.jumps.iter().zip(p) {
            for (rate, change) in to.rates.iter_mut().zip(&jump.rates) {
                *rate += change * p;
            }
            for drive in &model.elements.drives {
                if drive.motion_now(&discrete.motions) != JointMotion::Loads {
                    work += drive.rates().map(|v| jump.drive[v] * p * qd[v]).sum::<f64>();
                }
            }
        }
        to.work.iter_mut().for_each(|done| *done += work);
    }

    /// Locks the joints of the bodies that `is_locked` selects: impulses at the joints end their
    /// rates. Momentum and the rates of other driven joints do not change. It allocates, except in
    /// models with friction that sticks.
    ///
    /// The velocity jumps are computed as accelerations at zero velocity, without loads, with the
    /// required jumps of the driven rates as prescribed accelerations.
    ///
    /// # Errors
    /// [`Error::Singular`] if a part without inertia receives an impulse.
    pub(super) fn lock(
        &mut self,
        of: Constants,
        x: &mut [f64],
        discrete: &Discrete,
        is_locked: impl Fn(usize) -> bool,
    ) -> Result<(), Error> {
        let mut work = std::mem::take(&mut self.lock);
        let locked = self.lock_with(of, x, discrete, is_locked, &mut work);
        self.lock = work;
        locked
    }

    fn lock_with(
        &mut self,
        of: Constants,
        x: &mut [f64],
        discrete: &Discrete,
        is_locked: impl Fn(usize) -> bool,
        LockWorkspace { qd, still, jump }: &mut LockWorkspace,
    ) -> Result<(), Error> {
        let model = of.model;
        let copy = |to: &mut Vec<f64>, from: &[f64]| {
            to.clear();
            to.extend_from_slice(from);
        };
        copy(qd, self.coordinates(of, x).qd);
        copy(still, x);
        copy(jump, x);
        self.come_to_rest(of, still, discrete);
        let bodies = || model.system.bodies.iter().enumerate();
        for (i, body) in bodies().filter(|(i, _)| is_locked(*i)) {
            self.applied.driven[i] = true;
            for v in body.joint.v..body.joint.v + body.joint.nv {
                self.applied.qdd[v] = -qd[v];
            }
        }
        self.accelerate(of, still, discrete, Balance::IMPULSE, jump)?;
        let (to, jump) = (model.split_mut(x), model.split(jump));
        to.rates
            .iter_mut()
            .zip(jump.rates)
            .for_each(|(rate, jump)| *rate += jump);
        for (i, body) in bodies().filter(|(i, _)| self.applied.driven[*i]) {
            for v in body.joint.v..body.joint.v + body.joint.nv {
                // The work of an impulse is that at the mean of the rates before and after.
                let rate = qd[v] + 0.5 * self.applied.qdd[v];
                to.work
                    .iter_mut()
                    .for_each(|work| *work += self.dynamics.drive[v] * rate);
                if let (true, Coordinates::Minimal) = (is_locked(i), &model.coordinates) {
                    to.rates[v] = 0.0;
                }
            }
        }
        Ok(())
    }
}

/// Workspace for locking joints.
#[derive(Clone, Debug, Default)]
pub(super) struct LockWorkspace {
    /// Rates of joints, modes and nodes before.
    qd: Vec<f64>,
    /// States with zero rates.
    still: Vec<f64>,
    /// Jumps of the states.
    jump: Vec<f64>,
}

impl LockWorkspace {
    /// Allocates for a model with friction that sticks; empty for others.
    pub fn new(model: &Model) -> Self {
        let (nv, nx) = match model.elements.sticking.is_empty() {
            true => (0, 0),
            false => (model.system.nv, model.states.len()),
        };
        Self {
            qd: Vec::with_capacity(nv),
            still: Vec::with_capacity(nx),
            jump: Vec::with_capacity(nx),
        }
    }
}
