use super::{Check, unknown};
use crate::spec::{Loop, LoopType, WORLD};

impl Check<'_> {
    /// Validates a loop.
    pub(super) fn closed_loop(&mut self, name: &str, written: &Loop) {
        let spec = self.spec;
        let kind = written.kind;
        if let Some(what) = spec.objection_of_feed_forward("loops") {
            self.report("loop", name, "", what);
        }
        for (field, frame, turns) in [("a", &written.a, kind.turns_a()), ("b", &written.b, kind.turns_b())] {
            let is_world = field == "b" && frame == WORLD;
            if !spec.has_frame(frame) && !is_world {
                self.report("loop", name, field, spec.no_frame(frame));
            }
            if let Some(beam) = spec.on_ancf_beam(frame).filter(|_| turns) {
                let what = format!(
                    "\"{frame}\" is on the ANCF beam \"{beam}\", which has no attitude there: use the type \"spherical\" or \"distance\", or, for `a`, \"point_on_line\""
                );
                self.report("loop", name, field, what);
            }
        }
        let fields = [
            ("axis", written.axis.is_some(), kind.has_axis(), false),
            ("axis2", written.axis2.is_some(), kind == LoopType::Universal, false),
            ("length", written.length.is_some(), kind == LoopType::Distance, true),
        ];
        for (field, is_written, has, needed) in fields {
            if is_written && !has {
                let what = format!("a loop of type \"{}\" has no `{field}`", kind.name());
                self.report("loop", name, field, what);
            } else if has && needed && !is_written {
                let what = format!("missing field `{field}`: a loop of type \"{}\" needs it", kind.name());
                self.report("loop", name, field, what);
            }
        }
    }

    /// Validates the assembly of the start.
    pub(super) fn assembly(&mut self) {
        let spec = self.spec;
        let Some(assembly) = &spec.assembly else { return };
        if spec.closed_loop.is_empty() && !assembly.equilibrium {
            self.report("assembly", "", "", "there is no [loop] to close");
        }
        if spec.environment.orbit.is_some() && assembly.equilibrium {
            let what = "in orbit no configuration stays at rest: leave `equilibrium` or `orbit` out";
            self.report("assembly", "", "equilibrium", what);
        }
        let names = assembly.fixed.iter().map(|name| ("fixed", name));
        for (field, name) in names.chain(assembly.weights.keys().map(|name| ("weights", name))) {
            if !spec.joint.contains_key(name) {
                self.report("assembly", "", field, unknown("joint", name, spec.joint.keys()));
            }
        }
        for (name, weight) in assembly.weights.iter().filter(|(_, weight)| **weight <= 0.0) {
            let what = format!("the weight {weight} of joint \"{name}\" is not positive");
            self.report("assembly", "", "weights", what);
        }
    }
}
