use super::Check;
use crate::Problem;
use crate::spec::{ControlledAttitude, ControlledJoint, Controller, Filter, Formulation, PerAxis, Solver, names};
use std::collections::HashMap;

impl Check<'_> {
    /// Validates the spec of a controller: joints and attitudes with gains, no bodies.
    pub(super) fn controller(&mut self) {
        let spec = self.spec;
        let of_craft = [
            ("body", !spec.body.is_empty()),
            ("ancf_beam", !spec.ancf_beam.is_empty()),
            ("joint", !spec.joint.is_empty()),
            ("frame", !spec.frame.is_empty()),
            ("wheel", !spec.wheel.is_empty()),
            ("plan", !spec.plan.is_empty()),
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
            let what = "a controller needs its section: write [controller.joint.<name>] or [controller.attitude.<body>] with `kp` and `kd`";
            return self.report("kind", "", "", what);
        };
        if controller.joint.is_empty() && controller.attitude.is_empty() {
            let what = "there is nothing to control: write [controller.joint.<name>] or [controller.attitude.<body>] with `kp` and `kd`";
            self.report("controller", "", "", what);
        }
        self.controlled_names(controller);
        for (name, joint) in &controller.joint {
            self.controlled(name, joint);
        }
        for (name, attitude) in &controller.attitude {
            self.controlled_attitude(name, attitude);
        }
    }

    /// Reports names of joints, bodies, ports, wheels and thrusters that are invalid or not unique:
    /// each is that of one part of the spacecraft.
    fn controlled_names(&mut self, controller: &Controller) {
        let mut names: Vec<(Vec<&str>, &str, &str)> = Vec::new();
        names.extend(
            controller
                .joint
                .keys()
                .map(|name| (vec!["joint", name], "joint", &**name)),
        );
        for (body, attitude) in &controller.attitude {
            let place = vec!["attitude", body];
            let within = |field: &[&'static str]| [&place[..], field].concat();
            let ports = attitude.port.iter().map(|port| (within(&["port"]), "port", &**port));
            let wheels = attitude.wheel.keys().map(|wheel| {
                let place = [&within(&["wheel"])[..], &[&**wheel]].concat();
                (place, "wheel", &**wheel)
            });
            let thrusters = attitude.thruster.keys().map(|thruster| {
                let place = [&within(&["thruster"])[..], &[&**thruster]].concat();
                (place, "thruster", &**thruster)
            });
            let parts: Vec<_> = ports.chain(wheels).chain(thrusters).collect();
            names.push((place.clone(), "body", body));
            names.extend(parts);
        }
        let mut owners: HashMap<&str, &str> = HashMap::new();
        for (place, kind, name) in names {
            if let Some(what) = names::objection_to_parts(name) {
                self.of_controller(&place, what);
            }
            if let Some(owner) = owners.insert(name, kind) {
                let what = format!("the name \"{name}\" is already that of a {owner}");
                self.of_controller(&place, what);
            }
        }
    }

    /// Validates an attitude of a controller.
    fn controlled_attitude(&mut self, body: &str, attitude: &ControlledAttitude) {
        let place = |field: &'static str| ["attitude", body, field];
        for (field, gain) in [("kp", &attitude.kp), ("kd", &attitude.kd)] {
            if let PerAxis::Each(values) = gain
                && values.len() != 3
            {
                let what = format!("{} numbers for 3 axes", values.len());
                self.of_controller(&place(field), what);
            }
        }
        self.filters(&["attitude", body, "filter"], &attitude.filter);
        self.desaturation(body, attitude);
        let what = match (&attitude.port, attitude.wheel.is_empty()) {
            (None, true) => "nothing exerts the moment: write `port`, or a [controller.attitude.<body>.wheel.<wheel>]",
            (Some(_), false) => "wheels exert the moment, or a port: write one of them",
            _ => return,
        };
        self.of_controller(&["attitude", body], what.to_owned());
    }

    /// Reports fields of desaturation that are missing with thrusters, or written without them.
    fn desaturation(&mut self, body: &str, attitude: &ControlledAttitude) {
        let has_thrusters = !attitude.thruster.is_empty();
        if has_thrusters && attitude.wheel.is_empty() {
            let what = "thrusters desaturate wheels, and there is no wheel".to_owned();
            self.of_controller(&["attitude", body, "thruster"], what);
        }
        let fields = [
            ("momentum_limit", attitude.momentum_limit, true),
            ("momentum_release", attitude.momentum_release, false),
            ("desaturation_time", attitude.desaturation_time, true),
        ];
        let fields = fields.map(|(field, value, is_needed)| (vec!["attitude", body, field], value, is_needed));
        let wheels = attitude.wheel.iter().map(|(name, wheel)| {
            let place = vec!["attitude", body, "wheel", name, "inertia"];
            (place, wheel.inertia, true)
        });
        let fields: Vec<_> = fields.into_iter().chain(wheels).collect();
        for (place, value, is_needed) in fields {
            let what = match (has_thrusters, value) {
                (true, None) if is_needed => "desaturation by thrusters needs this field",
                (false, Some(_)) => "only desaturation by thrusters reads this field, and there is no thruster",
                _ => continue,
            };
            self.of_controller(&place, what.to_owned());
        }
    }

    /// Validates a joint of a controller.
    fn controlled(&mut self, name: &str, joint: &ControlledJoint) {
        let (kind, count) = (joint.kind.name(), joint.kind.rates());
        if !joint.kind.has_plain_positions() {
            let what = format!("a {kind} joint has no coordinates that a proportional gain could act on");
            return self.of_controller(&["joint", name, "type"], what);
        }
        self.filters(&["joint", name, "filter"], &joint.filter);
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
                self.of_controller(&["joint", name, field], what);
            }
        }
    }

    fn filters(&mut self, place: &[&str], filters: &[Filter]) {
        let sample_time = self.spec.controller.as_ref().and_then(|of| of.sample_time);
        for what in Filter::problems(filters, sample_time) {
            self.of_controller(place, what);
        }
    }

    /// Adds a problem at this path below `controller`. A name in it may contain points, and is not
    /// split at them.
    fn of_controller(&mut self, place: &[&str], what: String) {
        let at = ["controller"].into_iter().chain(place.iter().copied());
        self.problems.push(Problem {
            at: at.map(str::to_owned).collect(),
            what,
        });
    }
}
