//! Validation of the spec's structure: names, references, the trees of bodies, counts, combinations
//! of fields. Values of numbers are validated in `system::derive`, for a spec and for the
//! parameters of an importer.

mod ancf_beam;
mod body;
mod closed_loop;
mod controller;
mod environment;
mod frame;
mod joint;
mod law;
mod signal;

use super::{
    Added, Axes, Capability, Contact, Coupling, DriveTrain, FORMAT, ImpactLaw, JointType, Kind, Method, Report, Spec,
    StatePoint, WORLD, modal, names, problem, renamed,
};
use crate::Problem;
use crate::algebra::Quaternion;
use crate::error::rounded;
use crate::integrate::Settings;
use std::collections::HashMap;

/// Largest number of segments of a modal beam, and of elements of a geometrically exact one. More
/// segments only add fast modes.
const MOST_SEGMENTS: usize = 100;

/// Message for LVLH axes without an orbit.
pub(super) const NO_ORBIT: &str = "LVLH axes need an orbit: write [environment.orbit]";

/// Largest number of modes of a beam in one segment, or of one segment of a beam. The user divides
/// a beam that needs more into `segments`.
const MOST_MODES: usize = 64;

/// Largest number of modes in all segments of a beam together: enough for two bending modes in each
/// plane and a torsion or axial mode in each of 100 segments.
const MOST_IN_SEGMENTS: usize = 512;

/// Adds a problem for each error in the structure of `spec`.
pub(super) fn check(spec: &Spec, problems: &mut Vec<Problem>) {
    let mut check = Check { spec, problems };
    if !spec.include.is_empty() || !spec.mount.is_empty() {
        let what = "this text was not composed with the files that it includes".to_owned();
        check.report(if spec.mount.is_empty() { "include" } else { "mount" }, "", "", what);
    }
    if let Some(what) = names::objection(&spec.name) {
        check.report("name", "", "", what);
    }
    if let Some(character) = spec.description.chars().find(|&c| is_no_text(c)) {
        let what = format!("the character {} is not allowed in a text", character.escape_unicode());
        check.report("description", "", "", what);
    }
    if spec.format != FORMAT {
        let what = format!("this version reads format {FORMAT}; format 1 is that of version 0.1");
        check.report("format", "", "", what);
    }
    match spec.kind {
        Kind::Spacecraft => check.craft(),
        Kind::Controller => match spec.law_model() {
            Some(model) => check.law(&model),
            None => check.controller(),
        },
    }
    for (input, signal) in &spec.signal {
        check.signal(input, signal);
    }
    check.experiment();
}

/// Returns true if XML does not allow the character, or it is not printable.
fn is_no_text(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n' | '\r') || matches!(c, '\u{FFFE}' | '\u{FFFF}')
}

/// Validation of a spec, with the problems found so far.
struct Check<'a> {
    spec: &'a Spec,
    problems: &'a mut Vec<Problem>,
}

