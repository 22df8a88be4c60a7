use super::{Check, unknown};
use crate::algebra::direction;

impl Check<'_> {
    /// Validates frames and wheels.
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
        self.wheels();
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
                self.report("wheel", name, "axis", "the axis has zero length");
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
}
