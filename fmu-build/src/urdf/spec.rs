//! The text of the spec of a robot. Data that a spec does not support are comments in it.

use super::names::Names;
use super::tree::{Attachment, Carrier, Tree};
use super::visual::{MeshCopy, shapes};
use super::{Joint, Kind, Mimic, Placement, Robot};
use crate::import::MeshOptions;
use crate::text::{count, number};
use grapple::algebra::{Sym3, Vec3};
use std::collections::HashSet;

/// Rate at which dry friction reaches 76 % of its torque (force), rad/s (m/s). URDF does not define
/// such a rate.
const SLIP: f64 = 0.01;

/// A spec, with remarks for the user.
pub struct Converted {
    pub text: String,
    /// Name of the robot.
    pub name: String,
    pub remarks: Vec<String>,
    /// Files of meshes to be copied.
    pub meshes: Vec<MeshCopy>,
}

/// Returns the spec of a robot that was read from `file`.
pub fn spec(robot: &Robot, tree: &Tree, file: &str, options: &MeshOptions) -> Converted {
    let mut remarks = unlikely_data(robot, tree);
    remarks.extend(tree.remarks.iter().cloned());
    let names = Names::of(robot, tree, file, &mut remarks);
    let mut page = Page::default();
    head(&mut page, robot, tree, &names, file);
    bodies(&mut page, robot, tree, &names);
    joints(&mut page, robot, tree, &names, &mut remarks);
    places(&mut page, tree, &names);
    let meshes = shapes(&mut page, robot, tree, &names, options, &mut remarks);
    tail(&mut page, tree, &names);
    Converted {
        text: page.text,
        name: names.model,
        remarks,
        meshes,
    }
}

/// Returns remarks on unlikely data.
fn unlikely_data(robot: &Robot, tree: &Tree) -> Vec<String> {
    let mut remarks = Vec::new();
    let (mut centred, mut massless) = (Vec::new(), Vec::new());
    let mut is_carried = vec![false; robot.links.len()];
    for attachment in &tree.attachments {
        let by_joint = attachment.joint.is_some() && attachment.kind != Kind::Floating;
        is_carried[tree.bodies[attachment.body].link] = by_joint;
    }
    for (i, link) in robot.links.iter().enumerate() {
        let Some(inertial) = &link.inertial else { continue };
        let name = &link.name;
        if inertial.m == 0.0 {
            massless.push(name.as_str());
            continue;
        }
        let mut moments: Vec<f64> = inertial.I_cm.full().symmetric_eigenvalues().iter().copied().collect();
        moments.sort_by(f64::total_cmp);
        let [low, middle, high] = [moments[0], moments[1], moments[2]];
        let principal = [low, middle, high].map(|moment| number(moment, 6)).join(", ");
        if low <= 0.0 {
            remarks.push(format!(
                "link \"{name}\": its inertia is not positive definite, with the principal moments {principal} kg·m²"
            ));
        } else if high > (low + middle) * (1.0 + 1e-9) {
            remarks.push(format!(
                "link \"{name}\": no rigid body has its inertia, whose principal moments {principal} kg·m² violate the \
                 triangle inequality"
            ));
        }
        if inertial.c.norm() == 0.0 && is_carried[i] {
            centred.push(name.as_str());
        }
    }
    if !centred.is_empty() {
        remarks.push(format!(
            "mass centre at the joint: {}; if this is not intended, add the <origin> of the <inertial>",
            centred.join(", ")
        ));
    }
    if !massless.is_empty() {
        remarks.push(format!("no mass in the <inertial>: {}", massless.join(", ")));
    }
    remarks
}

/// A text in which each explanation is given once, at its first use.
#[derive(Default)]
pub struct Page {
    text: String,
    explained: HashSet<String>,
}

impl Page {
    pub fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    pub fn section(&mut self, title: &str) {
        self.line(&format!("\n# {:->110}", format!(" {title}")));
    }

    fn field(&mut self, field: &str, value: &str, explanation: &str) {
        let line = format!("{field} = {value}");
        if explanation.is_empty() || !self.explained.insert(explanation.to_owned()) {
            self.line(&line);
        } else {
            self.line(&format!("{line:<40} # {explanation}"));
        }
    }

