//! Contacts of all pairs among frames with shapes: `[contact_group.<name>]`.

use super::{
    Contact, ContactShape, ContactShapeType, ImpactLaw, Inconsistent, JointType, Spec, Tangential, WORLD, default,
    problem,
};
use crate::{Error, Problem};
use indexmap::{IndexMap, IndexSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Largest number of contacts that all groups of a spec make.
const MOST_PAIRS: usize = 1000;

/// Contacts of all pairs of frames and bodies with a `contact_shape`: of those in the list `among`, or
/// of each in `a` with each in `b`. A body in a list stands for itself and all frames on it that have
/// a shape.
///
/// When the file is read, each pair becomes a contact `<group>.<frame>.<frame>` with the law and
/// numbers of the group. Left out are pairs of one rigid part, pairs whose parts are connected by a
/// joint, pairs of two planes, and those that have a `[contact.<name>]` with shapes. A rigid part is
/// a set of bodies that fixed joints connect; joints to the world, and free ones, do not count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContactGroup {
    /// Frames, bodies and ANCF beams, of which each has contact with each other one. In place of `a`
    /// and `b`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub among: Vec<String>,
    /// Frames, bodies and ANCF beams that have contact with those in `b`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub a: Vec<String>,
    /// Frames, bodies and ANCF beams that have contact with those in `a`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub b: Vec<String>,
    /// Pairs of frames or bodies that have no contact. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<[String; 2]>,
    /// Contact of parts that a joint connects. Default: no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub neighbours: bool,
    /// Law, as that of `[contact.<name>]`. Default `restitution`.
    #[serde(default)]
    pub law: ImpactLaw,
    /// Coefficient of restitution, as that of `[contact.<name>]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub e: Option<f64>,
    /// Tangential restitution, as that of `[contact.<name>]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub e_t: Option<f64>,
    /// Coefficient of friction, as that of `[contact.<name>]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mu: Option<f64>,
    /// Ratio of the energy loss, as that of `[contact.<name>]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r_E: Option<f64>,
    /// Ratio of the tangential impulse, as that of `[contact.<name>]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r_f: Option<f64>,
    /// Tangential impulse of which `r_f` is the ratio, as that of `[contact.<name>]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tangential: Option<Tangential>,
    /// Treatment of inconsistent `r_E` and `r_f`, as that of `[contact.<name>]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_inconsistent: Option<Inconsistent>,
    /// Baumgarte's gain α, 1/s, as that of `[contact.<name>]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Baumgarte's gain β, 1/s, as that of `[contact.<name>]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// Normal force at the penetration `depth`, N, as that of `[contact.<name>]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<f64>,
    /// Penetration at the normal force `force`, m, as that of `[contact.<name>]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<f64>,
    /// Exponent of the penetration, as that of `[contact.<name>]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exponent: Option<f64>,
    /// Dissipation, s/m, as that of `[contact.<name>]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dissipation: Option<f64>,
    /// Slip speed, m/s, as that of `[contact.<name>]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slip: Option<f64>,
    /// Speed of approach up to which an impact is plastic, m/s, as that of `[contact.<name>]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<f64>,
}

impl ContactGroup {
    /// Returns the contact of two frames in the group `name`; a plane becomes `b`.
    fn contact(&self, name: &str, [a, b]: [(&String, &ContactShape); 2]) -> Contact {
        let [a, b] = match a.1.kind == ContactShapeType::Plane {
            true => [b, a],
            false => [a, b],
        };
        Contact {
            a: a.0.clone(),
            b: b.0.clone(),
            normal: default::z(),
            surface: None,
            shape_a: Some(a.1.clone()),
            shape_b: Some(b.1.clone()),
            radius_a: None,
            radius_b: None,
            law: self.law,
            e: self.e,
            e_t: self.e_t,
            mu: self.mu,
            r_E: self.r_E,
            r_f: self.r_f,
            tangential: self.tangential,
            on_inconsistent: self.on_inconsistent,
            alpha: self.alpha,
            beta: self.beta,
            force: self.force,
            depth: self.depth,
            exponent: self.exponent,
            dissipation: self.dissipation,
            slip: self.slip,
            rest: self.rest,
            reach: None,
            group: Some(name.to_owned()),
        }
    }
}

