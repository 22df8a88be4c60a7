use super::context::Constants;
use super::coordinates::{Constrained, Coordinates};
use super::evaluation::instant;
use super::{Discrete, Evaluation, LANES, Model, Plant};
use crate::Error;
use crate::algebra::{Dual, Scalar, Twist, Vec3};
use crate::dynamics::conserving::{Midpoint, Start};
use crate::integrate::Span;
use crate::spec::JointMotion;
use crate::system::{Attitude, JointModel, JointState, Maximal, Natural};

/// Mean rates of a conserving step, with the inputs and the discrete state.
#[derive(Clone, Copy, Debug)]
pub struct MeanRates<'a, S = f64> {
    /// Mean rates.
    pub u: &'a [S],
    /// The importer's inputs.
    pub inputs: &'a [S],
    /// Discrete state.
    pub discrete: &'a Discrete,
}

/// Workspace of the [conserving step](crate::dynamics::conserving) of a plant in natural
/// coordinates.
#[derive(Clone, Debug)]
pub struct ConservingStep {
    layout: Maximal,
    start: Start,
    /// Twists of the bodies at the start of the step.
    motion: Vec<Twist<f64>>,
    midpoint: Midpoint<f64>,
    lifted: Midpoint<Dual<LANES>>,
    tangent: Evaluation<Dual<LANES>>,
    u: Vec<Dual<LANES>>,
    inputs: Vec<Dual<LANES>>,
    residual: Vec<Dual<LANES>>,
    /// Power of the loads at the midpoint, in the last [`residual`](Self::residual), W.
    power: f64,
}

impl ConservingStep {
    /// Allocates the workspace for a model; `None` if it is not in natural coordinates.
    pub fn new(model: &Model) -> Option<Self> {
        let Coordinates::Maximal(Constrained { layout, .. }) = &model.coordinates else {
            return None;
        };
        let lifted = |n: usize| vec![Dual::lift(0.0); n];
        (layout.attitude == Attitude::Directors).then(|| Self {
            layout: layout.clone(),
            start: Start::new(&model.system),
            motion: vec![Twist::zero(); model.system.bodies.len()],
            midpoint: Midpoint::new(&model.system),
            lifted: Midpoint::new(&model.system),
            tangent: Evaluation::new(model),
            u: lifted(model.system.nv),
            inputs: lifted(model.inputs.len()),
            residual: lifted(model.system.nv),
            power: 0.0,
        })
    }

    /// Begins a step at the states `x` and a discrete state; writes the rates at `x` into `u`, the
    /// first guess of the mean rates.
    pub fn begin(&mut self, plant: &mut Plant, x: &[f64], discrete: &Discrete, u: &mut [f64]) {
        let Plant { base, evaluation, .. } = plant;
        let of = base.constants();
        let Constants { model, derived, .. } = of;
        let layout = &self.layout;
        let q = evaluation.coordinates(of, x).q;
        self.start.q.copy_from_slice(q);
        let (here, kinematics) = (model.split(x), &evaluation.kinematics);
        for (i, (body, motion)) in self.start.bodies.iter_mut().zip(&mut self.motion).enumerate() {
            *body = layout.natural(i, here.positions, here.rates);
            // The recovered attitude is free of the accumulated round-off of earlier steps.
            body.D = kinematics.bodies[i].R_WB;
            *motion = body.twist();
        }
        kinematics.joint_rates(&model.system, derived, &self.motion, &mut self.start.qd);
        // The directors' rates represent a rotation to second order only, so locked joints are
        // given the rate zero exactly.
        for drive in &model.elements.drives {
            if drive.motion_now(&discrete.motions) == JointMotion::Locked {
                self.start.qd[drive.rates()].fill(0.0);
            }
        }
        let [_, rates] = layout.nodes();
        let n = self.start.qd.len();
        self.start.qd[n - rates.len()..].copy_from_slice(&here.rates[rates]);
        u.copy_from_slice(&self.start.qd);
        // The unknown rates of free and spherical joints are in world axes.
        for (i, (body, constants)) in model.system.bodies.iter().zip(&derived.bodies).enumerate() {
            let u = &mut u[body.joint.v..];
            match constants.joint {
                JointModel::Free(_) => u[..6].copy_from_slice(&self.motion[i].to_array()),
                JointModel::Spherical(_) => {
                    let w = self.start.bodies[i].D * Vec3::from_column_slice(&u[..3]);
                    u[..3].copy_from_slice(w.as_slice());
                }
                _ => {}
            }
        }
    }

    /// Computes the residual of the step's equations for mean rates, inputs and a discrete state.
    ///
    /// # Errors
    /// Those of the loads' evaluation.
    pub fn residual(
        &mut self,
        plant: &mut Plant,
        span: Span,
        at: MeanRates,
        residual: &mut [f64],
    ) -> Result<(), Error> {
        let of = plant.base.constants();
        self.power = plant
            .evaluation
            .step(of, &self.start, span, at, &mut self.midpoint, residual)?;
        Ok(())
    }