    fn placement(&mut self, X: &Placement, of: &str) {
        if X.p_AB != Vec3::zeros() {
            let from = format!("m, from the {of}'s origin, {of} axes");
            self.field("origin", &list(X.p_AB.as_slice()), &from);
        }
        if X.is_turned() {
            match X.rpy {
                Some(rpy) => self.field(
                    "rpy_deg",
                    &list(&rpy.map(f64::to_degrees)),
                    &format!("roll, pitch, yaw about the {of}'s fixed axes"),
                ),
                None => self.field(
                    "orientation",
                    &list(&X.q_AB.normalised().to_array()),
                    &format!("attitude in the {of}, quaternion (w, x, y, z)"),
                ),
            }
        }
    }
}

pub fn list(numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(|x| plain(*x)).collect();
    format!("[{}]", numbers.join(", "))
}

/// Formats a number so that it reads back exactly; zero has no minus sign.
fn plain(x: f64) -> String {
    format!("{:?}", x + 0.0)
}

fn head(page: &mut Page, robot: &Robot, tree: &Tree, names: &Names, file: &str) {
    let (links, joints) = (count(robot.links.len(), "link"), count(robot.joints.len(), "joint"));
    page.line(&format!(
        "# Imported by `grapple import` from {}: {links}, {joints}.",
        file.escape_debug()
    ));
    page.line("#\n# Units are SI: kg, m, s, rad, N, N·m. Every number here is a parameter of the FMU.");
    page.line(&format!("name = {:?}", names.model));
    let floats = tree.bodies.iter().any(|body| body.start.is_some());
    let base = if floats { "with a free base" } else { "on the world" };
    page.line(&format!(
        "description = {}",
        toml::Value::from(format!("{file}, {base}"))
    ));
    page.line("\n# Free space, since URDF does not define gravity. On the ground:");
    page.line("# [environment]\n# gravity = [0.0, 0.0, -9.80665]          # m/s², world axes");
}

fn bodies(page: &mut Page, robot: &Robot, tree: &Tree, names: &Names) {
    page.section("bodies");
    page.line("# Each has the frame of its link. Its mass includes the links on fixed joints.");
    for body in &tree.bodies {
        page.line("");
        if !body.lumped.is_empty() {
            let links: Vec<&str> = body.lumped.iter().map(|&i| robot.links[i].name.as_str()).collect();
            page.line(&format!("# With {}.", links.join(", ").escape_debug()));
        }
        page.line(&format!("[body.{}]", names.links[body.link]));
        let inertial = &body.inertial;
        page.field("mass", &plain(inertial.m), "kg");
        if inertial.c.norm() > 0.0 {
            page.field(
                "mass_centre",
                &list(inertial.c.as_slice()),
                "m, from the body's origin, body axes",
            );
        }
        let Sym3 { d, o } = inertial.I_cm;
        match o == [0.0; 3] {
            true => page.field("inertia", &list(&d), "kg·m², about the mass centre: Ixx, Iyy, Izz"),
            false => page.field(
                "inertia",
                &list(&[d, o].concat()),
                "kg·m², about the mass centre: Ixx, Iyy, Izz, Ixy, Ixz, Iyz",
            ),
        }
        if let Some(X) = &body.start {
            let mut start = vec![format!("position = {}", list(X.p_AB.as_slice()))];
            if X.is_turned() {
                start.push(format!("attitude = {}", list(&X.q_AB.normalised().to_array())));
            }
            page.field("start", &format!("{{ {} }}", start.join(", ")), "m; it floats freely");
        }
    }
}

