use super::Check;
use crate::spec::{Controller, Spec};

impl Check<'_> {
    /// Validates a controller with tasks, whose spacecraft is `model`: its structure, and parts
    /// with motions or discrete states that a controller does not measure.
    pub(super) fn law(&mut self, model: &Spec) {
        let spec = self.spec;
        match &spec.controller {
            None => {
                let what =
                    "a controller needs its section: write [controller], with `sample_time` if the law is sampled";
                self.report("kind", "", "", what);
            }
            Some(controller) => self.section_of_law(controller),
        }
        for (name, task) in &spec.task {
            if task.sample_time.is_some() {
                let what = "a controller samples all its inputs together: write `sample_time` in [controller]";
                self.report("task", name, "sample_time", what);
            }
            if !task.contacts.is_empty() {
                let what = "a controller computes no contact forces: leave `contacts` out, and the measured wrench is \
                            the inputs <task>.f and <task>.t";
                self.report("task", name, "contacts", what);
            }
        }
        for name in spec.ancf_beam.keys() {
            self.report("ancf_beam", name, "", unmeasured("the deformation of an ANCF beam"));
        }
        for name in spec.plan.keys() {
            let what = "the spacecraft of a controller has no plans: write [signal.\"<joint>.q_ref\"]";
            self.report("plan", name, "", what);
        }
        for (name, joint) in &spec.joint {
            if joint.motions.len() > 1 {
                let what =
                    "a controller does not measure the present motion of a joint: write motions = [] in its spec";
                self.report("joint", name, "motions", what);
            }
            if joint.dc_motor.is_some() {
                self.report("joint", name, "dc_motor", unmeasured("the current of a motor"));
            }
        }
        Check {
            spec: model,
            problems: self.problems,
        }
        .craft();
    }

    fn section_of_law(&mut self, controller: &Controller) {
        if !controller.joint.is_empty() || !controller.attitude.is_empty() {
            let what = "a controller has either tasks, or joints and attitudes: write a file for each";
            self.report("controller", "", "", what);
        }
        let defaults = Controller::default();
        for (field, is_written) in [
            ("references", controller.references != defaults.references),
            ("reference_unit", controller.reference_unit != defaults.reference_unit),
        ] {
            if is_written {
                self.report(
                    "controller",
                    "",
                    field,
                    "only the references of [controller.joint.<name>] read this field",
                );
            }
        }
    }
}

fn unmeasured(what: &str) -> String {
    format!("a controller does not measure {what}: its spacecraft is a file without it, which it includes")
}
