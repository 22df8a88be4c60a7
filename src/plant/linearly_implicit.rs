use super::context::Constants;
use super::evaluation::{Balance, instant};
use super::parts::Parts;
use super::{Evaluation, OperatingPoint, Plant};
use crate::Error;
use crate::algebra::Scalar;
use crate::system::JointState;

impl Plant {
    /// Corrects `g`, an approximation of the states' derivatives at the midpoint of a step from the
    /// states `x0`. The time `t` (s) is `theta` (s) after the step's start. `midpoint` is workspace
    /// for states.
    ///
    /// In the equations of motion `M v̇ = F`, the loads that act on single rates
    /// ([`Elements::resist`](crate::elements::Elements::resist)), with tangent stiffness `K` and
    /// damping `C`, are evaluated with the new derivatives, all others with the old ones:
    ///
    /// ```text
    ///     (M + θ C + θ² K) v̇ = F + (θ C + θ² K) v̇₀
    /// ```
    ///
    /// with the old `v̇₀` and all of `F` and `M` at `x₀ + θ g`, whose coordinates are first updated
    /// with the rates at the midpoint. Accelerations that drives prescribe by gains are treated
    /// likewise, with unit inertia. The currents of motors are eliminated by their circuits'
    /// equations. This is Newton's iteration for `g = f(t, x₀ + θ g)` without the derivatives of all
    /// other loads and of inertia. The recursion solves it in O(n), as it does forward dynamics:
    /// `θ C + θ² K` is [added inertia](crate::dynamics::Applied::inertia). If a part `k` of a
    /// stiffness `K` is missing in the derivatives, a vibration much faster than the step grows by
    /// `2 (k/K)²` per step.
    ///
    /// # Errors
    /// [`Error::Singular`], with the name.
    pub fn correct(
        &mut self,
        at: OperatingPoint,
        theta: f64,
        g: &mut [f64],
        midpoint: &mut [f64],
    ) -> Result<(), Error> {
        let of = self.base.constants();
        let evaluation = &mut *self.evaluation;
        predict_midpoint(of, at.x, theta, g, midpoint);
        evaluation.read_inputs(of, at.t, at.u, midpoint, at.discrete);
        let corrected = evaluation.correct(of, at, theta, g, midpoint);
        self.evaluation.applied.inertia.fill(0.0);
        corrected
    }
}

/// Computes the states at the midpoint, `x₀ + θ g`. The coordinates are updated with the rates at the
/// midpoint.
pub(super) fn predict_midpoint<S: Scalar<Constant = S>>(
    of: Constants<S>,
    x0: &[S],
    theta: S,
    g: &mut [S],
    midpoint: &mut [S],
) {
    let Constants { model, derived, .. } = of;
    for ((midpoint, &x0), &g) in midpoint.iter_mut().zip(x0).zip(&*g) {
        *midpoint = x0 + theta * g;
    }
    let (to, here) = (model.split_mut(g), model.split_mut(midpoint));
    model
        .system
        .q_dot(derived, here.positions, here.rates, &mut *to.positions);
    for ((midpoint, &x0), &g) in here.positions.iter_mut().zip(x0).zip(&*to.positions) {
        *midpoint = x0 + theta * g;
    }
}

