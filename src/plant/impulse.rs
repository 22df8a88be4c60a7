//! Impulses: what they do to all rates at once, in every formulation.

use super::coordinates::Coordinates;
use super::evaluation::Evaluation;
use super::{Discrete, Model};
use crate::Error;
use crate::algebra::{Twist, Vec3, Wrench};
use crate::loads::Drive;
use crate::spec::JointMotion;
use crate::system::{Baumgarte, Carrier, Derived};
use nalgebra::{DMatrix, DVector};

/// Two frames that meet at a point: an impulse there acts on the first, and in reverse on the second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    /// What carries the first.
    pub a: Carrier,
    /// What carries the second.
    pub b: Carrier,
    /// From the origins of what carries them to where they meet, m, world axes.
    pub arms: [Vec3<f64>; 2],
    /// Whether a moment acts too.
    pub turns: bool,
}

impl Pair {
    /// How many rows it has: along the world's axes, then about them.
    pub fn rows(&self) -> usize {
        if self.turns { 6 } else { 3 }
    }

    /// The wrench on the first where they meet, of a unit in one row.
    fn unit(row: usize) -> Wrench<f64> {
        let axis = |first: usize| Vec3::from_fn(|i, _| f64::from(u8::from(first + i == row)));
        Wrench::new(axis(3), axis(0))
    }
}

/// How impulses at some points change the velocities there, and all rates: `u⁺ = u + W p` with `W = J M⁻¹ Jᵀ`.
///
/// `W` is found by unit impulses, one after the other, through the formulation. What is at rest and gets impulses for loads has jumps of rates
/// for their derivatives; deflections, attitudes and places stay, and with them `M` and `J`. Joints that are held or driven keep their rates.
#[derive(Clone, Debug)]
pub(super) struct Operator {
    /// 1/kg, symmetric: the rows of one pair after the other, world axes. Of moments 1/(kg·m²).
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

impl Evaluation<f64> {
    /// The relative velocity of each pair where they meet, m/s (and rad/s), world axes, one below the other; after [`stand`](Self::stand).
    pub(super) fn velocities(&self, pairs: &[Pair]) -> DVector<f64> {
        let kinematics = &self.kinematics;
        let velocity = |on: Carrier| {
            let at = on.of(&kinematics.bodies, &kinematics.stations);
            at.map_or_else(Twist::zero, |at| at.V_WB)
        };
        self.relative(pairs, velocity)
    }

    /// The same of any motion of what carries the frames, given about its origin.
    fn relative(&self, pairs: &[Pair], of: impl Fn(Carrier) -> Twist<f64>) -> DVector<f64> {
        let rows = pairs.iter().flat_map(|pair| {
            let [a, b] = pair.arms;
            let Twist { w, v } = of(pair.a).shift(&a) - of(pair.b).shift(&b);
            [v.x, v.y, v.z, w.x, w.y, w.z].into_iter().take(pair.rows())
        });
        DVector::from_vec(rows.collect())
    }

    /// The system where it is, at rest and without loads, its joints moving as they do: with its states. Memory is taken for them.
    fn at_rest(&mut self, model: &Model, (derived, x): (&Derived, &[f64]), discrete: &Discrete) -> Vec<f64> {
        let mut still = x.to_vec();
        model.split_mut(&mut still).rates.fill(0.0);
        self.place(model, derived, Baumgarte::NONE, &still);
        self.applied.clear();
        for drive in &model.loads.drives {
            self.applied.driven[drive.body] = drive.motion_now(model.motions(&discrete.modes)) != JointMotion::Loads;
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
        model: &Model,
        (derived, x): (&Derived, &[f64]),
        discrete: &Discrete,
        pairs: &[Pair],
    ) -> Result<Operator, Error> {
        let system = &model.system;
        let still = self.at_rest(model, (derived, x), discrete);
        let rows = pairs
            .iter()
            .flat_map(|pair| (0..pair.rows()).map(move |row| (pair, row)));
        let n = pairs.iter().map(Pair::rows).sum();
        let mut W = DMatrix::zeros(n, n);
        let mut jumps = Vec::with_capacity(n);
        let mut jump = vec![0.0; x.len()];
        for (column, (pair, row)) in rows.enumerate() {
            self.applied.clear();
            let (unit, [a, b]) = (Pair::unit(row), pair.arms);
            for (on, F) in [(pair.a, unit.shift(&a)), (pair.b, (Wrench::zero() - unit).shift(&b))] {
                self.applied.push(system, &self.kinematics, on, F);
            }
            self.accelerate(model, (derived, None), (0.0, discrete), &still, &mut jump)?;
            let rates = model.split(&jump).rates;
            let of_joints = match model.coordinates {
                Coordinates::Minimal => rates,
                Coordinates::Maximal(_) | Coordinates::Velocities(_) => &self.qdd,
            };
            let change = |on: Carrier| self.kinematics.beyond_bias_of(system, on, self.dynamics.A(), of_joints);
            W.set_column(column, &self.relative(pairs, change));
            jumps.push(Jump {
                rates: rates.to_vec(),
                drive: self.dynamics.drive.clone(),
            });
        }
        // Round-off alone parts it from its transpose.
        let W = (&W + W.transpose()) * 0.5;
        Ok(Operator { W, jumps })
    }

    /// Lets impulses act (N·s, and N·m·s, those of the operator's rows), of which the pairs have this work (J): rates jump, and drives do their work too.
    pub(super) fn strike(
        &mut self,
        model: &Model,
        (derived, parameters): (&Derived, &[f64]),
        (x, discrete): (&mut [f64], &Discrete),
        operator: &Operator,
        (impulses, mut work): (&DVector<f64>, f64),
    ) {
        let qd = self.coordinates(model, (derived, parameters), x).1.to_vec();
        let to = model.split_mut(x);
        for (jump, &p) in operator.jumps.iter().zip(impulses) {
            for (rate, change) in to.rates.iter_mut().zip(&jump.rates) {
                *rate += change * p;
            }
            for drive in &model.loads.drives {
                if drive.motion_now(model.motions(&discrete.modes)) != JointMotion::Loads {
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
        model: &Model,
        (derived, parameters): (&Derived, &[f64]),
        x: &mut [f64],
        discrete: &Discrete,
        locks: impl Fn(&Drive) -> bool,
    ) -> Result<(), Error> {
        let qd = self.coordinates(model, (derived, parameters), x).1.to_vec();
        let still = self.at_rest(model, (derived, x), discrete);
        for drive in model.loads.drives.iter().filter(|drive| locks(drive)) {
            for v in drive.rates() {
                self.applied.qdd[v] = -qd[v];
            }
        }
        let mut jump = vec![0.0; x.len()];
        self.accelerate(model, (derived, None), (0.0, discrete), &still, &mut jump)?;
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