fn joints(page: &mut Page, robot: &Robot, tree: &Tree, names: &Names, remarks: &mut Vec<String>) {
    if tree.attachments.is_empty() {
        return;
    }
    page.section("joints");
    page.line("# Each has its torque (force) as the input <joint>.tau.");
    if robot.joints.iter().any(|joint| range(joint).is_some()) {
        page.line("# A range sets the output <joint>.out_of_range where it is left. To have a stop at its ends, add to it numbers");
        page.line("# that URDF does not have: stop = \"compliant\", stiffness = 1e4 (N·m/rad, N/m), damping = 10.0 (N·m·s/rad, N·s/m).");
    }
    for attachment in &tree.attachments {
        page.line("");
        let joint = attachment.joint.map(|j| &robot.joints[j]);
        let follows = joint.and_then(|joint| Some((joint, leader(robot, tree, joint, remarks)?)));
        page.line(&format!("[joint.{}]", names.joint(attachment)));
        let kind = match attachment.kind {
            Kind::Revolute | Kind::Continuous => "revolute",
            Kind::Prismatic => "prismatic",
            Kind::Fixed => "fixed",
            Kind::Floating => "free",
        };
        page.field("type", &format!("{kind:?}"), "");
        let parent = match attachment.carrier {
            Carrier::World => "world",
            Carrier::Body(body) => names.body(tree, body),
        };
        page.field("parent", &format!("{parent:?}"), "");
        page.field("child", &format!("{:?}", names.body(tree, attachment.body)), "");
        page.placement(&attachment.placement, "parent");
        if let Some(joint) = joint
            && matches!(attachment.kind, Kind::Revolute | Kind::Continuous | Kind::Prismatic)
        {
            motion(page, joint, follows.map(|(_, leader)| leader), remarks);
        }
        if let Some((joint, (mimic, leader))) = follows {
            let name = names.joint(attachment);
            page.line(&format!("\n[coupling.{}]", coupling_name(name, tree, names)));
            page.field("joint", &format!("{name:?}"), "");
            page.field("follows", &format!("{:?}", names.joint(leader)), "");
            page.field("ratio", &plain(mimic.multiplier), "");
            let unit = if joint.kind == Kind::Prismatic { "m" } else { "rad" };
            page.field("offset", &plain(mimic.offset), unit);
        }
    }
}

/// Joint that another one mimics: the relation of the positions, and its position in the tree.
type Leader<'a> = (&'a Mimic, &'a Attachment);

/// Returns what a joint mimics, `None` if it mimics nothing, or nothing that it can follow.
fn leader<'a>(robot: &'a Robot, tree: &'a Tree, joint: &'a Joint, remarks: &mut Vec<String>) -> Option<Leader<'a>> {
    let mimic = joint.mimic.as_ref()?;
    let moving = |name: &str| {
        let moves = |of: &&Attachment| matches!(of.kind, Kind::Revolute | Kind::Continuous | Kind::Prismatic);
        let mut attached = tree.attachments.iter().filter(moves);
        attached.find(|of| of.joint.is_some_and(|j| robot.joints[j].name == name))
    };
    let next = |of: &&'a Mimic| robot.joints.iter().find(|next| next.name == of.joint)?.mimic.as_ref();
    let chain = std::iter::successors(Some(mimic), next).take(robot.joints.len() + 1);
    let is_cyclic = chain.count() > robot.joints.len();
    let why = match (moving(&joint.name), moving(&mimic.joint)) {
        _ if is_cyclic => "which mimics it",
        _ if mimic.multiplier == 0.0 => "with the multiplier 0",
        (Some(_), Some(leader)) => return Some((mimic, leader)),
        (None, _) => return None,
        (_, None) => "and there is no such joint that moves",
    };
    remarks.push(format!(
        "joint \"{}\" mimics {}, {why}: it moves independently",
        joint.name, mimic.joint
    ));
    None
}

/// Returns a name for the coupling of a joint that no link, joint or frame has.
fn coupling_name(joint: &str, tree: &Tree, names: &Names) -> String {
    let is_taken =
        |name: &String| names.links.contains(name) || tree.attachments.iter().any(|of| names.joint(of) == *name);
    let mut name = format!("{joint}_mimic");
    while is_taken(&name) {
        name.push('_');
    }
    name
}

