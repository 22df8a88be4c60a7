use super::Check;
use crate::spec::{AncfBeam, Frame};

/// Largest number of elements: more would change results by less than the accuracy of a beam's
/// data.
const MOST_ELEMENTS: usize = 256;

impl Check<'_> {
    /// Validates an ANCF beam.
    pub(super) fn ancf_beam(&mut self, name: &str, beam: &AncfBeam) {
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
                true => format!("`sections` have their own `{field}`: leave it out here"),
                false => format!("missing field `{field}`"),
            };
            self.report("ancf_beam", name, field, what);
        }
        let sections = beam.all_sections();
        let field = if in_sections { "sections" } else { "elements" };
        for section in sections.iter().filter(|section| section.elements == 0) {
            let what = format!(
                "a length of {} m without elements: write elements = 1 or more",
                section.length
            );
            self.report("ancf_beam", name, field, what);
        }
        let elements = beam.nodes() - 1;
        if elements > MOST_ELEMENTS {
            let what = format!("{elements} elements, the maximum is {MOST_ELEMENTS}");
            self.report("ancf_beam", name, field, what);
        }
        let (nodes, started) = (beam.nodes(), beam.start_nodes.len());
        if started > 0 && started != nodes {
            let what = format!("{started} entries for {nodes} nodes: write one for each node");
            self.report("ancf_beam", name, "start_nodes", what);
        }
    }

    /// Reports a frame that is not on the centre line, or has an attitude.
    pub(super) fn on_ancf_beam(&mut self, name: &str, frame: &Frame) {
        let [x, y, z] = frame.origin;
        if y != 0.0 || z != 0.0 {
            let what = format!("frames on an ANCF beam are on its centre line: write origin = [{x}, 0, 0]");
            self.report("frame", name, "origin", what);
        }
        if frame.orientation.is_some() || frame.rpy_deg.is_some() {
            let what = "a frame on an ANCF beam has its x axis along the beam: leave its attitude out";
            self.report("frame", name, "orientation", what);
        }
    }
}
