use super::evaluation::{Balance, Evaluation};
use super::{Constants, Model, OperatingPoint, Plant};
use crate::Error;
use crate::algebra::Scalar;
use crate::elements::Resistance;
use crate::integrate::Stage;
use crate::system::JointState;

/// Terms that a step treats implicitly, with workspace.
#[derive(Clone, Debug)]
pub(super) struct Implicit<S: Scalar> {
    /// Tangent stiffness and damping of the loads on each rate, at the start of the step.
    loads: Vec<Resistance<S>>,
    /// Tangent stiffness and damping of the accelerations that drives prescribe, per unit of
    /// inertia.
    drives: Vec<Resistance<S>>,
    /// Workspace for rates.
    rates: Vec<S>,
}

impl<S: Scalar> Implicit<S> {
    pub fn new(model: &Model) -> Self {
        let nv = model.system.nv;
        Self {
            loads: vec![Resistance::none(); nv],
            drives: vec![Resistance::none(); nv],
            rates: vec![S::zero(); nv],
        }
    }
}

/// Coefficient `θ` (s) of a stage; `is_first` is true for the first stage of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coefficient<S> {
    pub theta: S,
    pub is_first: bool,
}

impl Plant {
    /// Computes the states' derivatives `k` in a stage of a Rosenbrock-W method, at an operating
    /// point of a `recursive` formulation: `(1 − θ W) k = f + W p`, for changes `p` of the states.
    ///
    /// `W` contains the derivatives of coordinates with respect to rates, and the tangent stiffness
    /// `K` and damping `C` of the loads that act on single rates
    /// ([`Elements::resist`](crate::elements::Elements::resist)) at the first stage of the step, in
    /// the equations of motion `M v̇ = F` at this stage. With the changes `p_q` of coordinates
    /// along the rates, and `p_v` of rates,
    ///
    /// ```text
    ///     (M + θ C + θ² K) v̇ = F − C p_v − K (p_q + θ (v + p_v)),   q̇ = v + θ v̇ + p_v
    /// ```
    ///
    /// which the recursion solves in O(n), as it does forward dynamics: `θ C + θ² K` is [added
    /// inertia](crate::dynamics::Applied::inertia). Accelerations that drives prescribe by gains
    /// are treated likewise, with unit inertia, and the currents of motors, which are eliminated by
    /// their circuits' equations. All other terms are explicit.
    ///
    /// # Errors
    /// [`Error::Singular`], with the name; [`Error::SingularLoop`] in a singular position.
    pub fn stage(&mut self, at: OperatingPoint, stage: Stage, p: &[f64], k: &mut [f64]) -> Result<(), Error> {
        let Self {
            base,
            evaluation,
            implicit,
            ..
        } = self;
        let Stage { theta, is_first, .. } = stage;
        let of = base.constants();
        evaluation.read_inputs(of, at.t, at.u, at.x, at.discrete);
        let stage = Coefficient { theta, is_first };
        let result = evaluation.stage(of, at, stage, p, implicit, k);
        evaluation.applied.inertia.fill(0.0);
        result
    }
}

impl<S: Scalar<Constant = S>> Evaluation<S> {
    /// Computes the derivatives `k` of [`Plant::stage`] with the inputs of the last
    /// [`read_inputs`](Self::read_inputs), and leaves added inertia in [`Self::applied`].
    pub(super) fn stage(
        &mut self,
        of: Constants<S>,
        at: OperatingPoint<S>,
        Coefficient { theta, is_first }: Coefficient<S>,
        p: &[S],
        implicit: &mut Implicit<S>,
        k: &mut [S],
    ) -> Result<(), Error> {
        let Constants { model, derived, .. } = of;
        let OperatingPoint { x, discrete, .. } = at;
        self.count += 1;
        let system = &model.system;
        self.update_kinematics(of, x);
        let here = model.split(x);
        let joints = JointState {
            q: here.positions,
            qd: here.rates,
        };
        let power = self.load(of, joints, discrete)?;
        let Implicit { loads, drives, rates } = implicit;
        if is_first {
            let now = self.instant(of, joints, discrete);
            loads.fill(Resistance::none());
            model.elements.resist(&now, |rate, of| loads[rate] += of);
            drives.fill(Resistance::none());
            model.elements.resist_as_drives(&now, |rate, of| drives[rate] += of);
            for (body, driven) in system.bodies.iter().zip(&self.applied.driven) {
                // A driven joint has a prescribed motion, which its drive enforces against all
                // loads: their stiffness and damping do not change it.
                if *driven {
                    loads[body.joint.v..][..body.joint.nv].fill(Resistance::none());
                }
            }
        }
        let by = model.split(p);
        system.rates_of(derived, joints.q, by.positions, rates);
        let applied = &mut self.applied;
        for (i, &p_q) in rates.iter().enumerate() {
            let (v, p_v) = (joints.qd[i], by.rates[i]);
            let force = |of: &Resistance<S>| of.damping * p_v + of.stiffness * (p_q + theta * (v + p_v));
            applied.tau[i] -= force(&loads[i]);
            applied.inertia[i] = loads[i].added_inertia(theta);
            applied.qdd[i] = (applied.qdd[i] - force(&drives[i])) / (S::one() + drives[i].added_inertia(theta));
        }
        let circuits = model.elements.circuits(of.parameters, &self.inputs, discrete);
        for (circuit, (&i, &p_i)) in circuits.zip(here.currents.iter().zip(by.currents)) {
            let v = joints.qd[circuit.rate] + by.rates[circuit.rate];
            let change = p_i + theta * circuit.current_rate(i + p_i, v, theta);
            circuit.eliminate(applied, change, theta);
        }
        self.accelerate(of, x, discrete, Balance::of(power), k)?;
        let to = model.split_mut(k);
        for (i, rate) in rates.iter_mut().enumerate() {
            *rate = joints.qd[i] + theta * to.rates[i] + by.rates[i];
        }
        let circuits = model.elements.circuits(of.parameters, &self.inputs, discrete);
        for ((circuit, k), (&i, &p_i)) in circuits.zip(to.currents).zip(here.currents.iter().zip(by.currents)) {
            *k = circuit.current_rate(i + p_i, rates[circuit.rate], theta);
        }
        system.q_dot(derived, joints.q, rates, to.positions);
        Ok(())
    }
}
