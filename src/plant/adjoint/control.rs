use super::rigid::RigidSolution;
use super::tasks::TaskAdjoint;
use crate::Error;
use crate::algebra::{Recorded, Tape};
use crate::plant::context::{Constants, OperatingPoint};
use crate::plant::evaluation::instant;
use crate::plant::feed_forward::At;
use crate::plant::task::{begin, computed};
use crate::plant::{Evaluation, Model};
use crate::system::JointState;

/// Adjoints of tasks and of feed-forward, whose rigid model is differentiated by recursion.
#[derive(Clone, Debug)]
pub(super) struct ControlAdjoint {
    /// `None` without tasks.
    tasks: Option<Box<TaskAdjoint>>,
    /// `None` without servos with feed-forward.
    servos: Option<Box<RigidSolution>>,
    /// True if a task of the record is not sampled.
    computes: bool,
    /// Index after the last variable.
    pub end: usize,
}

impl ControlAdjoint {
    /// Allocates for a model, with the variables from number `first` on; `None` without rigid
    /// model.
    pub fn new(model: &Model, first: usize) -> Option<Box<Self>> {
        if !model.elements.need_rigid_model() {
            return None;
        }
        let tasks = TaskAdjoint::new(model, first);
        let first = tasks.as_ref().map_or(first, |tasks| tasks.end());
        let has_servos = model.elements.fed_inputs().next().is_some();
        let servos = has_servos.then(|| Box::new(RigidSolution::new(model, At::Reference, first)));
        Some(Box::new(Self {
            end: servos.as_ref().map_or(first, |servos| servos.end()),
            tasks,
            servos,
            computes: false,
        }))
    }

    /// Records the references of tasks, among the inputs, and the torques of feed-forward, at the
    /// point `at` with the `values` of its evaluation.
    ///
    /// # Errors
    /// Those of the rigid model and of the laws.
    pub fn record(
        &mut self,
        of: Constants,
        at: OperatingPoint,
        values: &mut Evaluation<f64>,
        recorded: &mut Evaluation<Recorded>,
        joints: JointState<Recorded>,
    ) -> Result<(), Error> {
        let Evaluation {
            kinematics,
            orbit,
            feed_forward: Some(rigid),
            tasks,
            inputs,
            ..
        } = recorded
        else {
            return Ok(());
        };
        let (model, samples) = (of.model, &at.discrete.samples);
        let now = instant(of, orbit.as_ref(), kinematics, joints, &[], at.discrete);
        self.computes = false;
        if let (Some(tasks), Some(adjoint)) = (tasks, &mut self.tasks) {
            let now = begin(model, now, inputs);
            tasks.measure(model, &mut rigid.measured, &now, samples);
            self.computes = computed(samples, model).next().is_some();
            if self.computes {
                adjoint.record(model, samples, values, &now, rigid, tasks);
            }
            tasks.compute(model, &now, samples)?;
            tasks.finish(model, inputs);
        }
        if let (Some(servos), Some(solved)) = (&mut self.servos, &mut values.feed_forward) {
            let inputs = &*inputs;
            servos.record(model, &crate::elements::Instant { inputs, ..now }, solved, rigid);
            servos.give_torques(solved, rigid);
        }
        Ok(())
    }

    /// Propagates the adjoints of torques and references to what they are computed from.
    pub fn sweep(&mut self, of: Constants, at: OperatingPoint, values: &mut Evaluation<f64>, tape: &mut Tape) {
        if let (Some(servos), Some(solved)) = (&mut self.servos, &mut values.feed_forward) {
            let (q, rest) = at.x.split_at(of.model.system.nq);
            let qd = &rest[..of.model.system.nv];
            let joints = JointState { q, qd };
            let orbit = values.orbit.as_ref();
            let now = instant(of, orbit, &values.kinematics, joints, &values.inputs, at.discrete);
            servos.sweep(of.model, &now, solved, tape);
            servos.seed_state(tape);
        }
        if let Some(tasks) = self.tasks.as_mut().filter(|_| self.computes) {
            tasks.sweep(of, at, values, tape);
        }
    }

    /// Adds the adjoints that do not pass through the record to those of the states.
    pub fn add_rates(&self, x_bar: &mut [f64]) {
        if let Some(tasks) = self.tasks.as_ref().filter(|_| self.computes) {
            let bars = tasks.q_bar.iter().chain(&tasks.qd_bar);
            x_bar.iter_mut().zip(bars).for_each(|(to, bar)| *to += bar);
        }
    }
}
