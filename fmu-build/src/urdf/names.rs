//! Names of the spec: those of the robot where they are legal.

use super::Robot;
use super::tree::{Attachment, Tree};
use grapple::spec::{LONGEST_NAME, objection};
use std::collections::HashSet;

/// Names in the spec, by index.
pub struct Names {
    pub model: String,
    pub links: Vec<String>,
    joints: Vec<String>,
    base: String,
}

impl Names {
    /// Returns legal names similar to those in the file; a remark lists the changes.
    pub fn of(robot: &Robot, tree: &Tree, file: &str, remarks: &mut Vec<String>) -> Self {
        let stem = file.split('.').next().unwrap_or(file);
        let (mut taken, mut changed) = (HashSet::new(), Vec::new());
        let mut name = |kind: &str, written: &str| {
            let name = legal(kind, written, &taken);
            if name != written {
                changed.push(format!("{kind} \"{written}\" is {name}"));
            }
            if kind != "robot" {
                taken.insert(name.clone());
            }
            name
        };
        let model = name("robot", robot.name.as_deref().unwrap_or(stem));
        // Links in the world, and fixed joints inside a body, do not appear in the spec.
        let mut joints = vec![String::new(); robot.joints.len()];
        for j in tree.attachments.iter().filter_map(|attachment| attachment.joint) {
            joints[j] = name("joint", &robot.joints[j].name);
        }
        let mut links = vec![String::new(); robot.links.len()];
        let bodies = tree.bodies.iter().map(|body| body.link);
        for link in bodies.chain(tree.fixed_links.iter().map(|place| place.link)) {
            links[link] = name("link", &robot.links[link].name);
        }
        if !changed.is_empty() {
            remarks.push(format!("names changed, as the spec has them: {}", changed.join(", ")));
        }
        let base = legal("joint", "base_mount", &taken);
        Self {
            model,
            links,
            joints,
            base,
        }
    }

    pub fn body(&self, tree: &Tree, body: usize) -> &str {
        &self.links[tree.bodies[body].link]
    }

    pub fn joint(&self, attachment: &Attachment) -> &str {
        attachment.joint.map_or(&self.base, |j| &self.joints[j])
    }
}

/// Length reserved for a name's suffix: a kind and a number.
const SUFFIX: usize = 24;

/// Returns a legal name, similar to the one in the file, that is not taken yet.
fn legal(kind: &str, written: &str, taken: &HashSet<String>) -> String {
    let mut name: String = written
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name = format!("{kind}_{name}");
    }
    let is_free = |name: &String| objection(name).is_none() && !taken.contains(name);
    if is_free(&name) {
        return name;
    }
    // Shortened, to leave space for the suffix.
    name.truncate(LONGEST_NAME - SUFFIX);
    name = format!("{name}_{kind}");
    let mut numbered = (2..).map(|n| format!("{name}_{n}"));
    match is_free(&name) {
        true => name,
        false => numbered.find(is_free).expect("some number is free"),
    }
}
