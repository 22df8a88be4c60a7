use super::carriers::twist;
use super::rigid::{RigidSolution, add_moment};
use crate::algebra::{Recorded, Tape, Twist, Vec3, Wrench};
use crate::dynamics::recursive::{Gradient, HeldAttitude, JointAdjoints, TreeAdjoint};
use crate::elements::{Instant, Samples, Task};
use crate::plant::context::{Constants, OperatingPoint};
use crate::plant::evaluation::instant;
use crate::plant::feed_forward::{At, FeedForward, Kept};
use crate::plant::task::Tasks;
use crate::plant::{Evaluation, Model};
use crate::system::{Carrier, Configuration, JointState, Kinematics};
use std::mem::swap;

/// Adjoints of the motions of frames by which tasks compute accelerations: of the solution of the
/// rigid model at the present state, of its responses to unit accelerations of the axes, and of the
/// rates of free-floating bases (`docs/theory/adjoint.md`, *Feed-forward and tasks*).
#[derive(Clone, Debug)]
pub(super) struct TaskAdjoint {
    /// Solutions of the rigid model, those of the evaluation.
    kept: Box<Kept<f64>>,
    pub solution: RigidSolution,
    /// Responses of the record; the variables of each are the accelerations of two carriers.
    responses: Vec<Response>,
    first: usize,
    /// Number of all axes.
    axes: usize,
    /// Kinematics of the rigid model, then of the spacecraft, at rest.
    rest: Kinematics<f64>,
    tree: TreeAdjoint,
    gradients: Vec<Gradient>,
    zeros: Vec<f64>,
    /// Adjoints of rates at rest, which are constants.
    unused: Vec<f64>,
    held: Vec<HeldAttitude>,
    /// Velocities of the bodies.
    V: Vec<Twist<f64>>,
    /// Adjoints of the momenta of the bases.
    momenta: Vec<(usize, Twist<f64>)>,
    /// Adjoints of coordinates and rates of the spacecraft itself by the rates of the bases.
    pub q_bar: Vec<f64>,
    pub qd_bar: Vec<f64>,
}

/// Response of the rigid model to the unit acceleration of an axis.
#[derive(Clone, Copy, Debug)]
struct Response {
    rate: usize,
    /// Carriers of the frames of the task.
    on: [Carrier; 2],
}

impl TaskAdjoint {
    /// Allocates for a model, with the variables from number `first` on; `None` without tasks.
    pub fn new(model: &Model, first: usize) -> Option<Box<Self>> {
        let (system, tasks) = (&model.system, &model.elements.tasks);
        let kept = Kept::new(model)?;
        let solution = RigidSolution::new(model, At::Present, first);
        let axes = tasks.iter().map(|task| task.axes.len()).sum();
        Some(Box::new(Self {
            kept,
            first: solution.end(),
            solution,
            responses: Vec::with_capacity(axes),
            axes,
            rest: Kinematics::new(system),
            tree: TreeAdjoint::new(system),
            gradients: vec![Gradient::zero(); system.bodies.len() + system.stations.len()],
            zeros: vec![0.0; system.nv],
            unused: vec![0.0; system.nv],
            held: Vec::with_capacity(model.elements.fed_attitudes().count()),
            V: vec![Twist::zero(); system.bodies.len()],
            momenta: Vec::with_capacity(system.bodies.len()),
            q_bar: vec![0.0; system.nq],
            qd_bar: vec![0.0; system.nv],
        }))
    }

    /// Returns the index after the last variable.
    pub fn end(&self) -> usize {
        self.first + 12 * self.axes
    }

    /// Records the motions of the frames of `tasks` and their Jacobians, at the instant `now`, with
    /// the solutions that the evaluation `values` kept.
    pub fn record(
        &mut self,
        model: &Model,
        samples: &[Samples],
        values: &mut Evaluation<f64>,
        now: &Instant<Recorded>,
        recorded: &mut FeedForward<Recorded>,
        tasks: &mut Tasks<Recorded>,
    ) {
        if let Some(kept) = (values.feed_forward.as_mut()).and_then(|rigid| rigid.kept.as_mut()) {
            swap(kept, &mut self.kept);
        }
        self.kept.restore();
        if let Some(values) = &values.tasks {
            tasks.take_directions(values);
        }
        self.solution.record(model, now, &mut self.kept.rigid, recorded);
        tasks.move_frames(model, recorded, now, samples);
        self.responses.clear();
        tasks.jacobians(model, recorded, now, samples, |_, task: &Task, rate| {
            let k = self.responses.len();
            let on = task.frames.map(|frame| model.system.carrier(frame));
            self.responses.push(Response { rate, on });
            let (A, qdd) = self.kept.solutions.response(k);
            let first = self.first + 12 * k;
            let kinematics = &self.kept.rigid.kinematics;
            let of = |on: Carrier, first: usize| twist(&kinematics.beyond_bias_of(&model.system, on, A, qdd), first);
            [of(on[0], first), of(on[1], first + 6)]
        });
    }

