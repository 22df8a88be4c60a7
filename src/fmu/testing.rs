//! A small spacecraft for the tests of this module.

use super::component::Component;
use super::description::Interfaces;
use super::guid::Guid;
use super::lifecycle::Interface;
use super::registry::Naming;
use crate::Error;
use crate::plant::Model;
use std::path::Path;
use std::sync::Arc;

pub(super) type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A free-floating base with two links: a damper and a servo (off) at the shoulder, a range at the
/// elbow, a torque input at each joint.
pub(super) const TWO_LINK: &str = r#"
name = "two_link"
[body.base]
mass = 4.0
inertia = [0.4, 0.5, 0.45]
[body.link1]
mass = 1.0
mass_centre = [0.5, 0.1, 0.0]
inertia = [0.1, 0.12, 0.15]
[body.link2]
mass = 1.2
mass_centre = [0.4, 0.0, 0.1]
inertia = [0.1, 0.11, 0.13]
[joint.shoulder]
type = "revolute"
parent = "base"
child = "link1"
origin = [0.5, 0.0, 0.0]
damping = 0.1
servo = { kp = 3.0, kd = 1.0, on = false }
[joint.elbow]
type = "revolute"
parent = "link1"
child = "link2"
origin = [1.0, 0.0, 0.0]
range = { min_deg = -150.0, max_deg = 150.0, stop = "compliant", stiffness = 50.0, damping = 1.0 }
start = { position = 0.3, rate = 0.1 }
"#;

fn model(text: &str) -> Result<Arc<Model>, Error> {
    Ok(Arc::new(Model::read(text, Path::new("."))?))
}

pub(super) fn two_link() -> Result<Arc<Model>, Error> {
    model(TWO_LINK)
}

/// Returns an instance of [`TWO_LINK`].
pub(super) fn instance(interface: Interface) -> Result<Component, Error> {
    instance_of(interface, TWO_LINK)
}

/// Returns an instance of the spec `text`.
pub(super) fn instance_of(interface: Interface, text: &str) -> Result<Component, Error> {
    let model = model(text)?;
    let guid = Guid::new(&model.to_bytes()?, Naming::Structured, Interfaces::Both);
    Component::new(interface, model, Naming::Structured, guid, true)
}
