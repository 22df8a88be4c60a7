//! Links merged into bodies: links connected by fixed joints are one rigid body.

use super::{Fault, Inertial, Joint, Kind, Placement, Robot};
use crate::import::ImportOptions;
use grapple::algebra::{Sym3, Vec3};
use std::ops::Range;

/// The world or the body to which a link is attached.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    World,
    Body(usize),
}

/// A rigid body; its frame is that of its first link.
pub struct Body {
    pub link: usize,
    pub inertial: Inertial,
    /// Initial pose in the world, if the body floats freely.
    pub start: Option<Placement>,
    /// Links with mass, other than the first, that are merged into the body.
    pub lumped: Vec<usize>,
}

/// A joint between bodies.
pub struct Attachment {
    /// Index of the robot's joint; none for the fixed joint of the base on the world.
    pub joint: Option<usize>,
    pub kind: Kind,
    pub carrier: Carrier,
    pub body: usize,
    pub placement: Placement,
}

/// A link on a fixed joint, as a frame on its body.
pub struct FixedLink {
    pub link: usize,
    pub body: usize,
    pub placement: Placement,
}

/// A robot as a tree of bodies with mass.
#[derive(Default)]
pub struct Tree {
    pub bodies: Vec<Body>,
    pub attachments: Vec<Attachment>,
    pub fixed_links: Vec<FixedLink>,
    /// Remarks for the user.
    pub remarks: Vec<String>,
}

impl Tree {
    /// Merges the links of a robot into bodies.
    ///
    /// # Errors
    /// All reasons why the links are not a tree of bodies with mass.
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
    /// The child joints of each link.
    below: Vec<Vec<usize>>,
    /// Set if the link or any of its descendants has mass.
    carries_mass: Vec<bool>,
    /// Set if the link, or a link connected with it by child joints that are all fixed, has mass.
    is_heavy: Vec<bool>,
    tree: Tree,
    faults: Vec<Fault>,
}

/// A joint to be processed. Its parent link has the pose `X` on `carrier`.
struct Waiting {
    joint: usize,
    carrier: Carrier,
    X: Placement,
}

/// Name of a root link that stands for the world, if it has no mass.
const WORLD: &str = "world";

impl Gathering<'_> {
    fn fault(&mut self, place: &Range<usize>, what: String) {
        self.faults.push((what, Some(place.clone())));
    }

    /// Returns the link without a parent, if all others descend from it. Also computes `below`,
    /// `carries_mass` and `is_heavy`.
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
                "link \"{}\" has no parent, but \"{root}\" is already the root",
                link.name
            );
            self.fault(&link.place, what);
        }
        // Parents before children.
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
                "link \"{}\" is its own ancestor: its joints form a cycle",
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
        if self.options.base.is_some() && (self.is_heavy[root] || link.name == WORLD) {
            let what = format!(
                "--base-mass: the root link \"{}\" {}",
                link.name,
                if link.name == WORLD {
                    "is the world"
                } else {
                    "has a mass, or a link fixed to it has"
                }
            );
            self.fault(&link.place, what);
        } else if link.name == WORLD && self.mass(root) == 0.0 {
            self.seat(root, Carrier::World);
        } else if self.is_heavy[root] {
            let body = self.body(root);
            if self.options.floating {
                self.tree.bodies[body].start = Some(here);
            } else {
                self.attach(None, Kind::Fixed, Carrier::World, body, here);
            }
            self.seat(root, Carrier::Body(body));
        } else if let Some((m, [xx, yy, zz, xy, xz, yz])) = self.options.base {
            let body = self.body(root);
            self.tree.bodies[body].inertial = Inertial {
                m,
                c: Vec3::zeros(),
                I_cm: Sym3 {
                    d: [xx, yy, zz],
                    o: [xy, xz, yz],
                },
            };
            self.tree.bodies[body].start = Some(here);
            self.seat(root, Carrier::Body(body));
        } else if self.options.floating {
            let what = format!(
                "--base floating: the root link \"{}\" has no mass, so it cannot float freely: write --base-mass and \
                 --base-inertia, or add an <inertial>",
                link.name
            );
            self.fault(&link.place, what);
        } else {
            self.tree.remarks.push(format!(
                "link \"{}\" has no mass: it is replaced by the world",
                link.name
            ));
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

    /// Processes all descendants of `root`, depth first. The frame of `root` is its carrier's.
    fn seat(&mut self, root: usize, carrier: Carrier) {
        let mut waiting = Vec::new();
        self.wait(&mut waiting, root, carrier, Placement::identity());
        while let Some(Waiting { joint, carrier, X }) = waiting.pop() {
            if let Some((carrier, X)) = self.take(joint, carrier, &X) {
                self.wait(&mut waiting, self.robot.joints[joint].child, carrier, X);
            }
        }
    }

    /// Adds the child joints of a link, whose pose on its carrier is `X`, to the stack; the first
    /// joint is processed next.
    fn wait(&self, waiting: &mut Vec<Waiting>, link: usize, carrier: Carrier, X: Placement) {
        let joints = self.below[link].iter().rev();
        waiting.extend(joints.map(|&joint| Waiting { joint, carrier, X }));
    }

    /// Processes the child of joint `j`, whose parent link has the pose `X` on `carrier`. Returns
    /// the child's carrier, and the child's pose on it.
    fn take(&mut self, j: usize, carrier: Carrier, X: &Placement) -> Option<(Carrier, Placement)> {
        let robot = self.robot;
        let joint = &robot.joints[j];
        let (child, placement) = (joint.child, X.compose(&joint.placement));
        let carries_mass = self.carries_mass[child];
        if !carries_mass && joint.kind != Kind::Fixed {
            self.tree.remarks.push(format!(
                "joint \"{}\" moves no mass, so its motion is undefined: it is fixed at zero",
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
                    "--base floating: joint \"{}\" moves \"{}\" on the world; only a link fixed there can be set free",
                    joint.name, robot.links[child].name
                );
                self.fault(&joint.place, what);
            }
            Some((Carrier::Body(body), Placement::identity()))
        } else {
            let what = format!(
                "link \"{}\" has no mass between joints that move: add an <inertial>",
                robot.links[child].name
            );
            self.fault(&robot.links[child].place, what);
            None
        }
    }

    /// Returns true if the child of a fixed joint is merged into its carrier.
    fn merges(&self, child: usize, carrier: Carrier) -> bool {
        match carrier {
            Carrier::World => !self.is_heavy[child],
            Carrier::Body(body) => {
                !self.options.keep_fixed || self.mass(child) == 0.0 || self.tree.bodies[body].inertial.m == 0.0
            }
        }
    }

    /// Merges a link into its carrier, as mass and as a frame. A link on the world is omitted.
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