    /// Propagates the adjoints of the motions and Jacobians to the coordinates and rates of the
    /// rigid model and to its loads.
    pub fn sweep(&mut self, of: Constants, at: OperatingPoint, values: &Evaluation<f64>, tape: &mut Tape) {
        let (model, derived) = (of.model, of.derived.with_held_beams.as_deref().unwrap_or(of.derived));
        let now = point(of, at, values, &self.kept.solutions.inputs);
        self.solution.sweep(model, &now, &mut self.kept.rigid, tape);
        self.rest.fills.copy_from_slice(&values.kinematics.fills);
        self.rest
            .update(&model.system, derived, &self.kept.rigid.q, &self.zeros);
        let mut begun = false;
        for k in 0..self.responses.len() {
            begun |= self.response(of, at, k, begun, values, tape);
        }
        self.q_bar.fill(0.0);
        self.qd_bar.fill(0.0);
        self.rates_of_bases(of, at, values, tape);
        self.solution.seed_state(tape);
    }

    /// Adds the adjoints of response number `k`, and returns true unless they are zero; `begun` tells if
    /// this is not the first one.
    fn response(
        &mut self,
        of: Constants,
        at: OperatingPoint,
        k: usize,
        begun: bool,
        values: &Evaluation<f64>,
        tape: &mut Tape,
    ) -> bool {
        let (system, Response { rate, on }) = (&of.model.system, self.responses[k]);
        let six = |first: usize| Wrench::from_slice(&[0, 1, 2, 3, 4, 5].map(|i| tape.adjoint(first + i)));
        let bars = [0, 6].map(|i| six(self.first + 12 * k + i));
        if bars.iter().all(|F| F.to_array() == [0.0; 6]) {
            return false;
        }
        self.gradients.fill(Gradient::zero());
        for (on, bar) in on.into_iter().zip(bars) {
            let i = match on {
                Carrier::Body(i) => i,
                Carrier::Station(s) => system.bodies.len() + s,
                Carrier::World | Carrier::Point(_) => continue,
            };
            self.gradients[i].acceleration = self.gradients[i].acceleration + bar;
        }
        self.kept.rigid.applied.clear();
        self.held.clear();
        if !self.solution.attitudes.is_empty() {
            // The moments are part of the response.
            let here = point(of, at, values, &self.kept.solutions.inputs);
            self.kept.rigid.respond_to_drive(of.model, &here, rate);
        }
        for attitude in &self.solution.attitudes {
            add_moment(&mut self.kept.rigid, attitude.body, attitude.rate);
            self.held.push(HeldAttitude {
                body: attitude.body,
                moment_bar: Vec3::zeros(),
                sigma: Vec3::zeros(),
            });
        }
        let (A, qdd) = self.kept.solutions.response(k);
        let FeedForward {
            applied, dynamics, q, ..
        } = &mut self.kept.rigid;
        let rest = Configuration {
            system,
            derived: of.derived.with_held_beams.as_deref().unwrap_or(of.derived),
            kinematics: &self.rest,
        };
        match begun {
            false => self.tree.begin(rest, applied, A, qdd, &self.zeros),
            true => self.tree.begin_again_at_rest(rest, applied, A, qdd, &self.zeros),
        }
        self.tree.accelerations(rest, &self.gradients, &self.zeros);
        self.tree
            .respond_with_held(rest, dynamics, &mut self.held, &mut self.gradients);
        let q_bar = &mut self.solution.q_bar;
        add_coordinates(
            &mut self.tree,
            rest,
            [&self.zeros, qdd],
            q,
            &self.gradients,
            JointAdjoints {
                q: q_bar,
                qd: &mut self.unused,
            },
        );
        for (&body, fill) in system.propellant.iter().zip(&self.solution.fills) {
            tape.seed(*fill, self.tree.of_fill(rest, body));
        }
        true
    }