impl Check<'_> {
    /// Validates the spec of a spacecraft.
    fn craft(&mut self) {
        let spec = self.spec;
        if spec.controller.is_some() {
            let what =
                "a spacecraft has no such section: a controller has its own file and FMU, with kind = \"controller\"";
            self.report("controller", "", "", what);
        }
        self.names();
        self.attitudes();
        self.tree();
        for (name, body) in &spec.body {
            self.body(name, body);
        }
        for (name, joint) in &spec.joint {
            self.joint(name, joint);
        }
        for (name, beam) in &spec.ancf_beam {
            self.ancf_beam(name, beam);
        }
        self.frames();
        self.elements();
        for (name, plan) in &spec.plan {
            for (field, what) in Report::of(plan, spec).found {
                self.report("plan", name, &field, what);
            }
        }
        for (name, closed_loop) in &spec.closed_loop {
            self.closed_loop(name, closed_loop);
        }
        self.assembly();
        self.problems.extend(modal::without_node(spec));
        self.orbit();
        self.options();
        self.methods();
        self.flexibility();
        self.momentum();
    }

    /// Reports references to missing frames or bodies, and fields that do not fit together, in the
    /// tables of all elements.
    fn elements(&mut self) {
        let spec = self.spec;
        spec.each_element(|section, name, table| {
            for (field, what) in Report::of(table, spec).found {
                self.report(section, name, &field, what);
            }
        });
    }

    /// Reports options that the formulation does not have.
    fn options(&mut self) {
        let spec = self.spec;
        let formulation = spec.formulation;
        let beta = spec
            .constraints
            .as_ref()
            .is_some_and(|constraints| constraints.beta.is_some());
        let written = [
            (
                Capability::Constraints,
                spec.constraints.is_some(),
                ["constraints", ""],
                "has no constraints to stabilise",
            ),
            (
                Capability::Constraints,
                spec.output.condition,
                ["output", "condition"],
                "has no saddle-point matrix",
            ),
            (
                Capability::Gaps,
                beta,
                ["constraints", "beta"],
                "has no constraints on positions",
            ),
            (
                Capability::QuaternionOptions,
                spec.quaternion.is_some(),
                ["quaternion", ""],
                "has no such options",
            ),
        ];
        for (capability, written, [section, name], what) in written {
            // If there are no constraints at all, the section is reported already.
            let said = capability == Capability::Gaps && !formulation.has(Capability::Constraints);
            if written && !said && !formulation.has(capability) {
                let what = format!(
                    "the formulation \"{}\" {what}; did you mean formulation = \"quaternion\"?",
                    formulation.name()
                );
                self.report(section, name, "", what);
            }
        }
    }

    /// Reports a method that the formulation or a beam does not support.
    fn methods(&mut self) {
        let (spec, formulation) = (self.spec, self.spec.formulation);
        let conserving = spec.solver.method == Method::Conserving;
        if conserving && !formulation.has(Capability::ConservingStep) {
            let what = format!(
                "the formulation \"{}\" has no conserving step; did you mean formulation = \"natural\"?",
                formulation.name()
            );
            self.report("solver", "", "method", what);
        }
        let linearly_implicit = spec.solver.method == Method::LinearlyImplicit;
        let has_added_inertia = linearly_implicit || spec.solver.method == Method::Rosenbrock;
        if has_added_inertia && !formulation.has(Capability::LinearlyImplicit) {
            let what = format!(
                "the formulation \"{}\" has no method {}; did you mean formulation = \"recursive\"?",
                formulation.name(),
                spec.solver.method.name()
            );
            self.report("solver", "", "method", what);
        }
        let explicit = "the method linearly_implicit does not treat the stiffness of this beam implicitly; did you mean method = \"implicit_midpoint\"?";
        for name in spec.ancf_beam.keys().filter(|_| linearly_implicit) {
            self.report("ancf_beam", name, "", explicit);
        }
        for (name, body) in spec.body.iter().filter(|_| linearly_implicit) {
            if body.geometrically_exact_beam.is_some() {
                self.report("body", name, "geometrically_exact_beam", explicit);
            }
        }
    }

    /// Reports beams, captures and loops that the formulation or the method does not support.
    fn flexibility(&mut self) {
        let (spec, formulation) = (self.spec, self.spec.formulation);
        let conserving = spec.solver.method == Method::Conserving;
        let rigid_only = if !formulation.has(Capability::Flexible) {
            let name = formulation.name();
            format!("the formulation \"{name}\" has rigid bodies only; did you mean formulation = \"recursive\"?")
        } else if conserving {
            "the method conserving does not support modes; did you mean method = \"auto\"?".to_owned()
        } else {
            String::new()
        };
        for (name, body) in spec.body.iter().filter(|_| !rigid_only.is_empty()) {
            let field = match (&body.beam, &body.modal) {
                (Some(_), _) => "beam",
                (_, Some(_)) => "modal",
                _ => continue,
            };
            self.report("body", name, field, rigid_only.clone());
        }
        for (name, _) in spec
            .contact
            .iter()
            .filter(|(_, contact)| conserving && contact.law.captures())
        {
            let what = "the method conserving does not support captures; use method = \"auto\", or a [grasp]";
            self.report("contact", name, "law", what);
        }
        let presses = |contact: &Contact| contact.law == ImpactLaw::Compliant && contact.shape_b.is_some();
        for (name, _) in spec.contact.iter().filter(|(_, c)| conserving && presses(c)) {
            let what = "the method conserving does not support compliant contacts of shapes; use method = \"auto\", or a \
                        `surface`";
            self.report("contact", name, "law", what);
        }
        for name in spec.closed_loop.keys().filter(|_| conserving) {
            let what = "the method conserving does not support loops; did you mean method = \"auto\"?";
            self.report("loop", name, "", what);
        }
        for name in spec
            .ancf_beam
            .keys()
            .filter(|_| !formulation.has(Capability::AncfBeams))
        {
            let what = format!(
                "the formulation \"{}\" has no ANCF beams; did you mean formulation = \"recursive\"?",
                formulation.name()
            );
            self.report("ancf_beam", name, "", what);
        }
    }

    /// Reports options of the formulation `quaternion` that do not fit the system.
    fn momentum(&mut self) {
        let spec = self.spec;
        let options = spec.quaternion.clone().unwrap_or_default();
        let held = |name: &str| {
            spec.joint
                .values()
                .any(|joint| joint.child == name && joint.kind != JointType::Free)
        };
        let floats = spec.body.keys().any(|name| !held(name));
        if options.has_momentum_rows() && !floats {
            let field = if options.momentum_rows {
                "momentum_rows"
            } else {
                "coupling"
            };
            let what =
                "every body is joined to the world: there is no free-floating spacecraft whose momentum is conserved";
            self.report("quaternion", field, "", what);
        }
        if options.coupling != Coupling::Full {
            if options.point == StatePoint::MassCentre {
                let what = "with a linear coupling the momentum is no linear function of the mass centres' velocities: write \
                    coupling = \"full\", or point = \"origin\"";
                self.report("quaternion", "point", "", what);
            }
            for (name, body) in &spec.body {
                if body.beam.as_ref().is_some_and(|beam| beam.stiffening) {
                    let what =
                        "a linear coupling cannot stiffen a beam: write stiffening = false, or coupling = \"full\"";
                    self.report("body", name, "beam.stiffening", what);
                }
            }
        }
    }

    /// Adds a problem at `section.name.field`.
    fn report(&mut self, section: &str, name: &str, field: &str, what: impl Into<String>) {
        self.problems.push(problem(section, name, field, what.into()));
    }

    /// Reports names that are invalid or not unique, and a system without bodies.
    fn names(&mut self) {
        let spec = self.spec;
        let mut owners: HashMap<&str, &str> = HashMap::new();
        let mut names: Vec<(&str, &str)> = Vec::new();
        names.extend(spec.body.keys().map(|key| ("body", key.as_str())));
        names.extend(spec.ancf_beam.keys().map(|key| ("ancf_beam", key.as_str())));
        names.extend(spec.joint.keys().map(|key| ("joint", key.as_str())));
        names.extend(spec.frame.keys().map(|key| ("frame", key.as_str())));
        names.extend(spec.wheel.keys().map(|key| ("wheel", key.as_str())));
        names.extend(spec.closed_loop.keys().map(|key| ("loop", key.as_str())));
        spec.each_element(|section, name, _| names.push((section, name)));
        for (section, name) in names {
            if let Some(what) = names::objection_to_parts(name) {
                self.report(section, name, "", what);
            }
            // A port's variables are others than those of its frame.
            let is_of_frame = section == "port" && spec.port[name].frame == name && spec.frame.contains_key(name);
            if let Some(owner) = owners.insert(name, section).filter(|_| !is_of_frame) {
                self.report(
                    section,
                    name,
                    "",
                    format!("the name \"{name}\" is already that of a {owner}"),
                );
            }
        }
        let all_added = spec.added();
        let mut parts_of: HashMap<&str, &str> = HashMap::new();
        for Added {
            section, name, parts, ..
        } in &all_added
        {
            for added in parts.iter().flatten().filter(|added| *added != name) {
                let part = if *section == "wheel" {
                    "its rotor"
                } else {
                    "a part of it"
                };
                let other = parts_of.insert(added, name).map(|other| format!("part of \"{other}\""));
                let owner = owners.get(added.as_str()).map(|owner| (*owner).to_owned());
                if let Some(owner) = owner.or(other) {
                    let what = format!("the name \"{added}\" of {part} is already that of a {owner}");
                    self.report(section, name, "", what);
                }
            }
        }
        for (name, joint) in &spec.joint {
            let added = [DriveTrain::rotor(name), DriveTrain::motor(name)];
            for added in added.iter().filter(|_| joint.drive_train.is_some()) {
                if let Some(owner) = owners.get(added.as_str()) {
                    let what = format!("the name \"{added}\" of its motor is already that of a {owner}");
                    self.report("joint", name, "drive_train", what);
                }
            }
        }
        if spec.body.is_empty() && spec.ancf_beam.is_empty() {
            self.report("body", "", "", "there is no body");
        }
    }

    /// Reports attitudes that are not of unit length or are written twice.
    fn attitudes(&mut self) {
        let spec = self.spec;
        for (name, body) in &spec.body {
            self.quaternion("body", name, "inertia_axes", body.inertia_axes);
        }
        let bodies = spec.body.iter().map(|(name, body)| ("body", name, &body.start));
        let beams = (spec.ancf_beam.iter()).map(|(name, beam)| ("ancf_beam", name, &beam.start));
        for (section, name, start) in bodies.chain(beams) {
            if let Some(start) = start {
                let (attitude, rpy_deg) = (start.attitude, start.rpy_deg);
                self.quaternion(section, name, "start.attitude", attitude);
                self.one_of(section, name, "start.attitude", attitude, "start.rpy_deg", rpy_deg);
            }
        }
        for (name, joint) in &spec.joint {
            self.quaternion("joint", name, "orientation", joint.orientation);
            self.one_of(
                "joint",
                name,
                "orientation",
                joint.orientation,
                "rpy_deg",
                joint.rpy_deg,
            );
            if let Some(start) = &joint.start {
                self.quaternion("joint", name, "start.attitude", start.attitude);
                self.one_of(
                    "joint",
                    name,
                    "start.attitude",
                    start.attitude,
                    "start.rpy_deg",
                    start.rpy_deg,
                );
            }
        }
        for (name, frame) in &spec.frame {
            self.quaternion("frame", name, "orientation", frame.orientation);
            self.one_of(
                "frame",
                name,
                "orientation",
                frame.orientation,
                "rpy_deg",
                frame.rpy_deg,
            );
        }
    }

    /// Reports a quaternion whose length differs from 1 by more than 1e-6: probably a mistyped
    /// number.
    fn quaternion(&mut self, section: &str, name: &str, field: &str, q: Option<[f64; 4]>) {
        if let Some(q) = q {
            let length = Quaternion::from_slice(&q).norm_squared().sqrt();
            if (length - 1.0).abs() > 1e-6 {
                self.report(
                    section,
                    name,
                    field,
                    format!(
                        "the quaternion {q:?} (w, x, y, z) is not of unit length: |q| = {}",
                        rounded(length, 7)
                    ),
                );
            }
        }
    }

    /// Reports two alternative fields that are both written.
    fn one_of<A, B>(&mut self, section: &str, name: &str, a: &str, one: Option<A>, b: &str, other: Option<B>) {
        if one.is_some() && other.is_some() {
            self.report(section, name, a, format!("write either `{a}` or `{b}`, not both"));
        }
    }

    /// Reports undefined parents and children, bodies with two joints, and cycles.
    fn tree(&mut self) {
        let spec = self.spec;
        let mut carrier: HashMap<&str, &str> = HashMap::new();
        for (name, joint) in &spec.joint {
            for (field, body) in [("parent", &joint.parent), ("child", &joint.child)] {
                let known = spec.body.contains_key(body) || (field == "parent" && body == WORLD);
                if spec.ancf_beam.contains_key(body) {
                    let what = format!("\"{body}\" is an ANCF beam, which has no joints: connect it by a [grasp]");
                    self.report("joint", name, field, what);
                } else if !known {
                    self.report("joint", name, field, unknown("body", body, spec.body.keys()));
                }
            }
            if let Some(first) = carrier.insert(&joint.child, name) {
                self.report(
                    "joint",
                    name,
                    "child",
                    format!(
                        "body \"{}\" is already carried by joint \"{first}\": a [loop] closes a loop",
                        joint.child
                    ),
                );
            }
            if let Some(body) = spec.body.get(&joint.child)
                && body.start.is_some()
            {
                self.report(
                    "body",
                    &joint.child,
                    "start",
                    format!("it is carried by joint \"{name}\": write `start` there"),
                );
            }
        }
        // A path of parents that returns to one of its own bodies contains a cycle. Each body is
        // visited once, on the first path that reaches it.
        let mut passed: HashMap<&str, usize> = HashMap::new();
        for (number, joint) in spec.joint.values().enumerate() {
            let (mut way, mut body) = (Vec::new(), joint.child.as_str());
            while let Some(joint) = carrier.get(body).and_then(|j| spec.joint.get(*j))
                && !passed.contains_key(body)
            {
                passed.insert(body, number);
                way.push(body);
                body = &joint.parent;
            }
            if passed.get(body) != Some(&number) {
                continue;
            }
            let mut circle = way.split_off(way.iter().position(|&on| on == body).unwrap_or(0));
            // The cycle is reported at the first of its joints in the file.
            let in_file = |body: &&str| spec.joint.get_index_of(carrier[body]);
            let first = (0..circle.len()).min_by_key(|&i| in_file(&circle[i])).unwrap_or(0);
            circle.rotate_left(first);
            circle.push(circle[0]);
            let what = format!("the joints form a cycle: \"{}\"", circle.join("\" on \""));
            self.report("joint", carrier[circle[0]], "parent", what);
        }
    }

    /// Reports LVLH axes without an orbit, and uniform gravity with one.
    fn orbit(&mut self) {
        let spec = self.spec;
        if let Some(orbit) = &spec.environment.orbit {
            self.sky(orbit);
            if spec.environment.gravity.is_some() {
                let what = "in orbit, gravity is that of the central body: leave `gravity` or `orbit` out";
                self.report("environment", "gravity", "", what);
            }
            return;
        }
        for (name, beam) in &spec.ancf_beam {
            if beam.start.as_ref().is_some_and(|start| start.axes == Axes::Lvlh) {
                self.report("ancf_beam", name, "start.axes", NO_ORBIT);
            }
        }
        for (name, body) in &spec.body {
            let start = body.start.as_ref().map(|start| ("start.axes", start.axes));
            let servo = body.attitude_servo.as_ref();
            let servo = servo.map(|servo| ("attitude_servo.axes", servo.axes));
            for (field, _) in start.into_iter().chain(servo).filter(|(_, axes)| *axes == Axes::Lvlh) {
                self.report("body", name, field, NO_ORBIT);
            }
        }
    }

    /// Reports numbers of the run that are not positive, a tolerance that no integrator meets, and a
    /// missing step.
    fn experiment(&mut self) {
        let spec = self.spec;
        let positive = [
            ("experiment", "stop_time", spec.experiment.stop_time),
            ("experiment", "step", spec.experiment.step),
            ("experiment", "tolerance", spec.experiment.tolerance),
            ("experiment", "bandwidth", spec.experiment.bandwidth.unwrap_or(1.0)),
            ("solver", "step", spec.solver.step.unwrap_or(1.0)),
            ("solver", "work_limit", spec.solver.work_limit.unwrap_or(1.0)),
            ("monitor", "constraint_violation", spec.monitor.constraint_violation),
            ("monitor", "energy_balance", spec.monitor.energy_balance),
        ];
        for (section, field, value) in positive {
            if value <= 0.0 {
                self.report(section, "", field, format!("{value} is not positive"));
            }
        }
        let (tolerance, least, most) = (
            spec.experiment.tolerance,
            Settings::MIN_RELATIVE_TOLERANCE,
            Settings::MAX_RELATIVE_TOLERANCE,
        );
        if tolerance > 0.0 && !(least..=most).contains(&tolerance) {
            let what = format!("{tolerance:?} is not between {least:?}, ten units of round-off, and {most}");
            self.report("experiment", "", "tolerance", what);
        }
        let method = spec.solver.method;
        if method.has_fixed_step() && spec.solver.step.is_none() {
            let what = format!("the method {} needs `step`, s", method.name());
            self.report("solver", "", "method", what);
        }
    }
}