/// Writes the other fields of a joint that moves: axis, range, start, motor, damping, friction.
/// A joint with a `leader` has no start of its own: its coupling determines it.
fn motion(page: &mut Page, joint: &Joint, leader: Option<Leader>, remarks: &mut Vec<String>) {
    let name = &joint.name;
    let (angle, rate, torque, viscous) = match joint.kind {
        Kind::Prismatic => ("m", "m/s", "N", "N·s/m"),
        _ => ("rad", "rad/s", "N·m", "N·m·s/rad"),
    };
    page.field("axis", &list(joint.axis.as_slice()), "in the joint's frame");
    if let Some([low, high]) = range(joint) {
        let range = format!("{{ min = {}, max = {} }}", plain(low), plain(high));
        page.field("range", &range, angle);
        if leader.is_none() && !(low..=high).contains(&0.0) {
            let middle = 0.5 * (low + high);
            page.field(
                "start",
                &format!("{{ position = {} }}", plain(middle)),
                &format!("{angle}, zero is outside the range"),
            );
            remarks.push(format!(
                "joint \"{name}\": zero is outside its range; it starts at the midpoint, {} {angle}",
                number(middle, 6)
            ));
        }
    } else if joint.kind != Kind::Continuous {
        remarks.push(format!(
            "joint \"{name}\" has no range: the lower limit is not below the upper"
        ));
    }
    let limit = |what: &str, limit: Option<f64>, remarks: &mut Vec<String>| {
        let limit = limit?;
        if limit <= 0.0 {
            remarks.push(format!(
                "joint \"{name}\": its limit {what} = {limit} would block it; it is omitted"
            ));
        }
        Some(limit).filter(|&limit| limit > 0.0)
    };
    let effort = limit("effort", joint.effort, remarks);
    let velocity = limit("velocity", joint.velocity, remarks);
    match (effort, velocity) {
        (Some(effort), Some(velocity)) => page.field(
            "motor",
            &format!(
                "{{ torque_limit = {}, rate_limit = {} }}",
                plain(effort),
                plain(velocity)
            ),
            &format!("{torque}, {rate}: limits of the motor"),
        ),
        (Some(effort), None) => page.field("motor", &format!("{{ torque_limit = {} }}", plain(effort)), torque),
        (None, Some(velocity)) => {
            page.line(&format!(
                "# velocity = {} {rate}: a motor also needs a torque limit",
                plain(velocity)
            ));
        }
        (None, None) => {}
    }
    if joint.damping != 0.0 {
        page.field("damping", &plain(joint.damping), viscous);
    }
    if joint.friction != 0.0 {
        let friction = format!("{{ coulomb = {}, slip = {SLIP} }}", plain(joint.friction));
        page.field(
            "friction",
            &friction,
            &format!("{torque}; {rate} at which 76 % of it acts, not defined in URDF"),
        );
    }
}

/// Returns the range of a joint, if its lower limit is below the upper.
fn range(joint: &Joint) -> Option<[f64; 2]> {
    if !matches!(joint.kind, Kind::Revolute | Kind::Prismatic) {
        return None;
    }
    let (low, high) = (joint.lower.unwrap_or(0.0), joint.upper.unwrap_or(0.0));
    (low < high).then_some([low, high])
}

fn places(page: &mut Page, tree: &Tree, names: &Names) {
    if tree.fixed_links.is_empty() {
        return;
    }
    page.section("frames");
    page.line("# The links on fixed joints, as frames on their bodies; the pose and motion of each are outputs.");
    for place in &tree.fixed_links {
        page.line(&format!("\n[frame.{}]", names.links[place.link]));
        page.field("body", &format!("{:?}", names.body(tree, place.body)), "");
        page.placement(&place.placement, "body");
    }
}

fn tail(page: &mut Page, tree: &Tree, names: &Names) {
    page.section("the run");
    let mut moving = tree
        .attachments
        .iter()
        .filter(|attachment| !matches!(attachment.kind, Kind::Fixed | Kind::Floating));
    if let Some(attachment) = moving.next() {
        page.line("# Torques are set by the importer, or by signals like this:");
        page.line(&format!("# [signal.\"{}.tau\"]", names.joint(attachment)));
        page.line("# type = \"sine\"\n# amplitude = 1.0\n# frequency = 0.5                         # Hz");
        page.line("# from_importer = false                       # inside the FMU\n");
    }
    page.line("[experiment]");
    page.field("stop_time", "10.0", "s");
    page.field("step", "0.01", "s, spacing of the results");
    page.field("tolerance", "1e-9", "relative");
}
