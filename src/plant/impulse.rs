//! Impulses: what they do to all rates at once, in every formulation.

use super::Discrete;
use super::context::Constants;
use super::coordinates::Coordinates;
use super::evaluation::{Balance, Evaluation};
use crate::Error;
use crate::algebra::Twist;
use crate::loads::{Drive, Pair};
use crate::spec::JointMotion;
use crate::system::{Baumgarte, Carrier};
use nalgebra::{DMatrix, DVector};

/// How impulses at some points change the velocities there, and all rates: `u⁺ = u + W p` with `W = J M⁻¹ Jᵀ`.
///
/// `W` is found by unit impulses, one after the other, through the formulation. What is at rest and gets impulses for loads has jumps of rates
/// for their derivatives; deflections, attitudes and places stay, and with them `M` and `J`. Joints that are held or driven keep their rates.
#[derive(Clone, Debug)]
pub(super) struct Operator {
    /// Symmetric: the rows of one pair after the other, of moments 1/(kg·m²), of forces 1/kg.
    pub W: DMatrix<f64>,
    /// What each unit impulse does.
    jumps: Vec<Jump>,
}

/// What an impulse does.
#[derive(Clone, Debug)]
struct Jump {
    /// To the states' rates.
    rates: Vec<f64>,
    /// What it asks of the drives and brakes of joints, one for each rate.
    drive: Vec<f64>,
}

/// The rows of the relative motions of some pairs.
fn relative(pairs: &[Pair<f64>], of: impl Fn(Carrier) -> Twist<f64>) -> DVector<f64> {
    let rows = pairs
        .iter()
        .flat_map(|pair| pair.components(&pair.relative(&of))[pair.rows()].to_vec());
    DVector::from_vec(rows.collect())
}

impl Operator {
    /// The relative velocities after the impulses `p` (N·m·s and N·s), of those before.
    pub fn after(&self, u: &DVector<f64>, p: &DVector<f64>) -> DVector<f64> {
        u + &self.W * p
    }
}

impl Evaluation<f64> {
    /// The relative velocity of each pair at its point, rad/s (of those with moments) and m/s, world axes, the rows of one pair after the other; after
    /// [`update_kinematics`](Self::update_kinematics).
    pub(super) fn velocities(&self, pairs: &[Pair<f64>]) -> DVector<f64> {
        relative(pairs, |on| self.kinematics.carrier(on).V_WB)
    }

    /// The system where it is, at rest and without loads, its joints moving as they do: with its states. Memory is taken for them.
    pub(super) fn at_rest(&mut self, of: Constants, x: &[f64], discrete: &Discrete) -> Vec<f64> {
        let model = of.model;
        let mut still = x.to_vec();
        model.split_mut(&mut still).rates.fill(0.0);
        self.update_kinematics_with(of, Baumgarte::NONE, &still);
        self.applied.clear();
        for drive in &model.loads.drives {
            self.applied.driven[drive.body] = drive.motion_now(&discrete.motions) != JointMotion::Loads;
            self.applied.qdd[drive.rates()].fill(0.0);
        }
        still
    }

    /// The operator of some pairs. Memory is taken for it.
    ///
    /// # Errors
    /// [`Error::Singular`] if something moves no inertia.
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
        // Round-off alone parts it from its transpose.
        let W = (&W + W.transpose()) * 0.5;
        Ok(Operator { W, jumps })
    }

    /// Lets the impulses `p` act in the operator's rows (N·m·s and N·s), where the relative velocities are `u`: rates jump, and the work of impulses and drives is counted.
    pub(super) fn strike(
        &mut self,
        of: Constants,
        x: &mut [f64],
        discrete: &Discrete,
        operator: &Operator,
        p: &DVector<f64>,
        u: &DVector<f64>,
    ) {
        let model = of.model;
        // None at all: not even the sign of a zero changes.
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
            for drive in &model.loads.drives {
                if drive.motion_now(&discrete.motions) != JointMotion::Loads {
                    work += drive.rates().map(|v| jump.drive[v] * p * qd[v]).sum::<f64>();
                }
            }
        }
        to.work.iter_mut().for_each(|done| *done += work);
    }

    /// Takes the rates of the joints of some drives away, by impulses at those joints: momentum stays as it is, and so do the rates of other joints that are
    /// driven. Memory is taken for it.
    ///
    /// An impulse `j` on the driven rates changes all rates by `M⁻¹ j`, and `j` is such that the driven ones change as they should: the dynamics at rest, without
    /// loads, with those changes as prescribed accelerations.
    ///
    /// # Errors
    /// [`Error::Singular`] if something moves no inertia.
    pub(super) fn lock(
        &mut self,
        of: Constants,
        x: &mut [f64],
        discrete: &Discrete,
        locks: impl Fn(&Drive) -> bool,
    ) -> Result<(), Error> {
        let model = of.model;
        let qd = self.coordinates(of, x).qd.to_vec();
        let still = self.at_rest(of, x, discrete);
        for drive in model.loads.drives.iter().filter(|drive| locks(drive)) {
            for v in drive.rates() {
                self.applied.qdd[v] = -qd[v];
            }
        }
        let mut jump = vec![0.0; x.len()];
        self.accelerate(of, &still, discrete, Balance::IMPULSE, &mut jump)?;
        let (to, jump) = (model.split_mut(x), model.split(&jump));
        to.rates
            .iter_mut()
            .zip(jump.rates)
            .for_each(|(rate, jump)| *rate += jump);
        for drive in &model.loads.drives {
            for v in drive.rates() {
                // Half of what it was and what it is.
                let rate = qd[v] + 0.5 * self.applied.qdd[v];
                to.work
                    .iter_mut()
                    .for_each(|work| *work += self.dynamics.drive[v] * rate);
                if let (true, Coordinates::Minimal) = (locks(drive), &model.coordinates) {
                    to.rates[v] = 0.0;
                }
            }
        }
        Ok(())
    }
}