/// Replaces the groups of a spec by their contacts. Reports errors in the groups.
#[inline(never)] // importers call from threads with small stacks
pub(super) fn expand(spec: &mut Spec, problems: &mut Vec<Problem>) {
    let groups = std::mem::take(&mut spec.contact_group);
    if groups.is_empty() {
        return;
    }
    let mut made: IndexMap<String, Contact> = IndexMap::new();
    let parts = Parts::of(spec);
    for (name, group) in &groups {
        let mut report = |field: &str, what: String| problems.push(problem("contact_group", name, field, what));
        let Ok(pairs) = Pairs::of(spec, &parts, group, &mut report) else {
            continue;
        };
        for pair in pairs.0 {
            let [Some(a), Some(b)] = pair.map(|frame| spec.contact_shape(frame)) else {
                continue;
            };
            let contact = group.contact(name, [(pair[0], a), (pair[1], b)]);
            let is_same = |other: &&Contact| {
                other.shape_b.is_some() && (same([&other.a, &other.b], pair) || same([&other.b, &other.a], pair))
            };
            if let Some(other) = made.values().find(is_same) {
                let other = other.group.as_deref().unwrap_or_default();
                let what = format!(
                    "\"{}\" and \"{}\" are also in the group \"{other}\": add the pair to `except` of one",
                    pair[0], pair[1]
                );
                report("", what);
            } else if !spec.contact.values().any(|other| is_same(&other)) {
                let new = pair_name(name, pair);
                if spec.contact.contains_key(&new) || made.contains_key(&new) {
                    report(
                        "",
                        format!("there is already a contact \"{new}\": rename it, or the group"),
                    );
                }
                made.insert(new, contact);
            }
        }
    }
    if made.len() > MOST_PAIRS {
        let what = format!("the groups make {} contacts, the maximum is {MOST_PAIRS}", made.len());
        problems.push(problem("contact_group", "", "", what));
        return;
    }
    spec.contact.extend(made);
}

/// Returns a spec with the contacts of its groups, `None` without groups.
///
/// # Errors
/// [`Error::Spec`] with every problem of the groups.
#[inline(never)]
pub(super) fn expanded(spec: &Spec) -> Result<Option<Box<Spec>>, Error> {
    if spec.contact_group.is_empty() {
        return Ok(None);
    }
    let (mut spec, mut problems) = (Box::new(spec.clone()), Vec::new());
    expand(&mut spec, &mut problems);
    match problems.is_empty() {
        true => Ok(Some(spec)),
        false => Err(Error::Spec(problems)),
    }
}

fn same(a: [&String; 2], b: [&String; 2]) -> bool {
    a == b
}

/// Returns the name of the contact of two frames: those of the group and the frames, with points
/// between them. The prefix of a mount stands once.
fn pair_name(group: &str, pair: [&String; 2]) -> String {
    let prefix = group.rfind('.').map_or("", |end| &group[..=end]);
    let [a, b] = pair.map(|frame| frame.strip_prefix(prefix).unwrap_or(frame));
    format!("{group}.{a}.{b}")
}

