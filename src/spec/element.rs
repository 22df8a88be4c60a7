use super::{Spec, WORLD};
use std::borrow::Cow;

/// Table of an element in a section whose tables the user names, such as `[grasp.<name>]`.
pub(crate) trait Table {
    /// Returns the fields that name the frames on which the element acts.
    fn frames(&self) -> Vec<FrameField<'_>> {
        Vec::new()
    }

    /// Reports errors in the structure, apart from those in [`frames`](Self::frames).
    fn check(&self, _spec: &Spec, _report: &mut Report) {}
}

/// Field that names a frame or a body.
pub(crate) struct FrameField<'a> {
    field: &'static str,
    pub frame: &'a str,
    may_be_world: bool,
    needs_axes: bool,
}

impl<'a> FrameField<'a> {
    pub fn new(field: &'static str, frame: &'a str) -> Self {
        Self {
            field,
            frame,
            may_be_world: false,
            needs_axes: false,
        }
    }

    /// Allows the world too.
    pub fn or_world(self) -> Self {
        Self {
            may_be_world: true,
            ..self
        }
    }

    /// Excludes frames on ANCF beams, which have no attitude.
    pub fn with_axes(self) -> Self {
        Self {
            needs_axes: true,
            ..self
        }
    }

    pub fn check(&self, spec: &Spec, report: &mut Report) {
        if self.needs_axes {
            report.needs_axes(spec, self.field, self.frame);
        }
        let is_world = self.may_be_world && self.frame == WORLD;
        if !is_world && !spec.has_frame(self.frame) {
            report.add(self.field, spec.no_frame(self.frame));
        }
    }
}

/// Errors in the fields of one table.
#[derive(Default)]
pub(crate) struct Report {
    /// Pairs of a field (empty for the whole table) and its error.
    pub found: Vec<(Cow<'static, str>, String)>,
}

impl Report {
    /// Returns the errors in a table.
    pub fn of(table: &dyn Table, spec: &Spec) -> Self {
        let mut report = Self::default();
        for frame in table.frames() {
            frame.check(spec, &mut report);
        }
        table.check(spec, &mut report);
        report
    }

    /// Adds an error at a field.
    pub fn add(&mut self, field: impl Into<Cow<'static, str>>, what: impl Into<String>) {
        self.found.push((field.into(), what.into()));
    }

    /// Adds an error if `frame` is on an ANCF beam, at a field that needs an attitude: the beam has
    /// none about its direction.
    pub fn needs_axes(&mut self, spec: &Spec, field: &'static str, frame: &str) {
        if let Some(beam) = spec.on_ancf_beam(frame) {
            let what = format!("\"{frame}\" is on the ANCF beam \"{beam}\", which has a direction but no attitude");
            self.add(field, what);
        }
    }
}