impl<S: Scalar<Constant = S>> Evaluation<S> {
    /// Corrects `g` as [`Plant::correct`], with the midpoint of [`predict_midpoint`] and the inputs of
    /// the last [`read_inputs`](Self::read_inputs); leaves added inertia in [`Self::applied`].
    pub(super) fn correct(
        &mut self,
        of: Constants<S>,
        at: OperatingPoint<S>,
        theta: S,
        g: &mut [S],
        midpoint: &mut [S],
    ) -> Result<(), Error> {
        let Constants { model, derived, .. } = of;
        let OperatingPoint { x: x0, discrete, .. } = at;
        self.count += 1;
        let system = &model.system;
        self.update_kinematics(of, midpoint);
        let here = model.split(&*midpoint);
        let joints = JointState {
            q: here.positions,
            qd: here.rates,
        };
        let power = self.load(of, joints, discrete)?;

        let now = instant(
            of,
            self.orbit.as_ref(),
            &self.kinematics,
            joints,
            &self.inputs,
            discrete,
        );
        let applied = &mut self.applied;
        let inertia = &mut applied.inertia;
        model
            .elements
            .resist(&now, |rate, of| inertia[rate] += of.added_inertia(theta));
        for (body, driven) in system.bodies.iter().zip(&applied.driven) {
            // A driven joint has a prescribed motion, which its drive enforces against all loads:
            // their stiffness and damping do not change it.
            if *driven {
                inertia[body.joint.v..body.joint.v + body.joint.nv].fill(S::zero());
            }
        }
        let Parts { rates, currents, .. } = model.split(&*g);
        let start = model.split(x0).currents;
        let circuits = model.elements.circuits(of.parameters, &self.inputs, discrete);
        for (circuit, (i, before)) in circuits.zip(start.iter().zip(currents)) {
            let (i, before) = (*i, *before);
            let rate = circuit.current_rate(i, joints.qd[circuit.rate], theta);
            circuit.eliminate(applied, theta * (rate - before), theta);
        }
        for ((tau, &inertia), &v_dot) in applied.tau.iter_mut().zip(&applied.inertia).zip(rates) {
            *tau += inertia * v_dot;
        }
        let qdd = &mut applied.qdd;
        model.elements.resist_as_drives(&now, |rate, of| {
            let inertia = of.added_inertia(theta);
            qdd[rate] = (qdd[rate] + inertia * rates[rate]) / (S::one() + inertia);
        });
        self.accelerate(of, midpoint, discrete, Balance::of(power), g)?;
        let (from, to, here) = (model.split(x0), model.split_mut(g), model.split_mut(midpoint));
        for ((midpoint, &x0), &g) in here.rates.iter_mut().zip(from.rates).zip(&*to.rates) {
            *midpoint = x0 + theta * g;
        }
        let circuits = model.elements.circuits(of.parameters, &self.inputs, discrete);
        for (circuit, (i, g)) in circuits.zip(from.currents.iter().zip(to.currents)) {
            *g = circuit.current_rate(*i, here.rates[circuit.rate], theta);
        }
        system.q_dot(derived, here.positions, here.rates, to.positions);
        Ok(())
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;
    use crate::elements::Resistance;
    use crate::larger::Larger;
    use crate::plant::{Discrete, Model};
    use crate::simulation::Simulation;
    use std::path::Path;

    unit_tests![tangent_stiffness_and_damping_equal_differences];

    /// Joints on the world with one kind of load each: motors within their limits, at the torque
    /// limit and near the rate limit; range stops in contact, and one whose damper would pull; a
    /// drive that tracks its reference; a DC motor.
    const LOADS: &str = r#"
name = "loads"
[body.balanced]
mass = 1.0
inertia = [0.1, 0.2, 0.3]
[body.spent]
mass = 1.0
inertia = [0.1, 0.2, 0.3]
[body.fast]
mass = 1.0
inertia = [0.1, 0.2, 0.3]
[body.pushed]
mass = 1.0
inertia = [0.1, 0.2, 0.3]
[body.leaving]
mass = 1.0
inertia = [0.1, 0.2, 0.3]
[body.ball]
mass = 1.0
inertia = [0.1, 0.2, 0.3]
[body.boom.beam]
length = 1.2
mass_per_length = 0.8
EI = 40.0
GJ = 20.0
polar_inertia_per_length = 0.1
bending = 2
torsion = 1
damping_ratio = 0.02
[joint.balanced_root]
type = "revolute"
parent = "world"
child = "balanced"
servo = { kp = 20.0, kd = 3.0 }
motor = { torque_limit = 50.0 }
damping = 0.3
start = { position = 0.1, rate = 0.2 }
[joint.spent_root]
type = "revolute"
parent = "world"
child = "spent"
servo = { kp = 20.0, kd = 3.0 }
motor = { torque_limit = 0.5 }
start = { position = 0.1, rate = 0.2 }
[joint.fast_root]
type = "revolute"
parent = "world"
child = "fast"
servo = { kp = 20.0, kd = 3.0 }
motor = { torque_limit = 0.5, rate_limit = 0.2 }
start = { position = -1.0, rate = 0.199 }
[joint.pushed_root]
type = "prismatic"
parent = "world"
child = "pushed"
range = { min = -0.1, max = 0.1, stop = "compliant", stiffness = 30.0, damping = 2.0 }
spring = { stiffness = 5.0, rest = 0.02 }
start = { rate = -0.3 }
[joint.leaving_root]
type = "prismatic"
parent = "world"
child = "leaving"
range = { min = -0.1, max = 0.1, stop = "compliant", stiffness = 30.0, damping = 2.0 }
start = { rate = -2.0 }
[joint.ball_root]
type = "spherical"
parent = "world"
child = "ball"
spring = { stiffness = 3.0 }
servo = { kp = [2.0, 3.0, 4.0], kd = 0.5 }
damping = [0.2, 0.3, 0.4]
friction = { coulomb = 0.2, slip = 0.1 }
[joint.boom_root]
type = "universal"
parent = "world"
child = "boom"
servo = { kp = [2.0, 3.0], kd = 0.5 }
friction = { coulomb = 0.2, slip = 0.1 }
[body.commanded]
mass = 1.0
inertia = [0.1, 0.2, 0.3]
[joint.commanded_root]
type = "universal"
parent = "world"
child = "commanded"
motion = "prescribed"
tracking = { kp = [4.0, 5.0], kd = [1.5, 2.5] }
start = { position = [0.3, -0.2], rate = [-0.1, 0.4] }
[body.geared]
mass = 1.0
inertia = [0.1, 0.2, 0.3]
[joint.geared_root]
type = "revolute"
parent = "world"
child = "geared"
dc_motor = { resistance = 0.8, torque_constant = 0.6 }
start = { rate = 0.3 }
"#;

    /// Returns the generalised forces on the rates and the accelerations that drives prescribe.
    fn given(plant: &mut Plant, x: &[f64], u: &[f64], discrete: &Discrete) -> [Vec<f64>; 2] {
        let (of, evaluation) = (plant.base.constants(), &mut plant.evaluation);
        evaluation.read_inputs(of, 0.0, u, x, discrete);
        evaluation.update_kinematics(of, x);
        let here = of.model.split(x);
        let joints = JointState {
            q: here.positions,
            qd: here.rates,
        };
        evaluation.load(of, joints, discrete).expect("loads");
        [evaluation.applied.tau.clone(), evaluation.applied.qdd.clone()]
    }

    /// The loads are linear near the test point, so that central differences have round-off only:
    /// 1e-16 of the loads over 1e-6. The tangent of friction is the secant, which at rest is the
    /// derivative; springs and servos of spherical joints are linearised at zero rotation.
    fn tangent_stiffness_and_damping_equal_differences() {
        let plant = Plant::new(Model::read(LOADS, Path::new(".")).expect("a spacecraft").into()).expect("regular");
        let mut simulation = Simulation::new(plant).expect("starts");
        let mut state = simulation.state.clone();
        for (name, q) in [("pushed_root.q", -0.2), ("leaving_root.q", 0.11)] {
            let states = &simulation.plant.model().states;
            state.x[states.iter().position(|state| state.name == name).expect("a state")] = q;
        }
        let (plant, x) = (&mut simulation.plant, state.x.as_slice());
        given(plant, x, &state.u, &state.discrete);
        let model = plant.model().clone();
        let nv = model.system.nv;
        let mut computed = vec![[[0.0; 2]; 2]; nv];
        let evaluation = &plant.evaluation;
        let here = model.split(x);
        let joints = JointState {
            q: here.positions,
            qd: here.rates,
        };
        let now = evaluation.instant(plant.constants(), joints, &state.discrete);
        let mut add = |by: usize, rate: usize, of: Resistance| {
            computed[rate][by][0] += of.stiffness;
            computed[rate][by][1] += of.damping;
        };
        model.elements.resist(&now, |rate, of| add(0, rate, of));
        model.elements.resist_as_drives(&now, |rate, of| add(1, rate, of));

        let (mut worst, step) = (0.0_f64, 1e-6);
        for rate in 0..nv {
            for (by, kind) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let moved = [1.0, -1.0].map(|sign| {
                    let mut x = x.to_vec();
                    let parts = model.split_mut(&mut x);
                    let mut unit = vec![0.0; nv];
                    unit[rate] = sign * step;
                    if kind == 0 {
                        let mut turned = vec![0.0; parts.positions.len()];
                        model.system.q_dot(plant.derived(), parts.positions, &unit, &mut turned);
                        parts.positions.iter_mut().zip(turned).for_each(|(q, by)| *q += by);
                    } else {
                        parts.rates[rate] += unit[rate];
                    }
                    given(plant, &x, &state.u, &state.discrete)[by][rate]
                });
                let changes = (moved[1] - moved[0]) / (2.0 * step);
                let computed = computed[rate][by][kind];
                let off = (computed - changes).abs() / (1.0 + changes.abs());
                worst = worst.larger(off);
                assert!(
                    off < 1e-8,
                    "rate {rate}, derivative {kind} of {by}: computed {computed}, by differences {changes}"
                );
            }
        }
        println!("{worst:.1e}");
        let of = |name: &str| {
            let body = model.system.bodies.iter().find(|body| body.name == name);
            computed[body.expect("a body").joint.v][0]
        };
        assert!(of("spent") == [0.0; 2] && of("leaving") == [0.0; 2] && of("pushed") == [35.0, 2.0]);
        // The torque limit of 0.5 N·m falls to zero in the last hundredth of the rate limit, 0.2
        // rad/s.
        assert!(of("fast")[0] == 0.0 && (of("fast")[1] - 250.0).abs() < 1e-9);
    }
}