    /// Computes the derivatives of the residual with respect to the mean rates, column by column.
    ///
    /// # Errors
    /// Those of the loads' evaluation.
    pub fn jacobian(&mut self, plant: &Plant, span: Span, at: MeanRates, jacobian: &mut [f64]) -> Result<(), Error> {
        let MeanRates { u, inputs, discrete } = at;
        let n = u.len();
        for (to, &from) in self.inputs.iter_mut().zip(inputs) {
            *to = Dual::lift(from);
        }
        self.tangent.kinematics.damping = plant.evaluation.kinematics.damping;
        for first in (0..n).step_by(LANES) {
            for (j, (to, &from)) in self.u.iter_mut().zip(u).enumerate() {
                *to = Dual::new(from, std::array::from_fn(|lane| f64::from(u8::from(first + lane == j))));
            }
            let at = MeanRates {
                u: &self.u,
                inputs: &self.inputs,
                discrete,
            };
            let start = &self.start;
            self.tangent
                .step(plant.constants(), start, span, at, &mut self.lifted, &mut self.residual)?;
            for lane in 0..LANES.min(n - first) {
                let column = &mut jacobian[(first + lane) * n..(first + lane + 1) * n];
                for (to, from) in column.iter_mut().zip(&self.residual) {
                    *to = from.eps[lane];
                }
            }
        }
        Ok(())
    }

    /// Writes the states `x1` at the end of the step from the states `x0` at its start and the mean
    /// rates `u`; the work increases by the power of the last [`residual`](Self::residual).
    pub fn end(&mut self, plant: &mut Plant, Span { h, .. }: Span, x0: &[f64], u: &[f64], x1: &mut [f64]) {
        let (model, kinematics) = (&plant.base.model, &mut plant.evaluation.kinematics);
        let midpoint = &mut self.midpoint;
        let mechanism = plant.base.constants().mechanism();
        self.start.midpoint(mechanism, h, u, kinematics, midpoint);
        let layout = &self.layout;
        let before = model.split(x0);
        let after = model.split_mut(x1);
        for (i, (at, start)) in kinematics.bodies.iter().zip(&self.start.bodies).enumerate() {
            let D_rate = at.V_WB.w.cross_matrix() * at.R_WB;
            let end = Natural {
                D: start.D + D_rate * h,
                r: start.r + at.V_WB.v * h,
                D_rate: D_rate * 2.0 - start.D_rate,
                v: at.V_WB.v * 2.0 - start.v,
            };
            layout.set_natural(i, &end, after.positions, after.rates);
            let joint = &model.system.bodies[i].joint;
            for k in 0..joint.kind.angles() {
                after.unwrapped[layout.unwrapped(i) + k] = self.start.q[joint.q + k] + h * midpoint.qd[joint.v + k];
            }
        }
        let [positions, rates] = layout.nodes();
        let n = rates.len();
        for ((k, v), u) in positions.zip(rates).zip(&u[u.len() - n..]) {
            after.positions[k] = before.positions[k] + h * u;
            after.rates[v] = 2.0 * u - before.rates[v];
        }
        if let (Some(work), Some(from)) = (after.work.first_mut(), before.work.first()) {
            *work = from + h * self.power;
        }
    }
}

impl<S: Scalar<Constant = f64>> Evaluation<S> {
    /// Computes the residual of a conserving step; returns the power of the loads at its midpoint,
    /// W.
    fn step(
        &mut self,
        of: Constants<'_>,
        start: &Start,
        Span { t, h }: Span,
        at: MeanRates<S>,
        midpoint: &mut Midpoint<S>,
        residual: &mut [S],
    ) -> Result<S, Error> {
        let Constants { model, derived, .. } = of;
        let MeanRates { u, inputs, discrete } = at;
        // Models with currents among the states do not have this method.
        self.read_inputs(of, t + 0.5 * h, inputs, &[], discrete);
        start.midpoint(of.mechanism(), h, u, &mut self.kinematics, midpoint);
        let joints = JointState {
            q: &midpoint.q,
            qd: &midpoint.qd,
        };
        let mut power = self.load(of, joints, discrete)?;
        let now = instant(
            of,
            self.orbit.as_ref(),
            &self.kinematics,
            joints,
            &self.inputs,
            discrete,
        );
        model.elements.add_of_step(&now, h, &start.q, &mut self.applied);
        start.residual(of.at(&self.kinematics), &self.applied, h, u, midpoint, residual);
        let Midpoint { qd, F, .. } = midpoint;
        for (i, body) in model.system.bodies.iter().enumerate() {
            if self.applied.driven[i] {
                let is_ball = matches!(derived.bodies[i].joint, JointModel::Spherical(_));
                for (k, v) in (body.joint.v..body.joint.v + body.joint.nv).enumerate() {
                    // The rates of a spherical joint are in world axes, and so are the components
                    // of the transmitted moment that correspond to them.
                    let transmitted = if is_ball {
                        F[i].t[k]
                    } else {
                        F[i].power(&self.kinematics.H[v])
                    };
                    let rotor = self.applied.qdd[v] * S::lift(derived.rotor_inertia[v]);
                    power += (transmitted + rotor) * u[v] - self.applied.tau[v] * qd[v];
                }
            }
        }
        Ok(power)
    }
}
