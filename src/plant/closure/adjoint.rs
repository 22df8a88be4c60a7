//! Constraint rows in adjoint derivatives (`docs/theory/adjoint.md`, *Closed loops and captures*).

use super::super::context::Constants;
use super::super::{Discrete, Model};
use super::{Closure, Reaction, Side};
use crate::algebra::{Recorded, Scalar, Tape, Twist, Wrench};
use crate::dynamics::Applied;
use crate::system::{Carrier, JointState, Kinematics, System};

impl Closure<f64> {
    /// Returns the reaction of each row, N or N·m, after [`hold`](Self::hold).
    pub fn reactions(&self) -> &[f64] {
        &self.lambda[..self.rows.len()]
    }

    /// Adds `J A` or `K A` to `to`, row by row: the accelerations along the rows, or the powers of
    /// the unit reactions, from the accelerations of the bodies, `A`, and of the rates, `qdd`, both
    /// without bias.
    pub fn add_accelerations(
        &self,
        side: Side,
        system: &System,
        kinematics: &Kinematics<f64>,
        A: &[Twist<f64>],
        qdd: &[f64],
        to: &mut [f64],
    ) {
        for (k, to) in to.iter_mut().enumerate() {
            *to += self.along(side, k, system, kinematics, A, qdd);
        }
    }
}

impl Closure<Recorded> {
    /// Records the rows, and the [`loads`](Self::held_loads): `applied` and constant `reactions`.
    pub fn record_loads(
        &mut self,
        of: Constants,
        discrete: &Discrete,
        kinematics: &Kinematics<Recorded>,
        joints: JointState<Recorded>,
        applied: &Applied<Recorded>,
        reactions: &[f64],
    ) {
        self.set_up(of, true, discrete, kinematics, joints);
        self.loads.copy_from(applied);
        for (row, &reaction) in self.rows.iter().zip(reactions) {
            let (held, system) = (&self.held[row.held], &of.model.system);
            row.reaction()
                .push(held, system, kinematics, &mut self.loads, Recorded::lift(reaction));
        }
    }

    /// Records the [`residuals`](Self::residuals) of the rows, after
    /// [`record_loads`](Self::record_loads). The accelerations along the rows are those of the
    /// bodies, `A` and their `A_bias`, and of the rates, `qdd`.
    pub fn record_residuals(
        &mut self,
        system: &System,
        kinematics: &Kinematics<Recorded>,
        A: &[Twist<Recorded>],
        qdd: &[Recorded],
    ) {
        for k in 0..self.rows.len() {
            self.lambda[k] = self.rows[k].target - self.acceleration(k, system, kinematics, A, qdd);
        }
    }

    /// Returns the loads with the reactions of [`record_loads`](Self::record_loads).
    pub fn held_loads(&self) -> &Applied<Recorded> {
        &self.loads
    }

    /// Returns `b − J q̈` of each row, after [`record_residuals`](Self::record_residuals): zero for
    /// independent rows.
    pub fn residuals(&self) -> &[Recorded] {
        &self.lambda[..self.rows.len()]
    }

    /// Seeds the recorded unit wrenches and points of the pairs with the derivatives of the sum of
    /// their powers with `weights` (of `φ̇` for those of the rows), at the velocities of
    /// `kinematics`; passes the derivatives with respect to the velocities to `on`, wrenches about
    /// the carriers' origins.
    pub fn seed_rates(
        &self,
        side: Side,
        weights: &[f64],
        kinematics: &Kinematics<f64>,
        tape: &mut Tape,
        mut on: impl FnMut(Carrier, Wrench<f64>),
    ) {
        for (index, held) in self.held.iter().enumerate() {
            let Some(pair) = &held.pair else { continue };
            let carriers = pair.carriers();
            let arms = pair.arms.map(|arm| arm.map(Recorded::value));
            let V = carriers.map(|carrier| kinematics.carrier(carrier).V_WB);
            let u = V[0].shift(&arms[0]) - V[1].shift(&arms[1]);
            let mut F = Wrench::zero();
            for (row, &weight) in self.rows.iter().zip(weights).filter(|(row, _)| row.held == index) {
                if let Reaction::Wrench(unit) = row.of(side) {
                    let along = unit.to_array().into_iter().zip(u.to_array());
                    along.for_each(|(unit, u)| tape.seed(unit, weight * u));
                    F = F + Wrench::new(unit.t.map(Recorded::value), unit.f.map(Recorded::value)) * weight;
                }
            }
            for (side, F) in [F, F * -1.0].into_iter().enumerate() {
                let by_arm = F.f.cross(&V[side].w);
                let arm = pair.arms[side].iter().zip(&by_arm);
                arm.for_each(|(arm, by_arm)| tape.seed(*arm, *by_arm));
                on(carriers[side], F.shift(&arms[side]));
            }
        }
    }

    /// Records the reactions, the variables from number `first` on, for the outputs and for the
    /// torques of drives: adds those of couplings to the loads. Returns the power of captures that
    /// draw two beams together, and of the friction of sliding contacts, W.
    pub fn record_reactions(
        &mut self,
        first: usize,
        reactions: &[f64],
        model: &Model,
        kinematics: &Kinematics<Recorded>,
        applied: &mut Applied<Recorded>,
    ) -> Recorded {
        let mut power = Recorded::lift(0.0);
        for (k, (row, &reaction)) in self.rows.iter().zip(reactions).enumerate() {
            let reaction = Recorded::variable(reaction, first + k);
            let held = &self.held[row.held];
            let closed = &mut self.state[held.index];
            if closed.draws {
                power += reaction * row.rate;
            }
            if let Some(rest) = &row.rest {
                power += rest.press(&mut self.points[rest.number], reaction);
            }
            match row.reaction() {
                Reaction::Wrench(unit) => closed.wrench = closed.wrench + unit * reaction,
                Reaction::Torques { .. } => {
                    closed.torque = reaction;
                    row.unit.push(held, &model.system, kinematics, applied, reaction);
                }
            }
        }
        power
    }
}
