//! Parts of a spec: some of its bodies, with all that belongs to them.

use super::{Spec, WORLD};

/// Table of a spec that connects bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Section of the spec.
    pub section: &'static str,
    /// Name of the table.
    pub name: String,
    /// Bodies and ANCF beams that it connects, without the world.
    pub bodies: Vec<String>,
}

impl Spec {
    /// Returns the body or ANCF beam to which a frame is fixed, or which has this name itself; `None`
    /// for the world.
    pub fn body_of<'a>(&'a self, frame: &'a str) -> Option<&'a str> {
        let body = self.frame.get(frame).map_or(frame, |frame| &frame.body);
        (body != WORLD).then_some(body)
    }

    /// Returns all joints, loops and elements with the bodies on which they act.
    pub fn connections(&self) -> Vec<Connection> {
        let mut found = Vec::new();
        let mut add = |section, name: &str, frames: &[&str]| {
            let bodies = frames.iter().filter_map(|frame| self.body_of(frame));
            found.push(Connection {
                section,
                name: name.to_owned(),
                bodies: bodies.map(str::to_owned).collect(),
            });
        };
        for (name, joint) in &self.joint {
            add("joint", name, &[&joint.parent, &joint.child]);
        }
        for (name, closed) in &self.closed_loop {
            add("loop", name, &[&closed.a, &closed.b]);
        }
        for (name, coupling) in &self.coupling {
            let joints = [&coupling.joint, &coupling.follows].map(|joint| self.joint.get(joint));
            let children: Vec<&str> = joints.iter().flatten().map(|joint| joint.child.as_str()).collect();
            add("coupling", name, &children);
        }
        self.each_element(|section, name, table| {
            let frames: Vec<&str> = table.frames().iter().map(|field| field.frame).collect();
            if section != "coupling" {
                add(section, name, &frames);
            }
        });
        found
    }

    /// Returns the part of the spec with the bodies and ANCF beams for which `keeps` returns true:
    /// joints with their children, and what acts on the bodies. Signals and all options are kept.
    pub fn part(&self, keeps: impl Fn(&str) -> bool) -> Self {
        let mut part = self.clone();
        part.body.retain(|name, _| keeps(name));
        part.ancf_beam.retain(|name, _| keeps(name));
        part.joint.retain(|_, joint| keeps(&joint.child));
        part.frame.retain(|_, frame| keeps(&frame.body));
        part.wheel.retain(|_, wheel| keeps(&wheel.body));
        let acts = |frame: &str| self.body_of(frame).is_some_and(&keeps);
        part.closed_loop.retain(|_, closed| acts(&closed.a) || acts(&closed.b));
        part.retain_elements(|_, _, table| {
            let frames = table.frames();
            frames.is_empty() || frames.iter().any(|field| acts(field.frame))
        });
        let has = |joint: &String| part.joint.contains_key(joint);
        part.coupling.retain(|_, of| has(&of.joint) && has(&of.follows));
        part.sensor.retain(|_, of| of.joint.as_ref().is_none_or(has));
        part.line_load.retain(|_, load| keeps(&load.body));
        part.thermal_bending.retain(|_, bending| keeps(&bending.body));
        part
    }
}
