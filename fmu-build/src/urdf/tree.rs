//! Links gathered into bodies: what fixed joints hold together is one rigid body.

use super::{Fault, Inertial, Joint, Kind, Placement, Robot};
use std::ops::Range;

/// What carries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    World,
    Body(usize),
}

/// A rigid body in the frame of its first link.
pub struct Body {
    pub link: usize,
    pub inertial: Inertial,
    /// Where it floats at the start, if no joint holds it.
    pub start: Option<Placement>,
    /// Links with mass beside the first.
    pub lumped: Vec<usize>,
}

/// A joint between bodies.
pub struct Attachment {
    /// Of the robot. None holds the base on the world.
    pub joint: Option<usize>,
    pub kind: Kind,
    pub carrier: Carrier,
    pub body: usize,
    pub placement: Placement,
}

/// A link on a fixed joint, as a place on the body that carries it.
pub struct FixedLink {
    pub link: usize,
    pub body: usize,
    pub placement: Placement,
}

/// A robot without massless bodies.
#[derive(Default)]
pub struct Tree {
    pub bodies: Vec<Body>,
    pub attachments: Vec<Attachment>,
    pub fixed_links: Vec<FixedLink>,
    /// What a user should know of it.
    pub remarks: Vec<String>,
}

/// How a robot is to be taken.
#[derive(Clone, Copy)]
pub struct ImportOptions {
    /// Its base floats freely, or is welded to the world.
    pub floating: bool,
    /// Links with mass on fixed joints stay bodies of their own.
    pub keep_fixed: bool,
}

impl Tree {
    /// # Errors
    /// All that keeps the links from being a tree of bodies with mass.
    pub fn of(robot: &Robot, options: ImportOptions) -> Result<Self, Vec<Fault>> {
        let mut gathering = Gathering {
            robot,
            options,
            below: vec![Vec::new(); robot.links.len()],
            carries_mass: vec![false; robot.links.len()],
            is_heavy: vec![false; robot.links.len()],
            tree: Self::default(),
            faults: Vec::new(),
        };
        if let Some(root) = gathering.root() {
            gathering.base(root);
        }
        match gathering.faults.is_empty() {
            true => Ok(gathering.tree),
            false => Err(gathering.faults),
        }
    }
}

struct Gathering<'a> {
    robot: &'a Robot,
    options: ImportOptions,
    /// The joints that each link carries.
    below: Vec<Vec<usize>>,
    /// Whether a link or anything on it has mass.
    carries_mass: Vec<bool>,
    /// Whether a link or what is fixed to it has mass.
    is_heavy: Vec<bool>,
    tree: Tree,
    faults: Vec<Fault>,
}

/// A joint that waits for what is on it to be seated: it stands on a link at `X` on its carrier.
struct Waiting {
    joint: usize,
    carrier: Carrier,
    X: Placement,
}

/// The link that is the inertial frame.
const WORLD: &str = "world";

