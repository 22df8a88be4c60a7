use super::{Check, unknown};
use crate::algebra::direction;
use crate::spec::{Contact, ImpactLaw, PortAxes, Surface, WORLD};

/// Message for a line load on a beam of another type.
const ONLY_MODAL: &str = "line loads act on modal beams (`beam`) only; use a [port]";

impl Check<'_> {
    /// Validates frames, measures, ports, thrusters, wheels and line loads.
    pub(super) fn frames(&mut self) {
        let spec = self.spec;
        for (name, frame) in &spec.frame {
            if spec.ancf_beam.contains_key(&frame.body) {
                self.on_ancf_beam(name, frame);
            } else if !spec.body.contains_key(&frame.body) {
                let known = spec.body.keys().chain(spec.ancf_beam.keys());
                self.report("frame", name, "body", unknown("body", &frame.body, known));
            }
        }
        self.measures();
        self.ports();
        self.wheels();
        self.line_loads();
    }

    /// Validates measures.
    fn measures(&mut self) {
        let spec = self.spec;
        for (name, measure) in &spec.measure {
            self.needs_axes(["measure", name, "from"], &measure.from);
            if !spec.has_frame(&measure.from) && measure.from != WORLD {
                self.report(
                    "measure",
                    name,
                    "from",
                    unknown("frame or body", &measure.from, spec.frames()),
                );
            }
            if !spec.has_frame(&measure.to) {
                self.report(
                    "measure",
                    name,
                    "to",
                    unknown("frame or body", &measure.to, spec.frames()),
                );
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
    }

    /// Validates ports and thrusters.
    fn ports(&mut self) {
        let spec = self.spec;
        for (name, port) in &spec.port {
            if port.axes == PortAxes::Frame {
                self.needs_axes(["port", name, "axes"], &port.frame);
            }
            if !spec.has_frame(&port.frame) {
                self.report(
                    "port",
                    name,
                    "frame",
                    unknown("frame or body", &port.frame, spec.frames()),
                );
            }
        }
        for (name, thruster) in &spec.thruster {
            self.needs_axes(["thruster", name, "frame"], &thruster.frame);
            if !spec.has_frame(&thruster.frame) {
                let what = unknown("frame or body", &thruster.frame, spec.frames());
                self.report("thruster", name, "frame", what);
            }
        }
    }

    /// Validates wheels.
    fn wheels(&mut self) {
        let spec = self.spec;
        for (name, wheel) in &spec.wheel {
            if !spec.body.contains_key(&wheel.body) {
                self.report("wheel", name, "body", unknown("body", &wheel.body, spec.body.keys()));
            }
            let numbers = [
                ("mass", wheel.mass),
                ("inertia", wheel.inertia),
                ("transverse_inertia", wheel.transverse_inertia.unwrap_or(1.0)),
                ("torque_limit", wheel.torque_limit),
                ("rate_limit", wheel.rate_limit),
            ];
            for (field, value) in numbers.into_iter().filter(|(_, value)| *value <= 0.0) {
                self.report("wheel", name, field, format!("{value} is not positive"));
            }
            if direction(&wheel.axis.into()).is_none() {
                self.report("wheel", name, "axis", "the axis has no direction");
            }
            if wheel.rate.abs() > wheel.rate_limit {
                let what = format!(
                    "it starts at {} rad/s, beyond its limit of {} rad/s",
                    wheel.rate, wheel.rate_limit
                );
                self.report("wheel", name, "rate", what);
            }
        }
    }

    /// Validates line loads.
    fn line_loads(&mut self) {
        let spec = self.spec;
        for (name, load) in &spec.line_load {
            match spec.body.get(&load.body) {
                None if spec.ancf_beam.contains_key(&load.body) => {
                    let what = format!("\"{}\" is an ANCF beam: {ONLY_MODAL}", load.body);
                    self.report("line_load", name, "body", what);
                }
                None => self.report("line_load", name, "body", unknown("body", &load.body, spec.body.keys())),
                Some(body) if body.geometrically_exact_beam.is_some() => {
                    let what = format!("\"{}\" is a geometrically exact beam: {ONLY_MODAL}", load.body);
                    self.report("line_load", name, "body", what);
                }
                Some(body) if body.beam.is_none() => {
                    let what = format!(
                        "body \"{}\" has no beam: for a force on a rigid body write a [port]",
                        load.body
                    );
                    self.report("line_load", name, "body", what);
                }
                Some(_) => {}
            }
        }
    }

    /// Validates a contact.
    pub(super) fn contact(&mut self, name: &str, contact: &Contact) {
        let spec = self.spec;
        for (field, frame) in [("a", &contact.a), ("b", &contact.b)] {
            let is_world = field == "b" && frame == WORLD;
            if !spec.has_frame(frame) && !is_world {
                self.report("contact", name, field, unknown("frame or body", frame, spec.frames()));
            }
            if let Some(beam) = spec.on_ancf_beam(frame) {
                let what = match (contact.law.captures(), field) {
                    (true, "a") => continue,
                    (true, _) => "write it as `a`",
                    (false, _) => "impacts on it are not supported; use a law that captures, or a [grasp]",
                };
                self.report(
                    "contact",
                    name,
                    field,
                    format!("\"{frame}\" is on the ANCF beam \"{beam}\": {what}"),
                );
            }
        }
        let law = contact.law;
        let by_impulse = [ImpactLaw::Restitution, ImpactLaw::Stronge];
        let by_energy = [ImpactLaw::EnergyFriction];
        let captures = [ImpactLaw::CapturePin, ImpactLaw::CaptureGrasp];
        let rubs = [ImpactLaw::Restitution, ImpactLaw::Stronge, ImpactLaw::Compliant];
        let presses = [ImpactLaw::Compliant];
        let fields = [
            ("e", contact.e.is_some(), by_impulse.as_slice(), true),
            ("e_t", contact.e_t.is_some(), &[ImpactLaw::Restitution], false),
            ("mu", contact.mu.is_some(), &rubs, false),
            ("r_E", contact.r_E.is_some(), &by_energy, true),
            ("r_f", contact.r_f.is_some(), &by_energy, true),
            ("on_inconsistent", contact.on_inconsistent.is_some(), &by_energy, false),
            ("alpha", contact.alpha.is_some(), &captures, false),
            ("beta", contact.beta.is_some(), &captures, false),
            ("force", contact.force.is_some(), &presses, true),
            ("depth", contact.depth.is_some(), &presses, true),
            ("exponent", contact.exponent.is_some(), &presses, false),
            ("dissipation", contact.dissipation.is_some(), &presses, false),
            ("slip", contact.slip.is_some(), &presses, false),
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
        if let Some(exponent) = contact.exponent.filter(|exponent| ![1.0, 1.5].contains(exponent)) {
            let what = format!("{exponent} is neither 1 nor 1.5");
            self.report("contact", name, "exponent", what);
        }
        if contact.slip.is_some() && contact.mu.is_none() {
            self.report("contact", name, "slip", "there is no friction: write `mu` too");
        }
        self.surface(name, contact);
    }

    /// Validates the surface of a contact.
    fn surface(&mut self, name: &str, contact: &Contact) {
        let written = contact.surface.is_some();
        let is_round = matches!(contact.surface, Some(Surface::Sphere | Surface::Disc));
        let fields = [
            (
                "radius_a",
                contact.radius_a.is_some(),
                written && contact.surface != Some(Surface::Disc),
                "requires the surface \"plane\" or \"sphere\"; for a disc `a` is a point",
            ),
            (
                "radius_b",
                contact.radius_b.is_some(),
                is_round,
                "requires the surface \"sphere\" or \"disc\"",
            ),
            (
                "reach",
                contact.reach.is_some(),
                !written,
                "is for contacts without a surface: with one, the impact occurs at zero gap",
            ),
        ];
        for (field, written, fits, what) in fields {
            if written && !fits {
                self.report("contact", name, field, format!("`{field}` {what}"));
            }
        }
        if is_round && contact.radius_b.is_none() {
            self.report(
                "contact",
                name,
                "radius_b",
                "missing field `radius_b`: the surface needs it",
            );
        }
        if contact.law == ImpactLaw::Compliant && !matches!(contact.surface, Some(Surface::Plane | Surface::Sphere)) {
            let what = "the law \"compliant\" needs the surface \"plane\" or \"sphere\"";
            self.report("contact", name, "surface", what);
        }
    }
}
