use super::{Check, unknown};
use crate::spec::{Contact, ImpactLaw, WORLD};

impl Check<'_> {
    pub(super) fn frames(&mut self) {
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

    pub(super) fn contact(&mut self, name: &str, contact: &Contact) {
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
}
