use super::{Contact, Grasp, LineLoad, Measure, Port, Spec, Thruster, WORLD, unknown};

/// Table of an element whose section has the user's names, `[grasp.<name>]`.
pub(crate) trait Table {
    /// Returns the frames (or bodies) on which the element acts, with their fields.
    fn frames(&self) -> Vec<(&'static str, &str)>;

    /// Returns the errors in the structure, with their fields.
    fn check(&self, _spec: &Spec) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// Returns an error for each frame that does not exist.
pub(crate) fn unknown_frames(section: &dyn Table, spec: &Spec) -> Vec<(&'static str, String)> {
    let frames = section.frames().into_iter();
    let missing = frames.filter(|(_, frame)| !spec.has_frame(frame) && *frame != WORLD);
    missing
        .map(|(field, frame)| (field, unknown("frame or body", frame, spec.frames())))
        .collect()
}

impl Table for Measure {
    fn frames(&self) -> Vec<(&'static str, &str)> {
        vec![("from", &self.from), ("to", &self.to)]
    }
}

impl Table for Port {
    fn frames(&self) -> Vec<(&'static str, &str)> {
        vec![("frame", &self.frame)]
    }
}

impl Table for Thruster {
    fn frames(&self) -> Vec<(&'static str, &str)> {
        vec![("frame", &self.frame)]
    }
}

impl Table for LineLoad {
    /// A line load acts on a beam, not at a frame.
    fn frames(&self) -> Vec<(&'static str, &str)> {
        Vec::new()
    }
}

impl Table for Contact {
    fn frames(&self) -> Vec<(&'static str, &str)> {
        vec![("a", &self.a), ("b", &self.b)]
    }
}

impl Table for Grasp {
    fn frames(&self) -> Vec<(&'static str, &str)> {
        vec![("a", &self.a), ("b", &self.b)]
    }
}
