use super::{
    Beam, Body, Boundary, Capability, Contact, Coupling, ImpactLaw, Interpolation, Joint, JointMotion, JointType,
    PerAxis, Range, Signal, Spec, Stop, WORLD, Waveform, modal, names, problem,
};
use crate::Problem;
use crate::algebra::Quaternion;
use std::collections::HashMap;

/// What can be seen to be wrong in the spec alone: names, references, the tree, counts, fields that do
/// not belong together. The values of numbers are judged where they are used, in `system::derive`,
/// for the spec and for a host's parameters alike.
/// Cutting a beam finer only adds fast modes.
const MOST_SEGMENTS: usize = 100;

/// Beyond that a beam is better cut.
const MOST_MODES: usize = 64;

pub(super) fn check(spec: &Spec, problems: &mut Vec<Problem>) {
    let mut check = Check { spec, problems };
    check.names();
    check.attitudes();
    check.tree();
    for (name, body) in &spec.body {
        check.body(name, body);
    }
    for (name, joint) in &spec.joint {
        check.joint(name, joint);
    }
    check.frames();
    for (name, contact) in &spec.contact {
        check.contact(name, contact);
    }
    check.problems.extend(modal::without_node(spec));
    for (input, signal) in &spec.signal {
        check.signal(input, signal);
    }
    check.experiment();
    check.formulation();
}

struct Check<'a> {
    spec: &'a Spec,
    problems: &'a mut Vec<Problem>,
}

