//! Controllers with tasks: their spacecraft, whose states they measure.

use super::{FeedForward, Joint, JointMotion, Kind, PerAxis, Servo, Solver, Spec};

/// Sections of the elements that are no loads of a task's law.
const NO_LOADS: [&str; 4] = ["contact", "sensor", "measure", "kinematics"];

impl Joint {
    /// Returns true if torques alone move it, which the importer sets.
    fn takes_torques(&self) -> bool {
        let has_one_motion = self.motion == JointMotion::Loads && self.motions.len() < 2;
        let can_be_fed = self.kind.has_plain_positions() && self.drive_train.is_none();
        has_one_motion && can_be_fed && self.input && self.servo.is_none() && self.dc_motor.is_none()
    }
}

impl Spec {
    /// Returns true for a controller that computes the law of tasks.
    pub fn has_law(&self) -> bool {
        self.kind == Kind::Controller && !self.task.is_empty()
    }

    /// Returns true if torques move this joint of a task of a controller.
    pub(crate) fn commands_torque(&self, joint: &str) -> bool {
        let is_in_task = self.task.values().any(|task| task.joints.iter().any(|of| of == joint));
        is_in_task && self.joint.get(joint).is_some_and(Joint::takes_torques)
    }

    /// Returns true if the spacecraft of a controller has the owner of this variable.
    fn is_in_law(&self, variable: &str) -> bool {
        let owner = variable.rsplit_once('.').map_or(variable, |(owner, _)| owner);
        let mut is_left_out = false;
        self.each_element(|section, name, _| is_left_out |= name == owner && NO_LOADS.contains(&section));
        !is_left_out
    }

    /// Returns the spacecraft for which the tasks of a controller compute their law, `None` for
    /// other specs. Joints of tasks that torques move have a servo whose feed-forward is that
    /// torque. Contacts, sensors, outputs and plans are left out.
    #[inline(never)] // importers call from threads with small stacks
    pub(crate) fn law_model(&self) -> Option<Box<Self>> {
        if !self.has_law() {
            return None;
        }
        let mut model = self.for_controller();
        (model.kind, model.controller) = (Kind::Spacecraft, None);
        (model.output.diagnostics, model.output.reactions, model.output.condition) = Default::default();
        (model.plan, model.input) = Default::default();
        model.retain_elements(|section, _, _| !NO_LOADS.contains(&section));
        for (name, joint) in &mut model.joint {
            if self.commands_torque(name) {
                joint.servo = Some(Servo {
                    kp: PerAxis::All(0.0),
                    kd: PerAxis::All(0.0),
                    on: true,
                    feed_forward: FeedForward::Rigid,
                });
            }
        }
        for task in model.task.values_mut() {
            task.sample_time = None;
            task.contacts.clear();
        }
        Some(model)
    }

    /// Returns a controller without its spacecraft.
    #[inline(never)]
    pub(crate) fn without_spacecraft(&self) -> Box<Self> {
        let mut own = self.for_controller();
        (own.body, own.ancf_beam, own.joint, own.frame) = Default::default();
        (own.wheel, own.closed_loop, own.signal, own.plan) = Default::default();
        own.environment = Default::default();
        own.retain_elements(|_, _, _| false);
        own
    }

    /// Returns a copy of a controller with tasks with the recursive formulation and the default
    /// solver, since it has no states, and without signals and values of parts that are left out.
    #[inline(never)]
    pub(crate) fn for_controller(&self) -> Box<Self> {
        let mut spec = Box::new(self.clone());
        spec.signal.retain(|input, _| self.is_in_law(input));
        spec.input.retain(|input, _| self.is_in_law(input));
        spec.assembly = None;
        // The work limit also applies to samples.
        (spec.formulation, spec.constraints, spec.quaternion) = Default::default();
        spec.solver = Solver {
            work_limit: self.solver.work_limit,
            ..Solver::default()
        };
        spec
    }
}
