use super::Check;
use crate::Problem;
use crate::spec::{ControlledJoint, Formulation, PerAxis, Solver, names};

impl Check<'_> {
    /// Validates the spec of a controller: joints with gains, no bodies.
    pub(super) fn controller(&mut self) {
        let spec = self.spec;
        let of_craft = [
            ("body", !spec.body.is_empty()),
            ("ancf_beam", !spec.ancf_beam.is_empty()),
            ("joint", !spec.joint.is_empty()),
            ("frame", !spec.frame.is_empty()),
            ("wheel", !spec.wheel.is_empty()),
            ("constraints", spec.constraints.is_some()),
            ("quaternion", spec.quaternion.is_some()),
            ("formulation", spec.formulation != Formulation::default()),
            ("environment", spec.environment != Default::default()),
            // The work limit also applies to the samples of a controller.
            (
                "solver",
                spec.solver
                    != Solver {
                        work_limit: spec.solver.work_limit,
                        ..Solver::default()
                    },
            ),
        ];
        let mut elements = Vec::new();
        spec.each_element(|section, _, _| elements.push((section, true)));
        elements.dedup();
        for (section, written) in of_craft.into_iter().chain(elements) {
            if written {
                let what =
                    "a controller has no such section: it belongs to the spacecraft, which has its own file and FMU";
                self.report(section, "", "", what);
            }
        }
        let Some(controller) = &spec.controller else {
            let what = "a controller needs its section: write [controller.joint.<name>] with `kp` and `kd`";
            return self.report("kind", "", "", what);
        };
        if controller.joint.is_empty() {
            let what = "there is no joint to control: write [controller.joint.<name>] with `kp` and `kd`";
            self.report("controller", "", "", what);
        }
        for (name, joint) in &controller.joint {
            if let Some(what) = names::objection(name) {
                self.of_controlled(name, "", what);
            }
            self.controlled(name, joint);
        }
    }

    /// Validates a joint of a controller.
    fn controlled(&mut self, name: &str, joint: &ControlledJoint) {
        let (kind, count) = (joint.kind.name(), joint.kind.rates());
        if !joint.kind.has_plain_positions() {
            let what = format!("a {kind} joint has no coordinates that a proportional gain could act on");
            return self.of_controlled(name, "type", what);
        }
        let numbers = [
            ("kp", Some(&joint.kp)),
            ("kd", Some(&joint.kd)),
            ("torque_limit", joint.torque_limit.as_ref()),
        ];
        for (field, value) in numbers {
            if let Some(PerAxis::Each(list)) = value
                && list.len() != count
            {
                let what = format!("{} numbers, but a {kind} joint has {count} of them", list.len());
                self.of_controlled(name, field, what);
            }
        }
    }

    /// Adds a problem of a controller's joint. Its name may contain points, and is not split at
    /// them.
    fn of_controlled(&mut self, name: &str, field: &str, what: String) {
        let field = (!field.is_empty()).then_some(field);
        let at = ["controller", "joint", name].into_iter().chain(field);
        self.problems.push(Problem {
            at: at.map(str::to_owned).collect(),
            what,
        });
    }
}
