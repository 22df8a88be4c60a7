use super::{AttitudeServo, ControlledJoint, Controller, LineLoad, References, Spec, WORLD};
use crate::Problem;
use indexmap::IndexMap;
use std::collections::HashSet;

impl Spec {
    /// Removes the tables with structural problems and those that depend on them, so that the
    /// numbers in the others can be validated.
    pub fn remove_unsound(&mut self, problems: &[Problem]) {
        // A joint with an invalid parent is validated as a joint on the world.
        let about_parent = |problem: &Problem| problem.at.get(2).is_some_and(|field| field == "parent");
        for (name, joint) in &mut self.joint {
            if problems.iter().any(|p| p.concerns("joint", name) && about_parent(p)) {
                joint.parent = WORLD.to_owned();
            }
        }
        let sound = |section: &str, name: &str| {
            !problems
                .iter()
                .any(|p| p.concerns(section, name) && !(section == "joint" && about_parent(p)))
        };
        // Plans need the whole spec.
        self.plan.clear();
        let written = owners(self);
        self.ancf_beam.retain(|name, _| sound("ancf_beam", name));
        let (bodies, beams) = (&self.body, &self.ancf_beam);
        self.frame.retain(|name, frame| {
            sound("frame", name) && (bodies.contains_key(&frame.body) || beams.contains_key(&frame.body))
        });
        let frames_left: HashSet<String> = self.frames().cloned().chain([WORLD.to_owned()]).collect();
        let stand = |names: &[&String]| names.iter().all(|name| frames_left.contains(*name));
        self.retain_elements(|section, name, table| {
            sound(section, name) && table.frames().iter().all(|field| frames_left.contains(field.frame))
        });
        self.closed_loop
            .retain(|name, closed_loop| sound("loop", name) && stand(&[&closed_loop.a, &closed_loop.b]));
        let lost = self
            .controller
            .as_mut()
            .map_or_else(HashSet::new, |controller| controller.remove_unsound(problems));
        self.wheel
            .retain(|name, wheel| sound("wheel", name) && sound("body", &wheel.body));
        let (bodies, beams) = (&self.body, &self.ancf_beam);
        let is_there = |body: &String| body == WORLD || bodies.contains_key(body) || beams.contains_key(body);
        // A body that is misread is missing, which is no error of its joints.
        self.joint
            .retain(|name, joint| sound("joint", name) && is_there(&joint.child) && is_there(&joint.parent));
        let left = owners(self);
        self.signal.retain(|input, _| {
            let owner = input.rsplit_once('.').map_or(input.as_str(), |(owner, _)| owner);
            (left.contains(owner) || !written.contains(owner))
                && sound("body", owner)
                && sound("signal", input)
                && !lost.contains(owner)
        });
        for (name, body) in &mut self.body {
            let of = |part: &str| {
                let mut own = problems.iter().filter(|p| p.concerns("body", name));
                own.any(|p| p.at.get(2).is_some_and(|field| field == part))
            };
            if of("beam") {
                body.beam = None;
                let bare = |load: &LineLoad| load.body == *name;
                self.line_load.retain(|_, load| !bare(load));
                self.thermal_bending.retain(|_, bending| bending.body != *name);
            }
            if of("modal") {
                body.modal = None;
            }
            if of("geometrically_exact_beam") {
                body.geometrically_exact_beam = None;
            }
            let lost = |servo: &AttitudeServo| servo.wheels.iter().any(|wheel| !self.wheel.contains_key(wheel));
            if of("attitude_servo") || body.attitude_servo.as_deref().is_some_and(lost) {
                body.attitude_servo = None;
            }
        }
    }
}

/// Returns the names of the tables that have inputs, except bodies.
fn owners(spec: &Spec) -> HashSet<String> {
    let mut owners: HashSet<String> = spec.joint.keys().cloned().collect();
    owners.extend(spec.added().into_iter().flat_map(|added| added.parts).flatten());
    spec.each_element(|_, name, _| {
        owners.insert(name.to_owned());
    });
    owners
}

impl Controller {
    /// Removes the joints and attitudes with structural problems. Returns the names before the first
    /// point of the inputs that are lost with them.
    fn remove_unsound(&mut self, problems: &[Problem]) -> HashSet<String> {
        let is_sound = |kind: &str, name: &str| {
            let mut own = problems.iter().filter(|problem| problem.concerns("controller", kind));
            !own.any(|problem| problem.at.get(2).is_some_and(|at| at == name))
        };
        let mut lost = HashSet::new();
        let axes = |joints: &IndexMap<String, ControlledJoint>| joints.values().map(|joint| joint.kind.rates()).sum();
        let before: usize = axes(&self.joint);
        self.joint.retain(|name, _| {
            let is_sound = is_sound("joint", name);
            lost.extend((!is_sound).then(|| name.clone()));
            is_sound
        });
        if self.references == References::Vector && !lost.is_empty() {
            let vector = |field| (1..=before).map(move |i| format!("{field}[{i}]"));
            lost.extend(vector("q_ref").chain(vector("qd_ref")));
        }
        self.attitude.retain(|body, attitude| {
            let is_sound = is_sound("attitude", body);
            if !is_sound {
                lost.extend(std::iter::once(body).chain(attitude.wheel.keys()).cloned());
            }
            is_sound
        });
        lost
    }
}