/// Returns the message for an undefined name: `there is no body "uper"; did you mean "upper"?` For
/// a renamed variable it names the successor. Only the first 1000 known names are compared, to
/// bound the time of many errors.
pub fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a String>) -> String {
    let renamed: Vec<String> = renamed::variable(name).collect();
    let most = if renamed.is_empty() { 1000 } else { usize::MAX };
    let known: Vec<&String> = known.take(most).collect();
    if let Some(new) = known.iter().find(|known| renamed.contains(known)) {
        return format!("there is no {what} \"{name}\": it is called \"{new}\" since version 0.2");
    }
    // The input of a joint has the joint's name before its point.
    let owner = name.rsplit_once('.').map(|(owner, _)| format!("{owner}."));
    let of_owner = owner.and_then(|owner| known.iter().find(|known| known.starts_with(&owner)).copied());
    match nearest(name, known.into_iter()).or(of_owner) {
        Some(candidate) => format!("there is no {what} \"{name}\"; did you mean \"{candidate}\"?"),
        None => format!("there is no {what} \"{name}\""),
    }
}

/// Returns the name among the first 1000 known ones that differs from `name` in the fewest letters,
/// in at most a third of them.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> Option<&'a String> {
    let distances = known.take(1000).map(|known| (strsim::osa_distance(name, known), known));
    let is_near = |(distance, known): &(usize, &String)| *distance <= known.len().max(3) / 3;
    distances.min().filter(is_near).map(|(_, known)| known)
}
