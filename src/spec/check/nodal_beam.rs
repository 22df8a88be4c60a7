use super::{Check, unknown};
use crate::spec::{Frame, Grasp, NodalBeam, PerAxis, WORLD};

/// More elements are finer than any beam is known.
const MOST_ELEMENTS: usize = 1000;

impl Check<'_> {
    pub(super) fn nodal_beam(&mut self, name: &str, beam: &NodalBeam) {
        let written = [
            ("length", beam.length.is_some()),
            ("elements", beam.elements.is_some()),
            ("mass_per_length", beam.mass_per_length.is_some()),
            ("EA", beam.EA.is_some()),
            ("EI", beam.EI.is_some()),
        ];
        let in_sections = !beam.sections.is_empty();
        for (field, _) in written.into_iter().filter(|(_, written)| *written == in_sections) {
            let what = match in_sections {
                true => format!("`sections` say the {field} of each part: leave it out here"),
                false => format!("missing field `{field}`"),
            };
            self.report("nodal_beam", name, field, what);
        }
        let sections = beam.all_sections();
        for section in sections.iter().filter(|section| section.elements == 0) {
            let what = format!(
                "a length of {} m without an element: a beam has two nodes or more, write elements = 1 at least",
                section.length
            );
            self.report("nodal_beam", name, "elements", what);
        }
        let elements: usize = sections.iter().map(|section| section.elements).sum();
        if elements > MOST_ELEMENTS {
            let what = format!("{elements} elements, and {MOST_ELEMENTS} are the most");
            self.report("nodal_beam", name, "elements", what);
        }
        if let Some((joint, _)) =
            (self.spec.joint.iter()).find(|(_, joint)| joint.parent == name || joint.child == name)
        {
            let what = format!("joint \"{joint}\" cannot carry it: a [grasp] holds a nodal beam");
            self.report("nodal_beam", name, "", what);
        }
    }

    /// A frame on the centre line.
    pub(super) fn on_nodal_beam(&mut self, name: &str, frame: &Frame) {
        if frame.orientation.is_some() || frame.rpy_deg.is_some() {
            let what = "on a nodal beam x is the beam's direction, and nothing else can be turned";
            self.report("frame", name, "orientation", what);
        }
    }

    pub(super) fn grasp(&mut self, name: &str, grasp: &Grasp) {
        let spec = self.spec;
        for (field, frame) in [("a", &grasp.a), ("b", &grasp.b)] {
            let is_world = field == "b" && frame == WORLD;
            if !spec.has_frame(frame) && !is_world {
                self.report("grasp", name, field, unknown("frame or body", frame, spec.frames()));
            }
        }
        if grasp.a == grasp.b {
            self.report("grasp", name, "b", format!("\"{}\" holds itself", grasp.a));
        }
        let gains = [
            ("stiffness", Some(&grasp.stiffness)),
            ("damping", Some(&grasp.damping)),
            ("angular_stiffness", grasp.angular_stiffness.as_ref()),
            ("angular_damping", grasp.angular_damping.as_ref()),
        ];
        for (field, gain) in gains {
            if let Some(PerAxis::Each(values)) = gain
                && values.len() != 3
            {
                let what = format!("{} numbers for 3 axes", values.len());
                self.report("grasp", name, field, what);
            }
        }
        let fed = spec.joint.iter().find(|(_, joint)| joint.feeds_forward());
        if let Some((joint, _)) = fed {
            let what = format!(
                "what joint \"{joint}\" feeds forward is that of the rigid craft by itself, and knows no grasps: leave `feed_forward` out"
            );
            self.report("grasp", name, "", what);
        }
    }
}
