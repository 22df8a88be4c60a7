//! A small craft for this floor's tests.

use super::registry::{Guid, Naming};
use crate::plant::Model;
use crate::{Error, spec};
use std::path::Path;
use std::sync::Arc;

pub(super) type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A free base with two links, a damper and a range; a torque input at each joint.
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

pub(super) fn compiled(text: &str) -> Result<Arc<Model>, Error> {
    Ok(Arc::new(Model::compile(&spec::read(text, Path::new("."))?)?))
}

pub(super) fn two_link() -> Result<(Arc<Model>, Guid), Error> {
    let model = compiled(TWO_LINK)?;
    let guid = Guid::new(&model.to_bytes()?, Naming::Structured);
    Ok((model, guid))
}

/// A number the optimiser does not see through.
pub(super) fn opaque<T>(value: T) -> T {
    std::hint::black_box(value)
}