    /// Adds the adjoints of the rates of free-floating bases: the momentum of a tree is the reaction
    /// of its base at rest if the accelerations are the rates.
    fn rates_of_bases(&mut self, of: Constants, at: OperatingPoint, values: &Evaluation<f64>, tape: &mut Tape) {
        let system = &of.model.system;
        let Some(base_rates) = &self.kept.rigid.base_rates else {
            return;
        };
        self.momenta.clear();
        for (k, base) in base_rates.bases().enumerate() {
            let v = system.bodies[base].joint.v;
            let bar = self.solution.rates_bar(k, v, tape);
            let H = &self.kept.rigid.kinematics.H[v..v + 6];
            self.momenta.push((base, base_rates.momentum_bar(k, H, bar)));
        }
        let (q, qd) = (&at.x[..system.nq], &at.x[system.nq..system.nq + system.nv]);
        let rigid = of.derived.with_held_beams.as_deref().unwrap_or(of.derived);
        self.kept.rigid.applied.clear();
        for (sign, derived, kinematics, q, rates) in [
            (
                -1.0,
                rigid,
                &self.kept.rigid.kinematics,
                &self.kept.rigid.q[..],
                &self.kept.rigid.qd[..],
            ),
            (1.0, of.derived, &values.kinematics, q, qd),
        ] {
            let (q_bar, qd_bar) = match sign < 0.0 {
                true => (&mut self.solution.q_bar, &mut self.solution.qd_bar),
                false => (&mut self.q_bar, &mut self.qd_bar),
            };
            // Those of the rigid model are that of the responses.
            if sign > 0.0 {
                self.rest.update(system, derived, q, &self.zeros);
            }
            let rest = Configuration {
                system,
                derived,
                kinematics: &self.rest,
            };
            self.gradients.fill(Gradient::zero());
            for &(base, momentum_bar) in &self.momenta {
                self.gradients[base].reaction = momentum_bar * sign;
            }
            (self.V.iter_mut().zip(&kinematics.bodies)).for_each(|(V, body)| *V = body.V_WB);
            self.tree
                .begin(rest, &self.kept.rigid.applied, &self.V, rates, &self.zeros);
            self.tree.accelerations(rest, &self.gradients, &self.zeros);
            (qd_bar.iter_mut().zip(self.tree.qdd_bar())).for_each(|(bar, of)| *bar += of);
            add_coordinates(
                &mut self.tree,
                rest,
                [&self.zeros, rates],
                q,
                &self.gradients,
                JointAdjoints {
                    q: q_bar,
                    qd: &mut self.unused,
                },
            );
            for (&body, fill) in system.propellant.iter().zip(&self.solution.fills) {
                tape.seed(*fill, self.tree.of_fill(rest, body));
            }
        }
    }
}

/// Keeps the solutions by which an evaluation computes tasks.
pub(super) fn keep_solutions(values: &mut Evaluation<f64>, model: &Model) {
    if let Some(rigid) = &mut values.feed_forward {
        rigid.kept = Kept::new(model);
    }
    if let (Some(guidance), Some(guided)) = (&mut values.guidance, &model.guided) {
        keep_solutions(&mut guidance.evaluation, &guided.spacecraft);
    }
}

/// Adds the derivatives with respect to the coordinates `q`, at zero rates and the given
/// derivatives of the rates.
fn add_coordinates(
    tree: &mut TreeAdjoint,
    rest: Configuration<f64>,
    [qd, qdd]: [&[f64]; 2],
    q: &[f64],
    of: &[Gradient],
    mut bars: JointAdjoints,
) {
    tree.coordinates_at_rest(rest, of, JointState { q, qd }, qdd, &mut bars);
}

/// Returns the data on which the loads depend, with these inputs.
fn point<'a>(
    of: Constants<'a>,
    at: OperatingPoint<'a>,
    values: &'a Evaluation<f64>,
    inputs: &'a [f64],
) -> Instant<'a, f64> {
    let system = &of.model.system;
    let joints = JointState {
        q: &at.x[..system.nq],
        qd: &at.x[system.nq..system.nq + system.nv],
    };
    instant(
        of,
        values.orbit.as_ref(),
        &values.kinematics,
        joints,
        inputs,
        at.discrete,
    )
}
