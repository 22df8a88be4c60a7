use super::{Check, unknown};
use crate::algebra::direction;
use crate::spec::{JointType, PerAxis, Report, Wheel};

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
        let of_frames = spec
            .frame
            .iter()
            .map(|(name, frame)| ("frame", name, &frame.contact_shape));
        let of_bodies = spec.body.iter().map(|(name, body)| ("body", name, &body.contact_shape));
        for (section, name, shape) in of_frames.chain(of_bodies) {
            let mut report = Report::default();
            shape.iter().for_each(|shape| shape.check("contact_shape", &mut report));
            for (field, what) in report.found {
                self.report(section, name, &field, what);
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
            self.imbalance(name, wheel);
            self.wheel_friction(name, wheel);
        }
    }

    /// Validates the imbalance of a wheel: written once, and possible with the rotor's inertia.
    fn imbalance(&mut self, name: &str, wheel: &Wheel) {
        let (fixed, moving) = (wheel.static_imbalance, wheel.dynamic_imbalance);
        let [fixed_g, moving_g] = [wheel.static_imbalance_g_cm, wheel.dynamic_imbalance_g_cm2];
        self.one_of(
            "wheel",
            name,
            "static_imbalance",
            fixed,
            "static_imbalance_g_cm",
            fixed_g,
        );
        self.one_of(
            "wheel",
            name,
            "dynamic_imbalance",
            moving,
            "dynamic_imbalance_g_cm2",
            moving_g,
        );
        let written = [
            ("static_imbalance", fixed),
            ("static_imbalance_g_cm", fixed_g),
            ("dynamic_imbalance", moving),
            ("dynamic_imbalance_g_cm2", moving_g),
        ];
        let mut written = written.into_iter().filter_map(|(field, value)| Some((field, value?)));
        if let Some((field, value)) = written.clone().find(|(_, value)| *value < 0.0) {
            self.report("wheel", name, field, format!("{value} is negative"));
            return;
        }
        let Some((field, _)) = written.next_back().filter(|_| wheel.mass > 0.0 && wheel.inertia > 0.0) else {
            return;
        };
        let (_, inertia) = wheel.rotor_inertia();
        let mut moments = inertia.full().symmetric_eigenvalues();
        moments.as_mut_slice().sort_by(f64::total_cmp);
        let [low, middle, high] = [moments[0], moments[1], moments[2]];
        if low <= 0.0 || high > (low + middle) * (1.0 + 1e-9) {
            let what = format!(
                "no rotor with its mass and inertia has this imbalance: its principal moments would be {low:.6e}, \
                 {middle:.6e}, {high:.6e} kg·m², and each is positive and at most the sum of the others; data sheets have \
                 g·cm and g·cm²: write `static_imbalance_g_cm`, `dynamic_imbalance_g_cm2`"
            );
            self.report("wheel", name, field, what);
        }
    }

    /// Validates the dry friction of a wheel's bearings.
    fn wheel_friction(&mut self, name: &str, wheel: &Wheel) {
        let Some(friction) = &wheel.friction else { return };
        self.friction("wheel", name, JointType::Revolute, friction, "friction");
        let numbers = [
            ("friction.coulomb", Some(&friction.coulomb)),
            ("friction.slip", friction.slip.as_ref()),
            ("friction.breakaway", friction.breakaway.as_ref()),
            ("friction.stribeck", friction.stribeck.as_ref()),
        ];
        for (field, value) in numbers {
            match value {
                Some(PerAxis::Each(list)) if list.len() != 1 => {
                    let what = format!("{} numbers, but a wheel has one axis", list.len());
                    self.report("wheel", name, field, what);
                }
                _ => {}
            }
        }
    }
}