/// Returns the problems with those in contacts of groups at their groups, each once.
pub(super) fn at_groups(spec: &Spec, problems: Vec<Problem>) -> Vec<Problem> {
    let mut found: Vec<Problem> = Vec::new();
    for mut problem in problems {
        let contact = match problem.at.as_slice() {
            [section, name, ..] if section == "contact" => spec.contact.get(name),
            _ => None,
        };
        let mut is_of_all = false;
        if let Some((contact, group)) = contact.and_then(|contact| Some((contact, contact.group.as_ref()?))) {
            let side = |field: &str| match field {
                "shape_a" => Some(&contact.a),
                "shape_b" => Some(&contact.b),
                _ => None,
            };
            let field = problem.at.get(2).map(String::as_str).unwrap_or_default();
            match (side(field), problem.at.get(3)) {
                (Some(frame), Some(_)) => {
                    let section = if spec.body.contains_key(frame) { "body" } else { "frame" };
                    let within = problem.at[3..].iter().cloned();
                    let path = [section, frame, "contact_shape"].map(str::to_owned);
                    problem.at = path.into_iter().chain(within).collect();
                    is_of_all = true;
                }
                (of_shape, _) => {
                    is_of_all = of_shape.is_none() && !["", "law", "rest"].contains(&field);
                    if !is_of_all {
                        problem.what = format!("\"{}\" and \"{}\": {}", contact.a, contact.b, problem.what);
                    }
                    let field = if of_shape.is_some() { "" } else { field };
                    problem.at = super::at("contact_group", group, field);
                }
            }
        }
        // A number of all pairs, or of a frame in several pairs, is reported once.
        let is_known = |other: &Problem| *other == problem || is_of_all && other.at == problem.at;
        if !found.iter().any(is_known) {
            found.push(problem);
        }
    }
    found
}

impl Spec {
    /// Returns the shape for contact of a frame or a body.
    pub(crate) fn contact_shape(&self, frame: &str) -> Option<&ContactShape> {
        let of_frame = self.frame.get(frame).and_then(|frame| frame.contact_shape.as_ref());
        of_frame.or_else(|| self.body.get(frame)?.contact_shape.as_ref())
    }

    /// Returns the body or beam of a frame, or the name itself.
    fn carrier<'a>(&'a self, frame: &'a str) -> &'a str {
        self.frame.get(frame).map_or(frame, |frame| &frame.body)
    }
}

/// Rigid parts of a spec.
struct Parts<'a> {
    /// Number of the part of each body, and of the world.
    of: HashMap<&'a str, usize>,
    /// Pairs of parts that a joint connects.
    joined: IndexSet<[usize; 2]>,
}

impl<'a> Parts<'a> {
    fn of(spec: &'a Spec) -> Self {
        let names = spec.body.keys().chain(spec.ancf_beam.keys());
        let names: Vec<&str> = std::iter::once(WORLD).chain(names.map(String::as_str)).collect();
        let mut parent: Vec<usize> = (0..names.len()).collect();
        let index: HashMap<&str, usize> = names.iter().enumerate().map(|(i, name)| (*name, i)).collect();
        let root = |parent: &[usize], mut i: usize| {
            while parent[i] != i {
                i = parent[i];
            }
            i
        };
        let ends = |joint: &'a super::Joint| {
            Some([joint.parent.as_str(), joint.child.as_str()].map(|frame| spec.carrier(frame)))
                .and_then(|[a, b]| Some([*index.get(a)?, *index.get(b)?]))
        };
        for joint in spec.joint.values().filter(|joint| joint.kind == JointType::Fixed) {
            if let Some([a, b]) = ends(joint) {
                let [a, b] = [a, b].map(|i| root(&parent, i));
                parent[a.max(b)] = a.min(b);
            }
        }
        let mut joined = IndexSet::new();
        for joint in spec.joint.values().filter(|joint| joint.kind != JointType::Free) {
            if let Some([a, b]) = ends(joint) {
                let [a, b] = [a, b].map(|i| root(&parent, i));
                // The world is the first part.
                if a != 0 && b != 0 {
                    joined.insert([a.min(b), a.max(b)]);
                }
            }
        }
        let of = names
            .iter()
            .enumerate()
            .map(|(i, name)| (*name, root(&parent, i)))
            .collect();
        Self { of, joined }
    }

    /// Returns true if two bodies are in one part, or if a joint connects their parts and `neighbours`
    /// have no contact.
    fn exclude(&self, [a, b]: [&str; 2], neighbours: bool) -> bool {
        let [Some(&a), Some(&b)] = [a, b].map(|body| self.of.get(body)) else {
            return false;
        };
        a == b || !neighbours && self.joined.contains(&[a.min(b), a.max(b)])
    }
}