impl Check<'_> {
    /// What the formulation does not have.
    fn formulation(&mut self) {
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
                "lets no gaps come between bodies",
            ),
            (
                Capability::QuaternionOptions,
                spec.quaternion.is_some(),
                ["quaternion", ""],
                "has no such options",
            ),
        ];
        for (capability, written, [section, name], what) in written {
            // Without constraints, nothing of them need be said.
            let said = capability == Capability::Gaps && !formulation.has(Capability::Constraints);
            if written && !said && !formulation.has(capability) {
                let what = format!(
                    "the formulation \"{}\" {what}; did you mean formulation = \"quaternion\"?",
                    formulation.name()
                );
                self.report(section, name, "", what);
            }
        }
        for (name, body) in &spec.body {
            let field = match (&body.beam, &body.modal) {
                (Some(_), _) => "beam",
                (_, Some(_)) => "modal",
                _ => continue,
            };
            if !formulation.has(Capability::Flexible) {
                let what = format!(
                    "the formulation \"{}\" has rigid bodies only; formulation = \"recursive\" bends this one",
                    formulation.name()
                );
                self.report("body", name, field, what);
            }
        }
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
                "every body is joined to the world, which takes up all momentum: there is none to write rows for";
            self.report("quaternion", field, "", what);
        }
        if options.coupling != Coupling::Full {
            for (name, body) in &spec.body {
                if body.beam.as_ref().is_some_and(|beam| beam.stiffening) {
                    let what =
                        "a linear coupling cannot stiffen a beam: write stiffening = false, or coupling = \"full\"";
                    self.report("body", name, "beam.stiffening", what);
                }
            }
        }
    }

    fn report(&mut self, section: &str, name: &str, field: &str, what: impl Into<String>) {
        self.problems.push(problem(section, name, field, what.into()));
    }

    fn names(&mut self) {
        let spec = self.spec;
        if let Some(what) = names::objection(&spec.name) {
            self.report("name", "", "", what);
        }
        let mut owners: HashMap<&str, &str> = HashMap::new();
        let sections = [("body", spec.body.keys())]
            .into_iter()
            .flat_map(|(section, keys)| keys.map(move |key| (section, key)))
            .chain(spec.joint.keys().map(|key| ("joint", key)))
            .chain(spec.frame.keys().map(|key| ("frame", key)))
            .chain(spec.measure.keys().map(|key| ("measure", key)))
            .chain(spec.port.keys().map(|key| ("port", key)))
            .chain(spec.line_load.keys().map(|key| ("line_load", key)))
            .chain(spec.contact.keys().map(|key| ("contact", key)));
        for (section, name) in sections {
            if let Some(what) = names::objection(name) {
                self.report(section, name, "", what);
            }
            if let Some(owner) = owners.insert(name, section) {
                self.report(
                    section,
                    name,
                    "",
                    format!("the name \"{name}\" is already that of a {owner}"),
                );
            }
        }
        if spec.body.is_empty() {
            self.report("body", "", "", "there is no body");
        }
    }

    fn attitudes(&mut self) {
        let spec = self.spec;
        for (name, body) in &spec.body {
            self.quaternion("body", name, "inertia_axes", body.inertia_axes);
            if let Some(start) = &body.start {
                self.quaternion("body", name, "start.attitude", start.attitude);
                self.one_of(
                    "body",
                    name,
                    "start.attitude",
                    start.attitude,
                    "start.rpy_deg",
                    start.rpy_deg,
                );
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

    /// A quaternion in a file is meant to be of unit length: another length is a slip of the pen.
    fn quaternion(&mut self, section: &str, name: &str, field: &str, q: Option<[f64; 4]>) {
        if let Some(q) = q {
            let length = Quaternion::from_slice(&q).norm_squared().sqrt();
            if (length - 1.0).abs() > 1e-6 {
                self.report(
                    section,
                    name,
                    field,
                    format!("the quaternion {q:?} is not of unit length: |q| = {length}"),
                );
            }
        }
    }

    fn one_of<A, B>(&mut self, section: &str, name: &str, a: &str, one: Option<A>, b: &str, other: Option<B>) {
        if one.is_some() && other.is_some() {
            self.report(section, name, a, format!("write either `{a}` or `{b}`, not both"));
        }
    }

    fn tree(&mut self) {
        let spec = self.spec;
        let mut carrier: HashMap<&str, &str> = HashMap::new();
        for (name, joint) in &spec.joint {
            for (field, body) in [("parent", &joint.parent), ("child", &joint.child)] {
                let known = spec.body.contains_key(body) || (field == "parent" && body == WORLD);
                if !known {
                    self.report("joint", name, field, unknown("body", body, spec.body.keys()));
                }
            }
            if let Some(first) = carrier.insert(&joint.child, name) {
                self.report(
                    "joint",
                    name,
                    "child",
                    format!("body \"{}\" is already carried by joint \"{first}\"", joint.child),
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
        // A body whose way to the root never ends is in a cycle.
        for (name, joint) in &spec.joint {
            let mut above = joint.parent.as_str();
            let mut way = vec![joint.child.as_str()];
            while let Some(up) = carrier.get(above).and_then(|j| spec.joint.get(*j)) {
                if above == joint.child {
                    // Every joint of a cycle would say so; its first in the file does.
                    let first = way
                        .iter()
                        .all(|body| spec.joint.get_index_of(carrier[body]) >= spec.joint.get_index_of(name));
                    if first {
                        way.push(above);
                        let way = way.join("\" on \"");
                        self.report(
                            "joint",
                            name,
                            "parent",
                            format!("the bodies stand in a circle: \"{way}\""),
                        );
                    }
                    break;
                }
                if way.contains(&above) {
                    break;
                }
                way.push(above);
                above = &up.parent;
            }
        }
    }

    fn body(&mut self, name: &str, body: &Body) {
        let mut needs = |field: &str, written: bool| {
            if !written {
                self.report("body", name, field, format!("missing field `{field}`"));
            }
        };
        match &body.beam {
            None => {
                needs("mass", body.mass.is_some());
                needs("inertia", body.inertia.is_some());
            }
            Some(_) => {
                needs("mass", body.mass.is_some() || body.inertia.is_none());
                needs("inertia", body.inertia.is_some() || body.mass.is_none());
            }
        }
        if let Some(beam) = &body.beam {
            self.beam(name, beam);
            if beam.segments > 1 && body.mass.is_some() {
                let what = "a beam in segments has its own mass: leave `mass` out, or write one segment";
                self.report("body", name, "mass", what);
            }
            if body.mass.is_none() && body.mass_centre != [0.0; 3] {
                let what = "the beam has its own mass centre; write `mass` and `inertia` too to replace its mass";
                self.report("body", name, "mass_centre", what);
            }
        }
        if let Some(modal) = &body.modal {
            if body.beam.is_some() {
                let what = "a body bends in one way: write either `beam` or `modal`, not both";
                self.report("body", name, "modal", what);
            }
            for (field, what) in modal.objections() {
                self.report("body", name, &format!("modal.{field}"), what);
            }
        }
    }

    fn beam(&mut self, name: &str, beam: &Beam) {
        self.quaternion("body", name, "beam.orientation", beam.orientation);
        let (orientation, rpy_deg) = (beam.orientation, beam.rpy_deg);
        self.one_of("body", name, "beam.orientation", orientation, "beam.rpy_deg", rpy_deg);
        // The four ways to write a section: what each needs.
        let one_plane = if beam.EI_y.is_some() { "EI_y" } else { "EI_z" };
        let bending = [
            ("sections", !beam.sections.is_empty()),
            ("EI", beam.EI.is_some()),
            (one_plane, beam.EI_y.is_some() || beam.EI_z.is_some()),
            ("first_frequency", beam.first_frequency.is_some()),
            ("E", beam.E.is_some()),
        ];
        let ways: Vec<&str> = bending
            .iter()
            .filter(|(_, written)| *written)
            .map(|(way, _)| *way)
            .collect();
        let way = match ways.as_slice() {
            [way] => *way,
            [] => {
                let what =
                    "the beam has no stiffness: write `EI`, `EI_y` and `EI_z`, `E`, `first_frequency` or `sections`";
                return self.report("body", name, "beam", what);
            }
            [first, others @ ..] => {
                let what = format!(
                    "the stiffness is written twice: `{first}` and `{}`",
                    others.join("`, `")
                );
                return self.report("body", name, &format!("beam.{first}"), what);
            }
        };
        let [_, _, torsion, axial] = beam.counts();
        let (tabulated, profile) = (way == "sections", way == "E");
        let loaded = beam.boundary == Boundary::ClampedLoaded;
        let (by_way, by_load) = (format!("`{way}`"), "boundary = \"clamped_loaded\"");
        // Each field: whether it is written, whether it may be, and what needs it.
        let by = |needed: bool, what| needed.then_some(what);
        let by_way = |needed| by(needed, by_way.as_str());
        let by_modes = |n: usize, allowed: bool, what| by(n > 0 && allowed, what);
        let plain = !tabulated && !profile;
        let polar = beam.polar_inertia_per_length;
        let fields = [
            ("length", beam.length.is_some(), !tabulated, by_way(!tabulated)),
            ("mass_per_length", beam.mass_per_length.is_some(), plain, by_way(plain)),
            ("EI_y", beam.EI_y.is_some(), way == one_plane, by_way(way == one_plane)),
            ("EI_z", beam.EI_z.is_some(), way == one_plane, by_way(way == one_plane)),
            ("density", beam.density.is_some(), profile, by_way(profile)),
            ("area", beam.area.is_some(), profile, by_way(profile)),
            ("I_y", beam.I_y.is_some(), profile, by_way(profile)),
            ("I_z", beam.I_z.is_some(), profile, by_way(profile)),
            ("EA", beam.EA.is_some(), plain, by_modes(axial, plain, "an axial mode")),
            (
                "GJ",
                beam.GJ.is_some(),
                !tabulated,
                by_modes(torsion, !tabulated, "a torsion mode"),
            ),
            (
                "polar_inertia_per_length",
                polar.is_some(),
                plain,
                by_modes(torsion, plain, "a torsion mode"),
            ),
            ("tip_mass", beam.tip_mass.is_some(), loaded, by(loaded, by_load)),
            ("tip_inertia", beam.tip_inertia.is_some(), loaded, None),
        ];
        for (field, written, allowed, needed_by) in fields {
            let at = format!("beam.{field}");
            if written && !allowed {
                let what = match field {
                    "tip_mass" | "tip_inertia" => format!("only {by_load} has it"),
                    _ if tabulated => format!("the `sections` say it: leave `{field}` out"),
                    _ => format!("`{field}` does not go with `{way}`: a section is written in one way"),
                };
                self.report("body", name, &at, what);
            }
            if let Some(what) = needed_by
                && !written
            {
                self.report("body", name, &at, format!("missing field `{field}`: {what} needs it"));
            }
        }
        if !(1..=MOST_SEGMENTS).contains(&beam.segments) {
            let what = format!("{} segments: a beam has 1 to {MOST_SEGMENTS}", beam.segments);
            self.report("body", name, "beam.segments", what);
        } else if beam.segments > 1 && beam.boundary != Boundary::ClampedFree {
            let what = "goes with one segment only: the shapes of several suit any load";
            self.report("body", name, "beam.boundary", what);
        } else if beam.segments > 1 && matches!(beam.damping_ratio, Some(PerAxis::Each(_))) {
            let what = "of several segments one number, the ratio of the whole beam's first modes";
            self.report("body", name, "beam.damping_ratio", what);
        }
        let modes: usize = beam.counts().iter().sum();
        if modes > MOST_MODES {
            let what = format!("{modes} modes: a beam (or a segment of it) may have {MOST_MODES}");
            self.report("body", name, "beam", what);
        }
        if modes == 0 {
            let what = "a beam without modes is rigid: write `bending = 2`, say, or leave `beam` out";
            self.report("body", name, "beam", what);
        }
        if let Some(PerAxis::Each(list)) = &beam.damping_ratio
            && list.len() != modes
        {
            let what = format!("{} numbers, but the beam has {modes} modes", list.len());
            self.report("body", name, "beam.damping_ratio", what);
        }
    }

    fn joint(&mut self, name: &str, joint: &Joint) {
        use JointType::{Cylindrical, Free, Prismatic, Revolute, Spherical, Universal};
        let kind = joint.kind;
        let rates = kind.rates();
        let mut forbid = |field: &str, written: bool, why: &str| {
            if written {
                let what = format!("a {} joint has no `{field}`{why}", kind.name());
                self.report("joint", name, field, what);
            }
        };
        let has_axis = matches!(kind, Revolute | Prismatic | Cylindrical | Universal);
        let moves_freely = matches!(kind, JointType::Fixed | Free);
        let may = |motion| joint.motion == motion || joint.motions.contains(&motion);
        let written = if joint.motions.is_empty() { "motion" } else { "motions" };
        let drives = may(JointMotion::Prescribed) || may(JointMotion::Locked);
        forbid(written, drives && moves_freely, ": nothing drives or holds it");
        forbid(
            "servo",
            joint.servo.is_some() && !may(JointMotion::Loads),
            " if it never moves by its loads",
        );
        forbid(
            "follow",
            joint.follow.is_some() && !may(JointMotion::Prescribed),
            " if its motion is never prescribed",
        );
        forbid("axis", joint.axis.is_some() && !has_axis, "");
        forbid("axis2", joint.axis2.is_some() && kind != Universal, "");
        forbid("damping", joint.damping.is_some() && moves_freely, "");
        forbid("friction", joint.friction.is_some() && moves_freely, "");
        forbid("servo", joint.servo.is_some() && moves_freely, "");
        forbid("spring", joint.spring.is_some() && moves_freely, "");
        let plain = kind.has_plain_positions();
        forbid("range", joint.range.is_some() && !plain, "");
        forbid(
            "rotor_inertia",
            joint.rotor_inertia.is_some() && !plain,
            ": a spinning rotor is a body on a revolute joint",
        );
        forbid("start", joint.start.is_some() && kind == JointType::Fixed, "");

        if may(JointMotion::Prescribed) && !joint.input {
            let what = format!("a prescribed joint needs its input {name}.qdd: leave `input` out");
            self.report("joint", name, "input", what);
        }
        if !joint.motions.is_empty() && !joint.motions.contains(&joint.motion) {
            let what = format!(
                "the joint starts with \"{}\", which is not among them",
                joint.motion.name()
            );
            self.report("joint", name, "motions", what);
        }
        if let Some(spring) = &joint.spring
            && kind == Spherical
        {
            if spring.rest.is_some() {
                self.report(
                    "joint",
                    name,
                    "spring.rest",
                    "a spherical joint's spring rests at attitude zero",
                );
            }
            if matches!(spring.stiffness, PerAxis::Each(_)) {
                self.report(
                    "joint",
                    name,
                    "spring.stiffness",
                    "a spherical joint's spring has one stiffness for all directions",
                );
            }
        }
        let mut counted = vec![
            ("damping", joint.damping.as_ref(), rates),
            ("rotor_inertia", joint.rotor_inertia.as_ref(), rates),
        ];
        if let Some(f) = &joint.friction {
            counted.extend([
                ("friction.coulomb", Some(&f.coulomb), rates),
                ("friction.slip", Some(&f.slip), rates),
            ]);
        }
        if let Some(s) = &joint.spring {
            counted.extend([
                ("spring.stiffness", Some(&s.stiffness), rates),
                ("spring.rest", s.rest.as_ref(), rates),
            ]);
        }
        if let Some(s) = &joint.servo {
            counted.extend([("servo.kp", Some(&s.kp), rates), ("servo.kd", Some(&s.kd), rates)]);
        }
        if let Some(f) = &joint.follow {
            counted.extend([("follow.kp", Some(&f.kp), rates), ("follow.kd", Some(&f.kd), rates)]);
        }
        if let Some(r) = &joint.range {
            counted.extend([
                ("range.min", r.min.as_ref(), rates),
                ("range.min_deg", r.min_deg.as_ref(), rates),
                ("range.max", r.max.as_ref(), rates),
                ("range.max_deg", r.max_deg.as_ref(), rates),
                ("range.stiffness", r.stiffness.as_ref(), rates),
                ("range.damping", r.damping.as_ref(), rates),
            ]);
        }
        if let Some(s) = &joint.start {
            let positions = if kind == Free { 3 } else { rates };
            counted.extend([
                ("start.position", s.position.as_ref(), positions),
                ("start.position_deg", s.position_deg.as_ref(), rates),
                ("start.rate", s.rate.as_ref(), rates),
                ("start.rate_deg", s.rate_deg.as_ref(), rates),
            ]);
        }
        for (field, value, count) in counted {
            if let Some(PerAxis::Each(list)) = value
                && list.len() != count
            {
                let (what, kind) = (list.len(), kind.name());
                self.report(
                    "joint",
                    name,
                    field,
                    format!("{what} numbers, but a {kind} joint has {count} of them"),
                );
            }
        }
        self.degrees(name, joint);
        if let Some(range) = &joint.range {
            self.range(name, range);
        }
        if let Some(start) = &joint.start {
            let quaternion = matches!(kind, Spherical | Free);
            let mut forbid = |field: &str, written: bool| {
                if written {
                    let what = format!("the start of a {} joint has no `{field}`", kind.name());
                    self.report("joint", name, &format!("start.{field}"), what);
                }
            };
            forbid("attitude", start.attitude.is_some() && !quaternion);
            forbid("rpy_deg", start.rpy_deg.is_some() && !quaternion);
            forbid("velocity", start.velocity.is_some() && kind != Free);
            forbid("angular_velocity", start.angular_velocity.is_some() && kind != Free);
            forbid("position", start.position.is_some() && kind == Spherical);
            forbid("position_deg", start.position_deg.is_some() && quaternion);
            forbid("rate", start.rate.is_some() && kind == Free);
            forbid("rate_deg", start.rate_deg.is_some() && kind == Free);
        }
    }

    /// Degrees stand in place of radians, and only where every coordinate is an angle.
    fn degrees(&mut self, name: &str, joint: &Joint) {
        let kind = joint.kind;
        let all_angles = (0..kind.rates()).all(|i| kind.is_angular(i));
        let mut pairs = Vec::new();
        if let Some(s) = &joint.start {
            pairs.push(("start.position", s.position.is_some(), s.position_deg.is_some()));
            pairs.push(("start.rate", s.rate.is_some(), s.rate_deg.is_some()));
        }
        if let Some(r) = &joint.range {
            pairs.push(("range.min", r.min.is_some(), r.min_deg.is_some()));
            pairs.push(("range.max", r.max.is_some(), r.max_deg.is_some()));
        }
        for (field, radians, degrees) in pairs {
            if radians && degrees {
                self.report(
                    "joint",
                    name,
                    field,
                    format!("write either `{field}` or `{field}_deg`, not both"),
                );
            }
            if degrees && !all_angles {
                let what = format!(
                    "a {} joint's coordinates are not all angles: no degrees here",
                    kind.name()
                );
                self.report("joint", name, &format!("{field}_deg"), what);
            }
        }
    }

    fn range(&mut self, name: &str, range: &Range) {
        if range.min.is_none() && range.min_deg.is_none() || range.max.is_none() && range.max_deg.is_none() {
            self.report(
                "joint",
                name,
                "range",
                "a range has a `min` and a `max` (or `min_deg` and `max_deg`)",
            );
        }
        let given = [("range.stiffness", &range.stiffness), ("range.damping", &range.damping)];
        for (field, value) in given {
            match range.stop {
                Stop::Compliant if value.is_none() => {
                    self.report("joint", name, "range.stop", format!("a compliant stop needs `{field}`"));
                }
                Stop::None if value.is_some() => {
                    self.report("joint", name, field, "only a stop = \"compliant\" has it");
                }
                _ => {}
            }
        }
    }

    fn frames(&mut self) {
        let spec = self.spec;
        for (name, frame) in &spec.frame {
            if !spec.body.contains_key(&frame.body) {
                self.report("frame", name, "body", unknown("body", &frame.body, spec.body.keys()));
            }
        }
        let is_frame = |name: &String| spec.frame.contains_key(name) || spec.body.contains_key(name);
        let known = || spec.frame.keys().chain(spec.body.keys());
        for (name, measure) in &spec.measure {
            if !is_frame(&measure.from) && measure.from != WORLD {
                self.report(
                    "measure",
                    name,
                    "from",
                    unknown("frame or body", &measure.from, known()),
                );
            }
            if !is_frame(&measure.to) {
                self.report("measure", name, "to", unknown("frame or body", &measure.to, known()));
            }
            if measure.from == measure.to {
                self.report(
                    "measure",
                    name,
                    "to",
                    format!("\"{}\" is measured from itself", measure.to),
                );
            }
        }
        for (name, port) in &spec.port {
            if !is_frame(&port.frame) {
                self.report("port", name, "frame", unknown("frame or body", &port.frame, known()));
            }
        }
        for (name, load) in &spec.line_load {
            match spec.body.get(&load.body) {
                None => self.report("line_load", name, "body", unknown("body", &load.body, spec.body.keys())),
                Some(body) if body.beam.is_none() => {
                    let what = format!(
                        "body \"{}\" has no beam: to push a rigid body, write a [port]",
                        load.body
                    );
                    self.report("line_load", name, "body", what);
                }
                Some(_) => {}
            }
        }
    }

    fn contact(&mut self, name: &str, contact: &Contact) {
        let spec = self.spec;
        for (field, frame) in [("a", &contact.a), ("b", &contact.b)] {
            let is_frame = spec.frame.contains_key(frame) || spec.body.contains_key(frame);
            let is_world = field == "b" && frame == WORLD;
            if !is_frame && !is_world {
                let known = spec.frame.keys().chain(spec.body.keys());
                self.report("contact", name, field, unknown("frame or body", frame, known));
            }
        }
        let law = contact.law;
        let by_impulse = [ImpactLaw::Restitution, ImpactLaw::Stronge];
        let by_energy = [ImpactLaw::EnergyFriction];
        let captures = [ImpactLaw::CapturePin, ImpactLaw::CaptureGrasp];
        let fields = [
            ("e", contact.e.is_some(), by_impulse.as_slice(), true),
            ("e_t", contact.e_t.is_some(), &[ImpactLaw::Restitution], false),
            ("mu", contact.mu.is_some(), &by_impulse, false),
            ("r_E", contact.r_E.is_some(), &by_energy, true),
            ("r_f", contact.r_f.is_some(), &by_energy, true),
            ("on_inconsistent", contact.on_inconsistent.is_some(), &by_energy, false),
            ("alpha", contact.alpha.is_some(), &captures, false),
            ("beta", contact.beta.is_some(), &captures, false),
        ];
        for (field, written, laws, needed) in fields {
            let has = laws.contains(&law);
            if written && !has {
                let what = format!("the law \"{}\" has no `{field}`", law.name());
                self.report("contact", name, field, what);
            } else if has && needed && !written {
                let what = format!("missing field `{field}`: the law \"{}\" needs it", law.name());
                self.report("contact", name, field, what);
            }
        }
    }

    fn signal(&mut self, input: &str, signal: &Signal) {
        let waveform = signal.waveform;
        let is = |kinds: &[Waveform]| kinds.contains(&waveform);
        let windowed = is(&[Waveform::Constant, Waveform::Sine, Waveform::Quintic]);
        let fields = [
            (
                "frequency",
                signal.frequency.is_some(),
                is(&[Waveform::Sine]),
                is(&[Waveform::Sine]),
            ),
            ("phase", signal.phase.is_some(), is(&[Waveform::Sine]), false),
            (
                "from",
                signal.from.is_some(),
                windowed || is(&[Waveform::Step]),
                is(&[Waveform::Step, Waveform::Quintic]),
            ),
            ("until", signal.until.is_some(), windowed, is(&[Waveform::Quintic])),
            (
                "times",
                signal.times.is_some(),
                is(&[Waveform::Table]),
                is(&[Waveform::Table]) && signal.file.is_none(),
            ),
            (
                "values",
                signal.values.is_some(),
                is(&[Waveform::Table]),
                is(&[Waveform::Table]) && signal.file.is_none(),
            ),
        ];
        let kind = format!("{waveform:?}").to_lowercase();
        let of_joint = input
            .strip_suffix(".motion")
            .and_then(|joint| self.spec.joint.get(joint));
        let switches = is(&[Waveform::Constant, Waveform::Step])
            || (is(&[Waveform::Table]) && signal.interpolation == Interpolation::Hold);
        if let Some(joint) = of_joint.filter(|joint| joint.motions.len() > 1) {
            self.command(input, signal, switches, &joint.motions);
        }
        let strikes = match input.rsplit_once('.') {
            Some((port, "strike")) if self.spec.port.get(port).is_some_and(|port| port.impulse) => true,
            Some((contact, "strike" | "capture")) => self.spec.contact.contains_key(contact),
            _ => false,
        };
        if strikes && !switches {
            let what = "a command is a constant, a step, or a table that holds its values";
            self.report("signal", input, "type", what);
        }
        for (field, written, allowed, needed) in fields {
            if written && !allowed {
                self.report("signal", input, field, format!("a {kind} signal has no `{field}`"));
            }
            if needed && !written {
                self.report("signal", input, "type", format!("a {kind} signal needs `{field}`"));
            }
        }
        if let (Some(times), Some(values)) = (&signal.times, &signal.values) {
            if times.len() != values.len() || times.is_empty() {
                let what = format!("{} times, but {} values", times.len(), values.len());
                self.report("signal", input, "times", what);
            }
            if let Some(i) = times.windows(2).position(|pair| pair[1] <= pair[0]) {
                let what = format!("times must rise, but {} follows {}", times[i + 1], times[i]);
                self.report("signal", input, "times", what);
            }
        }
    }

    /// A signal that switches the motion of a joint.
    fn command(&mut self, input: &str, signal: &Signal, switches: bool, motions: &[JointMotion]) {
        if !switches {
            let what = "a motion is switched: write a constant, a step, or a table that holds";
            return self.report("signal", input, "type", what);
        }
        let always = signal.waveform == Waveform::Constant && signal.from.is_none() && signal.until.is_none();
        let heights = match &signal.values {
            Some(values) => values.clone(),
            None if always => vec![1.0],
            None => vec![0.0, 1.0],
        };
        let values = heights
            .into_iter()
            .map(|height| signal.offset + signal.amplitude * height);
        let is_motion = |value: f64| motions.iter().any(|motion| f64::from(motion.number()) == value.round());
        if let Some(value) = values.into_iter().find(|&value| !is_motion(value)) {
            let motions = motions
                .iter()
                .map(|motion| format!("{} {}", motion.number(), motion.name()));
            let motions: Vec<String> = motions.collect();
            let what = format!("{value} is none of the joint's motions: {}", motions.join(", "));
            self.report("signal", input, "amplitude", what);
        }
    }

    fn experiment(&mut self) {
        let spec = self.spec;
        let positive = [
            ("experiment", "stop_time", spec.experiment.stop_time),
            ("experiment", "step", spec.experiment.step),
            ("experiment", "tolerance", spec.experiment.tolerance),
            ("experiment", "bandwidth", spec.experiment.bandwidth.unwrap_or(1.0)),
            ("solver", "step", spec.solver.step.unwrap_or(1.0)),
            ("solver", "work_limit", spec.solver.work_limit),
        ];
        for (section, field, value) in positive {
            if value <= 0.0 {
                self.report(section, "", field, format!("{value} is not positive"));
            }
        }
        let method = spec.solver.method;
        if method.has_fixed_step() && spec.solver.step.is_none() {
            let what = format!("the method {} needs `step`, s", method.name());
            self.report("solver", "", "method", what);
        }
    }
}

/// "there is no body "uper"; did you mean "upper"?"
pub(crate) fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a String>) -> String {
    let nearest = known
        .map(|candidate| (strsim::osa_distance(name, candidate), candidate))
        .min()
        .filter(|(distance, candidate)| *distance <= candidate.len().max(3) / 3);
    match nearest {
        Some((_, candidate)) => format!("there is no {what} \"{name}\"; did you mean \"{candidate}\"?"),
        None => format!("there is no {what} \"{name}\""),
    }
}
