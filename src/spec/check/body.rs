use super::{Check, MOST_IN_SEGMENTS, MOST_MODES, MOST_SEGMENTS, unknown};
use crate::spec::{Beam, Body, Boundary, GeometricallyExactBeam, PerAxis};

impl Check<'_> {
    /// Validates a body.
    pub(super) fn body(&mut self, name: &str, body: &Body) {
        let mut needs = |field: &str, written: bool| {
            if !written {
                self.report("body", name, field, format!("missing field `{field}`"));
            }
        };
        match (&body.beam, &body.geometrically_exact_beam) {
            (_, Some(_)) => {}
            (None, None) => {
                needs("mass", body.mass.is_some());
                needs("inertia", body.inertia.is_some());
            }
            (Some(_), None) => {
                needs("mass", body.mass.is_some() || body.inertia.is_none());
                needs("inertia", body.inertia.is_some() || body.mass.is_none());
            }
        }
        if let Some(beam) = &body.beam {
            self.beam(name, beam);
            if body.inertia.is_none() && body.inertia_axes.is_some() {
                let what = "the beam has its own inertia; write `mass` and `inertia` too to replace its mass";
                self.report("body", name, "inertia_axes", what);
            }
            if beam.segments > 1 && body.mass.is_some() {
                let what = "a beam in segments has its own mass: leave `mass` out, or write one segment";
                self.report("body", name, "mass", what);
            }
            if body.mass.is_none() && body.mass_centre != [0.0; 3] {
                let what = "the beam has its own mass centre; write `mass` and `inertia` too to replace its mass";
                self.report("body", name, "mass_centre", what);
            }
        }
        if let Some(beam) = &body.geometrically_exact_beam {
            self.geometrically_exact_beam(name, body, beam);
        }
        if let Some(servo) = &body.attitude_servo {
            if let Some((joint, _)) = self.spec.joint.iter().find(|(_, joint)| joint.child == name) {
                let what = format!(
                    "only a free body has an attitude servo, and joint \"{joint}\" carries this one: write a `servo` of the joint"
                );
                self.report("body", name, "attitude_servo", what);
            }
            for wheel in &servo.wheels {
                let what = match self.spec.wheel.get(wheel) {
                    None => unknown("wheel", wheel, self.spec.wheel.keys()),
                    Some(other) if other.body != name => format!("wheel \"{wheel}\" is on body \"{}\"", other.body),
                    Some(_) => continue,
                };
                self.report("body", name, "attitude_servo.wheels", what);
            }
            for (field, gain) in [("kp", &servo.kp), ("kd", &servo.kd)] {
                if let PerAxis::Each(values) = gain
                    && values.len() != 3
                {
                    let what = format!("{} numbers for 3 axes", values.len());
                    self.report("body", name, &format!("attitude_servo.{field}"), what);
                }
            }
        }
        if let Some(modal) = &body.modal {
            if body.beam.is_some() {
                let what = "a body has one model of flexibility: write either `beam` or `modal`, not both";
                self.report("body", name, "modal", what);
            }
            for (field, what) in modal.objections() {
                self.report("body", name, &format!("modal.{field}"), what);
            }
        }
    }

    /// Validates the geometrically exact beam of a body.
    fn geometrically_exact_beam(&mut self, name: &str, body: &Body, beam: &GeometricallyExactBeam) {
        let others = [
            ("mass", body.mass.is_some()),
            ("inertia", body.inertia.is_some()),
            ("mass_centre", body.mass_centre != [0.0; 3]),
            ("inertia_axes", body.inertia_axes.is_some()),
        ];
        for (field, _) in others.into_iter().filter(|(_, written)| *written) {
            let what = format!(
                "a geometrically exact beam has its own mass: leave `{field}` out, or fix another body to this one"
            );
            self.report("body", name, field, what);
        }
        for (field, _) in [("beam", body.beam.is_some()), ("modal", body.modal.is_some())]
            .into_iter()
            .filter(|(_, written)| *written)
        {
            let what = format!(
                "a body has one model of flexibility: write either `{field}` or `geometrically_exact_beam`, not both"
            );
            self.report("body", name, "geometrically_exact_beam", what);
        }
        if !(1..=MOST_SEGMENTS).contains(&beam.elements) {
            let what = format!(
                "{} elements: a geometrically exact beam has 1 to {MOST_SEGMENTS}",
                beam.elements
            );
            self.report("body", name, "geometrically_exact_beam.elements", what);
        }
        match (beam.length, &beam.shape) {
            (None, None) => {
                let what = "missing field `length`: write it, or `shape`".to_owned();
                self.report("body", name, "geometrically_exact_beam.length", what);
            }
            (Some(_), Some(_)) => {
                let what = "the shape of the beam has its own length: leave `length` out".to_owned();
                self.report("body", name, "geometrically_exact_beam.length", what);
            }
            _ => {}
        }
        for (field, what) in beam.shape.iter().flat_map(|shape| shape.objections()) {
            let field = format!("geometrically_exact_beam.shape.{field}");
            self.report("body", name, &field, what);
        }
        if let Some(what) = self.spec.objection_of_feed_forward("geometrically exact beams") {
            self.report("body", name, "geometrically_exact_beam", what);
        }
        self.section_of_exact_beam(name, beam);
    }

    /// Validates the alternative fields of stiffness and inertia of a geometrically exact beam.
    fn section_of_exact_beam(&mut self, name: &str, beam: &GeometricallyExactBeam) {
        let inertias = [
            ("inertia_y_per_length", beam.inertia_y_per_length),
            ("inertia_z_per_length", beam.inertia_z_per_length),
        ];
        let polar = beam.polar_inertia_per_length.is_some();
        let of_both_axes = [
            (
                "stiffness",
                "EI",
                beam.EI.is_some(),
                [("EI_y", beam.EI_y), ("EI_z", beam.EI_z)],
            ),
            (
                "stiffness",
                "GA",
                beam.GA.is_some(),
                [("GA_y", beam.GA_y), ("GA_z", beam.GA_z)],
            ),
            ("inertia", "polar_inertia_per_length", polar, inertias),
        ];
        for (quantity, both, written, each) in of_both_axes {
            let [one, other] = each.map(|(field, _)| field);
            if !written && each.iter().all(|(_, value)| value.is_none()) {
                let what = format!("missing field `{both}`: write it, or `{one}` and `{other}`");
                self.report("body", name, &format!("geometrically_exact_beam.{both}"), what);
                continue;
            }
            for (field, _) in each.into_iter().filter(|(_, value)| value.is_some() == written) {
                let what = match written {
                    true => format!("the {quantity} is written twice: `{both}` and `{field}`"),
                    false => format!("missing field `{field}`: write both, or `{both}`"),
                };
                self.report("body", name, &format!("geometrically_exact_beam.{field}"), what);
            }
        }
    }

    /// Validates the modal beam of a body.
    pub(super) fn beam(&mut self, name: &str, beam: &Beam) {
        self.quaternion("body", name, "beam.orientation", beam.orientation);
        let (orientation, rpy_deg) = (beam.orientation, beam.rpy_deg);
        self.one_of("body", name, "beam.orientation", orientation, "beam.rpy_deg", rpy_deg);
        if let Some(way) = self.stiffness_of(name, beam) {
            self.beam_fields(name, beam, way);
            self.beam_modes(name, beam);
        }
    }

    /// Returns the field that defines the bending stiffness of a modal beam; reports a beam with
    /// none or several of the alternatives.
    fn stiffness_of(&mut self, name: &str, beam: &Beam) -> Option<&'static str> {
        let bending = [
            ("sections", !beam.sections.is_empty()),
            ("EI", beam.EI.is_some()),
            (one_plane(beam), beam.EI_y.is_some() || beam.EI_z.is_some()),
            ("first_frequency", beam.first_frequency.is_some()),
            ("E", beam.E.is_some()),
        ];
        let ways: Vec<&str> = bending
            .iter()
            .filter(|(_, written)| *written)
            .map(|(way, _)| *way)
            .collect();
        let (field, what) = match ways.as_slice() {
            [way] => return Some(*way),
            [] => {
                let what =
                    "the beam has no stiffness: write `EI`, `EI_y` and `EI_z`, `E`, `first_frequency` or `sections`";
                ("beam".to_owned(), what.to_owned())
            }
            [first, others @ ..] => {
                let what = format!(
                    "the stiffness is written twice: `{first}` and `{}`",
                    others.join("`, `")
                );
                (format!("beam.{first}"), what)
            }
        };
        self.report("body", name, &field, what);
        None
    }

    /// Reports fields of a modal beam that are missing, or that the stiffness by the field `way`
    /// excludes.
    fn beam_fields(&mut self, name: &str, beam: &Beam, way: &str) {
        let one_plane = one_plane(beam);
        let [_, _, torsion, axial] = beam.counts();
        let (tabulated, profile) = (way == "sections", way == "E");
        let loaded = beam.boundary == Boundary::ClampedLoaded;
        let (by_way, by_load) = (format!("`{way}`"), "boundary = \"clamped_loaded\"");
        // For each field: written, allowed, and the reason for which it is required.
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
                    "tip_mass" | "tip_inertia" => format!("`{field}` requires {by_load}"),
                    _ if tabulated => format!("the `sections` define it: leave `{field}` out"),
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
    }

    /// Validates segments, modes and damping ratios of a modal beam.
    fn beam_modes(&mut self, name: &str, beam: &Beam) {
        if !(1..=MOST_SEGMENTS).contains(&beam.segments) {
            let what = format!("{} segments: a beam has 1 to {MOST_SEGMENTS}", beam.segments);
            self.report("body", name, "beam.segments", what);
        } else if beam.segments > 1 && beam.boundary != Boundary::ClampedFree {
            let what = "a beam in several segments has modes with a free tip: leave `boundary` out";
            self.report("body", name, "beam.boundary", what);
        } else if beam.segments > 1 && matches!(beam.damping_ratio, Some(PerAxis::Each(_))) {
            let what = "a beam in several segments has one damping ratio, that of the whole beam's first modes: write one number";
            self.report("body", name, "beam.damping_ratio", what);
        }
        let modes = beam.counts().into_iter().fold(0, usize::saturating_add);
        if modes > MOST_MODES {
            let what = format!("{modes} modes: a beam (or a segment of it) may have {MOST_MODES}");
            self.report("body", name, "beam", what);
        } else if (2..=MOST_SEGMENTS).contains(&beam.segments) && modes * beam.segments > MOST_IN_SEGMENTS {
            let what = format!(
                "{} segments with {modes} modes each: all segments of a beam may have {MOST_IN_SEGMENTS} modes together",
                beam.segments
            );
            self.report("body", name, "beam.segments", what);
        }
        if modes == 0 {
            let what = "a beam without modes is rigid: write `bending = 2`, for example, or leave `beam` out";
            self.report("body", name, "beam", what);
        }
        if let Some(PerAxis::Each(list)) = &beam.damping_ratio
            && list.len() != modes
        {
            let what = format!("{} numbers, but the beam has {modes} modes", list.len());
            self.report("body", name, "beam.damping_ratio", what);
        }
    }
}

/// Returns the field of the bending stiffness in one plane that is written: `EI_y`, else `EI_z`.
fn one_plane(beam: &Beam) -> &'static str {
    if beam.EI_y.is_some() { "EI_y" } else { "EI_z" }
}
