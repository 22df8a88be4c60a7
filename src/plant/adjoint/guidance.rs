use super::carriers::Carriers;
use super::control::ControlAdjoint;
use super::recording::seed;
use crate::Error;
use crate::algebra::{Recorded, Tape, Wrench};
use crate::dynamics::recursive::{Gradient, JointAdjoints, Partials, TreeAdjoint};
use crate::plant::context::{Constants, OperatingPoint};
use crate::plant::guided::Guidance;
use crate::plant::{Evaluation, Model};
use crate::system::JointState;

/// Adjoint of the law of a controller's tasks: that of the tasks and of the feed-forward of its
/// spacecraft, whose states are inputs.
#[derive(Clone, Debug)]
pub(super) struct GuidanceAdjoint {
    control: ControlAdjoint,
    /// Positions and motions of the spacecraft.
    carriers: Carriers,
    /// Number of operations before those of the law.
    start: usize,
    /// Index after the last variable.
    pub end: usize,
    tree: TreeAdjoint,
    gradients: Vec<Gradient>,
    columns: Vec<Wrench<f64>>,
    zeros: Vec<f64>,
    /// Measured states.
    x: Vec<f64>,
    x_bar: Vec<f64>,
}

impl GuidanceAdjoint {
    /// Allocates for a model, with the variables from number `first` on; `None` without such tasks.
    pub fn new(model: &Model, first: usize) -> Option<Box<Self>> {
        let spacecraft = &model.guided.as_deref()?.spacecraft;
        let system = &spacecraft.system;
        let carriers = Carriers::new(system, first);
        let control = *ControlAdjoint::new(spacecraft, carriers.end)?;
        Some(Box::new(Self {
            carriers,
            start: 0,
            end: control.end,
            control,
            tree: TreeAdjoint::new(system),
            gradients: vec![Gradient::zero(); system.bodies.len() + system.stations.len()],
            columns: vec![Wrench::zero(); system.nv],
            zeros: vec![0.0; system.nv],
            x: vec![0.0; spacecraft.states.len()],
            x_bar: vec![0.0; spacecraft.states.len()],
        }))
    }

    /// Records the law at the `inputs` of the loads, with the `values` of its evaluation.
    ///
    /// # Errors
    /// Those of the law.
    pub fn record(
        &mut self,
        of: Constants,
        t: f64,
        values: &mut Guidance<f64>,
        recorded: &mut Guidance<Recorded>,
        inputs: &[Recorded],
    ) -> Result<(), Error> {
        let Some((guided, of)) = of.guided() else {
            return Ok(());
        };
        self.start = Tape::position();
        recorded.begin(guided, inputs)?;
        self.tree.rest();
        let kinematics = &values.evaluation.kinematics;
        self.carriers
            .set(kinematics, &self.tree, &mut recorded.evaluation.kinematics);
        self.x.copy_from_slice(&values.x);
        let (q, qd) = recorded.x.split_at(guided.spacecraft.system.nq);
        let at = OperatingPoint::new(t, &self.x, &[], &values.discrete);
        let Guidance { evaluation, .. } = recorded;
        self.control
            .record(of, at, &mut values.evaluation, evaluation, JointState { q, qd })?;
        recorded.finish(guided);
        Ok(())
    }

    /// Propagates the adjoints of the law to the inputs from which it is computed.
    pub fn sweep(
        &mut self,
        of: Constants,
        t: f64,
        values: &mut Guidance<f64>,
        recorded: &Guidance<Recorded>,
        tape: &mut Tape,
    ) {
        let Some((guided, of)) = of.guided() else { return };
        let system = &guided.spacecraft.system;
        let at = OperatingPoint::new(t, &self.x, &[], &values.discrete);
        self.control.sweep(of, at, &mut values.evaluation, tape);
        tape.sweep(self.start);
        self.x_bar.fill(0.0);
        self.control.add_rates(&mut self.x_bar);
        let Evaluation { kinematics, .. } = &*values.evaluation;
        self.carriers
            .read(system, kinematics, tape, &mut self.gradients, &mut self.columns);
        let (q, qd) = self.x.split_at(system.nq);
        let (q_bar, qd_bar) = self.x_bar.split_at_mut(system.nq);
        let (joints, mut bars) = (JointState { q, qd }, JointAdjoints { q: q_bar, qd: qd_bar });
        let partials = Partials {
            bodies: &self.gradients,
            columns: &self.columns,
        };
        self.tree.rest();
        self.tree
            .coordinates(of.at(kinematics), partials, joints, &self.zeros, &mut bars);
        self.carriers
            .add_points(of.mechanism(), kinematics, tape, joints, &mut bars);
        seed(tape, &recorded.x, &self.x_bar);
    }
}