impl Gathering<'_> {
    fn fault(&mut self, place: &Range<usize>, what: String) {
        self.faults.push((what, Some(place.clone())));
    }

    /// The link that no joint carries, if all others stand on it.
    fn root(&mut self) -> Option<usize> {
        let Robot { links, joints, .. } = self.robot;
        let mut above: Vec<Option<&Joint>> = vec![None; links.len()];
        for (i, joint) in joints.iter().enumerate() {
            match above[joint.child] {
                Some(first) => {
                    let (link, first) = (&links[joint.child].name, &first.name);
                    self.fault(
                        &joint.place,
                        format!("link \"{link}\" is already carried by joint \"{first}\""),
                    );
                }
                None => {
                    above[joint.child] = Some(joint);
                    self.below[joint.parent].push(i);
                }
            }
        }
        if !self.faults.is_empty() {
            return None;
        }
        let roots: Vec<usize> = (0..links.len()).filter(|&i| above[i].is_none()).collect();
        for &second in roots.iter().skip(1) {
            let (link, root) = (&links[second], &links[roots[0]].name);
            let what = format!(
                "link \"{}\" stands on nothing, and the root is \"{root}\" already",
                link.name
            );
            self.fault(&link.place, what);
        }
        // Each after the one that carries it.
        let mut reached = roots.clone();
        let mut next = 0;
        while let Some(&link) = reached.get(next) {
            reached.extend(self.below[link].iter().map(|&j| joints[j].child));
            next += 1;
        }
        let mut is_lost = vec![true; links.len()];
        reached.iter().for_each(|&link| is_lost[link] = false);
        if let Some(lost) = is_lost.iter().position(|&lost| lost) {
            let what = format!(
                "link \"{}\" stands on itself, around a circle of joints",
                links[lost].name
            );
            self.fault(&links[lost].place, what);
        }
        for &link in reached.iter().rev() {
            let on = || self.below[link].iter().map(|&j| &joints[j]);
            let has_mass = self.mass(link) > 0.0;
            let carries = has_mass || on().any(|joint| self.carries_mass[joint.child]);
            let is_heavy = has_mass || on().any(|joint| joint.kind == Kind::Fixed && self.is_heavy[joint.child]);
            (self.carries_mass[link], self.is_heavy[link]) = (carries, is_heavy);
        }
        roots.first().copied().filter(|_| self.faults.is_empty())
    }

    fn mass(&self, link: usize) -> f64 {
        self.robot.links[link].inertial.map_or(0.0, |inertial| inertial.m)
    }

    fn base(&mut self, root: usize) {
        let link = &self.robot.links[root];
        let here = Placement::identity();
        if link.name == WORLD && self.mass(root) == 0.0 {
            self.seat(root, Carrier::World);
        } else if self.is_heavy[root] {
            let body = self.body(root);
            if self.options.floating {
                self.tree.bodies[body].start = Some(here);
            } else {
                self.attach(None, Kind::Fixed, Carrier::World, body, here);
            }
            self.seat(root, Carrier::Body(body));
        } else if self.options.floating {
            let what = format!(
                "--base floating: the root link \"{}\" has no mass to float with",
                link.name
            );
            self.fault(&link.place, what);
        } else {
            self.tree
                .remarks
                .push(format!("link \"{}\" has no mass: the world stands for it", link.name));
            self.seat(root, Carrier::World);
        }
    }

    fn body(&mut self, link: usize) -> usize {
        self.tree.bodies.push(Body {
            link,
            inertial: self.robot.links[link].inertial.unwrap_or_else(Inertial::nothing),
            start: None,
            lumped: Vec::new(),
        });
        self.tree.bodies.len() - 1
    }

    fn attach(&mut self, joint: Option<usize>, kind: Kind, carrier: Carrier, body: usize, placement: Placement) {
        self.tree.attachments.push(Attachment {
            joint,
            kind,
            carrier,
            body,
            placement,
        });
    }

    /// Everything on the root, which is its carrier's frame; what is on one joint before the next.
    fn seat(&mut self, root: usize, carrier: Carrier) {
        let mut waiting = Vec::new();
        self.wait(&mut waiting, root, carrier, Placement::identity());
        while let Some(Waiting { joint, carrier, X }) = waiting.pop() {
            if let Some((carrier, X)) = self.take(joint, carrier, &X) {
                self.wait(&mut waiting, self.robot.joints[joint].child, carrier, X);
            }
        }
    }

    /// The joints on a link that stands at `X` wait, the first of them to be next.
    fn wait(&self, waiting: &mut Vec<Waiting>, link: usize, carrier: Carrier, X: Placement) {
        let joints = self.below[link].iter().rev();
        waiting.extend(joints.map(|&joint| Waiting { joint, carrier, X }));
    }

    /// The child of a joint on a link that stands at `X` on its carrier: where it stands itself, and on what.
    fn take(&mut self, j: usize, carrier: Carrier, X: &Placement) -> Option<(Carrier, Placement)> {
        let robot = self.robot;
        let joint = &robot.joints[j];
        let (child, placement) = (joint.child, X.compose(&joint.placement));
        let carries_mass = self.carries_mass[child];
        if !carries_mass && joint.kind != Kind::Fixed {
            self.tree.remarks.push(format!(
                "joint \"{}\" carries no mass, so nothing says how it moves: it is held at its zero",
                joint.name
            ));
        }
        if !carries_mass || joint.kind == Kind::Fixed && self.merges(child, carrier) {
            self.merge(child, carrier, placement);
            Some((carrier, placement))
        } else if self.is_heavy[child] {
            let body = self.body(child);
            let free = carrier == Carrier::World && self.options.floating;
            if free && joint.kind == Kind::Fixed {
                self.tree.bodies[body].start = Some(placement);
            } else {
                self.attach(Some(j), joint.kind, carrier, body, placement);
            }
            if free && !matches!(joint.kind, Kind::Fixed | Kind::Floating) {
                let what = format!(
                    "--base floating: joint \"{}\" moves \"{}\" on the world; only what is fixed there can be set free",
                    joint.name, robot.links[child].name
                );
                self.fault(&joint.place, what);
            }
            Some((Carrier::Body(body), Placement::identity()))
        } else {
            let what = format!(
                "link \"{}\" has no mass, and stands between joints that move: a body there needs an <inertial>",
                robot.links[child].name
            );
            self.fault(&robot.links[child].place, what);
            None
        }
    }

    /// Whether what a fixed joint holds becomes a part of what carries it.
    fn merges(&self, child: usize, carrier: Carrier) -> bool {
        match carrier {
            Carrier::World => !self.is_heavy[child],
            Carrier::Body(body) => {
                !self.options.keep_fixed || self.mass(child) == 0.0 || self.tree.bodies[body].inertial.m == 0.0
            }
        }
    }

    /// A link becomes a part of its carrier.
    fn merge(&mut self, link: usize, carrier: Carrier, placement: Placement) {
        let Carrier::Body(body) = carrier else { return };
        if let Some(inertial) = &self.robot.links[link].inertial {
            let whole = &mut self.tree.bodies[body];
            whole.inertial = whole.inertial.with(&inertial.seen_from(&placement));
            if inertial.m > 0.0 {
                whole.lumped.push(link);
            }
        }
        self.tree.fixed_links.push(FixedLink { link, body, placement });
    }
}