/// Pairs of frames with shapes.
struct Pairs<'a>(Vec<[&'a String; 2]>);

impl<'a> Pairs<'a> {
    /// Returns the pairs of a group.
    ///
    /// # Errors
    /// Nothing, after reports.
    fn of(
        spec: &'a Spec,
        parts: &Parts,
        group: &'a ContactGroup,
        report: &mut impl FnMut(&str, String),
    ) -> Result<Self, ()> {
        let is_among = !group.among.is_empty();
        if is_among == (!group.a.is_empty() || !group.b.is_empty()) || group.a.is_empty() != group.b.is_empty() {
            report("", "write either `among`, or both `a` and `b`".to_owned());
            return Err(());
        }
        let mut failed = false;
        for name in group.except.iter().flatten().filter(|name| !spec.has_frame(name)) {
            report("except", spec.no_frame(name));
            failed = true;
        }
        let mut members = |field: &str, names: &'a [String]| {
            let mut members = IndexSet::new();
            for name in names {
                match shaped(spec, name) {
                    Ok(frames) => members.extend(frames),
                    Err(what) => {
                        report(field, what);
                        failed = true;
                    }
                }
            }
            members
        };
        let [among, a, b] =
            [("among", &group.among), ("a", &group.a), ("b", &group.b)].map(|(field, names)| members(field, names));
        if failed {
            return Err(());
        }
        let mut pairs: IndexSet<[&String; 2]> = IndexSet::new();
        let mut add = |a: &'a String, b: &'a String| {
            let bodies = [a, b].map(|frame| spec.carrier(frame));
            let is = |name: &String, frame: &String, body: &str| name == frame || name == body;
            let is_excepted = group
                .except
                .iter()
                .any(|[x, y]| is(x, a, bodies[0]) && is(y, b, bodies[1]) || is(x, b, bodies[1]) && is(y, a, bodies[0]));
            let is_plane = |frame: &str| {
                spec.contact_shape(frame)
                    .is_some_and(|shape| shape.kind == ContactShapeType::Plane)
            };
            let is_left_out = is_excepted || is_plane(a) && is_plane(b) || pairs.contains(&[b, a]);
            if !is_left_out && !parts.exclude(bodies, group.neighbours) {
                pairs.insert([a, b]);
            }
        };
        for (i, first) in among.iter().enumerate() {
            among.iter().skip(i + 1).for_each(|second| add(first, second));
        }
        for first in &a {
            b.iter().for_each(|second| add(first, second));
        }
        if pairs.is_empty() {
            let what = "it has no pair: parts that a joint connects have contact with `neighbours = true` only";
            report("", what.to_owned());
            return Err(());
        }
        Ok(Self(pairs.into_iter().collect()))
    }
}

/// Returns a frame with a shape, or a body or beam and the frames on it, as far as they have shapes.
///
/// # Errors
/// A message for an unknown name, or one without a shape.
fn shaped<'a>(spec: &'a Spec, name: &'a String) -> Result<Vec<&'a String>, String> {
    if name == WORLD {
        return Err("the world has no shape: fix a body to it that has one".to_owned());
    }
    if !spec.has_frame(name) {
        return Err(spec.no_frame(name));
    }
    let on = spec
        .frame
        .iter()
        .filter(|(_, frame)| frame.body == *name)
        .map(|(frame, _)| frame);
    let all = std::iter::once(name).chain(on);
    let found: Vec<&String> = all.filter(|frame| spec.contact_shape(frame).is_some()).collect();
    match found.is_empty() {
        true if spec.frame.contains_key(name) => Err(format!("frame \"{name}\" has no `contact_shape`")),
        true => Err(format!("neither \"{name}\" nor a frame on it has a `contact_shape`")),
        false => Ok(found),
    }
}
